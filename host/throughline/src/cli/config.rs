//! `throughline config`: the configuration file.

use std::io::Write;

use clap::Subcommand;

use super::failure::{Done, Failure};
use super::output;
use throughline_engine::config;
use throughline_platform::paths;

/// Show the configuration, or write the file with every setting explained
#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print the settings in force, defaults included
    Show {
        /// As JSON, not as TOML
        #[arg(long)]
        json: bool,
    },
    /// Write the default configuration, in which every setting is explained; a file that is there stays
    Init,
}

pub(super) fn run(arguments: &Arguments) -> Result<Done, Failure> {
    match arguments.command {
        Command::Show { json } => show(json),
        Command::Init => init(),
    }
}

fn show(json: bool) -> Result<Done, Failure> {
    let runtime = super::runtime()?;
    if json {
        output::json(&runtime.config)?;
        return Ok(Done::Well);
    }
    let file = runtime.paths.config_file();
    let mut out = output::stdout();
    writeln!(out, "# {}{}", file.display(), if file.exists() { "" } else { " (not there: these are the defaults)" })?;
    let text = toml::to_string(&runtime.config).map_err(Failure::new)?;
    write!(out, "{}", output::clean(&text))?;
    out.flush()?;
    Ok(Done::Well)
}

fn init() -> Result<Done, Failure> {
    let paths = super::paths()?;
    let file = paths.config_file();
    config::init(&file).map_err(|error| {
        let file = paths::display(&file, &paths.home);
        if error.kind() == std::io::ErrorKind::AlreadyExists {
            Failure::new(format!("{file} exists, and was left as it is"))
                .hint("edit it; `throughline config show` prints what is in force")
        } else {
            Failure::new(format!("{file} cannot be written: {error}")).hint("check owner and mode of its folder")
        }
    })?;
    let mut out = output::stdout();
    writeln!(out, "wrote {}", paths::display(&file, &paths.home))?;
    out.flush()?;
    Ok(Done::Well)
}
