//! The names of code in a text, and its parts.

use crate::extract::vanished::COMMON_FILES;

/// The minimum length of a name by which a thing is known again, and that of one of words with hyphens or spaces, in bytes.
const MIN_NAME: usize = 5;
pub(super) const MIN_WORDS_NAME: usize = 8;
/// The maximum length of a name in backticks, in bytes. What is longer is code.
const MAX_NAME: usize = 60;
/// Files for agents and releases, of which a project may have several too.
const OTHER_COMMON_FILES: [&str; 3] = ["claude", "agents", "changelog"];

/// What stands between backticks.
#[derive(Clone, Copy)]
pub(super) struct Span<'t> {
    pub(super) text: &'t str,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Returns what stands between backticks, with its place between the marks.
pub(super) fn spans(said: &str) -> impl Iterator<Item = Span<'_>> {
    let mut at = 0;
    let marks = said.matches('`').count();
    said.split('`').enumerate().filter_map(move |(number, text)| {
        let start = at;
        at += text.len() + 1;
        (number % 2 == 1 && number < marks).then_some(Span { text, start, end: start + text.len() })
    })
}

/// Returns a name in the form in which it is compared, if it tells one thing from others.
pub(super) fn name_of(code: &str) -> Option<String> {
    let code = code.trim().trim_start_matches("./");
    let code = code.split('(').next().unwrap_or_default().trim_end_matches(['/', ':', ',', ';', '.', ' ']);
    let is_long = |min: usize| (min..=MAX_NAME).contains(&code.len());
    if !is_long(MIN_NAME) || code.contains(['=', '<', '>', '"', '{', '|', '$', '*']) {
        return None;
    }
    if !code.contains('/') && is_common(code) {
        return None;
    }
    let has_capital = code.as_bytes().windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    let is_name = has_capital || code.contains(['_', '/', '.']) || (is_long(MIN_WORDS_NAME) && code.contains(['-', ' ']));
    is_name.then(|| code.to_lowercase())
}

/// Returns whether a file has a name that several of a project have.
pub(super) fn is_common(name: &str) -> bool {
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem).to_lowercase();
    COMMON_FILES.iter().chain(&OTHER_COMMON_FILES).any(|known| *known == stem)
}

/// Returns whether a name is that of something that stands in one place: a function, a type or a path, and no value, flag or command.
pub(super) fn is_definition(name: &str) -> bool {
    !name.contains([' ', '-']) || name.contains('/') || name.rsplit_once('.').is_some_and(|(_, end)| end.len() <= 4)
}

/// Returns the path of a file without its line.
pub(super) fn path_of(code: &str) -> Option<String> {
    let path = code.trim().trim_start_matches("./").split(':').next()?;
    let (stem, end) = path.rsplit('/').next()?.rsplit_once('.')?;
    let is_file = !stem.is_empty() && (1..=5).contains(&end.len()) && end.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (is_file && !path.contains(char::is_whitespace)).then(|| path.to_lowercase())
}

/// Returns whether two names or paths mean the same: one is the end of the other.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    let ends = |long: &str, short: &str| long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
    ends(one, other) || ends(other, one)
}

/// Returns the words of a text.
pub(super) fn words(said: &str) -> impl Iterator<Item = &str> {
    said.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Returns the parts of a result: its sentences, and the items of a list in one. Together they are the whole text.
pub(super) fn parts(said: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut is_code) = (0, false);
    for (at, c) in said.char_indices() {
        let end = at + c.len_utf8();
        let rest = &said[end..];
        let is_end = match c {
            '`' => {
                is_code = !is_code;
                false
            }
            _ if is_code || end <= start => false,
            ';' => rest.starts_with(' '),
            '.' | '!' | '?' | '…' => {
                rest.starts_with(' ') && rest.trim_start().chars().next().is_some_and(|c| !c.is_lowercase())
            }
            '。' => true,
            _ => false,
        };
        if is_end {
            let end = end + (rest.len() - rest.trim_start().len());
            parts.push(&said[start..end]);
            start = end;
        }
    }
    parts.push(&said[start..]);
    parts.retain(|part| !part.is_empty());
    parts
}
