//! What the user says against the work in words of no correction. It corrects if the agent gives in to it.

use super::asked_behind::stated;
use super::consent::{asks_record, is_consent};
use super::correction::is_of_review;
use super::demand::is_order;
use super::pasted::{is_paste, looks_pasted, own_words};
use super::plan::plan;
use super::request::is_slash_command;
use crate::text::{self, strip_apostrophes};

/// The maximum length of a prompt that objects, in characters, and how many sentences it has at most. A longer one explains something.
const MAX_PROMPT_CHARS: usize = 320;
const MAX_SENTENCES: usize = 2;
/// The least that an objection says, in characters and in those of scripts without spaces.
const MIN_CHARS: usize = 32;
const MIN_WIDE_CHARS: usize = 14;

/// Words of a fault that somebody saw. Once it is mended it is no news.
const FAULTS: &[&str] = &[
    "error",
    "errors",
    "fail",
    "fails",
    "failed",
    "failing",
    "bug",
    "crash",
    "crashes",
    "throws",
    "broken",
    "still",
    "에러",
    "오류",
    "エラー",
    "失敗",
    "错误",
];

/// Words of somebody who speaks of the work with the agent. A review speaks of the code alone.
const PERSONS: &[&str] = &["i", "we", "you", "our", "us", "i'd", "i'm", "we're", "we'd"];

/// Words that deny, limit or prefer something.
const TURNS: &[&str] = &[
    "but", "not", "never", "only", "no", "rather", "prefer", "should", "anyway", "already", "always", "instead", "except",
    "can't", "don't", "doesn't", "isn't", "won't", "wouldn't", "didn't", "aren't",
];

/// Words of a sentence that thanks, quotes, or says again what was meant.
const OTHERS: &[&str] = &["i like", "i love", "i mean", "you wrote", "you said", "in theory", "thanks", "question"];

/// Returns the statement of a prompt that say something against the work. None if it only asks, orders or reports a fault.
pub(in crate::extract) fn objection(prompt: &str) -> Option<String> {
    let is_other = plan(prompt).is_some() || is_slash_command(prompt) || is_consent(prompt) || asks_record(prompt);
    if is_other || prompt.chars().count() > MAX_PROMPT_CHARS || prompt.lines().count() > 6 || is_paste(prompt) {
        return None;
    }
    let own = own_words(prompt);
    let sentences = text::sentences(&own);
    let is_of_others = sentences.iter().any(|sentence| is_of_review(&strip_apostrophes(sentence)));
    let said = sentences.first().map(|first| stated(first)).filter(|said| objects(said))?;
    (sentences.len() <= MAX_SENTENCES && !is_of_others).then(|| said.to_owned())
}

/// Returns whether a sentence states something that may be held against the work.
fn objects(said: &str) -> bool {
    let lower = said.to_lowercase().replace('’', "'");
    let is_wide = text::language(said) != text::Language::English;
    let turns = is_wide || (text::contains_any_words(&lower, PERSONS) && text::contains_any_words(&lower, TURNS));
    let opens = || ["but ", "ok, but ", "ok but ", "yes, but ", "yeah but "].iter().any(|lead| lower.starts_with(lead));
    let least = if said.is_ascii() { MIN_CHARS } else { MIN_WIDE_CHARS };
    (turns || opens())
        && said.chars().count() >= least
        && !said.ends_with(['?', '？', ':', '：'])
        && !said.ends_with("..")
        && !said.starts_with(['+', '-', '>', '/'])
        && !text::contains_any_words(&lower, OTHERS)
        && !looks_pasted(said)
        && !text::contains_any_words(&lower, FAULTS)
        && !is_order(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_may_object() {
        let told = |said: &str| objection(said).unwrap_or_default();
        assert_eq!(told("we never have two drawers in one till"), "we never have two drawers in one till");
        assert_eq!(
            told("but a new till counts all slips anyway, why would you count them again?"),
            "but a new till counts all slips anyway"
        );
        for other in [
            "does the till know of the other drawers?",
            "yes, that is fine for the till of the night",
            "the till fails with an error when it is opened",
            "The till of the night never knows the other drawers.",
            "please count the slips of the till once more",
        ] {
            assert_eq!(told(other), "", "{other}");
        }
    }
}
