//! Parses one line of an import: a memory, or a session or a project of an export. The JSON comes from other programs: it
//! is read leniently where the meaning is clear, and rejected with a reason where it is not.

use jiff::civil;
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::Value;

use throughline_agents::protocol::name::Agent;
use throughline_model::contract::{SessionNotes, Timestamp};
use throughline_model::said_by::SaidBy;
use throughline_search::supersession::Relation;
use throughline_store::SessionUpdate;

use crate::team::project_key::ProjectKey;

/// The longest line, bytes: the longest content with every character escaped, plus the other fields.
pub const MAX_LINE_BYTES: usize = 1 << 20;

/// The longest content, bytes. The contract sets this limit for every memory.
pub(crate) const MAX_CONTENT_BYTES: usize = 64 << 10;

/// The longest identifier of a memory or a session, bytes.
pub(crate) const MAX_ID_BYTES: usize = 128;

/// The longest project, bytes: the limit of a path on Linux.
const MAX_PROJECT_BYTES: usize = 4096;

/// The longest type, bytes: the same as for memories saved by hand.
pub(super) const MAX_TYPE_BYTES: usize = 64;

/// The longest title, characters.
pub(crate) const MAX_TITLE_CHARS: usize = 200;

/// The longest reason why a memory is wrong, characters.
pub(crate) const MAX_REASON_CHARS: usize = 1_000;

/// A title made from content that is at least this long, in characters, ends after a sentence.
const LONG_TITLE: usize = 120;

/// The most keywords, or files, of one memory.
pub(crate) const MAX_LIST: usize = 256;

/// The type of a memory that has none.
pub(crate) const DEFAULT_TYPE: &str = "learning";

/// The importance of a memory that has none: the middle.
const DEFAULT_IMPORTANCE: f32 = 0.5;

/// Numbers below this are seconds, others milliseconds: in seconds it is the year 5138, in milliseconds March 1973.
const MIN_MILLISECONDS: f64 = 1e11;

/// A parsed line.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Line {
    /// The identifier that the memory's author gave it.
    pub id: Option<String>,
    /// A folder's path, or a plain name.
    pub project: Option<String>,
    /// The session; empty if there is none.
    pub session: String,
    /// The type, a word in lower case.
    pub kind: String,
    /// The title; empty if the line has none.
    pub title: String,
    /// The text to remember.
    pub content: String,
    /// Words to find it by.
    pub keywords: Vec<String>,
    /// Files that the memory is about.
    pub files: Vec<String>,
    /// The importance, from 0 to 1.
    pub importance: f32,
    /// When the memory was learned.
    pub created: Option<Timestamp>,
    /// Who said it, if that is known.
    pub said_by: Option<SaidBy>,
    /// When a person pinned it.
    pub pinned_at: Option<Timestamp>,
    /// When a person marked it wrong.
    pub wrong_at: Option<Timestamp>,
    /// Why it is wrong.
    pub wrong_because: Option<String>,
    /// What was said of earlier memories.
    pub supersedes: Vec<LineLink>,
}

/// What a line of an export is.
#[derive(Debug)]
pub(super) enum AnyLine {
    /// A memory.
    Memory(Box<Line>),
    /// A session with its summary and notes.
    Session(Box<SessionLine>),
    /// A project: the folder that other lines name, and how it is recognized on another machine.
    Project(ProjectLine),
}

/// A session of an export.
#[derive(Debug)]
pub(super) struct SessionLine {
    /// The folder's path, or a plain name.
    pub(super) project: Option<String>,
    /// The session. Its folder is not known here.
    pub(super) session: SessionUpdate,
}

/// A project of an export.
#[derive(Debug)]
pub(super) struct ProjectLine {
    /// The folder's path where it was exported.
    pub(super) project: String,
    /// How it is recognized; `None` for a folder without a repository.
    pub(super) key: Option<ProjectKey>,
}

/// That a line's memory took the place of an earlier one, or that a person undid such a link.
#[derive(Debug, Clone, PartialEq)]
pub struct LineLink {
    /// The identifier that the earlier memory's author gave it.
    pub id: String,
    /// The earlier memory's session; empty if it has none.
    pub session: String,
    /// How the later memory relates to the earlier one.
    pub relation: Relation,
    /// When a person undid the link.
    pub undone_at: Option<Timestamp>,
}

/// The raw fields. They are parsed as any value, so that a value of the wrong type can be reported by field name, which
/// serde would not do.
#[derive(Deserialize)]
struct RawFields {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    project: Value,
    #[serde(default)]
    session_id: Value,
    #[serde(default, rename = "type")]
    kind: Value,
    #[serde(default)]
    title: Value,
    #[serde(default)]
    content: Value,
    #[serde(default)]
    keywords: Value,
    #[serde(default)]
    files: Value,
    #[serde(default)]
    importance: Value,
    #[serde(default)]
    created_at: Value,
    #[serde(default)]
    said_by: Value,
    #[serde(default)]
    pinned_at: Value,
    #[serde(default)]
    wrong_at: Value,
    #[serde(default)]
    wrong_because: Value,
    #[serde(default)]
    supersedes: Value,
    #[serde(default)]
    session: Value,
    #[serde(default)]
    project_key: Value,
}

/// The raw fields of a session.
#[derive(Deserialize)]
struct RawSession {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    agent: Value,
    #[serde(default)]
    model: Value,
    #[serde(default)]
    end_reason: Value,
    #[serde(default)]
    summary: Value,
    #[serde(default)]
    topics: Value,
    #[serde(default)]
    notes: SessionNotes,
}

/// The raw fields of a link.
#[derive(Deserialize)]
struct RawLink {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    session_id: Value,
    #[serde(default)]
    relation: Value,
    #[serde(default)]
    undone_at: Value,
}

/// Why a line cannot be used. The reason never contains text of the line, which is not redacted yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidLine {
    /// It is longer than [`MAX_LINE_BYTES`].
    #[error("it has more than {} KiB", MAX_LINE_BYTES >> 10)]
    TooLong,
    /// It is not UTF-8 from this byte on, counted from 1.
    #[error("it is not UTF-8 at byte {0}")]
    NotUtf8(usize),
    /// It is JSON of another type, or none.
    #[error("it is not a JSON object")]
    NotAnObject,
    /// Parsing it as JSON ends at this column.
    #[error("it is not valid JSON at column {0}")]
    NotJson(usize),
    /// It has no content.
    #[error("it has no content")]
    NoContent,
    /// Its content is blank.
    #[error("its content is empty")]
    EmptyContent,
    /// Its content is too long for one memory.
    #[error("its content is larger than 64 KiB; split it into several memories")]
    LongContent,
    /// A field is not a string.
    #[error("its {0} is not a string")]
    NotAString(&'static str),
    /// A field is not a list of strings.
    #[error("its {0} are not a list of strings")]
    NotAList(&'static str),
    /// A field is not a time.
    #[error("its {0} is not a time after 1970: use milliseconds, seconds, or RFC 3339")]
    NotATime(&'static str),
    /// A field is too long.
    #[error("its {field} has more than {most} bytes")]
    LongField {
        /// The field.
        field: &'static str,
        /// The most bytes that it may have.
        most: usize,
    },
    /// A list has too many items.
    #[error("it has more than {MAX_LIST} {0}")]
    LongList(&'static str),
    /// Its type is not a plain word.
    #[error("its type is not a word of ASCII letters, such as decision or learning")]
    BadType,
    /// Its importance is out of range, or no number.
    #[error("its importance is not a number from 0 to 1")]
    BadImportance,
    /// The speaker is not one that is known.
    #[error("its said_by is not human, agreed, agent or tool")]
    UnknownSpeaker,
    /// Its links to earlier memories have the wrong form, or name an unknown relation.
    #[error(
        "its supersedes are not a list of objects with an id and a relation: amends, reverses, refutes, completes or follows"
    )]
    BadLink,
    /// Its session has no identifier, or is not as an export writes it.
    #[error("its session is not an object with an id and notes, as `throughline export` writes it")]
    BadSession,
}

/// Parses a line that is a memory, or says why it cannot be used.
pub fn parse(line: &[u8]) -> Result<Line, InvalidLine> {
    memory(raw(line)?)
}

/// Parses any line of an export, or says why it cannot be used.
pub(super) fn parse_any(line: &[u8]) -> Result<AnyLine, InvalidLine> {
    let fields = raw(line)?;
    if fields.session.is_object() {
        return session(fields).map(Box::new).map(AnyLine::Session);
    }
    match (&fields.content, &fields.project_key) {
        (Value::Null, Value::String(key)) => {
            let key = ProjectKey::parse(key);
            let project = name(fields.project, "project", MAX_PROJECT_BYTES)?.ok_or(InvalidLine::NotAString("project"))?;
            Ok(AnyLine::Project(ProjectLine { project, key }))
        }
        _ => memory(fields).map(Box::new).map(AnyLine::Memory),
    }
}

fn raw(line: &[u8]) -> Result<RawFields, InvalidLine> {
    let text = std::str::from_utf8(line).map_err(|error| InvalidLine::NotUtf8(error.valid_up_to() + 1))?;
    // serde would also accept a list of the fields in order.
    if !text.starts_with('{') {
        return Err(InvalidLine::NotAnObject);
    }
    serde_json::from_str(text).map_err(|error| InvalidLine::NotJson(error.column()))
}

fn memory(fields: RawFields) -> Result<Line, InvalidLine> {
    let content = match fields.content {
        Value::String(content) if !content.trim().is_empty() => content,
        Value::String(_) => return Err(InvalidLine::EmptyContent),
        Value::Null => return Err(InvalidLine::NoContent),
        _ => return Err(InvalidLine::NotAString("content")),
    };
    if content.len() > MAX_CONTENT_BYTES {
        return Err(InvalidLine::LongContent);
    }
    Ok(Line {
        id: name(fields.id, "id", MAX_ID_BYTES)?,
        project: name(fields.project, "project", MAX_PROJECT_BYTES)?,
        session: name(fields.session_id, "session_id", MAX_ID_BYTES)?.unwrap_or_default(),
        kind: kind(fields.kind)?,
        title: string(fields.title, "title")?.map(|title| cut(title.trim(), MAX_TITLE_CHARS).to_owned()).unwrap_or_default(),
        content,
        keywords: list(fields.keywords, "keywords")?,
        files: list(fields.files, "files")?,
        importance: importance(&fields.importance)?,
        created: time(&fields.created_at, "created_at")?,
        said_by: said_by(fields.said_by)?,
        pinned_at: time(&fields.pinned_at, "pinned_at")?,
        wrong_at: time(&fields.wrong_at, "wrong_at")?,
        wrong_because: string(fields.wrong_because, "wrong_because")?
            .map(|because| cut(because.trim(), MAX_REASON_CHARS).trim().to_owned())
            .filter(|because| !because.is_empty()),
        supersedes: links(fields.supersedes)?,
    })
}

fn session(fields: RawFields) -> Result<SessionLine, InvalidLine> {
    let of: RawSession = serde_json::from_value(fields.session).map_err(|_| InvalidLine::BadSession)?;
    let agent = string(of.agent, "agent")?.and_then(|name| Agent::of(&name));
    Ok(SessionLine {
        project: name(fields.project, "project", MAX_PROJECT_BYTES)?,
        session: SessionUpdate {
            id: name(of.id, "session id", MAX_ID_BYTES)?.ok_or(InvalidLine::BadSession)?,
            cwd: String::new(),
            agent: agent.map(|agent| agent.name().to_owned()).unwrap_or_default(),
            model: string(of.model, "model")?,
            end_reason: string(of.end_reason, "end_reason")?,
            notes: of.notes,
            summary: string(of.summary, "summary")?.unwrap_or_default(),
            topics: list(of.topics, "topics")?,
        },
    })
}

/// Parses links: objects, or the identifiers of earlier memories without a session.
fn links(value: Value) -> Result<Vec<LineLink>, InvalidLine> {
    let all = match value {
        Value::Null => Vec::new(),
        Value::Array(all) => all,
        _ => return Err(InvalidLine::BadLink),
    };
    if all.len() > MAX_LIST {
        return Err(InvalidLine::LongList("supersedes"));
    }
    all.into_iter().map(link).collect()
}

fn link(value: Value) -> Result<LineLink, InvalidLine> {
    let of = match value {
        Value::String(_) | Value::Number(_) => {
            RawLink { id: value, session_id: Value::Null, relation: Value::Null, undone_at: Value::Null }
        }
        value => serde_json::from_value(value).map_err(|_| InvalidLine::BadLink)?,
    };
    let relation = match string(of.relation, "relation")? {
        None => Relation::Amends,
        Some(name) => Some(Relation::from_name(&name)).filter(|it| it.name() == name).ok_or(InvalidLine::BadLink)?,
    };
    Ok(LineLink {
        id: name(of.id, "id", MAX_ID_BYTES)?.ok_or(InvalidLine::BadLink)?,
        session: name(of.session_id, "session_id", MAX_ID_BYTES)?.unwrap_or_default(),
        relation,
        undone_at: time(&of.undone_at, "undone_at")?,
    })
}

fn said_by(value: Value) -> Result<Option<SaidBy>, InvalidLine> {
    let Some(word) = string(value, "said_by")?.filter(|word| !word.trim().is_empty()) else { return Ok(None) };
    match SaidBy::of_word(word.trim()) {
        Some(said_by) => Ok(Some(said_by)),
        None => Err(InvalidLine::UnknownSpeaker),
    }
}

/// Returns a title for a memory that has none: its first line, or the first sentences of a long first line.
pub(crate) fn title_of(content: &str) -> String {
    let line = content.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let line = line.trim_start_matches('#').trim_start();
    let start = cut(line, MAX_TITLE_CHARS);
    if cut(line, LONG_TITLE).len() == line.len() {
        return line.to_owned();
    }
    let sentence = [". ", "? ", "! ", "。", "？", "！"]
        .iter()
        .filter_map(|end| start.rfind(end).map(|at| at + end.trim_end().len()))
        .max();
    match sentence {
        Some(end) => start[..end].to_owned(),
        None if start.len() == line.len() => line.to_owned(),
        // Without sentence ends, cut at a space; scripts without spaces are cut at the limit.
        None => {
            let start = cut(start, MAX_TITLE_CHARS - 1);
            format!("{}…", start.rfind(' ').map_or(start, |space| &start[..space]))
        }
    }
}

/// Returns the first `most` characters.
pub(crate) fn cut(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

fn string(value: Value, field: &'static str) -> Result<Option<String>, InvalidLine> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text)),
        _ => Err(InvalidLine::NotAString(field)),
    }
}

/// Parses an identifier: a string, or a number, as databases often use. An empty one is `None`.
fn name(value: Value, field: &'static str, most: usize) -> Result<Option<String>, InvalidLine> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        value => string(value, field)?.unwrap_or_default(),
    };
    if text.len() > most {
        return Err(InvalidLine::LongField { field, most });
    }
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}

/// Parses a type into lower case; `Error Fix` becomes `error_fix`.
fn kind(value: Value) -> Result<String, InvalidLine> {
    let Some(kind) = string(value, "type")? else { return Ok(DEFAULT_TYPE.into()) };
    plain_type(&kind).ok_or(InvalidLine::BadType)
}

/// Returns the type as it is stored, or `None` if it cannot be turned into a word of ASCII letters.
pub(crate) fn plain_type(kind: &str) -> Option<String> {
    let kind = kind.trim().to_lowercase().replace([' ', '.', '/'], "_");
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
    if kind.is_empty() {
        return Some(DEFAULT_TYPE.into());
    }
    (kind.len() <= MAX_TYPE_BYTES && kind.bytes().all(is_plain)).then_some(kind)
}

/// Parses a list of strings, or a single string.
fn list(value: Value, field: &'static str) -> Result<Vec<String>, InvalidLine> {
    let wrong = InvalidLine::NotAList(field);
    let list = match value {
        Value::Null => Vec::new(),
        Value::String(text) => vec![text],
        Value::Array(values) => values
            .into_iter()
            .map(|value| if let Value::String(text) = value { Ok(text) } else { Err(wrong) })
            .collect::<Result<_, _>>()?,
        _ => return Err(wrong),
    };
    if list.len() > MAX_LIST {
        return Err(InvalidLine::LongList(field));
    }
    Ok(list.into_iter().filter(|text| !text.trim().is_empty()).collect())
}

fn importance(value: &Value) -> Result<f32, InvalidLine> {
    match value {
        Value::Null => Ok(DEFAULT_IMPORTANCE),
        #[expect(clippy::cast_possible_truncation, reason = "an importance is an f32")]
        value => value
            .as_f64()
            .filter(|importance| (0.0..=1.0).contains(importance))
            .map(|importance| importance as f32)
            .ok_or(InvalidLine::BadImportance),
    }
}

/// Parses a time as [`time`] does. Returns `None` if there is none, or if it cannot be parsed.
pub(super) fn parse_time(value: &Value) -> Option<Timestamp> {
    time(value, "created_at").ok().flatten()
}

/// Parses a time: seconds or milliseconds since the Unix epoch, as a number or in digits; RFC 3339; or a date, with or
/// without a time, in UTC.
fn time(value: &Value, field: &'static str) -> Result<Option<Timestamp>, InvalidLine> {
    let at = match value {
        Value::Null => return Ok(None),
        Value::Number(number) => number.as_f64().and_then(parse_epoch),
        Value::String(text) if text.trim().is_empty() => return Ok(None),
        Value::String(text) => parse_date(text.trim()),
        _ => None,
    };
    at.map(Some).ok_or(InvalidLine::NotATime(field))
}

fn parse_epoch(number: f64) -> Option<Timestamp> {
    let milliseconds = if number < MIN_MILLISECONDS { number * 1000.0 } else { number };
    // The latest time that jiff can represent: the end of the year 9999.
    #[expect(clippy::cast_precision_loss, reason = "a bound")]
    let most = jiff::Timestamp::MAX.as_millisecond() as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is within these bounds")]
    (0.0..=most).contains(&milliseconds).then_some(milliseconds.round() as Timestamp)
}

fn parse_date(text: &str) -> Option<Timestamp> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) && text.len() > 4 {
        return text.parse().ok().and_then(parse_epoch);
    }
    let utc = |time: civil::DateTime| time.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp());
    // The format in which Go writes times into a database: `2026-02-20 10:00:00.5 +0900 KST`.
    let zoned = || match text.split_whitespace().collect::<Vec<_>>()[..] {
        [day, time, zone, ..] if zone.starts_with(['+', '-']) => {
            format!("{day}T{time}{zone}").parse::<jiff::Timestamp>().ok()
        }
        _ => None,
    };
    let at = text
        .parse::<jiff::Timestamp>()
        .ok()
        .or_else(zoned)
        .or_else(|| text.parse::<civil::DateTime>().ok().and_then(utc))
        .or_else(|| text.parse::<civil::Date>().ok().and_then(|day| utc(day.at(0, 0, 0, 0))))?;
    Timestamp::try_from(at.as_millisecond()).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(text: &str) -> Result<Line, InvalidLine> {
        parse(text.as_bytes())
    }

    #[test]
    fn only_content_is_required_and_unknown_fields_are_passed_over() {
        let line = of(r#"{"content": "The cache is cold at night.", "embedding": [1, 2], "meta": {"a": 1}}"#).unwrap();
        assert_eq!((line.kind.as_str(), line.importance, line.created, line.id), (DEFAULT_TYPE, 0.5, None, None));
        for (text, why) in [
            ("{}", "no content"),
            (r#"{"content": " \n"}"#, "empty"),
            (r#"{"content": 7}"#, "not a string"),
            ("[1]", "not a JSON object"),
            ("\"text\"", "not a JSON object"),
            ("{\"content\": \"half", "not valid JSON at"),
            (r#"{"content": "\ud800"}"#, "not valid JSON"),
        ] {
            let error = of(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn a_whole_line_is_read() {
        let line = of(concat!(
            r#"{"id": 17, "project": "shop", "session_id": "s-1", "type": "Error Fix", "title": " T ", "content": "C","#,
            r#""keywords": "one", "files": ["a.rs", ""], "importance": 1, "said_by": "agreed","#,
            r#""pinned_at": 1736902800, "wrong_at": "2025-01-15T01:00:00Z", "wrong_because": " a guess ","#,
            r#""supersedes": [{"id": 16, "session_id": "s-0", "relation": "reverses", "undone_at": 1736902800}, "15"],"#,
            r#""created_at": "2025-01-15T10:00:00+09:00"}"#,
        ));
        let wanted = Line {
            id: Some("17".into()),
            project: Some("shop".into()),
            session: "s-1".into(),
            kind: "error_fix".into(),
            title: "T".into(),
            content: "C".into(),
            keywords: vec!["one".into()],
            files: vec!["a.rs".into()],
            importance: 1.0,
            created: Some(1_736_902_800_000),
            said_by: Some(SaidBy::Agreed),
            pinned_at: Some(1_736_902_800_000),
            wrong_at: Some(1_736_902_800_000),
            wrong_because: Some("a guess".into()),
            supersedes: vec![
                LineLink {
                    id: "16".into(),
                    session: "s-0".into(),
                    relation: Relation::Reverses,
                    undone_at: Some(1_736_902_800_000),
                },
                LineLink { id: "15".into(), session: String::new(), relation: Relation::Amends, undone_at: None },
            ],
        };
        assert_eq!(line, Ok(wanted));
    }

    #[test]
    fn a_time_is_read_in_every_unit() {
        for time in [
            "1736902800",
            "1736902800000",
            "1736902800.0",
            "\"1736902800\"",
            "\"2025-01-15T01:00:00Z\"",
            "\"2025-01-15T01:00:00\"",
            "\"2025-01-15 01:00:00\"",
            "\"2025-01-15 10:00:00.0 +0900 KST m=+0.01\"",
        ] {
            let line = of(&format!(r#"{{"content": "c", "created_at": {time}}}"#)).unwrap();
            assert_eq!(line.created, Some(1_736_902_800_000), "{time}");
        }
        assert_eq!(of(r#"{"content": "c", "created_at": "2025-01-15"}"#).unwrap().created, Some(1_736_899_200_000));
        for time in ["-1", "1e300", "\"soon\"", "true", "[]", "\"1969-01-01T00:00:00Z\"", "\"99999999999999999999\""] {
            assert!(of(&format!(r#"{{"content": "c", "created_at": {time}}}"#)).is_err(), "{time}");
        }
    }

    #[test]
    fn what_is_out_of_bounds_is_named() {
        let long = "x".repeat(MAX_CONTENT_BYTES + 1);
        for (field, why) in [
            (format!(r#""content": "{long}""#), "64 KiB"),
            (format!(r#""content": "c", "id": "{}""#, &long[..129]), "its id has more than 128 bytes"),
            (format!(r#""content": "c", "session_id": "{}""#, &long[..129]), "its session_id"),
            (r#""content": "c", "importance": 2"#.into(), "its importance"),
            (r#""content": "c", "type": "결정""#.into(), "its type"),
            (r#""content": "c", "keywords": [1]"#.into(), "its keywords"),
            (r#""content": "c", "files": {}"#.into(), "its files"),
            (r#""content": "c", "title": []"#.into(), "its title"),
            (r#""content": "c", "project": true"#.into(), "its project"),
            (r#""content": "c", "said_by": "the human"}"#.trim_end_matches('}').into(), "its said_by is not human"),
            (r#""content": "c", "supersedes": "a""#.into(), "its supersedes"),
            (r#""content": "c", "supersedes": [{"relation": "amends"}]"#.into(), "its supersedes"),
            (r#""content": "c", "supersedes": [{"id": "a", "relation": "eats"}]"#.into(), "its supersedes"),
        ] {
            let error = of(&format!("{{{field}}}")).unwrap_err().to_string();
            assert!(error.contains(why), "{why}: {error}");
        }
        assert_eq!(parse(b"{\"content\": \"\xff\"}"), Err(InvalidLine::NotUtf8(14)));
    }

    #[test]
    fn titles_are_first_lines_or_sentences() {
        assert_eq!(title_of("\n  ## The plan\n\nall of it"), "The plan");
        let sentence = "The scheduler drops a job when the queue is full and nobody waits for it any more.";
        assert_eq!(title_of(&format!("{sentence} {}", "and so on ".repeat(30))), sentence);
        let title = title_of(&"word ".repeat(100));
        assert!(title.ends_with("word…") && title.chars().count() <= MAX_TITLE_CHARS);
        assert_eq!(title_of(&"한".repeat(500)).chars().count(), MAX_TITLE_CHARS);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            drop(parse(&bytes));
        }

        #[test]
        fn no_value_makes_it_panic(field in "id|project|session_id|type|title|content|keywords|files|importance|created_at|supersedes", value in r#"(\PC{0,20}|-?[0-9]{0,20}(\.[0-9]{1,5})?(e[0-9]{1,3})?|"[^"\\]{0,20}"|\[\]|null|true)"#) {
            drop(of(&format!(r#"{{"content": "c", "{field}": {value}}}"#)));
        }

        #[test]
        fn what_is_written_is_read(content in "\\PC{1,80}", id in "[^\\s]{1,30}", session in "[a-z0-9-]{1,20}", created in 0_u64..4_000_000_000_000) {
            let written = serde_json::json!({"id": id, "session_id": session, "content": content, "created_at": created});
            match of(&written.to_string()) {
                Ok(line) => {
                    prop_assert_eq!(line.content, content);
                    prop_assert_eq!(line.id, Some(id));
                    prop_assert_eq!(line.session, session);
                }
                Err(why) => prop_assert!(content.trim().is_empty() || id.trim().is_empty() || id.len() > MAX_ID_BYTES, "{}", why),
            }
        }

        #[test]
        fn a_title_is_one_short_line(content in "\\PC{0,20}([ \\n。.]{1,2}\\PC{0,30}){0,20}") {
            let title = title_of(&content);
            prop_assert!(!title.contains('\n') && title.chars().count() <= MAX_TITLE_CHARS);
        }
    }
}
