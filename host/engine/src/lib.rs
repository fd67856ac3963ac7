//! The use cases, without a terminal: what happens at each moment of a session, and what a person or an agent asks for.
//!
//! Every call begins with a [`runtime::Runtime`], which has the folders, configuration, clock and log, and opens
//! policies and the store on demand. The binary's commands, its MCP server and its hooks turn their arguments into a
//! call of this crate, and its result into words.
//!
//! - [`hooks`] is the heart. [`hooks::run`] gets an event that `throughline-agents` parsed, and returns what the agent
//!   is to know. [`hooks::reading`] reads a transcript into memory; [`hooks::context`] makes the context at a session's
//!   start.
//! - [`ingest`] reads existing transcripts, one after another, in the same way.
//! - [`memory`] saves, forgets and compresses memories. Commands and the MCP server share it.
//! - [`note_sync`] syncs notes with a folder, and [`projection`] writes files that are generated from the database.
//! - [`import`], [`export`] and [`backup`] move memories in and out; [`verify`] checks what is stored,
//!   [`weekly_copy`] copies it once a week, and [`reindex`]
//!   keeps the search index current.
//! - [`cited_files`] says whether a file that a memory is about has changed since.
//! - [`model`] lets granted policies go over what is stored with a language model, within the user's limits.
//! - [`team`] shares memories with a team, and brings in what the team shares.
//! - [`targets`] finds the project or the session that a person names.
//! - [`config`] is the user's configuration, and [`redaction`] redacts texts that people or other programs supply.
//!
//! # Errors
//!
//! Errors that only a person reads are [`anyhow::Error`]s. Errors that code acts on have a type: `StoreError` in
//! `throughline-store`, `TranscriptError` in `throughline-agents`, [`runtime::RuntimeError`]. [`hint`] finds what the user can do
//! about any error, also one that was wrapped.

pub mod backup;
pub mod cited_files;
pub mod config;
pub mod config_edit;
pub mod export;
mod git;
pub mod hint;
pub mod history;
pub mod hooks;
pub mod import;
pub mod ingest;
pub mod memory;
pub mod model;
pub mod note_sync;
pub mod plugin_options;
pub mod projection;
pub mod redaction;
pub mod reindex;
pub mod runtime;
pub mod search;
pub mod storing;
pub mod targets;
pub mod team;
mod text;
pub mod verify;
pub mod weekly_copy;
