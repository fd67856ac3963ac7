//! What a source holds and what became of it: rows, and the end that each came to.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::runtime;
use throughline_model::contract::Timestamp;

/// What cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trouble {
    /// The file, and the table and row in it.
    pub place: String,
    /// Why: no text of the source itself.
    pub reason: String,
}

/// What a table or a kind of file in a source holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Part {
    /// The file.
    pub source: String,
    /// Such as `prompts`.
    pub what: String,
    /// Rows, or sections of files.
    pub rows: u64,
    /// How many memories of each type they make.
    pub becomes: BTreeMap<String, u64>,
    /// Rows that go into the memory of another row, such as an answer into its prompt's.
    pub joined: u64,
    /// Rows that make no memory, by the reason.
    pub passed_over: BTreeMap<String, u64>,
    /// Rows that could not be used.
    pub failed: u64,
    /// The earliest time of a memory.
    #[serde(serialize_with = "written")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub oldest: Option<Timestamp>,
    /// The latest.
    #[serde(serialize_with = "written")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub newest: Option<Timestamp>,
}

/// RFC 3339, as all times in JSON.
#[expect(clippy::ref_option, reason = "serde hands over references")]
fn written<S: serde::Serializer>(at: &Option<Timestamp>, to: S) -> std::result::Result<S::Ok, S::Error> {
    at.map(runtime::stamp).serialize(to)
}

/// What became of moving in. `rows` and `cut` together are `joined`, `passed_over`, `failed`, and, where it was no dry run,
/// `memories`, `seen_again`, `known`, `forgotten` and `left_out`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Moved {
    /// The system's name.
    pub from: String,
    /// Whether nothing was stored.
    pub dry_run: bool,
    /// The files that were read.
    pub sources: Vec<String>,
    /// Rows, or sections of files.
    pub rows: u64,
    /// Memories beyond one a row, because a text is longer than a memory may be.
    pub cut: u64,
    /// New memories.
    pub memories: u64,
    /// Of other places the same content was known.
    pub seen_again: u64,
    /// Known from an earlier import of the same.
    pub known: u64,
    /// Deleted for good before: they stay deleted.
    pub forgotten: u64,
    /// Of projects, sessions or times of which nothing is remembered.
    pub left_out: u64,
    /// Rows that went into the memory of another row.
    pub joined: u64,
    /// Rows with nothing to remember in them.
    pub passed_over: u64,
    /// Rows that could not be used, and parts that could not be read.
    pub failed: u64,
    /// The first of these.
    pub errors: Vec<Trouble>,
    /// All of it, by file and table.
    pub parts: Vec<Part>,
}
