//! `throughline pause`.

use std::io::Write;
use std::path::PathBuf;

use super::failure::{Done, Failure};
use super::output;
use throughline_model::project::Project;
use throughline_platform::paths;
use throughline_privacy::intervals::{self, Interval, Intervals};

/// Stop remembering for a while
///
/// Of the project, or of one session, nothing is read and it is told nothing, until `throughline resume`. What was said in
/// between is not read afterwards either, by no `ingest` and not out of a copy of the session. What is remembered already
/// stays. Inside a session of Claude Code, `--session "$CLAUDE_CODE_SESSION_ID"` is the session itself.
#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    scope: Scope,
}

/// What is paused.
#[derive(clap::Args)]
pub(super) struct Scope {
    /// The project of this folder, instead of the present one
    #[arg(long, value_name = "DIR", conflicts_with = "session")]
    pub(super) project: Option<PathBuf>,
    /// This session only, by its whole identifier
    #[arg(long, value_name = "ID")]
    pub(super) session: Option<String>,
}

impl Scope {
    pub(super) fn interval(&self, now: u64) -> Result<Interval, Failure> {
        if let Some(session) = &self.session {
            check_session(session)?;
            return Ok(Interval { session: Some(session.clone()), from: now, ..Interval::default() });
        }
        let project = Project::of(&super::memory::folder(self.project.as_deref())?);
        Ok(Interval { project: Some(project.id), root: Some(project.root), from: now, ..Interval::default() })
    }
}

/// Refuses what can be no session's identifier.
pub(super) fn check_session(session: &str) -> Result<(), Failure> {
    if session.trim().is_empty() || session.len() > 128 {
        return Err(Failure::new("that is no session's identifier").hint("it is the name of its transcript, without .jsonl"));
    }
    Ok(())
}

pub(super) fn pause(arguments: &Arguments) -> Result<Done, Failure> {
    let runtime = super::runtime()?;
    let interval = arguments.scope.interval(runtime.now)?;
    let what = name(&interval, &runtime.paths.home);
    let begun =
        Intervals::change(&runtime.paths.intervals(), |all| intervals::pause(all, interval)).map_err(Failure::new)?;
    let mut out = output::stdout();
    writeln!(
        out,
        "{what} {}",
        if begun { "is paused: nothing is read or told until `throughline resume`" } else { "was paused already" }
    )?;
    out.flush()?;
    Ok(Done::Well)
}

/// What is paused, in words.
pub(super) fn name(interval: &Interval, home: &std::path::Path) -> String {
    match (&interval.session, &interval.root) {
        (Some(session), _) => format!("session {}", output::clean_line(session)),
        (None, Some(root)) => output::clean_line(&paths::display(root, home)),
        (None, None) => "everything".into(),
    }
}
