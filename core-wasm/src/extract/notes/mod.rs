//! Computes the session's notes from the state at its current end.

mod attributes;
mod given;
mod line;
mod outcome;
mod pending;

use self::attributes::attributes;
use self::given::Given;
use self::line::{MIN_REST_CHARS, without, without_quote};
use self::outcome::{Outcome, outcome};
use self::pending::{is_left_proposed, is_only_proposed, pending};
use super::course;
use super::references;
use super::requests;
use super::signs;
use super::standing;
use super::state::State;
use super::statement::Statement;
use super::tasks::Status;
use crate::bindings::throughline::policy::types::{Decision, Discovery, SessionNotes};
use crate::text;

/// The maximum number of entries in each list.
const MAX_ENTRIES: usize = 40;

/// Returns the notes of a session whose last turn is closed.
pub(super) fn notes(state: &State) -> SessionNotes {
    let live = || state.memories.live();
    let of = |kinds: &'static [&'static str]| live().filter(move |memory| kinds.contains(&memory.kind.as_str()));
    let lines = |kinds: &'static [&'static str]| -> Vec<String> {
        of(kinds)
            .map(|memory| match memory.content.as_str() {
                "" => memory.told(&memory.title).into_owned(),
                content => text::one_line(&memory.told(content)),
            })
            .collect()
    };
    let done: Vec<String> = state.tasks.with_status(Status::Done).map(str::to_owned).collect();
    let Outcome { end: outcome, end_of, results, since } = outcome(state);
    // What was not checked is told as left undone, and not twice.
    let mut elsewhere = state.admissions.clone();
    elsewhere.extend(Some(state.cause_open.clone()).filter(|said| !said.is_empty()));
    let open_points = state.open_points.items();
    elsewhere.extend(open_points.iter().cloned());
    elsewhere.extend(text::sentences(state.recap.state()));
    // So is the cause of a failure, which is told with its fix.
    elsewhere
        .extend(of(&["error_fix"]).flat_map(|memory| text::sentences(&memory.why)).filter(|it| it.len() >= MIN_REST_CHARS));
    let outcome = without(&outcome, &elsewhere, state.labels().before_change);
    let of_turns: Vec<usize> = results.iter().map(|(at, ..)| *at).collect();
    let told_once = |line: String| without(&line, &elsewhere, state.labels().before_change);
    let (results, given): (Vec<_>, Vec<_>) = results.into_iter().map(|(_, it, given)| (told_once(it), given)).unzip();
    let mut attributes = attributes(state, &results, &outcome);
    let about = about_request(state);
    let original_request = format!("{}{about}", course::first_request(state));
    if !about.is_empty() {
        attributes.push(("request-about".to_owned(), about));
    }
    let more = requests::others(state);
    attributes.push(("course".to_owned(), course::lines(state, &more, &of_turns, end_of)));
    let more: Vec<String> = more.into_iter().map(|(_, asked)| asked).collect();
    if !more.is_empty() {
        attributes.push(("more-requests".to_owned(), more.join("\n")));
    }
    let is_told = |filed: &String| filed.split_once(' ').is_some_and(|(key, _)| references::has_key(&outcome, key));
    let filed: Vec<String> = state.references.filed().filter(|filed| !is_told(filed)).collect();
    if !filed.is_empty() {
        attributes.push(("filed".to_owned(), filed.join("\n")));
    }
    if is_only_proposed(state, &outcome) {
        attributes.push(("end".to_owned(), "proposed".to_owned()));
    }
    if results.is_empty() && !done.is_empty() {
        // Where the session has an end, that tells what the tasks of its list name.
        attributes.push(("done".to_owned(), "tasks".to_owned()));
    }
    let left_out = results.len().saturating_sub(MAX_ENTRIES);
    for (name, kind) in [("found", Given::Finding), ("documented", Given::Document)] {
        let own = given[left_out..].iter().enumerate().filter(|(_, given)| **given == kind);
        let own: Vec<String> = own.map(|(at, _)| at.to_string()).collect();
        if !own.is_empty() {
            attributes.push((name.to_owned(), own.join(" ")));
        }
    }
    let before_work = before_work(state, &results, &of_turns, &given, left_out);
    if !before_work.is_empty() {
        attributes.push(("found-before-work".to_owned(), before_work.join(" ")));
    }
    if since > 0 {
        attributes.push(("since".to_owned(), since.to_string()));
        if results.last().is_some_and(|said| is_left_proposed(&state.open_question, said)) {
            attributes.push(("since-proposed".to_owned(), "yes".to_owned()));
        }
    }
    let removed: Vec<String> = state.files.removed().map(|at| at.to_string()).collect();
    if !removed.is_empty() {
        attributes.push(("removed-files".to_owned(), removed.join(" ")));
    }
    state.rewritten.corrected(SessionNotes {
        original_request,
        current_objective: if state.objective == state.request { String::new() } else { state.objective.clone() },
        outcome,
        started: state.started,
        ended: state.ended,
        turns: state.turns,
        done: last(if results.is_empty() { done } else { results }),
        current: last(state.tasks.with_status(Status::Current).map(str::to_owned).collect()),
        pending: last(pending(state, open_points)),
        decisions: of(&["decision"])
            .map(|memory| Decision {
                what: format!("{}{}", memory.title, memory.beside),
                why: memory.why.clone(),
                rejected: memory.rejected.clone(),
            })
            .collect(),
        discoveries: of(&["discovery"])
            .map(|memory| Discovery {
                file: memory.files.first().cloned().unwrap_or_default(),
                insight: memory.told(&memory.title).into_owned(),
                at: memory.source.at,
            })
            .collect(),
        learnings: lines(&["error_fix", "learning"]),
        preferences: lines(&["preference", "correction"]),
        changes: state.files.changes(),
        commits: state.commits.clone(),
        blockers: state.blockers.clone(),
        errors: state.failures.errors(state.turns),
        attributes,
    })
}

/// Returns the places of the results that were only found before files were changed for what they speak of, without the first `left_out`:
/// a later turn worked on the code that they name, or speaks of the fault that they tell. How something works stands.
/// What an answer says was done is none, nor is that of a turn which may have done something beside files.
fn before_work(state: &State, results: &[String], of: &[usize], given: &[Given], left_out: usize) -> Vec<String> {
    let turns = state.results.turns();
    let is_before = |turn: usize| turns[turn + 1..].iter().any(|later| later.edited && !later.is_taken_back);
    let is_found = |at: &usize| {
        let tells_deed = || {
            let said = text::sentences(&without_quote(&results[*at]).to_lowercase()).into_iter().next().unwrap_or_default();
            [" - ", " — "].iter().any(|mark| said.split(mark).any(standing::is_own_deed))
        };
        let is_same_work = !state.results.holds(of[*at]);
        let is_past = |it: &Statement| it.is_worked_on || (is_same_work && tells_state(&it.text));
        let is_told = |it: &&Statement| results[*at].contains(&it.text);
        let is_overtaken = || is_before(of[*at]) && turns[of[*at]].statements.iter().filter(is_told).any(is_past);
        given[*at] == Given::Finding && !turns[of[*at]].acted && is_overtaken() && !tells_deed()
    };
    (left_out..results.len()).filter(is_found).map(|at| (at - left_out).to_string()).collect()
}

/// Returns whether a statement tells what was wrong, missing or so at that moment, and not only how something works.
fn tells_state(said: &str) -> bool {
    let lower = said.to_lowercase();
    signs::is_problem(&lower) || signs::finds_fault(&lower) || standing::is_current_state(&lower)
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
