//! `throughline failures`: recurring failures and what fixed them.

use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;

use super::error::CommandError;
use super::events;
use super::output::{self, BOLD, DIM, GREEN, RED};
use super::pager;
use super::scope::{self, Scope};
use throughline_engine::runtime::Runtime;
use throughline_platform::paths;
use throughline_store as store;

/// Show failures, the most frequent first, and what fixed them
///
/// The most frequent failure comes first; one that happened only once is listed too. Two failures count as the same if the same thing was tried and the errors
/// differ only in paths, numbers and the like. What the agent is told at the start of a session counts the sessions with the same
/// trouble, whatever was tried: if the error came in more sessions than the failure, the list says so too.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Only failures of this session; the beginning of its identifier is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only failures that are not fixed, or that came back after a fix
    #[arg(long)]
    open: bool,
    #[command(flatten)]
    scope: Scope,
    /// Show at most this many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = crate::cli::number::limit)]
    limit: u32,
    /// Skip this many first
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: u32,
    /// Print an array of objects: id, subject, error, files, count, sessions, `first_at`, `last_at`, open, fix,
    /// `fixed_at`, …
    #[arg(long)]
    json: bool,
}

/// A failure as printed with `--json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct FailureEntry<'a> {
    id: i64,
    /// What was tried.
    subject: &'a str,
    error: &'a str,
    /// The normalized error that identifies the failure.
    signature: &'a str,
    files: &'a [String],
    count: u32,
    /// In how many sessions.
    sessions: u32,
    /// In how many sessions its error came, whatever was tried.
    error_sessions: u32,
    /// RFC 3339, UTC.
    first_at: String,
    last_at: String,
    open: bool,
    /// What was done between the failure and the success.
    fix: Option<&'a str>,
    fixed_at: Option<String>,
    /// The root folder of its project.
    project: &'a str,
}

impl<'a> FailureEntry<'a> {
    pub(super) fn new(failure: &'a store::Failure) -> Self {
        Self {
            id: failure.id,
            subject: &failure.subject,
            error: &failure.error,
            signature: &failure.signature,
            files: &failure.files,
            count: failure.count,
            sessions: failure.sessions,
            error_sessions: failure.error_sessions,
            first_at: output::timestamp(failure.first_at),
            last_at: output::timestamp(failure.last_at),
            open: failure.is_open(),
            fix: failure.fix.as_deref(),
            fixed_at: failure.fixed_at.map(output::timestamp),
            project: &failure.project,
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let (runtime, store) = events::open()?;
    let project = arguments.scope.project(&runtime)?;
    let session = arguments.session.as_deref().map(|id| scope::resolve_session(&store, id)).transpose()?;
    let id = project.as_ref().map(|project| project.id.as_str());
    let most = arguments.limit.saturating_add(1);
    let mut found = store.failures_from(id, session.as_deref(), arguments.open, arguments.offset, most)?;
    let is_more = output::cut(&mut found, arguments.limit);
    if arguments.json {
        output::json(&found.iter().map(FailureEntry::new).collect::<Vec<_>>())?;
    } else if found.is_empty() {
        let what = if arguments.open { "no open failures" } else { "no failures" };
        scope::print_nothing_found(&runtime, &store, &arguments.scope, what)?;
    } else {
        let mut out = Vec::new();
        for failure in &found {
            write(&mut out, &runtime, failure, project.is_none())?;
        }
        pager::write(&out)?;
        if is_more {
            output::print_first("most frequent", found.len())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Says how often a failure occurred, and in how many sessions its error did if these are more.
fn how_often(count: u32, sessions: u32, error_sessions: u32) -> String {
    let among = if sessions > 1 { format!(" in {sessions} sessions") } else { String::new() };
    let error = if error_sessions > sessions { format!(" (its error in {error_sessions} sessions)") } else { String::new() };
    format!("{count}×{among}{error}")
}

/// Prints a failure in two or three lines: what failed and how often, the error, and the fix.
pub(super) fn write(
    out: &mut impl Write,
    runtime: &Runtime,
    failure: &store::Failure,
    projects: bool,
) -> Result<(), CommandError> {
    let mark = match (output::has_colours(), failure.is_open()) {
        (true, true) => format!("{RED}✗{RED:#}"),
        (true, false) => format!("{GREEN}✓{GREEN:#}"),
        (false, true) => "failed".into(),
        (false, false) => "fixed ".into(),
    };
    let often = how_often(failure.count, failure.sessions, failure.error_sessions);
    let root = if projects {
        format!("  {}", output::clean_line(&paths::display(failure.project.as_ref(), &runtime.paths.home)))
    } else {
        String::new()
    };
    writeln!(
        out,
        "{mark} {BOLD}{}{BOLD:#}  {DIM}{often}, {}{root}{DIM:#}",
        output::clean_line(&failure.subject),
        output::ago(failure.last_at, runtime.now),
    )?;
    let most = output::width().map_or(usize::MAX, |width| width.saturating_sub(6).max(20));
    writeln!(out, "    {}", output::fit(&output::clean_line(&failure.error), most))?;
    if let Some(fix) = &failure.fix {
        let fixed = if failure.is_open() { "once fixed by" } else { "fixed by" };
        let head = format!("    {DIM}{fixed}:{DIM:#} ");
        output::write_hanging(out, &head, 4 + fixed.len() + 2, fix)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_told_if_they_are_several() {
        assert_eq!(how_often(2, 1, 1), "2×");
        assert_eq!(how_often(3, 2, 2), "3× in 2 sessions");
        assert_eq!(how_often(1, 1, 3), "1× (its error in 3 sessions)");
        assert_eq!(how_often(4, 2, 3), "4× in 2 sessions (its error in 3 sessions)");
    }
}
