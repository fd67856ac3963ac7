//! Stored text as one harmless line: it is data, and nothing in it may look like the client, like us, or like an order of
//! things that it is not part of.

use jiff::{Timestamp, tz::TimeZone};

/// Words that make a tag one of the client's or of an agent's protocol.
const TAGS: &[&str] = &[
    "antml",
    "assistant",
    "context",
    "function",
    "human",
    "instructions",
    "invoke",
    "memory",
    "output",
    "parameter",
    "private",
    "result",
    "system",
    "thinking",
    "tool",
    "user",
];

/// As much of a text as is looked at, in bytes: no line is as long.
const LOOK: usize = 4096;

/// The text on one line, without what could break out of its section: headings, fences, tags, control characters.
pub(crate) fn clean(text: &str) -> String {
    let mut rest = &text[..text.floor_char_boundary(LOOK)];
    let mut out = String::with_capacity(rest.len());
    while let Some(letter) = rest.chars().next() {
        let behind = &rest[letter.len_utf8()..];
        rest = behind;
        match letter {
            _ if letter.is_whitespace() || letter.is_control() => {
                if !out.is_empty() && !out.ends_with(' ') {
                    out.push(' ');
                }
            }
            _ if is_invisible(letter) => {}
            '<' if is_protocol_tag(behind) => out.push('‹'),
            '`' if behind.starts_with("``") => {
                rest = behind.trim_start_matches('`');
                out.push('`');
            }
            '#' if out.is_empty() || behind.starts_with('#') || out.ends_with('#') => {
                rest = behind.trim_start_matches('#');
            }
            _ => out.push(letter),
        }
    }
    without_mark(out.trim()).to_owned()
}

/// Characters that a person does not see and a model reads: joiners, direction marks, the tag block.
fn is_invisible(letter: char) -> bool {
    matches!(letter,
        '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}'
        | '\u{E0000}'..='\u{E007F}')
}

/// Whether what stands behind a `<` makes it a tag such as `system-reminder`; `Vec<String>` and `<div>` are left alone.
fn is_protocol_tag(behind: &str) -> bool {
    let name = behind.trim_start_matches([' ', '/', '\\']);
    let length = name
        .bytes()
        .position(|byte| !byte.is_ascii_alphanumeric())
        .unwrap_or(name.len());
    let joined = matches!(name.as_bytes().get(length), Some(b'-' | b'_' | b':'))
        && name
            .as_bytes()
            .get(length + 1)
            .is_some_and(u8::is_ascii_alphabetic);
    let word = &name[..length];
    length > 0 && (joined || TAGS.iter().any(|tag| word.eq_ignore_ascii_case(tag)))
}

/// Without the mark of a list or a quotation at its start.
fn without_mark(text: &str) -> &str {
    ["- ", "* ", "+ ", "> "]
        .iter()
        .find_map(|mark| text.strip_prefix(mark))
        .map_or(text, without_mark)
}

/// Length in UTF-16 code units, the unit of the budget.
pub(crate) fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// The text, or as much of its beginning as fits with an ellipsis; cut between words where one ends near the cut.
pub(crate) fn clip(text: &str, most: usize) -> String {
    if units(text) <= most {
        return text.to_owned();
    }
    let mut length = 0;
    let mut taken = 0;
    for letter in text.chars() {
        taken += letter.len_utf16();
        if taken >= most {
            break;
        }
        length += letter.len_utf8();
    }
    let kept = &text[..length];
    let word = kept
        .rfind(' ')
        .filter(|&blank| blank * 4 > length * 3)
        .map_or(kept, |blank| &kept[..blank]);
    if most == 0 {
        return String::new();
    }
    format!("{}…", word.trim_end())
}

/// The date in UTC, such as `2026-02-23`.
pub(crate) fn date(milliseconds: u64) -> Option<String> {
    let timestamp = Timestamp::from_millisecond(i64::try_from(milliseconds).ok()?).ok()?;
    Some(timestamp.to_zoned(TimeZone::UTC).date().to_string())
}
