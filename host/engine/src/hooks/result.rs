//! The result of what hooks do, and how long they wait for the database.

use std::time::Duration;

/// The longest a hook waits for another process to finish writing to the database.
pub const STORE_BUSY_TIMEOUT: Duration = Duration::from_millis(800);

/// The result of all reading and writing in the hooks.
pub(super) type HookResult<T> = anyhow::Result<T>;
