//! One running policy: instantiate it with what it was granted, ask which stages it has, and call them within limits.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use wasmtime::component::{Component, HasSelf, InstancePre, Linker, Resource};
use wasmtime::{Store, Trap};

use super::bindings::exports::throughline::policy as stages;
use super::bindings::throughline::policy as capabilities;
use super::engine::{Clockwork, Limits};
use super::imports::{Grants, HostState, LineSource, Reader};
use crate::contract::{Memory, Session, SessionNotes};

pub use stages::context_builder::Context as BuiltContext;
pub use stages::extractor::{Extraction, Request as ExtractRequest, Supplement};
pub use stages::observer::{Observation, ToolEvent};
pub use stages::query::Search;
pub use stages::redactor::{Finding, Redacted};
pub use stages::summarizer::Summary;

/// The largest state that an extractor may hand back; the contract says so.
const MOST_STATE_BYTES: usize = 256 << 10;

/// The largest sum of texts that one extraction may return, and the most drafts.
const MOST_EXTRACTED_BYTES: usize = 24 << 20;
const MOST_DRAFTS: usize = 20_000;

/// A component, linked: ready to be instantiated.
pub struct Loaded {
    /// `default`, or the manifest's name.
    pub name: String,
    /// SHA-256 of the component, hexadecimal.
    pub digest: String,
    clock: Clockwork,
    pre: InstancePre<HostState>,
    indices: Indices,
    limits: Limits,
}

/// Which stages the component exports.
struct Indices {
    extractor: Option<stages::extractor::GuestIndices>,
    summarizer: Option<stages::summarizer::GuestIndices>,
    redactor: Option<stages::redactor::GuestIndices>,
    context_builder: Option<stages::context_builder::GuestIndices>,
    observer: Option<stages::observer::GuestIndices>,
    query: Option<stages::query::GuestIndices>,
}

impl Loaded {
    /// Links the component. Fails where it imports what the contract does not have.
    pub fn link(name: &str, digest: &str, clock: &Clockwork, component: &Component, limits: Limits) -> Result<Self> {
        let mut linker = Linker::<HostState>::new(clock.engine());
        capabilities::transcript::add_to_linker::<_, HasSelf<_>>(&mut linker, |s| s)?;
        capabilities::memories::add_to_linker::<_, HasSelf<_>>(&mut linker, |s| s)?;
        capabilities::settings::add_to_linker::<_, HasSelf<_>>(&mut linker, |s| s)?;
        capabilities::log::add_to_linker::<_, HasSelf<_>>(&mut linker, |s| s)?;
        let pre = linker
            .instantiate_pre(component)
            .map_err(anyhow::Error::from)
            .with_context(|| format!("policy {name} imports something that it cannot have"))?;
        let indices = Indices {
            extractor: stages::extractor::GuestIndices::new(&pre).ok(),
            summarizer: stages::summarizer::GuestIndices::new(&pre).ok(),
            redactor: stages::redactor::GuestIndices::new(&pre).ok(),
            context_builder: stages::context_builder::GuestIndices::new(&pre).ok(),
            observer: stages::observer::GuestIndices::new(&pre).ok(),
            query: stages::query::GuestIndices::new(&pre).ok(),
        };
        Ok(Self { name: name.into(), digest: digest.into(), clock: clock.clone(), pre, indices, limits })
    }

    /// Starts an instance.
    pub fn start(&self, grants: Grants) -> Result<Running<'_>> {
        let mut store = Store::new(self.clock.engine(), HostState::new(self.limits.to_store_limits(), grants));
        store.limiter(|state| &mut state.limits);
        // Starting runs guest code too (start functions, initializers).
        store.set_epoch_deadline(Clockwork::ticks(Duration::from_secs(1)));
        let instance = self
            .pre
            .instantiate(&mut store)
            .map_err(anyhow::Error::from)
            .with_context(|| format!("policy {} does not start", self.name))?;
        Ok(Running { policy: self, store, instance })
    }
}

/// An instance. After an error it must not be used again: a trap leaves the guest's memory in any state.
pub struct Running<'a> {
    policy: &'a Loaded,
    store: Store<HostState>,
    instance: wasmtime::component::Instance,
}

/// Loads a stage's functions or says that the policy does not have it.
macro_rules! stage {
    ($self:ident, $field:ident, $name:literal) => {
        match &$self.policy.indices.$field {
            Some(indices) => indices.load(&mut $self.store, &$self.instance)?,
            None => bail!("policy {} has no stage {}", $self.policy.name, $name),
        }
    };
}

impl Running<'_> {
    /// Gives the guest until `deadline` for its next call.
    fn arm(&mut self, deadline: Instant) {
        self.store.set_epoch_deadline(Clockwork::ticks(deadline.saturating_duration_since(Instant::now())));
    }

    /// Stage `extractor`.
    pub fn extract(
        &mut self,
        request: &ExtractRequest,
        lines: Box<dyn LineSource>,
        deadline: Instant,
    ) -> Result<Extraction> {
        self.arm(deadline);
        let guest = stage!(self, extractor, "extractor");
        let reader = self.store.data_mut().table.push(Reader { source: lines })?;
        let borrowed = Resource::new_borrow(reader.rep());
        let outcome = guest.call_extract(&mut self.store, request, borrowed);
        self.store.data_mut().table.delete(reader)?;
        let extraction = outcome.map_err(|e| self.explain("extractor", e))??;
        check_extraction(&extraction)?;
        Ok(extraction)
    }

    /// Stage `summarizer`.
    pub fn summarize(&mut self, session: &Session, notes: &SessionNotes, deadline: Instant) -> Result<Option<Summary>> {
        self.arm(deadline);
        let guest = stage!(self, summarizer, "summarizer");
        Ok(guest.call_summarize(&mut self.store, session, notes).map_err(|e| self.explain("summarizer", e))??)
    }

    /// Stage `redactor`: replaces what must not be kept, in place. Where it fails, none of the texts may be used.
    pub fn redact(&mut self, texts: &mut [String], deadline: Instant) -> Result<()> {
        let results = self.redactions(texts, deadline)?;
        for (text, result) in texts.iter_mut().zip(results) {
            if let Some(redacted) = result.text {
                *text = redacted;
            }
        }
        Ok(())
    }

    /// Stage `redactor`, with what it found: one result a text, in order.
    pub fn redactions(&mut self, texts: &[String], deadline: Instant) -> Result<Vec<Redacted>> {
        self.arm(deadline);
        let guest = stage!(self, redactor, "redactor");
        let results = guest.call_redact(&mut self.store, texts).map_err(|e| self.explain("redactor", e))??;
        if results.len() != texts.len() {
            bail!("the redactor of policy {} answered {} texts with {}", self.policy.name, texts.len(), results.len());
        }
        Ok(results)
    }

    /// Stage `context-builder`.
    pub fn build_context(
        &mut self,
        session: &Session,
        source: &str,
        budget: u32,
        found: Vec<Memory>,
        deadline: Instant,
    ) -> Result<Option<BuiltContext>> {
        self.arm(deadline);
        let guest = stage!(self, context_builder, "context-builder");
        let request = stages::context_builder::Request { session: session.clone(), source: source.into(), budget, found };
        let built = guest.call_build(&mut self.store, &request).map_err(|e| self.explain("context-builder", e))??;
        if let Some(context) = &built {
            let units = context.text.encode_utf16().count();
            if units > budget as usize {
                bail!("policy {} wrote {units} UTF-16 units of context where {budget} are allowed", self.policy.name);
            }
        }
        Ok(built)
    }

    /// Stage `observer`.
    pub fn observe(&mut self, session: &Session, event: &ToolEvent, deadline: Instant) -> Result<Option<Observation>> {
        self.arm(deadline);
        let guest = stage!(self, observer, "observer");
        Ok(guest.call_observe(&mut self.store, session, event).map_err(|e| self.explain("observer", e))??)
    }

    /// Stage `query`.
    pub fn plan(
        &mut self,
        session: &Session,
        prompt: &str,
        last_turn: Option<&str>,
        deadline: Instant,
    ) -> Result<Option<Search>> {
        self.arm(deadline);
        let guest = stage!(self, query, "query");
        Ok(guest.call_plan(&mut self.store, session, prompt, last_turn).map_err(|e| self.explain("query", e))??)
    }

    /// Says in words of this project what wasmtime says in its own.
    fn explain(&self, stage: &str, error: wasmtime::Error) -> anyhow::Error {
        let who = format!(
            "policy {} ({}), stage {stage}",
            self.policy.name,
            &self.policy.digest[..12.min(self.policy.digest.len())]
        );
        match error.downcast_ref::<Trap>() {
            Some(Trap::Interrupt) => anyhow::anyhow!("{who}: stopped at its deadline"),
            Some(Trap::StackOverflow) => anyhow::anyhow!("{who}: its stack is full"),
            Some(trap) => anyhow::anyhow!("{who}: {trap}"),
            None => anyhow::Error::from(error).context(who),
        }
    }
}

/// Bounds what a policy may make the host store.
fn check_extraction(extraction: &Extraction) -> Result<()> {
    if extraction.state.len() > MOST_STATE_BYTES {
        bail!("the extractor's state has {} bytes, and {MOST_STATE_BYTES} are allowed", extraction.state.len());
    }
    if extraction.drafts.len() > MOST_DRAFTS {
        bail!("the extractor returned {} drafts, and {MOST_DRAFTS} are allowed", extraction.drafts.len());
    }
    let bytes: usize = extraction.drafts.iter().map(|d| d.title.len() + d.content.len()).sum();
    if bytes > MOST_EXTRACTED_BYTES {
        bail!("the extractor returned {bytes} bytes of text, and {MOST_EXTRACTED_BYTES} are allowed");
    }
    Ok(())
}
