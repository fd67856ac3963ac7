//! Backup and restore: writes the whole memory to one file while sessions go on, and restores it. Nothing is
//! overwritten or lost, and a kill at any moment leaves either the old database or the new one.
//!
//! A backup is restored *through* the database, in a single transaction (`store/copy.rs`), because hooks may have the
//! database open: they read the old content or the new one, as with any other write. The file itself is replaced only
//! if the database is so damaged that SQLite cannot open it; a process that has the damaged file open keeps using the
//! file that was moved aside.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use crate::runtime::{Runtime, format_timestamp};
use throughline_platform::open::FileOptions as _;
use throughline_platform::paths::{self, Paths};
use throughline_platform::{files, metadata};
use throughline_store::{self as store, Access, CopySummary, Store, StoreError};

/// The first bytes of a SQLite database.
const HEADER: &[u8] = b"SQLite format 3\0";

/// How long to wait for other writers. It is long because a person is waiting for the result.
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// The reason a file cannot be restored as a backup.
#[derive(Debug)]
pub enum BackupError {
    /// The file cannot be read at all.
    Unreadable(io::Error),
    /// The file is empty.
    Empty,
    /// The file is not a SQLite database.
    NotADatabase,
    /// The file is the database of another program.
    OtherProgram,
    /// The file has objects that no database of this program has, or lacks some; says which.
    OtherSchema(String),
    /// There is a log beside the file: the database is in use, or was copied as a plain file.
    HasWal(PathBuf),
    /// The file is the current database itself.
    IsCurrentDatabase,
    /// The file was written by a newer version of this program, with this schema version.
    Newer(u32),
    /// The database is damaged; SQLite's message says how.
    Damaged(String),
}

impl fmt::Display for BackupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(error) => write!(f, "it cannot be read: {error}"),
            Self::Empty => f.write_str("it is empty"),
            Self::NotADatabase => f.write_str("it is not a database"),
            Self::OtherProgram => f.write_str("it is a database of another program"),
            Self::OtherSchema(what) => write!(f, "its schema is not that of this program: {what}"),
            Self::HasWal(log) => write!(f, "there is a non-empty log beside it: {}", log.display()),
            Self::IsCurrentDatabase => f.write_str("it is the database itself"),
            Self::Newer(found) => {
                write!(f, "it was written by a newer version (schema {found}, this program knows {})", store::SCHEMA_VERSION)
            }
            Self::Damaged(why) => write!(f, "it is damaged: {why}"),
        }
    }
}

impl std::error::Error for BackupError {}

impl BackupError {
    /// Returns what a person can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable(_) => "give a file that `throughline backup` made, and check its owner and mode",
            Self::HasWal(_) => "make a backup of it with `throughline backup`, and restore that",
            Self::Newer(_) => "upgrade this program",
            _ => "nothing was changed; give a file that `throughline backup` made",
        }
    }
}

/// Backs up the store to `file`. The backup is verified, synced to disk, and readable by this user only. An existing
/// file is kept unless `overwrite` is set; the database and its log can never be overwritten.
pub fn create(store: &Store, file: &Path, overwrite: bool) -> Result<CopySummary> {
    check_target(store.path(), file)?;
    match fs::symlink_metadata(file) {
        Ok(meta) if meta.is_dir() => bail!("{} is a folder", file.display()),
        Ok(_) if !overwrite => bail!("{} already exists", file.display()),
        _ => {}
    }
    let cannot = || format!("{} cannot be written", file.display());
    let unfinished = files::temporary_beside(file).with_context(cannot)?.into_temp_path();
    let content = store.copy_to(&unfinished)?;
    files::persist(unfinished, file, overwrite).with_context(cannot)?;
    Ok(content)
}

/// Returns whether two paths lead to the same file.
fn is_same(a: &Path, b: &Path) -> bool {
    metadata::path_id(a).is_ok_and(|found| metadata::path_id(b).is_ok_and(|id| id == found))
}

fn check_target(database: &Path, file: &Path) -> Result<()> {
    let whole = |path: &Path| {
        let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
        folder.zip(path.file_name().map(ToOwned::to_owned))
    };
    for own in store::database_files(database) {
        if is_same(&own, file) || whole(&own).is_some_and(|own| whole(file) == Some(own)) {
            bail!("{} is part of the database itself", file.display());
        }
    }
    Ok(())
}

/// A lock that excludes other restores and repairs while it lives.
pub struct ExclusiveLock(#[expect(dead_code, reason = "its lock is what counts")] File);

/// Takes the lock for changing the whole database, or fails if another process holds it.
pub fn lock_exclusively(paths: &Paths) -> Result<ExclusiveLock> {
    paths::create_private(&paths.data).with_context(|| format!("{} cannot be created", paths.data.display()))?;
    let file = paths.data.join("restore.lock");
    let lock = files::try_lock(&file).with_context(|| format!("{} cannot be opened", file.display()))?;
    lock.map(ExclusiveLock).context("another process is restoring or repairing the database")
}

/// A verified backup, copied beside the database and upgraded to this version's schema, but not yet restored.
pub struct StagedBackup {
    file: PathBuf,
    /// The content of the backup before its schema was upgraded.
    pub content: CopySummary,
    _lock: ExclusiveLock,
}

impl Drop for StagedBackup {
    fn drop(&mut self) {
        for file in store::database_files(&self.file) {
            let _ = fs::remove_file(file);
        }
    }
}

/// Verifies a backup and prepares to restore it. The backup file is only read.
pub fn stage(paths: &Paths, backup: &Path) -> Result<StagedBackup> {
    let mut from = File::open(backup).map_err(BackupError::Unreadable)?;
    let meta = from.metadata().map_err(BackupError::Unreadable)?;
    if !meta.is_file() {
        return Err(BackupError::NotADatabase.into());
    }
    if meta.len() == 0 {
        return Err(BackupError::Empty.into());
    }
    if is_same(&paths.database(), backup) {
        return Err(BackupError::IsCurrentDatabase.into());
    }
    let mut header = Vec::new();
    (&mut from).take(HEADER.len() as u64).read_to_end(&mut header).map_err(BackupError::Unreadable)?;
    if header != HEADER {
        return Err(BackupError::NotADatabase.into());
    }
    for end in ["-wal", "-journal"] {
        let mut log = backup.as_os_str().to_owned();
        log.push(end);
        let log = PathBuf::from(log);
        if fs::metadata(&log).is_ok_and(|meta| meta.len() > 0) {
            return Err(BackupError::HasWal(log).into());
        }
    }
    let turn = lock_exclusively(paths)?;
    // The name is fixed, so that the next run removes what a killed one left behind.
    let file = paths.data.join(".restore.db");
    for left in store::database_files(&file) {
        match fs::remove_file(&left) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("{} cannot be removed", left.display()));
            }
            _ => {}
        }
    }
    let empty = CopySummary { schema: 0, memories: 0, sessions: 0, projects: 0, bytes: 0 };
    let mut staged = StagedBackup { file, content: empty, _lock: turn };
    let file = &staged.file;
    File::options()
        .write(true)
        .create_new(true)
        .private()
        .open(file)
        .and_then(|mut to| {
            io::copy(&mut File::open(backup)?, &mut to)?;
            to.sync_all()
        })
        .with_context(|| format!("the backup cannot be copied to {}", file.display()))?;
    // A schema is a program. It is compared before anything of the file is run.
    match store::find_schema_difference(file) {
        Ok(None) => {}
        Ok(Some(what)) => return Err(BackupError::OtherSchema(what).into()),
        Err(StoreError::Damaged(_, why)) => return Err(BackupError::Damaged(why).into()),
        Err(error) => return Err(error.into()),
    }
    let content = match store::examine(file) {
        Ok(Some(content)) => content,
        Ok(None) => return Err(BackupError::OtherProgram.into()),
        Err(StoreError::Newer { found, .. }) => return Err(BackupError::Newer(found).into()),
        Err(StoreError::Damaged(_, why)) => return Err(BackupError::Damaged(why).into()),
        Err(error) => return Err(error.into()),
    };
    store::match_page_size(file)?;
    Store::open(file, Access::Existing, BUSY_TIMEOUT)?.check_subjects_once()?;
    staged.content = content;
    Ok(staged)
}

/// The result of a restore.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestoreResult {
    /// Where the previous database was saved; `None` if there was none.
    pub kept: Option<PathBuf>,
    /// Memories in the backup that were permanently deleted since, and stay deleted.
    pub still_deleted: u64,
}

/// The prefix of files that hold an earlier database.
const BEFORE: &str = "throughline-before-";

/// Returns a file name beside the database that says what happened and when.
pub fn previous_database_path(paths: &Paths, event: &str, now: u64) -> PathBuf {
    let moment = format_timestamp(now).replace(':', "-");
    paths.data.join(format!("{BEFORE}{event}-{moment}.db"))
}

/// Returns the files beside the database that hold its content before a restore or a repair.
pub fn previous_databases(database: &Path) -> Vec<PathBuf> {
    let entries = database.parent().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let is_kept = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with(BEFORE)) && path.extension().is_some_and(|end| end == "db")
    };
    let mut kept: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_kept).collect();
    kept.sort();
    kept
}

/// Replaces the database's content with the backup. What was permanently deleted after the backup was made stays
/// deleted, unless `with_deleted` is set.
pub fn restore(runtime: &Runtime, staged: &StagedBackup, with_deleted: bool) -> Result<RestoreResult> {
    let database = runtime.paths.database();
    let kept = previous_database_path(&runtime.paths, "restore", runtime.now);
    let is_first = !database.exists();
    let mut store = match runtime.store(Access::Write, BUSY_TIMEOUT) {
        Ok(store) => store,
        Err(StoreError::Damaged(..)) => {
            replace_unreadable(&database, &staged.file, &kept)?;
            return Ok(RestoreResult { kept: Some(kept), still_deleted: 0 });
        }
        Err(error) => return Err(error.into()),
    };
    let still_deleted = if with_deleted { 0 } else { remove_deleted(&store, &staged.file, runtime.now)? };
    let unfinished = files::temporary_beside(&kept)?.into_temp_path();
    let copy = unfinished.to_path_buf();
    store.replace_with(&staged.file, &copy, || {
        if is_first { unfinished.close() } else { files::persist(unfinished, &kept, false) }
    })?;
    Ok(RestoreResult { kept: (!is_first).then_some(kept), still_deleted })
}

fn remove_deleted(present: &Store, staged: &Path, now: u64) -> Result<u64> {
    let mut staged = Store::open(staged, Access::Existing, BUSY_TIMEOUT)?;
    staged.check_subjects_once()?;
    let gone = present.deleted_of(&staged)?;
    for id in &gone {
        staged.delete_memory(id, now)?;
    }
    staged.adopt_tombstones(present)?;
    if !gone.is_empty() {
        staged.erase()?;
    }
    Ok(gone.len() as u64)
}

/// Moves a database that SQLite cannot open aside, together with its log, and the backup into its place.
pub(crate) fn replace_unreadable(database: &Path, staged: &Path, kept: &Path) -> Result<()> {
    let cannot = || format!("{} cannot be moved to {}", database.display(), kept.display());
    let (own, aside) = (store::database_files(database), store::database_files(kept));
    // The log goes first: beside another database, SQLite would take it for that database's log.
    for (from, to) in own.iter().zip(&aside).skip(1) {
        if from.exists() {
            fs::rename(from, to).with_context(cannot)?;
        }
    }
    // From here to the rename both names lead to the old file; there is no moment without a database.
    if fs::hard_link(database, kept).is_err() {
        fs::copy(database, kept).with_context(cannot)?;
    }
    fs::rename(staged, database).with_context(cannot)?;
    files::sync_folder(database).with_context(cannot)
}
