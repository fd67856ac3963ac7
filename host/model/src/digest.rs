//! SHA-256 and hexadecimal.

use sha2::{Digest, Sha256};

/// Returns the SHA-256 of the parts, each followed by its length, so that no two lists of parts give the same input.
pub fn sha256_parts(parts: &[&str]) -> [u8; 32] {
    let mut sha = Sha256::new();
    for part in parts {
        sha.update(part.as_bytes());
        sha.update((part.len() as u64).to_le_bytes());
    }
    sha.finalize().into()
}

/// Returns the SHA-256 of `bytes` in hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Returns whether the text is a SHA-256 as [`sha256_hex`] writes it.
pub fn is_sha256_hex(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns the bytes in lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|b| [DIGITS[usize::from(b >> 4)], DIGITS[usize::from(b & 15)]]).map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_together() {
        assert_ne!(sha256_parts(&["ab", "c"]), sha256_parts(&["a", "bc"]));
        assert_eq!(hex(&[0, 255, 16]), "00ff10");
    }
}
