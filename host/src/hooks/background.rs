//! Work that does not fit into a hook's time: the same program, detached, which nobody waits for. One at a time; what is
//! not done because another is at work is done at the next start, since transcripts stay where they are.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Result;
use rustix::fs::{FlockOperation, flock};

use super::reading::{self, Job};
use crate::log::Level;
use crate::runtime::Runtime;
use crate::store::{Access, StoreError};

/// The longest that a detached process works.
const LONGEST: Duration = Duration::from_mins(15);

/// What a detached process may be asked for.
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
    /// Read all unread transcripts of a folder.
    CatchUp {
        /// The folder.
        folder: PathBuf,
        /// The session that is running.
        except: String,
    },
    /// Move the WAL into the database.
    Tidy,
}

/// Starts [`Task::ReadOn`].
pub(super) fn read_on(runtime: &Runtime, path: &Path, cwd: &Path, session: &str) {
    spawn(runtime, &[OsStr::new("read-on"), path.as_os_str(), cwd.as_os_str(), OsStr::new(session)]);
}

/// Starts [`Task::CatchUp`].
pub(super) fn catch_up(runtime: &Runtime, folder: &Path, except: &str) {
    spawn(runtime, &[OsStr::new("catch-up"), folder.as_os_str(), OsStr::new(except)]);
}

/// Starts [`Task::Tidy`].
pub(super) fn tidy(runtime: &Runtime) {
    spawn(runtime, &[OsStr::new("tidy")]);
}

fn spawn(runtime: &Runtime, arguments: &[&OsStr]) {
    let started = std::env::current_exe().and_then(|program| {
        Command::new(program)
            .arg("background")
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir("/")
            .spawn()
    });
    if let Err(error) = started {
        runtime.log.note(Level::Warn, "no background process could be started", error.to_string());
    }
}

/// Does the task, as the detached process.
pub fn run(runtime: &Runtime, task: &Task) -> Result<()> {
    // Away from the agent's terminal and process group, so that its end is not ours.
    let _ = rustix::process::setsid();
    let mut store = runtime.store(Access::Existing, Duration::from_secs(10))?;
    let lock = File::options().create(true).append(true).open(runtime.paths.data.join("background.lock"))?;
    if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Ok(());
    }
    store.relax()?;
    let until = Instant::now() + LONGEST;
    match task {
        Task::Tidy => {}
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
            reading::read(runtime, &mut store, &job, until)?;
        }
        Task::CatchUp { folder, except } => {
            for path in reading::unread(&store, folder, except)? {
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
