//! `throughline verify`: checks the database, and repairs it.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;

use super::environment;
use super::error::CommandError;
use super::output::{self, GREEN};
use throughline_engine::backup;
use throughline_engine::verify::{self, Findings, RepairResult};
use throughline_store::{Access, StoreError, StoreFault};

/// Check the database for errors, and repair them
///
/// Checks the pages and indexes of the database, rows whose parent is missing, the search indexes of memories and
/// observations, counters, and how far transcripts were read. Sessions can go on meanwhile. Each error is one line:
/// where, how many, what, and what `--repair` does about it. The exit code is 1 if there are errors or, with
/// `--repair`, if some are left.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Repair what can be repaired, after copying the database to a file beside it
    #[arg(long)]
    repair: bool,
    /// Print an object: sound, faults (check, place, count, what, repair), gone, and with `--repair` kept (the copy) and
    /// left (the faults that are left)
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Verified<'a> {
    sound: bool,
    faults: &'a [StoreFault],
    /// Transcripts that were read and have been deleted since.
    gone: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<&'a [StoreFault]>,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let runtime = environment::runtime()?;
    let mut store = runtime.store(Access::Existing, backup::BUSY_TIMEOUT).map_err(open_error)?;
    let findings = verify::verify(&runtime, &store)?;
    let is_repairable = findings.faults.iter().any(|fault| fault.repair.is_some());
    let repaired =
        if arguments.repair && is_repairable { Some(verify::repair(&runtime, &mut store, &findings)?) } else { None };
    let left = repaired.as_ref().map_or(&findings, |repaired| &repaired.left);
    if arguments.json {
        output::json(&Verified {
            sound: left.faults.is_empty(),
            faults: &findings.faults,
            gone: findings.gone,
            kept: repaired.as_ref().map(|repaired| repaired.kept.clone()),
            left: repaired.as_ref().map(|repaired| repaired.left.faults.as_slice()),
        })?;
    } else {
        print(&findings, repaired.as_ref(), arguments.repair)?;
    }
    if left.faults.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let failure =
        CommandError::new(if repaired.is_some() { "some errors could not be repaired" } else { "the database has errors" });
    Err(if left.faults.iter().any(|fault| fault.repair.is_none()) {
        failure.hint(
            "restore a backup with `throughline restore`; without one, move the database away and run `throughline ingest`",
        )
    } else {
        failure.hint("`throughline verify --repair` repairs them, and keeps a copy of the database")
    })
}

fn open_error(error: StoreError) -> CommandError {
    match error {
        StoreError::Damaged(path, why) => CommandError::new(format!("{} is damaged: {why}", path.display()))
            .hint("restore a backup with `throughline restore`; it keeps the damaged database")
            .hint("without a backup, move the database away; `throughline ingest` fills a new one from the transcripts"),
        other => other.into(),
    }
}

fn print(findings: &Findings, repaired: Option<&RepairResult>, is_repair: bool) -> Result<(), CommandError> {
    let mut out = output::stdout();
    for fault in &findings.faults {
        print_fault(&mut out, fault, is_repair)?;
    }
    if findings.gone > 0 {
        let gone = output::counted(findings.gone, "transcript was", "transcripts were");
        writeln!(out, "{gone} read and deleted since; this is normal, because agents delete old transcripts")?;
    }
    if let Some(repaired) = repaired {
        for fault in &repaired.left.faults {
            write!(out, "left: ")?;
            print_fault(&mut out, fault, true)?;
        }
        writeln!(out, "the old database is in {}; delete that file when you no longer need it", repaired.kept.display())?;
    }
    if repaired.map_or(&findings.faults, |repaired| &repaired.left.faults).is_empty() {
        writeln!(out, "{GREEN}no errors{GREEN:#}")?;
    }
    Ok(out.flush()?)
}

fn print_fault(out: &mut impl Write, fault: &StoreFault, is_repair: bool) -> Result<(), CommandError> {
    let repair = match (fault.repair, is_repair) {
        (Some(repair), true) => repair.to_owned(),
        (Some(repair), false) => format!("--repair {repair}"),
        (None, _) => "cannot be repaired".to_owned(),
    };
    let line = format!("{}: {} {} ({repair})", fault.place, output::count(fault.count), fault.what);
    Ok(writeln!(out, "{}", output::clean_line(&line))?)
}
