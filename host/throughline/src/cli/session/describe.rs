//! Says in one line what a session is about and how it ended.

use crate::cli::output;
use throughline_store::KnownSession;

/// Returns what the session is about, in one line: its objective, else its first request, else its summary.
pub(super) fn title(session: &KnownSession) -> String {
    let notes = session.record.notes.as_ref();
    let texts = [
        notes.map(|notes| notes.current_objective.as_str()),
        notes.map(|notes| notes.original_request.as_str()),
        session.first_prompt.as_deref(),
        Some(session.record.summary.as_str()),
    ];
    let first = |text: &str| text.lines().map(output::clean_line).find(|line| !line.is_empty());
    texts.into_iter().flatten().find_map(first).unwrap_or_default()
}

/// Returns the outcome in one line; empty if unknown.
pub(super) fn outcome(session: &KnownSession) -> String {
    let outcome = session.record.notes.as_ref().map_or("", |notes| notes.outcome.as_str());
    outcome.lines().map(output::clean_line).find(|line| !line.is_empty()).unwrap_or_default()
}
