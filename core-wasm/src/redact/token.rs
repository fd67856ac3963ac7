//! Tokens that their own form gives away: a prefix, an alphabet, a length.

use std::ops::{Range, RangeInclusive};

use super::{
    rules::Rule,
    scan::{Scan, is_token_start, span, span_back},
    value::{entropy, is_placeholder_body},
};

/// Bytes of ASCII, a bit each.
#[derive(Clone, Copy)]
pub(super) struct Set(pub [u32; 4]);

impl Set {
    pub(super) fn contains(self, byte: u8) -> bool {
        byte < 0x80 && self.0[usize::from(byte >> 5)] >> (byte & 31) & 1 != 0
    }
}

/// So many bytes of a set.
pub(super) struct Part {
    pub set: Set,
    pub min: usize,
    /// `usize::MAX` where the issuer sets no length, which only a last part may do.
    pub max: usize,
}

/// The form of the tokens of one issuer: what `build/shape.rs` made of a regular expression. The keyword is what tokens begin
/// with, or have in their middle, in the issuer's case.
pub(super) struct Token {
    /// Shannon entropy in bits a byte that the secret must reach; a placeholder such as `xxxx` does not.
    pub entropy: f32,
    /// Begins at a word's beginning.
    pub at_word_start: bool,
    /// Ends at a word's end.
    pub at_word_end: bool,
    /// The secret is what follows the keyword.
    pub secret_after_keyword: bool,
    pub before: Option<Part>,
    pub parts: &'static [Part],
}

impl Token {
    pub(super) fn find(&self, scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
        if scan.bytes[at.clone()] != *rule.keyword_at(scan.bytes, &at).as_bytes() {
            return;
        }
        if let Some(secret) = self.secret(scan.bytes, at) {
            scan.add_certain(rule.id, secret);
        }
    }

    fn secret(&self, bytes: &[u8], keyword: Range<usize>) -> Option<Range<usize>> {
        let start = match &self.before {
            Some(part) => {
                let start = span_back(bytes, keyword.start, part.max + 1, |byte| part.set.contains(byte));
                // A longer run may begin with an escape: `\n`, `%3D`.
                let start = start.max(keyword.start.saturating_sub(part.max));
                (keyword.start - start >= part.min).then_some(start)?
            }
            None => keyword.start,
        };
        let truncated = self
            .before
            .as_ref()
            .is_some_and(|part| start > 0 && keyword.start - start == part.max && part.set.contains(bytes[start - 1]));
        if (self.at_word_start || truncated) && !is_token_start(bytes, start) {
            return None;
        }
        // What is turned down must not be walked over in full, since the next keyword may stand in it: of a part without a
        // bound only the least is looked at until the rest has passed.
        let mut end = keyword.end;
        for part in self.parts {
            let max = if part.max == usize::MAX { part.min } else { part.max };
            let part_end = span(&bytes[..bytes.len().min(end + max)], end, |byte| part.set.contains(byte));
            if part_end - end < part.min {
                return None;
            }
            end = part_end;
        }
        if self.at_word_end && bytes.get(end).is_some_and(|&byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return None;
        }
        let start = if self.secret_after_keyword { keyword.end } else { start };
        let secret = &bytes[start..end];
        if entropy(secret) < self.entropy || is_placeholder_body(secret) {
            return None;
        }
        let end = match self.parts.last() {
            Some(part) if part.max == usize::MAX => span(bytes, end, |byte| part.set.contains(byte)),
            _ => end,
        };
        Some(start..trim_full_stops(bytes, start, end))
    }
}

/// The end of a run, without the full stop of a sentence.
fn trim_full_stops(bytes: &[u8], start: usize, end: usize) -> usize {
    end - bytes[start..end].iter().rev().take_while(|&&byte| byte == b'.').count()
}

/// The secret key that is written beside an AWS access key id without a name of its own: a line of `aws configure`, a row of
/// the console's CSV, the next line of a note.
pub(super) fn aws_secret(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    let class = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    secret_near_id(scan, rule, at, 20..=20, class, 40);
}

/// Likewise beside an Alibaba access key id.
pub(super) fn alibaba_secret(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    secret_near_id(scan, rule, at, 16..=30, |byte: u8| byte.is_ascii_alphanumeric(), 30);
}

/// A secret key of so many bytes beside an id of such a length.
fn secret_near_id(
    scan: &mut Scan,
    rule: &'static Rule,
    at: Range<usize>,
    ids: RangeInclusive<usize>,
    class: impl Fn(u8) -> bool,
    length: usize,
) {
    /// How far the secret key may stand from its id.
    const MAX_DISTANCE: usize = 160;
    let bytes = scan.bytes;
    let id = at.start..span(&bytes[..bytes.len().min(at.start + ids.end() + 1)], at.start, class);
    if !ids.contains(&id.len()) || !is_token_start(bytes, id.start) || is_placeholder_body(&bytes[id.clone()]) {
        return;
    }
    let before = id.start.saturating_sub(MAX_DISTANCE)..id.start;
    let after = id.end..bytes.len().min(id.end + MAX_DISTANCE);
    for window in [before, after] {
        let window = scan.unsearched(rule.id, window);
        if let Some(secret) = mixed_case_run(bytes, window, length) {
            scan.add_likely(rule.id, secret);
        }
    }
}

/// So many bytes of base64 that hold upper case, lower case and digits: a hash is lower case only.
fn mixed_case_run(bytes: &[u8], window: Range<usize>, length: usize) -> Option<Range<usize>> {
    let class = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let bytes = &bytes[..bytes.len().min(window.end + length + 1)];
    let mut at = window.start;
    while at < window.end {
        let end = span(bytes, at, class);
        let run = &bytes[at..end];
        if run.len() == length
            && run.iter().any(u8::is_ascii_uppercase)
            && run.iter().any(u8::is_ascii_lowercase)
            && run.iter().any(u8::is_ascii_digit)
            && entropy(run) >= 4.0
        {
            return Some(at..end);
        }
        at = end + 1;
    }
    None
}

/// `0-9A-Za-z_-`
pub(super) fn is_url_safe(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Three parts of base64url, the first two of which are JSON objects (`eyJ` is `{"`).
pub(super) fn jwt(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    let bytes = scan.bytes;
    if &bytes[at.clone()] != b"eyJ" || !is_token_start(bytes, at.start) {
        return;
    }
    let part = |from| span(bytes, from, is_url_safe);
    if scan.unsearched(rule.id, at.clone()).start != at.start {
        return;
    }
    let header = part(at.start);
    scan.unsearched(rule.id, at.start..header);
    if header - at.start < 12 || bytes.get(header) != Some(&b'.') {
        return;
    }
    let body = part(header + 1);
    let signed = bytes[header + 1..].starts_with(b"eyJ") && body - header > 8;
    // An encrypted token's second part is a key, and it has five parts.
    let encrypted = body - header > 40;
    // Cookies that a framework signs: a payload, a short time, a signature.
    let dated = body > header + 4 && bytes.get(body) == Some(&b'.') && part(body + 1) > body + 20;
    if signed || encrypted || dated {
        let end = span(bytes, body, |byte| is_url_safe(byte) || byte == b'.');
        scan.add_certain(rule.id, at.start..trim_full_stops(bytes, at.start, end));
    }
}
