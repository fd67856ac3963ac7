//! Tells the answers that hold whole, and leaves out what says least where there is no room.

use super::barred::{MIN_CAUSE, is_barred};
use super::choice::{MIN_ANSWER_CHARS, with_bonuses};
use super::turn_result::{TurnResult, is_lead};
use super::{Place, Results};
use crate::extract::prose;
use crate::extract::requests;
use crate::extract::signs;
use crate::extract::standing;
use crate::extract::statement::{self, Form, Statement, Voice};
use crate::text;

/// The maximum length of what is added of an answer in the first round, in which each answer has its turn, in characters.
const MAX_BRIEF_CHARS: usize = 500;
/// The maximum length of what is told of an answer, in characters.
const MAX_ANSWER_CHARS: usize = 3_000;
/// The maximum length of what is told of the answer with which the work ended, in characters.
const MAX_END_CHARS: usize = 4_500;
/// The length of what is told of the other answers up to which they are completed, in characters. Longer pages have no room.
const MAX_SESSION_CHARS: usize = 4_000;
/// The minimum score of the best statement of a block, in log odds as the model gives them.
const MIN_SCORE: f32 = -2.2;
/// The number of words below which the first sentence of an answer says nothing beside others, and the length of one in a script without
/// spaces, in characters.
const MIN_OPENING_WORDS: usize = 3;
const MIN_WIDE_OPENING_CHARS: usize = 12;
/// The length from which what the agent says to a report of the client sums up the work, in characters.
const MIN_CLOSING_CHARS: usize = 400;

/// A part of an answer that is told whole or not at all: a paragraph, a list, or the rows of a table.
#[derive(Debug)]
struct Block {
    /// The places of its statements in the turn, ascending.
    numbers: Vec<usize>,
    /// Whether it is not understood without the block before it: a list behind its lead, or a sentence that points back.
    leans: bool,
}

impl Block {
    fn places(&self, at: usize) -> impl Iterator<Item = Place> {
        self.numbers.iter().map(move |&number| (at, number))
    }
}

impl Results {
    /// Adds what else is told of the answers that hold, the latest first: the whole answer, or as many of its blocks as there is room for.
    /// The block that opens the answer, the one that ends it and its verdict come before the others, and those of all answers before the
    /// rest of one.
    /// `overtaken` has the statements that do not hold.
    pub(super) fn with_answers(&self, mut chosen: Vec<Place>, overtaken: &[Place]) -> Vec<Place> {
        let closing = self.closing();
        for is_brief in [true, false] {
            for at in (0..self.turns.len()).rev() {
                if !self.is_answer_told(at, &chosen) {
                    continue;
                }
                let own = self.length(chosen.iter().copied().filter(|(of, _)| *of == at));
                let others = self.length(chosen.iter().copied().filter(|(of, _)| Some(*of) != closing));
                let left = MAX_SESSION_CHARS.saturating_sub(others);
                let room = match () {
                    () if closing == Some(at) => MAX_END_CHARS.saturating_sub(own),
                    () if is_brief => left.min(MAX_BRIEF_CHARS),
                    () => left.min(MAX_ANSWER_CHARS.saturating_sub(own)),
                };
                chosen.extend(self.blocks_that_fit(at, &chosen, overtaken, room, is_brief));
            }
        }
        chosen.extend(self.listed(&chosen));
        let reason = self.reasoned(&chosen).into_iter().collect();
        chosen.extend(self.with_antecedents(reason));
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }

    /// Returns the length of statements, in characters.
    pub(super) fn length(&self, places: impl Iterator<Item = Place>) -> usize {
        places.map(|(at, number)| self.turns[at].statements[number].text.chars().count()).sum()
    }

    /// Returns whether a turn's answer holds, and something of it is told or was asked for.
    fn is_answer_told(&self, at: usize, chosen: &[Place]) -> bool {
        let turn = &self.turns[at];
        let is_begun = || chosen.iter().any(|(of, _)| *of == at);
        // "Yes, release it" was done with tools that change no file here.
        let is_done = turn.acted || (turn.substantive && !turn.is_chat());
        let is_request = is_done && !turn.is_chore && !turn.is_refused && !turn.is_unfinished;
        // What is said to praise is a summary of what is told elsewhere.
        let is_asked = || turn.has_work() || !requests::only_praises(&turn.asked);
        (is_begun() || is_request) && is_asked() && self.holds(at)
    }

    /// Returns the statements of a turn's blocks that are not told yet and fit into so many characters. If `is_brief`, only the first
    /// block, the last one and the verdict count.
    fn blocks_that_fit(&self, at: usize, chosen: &[Place], overtaken: &[Place], room: usize, is_brief: bool) -> Vec<Place> {
        let blocks = self.blocks(at, overtaken);
        let last = blocks.len().saturating_sub(1);
        // "The changes:" opens nothing without what it leads to.
        let turn = &self.turns[at];
        let is_bare = |&number: &usize| is_lead(&turn.statements[number].text) && !turn.leads_with_deed(number);
        let is_lead_alone = |block: &Block| block.numbers.iter().all(is_bare);
        let opening = blocks.iter().position(|block| !is_lead_alone(block)).unwrap_or(0);
        let rank = |block: usize| match block {
            _ if block <= opening => 0,
            _ if block == last || self.turns[at].is_verdict(blocks[block].numbers[0]) => 1,
            _ => 2,
        };
        let is_told = |block: usize, score: f32| {
            let is_begun = blocks[block].places(at).any(|place| chosen.contains(&place));
            is_begun || (score >= MIN_SCORE && !self.is_known_block(at, &blocks[block], chosen))
        };
        let mut order: Vec<(usize, f32)> = (0..blocks.len())
            .filter(|&block| !is_brief || rank(block) < 2)
            .map(|block| (block, self.score_of(at, &blocks[block])))
            .filter(|&(block, score)| is_told(block, score))
            .collect();
        order.sort_by(|(one, better), (other, worse)| rank(*one).cmp(&rank(*other)).then(worse.total_cmp(better)));
        let mut added: Vec<Place> = Vec::new();
        let mut left = room;
        for (block, _) in order {
            let first = (0..=block).rev().find(|&it| !blocks[it].leans).unwrap_or(0);
            let is_new = |place: &Place| !chosen.contains(place) && !added.contains(place);
            let new: Vec<Place> = blocks[first..=block].iter().flat_map(|it| it.places(at)).filter(is_new).collect();
            let chars = self.length(new.iter().copied());
            if chars <= left {
                left -= chars;
                added.extend(new);
            } else if rank(block) == 0 {
                // A long opening is told as far as there is room: what ends the answer says nothing without it.
                let part = self.fitting_first(new, left);
                left -= self.length(part.iter().copied());
                added.extend(part);
            }
        }
        added
    }

    /// Returns the score of the best statement of a block.
    fn score_of(&self, at: usize, block: &Block) -> f32 {
        let own = self.judged().iter().filter(|((of, number), ..)| *of == at && block.numbers.contains(number));
        own.map(|((_, number), _, score)| with_bonuses(*score, &self.turns[at].statements[*number])).fold(f32::MIN, f32::max)
    }

    /// Returns whether other turns tell most of a block, or later ones name most of its names again.
    fn is_known_block(&self, at: usize, block: &Block, chosen: &[Place]) -> bool {
        let is_of_agent = |&(of, number): &Place| self.turns[of].statements[number].is_of_agent();
        let others: Vec<Place> = chosen.iter().filter(|place| place.0 != at && is_of_agent(place)).copied().collect();
        let known = block.places(at).filter(|&(_, number)| self.is_known(at, number, &others));
        2 * self.length(known) >= self.length(block.places(at))
    }

    /// Returns the blocks of a turn's answer without the statements that are not told.
    fn blocks(&self, at: usize, overtaken: &[Place]) -> Vec<Block> {
        let turn = &self.turns[at];
        let mut blocks: Vec<Block> = Vec::new();
        for number in answer(turn) {
            let statement = &turn.statements[number];
            let is_told = !overtaken.contains(&(at, number))
                && (self.is_part_of_answer(at, number) || (statement.form == Form::Heading && turn.is_verdict(number)))
                && !opens_empty(turn, number)
                // What passed in the end is told beside the outcome.
                && (at + 1 == self.turns.len() || prose::checked(&statement.text).is_none());
            if !is_told {
                continue;
            }
            let last = blocks.last().and_then(|block| block.numbers.last()).map(|&last| &turn.statements[last]);
            let is_same = last.is_some_and(|last| is_of_same_block(last, statement));
            if let Some(block) = blocks.last_mut().filter(|_| is_same) {
                block.numbers.push(number);
            } else {
                let leans = last.is_some_and(|last| leans_on(statement, last));
                blocks.push(Block { numbers: vec![number], leans });
            }
        }
        blocks
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

    /// Returns whether a statement belongs to what a turn's answer says of the session.
    fn is_part_of_answer(&self, at: usize, number: usize) -> bool {
        let turn = &self.turns[at];
        let statement = &turn.statements[number];
        statement.voice == Voice::Answer
            && statement.form != Form::Heading
            // That there is nothing more is what a review found.
            && (!prose::is_narration(&statement.text) || text::starts_with_words(&text::lower(&statement.text), "nothing"))
            && !turn.is_offered(number)
            && !self.is_mended_after(&statement.text, turn.number)
            && !is_barred(statement, turn, self.turns.len() - 1 - at, 1.0)
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

    /// Returns the first of these statements as far as they fit into so many characters, without rows if most do not fit: a few rows of a
    /// table say nothing.
    fn fitting_first(&self, places: Vec<Place>, max_chars: usize) -> Vec<Place> {
        let mut chars = 0;
        let chars_of = |&(at, number): &Place| self.turns[at].statements[number].text.chars().count();
        let has_room = |place: &&Place| {
            chars += chars_of(place);
            chars <= max_chars
        };
        let fits = places.iter().take_while(has_room).count();
        let is_row = |&(at, number): &Place| self.turns[at].statements[number].form == Form::Row;
        let mut first = places;
        let is_most = 2 * fits >= first.len();
        first.truncate(fits);
        if !is_most {
            first.retain(|place| !is_row(place));
        }
        first
    }

    /// Returns the last list of results that the agent gave while it worked, if the answer with which the work ended says next to nothing:
    /// "All checks pass:" and what was checked, then "All four are done."
    fn listed(&self, chosen: &[Place]) -> Vec<Place> {
        let Some(at) = self.closing().filter(|&at| self.turns[at].edited) else { return Vec::new() };
        let turn = &self.turns[at];
        if self.length(chosen.iter().copied().filter(|(of, _)| *of == at)) >= MIN_ANSWER_CHARS {
            return Vec::new();
        }
        let says_finished = |said: &str| signs::says_finished(&said.to_lowercase());
        let is_result = |&number: &usize| {
            let statement = &turn.statements[number];
            statement.voice == Voice::Work
                && matches!(statement.form, Form::Item | Form::Row)
                && (says_finished(&statement.heading) || turn.lead(number).is_some_and(|lead| says_finished(&lead.text)))
        };
        let Some(last) = (0..turn.statements.len()).rev().find(is_result) else { return Vec::new() };
        let stands_there = |&number: &usize| {
            let (one, other) = (&turn.statements[number], &turn.statements[last]);
            (&one.heading, one.count) == (&other.heading, other.count)
        };
        let later_turns = self.turns.len() - 1 - at;
        let is_told = |&number: &usize| !is_barred(&turn.statements[number], turn, later_turns, 1.0);
        let results = (0..=last).filter(stands_there).filter(is_result).filter(is_told);
        self.fitting(at, results.filter(|&number| !chosen.contains(&(at, number))), MAX_BRIEF_CHARS)
    }

    /// Returns the best of what the agent said while it worked, if the last turn that changed files ended with an answer of which nothing
    /// is told but what was checked.
    fn reasoned(&self, chosen: &[Place]) -> Option<Place> {
        let (at, turn) = self.turns.iter().enumerate().rfind(|(_, turn)| turn.edited)?;
        let is_report = |it: &Statement| prose::is_filler(&it.text) || prose::checked(&it.text).is_some();
        let says = |it: &Statement| it.voice == Voice::Answer && !is_lead(&it.text) && !is_report(it);
        if turn.committed || chosen.iter().any(|&(of, number)| of == at && says(&turn.statements[number])) {
            return None;
        }
        let later_turns = self.turns.len() - 1 - at;
        let tells = |number: usize| {
            let statement = &turn.statements[number];
            statement.voice == Voice::Work
                && statement.text.chars().count() >= MIN_ANSWER_CHARS
                && !is_lead(&statement.text)
                && tells_what_was_done(&statement.text.to_lowercase())
                && !is_barred(statement, turn, later_turns, 1.0)
        };
        let best = self.judged().iter().filter(|((of, number), ..)| *of == at && tells(*number));
        let best = best.max_by(|one, other| one.2.total_cmp(&other.2)).map(|(place, ..)| *place);
        best.filter(|place| !chosen.contains(place))
    }
}

/// Returns the places of the longest text with which a turn ended. A recap of the client is another one.
pub(super) fn answer(turn: &TurnResult) -> Vec<usize> {
    let own = (0..turn.statements.len()).filter(|&number| turn.statements[number].voice == Voice::Answer);
    let mut texts: Vec<Vec<usize>> = Vec::new();
    for number in own {
        let goes_on = |text: &&mut Vec<usize>| {
            let (last, next) = (&turn.statements[text[text.len() - 1]], &turn.statements[number]);
            last.count == next.count && last.place < next.place
        };
        match texts.last_mut().filter(goes_on) {
            Some(text) => text.push(number),
            None => texts.push(vec![number]),
        }
    }
    texts.into_iter().max_by_key(Vec::len).unwrap_or_default()
}

/// Returns whether a sentence opens an answer and is too short to say anything beside what follows: "Found it."
fn opens_empty(turn: &TurnResult, number: usize) -> bool {
    let it = &turn.statements[number];
    let is_empty = if it.text.is_ascii() {
        it.text.split_whitespace().count() < MIN_OPENING_WORDS
    } else {
        it.text.chars().count() < MIN_WIDE_OPENING_CHARS
    };
    it.form == Form::Sentence
        && it.place == 0
        && it.count > 1
        && is_empty
        && statement::names(&it.text).is_empty()
        && !is_lead(&it.text)
        && !standing::is_short_answer(&it.text.to_lowercase())
}

/// Returns whether two statements that are told one after the other are of the same paragraph, list or table.
pub(super) fn is_of_same_block(last: &Statement, next: &Statement) -> bool {
    match next.form {
        Form::Item | Form::Row => (last.form, &last.heading) == (next.form, &next.heading),
        Form::Sentence | Form::Heading => next.goes_on && last.form == next.form && last.place + 1 == next.place,
    }
}

/// Returns whether a statement is not understood without the one that is told before it.
fn leans_on(statement: &Statement, last: &Statement) -> bool {
    let lower = text::lower(&statement.text);
    let is_listed = matches!(statement.form, Form::Item | Form::Row);
    (is_listed && is_lead(&last.text))
        || signs::leans_on_sentence_before(&lower)
        || signs::begins_with_pronoun(&lower, is_listed)
        || prose::is_pointer(&lower)
}

/// Returns whether a text in lower case, said before a change, tells what it is for: how it is mended, or a cause. A problem alone reads as
/// if it were still there.
fn tells_what_was_done(lower: &str) -> bool {
    standing::says_mended(lower) || (prose::signs(lower).0 >= MIN_CAUSE && !signs::is_problem(lower))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(turns: Vec<TurnResult>, chosen: &[Place]) -> Vec<String> {
        let mut results = Results::default();
        for turn in turns {
            results.push(turn);
        }
        let told = results.with_answers(chosen.to_vec(), &[]);
        told.into_iter().map(|(at, number)| results.turns[at].statements[number].text.clone()).collect()
    }

    fn turn(answer: &str) -> TurnResult {
        let statements = statement::statements(answer, Voice::Answer);
        TurnResult { statements, substantive: true, edited: true, prompt_chars: 80, ..TurnResult::default() }
    }

    #[test]
    fn an_answer_is_told_whole() {
        let answer = "The till rounds each total to cents.\n\nThree slips are new:\n- A red slip for refunds\n- A blue slip for \
                      the drawer\n\nThe night till was not tested.";
        assert_eq!(
            told(vec![turn(answer)], &[]),
            [
                "The till rounds each total to cents.",
                "Three slips are new:",
                "A red slip for refunds",
                "A blue slip for the drawer",
                "The night till was not tested."
            ]
        );
        let refused = TurnResult { is_objected: true, ..turn(answer) };
        assert!(told(vec![refused], &[]).is_empty());
    }

    #[test]
    fn a_long_answer_loses_whole_blocks_of_its_middle() {
        let slip = "one slip of the night till is printed on red paper with a border of two lines, ".repeat(4);
        let list = format!("- {slip}\n").repeat(15);
        let answer = format!("The till rounds each total to cents.\n\n{list}\nThe night till was not tested.");
        assert_eq!(
            told(vec![turn(&answer)], &[]),
            ["The till rounds each total to cents.", "The night till was not tested."]
        );
    }

    #[test]
    fn what_ends_an_answer_is_told_with_its_opening() {
        let slip = |color: &str| format!("- One slip of the {color} till is printed on paper with a border of two lines\n");
        let list: String = ["night", "red", "blue", "green", "old", "new", "small", "first", "last"].map(slip).concat();
        let answer = format!("The changes:\n{list}\nThe drawer of the till stays as it was.");
        let long = |said: &str| (0..60).map(|number| format!("- {said} {number}")).collect::<Vec<_>>().join("\n");
        let drawers = turn(&long("The drawer opens with the red key of shelf number"));
        let lamps = turn(&long("A lamp shines at dusk above the counter beside window"));
        let turns = vec![turn(&answer), drawers, lamps, turn("The bell rings once.")];
        let told = told(turns, &[]);
        assert_eq!(told[0], "The changes:", "{told:?}");
        assert!(told[1].starts_with("One slip of the night till"), "{told:?}");
    }

    #[test]
    fn what_is_only_named_elsewhere_is_not_told_yet() {
        let found =
            "Two parts of the till do the same:\n- `open_till()`\n- `close_till()`\n\nThe lamp of the drawer is never lit.";
        let named = "Added `open_till()` and `close_till()` to the till of the night shop.";
        assert_eq!(told(vec![turn(named), turn(found)], &[(0, 0)]).len(), 5);
    }

    #[test]
    fn a_list_that_was_given_on_the_way_is_told_if_the_end_says_nothing() {
        let mut turn = turn("All four are done.");
        let list = "All checks pass:\n- The till rounds each total to cents\n- The drawer stays shut at night";
        turn.statements.extend(statement::statements(list, Voice::Work));
        assert_eq!(told(vec![turn], &[]).len(), 3);
    }

    #[test]
    fn a_list_is_told_with_the_line_above_it() {
        let answer = "The till rounds each total to cents.\n\nThe drawer has two parts:\n- A lock of red steel\n- A lamp";
        let told = told(vec![turn(answer)], &[(0, 0)]);
        assert_eq!(told[1..], ["The drawer has two parts:", "A lock of red steel", "A lamp"]);
    }

    #[test]
    fn a_recap_is_not_taken_for_the_answer() {
        let mut recapped = turn("You asked for a till that rounds each total.");
        let answer = "The till rounds each total to cents. The drawer stays shut at night. The bell rings once.";
        recapped.statements.extend(statement::statements(answer, Voice::Answer));
        assert_eq!(told(vec![recapped], &[]).len(), 3);
    }

    #[test]
    fn an_opening_of_two_words_says_nothing() {
        let opening = |answer: &str| told(vec![turn(answer)], &[]).swap_remove(0);
        assert_eq!(
            opening("Found it. The drawer of the night till counts twice."),
            "The drawer of the night till counts twice."
        );
        assert_eq!(opening("The till works. The drawer of the night till counts once."), "The till works.");
    }

    #[test]
    fn what_later_turns_tell_is_told_once() {
        let answer = "The total of the cart is rounded to cents before the tax of the country is added to it.";
        assert_eq!(told(vec![turn(answer), turn(answer)], &[(1, 0)]), [answer]);
    }
}
