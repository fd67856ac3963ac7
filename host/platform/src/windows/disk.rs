//! The space of a file system, on Windows.

use std::io;
use std::path::Path;

/// Returns how many bytes this user can still write to the file system of `path`.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    fs4::available_space(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_a_file_system() {
        let dir = tempfile::tempdir().unwrap();
        assert!(free_bytes(dir.path()).is_ok_and(|bytes| bytes > 0));
    }
}
