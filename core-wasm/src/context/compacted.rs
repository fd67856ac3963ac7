//! The page of a session whose context was compacted: what the session knew before.

use super::changed_files::add_files;
use super::later::LaterSessions;
use super::new_session::{add_joined, add_learned, add_outcome, add_recap, add_saved, by_recency};
use super::page::{Entry, Label, Page, SectionKind, discovery, is_routine};
use super::{Memories, add_standing};
use crate::bindings::exports::throughline::policy::context_builder::Request;
use crate::bindings::throughline::policy::types::SessionNotes;

/// The line below the heading.
pub(super) const INTRO: &str =
    "What was saved of this session before its context was compacted. The user and the code have the last word.";

/// Builds the page of a session that lost its context except for a summary.
pub(super) fn page(request: &Request, memories: &dyn Memories) -> Page {
    let mut page = Page::new(&request.session.root);
    page.limit(SectionKind::Decisions, 12);
    page.limit(SectionKind::WatchOut, 12);
    let stored = memories.of_session(&request.session.id, &[], 100);
    add_saved(&mut page, SectionKind::ThisSession, &stored);
    if let Some(notes) = memories.session(&request.session.id).and_then(|record| record.notes) {
        session(&mut page, &notes);
        for (importance, found) in by_recency(0.6, &notes.discoveries) {
            let text = discovery(&page.path(&found.file), &found.insight);
            page.add(SectionKind::Discoveries, Entry::new(&text, importance).with_key(&found.insight));
        }
        add_learned(&mut page, &notes, &stored);
    }
    // The context now starts with the summary that the agent wrote of itself.
    for memory in stored.iter().filter(|memory| memory.kind != "compact_summary" && !is_routine(memory)) {
        page.add_memory(memory, 1.0);
    }
    add_standing(&mut page, memories, 5, 0.5, &LaterSessions::of(&[]));
    page
}

fn session(page: &mut Page, notes: &SessionNotes) {
    page.add(SectionKind::ThisSession, Entry::session_line(Label::Goal, &notes.original_request, 1.0));
    page.add(SectionKind::ThisSession, Entry::session_line(Label::Now, &notes.current_objective, 1.0));
    add_recap(page, SectionKind::ThisSession, notes);
    add_outcome(page, SectionKind::ThisSession, &Label::SoFar.into(), notes);
    add_files(page, SectionKind::ThisSession, notes);
    add_joined(page, SectionKind::ThisSession, Label::Blockers, &notes.blockers);
    add_joined(page, SectionKind::ThisSession, Label::OpenErrors, &notes.errors);
    let lists =
        [(Label::Done, &notes.done, 0.55), (Label::InProgress, &notes.current, 0.9), (Label::Pending, &notes.pending, 0.9)];
    for (label, items, importance) in lists {
        for (importance, item) in by_recency(importance, items) {
            page.add(SectionKind::Progress, Entry::result_line(label, item, importance));
        }
    }
}
