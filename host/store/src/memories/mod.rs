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
mod reading;
mod record;
mod rows;
mod session_notes;
mod shown;
mod writing;

pub use filter::MemoryFilter;
pub(crate) use filter::{Where, row_range};
pub(crate) use hash::{ContentHash, content_hash};
pub(crate) use occurrences::{MAX_OCCURRENCES, OCCURRENCE_WEIGHT, recount};
pub use reading::Stats;
pub(crate) use reading::count_kinds;
pub(crate) use record::{COLUMNS, draft, from_row};
pub use record::{Knowledge, MemoryRecord, SAVED, SAVED_BY_AGENT};
pub(crate) use rows::{OWN_POLICY, change_attributes, insert, rewrite};
pub(crate) use session_notes::{drop_from_notes, forget_in_notes};
pub(crate) use shown::mark_shown;
pub use writing::PutOutcome;
pub(crate) use writing::{delete, is_forgotten, put, remove, retract, take_back};
