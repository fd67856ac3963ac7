//! The state of one pass over one text: the hits, where to continue, and what need not be scanned again.

use std::ops::Range;

/// One secret.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Hit<'r> {
    pub start: usize,
    pub end: usize,
    pub rule: &'r str,
    /// Whether the secret was recognized by its form, not by its context. Its rule name wins if hits overlap.
    pub certain: bool,
}

/// What a text is known to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Context {
    /// Nothing is known.
    Any,
    /// A command line. A word after an option is its value, and not part of a sentence about the option.
    Command,
}

pub(super) struct Scan<'t> {
    pub text: &'t str,
    pub bytes: &'t [u8],
    pub context: Context,
    /// Where the search for keywords continues, if that is further than the next byte.
    pub resume: usize,
    hits: Vec<Hit<'static>>,
    /// How far the searches of each rule have reached; see [`Scan::unsearched`].
    searched: Vec<(&'static str, usize)>,
    /// The last run found by [`Scan::word`]. Its end is the same for every start within it.
    last_word: Range<usize>,
}

impl<'t> Scan<'t> {
    pub(super) fn new(text: &'t str, context: Context) -> Self {
        Self { text, bytes: text.as_bytes(), context, resume: 0, hits: Vec::new(), searched: Vec::new(), last_word: 0..0 }
    }

    /// Adds a secret that was recognized by its form. Nothing else is searched for inside it.
    pub(super) fn add_certain(&mut self, rule: &'static str, secret: Range<usize>) {
        self.resume = self.resume.max(secret.end);
        self.push(rule, secret, true);
    }

    /// Adds a secret that was recognized by its context. A rule that knows its form may still give it a better name.
    pub(super) fn add_likely(&mut self, rule: &'static str, secret: Range<usize>) {
        self.push(rule, secret, false);
    }

    /// Returns whether the byte is inside a hit.
    pub(super) fn covers(&self, at: usize) -> bool {
        self.hits.last().is_some_and(|hit| hit.end > at)
    }

    pub(super) fn into_hits(self) -> Vec<Hit<'static>> {
        self.hits
    }

    /// Adds a hit. Keywords are found in order, but a match may reach back, so a new hit can overlap more than the last
    /// one.
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
        // Hits further ahead stay ahead, for example a secret key after its id.
        let mut ahead = Vec::new();
        while let Some(last) = self.hits.pop_if(|last| last.start >= hit.end) {
            ahead.push(last);
        }
        while let Some(last) = self.hits.pop_if(|last| last.end > hit.start) {
            hit.start = hit.start.min(last.start);
            hit.end = hit.end.max(last.end);
            let names_better = !hit.certain && !is_generic(hit.rule) && is_generic(last.rule);
            if last.certain || !(hit.certain || names_better) {
                hit.rule = last.rule;
                hit.certain = last.certain;
            }
        }
        self.hits.push(hit);
        self.hits.extend(ahead.into_iter().rev());
    }

    /// Returns the part of a range that this search has not covered yet. This allows a search that a keyword starts to
    /// go as far as it likes: a million keywords on one line still cause only one walk over the line.
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

    /// Returns how far this search has reached.
    pub(super) fn reached(&self, search: &'static str) -> usize {
        self.searched.iter().find(|(name, _)| *name == search).map_or(0, |(_, reached)| *reached)
    }

    /// Returns the end of an unquoted value that starts at `from`. It ends at white space, a quote, an angle bracket,
    /// an escape, or a separator that something else follows.
    pub(super) fn word(&mut self, from: usize) -> usize {
        if !self.last_word.contains(&from) {
            let end = (from..self.bytes.len()).find(|&at| ends_word(self.bytes, at)).unwrap_or(self.bytes.len());
            self.last_word = from..end;
        }
        self.last_word.end.max(from)
    }
}

/// Returns whether a rule says only how a value is given, so that every other rule names it better.
fn is_generic(rule: &str) -> bool {
    rule.starts_with("generic-") || rule == "positional-password"
}

/// How many bytes after a separator may contain the name that makes it a separator.
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

/// Returns whether identifiers, options and header names may contain the byte.
pub(super) fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Returns whether a token may start here: not inside a word, unless an escape (`\n`, `%3D`, a colour code) precedes
/// it.
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

/// Returns the end of the run of bytes that starts at `from` and that a class accepts.
pub(super) fn span(bytes: &[u8], from: usize, class: impl Fn(u8) -> bool) -> usize {
    bytes.get(from..).unwrap_or_default().iter().position(|&byte| !class(byte)).map_or(bytes.len(), |length| from + length)
}

/// Returns the start of the run of at most `max` bytes that ends before `to` and that a class accepts.
pub(super) fn span_back(bytes: &[u8], to: usize, max: usize, class: impl Fn(u8) -> bool) -> usize {
    let low = to.saturating_sub(max);
    bytes[low..to].iter().rposition(|&byte| !class(byte)).map_or(low, |at| low + at + 1)
}

/// Merges the hits of two searches in order, combining those that overlap. If both recognized a form, the name of the
/// hit that starts first is kept. Hits of one search may overlap too.
pub(super) fn merge<'r>(text: &str, mut first: Vec<Hit<'r>>, second: Vec<Hit<'r>>) -> Vec<Hit<'r>> {
    if second.is_empty() && first.is_sorted_by(|one, next| one.end <= next.start) {
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
