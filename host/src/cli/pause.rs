//! `throughline pause` and `throughline resume`.

use std::io::Write;
use std::path::PathBuf;

use super::failure::{Done, Failure};
use super::output;
use crate::paths;
use crate::privacy::intervals::{self, Interval, Intervals};
use crate::project::Project;

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

/// Remember again
///
/// Ends what `throughline pause` began, for the same project or session. What was said in between stays unread.
#[derive(clap::Args)]
pub(super) struct Resumption {
    #[command(flatten)]
    scope: Scope,
    /// Whatever is paused
    #[arg(long, conflicts_with_all = ["project", "session"])]
    all: bool,
}

#[derive(clap::Args)]
struct Scope {
    /// The project of this folder, instead of the present one
    #[arg(long, value_name = "DIR", conflicts_with = "session")]
    project: Option<PathBuf>,
    /// This session only, by its whole identifier
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

impl Scope {
    fn interval(&self, now: u64) -> Result<Interval, Failure> {
        if let Some(session) = &self.session {
            if session.is_empty() || session.len() > 128 {
                return Err(
                    Failure::new("that is no session's identifier").hint("it is the name of its transcript, without .jsonl")
                );
            }
            return Ok(Interval { session: Some(session.clone()), from: now, ..Interval::default() });
        }
        let project = Project::of(&super::memory::folder(self.project.as_deref())?);
        Ok(Interval { project: Some(project.id), root: Some(project.root), from: now, ..Interval::default() })
    }
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

pub(super) fn resume(arguments: &Resumption) -> Result<Done, Failure> {
    let runtime = super::runtime()?;
    let wanted = arguments.scope.interval(runtime.now)?;
    let what = if arguments.all { "everything".to_owned() } else { name(&wanted, &runtime.paths.home) };
    let is_wanted = |it: &Interval| arguments.all || (&it.project, &it.session) == (&wanted.project, &wanted.session);
    let ended = Intervals::change(&runtime.paths.intervals(), |all| intervals::resume(all, runtime.now, is_wanted))
        .map_err(Failure::new)?;
    let mut out = output::stdout();
    writeln!(
        out,
        "{what} {}",
        if ended > 0 { "is remembered again; what was said in between is not" } else { "was not paused" }
    )?;
    out.flush()?;
    Ok(Done::Well)
}

/// What is paused, in words.
fn name(interval: &Interval, home: &std::path::Path) -> String {
    match (&interval.session, &interval.root) {
        (Some(session), _) => format!("session {}", output::clean_line(session)),
        (None, Some(root)) => output::clean_line(&paths::display(root, home)),
        (None, None) => "everything".into(),
    }
}
