//! What held only on the way, in answers of turns that changed nothing, once a later turn changed files: how the code was that was
//! changed, rows of tables, where a branch stood, and guesses.

use super::turn_result::TurnResult;
use super::{Place, Results};
use crate::extract::signs;
use crate::extract::statement::{self, Form, Statement, Voice};
use crate::text;

impl Results {
    /// Leaves out the turns of which half of what is told held only on the way. Of the others everything stays: a sentence says little
    /// without those around it. Returns what is left, and the places of the turns left out.
    pub(super) fn without_passing(&self, mut chosen: Vec<Place>) -> (Vec<Place>, Vec<usize>) {
        let passing = self.passing();
        let mut dropped = Vec::new();
        for at in 0..self.turns.len() {
            let chars = |counts: &dyn Fn(&Place) -> bool| -> usize {
                let own = chosen.iter().filter(|place| place.0 == at && counts(place));
                own.map(|&(turn, number)| &self.turns[turn].statements[number])
                    .filter(|it| it.is_of_agent())
                    .map(|it| it.text.chars().count())
                    .sum()
            };
            let (gone, all) = (chars(&|place| passing.contains(place)), chars(&|_| true));
            if gone > 0 && 2 * gone >= all {
                dropped.push(at);
            }
        }
        chosen.retain(|(of, _)| !dropped.contains(of));
        (chosen, dropped)
    }

    /// Returns what held only on the way to the last work.
    fn passing(&self) -> Vec<Place> {
        let last = self.turns.iter().rposition(|turn| turn.edited).unwrap_or(0);
        let mut all = Vec::new();
        for (at, turn) in self.without_work().filter(|(at, _)| *at < last) {
            let is_guessing = asks_to_confirm(turn);
            let is_passing = |it: &Statement| {
                let lower = it.text.to_lowercase();
                it.is_of_agent()
                    && (it.is_worked_on
                        || (it.form == Form::Row && !stays_open(&it.heading))
                        || is_branch_state(&lower)
                        || ((is_guessing || supposes(&lower) || is_to_do(&lower)) && !signs::tells_limit(&lower)))
            };
            let own = turn.statements.iter().enumerate().filter(|(_, it)| is_passing(it));
            all.extend(own.map(|(number, _)| (at, number)));
        }
        all
    }
}

/// Returns whether an answer ends with the question whether it is so: "Is that what happened?"
fn asks_to_confirm(turn: &TurnResult) -> bool {
    const SIGNS: [&str; 8] = [
        "is that what",
        "does this match",
        "does that match",
        "is there a specific",
        "could it be",
        "do you remember",
        "is that the case",
        "does that sound",
    ];
    let last = turn.statements.iter().rfind(|it| it.voice == Voice::Answer);
    last.is_some_and(|it| statement::is_question(&it.text) && text::contains_any(&it.text.to_lowercase(), &SIGNS))
}

/// Returns whether a sentence in lower case only supposes something.
pub(super) fn supposes(lower: &str) -> bool {
    const WORDS: [&str; 12] = [
        "most likely",
        "probably",
        "might have",
        "could have",
        "may have",
        "could happen",
        "not 100% sure",
        "my guess",
        "possibly",
        "i suspect",
        "아마",
        "おそらく",
    ];
    text::contains_any_words(lower, &WORDS)
}

/// Returns whether a heading stands above what is left to do.
fn stays_open(heading: &str) -> bool {
    text::contains_any_words(&heading.to_lowercase(), &["remaining", "left", "open", "todo", "남은", "残", "剩余"])
}

/// Returns whether a sentence in lower case says what would have to be done.
fn is_to_do(lower: &str) -> bool {
    const WORDS: [&str; 11] = [
        "just need to",
        "just needs to",
        "we need to",
        "needs to be added",
        "need to add",
        "should verify",
        "would be added",
        "could simplify",
        "i'd lean",
        "i'd put",
        "would go in",
    ];
    text::contains_any_words(lower, &WORDS)
}

/// Returns whether a sentence in lower case says where a branch stood.
fn is_branch_state(lower: &str) -> bool {
    const WORDS: [&str; 9] = [
        "up to date with",
        "up-to-date with",
        "merge base",
        "commits ahead",
        "commit ahead",
        "commits behind",
        "commit behind",
        "new commits on",
        "working tree is clean",
    ];
    text::contains_any(lower, &WORDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passing(answer: &str) -> usize {
        let turn = |answer: &str, edited: bool| TurnResult {
            statements: statement::statements(answer, Voice::Answer),
            edited,
            ..TurnResult::default()
        };
        let mut results = Results::default();
        results.push(turn(answer, false));
        results.push(turn("The till rounds the total.", true));
        results.passing().len()
    }

    #[test]
    fn tables_branches_and_guesses_pass() {
        assert_eq!(passing("| Shop | Till |\n|---|---|\n| North | two |\n| South | three |"), 2);
        assert_eq!(passing("The branch is up to date with `origin/main`."), 1);
        assert_eq!(passing("The drawer was probably open. The till rings twice."), 1);
        assert_eq!(passing("The drawer was open. The till rang twice. Is that what happened?"), 3);
        assert_eq!(passing("The drawer opens twice."), 0);
        assert_eq!(passing("## Remaining\n\n| Shop | Till |\n|---|---|\n| North | two |"), 0);
    }

    #[test]
    fn an_answer_goes_or_stays_whole() {
        let turn = |answer: &str, edited: bool| TurnResult {
            statements: statement::statements(answer, Voice::Answer),
            edited,
            ..TurnResult::default()
        };
        let mut results = Results::default();
        results.push(turn("`addTax` adds the tax. The slip is long.", false));
        results.push(turn("The till rounds the total.", true));
        results.mark_worked_on(|said, _| said.contains("addTax"));
        assert_eq!(results.without_passing(vec![(0, 0), (0, 1), (1, 0)]), (vec![(1, 0)], vec![0]));
        results.mark_worked_on(|said, _| said.contains("slip"));
        assert_eq!(results.without_passing(vec![(0, 0), (0, 1), (1, 0)]), (vec![(0, 0), (0, 1), (1, 0)], vec![]));
    }
}
