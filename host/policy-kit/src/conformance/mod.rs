//! The conformance suite, which checks a policy against the contract, stage by stage. Inputs are fixed or come from a
//! seeded generator, so two runs over one policy give the same report. The suite ends whatever the policy does.

mod builder;
mod extractor;
mod fixtures;
mod observer;
mod query;
mod redactor;
mod summarizer;

use std::fmt::Display;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde::Serialize;

use throughline_model::contract::{Memory, Session, SessionNotes};
use throughline_model::lines::LineSource;
use throughline_sandbox::imports::{Grants, MemorySource};
use throughline_sandbox::instance::{
    BuiltContext, ExtractRequest, Extraction, LinkedPolicy, Observation, PolicyInstance, Redacted, Search, Summary,
    ToolEvent,
};
pub use throughline_sandbox::stage::Stage;

/// Something that can be checked because it can start instances.
pub trait Subject {
    /// Starts a fresh instance that has access to these memories.
    fn start(&self, memories: Rc<dyn MemorySource>) -> Result<Box<dyn Instance + '_>>;
}

/// The stages of one instance, as in [`PolicyInstance`].
pub trait Instance {
    /// Runs stage `extractor`.
    fn extract(&mut self, request: &ExtractRequest, lines: Box<dyn LineSource>, deadline: Instant) -> Result<Extraction>;
    /// Runs stage `summarizer`.
    fn summarize(&mut self, session: &Session, notes: &SessionNotes, deadline: Instant) -> Result<Option<Summary>>;
    /// Runs stage `redactor`.
    fn redact(&mut self, texts: &[String], deadline: Instant) -> Result<Vec<Redacted>>;
    /// Runs stage `context-builder`.
    fn build(
        &mut self,
        session: &Session,
        source: &str,
        budget: u32,
        found: Vec<Memory>,
        deadline: Instant,
    ) -> Result<Option<BuiltContext>>;
    /// Runs stage `observer`.
    fn observe(&mut self, session: &Session, event: &ToolEvent, deadline: Instant) -> Result<Option<Observation>>;
    /// Runs stage `query`.
    fn plan(
        &mut self,
        session: &Session,
        prompt: &str,
        last_turn: Option<&str>,
        deadline: Instant,
    ) -> Result<Option<Search>>;
}

/// A policy with its grants. The suite provides the memories.
pub struct Granted<'a> {
    /// The policy.
    pub policy: &'a Arc<LinkedPolicy>,
    /// Its settings, its log and so on; the memories are replaced.
    pub grants: Grants,
}

impl Subject for Granted<'_> {
    fn start(&self, memories: Rc<dyn MemorySource>) -> Result<Box<dyn Instance + '_>> {
        let kinds = self.policy.terms().capabilities.memories.clone();
        let grants = Grants { memories: kinds.map(|kinds| (memories, kinds)), ..self.grants.clone() };
        Ok(Box::new(self.policy.start(grants, Instant::now() + START)?))
    }
}

impl Instance for PolicyInstance {
    fn extract(&mut self, request: &ExtractRequest, lines: Box<dyn LineSource>, deadline: Instant) -> Result<Extraction> {
        PolicyInstance::extract(self, request, lines, deadline)
    }

    fn summarize(&mut self, session: &Session, notes: &SessionNotes, deadline: Instant) -> Result<Option<Summary>> {
        PolicyInstance::summarize(self, session, notes, deadline)
    }

    fn redact(&mut self, texts: &[String], deadline: Instant) -> Result<Vec<Redacted>> {
        self.redacted(texts, deadline)
    }

    fn build(
        &mut self,
        session: &Session,
        source: &str,
        budget: u32,
        found: Vec<Memory>,
        deadline: Instant,
    ) -> Result<Option<BuiltContext>> {
        self.build_context(session, source, budget, found, deadline)
    }

    fn observe(&mut self, session: &Session, event: &ToolEvent, deadline: Instant) -> Result<Option<Observation>> {
        PolicyInstance::observe(self, session, event, deadline)
    }

    fn plan(
        &mut self,
        session: &Session,
        prompt: &str,
        last_turn: Option<&str>,
        deadline: Instant,
    ) -> Result<Option<Search>> {
        PolicyInstance::plan(self, session, prompt, last_turn, deadline)
    }
}

/// How the suite runs.
#[derive(Debug, Clone)]
pub struct Options {
    /// The longest that one call may take.
    pub call: Duration,
    /// The longest that the whole suite may take; the checks that remain then fail.
    pub whole: Duration,
    /// The lines of further sessions, in [`ROOT`] or elsewhere, for a policy that looks for something that no session
    /// of the suite contains.
    pub sessions: Vec<Vec<String>>,
    /// Further texts for a redactor, with the kind of text that it looks for.
    pub texts: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        let (call, whole) = (Duration::from_secs(2), Duration::from_mins(2));
        Self { call, whole, sessions: Vec::new(), texts: Vec::new() }
    }
}

/// The root of the project that the suite's sessions are about.
pub const ROOT: &str = fixtures::ROOT;

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The contract is kept.
    Pass,
    /// Acceptable to the host, but not as it should be.
    Warn,
    /// The contract is broken.
    Fail,
}

/// One check and its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConformanceCheck {
    /// Its name, unique within the stage.
    pub id: &'static str,
    /// The stage that was called.
    pub stage: Stage,
    /// The result.
    pub status: Status,
    /// What was observed.
    pub seen: String,
    /// Why the check matters.
    pub why: &'static str,
    /// The passage of the contract that requires this.
    pub contract: &'static str,
}

/// All checks, in a fixed order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConformanceReport {
    /// The checks by stage, in the order in which they ran.
    pub checks: Vec<ConformanceCheck>,
    /// How many drafts the extractor made of all sessions. If none, its checks have hardly tested it.
    pub drafts: usize,
}

impl ConformanceReport {
    /// Returns the checks with this result.
    pub fn with(&self, status: Status) -> impl Iterator<Item = &ConformanceCheck> {
        self.checks.iter().filter(move |check| check.status == status)
    }

    /// Whether anything was checked and nothing failed.
    pub fn has_passed(&self) -> bool {
        !self.checks.is_empty() && self.with(Status::Fail).next().is_none()
    }
}

/// Runs the checks of these stages. If the policy does not have a stage, the stage's checks fail.
pub fn run(subject: &dyn Subject, stages: &[Stage], options: &Options) -> ConformanceReport {
    let suite = Suite { subject, options, until: Instant::now() + options.whole };
    let mut report = ConformanceReport::default();
    for stage in Stage::ALL.into_iter().filter(|stage| stages.contains(stage)) {
        let mut recorder = CheckRecorder { stage, checks: &mut report.checks, drafts: &mut report.drafts };
        match stage {
            Stage::Extractor => extractor::run(&suite, &mut recorder),
            Stage::Summarizer => summarizer::run(&suite, &mut recorder),
            Stage::Redactor => redactor::run(&suite, &mut recorder),
            Stage::ContextBuilder => builder::run(&suite, &mut recorder),
            Stage::Observer => observer::run(&suite, &mut recorder),
            Stage::Query => query::run(&suite, &mut recorder),
        }
    }
    report
}

/// How long an instance may take to start.
const START: Duration = Duration::from_secs(1);

/// How long after its deadline a call may return: the clock's tick, and the host's work on the result.
const SLACK: Duration = Duration::from_secs(1);

/// What every check needs.
struct Suite<'a> {
    subject: &'a dyn Subject,
    options: &'a Options,
    until: Instant,
}

impl<'a> Suite<'a> {
    /// Starts a fresh instance without memories.
    fn instance(&self) -> Result<Box<dyn Instance + 'a>> {
        self.instance_with(Rc::new(fixtures::FakeMemories::default()))
    }

    fn instance_with(&self, memories: Rc<dyn MemorySource>) -> Result<Box<dyn Instance + 'a>> {
        if Instant::now() >= self.until {
            bail!("not called, because the earlier calls took {} s in total", self.options.whole.as_secs());
        }
        self.subject.start(memories)
    }

    /// Makes a call and fails if it takes longer than a call may.
    fn timed<T>(&self, call: impl FnOnce(Instant) -> Result<T>) -> Result<T> {
        let began = Instant::now();
        let result = call(self.until.min(began + self.options.call))?;
        let took = began.elapsed();
        if took > self.options.call + SLACK {
            bail!("the call took {} ms, but only {} are allowed", took.as_millis(), self.options.call.as_millis());
        }
        Ok(result)
    }
}

/// The result of a check and what was observed.
struct Verdict {
    status: Status,
    seen: String,
}

impl Verdict {
    fn pass(seen: impl Into<String>) -> Self {
        Self { status: Status::Pass, seen: seen.into() }
    }

    /// Passes, or warns if `odd`.
    fn odd(odd: bool, seen: impl Into<String>) -> Self {
        Self { status: if odd { Status::Warn } else { Status::Pass }, seen: seen.into() }
    }

    fn fail(seen: impl Into<String>) -> Self {
        Self { status: Status::Fail, seen: seen.into() }
    }

    /// Turns an error into a failure with the error's message.
    fn of(result: Result<Self>) -> Self {
        result.unwrap_or_else(|error| Self::fail(format!("{error:#}")))
    }
}

/// Collects what is wrong with a set of results and reports the first examples.
#[derive(Default)]
struct Faults {
    seen: usize,
    fails: Vec<String>,
    warns: Vec<String>,
}

impl Faults {
    /// Counts one more result.
    fn count_result(&mut self) {
        self.seen += 1;
    }

    /// Counts one more attempt. An error breaks the contract.
    fn attempt<T>(&mut self, result: Result<T>) -> Option<T> {
        self.count_result();
        result.map_err(|error| self.fails.push(format!("{error:#}"))).ok()
    }

    /// Records a break of the contract if `wrong`.
    fn fail(&mut self, wrong: bool, what: impl FnOnce() -> String) {
        if wrong {
            self.fails.push(what());
        }
    }

    /// Records a warning if `wrong`.
    fn warn(&mut self, wrong: bool, what: impl FnOnce() -> String) {
        if wrong {
            self.warns.push(what());
        }
    }

    /// Returns the verdict; `what` names the results, in the plural. Without any results it is a warning, unless the
    /// policy `may_lack` them.
    fn verdict(self, what: &str, may_lack: bool) -> Verdict {
        match (self.fails.is_empty(), self.warns.is_empty()) {
            (false, _) => Verdict::fail(examples(&self.fails)),
            (true, false) => Verdict::odd(true, examples(&self.warns)),
            (true, true) if self.seen == 0 && !may_lack => {
                Verdict::odd(true, format!("no {what} to check: no call returned any"))
            }
            (true, true) => Verdict::pass(format!("{} {what}, nothing wrong", self.seen)),
        }
    }
}

/// How many examples a report shows.
const EXAMPLES: usize = 3;

fn examples(all: &[String]) -> String {
    let told = all.iter().take(EXAMPLES).map(String::as_str).collect::<Vec<_>>().join("; ");
    match all.len().saturating_sub(EXAMPLES) {
        0 => told,
        more => format!("{told}; and {more} more"),
    }
}

/// Collects the checks of a stage.
struct CheckRecorder<'a> {
    stage: Stage,
    checks: &'a mut Vec<ConformanceCheck>,
    drafts: &'a mut usize,
}

impl CheckRecorder<'_> {
    fn note(&mut self, id: &'static str, contract: &'static str, why: &'static str, verdict: Verdict) {
        let Verdict { status, seen } = verdict;
        self.checks.push(ConformanceCheck { id, stage: self.stage, status, seen, why, contract });
    }
}

/// Quotes the beginning of a text on one line, for a report.
fn quoted(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    let short: String = text.chars().take(MAX_CHARS).collect();
    let dots = if short.len() < text.len() { "…" } else { "" };
    format!("{short:?}{dots}")
}

/// Whether two values have the same debug representation.
fn is_same(one: &impl std::fmt::Debug, other: &impl std::fmt::Debug) -> bool {
    format!("{one:?}") == format!("{other:?}")
}

fn is_one_line(text: &str) -> bool {
    !text.contains(['\n', '\r'])
}

/// Whether this is a valid kind: lower case, words joined by `_`, at most 64 bytes.
fn is_kind(kind: &str) -> bool {
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    kind.len() <= 64 && kind.starts_with(|c: char| c.is_ascii_lowercase()) && kind.split('_').all(is_word)
}

/// Checks a file path that a policy returned: it must be relative to the root if inside it.
fn check_file(faults: &mut Faults, case: &impl Display, file: &str) {
    let inside = file.strip_prefix(ROOT).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    faults.count_result();
    faults.fail(inside, || format!("{case}: {} is inside the root but not relative to it", quoted(file)));
    faults.fail(file.trim().is_empty() || !is_one_line(file), || format!("{case}: {} is not a path", quoted(file)));
    faults.warn(file.starts_with("./"), || format!("{case}: {} begins with ./", quoted(file)));
}

/// Checks that the same input gives the same result twice in one instance and once in a fresh one.
fn deterministic<T: std::fmt::Debug>(suite: &Suite<'_>, call: impl Fn(&mut dyn Instance, Instant) -> Result<T>) -> Verdict {
    let compared = || {
        let mut one = suite.instance()?;
        let first = suite.timed(|until| call(&mut *one, until))?;
        let second = suite.timed(|until| call(&mut *one, until))?;
        let mut other = suite.instance()?;
        let fresh = suite.timed(|until| call(&mut *other, until))?;
        Ok(match (is_same(&first, &second), is_same(&first, &fresh)) {
            (true, true) => Verdict::pass("the same result twice in one instance and in a fresh one"),
            (false, _) => Verdict::fail("the second call of an instance gives a different result from the first"),
            (true, false) => Verdict::fail("a fresh instance gives a different result"),
        })
    };
    Verdict::of(compared())
}

const WHY_DETERMINISTIC: &str =
    "Every call may get a new instance: a result that depends on the instance cannot be reproduced or debugged.";
const PLACE_INSTANCES: &str =
    "worlds.wit, rules: \"Every call may get a new instance, so do not keep anything in globals that must survive a call\"";
const PLACE_OPEN: &str = "worlds.wit, rules: open strings, \"must ignore those that it does not know\"";
const PLACE_UNICODE: &str = "worlds.wit, rules: \"Texts are plain Unicode\"";
