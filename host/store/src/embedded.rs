//! Vectors of other models than the built-in one, which come late: the memories that wait for theirs, in table `unembedded`,
//! and in `embedding_cache` what was answered, so that the same text is not asked for twice.

use rusqlite::{Connection, OptionalExtension, params};
use sha2::{Digest, Sha256};

use super::index::{self, LIVE, Tables};
use super::{Result, Store, time, vectors};
use throughline_embedding::{Embedding, Model, local};
use throughline_search::pieces;

/// A memory that waits for its vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unembedded {
    /// Its row.
    pub(super) rowid: i64,
    /// What a model reads of it; none of them is blank.
    pub texts: Vec<String>,
}

impl Store {
    /// The next `most` memories that wait for their vectors, behind that one.
    pub fn queued(&self, after: Option<&Unembedded>, most: usize) -> Result<Vec<Unembedded>> {
        self.explain((|| {
            let mut select = self.conn.prepare_cached(
                "SELECT u.memory, m.title, m.content FROM unembedded u JOIN memories m ON m.rowid = u.memory
                 WHERE u.memory > ?1 ORDER BY u.memory LIMIT ?2",
            )?;
            let after = after.map_or(i64::MIN, |after| after.rowid);
            let mut rows = select.query(params![after, i64::try_from(most).unwrap_or(i64::MAX)])?;
            let mut queued = Vec::new();
            while let Some(row) = rows.next()? {
                let texts = texts(&row.get::<_, String>(1)?, &row.get::<_, String>(2)?);
                queued.push(Unembedded { rowid: row.get(0)?, texts });
            }
            Ok(queued)
        })())
    }

    /// Of these texts, each once, those whose vectors by this model, as `embedding::Model` is written, are not known.
    pub fn unknown_texts(&self, model: &str, texts: &[String]) -> Result<Vec<String>> {
        self.explain((|| {
            let mut unknown: Vec<String> = Vec::new();
            for text in texts {
                if !unknown.contains(text) && cached(&self.conn, model, text)?.is_none() {
                    unknown.push(text.clone());
                }
            }
            Ok(unknown)
        })())
    }

    /// How often something was taken out for good.
    pub fn erasures(&self) -> Result<u64> {
        self.explain(erasures(&self.conn))
    }

    /// Keeps what a model answered to these texts, which were read when there had been so many `erasures`: what was taken
    /// out since must leave no vector behind.
    pub fn keep_vectors(
        &mut self,
        model: &Model,
        texts: &[String],
        found: &[Embedding],
        erasures: u64,
        now: u64,
    ) -> Result<()> {
        self.write(|tx| {
            if self::erasures(tx)? != erasures {
                return Ok(());
            }
            let mut insert = tx.prepare_cached(
                "INSERT OR REPLACE INTO embedding_cache (content_hash, provider, model, dims, embedding, created_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?;
            for (text, found) in texts.iter().zip(found) {
                let bytes: Vec<u8> = found.vector.iter().flat_map(|number| number.to_le_bytes()).collect();
                let dims = i64::try_from(model.dims).unwrap_or(i64::MAX);
                insert.execute(params![hash(text), model.provider, model.name, dims, bytes, time(now)])?;
            }
            Ok(())
        })
    }

    /// Forgets what models answered: none of them is wanted.
    pub fn forget_answers(&self) -> Result<()> {
        self.explain(self.conn.execute_batch("DELETE FROM embedding_cache"))
    }

    /// Gives those of the memories that still wait their vectors of the model that is searched, as far as these are known.
    /// Returns how many memories do not wait any more.
    pub fn fill(&mut self, memories: &[Unembedded]) -> Result<u64> {
        self.write(|tx| {
            let model = index::live_model(tx)?;
            let mut filled = 0;
            for memory in memories {
                let said: Option<(String, String)> = tx
                    .prepare_cached(
                        "SELECT title, content FROM memories JOIN unembedded ON memory = memories.rowid WHERE memory = ?1",
                    )?
                    .query_row([memory.rowid], |row| Ok((row.get(0)?, row.get(1)?)))
                    .optional()?;
                let Some((title, content)) = said else { continue };
                vectors::remove(tx, &LIVE, memory.rowid, index::dims(&model))?;
                if put(tx, &LIVE, &model, memory.rowid, &title, &content)? {
                    index::unqueue(tx, memory.rowid)?;
                    filled += 1;
                }
            }
            Ok(filled)
        })
    }
}

/// The key of `meta` under which erasures are counted.
const ERASURES: &str = "erasures";

fn erasures(conn: &Connection) -> rusqlite::Result<u64> {
    Ok(index::meta(conn, ERASURES)?.and_then(|count| count.parse().ok()).unwrap_or(0))
}

/// Forgets all that was answered: vectors of texts that are gone are not told from the others, and can be had again.
pub(super) fn forget_all(tx: &Connection) -> rusqlite::Result<()> {
    index::set_meta(tx, ERASURES, &(erasures(tx)? + 1).to_string())?;
    tx.execute_batch("DELETE FROM embedding_cache")
}

/// What a model reads of a memory's pieces, without those of which there is nothing to read.
pub(super) fn texts(title: &str, content: &str) -> Vec<String> {
    let mut texts = index::texts(title, &pieces::cut(content));
    texts.retain(|text| !text.trim().is_empty());
    texts
}

/// Stores the vectors of a memory that has none there, where all of them are known; else false.
pub(super) fn put(
    tx: &Connection,
    tables: &Tables,
    model: &str,
    rowid: i64,
    title: &str,
    content: &str,
) -> rusqlite::Result<bool> {
    let mut found = Vec::new();
    if model != index::NO_MODEL {
        for text in index::texts(title, &pieces::cut(content)) {
            found.push(if text.trim().is_empty() {
                None
            } else if index::is_remote(model) {
                let Some(vector) = cached(tx, model, &text)? else { return Ok(false) };
                Some(vector)
            } else {
                local::embed(&text).map(|found| found.vector)
            });
        }
    }
    vectors::add(tx, tables, rowid, found.iter().map(Option::as_deref))?;
    Ok(true)
}

/// Forgets what other models answered.
pub(super) fn forget_others(tx: &Connection, model: &str) -> rusqlite::Result<()> {
    let (provider, name) = parts(model);
    tx.execute("DELETE FROM embedding_cache WHERE provider <> ?1 OR model <> ?2", [provider, name])?;
    Ok(())
}

/// The provider and the name, of `provider/name:dims`.
fn parts(model: &str) -> (&str, &str) {
    let (provider, rest) = model.split_once('/').unwrap_or_default();
    (provider, rest.rsplit_once(':').map_or(rest, |(name, _)| name))
}

fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

/// What a model answered to this text.
fn cached(conn: &Connection, model: &str, text: &str) -> rusqlite::Result<Option<Vec<f32>>> {
    let (provider, name) = parts(model);
    let bytes: Option<Vec<u8>> = conn
        .prepare_cached(
            "SELECT embedding FROM embedding_cache
             WHERE content_hash = ?1 AND provider = ?2 AND model = ?3 AND length(embedding) = 4 * ?4",
        )?
        .query_row(params![hash(text), provider, name, i64::try_from(index::dims(model)).unwrap_or(i64::MAX)], |row| {
            row.get(0)
        })
        .optional()?;
    Ok(bytes.map(|bytes| bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()))
}
