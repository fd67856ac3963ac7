//! Reads memory-keeper (`memory.md` and `sessions/` of each project below the agent's folder) and its successor
//! Crabshell (`.crabshell/memory/` in the project). Each file is a source.

use std::path::{Path, PathBuf};

use anyhow::Result;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use serde_json::Value;

use super::input::{MAX_FILE_BYTES, enclosing_project, read_text, short_hash};
use super::markdown;
use super::normalize::{TURN, TURN_IMPORTANCE};
use super::sink::{Row, Sink};
use super::system::{DefaultLocation, Root, System};
use super::threads::{self, Part};
use crate::import::line::{self, Line, title_of};
use throughline_model::contract::{SessionNotes, Timestamp};
use throughline_model::said_by::SaidBy;
use throughline_store::SessionUpdate;

/// The system as commands see it.
pub(super) static SYSTEM: System = System {
    name: "memory-keeper",
    about: "Version 3, and Crabshell",
    places: &["~/.claude/memory-keeper/", ".crabshell/memory/ in this and all known projects"],
    locations: &[
        DefaultLocation {
            root: Root::Agent,
            folder: "memory-keeper",
            files: &["memory.md", "sessions/*", "projects/*/memory.md", "projects/*/sessions/*"],
        },
        DefaultLocation {
            root: Root::Project,
            folder: ".crabshell/memory",
            files: &["project.md", "logbook.md", "logbook_*.md", "*.summary.json", "sessions/*"],
        },
    ],
    instead: &[],
    takes_all_markdown: false,
    has_own_project: true,
    read,
};

/// The deepest heading level at which a file is split.
const DEEPEST: usize = 2;

fn read(source: &Path, sink: &mut Sink<'_>) -> Result<()> {
    let name = source.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let project = match enclosing_project(source, ".crabshell") {
        Some(folder) => sink.folder(Some(folder)),
        None => sink.base_name(keeper_project(source)),
    };
    let is_session = source.parent().and_then(Path::file_name).is_some_and(|folder| folder == "sessions");
    let is = |end: &str| source.extension().is_some_and(|found| found == end);
    if is("jsonl") {
        sink.skip("sessions", "a shorter copy of a transcript: `throughline ingest` reads the transcript itself", 1);
        return Ok(());
    }
    if !is("md") && !is("json") {
        sink.skip("sessions", "neither Markdown nor a summary", 1);
        return Ok(());
    }
    let (text, modified) = match read_text(source, MAX_FILE_BYTES) {
        Ok(read) => read,
        Err(reason) => {
            sink.fail("", "", reason);
            return Ok(());
        }
    };
    // The agent wrote these files.
    let common = Line { project, created: modified, importance: 0.5, said_by: Some(SaidBy::Agent), ..Line::default() };
    let place = source.to_string_lossy();
    if is("json") {
        return summary(&place, &text, &common, sink);
    }
    if is_session {
        return session(source, text, common, sink);
    }
    sections(&name, &place, &text, common, source, sink)
}

/// Imports the file of one session: its text as a summary, and its notes.
fn session(source: &Path, text: String, common: Line, sink: &mut Sink<'_>) -> Result<()> {
    let place = source.to_string_lossy();
    let ended = time_of_name(source).or(common.created);
    let session = session_id(&place);
    let project = common.project.clone();
    let mut notes = threads::notes_of(&text);
    let is_last = newest_session(source.parent()).is_some_and(|newest| newest == source);
    if let (true, Some(folder)) = (is_last, source.parent().and_then(Path::parent)) {
        // The state at the end of the last session is in a file above it.
        let state = read_text(&folder.join(STATE), MAX_FILE_BYTES).map(|(text, _)| state_of(&text)).unwrap_or_default();
        fill_in(&mut notes, state);
    }
    let line = Line {
        id: Some(short_hash(&[&place])),
        session: session.clone(),
        kind: "session_summary".into(),
        title: title_of(&text),
        content: text,
        created: ended,
        ..common
    };
    let summary = line.content.clone();
    sink.add_memory(Row { what: "sessions", place: String::new(), line })?;
    let notes = SessionNotes { ended, ..notes };
    sink.add_session(project.as_deref(), SessionUpdate { id: session, notes, summary, ..SessionUpdate::default() })
}

/// Imports the sections of a file that is about the whole project: the rolling summary, a logbook, or project notes.
fn sections(name: &str, place: &str, text: &str, common: Line, source: &Path, sink: &mut Sink<'_>) -> Result<()> {
    let is_state = name == STATE;
    let updated = if is_state { updated_at(text) } else { None };
    let common = Line { created: updated.or(common.created), ..common };
    if is_state && newest_session(source.parent().map(|folder| folder.join("sessions")).as_deref()).is_none() {
        let notes = SessionNotes { ended: common.created, ..state_of(text) };
        let update = SessionUpdate { id: session_id(place), notes, ..SessionUpdate::default() };
        sink.add_session(common.project.as_deref(), update)?;
    }
    // Logbooks are the agent's running record: search finds them, but they are not shown unasked.
    let (kind, importance) = if name.starts_with("logbook") { (TURN, TURN_IMPORTANCE) } else { ("learning", 0.5) };
    for section in markdown::sections(text, DEEPEST) {
        let content = section.body.trim();
        if content.is_empty() {
            continue;
        }
        if let Some(part) = Part::of(&section.heading).filter(|_| is_state) {
            for item in threads::items(content) {
                let line = of_item(&common, part, place, &item);
                sink.add_memory(Row { what: name, place: format!("line {}", section.line), line })?;
            }
            continue;
        }
        let line = Line {
            id: Some(short_hash(&[place, &section.heading, content])),
            kind: kind.into(),
            title: if section.heading.is_empty() { title_of(content) } else { section.heading.clone() },
            content: content.to_owned(),
            importance,
            created: section
                .heading
                .split_once(['(', '['])
                .map_or_else(|| parse_time(&section.heading), |(_, time)| parse_time(time.trim_end_matches([')', ']'])))
                .or(common.created),
            ..common.clone()
        };
        sink.add_memory(Row { what: name, place: format!("line {}", section.line), line })?;
    }
    Ok(())
}

/// The file with the rolling summary of a project.
const STATE: &str = "memory.md";

/// Returns the identifier of the session that a file is about: the files name none.
fn session_id(place: &str) -> String {
    format!("memory-keeper-{}", short_hash(&["session", place]))
}

/// Returns the latest file of a folder of sessions, by its name, which is a time.
fn newest_session(folder: Option<&Path>) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder?).ok()?.flatten().map(|entry| entry.path());
    entries.filter(|path| path.is_file() && path.extension().is_some_and(|end| end == "md")).max()
}

/// Returns the time in a name such as `2026-01-15_0930.md`, in this machine's time zone, as its author wrote it.
fn time_of_name(source: &Path) -> Option<Timestamp> {
    let name = source.file_stem()?.to_str()?;
    let (day, time) = name.split_once('_').unwrap_or((name, "0000"));
    let (day, time): (Date, u32) = (day.parse().ok()?, time.get(..4)?.parse().ok()?);
    let time = Time::new(i8::try_from(time / 100).ok()?, i8::try_from(time % 100).ok()?, 0, 0).ok()?;
    Timestamp::try_from(day.to_datetime(time).to_zoned(TimeZone::system()).ok()?.timestamp().as_millisecond()).ok()
}

/// Returns when the rolling summary was last updated, as a line of it says.
fn updated_at(text: &str) -> Option<Timestamp> {
    text.lines().find_map(|line| {
        let (label, time) = line.trim_start_matches(['-', '*', ' ']).split_once(':')?;
        let label = label.to_lowercase();
        let is_update = ["updated", "업데이트"].iter().any(|word| label.contains(word));
        parse_time(time.trim_matches(['*', ' '])).filter(|_| is_update)
    })
}

/// Converts the rolling summary to notes: decisions, current state, recent work, and known failures.
fn state_of(text: &str) -> SessionNotes {
    let mut notes = SessionNotes::default();
    for section in markdown::sections(text, DEEPEST) {
        let Some(part) = Part::of(&section.heading) else { continue };
        let items = threads::items(&section.body).iter().filter_map(|item| without_label(item)).collect();
        threads::add(&mut notes, part, items);
    }
    notes
}

/// Returns an item without the label of the state, or `None` if the item only says when the summary was updated.
fn without_label(item: &str) -> Option<String> {
    let Some((label, text)) = item.split_once(':') else { return Some(item.to_owned()) };
    let label = label.trim_matches(['*', ' ']).to_lowercase();
    match label.as_str() {
        "상태" | "status" | "state" => Some(text.trim_matches(['*', ' ']).to_owned()),
        _ if label.contains("updated") || label.contains("업데이트") => None,
        _ => Some(item.to_owned()),
    }
}

/// Fills what the notes leave open with what the rolling summary says.
fn fill_in(notes: &mut SessionNotes, state: SessionNotes) {
    for (text, more) in [(&mut notes.original_request, state.original_request), (&mut notes.outcome, state.outcome)] {
        if text.is_empty() {
            *text = more;
        }
    }
    for (list, more) in [
        (&mut notes.done, state.done),
        (&mut notes.current, state.current),
        (&mut notes.pending, state.pending),
        (&mut notes.errors, state.errors),
    ] {
        if list.is_empty() {
            *list = more;
        }
    }
}

/// Makes one item of the rolling summary a memory, of the day that the item begins with, if it begins with one.
fn of_item(common: &Line, part: Part, place: &str, item: &str) -> Line {
    let (kind, importance) = match part {
        Part::Decisions => ("decision", 0.6),
        Part::Issues => ("failure", 0.5),
        Part::Pending | Part::Current => ("task", 0.5),
        Part::Goal | Part::State | Part::Done => (TURN, TURN_IMPORTANCE),
    };
    let (created, content) = dated(item);
    Line {
        id: Some(short_hash(&[place, kind, item])),
        kind: kind.into(),
        title: title_of(content),
        content: content.to_owned(),
        importance,
        created: created.or(common.created),
        ..common.clone()
    }
}

/// Splits an item such as `2026-01-15: text` or `[2026-01-15 09:30] text` into its time and its text.
fn dated(item: &str) -> (Option<Timestamp>, &str) {
    let bracketed = item.strip_prefix(['[', '(']).and_then(|rest| rest.split_once([']', ')']));
    let plain = || item.split_once(": ").or_else(|| item.split_once(" - ")).or_else(|| item.split_once(" — "));
    match bracketed.or_else(plain).and_then(|(time, text)| Some((parse_time(time)?, text))) {
        Some((at, text)) if !text.trim().is_empty() => (Some(at), text.trim_start_matches([':', '-', ' ']).trim()),
        _ => (None, item),
    }
}

/// Returns the project's name: the folder below `projects`.
fn keeper_project(source: &Path) -> Option<String> {
    let mut above = source.ancestors().zip(source.ancestors().skip(1));
    let (folder, _) = above.find(|(_, parent)| parent.file_name().is_some_and(|name| name == "projects"))?;
    Some(folder.file_name()?.to_string_lossy().into_owned())
}

fn parse_time(text: &str) -> Option<Timestamp> {
    line::parse_time(&Value::String(text.trim().to_owned()))
}

/// Reads a summary that a model wrote of a logbook: the overall summary, each decision, and each open issue.
fn summary(place: &str, text: &str, common: &Line, sink: &mut Sink<'_>) -> Result<()> {
    const WHAT: &str = "summaries";
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => {
            sink.fail(WHAT, &format!("line {}, column {}", error.line(), error.column()), "it is not valid JSON");
            return Ok(());
        }
    };
    let themes: Vec<String> = items(&value, "themes");
    let mut overall = value.get("overallSummary").map(told).unwrap_or_default();
    for theme in &themes {
        overall.push_str(if overall.is_empty() { "- " } else { "\n- " });
        overall.push_str(theme);
    }
    let parts = [overall].into_iter().filter(|text| !text.is_empty()).map(|text| ("session_summary", text));
    let decisions = items(&value, "keyDecisions").into_iter().map(|text| ("decision", text));
    let issues = items(&value, "issues").into_iter().map(|text| ("learning", text));
    let mut is_empty = true;
    for (kind, content) in parts.chain(decisions).chain(issues) {
        is_empty = false;
        let line = Line {
            id: Some(short_hash(&[place, kind, &content])),
            kind: kind.into(),
            title: title_of(&content),
            content,
            ..common.clone()
        };
        sink.add_memory(Row { what: WHAT, place: String::new(), line })?;
    }
    if is_empty {
        sink.skip(WHAT, "empty", 1);
    }
    Ok(())
}

fn items(value: &Value, name: &str) -> Vec<String> {
    let values = value.get(name).and_then(Value::as_array);
    values.into_iter().flatten().map(told).filter(|text| !text.is_empty()).collect()
}

/// Returns a value's text: a string, or an object's strings joined.
fn told(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Object(fields) => {
            let texts = fields.values().filter_map(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
            texts.collect::<Vec<_>>().join(": ")
        }
        _ => String::new(),
    }
}
