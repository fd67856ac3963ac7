//! What a turn takes back of the turn before it.

use std::collections::HashSet;

use super::turn_result::{TurnResult, share, share_of};
use super::{Place, Results};
use crate::extract::standing;
use crate::extract::statement::{self, Form, Statement};
use crate::text;

/// The share of its words that the turn after a dispute must say again for a statement to be amended by it.
const AMENDED: f32 = 0.2;
/// The same for a script that is compared by pairs of letters, in which two sentences share the pairs of their endings, and for a
/// prompt that only the agent took for a dispute.
const AMENDED_WIDE: f32 = 0.4;
/// The share of its names that the turn in which the agent gave in must say again for a statement to be amended by it.
const NAMED_AGAIN: f32 = 0.5;
/// The share of its names or words that must be said again for a claim to be taken back that nobody disputed, and for an item of a list.
const TAKEN_BACK: f32 = 0.6;
/// The minimum number of Korean words that two sentences of the same subject share.
const MIN_STEMS: usize = 2;

/// What the turn after a dispute says.
#[expect(clippy::struct_excessive_bools, reason = "independent facts of two turns")]
pub(super) struct Amendment {
    words: text::Features,
    stems: HashSet<String>,
    latin: HashSet<String>,
    names: Vec<u32>,
    /// Whether the prompt itself disputes the turn before.
    disputed: bool,
    /// Whether the agent gave in.
    conceded: bool,
    /// Whether all that the turn before did was taken back.
    reverted: bool,
    /// Whether the agent gave in, and the turn before only said something: no work of it can stand.
    is_withdrawn: bool,
}

impl Amendment {
    /// Returns what a turn says of the disputed one before it.
    pub(super) fn of(before: &TurnResult, next: &TurnResult) -> Self {
        let TurnResult { disputed, conceded, reverted, .. } = *before;
        Amendment {
            words: next.words(),
            stems: next.statements.iter().flat_map(|statement| stems(&statement.text)).collect(),
            latin: next.statements.iter().flat_map(|statement| latin_words(&statement.text)).collect(),
            names: next.names(),
            disputed,
            conceded,
            reverted,
            is_withdrawn: conceded && !before.has_work(),
        }
    }

    /// Returns whether it speaks of the statement's subject, so that it and not the statement holds.
    pub(super) fn amends(&self, statement: &Statement) -> bool {
        let is_spaced = text::language(&statement.text) == text::Language::English;
        let least = if self.disputed && is_spaced { AMENDED } else { AMENDED_WIDE };
        statement.is_of_agent()
            && (self.reverted
                || (self.conceded && self.named_again(statement) >= NAMED_AGAIN)
                || self.said_again(statement) >= least
                || (self.disputed && self.conceded && self.has_stems_of(statement)))
    }

    /// Returns whether it speaks of the subject of a claim that the agent gave up, so that the claim is not told anywhere. What was
    /// done before stays done.
    fn takes_back(&self, statement: &Statement) -> bool {
        let is_of = || {
            // A check showed that nothing of it holds.
            if self.reverted {
                return true;
            }
            // A list is mostly disputed in one point. An item goes only if it is said again.
            if self.disputed && statement.form != Form::Item {
                self.amends(statement)
            } else {
                self.named_again(statement) >= TAKEN_BACK || self.said_again(statement) >= TAKEN_BACK
            }
        };
        self.is_withdrawn && statement.is_of_agent() && !standing::is_deed(&statement.text.to_lowercase()) && is_of()
    }

    /// Returns the share of a statement's names that the turn says again.
    fn named_again(&self, statement: &Statement) -> f32 {
        share_of(&statement::names(&statement.text), |name| self.names.contains(name))
    }

    /// Returns the share of a statement's words that the turn says again.
    fn said_again(&self, statement: &Statement) -> f32 {
        share_of(&text::features(&statement.text), |word| self.words.contains(word))
    }

    /// Returns whether the turn has enough of the Korean words of a statement, or of the Latin ones in another script. Pairs of letters
    /// compare both too coarsely.
    fn has_stems_of(&self, statement: &Statement) -> bool {
        if text::language(&statement.text) == text::Language::English {
            return false;
        }
        if share_of(&latin_words(&statement.text), |word| self.latin.contains(word)) >= NAMED_AGAIN {
            return true;
        }
        let own = stems(&statement.text);
        let again = own.iter().filter(|stem| self.stems.contains(*stem)).count();
        again >= MIN_STEMS && share(again, own.len()) >= AMENDED
    }
}

impl Results {
    /// Returns for each turn what the turn that followed said against it.
    pub(super) fn amendments(&self) -> Vec<Option<Amendment>> {
        (0..self.turns.len()).map(|at| self.amendment(at)).collect()
    }

    /// Returns what the turn that followed said, if its prompt disputed this one or the agent gave in to it.
    pub(super) fn amendment(&self, turn: usize) -> Option<Amendment> {
        let before = &self.turns[turn];
        let next = self.turns.get(turn + 1).filter(|_| before.disputed || before.conceded)?;
        Some(Amendment::of(before, next))
    }

    /// Returns whether the agent gave in at the beginning of a turn to a prompt that disputes the turn before. What it says then stands in
    /// the place of what it gave up.
    pub(in crate::extract) fn corrects(&self, turn: usize) -> bool {
        turn.checked_sub(1).is_some_and(|before| self.turns[before].disputed && self.turns[before].conceded)
    }

    /// Returns whether the agent gave in to the prompt of the latest turn.
    pub(in crate::extract) fn gives_up_before(&self) -> bool {
        self.turns.len().checked_sub(2).is_some_and(|before| self.turns[before].conceded)
    }

    /// Returns the claims that the agent gave up, each with the sentences that go on after it.
    pub(super) fn taken_back(&self) -> Vec<Place> {
        let mut all: Vec<Place> = Vec::new();
        for (at, turn) in self.turns.iter().enumerate() {
            let Some(words) = self.amendment(at).filter(|words| words.is_withdrawn) else { continue };
            for (number, statement) in turn.statements.iter().enumerate() {
                let goes_on =
                    number > 0 && statement.follows(&turn.statements[number - 1]) && all.last() == Some(&(at, number - 1));
                if goes_on || words.takes_back(statement) {
                    all.push((at, number));
                }
            }
        }
        all
    }

    /// Returns the texts of the claims that the agent gave up or replaced, each with the number of its turn.
    pub(in crate::extract) fn given_up(&self) -> Vec<(u32, String)> {
        let text = |(turn, number): Place| (self.turns[turn].number, self.turns[turn].statements[number].text.clone());
        self.taken_back().into_iter().chain(self.other_causes()).map(text).collect()
    }
}

/// Returns how the Korean words of a text begin, without their endings, and without words that stand in any sentence.
fn stems(said: &str) -> HashSet<String> {
    const ANY: [&str; 18] = [
        "있습", "있어", "있는", "없습", "합니", "됩니", "때문", "그리", "하지", "이미", "다시", "제가", "그건", "이유",
        "원인", "실제", "확인", "잘못",
    ];
    let is_korean = |word: &&str| word.chars().take(2).filter(|c| ('가'..='힣').contains(c)).count() == 2;
    let words = said.split(|c: char| !c.is_alphanumeric()).filter(is_korean);
    words.map(|word| word.chars().take(2).collect::<String>()).filter(|stem| !ANY.contains(&stem.as_str())).collect()
}

/// Returns the words of a text in the Latin script: in another script they are names.
fn latin_words(said: &str) -> HashSet<String> {
    const MIN_CHARS: usize = 3;
    let words = said.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.len() >= MIN_CHARS).map(str::to_ascii_lowercase).collect()
}
