//! The names of code and of files in a text.

use crate::extract::files::is_document;
use crate::text;

/// The minimum length of a name, in bytes. Shorter ones occur by chance.
const MIN_BYTES: usize = 6;

/// Names of files of which a project has several.
pub(crate) const COMMON_FILES: &[&str] =
    &["readme", "index", "mod", "main", "lib", "package", "config", "types", "utils", "__init__"];

/// What may stand behind a name and is no part of it.
pub(super) const END_OF_NAME: [char; 6] = ['/', '(', ')', ':', ',', ';'];

/// Returns the files that a text names, with their folders or by a name that a project has once.
pub(in crate::extract) fn files_in(said: &str) -> impl Iterator<Item = &str> {
    let is_end =
        |c: char| c.is_whitespace() || matches!(c, '`' | '(' | ')' | '"' | '\'' | ',' | ';' | ':' | '*' | '[' | ']');
    said.split(is_end).map(without_dots).filter(|word| {
        let Some((stem, end)) = word.rsplit_once('.') else { return false };
        let is_file = (1..=5).contains(&end.len()) && end.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let is_own = word.contains('/') || !COMMON_FILES.contains(&stem.to_lowercase().as_str());
        is_file && !stem.is_empty() && end.bytes().any(|byte| byte.is_ascii_alphabetic()) && is_own
    })
}

/// Returns a word without the dots around it. One before a hidden file or folder is part of the name.
fn without_dots(word: &str) -> &str {
    let word = word.trim_end_matches('.').trim_start_matches("./");
    if word.starts_with("..") { word.trim_start_matches('.') } else { word }
}

/// Returns the names that stand in code, each with its bytes in the text: the first word between backticks.
pub(super) fn in_code(said: &str) -> impl Iterator<Item = ((usize, usize), u32)> {
    let mut at = 0;
    said.split('`').enumerate().filter_map(move |(number, part)| {
        let start = at;
        at += part.len() + 1;
        let name = part.split_whitespace().next().unwrap_or_default().trim_end_matches(END_OF_NAME);
        let is_name = number % 2 == 1 && name.len() >= 3;
        is_name.then(|| ((start, start + part.len()), text::hash(&name.to_lowercase())))
    })
}

/// Returns the parts of a text that can be found again in code: numbers of two digits and more, names, and quoted texts.
pub(super) fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let is_end = |c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.' | ':' | '-' | '/' | '#');
    let parts = text.split(is_end).filter(|part| part.len() >= 2).flat_map(|part| {
        let is_number = part.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then_some(part).into_iter().chain(names(if is_number { "" } else { part }))
    });
    let quoted = text.split('"').skip(1).step_by(2).filter(|part| (MIN_BYTES..60).contains(&part.len()));
    parts.chain(quoted)
}

/// Returns the words that can only be names in code: with an underscore or a capital letter inside.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| word.len() >= MIN_BYTES);
    words.filter(|word| {
        let inner = word.trim_matches('_').as_bytes();
        let is_camel = || inner.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
        inner.len() >= MIN_BYTES && inner[0].is_ascii_alphabetic() && (inner.contains(&b'_') || is_camel())
    })
}

/// Returns the names in a line of a file. In prose, a word with a hyphen is none.
pub(super) fn names_in(file: &str, line: &str) -> Vec<u32> {
    let words = hyphenated(line).filter(|_| !is_document(file));
    identifiers(line).chain(words).map(text::hash).collect()
}

/// Returns the words with a hyphen between backticks. Elsewhere in prose such a word is no name.
pub(super) fn named_in_code(said: &str) -> impl Iterator<Item = &str> {
    said.split('`').skip(1).step_by(2).flat_map(hyphenated)
}

/// Returns the words with a hyphen inside: names of jobs, of flags and of styles.
fn hyphenated(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_');
    words.map(|word| word.trim_matches('-')).filter(|word| {
        let is_word = word.len() >= MIN_BYTES && word.as_bytes()[0].is_ascii_lowercase();
        is_word && word.contains('-') && word.bytes().filter(u8::is_ascii_alphabetic).count() * 2 > word.len()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_are_no_names() {
        assert_eq!(names("The Parser reads a_b, fooBar and HTML_TEXT of v2").collect::<Vec<_>>(), ["fooBar", "HTML_TEXT"]);
    }
}
