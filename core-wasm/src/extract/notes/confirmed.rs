//! Which results the user then said have come about.

use super::denied::is_denied;
use super::given::Given;
use super::outcome::ResultLine;
use crate::extract::human::{self, Confirmation};
use crate::extract::results::TurnResult;
use crate::extract::state::State;
use crate::extract::statement::Voice;
use crate::text;

/// How many later turns may stand between the work and what is said for it: somebody may first ask how to try it.
const MAX_BETWEEN: usize = 3;

/// Returns the places of the results of which the user said later that they work, each with the words if the next request does not begin
/// with them.
pub(super) fn confirmed(state: &State, results: &[ResultLine]) -> Vec<String> {
    let turns = state.results.turns();
    let line = |(at, result): (usize, &ResultLine)| {
        let (by, confirmation) = confirmation_of(turns, result.turn).filter(|_| !result.is_refused)?;
        let is_next = by == result.turn + 1;
        Some(if confirmation.opens && is_next {
            at.to_string()
        } else {
            format!("{at} {}", text::quoted(&confirmation.said))
        })
    };
    results.iter().enumerate().filter_map(line).collect()
}

/// Returns the places of the results of turns that changed files after which the agent ran nothing before it changed the next ones, unless
/// all tests passed later. None if it ran nothing at all, which is told once.
pub(super) fn untried(state: &State, results: &[ResultLine]) -> Vec<usize> {
    let all_passed = state.tests.is_some_and(|(counts, is_of_some)| counts.is_clean() && !is_of_some);
    let passed_after = |turn: &TurnResult| all_passed && turn.runs.is_some_and(|(_, last)| last < state.evidence.runs());
    let is_untried = |result: &ResultLine| {
        let turn = &state.results.turns()[result.turn];
        result.given == Given::Work
            && !turn.is_taken_back
            && !human::only_asks(&turn.asked)
            && state.evidence.has_run()
            && !passed_after(turn)
            && is_untried(state.results.turns(), result.turn, state.evidence.runs())
    };
    results.iter().enumerate().filter(|(_, result)| is_untried(result)).map(|(at, _)| at).collect()
}

/// Returns whether nothing was run between the last change of a turn and the next change of a later one, given the number of all runs.
fn is_untried(turns: &[TurnResult], at: usize, all: u32) -> bool {
    let next = || turns[at + 1..].iter().find_map(|later| later.runs).map_or(all, |(first, _)| first);
    turns[at].runs.is_some_and(|(_, last)| last == next())
}

/// Returns in quotation marks the words by which the user said that the work works with which the session ended. May be empty.
pub(super) fn words_for_end(state: &State, at: usize) -> String {
    let turns = state.results.turns();
    // What was committed is the work before it.
    let work = turns[..=at].iter().rposition(|turn| turn.edited);
    let words = |of: usize| confirmation_of(turns, of).map(|(_, it)| text::quoted(&it.said));
    words(at).or_else(|| words(work.filter(|_| turns[at].only_commits())?)).unwrap_or_default()
}

/// Returns the later turn whose prompt says that what a turn did works, and the words. Only the latest work before it is meant, and only if it
/// was of what the words name.
fn confirmation_of(turns: &[TurnResult], at: usize) -> Option<(usize, &Confirmation)> {
    let did = &turns[at];
    if !(did.has_work() || did.acted) || did.is_taken_back || is_denied(turns, at) {
        return None;
    }
    let later = turns.iter().enumerate().skip(at + 1).filter(|(_, turn)| turn.number != did.number);
    for (place, turn) in later.take(MAX_BETWEEN) {
        if let Some(confirmation) = &turn.confirmation {
            return is_of(did, &confirmation.names).then_some((place, confirmation));
        }
        if turn.has_work() || turn.acted {
            return None;
        }
    }
    None
}

/// Returns whether a turn was asked for or told all that the names say.
fn is_of(turn: &TurnResult, names: &[String]) -> bool {
    if names.is_empty() {
        return true;
    }
    let mut known = text::features(turn.said());
    known.extend(text::features(&turn.asked));
    for it in turn.statements.iter().filter(|it| it.voice != Voice::Human) {
        known.extend(text::features(&it.text));
    }
    names.iter().map(|name| text::features(name)).all(|of| !of.is_empty() && of.iter().all(|word| known.contains(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(number: u32, asked: &str, edited: bool) -> TurnResult {
        TurnResult {
            number,
            asked: asked.to_owned(),
            denials: human::denials(asked),
            confirmation: human::confirmation(asked),
            edited,
            ..TurnResult::default()
        }
    }

    fn said_for(turns: &[TurnResult], at: usize) -> Option<&str> {
        confirmation_of(turns, at).map(|(_, it)| it.said.as_str())
    }

    #[test]
    fn the_latest_work_before_the_words_is_confirmed() {
        let mended = turn(1, "mend the bell of the till", true);
        let turns = [mended.clone(), turn(2, "where do I press?", false), turn(3, "ok, it works now", false)];
        assert_eq!(said_for(&turns, 0), Some("ok, it works now"));
        assert_eq!(said_for(&turns, 1), None);
        let turns = [mended.clone(), turn(2, "paint it", true), turn(3, "ok, it works now", false)];
        assert_eq!((said_for(&turns, 0), said_for(&turns, 1)), (None, Some("ok, it works now")));
        let turns = [mended, turn(2, "it works now. It still does not ring at night", false)];
        assert_eq!(said_for(&turns, 0), None);
    }

    #[test]
    fn who_names_another_thing_confirms_nothing() {
        let mended = turn(1, "mend the bell of the till", true);
        let said = |said: &str| said_for(&[mended.clone(), turn(2, said, false)], 0).is_some();
        assert!(said("the bell works") && !said("the shop opens. Everything works now") && said("Everything works now"));
        assert!(!said("the lamp works") && !said("I opened the drawer. It works now"));
        let acted = TurnResult { acted: true, ..turn(2, "start the lamp again", false) };
        assert_eq!(said_for(&[mended, acted, turn(3, "ok, it works now", false)], 0), None);
    }

    #[test]
    fn what_nobody_ran_before_the_next_change_is_untried() {
        let turn = |runs: Option<(u32, u32)>| TurnResult { runs, ..turn(1, "mend the bell of the till", true) };
        let turns = [turn(Some((0, 2))), turn(None), turn(Some((2, 3))), turn(Some((4, 4)))];
        let untried: Vec<bool> = (0..turns.len()).map(|at| is_untried(&turns, at, 4)).collect();
        assert_eq!(untried, [true, false, false, true]);
        assert!(!is_untried(&turns, 3, 5));
    }

    #[test]
    fn the_commit_of_confirmed_work_is_confirmed() {
        let mut state = State::default();
        let commit = TurnResult { committed: true, ..turn(3, "commit", false) };
        let all = [turn(1, "mend the bell of the till", true), turn(2, "now it works", false), commit];
        for turn in all {
            state.results.push(turn);
        }
        assert_eq!(words_for_end(&state, 0), "\"now it works\"");
        assert_eq!(words_for_end(&state, 2), "\"now it works\"");
    }
}
