//! How a command ends: what went wrong in words, what to do about it, and the exit code.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use throughline_engine::memory::Refused;
use throughline_sandbox::instance::Unfit;
use throughline_store::StoreError;

/// The end of a command that has said all there was to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Done {
    /// Exit code 0.
    Well,
    /// Exit code 1; why was told on the way.
    Badly,
}

/// The end of a command that could not do what was asked.
#[derive(Debug)]
pub(super) enum Failure {
    /// The reader of our output has seen enough (`… | head`): nothing is wrong with that.
    Closed,
    /// Something failed.
    Told {
        /// One line or more; begins in lower case, no full stop.
        message: String,
        /// What a person can do about it.
        hints: Vec<String>,
    },
}

impl Failure {
    pub(super) fn new(message: impl Display) -> Self {
        Self::Told { message: message.to_string(), hints: Vec::new() }
    }

    /// With something that a person can do about it.
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        if let Self::Told { hints, .. } = &mut self {
            hints.push(hint.into());
        }
        self
    }

    /// Tells it on stderr.
    pub(super) fn tell(&self) -> ExitCode {
        let Self::Told { message, hints } = self else {
            return ExitCode::SUCCESS;
        };
        let mut stderr = anstream::stderr().lock();
        let red = anstyle::AnsiColor::Red.on_default().bold();
        let cyan = anstyle::AnsiColor::Cyan.on_default();
        // Where stderr is closed the exit code has to do.
        let _ = writeln!(stderr, "{red}error:{red:#} {}", super::output::clean(message));
        for hint in hints {
            let _ = writeln!(stderr, "{cyan}hint:{cyan:#} {}", super::output::clean(hint));
        }
        ExitCode::FAILURE
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let failure = Self::new(&error);
        match error.hint() {
            Some(hint) => failure.hint(hint),
            None => failure.hint("`throughline doctor` looks for the cause"),
        }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        if let Some(unfit) = error.chain().find_map(|cause| cause.downcast_ref::<Unfit>()) {
            return Self::new(format!("{error:#}")).hint(unfit.hint.clone());
        }
        if let Some(refused) = error.chain().find_map(|cause| cause.downcast_ref::<Refused>()) {
            return Self::new(format!("{error:#}")).hint(refused.hint.clone());
        }
        let hint = error
            .chain()
            .find_map(|cause| cause.downcast_ref::<StoreError>())
            .and_then(StoreError::hint)
            .unwrap_or_else(|| "`throughline doctor` looks for the cause".into());
        Self::new(format!("{error:#}")).hint(hint)
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        Self::new(&refused).hint(refused.hint)
    }
}

/// Of writing to standard output; other errors are put into words where they happen.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::Closed;
        }
        Self::new(format!("standard output cannot be written: {error}")).hint("check where it leads to")
    }
}
