//! Adds the main results of earlier requests that are not told yet: the answer to a later, small question does not stand for them.

use super::turn_result::{TurnResult, is_lead, share_of};
use super::{Place, Results};
use crate::extract::prose;
use crate::extract::signs;
use crate::extract::standing;
use crate::extract::statement::{self, Form, Statement, Voice};
use crate::text;

/// The length of what is told of a session up to which main results are added, in characters. Longer pages have no room.
const MAX_CHARS: usize = 4_000;
/// The maximum length of what is added of one turn, in characters.
const MAX_TURN_CHARS: usize = 500;
/// The maximum length of a verdict that is added, in characters.
const MAX_VERDICT_CHARS: usize = 300;
/// The minimum length of a sentence that says what a turn gave, in characters, and of one in a wide script.
const MIN_LEAD_CHARS: usize = 24;
const MIN_WIDE_LEAD_CHARS: usize = 10;
/// The minimum length of an answer that has a main result, in characters.
const MIN_ANSWER_CHARS: usize = 80;
/// How many statements of an answer may stand before the sentence that says what the turn gave.
const MAX_PLACE: u16 = 3;
/// The length from which what is told of an answer says what it gave, in characters.
const MIN_TOLD_CHARS: usize = 120;
/// The part of a long answer that is hardly anything: one of so many.
const TOLD_PART: usize = 8;
/// The share of its names or words that a later turn must say again to have the subject of an answer.
const SAME_SUBJECT: f32 = 0.3;
/// The share of its words that what is told must have for a statement to be told already.
const TOLD: f32 = 0.55;
/// The share of its names that later turns must say again for a statement to be overtaken.
const OVERTAKEN: f32 = 0.6;
/// The minimum number of names that can be overtaken.
const MIN_NAMES: usize = 2;

impl Results {
    /// Adds the lead of the answer to each request of which hardly anything is told, and the list to which it leads: the longest
    /// answers first, while there is room.
    pub(super) fn with_main_results(&self, mut chosen: Vec<Place>) -> Vec<Place> {
        let Some(closing) = self.closing() else { return chosen };
        let mut turns: Vec<usize> = (0..closing).filter(|&at| self.lacks_main_result(at, &chosen)).collect();
        turns.sort_by_key(|&at| std::cmp::Reverse(answer_chars(&self.turns[at])));
        for at in turns {
            let room = self.room(&chosen).min(MAX_TURN_CHARS);
            chosen.extend(self.main_result(at, &chosen, room));
        }
        chosen.sort_unstable();
        chosen
    }

    /// Adds the verdict of each answer of which something else is told.
    pub(super) fn with_verdicts(&self, mut chosen: Vec<Place>) -> Vec<Place> {
        for at in 0..self.turns.len() {
            let turn = &self.turns[at];
            let is_told = chosen.iter().any(|&(of, number)| of == at && turn.statements[number].voice == Voice::Answer);
            let room = self.room(&chosen).min(MAX_VERDICT_CHARS);
            let verdict = (0..turn.statements.len()).find(|&number| self.is_verdict(at, number));
            let fits = |&number: &usize| chars(&turn.statements[number]) <= room && !self.is_known(at, number, &chosen);
            if let Some(number) = verdict.filter(|number| is_told && self.holds(at) && fits(number)) {
                chosen.push((at, number));
            }
        }
        chosen.sort_unstable();
        chosen
    }

    /// Returns how many characters may be added to what is told.
    fn room(&self, chosen: &[Place]) -> usize {
        let told: usize = chosen.iter().map(|&(turn, number)| chars(&self.turns[turn].statements[number])).sum();
        MAX_CHARS.saturating_sub(told)
    }

    /// Returns whether a turn did or answered what it was asked for, and hardly anything of its answer is told although it holds.
    fn lacks_main_result(&self, at: usize, chosen: &[Place]) -> bool {
        let turn = &self.turns[at];
        let of_turn = chosen.iter().filter(|(of, _)| *of == at).map(|&(_, number)| &turn.statements[number]);
        let told: usize = of_turn.filter(|it| it.voice == Voice::Answer).map(chars).sum();
        let all = answer_chars(turn);
        let is_request = turn.substantive && !turn.is_chore && !turn.is_chat();
        // "Yes, release it" was done with tools that change no file here.
        let opening = turn.statements.iter().find(|it| it.voice == Voice::Answer);
        let is_done = turn.used_tools && opening.is_some_and(|it| standing::reports_deed(&it.text.to_lowercase()));
        (is_request || is_done)
            && !(turn.is_refused || turn.is_unfinished)
            && all >= MIN_ANSWER_CHARS
            && (told < MIN_TOLD_CHARS.min(all / 3) || told < all / TOLD_PART)
            && self.holds(at)
    }

    /// Returns whether what a turn's answer says holds at the end: nobody called it wrong, and it tells what was done and nobody wanted
    /// otherwise, or no later turn that changed files speaks of the same.
    pub(in crate::extract) fn holds(&self, at: usize) -> bool {
        let turn = &self.turns[at];
        if turn.is_withdrawn() {
            return false;
        }
        let own = turn.statements.iter().filter(|it| it.voice == Voice::Answer);
        let names: Vec<u32> = own.clone().flat_map(|it| statement::names(&it.text)).collect();
        let words: text::Features = own.flat_map(|it| text::features(&it.text)).collect();
        let speaks_of_it = |later: &TurnResult| {
            let (theirs, said) = (later.names(), later.words());
            share_of(&names, |name| theirs.contains(name)) >= SAME_SUBJECT
                || share_of(&words, |word| said.contains(word)) >= SAME_SUBJECT
        };
        (turn.has_work() && !turn.disputed) || !self.turns[at + 1..].iter().any(|later| later.edited && speaks_of_it(later))
    }

    /// Returns the places of a turn's main result: its verdict or its first sentence, and the list to which that leads.
    fn main_result(&self, at: usize, chosen: &[Place], room: usize) -> Vec<Place> {
        let turn = &self.turns[at];
        let numbers = || 0..turn.statements.len();
        let lead = numbers().find(|&number| self.is_verdict(at, number));
        let Some(lead) = lead.or_else(|| numbers().find(|&number| self.opens_result(at, number))) else {
            return Vec::new();
        };
        if self.is_known(at, lead, chosen) || chars(&turn.statements[lead]) > room {
            return Vec::new();
        }
        let list = self.list_behind(at, lead);
        let new = list.iter().copied().filter(|&number| !self.is_known(at, number, chosen));
        let told = self.fitting(at, new, room - chars(&turn.statements[lead]));
        // A list with gaps misleads.
        let told = if 2 * told.len() < list.len() { Vec::new() } else { told };
        // A line that leads to a list says nothing without it.
        if told.is_empty() && is_lead(&turn.statements[lead].text) {
            return told;
        }
        [vec![(at, lead)], told].concat()
    }

    /// Returns the items of the list that stands next behind a statement in the same text, as far as they may be told.
    fn list_behind(&self, at: usize, lead: usize) -> Vec<usize> {
        let turn = &self.turns[at];
        let next = turn.lists().into_iter().find(|list| list.end > lead + 1);
        let tells = |number: &usize| *number > lead && self.is_part_of_answer(at, *number);
        next.map(|list| list.filter(tells).collect()).unwrap_or_default()
    }

    /// Returns whether a statement at the beginning of an answer says what its turn gave.
    fn opens_result(&self, at: usize, number: usize) -> bool {
        let turn = &self.turns[at];
        let statement = &turn.statements[number];
        let lower = text::lower(&statement.text);
        let least = if statement.text.is_ascii() { MIN_LEAD_CHARS } else { MIN_WIDE_LEAD_CHARS };
        statement.form == Form::Sentence
            && statement.place <= MAX_PLACE
            && chars(statement) >= least
            && self.is_part_of_answer(at, number)
            && prose::checked(&statement.text).is_none()
            && !signs::addresses_reader(&lower)
            && !signs::leans_on_sentence_before(&lower)
    }

    /// Returns whether a statement of an answer is its verdict: it opens with that word, or stands first below it.
    fn is_verdict(&self, at: usize, number: usize) -> bool {
        let turn = &self.turns[at];
        let statement = &turn.statements[number];
        let is_label = |said: &str| standing::is_short_answer(&said.to_lowercase());
        let is_first = || number == 0 || turn.statements[number - 1].heading != statement.heading;
        let says = match statement.form {
            Form::Heading => is_label(&statement.text) && statement.text.contains([':', '：', '—']),
            _ => is_label(&statement.text) || (is_label(&statement.heading) && is_first()),
        };
        says && statement.voice == Voice::Answer
            && chars(statement) >= MIN_WIDE_LEAD_CHARS
            && !statement::is_question(&statement.text)
            && (statement.form == Form::Heading || self.is_part_of_answer(at, number))
    }

    /// Returns whether what is told has most of the words of a statement, or later turns say most of its names again.
    fn is_known(&self, at: usize, number: usize, chosen: &[Place]) -> bool {
        let statement = &self.turns[at].statements[number];
        let (words, names) = (text::features(&statement.text), statement::names(&statement.text));
        let is_told = |&(of, other): &Place| {
            let said = text::features(&self.turns[of].statements[other].text);
            share_of(&words, |word| said.contains(word)) >= TOLD
        };
        let is_overtaken = |later: &TurnResult| {
            let theirs = later.names();
            share_of(&names, |name| theirs.contains(name)) >= OVERTAKEN
        };
        chosen.iter().any(is_told) || (names.len() >= MIN_NAMES && self.turns[at + 1..].iter().any(is_overtaken))
    }
}

fn answer_chars(turn: &TurnResult) -> usize {
    turn.statements.iter().filter(|it| it.voice == Voice::Answer).map(chars).sum()
}

fn chars(statement: &Statement) -> usize {
    statement.text.chars().count()
}
