//! Whether what an answer says holds at the end of the session, and whether later turns say it anew.

use super::turn_result::{TurnResult, share_of};
use super::{Place, Results};
use crate::extract::statement::{self, Voice};
use crate::text;

/// The share of its names or words that a later turn must say again to have the subject of an answer.
const SAME_SUBJECT: f32 = 0.3;
/// The share of its words that what is told must have for a statement to be told already.
const TOLD: f32 = 0.55;
/// The share of its names that later turns must say again for a statement to be overtaken.
const OVERTAKEN: f32 = 0.6;
/// The minimum number of names that can be overtaken.
const MIN_NAMES: usize = 2;

impl Results {
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

    /// Returns whether what is told has most of the words of a statement, or later turns say most of its names again.
    pub(super) fn is_known(&self, at: usize, number: usize, chosen: &[Place]) -> bool {
        let statement = &self.turns[at].statements[number];
        let (words, names) = (text::features(&statement.text), statement::names(&statement.text));
        let is_told = |&(of, other): &Place| {
            let said = text::features(&self.turns[of].statements[other].text);
            // That something is named somewhere tells nothing of it.
            words.len() > 2 && share_of(&words, |word| said.contains(word)) >= TOLD
        };
        let is_overtaken = |later: &TurnResult| {
            let theirs = later.names();
            share_of(&names, |name| theirs.contains(name)) >= OVERTAKEN
        };
        chosen.iter().any(is_told) || (names.len() >= MIN_NAMES && self.turns[at + 1..].iter().any(is_overtaken))
    }
}
