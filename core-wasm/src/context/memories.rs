//! What the stage may ask of the store.

use crate::bindings::throughline::policy::memories::Fact;
use crate::bindings::throughline::policy::types::{Memory, SessionRecord};

/// What is stored about this project: the contract's capability `memories`, which documents each function.
pub trait Memories {
    /// The newest memories first.
    fn recent(&self, kinds: &[&str], limit: u32) -> Vec<Memory>;
    /// The most important memories first.
    fn important(&self, kinds: &[&str], limit: u32) -> Vec<Memory>;
    /// The memories of one session, in the order in which they were learned.
    fn of_session(&self, session: &str, kinds: &[&str], limit: u32) -> Vec<Memory>;
    /// Full-text search, best matches first.
    fn search(&self, query: &str, kinds: &[&str], limit: u32) -> Vec<Memory>;
    /// Facts about the project as a whole, newest first.
    fn knowledge(&self, limit: u32) -> Vec<Fact>;
    /// Sessions, newest first, without the one that the call is about.
    fn sessions(&self, limit: u32) -> Vec<SessionRecord>;
    /// The newest session other than the one that the call is about.
    fn last_session(&self) -> Option<SessionRecord>;
    /// One session, possibly the current one.
    fn session(&self, id: &str) -> Option<SessionRecord>;
}
