//! `throughline install` and `throughline uninstall`: our hooks in the agents' settings, or our plugin in Claude Code's.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use serde::Serialize;

use super::failure::{Done, Failure};
use super::output::{self, BOLD};
use throughline_agents::plugin;
use throughline_agents::protocol::name::Agent;
use throughline_agents::settings::{self, Change, SettingsError, agents};
use throughline_engine::config;
use throughline_engine::hooks::PATIENCE;
use throughline_engine::ingest;
use throughline_engine::runtime::Runtime;
use throughline_platform::paths;
use throughline_platform::program;
use throughline_sandbox::managed::Managed;
use throughline_store::Access;

/// Register the hooks with an agent, so that it remembers from now on
///
/// Merges hooks into the agent's settings, Claude Code's unless `--agent` says otherwise: nothing else in the file is changed, and a
/// copy of it as it was is kept beside it. Also makes the folders and the database, and compiles the policy, so that the first
/// session does not wait for it. Doing it again changes nothing, or brings the hooks up to date where the program has moved.
///
/// With `--plugin` the plugin for Claude Code that this program carries takes the hooks' place: it brings the same hooks, and the MCP
/// server, commands and a skill beside them. Where hooks are registered too, the plugin's stay silent.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Whose sessions are to be remembered
    #[arg(long, value_enum, value_name = "NAME", default_value = "claude-code")]
    agent: Agent,
    #[command(flatten)]
    place: Place,
    /// How much is registered; what is registered already, where nothing is said, and else `standard`
    #[arg(long, value_enum)]
    profile: Option<Profile>,
    /// Enable the plugin, with MCP server, commands and skill, instead of registering hooks
    #[arg(long, conflicts_with = "profile")]
    plugin: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
}

/// Take the hooks and the plugin out of the agents' settings
///
/// Removes what `install` added and nothing else, of every agent unless `--agent` names one; a copy of each file as it was is kept
/// beside it. What is remembered stays.
#[derive(clap::Args)]
pub(super) struct Removal {
    /// Out of the settings of this agent alone
    #[arg(long, value_enum, value_name = "NAME")]
    agent: Option<Agent>,
    #[command(flatten)]
    place: Place,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
struct Place {
    /// Whom it is for
    #[arg(long, value_enum, default_value_t = Scope::User)]
    scope: Scope,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Scope {
    /// You, in all projects: ~/.claude/settings.json, or the other agent's own in your home
    User,
    /// Everybody who works on the present project: .claude/settings.json, or the other agent's, which is meant to be committed
    Project,
    /// You, in the present project: .claude/settings.local.json, or droid's; the other agents have none
    Local,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Profile {
    /// From session to session and across a compaction: `SessionStart`, `PreCompact`, `SessionEnd`, or what the agent calls them
    Minimal,
    /// And what happens in between: prompts, tools, failures, sub-agents, ends of turns
    Standard,
    /// And Claude Code's `PostToolBatch`, which alone tells of tools that there are not and of uses that were refused
    Full,
}

impl From<Profile> for settings::Profile {
    fn from(profile: Profile) -> Self {
        match profile {
            Profile::Minimal => Self::Minimal,
            Profile::Standard => Self::Standard,
            Profile::Full => Self::Full,
        }
    }
}

impl From<Scope> for settings::Scope {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::User => Self::User,
            Scope::Project => Self::Project,
            Scope::Local => Self::Local,
        }
    }
}

/// What `install` did.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Report {
    /// Whose settings: `claude-code`, `codex`, `gemini`, `cursor`, `copilot` or `droid`.
    agent: &'static str,
    settings: PathBuf,
    /// Whether the file was changed, or would be.
    changed: bool,
    dry_run: bool,
    /// The file as it was.
    backup: Option<PathBuf>,
    program: PathBuf,
    /// Whether the plugin is enabled in the file, or would be.
    plugin: bool,
    events: Vec<String>,
    /// What is to be done in the agent before it runs the hooks; none: nothing.
    next: Option<&'static str>,
    /// Claude Code's transcripts that `throughline ingest` could read; of another agent 0.
    transcripts: usize,
}

/// What `uninstall` did.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Removed {
    /// Whether any file was changed, or would be.
    changed: bool,
    dry_run: bool,
    /// The files that were changed, or would be.
    files: Vec<RemovedFrom>,
}

/// A file that hooks or the plugin were taken out of.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RemovedFrom {
    /// As for `install`.
    agent: &'static str,
    settings: PathBuf,
    /// Whether nothing was left in the file, and it went as a whole.
    gone: bool,
    /// The file as it was.
    backup: Option<PathBuf>,
}

impl From<SettingsError> for Failure {
    fn from(error: SettingsError) -> Self {
        Self::new(&error).hint(error.hint())
    }
}

pub(super) fn install(arguments: &Arguments) -> Result<Done, Failure> {
    let agent = arguments.agent;
    if super::SPACE.get().is_some() {
        return Err(Failure::new("hooks are of the namespace that their agent is started in").hint(
            "install without --namespace, and set THROUGHLINE_NAMESPACE in the agent's environment, or under `env` in its settings",
        ));
    }
    if arguments.plugin && agent != Agent::ClaudeCode {
        return Err(Failure::new(format!("the plugin is Claude Code's, not {}'s", agents::title(agent)))
            .hint("leave --plugin out: the hooks are registered then"));
    }
    let runtime = super::runtime()?;
    let program = program()?;
    let folder = plugin::folder(&runtime.paths);
    let files = arguments.place.files(agent, &runtime)?;
    let mut changes = Vec::new();
    for (number, file) in files.iter().enumerate() {
        changes.push(if number > 0 {
            // What an earlier version of the agent, or of this program, looked for there would be called twice.
            Change::uninstall(agent, file, &program, &folder)?
        } else if arguments.plugin {
            Change::install_plugin(file, &program, &folder)?
        } else {
            Change::install(agent, file, &program, arguments.profile.map(Into::into))?
        });
    }
    let next = agents::next(agent, arguments.place.scope.into());
    if arguments.dry_run {
        if arguments.json {
            output::json(&Report::new(&runtime, &changes, program, None, next, true))?;
            return Ok(Done::Well);
        }
        return preview(&runtime, &changes);
    }
    // The hooks come last: once they are there, everything that they need is too.
    let prepared = prepare(&runtime);
    runtime.finish();
    prepared?;
    if arguments.plugin {
        plugin::write(&folder, &program).map_err(|error| unwritable(&folder, &error))?;
    }
    let mut backup = None;
    for (number, change) in changes.iter().enumerate() {
        let kept = change.apply()?;
        backup = if number == 0 { kept } else { backup };
    }
    let report = Report::new(&runtime, &changes, program, backup, next, false);
    if arguments.json {
        output::json(&report)?;
        return Ok(Done::Well);
    }
    let file = paths::display(&report.settings, &runtime.paths.home);
    let mut out = output::stdout();
    if report.changed {
        writeln!(out, "{BOLD}installed{BOLD:#} in {file}")?;
        if arguments.plugin {
            writeln!(out, "  plugin: {} from {}", plugin::ID, paths::display(&folder, &runtime.paths.home))?;
        } else {
            writeln!(out, "  hooks: {}", report.events.join(", "))?;
        }
        tell_backup(&mut out, &runtime, report.backup.as_deref())?;
    } else {
        writeln!(out, "already installed in {file}; nothing was changed")?;
    }
    out.flush()?;
    advise(arguments, &runtime, &report, &folder)?;
    Ok(Done::Well)
}

/// What else there is to know.
fn advise(arguments: &Arguments, runtime: &Runtime, report: &Report, folder: &Path) -> Result<(), Failure> {
    let scope = arguments.place.scope;
    let mut err = anstream::stderr().lock();
    if let Some(next) = report.next {
        writeln!(err, "note: {next}")?;
    }
    if doubly(arguments.agent, runtime) {
        let title = agents::title(arguments.agent);
        writeln!(
            err,
            "note: {title} may run the hooks in Claude Code's settings too; what happens counts once all the same"
        )?;
    }
    if report.plugin && !arguments.plugin {
        writeln!(err, "note: the plugin is enabled too; its own hooks stay silent where these are registered")?;
    }
    if scope == Scope::Project {
        let stay = if arguments.agent == Agent::ClaudeCode { "; --scope local keeps it to you" } else { "" };
        let named = if arguments.plugin { folder.display() } else { report.program.display() };
        writeln!(err, "note: the file names {named}, which others may not have{stay}")?;
    }
    if report.transcripts > 0 {
        writeln!(
            err,
            "hint: `throughline ingest` reads {} of earlier sessions",
            output::counted(report.transcripts as u64, "transcript", "transcripts")
        )?;
    }
    Ok(())
}

/// Whether the agent may run hooks of ours that stand in Claude Code's settings.
fn doubly(agent: Agent, runtime: &Runtime) -> bool {
    let folder = std::env::current_dir().unwrap_or_default();
    agents::runs_claudes(agent).any(|scope| {
        let file = scope.file(&runtime.paths, &folder);
        let text = settings::read(&file).ok().flatten().unwrap_or_default();
        settings::registered(Agent::ClaudeCode, &file, &text, Path::new("")).is_ok_and(|found| !found.is_empty())
    })
}

pub(super) fn uninstall(arguments: &Removal) -> Result<Done, Failure> {
    // What is broken in the configuration need not keep anybody from leaving.
    let runtime = Runtime::with(super::paths()?, config::Config::default(), Managed::default());
    let program = program()?;
    let folder = plugin::folder(&runtime.paths);
    let mut changes = Vec::new();
    for agent in Agent::ALL {
        if arguments.agent.is_some_and(|named| named != agent) {
            continue;
        }
        let files = match arguments.place.files(agent, &runtime) {
            Ok(files) => files,
            Err(failure) if arguments.agent.is_some() => return Err(failure),
            Err(_) => continue,
        };
        for file in files {
            match Change::uninstall(agent, &file, &program, &folder) {
                Ok(change) => changes.push(change),
                // Nobody asked for this one, and nothing of ours is in it.
                Err(_) if arguments.agent.is_none() && agent != Agent::ClaudeCode && !names_us(&file) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    if arguments.dry_run && !arguments.json {
        return preview(&runtime, &changes);
    }
    let keeps_plugin = changes.iter().any(Change::has_plugin);
    let mut files = Vec::new();
    for change in changes.iter().filter(|change| !change.is_nothing()) {
        files.push(RemovedFrom {
            agent: change.agent().name(),
            settings: change.file().to_path_buf(),
            gone: change.removes_file(),
            backup: if arguments.dry_run { None } else { change.apply()? },
        });
    }
    // Settings of projects may lead there as well; the user's own are the last to go.
    let claudes = arguments.agent.is_none_or(|agent| agent == Agent::ClaudeCode);
    if claudes && arguments.place.scope == Scope::User && !keeps_plugin && !arguments.dry_run {
        plugin::remove(&folder).map_err(|error| unwritable(&folder, &error))?;
    }
    if arguments.json {
        output::json(&Removed { changed: !files.is_empty(), dry_run: arguments.dry_run, files })?;
        return Ok(Done::Well);
    }
    let mut out = output::stdout();
    for file in &files {
        let what = if file.gone { ", which held nothing else and is gone" } else { "" };
        writeln!(out, "{BOLD}uninstalled{BOLD:#} from {}{what}", paths::display(&file.settings, &runtime.paths.home))?;
        tell_backup(&mut out, &runtime, file.backup.as_deref())?;
    }
    if files.is_empty() {
        let looked: Vec<String> = changes.iter().map(|change| paths::display(change.file(), &runtime.paths.home)).collect();
        writeln!(out, "not installed in {}; nothing was changed", looked.join(", "))?;
    }
    if runtime.paths.database().exists() {
        writeln!(out, "  what is remembered stays in {}", paths::display(&runtime.paths.data, &runtime.paths.home))?;
    }
    out.flush()?;
    Ok(Done::Well)
}

/// Whether a file that cannot be understood may hold hooks of ours.
fn names_us(file: &Path) -> bool {
    settings::read(file).ok().flatten().is_some_and(|text| text.contains("throughline"))
}

impl Place {
    /// The files in which the agent looks, the one to write to first.
    fn files(&self, agent: Agent, runtime: &Runtime) -> Result<Vec<PathBuf>, Failure> {
        let folder = match self.scope {
            Scope::User => PathBuf::new(),
            Scope::Project | Scope::Local => super::memory::folder(None)?,
        };
        let files = agents::files(agent, self.scope.into(), &runtime.paths, &folder);
        if files.is_empty() {
            return Err(Failure::new(format!("{} has no settings for you in one project alone", agents::title(agent)))
                .hint("use --scope user, or --scope project"));
        }
        Ok(files)
    }
}

impl Report {
    /// `changes`: the file that holds the hooks comes first.
    fn new(
        runtime: &Runtime,
        changes: &[Change],
        program: PathBuf,
        backup: Option<PathBuf>,
        next: Option<&'static str>,
        dry_run: bool,
    ) -> Self {
        let change = &changes[0];
        let transcripts = if change.agent() == Agent::ClaudeCode {
            ingest::sources(&[runtime.paths.claude_projects()], &runtime.paths.claude_projects()).0.len()
        } else {
            0
        };
        Self {
            agent: change.agent().name(),
            settings: change.file().to_path_buf(),
            changed: changes.iter().any(|change| !change.is_nothing()),
            dry_run,
            backup,
            plugin: change.has_plugin(),
            events: change.events(&program),
            program,
            next,
            transcripts,
        }
    }
}

fn unwritable(folder: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("the plugin's files in {}: {error}", folder.display())).hint("check owner and mode of the folder")
}

fn program() -> Result<PathBuf, Failure> {
    program::lasting_path().map_err(|error| {
        Failure::new(format!("where this program is cannot be found out: {error}")).hint("call it by its whole path")
    })
}

/// How long the user's policies may take to be compiled: the slowest known takes 20 seconds.
const COMPILE: Duration = Duration::from_mins(5);

fn prepare(runtime: &Runtime) -> Result<(), Failure> {
    for folder in [&runtime.paths.data, &runtime.paths.config, &runtime.paths.cache] {
        paths::create_private(folder).map_err(|error| {
            Failure::new(format!("{} cannot be made: {error}", folder.display()))
                .hint("check owner and mode of the folder above, or set THROUGHLINE_HOME")
        })?;
    }
    runtime.store(Access::Write, PATIENCE * 4)?.checkpoint()?;
    runtime.default_policy()?;
    runtime.policies(None)?.compile(Instant::now() + COMPILE);
    Ok(())
}

fn preview(runtime: &Runtime, changes: &[Change]) -> Result<Done, Failure> {
    let mut out = output::stdout();
    if changes.iter().all(Change::is_nothing) {
        let files: Vec<String> = changes.iter().map(|change| paths::display(change.file(), &runtime.paths.home)).collect();
        writeln!(out, "nothing would change in {}", files.join(", "))?;
    }
    for line in changes.iter().map(Change::diff).collect::<String>().lines() {
        let style = match line.as_bytes().first() {
            Some(b'+') => anstyle::AnsiColor::Green.on_default(),
            Some(b'-') => anstyle::AnsiColor::Red.on_default(),
            _ => anstyle::Style::new(),
        };
        writeln!(out, "{style}{}{style:#}", output::clean(line))?;
    }
    out.flush()?;
    Ok(Done::Well)
}

fn tell_backup(out: &mut impl Write, runtime: &Runtime, backup: Option<&Path>) -> Result<(), Failure> {
    if let Some(backup) = backup {
        writeln!(out, "  as it was: {}", paths::display(backup, &runtime.paths.home))?;
    }
    Ok(())
}
