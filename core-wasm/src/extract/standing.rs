//! Signs of whether a statement stands at the end of a session: promises, faults that were mended, how it was before the work, options,
//! and what stands out as an answer or a surprise.

use crate::text;

/// Returns whether a request asks what speaks for something and what against it.
pub(super) fn asks_for_comparison(asked: &str) -> bool {
    const WORDS: [&str; 18] = [
        "pros",
        "cons",
        "benefit",
        "benefits",
        "advantage",
        "advantages",
        "strength",
        "strengths",
        "compare",
        "vs",
        "versus",
        "tradeoffs",
        "trade-offs",
        "장점",
        "장단점",
        "비교",
        "メリット",
        "比較",
    ];
    let lower = asked.to_lowercase();
    text::contains_any_words(&lower, &WORDS)
}

/// Returns whether a text in lower case says of something that it is mended or otherwise now.
pub(super) fn says_mended(lower: &str) -> bool {
    const WORDS: [&str; 27] = [
        "fix",
        "fixes",
        "fixed",
        "now",
        "no longer",
        "resolved",
        "resolves",
        "instead of",
        "replaced",
        "replaces",
        "corrected",
        "is gone",
        "are gone",
        "switched to",
        "passes",
        "고쳤",
        "수정",
        "해결",
        "이제",
        "修正",
        "直し",
        "解決",
        "なりました",
        "修复",
        "解决",
        "现在",
        "改为",
    ];
    text::contains_any_words(lower, &WORDS)
}

/// Returns whether a text in lower case says that something is not there. "Made if missing" does not.
pub(crate) fn says_missing(lower: &str) -> bool {
    const WORDS: [&str; 26] = [
        "missing",
        "lacks",
        "lack",
        "doesn't have",
        "does not have",
        "don't have",
        "has no",
        "have no",
        "doesn't include",
        "does not include",
        "don't include",
        "doesn't exist",
        "does not exist",
        "don't exist",
        "isn't set",
        "is not set",
        "never set",
        "isn't passed",
        "is not passed",
        "there is no",
        "there's no",
        "없습니다",
        "없음",
        "누락",
        "ありません",
        "不足",
    ];
    let lower = lower.replace('’', "'");
    let is_condition = text::contains_any_words(&lower, &["if", "when", "unless"]);
    !is_condition && text::contains_any_words(&lower, &WORDS)
}

/// Returns whether a text in lower case is one of several ways that are offered: "Option 1 — fix it in the library".
pub(super) fn is_numbered_option(lower: &str) -> bool {
    ["option ", "alternative ", "approach ", "방법 ", "옵션 ", "案", "方案"].iter().any(|word| {
        let rest = lower.strip_prefix(word).unwrap_or_default();
        let mut chars = rest.chars();
        let is_number = chars.next().is_some_and(|c| c.is_ascii_digit() || ('a'..='e').contains(&c));
        is_number && chars.next().is_none_or(|c| !c.is_alphanumeric())
    })
}

/// Returns whether a text in lower case opens with words that announce the answer in one sentence.
pub(super) fn is_short_answer(lower: &str) -> bool {
    const OPENINGS: [&str; 23] = [
        "final verdict",
        "overall verdict",
        "overall assessment",
        "conclusion",
        "총평",
        "판정",
        "判定",
        "вердикт",
        "short answer",
        "in short",
        "bottom line",
        "tl;dr",
        "the short version",
        "short version",
        "the answer",
        "verdict",
        "결론",
        "요약하면",
        "결국",
        "結論",
        "要するに",
        "结论",
        "总之",
    ];
    OPENINGS.iter().any(|opening| lower.starts_with(opening))
}

/// Returns whether a sentence in lower case opens with what was done about the problem before it.
pub(super) fn tells_cure(lower: &str) -> bool {
    const OPENINGS: [&str; 24] = [
        "i fixed",
        "fixed by",
        "fixed it",
        "so i ",
        "so the fix",
        "the fix",
        "i changed",
        "i replaced",
        "i switched",
        "i added",
        "i passed",
        "i set",
        "i now",
        "it now",
        "use ",
        "run ",
        "그래서",
        "해결",
        "수정",
        "そこで",
        "修正",
        "対策",
        "所以我",
        "修复",
    ];
    OPENINGS.iter().any(|opening| lower.starts_with(opening))
}

/// Returns whether a text in lower case opens with what somebody did: "Switched all three returns".
pub(crate) fn is_deed(lower: &str) -> bool {
    let first = lower.strip_prefix("i ").unwrap_or(lower).split_whitespace().next().unwrap_or_default();
    let is_past = first.len() > 4 && first.ends_with("ed") && !matches!(first, "need" | "indeed" | "exceed" | "unused");
    is_past || matches!(first, "made" | "set" | "wrote" | "built" | "kept" | "split" | "took" | "put")
}

/// Returns whether a text in lower case opens with a deed that may have changed something: not "Confirmed that it rings".
pub(super) fn is_own_deed(lower: &str) -> bool {
    const LOOKS: [&str; 7] = ["confirmed", "verified", "checked", "reviewed", "investigated", "traced", "compared"];
    is_deed(lower) && !LOOKS.iter().any(|word| text::starts_with_words(lower, word))
}

/// Returns whether a Korean or Japanese text ends a sentence with a deed that may have changed something: "更新しました".
pub(super) fn tells_polite_deed(said: &str) -> bool {
    const DEEDS: [&str; 5] = ["しました", "했습니다", "하였습니다", "되었습니다", "됐습니다"];
    const LOOKS: [&str; 8] = [
        "確認しました",
        "調査しました",
        "分析しました",
        "확인했습니다",
        "분석했습니다",
        "조사했습니다",
        "확인되었습니다",
        "확인됐습니다",
    ];
    text::sentences(said).iter().any(|it| text::contains_any(it, &DEEDS) && !text::contains_any(it, &LOOKS))
}

/// Returns whether a text in lower case, or what stands behind a label in it, says what was done: "`cart.ts`: added a total".
pub(crate) fn tells_work(lower: &str) -> bool {
    [" - ", " — ", " – ", ": "].iter().any(|mark| lower.split(mark).any(is_deed))
}

/// Returns whether an answer says that all tasks are done. What holds for a part of them says so: "all tasks of phase 1".
pub(super) fn says_all_done(answer: &str) -> bool {
    const ALL: [&str; 12] = [
        "all work is complete",
        "all work is done",
        "all tasks are complete",
        "all tasks are done",
        "all tasks complete",
        "all tasks completed",
        "everything is done",
        "모든 작업이 완료",
        "모든 작업을 완료",
        "すべてのタスクが完了",
        "全タスクが完了",
        "所有任务已完成",
    ];
    text::sentences(answer).iter().any(|sentence| {
        let lower = text::lower(sentence);
        // "All 24 tasks are done".
        let counted: String =
            lower.split_whitespace().filter(|word| !word.bytes().all(|b| b.is_ascii_digit())).collect::<Vec<_>>().join(" ");
        let is_part =
            text::contains_any(&lower, &[" of ", " in ", " except", " but ", " for ", " once ", " when ", " until "]);
        !is_part && text::contains_any(&counted, &ALL)
    })
}

/// Returns whether an answer says, without naming them, that all checks pass.
pub(super) fn says_clean(answer: &str) -> bool {
    const ALL: [&str; 7] =
        ["all clean", "all green", "everything passes", "everything is green", "all checks pass", "모두 통과", "すべて通過"];
    text::sentences(answer).iter().any(|sentence| {
        let lower = text::lower(sentence);
        ALL.iter().any(|words| lower.trim_end_matches(['.', '!', ':', '。']) == *words)
    })
}

/// Returns whether a text in lower case promises or imagines what may be done later, or asks the user for it. Once the work has gone on it was done or
/// dropped.
pub(super) fn is_promise(lower: &str) -> bool {
    const SIGNS: [&str; 14] = [
        "i'll",
        "i will",
        "i'd need",
        "i would need",
        "we'd need",
        "we would need",
        "you'd need",
        "we'll",
        "let me",
        "i can also",
        "i could also",
        "하겠습니다",
        "します。これから",
        "我会",
    ];
    // What the user is asked to do, or may do next.
    const REQUESTS: [&str; 16] = [
        "please ",
        "merge when",
        "run it yourself",
        "tell me ",
        "say the word",
        "ready for ",
        "ready to ",
        "you're ready to ",
        "you can now ",
        "now you can ",
        "next up",
        "next time you",
        "알려주",
        "教えて",
        "请告诉",
        "次回は",
    ];
    let lower = lower.replace('’', "'");
    text::contains_any_words(&lower, &SIGNS)
        || REQUESTS.iter().any(|opening| lower.starts_with(opening))
        || asks_for_word(&lower)
}

/// Returns whether a sentence in lower case asks the user to say something, or offers something that the user is to ask for: in Korean,
/// Japanese and Chinese such a word stands at its end.
fn asks_for_word(lower: &str) -> bool {
    const ENDS: [&str; 22] = [
        "알려주세요",
        "알려 주세요",
        "알려주십시오",
        "알려주시면 됩니다",
        "말씀해주세요",
        "말씀해 주세요",
        "말씀해주시면 됩니다",
        "말씀하세요",
        "お知らせください",
        "お聞かせください",
        "聞かせてください",
        "教えてください",
        "教えて下さい",
        "ご指示ください",
        "必要であれば対応します",
        "必要なら対応します",
        "告诉我",
        "告诉我即可",
        "告诉我就行",
        "告诉我一声",
        "跟我说",
        "说一声",
    ];
    const OPENINGS: [&str; 4] = ["要的话我", "需要的话我", "请告诉", "请告知"];
    let said = lower.trim_end_matches(|c: char| !c.is_alphanumeric());
    ENDS.iter().any(|end| said.ends_with(end)) || OPENINGS.iter().any(|opening| said.starts_with(opening))
}

/// Returns whether a text in lower case opens with words that announce a surprise.
pub(super) fn announces_lesson(lower: &str) -> bool {
    const OPENINGS: [&str; 26] = [
        "correction",
        "worth flagging",
        "worth knowing",
        "worth noting",
        "one thing to flag",
        "one thing worth",
        "one thing i got wrong",
        "one caveat",
        "gotcha",
        "heads up",
        "heads-up",
        "it turns out",
        "turns out",
        "lesson",
        "i was wrong",
        "my earlier",
        "what happened",
        "note that",
        "important:",
        "주의",
        "참고로",
        "알고 보니",
        "注意",
        "なお、",
        "原来",
        "需要注意",
    ];
    OPENINGS.iter().any(|opening| lower.starts_with(opening))
}

/// Returns whether a text in lower case says how something is now, or that it does not exist: a later change may have ended that.
pub(super) fn is_current_state(lower: &str) -> bool {
    const WORDS: [&str; 16] = [
        "currently",
        "at the moment",
        "right now",
        "as it stands",
        "today",
        "does not exist",
        "doesn't exist",
        "there is no",
        "there's no",
        "nothing sets",
        "nothing ever",
        "현재",
        "지금은",
        "現在",
        "今は",
        "目前",
    ];
    let is_absent =
        || lower.starts_with("no ") && (text::contains_words(lower, "exists") || text::contains_words(lower, "exist"));
    text::contains_any_words(lower, &WORDS) || is_absent()
}

/// Returns whether a text in lower case begins like a finding of a review, with how grave it is: "Low: the usage is wrong".
pub(super) fn is_graded_finding(lower: &str) -> bool {
    const GRADES: [&str; 12] =
        ["low", "medium", "high", "critical", "minor", "major", "nit", "nitpick", "blocker", "p1", "p2", "p3"];
    let bare = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    let is_behind = |rest: &str| {
        rest.trim_start().starts_with([':', ']', '—']) || text::starts_with_words(rest.trim_start(), "severity")
    };
    GRADES.iter().any(|grade| bare.strip_prefix(grade).is_some_and(is_behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_promised_or_asked_of_the_user() {
        for said in
            ["once it lands i'll patch the till", "please unlock the till", "i'd need to add a column", "ready for step 5"]
        {
            assert!(is_promise(said), "{said}");
        }
        assert!(!is_promise("the till is patched") && !is_promise("the till is ready for the day"));
        for said in ["서랍을 파란색으로 할지 알려주세요.", "変更点があればお知らせください。", "两份要同步——告诉我即可。"]
        {
            assert!(is_promise(said), "{said}");
        }
        assert!(!is_promise("서랍을 열어 값을 알려주는 함수입니다.") && !is_promise("レジの使い方を教えるページです。"));
    }

    #[test]
    fn how_it_is_before_the_work() {
        assert!(is_current_state("the till currently rounds up") && is_current_state("no such agent exists yet"));
        assert!(!is_current_state("the till rounds up"));
    }

    #[test]
    fn what_is_missing() {
        assert!(says_missing("the till has no slip") && says_missing("`slip`이 없습니다"));
        assert!(!says_missing("the slip is printed if it is missing"));
    }

    #[test]
    fn findings_options_and_deeds() {
        assert!(is_graded_finding("- **low:** the usage is wrong") && !is_graded_finding("lower the total"));
        assert!(is_graded_finding("medium severity the total is off") && !is_graded_finding("medium slips are printed"));
        assert!(is_numbered_option("option 2 — round in the till") && !is_numbered_option("options of the till"));
        assert!(is_deed("switched all three returns") && !is_deed("need a switch"));
    }

    #[test]
    fn all_is_done_if_nothing_is_left_out() {
        assert!(
            says_all_done("The tax is round. All 6 tasks are complete.") && says_all_done("모든 작업이 완료되었습니다.")
        );
        assert!(!says_all_done("All tasks of the till are complete.") && !says_all_done("All tasks are open."));
    }

    #[test]
    fn all_checks_pass_if_nothing_else_is_said() {
        assert!(says_clean("All clean. Commit and push:") && !says_clean("All clean tills are counted."));
    }

    #[test]
    fn answers_and_surprises() {
        assert!(is_short_answer("short answer: no") && announces_lesson("it turns out that the cache is shared"));
        assert!(tells_cure("i fixed each by passing the version"));
    }
}
