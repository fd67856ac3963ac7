//! Rebuilds the index beside the live one: in tables of the same database, a few memories per transaction, and swapped
//! in by renaming. Readers continue meanwhile, and writes go into both indexes (`index.rs`). If a process is killed,
//! the next one resumes, because all progress is stored in `meta`.
//!
//! An index is of one version of tokens and pieces and of one embedding model, both named in `meta`. If this program or
//! the configuration wants another, the rebuild fills tables with `_next` behind their names, memory by memory in the
//! order of their rows, with about 15 ms per transaction and a pause for others in between. At the end one transaction
//! renames the tables, so readers see one set or the other. The former tables are then emptied in steps, too. Progress
//! is stored in the transaction that made it.
//!
//! The index is not rebuilt in a database of its own: hooks of many processes hold the file open, so it cannot be
//! replaced, and copying the new one in would make them wait for as long as the copy takes. Renaming takes the same
//! time however large the tables are.

use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension, params};

use super::index::{
    self, INDEX_VERSION, IndexedText, LIVE, MODEL, NEXT, NEXT_MODEL, NEXT_VERSION, OLD, Tables, VERSION, Version,
};
use super::{Result, Store, embedding_queue, events, from_json_or_default, time_from_sql, vectors};
use throughline_search::tokens::FTS5_TOKENIZER;

/// The key in `meta` of the last memory added to the next tables, and how many were added.
const AT: &str = "reindex_at";
/// The key whose presence says that the former tables still exist.
const CLEANUP: &str = "reindex_left";
/// The key of the last event whose words were rebuilt.
const EVENTS_AT: &str = "reindex_events_at";
/// The keys of the fingerprint of the providers that were asked for the model, for the live and the next tables.
const ASKED: &str = "embedding_asked";
const NEXT_ASKED: &str = "embedding_asked_next";

/// The key of the time until which a failed provider is not asked, in milliseconds since the Unix epoch, with its
/// fingerprint.
const SUSPENDED_UNTIL: &str = "embedding_again";

/// How many rows are read at once.
const ROWS: u32 = 64;

/// How many vectors of the former index are deleted per statement.
const DELETED: u32 = 2_000;

/// The state of the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexState {
    /// Whether it was built by this version's tokenizer and piece splitter.
    pub is_current: bool,
    /// The model of its vectors as a formatted `embedding::Model`, or `none`.
    pub model: String,
    /// The fingerprint of the providers that were asked for the model, or `None` for the built-in model or no model.
    pub asked: Option<String>,
    /// How many memories are in the index being built, or `None` if none is.
    pub made: Option<u64>,
    /// Whether cleanup after a swap is pending.
    pub needs_cleanup: bool,
    /// Whether memories wait for their vectors.
    pub has_queue: bool,
}

/// What a rebuild step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RebuildStep {
    /// The new index now contains this many memories.
    Memories(u64),
    /// The new index has become the live one.
    Swapped,
    /// Words of events were rebuilt, or part of the former index was deleted.
    Rest,
    /// There is nothing to do.
    Nothing,
}

impl Store {
    /// Returns the state of the index; reads only a few rows.
    pub fn index_state(&self) -> Result<IndexState> {
        self.explain(state(&self.conn))
    }

    /// Returns how many memories wait for their vectors.
    pub fn unembedded(&self) -> Result<u64> {
        self.explain(self.conn.query_row("SELECT count(*) FROM unembedded", [], |row| row.get(0)).map(time_from_sql))
    }

    /// Returns how many memories there are, without those folded into a digest.
    pub fn memory_count(&self) -> Result<u64> {
        self.explain(
            self.conn
                .query_row("SELECT count(*) FROM memories WHERE digest IS NULL", [], |row| row.get(0))
                .map(time_from_sql),
        )
    }

    /// Begins to rebuild the index with the vectors of `model`, or resumes a rebuild that was begun before;
    /// [`Store::rebuild_step`] does the work. `asked` is the fingerprint of the providers that were asked for the model.
    pub fn begin_reindex(&mut self, model: &str, asked: Option<&str>) -> Result<()> {
        self.write(|tx| begin(tx, model, asked))
    }

    /// Returns the model of the index being built, or `None` if none is.
    pub fn next_model(&self) -> Result<Option<String>> {
        self.explain(index::meta(&self.conn, NEXT_MODEL))
    }

    /// Records that the providers of fingerprint `asked` are not to be asked until this time, in milliseconds since the
    /// Unix epoch.
    pub fn suspend_providers(&mut self, asked: &str, until: u64) -> Result<()> {
        self.write(|tx| index::set_meta(tx, SUSPENDED_UNTIL, &format!("{until} {asked}")))
    }

    /// Returns whether the providers of fingerprint `asked` are not to be asked at this time.
    pub fn is_suspended(&self, asked: &str, now: u64) -> Result<bool> {
        let noted = self.explain(index::meta(&self.conn, SUSPENDED_UNTIL))?.unwrap_or_default();
        let (until, of) = noted.split_once(' ').unwrap_or_default();
        Ok(of == asked && until.parse::<u64>().is_ok_and(|until| now < until))
    }

    /// Records the fingerprint of the providers that were asked, if the model stays the same.
    pub fn set_asked_providers(&mut self, asked: Option<&str>) -> Result<()> {
        self.write(|tx| set_or_clear(tx, ASKED, asked))
    }

    /// Does one step of the rebuild in one transaction: indexes at most `most` more memories, for not much longer than
    /// `time`. The step after the last memory swaps the new index in; further steps clean up.
    pub fn rebuild_step(&mut self, most: usize, time: Duration) -> Result<RebuildStep> {
        self.write(|tx| {
            let until = Instant::now() + time;
            if let Some(at) = index::meta(tx, AT)? {
                return make(tx, &at, most, until);
            }
            if index::meta(tx, EVENTS_AT)?.is_some() {
                return remake_events(tx, until).map(|()| RebuildStep::Rest);
            }
            if index::meta(tx, CLEANUP)?.is_some() {
                return delete_former_rows(tx, until).map(|()| RebuildStep::Rest);
            }
            Ok(RebuildStep::Nothing)
        })
    }

    /// Returns the texts to embed for the next `most` memories that [`Store::rebuild_step`] will index, if their vectors must
    /// come from outside this program.
    pub fn upcoming_texts(&self, most: usize) -> Result<Vec<String>> {
        self.explain((|| {
            let conn = &self.conn;
            let (Some(at), Some(model)) = (index::meta(conn, AT)?, index::meta(conn, NEXT_MODEL)?) else {
                return Ok(Vec::new());
            };
            if !index::is_remote(&model) || is_copied(conn, &model)? {
                return Ok(Vec::new());
            }
            let mut select = conn.prepare_cached(
                "SELECT title, content FROM memories WHERE rowid > ?1 AND digest IS NULL ORDER BY rowid LIMIT ?2",
            )?;
            let mut rows = select.query(params![position(&at).0, i64::try_from(most).unwrap_or(i64::MAX)])?;
            let mut texts = Vec::new();
            while let Some(row) = rows.next()? {
                texts.extend(embedding_queue::texts(&row.get::<_, String>(0)?, &row.get::<_, String>(1)?));
            }
            Ok(texts)
        })())
    }
}

fn state(conn: &Connection) -> rusqlite::Result<IndexState> {
    Ok(IndexState {
        is_current: Version::of(conn, INDEX_VERSION)? == VERSION,
        model: index::live_model(conn)?,
        asked: index::meta(conn, ASKED)?,
        made: index::meta(conn, AT)?.map(|at| position(&at).1),
        needs_cleanup: index::meta(conn, EVENTS_AT)?.is_some() || index::meta(conn, CLEANUP)?.is_some(),
        has_queue: conn.prepare_cached("SELECT 1 FROM unembedded LIMIT 1")?.exists([])?,
    })
}

/// Parses the last memory, and how many were added.
fn position(at: &str) -> (i64, u64) {
    let (rowid, made) = at.split_once(' ').unwrap_or_default();
    (rowid.parse().unwrap_or(i64::MIN), made.parse().unwrap_or(0))
}

fn set_or_clear(tx: &Connection, key: &str, value: Option<&str>) -> rusqlite::Result<()> {
    match value {
        Some(value) => index::set_meta(tx, key, value),
        None => index::clear_meta(tx, key),
    }
}

fn begin(tx: &Connection, model: &str, asked: Option<&str>) -> rusqlite::Result<()> {
    let is_begun = index::meta(tx, AT)?.is_some()
        && index::meta(tx, NEXT_MODEL)?.as_deref() == Some(model)
        && Version::of(tx, NEXT_VERSION)? == VERSION;
    if !is_begun {
        drop_tables(tx, &NEXT)?;
        create_tables(tx, &NEXT)?;
        index::set_meta(tx, NEXT_MODEL, model)?;
        index::set_meta(tx, NEXT_VERSION, &VERSION.to_string())?;
        index::set_meta(tx, AT, &format!("{} 0", i64::MIN))?;
    }
    set_or_clear(tx, NEXT_ASKED, asked)
}

/// Creates the tables as migrations 0001 and 0004 do.
fn create_tables(tx: &Connection, tables: &Tables) -> rusqlite::Result<()> {
    let Tables { words, vectors, codes } = tables;
    tx.execute_batch(&format!(
        "CREATE VIRTUAL TABLE {words} USING fts5 (
             words, content = '', contentless_delete = 1, detail = none, tokenize = \"{FTS5_TOKENIZER}\");
         CREATE TABLE {vectors} (piece INTEGER PRIMARY KEY, vector BLOB NOT NULL) STRICT;
         CREATE TABLE {codes} (block INTEGER PRIMARY KEY, codes BLOB NOT NULL) STRICT;"
    ))
}

/// Creates the tables of an index being built and of a former one, for comparing schemas.
pub(super) fn create_all_tables(conn: &Connection) -> rusqlite::Result<()> {
    create_tables(conn, &NEXT)?;
    create_tables(conn, &OLD)
}

fn drop_tables(tx: &Connection, tables: &Tables) -> rusqlite::Result<()> {
    let Tables { words, vectors, codes } = tables;
    tx.execute_batch(&format!("DROP TABLE IF EXISTS {words}; DROP TABLE IF EXISTS {vectors}; DROP TABLE IF EXISTS {codes};"))
}

/// Returns whether the live vectors are of the wanted model and the same pieces, so that they can be copied. Vectors of
/// the built-in model are so cheap that they are always computed again.
fn is_copied(conn: &Connection, model: &str) -> rusqlite::Result<bool> {
    Ok(index::is_remote(model)
        && model == index::live_model(conn)?
        && Version::of(conn, INDEX_VERSION)?.pieces == VERSION.pieces)
}

fn make(tx: &Connection, at: &str, most: usize, until: Instant) -> rusqlite::Result<RebuildStep> {
    let model = index::meta(tx, NEXT_MODEL)?.unwrap_or_else(index::local_model);
    let is_copied = is_copied(tx, &model)?;
    let (mut last, mut made) = position(at);
    let mut left = most;
    while left > 0 {
        let rows: Vec<(i64, String, String, String, String)> = tx
            .prepare_cached(
                "SELECT rowid, title, content, keywords, files FROM memories WHERE rowid > ?1 AND digest IS NULL
                 ORDER BY rowid LIMIT ?2",
            )?
            .query_map(params![last, i64::try_from(left).unwrap_or(i64::MAX).min(ROWS.into())], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
            })?
            .collect::<rusqlite::Result<_>>()?;
        if rows.is_empty() {
            if left < most {
                break;
            }
            swap(tx, &model)?;
            return Ok(RebuildStep::Swapped);
        }
        for (rowid, title, content, keywords, files) in rows {
            let (keywords, files): (Vec<String>, Vec<String>) =
                (from_json_or_default(&keywords), from_json_or_default(&files));
            let said = IndexedText { title: &title, content: &content, keywords: &keywords, files: &files };
            // The memory may have been added since the rebuild began.
            index::remove_from(tx, &NEXT, &model, rowid)?;
            index::add(tx, &NEXT, &model, rowid, said)?;
            let has_vectors = if is_copied {
                vectors::copy(tx, &LIVE, &NEXT, rowid, index::dims(&model))?
                    || embedding_queue::texts(&title, &content).is_empty()
            } else {
                !index::is_remote(&model) || embedding_queue::put(tx, &NEXT, &model, rowid, &title, &content)?
            };
            if has_vectors {
                index::unqueue(tx, rowid)?;
            } else {
                index::queue(tx, rowid)?;
            }
            (last, made, left) = (rowid, made + 1, left - 1);
            if Instant::now() >= until {
                left = 0;
                break;
            }
        }
    }
    index::set_meta(tx, AT, &format!("{last} {made}"))?;
    Ok(RebuildStep::Memories(made))
}

/// Renames the tables. From the next statement on, every process searches the new ones.
fn swap(tx: &Connection, model: &str) -> rusqlite::Result<()> {
    // Left over from an earlier swap.
    drop_tables(tx, &OLD)?;
    for (from, to) in [(&LIVE, &OLD), (&NEXT, &LIVE)] {
        tx.execute_batch(&format!(
            "ALTER TABLE {} RENAME TO {}; ALTER TABLE {} RENAME TO {}; ALTER TABLE {} RENAME TO {};",
            from.words, to.words, from.vectors, to.vectors, from.codes, to.codes
        ))?;
    }
    let asked = index::meta(tx, NEXT_ASKED)?;
    set_or_clear(tx, ASKED, asked.as_deref())?;
    index::set_meta(tx, MODEL, model)?;
    index::set_meta(tx, INDEX_VERSION, &VERSION.to_string())?;
    index::set_meta(tx, CLEANUP, "1")?;
    index::set_meta(tx, EVENTS_AT, "0")?;
    for key in [NEXT_MODEL, NEXT_VERSION, NEXT_ASKED, AT] {
        index::clear_meta(tx, key)?;
    }
    if index::is_remote(model) {
        embedding_queue::clear_other_models(tx, model)
    } else {
        // Every memory has its vectors now; the remaining queue is for another model.
        tx.execute_batch("DELETE FROM unembedded")
    }
}

/// Rebuilds the words of the next events in place. A concurrent search finds some of them by their old words.
fn remake_events(tx: &Connection, until: Instant) -> rusqlite::Result<()> {
    let mut last: i64 = index::meta(tx, EVENTS_AT)?.and_then(|at| at.parse().ok()).unwrap_or(0);
    loop {
        let rows: Vec<(i64, Option<String>)> = tx
            .prepare_cached(
                "SELECT id, payload_json FROM events_fts_docsize LEFT JOIN events ON event_id = id
                 WHERE id > ?1 ORDER BY id LIMIT ?2",
            )?
            .query_map(params![last, ROWS], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        if rows.is_empty() {
            return index::clear_meta(tx, EVENTS_AT);
        }
        for (id, payload) in rows {
            if let Some(payload) = payload {
                events::reindex(tx, id, &payload)?;
            }
            last = id;
            if Instant::now() >= until {
                return index::set_meta(tx, EVENTS_AT, &last.to_string());
            }
        }
    }
}

/// Deletes part of the former index.
fn delete_former_rows(tx: &Connection, until: Instant) -> rusqlite::Result<()> {
    let has = |table: &str| -> rusqlite::Result<bool> {
        tx.prepare_cached("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1")?.exists([table])
    };
    if has(OLD.vectors)? {
        let delete =
            format!("DELETE FROM {0} WHERE piece IN (SELECT piece FROM {0} ORDER BY piece LIMIT {DELETED})", OLD.vectors);
        while tx.execute(&delete, [])? > 0 {
            if Instant::now() >= until {
                return Ok(());
            }
        }
        return tx.execute_batch(&format!("DROP TABLE {}", OLD.vectors));
    }
    for table in [OLD.codes, OLD.words] {
        if has(table)? {
            return tx.execute_batch(&format!("DROP TABLE {table}"));
        }
    }
    index::clear_meta(tx, CLEANUP)
}

/// Deletes all of the former index; for [`Store::erase`], which must leave nothing behind.
pub(super) fn delete_former_index(conn: &Connection) -> rusqlite::Result<()> {
    drop_tables(conn, &OLD)?;
    index::clear_meta(conn, CLEANUP)
}

/// Returns whether an index is being built beside the live one.
pub(super) fn is_begun(conn: &Connection) -> rusqlite::Result<bool> {
    Ok(conn.prepare_cached("SELECT 1 FROM meta WHERE key = ?1")?.query_row([AT], |_| Ok(())).optional()?.is_some())
}
