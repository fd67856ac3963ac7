//! What later turns mended or said anew: the state at the end wins over the state on the way.

use super::line::MIN_NAMES;
use super::subject::Subject;
use super::turn_result::{TurnResult, share};
use super::{Place, Results};
use crate::extract::signs;
use crate::extract::standing;
use crate::extract::statement::{self, Statement, Voice};
use crate::text;

/// The share of its names that later turns must state anew for a statement to be overtaken.
const OVERTAKEN: f32 = 0.8;
/// The same share for a turn that changed nothing, if a later one did.
const PROPOSED: f32 = 0.6;
/// The share of its words that one later statement must have for a statement to be said again.
const SAID_AGAIN: f32 = 0.55;
/// The number of words from which that is no accident.
const MIN_WORDS_AGAIN: usize = 6;
/// How many words a statement must share with another one to have its subject.
const MIN_SUBJECT_WORDS: usize = 3;

impl Results {
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

    /// Leaves out what a later turn says anew: the state at the end wins over the state on the way.
    pub(super) fn without_overtaken(&self, chosen: &[Place]) -> Vec<Place> {
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
                    let overtakes = is_record || self.turns[other].statements[number].voice != Voice::Commit;
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
