//! [`Scrubbed`]: text without terminal escapes and secrets. Whatever is derived from a tool call is derived from this type,
//! because a part of a text no longer shows that it was a secret: without its `-u`, a password is a word like any other.

use std::borrow::Cow;
use std::ops::Deref;

use crate::{redact, text};

/// The maximum number of bytes of one text that are kept: half from the beginning, half from the end.
const WINDOW_BYTES: usize = 256 * 1024;

/// How far beyond a cut secrets are searched for. No key or token is longer, so none is cut before it is recognized.
const MARGIN_BYTES: usize = 32 * 1024;

/// A text without terminal escapes and secrets. Only a redactor makes one.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Scrubbed(String);

impl Scrubbed {
    /// Removes terminal escapes and secrets.
    pub(crate) fn of(text: &str) -> Self {
        Self::with(text, |text| redact::scrub(text).into_owned())
    }

    /// Like [`Self::of`], for a text that is known to be a command line.
    pub(crate) fn of_command(text: &str) -> Self {
        Self::with(text, |text| redact::scrub_command(text).into_owned())
    }

    /// Removes the secrets and terminal escapes of a tool's output, and keeps its carriage returns.
    pub(crate) fn of_output(text: &str) -> Self {
        Self(redact::scrub(&redact::without_escapes(text)).into_owned())
    }

    fn with(text: &str, scrub: fn(&str) -> String) -> Self {
        if text.len() <= WINDOW_BYTES + 2 * MARGIN_BYTES {
            return Self(scrub(&printable(text)));
        }
        // Each end is scrubbed with a margin, and the margin is cut off afterwards.
        let half = WINDOW_BYTES / 2;
        let head = scrub(&printable(text::head(text, half + MARGIN_BYTES)));
        let tail = scrub(&printable(text::tail(text, half + MARGIN_BYTES)));
        Self(format!("{}\n…\n{}", text::head(&head, half), text::tail(&tail, half)))
    }

    /// Returns the text.
    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

impl Deref for Scrubbed {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// Removes ANSI escape sequences and other control characters. Carriage returns become newlines.
fn printable(text: &str) -> Cow<'_, str> {
    let visible = redact::without_escapes(text);
    if !visible.bytes().any(|byte| byte < b' ' && byte != b'\n' && byte != b'\t') {
        return visible;
    }
    let mut plain = String::with_capacity(visible.len());
    for c in visible.chars() {
        match c {
            '\r' => plain.push('\n'),
            '\n' | '\t' => plain.push(c),
            c if c.is_control() => {}
            c => plain.push(c),
        }
    }
    Cow::Owned(plain.replace("\n\n\n", "\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_go_and_lines_stay() {
        assert_eq!(&*Scrubbed::of("\u{1b}[31mred\u{1b}[0m\r\nnext\u{7}"), "red\n\nnext");
    }

    #[test]
    fn attack_a_key_at_the_cut_of_a_long_text() {
        let key = format!("AKIA{}", "Q7XK2M9PLT4WZ8RB");
        for place in [WINDOW_BYTES / 2 - 10, WINDOW_BYTES / 2 - 1] {
            let text = format!("{} {key} {}", "x".repeat(place - 1), " y".repeat(WINDOW_BYTES));
            assert!(!Scrubbed::of(&text).contains("AKIA"));
            let text = format!("{} {key} {}", "y ".repeat(WINDOW_BYTES), "x".repeat(place - 1));
            let scrubbed = Scrubbed::of(&text);
            assert!(!scrubbed.contains(&key[10..]), "{}", &scrubbed[scrubbed.len() / 2..][..64]);
        }
    }
}
