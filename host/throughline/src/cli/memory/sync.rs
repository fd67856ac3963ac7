//! `throughline memory sync`.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::notes::Desk;
use super::{Done, Failure, Runtime, Store, output};
use throughline_engine::note_sync::{self as sync, Report, Settings};
use throughline_platform::paths;

/// Bring notes and a folder of Markdown to agree
///
/// Notes become files, one each in a folder of its type, and files that were written, edited, renamed or deleted change the notes.
/// Where both changed, the file stays, the note is written beside it as NAME.conflict.md, and the exit code is 1 until you have
/// made the file what you want and deleted that one. The folder can be tracked with git: machines that sync it come to agree.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The folder; without it .gsd/memories of the project
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// The project of this folder, instead of the present one
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Delete the notes of files that are gone even where most of them are, as after a change of branches
    #[arg(long)]
    delete: bool,
    /// Print an object: numbers of stored, edited, …, and what was told, with the paths
    #[arg(long)]
    json: bool,
}

pub(super) fn run(runtime: &Runtime, mut store: Store, arguments: &Arguments) -> Result<Done, Failure> {
    let desk = Desk::of(arguments.project.as_deref(), arguments.folder.as_deref())?;
    desk.insist_on(runtime, "")?;
    let settings = Settings { is_dry: arguments.dry_run, may_delete: arguments.delete };
    let report = sync::run(runtime, &mut store, &desk.project, &desk.folder, settings)?;
    runtime.finish();
    let done = if report.conflicts.is_empty() { Done::Well } else { Done::Badly };
    if arguments.json {
        output::json(&report)?;
        return Ok(done);
    }
    tell(&report, &desk.folder)?;
    let mut out = output::stdout();
    let would = if arguments.dry_run { "would be " } else { "" };
    let notes =
        [(report.stored, "stored"), (report.edited, "edited"), (report.renamed, "renamed"), (report.deleted, "deleted")];
    let files = [(report.written, "written"), (report.rewritten, "rewritten"), (report.removed, "removed")];
    let said = |list: &[(u64, &str)]| {
        let said: Vec<String> = list
            .iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, what)| format!("{} {would}{what}", output::count(*number)))
            .collect();
        if said.is_empty() { "none changed".to_owned() } else { said.join(", ") }
    };
    let folder = output::clean_line(&paths::display(&desk.folder, &runtime.paths.home));
    writeln!(
        out,
        "notes: {}; files in {folder}: {}; {} agree",
        said(&notes),
        said(&files),
        output::count(report.unchanged)
    )?;
    out.flush()?;
    Ok(done)
}

/// Tells what a person should know, a line each, on stderr.
pub(super) fn tell(report: &Report, folder: &Path) -> Result<(), Failure> {
    let mut err = anstream::stderr().lock();
    for (label, list) in [("conflict", &report.conflicts), ("warning", &report.told)] {
        for told in list {
            let path = folder.join(&told.path);
            writeln!(err, "{label}: {}: {}", output::clean_line(&path.to_string_lossy()), output::clean_line(&told.why))?;
        }
    }
    Ok(())
}
