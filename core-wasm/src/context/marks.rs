//! What a reader must know of a memory beside its text: that the user did not say it, and what makes it doubtful.

use super::line;
use crate::bindings::throughline::policy::types::Memory;
use crate::said_by::SaidBy;

/// Follows a preference that an agent saved: what stands there may come from a page that the agent read, so it must not pass for
/// the user's own word.
const NOTED_BY_AGENT: &str = "noted by the agent, not in the user's words";

/// Says what the marks mean, after the line below the heading of a page that has any.
pub(super) const MEANING: &str = " \"by agent\" and \"by tool\" mark what the user did not say.";

/// The share of its weight that a doubtful memory keeps. It is still told, because a file may only have moved.
const DOUBTFUL: f32 = 0.85;

/// The most files that a mark names.
const MAX_FILES: usize = 2;

/// The most characters of a path in a mark.
const MAX_PATH_CHARS: usize = 80;

/// Returns what marks a memory on a page of many. A learning is the agent's as a rule, so it has no mark of who said it.
pub(super) fn of(memory: &Memory) -> Vec<String> {
    let said_by = SaidBy::mark(memory).and_then(|word| match (memory.kind.as_str(), word) {
        ("preference", "agent") => Some(NOTED_BY_AGENT.to_owned()),
        ("learning", _) => None,
        _ => Some(format!("by {word}")),
    });
    said_by.into_iter().chain(of_files(memory)).collect()
}

/// The attributes by which the host says what became of a file that a memory is about, and how that is told of one file and of
/// several.
const FILE_MARKS: [(&str, &str, &str); 3] = [
    ("gone-file", "is gone", "are gone"),
    ("missing-file", "is not there", "are not there"),
    ("changed-file", "has changed since", "have changed since"),
];

/// Returns what became of the files that the memory is about, if they are not as they were.
pub(super) fn of_files(memory: &Memory) -> Vec<String> {
    let mark = |&(attribute, one, several): &(&str, &str, &str)| {
        let with_it = memory.attributes.iter().filter(|(name, _)| name == attribute).map(|(_, path)| path);
        let paths: Vec<String> =
            with_it.take(MAX_FILES).map(|path| line::truncate(&line::sanitize(path), MAX_PATH_CHARS)).collect();
        let became = if paths.len() == 1 { one } else { several };
        (!paths.is_empty()).then(|| format!("{} {became}", paths.join(", ")))
    };
    FILE_MARKS.iter().filter_map(mark).collect()
}

/// Returns the share of its weight that the memory keeps.
pub(super) fn share(memory: &Memory) -> f32 {
    let is_doubt = |name: &str| FILE_MARKS.iter().any(|(attribute, ..)| *attribute == name);
    if memory.attributes.iter().any(|(name, _)| is_doubt(name)) { DOUBTFUL } else { 1.0 }
}

/// Returns whether the marks say that somebody else than the user said it.
pub(super) fn name_speaker(marks: &[String]) -> bool {
    marks.iter().any(|mark| mark.starts_with("by "))
}

/// Returns the marks in parentheses, with a space before them. Empty if there are none.
pub(super) fn in_parentheses(marks: &[String]) -> String {
    if marks.is_empty() { String::new() } else { format!(" ({})", marks.join("; ")) }
}
