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
use throughline_engine::hooks;
use throughline_engine::memory::RequestError;
use throughline_engine::memory::deletion::{self, DeleteReport, Deletion, parse_time, parse_words};
use throughline_store::{ForgetCounts, Selection, Store};

/// The tool's name. The server treats the tool specially, because the user is asked first.
pub(in crate::mcp) const NAME: &str = "memory_forget";

/// How many memories are listed. All are counted.
const MAX_LISTED: usize = 20;

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
    /// Memories of this session; the beginning of its id is enough
    session: Option<String>,
    /// Memories from this day or time on
    after: Option<String>,
    /// Memories from before this day or time
    before: Option<String>,
    /// Erase at once; otherwise the user can bring it back for a day
    #[serde(default)]
    now: bool,
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
    /// For `throughline memory unforget`; null if it cannot be brought back
    undo: Option<String>,
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
    after: Option<u64>,
    before: Option<u64>,
}

impl ForgetRequest {
    pub(in crate::mcp) fn new(arguments: JsonObject) -> Result<Self> {
        let arguments: Arguments = parse_arguments(arguments)?;
        let refused = |what: &str, hint: &str| Err(RequestError::new(what, hint).into());
        let Arguments { session, after, before, .. } = &arguments;
        let has_others = [&arguments.words, session, after, before].into_iter().any(Option::is_some);
        if arguments.ids.is_empty() && !has_others {
            return refused("nothing is selected", "give ids, match, session, after or before");
        }
        if !arguments.ids.is_empty() && has_others {
            return refused(
                "ids cannot be combined with other options",
                "give either ids, or match, session, after and before",
            );
        }
        if arguments.ids.len() > MAX_IDS {
            return refused("more than 50 ids", "use several calls, or match");
        }
        if arguments.session.as_ref().is_some_and(|id| id.trim().is_empty() || id.len() > 128) {
            return refused("this is not a session id", "memory_timeline lists session ids");
        }
        let words = arguments.words.as_deref().map(parse_words).transpose()?.unwrap_or_default();
        let after = arguments.after.as_deref().map(parse_time).transpose()?;
        let before = arguments.before.as_deref().map(parse_time).transpose()?;
        Ok(Self { arguments, words, after, before })
    }

    /// Returns whether the agent says that the user agreed.
    pub(in crate::mcp) fn is_confirmed(&self) -> bool {
        self.arguments.confirm
    }

    /// Finds out what would be deleted.
    pub(in crate::mcp) fn preview(&self, ctx: &mut ToolContext) -> Result<DeletionPreview> {
        let outcome = self.run(ctx, false)?;
        let is_something = outcome.all() > 0;
        let question = is_something.then(|| format!("{} {}\n{}", self.question(), outcome.counts(), outcome.lines()));
        let advice = if is_something { "\nAsk the user; if they agree, call again with confirm: true." } else { "" };
        let text = format!("Nothing was deleted. This would be forgotten: {}{}{advice}", outcome.counts(), outcome.rest());
        let declined = ToolOutput::new("The user did not agree. Nothing was deleted.".into(), &outcome)?;
        Ok(DeletionPreview { said: ToolOutput::new(text, &outcome)?, declined, question })
    }

    /// Deletes the selected memories.
    pub(in crate::mcp) fn carry_out(&self, ctx: &mut ToolContext) -> Result<ToolOutput> {
        let outcome = self.run(ctx, true)?;
        let undo = outcome.undo.as_ref().map_or_else(String::new, |id| {
            format!(" For a day, the user can bring it back with `throughline memory unforget {id}`.")
        });
        ToolOutput::new(format!("Forgotten: {}{undo}{}", outcome.counts(), outcome.rest()), &outcome)
    }

    fn question(&self) -> &'static str {
        if self.arguments.now { "Forget this for good?" } else { "Forget this? For a day it can be brought back." }
    }

    fn deletion(&self, really: bool) -> Deletion {
        match (really, self.arguments.now) {
            (false, _) => Deletion::Preview,
            (true, false) => Deletion::Undoable,
            (true, true) => Deletion::Final,
        }
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
            undo: None,
        };
        match ctx.open_existing()? {
            Some(store) if self.arguments.ids.is_empty() => self.selected(ctx, store, really, &mut outcome)?,
            Some(store) => self.named(ctx, store, really, &mut outcome)?,
            None => outcome.not_found.extend(self.arguments.ids.iter().map(|id| quote::line(id, 80))),
        }
        Ok(outcome)
    }

    fn named(&self, ctx: &mut ToolContext, mut store: Store, really: bool, outcome: &mut ForgetResult) -> Result<()> {
        let mut ids: Vec<String> = Vec::new();
        for id in &self.arguments.ids {
            match get::find(&store, &ctx.project.id, id)? {
                Some(memory) if ids.contains(&memory.id) => {}
                Some(memory) => ids.push(memory.id),
                None => outcome.not_found.push(quote::line(id, 80)),
            }
        }
        if really && !ids.is_empty() {
            ctx.report_progress(1, 3, "deleting")?;
        }
        let DeleteReport { memories, undo, .. } = deletion::delete(&ctx.runtime, &mut store, &ids, self.deletion(really))?;
        outcome.listed = memories.iter().take(MAX_LISTED).map(Entry::new).collect();
        outcome.memories = memories.len() as u64;
        outcome.undo = undo;
        Ok(())
    }

    fn selected(&self, ctx: &mut ToolContext, mut store: Store, really: bool, outcome: &mut ForgetResult) -> Result<()> {
        // A session that just began is only in a journal.
        hooks::store_all_journals(&ctx.runtime, &mut store)?;
        let session = self.arguments.session.as_deref().map(|typed| session_of(ctx, &store, typed)).transpose()?;
        let selection = Selection {
            project: Some(ctx.project.id.clone()),
            session,
            after: self.after,
            before: self.before,
            words: self.words.clone(),
        };
        ctx.report_progress(1, 3, if really { "deleting" } else { "counting" })?;
        let what = format!("memory_forget {}", self.words.join(" "));
        let report = deletion::forget(&ctx.runtime, &mut store, &selection, what.trim_end(), self.deletion(really))?;
        let ForgetCounts { memories, sessions, notes, events } = report.forgotten;
        (outcome.memories, outcome.sessions, outcome.notes, outcome.events) = (memories, sessions, notes, events);
        outcome.listed = report.memories.iter().take(MAX_LISTED).map(Entry::new).collect();
        outcome.log_lines = report.log_lines;
        outcome.undo = report.undo;
        Ok(())
    }
}

/// Returns the session of this project that begins so.
fn session_of(ctx: &ToolContext, store: &Store, typed: &str) -> Result<String> {
    let mut found = Vec::new();
    for session in store.sessions_named(typed)? {
        if store.project_of_session(&session)?.is_some_and(|project| project.id == ctx.project.id) {
            found.push(session);
        }
    }
    let refused = |what: &str| RequestError::new(what, "memory_timeline lists session ids");
    match found.as_slice() {
        [only] => Ok(only.clone()),
        [exact, ..] if exact == typed => Ok(exact.clone()),
        [] => Err(refused("this project has no session whose id begins so").into()),
        _ => Err(refused("several sessions begin so").into()),
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
