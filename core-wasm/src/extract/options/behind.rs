//! What stands around the number or letter of an option, and whether it leaves it a choice.

use crate::text;

/// Returns whether the text contains `id` without an adjacent ASCII letter or digit, or a dot before it.
pub(super) fn contains_id(text: &str, id: &str) -> bool {
    text.match_indices(id).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + id.len()..].chars().next();
        before.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '.') && after.is_none_or(|c| !c.is_ascii_alphanumeric())
    })
}

/// What is said of the option that is taken: "2 is fine".
pub(super) const VERDICTS: [&str; 24] = [
    "is correct",
    "is right",
    "is fine",
    "is good",
    "is better",
    "is best",
    "is the way",
    "is what i",
    "is my",
    "sounds good",
    "sounds right",
    "sounds fine",
    "sounds like",
    "looks good",
    "looks right",
    "looks fine",
    "looks like",
    "seems good",
    "seems right",
    "seems fine",
    "seems like",
    "does seem like",
    "does seem fine",
    "makes sense",
];

/// Returns whether the text behind a number or letter leaves it the choice of an option: none, a mark, what limits it, a verdict, or what
/// the user does: "2 we paint it". "2 tests fail" counts something, and "2 would be wrong" takes nothing.
pub(super) fn follows_choice(rest: &str) -> bool {
    const REASONS: [&str; 9] = ["please", "pls", "thanks", "for", "first", "then", "because", "since", "as"];
    const CLAUSES: [&str; 6] = ["we", "we're", "i", "i'm", "let's", "lets"];
    let Some(words) = rest.strip_prefix(' ').map(|words| words.trim_start().to_ascii_lowercase()) else { return true };
    !words.starts_with(|c: char| c.is_ascii_alphabetic())
        || turns_choice(&words)
        || VERDICTS.iter().chain(&REASONS).chain(&CLAUSES).any(|said| text::starts_with_words(&words, said))
}

/// Returns whether what is said behind an option limits or changes it by its first word.
pub(super) fn turns_choice(said: &str) -> bool {
    const TURNS: [&str; 11] =
        ["but", "and", "also", "though", "except", "only", "just", "with", "without", "plus", "unless"];
    let lower = said.to_lowercase();
    TURNS.iter().any(|word| text::starts_with_words(&lower, word))
}
