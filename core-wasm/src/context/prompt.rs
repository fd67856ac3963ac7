//! The page for a prompt: the memories that its search found.

use super::line;
use super::page::{Entry, Page, SectionKind, memory_text};
use crate::bindings::exports::throughline::policy::context_builder::Request;

/// The line below the heading.
pub(super) const INTRO: &str =
    "Memories that match this prompt. They may be outdated: the user and the code have the last word.";

/// The maximum length in UTF-16 units. It is small because the text is added to every prompt.
pub(super) const MAX_UNITS: usize = 2_000;

/// Builds the page of the search results, best first.
pub(super) fn page(request: &Request) -> Page {
    let mut page = Page::new(&request.session.root);
    for (memory, rank) in request.found.iter().zip(0_u8..20) {
        let day = line::day(memory.created).map_or_else(String::new, |day| format!(" {day}"));
        let line = format!("[{}]{day} {}: {}", memory.id, memory.kind, memory_text(memory));
        // The search knows better than the memory's importance what matters here.
        page.add(SectionKind::Found, Entry::from_memory(memory, &line, 1.0).with_importance(1.0 - f32::from(rank) / 100.0));
    }
    page
}
