//! Reads a number on the command line, with an error in words.

/// Reads a whole number from `MIN` to `MAX`.
pub(super) fn between<const MIN: u32, const MAX: u32>(text: &str) -> Result<u32, String> {
    text.trim().parse().ok().filter(|number| (MIN..=MAX).contains(number)).ok_or_else(|| match MAX {
        u32::MAX => format!("it is not a whole number from {MIN}"),
        _ => format!("it is not a whole number from {MIN} to {MAX}"),
    })
}

/// Like [`between`], for a small number.
pub(super) fn small<const MIN: u8, const MAX: u8>(text: &str) -> Result<u8, String> {
    text.trim()
        .parse()
        .ok()
        .filter(|number| (MIN..=MAX).contains(number))
        .ok_or_else(|| format!("it is not a whole number from {MIN} to {MAX}"))
}

/// A number of items to print: any but none.
pub(super) fn limit(text: &str) -> Result<u32, String> {
    between::<1, { u32::MAX }>(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn somebody_types_something_else_than_a_number() {
        for wrong in ["ten", "", "0", "-1", "1.5", "99999999999"] {
            assert_eq!(limit(wrong).unwrap_err(), "it is not a whole number from 1");
        }
        assert_eq!(limit(" 7 "), Ok(7));
        assert_eq!(between::<1, 200>("201").unwrap_err(), "it is not a whole number from 1 to 200");
        assert_eq!((small::<1, 2>("2"), small::<1, 2>("3").is_err()), (Ok(2), true));
    }
}
