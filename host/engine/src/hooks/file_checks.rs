//! Looks for the files that memories are about, and marks the memories whose files are not as they were.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::cited_files::{self, FileContent};
use throughline_model::contract::Memory;
use throughline_store::{FileAnchor, SHARED_FROM, Store, file_key};

/// How long one hook may look for files and compare them, in nanoseconds by the costs below. Costs are counted and not timed, so
/// that the same memory is told on a busy machine. With what is not counted, it stays below the millisecond that a hook may spend.
const HOOK_BUDGET: u64 = 800_000;

/// The same for somebody who looks memories up, and can wait.
const LOOKUP_BUDGET: u64 = 20_000_000;

/// What looking for a file costs, in nanoseconds. Measured with optimizations, as are the other two.
const LOOKING: u64 = 2_000;

/// What reading an anchor from the store costs.
const ANCHOR: u64 = 5_000;

/// What reading and sketching a KiB of a file costs.
const COMPARED_KIB: u64 = 2_700;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// How long a file may stay outdated before memories about it lose weight, in days. So checking out another branch for a week
/// costs no weight.
const PATIENCE_DAYS: u64 = 14;

/// How many days after that the loss of weight reaches [`MAX_LOSS`].
const SINKING_DAYS: u64 = 30;

/// The share of its weight that a memory loses at most. What is much more relevant is still told.
const MAX_LOSS: f32 = 0.4;

/// What became of a file that a memory is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FileFate {
    /// It was there, and is not.
    Gone,
    /// It is not there, and no session knows that it was.
    Missing,
    /// It has changed much since the memory was learned.
    Changed,
}

impl FileFate {
    /// Returns the attribute by which a policy knows it. Its value is the path.
    fn attribute(self) -> &'static str {
        match self {
            Self::Gone => "gone-file",
            Self::Missing => "missing-file",
            Self::Changed => "changed-file",
        }
    }

    /// Returns the words that follow the path.
    fn words(self) -> &'static str {
        match self {
            Self::Gone => "is gone",
            Self::Missing => "is not there",
            Self::Changed => "has changed since",
        }
    }

    /// Returns the words that follow several paths.
    fn words_of_many(self) -> &'static str {
        match self {
            Self::Gone => "are gone",
            Self::Missing => "are not there",
            Self::Changed => "have changed since",
        }
    }
}

/// A file that is not as it was when a memory about it was learned. Shown as "src/pay.rs has changed since".
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutdatedFile {
    /// Its path, relative to the project's root.
    pub file: String,
    /// What became of it.
    pub state: FileFate,
    /// Since when it is so at the latest, milliseconds since the Unix epoch.
    #[serde(skip)]
    since: u64,
}

impl fmt::Display for OutdatedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.file, self.state.words())
    }
}

/// The most files of one state that [`describe_outdated`] names.
const MAX_NAMED: usize = 3;

/// Says in one line which files are not as they were, such as "a.rs is gone; 5 files are not there: b.rs, c.rs, d.rs, …".
/// `None` if all are.
pub fn describe_outdated(outdated: &[OutdatedFile]) -> Option<String> {
    let of_state = |state: FileFate| -> Option<String> {
        let files: Vec<&str> = outdated.iter().filter(|it| it.state == state).map(|it| it.file.as_str()).collect();
        match files[..] {
            [] => None,
            [file] => Some(format!("{file} {}", state.words())),
            [..] => {
                let more = if files.len() > MAX_NAMED { ", …" } else { "" };
                let named = files.iter().take(MAX_NAMED).copied().collect::<Vec<_>>().join(", ");
                Some(format!("{} files {}: {named}{more}", files.len(), state.words_of_many()))
            }
        }
    };
    let parts: Vec<String> =
        [FileFate::Gone, FileFate::Missing, FileFate::Changed].into_iter().filter_map(of_state).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Returns, for each of the memories that somebody asked for, the files that are not as they were. `roots` has the root folders of
/// their projects, in the same order.
pub fn outdated_files(store: &Store, memories: &[Memory], roots: &[String], now: u64) -> Vec<Vec<OutdatedFile>> {
    let mut checks: HashMap<&str, FileChecks> = HashMap::new();
    let mut all = Vec::with_capacity(memories.len());
    for (memory, root) in memories.iter().zip(roots) {
        let checks = checks.entry(root).or_insert_with(|| FileChecks::for_lookup(Path::new(root), now));
        all.push(checks.outdated(Some(store), memory));
    }
    all
}

/// Looks for the files that memories are about. A page asks for several lists of memories, which name the same files: each is
/// looked for once, and read once if it must be compared.
pub struct FileChecks {
    root: PathBuf,
    /// Whether the folder is on this machine.
    is_here: OnceCell<bool>,
    /// The current time, milliseconds since the Unix epoch.
    now: u64,
    /// The files that were looked for.
    files: RefCell<HashMap<String, CheckedFile>>,
    /// When the folders of missing files were changed. Many files are missing together.
    folders: RefCell<HashMap<PathBuf, u64>>,
    /// What may still be spent, in nanoseconds.
    left: Cell<u64>,
}

/// A file that was looked for.
struct CheckedFile {
    path: PathBuf,
    /// When it was changed; `None` if it is not there.
    changed_at: Option<u64>,
    /// Its content, once it was read; nothing if it cannot be compared.
    content: OnceCell<Option<FileContent>>,
}

impl FileChecks {
    /// Looks for files in a project's root folder, as long as a hook may.
    pub fn new(root: &Path, now: u64) -> Self {
        Self::within(HOOK_BUDGET, root, now)
    }

    /// Does the same for somebody who looks memories up.
    pub fn for_lookup(root: &Path, now: u64) -> Self {
        Self::within(LOOKUP_BUDGET, root, now)
    }

    fn within(budget: u64, root: &Path, now: u64) -> Self {
        Self {
            root: root.to_owned(),
            is_here: OnceCell::new(),
            now,
            files: RefCell::default(),
            folders: RefCell::default(),
            left: Cell::new(budget),
        }
    }

    /// Marks memories with the files that they are about and that are gone, or have changed much since: such a memory may be
    /// outdated. If it stays so for weeks, its score and its importance sink.
    pub(super) fn mark_files(&self, store: Option<&Store>, memories: &mut [Memory]) {
        for memory in memories {
            let outdated = self.outdated(store, memory);
            let share = outdated.iter().map(|it| self.share(it.since)).fold(1.0, f32::min);
            memory.score *= share;
            memory.importance *= share;
            memory.attributes.extend(outdated.into_iter().map(|it| (it.state.attribute().to_owned(), it.file)));
        }
    }

    /// Returns the files that a memory is about and that are not as they were. `store` knows how they were; without it, only what
    /// is not there is found. Paths outside of the project are not looked for, and none at all if the project itself is not on
    /// this machine.
    pub fn outdated(&self, store: Option<&Store>, memory: &Memory) -> Vec<OutdatedFile> {
        // The paths of a shared memory are those of the project that shared it.
        let is_shared = memory.attributes.iter().any(|(name, _)| name == SHARED_FROM);
        if is_shared || memory.files.is_empty() {
            return Vec::new();
        }
        if !self.is_here.get_or_init(|| self.root.is_absolute() && self.root.is_dir()) {
            return Vec::new();
        }
        memory.files.iter().filter_map(|file| self.check(store, memory, file)).collect()
    }

    /// Returns the share of its weight that a memory keeps if its file has been outdated since this time.
    fn share(&self, since: u64) -> f32 {
        let days = (self.now.saturating_sub(since) / DAY_MS).saturating_sub(PATIENCE_DAYS).min(SINKING_DAYS);
        let count = |days: u64| f32::from(u16::try_from(days).unwrap_or(u16::MAX));
        1.0 - MAX_LOSS * count(days) / count(SINKING_DAYS)
    }

    fn check(&self, store: Option<&Store>, memory: &Memory, file: &str) -> Option<OutdatedFile> {
        let mut files = self.files.borrow_mut();
        if !files.contains_key(file) {
            let path = cited_files::path_in(&self.root, file).filter(|_| self.spends(LOOKING))?;
            let changed_at = cited_files::changed_at(&path);
            files.insert(file.to_owned(), CheckedFile { path, changed_at, content: OnceCell::new() });
        }
        let checked = files.get(file)?;
        let outdated = |state, since| Some(OutdatedFile { file: file.to_owned(), state, since });
        let Some(changed_at) = checked.changed_at else {
            let was_there = self.anchor(store, memory, file).is_some();
            let state = if was_there { FileFate::Gone } else { FileFate::Missing };
            return outdated(state, memory.created.max(self.missing_since(&checked.path)));
        };
        if changed_at <= memory.created {
            return None;
        }
        let anchor = self.anchor(store, memory, file).filter(|anchor| changed_at > anchor.at)?;
        let content = checked.content.get_or_init(|| self.read(&checked.path)).as_ref()?;
        let texts = [memory.title.as_str(), memory.content.as_str()];
        if !content.has_changed_since(&anchor, texts.into_iter()) {
            return None;
        }
        outdated(FileFate::Changed, changed_at)
    }

    /// Returns the latest time at which a path can have gone missing: removing it changed the folder that it was in.
    fn missing_since(&self, path: &Path) -> u64 {
        let Some(parent) = path.parent() else { return self.now };
        let changed_at = |parent: &PathBuf| {
            let mut folders = parent.ancestors().take_while(|folder| folder.starts_with(&self.root));
            folders.find_map(cited_files::changed_at).unwrap_or(self.now)
        };
        *self.folders.borrow_mut().entry(parent.to_owned()).or_insert_with_key(changed_at)
    }

    /// Returns how the file was when the memory was learned, if that is known.
    fn anchor(&self, store: Option<&Store>, memory: &Memory, file: &str) -> Option<FileAnchor> {
        let store = store.filter(|_| self.spends(ANCHOR))?;
        // What cannot be read is not known: a mark is not worth failing for.
        store.file_anchor(memory, file_key(file)).ok().flatten()
    }

    fn read(&self, path: &Path) -> Option<FileContent> {
        let content = FileContent::read(path, self.left.get() * 1024 / COMPARED_KIB)?;
        self.spends(content.size() as u64 * COMPARED_KIB / 1024).then_some(content)
    }

    /// Takes a cost from what may still be spent. Returns false if less than that is left.
    fn spends(&self, cost: u64) -> bool {
        let Some(left) = self.left.get().checked_sub(cost) else { return false };
        self.left.set(left);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(files: &[&str]) -> Memory {
        Memory { files: files.iter().map(|&it| it.into()).collect(), ..Memory::default() }
    }

    #[test]
    fn many_files_take_one_line() {
        let file = |name: &str, state| OutdatedFile { file: name.to_owned(), state, since: 0 };
        assert_eq!(describe_outdated(&[]), None);
        let mut files = vec![file("a.rs", FileFate::Missing), file("b.rs", FileFate::Changed)];
        assert_eq!(describe_outdated(&files).as_deref(), Some("a.rs is not there; b.rs has changed since"));
        files.extend(["c.rs", "d.rs", "e.rs"].map(|name| file(name, FileFate::Missing)));
        let line = describe_outdated(&files).unwrap();
        assert_eq!(line, "4 files are not there: a.rs, c.rs, d.rs, …; b.rs has changed since");
    }

    #[test]
    fn files_that_are_not_there_are_marked() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("src")).unwrap();
        std::fs::write(dir.path().join("src/a.rs"), "").unwrap();
        let mut memories =
            [about(&["src/a.rs"]), about(&["src/b.rs", "src/a.rs"]), about(&["/etc/none", "../none", "~/none"]), about(&[])];
        FileChecks::new(dir.path(), 0).mark_files(None, &mut memories);
        let marks: Vec<Vec<(String, String)>> = memories.iter().map(|memory| memory.attributes.clone()).collect();
        assert_eq!(marks, [vec![], vec![("missing-file".into(), "src/b.rs".into())], vec![], vec![]]);
        // Its paths are those of another project.
        let shared = vec![(SHARED_FROM.to_owned(), "a1".to_owned())];
        let mut memories = [Memory { attributes: shared.clone(), ..about(&["src/b.rs"]) }];
        FileChecks::new(dir.path(), 0).mark_files(None, &mut memories);
        assert_eq!(memories[0].attributes, shared);
        // The project is on another machine.
        let mut memories = [about(&["src/b.rs"])];
        FileChecks::new(&dir.path().join("none"), 0).mark_files(None, &mut memories);
        assert!(memories[0].attributes.is_empty());
    }

    #[test]
    fn one_hook_looks_for_few_files_and_for_each_once() {
        let dir = tempfile::tempdir().unwrap();
        let checks = FileChecks::new(dir.path(), 0);
        let mut marked = 0;
        for list in 0..4 {
            let mut memories: Vec<Memory> = (0..200).map(|at| about(&[&format!("{list}-{at}.rs")])).collect();
            checks.mark_files(None, &mut memories);
            marked += memories.iter().filter(|memory| !memory.attributes.is_empty()).count();
        }
        let most = usize::try_from(HOOK_BUDGET / LOOKING).unwrap();
        assert_eq!(marked, most);
        // What is known is not looked for again, and is still said.
        std::fs::write(dir.path().join("0-0.rs"), "").unwrap();
        let mut again = [about(&["0-0.rs"])];
        checks.mark_files(None, &mut again);
        assert_eq!(again[0].attributes.len(), 1);
        assert_eq!(checks.files.borrow().len(), most);
        // Whoever looks memories up has time for all of them.
        let lookup = FileChecks::for_lookup(dir.path(), 0);
        let mut memories: Vec<Memory> = (0..800).map(|at| about(&[&format!("{at}.rs")])).collect();
        lookup.mark_files(None, &mut memories);
        assert!(memories.iter().skip(1).all(|memory| !memory.attributes.is_empty()));
    }

    #[test]
    fn what_stays_outdated_sinks_and_what_was_so_for_a_week_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let now =
            u64::try_from(std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis()).unwrap();
        let weight_after = |days: u64, file: &str| {
            let mut memories = [Memory { score: 1.0, importance: 0.5, ..about(&[file]) }];
            FileChecks::new(dir.path(), now + days * DAY_MS).mark_files(None, &mut memories);
            (memories[0].score, memories[0].importance)
        };
        assert_eq!(weight_after(7, "src/gone.rs"), (1.0, 0.5));
        let (score, importance) = weight_after(30, "src/gone.rs");
        assert!((0.7..0.9).contains(&score) && (0.35..0.45).contains(&importance), "{score} {importance}");
        let (lowest, _) = weight_after(400, "src/gone.rs");
        assert!((lowest - (1.0 - MAX_LOSS)).abs() < 1e-6, "{lowest}");
        // A file that is as it was sinks nothing, however old it is.
        std::fs::write(dir.path().join("a.rs"), "").unwrap();
        assert_eq!(weight_after(400, "a.rs"), (1.0, 0.5));
    }
}
