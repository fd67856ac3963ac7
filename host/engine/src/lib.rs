//! The use cases, without a terminal.

pub mod backup;
pub mod config;
pub mod export;
pub mod hooks;
pub mod import;
pub mod ingest;
pub mod memory;
pub mod note_sync;
pub mod plugin_options;
pub mod projection;
pub mod redaction;
pub mod reindex;
pub mod runtime;
pub mod verify;
