//! Links a policy's component with what it was granted, starts instances, and calls their stages within limits.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use wasmtime::component::{Component, ComponentExportIndex, ComponentNamedList, InstancePre, Lift, Linker, Lower, Resource};
use wasmtime::{Store, Trap, UpdateDeadline};

use super::capability::{self, Capabilities, Import};
use super::engine::{EpochTicker, Limits, Meter};
use super::imports::{Grants, HostState, Reader};
use super::placeholders;
use super::stage::Stage;
use super::trapped::{self, CallStopped, CallTrapped};
use super::v0_2::bindings::exports::throughline::policy as stages;
use super::{linking, wasi};
use throughline_model::contract::{Failure, MAX_KIND, Memory, Session, SessionNotes, is_kind};
use throughline_model::lines::LineSource;

pub use stages::consolidator::{
    Consolidated, Consolidation, Line as SourceLine, Request as ConsolidateRequest, Source, Statement,
};
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

/// How many memories one consolidation may return, and how many statements each may have. A session of the corpus has fewer than
/// a hundred memories that are told.
const MAX_CONSOLIDATED: usize = 500;
const MAX_STATEMENTS: usize = 200;

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
    /// The version of the contract that it was built for.
    version: String,
    pre: InstancePre<HostState>,
    indices: Indices,
}

/// The exported function of each stage.
type Indices = BTreeMap<Stage, ComponentExportIndex>;

/// Returns the name of a stage's only function.
fn function_of(stage: Stage) -> &'static str {
    match stage {
        Stage::Extractor => "extract",
        Stage::Summarizer => "summarize",
        Stage::Redactor => "redact",
        Stage::ContextBuilder => "build",
        Stage::Observer => "observe",
        Stage::Query => "plan",
        Stage::Consolidator => "consolidate",
    }
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
        let exports = kind.exports(engine).map(|(name, _)| name);
        let version = version_of(kind.imports(engine).map(|(name, _)| name).chain(exports))?;
        let mut linker = Linker::<HostState>::new(engine);
        linking::link(&mut linker, &version, &terms.capabilities)?;
        if needs_wasi {
            wasi::link(&mut linker, component)?;
        }
        let pre = linker.instantiate_pre(component).map_err(|error| {
            link_error(
                format!("its imports do not match the contract: {error:#}"),
                format!("build it against wit/v{version}"),
            )
        })?;
        let indices = terms.stages.iter().map(|stage| Ok((*stage, export(&pre, &version, *stage)?)));
        let indices = indices.collect::<Result<Indices, LinkError>>()?;
        Ok(Self { terms, clock: clock.clone(), version, pre, indices })
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
        // Waiting for the model is not the policy's own time.
        store.epoch_deadline_callback(|caller| {
            let waited = caller.data().take_waited();
            Ok(if waited.is_zero() {
                UpdateDeadline::Interrupt
            } else {
                UpdateDeadline::Continue(EpochTicker::ticks(waited))
            })
        });
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

/// Returns the version of the contract that all imports and exports are of. A component without any gets the newest.
fn version_of<'a>(names: impl Iterator<Item = &'a str>) -> Result<String, LinkError> {
    let mut found: Option<&str> = None;
    for version in names.filter_map(capability::version_in) {
        if !capability::is_supported(version) {
            return Err(other_version(version));
        }
        if let Some(first) = found.filter(|first| *first != version) {
            return Err(link_error(
                format!("it mixes the versions {first} and {version} of the contract"),
                "build all of it against one folder of wit/",
            ));
        }
        found = Some(version);
    }
    Ok(found.unwrap_or(capability::SUPPORTED_VERSIONS[0]).to_owned())
}

/// Returns a stage's function.
fn export(pre: &InstancePre<HostState>, version: &str, stage: Stage) -> Result<ComponentExportIndex, LinkError> {
    let component = pre.component();
    let interface = format!("{}/{stage}@{version}", capability::CONTRACT);
    let found = component
        .get_export_index(None, interface.as_str())
        .and_then(|found| component.get_export_index(Some(&found), function_of(stage)));
    found.ok_or_else(|| {
        link_error(
            format!("its manifest lists the stage {stage}, but the component does not export it: {interface} is not there"),
            format!("export {interface} as the contract defines it, or remove the stage from the manifest"),
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

    /// Calls the function of a stage.
    fn call<P, R>(&mut self, stage: Stage, deadline: Instant, params: P) -> Result<R>
    where
        P: ComponentNamedList + Lower,
        R: Lift + 'static,
        (Result<R, Failure>,): ComponentNamedList + Lift,
    {
        self.set_deadline(deadline);
        let policy = Arc::clone(&self.policy);
        let name = &policy.terms.name;
        let Some(function) = policy.indices.get(&stage) else { bail!("policy {name} has no stage {stage}") };
        let function = self
            .instance
            .get_typed_func::<P, (std::result::Result<R, Failure>,)>(&mut self.store, function)
            .map_err(|error| {
                link_error(
                    format!("the stage {stage} of policy {name} does not have the contract's type: {error:#}"),
                    format!("build it against wit/v{}", policy.version),
                )
            })?;
        let (answer,) =
            function.call(&mut self.store, params).map_err(|error| policy.explain(&format!("stage {stage}"), error))?;
        Ok(answer?)
    }

    /// Runs stage `extractor`.
    pub fn extract(
        &mut self,
        request: &ExtractRequest,
        lines: Box<dyn LineSource>,
        deadline: Instant,
    ) -> Result<Extraction> {
        let reader = self.store.data_mut().table.push(Reader { source: lines })?;
        let borrowed = Resource::<Reader>::new_borrow(reader.rep());
        let outcome = self.call(Stage::Extractor, deadline, (request, borrowed));
        self.store.data_mut().table.delete(reader)?;
        let extraction = outcome?;
        check_extraction(&extraction)?;
        Ok(extraction)
    }

    /// Runs stage `summarizer`.
    pub fn summarize(&mut self, session: &Session, notes: &SessionNotes, deadline: Instant) -> Result<Option<Summary>> {
        self.call(Stage::Summarizer, deadline, (session, notes))
    }

    /// Runs stage `redactor`. Returns one result for each text, in order.
    pub fn redacted(&mut self, texts: &[String], deadline: Instant) -> Result<Vec<Redacted>> {
        let results: Vec<Redacted> = self.call(Stage::Redactor, deadline, (texts,))?;
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
        let request = stages::context_builder::Request { session: session.clone(), source: source.into(), budget, found };
        let built: Option<BuiltContext> = self.call(Stage::ContextBuilder, deadline, (&request,))?;
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
        self.call(Stage::Observer, deadline, (session, event))
    }

    /// Runs stage `query`.
    pub fn plan(
        &mut self,
        session: &Session,
        prompt: &str,
        last_turn: Option<&str>,
        deadline: Instant,
    ) -> Result<Option<Search>> {
        self.call(Stage::Query, deadline, (session, prompt, last_turn))
    }

    /// Runs stage `consolidator`.
    pub fn consolidate(&mut self, request: &ConsolidateRequest, deadline: Instant) -> Result<Consolidation> {
        let answer: Consolidation = self.call(Stage::Consolidator, deadline, (request,))?;
        check_consolidation(&answer)?;
        Ok(answer)
    }
}

/// Checks the limits on the output of a consolidator.
fn check_consolidation(answer: &Consolidation) -> Result<()> {
    if answer.memories.len() > MAX_CONSOLIDATED || answer.superseded.len() > MAX_CONSOLIDATED {
        bail!("the consolidator returned more than {MAX_CONSOLIDATED} memories");
    }
    if answer.memories.iter().any(|memory| memory.statements.len() > MAX_STATEMENTS) {
        bail!("the consolidator returned a memory of more than {MAX_STATEMENTS} statements");
    }
    if answer.memories.iter().any(|memory| !is_kind(&memory.kind)) {
        bail!("the consolidator returned a kind that is not lower-case words joined by _ with at most {MAX_KIND} bytes");
    }
    Ok(())
}

/// Checks the limits on a policy's output. The total size of the texts is limited while they are passed over.
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
