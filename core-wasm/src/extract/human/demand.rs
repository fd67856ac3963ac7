//! How a sentence asks for something: as an order, a prohibition, or a demand for a proof.

use crate::query::form::PromptForm;
use crate::text;

/// Verbs of orders, beside those by which a prompt alone is known as one.
const DEMANDS: &[&str] = &[
    "extend",
    "go through",
    "consider",
    "keep",
    "check",
    "validate",
    "verify",
    "ensure",
    "replace",
    "document",
    "review",
    "test",
    "enable",
    "disable",
    "extract",
    "improve",
    "find",
    "look",
    "clean",
    "drop",
    "split",
    "simplify",
    "handle",
    "show",
    "display",
    "investigate",
    "adjust",
    "rewrite",
    "close",
    "open",
    "include",
    "exclude",
    "ignore",
    "start",
    "turn",
    "migrate",
    "upgrade",
    "port",
    "wire",
    "support",
    "allow",
    "debug",
    "analyze",
    "analyse",
    "ask",
    "delegate",
    "rebase",
    "compare",
    "read",
];

/// Returns whether a sentence says what the agent is to do, and not only what somebody wants.
pub(in crate::extract) fn is_demand(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let mut rest = lower.as_str();
    while let Some(lead) = [
        "maybe ",
        "instead, ",
        "instead ",
        "also ",
        "then ",
        "and ",
        "please ",
        "so ",
        "just ",
        "first ",
        "finally ",
        "next ",
    ]
    .iter()
    .find(|lead| rest.starts_with(**lead))
    {
        rest = rest[lead.len()..].trim_start();
    }
    let asks = ["please", "can you", "could you", "we need to", "you need to", "let's"];
    PromptForm::of(rest).orders
        || DEMANDS.iter().any(|verb| text::starts_with_words(rest, verb))
        || text::contains_any_words(&lower, &asks)
        || requests_politely(&lower)
}

/// Returns whether a Korean or Japanese sentence asks for a deed in the form of a question: "丸めてくれる？", "고쳐줄 수 있어?".
fn requests_politely(lower: &str) -> bool {
    const FORMS: [&str; 10] =
        ["てくれる", "てくれます", "てもらえ", "ていただけ", "줄래", "줄 수 있", "주실래", "주실 수 있", "주시겠", "주겠"];
    const TELLS: [&str; 5] = ["教えて", "説明して", "알려", "설명해", "말해"];
    /// Who asks why, or what another one does, orders nothing.
    const ASKS: [&str; 6] = ["なぜ", "どうして", "なんで", "誰", "왜 ", "누가"];
    let asks = lower.contains(['?', '？']) || lower.trim_end_matches(['.', '。']).ends_with('か');
    let Some(at) = FORMS.iter().find_map(|form| lower.find(form)) else { return false };
    let said = &lower[..at];
    let is_hiragana = |c: char| ('ぁ'..='ん').contains(&c);
    let has_topic = said.split_once('は').is_some_and(|(topic, _)| topic.ends_with(|c| !is_hiragana(c)));
    let has_subject = said.rsplit_once('が').is_some_and(|(_, rest)| !rest.contains(['を', 'に', 'の']))
        || said.split_whitespace().any(|word| word.chars().count() > 1 && word.ends_with(['이', '가']));
    asks && !has_topic && !has_subject && !text::contains_any(lower, &TELLS) && !text::contains_any(lower, &ASKS)
}

/// Returns whether a sentence asks the agent to do or to answer something.
pub(in crate::extract) fn is_order(sentence: &str) -> bool {
    let form = PromptForm::of(sentence);
    let lower = sentence.to_lowercase();
    form.asks
        || form.orders
        || text::contains_any(
            &lower,
            &[
                "please",
                "can you",
                "could you",
                "let's",
                "i want",
                "i need",
                "i'd like",
                "we need to",
                "we should",
                "해줘",
                "해주세요",
                "싶",
                "たい",
                "ください",
            ],
        )
}

/// Returns whether a sentence forbids something, or decides between two things.
pub(super) fn decides(sentence: &str) -> bool {
    const OPENINGS: [&str; 5] = ["don't", "dont", "do not", "never", "no need"];
    const WORDS: [&str; 8] =
        ["instead", "rather", "only", "must not", "should not", "shouldn't", "i don't want", "we don't want"];
    let lower = sentence.to_lowercase().replace('’', "'");
    let lower = lower.trim_start_matches("please ");
    OPENINGS.iter().any(|words| text::starts_with_words(lower, words)) || text::contains_any_words(lower, &WORDS)
}

/// Returns whether a sentence forbids something, or says what must be so or be proved before the work is done.
pub(super) fn demands_proof(sentence: &str) -> bool {
    const MUSTS: [&str; 6] = ["must", "never", "do not", "don't", "prove", "tested"];
    const CHECKS: [&str; 3] = ["test", "verify", "confirm"];
    const FULLY: [&str; 5] = ["end-to-end", "end to end", "fully", "thoroughly", "before"];
    const DEEDS: [&str; 5] = ["debug", "test", "verify", "run", "check"];
    let lower = sentence.to_lowercase().replace('’', "'");
    let lower = lower.trim_start_matches("please ");
    let has = |words: &[&str]| text::contains_any_words(lower, words);
    has(&MUSTS) || CHECKS.iter().any(|verb| text::starts_with_words(lower, verb)) || (has(&FULLY) && has(&DEEDS))
}
