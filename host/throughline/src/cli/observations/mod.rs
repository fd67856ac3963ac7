//! `throughline observations …`: what tools were used for, in three steps from a line each to the whole of it.

mod search;
mod show;
mod timeline;

use clap::{Args, Subcommand};

use super::events;
use super::failure::{Done, Failure};
use super::memory::Scope;
use super::output;
use throughline_store::{Event, Store};

/// Find out what was done with tools, and how it ended
///
/// In three steps, so that nobody reads more than is needed: `search` gives a line each, `timeline` what happened around some of
/// them, `show` all that is kept of them. What hooks noted down until now is taken in first.
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
}

pub(super) fn run(arguments: Arguments) -> Result<Done, Failure> {
    let (runtime, store) = events::open()?;
    match arguments.command {
        Command::Search(arguments) => search::run(&runtime, &store, &arguments),
        Command::Timeline(arguments) => timeline::run(&runtime, &store, &arguments),
        Command::Show(arguments) => show::run(&runtime, &store, &arguments),
    }?;
    Ok(Done::Well)
}

/// The events of these numbers, each once; all of them must be there.
fn find(store: &Store, scope: &Scope, ids: &[i64]) -> Result<Vec<Event>, Failure> {
    let mut wanted: Vec<i64> = Vec::new();
    for id in ids {
        if !wanted.contains(id) {
            wanted.push(*id);
        }
    }
    let project = scope.project()?;
    let found = store.events_by_id(&wanted, project.as_ref().map(|project| project.id.as_str()))?;
    if let Some(missing) = wanted.iter().find(|id| found.iter().all(|event| event.id != **id)) {
        let place = if project.is_some() { " in this project" } else { "" };
        return Err(Failure::new(format!("there is no observation {missing}{place}"))
            .hint("`throughline observations search --all-projects` shows their numbers; old ones go in time"));
    }
    Ok(found)
}

/// What `throughline observations …` prints with `--json`.
#[cfg(test)]
pub(super) fn schemas() -> Vec<super::schemas::Output> {
    use super::schemas::of;
    vec![
        ("observations search", of::<Vec<super::events::Line<'_>>>()),
        ("observations show", of::<Vec<show::Whole<'_>>>()),
        ("observations timeline", of::<Vec<timeline::Written<'_>>>()),
    ]
}
