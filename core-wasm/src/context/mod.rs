//! Stage `context-builder`: stored memories become the text that the agent is shown.
//!
//! What is shown goes by the request's source. A session that starts gets what earlier ones left; after a compaction the
//! agent gets its own session back first; after `/clear` only what holds for the project. A resumed session gets nothing,
//! because the client replays the old context with it.

mod fold;
pub(crate) mod line;
mod page;
mod sections;

use crate::bindings::{
    exports::throughline::policy::context_builder::{Context, Request},
    throughline::policy::{
        memories::Fact,
        types::{Memory, SessionRecord},
    },
};

/// The first line of everything that is shown, by which the extractor knows its own text again.
pub const HEADING: &str = "## Session Memory";

/// The most that a prompt's memories may take, in UTF-16 code units.
const PROMPT_BUDGET: usize = 2_000;

/// What is stored of this project: the `memories` capability of the contract, as it is documented there.
pub trait Memories {
    /// The newest memories first. No kinds: all but `turn`.
    fn recent(&self, kinds: &[&str], limit: u32) -> Vec<Memory>;
    /// The weightiest memories first.
    fn important(&self, kinds: &[&str], limit: u32) -> Vec<Memory>;
    /// Memories of one session in the order in which they were learned.
    fn of_session(&self, session: &str, kinds: &[&str], limit: u32) -> Vec<Memory>;
    /// Full-text search, best first.
    fn search(&self, query: &str, kinds: &[&str], limit: u32) -> Vec<Memory>;
    /// What holds for the project as a whole, newest first.
    fn knowledge(&self, limit: u32) -> Vec<Fact>;
    /// Other sessions of the project, newest first.
    fn sessions(&self, limit: u32) -> Vec<SessionRecord>;
    /// The newest other session.
    fn last_session(&self) -> Option<SessionRecord>;
    /// One session, the present one too.
    fn session(&self, session: &str) -> Option<SessionRecord>;
}

/// The text for a request; none where there is nothing worth saying.
pub fn build(request: &Request, memories: &dyn Memories) -> Option<Context> {
    let budget = usize::try_from(request.budget).unwrap_or(usize::MAX);
    match request.source.as_str() {
        "resume" | "fork" => None,
        "prompt" => sections::prompt(request).write(budget.min(PROMPT_BUDGET)),
        "clear" => sections::clear(memories).write(budget),
        "compact" => sections::compact(&request.session.id, memories).write(budget),
        _ => sections::startup(memories).write(budget),
    }
}

#[cfg(test)]
mod tests;
