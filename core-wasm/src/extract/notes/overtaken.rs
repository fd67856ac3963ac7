//! Which findings are overtaken by the work that came after them.

use super::given::Given;
use super::line::without_quote;
use super::outcome::ResultLine;
use crate::extract::human;
use crate::extract::results::{TurnResult, is_dismissed};
use crate::extract::signs;
use crate::extract::standing;
use crate::extract::state::State;
use crate::extract::statement::Statement;
use crate::text;

/// Returns the places of the results that were only found before files were changed for what they speak of: a later turn worked on the code
/// that they name, or speaks of the fault that they tell. How something works stands.
/// What an answer says was done is none, nor is that of a turn which may have done something beside files.
pub(super) fn before_work(state: &State, results: &[ResultLine]) -> impl Iterator<Item = usize> {
    let turns = state.results.turns();
    let is_before = |turn: usize| turns[turn + 1..].iter().any(|later| later.edited && !later.is_taken_back);
    let is_overtaken = move |result: &ResultLine| {
        let turn = &turns[result.turn];
        let is_same_work = !state.results.holds(result.turn);
        let is_past = |it: &Statement| it.is_worked_on || (is_same_work && tells_state(&it.text));
        let is_told = |it: &&Statement| result.line.contains(&it.text);
        result.given == Given::Finding
            && !turn.acted
            && is_before(result.turn)
            && turn.statements.iter().filter(is_told).any(is_past)
            && !tells_deed(&result.line)
    };
    results.iter().enumerate().filter(move |(_, result)| is_overtaken(result)).map(|(place, _)| place)
}

/// Returns whether the user turned down the result of a turn that built nothing: right after it, or later by the name of the idea.
pub(super) fn is_refused(state: &State, at: usize, line: &str) -> bool {
    let turns = state.results.turns();
    if turns[at].built || turns[at].committed {
        return false;
    }
    let words = text::features(line);
    let names = |later: &TurnResult| {
        let idea = human::dismissed_idea(later.said()).map(|idea| text::features(&idea)).unwrap_or_default();
        !idea.is_empty() && idea.iter().all(|word| words.contains(word))
    };
    is_dismissed(turns, at) || turns[at + 1..].iter().take_while(|later| !later.built).any(names)
}

/// Returns whether the first sentence of a result says what the agent did.
fn tells_deed(line: &str) -> bool {
    let said = text::sentences(&without_quote(line).to_lowercase()).into_iter().next().unwrap_or_default();
    [" - ", " — "].iter().any(|mark| said.split(mark).any(standing::is_own_deed))
}

/// Returns whether a statement tells what was wrong, missing or so at that moment, and not only how something works.
fn tells_state(said: &str) -> bool {
    let lower = said.to_lowercase();
    signs::is_problem(&lower) || signs::finds_fault(&lower) || standing::is_current_state(&lower)
}
