//! Runs a program that speaks over its standard input and output, such as `throughline-embedder`, with limits on time and output size.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use throughline_embedder_wire::{Fault, FaultKind};
use throughline_platform::process::{in_own_group, kill_group};

/// The name of the embedder program.
pub const PROGRAM: &str = "throughline-embedder";

/// Runs the process with `request` as its input and returns its output. Fails if the output exceeds `most` bytes or the
/// process exceeds `time`.
///
/// # Errors
///
/// A fault that names `program`.
pub fn run(program: &str, mut command: Command, request: Vec<u8>, most: u64, time: Duration) -> Result<Vec<u8>, Fault> {
    // Everything that the process starts is killed with it.
    let mut child = in_own_group(&mut command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| Fault::permanent(FaultKind::Unsupported, format!("{program} cannot be started: {error}")))?;
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        kill_group(&mut child);
        return Err(Fault::permanent(FaultKind::Unsupported, format!("cannot communicate with {program}")));
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
        return Err(Fault::temporary(FaultKind::Unsupported, format!("cannot communicate with {program}: {error}")));
    }
    let read = receiver.recv_timeout(time);
    kill_group(&mut child);
    match read {
        Ok(Ok(bytes)) if bytes.len() as u64 > most => {
            Err(Fault::permanent(FaultKind::Answer, format!("{program} answered with more than {most} bytes")))
        }
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) => {
            Err(Fault::temporary(FaultKind::Answer, format!("the answer of {program} cannot be read: {error}")))
        }
        Err(RecvTimeoutError::Timeout) => Err(Fault::temporary(
            FaultKind::Timeout,
            format!("{program} did not finish within {} ms and was killed", time.as_millis()),
        )),
        Err(RecvTimeoutError::Disconnected) => {
            Err(Fault::temporary(FaultKind::Answer, format!("the answer of {program} cannot be read")))
        }
    }
}
