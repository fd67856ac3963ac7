//! `throughline memory save`.

use std::io::{self, Read, Write};
use std::path::PathBuf;

use serde::Serialize;

use super::{Failure, Runtime, Store, output};
use throughline_engine::config::Mode;
use throughline_engine::memory::saving::{self, Author, MOST_TEXT, SUMMARY, Saved, Wish};
use throughline_model::project::Project;

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
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Answer<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    title: &'a str,
    /// Whether the same text was not stored before.
    new: bool,
}

pub(super) fn run(runtime: &Runtime, mut store: Store, arguments: &Arguments) -> Result<(), Failure> {
    let wish = Wish {
        author: Author::Person,
        text: text(arguments)?,
        title: arguments.title.clone(),
        kind: arguments.kind.clone(),
        tags: Vec::new(),
        session: arguments.session.clone(),
    };
    let project = project(&store, arguments)?;
    let Saved { id, kind, title, is_new, length } = saving::save(runtime, &mut store, &project, &wish)?;
    runtime.finish();
    let checkpoint = &runtime.config.checkpoint;
    if checkpoint.mode == Mode::Ask && kind == SUMMARY && length > checkpoint.summary_max_length as usize {
        writeln!(
            anstream::stderr().lock(),
            "stored, though it has {length} characters: checkpoint.summary_max_length is {}",
            checkpoint.summary_max_length
        )?;
    }
    if arguments.json {
        return output::json(&Answer { id: &id, kind: &kind, title: &title, new: is_new });
    }
    let mut out = output::stdout();
    writeln!(out, "{id}")?;
    Ok(out.flush()?)
}

fn text(arguments: &Arguments) -> Result<String, Failure> {
    Ok(match arguments.text.as_deref() {
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
    })
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
