//! Reads `.claude/session-context.json` of the session-context system, version 2: what a session was about, what it
//! decided and found, and what it left undone. Files that this program wrote itself in that format are skipped.

use std::path::Path;

use anyhow::Result;
use serde_json::Value;

use super::input::{MAX_FILE_BYTES, enclosing_project, read_text, short_hash};
use super::sink::{Row, Sink};
use super::system::{DefaultLocation, Root, System};
use crate::import::line::{self, Line, title_of};
use throughline_model::contract::{Change, Decision, Discovery, SessionNotes, Timestamp};
use throughline_model::said_by::SaidBy;
use throughline_store::SessionUpdate;

/// The system as commands see it.
pub(super) static SYSTEM: System = System {
    name: "session-context",
    about: "`.claude/session-context.json`, version 2",
    places: &[".claude/session-context.json in this and all known projects"],
    locations: &[DefaultLocation {
        root: Root::Project,
        folder: ".claude",
        files: &["session-context.json", "session-context.json.bak"],
    }],
    instead: &[],
    takes_all_markdown: false,
    has_own_project: false,
    read,
};

/// The parts of the summary: their JSON pointers, and their labels in English and Korean.
const SUMMARY_PARTS: [(&str, &str, &str); 6] = [
    ("/goal/current_objective", "Objective", "목표"),
    ("/progress/done", "Done", "완료"),
    ("/progress/current", "In progress", "진행 중"),
    ("/progress/pending", "Pending", "대기"),
    ("/state/blockers", "Blockers", "장애물"),
    ("/state/errors", "Errors", "오류"),
];

fn read(source: &Path, sink: &mut Sink<'_>) -> Result<()> {
    let (text, modified) = match read_text(source, MAX_FILE_BYTES) {
        Ok(read) => read,
        Err(reason) => {
            sink.fail("", "", reason);
            return Ok(());
        }
    };
    let value: Value = match serde_json::from_str(&text) {
        Ok(value @ Value::Object(_)) => value,
        Ok(_) => {
            sink.fail("", "", "it is not a JSON object");
            return Ok(());
        }
        Err(error) => {
            sink.fail("", &format!("line {}, column {}", error.line(), error.column()), "it is not valid JSON");
            return Ok(());
        }
    };
    let session = one(&value, "/meta/session_id").unwrap_or_default();
    if !session.is_empty() && sink.is_own(&session)? {
        sink.skip("session", "this program wrote it", 1);
        return Ok(());
    }
    let saved = parse_time(one(&value, "/meta/saved_at")).or(modified);
    let around = enclosing_project(source, ".claude");
    let common = Line {
        // The agent wrote the file.
        said_by: Some(SaidBy::Agent),
        project: sink.folder(one(&value, "/meta/project").filter(|path| path.starts_with('/')).or(around)),
        session: session.clone(),
        importance: 0.5,
        created: saved,
        ..Line::default()
    };
    if source.extension().is_some_and(|end| end == "bak") && session_beside(source) == Some(session.clone()) {
        sink.skip("session", "an earlier state of the same session", 1);
        return Ok(());
    }
    let name = |parts: &[&str]| Some(short_hash(&[&[session.as_str()], parts].concat()));
    let content = summary(&value);
    let line = Line {
        id: name(&["summary"]),
        kind: "session_summary".into(),
        title: one(&value, "/goal/original_request").map_or_else(|| title_of(&content), |text| title_of(&text)),
        content,
        files: texts(&value, "/state/recent_files"),
        ..common.clone()
    };
    let project = line.project.clone();
    give(sink, "session", line)?;
    let id = if session.is_empty() {
        format!("session-context-{}", name(&["session"]).unwrap_or_default())
    } else {
        session.clone()
    };
    sink.add_session(project.as_deref(), SessionUpdate { id, notes: notes(&value, saved), ..SessionUpdate::default() })?;
    add_details(&value, &common, &name, sink)
}

fn give(sink: &mut Sink<'_>, what: &str, line: Line) -> Result<()> {
    sink.add_memory(Row { what, place: String::new(), line })
}

/// Adds the decisions, discoveries and open tasks.
fn add_details(value: &Value, common: &Line, name: &dyn Fn(&[&str]) -> Option<String>, sink: &mut Sink<'_>) -> Result<()> {
    for decision in list(value, "/decisions") {
        let content = format_decision(decision);
        let line = Line {
            id: name(&["decision", &content]),
            kind: "decision".into(),
            title: one(decision, "/what").map_or_else(|| title_of(&content), |text| title_of(&text)),
            content,
            ..common.clone()
        };
        give(sink, "decisions", line)?;
    }
    for found in list(value, "/discoveries") {
        let content = one(found, "/insight").or_else(|| found.as_str().map(str::to_owned)).unwrap_or_default();
        let line = Line {
            id: name(&["discovery", &content]),
            kind: "discovery".into(),
            title: title_of(&content),
            content,
            files: one(found, "/file").into_iter().collect(),
            created: parse_time(one(found, "/timestamp")).or(common.created),
            ..common.clone()
        };
        give(sink, "discoveries", line)?;
    }
    for content in texts(value, "/progress/pending") {
        let (id, kind) = (name(&["task", &content]), "task".into());
        give(sink, "tasks", Line { id, kind, title: title_of(&content), content, ..common.clone() })?;
    }
    Ok(())
}

/// Returns the session's notes, as its file has them.
fn notes(value: &Value, saved: Option<Timestamp>) -> SessionNotes {
    let some = |pointer: &str| one(value, pointer).unwrap_or_default();
    let many = |pointer: &str| one(value, pointer).map_or_else(|| texts(value, pointer), |text| vec![text]);
    let decision = |it: &Value| Decision {
        what: one(it, "/what").or_else(|| it.as_str().map(str::to_owned)).unwrap_or_default(),
        why: one(it, "/why").unwrap_or_default(),
        rejected: texts(it, "/rejected"),
    };
    let discovery = |it: &Value| Discovery {
        file: one(it, "/file").unwrap_or_default(),
        insight: one(it, "/insight").or_else(|| it.as_str().map(str::to_owned)).unwrap_or_default(),
        ..Discovery::default()
    };
    SessionNotes {
        original_request: some("/goal/original_request"),
        current_objective: some("/goal/current_objective"),
        ended: saved,
        done: many("/progress/done"),
        current: many("/progress/current"),
        pending: many("/progress/pending"),
        decisions: list(value, "/decisions").map(decision).filter(|it| !it.what.is_empty()).collect(),
        discoveries: list(value, "/discoveries").map(discovery).filter(|it| !it.insight.is_empty()).collect(),
        changes: texts(value, "/state/recent_files").into_iter().map(|path| Change { path, ..Change::default() }).collect(),
        blockers: many("/state/blockers"),
        errors: many("/state/errors"),
        ..SessionNotes::default()
    }
}

/// Returns the session of the file that this backup belongs to.
fn session_beside(backup: &Path) -> Option<String> {
    let (text, _) = read_text(&backup.with_extension(""), MAX_FILE_BYTES).ok()?;
    one(&serde_json::from_str(&text).ok()?, "/meta/session_id")
}

fn one(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer)?.as_str().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn list<'a>(value: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> {
    value.pointer(pointer).and_then(Value::as_array).into_iter().flatten()
}

fn texts(value: &Value, pointer: &str) -> Vec<String> {
    let texts = list(value, pointer).filter_map(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    texts.map(str::to_owned).collect()
}

fn parse_time(text: Option<String>) -> Option<Timestamp> {
    line::parse_time(&Value::String(text?))
}

fn is_korean(text: &str) -> bool {
    text.chars().any(|c| ('가'..='힣').contains(&c))
}

/// Summarizes the session in a few lines.
fn summary(value: &Value) -> String {
    let request = one(value, "/goal/original_request");
    let korean = request.as_deref().is_some_and(is_korean);
    let mut parts: Vec<String> = request.iter().cloned().collect();
    for (pointer, english, hangul) in SUMMARY_PARTS {
        let label = if korean { hangul } else { english };
        match one(value, pointer) {
            Some(text) if Some(&text) != request.as_ref() => parts.push(format!("{label}: {text}")),
            Some(_) => {}
            None => {
                let items = texts(value, pointer);
                if !items.is_empty() {
                    parts.push(format!("{label}:\n- {}", items.join("\n- ")));
                }
            }
        }
    }
    parts.join("\n\n")
}

/// Returns a decision with its reason and the rejected alternatives.
fn format_decision(decision: &Value) -> String {
    let what = one(decision, "/what").or_else(|| decision.as_str().map(str::to_owned)).unwrap_or_default();
    let korean = is_korean(&what);
    let (why, rejected) = if korean { ("이유", "버린 안") } else { ("Why", "Rejected") };
    let reason = one(decision, "/why").map(|text| format!("{why}: {text}"));
    let others = texts(decision, "/rejected");
    let others = (!others.is_empty()).then(|| format!("{rejected}: {}", others.join("; ")));
    [Some(what), reason, others].into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}
