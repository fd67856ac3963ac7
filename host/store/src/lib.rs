//! The store: all persistent memory, in one SQLite file. It knows nothing of policies or of the wire formats of hooks,
//! and no SQL, row number or rusqlite type leaves it, except as the cause in [`StoreError`].
//!
//! [`Store::open`] opens the database and migrates it. The methods of [`Store`] are in one module for each group of
//! tables. A transcript's reading ends in [`Store::commit`], which stores drafts, session notes, summary, extractor
//! states and the cursor in one transaction. A search goes through [`Store::search`]; see [`searching`]. Hooks inside
//! the agent's loop do not open the database: they append to a [`journal`], which a later hook stores.
//!
//! - [`memories`], [`sessions`], [`transcripts`], [`events`], [`failures`], [`notes`], [`projects`]: what is
//!   remembered.
//! - [`index`], [`vectors`], [`embedding_queue`], [`searching`], [`helper`], [`reindex`]: how it is found.
//! - [`digests`], [`sharing`], [`erase`], [`kept`]: how it is compressed, shared, forgotten and brought back.
//! - [`copy`], [`export`], [`import`], [`verify`], [`repair`], [`salvage`], [`migrations`]: the database as a whole.
//!
//! # A process lives for milliseconds
//!
//! The database is in WAL mode, with one connection and `synchronous=FULL` where a write is acknowledged (relaxed for
//! access counts). Transactions begin with `BEGIN IMMEDIATE` and a busy timeout inside the hook's time. There is no
//! checkpoint on close. A hook, command or MCP call that leaves more than 512 KiB of WAL starts a detached process that
//! moves it into the database, because the next process reads all of it first: each search records what it showed, and
//! some hundred of them cost each next one 5 ms. Long work checkpoints every 8 MiB. All statements are prepared;
//! defensive mode is on, and the schema is untrusted.
//!
//! # Migrations
//!
//! A database of a newer version is refused with a clear message and not touched. A hook does not migrate a database of
//! 16 MiB or more, because it would be ended before it is done: a million memories took half a minute. A detached
//! process migrates it. Until then hooks keep what they see in the journal, and only a session's start waits. A command
//! migrates the database, or waits for the process that does, and says so. An MCP call starts the detached process and
//! asks to be called again.
//!
//! # Optimistic concurrency
//!
//! Hooks of one session run side by side, with a background process and perhaps an `ingest`. None holds a lock while
//! the policy works. Cursors and extractor states have a `version` that counts writes, and a write names the version
//! that it read. If another process was faster, the whole transaction fails with [`StoreError::Conflict`], and the
//! chunk is read again from where the other process stopped.

mod copy;
mod digests;
mod embedding_queue;
mod erase;
mod events;
mod export;
mod failures;
pub mod foreign;
mod foreign_limits;
mod helper;
mod import;
mod index;
pub mod journal;
mod kept;
mod memories;
mod migrations;
mod notes;
mod projects;
mod reindex;
mod repair;
mod salvage;
mod schema;
mod searching;
mod sessions;
mod sharing;
mod transcripts;
mod vectors;
mod verify;

#[cfg(test)]
mod digest_tests;
#[cfg(test)]
mod reindex_tests;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

pub use copy::{CopySummary, database_files, examine, match_page_size};
pub use digests::{DIGEST, DigestDetails, DigestSource, FoldGroup, FoldOptions, UnfoldOutcome};
pub use embedding_queue::Unembedded;
pub use erase::{Fate, ForgetCounts, Forgotten, MAX_LISTED, ScrubError, Selection, folded};
pub use events::{
    EventFilter, FileUse, OBSERVATION, PROMPT, RecordCounts, RetentionOutcome, RetentionStep, StoredEvent, Turn,
};
pub use failures::Failure;
pub use import::{EXTERNAL_ID, Import};
pub use kept::{BroughtBack, Kept, KeptFile, kept_id, kept_in};
pub use memories::{Knowledge, MemoryFilter, MemoryRecord, PutOutcome, SAVED, SAVED_BY_AGENT, Stats};
pub use migrations::{SCHEMA_VERSION, needs_long_migration};
pub use notes::{NoteChange, NoteOrigin, NoteRow, PutNoteOutcome, StoredNote, SyncedFile, day};
pub use projects::KnownProject;
pub use reindex::{IndexState, RebuildStep};
pub use salvage::{SalvagedTable, salvage};
pub use schema::find_difference as find_schema_difference;
pub use searching::{Search, SearchHit, SearchResults};
pub use sessions::{CommitBatch, CommitCounts, KnownSession, Learned, SessionUpdate};
pub use sharing::{SHARED_FROM, Suggestion};
pub use transcripts::ExtractorState;
pub use verify::{StoreCheck, StoreFault};

/// The WAL size, in bytes, at which a long-running operation should checkpoint. Hooks do not use it.
const CHECKPOINT_BYTES: u64 = 8 << 20;

/// The WAL size, in bytes, at which finished work should checkpoint. A hook that is the only open connection reads the
/// whole WAL before it begins.
const LARGE_WAL_BYTES: u64 = 512 << 10;

/// An open store.
#[derive(Debug)]
pub struct Store {
    pub(crate) conn: Connection,
    path: PathBuf,
}

/// What opening a store is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Create the database if it is missing, and write.
    Write,
    /// The database must exist. Still writes (access counts) if possible.
    Existing,
}

/// Why the store cannot be used.
#[derive(Debug)]
pub enum StoreError {
    /// There is no database yet.
    Missing(PathBuf),
    /// A newer version of the program wrote the database. It was not changed.
    Newer {
        /// The database.
        path: PathBuf,
        /// Its schema version.
        found: u32,
    },
    /// An older version of the program wrote the database, and migrating it takes longer than a hook has.
    Older(PathBuf),
    /// The file is not a database, or is damaged.
    Damaged(PathBuf, String),
    /// Another process held a lock for longer than the busy timeout.
    Locked(PathBuf),
    /// The database or its folder cannot be written.
    ReadOnly(PathBuf, String),
    /// The disk is full.
    Full(PathBuf),
    /// Two hooks read the same lines at the same time, and the other one committed first. Read again.
    Conflict,
    /// Any other error.
    Other(DatabaseError),
}

/// An error of the database engine that callers can only report.
#[derive(Debug)]
pub struct DatabaseError(rusqlite::Error);

impl fmt::Display for DatabaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The result of a store operation.
pub type Result<T> = std::result::Result<T, StoreError>;

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(path) => write!(f, "there is no memory yet at {}", path.display()),
            Self::Newer { path, found } => write!(
                f,
                "{} was written by a newer version (schema {found}, this program supports {SCHEMA_VERSION}); it was not changed",
                path.display()
            ),
            Self::Older(path) => {
                write!(f, "{} was written by an older version and is being upgraded", path.display())
            }
            Self::Damaged(path, why) => write!(f, "{} is damaged: {why}", path.display()),
            Self::Locked(path) => write!(f, "{} is locked by another process", path.display()),
            Self::ReadOnly(path, why) => write!(f, "{} cannot be written: {why}", path.display()),
            Self::Full(path) => write!(f, "the disk with {} is full", path.display()),
            Self::Conflict => write!(f, "another process stored the same lines first"),
            Self::Other(error) => write!(f, "the database failed: {error}"),
        }
    }
}

impl std::error::Error for StoreError {}

impl StoreError {
    /// Returns what the user can do about the error.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Missing(_) => "run `throughline install`, or `throughline ingest` to read existing sessions".into(),
            Self::Newer { .. } => "upgrade this program, or point THROUGHLINE_HOME at another folder".into(),
            Self::Older(_) => "wait until the upgrade is done; nothing was lost".into(),
            Self::Damaged(path, _) => {
                format!("move {} away, then run `throughline ingest` to rebuild it from the transcripts", path.display())
            }
            Self::Locked(_) => "wait for the other process, or stop it; nothing was lost".into(),
            Self::ReadOnly(path, _) => format!("check the owner and mode of {}", path.display()),
            Self::Full(_) => "free some space; anything not stored will be read from the transcripts again".into(),
            Self::Conflict | Self::Other(_) => return None,
        })
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Other(DatabaseError(error))
    }
}

impl Store {
    /// Opens the database at `path` and migrates its schema. Waits at most `patience` for other processes.
    pub fn open(path: &Path, access: Access, patience: Duration) -> Result<Self> {
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        match access {
            Access::Write => flags |= OpenFlags::SQLITE_OPEN_CREATE,
            Access::Existing if !path.exists() => return Err(StoreError::Missing(path.into())),
            Access::Existing => {}
        }
        let store = Connection::open_with_flags(path, flags)
            .and_then(|mut conn| {
                BUSY_TIMEOUT.set((patience, None));
                conn.busy_handler(Some(wait))?;
                conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
                conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
                conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
                conn.execute_batch(
                    "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;
                     PRAGMA cache_size = -4096; PRAGMA temp_store = MEMORY;",
                )?;
                Ok(Self { conn, path: path.into() })
            })
            .map_err(|error| classify(path, error))?;
        migrations::migrate(&store.conn).map_err(|error| match error {
            StoreError::Newer { found, .. } => StoreError::Newer { path: path.into(), found },
            StoreError::Other(DatabaseError(error)) => classify(path, error),
            other => other,
        })?;
        Ok(store)
    }

    /// Returns the path of the database.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `work` in an immediate transaction.
    fn write<T>(&mut self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        let path = self.path.clone();
        let outcome = (|| {
            let tx = self.conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            let outcome = work(&tx)?;
            tx.commit()?;
            Ok(outcome)
        })();
        outcome.map_err(|error| classify(&path, error))
    }

    /// Classifies a failed statement by what it means for the whole store.
    fn explain<T>(&self, result: std::result::Result<T, rusqlite::Error>) -> Result<T> {
        result.map_err(|error| classify(&self.path, error))
    }

    /// Returns whether the WAL has grown enough for [`Store::checkpoint`] to be due.
    pub fn wants_checkpoint(&self) -> bool {
        wal_bytes(&self.path) > CHECKPOINT_BYTES
    }

    /// See [`has_large_wal`].
    pub fn has_large_wal(&self) -> bool {
        has_large_wal(&self.path)
    }

    /// Moves the WAL into the database as far as readers allow, and updates the query planner's statistics.
    pub fn checkpoint(&self) -> Result<()> {
        self.explain(self.conn.execute_batch("PRAGMA optimize; PRAGMA wal_checkpoint(TRUNCATE);"))
    }

    /// Asks SQLite whether the database is intact. Returns `ok` or a description of the damage.
    pub fn integrity(&self) -> Result<String> {
        self.explain(self.conn.query_row("PRAGMA quick_check(5)", [], |row| row.get(0)))
    }

    /// Writes a marker and waits until it is on disk, to prove that memories can be written.
    pub fn prove_writable(&self, now: u64) -> Result<()> {
        self.explain(self.conn.execute(
            "INSERT INTO meta (key, value) VALUES ('proved_writable_at', ?1) ON CONFLICT (key) DO UPDATE SET value = ?1",
            [now.to_string()],
        ))?;
        Ok(())
    }

    /// Sets how long to wait for other writers.
    pub fn set_busy_timeout(&self, patience: Duration) {
        BUSY_TIMEOUT.set((patience, None));
    }

    /// Stops waiting for writes to reach the disk: for data that may be lost in a power cut, such as access counts.
    pub fn set_synchronous_normal(&self) -> Result<()> {
        self.explain(self.conn.execute_batch("PRAGMA synchronous = NORMAL"))
    }

    /// Waits for writes to reach the disk again. Also returns SQLite's cache memory, which a policy's runtime needs.
    pub fn set_synchronous_full(&self) -> Result<()> {
        self.explain(self.conn.execute_batch("PRAGMA synchronous = FULL; PRAGMA shrink_memory"))
    }
}

/// Opens a database, ours or not, that must not be changed.
fn open_read_only(path: &Path) -> rusqlite::Result<Connection> {
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)
}

/// Returns whether a database's WAL is too long to be left behind. The next process reads all of it before it begins.
pub fn has_large_wal(database: &Path) -> bool {
    wal_bytes(database) > LARGE_WAL_BYTES
}

fn wal_bytes(database: &Path) -> u64 {
    let mut wal = database.as_os_str().to_owned();
    wal.push("-wal");
    std::fs::metadata(wal).map_or(0, |meta| meta.len())
}

thread_local! {
    /// How long this thread's connection waits for locks, and since when it has been waiting.
    static BUSY_TIMEOUT: Cell<(Duration, Option<Instant>)> = const { Cell::new((Duration::ZERO, None)) };
}

/// The busy handler: checks every millisecond whether the other writer is done. SQLite's own busy timeout sleeps for up
/// to a tenth of a second at a time, and processes that arrive later overtake it.
fn wait(times: i32) -> bool {
    let (patience, since) = BUSY_TIMEOUT.get();
    let since = since.filter(|_| times > 0).unwrap_or_else(Instant::now);
    BUSY_TIMEOUT.set((patience, Some(since)));
    let may_wait = since.elapsed() < patience;
    if may_wait {
        std::thread::sleep(Duration::from_millis(1));
    }
    may_wait
}

fn classify(path: &Path, error: rusqlite::Error) -> StoreError {
    let why = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Damaged(path.into(), why),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Locked(path.into()),
        Some(ErrorCode::DiskFull) => StoreError::Full(path.into()),
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            StoreError::ReadOnly(path.into(), why)
        }
        _ => StoreError::Other(DatabaseError(error)),
    }
}

/// Encodes a list as JSON for a column.
fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".into())
}

/// Decodes a column's JSON; returns the default if it is invalid.
fn from_json_or_default<T: serde::de::DeserializeOwned + Default>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_default()
}

/// Converts a time to SQLite's integer type.
fn time(at: u64) -> i64 {
    i64::try_from(at).unwrap_or(i64::MAX)
}

/// Converts a time from SQLite's integer type.
fn time_from_sql(at: i64) -> u64 {
    u64::try_from(at).unwrap_or(0)
}
