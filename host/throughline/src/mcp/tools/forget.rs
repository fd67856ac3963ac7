//! The `memory_forget` tool: lists what would be deleted, and deletes it with the user's consent.

use std::fmt::Write as _;

use anyhow::Result;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::{ToolOutput, parse_arguments};
use super::entry::Entry;
use super::get;
use crate::mcp::quote;
use crate::mcp::worker::ToolContext;
use throughline_engine::memory::RequestError;
use throughline_engine::memory::deletion::{self, parse_time, parse_words};
use throughline_model::contract::Memory;
use throughline_store::{ForgetCounts, Selection, Store};

/// The tool's name. The server treats the tool specially, because the user is asked first.
pub(in crate::mcp) const NAME: &str = "memory_forget";

/// How many memories are listed. All are counted.
const MAX_LISTED: u32 = 20;

/// How many identifiers a call may have.
const MAX_IDS: usize = 50;

#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Only these memories; not with other options
    #[serde(default)]
    ids: Vec<String>,
    /// Memories with all these words; "quotes" make a phrase
    #[serde(rename = "match")]
    words: Option<String>,
    /// Memories of this session; its full id
    session: Option<String>,
    /// Memories from before this day or time
    before: Option<String>,
    /// True only after the user agreed to the list
    #[serde(default)]
    confirm: bool,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ForgetResult {
    about: &'static str,
    /// False if this is only a preview
    done: bool,
    memories: u64,
    sessions: u64,
    notes: u64,
    events: u64,
    log_lines: u64,
    /// The first memories
    listed: Vec<Entry>,
    not_found: Vec<String>,
}

/// A preview of the deletion.
pub(in crate::mcp) struct DeletionPreview {
    /// For the agent.
    pub(in crate::mcp) said: ToolOutput,
    /// For the agent if the user does not agree.
    pub(in crate::mcp) declined: ToolOutput,
    /// For the user; `None` if nothing would be deleted.
    pub(in crate::mcp) question: Option<String>,
}

/// A validated request to forget.
#[derive(Clone)]
pub(in crate::mcp) struct ForgetRequest {
    arguments: Arguments,
    words: Vec<String>,
    before: Option<u64>,
}

impl ForgetRequest {
    pub(in crate::mcp) fn new(arguments: JsonObject) -> Result<Self> {
        let arguments: Arguments = parse_arguments(arguments)?;
        let refused = |what: &str, hint: &str| Err(RequestError::new(what, hint).into());
        let has_others = arguments.words.is_some() || arguments.session.is_some() || arguments.before.is_some();
        if arguments.ids.is_empty() && !has_others {
            return refused("nothing is selected", "give ids, match, session or before");
        }
        if !arguments.ids.is_empty() && has_others {
            return refused("ids cannot be combined with other options", "give either ids, or match, session and before");
        }
        if arguments.ids.len() > MAX_IDS {
            return refused("more than 50 ids", "use several calls, or match");
        }
        if arguments.session.as_ref().is_some_and(|id| id.trim().is_empty() || id.len() > 128) {
            return refused("this is not a session id", "memory_timeline lists session ids");
        }
        let words = arguments.words.as_deref().map(parse_words).transpose()?.unwrap_or_default();
        let before = arguments.before.as_deref().map(parse_time).transpose()?;
        Ok(Self { arguments, words, before })
    }

    /// Returns whether the agent says that the user agreed.
    pub(in crate::mcp) fn is_confirmed(&self) -> bool {
        self.arguments.confirm
    }

    /// Finds out what would be deleted.
    pub(in crate::mcp) fn preview(&self, ctx: &mut ToolContext) -> Result<DeletionPreview> {
        let outcome = self.run(ctx, false)?;
        let is_something = outcome.all() > 0;
        let question = is_something.then(|| format!("Forget this for good? {}\n{}", outcome.counts(), outcome.lines()));
        let advice = if is_something { "\nAsk the user; if they agree, call again with confirm: true." } else { "" };
        let text = format!("Nothing was deleted. This would be forgotten: {}{}{advice}", outcome.counts(), outcome.rest());
        let declined = ToolOutput::new("The user did not agree. Nothing was deleted.".into(), &outcome)?;
        Ok(DeletionPreview { said: ToolOutput::new(text, &outcome)?, declined, question })
    }

    /// Deletes the selected memories.
    pub(in crate::mcp) fn carry_out(&self, ctx: &mut ToolContext) -> Result<ToolOutput> {
        let outcome = self.run(ctx, true)?;
        ToolOutput::new(format!("Forgotten: {}{}", outcome.counts(), outcome.rest()), &outcome)
    }

    fn run(&self, ctx: &mut ToolContext, really: bool) -> Result<ForgetResult> {
        let mut outcome = ForgetResult {
            about: quote::NOTICE,
            done: really,
            memories: 0,
            sessions: 0,
            notes: 0,
            events: 0,
            log_lines: 0,
            listed: Vec::new(),
            not_found: Vec::new(),
        };
        match ctx.open_existing()? {
            Some(store) if self.arguments.ids.is_empty() => self.selected(ctx, store, really, &mut outcome)?,
            Some(store) => self.named(ctx, store, really, &mut outcome)?,
            None => outcome.not_found.extend(self.arguments.ids.iter().map(|id| quote::line(id, 80))),
        }
        Ok(outcome)
    }

    fn named(&self, ctx: &mut ToolContext, mut store: Store, really: bool, outcome: &mut ForgetResult) -> Result<()> {
        let mut memories: Vec<Memory> = Vec::new();
        for id in &self.arguments.ids {
            match get::find(&store, &ctx.project.id, id)? {
                Some(memory) if memories.iter().any(|known| known.id == memory.id) => {}
                Some(memory) => memories.push(memory),
                None => outcome.not_found.push(quote::line(id, 80)),
            }
        }
        outcome.listed = memories.iter().take(MAX_LISTED as usize).map(Entry::new).collect();
        if really && !memories.is_empty() {
            ctx.report_progress(1, 3, "deleting")?;
            memories = deletion::delete(&ctx.runtime, &mut store, memories)?;
        }
        outcome.memories = memories.len() as u64;
        Ok(())
    }

    fn selected(&self, ctx: &mut ToolContext, mut store: Store, really: bool, outcome: &mut ForgetResult) -> Result<()> {
        let selection = Selection {
            project: Some(ctx.project.id.clone()),
            session: self.arguments.session.clone(),
            before: self.before,
            words: self.words.clone(),
        };
        outcome.listed = store.selected(&selection, MAX_LISTED)?.iter().map(Entry::new).collect();
        ctx.report_progress(1, 3, if really { "deleting" } else { "counting" })?;
        let report = deletion::forget(&ctx.runtime, &mut store, &selection, really)?;
        let ForgetCounts { memories, sessions, notes, events } = report.forgotten;
        (outcome.memories, outcome.sessions, outcome.notes, outcome.events) = (memories, sessions, notes, events);
        outcome.log_lines = report.log_lines;
        Ok(())
    }
}

impl ForgetResult {
    fn all(&self) -> u64 {
        self.memories + self.sessions + self.notes + self.events
    }

    fn counts(&self) -> String {
        let Self { memories, sessions, notes, events, .. } = self;
        format!("memories: {memories}, sessions: {sessions}, notes: {notes}, events: {events}.")
    }

    /// Returns the first memories, each on one or two lines.
    fn lines(&self) -> String {
        let mut lines = String::new();
        self.listed.iter().for_each(|entry| entry.write(&mut lines));
        let more = self.memories.saturating_sub(self.listed.len() as u64);
        if more > 0 {
            let _ = writeln!(lines, "and {more} more");
        }
        lines
    }

    /// Returns what follows the counts.
    fn rest(&self) -> String {
        let mut text = String::new();
        if !self.not_found.is_empty() {
            let _ = write!(text, "\nNot found in this project: {}", self.not_found.join(", "));
        }
        if !self.listed.is_empty() {
            let _ = write!(text, "\n{}", quote::fence(&self.lines()));
        }
        text
    }
}
