//! Access to the fields of a hook's payload that several agents have in common.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde_json::value::RawValue;

use throughline_model::project::Project;

use super::event::ToolUse;
use super::shorten;

/// How many bytes a hook reads from its standard input at most. Ordinary payloads have a few kilobytes; a tool response
/// that contains an image has 240 KB.
pub const MAX_INPUT_BYTES: u64 = 32 << 20;

/// The longest identifier that is accepted, in bytes.
pub(super) const MAX_ID_BYTES: usize = 256;

/// The longest session identifier that is accepted, in bytes.
const MAX_SESSION_ID_BYTES: usize = 128;

/// How many calls of one batch are read at most.
pub(super) const MAX_TOOL_USES: usize = 256;

/// Why a payload cannot be used.
#[derive(Debug)]
pub enum PayloadError {
    /// Standard input was empty.
    Empty,
    /// The input is not a JSON object.
    NotJson(String),
    /// The payload names no session.
    NoSession,
}

impl fmt::Display for PayloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "the hook received no input"),
            Self::NotJson(why) => write!(f, "the hook's input is not a JSON object: {why}"),
            Self::NoSession => write!(f, "the hook's input does not name a session"),
        }
    }
}

/// The fields of a payload, unparsed, because most are never read and some are megabytes long.
pub(super) struct Fields<'a>(BTreeMap<String, &'a RawValue>);

impl<'a> Fields<'a> {
    /// Parses the payload that came on standard input.
    pub(super) fn of_payload(input: &'a [u8]) -> Result<Self, PayloadError> {
        if input.iter().all(u8::is_ascii_whitespace) {
            return Err(PayloadError::Empty);
        }
        Self::parse(input).map_err(|error| PayloadError::NotJson(error.to_string()))
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

    /// Returns a string field unless it is empty.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        self.get::<String>(key).filter(|text| !text.is_empty())
    }

    /// Returns the absolute path of a folder; empty if the field has none. A relative path would be looked up in the
    /// hook's own folder.
    pub(super) fn folder(&self, key: &str) -> PathBuf {
        self.text(key).filter(|folder| Project::is_absolute_path(folder)).map(PathBuf::from).unwrap_or_default()
    }

    /// Returns the session's identifier.
    pub(super) fn session(&self, key: &str) -> Result<String, PayloadError> {
        self.text(key).filter(|id| id.len() <= MAX_SESSION_ID_BYTES).ok_or(PayloadError::NoSession)
    }

    /// Returns any other identifier.
    pub(super) fn id(&self, key: &str) -> Option<String> {
        self.text(key).filter(|id| id.len() <= MAX_ID_BYTES)
    }

    /// Returns a field as JSON with its long strings shortened; empty if the field is missing.
    pub(super) fn json(&self, key: &str) -> String {
        self.raw(key).map(shorten::shorten).unwrap_or_default()
    }

    /// Returns a field as a JSON value with its long strings shortened. Some agents encode JSON in a string; it is
    /// parsed too.
    pub(super) fn value(&self, key: &str) -> serde_json::Value {
        let value = serde_json::from_str(&self.json(key)).unwrap_or_default();
        match &value {
            serde_json::Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
                serde_json::from_str(text).unwrap_or(value)
            }
            _ => value,
        }
    }

    /// Returns the tool call of a payload in Claude Code's format.
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
