//! What the agent says is gone, or back.

use super::names::{END_OF_NAME, in_code};
use crate::text;

/// Words right behind a name that is gone.
const GONE: &[&str] = &[
    "is gone",
    "are gone",
    "is removed",
    "was removed",
    "were removed",
    "has been removed",
    "is deleted",
    "was deleted",
    "has been deleted",
    "no longer exists",
    "was dropped",
    "was replaced",
    "is replaced by",
    "를 제거",
    "을 제거",
    "를 삭제",
    "을 삭제",
    "を削除",
    "は削除",
    "已删除",
];

/// Words right before a name that was taken out.
const TAKEN_OUT: &[&str] =
    &["removed", "removed the", "deleted", "deleted the", "dropped", "dropped the", "replaced", "replaced the", "删除了"];

/// Words of a statement that tells what was taken out.
const REMOVALS: &[&str] = &[
    "remove", "removes", "removed", "removing", "delete", "deletes", "deleted", "drop", "drops", "dropped", "제거", "삭제",
    "削除", "删除",
];

/// Words right before a name that stands as it did before, and right behind one.
const PUT_BACK: &[&str] = &["reverted", "restored", "re-added", "readded", "brought back", "put back", "added back"];
const IS_BACK: &[&str] = &[
    "is back",
    "was restored",
    "has been restored",
    "is restored",
    "restored",
    "를 복원",
    "을 복원",
    "를 되돌",
    "을 되돌",
    "を復元",
    "を戻",
];

/// Words of a text that announces or tells that something is put back.
pub(super) const RESTORES: &[&str] = &[
    "restore",
    "restored",
    "restoring",
    "revert",
    "reverted",
    "reverting",
    "put back",
    "add back",
    "bring back",
    "re-add",
    "re-added",
    "undo",
    "undid",
    "복원",
    "되돌",
    "戻",
    "復元",
    "恢复",
];

/// Words of a sentence that doubts, plans or denies, and so says nothing of what is.
pub(crate) const DOUBTS: &[&str] = &["not ", "n't ", "would", "should", "could", " if ", "?", "will ", "want"];

/// Returns whether a statement or the heading of a list tells that something was taken out.
pub(crate) fn says_removal(said: &str) -> bool {
    text::contains_any_words(&said.to_lowercase(), REMOVALS)
}

/// Returns what a sentence says is gone: what it names in code before "is gone", or behind "removed".
pub(super) fn gone(sentence: &str) -> Vec<u32> {
    named_beside(sentence, TAKEN_OUT, GONE)
}

/// Returns what a sentence says is as it was before: what it names in code behind "restored", or before "is back".
pub(super) fn restored(sentence: &str) -> Vec<u32> {
    named_beside(sentence, PUT_BACK, IS_BACK)
}

/// Returns what a sentence names in code right behind some words, or right before others.
fn named_beside(sentence: &str, before: &[&str], behind: &[&str]) -> Vec<u32> {
    // The places of the names are those of the sentence itself.
    let lower = sentence.to_ascii_lowercase();
    if text::contains_any(&lower, DOUBTS) {
        return Vec::new();
    }
    let is_meant = |&((start, end), _): &((usize, usize), u32)| {
        let rest = lower[end..].trim_start_matches(['`', ' ']);
        behind.iter().any(|words| text::starts_with_words(rest, words))
            || before.iter().any(|word| lower[..start].trim_end_matches(['`', ' ']).ends_with(word))
    };
    in_code(sentence).filter(is_meant).map(|(_, name)| name).collect()
}

/// Returns the words behind "removed" in a text in lower case, with or without the marks of code.
pub(super) fn taken_out(lower: &str) -> impl Iterator<Item = u32> {
    TAKEN_OUT.iter().flat_map(move |verb| {
        let is_word = |at: &usize| !lower[..*at].ends_with(char::is_alphanumeric);
        let places = lower.match_indices(verb).map(|(at, _)| at).filter(is_word);
        let name = |at: usize| {
            let rest = lower[at + verb.len()..].trim_start_matches(['`', ' ']);
            text::hash(rest.split([' ', '`']).next().unwrap_or_default().trim_end_matches(END_OF_NAME))
        };
        places.map(name).collect::<Vec<_>>()
    })
}
