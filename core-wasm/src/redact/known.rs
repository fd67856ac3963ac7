//! Secrets that stand once more, where nothing around them says what they are: a password that is named in one sentence and typed in
//! another.

use std::ops::Range;

use super::chosen::{is_chosen, is_strong};
use super::scan::Hit;
use super::tag;

/// The maximum number of secrets that are looked for again, and the length of each in bytes: a shorter one may be a word, and what is longer
/// is recognized by its form.
const MAX_KNOWN: usize = 16;
const LENGTHS: std::ops::RangeInclusive<usize> = 8..=128;

/// The rule of such a secret.
const RULE: &str = "generic-password";

/// What stands before the rule in a placeholder.
const PLACEHOLDER: &str = "[redacted:";

/// Secrets that were found.
#[derive(Default)]
pub(super) struct Known {
    /// In plain. They are never written down.
    values: Vec<String>,
    /// Tags of secrets that were replaced before, without the number sign.
    tags: Vec<String>,
}

impl Known {
    /// Takes the secrets among `hits` that can be recognized without what is around them.
    pub(super) fn take(&mut self, text: &str, hits: &[Hit]) {
        for hit in hits {
            let Some(secret) = text.get(hit.start..hit.end).map(bare) else { continue };
            if is_telling(secret) && self.values.len() < MAX_KNOWN && self.values.iter().all(|known| known != secret) {
                self.tags.extend(tag::for_secret(secret));
                self.values.push(secret.to_owned());
            }
        }
    }

    /// Takes the tags of the placeholders in a text.
    pub(super) fn take_tags(&mut self, text: &str) {
        let tags = text.split(PLACEHOLDER).skip(1).filter_map(|rest| {
            let inside = rest.split(']').next()?;
            inside.split_once('#').map(|(_, tag)| tag)
        });
        for tag in tags.filter(|tag| tag.len() == tag::TAG_DIGITS) {
            if self.tags.len() < MAX_KNOWN && !self.tags.iter().any(|known| known == tag) {
                self.tags.push(tag.to_owned());
            }
        }
    }

    /// Returns where these secrets stand in a text, ordered, without overlaps.
    pub(super) fn hits(&self, text: &str) -> Vec<Hit<'static>> {
        let mut places: Vec<Range<usize>> = Vec::new();
        for value in &self.values {
            places.extend(text.match_indices(value.as_str()).map(|(at, _)| at..at + value.len()));
        }
        if !self.tags.is_empty() {
            places.extend(words(text).filter(|word| self.has_tag(&text[word.clone()])));
        }
        places.sort_by_key(|place| (place.start, std::cmp::Reverse(place.end)));
        let mut end = 0;
        places.retain(|place| {
            let is_apart = place.start >= end;
            end = end.max(place.end);
            is_apart
        });
        places.into_iter().map(|place| Hit { start: place.start, end: place.end, rule: RULE, certain: false }).collect()
    }

    fn has_tag(&self, word: &str) -> bool {
        is_telling(word) && tag::for_secret(word).is_some_and(|tag| self.tags.contains(&tag))
    }
}

/// Returns whether a word can only be a secret, once it was one.
fn is_telling(word: &str) -> bool {
    LENGTHS.contains(&word.len()) && (is_strong(word) || is_chosen(word))
}

/// Returns a secret without the signs of a sentence and of Markdown around it.
fn bare(secret: &str) -> &str {
    secret.trim_matches(['`', '"', '\'']).trim_end_matches(['.', ','])
}

/// Returns the places of the words of a text, without the signs around them.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let is_between = |c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '[' | ']' | '<' | '>' | '=');
    text.split(is_between).filter(|word| word.len() >= *LENGTHS.start()).map(move |word| {
        let word = bare(word);
        let start = word.as_ptr().addr() - text.as_ptr().addr();
        start..start + word.len()
    })
}
