//! Finds what is to be shared, redacts it, and stages the exact text that will leave.

use anyhow::{Context as _, Result};

use super::project_key::ProjectKey;
use super::rules::Rule;
use crate::import::line;
use crate::redaction::ProjectRedactor;
use crate::runtime::Runtime;
use throughline_model::digest::sha256_hex;
use throughline_model::project::Project;
use throughline_model::redacted::Redacted;
use throughline_store::team::{
    Decided, MAX_BODY_BYTES, OutboxState, ReadRecord, Shareable, SharedMemory, TeamProject, record_of,
};
use throughline_store::{ScrubError, Store};

/// How many memories are looked at and stored at once.
const BATCH: u32 = 1_000;

/// How long the key of a project counts: its remote may change.
const KEY_AGE_MS: u64 = 24 * 3_600_000;

/// A project that is known on this machine, with its key.
pub struct KeyedProject {
    /// The project.
    pub project: Project,
    /// How it is recognized elsewhere; none if it cannot be.
    pub key: Option<ProjectKey>,
    /// The rules that it was looked through with.
    rules: String,
}

/// Looks up how this machine's projects are recognized elsewhere. What waited for one of them is read again.
pub fn keyed_projects(runtime: &Runtime, store: &mut Store) -> Result<Vec<KeyedProject>> {
    let known = store.team_projects()?;
    let mut fresh = Vec::new();
    let mut keyed = Vec::new();
    for project in store.all_projects()?.into_iter().filter(|project| !project.is_shared()) {
        let stored = known.iter().find(|it| it.project == project.id);
        let is_recent = |it: &&TeamProject| runtime.now.saturating_sub(it.checked_at) < KEY_AGE_MS;
        let key = if let Some(it) = stored.filter(is_recent) {
            ProjectKey::parse(&it.key)
        } else {
            let key = ProjectKey::of(&project);
            let text = key.as_ref().map(ToString::to_string).unwrap_or_default();
            fresh.push(TeamProject {
                project: project.id.clone(),
                key: text,
                checked_at: runtime.now,
                rules: String::new(),
            });
            key
        };
        keyed.push(KeyedProject { project, key, rules: stored.map(|it| it.rules.clone()).unwrap_or_default() });
    }
    if !fresh.is_empty() {
        let keys: Vec<ProjectKey> = keyed.iter().filter_map(|it| it.key.clone()).collect();
        let is_here = |what: &str| ProjectKey::parse(what).is_some_and(|it| keys.iter().any(|key| key.is_same(&it)));
        store.put_team_projects(&fresh, is_here)?;
    }
    Ok(keyed)
}

/// Returns whether a person must look at each memory before it leaves: the user or the administrator wants it.
pub fn needs_review(runtime: &Runtime) -> bool {
    runtime.config.team.review || runtime.managed.team.review
}

/// Stages everything that the rules share and that was not staged before, and the deletions of what left. Nothing leaves.
pub fn stage(runtime: &Runtime, store: &mut Store) -> Result<Vec<KeyedProject>> {
    let keyed = keyed_projects(runtime, store)?;
    for it in &keyed {
        // What was staged is redacted again: a rule may have come since.
        let mut redactor = ProjectRedactor::new(runtime, Some(&it.project.root));
        store.team_scrub_outbox(&it.project.id, &mut redactor, true).map_err(|error| match error {
            ScrubError::Store(error) => error.into(),
            ScrubError::Redactor(error) => error,
        })?;
        stage_project(runtime, store, it)?;
    }
    store.team_stage_deletions()?;
    Ok(keyed)
}

fn stage_project(runtime: &Runtime, store: &mut Store, it: &KeyedProject) -> Result<()> {
    let settings = &runtime.config.team;
    let rules = match &it.key {
        Some(key) if !runtime.is_excluded(&it.project.root) && !runtime.managed.team.off => {
            let remote = match key {
                ProjectKey::Name(name) => name,
                ProjectKey::Git { remote, .. } => remote,
            };
            settings.rules_of(&it.project, remote, &runtime.paths.home)
        }
        _ => Vec::new(),
    };
    let Some(key) = it.key.as_ref().filter(|_| !rules.is_empty()) else {
        if !it.rules.is_empty() {
            store.team_unstage(&it.project.id)?;
        }
        return Ok(());
    };
    let review = needs_review(runtime);
    let hash = sha256_hex(serde_json::to_string(&(&rules, review, key.to_string()))?.as_bytes())[..32].to_owned();
    if it.rules != hash && !it.rules.is_empty() {
        store.team_unstage(&it.project.id)?;
    }
    loop {
        let (found, mark) = store.team_shareable(&it.project.id, &hash, BATCH)?;
        if found.is_empty() && it.rules == hash {
            return Ok(());
        }
        // Those whose text changed come each time, all at once, also where no rule shares them any longer.
        let new = found.iter().filter(|it| it.continues.is_none()).count();
        stage_batch(runtime, store, it, key, &rules, found, (&hash, mark))?;
        if new < BATCH as usize {
            return Ok(());
        }
    }
}

fn stage_batch(
    runtime: &Runtime,
    store: &mut Store,
    it: &KeyedProject,
    key: &ProjectKey,
    rules: &[&Rule],
    found: Vec<Shareable>,
    scanned: (&str, i64),
) -> Result<()> {
    let is_shared = |it: &Shareable| {
        let is_colleagues = it.memory.attributes.iter().any(|(name, _)| name == throughline_store::team::COLLEAGUE);
        !is_colleagues && rules.iter().any(|rule| rule.shares(&it.memory))
    };
    let found: Vec<Shareable> = found.into_iter().filter(is_shared).collect();
    let meta: Vec<(String, OutboxState)> = found
        .iter()
        .map(|it| {
            let state = if needs_review(runtime) || it.was_edited { OutboxState::Review } else { OutboxState::Pending };
            (it.memory.id.clone(), state)
        })
        .collect();
    let shared: Vec<SharedMemory> = found.into_iter().map(|it| shared_memory(it, key)).collect::<Result<_>>()?;
    let redacted = Redacted::all(shared, &mut ProjectRedactor::new(runtime, Some(&it.project.root)))?;
    let staged: Vec<_> = meta
        .into_iter()
        .zip(redacted)
        .map(|((id, state), memory)| (id, state, record_of(memory)))
        .filter(|(_, _, record)| record.body.len() <= MAX_BODY_BYTES)
        .collect();
    Ok(store.team_stage(&it.project.id, &staged, scanned)?)
}

fn shared_memory(it: Shareable, key: &ProjectKey) -> Result<SharedMemory> {
    let memory = it.memory;
    let said_by = memory.said_by();
    // Of random numbers: the server of a sealed team could guess a text from anything that is computed from it.
    let (item, replaces) = match it.continues {
        Some(continued) => continued,
        None => (super::sync::fresh_device()?, Vec::new()),
    };
    // Paths outside of the project name this machine's user, and mean nothing elsewhere.
    let is_inside = |file: &String| !Project::is_absolute_path(file) && !file.starts_with('~') && !file.contains("..");
    Ok(SharedMemory {
        item,
        replaces,
        supersedes: it.supersedes,
        project: key.to_string(),
        kind: memory.kind,
        title: memory.title,
        content: memory.content,
        keywords: memory.keywords,
        files: memory.files.into_iter().filter(is_inside).collect(),
        importance: memory.importance,
        created: memory.created,
        said_by,
    })
}

/// What a record in the outbox says, as a person reads it.
pub struct ReadableText {
    /// The kind.
    pub kind: String,
    /// One line.
    pub title: String,
    /// The text.
    pub content: String,
}

/// Reads a body for a person.
pub fn readable(body: &str) -> Option<ReadableText> {
    let record = ReadRecord::parse(body).ok()?;
    let line = line::parse(record.memory?.get().as_bytes()).ok()?;
    Some(ReadableText { kind: line.kind, title: line.title, content: line.content })
}

/// Replaces the text of a memory in the outbox by what a person wrote. The text is redacted first.
pub fn edit(
    runtime: &Runtime,
    store: &mut Store,
    id: &str,
    title: Option<String>,
    content: Option<String>,
) -> Result<Decided> {
    let entries = store.team_outbox(false)?;
    let Some(entry) = entries.iter().find(|entry| entry.id.as_deref() == Some(id)) else {
        return Ok(Decided::Missing);
    };
    let Some(body) = entry.body.as_deref() else { return Ok(Decided::Unseen) };
    let record = ReadRecord::parse(body)?;
    let memory = record.memory.context("a deletion has no text")?;
    let line = line::parse(memory.get().as_bytes())?;
    let shared = SharedMemory {
        item: record.item,
        replaces: record.replaces,
        supersedes: record.supersedes,
        project: record.project,
        kind: line.kind,
        title: title.unwrap_or(line.title),
        content: content.unwrap_or(line.content),
        keywords: line.keywords,
        files: line.files,
        importance: line.importance,
        created: line.created.unwrap_or_default(),
        said_by: line.said_by,
    };
    let root = store.all_projects()?.into_iter().find(|project| project.id == entry.project).map(|project| project.root);
    let redacted = Redacted::new(shared, &mut ProjectRedactor::new(runtime, root.as_deref()))?;
    Ok(store.team_edit(id, &entry.hash, &record_of(redacted))?)
}
