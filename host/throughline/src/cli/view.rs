//! `throughline view`: starts the viewer, which is a program of its own because it serves HTTP.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use serde_json::json;

use super::environment;
use super::error::CommandError;
use throughline_engine::targets;
use throughline_platform::paths::NAMESPACE;
use throughline_platform::process;
use throughline_platform::program::{find_companion, stable_path};

/// The name of the viewer program.
const PROGRAM: &str = "throughline-viewer";

/// Show what is stored in the browser
///
/// Serves pages at an address that no other machine can reach, prints the address, and opens it in the
/// browser. The pages search, show each memory with its origin and everything that it was told to, replay sessions,
/// and follow the running ones. They are read-only unless `--write` is given. Ctrl+C ends the viewer; without use it ends
/// by itself.
///
/// The viewer is the program `throughline-viewer`, which is installed beside this one. This program itself contains no
/// network code.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Serve on this port; by default on a free one
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Allow changes: pin, correct, supersede, merge, unlink, share, mute, mark wrong and forget memories, each as the
    /// command does it
    #[arg(long)]
    write: bool,
    /// Only print the address
    #[arg(long)]
    no_open: bool,
    /// End after this many minutes without a request and without an open page
    #[arg(long, value_name = "MINUTES", default_value_t = 30, value_parser = super::number::between::<1, 10_080>)]
    idle: u32,
    /// Begin with the project of this folder, or the known project of this name or path; by default with all projects
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let runtime = environment::runtime_for_reading()?;
    let project = match arguments.project.as_deref() {
        Some(typed) => Some(targets::find_project(&runtime, Some(typed))?.root.to_string_lossy().into_owned()),
        None => None,
    };
    // An upgrade can take half a minute. Here the person who waits is told.
    environment::upgrade_database(&runtime.paths.database())?;
    let own = std::env::current_exe().ok();
    let Some(viewer) = find_companion(PROGRAM, own.as_deref(), std::env::var_os("PATH").as_deref()) else {
        return Err(CommandError::new(format!("{PROGRAM} is not installed"))
            .hint(format!("install {PROGRAM} beside throughline: `cargo install --locked --path host/viewer`")));
    };
    let program = stable_path().map_err(|error| CommandError::new(format!("cannot find this program: {error}")))?;
    let settings = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "program": program,
        "port": arguments.port,
        "write": arguments.write,
        "open": !arguments.no_open,
        "idle_seconds": u64::from(arguments.idle) * 60,
        "project": project,
    });
    let mut command = Command::new(&viewer);
    command.arg(settings.to_string());
    // `--namespace` reaches the viewer, and the commands that it runs, as a variable.
    match &runtime.paths.namespace {
        Some(name) => command.env(NAMESPACE, name),
        None => command.env_remove(NAMESPACE),
    };
    let error = process::replace_with(&mut command);
    Err(CommandError::new(format!("{} cannot be started: {error}", viewer.display())).hint("install it again"))
}
