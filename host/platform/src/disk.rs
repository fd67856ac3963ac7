//! The space of a file system.

use std::io;
use std::path::Path;

use rustix::fs::statvfs;

/// Returns how many bytes this user can still write to the file system of `path`.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let stat = statvfs(path)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_existing_path_has_a_file_system() {
        let dir = tempfile::tempdir().unwrap();
        assert!(free_bytes(dir.path()).is_ok());
        assert_eq!(free_bytes(&dir.path().join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
