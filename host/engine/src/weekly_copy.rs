//! An automatic copy of the database, for the day on which its pages are damaged. A background process makes it once a
//! week if the database has no faults, and replaces the one before. Nobody has to think of it, and it stays one file.
//!
//! It contains nothing that was forgotten: a deletion removes it, and the next background process makes another.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::Result;

use crate::backup;
use crate::runtime::Runtime;
use throughline_platform::disk;
use throughline_platform::files;
use throughline_platform::log::Level;
use throughline_store::Store;

/// How old a copy may become.
const MAX_AGE: Duration = Duration::from_hours(7 * 24);

/// The largest database that is copied, bytes. Checking a larger one takes longer than a background process has.
const MAX_BYTES: u64 = 2 << 30;

/// How many times the size of the database must be free on the disk.
const FREE_SPACE: u64 = 3;

/// How old the memory is before the first copy is made.
const MIN_AGE: Duration = Duration::from_hours(24);

/// Returns whether a copy should be made: there is none, or it is a week old.
pub fn is_due(runtime: &Runtime, store: &Store) -> bool {
    let min_age = u64::try_from(MIN_AGE.as_millis()).unwrap_or(u64::MAX);
    let is_young = store.first_seen().is_ok_and(|at| at.is_none_or(|at| at.saturating_add(min_age) > runtime.now));
    if !runtime.config.backup.weekly || is_young {
        return false;
    }
    let made = fs::metadata(runtime.paths.weekly_copy()).and_then(|meta| meta.modified()).ok();
    let is_fresh = |made: SystemTime| made.elapsed().is_ok_and(|age| age < MAX_AGE);
    !made.is_some_and(is_fresh)
}

/// Makes a copy if it is due and if the database has no faults.
pub fn make_if_due(runtime: &Runtime, store: &Store) -> Result<()> {
    if !is_due(runtime, store) {
        return Ok(());
    }
    let bytes = fs::metadata(store.path()).map_or(0, |meta| meta.len());
    let has_space = disk::free_bytes(&runtime.paths.data).is_ok_and(|free| free / FREE_SPACE > bytes);
    if bytes > MAX_BYTES || !has_space {
        return Ok(());
    }
    let faults = store.faults()?;
    if let Some(fault) = faults.first() {
        // An older copy may be better than none.
        runtime.log.record(
            Level::Error,
            "the database has errors; `throughline verify --repair` repairs them",
            fault.what.clone(),
        );
        return Ok(());
    }
    let copy = runtime.paths.weekly_copy();
    let _lock = lock(&copy)?;
    backup::create(store, &copy, true)?;
    Ok(())
}

/// Waits until no other process makes or removes the copy. Without this, a copy that is being made while something is
/// deleted could appear after the deletion, with what was deleted.
fn lock(copy: &Path) -> io::Result<File> {
    files::lock(&copy.with_extension("lock"))
}

/// Removes the copy beside this database, because something that it contains was deleted.
pub fn remove(copy: &Path) -> io::Result<()> {
    let _lock = lock(copy)?;
    match fs::remove_file(copy) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
