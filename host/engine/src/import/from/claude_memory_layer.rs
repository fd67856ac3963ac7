//! Reads claude-memory-layer (before: code-memory): a database for each project, below a folder that is named after a hash of the
//! project's path. Its table of sessions names the path.

use std::collections::HashMap;
use std::path::Path;

use anyhow::Result;
use serde_json::Value;

use super::database::{Database, ForeignError, Row as Record, RowTime as _};
use super::normalize::{TURN, TURN_IMPORTANCE};
use super::sink::{Row, Sink};
use super::system::{DefaultLocation, Root, System};
use super::threads;
use super::turns::{self, Entry, Role, Turn, Turns};
use crate::import::line::{Line, title_of};
use throughline_model::contract::{SessionNotes, Timestamp};
use throughline_model::said_by::SaidBy;
use throughline_store::SessionUpdate;

/// The system as commands see it.
pub(super) static SYSTEM: System = System {
    name: "claude-memory-layer",
    about: "Its SQLite databases (version 2); the DuckDB files of code-memory are not read",
    places: &["~/.claude-code/memory/events.sqlite", "~/.claude-code/memory/projects/*/events.sqlite"],
    locations: &[DefaultLocation {
        root: Root::Home,
        folder: ".claude-code/memory",
        files: &["events.sqlite", "projects/*/events.sqlite"],
    }],
    instead: &[],
    takes_all_markdown: false,
    has_own_project: true,
    read,
};

/// The table of what happened.
const EVENTS: &str = "events";

/// A session as its table describes it, with what its events add.
#[derive(Default)]
struct Session {
    project: Option<String>,
    summary: String,
    started: Option<Timestamp>,
    ended: Option<Timestamp>,
    tags: Vec<String>,
    asked: String,
    answered: String,
    turns: u32,
}

fn read(source: &Path, sink: &mut Sink<'_>) -> Result<()> {
    let database = match Database::open(source) {
        Ok(database) if database.has(EVENTS) => database,
        Ok(_) => {
            sink.fail("", "", "it has none of claude-memory-layer's tables");
            return Ok(());
        }
        Err(why) => {
            sink.fail("", "", why);
            return Ok(());
        }
    };
    let mut sessions = sessions(&database, sink)?;
    // All sessions of such a database are of one project, and its other tables name none.
    let mut folders: Vec<&String> = sessions.values().filter_map(|session| session.project.as_ref()).collect();
    folders.sort();
    folders.dedup();
    let project = if let [folder] = folders[..] { Some(folder.clone()) } else { None };
    let project = sink.folder(project);
    events(&database, sink, &mut sessions, project.as_deref())?;
    derived(&database, sink, project.as_deref())?;
    sink.skip("event_dedup", "an index of the events", database.count("event_dedup"));
    let mut ids: Vec<&String> = sessions.keys().collect();
    ids.sort();
    for id in ids {
        let session = &sessions[id];
        let mut notes = threads::notes_of(&session.summary);
        if notes.original_request.is_empty() {
            notes.original_request = title_of(&session.asked);
        }
        if notes.outcome.is_empty() {
            notes.outcome = title_of(&session.answered);
        }
        let notes = SessionNotes { started: session.started, ended: session.ended, turns: session.turns, ..notes };
        let update = SessionUpdate {
            id: id.clone(),
            summary: session.summary.clone(),
            topics: session.tags.clone(),
            notes,
            ..SessionUpdate::default()
        };
        sink.add_session(session.project.as_deref().or(project.as_deref()), update)?;
    }
    Ok(())
}

fn sessions(database: &Database, sink: &mut Sink<'_>) -> Result<HashMap<String, Session>> {
    const TABLE: &str = "sessions";
    let mut sessions = HashMap::new();
    if !database.has(TABLE) {
        return Ok(sessions);
    }
    let broken = database.rows(TABLE, &["id", "started_at", "ended_at", "project_path", "summary", "tags"], |row| {
        let session = Session {
            project: row.text("project_path").filter(|path| path.starts_with('/')),
            summary: row.content("summary").ok().flatten().unwrap_or_default(),
            started: row.time("started_at"),
            ended: row.time("ended_at").or_else(|| row.time("started_at")),
            tags: row.list("tags"),
            ..Session::default()
        };
        let line = Line {
            id: Some(format!("session:{}", row.id())),
            project: sink.folder(session.project.clone()),
            session: row.id(),
            kind: "session_summary".into(),
            title: title_of(&session.summary),
            content: session.summary.clone(),
            keywords: session.tags.clone(),
            importance: 0.5,
            created: session.ended.or(database.modified),
            said_by: Some(SaidBy::Agent),
            ..Line::default()
        };
        sessions.insert(row.id(), session);
        sink.add_memory(Row { what: TABLE, place: format!("row {}", row.number), line })
    })?;
    for reason in broken {
        sink.fail(TABLE, "", reason);
    }
    Ok(sessions)
}

/// Returns the text of an event: the design kept it in a JSON payload.
fn text_of(row: &Record) -> Result<Option<String>, ForeignError> {
    if let Some(text) = row.content("content")? {
        return Ok(Some(text));
    }
    let Some(payload) = row.content("payload_json")? else { return Ok(None) };
    let payload: Value = serde_json::from_str(&payload).map_err(|_| ForeignError::NotJson("payload"))?;
    let names = ["content", "prompt", "response", "summary", "text"];
    Ok(names.iter().find_map(|name| payload[*name].as_str()).map(str::to_owned))
}

const COLUMNS: [&str; 8] = ["id", "event_id", "event_type", "session_id", "timestamp", "content", "payload_json", "turn_id"];

fn id_of(row: &Record) -> String {
    row.text("id").or_else(|| row.text("event_id")).unwrap_or_else(|| row.number.to_string())
}

fn events(
    database: &Database,
    sink: &mut Sink<'_>,
    sessions: &mut HashMap<String, Session>,
    project: Option<&str>,
) -> Result<()> {
    let mut all = Turns::default();
    let broken = database.rows(EVENTS, &COLUMNS, |row| {
        let (place, session) = (format!("row {}", row.number), row.text("session_id").unwrap_or_default());
        let role = match row.text("event_type").unwrap_or_default().as_str() {
            "user_prompt" => Role::Prompt,
            "agent_response" | "assistant_response" => Role::Answer,
            "session_summary" => {
                return summary(sink, sessions, project, &row, &session, &place);
            }
            "tool_observation" => {
                sink.skip(EVENTS, "what tools did: `throughline ingest` reads it from the transcripts", 1);
                return Ok(());
            }
            _ => {
                sink.skip(EVENTS, "an event without a text to remember", 1);
                return Ok(());
            }
        };
        all.add(session, Entry { role, number: row.number, id: id_of(&row), at: row.time("timestamp"), prompt: None });
        Ok(())
    })?;
    for reason in broken {
        sink.fail(EVENTS, "", reason);
    }
    for (session, turns) in all.pair() {
        for turn in turns {
            one(database, sink, sessions, project, &session, &turn)?;
        }
    }
    Ok(())
}

fn summary(
    sink: &mut Sink<'_>,
    sessions: &mut HashMap<String, Session>,
    project: Option<&str>,
    row: &Record,
    session: &str,
    place: &str,
) -> Result<()> {
    let content = match text_of(row) {
        Ok(content) => content.unwrap_or_default(),
        Err(reason) => {
            sink.fail(EVENTS, place, reason);
            return Ok(());
        }
    };
    let known = sessions.entry(session.to_owned()).or_default();
    known.ended = known.ended.max(row.time("timestamp"));
    known.summary.clone_from(&content);
    let line = Line {
        id: Some(format!("event:{}", id_of(row))),
        project: known.project.clone().or_else(|| project.map(str::to_owned)),
        session: session.to_owned(),
        kind: "session_summary".into(),
        title: title_of(&content),
        content,
        importance: 0.5,
        created: row.time("timestamp"),
        said_by: Some(SaidBy::Agent),
        ..Line::default()
    };
    sink.add_memory(Row { what: EVENTS, place: place.to_owned(), line })
}

fn one(
    database: &Database,
    sink: &mut Sink<'_>,
    sessions: &mut HashMap<String, Session>,
    project: Option<&str>,
    session: &str,
    turn: &Turn,
) -> Result<()> {
    let mut parts: Vec<(Role, String)> = Vec::new();
    for entry in turn.entries() {
        match database.row(EVENTS, &COLUMNS, entry.number).and_then(|row| row.map_or(Ok(None), |row| text_of(&row))) {
            Ok(Some(text)) => parts.push((entry.role, text)),
            Ok(None) => sink.skip(EVENTS, "empty", 1),
            Err(reason) => sink.fail(EVENTS, &format!("row {}", entry.number), reason),
        }
    }
    let (Some(first), Some((_, title))) = (turn.entries().next(), parts.first()) else { return Ok(()) };
    if sink.is_read(session)? {
        sink.skip(EVENTS, "its session was read from the transcript", parts.len() as u64);
        return Ok(());
    }
    for _ in 1..parts.len() {
        sink.count_merged(EVENTS);
    }
    let known = sessions.entry(session.to_owned()).or_default();
    known.started = known.started.or(first.at);
    known.ended = known.ended.max(turn.entries().filter_map(|entry| entry.at).max());
    for (role, text) in &parts {
        match role {
            Role::Prompt => {
                known.turns += 1;
                if known.asked.is_empty() {
                    known.asked.clone_from(text);
                }
            }
            _ => known.answered.clone_from(text),
        }
    }
    let line = Line {
        id: Some(format!("event:{}", first.id)),
        project: known.project.clone().or_else(|| project.map(str::to_owned)),
        session: session.to_owned(),
        kind: TURN.into(),
        title: title_of(title),
        content: parts.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n\n"),
        importance: TURN_IMPORTANCE,
        created: first.at.or(database.modified),
        said_by: turns::said_by(&parts.iter().map(|(role, _)| *role).collect::<Vec<_>>()),
        ..Line::default()
    };
    sink.add_memory(Row { what: EVENTS, place: format!("row {}", first.number), line })
}

/// Reads what the system derived from events: insights, consolidated memories and entries.
fn derived(database: &Database, sink: &mut Sink<'_>, project: Option<&str>) -> Result<()> {
    type Parse = fn(&Record) -> Result<(String, String, Option<Timestamp>), ForeignError>;
    let tables: [(&str, &[&'static str], Parse); 3] = [
        ("insights", &["id", "insight_type", "content", "created_at", "last_updated"], |row| {
            let kind = if row.text("insight_type").as_deref() == Some("preference") { "preference" } else { "learning" };
            let content = row.content("content")?.unwrap_or_default();
            Ok((kind.into(), content, row.time("last_updated").or_else(|| row.time("created_at"))))
        }),
        ("consolidated_memories", &["memory_id", "summary", "created_at"], |row| {
            Ok(("learning".into(), row.content("summary")?.unwrap_or_default(), row.time("created_at")))
        }),
        ("entries", &["entry_id", "created_ts", "entry_type", "title", "content_json", "status"], |row| {
            if row.text("status").is_some_and(|status| status != "active") {
                return Ok((String::new(), String::new(), None));
            }
            let content = row.content("content_json")?.unwrap_or_default();
            let value: Value = serde_json::from_str(&content).map_err(|_| ForeignError::NotJson("content"))?;
            let mut texts = row.text("title").into_iter().collect::<Vec<_>>();
            strings(&value, &mut texts);
            texts.dedup();
            Ok((row.text("entry_type").unwrap_or_default(), texts.join("\n"), row.time("created_ts")))
        }),
    ];
    for (table, columns, parse) in tables {
        if !database.has(table) {
            continue;
        }
        let broken = database.rows(table, columns, |row| {
            let place = format!("row {}", row.number);
            let (kind, content, at) = match parse(&row) {
                Ok(parsed) => parsed,
                Err(reason) => {
                    sink.fail(table, &place, reason);
                    return Ok(());
                }
            };
            let id = columns.first().and_then(|column| row.text(column)).unwrap_or_else(|| row.number.to_string());
            let line = Line {
                id: Some(format!("{table}:{id}")),
                project: project.map(str::to_owned),
                kind,
                title: title_of(&content),
                content,
                importance: 0.5,
                created: at.or(database.modified),
                said_by: Some(SaidBy::Agent),
                ..Line::default()
            };
            sink.add_memory(Row { what: table, place, line })
        })?;
        for reason in broken {
            sink.fail(table, "", reason);
        }
    }
    Ok(())
}

/// Collects the strings of a value.
fn strings(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::String(text) => into.extend(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
        Value::Array(values) => values.iter().for_each(|value| strings(value, into)),
        Value::Object(fields) => fields.values().for_each(|value| strings(value, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
