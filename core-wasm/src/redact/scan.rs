//! The state of one pass over one text: what was found, where to go on, and what need not be scanned again.

use std::ops::Range;

/// One secret.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Hit<'r> {
    pub start: usize,
    pub end: usize,
    pub rule: &'r str,
    /// Known by its form, not by its surroundings: its name wins where hits overlap.
    pub certain: bool,
}

pub(super) struct Scan<'t> {
    pub text: &'t str,
    pub bytes: &'t [u8],
    /// Where the search for keywords goes on, if that is further than the next byte.
    pub resume: usize,
    hits: Vec<Hit<'static>>,
    /// How far each rule's searches have reached; see [`Scan::unsearched`].
    searched: Vec<(&'static str, usize)>,
    /// The last run of [`Scan::word`], which has the same end wherever in it one starts.
    last_word: Range<usize>,
}

impl<'t> Scan<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, bytes: text.as_bytes(), resume: 0, hits: Vec::new(), searched: Vec::new(), last_word: 0..0 }
    }

    /// A secret that is known by its form; nothing more is looked for in it.
    pub(super) fn add_certain(&mut self, rule: &'static str, secret: Range<usize>) {
        self.resume = self.resume.max(secret.end);
        self.push(rule, secret, true);
    }

    /// A secret that is known by its surroundings; a rule that knows its form may still name it better.
    pub(super) fn add_likely(&mut self, rule: &'static str, secret: Range<usize>) {
        self.push(rule, secret, false);
    }

    /// Whether the byte lies in what has already been found.
    pub(super) fn covers(&self, at: usize) -> bool {
        self.hits.last().is_some_and(|hit| hit.end > at)
    }

    pub(super) fn into_hits(self) -> Vec<Hit<'static>> {
        self.hits
    }

    /// Keywords are met in order but a match may reach back, so a new hit can touch more than the last one.
    fn push(&mut self, rule: &'static str, secret: Range<usize>, certain: bool) {
        let mut hit = Hit {
            start: self.text.floor_char_boundary(secret.start),
            end: self.text.ceil_char_boundary(secret.end),
            rule,
            certain,
        };
        if hit.start >= hit.end {
            return;
        }
        // What was found ahead stays ahead: a secret key behind its id.
        let mut ahead = Vec::new();
        while let Some(last) = self.hits.pop_if(|last| last.start >= hit.end) {
            ahead.push(last);
        }
        while let Some(last) = self.hits.pop_if(|last| last.end > hit.start) {
            hit.start = hit.start.min(last.start);
            hit.end = hit.end.max(last.end);
            if last.certain || !hit.certain {
                hit.rule = last.rule;
                hit.certain = last.certain;
            }
        }
        self.hits.push(hit);
        self.hits.extend(ahead.into_iter().rev());
    }

    /// The part of a range that this search has not yet been over. With it a search that a keyword starts may go as far
    /// as it likes: a million keywords on one line are still one walk over the line.
    pub(super) fn unsearched(&mut self, search: &'static str, range: Range<usize>) -> Range<usize> {
        let known = self.searched.iter_mut().find(|(name, _)| *name == search);
        let Some((_, reached)) = known else {
            self.searched.push((search, range.end));
            return range;
        };
        let start = range.start.max(*reached).min(range.end);
        *reached = range.end.max(*reached);
        start..range.end
    }

    /// How far this search has been.
    pub(super) fn reached(&self, search: &'static str) -> usize {
        self.searched.iter().find(|(name, _)| *name == search).map_or(0, |(_, reached)| *reached)
    }

    /// The end of an unquoted value that starts at `from`: at white space, a quote, an angle bracket, an escape, or a
    /// separator that something else follows.
    pub(super) fn word(&mut self, from: usize) -> usize {
        if !self.last_word.contains(&from) {
            let end = (from..self.bytes.len()).find(|&at| ends_word(self.bytes, at)).unwrap_or(self.bytes.len());
            self.last_word = from..end;
        }
        self.last_word.end.max(from)
    }
}

/// How far a separator looks for the name that would make it one.
const MAX_NAME_BYTES: usize = 40;

fn ends_word(bytes: &[u8], at: usize) -> bool {
    match bytes[at] {
        byte if byte <= b' ' || byte == 0x7F => true,
        b'"' | b'\'' | b'`' | b'<' | b'>' => true,
        b'\\' => {
            bytes.get(at + 1).is_none_or(|next| matches!(next, b'n' | b'r' | b't' | b'"' | b'\'' | b'\\' | b'u' | b'\n'))
        }
        separator @ (b'&' | b';' | b',' | b'|') => {
            let rest = &bytes[at + 1..];
            let Some(&next) = rest.first() else {
                return true;
            };
            let name = span(&rest[..rest.len().min(MAX_NAME_BYTES)], 0, is_name);
            let assigns = name > 0 && matches!(rest.get(name), Some(b'=' | b':'));
            let closes = matches!(next, b'"' | b'\'' | b'`' | b'\\' | b'{' | b'[');
            assigns || closes || next == separator || next <= b' '
        }
        _ => false,
    }
}

/// What identifiers, options and header names are made of.
pub(super) fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Whether a token may begin here: not within a word, unless what goes before is an escape (`\n`, `%3D`, a colour code).
pub(super) fn is_token_start(bytes: &[u8], at: usize) -> bool {
    let before = &bytes[..at];
    match before {
        [] | [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f'] => true,
        [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => true,
        [.., b'm'] => before[before.len().saturating_sub(12)..]
            .iter()
            .rev()
            .skip(1)
            .find(|byte| !byte.is_ascii_digit() && **byte != b';')
            .is_some_and(|&byte| byte == b'['),
        [.., last] => !last.is_ascii_alphanumeric() && *last != b'_',
    }
}

/// The run of bytes from `from` on that a class allows.
pub(super) fn span(bytes: &[u8], from: usize, class: impl Fn(u8) -> bool) -> usize {
    bytes.get(from..).unwrap_or_default().iter().position(|&byte| !class(byte)).map_or(bytes.len(), |length| from + length)
}

/// The run of at most `most` bytes that ends before `to` and that a class allows.
pub(super) fn span_back(bytes: &[u8], to: usize, max: usize, class: impl Fn(u8) -> bool) -> usize {
    let low = to.saturating_sub(max);
    bytes[low..to].iter().rposition(|&byte| !class(byte)).map_or(low, |at| low + at + 1)
}

/// The hits of two searches in one order, those that touch the same bytes as one. Where both know a form, the first one's
/// name stands.
pub(super) fn merge<'r>(text: &str, mut first: Vec<Hit<'r>>, second: Vec<Hit<'r>>) -> Vec<Hit<'r>> {
    if second.is_empty() {
        return first;
    }
    first.extend(second);
    first.sort_by_key(|hit| hit.start);
    let mut all: Vec<Hit<'r>> = Vec::with_capacity(first.len());
    for mut hit in first {
        hit.start = text.floor_char_boundary(hit.start);
        hit.end = text.ceil_char_boundary(hit.end);
        match all.last_mut() {
            Some(last) if last.end > hit.start => {
                last.end = last.end.max(hit.end);
                if hit.certain && !last.certain {
                    last.rule = hit.rule;
                    last.certain = true;
                }
            }
            _ => all.push(hit),
        }
    }
    all
}
