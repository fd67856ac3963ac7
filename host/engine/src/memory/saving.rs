//! Saves a memory on request: checks it, redacts it and stores it.

use anyhow::Result;

use super::{RequestError, supersession, types};
use crate::redaction::ProjectRedactor;
use crate::runtime::Runtime;
use crate::storing;
use crate::text::within_chars;
use throughline_model::contract::{Draft, Origin};
use throughline_model::project::Project;
use throughline_model::redacted::Redacted;
use throughline_model::said_by::SaidBy;
use throughline_search::supersession::Relation;
use throughline_store::{PutOutcome, SAVED, SAVED_BY_AGENT, Store};

/// The longest text, bytes. The contract sets this limit for every memory.
pub const MAX_TEXT_BYTES: usize = 64 << 10;

/// The longest title, characters.
pub(crate) const MAX_TITLE_CHARS: usize = 200;

/// The longest type name, bytes.
const MAX_TYPE_BYTES: usize = 64;

/// The most tags, and the longest tag in bytes.
pub(crate) const MAX_TAGS: usize = 32;
pub(crate) const MAX_TAG: usize = 200;

/// The type of a saved session summary, and its key in the session: a later summary replaces the earlier one.
pub const SUMMARY_TYPE: &str = "session_summary";
const SUMMARY_KEY: &str = "saved-summary";

/// Who asks to save a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// A person.
    Person,
    /// The agent, on its own initiative.
    Agent,
}

/// A request to save a memory.
#[derive(Debug, Clone)]
pub struct SaveRequest {
    /// Who asks.
    pub author: Author,
    /// The text to remember, at most [`MAX_TEXT_BYTES`] bytes.
    pub text: String,
    /// The title; `None` for the text's first line.
    pub title: Option<String>,
    /// The type; `None` for that of the first memory whose place it takes, for `session_summary` in a session, and otherwise
    /// for `learning`.
    pub kind: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Files that it is about.
    pub files: Vec<String>,
    /// The session that the memory is about.
    pub session: Option<String>,
    /// Identifiers of the memories whose place it takes.
    pub supersedes: Vec<String>,
}

/// The memory that was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaveResult {
    /// The memory's identifier.
    pub id: String,
    /// Its type.
    pub kind: String,
    /// Its title, redacted.
    pub title: String,
    /// Whether this text was not stored before.
    pub is_new: bool,
    /// Length of the given text, characters.
    pub length: usize,
}

/// Stores a memory in the project. Refuses if the request is invalid, if nothing may be stored of the project or session,
/// or if this exact text was deleted for good.
pub fn save(runtime: &Runtime, store: &mut Store, project: &Project, request: &SaveRequest) -> Result<SaveResult> {
    let session = request.session.as_deref().unwrap_or_default();
    storing::check_project(runtime, project, session)?;
    let kind = kind(store, request)?;
    types::resolve_kinds(std::slice::from_ref(&kind), store, Some(project))?;
    check(request)?;
    let length = request.text.trim().chars().count();
    let (source, said_by, importance) = match request.author {
        // A person thought it worth saving.
        Author::Person if kind != SUMMARY_TYPE => (SAVED, SaidBy::Human, 0.8),
        Author::Person => (SAVED, SaidBy::Human, 0.6),
        // What people say outranks what agents conclude.
        Author::Agent => (SAVED_BY_AGENT, SaidBy::Agent, if kind == SUMMARY_TYPE { 0.6 } else { 0.7 }),
    };
    let draft = Draft {
        key: (request.session.is_some() && kind == SUMMARY_TYPE).then(|| SUMMARY_KEY.into()),
        title: request.title.clone().unwrap_or_default(),
        content: request.text.trim().to_owned(),
        keywords: request.tags.iter().map(|tag| tag.trim().to_owned()).filter(|tag| !tag.is_empty()).collect(),
        files: request.files.clone(),
        importance,
        origin: Origin { line_uuid: None, at: Some(runtime.now) },
        attributes: vec![(source.0.into(), source.1.into()), said_by.attribute()],
        kind,
    };
    let draft = Redacted::new(draft, &mut ProjectRedactor::new(runtime, Some(&project.root)))?.map(with_title);
    let (put, id) = store.save_memory(project, session, &draft, runtime.now)?;
    let (Some(id), PutOutcome::Stored | PutOutcome::NewOccurrence | PutOutcome::Known) = (id, put) else {
        return Err(RequestError::new("this exact text was deleted for good", "reword it").into());
    };
    if store.marks(&[&id])?.iter().any(|marks| marks.wrong_at.is_some()) {
        return Err(RequestError::new(
            format!("this exact text is memory {id}, which was marked wrong"),
            format!("reword it, or undo the mark with `throughline memory right {id}`"),
        )
        .into());
    }
    for older in &request.supersedes {
        if !store.supersede(older, &id, Relation::Amends, runtime.now)? {
            return Err(RequestError::new(
                format!("the memory was saved as {id}, but {older} is no older memory of this project"),
                "`throughline memory list` shows the identifiers",
            )
            .into());
        }
    }
    supersession::link_project(store, &project.id, runtime.now)?;
    if request.session.is_some() {
        runtime.journal().reset_tool_count(session);
    }
    let Draft { kind, title, .. } = draft.into_inner();
    Ok(SaveResult { id, kind, title, is_new: put == PutOutcome::Stored, length })
}

/// The type of the turns that searches find and that are never told: what a person saves is not one.
const TURN: &str = "turn";

fn kind(store: &Store, request: &SaveRequest) -> Result<String> {
    let default = if request.session.is_some() { SUMMARY_TYPE } else { "learning" };
    let older = match (&request.kind, request.supersedes.first()) {
        (None, Some(id)) => store.memory(id, None)?.into_iter().map(|older| older.memory.kind).find(|kind| kind != TURN),
        _ => None,
    };
    let kind = request.kind.as_deref().or(older.as_deref()).unwrap_or(default);
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
    if kind.is_empty() || kind.len() > MAX_TYPE_BYTES || !kind.bytes().all(plain) {
        return Err(RequestError::new(
            format!("{kind:?} is not a type"),
            "use a lower-case word such as decision, learning, preference or session_summary",
        )
        .into());
    }
    Ok(kind.to_owned())
}

/// Refuses what is too long, or empty.
pub(crate) fn check(request: &SaveRequest) -> Result<(), RequestError> {
    if request.text.len() > MAX_TEXT_BYTES || request.title.as_ref().is_some_and(|title| title.len() > MAX_TEXT_BYTES) {
        return Err(RequestError::new("the text is larger than 64 KiB", "save only the part worth remembering"));
    }
    if request.text.trim().is_empty() {
        return Err(RequestError::new("the text is empty", "say what to remember"));
    }
    if request.tags.len() > MAX_TAGS || request.tags.iter().any(|tag| tag.len() > MAX_TAG) {
        return Err(RequestError::new(
            format!("too many tags, or a tag is too long: at most {MAX_TAGS} tags of {MAX_TAG} bytes each"),
            "keep the tags that someone would search for",
        ));
    }
    Ok(())
}

/// Returns the line without the marks of a heading in Markdown: a list shows it as plain text. `#12` stays.
fn without_marks(line: &str) -> &str {
    let line = line.trim();
    let text = line.trim_start_matches('#');
    if text.len() < line.len() && text.starts_with(' ') { text.trim() } else { line }
}

/// Returns the first line of a text.
pub(crate) fn title_of(text: &str) -> String {
    let lines = text.lines().map(without_marks);
    lines.filter(|line| !line.is_empty()).map(|line| within_chars(line, MAX_TITLE_CHARS)).next().unwrap_or_default()
}

/// Gives a redacted draft its title: the one that was given, or the first line of the content.
fn with_title(draft: Draft) -> Draft {
    let title = if draft.title.trim().is_empty() { title_of(&draft.content) } else { title_of(&draft.title) };
    Draft { title, ..draft }
}
