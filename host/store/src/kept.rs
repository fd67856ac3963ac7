//! Keeps the rows that a deletion takes from the database in a file of their own, so that they can be brought back.
//!
//! While a deletion runs, temporary triggers write each changed row to a temporary table, as it was and as it became.
//! That table is then written to the file, which nothing reads but [`Store::bring_back`](crate::Store::bring_back). To bring the rows back, the
//! changes are undone in reverse order. Later changes are kept: a row that changed since the deletion stays as it is, and
//! a row whose number was reused gets a new one. Everything that is derived from the rows, such as the full-text index
//! and the vectors, is computed again.

mod bring_back;

use std::fs::File;
use std::path::{Path, PathBuf};

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use serde::{Deserialize, Serialize};

use super::forgotten::{ForgetCounts, Forgotten};
use super::open_read_only;
use throughline_platform::open::FileOptions as _;
use throughline_platform::paths;

pub use bring_back::BroughtBack;

/// The tables whose rows are kept.
pub(crate) const TABLES: &[&str] = &[
    "projects",
    "memories",
    "digests",
    "supersessions",
    "sightings",
    "file_anchors",
    "shown",
    "notes",
    "note_files",
    "session_history",
    "session_context",
    "extractor_states",
    "transcripts",
    "events",
    "event_keys",
    "event_uses",
    "failures",
    "failure_sightings",
    "tombstones",
];

/// The tables whose rows are not kept, each with the reason. A test compares both lists with the schema.
#[cfg(test)]
pub(crate) const NOT_KEPT: &[(&str, &str)] = &[
    ("meta", "the host's own settings"),
    ("makers", "no deletion touches it"),
    ("event_files", "an index of `events`, made anew"),
    ("vectors", "computed from the memories"),
    ("vector_codes", "computed from the vectors"),
    ("unembedded", "a queue of memories"),
    ("embedding_cache", "computed from texts"),
    ("team_records", "a deletion of what left is told to the team; what comes back is shared anew"),
    ("team_replaced", "hashes of the team's records"),
    ("team_series", "read again from the server"),
    ("team_projects", "looked up anew"),
    ("team_waiting", "places on the server"),
    ("team_unopened", "places on the server"),
    ("team_mutes", "a person's settings"),
];

/// The most columns of a table.
const MAX_COLUMNS: usize = 24;

/// The extension of the files.
const EXTENSION: &str = "kept";

/// What a file keeps.
#[derive(Debug, Clone)]
pub struct Kept {
    /// The file.
    pub path: PathBuf,
    /// When it was deleted, milliseconds since the Unix epoch.
    pub at: u64,
    /// How much was deleted.
    pub counts: ForgetCounts,
    /// The titles of the first memories.
    pub titles: Vec<String>,
    /// The identifiers of the same memories; empty in files of earlier versions.
    pub ids: Vec<String>,
    /// The note of [`KeptFile`](super::forgotten::KeptFile).
    pub note: String,
}

impl Kept {
    /// The name of the file, which identifies the deletion.
    pub fn id(&self) -> String {
        kept_id(&self.path)
    }
}

/// Returns the identifier of a deletion by its file.
pub fn kept_id(file: &Path) -> String {
    file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

#[derive(Serialize, Deserialize)]
struct About {
    at: u64,
    counts: ForgetCounts,
    titles: Vec<String>,
    #[serde(default)]
    ids: Vec<String>,
    note: String,
}

/// A table's columns, without generated ones, and which of them are the key.
struct Columns {
    names: Vec<String>,
    key: Vec<usize>,
}

fn columns(conn: &Connection, table: &str) -> rusqlite::Result<Columns> {
    let found: Vec<(String, bool)> = conn
        .prepare("SELECT name, pk > 0 FROM pragma_table_xinfo(?1) WHERE hidden = 0 ORDER BY cid")?
        .query_map([table], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let key = found.iter().enumerate().filter(|(_, (_, is_key))| *is_key).map(|(at, _)| at).collect();
    Ok(Columns { names: found.into_iter().map(|(name, _)| name).collect(), key })
}

fn list(count: usize, item: impl Fn(usize) -> String, separator: &str) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(separator)
}

/// Begins to record every change of the transaction.
pub(super) fn record(tx: &Connection) -> rusqlite::Result<()> {
    let values = list(2 * MAX_COLUMNS, |at| format!("v{at}"), ", ");
    tx.execute_batch(&format!("CREATE TEMP TABLE kept_changes (seq INTEGER PRIMARY KEY, tbl TEXT, op TEXT, {values})"))?;
    for table in TABLES {
        let Columns { names, .. } = columns(tx, table)?;
        for (op, event, is_before, is_after) in
            [("D", "DELETE", true, false), ("U", "UPDATE", true, true), ("I", "INSERT", false, true)]
        {
            let image = |is_there: bool, row: &str, from: usize| -> (Vec<String>, Vec<String>) {
                let all = names.iter().enumerate().filter(|_| is_there);
                all.map(|(at, name)| (format!("v{}", from + at), format!("{row}.{name}"))).unzip()
            };
            let (mut into, mut said) = image(is_before, "OLD", 0);
            let (after, new) = image(is_after, "NEW", MAX_COLUMNS);
            into.extend(after);
            said.extend(new);
            tx.execute_batch(&format!(
                "CREATE TEMP TRIGGER kept_{table}_{op} AFTER {event} ON main.{table} BEGIN
                     INSERT INTO kept_changes (tbl, op, {}) VALUES ('{table}', '{op}', {});
                 END",
                into.join(", "),
                said.join(", ")
            ))?;
        }
    }
    Ok(())
}

/// Stops recording, and writes what was recorded to the file. Returns false if nothing changed.
pub(super) fn write(tx: &Connection, path: &Path, note: &str, forgotten: &Forgotten, now: u64) -> rusqlite::Result<bool> {
    for table in TABLES {
        for op in ["D", "U", "I"] {
            tx.execute_batch(&format!("DROP TRIGGER temp.kept_{table}_{op}"))?;
        }
    }
    let is_something: bool = tx.query_row("SELECT EXISTS (SELECT 1 FROM kept_changes)", [], |row| row.get(0))?;
    if is_something {
        let titles = forgotten.memories.iter().map(|memory| memory.title.clone()).collect();
        let ids = forgotten.memories.iter().map(|memory| memory.id.clone()).collect();
        write_file(tx, path, &About { at: now, counts: forgotten.counts, titles, ids, note: note.to_owned() })?;
    }
    tx.execute_batch("DROP TABLE temp.kept_changes")?;
    Ok(is_something)
}

/// Creates an empty file that only this user can read. Its name is the time.
pub(super) fn create(folder: &Path, now: u64) -> std::io::Result<PathBuf> {
    paths::create_private(folder)?;
    let mut number = now;
    loop {
        let path = folder.join(number.to_string()).with_extension(EXTENSION);
        match File::options().write(true).create_new(true).private().open(&path) {
            Ok(_) => return Ok(path),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

fn write_file(tx: &Connection, path: &Path, about: &About) -> rusqlite::Result<()> {
    let mut to = super::copy::writable(path)?;
    to.query_row("PRAGMA journal_mode = MEMORY", [], |_| Ok(()))?;
    let values = list(2 * MAX_COLUMNS, |at| format!("v{at}"), ", ");
    let to_tx = to.transaction()?;
    to_tx.execute_batch(&format!(
        "CREATE TABLE about (json TEXT NOT NULL);
         CREATE TABLE columns (tbl TEXT NOT NULL, name TEXT NOT NULL);
         CREATE TABLE changes (seq INTEGER PRIMARY KEY, tbl TEXT NOT NULL, op TEXT NOT NULL, {values});"
    ))?;
    to_tx.execute("INSERT INTO about (json) VALUES (?1)", [super::json(about)])?;
    for table in TABLES {
        for name in columns(tx, table)?.names {
            to_tx.execute("INSERT INTO columns (tbl, name) VALUES (?1, ?2)", [*table, &name])?;
        }
    }
    let count = 3 + 2 * MAX_COLUMNS;
    let mut insert = to_tx.prepare(&format!("INSERT INTO changes VALUES ({})", list(count, |_| "?".into(), ", ")))?;
    let mut select = tx.prepare("SELECT * FROM kept_changes ORDER BY seq")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let row: Vec<Value> = (0..count).map(|at| row.get(at)).collect::<rusqlite::Result<_>>()?;
        insert.execute(params_from_iter(row))?;
    }
    drop(insert);
    to_tx.commit()
}

/// Returns the files of a folder, the latest first. A file that cannot be read is left out.
pub fn kept_in(folder: &Path) -> Vec<Kept> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut all: Vec<Kept> =
        files.filter(|path| path.extension().is_some_and(|it| it == EXTENSION)).filter_map(read).collect();
    all.sort_by(|a, b| (b.at, &b.path).cmp(&(a.at, &a.path)));
    all
}

fn read(path: PathBuf) -> Option<Kept> {
    let json: String = open_read_only(&path).ok()?.query_row("SELECT json FROM about", [], |row| row.get(0)).ok()?;
    let About { at, counts, titles, ids, note } = serde_json::from_str(&json).ok()?;
    Some(Kept { path, at, counts, titles, ids, note })
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::super::forgotten::{Fate, KeptFile};
    use super::super::tests::{Fixture, all_redacted, draft, edit, fixture, project, tested, used};
    use super::super::{Search, Selection, Store};
    use super::*;
    use throughline_model::contract::Draft;
    use throughline_model::project::Project;
    use throughline_search::query::Query;

    const NOW: u64 = 5_000;

    #[test]
    fn every_table_is_kept_or_has_a_reason_not_to_be() {
        let it = fixture();
        let mut tables = it
            .store
            .conn
            .prepare(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'
                   AND name NOT LIKE 'sqlite_%' AND name NOT GLOB '*_fts*'",
            )
            .unwrap();
        let found: BTreeSet<String> =
            tables.query_map([], |row| row.get(0)).unwrap().map(std::result::Result::unwrap).collect();
        let decided: BTreeSet<String> =
            TABLES.iter().copied().chain(NOT_KEPT.iter().map(|(table, _)| *table)).map(str::to_owned).collect();
        assert_eq!(found, decided);
        for table in TABLES {
            assert!(columns(&it.store.conn, table).unwrap().names.len() <= MAX_COLUMNS, "{table}");
        }
    }

    /// Two projects with memories, sessions, events and a failure that was fixed.
    fn filled() -> (Fixture, Project, Project) {
        let (mut it, a, b) = (fixture(), project("a"), project("b"));
        for (project, session) in [(&a, "a1"), (&a, "a2"), (&b, "b1")] {
            let drafts: Vec<Draft> = (0..4)
                .map(|n| draft(None, &format!("The wombat of {session} eats leaf {n}"), &format!("{session}{n}")))
                .chain([draft(None, "All sessions feed the pangolin", &format!("{session}p"))])
                .collect();
            it.commit(project, session, &drafts, &[]);
            let records = [
                used(session, "k1", 10, tested(true)),
                used(session, "k2", 20, edit("wombat.rs")),
                used(session, "k3", 30, tested(false)),
            ];
            it.store.put_records(project, &all_redacted(&records), 30).unwrap();
        }
        (it, a, b)
    }

    /// All rows of all kept tables.
    fn rows(store: &Store) -> BTreeMap<&'static str, Vec<Vec<Value>>> {
        let of = |table: &&'static str| {
            let names = columns(&store.conn, table).unwrap().names;
            let mut select = store.conn.prepare(&format!("SELECT {} FROM {table}", names.join(", "))).unwrap();
            let mut all: Vec<Vec<Value>> = select
                .query_map([], |row| (0..names.len()).map(|at| row.get(at)).collect())
                .unwrap()
                .map(std::result::Result::unwrap)
                .collect();
            all.sort_by_key(|row| format!("{row:?}"));
            (*table, all)
        };
        TABLES.iter().map(of).collect()
    }

    fn found(store: &Store, words: &str) -> usize {
        let query = Query::parse(words, &jiff::Zoned::now());
        store.search(&Search::new(&query, None, 50, NOW)).unwrap().hits.len()
    }

    fn listed(store: &Store, words: &str) -> usize {
        let all = store.recent(&crate::MemoryFilter::default(), 100).unwrap();
        all.iter().filter(|memory| memory.content.contains(words)).count()
    }

    fn forget(it: &mut Fixture, selection: &Selection) -> PathBuf {
        let folder = it.path.with_file_name("forgotten");
        let forgotten = it.store.forget(selection, NOW, Fate::Kept(KeptFile { folder: &folder, note: "why" })).unwrap();
        it.store.erase().unwrap();
        forgotten.kept.unwrap()
    }

    #[test]
    fn whatever_was_forgotten_comes_back_as_it_was() {
        let selections = [
            Selection { words: vec!["wombat".into()], ..Selection::default() },
            Selection { words: vec!["pangolin".into()], project: Some(project("a").id), ..Selection::default() },
            Selection { session: Some("a1".into()), ..Selection::default() },
            Selection { project: Some(project("a").id), ..Selection::default() },
            Selection { before: Some(2_000), ..Selection::default() },
            Selection { after: Some(1_000), ..Selection::default() },
        ];
        for selection in selections {
            let (mut it, ..) = filled();
            let before = rows(&it.store);
            let hits = (found(&it.store, "wombat"), found(&it.store, "pangolin"));
            let file = forget(&mut it, &selection);
            assert_ne!(rows(&it.store), before, "{selection:?}");
            let back = it.store.bring_back(&file).unwrap();
            assert_eq!(rows(&it.store), before, "{selection:?}");
            assert_eq!(back.left, 0, "{selection:?}");
            assert_eq!((found(&it.store, "wombat"), found(&it.store, "pangolin")), hits, "{selection:?}");
            let check = it.store.integrity().unwrap();
            assert_eq!(check, "ok", "{selection:?}");
            // A second time changes nothing.
            it.store.bring_back(&file).unwrap();
            assert_eq!(rows(&it.store), before, "{selection:?}");
        }
    }

    #[test]
    fn what_was_learned_since_stays_and_takes_no_number_away() {
        let (mut it, a, b) = filled();
        let file = forget(&mut it, &Selection { project: Some(b.id.clone()), ..Selection::default() });
        // These get the numbers that the project, its events and its failure had.
        let new = project("new");
        it.commit(&new, "n1", &[draft(None, "The narwhal came later", "n")], &[]);
        it.store.put_records(&new, &all_redacted(&[used("n1", "k1", 10, tested(true))]), 30).unwrap();
        it.commit(&b, "b2", &[draft(None, "The okapi is of the forgotten project", "o")], &[]);
        let since = rows(&it.store);
        let back = it.store.bring_back(&file).unwrap();
        assert_eq!((back.memories, back.sessions, back.events), (5, 1, 3));
        let now = rows(&it.store);
        for (table, before) in &since {
            if *table != "projects" {
                let lost: Vec<_> = before.iter().filter(|row| !now[table].contains(row)).collect();
                assert!(lost.is_empty() || *table == "tombstones", "{table}: {lost:?}");
            }
        }
        for (words, hits) in [("narwhal", 1), ("okapi", 1), ("pangolin", 2)] {
            assert_eq!(listed(&it.store, words), hits, "{words}");
            assert!(found(&it.store, words) > 0, "{words}");
        }
        assert_eq!(it.store.failures(Some(&b.id), None, false, 10).unwrap().len(), 1);
        assert_eq!(it.store.failures(Some(&a.id), None, false, 10).unwrap().len(), 1);
        assert_eq!(it.store.known_sessions(Some(&b.id), 10).unwrap().len(), 2);
    }

    #[test]
    fn what_was_said_again_is_not_doubled() {
        let (mut it, a, _) = filled();
        let mut memories = it.store.recent(&crate::MemoryFilter::default(), 50).unwrap();
        memories.retain(|memory| memory.content.contains("pangolin") && memory.session_id.starts_with('a'));
        let folder = it.path.with_file_name("forgotten");
        let fate = Fate::Kept(KeptFile { folder: &folder, note: "" });
        let deleted = it.store.delete_memories(&[memories[0].id.clone()], NOW, fate).unwrap();
        assert_eq!(listed(&it.store, "pangolin"), 1);
        // The user undid the tombstone by other means, such as an import.
        it.store.conn.execute("DELETE FROM tombstones", []).unwrap();
        it.commit(&a, "a3", &[draft(None, "All sessions feed the pangolin", "a3p")], &[]);
        it.store.bring_back(&deleted.kept.unwrap()).unwrap();
        assert_eq!(listed(&it.store, "pangolin"), 2);
        let memory = it.store.memory(&memories[0].id, None).unwrap().pop().unwrap().memory;
        assert_eq!(memory.seen, 3);
    }

    #[test]
    fn a_deletion_that_finds_nothing_leaves_no_file() {
        let (mut it, ..) = filled();
        let folder = it.path.with_file_name("forgotten");
        let nothing = Selection { words: vec!["quokka".into()], ..Selection::default() };
        let fate = Fate::Kept(KeptFile { folder: &folder, note: "" });
        assert_eq!(it.store.forget(&nothing, NOW, fate).unwrap().kept, None);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
        assert!(kept_in(&folder).is_empty());
        let file = forget(&mut it, &Selection { words: vec!["wombat".into()], ..Selection::default() });
        let all = kept_in(&folder);
        assert_eq!((all.len(), &all[0].path, all[0].note.as_str()), (1, &file, "why"));
        assert_eq!((all[0].counts.memories, all[0].titles.len()), (13, 13));
    }
}
