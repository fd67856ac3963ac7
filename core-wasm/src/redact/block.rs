//! Secrets of several lines: private keys, and text that a person marked as private. Also skips Throughline's own
//! placeholders.

use std::ops::Range;

use memchr::memmem;

use super::{
    rule::Rule,
    scan::{Scan, span, span_back},
    value::{base64_value, entropy},
};

/// Skips a placeholder. The rule name in it is not a keyword.
pub(super) fn placeholder(scan: &mut Scan, _: &'static Rule, at: Range<usize>) {
    if let Some(end) = placeholder_end(scan.bytes, at.end) {
        scan.resume = scan.resume.max(end);
    }
}

/// Returns the end of a placeholder after its `[redacted:` has been read: a rule name, and possibly a tag.
pub(super) fn placeholder_end(bytes: &[u8], name: usize) -> Option<usize> {
    let word = |from| span(bytes, from, |byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    let end = word(name);
    let end = if bytes.get(end) == Some(&b'#') { word(end + 1) } else { end };
    (bytes.get(end) == Some(&b']')).then_some(end + 1)
}

/// Finds `<private>…</private>`, including nested elements. Without an end tag, the rest of the text is private.
pub(super) fn private(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    let bytes = scan.bytes;
    let Some(mut inside) = tag_end(bytes, at.end) else {
        return;
    };
    // `<private>` in backticks means that somebody is writing about the tag.
    let mention = |start: usize, end: usize| start > 0 && bytes[start - 1] == b'`' && bytes.get(end) == Some(&b'`');
    if mention(at.start, inside) {
        return;
    }
    let mut depth = 1;
    while depth > 0 {
        let Some(next) = memchr::memchr2(b'<', b'\\', &bytes[inside..]).map(|next| inside + next) else {
            inside = bytes.len();
            break;
        };
        let opened = ["<private", "\\u003cprivate"].iter().find_map(|tag| tag_at(bytes, next, tag));
        let closed = ["</private", "\\u003c/private", "<\\/private"].iter().find_map(|tag| tag_at(bytes, next, tag));
        inside = match (opened, closed) {
            (Some(end), _) if !mention(next, end) => {
                depth += 1;
                end
            }
            (_, Some(end)) if !mention(next, end) => {
                depth -= 1;
                end
            }
            _ => next + 1,
        };
    }
    let start = at.start - bytes[..at.start].iter().rev().take_while(|&&byte| byte == b'\\').take(15).count();
    scan.add_certain(rule.id, start..inside);
}

fn tag_at(bytes: &[u8], at: usize, tag: &str) -> Option<usize> {
    let end = at + tag.len();
    bytes.get(at..end)?.eq_ignore_ascii_case(tag.as_bytes()).then(|| tag_end(bytes, end))?
}

/// Returns the end of a tag after its name has been read. Attributes are allowed, a longer name is not.
fn tag_end(bytes: &[u8], name_end: usize) -> Option<usize> {
    const MAX_BYTES: usize = 200;
    /// The maximum number of backslashes in one escape.
    const MAX_BACKSLASHES: usize = 15;
    let rest = &bytes[name_end..bytes.len().min(name_end + MAX_BYTES)];
    // The tag may be escaped again in JSON within JSON.
    let escape = span(&rest[..rest.len().min(MAX_BACKSLASHES)], 0, |byte| byte == b'\\');
    if escape > 0 && rest.get(escape..escape + 5).is_some_and(|mark| mark.eq_ignore_ascii_case(b"u003e")) {
        return Some(name_end + escape + 5);
    }
    let blank = rest.first().is_some_and(u8::is_ascii_whitespace);
    let close = rest.iter().position(|&byte| matches!(byte, b'>' | b'<' | b'\n'))?;
    (rest[close] == b'>' && (close == 0 || blank)).then_some(name_end + close + 1)
}

/// Finds a private key from its `-----BEGIN` to its `-----END`. Without an end, the key material alone is secret.
/// Newlines may be escaped, and each line may start with a line number or a diff mark.
pub(super) fn private_key(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    const MAX_TITLE_BYTES: usize = 64;
    let bytes = scan.bytes;
    let title = &bytes[at.end..bytes.len().min(at.end + MAX_TITLE_BYTES)];
    let Some(title_end) = memmem::find(title, b"-----") else {
        return;
    };
    if memmem::find(&title[..title_end], b"PRIVATE KEY").is_none() {
        return;
    }
    let start = at.end + title_end + 5;
    let (end, closed) = key_material(bytes, start);
    // The last line has up to 22 letters. In a template, dots separate the lines.
    if end > start && (!closed || bytes[start..end].iter().filter(|byte| byte.is_ascii_alphanumeric()).count() >= 32) {
        scan.add_certain(rule.id, at.start..end);
    }
}

/// Finds the lines of a private key whose beginning was cut off.
pub(super) fn private_key_end(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    const MAX_TITLE_BYTES: usize = 48;
    const MAX_LINES: usize = 80;
    /// The last line has up to 64 letters, and all others have that many.
    const LINE_BYTES: std::ops::RangeInclusive<usize> = 60..=76;
    let bytes = scan.bytes;
    let title = &bytes[at.end..bytes.len().min(at.end + MAX_TITLE_BYTES)];
    if scan.covers(at.start.saturating_sub(1)) || memmem::find(title, b"PRIVATE KEY").is_none() {
        return;
    }
    let class = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let (mut start, mut is_key) = (at.start, false);
    for line in 0..MAX_LINES {
        let newline = match &bytes[..start] {
            [.., b'\\', b'n'] => 2,
            // A summary on one line has blanks between the lines.
            [.., b'\n' | b' '] => 1,
            _ => break,
        };
        let mut begin = span_back(bytes, start - newline, LINE_BYTES.end() + 1, class);
        // The letter of `\n` belongs to the escape.
        begin += usize::from(begin > 0 && bytes[begin - 1] == b'\\' && bytes[begin] == b'n');
        let length = start - newline - begin;
        if length == 0 || line > 0 && !LINE_BYTES.contains(&length) {
            break;
        }
        is_key |= LINE_BYTES.contains(&length);
        start = begin;
    }
    if is_key {
        scan.add_certain(rule.id, start..at.start);
    }
}

/// Finds a private key that is encoded in base64 together with its first and last line, such as `tls.key` in a
/// Kubernetes secret.
pub(super) fn encoded_key(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    /// The length of `-----BEGIN OPENSSH PRIVATE KEY-----` in base64. Other titles are shorter.
    const MAX_TITLE_BYTES: usize = 56;
    /// The minimum length of a line. All lines but the last are full.
    const MIN_LINE_BYTES: usize = 60;
    let bytes = scan.bytes;
    if &bytes[at.clone()] != b"LS0tLS1CRUdJTi" || scan.covers(at.start) {
        return;
    }
    let title = decode_base64_prefix(&bytes[at.start..bytes.len().min(at.start + MAX_TITLE_BYTES)]);
    if memmem::find(&title, b"PRIVATE KEY").is_none() {
        return;
    }
    let class = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let mut end = span(bytes, at.start, class);
    let mut line = at.start;
    while end - line >= MIN_LINE_BYTES && bytes.get(end) == Some(&b'\n') {
        let next = span(&bytes[..bytes.len().min(end + 64)], end + 1, |byte| matches!(byte, b' ' | b'\t'));
        let next_end = span(bytes, next, class);
        if next_end == next {
            break;
        }
        (line, end) = (next, next_end);
    }
    scan.add_certain(rule.id, at.start..end);
}

/// Decodes base64 up to the first byte that is not base64.
fn decode_base64_prefix(text: &[u8]) -> Vec<u8> {
    let (mut bits, mut count, mut out) = (0u32, 0, Vec::with_capacity(text.len()));
    for &byte in text {
        let Some(value) = base64_value(byte) else { break };
        bits = bits << 6 | value;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count & 0xFF) as u8);
            bits &= (1 << count) - 1;
        }
    }
    out
}

/// Finds the private lines of a `PuTTY` key file.
pub(super) fn putty_key(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    let bytes = scan.bytes;
    let start = span(&bytes[..bytes.len().min(at.end + 8)], at.end, |byte| byte == b' ' || byte.is_ascii_digit());
    let (end, _) = key_material(bytes, start);
    let start = span(&bytes[..end.max(start)], start, |byte| byte.is_ascii_whitespace());
    // `Private-MAC`, which follows the key, starts like a last line of it.
    let lines = &bytes[start..end.max(start)];
    let end = start + lines.strip_suffix(b"Private").unwrap_or(lines).trim_ascii_end().len();
    if end > start {
        scan.add_certain(rule.id, start..end);
    }
}

/// Returns where the key ends, and whether its end line was found.
fn key_material(bytes: &[u8], start: usize) -> (usize, bool) {
    const END_MARKER: &[u8] = b"-----END";
    const HEADERS: [&[u8]; 5] = [b"Proc-Type:", b"DEK-Info:", b"Version:", b"Comment:", b"Hash:"];
    let (mut at, mut last, mut ending) = (start, start, false);
    while at < bytes.len() {
        let rest = &bytes[at..];
        if rest.starts_with(END_MARKER) {
            let line = &rest[END_MARKER.len()..rest.len().min(END_MARKER.len() + 64)];
            let end = memmem::find(line, b"-----").map_or(END_MARKER.len(), |end| END_MARKER.len() + end + 5);
            return (at + end, true);
        }
        // The line may have a diff mark.
        let unmarked = rest.strip_prefix(b"+").unwrap_or(rest);
        if HEADERS.iter().any(|header| unmarked.starts_with(header)) {
            at = span(bytes, at, |byte| !matches!(byte, b'\n' | b'\\'));
            continue;
        }
        let separator = separator(rest);
        if separator > 0 {
            at += separator;
            continue;
        }
        let end = span(bytes, at, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
        let piece = &bytes[at..end];
        if piece.is_empty() {
            break;
        }
        let number = piece.len() <= 6 && piece.iter().all(u8::is_ascii_digit);
        // Words of prose are valid base64, too, but only the last line of a key is so short.
        let material = piece.len() >= 24 && entropy(piece) >= 3.0;
        if !number && !material {
            if ending || last == start {
                break;
            }
            ending = true;
        }
        at = end;
        let word = piece.iter().all(u8::is_ascii_lowercase);
        if material || ending && !word {
            last = end;
        }
    }
    (last, false)
}

/// Returns the length of a separator between two lines of a key: white space, escaped newlines, quotes, `+`, `|`, `,`,
/// the arrow after a line number, a diff mark.
fn separator(rest: &[u8]) -> usize {
    match rest {
        [b'\\', ..] => {
            let run = span(rest, 0, |byte| byte == b'\\');
            run + usize::from(matches!(rest.get(run), Some(b'n' | b'r' | b't' | b'"')))
        }
        [b'-', next, ..] if *next != b'-' => 1,
        [b'+', b' ' | b'"' | b'\'' | b'\n' | b'\\', ..]
        | [b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'|' | b',' | b'>' | b':' | b'.', ..] => 1,
        [0xE2, 0x86, 0x92, ..] => 3,
        _ => 0,
    }
}
