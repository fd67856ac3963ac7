//! `throughline verify`: checks the database, and repairs it.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;

use super::environment;
use super::error::CommandError;
use super::output::{self, GREEN};
use throughline_engine::backup;
use throughline_engine::ingest;
use throughline_engine::runtime::Runtime;
use throughline_engine::verify::{self, Findings, RepairResult, SalvageResult};
use throughline_store::{Access, SalvagedTable, StoreCheck, StoreError, StoreFault};

/// Check the database for errors, and repair them
///
/// Checks the pages and indexes of the database, rows whose parent is missing, the search indexes of memories and
/// observations, counters, and how far transcripts were read. Sessions can go on meanwhile. Each error is one line:
/// where, how many, what, and what `--repair` does about it. The exit code is 1 if there are errors or, with
/// `--repair`, if some are left.
///
/// If pages are damaged, `--repair` salvages every row that can be read into a new database, takes what is missing from
/// the automatic copy, reads the transcripts that still exist, says what was lost, and keeps the damaged database.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Repair what can be repaired, after copying the database to a file beside it
    #[arg(long)]
    repair: bool,
    /// Print an object: sound, faults (check, place, count, what, repair), gone, outside, and with `--repair` kept (the
    /// copy), left (the faults that are left) and salvaged (if pages were damaged)
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
    /// Transcripts that were read and exist outside the agents' folders, so that they were not checked.
    outside: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<&'a [StoreFault]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    salvaged: Option<&'a Salvaged>,
}

/// What `--repair` did with a database whose pages are damaged.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Salvaged {
    /// What could be read of each table, and what was taken from the automatic copy.
    tables: Vec<SalvagedTable>,
    /// When that copy was made; RFC 3339, UTC. Null if there is none.
    copy_from: Option<String>,
    /// How many transcripts were read again.
    transcripts: u64,
    /// Memories that came from them.
    new_memories: u64,
    /// The damaged database.
    kept: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let runtime = if arguments.repair { environment::runtime()? } else { environment::runtime_for_reading()? };
    let mut store = match runtime.store(Access::Existing, backup::BUSY_TIMEOUT) {
        Err(StoreError::Damaged(..)) if arguments.repair => return salvage(&runtime, arguments),
        opened => opened.map_err(open_error)?,
    };
    let findings = match verify::verify(&runtime, &store) {
        Err(error) if is_damaged(&error) && arguments.repair => {
            drop(store);
            return salvage(&runtime, arguments);
        }
        verified => verified?,
    };
    if arguments.repair && findings.faults.iter().any(|fault| fault.check == StoreCheck::Integrity) {
        drop(store);
        return salvage(&runtime, arguments);
    }
    let is_repairable = findings.faults.iter().any(|fault| fault.repair.is_some());
    let repaired =
        if arguments.repair && is_repairable { Some(verify::repair(&runtime, &mut store, &findings)?) } else { None };
    let left = repaired.as_ref().map_or(&findings, |repaired| &repaired.left);
    if arguments.json {
        output::json(&Verified {
            sound: left.faults.is_empty(),
            faults: &findings.faults,
            gone: findings.gone,
            outside: findings.outside,
            kept: repaired.as_ref().map(|repaired| repaired.kept.clone()),
            left: repaired.as_ref().map(|repaired| repaired.left.faults.as_slice()),
            salvaged: None,
        })?;
    } else {
        print(&findings, repaired.as_ref(), arguments.repair)?;
    }
    result(left, repaired.is_some())
}

/// Returns the exit code, or the error about what is left.
fn result(left: &Findings, is_repaired: bool) -> Result<ExitCode, CommandError> {
    if left.faults.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let failure =
        CommandError::new(if is_repaired { "some errors could not be repaired" } else { "the database has errors" });
    let is_damaged = left.faults.iter().any(|fault| fault.check == StoreCheck::Integrity);
    Err(if is_damaged && !is_repaired {
        failure.hint(SALVAGE_HINT).hint(BACKUP_HINT)
    } else if left.faults.iter().any(|fault| fault.repair.is_none()) {
        failure.hint(
            "restore a backup with `throughline restore`; without one, move the database away and run `throughline ingest`",
        )
    } else {
        failure.hint("`throughline verify --repair` repairs them, and keeps a copy of the database")
    })
}

/// What to do about damaged pages.
const SALVAGE_HINT: &str = "`throughline verify --repair` salvages what can be read, fills gaps from the automatic copy and the \
                            transcripts, and keeps the damaged database";

/// What else helps, for those who made a backup.
const BACKUP_HINT: &str = "`throughline restore` puts back a backup, and keeps the damaged database too";

fn is_damaged(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| matches!(cause.downcast_ref::<StoreError>(), Some(StoreError::Damaged(..))))
}

fn open_error(error: StoreError) -> CommandError {
    match error {
        StoreError::Damaged(path, why) => {
            CommandError::new(format!("{} is damaged: {why}", path.display())).hint(SALVAGE_HINT).hint(BACKUP_HINT)
        }
        other => other.into(),
    }
}

/// Salvages a database whose pages are damaged, reads the transcripts that still exist, and says what was lost.
fn salvage(runtime: &Runtime, arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let SalvageResult { tables, copy_from, kept } = verify::salvage(runtime)?;
    let mut store = runtime.store(Access::Existing, backup::BUSY_TIMEOUT)?;
    let own = runtime.paths.transcripts();
    let folders: Vec<PathBuf> = own.iter().filter(|folder| folder.is_dir()).cloned().collect();
    let (sources, failed) = ingest::sources_of(&folders, &own);
    let totals = ingest::run(runtime, &mut store, &sources, |_| {})?.with(failed).totals;
    let left = verify::verify(runtime, &store)?;
    runtime.finish();
    let salvaged = Salvaged {
        tables,
        copy_from: copy_from.map(output::timestamp),
        transcripts: totals.files,
        new_memories: totals.memories,
        kept,
    };
    if arguments.json {
        output::json(&Verified {
            sound: left.faults.is_empty(),
            faults: &[],
            gone: left.gone,
            outside: left.outside,
            kept: Some(salvaged.kept.clone()),
            left: Some(&left.faults),
            salvaged: Some(&salvaged),
        })?;
    } else {
        print_salvaged(&salvaged)?;
    }
    if is_empty(&salvaged) {
        return Err(CommandError::new("nothing could be saved: the new database is empty").hint(BACKUP_HINT));
    }
    if !arguments.json {
        print(&left, None, true)?;
    }
    result(&left, true)
}

/// Whether nothing came out of the damaged database, the copy or the transcripts.
fn is_empty(salvaged: &Salvaged) -> bool {
    salvaged.new_memories == 0 && salvaged.tables.iter().all(|table| table.read + table.from_copy == 0)
}

fn print_salvaged(salvaged: &Salvaged) -> Result<(), CommandError> {
    let mut out = output::stdout();
    writeln!(out, "the database is damaged; this is what could be salvaged:")?;
    for table in salvaged.tables.iter().filter(|table| table.damaged || table.read > 0) {
        let rows = output::counted(table.read, "row", "rows");
        let loss = match (table.damaged, table.from_copy) {
            (false, _) => String::new(),
            (true, 0) => ", and others could not be read".to_owned(),
            (true, from_copy) => format!(", others could not be read, {} from the copy", output::count(from_copy)),
        };
        writeln!(out, "  {}: {rows}{loss}", table.table.replace('_', " "))?;
    }
    match &salvaged.copy_from {
        Some(moment) => writeln!(out, "gaps were filled from the automatic copy of {moment}")?,
        None => writeln!(out, "there is no automatic copy that could fill the gaps")?,
    }
    writeln!(
        out,
        "read {} again: {}",
        output::counted(salvaged.transcripts, "transcript", "transcripts"),
        output::counted(salvaged.new_memories, "new memory", "new memories"),
    )?;
    if salvaged.tables.iter().any(|table| table.damaged) {
        writeln!(out, "lost: the rows that could not be read and that neither the copy nor a transcript has")?;
    }
    writeln!(out, "the damaged database is in {}; delete that file when you no longer need it", salvaged.kept.display())?;
    Ok(out.flush()?)
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
    if findings.outside > 0 {
        let outside = output::counted(findings.outside, "transcript is", "transcripts are");
        writeln!(out, "{outside} outside the agents' folders and not checked; `throughline ingest FILE` reads such a file")?;
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
        (None, false) if fault.check == StoreCheck::Integrity => "--repair salvages what can be read".to_owned(),
        (None, _) => "cannot be repaired".to_owned(),
    };
    let line = format!("{}: {} {} ({repair})", fault.place, output::count(fault.count), fault.what);
    Ok(writeln!(out, "{}", output::clean_line(&line))?)
}
