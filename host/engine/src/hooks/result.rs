//! The result of what hooks do, and how long they wait for the database.

use std::io::{self, ErrorKind};
use std::time::Duration;

use throughline_store::StoreError;

/// The longest a hook waits for another process to finish writing to the database.
pub const STORE_BUSY_TIMEOUT: Duration = Duration::from_millis(800);

/// The result of all reading and writing in the hooks.
pub(super) type HookResult<T> = anyhow::Result<T>;

/// Returns whether the error says that the home cannot be written. What is stored can still be read.
pub(super) fn is_read_only(error: &anyhow::Error) -> bool {
    let io = error.chain().find_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind);
    error.chain().any(|cause| matches!(cause.downcast_ref(), Some(StoreError::ReadOnly(..))))
        || matches!(io, Some(ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem))
}

/// Returns the first lines of `text` that fit into `budget` UTF-16 units.
pub(super) fn cut(text: &str, budget: usize) -> String {
    let mut units = 0;
    text.split_inclusive('\n')
        .take_while(|line| {
            units += line.encode_utf16().count();
            units <= budget
        })
        .collect()
}
