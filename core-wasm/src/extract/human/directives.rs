//! Sorts the sentences of a prompt into rules, corrections and choices.

use super::consent::without_consent;
use super::correction::is_correction;
use super::pasted::looks_pasted;
use super::pasted::own_words;
use super::plan::plan;
use super::request::own_words_below;
use super::rule::is_rule;
use crate::text;

/// The maximum length of a prompt whose sentences are taken as the user's own words, in characters.
const MAX_PROMPT_CHARS: usize = 1200;

/// The standing rules and the correction in a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::extract) struct Directives {
    /// Standing rules, each one sentence.
    pub rules: Vec<String>,
    /// The correction, in one or two sentences.
    pub correction: Option<String>,
}

/// Reads the rules and the correction in a prompt. Documents pasted in place of a prompt do not express the user's own
/// rules. `after_work` says whether the agent has already done something that can be corrected.
pub(in crate::extract) fn directives(prompt: &str, after_work: bool) -> Directives {
    if plan(prompt).is_some() || prompt.starts_with('/') {
        return Directives::default();
    }
    if prompt.chars().count() > MAX_PROMPT_CHARS {
        // Below a pasted document the user speaks again.
        let below = own_words_below(prompt).filter(|below| below.chars().count() <= MAX_PROMPT_CHARS);
        return below.map(|below| directives(below, after_work)).unwrap_or_default();
    }
    let own = own_words(prompt);
    let sentences: Vec<String> = text::sentences(&own).into_iter().filter(|sentence| !looks_pasted(sentence)).collect();
    let rules: Vec<String> = sentences
        .iter()
        .flat_map(|sentence| typed_sentences(sentence))
        .filter(|sentence| is_rule(sentence))
        .map(|sentence| text::clip(without_consent(sentence), 300).into_owned())
        .take(3)
        .collect();
    let correction = sentences
        .iter()
        .position(|sentence| after_work && is_correction(sentence))
        .map(|at| text::clip(&sentences[at..(at + 2).min(sentences.len())].join(" "), 360).into_owned())
        .filter(|said| !rules.iter().any(|rule| said.contains(rule.as_str())));
    Directives { rules, correction }
}

/// Splits at full stops after which somebody who types fast goes on with a small letter.
pub(super) fn typed_sentences(sentence: &str) -> Vec<&str> {
    let is_end = |at: usize| {
        let word = sentence[..at].rsplit(' ').next().unwrap_or_default();
        word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, _) in sentence.match_indices(". ").filter(|(at, _)| is_end(*at)) {
        parts.push(&sentence[start..=at]);
        start = at + 2;
    }
    parts.push(&sentence[start..]);
    parts
}
