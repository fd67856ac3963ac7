//! What to read and why ([`ReadRequest`]), and the result ([`ReadOutcome`]).

use std::path::{Path, PathBuf};

use throughline_agents::protocol::Event;
use throughline_agents::protocol::name::Agent;
use throughline_store::journal::EventPayload;

/// Why a transcript is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadReason {
    /// A turn ended, with this answer.
    Stop {
        /// The agent's last text. The transcript lags behind the event, so it may not have it yet.
        last_message: Option<String>,
    },
    /// The context is about to be compacted.
    Compact,
    /// The context was compacted.
    Compacted {
        /// The agent's own summary.
        summary: String,
    },
    /// The session ended.
    SessionEnd {
        /// Why.
        reason: String,
    },
    /// The transcript grew without a hook that read it.
    CatchUp,
    /// It is the transcript of a sub-agent. Only what the sub-agent learned is kept, under its parent's session.
    SubAgent {
        /// The sub-agent.
        id: String,
    },
    /// The user asked for it.
    Ingest,
}

impl ReadReason {
    /// The name by which policies and the store know the reason.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Stop { .. } => "stop",
            Self::Compact => "compact",
            Self::Compacted { .. } => "compacted",
            Self::SessionEnd { .. } => "session-end",
            Self::CatchUp => "catch-up",
            Self::SubAgent { .. } => "sub-agent",
            Self::Ingest => "ingest",
        }
    }

    /// The text that came with the event, with its kind. It counts for the notes of this reading only.
    pub(super) fn supplement(&self) -> Option<(&'static str, &str)> {
        match self {
            Self::Stop { last_message } => Some(("last-assistant-message", last_message.as_deref()?)),
            Self::Compacted { summary } => Some(("compact-summary", summary)),
            _ => None,
        }
    }

    /// The sub-agent whose transcript it is.
    pub(super) fn sub_agent(&self) -> Option<&str> {
        match self {
            Self::SubAgent { id } => Some(id),
            _ => None,
        }
    }

    /// Why the session ended, if it did.
    pub(super) fn end_reason(&self) -> Option<&str> {
        match self {
            Self::SessionEnd { reason } => Some(reason),
            _ => None,
        }
    }

    /// Whether to read a last line without a newline, because the file is complete.
    pub(super) fn takes_unterminated(&self) -> bool {
        matches!(self, Self::SubAgent { .. } | Self::Ingest)
    }
}

/// What to read, and why. Each way to ask has its constructor.
#[derive(Debug, Clone)]
pub struct ReadRequest {
    /// Why.
    pub reason: ReadReason,
    /// The transcript; `None` if there is only what the event carried.
    pub(super) path: Option<PathBuf>,
    /// The folders that the transcript may be in.
    pub(super) roots: Vec<PathBuf>,
    /// The session; `None` to take it from the transcript.
    pub(super) session: Option<String>,
    /// The agent's working folder; `None` to take it from the transcript.
    pub(super) cwd: Option<PathBuf>,
    /// The agent; `None` to take it from the transcript.
    pub(super) agent: Option<Agent>,
    /// The model, if known.
    pub(super) model: Option<String>,
    /// An event to store with the result.
    pub(super) event: Option<(&'static str, EventPayload)>,
    /// Whether to do nothing if the transcript has not grown.
    pub(super) only_if_new: bool,
    /// Whether the user named this transcript, so that it is read whatever namespace it belongs to.
    pub(super) is_named: bool,
}

impl ReadRequest {
    fn new(reason: ReadReason, path: Option<PathBuf>, roots: Vec<PathBuf>) -> Self {
        Self {
            reason,
            path,
            roots,
            session: None,
            cwd: None,
            agent: None,
            model: None,
            event: None,
            only_if_new: false,
            is_named: false,
        }
    }

    /// Reads what a hook's event announces from `path`, and stores `event` with it, given with its kind.
    pub fn for_event(
        of: &Event,
        path: Option<&Path>,
        roots: Vec<PathBuf>,
        reason: ReadReason,
        event: Option<(&'static str, EventPayload)>,
    ) -> Self {
        Self {
            session: Some(of.session.clone()),
            cwd: Some(of.cwd.clone()),
            model: of.model.clone(),
            agent: Some(of.agent),
            event,
            ..Self::new(reason, path.map(Path::to_path_buf), roots)
        }
    }

    /// Reads a transcript that may have grown. Its session and folder are taken from it.
    pub fn catch_up(path: PathBuf, roots: Vec<PathBuf>) -> Self {
        Self { only_if_new: true, ..Self::new(ReadReason::CatchUp, Some(path), roots) }
    }

    /// Goes on with a session's transcript in the background.
    pub fn read_on(path: PathBuf, roots: Vec<PathBuf>, session: &str, cwd: &Path) -> Self {
        Self { session: Some(session.into()), cwd: Some(cwd.into()), ..Self::catch_up(path, roots) }
    }

    /// Saves a session's state by hand, also if its transcript has not grown or does not exist.
    pub fn save(path: Option<PathBuf>, roots: Vec<PathBuf>, session: &str, cwd: Option<PathBuf>) -> Self {
        Self { session: Some(session.into()), cwd, ..Self::new(ReadReason::CatchUp, path, roots) }
    }

    /// Reads the transcript of a session's sub-agent.
    pub fn sub_agent(path: PathBuf, roots: Vec<PathBuf>, session: &str, cwd: &Path, id: &str) -> Self {
        Self {
            session: Some(session.into()),
            cwd: Some(cwd.into()),
            only_if_new: true,
            ..Self::new(ReadReason::SubAgent { id: id.into() }, Some(path), roots)
        }
    }

    /// Reads a transcript for `ingest`. `is_named` says that the user named this file, and not a folder above it.
    pub fn ingest(path: PathBuf, roots: Vec<PathBuf>, is_named: bool) -> Self {
        Self { only_if_new: true, is_named, ..Self::new(ReadReason::Ingest, Some(path), roots) }
    }

    /// Reads a transcript in a home of its own.
    pub fn trial(path: PathBuf, roots: Vec<PathBuf>) -> Self {
        Self::new(ReadReason::Ingest, Some(path), roots)
    }

    /// Reads only what the event carried, not the transcript.
    #[must_use]
    pub fn without_transcript(self) -> Self {
        Self { path: None, ..self }
    }

    /// Returns the key under which extractors keep their state: each sub-agent has its own.
    pub(super) fn reader(&self, session: &str) -> String {
        match self.reason.sub_agent() {
            Some(id) => format!("{session}/{id}"),
            None => session.to_owned(),
        }
    }
}

/// What a reading did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOutcome {
    /// The session.
    pub session: String,
    /// The root of its project.
    pub project: PathBuf,
    /// Bytes read now.
    pub bytes: u64,
    /// Lines read now.
    pub lines: u64,
    /// Malformed lines in the whole transcript so far.
    pub malformed: u64,
    /// Lines of the transcript that were too long.
    pub oversized: u64,
    /// New memories.
    pub stored: u32,
    /// Memories that were learned again.
    pub seen_again: u32,
    /// Tool calls that no hook had recorded.
    pub calls: u64,
    /// Whether the end of the transcript was reached in time.
    pub finished: bool,
    /// Whether nothing may be read, because it is excluded or paused.
    pub is_refused: bool,
}
