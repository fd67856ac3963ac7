//! `throughline team search`: asks the server.

use std::io::Write as _;
use std::path::PathBuf;

use serde::Serialize;

use crate::cli::error::CommandError;
use crate::cli::output::{self, BOLD, DIM};
use throughline_engine::runtime::Runtime;
use throughline_engine::team::search::{self, TeamHit};
use throughline_store::Store;

/// Search on the server: also in projects that are not on this machine
///
/// `throughline search` finds what was fetched, without a network. The query is sent to the server.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// What to look for
    #[arg(required = true)]
    words: Vec<String>,
    /// Only the project of this folder, or the known project of this name or path
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// The most results
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = crate::cli::number::limit)]
    limit: u32,
    /// Print an object: vectors, results
    #[arg(long)]
    json: bool,
}

/// What the server found.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct TeamSearch {
    /// Whether vectors took part: if not, only words were searched for.
    vectors: bool,
    /// The best first.
    results: Vec<TeamHit>,
}

pub(super) fn run(runtime: &Runtime, store: &mut Store, arguments: &Arguments) -> Result<(), CommandError> {
    let query = arguments.words.join(" ");
    let (results, vectors) = search::run(runtime, store, &query, arguments.project.as_deref(), arguments.limit)?;
    if arguments.json {
        return output::json(&TeamSearch { vectors, results });
    }
    if !vectors {
        writeln!(anstream::stderr().lock(), "note: the server searched for words only; it has no pgvector")?;
    }
    if results.is_empty() {
        writeln!(anstream::stderr().lock(), "nothing found")?;
    }
    let mut out = output::stdout();
    for hit in &results {
        writeln!(
            out,
            "{BOLD}{}{BOLD:#}  {DIM}{} from {}, {}{DIM:#}",
            output::clean_line(&hit.title),
            output::clean_line(&hit.kind),
            output::clean_line(&hit.from),
            output::clean_line(&hit.project)
        )?;
        for line in output::clean(&hit.content).lines() {
            writeln!(out, "  {line}")?;
        }
    }
    Ok(out.flush()?)
}
