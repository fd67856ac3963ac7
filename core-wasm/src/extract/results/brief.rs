//! Brief answers for turns of which nothing else is told, because whoever reads a request wants to know what came of it.

use super::barred::is_barred;
use super::choice::MIN_ANSWER_CHARS;
use super::turn_result::is_lead;
use super::{Place, Results};
use crate::extract::requests;
use crate::extract::signs;
use crate::extract::statement::{Statement, Voice};

/// The minimum score of the first sentence, in log odds as the model gives them. It is low, because a sentence that says little alone still
/// answers.
const MIN_BRIEF_SCORE: f32 = -2.2;
/// The minimum score of a second sentence.
const MIN_SECOND_SCORE: f32 = -1.5;
/// How many statements from the beginning of an answer its first sentence may stand.
const MAX_PLACE: usize = 3;

impl Results {
    /// Adds a brief answer to each turn of which nothing is told: the first sentence of the agent's answer, and the best other one.
    /// `overtaken` has the statements that did not hold, and `dropped` the turns. Neither is told.
    pub(super) fn with_brief_answers(&self, mut chosen: Vec<Place>, overtaken: &[Place], dropped: &[usize]) -> Vec<Place> {
        for (at, turn) in self.turns.iter().enumerate() {
            let is_told = chosen.iter().any(|(of, _)| *of == at);
            // What is said to praise is a summary of what is told elsewhere.
            let is_asked = turn.has_work() || !requests::only_praises(&turn.asked);
            if !is_told && is_asked && !dropped.contains(&at) && !turn.is_withdrawn() && !turn.is_chore {
                chosen.extend(self.brief_answer(at, overtaken));
            }
        }
        chosen.sort_unstable();
        chosen
    }

    /// Returns the places of the statements that answer a turn briefly. Empty if none says enough.
    fn brief_answer(&self, at: usize, overtaken: &[Place]) -> Vec<Place> {
        let turn = &self.turns[at];
        let later_turns = self.turns.len() - 1 - at;
        let tells = |number: usize, it: &Statement| {
            it.voice == Voice::Answer
                && it.text.chars().count() >= MIN_ANSWER_CHARS
                && !overtaken.contains(&(at, number))
                && !is_lead(&it.text)
                && !turn.is_option(number)
                && !is_barred(it, turn, later_turns, 1.0)
        };
        let own = self.judged().iter().filter(|((of, number), ..)| *of == at && tells(*number, &turn.statements[*number]));
        let own: Vec<(usize, f32)> = own.map(|((_, number), _, score)| (*number, *score)).collect();
        let answer = turn.statements.iter().position(|it| it.voice == Voice::Answer).unwrap_or_default();
        let opens = |number: &usize| *number < answer + MAX_PLACE;
        // "I can show you more of these" answers nothing.
        let addresses = |number: usize| signs::addresses_reader(&turn.statements[number].text.to_lowercase());
        let least = |number: usize| if addresses(number) { MIN_SECOND_SCORE } else { MIN_BRIEF_SCORE };
        let first = own.iter().find(|(number, score)| opens(number) && *score >= least(*number)).map(|(number, _)| *number);
        let Some(first) = first else { return Vec::new() };
        let others = own.iter().filter(|(number, score)| *number != first && *score >= MIN_SECOND_SCORE);
        let best = others.max_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(number, _)| *number);
        [Some(first), best].into_iter().flatten().map(|number| (at, number)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::results::TurnResult;
    use crate::extract::statement;

    fn answered(answer: &str) -> Results {
        let mut results = Results::default();
        for said in [answer, "The drawer is painted red now, and its lock is green."] {
            let statements = statement::statements(said, Voice::Answer);
            results.push(TurnResult { statements, substantive: true, used_tools: true, ..TurnResult::default() });
        }
        results
    }

    fn brief(results: &Results, chosen: &[Place]) -> Vec<String> {
        let added = results.with_brief_answers(chosen.to_vec(), &[], &[]);
        let added = added.iter().filter(|(at, _)| *at == 0);
        added.map(|&(at, number)| results.turns()[at].statements[number].text.clone()).collect()
    }

    #[test]
    fn a_turn_of_which_nothing_is_told_is_answered_briefly() {
        let results = answered("The bell of the night till rings twice because it has two clappers. One is red.");
        assert_eq!(brief(&results, &[]), ["The bell of the night till rings twice because it has two clappers."]);
        assert_eq!(brief(&results, &[(0, 1)]).len(), 1, "something of it is told");
    }

    #[test]
    fn praise_needs_no_answer() {
        let mut results = answered("The bell of the night till rings twice because it has two clappers.");
        "great, the bell works!".clone_into(&mut results.turns[0].asked);
        assert!(brief(&results, &[]).is_empty());
    }

    #[test]
    fn what_did_not_hold_is_no_answer() {
        let mut results = answered("The bell of the night till rings twice because it has two clappers.");
        results.turns[0].is_objected = true;
        assert!(brief(&results, &[]).is_empty());
    }
}
