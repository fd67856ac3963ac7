//! Reads a transcript into memory: continues from the cursor, extracts, summarizes, redacts, and stores everything in
//! one transaction.
//!
//! [`read`] serves all moments that read: `Stop`, `PreCompact`, `PostCompact`, `SessionEnd`, the catch-up at
//! `SessionStart`, and `ingest`. A [`Job`] says what to read and why. For each chunk:
//!
//! 1. The transcript is opened, and checked against the cursor (table `transcripts`).
//! 2. Complete lines are served to the extractor on demand, at most 8 MiB per chunk. The extractor returns drafts,
//!    retractions, the session's notes, its own state, and the end of the last line that it accounts for. Chunks are
//!    the host's own doing: a policy sees only that there is no more for this call.
//! 3. The summarizer turns the notes into a text.
//! 4. The redactor runs over *every* string: titles and contents, file names, keys, notes, and the extractor's state.
//! 5. One transaction stores drafts, notes, summary, state and cursor, or nothing.
//!
//! A long transcript has many chunks, so memory use does not grow with its length, and a kill costs one chunk at most.
//! If another process committed the same chunk first, the chunk is read again from where that process stopped. If a
//! policy fails on a chunk three times in a row, the chunk is skipped with a line in the log, so that one bad line
//! cannot end all remembering.
//!
//! At `Stop` the transcript lags behind the event. So the agent's last text is handed over with the event as a
//! *supplement*, for the notes of that call only.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::gathered::{self, Gathered};
use super::{minutes, noting};
use crate::runtime::Runtime;
use throughline_agents::protocol::claude_code::{self, Head};
use throughline_agents::protocol::name::Agent;
use throughline_agents::protocol::transcripts::{self, Translator};
use throughline_agents::transcript::{self, Refusal, Share, Transcript};
use throughline_model::contract::Session;
use throughline_model::cursor::Cursor;
use throughline_model::lines::{Line, LineSource};
use throughline_model::project::Project;
use throughline_platform::log::Level;
use throughline_platform::namespace;
use throughline_privacy::Guard;
use throughline_sandbox::chain::{Extracted, Maker, Work};
use throughline_sandbox::instance::{ExtractRequest, Extraction as Found, Supplement};
use throughline_store::journal::Seen;
use throughline_store::{Batch, ExtractorState, SessionUpdate, Store, StoreError};

/// How many bytes of a transcript go into one transaction. This bounds memory use, and what is lost if the process is
/// killed.
const SHARE_BYTES: u64 = 8 << 20;

/// The longest that one call of a policy may take.
const CALL: Duration = Duration::from_secs(10);

/// How many extractions in a row may fail before the chunk is skipped.
const MOST_FAILURES: u32 = 3;

/// How often a chunk is read again because another process committed first.
const MOST_CONFLICTS: u32 = 8;

/// The modification time stored in a cursor if there is more to read, so that [`unread`] picks up the file again.
const UNSETTLED: u64 = 0;

/// What to read, and why.
#[derive(Debug, Clone, Default)]
pub struct Job {
    /// The transcript; `None` if there is only what the event carried.
    pub path: Option<PathBuf>,
    /// The folders that the transcript may be in.
    pub roots: Vec<PathBuf>,
    /// The session; `None` to take it from the transcript.
    pub session: Option<String>,
    /// The agent's working folder; `None` to take it from the transcript.
    pub cwd: Option<PathBuf>,
    /// The model, if known.
    pub model: Option<String>,
    /// Why the transcript is read: `stop`, `compact`, `compacted`, `session-end`, `catch-up`, `sub-agent`, `ingest`.
    pub moment: &'static str,
    /// Texts that the event carried, with their kinds.
    pub supplements: Vec<(&'static str, String)>,
    /// Whether a last line without a newline counts.
    pub unterminated: bool,
    /// Why the session ended, if it did.
    pub end_reason: Option<String>,
    /// An event to store. It is redacted together with the rest.
    pub event: Option<(&'static str, Seen)>,
    /// Whether to do nothing if the transcript has not grown.
    pub only_if_new: bool,
    /// The agent of the session; `None` to take it from the transcript.
    pub agent: Option<Agent>,
    /// Whether the user named this transcript, so that it is read whatever namespace it belongs to.
    pub named: bool,
    /// The sub-agent whose transcript this is. Only what it learned is kept, under its parent session.
    pub sub_agent: Option<String>,
}

/// The session attribute that tells a policy that the lines are a sub-agent's.
const SUB_AGENT: &str = "sub-agent";

impl Job {
    /// Returns the key under which extractors keep their state: each sub-agent has its own.
    fn reader(&self, session: &str) -> String {
        match &self.sub_agent {
            Some(id) => format!("{session}/{id}"),
            None => session.to_owned(),
        }
    }
}

/// The result of a reading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
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
    /// Whether the end of the transcript was reached in time.
    pub finished: bool,
}

/// Reads a transcript to its end or until the deadline.
pub fn read(runtime: &Runtime, store: &mut Store, job: &Job, deadline: Instant) -> Result<Report> {
    let mut report = Report::default();
    let mut conflicts = 0;
    let mut first = true;
    loop {
        match read_share(runtime, store, job, first, deadline, &mut report) {
            Ok(Progress::Done) => {
                report.finished = true;
                return Ok(report);
            }
            Ok(Progress::More) => first = false,
            Err(error) if is_conflict(&error) && conflicts < MOST_CONFLICTS => conflicts += 1,
            Err(error) => return Err(error),
        }
        if Instant::now() >= deadline {
            return Ok(report);
        }
    }
}

fn is_conflict(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref::<StoreError>(), Some(StoreError::Conflict))
}

enum Progress {
    Done,
    More,
}

/// A line source without lines.
struct Nothing;

impl LineSource for Nothing {
    fn read_lines(&mut self, _max_bytes: usize) -> std::io::Result<Vec<Line>> {
        Ok(Vec::new())
    }
}

/// Where a chunk begins, and which session it belongs to.
struct Place {
    cursor: Option<Cursor>,
    session: String,
    cwd: PathBuf,
}

/// Opens the transcript. Returns `None` if there is none yet, or none is asked for.
fn open(runtime: &Runtime, job: &Job, first: bool) -> Result<Option<Transcript>> {
    let Some(path) = &job.path else { return Ok(None) };
    match transcript::open(path, &job.roots) {
        Ok(transcript) => Ok(Some(transcript)),
        // There is no transcript before the first answer. That is normal.
        Err(Refusal::Missing) if job.session.is_some() => {
            if first && job.moment == "session-end" {
                runtime.log.note(Level::Warn, "a session ended without a transcript", path.to_string_lossy());
            }
            Ok(None)
        }
        Err(refusal) => Err(refusal.into()),
    }
}

fn read_share(
    runtime: &Runtime,
    store: &mut Store,
    job: &Job,
    first: bool,
    deadline: Instant,
    report: &mut Report,
) -> Result<Progress> {
    let mut transcript = open(runtime, job, first)?;
    let translator = translate(job, transcript.as_mut())?;
    let Some(place) = locate(runtime, store, job, transcript.as_ref(), translator.as_ref())? else {
        return Ok(Progress::Done);
    };
    let from = place.cursor.as_ref().map_or(0, |cursor| cursor.offset);
    let nothing_new = transcript.as_ref().is_none_or(|transcript| transcript.size <= from);
    if nothing_new && (job.only_if_new || !first) {
        return Ok(Progress::Done);
    }

    let project = project_of(store, &place.session, &place.cwd)?;
    if runtime.is_off(&place.cwd) || runtime.is_off(&project.root) {
        return Ok(Progress::Done);
    }
    if runtime.intervals.is_paused(&project.id, &place.session) || runtime.is_paused(&place.cwd, &place.session) {
        return Ok(Progress::Done);
    }
    report.session.clone_from(&place.session);
    report.project.clone_from(&project.root);
    let policies = runtime.policies(Some(&project.root))?;
    runtime.secrets.look_in(&project.root, &place.cwd);
    let until = deadline.min(Instant::now() + CALL);
    let mut work = policies.work(None, until)?;
    let by_folder = || minutes::agent_of(&runtime.paths.minutes(), job.path.as_deref()?);
    let agent = translator.as_ref().map(Translator::agent).or(job.agent).or_else(by_folder).unwrap_or(Agent::ClaudeCode);
    let mut session = Session::new(&place.session, &project, &place.cwd, agent.name(), job.model.clone(), runtime.now);
    session.attributes.extend(job.sub_agent.iter().map(|id| (SUB_AGENT.to_owned(), id.clone())));
    let began = match &transcript {
        Some(transcript) if !runtime.intervals.is_empty() => transcript.began()?,
        _ => 0,
    };
    let guard = runtime.guard(&project, &place.session, began);
    let extraction = Extraction { store, job, session: &session, transcript: transcript.as_ref(), from, guard: &guard };
    let mut states = Vec::new();
    let mut served = Arc::<Mutex<transcript::Served>>::default();
    let extracted = extraction.of_one(&mut work, until, &mut states, &mut served);
    let base = match extracted {
        Ok(base) => base,
        // The hook's time ran out. That says nothing about the policy or the lines.
        Err(_) if Instant::now() >= deadline => return Ok(Progress::More),
        Err(error) => {
            note_failure(runtime, store, place.cursor, &served)?;
            return Err(error);
        }
    };
    let served = served.lock().unwrap_or_else(PoisonError::into_inner);
    let mut cursor = place.cursor;
    let mut at_end = transcript.is_none() || served.at_end;
    if let (Some(cursor), Some(transcript)) = (&mut cursor, &transcript) {
        let before = cursor.offset;
        advance(runtime, cursor, transcript, &base.extraction, &served, report)?;
        // An extractor that makes no progress is not called again.
        at_end |= cursor.offset == before;
        if !at_end {
            cursor.modified = UNSETTLED;
        }
    }
    drop(served);
    let to = cursor.as_ref().map_or(from, |cursor| cursor.offset);
    let more = extraction.of_others(&mut work, &base, to, until, &mut states)?;
    let mut gathered = Gathered::new(base, more, &states, to);
    gathered.leave_out(&runtime.privacy);
    match &job.sub_agent {
        Some(id) => gathered.of_sub_agent(id),
        None => gathered.summarize(&mut work, &session, until)?,
    }
    let mut noted = job.event.clone().filter(|_| first);
    if let Some((_, seen)) = &mut noted {
        gathered::clean(&runtime.privacy, seen.texts_mut());
    }
    gathered.redact(&mut work, noted.as_mut().map(|(_, seen)| seen), until)?;
    if let Some((_, seen)) = &mut noted {
        noting::bound(seen);
    }
    let update = SessionUpdate {
        id: place.session.clone(),
        cwd: session.cwd,
        agent: session.agent,
        model: session.model.or_else(|| gathered.model()),
        end_reason: job.end_reason.clone(),
        notes: gathered.notes,
        summary: gathered.summary,
        topics: gathered.topics,
    };
    let worth = job.sub_agent.is_none()
        && (update.notes.turns > 0 || !gathered.drafts.is_empty() || !update.notes.changes.is_empty());
    let committed = store.commit(&Batch {
        project: &project,
        session: worth.then_some(&update),
        drafts: &gathered.drafts,
        retracted: &gathered.retracted,
        policies: &gathered.makers,
        session_id: &place.session,
        states: (&job.reader(&place.session), &gathered.states),
        cursor: cursor.as_ref(),
        moment: job.moment,
        event: noted.as_ref().map(|(kind, seen)| (*kind, seen)),
        now: runtime.now,
    })?;
    report.stored += committed.stored;
    report.seen_again += committed.seen_again;
    Ok(if at_end { Progress::Done } else { Progress::More })
}

/// The inputs of the extractors for one chunk.
struct Extraction<'a> {
    store: &'a Store,
    job: &'a Job,
    session: &'a Session,
    transcript: Option<&'a Transcript>,
    from: u64,
    guard: &'a Guard,
}

impl Extraction<'_> {
    /// Runs the primary extractor, which moves the cursor. `states` and `served` are those of the last policy that was
    /// tried.
    fn of_one(
        &self,
        work: &mut Work<'_>,
        until: Instant,
        states: &mut Vec<ExtractorState>,
        served: &mut Arc<Mutex<transcript::Served>>,
    ) -> Result<Extracted> {
        work.extract(until, |maker| {
            let saved = self.saved(maker)?;
            let request = self.request(&saved);
            *states = vec![ExtractorState { read_to: None, ..saved }];
            let Some(transcript) = self.transcript else {
                return Ok((request, Box::new(Nothing)));
            };
            let (lines, new) = transcript.lines(self.share(self.from, SHARE_BYTES))?;
            *served = new;
            Ok((request, self.guarded(transcript, lines, self.from)?))
        })
    }

    /// Runs the additional extractors. Each continues from its own position up to `to`.
    fn of_others(
        &self,
        work: &mut Work<'_>,
        base: &Extracted,
        to: u64,
        until: Instant,
        states: &mut Vec<ExtractorState>,
    ) -> Result<Vec<Extracted>> {
        work.extract_more(base, until, |maker| {
            let saved = self.saved(maker)?;
            let request = self.request(&saved);
            // An extractor that is new or that failed begins where it stopped, but never behind the bytes that are read
            // now, because the file may have been replaced.
            let begin = saved.read_to.unwrap_or(0).min(self.from);
            states.push(saved);
            Ok(match self.transcript {
                Some(transcript) if begin < to => {
                    let lines = transcript.lines(self.share(begin, (to - begin).min(SHARE_BYTES)))?.0;
                    Some((request, self.guarded(transcript, lines, begin)?))
                }
                _ if self.job.supplements.is_empty() => None,
                _ => Some((request, Box::new(Nothing))),
            })
        })
    }

    /// Wraps the lines in the privacy guard, which leaves out what the user excluded.
    fn guarded(&self, transcript: &Transcript, lines: Box<dyn LineSource>, from: u64) -> Result<Box<dyn LineSource>> {
        if self.guard.is_idle() {
            return Ok(lines);
        }
        let earlier = transcript.again()?;
        Ok(self.guard.over(lines, Box::new(move || earlier.texts_before(from))))
    }

    fn saved(&self, maker: &Maker) -> Result<ExtractorState> {
        let saved = self.store.extractor_state(&self.job.reader(&self.session.id), &maker.name)?;
        Ok(saved.unwrap_or_else(|| ExtractorState { policy: maker.name.clone(), ..ExtractorState::default() }))
    }

    fn share(&self, from: u64, bytes: u64) -> Share {
        Share { from, bytes, unterminated: self.job.unterminated }
    }

    fn request(&self, saved: &ExtractorState) -> ExtractRequest {
        let supplement = |(kind, text): &(&'static str, String)| {
            Some(Supplement { kind: (*kind).into(), text: self.guard.supplement(kind, text.clone())? })
        };
        ExtractRequest {
            session: self.session.clone(),
            moment: self.job.moment.into(),
            state: (saved.version > 0).then(|| saved.state.clone()),
            supplements: self.job.supplements.iter().filter_map(supplement).collect(),
        }
    }
}

/// Returns the project of a session: the one it began in, wherever the agent has moved since.
pub fn project_of(store: &Store, session: &str, cwd: &Path) -> Result<Project> {
    Ok(match store.project_of_session(session)? {
        Some(project) => project,
        None => Project::of(cwd),
    })
}

/// Finds the cursor, the session and its folder. Returns `None` if the transcript does not say which session it belongs
/// to; such a transcript is empty.
fn locate(
    runtime: &Runtime,
    store: &Store,
    job: &Job,
    transcript: Option<&Transcript>,
    translator: Option<&Translator>,
) -> Result<Option<Place>> {
    let mut cursor = match &job.path {
        Some(path) if transcript.is_some() => Some(
            store
                .cursor(&path.to_string_lossy())?
                .unwrap_or_else(|| Cursor { path: path.to_string_lossy().into_owned(), ..Cursor::default() }),
        ),
        _ => None,
    };
    let mut session = job.session.clone();
    let mut cwd = job.cwd.clone();
    if let (Some(transcript), true) = (transcript, session.is_none() || cwd.is_none()) {
        let head = match translator {
            Some(translator) => translator.head(),
            None => head(transcript)?,
        };
        let by_name = job.path.as_deref().and_then(transcripts::session_of_name);
        let says_whose = session.is_some() || by_name.is_some();
        session = session.or(by_name).or(head.session);
        cwd = cwd.or(head.cwd);
        // If the name does not give the session, it cannot show whether another namespace owns it.
        if !says_whose && !job.named && session.as_ref().is_some_and(|id| !namespace::owns(&runtime.paths, Path::new(id))) {
            return Ok(None);
        }
        // Gemini CLI's older transcripts give only a hash of their folder.
        if translator.is_some() && cwd.is_none() {
            return Ok(None);
        }
    }
    let Some(session) = session else {
        return Ok(None);
    };
    if let (Some(cursor), Some(transcript)) = (&mut cursor, transcript) {
        // A file that was never seen is read from its beginning. The extractor recognizes lines that repeat an earlier
        // file of the session.
        if cursor.version > 0 {
            let from = transcript.resume(cursor)?;
            if from != cursor.offset {
                cursor.failures = 0;
            }
            cursor.offset = from;
        }
        cursor.session_id.clone_from(&session);
        (cursor.device, cursor.inode) = transcript.identity;
        cursor.size = transcript.size;
        cursor.modified = transcript.modified;
    }
    Ok(Some(Place { cursor, session, cwd: cwd.unwrap_or_else(|| PathBuf::from("/")) }))
}

/// If the transcript is another agent's, translates its lines into Claude Code's format.
fn translate(job: &Job, transcript: Option<&mut Transcript>) -> Result<Option<Translator>> {
    let Some(transcript) = transcript else { return Ok(None) };
    if job.agent == Some(Agent::ClaudeCode) || !Translator::may_be(&transcript.beginning(transcripts::MARK_BYTES)?) {
        return Ok(None);
    }
    let Some(translator) = Translator::of(&transcript.beginning(transcripts::HEAD_BYTES)?) else { return Ok(None) };
    let folder = job.cwd.clone().or_else(|| transcripts::folder_of(job.path.as_deref()?));
    let translator = translator.in_folder(folder);
    let telling = translator.clone();
    transcript.telling = Some(Arc::new(move |place, line| telling.translate(place, line)));
    Ok(Some(translator))
}

/// Reads the session and folder from the transcript's first lines.
fn head(transcript: &Transcript) -> Result<Head> {
    let (mut lines, _) = transcript.lines(Share { from: 0, bytes: 8 << 20, unterminated: true })?;
    let mut head = Head::default();
    // One batch at a time: most transcripts give both in their first line.
    for _ in 0..64 {
        let batch = lines.read_lines(64 << 10)?;
        if batch.is_empty() || (head.session.is_some() && head.cwd.is_some()) {
            break;
        }
        let found = claude_code::head(batch.iter().map(|line| line.text.as_str()));
        head.session = head.session.or(found.session);
        head.cwd = head.cwd.or(found.cwd);
    }
    Ok(head)
}

/// Moves the cursor to where the extractor says, if that is plausible.
fn advance(
    runtime: &Runtime,
    cursor: &mut Cursor,
    transcript: &Transcript,
    extraction: &Found,
    served: &transcript::Served,
    report: &mut Report,
) -> Result<()> {
    let consumed = extraction.consumed;
    if consumed != 0 || served.lines_until(0).is_some() {
        let Some(lines) = served.lines_until(consumed) else {
            bail!("the extractor claims to have read up to byte {consumed}, which is not the end of a line");
        };
        cursor.lines += lines;
        report.lines += lines;
    }
    let before = cursor.offset;
    // If the last line that was handed out is done, so are the lines skipped after it.
    cursor.offset = if served.is_last(consumed) { served.position.max(consumed) } else { consumed }.max(before);
    report.bytes += cursor.offset - before;
    cursor.malformed += u64::from(extraction.malformed);
    cursor.oversized += served.oversized;
    cursor.failures = 0;
    if extraction.malformed > 0 {
        let detail = format!("{} in {}", extraction.malformed, cursor.path);
        runtime.log.note(Level::Warn, "lines of a transcript could not be parsed", detail);
    }
    if served.oversized > 0 {
        let detail = format!("{} in {}", served.oversized, cursor.path);
        runtime.log.note(Level::Warn, "skipped lines of a transcript that were too long", detail);
    }
    if cursor.offset > before
        && let Some(uuid) = transcript.last_uuid_before(cursor.offset).context("cannot reread the transcript")?
    {
        cursor.last_uuid = Some(uuid);
    }
    report.malformed = cursor.malformed;
    report.oversized = cursor.oversized;
    Ok(())
}

/// Counts a failed extraction. After a few in a row the chunk is skipped, so that one bad line cannot stop reading for
/// good.
fn note_failure(runtime: &Runtime, store: &Store, cursor: Option<Cursor>, served: &Mutex<transcript::Served>) -> Result<()> {
    let Some(mut cursor) = cursor else {
        return Ok(());
    };
    cursor.failures += 1;
    cursor.modified = UNSETTLED;
    if cursor.failures >= MOST_FAILURES {
        let position = served.lock().unwrap_or_else(PoisonError::into_inner).position;
        runtime.log.note(
            Level::Error,
            "skipped part of a transcript because the policy failed on it repeatedly",
            format!("{} from byte {} to {position}", cursor.path, cursor.offset),
        );
        cursor.offset = cursor.offset.max(position);
        cursor.failures = 0;
    }
    Ok(store.put_cursor(&cursor, runtime.now)?)
}

/// Returns the transcripts directly in `folder` that belong to this namespace and are new or have grown since they were
/// last read, latest first.
pub fn unread(runtime: &Runtime, store: &Store, folder: &Path, except: &str) -> Result<Vec<PathBuf>> {
    use std::os::unix::fs::MetadataExt;
    let cursors = store.cursors_below(&folder.to_string_lossy())?;
    let mut unread = Vec::new();
    for entry in std::fs::read_dir(folder)?.flatten() {
        let path = entry.path();
        let is_running = transcripts::session_of_name(&path).is_some_and(|session| session == except);
        if is_running || !transcripts::is_transcript_name(&path) || !namespace::owns(&runtime.paths, &path) {
            continue;
        }
        let Ok(meta) = entry.metadata() else { continue };
        let known = cursors.iter().any(|cursor| {
            cursor.path.as_bytes() == path.as_os_str().as_encoded_bytes()
                && (cursor.device, cursor.inode, cursor.size) == (meta.dev(), meta.ino(), meta.len())
                && cursor.modified == transcript::modified(&meta)
        });
        if meta.is_file() && !known {
            unread.push((meta.mtime(), path));
        }
    }
    unread.sort_by(|a, b| b.cmp(a));
    Ok(unread.into_iter().map(|(_, path)| path).collect())
}
