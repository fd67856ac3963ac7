//! The conformance suite: a policy is run through what the contract promises, stage by stage. Inputs are fixed or come
//! from a seeded generator, so that two runs over one policy say the same. Whatever the policy does, the suite ends.

mod builder;
mod extractor;
mod material;
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
    BuiltContext, ExtractRequest, Extraction, Loaded, Observation, Redacted, Running, Search, Summary, ToolEvent,
};
pub use throughline_sandbox::stage::Stage;

/// What may be checked: something that starts instances.
pub trait Subject {
    /// A fresh instance that sees these memories.
    fn start(&self, memories: Rc<dyn MemorySource>) -> Result<Box<dyn Instance + '_>>;
}

/// The stages of one instance, as [`Running`] has them.
pub trait Instance {
    /// Stage `extractor`.
    fn extract(&mut self, request: &ExtractRequest, lines: Box<dyn LineSource>, deadline: Instant) -> Result<Extraction>;
    /// Stage `summarizer`.
    fn summarize(&mut self, session: &Session, notes: &SessionNotes, deadline: Instant) -> Result<Option<Summary>>;
    /// Stage `redactor`.
    fn redact(&mut self, texts: &[String], deadline: Instant) -> Result<Vec<Redacted>>;
    /// Stage `context-builder`.
    fn build(
        &mut self,
        session: &Session,
        source: &str,
        budget: u32,
        found: Vec<Memory>,
        deadline: Instant,
    ) -> Result<Option<BuiltContext>>;
    /// Stage `observer`.
    fn observe(&mut self, session: &Session, event: &ToolEvent, deadline: Instant) -> Result<Option<Observation>>;
    /// Stage `query`.
    fn plan(
        &mut self,
        session: &Session,
        prompt: &str,
        last_turn: Option<&str>,
        deadline: Instant,
    ) -> Result<Option<Search>>;
}

/// A policy with what it is granted. The memories that it sees are the suite's own.
pub struct Granted<'a> {
    /// The policy.
    pub policy: &'a Arc<Loaded>,
    /// Its settings, its log and so on.
    pub grants: Grants,
}

impl Subject for Granted<'_> {
    fn start(&self, memories: Rc<dyn MemorySource>) -> Result<Box<dyn Instance + '_>> {
        let kinds = self.policy.terms().capabilities.memories.clone();
        let grants = Grants { memories: kinds.map(|kinds| (memories, kinds)), ..self.grants.clone() };
        Ok(Box::new(self.policy.start(grants, Instant::now() + START)?))
    }
}

impl Instance for Running {
    fn extract(&mut self, request: &ExtractRequest, lines: Box<dyn LineSource>, deadline: Instant) -> Result<Extraction> {
        Running::extract(self, request, lines, deadline)
    }

    fn summarize(&mut self, session: &Session, notes: &SessionNotes, deadline: Instant) -> Result<Option<Summary>> {
        Running::summarize(self, session, notes, deadline)
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
        Running::observe(self, session, event, deadline)
    }

    fn plan(
        &mut self,
        session: &Session,
        prompt: &str,
        last_turn: Option<&str>,
        deadline: Instant,
    ) -> Result<Option<Search>> {
        Running::plan(self, session, prompt, last_turn, deadline)
    }
}

/// How the suite runs.
#[derive(Debug, Clone)]
pub struct Options {
    /// The longest that one call may take.
    pub call: Duration,
    /// The longest that everything may take; what is left then fails.
    pub whole: Duration,
    /// Lines of further sessions, below [`ROOT`] or not: what a special policy looks for stands in no session of the suite.
    pub sessions: Vec<Vec<String>>,
    /// Further texts for a redactor, such as hold what it looks for.
    pub texts: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        let (call, whole) = (Duration::from_secs(2), Duration::from_mins(2));
        Self { call, whole, sessions: Vec::new(), texts: Vec::new() }
    }
}

/// The root of the project that the suite's sessions are about.
pub const ROOT: &str = material::ROOT;

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// As the contract says.
    Pass,
    /// The host can live with it, but it is not as it should be.
    Warn,
    /// The contract is broken.
    Fail,
}

/// One check and how it came out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Check {
    /// Its name, unique in its stage.
    pub id: &'static str,
    /// The stage that was called.
    pub stage: Stage,
    /// How it came out.
    pub status: Status,
    /// What was seen.
    pub seen: String,
    /// Why it matters.
    pub why: &'static str,
    /// The place in the contract that promises it.
    pub contract: &'static str,
}

/// All checks, in a fixed order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// By stage, in the order in which they ran.
    pub checks: Vec<Check>,
    /// Drafts that the extractor made of all sessions: where that is none, its checks have seen little.
    pub drafts: usize,
}

impl Report {
    /// The checks that came out so.
    pub fn with(&self, status: Status) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(move |check| check.status == status)
    }

    /// Whether nothing failed, and something was checked at all.
    pub fn is_fine(&self) -> bool {
        !self.checks.is_empty() && self.with(Status::Fail).next().is_none()
    }
}

/// Runs the checks of these stages. A stage that the policy does not have fails them.
pub fn run(subject: &dyn Subject, stages: &[Stage], options: &Options) -> Report {
    let suite = Suite { subject, options, until: Instant::now() + options.whole };
    let mut report = Report::default();
    for stage in Stage::ALL.into_iter().filter(|stage| stages.contains(stage)) {
        let mut sheet = Sheet { stage, checks: &mut report.checks, drafts: &mut report.drafts };
        match stage {
            Stage::Extractor => extractor::run(&suite, &mut sheet),
            Stage::Summarizer => summarizer::run(&suite, &mut sheet),
            Stage::Redactor => redactor::run(&suite, &mut sheet),
            Stage::ContextBuilder => builder::run(&suite, &mut sheet),
            Stage::Observer => observer::run(&suite, &mut sheet),
            Stage::Query => query::run(&suite, &mut sheet),
        }
    }
    report
}

/// How long an instance may take to start.
const START: Duration = Duration::from_secs(1);

/// How late behind its deadline a call may come back: the clock's tick, and what the host does with the result.
const SLACK: Duration = Duration::from_secs(1);

/// What every check needs.
struct Suite<'a> {
    subject: &'a dyn Subject,
    options: &'a Options,
    until: Instant,
}

impl<'a> Suite<'a> {
    /// A fresh instance that sees no memories.
    fn instance(&self) -> Result<Box<dyn Instance + 'a>> {
        self.instance_with(Rc::new(material::Shelf::default()))
    }

    fn instance_with(&self, memories: Rc<dyn MemorySource>) -> Result<Box<dyn Instance + 'a>> {
        if Instant::now() >= self.until {
            bail!("not called, because the calls before took {} s together", self.options.whole.as_secs());
        }
        self.subject.start(memories)
    }

    /// Calls within the time that a call has.
    fn timed<T>(&self, call: impl FnOnce(Instant) -> Result<T>) -> Result<T> {
        let began = Instant::now();
        let result = call(self.until.min(began + self.options.call))?;
        let took = began.elapsed();
        if took > self.options.call + SLACK {
            bail!("the call took {} ms, and {} are allowed", took.as_millis(), self.options.call.as_millis());
        }
        Ok(result)
    }
}

/// What a check came to.
struct Verdict {
    status: Status,
    seen: String,
}

impl Verdict {
    fn pass(seen: impl Into<String>) -> Self {
        Self { status: Status::Pass, seen: seen.into() }
    }

    /// Passes, or warns where there is something odd.
    fn odd(odd: bool, seen: impl Into<String>) -> Self {
        Self { status: if odd { Status::Warn } else { Status::Pass }, seen: seen.into() }
    }

    fn fail(seen: impl Into<String>) -> Self {
        Self { status: Status::Fail, seen: seen.into() }
    }

    /// Fails for an error's words.
    fn of(result: Result<Self>) -> Self {
        result.unwrap_or_else(|error| Self::fail(format!("{error:#}")))
    }
}

/// What is wrong with a set of results: gathered, and told by its first examples.
#[derive(Default)]
struct Faults {
    seen: usize,
    fails: Vec<String>,
    warns: Vec<String>,
}

impl Faults {
    /// One more was looked at.
    fn look(&mut self) {
        self.seen += 1;
    }

    /// One more was tried: an error is a break of the contract.
    fn tried<T>(&mut self, result: Result<T>) -> Option<T> {
        self.look();
        result.map_err(|error| self.fails.push(format!("{error:#}"))).ok()
    }

    /// Notes a break of the contract where `wrong`.
    fn fail(&mut self, wrong: bool, what: impl FnOnce() -> String) {
        if wrong {
            self.fails.push(what());
        }
    }

    /// Notes something odd where `wrong`.
    fn warn(&mut self, wrong: bool, what: impl FnOnce() -> String) {
        if wrong {
            self.warns.push(what());
        }
    }

    /// `what` was looked at, in the plural. Nothing to look at is no pass, unless it `may_lack`.
    fn verdict(self, what: &str, may_lack: bool) -> Verdict {
        match (self.fails.is_empty(), self.warns.is_empty()) {
            (false, _) => Verdict::fail(examples(&self.fails)),
            (true, false) => Verdict::odd(true, examples(&self.warns)),
            (true, true) if self.seen == 0 && !may_lack => {
                Verdict::odd(true, format!("no {what} to look at: no call answered"))
            }
            (true, true) => Verdict::pass(format!("{} {what}, nothing wrong", self.seen)),
        }
    }
}

/// How many examples stand in a report.
const EXAMPLES: usize = 3;

fn examples(all: &[String]) -> String {
    let told = all.iter().take(EXAMPLES).map(String::as_str).collect::<Vec<_>>().join("; ");
    match all.len().saturating_sub(EXAMPLES) {
        0 => told,
        more => format!("{told}; and {more} more"),
    }
}

/// Where the checks of a stage are written down.
struct Sheet<'a> {
    stage: Stage,
    checks: &'a mut Vec<Check>,
    drafts: &'a mut usize,
}

impl Sheet<'_> {
    fn note(&mut self, id: &'static str, contract: &'static str, why: &'static str, verdict: Verdict) {
        let Verdict { status, seen } = verdict;
        self.checks.push(Check { id, stage: self.stage, status, seen, why, contract });
    }
}

/// A text in a report: its beginning, in quotes, on one line.
fn quoted(text: &str) -> String {
    const MOST: usize = 60;
    let short: String = text.chars().take(MOST).collect();
    let dots = if short.len() < text.len() { "…" } else { "" };
    format!("{short:?}{dots}")
}

/// Whether two results are the same, whatever they are made of.
fn alike(one: &impl std::fmt::Debug, other: &impl std::fmt::Debug) -> bool {
    format!("{one:?}") == format!("{other:?}")
}

fn is_one_line(text: &str) -> bool {
    !text.contains(['\n', '\r'])
}

/// Lower case, words joined by `_`, at most 64 bytes.
fn is_kind(kind: &str) -> bool {
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    kind.len() <= 64 && kind.starts_with(|c: char| c.is_ascii_lowercase()) && kind.split('_').all(is_word)
}

/// Looks at a file that a policy names: relative to the root where inside it.
fn check_file(faults: &mut Faults, case: &impl Display, file: &str) {
    let inside = file.strip_prefix(ROOT).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    faults.look();
    faults.fail(inside, || format!("{case}: {} is inside of the root and not relative to it", quoted(file)));
    faults.fail(file.trim().is_empty() || !is_one_line(file), || format!("{case}: {} is no path", quoted(file)));
    faults.warn(file.starts_with("./"), || format!("{case}: {} begins with ./", quoted(file)));
}

/// The same input twice in one instance and once in a fresh one gives the same.
fn deterministic<T: std::fmt::Debug>(suite: &Suite<'_>, call: impl Fn(&mut dyn Instance, Instant) -> Result<T>) -> Verdict {
    let compared = || {
        let mut one = suite.instance()?;
        let first = suite.timed(|until| call(&mut *one, until))?;
        let second = suite.timed(|until| call(&mut *one, until))?;
        let mut other = suite.instance()?;
        let fresh = suite.timed(|until| call(&mut *other, until))?;
        Ok(match (alike(&first, &second), alike(&first, &fresh)) {
            (true, true) => Verdict::pass("the same result twice in one instance and in a fresh one"),
            (false, _) => Verdict::fail("the second call of an instance gives another result than the first"),
            (true, false) => Verdict::fail("a fresh instance gives another result"),
        })
    };
    Verdict::of(compared())
}

const WHY_DETERMINISTIC: &str =
    "Instances come and go between calls: a result that hangs on one cannot be repeated, and nobody can find its fault.";
const PLACE_INSTANCES: &str =
    "worlds.wit, rules: \"Instances may be new at every call: keep nothing in globals that must last\"";
const PLACE_OPEN: &str = "worlds.wit, rules: open strings, \"passes over what it does not know\"";
const PLACE_UNICODE: &str = "worlds.wit, rules: \"Texts are plain Unicode\"";
