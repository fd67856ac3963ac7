//! The configuration: `config.toml`, validated. The commented default file is the documentation.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::paths;

/// The commented default configuration.
pub const DEFAULT: &str = include_str!("config.default.toml");

/// The largest configuration file that is read, bytes.
const MOST_BYTES: u64 = 1 << 20;

/// What a user can set. Every field has its default in [`DEFAULT`].
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Off: hooks do nothing.
    pub enabled: bool,
    /// Section `[context]`.
    pub context: Context,
    /// Section `[hooks]`.
    pub hooks: Hooks,
    /// Section `[transcripts]`.
    pub transcripts: Transcripts,
    /// Section `[redaction]`.
    pub redaction: Redaction,
    /// Section `[privacy]`.
    pub privacy: crate::privacy::Settings,
    /// Section `[log]`.
    pub log: Log,
    /// Section `[gc]`.
    pub gc: Gc,
    /// Sections `[policy.NAME]`: the tables that policies see through their `settings`.
    pub policy: std::collections::BTreeMap<String, serde_json::Map<String, serde_json::Value>>,
}

/// What the agent is shown.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Context {
    /// UTF-16 code units. Claude Code cuts what is longer than 10,000 down to a preview.
    pub budget: u32,
}

/// How long hooks may take, milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hooks {
    /// SessionStart.
    pub load_ms: u64,
    /// PreCompact and PostCompact.
    pub flush_ms: u64,
    /// Stop.
    pub stop_ms: u64,
    /// SessionEnd.
    pub save_ms: u64,
    /// What SessionStart may spend on sessions that were left unread.
    pub catch_up_ms: u64,
}

/// Where transcripts may be read from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Transcripts {
    /// Folders beside the agent's own.
    pub roots: Vec<PathBuf>,
}

/// What is taken out of every text beside what the default takes out anyway.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Redaction {
    /// Files of rules in gitleaks' format.
    pub rules: Vec<PathBuf>,
}

/// The log.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// Bytes at which it is turned over; one older file is kept.
    pub max_bytes: u64,
}

/// What `memory gc` takes for old.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Gc {
    /// Days after which a memory that nobody looked at may go.
    pub max_age_days: u32,
    /// The weightiest memories of a project stay whatever their age.
    pub keep: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            enabled: true,
            context: Context::default(),
            hooks: Hooks::default(),
            transcripts: Transcripts::default(),
            redaction: Redaction::default(),
            privacy: crate::privacy::Settings::default(),
            log: Log::default(),
            gc: Gc::default(),
            policy: std::collections::BTreeMap::new(),
        }
    }
}

impl Default for Context {
    fn default() -> Self {
        Self { budget: 9_500 }
    }
}

impl Default for Hooks {
    fn default() -> Self {
        // Each well below what `install` asks of the client (10, 15, 5 and 15 s); SessionEnd below the 1.5 s that it gets
        // where nobody asked.
        Self { load_ms: 5_000, flush_ms: 10_000, stop_ms: 3_000, save_ms: 1_200, catch_up_ms: 250 }
    }
}

impl Default for Log {
    fn default() -> Self {
        Self { max_bytes: 1 << 20 }
    }
}

impl Default for Gc {
    fn default() -> Self {
        // 90 days and 1,000 memories: the defaults of the system that this one grew out of.
        Self { max_age_days: 90, keep: 1_000 }
    }
}

impl Hooks {
    /// The whole budget of a moment of the session.
    pub fn budget(&self, moment: &str) -> Duration {
        Duration::from_millis(match moment {
            "memory-load" => self.load_ms,
            "memory-save" => self.save_ms,
            "memory-complete" => self.stop_ms,
            _ => self.flush_ms,
        })
    }
}

impl Config {
    /// Reads the file; one that is missing is the default. The error says what, where and what to do.
    pub fn load(file: &Path) -> Result<Self, String> {
        match fs::metadata(file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => return Err(format!("{} cannot be read: {error}", file.display())),
            Ok(meta) if meta.len() > MOST_BYTES => {
                return Err(format!("{} is too large", file.display()));
            }
            Ok(_) => {}
        }
        let text = fs::read_to_string(file).map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
        Self::parse(&text).map_err(|error| format!("{}: {error}", file.display()))
    }

    /// Parses and validates.
    pub fn parse(text: &str) -> Result<Self, String> {
        let config: Self = toml::from_str(text).map_err(|error| error.to_string().trim().to_owned())?;
        if !(500..=10_000).contains(&config.context.budget) {
            return Err(format!("context.budget is {}, and must be between 500 and 10000", config.context.budget));
        }
        if let Some(root) = config.transcripts.roots.iter().find(|root| !root.is_absolute()) {
            return Err(format!("transcripts.roots holds {}, which is not absolute", root.display()));
        }
        if let Some(file) = config.redaction.rules.iter().find(|file| !file.is_absolute()) {
            return Err(format!("redaction.rules holds {}, which is not absolute", file.display()));
        }
        // Compiled again by whoever needs it; where nothing is set it costs nothing.
        crate::privacy::Rules::new(&config.privacy, Path::new("/"))?;
        Ok(config)
    }
}

/// Writes [`DEFAULT`] to `file`, making its folder. A file that is there stays, and is an error.
pub fn init(file: &Path) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        paths::create_private(folder)?;
    }
    let mut out = fs::File::options().write(true).create_new(true).mode(0o600).open(file)?;
    out.write_all(DEFAULT.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commented_default_is_the_default() {
        assert_eq!(Config::parse(DEFAULT).unwrap(), Config::default());
        let uncommented: String = DEFAULT
            .lines()
            .map(|line| line.strip_prefix("#: ").unwrap_or(line))
            .fold(String::new(), |text, line| text + line + "\n");
        assert_ne!(uncommented, DEFAULT);
        assert_eq!(Config::parse(&uncommented).unwrap(), Config::default());
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert!(Config::parse("[context]\nbudgte = 1").unwrap_err().contains("budgte"));
        assert!(Config::parse("[context]\nbudget = 20000").unwrap_err().contains("20000"));
        assert!(Config::parse("[transcripts]\nroots = [\"a\"]").unwrap_err().contains("absolute"));
    }
}
