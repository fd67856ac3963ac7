//! Undoes a deletion: brings back what its file keeps.

use anyhow::Result;

use super::deletion;
use super::kept::{self, DeletionNote};
use crate::runtime::Runtime;
use throughline_privacy::intervals::Intervals;
use throughline_store::{BroughtBack, Kept, Store};

/// Brings back what a file keeps, and deletes the file.
pub fn bring_back(runtime: &Runtime, store: &mut Store, kept: &Kept) -> Result<BroughtBack> {
    let back = store.bring_back(&kept.path)?;
    if let Some(interval) = DeletionNote::of(kept).interval {
        Intervals::update(&runtime.paths.intervals(), |all| all.retain(|it| *it != interval))?;
    }
    // Until here a kill leaves the file, and the command can be run again.
    kept::remove(&kept.path)?;
    deletion::rewrite_projections(runtime, store, &store.all_projects()?)?;
    Ok(back)
}
