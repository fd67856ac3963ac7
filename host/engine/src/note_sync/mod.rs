//! Syncs notes with a folder of Markdown files: what was written, edited, renamed or deleted on one side since the last
//! sync is done on the other side. If both sides changed, both are kept, and a person decides.
//!
//! A sync compares three things: the file, the note, and the state of both when they last agreed (table `note_files`,
//! two digests). So each side's change is detected by itself. One change is carried over; two are a conflict. Then the
//! file stays, the note is written beside it as `NAME.conflict.md`, and when a person has removed that file, the
//! remaining file counts. If one side deleted and the other changed, the change wins. If more than half of the files
//! are gone, as after switching branches, nothing is deleted without `--delete`. An interrupted sync continues where it
//! stopped, because what agrees already is only recorded.
//!
//! Links in the folder are not followed, nothing is written outside of it, and an unreadable file is reported and left as
//! it is ([`folder`]).

pub mod folder;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::time::SystemTime;

use anyhow::{Context as _, Result};
use serde::Serialize;

use crate::memory::supersession;
use crate::redaction::{self, ProjectRedactor};
use crate::runtime::Runtime;
use folder::{CONFLICT, FileStat, Folder, FolderScan, SkipReason, without_racy_time};
use throughline_model::digest::{hex, sha256_parts};
use throughline_model::project::Project;
use throughline_model::redacted::Redacted;
use throughline_notes::markdown::FileContext;
use throughline_notes::registry::Registry;
use throughline_notes::{Note, markdown, slug};
use throughline_store::{NoteChange, NoteRow, PutNoteOutcome, Store, StoredNote, SyncedFile};

/// How many changes are made in one transaction. Hooks wait meanwhile, so this is limited.
const BATCH: usize = 200;

/// If at least this many files are missing, and more than half of all, it is taken for an accident.
const MIN_MASS_DELETION: usize = 5;

/// What a sync did, or would do in a dry run.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SyncReport {
    /// New files that became notes.
    pub stored: u64,
    /// Notes that were updated from their edited file.
    pub edited: u64,
    /// Notes whose file was renamed.
    pub renamed: u64,
    /// Notes that were deleted because their file was.
    pub deleted: u64,
    /// Notes without a file, which got one.
    pub written: u64,
    /// Files that were updated from their edited note.
    pub rewritten: u64,
    /// Files that were deleted because their note was.
    pub removed: u64,
    /// Notes and files that already agreed.
    pub unchanged: u64,
    /// Notes changed on both sides: nothing was lost, and a person must decide.
    pub conflicts: Vec<SyncRemark>,
    /// Files that could not be used, and other remarks.
    pub told: Vec<SyncRemark>,
    /// In a dry run, what would become of each file or note that would change.
    pub changes: Vec<SyncChange>,
}

/// What would become of a file, or of the note that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SyncChange {
    /// The path below the folder.
    pub path: String,
    /// `stored`, `edited`, `renamed` and `deleted` are about the note; `written`, `rewritten` and `removed` about the file.
    pub change: &'static str,
}

/// A remark about a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SyncRemark {
    /// The path below the folder.
    pub path: String,
    /// The remark, one line.
    pub why: String,
}

/// Options of a sync.
#[derive(Debug, Clone, Copy, Default)]
pub struct SyncOptions {
    /// Only report what would be done.
    pub is_dry: bool,
    /// Delete notes even if many files are missing.
    pub may_delete: bool,
    /// Only take in what is new, edited or renamed in the folder: nothing is written, and no note is deleted.
    pub only_in: bool,
}

/// Syncs the notes of a project with a folder.
pub fn run(
    runtime: &Runtime,
    store: &mut Store,
    project: &Project,
    path: &Path,
    settings: SyncOptions,
) -> Result<SyncReport> {
    let mut report = SyncReport::default();
    let path = &throughline_notes::folder_of_project(&project.root, path)?;
    let Some(folder) = Folder::open(path, settings.is_dry).with_context(|| path.display().to_string())? else {
        // The folder does not exist yet, so each note would get a file.
        let mut taken = HashSet::new();
        for it in store.notes_of(&project.id, &Registry::built_in())? {
            report.written += 1;
            report.changes.push(SyncChange { path: new_file(&it, &mut taken, |_| false), change: "written" });
        }
        return Ok(report);
    };
    let scan = folder.scan().with_context(|| folder.path.display().to_string())?;
    let key = folder.path.to_string_lossy().into_owned();
    let known = store.synced_files(&project.id, &key)?;
    // A session's start waits for this, and most find the folder as it was left.
    if settings.only_in && scan.files.iter().all(|(path, stat)| known.get(path).is_some_and(|known| is_same(known, stat))) {
        report.unchanged = scan.files.len() as u64;
        return Ok(report);
    }
    let registry = Registry::load(&folder.path)?;
    let notes = store.notes_of(&project.id, &registry)?;
    let mut plan = Plan::new(&folder, &registry, project, &scan, known, &notes, settings);
    plan.read_files();
    plan.find_replaced();
    plan.find_moved();
    redact_files(runtime, project, &mut plan)?;
    plan.decide(store)?;
    let Plan { mut steps, told, conflicts, unchanged, .. } = plan;
    if settings.only_in {
        steps.retain(Step::takes_in);
    }
    report.told = told;
    report.conflicts = conflicts;
    report.unchanged = unchanged;
    if settings.is_dry {
        for step in &steps {
            count(&mut report, step);
            let change = step.change().map(|change| SyncChange { path: step.path().to_owned(), change });
            report.changes.extend(change);
        }
        return Ok(report);
    }
    apply_steps(
        &SyncContext { runtime, project, folder: &folder, registry: &registry, key: &key },
        store,
        &steps,
        &mut report,
    )?;
    // A session's start, which only takes in, compares within a bound of its own.
    if !settings.only_in {
        supersession::link_project(store, &project.id, runtime.now)?;
    }
    Ok(report)
}

/// Takes in the notes that were written or edited as files, in the folders with which the project's notes were synced before.
/// The first sync is a person's decision, because a repository may bring files of anybody. Returns how many notes changed.
pub fn take_in(runtime: &Runtime, store: &mut Store, project: &Project) -> Result<u64> {
    let mut changed = 0;
    for folder in store.synced_folders(&project.id)? {
        let folder = Path::new(&folder);
        if folder.is_dir() {
            let options = SyncOptions { only_in: true, ..SyncOptions::default() };
            let report = run(runtime, store, project, folder, options)?;
            changed += report.stored + report.edited + report.renamed;
        }
    }
    Ok(changed)
}

/// One step of a sync.
#[derive(Debug)]
enum Step {
    /// A new file becomes a note.
    Store { path: String, file: ReadFile },
    /// A file was edited.
    Edit { path: String, row: NoteRow, file: ReadFile },
    /// A file was renamed without a change of content.
    Rename { path: String, row: NoteRow, note: Redacted<Note>, agreed: SyncedFile },
    /// A file was deleted.
    Delete { path: String, row: NoteRow },
    /// A note has no file. `row` is set if the note has no file name of its own yet.
    Write { path: String, row: Option<NoteRow>, note: Redacted<Note> },
    /// A note was edited.
    Rewrite { path: String, note: Redacted<Note> },
    /// A note was deleted.
    Remove { path: String },
    /// Both sides changed: the note's content is written beside the file.
    Conflict { path: String, note: Redacted<Note>, agreed: SyncedFile },
    /// Both sides agree; this state is recorded.
    Agree { path: String, agreed: SyncedFile },
    /// File and note are both gone, so the record is deleted.
    Forget { path: String },
}

impl Step {
    /// Returns whether the step changes notes by what files say, without a deletion.
    fn takes_in(&self) -> bool {
        matches!(self, Self::Store { .. } | Self::Edit { .. } | Self::Rename { .. } | Self::Agree { .. })
    }

    /// What the step changes, or `None` if it only records a state or leaves the decision to a person.
    fn change(&self) -> Option<&'static str> {
        Some(match self {
            Self::Store { .. } => "stored",
            Self::Edit { .. } => "edited",
            Self::Rename { .. } => "renamed",
            Self::Delete { .. } => "deleted",
            Self::Write { .. } => "written",
            Self::Rewrite { .. } => "rewritten",
            Self::Remove { .. } => "removed",
            Self::Conflict { .. } | Self::Agree { .. } | Self::Forget { .. } => return None,
        })
    }

    /// The file that the step is about.
    fn path(&self) -> &str {
        match self {
            Self::Store { path, .. }
            | Self::Edit { path, .. }
            | Self::Rename { path, .. }
            | Self::Delete { path, .. }
            | Self::Write { path, .. }
            | Self::Rewrite { path, .. }
            | Self::Remove { path }
            | Self::Conflict { path, .. }
            | Self::Agree { path, .. }
            | Self::Forget { path } => path,
        }
    }
}

fn count(report: &mut SyncReport, step: &Step) {
    let number = match step {
        Step::Store { .. } => &mut report.stored,
        Step::Edit { .. } => &mut report.edited,
        Step::Rename { .. } => &mut report.renamed,
        Step::Delete { .. } => &mut report.deleted,
        Step::Write { .. } => &mut report.written,
        Step::Rewrite { .. } => &mut report.rewritten,
        Step::Remove { .. } => &mut report.removed,
        Step::Agree { .. } => &mut report.unchanged,
        Step::Conflict { .. } | Step::Forget { .. } => return,
    };
    *number += 1;
}

/// A file that was read because it is new or may have changed. Its note is a [`Note`] until it is redacted.
#[derive(Debug)]
struct ReadFile<N = Redacted<Note>> {
    note: N,
    hash: [u8; 32],
    stat: FileStat,
}

impl ReadFile {
    fn agreed(&self, registry: &Registry) -> SyncedFile {
        agreed(&self.note, registry, self.hash, without_racy_time(self.stat, SystemTime::now()))
    }
}

/// Returns a note's digest: that of the file that would be written for it.
fn digest(note: &Note, registry: &Registry) -> [u8; 32] {
    sha256_parts(&[&markdown::format_note(note, registry)])
}

/// Returns whether a file is as it was when it was last in sync, so that it need not be read.
fn is_same(known: &SyncedFile, stat: &FileStat) -> bool {
    !known.conflict && known.modified != 0 && (known.size, known.modified) == (stat.size, stat.modified)
}

/// Returns the identifier for a note whose file gives none. It is derived from the content, so every machine that reads
/// the file assigns the same one.
fn uid_of(note: &Note) -> String {
    hex(&sha256_parts(&["note", &note.note_type, &note.title, &note.content, &note.created.to_string()])[..6])
}

/// The state of both sides, and the steps to take.
struct Plan<'a> {
    folder: &'a Folder,
    registry: &'a Registry,
    project: &'a Project,
    scan: &'a FolderScan,
    settings: SyncOptions,
    /// The state of the last sync, by path.
    known: BTreeMap<String, SyncedFile>,
    notes: &'a [StoredNote],
    by_uid: HashMap<&'a str, &'a StoredNote>,
    /// The files that were read, by path, not yet redacted.
    unredacted: BTreeMap<String, ReadFile<Note>>,
    /// The files that were read and redacted.
    read: BTreeMap<String, ReadFile>,
    /// Renamed files: their state of the last sync under the old name, by the new path.
    moved: HashMap<String, SyncedFile>,
    /// Paths that are left alone.
    left: HashSet<String>,
    steps: Vec<Step>,
    told: Vec<SyncRemark>,
    conflicts: Vec<SyncRemark>,
    unchanged: u64,
}

impl<'a> Plan<'a> {
    fn new(
        folder: &'a Folder,
        registry: &'a Registry,
        project: &'a Project,
        scan: &'a FolderScan,
        known: BTreeMap<String, SyncedFile>,
        notes: &'a [StoredNote],
        settings: SyncOptions,
    ) -> Self {
        let mut this = Self {
            by_uid: notes.iter().map(|it| (it.note.uid.as_str(), it)).collect(),
            told: Vec::new(),
            unredacted: BTreeMap::new(),
            read: BTreeMap::new(),
            moved: HashMap::new(),
            left: HashSet::new(),
            steps: Vec::new(),
            conflicts: Vec::new(),
            unchanged: 0,
            folder,
            registry,
            project,
            scan,
            known,
            notes,
            settings,
        };
        for (path, why) in &scan.passed_over {
            this.skip_file(path, why);
        }
        this
    }

    fn add_remark(&mut self, path: &str, why: impl Into<String>) {
        self.told.push(SyncRemark { path: path.to_owned(), why: why.into() });
    }

    /// Leaves a file that cannot be used, and its note, alone.
    fn skip_file(&mut self, path: &str, why: &SkipReason) {
        self.add_remark(path, why.to_string());
        self.left.insert(path.to_owned());
    }

    /// Reads the files that may have changed.
    fn read_files(&mut self) {
        let scan = self.scan;
        for (path, stat) in &scan.files {
            let known = self.known.get(path);
            if known.is_some_and(|known| is_same(known, stat)) {
                continue;
            }
            match self.read_file(path) {
                Ok(file) => {
                    self.unredacted.insert(path.clone(), file);
                }
                Err(why) => self.skip_file(path, &why),
            }
        }
    }

    fn read_file(&self, path: &str) -> Result<ReadFile<Note>, SkipReason> {
        let (bytes, stat) = self.folder.read(path)?;
        let text = std::str::from_utf8(&bytes).map_err(|error| {
            let line = memchr::memchr_iter(b'\n', &bytes[..error.valid_up_to()]).count() + 1;
            SkipReason::NotUtf8(line)
        })?;
        if let Some(line) = find_conflict_marker(text) {
            return Err(SkipReason::ConflictMarkers(line));
        }
        let around = FileContext::from_path(path, u64::try_from(stat.modified / 1_000_000).unwrap_or(0));
        let mut note = markdown::parse(text, around, self.registry)?;
        if self.registry.get(&note.note_type).is_none() {
            return Err(SkipReason::UnknownType(note.note_type));
        }
        if note.uid.is_empty() {
            note.uid = match self.known.get(path) {
                Some(known) => known.uid.clone(),
                None => uid_of(&note),
            };
        }
        Ok(ReadFile { note, hash: sha256_parts(&[text]), stat })
    }

    fn decide(&mut self, store: &Store) -> Result<()> {
        let paths: Vec<String> = self.scan.files.keys().filter(|path| !self.left.contains(*path)).cloned().collect();
        self.drop_duplicates(&paths);
        let mut has_file: HashSet<String> =
            self.left.iter().filter_map(|path| self.known.get(path).map(|known| known.uid.clone())).collect();
        for path in paths {
            let read = self.read.remove(&path);
            let known = self.moved.remove(&path).or_else(|| self.known.get(&path).cloned());
            let uid =
                known.as_ref().map(|known| known.uid.clone()).or_else(|| read.as_ref().map(|file| file.note.uid.clone()));
            let Some(uid) = uid else { continue };
            if !has_file.insert(uid.clone()) {
                self.add_remark(
                    &path,
                    format!("another file is also the note {uid}; remove the line `id` from one of them"),
                );
                continue;
            }
            let note = self.by_uid.get(uid.as_str()).copied();
            match (known, read) {
                (Some(known), None) => self.plan_unedited(path, known, note, true),
                (Some(known), Some(file)) if file.hash == known.file_hash && !known.conflict => {
                    // Only the modification time or the name differs.
                    let stat = without_racy_time(file.stat, SystemTime::now());
                    let agreed = SyncedFile { size: stat.size, modified: stat.modified, ..known };
                    self.plan_unedited(path, agreed, note, false);
                }
                (Some(known), Some(file)) => self.plan_edited(path, known, file, note),
                (None, Some(file)) => self.plan_new_file(store, path, file, note)?,
                (None, None) => {}
            }
        }
        self.plan_deletions(&mut has_file);
        self.plan_new_notes(&has_file);
        Ok(())
    }

    /// Finds files that were replaced by the file of another note. This happens if two machines chose the same name and
    /// git's conflict was resolved for one side. The note that had the file has none now, and must not be overwritten
    /// by the other.
    fn find_replaced(&mut self) {
        for (path, file) in &self.unredacted {
            if self.known.get(path).is_some_and(|known| known.uid != file.note.uid) {
                self.known.remove(path);
                self.steps.push(Step::Forget { path: path.clone() });
            }
        }
    }

    /// If several files are the same note, the first one by name counts, on every machine and regardless of which
    /// existed before. The others are left alone until a person decides.
    fn drop_duplicates(&mut self, paths: &[String]) {
        let mut first: HashMap<String, &String> = HashMap::new();
        for path in paths {
            let known = self.moved.get(path).or_else(|| self.known.get(path));
            let uid = known.map(|known| &known.uid).or_else(|| self.read.get(path).map(|file| &file.note.uid));
            let Some(uid) = uid.cloned() else { continue };
            let Some(first) = first.get(&uid).copied() else {
                first.insert(uid, path);
                continue;
            };
            if let Some(known) = self.moved.remove(path).or_else(|| self.known.remove(path)) {
                self.steps.push(Step::Forget { path: path.clone() });
                if !self.moved.contains_key(first) && !self.known.contains_key(first) {
                    self.moved.insert(first.clone(), known);
                }
            }
        }
    }

    /// Looks for missing files under new names: by their content, or by the identifier that they contain.
    fn find_moved(&mut self) {
        let gone: Vec<String> = self.known.keys().filter(|path| !self.scan.files.contains_key(*path)).cloned().collect();
        let mut by_hash: HashMap<[u8; 32], &String> = HashMap::new();
        let mut by_uid: HashMap<String, &String> = HashMap::new();
        for path in &gone {
            let known = &self.known[path];
            by_hash.insert(known.file_hash, path);
            by_uid.insert(known.uid.clone(), path);
        }
        let found: Vec<(String, String)> = self
            .unredacted
            .iter()
            .filter(|(path, _)| !self.known.contains_key(*path))
            .filter_map(|(path, file)| {
                let from = by_hash.remove(&file.hash).or_else(|| by_uid.remove(&file.note.uid))?;
                Some((path.clone(), from.clone()))
            })
            .collect();
        let mut taken = HashSet::new();
        for (path, from) in found {
            // The same old file may have been found both by content and by identifier.
            if !taken.insert(from.clone()) {
                continue;
            }
            if let (Some(known), Some(file)) = (self.known.remove(&from), self.unredacted.get_mut(&path)) {
                file.note.uid.clone_from(&known.uid);
                self.steps.push(Step::Forget { path: from });
                self.moved.insert(path, known);
            }
        }
    }

    /// Handles a file with unchanged content. `is_known` says that this state at this path is already stored.
    fn plan_unedited(&mut self, path: String, agreed: SyncedFile, note: Option<&StoredNote>, is_known: bool) {
        match note {
            None => self.steps.push(Step::Remove { path }),
            Some(it) if digest(&it.note, self.registry) != agreed.note_hash => {
                self.steps.push(Step::Rewrite { path, note: it.note.clone() });
            }
            Some(_) if is_known => self.unchanged += 1,
            Some(it) if it.is_named && it.stem == stem_of(&path) => self.steps.push(Step::Agree { path, agreed }),
            Some(it) => self.steps.push(Step::Rename { path, row: it.row, note: it.note.clone(), agreed }),
        }
    }

    fn plan_edited(&mut self, path: String, known: SyncedFile, file: ReadFile, note: Option<&StoredNote>) {
        let Some(it) = note else {
            self.conflict(&path, "the note was deleted and the file edited: the file was kept, and is a note again");
            self.steps.push(Step::Store { path, file });
            return;
        };
        let now = digest(&it.note, self.registry);
        if digest(&file.note, self.registry) == now {
            let agreed = file.agreed(self.registry);
            self.steps.push(Step::Agree { path, agreed });
        } else if now == known.note_hash || (known.conflict && !self.scan.conflicts.contains_key(&path)) {
            // Only the file was changed; or both were, and a person deleted the conflict file.
            self.steps.push(Step::Edit { path, row: it.row, file });
        } else {
            self.plan_both_changed(path, it, known);
        }
    }

    fn plan_both_changed(&mut self, path: String, it: &StoredNote, agreed: SyncedFile) {
        let other = conflict_path(&path);
        let why = format!(
            "both the file and the note were changed; the note was written to {other}: edit the file, then delete that one"
        );
        self.conflict(&path, &why);
        self.steps.push(Step::Conflict { path, note: it.note.clone(), agreed: SyncedFile { conflict: true, ..agreed } });
    }

    fn conflict(&mut self, path: &str, why: &str) {
        self.conflicts.push(SyncRemark { path: path.to_owned(), why: why.to_owned() });
    }

    fn plan_new_file(&mut self, store: &Store, path: String, file: ReadFile, note: Option<&StoredNote>) -> Result<()> {
        if let Some(it) = note {
            if digest(&file.note, self.registry) == digest(&it.note, self.registry) {
                let agreed = file.agreed(self.registry);
                self.plan_unedited(path, agreed, note, false);
            } else {
                // They were never synced, so nothing says which is newer.
                let agreed = SyncedFile { note_hash: [0; 32], ..file.agreed(self.registry) };
                self.plan_both_changed(path, it, agreed);
            }
            return Ok(());
        }
        if store.is_forgotten(&self.project.id, &file.note, self.registry)? {
            self.add_remark(&path, "its content was deleted for good here: delete the file, or reword it");
            return Ok(());
        }
        self.steps.push(Step::Store { path, file });
        Ok(())
    }

    /// Handles files that are missing and have no new name.
    fn plan_deletions(&mut self, has_file: &mut HashSet<String>) {
        let gone: Vec<(String, SyncedFile)> = self
            .known
            .iter()
            .filter(|(path, _)| !self.scan.files.contains_key(*path) && !self.left.contains(*path))
            .map(|(path, known)| (path.clone(), known.clone()))
            .collect();
        let deleted = gone.iter().filter(|(_, known)| self.by_uid.contains_key(known.uid.as_str())).count();
        let is_accident = !self.settings.may_delete && deleted >= MIN_MASS_DELETION && deleted * 2 > self.known.len();
        if is_accident {
            self.add_remark(
                "",
                format!(
                    "{deleted} of {} files are gone: their notes were kept. Use --delete if that is intended",
                    self.known.len()
                ),
            );
        }
        for (path, known) in gone {
            let note = self.by_uid.get(known.uid.as_str()).copied().filter(|_| has_file.insert(known.uid.clone()));
            match note {
                None => self.steps.push(Step::Forget { path }),
                Some(_) if is_accident => {}
                Some(it) if digest(&it.note, self.registry) == known.note_hash => {
                    self.steps.push(Step::Delete { path, row: it.row });
                }
                Some(it) => {
                    self.conflict(
                        &path,
                        "the file was deleted and the note changed: the note was kept, and is a file again",
                    );
                    self.steps.push(Step::Rewrite { path, note: it.note.clone() });
                }
            }
        }
    }

    /// Handles notes that have no file yet.
    fn plan_new_notes(&mut self, has_file: &HashSet<String>) {
        let mut taken: HashSet<String> = self.scan.files.keys().cloned().collect();
        for it in self.notes.iter().filter(|it| !has_file.contains(&it.note.uid)) {
            let path = new_file(it, &mut taken, |path| !self.settings.is_dry && self.folder.has(path));
            let is_named = it.is_named && it.stem == stem_of(&path);
            self.steps.push(Step::Write { row: (!is_named).then_some(it.row), note: it.note.clone(), path });
        }
    }
}

/// Returns the path of the file that a note gets, which is `taken` from then on.
fn new_file(it: &StoredNote, taken: &mut HashSet<String>, exists: impl Fn(&str) -> bool) -> String {
    let file = |stem: &str| format!("{}/{stem}.md", it.note.note_type);
    let stem = slug::unique_stem(&it.stem, |stem| {
        let path = file(stem);
        taken.contains(&path) || exists(&path)
    });
    let path = file(&stem);
    taken.insert(path.clone());
    path
}

fn stem_of(path: &str) -> &str {
    FileContext::from_path(path, 0).stem
}

/// Returns the path of the conflict file.
fn conflict_path(path: &str) -> String {
    format!("{}{CONFLICT}", path.strip_suffix(".md").unwrap_or(path))
}

/// Returns the line at which git left conflict markers.
fn find_conflict_marker(text: &str) -> Option<usize> {
    let begins = text.lines().position(|line| line.starts_with("<<<<<<< "))?;
    text.lines().skip(begins).any(|line| line.starts_with(">>>>>>> ")).then_some(begins + 1)
}

/// Redacts the files that were read.
fn redact_files(runtime: &Runtime, project: &Project, plan: &mut Plan<'_>) -> Result<()> {
    let files = std::mem::take(&mut plan.unredacted);
    let before: Vec<Note> = files.values().map(|file| file.note.clone()).collect();
    let notes = Redacted::all(before.clone(), &mut ProjectRedactor::new(runtime, Some(&project.root)))?;
    for (((path, file), before), note) in files.into_iter().zip(before).zip(notes) {
        if *note != before {
            plan.add_remark(
                &path,
                "it contains what looks like a secret: the note was stored without it; remove it from the file",
            );
        }
        plan.read.insert(path, ReadFile { note, hash: file.hash, stat: file.stat });
    }
    Ok(())
}

/// The context in which steps are carried out.
struct SyncContext<'a> {
    runtime: &'a Runtime,
    project: &'a Project,
    folder: &'a Folder,
    registry: &'a Registry,
    key: &'a str,
}

fn apply_steps(work: &SyncContext<'_>, store: &mut Store, steps: &[Step], report: &mut SyncReport) -> Result<()> {
    for batch in steps.chunks(BATCH) {
        let mut changes = Vec::new();
        for step in batch {
            match step {
                Step::Store { path, file } => {
                    changes.push(NoteChange::Put { note: file.note.clone(), stem: stem_of(path).to_owned() });
                }
                Step::Edit { row, file, .. } => changes.push(NoteChange::Edit { row: *row, note: file.note.clone() }),
                Step::Rename { path, row, note, .. } | Step::Write { path, row: Some(row), note } => {
                    changes.push(NoteChange::Name { row: *row, note: note.clone(), stem: stem_of(path).to_owned() });
                }
                Step::Delete { row, .. } => changes.push(NoteChange::Delete { row: *row }),
                _ => {}
            }
        }
        let texts = redacted_files(work, batch)?;
        store.sync_notes(work.project, &changes, work.registry, work.runtime.now, work.key, |puts| -> Result<_> {
            let mut puts = puts.into_iter();
            let mut agreements = Vec::with_capacity(batch.len());
            for (step, text) in batch.iter().zip(texts) {
                match apply_file_step(work, step, text.as_deref(), &mut puts)? {
                    Ok(agreed) => {
                        agreements.push((step.path().to_owned(), agreed));
                        count(report, step);
                    }
                    Err(why) => report.told.push(SyncRemark { path: step.path().to_owned(), why: why.to_string() }),
                }
            }
            Ok(agreements)
        })?;
    }
    if store.has_large_wal() {
        store.checkpoint()?;
    }
    Ok(())
}

/// Returns the redacted texts of the files that the steps write. The rules may be newer than the stored notes.
fn redacted_files(work: &SyncContext<'_>, steps: &[Step]) -> Result<Vec<Option<String>>> {
    let mut texts: Vec<Option<String>> = steps
        .iter()
        .map(|step| match step {
            Step::Write { note, .. } | Step::Rewrite { note, .. } | Step::Conflict { note, .. } => {
                Some(markdown::format_note(note, work.registry))
            }
            _ => None,
        })
        .collect();
    redaction::in_place(work.runtime, Some(&work.project.root), texts.iter_mut().flatten().collect())?;
    Ok(texts)
}

/// Why a step stored nothing.
#[derive(Debug, thiserror::Error)]
enum NotStored {
    /// A note with this content is stored under another name.
    #[error("it has the same content as {note_type}/{stem}: it was not stored again")]
    Duplicate { note_type: String, stem: String },
    /// The content was deleted for good.
    #[error("its content was deleted for good here")]
    Forgotten,
}

/// Carries out a step's part outside the database; the database part is already done. Returns the new state of file and
/// note, or `None` if there is no file. The inner error says why nothing was done.
fn apply_file_step(
    work: &SyncContext<'_>,
    step: &Step,
    text: Option<&str>,
    puts: &mut impl Iterator<Item = PutNoteOutcome>,
) -> Result<std::result::Result<Option<SyncedFile>, NotStored>> {
    let write = |path: &str| -> Result<([u8; 32], FileStat)> {
        let text = text.unwrap_or_default();
        let stat = work.folder.write(path, text).with_context(|| work.folder.path.join(path).display().to_string())?;
        Ok((sha256_parts(&[text]), without_racy_time(stat, SystemTime::now())))
    };
    Ok(Ok(match step {
        Step::Store { file, .. } | Step::Edit { file, .. } => match puts.next() {
            Some(PutNoteOutcome::Stored { .. }) => Some(file.agreed(work.registry)),
            Some(PutNoteOutcome::Duplicate { note_type, stem, .. }) => {
                return Ok(Err(NotStored::Duplicate { note_type, stem }));
            }
            _ => return Ok(Err(NotStored::Forgotten)),
        },
        Step::Rename { agreed, .. } => {
            puts.next();
            Some(agreed.clone())
        }
        Step::Delete { .. } => {
            puts.next();
            None
        }
        Step::Write { path, row, note } => {
            if row.is_some() {
                puts.next();
            }
            let (file_hash, stat) = write(path)?;
            Some(agreed(note, work.registry, file_hash, stat))
        }
        Step::Rewrite { path, note } => {
            let (file_hash, stat) = write(path)?;
            Some(agreed(note, work.registry, file_hash, stat))
        }
        Step::Remove { path } => {
            work.folder.remove(path).with_context(|| work.folder.path.join(path).display().to_string())?;
            None
        }
        Step::Conflict { path, agreed, .. } => {
            write(&conflict_path(path))?;
            Some(agreed.clone())
        }
        Step::Agree { agreed, .. } => Some(agreed.clone()),
        Step::Forget { .. } => None,
    }))
}

fn agreed(note: &Note, registry: &Registry, file_hash: [u8; 32], stat: FileStat) -> SyncedFile {
    SyncedFile {
        uid: note.uid.clone(),
        file_hash,
        note_hash: digest(note, registry),
        size: stat.size,
        modified: stat.modified,
        conflict: false,
    }
}
