//! The `memory_timeline` tool.

use std::fmt::Write as _;

use anyhow::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::{ToolOutput, fitting};
use crate::mcp::cursor;
use crate::mcp::quote::{self, Origin};
use crate::mcp::worker::ToolContext;
use throughline_engine::hooks;
use throughline_engine::runtime;
use throughline_store::{EventFilter, OBSERVATION, PROMPT, StoredEvent};

/// The longest line of an event, in characters.
const LINE: usize = 240;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Only the session whose id starts with this
    session: Option<String>,
    /// Only this file or folder; the end of its path is enough
    file: Option<String>,
    #[serde(default = "thirty", deserialize_with = "super::call::number")]
    #[schemars(range(min = 1, max = 200))]
    limit: u32,
    /// `next_cursor` of a page, for earlier events
    cursor: Option<String>,
}

fn thirty() -> u32 {
    30
}

#[derive(Serialize, JsonSchema)]
pub(super) struct TimelinePage {
    about: &'static str,
    events: Vec<TimelineEvent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct TimelineEvent {
    at: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    tool: String,
    summary: String,
    failed: bool,
    session: String,
    files: Vec<String>,
    times: u32,
    origin: Origin,
    untrusted: bool,
}

impl TimelineEvent {
    fn new(event: &StoredEvent) -> Self {
        let origin = origin(event);
        Self {
            at: runtime::format_timestamp(event.at),
            kind: quote::line(&event.kind, 64),
            tool: quote::line(&event.seen.tool, 64),
            summary: quote::line(&event.seen.summary, LINE),
            failed: event.seen.failed,
            session: quote::line(&event.session_id, 128),
            files: event.seen.files.iter().take(8).map(|file| quote::line(file, LINE)).collect(),
            times: event.times,
            origin,
            untrusted: origin.is_untrusted(),
        }
    }
}

/// Returns an event's origin. A failed call quotes the tool's output, and so does a call that fetched something from
/// elsewhere.
fn origin(event: &StoredEvent) -> Origin {
    let tool = event.seen.tool.as_str();
    match event.kind.as_str() {
        PROMPT => Origin::User,
        OBSERVATION if event.seen.failed || matches!(tool, "WebFetch" | "WebSearch") || tool.starts_with("mcp__") => {
            Origin::Tool
        }
        OBSERVATION => Origin::Agent,
        _ => Origin::Session,
    }
}

pub(super) fn timeline(ctx: &mut ToolContext, arguments: Arguments) -> Result<ToolOutput> {
    let Arguments { session, file, limit, cursor } = arguments;
    let of = (&ctx.project.id, &session, &file);
    let before: Option<(u64, i64)> = cursor::decode("timeline", &of, cursor.as_deref())?;
    let limit = limit.clamp(1, 200);
    let mut events = Vec::new();
    // Until the first turn of the first session has ended, there are journals but no database.
    let noted = ctx.runtime.journal().sessions().is_ok_and(|sessions| !sessions.is_empty());
    if let Some(mut store) = if noted { Some(ctx.open_or_create()?) } else { ctx.open_existing()? } {
        hooks::store_all_journals(&ctx.runtime, &mut store)?;
        let wanted = EventFilter {
            project: Some(ctx.project.id.clone()),
            session: session.clone(),
            file: file.as_deref().map(|file| event_path(ctx, file)),
            before,
            ..EventFilter::default()
        };
        events = store.events(&wanted, limit + 1)?;
    }
    let all = events.len();
    events.truncate(limit as usize);
    // The newest events come first here.
    let mut shown: Vec<TimelineEvent> = events.iter().map(TimelineEvent::new).collect();
    shown.truncate(fitting(&shown));
    events.truncate(shown.len());
    let is_more = all > shown.len();
    let next_cursor = events.last().filter(|_| is_more).map(|last| cursor::encode("timeline", &of, (last.at, last.id)));
    shown.reverse();
    let page = TimelinePage { about: quote::NOTICE, events: shown, next_cursor };
    let mut text = if page.events.is_empty() { "No event of this project matches.".to_owned() } else { lines(&page) };
    if let Some(cursor) = &page.next_cursor {
        let _ = write!(text, "\nEarlier: cursor {cursor}");
    }
    ToolOutput::new(text, &page)
}

fn lines(page: &TimelinePage) -> String {
    let mut lines = String::new();
    let mut head = String::new();
    for step in &page.events {
        let day: String = step.at.chars().take(10).collect();
        let own = format!("{day} session {}", step.session.chars().take(8).collect::<String>());
        if own != head {
            let _ = writeln!(lines, "{own}");
            head = own;
        }
        let time: String = step.at.chars().skip(11).take(5).collect();
        let name = if step.tool.is_empty() { &step.kind } else { &step.tool };
        let failed = if step.failed { "failed: " } else { "" };
        let times = if step.times > 1 { format!(" ({}×)", step.times) } else { String::new() };
        let _ = writeln!(lines, "  {time} {name}  {failed}{}{times}{}", step.summary, step.origin.mark());
    }
    quote::fence(&lines)
}

/// Returns the file as events name it: relative to the project's root if it is inside the project.
pub(super) fn event_path(ctx: &ToolContext, file: &str) -> String {
    let typed = ctx.folder.join(file);
    let whole = typed.canonicalize().unwrap_or_else(|_| file.into());
    let roots = [ctx.project.root.canonicalize().ok(), Some(ctx.project.root.clone())];
    let inside = roots.iter().flatten().find_map(|root| whole.strip_prefix(root).ok());
    inside.unwrap_or(&whole).to_string_lossy().into_owned()
}
