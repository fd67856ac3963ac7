//! `throughline memory gc`.

use std::io::Write;

use serde::Serialize;

use super::{Failure, Runtime, Scope, Store, output};

/// A day, milliseconds.
const DAY: u64 = 24 * 60 * 60 * 1000;

/// Delete old memories that nobody looked at
///
/// What the human said (preferences, corrections), what holds for the project as a whole, and the weightiest memories of
/// each project stay, whatever their age. Unlike with `delete`, what is learned again comes back.
#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    scope: Scope,
    /// Count what would be deleted, and delete nothing
    #[arg(long)]
    dry_run: bool,
    /// Delete what is older than this; without it the configuration's `gc.max_age_days` holds
    #[arg(long, value_name = "N")]
    max_age_days: Option<u32>,
    /// Print an object: deleted, `dry_run`, `max_age_days`, keep
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Collected {
    /// With `dry_run`: what would have been.
    deleted: u64,
    dry_run: bool,
    max_age_days: u32,
    /// The weightiest memories of each project that stay.
    keep: u32,
}

pub(super) fn run(runtime: &Runtime, mut store: Store, arguments: &Arguments) -> Result<(), Failure> {
    let project = arguments.scope.project()?;
    let days = arguments.max_age_days.unwrap_or(runtime.config.gc.max_age_days);
    let keep = runtime.config.gc.keep;
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
        return output::json(&Collected { deleted, dry_run: arguments.dry_run, max_age_days: days, keep });
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
