//! `throughline observations …`: the recorded tool calls, from one line each to full details, and their expiry.

mod gc;
mod search;
mod show;
mod timeline;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::error::CommandError;
use super::events;
use super::memory::Scope;
use super::output;
use throughline_engine::runtime::Runtime;
use throughline_store::{Store, StoredEvent};

/// Find out what tools were called for and how the calls ended
///
/// There are three steps, so that nobody reads more than is needed: `search` prints one line for each observation,
/// `timeline` what happened around some of them, and `show` everything that is stored about them. Each of them first
/// stores what hooks have recorded until now.
#[derive(Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Search(search::Arguments),
    Timeline(timeline::Arguments),
    Show(show::Arguments),
    Gc(gc::Arguments),
}

pub(super) fn run(arguments: Arguments) -> Result<ExitCode, CommandError> {
    if let Command::Gc(arguments) = &arguments.command {
        gc::run(arguments)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (runtime, store) = events::open()?;
    match arguments.command {
        Command::Search(arguments) => search::run(&runtime, &store, &arguments),
        Command::Timeline(arguments) => timeline::run(&runtime, &store, &arguments),
        Command::Show(arguments) => show::run(&runtime, &store, &arguments),
        Command::Gc(arguments) => gc::run(&arguments),
    }?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the events with these numbers, each once. It is an error if one of them does not exist.
fn find(runtime: &Runtime, store: &Store, scope: &Scope, ids: &[i64]) -> Result<Vec<StoredEvent>, CommandError> {
    let mut wanted: Vec<i64> = Vec::new();
    for id in ids {
        if !wanted.contains(id) {
            wanted.push(*id);
        }
    }
    let project = scope.project(runtime)?;
    let found = store.events_by_id(&wanted, project.as_ref().map(|project| project.id.as_str()))?;
    if let Some(missing) = wanted.iter().find(|id| found.iter().all(|event| event.id != **id)) {
        let place = if project.is_some() { " in this project" } else { "" };
        return Err(CommandError::new(format!("there is no observation {missing}{place}"))
            .hint("`throughline observations search --all-projects` shows the numbers; old observations expire"));
    }
    Ok(found)
}

/// The schemas of what `throughline observations …` prints with `--json`.
#[cfg(test)]
pub(super) fn schemas() -> Vec<super::schemas::Output> {
    use super::schemas::of;
    vec![
        ("observations gc", of::<gc::Aging>()),
        ("observations search", of::<Vec<super::events::EventLine<'_>>>()),
        ("observations show", of::<Vec<show::EventDetails<'_>>>()),
        ("observations timeline", of::<Vec<timeline::Stretch<'_>>>()),
    ]
}
