//! Limits a tool's output: keeps its beginning and its end, and says how much was omitted between them.

use crate::redact::without_escapes;

/// The maximum size of an observation's detail, in bytes.
pub(super) const MAX_BYTES: usize = 10 * 1024;
/// The maximum number of lines of an observation's detail.
pub(super) const MAX_LINES: usize = 100;

/// How many bytes are reserved for the line that says what was omitted.
const OMISSION_NOTE_BYTES: usize = 64;

/// Renders the output as a terminal would finally show it: without colours and without overwritten progress.
pub(super) fn plain(text: &str) -> String {
    let text = without_escapes(text);
    let mut out = String::with_capacity(text.len());
    for line in text.split('\n') {
        let line = line.trim_end_matches('\r');
        out.push_str(line.rsplit('\r').next().unwrap_or(line));
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out
}

/// Limits the text to [`MAX_LINES`] and [`MAX_BYTES`]: half of each from its beginning, half from its end.
pub(super) fn head_and_tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() <= MAX_LINES && text.len() <= MAX_BYTES {
        return text.to_owned();
    }
    let (head, tail) = if lines.len() > MAX_LINES {
        let half = MAX_LINES / 2;
        (lines[..half].join("\n"), lines[lines.len() - half + 1..].join("\n"))
    } else {
        (text.to_owned(), String::new())
    };
    let half = (MAX_BYTES - OMISSION_NOTE_BYTES) / 2;
    let (head, tail) = if head.len() + tail.len() <= MAX_BYTES - OMISSION_NOTE_BYTES {
        (head.as_str(), tail.as_str())
    } else if tail.is_empty() {
        (first(&head, half), last(&head, half))
    } else {
        (first(&head, half), last(&tail, half))
    };
    let skipped = text.len() - head.len() - tail.len();
    format!("{head}\n… {skipped} bytes left out …\n{tail}")
}

/// Returns the first lines of a text.
pub(super) fn head(text: &str, max: usize) -> String {
    let shown: Vec<&str> = text.lines().take(max).collect();
    head_and_tail(&shown.join("\n"))
}

fn first(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

fn last(text: &str, bytes: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes))..]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn colours_and_overwritten_progress_are_removed() {
        assert_eq!(plain("\u{1b}[31mred\u{1b}[0m\r\n 10%\r 50%\rdone\n"), "red\ndone");
        assert_eq!(plain("\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{7} a\u{1b}[K"), "link a");
    }

    #[test]
    fn the_middle_is_omitted() {
        let text: Vec<String> = (1..=1000).map(|line| format!("line {line}")).collect();
        let short = head_and_tail(&text.join("\n"));
        assert!(short.starts_with("line 1\nline 2\n") && short.ends_with("line 999\nline 1000"));
        assert!(short.contains("\nline 50\n… ") && short.contains(" …\nline 952\n"), "{short}");
        assert_eq!(short.lines().count(), MAX_LINES);
        assert_eq!(head_and_tail("a\nb\n"), "a\nb\n");
    }

    proptest! {
        #[test]
        fn any_output_is_bounded(lines in prop::collection::vec("\\PC{0,400}", 0..300), joint in "[\n ]") {
            let text = lines.join(&joint);
            let short = head_and_tail(&plain(&text));
            prop_assert!(short.len() <= MAX_BYTES);
            prop_assert!(short.lines().count() <= MAX_LINES);
        }

        #[test]
        fn any_escapes_are_handled(text in "[\u{1b}\\[\\]m;0-9\u{7}\r\n\\\\a가]{0,60}") {
            prop_assert!(!plain(&text).contains('\r'));
        }
    }
}
