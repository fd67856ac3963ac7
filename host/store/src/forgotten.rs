//! What a deletion does and returns: what becomes of its rows, how much it is, and the file that keeps it.

use std::path::{Path, PathBuf};

use throughline_model::contract::Memory;

/// How many of the memories that are forgotten are returned. All are counted.
pub const MAX_LISTED: usize = 1_000;

/// How much was forgotten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForgetCounts {
    /// The number of memories.
    pub memories: u64,
    /// The number of sessions, with their notes and summaries.
    pub sessions: u64,
    /// The number of notes, summaries, states and texts for a team from which something was removed, in sessions that stay.
    pub notes: u64,
    /// The number of events.
    pub events: u64,
}

/// What was forgotten.
#[derive(Debug, Clone, Default)]
pub struct Forgotten {
    /// How much it is.
    pub counts: ForgetCounts,
    /// The memories, newest first, at most [`MAX_LISTED`].
    pub memories: Vec<Memory>,
    /// The identifiers of those memories that were pinned.
    pub pinned: Vec<String>,
    /// The sessions, at most [`MAX_LISTED`].
    pub sessions: Vec<ForgottenSession>,
    /// The texts that were removed from notes and summaries of sessions that stay, at most [`MAX_LISTED`]. States of policies
    /// are only counted, because they are not for people.
    pub notes: Vec<String>,
    /// The file that keeps what was deleted.
    pub kept: Option<PathBuf>,
}

/// A session that was forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgottenSession {
    /// Its identifier.
    pub id: String,
    /// What it was about: its objective, else its first request, else its summary. Empty if nothing is known.
    pub title: String,
}

/// What becomes of the rows that a deletion selects.
#[derive(Debug, Clone, Copy)]
pub enum Fate<'a> {
    /// They stay. The deletion only says what would go.
    Shown,
    /// They are deleted and kept in this file, from which [`Store::bring_back`](crate::Store::bring_back) restores them.
    Kept(KeptFile<'a>),
    /// They are deleted and kept nowhere.
    Erased,
}

impl Fate<'_> {
    /// Whether rows are deleted.
    pub fn deletes(&self) -> bool {
        !matches!(self, Self::Shown)
    }
}

/// The file that a deletion writes.
#[derive(Debug, Clone, Copy)]
pub struct KeptFile<'a> {
    /// The folder of such files. It is created if it is missing.
    pub folder: &'a Path,
    /// Whatever the caller wants to know about the deletion later.
    pub note: &'a str,
}
