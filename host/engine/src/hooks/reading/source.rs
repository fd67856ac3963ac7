//! The first two stages of a reading: opening the transcript, and finding its session and where to go on.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;

use super::request::{ReadReason, ReadRequest};
use crate::runtime::Runtime;
use throughline_agents::protocol::Event;
use throughline_agents::protocol::claude_code::{self, Head};
use throughline_agents::protocol::name::Agent;
use throughline_agents::protocol::transcripts::{self, Translator};
use throughline_agents::transcript::{self, Chunk, Transcript, TranscriptError};
use throughline_model::cursor::Cursor;
use throughline_platform::log::Level;
use throughline_platform::metadata::{self, Modified as _};
use throughline_platform::namespace;
use throughline_store::Store;

/// How many bytes at the end of a transcript are searched for the folder in which the agent is.
const TAIL_BYTES: u64 = 256 << 10;

/// Where the lines come from.
pub(super) struct Source {
    /// The transcript; `None` if there is none yet, or none is asked for.
    pub(super) transcript: Option<Transcript>,
    /// Translates the lines of another agent into Claude Code's format.
    pub(super) translator: Option<Translator>,
}

impl Source {
    /// Opens the transcript.
    pub(super) fn open(runtime: &Runtime, request: &ReadRequest, is_first: bool) -> Result<Self> {
        let mut transcript = open(runtime, request, is_first)?;
        let translator = match &mut transcript {
            Some(transcript) => translator(request, transcript)?,
            None => None,
        };
        Ok(Self { transcript, translator })
    }

    /// Returns the folder in which the transcript begins.
    pub(super) fn began_in(&self) -> Result<Option<PathBuf>> {
        match (&self.translator, &self.transcript) {
            (Some(translator), _) => Ok(translator.head().cwd),
            (None, Some(transcript)) => Ok(head(transcript)?.cwd),
            (None, None) => Ok(None),
        }
    }

    /// Returns whether the transcript is longer than `from`.
    pub(super) fn has_more(&self, from: u64) -> bool {
        self.bytes_after(from) > 0
    }

    /// Returns how many bytes the transcript has behind `from`.
    pub(super) fn bytes_after(&self, from: u64) -> u64 {
        self.transcript.as_ref().map_or(0, |transcript| transcript.size.saturating_sub(from))
    }
}

fn open(runtime: &Runtime, request: &ReadRequest, is_first: bool) -> Result<Option<Transcript>> {
    let Some(path) = &request.path else { return Ok(None) };
    match transcript::open(path, &request.roots) {
        Ok(transcript) => Ok(Some(transcript)),
        // There is no transcript before the first answer. That is normal.
        Err(TranscriptError::Missing) if request.session.is_some() => {
            if is_first && matches!(request.reason, ReadReason::SessionEnd { .. }) {
                runtime.log.record(Level::Warn, "a session ended without a transcript", path.to_string_lossy());
            }
            Ok(None)
        }
        Err(refusal) => Err(refusal.into()),
    }
}

/// If the transcript is another agent's, makes it return its lines in Claude Code's format.
fn translator(request: &ReadRequest, transcript: &mut Transcript) -> Result<Option<Translator>> {
    if request.agent == Some(Agent::ClaudeCode) || !Translator::is_foreign(&transcript.read_start(transcripts::MARK_BYTES)?)
    {
        return Ok(None);
    }
    let Some(translator) = Translator::for_transcript(&transcript.read_start(transcripts::HEAD_BYTES)?) else {
        return Ok(None);
    };
    let folder = request.cwd.clone().or_else(|| transcripts::project_folder_of_chat(request.path.as_deref()?));
    let translator = translator.with_cwd(folder);
    let line_translator = translator.clone();
    transcript.translator = Some(Arc::new(move |place, line| line_translator.translate(place, line)));
    Ok(Some(translator))
}

/// Where a chunk begins, and which session it belongs to.
pub(super) struct Location {
    /// How far the transcript was read; `None` without a transcript.
    pub(super) cursor: Option<Cursor>,
    /// The session.
    pub(super) session: String,
    /// The agent's working folder.
    pub(super) cwd: PathBuf,
}

impl Location {
    /// The offset at which the chunk begins.
    pub(super) fn from(&self) -> u64 {
        self.cursor.as_ref().map_or(0, |cursor| cursor.offset)
    }
}

/// Finds the cursor, the session and its folder. Returns `None` if the transcript does not say which session it belongs
/// to; such a transcript is empty. Without a store nothing was read.
pub(super) fn locate(
    runtime: &Runtime,
    store: Option<&Store>,
    request: &ReadRequest,
    source: &Source,
) -> Result<Option<Location>> {
    let Some((session, cwd)) = session_and_folder(runtime, request, source)? else { return Ok(None) };
    let cursor = match (&source.transcript, &request.path) {
        (Some(transcript), Some(path)) => Some(cursor(store, transcript, path, &session)?),
        _ => None,
    };
    Ok(Some(Location { cursor, session, cwd: cwd.unwrap_or_else(|| PathBuf::from("/")) }))
}

fn session_and_folder(
    runtime: &Runtime,
    request: &ReadRequest,
    source: &Source,
) -> Result<Option<(String, Option<PathBuf>)>> {
    let (session, cwd) = (request.session.clone(), request.cwd.clone());
    let Some(transcript) = source.transcript.as_ref().filter(|_| session.is_none() || cwd.is_none()) else {
        return Ok(session.map(|session| (session, cwd)));
    };
    let head = match &source.translator {
        Some(translator) => translator.head(),
        None => head(transcript)?,
    };
    let by_name = request.path.as_deref().and_then(transcripts::session_id_from_path);
    let says_whose = session.is_some() || by_name.is_some();
    let Some(session) = session.or(by_name).or(head.session) else { return Ok(None) };
    let cwd = cwd.or(head.cwd);
    // If the name does not give the session, it cannot show whether another namespace owns it.
    let is_ours = says_whose || request.is_named || namespace::owns_transcript(&runtime.paths, Path::new(&session));
    // Gemini CLI's older transcripts give only a hash of their folder.
    let is_nowhere = source.translator.is_some() && cwd.is_none();
    Ok((is_ours && !is_nowhere).then_some((session, cwd)))
}

/// Returns the transcript's cursor. A file that was never seen is read from its beginning; the extractor recognizes lines
/// that repeat an earlier file of the session.
fn cursor(store: Option<&Store>, transcript: &Transcript, path: &Path, session: &str) -> Result<Cursor> {
    let path = path.to_string_lossy();
    let known = store.map(|store| store.cursor(&path)).transpose()?.flatten();
    let mut cursor = known.unwrap_or_else(|| Cursor { path: path.into_owned(), ..Cursor::default() });
    if cursor.version > 0 {
        let from = transcript.resume_offset(&cursor)?;
        if from != cursor.offset {
            cursor.failures = 0;
        }
        cursor.offset = from;
    }
    session.clone_into(&mut cursor.session_id);
    (cursor.device, cursor.inode) = transcript.identity;
    cursor.size = transcript.size;
    cursor.modified = transcript.modified;
    Ok(cursor)
}

/// Reads the session and folder from the transcript's first lines.
fn head(transcript: &Transcript) -> Result<Head> {
    let (mut lines, _) = transcript.lines(Chunk { from: 0, bytes: 8 << 20, unterminated: true })?;
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

/// Returns the folders that an event's transcript names: the one in which the session began, and the one in which it is.
pub fn folders_of(runtime: &Runtime, event: &Event) -> Result<Option<(PathBuf, PathBuf)>> {
    let nothing = ReadReason::CatchUp;
    let request = ReadRequest::for_event(event, event.transcript.as_deref(), runtime.transcript_roots(), nothing, None);
    let source = Source::open(runtime, &request, false)?;
    let (Some(began_in), Some(transcript)) = (source.began_in()?, &source.transcript) else { return Ok(None) };
    let end = transcript.read_end(TAIL_BYTES)?;
    let last = end.rsplit(|&byte| byte == b'\n').find_map(|line| {
        let line = String::from_utf8_lossy(line);
        claude_code::head(std::iter::once(&*line)).cwd
    });
    Ok(Some((began_in.clone(), last.unwrap_or(began_in))))
}

/// A sub-agent's transcript, and the sub-agent.
pub(super) type SubAgentTranscript = (PathBuf, String);

/// Returns the transcripts of a session's sub-agents, which Claude Code keeps in a folder beside the session's own transcript.
pub(super) fn sub_agents(transcript: &Path) -> Vec<SubAgentTranscript> {
    let entries = std::fs::read_dir(transcript.with_extension("").join("subagents")).into_iter().flatten().flatten();
    let id = |path: &Path| path.file_name()?.to_str()?.strip_prefix("agent-")?.strip_suffix(".jsonl").map(str::to_owned);
    let mut found: Vec<_> = entries.filter_map(|entry| Some((entry.path(), id(&entry.path())?))).collect();
    found.sort();
    found
}

/// Returns the transcripts directly in `folder` that belong to this namespace and are new or have grown since they were
/// last read, latest first.
pub fn unread(runtime: &Runtime, store: &Store, folder: &Path, except: &str) -> Result<Vec<PathBuf>> {
    let cursors = store.cursors_below(&folder.to_string_lossy())?;
    let cursors: HashMap<&[u8], &Cursor> = cursors.iter().map(|cursor| (cursor.path.as_bytes(), cursor)).collect();
    let mut unread = Vec::new();
    for entry in std::fs::read_dir(folder)?.flatten() {
        let path = entry.path();
        let is_running = transcripts::session_id_from_path(&path).is_some_and(|session| session == except);
        if is_running || !transcripts::is_transcript_name(&path) {
            continue;
        }
        let Ok(meta) = entry.metadata() else { continue };
        if !meta.is_file() {
            continue;
        }
        let is_read = cursors.get(path.as_os_str().as_encoded_bytes()).is_some_and(|cursor| {
            (cursor.size, cursor.modified) == (meta.len(), metadata::modified_ns(&meta))
                && metadata::listed_id(&path, &meta).is_ok_and(|id| id == (cursor.device, cursor.inode))
        });
        // A folder may have hundreds of transcripts that were read. Whose a transcript is takes several calls of the system.
        if !is_read && namespace::owns_transcript(&runtime.paths, &path) {
            unread.push((meta.modified_parts().0, path));
        }
    }
    unread.sort_by(|a, b| b.cmp(a));
    Ok(unread.into_iter().map(|(_, path)| path).collect())
}
