//! Work that does not fit into a hook's time: a long transcript, many unread ones, a checkpoint. It runs in
//! `throughline background`, a detached process of the same program in a session of its own (`setsid`), that nobody
//! waits for. A file lock allows only one such process at a time, for a quarter of an hour at most.
//!
//! Nothing is queued, so nothing can be lost: work that was skipped because another process was running, or that was
//! not finished, is found by its cursors at the next start, since transcripts stay where they are.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use anyhow::Result;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::reading::{self, Job};
use super::{minutes, noting};
use crate::memory::compressing;
use crate::projection;
use crate::reindex;
use crate::runtime::Runtime;
use throughline_model::project::Project;
use throughline_platform::files;
use throughline_platform::log::Level;
use throughline_platform::paths::{NAMESPACE, Paths};
use throughline_sandbox::chain::Compiling;
use throughline_store::{self as store, Access, Store, StoreError};

/// The longest a detached process works.
const LONGEST: Duration = Duration::from_mins(15);

/// How long a detached process waits for another process to finish writing to the database.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long counters of abandoned sessions are kept.
const LEFT: Duration = Duration::from_hours(30 * 24);

/// Limits for compiling: Python's runtime takes 20 seconds and 1 GB. Address space also counts memory that is only
/// reserved.
const COMPILE_SECONDS: u64 = 300;
const COMPILE_BYTES: u64 = 16 << 30;

/// The tasks of a detached process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Task {
    /// Read one transcript to its end.
    ReadOn {
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
    Take {
        /// The session.
        session: String,
    },
    /// Checkpoint the WAL, promote used observations and delete expired ones.
    Tidy,
    /// Fold old memories of the project of a folder into digests.
    Compress {
        /// The agent's working folder.
        cwd: PathBuf,
    },
    /// Checkpoint the WAL.
    Checkpoint,
    /// Rebuild the index where needed, and compute missing vectors.
    Reindex,
    /// Upgrade the database to the current schema.
    Upgrade,
}

/// Starts [`Task::ReadOn`].
pub(super) fn read_on(runtime: &Runtime, path: &Path, cwd: &Path, session: &str) {
    spawn(runtime, &[OsStr::new("read-on"), path.as_os_str(), cwd.as_os_str(), OsStr::new(session)]);
}

/// Starts [`Task::ReadSubAgent`].
pub(super) fn read_sub_agent(runtime: &Runtime, path: &Path, cwd: &Path, session: &str, id: &str) {
    let words = [OsStr::new("read-sub-agent"), path.as_os_str(), cwd.as_os_str(), OsStr::new(session), OsStr::new(id)];
    spawn(runtime, &words);
}

/// Starts [`Task::CatchUp`].
pub(super) fn catch_up(runtime: &Runtime, folder: &Path, except: &str) {
    spawn(runtime, &[OsStr::new("catch-up"), folder.as_os_str(), OsStr::new(except)]);
}

/// Starts [`Task::Compile`].
pub(super) fn compile(runtime: &Runtime, cwd: &Path) {
    spawn(runtime, &[OsStr::new("compile"), cwd.as_os_str()]);
}

/// Starts [`Task::Tidy`].
pub(super) fn tidy(runtime: &Runtime) {
    spawn(runtime, &[OsStr::new("tidy")]);
}

/// Starts [`Task::Checkpoint`] if the WAL has grown long, which searches can cause too. This is cheap: only the length
/// of the WAL is checked. A caller that lives on must wait for the child.
pub fn settle(paths: &Paths) -> Option<Child> {
    // If the process cannot be started, the next command tries again.
    store::leaves_much(&paths.database()).then(|| start(paths, &[OsStr::new("checkpoint")]).ok()).flatten()
}

/// Starts [`Task::Reindex`] if there is something to do. This is cheap: the check reads a few rows.
pub(super) fn reindex(runtime: &Runtime, store: &Store) {
    if reindex::is_due(runtime, store).unwrap_or(false) {
        spawn(runtime, &[OsStr::new("reindex")]);
    }
}

/// Starts [`Task::Upgrade`]. A caller that lives on must wait for the child.
pub fn upgrade(runtime: &Runtime) -> Option<Child> {
    spawn(runtime, &[OsStr::new("upgrade")])
}

/// Starts [`Task::Compress`] if it is due. This is cheap: the check reads one row.
pub(super) fn compress(runtime: &Runtime, store: &Store, cwd: &Path) {
    if compressing::is_due(runtime, store, &Project::of(cwd)).unwrap_or(false) {
        spawn(runtime, &[OsStr::new("compress"), cwd.as_os_str()]);
    }
}

/// Starts [`Task::Take`].
pub(super) fn take(runtime: &Runtime, session: &str) {
    spawn(runtime, &[OsStr::new("take"), OsStr::new(session)]);
}

fn spawn(runtime: &Runtime, arguments: &[&OsStr]) -> Option<Child> {
    start(&runtime.paths, arguments)
        .inspect_err(|error| runtime.log.note(Level::Warn, "could not start a background process", error.to_string()))
        .ok()
}

fn start(paths: &Paths, arguments: &[&OsStr]) -> io::Result<Child> {
    Command::new(std::env::current_exe()?)
        .envs(paths.namespace.as_ref().map(|name| (NAMESPACE, name)))
        .arg("background")
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .current_dir("/")
        .spawn()
}

/// Limits CPU time and address space. A malicious component can take forever to compile, or all memory; with the limits
/// only this process dies.
fn limit_compiling() {
    for (resource, most) in [(Resource::Cpu, COMPILE_SECONDS), (Resource::As, COMPILE_BYTES)] {
        let now = getrlimit(resource);
        let most = now.maximum.map_or(most, |hard| hard.min(most));
        // If a limit cannot be set, the old one stays in force.
        let _ = setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    }
}

/// Takes a lock file in the data folder; see [`files::try_lock`].
fn lock(runtime: &Runtime, name: &str) -> io::Result<Option<File>> {
    files::try_lock(&runtime.paths.data.join(name))
}

/// Runs the task in the detached process.
pub fn run(runtime: &Runtime, task: &Task) -> Result<()> {
    // Leave the agent's terminal and process group, so that this process survives them.
    let _ = rustix::process::setsid();
    runtime.ignore_strangers();
    match task {
        Task::Compile { cwd } => return compile_now(runtime, cwd),
        Task::Upgrade => return upgrade_now(runtime),
        _ => {}
    }
    let mut store = runtime.store(Access::Write, PATIENCE)?;
    match task {
        Task::Take { session } => return noting::store(runtime, &mut store, session),
        Task::ReadSubAgent { path, cwd, session, id } => {
            let job = Job {
                path: Some(path.clone()),
                roots: runtime.transcript_roots(),
                session: Some(session.clone()),
                cwd: Some(cwd.clone()),
                moment: "sub-agent",
                only_if_new: true,
                unterminated: true,
                sub_agent: Some(id.clone()),
                ..Job::default()
            };
            reading::read(runtime, &mut store, &job, Instant::now() + LONGEST)?;
            return Ok(());
        }
        Task::Compress { cwd } => return compress_now(runtime, &mut store, cwd),
        // It has its own lock: embedding servers may be slow, and reading transcripts must not wait for them.
        Task::Reindex => {
            let report = reindex::run(runtime, &mut store, false, Some(Instant::now() + LONGEST), &mut |_| {})?;
            if let Some(made) = report.and_then(|report| report.remade) {
                runtime.log.note(Level::Info, "the index was rebuilt", format!("{made} memories"));
            }
            return Ok(());
        }
        _ => {}
    }
    let Some(_lock) = lock(runtime, "background.lock")? else { return Ok(()) };
    store.relax()?;
    let until = Instant::now() + LONGEST;
    match task {
        Task::Compile { .. }
        | Task::Take { .. }
        | Task::ReadSubAgent { .. }
        | Task::Compress { .. }
        | Task::Reindex
        | Task::Upgrade
        | Task::Checkpoint => {}
        Task::Tidy => {
            let settings = &runtime.config.observations;
            store.graduate(&settings.ladder, settings.days, runtime.now, true)?;
            if let Some(before) = SystemTime::now().checked_sub(LEFT) {
                runtime.journal().tidy(before)?;
                minutes::tidy(&runtime.paths.minutes(), before);
            }
        }
        Task::ReadOn { path, cwd, session } => {
            let job = Job {
                path: Some(path.clone()),
                roots: runtime.transcript_roots(),
                session: Some(session.clone()),
                cwd: Some(cwd.clone()),
                moment: "catch-up",
                only_if_new: true,
                ..Job::default()
            };
            noting::store(runtime, &mut store, session)?;
            store.relax()?;
            reading::read(runtime, &mut store, &job, until)?;
            projection::write(runtime, &store, session)?;
        }
        Task::CatchUp { folder, except } => {
            for path in reading::unread(runtime, &store, folder, except)? {
                let job = Job {
                    path: Some(path),
                    roots: runtime.transcript_roots(),
                    moment: "catch-up",
                    only_if_new: true,
                    ..Job::default()
                };
                match reading::read(runtime, &mut store, &job, until) {
                    Err(error) if error.is::<StoreError>() => return Err(error),
                    Err(error) => runtime.log.note(Level::Warn, "a transcript was not read", format!("{error:#}")),
                    Ok(_) => {}
                }
            }
        }
    }
    Ok(store.checkpoint()?)
}

fn compile_now(runtime: &Runtime, cwd: &Path) -> Result<()> {
    throughline_platform::paths::create_private(&runtime.paths.data)?;
    let Some(_lock) = lock(runtime, "compile.lock")? else { return Ok(()) };
    limit_compiling();
    runtime.compile(Compiling::All(Instant::now() + LONGEST));
    runtime.default_policy()?;
    let root = Project::of(cwd).root;
    runtime.policies(Some(&root))?.compile(Instant::now() + LONGEST);
    Ok(())
}

/// Upgrades the database, once: every hook that finds it old starts a process.
fn upgrade_now(runtime: &Runtime) -> Result<()> {
    let Some(_lock) = lock(runtime, "upgrade.lock")? else { return Ok(()) };
    let store = runtime.store(Access::Existing, PATIENCE)?;
    runtime.log.note(Level::Info, "the database was upgraded", format!("schema {}", store::SCHEMA_VERSION));
    Ok(store.checkpoint()?)
}

/// Folds old memories into digests. It has its own lock: the next session's unread transcripts must not wait for it.
fn compress_now(runtime: &Runtime, store: &mut Store, cwd: &Path) -> Result<()> {
    let Some(_lock) = lock(runtime, "compress.lock")? else { return Ok(()) };
    let folded = compressing::in_background(runtime, store, &Project::of(cwd))?;
    if folded > 0 {
        runtime.log.note(Level::Info, "old memories were folded into digests", format!("{folded} memories"));
        store.checkpoint()?;
    }
    Ok(())
}
