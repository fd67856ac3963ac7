//! Proposals, choices and decisions of the agent.

use crate::text;

/// Returns whether a proposal is only the next step of any work: a commit, a push, a run of the tests.
pub(in crate::extract) fn is_procedure(proposal: &str) -> bool {
    let lower = proposal.to_lowercase();
    let steps = [
        "commit",
        "push",
        "merge",
        "deploy",
        "pull request",
        "open a pr",
        "run the tests",
        "continue",
        "proceed",
        "go ahead",
        "커밋",
        "푸시",
        "배포",
        "진행",
        "계속",
        "コミット",
        "プッシュ",
        "マージ",
        "続け",
        "提交",
        "推送",
        "继续",
    ];
    steps.iter().any(|step| text::contains(&lower, step))
}

/// Returns whether a sentence says in so many words that something was decided.
pub(in crate::extract) fn declares_decision(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let signs = [
        "decided on",
        "decided to",
        "decision:",
        "we chose",
        "settled on",
        "we agreed",
        "agreed to use",
        "결정했",
        "결정:",
        "기로 했",
        "기로 결정",
        "채택",
        "に決定",
        "に決め",
        "採用し",
        "决定",
    ];
    signs.iter().any(|sign| text::contains(&lower, sign))
}

/// Returns whether a proposal names what it is preferred to, or that it is one of several ways.
pub(in crate::extract) fn offers_choice(proposal: &str) -> bool {
    let lower = proposal.to_lowercase();
    let signs = [
        "instead of",
        "rather than",
        "recommend",
        "option ",
        "approach",
        "over ",
        " vs",
        "대신",
        "방법",
        "방식",
        "추천",
        "보다",
        "案",
        "方式",
        "方針",
        "代わり",
        "より",
        "推奨",
        "方案",
        "而不是",
        "建议",
    ];
    signs.iter().any(|sign| text::contains(&lower, sign))
}

/// Returns whether the sentence is a guess, a proposal or a forecast. None of them is knowledge.
pub(in crate::extract) fn is_speculation(lower: &str) -> bool {
    [
        "may need",
        "must be caused",
        "my guess",
        "hypothesis",
        "i'd ",
        "maybe",
        "perhaps",
        "might be",
        "could be",
        "not sure",
        "i think",
        "probably",
        "possibly",
        "seems like",
        "likely",
        "wonder",
        "could",
        "would",
        "should resolve",
        "should fix",
        "should work",
        "should now",
        "should be fine",
        "should be able",
        "whenever you",
        "uncommitted",
        "can also",
        "recommend",
        "suggest",
        "consider",
        "alternatively",
        "수 있습니다",
        "수도 있",
        "가능합니다",
        "추천",
        "できます",
        "可以",
        "建议",
        "아마",
        "かもしれ",
        "可能是",
        "也许",
    ]
    .iter()
    .any(|word| text::contains(lower, word))
}
