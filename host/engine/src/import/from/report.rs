//! The report of importing from another system: its rows, and what became of each.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::runtime;
use throughline_model::contract::Timestamp;

/// Something that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourceError {
    /// The file, and the table and row in it.
    pub place: String,
    /// The reason, without any text of the source itself.
    pub reason: String,
}

/// A table or a kind of file in a source, and what became of its rows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartReport {
    /// The file.
    pub source: String,
    /// The table or kind of file, such as `prompts`.
    pub what: String,
    /// Rows, or sections of files.
    pub rows: u64,
    /// How many memories of each type the rows make.
    pub becomes: BTreeMap<String, u64>,
    /// Rows that were merged into the memory of another row, such as an answer into its prompt's.
    pub joined: u64,
    /// Rows that make no memory, by reason.
    pub passed_over: BTreeMap<String, u64>,
    /// Rows that could not be used.
    pub failed: u64,
    /// The time of the earliest memory.
    #[serde(serialize_with = "written")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub oldest: Option<Timestamp>,
    /// The time of the latest memory.
    #[serde(serialize_with = "written")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub newest: Option<Timestamp>,
}

/// Serializes a time as RFC 3339, like all times in JSON output.
#[expect(clippy::ref_option, reason = "serde hands over references")]
fn written<S: serde::Serializer>(at: &Option<Timestamp>, to: S) -> std::result::Result<S::Ok, S::Error> {
    at.map(runtime::format_timestamp).serialize(to)
}

/// The result of importing from another system. `rows` plus `cut` equals the sum of `joined`, `passed_over`, `failed`
/// and, unless it was a dry run, `memories`, `seen_again`, `known`, `forgotten` and `left_out`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SystemReport {
    /// The system's name.
    pub from: String,
    /// Whether this was a dry run, which stores nothing.
    pub dry_run: bool,
    /// The files that were read.
    pub sources: Vec<String>,
    /// Rows, or sections of files.
    pub rows: u64,
    /// Additional memories from rows whose text is too long for one memory.
    pub cut: u64,
    /// New memories.
    pub memories: u64,
    /// Memories whose content was already known from another place.
    pub seen_again: u64,
    /// Memories known from an earlier import of the same source.
    pub known: u64,
    /// Memories that were deleted for good before, and stay deleted.
    pub forgotten: u64,
    /// Memories of projects, sessions or times that are excluded, paused or forgotten.
    pub left_out: u64,
    /// Rows that were merged into the memory of another row.
    pub joined: u64,
    /// Rows with nothing to remember.
    pub passed_over: u64,
    /// Rows that could not be used, and parts that could not be read.
    pub failed: u64,
    /// The first of these errors.
    pub errors: Vec<SourceError>,
    /// The same by file and table.
    pub parts: Vec<PartReport>,
    /// Sessions that the next session is told of.
    pub sessions: u64,
}
