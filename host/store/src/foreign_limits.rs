//! Limits for connections to databases of unknown origin. A schema is a program: its views, generated columns and checks
//! can run without end or make values of a gigabyte.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;

/// The longest value that SQLite may make or read, in bytes.
const MAX_LENGTH: i32 = 64 << 20;

/// How many of SQLite's instructions run between two calls of the progress handler.
const INSTRUCTIONS: i32 = 10_000;

/// How often the progress handler may be called before the next row: a hundred million instructions, some seconds.
const MAX_CALLS: u32 = 10_000;

/// Counts the work since the last row.
#[derive(Debug, Clone, Default)]
pub(super) struct WorkCounter(Arc<AtomicU32>);

impl WorkCounter {
    /// Starts the count again, because a row was read or another statement begins.
    pub(super) fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// Limits a connection: values have a maximum length, and a statement that works too long without a row is interrupted.
pub(super) fn limit(conn: &mut Connection) -> rusqlite::Result<WorkCounter> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    conn.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_LENGTH)?;
    let counter = WorkCounter::default();
    let calls = Arc::clone(&counter.0);
    conn.progress_handler(INSTRUCTIONS, Some(move || calls.fetch_add(1, Ordering::Relaxed) >= MAX_CALLS))?;
    Ok(counter)
}
