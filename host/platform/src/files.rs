//! Atomic replacement of whole files, and lock files.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

/// Returns when a file was last modified, in milliseconds since the Unix epoch; `None` before it.
pub fn modified(meta: &fs::Metadata) -> Option<u64> {
    u64::try_from(meta.mtime() * 1000 + meta.mtime_nsec() / 1_000_000).ok()
}

/// Writes the file under a temporary name and renames it: after a power cut there is the old file or the new one.
/// `mode` is the new file's mode, regardless of the umask.
pub fn replace(file: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    };
    let temporary = folder.join(format!(".{}.{}.tmp", name.to_string_lossy(), std::process::id()));
    // Left by a killed process with the same process identifier.
    let _ = fs::remove_file(&temporary);
    let written = (|| {
        let mut out = File::options().write(true).create_new(true).mode(0o600).open(&temporary)?;
        out.write_all(bytes)?;
        out.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))?;
        out.sync_all()?;
        fs::rename(&temporary, file)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Returns a temporary name for a file that is not complete yet. It is in the same folder, so that it can be renamed.
pub fn unfinished(file: &Path) -> io::Result<PathBuf> {
    let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    };
    let temporary = folder.join(format!(".{}.{}.tmp", name.to_string_lossy(), std::process::id()));
    // Left by a killed process with the same process identifier.
    match fs::remove_file(&temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(temporary),
    }
}

/// Renames a complete temporary file to its final name, and syncs the folder. Without `overwrite`, an existing file is
/// kept and an error is returned.
pub fn settle(unfinished: &Path, file: &Path, overwrite: bool) -> io::Result<()> {
    if overwrite {
        fs::rename(unfinished, file)?;
    } else {
        match fs::hard_link(unfinished, file) {
            Ok(()) => fs::remove_file(unfinished)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
            // Not every file system has hard links. In that case another process could create the file in the short
            // moment before the rename.
            Err(_) if file.symlink_metadata().is_err() => fs::rename(unfinished, file)?,
            Err(_) => return Err(io::Error::from(io::ErrorKind::AlreadyExists)),
        }
    }
    sync_folder(file)
}

/// Takes a lock file; the lock is held as long as the returned file lives. Returns `None` if another process holds it.
pub fn try_lock(file: &Path) -> io::Result<Option<File>> {
    let lock = File::options().create(true).append(true).mode(0o600).open(file)?;
    Ok(flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok().then_some(lock))
}

/// Syncs the file's folder, so that the names in it are on disk.
pub fn sync_folder(file: &Path) -> io::Result<()> {
    file.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_file_is_replaced_and_nothing_else_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x");
        for (text, mode) in [("old", 0o600), ("new", 0o640)] {
            replace(&file, text.as_bytes(), mode).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
            let found = fs::metadata(&file).unwrap().permissions().mode() & 0o777;
            assert_eq!(found, mode);
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(replace(&dir.path().join("none/x"), b"", 0o600).is_err());
    }

    #[test]
    fn a_file_that_is_there_stays_unless_it_is_to_go() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x");
        for (text, overwrite, expected) in [("one", false, "one"), ("two", false, "one"), ("three", true, "three")] {
            let new = unfinished(&file).unwrap();
            fs::write(&new, text).unwrap();
            assert_eq!(settle(&new, &file, overwrite).is_ok(), text == expected);
            assert_eq!(fs::read_to_string(&file).unwrap(), expected);
        }
    }
}
