//! The thread that does the work. Each call gets what a command has, made anew: what the user sets, pauses or forgets between two
//! calls holds for the next one, and nothing of a call stays in memory.

use std::path::PathBuf;
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc as threads;
use std::thread;

use anyhow::{Context as _, Result, anyhow};
use tokio::sync::{mpsc, oneshot};

use throughline_engine::hooks::{PATIENCE, background};
use throughline_engine::memory::Refused;
use throughline_engine::runtime::Runtime;
use throughline_model::project::Project;
use throughline_platform::log::Level;
use throughline_platform::paths::Paths;
use throughline_store::{self as store, Access, Store, StoreError};

/// How far a call is: steps done, steps in all, and what is done now.
pub(super) type Step = (u32, u32, &'static str);

/// What a call is told while it is at work, and tells.
#[derive(Clone, Default)]
pub(super) struct Signals {
    /// Whether nobody wants its answer any more.
    pub(super) is_cancelled: Arc<AtomicBool>,
    /// Where its steps go to; none: nobody asked.
    pub(super) steps: Option<mpsc::UnboundedSender<Step>>,
}

/// What a call works with.
pub(super) struct Desk {
    pub(super) runtime: Runtime,
    /// The folder that the client works in.
    pub(super) folder: PathBuf,
    /// Its project; there is no other.
    pub(super) project: Project,
    signals: Signals,
}

impl Desk {
    fn new(paths: Paths, folder: PathBuf, signals: Signals) -> Result<Self> {
        let runtime = Runtime::new(paths).map_err(|what| {
            Refused::new(
                what,
                "mend that file or move it away; every setting is optional, and `throughline config init` explains them",
            )
        })?;
        let project = Project::of(&folder);
        Ok(Self { runtime, folder, project, signals })
    }

    /// Refused where nothing is remembered of the project, or for as long as a client would not wait.
    fn check(&self) -> Result<()> {
        let refused = |what: &str, hint: &str| Err(Refused::new(what, hint).into());
        if store::is_long_behind(&self.runtime.paths.database()) {
            bury(background::upgrade(&self.runtime));
            return refused(
                "the memory was written by an older version, and is being brought up to date",
                "ask again in a minute",
            );
        }
        if !self.runtime.config.enabled {
            return refused("remembering is switched off", "the user can set `enabled = true` in the configuration");
        }
        if self.runtime.is_off(&self.project.root) {
            return refused("this project is left out of the memory", "the user decided so: privacy.exclude_projects");
        }
        if self.runtime.intervals.is_paused(&self.project.id, "") {
            return refused("the memory of this project is paused", "the user can end that with `throughline resume`");
        }
        Ok(())
    }

    /// The store; none where nothing was ever stored.
    pub(super) fn existing(&self) -> Result<Option<Store>> {
        match self.runtime.store(Access::Existing, PATIENCE * 4) {
            Err(StoreError::Missing(_)) => Ok(None),
            other => Ok(Some(other?)),
        }
    }

    /// The store, made where it is missing.
    pub(super) fn writable(&self) -> Result<Store> {
        Ok(self.runtime.store(Access::Write, PATIENCE * 4)?)
    }

    /// Tells how far it is. An error where nobody wants the answer any more: nothing was changed then that is not whole.
    pub(super) fn step(&self, done: u32, of: u32, what: &'static str) -> Result<()> {
        if self.signals.is_cancelled.load(Ordering::Relaxed) {
            return Err(Refused::new("it was cancelled", "ask again").into());
        }
        if let Some(steps) = &self.signals.steps {
            // Where the call is not listened to any more there is nobody to tell.
            let _ = steps.send((done, of, what));
        }
        Ok(())
    }
}

/// Waits for the child beside the rest: else what is left of it would stay for as long as the server runs.
fn bury(child: Option<Child>) {
    if let Some(mut child) = child {
        let _ = thread::Builder::new().spawn(move || child.wait());
    }
}

type Job = Box<dyn FnOnce(&Paths) + Send>;

/// The thread, from outside.
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

    /// Has the thread do this for the folder's project, after what was asked before.
    pub(super) async fn run<T, W>(&self, folder: PathBuf, signals: Signals, work: W) -> Result<T>
    where
        T: Send + 'static,
        W: FnOnce(&mut Desk) -> Result<T> + Send + 'static,
    {
        let (done, answer) = oneshot::channel();
        let job = move |paths: &Paths| {
            let outcome = Desk::new(paths.clone(), folder, signals).and_then(|mut desk| {
                let outcome = desk.step(0, 1, "looking").and_then(|()| desk.check()).and_then(|()| work(&mut desk));
                if let Err(error) = &outcome
                    && !error.chain().any(|cause| cause.downcast_ref::<Refused>().is_some())
                {
                    desk.runtime.log.note(Level::Error, "mcp: a call failed", format!("{error:#}"));
                }
                desk.runtime.finish();
                bury(background::settle(paths));
                outcome
            });
            // Who asked may have gone.
            let _ = done.send(outcome);
        };
        self.jobs.send(Box::new(job)).map_err(|_| anyhow!("the server is not at work any more"))?;
        answer.await.map_err(|_| anyhow!("the server broke off"))?
    }
}
