//! A second thread with a connection of its own, which does half of a search's work where there is much of it.

use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, Scope};

use rusqlite::Connection;

use super::index::{MODEL, meta};
use super::open_read_only;

type Job<'e> = Box<dyn FnOnce(&Connection) + Send + 'e>;

/// The thread. It does what it is asked for in order, and ends when this is dropped.
pub(super) struct Helper<'e> {
    jobs: Sender<Job<'e>>,
}

/// What a helper was asked for.
pub(super) struct Asked<T>(Receiver<T>);

impl<'e> Helper<'e> {
    /// Starts one; none where no thread can be had. It reads `database` as far as its vectors are those of `model`.
    pub(super) fn start<'s>(scope: &'s Scope<'s, 'e>, database: &'e Path, model: &'e str) -> Option<Self> {
        let (jobs, asked) = mpsc::channel();
        let work = move || {
            // Whoever asks does it himself then.
            let _ = serve(database, model, &asked);
        };
        thread::Builder::new().spawn_scoped(scope, work).ok()?;
        Some(Self { jobs })
    }

    /// Asks for something.
    pub(super) fn ask<T: Send + 'e>(&self, job: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'e) -> Asked<T> {
        let (tell, told) = mpsc::channel();
        // One that has given up drops the job, and `tell` with it.
        let _ = self.jobs.send(Box::new(move |conn| {
            if let Ok(done) = job(conn) {
                let _ = tell.send(done);
            }
        }));
        Asked(told)
    }
}

impl<T> Asked<T> {
    /// Waits for it; none where the helper could not do it.
    pub(super) fn answer(self) -> Option<T> {
        self.0.recv().ok()
    }
}

fn serve(database: &Path, model: &str, asked: &Receiver<Job<'_>>) -> rusqlite::Result<()> {
    let conn = open_read_only(database)?;
    // Most pages are read once. One state of the database for all jobs, as the one who asks has.
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
