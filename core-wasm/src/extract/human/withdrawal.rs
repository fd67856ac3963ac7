//! What the user gives up or takes back: words of their own, or work that was done.

use super::pasted::own_words;
use crate::text::{self, strip_apostrophes};

/// Openings of a prompt that withdraws what the user said just before.
const WITHDRAWALS: &[&str] = &[
    "my mistake",
    "my bad",
    "my fault",
    "sorry",
    "oops",
    "scratch that",
    "never mind",
    "nevermind",
    "ignore that",
    "ignore my",
    "forget that",
    "forget what i said",
    "i was wrong",
    "i messed up",
    "아 아니다",
    "아니다",
    "아 미안",
    "미안",
    "취소",
    "내가 잘못",
    "やっぱり",
    "やっぱ",
    "ごめん",
    "すみません、間違",
    "間違えた",
    "算了",
    "我说错",
    "我搞错",
    "抱歉",
];

/// Returns whether a prompt withdraws what the user said just before.
pub(in crate::extract) fn withdraws(prompt: &str) -> bool {
    let lower = strip_apostrophes(text::head(prompt.trim_start(), 200));
    WITHDRAWALS.iter().any(|opening| text::starts_with_words(&lower, opening))
}

/// Returns whether a prompt says that something is not to be: "let's not add the drawer, it's unnecessary". What is to be removed may be
/// a part of the thing, or name a button.
pub(in crate::extract) fn leaves_out(prompt: &str) -> bool {
    const SIGNS: [&str; 7] = ["let's not", "lets not", "let us not", "unnecessary", "필요 없", "不要です", "いらない"];
    text::contains_any_words(&prompt.to_lowercase().replace('’', "'"), &SIGNS)
}

/// How a prompt gives up the branch or the changes that the session worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::extract) enum Abandonment {
    /// The agent is told to give them up.
    Ordered,
    /// The user took them back already.
    TakenBack,
}

/// Returns how a prompt gives up the branch or the changes that the session worked on, if its first sentence does.
pub(in crate::extract) fn abandonment(prompt: &str) -> Option<Abandonment> {
    let first = text::first_sentence(&own_words(text::head(prompt, 2_000)))?;
    let lower = strip_apostrophes(&first);
    if tells_reversal(&lower) {
        return Some(Abandonment::TakenBack);
    }
    orders_abandonment(&lower).then_some(Abandonment::Ordered)
}

/// Returns whether a sentence in lower case, without apostrophes, tells the agent to give up the branch or the changes.
fn orders_abandonment(lower: &str) -> bool {
    const VERBS: [&str; 6] = ["abandon", "scrap", "throw away", "discard", "drop", "get rid of"];
    const WORK: [&str; 8] =
        ["branch", "current branch", "changes", "current changes", "all changes", "whole branch", "whole change", "pr"];
    const BEFORE_ORDERS: [&str; 5] = ["", "lets", "please", "should", "just"];
    const WIDE: [&str; 4] = ["브랜치는 버리", "ブランチは捨て", "ブランチを捨て", "放弃这个分支"];
    let is_order = |before: &str| BEFORE_ORDERS.contains(&before.split_whitespace().last().unwrap_or_default());
    let is_of_work = |rest: &str| WORK.iter().any(|work| rest.strip_prefix(work).is_some_and(ends_clause));
    let gives_up = |opening: String| {
        let mut places = lower.match_indices(&opening);
        places.any(|(at, words)| is_order(&lower[..at]) && is_of_work(&lower[at + words.len()..]))
    };
    let mut openings = VERBS.iter().flat_map(|verb| ["the", "this"].map(|article| format!("{verb} {article} ")));
    openings.any(gives_up) || text::contains_any(lower, &WIDE)
}

/// Returns whether a sentence in lower case, without apostrophes, says that the user took the agent's changes back: "I've reverted
/// your changes".
fn tells_reversal(lower: &str) -> bool {
    const ADVERBS: [&str; 4] = ["have", "just", "now", "already"];
    const DEEDS: [&str; 6] = ["reverted", "discarded", "undid", "undone", "rolled back", "threw away"];
    const WORK: [&str; 10] = [
        "your changes",
        "your change",
        "your work",
        "your edits",
        "all your changes",
        "all of your changes",
        "the changes",
        "all changes",
        "all the changes",
        "everything",
    ];
    let Some(mut rest) = ["ive ", "i "].iter().find_map(|words| lower.strip_prefix(words)) else { return false };
    while let Some(adverb) = ADVERBS.iter().find(|adverb| text::starts_with_words(rest, adverb)) {
        rest = rest[adverb.len()..].trim_start();
    }
    let rest = DEEDS.iter().find_map(|deed| rest.strip_prefix(deed)).map(str::trim_start);
    rest.is_some_and(|rest| WORK.iter().any(|work| text::starts_with_words(rest, work)))
}

/// Returns whether a text begins with the end of a clause, so that nothing narrows what stands before it: "the changes in the till" does.
fn ends_clause(rest: &str) -> bool {
    let rest = rest.trim_start();
    rest.is_empty() || rest.starts_with([',', '.', ';', '!']) || text::starts_with_words(rest, "and")
}

/// Returns whether a prompt only takes the blame for what was said before it.
pub(in crate::extract) fn excuses(prompt: &str) -> bool {
    withdraws(prompt) && !strip_apostrophes(text::head(prompt.trim_start(), 200)).starts_with("sorry")
}
