//! Opens and creates files and folders, on Windows: without following links.
//!
//! There are no modes. A new file inherits who may use it from its folder, and below a user's profile that is the user, the
//! system and administrators. A FIFO is not in the file system, so there is nothing to wait for.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt as _;
use std::path::Path;

/// `FILE_FLAG_BACKUP_SEMANTICS`, without which a folder cannot be opened.
const BACKUP_SEMANTICS: u32 = 0x0200_0000;

/// `FILE_FLAG_OPEN_REPARSE_POINT`: a link itself is opened, not what it leads to.
const OPEN_REPARSE_POINT: u32 = 0x0020_0000;

/// `ERROR_REPARSE_POINT_ENCOUNTERED`.
const IS_LINK: i32 = 4395;

/// Options for opening a file: the standard library's, and those of cap-std.
pub trait FileOptions {
    /// Changes nothing: the file inherits who may use it from its folder.
    fn private(&mut self) -> &mut Self;

    /// Changes nothing: there are no FIFOs in the file system.
    fn nonblocking(&mut self) -> &mut Self;
}

impl FileOptions for OpenOptions {
    fn private(&mut self) -> &mut Self {
        self
    }

    fn nonblocking(&mut self) -> &mut Self {
        self
    }
}

impl FileOptions for cap_std::fs::OpenOptions {
    fn private(&mut self) -> &mut Self {
        self
    }

    fn nonblocking(&mut self) -> &mut Self {
        self
    }
}

/// Options for creating a folder: the standard library's, and those of cap-std.
pub trait FolderOptions {
    /// Changes nothing: there are no modes.
    fn mode_bits(&mut self, mode: u32) -> &mut Self;

    /// Changes nothing: the folder inherits who may use it from its parent.
    fn private(&mut self) -> &mut Self {
        self.mode_bits(0)
    }
}

impl FolderOptions for DirBuilder {
    fn mode_bits(&mut self, _: u32) -> &mut Self {
        self
    }
}

impl FolderOptions for cap_std::fs::DirBuilder {
    fn mode_bits(&mut self, _: u32) -> &mut Self {
        self
    }
}

/// Opens the file or folder at `path` for reading. Fails if `path` itself is a link ([`is_link_error`]).
pub fn open_no_follow(path: &Path) -> io::Result<File> {
    refuse_link(File::options().read(true).custom_flags(OPEN_REPARSE_POINT | BACKUP_SEMANTICS).open(path)?)
}

/// Opens a file of this user's for appending, and creates it if it is missing. Fails if `path` itself is a link.
pub fn append_no_follow(path: &Path) -> io::Result<File> {
    refuse_link(File::options().append(true).create(true).custom_flags(OPEN_REPARSE_POINT).open(path)?)
}

fn refuse_link(file: File) -> io::Result<File> {
    if file.metadata()?.file_type().is_symlink() {
        return Err(io::Error::from_raw_os_error(IS_LINK));
    }
    Ok(file)
}

/// Returns whether [`open_no_follow`] failed because of a link.
pub fn is_link_error(error: &io::Error) -> bool {
    error.raw_os_error() == Some(IS_LINK)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{Read as _, Write as _};
    use std::os::windows::fs::symlink_file;

    use super::*;

    #[test]
    fn files_and_folders_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let [file, folder, none] = ["file", "folder", "none"].map(|name| dir.path().join(name));
        DirBuilder::new().private().create(&folder).unwrap();
        for text in ["one", "two"] {
            append_no_follow(&file).unwrap().write_all(text.as_bytes()).unwrap();
        }
        let mut text = String::new();
        open_no_follow(&file).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "onetwo");
        assert!(open_no_follow(&folder).unwrap().metadata().unwrap().is_dir());
        let missing = open_no_follow(&none).unwrap_err();
        assert!(missing.kind() == io::ErrorKind::NotFound && !is_link_error(&missing));
    }

    #[test]
    fn links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let [file, link] = ["file", "link"].map(|name| dir.path().join(name));
        fs::write(&file, "theirs").unwrap();
        let made = symlink_file(&file, &link);
        // Windows lets only administrators and developers make links, and Wine says that it made one and did not.
        if !fs::symlink_metadata(&link).is_ok_and(|meta| meta.is_symlink()) {
            eprintln!("skipped: there is no link: {made:?}");
            return;
        }
        assert!(is_link_error(&open_no_follow(&link).unwrap_err()));
        assert!(is_link_error(&append_no_follow(&link).unwrap_err()));
        assert_eq!(fs::read_to_string(&file).unwrap(), "theirs");
    }
}
