//! Work that does not fit into a hook's time: a long transcript, many unread ones, a checkpoint. It runs in `throughline
//! background`, a detached process of the same program in its own session (`setsid`). No other process waits for it. A
//! file lock allows only one such process at a time, for a quarter of an hour at most.
//!
//! Nothing is queued, so nothing can be lost: work that was skipped because another process was running, or that was
//! not finished, is found by its cursors at the next start, since transcripts stay where they are.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use anyhow::Result;

use super::memories::open_memories;
use super::reading::{self, ReadRequest};
use super::{journal_writer, spawn, synthesized_transcript};
use crate::history;
use crate::memory::{compression, kept, supersession};
use crate::model;
use crate::projection;
use crate::reindex;
use crate::runtime::Runtime;
use crate::team;
use crate::weekly_copy;
use throughline_model::project::Project;
use throughline_platform::files;
use throughline_platform::log::Level;
use throughline_platform::process;
use throughline_sandbox::chain::Compiling;
use throughline_store::{self as store, Access, Store, StoreError};

/// The longest a detached process works.
const MAX_RUN_TIME: Duration = Duration::from_mins(15);

/// How long a detached process waits for another process to finish writing to the database.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// How long counters of abandoned sessions are kept.
const ABANDONED_AFTER: Duration = Duration::from_hours(30 * 24);

/// The tasks of a detached process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Task {
    /// Read one transcript to its end.
    ContinueReading {
        /// The transcript.
        path: PathBuf,
        /// The agent's working folder.
        cwd: PathBuf,
        /// The session.
        session: String,
    },
    /// Read the transcript of a sub-agent.
    ReadSubAgent {
        /// The transcript.
        path: PathBuf,
        /// The agent's working folder.
        cwd: PathBuf,
        /// The session that it belongs to.
        session: String,
        /// The sub-agent.
        id: String,
    },
    /// Read all unread transcripts of a folder.
    CatchUp {
        /// The folder.
        folder: PathBuf,
        /// The session that is running.
        except: String,
    },
    /// Compile the policies of the project of a folder.
    Compile {
        /// The agent's working folder.
        cwd: PathBuf,
    },
    /// Move the journal of a session into the database.
    StoreJournal {
        /// The session.
        session: String,
    },
    /// Checkpoint the WAL, promote used observations, delete expired ones and what was forgotten a day ago, and
    /// make the weekly copy.
    CleanUp,
    /// Fold old memories of the project of a folder into digests.
    Compress {
        /// The agent's working folder.
        cwd: PathBuf,
    },
    /// Compare new memories with older ones, and read the new commits of the project of a folder.
    Compare {
        /// The agent's working folder.
        cwd: PathBuf,
    },
    /// Let granted policies go over what is new in the project of a folder, with a language model.
    Consolidate {
        /// The agent's working folder.
        cwd: PathBuf,
        /// The session that is running.
        except: String,
    },
    /// Sync with the team.
    SyncTeam,
    /// Checkpoint the WAL.
    CheckpointWal,
    /// Rebuild the index where needed, and compute missing vectors.
    Reindex,
    /// Upgrade the database to the current schema.
    Upgrade,
}

/// Takes a lock file in the data folder; see [`files::try_lock`].
fn lock(runtime: &Runtime, name: &str) -> io::Result<Option<File>> {
    files::try_lock(&runtime.paths.data.join(name))
}

/// Prepares the runtime for the detached process, in which nobody waits.
#[must_use]
pub fn prepare(runtime: Runtime) -> Runtime {
    runtime.for_background(Compiling::All(Instant::now() + MAX_RUN_TIME))
}

/// Runs the task in the detached process. [`prepare`] comes first.
pub fn run(runtime: &Runtime, task: &Task) -> Result<()> {
    // Leave the agent's terminal and process group, so that this process survives them.
    let _ = process::start_session();
    match task {
        Task::Compile { cwd } => return compile_policies(runtime, cwd),
        Task::Upgrade => return upgrade_database(runtime),
        _ => {}
    }
    let mut store = runtime.store(Access::Write, BUSY_TIMEOUT)?;
    match task {
        Task::StoreJournal { session } => journal_writer::store_journal(runtime, &mut store, session),
        Task::ReadSubAgent { path, cwd, session, id } => {
            let request = ReadRequest::sub_agent(path.clone(), runtime.transcript_roots(), session, cwd, id);
            reading::read(runtime, &mut store, &request, Instant::now() + MAX_RUN_TIME).map(drop)
        }
        Task::Compress { cwd } => compress_memories(runtime, &mut store, cwd),
        Task::Compare { cwd } => compare_memories(runtime, &mut store, cwd),
        Task::Consolidate { cwd, except } => consolidate(runtime, &mut store, cwd, except),
        // It has its own lock too: a server may be slow.
        Task::SyncTeam => team::sync::run(runtime, &mut store).map(drop),
        Task::Reindex => rebuild_index(runtime, &mut store),
        _ => run_alone(runtime, &mut store, task),
    }
}

/// Runs a task that no other process may run at the same time.
fn run_alone(runtime: &Runtime, store: &mut Store, task: &Task) -> Result<()> {
    let Some(_lock) = lock(runtime, "background.lock")? else { return Ok(()) };
    store.set_synchronous_normal()?;
    let until = Instant::now() + MAX_RUN_TIME;
    match task {
        Task::CleanUp => clean_up(runtime, store)?,
        Task::ContinueReading { path, cwd, session } => {
            let request = ReadRequest::read_on(path.clone(), runtime.transcript_roots(), session, cwd);
            journal_writer::store_journal(runtime, store, session)?;
            store.set_synchronous_normal()?;
            reading::read(runtime, store, &request, until)?;
            supersession::link_all(store, runtime.now)?;
            projection::write(runtime, store, session)?;
            spawn::consolidate(runtime, cwd, "");
        }
        Task::CatchUp { folder, except } => {
            for path in reading::unread(runtime, store, folder, except)? {
                let request = ReadRequest::catch_up(path.clone(), runtime.transcript_roots());
                match reading::read(runtime, store, &request, until) {
                    Err(error) if error.is::<StoreError>() => return Err(error),
                    Err(error) => runtime.log.record(Level::Warn, "a transcript was not read", format!("{error:#}")),
                    Ok(report) => reading::read_sub_agents(runtime, store, &path, &report, until)?,
                }
            }
            supersession::link_all(store, runtime.now)?;
        }
        // The checkpoint below is all of `CheckpointWal`; the others have their own locks or need none.
        Task::CheckpointWal
        | Task::Compile { .. }
        | Task::StoreJournal { .. }
        | Task::ReadSubAgent { .. }
        | Task::Compress { .. }
        | Task::Compare { .. }
        | Task::Consolidate { .. }
        | Task::Reindex
        | Task::SyncTeam
        | Task::Upgrade => {}
    }
    Ok(store.checkpoint()?)
}

fn clean_up(runtime: &Runtime, store: &mut Store) -> Result<()> {
    kept::delete_expired(runtime)?;
    let settings = &runtime.config.observations;
    store.promote_events(&settings.tiers, settings.days, runtime.now, true)?;
    weekly_copy::make_if_due(runtime, store)?;
    if let Some(before) = SystemTime::now().checked_sub(ABANDONED_AFTER) {
        runtime.journal().delete_stale_markers(before)?;
        synthesized_transcript::delete_stale(&runtime.paths.synthesized_transcripts(), before);
    }
    Ok(())
}

/// Rebuilds the index. It has its own lock: embedding servers may be slow, and reading transcripts must not wait for them.
fn rebuild_index(runtime: &Runtime, store: &mut Store) -> Result<()> {
    let report = reindex::run(runtime, store, false, Some(Instant::now() + MAX_RUN_TIME), &mut |_| {})?;
    if let Some(made) = report.and_then(|report| report.remade) {
        runtime.log.record(Level::Info, "the index was rebuilt", format!("{made} memories"));
    }
    Ok(())
}

fn compile_policies(runtime: &Runtime, cwd: &Path) -> Result<()> {
    throughline_platform::paths::create_private(&runtime.paths.data)?;
    let Some(_lock) = lock(runtime, "compile.lock")? else { return Ok(()) };
    runtime.default_policy()?;
    let root = Project::discover(cwd).root;
    runtime.policies(Some(&root))?.compile(Instant::now() + MAX_RUN_TIME);
    Ok(())
}

/// Upgrades the database, once: every hook that finds it old starts a process.
fn upgrade_database(runtime: &Runtime) -> Result<()> {
    let Some(_lock) = lock(runtime, "upgrade.lock")? else { return Ok(()) };
    let store = runtime.store(Access::Existing, BUSY_TIMEOUT)?;
    runtime.log.record(Level::Info, "the database was upgraded", format!("schema {}", store::SCHEMA_VERSION));
    Ok(store.checkpoint()?)
}

/// Compares new memories with older ones, and reads new commits. It has its own lock, for the same reason as compressing.
fn compare_memories(runtime: &Runtime, store: &mut Store, cwd: &Path) -> Result<()> {
    let Some(_lock) = lock(runtime, "compare.lock")? else { return Ok(()) };
    store.set_synchronous_normal()?;
    supersession::link_all(store, runtime.now)?;
    history::follow(runtime, store, &Project::discover(cwd))
}

/// Lets granted policies go over what is new. It has its own lock, because a model is slow. A process that began while
/// a session ran leaves that session out, so the process of the session's end waits for it.
fn consolidate(runtime: &Runtime, store: &mut Store, cwd: &Path, except: &str) -> Result<()> {
    let lock = if except.is_empty() {
        let file = |name| runtime.paths.data.join(name);
        files::lock_or_leave_to_next(&file("model.lock"), &file("model.next.lock"))?
    } else {
        lock(runtime, "model.lock")?
    };
    let Some(_lock) = lock else { return Ok(()) };
    store.set_synchronous_normal()?;
    let report =
        model::run_due(runtime, store, &Project::discover(cwd), except, open_memories, Instant::now() + MAX_RUN_TIME)?;
    if report.stored > 0 {
        let detail = format!("{} memories of {} sessions", report.stored, report.sessions);
        runtime.log.record(Level::Info, "what a model made of memories was stored", detail);
        supersession::link_all(store, runtime.now)?;
        store.checkpoint()?;
    }
    Ok(())
}

/// Folds old memories into digests. It has its own lock: the next session's unread transcripts must not wait for it.
fn compress_memories(runtime: &Runtime, store: &mut Store, cwd: &Path) -> Result<()> {
    let Some(_lock) = lock(runtime, "compress.lock")? else { return Ok(()) };
    let folded = compression::compress_in_background(runtime, store, &Project::discover(cwd))?;
    if folded > 0 {
        runtime.log.record(Level::Info, "old memories were folded into digests", format!("{folded} memories"));
        store.checkpoint()?;
    }
    Ok(())
}
