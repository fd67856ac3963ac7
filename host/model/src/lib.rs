//! The shared vocabulary: the types that all other crates of the host exchange, as plain data.
//!
//! A hook finds the [`project::Project`] of a folder, and the [`cursor::Cursor`] of a transcript. It hands the
//! transcript's lines to a policy as [`lines::Line`]s. The policy returns [`contract::Draft`]s and
//! [`contract::SessionNotes`]. The store keeps them and returns [`contract::Memory`]s, which go to the next policy or
//! are printed.
//!
//! - [`contract`] has the records that policies, the store and `--json` output share.
//! - [`lines`] has the lines of a transcript, and [`lines::LineSource`], from which a policy reads them. The crate
//!   `throughline-agents` implements the source for files, and `throughline-privacy` wraps one to leave lines out.
//! - [`cursor`] says how far a transcript was read. The store only adds how a cursor is read from a row.
//! - [`project`] determines which project a folder belongs to. Only this module and the next one read
//!   files.
//! - [`files`] resolves paths and reads small files that somebody else may have prepared.
//! - [`redacted`] has the wrapper that says that a value's texts were redacted. The store accepts nothing else.
//! - [`invalid`] has the error of whatever reads what a person wrote.
//! - [`said_by`] says who made the statement of a memory.
//! - [`digest`] has SHA-256 and hexadecimal.
//!
//! This crate depends on no other crate of ours, and has two features, so that no crate links a library that it does
//! not need. `component` derives wasmtime's traits, and only the sandbox enables it: without the feature, the store
//! would link wasmtime. `schema` derives JSON Schemas, and only tests enable it.

pub mod contract;
pub mod cursor;
pub mod digest;
pub mod files;
pub mod invalid;
pub mod lines;
pub mod project;
pub mod redacted;
pub mod said_by;
