//! `throughline memory stats`: counts what is stored.

use std::io::Write;

use crate::cli::error::CommandError;
use crate::cli::output::{self, DIM};
use crate::cli::scope::Scope;
use throughline_engine::runtime::Runtime;
use throughline_platform::paths;
use throughline_store::{Stats, Store};

/// Show how much is stored
#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    scope: Scope,
    /// Print an object: memories, compressed, digests, sessions, events, types, projects, bytes
    #[arg(long)]
    json: bool,
}

pub(super) fn run(runtime: &Runtime, store: &Store, arguments: &Arguments) -> Result<(), CommandError> {
    let project = arguments.scope.project(runtime)?;
    let stats = store.stats(project.as_ref().map(|project| project.id.as_str()))?;
    if arguments.json {
        return output::json(&stats);
    }
    let title = match &project {
        Some(project) => paths::display(&project.root, &runtime.paths.home),
        None => output::counted(stats.projects, "project", "projects"),
    };
    print(runtime, store, &stats, &title)
}

fn print(runtime: &Runtime, store: &Store, stats: &Stats, title: &str) -> Result<(), CommandError> {
    let mut out = output::stdout();
    writeln!(out, "{}", output::clean_line(title))?;
    let mut row = |name: &str, number: u64| writeln!(out, "  {} {:>10}", output::pad(name, 18), output::count(number));
    row("sessions", stats.sessions)?;
    row("events", stats.events)?;
    row("memories", stats.memories)?;
    for (kind, number) in &stats.types {
        let style = output::kind_style(kind);
        writeln!(out, "    {style}{}{style:#} {:>10}", output::pad(&output::clean_line(kind), 16), output::count(*number))?;
    }
    if stats.compressed > 0 || stats.digests > 0 {
        let mut row = |name: &str, number: u64| writeln!(out, "  {} {:>10}", output::pad(name, 18), output::count(number));
        row("folded", stats.compressed)?;
        row("digests", stats.digests)?;
    }
    writeln!(out, "{DIM}{}, {}{DIM:#}", paths::display(store.path(), &runtime.paths.home), output::bytes(stats.bytes))?;
    Ok(out.flush()?)
}
