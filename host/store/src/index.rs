//! The search index of memories: one row of words per piece in the full-text table, and one vector per piece.
//!
//! Two sets of tables may exist side by side: the live one, and the next one while the index is rebuilt (`reindex.rs`).
//! Every change goes into both.

use std::fmt;

use rusqlite::{Connection, OptionalExtension, params};

use super::extent::WORDS;
use super::vectors;
use throughline_embedding::{Embedding, local};
use throughline_model::contract::Draft;
use throughline_search::{pieces, tokens};

/// The names of one set of tables.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tables {
    pub(super) words: &'static str,
    pub(super) vectors: &'static str,
    pub(super) codes: &'static str,
}

/// The tables that are searched.
pub(super) const LIVE: Tables = Tables { words: WORDS, vectors: "vectors", codes: "vector_codes" };

/// The tables of the index being built.
pub(super) const NEXT: Tables = Tables { words: "memories_fts_next", vectors: "vectors_next", codes: "vector_codes_next" };

/// The tables that were searched before, until they are deleted.
pub(super) const OLD: Tables = Tables { words: "memories_fts_old", vectors: "vectors_old", codes: "vector_codes_old" };

/// The version of how texts are split into pieces and words. An index made by another version is rebuilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version {
    /// See [`tokens::VERSION`].
    pub(super) tokens: u32,
    /// See [`pieces::VERSION`].
    pub(super) pieces: u32,
}

/// The version of this program.
pub(super) const VERSION: Version = Version { tokens: tokens::VERSION, pieces: pieces::VERSION };

/// The version of a database that does not record one.
const FIRST: Version = Version { tokens: 1, pieces: 1 };

/// Formats the version as it is stored in `meta`, such as `2.1`.
impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.tokens, self.pieces)
    }
}

impl Version {
    /// Returns the version stored under this key of `meta`. An unreadable value yields a version that no program has.
    pub(super) fn of(conn: &Connection, key: &str) -> rusqlite::Result<Self> {
        let Some(text) = meta(conn, key)? else { return Ok(FIRST) };
        let (tokens, pieces) = text.split_once('.').unwrap_or_default();
        Ok(Self { tokens: tokens.parse().unwrap_or(0), pieces: pieces.parse().unwrap_or(0) })
    }
}

/// Keys of `meta`: the version of the live index, and of the next one.
pub(super) const INDEX_VERSION: &str = "index_version";
pub(super) const NEXT_VERSION: &str = "index_version_next";

/// Keys of `meta`: the model of the live vectors, and of the next ones.
pub(super) const MODEL: &str = "embedding";
pub(super) const NEXT_MODEL: &str = "embedding_next";

/// The model name that stands for having no vectors.
pub(super) const NO_MODEL: &str = "none";

/// Returns the name of the built-in model in `meta`.
pub(super) fn local_model() -> String {
    local::model().to_string()
}

/// Returns how many numbers a model's vectors have, or 0 if it has none.
pub(super) fn dims(model: &str) -> usize {
    model.rsplit_once(':').and_then(|(_, dims)| dims.parse().ok()).unwrap_or(0)
}

pub(super) fn meta(conn: &Connection, key: &str) -> rusqlite::Result<Option<String>> {
    conn.prepare_cached("SELECT value FROM meta WHERE key = ?1")?.query_row([key], |row| row.get(0)).optional()
}

pub(super) fn clear_meta(tx: &Connection, key: &str) -> rusqlite::Result<()> {
    tx.prepare_cached("DELETE FROM meta WHERE key = ?1")?.execute([key])?;
    Ok(())
}

/// Returns the model of the live vectors.
pub(super) fn live_model(conn: &Connection) -> rusqlite::Result<String> {
    Ok(meta(conn, MODEL)?.unwrap_or_else(local_model))
}

/// Returns whether a model's vectors come from outside this program, and so are not available at once.
pub(super) fn is_remote(model: &str) -> bool {
    model != NO_MODEL && model != local_model()
}

pub(super) fn set_meta(tx: &Connection, key: &str, value: &str) -> rusqlite::Result<()> {
    tx.prepare_cached("INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2")?
        .execute([key, value])?;
    Ok(())
}

/// Returns the existing sets of tables, each with the model of its vectors.
fn sets(tx: &Connection) -> rusqlite::Result<Vec<(&'static Tables, String)>> {
    let model = if let Some(model) = meta(tx, MODEL)? {
        model
    } else {
        let model = local_model();
        set_meta(tx, MODEL, &model)?;
        model
    };
    let mut sets = vec![(&LIVE, model)];
    sets.extend(meta(tx, NEXT_MODEL)?.map(|model| (&NEXT, model)));
    Ok(sets)
}

/// The searchable texts of a memory.
#[derive(Clone, Copy)]
pub(super) struct IndexedText<'a> {
    pub(super) title: &'a str,
    pub(super) content: &'a str,
    pub(super) keywords: &'a [String],
    pub(super) files: &'a [String],
}

impl<'a> From<&'a Draft> for IndexedText<'a> {
    fn from(draft: &'a Draft) -> Self {
        Self { title: &draft.title, content: &draft.content, keywords: &draft.keywords, files: &draft.files }
    }
}

/// Adds a memory to the index.
pub(super) fn index(tx: &Connection, rowid: i64, draft: &Draft) -> rusqlite::Result<()> {
    for (tables, model) in sets(tx)? {
        add(tx, tables, &model, rowid, draft.into())?;
        if is_remote(&model) {
            queue(tx, rowid)?;
        }
    }
    Ok(())
}

/// Queues a memory whose vectors are still to be made.
pub(super) fn queue(tx: &Connection, rowid: i64) -> rusqlite::Result<()> {
    tx.prepare_cached("INSERT OR IGNORE INTO unembedded (memory) VALUES (?1)")?.execute([rowid])?;
    Ok(())
}

/// Removes a memory from that queue.
pub(super) fn unqueue(tx: &Connection, rowid: i64) -> rusqlite::Result<()> {
    tx.prepare_cached("DELETE FROM unembedded WHERE memory = ?1")?.execute([rowid])?;
    Ok(())
}

/// Adds a memory to one set of tables, including vectors if the model is the built-in one.
pub(super) fn add(tx: &Connection, tables: &Tables, model: &str, rowid: i64, said: IndexedText<'_>) -> rusqlite::Result<()> {
    let pieces = pieces::split(said.content);
    let mut words = [said.title, &said.keywords.join(" "), &said.files.join(" ")].map(tokens::index_text).join(" ");
    let mut insert = tx.prepare_cached(&format!("INSERT INTO {} (rowid, words) VALUES (?1, ?2)", tables.words))?;
    for (number, piece) in pieces.iter().enumerate() {
        // Title, keywords and files are in the first row.
        words.push(' ');
        words.push_str(&tokens::index_text(piece));
        insert.execute(params![pieces::row_id(rowid, number), words])?;
        words.clear();
    }
    if model == local_model() {
        let found: Vec<Option<Embedding>> = texts(said.title, &pieces).iter().map(|text| local::embed(text)).collect();
        vectors::add(tx, tables, rowid, found.iter().map(|found| found.as_ref().map(|found| found.vector.as_slice())))?;
    }
    Ok(())
}

/// Returns the text to embed for each piece; the memory's title precedes each of them.
pub(super) fn texts(title: &str, pieces: &[&str]) -> Vec<String> {
    let title = title.trim();
    pieces
        .iter()
        .map(|piece| if piece.starts_with(title) { (*piece).to_owned() } else { format!("{title}\n{piece}") })
        .collect()
}

/// Removes a memory from the index.
pub(super) fn unindex(tx: &Connection, rowid: i64) -> rusqlite::Result<()> {
    for (tables, model) in sets(tx)? {
        remove_from(tx, tables, &model, rowid)?;
    }
    Ok(())
}

/// Removes a memory from one set of tables, however its content was split when it was added.
pub(super) fn remove_from(tx: &Connection, tables: &Tables, model: &str, rowid: i64) -> rusqlite::Result<()> {
    let (first, last) = pieces::row_id_range(rowid..=rowid);
    let rows: Vec<i64> = tx
        .prepare_cached(&format!("SELECT id FROM {}_docsize WHERE id BETWEEN ?1 AND ?2", tables.words))?
        .query_map([first, last], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut delete = tx.prepare_cached(&format!("DELETE FROM {} WHERE rowid = ?1", tables.words))?;
    for row in rows {
        delete.execute([row])?;
    }
    vectors::remove(tx, tables, rowid, dims(model))
}
