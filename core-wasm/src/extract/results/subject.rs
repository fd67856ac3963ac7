//! What a statement or a turn is about: the names of code in it, and its words.

use super::turn_result::{TurnResult, share_of};
use crate::extract::statement::{self, Statement};
use crate::text;

/// The names and the words of a text.
pub(super) struct Subject {
    names: Vec<u32>,
    words: text::Features,
}

impl Subject {
    pub(super) fn of_statement(statement: &Statement) -> Self {
        Self::of_text(&statement.text)
    }

    pub(super) fn of_text(said: &str) -> Self {
        Subject { names: statement::names(said), words: text::features(said) }
    }

    /// Does the same, but a path counts as a name alone, and not as the words in it.
    pub(super) fn with_plain_words(statement: &Statement) -> Self {
        let is_path = |word: &str| word.contains('/') || word.trim_end_matches(['.', ',', ':']).contains('.');
        // Languages without spaces write on behind a path.
        let is_plain = |word: &&str| !word.is_ascii() || !is_path(word);
        let plain: Vec<&str> = statement.text.split_whitespace().filter(is_plain).collect();
        Self { words: text::features(&plain.join(" ")), ..Self::of_statement(statement) }
    }

    pub(super) fn of_turn(turn: &TurnResult) -> Self {
        Subject { names: turn.names(), words: turn.words() }
    }

    /// Returns whether another one has at least so many of its names, and of its words.
    pub(super) fn shares(&self, other: &Subject, names: usize, words: usize) -> bool {
        self.names.iter().filter(|name| other.names.contains(name)).count() >= names
            && self.words.iter().filter(|word| other.words.contains(word)).count() >= words
    }

    /// Returns which share of its names another one has.
    pub(super) fn names_in(&self, other: &Subject) -> f32 {
        share_of(&self.names, |name| other.names.contains(name))
    }

    /// Returns which share of its words another one has.
    pub(super) fn words_in(&self, other: &Subject) -> f32 {
        share_of(&self.words, |word| other.words.contains(word))
    }
}
