//! `throughline memory supersede`: states that one memory took the place of another.

use std::io::Write;

use clap::ValueEnum;

use super::links;
use super::selection;
use super::wrong::change;
use crate::cli::error::CommandError;
use crate::cli::output;
use throughline_engine::memory::marking;
use throughline_engine::runtime::Runtime;
use throughline_search::supersession::Relation;
use throughline_store::Store;

/// State that a memory took the place of an earlier one
///
/// The earlier one is no longer told, and stands below the later one in searches. Throughline finds many such links by
/// comparing texts; this states one that it did not find. `throughline memory unlink` undoes it. To write a new text in a
/// memory's place, use `throughline memory save --supersedes`.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The identifier of the memory that no longer holds, or a unique beginning of it
    old: String,
    /// The identifier of the memory that holds in its stead, or a unique beginning of it
    new: String,
    /// What the later one does with the earlier one
    #[arg(long, value_enum, default_value_t = StatedRelation::Amends)]
    relation: StatedRelation,
    /// Show what would change and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print an object: older, newer, relation, `until_now`, `dry_run`
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum StatedRelation {
    /// It changes what the earlier one says
    Amends,
    /// It says the opposite
    Reverses,
    /// It shows that the earlier one was never true
    Refutes,
    /// It says that what the earlier one planned is done
    Completes,
}

impl From<StatedRelation> for Relation {
    fn from(relation: StatedRelation) -> Self {
        match relation {
            StatedRelation::Amends => Self::Amends,
            StatedRelation::Reverses => Self::Reverses,
            StatedRelation::Refutes => Self::Refutes,
            StatedRelation::Completes => Self::Completes,
        }
    }
}

pub(super) fn run(runtime: &Runtime, mut store: Store, arguments: &Arguments) -> Result<(), CommandError> {
    let (older, newer) = (selection::find(&store, &arguments.old)?, selection::find(&store, &arguments.new)?);
    let change = change(arguments.dry_run);
    let report = marking::supersede(runtime, &mut store, &older, &newer, arguments.relation.into(), change)?;
    if arguments.json {
        return output::json(&report);
    }
    let mut out = output::stdout();
    let verb = if report.dry_run { "would no longer hold" } else { "no longer holds" };
    writeln!(out, "{verb}: {}", links::named(&report.older))?;
    writeln!(out, "{} by: {}", Relation::from(arguments.relation).done(), links::named(&report.newer))?;
    if let Some(until_now) = report.until_now.filter(|it| it.id != report.newer.id) {
        writeln!(out, "until now by: {}", links::named(&until_now))?;
    }
    Ok(out.flush()?)
}
