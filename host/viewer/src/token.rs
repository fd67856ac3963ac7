//! Random secrets: the token in the address, and the value of the cookie.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Returns 256 random bits as text.
pub(crate) fn random() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// Compares two secrets in a time that does not depend on where they differ.
pub(crate) fn is_same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |differences, (a, b)| differences | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_long_and_never_the_same() {
        let (one, two) = (random().unwrap(), random().unwrap());
        assert_eq!((one.len(), two.len()), (43, 43));
        assert!(!is_same(&one, &two) && is_same(&one, &one) && !is_same(&one, &one[1..]));
    }
}
