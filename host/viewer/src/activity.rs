//! Knows when the viewer was used last, so that it can end itself.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// When the viewer was used last, and how many streams are open.
#[derive(Debug)]
pub(crate) struct Activity {
    last: Mutex<Instant>,
    streams: AtomicUsize,
}

impl Activity {
    pub(crate) fn new() -> Self {
        Self { last: Mutex::new(Instant::now()), streams: AtomicUsize::new(0) }
    }

    /// Records a use.
    pub(crate) fn touch(&self) {
        if let Ok(mut last) = self.last.lock() {
            *last = Instant::now();
        }
    }

    /// Records that a stream was opened.
    pub(crate) fn open_stream(&self) {
        self.streams.fetch_add(1, Ordering::Relaxed);
    }

    /// Records that a stream was closed, which is a use too.
    pub(crate) fn close_stream(&self) {
        self.touch();
        self.streams.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns whether a stream is open.
    pub(crate) fn has_streams(&self) -> bool {
        self.streams.load(Ordering::Relaxed) > 0
    }

    /// Returns how long to wait until the viewer may be idle: zero if it is.
    fn remaining(&self, idle: Duration) -> Duration {
        if self.has_streams() {
            return idle;
        }
        let since = self.last.lock().map_or(Duration::ZERO, |last| last.elapsed());
        idle.saturating_sub(since)
    }

    /// Returns once nobody has used the viewer for so long.
    pub(crate) async fn idle(&self, idle: Duration) {
        loop {
            let remaining = self.remaining(idle);
            if remaining.is_zero() {
                return;
            }
            tokio::time::sleep(remaining.max(Duration::from_millis(50))).await;
        }
    }
}
