//! Finds `throughline-embedder` and runs it with limits on time and output size.

use std::ffi::OsStr;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use throughline_embedder_wire::{Fault, FaultKind};
use throughline_platform::permissions;
use throughline_platform::process::{in_own_group, kill_group};

/// The name of the embedder program.
pub const PROGRAM: &str = "throughline-embedder";

/// Finds the embedder next to our own program, or else in an absolute folder of `PATH`.
pub fn find_program(own: Option<&Path>, path: Option<&OsStr>) -> Option<PathBuf> {
    let beside = own.and_then(Path::parent).map(Path::to_path_buf);
    let others = path.map(|path| std::env::split_paths(path).collect::<Vec<_>>()).unwrap_or_default();
    beside
        .into_iter()
        .chain(others)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(PROGRAM))
        .find(|file| std::fs::metadata(file).is_ok_and(|meta| meta.is_file() && permissions::is_executable(&meta)))
}

/// Runs the process with `request` as its input and returns its output. Fails if the output exceeds `most` bytes or the
/// process exceeds `time`.
pub(super) fn run(mut command: Command, request: Vec<u8>, most: u64, time: Duration) -> Result<Vec<u8>, Fault> {
    // Everything that the process starts is killed with it.
    let mut child = in_own_group(&mut command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| Fault::permanent(FaultKind::Unsupported, format!("{PROGRAM} cannot be started: {error}")))?;
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        kill_group(&mut child);
        return Err(Fault::permanent(FaultKind::Unsupported, format!("cannot communicate with {PROGRAM}")));
    };
    // Neither thread is joined. Both finish when the process does; if a descendant keeps the output open, its reader
    // thread is abandoned.
    let (sender, receiver) = mpsc::sync_channel(1);
    let writing = thread::Builder::new().spawn(move || drop(input.write_all(&request)));
    let reading = thread::Builder::new().spawn(move || {
        let mut bytes = Vec::new();
        let read = output.take(most + 1).read_to_end(&mut bytes).map(|_| bytes);
        drop(sender.send(read));
    });
    if let Err(error) = writing.and(reading) {
        kill_group(&mut child);
        return Err(Fault::temporary(FaultKind::Unsupported, format!("cannot communicate with {PROGRAM}: {error}")));
    }
    let read = receiver.recv_timeout(time);
    kill_group(&mut child);
    match read {
        Ok(Ok(bytes)) if bytes.len() as u64 > most => {
            Err(Fault::permanent(FaultKind::Answer, format!("{PROGRAM} answered with more than {most} bytes")))
        }
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) => {
            Err(Fault::temporary(FaultKind::Answer, format!("the answer of {PROGRAM} cannot be read: {error}")))
        }
        Err(RecvTimeoutError::Timeout) => Err(Fault::temporary(
            FaultKind::Timeout,
            format!("{PROGRAM} did not finish within {} ms and was killed", time.as_millis()),
        )),
        Err(RecvTimeoutError::Disconnected) => {
            Err(Fault::temporary(FaultKind::Answer, format!("the answer of {PROGRAM} cannot be read")))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn it_is_looked_for_beside_us_and_then_in_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, mode: u32| {
            let place = folder.path().join(name);
            std::fs::create_dir_all(&place).unwrap();
            let file = place.join(PROGRAM);
            std::fs::write(&file, "").unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            place
        };
        let (own, other, dull) = (make("own", 0o755), make("other", 0o755), make("dull", 0o644));
        let path = std::env::join_paths([Path::new("."), &dull, &other]).unwrap();
        assert_eq!(find_program(Some(&own.join("throughline")), Some(&path)), Some(own.join(PROGRAM)));
        assert_eq!(find_program(Some(&dull.join("throughline")), Some(&path)), Some(other.join(PROGRAM)));
        assert_eq!(find_program(None, None), None);
    }
}
