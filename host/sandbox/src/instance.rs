//! Links a policy's component with what it was granted, starts instances, and calls their stages within limits.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use wasmtime::component::{Component, HasSelf, InstancePre, Linker, Resource};
use wasmtime::{Store, Trap};

use super::capability::{self, Capabilities, Import};
use super::engine::{EpochTicker, Limits, Meter};
use super::imports::{Grants, HostState, Reader};
use super::placeholders;
use super::stage::Stage;
use super::trapped::{self, CallStopped, CallTrapped};
use super::v0_1::bindings::exports::throughline::policy as stages;
use super::v0_1::bindings::throughline::policy as capabilities;
use super::wasi;
use throughline_model::contract::{Failure, MAX_KIND, Memory, Session, SessionNotes, is_kind};
use throughline_model::lines::LineSource;

pub use stages::context_builder::Context as BuiltContext;
pub use stages::extractor::{Extraction, Request as ExtractRequest, Supplement};
pub use stages::observer::{Observation, ToolEvent};
pub use stages::query::Search;
pub use stages::redactor::{Finding, Redacted};
pub use stages::summarizer::Summary;

/// The largest state that an extractor may return, as the contract says.
const MAX_STATE_BYTES: usize = 256 << 10;

/// How many drafts one extraction may return: more than a chunk of 8 MiB of real lines yields.
const MAX_DRAFTS: usize = 20_000;

/// How long an instance may take to start.
const START_TIMEOUT: Duration = Duration::from_secs(1);

/// The terms on which a component is loaded, before anything is known about it.
#[derive(Debug, Clone)]
pub struct Terms {
    /// `default`, or the name in the manifest.
    pub name: String,
    /// SHA-256 of the component, hexadecimal.
    pub digest: String,
    /// The capabilities that it requested and was granted.
    pub capabilities: Capabilities,
    /// The stages that it must export; other exports are not used.
    pub stages: Vec<Stage>,
    /// What its instances may use.
    pub limits: Limits,
}

/// A linked component, ready to be instantiated.
pub struct LinkedPolicy {
    terms: Terms,
    clock: EpochTicker,
    pre: InstancePre<HostState>,
    indices: Indices,
}

/// The exported functions of each stage.
struct Indices {
    extractor: Option<stages::extractor::GuestIndices>,
    summarizer: Option<stages::summarizer::GuestIndices>,
    redactor: Option<stages::redactor::GuestIndices>,
    context_builder: Option<stages::context_builder::GuestIndices>,
    observer: Option<stages::observer::GuestIndices>,
    query: Option<stages::query::GuestIndices>,
}

/// Why a component cannot be linked on its terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkError {
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub hint: String,
}

impl std::fmt::Display for LinkError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for LinkError {}

fn link_error(what: impl Into<String>, hint: impl Into<String>) -> LinkError {
    LinkError { what: what.into(), hint: hint.into() }
}

/// Fails if the import was not granted or does not exist.
fn check_import(name: &str, terms: &Terms) -> Result<(), LinkError> {
    match capability::classify_import(name) {
        Import::Types => Ok(()),
        Import::Needs(needed) if terms.capabilities.has(&needed) => Ok(()),
        Import::Needs(needed) => Err(link_error(
            format!("it imports {name} without having the capability {}", needed.name()),
            format!(
                "request it under [capabilities] in {}, and grant it: throughline policy grant {} {}",
                super::manifest::FILE,
                terms.name,
                needed.name()
            ),
        )),
        Import::OtherVersion(version) => Err(other_version(&version)),
        Import::Unsupported => Err(link_error(
            format!("it imports {name}, which no policy can use"),
            "build it without this import; policies can use the contract's capabilities and, if granted, WASI in a fixed shape",
        )),
    }
}

fn other_version(version: &str) -> LinkError {
    let served = capability::SUPPORTED_VERSIONS.join(", ");
    link_error(
        format!("it is built for version {version} of the contract, but this host supports {served}"),
        format!(
            "build it against wit/v{}, or install a version of Throughline that supports {version}",
            capability::SUPPORTED_VERSIONS[0]
        ),
    )
}

impl LinkedPolicy {
    /// Links the component on these terms. Fails with [`LinkError`] if it imports something that it was not granted, lacks
    /// a required stage, or is built for another version of the contract.
    pub fn link(terms: Terms, clock: &EpochTicker, component: &Component) -> Result<Self> {
        let engine = clock.engine();
        let kind = component.component_type();
        let mut needs_wasi = false;
        for (name, _) in kind.imports(engine) {
            check_import(name, &terms)?;
            needs_wasi |= name.starts_with("wasi:");
        }
        for (name, _) in kind.exports(engine) {
            if let Some(version) = capability::other_version_of_export(name) {
                return Err(other_version(version).into());
            }
        }
        let mut linker = Linker::<HostState>::new(engine);
        if terms.capabilities.transcript {
            capabilities::transcript::add_to_linker::<_, HasSelf<_>>(&mut linker, |s| s)?;
        }
        if terms.capabilities.memories.is_some() {
            capabilities::memories::add_to_linker::<_, HasSelf<_>>(&mut linker, |s| s)?;
        }
        if terms.capabilities.settings {
            capabilities::settings::add_to_linker::<_, HasSelf<_>>(&mut linker, |s| s)?;
        }
        if terms.capabilities.log {
            capabilities::log::add_to_linker::<_, HasSelf<_>>(&mut linker, |s| s)?;
        }
        if needs_wasi {
            wasi::link(&mut linker, component)?;
        }
        let pre = linker.instantiate_pre(component).map_err(|error| {
            link_error(
                format!("its imports do not match the contract: {error:#}"),
                format!("build it against wit/v{}", capability::SUPPORTED_VERSIONS[0]),
            )
        })?;
        let indices = Indices {
            extractor: require_export(&terms, Stage::Extractor, stages::extractor::GuestIndices::new(&pre))?,
            summarizer: require_export(&terms, Stage::Summarizer, stages::summarizer::GuestIndices::new(&pre))?,
            redactor: require_export(&terms, Stage::Redactor, stages::redactor::GuestIndices::new(&pre))?,
            context_builder: require_export(
                &terms,
                Stage::ContextBuilder,
                stages::context_builder::GuestIndices::new(&pre),
            )?,
            observer: require_export(&terms, Stage::Observer, stages::observer::GuestIndices::new(&pre))?,
            query: require_export(&terms, Stage::Query, stages::query::GuestIndices::new(&pre))?,
        };
        Ok(Self { terms, clock: clock.clone(), pre, indices })
    }

    /// Returns the terms on which it was loaded.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Starts an instance by `until`, with access to what is in `grants`.
    pub fn start(self: &Arc<Self>, grants: Grants, until: Instant) -> Result<PolicyInstance> {
        let limits = self.terms.limits;
        let mut store = Store::new(self.clock.engine(), HostState::new(Meter::new(limits), grants));
        store.limiter(|state| &mut state.meter);
        store.set_hostcall_fuel(limits.output_bytes);
        store.set_max_component_handles(limits.items);
        // Starting also runs guest code (start functions, initializers).
        let allowed = until.saturating_duration_since(Instant::now()).min(START_TIMEOUT);
        store.set_epoch_deadline(EpochTicker::ticks(allowed));
        let instance = self.pre.instantiate(&mut store).map_err(|error| self.explain("start", error))?;
        Ok(PolicyInstance { policy: Arc::clone(self), store, instance })
    }

    /// Adds the policy, the stage and the cause to wasmtime's error.
    fn explain(&self, stage: &str, error: wasmtime::Error) -> anyhow::Error {
        let Terms { name, digest, .. } = &self.terms;
        let who = format!("policy {name} ({}), {stage}", &digest[..12.min(digest.len())]);
        match error.downcast_ref::<Trap>() {
            Some(trap) => CallTrapped { who, functions: trapped::functions(&error), trap: *trap }.into(),
            None if trapped::has_stack(&error) => CallStopped { who, functions: trapped::functions(&error), error }.into(),
            None => anyhow::Error::from(error).context(who),
        }
    }
}

/// Returns the stage's functions if the terms require the stage.
fn require_export<T>(terms: &Terms, stage: Stage, found: wasmtime::Result<T>) -> Result<Option<T>, LinkError> {
    if !terms.stages.contains(&stage) {
        return Ok(None);
    }
    found.map(Some).map_err(|error| {
        link_error(
            format!("its manifest lists the stage {stage}, but the component does not export it: {error:#}"),
            format!(
                "export throughline:policy/{stage}@{} as the contract defines it, or remove the stage from the manifest",
                capability::SUPPORTED_VERSIONS[0]
            ),
        )
    })
}

/// Describes in a few words how a policy failed. The result contains nothing that the policy wrote, so it can be
/// stored.
pub fn describe_failure(error: &anyhow::Error) -> &'static str {
    if let Some(trap) = error.chain().find_map(|cause| cause.downcast_ref::<Trap>()) {
        return match trap {
            Trap::Interrupt => "stopped at its deadline",
            Trap::StackOverflow => "its stack overflowed",
            Trap::UnreachableCodeReached => "it panicked",
            _ => "it trapped",
        };
    }
    if error.chain().any(<dyn std::error::Error>::is::<Failure>) {
        return "it returned a failure";
    }
    if error.chain().any(<dyn std::error::Error>::is::<LinkError>) {
        return "its component does not match its manifest";
    }
    "it exceeded a limit or broke the contract"
}

/// An instance. It must not be used again after an error, because a trap leaves the guest's memory in an undefined
/// state.
pub struct PolicyInstance {
    policy: Arc<LinkedPolicy>,
    store: Store<HostState>,
    instance: wasmtime::component::Instance,
}

/// Loads a stage's functions, or fails if the policy does not have the stage.
macro_rules! stage {
    ($self:ident, $field:ident, $name:literal) => {
        match &$self.policy.indices.$field {
            Some(indices) => indices.load(&mut $self.store, &$self.instance).map_err(|error| {
                let name = &$self.policy.terms.name;
                link_error(
                    format!("the stage {} of policy {name} does not have the contract's type: {error:#}", $name),
                    format!("build it against wit/v{}", capability::SUPPORTED_VERSIONS[0]),
                )
            })?,
            None => bail!("policy {} has no stage {}", $self.policy.terms.name, $name),
        }
    };
}

impl PolicyInstance {
    /// Returns the terms on which the policy was loaded.
    pub fn terms(&self) -> &Terms {
        &self.policy.terms
    }

    /// Returns the linear memory in use, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.store.data().meter.memory_bytes()
    }

    /// Sets the deadline of the guest's next call.
    fn set_deadline(&mut self, deadline: Instant) {
        self.store.set_epoch_deadline(EpochTicker::ticks(deadline.saturating_duration_since(Instant::now())));
    }

    /// Runs stage `extractor`.
    pub fn extract(
        &mut self,
        request: &ExtractRequest,
        lines: Box<dyn LineSource>,
        deadline: Instant,
    ) -> Result<Extraction> {
        self.set_deadline(deadline);
        let guest = stage!(self, extractor, "extractor");
        let reader = self.store.data_mut().table.push(Reader { source: lines })?;
        let borrowed = Resource::new_borrow(reader.rep());
        let outcome = guest.call_extract(&mut self.store, request, borrowed);
        self.store.data_mut().table.delete(reader)?;
        let extraction = outcome.map_err(|e| self.policy.explain("stage extractor", e))??;
        check_extraction(&extraction)?;
        Ok(extraction)
    }

    /// Runs stage `summarizer`.
    pub fn summarize(&mut self, session: &Session, notes: &SessionNotes, deadline: Instant) -> Result<Option<Summary>> {
        self.set_deadline(deadline);
        let guest = stage!(self, summarizer, "summarizer");
        Ok(guest
            .call_summarize(&mut self.store, session, notes)
            .map_err(|e| self.policy.explain("stage summarizer", e))??)
    }

    /// Runs stage `redactor`. Returns one result for each text, in order.
    pub fn redacted(&mut self, texts: &[String], deadline: Instant) -> Result<Vec<Redacted>> {
        self.set_deadline(deadline);
        let guest = stage!(self, redactor, "redactor");
        let results = guest.call_redact(&mut self.store, texts).map_err(|e| self.policy.explain("stage redactor", e))??;
        if results.len() != texts.len() {
            let name = &self.policy.terms.name;
            bail!("the redactor of policy {name} got {} texts and returned {} results", texts.len(), results.len());
        }
        Ok(results)
    }

    /// Like [`PolicyInstance::redacted`], but changes the texts in place and returns the findings. Fails if a result is
    /// anything else than its text with parts replaced by placeholders; then no text was changed.
    pub fn redact(&mut self, texts: &mut [String], deadline: Instant) -> Result<Vec<Finding>> {
        let results = self.redacted(texts, deadline)?;
        for (text, result) in texts.iter().zip(&results) {
            self.check_redaction(text, result)?;
        }
        let mut found = Vec::new();
        for (text, result) in texts.iter_mut().zip(results) {
            if let Some(redacted) = result.text {
                *text = redacted;
            }
            found.extend(result.findings);
        }
        Ok(found)
    }

    /// Checks what a redactor made of a text. It sees the texts of all policies, so it could otherwise delete memories,
    /// write some, or turn one into another.
    fn check_redaction(&self, text: &str, result: &Redacted) -> Result<()> {
        let name = &self.policy.terms.name;
        if result.text.as_ref().is_some_and(|output| !placeholders::is_redaction_of(output, text)) {
            bail!("the redactor of policy {name} did more to a text than replace parts of it by [redacted:RULE]");
        }
        if result.findings.iter().any(|finding| !placeholders::is_rule(&finding.rule)) {
            bail!("the redactor of policy {name} reported a rule whose name is not valid");
        }
        Ok(())
    }

    /// Runs stage `context-builder`.
    pub fn build_context(
        &mut self,
        session: &Session,
        source: &str,
        budget: u32,
        found: Vec<Memory>,
        deadline: Instant,
    ) -> Result<Option<BuiltContext>> {
        self.set_deadline(deadline);
        let guest = stage!(self, context_builder, "context-builder");
        let request = stages::context_builder::Request { session: session.clone(), source: source.into(), budget, found };
        let built =
            guest.call_build(&mut self.store, &request).map_err(|e| self.policy.explain("stage context-builder", e))??;
        if let Some(context) = &built {
            let units = context.text.encode_utf16().count();
            if units > budget as usize {
                bail!(
                    "policy {} wrote {units} UTF-16 units of context, but only {budget} are allowed",
                    self.policy.terms.name
                );
            }
        }
        Ok(built)
    }

    /// Runs stage `observer`.
    pub fn observe(&mut self, session: &Session, event: &ToolEvent, deadline: Instant) -> Result<Option<Observation>> {
        self.set_deadline(deadline);
        let guest = stage!(self, observer, "observer");
        Ok(guest.call_observe(&mut self.store, session, event).map_err(|e| self.policy.explain("stage observer", e))??)
    }

    /// Runs stage `query`.
    pub fn plan(
        &mut self,
        session: &Session,
        prompt: &str,
        last_turn: Option<&str>,
        deadline: Instant,
    ) -> Result<Option<Search>> {
        self.set_deadline(deadline);
        let guest = stage!(self, query, "query");
        Ok(guest
            .call_plan(&mut self.store, session, prompt, last_turn)
            .map_err(|e| self.policy.explain("stage query", e))??)
    }
}

/// Checks the limits of what a policy makes the host store. The total size of the texts is limited while they are
/// passed over.
fn check_extraction(extraction: &Extraction) -> Result<()> {
    if extraction.state.len() > MAX_STATE_BYTES {
        bail!("the extractor's state has {} bytes, but only {MAX_STATE_BYTES} are allowed", extraction.state.len());
    }
    if extraction.drafts.len() > MAX_DRAFTS {
        bail!("the extractor returned {} drafts, but only {MAX_DRAFTS} are allowed", extraction.drafts.len());
    }
    if extraction.drafts.iter().any(|draft| !is_kind(&draft.kind)) {
        bail!("the extractor returned a draft whose kind is not lower-case words joined by _ with at most {MAX_KIND} bytes");
    }
    Ok(())
}
