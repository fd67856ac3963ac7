//! Looks for the files that memories are about, and marks the memories whose files are not as they were.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::cited_files::{self, FileContent};
use throughline_model::contract::Memory;
use throughline_store::{FileAnchor, SHARED_FROM, Store, file_key};

/// The attribute of a memory that names a file that it is about, that was there and is gone.
const GONE_FILE: &str = "gone-file";

/// The same for a file that is not there, and of which no session knows that it was.
const MISSING_FILE: &str = "missing-file";

/// The same for a file that has changed much since the memory was learned.
const CHANGED_FILE: &str = "changed-file";

/// The most files that one hook looks for. Looking for one takes a microsecond or two, so that all of them take less than a
/// millisecond.
const MAX_LOOKED_FOR: usize = 400;

/// The most anchors that one hook reads from the store. Reading one takes some five microseconds.
const MAX_ANCHORS: usize = 100;

/// How much of files one hook reads to compare them, in bytes.
const MAX_COMPARED_BYTES: usize = 512 << 10;

/// Looks for the files that memories are about. A page asks for several lists of memories, which name the same files: each is
/// looked for once, and read once if it must be compared.
pub struct FileChecks {
    root: PathBuf,
    /// Knows how the files were.
    store: Option<Rc<Store>>,
    /// The files that were looked for.
    files: RefCell<HashMap<String, CheckedFile>>,
    /// How many anchors were read.
    anchors: Cell<usize>,
    /// How many bytes were read.
    bytes: Cell<usize>,
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
    /// Looks for files in a project's root folder. Without a store, only for whether they are there.
    pub fn new(root: &Path, store: Option<Rc<Store>>) -> Self {
        Self { root: root.to_owned(), store, files: RefCell::default(), anchors: Cell::default(), bytes: Cell::default() }
    }

    /// Marks memories with the files that they are about and that are gone, or have changed much since: such a memory may be
    /// outdated. Paths outside of the project are not looked for, and none at all if the project itself is not on this machine.
    pub(super) fn mark_files(&self, memories: &mut [Memory]) {
        if !self.root.is_absolute() || !self.root.is_dir() {
            return;
        }
        // The paths of a shared memory are those of the project that shared it.
        let is_own = |memory: &&mut Memory| !memory.attributes.iter().any(|(name, _)| name == SHARED_FROM);
        for memory in memories.iter_mut().filter(is_own) {
            let marked = |file: &String| Some((self.mark(memory, file)?.to_owned(), file.clone()));
            let marks: Vec<(String, String)> = memory.files.iter().filter_map(marked).collect();
            memory.attributes.extend(marks);
        }
    }

    /// Returns the mark of a memory for one of its files.
    fn mark(&self, memory: &Memory, file: &str) -> Option<&'static str> {
        let mut files = self.files.borrow_mut();
        if !files.contains_key(file) {
            let path = cited_files::path_in(&self.root, file).filter(|_| files.len() < MAX_LOOKED_FOR)?;
            let changed_at = cited_files::changed_at(&path);
            files.insert(file.to_owned(), CheckedFile { path, changed_at, content: OnceCell::new() });
        }
        let checked = files.get(file)?;
        let Some(changed_at) = checked.changed_at else {
            let was_there = self.anchor(memory, file).is_some();
            return Some(if was_there { GONE_FILE } else { MISSING_FILE });
        };
        if changed_at <= memory.created {
            return None;
        }
        let anchor = self.anchor(memory, file).filter(|anchor| changed_at > anchor.at)?;
        let content = checked.content.get_or_init(|| self.read(&checked.path)).as_ref()?;
        let texts = [memory.title.as_str(), memory.content.as_str()];
        content.has_changed_since(&anchor, texts.into_iter()).then_some(CHANGED_FILE)
    }

    /// Returns how the file was when the memory was learned, if that is known.
    fn anchor(&self, memory: &Memory, file: &str) -> Option<FileAnchor> {
        let store = self.store.as_ref().filter(|_| self.anchors.get() < MAX_ANCHORS)?;
        self.anchors.set(self.anchors.get() + 1);
        // What cannot be read is not known: a mark is not worth failing for.
        store.file_anchor(&memory.id, file_key(file)).ok().flatten()
    }

    fn read(&self, path: &Path) -> Option<FileContent> {
        if self.bytes.get() >= MAX_COMPARED_BYTES {
            return None;
        }
        let content = FileContent::read(path)?;
        self.bytes.set(self.bytes.get() + content.size());
        Some(content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(files: &[&str]) -> Memory {
        Memory { files: files.iter().map(|&it| it.into()).collect(), ..Memory::default() }
    }

    #[test]
    fn files_that_are_not_there_are_marked() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("src")).unwrap();
        std::fs::write(dir.path().join("src/a.rs"), "").unwrap();
        let mut memories =
            [about(&["src/a.rs"]), about(&["src/b.rs", "src/a.rs"]), about(&["/etc/none", "../none", "~/none"]), about(&[])];
        FileChecks::new(dir.path(), None).mark_files(&mut memories);
        let marks: Vec<Vec<(String, String)>> = memories.iter().map(|memory| memory.attributes.clone()).collect();
        assert_eq!(marks, [vec![], vec![(MISSING_FILE.into(), "src/b.rs".into())], vec![], vec![]]);
        // Its paths are those of another project.
        let shared = vec![(SHARED_FROM.to_owned(), "a1".to_owned())];
        let mut memories = [Memory { attributes: shared.clone(), ..about(&["src/b.rs"]) }];
        FileChecks::new(dir.path(), None).mark_files(&mut memories);
        assert_eq!(memories[0].attributes, shared);
        // The project is on another machine.
        let mut memories = [about(&["src/b.rs"])];
        FileChecks::new(&dir.path().join("none"), None).mark_files(&mut memories);
        assert!(memories[0].attributes.is_empty());
    }

    #[test]
    fn one_hook_looks_for_few_files_and_for_each_once() {
        let dir = tempfile::tempdir().unwrap();
        let checks = FileChecks::new(dir.path(), None);
        let mut marked = 0;
        for list in 0..4 {
            let mut memories: Vec<Memory> = (0..200).map(|at| about(&[&format!("{list}-{at}.rs")])).collect();
            checks.mark_files(&mut memories);
            marked += memories.iter().filter(|memory| !memory.attributes.is_empty()).count();
        }
        assert_eq!(marked, MAX_LOOKED_FOR);
        // What is known is not looked for again, and is still said.
        std::fs::write(dir.path().join("0-0.rs"), "").unwrap();
        let mut again = [about(&["0-0.rs"])];
        checks.mark_files(&mut again);
        assert_eq!(again[0].attributes.len(), 1);
        assert_eq!(checks.files.borrow().len(), MAX_LOOKED_FOR);
    }
}
