//! The `memory_get` tool; a single memory is also a resource.

use std::fmt::Write as _;

use anyhow::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::{MAX_PAGE_BYTES, ToolOutput};
use super::entry::{self, Doubts};
use crate::mcp::quote::{self, Origin};
use crate::mcp::worker::ToolContext;
use throughline_engine::hooks::FileChecks;
use throughline_engine::memory::RequestError;
use throughline_engine::runtime;
use throughline_engine::search::record_lookup;
use throughline_model::contract::Memory;
use throughline_model::project::Project;
use throughline_model::said_by::SaidBy;
use throughline_store::Store;

/// How many memories a call may ask for.
const MAX_IDS: usize = 20;

/// How much content all memories of a call contain together, in bytes.
const MAX_CONTENT_BYTES: usize = MAX_PAGE_BYTES;

/// The shortest identifier that is looked up. A shorter one is more likely a mistake.
const MIN_ID_LENGTH: usize = 4;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    #[schemars(length(min = 1, max = 20))]
    ids: Vec<String>,
    /// First line, from 1
    #[serde(default, deserialize_with = "super::call::optional_number")]
    from: Option<u32>,
    /// Last line
    #[serde(default, deserialize_with = "super::call::optional_number")]
    to: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct GetResult {
    about: &'static str,
    memories: Vec<FullMemory>,
    /// Ids neither in this project nor shared with it
    not_found: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct FullMemory {
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
    content: String,
    /// First line, last line and number of lines of the content
    lines: [usize; 3],
    created_at: String,
    session: String,
    files: Vec<String>,
    tags: Vec<String>,
    seen: u32,
    origin: Origin,
    /// Who said it, as in `memory_search`
    #[serde(skip_serializing_if = "Option::is_none")]
    said_by: Option<&'static str>,
    untrusted: bool,
    #[serde(flatten)]
    doubts: Doubts,
}

impl FullMemory {
    /// Returns the memory with lines `from` to `to` of its content: as many whole lines as fit in `room`.
    fn new(memory: &Memory, from: usize, to: usize, room: &mut usize) -> Self {
        let mut memory = memory.clone();
        memory.name_colleague();
        let memory = &memory;
        let content = quote::neutralize(memory.content.trim_end());
        let of = content.lines().count();
        let mut kept = String::new();
        let mut last = from.saturating_sub(1);
        for line in content.lines().skip(from.saturating_sub(1)).take(to.saturating_sub(from.saturating_sub(1))) {
            if line.len() >= *room {
                break;
            }
            *room -= line.len() + 1;
            kept.push_str(line);
            kept.push('\n');
            last += 1;
        }
        let origin = Origin::of(memory);
        Self {
            id: memory.id.clone(),
            kind: quote::line(&memory.kind, 64),
            note_type: None,
            shared: entry::is_shared(memory),
            title: quote::line(&memory.title, 200),
            content: kept.trim_end_matches('\n').to_owned(),
            lines: [from, last, of],
            created_at: runtime::format_timestamp(memory.created),
            session: quote::line(&memory.session_id, 128),
            files: memory.files.iter().map(|file| quote::line(file, 300)).collect(),
            tags: memory.keywords.iter().map(|tag| quote::line(tag, 200)).collect(),
            seen: memory.seen,
            origin,
            said_by: memory.said_by().map(SaidBy::word),
            untrusted: origin.is_untrusted(),
            doubts: Doubts::default(),
        }
    }

    /// Like [`Self::new`], and sets the note's type and what makes the memory doubtful.
    fn of(store: &Store, files: &FileChecks, memory: &Memory, (from, to): (usize, usize), room: &mut usize) -> Result<Self> {
        let note_type = entry::note_types(store, std::iter::once(memory))?.pop().flatten();
        let doubts = Doubts::of(store, files, &[memory])?.pop().unwrap_or_default();
        let mut it = Self { note_type, doubts, ..Self::new(memory, from, to, room) };
        if store.marks(&[&memory.id])?.iter().any(|marks| marks.wrong_at.is_some()) {
            it.title = format!("(marked wrong by a person) {}", it.title);
        }
        Ok(it)
    }

    fn write(&self, out: &mut String) {
        let day: String = self.created_at.chars().take(10).collect();
        let kind = self.note_type.as_ref().unwrap_or(&self.kind);
        let marks = [entry::shared_mark(self.shared), entry::origin_mark(&self.kind, self.origin)].concat();
        let _ = writeln!(out, "{} {kind}{} {day}  {}{marks}", self.id, entry::said_by_word(self.said_by), self.title);
        self.doubts.write(out);
        for (name, list) in [("files", &self.files), ("tags", &self.tags)] {
            if !list.is_empty() {
                let _ = writeln!(out, "{name}: {}", list.join(", "));
            }
        }
        out.push_str(&quote::block_quote(&self.content));
        let [from, to, of] = self.lines;
        if from > 1 || to < of {
            let _ = writeln!(out, "(lines {from} to {to} of {of})");
        }
    }
}

pub(super) fn get(ctx: &mut ToolContext, arguments: &Arguments) -> Result<ToolOutput> {
    if arguments.ids.is_empty() || arguments.ids.len() > MAX_IDS {
        return Err(RequestError::new(format!("give 1 to {MAX_IDS} ids"), "memory_search returns ids").into());
    }
    let from = arguments.from.unwrap_or(1).max(1) as usize;
    let to = arguments.to.map_or(usize::MAX, |to| to as usize);
    if to < from {
        return Err(RequestError::new("`to` is less than `from`", "`to` must be at least `from`").into());
    }
    let store = ctx.open_existing()?;
    let mut all = GetResult { about: quote::NOTICE, memories: Vec::new(), not_found: Vec::new() };
    let mut room = MAX_CONTENT_BYTES;
    let files = FileChecks::for_lookup(&ctx.project.root, ctx.runtime.now);
    let mut found: Vec<String> = Vec::new();
    for id in &arguments.ids {
        let Some(store) = &store else {
            all.not_found.push(quote::line(id, 80));
            continue;
        };
        match find_visible(store, &ctx.project.id, id)? {
            // A memory that is named twice is returned once.
            Some(memory) if found.contains(&memory.id) => {}
            Some(memory) => {
                all.memories.push(FullMemory::of(store, &files, &memory, (from, to), &mut room)?);
                found.push(memory.id);
            }
            None => all.not_found.push(quote::line(id, 80)),
        }
    }
    if let Some(store) = &store {
        record_lookup(&ctx.runtime, store, &found);
    }
    let mut text = String::new();
    if !all.memories.is_empty() {
        let mut body = String::new();
        for memory in &all.memories {
            memory.write(&mut body);
            body.push('\n');
        }
        text = quote::fence(&body);
        text.push('\n');
    }
    if !all.not_found.is_empty() {
        let _ = write!(text, "Not found in this project: {}", all.not_found.join(", "));
    }
    ToolOutput::new(text.trim_end().to_owned(), &all)
}

/// Finds a memory of the project by its identifier, or by a prefix that is unique in the project.
pub(super) fn find(store: &Store, project: &str, id: &str) -> Result<Option<Memory>> {
    if id.len() < MIN_ID_LENGTH || id.len() > 64 || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(None);
    }
    let mut found = store.memory(id, Some(project))?;
    if let Some(exact) = found.iter().position(|found| found.memory.id == id) {
        return Ok(Some(found.swap_remove(exact).memory));
    }
    Ok(if found.len() == 1 { found.pop().map(|found| found.memory) } else { None })
}

/// Like [`find`], but includes what was shared with all projects.
fn find_visible(store: &Store, project: &str, id: &str) -> Result<Option<Memory>> {
    match find(store, project, id)? {
        None => find(store, &Project::shared().id, id),
        found => Ok(found),
    }
}

/// Returns one whole memory in its fence; `None` if the project has no such memory.
pub(in crate::mcp) fn whole(ctx: &mut ToolContext, id: &str) -> Result<Option<String>> {
    let Some(store) = ctx.open_existing()? else { return Ok(None) };
    let Some(memory) = find_visible(&store, &ctx.project.id, id)? else { return Ok(None) };
    let mut body = String::new();
    let files = FileChecks::for_lookup(&ctx.project.root, ctx.runtime.now);
    FullMemory::of(&store, &files, &memory, (1, usize::MAX), &mut (usize::MAX >> 1))?.write(&mut body);
    record_lookup(&ctx.runtime, &store, &[memory.id]);
    Ok(Some(quote::fence(&body)))
}
