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

/// The most that the items of one page take together, as JSON, bytes: some ten thousand tokens, beyond which clients warn or
/// cut. Bytes go with tokens better than characters do: a Korean letter has three bytes and about one token.
pub(super) const MAX_PAGE_BYTES: usize = 32 << 10;

/// Returns how many of the items fit into a page, at least one, so that every page leads on.
pub(super) fn fitting<T: Serialize>(items: &[T]) -> usize {
    let mut room = MAX_PAGE_BYTES;
    let fits = |item: &&T| {
        let bytes = serde_json::to_string(item).map_or(0, |json| json.len());
        let rest = room.checked_sub(bytes);
        room = rest.unwrap_or(0);
        rest.is_some()
    };
    items.iter().take_while(fits).count().max(1).min(items.len())
}

/// How many items a page has if nobody says.
pub(super) fn default_limit() -> u32 {
    10
}

/// Like [`number`], for an argument that can be missing.
pub(super) fn optional_number<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Option<u32>, D::Error> {
    number(deserializer).map(Some)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_what_fits_and_at_least_one_item() {
        let long = "가".repeat(MAX_PAGE_BYTES / 10);
        assert_eq!(fitting(&vec![long.clone(); 10]), 3);
        assert_eq!(fitting(&[long.repeat(9), long]), 1);
        assert_eq!(fitting::<String>(&[]), 0);
    }
}
