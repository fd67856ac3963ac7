//! Removes memories: those that a person deletes, those that a session takes back, and those that nobody uses.

use rusqlite::{Connection, OptionalExtension, params};
use throughline_model::contract::{Memory, SessionNotes};

use super::occurrences::{is_only_occurrence, recount};
use super::record::{COLUMNS, from_row};
use crate::forgotten::{Fate, Forgotten};
use crate::index::unindex;
use crate::{Result, Store, digests, from_json_or_default, json, sharing, time};

impl Store {
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

/// Removes a memory from the notes of the sessions that learned it; otherwise the agent would still see it there.
pub(crate) fn forget_in_notes(tx: &Connection, rowid: i64) -> rusqlite::Result<()> {
    let (title, content): (String, String) =
        tx.query_row("SELECT title, content FROM memories WHERE rowid = ?1", [rowid], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let sessions: Vec<(String, String)> = tx
        .prepare(
            "SELECT session_id, notes FROM session_context
             WHERE session_id IN (SELECT session_id FROM sightings WHERE memory = ?1)",
        )?
        .query_map([rowid], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (session, notes) in sessions {
        let mut notes: SessionNotes = from_json_or_default(&notes);
        drop_from_notes(&mut notes, &title, &content);
        tx.execute("UPDATE session_context SET notes = ?2 WHERE session_id = ?1", params![session, json(&notes)])?;
    }
    Ok(())
}

/// Removes from notes what a memory with this title and content says.
pub(crate) fn drop_from_notes(notes: &mut SessionNotes, title: &str, content: &str) {
    let kept = |text: &String| text.trim() != title.trim() && text.trim() != content.trim();
    // The memory of a decision begins with what was chosen, followed by the reason and the rejected options.
    notes.decisions.retain(|decision| kept(&decision.what) && !begins(content, &decision.what));
    notes.discoveries.retain(|discovery| kept(&discovery.insight) && !begins(content, &discovery.insight));
    for list in [&mut notes.learnings, &mut notes.preferences, &mut notes.errors, &mut notes.blockers] {
        list.retain(kept);
    }
    for list in [&mut notes.done, &mut notes.current, &mut notes.pending] {
        list.retain(kept);
    }
}

fn begins(content: &str, text: &str) -> bool {
    !text.trim().is_empty() && content.trim_start().starts_with(text.trim())
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

pub(crate) fn remove(tx: &Connection, rowid: i64) -> rusqlite::Result<()> {
    digests::prepare_deletion(tx, rowid)?;
    sharing::stop_sharing_deleted(tx, rowid)?;
    unindex(tx, rowid)?;
    tx.prepare_cached("DELETE FROM memories WHERE rowid = ?1")?.execute([rowid])?;
    Ok(())
}
