//! Imports memories made elsewhere, given as one line of JSON each: reads, redacts and stores them in large batches.
//! Lines that were imported before are recognized, so an import can be stopped and repeated at any time.
//!
//! Databases and files of other systems ([`from`]) are converted to the same lines and pass through the same
//! [`Importer`]. Their adapters judge a database by the tables and columns that it has, and report what became of every
//! row.

pub mod from;
pub(crate) mod line;
mod reader;

use std::collections::HashMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde::Serialize;

use crate::runtime::Runtime;
pub use line::{Line, MOST_LINE, parse};
use reader::{Lines, Read};
use throughline_model::contract::{Draft, Origin};
use throughline_model::project::Project;
use throughline_store::{Import, Put, Store};

/// The most memories stored in one transaction.
const BATCH: usize = 2_000;

/// The most text held at once, bytes. A batch ends at whichever limit comes first.
const BATCH_BYTES: usize = 4 << 20;

/// How much text is redacted in one call, bytes, because a policy's memory is limited.
const SHARE_BYTES: usize = 512 << 10;

/// The longest that redacting one chunk may take.
const PATIENT: Duration = Duration::from_mins(1);

/// How many bad lines are listed; further ones are only counted.
const MOST_TOLD: usize = 100;

/// A line that could not be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bad {
    /// The line's number, starting at 1.
    pub line: u64,
    /// The reason, without any text of the line itself.
    pub reason: String,
}

/// The result of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
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
    /// Memories of projects, sessions or times that are excluded, paused or forgotten.
    pub left_out: u64,
    /// Lines that could not be used.
    pub failed: u64,
    /// The first lines that could not be used.
    pub errors: Vec<Bad>,
}

impl Report {
    fn fail(&mut self, line: u64, reason: String) {
        self.failed += 1;
        if self.errors.len() < MOST_TOLD {
            self.errors.push(Bad { line, reason });
        }
    }

    fn count(&mut self, put: Put) {
        let number = match put {
            Put::Stored => &mut self.memories,
            Put::SeenAgain => &mut self.seen_again,
            Put::Known => &mut self.known,
            Put::Forgotten => &mut self.forgotten,
        };
        *number += 1;
    }
}

/// Imports all of `input` into the store. Lines without a project belong to the folder `default`. `progress` gets the
/// number of bytes read so far.
///
/// A line that cannot be used is reported, and the import continues. An error comes from the input, the redactors or
/// the store; all batches before it are stored.
pub fn run(
    runtime: &Runtime,
    store: &mut Store,
    input: impl BufRead,
    default: &Path,
    mut progress: impl FnMut(u64),
) -> Result<Report> {
    let mut lines = Lines::new(input, MOST_LINE);
    let mut importer = Importer::new(runtime, Some(store), true, default)?;
    loop {
        let understood = match lines.next().context("the input cannot be read")? {
            Read::End => break,
            Read::Blank => continue,
            Read::TooLong => Err(format!("it has more than {} KiB", MOST_LINE >> 10)),
            Read::Line => parse(lines.line()),
        };
        let taken = match understood {
            Ok(line) => importer.take(line)?,
            Err(reason) => Err(reason),
        };
        if let Err(reason) = taken {
            importer.report.fail(lines.number(), reason);
        }
        importer.report.lines += 1;
        importer.report.bytes = lines.bytes();
        progress(lines.bytes());
    }
    importer.finish()
}

/// The common path of all imports: checks what is excluded, redacts, and stores in batches.
struct Importer<'a> {
    runtime: &'a Runtime,
    store: Option<&'a mut Store>,
    /// If false, nothing is stored.
    stores: bool,
    places: Places<'a>,
    batch: Batch,
    report: Report,
}

impl<'a> Importer<'a> {
    /// Creates an importer. Without a store, or if `stores` is false, nothing is stored.
    fn new(runtime: &'a Runtime, store: Option<&'a mut Store>, stores: bool, default: &'a Path) -> Result<Self> {
        if let Some(store) = store.as_ref().filter(|_| stores) {
            store.prepare_import()?;
        }
        let places = Places { runtime, default, known: HashMap::new() };
        Ok(Self { runtime, store, stores, places, batch: Batch::default(), report: Report::default() })
    }

    /// Takes a line, and stores a batch when it is full. The inner error says why the line cannot be used.
    fn take(&mut self, line: Line) -> Result<std::result::Result<(), String>> {
        let place = match self.places.of(line.project.as_deref()) {
            Ok(place) => place,
            Err(reason) => return Ok(Err(reason)),
        };
        if !place.takes(self.runtime, &line) {
            self.report.left_out += 1;
            return Ok(Ok(()));
        }
        if self.stores {
            self.batch.push(place, line);
            if self.batch.is_full() {
                self.flush()?;
            }
        }
        Ok(Ok(()))
    }

    fn flush(&mut self) -> Result<()> {
        match &mut self.store {
            Some(store) => self.batch.store(self.runtime, store, &mut self.report),
            None => Ok(()),
        }
    }

    /// Stores the last batch and returns the report.
    fn finish(mut self) -> Result<Report> {
        self.flush()?;
        if let Some(store) = self.store.as_ref().filter(|_| self.stores) {
            store.finish_import()?;
        }
        Ok(self.report)
    }
}

/// A project that lines name.
struct Place {
    project: Project,
    /// Whether the project is excluded.
    is_off: bool,
    /// The folder whose policies redact; `None` for a plain name, which could match a folder only by chance.
    root: Option<PathBuf>,
}

impl Place {
    /// Returns whether the line may be remembered: it must not be paused, excluded, or from a forgotten time.
    fn takes(&self, runtime: &Runtime, line: &Line) -> bool {
        let at = line.created.unwrap_or(runtime.now);
        !self.is_off
            && !runtime.intervals.hold(&self.project.id, &[&line.session], at)
            && !runtime.intervals.is_paused(&self.project.id, &line.session)
    }
}

/// The projects named so far. They are cached, because finding a folder's repository takes time and many lines name the
/// same project.
struct Places<'a> {
    runtime: &'a Runtime,
    default: &'a Path,
    known: HashMap<Option<String>, std::result::Result<Rc<Place>, String>>,
}

impl Places<'_> {
    fn of(&mut self, name: Option<&str>) -> std::result::Result<Rc<Place>, String> {
        let key = name.map(|name| name.trim().to_owned());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let place = self.find(key.as_deref()).map(Rc::new);
        self.known.insert(key, place.clone());
        place
    }

    fn find(&self, name: Option<&str>) -> std::result::Result<Place, String> {
        let is_folder = |project: Project| {
            let is_off = self.runtime.is_off(&project.root);
            Place { is_off, root: Some(project.root.clone()), project }
        };
        let Some(name) = name else { return Ok(is_folder(Project::of(self.default))) };
        if name.chars().any(char::is_control) {
            return Err("its project has control characters".into());
        }
        if let Some(below) = name.strip_prefix("~/") {
            return Ok(is_folder(Project::of(&self.runtime.paths.home.join(below))));
        }
        if !Project::is_name(name) {
            let folder = std::path::absolute(name).map_err(|_| "its project is not a path".to_owned())?;
            return Ok(is_folder(Project::of(&folder)));
        }
        // A name is an identity: redacting it could merge two projects into one.
        let mut texts = [name.to_owned()];
        let until = Instant::now() + PATIENT;
        let redacted =
            self.runtime.policies(None).and_then(|policies| policies.work(None, until)?.redact(&mut texts, until));
        if redacted.is_err() || texts[0] != name {
            return Err("its project looks like a secret; give it another name".into());
        }
        let project = Project::named(name);
        Ok(Place { is_off: self.runtime.is_off(&project.root), root: None, project })
    }
}

/// Lines that are redacted and stored together.
#[derive(Default)]
struct Batch {
    lines: Vec<(Rc<Place>, Line)>,
    bytes: usize,
}

impl Batch {
    fn push(&mut self, place: Rc<Place>, line: Line) {
        self.bytes += line.content.len() + line.title.len();
        self.lines.push((place, line));
    }

    fn is_full(&self) -> bool {
        self.lines.len() >= BATCH || self.bytes >= BATCH_BYTES
    }

    fn store(&mut self, runtime: &Runtime, store: &mut Store, report: &mut Report) -> Result<()> {
        let mut lines = std::mem::take(self).lines;
        if lines.is_empty() {
            return Ok(());
        }
        // The original identifier, because redaction could make two identifiers equal.
        let keys: Vec<Option<String>> = lines.iter().map(|(_, line)| line.id.clone()).collect();
        let mut groups: HashMap<*const Place, (Rc<Place>, Vec<&mut Line>)> = HashMap::new();
        for (place, line) in &mut lines {
            groups.entry(Rc::as_ptr(place)).or_insert_with(|| (Rc::clone(place), Vec::new())).1.push(line);
        }
        for (place, lines) in groups.into_values() {
            redact(runtime, place.root.as_deref(), lines)?;
        }
        let memories: Vec<Import> = lines
            .into_iter()
            .zip(keys)
            .map(|((place, line), key)| Import {
                key,
                id: line.id,
                session: line.session,
                draft: Draft {
                    key: None,
                    title: if line.title.is_empty() { line::title_of(&line.content) } else { line.title },
                    kind: line.kind,
                    content: line.content,
                    keywords: line.keywords,
                    files: line.files,
                    importance: line.importance,
                    origin: Origin { line_uuid: None, at: line.created },
                    attributes: Vec::new(),
                },
                project: place.project.clone(),
            })
            .collect();
        for put in store.import(&memories, runtime.now)? {
            report.count(put);
        }
        Ok(())
    }
}

/// Redacts all texts of the lines, one chunk at a time.
fn redact(runtime: &Runtime, root: Option<&Path>, lines: Vec<&mut Line>) -> Result<()> {
    if let Some(root) = root {
        runtime.secrets.look_in(root, root);
    }
    let policies = runtime.policies(root)?;
    let mut work = policies.work(None, Instant::now() + PATIENT)?;
    let mut sessions: HashMap<String, Vec<&mut String>> = HashMap::new();
    let mut share: Vec<&mut String> = Vec::new();
    let mut bytes = 0;
    for line in lines {
        let texts = [&mut line.title, &mut line.content].into_iter();
        for text in texts.chain(&mut line.keywords).chain(&mut line.files).chain(&mut line.id) {
            if let Some(clean) = runtime.privacy.clean(text) {
                *text = clean;
            }
            if !text.is_empty() {
                bytes += text.len();
                share.push(text);
            }
        }
        if !line.session.is_empty() {
            sessions.entry(line.session.clone()).or_default().push(&mut line.session);
        }
        if bytes >= SHARE_BYTES {
            work.redact_in_place(std::mem::take(&mut share), Instant::now() + PATIENT)?;
            bytes = 0;
        }
    }
    work.redact_in_place(share, Instant::now() + PATIENT)?;
    let (mut names, places): (Vec<String>, Vec<_>) = sessions.into_iter().unzip();
    work.redact(&mut names, Instant::now() + PATIENT)?;
    for (name, places) in names.into_iter().zip(places) {
        for place in places {
            place.clone_from(&name);
        }
    }
    Ok(())
}
