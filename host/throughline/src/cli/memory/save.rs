//! `throughline memory save`: stores a memory by hand.

use std::io::{self, Read, Write};
use std::path::PathBuf;

use serde::Serialize;

use super::selection;
use crate::cli::error::CommandError;
use crate::cli::output;
use crate::cli::scope;
use throughline_engine::config::Mode;
use throughline_engine::memory::saving::{self, Author, MAX_TEXT_BYTES, SUMMARY_TYPE, SaveRequest, SaveResult};
use throughline_engine::runtime::Runtime;
use throughline_engine::targets;
use throughline_model::project::Project;
use throughline_store::Store;

/// Save a memory by hand
///
/// For one fact in a few sentences, such as a decision or a preference. Use `throughline note add` instead for
/// something that is worth a title and tags, has relations to other notes, or is to be kept as a Markdown file in the
/// project.
///
/// Secrets are redacted first, as always. A summary of a session replaces the summary that was saved before; everything
/// else is added. Agents use this command to answer hooks that ask for summaries (`checkpoint.mode = "ask"`).
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// What to remember; `-` or no TEXT reads standard input
    #[arg(value_name = "TEXT")]
    text: Option<String>,
    /// The session that the memory is about; the beginning of its identifier is enough once something of it is stored
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The type, such as decision, learning or preference; by default that of the memory whose place it takes,
    /// `session_summary` with --session, otherwise learning
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// The title; by default the first line
    #[arg(long)]
    title: Option<String>,
    /// Use the project of this folder, or the known project of this name or path, instead of the session's or the
    /// current one
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// The memory whose place this one takes: it is no longer told; can be repeated
    #[arg(long, value_name = "ID")]
    supersedes: Vec<String>,
    /// Print an object: id, type, title, new
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct SavedMemory<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    title: &'a str,
    /// False if the same text was stored before.
    new: bool,
}

pub(super) fn run(runtime: &Runtime, mut store: Store, arguments: &Arguments) -> Result<(), CommandError> {
    let session = arguments.session.as_deref().map(|typed| scope::resolve_any_session(Some(&store), typed)).transpose()?;
    let project = project(runtime, &store, arguments, session.as_deref())?;
    let whole = |id: &String| Ok(selection::find(&store, id)?.memory.id);
    let supersedes = arguments.supersedes.iter().map(whole).collect::<Result<Vec<String>, CommandError>>()?;
    let request = SaveRequest {
        author: Author::Person,
        text: text(arguments)?,
        title: arguments.title.clone(),
        kind: arguments.kind.clone(),
        tags: Vec::new(),
        files: Vec::new(),
        session,
        supersedes,
    };
    let SaveResult { id, kind, title, is_new, length } = saving::save(runtime, &mut store, &project, &request)?;
    runtime.finish();
    let checkpoint = &runtime.config.checkpoint;
    if checkpoint.mode == Mode::Ask && kind == SUMMARY_TYPE && length > checkpoint.summary_max_length as usize {
        writeln!(
            anstream::stderr().lock(),
            "note: the summary was stored, but it has {length} characters; checkpoint.summary_max_length is {}",
            checkpoint.summary_max_length
        )?;
    }
    if arguments.json {
        return output::json(&SavedMemory { id: &id, kind: &kind, title: &title, new: is_new });
    }
    let mut out = output::stdout();
    writeln!(out, "{id}")?;
    Ok(out.flush()?)
}

fn text(arguments: &Arguments) -> Result<String, CommandError> {
    Ok(match arguments.text.as_deref() {
        Some(text) if text != "-" => text.to_owned(),
        _ => {
            let mut bytes = Vec::new();
            io::stdin()
                .lock()
                .take(MAX_TEXT_BYTES as u64 + 1)
                .read_to_end(&mut bytes)
                .map_err(|error| CommandError::new(format!("standard input: {error}")))?;
            String::from_utf8_lossy(&bytes).into_owned()
        }
    })
}

/// Returns the project of the session; if the session is unknown, that of the folder.
fn project(runtime: &Runtime, store: &Store, arguments: &Arguments, session: Option<&str>) -> Result<Project, CommandError> {
    let named = targets::find_project(runtime, arguments.project.as_deref())?;
    let Some(session) = session else { return Ok(named) };
    match store.project_of_session(session)? {
        Some(own) if arguments.project.is_some() && own.id != named.id => {
            Err(CommandError::new(format!("session {session} belongs to {}", own.root.display()))
                .hint("leave out --project"))
        }
        Some(own) => Ok(own),
        None => Ok(named),
    }
}
