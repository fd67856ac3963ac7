//! Stores events: what hooks noted, and what transcripts record. Whatever was reported twice is stored once.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use super::{DAY_MS, OBSERVATION, RecordCounts, named};
use crate::journal::{self, EventPayload, JournalRecord};
use crate::{Result, Store, classify, failures, from_json_or_default, json, memories, projects, time, tombstones};
use throughline_model::lines::DERIVED_ID;
use throughline_model::project::Project;
use throughline_model::redacted::Redacted;
use throughline_search::tokens;

/// The maximum size of a session's details, in bytes; the oldest events keep only their summaries.
const MAX_DETAIL_BYTES: i64 = 16 << 20;

/// Every how many events the size of a session's details is computed, which reads all of its rows. An event has at most some 10 KiB, so
/// that many more exceed the maximum by 2.5 MiB.
const EVENTS_BETWEEN_CHECKS: i64 = 256;

impl Store {
    /// Stores journal records, all or none.
    pub fn put_records(&mut self, project: &Project, records: &[Redacted<JournalRecord>], now: u64) -> Result<RecordCounts> {
        let path = self.path.clone();
        let noted = (|| {
            let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
            projects::put(&tx, project, now)?;
            let mut noted = RecordCounts::default();
            let sessions: BTreeSet<&str> = records.iter().map(|record| record.session.as_str()).collect();
            let before =
                sessions.into_iter().map(|it| Ok((it, last_number(&tx, it)?))).collect::<rusqlite::Result<Vec<_>>>()?;
            for record in records {
                put_record(&tx, project, record, now, &mut noted)?;
            }
            for (session, before) in before {
                bound_details(&tx, session, before)?;
            }
            tx.commit()?;
            Ok(noted)
        })();
        noted.map_err(|error| classify(&path, error))
    }
}

pub(crate) fn put(
    conn: &Connection,
    kind: &str,
    session: &str,
    project: &str,
    at: u64,
    seen: &EventPayload,
) -> rusqlite::Result<i64> {
    conn.prepare_cached(
        "INSERT INTO events (event_type, session_id, project_id, timestamp, payload_json, tool, failed)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![kind, session, project, time(at), json(seen), seen.tool, seen.failed])?;
    let id = conn.last_insert_rowid();
    index(conn, id, seen)?;
    Ok(id)
}

fn put_record(
    tx: &Connection,
    project: &Project,
    record: &JournalRecord,
    now: u64,
    noted: &mut RecordCounts,
) -> rusqlite::Result<()> {
    match record.kind.as_str() {
        journal::SHOWN => {
            let ids = record.seen.detail.lines();
            return memories::mark_shown(tx, ids, Some(&record.session), &record.seen.summary, record.at);
        }
        journal::SHOWN_NOTHING => {
            tx.prepare_cached("DELETE FROM shown WHERE session_id = ?1")?.execute([&record.session])?;
            return Ok(());
        }
        _ => {}
    }
    if is_known(tx, &record.session, &record.key)? {
        noted.known += 1;
        return Ok(());
    }
    let is_observation = record.kind == OBSERVATION;
    if is_observation && let Some(id) = reported_by_other_side(tx, record)? {
        noted.known += 1;
        return put_key(tx, record, id);
    }
    let repeated = if is_observation { repeated(tx, record)? } else { None };
    let id = if let Some(id) = repeated {
        tx.prepare_cached("UPDATE events SET times = times + 1, timestamp = max(timestamp, ?2) WHERE event_id = ?1")?
            .execute(params![id, time(record.at)])?;
        noted.merged += 1;
        id
    } else {
        let id = put(tx, &record.kind, &record.session, &project.id, record.at, &record.seen)?;
        noted.stored += 1;
        id
    };
    put_key(tx, record, id)?;
    if is_observation {
        failures::note(tx, &project.id, id, record, now)?;
    }
    Ok(())
}

/// How far the times of a call and of its copy may be apart, in milliseconds. A hook sees a call a moment after it was written.
const MAX_COPY_GAP_MS: i64 = 10_000;

/// Returns the session of which this one is a copy: a fork repeats the lines of its original, with the agent's identifiers of the calls.
/// Looking for an identifier in all sessions takes long, so this is done once for all records.
fn fork_of(tx: &Connection, project: &Project, first: &JournalRecord) -> rusqlite::Result<Option<String>> {
    tx.prepare_cached(
        "SELECT k.session_id FROM event_keys k JOIN events e USING (event_id)
         WHERE k.key = ?1 AND k.session_id <> ?2 AND e.project_id = ?3 AND e.tool = ?4 AND abs(e.timestamp - ?5) <= ?6 LIMIT 1",
    )?
    .query_row(
        params![first.key, first.session, project.id, first.seen.tool, time(first.at), MAX_COPY_GAP_MS],
        |row| row.get(0),
    )
    .optional()
}

fn is_known(tx: &Connection, session: &str, key: &str) -> rusqlite::Result<bool> {
    tx.prepare_cached("SELECT 1 FROM event_keys WHERE session_id = ?1 AND key = ?2")?.exists([session, key])
}

fn put_key(tx: &Connection, record: &JournalRecord, id: i64) -> rusqlite::Result<()> {
    tx.prepare_cached("INSERT INTO event_keys (session_id, key, event_id) VALUES (?1, ?2, ?3)")?
        .execute(params![record.session, record.key, id])
        .map(drop)
}

/// Stores the tool calls and prompts that a transcript records, except those that are stored or were forgotten. Returns how many calls
/// are new. So that what was read in today can be used, its retention begins today.
pub(crate) fn put_calls(tx: &Connection, project: &Project, records: &[&JournalRecord], now: u64) -> rusqlite::Result<u64> {
    let Some(first) = records.iter().find(|record| record.kind == OBSERVATION).or(records.first()) else { return Ok(0) };
    let (mut noted, mut prompts) = (RecordCounts::default(), RecordCounts::default());
    let before: i64 = tx.prepare_cached("SELECT COALESCE(max(event_id), 0) FROM events")?.query_row([], |row| row.get(0))?;
    let before_in_session = last_number(tx, &first.session)?;
    let are_forgotten = tombstones::has_any(tx, &project.id)?;
    let original = fork_of(tx, project, first)?;
    for record in records {
        if let Some(original) = &original
            && is_known(tx, original, &record.key)?
        {
            continue;
        }
        if !are_forgotten || !tombstones::is_forgotten_call(tx, &project.id, &record.session, &record.key)? {
            let noted = if record.kind == OBSERVATION { &mut noted } else { &mut prompts };
            put_record(tx, project, record, now, noted)?;
        }
    }
    tx.prepare_cached("UPDATE events SET accessed_at = ?2 WHERE event_id > ?1 AND timestamp < ?2 - ?3")?
        .execute(params![before, time(now), time(DAY_MS)])?;
    bound_details(tx, &first.session, before_in_session)?;
    Ok(noted.stored + noted.merged)
}

/// Returns the event of the same call if hook and transcript call it by different identifiers: an observation with the same tool and
/// summary that only the other side has reported so far.
fn reported_by_other_side(tx: &Connection, record: &JournalRecord) -> rusqlite::Result<Option<i64>> {
    let is_derived = record.key.starts_with(DERIVED_ID);
    if !is_derived {
        let mut has_derived =
            tx.prepare_cached("SELECT 1 FROM event_keys WHERE session_id = ?1 AND key >= ?2 AND key < ?2 || char(1114111)")?;
        if !has_derived.exists([record.session.as_str(), DERIVED_ID])? {
            return Ok(None);
        }
    }
    // Each event has a key for every time it was reported. Other agents' keys are never derived, so nothing is found for them.
    tx.prepare_cached(
        "SELECT e.event_id FROM events e
         WHERE e.session_id = ?1 AND e.event_type = 'tool_observation' AND e.tool = ?2 AND e.payload_json ->> '$.summary' = ?3
           AND (SELECT sum(CASE WHEN (k.key >= ?4 AND k.key < ?4 || char(1114111)) = ?5 THEN -1 ELSE 1 END)
                FROM event_keys k WHERE k.event_id = e.event_id) > 0
         ORDER BY abs(e.timestamp - ?6), e.event_id LIMIT 1",
    )?
    .query_row(
        params![record.session, record.seen.tool, record.seen.summary, DERIVED_ID, is_derived, time(record.at)],
        |row| row.get(0),
    )
    .optional()
}

/// Returns the event that this one only repeats: a read of a file that this session has read before and not touched
/// since.
fn repeated(tx: &Connection, record: &JournalRecord) -> rusqlite::Result<Option<i64>> {
    let seen = &record.seen;
    let [file] = seen.files.as_slice() else { return Ok(None) };
    if seen.failed || seen.tool != "Read" {
        return Ok(None);
    }
    let last: Option<(i64, String, String)> = tx
        .prepare_cached(
            "SELECT e.event_id, e.tool, e.payload_json FROM events e JOIN event_files f USING (event_id)
             WHERE f.path = ?1 AND e.session_id = ?2 ORDER BY e.event_id DESC LIMIT 1",
        )?
        .query_row(params![file, record.session], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    Ok(last
        .filter(|(_, tool, payload)| tool == "Read" && from_json_or_default::<EventPayload>(payload).summary == seen.summary)
        .map(|(id, ..)| id))
}

/// Adds an event to the search tables.
fn index(tx: &Connection, id: i64, seen: &EventPayload) -> rusqlite::Result<()> {
    for file in &seen.files {
        tx.prepare_cached("INSERT OR IGNORE INTO event_files (path, event_id) VALUES (?1, ?2)")?
            .execute(params![file, id])?;
    }
    tx.prepare_cached("INSERT INTO events_fts (rowid, summary, files, command) VALUES (?1, ?2, ?3, ?4)")?.execute(
        params![
            id,
            tokens::index_text(&seen.summary),
            tokens::index_text(&seen.files.join("\n")),
            tokens::index_text(&named(seen))
        ],
    )?;
    Ok(())
}

/// Rebuilds an event's search entries from another payload.
pub(crate) fn reindex(tx: &Connection, id: i64, payload: &str) -> rusqlite::Result<()> {
    tx.execute("DELETE FROM events_fts WHERE rowid = ?1", [id])?;
    tx.execute("DELETE FROM event_files WHERE event_id = ?1", [id])?;
    index(tx, id, &from_json_or_default(payload))
}

/// Returns the number of a session's last event; 0 if it has none.
fn last_number(tx: &Connection, session: &str) -> rusqlite::Result<i64> {
    tx.prepare_cached("SELECT COALESCE(max(event_id), 0) FROM events WHERE session_id = ?1")?
        .query_row([session], |row| row.get(0))
}

/// Keeps the details of a session within [`MAX_DETAIL_BYTES`], and a little more between two checks. `before` is the number of the
/// session's last event before the new ones.
fn bound_details(tx: &Connection, session: &str, before: i64) -> rusqlite::Result<()> {
    if before / EVENTS_BETWEEN_CHECKS == last_number(tx, session)? / EVENTS_BETWEEN_CHECKS {
        return Ok(());
    }
    let total: i64 = tx
        .prepare_cached("SELECT COALESCE(sum(length(payload_json)), 0) FROM events WHERE session_id = ?1")?
        .query_row([session], |row| row.get(0))?;
    if total <= MAX_DETAIL_BYTES {
        return Ok(());
    }
    tx.execute(
        "UPDATE events SET payload_json = json_remove(payload_json, '$.detail')
         WHERE event_type = 'tool_observation' AND event_id IN (
             SELECT event_id FROM (
                 SELECT event_id, sum(length(payload_json)) OVER (ORDER BY event_id DESC) AS newer
                 FROM events WHERE session_id = ?1)
             WHERE newer > ?2)",
        params![session, MAX_DETAIL_BYTES / 2],
    )?;
    Ok(())
}
