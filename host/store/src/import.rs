//! Memories that were made elsewhere, stored many at a time.

use rusqlite::{Connection, OptionalExtension, params};

use super::failures::MAKER;
use super::memories::{self, Put};
use super::{Result, Store, json, projects, unjson};
use throughline_model::contract::{Attribute, Draft};
use throughline_model::digest::{hex, sha256_parts};
use throughline_model::project::Project;

/// The attribute that holds what its author calls an imported memory.
pub const EXTERNAL_ID: &str = "external-id";

/// SQLite's cache while importing, KiB: of a million memories, the indexes that are not written in order fit. In tens of
/// thousands it makes no difference.
const CACHE_KIB: i64 = 128 << 10;

/// A memory to store.
#[derive(Debug, Clone)]
pub struct Import {
    /// Its project.
    pub project: Project,
    /// Its session; empty where it has none.
    pub session: String,
    /// What it is known by again, within project and session; none: its content. It is not stored.
    pub key: Option<String>,
    /// `key` as it may be stored and is given back.
    pub id: Option<String>,
    /// All else; its own key is not looked at.
    pub draft: Draft,
}

impl Store {
    /// Makes ready for many batches.
    pub fn prepare_import(&self) -> Result<()> {
        self.explain(self.conn.pragma_update(None, "cache_size", -CACHE_KIB))
    }

    /// Moves into the database what the last batches left beside it.
    pub fn finish_import(&self) -> Result<()> {
        self.checkpoint()
    }

    /// Whether turns of the session are stored that were read from its own transcript.
    pub fn has_read_turns(&self, session: &str) -> Result<bool> {
        self.explain(
            self.conn
                .prepare_cached(
                    "SELECT EXISTS (SELECT 1 FROM memories m JOIN makers a ON a.number = m.maker
                                    WHERE m.session_id = ?1 AND m.type = 'turn' AND a.policy <> ?2)",
                )
                .and_then(|mut s| s.query_row([session, MAKER.0], |row| row.get(0))),
        )
    }

    /// Stores all of the batch in one transaction and says what became of each, in order. What was imported under the same
    /// key before is replaced; the same content under another key is one memory with both identifiers.
    pub fn import(&mut self, batch: &[Import], now: u64) -> Result<Vec<Put>> {
        let puts = self.write(|tx| {
            let mut last: Option<&str> = None;
            let mut puts = Vec::with_capacity(batch.len());
            for it in batch {
                if last != Some(it.project.id.as_str()) {
                    projects::put(tx, &it.project, now)?;
                    last = Some(&it.project.id);
                }
                puts.push(one(tx, it, now)?);
            }
            Ok(puts)
        })?;
        if self.wants_checkpoint() {
            self.checkpoint()?;
        }
        Ok(puts)
    }
}

fn one(tx: &Connection, it: &Import, now: u64) -> rusqlite::Result<Put> {
    let hash = memories::content_hash(&it.draft);
    let known_by = it.key.clone().unwrap_or_else(|| hash.hex(32));
    // With the project, because sessions of two projects may have one name, or none. Hashed, because it was not redacted.
    let key = format!(
        "import:{}",
        hex(&sha256_parts(&[&it.project.id, if it.key.is_some() { "id" } else { "content" }, &known_by])[..8])
    );
    let before: Option<i64> = tx
        .prepare_cached("SELECT memory FROM sightings WHERE session_id = ?1 AND key = ?2")?
        .query_row([&it.session, &key], |row| row.get(0))
        .optional()?;
    let draft = Draft {
        key: Some(key),
        attributes: it.id.iter().map(|id| (EXTERNAL_ID.to_owned(), id.clone())).collect(),
        ..it.draft.clone()
    };
    let put = memories::put(tx, &it.project.id, &it.session, &draft, MAKER, now)?;
    let Some(id) = &it.id else { return Ok(put) };
    if let Some(before) = before.filter(|_| matches!(put, Put::Stored | Put::SeenAgain)) {
        // Others still know the content that had this identifier.
        change_attributes(tx, before, |attributes| {
            attributes.retain(|(name, value)| name != EXTERNAL_ID || value != id);
        })?;
    }
    if put == Put::SeenAgain {
        let memory: Option<i64> = tx
            .prepare_cached("SELECT rowid FROM memories WHERE project_id = ?1 AND content_hash = ?2")?
            .query_row(params![it.project.id, hash], |row| row.get(0))
            .optional()?;
        if let Some(memory) = memory {
            change_attributes(tx, memory, |attributes| {
                let own = (EXTERNAL_ID.to_owned(), id.clone());
                if !attributes.contains(&own) {
                    attributes.push(own);
                }
            })?;
        }
    }
    Ok(put)
}

/// Changes the attributes of a memory, where there is one.
fn change_attributes(tx: &Connection, memory: i64, change: impl FnOnce(&mut Vec<Attribute>)) -> rusqlite::Result<()> {
    let attributes: Option<String> = tx
        .prepare_cached("SELECT metadata FROM memories WHERE rowid = ?1")?
        .query_row([memory], |row| row.get(0))
        .optional()?;
    let Some(attributes) = attributes else { return Ok(()) };
    let mut attributes = unjson(&attributes);
    change(&mut attributes);
    tx.prepare_cached("UPDATE memories SET metadata = ?2 WHERE rowid = ?1")?.execute(params![memory, json(&attributes)])?;
    Ok(())
}
