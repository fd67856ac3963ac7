//! `throughline memory delete`.

use std::io::Write;

use serde::Serialize;

use super::output::{self, DIM};
use super::{Failure, Runtime, Store};
use throughline_engine::memory::forgetting;
use throughline_model::contract::Memory;

/// Delete memories for good
///
/// The same content does not come back when its transcript is read again, and no free page of the database holds it. Notes and
/// summaries of its session may still say it in other words: `memory forget --match` takes those too. All identifiers are looked up before the first
/// memory is deleted.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Identifiers, or beginnings of them that no other has
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Print what was deleted as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Deleted {
    deleted: Vec<Gone>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Gone {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    title: String,
}

impl From<Memory> for Gone {
    fn from(memory: Memory) -> Self {
        Self { id: memory.id, kind: memory.kind, title: memory.title }
    }
}

pub(super) fn run(runtime: &Runtime, mut store: Store, arguments: &Arguments) -> Result<(), Failure> {
    let found = arguments.ids.iter().map(|id| super::find(&store, id)).collect::<Result<Vec<_>, _>>()?;
    let memories = found.into_iter().map(|found| found.memory).collect();
    let deleted: Vec<Gone> = forgetting::delete(runtime, &mut store, memories)?.into_iter().map(Gone::from).collect();
    super::warn_of_copies(store.path())?;
    if arguments.json {
        return output::json(&Deleted { deleted });
    }
    let mut out = output::stdout();
    for gone in &deleted {
        writeln!(
            out,
            "deleted {DIM}{}{DIM:#} {}: {}",
            output::clean_line(&gone.id),
            output::clean_line(&gone.kind),
            output::clean_line(&gone.title)
        )?;
    }
    Ok(out.flush()?)
}
