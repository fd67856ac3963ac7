//! A session that is about nothing in particular, for the examples.

use throughline_default_policy::bindings::throughline::policy::types::Session;

/// Returns a session of Claude Code in a project without a folder.
pub(crate) fn session() -> Session {
    Session {
        id: "session".to_owned(),
        project: "project".to_owned(),
        root: String::new(),
        cwd: String::new(),
        agent: "claude-code".to_owned(),
        model: None,
        now: 0,
        attributes: Vec::new(),
    }
}
