//! Adds the sentences without which the chosen ones are misunderstood, and leaves out those that lean on what is not told.

use super::barred::is_barred;
use super::turn_result::is_lead;
use super::{Place, Results};
use crate::extract::prose;
use crate::extract::signs;
use crate::extract::standing;
use crate::extract::statement::{Form, Statement, Voice};
use crate::text;

/// The maximum length of what is added from below one heading that says how something was mended, in characters.
const MAX_FIX_CHARS: usize = 360;
/// The maximum length of a sentence that is told because the next one needs it, in characters.
const MAX_ANTECEDENT_CHARS: usize = 240;

impl Results {
    /// Adds the sentence that says what was done about a problem to the one that tells the problem.
    pub(super) fn with_cures(&self, chosen: Vec<Place>) -> Vec<Place> {
        self.with_neighbours(chosen, true, |problem, next| {
            signs::is_problem(&problem.text.to_lowercase()) && standing::tells_cure(&next.text.to_lowercase())
        })
    }

    /// Adds what stands below "The fix" to the answers that are told and that say so: the problem alone reads as if it were open.
    pub(super) fn with_fixes(&self, mut chosen: Vec<Place>) -> Vec<Place> {
        for (at, turn) in self.turns.iter().enumerate().filter(|(_, turn)| turn.has_work()) {
            if !chosen.iter().any(|&(of, number)| of == at && turn.statements[number].voice == Voice::Answer) {
                continue;
            }
            for fix in turn.fixes() {
                if fix.iter().any(|number| chosen.contains(&(at, *number))) {
                    continue;
                }
                let later_turns = self.turns.len() - 1 - at;
                let tells = |number: &usize| {
                    let statement = &turn.statements[*number];
                    !is_lead(&statement.text)
                        && !prose::is_filler(&statement.text)
                        && prose::checked(&statement.text).is_none()
                        && !is_barred(statement, turn, later_turns, 1.0)
                        && !self.is_fixed_after(&statement.text, turn.number)
                };
                chosen.extend(self.fitting(at, fix.into_iter().filter(tells), MAX_FIX_CHARS));
            }
        }
        chosen.sort_unstable();
        chosen
    }

    /// Adds the sentence before one that cannot be understood without it: "Most were rules of the format".
    pub(super) fn with_antecedents(&self, chosen: Vec<Place>) -> Vec<Place> {
        self.with_neighbours(chosen, false, |statement, before| {
            let lower = text::lower(&statement.text);
            let leans = signs::leans_on_sentence_before(&lower)
                || (statement.is_of_agent() && signs::begins_with_pronoun(&lower, statement.form != Form::Sentence));
            leans && !prose::is_filler(&before.text)
        })
    }

    /// Adds the sentence after each chosen one, or the one before it, if it is on the same line and short, and if `needs` says of
    /// the two that the chosen one needs it.
    fn with_neighbours(
        &self,
        mut chosen: Vec<Place>,
        after: bool,
        needs: impl Fn(&Statement, &Statement) -> bool,
    ) -> Vec<Place> {
        for at in 0..chosen.len() {
            let (turn, number) = chosen[at];
            let statements = &self.turns[turn].statements;
            let Some(beside) = (if after { Some(number + 1) } else { number.checked_sub(1) }) else { continue };
            let Some(neighbour) = statements.get(beside) else { continue };
            let statement = &statements[number];
            let (first, second) = if after { (statement, neighbour) } else { (neighbour, statement) };
            let is_next = second.goes_on && (second.voice, second.place) == (first.voice, first.place + 1);
            if is_next
                && needs(statement, neighbour)
                && !chosen.contains(&(turn, beside))
                && neighbour.text.chars().count() <= MAX_ANTECEDENT_CHARS
                && !is_lead(&neighbour.text)
                && !is_barred(neighbour, &self.turns[turn], self.turns.len() - 1 - turn, 1.0)
            {
                chosen.push((turn, beside));
            }
        }
        chosen.sort_unstable();
        chosen
    }

    /// Leaves out sentences about things that were named before them, unless what stands before them is told.
    pub(super) fn without_leaning(&self, chosen: &[Place]) -> Vec<Place> {
        let is_whole = |&&(turn, number): &&Place| {
            let statement = &self.turns[turn].statements[number];
            let lower = statement.text.to_lowercase();
            let is_told = match self.before(turn, number) {
                Some(before) => chosen.contains(&(turn, before)),
                None => statement.voice == Voice::Answer && statement.place <= 1,
            };
            // The first sentence of an item has its antecedent in the line that leads to the list.
            (statement.form != Form::Sentence && !statement.goes_on)
                || is_told
                || !(signs::speaks_of_named_before(&lower) || (statement.goes_on && signs::speaks_of_fact_before(&lower)))
        };
        chosen.iter().filter(is_whole).copied().collect()
    }

    /// Returns the statement before this one in the same text that says something.
    pub(super) fn before(&self, at: usize, number: usize) -> Option<usize> {
        let statements = &self.turns[at].statements;
        let (voice, count, place) = (statements[number].voice, statements[number].count, statements[number].place);
        let is_same_text = |before: &usize| {
            let it = &statements[*before];
            (it.voice, it.count) == (voice, count) && it.place < place
        };
        (0..number).rev().take_while(is_same_text).find(|&before| {
            let said = &statements[before].text;
            statements[before].form != Form::Heading && !prose::is_filler(said) && !signs::gives_in(said)
        })
    }
}
