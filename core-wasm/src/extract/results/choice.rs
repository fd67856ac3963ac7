//! Chooses the statements that are told of a session: the best that fit, none twice.

use super::barred::{MIN_CAUSE, is_barred};
use super::turn_result::is_lead;
use super::{Judged, MAX_LINE_CHARS, Place, Results};
use crate::extract::prose;
use crate::extract::signs;
use crate::extract::standing;
use crate::extract::statement::{self, Form, Statement, Voice};
use crate::text;

/// The minimum length of a sentence that alone says what an answer says, in characters.
pub(super) const MIN_ANSWER_CHARS: usize = 40;
/// What a statement loses that speaks to the user: nobody else knows what "your screenshot" shows.
const ADDRESS_PENALTY: f32 = 1.5;
/// What the first sentence of an answer gains that says something of the work: it mostly says what was done.
const LEAD_BONUS: f32 = 0.6;
/// What the first sentence gains that stands in the place of a claim that the agent gave up.
const CORRECTION_BONUS: f32 = 1.5;
/// What a sentence gains that announces the answer in one sentence: "Short answer: no".
const SHORT_ANSWER_BONUS: f32 = 1.0;
/// What a sentence gains that announces a surprise: "Worth flagging: the cache is shared".
const LESSON_BONUS: f32 = 0.5;
/// The similarity at which two statements count as the same.
const SAME: f32 = 0.68;

impl Results {
    /// Chooses the best statements that fit, none twice, in their order.
    pub(super) fn choose(&self, mut judged: Vec<Judged>, least: f32, max_chars: usize) -> Vec<Place> {
        for ((turn, number), _, score) in &mut judged {
            *score = with_bonuses(*score, &self.turns[*turn].statements[*number]);
        }
        // A turn's own memory is chosen from its own statements, so the other turns are not looked at.
        let mut own: Vec<usize> = judged.iter().map(|((at, _), ..)| *at).collect();
        own.dedup();
        for at in own {
            let turn = &self.turns[at];
            if !turn.edited && !self.corrects(at) {
                continue;
            }
            let opening = self.telling_opening(at);
            if let Some((_, _, score)) = judged.iter_mut().find(|(place, ..)| Some(*place) == opening) {
                *score += if turn.edited { LEAD_BONUS } else { CORRECTION_BONUS };
            }
        }
        judged.sort_by(|(one, _, better), (other, _, worse)| worse.total_cmp(better).then(one.cmp(other)));
        let mut chosen: Vec<Place> = Vec::new();
        let mut known: Vec<(text::Features, Vec<u32>)> = Vec::new();
        let mut used = vec![0; self.turns.len()];
        for ((turn, number), _, score) in judged {
            let statement = &self.turns[turn].statements[number];
            let chars = statement.text.chars().count();
            let has_room = used[turn] + chars <= MAX_LINE_CHARS && used.iter().sum::<usize>() + chars <= max_chars;
            if score < least || !has_room || self.is_untold((turn, number), score) {
                continue;
            }
            let features = text::features(&statement.text);
            let names = statement::names(&statement.text);
            let is_same = |(said, named): &(text::Features, Vec<u32>)| {
                // Two items of a list may differ only in the name of what they speak of.
                let has_other = |mine: &[u32], theirs: &[u32]| mine.iter().any(|name| !theirs.contains(name));
                let differs = has_other(&names, named) && has_other(named, &names);
                said.len() > 2 && !differs && text::similarity(said, &features) >= SAME
            };
            // The subject of a commit names it, whatever else says the same.
            let is_subject = statement.voice == Voice::Commit && statement.place == 0;
            if !is_subject && features.len() > 2 && known.iter().any(is_same) {
                continue;
            }
            used[turn] += chars;
            if !is_subject {
                known.push((features, names));
            }
            chosen.push((turn, number));
        }
        chosen.sort_unstable();
        self.without_overtaken(&chosen)
    }

    /// Returns the first sentence of a turn's answer that says something of the work.
    fn telling_opening(&self, at: usize) -> Option<Place> {
        let turn = &self.turns[at];
        let later_turns = self.turns.len() - 1 - at;
        let says = |(number, it): &(usize, &Statement)| {
            it.voice == Voice::Answer
                && matches!(it.form, Form::Sentence | Form::Item)
                && it.text.chars().count() >= MIN_ANSWER_CHARS
                && !is_lead(&it.text)
                && !signs::addresses_reader(&it.text.to_lowercase())
                && prose::checked(&it.text).is_none()
                && !turn.is_option(*number)
                && !is_barred(it, turn, later_turns, 1.0)
        };
        turn.statements.iter().enumerate().find(says).map(|(number, _)| (at, number))
    }

    /// Returns whether a statement is not told, whatever room there is: it never is, it excuses a failure that was mended later, or it
    /// is one of several ways that were offered.
    fn is_untold(&self, (at, number): Place, score: f32) -> bool {
        let turn = &self.turns[at];
        let statement = &turn.statements[number];
        let later_turns = self.turns.len() - 1 - at;
        is_barred(statement, turn, later_turns, score)
            || self.is_mended_after(&statement.text, turn.number)
            || ((later_turns > 0 || statement.voice == Voice::Work) && turn.is_option(number))
    }
}

/// Returns the score of a statement with what it gains or loses by the words with which it opens or speaks to the user.
pub(super) fn with_bonuses(mut score: f32, statement: &Statement) -> f32 {
    let lower = text::lower(&statement.text);
    // Why something is as it is holds for everybody, whoever it was told to.
    let is_cause = || prose::signs(&lower).0 >= MIN_CAUSE || text::contains_words(&lower, "why");
    if signs::addresses_reader(&lower) && !is_cause() {
        score -= ADDRESS_PENALTY;
    }
    if statement.voice == Voice::Answer && standing::is_short_answer(&lower) {
        score += SHORT_ANSWER_BONUS;
    }
    let announces = || {
        standing::announces_lesson(&lower)
            || (statement.form == Form::Item && standing::announces_lesson(&statement.heading.to_lowercase()))
    };
    if statement.is_of_agent() && announces() {
        score += LESSON_BONUS;
    }
    score
}
