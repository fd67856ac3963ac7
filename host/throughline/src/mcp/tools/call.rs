//! What a call of a tool takes and returns.

use anyhow::Result;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::mcp::quote;
use throughline_engine::memory::RequestError;

/// The result of a call: text for the model, and structured data for programs.
pub(in crate::mcp) struct ToolOutput {
    pub(in crate::mcp) text: String,
    pub(in crate::mcp) structured: Value,
}

impl ToolOutput {
    pub(in crate::mcp) fn new(text: String, structured: &impl Serialize) -> Result<Self> {
        Ok(Self { text, structured: serde_json::to_value(structured)? })
    }
}

impl From<ToolOutput> for CallToolResult {
    fn from(said: ToolOutput) -> Self {
        let mut result = Self::success(vec![ContentBlock::text(said.text)]);
        result.structured_content = Some(said.structured);
        result
    }
}

/// Parses the arguments of a call.
pub(super) fn parse_arguments<T: DeserializeOwned>(arguments: JsonObject) -> Result<T> {
    serde_json::from_value(Value::Object(arguments)).map_err(|error| {
        let what = quote::line(&format!("invalid arguments: {error}"), 300);
        RequestError::new(what, "see the tool's input schema").into()
    })
}

/// Reads an integer, also from a string: some models quote numbers.
pub(super) fn number<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<u32, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Number {
        Plain(u32),
        Quoted(String),
    }
    match Number::deserialize(deserializer)? {
        Number::Plain(number) => Ok(number),
        Number::Quoted(text) => text.trim().parse().map_err(|_| D::Error::custom(format!("{text:?} is not a whole number"))),
    }
}
