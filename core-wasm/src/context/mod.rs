//! Stage `context-builder`: stored memories become the text that the agent is shown.
//!
//! Every source gathers candidates into a [`Page`], which folds what was said before, and fits what matters most into the
//! budget. Stored text is data: it is made harmless where it enters a page.

mod compacted;
mod line;
mod new_session;
mod page;
mod prompt;

use crate::bindings::exports::throughline::policy::context_builder::{Context, Request};
use crate::bindings::throughline::policy::memories::Fact;
use crate::bindings::throughline::policy::types::{Memory, SessionRecord};
use line::StoredText;
use page::{Entry, Page, SectionKind};

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
        "compact" => compacted::page(request, memories).render(compacted::INTRO, budget),
        "prompt" => prompt::page(request).render(prompt::INTRO, budget.min(prompt::MAX_UNITS)),
        _ => new_session::page(request, memories).render(new_session::INTRO, budget),
    }
}

const CLEARED: &str = "What holds for this project. It may be outdated: the user and the code have the last word.";

/// The context was cleared on purpose: only what stands whatever the task is.
fn cleared(request: &Request, memories: &dyn Memories) -> Page {
    let mut page = Page::new(&request.session.root);
    add_standing(&mut page, memories, 8, 1.0);
    page
}

/// What holds for every session: the human's rules, and what is known of the project; at most `most` of each, as heavy as
/// `share` of their importance.
fn add_standing(page: &mut Page, memories: &dyn Memories, max_entries: usize, factor: f32) {
    page.limit(SectionKind::Preferences, max_entries);
    page.limit(SectionKind::Knowledge, max_entries);
    for memory in page.checked_for_more(memories.important(&["preference"], 16), 16) {
        page.add_memory(&memory, factor);
    }
    for fact in page.checked_for_more(memories.knowledge(16), 16) {
        let raw = match &fact.file {
            // A convention says itself what it is about: "Tests: `make test`".
            _ if fact.kind == "convention" => StoredText::from(fact.content.clone()),
            Some(file) => StoredText::from(format!("{}: {} (`{}`)", capitalized(&fact.kind), fact.content, page.path(file))),
            None => StoredText::from(format!("{}: {}", capitalized(&fact.kind), fact.content)),
        };
        page.add(SectionKind::Knowledge, Entry::new(&raw, 0.6 * factor).with_key(&fact.content));
    }
    for memory in page.checked_for_more(memories.important(&["discovery"], 12), 12) {
        page.add_memory(&memory, factor);
    }
}

fn capitalized(word: &str) -> String {
    let word = word.replace('_', " ");
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
