//! `throughline pause` and `throughline resume`: stop remembering a project or a session, and start again.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;

use super::environment;
use super::error::CommandError;
use super::output;
use super::scope;
use throughline_engine::hooks::STORE_BUSY_TIMEOUT;
use throughline_engine::runtime::Runtime;
use throughline_engine::targets;
use throughline_model::project::Project;
use throughline_privacy::intervals::{self, Interval, Intervals};
use throughline_store::Access;

/// Stop remembering a project or session until `resume`
///
/// While a project or session is paused, nothing of it is read and it gets no context. What is said during the pause is
/// never read later either, neither by `ingest` nor from a copy of the session. What is already stored stays. Inside a
/// session of Claude Code, `--session "$CLAUDE_CODE_SESSION_ID"` pauses that session.
#[derive(clap::Args)]
pub(super) struct PauseArguments {
    #[command(flatten)]
    scope: Scope,
}

/// Remember a paused project or session again
///
/// Ends what `throughline pause` began for the same project or session. What was said during the pause stays unread. To
/// print what was saved of a session, use `throughline session context`.
#[derive(clap::Args)]
pub(super) struct ResumeArguments {
    #[command(flatten)]
    scope: Scope,
    /// End every pause
    #[arg(long, conflicts_with_all = ["project", "session"])]
    all: bool,
    /// Print an object: resumed, `still_paused`
    #[arg(long)]
    json: bool,
}

/// What is paused.
#[derive(clap::Args)]
struct Scope {
    /// Use the project of this folder, or the known project of this name or path, instead of the current one
    #[arg(long, value_name = "DIR", conflicts_with = "session")]
    project: Option<PathBuf>,
    /// Only this session; the beginning of its identifier is enough once something of it is stored
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

/// What `resume` prints with `--json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Resumed {
    /// Whether a pause was ended.
    resumed: bool,
    /// Whether the project or session is still paused for another reason, such as a session of a project that is
    /// paused.
    still_paused: bool,
}

impl Scope {
    fn interval(&self, runtime: &Runtime) -> Result<Interval, CommandError> {
        let from = runtime.now;
        if let Some(session) = &self.session {
            // A pause is also for a session of which nothing is stored, on a machine that has no database yet.
            let store = runtime.store(Access::Existing, STORE_BUSY_TIMEOUT).ok();
            let session = scope::resolve_any_session(store.as_ref(), session)?;
            return Ok(Interval { session: Some(session), from, ..Interval::default() });
        }
        let project = targets::find_project(runtime, self.project.as_deref())?;
        Ok(Interval { project: Some(project.id), root: Some(project.root), from, ..Interval::default() })
    }
}

pub(super) fn pause(arguments: &PauseArguments) -> Result<ExitCode, CommandError> {
    let runtime = environment::runtime()?;
    let interval = arguments.scope.interval(&runtime)?;
    let name = name(&interval, &runtime.paths.home);
    let begun = Intervals::update(&runtime.paths.intervals(), |all| intervals::pause(all, interval))?;
    let mut out = output::stdout();
    writeln!(
        out,
        "{name} {}",
        if begun { "is paused: nothing is read or shown until `throughline resume`" } else { "was paused already" }
    )?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn resume(arguments: &ResumeArguments) -> Result<ExitCode, CommandError> {
    let runtime = environment::runtime()?;
    let wanted = arguments.scope.interval(&runtime)?;
    let is_wanted = |it: &Interval| arguments.all || (&it.project, &it.session) == (&wanted.project, &wanted.session);
    let is_paused = runtime.intervals.paused().any(is_wanted);
    let ended = if is_paused {
        Intervals::update(&runtime.paths.intervals(), |all| intervals::resume(all, runtime.now, is_wanted))?
    } else {
        0
    };
    let left = Intervals::load(&runtime.paths.intervals())?;
    let (project, session) = (wanted.project.as_deref().unwrap_or_default(), wanted.session.as_deref().unwrap_or_default());
    let resumed = Resumed { resumed: ended > 0, still_paused: left.is_paused(project, session) };
    if arguments.json {
        output::json(&resumed)?;
        return Ok(ExitCode::SUCCESS);
    }
    let name = if arguments.all { "everything".to_owned() } else { name(&wanted, &runtime.paths.home) };
    let mut out = output::stdout();
    if resumed.resumed {
        writeln!(out, "{name} is remembered again; what was said during the pause is not")?;
    } else if arguments.all {
        writeln!(out, "nothing is paused")?;
    } else {
        writeln!(out, "{name} is not paused")?;
    }
    out.flush()?;
    let mut err = anstream::stderr().lock();
    if resumed.still_paused {
        writeln!(err, "hint: another pause still applies; `throughline resume --all` ends every pause")?;
    } else if !resumed.resumed {
        writeln!(err, "hint: `throughline session context` prints what was saved of the last session")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Names what is paused, for people.
fn name(interval: &Interval, home: &std::path::Path) -> String {
    match (&interval.session, &interval.root) {
        (Some(session), _) => format!("session {}", output::clean_line(session)),
        (None, Some(root)) => {
            scope::describe(&Project { id: String::new(), identity: String::new(), root: root.clone() }, home)
        }
        (None, None) => "everything".into(),
    }
}
