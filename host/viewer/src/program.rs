//! Runs the commands of `throughline` and returns the JSON that they print.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::error::ApiError;
use throughline_platform::process::{in_own_group, kill_group};

/// How long a command may take.
const TIMEOUT: Duration = Duration::from_mins(1);

/// How long a command may take that compiles policies and runs them on a session.
pub(crate) const TRIAL_TIMEOUT: Duration = Duration::from_mins(5);

/// How much a command may print, bytes.
const MAX_OUTPUT: u64 = 256 << 20;

/// How much of its errors is read, bytes.
const MAX_ERRORS: u64 = 64 << 10;

/// The program `throughline`.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) path: PathBuf,
}

impl Program {
    /// Runs a command with `--json` and returns what it prints.
    pub(crate) fn json(&self, words: &[String], input: &str, folder: Option<&Path>) -> Result<Value, ApiError> {
        self.json_within(TIMEOUT, words, input, folder)
    }

    /// Does the same, with another limit.
    pub(crate) fn json_within(
        &self,
        timeout: Duration,
        words: &[String],
        input: &str,
        folder: Option<&Path>,
    ) -> Result<Value, ApiError> {
        let mut command = Command::new(&self.path);
        command.args(words).env("NO_COLOR", "1");
        if let Some(folder) = folder.filter(|folder| folder.is_dir()) {
            command.current_dir(folder);
        }
        let (output, errors) = run(&mut command, input, timeout)
            .map_err(|error| ApiError::failed(format!("{} cannot be run: {error}", self.path.display())))?;
        // `doctor` prints its findings and exits with 1 if a check fails.
        serde_json::from_slice(&output).map_err(|_| error_of(&errors))
    }
}

/// Makes an error of what a command printed on standard error.
fn error_of(errors: &str) -> ApiError {
    let lines = || errors.lines().map(str::trim);
    let find = |prefix: &str| lines().find_map(|line| line.strip_prefix(prefix)).map(|rest| rest.trim().to_owned());
    let message = find("error:").or_else(|| lines().find(|line| !line.is_empty()).map(str::to_owned));
    let mut error = ApiError::refused(message.unwrap_or_else(|| "the command printed nothing".into()));
    error.hint = find("hint:");
    error
}

fn run(command: &mut Command, input: &str, timeout: Duration) -> io::Result<(Vec<u8>, String)> {
    let mut child = in_own_group(command).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (Some(mut stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        kill_group(&mut child);
        return Err(io::Error::other("it has no input and output"));
    };
    let input = input.as_bytes().to_vec();
    let (sender, receiver) = mpsc::sync_channel(1);
    // A process that does not read its input is not disturbed. No thread outlives the process's pipes.
    thread::spawn(move || drop(stdin.write_all(&input)));
    thread::spawn(move || {
        let errors = thread::spawn(move || {
            let mut text = Vec::new();
            let _ = stderr.take(MAX_ERRORS).read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        let mut output = Vec::new();
        let read = stdout.take(MAX_OUTPUT).read_to_end(&mut output);
        let _ = sender.send(read.map(|_| (output, errors.join().unwrap_or_default())));
    });
    let read = receiver.recv_timeout(timeout);
    if read.is_ok() {
        // It has closed its output, so it is about to end by itself.
        let _ = child.wait();
    } else {
        kill_group(&mut child);
    }
    read.unwrap_or_else(|_| Err(io::Error::other(format!("it did not end within {} s", timeout.as_secs()))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commands_error_keeps_its_hint() {
        let error = error_of("warning: x\nerror: there is no memory abcd\nhint: list them\n");
        assert_eq!((error.message.as_str(), error.hint.as_deref()), ("there is no memory abcd", Some("list them")));
        assert_eq!(error_of("oh\n").message, "oh");
        assert_eq!(error_of("").message, "the command printed nothing");
    }

    #[test]
    fn output_that_is_no_json_is_an_error() {
        let program = Program { path: "/bin/echo".into() };
        assert!(program.json(&["hello".into()], "", None).is_err());
        assert_eq!(program.json(&["[1]".into()], "", None).unwrap(), serde_json::json!([1]));
        assert!(Program { path: "/nonexistent/throughline".into() }.json(&[], "", None).is_err());
    }
}
