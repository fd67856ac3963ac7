//! Prints what a new session would be told after each of the given transcripts, each alone in an empty memory:
//! `cargo run --release -p throughline-default-policy --example page -- FILE… [--json]`. Nothing is stored or redacted.
//! `--json` prints one line per transcript, with the memories that would be stored.

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

/// The memory of one session.
struct OneSession {
    record: SessionRecord,
    memories: Vec<Memory>,
}

impl OneSession {
    fn of(&self, kinds: &[&str], limit: u32) -> Vec<Memory> {
        let wanted = |memory: &&Memory| {
            if kinds.is_empty() { memory.kind != "turn" } else { kinds.iter().any(|kind| *kind == memory.kind) }
        };
        self.memories.iter().filter(wanted).take(limit as usize).cloned().collect()
    }
}

impl Memories for OneSession {
    fn recent(&self, kinds: &[&str], limit: u32) -> Vec<Memory> {
        let mut all = self.of(kinds, u32::MAX);
        all.sort_by_key(|memory| std::cmp::Reverse(memory.created));
        all.truncate(limit as usize);
        all
    }

    fn important(&self, kinds: &[&str], limit: u32) -> Vec<Memory> {
        let mut all = self.of(kinds, u32::MAX);
        all.sort_by(|one, other| other.importance.total_cmp(&one.importance));
        all.truncate(limit as usize);
        all
    }

    fn of_session(&self, _session: &str, kinds: &[&str], limit: u32) -> Vec<Memory> {
        self.of(kinds, limit)
    }

    fn search(&self, _query: &str, _kinds: &[&str], _limit: u32) -> Vec<Memory> {
        Vec::new()
    }

    fn knowledge(&self, limit: u32) -> Vec<Fact> {
        let fact = |memory: Memory| Fact { kind: memory.kind, content: memory.title, file: None, updated: 0 };
        self.of(&["convention"], limit).into_iter().map(fact).collect()
    }

    fn sessions(&self, _limit: u32) -> Vec<SessionRecord> {
        vec![self.record.clone()]
    }

    fn last_session(&self) -> Option<SessionRecord> {
        Some(self.record.clone())
    }

    fn session(&self, _id: &str) -> Option<SessionRecord> {
        Some(self.record.clone())
    }
}

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let (options, files): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|it| it.starts_with("--"));
    for file in files {
        let text = String::from_utf8_lossy(&std::fs::read(&file)?).into_owned();
        let (memory, page) = page(&text);
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

fn page(text: &str) -> (OneSession, String) {
    let cwd = text.lines().find_map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).ok()?;
        Some(line.get("cwd")?.as_str()?.to_owned())
    });
    let cwd = cwd.unwrap_or_default();
    let session = Session { root: cwd.clone(), cwd, ..session::session() };
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
    let mut memories: Vec<Memory> = drafts.into_values().map(stored).collect();
    memories.sort_by_key(|memory| memory.created);
    let memory = OneSession { record, memories };
    let request = context_builder::Request {
        session: Session { id: "new".to_owned(), ..session },
        source: "startup".to_owned(),
        budget: BUDGET,
        found: Vec::new(),
    };
    let page = build(&request, &memory).map(|context| context.text).unwrap_or_default();
    (memory, page)
}

fn stored(draft: Draft) -> Memory {
    Memory {
        id: draft.key.unwrap_or_default(),
        session_id: "session".to_owned(),
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
