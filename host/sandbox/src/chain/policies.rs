//! The policies that are active for a project: loading them, what they may use, and where their failures are reported.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use serde_json::{Map, Value};
use throughline_platform::log::{Level, Log};
use throughline_privacy::secrets::{self, Secrets};

use super::sandbox::{Compiling, DEFAULT_NAME, Sandbox};
use super::work::{Slot, Work};
use crate::cache::Origin;
use crate::capability::Capabilities;
use crate::failures::Failures;
use crate::imports::{self, Grants, MemorySource, ModelSource};
use crate::instance::{LinkError, LinkedPolicy, Terms, describe_failure};
use crate::registry::{Candidate, PolicyRegistry};
use crate::rules::RuleSources;
use crate::stage::Stage;

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
    pub(super) registry: PolicyRegistry,
    loaded: Vec<OnceCell<Option<Arc<LinkedPolicy>>>>,
    pub(super) reporter: Rc<Reporter>,
    compiling: Compiling,
    default_settings: Rc<Map<String, Value>>,
    /// Whether the default's redactor runs; only managed configuration can turn it off.
    pub(super) default_redacts: bool,
    /// Where further rules for the default's redactor come from.
    rules: RuleSources,
    /// Values that are masked regardless of the redactors.
    pub(super) secrets: Rc<Secrets>,
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
    pub(super) fn of(terms: &Terms) -> Self {
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
    pub(super) index: Option<usize>,
    /// The position among the extractors, strongest first. Extractors before this position may add to its answer.
    pub(super) rank: usize,
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
                self.rules.complete(&mut settings);
                for fault in self.rules.users.faults() {
                    let what = "a redaction rules file cannot be read; redaction continues without it";
                    self.reporter.log.record(Level::Warn, what, fault.to_string());
                }
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
        if let Some(blocked) = &self.registry.blocked {
            return Err(blocked.clone().into());
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
    pub(super) fn loaded(&self, index: usize) -> Option<&Arc<LinkedPolicy>> {
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

    pub(super) fn note(&self, level: Level, what: &'static str, candidate: &Candidate, detail: &str) {
        let who = format!("{} ({})", candidate.name(), short(&candidate.found.digest));
        let detail = if detail.is_empty() { who } else { format!("{who}: {detail}") };
        self.reporter.log.record(level, what, detail);
    }

    pub(super) fn fail(&self, candidate: &Candidate, stage: Option<Stage>, what: &str) {
        self.reporter.failed_now.borrow_mut().insert(candidate.found.digest.clone());
        let mut failures = self.reporter.failures.borrow_mut();
        if failures.record_failure(candidate.name(), &candidate.found.digest, stage, what, self.reporter.now) {
            drop(failures);
            self.note(Level::Error, "a policy was set aside because it keeps failing", candidate, what);
        }
    }

    pub(super) fn grants(
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
