//! Questions that ask for something to be so, and what stands behind them.

use super::settling::{settles, without_leads};
use crate::extract::human::asked_behind::stated;
use crate::text::{self, strip_apostrophes};

/// The maximum length of the sentence before a ruling that only points there, in characters.
pub(super) const MAX_BEFORE_CHARS: usize = 160;

/// What a question ends with that only waits for a yes.
pub(super) const TAGS: &[&str] = &[", or?", " or?", ", right?", ", no?", ", yes?", ", yeah?"];

/// Questions that ask in so many words for something to be so. Any other stays a question.
const ORDERS: &[&str] = &["can we", "could we", "can't we", "cant we", "couldn't we", "couldnt we", "can you", "could you"];

/// Returns a sentence that settles something without the question behind it: "let's call it X instead of Y what else is to do?"
pub(super) fn without_question_behind(sentence: &str) -> &str {
    let said = stated(sentence);
    if settles(without_leads(&strip_apostrophes(said))) { said } else { sentence }
}

/// Returns a sentence, or its parts if it settles something and then asks for more: "let's keep it, can you show the slip?"
pub(super) fn without_request(sentence: &str) -> impl Iterator<Item = &str> {
    const REQUESTS: [&str; 4] = [", can you ", ", could you ", ", can we ", ", and can you "];
    let at = REQUESTS.iter().filter_map(|words| sentence.find(words)).min();
    let is_let = |at: &usize| settles(without_leads(&strip_apostrophes(&sentence[..*at])));
    let at = at.filter(|_| sentence.is_ascii()).filter(is_let);
    let (first, rest) = sentence.split_at(at.unwrap_or(sentence.len()));
    [first, rest.trim_start_matches(", ")].into_iter().filter(|part| !part.is_empty())
}

/// Returns what a question wants to be so, as an order: "can we keep the slip?" becomes "keep the slip". What is put as a statement loses
/// only its tag. A question that goes on in another way stays as it is.
pub(super) fn without_question(sentence: &str) -> String {
    let lower = sentence.to_ascii_lowercase();
    if let Some(tag) = TAGS.iter().find(|tag| lower.ends_with(**tag)) {
        return sentence[..sentence.len() - tag.len()].to_owned();
    }
    let order = || {
        let (asked, behind) = sentence.split_once('?')?;
        let opening = ORDERS.iter().find(|opening| text::starts_with_words(without_exclamation(&lower), opening))?;
        let begin = sentence.len() - without_exclamation(&lower).len() + opening.len();
        let order = asked.get(begin..)?.trim_start();
        let order = ["also ", "instead "].iter().find_map(|word| order.strip_prefix(word)).unwrap_or(order);
        // "…, can't we?" asks whether it is possible.
        let last = order.rsplit_once(", ").map(|(_, last)| last.to_ascii_lowercase());
        let asks_on = last.is_some_and(|last| {
            ["is ", "are ", "does ", "do ", "can", "could", "should", "would", "or"].iter().any(|it| last.starts_with(it))
        });
        match behind.trim() {
            _ if asks_on => None,
            "" => Some(order.to_owned()),
            behind if completes(behind) && !behind.contains('?') => Some(format!("{order}, {behind}")),
            _ => None,
        }
    };
    order().unwrap_or_else(|| sentence.to_owned())
}

/// Returns a sentence in lower case without an exclamation before it.
fn without_exclamation(lower: &str) -> &str {
    ["ah, ", "oh, ", "ok, ", "okay, ", "and ", "so "].iter().find_map(|lead| lower.strip_prefix(lead)).unwrap_or(lower)
}

/// Returns whether what stands behind a question doubts what it asks for: "should we round it? I don't think so".
pub(super) fn doubts_question(behind: &str) -> bool {
    const DOUBTS: [&str; 12] = [
        "no",
        "nah",
        "nope",
        "i dont think",
        "i guess",
        "i doubt",
        "i dont know",
        "not sure",
        "if not",
        "or",
        "probably not",
        "maybe not",
    ];
    let lower = strip_apostrophes(&behind.trim().to_lowercase());
    DOUBTS.iter().any(|doubt| text::starts_with_words(&lower, doubt))
}

/// Returns whether a sentence in lower case says what should be, and only waits for a yes: "we should round both, or?"
pub(super) fn waits_for_yes(lower: &str) -> bool {
    let Some(said) = TAGS.iter().find_map(|tag| lower.strip_suffix(tag)) else { return false };
    text::contains_any_words(said, &["we should", "we shouldnt"]) && !text::contains_any_words(said, &["fine", "ok", "work"])
}

/// Returns whether a sentence says what the ruling before it leaves, or why it was made.
pub(super) fn completes(sentence: &str) -> bool {
    const OPENINGS: [&str; 8] = ["just", "only", "instead", "rather", "because", "since", "otherwise", "should be"];
    let lower = sentence.to_lowercase();
    sentence.chars().count() <= MAX_BEFORE_CHARS && OPENINGS.iter().any(|opening| text::starts_with_words(&lower, opening))
}
