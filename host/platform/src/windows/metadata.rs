//! The identity of a file, and its times, on Windows.

use std::fs::{File, Metadata};
use std::io;
use std::os::windows::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// `FILE_FLAG_BACKUP_SEMANTICS`, without which a folder cannot be opened.
const BACKUP_SEMANTICS: u32 = 0x0200_0000;

/// Metadata with a modification time: the standard library's, and that of cap-std.
pub trait Modified {
    /// Returns when the file was last modified: seconds since the Unix epoch, and nanoseconds of the last second.
    fn modified_parts(&self) -> (i64, i64);
}

impl Modified for Metadata {
    fn modified_parts(&self) -> (i64, i64) {
        self.modified().map_or((0, 0), parts)
    }
}

impl Modified for cap_std::fs::Metadata {
    fn modified_parts(&self) -> (i64, i64) {
        self.modified().map_or((0, 0), |time| parts(time.into_std()))
    }
}

fn parts(time: SystemTime) -> (i64, i64) {
    let nanos = match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i128::try_from(since.as_nanos()).unwrap_or(i128::MAX),
        Err(before) => -i128::try_from(before.duration().as_nanos()).unwrap_or(i128::MAX),
    };
    let second = 1_000_000_000;
    let whole = |number: i128| i64::try_from(number).unwrap_or(0);
    (whole(nanos.div_euclid(second)), whole(nanos.rem_euclid(second)))
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

/// Returns `None`: the standard library does not give the time of the last change on Windows.
pub fn changed_parts(_: &Metadata) -> Option<(i64, i64)> {
    None
}

/// Returns what identifies an open file on this machine, whatever its name: the serial number of the volume, and the file's
/// index there.
pub fn file_id(file: &File) -> io::Result<(u64, u64)> {
    let information = winapi_util::file::information(file)?;
    Ok((information.volume_serial_number(), information.file_index()))
}

/// Returns what identifies the file or folder at `path`, as [`file_id`] does. Links are followed.
pub fn path_id(path: &Path) -> io::Result<(u64, u64)> {
    // No access rights are needed to ask for it.
    file_id(&File::options().access_mode(0).custom_flags(BACKUP_SEMANTICS).open(path)?)
}

/// Returns what [`path_id`] returns for a file that is no link. The metadata that listing its folder gave does not contain it.
pub fn listed_id(path: &Path, _meta: &Metadata) -> io::Result<(u64, u64)> {
    path_id(path)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use cap_std::ambient_authority;
    use cap_std::fs::Dir;

    use super::*;

    #[test]
    fn times_are_counted_from_the_epoch() {
        let dir = tempfile::tempdir().unwrap();
        let file = File::create(dir.path().join("x")).unwrap();
        // Windows counts in steps of 100 ns.
        file.set_modified(UNIX_EPOCH + Duration::new(1_700_000_000, 123_456_700)).unwrap();
        let meta = file.metadata().unwrap();
        assert_eq!(meta.modified_parts(), (1_700_000_000, 123_456_700));
        assert_eq!(modified_ms(&meta), Some(1_700_000_000_123));
        assert_eq!(modified_ns(&meta), 1_700_000_000_123_456_700);
        let folder = Dir::open_ambient_dir(dir.path(), ambient_authority()).unwrap();
        assert_eq!(folder.metadata("x").unwrap().modified_parts(), meta.modified_parts());
        assert_eq!(changed_parts(&meta), None);

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
        fs::rename(&one, &renamed).unwrap();
        assert_eq!([before; 2], [id(&renamed), file_id(&File::open(&renamed).unwrap()).unwrap()]);
        assert_ne!(id(dir.path()), before);
    }
}
