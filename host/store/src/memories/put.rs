//! Stores drafts: as new memories, or as occurrences of known ones.

use rusqlite::{Connection, OptionalExtension, params};
use throughline_model::contract::{Attribute, Draft};
use throughline_model::digest::{hex, sha256_parts};
use throughline_model::project::Project;
use throughline_model::redacted::Redacted;
use throughline_model::said_by::{self, SaidBy};

use super::hash::{ContentHash, content_hash};
use super::occurrences::{is_only_occurrence, recount, seen};
use super::removal::retract;
use crate::extent::ROW_BITS;
use crate::index::{index, unindex};
use crate::{Result, Store, digests, from_json_or_default, json, marks, projects, sharing, time};

/// The policy name and digest of memories that this program made itself.
pub(crate) const OWN_POLICY: (&str, &str) = ("throughline", "");

/// The outcome of storing a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutOutcome {
    /// A new memory was stored.
    Stored,
    /// The same content was known from elsewhere.
    NewOccurrence,
    /// This occurrence was known already.
    Known,
    /// The user deleted this content; it stays deleted.
    Forgotten,
}

impl Store {
    /// Stores a memory that no policy made. Returns the outcome and its identifier, which is `None` if it was
    /// permanently deleted.
    pub fn save_memory(
        &mut self,
        project: &Project,
        session: &str,
        draft: &Redacted<Draft>,
        now: u64,
    ) -> Result<(PutOutcome, Option<String>)> {
        let draft: &Draft = draft;
        self.write(|tx| {
            projects::put(tx, project, now)?;
            // All memories without a session share one session name, in which a key names one memory, so include the
            // project.
            let key = draft.key.clone().unwrap_or_else(|| format!("saved:{}:{}", project.id, content_hash(draft).hex(16)));
            let put = put(tx, &project.id, session, &Draft { key: Some(key), ..draft.clone() }, OWN_POLICY, now)?;
            let id = tx
                .query_row(
                    "SELECT id FROM memories WHERE project_id = ?1 AND content_hash = ?2",
                    params![project.id, content_hash(draft)],
                    |row| row.get(0),
                )
                .optional()?;
            Ok((put, id))
        })
    }
}

/// Returns whether the user deleted what a draft says.
pub(crate) fn is_forgotten(tx: &Connection, project: &str, draft: &Draft) -> rusqlite::Result<bool> {
    tx.prepare_cached("SELECT 1 FROM tombstones WHERE project_id = ?1 AND content_hash = ?2")?
        .exists(params![project, content_hash(draft)])
}

/// Stores a draft, or adds an occurrence to the memory that has its content.
pub(crate) fn put(
    tx: &Connection,
    project: &str,
    session: &str,
    draft: &Draft,
    policy: (&str, &str),
    now: u64,
) -> rusqlite::Result<PutOutcome> {
    let hash = content_hash(draft);
    let key = draft.key.clone().unwrap_or_else(|| format!("content:{}", hash.hex(8)));
    let known: Option<i64> = tx
        .prepare_cached("SELECT rowid FROM memories WHERE project_id = ?1 AND content_hash = ?2")?
        .query_row(params![project, hash], |row| row.get(0))
        .optional()?;
    let before: Option<i64> = tx
        .prepare_cached("SELECT memory FROM sightings WHERE session_id = ?1 AND key = ?2")?
        .query_row([session, &key], |row| row.get(0))
        .optional()?;
    if let Some(memory) = before.filter(|_| before == known) {
        // The same content from the same place; the time may have changed with the session.
        tx.prepare_cached("UPDATE sightings SET line_uuid = ?3, at = ?4 WHERE session_id = ?1 AND key = ?2")?
            .execute(params![session, key, draft.origin.line_uuid, draft.origin.at.map(time)])?;
        recount(tx, memory)?;
        raise_said_by(tx, memory, draft)?;
        return Ok(PutOutcome::Known);
    }
    // A memory that replaces a shared or a pinned one is shared or pinned too.
    let is_shared = before.map_or(Ok(false), |before| sharing::is_shared(tx, before))?;
    let mut pinned_at = None;
    if let Some(before) = before {
        if is_only_occurrence(tx, before)? {
            pinned_at = marks::of(tx, before)?.pinned_at;
            marks::set_pinned(tx, before, None)?;
        }
        retract(tx, session, &key)?;
    }
    let created = draft.origin.at.unwrap_or(now);
    let (memory, put) = if let Some(memory) = known {
        raise_said_by(tx, memory, draft)?;
        (memory, PutOutcome::NewOccurrence)
    } else {
        if is_forgotten(tx, project, draft)? {
            return Ok(PutOutcome::Forgotten);
        }
        (insert(tx, project, session, draft, hash, None, policy, created)?.0, PutOutcome::Stored)
    };
    tx.prepare_cached("INSERT INTO sightings (session_id, key, memory, line_uuid, at) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![session, key, memory, draft.origin.line_uuid, draft.origin.at.map(time)])?;
    // A new memory was stored with the count of its one occurrence.
    if put == PutOutcome::NewOccurrence {
        let before = seen(tx, memory)?;
        recount(tx, memory)?;
        // An old memory became useful again. The copy of a line in a forked session is the same occurrence and restores
        // nothing.
        if seen(tx, memory)? > before {
            digests::revive(tx, memory, Some(draft))?;
        }
    }
    if is_shared {
        sharing::share(tx, memory, now)?;
    }
    if pinned_at.is_some() {
        marks::set_pinned(tx, memory, pinned_at)?;
    }
    Ok(put)
}

/// Records a more trusted speaker of a memory, or its speaker if there was none.
fn raise_said_by(tx: &Connection, memory: i64, draft: &Draft) -> rusqlite::Result<()> {
    let Some(said_by) = SaidBy::of(&draft.attributes) else { return Ok(()) };
    change_attributes(tx, memory, |attributes| {
        if SaidBy::of_stored(attributes) < Some(said_by) {
            said_by::set(attributes, Some(said_by));
        }
    })
}

/// Changes the attributes of a memory, if it exists.
pub(crate) fn change_attributes(
    tx: &Connection,
    memory: i64,
    change: impl FnOnce(&mut Vec<Attribute>),
) -> rusqlite::Result<()> {
    let attributes: Option<String> = tx
        .prepare_cached("SELECT metadata FROM memories WHERE rowid = ?1")?
        .query_row([memory], |row| row.get(0))
        .optional()?;
    let Some(attributes) = attributes else { return Ok(()) };
    let before: Vec<Attribute> = from_json_or_default(&attributes);
    let mut attributes = before.clone();
    change(&mut attributes);
    if attributes == before {
        return Ok(());
    }
    tx.prepare_cached("UPDATE memories SET metadata = ?2 WHERE rowid = ?1")?.execute(params![memory, json(&attributes)])?;
    Ok(())
}

/// Stores a new memory and returns its row and identifier. The identifier is `id` if that is given and free.
#[expect(clippy::too_many_arguments, reason = "what a row holds")]
pub(crate) fn insert(
    tx: &Connection,
    project: &str,
    session: &str,
    draft: &Draft,
    hash: ContentHash,
    id: Option<&str>,
    policy: (&str, &str),
    created: u64,
) -> rusqlite::Result<(i64, String)> {
    let id = free_id(tx, project, hash, id)?;
    // Never reuse a row number: the full-text table keeps data of a deleted row for a while.
    let rowid: i64 = tx
        .prepare_cached(&format!(
            "UPDATE projects SET memories = memories + 1 WHERE id = ?1 RETURNING number << {ROW_BITS} | memories"
        ))?
        .query_row([project], |row| row.get(0))?;
    let importance = f64::from(if draft.importance.is_finite() { draft.importance.clamp(0.0, 1.0) } else { 0.0 });
    tx.prepare_cached(
        "INSERT INTO memories (id, project_id, session_id, type, title, content, content_hash, keywords, files, metadata,
                               importance, weight, maker, created_at, rowid)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?11, ?12, ?13, ?14)",
    )?
    .execute(params![
        id,
        project,
        session,
        draft.kind,
        draft.title,
        draft.content,
        hash,
        json(&draft.keywords),
        json(&draft.files),
        json(&draft.attributes),
        importance,
        policy_number(tx, policy)?,
        time(created),
        rowid,
    ])?;
    index(tx, rowid, draft)?;
    Ok((rowid, id))
}

/// Returns the number of a policy and its digest. Their texts would take a twentieth of the size of a memory.
fn policy_number(tx: &Connection, (policy, digest): (&str, &str)) -> rusqlite::Result<i64> {
    let known = tx
        .prepare_cached("SELECT number FROM makers WHERE policy = ?1 AND digest = ?2")?
        .query_row([policy, digest], |row| row.get(0))
        .optional()?;
    if let Some(number) = known {
        return Ok(number);
    }
    tx.prepare_cached("INSERT INTO makers (policy, digest) VALUES (?1, ?2) RETURNING number")?
        .query_row([policy, digest], |row| row.get(0))
}

/// Returns an identifier for a new memory. It is derived from project and content, so that reading the same sessions
/// again yields the same identifiers. It may be taken by a memory that was edited since.
fn free_id(tx: &Connection, project: &str, hash: ContentHash, wanted: Option<&str>) -> rusqlite::Result<String> {
    let mut taken = tx.prepare_cached("SELECT 1 FROM memories WHERE id = ?1")?;
    if let Some(id) = wanted.filter(|id| is_id(id))
        && !taken.exists([id])?
    {
        return Ok(id.to_owned());
    }
    let mut parts = vec![project.to_owned(), hash.hex(32)];
    loop {
        let texts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let id = hex(&sha256_parts(&texts)[..6]);
        if !taken.exists([&id])? {
            return Ok(id);
        }
        parts.push(id);
    }
}

/// Returns whether a text has the form of our identifiers.
fn is_id(text: &str) -> bool {
    text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// Replaces a memory's content but keeps its row and identifier. A tombstone keeps the old content from coming back
/// when the transcript is read again.
pub(crate) fn rewrite(tx: &Connection, rowid: i64, project: &str, draft: &Draft, hash: ContentHash) -> rusqlite::Result<()> {
    unindex(tx, rowid)?;
    tx.prepare_cached(
        "INSERT OR IGNORE INTO tombstones (project_id, content_hash, deleted_at, by_file)
         SELECT project_id, content_hash, created_at, 1 FROM memories WHERE rowid = ?1 AND content_hash <> ?2",
    )?
    .execute(params![rowid, hash])?;
    tx.prepare_cached("DELETE FROM tombstones WHERE project_id = ?1 AND content_hash = ?2")?
        .execute(params![project, hash])?;
    // The rewritten text is another statement than the wrong one.
    let is_new = tx
        .prepare_cached("SELECT content_hash <> ?2 FROM memories WHERE rowid = ?1")?
        .query_row(params![rowid, hash], |row| row.get::<_, bool>(0))?;
    if is_new {
        marks::set_wrong(tx, rowid, None, None)?;
    }
    let because = marks::reason(tx, rowid)?;
    let attributes: Vec<Attribute> = draft.attributes.iter().cloned().chain(because).collect();
    tx.prepare_cached(
        "UPDATE memories SET type = ?2, title = ?3, content = ?4, content_hash = ?5, keywords = ?6, files = ?7, metadata = ?8,
                importance = ?9, weight = ?9, created_at = ?10, maker = ?11 WHERE rowid = ?1",
    )?
    .execute(params![
        rowid,
        draft.kind,
        draft.title,
        draft.content,
        hash,
        json(&draft.keywords),
        json(&draft.files),
        json(&attributes),
        f64::from(draft.importance),
        draft.origin.at.map(time),
        policy_number(tx, OWN_POLICY)?,
    ])?;
    index(tx, rowid, draft)
}
