//! `throughline observations gc`: promotes used observations and deletes expired ones.

use std::io::Write;

use serde::Serialize;

use crate::cli::environment;
use crate::cli::error::CommandError;
use crate::cli::output;
use throughline_engine::hooks::STORE_BUSY_TIMEOUT;
use throughline_store::{Access, RetentionOutcome};

/// Promote used observations and delete expired ones
///
/// This also happens in the background from time to time. Each use promotes an observation to a longer retention tier;
/// the last tier is permanent. `[observations]` in the configuration sets the times. All projects are processed.
/// Memories are not touched: see `throughline memory gc`.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Count what would be done and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print an object: raised, dropped, `dry_run`
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Aging {
    #[serde(flatten)]
    aged: RetentionOutcome,
    dry_run: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), CommandError> {
    let runtime = environment::runtime()?;
    let mut store = runtime.store(Access::Existing, STORE_BUSY_TIMEOUT * 4)?;
    let settings = &runtime.config.observations;
    let aged = store.promote_events(&settings.tiers, settings.days, runtime.now, !arguments.dry_run)?;
    if !arguments.dry_run {
        store.checkpoint()?;
    }
    if arguments.json {
        return output::json(&Aging { aged, dry_run: arguments.dry_run });
    }
    let mut out = output::stdout();
    writeln!(
        out,
        "{} {}, {} {}",
        if arguments.dry_run { "would promote" } else { "promoted" },
        output::counted(aged.raised, "observation", "observations"),
        if arguments.dry_run { "delete" } else { "deleted" },
        output::count(aged.dropped)
    )?;
    Ok(out.flush()?)
}
