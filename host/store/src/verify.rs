//! Consistency checks: the integrity of the SQLite file, rows whose parent is missing, the search indexes, and stored
//! counts. `repair.rs` repairs what they find.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};
use serde::Serialize;

use super::extent::ROW_BITS;
use super::index::{self, INDEX_VERSION, LIVE, VERSION, Version};
use super::memories::{MAX_OCCURRENCES, OCCURRENCE_WEIGHT};
use super::{Result, Store, digests, embedding_queue, sharing, vectors};
use throughline_embedding::local;
use throughline_search::{pieces, vector};

/// How many lines of SQLite's own check are reported.
const MAX_REPORTED: u32 = 20;

/// The full-text table of events.
const EVENTS_FTS: &str = "events_fts";

/// A consistency check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum StoreCheck {
    /// SQLite's check of the file: pages, rows, types.
    Integrity,
    /// SQLite's check of ordinary indexes.
    Indexes,
    /// SQLite's check of the full-text table of memories.
    WordTable,
    /// SQLite's check of the full-text table of events.
    EventWordTable,
    /// Rows whose parent is missing.
    Orphans,
    /// Rows of a missing project.
    Projects,
    /// Row numbers of memories.
    Rows,
    /// Lists that are not valid JSON.
    Lists,
    /// The search index of memories.
    Index,
    /// The search index of events.
    EventIndex,
    /// The row numbers that projects have assigned.
    Counters,
    /// The number of occurrences of memories.
    #[serde(rename = "sightings")]
    Occurrences,
    /// The number of occurrences of failures.
    Failures,
    /// Copies of shared memories.
    Shared,
    /// Digests and their sources.
    Digests,
    /// The read positions of transcripts.
    Cursors,
}

/// A fault that a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoreFault {
    /// The check that found it.
    pub check: StoreCheck,
    /// The table or file.
    pub place: String,
    /// How many rows or entries are affected.
    pub count: u64,
    /// What is wrong, phrased to follow the count, without any text from a memory.
    pub what: String,
    /// What the repair does; unset if the fault cannot be repaired here.
    pub repair: Option<&'static str>,
}

impl StoreFault {
    fn new(check: StoreCheck, place: impl Into<String>, count: u64, what: impl Into<String>, repair: &'static str) -> Self {
        Self { check, place: place.into(), count, what: what.into(), repair: Some(repair) }
    }
}

/// A foreign key.
pub(super) struct Reference {
    pub(super) table: String,
    pub(super) column: String,
    pub(super) parent: String,
    pub(super) key: String,
    /// Whether deleting the parent sets the column to NULL.
    pub(super) is_emptied: bool,
    /// Whether deleting the parent deletes the row.
    pub(super) is_deleted: bool,
}

impl Reference {
    /// Returns the SQL condition for a row whose parent is missing.
    pub(super) fn is_orphan(&self) -> String {
        let Self { table, column, parent, key, .. } = self;
        format!("{table}.{column} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM {parent} p WHERE p.{key} = {table}.{column})")
    }
}

/// Returns all foreign keys of the schema except those of sources to their digests, which [`digests::repair`] handles.
pub(super) fn references(conn: &Connection) -> rusqlite::Result<Vec<Reference>> {
    conn.prepare(
        "SELECT t.name, f.\"from\", f.\"table\", COALESCE(f.\"to\", 'rowid'), f.on_delete
         FROM sqlite_schema t, pragma_foreign_key_list(t.name) f
         WHERE t.type = 'table' AND NOT (t.name = 'memories' AND f.\"from\" = 'digest') ORDER BY 1, 2",
    )?
    .query_map([], |row| {
        let on_delete: String = row.get(4)?;
        Ok(Reference {
            table: row.get(0)?,
            column: row.get(1)?,
            parent: row.get(2)?,
            key: row.get(3)?,
            is_emptied: on_delete == "SET NULL",
            is_deleted: on_delete == "CASCADE",
        })
    })?
    .collect()
}

impl Store {
    /// Checks everything that is stored, except cursors, which need knowledge of transcripts. Others may write
    /// meanwhile; the checks see the state of one moment.
    pub fn faults(&self) -> Result<Vec<StoreFault>> {
        self.explain((|| {
            let tx = self.conn.unchecked_transaction()?;
            let mut faults = integrity(&tx)?;
            // If pages are damaged, all other results are meaningless.
            if faults.iter().all(|fault| fault.check != StoreCheck::Integrity) {
                faults.extend(orphans(&tx)?);
                faults.extend(rows(&tx)?);
                faults.extend(lists(&tx)?);
                faults.extend(indexed(&tx)?);
                faults.extend(events(&tx)?);
                faults.extend(counted(&tx)?);
            }
            Ok(faults)
        })())
    }
}

fn count(conn: &Connection, sql: &str) -> rusqlite::Result<u64> {
    conn.query_row(sql, [], |row| row.get::<_, i64>(0)).map(super::time_from_sql)
}

fn integrity(conn: &Connection) -> rusqlite::Result<Vec<StoreFault>> {
    let lines: Vec<String> = conn
        .prepare(&format!("PRAGMA integrity_check({MAX_REPORTED})"))?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut faults: Vec<StoreFault> = Vec::new();
    for line in lines.into_iter().filter(|line| line != "ok") {
        let is_index = line.contains("missing from index")
            || line.contains("entries in index")
            || line.contains("non-unique entry in index");
        // SQLite says `FTS5 table main.x` or `fts5: … table "x"`.
        let is_words = line.to_lowercase().contains("fts5");
        let mut fault = if is_words && line.contains(EVENTS_FTS) {
            StoreFault::new(StoreCheck::EventWordTable, EVENTS_FTS, 1, line, "rebuilds the full-text table of events")
        } else if is_words && line.contains(LIVE.words) {
            StoreFault::new(StoreCheck::WordTable, LIVE.words, 1, line, "rebuilds the index from the memories")
        } else if is_index {
            StoreFault::new(StoreCheck::Indexes, "database", 1, line, "rebuilds the database's indexes")
        } else {
            StoreFault { repair: None, ..StoreFault::new(StoreCheck::Integrity, "database", 1, line, "") }
        };
        fault.what = format!("fault found by SQLite: {}", fault.what);
        faults.push(fault);
    }
    Ok(faults)
}

fn orphans(conn: &Connection) -> rusqlite::Result<Vec<StoreFault>> {
    let mut faults = Vec::new();
    for reference in references(conn)? {
        let Reference { table, column, parent, .. } = &reference;
        let found = count(conn, &format!("SELECT count(*) FROM {table} WHERE {}", reference.is_orphan()))?;
        if found == 0 {
            continue;
        }
        let what = format!("rows whose {column} refers to no row of {parent}");
        let mut fault = StoreFault::new(StoreCheck::Orphans, table, found, what, "deletes them");
        if parent == "projects" {
            (fault.check, fault.repair) = (StoreCheck::Projects, Some("restores the project from its sessions"));
        } else if reference.is_emptied {
            fault.repair = Some("clears that column");
        } else if !reference.is_deleted {
            fault.repair = None;
        }
        faults.push(fault);
    }
    Ok(faults)
}

fn rows(conn: &Connection) -> rusqlite::Result<Vec<StoreFault>> {
    let strayed = count(
        conn,
        &format!(
            "SELECT count(*) FROM memories m JOIN projects p ON p.id = m.project_id WHERE m.rowid >> {ROW_BITS} <> p.number"
        ),
    )?;
    let what = "memories whose row number belongs to another project, so searches do not find them";
    Ok((strayed > 0)
        .then(|| StoreFault { repair: None, ..StoreFault::new(StoreCheck::Rows, "memories", strayed, what, "") })
        .into_iter()
        .collect())
}

/// The columns that contain a list.
pub(super) const LISTS: [(&str, &str); 9] = [
    ("memories", "keywords"),
    ("memories", "files"),
    ("memories", "metadata"),
    ("session_history", "topics"),
    ("session_history", "files_modified"),
    ("failures", "files"),
    ("notes", "tags"),
    ("notes", "keywords"),
    ("notes", "related"),
];

fn lists(conn: &Connection) -> rusqlite::Result<Vec<StoreFault>> {
    let mut faults = Vec::new();
    for (table, column) in LISTS {
        let found = count(conn, &format!("SELECT count(*) FROM {table} WHERE NOT json_valid({column})"))?;
        if found > 0 {
            let what = format!("rows whose {column} are not valid JSON");
            faults.push(StoreFault::new(StoreCheck::Lists, table, found, what, "clears that list"));
        }
    }
    Ok(faults)
}

/// Memories that the index does not match, and index rows that belong to no memory.
#[derive(Default)]
pub(super) struct IndexMismatches {
    /// Memories without words, or with the wrong number of pieces.
    pub(super) words: BTreeSet<i64>,
    /// Memories without vectors, or with the wrong ones.
    pub(super) vectors: BTreeSet<i64>,
    /// Row numbers in the index without a memory, or of one that is folded.
    pub(super) orphans: BTreeSet<i64>,
    /// Blocks of codes that do not match their vectors.
    pub(super) blocks: BTreeSet<i64>,
}

fn indexed(conn: &Connection) -> rusqlite::Result<Vec<StoreFault>> {
    let found = find_index_mismatches(conn)?;
    let fault = |place: &str, found: &BTreeSet<i64>, what: &str, repair| {
        (!found.is_empty()).then(|| StoreFault::new(StoreCheck::Index, place, found.len() as u64, what, repair))
    };
    let again = "indexes them again";
    let faults = [
        fault(LIVE.words, &found.words, "memories that are missing or incomplete in the full-text table", again),
        fault(LIVE.vectors, &found.vectors, "memories whose vectors are missing or damaged", again),
        fault(LIVE.words, &found.orphans, "deleted or folded memories that are still in the index", "removes them"),
        fault(LIVE.codes, &found.blocks, "blocks of codes that do not match their vectors", "rebuilds them"),
    ];
    Ok(faults.into_iter().flatten().collect())
}

pub(super) fn find_index_mismatches(conn: &Connection) -> rusqlite::Result<IndexMismatches> {
    let mut found = IndexMismatches::default();
    let model = index::live_model(conn)?;
    let is_current = Version::of(conn, INDEX_VERSION)? == VERSION;
    let (is_local, is_remote) = (model == index::local_model(), index::is_remote(&model));
    let bytes = vector::packed_bytes(index::dims(&model)) as u64;
    let mut select = conn.prepare(
        "SELECT rowid, title, content,
                (SELECT count(*) FROM memories_fts_docsize d WHERE d.id BETWEEN m.rowid << 8 AND m.rowid << 8 | 255),
                (SELECT count(*) FROM vectors v WHERE v.piece BETWEEN m.rowid << 8 AND m.rowid << 8 | 255),
                EXISTS (SELECT 1 FROM unembedded u WHERE u.memory = m.rowid),
                EXISTS (SELECT 1 FROM vectors v WHERE v.piece BETWEEN m.rowid << 8 AND m.rowid << 8 | 255
                                                  AND length(v.vector) <> ?1),
                digest IS NOT NULL
         FROM memories m",
    )?;
    let mut rows = select.query(params![super::time(bytes)])?;
    while let Some(row) = rows.next()? {
        let rowid: i64 = row.get(0)?;
        let (title, content) = (row.get_ref(1)?.as_str()?, row.get_ref(2)?.as_str()?);
        let (words, vectors): (u32, u32) = (row.get(3)?, row.get(4)?);
        if row.get(7)? {
            // Folded into a digest, so it must not be in any index.
            if words > 0 || vectors > 0 {
                found.orphans.insert(rowid);
            }
            continue;
        }
        let pieces = pieces::split(content);
        if words == 0 || (is_current && words as usize != pieces.len()) {
            found.words.insert(rowid);
        }
        let is_whole = if row.get(6)? {
            false
        } else if is_local && is_current && vectors as usize != pieces.len() {
            // A piece without a word that the model knows has no vector.
            index::texts(title, &pieces).iter().filter(|text| local::embed(text).is_some()).count() == vectors as usize
        } else if is_remote && vectors == 0 {
            row.get(5)? || embedding_queue::texts(title, content).is_empty()
        } else {
            model != index::NO_MODEL || vectors == 0
        };
        if !is_whole {
            found.vectors.insert(rowid);
        }
    }
    for (table, column) in [("memories_fts_docsize", "id"), (LIVE.vectors, "piece")] {
        let orphans = conn
            .prepare(&format!(
                "SELECT DISTINCT {column} >> 8 FROM {table} t WHERE NOT EXISTS (SELECT 1 FROM memories m WHERE m.rowid = t.{column} >> 8)"
            ))?
            .query_map([], |row| row.get(0))?
            .collect::<rusqlite::Result<Vec<i64>>>()?;
        found.orphans.extend(orphans);
    }
    found.blocks = vectors::invalid_blocks(conn, index::dims(&model))?;
    Ok(found)
}

fn events(conn: &Connection) -> rusqlite::Result<Vec<StoreFault>> {
    let missing = count(
        conn,
        "SELECT count(*) FROM events e WHERE NOT EXISTS (SELECT 1 FROM events_fts_docsize d WHERE d.id = e.event_id)",
    )?;
    let orphans = count(
        conn,
        "SELECT count(*) FROM events_fts_docsize d WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.event_id = d.id)",
    )?;
    let mut faults = Vec::new();
    if missing > 0 {
        let what = "events that are missing from the full-text table";
        faults.push(StoreFault::new(StoreCheck::EventIndex, "events_fts", missing, what, "indexes them again"));
    }
    if orphans > 0 {
        let what = "deleted events that are still in the full-text table";
        faults.push(StoreFault::new(StoreCheck::EventIndex, "events_fts", orphans, what, "removes them"));
    }
    Ok(faults)
}

/// Selects projects that would assign a row number twice.
pub(super) fn stale_counters_sql() -> String {
    let mask = (1_u64 << ROW_BITS) - 1;
    format!(
        "SELECT p.number, max(m.rowid & {mask}) AS most FROM projects p JOIN memories m ON m.rowid >> {ROW_BITS} = p.number
         GROUP BY p.number HAVING most > p.memories"
    )
}

/// Selects memories whose occurrences were miscounted.
pub(super) fn wrong_counts_sql() -> String {
    format!(
        "SELECT m.rowid FROM memories m JOIN (
             SELECT memory, count(DISTINCT COALESCE(line_uuid, session_id || ' ' || key)) AS seen FROM sightings GROUP BY memory
         ) s ON s.memory = m.rowid
         WHERE m.seen_count <> s.seen
            OR abs(m.weight - m.importance - {OCCURRENCE_WEIGHT} * min(s.seen - 1, {MAX_OCCURRENCES})) > 1e-9"
    )
}

/// Selects failures that occurred more often than recorded.
pub(super) const UNDERCOUNTED: &str =
    "SELECT f.number, count(*) AS came FROM failures f JOIN failure_sightings s ON s.failure = f.number
     GROUP BY f.number HAVING came > f.count";

fn counted(conn: &Connection) -> rusqlite::Result<Vec<StoreFault>> {
    let mut faults = Vec::new();
    for (check, place, sql, what, repair) in [
        (
            StoreCheck::Counters,
            "projects",
            stale_counters_sql(),
            "projects that would assign a memory's row number again",
            "advances the counter",
        ),
        (
            StoreCheck::Occurrences,
            "memories",
            wrong_counts_sql(),
            "memories with a wrong number of occurrences",
            "recounts them",
        ),
        (
            StoreCheck::Failures,
            "failures",
            UNDERCOUNTED.into(),
            "failures that occurred more often than recorded",
            "recounts them",
        ),
        (
            StoreCheck::Digests,
            "memories",
            digests::LOST_SOURCES_SQL.into(),
            "memories whose digest is missing, so nothing finds them",
            "restores the digest, or else the memories",
        ),
        (
            StoreCheck::Shared,
            "memories",
            sharing::ORPHANED_COPIES_SQL.into(),
            "copies of shared memories that no longer exist",
            "deletes the copies",
        ),
    ] {
        let found = count(conn, &format!("SELECT count(*) FROM ({sql})"))?;
        if found > 0 {
            faults.push(StoreFault::new(check, place, found, what, repair));
        }
    }
    let unfit = digests::stale_digests(conn)?.len() as u64;
    if unfit > 0 {
        let what = "digests that do not match their sources";
        faults.push(StoreFault::new(StoreCheck::Digests, "digests", unfit, what, "rewrites them"));
    }
    Ok(faults)
}
