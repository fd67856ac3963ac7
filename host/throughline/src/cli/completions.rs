//! `throughline completions` and `throughline man`: what shells and manuals are made of.

use std::io::Write;
use std::path::PathBuf;

use clap_complete::Shell;

use super::failure::{Done, Failure};

/// Print a script that completes commands and options in a shell
#[derive(clap::Args)]
#[command(after_help = "Example: throughline completions bash > ~/.local/share/bash-completion/completions/throughline")]
pub(super) struct Arguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Print the manual page, or write one for each command
#[derive(clap::Args)]
#[command(after_help = "Example: throughline man --out ~/.local/share/man/man1")]
pub(super) struct Manual {
    /// Write the pages of all commands into this folder, which is made where it is missing
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> Result<Done, Failure> {
    // The generator panics where its output cannot be written; memory always can.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut super::command(), "throughline", &mut script);
    write(&script)
}

pub(super) fn man(arguments: &Manual) -> Result<Done, Failure> {
    let Some(folder) = &arguments.out else {
        let mut page = Vec::new();
        clap_mangen::Man::new(super::command()).render(&mut page)?;
        return write(&page);
    };
    let failed = |error: std::io::Error| {
        Failure::new(format!("{} cannot be written: {error}", folder.display())).hint("check its owner and mode")
    };
    std::fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(super::command(), folder).map_err(failed)?;
    Ok(Done::Well)
}

fn write(bytes: &[u8]) -> Result<Done, Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()?;
    Ok(Done::Well)
}
