//! What a page asks for.

use serde::Deserialize;

use crate::error::ApiError;

/// The most entries of a page.
const MAX_PAGE: u32 = 200;

/// What a page asks for; every part is optional.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Wanted {
    /// The root folder or the name of a project; none for all.
    pub(super) project: Option<String>,
    /// Words to search for.
    pub(super) q: String,
    /// Types, with commas between them.
    pub(super) types: String,
    pub(super) session: Option<String>,
    /// Only failures that are open.
    pub(super) open: bool,
    /// Milliseconds since the Unix epoch.
    pub(super) since: u64,
    limit: Option<u32>,
    pub(super) cursor: Option<String>,
}

impl Wanted {
    pub(super) fn limit(&self) -> u32 {
        self.limit.unwrap_or(50).clamp(1, MAX_PAGE)
    }

    /// The options that choose the project of a command.
    pub(super) fn scope(&self) -> String {
        self.project.as_ref().map_or_else(|| "--all-projects".to_owned(), |project| format!("--project={project}"))
    }

    pub(super) fn project(&self) -> Result<&str, ApiError> {
        let none = || ApiError::refused("no project is chosen").hint("choose one at the top of the page");
        self.project.as_deref().ok_or_else(none)
    }

    pub(super) fn types(&self) -> Vec<String> {
        self.types.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
    }
}
