//! Cleans every text before it enters the state. Texts are scrubbed before they are cut, so that the place where a
//! transcript is split never affects which secrets are recognized.

use std::borrow::Cow;

use crate::{redact, text};

/// The maximum number of bytes of one text that are looked at: half from the beginning, half from the end.
const WINDOW_BYTES: usize = 256 * 1024;

/// Removes terminal escapes, control characters and secrets.
pub(crate) fn clean(text: &str) -> String {
    let text = window(text);
    let text = printable(&text);
    redact::scrub(&text).into_owned()
}

/// Returns the cleaned text on one line of at most `max` characters.
pub(crate) fn line(text: &str, max: usize) -> String {
    text::clip(&text::one_line(&clean(text)), max).into_owned()
}

/// Returns the cleaned text in at most `max` bytes, cut at a natural boundary.
pub(crate) fn block(text: &str, max: usize) -> String {
    text::clip_block(&clean(text), max).into_owned()
}

fn window(text: &str) -> Cow<'_, str> {
    if text.len() <= WINDOW_BYTES {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}\n…\n{}", text::head(text, WINDOW_BYTES / 2), text::tail(text, WINDOW_BYTES / 2)))
}

/// Removes ANSI escape sequences and other control characters. Carriage returns become newlines.
fn printable(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(|byte| byte < b' ' && byte != b'\n' && byte != b'\t') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\r' => plain.push('\n'),
            '\n' | '\t' => plain.push(c),
            c if c.is_control() => {}
            c => plain.push(c),
        }
    }
    Cow::Owned(plain.replace("\n\n\n", "\n\n"))
}

fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    if chars.peek() != Some(&'[') {
        return;
    }
    chars.next();
    for c in chars.by_ref() {
        if ('\u{40}'..='\u{7e}').contains(&c) {
            return;
        }
    }
}

/// Returns a path with `/` between folders, relative to `root` if it is inside.
pub(crate) fn path(path: &str, root: &str) -> String {
    let path = path.replace('\\', "/");
    let root = root.replace('\\', "/");
    let root = root.trim_end_matches('/');
    let relative = path.strip_prefix(root).filter(|_| !root.is_empty()).and_then(|rest| rest.strip_prefix('/'));
    line(relative.unwrap_or(&path), 300)
}

/// Makes paths inside the project relative to its root. Absolute paths only say where the project is on one machine.
pub(crate) fn relative_paths(command: &str, root: &str) -> String {
    if root.len() < 2 {
        return command.to_owned();
    }
    let mut short = String::with_capacity(command.len());
    let mut rest = command;
    while let Some(at) = rest.find(root) {
        short.push_str(&rest[..at]);
        rest = &rest[at + root.len()..];
        if let Some(after) = rest.strip_prefix('/') {
            rest = after;
            // The root with a slash and nothing after it.
            if !rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '*' | '@' | '{')) {
                short.push_str("./");
            }
        } else if rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.')) {
            short.push_str(root);
        } else {
            short.push('.');
        }
    }
    short.push_str(rest);
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_go_and_lines_stay() {
        assert_eq!(clean("\u{1b}[31mred\u{1b}[0m\r\nnext\u{7}"), "red\n\nnext");
    }

    #[test]
    fn commands_are_relative_inside_the_root() {
        assert_eq!(relative_paths("cd /p/a && ls /p/a/src /p/ab", "/p/a"), "cd . && ls src /p/ab");
        assert_eq!(relative_paths("git -C /p/a status", "/p/a"), "git -C . status");
    }

    #[test]
    fn paths_are_relative_inside_the_root() {
        assert_eq!(path("/home/u/p/src/a.rs", "/home/u/p"), "src/a.rs");
        assert_eq!(path("/home/u/p2/a.rs", "/home/u/p"), "/home/u/p2/a.rs");
        assert_eq!(path("D:\\p\\a.go", "D:\\p"), "a.go");
    }
}
