//! Forgets: the selected sessions or texts with everything derived from them, and single memories. For a day they can be
//! brought back, unless they are to go at once.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use serde::Serialize;

use super::RequestError;
use super::kept::{self, DeletionNote};
use crate::hooks;
use crate::projection;
use crate::runtime::{Runtime, format_timestamp};
use crate::weekly_copy;
use throughline_model::contract::Memory;
use throughline_model::project::Project;
use throughline_platform::log;
use throughline_platform::paths::WEEKLY_COPY;
use throughline_privacy::intervals::{Interval, Intervals};
use throughline_search::query::Query;
use throughline_store::{Fate, ForgetCounts, ForgottenSession, KeptFile, Selection, Store, folded, kept_id};

/// How a deletion is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deletion {
    /// Nothing is deleted.
    Preview,
    /// What is deleted can be brought back for a day.
    Undoable,
    /// It is deleted for good, and so is everything that could still be brought back.
    Final,
}

impl Deletion {
    /// Whether something is deleted.
    pub fn is_real(self) -> bool {
        self != Self::Preview
    }

    fn fate<'a>(self, folder: &'a std::path::Path, note: &'a str) -> Fate<'a> {
        match self {
            Self::Preview => Fate::Shown,
            Self::Undoable => Fate::Kept(KeptFile { folder, note }),
            Self::Final => Fate::Erased,
        }
    }
}

/// A memory that was deleted, or would be.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeletedMemory {
    /// Its identifier.
    pub id: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its title.
    pub title: String,
    /// Whether a person pinned it.
    pub pinned: bool,
    /// The place in its text that matched the words; absent if the title has it, or if no words were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched: Option<String>,
}

impl DeletedMemory {
    fn of(memory: &Memory, words: &[String], is_pinned: bool) -> Self {
        Self {
            id: memory.id.clone(),
            kind: memory.kind.clone(),
            title: memory.title.clone(),
            pinned: is_pinned,
            matched: place_of_match(memory, words),
        }
    }
}

/// A session that was forgotten, or would be.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeletedSession {
    /// Its identifier.
    pub id: String,
    /// What it was about; empty if unknown.
    pub title: String,
}

/// Returns the first place of a word that the title does not contain, with the text around it, in one line.
fn place_of_match(memory: &Memory, words: &[String]) -> Option<String> {
    /// How many characters are shown before the word, and from it on.
    const BEFORE: usize = 20;
    const FROM: usize = 60;
    let title = folded(&memory.title);
    let word = words.iter().find(|word| !title.contains(word.as_str()))?;
    let attributes = memory.attributes.iter().map(|(_, value)| value);
    let texts = std::iter::once(&memory.content).chain(&memory.keywords).chain(&memory.files).chain(attributes);
    for text in texts {
        // Each character is folded for itself, so that the place in the folded text is one in the text.
        let chars: Vec<(char, String)> = text.chars().map(|c| (c, folded(c.encode_utf8(&mut [0; 4])))).collect();
        let whole: String = chars.iter().map(|(_, folded)| folded.as_str()).collect();
        let Some(at) = whole.find(word.as_str()) else { continue };
        let mut passed = 0;
        let start = chars
            .iter()
            .take_while(|(_, folded)| {
                passed += folded.len();
                passed <= at
            })
            .count();
        let (from, to) = (start.saturating_sub(BEFORE), (start + FROM).min(chars.len()));
        let shown: String = chars[from..to].iter().map(|(c, _)| *c).collect();
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        let (before, after) = (if from > 0 { "…" } else { "" }, if to < chars.len() { "…" } else { "" });
        return Some(format!("{before}{shown}{after}"));
    }
    None
}

/// What was forgotten, or would be forgotten.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForgetReport {
    /// What was forgotten in the database.
    #[serde(flatten)]
    pub forgotten: ForgetCounts,
    /// The number of log lines deleted.
    pub log_lines: u64,
    /// Whether this was a dry run.
    pub dry_run: bool,
    /// The root of the project; null for all projects.
    pub project: Option<PathBuf>,
    /// The memories, newest first, at most 1,000.
    pub listed: Vec<DeletedMemory>,
    /// The sessions, at most 1,000.
    pub listed_sessions: Vec<DeletedSession>,
    /// The texts that were removed from notes and summaries of other sessions, at most 1,000.
    pub listed_notes: Vec<String>,
    /// How many earlier deletions can no longer be undone, because this one was final.
    pub erased: usize,
    /// The identifier for `throughline memory unforget`; null if it cannot be brought back.
    pub undo: Option<String>,
    /// Until when it can be brought back; RFC 3339, UTC.
    pub kept_until: Option<String>,
    /// The memories in full, newest first.
    #[serde(skip)]
    pub memories: Vec<Memory>,
}

impl ForgetReport {
    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.forgotten == ForgetCounts::default()
    }
}

/// Forgets the selection. `what` says for people what was asked for.
pub fn forget(
    runtime: &Runtime,
    store: &mut Store,
    selection: &Selection,
    what: &str,
    deletion: Deletion,
) -> Result<ForgetReport> {
    kept::delete_expired(runtime)?;
    let mut note = DeletionNote { what: what.to_owned(), interval: None };
    if deletion.is_real() && selection.words.is_empty() {
        // This comes first, so that after a kill the next reading cannot bring the deleted memories back.
        let interval = Interval {
            project: selection.project.clone(),
            session: selection.session.clone(),
            root: None,
            from: selection.after.unwrap_or(0),
            to: Some(selection.before.unwrap_or(runtime.now)),
        };
        let is_new = Intervals::update(&runtime.paths.intervals(), |all| {
            let is_new = !all.contains(&interval);
            if is_new {
                all.push(interval.clone());
            }
            is_new
        })?;
        note.interval = Some(interval).filter(|_| is_new);
    }
    // Records that are still in a journal would otherwise get into the store later.
    hooks::store_all_journals(runtime, store)?;
    let projects = store.all_projects()?;
    let (folder, note) = (runtime.paths.forgotten(), serde_json::to_string(&note)?);
    let forgotten = store.forget(selection, runtime.now, deletion.fate(&folder, &note))?;
    let (mut log_lines, mut erased) = (0, 0);
    if deletion.is_real() {
        let is_gone = |line: &str| {
            let line = folded(line);
            let of_words = !selection.words.is_empty() && selection.words.iter().all(|word| line.contains(word.as_str()));
            of_words || selection.session.as_ref().is_some_and(|id| selection.words.is_empty() && line.contains(&folded(id)))
        };
        hooks::synthesized_transcript::forget(runtime, selection)?;
        log_lines = log::delete_lines(&runtime.paths.log(), is_gone).map_err(|error| {
            RequestError::new(format!("the log cannot be rewritten: {error}"), "fix that, then run the command again")
        })?;
        erased = finish(runtime, store, &projects, deletion)?;
    }
    let listed = |memory: &Memory| DeletedMemory::of(memory, &selection.words, forgotten.pinned.contains(&memory.id));
    let session = |it: &ForgottenSession| DeletedSession { id: it.id.clone(), title: it.title.clone() };
    let root = |id: &String| projects.iter().find(|project| project.id == *id).map(|project| project.root.clone());
    Ok(ForgetReport {
        forgotten: forgotten.counts,
        log_lines,
        dry_run: !deletion.is_real(),
        project: selection.project.as_ref().and_then(root),
        listed: forgotten.memories.iter().map(listed).collect(),
        listed_sessions: forgotten.sessions.iter().map(session).collect(),
        listed_notes: forgotten.notes.clone(),
        erased,
        kept_until: forgotten.kept.is_some().then(|| format_timestamp(kept::kept_until(runtime.now))),
        undo: forgotten.kept.as_deref().map(kept_id),
        memories: forgotten.memories,
    })
}

/// What was deleted by its identifier, or would be.
#[derive(Debug)]
pub struct DeleteReport {
    /// The memories that existed, each once.
    pub memories: Vec<Memory>,
    /// The same memories, for people.
    pub listed: Vec<DeletedMemory>,
    /// The identifier for `throughline memory unforget`; none if it cannot be brought back.
    pub undo: Option<String>,
}

/// Deletes memories.
pub fn delete(runtime: &Runtime, store: &mut Store, ids: &[String], deletion: Deletion) -> Result<DeleteReport> {
    kept::delete_expired(runtime)?;
    let projects = store.all_projects()?;
    let note = DeletionNote { what: format!("memory delete {}", ids.join(" ")), interval: None };
    let (folder, note) = (runtime.paths.forgotten(), serde_json::to_string(&note)?);
    let names: Vec<&str> = ids.iter().map(String::as_str).collect();
    let marks = store.marks(&names)?;
    let pinned: Vec<&str> =
        names.into_iter().zip(marks).filter(|(_, marks)| marks.pinned_at.is_some()).map(|(id, _)| id).collect();
    let deleted = store.delete_memories(ids, runtime.now, deletion.fate(&folder, &note))?;
    if deletion.is_real() {
        finish(runtime, store, &projects, deletion)?;
    }
    let listed = deleted.memories.iter().map(|it| DeletedMemory::of(it, &[], pinned.contains(&it.id.as_str()))).collect();
    Ok(DeleteReport { undo: deleted.kept.as_deref().map(kept_id), memories: deleted.memories, listed })
}

/// Makes sure that nothing deleted remains in the database, in projections and, if the deletion is final, in the files
/// of earlier deletions. Returns how many of these there were.
fn finish(runtime: &Runtime, store: &Store, projects: &[Project], deletion: Deletion) -> Result<usize> {
    let erased = if deletion == Deletion::Final { kept::delete_all(runtime)? } else { 0 };
    clear_free_space(store, "deleted")?;
    rewrite_projections(runtime, store, projects)?;
    Ok(erased)
}

/// Clears the database's free pages and its write-ahead log, and removes its weekly copy, so that nothing deleted remains
/// there. `done` names the
/// operation, for the error message.
pub fn clear_free_space(store: &Store, done: &str) -> Result<()> {
    let copy = store.path().with_file_name(WEEKLY_COPY);
    weekly_copy::remove(&copy).with_context(|| format!("{} cannot be deleted", copy.display()))?;
    if store.erase()? {
        return Ok(());
    }
    Err(RequestError::new(
        format!("it is {done}, but its text may remain in the database's write-ahead log, which another process is using"),
        "run the command again when no session is running",
    )
    .into())
}

/// Rewrites the projections after something was forgotten. `before` are the projects that existed before.
pub fn rewrite_projections(runtime: &Runtime, store: &Store, before: &[Project]) -> Result<()> {
    projection::rewrite_all(store, &runtime.config.projections, before).map_err(|error| {
        RequestError::new(
            format!("its projection files could not be rewritten: {error:#}"),
            "fix that and run `throughline projections --all-projects`, or delete those files",
        )
        .into()
    })
}

/// Splits a query into the words that [`Selection`] wants; a quoted phrase is one word. At least one word must have
/// three characters.
pub fn parse_words(query: &str) -> Result<Vec<String>, RequestError> {
    let words: Vec<String> = query
        .split('"')
        .enumerate()
        .flat_map(|(at, part)| match at % 2 {
            1 => vec![part.trim()],
            _ => part.split_whitespace().collect(),
        })
        .filter(|word| !word.is_empty())
        .map(folded)
        .collect();
    if words.iter().all(|word| word.chars().count() < 3) {
        return Err(RequestError::new(
            "a word of at least three characters is needed",
            "describe more precisely what to forget",
        ));
    }
    Ok(words)
}

/// Parses a moment as a query's `before:` has it, into milliseconds since the Unix epoch.
pub fn parse_time(text: &str) -> Result<u64, RequestError> {
    let is_one_word = !text.contains(|c: char| c.is_whitespace() || c == '"');
    let query = is_one_word.then(|| Query::parse(&format!("before:{text}"), &jiff::Zoned::now()));
    query.and_then(|query| query.before).and_then(|at| u64::try_from(at).ok()).ok_or_else(|| {
        RequestError::new(
            format!("{text:?} is not a date"),
            "use a form like 2026-01-31, 2026-01-31T12:00:00Z, `yesterday`, or how long ago: 12h, 7d, 2w",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_that_matched_is_shown_if_the_title_does_not_have_it() {
        let memory = Memory {
            title: "Implement the plan".into(),
            content: format!("{} set\nCloudMode to ÖFFENTLICH {}", "x ".repeat(40), "y ".repeat(80)),
            ..Memory::default()
        };
        let place = |words: &[&str]| place_of_match(&memory, &words.iter().map(|word| folded(word)).collect::<Vec<_>>());
        assert_eq!(place(&["plan"]), None);
        let shown = place(&["plan", "cloud"]).unwrap();
        assert!(shown.starts_with("…x") && shown.contains("set CloudMode to ÖFFENTLICH") && shown.ends_with('…'), "{shown}");
        assert!(place(&["öffentlich"]).unwrap().contains("ÖFFENTLICH"));
        assert_eq!(place(&["nowhere"]), None);
    }

    #[test]
    fn words_of_a_query() {
        assert_eq!(parse_words("Alpha \"two Words\" b").unwrap(), ["alpha", "two words", "b"]);
        assert!(parse_words("a b").is_err() && parse_words("").is_err());
        assert!(parse_time("2026-01-31").is_ok() && parse_time("2026-01-31T00:00:00Z").is_ok());
        assert!(parse_time("7d").is_ok() && parse_time("yesterday").is_ok());
        assert!(parse_time("soon").is_err() && parse_time("").is_err() && parse_time("7d x").is_err());
    }
}
