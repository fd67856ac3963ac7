//! What a session is told of itself after its context was compacted.

use super::line;
use super::page::{Entry, Page, Part, discovery};
use super::past::{files, joined, learned, outcome, ranked, saved};
use super::{Memories, standing};
use crate::bindings::exports::throughline::policy::context_builder::Request;
use crate::bindings::throughline::policy::types::SessionNotes;

/// The line under the heading.
pub const INTRO: &str =
    "What was saved of this session before its context was compacted. The user and the code have the last word.";

/// The page of a session that lost its context but for a summary.
pub fn page(request: &Request, memories: &dyn Memories) -> Page {
    let mut page = Page::new(&request.session.root);
    page.limit(Part::Decisions, 12);
    page.limit(Part::WatchOut, 12);
    let stored = memories.of_session(&request.session.id, &[], 100);
    saved(&mut page, Part::ThisSession, &stored);
    if let Some(notes) = memories.session(&request.session.id).and_then(|record| record.notes) {
        session(&mut page, &notes);
        for (importance, found) in ranked(0.6, &notes.discoveries) {
            let text = discovery(&page.path(&found.file), &found.insight);
            page.add(Part::Discoveries, Entry::new(&text, importance).also(&found.insight));
        }
        learned(&mut page, &notes, &stored);
    }
    // The summary that the agent wrote of itself is what its context begins with now.
    for memory in stored.iter().filter(|memory| memory.kind != "compact_summary") {
        page.remember(memory, 1.0);
    }
    standing(&mut page, memories, 5, 0.5);
    page
}

fn session(page: &mut Page, notes: &SessionNotes) {
    page.add(Part::ThisSession, Entry::labelled("Goal", &notes.original_request, 1.0));
    page.add(Part::ThisSession, Entry::labelled("Now", &notes.current_objective, 1.0));
    outcome(page, Part::ThisSession, "So far", notes);
    files(page, Part::ThisSession, notes);
    joined(page, Part::ThisSession, "Blockers", &notes.blockers);
    joined(page, Part::ThisSession, "Open errors", &notes.errors);
    let lists = [("Done", &notes.done, 0.55), ("In progress", &notes.current, 0.9), ("Pending", &notes.pending, 0.9)];
    for (label, items, importance) in lists {
        for (importance, item) in ranked(importance, items) {
            page.add(Part::Progress, Entry::labelled(label, &line::safe(item), importance));
        }
    }
}
