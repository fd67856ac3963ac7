//! Formatting for projections: stored text as one line of Markdown, and times for people and programs.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::text::{one_line, truncate_chars};

/// The longest text of one line, characters.
const MAX_LINE_CHARS: usize = 400;

/// Returns whether a terminal could obey the character, or the character changes the direction of writing.
fn is_unsafe(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Puts a text on one line, so that it cannot start a heading or a list of its own.
pub(super) fn line(text: &str) -> String {
    let text: String = text.chars().map(|c| if is_unsafe(c) && !c.is_whitespace() { ' ' } else { c }).collect();
    truncate_chars(&one_line(&text), MAX_LINE_CHARS)
}

/// Formats a name between backticks.
pub(super) fn code(text: &str) -> String {
    format!("`{}`", line(text).replace('`', "'"))
}

/// Formats a list with one item a line; empty items are left out.
pub(super) fn list(items: impl IntoIterator<Item = String>) -> Vec<String> {
    items.into_iter().filter(|item| !item.is_empty()).map(|item| format!("- {item}")).collect()
}

/// Formats a time as RFC 3339 to the second, UTC.
pub(super) fn stamp(at: u64) -> String {
    moment(at).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Converts a time to the user's time zone.
pub(super) fn local(at: u64, zone: &TimeZone) -> Zoned {
    moment(at).to_zoned(zone.clone())
}

fn moment(at: u64) -> Timestamp {
    i64::try_from(at).ok().and_then(|at| Timestamp::from_millisecond(at).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        assert_eq!(line(" a\n# b\u{1b}[2J\u{202e}  c\t"), "a # b [2J c");
        assert_eq!(line(&"é".repeat(MAX_LINE_CHARS + 1)).chars().count(), MAX_LINE_CHARS + 1);
        assert_eq!(code("a`b"), "`a'b`");
        assert_eq!(stamp(1_768_473_000_123), "2026-01-15T10:30:00Z");
        assert_eq!(stamp(u64::MAX), "1970-01-01T00:00:00Z");
    }
}
