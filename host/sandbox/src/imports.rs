//! What a policy may call: the capabilities, each answered from what the host handed to this one instance.

use std::cell::Cell;
use std::rc::Rc;

use wasmtime::Result;
use wasmtime::component::{Resource, ResourceTable};

use super::capability::Kinds;
use super::engine::Meter;
use super::v0_1::bindings::throughline::policy::{log, memories, settings, transcript};
use throughline_model::contract::{Memory, SessionRecord};
use throughline_model::lines::{Line, LineSource};

pub use super::v0_1::bindings::throughline::policy::memories::Fact;

/// The most that one `memories` call returns, whatever its `limit` says.
const MOST_MEMORIES: u32 = 200;

/// Calls to `memories` that one instance may make.
const MOST_QUERIES: u32 = 1_000;

/// Calls of any kind that one instance may make: a share of 8 MiB has fewer lines than that, if each is asked for by itself.
const MOST_CALLS: u32 = 250_000;

/// Bytes and lines that one instance may log.
const MOST_LOG_BYTES: usize = 16 << 10;
const MOST_LOG_LINES: u32 = 100;

/// Read access to the memories of one project.
pub trait MemorySource {
    /// See the contract; so for all below.
    fn recent(&self, kinds: &[String], limit: u32) -> anyhow::Result<Vec<Memory>>;
    /// By weight.
    fn important(&self, kinds: &[String], limit: u32) -> anyhow::Result<Vec<Memory>>;
    /// Of one session.
    fn of_session(&self, session: &str, kinds: &[String], limit: u32) -> anyhow::Result<Vec<Memory>>;
    /// Full text.
    fn search(&self, query: &str, kinds: &[String], limit: u32) -> anyhow::Result<Vec<Memory>>;
    /// Of the project as a whole.
    fn knowledge(&self, limit: u32) -> anyhow::Result<Vec<Fact>>;
    /// Newest first, without the present one.
    fn sessions(&self, limit: u32) -> anyhow::Result<Vec<SessionRecord>>;
    /// One session.
    fn session(&self, id: &str) -> anyhow::Result<Option<SessionRecord>>;
}

/// How much a policy's message matters; as the contract says it.
pub use super::v0_1::bindings::throughline::policy::log::Level;

/// Takes what a policy logs.
pub type LogSink = Rc<dyn Fn(Level, &str)>;

/// What stands behind the capabilities of one instance. What is absent is answered as empty: the contract's functions cannot
/// fail.
#[derive(Clone, Default)]
pub struct Grants {
    /// Capability `memories`, and the kinds that may be seen.
    pub memories: Option<(Rc<dyn MemorySource>, Kinds)>,
    /// Capability `settings`.
    pub settings: Rc<serde_json::Map<String, serde_json::Value>>,
    /// Capability `log`, and standard output where `wasi` was granted.
    pub log: Option<LogSink>,
}

/// Capability `transcript`, as the resource that the guest borrows.
pub struct Reader {
    /// Where the lines come from.
    pub source: Box<dyn LineSource>,
}

/// Memories, and the kinds of them that may be seen; an empty list is all but `turn`.
type Seen = (Rc<dyn MemorySource>, Vec<String>);

/// The state behind one instance.
pub struct HostState {
    pub(super) meter: Meter,
    pub(super) table: ResourceTable,
    grants: Grants,
    calls: Cell<u32>,
    queries: Cell<u32>,
    logged: Cell<(usize, u32)>,
}

impl HostState {
    pub(super) fn new(meter: Meter, grants: Grants) -> Self {
        let table = ResourceTable::new();
        Self { meter, table, grants, calls: Cell::new(0), queries: Cell::new(0), logged: Cell::new((0, 0)) }
    }

    /// Counts a call of the host by the policy.
    pub(super) fn count_call(&self) -> Result<()> {
        let calls = self.calls.get() + 1;
        self.calls.set(calls);
        if calls > MOST_CALLS {
            return Err(wasmtime::format_err!("it called the host more than {MOST_CALLS} times"));
        }
        Ok(())
    }

    /// What may be seen of the memories, and which of `kinds`; none where that is nothing.
    fn memories(&self, kinds: Vec<String>) -> Result<Option<Seen>> {
        let queries = self.queries.get() + 1;
        self.queries.set(queries);
        if queries > MOST_QUERIES {
            return Err(wasmtime::format_err!("it asked for memories more than {MOST_QUERIES} times"));
        }
        let Some((source, granted)) = &self.grants.memories else {
            return Ok(None);
        };
        let seen = match (granted, kinds.is_empty()) {
            (Kinds::Every(_), _) => kinds,
            (Kinds::Only(granted), true) => granted.iter().cloned().collect(),
            (Kinds::Only(_), false) => kinds.into_iter().filter(|kind| granted.has(kind)).collect(),
        };
        // An empty list would mean all of them.
        let nothing = seen.is_empty() && matches!(granted, Kinds::Only(_));
        Ok((!nothing).then(|| (Rc::clone(source), seen)))
    }

    /// The records of sessions hold their summaries and notes: they are seen by whoever may see summaries.
    fn sessions(&self) -> Result<Option<Rc<dyn MemorySource>>> {
        Ok(self.memories(vec!["session_summary".into()])?.map(|(source, _)| source))
    }

    /// Adds a line to the log. A flood is cut, not punished: the log is for people, and a policy that talks too much may
    /// still be right.
    pub(super) fn say(&self, level: Level, message: &str) {
        let Some(sink) = &self.grants.log else { return };
        let (bytes, lines) = self.logged.get();
        self.logged.set((bytes.saturating_add(message.len()), lines.saturating_add(1)));
        if bytes + message.len() <= MOST_LOG_BYTES && lines < MOST_LOG_LINES {
            sink(level, message);
        }
    }
}

/// Turns a failure of the store into a trap: a policy must not work on half of what it asked for.
#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` calls")]
fn trap(error: anyhow::Error) -> wasmtime::Error {
    wasmtime::format_err!("memories cannot be read: {error:#}")
}

impl transcript::Host for HostState {}

impl transcript::HostReader for HostState {
    fn read_lines(&mut self, reader: Resource<Reader>, max_bytes: u32) -> Result<Vec<transcript::Line>> {
        self.count_call()?;
        let reader = self.table.get_mut(&reader)?;
        let lines = reader.source.read_lines(max_bytes as usize)?;
        Ok(lines.into_iter().map(|Line { start, end, text }| transcript::Line { start, end, text }).collect())
    }

    fn drop(&mut self, reader: Resource<Reader>) -> Result<()> {
        self.table.delete(reader)?;
        Ok(())
    }
}

impl memories::Host for HostState {
    fn recent(&mut self, kinds: Vec<String>, limit: u32) -> Result<Vec<Memory>> {
        let Some((source, kinds)) = self.memories(kinds)? else { return Ok(Vec::new()) };
        source.recent(&kinds, limit.min(MOST_MEMORIES)).map_err(trap)
    }

    fn important(&mut self, kinds: Vec<String>, limit: u32) -> Result<Vec<Memory>> {
        let Some((source, kinds)) = self.memories(kinds)? else { return Ok(Vec::new()) };
        source.important(&kinds, limit.min(MOST_MEMORIES)).map_err(trap)
    }

    fn of_session(&mut self, session_id: String, kinds: Vec<String>, limit: u32) -> Result<Vec<Memory>> {
        let Some((source, kinds)) = self.memories(kinds)? else { return Ok(Vec::new()) };
        source.of_session(&session_id, &kinds, limit.min(MOST_MEMORIES)).map_err(trap)
    }

    fn search(&mut self, query: String, kinds: Vec<String>, limit: u32) -> Result<Vec<Memory>> {
        let Some((source, kinds)) = self.memories(kinds)? else { return Ok(Vec::new()) };
        let mut found = source.search(&query, &kinds, limit.min(MOST_MEMORIES)).map_err(trap)?;
        // The query's own syntax can name kinds too.
        if let Some((_, granted)) = &self.grants.memories {
            found.retain(|memory| granted.has(&memory.kind));
        }
        Ok(found)
    }

    fn knowledge(&mut self, limit: u32) -> Result<Vec<Fact>> {
        let Some((source, kinds)) = self.memories(Vec::new())? else { return Ok(Vec::new()) };
        let mut facts = source.knowledge(limit.min(MOST_MEMORIES)).map_err(trap)?;
        facts.retain(|fact| kinds.is_empty() || kinds.contains(&fact.kind));
        Ok(facts)
    }

    fn sessions(&mut self, limit: u32) -> Result<Vec<SessionRecord>> {
        let Some(source) = HostState::sessions(self)? else { return Ok(Vec::new()) };
        source.sessions(limit.min(MOST_MEMORIES)).map_err(trap)
    }

    fn last_session(&mut self) -> Result<Option<SessionRecord>> {
        let Some(source) = HostState::sessions(self)? else { return Ok(None) };
        Ok(source.sessions(1).map_err(trap)?.pop())
    }

    fn session(&mut self, session_id: String) -> Result<Option<SessionRecord>> {
        let Some(source) = HostState::sessions(self)? else { return Ok(None) };
        source.session(&session_id).map_err(trap)
    }
}

impl settings::Host for HostState {
    fn get(&mut self, key: String) -> Result<Option<String>> {
        self.count_call()?;
        Ok(self.grants.settings.get(&key).map(ToString::to_string))
    }
}

impl log::Host for HostState {
    fn write(&mut self, level: Level, message: String) -> Result<()> {
        self.count_call()?;
        self.say(level, &message);
        Ok(())
    }
}
