//! How the files are that a reading's memories are about, so that a later hook can say that one has changed since.
//!
//! A session's own changes to a file update the session's anchor of that file. If the file changed while no tool of the session
//! ran, somebody else changed it, and the anchor stays as it is.

use std::path::Path;

use anyhow::Result;

use super::request::{ReadReason, ReadRequest};
use super::scope::Scope;
use crate::cited_files::{self, FileContent};
use crate::runtime::Runtime;
use throughline_store::{FileAnchor, Learned, MemoryFilter, Store, file_key};

/// The most files of a session that have an anchor.
const MAX_FILES: usize = 8;

/// How many of a session's earlier memories, the newest, are looked at.
const MAX_MEMORIES: u32 = 60;

/// Kinds that repeat what was learned before.
const SUMMARIES: [&str; 2] = ["session_summary", "compact_summary"];

/// How long before the report of a tool the tool may have changed a file, milliseconds.
const TOOL_MS: u64 = 60_000;

/// By how much the clock of a file system may be ahead, milliseconds. With more, a change that a person makes right after a
/// tool call would be attributed to the tool.
const CLOCK_MS: u64 = 20;

/// What a memory says about a file.
struct Mention<'a> {
    file: &'a str,
    texts: [&'a str; 2],
    importance: f32,
    /// Whether it was learned now.
    is_new: bool,
}

/// Returns the anchors that the reading makes or moves on.
pub(super) fn of_reading(
    runtime: &Runtime,
    store: &Store,
    request: &ReadRequest,
    scope: &Scope,
    learned: &Learned,
) -> Result<Vec<FileAnchor>> {
    let root = &scope.project.root;
    if !root.is_absolute() || !root.is_dir() {
        return Ok(Vec::new());
    }
    let session = scope.session.id.as_str();
    let known = store.file_anchors(session)?;
    // Without an anchor, there is none to move on.
    let of_session = MemoryFilter { session: Some(session.into()), ..MemoryFilter::default() };
    let earlier = if known.is_empty() { Vec::new() } else { store.recent(&of_session, MAX_MEMORIES)? };
    // An extractor may return what it returned before, with another importance.
    let is_known = |content: &str| earlier.iter().any(|memory| memory.content == content);
    let new = learned.drafts.iter().map(|(_, draft)| draft).filter(|draft| draft.kind != "turn").flat_map(|draft| {
        let texts = [draft.title.as_str(), draft.content.as_str()];
        let is_new = !is_known(&draft.content) && !SUMMARIES.contains(&draft.kind.as_str());
        draft.files.iter().map(move |file| Mention { file, texts, importance: draft.importance, is_new })
    });
    let mut mentions: Vec<Mention<'_>> = new.collect();
    mentions.extend(earlier.iter().flat_map(|memory| {
        let texts = [memory.title.as_str(), memory.content.as_str()];
        memory.files.iter().map(move |file| Mention { file, texts, importance: memory.importance, is_new: false })
    }));
    mentions.sort_by(|one, other| other.importance.total_cmp(&one.importance));
    let mut files: Vec<&str> = Vec::new();
    for mention in &mentions {
        if !files.contains(&mention.file) {
            files.push(mention.file);
        }
    }
    let read = Reading { runtime, store, session, root, learned, until: until(runtime, request, learned) };
    let mut left = MAX_FILES.saturating_sub(known.len());
    let mut anchors = Vec::new();
    for file in files {
        let key = file_key(file);
        let before = known.iter().find(|anchor| anchor.file == key);
        if before.is_none() && left == 0 {
            continue;
        }
        let about: Vec<&Mention<'_>> = mentions.iter().filter(|mention| mention.file == file).collect();
        if let Some(anchor) = read.anchor(file, &about, before)? {
            left -= usize::from(before.is_none());
            anchors.push(FileAnchor { file: key, ..anchor });
        }
    }
    Ok(anchors)
}

/// Returns until when a file may have been changed to be as the session left it. An old transcript says nothing about what came
/// after it.
fn until(runtime: &Runtime, request: &ReadRequest, learned: &Learned) -> u64 {
    match request.reason {
        ReadReason::Stop { .. } | ReadReason::Compact | ReadReason::Compacted { .. } | ReadReason::SessionEnd { .. } => {
            u64::MAX
        }
        ReadReason::CatchUp | ReadReason::SubAgent { .. } | ReadReason::Ingest => {
            let said = learned.drafts.iter().filter_map(|(_, draft)| draft.origin.at);
            let last = said.chain(learned.calls.iter().map(|call| call.at)).max();
            last.map_or(0, |last| last.min(runtime.now) + TOOL_MS)
        }
    }
}

/// What the anchors of one reading are made from.
struct Reading<'a> {
    runtime: &'a Runtime,
    store: &'a Store,
    session: &'a str,
    root: &'a Path,
    learned: &'a Learned,
    until: u64,
}

impl Reading<'_> {
    /// Returns the new anchor of a file; `None` if there is none, or if the one before it stays.
    fn anchor(&self, file: &str, about: &[&Mention<'_>], before: Option<&FileAnchor>) -> Result<Option<FileAnchor>> {
        let Some(path) = cited_files::path_in(self.root, file) else { return Ok(None) };
        let Some(changed_at) = cited_files::changed_at(&path).filter(|at| *at <= self.until) else { return Ok(None) };
        let is_new = about.iter().any(|mention| mention.is_new);
        if let Some(before) = before
            && !is_new
            && (changed_at <= before.at || !self.was_working(changed_at)?)
        {
            return Ok(None);
        }
        let texts = about.iter().flat_map(|mention| mention.texts);
        Ok(FileContent::read(&path, cited_files::MAX_FILE_BYTES).map(|content| content.anchor(texts, self.runtime.now)))
    }

    /// Whether a tool of the session ran at that time.
    fn was_working(&self, at: u64) -> Result<bool> {
        let (from, to) = (at.saturating_sub(CLOCK_MS), at.saturating_add(TOOL_MS));
        Ok(self.learned.calls.iter().any(|call| (from..=to).contains(&call.at))
            || self.store.was_working(self.session, from, to)?)
    }
}
