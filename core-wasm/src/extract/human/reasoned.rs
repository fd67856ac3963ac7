//! Demands for which the user gives a reason, or says what is not to be instead: they hold for longer than one step.

use super::correction::is_of_review;
use super::rule::is_undecided;
use crate::text::{self, strip_apostrophes};

/// The length of such a sentence, in characters.
const CHARS: std::ops::RangeInclusive<usize> = 30..=300;

/// Words that demand something.
const DEMANDS: &[&str] = &[
    "should",
    "shouldnt",
    "must",
    "need to",
    "needs to",
    "have to",
    "has to",
    "make sure",
    "ensure",
    "i want",
    "we want",
    "i dont want",
    "we dont want",
    "id like",
    "dont use",
    "do not use",
    "lets",
];

/// Words that give the reason behind a demand.
const REASONS: &[&str] = &[
    "because",
    "since",
    "otherwise",
    "so that",
    "so we",
    "so they",
    "so it",
    "so nobody",
    "so users",
    "as it",
    "as they",
    "as we",
    "as this",
    "as that",
    "as those",
    "thats why",
    "to avoid",
    "due to",
];

/// What follows such words if they give no reason: "since yesterday", "as it is".
const NO_REASONS: &[&str] = &[
    "since last",
    "since yesterday",
    "since then",
    "since the last",
    "as it is now",
    "as it was",
    "as it did",
    "as we go",
    "as we did",
    "as we do",
    "as we have",
    "as they did",
];

/// Verbs of a step of the work, behind a demand.
const STEPS: &[&str] = &[
    "fix",
    "check",
    "double check",
    "look",
    "investigate",
    "debug",
    "rerun",
    "run",
    "figure",
    "understand",
    "verify",
    "validate",
    "review",
    "wait",
    "see",
    "know",
    "try",
    "think",
    "find",
    "discuss",
    "talk",
    "go",
    "do",
    "start",
    "merge",
    "commit",
    "push",
    "rebase",
    "you to",
    "be fine",
    "be ok",
    "be possible",
    "be able",
    "work",
    "now",
    "already",
];

/// Words of somebody who speaks to the agent. A review speaks of the code alone.
const PERSONS: &[&str] = &["i", "we", "you", "us", "our", "lets", "please", "id", "im"];

/// Words of a sentence that is not sure.
const DOUBTS: &[&str] =
    &["not sure", "i dont know", "i wonder", "i guess", "maybe", "perhaps", "i dont understand", "i dont see", "wondering"];

/// Returns whether a sentence demands something and says why: "we should keep the slip, since the till may ask for it". What it rules out
/// tells as much.
pub(super) fn is_reasoned_demand(sentence: &str) -> bool {
    if !CHARS.contains(&sentence.chars().count()) || sentence.contains(['?', '？']) || sentence.ends_with(':') {
        return false;
    }
    let lower = strip_apostrophes(sentence);
    // "We should open it at noon, not at night."
    let contrasts = lower.split_once(", not ").is_some_and(|(before, _)| before.contains("should "));
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let lower = words.collect::<Vec<_>>().join(" ");
    let says = |words: &[&str]| text::contains_any_words(&lower, words);
    if is_undecided(&strip_apostrophes(sentence))
        || !says(PERSONS)
        || says(DOUBTS)
        || says(NO_REASONS)
        || is_of_review(&strip_apostrophes(sentence))
    {
        return false;
    }
    let Some(rest) = DEMANDS.iter().filter_map(|demand| behind(&lower, demand)).max_by_key(|rest| rest.len()) else {
        return false;
    };
    let verb = ["also ", "just ", "not ", "only ", "probably ", "to "]
        .iter()
        .fold(rest, |rest, adverb| rest.strip_prefix(adverb).unwrap_or(rest));
    // "Go straight to the sum, not to the drawer" is no step.
    let is_step = STEPS.iter().any(|step| text::starts_with_words(verb, step) && !(contrasts && *step == "go"));
    let has_reason = || REASONS.iter().filter_map(|reason| behind(rest, reason)).any(|reason| reason.split(' ').count() > 2);
    !is_step && (contrasts || has_reason())
}

/// Returns what stands behind words in a text of plain words.
fn behind<'a>(text: &'a str, words: &str) -> Option<&'a str> {
    let at = text.match_indices(words).map(|(at, _)| at).find(|&at| {
        let is_start = at == 0 || text[..at].ends_with(' ');
        is_start && text[at + words.len()..].starts_with(' ')
    })?;
    Some(text[at + words.len()..].trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_demand_with_its_reason_holds() {
        for said in [
            "we should keep the slip in the drawer, since the night till may ask for it",
            "let's add the guide but make sure that you ask before the long run since it costs money",
            "if the till is open at noon we should go straight to the sum, not to the drawer",
            "I want the second till because the guest still wants a paper slip",
            "the path has to lose the user's home as it is absolute, so we should cut it so that nobody reads it",
        ] {
            assert!(is_reasoned_demand(said), "{said}");
        }
    }

    #[test]
    fn steps_doubts_and_reviews_demand_nothing() {
        for said in [
            "we need to fix the till because it rounds up",
            "before you go on, clarify that we should never count the night, not only the noon",
            "not sure we should keep it since the till is old",
            "The till should round because the slip is short for it",
            "should we keep the slip since the till may ask for it?",
            "we should keep the slip as it is now",
            "I have waited since yesterday and we should have it",
        ] {
            assert!(!is_reasoned_demand(said), "{said}");
        }
    }
}
