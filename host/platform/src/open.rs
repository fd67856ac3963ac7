//! Opens and creates files and folders: for this user only, without following links, without waiting for a FIFO.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use cap_std::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::{Errno, retry_on_intr};

/// The mode of a private file.
const PRIVATE_FILE: u32 = 0o600;

/// The mode of a private folder.
const PRIVATE_FOLDER: u32 = 0o700;

/// Options for opening a file: the standard library's, and those of cap-std.
pub trait FileOptions {
    /// If the file is created, only this user can read and write it. An existing file keeps its mode.
    fn private(&mut self) -> &mut Self;

    /// Does not wait for a writer if the file is a FIFO. Replaces custom flags that were set before.
    fn nonblocking(&mut self) -> &mut Self;
}

impl FileOptions for OpenOptions {
    fn private(&mut self) -> &mut Self {
        self.mode(PRIVATE_FILE)
    }

    fn nonblocking(&mut self) -> &mut Self {
        self.custom_flags(OFlags::NONBLOCK.bits().cast_signed())
    }
}

impl FileOptions for cap_std::fs::OpenOptions {
    fn private(&mut self) -> &mut Self {
        self.mode(PRIVATE_FILE)
    }

    fn nonblocking(&mut self) -> &mut Self {
        self.custom_flags(OFlags::NONBLOCK.bits().cast_signed())
    }
}

/// Options for creating a folder: the standard library's, and those of cap-std.
pub trait FolderOptions {
    /// Creates the folder with this mode, as far as the umask allows it.
    fn mode_bits(&mut self, mode: u32) -> &mut Self;

    /// If the folder is created, only this user can use it. An existing folder keeps its mode.
    fn private(&mut self) -> &mut Self {
        self.mode_bits(PRIVATE_FOLDER)
    }
}

impl FolderOptions for DirBuilder {
    fn mode_bits(&mut self, mode: u32) -> &mut Self {
        self.mode(mode)
    }
}

impl FolderOptions for cap_std::fs::DirBuilder {
    fn mode_bits(&mut self, mode: u32) -> &mut Self {
        self.mode(mode)
    }
}

/// Opens the file or folder at `path` for reading. Fails if `path` itself is a link ([`is_link_error`]), and does not
/// wait for a writer if it is a FIFO.
pub fn open_no_follow(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(retry_on_intr(|| openat(CWD, path, flags, Mode::empty()))?))
}

/// Opens a file of this user's for appending, and creates it if it is missing. Fails if `path` itself is a link.
pub fn append_no_follow(path: &Path) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(retry_on_intr(|| openat(CWD, path, flags, Mode::RUSR | Mode::WUSR))?))
}

/// Returns whether [`open_no_follow`] failed because of a link.
pub fn is_link_error(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::LOOP.raw_os_error())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read as _;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use cap_std::ambient_authority;
    use cap_std::fs::Dir;

    use super::*;
    use crate::permissions::mode;

    #[test]
    fn what_is_private_is_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let place = |name: &str| dir.path().join(name);
        let mode_of = |name: &str| mode(&fs::metadata(place(name)).unwrap());
        File::options().write(true).create_new(true).private().open(place("file")).unwrap();
        DirBuilder::new().recursive(true).private().create(place("folder/below")).unwrap();
        DirBuilder::new().mode_bits(0o500).create(place("read-only")).unwrap();
        let inside = Dir::open_ambient_dir(dir.path(), ambient_authority()).unwrap();
        inside.open_with("cap-file", cap_std::fs::OpenOptions::new().write(true).create_new(true).private()).unwrap();
        inside.create_dir_with("cap-folder", cap_std::fs::DirBuilder::new().private()).unwrap();
        for (name, expected) in [
            ("file", 0o600),
            ("folder", 0o700),
            ("folder/below", 0o700),
            ("read-only", 0o500),
            ("cap-file", 0o600),
            ("cap-folder", 0o700),
        ] {
            assert_eq!(mode_of(name), expected, "{name}");
        }
    }

    #[test]
    fn a_fifo_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("fifo");
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        File::options().read(true).nonblocking().open(&fifo).unwrap();
        open_no_follow(&fifo).unwrap();
        let inside = Dir::open_ambient_dir(dir.path(), ambient_authority()).unwrap();
        inside.open_with("fifo", cap_std::fs::OpenOptions::new().read(true).nonblocking()).unwrap();
    }

    #[test]
    fn links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let [file, link, folder, none] = ["file", "link", "folder", "none"].map(|name| dir.path().join(name));
        fs::write(&file, "text").unwrap();
        fs::create_dir(&folder).unwrap();
        symlink(&file, &link).unwrap();
        let mut text = String::new();
        open_no_follow(&file).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "text");
        assert!(open_no_follow(&folder).unwrap().metadata().unwrap().is_dir());
        assert!(is_link_error(&open_no_follow(&link).unwrap_err()));
        let missing = open_no_follow(&none).unwrap_err();
        assert!(missing.kind() == io::ErrorKind::NotFound && !is_link_error(&missing));
    }
}
