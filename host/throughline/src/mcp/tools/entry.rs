//! A memory in a list: its identifier and a line about it.

use std::fmt::Write as _;

use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;

use crate::mcp::quote::{self, Origin};
use throughline_engine::hooks::FileChecks;
use throughline_engine::runtime;
use throughline_model::contract::Memory;
use throughline_model::said_by::SaidBy;
use throughline_notes::registry::Registry;
use throughline_store::{Replacement, SHARED_FROM, Store};

/// The longest title and the longest excerpt, in characters.
const TITLE: usize = 160;
const EXCERPT: usize = 160;

/// The longest line about what makes a memory doubtful, in characters, and the most lines about files.
const DOUBT: usize = 240;
const MAX_FILES: usize = 4;

/// A memory in brief.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct Entry {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    /// The note's type, if it differs
    #[serde(skip_serializing_if = "Option::is_none")]
    note_type: Option<String>,
    /// Shared with all projects
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    shared: bool,
    title: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    excerpt: String,
    date: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    origin: Origin,
    /// Who said it: human, agreed (the agent, and the human agreed), agent or tool
    #[serde(skip_serializing_if = "Option::is_none")]
    said_by: Option<&'static str>,
    untrusted: bool,
    #[serde(flatten)]
    doubts: Doubts,
}

/// What makes a memory doubtful.
#[derive(Default, Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct Doubts {
    /// It no longer holds; what holds instead
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded: Option<String>,
    /// Files that it is about and that are not as they were
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outdated_files: Vec<String>,
}

impl Doubts {
    /// Returns the doubts about each of the memories, in their order. `files` looks in the folder of the call's project.
    pub(super) fn of(store: &Store, files: &FileChecks, memories: &[&Memory]) -> Result<Vec<Self>> {
        let ids: Vec<&str> = memories.iter().map(|memory| memory.id.as_str()).collect();
        let replaced = store.replacements(&ids)?;
        let of_one = |(memory, replaced): (&&Memory, Option<Replacement>)| Self {
            superseded: replaced.map(|Replacement { head, relation }| {
                let said = format!("{} {}: [{}] {}", relation.done(), day(head.created), head.id, head.title);
                quote::line(&said, DOUBT)
            }),
            outdated_files: {
                let outdated = files.outdated(Some(store), memory).into_iter().take(MAX_FILES);
                outdated.map(|it| quote::line(&it.to_string(), DOUBT)).collect()
            },
        };
        Ok(memories.iter().zip(replaced).map(of_one).collect())
    }

    /// Writes a line for each.
    pub(super) fn write(&self, out: &mut String) {
        for line in self.superseded.iter().chain(&self.outdated_files) {
            let _ = writeln!(out, "    ({line})");
        }
    }
}

impl Entry {
    pub(super) fn new(memory: &Memory) -> Self {
        let mut memory = memory.clone();
        memory.name_colleague();
        let memory = &memory;
        let origin = Origin::of(memory);
        Self {
            id: memory.id.clone(),
            kind: quote::line(&memory.kind, 64),
            note_type: None,
            shared: is_shared(memory),
            title: quote::line(&memory.title, TITLE),
            excerpt: excerpt(memory),
            date: day(memory.created),
            score: (memory.score > 0.0).then(|| (f64::from(memory.score) * 1000.0).round() / 1000.0),
            origin,
            said_by: memory.said_by().map(SaidBy::word),
            untrusted: origin.is_untrusted(),
            doubts: Doubts::default(),
        }
    }

    /// Sets what makes the memory doubtful.
    pub(super) fn with_doubts(mut self, doubts: Doubts) -> Self {
        self.doubts = doubts;
        self
    }

    /// Sets the note's type.
    pub(super) fn of_type(mut self, note_type: Option<String>) -> Self {
        self.note_type = note_type;
        self
    }

    /// Writes the entry as one or two lines.
    pub(super) fn write(&self, out: &mut String) {
        let score = self.score.map_or_else(String::new, |score| format!(" {score:.2}"));
        let (mark, shared) = (origin_mark(&self.kind, self.origin), shared_mark(self.shared));
        let kind = self.note_type.as_ref().unwrap_or(&self.kind);
        let said_by = said_by_word(self.said_by);
        let _ = writeln!(out, "{} {kind}{said_by} {}{score}  {}{shared}{mark}", self.id, self.date, self.title);
        self.doubts.write(out);
        if !self.excerpt.is_empty() {
            let _ = writeln!(out, "    {}", self.excerpt);
        }
    }
}

/// Returns the mark that says where a memory's text comes from. A preference that an agent saved must not pass for the user's
/// own word.
pub(super) fn origin_mark(kind: &str, origin: Origin) -> &'static str {
    match origin {
        Origin::Agent if kind == "preference" => " [noted by an agent, not in the user's words]",
        origin => origin.mark(),
    }
}

/// Returns the words that follow a memory's type: who said it, if that is known.
pub(super) fn said_by_word(said_by: Option<&str>) -> String {
    said_by.map_or_else(String::new, |said_by| format!(" by {said_by}"))
}

/// Returns whether a memory is a copy that the user shared with all projects.
pub(super) fn is_shared(memory: &Memory) -> bool {
    memory.attributes.iter().any(|(name, _)| name == SHARED_FROM)
}

/// Returns the mark that follows the title of a shared memory.
pub(super) fn shared_mark(is_shared: bool) -> &'static str {
    if is_shared { " [shared with all projects]" } else { "" }
}

/// Returns for each memory the note type under which it was written, if that differs from its kind.
pub(in crate::mcp) fn note_types<'a>(
    store: &Store,
    memories: impl ExactSizeIterator<Item = &'a Memory>,
) -> Result<Vec<Option<String>>> {
    if memories.len() == 0 {
        return Ok(Vec::new());
    }
    let registry = Registry::built_in();
    memories
        .map(|memory| {
            let note = store.notes_by_id(&[&memory.id], &registry)?.pop().filter(|note| note.is_named);
            Ok(note.map(|it| it.note.note_type.clone()).filter(|it| *it != memory.kind).map(|it| quote::line(&it, 64)))
        })
        .collect()
}

/// Returns on one line what the content says beyond the title.
fn excerpt(memory: &Memory) -> String {
    let title = memory.title.trim();
    let content = memory.content.trim();
    let rest = content.strip_prefix(title).unwrap_or(content).trim_start();
    quote::line(rest, EXCERPT)
}

/// Returns the day in UTC.
pub(super) fn day(at: u64) -> String {
    runtime::format_timestamp(at).chars().take(10).collect()
}
