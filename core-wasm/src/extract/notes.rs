//! Computes the session's notes from the state at its current end.

use super::state::{State, TurnResult};
use super::tasks::Status;
use crate::bindings::throughline::policy::types::{Decision, Discovery, SessionNotes};
use crate::text::{self, Language};

/// The maximum number of entries in each list.
const MAX_ENTRIES: usize = 40;

/// Returns the notes of a session whose last turn is closed.
pub(super) fn notes(state: &State) -> SessionNotes {
    let live = || state.memories.live();
    let of = |kinds: &'static [&'static str]| live().filter(move |memory| kinds.contains(&memory.kind.as_str()));
    let lines = |kinds: &'static [&'static str]| -> Vec<String> {
        of(kinds)
            .map(|memory| if memory.content.is_empty() { memory.title.clone() } else { text::one_line(&memory.content) })
            .collect()
    };
    let done: Vec<String> = state.tasks.with_status(Status::Done).map(str::to_owned).collect();
    let results = || state.results.iter().filter(|result| !result.open).map(|result| result.result.clone()).collect();
    let mut pending: Vec<String> = state.tasks.with_status(Status::Pending).map(str::to_owned).collect();
    if !state.open_question.is_empty() {
        pending.push(format!("{}: {}", state.labels().open_question, state.open_question));
    }
    SessionNotes {
        original_request: state.request.clone(),
        current_objective: if state.objective == state.request { String::new() } else { state.objective.clone() },
        outcome: outcome(state),
        started: state.started,
        ended: state.ended,
        turns: state.turns,
        done: last(if done.is_empty() { results() } else { done }),
        current: last(state.tasks.with_status(Status::Current).map(str::to_owned).collect()),
        pending: last(pending),
        decisions: of(&["decision"])
            .map(|memory| Decision {
                what: memory.title.clone(),
                why: memory.why.clone(),
                rejected: memory.rejected.clone(),
            })
            .collect(),
        discoveries: of(&["discovery"])
            .map(|memory| Discovery {
                file: memory.files.first().cloned().unwrap_or_default(),
                insight: memory.title.clone(),
                at: memory.source.at,
            })
            .collect(),
        learnings: lines(&["error_fix", "learning"]),
        preferences: lines(&["preference", "correction"]),
        changes: state.files.changes(),
        commits: state.commits.clone(),
        blockers: state.blockers.clone(),
        errors: state.failures.errors(state.turns),
        attributes: attributes(state),
    }
}

/// Returns the outcome in at most three sentences: the results that changed files, otherwise the results that report
/// something.
fn outcome(state: &State) -> String {
    let edited: Vec<&TurnResult> = state.results.iter().filter(|result| result.edited).collect();
    let answered: Vec<&TurnResult> = state.results.iter().filter(|result| !result.open).collect();
    let results =
        [edited, answered].into_iter().find(|list| !list.is_empty()).unwrap_or_else(|| state.results.iter().collect());
    let Some((first, rest)) = results.split_first() else {
        return String::new();
    };
    let checked = rest.last().map_or(first.checked.as_str(), |latest| latest.checked.as_str());
    let mut sentences = vec![first.result.as_str()];
    sentences
        .extend(rest.iter().rev().take(if checked.is_empty() { 2 } else { 1 }).rev().map(|result| result.result.as_str()));
    if !checked.is_empty() {
        sentences.push(checked);
    }
    sentences
        .into_iter()
        .map(|sentence| as_sentence(&with_test_count(state, &text::clip(sentence, 260))))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Adds the number of tests to "All tests pass", if their last full run reported it.
fn with_test_count(state: &State, sentence: &str) -> String {
    match state.tests {
        Some((tests, false)) if tests.failed == 0 && tests.passed > 1 => {
            ["all", "All"].iter().fold(sentence.to_owned(), |sentence, all| {
                sentence.replacen(&format!("{all} tests pass"), &format!("{all} {} tests pass", tests.passed), 1)
            })
        }
        _ => sentence.to_owned(),
    }
}

/// Ends the line with a full stop.
fn as_sentence(line: &str) -> String {
    if line.ends_with(['.', '!', '。', '！', '…', '?', '？']) { line.to_owned() } else { format!("{line}.") }
}

fn last(mut list: Vec<String>) -> Vec<String> {
    let more = list.len().saturating_sub(MAX_ENTRIES);
    list.drain(..more);
    list
}

fn attributes(state: &State) -> Vec<(String, String)> {
    let language = match state.language() {
        Language::English => "en",
        Language::Korean => "ko",
        Language::Japanese => "ja",
        Language::Chinese => "zh",
    };
    let mut all = vec![("language".to_owned(), language.to_owned())];
    if !state.model.is_empty() {
        all.push(("model".to_owned(), state.model.clone()));
    }
    if let Some((tests, _)) = state.tests {
        all.push(("tests".to_owned(), tests.verdict()));
    }
    if !state.branch.is_empty() {
        all.push(("branch".to_owned(), state.branch.clone()));
    }
    if !state.title.is_empty() {
        all.push(("title".to_owned(), state.title.clone()));
    }
    all
}
