//! Whether everything that is kept fits together, the database and the transcripts that it was made from; and its repair.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::backup;
use crate::runtime::Runtime;
use throughline_agents::transcript::{self, Refusal};
use throughline_model::cursor::Cursor;
use throughline_platform::files;
use throughline_store::{Check, Fault, Store};

/// What was found.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// What is wrong.
    pub faults: Vec<Fault>,
    /// Transcripts that were read and are gone, as agents delete them after a month; nothing is wrong with that.
    pub gone: u64,
    /// Transcripts that are to be read anew.
    unread: Vec<String>,
}

/// Looks at everything.
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
                    mend: Some("lets it be read anew"),
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

/// How a cursor fits its transcript.
fn place(cursor: &Cursor, roots: &[PathBuf]) -> Place {
    let transcript = match transcript::open(Path::new(&cursor.path), roots) {
        Ok(transcript) => transcript,
        // Where it may not be read any more it is as good as gone.
        Err(Refusal::Missing | Refusal::Foreign(_)) => return Place::Gone,
        Err(Refusal::NotAFile(_)) => return Place::Wrong("transcript that is no file any more"),
        Err(Refusal::Unreadable(..)) => return Place::Wrong("transcript that cannot be read"),
    };
    if cursor.offset > transcript.size {
        return Place::Wrong("transcript that was read farther than it is long: it shrank");
    }
    match transcript.resume(cursor) {
        Ok(0) if cursor.offset > 0 => Place::Wrong("transcript that is another one than was read: it was replaced"),
        Ok(_) => Place::Sound,
        Err(_) => Place::Wrong("transcript that cannot be read"),
    }
}

/// What a repair did.
#[derive(Debug, Clone)]
pub struct Repaired {
    /// The database as it was before.
    pub kept: PathBuf,
    /// What is still wrong.
    pub left: Findings,
}

/// Mends what can be mended, after copying the database to a file beside it. Killed on the way, it leaves the database with some
/// things mended and others not, and can be done again.
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
    // Where a parent is there again, what hung on it is looked at anew: so it is done in rounds, as few as there are layers.
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
