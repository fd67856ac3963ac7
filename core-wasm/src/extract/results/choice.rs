//! Chooses the statements that are told of a session.

use super::barred::{MIN_CAUSE, is_barred, is_barred_anywhere, points_back};
use super::line::MIN_NAMES;
use super::subject::Subject;
use super::turn_result::{TurnResult, is_lead, share};
use super::{Judged, MAX_LINE_CHARS, MAX_SESSION_CHARS, Place, Results};
use crate::extract::prose;
use crate::extract::signs;
use crate::extract::standing;
use crate::extract::statement::{self, Form, Statement, Voice};
use crate::extract::vanished;
use crate::text;

/// The maximum length of what is told of the answer with which the work ended, in characters.
const MAX_END_CHARS: usize = 3_000;
/// The maximum length of an answer that is told whole, once something of it is told, in characters.
const MAX_ANSWER_CHARS: usize = 1_300;
/// The maximum length of a list that is told because the answer says next to nothing, in characters.
const MAX_LISTED_CHARS: usize = 700;
/// The length of what is told of a session up to which answers are completed, in characters. Longer pages have no room.
const MAX_WHOLE_CHARS: usize = 5_000;
/// The maximum length of what is added to complete one list, in characters.
const MAX_LIST_CHARS: usize = 300;
/// The length up to which a list is told whole once one of its items is, in characters.
const MAX_SHORT_LIST_CHARS: usize = 450;
/// The number of steps of a list from which the others are added, and the maximum length of these, in characters.
const MIN_STEPS: usize = 2;
const MAX_STEPS_CHARS: usize = 500;
/// The maximum length of what is added from below one heading that says how something was mended, in characters.
const MAX_FIX_CHARS: usize = 360;
/// The minimum length of a sentence that alone says what an answer says, in characters.
const MIN_ANSWER_CHARS: usize = 40;
/// The share of its names that later turns must state anew for a statement to be overtaken.
const OVERTAKEN: f32 = 0.8;
/// The same share for a turn that changed nothing, if a later one did.
const PROPOSED: f32 = 0.6;
/// The share of its words that one later statement must have for a statement to be said again.
const SAID_AGAIN: f32 = 0.55;
/// The number of words from which that is no accident.
const MIN_WORDS_AGAIN: usize = 6;
/// The maximum length of a sentence that is told because the next one needs it, in characters.
const MAX_ANTECEDENT_CHARS: usize = 240;
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
/// How many words a statement must share with another one to have its subject.
const MIN_SUBJECT_WORDS: usize = 3;
/// The maximum number of changes that are told with their lines, if an answer says nothing else.
const MAX_PLACES: usize = 3;
/// The length below which an answer says next to nothing, in characters.
const MIN_TELLING_CHARS: usize = 80;
/// The number of words from which a sentence to the user says something of the work.
const MIN_TELLING_WORDS: usize = 6;
/// The length from which what the agent says to a report of the client sums up the work, in characters.
const MIN_CLOSING_CHARS: usize = 400;
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
        for ((turn, number), setting, score) in judged {
            let statement = &self.turns[turn].statements[number];
            let is_planned = setting.edited_later && !self.turns[turn].edited && signs::is_plan(&statement.heading);
            let chars = statement.text.chars().count();
            let has_room = used[turn] + chars <= MAX_LINE_CHARS && used.iter().sum::<usize>() + chars <= max_chars;
            if score < least || is_planned || !has_room || self.is_untold((turn, number), score) {
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
                && !turn.only_commits_beside(it)
                && !turn.is_option(*number)
                && !is_barred(it, turn, later_turns, 1.0)
        };
        turn.statements.iter().enumerate().find(says).map(|(number, _)| (at, number))
    }

    /// Returns whether a statement is not told, whatever room there is: it never is, it is told elsewhere, or it was true only before a
    /// later turn.
    fn is_untold(&self, (at, number): Place, score: f32) -> bool {
        let turn = &self.turns[at];
        let statement = &turn.statements[number];
        let later_turns = self.turns.len() - 1 - at;
        is_barred(statement, turn, later_turns, score)
            || ((later_turns > 0 || statement.voice == Voice::Work) && turn.is_option(number))
            || turn.only_commits_beside(statement)
            || self.is_asked(statement, at)
            || self.is_mended_after(&statement.text, turn.number)
            || (statement.is_of_agent() && self.is_fixed_after(&statement.text, turn.number))
            || (self.is_committed_after(statement, at) && signs::is_failed_commit(&statement.text.to_lowercase()))
    }

    /// Returns whether a text of a turn lays a failure on something else, and a later turn changed files for what it speaks of.
    pub(in crate::extract) fn is_mended_after(&self, said: &str, number: u32) -> bool {
        if !signs::excuses(&said.to_lowercase()) {
            return false;
        }
        let own = Subject::of_text(said);
        let is_of = |it: &Statement| own.shares(&Subject::of_statement(it), 0, MIN_SUBJECT_WORDS);
        self.is_told_after(number, |later| later.edited, is_of)
    }

    /// Returns whether a text of a turn says what is wrong, and a later turn that changed files says of the same that it is mended.
    pub(in crate::extract) fn is_fixed_after(&self, said: &str, number: u32) -> bool {
        let lower = text::lower(said);
        // "It is now" says how it is after a change, and "it is currently" how it was before.
        let is_current = standing::is_current_state(&lower);
        let is_fault = signs::is_problem(&lower) && !standing::says_mended(&lower);
        if standing::is_deed(&lower) || !(is_fault || is_current) {
            return false;
        }
        let own = Subject::of_text(said);
        self.is_told_after(number, TurnResult::has_work, |it| {
            (it.voice == Voice::Commit || standing::says_mended(&it.text.to_lowercase()))
                && own.shares(&Subject::of_statement(it), 1, MIN_SUBJECT_WORDS)
        })
    }

    /// Returns whether an answer or a commit of a later turn for which `is_meant` returns true is one that `tells` accepts.
    fn is_told_after(
        &self,
        number: u32,
        is_meant: impl Fn(&TurnResult) -> bool,
        tells: impl Fn(&Statement) -> bool,
    ) -> bool {
        let mut later = self.turns.iter().filter(|later| later.number > number && !later.is_taken_back && is_meant(later));
        let is_word = |it: &&Statement| matches!(it.voice, Voice::Answer | Voice::Commit);
        later.any(|later| later.statements.iter().filter(is_word).any(&tells))
    }

    /// Returns whether a statement is what the human asked for first, which is told as the request.
    fn is_asked(&self, statement: &Statement, turn: usize) -> bool {
        let first = self.turns.iter().position(|turn| turn.substantive);
        statement.voice == Voice::Human && first == Some(turn) && self.turns[turn].asked.contains(statement.text.as_str())
    }

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

    /// Adds the line above each told list that says what its items are: without it they read as a part of what stands before them, and
    /// what was taken out as if it were there.
    pub(super) fn with_leads(&self, mut chosen: Vec<Place>) -> Vec<Place> {
        for (at, turn) in self.turns.iter().enumerate() {
            for list in turn.lists() {
                let Some(above) = list.start.checked_sub(1) else { continue };
                let (lead, first) = (&turn.statements[above], &turn.statements[list.start]);
                let leads = is_lead(&lead.text) && (lead.voice, lead.place + 1) == (first.voice, first.place);
                let told = list.clone().filter(|number| chosen.contains(&(at, *number))).count();
                let is_most = 2 * told >= list.len() && (told >= 2 || list.len() == 1) && chosen.contains(&(at, list.start));
                // "It was meant for:" needs the sentence that says what was.
                let points = lead.goes_on && signs::begins_with_pronoun(&lead.text.to_lowercase(), true);
                let is_needed =
                    (told > 0 && vanished::says_removal(&lead.text)) || (is_most && (turn.needs_lead(above) || points));
                if leads && is_needed && !chosen.contains(&(at, above)) {
                    chosen.push((at, above));
                    let before = above.checked_sub(1).filter(|before| points && !chosen.contains(&(at, *before)));
                    chosen.extend(before.map(|before| (at, before)));
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

    /// Returns the statement before this one in the same text that says something.
    fn before(&self, at: usize, number: usize) -> Option<usize> {
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

    /// Adds what is missing of the lists of which most is chosen, while there is room: a list with gaps misleads.
    pub(super) fn with_whole_lists(&self, mut chosen: Vec<Place>) -> Vec<Place> {
        let mut room = (MAX_SESSION_CHARS + MAX_LIST_CHARS).saturating_sub(
            chosen.iter().map(|&(turn, number)| self.turns[turn].statements[number].text.chars().count()).sum(),
        );
        for (at, turn) in self.turns.iter().enumerate() {
            for list in turn.lists() {
                let (told, missing): (Vec<usize>, Vec<usize>) =
                    list.clone().partition(|number| chosen.contains(&(at, *number)));
                let later_turns = self.turns.len() - 1 - at;
                let missing: Vec<usize> = missing
                    .into_iter()
                    .filter(|&number| {
                        !is_barred(&turn.statements[number], turn, later_turns, 1.0) && !turn.is_option(number)
                    })
                    .collect();
                let length = |numbers: &[usize]| -> usize {
                    numbers.iter().map(|&number| turn.statements[number].text.chars().count()).sum()
                };
                let (own, chars) = (length(&told), length(&missing));
                let is_most = told.len() >= 2 && told.len() >= missing.len() && chars <= MAX_LIST_CHARS;
                let is_short = !told.is_empty() && chars + own <= MAX_SHORT_LIST_CHARS && chars + MAX_LIST_CHARS <= room;
                if (is_short || is_most) && chars <= room {
                    room -= chars;
                    chosen.extend(missing.into_iter().map(|number| (at, number)));
                }
            }
        }
        chosen.sort_unstable();
        chosen
    }

    /// Adds the missing steps of the numbered lists of which enough is chosen: a cause or a procedure without one of its steps is
    /// another one. What is only offered is no step.
    pub(super) fn with_whole_steps(&self, mut chosen: Vec<Place>) -> Vec<Place> {
        for (at, turn) in self.turns.iter().enumerate() {
            if turn.is_withdrawn() || turn.is_refused {
                continue;
            }
            for list in turn.lists() {
                let is_choice = |number: usize| {
                    let it = &turn.statements[number];
                    turn.is_offered(number)
                        || statement::is_question(&it.text)
                        || signs::is_proposals(&it.heading)
                        || it.is_proposed
                };
                let is_step = |number: &usize| turn.statements[*number].is_step;
                let (told, missing): (Vec<usize>, Vec<usize>) =
                    list.clone().filter(is_step).partition(|number| chosen.contains(&(at, *number)));
                let chars: usize = missing.iter().map(|&number| turn.statements[number].text.chars().count()).sum();
                let is_most = told.len() >= MIN_STEPS && 2 * told.len() >= missing.len();
                if is_most && chars <= MAX_STEPS_CHARS && !list.clone().any(is_choice) {
                    chosen.extend(missing.into_iter().map(|number| (at, number)));
                }
            }
        }
        chosen.sort_unstable();
        chosen
    }

    /// Leaves out the rows of a table of which less than half is told: a few rows do not stand for the others.
    pub(super) fn without_stray_rows(&self, mut chosen: Vec<Place>) -> Vec<Place> {
        for (at, turn) in self.turns.iter().enumerate() {
            for list in turn.lists().into_iter().filter(|list| turn.statements[list.start].form == Form::Row) {
                let told = list.clone().filter(|number| chosen.contains(&(at, *number))).count();
                if told > 0 && 2 * told < list.len() {
                    chosen.retain(|(of, number)| *of != at || !list.contains(number));
                }
            }
        }
        chosen
    }

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
            statement.voice == Voice::Human
                || (statement.form != Form::Sentence && !statement.goes_on)
                || is_told
                || !(signs::speaks_of_named_before(&lower) || (statement.goes_on && signs::speaks_of_fact_before(&lower)))
        };
        chosen.iter().filter(is_whole).copied().collect()
    }

    /// Leaves out what a later turn says anew: the state at the end wins over the state on the way.
    fn without_overtaken(&self, chosen: &[Place]) -> Vec<Place> {
        let gone = self.overtaken(chosen);
        let left = chosen.iter().filter(|place| !gone.contains(place)).copied().collect();
        self.without_rests_of_lists(left, &gone)
    }

    /// Leaves out the lists of which later turns say most anew. Single items stay: a list with gaps misleads.
    pub(super) fn without_overtaken_lists(&self, chosen: Vec<Place>) -> Vec<Place> {
        let gone = self.overtaken(&chosen);
        let mut all = chosen.clone();
        let left: Vec<Place> = chosen.into_iter().filter(|place| !gone.contains(place)).collect();
        let left = self.without_rests_of_lists(left, &gone);
        for (at, turn) in self.turns.iter().enumerate() {
            for list in turn.lists() {
                if !left.iter().any(|(of, number)| *of == at && list.contains(number)) {
                    all.retain(|(of, number)| *of != at || !list.contains(number));
                }
            }
        }
        all
    }

    /// Returns which of the chosen statements later turns say anew.
    fn overtaken(&self, chosen: &[Place]) -> Vec<Place> {
        let names: Vec<Vec<u32>> =
            chosen.iter().map(|&(turn, number)| statement::names(&self.turns[turn].statements[number].text)).collect();
        let words: Vec<text::Features> =
            chosen.iter().map(|&(turn, number)| text::features(&self.turns[turn].statements[number].text)).collect();
        // In other words, by a later turn's answer.
        let is_said_again = |at: usize| {
            let (turn, number) = chosen[at];
            self.turns[turn].statements[number].is_of_agent()
                && words[at].len() >= MIN_WORDS_AGAIN
                && (at + 1..chosen.len()).any(|later| {
                    let (other, number) = chosen[later];
                    let again = words[at].iter().filter(|word| words[later].contains(word)).count();
                    other > turn
                        && self.turns[other].statements[number].is_of_agent()
                        && share(again, words[at].len()) >= SAID_AGAIN
                })
        };
        let is_overtaken = |at: usize| {
            let (turn, number) = chosen[at];
            let is_record = self.turns[turn].statements[number].voice == Voice::Commit;
            let said_later = |name: &u32| {
                (at + 1..chosen.len()).any(|later| {
                    let (other, number) = chosen[later];
                    // A commit says in other words what was done before it.
                    let overtakes = match self.turns[other].statements[number].voice {
                        Voice::Human => false,
                        Voice::Work | Voice::Answer => true,
                        Voice::Commit => is_record,
                    };
                    other > turn && overtakes && names[later].contains(name)
                })
            };
            let again = names[at].iter().filter(|name| said_later(name)).count();
            // What was proposed before the work is overtaken by what was done.
            let is_proposal = !self.turns[turn].has_work();
            let least =
                if is_proposal && self.turns[turn + 1..].iter().any(|later| later.edited) { PROPOSED } else { OVERTAKEN };
            names[at].len() >= MIN_NAMES && share(again, names[at].len()) >= least
        };
        (0..chosen.len()).filter(|&at| is_overtaken(at) || is_said_again(at)).map(|at| chosen[at]).collect()
    }

    /// Leaves out what remains of a list of which later turns say most anew: alone it tells the state on the way. An item that names
    /// something of which no later turn speaks stays.
    fn without_rests_of_lists(&self, mut chosen: Vec<Place>, gone: &[Place]) -> Vec<Place> {
        for (at, turn) in self.turns.iter().enumerate() {
            for list in turn.lists() {
                let count = |all: &[Place]| list.clone().filter(|number| all.contains(&(at, *number))).count();
                if count(gone) <= count(&chosen) {
                    continue;
                }
                let later = chosen.iter().filter(|(of, _)| *of > at);
                let known: Vec<u32> =
                    later.flat_map(|&(of, number)| statement::names(&self.turns[of].statements[number].text)).collect();
                let is_new =
                    |number: usize| statement::names(&turn.statements[number].text).iter().any(|name| !known.contains(name));
                chosen.retain(|&(of, number)| of != at || !list.contains(&number) || is_new(number));
            }
        }
        chosen
    }
}

/// Returns the score of a statement with what it gains or loses by the words with which it opens or speaks to the user.
fn with_bonuses(mut score: f32, statement: &Statement) -> f32 {
    let lower = text::lower(&statement.text);
    // Why something is as it is holds for everybody, whoever it was told to.
    let is_cause = || prose::signs(&lower).0 >= MIN_CAUSE || text::contains_words(&lower, "why");
    if statement.voice != Voice::Human && signs::addresses_reader(&lower) && !is_cause() {
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

/// Returns whether a text in lower case, said before a change, tells what it is for: how it is mended, or a cause. A problem alone reads as
/// if it were still there.
fn tells_what_was_done(lower: &str) -> bool {
    standing::says_mended(lower) || (prose::signs(lower).0 >= MIN_CAUSE && !signs::is_problem(lower))
}

/// Returns whether a sentence to the user says more than "your call".
fn says_much(said: &str) -> bool {
    !statement::names(said).is_empty() || text::features(said).len() >= MIN_TELLING_WORDS
}
