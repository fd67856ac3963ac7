//! Texts that nobody wrote as a sentence: names, output and code.

use crate::text;

/// The number of words from which a text says more than names.
const MIN_WORDS: usize = 2;

/// Returns whether a text consists of paths, addresses and identifiers, and says nothing of them.
pub(in crate::extract) fn names_only(said: &str) -> bool {
    let is_name = |word: &&str| {
        let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
        inner.contains(['/', '\\', '_']) || inner.contains("://") || inner.len() >= 28 || word.starts_with('`')
    };
    let (names, words): (Vec<&str>, Vec<&str>) = said.split_whitespace().partition(is_name);
    !names.is_empty() && text::features(&words.join(" ")).len() < MIN_WORDS
}

/// Returns whether a text is a line that a program printed: it begins with a tag or has a long identifier.
pub(in crate::extract) fn is_output(said: &str) -> bool {
    let is_identifier = |word: &str| word.len() >= 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    said.starts_with('[') || said.split(|c: char| !c.is_alphanumeric()).any(is_identifier)
}

/// Returns whether a text looks like pasted code or output.
pub(in crate::extract) fn is_code(said: &str) -> bool {
    let openings = ["//", "#!", "$ ", "> ", "❯", "●", "at ", "ERROR", "Error:", "error:", "warning:", "WARN", "Traceback"];
    openings.iter().any(|opening| said.starts_with(opening)) || said.ends_with(['{', '}', ';'])
}
