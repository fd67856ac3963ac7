//! Reads a transcript into memory: continues from the cursor, extracts, summarizes, redacts, and stores everything in
//! one transaction.
//!
//! [`read`] serves all moments that read: `Stop`, `PreCompact`, `PostCompact`, `SessionEnd`, the catch-up at
//! `SessionStart`, and `ingest`. A [`ReadRequest`] says what to read and why. A chunk passes these stages, and each
//! takes what the one before it returns:
//!
//! 1. *open* ([`source::Source`]): the transcript is opened below an allowed root, and translated if it is another
//!    agent's.
//! 2. *locate* ([`source::Location`]): the cursor (table `transcripts`) says where to go on, the transcript or the
//!    event which session it is.
//! 3. *admit* ([`Scope`]): nothing is read that is excluded, paused or another's.
//! 4. *extract* ([`extract::run`]): complete lines are handed to the extractors on demand, at most 8 MiB per chunk. An
//!    extractor returns drafts, retractions, the session's notes, its own state, and the end of the last line that it
//!    accounts for. Chunks are the host's own doing: a policy sees only that there is no more for this call.
//!    The tool calls of the lines become observations ([`tool_history`]), unless a hook has recorded them.
//! 5. *merge* ([`merge::ExtractionResult`]): the answers of all extractors become one, and the summarizer turns the
//!    notes into a text.
//! 6. *redact*: the redactors run over *every* string: titles and contents, file names, keys, notes, and the
//!    extractors' states. Only then are texts cut to their limits.
//! 7. *commit*: one transaction stores drafts, observations, notes, summary, state and cursor, or nothing. With them it
//!    stores how the files are that the drafts are about ([`anchors`]).
//!
//! A long transcript has many chunks, so memory use does not grow with its length, and a kill costs one chunk at most.
//! If another process committed the same chunk first, the chunk is read again from where that process stopped. If a
//! policy fails on a chunk three times in a row, the chunk is skipped with a line in the log, so that one bad line
//! cannot end all remembering.
//!
//! At `Stop` the transcript lags behind the event. So the agent's last text is handed over with the event as a
//! *supplement*, for the notes of that call only.

mod anchors;
mod extract;
mod merge;
mod request;
mod scope;
mod source;
mod tool_history;

use std::time::Instant;

use anyhow::Result;

pub use request::{ReadOutcome, ReadReason, ReadRequest};
pub use source::{folders_of, unread};

use self::extract::Extracted;
use self::merge::ExtractionResult;
use self::scope::{CALL, Scope};
use self::source::{Location, Source};
use super::session_project::project_of;
use super::synthesized_transcript;
use crate::runtime::Runtime;
use throughline_agents::protocol::name::Agent;
use throughline_agents::protocol::transcripts::Translator;
use throughline_model::contract::Session;
use throughline_model::project::Project;
use throughline_model::redacted::Redacted;
use throughline_platform::log::Level;
use throughline_store::{CommitBatch, CommitCounts, SessionUpdate, Store, StoreError};

/// How often a chunk is read again because another process committed first.
const MAX_CONFLICTS: u32 = 8;

/// The session attribute that tells a policy that the lines are a sub-agent's.
const SUB_AGENT: &str = "sub-agent";

/// Reads a transcript to its end or until the deadline.
pub fn read(runtime: &Runtime, store: &mut Store, request: &ReadRequest, deadline: Instant) -> Result<ReadOutcome> {
    let mut outcome = ReadOutcome::default();
    let mut conflicts = 0;
    let mut is_first = true;
    loop {
        match read_chunk(runtime, store, request, is_first, deadline) {
            Ok(chunk) => {
                let is_end = chunk.is_end;
                chunk.add_to(&mut outcome);
                if is_end {
                    outcome.finished = true;
                    return Ok(outcome);
                }
                is_first = false;
            }
            Err(error) if is_conflict(&error) && conflicts < MAX_CONFLICTS => conflicts += 1,
            Err(error) => return Err(error),
        }
        if Instant::now() >= deadline {
            return Ok(outcome);
        }
    }
}

/// What reading a transcript would begin with.
pub struct ReadPreview {
    /// The session.
    pub session: String,
    /// The root folder of its project; `None` if the session is excluded or paused, so that nothing would be read.
    pub project: Option<std::path::PathBuf>,
    /// How many bytes are left to read.
    pub bytes: u64,
}

/// Finds out what [`read`] would read, and reads nothing. Returns `None` if the transcript names no session. Without a store
/// nothing was read before.
pub fn preview(runtime: &Runtime, store: Option<&Store>, request: &ReadRequest) -> Result<Option<ReadPreview>> {
    let source = Source::open(runtime, request, true)?;
    let Some(location) = source::locate(runtime, store, request, &source)? else { return Ok(None) };
    let scope = admit(runtime, store, request, &source, &location, Instant::now())?;
    let bytes = source.bytes_after(location.from());
    Ok(Some(ReadPreview { session: location.session, project: scope.map(|scope| scope.project.root), bytes }))
}

/// Reads the transcripts of the sub-agents of a session that was just read, which its hooks would have read.
pub fn read_sub_agents(
    runtime: &Runtime,
    store: &mut Store,
    transcript: &std::path::Path,
    session: &ReadOutcome,
    deadline: Instant,
) -> Result<()> {
    if session.session.is_empty() {
        return Ok(());
    }
    for (path, id) in source::sub_agents(transcript) {
        let request = ReadRequest::sub_agent(path, runtime.transcript_roots(), &session.session, &session.project, &id);
        match read(runtime, store, &request, deadline) {
            Err(error) if error.is::<StoreError>() => return Err(error),
            Err(error) => runtime.log.record(Level::Warn, "a sub-agent's transcript was not read", format!("{error:#}")),
            Ok(_) => {}
        }
    }
    Ok(())
}

fn is_conflict(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref::<StoreError>(), Some(StoreError::Conflict))
}

/// What reading one chunk did.
#[derive(Default)]
struct Chunk {
    /// Session and project; `None` if nothing was read.
    of: Option<(String, std::path::PathBuf)>,
    progress: extract::Advance,
    stored: u32,
    seen_again: u32,
    calls: u64,
    /// Whether there is no more to read.
    is_end: bool,
    /// Whether nothing may be read, because it is excluded or paused.
    is_refused: bool,
}

impl Chunk {
    /// There was nothing to read.
    fn nothing() -> Self {
        Self { is_end: true, ..Self::default() }
    }

    /// Nothing may be read.
    fn refused() -> Self {
        Self { is_refused: true, ..Self::nothing() }
    }

    fn add_to(self, outcome: &mut ReadOutcome) {
        outcome.is_refused |= self.is_refused;
        let Some((session, project)) = self.of else { return };
        (outcome.session, outcome.project) = (session, project);
        outcome.bytes += self.progress.bytes;
        outcome.lines += self.progress.lines;
        if let Some((malformed, oversized)) = self.progress.totals {
            (outcome.malformed, outcome.oversized) = (malformed, oversized);
        }
        outcome.stored += self.stored;
        outcome.seen_again += self.seen_again;
        outcome.calls += self.calls;
    }
}

fn read_chunk(
    runtime: &Runtime,
    store: &mut Store,
    request: &ReadRequest,
    is_first: bool,
    deadline: Instant,
) -> Result<Chunk> {
    let source = Source::open(runtime, request, is_first)?;
    let Some(location) = source::locate(runtime, Some(store), request, &source)? else { return Ok(Chunk::nothing()) };
    if !source.has_more(location.from()) && (request.only_if_new || !is_first) {
        return Ok(Chunk::nothing());
    }
    let Some(mut scope) = admit(runtime, Some(store), request, &source, &location, deadline)? else {
        return Ok(Chunk::refused());
    };

    let policies = runtime.policies(Some(&scope.project.root))?;
    runtime.secrets.add_env_files(&scope.project.root, &location.cwd);
    let mut work = policies.work(None, scope.until)?;
    // The default policy may have been compiled first, which takes its own time.
    scope.until = deadline.min(Instant::now() + CALL);
    let input = extract::Input::new(runtime, store, request, &source, &scope, location.from())?;
    let of = Some((location.session.clone(), scope.project.root.clone()));
    let extracted = match extract::run(runtime, &mut work, &input, location.cursor, scope.until) {
        Ok(extracted) => extracted,
        // The hook's time ran out. That says nothing about the policy or the lines.
        Err(_) if Instant::now() >= deadline => return Ok(Chunk { of, ..Chunk::default() }),
        Err(failure) => {
            failure.record(runtime, store)?;
            return Err(failure.error);
        }
    };
    let Extracted { answers, cursor, advance, is_end, calls } = extracted;
    let earlier = input.earlier()?;
    let calls = tool_history::observe(runtime, store, &mut work, (request, &scope), calls, earlier.as_deref(), deadline)?;
    scope.until = deadline.min(Instant::now() + CALL);

    let mut result = ExtractionResult::merge(answers, advance.to);
    result.leave_out(&runtime.privacy);
    let prompts = result.take_prompts();
    match request.reason.sub_agent() {
        Some(id) => result.keep_sub_agent(id),
        None => result.summarize(&mut work, &scope.session, scope.until)?,
    }
    let policies = result.take_policies();
    let mut learned = result.into_learned(update(request, &scope), event(runtime, request, is_first));
    learned.calls = tool_history::with_prompts(store, request, &scope, calls, prompts)?;
    let learned = Redacted::new(learned, &mut work.redactor(scope.until))?.map(merge::within_limits);

    let anchors = anchors::of_reading(runtime, store, request, &scope, &learned)?;
    let committed = store.commit(&CommitBatch {
        project: &scope.project,
        session_id: &location.session,
        learned: &learned,
        policies: &policies,
        reader: &request.reader(&location.session),
        cursor: cursor.as_ref(),
        anchors: &anchors,
        moment: request.reason.name(),
        now: runtime.now,
    })?;
    let CommitCounts { stored, seen_again, calls } = committed;
    Ok(Chunk { of, progress: advance, stored, seen_again, calls, is_end, is_refused: false })
}

/// Decides whether the session may be read: not if it is excluded or paused.
fn admit(
    runtime: &Runtime,
    store: Option<&Store>,
    request: &ReadRequest,
    source: &Source,
    location: &Location,
    deadline: Instant,
) -> Result<Option<Scope>> {
    let project = match store {
        Some(store) => project_of(store, &location.session, &location.cwd)?,
        None => Project::discover(&location.cwd),
    };
    let is_off = runtime.is_excluded(&location.cwd) || runtime.is_excluded(&project.root);
    let is_paused = || {
        runtime.intervals.is_paused(&project.id, &location.session) || runtime.is_paused(&location.cwd, &location.session)
    };
    if is_off || is_paused() {
        return Ok(None);
    }
    // The agent may have moved on from the folder in which the session began, which no table knows if it is excluded.
    if runtime.may_refuse_sessions()
        && let Some(began_in) = source.began_in()?
        && (runtime.is_excluded(&began_in) || runtime.is_paused(&began_in, &location.session))
    {
        return Ok(None);
    }
    let by_folder = || synthesized_transcript::agent_of(&runtime.paths.synthesized_transcripts(), request.path.as_deref()?);
    let agent = source.translator.as_ref().map(Translator::agent).or(request.agent).or_else(by_folder);
    let agent = agent.unwrap_or(Agent::ClaudeCode).name();
    let mut session = Session::new(&location.session, &project, &location.cwd, agent, request.model.clone(), runtime.now);
    session.attributes.extend(request.reason.sub_agent().map(|id| (SUB_AGENT.to_owned(), id.to_owned())));
    Ok(Some(Scope { project, session, until: deadline.min(Instant::now() + CALL) }))
}

/// Returns what is known of the session besides what the extractors found. A sub-agent's transcript says nothing about
/// its parent's session.
fn update(request: &ReadRequest, scope: &Scope) -> Option<SessionUpdate> {
    request.reason.sub_agent().is_none().then(|| SessionUpdate {
        id: scope.session.id.clone(),
        cwd: scope.session.cwd.clone(),
        agent: scope.session.agent.clone(),
        model: scope.session.model.clone(),
        end_reason: request.reason.end_reason().map(str::to_owned),
        ..SessionUpdate::default()
    })
}

/// Returns the event to store with the first chunk, without what the user excluded.
fn event(
    runtime: &Runtime,
    request: &ReadRequest,
    is_first: bool,
) -> Option<(&'static str, throughline_store::journal::EventPayload)> {
    use throughline_model::redacted::Texts;
    let (kind, mut seen) = request.event.clone().filter(|_| is_first)?;
    merge::clean(&runtime.privacy, seen.texts_mut());
    Some((kind, seen))
}
