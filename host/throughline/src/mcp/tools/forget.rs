//! The `memory_forget` tool: lists what would be deleted, and deletes it with the user's consent.

use std::fmt::Write as _;

use anyhow::Result;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::entry::Entry;
use super::{Said, get, parsed};
use crate::mcp::quote;
use crate::mcp::worker::Desk;
use throughline_engine::memory::Refused;
use throughline_engine::memory::forgetting::{self, moment, words};
use throughline_model::contract::Memory;
use throughline_store::{Forgotten, Selection, Store};

/// The tool's name. The server treats the tool specially, because the user is asked first.
pub(in crate::mcp) const NAME: &str = "memory_forget";

/// How many memories are listed. All are counted.
const NAMED: u32 = 20;

/// How many identifiers a call may have.
const MOST: usize = 50;

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
pub(super) struct Outcome {
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
pub(in crate::mcp) struct Look {
    /// For the agent.
    pub(in crate::mcp) said: Said,
    /// For the agent if the user does not agree.
    pub(in crate::mcp) declined: Said,
    /// For the user; `None` if nothing would be deleted.
    pub(in crate::mcp) question: Option<String>,
}

/// A validated request to forget.
#[derive(Clone)]
pub(in crate::mcp) struct Forgetting {
    arguments: Arguments,
    words: Vec<String>,
    before: Option<u64>,
}

impl Forgetting {
    pub(in crate::mcp) fn new(arguments: JsonObject) -> Result<Self> {
        let arguments: Arguments = parsed(arguments)?;
        let refused = |what: &str, hint: &str| Err(Refused::new(what, hint).into());
        let has_others = arguments.words.is_some() || arguments.session.is_some() || arguments.before.is_some();
        if arguments.ids.is_empty() && !has_others {
            return refused("nothing is selected", "give ids, match, session or before");
        }
        if !arguments.ids.is_empty() && has_others {
            return refused("ids cannot be combined with other options", "give either ids, or match, session and before");
        }
        if arguments.ids.len() > MOST {
            return refused("more than 50 ids", "use several calls, or match");
        }
        if arguments.session.as_ref().is_some_and(|id| id.trim().is_empty() || id.len() > 128) {
            return refused("this is not a session id", "memory_timeline lists session ids");
        }
        let words = arguments.words.as_deref().map(words).transpose()?.unwrap_or_default();
        let before = arguments.before.as_deref().map(moment).transpose()?;
        Ok(Self { arguments, words, before })
    }

    /// Returns whether the agent says that the user agreed.
    pub(in crate::mcp) fn is_confirmed(&self) -> bool {
        self.arguments.confirm
    }

    /// Finds out what would be deleted.
    pub(in crate::mcp) fn look(&self, desk: &mut Desk) -> Result<Look> {
        let outcome = self.run(desk, false)?;
        let is_something = outcome.all() > 0;
        let question = is_something.then(|| format!("Forget this for good? {}\n{}", outcome.counts(), outcome.lines()));
        let advice = if is_something { "\nAsk the user; if they agree, call again with confirm: true." } else { "" };
        let text = format!("Nothing was deleted. This would be forgotten: {}{}{advice}", outcome.counts(), outcome.rest());
        let declined = Said::new("The user did not agree. Nothing was deleted.".into(), &outcome)?;
        Ok(Look { said: Said::new(text, &outcome)?, declined, question })
    }

    /// Deletes the selected memories.
    pub(in crate::mcp) fn carry_out(&self, desk: &mut Desk) -> Result<Said> {
        let outcome = self.run(desk, true)?;
        Said::new(format!("Forgotten: {}{}", outcome.counts(), outcome.rest()), &outcome)
    }

    fn run(&self, desk: &mut Desk, really: bool) -> Result<Outcome> {
        let mut outcome = Outcome {
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
        match desk.existing()? {
            Some(store) if self.arguments.ids.is_empty() => self.selected(desk, store, really, &mut outcome)?,
            Some(store) => self.named(desk, store, really, &mut outcome)?,
            None => outcome.not_found.extend(self.arguments.ids.iter().map(|id| quote::line(id, 80))),
        }
        Ok(outcome)
    }

    fn named(&self, desk: &mut Desk, mut store: Store, really: bool, outcome: &mut Outcome) -> Result<()> {
        let mut memories: Vec<Memory> = Vec::new();
        for id in &self.arguments.ids {
            match get::find(&store, &desk.project.id, id)? {
                Some(memory) if memories.iter().any(|known| known.id == memory.id) => {}
                Some(memory) => memories.push(memory),
                None => outcome.not_found.push(quote::line(id, 80)),
            }
        }
        outcome.listed = memories.iter().take(NAMED as usize).map(Entry::new).collect();
        if really && !memories.is_empty() {
            desk.step(1, 3, "deleting")?;
            memories = forgetting::delete(&desk.runtime, &mut store, memories)?;
        }
        outcome.memories = memories.len() as u64;
        Ok(())
    }

    fn selected(&self, desk: &mut Desk, mut store: Store, really: bool, outcome: &mut Outcome) -> Result<()> {
        let selection = Selection {
            project: Some(desk.project.id.clone()),
            session: self.arguments.session.clone(),
            before: self.before,
            words: self.words.clone(),
        };
        outcome.listed = store.selected(&selection, NAMED)?.iter().map(Entry::new).collect();
        desk.step(1, 3, if really { "deleting" } else { "counting" })?;
        let report = forgetting::forget(&desk.runtime, &mut store, &selection, really)?;
        let Forgotten { memories, sessions, notes, events } = report.forgotten;
        (outcome.memories, outcome.sessions, outcome.notes, outcome.events) = (memories, sessions, notes, events);
        outcome.log_lines = report.log_lines;
        Ok(())
    }
}

impl Outcome {
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
            let _ = write!(text, "\n{}", quote::fenced(&self.lines()));
        }
        text
    }
}
