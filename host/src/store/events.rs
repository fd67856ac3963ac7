//! Table `events`: what happened, append-only.

use rusqlite::{Connection, params};

use super::{Result, Store, time};

impl Store {
    /// Appends an event.
    pub fn put_event(&self, kind: &str, session: &str, project: &str, at: u64, payload: &str) -> Result<()> {
        self.explain(put(&self.conn, kind, session, project, at, payload))
    }
}

pub(super) fn put(
    conn: &Connection,
    kind: &str,
    session: &str,
    project: &str,
    at: u64,
    payload: &str,
) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "INSERT INTO events (event_type, session_id, project_id, timestamp, payload_json) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute(params![kind, session, project, time(at), payload])?;
    Ok(())
}
