//! `throughline team join` and `leave`: the invitation of this machine.

use std::io::{self, Read as _, Write as _};
use std::process::ExitCode;

use crate::cli::error::CommandError;
use crate::cli::output;
use throughline_engine::runtime::Runtime;
use throughline_engine::team::credentials;
use throughline_engine::team::team_key::TeamKey;
use throughline_platform::paths;

/// The longest invitation that is read, bytes.
const MAX_BYTES: u64 = 8 << 10;

/// Join a team: reads the invitation from standard input
///
/// The invitation is the line that `throughline-sync admin invite` printed. It has a password, so it is read from standard
/// input and not from the command line, and stored in a file that only you can read. The key of a sealed team, as `throughline team
/// key show` prints it, may follow as a second line.
#[derive(clap::Args)]
pub(super) struct Arguments {}

/// Leave the team: deletes the invitation
///
/// What was shared stays on the server, and what came from it stays here. The key of a sealed team stays, too:
/// `throughline team key delete` deletes it.
#[derive(clap::Args)]
pub(super) struct LeaveArguments {}

pub(super) fn join(runtime: &Runtime) -> Result<ExitCode, CommandError> {
    let mut text = String::new();
    io::stdin().lock().take(MAX_BYTES).read_to_string(&mut text).map_err(|error| {
        CommandError::new(format!("standard input cannot be read: {error}")).hint("pipe the invitation into the command")
    })?;
    let (keys, lines): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| TeamKey::is_meant(line));
    let text = lines.join("\n");
    let invitation = credentials::check(&text).map_err(|what| {
        CommandError::new(format!("standard input has no invitation: {what}"))
            .hint("`throughline-sync admin invite NAME` prints one: `throughline team join < FILE`")
    })?;
    // The key first: an invitation without its key is refused by the first sync, and nothing is lost.
    if let Some(key) = keys.first() {
        super::key::import(runtime, key)?;
    }
    let file = credentials::file(&runtime.paths);
    credentials::store(&runtime.paths, invitation).map_err(|error| {
        CommandError::new(format!("{} cannot be written: {error}", file.display())).hint("check the folder's owner and mode")
    })?;
    let mut out = output::stdout();
    let file = output::clean_line(&paths::display(&file, &runtime.paths.home));
    writeln!(out, "stored the invitation in {file}; `throughline team sync` connects")?;
    if runtime.config.team.share.is_empty() {
        writeln!(out, "no rule shares anything yet: see the section [team] of the configuration")?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn leave(runtime: &Runtime) -> Result<ExitCode, CommandError> {
    let file = credentials::file(&runtime.paths);
    let deleted = credentials::delete(&runtime.paths).map_err(|error| {
        CommandError::new(format!("{} cannot be deleted: {error}", file.display())).hint("delete it by hand")
    })?;
    let mut out = output::stdout();
    if !deleted {
        writeln!(out, "this machine has joined no team, so nothing was changed")?;
        out.flush()?;
        return Ok(ExitCode::SUCCESS);
    }
    let file = output::clean_line(&paths::display(&file, &runtime.paths.home));
    writeln!(out, "deleted {file}; nothing is sent or fetched any more, and all memories stay")?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
