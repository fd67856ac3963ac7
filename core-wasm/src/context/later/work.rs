//! What a text speaks of, by which later work on the same is known.

use std::collections::BTreeSet;

use super::names::{MIN_WORDS_NAME, file_name, is_common, name_of};
use super::removal::words;

/// The length of the beginning by which a word is known in another form, in characters.
const MIN_STEM: usize = 5;
/// How many words of a fault later work must share, and which share of them.
const MIN_SHARED: usize = 3;
const SHARED_PERCENT: usize = 30;
/// The share of the words of a task that the work must have which did it.
const DONE_PERCENT: usize = 60;

/// What a text speaks of: the files and names of code in it, and the beginnings of its words.
#[derive(Debug, Default)]
pub(super) struct Work {
    names: BTreeSet<String>,
    words: BTreeSet<String>,
}

impl Work {
    pub(super) fn of(said: &str) -> Self {
        let is_end = |c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '(' | ')' | ',' | ';' | '*' | '[' | ']');
        let lower = said.to_lowercase();
        let mut names: BTreeSet<String> = BTreeSet::new();
        for word in said.split(is_end) {
            if let Some(file) = file_name(word) {
                names.insert(file);
            } else if let Some(name) = name_of(word) {
                // "till.openDrawer" is "openDrawer", too.
                let last = name.rsplit_once('.').map(|(_, last)| last.to_owned());
                names.extend(last.filter(|last| last.len() >= MIN_WORDS_NAME && !name.contains('/')));
                names.insert(name);
            }
        }
        names.retain(|name| !is_common(name));
        // The words of a name are no words of what is said of it.
        let plain: Vec<&str> =
            lower.split(is_end).filter(|word| file_name(word).is_none() && !word.contains(['/', '_'])).collect();
        let plain = plain.join(" ");
        let is_word = |word: &&str| word.chars().count() >= MIN_STEM - 1 || (!word.is_ascii() && word.chars().count() > 1);
        let stems = words(&plain).into_iter().filter(is_word).map(|word| word.chars().take(MIN_STEM).collect());
        Self { names, words: stems.collect() }
    }

    /// Returns whether work did all of a task.
    pub(super) fn is_all_done_by(&self, work: &Work) -> bool {
        let is_told =
            |word: &&String| work.words.iter().any(|told| told.starts_with(word.as_str()) || word.starts_with(told));
        let told = self.words.iter().filter(is_told).count();
        !self.names.is_empty()
            && self.names.iter().all(|name| work.names.contains(name))
            && !self.words.is_empty()
            && told * 100 >= self.words.len() * DONE_PERCENT
    }

    /// Returns whether later work was about this fault.
    pub(super) fn is_done_by(&self, work: &Work) -> bool {
        let shared = self.words.iter().filter(|word| work.words.contains(*word)).count();
        self.names.iter().any(|name| work.names.contains(name))
            && shared >= MIN_SHARED
            && shared * 100 >= self.words.len() * SHARED_PERCENT
    }
}
