//! What every command works with: folders, configuration, clock, log, and policies and store when they are needed.

use std::cell::{Cell, OnceCell};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Result, anyhow};

use crate::config::Config;
use crate::log::{Level, Log};
use crate::paths::{self, Paths};
use crate::policy::cache::Origin;
use crate::policy::chain::Policies;
use crate::policy::imports::{self, Grants, MemorySource};
use crate::store::{Access, Store, StoreError};

/// How long a command waits for a policy that another process compiles.
const PATIENCE: Duration = Duration::from_mins(1);

/// One run of the program.
pub struct Runtime {
    /// Where things are.
    pub paths: Paths,
    /// What the user set.
    pub config: Config,
    /// What went wrong.
    pub log: Rc<Log>,
    /// When the run began, milliseconds since the Unix epoch.
    pub now: u64,
    /// Until when a policy may be compiled or waited for; none: not at all.
    compile_until: Cell<Option<Instant>>,
    policies: OnceCell<Policies>,
}

impl Runtime {
    /// Reads the configuration. Where it is damaged, the error says so: a hook then does nothing, since it cannot know what
    /// the user forbade.
    pub fn new(paths: Paths) -> std::result::Result<Self, String> {
        let config = Config::load(&paths.config_file())?;
        Ok(Self::with_config(paths, config))
    }

    /// With a given configuration.
    pub fn with_config(paths: Paths, config: Config) -> Self {
        Self {
            paths,
            config,
            log: Rc::default(),
            now: now(),
            compile_until: Cell::new(Some(Instant::now() + PATIENCE)),
            policies: OnceCell::new(),
        }
    }

    /// Folders that transcripts may be read from.
    pub fn transcript_roots(&self) -> Vec<PathBuf> {
        let mut roots = vec![self.paths.claude_projects()];
        // Agents give the path as they know it; a home behind a link has two names.
        roots.extend(self.paths.claude_projects().canonicalize());
        roots.extend(self.config.transcripts.roots.iter().cloned());
        roots
    }

    /// Sets until when a policy may be compiled, or waited for where another process does it; none: not at all.
    pub fn compile_until(&self, until: Option<Instant>) {
        self.compile_until.set(until);
    }

    /// The policies in force, loaded at the first call.
    pub fn policies(&self) -> Result<&Policies> {
        if let Some(policies) = self.policies.get() {
            return Ok(policies);
        }
        let policies = Policies::load(&self.paths.components(), self.compile_until.get())?;
        if policies.origin != Origin::Cached {
            self.log.note(Level::Info, "the default policy was compiled: at its first use, after an upgrade, or because its compiled form was damaged", "");
        }
        Ok(self.policies.get_or_init(|| policies))
    }

    /// What the default policy is granted: all capabilities, over `memories` where there are any.
    pub fn grants(&self, memories: Option<Rc<dyn MemorySource>>) -> Grants {
        let log = Rc::clone(&self.log);
        let settings = self.config.policy.get(crate::policy::chain::DEFAULT_NAME).cloned().unwrap_or_default();
        Grants {
            memories,
            settings: Rc::new(settings),
            log: Some(Rc::new(move |level, message| {
                let level = match level {
                    imports::Level::Debug => Level::Debug,
                    imports::Level::Info => Level::Info,
                    imports::Level::Warn => Level::Warn,
                    imports::Level::Error => Level::Error,
                };
                log.note(level, "the policy says", message);
            })),
        }
    }

    /// Opens the store, making it and its folder where they are missing and may be made.
    pub fn store(&self, access: Access, patience: Duration) -> std::result::Result<Store, StoreError> {
        let database = self.paths.database();
        let fresh = access == Access::Write && !database.exists();
        if fresh {
            paths::create_private(&self.paths.data)
                .map_err(|error| StoreError::ReadOnly(self.paths.data.clone(), error.to_string()))?;
            // Made here and not by SQLite, so that there is no moment in which others could read it.
            let _ = std::os::unix::fs::OpenOptionsExt::mode(std::fs::File::options().write(true).create_new(true), 0o600)
                .open(&database);
        }
        Store::open(&database, access, patience)
    }

    /// Writes what the log gathered. Its details pass the redactor.
    pub fn write_log(&self) {
        if self.log.is_empty() {
            return;
        }
        let stamp = stamp(self.now);
        // Where not even the log can be written there is nobody left to tell.
        let _ = self.log.write(&self.paths.log(), self.config.log.max_bytes, &stamp, |details| {
            if details.iter().all(String::is_empty) {
                return Ok(());
            }
            self.policies().map_err(|error| anyhow!("{error:#}"))?.redact(details)
        });
    }
}

/// A moment as the log writes it: RFC 3339, UTC.
pub fn stamp(at: u64) -> String {
    jiff::Timestamp::from_millisecond(i64::try_from(at).unwrap_or(0)).map(|stamp| stamp.to_string()).unwrap_or_default()
}

/// Milliseconds since the Unix epoch; 0 where the clock is before it.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).ok().and_then(|d| u64::try_from(d.as_millis()).ok()).unwrap_or(0)
}
