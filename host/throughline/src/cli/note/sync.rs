//! `throughline note sync`: syncs notes with a folder of Markdown files.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::context::NoteContext;
use super::{CommandError, Runtime, Store, output};
use throughline_engine::note_sync::{self as sync, SyncOptions, SyncReport};
use throughline_platform::paths;

/// Sync notes with a folder of Markdown files, both ways
///
/// Each note becomes a file in a folder named after its type. So does what sessions left by themselves, if a type of note fits
/// it: failures with their fixes, choices, rules, plans and summaries. `--dry-run` lists the files. Files that were added, edited, renamed or deleted change
/// the notes. If both a note and its file changed, the file stays, the note is written next to it as NAME.conflict.md,
/// and the exit code is 1 until you have edited the file as you want it and deleted the conflict file. You can track
/// the folder with git to share notes between machines.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The folder; by default .gsd/memories of the project
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Use the project of this folder, or the known project of this name or path, instead of the current one
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// List what would be done, file by file, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Delete the notes of deleted files even if most files are gone, as after switching branches
    #[arg(long)]
    delete: bool,
    /// Print an object: the numbers of stored, edited, … notes and files, the conflicts and warnings with their paths, and in
    /// a dry run changes (path, change)
    #[arg(long)]
    json: bool,
}

pub(super) fn run(runtime: &Runtime, mut store: Store, arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let context = NoteContext::of(runtime, arguments.project.as_deref(), arguments.folder.as_deref())?;
    context.require_enabled(runtime, "")?;
    let settings = SyncOptions { is_dry: arguments.dry_run, may_delete: arguments.delete, only_in: false };
    let report = sync::run(runtime, &mut store, &context.project, &context.folder, settings)?;
    runtime.finish();
    let status = if report.conflicts.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    if arguments.json {
        output::json(&report)?;
        return Ok(status);
    }
    print_warnings(&report, &context.folder)?;
    let mut out = output::stdout();
    for change in &report.changes {
        writeln!(out, "would be {}: {}", change.change, output::clean_line(&change.path))?;
    }
    let would = if arguments.dry_run { "would be " } else { "" };
    let notes =
        [(report.stored, "stored"), (report.edited, "edited"), (report.renamed, "renamed"), (report.deleted, "deleted")];
    let files = [(report.written, "written"), (report.rewritten, "rewritten"), (report.removed, "removed")];
    let summary = |list: &[(u64, &str)]| {
        let parts: Vec<String> = list
            .iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, what)| format!("{} {would}{what}", output::count(*number)))
            .collect();
        if parts.is_empty() { "no changes".to_owned() } else { parts.join(", ") }
    };
    let folder = output::clean_line(&paths::display(&context.folder, &runtime.paths.home));
    writeln!(
        out,
        "notes: {}; files in {folder}: {}; {} unchanged",
        summary(&notes),
        summary(&files),
        output::count(report.unchanged)
    )?;
    out.flush()?;
    Ok(status)
}

/// Prints conflicts and warnings on stderr, one line each.
pub(super) fn print_warnings(report: &SyncReport, folder: &Path) -> Result<(), CommandError> {
    let mut err = anstream::stderr().lock();
    for (label, list) in [("conflict", &report.conflicts), ("warning", &report.told)] {
        for told in list {
            let path = folder.join(&told.path);
            writeln!(err, "{label}: {}: {}", output::clean_line(&path.to_string_lossy()), output::clean_line(&told.why))?;
        }
    }
    Ok(())
}
