//! Receives the rows of another system, normalizes them, imports them and reports what became of them.

use std::collections::HashMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::normalize::{TURN, join_short, normalize_line, split};
use super::report::{PartReport, SourceError, SystemReport};
use super::system::System;
use crate::import::line::Line;
use crate::import::{Importer, MAX_LISTED_ERRORS};
use throughline_model::project::Project;
use throughline_platform::paths;
use throughline_store::SessionUpdate;

/// Receives the rows from an adapter.
pub(super) struct Sink<'a> {
    importer: Importer<'a>,
    system: &'static System,
    home: PathBuf,
    /// The project of rows that name none.
    pub(super) fallback: Option<String>,
    names: HashMap<String, Option<PathBuf>>,
    folders: Vec<PathBuf>,
    /// For each session, whether its own transcript was read.
    sessions: HashMap<String, bool>,
    report: SystemReport,
    /// The source that is being read, as it is displayed.
    file: String,
    progress: &'a mut dyn FnMut(u64),
}

/// A row as an adapter understands it, before the normalization that all systems share.
pub(super) struct Row<'a> {
    /// The table or the kind of file.
    pub(super) what: &'a str,
    /// The place in it, such as `row 7`.
    pub(super) place: String,
    /// The memory. Its `id` is the system's own, without the system's name.
    pub(super) line: Line,
}

impl<'a> Sink<'a> {
    /// Creates a sink for rows of a system. `known` are the known projects, `fallback` is the project of rows that name none.
    pub(super) fn new(
        importer: Importer<'a>,
        system: &'static System,
        home: PathBuf,
        known: &[Project],
        fallback: Option<String>,
        dry_run: bool,
        progress: &'a mut dyn FnMut(u64),
    ) -> Self {
        Self {
            importer,
            system,
            home,
            fallback,
            names: base_names(known),
            folders: known.iter().map(|project| project.root.clone()).filter(|root| root.is_absolute()).collect(),
            sessions: HashMap::new(),
            report: SystemReport { from: system.name.into(), dry_run, ..SystemReport::default() },
            file: String::new(),
            progress,
        }
    }

    /// Begins a source.
    pub(super) fn begin_source(&mut self, source: &Path) {
        self.file = paths::display(source, &self.home);
        self.report.sources.push(self.file.clone());
    }

    /// Returns the part of the report about `what` in the current source.
    fn part(&mut self, what: &str) -> &mut PartReport {
        let parts = &mut self.report.parts;
        let at = parts.iter().rposition(|part| part.source == self.file && part.what == what).unwrap_or_else(|| {
            parts.push(PartReport { source: self.file.clone(), what: what.into(), ..PartReport::default() });
            parts.len() - 1
        });
        &mut parts[at]
    }

    pub(super) fn read(&mut self, what: &str, rows: u64) {
        self.part(what).rows += rows;
        self.report.rows += rows;
        (self.progress)(self.report.rows);
    }

    /// Counts rows that make no memory.
    pub(super) fn skip(&mut self, what: &str, why: &str, rows: u64) {
        if rows == 0 {
            return;
        }
        self.read(what, rows);
        *self.part(what).passed_over.entry(why.into()).or_default() += rows;
        self.report.passed_over += rows;
    }

    /// Counts a row that is merged into the memory of another.
    pub(super) fn count_merged(&mut self, what: &str) {
        self.read(what, 1);
        self.part(what).joined += 1;
        self.report.joined += 1;
    }

    /// Reports a row, or a part of the source, that cannot be used.
    pub(super) fn fail(&mut self, what: &str, place: &str, reason: impl Display) {
        self.read(what, 1);
        self.part(what).failed += 1;
        self.report.failed += 1;
        if self.report.errors.len() < MAX_LISTED_ERRORS {
            let place = [self.file.as_str(), what, place].into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>();
            self.report.errors.push(SourceError { place: place.join(", "), reason: reason.to_string() });
        }
    }

    /// Returns the project of rows that name the folder `named`, or the fallback if they name none.
    pub(super) fn folder(&self, named: Option<String>) -> Option<String> {
        named.or_else(|| self.fallback.clone())
    }

    /// Returns the folders of the known projects.
    pub(super) fn known_folders(&self) -> impl Iterator<Item = &Path> {
        self.folders.iter().map(PathBuf::as_path)
    }

    /// Returns the project of rows that name only its folder's base name.
    pub(super) fn base_name(&self, named: Option<String>) -> Option<String> {
        let Some(name) = named.as_deref().filter(|name| !Path::new(name).is_absolute()) else { return self.folder(named) };
        let name = name.trim().trim_start_matches(['.', '~', '/', '\\']).to_owned();
        match self.names.get(&name) {
            Some(Some(folder)) => Some(folder.to_string_lossy().into_owned()),
            _ if Project::is_name(&name) => Some(name),
            _ => self.fallback.clone(),
        }
    }

    /// Returns whether the session's own transcript was read: then its turns are already stored, with better quality.
    pub(super) fn is_read(&mut self, session: &str) -> Result<bool> {
        if session.is_empty() {
            return Ok(false);
        }
        if let Some(known) = self.sessions.get(session) {
            return Ok(*known);
        }
        let known = match &self.importer.store {
            Some(store) => store.has_read_turns(session)?,
            None => false,
        };
        self.sessions.insert(session.to_owned(), known);
        Ok(known)
    }

    /// Returns whether this program itself recorded the session.
    pub(super) fn is_own(&self, session: &str) -> Result<bool> {
        Ok(match &self.importer.store {
            Some(store) => store.project_of_session(session)?.is_some(),
            None => false,
        })
    }

    /// Takes a row that makes a memory, or several if its text is too long.
    pub(super) fn add_memory(&mut self, row: Row<'_>) -> Result<()> {
        let Row { what, place, mut line } = row;
        line.content = line.content.trim().into();
        if line.content.is_empty() {
            self.skip(what, "empty", 1);
            return Ok(());
        }
        if line.kind == TURN && self.is_read(&line.session)? {
            self.skip(what, "its session was read from the transcript", 1);
            return Ok(());
        }
        normalize_line(&mut line, self.system);
        let lines = split(line);
        let more = lines.len() as u64 - 1;
        for line in lines {
            let (kind, created) = (line.kind.clone(), line.created);
            if let Err(reason) = self.importer.add(line)? {
                self.fail(what, &place, reason);
                return Ok(());
            }
            let part = self.part(what);
            *part.becomes.entry(kind).or_default() += 1;
            part.oldest = part.oldest.into_iter().chain(created).min();
            part.newest = part.newest.into_iter().chain(created).max();
        }
        self.read(what, 1);
        self.report.cut += more;
        Ok(())
    }

    /// Takes a session, which the next session is told as the last one. `project` is a folder or a name. A session without anything that
    /// can be told, or that this program knows itself, is passed over.
    pub(super) fn add_session(&mut self, project: Option<&str>, mut session: SessionUpdate) -> Result<()> {
        join_short(&mut session.notes);
        let notes = &session.notes;
        let says_something =
            [&session.summary, &notes.original_request, &notes.outcome].iter().any(|it| !it.trim().is_empty())
                || [&notes.done, &notes.current, &notes.pending].iter().any(|list| !list.is_empty());
        if session.id.is_empty() || !says_something {
            return Ok(());
        }
        // A session whose project cannot be used has memories that fail for the same reason.
        if self.importer.add_session(project, session)?.unwrap_or_default() {
            self.report.sessions += 1;
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<SystemReport> {
        let (mut moved, stored) = (self.report, self.importer.finish()?);
        moved.memories = stored.memories;
        moved.seen_again = stored.seen_again;
        moved.known = stored.known;
        moved.forgotten = stored.forgotten;
        moved.left_out = stored.left_out;
        Ok(moved)
    }
}

/// Maps a project's base name to its folder, for rows that name only the base name: the one known folder of that name,
/// or `None` to keep the plain name.
fn base_names(known: &[Project]) -> HashMap<String, Option<PathBuf>> {
    let mut names: HashMap<String, Option<PathBuf>> = HashMap::new();
    for project in known {
        // Rows that were once imported under the plain name stay there, whatever folders become known later.
        let (name, folder) = if project.root.is_absolute() {
            let Some(name) = project.root.file_name() else { continue };
            (name.to_string_lossy().into_owned(), Some(project.root.clone()))
        } else {
            (project.root.to_string_lossy().into_owned(), None)
        };
        names.entry(name).and_modify(|known| *known = None).or_insert(folder);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_one_known_folder_of_that_name() {
        let folder = |path: &str| Project::discover(Path::new(path));
        let known =
            [folder("/no/a/shop"), folder("/no/a/app"), folder("/no/b/app"), Project::named("app2"), folder("/no/app2")];
        let names = base_names(&known);
        assert_eq!(names["shop"], Some("/no/a/shop".into()));
        assert_eq!((&names["app"], &names["app2"]), (&None, &None));
    }
}
