//! `throughline gc`: observations grow old.

use std::io::Write;

use serde::Serialize;

use super::failure::{Done, Failure};
use super::output;
use throughline_engine::hooks::PATIENCE;
use throughline_store::{Access, Aged};

/// Let observations rise that proved themselves, and delete those whose time is up
///
/// That is done in the background now and then anyway. What is looked at rises, and is kept longer the higher it has come; the
/// configuration's section `[observations]` says when. It is about all projects; memories stay: see `throughline memory gc`.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Count what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Print an object: raised, dropped, `dry_run`
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Report {
    #[serde(flatten)]
    aged: Aged,
    dry_run: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<Done, Failure> {
    let runtime = super::runtime()?;
    let mut store = runtime.store(Access::Existing, PATIENCE * 4)?;
    let settings = &runtime.config.observations;
    let aged = store.graduate(&settings.ladder, settings.days, runtime.now, !arguments.dry_run)?;
    if !arguments.dry_run {
        store.checkpoint()?;
    }
    if arguments.json {
        output::json(&Report { aged, dry_run: arguments.dry_run })?;
        return Ok(Done::Well);
    }
    let mut out = output::stdout();
    writeln!(
        out,
        "{} {}, {} {}",
        if arguments.dry_run { "would raise" } else { "raised" },
        output::counted(aged.raised, "observation", "observations"),
        if arguments.dry_run { "delete" } else { "deleted" },
        output::count(aged.dropped)
    )?;
    out.flush()?;
    Ok(Done::Well)
}
