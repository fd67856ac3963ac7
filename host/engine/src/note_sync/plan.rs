//! Decides what a sync does: compares the files, the notes, and their state when they last agreed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::SystemTime;

use anyhow::Result;

use super::folder::{FileStat, Folder, FolderScan, SkipReason, without_racy_time};
use super::report::{SyncOptions, SyncRemark};
use super::step::{ReadFile, Step, conflict_path, digest, stem_of};
use crate::redaction::ProjectRedactor;
use crate::runtime::Runtime;
use throughline_model::digest::{hex, sha256_parts};
use throughline_model::project::Project;
use throughline_model::redacted::Redacted;
use throughline_notes::markdown::FileContext;
use throughline_notes::registry::Registry;
use throughline_notes::{Note, markdown, slug};
use throughline_store::{Store, StoredNote, SyncedFile};

/// If at least this many files are missing, and more than half of all, it is taken for an accident.
const MIN_MASS_DELETION: usize = 5;

/// The state of both sides, and the steps to take.
pub(super) struct Plan<'a> {
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
    pub(super) steps: Vec<Step>,
    pub(super) told: Vec<SyncRemark>,
    pub(super) conflicts: Vec<SyncRemark>,
    pub(super) unchanged: u64,
}

impl<'a> Plan<'a> {
    pub(super) fn new(
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
    pub(super) fn read_files(&mut self) {
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

    pub(super) fn decide(&mut self, store: &Store) -> Result<()> {
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
    pub(super) fn find_replaced(&mut self) {
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
    pub(super) fn find_moved(&mut self) {
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
pub(super) fn new_file(it: &StoredNote, taken: &mut HashSet<String>, exists: impl Fn(&str) -> bool) -> String {
    let file = |stem: &str| format!("{}/{stem}.md", it.note.note_type);
    let stem = slug::unique_stem(&it.stem, |stem| {
        let path = file(stem);
        taken.contains(&path) || exists(&path)
    });
    let path = file(&stem);
    taken.insert(path.clone());
    path
}

/// Returns whether a file is as it was when it was last in sync, so that it need not be read.
pub(super) fn is_same(known: &SyncedFile, stat: &FileStat) -> bool {
    !known.conflict && known.modified != 0 && (known.size, known.modified) == (stat.size, stat.modified)
}

/// Returns the identifier for a note whose file gives none. It is derived from the content, so every machine that reads
/// the file assigns the same one.
fn uid_of(note: &Note) -> String {
    hex(&sha256_parts(&["note", &note.note_type, &note.title, &note.content, &note.created.to_string()])[..6])
}

/// Returns the line at which git left conflict markers.
fn find_conflict_marker(text: &str) -> Option<usize> {
    let begins = text.lines().position(|line| line.starts_with("<<<<<<< "))?;
    text.lines().skip(begins).any(|line| line.starts_with(">>>>>>> ")).then_some(begins + 1)
}

/// Redacts the files that were read.
pub(super) fn redact_files(runtime: &Runtime, project: &Project, plan: &mut Plan<'_>) -> Result<()> {
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
