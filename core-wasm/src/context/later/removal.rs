//! What a text says was taken out, and what was put in the place of what.

use super::names::{Span, name_of, spans};
use crate::extract::signs;
use crate::extract::vanished::DOUBTS;
use crate::text;

/// How far before a name the words are read that say that it was taken out, in bytes.
const MAX_BEFORE: usize = 60;
/// The minimum length of what something was switched to, in bytes.
const MIN_SWITCHED: usize = 5;
/// Verbs before a name that was taken out. The extraction has more of them: it sees the edits too, while here the words are all there is.
const TAKEN_OUT: [&str; 4] = ["removed", "deleted", "dropped", "got rid of"];
/// Words right before a name that nothing uses any more.
const UNUSED: [&str; 4] = ["no references to", "no more references to", "nothing uses", "nobody uses"];
/// Words that may stand between "removed" and the name of what was taken out as a whole.
const WHOLE: [&str; 11] =
    ["the", "old", "obsolete", "legacy", "stale", "dead", "whole", "entire", "project-level", "both", "all"];
/// Words that say what a name is, before or behind it.
const KINDS: [&str; 14] = [
    "function",
    "functions",
    "method",
    "type",
    "struct",
    "class",
    "constant",
    "file",
    "files",
    "directory",
    "folder",
    "command",
    "script",
    "helper",
];
/// Words right behind a name that was taken out, at the end of a clause.
const GONE: [&str; 8] = [
    "is gone",
    "are gone",
    "no longer exists",
    "was removed",
    "were removed",
    "has been removed",
    "was deleted",
    "has been deleted",
];
/// What stands in every part that says that something is gone: the words of the lists here, or their beginnings.
const SIGNS: [&str; 13] = [
    "removed",
    "deleted",
    "dropped",
    "got rid of",
    "references to",
    "nothing uses",
    "nobody uses",
    " gone",
    "no longer exists",
    KOREAN_GONE[0],
    KOREAN_GONE[1],
    "削除",
    "删除",
];
/// The verbs in Korean, and the endings of the past in Korean and Japanese. Any other ending denies, plans or supposes.
const KOREAN_GONE: [&str; 2] = ["제거", "삭제"];
const KOREAN_PAST: [&str; 7] = ["했습니다", "했음", "했어요", "되었습니다", "됐습니다", "하였습니다", "했다"];
const JAPANESE_PAST: [&str; 6] = ["しました", "されました", "した", "された", "済み", "済みです"];
/// Words by which a part that names something taken out says less than that it is gone for good.
const OTHER_DOUBTS: [&str; 29] = [
    "never",
    "nobody ever",
    "temporarily",
    "temporary",
    "for now",
    "moved",
    "restored",
    "revert",
    "reverted",
    "renamed",
    "again",
    "back",
    "until",
    "unless",
    "instead of",
    "without",
    "stopped",
    "next:",
    "next step",
    "todo",
    "않",
    "못",
    "다시",
    "예정",
    "필요",
    "ません",
    "ない",
    "戻",
    "予定",
];

/// Returns whether a part in lower case doubts, denies or plans what it speaks of, or says that it holds only for a time.
pub(in crate::context) fn is_doubtful(lower: &str) -> bool {
    text::contains_any(lower, DOUBTS) || text::contains_any_words(lower, &OTHER_DOUBTS) || signs::is_open_state(lower)
}

/// Returns the names that a part of a result says were taken out as a whole.
pub(super) fn taken_out(part: &str) -> Vec<String> {
    // The places in it are those in the part.
    let lower = part.to_ascii_lowercase();
    // Most parts speak of nothing that is gone.
    if !text::contains_any(&lower, &SIGNS) || is_doubtful(&lower) {
        return Vec::new();
    }
    let all: Vec<Span> = spans(part).collect();
    let mut taken: Vec<&Span> = Vec::new();
    let mut listed: Vec<&Span> = Vec::new();
    for (number, span) in all.iter().enumerate() {
        let before = lower[lower.floor_char_boundary(span.start.saturating_sub(MAX_BEFORE))..span.start - 1].trim_end();
        let behind = &lower[span.end + 1..];
        // "`a`, `b` and `c`"
        let is_joined = number > 0
            && matches!(lower[all[number - 1].end + 1..span.start - 1].trim(), "," | "and" | ", and" | "と" | "와" | "과");
        if !is_joined {
            listed.clear();
        }
        let is_behind_verb = !listed.is_empty() || is_behind_removal(before);
        if is_behind_verb {
            listed.push(span);
        }
        let next_is_joined = all
            .get(number + 1)
            .is_some_and(|next| matches!(lower[span.end + 1..next.start - 1].trim(), "," | "and" | ", and"));
        if is_behind_verb && !next_is_joined {
            // "Removed the `a` and `b` imports": the word behind the last name belongs to all of them.
            if ends_clause(without_kind(behind)) {
                taken.append(&mut listed);
            }
        } else if is_gone(behind) {
            taken.push(span);
        }
    }
    taken.into_iter().filter_map(|span| name_of(span.text)).collect()
}

/// Returns whether the words before a name, in lower case, say that somebody took it out or that nothing uses it.
fn is_behind_removal(before: &str) -> bool {
    let before = before.trim_end_matches('`').trim_end();
    if UNUSED.iter().any(|words| before.ends_with(words)) {
        return true;
    }
    let mut head = before;
    while let Some(word) = head.rsplit(' ').next().filter(|word| WHOLE.contains(word) || KINDS.contains(word)) {
        head = head[..head.len() - word.len()].trim_end();
    }
    TAKEN_OUT.iter().any(|verb| head.strip_suffix(verb).is_some_and(begins_clause)) || head.ends_with("删除了")
}

/// Returns whether the words behind a name, in lower case, say that it is gone.
fn is_gone(behind: &str) -> bool {
    let behind = behind.trim_start();
    if GONE.iter().any(|words| behind.strip_prefix(words).is_some_and(ends_clause)) {
        return true;
    }
    let korean = ["를", "을", "은", "는", "이", "가"].iter().find_map(|particle| behind.strip_prefix(particle));
    let is_korean = korean.map(str::trim_start).is_some_and(|rest| {
        let ending = KOREAN_GONE.iter().find_map(|stem| rest.strip_prefix(stem));
        ending.is_some_and(|ending| KOREAN_PAST.iter().any(|past| ending.strip_prefix(past).is_some_and(ends_clause)))
    });
    let japanese = ["を", "は", "も"].iter().find_map(|particle| behind.strip_prefix(particle));
    let is_japanese = japanese
        .and_then(|rest| rest.trim_start().strip_prefix("削除"))
        .is_some_and(|ending| JAPANESE_PAST.iter().any(|past| ending.strip_prefix(past).is_some_and(ends_clause)));
    is_korean || is_japanese || behind.strip_prefix("已删除").is_some_and(ends_clause)
}

/// Returns what stands behind a name without the word that says what it is.
fn without_kind(behind: &str) -> &str {
    let rest = behind.trim_start();
    KINDS
        .iter()
        .find_map(|kind| rest.strip_prefix(kind).filter(|rest| !rest.starts_with(char::is_alphanumeric)))
        .unwrap_or(behind)
}

/// Returns whether a text begins with the end of a clause.
fn ends_clause(rest: &str) -> bool {
    let rest = rest.trim_start();
    rest.is_empty() || rest.starts_with(['.', ',', ';', ':', '!', ')', '。']) || rest.starts_with("— ")
}

/// Returns whether a verb behind a text in lower case tells what the author did: it stands at the start of a clause, or behind "I".
pub(super) fn begins_clause(head: &str) -> bool {
    let head = head.trim_end();
    let last = head.rsplit(' ').next().unwrap_or_default();
    head.is_empty()
        || head.ends_with([':', ';', ',', '-', '—', '–', '(', '.', '*'])
        || matches!(last, "i" | "we" | "and" | "also" | "i've")
}

/// Returns what a part of a result says was put in the place of what: "Switched `a` to `b`".
pub(super) fn switch_in(part: &str, lower: &str) -> Option<(String, String)> {
    const VERBS: [&str; 7] = ["switched", "replaced", "migrated", "changed", "전환했", "切り替えました", "切り替えた"];
    const BETWEEN: [&str; 9] = ["to", "back to", "with", "→", "->", "에서", "を", "から", "를"];
    if !text::contains_any_words(lower, &VERBS) || text::contains_any(lower, DOUBTS) {
        return None;
    }
    let all: Vec<Span> = spans(part).collect();
    let pair = all.windows(2).find(|pair| BETWEEN.contains(&part[pair[0].end + 1..pair[1].start - 1].trim()))?;
    let name = |span: &Span| Some(span.text.trim().to_lowercase()).filter(|it| it.len() >= MIN_SWITCHED);
    Some((name(&pair[0])?, name(&pair[1])?))
}

/// Returns whether a part of a newer result says that a switch was taken back. None if it says nothing of it.
pub(super) fn says_switched_back(part: &str, lower: &str, from: &str, to: &str) -> Option<bool> {
    if switch_in(part, lower).is_some_and(|(old, new)| old == to && new == from) {
        return Some(true);
    }
    let names = |span: &Span, name: &str| span.text.trim().eq_ignore_ascii_case(name);
    if spans(part).any(|span| names(&span, to)) {
        return Some(false);
    }
    let returns = |span: &Span| {
        let lower = part[..span.start - 1].to_ascii_lowercase();
        let before = lower.trim_end();
        let is_now = || text::contains_any_words(before, &["now", "again"]);
        before.ends_with("back to") || before.strip_suffix("uses").is_some_and(|head| begins_clause(head) && is_now())
    };
    let is_back = spans(part).any(|span| names(&span, from) && returns(&span));
    let is_denied = text::contains_any(lower, DOUBTS)
        || text::contains_any_words(lower, &["never", "stopped", "stop", "instead of", "without", "no longer"]);
    (is_back && !is_denied).then_some(true)
}
