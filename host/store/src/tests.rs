//! Tests of the store against real databases.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;

use super::*;
use crate::journal::{EventPayload, JournalRecord};
use throughline_model::contract::{Decision, Draft, Origin, SessionNotes};
use throughline_model::cursor::Cursor;
use throughline_model::project::Project;
use throughline_model::redacted::{Redacted, TextRedactor, Texts};
use throughline_model::said_by::SaidBy;
use throughline_search::query::Query;

mod consolidation;
mod continued;

pub(super) struct Fixture {
    _dir: tempfile::TempDir,
    pub(super) store: Store,
    pub(super) path: PathBuf,
}

pub(super) fn fixture() -> Fixture {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.db");
    let store = Store::open(&path, Access::Write, Duration::from_millis(50)).unwrap();
    store.set_synchronous_normal().unwrap();
    Fixture { _dir: dir, store, path }
}

pub(super) fn project(name: &str) -> Project {
    Project { id: format!("{name:0>16}"), identity: format!("dir:/{name}"), root: format!("/{name}").into() }
}

pub(super) fn draft(key: Option<&str>, content: &str, uuid: &str) -> Draft {
    Draft {
        key: key.map(str::to_owned),
        kind: "decision".into(),
        title: content.into(),
        content: content.into(),
        importance: 0.5,
        origin: Origin { line_uuid: Some(uuid.into()), at: Some(1_000) },
        ..Draft::default()
    }
}

#[test]
fn a_hook_finds_by_its_words_what_a_search_finds() {
    let (mut it, project) = (fixture(), project("a"));
    let mut drafts: Vec<Draft> = (0..60)
        .map(|n| draft(None, &format!("The cache of part {n} is flushed before it is closed"), &format!("u{n}")))
        .collect();
    drafts.push(draft(None, "The parser of quokka files drops the last line", "q1"));
    drafts.push(Draft { kind: "turn".into(), ..draft(None, "Why does the quokka parser fail?", "q2") });
    it.commit(&project, "s", &drafts, &[]);
    let found = |words: &str, kinds: &[&str]| -> Vec<String> {
        let mut query = Query::parse(words, &jiff::Zoned::now());
        query.kinds = kinds.iter().map(|&kind| kind.to_owned()).collect();
        let search = Search { is_quick: true, ..Search::new(&query, Some(&project.id), 5, 3_000) };
        it.store.search(&search).unwrap().hits.into_iter().map(|hit| hit.memory.content).collect()
    };
    assert_eq!(found("quokka parser", &["decision"]), ["The parser of quokka files drops the last line"]);
    assert_eq!(found("quokka parser", &[]).len(), 2);
    assert_eq!(found("cache part 17", &[])[0], "The cache of part 17 is flushed before it is closed");
    assert!(found("wombat", &[]).is_empty());
}

#[test]
fn a_search_of_two_threads_finds_what_one_finds() {
    let (mut it, project) = (fixture(), project("a"));
    let batch: Vec<Import> = (0..2_100)
        .map(|n| {
            // Some have several pieces, and some share only their meaning with the query.
            let rest = "It reads the file before it writes the table. ".repeat(if n % 50 == 0 { 60 } else { 0 });
            let what = ["the cache is flushed", "the parser drops a line", "a login has expired"][n % 3];
            let draft = draft(None, &format!("In part {n} {what}. {rest}"), &format!("u{n}"));
            Import {
                project: project.clone(),
                session: format!("s{}", n % 40),
                key: None,
                id: None,
                marks: crate::Marks::default(),
                draft,
            }
        })
        .collect();
    it.store.import(&all_redacted(&batch), 3_000).unwrap();
    let query = Query::parse("flushed caches of part 50, authentication of a table", &jiff::Zoned::now());
    let found = |store: &Store| -> Vec<(String, f32, Vec<String>)> {
        let hits = store.search(&Search::new(&query, Some(&project.id), 40, 3_000)).unwrap().hits;
        hits.into_iter().map(|hit| (hit.memory.id, hit.memory.score, hit.words)).collect()
    };
    let by_two = found(&it.store);
    assert_eq!(by_two.len(), 40);
    // The second thread finds no database, so the first one does its work.
    it.store.path = "/nowhere".into();
    assert_eq!(found(&it.store), by_two);
}

/// Redacts nothing: no text of these tests is secret.
struct NoSecrets;

impl TextRedactor for NoSecrets {
    type Error = std::convert::Infallible;

    fn redact_texts(&mut self, _texts: Vec<&mut String>) -> std::result::Result<(), Self::Error> {
        Ok(())
    }
}

pub(super) fn redacted<T: Texts>(value: T) -> Redacted<T> {
    let Ok(value) = Redacted::new(value, &mut NoSecrets);
    value
}

pub(super) fn all_redacted<T: Texts + Clone>(values: &[T]) -> Vec<Redacted<T>> {
    values.iter().cloned().map(redacted).collect()
}

impl Fixture {
    pub(super) fn commit(
        &mut self,
        project: &Project,
        session: &str,
        drafts: &[Draft],
        retracted: &[String],
    ) -> CommitCounts {
        let update = SessionUpdate {
            id: session.into(),
            notes: SessionNotes { turns: 1, ended: Some(2_000), ..SessionNotes::default() },
            ..SessionUpdate::default()
        };
        let learned = Learned {
            session: Some(update),
            drafts: drafts.iter().map(|draft| (0, draft.clone())).collect(),
            retracted: retracted.to_vec(),
            ..Learned::default()
        };
        self.store
            .commit(&CommitBatch {
                project,
                session_id: session,
                learned: &redacted(learned),
                policies: &[("p".into(), "d".into())],
                reader: "s",
                cursor: None,
                anchors: &[],
                moment: "stop",
                now: 3_000,
            })
            .unwrap()
    }

    /// Returns everything that a reader could see of the memories of all projects.
    fn memories(&self) -> Vec<(String, String, u32)> {
        let mut all: Vec<_> = self
            .store
            .recent(&MemoryFilter::default(), 1_000)
            .unwrap()
            .into_iter()
            .map(|memory| (memory.content, memory.session_id, memory.seen))
            .collect();
        all.sort();
        all
    }

    pub(super) fn found(&self, words: &str, project: &Project) -> Vec<String> {
        let query = Query::parse(words, &jiff::Zoned::now());
        let profile = throughline_search::rank::find_profile("text").unwrap();
        let found = self.store.search(&Search { profile, ..Search::new(&query, Some(&project.id), 10, 3_000) }).unwrap();
        found.hits.into_iter().map(|hit| hit.memory.content).collect()
    }
}

#[test]
fn what_is_saved_by_hand_in_two_projects_stays_in_both() {
    let mut it = fixture();
    let (a, b) = (project("a"), project("b"));
    for project in [&a, &b, &a] {
        it.store.save_memory(project, "", &redacted(Draft { key: None, ..draft(None, "use tabs", "u") }), 1_000).unwrap();
    }
    assert_eq!((it.found("tabs", &a).len(), it.found("tabs", &b).len()), (1, 1));
}

#[test]
fn the_same_content_is_stored_once_and_counts_as_seen_again() {
    let mut it = fixture();
    let project = project("a");
    assert_eq!(
        it.commit(&project, "s1", &[draft(None, "x", "u1")], &[]),
        CommitCounts { stored: 1, ..CommitCounts::default() }
    );
    assert_eq!(it.commit(&project, "s1", &[draft(None, "x", "u1")], &[]), CommitCounts::default());
    assert_eq!(
        it.commit(&project, "s2", &[draft(None, "x", "u2")], &[]),
        CommitCounts { seen_again: 1, ..CommitCounts::default() }
    );
    assert_eq!(it.memories(), [("x".into(), "s1".into(), 2)]);
}

#[test]
fn who_said_the_same_content_is_the_most_trusted() {
    let (mut it, shop) = (fixture(), project("shop"));
    let of = |said_by: Option<SaidBy>, uuid: &str| Draft {
        attributes: said_by.map(SaidBy::attribute).into_iter().collect(),
        ..draft(Some("d"), "Round the totals once", uuid)
    };
    let steps = [
        (None, None),
        (Some(SaidBy::Tool), Some(SaidBy::Tool)),
        (Some(SaidBy::Human), Some(SaidBy::Human)),
        (Some(SaidBy::Agent), Some(SaidBy::Human)),
    ];
    for (number, (said_by, wanted)) in (1..).zip(steps) {
        it.commit(&shop, &format!("s{number}"), &[of(said_by, &format!("u{number}"))], &[]);
        let found = it.store.recent(&MemoryFilter::default(), 10).unwrap();
        assert_eq!(found.iter().map(|memory| (memory.said_by(), memory.seen)).collect::<Vec<_>>(), [(wanted, number)]);
    }
    // The same line, read again by a policy that says more than the one before.
    it.commit(&project("other"), "t1", &[of(None, "v1")], &[]);
    it.commit(&project("other"), "t1", &[of(Some(SaidBy::Agreed), "v1")], &[]);
    let filter = MemoryFilter { project: Some(project("other").id), ..MemoryFilter::default() };
    assert_eq!(it.store.recent(&filter, 10).unwrap()[0].said_by(), Some(SaidBy::Agreed));
}

#[test]
fn the_copy_of_a_line_in_a_forked_session_is_not_seen_again() {
    let mut it = fixture();
    let project = project("a");
    it.commit(&project, "s1", &[draft(Some("k"), "x", "u1")], &[]);
    it.commit(&project, "fork", &[draft(Some("k"), "x", "u1")], &[]);
    assert_eq!(it.memories(), [("x".into(), "s1".into(), 1)]);
}

#[test]
fn a_key_names_one_memory_of_its_session() {
    let mut it = fixture();
    let project = project("a");
    it.commit(&project, "s1", &[draft(Some("k"), "first thought", "u1")], &[]);
    it.commit(&project, "s1", &[draft(Some("k"), "second thought", "u2")], &[]);
    assert_eq!(it.memories(), [("second thought".into(), "s1".into(), 1)]);
    assert_eq!(it.found("first", &project), Vec::<String>::new());
    it.commit(&project, "s1", &[], &["k".into()]);
    assert!(it.memories().is_empty());
    assert_eq!(it.found("second", &project), Vec::<String>::new());
}

#[test]
fn what_another_session_learned_too_outlives_a_retraction() {
    let mut it = fixture();
    let project = project("a");
    it.commit(&project, "s1", &[draft(Some("k"), "x", "u1")], &[]);
    it.commit(&project, "s2", &[draft(Some("k"), "x", "u2")], &[]);
    it.commit(&project, "s1", &[], &["k".into()]);
    assert_eq!(it.memories(), [("x".into(), "s2".into(), 1)]);
}

#[test]
fn what_was_deleted_does_not_come_back() {
    let mut it = fixture();
    let project = project("a");
    it.commit(&project, "s1", &[draft(None, "x", "u1")], &[]);
    let id = it.store.recent(&MemoryFilter::default(), 1).unwrap().remove(0).id;
    assert!(it.store.delete_memory(&id, 4_000).unwrap());
    it.commit(&project, "s2", &[draft(None, "x", "u2")], &[]);
    assert!(it.memories().is_empty());
}

#[test]
fn what_was_deleted_leaves_the_notes_too() {
    let mut it = fixture();
    let project = project("a");
    let notes = SessionNotes {
        turns: 1,
        learnings: vec!["the otter bites".into(), "the heron does not".into()],
        decisions: vec![Decision { what: "Feed it fish".into(), ..Decision::default() }],
        ..SessionNotes::default()
    };
    let update = SessionUpdate { id: "s".into(), notes, ..SessionUpdate::default() };
    let drafts = vec![(0, draft(None, "the otter bites", "u1")), (0, draft(None, "Feed it fish. Why: it bites", "u2"))];
    it.store
        .commit(&CommitBatch {
            project: &project,
            session_id: "s",
            learned: &redacted(Learned { session: Some(update), drafts, ..Learned::default() }),
            policies: &[("p".into(), "d".into())],
            reader: "s",
            cursor: None,
            anchors: &[],
            moment: "stop",
            now: 1,
        })
        .unwrap();
    for memory in it.store.recent(&MemoryFilter::default(), 10).unwrap() {
        assert!(it.store.delete_memory(&memory.id, 2).unwrap());
    }
    let notes = it.store.notes("s").unwrap().unwrap();
    assert_eq!(notes.learnings, ["the heron does not"]);
    assert!(notes.decisions.is_empty());
}

#[test]
fn one_project_never_sees_another() {
    let mut it = fixture();
    let (a, b) = (project("a"), project("b"));
    it.commit(&a, "s1", &[draft(None, "the otter swims", "u1")], &[]);
    it.commit(&b, "s2", &[draft(None, "the otter sleeps", "u2")], &[]);
    assert_eq!(it.found("otter", &a), ["the otter swims"]);
    assert_eq!(it.found("otter", &b), ["the otter sleeps"]);
    assert!(it.store.session(&a.id, "s2").unwrap().is_none());
    assert!(it.store.sessions(&a.id, "", 10).unwrap().iter().all(|session| session.id == "s1"));
    assert_eq!(it.found("otter", &project("c")), Vec::<String>::new());
}

#[test]
fn a_newer_database_is_refused_and_left_as_it_is() {
    let it = fixture();
    it.store.conn.pragma_update(None, "user_version", SCHEMA_VERSION + 1).unwrap();
    it.store.checkpoint().unwrap();
    let before = fs::read(&it.path).unwrap();
    let error = Store::open(&it.path, Access::Write, Duration::ZERO).unwrap_err();
    assert!(matches!(error, StoreError::Newer { found, .. } if found == SCHEMA_VERSION + 1), "{error}");
    assert_eq!(fs::read(&it.path).unwrap(), before);
}

#[test]
fn what_is_no_database_is_said_to_be_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.db");
    fs::write(&path, "not a database, but long enough to be looked at ".repeat(100)).unwrap();
    let error = Store::open(&path, Access::Write, Duration::ZERO).unwrap_err();
    assert!(matches!(error, StoreError::Damaged(..)), "{error}");
    assert!(error.hint().is_some());
}

#[test]
fn a_cursor_moves_only_from_where_it_was_read() {
    let it = fixture();
    let cursor = Cursor { path: "/t".into(), session_id: "s".into(), offset: 10, ..Cursor::default() };
    it.store.put_cursor(&cursor, 1).unwrap();
    // Another hook that read the same lines comes second.
    assert!(matches!(it.store.put_cursor(&cursor, 1), Err(StoreError::Conflict)));
    let read = it.store.cursor("/t").unwrap().unwrap();
    it.store.put_cursor(&Cursor { offset: 20, ..read }, 2).unwrap();
    assert_eq!(it.store.cursor("/t").unwrap().unwrap().offset, 20);
}

#[test]
fn a_batch_whose_cursor_lost_the_race_stores_nothing() {
    let mut it = fixture();
    let project = project("a");
    let cursor = Cursor { path: "/t".into(), session_id: "s".into(), ..Cursor::default() };
    it.store.put_cursor(&cursor, 1).unwrap();
    let drafts = vec![(0, draft(None, "x", "u1"))];
    let session = Some(SessionUpdate { id: "s".into(), ..SessionUpdate::default() });
    let outcome = it.store.commit(&CommitBatch {
        project: &project,
        session_id: "s",
        learned: &redacted(Learned { session, drafts, ..Learned::default() }),
        policies: &[("p".into(), "d".into())],
        reader: "s",
        cursor: Some(&cursor),
        anchors: &[],
        moment: "stop",
        now: 1,
    });
    assert!(matches!(outcome, Err(StoreError::Conflict)));
    assert!(it.memories().is_empty());
}

#[test]
fn cursors_of_a_folder_are_those_below_it() {
    let it = fixture();
    for path in ["/p/a.jsonl", "/p/sub/b.jsonl", "/p0", "/p.jsonl", "/other/a.jsonl"] {
        it.store.put_cursor(&Cursor { path: path.into(), session_id: "s".into(), ..Cursor::default() }, 1).unwrap();
    }
    let below: Vec<String> = it.store.cursors_below("/p").unwrap().into_iter().map(|cursor| cursor.path).collect();
    assert_eq!(below, ["/p/a.jsonl", "/p/sub/b.jsonl"]);
}

/// What an extraction may do to a session's memories.
#[derive(Debug, Clone)]
enum Change {
    PutOutcome(u8, u8),
    Retract(u8),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => (0_u8..4, 0_u8..6).prop_map(|(key, content)| Change::PutOutcome(key, content)),
        1 => (0_u8..4).prop_map(Change::Retract),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The same changes in one transaction or in many leave the same memories, and the index matches the table.
    #[test]
    fn batches_of_any_size_leave_the_same(changes in prop::collection::vec(change(), 1..24), size in 1_usize..6) {
        let project = project("a");
        let mut one = fixture();
        let mut many = fixture();
        for change in &changes {
            apply(&mut one, &project, std::slice::from_ref(change));
        }
        for batch in changes.chunks(size) {
            // Within a batch, the last change of a key wins, as for an extractor that returns them together.
            apply(&mut many, &project, &last_words(batch));
        }
        prop_assert_eq!(one.memories(), many.memories());
        for content in 0..6 {
            let word = format!("content{content}");
            let stored = one.memories().iter().any(|(text, ..)| *text == word);
            prop_assert_eq!(one.found(&word, &project).contains(&word), stored, "{}", word);
        }
    }
}

fn last_words(changes: &[Change]) -> Vec<Change> {
    let key = |change: &Change| match change {
        Change::PutOutcome(key, _) | Change::Retract(key) => *key,
    };
    (0..changes.len())
        .filter(|&n| changes[n + 1..].iter().all(|later| key(later) != key(&changes[n])))
        .map(|n| changes[n].clone())
        .collect()
}

fn apply(it: &mut Fixture, project: &Project, changes: &[Change]) {
    let mut drafts = Vec::new();
    let mut retracted = Vec::new();
    for change in changes {
        match change {
            Change::PutOutcome(key, content) => {
                drafts.push(draft(Some(&format!("k{key}")), &format!("content{content}"), &format!("u{key}")));
            }
            Change::Retract(key) => retracted.push(format!("k{key}")),
        }
    }
    it.commit(project, "s", &drafts, &retracted);
}

/// A deleted memory leaves none of its pieces in the full-text table.
#[test]
fn the_words_of_what_was_deleted_leave_the_index() {
    let mut it = fixture();
    let project = project("a");
    let long = "the otter bites. ".repeat(300);
    it.commit(&project, "s", &[draft(None, &long, "u1")], &[]);
    let rows = |it: &Fixture| -> i64 {
        it.store
            .conn
            .query_row("SELECT count(*) FROM memories_fts WHERE memories_fts MATCH 'otter'", [], |row| row.get(0))
            .unwrap()
    };
    assert!(rows(&it) > 1);
    let id = it.store.recent(&MemoryFilter::default(), 1).unwrap()[0].id.clone();
    assert!(it.store.delete_memory(&id, 2).unwrap());
    assert_eq!(rows(&it), 0);
}

/// A tool use, as a hook records it.
pub(super) fn used(session: &str, key: &str, at: u64, seen: EventPayload) -> JournalRecord {
    JournalRecord { kind: OBSERVATION.into(), key: key.into(), at, session: session.into(), cwd: "/p".into(), seen }
}

pub(super) fn edit(file: &str) -> EventPayload {
    EventPayload {
        tool: "Edit".into(),
        summary: format!("Edited {file}"),
        files: vec![file.into()],
        ..EventPayload::default()
    }
}

pub(super) fn tested(failed: bool) -> EventPayload {
    let mut attributes = vec![("subject".into(), "cargo test".into())];
    if failed {
        attributes.extend([("signature".into(), "cargo test: E1".into()), ("error".into(), "E1".into())]);
    }
    EventPayload { tool: "Bash".into(), summary: "Ran `cargo test`".into(), attributes, failed, ..EventPayload::default() }
}

#[test]
fn the_newest_events_come_first_whichever_journal_was_taken_first() {
    let mut it = fixture();
    let project = project("a");
    it.store
        .put_records(
            &project,
            &all_redacted(&[used("late", "k1", 30, edit("c.rs")), used("late", "k2", 50, edit("e.rs"))]),
            60,
        )
        .unwrap();
    it.store
        .put_records(
            &project,
            &all_redacted(&[used("early", "k1", 20, edit("b.rs")), used("early", "k2", 40, edit("d.rs"))]),
            60,
        )
        .unwrap();
    let newest: Vec<u64> = it.store.events(&EventFilter::default(), 3).unwrap().iter().map(|event| event.at).collect();
    assert_eq!(newest, [50, 40, 30]);
    let sessions = it.store.known_sessions(Some(&project.id), 10).unwrap();
    let ids: Vec<&str> = sessions.iter().map(|session| session.record.id.as_str()).collect();
    assert_eq!(ids, ["late", "early"], "sessions of which there are only events are known too");
    assert_eq!(it.store.sessions_named("ea").unwrap(), ["early"]);
    assert_eq!(it.store.known_session("nobody").unwrap(), None);
}

#[test]
fn the_events_that_are_known_are_told_for_many_keys_at_once() {
    let mut it = fixture();
    let records = [
        used("one", "k1", 1_000, edit("a.rs")),
        used("one", "k'2", 2_000, edit("b.rs")),
        used("two", "k3", 3, edit("c.rs")),
    ];
    it.store.put_records(&project("a"), &all_redacted(&records), 3_000).unwrap();
    let known = |keys: &[&str]| {
        let mut known: Vec<String> = it.store.known_events("one", keys).unwrap().into_iter().collect();
        known.sort();
        known
    };
    assert_eq!(known(&["k0", "k'2", "k1", "k1", "k3"]), ["k'2", "k1"], "a key is that of one session");
    assert_eq!(known(&[]), [""; 0]);
}

/// The size is not computed at every hook, so the limit may be passed by what comes between two checks.
#[test]
fn the_details_of_a_long_session_stay_bounded() {
    const MIB: i64 = 1 << 20;
    let mut it = fixture();
    let detail = "x".repeat(10 << 10);
    for part in 0..50 {
        let seen = || EventPayload { detail: detail.clone(), ..edit("a.rs") };
        let of = |session: &'static str| move |number: u64| used(session, &format!("k{part}-{number}"), part, seen());
        // Another session records in turns with it, so that their numbers alternate.
        let records: Vec<_> = (0..50).map(of("long")).chain((0..10).map(of("other"))).collect();
        it.store.put_records(&project("a"), &all_redacted(&records), part).unwrap();
    }
    let (bytes, newest): (i64, i64) = it
        .store
        .conn
        .query_row(
            "SELECT sum(length(payload_json)), (SELECT length(payload_json) FROM events WHERE session_id = 'long'
             ORDER BY event_id DESC LIMIT 1) FROM events WHERE session_id = 'long'",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    assert!((8 * MIB..=19 * MIB).contains(&bytes), "{bytes} bytes");
    assert!(newest > 10 << 10, "the newest details are kept");
}

#[test]
fn the_last_session_is_the_latest_whether_it_has_ended_or_not() {
    let mut it = fixture();
    let project = project("a");
    it.store.put_records(&project, &all_redacted(&[used("s", "k", 1, edit("a.rs"))]), 1).unwrap();
    let add = |it: &Fixture, id: &str, started: Option<i64>, ended: Option<i64>, saved: Option<i64>| {
        let (history, context) = (
            "INSERT INTO session_history (session_id, project_id, cwd, agent, started_at, ended_at, policy, policy_digest)
             VALUES (?1, ?2, '/p', 'a', ?3, ?4, 'default', 'd')",
            "INSERT INTO session_context (session_id, saved_at, moment, notes) VALUES (?1, ?2, 'stop', '{}')",
        );
        it.store.conn.execute(history, rusqlite::params![id, project.id, started, ended]).unwrap();
        if let Some(saved) = saved {
            it.store.conn.execute(context, rusqlite::params![id, saved]).unwrap();
        }
    };
    let last = |it: &Fixture, except: &str| it.store.last_session_at(&project.id, except).unwrap();
    assert_eq!(last(&it, "x"), None);
    add(&it, "no time", None, None, None);
    assert_eq!(last(&it, "x"), None);
    add(&it, "early", Some(10), Some(20), Some(900));
    add(&it, "late", Some(30), Some(40), None);
    assert_eq!((last(&it, "x"), last(&it, "late")), (Some(40), Some(20)));
    add(&it, "running", Some(35), None, None);
    assert_eq!(last(&it, "x"), Some(40));
    add(&it, "saved", Some(36), None, Some(50));
    assert_eq!((last(&it, "x"), last(&it, "saved")), (Some(50), Some(40)));
}

#[test]
fn a_prompt_is_seen_only_if_a_hook_recorded_it() {
    let mut it = fixture();
    let prompt = |session: &str, key: &str| JournalRecord { kind: PROMPT.into(), ..used(session, key, 1, edit("a.rs")) };
    let records = [prompt("read", "line:u1"), used("read", "call", 2, edit("b.rs")), prompt("seen", "prompt:p1")];
    it.store.put_records(&project("a"), &all_redacted(&records), 3).unwrap();
    let seen = ["read", "seen", "nobody"].map(|session| it.store.has_seen_prompts(session).unwrap());
    assert_eq!(seen, [false, true, false]);
}

#[test]
fn what_a_query_says_beside_words_holds_of_events_too() {
    let mut it = fixture();
    let records = [used("one", "k1", 1_000, edit("src/otter.rs")), used("two", "k1", 2_000, edit("docs/otter.md"))];
    it.store.put_records(&project("a"), &all_redacted(&records), 3_000).unwrap();
    let found = |words: &str| -> Vec<String> {
        let wanted = EventFilter { words: words.into(), ..EventFilter::default() };
        it.store.events(&wanted, 10).unwrap().into_iter().map(|event| event.session_id).collect()
    };
    assert_eq!(found("otter").len(), 2);
    for words in ["otter file:src", "otter session:one", "otter -docs", "\"Edited src\"", "file:otter.rs"] {
        assert_eq!(found(words), ["one"], "{words}");
    }
    assert_eq!(found("otter after:2020"), [""; 0]);
    assert_eq!(found("()"), [""; 0]);
}

#[test]
fn files_of_the_same_name_in_two_projects_are_two() {
    let mut it = fixture();
    for name in ["a", "b"] {
        it.store.put_records(&project(name), &all_redacted(&[used(name, "k", 10, edit("src/main.rs"))]), 10).unwrap();
    }
    let files = it.store.files(None, None, 10).unwrap();
    let of: Vec<&str> = files.iter().map(|file| file.project.as_str()).collect();
    assert_eq!((of, files[0].changed), (vec!["/a", "/b"], 1));
}

#[test]
fn a_failure_that_came_back_after_its_fix_is_open_again() {
    let mut it = fixture();
    let project = project("a");
    let records = [used("s", "k1", 10, tested(true)), used("s", "k2", 20, edit("a.rs")), used("s", "k3", 30, tested(false))];
    it.store.put_records(&project, &all_redacted(&records), 30).unwrap();
    assert!(it.store.failures(None, None, true, 10).unwrap().is_empty());
    it.store.put_records(&project, &all_redacted(&[used("t", "k1", 40, tested(true))]), 40).unwrap();
    let open = it.store.failures(None, None, true, 10).unwrap();
    assert_eq!(open.len(), 1);
    assert!(open[0].is_open() && open[0].fix.as_deref() == Some("Edited a.rs"), "{open:?}");
}

#[test]
fn a_fix_of_the_forgotten_time_leaves_the_memory_of_an_older_failure() {
    for words in [vec![], vec!["a.rs".to_owned()]] {
        let mut it = fixture();
        let records = [
            used("s", "k1", 10, tested(true)),
            used("s", "k2", 12, tested(true)),
            used("s", "k3", 20, edit("a.rs")),
            used("s", "k4", 30, tested(false)),
        ];
        it.store.put_records(&project("a"), &all_redacted(&records), 30).unwrap();
        let told = |it: &Fixture| it.memories().iter().any(|(content, ..)| content.contains("a.rs"));
        assert!(told(&it));
        let since = Selection { after: Some(15), words, ..Selection::default() };
        it.store.forget(&since, 40, Fate::Erased).unwrap();
        assert!(!told(&it), "{:?}", it.memories());
        let left = it.store.failures(None, None, false, 10).unwrap();
        assert!(left.iter().all(|failure| failure.fix.is_none()), "{left:?}");
    }
}

#[test]
fn an_error_counts_the_sessions_of_whatever_was_tried() {
    let mut it = fixture();
    let other = |mut seen: EventPayload| {
        seen.attributes = vec![
            ("subject".into(), "just test".into()),
            ("signature".into(), "just test: E1".into()),
            ("error".into(), "E1".into()),
        ];
        seen
    };
    let records = [used("s", "k1", 10, tested(true)), used("t", "k1", 20, other(tested(true)))];
    it.store.put_records(&project("a"), &all_redacted(&records), 30).unwrap();
    it.store.put_records(&project("b"), &all_redacted(&[used("u", "k1", 10, tested(true))]), 30).unwrap();
    let counted = |failures: Vec<Failure>| failures.iter().map(|it| (it.sessions, it.error_sessions)).collect::<Vec<_>>();
    assert_eq!(counted(it.store.failures(Some(&project("a").id), None, false, 10).unwrap()), [(1, 2), (1, 2)]);
    assert_eq!(counted(it.store.failures(Some(&project("b").id), None, false, 10).unwrap()), [(1, 1)]);
}

#[test]
fn an_observation_that_climbs_several_steps_has_risen_once() {
    let mut it = fixture();
    it.store
        .put_records(&project("a"), &all_redacted(&[used("s", "k", 10, edit("a.rs")), used("s", "l", 10, edit("b.rs"))]), 10)
        .unwrap();
    let id = it.store.events(&EventFilter { words: "a.rs".into(), ..EventFilter::default() }, 1).unwrap()[0].id;
    for session in ["t", "u", "v"] {
        it.store.mark_used(&[id], Some(session), 20).unwrap();
    }
    let step = |access, confidence, sessions, days| RetentionStep { access, confidence, sessions, days };
    let tiers = &[step(1, 0.5, 0, 30), step(3, 0.7, 1, 60), step(5, 0.85, 2, 90), step(10, 0.92, 3, 180)];
    let day = 86_400_000;
    let aged = it.store.promote_events(tiers, 30, 2 * day, true).unwrap();
    assert_eq!(aged, RetentionOutcome { raised: 1, dropped: 0 });
    let dropped = |it: &mut Fixture, days: u64| it.store.promote_events(tiers, 30, days * day, true).unwrap().dropped;
    assert_eq!([10, 18, 26, 32].map(|days| dropped(&mut it, days)), [0, 0, 0, 1]);
    assert_eq!(it.store.events_by_id(&[id], None).unwrap()[0].level, 2);
}

#[test]
fn attack_a_clock_that_is_ten_years_ahead() {
    let (mut it, project) = (fixture(), project("a"));
    let day = 86_400_000;
    let now = 20_000 * day;
    let record = JournalRecord {
        kind: OBSERVATION.into(),
        key: "k".into(),
        session: "s".into(),
        at: now,
        seen: EventPayload { tool: "Read".into(), summary: "Read a".into(), ..EventPayload::default() },
        ..JournalRecord::default()
    };
    it.store.put_records(&project, &[redacted(record)], now).unwrap();
    let mut dropped = |at: u64| it.store.promote_events(&[], 30, at, true).unwrap().dropped;
    let no_tiers = dropped(now);
    assert_eq!(no_tiers, 0);
    let step = RetentionStep { access: 1, confidence: 0.5, sessions: 0, days: 30 };
    let mut dropped = |at: u64| it.store.promote_events(std::slice::from_ref(&step), 30, at, true).unwrap().dropped;
    assert_eq!(dropped(now + 3_650 * day), 0, "the clock jumps ahead");
    assert_eq!(dropped(now + day), 0, "and is right again");
    assert_eq!([9, 17, 25].map(|days| dropped(now + days * day)), [0, 0, 0]);
    assert_eq!(dropped(now + 31 * day), 1, "it still ages");
}

#[test]
fn every_column_with_text_is_scrubbed_or_has_a_reason_not_to_be() {
    let it = fixture();
    let columns = "SELECT s.name, c.name FROM sqlite_schema s, pragma_table_xinfo(s.name) c
                   WHERE s.type = 'table' AND s.sql NOT LIKE 'CREATE VIRTUAL%' AND s.name NOT LIKE 'sqlite_%'
                     AND s.name NOT GLOB '*_fts*' AND c.type NOT IN ('INTEGER', 'REAL', 'BLOB')";
    let mut statement = it.store.conn.prepare(columns).unwrap();
    let found: BTreeSet<(String, String)> =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(std::result::Result::unwrap).collect();
    let mut decided = BTreeSet::new();
    let memories = scrub::MEMORY_COLUMNS.iter().map(|column| ("memories", *column));
    let left = scrub::NOT_SCRUBBED.iter().flat_map(|(table, columns, _)| columns.iter().map(|column| (*table, *column)));
    for (table, column) in memories.chain(scrub::scrubbed_columns()).chain(left) {
        assert!(decided.insert((table.to_owned(), column.to_owned())), "{table}.{column} is listed twice");
    }
    let undecided: Vec<_> = found.difference(&decided).collect();
    let gone: Vec<_> = decided.difference(&found).collect();
    assert!(undecided.is_empty() && gone.is_empty(), "not listed in scrub.rs: {undecided:?}; not in the schema: {gone:?}");
}
