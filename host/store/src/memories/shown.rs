//! Which memories a session was shown, and when a memory was looked up.

use rusqlite::{Connection, params};

use crate::{Result, Store, time, time_from_sql};

impl Store {
    /// Records that memories were shown to a session, or looked up by the user (no session).
    pub fn mark_shown(&self, ids: &[String], session: Option<&str>, source: &str, now: u64) -> Result<()> {
        self.explain((|| {
            let tx = self.conn.unchecked_transaction()?;
            mark_shown(&tx, ids.iter().map(String::as_str), session, source, now)?;
            tx.commit()
        })())
    }

    /// Returns the memories that a session has been shown.
    pub fn shown(&self, session: &str) -> Result<Vec<String>> {
        self.explain(
            self.conn
                .prepare_cached("SELECT m.id FROM shown s JOIN memories m ON m.rowid = s.memory WHERE s.session_id = ?1")
                .and_then(|mut s| s.query_map([session], |row| row.get(0))?.collect()),
        )
    }

    /// Returns when a memory was told: the session, the moment (`startup`, `prompt`, …) and the time, the latest first.
    pub fn told(&self, id: &str, limit: u32) -> Result<Vec<(String, String, u64)>> {
        self.explain(
            self.conn
                .prepare_cached(
                    "SELECT s.session_id, s.source, s.at FROM shown s JOIN memories m ON m.rowid = s.memory
                     WHERE m.id = ?1 ORDER BY s.at DESC, s.session_id LIMIT ?2",
                )
                .and_then(|mut s| {
                    s.query_map(params![id, limit], |row| Ok((row.get(0)?, row.get(1)?, row.get(2).map(time_from_sql)?)))?
                        .collect()
                }),
        )
    }
}

/// See [`Store::mark_shown`].
pub(crate) fn mark_shown<'a>(
    tx: &Connection,
    ids: impl Iterator<Item = &'a str>,
    session: Option<&str>,
    source: &str,
    now: u64,
) -> rusqlite::Result<()> {
    for id in ids {
        tx.prepare_cached("UPDATE memories SET accessed_at = ?2, access_count = access_count + 1 WHERE id = ?1")?
            .execute(params![id, time(now)])?;
        if let Some(session) = session {
            tx.prepare_cached(
                "INSERT INTO shown (session_id, memory, source, at) SELECT ?1, rowid, ?2, ?3 FROM memories WHERE id = ?4
                 ON CONFLICT DO NOTHING",
            )?
            .execute(params![session, source, time(now), id])?;
        }
    }
    Ok(())
}
