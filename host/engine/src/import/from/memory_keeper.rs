//! Reads memory-keeper (`memory.md` and `sessions/` of each project below the agent's folder) and its successor
//! Crabshell (`.crabshell/memory/` in the project). Each file is a source.

use std::path::Path;

use anyhow::Result;
use serde_json::Value;

use super::input::{MAX_FILE_BYTES, enclosing_project, read_text, short_hash};
use super::markdown;
use super::normalize::{TURN, TURN_IMPORTANCE};
use super::sink::{Row, Sink};
use super::system::{DefaultLocation, Root, System};
use crate::import::line::{self, Line, title_of};
use throughline_model::contract::Timestamp;

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
    let common = Line { project, created: modified, importance: 0.5, ..Line::default() };
    let place = source.to_string_lossy();
    if is("json") {
        return summary(&place, &text, &common, sink);
    }
    if is_session {
        let line = Line {
            id: Some(short_hash(&[&place])),
            kind: "session_summary".into(),
            title: title_of(&text),
            content: text,
            ..common
        };
        return sink.add_memory(Row { what: "sessions", place: String::new(), line });
    }
    // Logbooks are the agent's running record: search finds them, but they are not shown unasked.
    let (kind, importance) = if name.starts_with("logbook") { (TURN, TURN_IMPORTANCE) } else { ("learning", 0.5) };
    for section in markdown::sections(&text, DEEPEST) {
        let content = section.body.trim();
        if content.is_empty() {
            continue;
        }
        let line = Line {
            id: Some(short_hash(&[&place, &section.heading, content])),
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
        sink.add_memory(Row { what: &name, place: format!("line {}", section.line), line })?;
    }
    Ok(())
}

/// Returns the project's name: the folder below `projects`.
fn keeper_project(source: &Path) -> Option<String> {
    let mut above = source.ancestors().zip(source.ancestors().skip(1));
    let (folder, _) = above.find(|(_, parent)| parent.file_name().is_some_and(|name| name == "projects"))?;
    Some(folder.file_name()?.to_string_lossy().into_owned())
}

fn parse_time(text: &str) -> Option<Timestamp> {
    line::parse_time(&Value::String(text.trim().to_owned())).ok().flatten()
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
