//! Verifies that the database, and the transcripts it was built from, are consistent; and repairs what can be repaired.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::backup;
use crate::runtime::Runtime;
use throughline_agents::transcript::{self, Refusal};
use throughline_model::cursor::Cursor;
use throughline_platform::files;
use throughline_store::{Check, Fault, Store};

/// The result of a verification.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// The faults found.
    pub faults: Vec<Fault>,
    /// Transcripts that were read and no longer exist. This is normal: agents delete them after a month.
    pub gone: u64,
    /// Transcripts to read again from the start.
    unread: Vec<String>,
}

/// Runs all checks.
pub fn verify(runtime: &Runtime, store: &Store) -> Result<Findings> {
    let mut findings = Findings { faults: store.faults()?, ..Findings::default() };
    if findings.faults.iter().any(|fault| fault.check == Check::Integrity) {
        return Ok(findings);
    }
    let roots = runtime.transcript_roots();
    for cursor in store.cursors()? {
        match place(&cursor, &roots) {
            Place::Sound => {}
            Place::Gone => findings.gone += 1,
            Place::Wrong(what) => {
                findings.faults.push(Fault {
                    check: Check::Cursors,
                    place: cursor.path.clone(),
                    count: 1,
                    what: what.into(),
                    mend: Some("lets it be read again"),
                });
                findings.unread.push(cursor.path);
            }
        }
    }
    Ok(findings)
}

enum Place {
    Sound,
    Gone,
    Wrong(&'static str),
}

/// Checks a cursor against its transcript.
fn place(cursor: &Cursor, roots: &[PathBuf]) -> Place {
    let transcript = match transcript::open(Path::new(&cursor.path), roots) {
        Ok(transcript) => transcript,
        // A transcript that may no longer be read is as good as gone.
        Err(Refusal::Missing | Refusal::Foreign(_)) => return Place::Gone,
        Err(Refusal::NotAFile(_)) => return Place::Wrong("transcript that is not a file any more"),
        Err(Refusal::Unreadable(..)) => return Place::Wrong("transcript that cannot be read"),
    };
    if cursor.offset > transcript.size {
        return Place::Wrong("transcript that is shorter than what was read of it: it shrank");
    }
    match transcript.resume(cursor) {
        Ok(0) if cursor.offset > 0 => Place::Wrong("transcript that is not the one that was read: it was replaced"),
        Ok(_) => Place::Sound,
        Err(_) => Place::Wrong("transcript that cannot be read"),
    }
}

/// The result of a repair.
#[derive(Debug, Clone)]
pub struct Repaired {
    /// The copy of the database from before the repair.
    pub kept: PathBuf,
    /// What is still wrong.
    pub left: Findings,
}

/// Repairs what can be repaired, after copying the database to a file beside it. If the repair is killed, the database
/// is partly repaired and the repair can be run again.
pub fn repair(runtime: &Runtime, store: &mut Store, findings: &Findings) -> Result<Repaired> {
    let _turn = backup::turn(&runtime.paths)?;
    let kept = backup::name_of_kept(&runtime.paths, "repair", runtime.now);
    let unfinished = files::unfinished(&kept)?;
    store
        .copy_unexamined(&unfinished)
        .map_err(anyhow::Error::from)
        .and_then(|()| Ok(files::settle(&unfinished, &kept, false)?))
        .inspect_err(|_| drop(std::fs::remove_file(&unfinished)))
        .with_context(|| format!("the database cannot be copied to {}", kept.display()))?;
    // Once a missing parent row exists again, its children are checked again. This takes as many rounds as there are
    // layers, which is few.
    let mut left = findings.clone();
    for _ in 0..3 {
        let checks: BTreeSet<Check> =
            left.faults.iter().filter(|fault| fault.mend.is_some()).map(|fault| fault.check).collect();
        if checks.is_empty() {
            break;
        }
        store.mend(&checks, runtime.now)?;
        store.read_anew(&left.unread, runtime.now)?;
        left = verify(runtime, store)?;
    }
    if store.leaves_much() {
        store.checkpoint()?;
    }
    Ok(Repaired { kept, left })
}
