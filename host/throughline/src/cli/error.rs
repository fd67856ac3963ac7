//! How a command fails: the message, hints about what to do, and the exit code.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use throughline_engine::hint;
use throughline_engine::memory::RequestError;
use throughline_engine::runtime::RuntimeError;
use throughline_notes::NotesError;
use throughline_privacy::intervals::IntervalsError;
use throughline_store::StoreError;

/// The hint of an error that brings none of its own.
const DOCTOR_HINT: &str = "run `throughline doctor` to look for the cause";

/// Why a command did not do what was asked.
#[derive(Debug)]
pub(super) enum CommandError {
    /// The reader of our output went away (`… | head`), which is not an error: the exit code is 0.
    BrokenPipe,
    /// The command failed.
    Failed {
        /// One or more lines that begin in lower case and have no full stop.
        message: String,
        /// What a person can do about the error.
        hints: Vec<String>,
        /// Whether the command line is wrong: then the exit code is 2, otherwise 1.
        is_usage: bool,
    },
}

impl CommandError {
    /// Returns an error without a hint.
    pub(super) fn new(message: impl Display) -> Self {
        Self::Failed { message: message.to_string(), hints: Vec::new(), is_usage: false }
    }

    /// Returns an error of a command line that cannot be parsed for this.
    pub(super) fn usage(message: impl Display) -> Self {
        Self::Failed { message: message.to_string(), hints: Vec::new(), is_usage: true }
    }

    /// Returns the message without hints.
    pub(super) fn message(&self) -> &str {
        match self {
            Self::BrokenPipe => "",
            Self::Failed { message, .. } => message,
        }
    }

    /// Adds a hint about what to do.
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        if let Self::Failed { hints, .. } = &mut self {
            hints.push(hint.into());
        }
        self
    }

    /// Prints the error and its hints on stderr and returns the exit code.
    pub(super) fn report(&self) -> ExitCode {
        let Self::Failed { message, hints, is_usage } = self else {
            return ExitCode::SUCCESS;
        };
        let mut stderr = anstream::stderr().lock();
        let red = anstyle::AnsiColor::Red.on_default().bold();
        let cyan = anstyle::AnsiColor::Cyan.on_default();
        // If stderr is closed, the exit code alone has to do.
        let _ = writeln!(stderr, "{red}error:{red:#} {}", super::output::clean(message));
        for hint in hints {
            let _ = writeln!(stderr, "{cyan}hint:{cyan:#} {}", super::output::clean(hint));
        }
        if *is_usage { ExitCode::from(2) } else { ExitCode::FAILURE }
    }
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        let failed = Self::new(&error);
        match error.hint() {
            Some(hint) => failed.hint(hint),
            None => failed.hint(DOCTOR_HINT),
        }
    }
}

impl From<anyhow::Error> for CommandError {
    fn from(error: anyhow::Error) -> Self {
        let hint = hint::of(&error).unwrap_or_else(|| DOCTOR_HINT.into());
        Self::new(format!("{error:#}")).hint(hint)
    }
}

impl From<RuntimeError> for CommandError {
    fn from(error: RuntimeError) -> Self {
        Self::new(&error).hint(error.hint())
    }
}

impl From<IntervalsError> for CommandError {
    fn from(error: IntervalsError) -> Self {
        Self::new(&error).hint(error.hint())
    }
}

impl From<NotesError> for CommandError {
    fn from(error: NotesError) -> Self {
        Self::new(&error).hint(error.hint())
    }
}

impl From<RequestError> for CommandError {
    fn from(refused: RequestError) -> Self {
        Self::new(&refused).hint(refused.hint)
    }
}

/// For errors of writing to standard output. Other I/O errors get their message where they happen.
impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::BrokenPipe;
        }
        Self::new(format!("cannot write to standard output: {error}")).hint("check where the output is redirected to")
    }
}
