//! Saves a memory on request: checks it, redacts it and stores it.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::{Refused, types};
use crate::runtime::Runtime;
use throughline_model::contract::{Draft, Origin};
use throughline_model::project::Project;
use throughline_store::{Put, SAVED, SAVED_BY_AGENT, Store};

/// The longest text, bytes. The contract sets this limit for every memory.
pub const MOST_TEXT: usize = 64 << 10;

/// The longest title, characters.
const MOST_TITLE: usize = 200;

/// The longest type name, bytes.
const MOST_TYPE: usize = 64;

/// The most tags, and the longest tag in bytes.
const MOST_TAGS: usize = 32;
const MOST_TAG: usize = 200;

/// The longest that redaction may take.
const PATIENT: Duration = Duration::from_mins(1);

/// The type of a saved session summary, and its key in the session: a later summary replaces the earlier one.
pub const SUMMARY: &str = "session_summary";
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
pub struct Wish {
    /// Who asks.
    pub author: Author,
    /// The text to remember, at most [`MOST_TEXT`] bytes.
    pub text: String,
    /// The title; `None` for the text's first line.
    pub title: Option<String>,
    /// The type; `None` for `session_summary` in a session, and otherwise `learning`.
    pub kind: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The session that the memory is about.
    pub session: Option<String>,
}

/// The memory that was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
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

/// Stores a memory in the project. Refuses if the request is invalid, if the project or session is paused or excluded,
/// or if this exact text was deleted for good.
pub fn save(runtime: &Runtime, store: &mut Store, project: &Project, wish: &Wish) -> Result<Saved> {
    let kind = kind(wish)?;
    types::kinds(std::slice::from_ref(&kind), store, Some(project))?;
    check(wish)?;
    let session = wish.session.as_deref().unwrap_or_default();
    if runtime.is_off(&project.root) || runtime.intervals.is_paused(&project.id, session) {
        return Err(Refused::new(
            "nothing is remembered for this project or session: it is paused or excluded",
            "`throughline resume` ends a pause; privacy.exclude_projects lists excluded projects",
        )
        .into());
    }
    let length = wish.text.trim().chars().count();
    let mut texts = vec![wish.text.trim().to_owned(), wish.title.clone().unwrap_or_default()];
    texts.extend(wish.tags.iter().map(|tag| tag.trim().to_owned()).filter(|tag| !tag.is_empty()));
    redact(runtime, project, &mut texts)?;
    let mut texts = texts.into_iter();
    let (content, title) = (texts.next().unwrap_or_default(), texts.next().unwrap_or_default());
    let title = [title.as_str(), content.as_str()].into_iter().flat_map(str::lines).map(str::trim).find(|it| !it.is_empty());
    let (source, importance) = match wish.author {
        // A person thought it worth saving.
        Author::Person if kind != SUMMARY => (SAVED, 0.8),
        Author::Person => (SAVED, 0.6),
        // What people say outranks what agents conclude.
        Author::Agent => (SAVED_BY_AGENT, if kind == SUMMARY { 0.6 } else { 0.7 }),
    };
    let draft = Draft {
        key: (wish.session.is_some() && kind == SUMMARY).then(|| SUMMARY_KEY.into()),
        title: title.unwrap_or_default().chars().take(MOST_TITLE).collect(),
        content,
        keywords: texts.collect(),
        importance,
        origin: Origin { line_uuid: None, at: Some(runtime.now) },
        attributes: vec![(source.0.into(), source.1.into())],
        kind,
        ..Draft::default()
    };
    let (put, id) = store.save_memory(project, session, &draft, runtime.now)?;
    let (Some(id), Put::Stored | Put::SeenAgain | Put::Known) = (id, put) else {
        return Err(Refused::new("this exact text was deleted for good", "reword it").into());
    };
    if wish.session.is_some() {
        runtime.journal().recount(session);
    }
    Ok(Saved { id, kind: draft.kind, title: draft.title, is_new: put == Put::Stored, length })
}

fn kind(wish: &Wish) -> Result<String, Refused> {
    let default = if wish.session.is_some() { SUMMARY } else { "learning" };
    let kind = wish.kind.as_deref().unwrap_or(default);
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
    if kind.is_empty() || kind.len() > MOST_TYPE || !kind.bytes().all(plain) {
        return Err(Refused::new(
            format!("{kind:?} is not a type"),
            "use a lower-case word such as decision, learning, preference or session_summary",
        ));
    }
    Ok(kind.to_owned())
}

fn check(wish: &Wish) -> Result<(), Refused> {
    if wish.text.len() > MOST_TEXT || wish.title.as_ref().is_some_and(|title| title.len() > MOST_TEXT) {
        return Err(Refused::new("the text is larger than 64 KiB", "save only the part worth remembering"));
    }
    if wish.text.trim().is_empty() {
        return Err(Refused::new("the text is empty", "say what to remember"));
    }
    if wish.tags.len() > MOST_TAGS || wish.tags.iter().any(|tag| tag.len() > MOST_TAG) {
        return Err(Refused::new(
            format!("too many tags, or a tag is too long: at most {MOST_TAGS} tags of {MOST_TAG} bytes each"),
            "keep the tags that someone would search for",
        ));
    }
    Ok(())
}

fn redact(runtime: &Runtime, project: &Project, texts: &mut [String]) -> Result<()> {
    for text in texts.iter_mut() {
        if let Some(clean) = runtime.privacy.clean(text) {
            *text = clean;
        }
    }
    runtime.secrets.look_in(&project.root, &project.root);
    let until = Instant::now() + PATIENT;
    runtime.policies(Some(&project.root))?.work(None, until)?.redact(texts, until)?;
    Ok(())
}
