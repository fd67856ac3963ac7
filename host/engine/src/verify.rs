//! Verifies that the database, and the transcripts it was built from, are consistent; and repairs what can be repaired.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::backup;
use crate::runtime::Runtime;
use throughline_agents::transcript::{self, TranscriptError};
use throughline_model::cursor::Cursor;
use throughline_platform::files;
use throughline_store::{Store, StoreCheck, StoreFault};

/// The result of a verification.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// The faults found.
    pub faults: Vec<StoreFault>,
    /// Transcripts that were read and no longer exist. This is normal: agents delete them after a month.
    pub gone: u64,
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
    Wrong(&'static str),
}

/// Checks a cursor against its transcript.
fn check_cursor(cursor: &Cursor, roots: &[PathBuf]) -> CursorState {
    let transcript = match transcript::open(Path::new(&cursor.path), roots) {
        Ok(transcript) => transcript,
        // A transcript that may no longer be read is as good as gone.
        Err(TranscriptError::Missing | TranscriptError::Foreign(_)) => return CursorState::NoFile,
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
