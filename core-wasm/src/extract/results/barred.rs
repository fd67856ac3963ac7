//! What is never told, whatever it scores.

use super::turn_result::{TurnResult, is_lead};
use crate::extract::human;
use crate::extract::prose;
use crate::extract::signs;
use crate::extract::standing;
use crate::extract::statement::{self, Form, Statement, Voice};
use crate::text;

/// The minimum score of a human's statement that gives no rule and corrects nothing, in an earlier turn.
const MIN_HUMAN_SCORE: f32 = 0.0;
/// The minimum score of what the agent said while it was still changing files.
const MIN_WORK_SCORE: f32 = 0.0;
/// The minimum score of an item that says what was changed in a file: the list of files tells the most of it.
const MIN_NOTE_SCORE: f32 = -0.3;
/// The weight of the signs of a cause from which a problem is worth telling after it was mended.
pub(super) const MIN_CAUSE: u8 = 2;
/// The length above which a prompt is not the human's own words, in characters.
const MAX_OWN_PROMPT_CHARS: u32 = 1_200;

/// Returns whether a statement is never told by itself.
pub(super) fn is_barred(statement: &Statement, turn: &TurnResult, later_turns: usize, score: f32) -> bool {
    is_barred_anywhere(statement, turn, later_turns, score) || points_back(statement, turn)
}

/// Returns whether a statement says of what it speaks only by what stands before it: "It is also faster".
pub(super) fn points_back(statement: &Statement, turn: &TurnResult) -> bool {
    let lower = text::lower(&statement.text);
    if statement.voice == Voice::Answer && !turn.has_work() && signs::explains_deed(&lower) {
        return true;
    }
    statement.voice != Voice::Human
        && prose::is_pointer(&lower)
        && (statement.heading.is_empty() || signs::is_clause_heading(&statement.heading))
        && !tells_change(statement, &lower)
        && !(turn.opens_answer(statement) && tells_how_it_stands(turn, &lower))
}

/// Returns whether a statement is never told, whatever stands before it: a question, a guess, praise, narration, pasted code,
/// or a state that was open before a later turn.
pub(super) fn is_barred_anywhere(statement: &Statement, turn: &TurnResult, later_turns: usize, score: f32) -> bool {
    let lower = text::lower(&statement.text);
    let is_past = later_turns > 0 || statement.voice == Voice::Work;
    if statement.voice == Voice::Human {
        // A long prompt is a plan or pasted text: it says what was to be done, not what was.
        // A rule is told as a rule. What the last turn asked for is told as the request.
        // So does the report of a reviewer, of which one line says how grave its finding is.
        let is_report = |it: &Statement| it.voice == Voice::Human && standing::is_graded_finding(&it.text.to_lowercase());
        let is_pasted_report = standing::is_graded_finding(&turn.asked.to_lowercase());
        if turn.prompt_chars > MAX_OWN_PROMPT_CHARS || is_pasted_report || turn.statements.iter().any(is_report) {
            return true;
        }
        let is_choice = || human::declares_choice(&statement.text);
        let counts = score >= MIN_HUMAN_SCORE || human::is_correction(&statement.text) || is_choice();
        let is_asked = later_turns == 0 && (turn.asked.contains(statement.text.as_str()) || !is_choice());
        let is_told = is_asked || human::is_rule(&statement.text);
        if !counts || is_told {
            return true;
        }
    }
    statement::is_question(&statement.text)
        || (statement.voice != Voice::Human && signs::only_admits(&statement.text))
        || (turn.is_refused && !turn.edited && statement.voice != Voice::Human && statement.form != Form::Sentence)
        || (signs::is_on_the_way(&lower) && !tells_new_state(statement, turn, &lower))
        || (statement.form == Form::Item && signs::is_place_of_change(&lower))
        || (statement.form == Form::Item && score < MIN_NOTE_SCORE && prose::is_change_note(&lower))
        || signs::is_state_before(&lower, &statement.heading)
        || (turn.edited && statement.voice == Voice::Work && score < MIN_WORK_SCORE)
        || (statement.voice == Voice::Work && (signs::is_intent(&lower) || turn.is_chore))
        || (statement.voice == Voice::Work && turn.edited && statement.form == Form::Heading)
        || (statement.is_before_edit && signs::says_what_to_change(&statement.heading.to_lowercase()))
        || (statement.voice != Voice::Human && prose::is_open_heading(&statement.heading))
        || (statement.voice != Voice::Human && speaks_for_it(statement) && !standing::asks_for_comparison(&turn.asked))
        || (statement.is_before_edit && turn.committed && signs::is_failing(&lower))
        || (statement.is_before_edit
            && statement.voice == Voice::Work
            && signs::is_problem(&lower)
            && prose::signs(&lower).0 < MIN_CAUSE)
        || (statement.voice != Voice::Commit && signs::is_guess(&lower))
        || (statement.is_of_agent() && standing::is_null_report(&lower))
        || (is_past && statement.is_of_agent() && standing::is_promise(&lower))
        || (is_past && signs::is_open_state(&lower))
        || (is_past
            && statement.voice != Voice::Commit
            && [&lower, &statement.heading.to_lowercase()].iter().any(|it| standing::is_numbered_option(it)))
        || (is_past && (signs::is_offer(&lower) || signs::is_proposals(&statement.heading)))
        || (is_past && statement.is_proposed && !turn.has_work())
        || (is_past && statement.form == Form::Row && signs::is_open_row(&lower))
        || signs::is_praise(&lower)
        || (statement.form == Form::Item && lists_checks(statement, turn, &lower))
        || ((is_past || !turn.ends_answer(statement)) && standing::is_progress(&lower))
        || (statement.voice == Voice::Work && (is_lead(&statement.text) || prose::is_narration(&statement.text)))
        || (statement.voice == Voice::Human
            && (signs::is_code(&statement.text) || signs::is_output(&statement.text) || signs::names_only(&statement.text)))
}

/// Returns whether an item only says that a check holds, and the answer says something else as well. What was not checked, or fails, is
/// news.
fn lists_checks(item: &Statement, turn: &TurnResult, lower: &str) -> bool {
    signs::is_check_heading(&item.heading)
        && !signs::is_problem(lower)
        && !signs::is_failing(lower)
        && !standing::says_missing(lower)
        && turn.statements.iter().any(|it| it.voice == Voice::Answer && it.form == Form::Item && it.heading != item.heading)
}

/// Returns whether a statement praises what it speaks of: it stands below "Benefits", or behind that word.
pub(super) fn speaks_for_it(statement: &Statement) -> bool {
    let label = statement.text.split_once([':', '：']).map(|(label, _)| label);
    (signs::is_praise_heading(&statement.heading) && !statement.is_behind_list)
        || label.is_some_and(signs::is_praise_heading)
}

/// Returns whether the answer of a turn with work says how it is since then: "Now the drawer opens", and not "Now let me open it".
fn tells_new_state(statement: &Statement, turn: &TurnResult, lower: &str) -> bool {
    turn.edited && statement.voice == Voice::Answer && signs::says_how_it_is_now(lower)
}

/// Returns whether a sentence in lower case tells what became of what was asked for: "It now detects the locale", "It's working now".
fn tells_how_it_stands(turn: &TurnResult, lower: &str) -> bool {
    (turn.edited && signs::opens_with_effect(lower)) || (turn.acted && standing::says_mended(lower))
}

/// Returns whether an answer says by name what the fix or the change is: it points to nothing before it.
fn tells_change(statement: &Statement, lower: &str) -> bool {
    let opens = ["the fix ", "the change "].iter().any(|opening| lower.starts_with(opening));
    opens && statement.voice == Voice::Answer && !statement::names(&statement.text).is_empty()
}
