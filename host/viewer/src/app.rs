//! What every request needs: the settings, the secrets of this run, and the ways to what is stored.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

use crate::activity::Activity;
use crate::error::ApiError;
use crate::lists::Lists;
use crate::live::Live;
use crate::program::Program;
use crate::settings::Settings;
use throughline_model::project::Project;
use throughline_platform::paths::Paths;
use throughline_store::{Access, Store, StoreError};

/// How long a request waits for a process that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// What every request needs.
pub(crate) struct App {
    pub(crate) settings: Settings,
    pub(crate) paths: Paths,
    pub(crate) program: Program,
    /// The only value of `Host` that is accepted.
    pub(crate) host: String,
    /// The token, until it was exchanged.
    pub(crate) token: Mutex<Option<String>>,
    /// The name and the value of the cookie.
    pub(crate) cookie: (String, String),
    pub(crate) activity: Arc<Activity>,
    pub(crate) live: Live,
    pub(crate) lists: Lists,
}

impl App {
    /// Opens the store, or `None` if nothing was stored yet.
    pub(crate) fn store(&self) -> Result<Option<Store>, ApiError> {
        match Store::open(&self.paths.database(), Access::Existing, BUSY_TIMEOUT) {
            Err(StoreError::Missing(_)) => Ok(None),
            // A home that cannot be written can still be read.
            Err(StoreError::ReadOnly(..)) => Ok(Some(Store::open_read_only(&self.paths.database())?)),
            other => Ok(Some(other?)),
        }
    }

    /// Returns the project with this root folder or name.
    pub(crate) fn find_project(store: &Store, root: &str) -> Result<Project, ApiError> {
        let known = store.all_projects()?.into_iter().find(|project| project.root.to_string_lossy() == root);
        known.ok_or_else(|| ApiError::missing(format!("there is no project {root}")))
    }

    /// Runs a command of `throughline` and returns its JSON.
    pub(crate) fn command(&self, words: &[&str]) -> Result<Value, ApiError> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        self.program.json(&words, "", None)
    }

    /// Runs a command that is about the current folder in the folder of this project.
    pub(crate) fn command_in(&self, words: &[&str], project: Option<&str>) -> Result<Value, ApiError> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        self.program.json(&words, "", project.map(Path::new))
    }
}
