//! The results of a session's turns: for each turn the statements that a later session should be told.
//!
//! What a statement is worth depends on what came after it, so the statements are kept and judged anew at the end of
//! every call.

mod amendment;
mod answers;
mod asked;
mod barred;
mod brief;
mod choice;
mod handled;
mod holding;
mod joined;
mod line;
mod lists;
mod neighbours;
mod passage;
mod records;
mod reprinted;
mod said_anew;
mod subject;
mod superseded;
#[cfg(test)]
mod tests;
mod turn_result;

use std::cell::OnceCell;

use serde::{Deserialize, Serialize};

use super::judge::{self, Setting};
use super::labels::Labels;
use super::prose;
use super::signs;
use super::standing;
use super::statement::{self, Form, Statement, Voice};
use super::vanished;
use crate::bindings::throughline::policy::types::Draft;
pub(super) use joined::{heading_as_told, told_as};
use line::Said;
use reprinted::Reprint;
pub(super) use superseded::names_real_cause;
pub(super) use turn_result::{TurnResult, is_dismissed, is_lead, share};

/// The maximum number of turns to keep.
const MAX_TURNS: usize = 48;
/// How many of them keep more than a few statements.
const RECENT_TURNS: usize = 24;
/// How many of the latest turns keep more of their statements.
const LATEST_TURNS: usize = 3;
/// The number of turns in which something is checked that the user doubted.
const MAX_CHECKING_TURNS: usize = 4;
/// The maximum size of the statements of each of the latest turns, in bytes.
const MAX_END_BYTES: usize = 8_000;
/// The maximum size of the statements of an earlier turn, in bytes.
const MAX_TURN_BYTES: usize = 3_000;
/// The maximum size of the statements of a turn before the recent ones, in bytes.
const MAX_OLD_BYTES: usize = 1_000;
/// The maximum length of what a session tells of its turns together, in characters.
const MAX_SESSION_CHARS: usize = 4_000;
/// The maximum length of what is told of one turn, in characters.
const MAX_LINE_CHARS: usize = 1_000;
/// The minimum score of a statement in the notes. The model's scores are log odds.
const MIN_SCORE: f32 = -0.9;
/// The minimum score of a statement in the memory of its turn, which is only shown if a search finds it.
const MIN_MEMORY_SCORE: f32 = -2.0;

/// The results of the latest turns, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Results {
    turns: Vec<TurnResult>,
    /// How many turns were dropped.
    dropped: usize,
    /// Whether all statements are kept. Only training needs them.
    #[serde(skip)]
    pub keep_all: bool,
    /// The turns that changed nothing as they were before they lost what was said of things that are gone. What was thought of these is
    /// no news, but somebody may ask for it.
    #[serde(skip)]
    history: Vec<TurnResult>,
    /// The scores of the statements, once they were asked for. Drafts and notes need the same.
    #[serde(skip)]
    judged: OnceCell<Vec<Judged>>,
}

/// A statement that was chosen, by the places of its turn and itself.
type Place = (usize, usize);

/// A statement's place, what happened around it, and its score.
pub(super) type Judged = (Place, Setting, f32);

impl Results {
    /// Adds the result of a turn. The oldest turn but the first is dropped when there are too many.
    pub(super) fn push(&mut self, mut turn: TurnResult) {
        if !self.keep_all {
            if let Some(reprint) = Reprint::of(&turn) {
                self.turns.iter_mut().for_each(|earlier| reprint.replace(earlier));
            }
            // One of the latest turns may become the end, which is told whole.
            turn.limit(self.turns.is_empty(), MAX_END_BYTES);
            for (count, max_bytes) in [(LATEST_TURNS, MAX_TURN_BYTES), (RECENT_TURNS, MAX_OLD_BYTES)] {
                if let Some(at) = self.turns.len().checked_sub(count) {
                    self.turns[at].limit(at == 0 && self.dropped == 0, max_bytes);
                }
            }
        }
        self.judged.take();
        self.turns.push(turn);
        if self.turns.len() > MAX_TURNS && !self.keep_all {
            self.turns.remove(1);
            self.dropped += 1;
        }
    }

    /// Records that a prompt disputes or amends what the latest turn gave, whether it says that all of that is wrong, and whether it wants
    /// something else in its place. Work of which a part is changed stays done, but what was only said does not stand.
    pub(super) fn dispute(&mut self, objects: bool, replaces: bool) {
        // Between the work and what is said against it somebody may have called the agent with a word.
        let gives = |turn: &TurnResult| turn.edited || turn.statements.iter().any(|it| it.voice != Voice::Human);
        if let Some(last) = self.turns.iter_mut().rfind(|turn| gives(turn) && !turn.only_calls()) {
            (last.disputed, last.is_objected) = (true, objects || (replaces && !last.has_work()));
        }
        self.judged.take();
    }

    /// Records that the agent gives in to what a prompt says of the latest turn.
    pub(super) fn concede(&mut self, reverts: bool) {
        if let Some(last) = self.latest() {
            last.conceded = true;
            last.reverted = reverts && last.edited;
        }
        self.judged.take();
    }

    /// Records that the user wants nothing of what the latest turn proposed.
    pub(super) fn stop_proposal(&mut self) {
        if let Some(last) = self.latest().filter(|last| !last.edited && !last.committed) {
            last.conceded = true;
        }
        self.judged.take();
    }

    /// Records that the user gives up all that was changed so far.
    pub(super) fn abandon(&mut self) {
        for turn in self.turns.iter_mut().filter(|turn| turn.has_work()) {
            (turn.conceded, turn.reverted) = (true, true);
        }
        self.judged.take();
    }

    /// Records which turns changed files only for a while, given their numbers. `stands` returns whether something that was changed until
    /// a turn in the file of a name stands: an answer may sum up earlier work, too.
    pub(super) fn take_back(&mut self, is_taken_back: impl Fn(u32) -> bool, stands: impl Fn(&str, u32) -> bool) {
        for turn in &mut self.turns {
            let mut named = turn.statements.iter().flat_map(|it| vanished::files_in(&it.text));
            let mut sums_up = || named.any(|name| stands(name, turn.number));
            turn.is_taken_back = turn.edited && is_taken_back(turn.number) && !sums_up();
        }
        self.judged.take();
    }

    /// Records that a prompt asks to check what the latest turn said.
    pub(super) fn doubt(&mut self) {
        if let Some(last) = self.latest() {
            last.doubted = true;
        }
        self.judged.take();
    }

    /// Records that a check showed the opposite of what was said: nothing of what the user asked to check holds.
    pub(super) fn disprove(&mut self) {
        let first = self.turns.len().saturating_sub(MAX_CHECKING_TURNS);
        for turn in self.turns[first..].iter_mut().filter(|turn| turn.doubted && !turn.has_work()) {
            (turn.conceded, turn.reverted) = (true, true);
        }
        self.judged.take();
    }

    /// Records that the agent found another cause than it had named before: what the user disputed or asked to check does not hold.
    pub(super) fn find_real_cause(&mut self) {
        self.disprove();
        if let Some(last) = self.latest().filter(|last| last.disputed && !last.has_work()) {
            (last.conceded, last.reverted) = (true, true);
        }
        self.judged.take();
    }

    /// Records that the agent set about what its latest answer offered, and found that nothing was wrong: nothing of the answer holds.
    pub(super) fn offer_failed(&mut self) {
        if let Some(last) = self.latest().filter(|last| !last.has_work()) {
            (last.conceded, last.reverted) = (true, true);
        }
        self.judged.take();
    }

    /// Records that the answer to a prompt that disputes the latest turn gives in, after the agent looked into it.
    pub(super) fn concede_after_all(&mut self, reverts: bool) {
        if self.latest().is_some_and(|last| last.disputed) {
            self.concede(reverts);
        }
    }

    /// Returns the latest turn of which a prompt can speak: not one that was interrupted before it gave anything.
    fn latest(&mut self) -> Option<&mut TurnResult> {
        let gives = |turn: &&mut TurnResult| turn.edited || turn.statements.iter().any(|it| it.voice != Voice::Human);
        self.turns.iter_mut().rfind(gives)
    }

    /// Keeps the agent's statements for which `holds` returns true, given the number of their turn. The items of a list go with the
    /// line or the heading above it, unless `is_own` says that they speak of something that stands. `for_search` keeps what turns without
    /// work said for the search.
    pub(super) fn retain(&mut self, holds: impl Fn(&str, u32) -> bool, is_own: impl Fn(&str) -> bool, for_search: bool) {
        if self.keep_all {
            return;
        }
        for turn in &mut self.turns {
            let number = turn.number;
            // What was taken out after it in the same turn does not hold either.
            let said_in = |statement: &Statement| number.saturating_sub(u32::from(statement.is_before_edit));
            // Of an item below "Removed:", only the heading says what was done.
            let is_below_removal = |it: &Statement| it.form == Form::Item && vanished::says_removal(&it.heading);
            let stands_below = |it: &Statement| holds(&format!("{}: {}", it.heading, it.text), said_in(it));
            let stands = |it: &Statement| {
                it.voice == Voice::Human || (holds(&it.text, said_in(it)) && (!is_below_removal(it) || stands_below(it)))
            };
            // The number in "Line 12: the total" says nothing of what is written.
            let heads = |it: &Statement| holds(&it.heading.replace(|c: char| c.is_ascii_digit(), " "), said_in(it));
            let is_thought = for_search && !(turn.has_work() || turn.disputed || turn.conceded);
            let may_go = |it: &Statement| !stands(it) || (it.form == Form::Item && !it.heading.is_empty() && !heads(it));
            let before = (is_thought && turn.statements.iter().any(may_go)).then(|| turn.clone());
            statement::retain_lists(&mut turn.statements, stands, heads, |it| is_own(&it.text));
            self.history.extend(before.filter(|before| before.statements.len() > turn.statements.len()));
        }
        self.judged.take();
    }

    /// Records what turns that changed nothing found of code on which a later turn worked, given the text and the number of the turn. What
    /// must be, what cannot be, and causes stay.
    pub(super) fn mark_worked_on(&mut self, is_worked_on: impl Fn(&str, u32) -> bool) {
        let last = self.turns.iter().rposition(|turn| turn.edited).filter(|_| !self.keep_all).unwrap_or(0);
        for turn in self.turns[..last].iter_mut().filter(|turn| !turn.has_work()) {
            for it in turn.statements.iter_mut().filter(|it| it.is_of_agent()) {
                it.is_worked_on = !holds_on(it) && is_worked_on(&it.text, turn.number);
            }
        }
    }

    /// Forgets what the agent takes back, with the sentences that go on after it.
    pub(super) fn retract(&mut self, is_of: impl Fn(&Statement) -> bool) {
        if self.keep_all {
            return;
        }
        for turn in &mut self.turns {
            statement::retract(&mut turn.statements, &is_of);
        }
        self.judged.take();
    }

    /// Forgets a commit that is not there any more, and what the agent said of its hash.
    pub(super) fn commit_gone(&mut self, subject: &str, hash: &str) {
        if self.keep_all {
            return;
        }
        for turn in &mut self.turns {
            turn.statements.retain(|statement| !is_of_commit(statement, subject, hash));
        }
        self.judged.take();
    }

    /// Forgets what a recap of the client said, which a later one says anew.
    pub(super) fn recap_overtaken(&mut self, recap: &str) {
        if self.keep_all {
            return;
        }
        for turn in &mut self.turns {
            turn.statements.retain(|statement| statement.voice != Voice::Answer || !recap.contains(&statement.text));
        }
        self.judged.take();
    }

    /// Forgets what the agent said in a turn that was only to commit.
    pub(super) fn forget_chore(&mut self, number: u32) {
        if self.keep_all {
            return;
        }
        for turn in self.turns.iter_mut().filter(|turn| turn.number == number && !turn.edited && !turn.substantive) {
            turn.statements.retain(|statement| statement.voice == Voice::Human);
        }
        self.judged.take();
    }

    /// Returns the turns, oldest first.
    pub(super) fn turns(&self) -> &[TurnResult] {
        &self.turns
    }

    /// Returns the turns that changed nothing, with their places.
    fn without_work(&self) -> impl Iterator<Item = (usize, &TurnResult)> {
        self.turns.iter().enumerate().filter(|(_, turn)| !turn.has_work())
    }

    /// Returns what happened around the statements of one turn.
    pub(super) fn setting(&self, turn: usize) -> Setting {
        let later = &self.turns[turn + 1..];
        Setting {
            later_turns: later.len(),
            edited_later: later.iter().any(|turn| turn.edited),
            ..self.turns[turn].setting(turn == 0)
        }
    }

    /// Returns every statement with its place, its setting and its score.
    pub(super) fn judged(&self) -> &[Judged] {
        self.judged.get_or_init(|| self.judge())
    }

    fn judge(&self) -> Vec<Judged> {
        let named: Vec<Vec<u32>> = self.turns.iter().map(TurnResult::names).collect();
        let mut all = Vec::new();
        for (at, turn) in self.turns.iter().enumerate() {
            let setting = self.setting(at);
            for (number, statement) in turn.statements.iter().enumerate() {
                let own = statement::names(&statement.text);
                let again = own.iter().filter(|name| named[at + 1..].iter().any(|later| later.contains(name))).count();
                let setting = Setting { mentioned_later: share(again, own.len()), ..setting };
                all.push(((at, number), setting, judge::score(statement, &setting)));
            }
        }
        all
    }

    /// Returns one line for each turn that has something to tell, with the place of the turn.
    pub(super) fn told(&self, labels: &Labels) -> Vec<(usize, String)> {
        let amended = self.amendments();
        let overtaken = [self.taken_back(), self.other_causes(), self.superseded(), self.handled()].concat();
        let holds = |&(turn, number): &Place| {
            !overtaken.contains(&(turn, number))
                && amended[turn].as_ref().is_none_or(|words| !words.amends(&self.turns[turn].statements[number]))
        };
        let is_edited_after = |at: usize| self.turns[at + 1..].iter().any(|later| later.edited);
        let may_go = |place: &Place| overtaken.contains(place) || is_edited_after(place.0);
        let places = self.judged().iter().map(|(place, ..)| *place);
        let untold: Vec<Place> = places.filter(|place| !holds(place) && may_go(place)).collect();
        let judged = self.judged().iter().filter(|(place, ..)| holds(place)).copied().collect();
        let chosen = self.without_stray_rows(self.with_whole_lists(self.choose(judged, MIN_SCORE, MAX_SESSION_CHARS)));
        let chosen = self.with_fixes(self.with_cures(self.with_antecedents(chosen)));
        let chosen = self.with_titles(self.with_leads(self.with_whole_steps(self.with_answers(chosen, &untold))));
        let mut chosen =
            self.without_leaning(&self.with_commit_lists(self.with_commit_bodies(self.without_records(chosen))));
        // What completes a list or an answer may be overtaken as well.
        chosen.retain(|place| !overtaken.contains(place));
        let chosen = self.with_counted_lists(self.without_overtaken_lists(chosen), &overtaken);
        let chosen = self.with_brief_answers(chosen, &overtaken);
        let chosen = self.with_openings(chosen, &overtaken);
        let said = Said::of(chosen.iter().map(|&(turn, number)| &self.turns[turn].statements[number]));
        (0..self.turns.len())
            .filter_map(|at| {
                let of_turn = || chosen.iter().filter(|(turn, _)| *turn == at).map(|(_, number)| *number);
                let line = self.turns[at].line(of_turn(), &said, labels);
                let is_past = self.turns[at].is_taken_back && !line.is_empty();
                let line = if is_past { format!("{}: {line}", labels.taken_back) } else { line };
                (!line.is_empty()).then_some((at, line))
            })
            .collect()
    }

    /// Returns a memory for each turn: what was asked, and the statements worth finding.
    pub(super) fn drafts(&self, labels: &Labels) -> Vec<Draft> {
        let mut all = self.drafts_of_turns(labels);
        let history = Results { turns: self.history.clone(), ..Results::default() }.drafts_of_turns(labels);
        all.retain(|draft| !history.iter().any(|of| of.key == draft.key));
        all.extend(history);
        all
    }

    fn drafts_of_turns(&self, labels: &Labels) -> Vec<Draft> {
        let (judged, taken_back) = (self.judged(), self.taken_back());
        (0..self.turns.len())
            .filter_map(|at| {
                let is_own = |place: &Place| place.0 == at && !taken_back.contains(place);
                let own = judged.iter().filter(|(place, ..)| is_own(place)).copied().collect();
                let chosen = self.choose(own, MIN_MEMORY_SCORE, MAX_LINE_CHARS);
                let said = Said::of(chosen.iter().map(|&(turn, number)| &self.turns[turn].statements[number]));
                self.turns[at].draft(chosen.into_iter().map(|(_, number)| number), &said, labels)
            })
            .collect()
    }
}

/// Returns whether a statement says what must be, what cannot be, why something is, or what was done: later work does not end that.
fn holds_on(statement: &Statement) -> bool {
    let lower = statement.text.to_lowercase();
    let names_file = || prose::file_in(&statement.text).is_some();
    let is_deed = || {
        let said = lower.strip_prefix("we ").unwrap_or(&lower);
        standing::is_deed(said) || (standing::tells_work(said) && names_file())
    };
    signs::tells_limit(&lower) || signs::demands(&lower) || prose::signs(&lower).0 >= barred::MIN_CAUSE || is_deed()
}

/// Returns whether a statement is the subject of a commit, or names its hash.
pub(super) fn is_of_commit(statement: &Statement, subject: &str, hash: &str) -> bool {
    match statement.voice {
        Voice::Commit => statement.place == 0 && statement.text == subject,
        Voice::Work | Voice::Answer => !hash.is_empty() && statement.text.contains(hash),
        Voice::Human => false,
    }
}
