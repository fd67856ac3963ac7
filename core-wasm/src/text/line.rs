//! What makes one plain line of any text.

use std::borrow::Cow;

/// Puts the text on one line and collapses each run of white space into one space.
pub(crate) fn one_line(text: &str) -> String {
    if is_one_line(text) {
        return text.to_owned();
    }
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Returns whether a text is one line already, as most texts are that were stored.
fn is_one_line(text: &str) -> bool {
    let bytes = text.as_bytes();
    let has_other_space = || text.chars().any(|c| c != ' ' && c.is_whitespace());
    !matches!(bytes, [b' ', ..] | [.., b' '])
        && !bytes.array_windows().any(|pair| pair == b"  ")
        && (bytes.iter().all(|byte| matches!(byte, b' '..=b'~')) || !has_other_space())
}

/// Puts a text that somebody else may have written between quotation marks, which it cannot end.
pub(crate) fn quoted(said: &str) -> String {
    format!("\"{}\"", said.replace(['"', '“', '”', '„'], "'"))
}

/// Returns a text without the codes with which a terminal is told colours and positions: `ESC [31m`.
pub(crate) fn without_codes(text: &str) -> Cow<'_, str> {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default();
    let is_end = |c: char| matches!(c, '\u{40}'..='\u{7e}');
    let mut plain = Cow::Borrowed(first);
    for part in parts {
        let rest = match part.strip_prefix('[') {
            Some(code) => code.find(is_end).map_or("", |at| &code[at + 1..]),
            None => part,
        };
        plain.to_mut().push_str(rest);
    }
    plain
}
