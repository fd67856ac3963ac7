//! A memory that somebody asks to be stored: checked, redacted, stored.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::{Refused, types};
use crate::contract::{Draft, Origin};
use crate::project::Project;
use crate::runtime::Runtime;
use crate::store::{Put, SAVED, SAVED_BY_AGENT, Store};

/// The longest text, bytes; the contract says so of every memory.
pub const MOST_TEXT: usize = 64 << 10;

/// The longest title, characters.
const MOST_TITLE: usize = 200;

/// The longest name of a type, bytes.
const MOST_TYPE: usize = 64;

/// The most tags, and the longest, bytes.
const MOST_TAGS: usize = 32;
const MOST_TAG: usize = 200;

/// The longest that the redactors may take.
const PATIENT: Duration = Duration::from_mins(1);

/// The type of what is saved of a session, and its key there: a later one takes the place of the one before.
pub const SUMMARY: &str = "session_summary";
const SUMMARY_KEY: &str = "saved-summary";

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// A person.
    Person,
    /// The agent, of its own accord.
    Agent,
}

/// What is to be stored.
#[derive(Debug, Clone)]
pub struct Wish {
    /// Who asks.
    pub author: Author,
    /// What to remember, at most [`MOST_TEXT`] bytes.
    pub text: String,
    /// Without it the text's first line.
    pub title: Option<String>,
    /// Without it `session_summary` of a session, else `learning`.
    pub kind: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The session that it is about.
    pub session: Option<String>,
}

/// What was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// The memory's identifier.
    pub id: String,
    /// Its type.
    pub kind: String,
    /// Its title, redacted.
    pub title: String,
    /// Whether the same text was not stored before.
    pub is_new: bool,
    /// Characters of the text as it was given.
    pub length: usize,
}

/// Stores it in the project. Refused where it cannot be a memory, where nothing of the project or session is remembered, and
/// where this very text was deleted for good.
pub fn save(runtime: &Runtime, store: &mut Store, project: &Project, wish: &Wish) -> Result<Saved> {
    let kind = kind(wish)?;
    types::kinds(std::slice::from_ref(&kind), store, Some(project))?;
    check(wish)?;
    let session = wish.session.as_deref().unwrap_or_default();
    if runtime.is_off(&project.root) || runtime.intervals.is_paused(&project.id, session) {
        return Err(Refused::new(
            "of this project, or session, nothing is remembered: it is paused or left out",
            "`throughline resume` ends a pause; privacy.exclude_projects leaves projects out",
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
        // Somebody thought it worth the trouble.
        Author::Person if kind != SUMMARY => (SAVED, 0.8),
        Author::Person => (SAVED, 0.6),
        // What people say outranks what agents think of themselves.
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
        return Err(Refused::new("this very text was deleted for good", "say it in other words").into());
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
            format!("{kind:?} is no type"),
            "a word in lower case, such as decision, learning, preference or session_summary",
        ));
    }
    Ok(kind.to_owned())
}

fn check(wish: &Wish) -> Result<(), Refused> {
    if wish.text.len() > MOST_TEXT || wish.title.as_ref().is_some_and(|title| title.len() > MOST_TEXT) {
        return Err(Refused::new("the text has more than 64 KiB", "save what is worth remembering of it"));
    }
    if wish.text.trim().is_empty() {
        return Err(Refused::new("there is no text", "say what to remember"));
    }
    if wish.tags.len() > MOST_TAGS || wish.tags.iter().any(|tag| tag.len() > MOST_TAG) {
        return Err(Refused::new(
            format!("these are too many tags, or one is too long: at most {MOST_TAGS} of {MOST_TAG} bytes"),
            "keep those that somebody would search for",
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
