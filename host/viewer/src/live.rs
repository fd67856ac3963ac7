//! Follows the running sessions: what hooks append to their journals, and what reaches the database.
//!
//! A hook inside the agent's loop appends to its session's journal, which a later hook moves into the database. So both are watched, by
//! one thread that looks every tenth of a second while somebody listens. What was seen in a journal is not told again when it is stored.

use std::collections::{HashSet, VecDeque};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use axum::response::sse::Event;
use serde::Serialize;
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;

use crate::activity::Activity;
use throughline_model::project::Project;
use throughline_platform::metadata;
use throughline_platform::paths::Paths;
use throughline_store::journal::{Journal, JournalRecord, JournalTail, SHOWN, SHOWN_NOTHING};
use throughline_store::{Store, StoredEvent, Telling};

/// How often to look.
const INTERVAL: Duration = Duration::from_millis(100);

/// How many messages a slow listener may be behind before its stream ends.
const MAX_BEHIND: usize = 4_096;

/// How many happenings are remembered to recognize them when they are stored.
const MAX_KNOWN: usize = 8_192;

/// The most rows that are read at once.
const MAX_ROWS: u32 = 1_000;

/// Something that happened in a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Happening {
    /// `user_prompt`, `tool_observation`, `stop`, …; `told` for what the agent was told.
    #[serde(rename = "type")]
    kind: String,
    /// Milliseconds since the Unix epoch.
    pub(crate) at: u64,
    session_id: String,
    /// The root folder of its project.
    project: String,
    tool: String,
    /// For what was told, the title of the memory.
    summary: String,
    failed: bool,
    files: Vec<String>,
    duration_ms: Option<u64>,
    /// For what was told, the memory's identifier.
    memory: Option<String>,
    /// For what was told, the occasion.
    moment: Option<String>,
}

impl Happening {
    /// What a stored event says.
    pub(crate) fn of_event(event: &StoredEvent, project: String) -> Self {
        Self {
            kind: event.kind.clone(),
            at: event.at,
            session_id: event.session_id.clone(),
            project,
            tool: event.seen.tool.clone(),
            summary: event.seen.summary.clone(),
            failed: event.seen.failed,
            files: event.seen.files.clone(),
            duration_ms: event.seen.duration,
            memory: None,
            moment: None,
        }
    }

    /// What a stored telling says.
    pub(crate) fn of_telling(telling: Telling) -> Self {
        Self {
            kind: "told".into(),
            at: telling.at,
            session_id: telling.session_id,
            project: String::new(),
            tool: String::new(),
            summary: telling.title,
            failed: false,
            files: Vec::new(),
            duration_ms: None,
            memory: Some(telling.memory),
            moment: Some(telling.moment),
        }
    }

    /// What a record of a journal says. A record of shown memories becomes one entry for each memory.
    pub(crate) fn of_record(record: &JournalRecord, store: Option<&Store>) -> Vec<Self> {
        let project = || Project::discover(&record.cwd).root.to_string_lossy().into_owned();
        if record.kind == SHOWN_NOTHING {
            return Vec::new();
        }
        if record.kind != SHOWN {
            let event = StoredEvent {
                id: 0,
                kind: record.kind.clone(),
                session_id: record.session.clone(),
                at: record.at,
                times: 1,
                level: 0,
                seen: record.seen.clone(),
            };
            return vec![Self::of_event(&event, project())];
        }
        let title = |id: &str| {
            let found = store.and_then(|store| store.memory(id, None).ok()).into_iter().flatten();
            found.map(|found| found.memory.title).next().unwrap_or_else(|| id.to_owned())
        };
        let telling = |id: &str| {
            let telling = Telling {
                session_id: record.session.clone(),
                memory: id.to_owned(),
                title: title(id),
                kind: String::new(),
                moment: record.seen.summary.clone(),
                at: record.at,
            };
            Self { project: project(), ..Self::of_telling(telling) }
        };
        record.seen.detail.lines().map(telling).collect()
    }

    /// What makes it the same happening, whether it comes from a journal or from the database.
    pub(crate) fn identity(&self) -> (String, u64, String) {
        let what = self.memory.clone().unwrap_or_else(|| format!("{}\n{}\n{}", self.kind, self.tool, self.summary));
        // A memory is told to a session once; when it was stored is not always when it was told.
        (self.session_id.clone(), if self.memory.is_some() { 0 } else { self.at }, what)
    }
}

/// Everybody who listens.
type Listeners = Arc<Mutex<Vec<mpsc::Sender<String>>>>;

/// The watched sessions.
pub(crate) struct Live {
    paths: Paths,
    listeners: Listeners,
}

impl Live {
    pub(crate) fn new(paths: Paths) -> Self {
        Self { paths, listeners: Listeners::default() }
    }

    /// Returns a stream of what happens from now on. The first listener starts the watching thread, which ends with the last one.
    pub(crate) fn subscribe(&self, activity: &Arc<Activity>) -> Feed<ReceiverStream<String>> {
        let (sender, receiver) = mpsc::channel(MAX_BEHIND);
        if let Ok(mut listeners) = self.listeners.lock() {
            let is_first = listeners.is_empty();
            listeners.push(sender);
            if is_first {
                let (paths, listeners) = (self.paths.clone(), Arc::clone(&self.listeners));
                // The watcher begins where the journals and the database are now, before the stream's first byte is sent.
                let mut watcher = Watcher::new(paths);
                thread::spawn(move || {
                    while watcher.step(&listeners) {
                        thread::sleep(INTERVAL);
                    }
                });
            }
        }
        activity.open_stream();
        Feed { messages: ReceiverStream::new(receiver), is_greeted: false, activity: Arc::clone(activity) }
    }
}

/// What the watching thread knows.
struct Watcher {
    paths: Paths,
    journals: JournalTail,
    store: Option<OpenStore>,
    known: VecDeque<(String, u64, String)>,
    known_set: HashSet<(String, u64, String)>,
}

/// The database, and how far it was read.
struct OpenStore {
    store: Store,
    file: (u64, u64),
    version: i64,
    last_event: i64,
    last_told: u64,
}

impl OpenStore {
    /// Opens the database at its end, or at its beginning if it was just made.
    fn open(paths: &Paths, from_the_beginning: bool) -> Option<Self> {
        let file = metadata::path_id(&paths.database()).ok()?;
        let store = Store::open_read_only(&paths.database()).ok()?;
        let version = store.data_version().ok()?;
        let (mut last_event, mut last_told) = (0, 0);
        if !from_the_beginning {
            last_event = store.last_event_number().ok()?;
            last_told = store.told_since(0, 1).ok()?.last().map_or(0, |told| told.at);
        }
        Some(Self { store, file, version, last_event, last_told })
    }
}

impl Watcher {
    fn new(paths: Paths) -> Self {
        Self {
            journals: Journal::new(paths.journal()).tail(true),
            store: OpenStore::open(&paths, false),
            known: VecDeque::new(),
            known_set: HashSet::new(),
            paths,
        }
    }

    /// Looks once and tells everybody. Returns false once nobody listens.
    fn step(&mut self, listeners: &Listeners) -> bool {
        let mut messages: Vec<String> = Vec::new();
        let records = self.journals.next_records();
        let store = self.store.as_ref().map(|open| &open.store);
        let mut happenings: Vec<Happening> = records.iter().flat_map(|record| Happening::of_record(record, store)).collect();
        let (stored, is_changed) = self.stored();
        happenings.extend(stored);
        for happening in happenings {
            if self.remember(happening.identity())
                && let Ok(text) = serde_json::to_string(&happening)
            {
                messages.push(text);
            }
        }
        if is_changed {
            messages.push(r#"{"type":"changed"}"#.into());
        }
        let Ok(mut listeners) = listeners.lock() else { return false };
        listeners.retain(|listener| {
            !listener.is_closed() && messages.iter().all(|message| listener.try_send(message.clone()).is_ok())
        });
        !listeners.is_empty()
    }

    /// Returns what is new in the database, and whether anything in it changed.
    fn stored(&mut self) -> (Vec<Happening>, bool) {
        let there = metadata::path_id(&self.paths.database()).ok();
        if self.store.as_ref().map(|open| open.file) != there {
            let was_missing = self.store.is_none();
            self.store = OpenStore::open(&self.paths, was_missing);
            if !was_missing || self.store.is_none() {
                return (Vec::new(), self.store.is_some());
            }
            let read = self.read_new();
            return (read, true);
        }
        let Some(open) = &mut self.store else { return (Vec::new(), false) };
        let Ok(version) = open.store.data_version() else { return (Vec::new(), false) };
        if version == open.version {
            return (Vec::new(), false);
        }
        open.version = version;
        (self.read_new(), true)
    }

    fn read_new(&mut self) -> Vec<Happening> {
        let Some(open) = &mut self.store else { return Vec::new() };
        let mut new = Vec::new();
        // A writer may be faster than we are: what cannot be read now is read after its next change.
        if let Ok(events) = open.store.events_after(open.last_event, None, MAX_ROWS)
            && let Ok(roots) = open.store.roots_of_events(&events)
        {
            open.last_event = events.last().map_or(open.last_event, |event| event.id);
            new.extend(events.iter().zip(roots).map(|(event, root)| Happening::of_event(event, root)));
        }
        if let Ok(told) = open.store.told_since(open.last_told, MAX_ROWS) {
            open.last_told = told.last().map_or(open.last_told, |telling| telling.at);
            new.extend(told.into_iter().map(Happening::of_telling));
        }
        new
    }

    /// Returns whether this is new.
    fn remember(&mut self, identity: (String, u64, String)) -> bool {
        if !self.known_set.insert(identity.clone()) {
            return false;
        }
        self.known.push_back(identity);
        if self.known.len() > MAX_KNOWN
            && let Some(oldest) = self.known.pop_front()
        {
            self.known_set.remove(&oldest);
        }
        true
    }
}

/// The stream of one listener. It begins with a greeting, so that the page knows that it is connected, and counts as a use of the
/// viewer as long as it is open.
pub(crate) struct Feed<S> {
    messages: S,
    is_greeted: bool,
    activity: Arc<Activity>,
}

impl<S: Stream<Item = String> + Unpin> Stream for Feed<S> {
    type Item = Result<Event, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if !self.is_greeted {
            self.is_greeted = true;
            return Poll::Ready(Some(Ok(Event::default().data(r#"{"type":"hello"}"#))));
        }
        Pin::new(&mut self.messages).poll_next(context).map(|message| message.map(|text| Ok(Event::default().data(text))))
    }
}

impl<S> Drop for Feed<S> {
    fn drop(&mut self) {
        self.activity.close_stream();
    }
}
