//! Parses server responses: vectors as JSON numbers or base64, validated, and error messages with the key removed.

use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use throughline_embedder_wire::{Fault, FaultKind, MAX_DIMS, Vector, normalized};

/// The maximum length of a quoted server message, in characters.
const MAX_MESSAGE_CHARS: usize = 200;

/// How many consecutive bytes of the key a word must contain to be treated as part of the key.
const MIN_KEY_FRAGMENT_BYTES: usize = 5;

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

/// Returns a permanent fault about the server's answer.
pub(crate) fn invalid_answer(message: impl Into<String>) -> Fault {
    Fault::permanent(FaultKind::Answer, message)
}

/// Parses the answer as `T`. The fault is temporary, since a proxy's error page or a truncated answer may be gone next
/// time.
pub(crate) fn parse<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Fault> {
    serde_json::from_slice(body).map_err(|error| {
        let message = format!(
            "the server's answer does not match the protocol at byte {} of {}",
            error_offset(body, &error),
            body.len()
        );
        Fault::temporary(FaultKind::Answer, message)
    })
}

fn error_offset(body: &[u8], error: &serde_json::Error) -> usize {
    let lines: usize =
        body.split_inclusive(|byte| *byte == b'\n').take(error.line().saturating_sub(1)).map(<[u8]>::len).sum();
    lines + error.column()
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

/// Returns the server's own error message and error code, with parts of the key removed, on one line, and shortened.
pub(crate) fn parse_error_message(body: &[u8], key: Option<&str>) -> (Option<String>, Option<String>) {
    // Use `get_mut`: indexing a value that is not an object in order to change it panics.
    let error = serde_json::from_slice::<Value>(body)
        .ok()
        .and_then(|mut value| value.get_mut("error").map(Value::take))
        .unwrap_or_default();
    let message = error.as_str().or_else(|| error["message"].as_str());
    let code = error["code"].as_str().or_else(|| error["status"].as_str());
    (
        message.map(|text| sanitize_message(text, key)).filter(|text| !text.is_empty()),
        code.map(|text| sanitize_message(text, key)),
    )
}

fn sanitize_message(text: &str, key: Option<&str>) -> String {
    let text: String = text.chars().take(10 * MAX_MESSAGE_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words: Vec<&str> =
        text.split_whitespace().map(|word| if contains_key_fragment(word, key) { "…" } else { word }).collect();
    words.join(" ").chars().take(MAX_MESSAGE_CHARS).collect()
}

/// Returns whether the word contains part of the key. Servers quote the key with asterisks in the middle.
fn contains_key_fragment(word: &str, key: Option<&str>) -> bool {
    if word.contains("**") {
        return true;
    }
    let Some(key) = key.map(str::as_bytes).filter(|key| !key.is_empty()) else { return false };
    key.windows(MIN_KEY_FRAGMENT_BYTES.min(key.len()))
        .any(|part| word.as_bytes().windows(part.len()).any(|found| found == part))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    #[test]
    fn a_servers_words_hold_no_key() {
        let key = ["sk-", "proj-abcdefghijkl"].concat();
        let body =
            serde_json::json!({"error": {"message": format!("key {key}\nor sk-pr*****ijkl\u{7}, sorry"), "code": "bad"}});
        let (message, code) = parse_error_message(body.to_string().as_bytes(), Some(&key));
        assert_eq!(message.unwrap(), "key … or … , sorry");
        assert_eq!(code.unwrap(), "bad");
        assert_eq!(parse_error_message(b"{\"error\": \"plain\"}", None), (Some("plain".into()), None));
        assert_eq!(parse_error_message(b"<html>", Some("")), (None, None));
    }

    proptest! {
        #[test]
        fn any_bytes_are_numbers_or_a_fault(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse::<Numbers>(&bytes);
            let _ = parse_error_message(&bytes, Some("key-of-somebody"));
        }

        #[test]
        fn any_json_is_numbers_or_a_fault(body in r#"(7|null|true|"x"|\[\]|\[1\]|\{\}|\{"error":(7|null|"x"|\[\]|\{"message":7\})\})"#) {
            let _ = parse::<Numbers>(body.as_bytes());
            let _ = parse_error_message(body.as_bytes(), Some("key-of-somebody"));
        }

        #[test]
        fn no_message_holds_the_key(before in ".{0,40}", after in ".{0,40}", key in "[a-zA-Z0-9_-]{8,40}") {
            let body = serde_json::json!({"error": {"message": format!("{before}{key}{after}")}});
            let (message, _) = parse_error_message(body.to_string().as_bytes(), Some(&key));
            prop_assert!(!message.unwrap_or_default().contains(&key));
        }
    }
}
