//! Tables `memories`, `sightings` (occurrences), `tombstones` and `shown`.
//!
//! An extractor is a fold over lines: the same lines in one call or in ten give the same memories. It may change its
//! mind, because the state at the end wins: an open failure gets its fix, a decision is taken back. So a draft has a
//! *key* within its session: a later draft with that key replaces it, and a *retraction* removes it.
//!
//! A memory is identified by project, kind and content (SHA-256, of which the row has the first half). Each place where
//! it was learned is a row of `sightings`, keyed by session and draft key. The same content from another session is the
//! same memory with a second occurrence, and weighs a little more. The copy of a line in a forked session has the same
//! uuid and is the same place. A memory whose last occurrence is retracted is removed. A memory that a person deletes
//! leaves a tombstone, so that reading the same lines again does not bring it back.

mod filter;
mod hash;
mod occurrences;
mod put;
mod reading;
mod record;
mod removal;
mod shown;

pub use filter::MemoryFilter;
pub(crate) use filter::{Where, row_range};
pub(crate) use hash::{ContentHash, content_hash};
pub(crate) use occurrences::{MAX_OCCURRENCES, OCCURRENCE_WEIGHT, recount};
pub use put::PutOutcome;
pub(crate) use put::{OWN_POLICY, change_attributes, insert, is_forgotten, put, rewrite};
pub use reading::{Knowledge, Stats};
pub(crate) use reading::{count_kinds, draft};
pub(crate) use record::{COLUMNS, from_row};
pub use record::{MemoryRecord, SAVED, SAVED_BY_AGENT};
pub(crate) use removal::{delete, drop_from_notes, forget_in_notes, remove, retract, take_back};
pub(crate) use shown::mark_shown;
