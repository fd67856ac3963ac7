//! `throughline session …`: what happened in sessions, and saving and showing the state of one.

mod context;
mod list;
mod save;
mod show;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::error::CommandError;
use super::events;
use super::output;
use throughline_store::KnownSession;

/// List and show sessions, save one, print its context
#[derive(Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    List(list::Arguments),
    Show(show::Arguments),
    Save(save::Arguments),
    Context(context::Arguments),
}

pub(super) fn run(arguments: Arguments) -> Result<ExitCode, CommandError> {
    match arguments.command {
        Command::List(arguments) => {
            let (runtime, store) = events::open()?;
            list::run(&runtime, &store, &arguments)
        }
        Command::Show(arguments) => {
            let (runtime, store) = events::open()?;
            show::run(&runtime, &store, &arguments)
        }
        Command::Save(arguments) => save::run(&arguments),
        Command::Context(arguments) => context::run(&arguments),
    }?;
    Ok(ExitCode::SUCCESS)
}

/// Returns what the session is about, in one line: its objective, else its first request, else its summary.
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

/// Returns the outcome in one line; empty if unknown.
fn outcome(session: &KnownSession) -> String {
    let outcome = session.record.notes.as_ref().map_or("", |notes| notes.outcome.as_str());
    outcome.lines().map(output::clean_line).find(|line| !line.is_empty()).unwrap_or_default()
}

/// The schemas of what `throughline session …` prints with `--json`.
#[cfg(test)]
pub(super) fn schemas() -> Vec<super::schemas::Output> {
    use super::schemas::of;
    vec![
        ("session context", of::<context::SavedContext>()),
        ("session list", of::<Vec<list::Entry<'_>>>()),
        ("session save", of::<throughline_engine::projection::SessionContext>()),
        ("session show", of::<show::SessionDetails<'_>>()),
    ]
}
