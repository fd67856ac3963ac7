//! `throughline memory gc`.

use std::io::Write;

use serde::Serialize;

use super::{Failure, Runtime, Scope, Store, output};
use throughline_engine::memory::{compressing, forgetting};
use throughline_model::project::Project;

/// A day, milliseconds.
const DAY: u64 = 24 * 60 * 60 * 1000;

/// Delete old memories that nobody looked at
///
/// What the human said (preferences, corrections), what holds for the project as a whole, and the weightiest memories of
/// each project stay, whatever their age, and so do digests and what they were made of. Unlike with `delete`, what is learned again
/// comes back.
///
/// With `--purge`, delete for good what digests were made of instead, where that was longer ago than the configuration's
/// `compress.purge_after_days`. The digests stay; `throughline memory decompress` cannot bring it back any more.
#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    scope: Scope,
    /// Count what would be deleted, and delete nothing
    #[arg(long)]
    dry_run: bool,
    /// Delete what is older than this; without it the configuration's `gc.max_age_days` holds
    #[arg(long, value_name = "N", conflicts_with = "purge")]
    max_age_days: Option<u32>,
    /// Delete what digests were made of, and nothing else
    #[arg(long)]
    purge: bool,
    /// Print an object: deleted, purged, `dry_run`, `max_age_days`, keep
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Collected {
    /// With `dry_run`: what would have been.
    deleted: u64,
    /// The same of what digests were made of.
    purged: u64,
    dry_run: bool,
    max_age_days: u32,
    /// The weightiest memories of each project that stay.
    keep: u32,
}

pub(super) fn run(runtime: &Runtime, mut store: Store, arguments: &Arguments) -> Result<(), Failure> {
    let project = arguments.scope.project()?;
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
        "{}{} older than {} that nobody looked at",
        if arguments.dry_run { "would delete " } else { "deleted " },
        output::counted(deleted, "memory", "memories"),
        output::counted(u64::from(days), "day", "days")
    )?;
    Ok(out.flush()?)
}

fn purge(runtime: &Runtime, mut store: Store, project: Option<&Project>, arguments: &Arguments) -> Result<(), Failure> {
    let purged = compressing::purge(runtime, &mut store, project, !arguments.dry_run)?;
    if !arguments.dry_run && purged > 0 {
        // The file gets smaller only by that.
        forgetting::erase(&store, "purged")?;
        super::warn_of_copies(store.path())?;
    }
    if arguments.json {
        let (max_age_days, keep) = (runtime.config.gc.max_age_days, runtime.config.gc.keep);
        return output::json(&Collected { deleted: 0, purged, dry_run: arguments.dry_run, max_age_days, keep });
    }
    let mut out = output::stdout();
    writeln!(
        out,
        "{}{} that digests were made of more than {} ago",
        if arguments.dry_run { "would delete the texts of " } else { "deleted the texts of " },
        output::counted(purged, "memory", "memories"),
        output::counted(u64::from(runtime.config.compress.purge_after_days), "day", "days")
    )?;
    Ok(out.flush()?)
}
