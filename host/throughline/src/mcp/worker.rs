//! The thread that does the work. Every call creates its own runtime, so changes to settings, pauses and deletions
//! between two calls take effect, and nothing from a call stays in memory.

use std::path::PathBuf;
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc as threads;
use std::thread;

use anyhow::{Context as _, Result, anyhow};
use tokio::sync::{mpsc, oneshot};

use throughline_engine::hooks::{STORE_BUSY_TIMEOUT, spawn};
use throughline_engine::memory::RequestError;
use throughline_engine::runtime::Runtime;
use throughline_model::project::Project;
use throughline_platform::log::Level;
use throughline_platform::paths::Paths;
use throughline_store::{self as store, Access, Store, StoreError};

/// The progress of a call: steps done, total steps, and the current step.
pub(super) type ProgressStep = (u32, u32, &'static str);

/// Cancellation and progress of a running call.
#[derive(Clone, Default)]
pub(super) struct Signals {
    /// Whether the client cancelled the call.
    pub(super) is_cancelled: Arc<AtomicBool>,
    /// Where progress is sent; `None` if the client did not ask for it.
    pub(super) steps: Option<mpsc::UnboundedSender<ProgressStep>>,
}

/// What a call works with.
pub(super) struct ToolContext {
    pub(super) runtime: Runtime,
    /// The folder that the client works in.
    pub(super) folder: PathBuf,
    /// The project of that folder. A call can reach no other project.
    pub(super) project: Project,
    signals: Signals,
}

impl ToolContext {
    fn new(paths: Paths, folder: PathBuf, signals: Signals) -> Result<Self> {
        let runtime = Runtime::new(paths)?;
        let project = Project::discover(&folder);
        Ok(Self { runtime, folder, project, signals })
    }

    /// Returns an error if memory is off for the project, or if the database needs an upgrade that takes longer than a
    /// client would wait.
    fn check(&self) -> Result<()> {
        let refused = |what: &str, hint: &str| Err(RequestError::new(what, hint).into());
        if store::needs_long_migration(&self.runtime.paths.database()) {
            reap(spawn::upgrade(&self.runtime));
            return refused("the database is from an older version, and is being upgraded", "try again in a minute");
        }
        if !self.runtime.config.enabled {
            return refused("memory is turned off", "the user can set `enabled = true` in the configuration");
        }
        if self.runtime.is_excluded(&self.project.root) {
            return refused("this project is excluded from memory", "the user excluded it with privacy.exclude_projects");
        }
        if self.runtime.intervals.is_paused(&self.project.id, "") {
            return refused("memory is paused for this project", "the user can end the pause with `throughline resume`");
        }
        Ok(())
    }

    /// Opens the store; `None` if nothing was ever stored.
    pub(super) fn open_existing(&self) -> Result<Option<Store>> {
        match self.runtime.store(Access::Existing, STORE_BUSY_TIMEOUT * 4) {
            Err(StoreError::Missing(_)) => Ok(None),
            other => Ok(Some(other?)),
        }
    }

    /// Opens the store, and creates it if it is missing.
    pub(super) fn open_or_create(&self) -> Result<Store> {
        Ok(self.runtime.store(Access::Write, STORE_BUSY_TIMEOUT * 4)?)
    }

    /// Reports progress. Returns an error if the call was cancelled; no partial change was made then.
    pub(super) fn report_progress(&self, done: u32, of: u32, what: &'static str) -> Result<()> {
        if self.signals.is_cancelled.load(Ordering::Relaxed) {
            return Err(RequestError::new("the call was cancelled", "call it again").into());
        }
        if let Some(steps) = &self.signals.steps {
            // If the receiver of the call's progress is gone, the error has no recipient.
            let _ = steps.send((done, of, what));
        }
        Ok(())
    }
}

/// Waits for the child process on a thread, so that it does not remain as a zombie for as long as the server runs.
fn reap(child: Option<Child>) {
    if let Some(mut child) = child {
        let _ = thread::Builder::new().spawn(move || child.wait());
    }
}

type Job = Box<dyn FnOnce(&Paths) + Send>;

/// A handle to the worker thread.
pub(super) struct Worker {
    jobs: threads::Sender<Job>,
}

impl Worker {
    pub(super) fn start(paths: Paths) -> Result<Self> {
        let (jobs, waiting) = threads::channel::<Job>();
        let work = move || waiting.into_iter().for_each(|job| job(&paths));
        thread::Builder::new().name("worker".into()).spawn(work).context("the server cannot start")?;
        Ok(Self { jobs })
    }

    /// Runs `work` for the folder's project on the worker thread, after all earlier work.
    pub(super) async fn run<T, W>(&self, folder: PathBuf, signals: Signals, work: W) -> Result<T>
    where
        T: Send + 'static,
        W: FnOnce(&mut ToolContext) -> Result<T> + Send + 'static,
    {
        let (done, answer) = oneshot::channel();
        let job = move |paths: &Paths| {
            let outcome = ToolContext::new(paths.clone(), folder, signals).and_then(|mut ctx| {
                let outcome = ctx.report_progress(0, 1, "looking").and_then(|()| ctx.check()).and_then(|()| work(&mut ctx));
                if let Err(error) = &outcome
                    && !error.chain().any(|cause| cause.downcast_ref::<RequestError>().is_some())
                {
                    ctx.runtime.log.record(Level::Error, "mcp: a call failed", format!("{error:#}"));
                }
                ctx.runtime.finish();
                reap(spawn::checkpoint_wal(paths));
                outcome
            });
            // The caller may be gone.
            let _ = done.send(outcome);
        };
        self.jobs.send(Box::new(job)).map_err(|_| anyhow!("the server has stopped"))?;
        answer.await.map_err(|_| anyhow!("the server stopped unexpectedly"))?
    }
}
