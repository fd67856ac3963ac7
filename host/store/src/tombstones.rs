//! Tombstones of tool calls: hashes that keep forgotten calls from coming back when their transcript is read again.

use rusqlite::{Connection, params};

use super::memories::ContentHash;
use super::time;

/// Returns the tombstone hash of a tool call.
fn call_hash(session: &str, key: &str) -> ContentHash {
    ContentHash::of(&["tool call", session, key])
}

/// Adds a tombstone for each key of a tool call, so that reading its transcript again does not bring it back.
pub(super) fn bury_calls(tx: &Connection, event: i64, now: u64) -> rusqlite::Result<()> {
    let keys: Vec<(String, String, String)> = tx
        .prepare_cached(
            "SELECT e.project_id, k.session_id, k.key FROM events e JOIN event_keys k USING (event_id)
             WHERE e.event_id = ?1 AND e.event_type = 'tool_observation'",
        )?
        .query_map([event], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (project, session, key) in keys {
        tx.prepare_cached("INSERT OR IGNORE INTO tombstones (project_id, content_hash, deleted_at) VALUES (?1, ?2, ?3)")?
            .execute(params![project, call_hash(&session, &key), time(now)])?;
    }
    Ok(())
}

/// Returns whether anything of the project was forgotten.
pub(super) fn has_any(tx: &Connection, project: &str) -> rusqlite::Result<bool> {
    tx.prepare_cached("SELECT 1 FROM tombstones WHERE project_id = ?1")?.exists([project])
}

/// Returns whether a tool call was forgotten.
pub(super) fn is_forgotten_call(tx: &Connection, project: &str, session: &str, key: &str) -> rusqlite::Result<bool> {
    tx.prepare_cached("SELECT 1 FROM tombstones WHERE project_id = ?1 AND content_hash = ?2")?
        .exists(params![project, call_hash(session, key)])
}
