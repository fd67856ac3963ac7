//! `throughline memory save`.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::{Failure, Runtime, Store, output};
use crate::config::Mode;
use crate::contract::{Draft, Origin};
use crate::project::Project;
use crate::store::{Put, SAVED};

/// The longest text, bytes; the contract says so of every memory.
const MOST_TEXT: usize = 64 << 10;

/// The longest title, characters.
const MOST_TITLE: usize = 200;

/// The longest name of a type, bytes.
const MOST_TYPE: usize = 64;

/// The longest that the redactors may take.
const PATIENT: Duration = Duration::from_mins(1);

/// The type of what is saved of a session, and its key there: a later one takes the place of the one before.
const SUMMARY: &str = "session_summary";
const SUMMARY_KEY: &str = "saved-summary";

/// Store a memory by hand
///
/// As everything else it loses its secrets first. A summary of a session takes the place of the one that was saved of it
/// before; all else is added. Where hooks ask the agent for summaries (`checkpoint.mode = "ask"`), this is the answer.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// What to remember; `-`, or nothing, reads it from standard input
    #[arg(value_name = "TEXT")]
    text: Option<String>,
    /// The session that it is about
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Its type, such as decision, learning or preference; without it `session_summary` of a session, else learning
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// Its title; without it the first line
    #[arg(long)]
    title: Option<String>,
    /// The project of this folder, instead of the session's or the present one
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Print an object: id, type, title, new
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Saved<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    title: &'a str,
    /// Whether the same text was not stored before.
    new: bool,
}

pub(super) fn run(runtime: &Runtime, mut store: Store, arguments: &Arguments) -> Result<(), Failure> {
    let kind = kind(arguments)?;
    let text = text(arguments)?;
    let project = project(&store, arguments)?;
    let session = arguments.session.as_deref().unwrap_or_default();
    if runtime.is_off(&project.root) || runtime.intervals.is_paused(&project.id, session) {
        return Err(Failure::new("of this project, or session, nothing is remembered: it is paused or left out")
            .hint("`throughline resume` ends a pause; privacy.exclude_projects leaves projects out"));
    }
    let length = text.chars().count();
    let [content, title] = redacted(runtime, &project, [text, arguments.title.clone().unwrap_or_default()])?;
    let title = [title.as_str(), content.as_str()].into_iter().flat_map(str::lines).map(str::trim).find(|it| !it.is_empty());
    let draft = Draft {
        key: (arguments.session.is_some() && kind == SUMMARY).then(|| SUMMARY_KEY.into()),
        title: title.unwrap_or_default().chars().take(MOST_TITLE).collect(),
        content,
        // Somebody thought it worth the trouble.
        importance: if kind == SUMMARY { 0.6 } else { 0.8 },
        origin: Origin { line_uuid: None, at: Some(runtime.now) },
        attributes: vec![(SAVED.0.into(), SAVED.1.into())],
        kind,
        ..Draft::default()
    };
    let (put, id) = store.save_memory(&project, session, &draft, runtime.now)?;
    let (Some(id), Put::Stored | Put::SeenAgain | Put::Known) = (id, put) else {
        return Err(Failure::new("this very text was deleted for good").hint("say it in other words"));
    };
    if arguments.session.is_some() {
        runtime.journal().recount(session);
    }
    runtime.finish();
    let checkpoint = &runtime.config.checkpoint;
    if checkpoint.mode == Mode::Ask && draft.kind == SUMMARY && length > checkpoint.summary_max_length as usize {
        writeln!(
            anstream::stderr().lock(),
            "stored, though it has {length} characters: checkpoint.summary_max_length is {}",
            checkpoint.summary_max_length
        )?;
    }
    if arguments.json {
        return output::json(&Saved { id: &id, kind: &draft.kind, title: &draft.title, new: put == Put::Stored });
    }
    let mut out = output::stdout();
    writeln!(out, "{id}")?;
    Ok(out.flush()?)
}

fn kind(arguments: &Arguments) -> Result<String, Failure> {
    let default = if arguments.session.is_some() { SUMMARY } else { "learning" };
    let kind = arguments.kind.as_deref().unwrap_or(default);
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
    if kind.is_empty() || kind.len() > MOST_TYPE || !kind.bytes().all(plain) {
        return Err(Failure::new(format!("{kind:?} is no type"))
            .hint("a word in lower case, such as decision, learning, preference or session_summary"));
    }
    Ok(kind.to_owned())
}

fn text(arguments: &Arguments) -> Result<String, Failure> {
    let text = match arguments.text.as_deref() {
        Some(text) if text != "-" => text.to_owned(),
        _ => {
            let mut bytes = Vec::new();
            io::stdin()
                .lock()
                .take(MOST_TEXT as u64 + 1)
                .read_to_end(&mut bytes)
                .map_err(|error| Failure::new(format!("standard input: {error}")))?;
            String::from_utf8_lossy(&bytes).into_owned()
        }
    };
    let titled = arguments.title.as_ref().map_or(0, String::len);
    if text.len() > MOST_TEXT || titled > MOST_TEXT {
        return Err(Failure::new("the text has more than 64 KiB").hint("save what is worth remembering of it"));
    }
    let text = text.trim();
    if text.is_empty() {
        return Err(Failure::new("there is no text").hint("throughline memory save \"what to remember\""));
    }
    Ok(text.to_owned())
}

/// The session's project; a session that is not known yet is of the folder's.
fn project(store: &Store, arguments: &Arguments) -> Result<Project, Failure> {
    let named = Project::of(&super::folder(arguments.project.as_deref())?);
    let Some(session) = &arguments.session else { return Ok(named) };
    super::super::pause::check_session(session)?;
    match store.project_of_session(session)? {
        Some(own) if arguments.project.is_some() && own.id != named.id => {
            Err(Failure::new(format!("session {session} is of {}", own.root.display())).hint("leave --project out"))
        }
        Some(own) => Ok(own),
        None => Ok(named),
    }
}

fn redacted(runtime: &Runtime, project: &Project, texts: [String; 2]) -> Result<[String; 2], Failure> {
    let mut texts = texts.map(|text| runtime.privacy.clean(&text).unwrap_or(text));
    runtime.secrets.look_in(&project.root, &project.root);
    let until = Instant::now() + PATIENT;
    runtime.policies(Some(&project.root))?.work(None, until)?.redact(&mut texts, until)?;
    Ok(texts)
}
