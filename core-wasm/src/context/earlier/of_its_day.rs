//! Decisions that were only about the work of their day: consents, how work was handed on, and replies that say nothing without the talk
//! around them. The work is over, so the next session has no use for them.

use crate::bindings::throughline::policy::types::Memory;
use crate::context::line;
use crate::context::page::is_saved;
use crate::extract::labels;
use crate::extract::prose;
use crate::text;

/// Words for handing work on.
const HANDING_ON: [&str; 21] = [
    "push",
    "commit",
    "commits",
    "pr",
    "prs",
    "pull request",
    "branch",
    "rebase",
    "worktree",
    "outward-facing",
    "커밋",
    "푸시",
    "머지",
    "브랜치",
    "プルリクエスト",
    "コミット",
    "プッシュ",
    "マージ",
    "ブランチ",
    "分支",
    "推送",
];
/// How a question begins that asks for the agent's next step.
const ASKS_HOW: [&str; 6] =
    ["how should i ", "how do you want me ", "how would you like me ", "what should i ", "where should i ", "which branch "];
/// How a choice begins that hands work on or waits, in lower case.
const STEPS: [&str; 8] =
    ["rebase", "amend", "squash", "cherry-pick", "force-push", "wait for", "add a new commit", "add a follow-up commit"];
/// Options that put a finding off or dismiss it, in lower case. Where they are offered, findings are sorted, and what was chosen says nothing
/// without the finding.
const PUTS_AWAY: [&str; 11] =
    ["defer", "dismiss", "skip", "ignore", "won't fix", "wontfix", "보류", "무시", "見送り", "見送る", "忽略"];
/// Words of an option that gives up what is going on, in lower case.
const GIVES_UP: [&str; 12] =
    ["abort", "cancel", "pause", "discard", "start over", "中止", "中断", "破棄", "중단", "취소", "取消", "放弃"];
/// Words of questions in Korean, Japanese and Chinese that ask how or whether to do something.
const ASKS_HOW_ELSEWHERE: [&str; 12] =
    ["どう", "どの", "どこ", "しますか", "어떻게", "어떤", "방향", "할까요", "怎么", "如何", "哪", "是否"];
/// Words of questions in these languages that ask for a lasting rule.
const LASTING: [&str; 8] = ["전략", "규칙", "이름", "戦略", "規約", "命名", "策略", "规范"];
/// How a remark begins that goes on with the talk before it, in lower case.
const GOES_ON: [&str; 9] = ["but ", "aka ", "and ", "no, ", "why not ", "could we ", "can we ", "근데 ", "でも"];
/// How a question begins that asks for what happened, which decides nothing.
const ASKS_WHAT_HAPPENED: [&str; 6] = ["where did ", "when did ", "what happened", "did you ", "have you ", "did the "];
/// Words of a rule.
const RULE: [&str; 8] = ["always", "never", "every", "each time", "from now on", "항상", "常に", "总是"];
/// Words of an answer that wants something else than what was offered, in lower case.
const OTHERWISE: [&str; 4] = ["instead", "대신", "代わりに", "而不是"];

/// Returns whether a decision was only about the work of its day. What was saved on purpose holds.
pub(super) fn is_of_its_day(memory: &Memory) -> bool {
    if is_saved(memory) {
        return false;
    }
    let (what, _, rejected) = line::parse_decision(&memory.content);
    let answer = what.split_once(" → ").map_or(what, |(_, answer)| answer);
    if text::contains_any_words(&answer.to_lowercase(), &RULE) {
        return false;
    }
    if goes_on_with_work(what, rejected) {
        return true;
    }
    if let Some((question, answer)) = what.split_once(" → ") {
        return is_consent(question, answer, !rejected.is_empty()) || hands_on(question, answer);
    }
    let (said, about) = split_subject(what);
    let lower = said.to_lowercase();
    is_step(&lower)
        || (about.is_empty() && sorts_finding(&lower, rejected))
        || (about.is_empty() && rejected.is_empty() && GOES_ON.iter().any(|opening| lower.starts_with(opening)))
        || (rejected.is_empty() && agents_words(about).is_some_and(|asked| is_consent(asked, "yes", false)))
}

/// Returns whether an answer only lets the agent go on. Whoever chooses one of several ways decides something, unless the question was
/// whether to go on.
fn is_consent(question: &str, answer: &str, is_choice: bool) -> bool {
    let lower = answer.to_lowercase();
    let says_yes_or_no = || prose::says_yes_or_no(answer) || text::starts_with_words(&lower, "skip");
    let last = last_clause(question);
    // "Yes, but put it there instead" is not what was offered.
    let wants_other = text::contains_any_words(&lower, &OTHERWISE) && says_yes_or_no();
    let chooses = wants_other || (is_choice && last.starts_with("should i ") && !says_yes_or_no());
    let goes_on = || prose::asks_to_go_on(&last) || matches!(last.as_str(), "proceed" | "continue" | "go on");
    !chooses && (prose::is_of_its_day(&last, answer) || (goes_on() && (is_choice || says_yes_or_no())))
}

/// Returns whether a question asks how the agent is to hand its work on, or only for what happened.
fn hands_on(question: &str, answer: &str) -> bool {
    let last = last_clause(question);
    let asks_elsewhere = text::contains_any(question, &ASKS_HOW_ELSEWHERE) && !text::contains_any(question, &LASTING);
    let asks_how = asks_elsewhere || ASKS_HOW.iter().any(|opening| last.starts_with(opening));
    let answer = answer.to_lowercase();
    // "Push notifications" may be the answer to another question.
    let sends = || ["push", "publish"].iter().any(|verb| text::starts_with_words(&answer, verb));
    let asks_back = ASKS_WHAT_HAPPENED.iter().any(|opening| last.starts_with(opening));
    // A question in these languages may end with a remark in parentheses, which would be its last clause.
    let asked = if asks_elsewhere { question.to_lowercase() } else { last };
    let names_work = || text::contains_any_words(&asked, &HANDING_ON);
    asks_back || (asks_how && (names_work() || is_step(&answer) || sends()))
}

/// Returns whether a choice in lower case dismisses a finding, or keeps one that could have been dismissed. It does not say which finding.
fn sorts_finding(lower: &str, rejected: &str) -> bool {
    let rejected = rejected.to_lowercase();
    let puts_away = |option: &str| {
        // The key that picks it may follow in parentheses.
        let name = option.split(" (").next().unwrap_or(option).trim();
        PUTS_AWAY.contains(&name)
    };
    PUTS_AWAY.iter().any(|words| text::starts_with_words(lower, words)) || rejected.split("; ").any(puts_away)
}

/// Returns whether a choice was whether to go on with handing work on or to give it up.
fn goes_on_with_work(what: &str, rejected: &str) -> bool {
    let gives_up = |option: &str| {
        GIVES_UP
            .iter()
            .any(|word| if word.is_ascii() { text::starts_with_words(option, word) } else { option.contains(word) })
    };
    rejected.to_lowercase().split("; ").any(gives_up) && text::contains_any_words(&what.to_lowercase(), &HANDING_ON)
}

/// Returns whether a choice in lower case is a step of handing work on, or waits. It may have a number: "option 2: wait".
fn is_step(lower: &str) -> bool {
    let named = lower.split_once(": ").filter(|(name, _)| name.starts_with("option ")).map_or(lower, |(_, named)| named);
    STEPS.iter().any(|step| text::starts_with_words(named, step))
}

/// Returns the last sentence of a question in lower case, without its mark.
fn last_clause(question: &str) -> String {
    let lower = question.to_lowercase();
    let asked = lower.trim_end_matches(['?', '？', ' ']);
    // "PR #65. How" and "3: how"
    let starts = [". ", "? ", "! ", ": ", "。", "？"].iter().filter_map(|end| asked.rfind(end).map(|at| at + end.len()));
    // The dot of "till.rs" ends no sentence.
    asked[starts.max().unwrap_or_default()..].trim_start().replace('.', " ")
}

/// Splits a remark from what it is about, in parentheses at its end.
fn split_subject(what: &str) -> (&str, &str) {
    let split = |language| what.split_once(&format!(" ({}: ", labels::labels(language).about));
    line::LANGUAGES.into_iter().find_map(split).unwrap_or((what, ""))
}

/// Returns what the agent said, if a remark is about that.
fn agents_words(about: &str) -> Option<&str> {
    about.strip_prefix("agent: ").map(|said| said.trim_end_matches([')', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::earlier::tests::failure;

    fn is_over(content: &str) -> bool {
        is_of_its_day(&failure("1", content))
    }

    #[test]
    fn a_question_about_the_next_step_is_of_its_day() {
        for said in [
            "The drawer is open. Want me to close it? → yes",
            "서랍이 열렸어요. 지금 정리할까요? → 네",
            "This empties 9 drawers. Proceed? → Yes, empty. Why: Empty all nine. Rejected: No, wait",
            "Do you want me to plan the till, or was the count enough? → Plan the till. Why: Plan how it opens in the morning",
            "The slip is used up. What do you want to do? → Print two instead. Why: Leave the first. Rejected: Wait",
            "Should I note the spare key in the list? → No, skip. Why: It is plain to see. Rejected: Yes, note it",
        ] {
            assert!(is_over(said), "{said}");
        }
        for said in [
            "Which till should the shop use? → the old one",
            "keep the drawer, shall i say",
            "There is no list. What should I fill in? → the one on the door",
            "Want me to start? → yes, but keep in mind that the till needs its key first",
            "How long should the tokens of the shop live? → Short (15 minutes)",
            "Should I count in the till or in the cart? → In the till. Why: It is nearer. Rejected: In the cart",
            "Should I close the drawer? → yes, always",
            "Want me to sweep the slips off the till? → yes, put them into a box instead",
        ] {
            assert!(!is_over(said), "{said}");
        }
    }

    #[test]
    fn a_finding_that_was_sorted_says_nothing_without_it() {
        for said in [
            "Keep as it is — the drawer opens. Rejected: Close it; Defer (\"1\")",
            "Dismiss — nobody rings at night. Rejected: Ring twice",
        ] {
            assert!(is_over(said), "{said}");
        }
        for said in
            ["Keep the red till. Rejected: Skip the slips; Close it", "How is the drawer sorted? → Defer", "Deferred slips"]
        {
            assert!(!is_over(said), "{said}");
        }
    }

    #[test]
    fn whether_to_go_on_with_a_branch_was_of_its_day() {
        assert!(is_over("Mend the drawer by hand and open the PR. Rejected: Look again; Abort"));
        assert!(is_over("レジの枝は？ このまま続行: コミットして送る. Rejected: 一旦すべて中断"));
        assert!(is_over("どのブランチを削除しますか？（複数選択可） → 古いレジ"));
        assert!(is_over("PR #7 처리 방향은? → 보류"));
        assert!(!is_over("서랍은 어떻게 열까요? → 열쇠로"));
        assert!(!is_over("ブランチの命名規約はどうしますか？ → `till/`"));
        assert!(!is_over("Which till is red? → The old one. Rejected: Abort the count"));
    }

    #[test]
    fn how_work_was_handed_on_is_of_its_day() {
        for said in [
            "How should I deliver the slips to PR #7? → Push two commits, Answer the reviewer",
            "The slip is folded here. How should I proceed with the rest? → Push + answer all",
            "Where did the bell first ring twice? → In the shop. Why: You heard it. Rejected: In a test",
            "Rebase `till` on `drawer` (About: now the drawer). Rejected: Leave it",
            "Option 3: Wait for the printer (About: it is slow). Why: It ends soon",
        ] {
            assert!(is_over(said), "{said}");
        }
        for said in [
            "How should I count the slips? → By hand",
            "Slip 2: how should I handle the old count? → Drop it",
            "Push notifications (About: how does the till tell it?)",
            "Option 2: Two tills (About: one is slow)",
            "Wait 30 seconds before the drawer is locked",
            "셔터는 어떻게 할까요? Proceed? → 네트워크로 나누기",
        ] {
            assert!(!is_over(said), "{said}");
        }
    }

    #[test]
    fn a_reply_says_nothing_without_the_talk_around_it() {
        assert!(!is_over("No bells in the night till") && is_over("no, the other drawer"));
        assert!(is_over("But the bell should still ring") && is_over("why not keep the drawer open?"));
        assert!(is_over("open it on the side (About: agent: Want me to open the drawer or only list it?)"));
        assert!(is_over("see both (About: agent: It is red. Want me to rename `till.rs` to `drawer.rs` for the shop?)"));
        assert!(!is_over("Buttons are red") && !is_over("let's stay with the till (About: why do we use it?)"));
        assert!(!is_over("and (About: agent: The drawer is red, and the bell?)"));
    }
}
