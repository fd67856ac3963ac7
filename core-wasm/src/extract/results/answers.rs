//! Adds what is missing of the answers of which something is told.

use super::barred::{MIN_CAUSE, is_barred, is_barred_anywhere, points_back};
use super::choice::MIN_ANSWER_CHARS;
use super::turn_result::{TurnResult, is_lead};
use super::{Place, Results};
use crate::extract::prose;
use crate::extract::signs;
use crate::extract::standing;
use crate::extract::statement::{self, Form, Voice};
use crate::text;

/// The maximum length of what is told of the answer with which the work ended, in characters.
const MAX_END_CHARS: usize = 3_000;
/// The maximum length of an answer that is told whole, once something of it is told, in characters.
const MAX_ANSWER_CHARS: usize = 1_300;
/// The maximum length of a list that is told because the answer says next to nothing, in characters.
const MAX_LISTED_CHARS: usize = 700;
/// The length of what is told of a session up to which answers are completed, in characters. Longer pages have no room.
const MAX_WHOLE_CHARS: usize = 5_000;
/// The maximum number of changes that are told with their lines, if an answer says nothing else.
const MAX_PLACES: usize = 3;
/// The length below which an answer says next to nothing, in characters.
const MIN_TELLING_CHARS: usize = 80;
/// The number of words from which a sentence to the user says something of the work.
const MIN_TELLING_WORDS: usize = 6;
/// The length from which what the agent says to a report of the client sums up the work, in characters.
const MIN_CLOSING_CHARS: usize = 400;

impl Results {
    /// Adds the best sentence of its answer to the last turn that changed files, if nothing else is told of the answer than that
    /// it is done.
    pub(super) fn with_answer(&self, mut chosen: Vec<Place>) -> Vec<Place> {
        if let Some((at, turn)) = self.turns.iter().enumerate().rfind(|(_, turn)| turn.edited) {
            let says = |number: usize| {
                let statement = &turn.statements[number];
                let is_report = prose::is_filler(&statement.text) || prose::checked(&statement.text).is_some();
                statement.voice == Voice::Answer && !is_report
            };
            if chosen.iter().any(|&(of, number)| of == at && says(number) && !is_lead(&turn.statements[number].text)) {
                return chosen;
            }
            let later_turns = self.turns.len() - 1 - at;
            let fits = |number: usize| {
                let statement = &turn.statements[number];
                says(number)
                    && statement.text.chars().count() >= MIN_ANSWER_CHARS
                    && !is_lead(&statement.text)
                    && !turn.only_commits_beside(statement)
                    && !is_barred(statement, turn, later_turns, 1.0)
            };
            let best = self.judged().iter().filter(|((of, number), ..)| *of == at && fits(*number));
            match best.max_by(|one, other| one.2.total_cmp(&other.2)) {
                Some((place, ..)) if !chosen.contains(place) => chosen.push(*place),
                Some(_) => {}
                None if self.reasoned(at).is_some() => {
                    chosen.extend(self.reasoned(at).filter(|place| !chosen.contains(place)));
                }
                // The lines in which something was changed, and what, are all that there is.
                None => {
                    let is_place = |number: &usize| {
                        let statement = &turn.statements[*number];
                        statement.form == Form::Item && signs::is_place_of_change(&statement.text.to_lowercase())
                    };
                    let places = (0..turn.statements.len()).filter(|number| says(*number)).filter(is_place);
                    chosen.extend(places.take(MAX_PLACES).map(|number| (at, number)));
                }
            }
        }
        chosen.sort_unstable();
        chosen
    }

    /// Returns the best of what the agent said while it worked, for a turn that ended without an answer.
    fn reasoned(&self, at: usize) -> Option<Place> {
        let turn = &self.turns[at];
        if turn.committed {
            return None;
        }
        let later_turns = self.turns.len() - 1 - at;
        let tells = |number: usize| {
            let statement = &turn.statements[number];
            statement.voice == Voice::Work
                && statement.text.chars().count() >= MIN_ANSWER_CHARS
                && !is_lead(&statement.text)
                && tells_what_was_done(&statement.text.to_lowercase())
                && !is_barred_anywhere(statement, turn, later_turns, 1.0)
        };
        let best = self.judged().iter().filter(|((of, number), ..)| *of == at && tells(*number));
        best.max_by(|one, other| one.2.total_cmp(&other.2)).map(|(place, ..)| *place)
    }

    /// Adds the first sentence of each told answer to work if it says what was done and leads to parts with headings of their own: "Now it
    /// rounds the total:".
    pub(super) fn with_opening_deeds(&self, mut chosen: Vec<Place>) -> Vec<Place> {
        for (at, turn) in self.turns.iter().enumerate().filter(|(_, turn)| turn.edited) {
            let is_told = chosen.iter().any(|&(of, number)| of == at && turn.statements[number].voice == Voice::Answer);
            let opening = (0..turn.statements.len()).find(|&number| turn.opens_with_deed(number));
            chosen.extend(opening.map(|number| (at, number)).filter(|place| is_told && !chosen.contains(place)));
        }
        chosen.sort_unstable();
        chosen
    }

    /// Adds what else the answer says with which the work ended, the best first, while there is room: read whole, it is what
    /// the agent itself left to whoever goes on.
    pub(super) fn with_whole_end(&self, mut chosen: Vec<Place>) -> Vec<Place> {
        let Some(at) = self.closing() else { return chosen };
        let chars = |number: usize| self.turns[at].statements[number].text.chars().count();
        let mut used: usize = chosen.iter().filter(|(of, _)| *of == at).map(|&(_, number)| chars(number)).sum();
        let mut order: Vec<(usize, f32)> = self
            .judged()
            .iter()
            .filter(|((of, _), ..)| *of == at)
            .map(|((_, number), _, score)| (*number, *score))
            .collect();
        order.sort_by(|(one, better), (other, worse)| worse.total_cmp(better).then(one.cmp(other)));
        for (number, _) in order {
            if self.is_part_of_answer(at, number) && !chosen.contains(&(at, number)) && used + chars(number) <= MAX_END_CHARS
            {
                used += chars(number);
                chosen.push((at, number));
            }
        }
        // What points back is understood behind what it points to, and so is what sums up at the beginning.
        for number in 0..self.turns[at].statements.len() {
            let statement = &self.turns[at].statements[number];
            let is_understood = match self.before(at, number) {
                Some(before) => chosen.contains(&(at, before)),
                None => signs::leans_on_sentence_before(&statement.text.to_lowercase()),
            };
            if points_back(statement, &self.turns[at])
                && is_understood
                && self.is_part_of_answer_behind(at, number)
                && !chosen.contains(&(at, number))
                && used + chars(number) <= MAX_END_CHARS
            {
                used += chars(number);
                chosen.push((at, number));
            }
        }
        chosen.sort_unstable();
        chosen
    }

    /// Adds the last list of results that the agent gave while it worked, if the answer with which the work ended says next to nothing:
    /// "All verifications pass: …", then "All 4 tasks complete."
    pub(super) fn with_listed_work(&self, mut chosen: Vec<Place>) -> Vec<Place> {
        let Some(at) = self.closing().filter(|&at| self.turns[at].edited) else { return chosen };
        let turn = &self.turns[at];
        let told =
            chosen.iter().filter(|(of, _)| *of == at).map(|&(_, number)| turn.statements[number].text.chars().count());
        if told.sum::<usize>() >= MIN_TELLING_CHARS {
            return chosen;
        }
        let is_result = |number: &usize| {
            let statement = &turn.statements[*number];
            statement.voice == Voice::Work
                && matches!(statement.form, Form::Item | Form::Row)
                && (signs::says_finished(&statement.heading.to_lowercase())
                    || turn.lead(*number).is_some_and(|lead| signs::says_finished(&lead.text.to_lowercase())))
        };
        let Some(last) = (0..turn.statements.len()).rev().find(is_result) else { return chosen };
        let is_same_list = |number: &usize| {
            let (one, other) = (&turn.statements[*number], &turn.statements[last]);
            (&one.heading, one.count) == (&other.heading, other.count)
        };
        let later_turns = self.turns.len() - 1 - at;
        let results = (0..=last)
            .filter(|number| is_same_list(number) && !chosen.contains(&(at, *number)))
            .filter(is_result)
            .filter(|&number| !is_barred_anywhere(&turn.statements[number], turn, later_turns, 1.0));
        let added = self.fitting(at, results, MAX_LISTED_CHARS);
        chosen.extend(added);
        chosen.sort_unstable();
        chosen
    }

    /// Returns the turn whose answer sums the work up at the end. What the agent says to a report of the client after it is short.
    pub(in crate::extract) fn closing(&self) -> Option<usize> {
        let chars = |turn: &TurnResult| -> usize {
            let said = turn.statements.iter().filter(|it| it.voice == Voice::Answer);
            said.map(|it| it.text.chars().count()).sum()
        };
        let ends = |turn: &TurnResult| {
            chars(turn) > 0 && !turn.is_chat() && !turn.is_chore && !turn.is_unfinished && (turn.edited || !turn.is_refused)
        };
        let sums_up =
            |turn: &TurnResult| ends(turn) && (turn.substantive || turn.edited || chars(turn) >= MIN_CLOSING_CHARS);
        self.turns.iter().rposition(sums_up).or_else(|| self.turns.iter().rposition(ends))
    }

    /// Adds what is missing of the answers of which something is told, the latest first while there is room, unless what they say was
    /// taken back or was only proposed before the work: a few sentences of an answer say less than a short page has room for.
    pub(super) fn with_whole_answers(&self, mut chosen: Vec<Place>) -> Vec<Place> {
        let chars = |&(turn, number): &Place| self.turns[turn].statements[number].text.chars().count();
        let mut used: usize = chosen.iter().map(chars).sum();
        for (at, turn) in self.turns.iter().enumerate().rev() {
            let is_told = |number: &usize| chosen.contains(&(at, *number));
            let is_answer = |number: &usize| turn.statements[*number].voice == Voice::Answer;
            // Work that somebody wanted otherwise is not how it is now if files were changed since.
            let stands = (turn.has_work() && !turn.disputed) || self.turns[at + 1..].iter().all(|later| !later.edited);
            let holds = stands && !turn.is_withdrawn();
            if !holds || !(0..turn.statements.len()).filter(is_answer).any(|number| is_told(&number)) {
                continue;
            }
            let whole = (0..turn.statements.len()).filter(|number| is_told(number) || self.is_part_of_answer(at, *number));
            let (told, mut missing): (Vec<Place>, Vec<Place>) =
                whole.map(|number| (at, number)).partition(|place| chosen.contains(place));
            // What passed in the end is told beside the outcome.
            missing.retain(|&(_, number)| {
                at + 1 == self.turns.len() || prose::checked(&turn.statements[number].text).is_none()
            });
            let (own, added): (usize, usize) = (told.iter().map(chars).sum(), missing.iter().map(chars).sum());
            if own + added <= MAX_ANSWER_CHARS && used + added <= MAX_WHOLE_CHARS {
                used += added;
                chosen.extend(missing);
            }
        }
        chosen.sort_unstable();
        chosen
    }

    /// Returns whether a statement belongs to what a turn's answer says of the session, and stands alone.
    pub(super) fn is_part_of_answer(&self, at: usize, number: usize) -> bool {
        self.is_part_of_answer_behind(at, number) && !points_back(&self.turns[at].statements[number], &self.turns[at])
    }

    /// Returns whether a statement belongs to what a turn's answer says of the session, behind what stands before it.
    fn is_part_of_answer_behind(&self, at: usize, number: usize) -> bool {
        let turn = &self.turns[at];
        let statement = &turn.statements[number];
        let lower = text::lower(&statement.text);
        let is_last = statement.place + 1 >= statement.count;
        statement.voice == Voice::Answer
            && statement.form != Form::Heading
            && !prose::is_filler(&statement.text)
            // That there is nothing more is what a review found.
            && (!prose::is_narration(&statement.text) || text::starts_with_words(&lower, "nothing"))
            // What the agent was about to do when the session ended is where it stands.
            && ((at + 1 == self.turns.len() && is_last) || !signs::is_intent(&lower))
            && !signs::is_offer(&lower)
            && (!signs::addresses_reader(&lower) || says_much(&statement.text))
            && !turn.is_offered(number)
            && !turn.only_commits_beside(statement)
            && !self.is_mended_after(&statement.text, turn.number)
            && !self.is_fixed_after(&statement.text, turn.number)
            && !is_barred_anywhere(statement, turn, self.turns.len() - 1 - at, 1.0)
    }

    /// Returns the places of those of a turn's statements that fit into so many characters, in their order.
    pub(super) fn fitting(&self, at: usize, numbers: impl Iterator<Item = usize>, max_chars: usize) -> Vec<Place> {
        let mut room = max_chars;
        let fits = |number: &usize| {
            let chars = self.turns[at].statements[*number].text.chars().count();
            let fits = chars <= room;
            room -= if fits { chars } else { 0 };
            fits
        };
        numbers.filter(fits).map(|number| (at, number)).collect()
    }
}

/// Returns whether a text in lower case, said before a change, tells what it is for: how it is mended, or a cause. A problem alone reads as
/// if it were still there.
fn tells_what_was_done(lower: &str) -> bool {
    standing::says_mended(lower) || (prose::signs(lower).0 >= MIN_CAUSE && !signs::is_problem(lower))
}

/// Returns whether a sentence to the user says more than "your call".
fn says_much(said: &str) -> bool {
    !statement::names(said).is_empty() || text::features(said).len() >= MIN_TELLING_WORDS
}
