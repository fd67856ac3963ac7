//! Proposals, choices and decisions of the agent.

use crate::query::form::PromptForm;
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
    text::contains_any(&lower, &steps)
}

/// Returns whether a sentence says in so many words that something was decided.
pub(in crate::extract) fn declares_decision(sentence: &str) -> bool {
    let lower = text::lower(sentence);
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
    text::contains_any(&lower, &signs)
}

/// Returns whether a decision that the agent wrote down says itself that the user made it.
pub(in crate::extract) fn credits_user(decision: &str) -> bool {
    let lower = decision.to_lowercase().replace('’', "'");
    let signs = [
        "user's explicit",
        "user's choice",
        "user's call",
        "user's decision",
        "user's request",
        "user was explicit",
        "the user chose",
        "user chose",
        "the user decided",
        "the user asked",
        "the user wants",
        "the user pushed back",
        "the user rejected",
        "the user explicitly",
        "per the user",
        "per user",
        "at the user's",
        "you chose",
        "you asked for",
        "you decided",
        "사용자가 선택",
        "사용자가 요청",
        "사용자 요청",
        "사용자 결정",
        "ユーザーが選",
        "ユーザーの指示",
        "ユーザーの希望",
        "用户选择",
        "用户要求",
        "用户决定",
    ];
    text::contains_any_words(&lower, &signs)
}

/// Returns whether what a document lists as decided is a detail of the code: it begins with the call of a function with its parameters,
/// or with a function and an arrow, or it says little more than which expression stands for which.
pub(in crate::extract) fn is_code_detail(decision: &str) -> bool {
    const MAX_WORDS: usize = 4;
    let parts: Vec<&str> = decision.trim().split('`').collect();
    // What stands between backticks, and beside them.
    let code = || parts.iter().skip(1).step_by(2);
    let is_call = |code: &str| {
        let arguments = code.split_once('(').and_then(|(name, rest)| {
            let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | ':'));
            rest.strip_suffix(')').filter(|_| is_name)
        });
        arguments.is_some_and(|arguments| !arguments.is_empty())
    };
    let is_name = |code: &str| {
        !code.is_empty()
            && code.starts_with(|c: char| c.is_lowercase())
            && code.contains(|c: char| c.is_uppercase())
            && code.chars().all(|c| c.is_ascii_alphanumeric())
    };
    let (Some(before), Some(first), Some(behind)) = (parts.first(), parts.get(1), parts.get(2)) else { return false };
    let begins = before.is_empty() && (is_call(first) || (is_name(first) && behind.trim_start().starts_with('→')));
    let words = parts.iter().step_by(2).flat_map(|part| part.split_whitespace()).count();
    begins || (words <= MAX_WORDS && code().count() >= 2 && code().any(|code| is_call(code)))
}

/// Returns whether what a document lists as decided cannot be understood alone: a step that follows another one, one option of
/// several, or a piece of a sentence.
pub(in crate::extract) fn is_piece(decision: &str) -> bool {
    let lower = decision.trim().to_lowercase();
    let steps = [
        "only then",
        "then",
        "after commit",
        "after step",
        "after that",
        "after this",
        "next",
        "finally",
        "step",
        "fix:",
        "re-run",
        "rerun",
        "그 다음",
        "그다음",
        "その後",
        "次に",
        "然后",
        "接着",
    ];
    let is_step = steps.iter().any(|opening| text::starts_with_words(&lower, opening));
    // "A — Extract it" and "B — Extract and pin it" exclude each other.
    let bare = lower.strip_prefix("option ").unwrap_or(&lower);
    let mut chars = bare.chars();
    let letter = chars.next().is_some_and(|c| c.is_ascii_lowercase());
    let rest = chars.as_str().trim_start();
    let is_option = letter
        && (rest.starts_with(['—', '–']) || (rest.starts_with([':', ')', '.']) && bare.len() < lower.len()))
        && decision.trim().starts_with(|c: char| c.is_ascii_uppercase());
    let ends = [
        "a", "an", "the", "rather", "than", "same", "of", "to", "and", "or", "in", "on", "for", "with", "by", "as", "is",
        "are", "that", "which", "its", "from", "into", "at", "instead", "not",
    ];
    let is_cut = lower.rsplit(' ').next().is_some_and(|word| ends.contains(&word));
    let first = decision.trim().split(' ').next().unwrap_or_default();
    let is_small = first.bytes().all(|byte| byte.is_ascii_lowercase()) && !first.is_empty();
    let begins_small = is_small && !PromptForm::of(decision).orders;
    is_step || is_option || is_cut || begins_small
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
    text::contains_any(&lower, &signs)
}

/// Returns whether the sentence is a guess, a proposal or a forecast. None of them is knowledge.
pub(in crate::extract) fn is_speculation(lower: &str) -> bool {
    text::contains_any(
        lower,
        &[
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
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_says_how_the_code_reads_is_a_detail() {
        for said in [
            "`sum(cart, rate)` takes the rate as a parameter",
            "`roundSum` → calls the till",
            "Use `len(cart.items)` instead of `cart.count`",
        ] {
            assert!(is_code_detail(said), "{said}");
        }
        for said in [
            "Use `cart.toml` instead of `cart.json`",
            "`till` is the only one that rounds",
            "Use `axios` instead of `fetch`",
            "Round in `sum(cart)`, since the till does not see the tax",
            "The till rounds",
            "",
        ] {
            assert!(!is_code_detail(said), "{said}");
        }
    }

    #[test]
    fn a_decision_of_the_user_in_the_words_of_the_agent() {
        for said in [
            "Round the sum only. User's explicit choice.",
            "No cache: the user pushed back on it.",
            "用户选择只四舍五入总额",
        ] {
            assert!(credits_user(said), "{said}");
        }
        assert!(!credits_user("Round the sum only, so that the user sees whole cents."));
    }

    #[test]
    fn pieces_of_a_list_are_no_decisions() {
        for said in [
            "Only then parse the cart and confirm its sum",
            "A — Round each line of the cart",
            "Option B: round the sum",
            "The cart is rounded by the same",
            "reason to round instead of a warning.",
        ] {
            assert!(is_piece(said), "{said}");
        }
        for said in ["Round the sum only", "`cart` rounds the sum", "A cart rounds its sum", "합계만 반올림한다"] {
            assert!(!is_piece(said), "{said}");
        }
    }
}
