//! The permissions of files and folders: who owns them, and who may use them.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{Access, access};
use rustix::process::geteuid;

/// Whether owners and access of files can be checked. Where they cannot, nothing that only an administrator may write is
/// trusted, and who has access to this user's files is not known.
pub const OWNERS_ARE_KNOWN: bool = true;

/// Returns the mode: the permission bits, with setuid, setgid and sticky.
pub fn mode(meta: &Metadata) -> u32 {
    meta.mode() & 0o7777
}

/// Sets the mode, regardless of the umask.
pub fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

/// Sets the mode of an open file, regardless of the umask.
pub fn set_mode_of(file: &File, mode: u32) -> io::Result<()> {
    file.set_permissions(fs::Permissions::from_mode(mode))
}

/// Returns whether this user is the owner.
pub fn belongs_to_user(meta: &Metadata) -> bool {
    meta.uid() == geteuid().as_raw()
}

/// Returns whether root is the owner.
pub fn belongs_to_root(meta: &Metadata) -> bool {
    meta.uid() == 0
}

/// Returns whether both have the same owner.
pub fn have_same_owner(a: &Metadata, b: &Metadata) -> bool {
    a.uid() == b.uid()
}

/// Returns whether the group has the owner's number. Many systems give each user such a private group.
pub fn has_private_group(meta: &Metadata) -> bool {
    meta.gid() == meta.uid()
}

/// Returns whether anybody but the owner may read, write or execute it.
pub fn others_have_access(meta: &Metadata) -> bool {
    meta.mode() & 0o077 != 0
}

/// Returns whether anybody but the owner may write to it.
pub fn others_may_write(meta: &Metadata) -> bool {
    group_may_write(meta) || everyone_may_write(meta)
}

/// Returns whether the members of its group may write to it.
pub fn group_may_write(meta: &Metadata) -> bool {
    meta.mode() & 0o020 != 0
}

/// Returns whether users who are neither the owner nor in its group may write to it.
pub fn everyone_may_write(meta: &Metadata) -> bool {
    meta.mode() & 0o002 != 0
}

/// Whose files are trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// This user's and the system's.
    User,
    /// Only the system's.
    Root,
}

/// Returns why a file or folder cannot be trusted, or `None` if it can.
pub fn distrust_reason(meta: &Metadata, owner: Owner) -> Option<&'static str> {
    let own = belongs_to_root(meta) || (owner == Owner::User && belongs_to_user(meta));
    if !own {
        return Some(match owner {
            Owner::User => "it belongs to another user",
            Owner::Root => "it does not belong to root",
        });
    }
    // Many systems give each user a private group with the same number and let it write.
    let private_group = owner == Owner::User && has_private_group(meta);
    if everyone_may_write(meta) || (group_may_write(meta) && !private_group) {
        return Some("other users may write to it");
    }
    None
}

/// Returns whether anybody may execute it.
pub fn is_executable(meta: &Metadata) -> bool {
    meta.mode() & 0o111 != 0
}

/// Returns whether this process may write to the file or folder at `path`.
pub fn may_write(path: &Path) -> bool {
    access(path, Access::WRITE_OK).is_ok()
}

/// Returns whether this process may execute the file at `path`.
pub fn may_execute(path: &Path) -> bool {
    access(path, Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_says_who_may_do_what() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x");
        fs::write(&file, "").unwrap();
        // Mode, others have access, others may write, the group may write, everyone may write, executable.
        for (bits, access, write, group, everyone, executable) in [
            (0o600, false, false, false, false, false),
            (0o700, false, false, false, false, true),
            (0o644, true, false, false, false, false),
            (0o660, true, true, true, false, false),
            (0o602, true, true, false, true, false),
            (0o1777, true, true, true, true, true),
        ] {
            set_mode(&file, bits).unwrap();
            let meta = fs::metadata(&file).unwrap();
            assert_eq!(mode(&meta), bits);
            assert_eq!((others_have_access(&meta), others_may_write(&meta)), (access, write), "{bits:o}");
            assert_eq!((group_may_write(&meta), everyone_may_write(&meta)), (group, everyone), "{bits:o}");
            assert_eq!(is_executable(&meta), executable, "{bits:o}");
            assert!(may_write(&file), "{bits:o}");
            assert!(executable || !may_execute(&file), "{bits:o}");
        }
        // Temporary folders may be mounted so that nothing in them is executed.
        assert!(may_execute(Path::new("/bin/sh")));
        assert!(!may_write(&dir.path().join("none")) && !may_execute(&dir.path().join("none")));
    }

    #[test]
    fn a_new_file_belongs_to_this_user() {
        let dir = tempfile::tempdir().unwrap();
        let meta = fs::metadata(dir.path()).unwrap();
        assert!(belongs_to_user(&meta));
        assert_eq!(belongs_to_root(&meta), crate::process::is_root());
        assert_eq!(has_private_group(&meta), meta.gid() == geteuid().as_raw());
    }
}
