//! What `throughline view` asks of this program: one JSON object, its only argument.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

/// The settings of a run.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// The version of the program that asks, which must be ours.
    version: String,
    /// The path of `throughline`, whose commands are run.
    pub(crate) program: PathBuf,
    /// The port; 0 for a free one.
    pub(crate) port: u16,
    /// Whether changes are allowed.
    pub(crate) write: bool,
    /// Whether to open the browser.
    pub(crate) open: bool,
    /// How long to go on without a request and without an open stream, seconds.
    idle_seconds: u64,
    /// The root folder, or the name, of the project to begin with; none for all.
    pub(crate) project: Option<String>,
}

/// Why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SettingsError {
    #[error("the settings from `throughline view` cannot be read: {0}")]
    Unreadable(serde_json::Error),
    #[error("this is throughline-viewer {own}, and throughline is {0}", own = env!("CARGO_PKG_VERSION"))]
    OtherVersion(String),
}

impl Settings {
    /// Parses the argument.
    pub(crate) fn parse(argument: &str) -> Result<Self, SettingsError> {
        let settings: Self = serde_json::from_str(argument).map_err(SettingsError::Unreadable)?;
        if settings.version != env!("CARGO_PKG_VERSION") {
            return Err(SettingsError::OtherVersion(settings.version));
        }
        Ok(settings)
    }

    /// How long to go on without use.
    pub(crate) fn idle(&self) -> Duration {
        Duration::from_secs(self.idle_seconds)
    }
}
