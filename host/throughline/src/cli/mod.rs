//! The command line: parses the arguments, calls the library and prints the result. It contains no logic of its own.

mod agent;
mod background;
mod backup;
mod completions;
mod config;
mod context;
mod copies;
mod demo;
mod doctor;
mod environment;
mod error;
mod events;
mod export;
mod failures;
mod files;
mod help;
mod hook;
mod import;
mod ingest;
mod install;
mod live_values;
mod mcp;
mod memory;
mod model;
mod namespaces;
mod note;
mod number;
mod observations;
mod output;
mod pager;
mod pause;
mod policy;
mod projections;
mod projects;
#[cfg(test)]
mod reference;
mod renamed;
mod restore;
#[cfg(test)]
mod schemas;
mod scope;
mod scrub;
mod session;
mod status;
mod suggest;
mod team;
mod timeline;
mod uninstall;
mod usage;
mod verify;
mod view;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches as _, Parser, Subcommand};

use error::CommandError;
use throughline_agents::protocol::name::Agent;
use throughline_engine::hooks;
use throughline_platform::namespace::{self, InvalidNamespaceName};

const AFTER_HELP: &str = "\
Exit codes:
  0  success, even if nothing was found
  1  failure: stderr says why, and lines that begin with `hint:` what to do
  2  the command line is wrong
`throughline hook` always exits with 0, so that it never disturbs a session.

Environment:
  THROUGHLINE_HOME       one folder for data, configuration and cache,
                         instead of the XDG folders
  THROUGHLINE_NAMESPACE  keeps a separate memory; see `throughline namespaces`
  CLAUDE_CONFIG_DIR      Claude Code's folder, instead of ~/.claude
  NO_COLOR               turns colours off
  PAGER                  shows texts that are longer than the screen, instead of
                         less";

/// Long-term memory for coding agents
///
/// Throughline reads the transcripts of your sessions with a coding agent, such as Claude Code, keeps what a later
/// session should know, and gives it to the next session when it starts. Nothing leaves the machine unless you join a team, grant a
/// policy a model or set an embedding server.
///
/// Start with `throughline install`. `throughline demo` shows what Throughline does without touching anything.
#[derive(Parser)]
#[command(name = "throughline", version, long_version = env!("THROUGHLINE_VERSION"), after_long_help = AFTER_HELP, arg_required_else_help = true)]
struct Cli {
    /// Use this namespace instead of the one in `THROUGHLINE_NAMESPACE`
    #[arg(long, global = true, value_name = "NAME")]
    namespace: Option<String>,
    #[command(subcommand)]
    command: Command,
}

/// The commands, in the order of the help; [`help`] puts them into groups.
#[derive(Subcommand)]
enum Command {
    Install(install::Arguments),
    Uninstall(uninstall::Arguments),
    Status(status::Arguments),
    Doctor(doctor::Arguments),
    Verify(verify::Arguments),
    Config(config::Arguments),
    Demo(demo::Arguments),
    Namespaces(namespaces::Arguments),
    Search(memory::SearchArguments),
    Timeline(timeline::Arguments),
    Session(session::Arguments),
    Files(files::Arguments),
    Failures(failures::Arguments),
    Observations(observations::Arguments),
    Projects(projects::Arguments),
    View(view::Arguments),
    Memory(memory::Arguments),
    Note(note::Arguments),
    Pause(pause::PauseArguments),
    Resume(pause::ResumeArguments),
    Scrub(scrub::ScrubArguments),
    Team(team::Arguments),
    Ingest(ingest::Arguments),
    Import(import::Arguments),
    Export(export::Arguments),
    Backup(backup::Arguments),
    Restore(restore::Arguments),
    Projections(projections::Arguments),
    Policy(policy::Arguments),
    Model(model::Arguments),
    Context(context::Arguments),
    Redact(scrub::RedactArguments),
    Mcp(mcp::Arguments),
    Statusline(status::LineArguments),
    Hook(HookArguments),
    Completions(completions::Arguments),
    Man(completions::ManArguments),
}

/// Handle a hook event: the agent calls this, not you
///
/// Reads an event from standard input and prints what the model is to be shown. `throughline install` registers it. It
/// always exits with 0 and within its time limit, and prints one JSON object or nothing. Errors are in the log and in
/// `throughline doctor`.
#[derive(clap::Args)]
struct HookArguments {
    /// memory-load, memory-search, memory-track, memory-failure, memory-subagent, memory-flush, memory-complete or
    /// memory-save: used if the event has no `hook_event_name`. With --agent, the agent's own name for the event
    name: Option<OsString>,
    /// The agent that calls the hook; by default Claude Code, or the agent whose format the payload has
    #[arg(long, value_parser = agent::parser(), value_name = "AGENT")]
    agent: Option<Agent>,
    /// With `--agent codex notify`: the event, which Codex passes as an argument
    #[arg(hide = true)]
    payload: Option<OsString>,
}

impl HookArguments {
    /// Returns the arguments in the form that [`hook::run`] parses.
    fn words(self) -> Vec<OsString> {
        let agent = self.agent.map(|agent| ["--agent".into(), agent.name().into()]);
        agent.into_iter().flatten().chain(self.name).chain(self.payload).collect()
    }
}

/// Returns the whole command tree.
fn command() -> clap::Command {
    help::with_groups(Cli::command())
}

/// What `--version` prints.
const VERSION_LINE: &str = concat!("throughline ", env!("THROUGHLINE_VERSION"), "\n");

/// Runs the program.
pub(crate) fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.collect();
    // Hooks are dispatched before anything is set up that only the other commands need.
    match arguments.get(1).and_then(|word| word.to_str()) {
        Some("hook") if !asks_for_help(&arguments) => hook::run(&arguments[2..]),
        Some("background") => background::run(&arguments[2..]),
        // The description of all commands, which clap would build for it, takes nearly as long as the start of the process.
        Some("--version") if arguments.len() == 2 => print_version(),
        _ => run_command(arguments),
    }
}

fn print_version() -> ExitCode {
    // Ignore the error of a closed stdout: nobody is reading.
    let _ = io::stdout().write_all(VERSION_LINE.as_bytes());
    ExitCode::SUCCESS
}

fn asks_for_help(arguments: &[OsString]) -> bool {
    arguments.get(2).is_some_and(|word| word == "--help" || word == "-h")
}

fn run_command(mut arguments: Vec<OsString>) -> ExitCode {
    if completions::complete() {
        return ExitCode::SUCCESS;
    }
    if let Some(note) = renamed::rewrite(&mut arguments) {
        print_note(&note);
    }
    let cli = match parse(&arguments) {
        Ok(cli) => cli,
        Err(exit_code) => return exit_code,
    };
    if let Some(name) = cli.namespace {
        if let Err(bad) = namespace::validate_name(&name) {
            return CommandError::new(bad).hint(InvalidNamespaceName::HINT).report();
        }
        environment::set_namespace(name);
    }
    if !matches!(cli.command, Command::Hook(_) | Command::Mcp(_)) {
        environment::announce_compiling();
    }
    let result = dispatch(cli.command);
    if let Ok(paths) = environment::paths() {
        drop(hooks::spawn::checkpoint_wal(&paths));
    }
    result.unwrap_or_else(|error| error.report())
}

/// Parses the command line. Prints what is wrong with it, or the help that it asks for, and then returns the exit code.
fn parse(arguments: &[OsString]) -> Result<Cli, ExitCode> {
    let mut command = command();
    let parsed = command.try_get_matches_from_mut(arguments).and_then(|matches| Cli::from_arg_matches(&matches));
    parsed.map_err(|error| {
        let error = suggest::improve(error.format(&mut command), &command, arguments);
        usage::report(&error, &command, arguments)
    })
}

fn print_note(note: &str) {
    // Ignore the error of a closed stderr: nobody is reading.
    let _ = writeln!(anstream::stderr().lock(), "note: {note}");
}

fn dispatch(command: Command) -> Result<ExitCode, CommandError> {
    match command {
        Command::Install(arguments) => install::install(&arguments),
        Command::Uninstall(arguments) => uninstall::run(&arguments),
        Command::Status(arguments) => status::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Verify(arguments) => verify::run(&arguments),
        Command::Config(arguments) => config::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Namespaces(arguments) => namespaces::run(&arguments),
        Command::Search(arguments) => memory::search(&arguments),
        Command::Timeline(arguments) => timeline::run(&arguments),
        Command::Session(arguments) => session::run(arguments),
        Command::Files(arguments) => files::run(&arguments),
        Command::Failures(arguments) => failures::run(&arguments),
        Command::Observations(arguments) => observations::run(arguments),
        Command::Projects(arguments) => projects::run(&arguments),
        Command::View(arguments) => view::run(&arguments),
        Command::Memory(arguments) => memory::run(arguments),
        Command::Note(arguments) => note::run(arguments),
        Command::Pause(arguments) => pause::pause(&arguments),
        Command::Resume(arguments) => pause::resume(&arguments),
        Command::Scrub(arguments) => scrub::scrub(&arguments),
        Command::Team(arguments) => team::run(arguments),
        Command::Ingest(arguments) => ingest::run(&arguments),
        Command::Import(arguments) => import::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Backup(arguments) => backup::run(&arguments),
        Command::Restore(arguments) => restore::run(&arguments),
        Command::Projections(arguments) => projections::run(&arguments),
        Command::Policy(arguments) => policy::run(arguments),
        Command::Model(arguments) => model::run(&arguments),
        Command::Context(arguments) => context::run(&arguments),
        Command::Redact(arguments) => scrub::redact(&arguments),
        Command::Mcp(arguments) => mcp::run(&arguments),
        Command::Statusline(arguments) => status::line(&arguments),
        Command::Hook(arguments) => {
            hook::run(&arguments.words());
            Ok(ExitCode::SUCCESS)
        }
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Man(arguments) => completions::man(&arguments),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_tree_is_sound() {
        super::command().debug_assert();
    }

    #[test]
    fn the_version_is_the_one_that_clap_would_print() {
        assert_eq!(super::VERSION_LINE, super::command().render_long_version());
    }
}
