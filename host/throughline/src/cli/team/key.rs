//! `throughline team key …`: the key of a sealed team.

use std::io::{self, Read as _, Write as _};
use std::process::ExitCode;

use clap::Subcommand;

use crate::cli::error::CommandError;
use crate::cli::output;
use throughline_engine::runtime::Runtime;
use throughline_engine::team::credentials;
use throughline_engine::team::team_key::TeamKey;
use throughline_platform::paths;

/// The longest input that is read, bytes.
const MAX_BYTES: u64 = 8 << 10;

/// Make, pass on and take in the key of a sealed team
///
/// In a sealed team every text is encrypted before it leaves, and the server has only ciphertext. Whoever has the key can read
/// all of it, so pass it on by a way that nobody else reads, and never by the server.
#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make a key for a new team: the next sync of a curator or an admin seals the team with it
    Create,
    /// Print this machine's key, to pass it on
    Show,
    /// Store the key that a colleague printed: reads it from standard input
    Import,
    /// Delete this machine's key
    ///
    /// What was fetched stays. If no other machine has the key, nobody can read any more what is on the server.
    Delete {
        /// Delete it without asking
        #[arg(long)]
        yes: bool,
    },
}

pub(super) fn run(runtime: &Runtime, arguments: &Arguments) -> Result<ExitCode, CommandError> {
    match &arguments.command {
        Command::Create => create(runtime),
        Command::Show => show(runtime),
        Command::Import => {
            let mut text = String::new();
            io::stdin().lock().take(MAX_BYTES).read_to_string(&mut text).map_err(|error| {
                CommandError::new(format!("standard input cannot be read: {error}")).hint("pipe the key into the command")
            })?;
            import(runtime, &text)
        }
        Command::Delete { yes } => delete(runtime, *yes),
    }?;
    Ok(ExitCode::SUCCESS)
}

fn known(runtime: &Runtime) -> Result<Option<TeamKey>, CommandError> {
    TeamKey::load(&runtime.paths)
        .map_err(|what| CommandError::new(what.to_string()).hint("let only yourself read the file, or delete it"))
}

fn store(runtime: &Runtime, key: &TeamKey) -> Result<String, CommandError> {
    let file = TeamKey::file(&runtime.paths);
    key.store(&runtime.paths).map_err(|error| {
        CommandError::new(format!("{} cannot be written: {error}", file.display())).hint("check the folder's owner and mode")
    })?;
    Ok(output::clean_line(&paths::display(&file, &runtime.paths.home)))
}

fn create(runtime: &Runtime) -> Result<(), CommandError> {
    if known(runtime)?.is_some() {
        return Err(CommandError::new("this machine has a team key already")
            .hint("`throughline team key show` prints it; `throughline team key delete` deletes it"));
    }
    let file = store(runtime, &TeamKey::create())?;
    let mut out = output::stdout();
    writeln!(out, "made a team key in {file}; keep a copy of it in a safe place")?;
    writeln!(
        out,
        "`throughline team sync` seals the team with it, if you are a curator or an admin and the team has no texts yet"
    )?;
    writeln!(out, "`throughline team key show` prints it for your colleagues")?;
    Ok(out.flush()?)
}

fn show(runtime: &Runtime) -> Result<(), CommandError> {
    let Some(key) = known(runtime)? else {
        return Err(CommandError::new("this machine has no team key")
            .hint("`throughline team key create` makes one, `throughline team key import` takes that of a team"));
    };
    writeln!(anstream::stderr().lock(), "whoever has this line can read everything that the team shares")?;
    let mut out = output::stdout();
    writeln!(out, "{}", key.reveal())?;
    Ok(out.flush()?)
}

/// Stores a key that was passed on. A machine that has another one keeps it.
pub(super) fn import(runtime: &Runtime, text: &str) -> Result<(), CommandError> {
    let key = TeamKey::parse(text).map_err(|what| {
        CommandError::new(format!("standard input has no key: {what}"))
            .hint("a colleague prints it with `throughline team key show`: `throughline team key import < FILE`")
    })?;
    match known(runtime)? {
        Some(own) if own.fingerprint() != key.fingerprint() => {
            return Err(CommandError::new("this machine has another team key, so nothing was changed")
                .hint("`throughline team key delete` deletes it; nobody can read what only that key opens"));
        }
        _ => {}
    }
    let file = store(runtime, &key)?;
    let mut out = output::stdout();
    writeln!(out, "stored the team key in {file}; what leaves this machine for a team is encrypted with it")?;
    Ok(out.flush()?)
}

fn delete(runtime: &Runtime, yes: bool) -> Result<(), CommandError> {
    let file = TeamKey::file(&runtime.paths);
    if !yes {
        return Err(CommandError::new("nothing was deleted: without the key nobody can read what the team's server has")
            .hint("make sure that another machine has it, and give --yes"));
    }
    let deleted = credentials::remove(&file).map_err(|error| {
        CommandError::new(format!("{} cannot be deleted: {error}", file.display())).hint("delete it by hand")
    })?;
    let mut out = output::stdout();
    let file = output::clean_line(&paths::display(&file, &runtime.paths.home));
    if deleted {
        writeln!(out, "deleted {file}; what was fetched stays")?;
    } else {
        writeln!(out, "this machine has no team key, so nothing was changed")?;
    }
    Ok(out.flush()?)
}
