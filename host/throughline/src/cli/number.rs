//! Reads a number on the command line, with an error in words.

use throughline_model::invalid::Invalid;

/// Reads a whole number from `MIN` to `MAX`.
pub(super) fn between<const MIN: u32, const MAX: u32>(text: &str) -> Result<u32, Invalid> {
    text.trim().parse().ok().filter(|number| (MIN..=MAX).contains(number)).ok_or_else(|| match MAX {
        u32::MAX => format!("write a whole number of {MIN} or more").into(),
        _ => format!("write a whole number from {MIN} to {MAX}").into(),
    })
}

/// Like [`between`], for a small number.
pub(super) fn small<const MIN: u8, const MAX: u8>(text: &str) -> Result<u8, Invalid> {
    text.trim()
        .parse()
        .ok()
        .filter(|number| (MIN..=MAX).contains(number))
        .ok_or_else(|| format!("write a whole number from {MIN} to {MAX}").into())
}

/// The number of an observation.
pub(super) fn observation(text: &str) -> Result<i64, Invalid> {
    text.trim().parse().map_err(|_| "write the number that `throughline observations search` prints first".into())
}

/// A number of items to print: any but none.
pub(super) fn limit(text: &str) -> Result<u32, Invalid> {
    between::<1, { u32::MAX }>(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn somebody_types_something_else_than_a_number() {
        for wrong in ["ten", "", "0", "-1", "1.5", "99999999999"] {
            assert_eq!(limit(wrong).unwrap_err().to_string(), "write a whole number of 1 or more");
        }
        assert!(observation("").is_err() && observation("7a").is_err() && observation("7") == Ok(7));
        assert_eq!(limit(" 7 "), Ok(7));
        assert_eq!(between::<1, 200>("201").unwrap_err().to_string(), "write a whole number from 1 to 200");
        assert_eq!((small::<1, 2>("2"), small::<1, 2>("3").is_err()), (Ok(2), true));
    }
}
