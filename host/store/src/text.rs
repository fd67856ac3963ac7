//! Texts that are compared without regard to case.

use unicode_normalization::UnicodeNormalization as _;

/// Folds a text for case-insensitive search: lower case and NFKC.
pub fn folded(text: &str) -> String {
    text.nfkc().flat_map(char::to_lowercase).collect()
}
