//! `throughline doctor`: checks every link of the chain.

use std::io::Write;

use anstyle::AnsiColor;
use serde::Serialize;

use super::failure::{Done, Failure};
use super::output::{self, DIM};
use crate::doctor::{self, Finding, Status};

/// Check every link of the chain, by using it, and say how to mend what is broken
///
/// Opens and writes the database, loads the policy and runs it over a sample session, looks up where the hooks are
/// registered and what they call, and how far the transcripts have been read. The exit code is 1 where anything fails;
/// warnings do not count.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Print an object: status, and checks with check, status, message and hint
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Report {
    status: Status,
    checks: Vec<Finding>,
}

pub(super) fn run(arguments: &Arguments) -> Result<Done, Failure> {
    let paths = super::paths()?;
    // Where the present folder is gone, there is just no project to look at.
    let folder = std::env::current_dir().unwrap_or_default();
    // Where it cannot be, the checks say why.
    let _ = super::bring_up_to_date(&paths.database());
    let checks = doctor::examine(&paths, &folder);
    let status = doctor::verdict(&checks);
    if arguments.json {
        output::json(&Report { status, checks })?;
    } else {
        tell(&checks)?;
    }
    Ok(if status == Status::Fail { Done::Badly } else { Done::Well })
}

fn tell(checks: &[Finding]) -> Result<(), Failure> {
    let mut out = output::stdout();
    for finding in checks {
        let (word, colour) = match finding.status {
            Status::Ok => ("ok  ", AnsiColor::Green),
            Status::Warn => ("warn", AnsiColor::Yellow),
            Status::Fail => ("fail", AnsiColor::Red),
        };
        let style = colour.on_default().bold();
        writeln!(
            out,
            "{style}{word}{style:#}  {}  {}",
            output::pad(finding.check, 13),
            output::clean_line(&finding.message)
        )?;
        if let Some(hint) = &finding.hint {
            writeln!(out, "                     {DIM}hint:{DIM:#} {}", output::clean_line(hint))?;
        }
    }
    Ok(out.flush()?)
}
