//! Keeps tests that measure time apart from tests that keep the whole machine busy.
//!
//! All end-to-end tests run in one process, two or more at a time. Most of them can run beside others. A few compare a time
//! with a bound, or choose moments within a time that they have measured before; and a few run a compiler on every core for up
//! to a minute. Tests of these two kinds do not run at the same time.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static MACHINE: RwLock<()> = RwLock::new(());

/// Taken by a test while it runs compilers. Several may do so at once.
///
/// Must not be taken twice by one thread: the second call would wait for ever if a test waits for [`timed`] in between.
pub fn busy() -> RwLockReadGuard<'static, ()> {
    // A test that panicked leaves nothing behind that others could see.
    MACHINE.read().unwrap_or_else(PoisonError::into_inner)
}

/// Taken by a test while it measures time. No other test does so, or runs compilers, meanwhile.
pub fn timed() -> RwLockWriteGuard<'static, ()> {
    MACHINE.write().unwrap_or_else(PoisonError::into_inner)
}
