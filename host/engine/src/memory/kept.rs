//! What was deleted within the last day: the files that keep it, and deleting them.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use crate::runtime::Runtime;
use throughline_privacy::intervals::Interval;
use throughline_store::{Kept, kept_in};

/// How long what was deleted can be brought back.
pub const KEPT_FOR: Duration = Duration::from_hours(24);

/// The description of a deletion in its file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct DeletionNote {
    /// What was asked for, for people.
    pub what: String,
    /// The time of which nothing is read any more since the deletion.
    pub interval: Option<Interval>,
}

impl DeletionNote {
    /// Returns the note that a file has.
    pub fn of(kept: &Kept) -> Self {
        serde_json::from_str(&kept.note).unwrap_or_default()
    }
}

/// Returns until when something deleted at `at` can be brought back, milliseconds since the Unix epoch.
pub fn kept_until(at: u64) -> u64 {
    at.saturating_add(u64::try_from(KEPT_FOR.as_millis()).unwrap_or(u64::MAX))
}

/// Returns what can be brought back, the latest first.
pub fn all(runtime: &Runtime) -> Vec<Kept> {
    let mut all = kept_in(&runtime.paths.forgotten());
    all.retain(|kept| kept_until(kept.at) > runtime.now);
    all
}

/// Returns whether a file is older than a day.
pub fn has_expired(runtime: &Runtime) -> bool {
    files(runtime).any(|(_, at)| kept_until(at) <= runtime.now)
}

/// Deletes the files that are older than a day.
pub fn delete_expired(runtime: &Runtime) -> Result<()> {
    files(runtime).filter(|(_, at)| kept_until(*at) <= runtime.now).try_for_each(|(path, _)| remove(&path))
}

/// Deletes the file of one deletion.
pub fn delete(kept: &Kept) -> Result<()> {
    remove(&kept.path)
}

/// Deletes all files. Returns how many there were.
pub fn delete_all(runtime: &Runtime) -> Result<usize> {
    let all: Vec<_> = files(runtime).collect();
    all.iter().try_for_each(|(path, _)| remove(path))?;
    Ok(all.len())
}

/// Returns the files with their times, which are their names. A file with another name, such as a torn one, counts as
/// old.
fn files(runtime: &Runtime) -> impl Iterator<Item = (std::path::PathBuf, u64)> {
    let entries = std::fs::read_dir(runtime.paths.forgotten()).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).map(|path| {
        let at = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse().ok());
        (path, at.unwrap_or(0))
    })
}

/// Deletes a file, which may be gone already.
pub(super) fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("{} cannot be deleted", path.display()))
        }
        _ => Ok(()),
    }
}
