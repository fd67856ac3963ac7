//! `throughline memory forget`.

use std::io::Write;
use std::path::PathBuf;

use serde::Serialize;

use super::{Failure, Runtime, Store, output};
use crate::hooks;
use crate::log;
use crate::privacy::intervals::{Interval, Intervals};
use crate::project::Project;
use crate::store::{Forgotten, Selection, folded};

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

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    forgotten: Forgotten,
    log_lines: u64,
    dry_run: bool,
}

pub(super) fn run(runtime: &Runtime, mut store: Store, arguments: &Arguments) -> Result<(), Failure> {
    let selection = selection(arguments)?;
    if arguments.yes && selection.words.is_empty() {
        // First, so that a kill on the way cannot leave what a next reading would bring back.
        let interval = Interval {
            project: selection.project.clone(),
            session: selection.session.clone(),
            root: None,
            from: 0,
            to: Some(selection.before.unwrap_or(runtime.now)),
        };
        Intervals::change(&runtime.paths.intervals(), |all| {
            if !all.contains(&interval) {
                all.push(interval);
            }
        })
        .map_err(Failure::new)?;
    }
    // What is still in a journal would come into the store afterwards.
    hooks::take_journals(runtime, &mut store)?;
    let projects = store.all_projects()?;
    let forgotten = store.forget(&selection, runtime.now, arguments.yes)?;
    let mut log_lines = 0;
    if arguments.yes {
        let is_gone = |line: &str| {
            let line = folded(line);
            let of_words = !selection.words.is_empty() && selection.words.iter().all(|word| line.contains(word.as_str()));
            of_words || selection.session.as_ref().is_some_and(|id| selection.words.is_empty() && line.contains(&folded(id)))
        };
        log_lines = log::forget(&runtime.paths.log(), is_gone).map_err(|error| {
            Failure::new(format!("the log cannot be rewritten: {error}")).hint("mend that, and say it again")
        })?;
        super::erase(&store, "deleted")?;
        super::make_anew(runtime, &store, &projects)?;
    }
    let report = Report { forgotten, log_lines, dry_run: !arguments.yes };
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
    let before = arguments.before.as_deref().map(moment).transpose()?;
    let words = arguments.words.as_deref().map(words).unwrap_or_default();
    if arguments.words.is_some() && words.iter().all(|word| word.chars().count() < 3) {
        return Err(
            Failure::new("--match needs a word of at least three characters").hint("say more of what is to be forgotten")
        );
    }
    Ok(Selection { project, session: arguments.session.clone(), before, words })
}

/// Words, and what stands in quotes as one.
fn words(query: &str) -> Vec<String> {
    query
        .split('"')
        .enumerate()
        .flat_map(|(at, part)| match at % 2 {
            1 => vec![part.trim()],
            _ => part.split_whitespace().collect(),
        })
        .filter(|word| !word.is_empty())
        .map(folded)
        .collect()
}

fn moment(text: &str) -> Result<u64, Failure> {
    let zoned = |day: jiff::civil::Date| day.to_zoned(jiff::tz::TimeZone::system()).ok().map(|day| day.timestamp());
    let at = text.parse::<jiff::Timestamp>().ok().or_else(|| text.parse::<jiff::civil::Date>().ok().and_then(zoned));
    at.and_then(|at| u64::try_from(at.as_millisecond()).ok())
        .ok_or_else(|| Failure::new(format!("{text:?} is no date")).hint("such as 2026-01-31, or 2026-01-31T12:00:00Z"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn words_of_a_query() {
        assert_eq!(super::words("Alpha \"two Words\" b"), ["alpha", "two words", "b"]);
        assert!(super::moment("2026-01-31").is_ok() && super::moment("2026-01-31T00:00:00Z").is_ok());
        assert!(super::moment("soon").is_err());
    }
}
