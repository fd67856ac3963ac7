//! `throughline doctor`: checks the installation.

use std::io::Write;
use std::process::ExitCode;

use anstyle::AnsiColor;
use serde::Serialize;

use super::environment;
use super::error::CommandError;
use super::output::{self, DIM};
use crate::doctor::{self, Finding, Status};

/// Check that everything works, and say how to repair what does not
///
/// Opens the database and writes to it, runs the policy on a sample session, and checks where the hooks are registered,
/// what they call, and how far the transcripts have been read. The exit code is 1 if a check fails; warnings do not
/// count.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Print an object: status, and checks with check, status, message and hint
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Diagnosis {
    status: Status,
    checks: Vec<Finding>,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let paths = environment::paths()?;
    // If the current folder was deleted, there is no project to check.
    let folder = std::env::current_dir().unwrap_or_default();
    // If this fails, the checks say why.
    let _ = environment::upgrade_database(&paths.database());
    let checks = doctor::run_checks(&paths, &folder);
    let status = doctor::worst_status(&checks);
    if arguments.json {
        output::json(&Diagnosis { status, checks })?;
    } else {
        print(&checks)?;
    }
    Ok(if status == Status::Fail { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The columns before a message: the word, the name of the check, and the gaps behind them.
const BEFORE_MESSAGE: usize = 4 + 2 + 13 + 2;

fn print(checks: &[Finding]) -> Result<(), CommandError> {
    let mut out = output::stdout();
    for finding in checks {
        let (word, colour) = match finding.status {
            Status::Ok => ("ok  ", AnsiColor::Green),
            Status::Warn => ("warn", AnsiColor::Yellow),
            Status::Fail => ("fail", AnsiColor::Red),
        };
        let style = colour.on_default().bold();
        let head = format!("{style}{word}{style:#}  {}  ", output::pad(finding.check, 13));
        output::write_hanging(&mut out, &head, BEFORE_MESSAGE, &finding.message)?;
        if let Some(hint) = &finding.hint {
            let head = format!("{}{DIM}hint:{DIM:#} ", " ".repeat(BEFORE_MESSAGE));
            output::write_hanging(&mut out, &head, BEFORE_MESSAGE + "hint: ".len(), hint)?;
        }
    }
    Ok(out.flush()?)
}
