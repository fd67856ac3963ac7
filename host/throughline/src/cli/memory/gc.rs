//! `throughline memory gc`: deletes old memories that were not used.

use std::io::Write;

use serde::Serialize;

use crate::cli::copies;
use crate::cli::error::CommandError;
use crate::cli::output;
use crate::cli::scope::Scope;
use throughline_engine::memory::{compression, deletion};
use throughline_engine::runtime::Runtime;
use throughline_model::project::Project;
use throughline_store::Store;

/// A day, milliseconds.
const DAY: u64 = 24 * 60 * 60 * 1000;

/// Delete old unused memories
///
/// These stay, whatever their age: what the user said (preferences, corrections), what applies to the project as a
/// whole, the most important memories of each project, digests, and the memories folded into them. Unlike with
/// `delete`, a memory that is learned again comes back.
///
/// With `--purge`, deletes the texts of folded memories instead, if they were folded more than
/// `compress.purge_after_days` ago. The digests stay, but `throughline memory decompress` can no longer restore their
/// memories.
#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    scope: Scope,
    /// Count what would be deleted and delete nothing
    #[arg(long)]
    dry_run: bool,
    /// Delete memories older than this; by default `gc.max_age_days` of the configuration
    #[arg(long, value_name = "N", conflicts_with = "purge")]
    max_age_days: Option<u32>,
    /// Only delete the texts of folded memories
    #[arg(long)]
    purge: bool,
    /// Print an object: deleted, purged, `dry_run`, `max_age_days`, keep
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Collected {
    /// With `dry_run`, what would have been deleted.
    deleted: u64,
    /// Folded memories whose texts were deleted; with `dry_run`, would have been.
    purged: u64,
    dry_run: bool,
    max_age_days: u32,
    /// How many of the most important memories of each project stay.
    keep: u32,
}

pub(super) fn run(runtime: &Runtime, mut store: Store, arguments: &Arguments) -> Result<(), CommandError> {
    let project = arguments.scope.project(runtime)?;
    let days = arguments.max_age_days.unwrap_or(runtime.config.gc.max_age_days);
    let keep = runtime.config.gc.keep;
    if arguments.purge {
        return purge(runtime, store, project.as_ref(), arguments);
    }
    let deleted = store.collect_garbage(
        runtime.now.saturating_sub(u64::from(days) * DAY),
        keep,
        project.as_ref().map(|project| project.id.as_str()),
        !arguments.dry_run,
    )?;
    if !arguments.dry_run {
        store.checkpoint()?;
    }
    if arguments.json {
        return output::json(&Collected { deleted, purged: 0, dry_run: arguments.dry_run, max_age_days: days, keep });
    }
    let mut out = output::stdout();
    writeln!(
        out,
        "{}{} older than {} and not used",
        if arguments.dry_run { "would delete " } else { "deleted " },
        output::counted(deleted, "memory", "memories"),
        output::counted(u64::from(days), "day", "days")
    )?;
    Ok(out.flush()?)
}

fn purge(runtime: &Runtime, mut store: Store, project: Option<&Project>, arguments: &Arguments) -> Result<(), CommandError> {
    let purged = compression::purge(runtime, &mut store, project, !arguments.dry_run)?;
    if !arguments.dry_run && purged > 0 {
        // Only this makes the file smaller.
        deletion::clear_free_space(&store, "purged")?;
        copies::warn_of_copies(store.path())?;
    }
    if arguments.json {
        let (max_age_days, keep) = (runtime.config.gc.max_age_days, runtime.config.gc.keep);
        return output::json(&Collected { deleted: 0, purged, dry_run: arguments.dry_run, max_age_days, keep });
    }
    let mut out = output::stdout();
    writeln!(
        out,
        "{}{} folded more than {} ago",
        if arguments.dry_run { "would delete the texts of " } else { "deleted the texts of " },
        output::counted(purged, "memory", "memories"),
        output::counted(u64::from(runtime.config.compress.purge_after_days), "day", "days")
    )?;
    Ok(out.flush()?)
}
