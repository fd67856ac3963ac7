//! The permissions of files and folders, on Windows, as far as they are known: whether a file is read-only.
//!
//! Windows keeps owners and access lists, which the standard library does not read. So this user's own files are taken for
//! private, because what lies below a profile inherits a private list; and nothing is taken for an administrator's
//! ([`OWNERS_ARE_KNOWN`]).

use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::path::Path;

/// Whether owners and access of files can be checked. Where they cannot, nothing that only an administrator may write is
/// trusted, and who has access to this user's files is not known.
pub const OWNERS_ARE_KNOWN: bool = false;

/// The bits of a mode that let anybody write.
const WRITE: u32 = 0o222;

/// Returns a mode that stands for a file's attributes: 0600, or 0400 if it is read-only.
pub fn mode(meta: &Metadata) -> u32 {
    if meta.permissions().readonly() { 0o400 } else { 0o600 }
}

/// Makes the file read-only if the mode lets nobody write, and writable otherwise.
pub fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, with_mode(fs::metadata(path)?.permissions(), mode))
}

/// Makes the open file read-only if the mode lets nobody write, and writable otherwise.
pub fn set_mode_of(file: &File, mode: u32) -> io::Result<()> {
    file.set_permissions(with_mode(file.metadata()?.permissions(), mode))
}

fn with_mode(mut permissions: Permissions, mode: u32) -> Permissions {
    permissions.set_readonly(mode & WRITE == 0);
    permissions
}

/// Returns true: owners are not known.
pub fn belongs_to_user(_: &Metadata) -> bool {
    true
}

/// Returns false: owners are not known.
pub fn belongs_to_root(_: &Metadata) -> bool {
    false
}

/// Returns true: owners are not known.
pub fn have_same_owner(_: &Metadata, _: &Metadata) -> bool {
    true
}

/// Returns false: there are no such groups.
pub fn has_private_group(_: &Metadata) -> bool {
    false
}

/// Returns false: who has access is not known.
pub fn others_have_access(_: &Metadata) -> bool {
    false
}

/// Returns false: who has access is not known.
pub fn others_may_write(_: &Metadata) -> bool {
    false
}

/// Returns false: who has access is not known.
pub fn group_may_write(_: &Metadata) -> bool {
    false
}

/// Returns false: who has access is not known.
pub fn everyone_may_write(_: &Metadata) -> bool {
    false
}

/// Whose files are trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// This user's and the system's.
    User,
    /// Only the system's.
    Root,
}

/// Returns why a file or folder cannot be trusted, or `None` if it can. Nothing can be shown to be the system's.
pub fn distrust_reason(_: &Metadata, owner: Owner) -> Option<&'static str> {
    match owner {
        Owner::User => None,
        Owner::Root => Some("who owns it cannot be checked on Windows yet"),
    }
}

/// Returns whether it is a file: what can be run is told by its name.
pub fn is_executable(meta: &Metadata) -> bool {
    meta.is_file()
}

/// Returns whether the file or folder at `path` is there and not read-only.
pub fn may_write(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_dir() || !meta.permissions().readonly())
}

/// Returns whether there is a file at `path`.
pub fn may_execute(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_makes_a_file_read_only_or_writable() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x");
        fs::write(&file, "").unwrap();
        for (given, kept) in [(0o600, 0o600), (0o400, 0o400), (0o444, 0o400), (0o644, 0o600)] {
            set_mode(&file, given).unwrap();
            assert_eq!(mode(&fs::metadata(&file).unwrap()), kept, "{given:o}");
            assert_eq!(may_write(&file), kept == 0o600, "{given:o}");
            assert!(may_execute(&file));
        }
        assert!(may_write(dir.path()) && !may_execute(dir.path()));
        assert!(!may_write(&dir.path().join("none")) && !may_execute(&dir.path().join("none")));
    }

    #[test]
    fn nothing_is_taken_for_the_systems() {
        let dir = tempfile::tempdir().unwrap();
        let meta = fs::metadata(dir.path()).unwrap();
        assert!(belongs_to_user(&meta) && !belongs_to_root(&meta));
        assert_eq!(distrust_reason(&meta, Owner::User), None);
        assert!(distrust_reason(&meta, Owner::Root).is_some());
    }
}
