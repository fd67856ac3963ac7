//! `throughline completions` and `throughline man`: shell completions and manual pages.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap_complete::Shell;

use super::error::CommandError;

/// Print a completion script for a shell
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
    // The generator panics if it cannot write its output, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut super::command(), "throughline", &mut script);
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
