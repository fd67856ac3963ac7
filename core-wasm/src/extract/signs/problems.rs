//! What is wrong, missing, failing or impossible, and what mends it.

use crate::text;

/// Words of a check, and words of something that failed.
const CHECKS: &[&str] = &["test", "lint", "typecheck", "build", "check", "테스트", "テスト", "测试"];
pub(super) const FAILURES: &[&str] =
    &["fail", "fails", "failed", "failing", "blocked", "rejected", "실패", "막혔", "失敗", "失败"];

/// Returns whether a text says that the agent mends all that a review found: "Good review. Let me address the issues found."
pub(in crate::extract) fn mends_findings(said: &str) -> bool {
    const MAX_SENTENCES: usize = 4;
    const VERBS: [&str; 6] = ["address", "fix", "resolve", "apply", "tackle", "work through"];
    const LEADS: [&str; 5] = ["let me", "i'll", "i will", "now", "now i'll"];
    const FINDINGS: [&str; 6] = ["issues", "findings", "feedback", "review comments", "points", "suggestions"];
    const OTHERS: [&str; 8] = ["not", "don't", "won't", "critical", "only", "first", "would you", "should i"];
    let says = |sentence: &String| {
        let lower = text::lower(sentence).replace('’', "'");
        let has = |words: &[&str]| text::contains_any_words(&lower, words);
        let begins = LEADS.iter().any(|lead| text::starts_with_words(&lower, lead));
        let in_english = begins && has(&VERBS) && has(&FINDINGS) && !has(&OTHERS) && !lower.contains('?');
        let in_others = text::contains_any(&lower, &["지적", "발견된 문제", "指摘", "レビュー結果"])
            && text::contains_any(&lower, &["수정하겠", "반영하겠", "고치겠", "修正します", "対応します", "直します"]);
        in_english || in_others
    };
    text::sentences(said).iter().take(MAX_SENTENCES).any(says)
}

/// The length up to which a text only says that something is over, in characters.
const MAX_REPORT_CHARS: usize = 240;

/// Returns whether a text in lower case says that something that ran beside the work is over: "The background server has finished".
pub(in crate::extract) fn reports_background(lower: &str) -> bool {
    // A long text says more than that.
    let first = text::first_sentence(lower).unwrap_or_else(|| lower.to_owned());
    lower.chars().count() <= MAX_REPORT_CHARS
        && text::contains_words(&first, "background")
        && text::contains_any_words(
            &first,
            &["finished", "completed", "exited", "stopped", "ended", "timed out", "was killed"],
        )
}

/// Returns whether a text in lower case says that something was there before the session, or has nothing to do with its work.
pub(in crate::extract) fn is_of_others(lower: &str) -> bool {
    const SIGNS: [&str; 15] = [
        "pre-existing",
        "preexisting",
        "not related to",
        "unrelated to",
        "not caused by",
        "on `main` too",
        "on main too",
        "on main as well",
        "기존 문제",
        "무관",
        "既存の",
        "無関係",
        "関係ありません",
        "与本次",
        "无关",
    ];
    text::contains_any(lower, &SIGNS)
}

/// Returns whether a text in lower case says that what fails is not the session's fault, but that of others, of the machine, or of chance.
pub(in crate::extract) fn excuses(lower: &str) -> bool {
    const SIGNS: [&str; 4] = ["environment issue", "environmental issue", "only in ci", "flaky"];
    (is_of_others(lower) || text::contains_any(lower, &SIGNS))
        && FAILURES.iter().chain(CHECKS).any(|word| lower.contains(word))
}

/// Returns whether a sentence announces that what was listed before it is mended now: "I'll fix both".
pub(in crate::extract) fn announces_mending(said: &str) -> bool {
    const LEADS: [&str; 6] = ["let me fix", "i'll fix", "i will fix", "fixing", "let me address", "i'll address"];
    const LISTED: [&str; 8] = ["both", "all", "these", "them", "two", "three", "each", "everything"];
    const WIDE_ENDS: [&str; 7] =
        ["修正します", "直します", "対応します", "수정하겠습니다", "고치겠습니다", "반영하겠습니다", "수정할게요"];
    let lower = said.trim().to_lowercase().replace('’', "'");
    let end = lower.trim_end_matches(['.', '。', ':', '：', '!']);
    WIDE_ENDS.iter().any(|words| end.ends_with(words))
        || (LEADS.iter().any(|lead| text::starts_with_words(end, lead)) && text::contains_any_words(end, &LISTED))
}

/// Returns whether a text in lower case says that checks fail.
pub(crate) fn is_failing(lower: &str) -> bool {
    let has = |words: &[&str]| text::contains_any_words(lower, words);
    has(&["test", "tests", "lint", "build", "typecheck", "ci", "테스트", "テスト", "测试"])
        && has(&["fail", "fails", "failing", "실패", "失敗", "失败"])
}

/// Words of a problem in the code or in its checks, as it is while somebody speaks of it.
const PROBLEMS: &[&str] = &[
    "fail",
    "fails",
    "failing",
    "missing",
    "lacks",
    "doesn't",
    "does not",
    "don't",
    "isn't",
    "is not",
    "aren't",
    "are not",
    "can't",
    "cannot",
    "broken",
    "wrong",
    "error",
    "errors",
    "0%",
    "no longer",
    "실패",
    "없습니다",
    "失敗",
    "ありません",
    "失败",
];

/// Returns whether a sentence in lower case says that the cause of a failure is still to be found: it is unknown, or the next
/// failure is to show it.
pub(in crate::extract) fn leaves_cause_open(lower: &str) -> bool {
    const UNKNOWN: [&str; 18] = [
        "cause is still unknown",
        "cause is unknown",
        "cause remains unknown",
        "cause is not known",
        "cause is unclear",
        "cause is still unclear",
        "couldn't determine the cause",
        "could not determine the cause",
        "원인은 아직",
        "원인을 찾지 못",
        "원인을 알 수 없",
        "원인은 불명",
        "原因は不明",
        "原因は未特定",
        "原因は特定できて",
        "原因はまだ",
        "原因尚未",
        "原因还不",
    ];
    const NEXT: [&str; 5] = ["next time", "다음에", "다음번", "次回", "下次"];
    const LOOKS: [&str; 9] =
        ["diagnos", "the cause", "root cause", "what went wrong", "원인", "진단", "原因", "診断", "诊断"];
    let has = |words: &[&str]| text::contains_any(lower, words);
    has(&UNKNOWN) || (has(&NEXT) && has(&LOOKS))
}

/// Returns whether a text in lower case says what is wrong. What was changed afterwards may have mended it.
pub(in crate::extract) fn is_problem(lower: &str) -> bool {
    text::contains_any_words(lower, PROBLEMS)
}

/// Returns whether a text in lower case says what is wrong in a file, so that it may not hold any more once the file was changed.
pub(crate) fn finds_fault(lower: &str) -> bool {
    const WORDS: [&str; 21] = [
        "bug",
        "problem",
        "issue",
        "incorrect",
        "ignored",
        "ignores",
        "silently",
        "skipped",
        "dropped",
        "overwriting",
        "overwrites",
        "shadows",
        "dead code",
        "never",
        "unused",
        "stale",
        "버그",
        "문제",
        "잘못",
        "バグ",
        "問題",
    ];
    const MENDED: [&str; 9] = ["now", "no longer", "fix", "fixed", "fixes", "이제", "수정", "修正", "现在"];
    let has = |words: &[&str]| text::contains_any_words(lower, words);
    !has(&MENDED) && (is_problem(lower) || has(&WORDS))
}

/// Returns whether a text in lower case says what something cannot do at all, whatever is built on it. A fault that was just found, or
/// how the code is today, is no limit.
pub(crate) fn tells_limit(lower: &str) -> bool {
    const LIMITS: [&str; 24] = [
        "doesn't support",
        "does not support",
        "don't support",
        "not supported",
        "unsupported",
        "doesn't respect",
        "don't respect",
        "only works",
        "unreliable",
        "eventually consistent",
        "limitation",
        "caveat",
        "gotcha",
        "by design",
        "지원하지",
        "지원되지",
        "불가능",
        "한계",
        "対応していない",
        "対応していません",
        "サポートされ",
        "不支持",
        "无法",
        "限制",
    ];
    // What does not work may be what was mended.
    const FAILS: [&str; 7] =
        ["doesn't work", "don't work", "does not work", "won't work", "cannot be", "can't be", "impossible"];
    const FAULTS: [&str; 8] = ["issue", "problem", "bug", "root cause", "failed", "needs to", "should", "the test"];
    const OWN: [&str; 6] = ["because we", "we're", "currently", "현재", "現在", "目前"];
    let lower = lower.replace('’', "'");
    let has = |words: &[&str]| text::contains_any_words(&lower, words);
    !has(&OWN) && (text::contains_any(&lower, &LIMITS) || (text::contains_any(&lower, &FAILS) && !has(&FAULTS)))
}

/// Returns whether a text in lower case says what must be kept to.
pub(crate) fn demands(lower: &str) -> bool {
    text::contains_any_words(lower, &["must", "never", "always", "항상", "절대", "필수", "必ず", "常に", "必须", "总是"])
}

/// Returns whether a text in lower case says that something is missing or too old.
pub(in crate::extract) fn lacks_something(lower: &str) -> bool {
    const SIGNS: [&str; 7] = ["is outdated", "are outdated", "is too old", "is not updated", "누락", "구버전", "不足して"];
    ["missing", "outdated"].iter().any(|word| text::starts_with_words(lower, word))
        || text::contains_any_words(lower, &SIGNS)
}

/// Returns whether a text, or a heading, names what was wrong: "Root cause: the till was open".
pub(in crate::extract) fn names_cause(said: &str) -> bool {
    const WORDS: [&str; 11] = [
        "root cause",
        "the cause",
        "the problem",
        "the issue",
        "problem:",
        "issue:",
        "원인",
        "문제",
        "原因",
        "問題",
        "问题",
    ];
    const HEADINGS: [&str; 3] = ["cause", "problem", "issue"];
    let lower = text::lower(said);
    text::contains_any(&lower, &WORDS) || HEADINGS.contains(&lower.trim())
}
