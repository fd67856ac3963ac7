//! Turns records from the server into what the store takes: parsed as a line of an import, checked, redacted, and marked
//! with their author. A record is data; nothing in it is obeyed.

use std::collections::HashMap;

use anyhow::Result;

use super::outbox::KeyedProject;
use super::project_key::ProjectKey;
use super::team_key::TeamKey;
use crate::import::line::{self, Line};
use crate::redaction::{self, ProjectRedactor};
use crate::runtime::Runtime;
use throughline_model::contract::{Draft, Origin};
use throughline_model::redacted::Redacted;
use throughline_model::said_by::SaidBy;
use throughline_search::supersession::Relation;
use throughline_store::team::{COLLEAGUE, Incoming, IncomingMemory, ReadRecord, RecordHeader, occurrence_key};
use throughline_store::{Import, Marks};
use throughline_sync_wire::Pulled;

/// What a record waits for that cannot be read: another version of this program, perhaps.
pub const UNREADABLE: &str = concat!("unreadable:", env!("CARGO_PKG_VERSION"));

/// What is known about where records come from and belong.
pub struct Context<'a> {
    /// The projects of this machine.
    pub projects: &'a [KeyedProject],
    /// The author of each device's series.
    pub authors: &'a HashMap<String, String>,
    /// Our own name in the team.
    pub member: &'a str,
    /// What is muted: `person:` and a name, or `project:` and an identifier.
    pub muted: &'a [String],
    /// The key of a sealed team.
    pub key: Option<&'a TeamKey>,
}

/// A memory that is to be redacted before it is stored.
struct Unredacted {
    header: RecordHeader,
    replaces: Vec<String>,
    supersedes: Vec<(String, Relation)>,
    project: usize,
    import: Import,
}

/// Turns records into what the store takes, in their order. Also returns how many could not be read.
pub fn translate(runtime: &Runtime, records: Vec<Pulled>, context: &Context<'_>) -> Result<(Vec<Incoming>, u64)> {
    let mut done: Vec<(usize, Incoming)> = Vec::with_capacity(records.len());
    let mut groups: HashMap<usize, Vec<(usize, Unredacted)>> = HashMap::new();
    let mut unreadable = 0;
    for (at, record) in records.into_iter().enumerate() {
        match understand(runtime, record, context) {
            Understood::Done(incoming) => {
                unreadable += u64::from(matches!(&incoming, Incoming::Waiting(_, what) if what == UNREADABLE));
                done.push((at, incoming));
            }
            Understood::Memory(memory) => groups.entry(memory.project).or_default().push((at, *memory)),
        }
    }
    redact_waiting(runtime, &mut done)?;
    for (project, group) in groups {
        let root = Some(context.projects[project].project.root.as_path()).filter(|root| root.is_absolute());
        let (rest, imports): (Vec<_>, Vec<Import>) =
            group.into_iter().map(|(at, it)| ((at, it.header, it.replaces, it.supersedes), it.import)).unzip();
        let imports = Redacted::all(imports, &mut ProjectRedactor::new(runtime, root))?;
        for ((at, header, replaces, supersedes), import) in rest.into_iter().zip(imports) {
            let memory = IncomingMemory { replaces, supersedes, import: import.map(with_title) };
            done.push((at, Incoming::Memory(header, Box::new(memory))));
        }
    }
    done.sort_by_key(|(at, _)| *at);
    Ok((done.into_iter().map(|(_, incoming)| incoming).collect(), unreadable))
}

/// Redacts the keys of the projects that records wait for: they are texts of others too.
fn redact_waiting(runtime: &Runtime, done: &mut [(usize, Incoming)]) -> Result<()> {
    let mut keys: Vec<&mut String> = done
        .iter_mut()
        .filter_map(|(_, incoming)| match incoming {
            Incoming::Waiting(_, what) if ProjectKey::parse(what).is_some() => Some(what),
            _ => None,
        })
        .collect();
    let before: Vec<String> = keys.iter().map(|key| (**key).clone()).collect();
    redaction::in_place(runtime, None, keys.iter_mut().map(|key| &mut **key).collect())?;
    for (key, before) in keys.into_iter().zip(before) {
        if *key != before {
            *key = without_remote(key);
        }
    }
    Ok(())
}

/// Returns the key by the project's history alone, by which the project is still recognized when it comes to this machine. The
/// remote of a redacted key would never be the project's.
fn without_remote(redacted: &str) -> String {
    ProjectKey::parse(redacted).and_then(|key| key.without_remote()).unwrap_or_else(|| redacted.to_owned())
}

enum Understood {
    Done(Incoming),
    Memory(Box<Unredacted>),
}

fn understand(runtime: &Runtime, record: Pulled, context: &Context<'_>) -> Understood {
    let author = context.authors.get(&record.device).cloned().unwrap_or_default();
    let header = RecordHeader {
        device: record.device,
        kind: record.kind,
        sequence: record.sequence,
        author,
        decides: record.decides,
        hash: record.hash,
        item: record.item,
    };
    let waits = |header: RecordHeader, what: &str| Understood::Done(Incoming::Waiting(header, what.to_owned()));
    let Some(mut body) = record.body else { return Understood::Done(Incoming::Erased(header)) };
    if let Some(key) = context.key.filter(|_| header.kind != "tombstone") {
        // A text that is not sealed is none of the team's, whoever put it there.
        let Some(text) = key.open(&header.item, &body) else { return Understood::Done(Incoming::Unopened(header)) };
        body = text;
    }
    let Ok(read) = ReadRecord::parse(&body) else { return waits(header, UNREADABLE) };
    if read.item != header.item {
        return waits(header, UNREADABLE);
    }
    if header.kind == "tombstone" {
        return Understood::Done(Incoming::Tombstone(header, read.target));
    }
    let person = format!("person:{}", header.author);
    if context.muted.contains(&person) {
        return waits(header, &person);
    }
    let key = ProjectKey::parse(&read.project);
    let is_here = |it: &KeyedProject| matches!((&it.key, &key), (Some(own), Some(key)) if own.is_same(key));
    let Some(project) = context.projects.iter().position(is_here) else { return waits(header, &read.project) };
    let of = &context.projects[project].project;
    let muted = format!("project:{}", of.id);
    if context.muted.contains(&muted) {
        return waits(header, &muted);
    }
    if runtime.is_excluded(&of.root) {
        return waits(header, &read.project);
    }
    let parsed = read.memory.as_ref().map(|memory| line::parse(memory.get().as_bytes()));
    let Some(Ok(line)) = parsed else { return waits(header, UNREADABLE) };
    if runtime.intervals.is_excluded_at(&of.id, &[""], line.created.unwrap_or(runtime.now)) {
        return Understood::Done(Incoming::Erased(header));
    }
    let colleague = (header.author != context.member).then(|| header.author.clone());
    let import = import_of(line, of.clone(), &header.hash, colleague, runtime.now);
    let supersedes = read.supersedes.into_iter().map(|(item, how)| (item, Relation::from_name(&how))).collect();
    Understood::Memory(Box::new(Unredacted { header, replaces: read.replaces, supersedes, project, import }))
}

fn import_of(
    line: Line,
    project: throughline_model::project::Project,
    hash: &str,
    colleague: Option<String>,
    now: u64,
) -> Import {
    let said_by = line.said_by.map(SaidBy::attribute);
    Import {
        // What a colleague pinned is not pinned here.
        marks: Marks::default(),
        key: Some(occurrence_key(hash)),
        id: None,
        session: String::new(),
        project,
        draft: Draft {
            key: None,
            kind: line.kind,
            title: line.title,
            content: line.content,
            keywords: line.keywords,
            files: line.files,
            importance: line.importance,
            // A clock that is ahead must not put a colleague's word above everything to come.
            origin: Origin { line_uuid: None, at: line.created.map(|at| at.min(now)) },
            attributes: said_by.into_iter().chain(colleague.map(|name| (COLLEAGUE.to_owned(), name))).collect(),
        },
    }
}

fn with_title(mut import: Import) -> Import {
    if import.draft.title.is_empty() {
        import.draft.title = line::title_of(&import.draft.content);
    }
    import
}
