//! Reads claude-mem, schema 23 or similar: observations and summaries written by a model, and prompts. A project is
//! named by the base name of its folder.

use std::collections::HashMap;
use std::path::Path;

use anyhow::Result;

use super::database::{Database, Row as Record, RowTime as _};
use super::normalize::{TURN, TURN_IMPORTANCE};
use super::sink::{Row, Sink};
use super::system::{DefaultLocation, Root, System};
use crate::import::line::{Line, title_of};
use throughline_model::said_by::SaidBy;

/// The system as commands see it.
pub(super) static SYSTEM: System = System {
    name: "claude-mem",
    about: "Schema 23 and similar ones",
    places: &["~/.claude-mem/claude-mem.db"],
    locations: &[DefaultLocation { root: Root::Home, folder: ".claude-mem", files: &["claude-mem.db"] }],
    instead: &[],
    takes_all_markdown: false,
    has_own_project: true,
    read,
};

const SESSIONS: &str = "sdk_sessions";
const OBSERVATIONS: &str = "observations";
const SUMMARIES: &str = "session_summaries";
const PROMPTS: &str = "user_prompts";

/// The columns of a summary, and their labels.
const SUMMARY_COLUMNS: [(&str, &str); 6] = [
    ("request", "Request"),
    ("investigated", "Investigated"),
    ("learned", "Learned"),
    ("completed", "Completed"),
    ("next_steps", "Next steps"),
    ("notes", "Notes"),
];

/// The agent's session identifiers and their projects, by both identifiers that claude-mem has for a session.
type Sessions = HashMap<String, (String, Option<String>)>;

fn read(source: &Path, sink: &mut Sink<'_>) -> Result<()> {
    let database = match Database::open(source) {
        Ok(database) => database,
        Err(why) => {
            sink.fail("", "", why);
            return Ok(());
        }
    };
    if ![OBSERVATIONS, SUMMARIES, PROMPTS].iter().any(|table| database.has(table)) {
        sink.fail("", "", "it has none of claude-mem's tables");
        return Ok(());
    }
    let sessions = sessions(&database, sink)?;
    prompts(&database, sink, &sessions)?;
    each(&database, sink, OBSERVATIONS, &OBSERVATION_ROW, |sink, row| {
        let line = observation(row);
        add_line(&database, sink, &sessions, OBSERVATIONS, "memory_session_id", row, line)
    })?;
    each(&database, sink, SUMMARIES, &SUMMARY_ROW, |sink, row| {
        let line = summary(row);
        add_line(&database, sink, &sessions, SUMMARIES, "memory_session_id", row, line)
    })?;
    sink.skip("pending_messages", "not processed yet, and contained in the transcripts", database.count("pending_messages"));
    Ok(())
}

const OBSERVATION_ROW: [&str; 14] = [
    "id",
    "memory_session_id",
    "project",
    "text",
    "type",
    "title",
    "subtitle",
    "facts",
    "narrative",
    "concepts",
    "files_read",
    "files_modified",
    "created_at",
    "created_at_epoch",
];

const SUMMARY_ROW: [&str; 13] = [
    "id",
    "memory_session_id",
    "project",
    "request",
    "investigated",
    "learned",
    "completed",
    "next_steps",
    "notes",
    "files_read",
    "files_edited",
    "created_at",
    "created_at_epoch",
];

/// Reads the table of sessions.
fn sessions(database: &Database, sink: &mut Sink<'_>) -> Result<Sessions> {
    let mut sessions = Sessions::new();
    each(database, sink, SESSIONS, &["content_session_id", "memory_session_id", "project"], |sink, row| {
        sink.skip(SESSIONS, "only assigns other rows to a project", 1);
        let names = [row.text("content_session_id"), row.text("memory_session_id")];
        if let Some(own) = names.iter().flatten().next().cloned() {
            for name in names.into_iter().flatten() {
                sessions.insert(name, (own.clone(), row.text("project")));
            }
        }
        Ok(())
    })?;
    Ok(sessions)
}

/// Imports the user's prompts.
fn prompts(database: &Database, sink: &mut Sink<'_>, sessions: &Sessions) -> Result<()> {
    let columns = ["id", "content_session_id", "prompt_text", "created_at", "created_at_epoch"];
    each(database, sink, PROMPTS, &columns, |sink, row| {
        let content = match row.content("prompt_text") {
            Ok(content) => content.unwrap_or_default(),
            Err(reason) => {
                sink.fail(PROMPTS, &format!("row {}", row.number), reason);
                return Ok(());
            }
        };
        let line = Line {
            id: Some(format!("prompt:{}", row.id())),
            kind: TURN.into(),
            title: title_of(&content),
            content,
            importance: TURN_IMPORTANCE,
            said_by: Some(SaidBy::Human),
            ..Line::default()
        };
        add_line(database, sink, sessions, PROMPTS, "content_session_id", row, line)
    })
}

fn each(
    database: &Database,
    sink: &mut Sink<'_>,
    table: &'static str,
    columns: &[&'static str],
    mut visit: impl FnMut(&mut Sink<'_>, &Record) -> Result<()>,
) -> Result<()> {
    if !database.has(table) {
        return Ok(());
    }
    for reason in database.rows(table, columns, |row| visit(sink, &row))? {
        sink.fail(table, "", reason);
    }
    Ok(())
}

/// Completes a line with project, session and time, and passes it on.
fn add_line(
    database: &Database,
    sink: &mut Sink<'_>,
    sessions: &Sessions,
    table: &'static str,
    session: &str,
    row: &Record,
    line: Line,
) -> Result<()> {
    let named = row.text(session).unwrap_or_default();
    let known = sessions.get(&named);
    let project = row.text("project").or_else(|| known.and_then(|(_, project)| project.clone()));
    let line = Line {
        project: sink.base_name(project),
        session: known.map_or(named, |(own, _)| own.clone()),
        created: row.time("created_at_epoch").or_else(|| row.time("created_at")).or(database.modified),
        ..line
    };
    sink.add_memory(Row { what: table, place: format!("row {}", row.number), line })
}

/// Converts an observation. Fixes, decisions and discoveries keep their type; other observations, about what was built
/// or changed, become turns, which only search finds.
fn observation(row: &Record) -> Line {
    let kind = match row.text("type").unwrap_or_default().as_str() {
        "decision" => "decision",
        "bugfix" => "error_fix",
        "discovery" => "discovery",
        _ => TURN,
    };
    let title = row.text("title").or_else(|| row.text("subtitle")).unwrap_or_default();
    let facts = row.list("facts");
    let facts = facts.iter().map(|fact| format!("- {}", fact.trim())).collect::<Vec<_>>().join("\n");
    let told = [row.text("subtitle"), row.text("narrative"), row.text("text"), Some(facts)];
    let mut parts: Vec<String> = told.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    parts.dedup();
    if parts.is_empty() {
        parts.push(title.clone());
    }
    let content = parts.join("\n\n");
    let mut files = row.list("files_modified");
    files.extend(row.list("files_read"));
    Line {
        id: Some(format!("observation:{}", row.id())),
        kind: kind.into(),
        title: if title.is_empty() { title_of(&content) } else { title },
        content,
        keywords: row.list("concepts"),
        files,
        importance: if kind == TURN { TURN_IMPORTANCE } else { 0.5 },
        said_by: Some(SaidBy::Agent),
        ..Line::default()
    }
}

fn summary(row: &Record) -> Line {
    let told: Vec<String> = SUMMARY_COLUMNS
        .iter()
        .filter_map(|(column, label)| row.text(column).map(|text| format!("{label}: {text}")))
        .collect();
    let title = ["completed", "request", "learned"].iter().find_map(|column| row.text(column)).unwrap_or_default();
    let mut files = row.list("files_edited");
    files.extend(row.list("files_read"));
    Line {
        id: Some(format!("summary:{}", row.id())),
        kind: "session_summary".into(),
        title: title_of(&title),
        content: told.join("\n\n"),
        files,
        importance: 0.5,
        said_by: Some(SaidBy::Agent),
        ..Line::default()
    }
}
