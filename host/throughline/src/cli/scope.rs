//! What a command is about: a folder, the project of a folder or all projects, a session.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;

use super::error::CommandError;
use super::output;
use throughline_model::project::Project;
use throughline_store::Store;

/// The longest identifier of a session, bytes.
const MAX_SESSION_ID: usize = 128;

/// The projects that a command is about.
#[derive(Args)]
pub(super) struct Scope {
    /// Use the project of this folder instead of the current one; or, if there is no such folder, the project of this
    /// name
    #[arg(long, value_name = "DIR", conflicts_with = "all_projects")]
    project: Option<PathBuf>,
    /// Use all projects
    #[arg(long)]
    all_projects: bool,
}

impl Scope {
    /// Returns the project; none for all projects.
    pub(super) fn project(&self) -> Result<Option<Project>, CommandError> {
        if self.all_projects {
            return Ok(None);
        }
        // Imported memories can belong to a project that is only a name.
        if let Some(name) = self.project.as_deref().filter(|path| !path.exists()).and_then(Path::to_str)
            && Project::is_name(name)
        {
            return Ok(Some(Project::named(name)));
        }
        Ok(Some(Project::discover(&folder(self.project.as_deref())?)))
    }
}

/// Returns `folder`, by default the current folder, as an absolute path.
pub(super) fn folder(folder: Option<&Path>) -> Result<PathBuf, CommandError> {
    std::path::absolute(folder.unwrap_or(Path::new("."))).map_err(|error| {
        CommandError::new(format!("cannot find out the current folder: {error}"))
            .hint("change to a folder that exists, or use --project DIR or --all-projects")
    })
}

/// Returns the identifier of the session that begins with `beginning`. If there is none, `beginning` itself: lists are
/// then empty.
pub(super) fn resolve_session(store: &Store, beginning: &str) -> Result<String, CommandError> {
    let mut sessions = store.sessions_named(beginning)?;
    if sessions.len() > 1 && sessions[0] != beginning {
        let sessions: Vec<String> = sessions.iter().map(|id| output::clean_line(id)).collect();
        return Err(CommandError::new(format!("more than one session begins with {beginning}: {}", sessions.join(", ")))
            .hint("give more characters"));
    }
    sessions.truncate(1);
    Ok(sessions.pop().unwrap_or_else(|| beginning.to_owned()))
}

/// Refuses what cannot be the identifier of a session.
pub(super) fn check_session(session: &str) -> Result<(), CommandError> {
    if session.trim().is_empty() || session.len() > MAX_SESSION_ID {
        return Err(CommandError::new("that is not the identifier of a session")
            .hint("the identifier is the name of the transcript without .jsonl; `throughline session list` shows it"));
    }
    Ok(())
}

/// Says on stderr that nothing was found, so that an empty result does not look like an error.
pub(super) fn print_nothing_found(scope: &Scope) -> Result<(), CommandError> {
    let mut err = anstream::stderr().lock();
    writeln!(
        err,
        "nothing found{}",
        if scope.all_projects { "" } else { " in this project (--all-projects searches everywhere)" }
    )?;
    Ok(())
}
