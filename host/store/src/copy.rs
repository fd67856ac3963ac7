//! Copies of the whole database: made while others write, validated, and restored in one transaction.
//!
//! Everything uses SQLite's backup API, page by page. Copying files would tear if somebody wrote meanwhile. Renaming a
//! new file over the old one would leave other processes with the old file open but the new file's log.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use throughline_platform::open::FileOptions as _;

use super::{BUSY_TIMEOUT, Result, SCHEMA_VERSION, Store, StoreError, classify, open_read_only};

/// Copies all pages in one step, so that concurrent writes cannot restart the backup.
const ALL: std::ffi::c_int = -1;

/// How often to retry if the database is written to between the safety copy and the replacement.
const MAX_ATTEMPTS: u32 = 20;

/// SQLite's default page size, in bytes, which all our databases have.
const PAGE: u32 = 4096;

/// Tables that every database of ours has, since the first schema.
const REQUIRED_TABLES: [&str; 5] = ["memories", "meta", "projects", "sightings", "transcripts"];

/// What a copy contains.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CopySummary {
    /// The schema version.
    pub schema: u32,
    /// The number of memories.
    pub memories: u64,
    /// The number of sessions.
    pub sessions: u64,
    /// The number of projects.
    pub projects: u64,
    /// The size in bytes.
    pub bytes: u64,
}

impl Store {
    /// Copies the database, as of one moment, into a file that only the user can read, and validates the copy. The copy is
    /// a single file without a log and is on disk when this returns. On failure the file is worthless.
    pub fn copy_to(&self, file: &Path) -> Result<CopySummary> {
        self.copy_pages(file)?;
        examine(file)?.ok_or_else(|| StoreError::Damaged(file.into(), "the copy does not have the expected tables".into()))
    }

    fn copy_pages(&self, file: &Path) -> Result<()> {
        copy_pages(&self.conn, &self.path, file)
    }

    /// Replaces everything in this database with the contents of `other`, in one transaction. A kill at any moment
    /// leaves either the old or the new contents. Other processes see the old contents until their current statement
    /// ends, and their next write goes to the new one. First, the old contents are copied to the file `copy`, which
    /// `keep` renames to its final name; no write can come between the copy and the replacement.
    pub fn replace_with(&mut self, other: &Path, copy: &Path, keep: impl FnOnce() -> std::io::Result<()>) -> Result<()> {
        let path = self.path.clone();
        let from = open_read_only(other).map_err(|error| classify(other, error))?;
        let watch = Self::open(&path, super::Access::Existing, BUSY_TIMEOUT.get().0)?;
        // Cached statements of the old contents must not be in use.
        self.conn.flush_prepared_statement_cache();
        for _ in 0..MAX_ATTEMPTS {
            // The data version changes whenever another connection writes.
            let version = watch.data_version()?;
            watch.copy_pages(copy)?;
            let backup = Backup::new(&from, &mut self.conn).map_err(|error| classify(&path, error))?;
            // From the first page on, nobody else can write.
            step(&backup, 1).map_err(|error| classify(&path, error))?;
            if watch.data_version()? != version {
                continue;
            }
            keep().map_err(|error| StoreError::ReadOnly(copy.into(), error.to_string()))?;
            step(&backup, ALL).map_err(|error| classify(&path, error))?;
            drop(backup);
            // Checkpointing is only housekeeping, and may fail because of a reader.
            let _ = self.checkpoint();
            return Ok(());
        }
        Err(StoreError::Locked(path))
    }

    /// Returns a number that changes when another connection has changed the database.
    pub fn data_version(&self) -> Result<i64> {
        self.explain(self.conn.query_row("PRAGMA data_version", [], |row| row.get(0)))
    }

    /// Returns the identifiers of memories in `other` that were permanently deleted here.
    pub fn deleted_of(&self, other: &Self) -> Result<Vec<String>> {
        let mut gone = Vec::new();
        self.explain((|| {
            let mut is_gone = self.conn.prepare("SELECT 1 FROM tombstones WHERE project_id = ?1 AND content_hash = ?2")?;
            let mut select = other.conn.prepare("SELECT project_id, content_hash, id FROM memories")?;
            let mut rows = select.query([])?;
            while let Some(row) = rows.next()? {
                if is_gone.exists(rusqlite::params![row.get::<_, String>(0)?, row.get::<_, Vec<u8>>(1)?])? {
                    gone.push(row.get(2)?);
                }
            }
            Ok(())
        })())?;
        Ok(gone)
    }

    /// Copies the tombstones of `other` into this database.
    pub fn adopt_tombstones(&mut self, other: &Self) -> Result<()> {
        let tombstones: Vec<(String, Vec<u8>, i64)> = other.explain(
            other
                .conn
                .prepare("SELECT project_id, content_hash, deleted_at FROM tombstones")
                .and_then(|mut s| s.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?.collect()),
        )?;
        self.write(|tx| {
            let mut insert =
                tx.prepare("INSERT OR IGNORE INTO tombstones (project_id, content_hash, deleted_at) VALUES (?1, ?2, ?3)")?;
            for (project, hash, at) in &tombstones {
                insert.execute(rusqlite::params![project, hash, at])?;
            }
            Ok(())
        })
    }
}

/// Copies the pages as of one moment, whatever they contain.
pub(super) fn copy_pages(from: &Connection, path: &Path, file: &Path) -> Result<()> {
    let cannot = |error: std::io::Error| StoreError::ReadOnly(file.into(), error.to_string());
    // Create the file here rather than in SQLite, so that there is no moment in which others could read it.
    drop(File::options().write(true).create(true).truncate(true).private().open(file).map_err(cannot)?);
    let copied = (|| {
        let mut to = writable(file)?;
        // Nobody else knows the file, and it is worthless until it is complete.
        to.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")?;
        let backup = Backup::new(from, &mut to)?;
        step(&backup, ALL)
    })();
    copied.map_err(|error| match classify(file, error) {
        // Of the two files, only the source can be locked by others or be damaged.
        StoreError::Damaged(_, why) => StoreError::Damaged(path.into(), why),
        StoreError::Locked(_) => StoreError::Locked(path.into()),
        other => other,
    })?;
    File::open(file).and_then(|file| file.sync_all()).map_err(cannot)
}

pub(super) fn writable(file: &Path) -> rusqlite::Result<Connection> {
    Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
}

/// Copies the next `pages` pages, waiting for locks as long as the thread's connections do.
fn step(backup: &Backup<'_, '_>, pages: std::ffi::c_int) -> rusqlite::Result<()> {
    let until = Instant::now() + BUSY_TIMEOUT.get().0;
    loop {
        match backup.step(pages)? {
            StepResult::Busy | StepResult::Locked if Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(1));
            }
            StepResult::Busy | StepResult::Locked => {
                let busy = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
                return Err(rusqlite::Error::SqliteFailure(busy, None));
            }
            // A limited number of pages may leave more to copy; [`ALL`] does not.
            _ => return Ok(()),
        }
    }
}

/// Converts a database copy of any origin to a single file without a log, and returns what it contains. Returns `None`
/// if it is an intact database of some other program.
///
/// Fails if the file is not a database, is damaged, or was written by a newer version of this program. Nobody else may
/// have the file open.
pub fn examine(file: &Path) -> Result<Option<CopySummary>> {
    let examined = (|| {
        let conn = writable(file)?;
        conn.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))?;
        // A schema that is not ours is not run, not even to check it.
        if !has_required_tables(&conn)? {
            return Ok(Ok(None));
        }
        let schema: u32 = conn.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        if schema > SCHEMA_VERSION {
            return Ok(Err(StoreError::Newer { path: file.into(), found: schema }));
        }
        let sound: String = conn.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
        if sound != "ok" {
            return Ok(Err(StoreError::Damaged(file.into(), sound)));
        }
        let count = |table: &str| -> rusqlite::Result<u64> {
            conn.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, i64>(0))
                .map(super::time_from_sql)
        };
        Ok(Ok(Some(CopySummary {
            schema,
            memories: count("memories")?,
            sessions: count("session_history")?,
            projects: count("projects")?,
            bytes: std::fs::metadata(file).map_or(0, |meta| meta.len()),
        })))
    })();
    examined.map_err(|error| classify(file, error))?
}

/// Whether the database has the tables that every database of ours has.
pub(super) fn has_required_tables(conn: &Connection) -> rusqlite::Result<bool> {
    let mut has = conn.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1")?;
    for table in REQUIRED_TABLES {
        if !has.exists([table])? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Gives the copy the page size of our databases, so that it can replace one.
pub fn match_page_size(file: &Path) -> Result<()> {
    let converged = (|| {
        let conn = writable(file)?;
        let size: u32 = conn.query_row("PRAGMA page_size", [], |row| row.get(0))?;
        if size != PAGE {
            conn.execute_batch(&format!("PRAGMA page_size = {PAGE}; VACUUM"))?;
        }
        Ok(())
    })();
    converged.map_err(|error| classify(file, error))
}

/// Returns the files of a database: the database itself, its WAL, and the WAL's index.
pub fn database_files(database: &Path) -> [PathBuf; 3] {
    ["", "-wal", "-shm"].map(|end| {
        let mut file = database.as_os_str().to_owned();
        file.push(end);
        file.into()
    })
}
