//! Computes the session's notes from the state at its current end.

mod answered;
mod attributes;
mod confirmed;
mod denied;
mod given;
mod last_steps;
mod line;
mod outcome;
mod overtaken;
mod parts;
mod pending;

use self::answered::with_passages;
use self::attributes::attributes;
use self::line::{MIN_REST_CHARS, as_sentence, without};
use self::outcome::{Outcome, outcome};
use self::parts::with_parts;
use self::pending::{expected, pending};
use super::memories::SessionMemory;
use super::prose;
use super::state::State;
use super::tasks::Status;
use crate::bindings::throughline::policy::types::{Decision, Discovery, SessionNotes};
use crate::text;

/// The maximum number of entries in each list.
const MAX_ENTRIES: usize = 40;

/// Returns the notes of a session whose last turn is closed.
pub(super) fn notes(state: &State) -> SessionNotes {
    let open_points = state.open_points.items();
    let outcome = without_repeated(state, with_passages(state, outcome(state)), &open_points);
    let attributes = attributes(state, &outcome);
    let end = with_refusal(state, outcome.end, &attributes);
    let asked_in: Vec<usize> = outcome.results.iter().map(|it| it.turn).collect();
    let results: Vec<String> = outcome.results.into_iter().map(|it| it.line).collect();
    let tasks = |status: Status| -> Vec<String> { state.tasks.with_status(status).map(str::to_owned).collect() };
    let notes = state.rewritten.corrected(SessionNotes {
        original_request: format!("{}{}", state.request_in_full(), about_request(state)),
        current_objective: if state.objective == state.request { String::new() } else { state.objective.clone() },
        outcome: end,
        started: state.started,
        ended: state.ended,
        turns: state.turns,
        done: last(if results.is_empty() { tasks(Status::Done) } else { results }),
        current: last(tasks(Status::Current)),
        pending: last(pending(state, open_points)),
        decisions: decisions(state),
        discoveries: discoveries(state),
        learnings: lines(state, &["error_fix", "learning"]),
        preferences: lines(state, &["preference", "correction"]),
        changes: state.files.changes(),
        commits: state.commits.clone(),
        blockers: state.blockers.clone(),
        errors: state.failures.errors(state.turns),
        attributes,
    });
    with_parts(state, notes, &asked_in)
}

/// Adds that the user refused the plan, unless that is told with the request for it: that a plan is written is not the end then.
fn with_refusal(state: &State, end: String, attributes: &[(String, String)]) -> String {
    match state.undone.refusal(state.labels()) {
        Some(refusal) if attributes.iter().all(|(_, value)| !value.contains(&refusal)) => {
            format!("{end} {}", as_sentence(&refusal)).trim_start().to_owned()
        }
        _ => end,
    }
}

/// Removes from the outcome what the notes tell elsewhere: what is open, which is told as left undone, and causes of failures, which are
/// told with their fixes.
fn without_repeated(state: &State, mut outcome: Outcome, open_points: &[String]) -> Outcome {
    let mut elsewhere = state.admissions.clone();
    elsewhere.extend(Some(state.cause_open.clone()).filter(|said| !said.is_empty()));
    elsewhere.extend(open_points.iter().cloned());
    elsewhere.extend(text::sentences(state.recap.state()));
    let causes = of_kinds(state, &["error_fix"]).flat_map(|memory| text::sentences(&memory.why));
    elsewhere.extend(causes.filter(|it| it.len() >= MIN_REST_CHARS));
    if let Some(expected) = expected(state) {
        elsewhere.push(expected.to_owned());
        elsewhere.extend(text::sentences(&outcome.end).into_iter().filter(|it| prose::claims_deployment(it)));
    }
    let label = state.labels().before_change;
    outcome.end = without(&outcome.end, &elsewhere, label);
    for result in &mut outcome.results {
        result.line = without(&result.line, &elsewhere, label);
    }
    outcome
}

fn of_kinds<'s>(state: &'s State, kinds: &'static [&'static str]) -> impl Iterator<Item = &'s SessionMemory> {
    state.memories.live().filter(|memory| kinds.contains(&memory.kind.as_str()))
}

/// Returns the memories of these kinds, one a line.
fn lines(state: &State, kinds: &'static [&'static str]) -> Vec<String> {
    let line = |memory: &SessionMemory| match memory.content.as_str() {
        "" => memory.told(&memory.title).into_owned(),
        content => text::one_line(&memory.told(content)),
    };
    of_kinds(state, kinds).map(line).collect()
}

fn decisions(state: &State) -> Vec<Decision> {
    let decision = |memory: &SessionMemory| Decision {
        what: format!("{}{}", memory.title, memory.beside),
        why: memory.why.clone(),
        rejected: memory.rejected.clone(),
    };
    of_kinds(state, &["decision"]).map(decision).collect()
}

fn discoveries(state: &State) -> Vec<Discovery> {
    let discovery = |memory: &SessionMemory| Discovery {
        file: memory.files.first().cloned().unwrap_or_default(),
        insight: memory.told(&memory.title).into_owned(),
        at: memory.source.at,
    };
    of_kinds(state, &["discovery"]).map(discovery).collect()
}

/// Returns what stands behind the first request: the title of the issue or pull request that it is about. May be empty.
fn about_request(state: &State) -> String {
    let turn = state.results.turns().iter().find(|turn| turn.asked == state.request).map_or(1, |turn| turn.number);
    let meant = state.references.meant(&state.request, turn).filter(|_| !state.request.is_empty());
    meant.map(|meant| format!(" ({meant})")).unwrap_or_default()
}

fn last(mut list: Vec<String>) -> Vec<String> {
    let more = list.len().saturating_sub(MAX_ENTRIES);
    list.drain(..more);
    list
}
