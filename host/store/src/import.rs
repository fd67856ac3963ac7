//! Stores memories imported from elsewhere, in large batches.

use rusqlite::{Connection, OptionalExtension, params};

use super::index;
use super::marks::{self, Marks};
use super::memories::OWN_POLICY;
use super::memories::{self, ContentHash, PutOutcome};
use super::{Result, Store, projects, statistics, supersessions};
use throughline_model::contract::Draft;
use throughline_model::digest::{hex, sha256_parts};
use throughline_model::project::Project;
use throughline_model::redacted::{Redacted, Texts};
use throughline_search::supersession::Relation;

/// The attribute that holds an imported memory's original identifier.
pub const EXTERNAL_ID: &str = "external-id";

/// SQLite's cache size during imports, in KiB. It fits the indexes of a million memories that are not written in order.
/// With tens of thousands it makes no difference.
const CACHE_KIB: i64 = 128 << 10;

/// A memory to import.
#[derive(Debug, Clone)]
pub struct Import {
    /// Its project.
    pub project: Project,
    /// Its session; empty if it has none.
    pub session: String,
    /// The key that identifies it on re-import, within project and session; `None` uses its content. It is not stored.
    pub key: Option<String>,
    /// The original identifier as it is stored and exported, that is, `key` after redaction.
    pub id: Option<String>,
    /// What a person said of it. Why it is wrong is the draft's attribute [`WRONG_BECAUSE`](super::WRONG_BECAUSE).
    pub marks: Marks,
    /// Everything else. The draft's own key is ignored.
    pub draft: Draft,
}

impl Texts for Import {
    /// The key is not among them: only its hash is stored.
    fn texts_mut(&mut self) -> Vec<&mut String> {
        let mut texts = self.draft.texts_mut();
        texts.push(&mut self.session);
        texts.extend(&mut self.id);
        texts
    }
}

impl Store {
    /// Prepares for importing many batches.
    pub fn prepare_import(&self) -> Result<()> {
        self.explain(statistics::drop_small(&self.conn))?;
        self.explain(self.conn.pragma_update(None, "cache_size", -CACHE_KIB))
    }

    /// Checkpoints after the last batch.
    pub fn finish_import(&self) -> Result<()> {
        self.checkpoint()
    }

    /// Returns whether turns of the session are stored that were read from its own transcript.
    pub fn has_read_turns(&self, session: &str) -> Result<bool> {
        self.explain(
            self.conn
                .prepare_cached(
                    "SELECT EXISTS (SELECT 1 FROM memories m JOIN makers a ON a.number = m.maker
                                    WHERE m.session_id = ?1 AND m.type = 'turn' AND a.policy <> ?2)",
                )
                .and_then(|mut s| s.query_row([session, OWN_POLICY.0], |row| row.get(0))),
        )
    }

    /// Stores a whole batch in one transaction and returns the outcome of each memory, in order. A memory imported
    /// earlier under the same key is replaced. The same content under another key becomes one memory with both
    /// identifiers.
    pub fn import(&mut self, batch: &[Redacted<Import>], now: u64) -> Result<Vec<PutOutcome>> {
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

/// A link between two imported memories, by their original sessions and identifiers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedLink {
    /// The identifier of their project.
    pub project: String,
    /// The session and the identifier of the older memory.
    pub older: (String, String),
    /// The same of the newer one.
    pub newer: (String, String),
    /// How the newer one relates to the older one.
    pub relation: Relation,
    /// When a person undid the link, milliseconds since the Unix epoch.
    pub undone_at: Option<u64>,
}

impl Store {
    /// Stores links that were stated where the memories come from. Passes over those whose memories are not here, and those that
    /// are known here. Returns how many are new.
    pub fn import_links(&mut self, links: &[ImportedLink], now: u64) -> Result<u64> {
        let row = |tx: &Connection, project: &str, (session, id): &(String, String)| {
            tx.prepare_cached("SELECT memory FROM sightings WHERE session_id = ?1 AND key = ?2")?
                .query_row([session, &key_of(project, "id", id)], |row| row.get::<_, i64>(0))
                .optional()
        };
        self.write(|tx| {
            let mut new = 0;
            for link in links {
                let (older, newer) = (row(tx, &link.project, &link.older)?, row(tx, &link.project, &link.newer)?);
                let (Some(older), Some(newer)) = (older, newer) else { continue };
                new += u64::from(supersessions::take_over(tx, (older, newer), link.relation, link.undone_at, now)?);
            }
            Ok(new)
        })
    }

    /// Returns the identifier of the memory that was imported into a project, without a session, under this identifier of
    /// its source.
    pub fn imported(&self, project: &str, external_id: &str) -> Result<Option<String>> {
        self.explain(
            self.conn
                .prepare_cached(
                    "SELECT m.id FROM sightings s JOIN memories m ON m.rowid = s.memory WHERE s.session_id = '' AND s.key = ?1",
                )
                .and_then(|mut s| s.query_row([key_of(project, "id", external_id)], |row| row.get(0)).optional()),
        )
    }

    /// Returns the last commit of a project's git history that was read.
    pub fn history_head(&self, project: &str) -> Result<Option<String>> {
        self.explain(index::meta(&self.conn, &history_key(project)))
    }

    /// Records the last commit of a project's git history that was read.
    pub fn set_history_head(&mut self, project: &str, commit: &str) -> Result<()> {
        self.write(|tx| index::set_meta(tx, &history_key(project), commit))
    }
}

/// The key of `meta` under which the last commit that was read of a project's history is kept.
fn history_key(project: &str) -> String {
    format!("history:{project}")
}

/// The key of a memory's occurrence. It includes the project, because sessions of two projects may have the same name, or
/// none, and is hashed, because the identifier was not redacted.
fn key_of(project: &str, what: &str, known_by: &str) -> String {
    format!("import:{}", hex(&sha256_parts(&[project, what, known_by])[..8]))
}

/// Marks what was pinned or wrong where it comes from. A mark that the memory has here already stays.
fn mark(tx: &Connection, it: &Import, hash: ContentHash) -> rusqlite::Result<()> {
    if it.marks == Marks::default() {
        return Ok(());
    }
    let memory: Option<i64> = tx
        .prepare_cached("SELECT rowid FROM memories WHERE project_id = ?1 AND content_hash = ?2")?
        .query_row(params![it.project.id, hash], |row| row.get(0))
        .optional()?;
    let Some(memory) = memory else { return Ok(()) };
    let known = marks::of(tx, memory)?;
    if known.pinned_at.is_none() && it.marks.pinned_at.is_some() {
        marks::set_pinned(tx, memory, it.marks.pinned_at)?;
    }
    if known.wrong_at.is_none() && it.marks.wrong_at.is_some() {
        let because = marks::wrong_because(&it.draft.attributes);
        marks::set_wrong(tx, memory, it.marks.wrong_at, because)?;
    }
    Ok(())
}

/// Stores a memory under its key as it is, without a session: see [`super::team`].
pub(super) fn store_one(tx: &Connection, it: &Import, now: u64) -> rusqlite::Result<PutOutcome> {
    let draft = Draft { key: it.key.clone(), ..it.draft.clone() };
    memories::put(tx, &it.project.id, "", &draft, OWN_POLICY, now)
}

fn one(tx: &Connection, it: &Import, now: u64) -> rusqlite::Result<PutOutcome> {
    let hash = memories::content_hash(&it.draft);
    let known_by = it.key.clone().unwrap_or_else(|| hash.hex(32));
    let key = key_of(&it.project.id, if it.key.is_some() { "id" } else { "content" }, &known_by);
    let before: Option<i64> = tx
        .prepare_cached("SELECT memory FROM sightings WHERE session_id = ?1 AND key = ?2")?
        .query_row([&it.session, &key], |row| row.get(0))
        .optional()?;
    let draft = Draft {
        key: Some(key),
        attributes: {
            let id = it.id.iter().map(|id| (EXTERNAL_ID.to_owned(), id.clone()));
            it.draft.attributes.iter().cloned().chain(id).collect()
        },
        ..it.draft.clone()
    };
    let put = memories::put(tx, &it.project.id, &it.session, &draft, OWN_POLICY, now)?;
    if put != PutOutcome::Forgotten {
        mark(tx, it, hash)?;
    }
    let Some(id) = &it.id else { return Ok(put) };
    if let Some(before) = before.filter(|_| matches!(put, PutOutcome::Stored | PutOutcome::NewOccurrence)) {
        // Other sources still know the content that had this identifier.
        memories::change_attributes(tx, before, |attributes| {
            attributes.retain(|(name, value)| name != EXTERNAL_ID || value != id);
        })?;
    }
    if put == PutOutcome::NewOccurrence {
        let memory: Option<i64> = tx
            .prepare_cached("SELECT rowid FROM memories WHERE project_id = ?1 AND content_hash = ?2")?
            .query_row(params![it.project.id, hash], |row| row.get(0))
            .optional()?;
        if let Some(memory) = memory {
            memories::change_attributes(tx, memory, |attributes| {
                let own = (EXTERNAL_ID.to_owned(), id.clone());
                if !attributes.contains(&own) {
                    attributes.push(own);
                }
            })?;
        }
    }
    Ok(put)
}
