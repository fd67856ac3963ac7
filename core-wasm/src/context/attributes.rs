//! Reads what the notes of a session say in their named attributes.

use super::line;
use crate::bindings::throughline::policy::types::{SessionNotes, SessionRecord};
use crate::text;

/// The maximum length of a commit's hash, in characters.
const MAX_HASH_CHARS: usize = 12;
/// The width below which a result says too little for a line of its own.
pub(super) const MIN_RESULT_WIDTH: usize = 60;

/// Returns the value of an attribute, if the notes have it.
pub(super) fn attribute<'a>(notes: &'a SessionNotes, name: &str) -> Option<&'a str> {
    notes.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// Returns the places in a list of the notes that an attribute names.
pub(super) fn places(notes: &SessionNotes, name: &str) -> impl Iterator<Item = usize> {
    attribute(notes, name).into_iter().flat_map(|places| places.split(' ')).filter_map(|place| place.parse().ok())
}

/// Returns whether the session saw that the pull request of that number is merged.
pub(super) fn saw_merged(notes: &SessionNotes, number: &str) -> bool {
    has_number(notes, "merged", number)
}

/// Returns whether the pull request of that number was a draft when the session last saw it.
pub(super) fn is_draft(notes: &SessionNotes, number: &str) -> bool {
    has_number(notes, "drafts", number)
}

/// Returns whether the session closed the pull request of that number without a merge.
pub(super) fn was_closed(notes: &SessionNotes, number: &str) -> bool {
    has_number(notes, "closed", number)
}

fn has_number(notes: &SessionNotes, name: &str, number: &str) -> bool {
    attribute(notes, name).is_some_and(|all| all.split(' ').any(|known| known == number))
}

/// Returns what the user asked for after the first request, in its order.
pub(super) fn later_requests(notes: &SessionNotes) -> Vec<String> {
    let of = |name: &str| attribute(notes, name).into_iter().flat_map(str::lines);
    // The latest stands where it was asked if another one came after it.
    let latest = of("later-request").filter(|latest| of("more-requests").all(|asked| asked != *latest));
    of("more-requests").chain(latest).map(line::sanitize).collect()
}

/// Returns whether the session had a result, or left something unfinished.
pub(super) fn has_result(record: &SessionRecord) -> bool {
    let Some(notes) = &record.notes else {
        return !record.summary.trim().is_empty();
    };
    let learned = [&notes.done, &notes.commits, &notes.learnings, &notes.preferences];
    !notes.outcome.is_empty()
        || !notes.changes.is_empty()
        || !notes.decisions.is_empty()
        || learned.iter().any(|list| !list.is_empty())
        || is_unfinished(notes)
}

/// Returns whether there is a request or a summary to tell.
pub(super) fn has_words(record: &SessionRecord) -> bool {
    let asked = record.notes.as_ref().is_some_and(|notes| !notes.original_request.trim().is_empty());
    asked || !record.summary.trim().is_empty()
}

/// Returns the short hash of a commit, if git printed it.
pub(super) fn hash<'a>(notes: &'a SessionNotes, commit: &str) -> Option<&'a str> {
    let at = notes.commits.iter().position(|known| known == commit)?;
    let hash = attribute(notes, "commit-hashes")?.split(' ').nth(at)?;
    (hash != "-").then(|| text::head(hash, MAX_HASH_CHARS))
}

/// Returns whether the session left something unfinished.
pub(super) fn is_unfinished(notes: &SessionNotes) -> bool {
    [&notes.current, &notes.pending, &notes.errors, &notes.blockers].iter().any(|list| !list.is_empty())
}
