//! Checks of stage `extractor`: it is a fold over lines, and no line makes it fail.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, bail};

use super::fixtures;
use super::suite::Suite;
use super::verdict::{
    CheckRecorder, Faults, PLACE_INSTANCES, PLACE_OPEN, PLACE_UNICODE, Verdict, WHY_DETERMINISTIC, check_file,
    deterministic, is_kind, is_one_line, quoted,
};
use crate::compare::{self, StoredResult};
use throughline_model::contract::Draft;
use throughline_model::lines::{Line, LineSource};
use throughline_sandbox::instance::{ExtractRequest, Extraction, Supplement};

/// The contract's limits, in bytes and characters.
const MAX_STATE_BYTES: usize = 256 << 10;
const MAX_TITLE_CHARS: usize = 200;
const MAX_CONTENT_BYTES: usize = 64 << 10;

/// More drafts than this in one call get a warning.
const MANY_DRAFTS: usize = 1_000;

const WHY_LINES: &str =
    "A transcript is written by another program: if one line makes the extractor fail, the whole chunk is lost.";

/// A transcript: its name, and its lines with their positions.
struct Transcript {
    name: String,
    lines: Vec<Line>,
}

impl Transcript {
    fn new(name: impl Into<String>, texts: impl IntoIterator<Item = String>) -> Self {
        let mut start = 0;
        let line = |text: String| {
            let end = start + text.len() as u64 + 1;
            let line = Line { start, end, text };
            start = end;
            line
        };
        Self { name: name.into(), lines: texts.into_iter().map(line).collect() }
    }

    fn end(&self) -> u64 {
        self.lines.last().map_or(0, |line| line.end)
    }

    /// Returns at most `most` lines, beginning with the one that starts at `from`.
    fn share(&self, from: u64, most: usize) -> &[Line] {
        let begin = self.lines.partition_point(|line| line.start < from);
        &self.lines[begin..self.lines.len().min(begin.saturating_add(most))]
    }
}

/// Returns lines and records where each returned line ends.
struct Script {
    left: VecDeque<Line>,
    served: Arc<Mutex<Vec<u64>>>,
}

impl LineSource for Script {
    fn read_lines(&mut self, max_bytes: usize) -> io::Result<Vec<Line>> {
        let (mut lines, mut bytes) = (Vec::new(), 0);
        while let Some(line) = self.left.pop_front() {
            bytes += line.text.len();
            lines.push(line);
            if bytes >= max_bytes {
                break;
            }
        }
        let mut served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        served.extend(lines.iter().map(|line| line.end));
        Ok(lines)
    }
}

/// One extraction and what the policy read for it.
struct ExtractionCase {
    case: String,
    extraction: Extraction,
    /// The ends of the lines that the policy read.
    served: Vec<u64>,
}

fn request(state: Option<String>) -> ExtractRequest {
    ExtractRequest { session: fixtures::session(), moment: "stop".into(), state, supplements: Vec::new() }
}

/// Makes the calls and collects the extractions, for the checks that apply to every result.
struct Extractor<'a> {
    suite: &'a Suite<'a>,
    seen: Vec<ExtractionCase>,
}

impl Extractor<'_> {
    /// Makes one call in a fresh instance.
    fn call(&mut self, case: &str, request: &ExtractRequest, lines: &[Line]) -> Result<Extraction> {
        let served = Arc::new(Mutex::new(Vec::new()));
        let script = Script { left: lines.iter().cloned().collect(), served: Arc::clone(&served) };
        let mut instance = self.suite.instance()?;
        let extraction =
            self.suite.timed(|until| instance.extract(request, Box::new(script), until)).with_context(|| case.to_owned())?;
        let served = served.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.seen.push(ExtractionCase { case: case.into(), extraction: extraction.clone(), served });
        Ok(extraction)
    }

    /// Extracts a whole transcript in one call.
    fn whole(&mut self, transcript: &Transcript) -> Result<Extraction> {
        self.call(&transcript.name, &request(None), &transcript.lines)
    }

    /// Extracts a transcript in pieces of a few lines, each in a fresh instance, carrying on the state and the
    /// position. If the extractor consumes nothing, the piece is made longer.
    fn pieces(&mut self, transcript: &Transcript, mut length: impl FnMut() -> usize) -> Result<StoredResult> {
        let (mut from, mut state, mut learned) = (0, None, StoredResult::default());
        let mut most = length();
        loop {
            let share = transcript.share(from, most);
            let Some(last) = share.last().map(|line| line.end) else { return Ok(learned) };
            let case = format!("{}, from byte {from}", transcript.name);
            let extraction = self.call(&case, &request(state), share)?;
            learned.add(&extraction);
            state = Some(extraction.state);
            if extraction.consumed > from {
                if extraction.consumed > last {
                    bail!("{case}: consumed is {}, but the last line ends at {last}", extraction.consumed);
                }
                from = extraction.consumed;
                most = length();
            } else if last < transcript.end() {
                most *= 2;
            } else {
                return Ok(learned);
            }
        }
    }

    /// Whether a whole transcript can be read without an error.
    fn survives(&mut self, transcript: &Transcript) -> Verdict {
        Verdict::of(self.whole(transcript).map(|extraction| {
            let Extraction { drafts, malformed, .. } = extraction;
            let lines = transcript.lines.len();
            Verdict::pass(format!("{lines} lines: {} drafts, {malformed} malformed", drafts.len()))
        }))
    }
}

fn learned(extraction: &Extraction) -> StoredResult {
    let mut learned = StoredResult::default();
    learned.add(extraction);
    learned
}

/// Describes how two results differ, or `None` if they are equal.
fn difference(one: &StoredResult, other: &StoredResult) -> Option<String> {
    let found = compare::extractions(one, other);
    if found.is_empty() {
        return None;
    }
    let mut parts = Vec::new();
    let titles = |briefs: &[compare::DraftSummary]| {
        let first = briefs.first().map(|brief| quoted(&brief.title)).unwrap_or_default();
        format!("{} ({first})", briefs.len())
    };
    if !found.only_before.is_empty() {
        parts.push(format!("drafts are missing: {}", titles(&found.only_before)));
    }
    if !found.only_after.is_empty() {
        parts.push(format!("drafts are added: {}", titles(&found.only_after)));
    }
    if let Some(changed) = found.changed.first() {
        parts.push(format!("{} drafts differ, the first in {}", found.changed.len(), changed.fields.join(", ")));
    }
    if !found.notes.is_empty() {
        let fields: Vec<&str> = found.notes.iter().map(|field| field.field.as_str()).collect();
        parts.push(format!("the notes differ in {}", fields.join(", ")));
    }
    Some(parts.join("; "))
}

pub(super) fn run(suite: &Suite<'_>, recorder: &mut CheckRecorder<'_>) {
    let mut it = Extractor { suite, seen: Vec::new() };
    let mut sessions = vec![
        Transcript::new("the sample session", fixtures::ordinary()),
        Transcript::new("a busy session", fixtures::busy_session()),
    ];
    let given = suite.options.sessions.iter().enumerate();
    sessions.extend(given.map(|(number, lines)| Transcript::new(format!("given session {}", number + 1), lines.clone())));
    reading(&mut it, recorder, &sessions);
    folding(&mut it, recorder, &sessions);
    asking(&mut it, recorder, &sessions[0]);
    results(&it.seen, recorder);
}

/// Checks that every kind of line can be read.
fn reading(it: &mut Extractor<'_>, recorder: &mut CheckRecorder<'_>, sessions: &[Transcript]) {
    let empty = it.whole(&Transcript::new("no lines", []));
    recorder.note(
        "empty-transcript",
        "extractor.extraction.consumed: \"0 if no line was read\"",
        "The hook can run before the transcript has its first line.",
        Verdict::of(empty.map(|extraction| match (extraction.consumed, extraction.drafts.len()) {
            (0, drafts) => Verdict::odd(drafts > 0, format!("no lines: {drafts} drafts")),
            (consumed, _) => Verdict::fail(format!("no line was read, but consumed is {consumed}")),
        })),
    );
    let mut faults = Faults::default();
    let mut drafts = 0;
    for session in sessions {
        drafts += faults.attempt(it.whole(session)).map_or(0, |extraction| extraction.drafts.len());
    }
    let mut verdict = faults.verdict("sessions", false);
    if verdict.status == super::report::Status::Pass {
        verdict.seen = format!("{} sessions: {drafts} drafts", sessions.len());
    }
    recorder.note(
        "ordinary-session",
        "extractor.extract",
        "A policy must be able to read what an agent writes every day.",
        verdict,
    );
    let others = [
        ("malformed-lines", "extractor.extraction.malformed", fixtures::malformed_lines()),
        ("strange-json", "extractor.extraction.malformed", fixtures::strange_lines()),
        ("deep-json", "extractor.extraction.malformed", fixtures::deep_json()),
        ("odd-characters", PLACE_UNICODE, fixtures::odd_lines()),
        ("long-lines", "transcript.line.text: up to 16 MiB", fixtures::long_lines()),
    ];
    for (id, place, lines) in others {
        let verdict = it.survives(&Transcript::new(id, lines));
        recorder.note(id, place, WHY_LINES, verdict);
    }
    recorder.note(
        "unknown-lines",
        PLACE_OPEN,
        "A newer agent writes lines that the policy does not know; they must not change its results.",
        Verdict::of(unknown_lines(it)),
    );
}

/// Checks that lines of unknown types between the known ones change nothing.
fn unknown_lines(it: &mut Extractor<'_>) -> Result<Verdict> {
    let plain = it.whole(&Transcript::new("the sample session", fixtures::ordinary()))?;
    let mut unknown = fixtures::unknown_lines().into_iter().cycle();
    let mixed = fixtures::ordinary().into_iter().flat_map(|line| [Some(line), unknown.next()]).flatten().collect::<Vec<_>>();
    let mixed = it.whole(&Transcript::new("unknown lines in between", mixed))?;
    Ok(match difference(&learned(&plain), &learned(&mixed)) {
        None => Verdict::pass("unknown lines in between change nothing"),
        Some(difference) => Verdict::odd(true, format!("with unknown lines in between, {difference}")),
    })
}

/// Returns how many lines the next piece has.
type Length = fn(&mut fixtures::Random) -> usize;

/// Checks that the same lines in one call or in ten give the same memories.
fn folding(it: &mut Extractor<'_>, recorder: &mut CheckRecorder<'_>, sessions: &[Transcript]) {
    let mut faults = Faults::default();
    for session in sessions {
        let mut random = fixtures::Random(3);
        let lengths: [(&str, Length); 3] = [
            ("line by line", |_| 1),
            ("in pieces of 7 lines", |_| 7),
            ("in pieces of any length", |random| 1 + random.below(20)),
        ];
        for (how, length) in lengths {
            let compared =
                it.whole(session).and_then(|whole| Ok((learned(&whole), it.pieces(session, || length(&mut random))?)));
            if let Some((whole, pieces)) = faults.attempt(compared)
                && let Some(difference) = difference(&whole, &pieces)
            {
                faults.fail(true, || format!("{}, {how}: {difference}", session.name));
            }
        }
    }
    recorder.note(
        "in-pieces",
        "stages.wit, extractor: \"the same lines must give the same memories, whether they arrive in one call or in ten\"",
        "The host reads a few more lines at every turn: what is remembered must not depend on how often it reads.",
        faults.verdict("reads in pieces", false),
    );
    let again = again(it, &sessions[0]);
    recorder.note(
        "read-again",
        "extractor.request.state",
        "Agents rewrite their transcripts, and the host then passes lines a second time.",
        Verdict::of(again),
    );
    recorder.note(
        "from-the-middle",
        "extractor.request.state: \"None on the first call, and after the policy has changed\"",
        "A newly installed policy starts in the middle of the sessions that are open.",
        Verdict::of(from_the_middle(it, &sessions[0])),
    );
    let altered = altered_state(it);
    recorder.note(
        "altered-state",
        "extractor.extraction.state: \"stores it and therefore redacts it like every other text\"",
        "A secret in the state comes back as [redacted:RULE]; if the policy then fails, the session is no longer remembered.",
        Verdict::of(altered),
    );
    let lines = sessions[0].lines.clone();
    let verdict = deterministic(it.suite, |instance, until| {
        let script = Script { left: lines.iter().cloned().collect(), served: Arc::default() };
        instance.extract(&request(None), Box::new(script), until)
    });
    recorder.note("deterministic", PLACE_INSTANCES, WHY_DETERMINISTIC, verdict);
}

fn again(it: &mut Extractor<'_>, session: &Transcript) -> Result<Verdict> {
    let first = it.whole(session)?;
    let second = it.call("the same lines again", &request(Some(first.state.clone())), &session.lines)?;
    let once = learned(&first);
    let mut twice = once.clone();
    twice.add(&second);
    Ok(match difference(&once, &twice) {
        None => Verdict::pass("the same lines again change nothing"),
        Some(difference) => Verdict::odd(true, format!("the same lines again: {difference}")),
    })
}

fn from_the_middle(it: &mut Extractor<'_>, session: &Transcript) -> Result<Verdict> {
    let middle = session.lines[session.lines.len() / 2..].to_vec();
    let extraction = it.call("from the middle, without a state", &request(None), &middle)?;
    Ok(Verdict::pass(format!("{} lines from the middle: {} drafts", middle.len(), extraction.drafts.len())))
}

fn altered_state(it: &mut Extractor<'_>) -> Result<Verdict> {
    let token = fixtures::Random(11).word(40);
    let session = Transcript::new("a session with a token", fixtures::with_token(&token));
    let (first, second) = session.lines.split_at(session.lines.len() / 2);
    let before = it.call(&session.name, &request(None), first)?;
    let places = before.state.matches(&token).count();
    let state = before.state.replace(&token, "[redacted:conformance]");
    it.call("with a redacted state", &request(Some(state)), second)?;
    Ok(Verdict::pass(format!("continues with a state in which {places} places were redacted")))
}

/// Checks all kinds of requests.
fn asking(it: &mut Extractor<'_>, recorder: &mut CheckRecorder<'_>, session: &Transcript) {
    let mut faults = Faults::default();
    for moment in ["stop", "compact", "compacted", "session-end", "catch-up", "ingest", "full-moon", "", "한글 \0"] {
        let request = ExtractRequest { moment: moment.into(), ..request(None) };
        faults.attempt(it.call(&format!("moment {moment:?}"), &request, &session.lines));
    }
    recorder.note(
        "moments",
        "extractor.request.moment",
        "A newer host has moments that the policy does not know.",
        faults.verdict("moments", false),
    );
    recorder.note(
        "unknown-supplements",
        PLACE_OPEN,
        "A newer host passes supplements that the policy does not know.",
        Verdict::of(unknown_supplement(it, session)),
    );
    recorder.note(
        "last-message",
        "extractor.supplement.kind: \"use this text only for the notes of this call\"",
        "The line with the last message is read later: what the policy took from the supplement would be remembered twice.",
        Verdict::of(last_message(it, session)),
    );
    let mut faults = Faults::default();
    for text in [fixtures::long_text(256 << 10), String::new(), fixtures::Random(5).text(2_000)] {
        let supplements = vec![Supplement { kind: "compact-summary".into(), text }];
        faults.attempt(it.call("a compact summary", &ExtractRequest { supplements, ..request(None) }, &session.lines));
    }
    recorder.note(
        "compact-summary",
        "extractor.supplement.kind",
        "After a compaction the host passes the agent's own summary, which can have any length.",
        faults.verdict("summaries", false),
    );
}

fn unknown_supplement(it: &mut Extractor<'_>, session: &Transcript) -> Result<Verdict> {
    let plain = it.whole(session)?;
    let supplements = vec![Supplement { kind: "horoscope".into(), text: "DECISION: Always rest on Mondays.".into() }];
    let with = it.call("an unknown supplement", &ExtractRequest { supplements, ..request(None) }, &session.lines)?;
    Ok(match difference(&learned(&plain), &learned(&with)) {
        None => Verdict::pass("a supplement of an unknown kind changes nothing"),
        Some(difference) => Verdict::odd(true, format!("a supplement of an unknown kind: {difference}")),
    })
}

fn last_message(it: &mut Extractor<'_>, session: &Transcript) -> Result<Verdict> {
    let (first, second) = session.lines.split_at(session.lines.len() / 2);
    let text = "DECISION: The lamps are painted green, because green was cheap. Always paint lamps green.";
    let supplements = vec![Supplement { kind: "last-assistant-message".into(), text: text.into() }];
    let mut learned = [StoredResult::default(), StoredResult::default()];
    for (learned, supplements) in learned.iter_mut().zip([Vec::new(), supplements]) {
        let before = it.call("a last message", &ExtractRequest { supplements, ..request(None) }, first)?;
        learned.add(&before);
        learned.add(&it.call("after a last message", &request(Some(before.state)), second)?);
    }
    Ok(match difference(&learned[0], &learned[1]) {
        None => Verdict::pass("a last message leaves nothing behind"),
        Some(difference) => Verdict::fail(format!("after a call with a last message, {difference}")),
    })
}

/// The faults of all results, by what they are about.
#[derive(Default)]
struct ResultFaults {
    consumed: Faults,
    state: Faults,
    titles: Faults,
    contents: Faults,
    kinds: Faults,
    importance: Faults,
    files: Faults,
    counts: Faults,
    notes: Faults,
}

/// Checks every result.
fn results(all: &[ExtractionCase], recorder: &mut CheckRecorder<'_>) {
    *recorder.drafts = all.iter().map(|seen| seen.extraction.drafts.len()).sum();
    let mut faults = ResultFaults::default();
    for seen in all {
        faults.check_extraction(seen);
        for draft in &seen.extraction.drafts {
            faults.check_draft(&seen.case, draft);
        }
    }
    faults.record(recorder);
}

impl ResultFaults {
    /// Checks everything but the drafts.
    fn check_extraction(&mut self, ExtractionCase { case, extraction, served }: &ExtractionCase) {
        let place = extraction.consumed;
        self.consumed.count_result();
        self.consumed.fail(place != 0 && !served.contains(&place), || {
            format!("{case}: consumed is {place}, where no line ends that was read")
        });
        self.consumed.warn(place == 0 && !served.is_empty(), || format!("{case}: lines were read, but consumed is 0"));
        let bytes = extraction.state.len();
        self.state.count_result();
        self.state.fail(bytes > MAX_STATE_BYTES, || format!("{case}: the state has {bytes} bytes"));
        self.counts.count_result();
        self.counts.warn(extraction.drafts.len() > MANY_DRAFTS, || format!("{case}: {} drafts", extraction.drafts.len()));
        self.notes.count_result();
        for (name, entries) in note_lines(extraction) {
            let odd = entries.into_iter().find(|entry| !is_one_line(entry) || entry.trim().is_empty());
            self.notes.warn(odd.is_some(), || format!("{case}: {name} holds {}", quoted(odd.unwrap_or_default())));
        }
        let changes = extraction.notes.changes.iter().map(|change| &change.path);
        let files = changes.chain(extraction.notes.discoveries.iter().map(|d| &d.file));
        files.for_each(|file| check_file(&mut self.files, case, file));
    }

    fn check_draft(&mut self, case: &str, draft: &Draft) {
        let title = &draft.title;
        self.titles.count_result();
        self.titles.fail(!is_one_line(title), || format!("{case}: {} is more than one line", quoted(title)));
        self.titles.fail(title.trim().is_empty(), || format!("{case}: a title of a {} is empty", draft.kind));
        self.titles.fail(title.chars().count() > MAX_TITLE_CHARS, || format!("{case}: {} is too long", quoted(title)));
        self.contents.count_result();
        let bytes = draft.content.len();
        self.contents.fail(bytes > MAX_CONTENT_BYTES, || format!("{case}: {} has {bytes} bytes", quoted(title)));
        self.contents.warn(draft.content.trim().is_empty(), || format!("{case}: {} has no content", quoted(title)));
        self.kinds.count_result();
        self.kinds.fail(!is_kind(&draft.kind), || format!("{case}: {}", quoted(&draft.kind)));
        let weight = draft.importance;
        self.importance.count_result();
        self.importance.fail(!weight.is_finite(), || format!("{case}: {} has the importance {weight}", quoted(title)));
        self.importance.warn(weight.is_finite() && !(0.0..=1.0).contains(&weight), || {
            format!("{case}: {} has the importance {weight}, which is clamped", quoted(title))
        });
        draft.files.iter().for_each(|file| check_file(&mut self.files, &case, file));
    }

    /// Records a verdict for each subject.
    fn record(self, recorder: &mut CheckRecorder<'_>) {
        let mut note =
            |id, place, why, faults: Faults, what, may_lack| recorder.note(id, place, why, faults.verdict(what, may_lack));
        note(
            "consumed",
            "extractor.extraction.consumed",
            "The next read starts there: if that is in the middle of a line, or after lines that were not read, memories are lost.",
            self.consumed,
            "extractions",
            false,
        );
        note(
            "state-size",
            "extractor.extraction.state",
            "The state is stored at every turn; a larger one is refused.",
            self.state,
            "states",
            false,
        );
        note("titles", "types.draft.title", "Lists show only the title.", self.titles, "titles", true);
        note(
            "contents",
            "types.draft.content",
            "Every word of a memory costs the agent tokens.",
            self.contents,
            "contents",
            true,
        );
        note("kinds", "types.draft.kind", "Searches and grants select memories by kind.", self.kinds, "kinds", true);
        note(
            "importance",
            "types.draft.importance",
            "The host decides by importance which memories are shown.",
            self.importance,
            "importances",
            true,
        );
        note(
            "files",
            "types.draft.files",
            "Searches by file compare paths from the project's root.",
            self.files,
            "paths",
            true,
        );
        note(
            "few-drafts",
            "extractor.extraction.drafts",
            "Nobody can use a thousand memories of one chunk.",
            self.counts,
            "extractions",
            false,
        );
        note(
            "note-lines",
            "types.session-notes: \"Each list entry is one line that can be understood on its own\"",
            "Notes become single lines of a page.",
            self.notes,
            "notes",
            false,
        );
    }
}

/// Returns the lists of lines in the notes, with their names in the contract.
fn note_lines(extraction: &Extraction) -> Vec<(&'static str, Vec<&str>)> {
    fn all(list: &[String]) -> Vec<&str> {
        list.iter().map(String::as_str).collect()
    }
    let notes = &extraction.notes;
    vec![
        ("done", all(&notes.done)),
        ("current", all(&notes.current)),
        ("pending", all(&notes.pending)),
        ("decisions", notes.decisions.iter().map(|decision| decision.what.as_str()).collect()),
        ("discoveries", notes.discoveries.iter().map(|discovery| discovery.insight.as_str()).collect()),
        ("learnings", all(&notes.learnings)),
        ("preferences", all(&notes.preferences)),
        ("commits", all(&notes.commits)),
        ("blockers", all(&notes.blockers)),
        ("errors", all(&notes.errors)),
    ]
}
