//! `throughline team …`: shares memories with a team, and brings in what the team shares.

mod join;
mod key;
mod mute;
mod outbox;
mod review;
mod search;
mod status;
mod sync;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::environment;
use super::error::CommandError;
use throughline_engine::hooks::STORE_BUSY_TIMEOUT;
use throughline_store::Access;

/// Share memories with a team, on a server that the team runs
///
/// Nothing is shared unless a rule in the section `[team]` of the configuration says so. `throughline team outbox` shows the
/// exact text that would leave. What colleagues share is stored here like an import, marked with their names, and found
/// without a network. `throughline-sync admin` sets a server up.
#[derive(Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Join(join::Arguments),
    Leave(join::LeaveArguments),
    Key(key::Arguments),
    Sync(sync::Arguments),
    Status(status::Arguments),
    Outbox(outbox::Arguments),
    Review(review::Arguments),
    Search(search::Arguments),
    Mute(mute::Arguments),
    Unmute(mute::UnmuteArguments),
}

pub(super) fn run(arguments: Arguments) -> Result<ExitCode, CommandError> {
    let runtime = environment::runtime()?;
    let command = match arguments.command {
        Command::Join(_) => return join::join(&runtime),
        Command::Leave(_) => return join::leave(&runtime),
        Command::Key(arguments) => return key::run(&runtime, &arguments),
        other => other,
    };
    let mut store = runtime.store(Access::Write, STORE_BUSY_TIMEOUT * 4)?;
    match command {
        Command::Sync(arguments) => sync::run(&runtime, &mut store, &arguments),
        Command::Status(arguments) => status::run(&runtime, &store, &arguments),
        Command::Outbox(arguments) => outbox::run(&runtime, &mut store, &arguments),
        Command::Review(arguments) => review::run(&runtime, &mut store, arguments),
        Command::Search(arguments) => search::run(&runtime, &mut store, &arguments),
        Command::Mute(arguments) => mute::mute(&runtime, &mut store, &arguments),
        Command::Unmute(arguments) => mute::unmute(&runtime, &mut store, &arguments),
        Command::Join(_) | Command::Leave(_) | Command::Key(_) => Ok(()),
    }?;
    Ok(ExitCode::SUCCESS)
}

/// The schemas of what `throughline team …` prints with `--json`.
#[cfg(test)]
pub(super) fn schemas() -> Vec<super::schemas::Output> {
    use super::schemas::of;
    vec![
        ("team mute", of::<mute::MuteResult>()),
        ("team outbox", of::<Vec<outbox::OutboxItem>>()),
        ("team search", of::<search::TeamSearch>()),
        ("team status", of::<status::TeamState>()),
        ("team sync", of::<throughline_engine::team::sync::SyncReport>()),
        ("team unmute", of::<mute::MuteResult>()),
    ]
}
