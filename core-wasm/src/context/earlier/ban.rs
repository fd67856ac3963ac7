//! Whether a text forbids or demands something, which may happen again.

use crate::text;

/// How a clause of a correction begins that forbids or demands something, which may happen again, in lower case; what may stand before
/// it; and the words that do so anywhere.
const BANS: [&str; 7] = ["do not ", "don't ", "dont ", "never ", "always ", "stop ", "no more "];
const BEFORE_BANS: [&str; 14] =
    ["please", "and", "but", "so", "just", "also", "then", "again", "should", "must", "to", "nah", "no", "okay"];

const STANDING: [&str; 8] = ["must", "하지 마", "하지마", "말아", "しないで", "禁止", "不要", "必须"];

/// Returns whether a text in lower case forbids or demands something.
pub(in crate::context) fn forbids(lower: &str) -> bool {
    let opens = |ban: &&str| {
        text::contains(lower, ban)
            && lower.match_indices(*ban).any(|(at, _)| {
                let before = lower[..at].trim_end();
                let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
                // "Stop for a second" only interrupts.
                let pauses =
                    ["stop for a ", "stop for now", "stop a second", "stop a sec", "stop a moment", "stop a minute"];
                let interrupts = pauses.iter().any(|words| text::starts_with_words(&lower[at..], words));
                !interrupts && (!before.ends_with(char::is_alphanumeric) || BEFORE_BANS.contains(&word))
            })
    };
    BANS.iter().any(opens) || text::contains_any_words(lower, &STANDING)
}
