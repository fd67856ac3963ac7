//! `throughline install`: puts the hooks or the plugin into an agent's settings.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use serde::Serialize;

use super::environment;
use super::error::CommandError;
use super::output::{self, BOLD};
use super::scope;
use throughline_agents::plugin;
use throughline_agents::protocol::name::Agent;
use throughline_agents::settings::{self, Change, Client, SettingsError, Target, agents};
use throughline_engine::hooks::STORE_BUSY_TIMEOUT;
use throughline_engine::ingest;
use throughline_engine::runtime::Runtime;
use throughline_platform::paths;
use throughline_platform::program;
use throughline_store::Access;

/// Register the hooks and the MCP server with an agent
///
/// Adds hooks to the settings of the agent, by default Claude Code. Also adds the MCP server, so that the agent can search the
/// memory. Nothing else in the settings is changed, and a copy of each old file is kept beside it. Then creates the folders
/// and the database and compiles the policies, so that the first session does not have to wait. Running the command again
/// changes nothing, or updates the hooks if the program was moved; then the hooks of other agents are updated too.
///
/// Antigravity CLI and Zed get the MCP server only: their sessions are not remembered. Goose is told nothing at the start of a
/// session, because its hooks only report; its sessions are remembered.
///
/// With `--plugin`, enables the built-in plugin for Claude Code instead: it has the same hooks, and also the MCP
/// server, commands and a skill. If hooks are registered as well, the hooks of the plugin do nothing.
#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own on the command line")]
pub(super) struct Arguments {
    /// The agent whose sessions to remember
    #[arg(long, value_parser = super::agent::client_parser(), value_name = "NAME", default_value = "claude-code")]
    agent: Client,
    #[command(flatten)]
    settings: SettingsScope,
    /// Which hooks to register; by default the profile that is registered already, or else `standard`
    #[arg(long, value_enum)]
    profile: Option<Profile>,
    /// Enable the plugin, with MCP server, commands and skill, instead of registering hooks
    #[arg(long, conflicts_with = "profile")]
    plugin: bool,
    /// Do not register the MCP server, and remove it if it is registered
    #[arg(long)]
    no_mcp: bool,
    /// Also let a model of Claude Code's check at the end of each turn whether the answer says what the memory needs
    ///
    /// Registers a prompt hook. If the answer does not say what came of the request, what was decided and why, and what is
    /// left open, the agent is asked once to add it. This needs no key of yours, and uses what pays for Claude Code.
    #[arg(long, conflicts_with = "no_prompt_hook")]
    with_prompt_hook: bool,
    /// Remove the prompt hook if it is registered
    #[arg(long)]
    no_prompt_hook: bool,
    /// Show what would change and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
}

/// The option that says which of an agent's files is meant.
#[derive(clap::Args)]
pub(super) struct SettingsScope {
    /// Which settings file to change
    #[arg(long, value_enum, default_value_t = Scope::User)]
    pub(super) scope: Scope,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Scope {
    /// Yours, for all projects: ~/.claude/settings.json, or the other agent's file in your home folder
    User,
    /// The current project's, for everybody who works on it: .claude/settings.json, or the other agent's file, which is
    /// usually committed
    Project,
    /// Yours, for the current project: .claude/settings.local.json, or droid's file; the other agents have none
    Local,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Profile {
    /// Only what carries memory to the next session and across a compaction: `SessionStart`, `PreCompact` and
    /// `SessionEnd`, or the agent's own names for them
    Minimal,
    /// Also the events in between: prompts, tool calls, failures, sub-agents and ends of turns
    Standard,
    /// Also Claude Code's `PostToolBatch`, the only hook that reports unknown tools and denied calls
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

/// What `install` prints with `--json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[expect(clippy::struct_excessive_bools, reason = "each is a member of its own in the output")]
pub(super) struct Installed {
    /// The agent, as `--agent` names it.
    agent: &'static str,
    settings: PathBuf,
    /// Whether the file was changed; with `dry_run`, whether it would be.
    changed: bool,
    dry_run: bool,
    /// The copy of the old file.
    backup: Option<PathBuf>,
    program: PathBuf,
    /// Whether the plugin is enabled in the file; with `dry_run`, whether it would be.
    plugin: bool,
    /// The hooks that are registered; empty for an agent without hooks.
    events: Vec<String>,
    /// Whether the prompt hook is registered in the file; with `dry_run`, whether it would be.
    prompt_hook: bool,
    /// The file in which the MCP server is registered by itself; with `dry_run`, would be. The plugin brings its own.
    mcp: Option<PathBuf>,
    /// Files of other agents whose hooks or MCP server called another program, and now call this one.
    updated: Vec<PathBuf>,
    /// What to do in the agent before it runs the hooks; null if there is nothing to do.
    next: Option<&'static str>,
    /// How many transcripts of Claude Code nothing was read of yet, which `throughline ingest` could read; 0 for another agent.
    transcripts: usize,
}

impl From<SettingsError> for CommandError {
    fn from(error: SettingsError) -> Self {
        Self::new(&error).hint(error.hint())
    }
}

pub(super) fn install(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let client = arguments.agent;
    check(arguments)?;
    let runtime = environment::runtime()?;
    let program = program()?;
    // A file that is committed must not contain the path that one person has.
    let is_shared = arguments.settings.scope == Scope::Project && !arguments.plugin;
    let program = if is_shared { PathBuf::from(settings::BY_NAME) } else { program };
    let folder = plugin::folder(&runtime.paths);
    let targets = arguments.settings.targets(client, &runtime)?;
    let changes = plan(arguments, &targets, &program, &folder)?;
    let others = if arguments.settings.scope == Scope::User { moved(client, &runtime, &program) } else { Vec::new() };
    let next = client.agent().and_then(|agent| agents::next(agent, arguments.settings.scope.into()));
    if arguments.dry_run {
        if arguments.json {
            output::json(&Installed::new(&runtime, &changes, &others, program, None, next, true))?;
            return Ok(ExitCode::SUCCESS);
        }
        return preview(&runtime, &changes.into_iter().chain(others).collect::<Vec<_>>());
    }
    // The hooks come last, when everything that they need is there.
    let prepared = prepare(&runtime);
    runtime.finish();
    prepared?;
    if arguments.plugin || (folder.is_dir() && !is_shared && !plugin::is_current(&folder, &program)) {
        plugin::write(&folder, &program).map_err(|error| plugin_error(&folder, &error))?;
    }
    let backups = changes.iter().map(Change::apply).collect::<Result<Vec<_>, _>>()?;
    for change in &others {
        change.apply()?;
    }
    let report = Installed::new(&runtime, &changes, &others, program, backups.first().cloned().flatten(), next, false);
    if arguments.json {
        output::json(&report)?;
        return Ok(ExitCode::SUCCESS);
    }
    print_installed(arguments, &runtime, &report, &backups)?;
    print_advice(arguments, &runtime, &report, &folder)?;
    Ok(ExitCode::SUCCESS)
}

/// Refuses options that do not fit together.
fn check(arguments: &Arguments) -> Result<(), CommandError> {
    let title = arguments.agent.title();
    if environment::has_namespace_option() {
        return Err(CommandError::new("the namespace of a hook is that of the agent that calls it").hint(
            "install without --namespace, and set THROUGHLINE_NAMESPACE in the agent's environment or under `env` in its settings",
        ));
    }
    if arguments.plugin && arguments.agent != Agent::ClaudeCode.into() {
        let what = if arguments.agent.agent().is_some() { "hooks" } else { "MCP server" };
        return Err(CommandError::new(format!("the plugin is for Claude Code, not for {title}"))
            .hint(format!("leave out --plugin to register the {what}")));
    }
    if arguments.agent.agent().is_none() && (arguments.profile.is_some() || arguments.no_mcp) {
        return Err(CommandError::new(format!("{title} has no hooks that Throughline could use, only MCP servers"))
            .hint("leave out --profile and --no-mcp"));
    }
    if (arguments.with_prompt_hook || arguments.no_prompt_hook) && arguments.agent != Agent::ClaudeCode.into() {
        return Err(CommandError::new(format!("{title} has no prompt hook that Throughline could use")).hint(
            "leave out the option: only Claude Code can check an answer at the end of a turn and ask the agent for more",
        ));
    }
    if arguments.with_prompt_hook && arguments.settings.scope == Scope::Project {
        return Err(CommandError::new("a prompt hook in a project's settings would be paid by everybody who works on it")
            .hint("use --scope local for your own sessions in this project, or leave out --scope for all projects"));
    }
    Ok(())
}

/// Plans what is done with the files of the agent: hooks go into the first.
fn plan(arguments: &Arguments, targets: &[Target], program: &Path, folder: &Path) -> Result<Vec<Change>, SettingsError> {
    let client = arguments.agent;
    // The plugin brings the server, and `--no-mcp` leaves it out.
    let wants_server = !arguments.plugin && !arguments.no_mcp;
    let mut changes = Vec::new();
    for (number, target) in targets.iter().enumerate() {
        let file = &target.file;
        let adds_server = target.servers && wants_server;
        let change = match client.agent().filter(|_| target.hooks) {
            None if adds_server => Change::register_server(client, file, program)?,
            None => Change::remove(client, target, program, folder)?,
            // Hooks that an earlier version of the agent or of this program used there would be called twice.
            Some(agent) if number > 0 => Change::uninstall(agent, file, program, folder)?,
            Some(_) if arguments.plugin => Change::install_plugin(file, program, folder)?,
            Some(agent) => {
                let hooks = Change::install(agent, file, program, arguments.profile.map(Into::into))?;
                if adds_server { hooks.and_server(program)? } else { hooks.without_server(target, program)? }
            }
        };
        let changes_prompt_hook = target.hooks && number == 0 && (arguments.with_prompt_hook || arguments.no_prompt_hook);
        changes.push(if changes_prompt_hook { change.with_prompt_hook(arguments.with_prompt_hook)? } else { change });
    }
    Ok(changes)
}

/// Plans to let the hooks and servers of other agents call this program where they call another one of ours, such as an
/// earlier installation. What cannot be read is left to `doctor`.
fn moved(except: Client, runtime: &Runtime, program: &Path) -> Vec<Change> {
    let mut changes = Vec::new();
    for client in Client::all().filter(|client| *client != except) {
        for target in client.targets(settings::Scope::User, &runtime.paths, Path::new("")) {
            let text = settings::read(&target.file).ok().flatten().unwrap_or_default();
            let called = settings::called(client, &target, &text, program);
            if !called.iter().any(|called| called.is_absolute() && !program::is_same_file(called, program)) {
                continue;
            }
            let change = settings::update(client, &target, &text, program);
            changes.extend(change.ok().filter(|change| !change.is_unchanged()));
        }
    }
    changes
}

fn print_installed(
    arguments: &Arguments,
    runtime: &Runtime,
    report: &Installed,
    backups: &[Option<PathBuf>],
) -> Result<(), CommandError> {
    let shown = |file: &Path| paths::display(file, &runtime.paths.home);
    let mut out = output::stdout();
    if report.changed {
        writeln!(out, "{BOLD}installed{BOLD:#} in {}", shown(&report.settings))?;
        if arguments.plugin {
            writeln!(out, "  plugin: {} from {}", plugin::ID, shown(&plugin::folder(&runtime.paths)))?;
        } else if !report.events.is_empty() {
            writeln!(out, "  hooks: {}", report.events.join(", "))?;
        }
        if report.prompt_hook {
            writeln!(out, "  prompt hook: a model of Claude Code's checks the answer at the end of each turn")?;
        }
        if let Some(file) = &report.mcp {
            writeln!(out, "  MCP server: {}", shown(file))?;
        }
        for backup in backups {
            print_backup_path(&mut out, runtime, backup.as_deref())?;
        }
    } else {
        writeln!(out, "already installed in {}; nothing was changed", shown(&report.settings))?;
    }
    for file in &report.updated {
        writeln!(out, "  {} called another throughline, and now calls this one", shown(file))?;
    }
    out.flush()?;
    Ok(())
}

/// Prints notes and hints on stderr.
fn print_advice(arguments: &Arguments, runtime: &Runtime, report: &Installed, folder: &Path) -> Result<(), CommandError> {
    let scope = arguments.settings.scope;
    let mut err = anstream::stderr().lock();
    if let Some(next) = report.next {
        writeln!(err, "note: {next}")?;
    }
    if arguments.with_prompt_hook {
        writeln!(
            err,
            "note: at the end of each turn Claude Code sends the conversation to its small model, at the cost of your \
             subscription or key; `throughline install --no-prompt-hook` ends that"
        )?;
    }
    if let Some(instead) = lasting(&report.program) {
        writeln!(
            err,
            "warning: {} is in a cache that may be emptied, and the hooks then do nothing",
            report.program.display()
        )?;
        writeln!(err, "hint: run `{instead}`, then `throughline install`")?;
    }
    if arguments.agent.agent().is_some_and(|agent| runs_claude_hooks(agent, runtime)) {
        let title = arguments.agent.title();
        writeln!(err, "note: {title} may run the hooks in Claude Code's settings too; each event is still counted once")?;
    }
    if report.plugin && !arguments.plugin {
        writeln!(err, "note: the plugin is enabled too; its own hooks do nothing while these are registered")?;
    }
    let is_claude = arguments.agent == Agent::ClaudeCode.into();
    let local = if is_claude { "; --scope local changes only your own settings" } else { "" };
    if scope == Scope::Project && arguments.plugin {
        writeln!(err, "note: the file contains the path {}, which others may not have{local}", folder.display())?;
    } else if scope == Scope::Project {
        writeln!(
            err,
            "note: the hooks call the throughline that each person has installed, and do nothing for those who have none{local}"
        )?;
    }
    if scope != Scope::User && !arguments.plugin && !arguments.no_mcp {
        let option = if is_claude { String::new() } else { format!(" --agent {}", arguments.agent.name()) };
        writeln!(err, "note: `throughline install{option}` registers the MCP server, in your own settings only")?;
    }
    if report.changed && !report.events.is_empty() {
        let title = arguments.agent.title();
        writeln!(err, "hint: start a new session with {title}; then `throughline status` says whether it is remembered")?;
    }
    if is_claude && !report.plugin {
        writeln!(err, "hint: `throughline install --plugin` also brings commands such as /throughline:recall, and a skill")?;
    }
    if report.transcripts > 0 {
        writeln!(
            err,
            "hint: `throughline ingest` reads {} of earlier sessions, and `--dry-run` shows which",
            output::counted(report.transcripts as u64, "transcript", "transcripts")
        )?;
    }
    Ok(())
}

/// Returns how to install a program to stay that `npx` or `uvx` fetched to run it once; none for another program.
fn lasting(program: &Path) -> Option<&'static str> {
    let has = |name: &str| program.components().any(|part| part.as_os_str() == name);
    if has("_npx") {
        Some("npm install -g @throughline/throughline")
    } else if has("uv") && has("archive-v0") {
        Some("uv tool install throughline")
    } else {
        None
    }
}

/// Whether the agent may run our hooks from Claude Code's settings.
fn runs_claude_hooks(agent: Agent, runtime: &Runtime) -> bool {
    let folder = std::env::current_dir().unwrap_or_default();
    agents::scopes_with_claude_hooks(agent).any(|scope| {
        let file = scope.file(&runtime.paths, &folder);
        let text = settings::read(&file).ok().flatten().unwrap_or_default();
        settings::registered(Agent::ClaudeCode, &file, &text, Path::new("")).is_ok_and(|found| !found.is_empty())
    })
}

impl SettingsScope {
    /// Returns the files that the agent reads; hooks are written to the first.
    pub(super) fn targets(&self, client: Client, runtime: &Runtime) -> Result<Vec<Target>, CommandError> {
        let folder = match self.scope {
            Scope::User => PathBuf::new(),
            Scope::Project | Scope::Local => scope::folder(None)?,
        };
        let targets = client.targets(self.scope.into(), &runtime.paths, &folder);
        if targets.is_empty() {
            let (what, instead) = match client.agent() {
                Some(_) => ("no personal settings for a single project", "use --scope user or --scope project"),
                None => ("no settings of a project in which Throughline registers anything", "leave out --scope"),
            };
            return Err(CommandError::new(format!("{} has {what}", client.title())).hint(instead));
        }
        Ok(targets)
    }
}

impl Installed {
    /// The first of `changes` is the file with the hooks.
    fn new(
        runtime: &Runtime,
        changes: &[Change],
        others: &[Change],
        program: PathBuf,
        backup: Option<PathBuf>,
        next: Option<&'static str>,
        dry_run: bool,
    ) -> Self {
        let change = &changes[0];
        let transcripts = if change.client() == Agent::ClaudeCode.into() { unread_transcripts(runtime) } else { 0 };
        Self {
            agent: change.client().name(),
            settings: change.file().to_path_buf(),
            changed: changes.iter().any(|change| !change.is_unchanged()),
            dry_run,
            backup,
            plugin: change.has_plugin(),
            events: change.events(&program),
            prompt_hook: change.has_prompt_hook(),
            mcp: changes.iter().find(|change| change.has_server(&program)).map(|change| change.file().to_path_buf()),
            updated: others.iter().map(|change| change.file().to_path_buf()).collect(),
            program,
            next,
            transcripts,
        }
    }
}

/// Returns how many transcripts of Claude Code `throughline ingest` would read from their beginning.
fn unread_transcripts(runtime: &Runtime) -> usize {
    let folder = runtime.paths.claude_projects();
    let sources = ingest::sources(std::slice::from_ref(&folder), &folder).0;
    // Without a database nothing was read. A hint is not worth failing for.
    let store = runtime.store(Access::Existing, STORE_BUSY_TIMEOUT).ok();
    ingest::unread(runtime, store.as_ref(), &sources).unwrap_or(0)
}

pub(super) fn plugin_error(folder: &Path, error: &io::Error) -> CommandError {
    CommandError::new(format!("cannot change the plugin's files in {}: {error}", folder.display()))
        .hint("check the owner and mode of the folder")
}

pub(super) fn program() -> Result<PathBuf, CommandError> {
    program::stable_path().map_err(|error| {
        CommandError::new(format!("cannot find out the path of this program: {error}")).hint("call it by its full path")
    })
}

/// How long compiling the user's policies may take: the slowest known one takes 20 seconds.
const COMPILE_TIMEOUT: Duration = Duration::from_mins(5);

fn prepare(runtime: &Runtime) -> Result<(), CommandError> {
    for folder in [&runtime.paths.data, &runtime.paths.config, &runtime.paths.cache] {
        paths::create_private(folder).map_err(|error| {
            CommandError::new(format!("cannot create {}: {error}", folder.display()))
                .hint("check the owner and mode of its parent folder, or set THROUGHLINE_HOME")
        })?;
    }
    runtime.store(Access::Write, STORE_BUSY_TIMEOUT * 4)?.checkpoint()?;
    runtime.default_policy()?;
    runtime.policies(None)?.compile(Instant::now() + COMPILE_TIMEOUT);
    Ok(())
}

pub(super) fn preview(runtime: &Runtime, changes: &[Change]) -> Result<ExitCode, CommandError> {
    let mut out = output::stdout();
    if changes.iter().all(Change::is_unchanged) {
        let files: Vec<String> = changes.iter().map(|change| paths::display(change.file(), &runtime.paths.home)).collect();
        writeln!(out, "nothing would change in {}", files.join(", "))?;
    }
    for change in changes.iter().filter(|change| !change.is_unchanged()) {
        writeln!(out, "would change {}", paths::display(change.file(), &runtime.paths.home))?;
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
    Ok(ExitCode::SUCCESS)
}

pub(super) fn print_backup_path(out: &mut impl Write, runtime: &Runtime, backup: Option<&Path>) -> Result<(), CommandError> {
    if let Some(backup) = backup {
        writeln!(out, "  copy of the old file: {}", paths::display(backup, &runtime.paths.home))?;
    }
    Ok(())
}
