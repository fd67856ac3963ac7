//! Atomic replacement of whole files, positioned reads, and lock files.
//!
//! Windows locks no file that was opened only for appending. So whatever is locked is opened for reading too.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use tempfile::{NamedTempFile, TempPath};

use crate::open::FileOptions as _;
use crate::permissions;

/// Fills `bytes` from the file, beginning at `offset`. The file position is neither used nor changed, so handles that
/// share one do not disturb each other; on Windows, they do while this function runs.
pub fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset);
    #[cfg(windows)]
    {
        use std::io::{Read as _, Seek as _, SeekFrom};
        let mut file = file;
        let before = file.stream_position()?;
        let read = file.seek(SeekFrom::Start(offset)).and_then(|_| file.read_exact(bytes));
        file.seek(SeekFrom::Start(before))?;
        read
    }
}

/// Writes the file under a temporary name and renames it: after a power cut there is the old file or the new one.
/// `mode` is the new file's mode, regardless of the umask.
pub fn replace_atomically(file: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut temporary = temporary_beside(file)?;
    temporary.write_all(bytes)?;
    permissions::set_mode_of(temporary.as_file(), mode)?;
    temporary.as_file().sync_all()?;
    rename_over(temporary.into_temp_path(), file)
}

/// Creates a file for content that is not complete yet. It is in the folder of `file`, so that it can be renamed to it, only
/// the user can read it, and it is deleted when the returned value is dropped.
pub fn temporary_beside(file: &Path) -> io::Result<NamedTempFile> {
    let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    };
    tempfile::Builder::new().prefix(&format!(".{}.", name.to_string_lossy())).suffix(".tmp").tempfile_in(folder)
}

/// Renames a complete temporary file to its final name, and syncs the folder. Without `overwrite`, an existing file is
/// kept and an error is returned.
pub fn persist(complete: TempPath, file: &Path, overwrite: bool) -> io::Result<()> {
    if overwrite {
        rename_over(complete, file)?;
    } else {
        complete.persist_noclobber(file)?;
    }
    sync_folder(file)
}

/// Renames a temporary file to its final name, whatever was there.
fn rename_over(complete: TempPath, file: &Path) -> io::Result<()> {
    // The standard library's renaming also replaces a file that another process has open, and `tempfile`'s does not.
    #[cfg(windows)]
    {
        let kept = complete.keep()?;
        std::fs::rename(&kept, file).inspect_err(|_| drop(std::fs::remove_file(&kept)))
    }
    #[cfg(unix)]
    Ok(complete.persist(file)?)
}

/// Locks a file that many processes append to. They do not wait for each other, only for the one that holds [`File::lock`]. On
/// Windows, where nobody can write to what is locked in common, they do.
pub fn lock_for_appending(file: &File) -> io::Result<()> {
    if cfg!(windows) { file.lock() } else { file.lock_shared() }
}

/// Takes a lock file; the lock is held as long as the returned file lives. Returns `None` if another process holds it.
pub fn try_lock(file: &Path) -> io::Result<Option<File>> {
    let lock = open_lock(file)?;
    Ok(lock.try_lock().is_ok().then_some(lock))
}

/// Takes a lock file, and waits for the process that holds it.
pub fn lock(file: &Path) -> io::Result<File> {
    let lock = open_lock(file)?;
    lock.lock()?;
    Ok(lock)
}

/// Opens a lock file, which is created for this user alone. It is not locked yet.
pub fn open_lock(file: &Path) -> io::Result<File> {
    File::options().create(true).read(true).append(true).private().open(file)
}

/// Takes a lock file, and waits for the process that holds it; but returns `None` if another process waits already, because that
/// one will find whatever this one would have found. The waiting process holds `waiting`, a second lock file.
pub fn lock_or_leave_to_next(file: &Path, waiting: &Path) -> io::Result<Option<File>> {
    if let Some(lock) = try_lock(file)? {
        return Ok(Some(lock));
    }
    let Some(_next) = try_lock(waiting)? else { return Ok(None) };
    lock(file).map(Some)
}

/// Syncs the file's folder, so that the names in it are on disk. Windows cannot be asked to, and this does nothing there.
pub fn sync_folder(file: &Path) -> io::Result<()> {
    if cfg!(windows) {
        return Ok(());
    }
    file.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{Seek as _, SeekFrom};

    use super::*;

    #[test]
    fn the_file_is_replaced_and_nothing_else_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x");
        for (text, mode) in [("old", 0o600), ("new", 0o640)] {
            replace_atomically(&file, text.as_bytes(), mode).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
            let expected = if cfg!(windows) { 0o600 } else { mode };
            assert_eq!(permissions::mode(&fs::metadata(&file).unwrap()), expected);
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

    /// On Unix, closing the file would not do if another test starts a process at this moment, which inherits it. On Windows no
    /// process does, and Wine reports that unlocking failed although it did not.
    fn release(lock: File) {
        if cfg!(windows) { drop(lock) } else { lock.unlock().unwrap() }
    }

    #[test]
    fn a_lock_has_one_holder() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("lock");
        let held = try_lock(&file).unwrap();
        assert!(try_lock(&file).unwrap().is_none());
        release(held.unwrap());
        assert!(try_lock(&file).unwrap().is_some());
        assert!(try_lock(&dir.path().join("none/lock")).is_err());
    }

    #[test]
    fn one_waits_for_a_lock_and_no_more_than_one() {
        let dir = tempfile::tempdir().unwrap();
        let (file, waiting) = (dir.path().join("lock"), dir.path().join("waiting"));
        let held = try_lock(&file).unwrap().unwrap();
        let another = try_lock(&waiting).unwrap().unwrap();
        assert!(lock_or_leave_to_next(&file, &waiting).unwrap().is_none());
        release(another);
        let next = std::thread::spawn({
            let (file, waiting) = (file.clone(), waiting.clone());
            move || lock_or_leave_to_next(&file, &waiting).unwrap().is_some()
        });
        std::thread::sleep(std::time::Duration::from_millis(50));
        release(held);
        assert!(next.join().unwrap());
    }

    #[test]
    fn a_file_that_is_there_stays_unless_it_is_to_go() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x");
        for (text, overwrite, expected) in [("one", false, "one"), ("two", false, "one"), ("three", true, "three")] {
            let mut new = temporary_beside(&file).unwrap();
            new.write_all(text.as_bytes()).unwrap();
            assert_eq!(permissions::mode(&new.as_file().metadata().unwrap()), 0o600);
            assert_eq!(persist(new.into_temp_path(), &file, overwrite).is_ok(), text == expected);
            assert_eq!(fs::read_to_string(&file).unwrap(), expected);
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
