//! `throughline session …`: what sessions came to.

mod list;
mod show;

use clap::{Args, Subcommand};

use super::events;
use super::failure::{Done, Failure};
use super::output;
use throughline_store::KnownSession;

/// Show what sessions were about, how they ended and what they left
#[derive(Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    List(list::Arguments),
    Show(show::Arguments),
}

pub(super) fn run(arguments: Arguments) -> Result<Done, Failure> {
    let (runtime, store) = events::open()?;
    match arguments.command {
        Command::List(arguments) => list::run(&runtime, &store, &arguments),
        Command::Show(arguments) => show::run(&runtime, &store, &arguments),
    }?;
    Ok(Done::Well)
}

/// What the session is about, in a line: its objective, else its first request, else its summary.
fn title(session: &KnownSession) -> String {
    let notes = session.record.notes.as_ref();
    let texts = [
        notes.map(|notes| notes.current_objective.as_str()),
        notes.map(|notes| notes.original_request.as_str()),
        session.first_prompt.as_deref(),
        Some(session.record.summary.as_str()),
    ];
    let first = |text: &str| text.lines().map(output::clean_line).find(|line| !line.is_empty());
    texts.into_iter().flatten().find_map(first).unwrap_or_default()
}

/// How it stands, in a line; empty where that is not known.
fn outcome(session: &KnownSession) -> String {
    let outcome = session.record.notes.as_ref().map_or("", |notes| notes.outcome.as_str());
    outcome.lines().map(output::clean_line).find(|line| !line.is_empty()).unwrap_or_default()
}

/// What `throughline session …` prints with `--json`.
#[cfg(test)]
pub(super) fn schemas() -> Vec<super::schemas::Output> {
    use super::schemas::of;
    vec![("session list", of::<Vec<list::Entry<'_>>>()), ("session show", of::<show::Whole<'_>>())]
}
