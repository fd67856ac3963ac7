//! `throughline resume`: a session's context back, and remembering again.

use std::io::Write;
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::failure::{Done, Failure};
use super::output;
use super::pause::{self, Scope};
use throughline_agents::protocol::name::Agent;
use throughline_engine::hooks::{self, PATIENCE};
use throughline_engine::projection::{self, SessionContext};
use throughline_engine::runtime::Runtime;
use throughline_model::contract::Session;
use throughline_model::project::Project;
use throughline_privacy::intervals::{self, Interval, Intervals};
use throughline_store::{Access, Store, StoreError};

/// Bring back what was saved of a session, and remember again
///
/// Prints the context of the session, or of the project's last one, as the agent is shown it after a compaction. What
/// `throughline pause` began for the same project or session is ended first; what was said in between stays unread.
#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    scope: Scope,
    /// End whatever is paused
    #[arg(long, conflicts_with_all = ["project", "session"])]
    all: bool,
    /// Print an object: resumed, project, `session_id`, text, context
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Answer {
    /// Whether anything was paused.
    resumed: bool,
    project: String,
    /// Null where nothing was saved.
    session_id: Option<String>,
    /// What the agent would be shown; null where that is nothing.
    text: Option<String>,
    /// As in `.claude/session-context.json`.
    context: Option<SessionContext>,
}

pub(super) fn run(arguments: &Arguments) -> Result<Done, Failure> {
    let before = super::runtime()?;
    let wanted = arguments.scope.interval(before.now)?;
    let is_wanted = |it: &Interval| arguments.all || (&it.project, &it.session) == (&wanted.project, &wanted.session);
    let ended = if before.intervals.paused().any(is_wanted) {
        Intervals::change(&before.paths.intervals(), |all| intervals::resume(all, before.now, is_wanted))
            .map_err(Failure::new)?
    } else {
        0
    };
    // It must know that the pause is over.
    let runtime = super::runtime()?;
    let mut answer = saved(&runtime, &arguments.scope)?;
    runtime.finish();
    answer.resumed = ended > 0;
    if arguments.json {
        output::json(&answer)?;
        return Ok(Done::Well);
    }
    let mut err = anstream::stderr().lock();
    if answer.resumed {
        let what = if arguments.all { "everything".to_owned() } else { pause::name(&wanted, &runtime.paths.home) };
        writeln!(err, "{what} is remembered again; what was said in between is not")?;
    }
    let Some(text) = &answer.text else {
        writeln!(err, "{}", nothing(&runtime, &answer, &arguments.scope))?;
        return Ok(Done::Well);
    };
    drop(err);
    let mut out = output::stdout();
    writeln!(out, "{}", output::clean(text).trim_end())?;
    out.flush()?;
    Ok(Done::Well)
}

/// Why there is no text.
fn nothing(runtime: &Runtime, answer: &Answer, scope: &Scope) -> String {
    let project = Project::of(answer.project.as_ref());
    let session = answer.session_id.as_deref().or(scope.session.as_deref()).unwrap_or_default();
    if runtime.intervals.is_paused(&project.id, session) {
        return "nothing is told: it is paused otherwise too (`throughline resume --all` ends that)".into();
    }
    match (&scope.session, answer.session_id.is_some()) {
        (_, true) => "there is nothing to be told of that session".into(),
        (Some(session), false) => format!("nothing is saved of session {}", output::clean_line(session)),
        (None, false) => "no session of this project is saved yet".into(),
    }
}

/// What is stored of the session that is meant.
fn saved(runtime: &Runtime, scope: &Scope) -> Result<Answer, Failure> {
    let cwd = super::memory::folder(scope.project.as_deref())?;
    let mut project = Project::of(&cwd);
    let mut answer = Answer { resumed: false, project: String::new(), session_id: None, text: None, context: None };
    let store = match runtime.store(Access::Existing, PATIENCE * 4) {
        Err(StoreError::Missing(_)) => None,
        other => Some(Rc::new(other?)),
    };
    let mut cwd = cwd;
    if let (Some(store), Some(id)) = (&store, &scope.session)
        && let Some(own) = store.project_of_session(id)?
    {
        cwd.clone_from(&own.root);
        project = own;
    }
    answer.project = project.root.to_string_lossy().into_owned();
    let Some(store) = store else { return Ok(answer) };
    let Some(id) = meant(&store, &project, scope)? else { return Ok(answer) };
    let session = Session::new(&id, &project, &cwd, Agent::ClaudeCode.name(), None, runtime.now);
    let deadline = Instant::now() + Duration::from_mins(1);
    let budget = runtime.config.context.budget;
    let (text, _) = hooks::context(runtime, &store, &session, "compact", budget, deadline)?;
    if text.is_some() {
        answer.context = projection::context(&store, &project, &id)?;
    }
    answer.text = text;
    answer.session_id = Some(id);
    Ok(answer)
}

/// The session that was named, or the project's last one; none where it is not known.
fn meant(store: &Store, project: &Project, scope: &Scope) -> Result<Option<String>, Failure> {
    Ok(match &scope.session {
        Some(id) => store.session(&project.id, id)?.map(|session| session.id),
        None => store.sessions(&project.id, "", 1)?.into_iter().next().map(|session| session.id),
    })
}
