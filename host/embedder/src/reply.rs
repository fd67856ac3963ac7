//! Parses server responses: vectors as JSON numbers or base64, validated.

use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use throughline_embedder_wire::{Fault, MAX_DIMS, Vector, normalized};
use throughline_http::reply::invalid_answer;

/// The numbers of a vector as a server writes them: a list of numbers, or base64.
#[derive(Debug)]
pub(crate) struct Numbers(pub Vec<f32>);

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumbersVisitor;

        impl<'de> Visitor<'de> for NumbersVisitor {
            type Value = Numbers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of numbers or base64")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Numbers, E> {
                Vector::from_base64(text).map(|vector| Numbers(vector.0)).map_err(E::custom)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Numbers, A::Error> {
                let mut numbers = Vec::new();
                // Parse as f64: how serde_json handles numbers beyond the range of f32 depends on features that other
                // crates set.
                while let Some(number) = list.next_element::<f64>()? {
                    if numbers.len() == MAX_DIMS {
                        return Err(serde::de::Error::custom("a vector is longer than any model's"));
                    }
                    #[expect(
                        clippy::cast_possible_truncation,
                        reason = "out-of-range numbers become infinite and are rejected later"
                    )]
                    numbers.push(number as f32);
                }
                Ok(Numbers(numbers))
            }
        }

        deserializer.deserialize_any(NumbersVisitor)
    }
}

/// Validates the vectors of one batch and scales each to length 1. `dims` is how many numbers each must have; if it is
/// `None`, the first vector sets it.
pub(crate) fn validate_vectors(found: Vec<Vec<f32>>, wanted: usize, dims: &mut Option<usize>) -> Result<Vec<Vector>, Fault> {
    if found.len() != wanted {
        return Err(invalid_answer(format!("the server returned {} vectors for {wanted} texts", found.len())));
    }
    let mut vectors = Vec::with_capacity(wanted);
    for vector in found {
        let expected = *dims.get_or_insert(vector.len());
        if vector.len() != expected {
            return Err(invalid_answer(format!(
                "the server returned a vector of {} numbers instead of {expected}",
                vector.len()
            )));
        }
        vectors.push(Vector(normalized(vector).map_err(|what| invalid_answer(format!("in the server's answer, {what}")))?));
    }
    Ok(vectors)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use throughline_embedder_wire::FaultKind;
    use throughline_http::reply::parse;

    use super::*;

    #[test]
    fn both_ways_of_writing_numbers() {
        assert_eq!(parse::<Numbers>(b"[1, 0.5, -2e0]").unwrap().0, [1.0, 0.5, -2.0]);
        assert_eq!(parse::<Numbers>(b"\"AACAPwAAAD8=\"").unwrap().0, [1.0, 0.5]);
        for other in ["null", "[null]", "[1e999]", "[\"1\"]", "{}", "\"AAA\"", "[1", "7", ""] {
            assert!(parse::<Numbers>(other.as_bytes()).is_err(), "{other}");
        }
        // Beyond the range of f32 the number is infinite, and `validate_vectors` refuses it.
        assert!(validate_vectors(vec![parse::<Numbers>(b"[1e39]").unwrap().0], 1, &mut None).is_err());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert_eq!(validate_vectors(vec![vec![2.0, 0.0]], 1, &mut Some(2)).unwrap(), [Vector(vec![1.0, 0.0])]);
        for (found, wanted, dims) in [
            (vec![], 1, None),
            (vec![vec![1.0], vec![1.0]], 1, None),
            (vec![vec![1.0], vec![1.0, 2.0]], 2, None),
            (vec![vec![1.0, 2.0]], 1, Some(3)),
            (vec![vec![0.0, 0.0]], 1, None),
            (vec![vec![]], 1, None),
        ] {
            let fault = validate_vectors(found, wanted, &mut { dims }).unwrap_err();
            assert_eq!((fault.kind, fault.retryable), (FaultKind::Answer, false));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_numbers_or_a_fault(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse::<Numbers>(&bytes);
        }

        #[test]
        fn any_json_is_numbers_or_a_fault(body in r#"(7|null|true|"x"|\[\]|\[1\]|\{\})"#) {
            let _ = parse::<Numbers>(body.as_bytes());
        }

    }
}
