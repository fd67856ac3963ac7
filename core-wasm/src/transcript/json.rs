//! JSON values that are scanned without being built. Values are borrowed, one scan finds their parts, and strings are
//! decoded only on demand.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// One JSON value, exactly as written in the line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Raw<'a>(&'a str);

impl<'a> Raw<'a> {
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

    /// Returns whether the value is an object.
    pub(crate) fn is_object(self) -> bool {
        self.0.starts_with('{')
    }

    /// Returns whether the value is an array.
    pub(crate) fn is_array(self) -> bool {
        self.0.starts_with('[')
    }

    /// Visits each key and value of an object. Does nothing for every other type.
    pub(crate) fn fields(self, visit: impl FnMut(&[u8], Raw<'a>)) {
        if self.is_object() {
            // The value was scanned as a whole before, so it is valid.
            let _ = Fields::read(&mut serde_json::Deserializer::from_str(self.0), visit);
        }
    }

    /// Visits each element of an array. Does nothing for every other type.
    pub(crate) fn items(self, visit: impl FnMut(Raw<'a>)) {
        if self.is_array() {
            let _ = serde_json::Deserializer::from_str(self.0).deserialize_seq(Items(visit));
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

impl<'de: 'a, 'a> Deserialize<'de> for Raw<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&RawValue>::deserialize(deserializer).map(|raw| Raw(raw.get()))
    }
}

/// A serde visitor for the fields of an object.
pub(crate) struct Fields<F>(F);

impl<F> Fields<F> {
    /// Reads one object from `deserializer`.
    pub(crate) fn read<'de, D>(deserializer: D, visit: F) -> Result<(), D::Error>
    where
        D: Deserializer<'de>,
        F: FnMut(&[u8], Raw<'de>),
    {
        deserializer.deserialize_map(Fields(visit))
    }
}

impl<'de, F: FnMut(&[u8], Raw<'de>)> Visitor<'de> for Fields<F> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(Key(key)) = map.next_key()? {
            let value = map.next_value::<Raw<'de>>()?;
            (self.0)(&key, value);
        }
        Ok(())
    }
}

/// A key as bytes. As a string, half of a surrogate pair in one key would make the whole object fail.
struct Key<'a>(Cow<'a, [u8]>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(KeyVisitor).map(Key)
    }
}

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = Cow<'de, [u8]>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(bytes))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Ok(Cow::Owned(bytes.to_vec()))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text.as_bytes()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.as_bytes().to_vec()))
    }
}

struct Items<F>(F);

impl<'de, F: FnMut(Raw<'de>)> Visitor<'de> for Items<F> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        while let Some(item) = seq.next_element()? {
            (self.0)(item);
        }
        Ok(())
    }
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
        let raw: Raw<'_> = serde_json::from_str(line).unwrap();
        let mut items = 0;
        raw.get("b").unwrap().items(|_| items += 1);
        assert_eq!(items, 2);
    }

    proptest! {
        #[test]
        fn text_is_what_serde_json_says(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            let raw: Raw<'_> = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(raw.text().unwrap(), text);
        }

        #[test]
        fn unescaping_never_panics(inner in any::<String>()) {
            unescape(&inner);
        }
    }
}
