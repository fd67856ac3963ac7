//! The store: all persistent memory, in one SQLite file. It knows nothing of policies or of the wire formats of hooks,
//! and no SQL, row number or rusqlite type leaves it, except as the cause in [`StoreError`].
//!
//! [`Store::open`] opens the database and migrates it. The methods of [`Store`] are in one module for each group of
//! tables. A transcript's reading ends in [`Store::commit`], which stores drafts, session notes, summary, extractor
//! states and the cursor in one transaction. A search goes through [`Store::search`]; see [`searching`]. Hooks inside
//! the agent's loop do not open the database: they append to a [`journal`], which a later hook stores.
//!
//! - [`memories`], [`listing`], [`sessions`], [`transcripts`], [`events`], [`failures`], [`notes`], [`projects`]: what is
//!   remembered.
//! - [`index`], [`vectors`], [`embedding_queue`], [`searching`], [`helper`], [`reindex`]: how it is found.
//! - [`digests`], [`sharing`], [`erase`], [`kept`]: how it is compressed, shared, forgotten and brought back.
//! - [`consolidation`], [`ledger`], [`replies`]: what a language model made of memories, what it cost, and what it said; the last two
//!   are files of their own.
//! - [`supersessions`]: which later memory took the place of an earlier one; [`file_anchors`]: how the files were that
//!   memories are about.
//! - [`team`]: what is shared with a team, and what came from it.
//! - [`subjects`], [`proof`]: what earlier builds stored and must not be kept.
//! - [`copy`], [`export`], [`import`], [`verify`], [`repair`], [`salvage`], [`migrations`]: the database as a whole.
//!
//! # Only redacted text is stored
//!
//! What the store and the journal take was redacted:
//!
//! ```no_run
//! # use throughline_model::{contract::Draft, project::Project, redacted::Redacted};
//! # use throughline_store::{Store, StoreError, journal::{Journal, JournalRecord}};
//! fn save(store: &mut Store, project: &Project, draft: &Redacted<Draft>) -> Result<(), StoreError> {
//!     store.save_memory(project, "session", draft, 0).map(drop)
//! }
//!
//! fn append(journal: &Journal, record: &Redacted<JournalRecord>) -> std::io::Result<()> {
//!     journal.append(record).map(drop)
//! }
//! ```
//!
//! The same with a plain value does not compile:
//!
//! ```compile_fail,E0308
//! # use throughline_model::{contract::Draft, project::Project};
//! # use throughline_store::{Store, StoreError};
//! fn save(store: &mut Store, project: &Project, draft: &Draft) -> Result<(), StoreError> {
//!     store.save_memory(project, "session", draft, 0).map(drop)
//! }
//! ```
//!
//! ```compile_fail,E0308
//! # use throughline_store::journal::{Journal, JournalRecord};
//! fn append(journal: &Journal, record: &JournalRecord) -> std::io::Result<()> {
//!     journal.append(record).map(drop)
//! }
//! ```
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

mod browsing;
mod columns;
mod consolidation;
mod copy;
mod digests;
mod embedding_queue;
mod erase;
mod error;
mod events;
mod export;
mod extent;
mod failures;
mod file_anchors;
pub mod foreign;
mod foreign_limits;
mod forgotten;
mod helper;
mod import;
mod index;
pub mod journal;
mod kept;
pub mod ledger;
mod listing;
mod marking;
mod marks;
mod memories;
mod migrations;
mod notes;
mod places;
mod projects;
mod proof;
mod reindex;
mod repair;
mod replies;
mod salvage;
mod schema;
mod scrub;
mod searching;
mod sessions;
mod sharing;
mod statistics;
mod subjects;
mod supersessions;
pub mod team;
mod text;
mod tombstones;
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
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

pub use browsing::{BrowseFilter, MemoryPlace, RedactionCount, Telling};
use columns::{from_json_or_default, json, open_immutable, open_read_only, time, time_from_sql};
pub use consolidation::{ConsolidatedMemories, NewMemory, SourceMemory};
pub use copy::{CopySummary, database_files, examine, match_page_size};
pub use digests::{DIGEST, DigestDetails, DigestSource, FoldGroup, FoldOptions, UnfoldOutcome};
pub use embedding_queue::Unembedded;
pub use erase::Selection;
use error::classify;
pub use error::{DatabaseError, Result, StoreError};
pub use events::{
    EventFilter, FileUse, OBSERVATION, PROMPT, RECORDED_PROMPT, RecordCounts, RetentionOutcome, RetentionStep, SEEN_PROMPT,
    StoredEvent, Turn,
};
pub use failures::Failure;
pub use file_anchors::{FileAnchor, FileKey, file_key};
pub use forgotten::{Fate, ForgetCounts, Forgotten, ForgottenSession, KeptFile, MAX_LISTED};
pub use import::{EXTERNAL_ID, Import, ImportedLink};
pub use kept::{BroughtBack, Kept, kept_id, kept_in};
pub use marking::{MAX_PINNED, MarkChange, PinOutcome, PinnedMemory, WrongReason};
pub use marks::{Marked, Marks, WRONG_BECAUSE, wrong_because};
pub use memories::{Knowledge, MemoryFilter, MemoryRecord, PutOutcome, SAVED, SAVED_BY_AGENT, Stats};
pub use migrations::{SCHEMA_VERSION, needs_long_migration};
pub use notes::{NoteChange, NoteOrigin, NoteRow, PutNoteOutcome, StoredNote, SyncedFile, day};
pub use projects::KnownProject;
pub use reindex::{IndexState, RebuildStep};
pub use replies::Replies;
pub use salvage::{SalvagedTable, salvage_database};
pub use schema::find_difference as find_schema_difference;
pub use scrub::ScrubError;
pub use searching::{Search, SearchHit, SearchResults};
pub use sessions::{CommitBatch, CommitCounts, KnownSession, Learned, SessionUpdate};
pub use sharing::{SHARED_FROM, Suggestion};
pub use supersessions::{ComparedMemory, Comparison, Replacement, StatedLink, Supersession};
pub use text::folded;
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

/// How many prepared statements are kept. Storing one chunk of a transcript needs some fifty; with rusqlite's 16, each would be
/// parsed again for every row.
const MAX_PREPARED: usize = 128;

impl Store {
    /// Opens the database at `path` and migrates its schema. Waits at most `timeout` for other processes.
    pub fn open(path: &Path, access: Access, timeout: Duration) -> Result<Self> {
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        match access {
            Access::Write => flags |= OpenFlags::SQLITE_OPEN_CREATE,
            Access::Existing if !path.exists() => return Err(StoreError::Missing(path.into())),
            Access::Existing => {}
        }
        let store = Connection::open_with_flags(path, flags)
            .and_then(|mut conn| {
                BUSY_TIMEOUT.set((timeout, None));
                conn.busy_handler(Some(wait))?;
                conn.set_prepared_statement_cache_capacity(MAX_PREPARED);
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

    /// Opens a database that cannot be written, such as one on a read-only disk. What other processes have not moved from the
    /// WAL into the database yet is missing if even the WAL's index cannot be created.
    pub fn open_read_only(path: &Path) -> Result<Self> {
        let opened = (|| {
            let conn = open_read_only(path)?;
            let is_readable = |conn: &Connection| conn.query_row("SELECT 1 FROM meta LIMIT 1", [], |_| Ok(())).is_ok();
            let conn = if is_readable(&conn) { conn } else { open_immutable(path)? };
            conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
            conn.execute_batch("PRAGMA cache_size = -4096; PRAGMA temp_store = MEMORY;")?;
            let found = conn.query_row("PRAGMA user_version", [], |row| row.get::<_, u32>(0))?;
            Ok((conn, found))
        })();
        let (conn, found) = opened.map_err(|error| classify(path, error))?;
        match found {
            SCHEMA_VERSION => Ok(Self { conn, path: path.into() }),
            found if found > SCHEMA_VERSION => Err(StoreError::Newer { path: path.into(), found }),
            _ => Err(StoreError::Older(path.into())),
        }
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
        self.explain(statistics::update(&self.conn))?;
        self.explain(self.conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)"))
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

    /// Lets the reads until the guard is dropped see one state of the database. Its locks are taken once, and not for each of them.
    /// Within another guard, this one does nothing.
    pub fn read_together(&self) -> Result<ReadGuard<'_>> {
        if !self.conn.is_autocommit() {
            return Ok(ReadGuard(None));
        }
        let mut tx = self.explain(self.conn.unchecked_transaction())?;
        tx.set_drop_behavior(rusqlite::DropBehavior::Commit);
        Ok(ReadGuard(Some(tx)))
    }

    /// Sets how long to wait for other writers.
    pub fn set_busy_timeout(&self, timeout: Duration) {
        BUSY_TIMEOUT.set((timeout, None));
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

/// The reads while this exists see one state of the database: see [`Store::read_together`].
#[must_use]
pub struct ReadGuard<'a>(#[expect(dead_code, reason = "its end ends the transaction")] Option<rusqlite::Transaction<'a>>);

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
    let (timeout, since) = BUSY_TIMEOUT.get();
    let since = since.filter(|_| times > 0).unwrap_or_else(Instant::now);
    BUSY_TIMEOUT.set((timeout, Some(since)));
    let may_wait = since.elapsed() < timeout;
    if may_wait {
        std::thread::sleep(Duration::from_millis(1));
    }
    may_wait
}
