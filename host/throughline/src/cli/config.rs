//! `throughline config`: the configuration file.

use std::io::Write;
use std::process::ExitCode;

use clap::Subcommand;

use super::environment;
use super::error::CommandError;
use super::output;
use throughline_engine::config;
use throughline_platform::paths;

/// Show the configuration, or write the default file
#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print the current settings, including defaults
    Show {
        /// Print JSON instead of TOML
        #[arg(long)]
        json: bool,
    },
    /// Write the default configuration file, unless there is one
    ///
    /// The file explains every setting.
    Init,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    match arguments.command {
        Command::Show { json } => show(json),
        Command::Init => init(),
    }
}

fn show(json: bool) -> Result<ExitCode, CommandError> {
    let runtime = environment::runtime_for_reading()?;
    if json {
        output::json(&runtime.config)?;
        return Ok(ExitCode::SUCCESS);
    }
    let file = runtime.paths.config_file();
    let mut out = output::stdout();
    writeln!(out, "# {}{}", file.display(), if file.exists() { "" } else { " (does not exist: these are the defaults)" })?;
    let text = toml::to_string(&runtime.config).map_err(CommandError::new)?;
    write!(out, "{}", output::clean(&text))?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn init() -> Result<ExitCode, CommandError> {
    let paths = environment::paths()?;
    let file = paths.config_file();
    config::init(&file).map_err(|error| {
        let file = paths::display(&file, &paths.home);
        if error.kind() == std::io::ErrorKind::AlreadyExists {
            CommandError::new(format!("{file} exists already and was not changed"))
                .hint("edit the file; `throughline config show` prints the current settings")
        } else {
            CommandError::new(format!("cannot write {file}: {error}")).hint("check the owner and mode of its folder")
        }
    })?;
    let mut out = output::stdout();
    writeln!(out, "wrote {}", paths::display(&file, &paths.home))?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
