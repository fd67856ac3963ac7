//! Files that are made from the database: that they can be, and that none ends up in a repository by accident.

use std::path::Path;

use super::Finding;
use throughline_engine::config::Config;
use throughline_engine::projection;
use throughline_model::project::Project;
use throughline_platform::paths::{self, Paths};

/// What there is to be said of them; nothing where none are wanted.
pub(super) fn projections(paths: &Paths, config: &Config, folder: &Path) -> Vec<Finding> {
    let settings = &config.projections;
    let mut findings = Vec::new();
    if let Some(folder) = &settings.folder {
        let shown = paths::display(folder, &paths.home);
        findings.push(match std::fs::metadata(folder) {
            Ok(meta) if !meta.is_dir() => Finding::warn(
                "projections",
                format!("{shown} is no folder; notes of projects cannot be written"),
                "move it away, or set projections.folder to another one",
            ),
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Finding::warn(
                "projections",
                format!("{shown} cannot be used: {error}"),
                "check owner and mode, or set projections.folder to another one",
            ),
            _ => Finding::ok("projections", format!("notes of projects in {shown}")),
        });
    }
    let root = Project::of(folder).root;
    if settings.session_context && projection::would_be_tracked(&root) {
        findings.push(Finding::warn(
            "projections",
            format!("git does not ignore .claude/session-context.json in {}", paths::display(&root, &paths.home)),
            "add it, and .claude/session-context.json.bak, to .gitignore",
        ));
    }
    findings
}
