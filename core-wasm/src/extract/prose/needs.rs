//! What the agent says that only the user can do.

use super::narration::strip_interjection;
use crate::text;

/// Signs of a sentence that asks the user to do what the agent cannot.
const SIGNS: &[&str] = &[
    "needs to be unlocked",
    "need to be unlocked",
    "needs unlocking",
    "to be unlocked",
    "unlock it",
    "unlock your",
    "unlock the",
    "unlocked your",
    "unlocked the",
    "touch id",
    "approval prompt",
    "need you to",
    "needs you to",
    "you'll need to",
    "you need to",
    "you have to",
    "only you can",
    "waiting on your",
    "needs your",
    "requires your",
    "log in again",
    "please log in",
    "please approve",
    "please start",
];

/// The length of such a sentence, in characters.
const CHARS: std::ops::Range<usize> = 20..260;
/// The maximum length that is told whole, in characters.
const MAX_CHARS: usize = 150;

/// Returns the first sentence that says what only the user can do.
pub(in crate::extract) fn needs_user(said: &str) -> Option<String> {
    text::sentences(said).into_iter().find_map(|sentence| {
        let sentence = strip_interjection(&sentence).replace("**", "");
        let lower = text::lower(&sentence);
        let is_sign = text::contains_any(&lower, SIGNS);
        // An offer or a question says nothing of what is needed.
        let is_told = !sentence.ends_with(['?', ':']) && CHARS.contains(&sentence.chars().count());
        (is_sign && is_told).then(|| core(sentence.trim()).to_owned())
    })
}

/// Returns a sentence, or if it is long the part of it that says what is needed.
fn core(sentence: &str) -> &str {
    if sentence.chars().count() <= MAX_CHARS {
        return sentence;
    }
    let says = |part: &&str| {
        let lower = part.to_lowercase();
        text::contains_any(&lower, SIGNS)
    };
    let parts = [" — ", "; ", " which usually means ", ", which ", ", and "].iter().find_map(|mark| {
        let mut parts = sentence.split(mark);
        parts.clone().nth(1)?;
        parts.find(says).filter(|part| part.chars().count() <= MAX_CHARS)
    });
    parts.unwrap_or(sentence)
}
