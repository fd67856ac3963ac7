//! Whether a sentence addresses the agent, or says what ought to be.

use crate::text::{self, Language};

/// Words of somebody who speaks for themselves or to the agent. A sentence without any describes how something is.
const PERSONS: &[&str] =
    &["i", "we", "you", "your", "our", "my", "me", "us", "i'd", "i'm", "let's", "please", "must", "should"];

/// Words with which an order begins, behind words such as "and" or "also".
const ORDER_OPENINGS: &[&str] = &[
    "always",
    "never",
    "don't",
    "do not",
    "dont",
    "use",
    "remember",
    "make sure",
    "prefer",
    "avoid",
    "keep",
    "stop",
    "stick",
    "from now on",
    "in the future",
    "going forward",
    "when",
    "whenever",
    "every time",
    "only",
    "no",
    "as a rule",
    "better",
    "run",
    "write",
    "ask",
    "add",
    "put",
    "check",
];

/// Endings of Korean and Japanese sentences that ask for something or say what ought to be.
const WIDE_ORDER_ENDINGS: &[&str] = &[
    "해줘",
    "하자",
    "해라",
    "해",
    "줘",
    "해야 한다",
    "해야 해",
    "해야 합니다",
    "해야해",
    "하세요",
    "주세요",
    "마",
    "말 것",
    "말아줘",
    "말아라",
    "할 것",
    "않는다",
    "한다",
    "써",
    "쓰자",
    "없어야 한다",
    "싶어",
    "싶습니다",
    "바랍니다",
    "됩니다",
    "안 돼",
    "안돼",
    "して",
    "めて",
    "ください",
    "すること",
    "ように",
    "도록",
    "しない",
    "しないで",
    "禁止",
    "する",
    "たい",
    "こと",
    "べき",
    "で",
    "ます",
];

/// Returns whether a sentence addresses the agent or says what ought to be.
pub(super) fn is_addressed(sentence: &str, lower: &str) -> bool {
    let end = || without_rules_file(lower).trim_end_matches(['.', '!', '~', '。', '！', ')']).trim_end();
    match text::language(sentence) {
        Language::English => addresses_agent(lower.trim()),
        Language::Korean | Language::Japanese => WIDE_ORDER_ENDINGS.iter().any(|ending| end().ends_with(ending)),
        Language::Chinese => true,
    }
}

/// Returns whether an English sentence addresses the agent.
fn addresses_agent(lower: &str) -> bool {
    let words = || lower.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty());
    let lead = ["and", "also", "but", "so", "ok", "okay", "yes", "then", "hmm", "oh", "btw", "plus", "now"];
    let rest: Vec<&str> = words().skip_while(|word| lead.contains(word)).collect();
    let rest = rest.join(" ");
    let is_order = ORDER_OPENINGS
        .iter()
        .any(|opening| rest.strip_prefix(opening).is_some_and(|after| after.is_empty() || after.starts_with(' ')));
    is_order || words().any(|word| PERSONS.contains(&word))
}

/// Returns a sentence in lower case without the file for rules that is named behind it: "…ように. claude.md".
pub(super) fn without_rules_file(lower: &str) -> &str {
    let said = lower.trim();
    let before = ["claude.md", "agents.md"].iter().find_map(|file| said.strip_suffix(file));
    before.map_or(said, |before| before.trim_end_matches(['.', ',', '。', '、', ' ']))
}
