//! The wire format of vectors: base64 of little-endian 32-bit floats. It takes 5.3 bytes a number and is exact to the
//! bit; JSON numbers would take about 11 and have to be parsed digit by digit.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The maximum number of numbers in a vector: twice what the largest models produce.
pub const MAX_DIMS: usize = 8_192;

/// The numbers of a vector.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector(pub Vec<f32>);

impl Serialize for Vector {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = self.0.iter().flat_map(|number| number.to_le_bytes()).collect();
        serializer.serialize_str(&STANDARD.encode(bytes))
    }
}

impl<'de> Deserialize<'de> for Vector {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Self::from_base64(&text).map_err(serde::de::Error::custom)
    }
}

impl Vector {
    /// Decodes base64 of little-endian 32-bit floats.
    pub fn from_base64(text: &str) -> Result<Self, &'static str> {
        let bytes = STANDARD.decode(text).map_err(|_| "a vector is not valid base64")?;
        let (numbers, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return Err("a vector's bytes are not a whole number of 32-bit floats");
        }
        Ok(Self(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()))
    }
}

/// Scales a vector to length 1. Fails if the vector has no direction: it is empty, zero, infinite or not a number.
pub fn normalized(mut vector: Vec<f32>) -> Result<Vec<f32>, &'static str> {
    if vector.is_empty() || vector.len() > MAX_DIMS {
        return Err("a vector has no numbers, or more than any model produces");
    }
    if vector.iter().any(|number| !number.is_finite()) {
        return Err("a vector contains a number that is not finite");
    }
    // Sum in f64, where the square of an f32 cannot overflow.
    let length = vector.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt();
    if length < f64::from(f32::MIN_POSITIVE) {
        return Err("a vector is zero");
    }
    for number in &mut vector {
        #[expect(clippy::cast_possible_truncation, reason = "at most 1, so only precision is lost")]
        let scaled = (f64::from(*number) / length) as f32;
        *number = scaled;
    }
    Ok(vector)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_has_no_direction_is_refused() {
        for vector in [vec![], vec![0.0, 0.0], vec![f32::NAN, 1.0], vec![f32::INFINITY], vec![1.0; MAX_DIMS + 1]] {
            assert!(normalized(vector).is_err());
        }
        assert_eq!(normalized(vec![3.0, 4.0]).unwrap(), [0.6, 0.8]);
    }

    #[test]
    fn what_is_no_vector_is_refused() {
        for text in ["\"AAAA\"", "\"####\"", "[1.0]", "null", "1"] {
            assert!(serde_json::from_str::<Vector>(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn to_the_bit(bits in prop::collection::vec(any::<u32>(), 0..50)) {
            let vector = Vector(bits.iter().map(|bits| f32::from_bits(*bits)).collect());
            let back: Vector = serde_json::from_str(&serde_json::to_string(&vector).unwrap()).unwrap();
            prop_assert_eq!(back.0.iter().map(|number| number.to_bits()).collect::<Vec<_>>(), bits);
        }

        #[test]
        fn of_length_one(vector in prop::collection::vec(any::<f32>(), 1..50)) {
            if let Ok(unit) = normalized(vector) {
                let length = unit.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt();
                prop_assert!((length - 1.0).abs() < 1e-5, "{length}");
            }
        }
    }
}
