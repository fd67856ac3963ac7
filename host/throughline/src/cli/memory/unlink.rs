//! `throughline memory unlink`: undoes the links between a memory and those whose place it took, or that took its place.

use std::io::Write;

use serde::Serialize;

use super::links::{self, MemoryLink};
use super::selection;
use crate::cli::error::CommandError;
use crate::cli::output;
use throughline_engine::runtime::Runtime;
use throughline_store::Store;

/// Undo the links of a memory to earlier and later ones
///
/// A later memory that amends, reverses, refutes or completes an earlier one takes its place: the earlier one is no longer
/// told, and stands below the later one in searches. `throughline memory show` says which links a memory has and why. A
/// link that was undone is not made again.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The identifier of the memory, or a unique beginning of it
    id: String,
    /// Print an object: id, unlinked
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Unlinked {
    id: String,
    /// The links that were in force.
    unlinked: Vec<MemoryLink>,
}

pub(super) fn run(runtime: &Runtime, mut store: Store, arguments: &Arguments) -> Result<(), CommandError> {
    let found = selection::find(&store, &arguments.id)?;
    let id = found.memory.id;
    let undone = store.unlink(&id, runtime.now)?;
    let links = links::describe(&store, &id, undone)?;
    if arguments.json {
        return output::json(&Unlinked { id, unlinked: links });
    }
    let mut out = output::stdout();
    if links.is_empty() {
        writeln!(out, "{id} has no links")?;
    }
    for line in links::lines(&links) {
        writeln!(out, "no longer: {line}")?;
    }
    Ok(out.flush()?)
}
