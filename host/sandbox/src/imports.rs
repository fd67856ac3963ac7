//! The functions that a policy may import. Each capability is answered from what the host granted to this one instance.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use wasmtime::Result;
use wasmtime::component::{Resource, ResourceTable};

use super::capability::{Capabilities, KindSet};
use super::engine::Meter;
use super::v0_2::bindings::throughline::policy::transcript;
use throughline_model::contract::{Memory, SessionRecord};
use throughline_model::lines::{Line, LineSource};

pub use super::v0_2::bindings::throughline::policy::memories::Fact;
pub use super::v0_2::bindings::throughline::policy::model::{Message, ModelError, Reply, Request as ModelRequest, Role};

/// How many memories one `memories` call returns at most, whatever its `limit` says.
const MAX_MEMORIES: u32 = 200;

/// How many calls to `memories` one instance may make.
const MAX_QUERIES: u32 = 1_000;

/// How many calls of any kind one instance may make. A chunk of 8 MiB has fewer lines than that, even if each is read
/// separately.
const MAX_CALLS: u32 = 250_000;

/// How many times one instance may ask the language model.
const MAX_MODEL_CALLS: u32 = 100;

/// How many bytes and lines one instance may log.
const MAX_LOG_BYTES: usize = 16 << 10;
const MAX_LOG_LINES: u32 = 100;

/// Read access to the memories of one project.
pub trait MemorySource {
    /// Returns the most recent memories. The contract describes this and the other functions.
    fn recent(&self, kinds: &[String], limit: u32) -> anyhow::Result<Vec<Memory>>;
    /// Returns how many memories there are.
    fn count(&self, kinds: &[String]) -> anyhow::Result<u64>;
    /// Returns the memories with the highest importance first.
    fn important(&self, kinds: &[String], limit: u32) -> anyhow::Result<Vec<Memory>>;
    /// Returns the memories of one session.
    fn of_session(&self, session: &str, kinds: &[String], limit: u32) -> anyhow::Result<Vec<Memory>>;
    /// Searches the full text.
    fn search(&self, query: &str, kinds: &[String], limit: u32) -> anyhow::Result<Vec<Memory>>;
    /// Returns facts about the project as a whole.
    fn knowledge(&self, limit: u32) -> anyhow::Result<Vec<Fact>>;
    /// Returns the past sessions, newest first, without the current one.
    fn sessions(&self, limit: u32) -> anyhow::Result<Vec<SessionRecord>>;
    /// Returns one session.
    fn session(&self, id: &str) -> anyhow::Result<Option<SessionRecord>>;
}

/// Asks a language model, within the user's limits.
pub trait ModelSource {
    /// Asks the model and waits for its answer.
    fn complete(&self, request: ModelRequest) -> std::result::Result<Reply, ModelError>;
    /// Returns the most tokens that a call may have now.
    fn allowance(&self) -> u64;
}

/// The level of a policy's log message, as the contract defines it.
pub use super::v0_2::bindings::throughline::policy::log::Level;

/// Receives what a policy logs.
pub type LogSink = Rc<dyn Fn(Level, &str)>;

/// What the capabilities of one instance have access to. Whatever is missing is answered as empty, because the
/// contract's functions cannot fail.
#[derive(Clone, Default)]
pub struct Grants {
    /// For capability `memories`: the source and the kinds that may be read.
    pub memories: Option<(Rc<dyn MemorySource>, KindSet)>,
    /// For capability `settings`.
    pub settings: Rc<serde_json::Map<String, serde_json::Value>>,
    /// For capability `model`.
    pub model: Option<Rc<dyn ModelSource>>,
    /// For capability `log`, and for standard output if `wasi` was granted.
    pub log: Option<LogSink>,
}

impl Grants {
    /// Limits what an instance may have access to, to its capabilities.
    #[must_use]
    pub fn limited_to(self, capabilities: &Capabilities, memories: Option<Rc<dyn MemorySource>>) -> Self {
        Self {
            memories: memories.zip(capabilities.memories.clone()),
            settings: self.settings,
            model: self.model.filter(|_| capabilities.model),
            log: self.log.filter(|_| capabilities.log || capabilities.wasi),
        }
    }
}

/// The transcript as the resource that the guest borrows; capability `transcript`.
pub struct Reader {
    /// Where the lines come from.
    pub source: Box<dyn LineSource>,
}

/// A source of memories and the kinds that may be read; an empty list means all but `turn`.
type ReadableMemories = (Rc<dyn MemorySource>, Vec<String>);

/// The host's state for one instance.
pub struct HostState {
    pub(super) meter: Meter,
    pub(super) table: ResourceTable,
    grants: Grants,
    calls: Cell<u32>,
    queries: Cell<u32>,
    asked: Cell<u32>,
    logged: Cell<(usize, u32)>,
    /// How long the policy waited for the model since its deadline was last moved.
    waited: Cell<Duration>,
}

impl HostState {
    pub(super) fn new(meter: Meter, grants: Grants) -> Self {
        let table = ResourceTable::new();
        Self {
            meter,
            table,
            grants,
            calls: Cell::new(0),
            queries: Cell::new(0),
            asked: Cell::new(0),
            logged: Cell::new((0, 0)),
            waited: Cell::default(),
        }
    }

    /// Counts a call from the policy to the host.
    pub(super) fn count_call(&self) -> Result<()> {
        let calls = self.calls.get() + 1;
        self.calls.set(calls);
        if calls > MAX_CALLS {
            return Err(wasmtime::format_err!("it called the host more than {MAX_CALLS} times"));
        }
        Ok(())
    }

    /// Returns how long the policy waited for the model, which is not its own time, and begins to count anew.
    pub(super) fn take_waited(&self) -> Duration {
        self.waited.take()
    }

    /// Returns the memories and which of `kinds` may be read; `None` if the policy may read none.
    fn readable(&self, kinds: Vec<String>) -> Result<Option<ReadableMemories>> {
        let queries = self.queries.get() + 1;
        self.queries.set(queries);
        if queries > MAX_QUERIES {
            return Err(wasmtime::format_err!("it asked for memories more than {MAX_QUERIES} times"));
        }
        let Some((source, granted)) = &self.grants.memories else {
            return Ok(None);
        };
        let seen = match (granted, kinds.is_empty()) {
            (KindSet::Every(_), _) => kinds,
            (KindSet::Only(granted), true) => granted.iter().cloned().collect(),
            (KindSet::Only(_), false) => kinds.into_iter().filter(|kind| granted.has(kind)).collect(),
        };
        // An empty list would mean all kinds.
        let nothing = seen.is_empty() && matches!(granted, KindSet::Only(_));
        Ok((!nothing).then(|| (Rc::clone(source), seen)))
    }

    /// Returns the source for session records. These contain summaries and notes, so reading summaries is the
    /// permission required.
    fn session_source(&self) -> Result<Option<Rc<dyn MemorySource>>> {
        Ok(self.readable(vec!["session_summary".into()])?.map(|(source, _)| source))
    }

    /// Adds a line to the log. A flood is cut off but is not a failure: the log is for people, and a policy that logs
    /// too much may still be correct.
    pub(super) fn write_log(&self, level: Level, message: &str) {
        let Some(sink) = &self.grants.log else { return };
        let (bytes, lines) = self.logged.get();
        self.logged.set((bytes.saturating_add(message.len()), lines.saturating_add(1)));
        if bytes + message.len() <= MAX_LOG_BYTES && lines < MAX_LOG_LINES {
            sink(level, message);
        }
    }
}

/// Turns a store error into a trap: a policy must not work with only half of what it requested.
#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` calls")]
fn trap(error: anyhow::Error) -> wasmtime::Error {
    wasmtime::format_err!("memories cannot be read: {error:#}")
}

/// Capability `transcript`.
impl HostState {
    pub(super) fn read_lines(&mut self, reader: &Resource<Reader>, max_bytes: u32) -> Result<Vec<transcript::Line>> {
        self.count_call()?;
        let reader = self.table.get_mut(reader)?;
        let lines = reader.source.read_lines(max_bytes as usize)?;
        Ok(lines.into_iter().map(|Line { start, end, text }| transcript::Line { start, end, text }).collect())
    }
}

/// Capability `memories`.
impl HostState {
    pub(super) fn count(&self, kinds: Vec<String>) -> Result<u64> {
        let Some((source, kinds)) = self.readable(kinds)? else { return Ok(0) };
        source.count(&kinds).map_err(trap)
    }

    pub(super) fn recent(&self, kinds: Vec<String>, limit: u32) -> Result<Vec<Memory>> {
        let Some((source, kinds)) = self.readable(kinds)? else { return Ok(Vec::new()) };
        source.recent(&kinds, limit.min(MAX_MEMORIES)).map_err(trap)
    }

    pub(super) fn important(&self, kinds: Vec<String>, limit: u32) -> Result<Vec<Memory>> {
        let Some((source, kinds)) = self.readable(kinds)? else { return Ok(Vec::new()) };
        source.important(&kinds, limit.min(MAX_MEMORIES)).map_err(trap)
    }

    pub(super) fn of_session(&self, session_id: &str, kinds: Vec<String>, limit: u32) -> Result<Vec<Memory>> {
        let Some((source, kinds)) = self.readable(kinds)? else { return Ok(Vec::new()) };
        source.of_session(session_id, &kinds, limit.min(MAX_MEMORIES)).map_err(trap)
    }

    pub(super) fn search(&self, query: &str, kinds: Vec<String>, limit: u32) -> Result<Vec<Memory>> {
        let Some((source, kinds)) = self.readable(kinds)? else { return Ok(Vec::new()) };
        let mut found = source.search(query, &kinds, limit.min(MAX_MEMORIES)).map_err(trap)?;
        // The query's own syntax can also select kinds.
        if let Some((_, granted)) = &self.grants.memories {
            found.retain(|memory| granted.has(&memory.kind));
        }
        Ok(found)
    }

    pub(super) fn knowledge(&self, limit: u32) -> Result<Vec<Fact>> {
        let Some((source, kinds)) = self.readable(Vec::new())? else { return Ok(Vec::new()) };
        let mut facts = source.knowledge(limit.min(MAX_MEMORIES)).map_err(trap)?;
        facts.retain(|fact| kinds.is_empty() || kinds.contains(&fact.kind));
        Ok(facts)
    }

    pub(super) fn sessions(&self, limit: u32) -> Result<Vec<SessionRecord>> {
        let Some(source) = self.session_source()? else { return Ok(Vec::new()) };
        source.sessions(limit.min(MAX_MEMORIES)).map_err(trap)
    }

    pub(super) fn last_session(&self) -> Result<Option<SessionRecord>> {
        let Some(source) = self.session_source()? else { return Ok(None) };
        Ok(source.sessions(1).map_err(trap)?.pop())
    }

    pub(super) fn session(&self, session_id: &str) -> Result<Option<SessionRecord>> {
        let Some(source) = self.session_source()? else { return Ok(None) };
        source.session(session_id).map_err(trap)
    }
}

/// Capability `settings`.
impl HostState {
    pub(super) fn setting(&self, key: &str) -> Result<Option<String>> {
        self.count_call()?;
        Ok(self.grants.settings.get(key).map(ToString::to_string))
    }
}

/// Capability `model`.
impl HostState {
    pub(super) fn complete(&self, request: ModelRequest) -> Result<std::result::Result<Reply, ModelError>> {
        let asked = self.asked.get() + 1;
        self.asked.set(asked);
        if asked > MAX_MODEL_CALLS {
            return Err(wasmtime::format_err!("it asked the model more than {MAX_MODEL_CALLS} times"));
        }
        let Some(model) = &self.grants.model else {
            return Ok(Err(ModelError::NotAllowed("no model may be asked in this stage".into())));
        };
        let started = Instant::now();
        let answer = model.complete(request);
        self.waited.set(self.waited.get() + started.elapsed());
        Ok(answer)
    }

    pub(super) fn allowance(&self) -> Result<u64> {
        self.count_call()?;
        Ok(self.grants.model.as_ref().map_or(0, |model| model.allowance()))
    }
}
