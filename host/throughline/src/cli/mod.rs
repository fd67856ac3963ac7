//! The command line: arguments in, words out. It holds no logic of its own.

mod background;
mod backup;
mod completions;
mod config;
mod context;
mod demo;
mod doctor;
mod events;
mod export;
mod failure;
mod failures;
mod files;
mod gc;
mod hook;
mod import;
mod ingest;
mod install;
mod mcp;
mod memory;
mod namespaces;
mod observations;
mod output;
mod pager;
mod pause;
mod policy;
mod projections;
#[cfg(test)]
mod reference;
mod restore;
mod resume;
mod save;
#[cfg(test)]
mod schemas;
mod scrub;
mod session;
mod timeline;
mod verify;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::Duration;

use clap::{CommandFactory, Parser, Subcommand};

use failure::{Done, Failure};
use output::DIM;
use throughline_agents::protocol::name::Agent;
use throughline_engine::hooks::background as behind;
use throughline_engine::runtime::Runtime;
use throughline_platform::namespace::{self, BadName};
use throughline_platform::paths::{NAMESPACE, Paths, Unknown};
use throughline_store::{self as store, Access, Store, StoreError};

/// The namespace that the command line names.
static SPACE: OnceLock<String> = OnceLock::new();

const AFTER_HELP: &str = "\
Exit codes:
  0  done, also where nothing was found
  1  it failed; stderr says why, and in a line that begins with `hint:` what to do
  2  the command line is wrong
`throughline hook` always ends with 0, so that no session is ever disturbed.

Environment:
  THROUGHLINE_HOME   one folder for data, configuration and cache, instead of the XDG ones
  THROUGHLINE_NAMESPACE
                     a memory of its own for whoever has it set; see `throughline namespaces`
  CLAUDE_CONFIG_DIR  Claude Code's folder, instead of ~/.claude
  NO_COLOR           no colours
  PAGER              what shows texts that are longer than the screen, instead of less";

/// Long-term memory for coding agents
///
/// Throughline reads the transcripts of your sessions with Claude Code, keeps what a later session should know, and tells
/// it when the next one starts. Nothing leaves the machine.
///
/// Begin with `throughline install`; `throughline demo` shows what it does without touching anything.
#[derive(Parser)]
#[command(name = "throughline", version, after_long_help = AFTER_HELP, arg_required_else_help = true)]
struct Cli {
    /// The namespace that it is about, instead of the one that `THROUGHLINE_NAMESPACE` names
    #[arg(long, global = true, value_name = "NAME")]
    namespace: Option<String>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Install(install::Arguments),
    Uninstall(install::Removal),
    Doctor(doctor::Arguments),
    Demo(demo::Arguments),
    Ingest(ingest::Arguments),
    Import(import::Arguments),
    Context(context::Arguments),
    Memory(memory::Arguments),
    Session(session::Arguments),
    Observations(observations::Arguments),
    Timeline(timeline::Arguments),
    Files(files::Arguments),
    Failures(failures::Arguments),
    Gc(gc::Arguments),
    Pause(pause::Arguments),
    Save(save::Arguments),
    Resume(resume::Arguments),
    Projections(projections::Arguments),
    Export(export::Arguments),
    Backup(backup::Arguments),
    Restore(restore::Arguments),
    Verify(verify::Arguments),
    Namespaces(namespaces::Arguments),
    Scrub(scrub::Scrubbing),
    Redact(scrub::Redaction),
    Policy(policy::Arguments),
    Mcp(mcp::Arguments),
    Config(config::Arguments),
    Completions(completions::Arguments),
    Man(completions::Manual),
    Hook(HookArguments),
}

/// What the agent calls: reads an event from standard input, answers with what the model is to be shown
///
/// You need not call it yourself: `throughline install` registers it. It always ends with exit code 0, in time, and
/// prints one JSON object or nothing; what went wrong is in the log and in `throughline doctor`.
#[derive(clap::Args)]
struct HookArguments {
    /// memory-load, memory-search, memory-track, memory-failure, memory-subagent, memory-flush, memory-complete or memory-save: what
    /// it stands for where the event does not say `hook_event_name` itself; with --agent, that agent's own name of the event
    name: Option<OsString>,
    /// The agent that calls; without it, Claude Code, or the one whose payload it is
    #[arg(long, value_enum)]
    agent: Option<Agent>,
    /// With `--agent codex notify`: the event, as Codex gives it to the program that it notifies
    #[arg(hide = true)]
    payload: Option<OsString>,
}

impl HookArguments {
    /// As they are given to a hook.
    fn words(self) -> Vec<OsString> {
        let agent = self.agent.map(|agent| ["--agent".into(), agent.name().into()]);
        agent.into_iter().flatten().chain(self.name).chain(self.payload).collect()
    }
}

/// The whole command tree.
fn command() -> clap::Command {
    Cli::command()
}

/// Runs the program.
pub fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.collect();
    // A hook returns before anything that only people need is set up.
    match arguments.get(1).and_then(|word| word.to_str()) {
        Some("hook") if !asks_for_help(&arguments) => hook::run(&arguments[2..]),
        Some("background") => background::run(&arguments[2..]),
        _ => for_people(arguments),
    }
}

fn asks_for_help(arguments: &[OsString]) -> bool {
    arguments.get(2).is_some_and(|word| word == "--help" || word == "-h")
}

fn for_people(arguments: Vec<OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Where nobody reads there is nobody to tell.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    if let Some(name) = cli.namespace {
        if let Err(bad) = namespace::check(&name) {
            return Failure::new(bad).hint(BadName::HINT).tell();
        }
        // It is set once, before anything asks for it.
        let _ = SPACE.set(name);
    }
    let done = run(cli.command);
    if let Ok(paths) = paths() {
        drop(behind::settle(&paths));
    }
    match done {
        Ok(Done::Well) => ExitCode::SUCCESS,
        Ok(Done::Badly) => ExitCode::FAILURE,
        Err(failure) => failure.tell(),
    }
}

fn run(command: Command) -> Result<Done, Failure> {
    match command {
        Command::Install(arguments) => install::install(&arguments),
        Command::Uninstall(arguments) => install::uninstall(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Ingest(arguments) => ingest::run(&arguments),
        Command::Import(arguments) => import::run(&arguments),
        Command::Context(arguments) => context::run(&arguments),
        Command::Memory(arguments) => memory::run(arguments),
        Command::Session(arguments) => session::run(arguments),
        Command::Observations(arguments) => observations::run(arguments),
        Command::Timeline(arguments) => timeline::run(&arguments),
        Command::Files(arguments) => files::run(&arguments),
        Command::Failures(arguments) => failures::run(&arguments),
        Command::Gc(arguments) => gc::run(&arguments),
        Command::Pause(arguments) => pause::pause(&arguments),
        Command::Save(arguments) => save::run(&arguments),
        Command::Resume(arguments) => resume::run(&arguments),
        Command::Projections(arguments) => projections::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Backup(arguments) => backup::run(&arguments),
        Command::Restore(arguments) => restore::run(&arguments),
        Command::Verify(arguments) => verify::run(&arguments),
        Command::Namespaces(arguments) => namespaces::run(&arguments),
        Command::Scrub(arguments) => scrub::scrub(&arguments),
        Command::Redact(arguments) => scrub::redact(&arguments),
        Command::Policy(arguments) => policy::run(arguments),
        Command::Mcp(arguments) => mcp::run(&arguments),
        Command::Config(arguments) => config::run(&arguments),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Man(arguments) => completions::man(&arguments),
        Command::Hook(arguments) => {
            hook::run(&arguments.words());
            Ok(Done::Well)
        }
    }
}

/// Where things are, or why that cannot be known.
fn paths() -> Result<Paths, Failure> {
    let paths = Paths::from_env().map_err(|unknown| match unknown {
        Unknown::Home => Failure::new("there is no home folder").hint("set HOME, or THROUGHLINE_HOME"),
        Unknown::Namespace(bad) => Failure::new(format!("{NAMESPACE}: {bad}")).hint(BadName::HINT),
    })?;
    Ok(match SPACE.get() {
        Some(name) => paths.in_namespace(Some(name)),
        None => paths,
    })
}

/// What every command works with.
fn runtime() -> Result<Runtime, Failure> {
    runtime_of(paths()?).map_err(|error| {
        Failure::new(error)
            .hint("mend that file or move it away; every setting is optional, and `throughline config init` explains them")
    })
}

/// [`Runtime::new`], for a person who waits.
fn runtime_of(paths: Paths) -> Result<Runtime, String> {
    Runtime::new(paths).inspect(|runtime| runtime.before_opening(|runtime| bring_up_to_date(&runtime.paths.database())))
}

/// Brings a large database of an older version up to date, or waits for the process that does. It takes half a minute for a million
/// memories, which nobody should have to sit through without a word.
fn bring_up_to_date(database: &Path) -> Result<(), StoreError> {
    /// How long for another process that writes: longer than any of ours needs for it.
    const PATIENCE: Duration = Duration::from_mins(15);
    if !store::is_long_behind(database) {
        return Ok(());
    }
    // Where nobody reads there is nobody to tell.
    let _ = writeln!(
        anstream::stderr().lock(),
        "{DIM}{} was written by an older version, and is brought up to date first{DIM:#}",
        output::clean_line(&database.to_string_lossy())
    );
    Store::open(database, Access::Existing, PATIENCE).map(drop)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_tree_is_sound() {
        super::command().debug_assert();
    }
}
