//! A helper thread with its own connection, which does half of the work of a large search.

use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, Scope};

use rusqlite::Connection;

use super::columns::open_read_only;
use super::index::{MODEL, meta};

type Job<'e> = Box<dyn FnOnce(&Connection) + Send + 'e>;

/// The helper thread. It runs jobs in order and exits when this is dropped.
pub(super) struct SearchHelper<'e> {
    jobs: Sender<Job<'e>>,
}

/// The pending result of a job.
pub(super) struct PendingAnswer<T>(Receiver<T>);

impl<'e> SearchHelper<'e> {
    /// Starts a helper; returns `None` if no thread can be created. The helper does nothing unless the vectors in
    /// `database` are those of `model`.
    pub(super) fn start<'s>(scope: &'s Scope<'s, 'e>, database: &'e Path, model: &'e str) -> Option<Self> {
        let (jobs, asked) = mpsc::channel();
        let work = move || {
            // On failure, the caller does the work itself.
            let _ = serve(database, model, &asked);
        };
        thread::Builder::new().spawn_scoped(scope, work).ok()?;
        Some(Self { jobs })
    }

    /// Submits a job.
    pub(super) fn ask<T: Send + 'e>(
        &self,
        job: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'e,
    ) -> PendingAnswer<T> {
        let (tell, told) = mpsc::channel();
        // A helper that has given up drops the job, and `tell` with it.
        let _ = self.jobs.send(Box::new(move |conn| {
            if let Ok(done) = job(conn) {
                let _ = tell.send(done);
            }
        }));
        PendingAnswer(told)
    }
}

impl<T> PendingAnswer<T> {
    /// Waits for the result; returns `None` if the helper could not do the job.
    pub(super) fn answer(self) -> Option<T> {
        self.0.recv().ok()
    }
}

fn serve(database: &Path, model: &str, asked: &Receiver<Job<'_>>) -> rusqlite::Result<()> {
    let conn = open_read_only(database)?;
    // Most pages are read once, so the cache is small. One transaction, so that all jobs see one state of the database,
    // as the caller does.
    conn.execute_batch("PRAGMA cache_size = -256; BEGIN")?;
    // Another index was swapped in meanwhile.
    if meta(&conn, MODEL)?.as_deref() != Some(model) {
        return Ok(());
    }
    while let Ok(job) = asked.recv() {
        job(&conn);
    }
    Ok(())
}
