//! `throughline memory forget`: deletes everything that was learned from certain words, sessions, projects or times.

use std::io::Write;
use std::path::PathBuf;

use crate::cli::copies;
use crate::cli::error::CommandError;
use crate::cli::output;
use crate::cli::scope;
use throughline_engine::memory::deletion::{self, ForgetReport};
use throughline_engine::runtime::Runtime;
use throughline_model::project::Project;
use throughline_store::{ForgetCounts, Selection, Store};

/// Forget by words, session, project or time, for good
///
/// Deletes what matches all given options: memories, and everything that was derived from the same lines, such as
/// notes, summaries, states, events, the full-text index, free pages, the write-ahead log and lines of the log. Reading
/// the transcripts again does not bring it back: older lines of the session, project or time are no longer read, and
/// texts that were deleted by their words are not stored again. The transcripts themselves belong to the agent and are
/// not changed.
///
/// Without `--yes` the command only shows what would be deleted.
#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("what").required(true).multiple(true).args(["words", "session", "project", "before"])))]
pub(super) struct Arguments {
    /// Texts that contain every word of QUERY, in upper or lower case; "words in quotes" count as one
    #[arg(long = "match", value_name = "QUERY")]
    words: Option<String>,
    /// A session, by its full identifier
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The project of this folder
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Everything learned before this day or moment: 2026-01-31, or RFC 3339
    #[arg(long, value_name = "DATE")]
    before: Option<String>,
    /// Count what would be deleted and delete nothing
    #[arg(long)]
    dry_run: bool,
    /// Delete what matches
    #[arg(long, conflicts_with = "dry_run")]
    yes: bool,
    /// Print an object: memories, sessions, notes, events, `log_lines`, `dry_run`
    #[arg(long)]
    json: bool,
}

pub(super) fn run(runtime: &Runtime, mut store: Store, arguments: &Arguments) -> Result<(), CommandError> {
    let selection = selection(arguments)?;
    let report = deletion::forget(runtime, &mut store, &selection, arguments.yes)?;
    if arguments.yes {
        copies::warn_of_copies(store.path())?;
    }
    if arguments.json {
        return output::json(&report);
    }
    print(&report, arguments.dry_run)
}

fn print(report: &ForgetReport, is_dry_run: bool) -> Result<(), CommandError> {
    let mut out = output::stdout();
    let ForgetCounts { memories, sessions, notes, events } = report.forgotten;
    writeln!(
        out,
        "{} {}, {}, {} of other sessions, {}",
        if report.dry_run { "would forget" } else { "forgot" },
        output::counted(memories, "memory", "memories"),
        output::counted(sessions, "session", "sessions"),
        output::counted(notes, "note", "notes"),
        output::counted(events, "event", "events"),
    )?;
    out.flush()?;
    if report.dry_run && !is_dry_run {
        writeln!(anstream::stderr().lock(), "nothing was deleted; use --yes to delete")?;
    }
    Ok(())
}

fn selection(arguments: &Arguments) -> Result<Selection, CommandError> {
    let project = match &arguments.project {
        Some(folder) => Some(Project::discover(&scope::folder(Some(folder))?).id),
        None => None,
    };
    let before = arguments.before.as_deref().map(deletion::parse_time).transpose()?;
    let words = arguments.words.as_deref().map(deletion::parse_words).transpose()?.unwrap_or_default();
    Ok(Selection { project, session: arguments.session.clone(), before, words })
}
