//! What was asked of language models before, in a file beside the database: the replies by the digest of the request, so that
//! asking again costs nothing, and what was gone over when. Every erasure deletes the replies, because a reply says what its request
//! said.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::columns::open_small;
use super::error::{Result, classify};
use super::{time, time_from_sql};
use throughline_model::redacted::Redacted;
use throughline_platform::open::FileOptions as _;

/// The name of the file, beside the database.
const FILE: &str = "model-replies.db";

/// How long a reply is kept, in milliseconds: 90 days.
const MAX_AGE: u64 = 90 * 24 * 60 * 60 * 1_000;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS replies (request TEXT PRIMARY KEY, reply TEXT NOT NULL, at INTEGER NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS runs (
        policy  TEXT NOT NULL,                    -- the digest of its component
        subject TEXT NOT NULL,                    -- session:ID or project:ID
        at      INTEGER NOT NULL,
        state   TEXT NOT NULL,                    -- the digest of what was stored afterwards
        PRIMARY KEY (policy, subject)
    ) STRICT, WITHOUT ROWID;";

/// An open cache of replies.
#[derive(Debug)]
pub struct Replies {
    conn: Connection,
    path: PathBuf,
    /// How many erasures there were when it was opened: `user_version`.
    erasures: i64,
}

impl Replies {
    /// Opens the cache beside a database, and creates it if it is missing.
    pub fn open(database: &Path, timeout: Duration) -> Result<Self> {
        let path = database.with_file_name(FILE);
        let _ = std::fs::File::options().write(true).create_new(true).private().open(&path);
        let open = || {
            let conn = open_small(&path)?;
            conn.busy_timeout(timeout)?;
            conn.execute_batch("PRAGMA secure_delete = ON; PRAGMA trusted_schema = OFF;")?;
            conn.execute_batch(SCHEMA)?;
            let erasures = erasures(&conn)?;
            Ok((conn, erasures))
        };
        open().map(|(conn, erasures)| Self { conn, path: path.clone(), erasures }).map_err(|error| classify(&path, error))
    }

    /// Returns the reply to a request that was made before.
    pub fn get(&self, request: &str) -> Result<Option<String>> {
        self.conn
            .prepare_cached("SELECT reply FROM replies WHERE request = ?1")
            .and_then(|mut s| s.query_row([request], |row| row.get(0)).optional())
            .map_err(|error| classify(&self.path, error))
    }

    /// Keeps a reply, and deletes old ones. After an erasure nothing is kept: what was asked was read before it, and may say
    /// what was erased.
    pub fn put(&self, request: &str, reply: &Redacted<String>, now: u64) -> Result<()> {
        let put = || {
            let tx = Transaction::new_unchecked(&self.conn, TransactionBehavior::Immediate)?;
            if erasures(&tx)? != self.erasures {
                return Ok(());
            }
            tx.execute("DELETE FROM replies WHERE at < ?1", [time(now.saturating_sub(MAX_AGE))])?;
            tx.execute(
                "INSERT INTO replies (request, reply, at) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET reply = ?2, at = ?3",
                params![request, reply.as_str(), time(now)],
            )?;
            tx.commit()
        };
        put().map_err(|error| classify(&self.path, error))
    }

    /// Returns when a policy last went over a session or a project.
    pub fn last_run(&self, policy: &str, subject: &str) -> Result<Option<u64>> {
        self.conn
            .prepare_cached("SELECT at FROM runs WHERE policy = ?1 AND subject = ?2")
            .and_then(|mut s| s.query_row([policy, subject], |row| row.get(0).map(time_from_sql)).optional())
            .map_err(|error| classify(&self.path, error))
    }

    /// Returns the digest of the stored memories after a policy last processed a session or a project.
    pub fn last_state(&self, policy: &str, subject: &str) -> Result<Option<String>> {
        self.conn
            .prepare_cached("SELECT state FROM runs WHERE policy = ?1 AND subject = ?2")
            .and_then(|mut s| s.query_row([policy, subject], |row| row.get(0)).optional())
            .map_err(|error| classify(&self.path, error))
    }

    /// Records that a policy processed a session or a project, with the digest of the stored memories.
    pub fn record_run(&self, policy: &str, subject: &str, at: u64, state: &str) -> Result<()> {
        self.conn
            .execute(
                "INSERT INTO runs (policy, subject, at, state) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET at = ?3, state = ?4",
                params![policy, subject, time(at), state],
            )
            .map(drop)
            .map_err(|error| classify(&self.path, error))
    }
}

fn erasures(conn: &Connection) -> rusqlite::Result<i64> {
    conn.query_row("PRAGMA user_version", [], |row| row.get(0))
}

fn delete_all(conn: &Connection) -> rusqlite::Result<()> {
    let tx = Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
    tx.execute("DELETE FROM replies", [])?;
    tx.pragma_update(None, "user_version", erasures(&tx)? + 1)?;
    tx.commit()?;
    conn.execute_batch("VACUUM")
}

/// Deletes all replies beside a database. If the file cannot be written as a database, it goes as a whole.
pub(super) fn clear(database: &Path) {
    let path = database.with_file_name(FILE);
    if !path.exists() {
        return;
    }
    let cleared = Replies::open(database, Duration::from_secs(5)).is_ok_and(|replies| delete_all(&replies.conn).is_ok());
    if !cleared {
        let _ = std::fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_erasure_takes_all_replies() {
        let dir = tempfile::tempdir().unwrap();
        let database = dir.path().join("memory.db");
        let open = || Replies::open(&database, Duration::from_secs(1)).unwrap();
        #[expect(clippy::disallowed_methods, reason = "a text of this test")]
        let reply = Redacted::read_back("an answer".to_owned());
        open().put("digest", &reply, 5).unwrap();
        open().record_run("p", "session:a", 7, "s").unwrap();
        assert_eq!(open().get("digest").unwrap().as_deref(), Some("an answer"));
        assert_eq!(open().last_run("p", "session:a").unwrap(), Some(7));
        assert_eq!(open().last_state("p", "session:a").unwrap().as_deref(), Some("s"));
        open().put("other", &reply, 6 + MAX_AGE).unwrap();
        assert_eq!(open().get("digest").unwrap(), None, "it is too old");
        clear(&database);
        assert_eq!(open().get("other").unwrap(), None);
        assert_eq!(open().last_run("p", "session:a").unwrap(), Some(7), "what was paid for is not asked again");
        // Whoever had read before the erasure keeps nothing afterwards.
        let early = open();
        clear(&database);
        early.put("late", &reply, 6 + MAX_AGE).unwrap();
        assert_eq!(open().get("late").unwrap(), None);
        open().put("new", &reply, 6 + MAX_AGE).unwrap();
        assert!(open().get("new").unwrap().is_some());
        clear(&database);
        let bytes = std::fs::read(dir.path().join(FILE)).unwrap();
        assert!(!bytes.windows(9).any(|bytes| bytes == b"an answer"));
        std::fs::write(dir.path().join(FILE), "no database").unwrap();
        clear(&database);
        assert!(!dir.path().join(FILE).exists());
    }
}
