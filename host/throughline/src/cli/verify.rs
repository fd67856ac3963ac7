//! `throughline verify`.

use std::io::Write;
use std::path::PathBuf;

use serde::Serialize;

use super::failure::{Done, Failure};
use super::output::{self, GREEN};
use throughline_engine::backup;
use throughline_engine::verify::{self, Findings, Repaired};
use throughline_store::{Access, Fault, StoreError};

/// Check that everything that is kept fits together
///
/// It looks at the database's pages and indexes, at rows whose parent is missing, at what memories and observations are found
/// by, at counters, and at how far transcripts were read; sessions may go on meanwhile. Each finding is a line: how many, what,
/// where, and what `--repair` does about it. The exit code is 1 where something is wrong, with `--repair` where something is
/// still wrong.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Mend what can be mended, after copying the database to a file beside it
    #[arg(long)]
    repair: bool,
    /// Print an object: sound, faults (check, place, count, what, mend), gone, and with `--repair` kept and left (what is
    /// still wrong)
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Report<'a> {
    sound: bool,
    faults: &'a [Fault],
    /// Transcripts that were read and are gone.
    gone: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<&'a [Fault]>,
}

pub(super) fn run(arguments: &Arguments) -> Result<Done, Failure> {
    let runtime = super::runtime()?;
    let mut store = runtime.store(Access::Existing, backup::PATIENCE).map_err(unopened)?;
    let findings = verify::verify(&runtime, &store)?;
    let is_mendable = findings.faults.iter().any(|fault| fault.mend.is_some());
    let repaired =
        if arguments.repair && is_mendable { Some(verify::repair(&runtime, &mut store, &findings)?) } else { None };
    let left = repaired.as_ref().map_or(&findings, |repaired| &repaired.left);
    if arguments.json {
        output::json(&Report {
            sound: left.faults.is_empty(),
            faults: &findings.faults,
            gone: findings.gone,
            kept: repaired.as_ref().map(|repaired| repaired.kept.clone()),
            left: repaired.as_ref().map(|repaired| repaired.left.faults.as_slice()),
        })?;
    } else {
        tell(&findings, repaired.as_ref(), arguments.repair)?;
    }
    if left.faults.is_empty() {
        return Ok(Done::Well);
    }
    let failure = Failure::new(if repaired.is_some() { "not everything could be mended" } else { "something is wrong" });
    Err(if left.faults.iter().any(|fault| fault.mend.is_none()) {
        failure.hint(
            "restore a backup with `throughline restore`; without one, move the database away and `throughline ingest`",
        )
    } else {
        failure.hint("`throughline verify --repair` mends it, and keeps a copy of what there is")
    })
}

fn unopened(error: StoreError) -> Failure {
    match error {
        StoreError::Damaged(path, why) => Failure::new(format!("{} is damaged: {why}", path.display()))
            .hint("restore a backup with `throughline restore`; what is there now is kept")
            .hint("without one, move it away; `throughline ingest` fills a new one from the transcripts"),
        other => other.into(),
    }
}

fn tell(findings: &Findings, repaired: Option<&Repaired>, asked: bool) -> Result<(), Failure> {
    let mut out = output::stdout();
    for fault in &findings.faults {
        tell_fault(&mut out, fault, asked)?;
    }
    if findings.gone > 0 {
        let gone = output::counted(findings.gone, "transcript that was read is", "transcripts that were read are");
        writeln!(out, "{gone} gone, as agents delete them: nothing is wrong with that")?;
    }
    if let Some(repaired) = repaired {
        for fault in &repaired.left.faults {
            write!(out, "still: ")?;
            tell_fault(&mut out, fault, true)?;
        }
        writeln!(out, "what was there before is in {}: delete that file when you need it no more", repaired.kept.display())?;
    }
    if repaired.map_or(&findings.faults, |repaired| &repaired.left.faults).is_empty() {
        writeln!(out, "{GREEN}sound{GREEN:#}")?;
    }
    Ok(out.flush()?)
}

fn tell_fault(out: &mut impl Write, fault: &Fault, asked: bool) -> Result<(), Failure> {
    let mend = match (fault.mend, asked) {
        (Some(mend), true) => mend.to_owned(),
        (Some(mend), false) => format!("--repair {mend}"),
        (None, _) => "cannot be mended".to_owned(),
    };
    let line = format!("{}: {} {} ({mend})", fault.place, output::count(fault.count), fault.what);
    Ok(writeln!(out, "{}", output::clean_line(&line))?)
}
