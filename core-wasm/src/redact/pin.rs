//! PINs and passcodes: four to six digits, which only the word beside them gives away.

use std::ops::{Range, RangeInclusive};

use super::rule::Rule;
use super::scan::{Scan, is_token_start, span, span_back};

const DIGITS: RangeInclusive<usize> = 4..=6;

/// Finds the digits in `PIN 4711`, `passcode is 471100`, `pin=4711`, `the PIN for the alarm is 4711` and `4711 is my PIN`. In lower
/// case, `pin` is mostly another word, so a sign or a verb must follow it.
pub(super) fn find(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    let bytes = scan.bytes;
    let end = at.end + usize::from(bytes.get(at.end) == Some(&b's') && bytes.get(at.end + 1) == Some(&b':'));
    let is_word =
        is_token_start(bytes, at.start) && bytes.get(end).is_none_or(|next| !next.is_ascii_alphanumeric() && *next != b'_');
    if !is_word {
        return;
    }
    let is_clear = at.len() > 3 || &bytes[at.clone()] == b"PIN";
    if let Some(digits) = behind(bytes, end, is_clear) {
        scan.add_likely(rule.id, digits);
    }
    if is_clear && let Some(digits) = before(bytes, at.start) {
        scan.add_likely(rule.id, digits);
    }
}

/// Returns the digits behind the word.
fn behind(bytes: &[u8], from: usize, is_clear: bool) -> Option<Range<usize>> {
    /// What the code may be for, bytes.
    const MAX_PURPOSE: usize = 40;
    const VERBS: [&[u8]; 3] = [b" is ", b": ", b" was "];
    /// What may stand between the word and its code.
    const LINKS: [&[u8]; 5] = [b" is now", b" is", b" was", b" number", b" code"];
    let window = &bytes[..bytes.len().min(from + MAX_PURPOSE)];
    let mut at = from;
    let rest = |at: usize| &window[at..];
    let is_purpose = [&b" for "[..], b" of ", b" to "].iter().any(|word| rest(at).starts_with(word));
    if is_clear && is_purpose {
        let sentence = at..span(window, at, |byte| byte >= b' ' && !matches!(byte, b'.' | b';' | b',' | b'"' | b'\\'));
        let verb = VERBS.iter().filter_map(|verb| memchr::memmem::find(&window[sentence.clone()], verb)).min();
        at += verb?;
    }
    let verb = LINKS.iter().find(|verb| rest(at).starts_with(verb));
    at += verb.map_or(0, |verb| verb.len());
    let start = span(window, at, |byte| matches!(byte, b' ' | b':' | b'=' | b'"' | b'\'' | b'`' | b'*' | b'(' | b'\\'));
    let has_sign = window[at..start].iter().any(|byte| matches!(byte, b':' | b'='));
    if start == at || !(is_clear || has_sign || verb.is_some()) {
        return None;
    }
    let end = span(bytes, start, |byte| byte.is_ascii_digit());
    (DIGITS.contains(&(end - start)) && ends_alone(&bytes[end..])).then_some(start..end)
}

/// Returns the digits before the word: `4711 is the PIN`, `4711 as a passcode`.
fn before(bytes: &[u8], to: usize) -> Option<Range<usize>> {
    const VERBS: [&[u8]; 4] = [b" is ", b" as ", b" was ", b" = "];
    const ARTICLES: [&[u8]; 7] = [b"the ", b"my ", b"our ", b"your ", b"a ", b"his ", b"her "];
    let text = &bytes[..to];
    let text = ARTICLES.iter().find_map(|article| text.strip_suffix(*article)).unwrap_or(text);
    let text = VERBS.iter().find_map(|verb| text.strip_suffix(*verb))?;
    let quotes = text.iter().rev().take_while(|byte| matches!(byte, b'"' | b'\'' | b'`' | b'*' | b'\\')).count();
    let end = text.len() - quotes;
    let start = span_back(text, end, DIGITS.end() + 1, |byte| byte.is_ascii_digit());
    let is_alone = start == 0 || !matches!(text[start - 1], b'.' | b'-' | b':' | b'/' | b'#') && is_token_start(text, start);
    (DIGITS.contains(&(end - start)) && is_alone).then_some(start..end)
}

/// Returns whether a number ends here: no version, date, time, size or longer word goes on.
fn ends_alone(rest: &[u8]) -> bool {
    const UNITS: [&[u8]; 9] = [b" digit", b" char", b" bit", b" byte", b" attempt", b" tries", b" ms", b" time", b" second"];
    match rest {
        [b'.' | b'-' | b':' | b'/' | b',', next, ..] => !next.is_ascii_alphanumeric(),
        [next, ..] if next.is_ascii_alphanumeric() || matches!(next, b'_' | b'%') => false,
        _ => !UNITS.iter().any(|unit| rest.starts_with(unit)),
    }
}
