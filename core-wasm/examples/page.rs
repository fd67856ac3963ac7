//! Prints what a new session would be told after each of the given transcripts, each alone in an empty memory:
//! `cargo run --release -p throughline-default-policy --example page -- FILE… [--json]`. Nothing is stored or redacted.
//! `--json` prints one line per transcript, with the memories that would be stored. `--together` takes them for the sessions of one
//! project, from the first to the last.

#[path = "shared/lines.rs"]
mod lines;
#[path = "shared/session.rs"]
mod session;

use std::collections::BTreeMap;
use std::io::Write;

use throughline_default_policy::bindings::exports::throughline::policy::context_builder;
use throughline_default_policy::bindings::exports::throughline::policy::extractor::Request;
use throughline_default_policy::bindings::throughline::policy::memories::Fact;
use throughline_default_policy::bindings::throughline::policy::types::{Draft, Memory, Session, SessionRecord};
use throughline_default_policy::context::{Memories, build};
use throughline_default_policy::extract::extract;
use throughline_default_policy::summary::summarize;

use lines::Slice;

/// The budget of a new session, in UTF-16 units: the default of the configuration.
const BUDGET: u32 = 9_500;

/// The memory of a project.
#[derive(Default)]
struct Project {
    /// The newest first.
    records: Vec<SessionRecord>,
    memories: Vec<Memory>,
}

impl Project {
    fn of(&self, kinds: &[&str], limit: u32) -> Vec<Memory> {
        let wanted = |memory: &&Memory| {
            if kinds.is_empty() { memory.kind != "turn" } else { kinds.iter().any(|kind| *kind == memory.kind) }
        };
        self.memories.iter().filter(wanted).take(limit as usize).cloned().collect()
    }
}

impl Memories for Project {
    fn recent(&self, kinds: &[&str], limit: u32) -> Vec<Memory> {
        let mut all = self.of(kinds, u32::MAX);
        all.sort_by_key(|memory| std::cmp::Reverse(memory.created));
        all.truncate(limit as usize);
        all
    }

    fn important(&self, kinds: &[&str], limit: u32) -> Vec<Memory> {
        let mut all = self.of(kinds, u32::MAX);
        // What was learned again weighs more, as in the store.
        let again = |memory: &Memory| u8::try_from((memory.seen - 1).min(4)).unwrap_or_default();
        let weight = |memory: &Memory| memory.importance + 0.05 * f32::from(again(memory));
        all.sort_by(|one, other| weight(other).total_cmp(&weight(one)).then_with(|| other.created.cmp(&one.created)));
        all.truncate(limit as usize);
        all
    }

    fn of_session(&self, session: &str, kinds: &[&str], limit: u32) -> Vec<Memory> {
        let mut all = self.of(kinds, u32::MAX);
        all.retain(|memory| memory.session_id == session);
        all.truncate(limit as usize);
        all
    }

    fn search(&self, _query: &str, _kinds: &[&str], _limit: u32) -> Vec<Memory> {
        Vec::new()
    }

    fn knowledge(&self, limit: u32) -> Vec<Fact> {
        let fact = |memory: Memory| Fact { kind: memory.kind, content: memory.title, file: None, updated: 0 };
        self.of(&["convention"], limit).into_iter().map(fact).collect()
    }

    fn sessions(&self, limit: u32) -> Vec<SessionRecord> {
        self.records.iter().take(limit as usize).cloned().collect()
    }

    fn last_session(&self) -> Option<SessionRecord> {
        self.records.first().cloned()
    }

    fn session(&self, id: &str) -> Option<SessionRecord> {
        self.records.iter().find(|record| record.id == id).cloned()
    }
}

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let (options, files): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|it| it.starts_with("--"));
    let mut project = Project::default();
    for file in files {
        let text = String::from_utf8_lossy(&std::fs::read(&file)?).into_owned();
        if options.iter().any(|option| option == "--together") {
            let session = read(&text, &file, &mut project);
            writeln!(out, "##### {file}\n{}\n", page(session, &project))?;
            continue;
        }
        let mut memory = Project::default();
        let session = read(&text, "session", &mut memory);
        let page = page(session, &memory);
        if options.iter().any(|option| option == "--json") {
            let stored: Vec<_> = memory
                .memories
                .iter()
                .map(|it| serde_json::json!({"kind": it.kind, "title": it.title, "content": it.content}))
                .collect();
            writeln!(out, "{}", serde_json::json!({"file": file, "page": page, "stored": stored}))?;
        } else {
            writeln!(out, "##### {file}\n{page}\n")?;
        }
    }
    Ok(())
}

/// Reads a transcript into the memory of a project, as the session with that identifier.
fn read(text: &str, id: &str, project: &mut Project) -> Session {
    let cwd = text.lines().find_map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).ok()?;
        Some(line.get("cwd")?.as_str()?.to_owned())
    });
    let cwd = cwd.unwrap_or_default();
    let session = Session { id: id.to_owned(), root: cwd.clone(), cwd, ..session::session() };
    let request = Request { session: session.clone(), moment: "ingest".to_owned(), state: None, supplements: Vec::new() };
    let extraction = extract(&request, &mut Slice(Some(&text.lines().collect::<Vec<_>>())));
    let mut drafts: BTreeMap<String, Draft> = BTreeMap::new();
    for draft in extraction.drafts {
        drafts.insert(draft.key.clone().unwrap_or_default(), draft);
    }
    for key in &extraction.retracted {
        drafts.remove(key);
    }
    let summary = summarize(&extraction.notes);
    let record = SessionRecord {
        id: session.id.clone(),
        started: extraction.notes.started,
        ended: extraction.notes.ended,
        summary: summary.as_ref().map(|summary| summary.text.clone()).unwrap_or_default(),
        topics: summary.map(|summary| summary.topics).unwrap_or_default(),
        files: Vec::new(),
        notes: Some(extraction.notes),
    };
    project.records.insert(0, record);
    // As the store gives them: the one that ended last comes first.
    project.records.sort_by_key(|record| std::cmp::Reverse(record.ended));
    for memory in drafts.into_values().map(|draft| stored(draft, id)) {
        // The same content is one memory.
        let is_same = |known: &&mut Memory| known.kind == memory.kind && known.content == memory.content;
        match project.memories.iter_mut().find(is_same) {
            Some(known) => known.seen += 1,
            None => project.memories.push(memory),
        }
    }
    project.memories.sort_by_key(|memory| memory.created);
    session
}

/// Returns what a new session of the project is told.
fn page(session: Session, project: &Project) -> String {
    let request = context_builder::Request {
        session: Session { id: "new".to_owned(), ..session },
        source: "startup".to_owned(),
        budget: BUDGET,
        found: Vec::new(),
    };
    build(&request, project).map(|context| context.text).unwrap_or_default()
}

fn stored(draft: Draft, session: &str) -> Memory {
    Memory {
        id: format!("{session} {}", draft.key.unwrap_or_default()),
        session_id: session.to_owned(),
        kind: draft.kind,
        title: draft.title,
        content: draft.content,
        keywords: draft.keywords,
        files: draft.files,
        importance: draft.importance,
        created: draft.origin.at.unwrap_or_default(),
        seen: 1,
        score: 0.0,
        attributes: draft.attributes,
    }
}
