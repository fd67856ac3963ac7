//! Finds values in a text in every form in which they may occur: plain, escaped for URLs or JSON, in base64 or hex, or
//! truncated with an ellipsis. One automaton finds all values; each decoding of the text is searched in one pass.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use aho_corasick::AhoCorasick;
use memchr::memchr;

/// How many nested escapes are decoded: JSON in JSON in JSON.
const MAX_DECODING_LAYERS: usize = 4;

/// The shortest part of a truncated value that counts, in bytes; and the shortest if the part looks like words.
const MIN_FRAGMENT_BYTES: usize = 6;
const MIN_WORD_FRAGMENT_BYTES: usize = 10;

/// The shortest line of base64 that can continue on the next line; 76 and 64 characters are common.
const MIN_BASE64_LINE_BYTES: usize = 32;

const ALPHABETS: [&[u8; 64]; 2] = [
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
];

/// What a match of an anchor may belong to.
#[derive(Debug)]
enum Form {
    /// A whole form of the value that begins here.
    Whole(Vec<u8>),
    /// The same in base64, where the neighbouring characters contain some of the value's bits too.
    Base64(Vec<u8>),
    /// The beginning of the value, up to where the text was truncated.
    Head,
    /// The end of the value, from where the text was truncated.
    Tail,
}

/// Where a value occurs in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SecretMatch {
    range: Range<usize>,
    /// The value's index.
    value: usize,
}

/// The search for a set of values. A small automaton finds the first bytes of every form; the rest is then compared in
/// place.
pub(super) struct SecretMatcher {
    automaton: AhoCorasick,
    /// For each pattern of the automaton: the values, and the forms of them, that it may belong to.
    forms: Vec<Vec<(usize, Form)>>,
    values: Vec<String>,
}

impl SecretMatcher {
    /// Returns `None` if there are no values to look for, or too many.
    pub(super) fn new<'a>(values: impl Iterator<Item = &'a str>) -> Option<Self> {
        let values: Vec<String> = values.filter(|value| value.len() >= MIN_FRAGMENT_BYTES).map(str::to_owned).collect();
        let mut anchors: BTreeMap<Vec<u8>, Vec<(usize, Form)>> = BTreeMap::new();
        for (number, value) in values.iter().enumerate() {
            let mut add = |anchor: Option<&[u8]>, form: Form| {
                if let Some(anchor) = anchor {
                    anchors.entry(anchor.to_vec()).or_default().push((number, form));
                }
            };
            let bytes = value.as_bytes();
            add(bytes.first_chunk::<MIN_FRAGMENT_BYTES>().map(<[u8; MIN_FRAGMENT_BYTES]>::as_slice), Form::Head);
            add(bytes.last_chunk::<MIN_FRAGMENT_BYTES>().map(<[u8; MIN_FRAGMENT_BYTES]>::as_slice), Form::Tail);
            let digits = [b"0123456789abcdef", b"0123456789ABCDEF"];
            let mut wholes = vec![bytes.to_vec(), with_plus(value), as_html(value)];
            wholes.extend(digits.map(|digits| hex(bytes, digits)));
            for whole in wholes {
                add(whole.get(..MIN_FRAGMENT_BYTES), Form::Whole(whole.clone()));
            }
            for alphabet in ALPHABETS {
                for before in 0..3 {
                    let piece = base64(bytes, before, alphabet);
                    add(piece.get(..MIN_FRAGMENT_BYTES), Form::Base64(piece.clone()));
                }
            }
        }
        if anchors.is_empty() {
            return None;
        }
        let (anchors, forms): (Vec<_>, Vec<_>) = anchors.into_iter().unzip();
        let automaton = AhoCorasick::new(anchors).ok()?;
        Some(Self { automaton, forms, values })
    }

    /// Returns where the values occur: in order, without overlaps, on character boundaries.
    pub(super) fn find(&self, text: &str) -> Vec<SecretMatch> {
        let mut places = Vec::new();
        let mut layer = View::plain(text.as_bytes());
        for _ in 0..MAX_DECODING_LAYERS {
            self.find_in(&layer, &mut places);
            let mut decoded = layer.percent_decoded();
            for _ in 0..MAX_DECODING_LAYERS {
                let Some(view) = decoded else { break };
                self.find_in(&view, &mut places);
                decoded = view.percent_decoded();
            }
            match layer.unescaped() {
                Some(next) => layer = next,
                None => break,
            }
        }
        merge(text, places)
    }

    fn find_in(&self, view: &View<'_>, places: &mut Vec<SecretMatch>) {
        self.search(view, places);
        if let Some(joined) = view.joined() {
            self.search(&joined, places);
        }
    }

    fn search(&self, view: &View<'_>, places: &mut Vec<SecretMatch>) {
        let bytes = view.bytes();
        for found in self.automaton.find_overlapping_iter(bytes) {
            let (start, end) = (found.start(), found.end());
            for (value, form) in &self.forms[found.pattern().as_usize()] {
                let plain = self.values[*value].as_bytes();
                let whole = |form: &[u8]| bytes[start..].starts_with(form).then(|| start..start + form.len());
                let place = match form {
                    Form::Whole(form) => whole(form),
                    Form::Base64(form) => whole(form).map(|place| with_neighbours(bytes, place)),
                    Form::Head => head(bytes, start, plain),
                    Form::Tail => tail(bytes, end, plain),
                };
                places.extend(place.map(|range| SecretMatch { range: view.original(range), value: *value }));
            }
        }
    }

    /// Returns the text with each occurrence replaced by what `placeholder` returns for its value.
    pub(super) fn replace(&self, text: &str, places: &[SecretMatch], placeholder: impl Fn(&str) -> String) -> String {
        let mut out = String::with_capacity(text.len());
        let mut kept = 0;
        for SecretMatch { range, value } in places {
            out.push_str(&text[kept..range.start]);
            out.push_str(&placeholder(&self.values[*value]));
            kept = range.end;
        }
        out.push_str(&text[kept..]);
        out
    }
}

/// Merges overlapping places into one. It gets the value of the place that begins first, or of the longest of those.
fn merge(text: &str, mut places: Vec<SecretMatch>) -> Vec<SecretMatch> {
    places.sort_unstable_by_key(|place| (place.range.start, Reverse(place.range.end), place.value));
    let mut merged: Vec<SecretMatch> = Vec::with_capacity(places.len());
    for SecretMatch { range, value } in places {
        let range = text.floor_char_boundary(range.start)..text.ceil_char_boundary(range.end);
        match merged.last_mut() {
            Some(last) if range.start < last.range.end => last.range.end = last.range.end.max(range.end),
            _ => merged.push(SecretMatch { range, value }),
        }
    }
    merged
}

/// Returns the beginning of the value, if the text is truncated after it.
fn head(bytes: &[u8], start: usize, value: &[u8]) -> Option<Range<usize>> {
    let length = bytes[start..].iter().zip(value).take_while(|(a, b)| a == b).count();
    let rest = &bytes[start + length..];
    let rest = &rest[rest.iter().take_while(|byte| matches!(byte, b' ' | b'[' | b'(')).count()..];
    let cut = rest.is_empty() || rest.starts_with("…".as_bytes()) || rest.starts_with(b"...");
    (cut && length >= shortest_rest(&value[..MIN_FRAGMENT_BYTES])).then(|| start..start + length)
}

/// Returns the end of the value, if the text is truncated before it.
fn tail(bytes: &[u8], end: usize, value: &[u8]) -> Option<Range<usize>> {
    let length = bytes[..end].iter().rev().zip(value.iter().rev()).take_while(|(a, b)| a == b).count();
    let before = &bytes[..end - length];
    let spaces = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b']' | b')')).count();
    let before = &before[..before.len() - spaces];
    let cut = before.is_empty() || before.ends_with("…".as_bytes()) || before.ends_with(b"...");
    (cut && length >= shortest_rest(&value[value.len() - MIN_FRAGMENT_BYTES..])).then(|| end - length..end)
}

fn shortest_rest(part: &[u8]) -> usize {
    if part.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b' ') {
        MIN_WORD_FRAGMENT_BYTES
    } else {
        MIN_FRAGMENT_BYTES
    }
}

/// Extends a match of base64 by the characters beside it, which contain some of the value's bits.
fn with_neighbours(bytes: &[u8], place: Range<usize>) -> Range<usize> {
    let is_base64 = |at: usize| bytes.get(at).is_some_and(|byte| is_base64(*byte));
    let start = if place.start > 0 && is_base64(place.start - 1) { place.start - 1 } else { place.start };
    let end = if is_base64(place.end) { place.end + 1 } else { place.end };
    start..end
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// Returns the part of a value's base64 that does not depend on the bytes around the value. `before` is the value's
/// offset from a border of three bytes.
fn base64(value: &[u8], before: usize, alphabet: &[u8; 64]) -> Vec<u8> {
    let bit = |at: usize| -> u8 { value.get(at / 8).map_or(0, |byte| byte >> (7 - at % 8) & 1) };
    // The first character that contains only bits of the value, and the number of such characters.
    let skipped = (before * 8).div_ceil(6) * 6 - before * 8;
    let characters = (value.len() * 8).saturating_sub(skipped) / 6;
    let character = |number: usize| {
        let from = skipped + number * 6;
        alphabet[(0..6).fold(0, |bits, at| bits << 1 | usize::from(bit(from + at)))]
    };
    (0..characters).map(character).collect()
}

fn hex(value: &[u8], digits: &[u8; 16]) -> Vec<u8> {
    value.iter().flat_map(|byte| [digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]).collect()
}

/// Returns the value as forms send it; empty if that is the same.
fn with_plus(value: &str) -> Vec<u8> {
    if value.contains(' ') { value.replace(' ', "+").into_bytes() } else { Vec::new() }
}

/// Returns the value as it is in HTML and XML; empty if that is the same.
fn as_html(value: &str) -> Vec<u8> {
    if !value.contains(['&', '<', '>', '"', '\'']) {
        return Vec::new();
    }
    let pairs = [('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;"), ('\'', "&#39;")];
    pairs.iter().fold(value.to_owned(), |text, (plain, escaped)| text.replace(*plain, escaped)).into_bytes()
}

/// A decoded view of a text: its bytes, and where in the text each of them comes from.
struct View<'a> {
    plain: &'a [u8],
    /// None if the view is the text itself.
    read: Option<(Vec<u8>, Vec<usize>)>,
}

impl<'a> View<'a> {
    fn plain(plain: &'a [u8]) -> Self {
        Self { plain, read: None }
    }

    fn bytes(&self) -> &[u8] {
        self.read.as_ref().map_or(self.plain, |(bytes, _)| bytes)
    }

    fn original(&self, place: Range<usize>) -> Range<usize> {
        match &self.read {
            Some((_, places)) => places[place.start]..places[place.end],
            None => place,
        }
    }

    fn place(&self, at: usize) -> usize {
        self.read.as_ref().map_or(at, |(_, places)| places[at])
    }

    /// Returns a view decoded by `next`. At each position, `next` returns the decoded bytes and how many bytes they took,
    /// or `None` if the byte is not escaped.
    fn derived(&self, next: impl Fn(&[u8]) -> Option<(Decoded, usize)>) -> Self {
        let bytes = self.bytes();
        let mut read = Vec::with_capacity(bytes.len());
        let mut places = Vec::with_capacity(bytes.len() + 1);
        let mut at = 0;
        while at < bytes.len() {
            let (decoded, length) = next(&bytes[at..]).unwrap_or((Decoded::byte(bytes[at]), 1));
            places.extend(std::iter::repeat_n(self.place(at), decoded.bytes().len()));
            read.extend_from_slice(decoded.bytes());
            at += length;
        }
        places.push(self.place(bytes.len()));
        Self { plain: self.plain, read: Some((read, places)) }
    }

    /// Returns a view with one layer of backslash escapes removed, as in JSON, shells and most languages, or `None` if
    /// there is no backslash.
    fn unescaped(&self) -> Option<Self> {
        memchr(b'\\', self.bytes())?;
        Some(self.derived(unescape))
    }

    /// Returns a view with each `%XX` decoded, or `None` if there is none.
    fn percent_decoded(&self) -> Option<Self> {
        let bytes = self.bytes();
        memchr(b'%', bytes)?;
        let is_one = |at: usize| percent(&bytes[at..]).is_some();
        memchr::memchr_iter(b'%', bytes).any(is_one).then(|| self.derived(percent))
    }

    /// Returns a view with wrapped lines of base64 joined, or `None` if there are none.
    fn joined(&self) -> Option<Self> {
        let bytes = self.bytes();
        let mut cuts: Vec<Range<usize>> = Vec::new();
        let mut line = 0;
        for end in memchr::memchr_iter(b'\n', bytes) {
            let text = bytes[line..end].strip_suffix(b"\r").unwrap_or(&bytes[line..end]);
            // The line may be in a list or a diff, so only its end must be base64.
            let tail = &text[text.len().saturating_sub(MIN_BASE64_LINE_BYTES)..];
            if tail.len() == MIN_BASE64_LINE_BYTES && tail.iter().all(|byte| is_base64(*byte)) {
                let indent = bytes[end + 1..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
                cuts.push(line + text.len()..end + 1 + indent);
            }
            line = end + 1;
        }
        if cuts.is_empty() {
            return None;
        }
        let mut read = Vec::with_capacity(bytes.len());
        let mut places = Vec::with_capacity(bytes.len() + 1);
        let mut at = 0;
        for cut in cuts.into_iter().chain(std::iter::once(bytes.len()..bytes.len())) {
            read.extend_from_slice(&bytes[at..cut.start]);
            places.extend((at..cut.start).map(|at| self.place(at)));
            at = cut.end;
        }
        places.push(self.place(bytes.len()));
        Some(Self { plain: self.plain, read: Some((read, places)) })
    }
}

/// One to four bytes.
struct Decoded([u8; 4], usize);

impl Decoded {
    fn byte(byte: u8) -> Self {
        Self([byte, 0, 0, 0], 1)
    }

    fn char(c: char) -> Self {
        let mut bytes = [0; 4];
        let length = c.encode_utf8(&mut bytes).len();
        Self(bytes, length)
    }

    fn bytes(&self) -> &[u8] {
        &self.0[..self.1]
    }
}

fn unescape(bytes: &[u8]) -> Option<(Decoded, usize)> {
    let [b'\\', escaped, ..] = bytes else { return None };
    let plain = match escaped {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 8,
        b'f' => 12,
        b'u' => return unicode(bytes),
        b'x' => return Some((Decoded::byte(hex_byte(bytes.get(2..4)?)?), 4)),
        other if other.is_ascii_punctuation() => *other,
        _ => return None,
    };
    Some((Decoded::byte(plain), 2))
}

fn unicode(bytes: &[u8]) -> Option<(Decoded, usize)> {
    let unit = |at: usize| -> Option<u16> {
        let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        Some(u16::from(hex_byte(&digits[..2])?) << 8 | u16::from(hex_byte(&digits[2..])?))
    };
    let first = unit(0)?;
    let units: Vec<u16> = if (0xd800..0xdc00).contains(&first) { vec![first, unit(6)?] } else { vec![first] };
    let c = char::decode_utf16(units.iter().copied()).next()?.ok()?;
    Some((Decoded::char(c), units.len() * 6))
}

fn percent(bytes: &[u8]) -> Option<(Decoded, usize)> {
    let [b'%', high, low, ..] = bytes else { return None };
    Some((Decoded::byte(hex_byte(&[*high, *low])?), 3))
}

fn hex_byte(digits: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(*digits.first()?)? << 4 | digit(*digits.get(1)?)?).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECRET: &str = "Zk7#qP\"9\\x t&Lé2";

    fn cleaned(text: &str) -> String {
        let masks = SecretMatcher::new([SECRET].into_iter()).unwrap();
        masks.replace(text, &masks.find(text), |_| "[M]".into())
    }

    fn json(text: &str) -> String {
        serde_json::to_string(text).unwrap()
    }

    fn encoded(bytes: &[u8], alphabet: &[u8; 64]) -> String {
        let mut out = String::new();
        for chunk in bytes.chunks(3) {
            let bits = (0..3).fold(0_usize, |bits, at| bits << 8 | usize::from(*chunk.get(at).unwrap_or(&0)));
            out.extend((0..=chunk.len()).map(|at| char::from(alphabet[bits >> (18 - at * 6) & 63])));
            out.extend(std::iter::repeat_n('=', 3 - chunk.len()));
        }
        out
    }

    fn percent_encoded(text: &str, all: bool) -> String {
        text.bytes()
            .map(|b| if !all && b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02x}") })
            .collect()
    }

    #[test]
    fn every_form_is_found() {
        let units: String = SECRET.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect::<Vec<_>>().concat();
        for form in [
            SECRET.to_owned(),
            json(SECRET),
            json(&json(SECRET)),
            json(&json(&json(SECRET))),
            units,
            percent_encoded(SECRET, false),
            percent_encoded(SECRET, true).to_uppercase(),
            percent_encoded(&percent_encoded(SECRET, false), false),
            json(&percent_encoded(SECRET, false)),
            percent_encoded(SECRET, false).replace("%20", "+"),
            SECRET.bytes().map(|b| format!("{b:02x}")).collect::<Vec<_>>().concat(),
            SECRET.bytes().map(|b| format!("{b:02X}")).collect::<Vec<_>>().concat(),
            SECRET.replace('&', "&amp;").replace('"', "&quot;"),
        ] {
            let left = cleaned(&format!("before <{form}> 뒤"));
            assert_eq!(left.replace(['\\', '"'], ""), "before <[M]> 뒤", "{form}");
        }
    }

    #[test]
    fn base64_at_every_alignment_and_over_lines() {
        for alphabet in ALPHABETS {
            for before in 0..7 {
                let form = encoded(format!("{}{SECRET}behind", "u".repeat(before)).as_bytes(), alphabet);
                let left = cleaned(&form);
                assert!(left.contains("[M]"), "{form}");
                let inner = base64(SECRET.as_bytes(), before % 3, alphabet);
                assert!(!left.contains(std::str::from_utf8(&inner[..2]).unwrap()), "{left}");
            }
            let long = encoded(format!("{}{SECRET}{}", "a".repeat(50), "b".repeat(50)).as_bytes(), alphabet);
            let lines: Vec<&str> = long.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).unwrap()).collect();
            assert!(cleaned(&lines.join("\n  ")).contains("[M]"));
            assert!(cleaned(&json(&lines.join("\n"))).contains("[M]"));
        }
    }

    #[test]
    fn what_was_cut_off_is_found() {
        for (text, wanted) in [
            (format!("x {}…", &SECRET[..8]), "x [M]…"),
            (format!("x {} ... and on", &SECRET[..9]), "x [M] ... and on"),
            (format!("x {}", &SECRET[..7]), "x [M]"),
            (format!("…{} and on", &SECRET[6..]), "…[M] and on"),
            (format!("{} and on", &SECRET[8..]), "[M] and on"),
        ] {
            assert_eq!(cleaned(&text), wanted);
        }
        // In the middle of a text it counts as something else.
        assert!(!cleaned(&format!("x {}y z", &SECRET[..8])).contains("[M]"));
    }

    #[test]
    fn values_that_overlap_leave_nothing() {
        let masks = SecretMatcher::new(["abcdefGH12", "GH12345678", "cdefGH"].into_iter()).unwrap();
        let text = "x abcdefGH12345678 y";
        assert_eq!(masks.replace(text, &masks.find(text), |_| "[M]".into()), "x [M] y");
    }

    proptest! {
        #[test]
        fn no_text_makes_it_fail_and_what_is_masked_stays_so(text in "[a\\\\%u0-9\n\"x\u{ac00}Zk7#]{0,300}") {
            let once = cleaned(&text);
            prop_assert_eq!(cleaned(&once), once.clone());
        }

        #[test]
        fn wherever_it_stands_it_is_gone(before in "\\PC{0,40}", after in "\\PC{0,40}", layers in 0_usize..4) {
            let mut text = format!("{before}{SECRET}{after}");
            for _ in 0..layers {
                text = json(&text);
            }
            let mut left = cleaned(&text);
            for _ in 0..layers {
                if let Ok(inner) = serde_json::from_str::<String>(&left) {
                    left = inner;
                }
            }
            prop_assert!(!left.contains(SECRET), "{}", left);
        }
    }
}
