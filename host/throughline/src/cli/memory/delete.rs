//! `throughline memory delete`: deletes memories by their identifiers.

use std::io::Write;

use serde::Serialize;

use super::selection;
use crate::cli::copies;
use crate::cli::error::CommandError;
use crate::cli::output::{self, DIM};
use throughline_engine::memory::deletion;
use throughline_engine::runtime::Runtime;
use throughline_model::contract::Memory;
use throughline_store::Store;

/// Delete memories for good
///
/// A deleted memory does not come back when its transcript is read again, and no free page of the database contains it.
/// Notes and summaries of its session may still mention it: `throughline memory forget --match` deletes those too. If
/// one of the identifiers is unknown, nothing is deleted.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Identifiers, or unique beginnings of them
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Print an object: deleted (id, type, title)
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Deleted {
    deleted: Vec<DeletedMemory>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct DeletedMemory {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    title: String,
}

impl From<Memory> for DeletedMemory {
    fn from(memory: Memory) -> Self {
        Self { id: memory.id, kind: memory.kind, title: memory.title }
    }
}

pub(super) fn run(runtime: &Runtime, mut store: Store, arguments: &Arguments) -> Result<(), CommandError> {
    let found = arguments.ids.iter().map(|id| selection::find(&store, id)).collect::<Result<Vec<_>, _>>()?;
    let memories = found.into_iter().map(|found| found.memory).collect();
    let deleted: Vec<DeletedMemory> =
        deletion::delete(runtime, &mut store, memories)?.into_iter().map(DeletedMemory::from).collect();
    copies::warn_of_copies(store.path())?;
    if arguments.json {
        return output::json(&Deleted { deleted });
    }
    let mut out = output::stdout();
    for memory in &deleted {
        writeln!(
            out,
            "deleted {DIM}{}{DIM:#} {}: {}",
            output::clean_line(&memory.id),
            output::clean_line(&memory.kind),
            output::clean_line(&memory.title)
        )?;
    }
    Ok(out.flush()?)
}
