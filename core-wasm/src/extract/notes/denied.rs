//! Which results the user then said have not come about.

use super::outcome::ResultLine;
use crate::extract::human::{self, Denial};
use crate::extract::requests;
use crate::extract::results::{TurnResult, share};
use crate::extract::state::State;
use crate::extract::statement::Voice;
use crate::text;

/// The share of the words of a sentence that a turn must have said for the sentence to speak of it: of one that tells a fault, which may be
/// a new one, and of one that says that something is as it was.
const OF_TURN: f32 = 0.4;
const STILL_OF_TURN: f32 = 0.25;
/// How many words these are at least.
const MIN_SHARED: usize = 2;
/// How many sentences of the user are quoted.
const MAX_QUOTED: usize = 2;

/// Returns the places of the results of which the user said right after them that they do not help.
pub(super) fn denied(state: &State, results: &[ResultLine]) -> Vec<usize> {
    let is_denied = |result: &ResultLine| may_be_denied(state, result) && is_denied(state.results.turns(), result.turn);
    results.iter().enumerate().filter(|(_, result)| is_denied(result)).map(|(at, _)| at).collect()
}

/// Returns the places of those of which the next prompt does not begin with these words, each with the words.
pub(super) fn words_of_denials(state: &State, results: &[ResultLine]) -> Vec<String> {
    let words = |result: &ResultLine| {
        let denials: Vec<&Denial> = denials_after(state.results.turns(), result.turn).collect();
        let is_inside = denials.iter().any(|denial| !denial.opens);
        (is_inside && may_be_denied(state, result)).then(|| quoted(denials))
    };
    results.iter().enumerate().filter_map(|(at, result)| Some(format!("{at} {}", words(result)?))).collect()
}

fn may_be_denied(state: &State, result: &ResultLine) -> bool {
    !result.is_refused && !state.results.turns()[result.turn].is_taken_back
}

/// Returns whether the user said right after a turn that what it gave does not help.
pub(super) fn is_denied(turns: &[TurnResult], at: usize) -> bool {
    denials_after(turns, at).next().is_some() || next(turns, at).is_some_and(|next| human::dismisses(next.said()))
}

/// Returns in quotation marks the words by which the user said after the turn with which the session ended that what it gave does not help,
/// or told a fault in it, unless that was praised later. May be empty.
pub(super) fn words_against_end(state: &State, at: usize) -> String {
    let (turn, later) = (&state.results.turns()[at], &state.results.turns()[at + 1..]);
    if turn.is_taken_back || later.iter().any(|turn| requests::only_praises(&turn.asked)) {
        return String::new();
    }
    let next = next(state.results.turns(), at).map(|next| next.number);
    let of_turn = |later: &TurnResult| {
        let is_next = next == Some(later.number);
        later.denials.clone().into_iter().map(move |it| (it, is_next))
    };
    let unheard = state.unheard().map(|it| (it, next.is_none()));
    let later = later.iter().filter(|later| later.number != turn.number);
    let mut all: Vec<(Denial, bool)> = later.flat_map(of_turn).chain(unheard).collect();
    all.retain(|(it, is_next)| is_against(turn, it, *is_next));
    quoted(all.iter().map(|(it, _)| it).collect())
}

/// Returns a few of the sentences in quotation marks, first those that tell more than a fault.
fn quoted(mut all: Vec<&Denial>) -> String {
    all.sort_by_key(|denial| denial.is_fault);
    let all: Vec<String> = all.iter().take(MAX_QUOTED).map(|denial| text::quoted(&denial.said)).collect();
    all.join(", ")
}

/// Returns the sentences by which the user said right after a turn that what it gave has not come about.
fn denials_after(turns: &[TurnResult], at: usize) -> impl Iterator<Item = &Denial> {
    let denials = next(turns, at).map(|next| next.denials.as_slice()).unwrap_or_default();
    denials.iter().filter(move |it| !it.is_fault && is_against(&turns[at], it, true))
}

/// Returns the turn of the next prompt that says more than a word by which somebody calls the agent.
fn next(turns: &[TurnResult], at: usize) -> Option<&TurnResult> {
    turns[at + 1..].iter().find(|next| next.number != turns[at].number && !next.only_calls())
}

/// Returns whether a denial is of what a turn gave: it speaks of that, or points back to it right behind it.
fn is_against(turn: &TurnResult, denial: &Denial, is_next: bool) -> bool {
    (is_next && !denial.needs_name && points_back(&denial.said)) || speaks_of(turn, denial)
}

/// Returns whether a sentence has no subject of its own, or names what was said before by a pronoun: "still red", "that did not help". Only
/// those of English are known.
fn points_back(said: &str) -> bool {
    const PRONOUNS: [&str; 11] =
        ["it", "its", "this", "that", "these", "those", "they", "them", "none", "nothing", "neither"];
    const OPENINGS: [&str; 3] = ["still", "no", "same"];
    let lower = said.to_lowercase().replace('’', "'");
    text::language(said) != text::Language::English
        || OPENINGS.iter().any(|word| text::starts_with_words(&lower, word))
        || text::contains_any_words(&lower, &PRONOUNS)
}

/// Returns whether a denial speaks of what a turn was asked and gave: it has the words of the turn, or names an attempt. Since an attempt there
/// may be a new fault, too.
fn speaks_of(turn: &TurnResult, denial: &Denial) -> bool {
    const ATTEMPTS: [&str; 12] = [
        "attempt",
        "attempts",
        "fixes",
        "changes",
        "edits",
        "amendments",
        "the fix",
        "your fix",
        "last fix",
        "that fix",
        "your change",
        "the change",
    ];
    if !denial.is_fault && text::contains_any_words(&denial.said.to_lowercase(), &ATTEMPTS) {
        return true;
    }
    let mut known = text::features(&turn.asked);
    for it in turn.statements.iter().filter(|it| it.voice != Voice::Human) {
        known.extend(text::features(&it.text));
    }
    let words = text::features(&denial.said);
    let shared = words.iter().filter(|word| known.contains(*word)).count();
    let least = if denial.is_fault { OF_TURN } else { STILL_OF_TURN };
    shared >= MIN_SHARED.min(words.len()).max(1) && share(shared, words.len()) >= least
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(number: u32, asked: &str) -> TurnResult {
        TurnResult { number, asked: asked.to_owned(), denials: human::denials(asked), ..TurnResult::default() }
    }

    fn words(turns: &[&str]) -> String {
        let mut state = State::default();
        turns.iter().zip(1..).for_each(|(asked, number)| state.results.push(turn(number, asked)));
        words_against_end(&state, 0)
    }

    #[test]
    fn what_the_user_says_against_the_end_is_quoted() {
        let asked = "mend the bell of the till";
        assert_eq!(words(&[asked, "none of it worked, is it live?"]), "\"none of it worked, is it live?\"");
        assert_eq!(words(&[asked, "Fold the slip. The bell of the till is broken"]), "\"The bell of the till is broken\"");
        assert_eq!(
            words(&[asked, "run the shop", "the bell of the till still fails"]),
            "\"the bell of the till still fails\""
        );
        for other in ["the lamp is broken", "fold the slip", "make sure that the bell does not work"] {
            assert_eq!(words(&[asked, other]), "", "{other}");
        }
        assert_eq!(words(&[asked, "the bell of the till still fails", "that works great now"]), "");
    }

    #[test]
    fn what_is_said_of_another_thing_is_not_against_the_end() {
        let asked = "mend the bell of the till";
        for other in ["works, but the lamp is still not green", "Since those changes the lamp hangs"] {
            assert_eq!(words(&[asked, other]), "", "{other}");
        }
        for own in ["still not ringing", "it is still not green", "none of the changes helped", "아직 안 열려"] {
            assert_eq!(words(&[asked, own]), format!("\"{own}\""));
        }
    }

    #[test]
    fn a_new_fault_is_told_with_its_own_request() {
        let turns = [turn(1, "mend the bell of the till"), turn(2, "the bell of the till is broken")];
        assert!(!is_denied(&turns, 0));
        let turns = [turn(1, "mend the bell of the till"), turn(2, "that did not fix it")];
        assert!(is_denied(&turns, 0));
    }
}
