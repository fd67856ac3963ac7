//! `throughline note …`: typed notes, their relations, and the folder of Markdown files that they are synced with.

mod add;
mod check;
mod context;
mod graph;
mod list;
mod protocol;
mod recall;
mod sync;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::environment;
use super::error::CommandError;
use super::output;
use throughline_engine::hooks::STORE_BUSY_TIMEOUT;
use throughline_engine::runtime::Runtime;
use throughline_engine::storing;
use throughline_store::{Access, Store};

/// Add, list, recall, check and sync typed notes
///
/// A note is a memory that somebody writes down with a type, a title, tags and relations to other notes, such as the
/// root cause of a failure. Notes can be synced with a folder of Markdown files that is tracked with git. For a fact in
/// one sentence, `throughline memory save` is enough. Notes belong to the project of the current folder unless an
/// option says otherwise.
#[derive(Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Add(add::Arguments),
    List(list::Arguments),
    Recall(recall::Arguments),
    Check(check::Arguments),
    Graph(graph::Arguments),
    Sync(sync::Arguments),
    Protocol(protocol::Arguments),
}

pub(super) fn run(arguments: Arguments) -> Result<ExitCode, CommandError> {
    // These read notes only; the others work on a machine that has no database yet.
    let access = match arguments.command {
        Command::Recall(_) | Command::List(_) | Command::Graph(_) => Access::Existing,
        _ => Access::Write,
    };
    let stores = matches!(arguments.command, Command::Add(_) | Command::Sync(_));
    let open = || {
        let runtime = if access == Access::Existing { environment::runtime_for_reading()? } else { environment::runtime()? };
        if stores {
            // Before the database is created.
            storing::check(&runtime)?;
        }
        let store = runtime.store(access, STORE_BUSY_TIMEOUT * 4)?;
        Ok::<_, CommandError>((runtime, store))
    };
    match arguments.command {
        Command::Protocol(arguments) => {
            protocol::run(&environment::runtime_for_reading()?, &arguments).map(|()| ExitCode::SUCCESS)
        }
        Command::Add(arguments) => {
            let (runtime, store) = open()?;
            add::run(&runtime, store, &arguments).map(|()| ExitCode::SUCCESS)
        }
        Command::Recall(arguments) => {
            let (runtime, store) = open()?;
            recall::run(&runtime, &store, &arguments).map(|()| ExitCode::SUCCESS)
        }
        Command::List(arguments) => {
            let (runtime, store) = open()?;
            list::run(&runtime, &store, &arguments).map(|()| ExitCode::SUCCESS)
        }
        Command::Graph(arguments) => {
            let (runtime, store) = open()?;
            graph::run(&runtime, &store, &arguments).map(|()| ExitCode::SUCCESS)
        }
        Command::Check(arguments) => {
            let (runtime, store) = open()?;
            check::run(&runtime, &store, &arguments)
        }
        Command::Sync(arguments) => {
            let (runtime, store) = open()?;
            sync::run(&runtime, store, &arguments)
        }
    }
}

/// The schemas of what `throughline note …` prints with `--json`.
#[cfg(test)]
pub(super) fn schemas() -> Vec<super::schemas::Output> {
    use super::schemas::of;
    vec![
        ("note add", of::<add::AddedNote<'_>>()),
        ("note check", of::<Vec<check::CheckedFault>>()),
        ("note graph", of::<graph::Neighbourhood<'_>>()),
        ("note list", of::<Vec<list::ListedNote<'_>>>()),
        ("note recall", of::<Vec<recall::RecalledNote<'_>>>()),
        ("note sync", of::<throughline_engine::note_sync::SyncReport>()),
    ]
}
