//! Imports memories made elsewhere, given as one line of JSON each: reads, redacts and stores them in large batches.
//! An export also has lines about its sessions, and about its projects, which may be at other paths here.
//! Lines that were imported before are recognized, so an import can be stopped and repeated at any time.
//!
//! Databases and files of other systems ([`from`]) are converted to the same lines and pass through the same
//! [`Importer`]. Their adapters judge a database by the tables and columns that it has, and report what became of every
//! row.

pub mod from;
pub(crate) mod line;
mod moved;
mod reader;

use std::collections::HashMap;
use std::fmt::Display;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde::Serialize;

use crate::memory::supersession;
use crate::redaction::ProjectRedactor;
use crate::runtime::Runtime;
use line::{AnyLine, ProjectLine, SessionLine, parse_any};
pub use line::{InvalidLine, Line, LineLink, MAX_LINE_BYTES, parse};
use moved::ProjectFinder;
pub use moved::{ExportedProject, FoundBy};
use reader::{LineOutcome, LineReader};
use throughline_model::contract::{Draft, Origin};
use throughline_model::project::Project;
use throughline_model::redacted::Redacted;
use throughline_model::said_by::SaidBy;
use throughline_store::{Import, ImportedLink, Marks, PutOutcome, SessionUpdate, Store, WRONG_BECAUSE};

/// The most memories stored in one transaction.
const BATCH: usize = 2_000;

/// The most text held at once, bytes. A batch ends at whichever limit comes first.
const BATCH_BYTES: usize = 4 << 20;

/// The longest that redacting one chunk may take.
const CHUNK_TIMEOUT: Duration = Duration::from_mins(1);

/// How many bad lines are listed; further ones are only counted.
const MAX_LISTED_ERRORS: usize = 100;

/// A line that could not be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LineError {
    /// The line's number, starting at 1.
    pub line: u64,
    /// The reason, without any text of the line itself.
    pub reason: String,
}

/// The result of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportReport {
    /// Lines that are not blank.
    pub lines: u64,
    /// Bytes read.
    pub bytes: u64,
    /// New memories.
    pub memories: u64,
    /// Memories whose content was already known from another place.
    pub seen_again: u64,
    /// Memories known from an earlier import of the same source.
    pub known: u64,
    /// Memories that were deleted for good before, and stay deleted.
    pub forgotten: u64,
    /// Memories and sessions of projects, sessions or times that are excluded, paused or forgotten.
    pub left_out: u64,
    /// New sessions, with their summaries and notes.
    pub sessions: u64,
    /// Sessions that were known already.
    pub known_sessions: u64,
    /// The projects of the export, and where they are on this machine.
    pub projects: Vec<ExportedProject>,
    /// Lines that could not be used.
    pub failed: u64,
    /// The first lines that could not be used.
    pub errors: Vec<LineError>,
}

impl ImportReport {
    fn fail(&mut self, line: u64, reason: impl Display) {
        self.failed += 1;
        if self.errors.len() < MAX_LISTED_ERRORS {
            self.errors.push(LineError { line, reason: reason.to_string() });
        }
    }

    fn count(&mut self, put: PutOutcome) {
        let number = match put {
            PutOutcome::Stored => &mut self.memories,
            PutOutcome::NewOccurrence => &mut self.seen_again,
            PutOutcome::Known => &mut self.known,
            PutOutcome::Forgotten => &mut self.forgotten,
        };
        *number += 1;
    }
}

/// The folder of an import.
#[derive(Debug, Clone, Copy)]
pub struct ImportFolder<'a> {
    /// The folder: lines without a project belong to it.
    pub path: &'a Path,
    /// Whether a person named it. Then it also takes the place of a project of an export that is not on this machine.
    pub is_named: bool,
}

/// Imports all of `input` into the store. `progress` gets the number of bytes read so far.
///
/// A line that cannot be used is reported, and the import continues. An error comes from the input, the redactors or
/// the store; all batches before it are stored.
pub fn run(
    runtime: &Runtime,
    store: &mut Store,
    input: impl BufRead,
    folder: ImportFolder<'_>,
    mut progress: impl FnMut(u64),
) -> Result<ImportReport> {
    let mut lines = LineReader::new(input, MAX_LINE_BYTES);
    let mut finder = ProjectFinder::new(folder.path, folder.is_named, store.all_projects()?);
    let mut importer = Importer::new(runtime, Some(store), true, folder.path)?;
    loop {
        let understood = match lines.next().context("the input cannot be read")? {
            LineOutcome::End => break,
            LineOutcome::Blank => continue,
            LineOutcome::TooLong => Err(InvalidLine::TooLong),
            LineOutcome::Line => parse_any(lines.line()),
        };
        let used = match understood {
            Ok(AnyLine::Memory(line)) => importer.add(*line)?,
            Ok(AnyLine::Session(line)) => importer.add_exported_session(*line)?,
            Ok(AnyLine::Project(line)) => importer.add_project(&mut finder, line)?,
            Err(reason) => {
                importer.report.fail(lines.number(), reason);
                Ok(())
            }
        };
        if let Err(reason) = used {
            importer.report.fail(lines.number(), reason);
        }
        importer.report.lines += 1;
        importer.report.bytes = lines.bytes();
        progress(lines.bytes());
    }
    importer.finish()
}

/// The common path of all imports: checks what is excluded, redacts, and stores in batches.
pub(crate) struct Importer<'a> {
    runtime: &'a Runtime,
    store: Option<&'a mut Store>,
    /// If false, nothing is stored.
    stores: bool,
    places: TargetProjects<'a>,
    batch: Batch,
    /// The links between memories, which are stored when all memories are.
    links: Vec<ImportedLink>,
    report: ImportReport,
}

impl<'a> Importer<'a> {
    /// Creates an importer. Without a store, or if `stores` is false, nothing is stored.
    pub(crate) fn new(runtime: &'a Runtime, store: Option<&'a mut Store>, stores: bool, default: &'a Path) -> Result<Self> {
        if let Some(store) = store.as_ref().filter(|_| stores) {
            store.prepare_import()?;
        }
        let places = TargetProjects { runtime, default, known: HashMap::new() };
        Ok(Self {
            runtime,
            store,
            stores,
            places,
            batch: Batch::default(),
            links: Vec::new(),
            report: ImportReport::default(),
        })
    }

    /// Takes a line, and stores a batch when it is full. The inner error says why the line cannot be used.
    pub(crate) fn add(&mut self, line: Line) -> Result<std::result::Result<(), InvalidProject>> {
        let place = match self.places.of(line.project.as_deref()) {
            Ok(place) => place,
            Err(reason) => return Ok(Err(reason)),
        };
        if !place.accepts(self.runtime, &line) {
            self.report.left_out += 1;
            return Ok(Ok(()));
        }
        if self.stores {
            if let Some(id) = &line.id {
                let of = |link: &LineLink| ImportedLink {
                    project: place.project.id.clone(),
                    older: (link.session.clone(), link.id.clone()),
                    newer: (line.session.clone(), id.clone()),
                    relation: link.relation,
                    undone_at: link.undone_at,
                };
                self.links.extend(line.supersedes.iter().map(of));
            }
            self.batch.push(place, line);
            if self.batch.is_full() {
                self.flush()?;
            }
        }
        Ok(Ok(()))
    }

    /// Takes a session of the project `name`, or of the default project. The inner error says why it cannot be used. Returns whether it
    /// is new.
    pub(crate) fn add_session(
        &mut self,
        name: Option<&str>,
        mut session: SessionUpdate,
    ) -> Result<std::result::Result<bool, InvalidProject>> {
        let place = match self.places.of(name) {
            Ok(place) => place,
            Err(reason) => return Ok(Err(reason)),
        };
        let probe = Line { session: session.id.clone(), created: session.notes.ended, ..Line::default() };
        if !place.accepts(self.runtime, &probe) {
            return Ok(Ok(false));
        }
        let Some(store) = self.store.as_mut().filter(|_| self.stores) else { return Ok(Ok(true)) };
        session.cwd = place.root.as_deref().map(|root| root.to_string_lossy().into_owned()).unwrap_or_default();
        let session = Redacted::new(session, &mut ProjectRedactor::new(self.runtime, place.root.as_deref()))?;
        Ok(Ok(store.import_session(&place.project, &session, self.runtime.now)?))
    }

    /// Takes a session of an export. The inner error says why it cannot be used.
    fn add_exported_session(&mut self, line: SessionLine) -> Result<std::result::Result<(), InvalidProject>> {
        let id = line.session.id.clone();
        let is_known = match &self.store {
            Some(store) => store.known_session(&id)?.is_some(),
            None => false,
        };
        let stored = match self.add_session(line.project.as_deref(), line.session)? {
            Ok(stored) => stored,
            Err(reason) => return Ok(Err(reason)),
        };
        let counter = match (is_known, stored) {
            (true, _) => &mut self.report.known_sessions,
            (false, true) => &mut self.report.sessions,
            (false, false) => &mut self.report.left_out,
        };
        *counter += 1;
        Ok(Ok(()))
    }

    /// Takes a project of an export: from now on its former path means the folder that it has here. The inner error says why
    /// it cannot be used.
    fn add_project(
        &mut self,
        finder: &mut ProjectFinder<'_>,
        line: ProjectLine,
    ) -> Result<std::result::Result<(), InvalidProject>> {
        if line.project.chars().any(char::is_control) {
            return Ok(Err(InvalidProject::ControlCharacters));
        }
        let (project, found) = finder.find(&line)?;
        let here = project.root.to_string_lossy().into_owned();
        let place = Rc::new(self.places.folder(project));
        self.places.known.insert(Some(line.project.trim().to_owned()), Ok(place));
        self.report.projects.push(ExportedProject { project: line.project, here, found });
        Ok(Ok(()))
    }

    fn flush(&mut self) -> Result<()> {
        match &mut self.store {
            Some(store) => self.batch.store(self.runtime, store, &mut self.report),
            None => Ok(()),
        }
    }

    /// Stores the last batch and returns the report.
    pub(crate) fn finish(mut self) -> Result<ImportReport> {
        self.flush()?;
        if let Some(store) = self.store.as_ref().filter(|_| self.stores) {
            store.finish_import()?;
        }
        if let Some(store) = self.store.as_mut().filter(|_| self.stores) {
            // Before texts are compared: the comparison leaves existing links alone, so it does not bring back what a person undid.
            store.import_links(&self.links, self.runtime.now)?;
            supersession::link_all(store, self.runtime.now)?;
        }
        Ok(self.report)
    }
}

/// Why nothing can be imported into the project that a line names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidProject {
    /// The name has control characters.
    #[error("its project has control characters")]
    ControlCharacters,
    /// The name is neither a plain name nor a path.
    #[error("its project is not a path")]
    NotAPath,
    /// A redactor changes the name, or none can run.
    #[error("its project looks like a secret; give it another name")]
    LooksSecret,
}

/// A project that lines name.
struct TargetProject {
    project: Project,
    /// Whether the project is excluded.
    is_off: bool,
    /// The folder whose policies redact; `None` for a plain name, which could match a folder only by chance.
    root: Option<PathBuf>,
}

impl TargetProject {
    /// Returns whether the line may be remembered: it must not be paused, excluded, or from a forgotten time.
    fn accepts(&self, runtime: &Runtime, line: &Line) -> bool {
        let at = line.created.unwrap_or(runtime.now);
        !self.is_off
            && !runtime.intervals.is_excluded_at(&self.project.id, &[&line.session], at)
            && !runtime.intervals.is_paused(&self.project.id, &line.session)
    }
}

/// The projects named so far. They are cached, because finding a folder's repository takes time and many lines name the
/// same project.
struct TargetProjects<'a> {
    runtime: &'a Runtime,
    default: &'a Path,
    known: HashMap<Option<String>, std::result::Result<Rc<TargetProject>, InvalidProject>>,
}

impl TargetProjects<'_> {
    fn of(&mut self, name: Option<&str>) -> std::result::Result<Rc<TargetProject>, InvalidProject> {
        let key = name.map(|name| name.trim().to_owned());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let place = self.find(key.as_deref()).map(Rc::new);
        self.known.insert(key, place.clone());
        place
    }

    /// Returns a project that is a folder.
    fn folder(&self, project: Project) -> TargetProject {
        let is_off = self.runtime.is_excluded(&project.root);
        TargetProject { is_off, root: Some(project.root.clone()), project }
    }

    fn find(&self, name: Option<&str>) -> std::result::Result<TargetProject, InvalidProject> {
        let Some(name) = name else { return Ok(self.folder(Project::discover(self.default))) };
        if name.chars().any(char::is_control) {
            return Err(InvalidProject::ControlCharacters);
        }
        if let Some(below) = name.strip_prefix("~/") {
            return Ok(self.folder(Project::discover(&self.runtime.paths.home.join(below))));
        }
        if !Project::is_name(name) {
            let folder = std::path::absolute(name).map_err(|_| InvalidProject::NotAPath)?;
            return Ok(self.folder(Project::discover(&folder)));
        }
        // A name is an identity: redacting it could merge two projects into one.
        let mut texts = [name.to_owned()];
        let until = Instant::now() + CHUNK_TIMEOUT;
        let redacted =
            self.runtime.policies(None).and_then(|policies| policies.work(None, until)?.redact(&mut texts, until));
        if redacted.is_err() || texts[0] != name {
            return Err(InvalidProject::LooksSecret);
        }
        let project = Project::named(name);
        Ok(TargetProject { is_off: self.runtime.is_excluded(&project.root), root: None, project })
    }
}

/// Lines that are redacted and stored together.
#[derive(Default)]
struct Batch {
    lines: Vec<(Rc<TargetProject>, Line)>,
    bytes: usize,
}

impl Batch {
    fn push(&mut self, place: Rc<TargetProject>, line: Line) {
        self.bytes += line.content.len() + line.title.len();
        self.lines.push((place, line));
    }

    fn is_full(&self) -> bool {
        self.lines.len() >= BATCH || self.bytes >= BATCH_BYTES
    }

    fn store(&mut self, runtime: &Runtime, store: &mut Store, report: &mut ImportReport) -> Result<()> {
        let mut lines = std::mem::take(self).lines;
        if lines.is_empty() {
            return Ok(());
        }
        let mut groups: HashMap<*const TargetProject, (Rc<TargetProject>, Vec<usize>)> = HashMap::new();
        for (index, (place, _)) in lines.iter().enumerate() {
            groups.entry(Rc::as_ptr(place)).or_insert_with(|| (Rc::clone(place), Vec::new())).1.push(index);
        }
        let mut memories: Vec<Option<Import>> = lines.drain(..).map(|(place, line)| Some(import_of(&place, line))).collect();
        let mut redacted: Vec<(usize, Redacted<Import>)> = Vec::with_capacity(memories.len());
        for (place, indexes) in groups.into_values() {
            let group: Vec<Import> = indexes.iter().filter_map(|&index| memories[index].take()).collect();
            let group = Redacted::all(group, &mut ProjectRedactor::new(runtime, place.root.as_deref()))?;
            redacted.extend(indexes.into_iter().zip(group));
        }
        redacted.sort_by_key(|(index, _)| *index);
        let memories: Vec<_> = redacted.into_iter().map(|(_, it)| it.map(with_title)).collect();
        for put in store.import(&memories, runtime.now)? {
            report.count(put);
        }
        Ok(())
    }
}

fn import_of(place: &TargetProject, line: Line) -> Import {
    Import {
        // The original identifier, because redaction could make two identifiers equal.
        key: line.id.clone(),
        id: line.id,
        session: line.session,
        marks: Marks { pinned_at: line.pinned_at, wrong_at: line.wrong_at },
        draft: Draft {
            key: None,
            title: line.title,
            kind: line.kind,
            content: line.content,
            keywords: line.keywords,
            files: line.files,
            importance: line.importance,
            origin: Origin { line_uuid: None, at: line.created },
            attributes: (line.said_by.map(SaidBy::attribute).into_iter())
                .chain(line.wrong_because.map(|because| (WRONG_BECAUSE.to_owned(), because)))
                .collect(),
        },
        project: place.project.clone(),
    }
}

/// Gives a redacted memory without a title the first line of its content.
fn with_title(mut import: Import) -> Import {
    if import.draft.title.is_empty() {
        import.draft.title = line::title_of(&import.draft.content);
    }
    import
}
