//! Atomic replacement of whole files, positioned reads, and lock files.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use crate::open::FileOptions as _;
use crate::permissions;

/// Fills `bytes` from the file, beginning at `offset`. The file position is neither used nor changed, so handles that
/// share one do not disturb each other.
pub fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    file.read_exact_at(bytes, offset)
}

/// Writes the file under a temporary name and renames it: after a power cut there is the old file or the new one.
/// `mode` is the new file's mode, regardless of the umask.
pub fn replace_atomically(file: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    };
    let temporary = folder.join(format!(".{}.{}.tmp", name.to_string_lossy(), std::process::id()));
    // Left by a killed process with the same process identifier.
    let _ = fs::remove_file(&temporary);
    let written = (|| {
        let mut out = File::options().write(true).create_new(true).private().open(&temporary)?;
        out.write_all(bytes)?;
        permissions::set_mode_of(&out, mode)?;
        out.sync_all()?;
        fs::rename(&temporary, file)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Returns a temporary name for a file that is not complete yet. It is in the same folder, so that it can be renamed.
pub fn temporary_path(file: &Path) -> io::Result<PathBuf> {
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
pub fn persist_temporary(unfinished: &Path, file: &Path, overwrite: bool) -> io::Result<()> {
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
    let lock = File::options().create(true).append(true).private().open(file)?;
    Ok(lock.try_lock().is_ok().then_some(lock))
}

/// Syncs the file's folder, so that the names in it are on disk.
pub fn sync_folder(file: &Path) -> io::Result<()> {
    file.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

#[cfg(test)]
mod tests {
    use std::io::{Seek as _, SeekFrom};

    use super::*;

    #[test]
    fn the_file_is_replaced_and_nothing_else_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x");
        for (text, mode) in [("old", 0o600), ("new", 0o640)] {
            replace_atomically(&file, text.as_bytes(), mode).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
            assert_eq!(permissions::mode(&fs::metadata(&file).unwrap()), mode);
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(replace_atomically(&dir.path().join("none/x"), b"", 0o600).is_err());
    }

    #[test]
    fn a_positioned_read_leaves_the_position_alone() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("x"), "0123456789").unwrap();
        let mut file = File::open(dir.path().join("x")).unwrap();
        file.seek(SeekFrom::Start(2)).unwrap();
        let mut bytes = [0; 3];
        read_exact_at(&file, &mut bytes, 5).unwrap();
        assert_eq!(&bytes, b"567");
        assert_eq!(file.stream_position().unwrap(), 2);
        assert_eq!(read_exact_at(&file, &mut bytes, 8).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_lock_has_one_holder() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("lock");
        let held = try_lock(&file).unwrap();
        assert!(try_lock(&file).unwrap().is_none());
        // Closing the file would do, unless another test starts a process at this moment, which inherits it.
        held.unwrap().unlock().unwrap();
        assert!(try_lock(&file).unwrap().is_some());
        assert!(try_lock(&dir.path().join("none/lock")).is_err());
    }

    #[test]
    fn a_file_that_is_there_stays_unless_it_is_to_go() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x");
        for (text, overwrite, expected) in [("one", false, "one"), ("two", false, "one"), ("three", true, "three")] {
            let new = temporary_path(&file).unwrap();
            fs::write(&new, text).unwrap();
            assert_eq!(persist_temporary(&new, &file, overwrite).is_ok(), text == expected);
            assert_eq!(fs::read_to_string(&file).unwrap(), expected);
        }
    }
}
