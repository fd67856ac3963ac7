//! Reads the memory of jikime-adk: a database in each project, in three schema versions, and Markdown files beside it
//! with days and sections.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;

use super::database::{Database, Row as Record, RowTime as _};
use super::input::{MAX_FILE_BYTES, enclosing_project, read_text, short_hash};
use super::markdown::{self, Section};
use super::normalize::{TURN, TURN_IMPORTANCE};
use super::sink::{Row, Sink};
use super::system::{DefaultLocation, Root, System};
use super::threads;
use super::turns::{self, Entry, Role, Turn, Turns};
use crate::import::line::{Line, cut, title_of};
use crate::text::one_line;
use throughline_model::contract::{Change, SessionNotes, Timestamp};
use throughline_model::digest::sha256_parts;
use throughline_model::said_by::SaidBy;
use throughline_store::SessionUpdate;

/// The system as commands see it.
pub(super) static SYSTEM: System = System {
    name: "jikime-adk",
    about: "The memory of jikime-adk 0.5 to 0.9.2",
    places: &[".jikime/memory/ in this and all known projects"],
    locations: &[DefaultLocation { root: Root::Project, folder: ".jikime/memory", files: &["memory.db"] }],
    // If the database is gone, the files beside it are still found.
    instead: &["MEMORY.md", "*-*-*.md"],
    takes_all_markdown: false,
    has_own_project: true,
    read,
};

/// The longest line about a tool call, characters.
const MAX_USE_CHARS: usize = 300;

/// Words in the headings of its Markdown files, and the types they stand for.
const HEADINGS: [(&str, &str); 4] =
    [("error fix", "error_fix"), ("session summary", "session_summary"), ("decision", "decision"), ("learning", "learning")];

fn read(source: &Path, sink: &mut Sink<'_>) -> Result<()> {
    let project = enclosing_project(source, ".jikime");
    let mut contents = HashSet::new();
    if source.is_file() {
        match Database::open(source) {
            Ok(database) if database.has("memories") || database.has("session_history") => {
                let mut threads = HashMap::new();
                memories(&database, sink, project.as_deref(), &mut contents, &mut threads)?;
                knowledge(&database, sink, project.as_deref(), &mut contents)?;
                history(&database, sink, project.as_deref(), &mut contents, &mut threads)?;
                for (session, thread) in threads {
                    thread.store(session, sink)?;
                }
                sink.skip("chunks", "an index of the Markdown beside it", database.count("chunks"));
                sink.skip("embedding_cache", "vectors of another model", database.count("embedding_cache"));
            }
            Ok(_) => sink.fail("", "", "it has none of jikime-adk's tables"),
            Err(why) => sink.fail("", "", why),
        }
    }
    for file in markdown_beside(source) {
        sections(&file, sink, project.as_deref(), &contents)?;
    }
    Ok(())
}

/// What is known of a session.
#[derive(Default)]
struct Thread {
    project: Option<String>,
    /// The first prompt, and the last answer.
    asked: String,
    answered: String,
    turns: u32,
    started: Option<Timestamp>,
    ended: Option<Timestamp>,
    summary: String,
    topics: Vec<String>,
    files: Vec<String>,
    model: Option<String>,
}

impl Thread {
    /// Adds a moment at which the session was running.
    fn was_at(&mut self, at: Option<Timestamp>) {
        self.started = self.started.into_iter().chain(at).min();
        self.ended = self.ended.max(at);
    }

    fn store(self, id: String, sink: &mut Sink<'_>) -> Result<()> {
        let mut notes = threads::notes_of(&self.summary);
        if notes.original_request.is_empty() {
            notes.original_request = title_of(&self.asked);
        }
        if notes.outcome.is_empty() {
            notes.outcome = title_of(&self.answered);
        }
        let notes = SessionNotes {
            started: self.started,
            ended: self.ended,
            turns: self.turns,
            changes: self.files.into_iter().map(|path| Change { path, ..Change::default() }).collect(),
            ..notes
        };
        let (summary, topics, model) = (self.summary, self.topics, self.model);
        let update = SessionUpdate { id, model, notes, summary, topics, ..SessionUpdate::default() };
        sink.add_session(self.project.as_deref(), update)
    }
}

/// The sessions of a database.
type Threads = HashMap<String, Thread>;

/// Returns a hash that identifies a text: the database and the Markdown may differ in white space.
fn content_hash(content: &str) -> [u8; 32] {
    sha256_parts(&[&one_line(content)])
}

fn memories(
    database: &Database,
    sink: &mut Sink<'_>,
    project: Option<&str>,
    contents: &mut HashSet<[u8; 32]>,
    threads: &mut Threads,
) -> Result<()> {
    const TABLE: &str = "memories";
    if !database.has(TABLE) {
        return Ok(());
    }
    let mut all = Turns::default();
    let columns = ["id", "session_id", "project_dir", "type", "content", "created_at"];
    let broken = database.rows(TABLE, &columns, |row| {
        let (place, kind) = (format!("row {}", row.number), row.text("type").unwrap_or_default());
        let session = row.text("session_id").unwrap_or_default();
        let role = match kind.as_str() {
            "user_prompt" => Some(Role::Prompt),
            "assistant_response" => Some(Role::Answer),
            "tool_usage" => Some(Role::Use),
            _ => None,
        };
        if let Some(role) = role {
            let entry = Entry { role, number: row.number, id: row.id(), at: row.time("created_at"), prompt: None };
            all.add(session, entry);
            return Ok(());
        }
        let content = match row.content("content") {
            Ok(content) => content.unwrap_or_default(),
            Err(reason) => {
                sink.fail(TABLE, &place, reason);
                return Ok(());
            }
        };
        contents.insert(content_hash(&content));
        let importance = match kind.as_str() {
            "decision" | "error_fix" => 0.6,
            _ => 0.5,
        };
        let line = Line {
            id: Some(format!("memory:{}", row.id())),
            project: sink.folder(row.text("project_dir").or_else(|| project.map(str::to_owned))),
            session,
            title: title_of(&content),
            kind,
            content,
            importance,
            created: row.time("created_at").or(database.modified),
            ..Line::default()
        };
        sink.add_memory(Row { what: TABLE, place, line })
    })?;
    for reason in broken {
        sink.fail(TABLE, "", reason);
    }
    for (session, turns) in all.pair() {
        for turn in turns {
            one(database, sink, &session, project, &turn, threads)?;
        }
    }
    Ok(())
}

fn one(
    database: &Database,
    sink: &mut Sink<'_>,
    session: &str,
    project: Option<&str>,
    turn: &Turn,
    threads: &mut Threads,
) -> Result<()> {
    const TABLE: &str = "memories";
    let thread = threads.entry(session.to_owned()).or_default();
    let mut roles = Vec::new();
    let mut lead: Option<(&Entry, Record)> = None;
    let mut parts: Vec<String> = Vec::new();
    for entry in turn.entries() {
        let place = format!("row {}", entry.number);
        let row = match database.row(TABLE, &["id", "content", "project_dir"], entry.number) {
            Ok(Some(row)) => row,
            Ok(None) => continue,
            Err(reason) => {
                sink.fail(TABLE, &place, reason);
                continue;
            }
        };
        match row.content("content") {
            Ok(Some(text)) => {
                let text = match entry.role {
                    Role::Use => cut(&one_line(&text), MAX_USE_CHARS).to_owned(),
                    Role::Prompt | Role::Answer => text,
                };
                roles.push(entry.role);
                thread.was_at(entry.at);
                match entry.role {
                    Role::Prompt => {
                        thread.turns += 1;
                        if thread.asked.is_empty() {
                            thread.asked.clone_from(&text);
                        }
                    }
                    Role::Answer => thread.answered.clone_from(&text),
                    Role::Use => {}
                }
                parts.push(text);
                if lead.is_none() {
                    lead = Some((entry, row));
                }
            }
            Ok(None) => sink.skip(TABLE, "empty", 1),
            Err(reason) => sink.fail(TABLE, &place, reason),
        }
    }
    let Some((entry, row)) = lead else { return Ok(()) };
    let folder = sink.folder(row.text("project_dir").or_else(|| project.map(str::to_owned)));
    thread.project = thread.project.take().or_else(|| folder.clone());
    if sink.is_read(session)? {
        sink.skip(TABLE, "its session was read from the transcript", parts.len() as u64);
        return Ok(());
    }
    for _ in 1..parts.len() {
        sink.count_merged(TABLE);
    }
    let line = Line {
        id: Some(format!("memory:{}", row.id())),
        project: folder,
        session: session.to_owned(),
        kind: TURN.into(),
        title: title_of(&parts[0]),
        content: parts.join("\n\n"),
        importance: TURN_IMPORTANCE,
        created: entry.at.or(database.modified),
        said_by: turns::said_by(&roles),
        ..Line::default()
    };
    sink.add_memory(Row { what: TABLE, place: format!("row {}", entry.number), line })
}

fn knowledge(
    database: &Database,
    sink: &mut Sink<'_>,
    project: Option<&str>,
    contents: &mut HashSet<[u8; 32]>,
) -> Result<()> {
    const TABLE: &str = "project_knowledge";
    if !database.has(TABLE) {
        return Ok(());
    }
    let columns = ["id", "project_dir", "file_path", "knowledge_type", "content", "created_at", "updated_at"];
    let broken = database.rows(TABLE, &columns, |row| {
        let place = format!("row {}", row.number);
        let content = match row.content("content") {
            Ok(content) => content.unwrap_or_default(),
            Err(reason) => {
                sink.fail(TABLE, &place, reason);
                return Ok(());
            }
        };
        contents.insert(content_hash(&content));
        let line = Line {
            id: Some(format!("knowledge:{}", row.id())),
            project: sink.folder(row.text("project_dir").or_else(|| project.map(str::to_owned))),
            kind: row.text("knowledge_type").unwrap_or_else(|| "learning".into()),
            title: title_of(&content),
            content,
            files: row.text("file_path").into_iter().collect(),
            importance: 0.5,
            created: row.time("updated_at").or_else(|| row.time("created_at")).or(database.modified),
            ..Line::default()
        };
        sink.add_memory(Row { what: TABLE, place, line })
    })?;
    for reason in broken {
        sink.fail(TABLE, "", reason);
    }
    Ok(())
}

fn history(
    database: &Database,
    sink: &mut Sink<'_>,
    project: Option<&str>,
    contents: &mut HashSet<[u8; 32]>,
    threads: &mut Threads,
) -> Result<()> {
    const TABLE: &str = "session_history";
    if !database.has(TABLE) {
        return Ok(());
    }
    let columns = ["session_id", "project_dir", "started_at", "ended_at", "summary", "topics", "files_modified", "model"];
    let broken = database.rows(TABLE, &columns, |row| {
        let place = format!("row {}", row.number);
        let content = match row.content("summary") {
            Ok(content) => content.unwrap_or_default(),
            Err(reason) => {
                sink.fail(TABLE, &place, reason);
                return Ok(());
            }
        };
        contents.insert(content_hash(&content));
        let session = row.text("session_id").unwrap_or_default();
        let folder = sink.folder(row.text("project_dir").or_else(|| project.map(str::to_owned)));
        let thread = threads.entry(session.clone()).or_default();
        for at in [row.time("started_at"), row.time("ended_at")] {
            thread.was_at(at);
        }
        thread.project.clone_from(&folder);
        thread.summary.clone_from(&content);
        (thread.topics, thread.files) = (row.list("topics"), row.list("files_modified"));
        thread.model = row.text("model");
        let line = Line {
            id: Some(format!("session:{session}")),
            project: folder,
            kind: "session_summary".into(),
            title: title_of(&content),
            content,
            keywords: row.list("topics"),
            files: row.list("files_modified"),
            importance: 0.5,
            created: row.time("ended_at").or_else(|| row.time("started_at")).or(database.modified),
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

/// Returns `MEMORY.md` and the daily files in the folder of the database.
fn markdown_beside(source: &Path) -> Vec<PathBuf> {
    let folder = if source.is_dir() { Some(source) } else { source.parent() };
    let entries = folder.and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let is_ours = |path: &PathBuf| path.is_file() && (is_memory(path) || day_of(path).is_some());
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_ours).collect();
    files.sort();
    files
}

fn is_memory(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "MEMORY.md")
}

fn day_of(path: &Path) -> Option<Date> {
    if path.extension()? != "md" {
        return None;
    }
    path.file_stem()?.to_str()?.parse().ok()
}

/// Reads the sections of a file that are not in the database.
fn sections(file: &Path, sink: &mut Sink<'_>, project: Option<&str>, contents: &HashSet<[u8; 32]>) -> Result<()> {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (text, modified) = match read_text(file, MAX_FILE_BYTES) {
        Ok(read) => read,
        Err(reason) => {
            sink.fail(&name, "", reason);
            return Ok(());
        }
    };
    let day = day_of(file);
    for section in markdown::sections(&text, 2) {
        let place = format!("line {}", section.line);
        let heading = section.heading.to_lowercase();
        let kind = HEADINGS.iter().find(|(name, _)| heading.contains(name)).map(|(_, kind)| *kind);
        // A day's other sections are a record of prompts, which are in the table too. Everything in `MEMORY.md` was put
        // there on purpose.
        let Some(kind) = kind.or(day.is_none().then_some("learning")) else {
            sink.skip(&name, "a record of the day, also in the table", 1);
            continue;
        };
        let content = section.body.trim();
        if content.is_empty() {
            sink.skip(&name, "empty", 1);
            continue;
        }
        if contents.contains(&content_hash(content)) {
            sink.skip(&name, "also in the table", 1);
            continue;
        }
        let line = Line {
            id: Some(format!("{name}:{}", short_hash(&[&section.heading, content]))),
            project: sink.folder(project.map(str::to_owned)),
            kind: kind.into(),
            title: title_of(content),
            content: content.to_owned(),
            importance: 0.5,
            created: day.and_then(|day| parse_time(day, &section)).or(modified),
            ..Line::default()
        };
        sink.add_memory(Row { what: &name, place, line })?;
    }
    Ok(())
}

/// Returns the day with the time of day in the heading, in this machine's time zone, as its author wrote it.
fn parse_time(day: Date, section: &Section) -> Option<Timestamp> {
    let words = section.heading.split(|c: char| !c.is_ascii_digit() && c != ':');
    let time = words.filter(|word| word.contains(':')).find_map(|word| word.parse::<Time>().ok()).unwrap_or_default();
    let zoned = day.to_datetime(time).to_zoned(TimeZone::system()).ok()?;
    Timestamp::try_from(zoned.timestamp().as_millisecond()).ok()
}
