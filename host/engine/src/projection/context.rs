//! `.claude/session-context.json`: the state of a session, for programs.

use std::path::Path;
use std::process::{Command, Stdio};

use serde::Serialize;

use super::text::stamp;
use throughline_model::contract::{Decision, SessionNotes};
use throughline_model::project::Project;
use throughline_store::{Result, Store};

/// The folder in a project's root.
pub(super) const FOLDER: &str = ".claude";
/// The file's name.
pub(super) const FILE: &str = "session-context.json";
/// The name of the previous version.
pub(super) const BACKUP: &str = "session-context.json.bak";

/// The version of the file's format.
const VERSION: &str = "2.0";

/// The most files listed as recent, and the most failures added to the notes' own errors.
const MAX_FILES: usize = 20;
const MAX_ERRORS: u32 = 10;

/// The content of the file.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionContext {
    /// Which session this is.
    pub meta: Meta,
    /// What the session is about.
    pub goal: Goal,
    /// How far the session is.
    pub progress: Progress,
    /// The decisions made.
    pub decisions: Vec<Decision>,
    /// The discoveries made.
    pub discoveries: Vec<Discovery>,
    /// The current state.
    pub state: State,
}

/// Which session a context belongs to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Meta {
    /// The version of the format.
    pub version: &'static str,
    /// When the session was stored: RFC 3339, UTC.
    pub saved_at: String,
    /// The agent's session identifier.
    pub session_id: String,
    /// The root of the project.
    pub project: String,
}

/// What a session is about.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Goal {
    /// What the user asked for first.
    pub original_request: String,
    /// What the session is about now; the same as the original request if nothing else was asked since.
    pub current_objective: String,
}

/// How far a session is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Progress {
    /// Finished work.
    pub done: Vec<String>,
    /// Work in progress.
    pub current: Vec<String>,
    /// Work not started yet.
    pub pending: Vec<String>,
}

/// A discovery in a file.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Discovery {
    /// The file.
    pub file: String,
    /// The discovery in one line.
    pub insight: String,
    /// RFC 3339, UTC; empty if unknown.
    pub timestamp: String,
}

/// The state of a session.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct State {
    /// Files that the session changed, the latest first.
    pub recent_files: Vec<String>,
    /// What blocks the work.
    pub blockers: Vec<String>,
    /// Failures that are not fixed yet.
    pub errors: Vec<String>,
}

/// Returns what a session is about now.
pub(super) fn objective(notes: &SessionNotes) -> String {
    let moved_on = !notes.current_objective.trim().is_empty();
    if moved_on { &notes.current_objective } else { &notes.original_request }.clone()
}

/// Builds the context of a session of the project, or returns `None` if the session is unknown.
pub fn context(store: &Store, project: &Project, session: &str) -> Result<Option<SessionContext>> {
    let Some(notes) = store.session(&project.id, session)?.and_then(|record| record.notes) else { return Ok(None) };
    let saved_at = store.saved_at(session)?.unwrap_or_default();
    let mut errors = notes.errors.clone();
    for failure in store.failures(Some(&project.id), Some(session), true, MAX_ERRORS)? {
        if !errors.iter().any(|known| known.contains(&failure.error)) {
            errors.push(failure.line());
        }
    }
    Ok(Some(SessionContext {
        meta: Meta {
            version: VERSION,
            saved_at: stamp(saved_at),
            session_id: session.to_owned(),
            project: project.root.to_string_lossy().into_owned(),
        },
        goal: Goal { current_objective: objective(&notes), original_request: notes.original_request },
        progress: Progress { done: notes.done, current: notes.current, pending: notes.pending },
        decisions: notes.decisions,
        discoveries: notes
            .discoveries
            .into_iter()
            .map(|found| Discovery {
                file: found.file,
                insight: found.insight,
                timestamp: found.at.map(stamp).unwrap_or_default(),
            })
            .collect(),
        state: State {
            recent_files: notes.changes.into_iter().rev().map(|change| change.path).take(MAX_FILES).collect(),
            blockers: notes.blockers,
            errors,
        },
    }))
}

/// Returns whether a git repository at `root` would track the file. Runs git, so hooks must not call this.
pub fn would_be_tracked(root: &Path) -> bool {
    Command::new("git")
        .arg("-C")
        .arg(root)
        // The repository's own configuration could name a program to run.
        .args(["-c", "core.fsmonitor=false", "check-ignore", "-q", "--"])
        .arg(Path::new(FOLDER).join(FILE))
        .env("GIT_OPTIONAL_LOCKS", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        // 0: the file is ignored; 128: there is no repository.
        .is_ok_and(|status| status.code() == Some(1))
}
