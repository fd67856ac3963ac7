//! What the agent said before a later turn ended it: plans and steps, what was wrong before the user had it mended, and counts of tests.

use super::barred::MIN_CAUSE;
use super::turn_result::{TurnResult, share_of};
use super::{Place, Results};
use crate::extract::prose;
use crate::extract::signs;
use crate::extract::standing;
use crate::extract::statement::{self, Form, Statement, Voice};
use crate::text;

/// The share of its names that the turn with the work must say again for a statement to be about the same.
const SAME_WORK: f32 = 0.5;
/// The share of its names or words that the turn must say again that did what was offered.
const SAME_SUBJECT: f32 = 0.3;

impl Results {
    /// Returns what the agent said that a later turn ended. What it found out of a cause stands.
    pub(super) fn superseded(&self) -> Vec<Place> {
        let last_count = self.turns.iter().rposition(|turn| turn.statements.iter().any(counts_checks));
        let mut all = Vec::new();
        for (at, turn) in self.turns.iter().enumerate() {
            let later = &self.turns[at + 1..];
            let work = later.iter().find(|later| has_work(later)).filter(|_| !has_work(turn));
            let plan = work.filter(|work| work.carries_plan || turn.is_refused).map(TurnResult::names);
            let is_first = !self.turns[..at].iter().any(has_work);
            let taken_up = later.first().filter(|next| !has_work(turn) && takes_up(next));
            let is_recounted = last_count.is_some_and(|last| last > at);
            let is_over = |it: &Statement| {
                plan.as_ref().is_some_and(|work| is_of_plan(it, turn, work, is_first))
                    || taken_up.is_some_and(|next| is_fault(it, next))
                    || (!has_work(turn)
                        && is_step(it)
                        && later.iter().any(|later| has_work(later) && has_subject(it, later)))
                    || (is_recounted && counts_checks(it))
            };
            let is_said = |it: &Statement| matches!(it.voice, Voice::Work | Voice::Answer);
            let numbers = (0..turn.statements.len()).filter(|&number| is_said(&turn.statements[number]));
            all.extend(numbers.filter(|&number| is_over(&turn.statements[number])).map(|number| (at, number)));
        }
        all
    }
}

/// Returns whether a turn changed something.
fn has_work(turn: &TurnResult) -> bool {
    turn.edited || turn.committed
}

/// Returns whether a turn did what the answer before it offered.
fn takes_up(turn: &TurnResult) -> bool {
    let tells_cure = |it: &Statement| it.voice == Voice::Answer && standing::says_mended(&it.text.to_lowercase());
    turn.consents && (turn.edited || (turn.used_tools && turn.statements.iter().any(tells_cure)))
}

/// Returns whether a statement says what a plan would do. The work that carried the plan out, with these names, says it better.
///
/// Before the first work, what reads as a deed is a part of the plan. Later it may be done.
fn is_of_plan(statement: &Statement, turn: &TurnResult, work: &[u32], is_first: bool) -> bool {
    let lower = statement.text.to_lowercase();
    let is_same = || share_of(&statement::names(&statement.text), |name| work.contains(name)) >= SAME_WORK;
    let is_proposed_deed = is_first && standing::is_deed(&lower);
    prose::signs(&lower).0 < MIN_CAUSE && (turn.is_refused || is_proposed_deed || is_same())
}

/// Returns whether a statement says what was missing or too old, or what should be done about something of which the next turn speaks.
fn is_fault(statement: &Statement, next: &TurnResult) -> bool {
    let lower = statement.text.to_lowercase();
    // The label of a row may begin like that.
    let is_missing = || statement.form != Form::Row && signs::lacks_something(&lower);
    (is_missing() || (signs::advises(&lower) && has_subject(statement, next)))
        && !standing::says_mended(&lower)
        && prose::signs(&lower).0 < MIN_CAUSE
}

/// Returns whether a statement says what to do: "Add a field to the slip".
fn is_step(statement: &Statement) -> bool {
    matches!(statement.form, Form::Item | Form::Heading) && signs::is_imperative(&statement.text.to_lowercase())
}

/// Returns whether a turn speaks of what a statement is about.
fn has_subject(statement: &Statement, turn: &TurnResult) -> bool {
    let (names, words) = (turn.names(), turn.words());
    share_of(&statement::names(&statement.text), |name| names.contains(name)) >= SAME_SUBJECT
        || share_of(&text::features(&statement.text), |word| words.contains(word)) >= SAME_SUBJECT
}

/// Returns whether a statement of the agent says how many tests pass. A later run counts anew.
fn counts_checks(statement: &Statement) -> bool {
    const PASSES: [&str; 7] = ["pass", "passes", "passed", "passing", "green", "0 failures", "0 fail"];
    let lower = statement.text.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let is_count = |pair: &[&str]| is_number(pair[0]) && matches!(pair[1], "test" | "tests");
    matches!(statement.voice, Voice::Work | Voice::Answer)
        && words.windows(2).any(is_count)
        && PASSES.iter().any(|word| text::contains_words(&lower, word))
}
