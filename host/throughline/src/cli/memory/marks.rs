//! What a person said of memories, as lines for people.

use crate::cli::error::CommandError;
use crate::cli::output;
use throughline_model::contract::Memory;
use throughline_store::{Marks, Store, wrong_because};

/// Describes the marks of a memory, one line each.
pub(super) fn describe(memory: &Memory, marks: Marks) -> Vec<String> {
    let pinned = marks.pinned_at.map(|at| format!("pinned on {}", output::date(at)));
    let wrong = marks.wrong_at.map(|at| match wrong_because(&memory.attributes) {
        Some(because) => format!("marked wrong on {}: {}", output::date(at), output::clean_line(because)),
        None => format!("marked wrong on {}", output::date(at)),
    });
    pinned.into_iter().chain(wrong).collect()
}

/// Describes the marks of memories, in their order.
pub(super) fn of(store: &Store, memories: &[Memory]) -> Result<Vec<Vec<String>>, CommandError> {
    let ids: Vec<&str> = memories.iter().map(|memory| memory.id.as_str()).collect();
    let marks = store.marks(&ids)?;
    Ok(memories.iter().zip(marks).map(|(memory, marks)| describe(memory, marks)).collect())
}
