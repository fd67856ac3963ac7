//! Imports the memories of other systems, converted to import lines. There is one adapter for each system. It finds the
//! sources, reads them without changing them, and reports what became of every row.

mod claude_mem;
mod database;
mod jikime_adk;
mod jikime_mem;
mod markdown;
mod memory_keeper;
mod normalize;
mod openclaw;
mod report;
mod session_context;
mod sources;
mod turns;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::line::Line;
use super::{Importer, MAX_LISTED_ERRORS};
use crate::runtime::Runtime;
use normalize::{TURN, TURN_IMPORTANCE, normalize_line, split};
pub use report::{PartReport, SourceError, SystemReport};
pub use sources::{NothingFound, find};
use throughline_model::contract::Timestamp;
use throughline_model::digest::{hex, sha256_parts};
use throughline_model::project::Project;
use throughline_platform::{metadata, paths};
use throughline_store::Store;

/// A system to import from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// jikime-mem, all versions to 1.5.4.
    JikimeMem,
    /// The memory of jikime-adk 0.5 to 0.9.2.
    JikimeAdk,
    /// claude-mem with schema 23 or a similar one.
    ClaudeMem,
    /// The index of `OpenClaw`'s memory.
    OpenClaw,
    /// memory-keeper and its successor Crabshell.
    MemoryKeeper,
    /// `.claude/session-context.json`.
    SessionContext,
    /// Markdown files.
    Markdown,
}

impl System {
    /// Returns the system's name on the command line and in identifiers.
    pub fn name(self) -> &'static str {
        match self {
            Self::JikimeMem => "jikime-mem",
            Self::JikimeAdk => "jikime-adk",
            Self::ClaudeMem => "claude-mem",
            Self::OpenClaw => "openclaw",
            Self::MemoryKeeper => "memory-keeper",
            Self::SessionContext => "session-context",
            Self::Markdown => "markdown",
        }
    }

    fn read(self, source: &Path, sink: &mut Sink<'_>) -> Result<()> {
        match self {
            Self::JikimeMem => jikime_mem::read(source, sink),
            Self::JikimeAdk => jikime_adk::read(source, sink),
            Self::ClaudeMem => claude_mem::read(source, sink),
            Self::OpenClaw => openclaw::read(source, sink),
            Self::MemoryKeeper => memory_keeper::read(source, sink),
            Self::SessionContext => session_context::read(source, sink),
            Self::Markdown => markdown::read(source, sink),
        }
    }
}

/// Imports the sources into the store; without a store, only examines them. Rows without a project belong to `default`,
/// or if that is not given, to the project that stands for the system itself. `progress` gets the number of rows read.
///
/// A row that cannot be used is reported, and the import continues. An error comes from the redactors or the store.
pub fn run(
    runtime: &Runtime,
    store: Option<&mut Store>,
    dry_run: bool,
    system: System,
    sources: &[PathBuf],
    default: Option<&Path>,
    mut progress: impl FnMut(u64),
) -> Result<SystemReport> {
    let here = std::env::current_dir().unwrap_or_default();
    let known = match &store {
        Some(store) => store.all_projects()?,
        None => Vec::new(),
    };
    let fallback = match default {
        Some(folder) => Some(folder.to_string_lossy().into_owned()),
        None => sources::fallback_project(system),
    };
    let mut sink = Sink {
        importer: Importer::new(runtime, store, !dry_run, default.unwrap_or(&here))?,
        system,
        home: runtime.paths.home.clone(),
        fallback,
        names: base_names(&known),
        sessions: HashMap::new(),
        report: SystemReport { from: system.name().into(), dry_run, ..SystemReport::default() },
        file: String::new(),
        progress: &mut progress,
    };
    for source in sources {
        sink.file = paths::display(source, &sink.home);
        sink.report.sources.push(sink.file.clone());
        system.read(source, &mut sink)?;
    }
    sink.finish()
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

/// Receives the rows from an adapter.
struct Sink<'a> {
    importer: Importer<'a>,
    system: System,
    home: PathBuf,
    /// The project of rows that name none.
    fallback: Option<String>,
    names: HashMap<String, Option<PathBuf>>,
    /// For each session, whether its own transcript was read.
    sessions: HashMap<String, bool>,
    report: SystemReport,
    /// The source that is being read, as it is displayed.
    file: String,
    progress: &'a mut dyn FnMut(u64),
}

/// A row as an adapter understands it, before the normalization that all systems share.
struct Row<'a> {
    /// The table or the kind of file.
    what: &'a str,
    /// The place in it, such as `row 7`.
    place: String,
    /// The memory. Its `id` is the system's own, without the system's name.
    line: Line,
}

impl Sink<'_> {
    /// Returns the part of the report about `what` in the current source.
    fn part(&mut self, what: &str) -> &mut PartReport {
        let parts = &mut self.report.parts;
        let at = parts.iter().rposition(|part| part.source == self.file && part.what == what).unwrap_or_else(|| {
            parts.push(PartReport { source: self.file.clone(), what: what.into(), ..PartReport::default() });
            parts.len() - 1
        });
        &mut parts[at]
    }

    fn read(&mut self, what: &str, rows: u64) {
        self.part(what).rows += rows;
        self.report.rows += rows;
        (self.progress)(self.report.rows);
    }

    /// Counts rows that make no memory.
    fn skip(&mut self, what: &str, why: &str, rows: u64) {
        if rows == 0 {
            return;
        }
        self.read(what, rows);
        *self.part(what).passed_over.entry(why.into()).or_default() += rows;
        self.report.passed_over += rows;
    }

    /// Counts a row that is merged into the memory of another.
    fn count_merged(&mut self, what: &str) {
        self.read(what, 1);
        self.part(what).joined += 1;
        self.report.joined += 1;
    }

    /// Reports a row, or a part of the source, that cannot be used.
    fn fail(&mut self, what: &str, place: &str, reason: impl Into<String>) {
        self.read(what, 1);
        self.part(what).failed += 1;
        self.report.failed += 1;
        if self.report.errors.len() < MAX_LISTED_ERRORS {
            let place = [self.file.as_str(), what, place].into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>();
            self.report.errors.push(SourceError { place: place.join(", "), reason: reason.into() });
        }
    }

    /// Returns the project of rows that name the folder `named`, or the fallback if they name none.
    fn folder(&self, named: Option<String>) -> Option<String> {
        named.or_else(|| self.fallback.clone())
    }

    /// Returns the project of rows that name only its folder's base name.
    fn base_name(&self, named: Option<String>) -> Option<String> {
        let Some(name) = named.as_deref().filter(|name| !Path::new(name).is_absolute()) else { return self.folder(named) };
        let name = name.trim().trim_start_matches(['.', '~', '/', '\\']).to_owned();
        match self.names.get(&name) {
            Some(Some(folder)) => Some(folder.to_string_lossy().into_owned()),
            _ if Project::is_name(&name) => Some(name),
            _ => self.fallback.clone(),
        }
    }

    /// Returns whether the session's own transcript was read: then its turns are already stored, with better quality.
    fn is_read(&mut self, session: &str) -> Result<bool> {
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
    fn is_own(&self, session: &str) -> Result<bool> {
        Ok(match &self.importer.store {
            Some(store) => store.project_of_session(session)?.is_some(),
            None => false,
        })
    }

    /// Takes a row that makes a memory, or several if its text is too long.
    fn add_memory(&mut self, row: Row<'_>) -> Result<()> {
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

    fn finish(self) -> Result<SystemReport> {
        let (mut moved, stored) = (self.report, self.importer.finish()?);
        moved.memories = stored.memories;
        moved.seen_again = stored.seen_again;
        moved.known = stored.known;
        moved.forgotten = stored.forgotten;
        moved.left_out = stored.left_out;
        Ok(moved)
    }
}

/// The largest text file that is read, bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Returns a short hash of these texts.
fn short_hash(texts: &[&str]) -> String {
    hex(&sha256_parts(texts)[..12])
}

/// Returns the project in which a system keeps its folder: the parent of the last folder of that name above `source`.
fn enclosing_project(source: &Path, folder: &str) -> Option<String> {
    let source = std::path::absolute(source).ok()?;
    let around = source.ancestors().find(|it| it.file_name().is_some_and(|name| name == folder))?.parent()?;
    Some(around.to_string_lossy().into_owned())
}

/// Reads a text file of at most `most` bytes. Returns its text and when it was last modified, or why it cannot be read.
fn read_text(file: &Path, most: u64) -> std::result::Result<(String, Option<Timestamp>), String> {
    let cannot = |error: std::io::Error| format!("it cannot be read: {error}");
    let meta = fs::metadata(file).map_err(cannot)?;
    if !meta.is_file() {
        return Err("it is not a file".into());
    }
    if meta.len() > most {
        return Err(format!("it has more than {} MiB", most >> 20));
    }
    let bytes = fs::read(file).map_err(cannot)?;
    let text = String::from_utf8(bytes)
        .map_err(|error| format!("it is not UTF-8 at byte {}", error.utf8_error().valid_up_to() + 1))?;
    Ok((text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text), metadata::modified_ms(&meta)))
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
