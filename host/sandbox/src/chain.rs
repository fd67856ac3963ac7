//! Decides which policy answers a stage: the policies that are active for a project, strongest first, with the default
//! policy as the last resort. If a policy fails, is slow or is not compiled yet, the next weaker one answers.
//!
//! For a stage, the strongest policy with mode `replace` answers. One with mode `add` works together with the next
//! weaker:
//!
//! | stage | `add` means |
//! | --- | --- |
//! | `extractor` | its drafts and notes are added to those of the next. Its keys are kept apart by its name. It has its own state and its own place in the transcript, so a policy that failed, was not compiled yet or is new continues from where *it* stopped |
//! | `context-builder` | its text stands below the next one's, and has at most a quarter of the budget |
//! | `summarizer`, `observer`, `query` | it is asked first, and the next one if it has no answer |
//! | `redactor` | always: the default first, so that the others see no more than they must, then from weak to strong |
//!
//! # Failures
//!
//! A failure of a policy is recorded with name and digest, in words that contain nothing of what the policy said, and
//! the next policy is asked. Three failures in a row of one stage set it aside until somebody enables it. The exceptions are a
//! redactor that is `required`, by its manifest or by managed `forced` redaction, and a policy that the administrator
//! requires. If one of these gives no answer, nothing is stored and nothing is told, because what it would have removed
//! must not be kept; the cursor stays, so nothing is lost. That redactors are not required by default is a decision: a
//! broken word list should not silently end all memory, and the default redactor has run in any case.
//!
//! # Redaction
//!
//! [`Work::redact`] runs over every text that is stored, logged or shown. The host masks the values that it knows; the
//! default policy finds forms; the other redactors follow; and if any of them changed something, the values are masked
//! once more.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};
use wasmtime::Engine;
use wasmtime::component::Component;

use super::cache::{Cache, Origin};
use super::capability::{Capabilities, KindSet};
use super::compile;
use super::default_component;
use super::engine::{EpochTicker, Limits};
use super::failures::{FailureRecord, Failures};
use super::imports::{self, Grants, MemorySource, ModelSource};
use super::instance::{
    BuiltContext, ConsolidateRequest, Consolidation, ExtractRequest, Extraction, LinkError, LinkedPolicy, Observation,
    PolicyInstance, Search, Summary, Terms, ToolEvent, describe_failure,
};
use super::manifest::Mode;
use super::registry::{Candidate, PolicyRegistry};
use super::rules::RuleSources;
use super::stage::Stage;
use throughline_model::contract::{Memory, Session, SessionNotes};
use throughline_model::lines::LineSource;
use throughline_model::redacted::TextRedactor;
use throughline_platform::log::{Level, Log};
use throughline_privacy::secrets::{self, Secrets};

/// The SHA-256 of the default policy's component, in hexadecimal with a newline, built from core-wasm/ and committed.
const DEFAULT_DIGEST: &str = include_str!("../default-policy/policy.wasm.sha256");

/// The default policy's name.
pub const DEFAULT_NAME: &str = "default";

/// With less time than this a policy is not called, because it would be stopped before it could finish.
const MIN_CALL_TIME: Duration = Duration::from_millis(10);

/// A call that timed out after at least this long counts as a failure; with less time it was merely late.
const MIN_FAIR_TIME: Duration = Duration::from_millis(250);

/// A context builder in mode `add` gets one part in so many of the budget: a quarter.
const ADDED_SHARE: u32 = 4;

/// The error if the default policy is not compiled yet and there is no time to compile it now.
#[derive(Debug)]
pub struct NotCompiled;

impl std::fmt::Display for NotCompiled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the default policy is not compiled yet")
    }
}

impl std::error::Error for NotCompiled {}

/// Which policies may be compiled now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compiling {
    /// None. For a hook that can leave its work to a background process.
    Never,
    /// Only the default, until then. For a hook that needs it at once.
    Default(Instant),
    /// All, each until then at most. For commands and background processes.
    All(Instant),
}

impl Compiling {
    /// Returns the deadline for compiling the default, or `None` if it may not be compiled.
    pub fn default_until(self) -> Option<Instant> {
        match self {
            Self::Never => None,
            Self::Default(until) | Self::All(until) => Some(until),
        }
    }

    fn others_until(self) -> Option<Instant> {
        match self {
            Self::Never | Self::Default(_) => None,
            Self::All(until) => Some(until),
        }
    }
}

/// Makes the compiled form of a component.
pub type Compile = fn(&[u8]) -> Result<Vec<u8>>;

/// The engine, the cache and the default policy, which all [`Policies`] of a process share.
pub struct Sandbox {
    clock: EpochTicker,
    cache: Cache,
    compile: Compile,
    default: OnceCell<(Arc<LinkedPolicy>, Origin)>,
}

impl Sandbox {
    /// Creates a sandbox that keeps compiled components in `cache`, and has them compiled by the program beside this one.
    pub fn new(cache: Cache) -> Result<Self> {
        Self::compiling_with(compile::in_child, cache)
    }

    /// Creates a sandbox that compiles with this function. Tests have no program beside them.
    pub fn compiling_with(compile: Compile, cache: Cache) -> Result<Self> {
        Ok(Self { clock: EpochTicker::start()?, cache, compile, default: OnceCell::new() })
    }

    /// The engine.
    pub fn engine(&self) -> &Engine {
        self.clock.engine()
    }

    /// The cache.
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// Returns the default policy and how it was loaded. If it is not compiled, it is compiled now, which takes a
    /// second, or another process's compilation is awaited until `until`. Without `until` the error is [`NotCompiled`].
    pub fn default_policy(&self, until: Option<Instant>) -> Result<(Arc<LinkedPolicy>, Origin)> {
        if let Some((loaded, origin)) = self.default.get() {
            return Ok((Arc::clone(loaded), *origin));
        }
        let digest = DEFAULT_DIGEST.trim();
        let (component, origin) = match (self.cache.load(self.engine(), digest), until) {
            (Some(component), _) => (component, Origin::Cached),
            (None, None) => return Err(NotCompiled.into()),
            (None, Some(until)) => self
                .cache
                .load_or_compile(self.engine(), digest, &default_component::bytes()?, until, self.compile)
                .context("the default policy cannot be loaded")?,
        };
        let terms = Terms {
            name: DEFAULT_NAME.into(),
            digest: digest.into(),
            capabilities: Capabilities::of_default(),
            stages: Stage::OF_DEFAULT.to_vec(),
            limits: Limits::of_default(),
        };
        let loaded = Arc::new(self.link(terms, &component)?);
        // Only the first call reports that it was compiled: one line in the log is enough.
        let _ = self.default.set((Arc::clone(&loaded), Origin::Cached));
        Ok((loaded, origin))
    }

    /// Links a component with these terms.
    pub fn link(&self, terms: Terms, component: &Component) -> Result<LinkedPolicy> {
        LinkedPolicy::link(terms, &self.clock, component)
    }

    /// Loads a policy's component, if its compiled form is cached.
    pub fn compiled(&self, candidate: &Candidate) -> Option<Component> {
        self.cache.load(self.engine(), &candidate.found.digest)
    }

    /// Loads a policy's component. If `until` is given, compiles it by then if necessary. Returns none if it is not
    /// compiled.
    pub fn component(&self, candidate: &Candidate, until: Option<Instant>) -> Result<Option<Component>> {
        if let Some(component) = self.compiled(candidate) {
            return Ok(Some(component));
        }
        let digest = &candidate.found.digest;
        let Some(until) = until.filter(|_| !self.cache.is_of_system()) else { return Ok(None) };
        let bytes = candidate.found.component(candidate.owner()).map_err(anyhow::Error::msg)?;
        Ok(Some(self.load_or_compile(digest, &bytes, until)?))
    }

    /// Loads a component of somebody else. If it is not compiled yet, it is compiled now; another
    /// process's compilation is awaited until `until`.
    pub fn load_or_compile(&self, digest: &str, wasm: &[u8], until: Instant) -> Result<Component> {
        self.cache.load_or_compile_stored(self.engine(), digest, wasm, until, self.compile)
    }
}

/// Where all policies of a process report what happens.
pub struct Reporter {
    /// The log.
    pub log: Rc<Log>,
    /// Failures of policies.
    pub failures: RefCell<Failures>,
    /// Digests of the policies that failed in this process.
    pub failed_now: RefCell<BTreeSet<String>>,
    /// Whether a policy still has to be compiled.
    pub uncompiled: Cell<bool>,
    /// The current time, milliseconds since the Unix epoch.
    pub now: u64,
}

/// The policies that are active for a project.
pub struct Policies {
    sandbox: Rc<Sandbox>,
    registry: PolicyRegistry,
    loaded: Vec<OnceCell<Option<Arc<LinkedPolicy>>>>,
    reporter: Rc<Reporter>,
    compiling: Compiling,
    default_settings: Rc<Map<String, Value>>,
    /// Whether the default's redactor runs; only managed configuration can turn it off.
    default_redacts: bool,
    /// Where further rules for the default's redactor come from.
    rules: RuleSources,
    /// Values that are masked regardless of the redactors.
    secrets: Rc<Secrets>,
    /// The default's settings with the rules and the tag key, once those were read.
    completed: OnceCell<Rc<Map<String, Value>>>,
}

/// Identifies the policy that made a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyId {
    /// Its name.
    pub name: String,
    /// SHA-256 of its component, hexadecimal.
    pub digest: String,
}

impl PolicyId {
    fn of(terms: &Terms) -> Self {
        Self { name: terms.name.clone(), digest: terms.digest.clone() }
    }

    /// Whether it is the default policy.
    pub fn is_default(&self) -> bool {
        self.name == DEFAULT_NAME
    }
}

/// An extractor that a unit of work can run.
#[derive(Debug, Clone)]
pub struct Extractor {
    /// The policy.
    pub policy_id: PolicyId,
    /// The policy's index; `None` is the default.
    index: Option<usize>,
    /// The position among the extractors, strongest first. Extractors before this position may add to its answer.
    rank: usize,
}

impl Policies {
    /// Creates the chain of policies for a registry.
    pub fn new(
        sandbox: Rc<Sandbox>,
        registry: PolicyRegistry,
        reporter: Rc<Reporter>,
        compiling: Compiling,
        default_settings: Map<String, Value>,
        default_redacts: bool,
    ) -> Self {
        let loaded = registry.candidates.iter().map(|_| OnceCell::new()).collect();
        Self {
            sandbox,
            registry,
            loaded,
            reporter,
            compiling,
            default_settings: Rc::new(default_settings),
            default_redacts,
            rules: RuleSources::default(),
            secrets: Rc::default(),
            completed: OnceCell::new(),
        }
    }

    /// Sets the values to mask and the rules for the default's redactor.
    #[must_use]
    pub fn redacting(mut self, secrets: Rc<Secrets>, rules: RuleSources) -> Self {
        self.secrets = secrets;
        self.rules = rules;
        self
    }

    /// Returns the default's settings, completed with the rules and the tag key. An unreadable rules file is logged,
    /// and redaction continues without it.
    fn settings_of_default(&self) -> Rc<Map<String, Value>> {
        let key = self.secrets.tag_key();
        if self.rules.is_empty() && key.is_none() {
            return Rc::clone(&self.default_settings);
        }
        let read = || {
            let mut settings = (*self.default_settings).clone();
            if !self.rules.is_empty() {
                let what = "a redaction rules file cannot be read; redaction continues without it";
                self.rules.complete(&mut settings, |error| self.reporter.log.record(Level::Warn, what, error));
            }
            settings.extend(key.map(|key| (secrets::TAG_SETTING.to_owned(), key.digits().into())));
            Rc::new(settings)
        };
        Rc::clone(self.completed.get_or_init(read))
    }

    /// Returns the policies that were found, and which of them run.
    pub fn registry(&self) -> &PolicyRegistry {
        &self.registry
    }

    /// Starts a unit of work that must end by `deadline`. Fails if nothing may be remembered, or if the default policy
    /// is not available.
    pub fn work(&self, memories: Option<Rc<dyn MemorySource>>, deadline: Instant) -> Result<Work<'_>> {
        if let Some(why) = &self.registry.blocked {
            bail!("nothing is remembered: {why}");
        }
        let (default, origin) = self.sandbox.default_policy(self.compiling.default_until())?;
        if origin != Origin::Cached {
            self.reporter.log.record(
                Level::Info,
                "the default policy was compiled: on first use, after an upgrade, or because its compiled form was damaged",
                "",
            );
        }
        // The default needs time to answer if the others do not.
        let spare = deadline.saturating_duration_since(Instant::now()) / 2;
        let running = self.registry.candidates.iter().map(|_| Slot::Idle).collect();
        Ok(Work { policies: self, memories, model: None, default, default_running: None, running, spare })
    }

    /// Like [`Policies::work`], for redacting the log at the end of a run: policies that failed during the run are not
    /// called.
    pub fn work_for_log(&self, deadline: Instant) -> Result<Work<'_>> {
        let mut work = self.work(None, deadline)?;
        let failed = self.reporter.failed_now.borrow();
        for (slot, candidate) in work.running.iter_mut().zip(&self.registry.candidates) {
            if failed.contains(&candidate.found.digest) {
                *slot = Slot::Gone;
            }
        }
        Ok(work)
    }

    /// Compiles the policies that are not compiled yet, and begins none after `until`. A failure is recorded before each compilation and withdrawn
    /// afterwards, so that a component that kills the process is not tried forever.
    pub fn compile(&self, until: Instant) {
        if self.sandbox.cache.is_of_system() {
            return;
        }
        for candidate in self.registry.candidates.iter().filter(|candidate| candidate.refusal.is_none()) {
            if self.sandbox.compiled(candidate).is_some() {
                continue;
            }
            if Instant::now() >= until {
                return;
            }
            let (name, digest) = (candidate.name(), candidate.found.digest.as_str());
            self.fail(candidate, None, "its compilation did not finish");
            let _ = self.reporter.failures.borrow_mut().save();
            match self.sandbox.component(candidate, Some(until)) {
                Ok(_) => {
                    self.reporter.failures.borrow_mut().withdraw_unloaded(digest);
                    self.reporter.failed_now.borrow_mut().remove(digest);
                    self.reporter.log.record(Level::Info, "a policy was compiled", format!("{name} ({})", short(digest)));
                }
                Err(error) => {
                    let detail = format!("{name} ({}): {error:#}", short(digest));
                    self.reporter.log.record(Level::Error, "a policy does not compile", detail);
                }
            }
        }
    }

    /// Returns why a policy that is allowed to run cannot be loaded. Only known if it is compiled.
    pub fn objection(&self, index: usize) -> Option<LinkError> {
        let candidate = self.registry.candidates.get(index).filter(|candidate| candidate.refusal.is_none())?;
        let component = self.sandbox.compiled(candidate)?;
        let error = self.sandbox.link(candidate.terms(), &component).err()?;
        Some(error.downcast().unwrap_or_else(|error| LinkError { what: format!("{error:#}"), hint: String::new() }))
    }

    /// Whether a policy's compiled form is cached.
    pub fn is_compiled(&self, index: usize) -> bool {
        self.registry.candidates.get(index).is_some_and(|candidate| self.sandbox.compiled(candidate).is_some())
    }

    /// Returns a linked policy, or `None` if it is not available now, which is then logged.
    fn loaded(&self, index: usize) -> Option<&Arc<LinkedPolicy>> {
        let load = || {
            let candidate = &self.registry.candidates[index];
            let component = match self.sandbox.component(candidate, self.compiling.others_until()) {
                Ok(Some(component)) => component,
                Ok(None) if self.sandbox.cache.is_of_system() => {
                    let what =
                        "a policy is not compiled, and on this machine only root can do that; the next policy answers";
                    self.note(Level::Error, what, candidate, "");
                    return None;
                }
                Ok(None) => {
                    self.reporter.uncompiled.set(true);
                    self.note(
                        Level::Info,
                        "a policy is not compiled yet; it is compiled in the background, and until then the next policy answers",
                        candidate,
                        "",
                    );
                    return None;
                }
                Err(error) => {
                    self.note(
                        Level::Error,
                        "a policy cannot be loaded; the next policy answers",
                        candidate,
                        &format!("{error:#}"),
                    );
                    self.fail(candidate, None, "its component does not load");
                    return None;
                }
            };
            match self.sandbox.link(candidate.terms(), &component) {
                Ok(loaded) => Some(Arc::new(loaded)),
                Err(error) => {
                    self.note(
                        Level::Error,
                        "a policy cannot be loaded; the next policy answers",
                        candidate,
                        &format!("{error:#}"),
                    );
                    self.fail(candidate, None, describe_failure(&error));
                    None
                }
            }
        };
        self.loaded[index].get_or_init(load).as_ref()
    }

    fn note(&self, level: Level, what: &'static str, candidate: &Candidate, detail: &str) {
        let who = format!("{} ({})", candidate.name(), short(&candidate.found.digest));
        let detail = if detail.is_empty() { who } else { format!("{who}: {detail}") };
        self.reporter.log.record(level, what, detail);
    }

    fn fail(&self, candidate: &Candidate, stage: Option<Stage>, what: &str) {
        self.reporter.failed_now.borrow_mut().insert(candidate.found.digest.clone());
        let mut failures = self.reporter.failures.borrow_mut();
        if failures.record_failure(candidate.name(), &candidate.found.digest, stage, what, self.reporter.now) {
            drop(failures);
            self.note(Level::Error, "a policy was set aside because it keeps failing", candidate, what);
        }
    }

    fn grants(
        &self,
        index: Option<usize>,
        memories: Option<&Rc<dyn MemorySource>>,
        model: Option<&Rc<dyn ModelSource>>,
    ) -> Grants {
        let log = Rc::clone(&self.reporter.log);
        let (capabilities, settings, name) = match index {
            None => (Capabilities::of_default(), self.settings_of_default(), DEFAULT_NAME.to_owned()),
            Some(index) => {
                let candidate = &self.registry.candidates[index];
                let settings = Rc::new(candidate.settings.clone());
                (candidate.found.manifest.capabilities.clone(), settings, candidate.name().to_owned())
            }
        };
        let log: imports::LogSink =
            Rc::new(move |level, message| log.record(level.into(), "a policy logged", format!("{name}: {message}")));
        let all = Grants { settings, log: Some(log), model: model.map(Rc::clone), memories: None };
        all.limited_to(&capabilities, memories.map(Rc::clone))
    }
}

impl From<imports::Level> for Level {
    fn from(level: imports::Level) -> Self {
        match level {
            imports::Level::Debug => Self::Debug,
            imports::Level::Info => Self::Info,
            imports::Level::Warn => Self::Warn,
            imports::Level::Error => Self::Error,
        }
    }
}

/// Returns enough of a digest to recognize it.
pub fn short(digest: &str) -> &str {
    &digest[..digest.len().min(12)]
}

/// The state of a policy's instance within a unit of work.
enum Slot {
    /// Not started.
    Idle,
    /// Started.
    Started(Box<PolicyInstance>),
    /// Failed or not available: it is not called again.
    Gone,
}

/// A unit of work: instances that live until it is done, and the time left for policies other than the default.
pub struct Work<'a> {
    policies: &'a Policies,
    memories: Option<Rc<dyn MemorySource>>,
    /// Who asks the language model, while a consolidator runs.
    model: Option<Rc<dyn ModelSource>>,
    default: Arc<LinkedPolicy>,
    default_running: Option<PolicyInstance>,
    running: Vec<Slot>,
    spare: Duration,
}

/// The redactors of a unit of work, with a deadline.
pub struct Redactor<'w, 'p> {
    work: &'w mut Work<'p>,
    deadline: Instant,
}

impl TextRedactor for Redactor<'_, '_> {
    type Error = anyhow::Error;

    fn redact_texts(&mut self, texts: Vec<&mut String>) -> Result<()> {
        self.work.redact_in_place(texts, self.deadline)
    }
}

impl<'p> Work<'p> {
    /// Returns a redactor for values that are about to be stored.
    pub fn redactor(&mut self, deadline: Instant) -> Redactor<'_, 'p> {
        Redactor { work: self, deadline }
    }
}

impl Work<'_> {
    /// Calls one policy. None means that it gave no answer, which was logged, and that the next one should be called.
    /// An error means that no other policy may answer in its place.
    fn call_policy<T>(
        &mut self,
        index: usize,
        stage: Stage,
        deadline: Instant,
        call: impl FnOnce(&mut PolicyInstance, Instant) -> Result<T>,
    ) -> Result<Option<T>> {
        let policies = self.policies;
        let candidate = &policies.registry.candidates[index];
        let started = Instant::now();
        let left = deadline.saturating_duration_since(started).min(self.spare);
        let allowed = candidate.limits.time.min(left);
        // A policy can be disabled by repeated failures in the middle of a long run.
        let set_aside = |record: &FailureRecord| record.is_set_aside();
        if matches!(self.running[index], Slot::Gone)
            || policies.reporter.failures.borrow().of(&candidate.found.digest).is_some_and(set_aside)
        {
            return self.fail_if_required(index, stage, None);
        }
        if allowed < MIN_CALL_TIME.min(candidate.limits.time) {
            policies.note(
                Level::Warn,
                "there was no time left for a policy; the next policy answers",
                candidate,
                stage.name(),
            );
            return self.fail_if_required(index, stage, None);
        }
        let until = started + allowed;
        let outcome = self.running(index, until).and_then(|running| match running {
            Some(running) => call(running, until).map(Some),
            None => Ok(None),
        });
        self.spare = self.spare.saturating_sub(started.elapsed());
        match outcome {
            Ok(Some(answer)) => {
                policies.reporter.failures.borrow_mut().record_success(&candidate.found.digest, stage);
                Ok(Some(answer))
            }
            Ok(None) => self.fail_if_required(index, stage, None),
            Err(error) => {
                self.running[index] = Slot::Gone;
                policies.note(Level::Warn, "a policy failed; the next policy answers", candidate, &format!("{error:#}"));
                let what = describe_failure(&error);
                let was_late = what == "stopped at its deadline" && allowed < MIN_FAIR_TIME.min(candidate.limits.time);
                if !was_late {
                    policies.fail(candidate, Some(stage), what);
                }
                self.fail_if_required(index, stage, Some(error))
            }
        }
    }

    /// Returns an error if the policy that gave no answer is required, otherwise none.
    fn fail_if_required<T>(&self, index: usize, stage: Stage, error: Option<anyhow::Error>) -> Result<Option<T>> {
        let candidate = &self.policies.registry.candidates[index];
        if candidate.required_by_admin || (candidate.required && stage == Stage::Redactor) {
            let what = format!("the required policy {} did not answer", candidate.name());
            return Err(error.map_or_else(|| anyhow::anyhow!("{what}"), |error| error.context(what.clone())));
        }
        Ok(None)
    }

    fn running(&mut self, index: usize, until: Instant) -> Result<Option<&mut PolicyInstance>> {
        if matches!(self.running[index], Slot::Idle) {
            let policies = self.policies;
            self.running[index] = match policies.loaded(index) {
                Some(loaded) => Slot::Started(Box::new(
                    loaded.start(policies.grants(Some(index), self.memories.as_ref(), self.model.as_ref()), until)?,
                )),
                None => Slot::Gone,
            };
        }
        Ok(match &mut self.running[index] {
            Slot::Started(running) => Some(running),
            Slot::Idle | Slot::Gone => None,
        })
    }

    fn default_running(&mut self, until: Instant) -> Result<&mut PolicyInstance> {
        let running = match self.default_running.take() {
            Some(running) => running,
            None => self.default.start(self.policies.grants(None, self.memories.as_ref(), None), until)?,
        };
        Ok(self.default_running.insert(running))
    }

    /// Calls the default policy. After an error, the next call gets a new instance.
    fn call_default<T>(
        &mut self,
        deadline: Instant,
        call: impl FnOnce(&mut PolicyInstance, Instant) -> Result<T>,
    ) -> Result<T> {
        let until = deadline.min(Instant::now() + self.default.terms().limits.time);
        let outcome = self.default_running(until).and_then(|running| call(running, until));
        if outcome.is_err() {
            self.default_running = None;
        }
        outcome
    }

    /// Calls the policies of a stage in order and returns the first answer. A policy in mode `add` without an answer
    /// passes the call on.
    fn first<T>(
        &mut self,
        stage: Stage,
        deadline: Instant,
        mut call: impl FnMut(&mut PolicyInstance, Instant) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        for index in self.policies.registry.order(stage) {
            match self.call_policy(index, stage, deadline, &mut call)? {
                Some(Some(answer)) => return Ok(Some(answer)),
                Some(None) if self.mode(index, stage) == Mode::Replace => return Ok(None),
                Some(None) | None => {}
            }
        }
        self.call_default(deadline, call)
    }

    fn mode(&self, index: usize, stage: Stage) -> Mode {
        self.policies.registry.candidates[index].mode(stage).unwrap_or(Mode::Add)
    }

    /// Returns the extractors of which one moves the cursor, in the order in which they are tried: the policies in mode
    /// `replace`, strongest first, and the default.
    pub fn primary_extractors(&self) -> Vec<Extractor> {
        let order = self.policies.registry.order(Stage::Extractor);
        let default = Extractor { policy_id: PolicyId::of(self.default.terms()), index: None, rank: order.len() };
        let replacing = order.iter().copied().enumerate();
        replacing
            .filter(|(_, index)| self.mode(*index, Stage::Extractor) == Mode::Replace)
            .map(|(rank, index)| Extractor { policy_id: self.policy_id(index), index: Some(index), rank })
            .chain([default])
            .collect()
    }

    /// Returns the extractors that add to what `primary` found: the policies in mode `add` that are stronger, weakest
    /// first.
    pub fn additional_extractors(&self, primary: &Extractor) -> Vec<Extractor> {
        let order = self.policies.registry.order(Stage::Extractor);
        let stronger = order.iter().copied().enumerate().take(primary.rank).rev();
        stronger
            .filter(|(_, index)| self.mode(*index, Stage::Extractor) == Mode::Add)
            .map(|(rank, index)| Extractor { policy_id: self.policy_id(index), index: Some(index), rank })
            .collect()
    }

    /// Runs an extractor. Returns `None` if it gave no answer, which was logged, and the next one should be tried.
    ///
    /// # Errors
    ///
    /// If it is the default policy or a required one, and failed: no other may answer in its place.
    pub fn extract(
        &mut self,
        extractor: &Extractor,
        request: &ExtractRequest,
        lines: Box<dyn LineSource>,
        deadline: Instant,
    ) -> Result<Option<Extraction>> {
        let call = |running: &mut PolicyInstance, until| running.extract(request, lines, until);
        match extractor.index {
            Some(index) => self.call_policy(index, Stage::Extractor, deadline, call),
            None => self.call_default(deadline, call).map(Some),
        }
    }

    fn policy_id(&self, index: usize) -> PolicyId {
        let found = &self.policies.registry.candidates[index].found;
        PolicyId { name: found.manifest.name.clone(), digest: found.digest.clone() }
    }

    /// Runs stage `summarizer`.
    pub fn summarize(&mut self, session: &Session, notes: &SessionNotes, deadline: Instant) -> Result<Option<Summary>> {
        self.first(Stage::Summarizer, deadline, |running, until| running.summarize(session, notes, until))
    }

    /// Redacts the texts in place: first the values that are secret on this machine, then the default, then every other
    /// redactor. After an error, none of the texts may be used.
    pub fn redact(&mut self, texts: &mut [String], deadline: Instant) -> Result<()> {
        self.redact_counting(texts, deadline).map(drop)
    }

    /// Like [`Work::redact`], for texts that are not in one slice.
    pub fn redact_in_place(&mut self, mut slots: Vec<&mut String>, deadline: Instant) -> Result<()> {
        let mut texts: Vec<String> = slots.iter_mut().map(|slot| std::mem::take(*slot)).collect();
        self.redact(&mut texts, deadline)?;
        for (slot, text) in slots.into_iter().zip(texts) {
            *slot = text;
        }
        Ok(())
    }

    /// Whether there are redactors besides the default one.
    pub fn has_added_redactors(&self) -> bool {
        !self.policies.registry.order(Stage::Redactor).is_empty()
    }

    /// Runs the redactors besides the default one. For texts that a policy is about to cut: a redactor of a team must see them
    /// whole, because it may know nothing of half a name.
    pub fn redact_by_added(&mut self, slots: Vec<&mut String>, deadline: Instant) -> Result<()> {
        let (slots, mut texts): (Vec<_>, Vec<String>) =
            slots.into_iter().map(|slot| (std::mem::take(slot), slot)).map(|(text, slot)| (slot, text)).unzip();
        for index in self.policies.registry.order(Stage::Redactor) {
            self.call_policy(index, Stage::Redactor, deadline, |running, until| running.redact(&mut texts, until))?;
        }
        for (slot, text) in slots.into_iter().zip(texts) {
            *slot = text;
        }
        Ok(())
    }

    /// Like [`Work::redact`], and returns how often each rule matched.
    pub fn redact_counting(&mut self, texts: &mut [String], deadline: Instant) -> Result<BTreeMap<String, u64>> {
        let mut found = BTreeMap::new();
        let mut count = |rule: String, times: u32| {
            if times > 0 {
                *found.entry(rule).or_insert(0) += u64::from(times);
            }
        };
        let secrets = Rc::clone(&self.policies.secrets);
        // This runs before all redactors, because none of them knows the values: one that removed part of a value would
        // hide the rest.
        count(secrets::RULE.into(), secrets.mask(texts));
        let mut changed = false;
        if self.policies.default_redacts {
            let findings = self.call_default(deadline, |running, until| running.redact(texts, until))?;
            changed |= !findings.is_empty();
            for finding in findings {
                count(finding.rule, finding.count);
            }
        }
        for index in self.policies.registry.order(Stage::Redactor) {
            let findings =
                self.call_policy(index, Stage::Redactor, deadline, |running, until| running.redact(texts, until))?;
            changed = true;
            for finding in findings.into_iter().flatten() {
                count(finding.rule, finding.count);
            }
        }
        if changed {
            // Removed text may have been in the middle of a value, and a custom redactor can write anything.
            count(secrets::RULE.into(), secrets.mask(texts));
        }
        Ok(found)
    }

    /// Runs stage `context-builder`: the text of the strongest policy in mode `replace`, followed by the texts of those
    /// in mode `add`.
    pub fn build_context(
        &mut self,
        session: &Session,
        source: &str,
        budget: u32,
        found: &[Memory],
        deadline: Instant,
    ) -> Result<Option<BuiltContext>> {
        const STAGE: Stage = Stage::ContextBuilder;
        let order = self.policies.registry.order(STAGE);
        let replacing = order.iter().position(|index| self.mode(*index, STAGE) == Mode::Replace).unwrap_or(order.len());
        let mut left = budget;
        let mut added: Vec<BuiltContext> = Vec::new();
        for index in order[..replacing].iter().copied() {
            // Two texts are separated by an empty line.
            let share = (budget / ADDED_SHARE).min(left.saturating_sub(2));
            let seen = self.visible(index, found);
            let built = self.call_policy(index, STAGE, deadline, |running, until| {
                running.build_context(session, source, share, seen, until)
            })?;
            if let Some(context) = built.flatten().filter(|context| !context.text.trim().is_empty()) {
                left -= u32::try_from(context.text.encode_utf16().count()).unwrap_or(left).saturating_add(2).min(left);
                added.push(context);
            }
        }
        let base = self.build_base(&order[replacing..], session, source, left, found, deadline)?;
        Ok(join(base, added))
    }

    fn build_base(
        &mut self,
        order: &[usize],
        session: &Session,
        source: &str,
        budget: u32,
        found: &[Memory],
        deadline: Instant,
    ) -> Result<Option<BuiltContext>> {
        for index in order
            .iter()
            .copied()
            .filter(|index| self.mode(*index, Stage::ContextBuilder) == Mode::Replace)
            .collect::<Vec<_>>()
        {
            let seen = self.visible(index, found);
            let built = self.call_policy(index, Stage::ContextBuilder, deadline, |running, until| {
                running.build_context(session, source, budget, seen, until)
            })?;
            if let Some(built) = built {
                return Ok(built);
            }
        }
        self.call_default(deadline, |running, until| running.build_context(session, source, budget, found.to_vec(), until))
    }

    /// Returns the search results that this policy may see.
    fn visible(&self, index: usize, found: &[Memory]) -> Vec<Memory> {
        let kinds: Option<&KindSet> = self.policies.registry.candidates[index].found.manifest.capabilities.memories.as_ref();
        found.iter().filter(|memory| kinds.is_some_and(|kinds| kinds.has(&memory.kind))).cloned().collect()
    }

    /// Returns the policies that go over stored memories, weakest first: those in mode `add`, and the strongest in mode `replace`.
    /// The index is for [`Work::consolidate`].
    pub fn consolidators(&self) -> Vec<(usize, PolicyId)> {
        let order = self.policies.registry.order(Stage::Consolidator);
        let replacing = order.iter().position(|index| self.mode(*index, Stage::Consolidator) == Mode::Replace);
        let taken = replacing.map_or(order.len(), |place| place + 1);
        order[..taken].iter().rev().map(|index| (*index, self.policy_id(*index))).collect()
    }

    /// Runs stage `consolidator` of one policy, which may ask the model. Returns `None` if it gave no answer, which was logged.
    pub fn consolidate(
        &mut self,
        index: usize,
        request: &ConsolidateRequest,
        model: Option<Rc<dyn ModelSource>>,
        deadline: Instant,
    ) -> Result<Option<Consolidation>> {
        self.model = model;
        // Another call of the same policy may be about another session, which has other limits.
        if !matches!(self.running[index], Slot::Gone) {
            self.running[index] = Slot::Idle;
        }
        let answer =
            self.call_policy(index, Stage::Consolidator, deadline, |running, until| running.consolidate(request, until));
        self.model = None;
        answer
    }

    /// Runs stage `observer`.
    pub fn observe(&mut self, session: &Session, event: &ToolEvent, deadline: Instant) -> Result<Option<Observation>> {
        self.first(Stage::Observer, deadline, |running, until| running.observe(session, event, until))
    }

    /// Runs stage `query`.
    pub fn plan(
        &mut self,
        session: &Session,
        prompt: &str,
        last_turn: Option<&str>,
        deadline: Instant,
    ) -> Result<Option<Search>> {
        self.first(Stage::Query, deadline, |running, until| running.plan(session, prompt, last_turn, until))
    }
}

/// Joins the texts into one, strongest last.
fn join(base: Option<BuiltContext>, added: Vec<BuiltContext>) -> Option<BuiltContext> {
    let mut parts = base.into_iter().chain(added.into_iter().rev());
    let mut whole = parts.next()?;
    for part in parts {
        whole.text.truncate(whole.text.trim_end().len());
        if !whole.text.is_empty() {
            whole.text.push_str("\n\n");
        }
        whole.text.push_str(&part.text);
        whole.used.extend(part.used);
    }
    Some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_digest_and_manifest_are_the_components() {
        assert_eq!(throughline_model::digest::sha256_hex(&default_component::bytes().unwrap()), DEFAULT_DIGEST.trim());
        let text = include_str!("../default-policy/policy.toml");
        let manifest = super::super::manifest::Manifest::parse(text).unwrap();
        assert_eq!(manifest.sha256.as_deref(), Some(DEFAULT_DIGEST.trim()));
        assert_eq!(manifest.name, DEFAULT_NAME);
        assert_eq!(manifest.stages.into_keys().collect::<Vec<_>>(), Stage::OF_DEFAULT);
        assert_eq!(manifest.capabilities, Capabilities::of_default());
    }
}
