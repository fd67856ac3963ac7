//! Which policy answers at which stage: the chain of those that a project's roster puts in force, with the default behind
//! them. A policy that fails, is slow, or is not compiled yet costs nobody the answer: the next weaker one gives it.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};
use wasmtime::Engine;
use wasmtime::component::Component;

use super::cache::{Cache, Origin};
use super::capability::{Capabilities, Kinds};
use super::engine::{Clockwork, Limits};
use super::failures::{Failures, Record};
use super::imports::{self, Grants, MemorySource};
use super::instance::{
    BuiltContext, ExtractRequest, Extraction, Loaded, Observation, Running, Search, Summary, Terms, ToolEvent, Unfit,
    kind_of_failure,
};
use super::manifest::Mode;
use super::roster::{Candidate, Roster};
use super::rules;
use super::stage::Stage;
use throughline_model::contract::{Memory, Session, SessionNotes};
use throughline_model::lines::LineSource;
use throughline_platform::log::{Level, Log};
use throughline_privacy::secrets::{self, Secrets};

/// The default policy: the component and its SHA-256, built from core-wasm/ and committed.
pub const DEFAULT_WASM: &[u8] = include_bytes!("../default-policy/policy.wasm");
const DEFAULT_DIGEST: &str = include_str!("../default-policy/policy.wasm.sha256");

/// The default policy's name.
pub const DEFAULT_NAME: &str = "default";

/// Below this a policy is not begun with: it would be stopped before it could have been right.
const LEAST: Duration = Duration::from_millis(10);

/// A call that was given this much and did not end has failed; one that was given less was only late.
const FAIR: Duration = Duration::from_millis(250);

/// How much of the budget a context builder that is added to others may use: a quarter.
const ADDED_SHARE: u32 = 4;

/// Nothing is compiled yet, and there is no time to do it now.
#[derive(Debug)]
pub struct NotCompiled;

impl std::fmt::Display for NotCompiled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the default policy is not compiled yet")
    }
}

impl std::error::Error for NotCompiled {}

/// Whether policies may be compiled now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compiling {
    /// None: a hook that can leave its work to a process of its own.
    Never,
    /// Only the default, until then: a hook that needs it at once.
    Default(Instant),
    /// All, each at most until then: commands and detached processes.
    All(Instant),
}

impl Compiling {
    /// Until when the default may be compiled; none: not at all.
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

/// The engine, the cache and the default policy: what all chains of a process share.
pub struct Sandbox {
    clock: Clockwork,
    cache: Cache,
    default: OnceCell<(Arc<Loaded>, Origin)>,
}

impl Sandbox {
    /// Compiled components are kept in `cache`.
    pub fn new(cache: Cache) -> Result<Self> {
        Ok(Self { clock: Clockwork::start()?, cache, default: OnceCell::new() })
    }

    /// The engine.
    pub fn engine(&self) -> &Engine {
        self.clock.engine()
    }

    /// The cache.
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// The default policy, and what loading it took. Where it is not compiled it is compiled now, which takes a second, or
    /// waited for until `until`; without `until` that is [`NotCompiled`].
    pub fn default_policy(&self, until: Option<Instant>) -> Result<(Arc<Loaded>, Origin)> {
        if let Some((loaded, origin)) = self.default.get() {
            return Ok((Arc::clone(loaded), *origin));
        }
        let digest = DEFAULT_DIGEST.trim();
        let (component, origin) = match (self.cache.load(self.engine(), digest), until) {
            (Some(component), _) => (component, Origin::Cached),
            (None, None) => return Err(NotCompiled.into()),
            (None, Some(until)) => self
                .cache
                .load_or_compile(self.engine(), digest, DEFAULT_WASM, until)
                .context("the default policy cannot be loaded")?,
        };
        let terms = Terms {
            name: DEFAULT_NAME.into(),
            digest: digest.into(),
            capabilities: Capabilities::contract(),
            stages: Stage::ALL.to_vec(),
            limits: Limits::of_default(),
        };
        let loaded = Arc::new(self.link(terms, &component)?);
        // Only the first call sees that it was compiled: one line in the log is enough.
        let _ = self.default.set((Arc::clone(&loaded), Origin::Cached));
        Ok((loaded, origin))
    }

    /// Links a component on its terms.
    pub fn link(&self, terms: Terms, component: &Component) -> Result<Loaded> {
        Loaded::link(terms, &self.clock, component)
    }

    /// A policy's component, if its compiled form is there.
    pub fn compiled(&self, candidate: &Candidate) -> Option<Component> {
        self.cache.load(self.engine(), &candidate.found.digest)
    }

    /// A policy's component, compiled by `until` if that is given and must be. None: it is not compiled.
    pub fn component(&self, candidate: &Candidate, until: Option<Instant>) -> Result<Option<Component>> {
        if let Some(component) = self.compiled(candidate) {
            return Ok(Some(component));
        }
        let digest = &candidate.found.digest;
        let Some(until) = until else { return Ok(None) };
        let bytes = candidate.found.component(candidate.owner()).map_err(anyhow::Error::msg)?;
        Ok(Some(self.cache.load_or_compile(self.engine(), digest, &bytes, until)?.0))
    }
}

/// What all chains of a process tell.
pub struct Reporter {
    /// The log.
    pub log: Rc<Log>,
    /// Failures of policies.
    pub failures: RefCell<Failures>,
    /// Digests of the policies that failed in this process.
    pub failed_now: RefCell<BTreeSet<String>>,
    /// Whether some policy is still to be compiled.
    pub uncompiled: Cell<bool>,
    /// The clock, milliseconds since the Unix epoch.
    pub now: u64,
}

/// The policies that are in force for a project.
pub struct Policies {
    sandbox: Rc<Sandbox>,
    roster: Roster,
    loaded: Vec<OnceCell<Option<Arc<Loaded>>>>,
    reporter: Rc<Reporter>,
    compiling: Compiling,
    default_settings: Rc<Map<String, Value>>,
    /// Whether the default's redactor runs; only managed configuration can say no.
    default_redacts: bool,
    /// Files with rules of the user's, for the default's redactor.
    rules: Vec<PathBuf>,
    /// Values that are masked whatever the redactors say.
    secrets: Rc<Secrets>,
    /// The default's settings with the rules and the key of the tags, once they were read.
    completed: OnceCell<Rc<Map<String, Value>>>,
}

/// The default's setting that holds the user's rules: texts of files in gitleaks' format.
const RULES_KEY: &str = "redaction-rules";

/// A policy as the maker of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Maker {
    /// Its name.
    pub name: String,
    /// SHA-256 of its component, hexadecimal.
    pub digest: String,
}

impl Maker {
    fn of(terms: &Terms) -> Self {
        Self { name: terms.name.clone(), digest: terms.digest.clone() }
    }

    /// Whether it is the default policy.
    pub fn is_default(&self) -> bool {
        self.name == DEFAULT_NAME
    }
}

/// An extraction and who made it.
pub struct Extracted {
    /// Who.
    pub maker: Maker,
    /// What.
    pub extraction: Extraction,
    /// Its place among the extractors, strongest first: those before it may be added.
    place: usize,
}

/// What an extractor is handed: a request and lines.
pub type Share = (ExtractRequest, Box<dyn LineSource>);

impl Policies {
    /// The chain of a roster.
    pub fn new(
        sandbox: Rc<Sandbox>,
        roster: Roster,
        reporter: Rc<Reporter>,
        compiling: Compiling,
        default_settings: Map<String, Value>,
        default_redacts: bool,
    ) -> Self {
        let loaded = roster.candidates.iter().map(|_| OnceCell::new()).collect();
        Self {
            sandbox,
            roster,
            loaded,
            reporter,
            compiling,
            default_settings: Rc::new(default_settings),
            default_redacts,
            rules: Vec::new(),
            secrets: Rc::default(),
            completed: OnceCell::new(),
        }
    }

    /// With values that are masked, and files of rules for the default's redactor.
    #[must_use]
    pub fn redacting(mut self, secrets: Rc<Secrets>, rules: Vec<PathBuf>) -> Self {
        self.secrets = secrets;
        self.rules = rules;
        self
    }

    /// The default's settings, with what only the host knows. A file of rules that cannot be read is noted, and redaction
    /// goes on without it.
    fn settings_of_default(&self) -> Rc<Map<String, Value>> {
        let key = self.secrets.tag_key();
        if self.rules.is_empty() && key.is_none() {
            return Rc::clone(&self.default_settings);
        }
        let read = || {
            let texts = |file: &PathBuf| {
                rules::read(file).unwrap_or_else(|error| {
                    self.reporter.log.note(
                        Level::Warn,
                        "a file of redaction rules cannot be read; redaction goes on without it",
                        error,
                    );
                    Vec::new()
                })
            };
            let mut settings = (*self.default_settings).clone();
            if !self.rules.is_empty() {
                settings.insert(RULES_KEY.into(), self.rules.iter().flat_map(texts).collect());
            }
            settings.extend(key.map(|key| (secrets::TAG_SETTING.to_owned(), key.digits().into())));
            Rc::new(settings)
        };
        Rc::clone(self.completed.get_or_init(read))
    }

    /// What was found and what of it runs.
    pub fn roster(&self) -> &Roster {
        &self.roster
    }

    /// Begins a piece of work that must end by `deadline`. Fails where nothing may be remembered at all, and where the
    /// default policy cannot be had.
    pub fn work(&self, memories: Option<Rc<dyn MemorySource>>, deadline: Instant) -> Result<Work<'_>> {
        if let Some(why) = &self.roster.blocked {
            bail!("nothing is remembered: {why}");
        }
        let (default, origin) = self.sandbox.default_policy(self.compiling.default_until())?;
        if origin != Origin::Cached {
            self.reporter.log.note(Level::Info, "the default policy was compiled: at its first use, after an upgrade, or because its compiled form was damaged", "");
        }
        // The default must have time to give the answer that the others did not.
        let spare = deadline.saturating_duration_since(Instant::now()) / 2;
        let running = self.roster.candidates.iter().map(|_| Slot::Idle).collect();
        Ok(Work { policies: self, memories, default, default_running: None, running, spare })
    }

    /// [`Policies::work`] for the log at the end of a run: what failed in it is not asked again.
    pub fn work_for_log(&self, deadline: Instant) -> Result<Work<'_>> {
        let mut work = self.work(None, deadline)?;
        let failed = self.reporter.failed_now.borrow();
        for (slot, candidate) in work.running.iter_mut().zip(&self.roster.candidates) {
            if failed.contains(&candidate.found.digest) {
                *slot = Slot::Gone;
            }
        }
        Ok(work)
    }

    /// Compiles what is not compiled yet. Before each it is noted as failed, so that one that ends the process is not tried
    /// for ever.
    pub fn compile(&self, until: Instant) {
        for candidate in self.roster.candidates.iter().filter(|candidate| candidate.refusal.is_none()) {
            if self.sandbox.compiled(candidate).is_some() {
                continue;
            }
            let (name, digest) = (candidate.name(), candidate.found.digest.as_str());
            self.fail(candidate, None, "its compilation did not end");
            let _ = self.reporter.failures.borrow_mut().save();
            match self.sandbox.component(candidate, Some(until)) {
                Ok(_) => {
                    self.reporter.failures.borrow_mut().forgive(digest);
                    self.reporter.failed_now.borrow_mut().remove(digest);
                    self.reporter.log.note(Level::Info, "a policy was compiled", format!("{name} ({})", short(digest)));
                }
                Err(error) => {
                    let detail = format!("{name} ({}): {error:#}", short(digest));
                    self.reporter.log.note(Level::Error, "a policy does not compile", detail);
                }
            }
        }
    }

    /// Why a policy that the roster lets run cannot be loaded, if that is known: it must have been compiled.
    pub fn objection(&self, index: usize) -> Option<Unfit> {
        let candidate = self.roster.candidates.get(index).filter(|candidate| candidate.refusal.is_none())?;
        let component = self.sandbox.compiled(candidate)?;
        let error = self.sandbox.link(candidate.terms(), &component).err()?;
        Some(error.downcast().unwrap_or_else(|error| Unfit { what: format!("{error:#}"), hint: String::new() }))
    }

    /// Whether a policy's compiled form is there.
    pub fn is_compiled(&self, index: usize) -> bool {
        self.roster.candidates.get(index).is_some_and(|candidate| self.sandbox.compiled(candidate).is_some())
    }

    /// A policy, linked; none where it cannot be had now, which has then been noted.
    fn loaded(&self, index: usize) -> Option<&Arc<Loaded>> {
        let load = || {
            let candidate = &self.roster.candidates[index];
            let component = match self.sandbox.component(candidate, self.compiling.others_until()) {
                Ok(Some(component)) => component,
                Ok(None) => {
                    self.reporter.uncompiled.set(true);
                    self.note(
                        Level::Info,
                        "a policy is not compiled yet; that is done in the background, and until then the next one serves",
                        candidate,
                        "",
                    );
                    return None;
                }
                Err(error) => {
                    self.note(
                        Level::Error,
                        "a policy cannot be loaded; the next one serves",
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
                        "a policy cannot be loaded; the next one serves",
                        candidate,
                        &format!("{error:#}"),
                    );
                    self.fail(candidate, None, kind_of_failure(&error));
                    None
                }
            }
        };
        self.loaded[index].get_or_init(load).as_ref()
    }

    fn note(&self, level: Level, what: &'static str, candidate: &Candidate, detail: &str) {
        let who = format!("{} ({})", candidate.name(), short(&candidate.found.digest));
        let detail = if detail.is_empty() { who } else { format!("{who}: {detail}") };
        self.reporter.log.note(level, what, detail);
    }

    fn fail(&self, candidate: &Candidate, stage: Option<Stage>, what: &str) {
        self.reporter.failed_now.borrow_mut().insert(candidate.found.digest.clone());
        let mut failures = self.reporter.failures.borrow_mut();
        if failures.failed(candidate.name(), &candidate.found.digest, stage, what, self.reporter.now) {
            drop(failures);
            self.note(Level::Error, "a policy was set aside because it fails again and again", candidate, what);
        }
    }

    fn grants(&self, index: Option<usize>, memories: Option<&Rc<dyn MemorySource>>) -> Grants {
        let log = Rc::clone(&self.reporter.log);
        let (capabilities, settings, name) = match index {
            None => (Capabilities::contract(), self.settings_of_default(), DEFAULT_NAME.to_owned()),
            Some(index) => {
                let candidate = &self.roster.candidates[index];
                let settings = Rc::new(candidate.settings.clone());
                (candidate.found.manifest.capabilities.clone(), settings, candidate.name().to_owned())
            }
        };
        let may_log = capabilities.log || capabilities.wasi;
        Grants {
            memories: capabilities.memories.and_then(|kinds| Some((Rc::clone(memories?), kinds))),
            settings,
            log: may_log.then(|| {
                let sink: imports::LogSink =
                    Rc::new(move |level, message| log.note(level.into(), "a policy says", format!("{name}: {message}")));
                sink
            }),
        }
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

/// Enough of a digest to know it again.
pub fn short(digest: &str) -> &str {
    &digest[..digest.len().min(12)]
}

/// An instance of a piece of work.
enum Slot {
    /// Not started.
    Idle,
    /// Started.
    Running(Box<Running>),
    /// Failed, or it cannot be had: it is not asked again.
    Gone,
}

/// One piece of work: instances that live until it is done, and what is left of the time for others than the default.
pub struct Work<'a> {
    policies: &'a Policies,
    memories: Option<Rc<dyn MemorySource>>,
    default: Arc<Loaded>,
    default_running: Option<Running>,
    running: Vec<Slot>,
    spare: Duration,
}

impl Work<'_> {
    /// Asks one policy. None: it has no answer, which has then been noted, and another one is to be asked. An error: nobody
    /// else may be asked in its place.
    fn ask<T>(
        &mut self,
        index: usize,
        stage: Stage,
        deadline: Instant,
        call: impl FnOnce(&mut Running, Instant) -> Result<T>,
    ) -> Result<Option<T>> {
        let policies = self.policies;
        let candidate = &policies.roster.candidates[index];
        let started = Instant::now();
        let left = deadline.saturating_duration_since(started).min(self.spare);
        let allowed = candidate.limits.time.min(left);
        // In a long run it can be set aside on the way.
        let set_aside = |record: &Record| record.is_set_aside();
        if matches!(self.running[index], Slot::Gone)
            || policies.reporter.failures.borrow().of(&candidate.found.digest).is_some_and(set_aside)
        {
            return self.give_up(index, stage, None);
        }
        if allowed < LEAST.min(candidate.limits.time) {
            policies.note(Level::Warn, "there was no time left for a policy; the next one serves", candidate, stage.name());
            return self.give_up(index, stage, None);
        }
        let until = started + allowed;
        let outcome = self.running(index, until).and_then(|running| match running {
            Some(running) => call(running, until).map(Some),
            None => Ok(None),
        });
        self.spare = self.spare.saturating_sub(started.elapsed());
        match outcome {
            Ok(Some(answer)) => {
                policies.reporter.failures.borrow_mut().worked(&candidate.found.digest);
                Ok(Some(answer))
            }
            Ok(None) => self.give_up(index, stage, None),
            Err(error) => {
                self.running[index] = Slot::Gone;
                policies.note(Level::Warn, "a policy failed; the next one serves", candidate, &format!("{error:#}"));
                let what = kind_of_failure(&error);
                let was_late = what == "stopped at its deadline" && allowed < FAIR.min(candidate.limits.time);
                if !was_late {
                    policies.fail(candidate, Some(stage), what);
                }
                self.give_up(index, stage, Some(error))
            }
        }
    }

    /// What a policy that gives no answer means.
    fn give_up<T>(&self, index: usize, stage: Stage, error: Option<anyhow::Error>) -> Result<Option<T>> {
        let candidate = &self.policies.roster.candidates[index];
        if candidate.demanded || (candidate.required && stage == Stage::Redactor) {
            let what = format!("the required policy {} gives no answer", candidate.name());
            return Err(error.map_or_else(|| anyhow::anyhow!("{what}"), |error| error.context(what.clone())));
        }
        Ok(None)
    }

    fn running(&mut self, index: usize, until: Instant) -> Result<Option<&mut Running>> {
        if matches!(self.running[index], Slot::Idle) {
            let policies = self.policies;
            self.running[index] = match policies.loaded(index) {
                Some(loaded) => {
                    Slot::Running(Box::new(loaded.start(policies.grants(Some(index), self.memories.as_ref()), until)?))
                }
                None => Slot::Gone,
            };
        }
        Ok(match &mut self.running[index] {
            Slot::Running(running) => Some(running),
            Slot::Idle | Slot::Gone => None,
        })
    }

    fn default_running(&mut self, until: Instant) -> Result<&mut Running> {
        let running = match self.default_running.take() {
            Some(running) => running,
            None => self.default.start(self.policies.grants(None, self.memories.as_ref()), until)?,
        };
        Ok(self.default_running.insert(running))
    }

    /// Asks the default. After an error a new instance serves.
    fn ask_default<T>(&mut self, deadline: Instant, call: impl FnOnce(&mut Running, Instant) -> Result<T>) -> Result<T> {
        let until = deadline.min(Instant::now() + self.default.terms().limits.time);
        let outcome = self.default_running(until).and_then(|running| call(running, until));
        if outcome.is_err() {
            self.default_running = None;
        }
        outcome
    }

    /// The first answer of those that are asked one after another: one that is added passes on where it has none.
    fn first<T>(
        &mut self,
        stage: Stage,
        deadline: Instant,
        mut call: impl FnMut(&mut Running, Instant) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        for index in self.policies.roster.order(stage) {
            match self.ask(index, stage, deadline, &mut call)? {
                Some(Some(answer)) => return Ok(Some(answer)),
                Some(None) if self.mode(index, stage) == Mode::Replace => return Ok(None),
                Some(None) | None => {}
            }
        }
        self.ask_default(deadline, call)
    }

    fn mode(&self, index: usize, stage: Stage) -> Mode {
        self.policies.roster.candidates[index].mode(stage).unwrap_or(Mode::Add)
    }

    /// Stage `extractor`, the one that replaces the others: the strongest that succeeds. `share` gives lines and request anew
    /// for each that is tried.
    pub fn extract(&mut self, deadline: Instant, mut share: impl FnMut(&Maker) -> Result<Share>) -> Result<Extracted> {
        let order = self.policies.roster.order(Stage::Extractor);
        for (place, index) in order.iter().copied().enumerate() {
            if self.mode(index, Stage::Extractor) == Mode::Add {
                continue;
            }
            let maker = self.maker(index);
            let (request, lines) = share(&maker)?;
            let found =
                self.ask(index, Stage::Extractor, deadline, |running, until| running.extract(&request, lines, until))?;
            if let Some(extraction) = found {
                return Ok(Extracted { maker, extraction, place });
            }
        }
        let maker = Maker::of(self.default.terms());
        let (request, lines) = share(&maker)?;
        let extraction = self.ask_default(deadline, |running, until| running.extract(&request, lines, until))?;
        Ok(Extracted { maker, extraction, place: order.len() })
    }

    /// Stage `extractor`, those that are added to `base`, weakest first. `share` gives each what it has not read yet; none
    /// where that is nothing.
    pub fn extract_more(
        &mut self,
        base: &Extracted,
        deadline: Instant,
        mut share: impl FnMut(&Maker) -> Result<Option<Share>>,
    ) -> Result<Vec<Extracted>> {
        let order = self.policies.roster.order(Stage::Extractor);
        let mut more = Vec::new();
        for (place, index) in order.iter().copied().enumerate().take(base.place).rev() {
            if self.mode(index, Stage::Extractor) == Mode::Replace {
                continue;
            }
            let maker = self.maker(index);
            let Some((request, lines)) = share(&maker)? else { continue };
            let found =
                self.ask(index, Stage::Extractor, deadline, |running, until| running.extract(&request, lines, until))?;
            if let Some(extraction) = found {
                more.push(Extracted { maker, extraction, place });
            }
        }
        Ok(more)
    }

    fn maker(&self, index: usize) -> Maker {
        let found = &self.policies.roster.candidates[index].found;
        Maker { name: found.manifest.name.clone(), digest: found.digest.clone() }
    }

    /// Stage `summarizer`.
    pub fn summarize(&mut self, session: &Session, notes: &SessionNotes, deadline: Instant) -> Result<Option<Summary>> {
        self.first(Stage::Summarizer, deadline, |running, until| running.summarize(session, notes, until))
    }

    /// Stage `redactor`, in place: the values that are secret on this machine, then the default, then each other. Where it
    /// fails, none of the texts may be used.
    pub fn redact(&mut self, texts: &mut [String], deadline: Instant) -> Result<()> {
        self.redact_counting(texts, deadline).map(drop)
    }

    /// [`Work::redact`] of texts that lie apart from one another.
    pub fn redact_in_place(&mut self, mut slots: Vec<&mut String>, deadline: Instant) -> Result<()> {
        let mut texts: Vec<String> = slots.iter_mut().map(|slot| std::mem::take(*slot)).collect();
        self.redact(&mut texts, deadline)?;
        for (slot, text) in slots.into_iter().zip(texts) {
            *slot = text;
        }
        Ok(())
    }

    /// [`Work::redact`], and how often each rule found something.
    pub fn redact_counting(&mut self, texts: &mut [String], deadline: Instant) -> Result<BTreeMap<String, u64>> {
        let mut found = BTreeMap::new();
        let mut count = |rule: String, times: u32| {
            if times > 0 {
                *found.entry(rule).or_insert(0) += u64::from(times);
            }
        };
        let secrets = Rc::clone(&self.policies.secrets);
        // Before all redactors: none of them knows the values, and one that takes out a part of a value would hide the rest.
        count(secrets::RULE.into(), secrets.mask(texts));
        let mut changed = false;
        if self.policies.default_redacts {
            let findings = self.ask_default(deadline, |running, until| running.redact(texts, until))?;
            changed |= !findings.is_empty();
            for finding in findings {
                count(finding.rule, finding.count);
            }
        }
        for index in self.policies.roster.order(Stage::Redactor) {
            let findings = self.ask(index, Stage::Redactor, deadline, |running, until| running.redact(texts, until))?;
            changed = true;
            for finding in findings.into_iter().flatten() {
                count(finding.rule, finding.count);
            }
        }
        if changed {
            // What was taken out may have stood in the middle of a value, and a custom redactor can write anything.
            count(secrets::RULE.into(), secrets.mask(texts));
        }
        Ok(found)
    }

    /// Stage `context-builder`: the strongest that replaces the others, and under it those that are added.
    pub fn build_context(
        &mut self,
        session: &Session,
        source: &str,
        budget: u32,
        found: &[Memory],
        deadline: Instant,
    ) -> Result<Option<BuiltContext>> {
        const STAGE: Stage = Stage::ContextBuilder;
        let order = self.policies.roster.order(STAGE);
        let replacing = order.iter().position(|index| self.mode(*index, STAGE) == Mode::Replace).unwrap_or(order.len());
        let mut left = budget;
        let mut added: Vec<BuiltContext> = Vec::new();
        for index in order[..replacing].iter().copied() {
            // Between two texts stands an empty line.
            let share = (budget / ADDED_SHARE).min(left.saturating_sub(2));
            let seen = self.visible(index, found);
            let built = self
                .ask(index, STAGE, deadline, |running, until| running.build_context(session, source, share, seen, until))?;
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
            let built = self.ask(index, Stage::ContextBuilder, deadline, |running, until| {
                running.build_context(session, source, budget, seen, until)
            })?;
            if let Some(built) = built {
                return Ok(built);
            }
        }
        self.ask_default(deadline, |running, until| running.build_context(session, source, budget, found.to_vec(), until))
    }

    /// Of what a search found, what this policy may see.
    fn visible(&self, index: usize, found: &[Memory]) -> Vec<Memory> {
        let kinds: Option<&Kinds> = self.policies.roster.candidates[index].found.manifest.capabilities.memories.as_ref();
        found.iter().filter(|memory| kinds.is_some_and(|kinds| kinds.has(&memory.kind))).cloned().collect()
    }

    /// Stage `observer`.
    pub fn observe(&mut self, session: &Session, event: &ToolEvent, deadline: Instant) -> Result<Option<Observation>> {
        self.first(Stage::Observer, deadline, |running, until| running.observe(session, event, until))
    }

    /// Stage `query`.
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

/// One text of several, strongest last.
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
        assert_eq!(throughline_model::digest::sha256_hex(DEFAULT_WASM), DEFAULT_DIGEST.trim());
        let text = include_str!("../default-policy/policy.toml");
        let manifest = super::super::manifest::Manifest::parse(text).unwrap();
        assert_eq!(manifest.sha256.as_deref(), Some(DEFAULT_DIGEST.trim()));
        assert_eq!(manifest.name, DEFAULT_NAME);
        assert_eq!(manifest.stages.into_keys().collect::<Vec<_>>(), Stage::ALL);
        assert_eq!(manifest.capabilities, Capabilities::contract());
    }
}
