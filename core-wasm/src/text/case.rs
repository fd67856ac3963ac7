//! Upper and lower case.

/// Returns a text in lower case, as the standard library does. That one looks at each character behind the first that is not ASCII,
/// such as a dash, and took a tenth of an extraction.
pub(crate) fn lower(text: &str) -> String {
    let mut lower = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        let plain = rest.bytes().position(|byte| !byte.is_ascii()).unwrap_or(rest.len());
        let start = lower.len();
        lower.push_str(&rest[..plain]);
        lower[start..].make_ascii_lowercase();
        rest = &rest[plain..];
        let Some(c) = rest.chars().next() else { return lower };
        match c {
            // How a sigma is written depends on what stands around it.
            'Σ' => return text.to_lowercase(),
            // Punctuation, and the scripts of Japanese, Chinese and Korean, which have no cases.
            '\u{2010}'..='\u{2027}' | '\u{3000}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => lower.push(c),
            _ => lower.extend(c.to_lowercase()),
        }
        rest = &rest[c.len_utf8()..];
    }
}

/// Converts to lower case without apostrophes. People leave them out as often as not.
pub(crate) fn strip_apostrophes(text: &str) -> String {
    text.to_lowercase().replace(['’', '\''], "")
}

/// Returns a text with its first letter in upper case.
pub(crate) fn capitalized(said: &str) -> String {
    let mut chars = said.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lower_case_is_that_of_the_standard_library() {
        for text in ["", "A—B", "ΑΣ ΑΣΑ", "İstanbul", "ÀÉ ß Ω K", "금고 ABC 引き出し、ＡＢ", "…Now “It”"]
        {
            assert_eq!(lower(text), text.to_lowercase());
        }
    }

    proptest! {
        #[test]
        fn any_text_in_lower_case_is_that_of_the_standard_library(text in any::<String>()) {
            prop_assert_eq!(lower(&text), text.to_lowercase());
        }
    }
}
