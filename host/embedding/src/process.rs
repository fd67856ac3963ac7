//! Finds `throughline-embedder` and runs it with limits on time and output size.

use std::ffi::OsStr;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use throughline_embedder_wire::{Fault, Kind};

/// The name of the embedder program.
pub const PROGRAM: &str = "throughline-embedder";

/// Finds the embedder next to our own program, or else in an absolute folder of `PATH`.
pub fn find(own: Option<&Path>, path: Option<&OsStr>) -> Option<PathBuf> {
    let beside = own.and_then(Path::parent).map(Path::to_path_buf);
    let others = path.map(|path| std::env::split_paths(path).collect::<Vec<_>>()).unwrap_or_default();
    beside
        .into_iter()
        .chain(others)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(PROGRAM))
        .find(|file| std::fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0))
}

/// Runs the process with `request` as its input and returns its output. Fails if the output exceeds `most` bytes or the
/// process exceeds `time`.
pub(super) fn run(mut command: Command, request: Vec<u8>, most: u64, time: Duration) -> Result<Vec<u8>, Fault> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        // The process gets its own group, so that everything it starts can be killed with it.
        .process_group(0)
        .spawn()
        .map_err(|error| Fault::lasting(Kind::Unsupported, format!("{PROGRAM} cannot be started: {error}")))?;
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        end(&mut child);
        return Err(Fault::lasting(Kind::Unsupported, format!("cannot communicate with {PROGRAM}")));
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
        end(&mut child);
        return Err(Fault::passing(Kind::Unsupported, format!("cannot communicate with {PROGRAM}: {error}")));
    }
    let read = receiver.recv_timeout(time);
    end(&mut child);
    match read {
        Ok(Ok(bytes)) if bytes.len() as u64 > most => {
            Err(Fault::lasting(Kind::Answer, format!("{PROGRAM} answered with more than {most} bytes")))
        }
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) => Err(Fault::passing(Kind::Answer, format!("the answer of {PROGRAM} cannot be read: {error}"))),
        Err(RecvTimeoutError::Timeout) => Err(Fault::passing(
            Kind::Timeout,
            format!("{PROGRAM} did not finish within {} ms and was killed", time.as_millis()),
        )),
        Err(RecvTimeoutError::Disconnected) => {
            Err(Fault::passing(Kind::Answer, format!("the answer of {PROGRAM} cannot be read")))
        }
    }
}

/// Kills the process and its group, if they are still running.
fn end(child: &mut Child) {
    // The process has not been waited for, so its id cannot have been reused.
    let _ = rustix::process::kill_process_group(rustix::process::Pid::from_child(child), rustix::process::Signal::KILL);
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
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
        assert_eq!(find(Some(&own.join("throughline")), Some(&path)), Some(own.join(PROGRAM)));
        assert_eq!(find(Some(&dull.join("throughline")), Some(&path)), Some(other.join(PROGRAM)));
        assert_eq!(find(None, None), None);
    }
}
