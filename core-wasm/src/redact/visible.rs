//! A text as a reader sees it: without terminal escapes and invisible characters, which otherwise hide a token from the
//! rules. Secrets are searched for in the visible text too, and removed from the original, together with what hid them.

use std::ops::Range;

use super::scan::Hit;

/// How many bytes an escape sequence has at most. Anything longer is text.
const MAX_ESCAPE_BYTES: usize = 256;

/// What to leave out of a text.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Hidden {
    /// The escape sequences that a terminal obeys. Nobody misses them.
    Escapes,
    /// Whatever may hide a token: also invisible characters, and escape sequences that are spelled out, as in program text.
    All,
    /// The marks of Markdown for strong words and code, and the backslashes before signs.
    Marks,
}

/// The visible text, with where each of its pieces is in the original.
pub(super) struct Visible {
    pub text: String,
    /// Where a piece begins in the visible text and in the original, in order.
    pieces: Vec<(usize, usize)>,
}

impl Visible {
    /// Returns the visible text, or none if nothing is hidden in the original.
    pub(super) fn of(text: &str, hidden: Hidden) -> Option<Self> {
        let bytes = text.as_bytes();
        let mut visible: Option<Self> = None;
        let mut search = Search { bytes, hidden, from: 0, ahead: Some(0..0) };
        let mut copied = 0;
        while let Some(hidden) = search.next() {
            let visible =
                visible.get_or_insert_with(|| Self { text: String::with_capacity(text.len()), pieces: Vec::new() });
            visible.push(text, copied..hidden.start);
            copied = hidden.end;
        }
        let mut visible = visible?;
        visible.push(text, copied..text.len());
        Some(visible)
    }

    fn push(&mut self, text: &str, piece: Range<usize>) {
        if let Some(shown) = text.get(piece.clone()).filter(|shown| !shown.is_empty()) {
            self.pieces.push((self.text.len(), piece.start));
            self.text.push_str(shown);
        }
    }

    /// Translates a hit in the visible text into the original.
    pub(super) fn in_original<'r>(&self, hit: &Hit<'r>) -> Hit<'r> {
        let end = self.original(hit.end.saturating_sub(1)) + 1;
        Hit { start: self.original(hit.start), end, ..hit.clone() }
    }

    fn original(&self, at: usize) -> usize {
        let piece = self.pieces.partition_point(|(shown, _)| *shown <= at).saturating_sub(1);
        self.pieces.get(piece).map_or(at, |(shown, original)| original + at.saturating_sub(*shown))
    }
}

/// A search for what a reader does not see.
struct Search<'t> {
    bytes: &'t [u8],
    hidden: Hidden,
    from: usize,
    /// The next range that is not spelled out, so that it is searched for only once. It is out of date before `from`.
    ahead: Option<Range<usize>>,
}

impl Search<'_> {
    fn next(&mut self) -> Option<Range<usize>> {
        let (bytes, from) = (self.bytes, self.from);
        if self.ahead.as_ref().is_some_and(|ahead| ahead.start < from || ahead.is_empty()) {
            self.ahead = match self.hidden {
                Hidden::Escapes => next_escape(bytes, from),
                Hidden::All => next_raw(bytes, from),
                Hidden::Marks => next_mark(bytes, from),
            };
        }
        let limit = self.ahead.as_ref().map_or(bytes.len(), |ahead| ahead.start);
        let spelled = if self.hidden == Hidden::All { next_spelled(bytes, from, limit) } else { None };
        let found = spelled.or_else(|| self.ahead.clone())?;
        self.from = found.end;
        Some(found)
    }
}

/// Returns the next escape sequence.
fn next_escape(bytes: &[u8], from: usize) -> Option<Range<usize>> {
    let mut at = from;
    loop {
        at += memchr::memchr2(0x1B, 0x9B, &bytes[at..])?;
        match &bytes[at..] {
            [0x1B, rest @ ..] => return Some(at..at + 1 + escape_length(rest)),
            [0x9B, rest @ ..] if at > from && bytes[at - 1] == 0xC2 => return Some(at - 1..at + 1 + sequence_length(rest)),
            _ => at += 1,
        }
    }
}

/// Returns the next escape sequence or invisible character.
fn next_raw(bytes: &[u8], from: usize) -> Option<Range<usize>> {
    let mut at = from;
    loop {
        let lead = memchr::memchr3(0x1B, 0xE2, 0xEF, &bytes[at..]).map(|found| at + found);
        let soft = memchr::memchr(0xC2, &bytes[at..lead.unwrap_or(bytes.len())]).map(|found| at + found);
        at = soft.or(lead)?;
        let length = match &bytes[at..] {
            [0x1B, ..] => escape_length(&bytes[at + 1..]) + 1,
            // U+200B to U+200F, U+202A to U+202E, U+2060 to U+206F, and the byte order mark
            [0xE2, 0x80, 0x8B..=0x8F | 0xAA..=0xAE, ..] | [0xE2, 0x81, 0xA0..=0xAF, ..] | [0xEF, 0xBB, 0xBF, ..] => 3,
            // The soft hyphen, and the control sequence introducer as one character
            [0xC2, 0xAD, ..] => 2,
            [0xC2, 0x9B, rest @ ..] => 2 + sequence_length(rest),
            _ => 0,
        };
        if length > 0 {
            return Some(at..at + length);
        }
        at += 1;
    }
}

/// Returns the next mark of Markdown.
fn next_mark(bytes: &[u8], from: usize) -> Option<Range<usize>> {
    let length = |at: usize| match &bytes[at..] {
        [b'*' | b'`', ..] => 1,
        [b'_', b'_', ..] => 2,
        [b'\\', next, ..] if next.is_ascii_punctuation() => 1,
        _ => 0,
    };
    (from..bytes.len()).map(|at| at..at + length(at)).find(|mark| !mark.is_empty())
}

/// Returns the next escape sequence that is spelled out, as in JSON and program text: `\u001b[31m`, `\x1b[0m`, `\033[0m`.
fn next_spelled(bytes: &[u8], from: usize, limit: usize) -> Option<Range<usize>> {
    const SPELLINGS: [&[u8]; 4] = [b"u001b", b"x1b", b"033", b"e"];
    memchr::memchr_iter(b'[', &bytes[from..limit]).map(|found| from + found).find_map(|bracket| {
        let before = &bytes[from..bracket];
        let spelled = SPELLINGS.iter().find(|spelling| {
            let start = before.len().checked_sub(spelling.len());
            start.is_some_and(|start| before[start..].eq_ignore_ascii_case(spelling) && before[..start].ends_with(b"\\"))
        })?;
        let word = before.len() - spelled.len();
        let backslashes = before[..word].iter().rev().take_while(|&&byte| byte == b'\\').count();
        let length = sequence_length(&bytes[bracket + 1..]);
        (length > 0).then(|| from + word - backslashes..bracket + 1 + length)
    })
}

/// Returns the length of what follows the escape character.
fn escape_length(rest: &[u8]) -> usize {
    match rest {
        [b'[', rest @ ..] => 1 + sequence_length(rest),
        // A title or a link, up to BEL or ESC \
        [b']' | b'P' | b'_' | b'^', rest @ ..] => {
            let window = &rest[..rest.len().min(MAX_ESCAPE_BYTES)];
            let newline = memchr::memchr(b'\n', window).unwrap_or(window.len());
            match memchr::memchr2(0x07, 0x1B, &window[..newline]) {
                Some(end) if window[end] == 0x07 => end + 2,
                // The ESC begins a sequence of its own.
                Some(end) => end + 1,
                None => 1,
            }
        }
        [b'(' | b')' | b'*' | b'+' | b'#' | b'%', second, ..] if second.is_ascii() => 2,
        [first, ..] if (0x20..0x7F).contains(first) => 1,
        _ => 0,
    }
}

/// Returns the length of a control sequence after its `[`: parameters, and a final byte.
fn sequence_length(rest: &[u8]) -> usize {
    let window = &rest[..rest.len().min(MAX_ESCAPE_BYTES)];
    let parameters = window.iter().position(|byte| !(0x20..0x40).contains(byte)).unwrap_or(window.len());
    match window.get(parameters) {
        Some(0x40..=0x7E) => parameters + 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str) -> String {
        Visible::of(text, Hidden::All).map_or_else(|| text.to_owned(), |visible| visible.text)
    }

    #[test]
    fn escapes_and_invisible_characters_are_hidden() {
        for (text, visible) in [
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}[38;2;1;2;3mred\u{9b}0m!", "red!"),
            ("a\\u001b[1mb\\u001B[0m", "ab"),
            ("a\\\\u001b[1mb\\x1b[0mc\\033[0md\\e[0m", "abcd"),
            ("\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{1b}\\ a\u{1b}[K\u{1b}(B", "link a"),
            ("a\u{200b}b\u{ad}c\u{2060}d\u{feff}e", "abcde"),
            ("…→ a – 가 ²", "…→ a – 가 ²"),
            ("list[0] and u001b", "list[0] and u001b"),
        ] {
            assert_eq!(shown(text), visible);
        }
    }

    #[test]
    fn a_text_of_nothing_but_escapes_is_linear() {
        for piece in ["\\u001b[0m", "\u{1b}[0m", "\u{200b}", "[", "\\", "\u{1b}]", "\\e[", "\u{1b}[0m\\e[0m"] {
            let begun = std::time::Instant::now();
            shown(&piece.repeat(200_000));
            assert!(begun.elapsed().as_secs() < 10, "{piece:?}");
        }
    }

    proptest! {
        #[test]
        fn every_shown_byte_is_where_the_original_has_it(text in "(\\PC|[*_`!\u{1b}\\[\\]mu01b;\u{7}\\\\\u{200b}\u{ad}\u{9b}가]){0,60}") {
            for hidden in [Hidden::All, Hidden::Escapes, Hidden::Marks] {
                let Some(visible) = Visible::of(&text, hidden) else { continue };
                for (at, byte) in visible.text.bytes().enumerate() {
                    prop_assert_eq!(text.as_bytes()[visible.original(at)], byte);
                }
                prop_assert!(visible.text.len() < text.len());
            }
        }
    }
}
