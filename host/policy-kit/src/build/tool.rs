//! Runs the tools of a build without a terminal, shows their output only on failure, and says how to get a missing
//! tool.

use std::ffi::OsStr;
use std::fmt;
use std::io::ErrorKind;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

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

/// What a tool of the build said when it failed.
#[derive(Debug)]
pub struct ToolFailed(String);

impl fmt::Display for ToolFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ToolFailed {}

/// Runs a command to completion and returns its standard output. On failure, the error begins with what the command says
/// about it.
pub(super) fn run(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .env("CARGO_TERM_COLOR", "never")
        .env("NO_COLOR", "1")
        .output()
        .with_context(|| format!("{} cannot be started", words(command)))?;
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let err = String::from_utf8_lossy(&output.stderr);
        // cargo prints messages for programs on standard output.
        let said = if err.trim().is_empty() { &out } else { err.as_ref() };
        return Err(ToolFailed(format!("{}\n{} failed ({})", own_error(said), words(command), output.status)).into());
    }
    Ok(out)
}

fn words(command: &Command) -> String {
    let words: Vec<_> =
        std::iter::once(command.get_program()).chain(command.get_args()).map(OsStr::to_string_lossy).collect();
    words.join(" ")
}

/// Returns a tool's error message without the tool's own backtrace: everything from the first line that begins with
/// `error`. If there is none, the end, after the line that names an exception: `SyntaxError: … (app.py, line 16)`.
fn own_error(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty() && !is_of_backtrace(line)).collect();
    if let Some(first) = lines.iter().position(|line| line.starts_with("error")) {
        return lines[first..].iter().take(MAX_LINES).copied().collect::<Vec<_>>().join("\n");
    }
    let exception = lines.iter().rev().map(|line| line.trim()).find(|line| names_exception(line));
    let rest = lines[lines.len().saturating_sub(MAX_LINES)..].iter().filter(|line| Some(line.trim()) != exception);
    exception.into_iter().chain(rest.copied()).collect::<Vec<_>>().join("\n")
}

/// Whether a line begins with the name of an exception of Python or JavaScript: `SyntaxError: …`.
fn names_exception(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(name, _)| {
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_'));
        is_name && (name.ends_with("Error") || name.ends_with("Exception"))
    })
}

/// Whether a line belongs to a backtrace of the tool itself, such as componentize-py: `  12: core::panicking::panic`,
/// `at /rustc/…/core.rs:7:5`, `at ./csu/libc-start.c:360:3`.
fn is_of_backtrace(line: &str) -> bool {
    let line = line.trim_start();
    let frame = line
        .split_once(": ")
        .is_some_and(|(number, _)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
    let place = line
        .strip_prefix("at ")
        .is_some_and(|path| path.starts_with(['/', '.']) && [".rs:", ".c:", ".h:"].iter().any(|end| path.contains(end)));
    let of_node = line.starts_with("Node.js v") || (line.starts_with("at ") && line.contains("(node:"));
    let heading = line.eq_ignore_ascii_case("stack backtrace:") || line.starts_with("note: run with `RUST_BACKTRACE");
    frame || place || of_node || heading
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
        let error = run(Command::new("sh").args(["-c", "seq -f 'line %g' 100; exit 3"])).unwrap_err().to_string();
        assert!(error.contains("\nline 99\nline 100\nsh -c ") && !error.contains("\nline 60\n"), "{error}");
        assert!(error.ends_with("failed (exit status: 3)"), "{error}");
    }

    #[test]
    fn somebody_makes_a_mistake_in_rust_and_sees_it_first() {
        let script = "echo '{\"reason\":\"compiler-artifact\"}'; printf 'warning: unused\\n' >&2; \
                      printf 'error[E0425]: cannot find value `x`\\n --> src/lib.rs:3:5\\n' >&2; exit 101";
        let error = run(Command::new("sh").args(["-c", script])).unwrap_err().to_string();
        assert!(error.starts_with("error[E0425]: cannot find value `x`\n --> src/lib.rs:3:5\n"), "{error}");
        assert!(!error.contains("compiler-artifact\"}\nsh") && !error.contains("\nwarning"), "{error}");
    }

    #[test]
    fn somebody_makes_a_mistake_in_python_and_sees_it() {
        let said = format!(
            "Traceback (most recent call last):\n  File \"script\", line 8, in <module>\nAssertionError:   File \"app.py\", line 16\n    \
             def build(\nSyntaxError: '(' was never closed\n\nCaused by:\n    SyntaxError: '(' was never closed (app.py, line 16)\n\n\
             Stack backtrace:\n{}      at ./csu/../csu/libc-start.c:360:3\n",
            "  12: core::ops::function::FnOnce::call_once\n      at /rustc/a/core.rs:7:5\n".repeat(30)
        );
        let shown = own_error(&said);
        assert!(shown.starts_with("SyntaxError: '(' was never closed (app.py, line 16)\n"), "{shown}");
        assert!(!shown.contains("call_once") && !shown.contains("libc-start"), "{shown}");
    }

    #[test]
    fn a_successful_run_returns_its_output() {
        assert_eq!(run(Command::new("sh").args(["-c", "echo good"])).unwrap(), "good\n");
    }
}
