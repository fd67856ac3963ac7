//! The extractors' stage of a reading: hands a chunk to the extractors, and moves the cursor.

use std::collections::BTreeSet;
use std::io;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::request::ReadRequest;
use super::scope::{CHUNK_BYTES, Scope};
use super::source::Source;
use super::tool_history::SharedCalls;
use crate::runtime::Runtime;
use throughline_agents::protocol::transcripts::tool_calls::ToolCalls;
use throughline_agents::transcript::{Chunk, ReadProgress, SharedProgress, Transcript};
use throughline_model::cursor::Cursor;
use throughline_model::lines::{Line, LineSource};
use throughline_platform::log::Level;
use throughline_privacy::{EarlierPart, ExclusionFilter};
use throughline_sandbox::chain::{Extractor, PolicyId, Work};
use throughline_sandbox::instance::{ExtractRequest, Extraction, Supplement};
use throughline_store::{ExtractorState, Store};

/// How many extractions in a row may fail before the chunk is skipped.
const MAX_FAILURES: u32 = 3;

/// The modification time stored in a cursor if there is more to read, so that [`super::unread`] picks up the file again.
const UNSETTLED: u64 = 0;

/// A line source without lines.
struct NoLines;

impl LineSource for NoLines {
    fn read_lines(&mut self, _max_bytes: usize) -> io::Result<Vec<Line>> {
        Ok(Vec::new())
    }
}

/// The part of a transcript before `from`.
struct Earlier {
    transcript: Transcript,
    from: u64,
}

impl EarlierPart for Earlier {
    fn lines(&self) -> io::Result<Vec<String>> {
        self.transcript.lines_before(self.from)
    }

    fn folders(&self) -> io::Result<BTreeSet<String>> {
        self.transcript.folders_before(self.from)
    }
}

/// What an extractor answered.
pub(super) struct Answer {
    /// The policy.
    pub(super) policy_id: PolicyId,
    /// What it found.
    pub(super) extraction: Extraction,
    /// The state that it was given.
    pub(super) before: ExtractorState,
}

/// The result of the stage.
pub(super) struct Extracted {
    /// The answers; the first one is the primary extractor's.
    pub(super) answers: Vec<Answer>,
    /// Where the next reading starts; `None` without a transcript.
    pub(super) cursor: Option<Cursor>,
    /// How far the cursor moved.
    pub(super) advance: Advance,
    /// Whether there is no more to read.
    pub(super) is_end: bool,
    /// The tool calls of the lines that the primary extractor read.
    pub(super) calls: ToolCalls,
}

/// How far a chunk moved the cursor.
#[derive(Default)]
pub(super) struct Advance {
    /// The offset up to which the primary extractor has read.
    pub(super) to: u64,
    /// Bytes read.
    pub(super) bytes: u64,
    /// Lines read.
    pub(super) lines: u64,
    /// Malformed and oversized lines of the whole transcript; `None` without a transcript.
    pub(super) totals: Option<(u64, u64)>,
}

/// Why no primary extractor answered, and what had been read by then.
pub(super) struct Failure {
    /// The error.
    pub(super) error: anyhow::Error,
    cursor: Option<Cursor>,
    /// The offset up to which lines were handed out.
    position: u64,
}

impl Failure {
    /// Counts the failure. After a few in a row the chunk is skipped, so that one bad line cannot stop reading for good.
    pub(super) fn record(&self, runtime: &Runtime, store: &Store) -> Result<()> {
        let Some(mut cursor) = self.cursor.clone() else { return Ok(()) };
        cursor.failures += 1;
        cursor.modified = UNSETTLED;
        if cursor.failures >= MAX_FAILURES {
            runtime.log.record(
                Level::Error,
                "skipped part of a transcript because the policy failed on it repeatedly",
                format!("{} from byte {} to {}", cursor.path, cursor.offset, self.position),
            );
            cursor.offset = cursor.offset.max(self.position);
            cursor.failures = 0;
        }
        Ok(store.put_cursor(&cursor, runtime.now)?)
    }
}

/// The inputs of the extractors for one chunk.
pub(super) struct Input<'a> {
    store: &'a Store,
    request: &'a ReadRequest,
    scope: &'a Scope,
    transcript: Option<&'a Transcript>,
    from: u64,
    guard: ExclusionFilter,
}

impl<'a> Input<'a> {
    pub(super) fn new(
        runtime: &Runtime,
        store: &'a Store,
        request: &'a ReadRequest,
        source: &'a Source,
        scope: &'a Scope,
        from: u64,
    ) -> Result<Self> {
        let transcript = source.transcript.as_ref();
        let began = match transcript {
            Some(transcript) if !runtime.intervals.is_empty() => transcript.first_timestamp()?,
            _ => 0,
        };
        let guard = runtime.guard(&scope.project, &scope.session.id, began);
        Ok(Self { store, request, scope, transcript, from, guard })
    }

    /// Returns the state that the extractor saved.
    fn state(&self, policy_id: &PolicyId) -> Result<ExtractorState> {
        let saved = self.store.extractor_state(&self.request.reader(&self.scope.session.id), &policy_id.name)?;
        Ok(saved.unwrap_or_else(|| ExtractorState { policy: policy_id.name.clone(), ..ExtractorState::default() }))
    }

    fn extract_request(&self, saved: &ExtractorState) -> ExtractRequest {
        let supplement = self.request.reason.supplement().and_then(|(kind, text)| {
            let folders = || self.transcript.map_or_else(|| Ok(BTreeSet::new()), |it| it.folders_before(it.size));
            Some(Supplement { kind: kind.into(), text: self.guard.clean_supplement(kind, text.to_owned(), folders)? })
        });
        ExtractRequest {
            session: self.scope.session.clone(),
            moment: self.request.reason.name().into(),
            state: (saved.version > 0).then(|| saved.state.clone()),
            supplements: supplement.into_iter().collect(),
        }
    }

    /// Returns the part of the transcript before the chunk; `None` if there is none.
    pub(super) fn earlier(&self) -> Result<Option<Box<dyn EarlierPart>>> {
        let Some(transcript) = self.transcript.filter(|_| self.from > 0) else { return Ok(None) };
        Ok(Some(Box::new(Earlier { transcript: transcript.try_clone()?, from: self.from })))
    }

    /// Returns the lines of a part of the transcript, without the parts that the user excluded, and the read progress.
    fn lines(&self, transcript: &Transcript, from: u64, bytes: u64) -> Result<(Box<dyn LineSource>, SharedProgress)> {
        let unterminated = self.request.reason.takes_unterminated();
        let (lines, progress) = transcript.lines(Chunk { from, bytes, unterminated })?;
        if self.guard.is_idle() {
            return Ok((lines, progress));
        }
        let earlier = Earlier { transcript: transcript.try_clone()?, from };
        Ok((self.guard.wrap(lines, Box::new(earlier)), progress))
    }
}

/// Runs the primary extractor, which moves the cursor, and then the additional ones.
pub(super) fn run(
    runtime: &Runtime,
    work: &mut Work<'_>,
    input: &Input<'_>,
    cursor: Option<Cursor>,
    until: Instant,
) -> Result<Extracted, Box<Failure>> {
    let primary = match run_primary(work, input, until) {
        Ok(primary) => primary,
        Err((error, position)) => return Err(Box::new(Failure { error, cursor, position })),
    };
    // From here on, the chunk itself is not to blame.
    let failed = |error| Box::new(Failure { error, cursor: None, position: input.from });
    let (cursor, advance, is_end) = advance(runtime, input, cursor, &primary).map_err(failed)?;
    let mut answers = vec![primary.answer];
    for extractor in work.additional_extractors(&primary.extractor) {
        answers.extend(run_additional(work, input, &extractor, advance.to, until).map_err(failed)?);
    }
    Ok(Extracted { answers, cursor, advance, is_end, calls: primary.calls })
}

/// The primary extractor's answer, and what was read for it.
struct Primary {
    extractor: Extractor,
    answer: Answer,
    progress: ReadProgress,
    calls: ToolCalls,
}

/// Tries the primary extractors until one answers. An error comes with the offset up to which lines were handed out.
fn run_primary(work: &mut Work<'_>, input: &Input<'_>, until: Instant) -> Result<Primary, (anyhow::Error, u64)> {
    let calls = SharedCalls::default();
    for extractor in work.primary_extractors() {
        let at_begin = |error| (error, input.from);
        let saved = input.state(&extractor.policy_id).map_err(at_begin)?;
        let request = input.extract_request(&saved);
        let (lines, progress) = match input.transcript {
            Some(transcript) => input.lines(transcript, input.from, CHUNK_BYTES).map_err(at_begin)?,
            None => (Box::new(NoLines) as Box<dyn LineSource>, SharedProgress::default()),
        };
        let answer = work.extract(&extractor, &request, calls.watch(lines), until);
        let (progress, calls) = (progress.take(), calls.take());
        match answer {
            Ok(Some(extraction)) => {
                let before = ExtractorState { read_to: None, ..saved };
                let answer = Answer { policy_id: extractor.policy_id.clone(), extraction, before };
                return Ok(Primary { extractor, answer, progress, calls });
            }
            Ok(None) => {}
            Err(error) => return Err((error, progress.position)),
        }
    }
    Err((anyhow::anyhow!("no policy extracts"), input.from))
}

/// Runs an additional extractor, which continues from its own position up to `to`. Returns `None` if it has read
/// everything, or gave no answer.
fn run_additional(
    work: &mut Work<'_>,
    input: &Input<'_>,
    extractor: &Extractor,
    to: u64,
    until: Instant,
) -> Result<Option<Answer>> {
    let before = input.state(&extractor.policy_id)?;
    let request = input.extract_request(&before);
    // An extractor that is new or that failed begins where it stopped, but never behind the bytes that are read now,
    // because the file may have been replaced.
    let begin = before.read_to.unwrap_or(0).min(input.from);
    let lines = match input.transcript {
        Some(transcript) if begin < to => input.lines(transcript, begin, (to - begin).min(CHUNK_BYTES))?.0,
        _ if input.request.reason.supplement().is_none() => return Ok(None),
        _ => Box::new(NoLines),
    };
    let extraction = work.extract(extractor, &request, lines, until)?;
    Ok(extraction.map(|extraction| Answer { policy_id: extractor.policy_id.clone(), extraction, before }))
}

/// Moves the cursor to where the primary extractor says, if that is plausible. Returns it with how far it moved, and
/// whether there is no more to read.
fn advance(
    runtime: &Runtime,
    input: &Input<'_>,
    cursor: Option<Cursor>,
    primary: &Primary,
) -> Result<(Option<Cursor>, Advance, bool)> {
    let (Some(mut cursor), Some(transcript)) = (cursor, input.transcript) else {
        return Ok((None, Advance { to: input.from, ..Advance::default() }, true));
    };
    let (extraction, progress) = (&primary.answer.extraction, &primary.progress);
    let consumed = extraction.consumed;
    let mut lines = 0;
    if consumed != 0 || progress.lines_until(0).is_some() {
        let Some(until) = progress.lines_until(consumed) else {
            bail!("the extractor claims to have read up to byte {consumed}, which is not the end of a line");
        };
        lines = until;
    }
    cursor.lines += lines;
    let before = cursor.offset;
    // If the last line that was handed out is done, so are the lines skipped after it.
    cursor.offset = if progress.is_last(consumed) { progress.position.max(consumed) } else { consumed }.max(before);
    cursor.malformed += u64::from(extraction.malformed);
    cursor.oversized += progress.oversized;
    cursor.failures = 0;
    if extraction.malformed > 0 {
        let detail = format!("{} in {}", extraction.malformed, cursor.path);
        runtime.log.record(Level::Warn, "lines of a transcript could not be parsed", detail);
    }
    if progress.oversized > 0 {
        let detail = format!("{} in {}", progress.oversized, cursor.path);
        runtime.log.record(Level::Warn, "skipped lines of a transcript that were too long", detail);
    }
    if cursor.offset > before
        && let Some(uuid) = transcript.last_uuid_before(cursor.offset).context("cannot reread the transcript")?
    {
        cursor.last_uuid = Some(uuid);
    }
    // An extractor that makes no progress is not called again.
    let is_end = progress.at_end || cursor.offset == before;
    if !is_end {
        cursor.modified = UNSETTLED;
    }
    let advance = Advance {
        to: cursor.offset,
        bytes: cursor.offset - before,
        lines,
        totals: Some((cursor.malformed, cursor.oversized)),
    };
    Ok((Some(cursor), advance, is_end))
}
