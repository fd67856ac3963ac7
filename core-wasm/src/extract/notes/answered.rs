//! Answers for the requests of which nothing else is told.

use super::denied::is_denied;
use super::outcome::{Outcome, result};
use crate::extract::requests;
use crate::extract::state::State;
use crate::text;

/// The length from which an answer says something to whoever was not there, in characters.
const MIN_CHARS: usize = 40;

/// Adds to each request that is told without a result the passage with which its answer opens.
pub(super) fn with_passages(state: &State, mut outcome: Outcome) -> Outcome {
    let turns = state.results.turns();
    let before_end = outcome.results.len() - outcome.since;
    let (mut before, mut since) = (outcome.results, Vec::new());
    since.extend(before.drain(before_end..));
    let told = &outcome.told;
    let asked = asked_in(state);
    for &at in &asked {
        let is_part_told = told.iter().any(|&of| turns[of].number == turns[at].number);
        if is_part_told || is_answered_later(state, at, told, &asked) || needs_none(state, at) {
            continue;
        }
        let passage = state.results.passage(at, state.labels());
        if passage.chars().count() < MIN_CHARS {
            continue;
        }
        let results = if outcome.end_of.is_some_and(|end| at > end) { &mut since } else { &mut before };
        let place = results.partition_point(|it| it.turn < at);
        results.insert(place, result(state, at, at, &passage));
    }
    outcome.since = since.len();
    before.extend(since);
    outcome.results = before;
    outcome
}

/// Returns the places of the turns of which the request is told, ascending.
fn asked_in(state: &State) -> Vec<usize> {
    let turns = state.results.turns();
    let first = turns.iter().position(|turn| turn.asked == state.request);
    let latest = requests::latest_with_turn(state).map(|(at, _)| at);
    let mut all: Vec<usize> = requests::later(state).into_iter().map(|(at, _)| at).chain(first).chain(latest).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Returns whether what a turn was asked is answered by what is told of a later one: the user only agreed to what was proposed for it, or
/// asked for it again, so that only the later request is told. `asked` are the turns of which the request is told.
fn is_answered_later(state: &State, at: usize, told: &[usize], asked: &[usize]) -> bool {
    let turns = state.results.turns();
    let words = text::features(&turns[at].asked);
    let is_same = |later: usize| {
        turns[at].asked != state.request
            && text::similarity(&text::features(&turns[later].asked), &words) >= requests::SAME_REQUEST
    };
    let only_agrees = |later: usize| later == at + 1 && turns[later].consents && !asked.contains(&later);
    told.iter().any(|&later| later > at && (only_agrees(later) || is_same(later)))
}

/// Returns whether nothing is to be told of what came of a request: the tools say it, the turn was cut short, or what came of it did not
/// stay.
fn needs_none(state: &State, at: usize) -> bool {
    let turns = state.results.turns();
    let turn = &turns[at];
    // What was changed in another way right after it is told with the next request.
    let is_replaced = || turn.edited && turn.disputed && !is_denied(turns, at);
    turn.is_chore
        || turn.is_unfinished
        || turn.is_refused
        || turn.is_taken_back
        // What the user only said something against is told: mostly that is the next wish, and no denial.
        || turn.conceded
        || turn.reverted
        || is_replaced()
        || requests::only_praises(&turn.asked)
        || (turn.committed && requests::asks_record(turn, &turn.asked))
}
