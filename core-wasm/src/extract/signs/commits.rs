//! What says no more than that something was committed or pushed, or was not.

use crate::text;

/// Words of a commit.
const COMMITS: &[&str] = &["commit", "committing", "커밋", "コミット", "提交"];

/// Returns whether a statement is about what is committed and what is not, and not about the work.
pub(in crate::extract) fn is_about_committing(lower: &str) -> bool {
    const SIGNS: [&str; 12] = [
        "pre-existing change",
        "unstaged",
        "untracked file",
        "remain untouched",
        "left untouched",
        "working tree",
        "to be committed",
        "should be committed",
        "commit created",
        "committed successfully",
        "unrelated to th",
        "are unrelated",
    ];
    text::contains_any(lower, &SIGNS)
}

/// Returns whether a sentence says no more than that a commit was made, or that the checks of its hook passed: the commit and the
/// verdicts of the checks are told as such.
pub(in crate::extract) fn only_reports_commit(said: &str) -> bool {
    let lower = text::lower(said);
    let has = |words: &[&str]| text::contains_any(&lower, words);
    let is_of_hook = has(&["hook", "훅", "フック", "钩子"]) && has(&["pass", "succeed", "통과", "通過", "成功", "通过"]);
    let is_problem = has(&["fail", "not ", "n't ", "block", "실패", "失敗", "失败"]);
    only_says_committed(said) || (is_of_hook && !is_problem && !said.contains('`') && said.chars().count() <= 160)
}

/// Returns whether a sentence says no more than that a commit was made.
fn only_says_committed(said: &str) -> bool {
    let lower = text::lower(said);
    // A hash stands where the commit is told.
    let rest = lower.split_whitespace().filter(|word| !is_hash(word)).collect::<Vec<_>>().join(" ");
    let is_named = rest.contains('`') || rest.bytes().any(|byte| byte.is_ascii_digit());
    rest.chars().count() <= 40 && !is_named && text::contains_any(&lower, COMMITS)
}

/// Returns whether a word is the hash of a commit, between whatever marks.
fn is_hash(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    (7..=40).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns whether a text has no words but hashes of commits: "`1a2b3c4` —".
pub(in crate::extract) fn has_only_hashes(said: &str) -> bool {
    let mut words = said.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).peekable();
    words.peek().is_some() && words.all(is_hash)
}

/// Returns whether a text in lower case says that nothing was pushed.
pub(in crate::extract) fn is_about_pushing(lower: &str) -> bool {
    const SIGNS: [&str; 11] = [
        "ready to push when",
        "branch is ready to push",
        "ahead of origin",
        "not pushed",
        "not been pushed",
        "n't pushed",
        "no pr opened",
        "push하지",
        "푸시하지",
        "プッシュして",
        "未推送",
    ];
    text::contains_any(lower, &SIGNS)
}
