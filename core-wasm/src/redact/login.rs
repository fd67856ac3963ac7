//! Logins whose parts only stand beside each other: `NAME:SECRET@host`, and `-u NAME -p SECRET` of a program that is not known.

use std::ops::Range;

use super::assignment::quoted;
use super::chosen::{is_chosen, is_strong};
use super::rule::Rule;
use super::scan::{Hit, Scan, is_token_start, span, span_back};

/// The longest name and the longest password, bytes.
const MAX_PART: usize = 64;

/// Finds the password in `amy:SECRET@db.internal`, which no scheme precedes. Text with a colon before an `@` is mostly something
/// else: `npm:react@18.2.0`, `email:amy2024@shop.example`, `image:tag@sha256:…`. So the host must be one, and the password must be
/// a word that cannot be the first part of an address.
pub(super) fn at_host(text: &str, rule: &'static str, hits: &mut Vec<Hit<'static>>) {
    for at in memchr::memchr_iter(b'@', text.as_bytes()) {
        if let Some(secret) = password_before(text, at) {
            hits.push(Hit { start: secret.start, end: secret.end, rule, certain: false });
        }
    }
}

/// Returns the password that ends at the sign.
fn password_before(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let is_part = |byte: u8| {
        byte > b' ' && !matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'(' | b')' | b'/' | b'\\' | b',' | b';')
    };
    let word = span_back(bytes, at, 2 * MAX_PART, is_part);
    // The name is what stands before the first colon: a password may have one.
    let colon = word + memchr::memchr(b':', &bytes[word..at])?;
    let name = span_back(bytes, colon, MAX_PART, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
    let word = text.get(colon + 1..at)?;
    if name == colon || !is_token_start(bytes, name) || word.starts_with("[redacted") || !is_host(&bytes[at + 1..]) {
        return None;
    }
    let is_address = word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._+-%".contains(&byte));
    (!is_address && is_judged_secret(word)).then_some(colon + 1..at)
}

/// Returns whether the name of a host stands here: one with a domain, an address of IPv4, or one with a port.
fn is_host(rest: &[u8]) -> bool {
    let end =
        span(&rest[..rest.len().min(MAX_PART * 2)], 0, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'));
    let host = &rest[..end];
    let host = host.strip_suffix(b".").unwrap_or(host);
    let parts: Vec<&[u8]> = host.split(|byte| *byte == b'.').collect();
    let has_domain =
        parts.len() > 1 && parts.last().is_some_and(|top| top.len() >= 2 && top.iter().all(u8::is_ascii_alphabetic));
    let is_number = |part: &&[u8]| (1..=3).contains(&part.len()) && part.iter().all(u8::is_ascii_digit);
    let has_port = matches!(&rest[end..], [b':', digit, ..] if digit.is_ascii_digit());
    let is_named = host.first().is_some_and(u8::is_ascii_alphabetic);
    has_domain || parts.len() == 4 && parts.iter().all(is_number) || is_named && (has_port || host == b"localhost")
}

/// Finds the password in `shopctl login -u amy -p SECRET`: the two options stand side by side. `-p` also means a port, a project, a
/// process or a prompt, so the value must look like a password by itself.
pub(super) fn options(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    const USERS: [&[u8]; 4] = [b" -u", b" --user", b" --username", b" -U"];
    /// Programs that take something else after `-p`.
    const OTHERS: [&[u8]; 6] = [b"sudo", b"mysql", b"mariadb", b"mkdir", b"ssh ", b"scp "];
    const MAX_LINE: usize = 240;
    let bytes = scan.bytes;
    let line = at.start.saturating_sub(MAX_LINE);
    let line = memchr::memrchr2(b'\n', b'|', &bytes[line..at.start]).map_or(line, |found| line + found + 1);
    let word = span_back(bytes, at.start, MAX_PART, |byte| byte > b' ');
    // `--user=amy` is one word.
    let sign = memchr::memchr(b'=', &bytes[word..at.start]).map(|sign| word + sign);
    let command = bytes.get(line..sign.unwrap_or(word.saturating_sub(1))).unwrap_or_default();
    let name = sign.map_or(word, |sign| sign + 1);
    let is_user = USERS.iter().any(|user| command.ends_with(user)) && name < at.start && bytes[name] != b'-';
    if !is_user || OTHERS.iter().any(|other| memchr::memmem::find(command, other).is_some()) {
        return;
    }
    let end = span(&bytes[..bytes.len().min(at.end + MAX_PART)], at.end, |byte| {
        byte > b' ' && !matches!(byte, b'"' | b'\'' | b'`' | b'\\')
    });
    let value = quoted(scan, at.end).unwrap_or(at.end..end);
    let text = scan.text.get(value.clone()).unwrap_or_default();
    if is_judged_secret(text) {
        scan.add_likely(rule.id, value);
    }
}

/// Returns whether a word is a password by itself, and no path or reference.
fn is_judged_secret(text: &str) -> bool {
    !text.contains(['/', '{', '<', '[']) && !text.starts_with('$') && (is_chosen(text) || is_strong(text))
}
