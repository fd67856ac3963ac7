//! `throughline memory wrong` and `right`: memories that are not true.

use std::io::Write;

use super::links;
use super::selection;
use crate::cli::error::CommandError;
use crate::cli::output;
use throughline_engine::memory::marking::{self, Change, MarkReport};
use throughline_engine::runtime::Runtime;
use throughline_store::Store;

/// Mark a memory wrong: it is no longer told, and no search finds it
///
/// The memory stays and keeps the mark, so reading its transcript again does not bring it back. You still see it with `memory
/// show`, and in searches and lists with `--wrong`. A memory that this one had replaced holds again. A copy that all projects
/// share gets the same mark. Summaries of its session may still mention it. `throughline memory right` undoes the mark.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The identifier of the memory, or a unique beginning of it
    id: String,
    /// Why it is wrong; kept with the memory
    #[arg(long, value_name = "TEXT")]
    because: Option<String>,
    /// Show what would change and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print an object: marked, wrong, changed, because, `holds_again`, superseded, `dry_run`
    #[arg(long)]
    json: bool,
}

/// Take back that a memory is wrong
///
/// It is told and found again, and takes the place of what it had taken the place of.
#[derive(clap::Args)]
pub(super) struct RightArguments {
    /// The identifier of the memory, or a unique beginning of it
    id: String,
    /// Show what would change and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print an object: marked, wrong, changed, `holds_again`, superseded, `dry_run`
    #[arg(long)]
    json: bool,
}

pub(super) fn wrong(runtime: &Runtime, mut store: Store, arguments: &Arguments) -> Result<(), CommandError> {
    let found = selection::find(&store, &arguments.id)?;
    let change = change(arguments.dry_run);
    let report = marking::mark_wrong(runtime, &mut store, &found, arguments.because.as_deref(), change)?;
    print(&report, arguments.json)
}

pub(super) fn right(runtime: &Runtime, mut store: Store, arguments: &RightArguments) -> Result<(), CommandError> {
    let found = selection::find(&store, &arguments.id)?;
    let report = marking::mark_right(runtime, &mut store, &found, change(arguments.dry_run))?;
    print(&report, arguments.json)
}

/// Returns whether something is changed.
pub(super) fn change(dry_run: bool) -> Change {
    if dry_run { Change::Preview } else { Change::Real }
}

fn print(report: &MarkReport, json: bool) -> Result<(), CommandError> {
    if json {
        return output::json(report);
    }
    let mut out = output::stdout();
    let verb = match (report.dry_run, report.wrong) {
        _ if !report.changed && report.wrong => "wrong already",
        _ if !report.changed => "not wrong",
        (false, true) => "wrong",
        (false, false) => "no longer wrong",
        (true, true) => "would be wrong",
        (true, false) => "would no longer be wrong",
    };
    for it in &report.marked {
        writeln!(out, "{verb}: {}", links::named(it))?;
    }
    for (list, is, would) in [
        (&report.holds_again, "holds again", "would hold again"),
        (&report.superseded, "its place is taken again", "its place would be taken again"),
    ] {
        for it in list {
            writeln!(out, "{}: {}", if report.dry_run { would } else { is }, links::named(it))?;
        }
    }
    Ok(out.flush()?)
}
