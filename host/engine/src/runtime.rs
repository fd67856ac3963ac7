//! The environment of every command: folders, configuration, clock and log, and policies and the store on demand.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result};

use crate::config::{Config, ConfigError};
use throughline_model::invalid::Invalid;
use throughline_model::project::Project;
use throughline_platform::log::{Level, Log};
use throughline_platform::namespace;
use throughline_platform::open::FileOptions as _;
use throughline_platform::paths::{self, Paths};
use throughline_privacy::intervals::{Intervals, IntervalsError};
use throughline_privacy::secrets::{Secrets, TagKey};
use throughline_privacy::{ExclusionFilter, ExclusionRules, IsExcludedFolder};
use throughline_sandbox::cache::Origin;
use throughline_sandbox::chain::{Compiling, DEFAULT_NAME, Policies, Reporter, Sandbox};
use throughline_sandbox::failures::Failures;
use throughline_sandbox::managed::Managed;
use throughline_sandbox::registry::{PolicyRegistry, RegistryInputs};
use throughline_sandbox::rules::{self, RuleSources, UserRules};
use throughline_store::journal::Refusal;
use throughline_store::{Access, Store, StoreError};

/// How long a command waits for a policy that another process is compiling.
const COMPILE_TIMEOUT: Duration = Duration::from_mins(1);

/// Why nothing is remembered anywhere, in the words of `throughline status`.
pub const OFF_BY_SETTING: &str = "the configuration has `enabled = false`";

/// Says a refusal in the words of `throughline status`.
pub fn why(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::Excluded => "this project is excluded by the configuration",
        Refusal::Paused { .. } => "paused until `throughline resume`",
    }
}

/// One run of the program.
pub struct Runtime {
    /// The folders.
    pub paths: Paths,
    /// The user's configuration.
    pub config: Config,
    /// What is wrong with the configuration file; then `config` is not what it says.
    pub config_fault: Option<ConfigError>,
    /// The log of this run.
    pub log: Rc<Log>,
    /// The administrator's configuration.
    pub managed: Managed,
    /// Secret values of this machine.
    pub secrets: Rc<Secrets>,
    /// The intervals that were paused or forgotten.
    pub intervals: Arc<Intervals>,
    /// The user's privacy rules.
    pub privacy: Arc<ExclusionRules>,
    /// When the run started, milliseconds since the Unix epoch.
    pub now: u64,
    /// What may be compiled, and until when.
    compiling: Compiling,
    /// Whether the policies of a project run that the user has not trusted.
    include_untrusted: bool,
    /// Called before the database is opened.
    before_opening: BeforeOpening,
    /// Whether an event could not be handled because the default policy was not compiled yet.
    missed_event: Cell<bool>,
    /// The files of `redaction.rules`.
    user_rules: OnceCell<Rc<UserRules>>,
    sandbox: OnceCell<Rc<Sandbox>>,
    reporter: OnceCell<Rc<Reporter>>,
    /// Policies by the project's root; `None` for outside any project.
    policies: RefCell<HashMap<Option<PathBuf>, Rc<Policies>>>,
    /// If set, used in place of all policies that are found.
    only: Option<Rc<Policies>>,
}

/// A function that is called before the database is opened, for callers that cannot wait for a schema upgrade.
pub type BeforeOpening = fn(&Runtime) -> std::result::Result<(), StoreError>;

/// Which settings cannot be read. Without them, it is unknown what is allowed.
#[derive(Debug)]
pub enum RuntimeError {
    /// The user's configuration, of which there is no good copy either.
    Config(ConfigError),
    /// The administrator's configuration.
    Managed(Invalid),
    /// What was paused and forgotten.
    Intervals(IntervalsError),
}

impl fmt::Display for RuntimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Managed(what) => write!(f, "managed configuration: {what}"),
            Self::Intervals(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RuntimeError {}

impl RuntimeError {
    /// Returns what the user can do about the error. Only a configuration of the user's own may be moved away.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Config(_) => {
                "correct that file or move it away; every setting is optional, and `throughline config init` writes a file that \
                 explains them"
            }
            Self::Managed(_) => "the administrator must fix it; until then nothing is remembered",
            Self::Intervals(error) => error.hint(),
        }
    }
}

/// How long redacting the log may take.
const LOG_REDACTION_TIMEOUT: Duration = Duration::from_secs(2);

impl Runtime {
    /// Reads the administrator's and the user's configuration. If the user's is invalid, the last good one is in force.
    /// Otherwise an invalid one is an error: a hook then does nothing, since it cannot know what was forbidden.
    pub fn new(paths: Paths) -> std::result::Result<Self, RuntimeError> {
        let (config, fault) =
            Config::load_or_last_good(&paths.config_file(), &paths.last_good_config()).map_err(RuntimeError::Config)?;
        Self::configured(paths, config, fault)
    }

    /// Like [`Runtime::new`], for a command that only reads: an invalid configuration of the user is never an error. If
    /// there is no last good one, the defaults are in force.
    pub fn for_reading(paths: Paths) -> std::result::Result<Self, RuntimeError> {
        let (config, fault) = Config::load_or_last_good(&paths.config_file(), &paths.last_good_config())
            .unwrap_or_else(|fault| (Config::default(), Some(fault)));
        Self::configured(paths, config, fault)
    }

    fn configured(
        paths: Paths,
        mut config: Config,
        config_fault: Option<ConfigError>,
    ) -> std::result::Result<Self, RuntimeError> {
        let managed = Managed::load(&paths.managed).map_err(RuntimeError::Managed)?;
        if let Some(name) = &paths.namespace {
            // Projections must not show one namespace's memories to another. A project has only one session-context
            // file, so it is off.
            config.projections.session_context = false;
            config.projections.folder = config.projections.folder.map(|folder| namespace::data_folder(&folder, name));
        }
        let intervals = Intervals::load(&paths.intervals()).map_err(RuntimeError::Intervals)?;
        Ok(Self { intervals: Arc::new(intervals), config_fault, ..Self::with(paths, config, managed) })
    }

    /// Creates a runtime with a given configuration.
    pub fn with(paths: Paths, config: Config, managed: Managed) -> Self {
        // Invalid patterns were rejected when the configuration was read.
        let privacy = ExclusionRules::new(&config.privacy, &paths.home).unwrap_or_default();
        Self {
            config_fault: None,
            intervals: Arc::default(),
            privacy: Arc::new(privacy),
            secrets: Rc::new(Secrets::from_environment().with_tag_key_file(paths.tag_key())),
            log: Rc::default(),
            now: now(),
            compiling: Compiling::All(Instant::now() + COMPILE_TIMEOUT),
            include_untrusted: true,
            before_opening: |_| Ok(()),
            missed_event: Cell::new(false),
            user_rules: OnceCell::new(),
            sandbox: OnceCell::new(),
            reporter: OnceCell::new(),
            policies: RefCell::default(),
            only: None,
            paths,
            config,
            managed,
        }
    }

    /// Returns the folders that transcripts may be read from.
    pub fn transcript_roots(&self) -> Vec<PathBuf> {
        let mut roots = Vec::from(self.paths.transcripts());
        roots.push(self.paths.synthesized_transcripts());
        // Agents give paths as they know them; a home behind a symbolic link has two names.
        roots.extend(self.paths.transcripts().iter().filter_map(|root| root.canonicalize().ok()));
        roots.extend(self.config.transcripts.roots.iter().cloned());
        self.allowed_roots(roots)
    }

    /// Returns those of the wanted transcript folders that the administrator allows.
    pub fn allowed_roots(&self, wanted: Vec<PathBuf>) -> Vec<PathBuf> {
        self.managed.transcript_roots(wanted, &self.paths.home)
    }

    /// Returns whether the administrator or the user excluded this folder.
    pub fn is_excluded(&self, folder: &Path) -> bool {
        // Sessions that calls to a model create are never remembered.
        folder.starts_with(self.paths.model_sessions())
            || self.managed.is_off(folder, &self.paths.home)
            || self.privacy.excludes_project(folder)
    }

    /// Returns why nothing is remembered of a project or of this session, or `None` if it is remembered.
    pub fn refusal(&self, project: &Project, session: &str) -> Option<Refusal> {
        if self.is_excluded(&project.root) {
            return Some(Refusal::Excluded);
        }
        let is_paused = self.intervals.is_paused(&project.id, session);
        is_paused.then(|| Refusal::Paused { project: project.id.clone() })
    }

    /// Returns whether the administrator or the user excluded some folders.
    pub fn has_excluded_folders(&self) -> bool {
        !self.managed.memory.off.is_empty() || self.privacy.has_excluded_projects()
    }

    /// Returns whether some folder is excluded, or some project or session is paused. If not, nobody has to look where
    /// a session began.
    pub fn may_refuse_sessions(&self) -> bool {
        self.has_excluded_folders() || self.intervals.paused().next().is_some()
    }

    /// Returns whether the session, or the project of its folder, is paused.
    pub fn is_paused(&self, cwd: &Path, session: &str) -> bool {
        self.intervals.paused().next().is_some() && self.intervals.is_paused(&Project::discover(cwd).id, session)
    }

    /// Returns the guard between a session's lines and the policies. `began` is in milliseconds since the Unix epoch,
    /// or 0 if unknown.
    pub fn guard(&self, project: &Project, session: &str, began: u64) -> ExclusionFilter {
        let folders = self.has_excluded_folders().then(|| {
            let (managed, home) = (self.managed.clone(), self.paths.home.clone());
            let rules = Arc::clone(&self.privacy);
            let is_excluded = move |folder: &Path| managed.is_off(folder, &home) || rules.excludes_project(folder);
            Arc::new(is_excluded) as IsExcludedFolder
        });
        ExclusionFilter {
            rules: Arc::clone(&self.privacy),
            folders,
            intervals: Arc::clone(&self.intervals),
            project: project.id.clone(),
            session: session.to_owned(),
            began,
        }
    }

    /// Makes this the runtime of a hook: it compiles only what `compiling` allows, and runs no policy of a project that
    /// the user has not trusted.
    #[must_use]
    pub fn for_hook(self, compiling: Compiling, before_opening: BeforeOpening) -> Self {
        Self { compiling, include_untrusted: false, before_opening, ..self }
    }

    /// Lets this runtime compile what `compiling` says, from now on.
    pub fn allow(&mut self, compiling: Compiling) {
        self.compiling = compiling;
        // Those that were made before compile only what was allowed then.
        self.policies.get_mut().clear();
    }

    /// Makes this the runtime of a command, whose user waits for an upgrade of the database.
    #[must_use]
    pub fn for_command(self, before_opening: BeforeOpening) -> Self {
        Self { before_opening, ..self }
    }

    /// Makes this the runtime of a background process: like a hook's, but it has time.
    #[must_use]
    pub fn for_background(self, compiling: Compiling) -> Self {
        Self { compiling, include_untrusted: false, ..self }
    }

    /// Makes this a runtime that uses these policies everywhere, in place of those that are found.
    #[must_use]
    pub fn with_policies(self, policies: Rc<Policies>) -> Self {
        Self { only: Some(policies), ..self }
    }

    /// Returns the engine, the cache of compiled components, and the default policy.
    pub fn sandbox(&self) -> Result<&Rc<Sandbox>> {
        if let Some(sandbox) = self.sandbox.get() {
            return Ok(sandbox);
        }
        let sandbox = Rc::new(Sandbox::new(self.managed.cache(&self.paths))?);
        Ok(self.sandbox.get_or_init(|| sandbox))
    }

    /// Records that an event could not be handled because the default policy was not compiled yet.
    pub(crate) fn miss_event(&self) {
        self.missed_event.set(true);
    }

    /// Returns whether an event could not be handled because the default policy was not compiled yet. It can be handled again
    /// once the policy is compiled.
    pub fn missed_event(&self) -> bool {
        self.missed_event.get()
    }

    /// Makes sure that the default policy is available, so that its absence is not blamed on a file or session.
    pub fn default_policy(&self) -> Result<Origin> {
        Ok(self.sandbox()?.default_policy(self.compiling.default_until())?.1)
    }

    /// Returns the reporter to which policies report failures.
    pub fn reporter(&self) -> &Rc<Reporter> {
        self.reporter.get_or_init(|| {
            Rc::new(Reporter {
                log: Rc::clone(&self.log),
                failures: RefCell::new(Failures::load(&self.paths.policy_failures())),
                failed_now: RefCell::default(),
                uncompiled: Cell::new(false),
                now: self.now,
            })
        })
    }

    fn user_rules(&self) -> &Rc<UserRules> {
        self.user_rules.get_or_init(|| Rc::new(UserRules::new(self.config.redaction.rules.clone())))
    }

    /// Says which file of `redaction.rules` cannot be read, and why; `None` if all can be.
    pub fn rules_fault(&self) -> Option<String> {
        let fault = self.user_rules().faults().first()?;
        Some(format!("redaction rules cannot be read: {fault}"))
    }

    /// Returns where the rules of the default's redactor come from, besides the default's settings.
    pub fn redaction_rules(&self) -> RuleSources {
        RuleSources {
            users: Rc::clone(self.user_rules()),
            managed: self.managed.policy.get(DEFAULT_NAME).and_then(|settings| settings.get(rules::RULES_KEY)).cloned(),
            forced: self.managed.redaction.forced,
        }
    }

    /// Returns the policies in force for the project with this root; `None` is outside any project.
    pub fn policies(&self, root: Option<&Path>) -> Result<Rc<Policies>> {
        if let Some(only) = &self.only {
            return Ok(Rc::clone(only));
        }
        let key = root.map(Path::to_path_buf);
        if let Some(policies) = self.policies.borrow().get(&key) {
            return Ok(Rc::clone(policies));
        }
        let sandbox = self.sandbox()?;
        let reporter = self.reporter();
        let registry = PolicyRegistry::load(
            &RegistryInputs {
                paths: &self.paths,
                managed: &self.managed,
                settings: &self.config.policy,
                cache: sandbox.cache(),
                failures: &reporter.failures.borrow(),
                include_untrusted: self.include_untrusted,
            },
            root,
        );
        let mut settings = self.config.policy.get(DEFAULT_NAME).cloned().unwrap_or_default();
        settings.extend(self.managed.policy.get(DEFAULT_NAME).cloned().unwrap_or_default());
        let policies = Policies::new(
            Rc::clone(sandbox),
            registry,
            Rc::clone(reporter),
            self.compiling,
            settings,
            self.managed.redaction.default,
        );
        let policies = Rc::new(policies.redacting(Rc::clone(&self.secrets), self.redaction_rules()));
        self.policies.borrow_mut().insert(key, Rc::clone(&policies));
        Ok(policies)
    }

    /// Opens the store. Creates the database and its folder if they are missing and `access` allows it.
    pub fn store(&self, access: Access, timeout: Duration) -> std::result::Result<Store, StoreError> {
        let database = self.paths.database();
        (self.before_opening)(self)?;
        let fresh = access == Access::Write && !database.exists();
        if fresh {
            paths::create_private(&self.paths.data)
                .map_err(|error| StoreError::ReadOnly(self.paths.data.clone(), error.to_string()))?;
            // The file is created here and not by SQLite, so that there is no moment in which others could read it.
            let _ = std::fs::File::options().write(true).create_new(true).private().open(&database);
        }
        let key = self.paths.tag_key();
        if access == Access::Write && self.paths.data.is_dir() && !key.exists() {
            // Without the key, placeholders have no tags; nothing else depends on it.
            if let Err(error) = TagKey::create(&key) {
                self.log.record(Level::Warn, "could not create the key for placeholder tags", error.to_string());
            }
        }
        let store = Store::open(&database, access, timeout)?;
        store.check_subjects_once()?;
        Ok(store)
    }

    /// Opens the store of a home that cannot be written, to show stored memories.
    pub fn read_only_store(&self) -> std::result::Result<Store, StoreError> {
        Store::open_read_only(&self.paths.database())
    }

    /// Writes the policy failures and the log of this run. The details in the log are redacted.
    pub fn finish(&self) {
        if let Some(reporter) = self.reporter.get()
            && let Err(error) = reporter.failures.borrow_mut().save()
        {
            self.log.record(Level::Warn, "could not record policy failures", error.to_string());
        }
        if self.log.is_empty() {
            return;
        }
        // A hook whose input was invalid knows no other folder.
        if let Ok(folder) = std::env::current_dir() {
            self.secrets.add_env_files(&folder, &folder);
        }
        let stamp = format_timestamp(self.now);
        // If even the log cannot be written, the error cannot be reported anywhere.
        let _ = self.log.write(&self.paths.log(), self.config.log.max_bytes, &stamp, |details| {
            if details.iter().all(String::is_empty) {
                return Ok(());
            }
            let until = Instant::now() + LOG_REDACTION_TIMEOUT;
            // Use the policies of the project that the run was about, if there is one.
            let used = self.policies.borrow().values().next().map(Rc::clone);
            let policies = used.map_or_else(|| self.policies(None), Ok)?;
            policies.work_for_log(until)?.redact(details, until).context("no redactor could be run")
        });
    }
}

/// Formats a time for the log: RFC 3339, UTC.
pub fn format_timestamp(at: u64) -> String {
    jiff::Timestamp::from_millisecond(i64::try_from(at).unwrap_or(0)).map(|stamp| stamp.to_string()).unwrap_or_default()
}

/// Returns the current time in milliseconds since the Unix epoch, or 0 if the clock is before it.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).ok().and_then(|d| u64::try_from(d.as_millis()).ok()).unwrap_or(0)
}
