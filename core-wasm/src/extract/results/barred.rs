//! What is never told, whatever it scores.

use super::turn_result::{TurnResult, is_lead};
use crate::extract::prose;
use crate::extract::signs;
use crate::extract::standing;
use crate::extract::statement::{self, Form, Statement, Voice};
use crate::text;

/// The minimum score of what the agent said while it was still changing files.
const MIN_WORK_SCORE: f32 = 0.0;
/// The weight of the signs of a cause from which a problem is worth telling after it was mended.
pub(super) const MIN_CAUSE: u8 = 2;

/// Returns whether a statement is never told: it says nothing, it was said on the way, or it held only until a later turn. With the
/// answer that ends the session nothing comes later, so that it is only barred for saying nothing.
pub(super) fn is_barred(statement: &Statement, turn: &TurnResult, later_turns: usize, score: f32) -> bool {
    let lower = text::lower(&statement.text);
    let is_end = later_turns == 0 && statement.voice == Voice::Answer && !turn.is_refused && !turn.is_unfinished;
    says_nothing(statement, &lower)
        || (!is_end
            && (is_of_the_way(statement, turn, &lower, score)
                || ((later_turns > 0 || statement.voice == Voice::Work) && is_of_its_time(statement, turn, &lower))))
}

/// Returns whether a statement is no result: the human's words, which are told as the request, a question, or a hope.
fn says_nothing(statement: &Statement, lower: &str) -> bool {
    statement.voice == Voice::Human
        || statement::is_question(&statement.text)
        || (statement.voice != Voice::Commit && signs::is_hope(lower))
}

/// Returns whether a statement belongs to the way: praise, what the agent is about to do, a guess beside work, or a part of a plan that
/// the user turned down.
fn is_of_the_way(statement: &Statement, turn: &TurnResult, lower: &str, score: f32) -> bool {
    (turn.is_refused && !turn.edited && statement.form != Form::Sentence)
        || (signs::is_on_the_way(lower) && !tells_new_state(statement, turn, lower))
        || signs::is_praise(lower)
        || (speaks_for_it(statement) && !standing::asks_for_comparison(&turn.asked))
        // Where nothing was done, what is likely may be the answer.
        || (statement.is_of_agent() && turn.has_work() && signs::is_guess(lower))
        || (statement.voice == Voice::Work && is_passing_word(statement, turn, lower, score))
}

/// Returns whether what the agent said while it worked is no knowledge: a lead, a word beside a chore or a change, or a
/// problem without a cause, after which files were changed.
fn is_passing_word(statement: &Statement, turn: &TurnResult, lower: &str, score: f32) -> bool {
    turn.is_chore
        || (turn.edited && score < MIN_WORK_SCORE)
        || is_lead(&statement.text)
        || (statement.is_before_edit && signs::is_problem(lower) && prose::signs(lower).0 < MIN_CAUSE)
}

/// Returns whether a statement held only until the next turn: a promise, what the agent was about to do, a state that was open, a
/// proposal, or an option that the user did not choose.
fn is_of_its_time(statement: &Statement, turn: &TurnResult, lower: &str) -> bool {
    (statement.is_of_agent() && (standing::is_promise(lower) || announces(statement, lower)))
        || signs::is_open_state(lower)
        || statement.is_turned_down
        || (statement.is_proposed && !turn.has_work())
}

/// Returns whether a sentence only says what the agent does next: "Next I paint the drawer."
fn announces(statement: &Statement, lower: &str) -> bool {
    signs::is_intent(lower) && prose::is_narration(&statement.text)
}

/// Returns whether a statement praises what it speaks of: it stands below "Benefits", or behind that word.
fn speaks_for_it(statement: &Statement) -> bool {
    let label = statement.text.split_once([':', '：']).map(|(label, _)| label);
    (signs::is_praise_heading(&statement.heading) && !statement.is_behind_list)
        || label.is_some_and(signs::is_praise_heading)
}

/// Returns whether the answer of a turn with work says how it is since then: "Now the drawer opens", and not "Now let me open it".
fn tells_new_state(statement: &Statement, turn: &TurnResult, lower: &str) -> bool {
    turn.edited && statement.voice == Voice::Answer && signs::says_how_it_is_now(lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_next_is_not_told_once_it_came() {
        let is_told = |said: &str, later_turns: usize| {
            let statement = &statement::statements(said, Voice::Answer)[0];
            !is_barred(statement, &TurnResult { edited: true, ..TurnResult::default() }, later_turns, 1.0)
        };
        for said in ["Next I paint the drawer.", "Next, I paint the drawer.", "I'll paint the drawer of the till next."] {
            assert!(!is_told(said, 1) && is_told(said, 0), "{said}");
        }
        assert!(is_told("The drawer of the till is painted red.", 1));
    }
}
