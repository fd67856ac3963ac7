//! Whom a settings file applies to.

use std::path::{Path, PathBuf};

use throughline_platform::paths::Paths;

/// Whom a settings file applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// This user in all projects.
    User,
    /// Everybody who works on the project. The file is meant to be committed.
    Project,
    /// This user in this project.
    Local,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 3] = [Self::User, Self::Project, Self::Local];

    /// Returns Claude Code's settings file of this scope, for the project around `folder`.
    pub fn file(self, paths: &Paths, folder: &Path) -> PathBuf {
        match self {
            Self::User => paths.claude.join("settings.json"),
            Self::Project => checkout(folder).join(".claude/settings.json"),
            Self::Local => checkout(folder).join(".claude/settings.local.json"),
        }
    }
}

/// Returns the root of the work tree around `folder`, or `folder` itself. Unlike a project's root, a linked worktree
/// has its own: Claude Code looks for settings there.
pub(super) fn checkout(folder: &Path) -> &Path {
    folder.ancestors().find(|candidate| candidate.join(".git").exists()).unwrap_or(folder)
}
