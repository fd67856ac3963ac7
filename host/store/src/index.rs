//! What a memory is found by: its words, a row a piece in the full-text table, and a vector a piece.
//!
//! Two sets of tables may stand side by side: the one that is searched, and while the index is made anew (`reindex.rs`) the
//! one that will be. Every change goes into both.

use std::fmt;

use rusqlite::{Connection, OptionalExtension, params};

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

/// What is searched.
pub(super) const LIVE: Tables = Tables { words: "memories_fts", vectors: "vectors", codes: "vector_codes" };

/// What will be.
pub(super) const NEXT: Tables = Tables { words: "memories_fts_next", vectors: "vectors_next", codes: "vector_codes_next" };

/// What was searched before, until it is taken away.
pub(super) const OLD: Tables = Tables { words: "memories_fts_old", vectors: "vectors_old", codes: "vector_codes_old" };

/// How texts are cut into pieces and those into words. An index that was made by another version is made anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version {
    /// See [`tokens::VERSION`].
    pub(super) tokens: u32,
    /// See [`pieces::VERSION`].
    pub(super) pieces: u32,
}

/// This program's.
pub(super) const VERSION: Version = Version { tokens: tokens::VERSION, pieces: pieces::VERSION };

/// Of a database that does not say.
const FIRST: Version = Version { tokens: 1, pieces: 1 };

/// `2.1`: as it stands in `meta`.
impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.tokens, self.pieces)
    }
}

impl Version {
    /// The version that stands under this key of `meta`. What cannot be read is none that this program knows.
    pub(super) fn of(conn: &Connection, key: &str) -> rusqlite::Result<Self> {
        let Some(text) = meta(conn, key)? else { return Ok(FIRST) };
        let (tokens, pieces) = text.split_once('.').unwrap_or_default();
        Ok(Self { tokens: tokens.parse().unwrap_or(0), pieces: pieces.parse().unwrap_or(0) })
    }
}

/// Keys of `meta`: the version of the index that is searched, and of the one that will be.
pub(super) const INDEX_VERSION: &str = "index_version";
pub(super) const NEXT_VERSION: &str = "index_version_next";

/// Keys of `meta`: the model of the vectors that are searched, and of those that will be.
pub(super) const MODEL: &str = "embedding";
pub(super) const NEXT_MODEL: &str = "embedding_next";

/// The vectors of no model: where they are not wanted.
pub(super) const NO_MODEL: &str = "none";

/// The built-in model, as `meta` names it.
pub(super) fn local_model() -> String {
    local::model().to_string()
}

/// How many numbers the vectors of a model have; 0 where it has none.
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

/// The model of the vectors that are searched.
pub(super) fn live_model(conn: &Connection) -> rusqlite::Result<String> {
    Ok(meta(conn, MODEL)?.unwrap_or_else(local_model))
}

/// Whether a model's vectors come from outside this program, and so are not there at once.
pub(super) fn is_remote(model: &str) -> bool {
    model != NO_MODEL && model != local_model()
}

pub(super) fn set_meta(tx: &Connection, key: &str, value: &str) -> rusqlite::Result<()> {
    tx.prepare_cached("INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2")?
        .execute([key, value])?;
    Ok(())
}

/// The sets of tables that there are, each with the model of its vectors.
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

/// What a memory says, to be found by.
#[derive(Clone, Copy)]
pub(super) struct Said<'a> {
    pub(super) title: &'a str,
    pub(super) content: &'a str,
    pub(super) keywords: &'a [String],
    pub(super) files: &'a [String],
}

impl<'a> From<&'a Draft> for Said<'a> {
    fn from(draft: &'a Draft) -> Self {
        Self { title: &draft.title, content: &draft.content, keywords: &draft.keywords, files: &draft.files }
    }
}

/// Puts a memory into the index.
pub(super) fn index(tx: &Connection, rowid: i64, draft: &Draft) -> rusqlite::Result<()> {
    for (tables, model) in sets(tx)? {
        add(tx, tables, &model, rowid, draft.into())?;
        if is_remote(&model) {
            queue(tx, rowid)?;
        }
    }
    Ok(())
}

/// Notes that a memory's vectors are still to be made.
pub(super) fn queue(tx: &Connection, rowid: i64) -> rusqlite::Result<()> {
    tx.prepare_cached("INSERT OR IGNORE INTO unembedded (memory) VALUES (?1)")?.execute([rowid])?;
    Ok(())
}

/// Notes that they are there.
pub(super) fn unqueue(tx: &Connection, rowid: i64) -> rusqlite::Result<()> {
    tx.prepare_cached("DELETE FROM unembedded WHERE memory = ?1")?.execute([rowid])?;
    Ok(())
}

/// Puts a memory into one set of tables; with vectors where they are the built-in model's.
pub(super) fn add(tx: &Connection, tables: &Tables, model: &str, rowid: i64, said: Said<'_>) -> rusqlite::Result<()> {
    let pieces = pieces::cut(said.content);
    let mut words = [said.title, &said.keywords.join(" "), &said.files.join(" ")].map(tokens::index_text).join(" ");
    let mut insert = tx.prepare_cached(&format!("INSERT INTO {} (rowid, words) VALUES (?1, ?2)", tables.words))?;
    for (number, piece) in pieces.iter().enumerate() {
        // Title, keywords and files stand in the first row.
        words.push(' ');
        words.push_str(&tokens::index_text(piece));
        insert.execute(params![pieces::row(rowid, number), words])?;
        words.clear();
    }
    if model == local_model() {
        let found: Vec<Option<Embedding>> = texts(said.title, &pieces).iter().map(|text| local::embed(text)).collect();
        vectors::add(tx, tables, rowid, found.iter().map(|found| found.as_ref().map(|found| found.vector.as_slice())))?;
    }
    Ok(())
}

/// What a model reads of each piece: what the memory is called stands before all of them.
pub(super) fn texts(title: &str, pieces: &[&str]) -> Vec<String> {
    let title = title.trim();
    pieces
        .iter()
        .map(|piece| if piece.starts_with(title) { (*piece).to_owned() } else { format!("{title}\n{piece}") })
        .collect()
}

/// Takes a memory out of the index.
pub(super) fn unindex(tx: &Connection, rowid: i64) -> rusqlite::Result<()> {
    for (tables, model) in sets(tx)? {
        take_out(tx, tables, &model, rowid)?;
    }
    Ok(())
}

/// Takes a memory out of one set of tables, however its content was cut when it was put there.
pub(super) fn take_out(tx: &Connection, tables: &Tables, model: &str, rowid: i64) -> rusqlite::Result<()> {
    let (first, last) = pieces::rows(rowid..=rowid);
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
