//! `throughline memory forget`: deletes everything that was learned from certain words, sessions, projects or times.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::cli::copies;
use crate::cli::error::CommandError;
use crate::cli::output::{self, BOLD, DIM};
use crate::cli::scope;
use throughline_engine::hooks;
use throughline_engine::memory::deletion::{self, DeletedMemory, Deletion, ForgetReport};
use throughline_engine::memory::kept;
use throughline_engine::runtime::Runtime;
use throughline_engine::targets;
use throughline_model::project::Project;
use throughline_store::{ForgetCounts, Selection, Store};

/// Forget by words, session, project or time
///
/// Deletes what matches all given options: memories, and everything that was derived from the same lines, such as
/// notes, summaries, states, events, the full-text index, free pages, the write-ahead log and lines of the log. Unless
/// an option names a session, another project or all projects, this is about the project of the current folder.
/// Reading the transcripts again does not bring anything back: older lines of the session, project or time are no
/// longer read, and texts that were deleted by their words are not stored again. The transcripts themselves belong to
/// the agent and are not changed.
///
/// Without `--yes` the command only shows what would be deleted. For a day, `throughline memory unforget` brings it
/// back; until then it is kept in a file of its own that nothing else reads. With `--now` it is gone at once, and so is
/// everything that was forgotten earlier and could still be brought back. `--now` with the identifiers of deletions only
/// erases these, and deletes nothing else.
#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("what").multiple(true).args(["deletions", "words", "session", "project", "after", "before", "now"])))]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(super) struct Arguments {
    /// With --now: earlier deletions to erase, as `throughline memory unforget` lists them
    #[arg(value_name = "DELETION", requires = "now", conflicts_with_all = ["words", "session", "project", "after", "before", "all_projects"])]
    deletions: Vec<String>,
    /// Texts that contain every word of QUERY, in upper or lower case and also as a part of a longer word: `cloud` matches
    /// `cloudMode`. "Words in quotes" count as one
    #[arg(long = "match", value_name = "QUERY")]
    words: Option<String>,
    /// A session; the beginning of its identifier is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The project of this folder, or the known project of this name or path
    #[arg(long, value_name = "DIR", conflicts_with = "all_projects")]
    project: Option<PathBuf>,
    /// Everything learned since this day or moment, which takes the same forms as --before. A session that began earlier loses
    /// its notes and summary as a whole
    #[arg(long, value_name = "DATE")]
    after: Option<String>,
    /// Everything learned before this day or moment: 2026-01-31, RFC 3339, `yesterday`, or how long ago: 12h, 7d, 2w
    #[arg(long, value_name = "DATE")]
    before: Option<String>,
    /// In all projects
    #[arg(long)]
    all_projects: bool,
    /// Show what would be deleted and delete nothing
    #[arg(long)]
    dry_run: bool,
    /// Delete what matches
    #[arg(long, conflicts_with = "dry_run")]
    yes: bool,
    /// Erase it from every byte at once, and what was forgotten within the last day too
    #[arg(long)]
    now: bool,
    /// Print an object: memories, sessions, notes, events, `log_lines`, `dry_run`, project, listed, `listed_sessions`,
    /// `listed_notes`, erased, undo, `kept_until`
    #[arg(long)]
    json: bool,
}

pub(super) fn run(runtime: &Runtime, mut store: Store, arguments: &Arguments) -> Result<(), CommandError> {
    let is_selection =
        arguments.words.is_some() || arguments.session.is_some() || arguments.after.is_some() || arguments.before.is_some();
    if !is_selection && arguments.project.is_none() && !arguments.now {
        return Err(CommandError::usage("say what to forget: --match, --session, --project, --after or --before")
            .hint("`throughline memory forget --match 'some words'` shows what would be deleted, and deletes nothing"));
    }
    if !is_selection && arguments.project.is_none() {
        return erase_kept(runtime, arguments);
    }
    // A session that just began is only in a journal.
    hooks::store_all_journals(runtime, &mut store)?;
    let (selection, project) = selection(runtime, &store, arguments)?;
    let deletion = match (arguments.yes, arguments.now) {
        (false, _) => Deletion::Preview,
        (true, false) => Deletion::Undoable,
        (true, true) => Deletion::Final,
    };
    let report = deletion::forget(runtime, &mut store, &selection, &what(arguments), deletion)?;
    if arguments.yes {
        copies::warn_of_copies(store.path())?;
    }
    if arguments.json {
        return output::json(&report);
    }
    let place = match (&project, &selection.session) {
        (Some(project), None) => scope::describe(project, &runtime.paths.home),
        (Some(project), Some(session)) => {
            format!("session {} of {}", output::clean_line(session), scope::describe(project, &runtime.paths.home))
        }
        (None, Some(session)) => format!("session {}", output::clean_line(session)),
        (None, None) => "all projects".into(),
    };
    print(&report, &place, arguments)
}

fn print(report: &ForgetReport, place: &str, arguments: &Arguments) -> Result<(), CommandError> {
    let mut out = output::stdout();
    if report.is_empty() {
        writeln!(out, "nothing was found in {place}")?;
        out.flush()?;
        if !arguments.all_projects && arguments.session.is_none() {
            writeln!(anstream::stderr().lock(), "hint: --all-projects looks in all projects")?;
        }
        return print_erased(report.erased);
    }
    writeln!(out, "in {place}:")?;
    write_memories(&mut out, &report.listed, report.forgotten.memories)?;
    write_others(&mut out, report)?;
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
    let mut err = anstream::stderr().lock();
    match &report.undo {
        Some(id) => writeln!(err, "{}", undo_hint(id))?,
        None if report.dry_run && !arguments.dry_run => writeln!(err, "nothing was deleted; use --yes to delete")?,
        None => {}
    }
    print_erased(report.erased)
}

/// Says how a deletion can be undone.
pub(super) fn undo_hint(id: &str) -> String {
    format!(
        "hint: for a day, `throughline memory unforget {id}` brings it back; `throughline memory forget --now {id} --yes` erases it"
    )
}

/// Lists memories with the places that matched, and says how many more there are than the list has.
pub(super) fn write_memories(out: &mut impl Write, listed: &[DeletedMemory], all: u64) -> Result<(), CommandError> {
    for DeletedMemory { id, kind, title, pinned, matched } in listed {
        let (id, kind, title) = (output::clean_line(id), output::clean_line(kind), output::clean_line(title));
        let pinned = if *pinned { " (pinned)" } else { "" };
        writeln!(out, "  {DIM}{}  {}{DIM:#}  {title}{BOLD}{pinned}{BOLD:#}", output::pad(&id, 12), output::pad(&kind, 15))?;
        if let Some(matched) = matched {
            writeln!(
                out,
                "  {DIM}{}  {}  matched: {}{DIM:#}",
                output::pad("", 12),
                output::pad("", 15),
                output::clean_line(matched)
            )?;
        }
    }
    write_more(out, listed.len(), all)
}

/// Lists sessions and the texts of notes.
fn write_others(out: &mut impl Write, report: &ForgetReport) -> Result<(), CommandError> {
    for session in &report.listed_sessions {
        let (id, title) = (output::clean_line(&session.id), output::clean_line(first_line(&session.title)));
        writeln!(out, "  {DIM}{}  session{DIM:#}  {title}", output::pad(&id, 12))?;
    }
    write_more(out, report.listed_sessions.len(), report.forgotten.sessions)?;
    // The notes of a session say the same in several places.
    let mut seen = BTreeSet::new();
    for note in report.listed_notes.iter().filter(|note| seen.insert(first_line(note))) {
        writeln!(out, "  {DIM}of another session's notes{DIM:#}  {}", output::clean_line(first_line(note)))?;
    }
    Ok(())
}

fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default()
}

/// Says how many there are besides the listed ones.
fn write_more(out: &mut impl Write, listed: usize, all: u64) -> Result<(), CommandError> {
    let more = all.saturating_sub(listed as u64);
    if more > 0 {
        writeln!(out, "  {DIM}and {} more{DIM:#}", output::count(more))?;
    }
    Ok(())
}

/// Says that earlier deletions can no longer be undone.
fn print_erased(erased: usize) -> Result<(), CommandError> {
    if erased > 0 {
        let erased = output::counted(erased as u64, "earlier deletion", "earlier deletions");
        writeln!(anstream::stderr().lock(), "{erased} can no longer be undone")?;
    }
    Ok(())
}

/// Erases what was forgotten within the last day, or those of these deletions that are named.
fn erase_kept(runtime: &Runtime, arguments: &Arguments) -> Result<(), CommandError> {
    let mut kept = kept::all(runtime);
    if let Some(unknown) = arguments.deletions.iter().find(|id| kept.iter().all(|it| it.id() != **id)) {
        return Err(CommandError::new(format!("there is no deletion {unknown} of the last day; nothing was erased"))
            .hint("`throughline memory unforget` lists the deletions with their identifiers"));
    }
    let erased = if arguments.deletions.is_empty() {
        if arguments.yes { kept::delete_all(runtime)? } else { 0 }
    } else {
        kept.retain(|it| arguments.deletions.contains(&it.id()));
        if arguments.yes {
            kept.iter().try_for_each(kept::delete)?;
            kept.len()
        } else {
            0
        }
    };
    if arguments.json {
        return output::json(&ForgetReport { dry_run: !arguments.yes, erased, ..ForgetReport::default() });
    }
    let mut out = output::stdout();
    for one in &kept {
        super::unforget::write(&mut out, runtime, one, usize::MAX)?;
    }
    let count = output::counted(kept.len() as u64, "deletion", "deletions");
    writeln!(out, "{} {count} of the last day", if arguments.yes { "erased" } else { "would erase" })?;
    out.flush()?;
    if !arguments.yes && !arguments.dry_run {
        writeln!(anstream::stderr().lock(), "nothing was erased; use --yes to erase")?;
    }
    Ok(())
}

fn selection(runtime: &Runtime, store: &Store, arguments: &Arguments) -> Result<(Selection, Option<Project>), CommandError> {
    let session = arguments.session.as_deref().map(|typed| scope::resolve_session(store, typed)).transpose()?;
    let is_elsewhere = arguments.all_projects || (session.is_some() && arguments.project.is_none());
    let selected = if is_elsewhere { None } else { Some(targets::find_project(runtime, arguments.project.as_deref())?) };
    let after = arguments.after.as_deref().map(deletion::parse_time).transpose()?;
    let before = arguments.before.as_deref().map(deletion::parse_time).transpose()?;
    if let (Some(after), Some(before)) = (after, before)
        && after >= before
    {
        return Err(CommandError::usage("--after is not earlier than --before, so there is nothing between them")
            .hint("`--after 2026-01-30 --before 2026-01-31` means the 30th"));
    }
    let words = arguments.words.as_deref().map(deletion::parse_words).transpose()?.unwrap_or_default();
    let project = selected.as_ref().map(|project| project.id.clone());
    // People are told which project a session belongs to.
    let named = match (selected, &session) {
        (None, Some(session)) => store.project_of_session(session)?,
        (selected, _) => selected,
    };
    Ok((Selection { project, session, after, before, words }, named))
}

/// Returns what was asked for, as the options say it.
fn what(arguments: &Arguments) -> String {
    let project = arguments.project.as_deref().map(Path::to_string_lossy);
    let options = [
        ("--match", arguments.words.as_deref()),
        ("--session", arguments.session.as_deref()),
        ("--project", project.as_deref()),
        ("--after", arguments.after.as_deref()),
        ("--before", arguments.before.as_deref()),
    ];
    let mut what = "memory forget".to_owned();
    for (name, value) in options {
        if let Some(value) = value {
            what = format!("{what} {name} {value}");
        }
    }
    if arguments.all_projects { what + " --all-projects" } else { what }
}
