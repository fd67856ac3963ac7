//! Reads what the notes of a session say in their named attributes.

use super::line;
use crate::bindings::throughline::policy::types::SessionNotes;

/// Returns the value of an attribute, if the notes have it.
pub(super) fn attribute<'a>(notes: &'a SessionNotes, name: &str) -> Option<&'a str> {
    notes.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// Returns the places in a list of the notes that an attribute names.
pub(super) fn places(notes: &SessionNotes, name: &str) -> impl Iterator<Item = usize> {
    attribute(notes, name).into_iter().flat_map(|places| places.split(' ')).filter_map(|place| place.parse().ok())
}

/// Returns what the user asked for after the first request, in its order.
pub(super) fn later_requests(notes: &SessionNotes) -> Vec<String> {
    let of = |name: &str| attribute(notes, name).into_iter().flat_map(str::lines);
    // The latest stands where it was asked if another one came after it.
    let latest = of("later-request").filter(|latest| of("more-requests").all(|asked| asked != *latest));
    of("more-requests").chain(latest).map(line::sanitize).collect()
}
