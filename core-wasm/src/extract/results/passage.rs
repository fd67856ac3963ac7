//! The passage with which an answer opens, for a request of which nothing else is told.

use super::answers::{answer, is_of_same_block};
use super::choice::MIN_ANSWER_CHARS;
use super::line::Said;
use super::turn_result::{TurnResult, is_lead};
use super::{Place, Results};
use crate::extract::labels::Labels;
use crate::extract::prose;
use crate::extract::signs;
use crate::extract::standing;
use crate::extract::statement::{self, Form, Statement};
use crate::text;

/// The maximum length of a passage, in characters, and of one that was found before later work.
const MAX_CHARS: usize = 480;
const MAX_PAST_CHARS: usize = 280;
/// The number of words from which a sentence to the user says something of the work.
const MIN_TELLING_WORDS: usize = 6;

impl Results {
    /// Returns the first passages of the answer of the turn `at`: whole sentences and items, with its verdict if that stands further
    /// down. Empty if there is no answer, or nothing of it fits.
    pub(in crate::extract) fn passage(&self, at: usize, labels: &Labels) -> String {
        let turn = &self.turns[at];
        let is_past = !turn.has_work() && !self.holds(at) && self.turns[at + 1..].iter().any(|later| later.edited);
        let numbers = passage(turn, if is_past { MAX_PAST_CHARS } else { MAX_CHARS });
        if numbers.is_empty() { String::new() } else { turn.line(numbers.into_iter(), &Said::of([].iter()), labels) }
    }

    /// Adds the sentence with which an answer opens to the answers that hold and are told without it: what follows was said after it.
    pub(super) fn with_openings(&self, mut chosen: Vec<Place>, overtaken: &[Place]) -> Vec<Place> {
        for at in 0..self.turns.len() {
            let turn = &self.turns[at];
            let is_told = |number: &usize| chosen.contains(&(at, *number));
            let all = answer(turn);
            let Some(first) = all.iter().position(is_told).filter(|_| self.holds(at)) else { continue };
            // One that was dropped does not hold.
            let is_kept = |(place, number): (usize, &usize)| usize::from(turn.statements[*number].place) == place;
            let mut before = all[..first].iter().copied();
            let opening = before.find(|&number| opens(turn, number)).map(|number| (at, number));
            let is_known = |&(_, number): &Place| self.is_known(at, number, &chosen);
            if all[..first].iter().enumerate().all(is_kept)
                && let Some(place) = opening.filter(|place| !overtaken.contains(place) && !is_known(place))
            {
                chosen.push(place);
            }
        }
        chosen.sort_unstable();
        chosen
    }
}

/// Returns the places of the statements of a passage of at most so many characters, ascending.
fn passage(turn: &TurnResult, max_chars: usize) -> Vec<usize> {
    let all = answer(turn);
    // What opens an answer may point to what was asked. Without its opening, the rest of it says not of what it speaks.
    let points_back = |number: &usize| turn.statements[*number].place > 0 && points_back(&turn.statements[*number]);
    let told: Vec<usize> = all.iter().copied().filter(|&number| tells(turn, number)).skip_while(points_back).collect();
    let is_kept = |(place, number): (usize, &usize)| usize::from(turn.statements[*number].place) == place;
    if !all.iter().enumerate().take_while(|(_, number)| Some(*number) <= told.first()).all(is_kept) {
        return Vec::new();
    }
    let chars = |number: usize| turn.statements[number].text.chars().count();
    let verdict = told.iter().copied().find(|&number| turn.is_verdict(number));
    let mut left = max_chars - verdict.map_or(0, |number| chars(number).min(max_chars));
    let mut passage: Vec<usize> = Vec::new();
    let mut last: Option<usize> = None;
    for &number in told.iter().filter(|number| Some(**number) != verdict) {
        let goes_on = last.is_none_or(|last| {
            let (last, next) = (&turn.statements[last], &turn.statements[number]);
            is_lead(&last.text) || is_of_same_block(last, next)
        });
        if chars(number) > left || (!goes_on && 2 * left < max_chars) {
            break;
        }
        left -= chars(number);
        passage.push(number);
        last = Some(number);
    }
    // What leads to a list says nothing without it.
    while passage.last().is_some_and(|&last| is_lead(&turn.statements[last].text)) {
        passage.pop();
    }
    passage.extend(verdict);
    passage.sort_unstable();
    passage
}

/// Returns whether a statement opens an answer: it says something of what was asked, and not only what passed or was committed.
fn opens(turn: &TurnResult, number: usize) -> bool {
    let it = &turn.statements[number];
    tells(turn, number)
        && matches!(it.form, Form::Sentence)
        && !is_lead(&it.text)
        && it.text.chars().count() >= MIN_ANSWER_CHARS
        && prose::checked(&it.text).is_none()
        && !standing::is_numbered_option(&it.heading.to_lowercase())
        && (it.place == 0 || !points_back(it))
}

/// Returns whether a statement of an answer says something to whoever was not there.
fn tells(turn: &TurnResult, number: usize) -> bool {
    let it = &turn.statements[number];
    let lower = it.text.to_lowercase();
    it.form != Form::Heading
        // How the code was that a later turn changed.
        && !it.is_worked_on
        && !it.is_turned_down
        && !prose::is_filler(&it.text)
        // That there is nothing is an answer.
        && (!prose::is_narration(&it.text) || text::starts_with_words(&lower, "nothing"))
        && !statement::is_question(&it.text)
        && !signs::is_offer(&lower)
        && !signs::is_intent(&lower)
        && !signs::is_guess(&lower)
        && (!signs::addresses_reader(&lower) || says_much(&it.text))
}

/// Returns whether a sentence to the user says more than "your call".
fn says_much(said: &str) -> bool {
    !statement::names(said).is_empty() || text::features(said).len() >= MIN_TELLING_WORDS
}

/// Returns whether a statement says of what it speaks only by what stands before it: "It is also faster".
fn points_back(statement: &Statement) -> bool {
    statement.heading.is_empty() && prose::is_pointer(&text::lower(&statement.text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::labels;
    use crate::extract::statement::Voice;
    use text::Language;

    fn told(answer: &str, is_overtaken: bool) -> String {
        let mut results = Results::default();
        let statements = statement::statements(answer, Voice::Answer);
        results.push(TurnResult { statements, is_objected: is_overtaken, ..TurnResult::default() });
        results.push(TurnResult { edited: true, ..TurnResult::default() });
        results.passage(0, labels::labels(Language::English))
    }

    #[test]
    fn a_passage_is_the_opening_of_the_answer() {
        let answer = "Good question! The bell of the night till rings twice, because it has two clappers.\n\nTwo parts are worn:\n- The \
                      lock\n- The lamp\n\nShall I mend them?";
        let opening = "The bell of the night till rings twice, because it has two clappers.";
        assert_eq!(told(answer, false), format!("{opening} Two parts are worn: The lock; The lamp"));
    }

    #[test]
    fn a_passage_has_whole_sentences_and_ends_early_if_it_is_overtaken() {
        let answer = "The drawer of the night till counts each coin twice at noon. ".repeat(12);
        let sentences = |is_overtaken: bool| told(&answer, is_overtaken).matches("noon.").count();
        assert!(sentences(false) > sentences(true) && sentences(true) > 1);
    }

    #[test]
    fn an_answer_is_not_told_without_its_opening() {
        let mut results = Results::default();
        let answer = "Nothing rings twice in the night till of the shop. The day till has two clappers. One of them is red.";
        let statements = statement::statements(answer, Voice::Answer);
        results.push(TurnResult { statements, ..TurnResult::default() });
        assert_eq!(results.with_openings(vec![(0, 1)], &[]), [(0, 0), (0, 1)]);
        assert_eq!(results.with_openings(vec![(0, 1)], &[(0, 0)]), [(0, 1)], "it was overtaken");
        assert!(results.with_openings(Vec::new(), &[]).is_empty());
        results.turns[0].statements.remove(0);
        assert_eq!(results.with_openings(vec![(0, 1)], &[]), [(0, 1)], "its opening does not hold");
    }

    #[test]
    fn a_verdict_further_down_is_told_too() {
        let answer =
            format!("The drawer counts each coin twice.{}\n\nShort answer: the lock is worn.", " It is loud.".repeat(60));
        assert!(told(&answer, false).ends_with("Short answer: the lock is worn."));
    }
}
