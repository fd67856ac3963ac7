//! `throughline memory forget`.

use std::io::Write;
use std::path::PathBuf;

use super::{Failure, Runtime, Store, output};
use throughline_engine::memory::forgetting::{self, Report};
use throughline_model::project::Project;
use throughline_store::{Forgotten, Selection};

/// Forget for good what was said: by words, session, project or time
///
/// What all given options say yes to is deleted, memories with all that was derived from the same lines: notes, summaries,
/// states, events, the full-text index, free pages, the write-ahead log, lines of the log. Reading the transcripts again does
/// not bring it back: of a session, a project and a time no line from before is read any more, and of words the very texts
/// stay out. The transcripts themselves belong to the agent and are left alone.
///
/// Without `--yes` it says what would go, and deletes nothing.
#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("what").required(true).multiple(true).args(["words", "session", "project", "before"])))]
pub(super) struct Arguments {
    /// Texts in which every word of QUERY stands, in any case; "in quotes" is one word
    #[arg(long = "match", value_name = "QUERY")]
    words: Option<String>,
    /// A session, by its whole identifier
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The project of this folder
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// What was learned before this day or moment: 2026-01-31, or RFC 3339
    #[arg(long, value_name = "DATE")]
    before: Option<String>,
    /// Count what would go, and delete nothing
    #[arg(long)]
    dry_run: bool,
    /// Delete it
    #[arg(long, conflicts_with = "dry_run")]
    yes: bool,
    /// Print an object: memories, sessions, notes, events, `log_lines`, `dry_run`
    #[arg(long)]
    json: bool,
}

pub(super) fn run(runtime: &Runtime, mut store: Store, arguments: &Arguments) -> Result<(), Failure> {
    let selection = selection(arguments)?;
    let report = forgetting::forget(runtime, &mut store, &selection, arguments.yes)?;
    if arguments.yes {
        super::warn_of_copies(store.path())?;
    }
    if arguments.json {
        return output::json(&report);
    }
    tell(&report, arguments.dry_run)
}

fn tell(report: &Report, asked: bool) -> Result<(), Failure> {
    let mut out = output::stdout();
    let Forgotten { memories, sessions, notes, events } = report.forgotten;
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
    if report.dry_run && !asked {
        writeln!(anstream::stderr().lock(), "nothing was deleted; --yes does it")?;
    }
    Ok(())
}

fn selection(arguments: &Arguments) -> Result<Selection, Failure> {
    let project = match &arguments.project {
        Some(folder) => Some(Project::of(&super::folder(Some(folder))?).id),
        None => None,
    };
    let before = arguments.before.as_deref().map(forgetting::moment).transpose()?;
    let words = arguments.words.as_deref().map(forgetting::words).transpose()?.unwrap_or_default();
    Ok(Selection { project, session: arguments.session.clone(), before, words })
}
