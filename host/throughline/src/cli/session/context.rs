//! `throughline session context`: the saved context of a session.

use std::io::Write;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::cli::environment;
use crate::cli::error::CommandError;
use crate::cli::output;
use crate::cli::scope;
use throughline_agents::protocol::name::Agent;
use throughline_engine::hooks::{self, STORE_BUSY_TIMEOUT};
use throughline_engine::projection::{self, SessionContext};
use throughline_engine::runtime::Runtime;
use throughline_engine::targets;
use throughline_model::contract::Session;
use throughline_model::project::Project;
use throughline_store::{Access, Store, StoreError};

/// The longest that policies may take to build the context.
const POLICY_TIMEOUT: Duration = Duration::from_mins(1);

/// Print what was saved of a session, as the agent gets it after a compaction
///
/// By default this is the last session of the project. To see what a new session would get, use `throughline context`.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The session; the beginning of its identifier is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Use the project of this folder, or the known project of this name or path, instead of the current one
    #[arg(long, value_name = "DIR", conflicts_with = "session")]
    project: Option<PathBuf>,
    /// Print an object: project, `session_id`, text, context
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct SavedContext {
    /// The root folder of the project.
    project: String,
    /// Null if nothing was saved.
    session_id: Option<String>,
    /// What the agent would be shown; null if that is nothing.
    text: Option<String>,
    /// As in `.claude/session-context.json`.
    context: Option<SessionContext>,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), CommandError> {
    if let Some(session) = &arguments.session {
        scope::check_session(session)?;
    }
    let runtime = environment::runtime_for_reading()?;
    let saved = load(&runtime, arguments)?;
    runtime.finish();
    if arguments.json {
        return output::json(&saved);
    }
    let Some(text) = &saved.text else {
        writeln!(anstream::stderr().lock(), "{}", why_empty(&runtime, &saved, arguments))?;
        return Ok(());
    };
    let mut out = output::stdout();
    writeln!(out, "{}", output::clean(text).trim_end())?;
    Ok(out.flush()?)
}

/// Says why there is no text.
fn why_empty(runtime: &Runtime, saved: &SavedContext, arguments: &Arguments) -> String {
    let project = Project::discover(saved.project.as_ref());
    let session = saved.session_id.as_deref().or(arguments.session.as_deref()).unwrap_or_default();
    if runtime.intervals.is_paused(&project.id, session) {
        return "this project or session is paused (`throughline resume --all` ends every pause)".into();
    }
    match (&arguments.session, saved.session_id.is_some()) {
        (_, true) => "nothing of that session would be shown".into(),
        (Some(session), false) => format!("nothing is saved of session {}", output::clean_line(session)),
        (None, false) => "no session of this project is saved yet".into(),
    }
}

/// Loads what is stored of the session.
fn load(runtime: &Runtime, arguments: &Arguments) -> Result<SavedContext, CommandError> {
    let mut project = targets::find_project(runtime, arguments.project.as_deref())?;
    let mut cwd = match &arguments.project {
        None => scope::folder(None)?,
        Some(folder) if folder.is_dir() => scope::folder(Some(folder))?,
        Some(_) => project.root.clone(),
    };
    let store = match runtime.store(Access::Existing, STORE_BUSY_TIMEOUT * 4) {
        Err(StoreError::Missing(_)) => None,
        other => Some(Rc::new(other?)),
    };
    let session = match (&store, &arguments.session) {
        (Some(store), Some(typed)) => Some(scope::resolve_any_session(Some(store), typed)?),
        _ => None,
    };
    if let (Some(store), Some(id)) = (&store, &session)
        && let Some(own) = store.project_of_session(id)?
    {
        cwd.clone_from(&own.root);
        project = own;
    }
    let mut saved =
        SavedContext { project: project.root.to_string_lossy().into_owned(), session_id: None, text: None, context: None };
    let Some(store) = store else { return Ok(saved) };
    let Some(id) = find(&store, &project, session.as_deref())? else { return Ok(saved) };
    let session = Session::new(&id, &project, &cwd, Agent::ClaudeCode.name(), None, runtime.now);
    let deadline = Instant::now() + POLICY_TIMEOUT;
    let budget = runtime.config.context.budget;
    let (text, _) = hooks::context(runtime, &store, &session, "compact", budget, deadline)?;
    if text.is_some() {
        saved.context = projection::context(&store, &project, &id)?;
    }
    saved.text = text;
    saved.session_id = Some(id);
    Ok(saved)
}

/// Returns the named session, or the last one of the project; none if it is unknown.
fn find(store: &Store, project: &Project, named: Option<&str>) -> Result<Option<String>, CommandError> {
    Ok(match named {
        Some(id) => store.session(&project.id, id)?.map(|session| session.id),
        None => store.sessions(&project.id, "", 1)?.into_iter().next().map(|session| session.id),
    })
}
