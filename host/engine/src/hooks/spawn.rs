//! Starts `throughline background` for work that does not fit into a hook's time. `super::background` carries it out.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::memory::{compression, supersession};
use crate::model::due;
use crate::model::settings::Provider;
use crate::reindex;
use crate::runtime::Runtime;
use crate::team::credentials;
use throughline_model::project::Project;
use throughline_platform::log::Level;
use throughline_platform::paths::{NAMESPACE, Paths};
use throughline_platform::process;
use throughline_store::{self as store, Store};

/// Starts [`Task::ContinueReading`](super::background::Task::ContinueReading).
pub(super) fn continue_reading(runtime: &Runtime, path: &Path, cwd: &Path, session: &str) {
    spawn(runtime, &[OsStr::new("read-on"), path.as_os_str(), cwd.as_os_str(), OsStr::new(session)]);
}

/// Starts [`Task::ReadSubAgent`](super::background::Task::ReadSubAgent).
pub(super) fn read_sub_agent(runtime: &Runtime, path: &Path, cwd: &Path, session: &str, id: &str) {
    let words = [OsStr::new("read-sub-agent"), path.as_os_str(), cwd.as_os_str(), OsStr::new(session), OsStr::new(id)];
    spawn(runtime, &words);
}

/// Starts [`Task::CatchUp`](super::background::Task::CatchUp).
pub(super) fn catch_up(runtime: &Runtime, folder: &Path, except: &str) {
    spawn(runtime, &[OsStr::new("catch-up"), folder.as_os_str(), OsStr::new(except)]);
}

/// Starts [`Task::Compile`](super::background::Task::Compile).
pub(super) fn compile(runtime: &Runtime, cwd: &Path) {
    // Only root can add to the system's cache.
    if runtime.sandbox().is_ok_and(|sandbox| sandbox.cache().is_of_system()) {
        return;
    }
    spawn(runtime, &[OsStr::new("compile"), cwd.as_os_str()]);
}

/// Starts [`Task::CleanUp`](super::background::Task::CleanUp).
pub(super) fn clean_up(runtime: &Runtime) {
    spawn(runtime, &[OsStr::new("tidy")]);
}

/// Starts [`Task::CheckpointWal`](super::background::Task::CheckpointWal) if the WAL has grown long, which searches can cause too. This is cheap: only the length
/// of the WAL is checked. A caller that lives on must wait for the child.
pub fn checkpoint_wal(paths: &Paths) -> Option<Child> {
    // If the process cannot be started, the next command tries again.
    store::has_large_wal(&paths.database()).then(|| start(paths, &[OsStr::new("checkpoint")]).ok()).flatten()
}

/// Starts [`Task::Reindex`](super::background::Task::Reindex) if there is something to do. This is cheap: the check reads a few rows.
pub(super) fn reindex(runtime: &Runtime, store: &Store) {
    if reindex::is_due(runtime, store).unwrap_or(false) {
        spawn(runtime, &[OsStr::new("reindex")]);
    }
}

/// Starts [`Task::Upgrade`](super::background::Task::Upgrade). A caller that lives on must wait for the child.
pub fn upgrade(runtime: &Runtime) -> Option<Child> {
    spawn(runtime, &[OsStr::new("upgrade")])
}

/// Starts [`Task::Compress`](super::background::Task::Compress) if it is due. This is cheap: the check reads one row.
pub(super) fn compress(runtime: &Runtime, store: &Store, cwd: &Path) {
    if compression::is_due(runtime, store, &Project::discover(cwd)).unwrap_or(false) {
        spawn(runtime, &[OsStr::new("compress"), cwd.as_os_str()]);
    }
}

/// Starts [`Task::Compare`](super::background::Task::Compare) if a project has new memories. This is cheap: the check reads
/// two rows.
pub(super) fn compare(runtime: &Runtime, store: &Store, project: &str, cwd: &Path) {
    if supersession::is_due(store, project).unwrap_or(false) {
        spawn(runtime, &[OsStr::new("compare"), cwd.as_os_str()]);
    }
}

/// Starts [`Task::Consolidate`](super::background::Task::Consolidate) if a policy may ask a model. This is cheap: the check looks at
/// the configuration first.
pub(super) fn consolidate(runtime: &Runtime, cwd: &Path, except: &str) {
    if runtime.config.model.provider != Provider::None && due::is_due(runtime, &Project::discover(cwd).root) {
        spawn(runtime, &[OsStr::new("consolidate"), cwd.as_os_str(), OsStr::new(except)]);
    }
}

/// Starts [`Task::SyncTeam`](super::background::Task::SyncTeam) if this machine has joined a team. This is cheap: it looks whether
/// there is a file.
pub(super) fn sync_team(runtime: &Runtime) {
    if credentials::file(&runtime.paths).exists() {
        spawn(runtime, &[OsStr::new("team")]);
    }
}

/// Starts [`Task::StoreJournal`](super::background::Task::StoreJournal).
pub(super) fn store_journal(runtime: &Runtime, session: &str) {
    spawn(runtime, &[OsStr::new("take"), OsStr::new(session)]);
}

/// The first argument of the process that handles an event again.
pub const REPLAY: &str = "replay";

/// Starts a process that handles an event again once the default policy is compiled: the hook that was called with these
/// arguments and this input could not. The input may contain secrets, so it goes through a pipe and not through a file.
pub fn replay(paths: &Paths, arguments: &[OsString], input: &[u8]) -> io::Result<()> {
    let mut child = command(paths)?.arg(REPLAY).args(arguments).stdin(Stdio::piped()).spawn()?;
    // The process reads all of its input before anything else.
    child.stdin.take().map_or(Ok(()), |mut pipe| pipe.write_all(input))
}

fn spawn(runtime: &Runtime, arguments: &[&OsStr]) -> Option<Child> {
    start(&runtime.paths, arguments)
        .inspect_err(|error| runtime.log.record(Level::Warn, "could not start a background process", error.to_string()))
        .ok()
}

fn start(paths: &Paths, arguments: &[&OsStr]) -> io::Result<Child> {
    command(paths)?.args(arguments).spawn()
}

fn command(paths: &Paths) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .envs(paths.namespace.as_ref().map(|name| (NAMESPACE, name)))
        .arg("background")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .current_dir("/");
    process::outlive_parent(&mut command)?;
    Ok(command)
}
