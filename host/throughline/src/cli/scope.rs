//! What a command is about: a folder, the project of a folder or all projects, a session.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;

use super::error::CommandError;
use super::output;
use throughline_engine::runtime::Runtime;
use throughline_engine::targets;
use throughline_model::project::Project;
use throughline_platform::paths;
use throughline_store::Store;

/// The longest identifier of a session, bytes.
const MAX_SESSION_ID: usize = 128;

/// The projects that a command is about.
#[derive(Args)]
pub(super) struct Scope {
    /// Use the project of this folder, or the known project of this name or path, instead of the current one
    #[arg(long, value_name = "DIR", conflicts_with = "all_projects")]
    project: Option<PathBuf>,
    /// Use all projects
    #[arg(long)]
    all_projects: bool,
}

impl Scope {
    /// Returns the project; none for all projects.
    pub(super) fn project(&self, runtime: &Runtime) -> Result<Option<Project>, CommandError> {
        if self.all_projects {
            return Ok(None);
        }
        Ok(Some(targets::find_project(runtime, self.project.as_deref())?))
    }
}

/// Returns `folder`, by default the current folder, as an absolute path.
pub(super) fn folder(folder: Option<&Path>) -> Result<PathBuf, CommandError> {
    std::path::absolute(folder.unwrap_or(Path::new("."))).map_err(|error| {
        CommandError::new(format!("cannot find out the current folder: {error}"))
            .hint("change to a folder that exists, or use --project DIR or --all-projects")
    })
}

/// Returns the identifier of the session that begins with `beginning`. It is an error if there is none.
pub(super) fn resolve_session(store: &Store, beginning: &str) -> Result<String, CommandError> {
    Ok(targets::find_session(store, beginning)?
        .ok_or_else(|| targets::unknown_session(beginning))
        .map_err(anyhow::Error::from)?)
}

/// Like [`resolve_session`], but takes a whole identifier as it is: nothing may be stored of the session yet.
pub(super) fn resolve_any_session(store: Option<&Store>, typed: &str) -> Result<String, CommandError> {
    /// The length of a UUID, which is what agents use.
    const WHOLE: usize = 36;
    check_session(typed)?;
    let found = store.map(|store| targets::find_session(store, typed)).transpose()?.flatten();
    match found {
        Some(session) => Ok(session),
        None if typed.len() >= WHOLE => Ok(typed.to_owned()),
        None => Err(CommandError::from(anyhow::Error::from(targets::unknown_session(typed)))
            .hint("a session that nothing is stored of yet needs its whole identifier")),
    }
}

/// Names a project for people: its name and its folder.
pub(super) fn describe(project: &Project, home: &Path) -> String {
    let path = output::clean_line(&paths::display(&project.root, home));
    match project.root.file_name() {
        Some(name) if project.root.is_absolute() => format!("{} ({path})", output::clean_line(&name.to_string_lossy())),
        _ => path,
    }
}

/// Refuses what cannot be the identifier of a session.
pub(super) fn check_session(session: &str) -> Result<(), CommandError> {
    if session.trim().is_empty() || session.len() > MAX_SESSION_ID {
        return Err(CommandError::new("that is not the identifier of a session")
            .hint("the identifier is the name of the transcript without .jsonl; `throughline session list` shows it"));
    }
    Ok(())
}

/// The most projects that are looked at for one that has memories.
const MAX_OTHERS: u32 = 50;

/// Says on stderr that the result is empty, so that it does not look like an error: `what` (such as "no failures"), the
/// project, and where there are results.
pub(super) fn print_nothing_found(runtime: &Runtime, store: &Store, scope: &Scope, what: &str) -> Result<(), CommandError> {
    let mut err = anstream::stderr().lock();
    let Some(project) = scope.project(runtime)? else {
        writeln!(err, "{what} in any project")?;
        return Ok(());
    };
    writeln!(err, "{what} in {}", describe(&project, &runtime.paths.home))?;
    let known = store.known_projects(MAX_OTHERS)?;
    let is_empty = !known.iter().any(|it| it.project.id == project.id && it.memories + it.turns > 0);
    let other = known.iter().find(|it| it.project.id != project.id && it.memories > 0);
    match other {
        Some(other) if is_empty => {
            let memories = output::counted(other.memories, "memory", "memories");
            let root = &other.project.root;
            let name = root.file_name().filter(|_| root.is_absolute()).unwrap_or(root.as_os_str());
            let name = output::clean_line(&name.to_string_lossy());
            let path = output::clean_line(&paths::display(root, &runtime.paths.home));
            // A project of the same name can only be told apart by its path, and may be this one before it was moved.
            let is_namesake = root.file_name() == project.root.file_name();
            let typed = if is_namesake { &path } else { &name };
            writeln!(
                err,
                "hint: nothing is remembered of this project yet; {name} ({path}) has {memories}: use `--project {typed}` or \
                 `--all-projects`"
            )?;
            if is_namesake {
                writeln!(
                    err,
                    "hint: if it was moved here, take its memories along: `throughline export --project {path} -o {name}.jsonl`, \
                     then `throughline import {name}.jsonl --project .`"
                )?;
            }
        }
        Some(_) => writeln!(err, "hint: `--all-projects` looks in the others too")?,
        None if is_empty => writeln!(
            err,
            "hint: nothing is remembered yet; `throughline ingest` reads the sessions that your agents still have on disk"
        )?,
        None => {}
    }
    Ok(())
}
