//! `throughline completions` and `throughline man`: shell completions and manual pages. [`complete`] answers a shell's question.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap_complete::Shell;
use clap_complete::env::{CompleteEnv, Shells};

use super::error::CommandError;
use super::live_values;

/// The environment variable by which a completion script asks.
const ASKED: &str = "THROUGHLINE_COMPLETE";

/// Answers a completion script that asks what may come next. Returns whether one did.
pub(super) fn complete() -> bool {
    if std::env::var_os(ASKED).is_none() {
        return false;
    }
    let asked = CompleteEnv::with_factory(|| live_values::add(super::command())).var(ASKED);
    asked.try_complete(std::env::args_os(), std::env::current_dir().ok().as_deref()).unwrap_or(true)
}

/// Print a completion script for a shell
///
/// The script asks the program, so it knows your projects, memories, sessions and policies.
#[derive(clap::Args)]
#[command(after_help = "Example: throughline completions bash > ~/.local/share/bash-completion/completions/throughline")]
pub(super) struct Arguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Print the manual page, or write the pages of all commands
#[derive(clap::Args)]
#[command(after_help = "Example: throughline man --out ~/.local/share/man/man1")]
pub(super) struct ManArguments {
    /// Write the pages of all commands to this folder, which is created if needed
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let name = arguments.shell.to_string();
    let shells = Shells::builtins();
    let shell = shells.completer(&name).ok_or_else(|| CommandError::new(format!("there are no completions for {name}")))?;
    let mut script = Vec::new();
    shell.write_registration(ASKED, "throughline", "throughline", "throughline", &mut script)?;
    write(&script)
}

pub(super) fn man(arguments: &ManArguments) -> Result<ExitCode, CommandError> {
    let Some(folder) = &arguments.out else {
        let mut page = Vec::new();
        clap_mangen::Man::new(super::command()).render(&mut page)?;
        return write(&page);
    };
    let failed = |error: std::io::Error| {
        CommandError::new(format!("cannot write to {}: {error}", folder.display()))
            .hint("check the owner and mode of the folder")
    };
    std::fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(super::command(), folder).map_err(failed)?;
    Ok(ExitCode::SUCCESS)
}

fn write(bytes: &[u8]) -> Result<ExitCode, CommandError> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
