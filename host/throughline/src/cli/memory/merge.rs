//! `throughline memory merge`: makes one memory of several.

use std::io::Write;

use super::links;
use super::selection;
use super::wrong::change;
use crate::cli::error::CommandError;
use crate::cli::output::{self, BOLD, DIM};
use throughline_engine::memory::marking;
use throughline_engine::runtime::Runtime;
use throughline_store::Store;

/// Make one memory of several that say the same
///
/// The new memory takes their place: they stay, are no longer told, and stand below it in searches. It has the type of the
/// first one, and the keywords and files of all. Without `--into`, its text and its title are the texts of all; if they are too
/// long for a title, `--into` is needed, because the start of a session may tell the title alone. What the title does not
/// contain is listed. `throughline memory unlink` with its identifier undoes the links, so that the
/// others hold again; `throughline memory delete` removes it and does the same.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Identifiers, or unique beginnings of them; at least two
    #[arg(value_name = "ID", required = true, num_args = 2..)]
    ids: Vec<String>,
    /// The text of the new memory; by default the texts of all, oldest first
    #[arg(long, value_name = "TEXT")]
    into: Option<String>,
    /// Its title; by default the first line of TEXT, or the texts of all
    #[arg(long)]
    title: Option<String>,
    /// Show what would become of them and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print an object: id, type, title, content, untold, sources, `dry_run`
    #[arg(long)]
    json: bool,
}

pub(super) fn run(runtime: &Runtime, mut store: Store, arguments: &Arguments) -> Result<(), CommandError> {
    let found = arguments.ids.iter().map(|id| selection::find(&store, id)).collect::<Result<Vec<_>, _>>()?;
    let (into, title) = (arguments.into.as_deref(), arguments.title.as_deref());
    let report = marking::merge(runtime, &mut store, &found, into, title, change(arguments.dry_run))?;
    runtime.finish();
    if arguments.json {
        return output::json(&report);
    }
    let mut out = output::stdout();
    let verb = if report.dry_run { "would be merged" } else { "merged" };
    for source in &report.sources {
        writeln!(out, "{verb}: {}", links::named(source))?;
    }
    let id = report.id.unwrap_or_default();
    writeln!(out, "into {}: {BOLD}{}{BOLD:#} {DIM}{id}{DIM:#}", report.kind, output::clean_line(&report.title))?;
    if report.dry_run {
        for line in output::wrap(&output::clean(&report.content), 0) {
            writeln!(out, "    {line}")?;
        }
    }
    let untold = if report.dry_run { "would not be in the title" } else { "not in the title" };
    for text in &report.untold {
        writeln!(out, "{untold}, which is all that a session's start may tell: {}", output::clean_line(text))?;
    }
    Ok(out.flush()?)
}
