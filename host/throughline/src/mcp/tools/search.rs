//! The `memory_search` tool.

use std::fmt::Write as _;

use anyhow::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::{ToolOutput, fitting};
use super::entry::{self, Doubts, Entry};
use crate::mcp::worker::ToolContext;
use crate::mcp::{cursor, quote};
use throughline_engine::hooks::FileChecks;
use throughline_engine::memory::RequestError;
use throughline_engine::search::{SearchOptions, SearchOutcome, SearchRequest, record_lookup};
use throughline_model::contract::Memory;

/// How many results all pages contain together. Results beyond that are not relevant.
const MAX_RESULTS: u32 = 200;

/// The longest query, in bytes.
const MAX_QUERY_BYTES: usize = 4 << 10;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Words, "phrases", -excluded, type:decision, `file:a.rs`, after:2026-01-31, before:7d
    query: String,
    #[serde(default = "super::call::default_limit", deserialize_with = "super::call::number")]
    #[schemars(range(min = 1, max = 50))]
    limit: u32,
    /// `next_cursor` of the previous page
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct SearchPage {
    about: &'static str,
    memories: Vec<Entry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Why results may be missing
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

pub(super) fn search(ctx: &mut ToolContext, arguments: Arguments) -> Result<ToolOutput> {
    let Arguments { query: text, limit, cursor } = arguments;
    if text.len() > MAX_QUERY_BYTES {
        return Err(RequestError::new("the query is longer than 4 KiB", "a few words are enough").into());
    }
    let of = (&ctx.project.id, &text);
    let begin: u32 = cursor::decode("search", &of, cursor.as_deref())?.unwrap_or(0).min(MAX_RESULTS);
    let end = begin.saturating_add(limit.clamp(1, 50)).min(MAX_RESULTS);
    let mut found = SearchPage { about: quote::NOTICE, memories: Vec::new(), next_cursor: None, warning: None };
    if let Some(store) = ctx.open_existing()? {
        let options = SearchOptions { limit: Some(end + 1), ..SearchOptions::default() };
        let request = SearchRequest::explicit(&ctx.runtime, &store, &text, Some(&ctx.project), options)?;
        let SearchOutcome { mut hits, warning } = request.run(&store)?;
        found.warning = warning;
        let all = hits.len();
        hits.truncate(end as usize);
        hits.drain(..hits.len().min(begin as usize));
        let types = entry::note_types(&store, hits.iter().map(|hit| &hit.memory))?;
        let memories: Vec<&Memory> = hits.iter().map(|hit| &hit.memory).collect();
        let doubts = Doubts::of(&store, &FileChecks::for_lookup(&ctx.project.root, ctx.runtime.now), &memories)?;
        let entry = |((memory, of), doubts): ((&Memory, _), _)| Entry::new(memory).of_type(of).with_doubts(doubts);
        found.memories = memories.into_iter().zip(types).zip(doubts).map(entry).collect();
        let shown = fitting(&found.memories);
        found.memories.truncate(shown);
        hits.truncate(shown);
        let next = begin + u32::try_from(shown).unwrap_or(MAX_RESULTS);
        if shown > 0 && all > next as usize && next < MAX_RESULTS {
            found.next_cursor = Some(cursor::encode("search", &of, next));
        }
        let ids: Vec<String> = hits.iter().map(|hit| hit.memory.id.clone()).collect();
        record_lookup(&ctx.runtime, &store, &ids);
    }
    let mut text = String::new();
    if found.memories.is_empty() {
        text.push_str("No memory of this project matches.");
    } else {
        let mut lines = String::new();
        found.memories.iter().for_each(|entry| entry.write(&mut lines));
        text.push_str(&quote::fence(&lines));
    }
    if let Some(cursor) = &found.next_cursor {
        let _ = write!(text, "\nMore: cursor {cursor}");
    }
    if let Some(warning) = &found.warning {
        let _ = write!(text, "\nWarning: {}", quote::line(warning, 300));
    }
    ToolOutput::new(text, &found)
}
