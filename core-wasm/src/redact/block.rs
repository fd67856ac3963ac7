//! Secrets of many lines: private keys and what a person marked as private. And our own placeholders, which are passed over.

use std::ops::Range;

use memchr::memmem;

use super::{
    rules::Rule,
    scan::{Scan, span},
    value::{base64_value, entropy},
};

/// Passes over a placeholder: the rule's name in it is no keyword.
pub(super) fn placeholder(scan: &mut Scan, _: &'static Rule, at: Range<usize>) {
    if let Some(end) = placeholder_end(scan.bytes, at.end) {
        scan.resume = scan.resume.max(end);
    }
}

/// The end of a placeholder whose `[redacted:` has been read: a rule's name, and perhaps a tag.
pub(super) fn placeholder_end(bytes: &[u8], name: usize) -> Option<usize> {
    let word = |from| span(bytes, from, |byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    let end = word(name);
    let end = if bytes.get(end) == Some(&b'#') { word(end + 1) } else { end };
    (bytes.get(end) == Some(&b']')).then_some(end + 1)
}

/// `<private>…</private>`, nested ones included; where the end is missing, to the end of the text.
pub(super) fn private(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    let bytes = scan.bytes;
    let Some(mut inside) = tag_end(bytes, at.end) else {
        return;
    };
    // `<private>` in backticks is somebody writing about the tag.
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

/// The end of a tag whose name has been read: attributes are allowed, another name is not.
fn tag_end(bytes: &[u8], name_end: usize) -> Option<usize> {
    const MAX_BYTES: usize = 200;
    /// Backslashes of one escape.
    const MAX_BACKSLASHES: usize = 15;
    let rest = &bytes[name_end..bytes.len().min(name_end + MAX_BYTES)];
    // Once more escaped in JSON within JSON.
    let escape = span(&rest[..rest.len().min(MAX_BACKSLASHES)], 0, |byte| byte == b'\\');
    if escape > 0 && rest.get(escape..escape + 5).is_some_and(|mark| mark.eq_ignore_ascii_case(b"u003e")) {
        return Some(name_end + escape + 5);
    }
    let blank = rest.first().is_some_and(u8::is_ascii_whitespace);
    let close = rest.iter().position(|&byte| matches!(byte, b'>' | b'<' | b'\n'))?;
    (rest[close] == b'>' && (close == 0 || blank)).then_some(name_end + close + 1)
}

/// A private key from its `-----BEGIN` to its `-----END`; where the end is missing, as much as is key material. Newlines may
/// be escaped, and each line may begin with a line number or a mark of a diff.
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
    // Between the lines of a template stand dots.
    // The last line has up to 22 letters, and between those of a template stand dots.
    if end > start && (!closed || bytes[start..end].iter().filter(|byte| byte.is_ascii_alphanumeric()).count() >= 32) {
        scan.add_certain(rule.id, at.start..end);
    }
}

/// A private key that is in base64 with its first and last line: `tls.key` of a Kubernetes secret.
pub(super) fn encoded_key(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    /// Of `-----BEGIN OPENSSH PRIVATE KEY-----` there are so many characters in base64, and of the others fewer.
    const MAX_TITLE_BYTES: usize = 56;
    /// Lines are as long as this, and all but the last one are full.
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

/// What base64 says, as far as it goes.
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

/// The private lines of a key file of `PuTTY`.
pub(super) fn putty_key(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    let bytes = scan.bytes;
    let start = span(&bytes[..bytes.len().min(at.end + 8)], at.end, |byte| byte == b' ' || byte.is_ascii_digit());
    let (end, _) = key_material(bytes, start);
    let start = span(&bytes[..end.max(start)], start, |byte| byte.is_ascii_whitespace());
    // What follows the key, `Private-MAC`, begins like a last line of it.
    let lines = &bytes[start..end.max(start)];
    let end = start + lines.strip_suffix(b"Private").unwrap_or(lines).trim_ascii_end().len();
    if end > start {
        scan.add_certain(rule.id, start..end);
    }
}

/// Where the key ends, and whether its end line was met.
fn key_material(bytes: &[u8], start: usize) -> (usize, bool) {
    const ENDING: &[u8] = b"-----END";
    const HEADERS: [&[u8]; 5] = [b"Proc-Type:", b"DEK-Info:", b"Version:", b"Comment:", b"Hash:"];
    let (mut at, mut last, mut ending) = (start, start, false);
    while at < bytes.len() {
        let rest = &bytes[at..];
        if rest.starts_with(ENDING) {
            let line = &rest[ENDING.len()..rest.len().min(ENDING.len() + 64)];
            let end = memmem::find(line, b"-----").map_or(ENDING.len(), |end| ENDING.len() + end + 5);
            return (at + end, true);
        }
        // In a diff, too.
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
        // Words of prose are base64, too, but only a key's last line is so short.
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

/// What may stand between two lines of a key: white space, escaped newlines, quotes, `+`, `|`, `,`, the arrow behind a line
/// number, the mark of a diff.
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
