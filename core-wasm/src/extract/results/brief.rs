//! Brief answers for turns of which nothing else is told, because whoever reads a request wants to know what came of it.

use super::barred::is_barred;
use super::choice::MIN_ANSWER_CHARS;
use super::turn_result::is_lead;
use super::{Place, Results};
use crate::extract::human;
use crate::extract::prose;
use crate::extract::requests;
use crate::extract::signs;
use crate::extract::statement::{self, Form, Statement, Voice};
use crate::text;

/// The minimum score of the first sentence, in log odds as the model gives them. It is low, because a sentence that says little alone still
/// answers.
const MIN_BRIEF_SCORE: f32 = -2.2;
/// The minimum score of a second sentence.
const MIN_SECOND_SCORE: f32 = -1.5;
/// How many statements from the beginning of an answer its first sentence may stand.
const MAX_PLACE: usize = 3;
/// The number of words from which a short sentence says something, and the width of one in a script without spaces.
const MIN_WORDS: usize = 4;
const MIN_WIDTH: usize = 16;

impl Results {
    /// Adds a brief answer to each turn of which nothing is told: the first sentence of the agent's answer, and the best other one.
    /// `overtaken` has the statements that did not hold, which are not told.
    pub(super) fn with_brief_answers(&self, mut chosen: Vec<Place>, overtaken: &[Place]) -> Vec<Place> {
        for (at, turn) in self.turns.iter().enumerate() {
            let is_told = chosen.iter().any(|&(of, _)| of == at);
            // What is said to praise is a summary of what is told elsewhere.
            let is_asked = turn.has_work() || !requests::only_praises(&turn.asked);
            if !is_told && is_asked && !turn.is_withdrawn() && !turn.is_chore {
                let brief = self.brief_answer(at, overtaken);
                chosen.extend(if brief.is_empty() { self.advice(at, overtaken) } else { brief });
            }
        }
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }

    /// Returns the places of the statements that answer a turn briefly. Empty if none says enough.
    fn brief_answer(&self, at: usize, overtaken: &[Place]) -> Vec<Place> {
        let turn = &self.turns[at];
        let later_turns = self.turns.len() - 1 - at;
        let answer = turn.statements.iter().position(|it| it.voice == Voice::Answer).unwrap_or_default();
        let opens = |number: usize| number < answer + MAX_PLACE;
        // What opens the answer to a question is about what was asked, in however few words.
        let answers = |number: usize| number == answer && asks(&turn.asked);
        let tells = |number: usize, it: &Statement| {
            let is_long = it.text.chars().count() >= MIN_ANSWER_CHARS || (answers(number) && says_something(&it.text));
            it.voice == Voice::Answer
                && is_long
                && !overtaken.contains(&(at, number))
                && !is_lead(&it.text)
                && !turn.is_option(number)
                && !is_barred(it, turn, later_turns, 1.0)
        };
        let own = self.judged().iter().filter(|((of, number), ..)| *of == at && tells(*number, &turn.statements[*number]));
        let own: Vec<(usize, f32)> = own.map(|((_, number), _, score)| (*number, *score)).collect();
        // "I can show you more of these" answers nothing.
        let addresses = |number: usize| signs::addresses_reader(&turn.statements[number].text.to_lowercase());
        let least = |number: usize| if addresses(number) { MIN_SECOND_SCORE } else { MIN_BRIEF_SCORE };
        let first = own.iter().find(|(number, score)| opens(*number) && *score >= least(*number)).map(|(number, _)| *number);
        let Some(first) = first else { return Vec::new() };
        let others = own.iter().filter(|(number, score)| *number != first && *score >= MIN_SECOND_SCORE);
        let best = others.max_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(number, _)| *number);
        [Some(first), best].into_iter().flatten().map(|number| (at, number)).collect()
    }

    /// Returns the places of what the answer to a question recommends: the first sentence below that heading, and the heading of the way
    /// that it names by its number. Empty if it recommends nothing.
    fn advice(&self, at: usize, overtaken: &[Place]) -> Vec<Place> {
        let turn = &self.turns[at];
        if !asks(&turn.asked) {
            return Vec::new();
        }
        let advises = |it: &&Statement| {
            it.voice == Voice::Answer
                && it.form != Form::Heading
                && is_advice(&it.heading)
                && !is_lead(&it.text)
                && !statement::is_question(&it.text)
                && !prose::is_filler(&it.text)
        };
        let Some(number) = turn.statements.iter().position(|it| advises(&it)) else { return Vec::new() };
        let lower = turn.statements[number].text.to_lowercase();
        let is_way = |it: &Statement| {
            it.voice == Voice::Answer
                && it.form == Form::Heading
                && it.text.split_once(':').is_some_and(|(label, _)| lower.starts_with(&label.to_lowercase()))
        };
        let way = turn.statements.iter().position(is_way);
        let told = way.into_iter().chain([number]).map(|number| (at, number));
        told.filter(|place| !overtaken.contains(place)).collect()
    }
}

/// Returns whether a prompt asks something: "And how can we count the coins" needs no question mark.
fn asks(prompt: &str) -> bool {
    const JOINTS: [&str; 4] = ["and ", "so ", "but ", "ok "];
    const WORDS: [&str; 6] = ["how", "what", "why", "where", "which", "who"];
    let lower = prompt.to_lowercase();
    let bare = JOINTS.iter().find_map(|joint| lower.strip_prefix(joint)).unwrap_or(&lower);
    human::only_asks(prompt) || WORDS.iter().any(|word| text::starts_with_words(bare, word))
}

/// Returns whether a heading stands above what the agent recommends.
fn is_advice(heading: &str) -> bool {
    text::contains_any_words(&heading.to_lowercase(), &["recommendation", "추천", "推奨", "おすすめ", "推荐", "建议"])
}

/// Returns whether a short sentence says something: not "Good question", "Done."
fn says_something(said: &str) -> bool {
    let is_long =
        if said.is_ascii() { said.split_whitespace().count() >= MIN_WORDS } else { text::width(said) >= MIN_WIDTH };
    is_long && !said.ends_with('!') && !prose::is_filler(said)
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
        let added = results.with_brief_answers(chosen.to_vec(), &[]);
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
    fn the_opening_of_an_answer_is_about_the_question() {
        let mut results = answered("That is in the drawer. It has two keys.");
        assert!(brief(&results, &[]).is_empty());
        "where is the key of the till?".clone_into(&mut results.turns[0].asked);
        assert_eq!(brief(&results, &[])[0], "That is in the drawer.");
    }

    #[test]
    fn a_question_is_answered_with_what_is_recommended() {
        let mut results = answered(
            "### Option 1: Count by hand\nCount twice?\n\n### Option 2: Buy a counter\nWould cost more?\n\n### Recommendation\nOption 2 \
             fits the shop best.",
        );
        "and how can we count the coins".clone_into(&mut results.turns[0].asked);
        assert_eq!(results.advice(0, &[]).len(), 2);
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
