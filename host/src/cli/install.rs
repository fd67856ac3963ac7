//! `throughline install` and `throughline uninstall`: our hooks, or our plugin, in Claude Code's settings.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use serde::Serialize;

use super::failure::{Done, Failure};
use super::output::{self, BOLD};
use crate::agent::name::Agent;
use crate::hooks::PATIENCE;
use crate::paths;
use crate::plugin;
use crate::policy::managed::Managed;
use crate::program;
use crate::runtime::Runtime;
use crate::settings::{self, Change, SettingsError};
use crate::store::Access;
use crate::{config, ingest};

/// Register the hooks with Claude Code, so that it remembers from now on
///
/// Merges hooks into Claude Code's settings: nothing else in the file is changed, and a copy of it as it was is kept
/// beside it. Also makes the folders and the database, and compiles the policy, so that the first session does not wait
/// for it. Doing it again changes nothing, or brings the hooks up to date where the program has moved.
///
/// With `--plugin` the plugin that this program carries takes the hooks' place: it brings the same hooks, and the MCP server, commands
/// and a skill beside them. Where hooks are registered too, the plugin's stay silent.
#[derive(clap::Args)]
pub(super) struct Arguments {
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

/// Take the hooks and the plugin out of Claude Code's settings
///
/// Removes what `install` added and nothing else; a copy of the file as it was is kept beside it. What is remembered stays.
#[derive(clap::Args)]
pub(super) struct Removal {
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
    /// You, in all projects: ~/.claude/settings.json
    User,
    /// Everybody who works on the present project: .claude/settings.json, which is meant to be committed
    Project,
    /// You, in the present project: .claude/settings.local.json
    Local,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Profile {
    /// From session to session and across a compaction: `SessionStart`, `PreCompact`, `SessionEnd`
    Minimal,
    /// And what happens in between: prompts, tools, failures, sub-agents, ends of turns
    Standard,
    /// And `PostToolBatch`, which alone tells of tools that there are not and of uses that were refused
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

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Report {
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
    /// Transcripts that `throughline ingest` could read.
    transcripts: usize,
}

impl From<SettingsError> for Failure {
    fn from(error: SettingsError) -> Self {
        Self::new(&error).hint(error.hint())
    }
}

pub(super) fn install(arguments: &Arguments) -> Result<Done, Failure> {
    if super::SPACE.get().is_some() {
        return Err(Failure::new("hooks are of the namespace that their agent is started in").hint(
            "install without --namespace, and set THROUGHLINE_NAMESPACE in the agent's environment, or under `env` in its settings",
        ));
    }
    let runtime = super::runtime()?;
    let program = program()?;
    let file = arguments.place.file(&runtime)?;
    let folder = plugin::folder(&runtime.paths);
    let change = if arguments.plugin {
        Change::install_plugin(&file, &program, &folder)?
    } else {
        Change::install(Agent::ClaudeCode, &file, &program, arguments.profile.map(Into::into))?
    };
    if arguments.dry_run {
        return preview(&runtime, &change, program, arguments.json);
    }
    // The hooks come last: once they are there, everything that they need is too.
    let prepared = prepare(&runtime);
    runtime.finish();
    prepared?;
    if arguments.plugin {
        plugin::write(&folder, &program).map_err(|error| unwritable(&folder, &error))?;
    }
    let backup = change.apply()?;
    let report = Report::new(&runtime, &change, program, backup, false);
    if arguments.json {
        output::json(&report)?;
        return Ok(Done::Well);
    }
    let file = paths::display(change.file(), &runtime.paths.home);
    let mut out = output::stdout();
    if report.changed {
        writeln!(out, "{BOLD}installed{BOLD:#} in {file}")?;
        if arguments.plugin {
            writeln!(out, "  plugin: {} from {}", plugin::ID, paths::display(&folder, &runtime.paths.home))?;
        } else {
            writeln!(out, "  hooks: {}", report.events.join(", "))?;
        }
        tell_backup(&mut out, &runtime, &report)?;
    } else {
        writeln!(out, "already installed in {file}; nothing was changed")?;
    }
    out.flush()?;
    let mut err = anstream::stderr().lock();
    if report.plugin && !arguments.plugin {
        writeln!(err, "note: the plugin is enabled too; its own hooks stay silent where these are registered")?;
    }
    if arguments.place.scope == Scope::Project {
        writeln!(
            err,
            "note: the file names {}, which others may not have; --scope local keeps it to you",
            if arguments.plugin { folder.display() } else { report.program.display() }
        )?;
    }
    if report.transcripts > 0 {
        writeln!(
            err,
            "hint: `throughline ingest` reads {} of earlier sessions",
            output::counted(report.transcripts as u64, "transcript", "transcripts")
        )?;
    }
    Ok(Done::Well)
}

pub(super) fn uninstall(arguments: &Removal) -> Result<Done, Failure> {
    // What is broken in the configuration need not keep anybody from leaving.
    let runtime = Runtime::with(super::paths()?, config::Config::default(), Managed::default());
    let program = program()?;
    let folder = plugin::folder(&runtime.paths);
    let change = Change::uninstall(Agent::ClaudeCode, &arguments.place.file(&runtime)?, &program, &folder)?;
    if arguments.dry_run {
        return preview(&runtime, &change, program, arguments.json);
    }
    let backup = change.apply()?;
    // Settings of projects may lead there as well; the user's own are the last to go.
    if arguments.place.scope == Scope::User && !change.has_plugin() {
        plugin::remove(&folder).map_err(|error| unwritable(&folder, &error))?;
    }
    let report = Report::new(&runtime, &change, program, backup, false);
    if arguments.json {
        output::json(&report)?;
        return Ok(Done::Well);
    }
    let file = paths::display(change.file(), &runtime.paths.home);
    let mut out = output::stdout();
    if report.changed {
        writeln!(out, "{BOLD}uninstalled{BOLD:#} from {file}")?;
        tell_backup(&mut out, &runtime, &report)?;
    } else {
        writeln!(out, "not installed in {file}; nothing was changed")?;
    }
    if runtime.paths.database().exists() {
        writeln!(out, "  what is remembered stays in {}", paths::display(&runtime.paths.data, &runtime.paths.home))?;
    }
    out.flush()?;
    Ok(Done::Well)
}

impl Place {
    fn file(&self, runtime: &Runtime) -> Result<PathBuf, Failure> {
        let folder = match self.scope {
            Scope::User => PathBuf::new(),
            Scope::Project | Scope::Local => super::memory::folder(None)?,
        };
        Ok(settings::Scope::from(self.scope).file(&runtime.paths, &folder))
    }
}

impl Report {
    fn new(runtime: &Runtime, change: &Change, program: PathBuf, backup: Option<PathBuf>, dry_run: bool) -> Self {
        let (transcripts, _) = ingest::sources(&[runtime.paths.claude_projects()], &runtime.paths.claude_projects());
        Self {
            settings: change.file().to_path_buf(),
            changed: !change.is_nothing(),
            dry_run,
            backup,
            plugin: change.has_plugin(),
            events: change.events(&program),
            program,
            transcripts: transcripts.len(),
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

fn preview(runtime: &Runtime, change: &Change, program: PathBuf, json: bool) -> Result<Done, Failure> {
    if json {
        output::json(&Report::new(runtime, change, program, None, true))?;
        return Ok(Done::Well);
    }
    let mut out = output::stdout();
    if change.is_nothing() {
        let file = paths::display(change.file(), &runtime.paths.home);
        writeln!(out, "nothing would change in {file}")?;
    }
    for line in change.diff().lines() {
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

fn tell_backup(out: &mut impl Write, runtime: &Runtime, report: &Report) -> Result<(), Failure> {
    if let Some(backup) = &report.backup {
        let backup = paths::display(backup, &runtime.paths.home);
        writeln!(out, "  as it was: {backup}")?;
    }
    Ok(())
}
