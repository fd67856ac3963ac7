//! Folders that projections are written to. Files are replaced as a whole, and never through a symbolic link that leads
//! out of the folder.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};

use throughline_model::project::Project;
use throughline_platform::open::{FileOptions as _, FolderOptions as _};

/// The file that says which project a folder belongs to; it holds the project's identifier on one line.
const MARKER: &str = ".project";

/// The largest marker that is read, bytes.
const MAX_MARKER_BYTES: u64 = 4 << 10;

/// The largest file that is compared with the new content, or kept as a backup, bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// The longest name of a project's folder, bytes; the suffix must fit too.
const MAX_NAME_BYTES: usize = 80;

/// An open folder.
#[derive(Debug)]
pub(super) struct OutputFolder {
    dir: Dir,
    /// The folder's path, for messages.
    path: PathBuf,
}

/// A file that now has the wanted content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenFile {
    /// The file.
    pub path: PathBuf,
    /// Whether the content was changed.
    pub changed: bool,
}

impl OutputFolder {
    /// Opens the folder at a path that the user gave, following symbolic links. Missing folders are created for this
    /// user only.
    pub(super) fn create_folder(path: &Path) -> io::Result<Self> {
        std::fs::DirBuilder::new().recursive(true).private().create(path)?;
        Self::open(path)
    }

    /// Opens an existing folder.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { dir: Dir::open_ambient_dir(path, ambient_authority())?, path: path.to_path_buf() })
    }

    /// Opens a folder inside this one; creates it with this mode if it is missing.
    pub(super) fn folder(&self, name: &str, mode: u32) -> io::Result<Self> {
        match self.dir.create_dir_with(name, cap_std::fs::DirBuilder::new().mode_bits(mode)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => self.existing(name),
        }
    }

    /// Opens an existing folder inside this one.
    pub(super) fn existing(&self, name: &str) -> io::Result<Self> {
        Ok(Self { dir: self.dir.open_dir(name)?, path: self.path.join(name) })
    }

    /// Returns the names of the entries, sorted.
    pub(super) fn names(&self) -> io::Result<Vec<String>> {
        let mut names: Vec<String> =
            self.dir.entries()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        names.sort();
        Ok(names)
    }

    /// Reads a file in the folder; `None` if it is not a file or is larger than `most` bytes.
    fn read(&self, name: &str, most: u64) -> Option<Vec<u8>> {
        let meta = self.dir.symlink_metadata(name).ok()?;
        if !meta.is_file() || meta.len() > most {
            return None;
        }
        let mut bytes = Vec::new();
        self.dir.open(name).ok()?.take(most).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Reads a file in the folder as text.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        String::from_utf8(self.read(name, MAX_FILE_BYTES)?).ok()
    }

    /// Replaces a file's content: a reader sees the old or the new content. A file that already has the content is not
    /// touched. With `backup`, the previous content is kept under that name. Nothing is synced: what a power cut
    /// destroys can be generated again.
    pub(super) fn replace(&self, name: &str, bytes: &[u8], backup: Option<&str>) -> io::Result<WrittenFile> {
        let path = self.path.join(name);
        let before = self.read(name, MAX_FILE_BYTES);
        if before.as_deref() == Some(bytes) {
            return Ok(WrittenFile { path, changed: false });
        }
        if let (Some(backup), Some(before)) = (backup, &before) {
            self.put(backup, before)?;
        }
        self.put(name, bytes)?;
        Ok(WrittenFile { path, changed: true })
    }

    /// Writes a temporary file and renames it. A symbolic link in its place is replaced, not followed.
    fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let temporary = self.temporary(name, bytes)?;
        let renamed = self.dir.rename(&temporary, &self.dir, name);
        if renamed.is_err() {
            self.remove(&temporary);
        }
        renamed
    }

    fn temporary(&self, name: &str, bytes: &[u8]) -> io::Result<String> {
        let temporary = format!(".{}.{}.tmp", name.trim_start_matches('.'), std::process::id());
        // Left by a killed process with the same process identifier.
        self.remove(&temporary);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).private();
        let written = self.dir.open_with(&temporary, &options).and_then(|mut out| out.write_all(bytes));
        if written.is_err() {
            self.remove(&temporary);
        }
        written.map(|()| temporary)
    }

    /// Deletes a file if it exists.
    pub(super) fn remove(&self, name: &str) {
        let _ = self.dir.remove_file(name);
    }

    /// Deletes a folder if it exists and is empty.
    pub(super) fn remove_empty(&self, name: &str) {
        let _ = self.dir.remove_dir(name);
    }

    /// Returns the folder of a project inside this one, created if it is missing. Two projects of the same name get two
    /// folders.
    pub(super) fn of_project(&self, project: &Project) -> io::Result<Self> {
        if let Some(place) = self.known(project) {
            return Ok(place);
        }
        for name in names(project) {
            if let Some(place) = self.claim(&name, &project.id)? {
                return Ok(place);
            }
        }
        Err(io::Error::other(format!(
            "{} contains something else where the notes of {} belong",
            self.path.display(),
            project.root.display()
        )))
    }

    /// Returns the folder of a project, if it has one.
    pub(super) fn known(&self, project: &Project) -> Option<Self> {
        names(project)
            .iter()
            .filter_map(|name| self.existing(name).ok())
            .find(|place| place.owner().as_deref() == Some(&project.id))
    }

    /// Removes the marker, so that the folder belongs to no project.
    pub(super) fn remove_marker(&self) {
        self.remove(MARKER);
    }

    /// Returns the folder's own name.
    pub(super) fn name(&self) -> Option<&str> {
        self.path.file_name()?.to_str()
    }

    fn owner(&self) -> Option<String> {
        let text = String::from_utf8(self.read(MARKER, MAX_MARKER_BYTES)?).ok()?;
        text.lines().next().map(str::to_owned)
    }

    /// Claims a folder name for a project. Returns `None` if the name belongs to another project or to something of the
    /// user's.
    fn claim(&self, name: &str, id: &str) -> io::Result<Option<Self>> {
        let place = match self.folder(name, 0o700) {
            // The name is a file, or a link that leads out of the folder.
            Err(_) if self.dir.symlink_metadata(name).is_ok() => return Ok(None),
            other => other?,
        };
        // Another process may be claiming the name for the same project at this moment.
        if place.names()?.iter().all(|inside| inside.starts_with(MARKER)) {
            let temporary = place.temporary(MARKER, format!("{id}\n").as_bytes())?;
            // Only the first link succeeds, and no reader ever sees half a marker.
            let linked = place.dir.hard_link(&temporary, &place.dir, MARKER);
            if linked.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::AlreadyExists) {
                // The file system does not support hard links.
                place.dir.rename(&temporary, &place.dir, MARKER)?;
            }
            place.remove(&temporary);
        }
        Ok((place.owner().as_deref() == Some(id)).then_some(place))
    }
}

/// Returns the names that a project's folder may have: that of its root, and a unique one.
fn names(project: &Project) -> [String; 2] {
    let name = project.root.file_name().map(|name| safe_file_name(&name.to_string_lossy())).unwrap_or_default();
    let name = if name.is_empty() { "project".to_owned() } else { name };
    let own = format!("{name}-{}", project.id.chars().take(6).collect::<String>());
    [name, own]
}

/// Turns a text into a file name for any system: letters, digits and `-_.`, not hidden.
fn safe_file_name(text: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    let mut name: String = text.chars().map(plain).collect::<String>().trim_start_matches('.').to_owned();
    name.truncate(name.floor_char_boundary(MAX_NAME_BYTES));
    name
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use proptest::prelude::*;

    use super::*;

    fn project(id: &str, root: &str) -> Project {
        Project { id: id.into(), identity: format!("dir:{root}"), root: root.into() }
    }

    #[test]
    fn a_file_is_replaced_only_where_it_differs() {
        let dir = tempfile::tempdir().unwrap();
        let place = OutputFolder::create_folder(&dir.path().join("a/b")).unwrap();
        let file = dir.path().join("a/b/x");
        assert!(place.replace("x", b"one", Some("x.bak")).unwrap().changed);
        assert!(!dir.path().join("a/b/x.bak").exists());
        let inode = fs::metadata(&file).unwrap().ino();
        assert!(!place.replace("x", b"one", Some("x.bak")).unwrap().changed);
        assert_eq!(fs::metadata(&file).unwrap().ino(), inode);
        assert!(place.replace("x", b"two", Some("x.bak")).unwrap().changed);
        assert_eq!(fs::read(&file).unwrap(), b"two");
        assert_eq!(fs::read(dir.path().join("a/b/x.bak")).unwrap(), b"one");
        assert_eq!(place.names().unwrap(), ["x", "x.bak"]);
        for (path, mode) in [("a/b", 0o700), ("a/b/x", 0o600)] {
            assert_eq!(fs::metadata(dir.path().join(path)).unwrap().permissions().mode() & 0o777, mode);
        }
    }

    #[test]
    fn no_link_leads_out() {
        let dir = tempfile::tempdir().unwrap();
        let outside = dir.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("x"), "theirs").unwrap();
        let place = OutputFolder::create_folder(&dir.path().join("in")).unwrap();
        symlink(&outside, dir.path().join("in/folder")).unwrap();
        symlink(outside.join("x"), dir.path().join("in/x")).unwrap();
        assert!(place.folder("folder", 0o700).is_err());
        // The link is replaced by a file.
        assert!(place.replace("x", b"ours", Some("bak")).unwrap().changed);
        assert_eq!(fs::read(outside.join("x")).unwrap(), b"theirs");
        assert_eq!(fs::read(dir.path().join("in/x")).unwrap(), b"ours");
        assert!(!dir.path().join("in/bak").exists());
        // The link is not taken for a project's folder either.
        let taken = place.of_project(&project("0123456789abcdef", "/home/folder")).unwrap();
        assert_eq!(taken.name(), Some("folder-012345"));
    }

    #[test]
    fn projects_of_one_name_have_two_folders_for_good() {
        let dir = tempfile::tempdir().unwrap();
        let place = OutputFolder::create_folder(dir.path()).unwrap();
        let (a, b) = (project("aaaaaaaaaaaaaaaa", "/x/app"), project("bbbbbbbbbbbbbbbb", "/y/app"));
        for _ in 0..2 {
            assert_eq!(place.of_project(&a).unwrap().name(), Some("app"));
            assert_eq!(place.of_project(&b).unwrap().name(), Some("app-bbbbbb"));
        }
        assert!(place.known(&project("cccccccccccccccc", "/z/app")).is_none());
    }

    #[test]
    fn a_folder_of_the_users_own_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("app")).unwrap();
        fs::write(dir.path().join("app/memory.md"), "mine").unwrap();
        let place = OutputFolder::create_folder(dir.path()).unwrap();
        assert_eq!(place.of_project(&project("aaaaaaaaaaaaaaaa", "/x/app")).unwrap().name(), Some("app-aaaaaa"));
        assert_eq!(fs::read_dir(dir.path().join("app")).unwrap().count(), 1);
    }

    proptest! {
        #[test]
        fn any_root_has_a_folder_right_below(root in "\\PC{0,120}", id in "[0-9a-f]{16}") {
            let dir = tempfile::tempdir().unwrap();
            let place = OutputFolder::create_folder(dir.path()).unwrap();
            let taken = place.of_project(&project(&id, &root)).unwrap();
            prop_assert_eq!(taken.path.parent(), Some(dir.path()));
            prop_assert_eq!(place.names().unwrap().len(), 1);
        }
    }
}
