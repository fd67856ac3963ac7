//! JSON values that are scanned without being built. Values are borrowed, one scan finds their parts, and strings are
//! decoded only on demand.
//!
//! Nearly all bytes of a transcript lie inside strings, and nobody asks for most of them. So a string is skipped by a search
//! for the next quote or backslash, many bytes at a time. The grammar outside of strings is checked in full. Inside, a control
//! character that JSON forbids is let pass.

use std::borrow::Cow;

use memchr::memchr2;
use serde::de::IgnoredAny;

/// One JSON value, exactly as written in the line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Raw<'a>(&'a str);

impl<'a> Raw<'a> {
    /// Returns the value that the whole text is, or none if it is not JSON.
    #[cfg(test)]
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        (value_end(text.as_bytes(), 0)? == text.len()).then_some(Self(text))
    }

    /// Returns the JSON text of the value.
    pub(crate) fn json(self) -> &'a str {
        self.0
    }

    /// Returns the decoded string, or none for every other type. Escapes that do not name a character become U+FFFD.
    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        let inner = self.0.strip_prefix('"')?.strip_suffix('"')?;
        Some(unescape(inner))
    }

    /// Returns whether the value is the literal `true`.
    pub(crate) fn is_true(self) -> bool {
        self.0 == "true"
    }

    /// Returns whether the value is an array.
    pub(crate) fn is_array(self) -> bool {
        self.0.starts_with('[')
    }

    /// Visits each key and value of an object. Does nothing for every other type.
    pub(crate) fn fields(self, visit: impl FnMut(&[u8], Raw<'a>)) {
        // The value was scanned as a whole before, so it is valid.
        let _ = read_fields(self.0, visit);
    }

    /// Visits each element of an array. Does nothing for every other type.
    pub(crate) fn items(self, mut visit: impl FnMut(Raw<'a>)) {
        self.read_items(|rest| {
            let (value, end) = read_value(rest)?;
            visit(value);
            Some(end)
        });
    }

    /// Reads each element of an array with `read`, which is given the text from an element on and returns where the element ends.
    /// Does nothing for every other type.
    pub(crate) fn read_items(self, read: impl FnMut(&'a str) -> Option<usize>) {
        if self.is_array() {
            let _ = read_items(self.0, read);
        }
    }

    /// Returns one field of an object.
    pub(crate) fn get(self, key: &str) -> Option<Raw<'a>> {
        let mut found = None;
        self.fields(|name, value| {
            if name == key.as_bytes() {
                found = Some(value);
            }
        });
        found
    }

    /// Returns one field of an object as text.
    pub(crate) fn get_text(self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key)?.text()
    }
}

/// Visits the fields of the object at the beginning of a text, and returns its end. Returns none where it is not JSON; the
/// fields before that place were visited.
pub(crate) fn read_fields<'a>(text: &'a str, mut visit: impl FnMut(&[u8], Raw<'a>)) -> Option<usize> {
    read_object(text, |key, rest| {
        let (value, end) = read_value(rest)?;
        visit(key, value);
        Some(end)
    })
}

/// Returns the value at the beginning of a text, and its end.
pub(crate) fn read_value(text: &str) -> Option<(Raw<'_>, usize)> {
    let end = value_end(text.as_bytes(), 0)?;
    Some((Raw(text.get(..end)?), end))
}

/// Reads the object at the beginning of a text, and returns its end. `read` is given each key and the text from its value on, and
/// returns where the value ends. So what is in a value can be read while its end is looked for.
pub(crate) fn read_object<'a>(text: &'a str, mut read: impl FnMut(&[u8], &'a str) -> Option<usize>) -> Option<usize> {
    let bytes = text.as_bytes();
    if bytes.first() != Some(&b'{') {
        return None;
    }
    let mut at = skip_space(bytes, 1);
    if bytes.get(at) == Some(&b'}') {
        return Some(at + 1);
    }
    loop {
        if bytes.get(at) != Some(&b'"') {
            return None;
        }
        let key = string_end(bytes, at + 1)?;
        let value = value_start(bytes, key)?;
        let end = value + read(unescape(text.get(at + 1..key - 1)?).as_bytes(), text.get(value..)?)?;
        at = skip_space(bytes, end);
        match bytes.get(at)? {
            b',' => at = skip_space(bytes, at + 1),
            b'}' => return Some(at + 1),
            _ => return None,
        }
    }
}

/// Reads the elements of the array that a text is, up to where it is not JSON. `read` is given the text from an element on, and
/// returns where the element ends.
fn read_items<'a>(text: &'a str, mut read: impl FnMut(&'a str) -> Option<usize>) -> Option<()> {
    let bytes = text.as_bytes();
    let mut at = skip_space(bytes, 1);
    if bytes.get(at) == Some(&b']') {
        return Some(());
    }
    loop {
        let end = at + read(text.get(at..)?)?;
        at = skip_space(bytes, end);
        match bytes.get(at)? {
            b',' => at = skip_space(bytes, at + 1),
            _ => return Some(()),
        }
    }
}

/// Returns the end of the value that begins at `at`, or none if there is no JSON value.
fn value_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    // What closes each object and array that is open.
    let mut open: Vec<u8> = Vec::new();
    loop {
        match bytes.get(at)? {
            b'"' => at = string_end(bytes, at + 1)?,
            bracket @ (b'{' | b'[') => {
                // In ASCII, each closing bracket stands two places behind its opening one.
                let closing = bracket + 2;
                at = skip_space(bytes, at + 1);
                if *bytes.get(at)? == closing {
                    at += 1;
                } else {
                    open.push(closing);
                    if closing == b'}' {
                        at = key_end(bytes, at)?;
                    }
                    continue;
                }
            }
            _ => at = scalar_end(bytes, at)?,
        }
        // A value is over: the next begins, or what it is in is over too.
        loop {
            let Some(closing) = open.last() else { return Some(at) };
            at = skip_space(bytes, at);
            match *bytes.get(at)? {
                b',' => {
                    at = skip_space(bytes, at + 1);
                    if *closing == b'}' {
                        at = key_end(bytes, at)?;
                    }
                    break;
                }
                byte if byte == *closing => {
                    open.pop();
                    at += 1;
                }
                _ => return None,
            }
        }
    }
}

/// Returns the beginning of the value whose key begins at `at`.
fn key_end(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes.get(at) != Some(&b'"') {
        return None;
    }
    value_start(bytes, string_end(bytes, at + 1)?)
}

/// Returns the beginning of the value whose key ends at `at`.
fn value_start(bytes: &[u8], at: usize) -> Option<usize> {
    let colon = skip_space(bytes, at);
    (bytes.get(colon) == Some(&b':')).then(|| skip_space(bytes, colon + 1))
}

fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\t' | b'\r') = bytes.get(at) {
        at += 1;
    }
    at
}

/// Returns the end of the string whose inside begins at `at`, behind the closing quote.
fn string_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += match bytes.get(at + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
            b'u' if bytes.get(at + 2..at + 6)?.iter().all(u8::is_ascii_hexdigit) => 6,
            _ => return None,
        };
    }
}

/// Returns the end of a number, `true`, `false` or `null`.
fn scalar_end(bytes: &[u8], at: usize) -> Option<usize> {
    let word: &[u8] = match bytes.get(at)? {
        b't' => b"true",
        b'f' => b"false",
        b'n' => b"null",
        _ => return number_end(bytes, at),
    };
    bytes.get(at..)?.starts_with(word).then_some(at + word.len())
}

fn number_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    let digits = |from: usize| from + bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    at += usize::from(bytes.get(at) == Some(&b'-'));
    let whole = if bytes.get(at)? == &b'0' { at + 1 } else { digits(at) };
    if whole == at {
        return None;
    }
    at = whole;
    if bytes.get(at) == Some(&b'.') {
        let fraction = digits(at + 1);
        if fraction == at + 1 {
            return None;
        }
        at = fraction;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        let exponent = at + 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        at = digits(exponent);
        if at == exponent {
            return None;
        }
    }
    Some(at)
}

/// Returns whether the text is one JSON value of any type.
pub(crate) fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Decodes the inside of a JSON string. Never fails: an invalid escape stays as written, and half of a surrogate pair
/// becomes U+FFFD, as it does where the agent displays it.
fn unescape(inner: &str) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(b'\\', inner.as_bytes()) else {
        return Cow::Borrowed(inner);
    };
    let mut text = String::with_capacity(inner.len());
    text.push_str(&inner[..first]);
    let mut rest = &inner[first..];
    while let Some(after) = rest.strip_prefix('\\') {
        let Some(kind) = after.chars().next() else {
            break;
        };
        rest = &after[kind.len_utf8()..];
        match kind {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            'u' => {
                let (decoded, left) = unescape_unicode(rest);
                text.push(decoded);
                rest = left;
            }
            literal => text.push(literal),
        }
        let plain = memchr::memchr(b'\\', rest.as_bytes()).unwrap_or(rest.len());
        text.push_str(&rest[..plain]);
        rest = &rest[plain..];
    }
    Cow::Owned(text)
}

/// Decodes `XXXX`, or `XXXX\uXXXX` if that is a surrogate pair. Returns the character and the rest of the text.
fn unescape_unicode(rest: &str) -> (char, &str) {
    let Some((unit, left)) = code_unit(rest) else {
        return (char::REPLACEMENT_CHARACTER, rest);
    };
    if let Some(c) = char::from_u32(unit) {
        return (c, left);
    }
    if unit < 0xdc00
        && let Some((low @ 0xdc00..=0xdfff, after)) = left.strip_prefix("\\u").and_then(code_unit)
        && let Some(c) = char::from_u32(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00))
    {
        return (c, after);
    }
    (char::REPLACEMENT_CHARACTER, left)
}

fn code_unit(text: &str) -> Option<(u32, &str)> {
    let digits = text.get(..4)?;
    Some((u32::from_str_radix(digits, 16).ok()?, &text[4..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lone_surrogates_become_replacement_characters() {
        assert_eq!(unescape(r"a\ud83db"), "a\u{fffd}b");
        assert_eq!(unescape(r"\ud83d\ude00"), "😀");
        assert_eq!(unescape(r"\ud83d\u0041"), "\u{fffd}A");
        assert_eq!(unescape(r"\u12"), "\u{fffd}12");
    }

    #[test]
    fn fields_with_broken_keys_are_still_visited() {
        let line = r#"{"\ud83d":1,"b":[true,{"c":"d"}]}"#;
        let raw = Raw::parse(line).unwrap();
        let mut items = 0;
        raw.get("b").unwrap().items(|_| items += 1);
        assert_eq!(items, 2);
    }

    /// JSON, and texts that are nearly JSON.
    fn nearly_json() -> impl Strategy<Value = String> {
        const PARTS: &[&str] = &[
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            " ",
            "\"",
            "\"a\"",
            "\"a\":",
            "\\",
            "\"\\u00e9\"",
            "\"\\x\"",
            "\"é\"",
            "0",
            "01",
            "-1",
            "-",
            "1.5",
            "1.",
            "2e9",
            "2e+",
            "true",
            "tru",
            "false",
            "null",
            "{}",
            "[ ]",
            "[1, 2]",
            "{\"a\" : [true]}",
        ];
        prop::collection::vec(prop::sample::select(PARTS), 1..12).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn json_is_what_serde_json_takes_for_json(text in nearly_json()) {
            let trimmed = text.trim();
            prop_assert_eq!(Raw::parse(trimmed).is_some(), is_json(trimmed), "{}", trimmed);
        }

        #[test]
        fn fields_and_items_are_what_serde_json_finds(text in nearly_json()) {
            let Some(raw) = Raw::parse(&text) else { return Ok(()) };
            // A number such as 2e901 is JSON, but no number that a `Value` can hold.
            let Ok(value) = serde_json::from_str::<serde_json::Value>(&text) else { return Ok(()) };
            let parsed = |raw: Raw<'_>| serde_json::from_str::<serde_json::Value>(raw.json()).unwrap();
            let mut fields = serde_json::Map::new();
            raw.fields(|key, field| drop(fields.insert(String::from_utf8(key.to_vec()).unwrap(), parsed(field))));
            prop_assert_eq!(fields, value.as_object().cloned().unwrap_or_default());
            let mut items = Vec::new();
            raw.items(|item| items.push(parsed(item)));
            prop_assert_eq!(items, value.as_array().cloned().unwrap_or_default());
        }

        #[test]
        fn text_is_what_serde_json_says(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(Raw::parse(&json).unwrap().text().unwrap(), text);
        }

        #[test]
        fn unescaping_never_panics(inner in any::<String>()) {
            unescape(&inner);
        }
    }
}
