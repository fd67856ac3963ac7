//! Looks at paths and small files that somebody else may have prepared, such as those of a repository.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

/// Opens a regular file. Anything else is an error and is not opened: a FIFO would wait for its writer. Whoever exchanges
/// the file in the moment between can make this process wait, until its watchdog ends it.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let not_a_file = || io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file");
    // Opening a device can already have an effect.
    if !fs::metadata(path)?.is_file() {
        return Err(not_a_file());
    }
    let file = File::open(path)?;
    // It may have been replaced since.
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_a_file()) }
}

/// Reads the text of a regular file of at most `most` bytes. Anything else is an error.
pub fn read_regular(path: &Path, most: u64) -> io::Result<String> {
    let mut text = String::new();
    open_regular(path)?.take(most.saturating_add(1)).read_to_string(&mut text)?;
    if text.len() as u64 > most {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("it has more than {most} bytes")));
    }
    Ok(text)
}

/// Returns the path without links, `.` and `..`. The path need not exist: then the links of its nearest existing parent
/// are resolved, so that a deleted folder keeps the name that it had.
pub fn canonical(path: &Path) -> PathBuf {
    // A relative path that does not exist may be one of another operating system, and has no parent here.
    for parent in path.ancestors().filter(|parent| path.is_absolute() || *parent == path) {
        if let (Ok(real), Ok(rest)) = (fs::canonicalize(parent), path.strip_prefix(parent)) {
            let found = normalize(real, rest);
            // Without `..`, the path may lead through links that exist.
            let has_parents = rest.components().any(|part| part == Component::ParentDir);
            return if has_parents { canonical(&found) } else { found };
        }
    }
    normalize(PathBuf::new(), path)
}

/// Appends the path to `base` without `.` and `..`, and without looking at the file system.
fn normalize(mut base: PathBuf, path: &Path) -> PathBuf {
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                base.pop();
            }
            other => base.push(other),
        }
    }
    base
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use std::os::unix::fs::symlink;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_deleted_folder_below_a_link_keeps_its_real_name() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        fs::create_dir(dir.join("real")).unwrap();
        symlink(dir.join("real"), dir.join("link")).unwrap();
        assert_eq!(canonical(&dir.join("link/gone/deep")), dir.join("real/gone/deep"));
        assert_eq!(canonical(&dir.join("link/gone/../other/./x")), dir.join("real/other/x"));
        assert_eq!(canonical(&dir.join("gone/../link/x")), dir.join("real/x"));
        assert_eq!(canonical(&dir.join("link")), dir.join("real"));
        assert_eq!(canonical(Path::new("/no/such/./place/../folder")), Path::new("/no/such/folder"));
        assert_eq!(canonical(Path::new("C:\\x")), Path::new("C:\\x"));
    }

    #[test]
    fn only_small_regular_files_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "text").unwrap();
        assert_eq!(read_regular(&file, 4).unwrap(), "text");
        assert!(read_regular(&file, 3).is_err());
        assert!(read_regular(dir.path(), 4).is_err());
        if cfg!(unix) {
            assert!(read_regular(Path::new("/dev/zero"), 4).is_err());
        }
    }
}
