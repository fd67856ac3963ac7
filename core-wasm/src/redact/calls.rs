//! Secrets among the arguments of a call, where no name identifies them.

use std::ops::Range;

use super::{
    assignment::quoted,
    rule::Rule,
    scan::{Scan, span},
    value::{Kind, Shape, is_secret},
};

/// The maximum length of all arguments, in bytes.
const MAX_ARGUMENTS_BYTES: usize = 1024;

/// Finds the secret in `mysqli_connect(host, user, SECRET)`, `smtp.login(user, SECRET)` and `client.login(TOKEN)`.
pub(super) fn positional(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    let keyword = &scan.bytes[at.clone()];
    let is_login = keyword[0] == b'.';
    // Functions that connect take a host or an address before the user.
    let is_connection = ["connect(", "mysqli(", "PDO(", "getConnection("]
        .iter()
        .any(|end| keyword[keyword.len().saturating_sub(end.len())..].eq_ignore_ascii_case(end.as_bytes()));
    let arguments = arguments(scan, at.end);
    let (index, kind) = match arguments.len() {
        1 if is_login => (0, Kind::Token),
        _ if is_connection => (2, Kind::Password),
        _ => (1, Kind::Password),
    };
    let Some(Some(value)) = arguments.get(index).cloned() else { return };
    if is_secret(scan.text.get(value.clone()).unwrap_or_default(), kind, Shape::Quoted) {
        scan.add_likely(rule.id, value);
    }
}

/// Returns the first four arguments: the content of those in quotes, and none for expressions.
fn arguments(scan: &Scan, start: usize) -> Vec<Option<Range<usize>>> {
    const MAX_ARGUMENTS: usize = 4;
    let bytes = &scan.bytes[..scan.bytes.len().min(start + MAX_ARGUMENTS_BYTES)];
    let mut arguments = Vec::new();
    let mut at = start;
    while arguments.len() < MAX_ARGUMENTS {
        at = span(bytes, at, |byte| byte.is_ascii_whitespace());
        let value = quoted(scan, at).filter(|value| value.end < bytes.len());
        if let Some(value) = &value {
            // Past the closing quote and its backslashes.
            at = span(bytes, value.end, |byte| byte == b'\\') + 1;
        }
        let Some(end) = (at..bytes.len()).find(|&end| matches!(bytes[end], b',' | b')' | b'\n' | b';')) else { break };
        arguments.push(value);
        at = end + 1;
        if bytes[end] != b',' {
            break;
        }
    }
    arguments
}

/// Finds a private key, in hexadecimal digits or in a wallet's own format, after a call that takes one.
pub(super) fn wallet(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    const KEY: std::ops::RangeInclusive<usize> = 50..=90;
    let bytes = scan.bytes;
    let start = span(&bytes[..bytes.len().min(at.end + 8)], at.end, |byte| {
        matches!(byte, b' ' | b'"' | b'\'' | b'`' | b'\\' | b'(')
    });
    let end = span(&bytes[..bytes.len().min(start + 2 * KEY.end())], start, |byte| byte.is_ascii_alphanumeric());
    if KEY.contains(&(end - start)) && bytes[start..end].iter().any(u8::is_ascii_digit) {
        scan.add_certain(rule.id, start..end);
    }
}
