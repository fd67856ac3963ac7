//! Runs the tools of a build without a terminal, shows their output only on failure, and says how to get a missing
//! tool.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// How many lines of a failed tool's output are shown.
const MAX_LINES: usize = 40;

/// A tool that a build needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tool {
    /// The program.
    pub program: &'static str,
    /// What the build needs it for.
    pub purpose: &'static str,
    /// How to get it.
    pub remedy: &'static str,
}

impl Tool {
    /// Returns a new command that runs this tool.
    pub(super) fn command(&self) -> Command {
        Command::new(self.program)
    }

    /// Runs the command and returns its standard output.
    pub(super) fn run(&self, command: &mut Command) -> Result<String> {
        run(command).map_err(|error| {
            let missing = error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::NotFound);
            if missing {
                anyhow::anyhow!("{} is not installed: it is needed {}. {}", self.program, self.purpose, self.remedy)
            } else {
                error
            }
        })
    }
}

/// Runs a command to completion and returns its standard output. On failure, the error holds the end of its output.
pub(super) fn run(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .env("CARGO_TERM_COLOR", "never")
        .env("NO_COLOR", "1")
        .output()
        .with_context(|| format!("{} cannot be started", words(command)))?;
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let all = format!("{out}\n{}", String::from_utf8_lossy(&output.stderr));
        bail!("{} failed ({}):\n{}", words(command), output.status, last_lines(&all));
    }
    Ok(out)
}

fn words(command: &Command) -> String {
    let words: Vec<_> =
        std::iter::once(command.get_program()).chain(command.get_args()).map(OsStr::to_string_lossy).collect();
    words.join(" ")
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(MAX_LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_tool_is_named_with_its_remedy() {
        let tool = Tool { program: "no-such-tool", purpose: "for a test", remedy: "Make one." };
        let error = tool.run(&mut tool.command()).unwrap_err();
        assert_eq!(error.to_string(), "no-such-tool is not installed: it is needed for a test. Make one.");
    }

    #[test]
    fn a_failure_shows_the_end_of_what_was_said() {
        let error = run(Command::new("sh").args(["-c", "seq 100; echo bad >&2; exit 3"])).unwrap_err().to_string();
        assert!(error.contains("exit status: 3") && error.ends_with("99\n100\nbad") && !error.contains("\n60\n"), "{error}");
        assert_eq!(run(Command::new("sh").args(["-c", "echo good"])).unwrap(), "good\n");
    }
}
