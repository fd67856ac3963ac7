//! What the agent announced and did not do before the turn ended.

use super::Turn;
use crate::extract::human;
use crate::extract::prose;
use crate::extract::signs;
use crate::text;

/// Words with which the agent announces that it is about to check its work.
const CHECKING: &[&str] = &[
    "run",
    "verify",
    "check",
    "test",
    "tests",
    "linter",
    "lint",
    "build",
    "검증",
    "확인",
    "테스트",
    "실행",
    "確認",
    "テスト",
    "実行",
    "验证",
    "测试",
    "运行",
];

impl Turn {
    /// Returns whether the agent only announced what it was about to do and said nothing of it since, so that the turn has no
    /// answer.
    pub(in crate::extract) fn is_unfinished(&self) -> bool {
        !self.stopped_at().is_empty()
    }

    /// Returns whether the agent did nothing for a request, said what it would do and asked back: "Here's what I'll do once the till is
    /// closed. Shall I watch it, or do you tell me?".
    pub(in crate::extract) fn only_announces(&self) -> bool {
        const MAX_LAST: usize = 3;
        const SIGNS: [&str; 6] = ["i'll", "i will", "하겠습니다", "할게요", "していきます", "我会"];
        let is_request = self.substantive && self.is_whole() && !human::only_asks(&self.title);
        let announces = |said: &String| text::contains_any_words(&said.to_lowercase().replace('’', "'"), &SIGNS);
        let said = text::sentences(&self.answer);
        let asks = said.iter().rev().take(MAX_LAST).any(|said| said.ends_with(['?', '？']));
        is_request && !self.used_tools && asks && said.iter().any(announces)
    }

    /// Returns whether the agent announced a check last, and it passed: "Let me run the tests".
    pub(in crate::extract) fn has_checked(&self) -> bool {
        let announces = |last: String| text::contains_any_words(&last.to_lowercase(), CHECKING);
        self.has_passed && text::sentences(&self.answer).pop().is_some_and(announces)
    }

    /// Returns what the agent was about to do when the turn ended, if it said nothing of it since. Otherwise an empty text.
    pub(in crate::extract) fn stopped_at(&self) -> String {
        let announces = |last: &String| {
            prose::is_narration(last) || signs::is_intent(&last.to_lowercase()) || last.ends_with([':', '：'])
        };
        let last = text::sentences(&self.answer).pop();
        // Without any tool, nothing of what was announced was done.
        let is_left = |last: &String| self.works || (!self.used_tools && signs::announces_deed(&last.to_lowercase()));
        last.filter(|last| is_left(last) && announces(last) && !self.has_checked())
            .map(|last| last.trim_end_matches([':', '：']).to_owned())
            .unwrap_or_default()
    }
}
