//! Tokens that their own form gives away: a prefix, an alphabet, a length.

use std::ops::Range;

use super::{
    rules::Rule,
    scan::{Scan, begins, span, span_back},
    value::{entropy, is_placeholder_body},
};

/// What a token's body is made of.
#[derive(Clone, Copy)]
pub(super) enum Class {
    Digit,
    Hex,
    /// `0-9A-Z`
    Upper,
    Alnum,
    /// `0-9A-Za-z_-`
    Url,
    /// `0-9A-Za-z_.-`
    Dotted,
    /// `0-9A-Za-z+/=_-`
    Base64,
}

impl Class {
    pub fn allows(self, byte: u8) -> bool {
        match self {
            Self::Digit => byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-'),
        }
    }
}

/// The form of the tokens of one issuer. The keyword is the prefix, in the issuer's case.
pub(super) struct Token {
    pub class: Class,
    /// Bytes after the prefix.
    pub least: usize,
    /// A longer run is something else. `usize::MAX` where the issuer sets no length.
    pub most: usize,
    /// Bits a byte that the body must reach; a placeholder such as `xxxx` does not.
    pub entropy: f32,
    /// Too short a prefix to be met by chance within a word.
    pub bounded: bool,
}

impl Token {
    pub const fn new(class: Class, least: usize) -> Self {
        Self { class, least, most: usize::MAX, entropy: 3.0, bounded: false }
    }

    pub const fn exactly(class: Class, length: usize) -> Self {
        Self { most: length, ..Self::new(class, length) }
    }

    pub const fn bounded(self) -> Self {
        Self { bounded: true, ..self }
    }

    pub const fn entropy(self, entropy: f32) -> Self {
        Self { entropy, ..self }
    }

    /// The end of the token whose prefix is given.
    fn end(&self, bytes: &[u8], keyword: &str, prefix: Range<usize>) -> Option<usize> {
        if bytes[prefix.clone()] != *keyword.as_bytes() || self.bounded && !begins(bytes, prefix.start) {
            return None;
        }
        // What is turned down must not be walked over in full, since the next prefix may stand in it.
        let glance = if self.most == usize::MAX { self.least } else { self.most + 1 };
        let window = &bytes[..bytes.len().min(prefix.end + glance)];
        let body = &bytes[prefix.end..span(window, prefix.end, |byte| self.class.allows(byte))];
        let fits =
            (self.least..=self.most).contains(&body.len()) && entropy(body) >= self.entropy && !is_placeholder_body(body);
        fits.then(|| run_end(bytes, prefix.end, self.class))
    }

    pub fn find(&self, scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
        let keyword = rule.keyword_at(scan.bytes, &at);
        if let Some(end) = self.end(scan.bytes, keyword, at.clone()) {
            scan.certain(rule.id, at.start..end);
        }
    }
}

/// The end of a run, without the full stop of a sentence.
fn run_end(bytes: &[u8], from: usize, class: Class) -> usize {
    let end = span(bytes, from, |byte| class.allows(byte));
    let stops = bytes[from..end].iter().rev().take_while(|&&byte| byte == b'.').count();
    end - stops
}

/// An AWS access key id, and the secret key that is written beside it without a name.
pub(super) fn aws(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    const ID: Token = Token::exactly(Class::Upper, 16).bounded().entropy(2.5);
    /// How far the secret key may stand from its id: a line of `aws configure`, a row of the console's CSV.
    const NEAR: usize = 160;
    let keyword = rule.keyword_at(scan.bytes, &at);
    let Some(end) = ID.end(scan.bytes, keyword, at.clone()) else {
        return;
    };
    scan.certain(rule.id, at.start..end);
    let window = end..scan.bytes.len().min(end + NEAR);
    let window = scan.unsearched(rule.id, window);
    if let Some(secret) = aws_secret(scan.bytes, window) {
        scan.likely("aws-secret-key", secret);
    }
}

/// Forty bytes of base64 that hold upper case, lower case and digits: a hash is lower case only.
fn aws_secret(bytes: &[u8], window: Range<usize>) -> Option<Range<usize>> {
    let class = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let bytes = &bytes[..bytes.len().min(window.end + 41)];
    let mut at = window.start;
    while at < window.end {
        let end = span(bytes, at, class);
        let run = &bytes[at..end];
        if run.len() == 40
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

/// Three parts of base64url, the first two of which are JSON objects (`eyJ` is `{"`).
pub(super) fn jwt(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    let bytes = scan.bytes;
    if &bytes[at.clone()] != b"eyJ" || !begins(bytes, at.start) {
        return;
    }
    let part = |from| span(bytes, from, |byte| Class::Url.allows(byte));
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
    if signed || encrypted {
        scan.certain(rule.id, at.start..run_end(bytes, body, Class::Dotted));
    }
}

/// Tokens with a mark in their middle: the part before it has a known length and alphabet.
pub(super) fn inner(
    scan: &mut Scan,
    rule: &'static Rule,
    at: Range<usize>,
    before: (Class, usize, usize),
    after: (Class, usize),
) {
    let bytes = scan.bytes;
    if bytes[at.clone()] != *rule.keyword_at(bytes, &at).as_bytes() {
        return;
    }
    let (class, least, most) = before;
    let start = span_back(bytes, at.start, most + 1, |byte| class.allows(byte));
    let (follows, length) = after;
    let window = &bytes[..bytes.len().min(at.end + length)];
    let body = &bytes[at.end..span(window, at.end, |byte| follows.allows(byte))];
    let fits = (least..=most).contains(&(at.start - start)) && body.len() == length;
    if fits && begins(bytes, start) && entropy(body) >= 3.0 {
        scan.certain(rule.id, start..run_end(bytes, at.end, follows));
    }
}
