//! The identity of a file, and its times.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Metadata with a modification time: the standard library's, and that of cap-std.
pub trait Modified {
    /// Returns when the file was last modified: seconds since the Unix epoch, and nanoseconds of the last second.
    fn modified_parts(&self) -> (i64, i64);
}

impl Modified for Metadata {
    fn modified_parts(&self) -> (i64, i64) {
        (self.mtime(), self.mtime_nsec())
    }
}

impl Modified for cap_std::fs::Metadata {
    fn modified_parts(&self) -> (i64, i64) {
        (cap_std::fs::MetadataExt::mtime(self), cap_std::fs::MetadataExt::mtime_nsec(self))
    }
}

/// Returns when a file was last modified, in milliseconds since the Unix epoch; `None` before it.
pub fn modified_ms(meta: &Metadata) -> Option<u64> {
    let (seconds, nanos) = meta.modified_parts();
    u64::try_from(seconds * 1000 + nanos / 1_000_000).ok()
}

/// Returns when a file was last modified, in nanoseconds since the Unix epoch; 0 before it.
pub fn modified_ns(meta: &Metadata) -> u64 {
    let (seconds, nanos) = meta.modified_parts();
    u64::try_from(i128::from(seconds) * 1_000_000_000 + i128::from(nanos)).unwrap_or(0)
}

/// Returns when a file's content or metadata last changed: seconds since the Unix epoch, and nanoseconds of the last
/// second. No program can set this time. `None` where the system does not tell it.
pub fn changed_parts(meta: &Metadata) -> Option<(i64, i64)> {
    Some((meta.ctime(), meta.ctime_nsec()))
}

/// Returns what identifies an open file on this machine, whatever its name: the device and the inode.
pub fn file_id(file: &File) -> io::Result<(u64, u64)> {
    file.metadata().map(|meta| id(&meta))
}

/// Returns what identifies the file or folder at `path`, as [`file_id`] does. Links are followed.
pub fn path_id(path: &Path) -> io::Result<(u64, u64)> {
    fs::metadata(path).map(|meta| id(&meta))
}

/// Returns what [`path_id`] returns for a file that is no link, from the metadata that listing its folder gave.
pub fn listed_id(_path: &Path, meta: &Metadata) -> io::Result<(u64, u64)> {
    Ok(id(meta))
}

fn id(meta: &Metadata) -> (u64, u64) {
    (meta.dev(), meta.ino())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use cap_std::ambient_authority;
    use cap_std::fs::Dir;

    use super::*;

    #[test]
    fn times_are_counted_from_the_epoch() {
        let dir = tempfile::tempdir().unwrap();
        let file = File::create(dir.path().join("x")).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::new(1_700_000_000, 123_456_789)).unwrap();
        let meta = file.metadata().unwrap();
        assert_eq!(meta.modified_parts(), (1_700_000_000, 123_456_789));
        assert_eq!(modified_ms(&meta), Some(1_700_000_000_123));
        assert_eq!(modified_ns(&meta), 1_700_000_000_123_456_789);
        let folder = Dir::open_ambient_dir(dir.path(), ambient_authority()).unwrap();
        assert_eq!(folder.metadata("x").unwrap().modified_parts(), meta.modified_parts());
        assert!(changed_parts(&meta) > Some(meta.modified_parts()));

        file.set_modified(UNIX_EPOCH - Duration::from_secs(10)).unwrap();
        let meta = file.metadata().unwrap();
        assert_eq!((modified_ms(&meta), modified_ns(&meta)), (None, 0));
    }

    #[test]
    fn a_file_keeps_its_identity_when_it_is_renamed() {
        let dir = tempfile::tempdir().unwrap();
        let [one, other, renamed] = ["one", "other", "renamed"].map(|name| dir.path().join(name));
        fs::write(&one, "").unwrap();
        fs::write(&other, "").unwrap();
        let id = |path: &Path| path_id(path).unwrap();
        let before = id(&one);
        assert_ne!(before, id(&other));
        let open = File::open(&one).unwrap();
        fs::rename(&one, &renamed).unwrap();
        assert_eq!([before; 2], [id(&renamed), file_id(&open).unwrap()]);
    }
}
