//! Verifies that the database, and the transcripts it was built from, are consistent; and repairs what can be repaired.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anyhow::{Context as _, Result};

use crate::backup;
use crate::runtime::Runtime;
use throughline_agents::transcript::{self, TranscriptError};
use throughline_model::cursor::Cursor;
use throughline_platform::files;
use throughline_platform::open::FileOptions as _;
use throughline_store::{self as store, Access, SalvagedTable, Store, StoreCheck, StoreError, StoreFault};

/// The result of a verification.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// The faults found.
    pub faults: Vec<StoreFault>,
    /// Transcripts that were read and no longer exist. This is normal: agents delete them after a month.
    pub gone: u64,
    /// Transcripts that exist outside the folders from which transcripts may be read, so that they were not checked.
    pub outside: u64,
    /// Transcripts to read again from the start.
    unread: Vec<String>,
}

/// Runs all checks.
pub fn verify(runtime: &Runtime, store: &Store) -> Result<Findings> {
    let mut findings = Findings { faults: store.faults()?, ..Findings::default() };
    if findings.faults.iter().any(|fault| fault.check == StoreCheck::Integrity) {
        return Ok(findings);
    }
    let roots = runtime.transcript_roots();
    for cursor in store.cursors()? {
        match check_cursor(&cursor, &roots) {
            CursorState::Valid => {}
            CursorState::NoFile => findings.gone += 1,
            CursorState::Outside => findings.outside += 1,
            CursorState::Wrong(what) => {
                findings.faults.push(StoreFault {
                    check: StoreCheck::Cursors,
                    place: cursor.path.clone(),
                    count: 1,
                    what: what.into(),
                    repair: Some("lets it be read again"),
                });
                findings.unread.push(cursor.path);
            }
        }
    }
    Ok(findings)
}

enum CursorState {
    Valid,
    NoFile,
    Outside,
    Wrong(&'static str),
}

/// Checks a cursor against its transcript.
fn check_cursor(cursor: &Cursor, roots: &[PathBuf]) -> CursorState {
    let transcript = match transcript::open(Path::new(&cursor.path), roots) {
        Ok(transcript) => transcript,
        Err(TranscriptError::Missing) => return CursorState::NoFile,
        // A person named it to `ingest`. Only whether it exists is looked at: it is not opened.
        Err(TranscriptError::Foreign(path)) => {
            return if path.symlink_metadata().is_ok() { CursorState::Outside } else { CursorState::NoFile };
        }
        Err(TranscriptError::NotAFile(_)) => return CursorState::Wrong("transcript that is not a file any more"),
        Err(TranscriptError::Unreadable(..)) => return CursorState::Wrong("transcript that cannot be read"),
    };
    if cursor.offset > transcript.size {
        return CursorState::Wrong("transcript that is shorter than what was read of it: it shrank");
    }
    match transcript.resume_offset(cursor) {
        Ok(0) if cursor.offset > 0 => CursorState::Wrong("transcript that is not the one that was read: it was replaced"),
        Ok(_) => CursorState::Valid,
        Err(_) => CursorState::Wrong("transcript that cannot be read"),
    }
}

/// The result of a repair.
#[derive(Debug, Clone)]
pub struct RepairResult {
    /// The copy of the database from before the repair.
    pub kept: PathBuf,
    /// What is still wrong.
    pub left: Findings,
}

/// Repairs what can be repaired, after copying the database to a file beside it. If the repair is killed, the database
/// is partly repaired and the repair can be run again.
pub fn repair(runtime: &Runtime, store: &mut Store, findings: &Findings) -> Result<RepairResult> {
    let _lock = backup::lock_exclusively(&runtime.paths)?;
    let kept = backup::previous_database_path(&runtime.paths, "repair", runtime.now);
    let unfinished = files::temporary_beside(&kept)?.into_temp_path();
    store
        .copy_unvalidated(&unfinished)
        .map_err(anyhow::Error::from)
        .and_then(|()| Ok(files::persist(unfinished, &kept, false)?))
        .with_context(|| format!("the database cannot be copied to {}", kept.display()))?;
    // Once a missing parent row exists again, its children are checked again. This takes as many rounds as there are
    // layers, which is few.
    let mut left = findings.clone();
    for _ in 0..3 {
        let checks: BTreeSet<StoreCheck> =
            left.faults.iter().filter(|fault| fault.repair.is_some()).map(|fault| fault.check).collect();
        if checks.is_empty() {
            break;
        }
        store.repair(&checks, runtime.now)?;
        store.reset_transcripts(&left.unread, runtime.now)?;
        left = verify(runtime, store)?;
    }
    if store.has_large_wal() {
        store.checkpoint()?;
    }
    Ok(RepairResult { kept, left })
}

/// What was salvaged of a damaged database.
#[derive(Debug)]
pub struct SalvageResult {
    /// What was read of each table, and what was taken from the copy.
    pub tables: Vec<SalvagedTable>,
    /// When the automatic copy was made that filled gaps, milliseconds since the Unix epoch; none if there is none.
    pub copy_from: Option<u64>,
    /// The file with the damaged database.
    pub kept: PathBuf,
}

/// Salvages what can be read of a database with damaged pages into a new one, takes what is missing from the automatic
/// copy, and puts the new one in place of the damaged one, which is kept. No transcript counts as read afterwards, so
/// that the caller can read again what the agents still have.
pub fn salvage(runtime: &Runtime) -> Result<SalvageResult> {
    let lock = backup::lock_exclusively(&runtime.paths)?;
    let database = runtime.paths.database();
    let kept = backup::previous_database_path(&runtime.paths, "repair", runtime.now);
    let staged = runtime.paths.data.join(".salvage.db");
    let remove_staged = || store::database_files(&staged).iter().for_each(|file| drop(std::fs::remove_file(file)));
    // What a killed salvage left behind.
    remove_staged();
    let copy = Some(runtime.paths.weekly_copy()).filter(|copy| copy.is_file());
    let made = copy.as_ref().and_then(|copy| std::fs::metadata(copy).and_then(|meta| meta.modified()).ok());
    let result = (|| {
        // Others must not be able to read it, at no moment.
        File::options().write(true).create_new(true).private().open(&staged)?;
        let tables = store::salvage_database(&database, copy.as_deref(), &staged)?;
        Store::open(&staged, Access::Existing, backup::BUSY_TIMEOUT)?.complete_salvaged(runtime.now)?;
        store::examine(&staged)?.context("the salvaged database lacks tables")?;
        replace(runtime, &staged, &kept)?;
        Ok::<_, anyhow::Error>(tables)
    })();
    remove_staged();
    drop(lock);
    let copy_from =
        made.and_then(|made| made.duration_since(UNIX_EPOCH).ok()).and_then(|it| u64::try_from(it.as_millis()).ok());
    Ok(SalvageResult { tables: result?, copy_from, kept })
}

/// Puts the salvaged database in place of the damaged one: through the database if SQLite can open it, because other
/// processes may have it open.
fn replace(runtime: &Runtime, staged: &Path, kept: &Path) -> Result<()> {
    let database = runtime.paths.database();
    let unfinished = files::temporary_beside(kept)?.into_temp_path();
    let copy = unfinished.to_path_buf();
    let through = runtime
        .store(Access::Existing, backup::BUSY_TIMEOUT)
        .and_then(|mut store| store.replace_with(staged, &copy, || files::persist(unfinished, kept, false)));
    match through {
        Err(StoreError::Damaged(..)) => backup::replace_unreadable(&database, staged, kept),
        other => Ok(other?),
    }
}
