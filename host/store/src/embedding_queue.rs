//! Vectors of external embedding models, which arrive later than the memories. Table `unembedded` lists the memories
//! that wait for theirs; table `embedding_cache` keeps answers by the text's hash, so that no text is embedded twice.
//!
//! Only the provider of the model that the index names is asked. A failure leaves the memories waiting, and the
//! provider is not asked again for some time. If `auto` falls back to the built-in model, vectors of another model
//! stay.

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
    /// The texts to embed; none is blank.
    pub texts: Vec<String>,
}

impl Store {
    /// Returns the next `most` memories that wait for their vectors, after the memory `after`.
    pub fn next_unembedded(&self, after: Option<&Unembedded>, most: usize) -> Result<Vec<Unembedded>> {
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

    /// Returns the texts, without duplicates, whose vectors by this model are not cached. `model` is a formatted
    /// `embedding::Model`.
    pub fn uncached_texts(&self, model: &str, texts: &[String]) -> Result<Vec<String>> {
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

    /// Returns how often something was erased.
    pub fn erasures(&self) -> Result<u64> {
        self.explain(erasures(&self.conn))
    }

    /// Caches a model's vectors for these texts. `erasures` is the count from when the texts were read; if something
    /// was erased since, nothing is cached, because erased texts must leave no vectors behind.
    pub fn cache_vectors(
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

    /// Clears the cache, because no external model is configured any more.
    pub fn clear_embedding_cache(&self) -> Result<()> {
        self.explain(self.conn.execute_batch("DELETE FROM embedding_cache"))
    }

    /// Stores the vectors of those memories that still wait and whose vectors by the current model are all cached.
    /// Returns how many memories no longer wait.
    pub fn store_cached_vectors(&mut self, memories: &[Unembedded]) -> Result<u64> {
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

/// The key in `meta` that counts erasures.
const ERASURES: &str = "erasures";

fn erasures(conn: &Connection) -> rusqlite::Result<u64> {
    Ok(index::meta(conn, ERASURES)?.and_then(|count| count.parse().ok()).unwrap_or(0))
}

/// Clears the cache. Vectors of erased texts cannot be distinguished from the others, and all vectors can be computed
/// again.
pub(super) fn clear_cache(tx: &Connection) -> rusqlite::Result<()> {
    index::set_meta(tx, ERASURES, &(erasures(tx)? + 1).to_string())?;
    tx.execute_batch("DELETE FROM embedding_cache")
}

/// Returns the texts to embed for a memory's pieces, without blank ones.
pub(super) fn texts(title: &str, content: &str) -> Vec<String> {
    let mut texts = index::texts(title, &pieces::split(content));
    texts.retain(|text| !text.trim().is_empty());
    texts
}

/// Stores the vectors of a memory that has none in `tables`. Returns false if not all of them are known.
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
        for text in index::texts(title, &pieces::split(content)) {
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

/// Clears the cached vectors of other models.
pub(super) fn clear_other_models(tx: &Connection, model: &str) -> rusqlite::Result<()> {
    let (provider, name) = parts(model);
    tx.execute("DELETE FROM embedding_cache WHERE provider <> ?1 OR model <> ?2", [provider, name])?;
    Ok(())
}

/// Splits `provider/name:dims` into the provider and the name.
fn parts(model: &str) -> (&str, &str) {
    let (provider, rest) = model.split_once('/').unwrap_or_default();
    (provider, rest.rsplit_once(':').map_or(rest, |(name, _)| name))
}

fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

/// Returns the cached vector of this text.
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
