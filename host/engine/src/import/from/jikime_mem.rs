//! Reads jikime-mem: prompts, answers and tool calls of each session, and summaries. Its schema took over ten forms,
//! some without any migration to the next, so the existing tables and columns decide what is read.

use std::collections::HashMap;
use std::path::Path;

use anyhow::Result;
use serde_json::Value;

use super::database::{Database, ForeignError, Row as Record, RowTime as _};
use super::input::read_text;
use super::normalize::{TURN, TURN_IMPORTANCE};
use super::sink::{Row, Sink};
use super::system::{DefaultLocation, Root, System};
use super::turns::{self, Entry, Role, Turn, Turns};
use crate::import::line::{Line, cut, title_of};
use crate::text::one_line;
use throughline_model::contract::Timestamp;
use throughline_model::said_by::SaidBy;

/// The system as commands see it.
pub(super) static SYSTEM: System = System {
    name: "jikime-mem",
    about: "All versions up to 1.5.4",
    places: &["~/.jikime-mem/jikime-mem.db", "~/.jikime-mem/projects/*/jikime-mem.db"],
    locations: &[DefaultLocation {
        root: Root::Home,
        folder: ".jikime-mem",
        files: &["jikime-mem.db", "projects/*/jikime-mem.db", "prisma/jikime-mem.db"],
    }],
    instead: &[],
    takes_all_markdown: false,
    has_own_project: true,
    read,
};

/// The largest `projects.json` that is read, bytes.
const MAX_PROJECTS_FILE_BYTES: u64 = 16 << 20;

/// The longest line about a tool call, characters.
const MAX_USE_CHARS: usize = 300;

/// The tables that make up turns, and the role of their rows.
const TABLES: [(&str, Role); 3] = [("prompts", Role::Prompt), ("observations", Role::Use), ("responses", Role::Answer)];

/// A session as the database describes it.
struct Session {
    project: Option<String>,
    started: Option<Timestamp>,
}

fn read(source: &Path, sink: &mut Sink<'_>) -> Result<()> {
    let database = match Database::open(source) {
        Ok(database) => database,
        Err(why) => {
            sink.fail("", "", why);
            return Ok(());
        }
    };
    if !TABLES.iter().any(|(table, _)| database.has(table)) && !database.has("context_summaries") {
        sink.fail("", "", "it has none of jikime-mem's tables");
        return Ok(());
    }
    let own = project_of(source);
    let sessions = sessions(&database, sink)?;
    let whose = |session: &str| sessions.get(session).and_then(|it| it.project.clone()).or_else(|| own.clone());
    turns(&database, sink, &sessions, &whose)?;
    summaries(&database, sink, &sessions, &whose)?;
    sink.skip("settings", "settings of jikime-mem", database.count("settings"));
    Ok(())
}

/// Returns the project that the database belongs to: since 1.5.0 `projects.json` maps the database's folder to it.
fn project_of(source: &Path) -> Option<String> {
    let folder = source.parent()?;
    let (text, _) = read_text(&folder.parent()?.parent()?.join("projects.json"), MAX_PROJECTS_FILE_BYTES).ok()?;
    let known: Value = serde_json::from_str(&text).ok()?;
    let path = known.get("projects")?.get(folder.file_name()?.to_str()?)?.get("path")?.as_str()?;
    Some(path.to_owned()).filter(|path| !path.trim().is_empty())
}

fn sessions(database: &Database, sink: &mut Sink<'_>) -> Result<HashMap<String, Session>> {
    let mut sessions = HashMap::new();
    if !database.has("sessions") {
        return Ok(sessions);
    }
    let columns = ["id", "session_id", "project_path", "started_at"];
    let broken = database.rows("sessions", &columns, |row| {
        let session = Session { project: row.text("project_path"), started: row.time("started_at") };
        sink.skip("sessions", "only assigns other rows to a project", 1);
        // Prisma's generation also links by `session_id`; `id` is a fallback for rows that were linked by hand.
        if let Some(id) = row.text("session_id").or_else(|| row.text("id")) {
            sessions.insert(id, session);
        }
        anyhow::Ok(())
    })?;
    for reason in broken {
        sink.fail("sessions", "", reason);
    }
    Ok(sessions)
}

fn turns(
    database: &Database,
    sink: &mut Sink<'_>,
    sessions: &HashMap<String, Session>,
    whose: &dyn Fn(&str) -> Option<String>,
) -> Result<()> {
    let mut all = Turns::default();
    for (table, role) in TABLES {
        if !database.has(table) {
            continue;
        }
        let broken = database.rows(table, &["id", "session_id", "timestamp", "prompt_id"], |row| {
            let (id, prompt) = (row.id(), row.text("prompt_id"));
            let entry = Entry { role, number: row.number, id, at: row.time("timestamp"), prompt };
            all.add(row.text("session_id").unwrap_or_default(), entry);
            anyhow::Ok(())
        })?;
        for reason in broken {
            sink.fail(table, "", reason);
        }
    }
    for (session, turns) in all.pair() {
        let project = sink.folder(whose(&session));
        let started = sessions.get(&session).and_then(|it| it.started).or(database.modified);
        for turn in turns {
            one(database, sink, &session, project.clone(), started, &turn)?;
        }
    }
    Ok(())
}

/// Imports one turn as one memory, from all its rows that can be read.
fn one(
    database: &Database,
    sink: &mut Sink<'_>,
    session: &str,
    project: Option<String>,
    started: Option<Timestamp>,
    turn: &Turn,
) -> Result<()> {
    let mut lead: Option<(&Entry, &str, String)> = None;
    let mut parts: Vec<String> = Vec::new();
    let mut files = Vec::new();
    let mut joined: Vec<&str> = Vec::new();
    let mut roles = Vec::new();
    for entry in turn.entries() {
        let table = TABLES.iter().find(|(_, role)| *role == entry.role).map_or("", |(table, _)| table);
        let part = match entry.role {
            Role::Use => used(database, entry.number, &mut files),
            Role::Prompt | Role::Answer => said(database, table, entry.number),
        };
        match part {
            Ok(Some(text)) => {
                if lead.is_none() {
                    lead = Some((entry, table, text.clone()));
                } else {
                    joined.push(table);
                }
                parts.push(text);
                roles.push(entry.role);
            }
            Ok(None) if entry.role == Role::Use => sink.skip(table, "a tool call with nothing to remember", 1),
            Ok(None) => sink.skip(table, "empty", 1),
            Err(reason) => sink.fail(table, &format!("row {}", entry.number), reason),
        }
    }
    let Some((entry, table, first)) = lead else { return Ok(()) };
    if sink.is_read(session)? {
        for table in joined.into_iter().chain([table]) {
            sink.skip(table, "its session was read from the transcript", 1);
        }
        return Ok(());
    }
    for table in joined {
        sink.count_merged(table);
    }
    let line = Line {
        id: Some(format!("{}:{}", table.trim_end_matches('s'), entry.id)),
        project,
        session: session.to_owned(),
        kind: TURN.into(),
        title: title_of(&first),
        content: parts.join("\n\n"),
        files,
        importance: TURN_IMPORTANCE,
        created: entry.at.or(started),
        said_by: turns::said_by(&roles),
        ..Line::default()
    };
    sink.add_memory(Row { what: table, place: format!("row {}", entry.number), line })
}

fn said(database: &Database, table: &str, number: i64) -> Result<Option<String>, ForeignError> {
    database.row(table, &["content"], number)?.map_or(Ok(None), |row| row.content("content"))
}

/// Returns what to keep of a tool call: the model's description if there is one, otherwise the command or the query;
/// also adds its file to `files`. Outputs and file contents are left out, as they are when transcripts are read.
fn used(database: &Database, number: i64, files: &mut Vec<String>) -> Result<Option<String>, ForeignError> {
    let Some(row) = database.row("observations", &["tool_name", "tool_input", "compressed"], number)? else {
        return Ok(None);
    };
    row.content("tool_input")?;
    let input: Value = row.text("tool_input").and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let field = |name: &str| input.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    let tool = row.text("tool_name").unwrap_or_default();
    let changes = matches!(tool.as_str(), "Edit" | "MultiEdit" | "Write" | "NotebookEdit");
    if changes {
        files.extend(field("file_path").or_else(|| field("notebook_path")).map(str::to_owned));
    }
    if let Some(told) = told(&row) {
        return Ok(Some(told));
    }
    let line = match tool.as_str() {
        "Bash" => field("command").map(|command| format!("`{}`", cut(&one_line(command), MAX_USE_CHARS))),
        "Task" | "Agent" => field("description").map(|what| cut(&one_line(what), MAX_USE_CHARS).to_owned()),
        "WebSearch" => field("query").map(|query| cut(&one_line(query), MAX_USE_CHARS).to_owned()),
        "WebFetch" => field("url").map(|url| cut(url, MAX_USE_CHARS).to_owned()),
        _ if changes => files.last().map(|file| format!("{tool} {file}")),
        _ => None,
    };
    Ok(line)
}

/// Returns a model's description of the tool call, which generations C to E stored with it.
fn told(row: &Record) -> Option<String> {
    let text = row.text("compressed")?;
    let said = match serde_json::from_str::<Value>(&text) {
        Ok(Value::Object(fields)) => {
            let words = ["title", "summary", "narrative"];
            words.iter().filter_map(|name| fields.get(*name)?.as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => text,
    };
    Some(said).filter(|said| !said.trim().is_empty())
}

/// Imports session summaries. One that a model wrote is more important than one made of counts.
fn summaries(
    database: &Database,
    sink: &mut Sink<'_>,
    sessions: &HashMap<String, Session>,
    whose: &dyn Fn(&str) -> Option<String>,
) -> Result<()> {
    const TABLE: &str = "context_summaries";
    if !database.has(TABLE) {
        return Ok(());
    }
    let columns = ["id", "session_id", "summary", "ai_summary", "created_at"];
    let broken = database.rows(TABLE, &columns, |row| {
        let place = format!("row {}", row.number);
        let (written, counted) = (row.text("ai_summary"), row.content("summary"));
        let importance = if written.is_some() { 0.6 } else { 0.3 };
        let content = match (written, counted) {
            (Some(text), _) | (None, Ok(Some(text))) => text,
            (None, Ok(None)) => {
                sink.skip(TABLE, "empty", 1);
                return Ok(());
            }
            (None, Err(reason)) => {
                sink.fail(TABLE, &place, reason);
                return Ok(());
            }
        };
        let session = row.text("session_id").unwrap_or_default();
        let started = sessions.get(&session).and_then(|it| it.started).or(database.modified);
        let line = Line {
            id: Some(format!("summary:{}", row.id())),
            project: sink.folder(whose(&session)),
            kind: "session_summary".into(),
            title: title_of(&content),
            content,
            importance,
            created: row.time("created_at").or(started),
            session,
            said_by: Some(SaidBy::Agent),
            ..Line::default()
        };
        sink.add_memory(Row { what: TABLE, place, line })
    })?;
    for reason in broken {
        sink.fail(TABLE, "", reason);
    }
    Ok(())
}
