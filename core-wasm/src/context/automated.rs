//! Tells the sessions of programs from those of people. A program asks once and reads the answer itself. No person goes on with such a
//! session, and a project may have dozens of them a day.

use super::attributes::later_requests;
use super::later::MAX_SESSIONS;
use super::memories::Memories;
use crate::bindings::throughline::policy::types::{SessionNotes, SessionRecord};
use crate::text;

/// The number of the newest sessions that are read if programs may have held some of them.
const MAX_READ: u32 = 60;

/// The length of the beginning that the prompts of one program have in common, in bytes.
const SAME_BYTES: usize = 60;

/// How a prompt begins that tells the agent who it is.
const ROLES: [&str; 8] = ["You are ", "You're ", "Act as ", "당신은 ", "너는 ", "あなたは", "你是", "您是"];

/// Returns the newest sessions that a person held, at most [`MAX_SESSIONS`] and the newest first. If there are no others, it returns those of
/// programs.
pub(super) fn sessions_of_people(memories: &dyn Memories) -> Vec<SessionRecord> {
    let newest = memories.sessions(MAX_SESSIONS);
    if !newest.iter().any(may_be_automated) {
        return newest;
    }
    let all = memories.sessions(MAX_READ);
    let mut of_people: Vec<SessionRecord> = all.iter().filter(|record| !is_automated(record, &all)).cloned().collect();
    of_people.truncate(newest.len());
    if of_people.is_empty() { newest } else { of_people }
}

/// Returns whether a program held a session: the answer is data or empty, or another session of a program begins with the same words.
fn is_automated(record: &SessionRecord, all: &[SessionRecord]) -> bool {
    let is_asked_again = || {
        let is_same = |other: &SessionRecord| other.id != record.id && opening(other) == opening(record);
        all.iter().any(|other| is_same(other) && may_be_automated(other))
    };
    let gives_only_data = |notes: &SessionNotes| notes.outcome.trim().is_empty() || is_data(&notes.outcome);
    may_be_automated(record) && (record.notes.as_ref().is_some_and(gives_only_data) || is_asked_again())
}

/// Returns whether a session has one prompt and changed nothing, and the prompt gives the agent a role or the answer is data.
fn may_be_automated(record: &SessionRecord) -> bool {
    record.notes.as_ref().is_some_and(|notes: &SessionNotes| {
        let is_one_answer = notes.changes.is_empty() && notes.commits.is_empty() && later_requests(notes).is_empty();
        let gives_role = || ROLES.iter().any(|opening| notes.original_request.trim_start().starts_with(opening));
        is_one_answer && (gives_role() || is_data(&notes.outcome))
    })
}

/// Returns the beginning of a session's first prompt, of at most [`SAME_BYTES`] bytes.
fn opening(record: &SessionRecord) -> &str {
    text::head(record.notes.as_ref().map_or("", |notes| notes.original_request.trim_start()), SAME_BYTES)
}

/// Returns whether an answer is a JSON object, or a list of objects.
fn is_data(answer: &str) -> bool {
    let answer = answer.trim_start();
    answer.starts_with("{\"") || answer.starts_with("[{\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings::throughline::policy::types::Change;
    use crate::context::overtaken::tests::empty_notes;

    fn record(id: &str, asked: &str, outcome: &str) -> SessionRecord {
        let notes = SessionNotes { original_request: asked.to_owned(), outcome: outcome.to_owned(), ..empty_notes() };
        let (summary, topics, files) = Default::default();
        SessionRecord { id: id.to_owned(), started: None, ended: None, summary, topics, files, notes: Some(notes) }
    }

    #[test]
    fn a_program_wants_data_or_asks_again() {
        let judge = "You are the judge of a till. Say whether the slip of the day before is worth a line";
        let is_automated = |all: &[SessionRecord]| is_automated(&all[0], all);
        assert!(is_automated(&[record("1", "Count the slips", "{\"slips\": 4}")]));
        assert!(is_automated(&[record("1", judge, "")]), "it got no answer");
        assert!(is_automated(&[record("1", judge, "It is."), record("2", judge, "It is not.")]));
        assert!(!is_automated(&[record("1", judge, "It is."), record("2", "Count the slips", "4")]));
        assert!(!is_automated(&[record("1", "Count the slips", "4"), record("2", "Count the slips", "5")]));
    }

    #[test]
    fn who_changes_files_or_asks_more_is_no_program() {
        let judge = "You are the judge of a till";
        let with = |change: fn(&mut SessionNotes)| {
            let mut record = record("1", judge, "");
            change(record.notes.as_mut().unwrap());
            is_automated(&record, &[])
        };
        assert!(with(|_| {}));
        assert!(!with(|notes| notes.changes.push(Change { path: "till.rs".to_owned(), added: 1, removed: 0 })));
        assert!(!with(|notes| notes.commits.push("Count".to_owned())));
        assert!(!with(|notes| notes.attributes.push(("later-request".to_owned(), "and the drawer?".to_owned()))));
    }
}
