//! How a session ended without an answer: what the agent found on the way, what it ran, and with what the client stopped.

use super::line::as_sentence;
use super::outcome::Outcome;
use crate::extract::prose;
use crate::extract::results::TurnResult;
use crate::extract::signs;
use crate::extract::state::State;
use crate::extract::statement::{Form, Statement};

/// The number of findings that are told, and the length of each from which it says something and up to which it is told, in characters.
const MAX_FOUND: usize = 2;
const MIN_FOUND_CHARS: usize = 20;
const MAX_FOUND_CHARS: usize = 220;

/// Returns how the session ended, as far as the outcome does not tell it: what the agent found and ran for a request that has no answer, and
/// the error with which the client stopped. May be empty.
pub(super) fn last_steps(state: &State, outcome: &Outcome) -> String {
    let last = state.results.turns().last().filter(|turn| turn.number == state.turns && turn.used_tools);
    let mut items = match last.filter(|_| state.undone.has_unanswered()) {
        Some(turn) => steps(state, turn, outcome),
        None => Vec::new(),
    };
    if !state.client_error.is_empty() {
        items.push(as_sentence(&state.labels().client_error.replace("{}", &state.client_error)));
    }
    items.join(" ")
}

/// Returns what the agent found and ran in a turn without an answer, one sentence each.
fn steps(state: &State, turn: &TurnResult, outcome: &Outcome) -> Vec<String> {
    let labels = state.labels();
    let told = |said: &str| outcome.end.contains(said) || outcome.results.iter().any(|it| it.line.contains(said));
    let found = findings(&turn.statements);
    let found: Vec<String> = found.into_iter().filter(|said| !told(said)).map(as_sentence).collect();
    let ran = ran(state, turn);
    let (edited, is_known) = edits(state.results.turns(), turn.number);
    // What was edited is told with its findings.
    if edited && ran.is_empty() {
        return Vec::new();
    }
    let mut items = found[found.len().saturating_sub(MAX_FOUND)..].to_vec();
    items.extend((!ran.is_empty()).then(|| as_sentence(&labels.last_ran.replace("{}", &ran.join(", ")))));
    if !items.is_empty() && !edited && is_known {
        items.push(as_sentence(labels.nothing_edited));
    }
    items
}

/// Returns whether a file was edited for a request, and whether nothing else may have changed one. What the user says to it divides its turn.
fn edits(turns: &[TurnResult], number: u32) -> (bool, bool) {
    let mut parts = turns.iter().filter(|turn| turn.number == number);
    (parts.clone().any(|turn| turn.edited), parts.all(|turn| turn.acts.are_known()))
}

/// Returns what the agent found on the way. With its first words it only announces what it is about to do.
fn findings(statements: &[Statement]) -> Vec<&str> {
    let own: Vec<&Statement> = statements.iter().filter(|it| it.is_of_agent()).collect();
    let later = own.windows(2).position(|pair| pair[1].place <= pair[0].place).map_or(own.len(), |at| at + 1);
    let mut found: Vec<&str> = own[later..].iter().filter(|it| is_finding(it)).map(|it| it.text.as_str()).collect();
    found.dedup();
    found
}

/// Returns the commands that may have changed something, and those among them that have no result.
fn ran(state: &State, turn: &TurnResult) -> Vec<String> {
    let code = |command: &String| format!("`{command}`");
    let mut all: Vec<String> = turn.acts.commands().iter().map(code).collect();
    for command in state.begun_acts() {
        all.push(format!("{} ({})", code(&command), state.labels().no_result));
    }
    all
}

/// Returns whether a statement says what was found: a sentence that announces nothing and guesses nothing.
fn is_finding(it: &Statement) -> bool {
    let lower = it.text.to_lowercase();
    it.form == Form::Sentence
        && !it.is_proposed
        && (MIN_FOUND_CHARS..=MAX_FOUND_CHARS).contains(&it.text.chars().count())
        && !it.text.ends_with([':', '：', '?', '？'])
        && !prose::is_narration(&it.text)
        && !prose::is_filler(&it.text)
        && !signs::is_intent(&lower)
        && !signs::is_guess(&lower)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::statement::{Voice, statements};

    #[test]
    fn what_was_found_on_the_way_is_told() {
        let said =
            |texts: &[&str]| -> Vec<Statement> { texts.iter().flat_map(|said| statements(said, Voice::Work)).collect() };
        let all = said(&[
            "The drawer of the night till sticks. I will look at it.",
            "The lock of the drawer is set by the day till. Let me open it:",
            "The bell might be too loud for the drawer.",
        ]);
        assert_eq!(findings(&all), ["The lock of the drawer is set by the day till."]);
        assert!(findings(&said(&["The drawer of the night till sticks."])).is_empty());
    }

    #[test]
    fn what_was_edited_before_the_user_said_more_was_edited_for_the_request() {
        let turn = |number: u32, edited: bool| TurnResult { number, edited, ..TurnResult::default() };
        assert_eq!(edits(&[turn(1, true), turn(2, false)], 2), (false, true));
        assert_eq!(edits(&[turn(2, true), turn(2, false)], 2), (true, true));
    }
}
