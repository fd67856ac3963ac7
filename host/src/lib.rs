//! The native shim of Throughline: hooks in, context out, a policy in its sandbox between, one SQLite file beneath.

pub mod backup;
pub mod cli;
pub mod config;
pub mod demo;
pub mod doctor;
pub mod export;
pub mod hooks;
pub mod import;
pub mod ingest;
pub mod mcp;
pub mod memory;
pub mod note_sync;
pub mod plugin_options;
pub mod projection;
pub mod redaction;
pub mod reindex;
pub mod runtime;
pub mod verify;
