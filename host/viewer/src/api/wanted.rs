//! What a page asks for.

use serde::Deserialize;

use crate::app::App;
use crate::error::ApiError;
use throughline_store::Store;

/// The most entries of a page.
const MAX_PAGE: u32 = 200;

/// The longest name of a list, characters.
const MAX_NAME: usize = 64;

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
    /// The name of a policy, and of the one to compare it with.
    pub(super) policy: String,
    pub(super) against: String,
    /// Only failures that are open.
    pub(super) open: bool,
    /// Milliseconds since the Unix epoch.
    pub(super) since: u64,
    limit: Option<u32>,
    /// The position of the first entry, in lists that can be entered anywhere.
    pub(super) at: Option<u32>,
    /// The page's identifier for its open list. The content of an open list does not change.
    list: String,
    pub(super) cursor: Option<String>,
}

impl Wanted {
    pub(super) fn limit(&self) -> u32 {
        self.limit.unwrap_or(50).clamp(1, MAX_PAGE)
    }

    /// The name of the list that the page has open.
    pub(super) fn list(&self) -> &str {
        let end = self.list.char_indices().nth(MAX_NAME).map_or(self.list.len(), |(at, _)| at);
        &self.list[..end]
    }

    /// The options that choose the project of a command.
    pub(super) fn scope(&self) -> String {
        self.project.as_ref().map_or_else(|| "--all-projects".to_owned(), |project| format!("--project={project}"))
    }

    pub(super) fn project(&self) -> Result<&str, ApiError> {
        let none = || ApiError::refused("no project is chosen").hint("choose one at the top of the page");
        self.project.as_deref().ok_or_else(none)
    }

    /// The identifier of the project; none for all.
    pub(super) fn project_id(&self, store: &Store) -> Result<Option<String>, ApiError> {
        let project = self.project.as_deref().map(|root| App::find_project(store, root)).transpose()?;
        Ok(project.map(|project| project.id))
    }

    pub(super) fn types(&self) -> Vec<String> {
        self.types.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
    }
}
