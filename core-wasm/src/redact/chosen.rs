//! Recognizes passwords by themselves: words that somebody chose as a password, and words that a machine made.

use super::value::{Kind, Shape, is_secret};

/// What people end a password with.
pub(super) const SYMBOLS: [char; 11] = ['!', '@', '#', '$', '%', '^', '&', '*', '+', '?', '='];

/// Returns whether a word is one that somebody chose as a password, and nothing else: it has digits and a symbol, or digits
/// between letters of both cases. Versions, sizes, hashes and algorithms are not.
pub(super) fn is_chosen(word: &str) -> bool {
    let word = word.trim_end_matches(['.', ',', ';', ':', ')', '`', '\'', '"', '*']);
    let has = |class: fn(&u8) -> bool| word.bytes().any(|byte| class(&byte));
    // An equals sign inside of a word stands between a name and a value.
    let symbol = word.trim_end_matches('=').contains(&SYMBOLS[..10]) || word.ends_with('=');
    let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && word.len() >= 8;
    let is_hex = word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let wordy = digits >= 2 && letters >= 5 && word.bytes().all(|byte| byte.is_ascii_alphanumeric()) && word.len() >= 8;
    letters >= 2
        && digits >= 1
        && word.len() >= 6
        && !is_hex
        && !is_technical(word)
        && !is_named_value(word)
        && (symbol || mixed || wordy)
        && is_secret(word, Kind::Password, Shape::Loose)
}

/// Returns whether a word is a name and a value: `timeout=30`.
fn is_named_value(word: &str) -> bool {
    word.trim_end_matches('=').split_once('=').is_some_and(|(name, _)| name.bytes().all(|byte| byte.is_ascii_lowercase()))
}

/// Returns whether a word begins like the name of a version, an algorithm or a file of a key.
fn is_technical(word: &str) -> bool {
    const NAMES: [&str; 16] = [
        "id_", "sha", "aes", "rs2", "hs2", "es2", "md5", "v1", "v2", "v3", "utf", "oauth", "totp", "argon", "bcrypt",
        "pbkdf",
    ];
    let Some(name) = NAMES.iter().find(|name| word.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)))
    else {
        return false;
    };
    // Generated words begin with short names by chance.
    let next = word.as_bytes().get(name.len()).copied().unwrap_or(b'-');
    name.len() > 3 || *name == "id_" || next.is_ascii_digit() || !next.is_ascii_alphanumeric()
}

/// Returns whether the text names a hash or another algorithm used with passwords.
pub(super) fn is_algorithm(text: &str) -> bool {
    const ALGORITHMS: [&str; 10] =
        ["argon2", "base64", "bcrypt", "blake", "hs256", "md5", "pbkdf2", "rs256", "scrypt", "utf-"];
    const SHORT: [&str; 3] = ["aes", "sha", "utf"];
    let beginning = text.get(..6.min(text.len())).unwrap_or_default().to_ascii_lowercase();
    let next = beginning.as_bytes().get(3).copied().unwrap_or(b'-');
    let is_short = SHORT.iter().any(|name| beginning.starts_with(name)) && !next.is_ascii_alphabetic();
    (is_short || ALGORITHMS.iter().any(|name| beginning.starts_with(name))) && text.len() < 24
}

/// Returns whether the word cannot be prose: letters of both cases, digits, and a symbol inside; or letters, a number and a symbol,
/// as people choose it: `maple884*`.
pub(super) fn is_strong(text: &str) -> bool {
    /// Nobody passes on a longer password in a sentence.
    const MAX_BYTES: usize = 128;
    if text.len() > MAX_BYTES {
        return false;
    }
    let inner = text.trim_end_matches(|last: char| last.is_ascii_punctuation());
    let has = |class: fn(&u8) -> bool| inner.bytes().any(|byte| class(&byte));
    let is_mixed = text.len() >= 8
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
        && inner.contains(SYMBOLS);
    is_mixed || is_word_and_number(text)
}

/// Returns whether the word can only be a value: many letters and digits that do not form words.
pub(super) fn is_generated(text: &str) -> bool {
    text.len() >= 12 && is_secret(text, Kind::Token, Shape::Quoted)
}

fn is_word_and_number(text: &str) -> bool {
    let text = text.trim_end_matches(['.', ',', ';', ')', '`', '\'', '"']);
    let number = text.trim_end_matches(SYMBOLS);
    let word = number.trim_end_matches(|last: char| last.is_ascii_digit());
    let is_closed = (1..=2).contains(&(text.len() - number.len()));
    word.len() >= 3 && word.bytes().all(|byte| byte.is_ascii_alphabetic()) && number.len() - word.len() >= 2 && is_closed
}

/// Returns the length of the longest run of letters without a vowel. Words and abbreviations have short ones.
pub(super) fn longest_consonants(text: &str) -> usize {
    let (mut longest, mut current) = (0, 0);
    for byte in text.bytes() {
        let is_consonant = byte.is_ascii_alphabetic() && !b"aeiouyAEIOUY".contains(&byte);
        current = if is_consonant { current + 1 } else { 0 };
        longest = longest.max(current);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_known_by_themselves() {
        for password in ["maple884*", "harbor282=", "V2YtjJWwYFXHscS8", "uv6Snrmui6MExuz7", "2stLNJa8^hR7WZA"] {
            assert!(is_chosen(password), "{password}");
        }
        for word in ["v2.10.3", "sha256", "id_ed25519", "timeout=30", "OAuth2", "bcrypt12", "a1b2c3d4"] {
            assert!(!is_chosen(word), "{word}");
        }
        for word in ["harbor567+", "Tr0ub4dor&3x"] {
            assert!(is_strong(word), "{word}");
        }
        for word in ["2024!", "v1.2!", "Route53Resolver", "locally!"] {
            assert!(!is_strong(word), "{word}");
        }
        assert!(is_algorithm("sha256") && is_algorithm("AES-256") && is_algorithm("argon2id") && is_algorithm("utf8"));
        assert!(!is_algorithm("UtfejpEWHv5rqM92") && !is_algorithm("shadow12!"));
    }

    #[test]
    fn consonants_are_counted() {
        assert_eq!(longest_consonants("WRPZWJrxwXNZEqh6"), 12);
        assert_eq!(longest_consonants("HTTPServer"), 5);
        assert_eq!(longest_consonants(""), 0);
    }
}
