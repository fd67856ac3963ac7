//! Whole copies of the database: made while others write, examined, and put back in one transaction.
//!
//! All of it goes through SQLite's backup interface, page by page. A copy of files would be torn by whoever writes meanwhile; a
//! file that is renamed into the place of another one would leave those who have the old one open with it, and its log with the
//! new one.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::{PATIENCE, Result, SCHEMA_VERSION, Store, StoreError, classify, open_read_only};

/// All pages in one step: whoever writes meanwhile cannot make it begin again.
const ALL: std::ffi::c_int = -1;

/// How often the database may be written to between the copy of it and its replacement before that is given up.
const ATTEMPTS: u32 = 20;

/// SQLite's own size of a page, which all our databases have, bytes.
const PAGE: u32 = 4096;

/// The tables without which a database is none of ours; each was there from the first schema on.
const OURS: [&str; 5] = ["memories", "meta", "projects", "sightings", "transcripts"];

/// What a copy holds.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Content {
    /// Its schema.
    pub schema: u32,
    /// Memories.
    pub memories: u64,
    /// Sessions.
    pub sessions: u64,
    /// Projects.
    pub projects: u64,
    /// Its size, bytes.
    pub bytes: u64,
}

impl Store {
    /// Copies the database, as it is at one moment, into a new file that only the user may read, and examines the copy. It is
    /// one file, without a log beside it, and on the disk when this returns. Where it fails there is no such file.
    pub fn copy_to(&self, file: &Path) -> Result<Content> {
        let copied = self.copy_pages(file).and_then(|()| {
            examine(file)?
                .ok_or_else(|| StoreError::Damaged(file.into(), "the copy holds other tables than were copied".into()))
        });
        if copied.is_err() {
            let _ = std::fs::remove_file(file);
        }
        copied
    }

    fn copy_pages(&self, file: &Path) -> Result<()> {
        copy_pages(&self.conn, &self.path, file)
    }

    /// Puts what `other` holds in the place of everything that this database holds, in one transaction: a kill at any moment
    /// leaves the one or the other, other processes go on with the old one until their present statement ends, and their
    /// next writing meets the new one. Before that all is copied to a file beside it, which `keep` gives its lasting name, and
    /// nothing can come between the copy and the replacement.
    pub fn replace_with(&mut self, other: &Path, copy: &Path, keep: impl FnOnce() -> std::io::Result<()>) -> Result<()> {
        let path = self.path.clone();
        let from = open_read_only(other).map_err(|error| classify(other, error))?;
        let watch = Self::open(&path, super::Access::Existing, PATIENCE.get().0)?;
        // What is cached of the old one must not be in use.
        self.conn.flush_prepared_statement_cache();
        for _ in 0..ATTEMPTS {
            // It changes whenever another connection than this one has written.
            let version = watch.data_version()?;
            watch.copy_pages(copy)?;
            let backup = Backup::new(&from, &mut self.conn).map_err(|error| classify(&path, error))?;
            // From the first page on nobody else can write.
            step(&backup, 1).map_err(|error| classify(&path, error))?;
            if watch.data_version()? != version {
                drop(backup);
                std::fs::remove_file(copy).map_err(|error| StoreError::ReadOnly(copy.into(), error.to_string()))?;
                continue;
            }
            keep().map_err(|error| StoreError::ReadOnly(copy.into(), error.to_string()))?;
            step(&backup, ALL).map_err(|error| classify(&path, error))?;
            drop(backup);
            // Only bookkeeping; somebody may be reading.
            let _ = self.checkpoint();
            return Ok(());
        }
        let _ = std::fs::remove_file(copy);
        Err(StoreError::Locked(path))
    }

    fn data_version(&self) -> Result<i64> {
        self.explain(self.conn.query_row("PRAGMA data_version", [], |row| row.get(0)))
    }

    /// How many of the memories that `other` holds were deleted here for good, and which those are.
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

    /// Notes here too what was deleted there for good.
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

/// Copies the pages as they are at one moment, whatever they hold.
pub(super) fn copy_pages(from: &Connection, path: &Path, file: &Path) -> Result<()> {
    let cannot = |error: std::io::Error| StoreError::ReadOnly(file.into(), error.to_string());
    // Made here and not by SQLite, so that there is no moment in which others could read it.
    drop(File::options().write(true).create_new(true).mode(0o600).open(file).map_err(cannot)?);
    let copied = (|| {
        let mut to = writable(file)?;
        // Nobody else knows the file, and until it is complete it is worth nothing.
        to.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")?;
        let backup = Backup::new(from, &mut to)?;
        step(&backup, ALL)
    })();
    copied.map_err(|error| match classify(file, error) {
        // Of the two files, the one that is read is the one that others can hold or that can be damaged.
        StoreError::Damaged(_, why) => StoreError::Damaged(path.into(), why),
        StoreError::Locked(_) => StoreError::Locked(path.into()),
        other => other,
    })?;
    File::open(file).and_then(|file| file.sync_all()).map_err(cannot)
}

fn writable(file: &Path) -> rusqlite::Result<Connection> {
    Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
}

/// Copies so many more pages, waiting for others as long as the thread's connections do.
fn step(backup: &Backup<'_, '_>, pages: std::ffi::c_int) -> rusqlite::Result<()> {
    let until = Instant::now() + PATIENCE.get().0;
    loop {
        match backup.step(pages)? {
            StepResult::Busy | StepResult::Locked if Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(1));
            }
            StepResult::Busy | StepResult::Locked => {
                let busy = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
                return Err(rusqlite::Error::SqliteFailure(busy, None));
            }
            // With a number of pages there may be more to come, without one there is not.
            _ => return Ok(()),
        }
    }
}

/// Makes a copy of a database, wherever it is from, one file without a log, and says what it holds. None: it is a sound
/// database of something else.
///
/// Fails where it is none, a damaged one, or of a newer version of this program. Nobody else may have it open.
pub fn examine(file: &Path) -> Result<Option<Content>> {
    let examined = (|| {
        let conn = writable(file)?;
        conn.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))?;
        let sound: String = conn.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
        if sound != "ok" {
            return Ok(Err(StoreError::Damaged(file.into(), sound)));
        }
        let mut has = conn.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1")?;
        for table in OURS {
            if !has.exists([table])? {
                return Ok(Ok(None));
            }
        }
        let schema: u32 = conn.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        if schema > SCHEMA_VERSION {
            return Ok(Err(StoreError::Newer { path: file.into(), found: schema }));
        }
        let count = |table: &str| -> rusqlite::Result<u64> {
            conn.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, i64>(0)).map(super::untime)
        };
        Ok(Ok(Some(Content {
            schema,
            memories: count("memories")?,
            sessions: count("session_history")?,
            projects: count("projects")?,
            bytes: std::fs::metadata(file).map_or(0, |meta| meta.len()),
        })))
    })();
    examined.map_err(|error| classify(file, error))?
}

/// Makes the copy fit to be put in the place of a database of ours: its pages have the same size.
pub fn converge(file: &Path) -> Result<()> {
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

/// The files that belong to a database: itself, its log, and the log's index.
pub fn files_of(database: &Path) -> [PathBuf; 3] {
    ["", "-wal", "-shm"].map(|end| {
        let mut file = database.as_os_str().to_owned();
        file.push(end);
        file.into()
    })
}
