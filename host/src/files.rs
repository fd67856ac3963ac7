//! Whole files: replaced so that a reader sees the old one or the new one, whatever happens on the way.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Writes the file beside its place and renames it there: a power cut leaves the old one or the new one. `mode` is the new
/// file's, whatever the umask says.
pub fn replace(file: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    };
    let temporary = folder.join(format!(
        ".{}.{}.tmp",
        name.to_string_lossy(),
        std::process::id()
    ));
    // Left by a process of the same number that was killed.
    let _ = fs::remove_file(&temporary);
    let written = (|| {
        let mut out = File::options()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&temporary)?;
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
}
