//! Sorts the sentences of a prompt into rules, corrections and choices.

use super::asked_behind::stated;
use super::choice::has_pointer;
use super::consent::without_consent;
use super::correction::dislikes;
use super::correction::is_correction;
use super::correction::settles_nothing;
use super::pasted::looks_pasted;
use super::pasted::own_words;
use super::pasted::quoted;
use super::plan::plan;
use super::request::{is_slash_command, own_words_below};
use super::rule::{announces_rule, is_rule, outside, quotations};
use super::ruling::settles_anew;
use super::undecided::asks_for_ideas;
use crate::text;

/// The maximum length of a prompt whose sentences are taken as the user's own words, in characters.
const MAX_PROMPT_CHARS: usize = 1200;

/// The standing rules and the correction in a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::extract) struct Directives {
    /// Standing rules, each one sentence.
    pub rules: Vec<String>,
    /// The correction, in a few sentences.
    pub correction: Option<String>,
    /// What the user quoted before the correction. May be empty.
    pub quoted: String,
}

/// The maximum number of rules of a prompt, and the maximum length of one, in characters.
const MAX_RULES: usize = 3;
const MAX_RULE_CHARS: usize = 300;
/// The length to which the sentences after a correction are added to it, in characters.
const MAX_CORRECTION_CHARS: usize = 290;
/// The length from which a sentence before a correction says something, in characters.
const MIN_BEFORE_CHARS: usize = 16;
/// The maximum length of a sentence before a correction, and of a quotation, in characters.
const MAX_BEFORE_CHARS: usize = 160;
/// How many sentences after a correction, and after one that says what the user does not like, belong to it.
const SENTENCES_AFTER: usize = 1;
const SENTENCES_AFTER_DISLIKE: usize = 3;

/// Reads the rules and the correction in a prompt. Documents pasted in place of a prompt do not express the user's own
/// rules. `after_work` says whether the agent has already done something that can be corrected.
pub(in crate::extract) fn directives(prompt: &str, after_work: bool) -> Directives {
    if plan(prompt).is_some() || is_slash_command(prompt) {
        return Directives::default();
    }
    if prompt.chars().count() > MAX_PROMPT_CHARS {
        // Below a pasted document the user speaks again.
        let below = own_words_below(prompt).filter(|below| below.chars().count() <= MAX_PROMPT_CHARS);
        return below.map(|below| directives(below, after_work)).unwrap_or_default();
    }
    let own = own_words(prompt);
    let mut sentences: Vec<String> = text::sentences(&own).into_iter().filter(|sentence| !looks_pasted(sentence)).collect();
    for sentence in &mut sentences {
        let said = stated(sentence);
        if said.len() < sentence.len() && is_correction(said) {
            *sentence = said.to_owned();
        }
    }
    let quotations = quotations(&own);
    let is_own = |part: &str| {
        let own = outside(part, &quotations);
        own == part || is_rule(&own)
    };
    let mut rules: Vec<String> = sentences
        .iter()
        .enumerate()
        .flat_map(|(at, sentence)| text::typed_sentences(sentence).into_iter().map(move |part| (at, part)))
        // What says that something is wrong corrects.
        .filter(|(_, part)| is_rule(part) && is_own(part) && !(after_work && says_wrong(part)))
        .map(|(at, part)| {
            let part = without_consent(part);
            // What stands in parentheses is a sentence of its own.
            let part = part.strip_prefix('(').and_then(|part| part.strip_suffix(')')).unwrap_or(part);
            // "Since we use X, …" gives the reason for the sentence before it.
            let before = at.checked_sub(1).map(|at| sentences[at].as_str()).filter(|before| {
                gives_reason(part) && !before.ends_with(['?', '？']) && before.chars().count() <= MAX_BEFORE_CHARS
            });
            let rule = before.map_or_else(|| part.to_owned(), |before| format!("{before} {part}"));
            let is_announced = announces_rule(&part.to_lowercase());
            let rule = if is_announced { with_next(&sentences[at], &sentences[at + 1..]) } else { rule };
            text::clip(&rule, MAX_RULE_CHARS).into_owned()
        })
        .fold(Vec::new(), |mut all: Vec<String>, rule| {
            if !all.iter().any(|known| known.contains(&rule)) {
                all.push(rule);
            }
            all
        });
    rules.truncate(MAX_RULES);
    let correction = sentences
        .iter()
        .position(|sentence| after_work && is_correction(sentence) && !settles_anew(sentence))
        .map(|at| correction_at(&sentences, at))
        .filter(|said| !settles_nothing(said) && !asks_for_ideas(prompt))
        .filter(|said| !rules.iter().any(|rule| said.contains(rule.as_str())));
    let quoted = correction.as_deref().and_then(|said| quoted(prompt, said));
    let quoted = quoted.map(|passage| text::clip(&passage, MAX_BEFORE_CHARS).into_owned()).unwrap_or_default();
    Directives { rules, correction, quoted }
}

/// Returns what the user typed in a prompt: the words behind a command of the client, or the whole prompt.
pub(in crate::extract) fn typed(prompt: &str) -> &str {
    if is_slash_command(prompt) {
        prompt.split_once(char::is_whitespace).map_or("", |(_, words)| words.trim())
    } else {
        prompt
    }
}

/// Adds to a rule that was announced the sentences behind it, as many as fit: they say the rest of it.
fn with_next(rule: &str, next: &[String]) -> String {
    let mut all = rule.to_owned();
    for sentence in next {
        if all.chars().count() + 1 + sentence.chars().count() > MAX_RULE_CHARS || sentence.ends_with(['?', '？']) {
            break;
        }
        all = format!("{all} {sentence}");
    }
    all
}

/// Returns whether a sentence says in so many words that what was made or said is wrong.
fn says_wrong(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    text::contains_any_words(&lower, &["is not correct", "isn't correct", "is incorrect", "is wrong"])
        && is_correction(sentence)
}

/// Returns whether a rule only gives the reason for what was said before it.
fn gives_reason(rule: &str) -> bool {
    let lower = rule.to_lowercase();
    ["since we ", "because we ", "as we ", "since i ", "because i "].iter().any(|opening| lower.starts_with(opening))
}

/// Returns the correction that one of the sentences is, with the sentence before it if it points there, and with those after it
/// that say how it should be.
fn correction_at(sentences: &[String], at: usize) -> String {
    let said = sentences[at].as_str();
    let after = if dislikes(said) { SENTENCES_AFTER_DISLIKE } else { SENTENCES_AFTER };
    let before = at
        .checked_sub(1)
        .map(|at| sentences[at].as_str())
        .filter(|before| has_pointer(said) && (MIN_BEFORE_CHARS..=MAX_BEFORE_CHARS).contains(&before.chars().count()));
    let mut all = before.map_or_else(|| said.to_owned(), |before| format!("{before} {said}"));
    for next in sentences.iter().skip(at + 1).take(after) {
        if all.chars().count() + next.chars().count() >= MAX_CORRECTION_CHARS {
            break;
        }
        all = format!("{all} {next}");
    }
    text::clip(&all, 360).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_that_something_is_wrong_corrects() {
        let said = "that part is not correct, we always round with the script of the till";
        let word = directives(said, true);
        assert!(word.rules.is_empty() && word.correction.as_deref() == Some(said), "{word:?}");
    }

    #[test]
    fn what_follows_an_announced_rule_belongs_to_it() {
        let said = "we need a key. Standing order: never lend the key of the till. and the bell stays off. New slips are always preferred.";
        let rule = "Standing order: never lend the key of the till. and the bell stays off. New slips are always preferred.";
        assert_eq!(directives(said, false).rules, [rule]);
    }

    #[test]
    fn what_stands_behind_a_command_is_typed() {
        assert_eq!(typed("/till:close keep each slip whole"), "keep each slip whole");
        assert_eq!((typed("/till:close"), typed("close the till")), ("", "close the till"));
    }

    #[test]
    fn a_correction_before_a_question() {
        let said = directives("the slip lies in `old` <- this should be `new` now, where is `old` still used?", true);
        assert_eq!(said.correction.as_deref(), Some("the slip lies in `old` <- this should be `new` now"));
    }
}
