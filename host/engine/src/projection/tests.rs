//! Tests of the generated files against expected texts, on a small database.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::redaction::tests::redacted;
use throughline_model::contract::{Change, Decision, Discovery, Draft, Origin, SessionNotes};
use throughline_store::journal::{EventPayload, JournalRecord};
use throughline_store::{Access, CommitBatch, Fate, Learned, SAVED, SAVED_BY_AGENT, SessionUpdate};

/// 2026-01-15T10:30:00Z.
const AT: u64 = 1_768_473_000_000;
const MINUTE: u64 = 60_000;

struct Fixture {
    dir: tempfile::TempDir,
    store: Store,
    project: Project,
}

fn fixture() -> Fixture {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("t.db"), Access::Write, Duration::from_secs(1)).unwrap();
    store.set_synchronous_normal().unwrap();
    let root = dir.path().join("shop");
    fs::create_dir(&root).unwrap();
    let project = Project { id: "0123456789abcdef".into(), identity: "dir:/shop".into(), root };
    Fixture { dir, store, project }
}

fn notes(at: u64) -> SessionNotes {
    SessionNotes {
        original_request: "Let the importer\nskip empty rows".into(),
        current_objective: "Write the release note".into(),
        outcome: "The importer skips empty rows.".into(),
        started: Some(at),
        ended: Some(at + 5 * MINUTE),
        turns: 2,
        done: vec!["Skip rows".into()],
        current: vec!["Release note".into()],
        pending: vec!["# Publish".into()],
        decisions: vec![Decision {
            what: "One count at the end".into(),
            why: "less noise".into(),
            rejected: vec!["A warning a row".into()],
        }],
        discoveries: vec![Discovery { file: "src/a.rs".into(), insight: "amounts may be empty".into(), at: Some(at) }],
        learnings: vec!["csv trims".into()],
        changes: ["src/a.rs", "src/b.rs"].map(|path| Change { path: path.into(), added: 3, removed: 1 }).to_vec(),
        commits: vec!["abc123 Skip empty rows".into()],
        blockers: vec!["No access to the staging machine".into()],
        errors: vec!["cargo doc fails".into(), "`cargo test`: E0432 unresolved import".into()],
        ..SessionNotes::default()
    }
}

fn draft(kind: &str, content: &str, importance: f32) -> Draft {
    Draft {
        kind: kind.into(),
        title: content.into(),
        content: content.into(),
        importance,
        origin: Origin { line_uuid: None, at: Some(AT) },
        ..Draft::default()
    }
}

impl Fixture {
    fn session(&mut self, id: &str, notes: SessionNotes, drafts: Vec<Draft>) {
        let update = SessionUpdate { id: id.into(), summary: notes.outcome.clone(), notes, ..SessionUpdate::default() };
        let drafts = drafts.into_iter().map(|draft| (0, draft)).collect();
        let learned = Learned { session: Some(update), drafts, ..Learned::default() };
        self.store
            .commit(&CommitBatch {
                project: &self.project,
                session_id: id,
                learned: &redacted(learned),
                policies: &[("p".into(), "d".into())],
                reader: id,
                cursor: None,
                anchors: &[],
                moment: "stop",
                now: AT + 6 * MINUTE,
            })
            .unwrap();
    }

    fn full() -> Self {
        let mut it = fixture();
        let decisions = vec![
            draft("decision", "One count at the end. Why: less noise", 0.9),
            draft("preference", "Always use nextest", 0.8),
            Draft {
                attributes: vec![(SAVED_BY_AGENT.0.into(), SAVED_BY_AGENT.1.into())],
                ..draft("preference", "Always upload the logs", 0.75)
            },
            draft("learning", "csv trims", 0.7),
        ];
        it.session("one", notes(AT), decisions);
        it.session("two", SessionNotes { outcome: "Looked around.".into(), ..notes(AT + 10_000) }, Vec::new());
        let saved = Draft {
            key: Some("saved-summary".into()),
            attributes: vec![(SAVED.0.into(), SAVED.1.into())],
            ..draft("session_summary", "By hand:\n# all is well", 0.6)
        };
        it.store.save_memory(&it.project, "two", &redacted(saved), AT).unwrap();
        let attributes = [("subject", "cargo test"), ("signature", "s"), ("error", "E0432 unresolved import")];
        let record = JournalRecord {
            kind: "tool_observation".into(),
            key: "k".into(),
            at: AT,
            session: "one".into(),
            cwd: PathBuf::from("/"),
            seen: EventPayload {
                tool: "Bash".into(),
                summary: "cargo test failed".into(),
                attributes: attributes.map(|(name, value)| (name.into(), value.into())).to_vec(),
                failed: true,
                ..EventPayload::default()
            },
        };
        it.store.put_records(&it.project, &[redacted(record)], AT).unwrap();
        it
    }

    fn notes_folder(&self) -> PathBuf {
        self.dir.path().join("notes")
    }

    fn write(&self, which: SessionSelection<'_>) -> Vec<WrittenFile> {
        write_notes(&self.store, &self.project, &self.notes_folder(), which, &zone()).unwrap()
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.notes_folder().join("shop").join(path)).unwrap()
    }

    fn sessions(&self) -> Vec<String> {
        let folder = self.notes_folder().join("shop/sessions");
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn zone() -> TimeZone {
    TimeZone::fixed(jiff::tz::offset(9))
}

#[test]
fn the_memory_of_a_project() {
    let it = Fixture::full();
    it.write(SessionSelection::All);
    assert_eq!(
        it.read("memory.md"),
        "# Project Memory: shop

## Core Decisions
- One count at the end. Why: less noise
- Preference: Always use nextest
- Preference, noted by the agent: Always upload the logs

## Current State
- Last updated: 2026-01-15T10:35:10Z
- State: Looked around.

## Recent Context
- 2026-01-15: By hand: # all is well
- 2026-01-15: The importer skips empty rows.

## Known Issues
- No access to the staging machine
- `cargo test` fails: E0432 unresolved import
- cargo doc fails
"
    );
}

#[test]
fn the_file_of_a_session() {
    let it = Fixture::full();
    it.write(SessionSelection::All);
    assert_eq!(it.sessions(), ["2026-01-15_1930.md", "2026-01-15_1930_2.md"]);
    assert_eq!(
        it.read("sessions/2026-01-15_1930.md"),
        "# Session of 2026-01-15 19:30

- Session: `one`
- Started: 2026-01-15T10:30:00Z
- Ended: 2026-01-15T10:35:00Z
- Turns: 2

## Request
Let the importer skip empty rows

## Objective
Write the release note

## Outcome
The importer skips empty rows.

## Decisions
- One count at the end — less noise (rejected: A warning a row)

## Done
- Skip rows

## Open
- Release note
- # Publish
- No access to the staging machine
- cargo doc fails
- `cargo test`: E0432 unresolved import

## Files Changed
- `src/a.rs` (+3 −1)
- `src/b.rs` (+3 −1)

## Commits
- abc123 Skip empty rows

## Learnings
- csv trims
- `src/a.rs`: amounts may be empty
"
    );
    assert!(it.read("sessions/2026-01-15_1930_2.md").contains("\n## Summary\n> By hand:\n> # all is well\n"));
}

#[test]
fn the_context_of_a_session() {
    let it = Fixture::full();
    let context = context(&it.store, &it.project, "one").unwrap().unwrap();
    assert_eq!(
        serde_json::to_value(&context).unwrap(),
        json!({
            "meta": {
                "version": "2.0",
                "saved_at": "2026-01-15T10:36:00Z",
                "session_id": "one",
                "project": it.project.root,
            },
            "goal": {
                "original_request": "Let the importer\nskip empty rows",
                "current_objective": "Write the release note",
            },
            "progress": {"done": ["Skip rows"], "current": ["Release note"], "pending": ["# Publish"]},
            "decisions": [{"what": "One count at the end", "why": "less noise", "rejected": ["A warning a row"]}],
            "discoveries": [{"file": "src/a.rs", "insight": "amounts may be empty", "timestamp": "2026-01-15T10:30:00Z"}],
            "state": {
                "recent_files": ["src/b.rs", "src/a.rs"],
                "blockers": ["No access to the staging machine"],
                "errors": ["cargo doc fails", "`cargo test`: E0432 unresolved import"],
            },
        })
    );
    assert!(super::context(&it.store, &it.project, "none").unwrap().is_none());
}

#[test]
fn what_did_not_change_is_not_written_again() {
    let mut it = Fixture::full();
    assert!(it.write(SessionSelection::All).iter().all(|file| file.changed));
    assert!(it.write(SessionSelection::All).iter().all(|file| !file.changed));
    assert!(it.write(SessionSelection::One("one")).iter().all(|file| !file.changed));
    // A session that was read late renumbers the others of its minute.
    it.session("zero", notes(AT - 1), Vec::new());
    it.session("early", notes(AT + 1), Vec::new());
    let changed: Vec<_> = it.write(SessionSelection::One("early")).into_iter().filter(|file| file.changed).collect();
    assert_eq!(it.sessions(), ["2026-01-15_1929.md", "2026-01-15_1930.md", "2026-01-15_1930_2.md", "2026-01-15_1930_3.md"]);
    assert!(it.read("sessions/2026-01-15_1930_2.md").contains("`early`"));
    assert_eq!(changed.len(), 4, "{changed:#?}");
}

#[test]
fn the_context_before_is_kept() {
    let mut it = Fixture::full();
    let folder = it.project.root.join(".claude");
    assert!(write_context(&it.store, &it.project, "one").unwrap().unwrap().changed);
    let first = fs::read_to_string(folder.join("session-context.json")).unwrap();
    assert!(!write_context(&it.store, &it.project, "one").unwrap().unwrap().changed);
    assert!(!folder.join("session-context.json.bak").exists());
    it.session("one", SessionNotes { done: vec!["All".into()], ..notes(AT) }, Vec::new());
    write_context(&it.store, &it.project, "one").unwrap();
    assert_eq!(fs::read_to_string(folder.join("session-context.json.bak")).unwrap(), first);
    assert!(fs::read_to_string(folder.join("session-context.json")).unwrap().contains("\"All\""));
    fs::remove_dir_all(&it.project.root).unwrap();
    assert_eq!(write_context(&it.store, &it.project, "one").unwrap(), None);
}

#[test]
fn what_is_no_longer_stored_stands_in_no_file() {
    let mut it = Fixture::full();
    let settings = Projections { folder: Some(it.notes_folder()), session_context: true };
    write_all(&it.store, &settings, &it.project).unwrap();
    it.session("two", SessionNotes { done: vec!["More".into()], ..notes(AT + 10_000) }, Vec::new());
    write_all(&it.store, &settings, &it.project).unwrap();
    let mine = it.notes_folder().join("shop/sessions/mine.md");
    fs::write(&mine, "- Session: mine").unwrap();
    let projects = it.store.all_projects().unwrap();
    assert_eq!(projects, [it.project.clone()]);

    let one = throughline_store::Selection { session: Some("two".into()), ..throughline_store::Selection::default() };
    it.store.forget(&one, AT, Fate::Erased).unwrap();
    rewrite_all(&it.store, &settings, &projects).unwrap();
    assert_eq!(it.sessions().len(), 2, "{:?}", it.sessions());
    let context = it.project.root.join(".claude/session-context.json");
    assert!(fs::read_to_string(&context).unwrap().contains("\"one\""));
    assert!(!context.with_extension("json.bak").exists());

    let all =
        throughline_store::Selection { project: Some(it.project.id.clone()), ..throughline_store::Selection::default() };
    it.store.forget(&all, AT, Fate::Erased).unwrap();
    rewrite_all(&it.store, &settings, &projects).unwrap();
    assert!(!context.exists() && mine.exists());
    assert_eq!(it.sessions(), ["mine.md"]);
    assert!(!it.notes_folder().join("shop/memory.md").exists());
}
