//! The store: one SQLite file. It knows neither policies nor the wire formats of hooks, and no SQL, row number or rusqlite
//! type leaves it.

mod copy;
mod digests;
mod embedded;
mod erase;
mod events;
mod export;
mod failures;
mod helper;
mod import;
mod index;
mod memories;
mod mend;
mod migrations;
mod notes;
mod projects;
mod reindex;
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

pub use copy::{Content, converge, examine, files_of};
pub use digests::{DIGEST, Folded, Folding, Group, Source, Unfolded};
pub use embedded::Unembedded;
pub use erase::{Forgotten, Redact, Selection, folded};
pub use events::{Aged, Event, FileUse, Noted, OBSERVATION, PROMPT, Step, Turn, Wanted};
pub use failures::Failure;
pub use import::{EXTERNAL_ID, Import};
pub use memories::{Filter, Found, Knowledge, Put, SAVED, SAVED_BY_AGENT, Stats};
pub use migrations::{SCHEMA_VERSION, is_long_behind};
pub use notes::{NoteChange, PutNote, StoredNote, SyncedFile, Way, day};
pub use projects::KnownProject;
pub use reindex::{IndexState, Remade};
pub use searching::{Answer, Hit, Search};
pub use sessions::{Batch, Committed, KnownSession, SessionUpdate};
pub use sharing::{SHARED_FROM, Suggestion};
pub use transcripts::{Cursor, ExtractorState};
pub use verify::{Check, Fault};

/// Where the WAL is worth moving into the database while something long is at work. Not done in a hook.
const CHECKPOINT_BYTES: u64 = 8 << 20;

/// Where it is worth that when the work is done: each hook that finds nobody else at work reads all of the WAL before it begins.
const LEFT_BYTES: u64 = 512 << 10;

/// An open store.
#[derive(Debug)]
pub struct Store {
    pub(crate) conn: Connection,
    path: PathBuf,
}

/// What opening a store is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Make it where it is missing, and write.
    Write,
    /// It must be there already; still writes (access counts) where it can.
    Existing,
}

/// Why the store cannot be used.
#[derive(Debug)]
pub enum StoreError {
    /// There is none yet.
    Missing(PathBuf),
    /// A newer version of the program wrote it. It was not touched.
    Newer {
        /// The database.
        path: PathBuf,
        /// Its schema.
        found: u32,
    },
    /// An older version of the program wrote it, and bringing it up to date takes longer than a hook has.
    Older(PathBuf),
    /// It is not a database, or a damaged one.
    Damaged(PathBuf, String),
    /// Another process held it for longer than we may wait.
    Locked(PathBuf),
    /// It, or its folder, cannot be written.
    ReadOnly(PathBuf, String),
    /// The disk is full.
    Full(PathBuf),
    /// Two hooks read the same lines at once and the other one was first. Read again.
    Conflict,
    /// Anything else.
    Other(rusqlite::Error),
}

/// The store's results.
pub type Result<T> = std::result::Result<T, StoreError>;

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(path) => write!(f, "there is no memory yet at {}", path.display()),
            Self::Newer { path, found } => write!(
                f,
                "{} was written by a newer version (schema {found}, this program knows {SCHEMA_VERSION}); it was left untouched",
                path.display()
            ),
            Self::Older(path) => {
                write!(f, "{} was written by an older version, and is being brought up to date", path.display())
            }
            Self::Damaged(path, why) => write!(f, "{} is damaged: {why}", path.display()),
            Self::Locked(path) => write!(f, "{} is locked by another process", path.display()),
            Self::ReadOnly(path, why) => write!(f, "{} cannot be written: {why}", path.display()),
            Self::Full(path) => write!(f, "the disk of {} is full", path.display()),
            Self::Conflict => write!(f, "another process stored the same lines first"),
            Self::Other(error) => write!(f, "the database failed: {error}"),
        }
    }
}

impl std::error::Error for StoreError {}

impl StoreError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Missing(_) => "run `throughline install`, or `throughline ingest` to read existing sessions".into(),
            Self::Newer { .. } => "upgrade this program, or point THROUGHLINE_HOME at another folder".into(),
            Self::Older(_) => "wait until it is done; nothing was lost".into(),
            Self::Damaged(path, _) => {
                format!("move {} away; `throughline ingest` fills a new one from the transcripts", path.display())
            }
            Self::Locked(_) => "wait for the other process, or end it; nothing was lost".into(),
            Self::ReadOnly(path, _) => format!("check owner and mode of {}", path.display()),
            Self::Full(_) => "free some space; what was not stored is read again from the transcripts".into(),
            Self::Conflict | Self::Other(_) => return None,
        })
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Other(error)
    }
}

impl Store {
    /// Opens the database at `path`, bringing its schema up to date. Waits at most `patience` for other processes.
    pub fn open(path: &Path, access: Access, patience: Duration) -> Result<Self> {
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        match access {
            Access::Write => flags |= OpenFlags::SQLITE_OPEN_CREATE,
            Access::Existing if !path.exists() => return Err(StoreError::Missing(path.into())),
            Access::Existing => {}
        }
        let store = Connection::open_with_flags(path, flags)
            .and_then(|mut conn| {
                PATIENCE.set((patience, None));
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
            StoreError::Other(error) => classify(path, error),
            other => other,
        })?;
        Ok(store)
    }

    /// Where it stands.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `work` in a transaction that no other writer comes between.
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

    /// Says what a failed statement means for the whole store.
    fn explain<T>(&self, result: std::result::Result<T, rusqlite::Error>) -> Result<T> {
        result.map_err(|error| classify(&self.path, error))
    }

    /// Whether the WAL has grown so far that [`Store::checkpoint`] is due.
    pub fn wants_checkpoint(&self) -> bool {
        wal_bytes(&self.path) > CHECKPOINT_BYTES
    }

    /// See [`leaves_much`].
    pub fn leaves_much(&self) -> bool {
        leaves_much(&self.path)
    }

    /// Moves the WAL into the database as far as readers allow, and tidies the statistics.
    pub fn checkpoint(&self) -> Result<()> {
        self.explain(self.conn.execute_batch("PRAGMA optimize; PRAGMA wal_checkpoint(TRUNCATE);"))
    }

    /// Asks SQLite whether the database is sound. The answer is `ok`, or what is wrong.
    pub fn integrity(&self) -> Result<String> {
        self.explain(self.conn.query_row("PRAGMA quick_check(5)", [], |row| row.get(0)))
    }

    /// Writes a mark and waits until it is on the disk: the proof that memories could be written.
    pub fn prove_writable(&self, now: u64) -> Result<()> {
        self.explain(self.conn.execute(
            "INSERT INTO meta (key, value) VALUES ('proved_writable_at', ?1) ON CONFLICT (key) DO UPDATE SET value = ?1",
            [now.to_string()],
        ))?;
        Ok(())
    }

    /// From now on other writers are waited for at most so long.
    pub fn patience(&self, patience: Duration) {
        PATIENCE.set((patience, None));
    }

    /// Writes are then not waited for: for what may be lost in a power cut, such as access counts.
    pub fn relax(&self) -> Result<()> {
        self.explain(self.conn.execute_batch("PRAGMA synchronous = NORMAL"))
    }

    /// Writes are waited for again. What SQLite holds in memory of those before is given back: a policy's runtime wants it.
    pub fn insist(&self) -> Result<()> {
        self.explain(self.conn.execute_batch("PRAGMA synchronous = FULL; PRAGMA shrink_memory"))
    }
}

/// Opens a database, of ours or not, that must not be changed.
fn open_read_only(path: &Path) -> rusqlite::Result<Connection> {
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)
}

/// Whether a database's WAL is longer than what should be left: the next process reads all of it before it can begin.
pub fn leaves_much(database: &Path) -> bool {
    wal_bytes(database) > LEFT_BYTES
}

fn wal_bytes(database: &Path) -> u64 {
    let mut wal = database.as_os_str().to_owned();
    wal.push("-wal");
    std::fs::metadata(wal).map_or(0, |meta| meta.len())
}

thread_local! {
    /// How long this thread's connection waits, and since when it does.
    static PATIENCE: Cell<(Duration, Option<Instant>)> = const { Cell::new((Duration::ZERO, None)) };
}

/// Looks every millisecond whether the other writer is done. SQLite's own waiting sleeps for up to a tenth of a second at a
/// time, and is overtaken by whoever comes later.
fn wait(times: i32) -> bool {
    let (patience, since) = PATIENCE.get();
    let since = since.filter(|_| times > 0).unwrap_or_else(Instant::now);
    PATIENCE.set((patience, Some(since)));
    let is_patient = since.elapsed() < patience;
    if is_patient {
        std::thread::sleep(Duration::from_millis(1));
    }
    is_patient
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
        _ => StoreError::Other(error),
    }
}

/// A list as the JSON that a column holds.
fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".into())
}

/// What a column's JSON says; where it says something else, nothing.
fn unjson<T: serde::de::DeserializeOwned + Default>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_default()
}

/// A time as SQLite holds it.
fn time(at: u64) -> i64 {
    i64::try_from(at).unwrap_or(i64::MAX)
}

/// A time as SQLite held it.
fn untime(at: i64) -> u64 {
    u64::try_from(at).unwrap_or(0)
}
