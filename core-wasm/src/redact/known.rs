//! Secrets that stand once more, where nothing around them says what they are: a password that is named in one sentence and typed in
//! another.

use std::ops::Range;

use super::chosen::{SYMBOLS, is_chosen, is_generated, is_strong};
use super::scan::{self, Hit};
use super::tag;
use super::visible::{Hidden, Visible};

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

    /// Returns where these secrets stand in a text, also where invisible signs or Markdown part them, ordered, without overlaps.
    pub(super) fn hits(&self, text: &str) -> Vec<Hit<'static>> {
        if self.values.is_empty() && self.tags.is_empty() {
            Vec::new()
        } else {
            self.hits_in(text, &[Hidden::All, Hidden::Marks])
        }
    }

    /// Returns the hits in a text as it is, and as it is without each of these.
    fn hits_in(&self, text: &str, hidden: &[Hidden]) -> Vec<Hit<'static>> {
        let Some((first, rest)) = hidden.split_first() else { return self.shown_hits(text) };
        let Some(visible) = Visible::of(text, *first) else { return self.hits_in(text, rest) };
        let found = self.hits_in(&visible.text, rest).iter().map(|hit| visible.in_original(hit)).collect();
        scan::merge(text, self.shown_hits(text), found)
    }

    fn shown_hits(&self, text: &str) -> Vec<Hit<'static>> {
        let mut places: Vec<Range<usize>> = Vec::new();
        for value in &self.values {
            places.extend(text.match_indices(value.as_str()).map(|(at, _)| at..at + value.len()));
        }
        if !self.tags.is_empty() {
            let secrets = words(text).flat_map(|word| candidates(&text[word])).filter(|candidate| self.has_tag(candidate));
            places.extend(secrets.map(|secret| place_of(secret, text)));
        }
        places.retain(|place| is_apart(text, place));
        places.sort_by_key(|place| (place.start, std::cmp::Reverse(place.end)));
        let mut end = 0;
        places.retain(|place| {
            let is_next = place.start >= end;
            end = end.max(place.end);
            is_next
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

/// Returns the places of the words of a text, without the signs around them. Placeholders are none.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let is_between = |c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '[' | ']' | '<' | '>' | '=');
    text.split(is_between)
        .filter(|word| word.len() >= *LENGTHS.start() && !word.starts_with(&PLACEHOLDER[1..]))
        .map(move |word| place_of(bare(word), text))
}

/// Returns what may be a secret in a word: the word, and what stands between the signs that part a name or a place from it.
fn candidates(word: &str) -> impl Iterator<Item = &str> {
    let is_sign = |c: char| matches!(c, '(' | ')' | '{' | '}' | ':' | ';' | ',' | '/' | '@' | '*') || !c.is_ascii();
    [word, word.trim_matches(is_sign)].into_iter().chain(word.strip_prefix("-p")).chain(word.split(is_sign).map(bare))
}

/// Returns where a part of a text is in it.
fn place_of(part: &str, text: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - text.as_ptr().addr();
    start..start + part.len()
}

/// Returns whether a secret is not a part of a longer word or path. One with a sign, or with no words in it, is always a secret.
fn is_apart(text: &str, place: &Range<usize>) -> bool {
    let secret = &text[place.clone()];
    if secret.contains(SYMBOLS) || is_generated(secret) {
        return true;
    }
    // Scripts without blanks go on behind it.
    let joins = |c: char| matches!(c, '_' | '-' | '/') || c.is_alphanumeric() && c < '\u{2E80}';
    let (before, mut behind) = (&text[..place.start], text[place.end..].chars());
    // A line of JSON may end before it.
    let begins =
        before.ends_with("\\n") || before.ends_with("\\t") || !before.ends_with(|c| joins(c) || matches!(c, '.' | '\\'));
    let ends = match behind.next() {
        Some('.') => !behind.next().is_some_and(joins),
        next => !next.is_some_and(joins),
    };
    begins && ends
}
