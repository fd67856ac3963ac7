//! The `memory_save` tool.

use anyhow::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::ToolOutput;
use crate::mcp::quote;
use crate::mcp::worker::ToolContext;
use throughline_engine::memory::saving::{self, Author, SaveRequest};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// learning, preference, correction, decision, root-cause, architecture-decision, debug-eliminated, pattern-discovery,
    /// security-finding, deviation, `session_summary`, …
    #[serde(rename = "type", default = "learning")]
    kind: String,
    /// One line; default: the content's first
    title: Option<String>,
    /// What to remember, and why
    content: String,
    /// Search words that the text lacks
    #[serde(default)]
    tags: Vec<String>,
}

fn learning() -> String {
    "learning".into()
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Saved {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    title: String,
    /// False if the same text was already stored
    new: bool,
}

pub(super) fn save(ctx: &mut ToolContext, arguments: Arguments) -> Result<ToolOutput> {
    let Arguments { kind, title, content, tags } = arguments;
    let mut store = ctx.open_or_create()?;
    ctx.report_progress(1, 3, "removing secrets")?;
    let request = SaveRequest {
        author: Author::Agent,
        text: content,
        title,
        kind: Some(kind),
        tags,
        files: Vec::new(),
        session: None,
        supersedes: Vec::new(),
    };
    let saved = saving::save(&ctx.runtime, &mut store, &ctx.project, &request)?;
    let saved = Saved { id: saved.id, kind: saved.kind, title: quote::line(&saved.title, 200), new: saved.is_new };
    let what = if saved.new { "Stored" } else { "Already stored" };
    ToolOutput::new(format!("{what}: {} {} {}", saved.id, saved.kind, saved.title), &saved)
}
