//! Stores drafts, as new memories or as occurrences of known ones, and takes them back.

use rusqlite::{Connection, OptionalExtension, params};
use throughline_model::contract::{Draft, Memory};
use throughline_model::project::Project;
use throughline_model::redacted::Redacted;
use throughline_model::said_by::{self, SaidBy};

use super::hash::content_hash;
use super::occurrences::{is_only_occurrence, recount, seen};
use super::record::{COLUMNS, from_row};
use super::rows::{OWN_POLICY, change_attributes, insert};
use super::session_notes::forget_in_notes;
use crate::forgotten::{Fate, Forgotten};
use crate::index::unindex;
use crate::{Result, Store, digests, marks, projects, sharing, time};

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

    /// Permanently deletes a memory, so that reading the transcript again does not bring it back. Deleting a digest
    /// deletes its sources too, because the user does not want to see their content again.
    pub fn delete_memory(&mut self, id: &str, now: u64) -> Result<bool> {
        self.write(|tx| Ok(delete(tx, id, now)?.is_some()))
    }

    /// Deletes memories in one transaction, as [`Store::delete_memory`] does. Returns those that existed.
    pub fn delete_memories(&mut self, ids: &[String], now: u64, fate: Fate<'_>) -> Result<Forgotten> {
        self.delete_rows(now, fate, |tx| {
            let mut forgotten = Forgotten::default();
            for id in ids {
                if let Some(memory) = delete(tx, id, now)? {
                    forgotten.counts.memories += 1;
                    forgotten.memories.push(memory);
                }
            }
            Ok(forgotten)
        })
    }

    /// Deletes memories older than `before` that were not accessed since and have a low weight: beyond the `keep`
    /// weightiest of their project. Returns how many there are; without `really`, only counts them. What the user
    /// stated, pinned or marked wrong and what `project_knowledge` lists stays, and so do digests and their sources: see
    /// [`Store::purge`].
    pub fn collect_garbage(&mut self, before: u64, keep: u32, project: Option<&str>, really: bool) -> Result<u64> {
        let path = self.path.clone();
        let collected = (|| {
            let tx = self.conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            let rows: Vec<i64> = tx
                .prepare(
                    "SELECT rowid FROM (
                         SELECT rowid, project_id, type, created_at, accessed_at, weight, pinned_at, wrong_at,
                                row_number() OVER (PARTITION BY project_id ORDER BY weight DESC, created_at DESC) AS place
                         FROM memories WHERE digest IS NULL)
                     WHERE (?1 IS NULL OR project_id = ?1) AND type NOT IN ('preference', 'correction', 'architecture', 'pattern', 'convention')
                       AND max(created_at, COALESCE(accessed_at, 0)) < ?2 AND place > ?3
                       AND pinned_at IS NULL AND wrong_at IS NULL AND rowid NOT IN (SELECT memory FROM digests)",
                )?
                .query_map(params![project, time(before), keep], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            if really {
                for rowid in &rows {
                    // A record that was not sent is deleted, because nobody could decide about it any more. Other records stay:
                    // the team may have use for them.
                    tx.prepare_cached(
                        "DELETE FROM team_records WHERE memory = ?1 AND state IN ('review', 'pending', 'dropped', 'refused')",
                    )?
                    .execute([rowid])?;
                    tx.prepare_cached("UPDATE team_records SET memory = NULL WHERE memory = ?1")?.execute([rowid])?;
                    remove(&tx, *rowid)?;
                }
                tx.commit()?;
            }
            Ok(rows.len() as u64)
        })();
        collected.map_err(|error| crate::classify(&path, error))
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

/// Deletes a memory and returns it.
pub(crate) fn delete(tx: &Connection, id: &str, now: u64) -> rusqlite::Result<Option<Memory>> {
    let found = tx
        .prepare_cached(&format!("SELECT {COLUMNS}, m.rowid AS number FROM memories m WHERE m.id = ?1"))?
        .query_row([id], |row| Ok((from_row(row)?, row.get("number")?)))
        .optional()?;
    let Some((memory, rowid)): Option<(Memory, i64)> = found else { return Ok(None) };
    digests::delete_sources(tx, rowid, now)?;
    // A digest is deleted with its last source.
    if tx.prepare_cached("SELECT 1 FROM memories WHERE rowid = ?1")?.exists([rowid])? {
        digests::add_tombstone(tx, rowid, now)?;
        forget_in_notes(tx, rowid)?;
        remove(tx, rowid)?;
    }
    Ok(Some(memory))
}

/// Takes back what a session learned under `key`, and removes the memory if that was its only occurrence. What a person
/// pinned or marked wrong stays, and the occurrence with it under another key.
pub(crate) fn retract(tx: &Connection, session: &str, key: &str) -> rusqlite::Result<()> {
    let memory: Option<(i64, String)> = tx
        .prepare_cached(
            "SELECT m.rowid, m.id FROM sightings s JOIN memories m ON m.rowid = s.memory WHERE s.session_id = ?1 AND s.key = ?2
               AND (m.pinned_at IS NOT NULL OR m.wrong_at IS NOT NULL)",
        )?
        .query_row([session, key], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    if let Some((memory, id)) = memory
        && is_only_occurrence(tx, memory)?
    {
        tx.prepare_cached("UPDATE OR REPLACE sightings SET key = 'marked:' || ?3 WHERE session_id = ?1 AND key = ?2")?
            .execute([session, key, &id])?;
        return Ok(());
    }
    take_back(tx, session, key)
}

/// Removes what a session learned under `key`, and the memory with it if that was its only occurrence.
pub(crate) fn take_back(tx: &Connection, session: &str, key: &str) -> rusqlite::Result<()> {
    let memory: Option<i64> = tx
        .prepare_cached("DELETE FROM sightings WHERE session_id = ?1 AND key = ?2 RETURNING memory")?
        .query_row([session, key], |row| row.get(0))
        .optional()?;
    let Some(memory) = memory else { return Ok(()) };
    if tx.prepare_cached("SELECT 1 FROM sightings WHERE memory = ?1")?.exists([memory])? {
        recount(tx, memory)
    } else {
        remove(tx, memory)
    }
}

/// Removes a memory: from its digest, from what is shared, from the index and from the table.
pub(crate) fn remove(tx: &Connection, rowid: i64) -> rusqlite::Result<()> {
    digests::prepare_deletion(tx, rowid)?;
    sharing::stop_sharing_deleted(tx, rowid)?;
    unindex(tx, rowid)?;
    tx.prepare_cached("DELETE FROM memories WHERE rowid = ?1")?.execute([rowid])?;
    Ok(())
}
