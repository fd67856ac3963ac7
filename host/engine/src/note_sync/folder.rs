//! The folder that notes are synced with. It is read and written without following symbolic links, so temporary files are not made
//! with `tempfile`, which takes a path and would follow them.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};

use throughline_model::invalid::Invalid;
use throughline_notes::registry::SCHEMA_FOLDER;
use throughline_platform::metadata::Modified as _;

/// The largest file that is read, bytes: more than four times the largest note, with room for front matter.
const MAX_FILE_BYTES: u64 = 320 << 10;

/// How deep folders may be nested.
const DEEPEST: usize = 8;

/// The most files that the folder may contain.
const MAX_FILES: usize = 200_000;

/// The suffix of a file that holds the note's side of a conflict.
pub const CONFLICT: &str = ".conflict.md";

/// A file modified less than this before it was examined may be modified again without its time changing.
const RACY_WINDOW: Duration = Duration::from_millis(100);

/// An open folder.
pub struct Folder {
    dir: Dir,
    /// The folder's path.
    pub path: PathBuf,
}

/// The state of a file, known without reading it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileStat {
    /// The size, bytes.
    pub size: u64,
    /// Nanoseconds since the Unix epoch; 0 if the time cannot be relied on to show a later change.
    pub modified: i64,
}

/// Why a file of the folder is left alone.
#[derive(Debug, thiserror::Error)]
pub enum SkipReason {
    /// Its name is not Unicode.
    #[error("its name is not Unicode")]
    BadName,
    /// It is a symbolic link.
    #[error("it is a link, and links are not followed")]
    Link,
    /// It is a folder below too many others.
    #[error("it is more than {DEEPEST} folders deep")]
    TooDeep,
    /// It is a pipe, a device or a folder.
    #[error("it is not a file")]
    NotAFile,
    /// It cannot be read.
    #[error("{0}")]
    Unreadable(#[from] io::Error),
    /// A line is not UTF-8.
    #[error("line {0}: it is not UTF-8")]
    NotUtf8(usize),
    /// A line is a conflict marker of git.
    #[error("line {0}: it contains conflict markers of an unfinished merge")]
    ConflictMarkers(usize),
    /// It is not a note.
    #[error("{0}")]
    NotANote(#[from] Invalid),
    /// It has a type that the registry does not have.
    #[error("there is no type {0:?}; a team's own types are defined in _schema/types.yaml")]
    UnknownType(String),
}

/// The content of a folder.
#[derive(Debug, Default)]
pub struct FolderScan {
    /// Markdown files, by their path below the folder.
    pub files: BTreeMap<String, FileStat>,
    /// Conflict files, by the path of the file that they belong to.
    pub conflicts: BTreeMap<String, String>,
    /// What was skipped: the path, and why.
    pub passed_over: Vec<(String, SkipReason)>,
}

impl Folder {
    /// Opens the folder and creates it if it is missing. With `dry`, nothing is created, and a missing folder gives
    /// `None`.
    pub fn open(path: &Path, dry: bool) -> io::Result<Option<Self>> {
        if !path.is_dir() {
            if dry && !path.exists() {
                return Ok(None);
            }
            std::fs::create_dir_all(path)?;
        }
        let path = path.canonicalize()?;
        Ok(Some(Self { dir: Dir::open_ambient_dir(&path, ambient_authority())?, path }))
    }

    /// Lists everything in the folder.
    pub fn scan(&self) -> io::Result<FolderScan> {
        let mut scan = FolderScan::default();
        self.scan_dir(&self.dir, "", 0, &mut scan)?;
        Ok(scan)
    }

    #[expect(clippy::self_only_used_in_recursion, reason = "it is one of its own operations")]
    fn scan_dir(&self, dir: &Dir, at: &str, depth: usize, scan: &mut FolderScan) -> io::Result<()> {
        for entry in dir.entries()? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else {
                scan.passed_over.push((format!("{at}{}", entry.file_name().to_string_lossy()), SkipReason::BadName));
                continue;
            };
            if name.starts_with('.') || (at.is_empty() && name == SCHEMA_FOLDER) {
                continue;
            }
            let path = format!("{at}{name}");
            let kind = entry.file_type()?;
            if kind.is_symlink() {
                scan.passed_over.push((path, SkipReason::Link));
            } else if kind.is_dir() {
                if depth >= DEEPEST {
                    scan.passed_over.push((path, SkipReason::TooDeep));
                } else {
                    self.scan_dir(&entry.open_dir()?, &format!("{path}/"), depth + 1, scan)?;
                }
            } else if let Some(of) = name.strip_suffix(CONFLICT) {
                scan.conflicts.insert(format!("{at}{of}.md"), path);
            } else if name.strip_suffix(".md").is_some_and(|stem| !stem.is_empty()) {
                if !kind.is_file() {
                    scan.passed_over.push((path, SkipReason::NotAFile));
                    continue;
                }
                if scan.files.len() >= MAX_FILES {
                    return Err(io::Error::other(format!("there are more than {MAX_FILES} files in it")));
                }
                scan.files.insert(path, stat(&entry.metadata()?));
            }
        }
        Ok(())
    }

    /// Reads a file, and its state at that time. The error is one line for a person.
    pub fn read(&self, path: &str) -> io::Result<(Vec<u8>, FileStat)> {
        // A symbolic link may have replaced it since.
        if !self.dir.symlink_metadata(path)?.is_file() {
            return Err(io::Error::other("it is not a file"));
        }
        let file = self.dir.open(path)?;
        let stat = stat(&file.metadata()?);
        if stat.size > MAX_FILE_BYTES {
            return Err(io::Error::other(format!("it has {} KiB, but a note may have at most 64", stat.size >> 10)));
        }
        let mut bytes = Vec::new();
        file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
        Ok((bytes, stat))
    }

    /// Replaces a file's content: a reader sees the old or the new content. Folders are created as needed.
    pub fn write(&self, path: &str, text: &str) -> io::Result<FileStat> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        if !folder.is_empty() {
            self.dir.create_dir_all(folder)?;
        }
        let below = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let temporary = format!("{below}.{}.{}.tmp", name.chars().take(40).collect::<String>(), std::process::id());
        let _ = self.dir.remove_file(&temporary);
        let written = (|| {
            let mut file = self.dir.open_with(&temporary, OpenOptions::new().write(true).create_new(true))?;
            file.write_all(text.as_bytes())?;
            let stat = stat(&file.metadata()?);
            self.dir.rename(&temporary, &self.dir, path)?;
            Ok(stat)
        })();
        if written.is_err() {
            let _ = self.dir.remove_file(&temporary);
        }
        written
    }

    /// Deletes a file if it exists, and its folder if that is empty then.
    pub fn remove(&self, path: &str) -> io::Result<()> {
        match self.dir.remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        if let Some((folder, _)) = path.rsplit_once('/') {
            let _ = self.dir.remove_dir(folder);
        }
        Ok(())
    }

    /// Returns whether there is something at a path.
    pub fn has(&self, path: &str) -> bool {
        self.dir.symlink_metadata(path).is_ok()
    }
}

fn stat(meta: &cap_std::fs::Metadata) -> FileStat {
    let (seconds, nanos) = meta.modified_parts();
    FileStat { size: meta.len(), modified: seconds.saturating_mul(1_000_000_000).saturating_add(nanos) }
}

/// Returns the state as it may be stored: without the modification time if that is too recent to be reliable.
pub fn without_racy_time(stat: FileStat, now: SystemTime) -> FileStat {
    let limit = now.checked_sub(RACY_WINDOW).and_then(|at| at.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    let is_racy = u128::try_from(stat.modified).is_ok_and(|at| at > limit.as_nanos());
    if is_racy { FileStat { modified: 0, ..stat } } else { stat }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_and_what_is_no_note_are_passed_over() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("theirs.md"), "theirs").unwrap();
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(&dir.path().join("a/b"), false).unwrap().unwrap();
        for path in
            ["one.md", "general/two.md", "general/two.conflict.md", "_schema/x.md", ".git/x.md", "general/x.txt", ".md"]
        {
            folder.write(path, "x").unwrap();
        }
        symlink(outside.path(), folder.path.join("link")).unwrap();
        symlink(outside.path().join("theirs.md"), folder.path.join("link.md")).unwrap();
        let scan = folder.scan().unwrap();
        assert_eq!(scan.files.keys().collect::<Vec<_>>(), ["general/two.md", "one.md"]);
        assert_eq!(scan.conflicts["general/two.md"], "general/two.conflict.md");
        assert_eq!(scan.passed_over.len(), 2, "{:?}", scan.passed_over);
        assert!(folder.read("link.md").is_err());
        // Writing does not follow a link either.
        folder.write("link.md", "ours").unwrap();
        assert!(folder.write("link/theirs.md", "ours").is_err());
        assert_eq!(fs::read_to_string(outside.path().join("theirs.md")).unwrap(), "theirs");
        folder.remove("general/two.md").unwrap();
        assert!(!folder.has("general/two.md"));
    }
}
