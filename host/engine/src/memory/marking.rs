//! What a person says of a memory: that it is always told, that it is wrong, that another one took its place, or that several
//! say the same. Each can be undone.

use std::path::Path;

use anyhow::Result;
use serde::Serialize;

use super::RequestError;
use super::deletion;
use super::saving::{self, Author, MAX_TAG, MAX_TAGS, SaveRequest};
use crate::import::line::{MAX_REASON_CHARS, cut};
use crate::redaction::ProjectRedactor;
use crate::runtime::Runtime;
use crate::text::one_line;
use throughline_model::contract::Memory;
use throughline_model::project::Project;
use throughline_model::redacted::Redacted;
use throughline_search::supersession::Relation;
use throughline_store::{MAX_PINNED, MarkChange, MemoryRecord, PinOutcome, SHARED_FROM, Store, WrongReason};

/// A memory in a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NamedMemory {
    /// Its identifier.
    pub id: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its title.
    pub title: String,
}

impl From<&Memory> for NamedMemory {
    fn from(memory: &Memory) -> Self {
        Self { id: memory.id.clone(), kind: memory.kind.clone(), title: memory.title.clone() }
    }
}

fn named(memories: &[Memory]) -> Vec<NamedMemory> {
    memories.iter().map(NamedMemory::from).collect()
}

/// Whether something is changed, or only said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Nothing is changed.
    Preview,
    /// It is changed.
    Real,
}

/// A memory that was marked wrong or right, or would be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MarkReport {
    /// The memory, and its copies that are shared with all projects.
    pub marked: Vec<NamedMemory>,
    /// Whether they are wrong now, or would be.
    pub wrong: bool,
    /// False if it was so before.
    pub changed: bool,
    /// Why, if it was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Memories whose place it had taken, which hold again.
    pub holds_again: Vec<NamedMemory>,
    /// Memories that replaced it in the meantime, and that it replaces again.
    pub superseded: Vec<NamedMemory>,
    /// Whether nothing was changed.
    pub dry_run: bool,
}

impl MarkReport {
    /// What is said of a memory that has the mark, or has none, already.
    fn unchanged(found: &MemoryRecord, wrong: bool, change: Change) -> Self {
        Self {
            marked: vec![NamedMemory::from(&found.memory)],
            wrong,
            changed: false,
            because: None,
            holds_again: Vec::new(),
            superseded: Vec::new(),
            dry_run: change == Change::Preview,
        }
    }
}

/// A memory whose place another one took, or would take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SupersedeReport {
    /// The memory that no longer holds.
    pub older: NamedMemory,
    /// The one that holds in its stead.
    pub newer: NamedMemory,
    /// How: `amends`, `reverses`, `refutes` or `completes`.
    pub relation: &'static str,
    /// What held in its stead until now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until_now: Option<NamedMemory>,
    /// Whether nothing was changed.
    pub dry_run: bool,
}

/// Memories that became one, or would.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MergeReport {
    /// The identifier of the memory that they became; null in a dry run.
    pub id: Option<String>,
    /// Its type, which is that of the first one.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its title.
    pub title: String,
    /// Its text.
    pub content: String,
    /// The texts that its title does not contain, oldest first. A session's start may tell the title alone.
    pub untold: Vec<String>,
    /// The memories whose place it takes, oldest first.
    pub sources: Vec<NamedMemory>,
    /// Whether nothing was changed.
    pub dry_run: bool,
}

/// Pins a memory: it is told at the start of every session. Returns false if it was pinned already.
pub fn pin(runtime: &Runtime, store: &mut Store, found: &MemoryRecord, change: Change) -> Result<bool> {
    check_text(store, found)?;
    check_holds(store, &found.memory)?;
    match store.pin(&found.memory.id, runtime.now, change == Change::Real)? {
        PinOutcome::Pinned => Ok(true),
        PinOutcome::Known => Ok(false),
        PinOutcome::Full => Err(RequestError::new(
            format!("{MAX_PINNED} memories of this project are pinned, which is the most"),
            "`throughline memory list --pinned` shows them; `throughline memory unpin` frees a place",
        )
        .into()),
        PinOutcome::Missing => Err(missing(&found.memory.id).into()),
    }
}

/// Undoes [`pin`]. Returns false if it was not pinned.
pub fn unpin(store: &mut Store, found: &MemoryRecord, change: Change) -> Result<bool> {
    Ok(store.unpin(&found.memory.id, change == Change::Real)?)
}

/// Marks a memory wrong: no session is told of it, and no search finds it, unless somebody asks for wrong ones too.
pub fn mark_wrong(
    runtime: &Runtime,
    store: &mut Store,
    found: &MemoryRecord,
    because: Option<&str>,
    change: Change,
) -> Result<MarkReport> {
    check_text(store, found)?;
    let because = because.map(str::trim).filter(|because| !because.is_empty());
    if let Some(because) = because.filter(|because| because.chars().count() > MAX_REASON_CHARS) {
        let length = because.chars().count();
        return Err(RequestError::new(
            format!("the reason has {length} characters, and at most {MAX_REASON_CHARS} are kept"),
            "say it in a sentence or two",
        )
        .into());
    }
    let reason = because
        .map(|because| {
            let root = Path::new(&found.project);
            Redacted::new(WrongReason(because.to_owned()), &mut ProjectRedactor::new(runtime, Some(root)))
        })
        .transpose()?;
    let done = store.mark_wrong(&found.memory.id, reason.as_ref(), runtime.now, change == Change::Real)?;
    if done.marked.is_empty() {
        return Ok(MarkReport::unchanged(found, true, change));
    }
    finish(runtime, store, &done, reason.map(|reason| reason.into_inner().0), change, true)
}

/// Undoes [`mark_wrong`].
pub fn mark_right(runtime: &Runtime, store: &mut Store, found: &MemoryRecord, change: Change) -> Result<MarkReport> {
    let done = store.mark_right(&found.memory.id, change == Change::Real)?;
    if done.marked.is_empty() {
        return Ok(MarkReport::unchanged(found, false, change));
    }
    finish(runtime, store, &done, None, change, false)
}

fn finish(
    runtime: &Runtime,
    store: &Store,
    done: &MarkChange,
    because: Option<String>,
    change: Change,
    wrong: bool,
) -> Result<MarkReport> {
    if change == Change::Real {
        // Agents may read these files.
        deletion::rewrite_projections(runtime, store, &store.all_projects()?)?;
    }
    Ok(MarkReport {
        marked: named(&done.marked),
        wrong,
        changed: true,
        because,
        holds_again: named(&done.holds_again),
        superseded: named(&done.superseded),
        dry_run: change == Change::Preview,
    })
}

/// States that a memory took the place of another one.
pub fn supersede(
    runtime: &Runtime,
    store: &mut Store,
    older: &MemoryRecord,
    newer: &MemoryRecord,
    relation: Relation,
    change: Change,
) -> Result<SupersedeReport> {
    check_text(store, older)?;
    check_text(store, newer)?;
    check_holds(store, &newer.memory)?;
    let (old, new) = (&older.memory.id, &newer.memory.id);
    let refused = |what: String, hint: &str| Err(RequestError::new(what, hint).into());
    if old == new {
        return refused(
            format!("{old} cannot take its own place"),
            "name the memory that no longer holds, then the one that does",
        );
    }
    if older.project != newer.project {
        return refused(
            format!("{old} and {new} belong to two projects"),
            "only a memory of the same project can take a memory's place",
        );
    }
    if !store.can_supersede(old, new)? {
        return refused(format!("{old} took the place of {new} itself"), "`throughline memory unlink` undoes that first");
    }
    let until_now = store.replacements(&[old])?.pop().flatten().map(|it| NamedMemory::from(&it.head));
    if change == Change::Real && !store.supersede(old, new, relation, runtime.now)? {
        return refused(format!("{old} or {new} changed meanwhile"), "run the command again");
    }
    Ok(SupersedeReport {
        older: NamedMemory::from(&older.memory),
        newer: NamedMemory::from(&newer.memory),
        relation: relation.name(),
        until_now,
        dry_run: change == Change::Preview,
    })
}

/// Makes one memory of several, which takes their place. Without a text of its own it has the texts of all, oldest first. They are
/// its title too, because the start of a session may tell the title alone; if they are too long for that, a text must be given.
pub fn merge(
    runtime: &Runtime,
    store: &mut Store,
    found: &[MemoryRecord],
    into: Option<&str>,
    title: Option<&str>,
    change: Change,
) -> Result<MergeReport> {
    let mut sources = merge_sources(store, found)?;
    let first = sources[0];
    let project = project_of(store, first)?;
    let request = merge_request(first, &mut sources, into, title);
    let sources_named: Vec<NamedMemory> = sources.iter().map(|it| NamedMemory::from(&it.memory)).collect();
    let told = request.title.clone().unwrap_or_else(|| saving::title_of(&request.text));
    let untold: Vec<String> = texts(&sources).into_iter().filter(|text| !told.contains(text)).collect();
    if into.is_none() && title.is_none() && change == Change::Real && !untold.is_empty() {
        return Err(RequestError::new(
            format!(
                "the texts are too long to be told as one: a session's start would leave out {}",
                counted_texts(&untold)
            ),
            "`--into TEXT` gives the text that takes their place; `--dry-run` shows what would be left out",
        )
        .into());
    }
    let mut report = MergeReport {
        id: None,
        kind: first.memory.kind.clone(),
        title: told,
        content: request.text.clone(),
        untold,
        sources: sources_named,
        dry_run: change == Change::Preview,
    };
    if change == Change::Preview {
        saving::check(&request)?;
        return Ok(report);
    }
    let saved = saving::save(runtime, store, &project, &request)?;
    for source in sources.iter().filter(|it| it.memory.id != saved.id) {
        if !store.supersede(&source.memory.id, &saved.id, Relation::Amends, runtime.now)? {
            return Err(RequestError::new(
                format!("{} already has this text, and {} took its place", saved.id, source.memory.id),
                "word the merged text differently with --into",
            )
            .into());
        }
    }
    // The same text may have been one of them.
    report.sources.retain(|source| source.id != saved.id);
    if let Some(stored) = store.memory(&saved.id, None)?.pop() {
        report.content = stored.memory.content;
    }
    Ok(MergeReport { id: Some(saved.id), title: saved.title, ..report })
}

/// Returns the memories to merge, each once; at least two of one project.
fn merge_sources<'a>(store: &Store, found: &'a [MemoryRecord]) -> Result<Vec<&'a MemoryRecord>> {
    let mut sources: Vec<&MemoryRecord> = Vec::new();
    for it in found {
        check_text(store, it)?;
        check_holds(store, &it.memory)?;
        if sources.iter().all(|known| known.memory.id != it.memory.id) {
            sources.push(it);
        }
    }
    let [first, _, ..] = sources[..] else {
        return Err(RequestError::new("there is nothing to merge", "name at least two memories").into());
    };
    if let Some(other) = sources.iter().find(|it| it.project != first.project) {
        return Err(RequestError::new(
            format!("{} and {} belong to two projects", first.memory.id, other.memory.id),
            "merge memories of one project; `throughline memory share` shows one to all projects",
        )
        .into());
    }
    if let Some(copy) = sources.iter().find(|it| it.memory.attributes.iter().any(|(name, _)| name == SHARED_FROM)) {
        return Err(RequestError::new(
            format!("{} is a copy that all projects share", copy.memory.id),
            "merge the memory that it is a copy of, which its attribute shared-from names",
        )
        .into());
    }
    Ok(sources)
}

/// Sorts the sources, oldest first, and returns what they become.
fn merge_request(
    first: &MemoryRecord,
    sources: &mut [&MemoryRecord],
    into: Option<&str>,
    title: Option<&str>,
) -> SaveRequest {
    sources.sort_by(|a, b| (a.memory.created, &a.memory.id).cmp(&(b.memory.created, &b.memory.id)));
    let joined = texts(sources).join("; ");
    let whole = if joined.chars().count() <= saving::MAX_TITLE_CHARS { &joined } else { &first.memory.title };
    let title = title.map(str::to_owned).or_else(|| into.is_none().then(|| whole.clone()));
    let mut parts: Vec<&str> = Vec::new();
    let (mut tags, mut files): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for Memory { title, content, keywords, files: own, .. } in sources.iter().map(|it| &it.memory) {
        let text = text_of(title, content);
        if parts.iter().all(|part| *part != text) {
            parts.push(text);
        }
        tags.extend(keywords.iter().filter(|tag| tag.len() <= MAX_TAG).cloned());
        files.extend(own.iter().cloned());
    }
    for list in [&mut tags, &mut files] {
        let mut known = std::collections::HashSet::new();
        list.retain(|it| known.insert(it.clone()));
    }
    tags.truncate(MAX_TAGS);
    SaveRequest {
        author: Author::Person,
        text: into.map_or_else(|| parts.join("\n\n"), str::to_owned),
        title: title.map(|title| cut(title.trim(), saving::MAX_TITLE_CHARS).to_owned()).filter(|title| !title.is_empty()),
        kind: Some(first.memory.kind.clone()),
        tags,
        files,
        session: None,
        supersedes: Vec::new(),
    }
}

/// Returns the text of a memory, which may be its title alone.
fn text_of<'a>(title: &'a str, content: &'a str) -> &'a str {
    if content.trim().is_empty() { title.trim() } else { content.trim() }
}

/// Returns the different texts, each on one line.
fn texts(sources: &[&MemoryRecord]) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for Memory { title, content, .. } in sources.iter().map(|it| &it.memory) {
        let text = one_line(text_of(title, content));
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

fn counted_texts(texts: &[String]) -> String {
    if texts.len() == 1 { "one of them".into() } else { format!("{} of them", texts.len()) }
}

fn project_of(store: &Store, found: &MemoryRecord) -> Result<Project> {
    let project = store.all_projects()?.into_iter().find(|project| project.root.to_string_lossy() == found.project);
    project.ok_or_else(|| missing(&found.memory.id).into())
}

fn missing(id: &str) -> RequestError {
    RequestError::new(format!("there is no memory {id}"), "`throughline memory list --all-projects` shows the identifiers")
}

/// Refuses digests, and memories whose text was deleted with their digest.
fn check_text(store: &Store, found: &MemoryRecord) -> Result<()> {
    let MemoryRecord { memory, digest, .. } = found;
    if store.folded(&memory.id)?.is_some() {
        return Err(RequestError::new(
            format!("{} is a digest of several memories", memory.id),
            "name one of those memories; the digest contains their identifiers",
        )
        .into());
    }
    if let Some(digest) = digest
        && store.folded(digest)?.is_some_and(|folded| folded.purged_at.is_some())
    {
        return Err(RequestError::new(
            format!("the text of {} was deleted", memory.id),
            "save what its digest says about it with `throughline memory save`, and name that",
        )
        .into());
    }
    Ok(())
}

/// Refuses memories that are marked wrong.
fn check_holds(store: &Store, memory: &Memory) -> Result<()> {
    if store.marks(&[&memory.id])?.iter().any(|marks| marks.wrong_at.is_some()) {
        return Err(RequestError::new(
            format!("{} is marked wrong", memory.id),
            "`throughline memory right` undoes that first",
        )
        .into());
    }
    Ok(())
}
