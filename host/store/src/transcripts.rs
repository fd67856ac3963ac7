//! Tables `transcripts` and `extractor_states`: how far each transcript was read, and the state that extractors save.

use rusqlite::{Connection, OptionalExtension, Row, params};

use throughline_model::cursor::Cursor;

use super::{Result, Store, StoreError, time, time_from_sql};

/// The state that an extractor saved for itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExtractorState {
    /// The policy's name.
    pub policy: String,
    /// The state, in the policy's own format.
    pub state: String,
    /// How many bytes of the session's transcript it has read, for an additional extractor, which may lag behind.
    /// `None` means as far as the cursor.
    pub read_to: Option<u64>,
    /// The number of writes; 0 means never written.
    pub version: u64,
}

const COLUMNS: &str = "path, session_id, device, inode, size, modified, byte_offset, last_uuid, lines, malformed, oversized, failures, version";

fn from_row(row: &Row<'_>) -> rusqlite::Result<Cursor> {
    let number = |index: usize| row.get::<_, i64>(index).map(time_from_sql);
    Ok(Cursor {
        path: row.get(0)?,
        session_id: row.get(1)?,
        #[expect(clippy::cast_sign_loss, reason = "stored as the same bits")]
        device: row.get::<_, i64>(2)? as u64,
        #[expect(clippy::cast_sign_loss, reason = "stored as the same bits")]
        inode: row.get::<_, i64>(3)? as u64,
        size: number(4)?,
        modified: number(5)?,
        offset: number(6)?,
        last_uuid: row.get(7)?,
        lines: number(8)?,
        malformed: number(9)?,
        oversized: number(10)?,
        failures: row.get(11)?,
        version: number(12)?,
    })
}

impl Store {
    /// Returns the path of another transcript from which the session was read before, if there is one.
    pub fn other_transcript(&self, session_id: &str, path: &str) -> Result<Option<String>> {
        self.explain(
            self.conn
                .prepare_cached(
                    "SELECT path FROM transcripts WHERE session_id = ?1 AND path <> ?2 ORDER BY updated_at LIMIT 1",
                )
                .and_then(|mut s| s.query_row([session_id, path], |row| row.get(0)).optional()),
        )
    }

    /// Returns the paths of the transcripts from which a session was read, the latest first.
    pub fn transcripts_of(&self, session_id: &str) -> Result<Vec<String>> {
        self.explain(
            self.conn
                .prepare_cached("SELECT path FROM transcripts WHERE session_id = ?1 ORDER BY updated_at DESC, path")
                .and_then(|mut s| s.query_map([session_id], |row| row.get(0))?.collect()),
        )
    }

    /// Returns the cursor of the transcript at `path`.
    pub fn cursor(&self, path: &str) -> Result<Option<Cursor>> {
        self.explain(
            self.conn
                .prepare_cached(&format!("SELECT {COLUMNS} FROM transcripts WHERE path = ?1"))
                .and_then(|mut s| s.query_row([path], from_row).optional()),
        )
    }

    /// Returns the cursors of all transcripts directly in `folder` or below it.
    pub fn cursors_below(&self, folder: &str) -> Result<Vec<Cursor>> {
        let from = format!("{}/", folder.trim_end_matches('/'));
        let to = format!("{}0", folder.trim_end_matches('/')); // '0' is the character after '/'
        self.explain(
            self.conn
                .prepare_cached(&format!("SELECT {COLUMNS} FROM transcripts WHERE path >= ?1 AND path < ?2"))
                .and_then(|mut s| s.query_map([from, to], from_row)?.collect()),
        )
    }

    /// Returns all cursors.
    pub fn cursors(&self) -> Result<Vec<Cursor>> {
        self.explain(
            self.conn
                .prepare_cached(&format!("SELECT {COLUMNS} FROM transcripts ORDER BY path"))
                .and_then(|mut s| s.query_map([], from_row)?.collect()),
        )
    }

    /// Returns what an extractor saved for a session.
    pub fn extractor_state(&self, session: &str, policy: &str) -> Result<Option<ExtractorState>> {
        self.explain(
            self.conn
                .prepare_cached(
                    "SELECT policy, state, read_to, version FROM extractor_states WHERE session_id = ?1 AND policy = ?2",
                )
                .and_then(|mut s| {
                    s.query_row([session, policy], |row| {
                        Ok(ExtractorState {
                            policy: row.get(0)?,
                            state: row.get(1)?,
                            read_to: row.get::<_, Option<i64>>(2)?.map(time_from_sql),
                            version: row.get::<_, i64>(3).map(time_from_sql)?,
                        })
                    })
                    .optional()
                }),
        )
    }

    /// Moves a cursor and nothing else, for an empty or skipped stretch.
    pub fn put_cursor(&self, cursor: &Cursor, now: u64) -> Result<()> {
        put_cursor(&self.conn, cursor, now)
    }
}

/// Writes the cursor, unless another process wrote it since it was read.
pub(super) fn put_cursor(conn: &Connection, cursor: &Cursor, now: u64) -> Result<()> {
    #[expect(clippy::cast_possible_wrap, reason = "stored as the same bits")]
    let identity = (cursor.device as i64, cursor.inode as i64);
    let written = conn
        .prepare_cached(
            "INSERT INTO transcripts (path, session_id, device, inode, size, modified, byte_offset, last_uuid, lines, malformed,
                                      oversized, failures, version, updated_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13 + 1, ?14)
             ON CONFLICT (path) DO UPDATE SET session_id = ?2, device = ?3, inode = ?4, size = ?5, modified = ?6,
                 byte_offset = ?7, last_uuid = ?8, lines = ?9, malformed = ?10, oversized = ?11, failures = ?12,
                 version = ?13 + 1, updated_at = ?14
             WHERE version = ?13",
        )?
        .execute(params![
            cursor.path,
            cursor.session_id,
            identity.0,
            identity.1,
            time(cursor.size),
            time(cursor.modified),
            time(cursor.offset),
            cursor.last_uuid,
            time(cursor.lines),
            time(cursor.malformed),
            time(cursor.oversized),
            cursor.failures,
            time(cursor.version),
            time(now),
        ])?;
    if written == 0 { Err(StoreError::Conflict) } else { Ok(()) }
}

/// Writes the state, unless another process wrote it since it was read.
pub(super) fn put_state(conn: &Connection, session: &str, state: &ExtractorState) -> Result<()> {
    let written = conn
        .prepare_cached(
            "INSERT INTO extractor_states (session_id, policy, state, read_to, version) VALUES (?1, ?2, ?3, ?4, ?5 + 1)
             ON CONFLICT (session_id, policy) DO UPDATE SET state = ?3, read_to = ?4, version = ?5 + 1 WHERE version = ?5",
        )?
        .execute(params![session, state.policy, state.state, state.read_to.map(time), time(state.version)])?;
    if written == 0 { Err(StoreError::Conflict) } else { Ok(()) }
}

/// Resets the transcript so that every extractor reads it from its beginning. The new version makes a read in progress
/// fail.
pub(super) fn reset_cursor(tx: &Connection, path: &str, now: u64) -> rusqlite::Result<()> {
    tx.prepare_cached(
        "UPDATE extractor_states SET read_to = NULL, version = version + 1
         WHERE session_id = (SELECT session_id FROM transcripts WHERE path = ?1) AND read_to IS NOT NULL",
    )?
    .execute([path])?;
    tx.prepare_cached(
        "UPDATE transcripts SET byte_offset = 0, last_uuid = NULL, size = 0, lines = 0, malformed = 0, oversized = 0, failures = 0,
                version = version + 1, updated_at = ?2
         WHERE path = ?1",
    )?
    .execute(params![path, time(now)])?;
    Ok(())
}
