//! The index made anew, beside the one that is searched: in tables of the same database, a few memories a transaction, and
//! swapped in by renaming. Readers go on meanwhile, what is written meanwhile goes into both (`index.rs`), and a process
//! that is killed is gone on from by the next one, since all that is known of the work stands in `meta`.

use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension, params};

use super::index::{self, INDEX_VERSION, LIVE, MODEL, NEXT, NEXT_MODEL, NEXT_VERSION, OLD, Said, Tables, VERSION, Version};
use super::{Result, Store, embedded, events, unjson, untime, vectors};
use throughline_search::tokens::FTS5_TOKENIZER;

/// Keys of `meta`: the last memory that was put into the tables that will be searched, and how many were.
const AT: &str = "reindex_at";
/// Whether the tables that were searched before are still there.
const LEFT: &str = "reindex_left";
/// The last event whose words were made anew.
const EVENTS_AT: &str = "reindex_events_at";
/// Whom the model was learned from, for the tables that are searched and those that will be.
const ASKED: &str = "embedding_asked";
const NEXT_ASKED: &str = "embedding_asked_next";

/// Until when a provider that failed is left alone, milliseconds since the Unix epoch, and which.
const ALONE: &str = "embedding_again";

/// How many rows are read at once.
const ROWS: u32 = 64;

/// How many vectors of the former index are deleted in one statement.
const DELETED: u32 = 2_000;

/// How the index stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexState {
    /// Whether this version's words and pieces are in it.
    pub is_current: bool,
    /// The model of its vectors, as `embedding::Model` is written; `none`.
    pub model: String,
    /// Whom the model was learned from; none where it is the built-in one or none.
    pub asked: Option<String>,
    /// How many memories are in the one that is being made; none: none is.
    pub made: Option<u64>,
    /// Whether something is left to do after a swap.
    pub is_untidy: bool,
    /// Whether memories wait for their vectors.
    pub has_queue: bool,
}

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remade {
    /// So many memories are in the new index now.
    Memories(u64),
    /// The new index is searched from now on.
    Swapped,
    /// Words of events, or what was left of the former index.
    Rest,
    /// There is nothing to do.
    Nothing,
}

impl Store {
    /// How the index stands: a few rows are read.
    pub fn index_state(&self) -> Result<IndexState> {
        self.explain(state(&self.conn))
    }

    /// How many memories wait for their vectors.
    pub fn unembedded(&self) -> Result<u64> {
        self.explain(self.conn.query_row("SELECT count(*) FROM unembedded", [], |row| row.get(0)).map(untime))
    }

    /// How many memories there are, without those that were folded into a digest.
    pub fn memory_count(&self) -> Result<u64> {
        self.explain(
            self.conn.query_row("SELECT count(*) FROM memories WHERE digest IS NULL", [], |row| row.get(0)).map(untime),
        )
    }

    /// Begins to make the index anew, with the vectors of `model`, or goes on where that was begun before; [`Store::remake`]
    /// does the work. `asked`: whom the model was learned from.
    pub fn begin_reindex(&mut self, model: &str, asked: Option<&str>) -> Result<()> {
        self.write(|tx| begin(tx, model, asked))
    }

    /// The model of the index that is being made; none: none is.
    pub fn next_model(&self) -> Result<Option<String>> {
        self.explain(index::meta(&self.conn, NEXT_MODEL))
    }

    /// Leaves whom `asked` stands for alone until then, milliseconds since the Unix epoch.
    pub fn leave_alone(&mut self, asked: &str, until: u64) -> Result<()> {
        self.write(|tx| index::set_meta(tx, ALONE, &format!("{until} {asked}")))
    }

    /// Whether whom `asked` stands for is to be left alone at this moment.
    pub fn is_left_alone(&self, asked: &str, now: u64) -> Result<bool> {
        let noted = self.explain(index::meta(&self.conn, ALONE))?.unwrap_or_default();
        let (until, of) = noted.split_once(' ').unwrap_or_default();
        Ok(of == asked && until.parse::<u64>().is_ok_and(|until| now < until))
    }

    /// Notes whom the model was learned from, where it stays the same.
    pub fn settle(&mut self, asked: Option<&str>) -> Result<()> {
        self.write(|tx| set_or_clear(tx, ASKED, asked))
    }

    /// Makes at most `most` more memories anew, in one transaction that takes not much longer than `time`; after the last
    /// one swaps the new index in, and then cleans up, a piece a call.
    pub fn remake(&mut self, most: usize, time: Duration) -> Result<Remade> {
        self.write(|tx| {
            let until = Instant::now() + time;
            if let Some(at) = index::meta(tx, AT)? {
                return make(tx, &at, most, until);
            }
            if index::meta(tx, EVENTS_AT)?.is_some() {
                return remake_events(tx, until).map(|()| Remade::Rest);
            }
            if index::meta(tx, LEFT)?.is_some() {
                return take_away(tx, until).map(|()| Remade::Rest);
            }
            Ok(Remade::Nothing)
        })
    }

    /// What a model would read of the next `most` memories that [`Store::remake`] will put into the new index, of those
    /// whose vectors must be had from elsewhere.
    pub fn texts_ahead(&self, most: usize) -> Result<Vec<String>> {
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
                texts.extend(embedded::texts(&row.get::<_, String>(0)?, &row.get::<_, String>(1)?));
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
        is_untidy: index::meta(conn, EVENTS_AT)?.is_some() || index::meta(conn, LEFT)?.is_some(),
        has_queue: conn.prepare_cached("SELECT 1 FROM unembedded LIMIT 1")?.exists([])?,
    })
}

/// The last memory, and how many.
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

/// As migrations 0001 and 0004 make them.
fn create_tables(tx: &Connection, tables: &Tables) -> rusqlite::Result<()> {
    let Tables { words, vectors, codes } = tables;
    tx.execute_batch(&format!(
        "CREATE VIRTUAL TABLE {words} USING fts5 (
             words, content = '', contentless_delete = 1, detail = none, tokenize = \"{FTS5_TOKENIZER}\");
         CREATE TABLE {vectors} (piece INTEGER PRIMARY KEY, vector BLOB NOT NULL) STRICT;
         CREATE TABLE {codes} (block INTEGER PRIMARY KEY, codes BLOB NOT NULL) STRICT;"
    ))
}

fn drop_tables(tx: &Connection, tables: &Tables) -> rusqlite::Result<()> {
    let Tables { words, vectors, codes } = tables;
    tx.execute_batch(&format!("DROP TABLE IF EXISTS {words}; DROP TABLE IF EXISTS {vectors}; DROP TABLE IF EXISTS {codes};"))
}

/// Whether the vectors that are searched are those that are wanted, and of the same pieces: then they are taken over.
/// Those of the built-in model cost so little that they are made anew in any case.
fn is_copied(conn: &Connection, model: &str) -> rusqlite::Result<bool> {
    Ok(index::is_remote(model)
        && model == index::live_model(conn)?
        && Version::of(conn, INDEX_VERSION)?.pieces == VERSION.pieces)
}

fn make(tx: &Connection, at: &str, most: usize, until: Instant) -> rusqlite::Result<Remade> {
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
            return Ok(Remade::Swapped);
        }
        for (rowid, title, content, keywords, files) in rows {
            let (keywords, files): (Vec<String>, Vec<String>) = (unjson(&keywords), unjson(&files));
            let said = Said { title: &title, content: &content, keywords: &keywords, files: &files };
            // It may have been learned since this was begun.
            index::take_out(tx, &NEXT, &model, rowid)?;
            index::add(tx, &NEXT, &model, rowid, said)?;
            let has_vectors = if is_copied {
                vectors::copy(tx, &LIVE, &NEXT, rowid, index::dims(&model))? || embedded::texts(&title, &content).is_empty()
            } else {
                !index::is_remote(&model) || embedded::put(tx, &NEXT, &model, rowid, &title, &content)?
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
    Ok(Remade::Memories(made))
}

/// Renames the tables: from the next statement on the new ones are searched, by every process.
fn swap(tx: &Connection, model: &str) -> rusqlite::Result<()> {
    // Of a swap before this one.
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
    index::set_meta(tx, LEFT, "1")?;
    index::set_meta(tx, EVENTS_AT, "0")?;
    for key in [NEXT_MODEL, NEXT_VERSION, NEXT_ASKED, AT] {
        index::clear_meta(tx, key)?;
    }
    if index::is_remote(model) {
        embedded::forget_others(tx, model)
    } else {
        // Every memory has the vectors that it should have; whoever waits does so for those of another model.
        tx.execute_batch("DELETE FROM unembedded")
    }
}

/// Makes the words of the next events anew, where they stand: a search meanwhile finds some by the old words.
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

/// Deletes some of what was searched before.
fn take_away(tx: &Connection, until: Instant) -> rusqlite::Result<()> {
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
    index::clear_meta(tx, LEFT)
}

/// Takes everything away that was searched before; for [`Store::erase`], which leaves nothing.
pub(super) fn take_all_away(conn: &Connection) -> rusqlite::Result<()> {
    drop_tables(conn, &OLD)?;
    index::clear_meta(conn, LEFT)
}

/// Whether an index is being made beside the one that is searched.
pub(super) fn is_begun(conn: &Connection) -> rusqlite::Result<bool> {
    Ok(conn.prepare_cached("SELECT 1 FROM meta WHERE key = ?1")?.query_row([AT], |_| Ok(())).optional()?.is_some())
}
