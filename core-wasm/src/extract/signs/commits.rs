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

/// A step on the way of a change into the main branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::extract) enum Step {
    Commit,
    Push,
    Merge,
}

/// Returns the steps that a text in lower case says were not made yet: "nothing pushed yet".
pub(in crate::extract) fn steps_to_make(lower: &str) -> impl Iterator<Item = Step> {
    const PUSH: [&str; 29] = [
        "ready to push when",
        "branch is ready to push",
        "ahead of origin",
        "no pr opened",
        "unpushed",
        "push하지",
        "push는 하지",
        "푸시하지",
        "푸시는 하지",
        "푸시되지 않았",
        "푸시되지 않은 상태",
        "미푸시",
        "pushしていません",
        "push していません",
        "pushはしていません",
        "プッシュしていません",
        "プッシュはしていません",
        "プッシュされていません",
        "未プッシュ",
        "未推送",
        "没有推送",
        "尚未推送",
        "还没推送",
        "push etmedim",
        "push edilmedi",
        "pas encore poussé",
        "n'ai pas poussé",
        "noch nicht gepusht",
        "não fiz push",
    ];
    const COMMIT: [&str; 18] = [
        "커밋하지 않았",
        "커밋하지 않은 상태",
        "커밋은 하지 않",
        "아직 커밋",
        "コミットしていません",
        "コミットはしていません",
        "まだコミット",
        "尚未提交",
        "还没提交",
        "没有提交",
        "未提交",
        "commit etmedim",
        "commit edilmedi",
        "pas encore commit",
        "n'ai pas commit",
        "n'ai rien commit",
        "noch nicht committ",
        "não fiz commit",
    ];
    const MERGE: [&str; 11] = [
        "unmerged",
        "머지하지 않",
        "아직 머지",
        "병합하지 않",
        "マージしていません",
        "マージはしていません",
        "まだマージ",
        "未マージ",
        "尚未合并",
        "还没合并",
        "merge etmedim",
    ];
    let of = |step: Step, wide: &[&str], verb: &str, done: &str| {
        (text::contains_any(lower, wide) || denies(lower, verb, done)).then_some(step)
    };
    let steps = [
        of(Step::Commit, &COMMIT, "commit", "committed"),
        // Messages are pushed, too.
        of(Step::Push, &PUSH, "push", "pushed").filter(|_| !text::contains_any(lower, &["notification", "알림", "通知"])),
        // Lists and settings are merged, too.
        of(Step::Merge, &MERGE, "merge", "merged").filter(|_| !lower.contains("into") || lower.contains("yet")),
    ];
    steps.into_iter().flatten()
}

/// Returns whether a text in lower case says that a commit is to be made next, or that none can be made.
pub(in crate::extract) fn awaits_commit(lower: &str) -> bool {
    const SIGNS: [&str; 24] = [
        "ready to commit",
        "ready to be committed",
        "ready for commit",
        "can't commit",
        "cannot commit",
        "can't be committed",
        "cannot be committed",
        "unable to commit",
        "커밋 준비",
        "커밋할 준비",
        "커밋해야",
        "커밋이 필요",
        "커밋이 안 ",
        "커밋할 수 없",
        "커밋이 불가",
        "미커밋 상태",
        "コミットできません",
        "コミットできない",
        "コミットする準備",
        "コミットの準備",
        "コミットが必要",
        "无法提交",
        "可以提交了",
        "等待提交",
    ];
    text::contains_any(&lower.replace('’', "'"), &SIGNS)
}

/// Returns whether a text in lower case says that nothing was pushed.
pub(in crate::extract) fn is_about_pushing(lower: &str) -> bool {
    steps_to_make(lower).any(|step| step == Step::Push)
}

/// Returns whether a text in lower case says of what a verb names that it was not done: "nothing is pushed", "I didn't push". What must never
/// be done is a rule.
fn denies(lower: &str, verb: &str, done: &str) -> bool {
    /// How many words may stand between.
    const MAX_BETWEEN: usize = 3;
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’').collect();
    let is_not = |word: &&str| matches!(*word, "not" | "nothing") || word.ends_with("n't") || word.ends_with("n’t");
    let is_past = |word: &&str| matches!(*word, "did" | "didn't" | "didn’t");
    // "Nothing is committed or pushed".
    let is_counted = |word: &&&str| !matches!(**word, "or" | "nor" | "and" | "committed" | "pushed" | "merged");
    words.iter().enumerate().any(|(at, word)| {
        // "Not all that was committed by Ann" was.
        if words.get(at + 1) == Some(&"by") {
            return false;
        }
        let before: Vec<&str> = words[..at].iter().rev().filter(is_counted).take(MAX_BETWEEN).copied().collect();
        (*word == done && before.iter().any(is_not))
            || (*word == verb && before.iter().any(is_past) && before.iter().any(is_not))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_that_is_awaited() {
        for said in [
            "the drawer is done and ready to commit.",
            "서랍 구현 완료. 커밋 준비가 됐습니다.",
            "権限がなくコミットできません",
        ] {
            assert!(awaits_commit(said), "{said}");
        }
        assert!(!awaits_commit("the till commits each sale") && !awaits_commit("커밋 메시지에 번호를 적습니다"));
    }

    #[test]
    fn what_is_not_made_yet() {
        let steps = |said: &str| steps_to_make(said).collect::<Vec<_>>();
        for said in [
            "all is green, nothing pushed yet.",
            "the branch hasn't been pushed",
            "i did not push it",
            "henüz push etmedim.",
        ] {
            assert_eq!(steps(said), [Step::Push], "{said}");
        }
        assert_eq!(steps("nothing is committed or pushed yet"), [Step::Commit, Step::Push]);
        assert_eq!(steps("아직 커밋하지 않았습니다."), [Step::Commit]);
        for said in ["まだプッシュしていません。", "아직 푸시되지 않았습니다."] {
            assert_eq!(steps(said), [Step::Push], "{said}");
        }
        assert_eq!(steps("pr #7 is not merged yet"), [Step::Merge]);
        for said in [
            "never push to main",
            "do not push the drawer",
            "the slips are not merged into the list",
            "pushed to `till`",
            "not everything committed by the vendor compiles.",
            "마감 전표는 서버로 아직 푸시되지 않아 밤에 사라집니다.",
            "아직 푸시 알림이 없습니다.",
            "引き出しはまだプッシュ通知に対応していません。",
        ] {
            assert!(steps(said).is_empty(), "{said}");
        }
    }
}
