//! `throughline team sync`: sends what is to be shared, and fetches what is new.

use std::io::Write as _;

use crate::cli::error::CommandError;
use crate::cli::output::{self, DIM};
use throughline_engine::runtime::Runtime;
use throughline_engine::team::sync::{self, SyncReport};
use throughline_store::Store;

/// Send what is to be shared, and fetch what is new
///
/// Runs in the background after each session too. It can be interrupted at any moment, and goes on where it stopped.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Print an object: team, member, role, sent, refused, review, received, known, removed, waiting, unreadable, unopened, warnings
    #[arg(long)]
    json: bool,
}

pub(super) fn run(runtime: &Runtime, store: &mut Store, arguments: &Arguments) -> Result<(), CommandError> {
    let report = sync::run(runtime, store)?;
    if arguments.json {
        return output::json(&report);
    }
    for warning in &report.warnings {
        writeln!(anstream::stderr().lock(), "warning: {}", output::clean_line(warning))?;
    }
    print(&report)
}

fn print(report: &SyncReport) -> Result<(), CommandError> {
    let mut out = output::stdout();
    writeln!(
        out,
        "{}, {} received, {} removed {DIM}({} in team {}){DIM:#}",
        output::counted(report.sent, "record sent", "records sent"),
        output::count(report.received),
        output::count(report.removed),
        output::clean_line(&report.member),
        output::clean_line(&report.team),
    )?;
    for (number, what) in [
        (report.review, "wait for `throughline team review`"),
        (report.refused, "were refused by the server: `throughline team outbox --all`"),
        (report.waiting, "belong to projects that are not on this machine, or are muted"),
        (report.unreadable, "cannot be read by this version"),
        (report.unopened, "cannot be opened with this machine's team key, and were kept out"),
    ] {
        if number > 0 {
            writeln!(out, "{} {what}", output::count(number))?;
        }
    }
    Ok(out.flush()?)
}
