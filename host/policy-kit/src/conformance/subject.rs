//! What can be checked: something that starts instances, and the stages of an instance.

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;

use throughline_model::contract::{Memory, Session, SessionNotes};
use throughline_model::lines::LineSource;
use throughline_sandbox::imports::{Grants, MemorySource};
use throughline_sandbox::instance::{
    BuiltContext, ConsolidateRequest, Consolidation, ExtractRequest, Extraction, LinkedPolicy, Observation, PolicyInstance,
    Redacted, Search, Summary, ToolEvent,
};

/// How long an instance may take to start.
const START: Duration = Duration::from_secs(1);

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
    /// Runs stage `consolidator`.
    fn consolidate(&mut self, request: &ConsolidateRequest, deadline: Instant) -> Result<Consolidation>;
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

    fn consolidate(&mut self, request: &ConsolidateRequest, deadline: Instant) -> Result<Consolidation> {
        PolicyInstance::consolidate(self, request, deadline)
    }
}
