//! Secrets that consist of words or short codes in prose.

use std::ops::Range;

use super::{
    chosen::{is_chosen, is_strong},
    rule::Rule,
    scan::{Scan, is_token_start, span, span_back},
    value::{Kind, Shape, is_secret},
};
use crate::text;

/// Finds the words after `mnemonic`, `seed phrase` or `니모닉`. BIP-39 uses at least twelve words of three to eight
/// lower-case letters.
pub(super) fn mnemonic(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    /// The maximum number of bytes between the name and the first word.
    const MAX_GAP_BYTES: usize = 24;
    const MIN_WORDS: usize = 12;
    const MAX_WORDS: usize = 24;
    if scan.covers(at.start) {
        return;
    }
    let bytes = scan.bytes;
    let window = &bytes[..bytes.len().min(at.end + MAX_GAP_BYTES)];
    let mut start = at.end;
    // Skips words such as `is `, `는 ` and `_words = ` to reach the first of the twelve.
    loop {
        let next = span(window, start, |byte| !byte.is_ascii_lowercase());
        let word = span(window, next, |byte| byte.is_ascii_lowercase());
        let escape = next > start && bytes[next - 1] == b'\\';
        if next == window.len() {
            return;
        }
        if escape {
            start = next + 1;
            continue;
        }
        let name = next == at.end || bytes[next - 1] == b'_' || matches!(bytes.get(word), Some(b'"' | b'=' | b':'));
        if !name && word - next >= 3 {
            start = next;
            break;
        }
        start = word;
    }
    let (mut words, mut end) = (0, start);
    while words < MAX_WORDS {
        let word = span(&bytes[..bytes.len().min(end + 9)], end, |byte| byte.is_ascii_lowercase());
        if !(3..=8).contains(&(word - end)) {
            break;
        }
        words += 1;
        let blank = span(&bytes[..bytes.len().min(word + 4)], word, |byte| matches!(byte, b' ' | b',' | b'\n'));
        let more = blank > word && bytes.get(blank).is_some_and(u8::is_ascii_lowercase) && words < MAX_WORDS;
        end = if more { blank } else { word };
        if !more {
            break;
        }
    }
    if words >= MIN_WORDS {
        scan.add_certain(rule.id, start..end);
    }
}

/// Finds the password in `ID/PW: name/SECRET` and `creds are name / SECRET`.
pub(super) fn pair(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    const MAX_BYTES: usize = 160;
    let bytes = scan.bytes;
    let window = &bytes[..bytes.len().min(at.end + MAX_BYTES)];
    let blank = |byte: u8| matches!(byte, b' ' | b':' | b'=' | b'*' | b'`');
    let sign = span(window, at.end, blank);
    let word = |from| span(window, from, |byte| byte > b' ' && !matches!(byte, b'/' | b':' | b'"' | b'\'' | b'`' | b'\\'));
    let user = word(sign);
    let slash = span(window, user, |byte| byte == b' ' || byte == b'`');
    if sign == at.end && window[at.end - 1] != b':' || user == sign || !matches!(window.get(slash), Some(b'/' | b':')) {
        return;
    }
    let start = span(window, slash + 1, |byte| byte == b' ' || byte == b'`');
    // People do not pass on longer passwords.
    let end = scan.word(start).min(start + MAX_BYTES);
    let value = scan.text.get(start..end).unwrap_or_default();
    // `credentials: path/file2` is a path.
    let colon = window[slash] == b':' && slash == user && start == slash + 1;
    let apart = colon || slash > user && start > slash + 1 || scan.bytes[at.clone()].contains(&b'/');
    if apart && value.bytes().any(|byte| byte.is_ascii_digit()) && is_secret(value, Kind::Password, Shape::Loose) {
        scan.add_likely(rule.id, start..end);
    }
}

/// Finds the password in a line of `.pgpass`: `host:5432:database:user:SECRET`.
pub(super) fn pgpass(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    const MAX_BYTES: usize = 160;
    let bytes = scan.bytes;
    let window = &bytes[..bytes.len().min(at.end + MAX_BYTES)];
    let field = |from| span(window, from, |byte| byte > b' ' && !matches!(byte, b':' | b'"' | b'\'' | b'/' | b'\\'));
    let database = field(at.end);
    let user = field(database + 1);
    if database == at.end || window.get(database) != Some(&b':') || user == database + 1 || window.get(user) != Some(&b':') {
        return;
    }
    let secret = user + 1..scan.word(user + 1).min(user + MAX_BYTES);
    if is_secret(scan.text.get(secret.clone()).unwrap_or_default(), Kind::Password, Shape::Bare) {
        scan.add_likely(rule.id, secret);
    }
}

/// Finds codes such as `recovery code: 63836366` and `PIN은 181488`: one code of digits, or of groups that contain
/// digits.
pub(super) fn code(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    const MAX_GAP_BYTES: usize = 12;
    const MAX_BYTES: usize = 24;
    const MAX_CODES: usize = 16;
    let bytes = scan.bytes;
    let window = &bytes[..bytes.len().min(at.end + MAX_GAP_BYTES)];
    let words = ["s", " is", " was", "는", "은", "가"].iter().find(|word| window[at.end..].starts_with(word.as_bytes()));
    let sign = at.end + words.map_or(0, |word| word.len());
    let mut start = span(window, sign, |byte| matches!(byte, b' ' | b':' | b'=' | b'`' | b'*'));
    // Below `Backup codes:` stands one in each line.
    let mut lines = if bytes[sign..start].contains(&b':') { MAX_CODES } else { 0 };
    // The code of a card has three or four digits.
    let min =
        if bytes[at.clone()].eq_ignore_ascii_case(b"cvv") || bytes[at.clone()].eq_ignore_ascii_case(b"cvc") { 3 } else { 4 };
    if start == sign || min == 3 && !is_token_start(bytes, at.start) {
        return;
    }
    loop {
        let end = span(&bytes[..bytes.len().min(start + 32)], start, |byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let digits = bytes[start..end].iter().filter(|byte| byte.is_ascii_digit()).count();
        let alone = bytes.get(end).is_none_or(|byte| !matches!(byte, b'.' | b'_' | b'%'));
        let is_code = (min..=MAX_BYTES).contains(&(end - start)) && digits >= min && alone && digits * 2 >= end - start;
        if is_code {
            scan.add_likely(rule.id, start..end);
        }
        let break_length = match &bytes[end..] {
            [b'\n', ..] => 1,
            [b'\\', b'n', ..] => 2,
            _ => 0,
        };
        if lines == 0 || break_length == 0 || !is_code && end > start {
            return;
        }
        lines -= 1;
        start = span(&bytes[..bytes.len().min(end + 8)], end + break_length, |byte| matches!(byte, b' ' | b'-' | b'*'));
    }
}

/// Finds the password in `log in as admin with SECRET` and `sign in with a@b.c and SECRET`.
pub(super) fn login(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    const MAX_BYTES: usize = 120;
    /// Words between a user and a password.
    const JOINTS: [&str; 6] = [" with ", " using ", " and ", " mit ", ", ", " con "];
    let text = scan.text;
    let end = text.floor_char_boundary(at.end + MAX_BYTES);
    let window = text.get(at.end..end).unwrap_or_default();
    let window = &window[..window.find(['\n', '"']).unwrap_or(window.len())];
    let Some((user, joint)) = JOINTS.iter().filter_map(|joint| Some((window.find(joint)?, joint))).min() else { return };
    // The user is one word, or `the user admin`.
    if window[..user].split_whitespace().count() > 4 {
        return;
    }
    let mut start = at.end + user + joint.len();
    for word in ["the ", "this ", "password ", "passphrase ", "pw ", "pass ", "`", "'", "**"] {
        start += if text[start..].starts_with(word) { word.len() } else { 0 };
    }
    let secret = start..scan.word(start).min(start + MAX_BYTES);
    if is_chosen(text.get(secret.clone()).unwrap_or_default()) {
        scan.add_likely(rule.id, without_stop(text, secret));
    }
}

/// Finds the secret that is alone on the line after the one that announces it: `The admin password:`, a blank line, the password. It may be
/// the first line of a code block.
pub(super) fn next_line(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    /// How far the announcement goes on, and how many empty lines follow it.
    const MAX_BYTES: usize = 64;
    const MAX_LINES: usize = 2;
    let bytes = scan.bytes;
    let window = &bytes[..bytes.len().min(at.end + MAX_BYTES)];
    let is_line = |at: usize| matches!(window.get(at), Some(b'\n' | b'\r')) || window[at..].starts_with(b"\\n");
    let plain = |byte: u8| !matches!(byte, b'\n' | b'\r' | b'"' | b'\\' | b'=' | b'{' | b';' | b'`' | b'|');
    // Keywords end with the colon, the newline after it, or a word.
    let newline = ["\n", "\\n"].iter().find(|newline| bytes[at.clone()].ends_with(newline.as_bytes()));
    let end = at.end - newline.map_or(0, |newline| newline.len());
    let mut next = if window[end - 1] == b':' { end } else { span(window, end, plain) };
    if window[next - 1] != b':' || next >= window.len() || !is_line(next) {
        return;
    }
    let next_break = |at: usize| {
        at + if !is_line(at) {
            0
        } else if window[at] == b'\\' {
            2
        } else {
            1
        }
    };
    for _ in 0..MAX_LINES * 2 {
        next = next_break(next);
    }
    if window[next..].starts_with(b"```") {
        next = next_break(span(window, next + 3, |byte| byte.is_ascii_alphanumeric()));
    }
    let start = span(window, next, |byte| matches!(byte, b' ' | b'`' | b'*' | b'>'));
    let end = scan.word(start);
    let closed = span(bytes, end, |byte| matches!(byte, b'`' | b'*' | b' '));
    let alone = matches!(bytes.get(closed), None | Some(b'\n' | b'\r' | b'"')) || bytes[closed..].starts_with(b"\\n");
    let text = scan.text.get(start..end).unwrap_or_default();
    if alone && end > start && (is_chosen(text) || is_strong(text) || is_secret(text, Kind::Secret, Shape::Bare)) {
        scan.add_likely(rule.id, without_stop(scan.text, start..end));
    }
}

/// Finds the word before the keyword: `use SECRET as the password`.
pub(super) fn before(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    const MAX_BYTES: usize = 80;
    let end = at.start - usize::from(matches!(scan.bytes[..at.start].last(), Some(b'`' | b'\'' | b'"')));
    let start = span_back(scan.bytes, end, MAX_BYTES, |byte| byte > b' ' && !matches!(byte, b'"' | b'\'' | b'`'));
    let word = scan.text.get(start..end).unwrap_or_default();
    if is_chosen(word) || is_strong(word) {
        scan.add_likely(rule.id, start..end);
    }
}

/// Finds the password after a user that every system has: `admin / SECRET`, `root:SECRET`.
pub(super) fn known_user(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    const MAX_BYTES: usize = 80;
    if !is_token_start(scan.bytes, at.start)
        || scan.bytes[..at.start].ends_with(b"/")
        || scan.bytes[..at.start].ends_with(b".")
    {
        return;
    }
    let end = scan.word(at.end).min(at.end + MAX_BYTES);
    let secret = without_stop(scan.text, at.end..end);
    let word = scan.text.get(secret.clone()).unwrap_or_default();
    // Addresses and files of passwords have rules of their own.
    let is_other = word.contains(['/', ':', '$']) || word.trim_end_matches('@').contains('@') && word.contains('.');
    let is_generated = scan.bytes[at].ends_with(b" ") && word.len() >= 12 && is_secret(word, Kind::Token, Shape::Quoted);
    if !is_other && (is_strong(word) || is_generated) {
        scan.add_likely(rule.id, secret);
    }
}

/// Finds both passwords in `the password was changed from SECRET to SECRET`.
pub(super) fn change(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    /// How far before the change it is said what was changed, in bytes.
    const MAX_DISTANCE: usize = 48;
    const NAMES: [&str; 12] = [
        "password",
        "passwd",
        "passphrase",
        "passcode",
        "pwd",
        " pw",
        "secret",
        "credential",
        "passwort",
        "kennwort",
        "contraseña",
        "login",
    ];
    let text = scan.text;
    let start = text.ceil_char_boundary(at.start.saturating_sub(MAX_DISTANCE));
    let before = text[start..at.end].to_ascii_lowercase();
    if !text::contains_any(&before, &NAMES) {
        return;
    }
    let mut next = at.end;
    for _ in 0..2 {
        let begin = span(&scan.bytes[..scan.bytes.len().min(next + 8)], next, |byte| {
            matches!(byte, b' ' | b'`' | b'\'' | b'"' | b'*')
        });
        let end = scan.word(begin).min(begin + 80);
        let secret = without_stop(text, begin..end);
        if begin > next && is_chosen(text.get(secret.clone()).unwrap_or_default()) {
            scan.add_likely(rule.id, secret);
        }
        let rest = text.get(end..).unwrap_or_default();
        let closed = rest.len() - rest.trim_start_matches(['`', '\'', '"', '*', '.', ',']).len();
        let Some(joint) = [" to", " into", " zu", " auf", " nach", " a"]
            .iter()
            .find(|joint| rest[closed..].strip_prefix(**joint).is_some_and(|rest| rest.starts_with(' ')))
        else {
            return;
        };
        next = end + closed + joint.len();
    }
}

/// Returns the range without the full stop of a sentence.
fn without_stop(text: &str, range: Range<usize>) -> Range<usize> {
    let word = text.get(range.clone()).unwrap_or_default();
    range.start..range.start + word.trim_end_matches(['.', ',', ';', ':', ')']).len()
}
