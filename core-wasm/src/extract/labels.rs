//! The few words that memories put around a session's own, in the session's language.

use crate::text::Language;

/// Words in one language.
#[derive(Debug)]
pub(crate) struct Labels {
    /// Before the options that were not taken.
    pub rejected: &'static str,
    /// Before a reason.
    pub why: &'static str,
    /// Before a failure.
    pub fails: &'static str,
    /// Before the cause of a failure.
    pub cause: &'static str,
    /// Before what made a failure pass.
    pub fixed_by: &'static str,
    /// Before what the human said meanwhile.
    pub added: &'static str,
    /// Before what a remark of the human was about.
    pub about: &'static str,
    /// Before a commit.
    pub committed: &'static str,
    /// A plan to carry out; `{}` is its name.
    pub plan: &'static str,
    /// A question that nobody answered.
    pub open_question: &'static str,
    /// The human refused a use of a tool; `{}` is what.
    pub refused: &'static str,
    /// An edit that was taken back; `{}` is the file.
    pub reverted: &'static str,
    /// Before the counts of a test run.
    pub tests: &'static str,
}

const ENGLISH: Labels = Labels {
    rejected: "Rejected",
    why: "Why",
    fails: "Fails",
    cause: "Cause",
    fixed_by: "Fixed by",
    added: "Added by the user",
    about: "About",
    committed: "committed as",
    plan: "Implement the plan \"{}\"",
    open_question: "Unanswered",
    refused: "The user refused: {}",
    reverted: "reverted edit in {}",
    tests: "tests",
};

const KOREAN: Labels = Labels {
    rejected: "버린 안",
    why: "이유",
    fails: "실패",
    cause: "원인",
    fixed_by: "해결",
    added: "사용자가 덧붙인 말",
    about: "대상",
    committed: "커밋",
    plan: "계획 \"{}\" 구현",
    open_question: "답을 기다리는 질문",
    refused: "사용자가 거부함: {}",
    reverted: "{}에서 되돌린 수정",
    tests: "테스트",
};

const JAPANESE: Labels = Labels {
    rejected: "不採用",
    why: "理由",
    fails: "失敗",
    cause: "原因",
    fixed_by: "解決",
    added: "ユーザーの追加",
    about: "対象",
    committed: "コミット",
    plan: "計画「{}」の実装",
    open_question: "未回答の質問",
    refused: "ユーザーが拒否: {}",
    reverted: "{} で取り消した編集",
    tests: "テスト",
};

const CHINESE: Labels = Labels {
    rejected: "未采用",
    why: "原因",
    fails: "失败",
    cause: "起因",
    fixed_by: "解决",
    added: "用户补充",
    about: "关于",
    committed: "提交",
    plan: "实现计划“{}”",
    open_question: "待回答",
    refused: "用户拒绝: {}",
    reverted: "{} 中撤回的修改",
    tests: "测试",
};

/// The words of the language with that code.
pub(crate) fn of(code: &str) -> &'static Labels {
    labels(match code {
        "ko" => Language::Korean,
        "ja" => Language::Japanese,
        "zh" => Language::Chinese,
        _ => Language::English,
    })
}

/// The words of that language.
pub(crate) fn labels(language: Language) -> &'static Labels {
    match language {
        Language::English => &ENGLISH,
        Language::Korean => &KOREAN,
        Language::Japanese => &JAPANESE,
        Language::Chinese => &CHINESE,
    }
}
