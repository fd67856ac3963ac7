//! Checks files that are generated from the database: whether they can be written, and whether git would track any of
//! them by accident.

use std::path::Path;

use super::finding::Finding;
use throughline_engine::config::Config;
use throughline_engine::projection;
use throughline_model::project::Project;
use throughline_platform::paths::{self, Paths};

/// Reports on the configured projections; nothing if there are none.
pub(super) fn projections(paths: &Paths, config: &Config, folder: &Path) -> Vec<Finding> {
    let settings = &config.projections;
    let mut findings = Vec::new();
    if let Some(folder) = &settings.folder {
        let shown = paths::display(folder, &paths.home);
        findings.push(match std::fs::metadata(folder) {
            Ok(meta) if !meta.is_dir() => Finding::warn(
                "projections",
                format!("{shown} is not a folder; project notes cannot be written"),
                "move it away, or set projections.folder to another one",
            ),
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Finding::warn(
                "projections",
                format!("{shown} cannot be used: {error}"),
                "check the owner and the permissions, or set projections.folder to another one",
            ),
            _ => Finding::ok("projections", format!("project notes in {shown}")),
        });
    }
    let root = Project::discover(folder).root;
    if settings.session_context && projection::would_be_tracked(&root) {
        findings.push(Finding::warn(
            "projections",
            format!("git does not ignore .claude/session-context.json in {}", paths::display(&root, &paths.home)),
            "add it, and .claude/session-context.json.bak, to .gitignore",
        ));
    }
    findings
}
