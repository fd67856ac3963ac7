//! What a text says was taken out, changed, or is used now, and what somebody asks to remove.

use std::collections::BTreeSet;

use super::names::{MAX_NAME, MIN_NAME, Span, spans};
use crate::text;

/// How many words may stand between "removed" and what was.
const MAX_BETWEEN: usize = 3;
/// The maximum number of words of what somebody asks to remove. A longer clause says more than what.
const MAX_OBJECT: usize = 7;
/// The minimum length of what is to be removed in Korean, in characters.
const MIN_HANGUL: usize = 4;
/// The minimum length of a word that names a feature, in bytes.
const MIN_FEATURE: usize = 4;
/// Words right before a name that was taken out.
const TAKEN_OUT: &[&str] = &["removed", "deleted", "dropped", "replaced", "renamed", "got rid of", "reverted"];
/// Words right before a name that nothing uses any more.
const UNUSED: &[&str] = &[
    "no references to",
    "no longer uses",
    "no longer use",
    "no longer references",
    "no longer needs",
    "no longer depends on",
];
/// Words right behind a name that was taken out.
const GONE: &[&str] = &[
    "is gone",
    "are gone",
    "is removed",
    "was removed",
    "were removed",
    "has been removed",
    "have been removed",
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
/// Words by which a sentence that names something taken out tells no deed.
pub(super) const DOUBTS: &[&str] = &[
    "not ",
    "n't ",
    "would",
    "should",
    "could",
    " if ",
    "?",
    "will ",
    "want",
    "unless",
    "않",
    "예정",
    "필요",
    "ません",
    "しない",
    "予定",
    "必要",
];
/// Words between "removed" and a name of which only a part or a mention was taken out.
const PARTS: &[&str] = &["from", "in", "to", "with", "of", "by", "for", "on", "at", "that", "where", "about", "around", "→"];
/// Words behind a name that stands elsewhere: the import of a function was taken out, and not the function.
const LOCAL: &[&str] = &[
    "import",
    "imports",
    "prop",
    "props",
    "parameter",
    "param",
    "argument",
    "call",
    "calls",
    "class",
    "field",
    "from",
    "in",
    "reference",
    "references",
    "usage",
    "usages",
    "wrapper",
    "option",
    "state",
    "dependency",
    "key",
    "entry",
    "label",
    "type",
];
/// Words that name no thing among others.
const PLAIN: &[&str] = &[
    "the",
    "this",
    "that",
    "these",
    "those",
    "a",
    "an",
    "all",
    "any",
    "completely",
    "entirely",
    "also",
    "too",
    "again",
    "now",
    "feature",
    "its",
    "it",
    "their",
    "our",
    "my",
    "your",
    "old",
    "unused",
    "whole",
    "entire",
    "then",
    "please",
    "just",
    "some",
    "dead",
    "code",
    "redundant",
    "duplicate",
    "duplicated",
    "unnecessary",
    "obsolete",
    "and",
    "or",
    "stale",
    "legacy",
];

/// Returns whether a text in lower case tells of something that it was taken out.
pub(super) fn says_taken_out(lower: &str) -> bool {
    text::contains_any_words(lower, TAKEN_OUT) || text::contains_any_words(lower, GONE)
}

/// Returns what a part of a result says was taken out.
pub(super) fn taken_out(part: &str) -> Vec<Span<'_>> {
    let lower = part.to_ascii_lowercase();
    let all: Vec<Span> = spans(part).collect();
    let mut taken: Vec<Span> = Vec::new();
    for (number, span) in all.iter().enumerate() {
        let before = &lower[..span.start.saturating_sub(1)];
        let behind = lower[(span.end + 1).min(lower.len())..].trim_start();
        // "`a`, `b` and `c`"
        let follows = number.checked_sub(1).map(|known| all[known]).filter(|known| {
            let between = lower[known.end + 1..span.start - 1].trim();
            taken.iter().any(|it| it.start == known.start) && matches!(between, "," | "and" | ", and" | "/" | "&" | "+")
        });
        let is_behind_verb = TAKEN_OUT.iter().any(|verb| {
            let Some((head, between)) = before.rsplit_once(verb) else { return false };
            let words: Vec<&str> = between.split_whitespace().collect();
            // A renamed or replaced thing is the one right behind the verb.
            let most = if matches!(*verb, "replaced" | "renamed" | "reverted") { 1 } else { MAX_BETWEEN };
            !head.ends_with(char::is_alphanumeric)
                && words.len() <= most
                && !between.contains(['`', ',', ';', ':', '('])
                && !words.iter().any(|word| PARTS.contains(word))
        });
        let is_unused = UNUSED.iter().any(|words| before.trim_end().ends_with(words));
        let is_before_verb = GONE.iter().any(|words| text::starts_with_words(behind, words));
        if is_behind_verb || is_before_verb || is_unused || follows.is_some() {
            let word = behind.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            let is_local = LOCAL.contains(&stem(word));
            if is_local && follows.is_some() {
                // "`a` and `b` imports"
                for known in &mut taken {
                    known.is_local = true;
                }
            }
            taken.push(Span { is_local, ..*span });
        }
    }
    taken
}

/// Returns what a part of a result says was put in the place of what: "Switched `a` to `b`".
pub(super) fn change_in(part: &str, lower: &str) -> Option<(String, String)> {
    const VERBS: [&str; 8] = ["switched", "switch", "replaced", "replace", "migrated", "changed", "전환", "切り替え"];
    const BETWEEN: [&str; 10] = ["to", "with", "→", "->", "by", "에서", "を", "から", "를", "을"];
    if !text::contains_any_words(lower, &VERBS) {
        return None;
    }
    let all: Vec<Span> = spans(part).collect();
    let pair = all.windows(2).find(|pair| BETWEEN.contains(&part[pair[0].end + 1..pair[1].start - 1].trim()))?;
    let known = |span: &Span| Some(span.text.trim().to_lowercase()).filter(|it| (MIN_NAME..=MAX_NAME).contains(&it.len()));
    Some((known(&pair[0])?, known(&pair[1])?))
}

/// Returns what a part of a result says is used now.
pub(super) fn uses(part: &str, lower: &str) -> Vec<String> {
    const USES: [&str; 8] = ["uses", "use", "using", "back to", "now uses", "stays with", "keeps", "keep"];
    if text::contains_any(lower, DOUBTS) || lower.contains("no longer") {
        return Vec::new();
    }
    let is_used = |span: &Span| {
        let before = lower.get(..span.start.saturating_sub(1)).unwrap_or_default().trim_end();
        USES.iter().any(|word| before.strip_suffix(word).is_some_and(|rest| !rest.ends_with(char::is_alphanumeric)))
    };
    let known = |span: Span| span.text.trim().to_lowercase();
    spans(part).filter(is_used).map(known).filter(|it| (MIN_NAME..=MAX_NAME).contains(&it.len())).collect()
}

/// Returns the words of each thing that a text asks to remove. One that only says "that" names nothing.
pub(super) fn unwanted(asked: &str) -> Vec<Vec<String>> {
    const VERBS: [&str; 5] = ["remove", "delete", "drop", "get rid of", "take out"];
    const BEHIND: [&str; 12] = ["from", "in", "on", "of", "since", "because", "as", "if", "when", "for", "where", "but"];
    let lower = asked.to_lowercase();
    let mut all = Vec::new();
    for verb in VERBS {
        for (at, _) in lower.match_indices(verb) {
            let before = lower[..at].trim_end();
            let rest = &lower[at + verb.len()..];
            let is_word = !lower[..at].ends_with(|c: char| c.is_alphanumeric() || c == '-') && rest.starts_with(' ');
            let last = before.rsplit(|c: char| !c.is_alphanumeric() && c != '\'').next().unwrap_or_default();
            // "How do I remove …" and "don't remove …" ask for something else.
            let is_order = before.is_empty()
                || before.ends_with(['.', ',', ':', ';', '!', '-', '…', '"'])
                || matches!(
                    last,
                    "please" | "and" | "to" | "s" | "let's" | "then" | "completely" | "also" | "should" | "just" | "you"
                );
            if !is_word || !is_order || text::contains_any_words(before, &["don't", "do not", "not", "how"]) {
                continue;
            }
            let clause = rest.split(['.', ',', ':', ';', '!', '?', '\n', '(', '…']).next().unwrap_or_default();
            let words: Vec<&str> = words(clause);
            let end = words.iter().position(|word| BEHIND.contains(word)).unwrap_or(words.len());
            // What is joined with "and" is more than one thing.
            let end = words[..end].iter().position(|word| matches!(*word, "and" | "or")).unwrap_or(end);
            let object: Vec<String> =
                words[..end].iter().filter(|word| !PLAIN.contains(word)).map(|word| stem(word).to_owned()).collect();
            if words[..end].len() <= MAX_OBJECT && object.len() >= 2 {
                all.push(object);
            }
        }
    }
    all.extend(
        lower.split(['。', '、', '，', ',', '.', '!', '?', '\n']).filter_map(unwanted_before).map(|object| vec![object]),
    );
    all
}

/// Returns the words that name a feature of which the parts of a result say that it was taken out, and that things of it were: "Removed
/// the drawer light feature: Removed light switches; Removed light colors". Nothing else there may have the word.
pub(super) fn dropped_feature(parts: &[&str]) -> BTreeSet<String> {
    const FEATURES: [&str; 6] = ["feature", "features", "functionality", "기능", "機能", "功能"];
    let names_feature = |part: &&str| text::contains_any(part, &["eature", "unctionality", "기능", "機能", "功能"]);
    if !parts.iter().any(names_feature) {
        return BTreeSet::new();
    }
    let mut of_feature: BTreeSet<String> = BTreeSet::new();
    let mut others: BTreeSet<String> = BTreeSet::new();
    let mut kept: BTreeSet<String> = BTreeSet::new();
    for clause in parts.iter().flat_map(|part| part.split(": ")) {
        let lower = clause.to_lowercase();
        let bare = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
        let is_removal = ["removed ", "deleted ", "dropped "].iter().any(|verb| bare.starts_with(verb))
            || text::contains_any(bare, &["를 제거", "을 제거", "를 삭제", "을 삭제", "を削除", "は削除"]);
        let is_doubtful = text::contains_any(bare, DOUBTS);
        let stems = words(bare).into_iter().filter(|word| !PLAIN.contains(word) && word.len() >= MIN_FEATURE).map(stem);
        let stems = stems.map(str::to_owned).filter(|word| !matches!(word.as_str(), "removed" | "deleted" | "dropped"));
        match is_removal && !is_doubtful {
            true if text::contains_any_words(bare, &FEATURES) => of_feature.extend(stems),
            true => others.extend(stems),
            false => kept.extend(stems),
        }
    }
    of_feature.retain(|word| others.contains(word) && !kept.contains(word));
    of_feature
}

/// Returns the thing before the verb that asks in Korean or Japanese to remove it, without spaces.
fn unwanted_before(clause: &str) -> Option<String> {
    const VERBS: [&str; 9] =
        ["を削除して", "は削除して", "を消して", "は消して", "를 제거해", "을 제거해", "를 삭제해", "을 삭제해", "를 없애"];
    // "May I remove it?" asks for no work.
    const ASKS: [&str; 4] = ["いい", "も", "도", "서"];
    let (head, rest) = VERBS.iter().find_map(|verb| clause.split_once(verb))?;
    if ASKS.iter().any(|ask| rest.starts_with(ask)) {
        return None;
    }
    let head = head.rsplit(['の', 'で', 'に', '「', '」', '`', '"']).next()?;
    let mut last: Vec<&str> = head.split_whitespace().rev().take(2).collect();
    last.reverse();
    let object = last.concat();
    let min_chars = if object.contains(|c: char| ('가'..='힣').contains(&c)) { MIN_HANGUL } else { MIN_NAME };
    (!object.is_ascii() && object.chars().count() >= min_chars).then_some(object)
}

pub(super) fn words(said: &str) -> Vec<&str> {
    said.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect()
}

/// Returns a word without the ending of the plural.
pub(super) fn stem(word: &str) -> &str {
    match word.strip_suffix('s') {
        Some(stem) if stem.len() >= 3 && !stem.ends_with('s') && word.is_ascii() => stem,
        _ => word,
    }
}
