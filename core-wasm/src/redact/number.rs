//! Personal numbers (cards, national identifiers, telephones) and e-mail addresses.
//!
//! No keyword activates these rules, because a number can occur anywhere. One pass serves them all. It looks only at
//! every third byte, since all these numbers start with at least three digits, and reads on where it finds a digit.

use std::ops::{Range, RangeInclusive};

use super::rule::Rule;
use super::scan::{Hit, Scan, span, span_back};

/// How many bytes before a number may contain a word that identifies it.
const CONTEXT_BYTES: usize = 48;

/// Offers each run of at least three digits to each of the rules. A rule that consumes more than the run returns where
/// it ends.
pub(super) fn find_numbers(text: &str, rules: &[(&'static str, DigitRule)], hits: &mut Vec<Hit<'static>>) {
    const STRIDE: usize = 3;
    let bytes = text.as_bytes();
    let mut at = STRIDE - 1;
    while let Some(&byte) = bytes.get(at) {
        if !byte.is_ascii_digit() {
            at += STRIDE;
            continue;
        }
        let start = span_back(bytes, at, STRIDE, |byte| byte.is_ascii_digit());
        let end = span(bytes, at, |byte| byte.is_ascii_digit());
        let mut next = end;
        // Most runs of digits are years, sizes and line numbers.
        if LENGTHS.contains(&(end - start)) {
            for (rule, check) in rules {
                if let Some(number) = check(text, &(start..end)) {
                    next = next.max(number.end);
                    hits.push(Hit { start: number.start, end: number.end, rule, certain: true });
                    break;
                }
            }
        }
        at = next + STRIDE;
    }
}

/// Recognizes a number that starts with this run of digits.
pub(super) type DigitRule = fn(&str, &Range<usize>) -> Option<Range<usize>>;

/// How many digits the first group of a number may have.
const LENGTHS: RangeInclusive<usize> = 3..=19;

/// Returns whether a number is not part of a longer word or number.
fn stands_alone(bytes: &[u8], number: &Range<usize>) -> bool {
    let part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let joint = |byte: u8| matches!(byte, b'-' | b'.' | b'/' | b'+' | b'#' | b'=');
    let (before, after) = (&bytes[..number.start], &bytes[number.end..]);
    let opened = match before {
        [] | [.., b'\\', b'n' | b'r' | b't'] | [.., b'='] => true,
        [.., last, sign] if joint(*sign) => !part(*last),
        [sign] if joint(*sign) => true,
        [.., last] => !part(*last),
    };
    let closed = match after {
        [] => true,
        [sign, next, ..] if joint(*sign) => !part(*next),
        [next, ..] => !part(*next),
    };
    opened && closed
}

/// Returns whether one of the words occurs shortly before a number, on the same line or the one above.
fn has_context_word(text: &str, start: usize, words: &[&str]) -> bool {
    let from = text.floor_char_boundary(start.saturating_sub(CONTEXT_BYTES));
    let before = text.get(from..start).unwrap_or_default().to_lowercase();
    words.iter().any(|word| {
        before.match_indices(word).any(|(at, _)| {
            let letter = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphabetic);
            let bytes = before.as_bytes();
            // In JSON, a word may also start after `\n`.
            let escaped = matches!(bytes[..at], [.., b'\\', b'n' | b'r' | b't']);
            let inside = at > 0 && letter(bytes.get(at - 1)) && !escaped;
            !(word.is_ascii() && (inside || letter(bytes.get(at + word.len()))))
        })
    })
}

/// Returns the digits of a number.
fn digit_values(bytes: &[u8]) -> Vec<u32> {
    bytes.iter().filter(|byte| byte.is_ascii_digit()).map(|byte| u32::from(byte - b'0')).collect()
}

/// Recognizes payment card numbers: the issuer's prefix and length, and Luhn's check digit. One in ten of all numbers
/// passes Luhn's check, so the number must also be in groups as on the card, or follow a word that identifies it, or
/// precede an expiry date.
pub(super) fn cards(text: &str, first: &Range<usize>) -> Option<Range<usize>> {
    const WORDS: &[&str] = &[
        "card",
        "cards",
        "cardnumber",
        "card_number",
        "credit",
        "creditcard",
        "debit",
        "visa",
        "mastercard",
        "amex",
        "pan",
        "cc",
        "ccnum",
        "payment",
        "billing",
        "discover",
        "jcb",
        "diners",
        "paid",
        "creditcardnumber",
        "cardno",
        "카드",
        "결제",
    ];
    let bytes = text.as_bytes();
    // A group of a card number has four digits. A number without groups has at most nineteen.
    let (end, groups) = match first.len() {
        4 => grouped_number(bytes, first),
        13..=19 => (first.end, 1),
        _ => return None,
    };
    let number = first.start..end;
    let digit_values = digit_values(&bytes[number.clone()]);
    let is_plausible = || groups >= 3 || has_context_word(text, number.start, WORDS) || has_expiry_date(&bytes[end..]);
    (is_card(&digit_values) && stands_alone(bytes, &number) && is_plausible()).then_some(number.clone())
}

/// Returns whether a month and a year follow the number shortly: `| 11/28`.
fn has_expiry_date(after: &[u8]) -> bool {
    let at = span(&after[..after.len().min(5)], 0, |byte| matches!(byte, b' ' | b'|' | b',' | b'\t'));
    let [b'0' | b'1', b'0'..=b'9', b'/', b'2'..=b'4', b'0'..=b'9', rest @ ..] = &after[at..] else { return false };
    at > 0 && !rest.first().is_some_and(u8::is_ascii_digit)
}

/// Returns the end of a number whose groups are separated by the same blank or hyphen, and the number of groups.
fn grouped_number(bytes: &[u8], first: &Range<usize>) -> (usize, usize) {
    let (mut end, mut groups) = (first.end, 1);
    let Some(&separator) = bytes.get(end).filter(|byte| matches!(byte, b' ' | b'-')) else {
        return (end, groups);
    };
    while groups < 5 && bytes.get(end) == Some(&separator) {
        let next = span(&bytes[..bytes.len().min(end + 8)], end + 1, |byte| byte.is_ascii_digit());
        if !(3..=6).contains(&(next - end - 1)) {
            break;
        }
        end = next;
        groups += 1;
    }
    (end, groups)
}

fn is_card(digits: &[u32]) -> bool {
    let head = |length: usize| digits.iter().take(length).fold(0, |number, digit| number * 10 + digit);
    let issued = match digits.len() {
        14 => matches!(head(2), 36 | 38 | 39) || matches!(head(3), 300..=305),
        15 => matches!(head(2), 34 | 37),
        16 => {
            head(1) == 4
                || matches!(head(2), 35 | 51..=55 | 62 | 65)
                || matches!(head(3), 644..=649)
                || head(4) == 6011
                || matches!(head(4), 2221..=2720)
                || head(1) == 9
        }
        13 | 19 => head(1) == 4 || head(2) == 62,
        _ => false,
    };
    let distinct = digits.iter().fold(0u32, |seen, digit| seen | 1 << digit).count_ones();
    issued && distinct > 2 && luhn(digits)
}

fn luhn(digits: &[u32]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, &digit)| {
            let doubled = if place % 2 == 1 { digit * 2 } else { digit };
            if doubled > 9 { doubled - 9 } else { doubled }
        })
        .sum();
    sum.is_multiple_of(10)
}

/// Finds an international bank account number after its name, using the check of ISO 7064 MOD 97-10.
pub(super) fn iban(scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
    const LENGTHS: RangeInclusive<usize> = 15..=34;
    let bytes = scan.bytes;
    let window = &bytes[..bytes.len().min(at.end + 8)];
    let start = span(window, at.end, |byte| !byte.is_ascii_alphanumeric());
    let window = &bytes[..bytes.len().min(start + 48)];
    let mut account: Vec<u8> = Vec::new();
    let mut end = start;
    for (offset, &byte) in window[start..].iter().enumerate() {
        match byte {
            b'A'..=b'Z' | b'0'..=b'9' => {
                account.push(byte);
                end = start + offset + 1;
            }
            b' ' if account.len().is_multiple_of(4) => {}
            _ => break,
        }
    }
    if !LENGTHS.contains(&account.len()) {
        return;
    }
    account.rotate_left(4);
    let rest = account.iter().fold(0u32, |rest, &byte| match byte {
        b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
        _ => (rest * 100 + u32::from(byte - b'A') + 10) % 97,
    });
    if rest == 1 {
        scan.add_certain(rule.id, start..end);
    }
}

/// Recognizes Korean resident and alien registration numbers: a date of birth, a digit for sex and century, and a check
/// digit. Numbers issued since October 2020 have no check digit, so a word before them identifies them instead.
pub(super) fn resident(text: &str, first: &Range<usize>) -> Option<Range<usize>> {
    const WORDS: &[&str] =
        &["주민", "외국인", "등록번호", "rrn", "ssn", "jumin", "juminno", "jumin_no", "resident", "resident_number"];
    let bytes = text.as_bytes();
    let joint = match (first.len(), &bytes[first.end..]) {
        (6, [b'-', ..]) => 1,
        (6, [b' ', b'-', b' ', ..]) => 3,
        (13, _) => 0,
        _ => return None,
    };
    let window = &bytes[..bytes.len().min(first.end + joint + 8)];
    let end = if joint == 0 { first.end } else { span(window, first.end + joint, |byte| byte.is_ascii_digit()) };
    let number = first.start..end;
    let digit_values = digit_values(&bytes[number.clone()]);
    if digit_values.len() != 13 || !has_birth_date(&digit_values) || !stands_alone(bytes, &number) {
        return None;
    }
    (joint > 0 && has_check_digit(&digit_values) || has_context_word(text, number.start, WORDS)).then_some(number)
}

fn has_birth_date(digits: &[u32]) -> bool {
    let pair = |at: usize| digits[at] * 10 + digits[at + 1];
    let days = match pair(2) {
        2 => 29,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&pair(4)) && (1..=8).contains(&digits[6])
}

/// Verifies the check digit: weights 2 to 9 and 2 to 5, modulo 11. For an alien, the digit is two higher.
fn has_check_digit(digits: &[u32]) -> bool {
    const WEIGHTS: [u32; 12] = [2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5];
    let sum: u32 = digits.iter().zip(WEIGHTS).map(|(digit, weight)| digit * weight).sum();
    let resident = (11 - sum % 11) % 10;
    let alien = (13 - sum % 11) % 10;
    digits[12] == resident || digits[6] >= 5 && digits[12] == alien
}

/// Recognizes US social security numbers: three, two and four digits, excluding the ranges that were never issued.
pub(super) fn social_security(text: &str, first: &Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let number = first.start..first.end + 8;
    let found = bytes.get(number.clone()).filter(|_| first.len() == 3)?;
    let formed = found.iter().enumerate().all(|(at, byte)| match at {
        3 | 6 => *byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    let given =
        !matches!(&found[..3], b"000" | b"666") && found[0] != b'9' && &found[4..6] != b"00" && &found[7..] != b"0000";
    (formed && given && stands_alone(bytes, &number)).then_some(number)
}

/// Finds telephone numbers: international ones, and Korean and American ones with separators.
pub(super) fn phone(text: &str, rule: &'static str, hits: &mut Vec<Hit<'static>>) {
    let bytes = text.as_bytes();
    let mut from = 0;
    while let Some(start) = (from..bytes.len()).find(|&at| bytes[at].is_ascii_digit() || bytes[at] == b'+') {
        let window = &bytes[..bytes.len().min(start + 24)];
        let run = span(window, start + 1, |byte| byte.is_ascii_digit() || matches!(byte, b' ' | b'-' | b'.' | b'(' | b')'));
        let end = run - window[start..run].iter().rev().take_while(|byte| !byte.is_ascii_digit()).count();
        from = run;
        let number = start..end.max(start);
        if is_phone_number(&bytes[number.clone()]) && stands_alone(bytes, &number) {
            hits.push(Hit { start: number.start, end: number.end, rule, certain: true });
        }
    }
}

fn is_phone_number(number: &[u8]) -> bool {
    let groups: Vec<usize> =
        number.split(|byte| !byte.is_ascii_digit()).map(<[u8]>::len).filter(|&length| length > 0).collect();
    let count: usize = groups.iter().sum();
    match number.first() {
        Some(b'+') => (9..=15).contains(&count) && number.get(1).is_some_and(|digit| matches!(digit, b'1'..=b'9')),
        Some(b'0') => groups.len() == 3 && (9..=11).contains(&count) && groups[2] == 4,
        _ => groups == [3, 3, 4],
    }
}

/// Finds e-mail addresses, except those of documentation, of version control over SSH, and no-reply addresses.
pub(super) fn email(text: &str, rule: &'static str, hits: &mut Vec<Hit<'static>>) {
    const MAX_LOCAL_BYTES: usize = 64;
    const MAX_DOMAIN_BYTES: usize = 253;
    let bytes = text.as_bytes();
    for at in memchr::memchr_iter(b'@', bytes) {
        let local = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'%' | b'+' | b'-');
        let mut start = span_back(bytes, at, MAX_LOCAL_BYTES, local);
        // `\nuser@…` in JSON.
        if start > 0 && bytes[start - 1] == b'\\' && matches!(bytes[start], b'n' | b'r' | b't') {
            start += 1;
        }
        let window = &bytes[..bytes.len().min(at + MAX_DOMAIN_BYTES)];
        let run = span(window, at + 1, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'));
        let end = run - window[at + 1..run].iter().rev().take_while(|byte| !byte.is_ascii_alphanumeric()).count();
        let domain = text.get(at + 1..end).unwrap_or_default();
        let Some((host, top)) = domain.rsplit_once('.') else {
            continue;
        };
        let user = text.get(start..at).unwrap_or_default();
        let named = top.len() >= 2 && top.bytes().all(|byte| byte.is_ascii_alphabetic()) && !host.is_empty();
        let documented = ["example.com", "example.org", "example.net"].iter().any(|example| domain.ends_with(example));
        let nobody = matches!(user, "git" | "noreply" | "no-reply") || domain.ends_with("users.noreply.github.com");
        if named && !documented && !nobody && !user.is_empty() && bytes.get(run) != Some(&b':') {
            hits.push(Hit { start, end, rule, certain: true });
        }
    }
}
