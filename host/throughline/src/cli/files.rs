//! `throughline files`: the files that sessions read and changed.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;

use super::error::CommandError;
use super::events::{self, Table, When};
use super::output::{self, DIM, RED};
use super::scope::{self, Scope};
use throughline_engine::runtime::Runtime;
use throughline_platform::paths;
use throughline_store::{EventFilter, FileUse, OBSERVATION};

/// Show the files that sessions read and changed, latest first
///
/// With a path: what was done with that file or in that folder, when, and in which session.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// A file or folder; for one that no longer exists, the end of its path is enough
    path: Option<PathBuf>,
    /// Only files of this session; the beginning of its identifier is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    #[command(flatten)]
    scope: Scope,
    /// Show at most this many files, or, with a path, events
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = crate::cli::number::limit)]
    limit: u32,
    /// Print an array of objects: path, `last_at`, `looked_at`, changed, failed, sessions, project; with a path, of
    /// events
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub(super) enum FilesOutput<'a> {
    /// Without a path.
    Files(Vec<FileEntry<'a>>),
    /// With a path: what was done with it, newest first.
    Events(Vec<events::EventEntry<'a>>),
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct FileEntry<'a> {
    path: &'a str,
    /// RFC 3339, UTC.
    last_at: String,
    /// How often it was read or found by a search.
    looked_at: u32,
    changed: u32,
    /// How often reading or changing it failed.
    failed: u32,
    /// In how many sessions.
    sessions: u32,
    /// The root folder of its project.
    project: &'a str,
}

impl<'a> FileEntry<'a> {
    fn new(file: &'a FileUse) -> Self {
        Self {
            path: &file.path,
            last_at: output::timestamp(file.last_at),
            looked_at: file.looked_at,
            changed: file.changed,
            failed: file.failed,
            sessions: file.sessions,
            project: &file.project,
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let (runtime, store) = events::open()?;
    let project = arguments.scope.project(&runtime)?;
    let id = project.as_ref().map(|project| project.id.clone());
    let session = arguments.session.as_deref().map(|id| scope::resolve_session(&store, id)).transpose()?;
    // The root of the project includes everything.
    let path = arguments.path.as_deref().map(|path| events::file_of(project.as_ref(), path)).filter(|it| !it.is_empty());
    if let Some(path) = path {
        let wanted = EventFilter {
            project: id,
            session,
            kinds: vec![OBSERVATION.into()],
            file: Some(path),
            ..EventFilter::default()
        };
        let found = store.events(&wanted, arguments.limit)?;
        if arguments.json {
            output::json(&FilesOutput::Events(events::entries(&found, &store.roots_of_events(&found)?)))?;
        } else if found.is_empty() {
            scope::print_nothing_found(&runtime, &store, &arguments.scope, "no tool call on this file")?;
        } else {
            let table = Table::new(&found, When::Ago, runtime.now);
            let mut out = output::stdout();
            for event in &found {
                table.write(&mut out, event, "", &events::short(&store, &event.session_id)?)?;
            }
            out.flush()?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let files = store.files(id.as_deref(), session.as_deref(), arguments.limit)?;
    if arguments.json {
        output::json(&FilesOutput::Files(files.iter().map(FileEntry::new).collect()))?;
    } else if files.is_empty() {
        scope::print_nothing_found(&runtime, &store, &arguments.scope, "no files")?;
    } else {
        print(&runtime, &files, project.is_none())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The columns of the numbers and the age, with the gaps before them.
const NUMBERS: usize = 2 + 5 + 2 + 7 + 2 + 6 + 2 + 8 + 2 + 9;

fn print(runtime: &Runtime, files: &[FileUse], projects: bool) -> Result<(), CommandError> {
    let path = |file: &FileUse| {
        let path = if projects && !file.path.starts_with('/') {
            paths::display(&PathBuf::from(&file.project).join(&file.path), &runtime.paths.home)
        } else {
            file.path.clone()
        };
        output::clean_line(&path)
    };
    let widest = files.iter().map(|file| output::columns(&path(file))).max().unwrap_or(0).max(4);
    let width = output::width().map_or(widest, |width| widest.min(width.saturating_sub(NUMBERS).max(20)));
    let mut out = output::stdout();
    writeln!(out, "{DIM}{}   read  changed  failed  sessions  last{DIM:#}", output::pad("file", width))?;
    for file in files {
        let path = output::pad(&end(&path(file), width), width);
        let failed = if file.failed > 0 { RED } else { DIM };
        writeln!(
            out,
            "{path}  {:>5}  {:>7}  {failed}{:>6}{failed:#}  {:>8}  {DIM}{}{DIM:#}",
            file.looked_at,
            file.changed,
            file.failed,
            file.sessions,
            output::ago(file.last_at, runtime.now),
        )?;
    }
    Ok(out.flush()?)
}

/// Returns the end of a path that fits into `most` columns: the end is where paths differ.
fn end(path: &str, most: usize) -> String {
    if output::columns(path) <= most {
        return path.to_owned();
    }
    let reversed: String = path.chars().rev().collect();
    let kept: String = output::fit(&reversed, most).chars().rev().collect();
    kept
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_long_path_is_cut_at_its_beginning() {
        assert_eq!(super::end("src/a.rs", 8), "src/a.rs");
        assert_eq!(super::end("very/long/src/a.rs", 9), "…src/a.rs");
    }
}
