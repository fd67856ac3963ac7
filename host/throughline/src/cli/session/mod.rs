//! `throughline session …`: what happened in sessions, and saving and showing the state of one.

mod context;
mod describe;
mod list;
mod save;
mod show;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::error::CommandError;
use super::events;

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
