//! Causes and reasons in what the agent says: sentences that teach something.

use super::heading::POINTERS;
use super::heading::file_in;
use super::heading::heading_of;
use super::heading::resolve_pointer;
use super::narration::is_narration;
use super::narration::strip_interjection;
use super::proposal::is_speculation;
use crate::extract::signs::{is_guess, is_proposals};
use crate::text;

/// Something worth knowing in the prose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::extract) struct Insight {
    /// One or two sentences that can be understood on their own.
    pub text: String,
    /// How strong the evidence is. Anything above 3 deserves a look.
    pub score: u8,
    /// Whether the agent explains why it did something one way and not another.
    pub is_choice: bool,
    /// The file that the insight is about.
    pub file: Option<String>,
}

/// Signs of a cause or a surprise, with their weights.
const CAUSES: &[(&str, u8)] = &[
    ("root cause", 4),
    ("real cause", 4),
    ("the issue is", 3),
    ("the problem is", 3),
    ("the issue was", 3),
    ("the problem was", 3),
    ("the bug is", 3),
    ("the bug was", 3),
    ("the culprit", 4),
    ("turns out", 4),
    ("caused by", 3),
    ("the reason", 3),
    ("because", 2),
    ("due to", 2),
    ("doesn't support", 3),
    ("does not support", 3),
    ("not supported", 3),
    ("only works", 3),
    ("doesn't work", 3),
    ("does not work", 3),
    ("won't work", 3),
    ("doesn't exist", 2),
    ("does not exist", 2),
    ("silently", 3),
    ("requires", 2),
    ("must be", 2),
    ("must not", 2),
    ("needs to be", 1),
    ("overrides", 2),
    ("shadows", 2),
    ("race condition", 3),
    ("conflicts with", 2),
    ("unlike", 2),
    ("contrary to", 3),
    ("despite", 2),
    ("even though", 2),
    ("gotcha", 4),
    ("caveat", 3),
    ("pre-existing", 1),
    ("unrelated", 1),
    ("by default", 2),
    ("hardcoded", 2),
    ("limitation", 2),
    ("workaround", 3),
    ("incompatible", 3),
    ("deprecated", 2),
    ("mismatch", 2),
    ("picks up", 2),
    ("which means", 2),
    ("missing", 1),
    ("때문", 3),
    ("원인", 4),
    ("문제는", 3),
    ("지원하지", 3),
    ("아니라", 2),
    ("아닙니다", 2),
    ("실패", 1),
    ("충돌", 2),
    ("필수", 2),
    ("오버라이드", 2),
    ("原因", 4),
    ("ため", 2),
    ("問題は", 3),
    ("対応していない", 3),
    ("ではなく", 2),
    ("必要がある", 2),
    ("失敗", 1),
    ("競合", 2),
    ("因为", 3),
    ("导致", 3),
    ("问题是", 3),
    ("不支持", 3),
    ("必须", 2),
    ("冲突", 2),
];

/// Signs of a choice and its reason, with their weights.
const REASONS: &[(&str, u8)] = &[
    ("instead of", 3),
    ("rather than", 3),
    ("so that", 2),
    ("prevents", 2),
    ("to prevent", 2),
    ("to avoid", 2),
    ("avoids", 2),
    ("ensures", 1),
    ("never", 2),
    ("otherwise", 2),
    ("in order to", 1),
    ("by design", 3),
    ("intentionally", 3),
    ("deliberately", 3),
    ("chose", 3),
    ("decided", 3),
    ("opted", 3),
    ("trade-off", 3),
    ("tradeoff", 3),
    ("prefer", 2),
    ("no longer", 2),
    (" so ", 1),
    ("fall back", 1),
    ("falls back", 1),
    ("fallback", 1),
    ("대신", 3),
    ("않도록", 2),
    ("므로", 2),
    ("위해", 1),
    ("덮어", 2),
    ("통일", 1),
    ("代わりに", 3),
    ("ので", 1),
    ("避け", 2),
    ("方針", 2),
    ("ように", 1),
    ("而不是", 3),
    ("避免", 2),
    ("以便", 2),
    ("确保", 1),
    ("所以", 1),
];

fn weight(lower: &str, signs: &[(&str, u8)]) -> u8 {
    let lower = text::Searched::for_patterns(lower, signs.len());
    let mut found: Vec<u8> = signs.iter().filter(|(sign, _)| lower.contains(sign)).map(|(_, weight)| *weight).collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    found.iter().take(2).sum()
}

/// Returns what a later session would want to know from a text of the agent. `is_answer` says that the text is the last
/// one of the turn, so what it reports is the final state.
pub(in crate::extract) fn insights(said: &str, is_answer: bool) -> Vec<Insight> {
    let mut all = Vec::new();
    let mut heading = String::new();
    let mut previous = String::new();
    for line in text::prose_lines(said) {
        if line.starts_with('|') {
            continue;
        }
        if let Some(title) = heading_of(line) {
            heading = title;
            previous.clear();
            continue;
        }
        // A list item stands on its own.
        if line.starts_with(['-', '*', '•']) {
            previous.clear();
        }
        for sentence in text::sentences(line) {
            // "However" ties the sentence to the one before it.
            let is_tied = sentence.starts_with("However");
            let sentence = if is_tied { sentence.clone() } else { strip_interjection(&sentence).to_owned() };
            if let Some(insight) = insight(&sentence, &heading, &previous, is_answer) {
                all.push(insight);
            }
            previous = sentence;
        }
    }
    all
}

fn insight(sentence: &str, heading: &str, previous: &str, is_answer: bool) -> Option<Insight> {
    if is_narration(sentence) || sentence.ends_with(['?', '？', ':', '：']) || sentence.contains("```") {
        return None;
    }
    // A name alone is an entry of a list.
    if !sentence.split('`').step_by(2).any(|said| said.chars().any(char::is_alphabetic)) {
        return None;
    }
    let lower = text::lower(sentence);
    let is_past = text::contains_words(&lower, "at first") && !lower.contains("at first glance");
    if is_past || is_step(&lower) || is_stray(&lower) || is_proposals(heading) || lower.starts_with("pr #") {
        return None;
    }
    let (cause, reason) = (weight(&lower, CAUSES), weight(&lower, REASONS));
    // While working, the agent guesses; only causes count then.
    if cause + if is_answer { reason } else { reason / 2 } < 2 {
        return None;
    }
    if is_change_note(&lower)
        && weight(&lower, CAUSES) < 2
        && !text::contains_any(&lower, &["so that", "to avoid", "to prevent", "prevents"])
    {
        return None;
    }
    let whole = resolve_pointer(sentence, heading, previous)?;
    // The sentence before it may be a piece of something larger, too.
    if whole != sentence && is_stray(&whole.to_lowercase()) {
        return None;
    }
    let length = whole.chars().count();
    let min_length = if whole.is_ascii() { 40 } else { 16 };
    if length < min_length || length > 330 || is_speculation(&lower) {
        return None;
    }
    let file = file_in(&whole);
    let concrete = whole.contains('`') || file.is_some() || whole.bytes().any(|byte| byte == b'_');
    let score = cause + reason + 2 * u8::from(concrete) + u8::from(is_answer) + u8::from(!heading.is_empty() && is_answer);
    Some(Insight { text: whole, score, is_choice: reason > cause || (is_answer && reason >= 2 && reason >= cause), file })
}

/// Returns whether a sentence in lower case is a piece of something larger: a line of a walk through code or of a comparison, what a
/// test verifies, or a remark of a review about the form of the code.
pub(super) fn is_stray(lower: &str) -> bool {
    const OPENINGS: [&str; 31] = [
        "(",
        "//",
        "a)",
        "at minimum",
        "benefit",
        "case ",
        "cons:",
        "const ",
        "creates ",
        "either (",
        "example",
        "expected",
        "fix:",
        "hardcoded ",
        "instead of line",
        "line ",
        "lines ",
        "location",
        "no test",
        "option ",
        "process ",
        "pros:",
        "result:",
        "scenario",
        "speculation",
        "status:",
        "step ",
        "test coverage",
        "graceful",
        "user: ",
        "user runs",
    ];
    const WORDS: [&str; 15] = [
        "correctly identifies",
        "correctly handles",
        "clearly explains",
        "well isolated",
        "well-isolated",
        "has no dependencies",
        "is the correct",
        "verifies that",
        "should be a named",
        "opts into",
        "is purely",
        "what if",
        "well-understood",
        "well understood",
        "is in the right place",
    ];
    let bare = lower.trim_start_matches(['`', '"', '*', '-', ' ']);
    if is_mapping(bare) || is_inventory(lower) || names_nothing(bare) || is_of_list(bare) {
        return true;
    }
    OPENINGS.iter().any(|opening| bare.starts_with(opening)) || text::contains_any_words(lower, &WORDS)
}

/// Returns whether an item in lower case only says what became what: "`<price>` → a column of prices".
fn is_mapping(bare: &str) -> bool {
    let is_short = bare.chars().count() <= MAX_MAPPING_CHARS;
    let is_sentence = bare.ends_with(['.', '。', '!']);
    is_short && !is_sentence && bare.split_once(" → ").is_some_and(|(from, _)| from.ends_with(['`', '"', '>']))
}

/// Returns whether an item in lower case only says how long a file is, and what it holds: "`menu.md` (93 lines) - the dishes".
fn is_inventory(lower: &str) -> bool {
    let rest = lower.strip_prefix('`').and_then(|rest| rest.split_once("` ")).map_or("", |(_, rest)| rest);
    let counted = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or("", |(counted, _)| counted);
    let unit = counted.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ',' | '+' | '~' | ' '));
    unit.len() < counted.len() && ["lines", "loc", "라인", "줄", "행", "行"].contains(&unit)
}

/// Returns whether a sentence in lower case is a row of a checklist, or points to one of several things that are listed beside it: "✗ no
/// drawer", "the big one — it rings twice".
fn is_of_list(bare: &str) -> bool {
    let points = || {
        let rest =
            bare.strip_prefix("the ").and_then(|rest| rest.split_once(" one")).filter(|(kind, _)| !kind.contains(' '));
        rest.is_some_and(|(_, rest)| {
            rest.starts_with([':', '：', ',']) || [" —", " –", " -"].iter().any(|it| rest.starts_with(it))
        })
    };
    bare.starts_with(['✗', '❌', '✘']) || points()
}

/// Returns whether an item in lower case says that there is nothing to list: "None (the menu is optional)".
fn names_nothing(bare: &str) -> bool {
    ["none", "n/a", "없음", "なし", "无"]
        .iter()
        .any(|word| bare.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '.', '(', '*'])))
        && !bare.starts_with("none of")
}

/// The maximum length of an item that only says what became what, in characters.
const MAX_MAPPING_CHARS: usize = 90;

/// Returns whether a sentence in lower case names a step to take: "Add a flag that opts in".
fn is_step(lower: &str) -> bool {
    const VERBS: [&str; 26] = [
        "add", "build", "change", "commit", "create", "delete", "drop", "fix", "gate", "land", "make", "merge", "move",
        "open", "pin", "post", "remove", "rename", "replace", "revert", "run", "set", "split", "switch", "update", "wire",
    ];
    let first = lower.trim_start_matches(|c: char| !c.is_alphanumeric()).split(|c: char| !c.is_alphanumeric()).next();
    first.is_some_and(|first| VERBS.contains(&first))
}

/// Recognizes notes such as "`file` — Updated this and that". The list of files already contains such changes.
pub(in crate::extract) fn is_change_note(lower: &str) -> bool {
    let rest = lower.strip_prefix('`').and_then(|rest| rest.split_once("` ")).map_or(lower, |(_, rest)| rest);
    let rest = rest.trim_start_matches(['—', '–', '-', ':', ' ', '(']);
    let verbs = [
        "updated",
        "added",
        "removed",
        "moved",
        "changed",
        "renamed",
        "rewrote",
        "replaced",
        "created",
        "extracted",
        "simplified",
        "refactored",
        "now ",
    ];
    verbs.iter().any(|verb| rest.starts_with(verb))
}

/// Returns the sentences that may name the cause of a failure. Excludes narration and questions, and speculation has no
/// weight.
pub(in crate::extract) fn causes(said: &str) -> Vec<String> {
    let mut all = Vec::new();
    for sentence in text::sentences(said) {
        let sentence = strip_interjection(&sentence);
        let length = sentence.chars().count();
        let lower = text::lower(sentence);
        let pointer = POINTERS.iter().any(|word| text::starts_with_words(&lower, word));
        if (12..300).contains(&length)
            && !is_narration(sentence)
            && !is_change_note(&lower)
            && !sentence.ends_with(['?', '？', ':', '：'])
            && !pointer
            && !is_expected(&lower)
            && cause_weight(sentence) > 1
        {
            all.push(sentence.to_owned());
        }
    }
    all
}

/// Returns whether a sentence in lower case says that something had to fail: a test that was written before the code.
fn is_expected(lower: &str) -> bool {
    text::contains_any(lower, &["as expected", "expected to fail", "예상대로", "想定通り", "期待通り", "符合预期"])
}

/// Words for what does not show in a file.
const BLANKS: &[&str] = &[
    "tab",
    "tabs",
    "indentation",
    "indented",
    "whitespace",
    "trailing space",
    "spaces",
    "crlf",
    "line endings",
    "line ending",
    "carriage",
    "encoding",
    "bom",
    "탭",
    "들여쓰기",
    "공백",
    "줄바꿈",
    "タブ",
    "インデント",
    "空白",
    "改行",
    "制表符",
    "缩进",
    "空格",
    "换行",
];

/// Returns the sentences that say how the blanks or the encoding of a file are.
pub(in crate::extract) fn remarks_on_blanks(said: &str) -> Vec<String> {
    let says = |sentence: &String| {
        let lower = text::lower(sentence);
        (12..200).contains(&sentence.chars().count())
            && !is_narration(sentence)
            && !sentence.ends_with(['?', '？', ':', '：'])
            && !is_speculation(&lower)
            && !text::contains_any(&lower, &["may ", "might ", "issue"])
            && text::contains_any_words(&lower, BLANKS)
    };
    text::sentences(said).iter().map(|sentence| strip_interjection(sentence).to_owned()).filter(says).take(2).collect()
}

/// Returns the weight of a sentence as the cause of a failure.
pub(in crate::extract) fn cause_weight(sentence: &str) -> u8 {
    let lower = text::lower(sentence);
    if is_speculation(&lower) || is_guess(&lower) || lower.starts_with("looks like") || lower.starts_with("all ") {
        return 0;
    }
    let concrete = u8::from(sentence.contains('`')) + u8::from(file_in(sentence).is_some());
    let failing = text::contains_any(
        &lower,
        &["fail", "error", "not ", "n't", "uses", "expects", "runs", "문제", "않", "없", "ない", "エラー", "不", "错误"],
    );
    weight(&lower, CAUSES) + concrete + u8::from(failing)
}

/// Returns the weights of the signs of a cause and of the signs of a reason in a text in lower case.
pub(in crate::extract) fn signs(lower: &str) -> (u8, u8) {
    (weight(lower, CAUSES), weight(lower, REASONS))
}
