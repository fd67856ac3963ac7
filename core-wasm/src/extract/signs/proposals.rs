//! What is only offered, proposed, planned or announced.

use crate::extract::prose;
use crate::text;

/// Words of an offer or of a step that somebody proposes. Once the work has gone on, it was taken up or dropped.
const OFFERS: &[&str] = &[
    "if you want",
    "if you'd like",
    "if needed",
    "if necessary",
    "let me know",
    "just needs to be",
    "worth a",
    "worth adding",
    "simplest fix",
    "simplest improvement",
    "simplest approach",
    "i'll add",
    "i'll update",
    "we could",
    "you could",
    "you can also",
    "필요에 따라",
    "필요하면",
    "필요하시면",
    "원하시면",
    "원하신다면",
    "必要に応じて",
    "必要であれば",
    "よければ",
    "気になるよう",
    "気になる場合",
    "指摘してください",
    "教えてください",
    "お知らせください",
    "알려주세요",
    "알려 주세요",
    "말씀해주세요",
    "말씀해 주세요",
    "如果需要",
    "如有需要",
];

/// Returns whether a text in lower case offers or proposes something.
pub(in crate::extract) fn is_offer(lower: &str) -> bool {
    text::contains_any_words(lower, OFFERS)
}

/// Returns whether a sentence in lower case only offers more, and tells nothing.
pub(crate) fn only_offers(lower: &str) -> bool {
    // "If you open the drawer, the bell rings" tells something.
    const OPENINGS: [&str; 10] = [
        "if you want",
        "if you'd",
        "if you need",
        "if you prefer",
        "let me know",
        "happy to",
        "want me to",
        "would you like",
        "feel free",
        "just say",
    ];
    let said = lower.trim_start();
    OPENINGS.iter().any(|opening| said.starts_with(opening)) || (!said.is_ascii() && is_offer(said))
}

/// Returns whether a question in lower case asks which of several ways the user wants.
pub(in crate::extract) fn asks_to_choose(lower: &str) -> bool {
    const SIGNS: [&str; 14] = [
        "which",
        "prefer",
        "preference",
        "what do you think",
        "what would you like",
        "how would you like",
        "how do you want",
        "어떤",
        "어느",
        "무엇을",
        "どちら",
        "どれ",
        "どの",
        "哪",
    ];
    text::contains_any_words(lower, &SIGNS)
}

/// Returns whether a line in lower case that leads to a list offers a choice between its items.
pub(in crate::extract) fn offers_options(lower: &str) -> bool {
    const SIGNS: [&str; 26] = [
        "would you prefer",
        "would you like",
        "reply with",
        "some options",
        "several options",
        "couple of options",
        "몇 가지 방법",
        "いくつかの方法",
        "几个方案",
        "you have",
        "you can",
        "you could",
        "your options",
        "ways to go",
        "ways to proceed",
        "ways to fix",
        "ways to handle",
        "ways forward",
        "few options",
        "two options",
        "three options",
        "here are the options",
        "선택지",
        "옵션이 있",
        "選択肢",
        "以下选项",
    ];
    let is_either = lower.trim_end_matches(['*', ' ', ':', '：']).ends_with(" either");
    is_either || text::contains_any(lower, &SIGNS)
}

/// Returns whether a line or a heading in lower case names options below it: "Options to close the till:".
pub(in crate::extract) fn lists_options(lower: &str) -> bool {
    const WORDS: [&str; 9] = [
        "options",
        "alternatives",
        "alternative patterns",
        "alternative approaches",
        "possible approaches",
        "선택지",
        "대안",
        "選択肢",
        "备选",
    ];
    // A command and a form have options, too.
    text::contains_any_words(lower, &WORDS) && !text::contains_any(lower, &["--", "`", "cli", "added", "new "])
}

/// The marks that an agent puts behind the option that it recommends.
pub(in crate::extract) const RECOMMENDED: &[&str] = &[
    "(Recommended)",
    "(recommended)",
    "(recomanat)",
    "(recomendado)",
    "(empfohlen)",
    "(추천)",
    "(권장)",
    "← 추천",
    "← 권장",
    "← recommended",
    "← 推奨",
    "(推奨)",
    "(おすすめ)",
    "（推奨）",
    "(推荐)",
    "（推荐）",
];

/// Returns whether a text in lower case says what somebody is about to do.
pub(in crate::extract) fn is_intent(lower: &str) -> bool {
    const SIGNS: [&str; 11] = [
        "next i",
        "i should",
        "i need to",
        "i'll",
        "i will",
        "i can now",
        "let me",
        "let's",
        "we need to",
        "하겠습니다",
        "していきます",
    ];
    text::contains_any_words(lower, &SIGNS)
}

/// Returns whether a sentence in lower case announces something that only a command does: "I'll merge it now". What waits for something
/// is not announced.
pub(in crate::extract) fn announces_deed(lower: &str) -> bool {
    const OPENINGS: [&str; 8] =
        ["i'll ", "i will ", "i'm going to ", "i am going to ", "let me ", "now i'll ", "now let me ", "next i'll "];
    const DEEDS: [&str; 10] =
        ["merge", "push", "commit", "rebase", "deploy", "release", "publish", "tag", "squash", "cherry-pick"];
    const ENDS: [&str; 4] = ["하겠습니다", "할게요", "します", "しますね"];
    const FOREIGN_DEEDS: [&str; 10] =
        ["머지", "병합", "푸시", "커밋", "배포", "マージ", "プッシュ", "コミット", "デプロイ", "リリース"];
    const CONDITIONS: [&str; 12] =
        ["if ", "once ", "when ", "after ", "until ", "unless ", "as soon as", "before ", "되면", "하면", "たら", "ので"];
    let lower = lower.replace('’', "'");
    let lower = lower.trim_end_matches(['.', '!', ':', '。', ' ', '：']);
    if text::contains_any(lower, &CONDITIONS) {
        return false;
    }
    let rest = OPENINGS.iter().find_map(|opening| lower.strip_prefix(opening)).unwrap_or_default();
    let rest =
        ["now ", "go ahead and ", "just ", "then "].iter().fold(rest, |rest, word| rest.strip_prefix(word).unwrap_or(rest));
    DEEDS.iter().any(|deed| text::starts_with_words(rest, deed))
        || (ENDS.iter().any(|end| lower.ends_with(end)) && text::contains_any(lower, &FOREIGN_DEEDS))
}

/// Returns whether a line in lower case leads to a list that is no result: examples, or what somebody is about to do.
pub(in crate::extract) fn leads_to_aside(lower: &str) -> bool {
    const SIGNS: [&str; 17] = [
        "for example",
        "e.g.",
        "if you have",
        "such as",
        "예를 들",
        "例えば",
        "たとえば",
        "例如",
        "i need to",
        "i should",
        "we need to",
        "i'll",
        "i will",
        "i'm going to",
        "해야 합니다",
        "必要があります",
        "我需要",
    ];
    lower.trim_end_matches(['*', ' ']).ends_with([':', '：']) && text::contains_any(lower, &SIGNS)
}

/// Returns whether a text in lower case opens with what to do. Words that may also say what was done, or name something, do not count.
pub(in crate::extract) fn is_imperative(lower: &str) -> bool {
    const VERBS: [&str; 23] = [
        "add",
        "calculate",
        "change",
        "compare",
        "compute",
        "create",
        "delete",
        "detect",
        "extract",
        "implement",
        "introduce",
        "skip",
        "store",
        "track",
        "keep",
        "make",
        "modify",
        "move",
        "refactor",
        "remove",
        "rename",
        "replace",
        "update",
    ];
    let (first, rest) = lower.split_once(' ').unwrap_or((lower, ""));
    VERBS.contains(&first) && rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '`' | '"' | '('))
}

/// Returns whether a text in lower case says what should be done.
pub(in crate::extract) fn advises(lower: &str) -> bool {
    const SIGNS: [&str; 14] = [
        "should be",
        "should update",
        "should add",
        "should fix",
        "should remove",
        "needs to be",
        "need to be",
        "best fix",
        "recommended fix",
        "추가해야",
        "수정해야",
        "必要があります",
        "べきです",
        "应该",
    ];
    text::contains_any_words(lower, &SIGNS)
}

/// Words of a line below which something is only proposed, offered or supposed.
const PROPOSING: &[&str] = &[
    "recommend",
    "recommendation",
    "recommended",
    "proposal",
    "propose",
    "proposed",
    "suggestion",
    "suggestions",
    "i'd suggest",
    "options",
    "ways out",
    "ways to",
    "two ways",
    "three ways",
    "couldn't confirm",
    "could not confirm",
    "can't confirm",
    "not confirmed",
    "not applied",
    "would look like",
    "would be to",
    "if you want",
    "추천",
    "제안",
    "선택지",
    "提案",
    "推奨",
    "選択肢",
    "建议",
    "方案",
];

/// Returns whether a line leads to what is only proposed: a heading, or a line that ends with a colon, or the sentence that gives a
/// recommendation.
pub(in crate::extract) fn proposes(line: &str) -> bool {
    let said = text::plain(line);
    let lower = text::lower(&said).replace('’', "'");
    let is_lead = said.ends_with([':', '：']) || prose::is_heading(line);
    let gives = ["my recommendation", "i recommend", "i'd recommend", "i'd suggest", "my suggestion"];
    (is_lead && text::contains_any_words(&lower, PROPOSING)) || text::contains_any_words(&lower, &gives)
}

/// Returns whether a sentence in lower case proposes something in the agent's own name.
pub(in crate::extract) fn makes_proposal(lower: &str) -> bool {
    const SIGNS: [&str; 15] = [
        "i suggest",
        "i'd suggest",
        "i would suggest",
        "i recommend",
        "i'd recommend",
        "i would recommend",
        "i propose",
        "my recommendation",
        "my suggestion",
        "제안합니다",
        "추천합니다",
        "권장합니다",
        "提案します",
        "おすすめします",
        "我建议",
    ];
    let lower = lower.replace('’', "'");
    text::contains_any_words(&lower, &SIGNS)
}
