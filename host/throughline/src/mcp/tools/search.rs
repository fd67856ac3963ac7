//! The `memory_search` tool.

use std::fmt::Write as _;

use anyhow::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Said;
use super::entry::{self, Entry};
use crate::mcp::worker::Desk;
use crate::mcp::{cursor, quote};
use throughline_engine::memory::{Refused, probing, types};
use throughline_search::rank;
use throughline_store::Search;

/// How many results all pages contain together. Results beyond that are not relevant.
const REACH: u32 = 200;

/// The longest query, in bytes.
const MOST_QUERY: usize = 4 << 10;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Words, "phrases", -excluded, type:decision, `file:a.rs`, after:2026-01-31, before:7d
    query: String,
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 50))]
    limit: u32,
    /// `next_cursor` of the previous page
    cursor: Option<String>,
}

fn ten() -> u32 {
    10
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Found {
    about: &'static str,
    memories: Vec<Entry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Why results may be missing
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

pub(super) fn search(desk: &mut Desk, arguments: Arguments) -> Result<Said> {
    let Arguments { query: text, limit, cursor } = arguments;
    if text.len() > MOST_QUERY {
        return Err(Refused::new("the query is longer than 4 KiB", "a few words are enough").into());
    }
    let of = (&desk.project.id, &text);
    let begin: u32 = cursor::read("search", &of, cursor.as_deref())?.unwrap_or(0).min(REACH);
    let end = begin.saturating_add(limit.clamp(1, 50)).min(REACH);
    let mut found = Found { about: quote::NOTICE, memories: Vec::new(), next_cursor: None, warning: None };
    if let Some(store) = desk.existing()? {
        let query = types::query(&text, &[], &store, Some(&desk.project))?;
        let profile = rank::profile(&desk.runtime.config.search.profile).unwrap_or(&rank::DEFAULT);
        let (probe, amiss) = probing::probe(&desk.runtime, &store, &query, profile)?;
        let project = Some(desk.project.id.as_str());
        let answer = store.search(&Search {
            profile,
            probe,
            shared: true,
            ..Search::new(&query, project, end + 1, desk.runtime.now)
        })?;
        found.warning = amiss.or(answer.degraded);
        let mut hits = answer.hits;
        if hits.len() > end as usize && end < REACH {
            found.next_cursor = Some(cursor::write("search", &of, end));
        }
        hits.truncate(end as usize);
        hits.drain(..hits.len().min(begin as usize));
        let types = entry::note_types(&store, hits.iter().map(|hit| &hit.memory))?;
        found.memories = hits.iter().zip(types).map(|(hit, of)| Entry::new(&hit.memory).of_type(of)).collect();
        let ids: Vec<String> = hits.iter().map(|hit| hit.memory.id.clone()).collect();
        // Use counts are only bookkeeping: if they cannot be written, the results are still good.
        let _ = store.relax().and_then(|()| store.mark_shown(&ids, None, "lookup", desk.runtime.now));
    }
    let mut text = String::new();
    if found.memories.is_empty() {
        text.push_str("No memory of this project matches.");
    } else {
        let mut lines = String::new();
        found.memories.iter().for_each(|entry| entry.write(&mut lines));
        text.push_str(&quote::fenced(&lines));
    }
    if let Some(cursor) = &found.next_cursor {
        let _ = write!(text, "\nMore: cursor {cursor}");
    }
    if let Some(warning) = &found.warning {
        let _ = write!(text, "\nWarning: {}", quote::line(warning, 300));
    }
    Said::new(text, &found)
}
