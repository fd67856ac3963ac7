//! `.claude/session-context.json`: what is known of a session, for programs.

use std::path::Path;
use std::process::{Command, Stdio};

use serde::Serialize;

use super::text::stamp;
use throughline_model::contract::{Decision, SessionNotes};
use throughline_model::project::Project;
use throughline_store::{Result, Store};

/// Where it stands in a project's root.
pub(super) const FOLDER: &str = ".claude";
/// Its name there.
pub(super) const FILE: &str = "session-context.json";
/// The one before.
pub(super) const BACKUP: &str = "session-context.json.bak";

/// The version of its form.
const VERSION: &str = "2.0";

/// The most files that count as recent, and the most failures that are added to the notes' own.
const MOST_FILES: usize = 20;
const MOST_ERRORS: u32 = 10;

/// The file.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionContext {
    /// Whose it is.
    pub meta: Meta,
    /// What it is about.
    pub goal: Goal,
    /// How far it is.
    pub progress: Progress,
    /// What was chosen.
    pub decisions: Vec<Decision>,
    /// What was found.
    pub discoveries: Vec<Discovery>,
    /// How it stands.
    pub state: State,
}

/// Whose a context is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Meta {
    /// Of the form.
    pub version: &'static str,
    /// RFC 3339, UTC.
    pub saved_at: String,
    /// The agent's identifier.
    pub session_id: String,
    /// The root of the project.
    pub project: String,
}

/// What a session is about.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Goal {
    /// What the human asked for first.
    pub original_request: String,
    /// What it is about now; the same where nothing else was asked since.
    pub current_objective: String,
}

/// How far a session is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Progress {
    /// Finished.
    pub done: Vec<String>,
    /// In hand.
    pub current: Vec<String>,
    /// Not begun.
    pub pending: Vec<String>,
}

/// What was found in a file.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Discovery {
    /// The file.
    pub file: String,
    /// One line.
    pub insight: String,
    /// RFC 3339, UTC; empty where it is not known.
    pub timestamp: String,
}

/// How a session stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct State {
    /// Files that it changed, the last one first.
    pub recent_files: Vec<String>,
    /// What is in the way.
    pub blockers: Vec<String>,
    /// Failures that are still open.
    pub errors: Vec<String>,
}

/// What a session is about now.
pub(super) fn objective(notes: &SessionNotes) -> String {
    let moved_on = !notes.current_objective.trim().is_empty();
    if moved_on { &notes.current_objective } else { &notes.original_request }.clone()
}

/// What is stored of a session of the project; none where it is not known.
pub fn context(store: &Store, project: &Project, session: &str) -> Result<Option<SessionContext>> {
    let Some(notes) = store.session(&project.id, session)?.and_then(|record| record.notes) else { return Ok(None) };
    let saved_at = store.saved_at(session)?.unwrap_or_default();
    let mut errors = notes.errors.clone();
    for failure in store.failures(Some(&project.id), Some(session), true, MOST_ERRORS)? {
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
            recent_files: notes.changes.into_iter().rev().map(|change| change.path).take(MOST_FILES).collect(),
            blockers: notes.blockers,
            errors,
        },
    }))
}

/// Whether a git repository at `root` would take the file up. Asks git, so not for hooks.
pub fn would_be_tracked(root: &Path) -> bool {
    Command::new("git")
        .arg("-C")
        .arg(root)
        // The repository's own configuration could name a program here.
        .args(["-c", "core.fsmonitor=false", "check-ignore", "-q", "--"])
        .arg(Path::new(FOLDER).join(FILE))
        .env("GIT_OPTIONAL_LOCKS", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        // 0: it is ignored; 128: there is no repository.
        .is_ok_and(|status| status.code() == Some(1))
}
