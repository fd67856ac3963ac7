//! What a heading says of what stands below it: a fix, praise, checks, proposals, or what is to be changed.

use crate::text;

/// Returns whether a heading is a clause, which reads as a part of the sentence below it: "Why the totals differ".
pub(in crate::extract) fn is_clause_heading(heading: &str) -> bool {
    const OPENINGS: [&str; 13] =
        ["what", "why", "how", "where", "when", "who", "which", "one", "two", "three", "four", "several", "here"];
    let lower = heading.to_lowercase();
    OPENINGS.iter().any(|word| text::starts_with_words(lower.trim_start_matches(|c: char| !c.is_alphanumeric()), word))
}

/// Returns whether what stands below a heading says how something was mended: "The fix".
pub(in crate::extract) fn is_fix_heading(heading: &str) -> bool {
    const WORDS: [&str; 14] = [
        "fix",
        "fixes",
        "the fix",
        "the fixes",
        "solution",
        "the solution",
        "fix applied",
        "the correct fix",
        "resolution",
        "해결",
        "수정",
        "修正",
        "対策",
        "修复",
    ];
    let lower = heading.to_lowercase();
    let bare = lower.split(['(', ':', '—']).next().unwrap_or_default();
    WORDS.contains(&bare.trim_matches(|c: char| !c.is_alphabetic()))
}

/// Returns whether a heading stands above what speaks for something: "Strengths", "Key benefits".
pub(in crate::extract) fn is_praise_heading(heading: &str) -> bool {
    const WORDS: [&str; 23] = [
        "benefits",
        "strengths",
        "positives",
        "positive aspects",
        "advantages",
        "good",
        "the good",
        "what's good",
        "what is good",
        "what works well",
        "what's done well",
        "well done",
        "장점",
        "강점",
        "이점",
        "잘된 점",
        "좋은 점",
        "利点",
        "メリット",
        "長所",
        "良い点",
        "优点",
        "优势",
    ];
    let lower = heading.to_lowercase().replace('’', "'");
    let bare = lower.split(['(', ':', '：', '—']).next().unwrap_or_default();
    let bare = bare.trim_matches(|c: char| !c.is_alphanumeric());
    let bare = ["key ", "main ", "주요 ", "主な"].iter().find_map(|word| bare.strip_prefix(word)).unwrap_or(bare);
    WORDS.contains(&bare)
}

/// Returns whether a heading that is a clause says how what stands below it is meant: "What the default leaves out".
pub(in crate::extract) fn qualifies(heading: &str) -> bool {
    const WORDS: [&str; 29] = [
        "not",
        "n't",
        "no",
        "never",
        "without",
        "excludes",
        "except",
        "only",
        "default",
        "before",
        "optional",
        "situational",
        "wrong",
        "rejected",
        "risk",
        "unverified",
        "left",
        "fixed",
        "caught",
        "found",
        "broke",
        "broken",
        "failed",
        "bug",
        "bugs",
        "issue",
        "issues",
        "removed",
        "missing",
    ];
    let lower = heading.to_lowercase();
    text::contains_any_words(&lower, &WORDS) || lower.contains("n't")
}

/// Words of headings above proposals.
const PROPOSALS: &[&str] = &[
    "recommendation",
    "recommendations",
    "suggestion",
    "suggestions",
    "suggested",
    "proposed",
    "proposals",
    "potential issues",
    "possible improvements",
    "improvements",
    "nice to have",
    "things to consider",
    "considerations",
    "options",
    "제안",
    "개선",
    "권장",
    "선택지",
    "提案",
    "改善",
    "推奨",
    "選択肢",
    "建议",
    "改进",
];

/// Returns whether a heading stands above proposals. Once the work has gone on, each was taken up or dropped.
pub(in crate::extract) fn is_proposals(heading: &str) -> bool {
    let lower = heading.to_lowercase();
    let is_open = text::contains_any_words(&lower, &["remaining", "left", "open", "남은", "残"]);
    !is_open && text::contains_any_words(&lower, PROPOSALS)
}
