//! What a text speaks of, by which later work on the same is known.

use std::collections::BTreeSet;

use super::names::{MIN_WORDS_NAME, is_common, is_same, name_of, path_of, words};
use crate::text;

/// The length of the beginning by which a word is known in another form, in characters.
const MIN_STEM: usize = 5;
/// How many words of a fault later work must share, and which share of them.
const MIN_SHARED: usize = 3;
const SHARED_PERCENT: usize = 30;
/// The share of the words of a task that what was done must have.
const DONE_PERCENT: usize = 60;
/// How much of a text is compared, in bytes.
const MAX_BYTES: usize = 800;

/// What a text speaks of: the files and names of code in it, and the beginnings of its words.
#[derive(Debug, Default)]
pub(super) struct Subject {
    names: BTreeSet<String>,
    words: BTreeSet<String>,
}

impl Subject {
    pub(super) fn of(said: &str) -> Self {
        let is_end = |c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '(' | ')' | ',' | ';' | '*' | '[' | ']');
        let said = text::head(said, MAX_BYTES);
        let mut names: BTreeSet<String> = BTreeSet::new();
        for word in said.split(is_end) {
            if let Some(path) = path_of(word) {
                names.insert(path);
            } else if let Some(name) = name_of(word) {
                // "till.openDrawer" is "openDrawer", too.
                let last = name.rsplit_once('.').map(|(_, last)| last.to_owned());
                names.extend(last.filter(|last| last.len() >= MIN_WORDS_NAME && !name.contains('/')));
                names.insert(name);
            }
        }
        names.retain(|name| name.contains('/') || !is_common(name));
        // The words of a name are no words of what is said of it.
        let lower = said.to_lowercase();
        let plain: Vec<&str> =
            lower.split(is_end).filter(|word| path_of(word).is_none() && !word.contains(['/', '_'])).collect();
        let plain = plain.join(" ");
        let is_word = |word: &&str| word.chars().count() >= MIN_STEM - 1 || (!word.is_ascii() && word.chars().count() > 1);
        let stems = words(&plain).filter(is_word).map(|word| word.chars().take(MIN_STEM).collect());
        Self { names, words: stems.collect() }
    }

    /// Returns whether a text in lower case may name something of this. Two names that mean the same have the same end.
    pub(super) fn may_be_named_in(&self, lower: &str) -> bool {
        self.names.iter().any(|name| text::contains(lower, name.rsplit('/').next().unwrap_or(name)))
    }

    /// Returns whether work did all of a task.
    pub(super) fn is_all_in(&self, work: &Subject) -> bool {
        let is_told =
            |word: &&String| work.words.iter().any(|told| told.starts_with(word.as_str()) || word.starts_with(told));
        let told = self.words.iter().filter(is_told).count();
        !self.names.is_empty()
            && self.names.iter().all(|name| work.has_name(name))
            && !self.words.is_empty()
            && told * 100 >= self.words.len() * DONE_PERCENT
    }

    /// Returns whether later work was about this fault.
    pub(super) fn is_shared_by(&self, work: &Subject) -> bool {
        let shared = || self.words.iter().filter(|word| work.words.contains(*word)).count();
        self.names.iter().any(|name| work.has_name(name))
            && shared() >= MIN_SHARED.max((self.words.len() * SHARED_PERCENT).div_ceil(100))
    }

    fn has_name(&self, name: &str) -> bool {
        self.names.iter().any(|own| is_same(own, name))
    }
}
