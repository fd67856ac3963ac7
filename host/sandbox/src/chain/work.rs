//! A unit of work: calls the policies of a stage, strongest first, until one answers.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use throughline_model::contract::{Session, SessionNotes};
use throughline_model::lines::LineSource;
use throughline_platform::log::Level;

use super::policies::{Extractor, Policies, PolicyId};
use crate::failures::FailureRecord;
use crate::imports::{MemorySource, ModelSource};
use crate::instance::{
    ConsolidateRequest, Consolidation, ExtractRequest, Extraction, LinkedPolicy, Observation, PolicyInstance, Search,
    Summary, ToolEvent, describe_failure,
};
use crate::manifest::Mode;
use crate::stage::Stage;

/// With less time than this a policy is not called, because it would be stopped before it could finish.
const MIN_CALL_TIME: Duration = Duration::from_millis(10);

/// A call that timed out after at least this long counts as a failure; with less time it was merely late.
const MIN_FAIR_TIME: Duration = Duration::from_millis(250);

/// The error if a required policy gave no answer, because it failed, was set aside or had no time left. No other policy may answer in
/// its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoAnswer {
    /// The policy's name.
    pub policy: String,
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the required policy {} did not answer", self.policy)
    }
}

impl std::error::Error for NoAnswer {}

/// The state of a policy's instance within a unit of work.
pub(super) enum Slot {
    /// Not started.
    Idle,
    /// Started.
    Started(Box<PolicyInstance>),
    /// Failed or not available: it is not called again.
    Gone,
}

/// A unit of work: instances that live until it is done, and the time left for policies other than the default.
pub struct Work<'a> {
    pub(super) policies: &'a Policies,
    pub(super) memories: Option<Rc<dyn MemorySource>>,
    /// Who asks the language model, while a consolidator runs.
    pub(super) model: Option<Rc<dyn ModelSource>>,
    pub(super) default: Arc<LinkedPolicy>,
    pub(super) default_running: Option<PolicyInstance>,
    pub(super) running: Vec<Slot>,
    pub(super) spare: Duration,
}

impl Work<'_> {
    /// Calls one policy. None means that it gave no answer, which was logged, and that the next one should be called.
    /// An error means that no other policy may answer in its place.
    pub(super) fn call_policy<T>(
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
            let no_answer = NoAnswer { policy: candidate.name().to_owned() };
            return Err(match error {
                Some(error) => error.context(no_answer),
                None => no_answer.into(),
            });
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
    pub(super) fn call_default<T>(
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

    pub(super) fn mode(&self, index: usize, stage: Stage) -> Mode {
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
