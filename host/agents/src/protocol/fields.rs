//! The members of a hook's payload, as far as the agents have them in common.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::value::RawValue;

use super::{ToolUse, shorten};

/// The most bytes that a hook reads from its standard input. Ordinary payloads have a few kilobytes; a tool's response
/// with an image in it has 240 KB.
pub const MOST_INPUT_BYTES: u64 = 32 << 20;

/// The longest identifier that is taken for one, bytes.
pub(super) const MOST_ID: usize = 256;

/// The longest identifier of a session, bytes.
const MOST_SESSION: usize = 128;

/// The most uses of one batch.
pub(super) const MOST_USES: usize = 256;

/// Why a payload is not understood.
#[derive(Debug)]
pub enum Unreadable {
    /// Nothing came.
    Empty,
    /// It is not a JSON object.
    NotJson(String),
    /// It names no session.
    NoSession,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "the hook was called without input"),
            Self::NotJson(why) => write!(f, "the hook's input is not a JSON object: {why}"),
            Self::NoSession => write!(f, "the hook's input names no session"),
        }
    }
}

/// The members of a payload, unparsed: most are not looked at, and some are megabytes long.
pub(super) struct Fields<'a>(BTreeMap<String, &'a RawValue>);

impl<'a> Fields<'a> {
    /// The members of what came on standard input.
    pub(super) fn of_payload(input: &'a [u8]) -> Result<Self, Unreadable> {
        if input.iter().all(u8::is_ascii_whitespace) {
            return Err(Unreadable::Empty);
        }
        Self::parse(input).map_err(|error| Unreadable::NotJson(error.to_string()))
    }

    pub(super) fn parse(json: &'a [u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(json).map(Self)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    pub(super) fn raw(&self, key: &str) -> Option<&'a str> {
        self.0.get(key).map(|raw| raw.get()).filter(|raw| *raw != "null")
    }

    pub(super) fn get<T: serde::de::DeserializeOwned>(&self, key: &str) -> Option<T> {
        serde_json::from_str(self.raw(key)?).ok()
    }

    /// A text that is not empty.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        self.get::<String>(key).filter(|text| !text.is_empty())
    }

    /// The identifier of the session.
    pub(super) fn session(&self, key: &str) -> Result<String, Unreadable> {
        self.text(key).filter(|id| id.len() <= MOST_SESSION).ok_or(Unreadable::NoSession)
    }

    /// An identifier of something else.
    pub(super) fn id(&self, key: &str) -> Option<String> {
        self.text(key).filter(|id| id.len() <= MOST_ID)
    }

    /// A member as JSON, its long texts shortened; empty where there is none.
    pub(super) fn json(&self, key: &str) -> String {
        self.raw(key).map(shorten::shorten).unwrap_or_default()
    }

    /// The same, parsed. Some agents put JSON into a text.
    pub(super) fn value(&self, key: &str) -> serde_json::Value {
        let value = serde_json::from_str(&self.json(key)).unwrap_or_default();
        match &value {
            serde_json::Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
                serde_json::from_str(text).unwrap_or(value)
            }
            _ => value,
        }
    }

    /// The use of a tool in Claude Code's form.
    pub(super) fn tool_use(&self) -> Option<ToolUse> {
        Some(ToolUse {
            id: self.id("tool_use_id")?,
            tool: self.id("tool_name")?,
            input: self.json("tool_input"),
            output: self.json("tool_response"),
            error: self.raw("error").map(|raw| {
                let short = shorten::shorten(raw);
                serde_json::from_str(&short).unwrap_or(short)
            }),
            interrupted: self.get("is_interrupt").unwrap_or_default(),
            duration: self.get("duration_ms"),
        })
    }
}
