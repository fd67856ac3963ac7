//! Secrets that consist of words or short codes in prose.

use std::ops::Range;

use super::{
    rule::Rule,
    scan::{Scan, span},
    value::{Kind, Shape, is_secret},
};

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
    const LENGTHS: std::ops::RangeInclusive<usize> = 4..=24;
    let bytes = scan.bytes;
    let window = &bytes[..bytes.len().min(at.end + MAX_GAP_BYTES)];
    let words = ["s", " is", " was", "는", "은", "가"].iter().find(|word| window[at.end..].starts_with(word.as_bytes()));
    let sign = at.end + words.map_or(0, |word| word.len());
    let start = span(window, sign, |byte| matches!(byte, b' ' | b':' | b'=' | b'`' | b'*'));
    let end = span(&bytes[..bytes.len().min(start + 32)], start, |byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let digits = bytes[start..end].iter().filter(|byte| byte.is_ascii_digit()).count();
    let alone = bytes.get(end).is_none_or(|byte| !matches!(byte, b'.' | b'_' | b'%'));
    if start > sign && LENGTHS.contains(&(end - start)) && digits >= 4 && alone && digits * 2 >= end - start {
        scan.add_likely(rule.id, start..end);
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
    if !NAMES.iter().any(|name| before.contains(name)) {
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

/// Returns whether a word is one that somebody chose as a password, and nothing else: it has digits and a symbol, or digits
/// between letters of both cases. Versions, sizes, hashes and algorithms are not.
fn is_chosen(word: &str) -> bool {
    let word = word.trim_end_matches(['.', ',', ';', ':', ')', '`', '\'', '"', '*']);
    let has = |class: fn(&u8) -> bool| word.bytes().any(|byte| class(&byte));
    let symbol = word.contains(['!', '@', '#', '$', '%', '^', '&', '*', '?', '+']);
    let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && word.len() >= 8;
    let is_hex = word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let name = [
        "id_", "sha", "aes", "rs2", "hs2", "es2", "md5", "v1", "v2", "v3", "utf", "oauth", "totp", "argon", "bcrypt",
        "pbkdf",
    ]
    .iter()
    .any(|name| word.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)));
    let wordy = digits >= 2 && letters >= 5 && word.bytes().all(|byte| byte.is_ascii_alphanumeric()) && word.len() >= 8;
    letters >= 2
        && digits >= 1
        && word.len() >= 6
        && !is_hex
        && !name
        && (symbol || mixed || wordy)
        && is_secret(word, Kind::Password, Shape::Loose)
}

/// Returns the range without the full stop of a sentence.
fn without_stop(text: &str, range: Range<usize>) -> Range<usize> {
    let word = text.get(range.clone()).unwrap_or_default();
    range.start..range.start + word.trim_end_matches(['.', ',', ';', ':', ')']).len()
}
