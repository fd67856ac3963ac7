//! What a policy may call: the capabilities, each answered from what the host handed to this one instance.

use std::cell::Cell;
use std::rc::Rc;

use wasmtime::component::{Resource, ResourceTable};
use wasmtime::{Result, StoreLimits};

use super::bindings::throughline::policy::{log, memories, settings, transcript};
use crate::contract::{Memory, SessionRecord};

pub use super::bindings::throughline::policy::memories::Fact;
pub use super::bindings::throughline::policy::transcript::Line;

/// The most that one `memories` call returns, whatever its `limit` says.
const MOST_MEMORIES: u32 = 200;

/// Calls to `memories` that one instance may make.
const MOST_QUERIES: u32 = 1_000;

/// Bytes and lines that one instance may log.
const MOST_LOG_BYTES: usize = 16 << 10;
const MOST_LOG_LINES: u32 = 100;

/// Lines of a transcript, in order.
pub trait LineSource: Send {
    /// The next lines, together up to about `max_bytes` and at least one; empty at the end.
    fn read_lines(&mut self, max_bytes: usize) -> std::io::Result<Vec<Line>>;
}

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
pub use super::bindings::throughline::policy::log::Level;

/// Takes what a policy logs.
pub type LogSink = Rc<dyn Fn(Level, &str)>;

/// What one instance was granted. What is absent is answered as empty: the contract's functions cannot fail.
#[derive(Clone, Default)]
pub struct Grants {
    /// Capability `memories`.
    pub memories: Option<Rc<dyn MemorySource>>,
    /// Capability `settings`.
    pub settings: Rc<serde_json::Map<String, serde_json::Value>>,
    /// Capability `log`.
    pub log: Option<LogSink>,
}

/// Capability `transcript`, as the resource that the guest borrows.
pub struct Reader {
    /// Where the lines come from.
    pub source: Box<dyn LineSource>,
}

/// The state behind one instance.
pub struct HostState {
    pub(super) limits: StoreLimits,
    pub(super) table: ResourceTable,
    pub(super) grants: Grants,
    queries: Cell<u32>,
    logged: Cell<(usize, u32)>,
}

impl HostState {
    pub(super) fn new(limits: StoreLimits, grants: Grants) -> Self {
        Self { limits, table: ResourceTable::new(), grants, queries: Cell::new(0), logged: Cell::new((0, 0)) }
    }

    fn memories(&self) -> Result<Option<Rc<dyn MemorySource>>> {
        let queries = self.queries.get() + 1;
        self.queries.set(queries);
        if queries > MOST_QUERIES {
            return Err(wasmtime::format_err!("the policy asked for memories more than {MOST_QUERIES} times"));
        }
        Ok(self.grants.memories.clone())
    }
}

/// Turns a failure of the store into a trap: a policy must not work on half of what it asked for.
#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` calls")]
fn trap(error: anyhow::Error) -> wasmtime::Error {
    wasmtime::format_err!("memories cannot be read: {error:#}")
}

impl transcript::Host for HostState {}

impl transcript::HostReader for HostState {
    fn read_lines(&mut self, reader: Resource<Reader>, max_bytes: u32) -> Result<Vec<Line>> {
        let reader = self.table.get_mut(&reader)?;
        Ok(reader.source.read_lines(max_bytes as usize)?)
    }

    fn drop(&mut self, reader: Resource<Reader>) -> Result<()> {
        self.table.delete(reader)?;
        Ok(())
    }
}

impl memories::Host for HostState {
    fn recent(&mut self, kinds: Vec<String>, limit: u32) -> Result<Vec<Memory>> {
        self.memories()?.map_or(Ok(Vec::new()), |m| m.recent(&kinds, limit.min(MOST_MEMORIES)).map_err(trap))
    }

    fn important(&mut self, kinds: Vec<String>, limit: u32) -> Result<Vec<Memory>> {
        self.memories()?.map_or(Ok(Vec::new()), |m| m.important(&kinds, limit.min(MOST_MEMORIES)).map_err(trap))
    }

    fn of_session(&mut self, session_id: String, kinds: Vec<String>, limit: u32) -> Result<Vec<Memory>> {
        self.memories()?
            .map_or(Ok(Vec::new()), |m| m.of_session(&session_id, &kinds, limit.min(MOST_MEMORIES)).map_err(trap))
    }

    fn search(&mut self, query: String, kinds: Vec<String>, limit: u32) -> Result<Vec<Memory>> {
        self.memories()?.map_or(Ok(Vec::new()), |m| m.search(&query, &kinds, limit.min(MOST_MEMORIES)).map_err(trap))
    }

    fn knowledge(&mut self, limit: u32) -> Result<Vec<Fact>> {
        self.memories()?.map_or(Ok(Vec::new()), |m| m.knowledge(limit.min(MOST_MEMORIES)).map_err(trap))
    }

    fn sessions(&mut self, limit: u32) -> Result<Vec<SessionRecord>> {
        self.memories()?.map_or(Ok(Vec::new()), |m| m.sessions(limit.min(MOST_MEMORIES)).map_err(trap))
    }

    fn last_session(&mut self) -> Result<Option<SessionRecord>> {
        self.memories()?.map_or(Ok(None), |m| Ok(m.sessions(1).map_err(trap)?.pop()))
    }

    fn session(&mut self, session_id: String) -> Result<Option<SessionRecord>> {
        self.memories()?.map_or(Ok(None), |m| m.session(&session_id).map_err(trap))
    }
}

impl settings::Host for HostState {
    fn get(&mut self, key: String) -> Result<Option<String>> {
        Ok(self.grants.settings.get(&key).map(ToString::to_string))
    }
}

impl log::Host for HostState {
    fn write(&mut self, level: Level, message: String) -> Result<()> {
        let Some(sink) = self.grants.log.clone() else {
            return Ok(());
        };
        let (bytes, lines) = self.logged.get();
        self.logged.set((bytes.saturating_add(message.len()), lines.saturating_add(1)));
        // A flood is cut, not punished: the log is for people, and a policy that talks too much may still be right.
        if bytes + message.len() <= MOST_LOG_BYTES && lines < MOST_LOG_LINES {
            sink(level, &message);
        }
        Ok(())
    }
}
