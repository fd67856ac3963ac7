//! `throughline uninstall`: takes the hooks and the plugin out of the agents' settings.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;

use super::environment;
use super::error::CommandError;
use super::install::{Scope, SettingsScope, plugin_error, preview, print_backup_path, program};
use super::output::{self, BOLD, DIM};
use throughline_agents::plugin;
use throughline_agents::protocol::name::Agent;
use throughline_agents::settings::{self, Change, Client, agents};
use throughline_engine::config;
use throughline_engine::hooks::STORE_BUSY_TIMEOUT;
use throughline_engine::runtime::Runtime;
use throughline_platform::paths::{self, Paths};
use throughline_platform::program;
use throughline_sandbox::managed::Managed;
use throughline_store::Access;

/// Remove what `install` added to the agents' settings
///
/// Removes the hooks, the MCP server and the plugin, and nothing else, for every agent unless `--agent` names one. A copy of each old file
/// is kept beside it, unless nothing but ours was in it. The memory stays. At the end the command lists what is left.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Only change the settings of this agent
    #[arg(long, value_parser = super::agent::client_parser(), value_name = "NAME")]
    agent: Option<Client>,
    #[command(flatten)]
    settings: SettingsScope,
    /// Show what would change and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
}

/// What `uninstall` prints with `--json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Uninstalled {
    /// Whether a file was changed; with `dry_run`, whether one would be.
    changed: bool,
    dry_run: bool,
    /// The files that were changed; with `dry_run`, those that would be.
    files: Vec<ChangedFile>,
    /// Settings of known projects that still register hooks.
    left: Vec<PathBuf>,
    /// The folders of Throughline that are still there, and the copies of settings that it made; empty with `--agent` or
    /// `--scope`.
    kept: Vec<PathBuf>,
}

/// A file from which hooks or the plugin were removed.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ChangedFile {
    /// The agent, as in the output of `install`.
    agent: &'static str,
    settings: PathBuf,
    /// Whether the file was deleted because nothing was left in it.
    gone: bool,
    /// The copy of the old file.
    backup: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    // A damaged configuration must not prevent uninstalling.
    let runtime = Runtime::with(environment::paths()?, config::Config::default(), Managed::default());
    let program = program()?;
    let folder = plugin::folder(&runtime.paths);
    let changes = plan(arguments, &runtime, &program, &folder)?;
    if arguments.dry_run && !arguments.json {
        return preview(&runtime, &changes);
    }
    let keeps_plugin = changes.iter().any(Change::has_plugin);
    let mut files = Vec::new();
    for change in changes.iter().filter(|change| !change.is_unchanged()) {
        files.push(ChangedFile {
            agent: change.client().name(),
            settings: change.file().to_path_buf(),
            gone: change.removes_file(),
            backup: if arguments.dry_run { None } else { change.apply()? },
        });
    }
    // Settings of projects may refer to the folder too, so it is only removed with the user's own settings.
    let is_claude = arguments.agent.is_none_or(|client| client == Agent::ClaudeCode.into());
    if is_claude && arguments.settings.scope == Scope::User && !keeps_plugin && !arguments.dry_run {
        plugin::remove(&folder).map_err(|error| plugin_error(&folder, &error))?;
    }
    let left = left(&runtime, arguments.agent, &program);
    let is_all = arguments.agent.is_none() && arguments.settings.scope == Scope::User;
    let kept = if is_all { kept(&runtime.paths, &changes) } else { Vec::new() };
    if arguments.json {
        let left = left.into_iter().map(|(_, file)| file).collect();
        output::json(&Uninstalled { changed: !files.is_empty(), dry_run: arguments.dry_run, files, left, kept })?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = output::stdout();
    for file in &files {
        let what = if file.gone { ", which was deleted because nothing else was in it" } else { "" };
        writeln!(out, "{BOLD}uninstalled{BOLD:#} from {}{what}", paths::display(&file.settings, &runtime.paths.home))?;
        print_backup_path(&mut out, &runtime, file.backup.as_deref())?;
    }
    if files.is_empty() {
        let checked: Vec<String> = changes.iter().map(|change| paths::display(change.file(), &runtime.paths.home)).collect();
        let checked = match (arguments.agent, arguments.settings.scope) {
            (Some(_), _) => checked.join(", "),
            (None, Scope::User) => "the settings of any agent".to_owned(),
            (None, Scope::Project | Scope::Local) => "the settings of any agent in this folder".to_owned(),
        };
        writeln!(out, "not installed in {checked}; nothing was changed")?;
    }
    print_left(&mut out, &runtime, &left)?;
    print_kept(&mut out, &runtime.paths, &kept)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Plans what is taken out of the files of the agents.
fn plan(arguments: &Arguments, runtime: &Runtime, program: &Path, folder: &Path) -> Result<Vec<Change>, CommandError> {
    let mut changes = Vec::new();
    for client in Client::all() {
        if arguments.agent.is_some_and(|named| named != client) {
            continue;
        }
        let targets = match arguments.settings.targets(client, runtime) {
            Ok(targets) => targets,
            Err(failure) if arguments.agent.is_some() => return Err(failure),
            Err(_) => continue,
        };
        for target in targets {
            match Change::remove(client, &target, program, folder) {
                Ok(change) => changes.push(change),
                // This file was not asked for, and contains nothing of ours.
                Err(_)
                    if (arguments.agent.is_none() && client != Agent::ClaudeCode.into() || !target.hooks)
                        && !may_contain_hooks(&target.file) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(changes)
}

/// Returns what is left of Throughline in this user's folders: its own folders, and the copies of the agents' settings.
fn kept(paths: &Paths, changes: &[Change]) -> Vec<PathBuf> {
    let own = [paths.default_namespace_data(), paths.config.clone(), paths.cache.clone()];
    let mut kept: Vec<PathBuf> = own.into_iter().filter(|folder| folder.exists()).collect();
    kept.extend(changes.iter().flat_map(|change| settings::backups(change.file())));
    kept
}

fn print_kept(out: &mut impl Write, paths: &Paths, kept: &[PathBuf]) -> Result<(), CommandError> {
    if kept.is_empty() {
        return Ok(());
    }
    writeln!(out, "left, until you delete it:")?;
    let shown: Vec<String> = kept.iter().map(|path| output::clean_line(&paths::display(path, &paths.home))).collect();
    let width = output::widest(&shown);
    for (path, shown) in kept.iter().zip(&shown) {
        let what = match path {
            _ if *path == paths.default_namespace_data() => "the memory and the log",
            _ if *path == paths.config => "your configuration and policies",
            _ if *path == paths.cache => "compiled policies",
            _ => "settings as they were before",
        };
        writeln!(out, "  {}  {DIM}{what}{DIM:#}", output::pad(shown, width))?;
    }
    out.flush()?;
    writeln!(anstream::stderr().lock(), "hint: `rm -r` with these paths deletes all of it, and every memory")?;
    Ok(())
}

/// Returns the settings of known projects, and of the current folder's, that still register hooks, each with its
/// project. Other people may use such a file too, so it is only named.
fn left(runtime: &Runtime, named: Option<Client>, program: &Path) -> Vec<(PathBuf, PathBuf)> {
    let store = runtime.store(Access::Existing, STORE_BUSY_TIMEOUT).ok();
    let known = store.and_then(|store| store.all_projects().ok()).unwrap_or_default();
    let mut roots: Vec<PathBuf> = known.into_iter().map(|project| project.root).filter(|root| root.is_absolute()).collect();
    roots.extend(std::env::current_dir());
    let mut found: Vec<(PathBuf, PathBuf)> = Vec::new();
    for root in roots {
        for agent in Agent::ALL.into_iter().filter(|agent| named.is_none_or(|named| named == (*agent).into())) {
            for scope in [settings::Scope::Project, settings::Scope::Local] {
                for file in agents::files(agent, scope, &runtime.paths, &root) {
                    let text = settings::read(&file).ok().flatten().unwrap_or_default();
                    let has_hooks = settings::registered(agent, &file, &text, program).is_ok_and(|it| !it.is_empty())
                        || (agent == Agent::ClaudeCode && settings::prompt_hook(&text).is_ok_and(|it| it.is_some()));
                    let is_known = found.iter().any(|(_, known)| program::is_same_file(known, &file));
                    if has_hooks && !is_known {
                        found.push((root.clone(), file));
                    }
                }
            }
        }
    }
    found
}

fn print_left(out: &mut impl Write, runtime: &Runtime, left: &[(PathBuf, PathBuf)]) -> Result<(), CommandError> {
    for (root, file) in left {
        let is_local = file.file_name().is_some_and(|name| name.to_string_lossy().contains(".local."));
        let scope = if is_local { "local" } else { "project" };
        writeln!(
            out,
            "  still installed in {}: to remove it, run `throughline uninstall --scope {scope}` in {}",
            paths::display(file, &runtime.paths.home),
            paths::display(root, &runtime.paths.home),
        )?;
    }
    Ok(())
}

/// Whether a file that cannot be parsed may contain our hooks.
fn may_contain_hooks(file: &Path) -> bool {
    settings::read(file).ok().flatten().is_some_and(|text| text.contains("throughline"))
}
