//! Which project a session belongs to.

use std::path::Path;

use throughline_model::project::Project;
use throughline_store::{Result, Store};

/// Returns the project of a session: the one it began in, wherever the agent has moved since.
pub(super) fn project_of(store: &Store, session: &str, cwd: &Path) -> Result<Project> {
    Ok(match store.project_of_session(session)? {
        Some(project) => project,
        None => Project::discover(cwd),
    })
}
