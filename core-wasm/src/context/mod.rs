//! Stage `context-builder`: stored memories become the text that the agent is shown.
//!
//! Every source gathers candidates into a [`Page`], which folds what was said before, and fits what matters most into the
//! budget. Stored text is data: it is made harmless where it enters a page.

mod line;
mod page;
mod past;
mod present;
mod prompt;

use crate::bindings::exports::throughline::policy::context_builder::{Context, Request};
use crate::bindings::throughline::policy::memories::Fact;
use crate::bindings::throughline::policy::types::{Memory, SessionRecord};
use line::Raw;
use page::{Entry, Page, Part};

/// What is stored of this project: the contract's capability `memories`, which says what each function answers.
pub trait Memories {
    /// The newest first.
    fn recent(&self, kinds: &[&str], limit: u32) -> Vec<Memory>;
    /// The weightiest first.
    fn important(&self, kinds: &[&str], limit: u32) -> Vec<Memory>;
    /// Of one session, in the order in which they were learned.
    fn of_session(&self, session: &str, kinds: &[&str], limit: u32) -> Vec<Memory>;
    /// Full text, best first.
    fn search(&self, query: &str, kinds: &[&str], limit: u32) -> Vec<Memory>;
    /// Of the project as a whole, newest first.
    fn knowledge(&self, limit: u32) -> Vec<Fact>;
    /// Newest first, without the one that the call is about.
    fn sessions(&self, limit: u32) -> Vec<SessionRecord>;
    /// The newest session other than the one that the call is about.
    fn last_session(&self) -> Option<SessionRecord>;
    /// One session, the present one too.
    fn session(&self, id: &str) -> Option<SessionRecord>;
}

/// The text for the request's source in at most its budget; none where there is nothing worth saying.
pub fn build(request: &Request, memories: &dyn Memories) -> Option<Context> {
    let budget = request.budget as usize;
    match request.source.as_str() {
        // The client replays the conversation: all that could be said stands in it.
        "resume" | "fork" => None,
        "clear" => cleared(request, memories).render(CLEARED, budget),
        "compact" => present::page(request, memories).render(present::INTRO, budget),
        "prompt" => prompt::page(request).render(prompt::INTRO, budget.min(prompt::UNITS)),
        _ => past::page(request, memories).render(past::INTRO, budget),
    }
}

const CLEARED: &str = "What holds for this project. It may be outdated: the user and the code have the last word.";

/// The context was cleared on purpose: only what stands whatever the task is.
fn cleared(request: &Request, memories: &dyn Memories) -> Page {
    let mut page = Page::new(&request.session.root);
    standing(&mut page, memories, 8, 1.0);
    page
}

/// What holds for every session: the human's rules, and what is known of the project; at most `most` of each, as heavy as
/// `share` of their importance.
fn standing(page: &mut Page, memories: &dyn Memories, most: usize, share: f32) {
    page.limit(Part::Preferences, most);
    page.limit(Part::Knowledge, most);
    for memory in page.counted(memories.important(&["preference"], 16), 16) {
        page.remember(&memory, share);
    }
    for fact in page.counted(memories.knowledge(16), 16) {
        let raw = match &fact.file {
            // A convention says itself what it is about: "Tests: `make test`".
            _ if fact.kind == "convention" => Raw::from(fact.content.clone()),
            Some(file) => Raw::from(format!("{}: {} (`{}`)", capitalized(&fact.kind), fact.content, page.path(file))),
            None => Raw::from(format!("{}: {}", capitalized(&fact.kind), fact.content)),
        };
        page.add(Part::Knowledge, Entry::new(&raw, 0.6 * share).also(&fact.content));
    }
    for memory in page.counted(memories.important(&["discovery"], 12), 12) {
        page.remember(&memory, share);
    }
}

fn capitalized(word: &str) -> String {
    let word = word.replace('_', " ");
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
