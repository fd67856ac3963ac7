//! How the agent gives in, admits a mistake, or is surprised.

use crate::extract::prose;
use crate::text;

/// Openings with which somebody gives in to an objection.
const CONCESSIONS: &[&str] = &[
    "you're right",
    "you are right",
    "you're absolutely right",
    "you are absolutely right",
    "fair point",
    "fair enough",
    "good point",
    "good catch",
    "great catch",
    "my mistake",
    "my bad",
    "i was wrong",
    "i misread",
    "i misunderstood",
    "i stand corrected",
    "i was mistaken",
    "i conflated",
    "i overstated",
    "no, i'm not sure",
    "no — i'm not sure",
    "that was wrong",
    "that was my mistake",
    "correction:",
    "apologies",
    "sorry",
    "i apologize",
    "맞습니다",
    "맞네요",
    "그렇네요",
    "말씀하신 대로",
    "말씀이 맞",
    "맞는 말씀",
    "맞는 지적",
    "지적이 맞",
    "정정합니다",
    "정정하겠습니다",
    "착각했",
    "제가 착각",
    "제가 오해",
    "잘못 봤",
    "잘못 이해했",
    "아닙니다, 확실하지",
    "좋은 지적",
    "죄송합니다",
    "제가 잘못",
    "おっしゃる通り",
    "おっしゃるとおり",
    "ご指摘の通り",
    "ご指摘のとおり",
    "勘違いしていました",
    "誤解していました",
    "訂正します",
    "その通りです",
    "確かに",
    "なるほど",
    "失礼しました",
    "申し訳",
    "すみません",
    "你说得对",
    "您说得对",
    "我搞错了",
    "更正",
    "抱歉",
    "确实",
];

/// Returns whether a text begins by giving in to an objection.
pub(in crate::extract) fn concedes(said: &str) -> bool {
    let lower = said.trim_start().to_lowercase().replace('’', "'");
    let said = prose::strip_interjection(lower.strip_prefix("ah ").unwrap_or(&lower));
    let opens = |opening: &&str| text::starts_with_words(&lower, opening) || text::starts_with_words(said, opening);
    let first: String = text::first_sentence(&lower).unwrap_or_default();
    CONCESSIONS.iter().any(opens) || admits_mistake(&first) || takes_correction(said)
}

/// Returns whether a text in lower case begins by taking what it answers for a correction: "That's a crucial distinction!"
fn takes_correction(lower: &str) -> bool {
    const OPENINGS: [&str; 4] = ["that's a ", "that's an ", "that is a ", "that is an "];
    const NOUNS: [&str; 5] = ["distinction", "clarification", "correction", "catch", "detail"];
    let Some(rest) = OPENINGS.iter().find_map(|opening| lower.strip_prefix(opening)) else {
        return text::starts_with_words(lower, "thanks for the correction");
    };
    // One or two words may say how much it weighs: "a really important clarification".
    let mut words = rest.split(|c: char| !c.is_alphanumeric()).take(3);
    words.any(|word| NOUNS.contains(&word))
}

/// Returns whether the first sentences of a text are surprised at what a check showed.
pub(in crate::extract) fn disproves(said: &str) -> bool {
    const SIGNS: [&str; 17] = [
        "uh oh",
        "uh-oh",
        "oops",
        "this changes everything",
        "that changes everything",
        "it turns out",
        "turns out",
        "contrary to what",
        "not what i said",
        "the opposite of what",
        "my assumption was wrong",
        "예상과 달리",
        "예상과 다르",
        "제 예상이 틀렸",
        "予想に反して",
        "予想と違",
        "与预期相反",
    ];
    const MAX_SENTENCES: usize = 3;
    let is_sign = |sentence: &String| {
        let lower = text::lower(sentence);
        text::contains_any_words(&lower, &SIGNS)
    };
    text::sentences(text::head(said, 400)).iter().take(MAX_SENTENCES).any(is_sign)
}

/// Returns whether a sentence in lower case defends what seemed to be wrong or of no use: "The cache is actually needed".
pub(in crate::extract) fn defends(lower: &str) -> bool {
    const VERDICTS: [&str; 10] =
        ["needed", "necessary", "required", "used", "in use", "correct", "right", "intentional", "intended", "valid"];
    // It is denied, asked, or said of something else.
    const OTHERWISE: [&str; 10] = ["not", "never", "none", "nothing", "no", "which", "whether", "what", "only", "if"];
    let is_said = |(at, mark): (usize, &str)| {
        let rest = lower[at + mark.len()..].trim_start_matches('*');
        let before = &lower[..at];
        !before.contains("n't")
            && !text::contains_any_words(before, &OTHERWISE)
            && VERDICTS.iter().any(|verdict| text::starts_with_words(rest, verdict))
    };
    !lower.ends_with('?') && ["actually ", "in fact "].iter().any(|mark| lower.match_indices(mark).any(is_said))
}

/// Returns whether a sentence in lower case says that the agent was wrong, wherever it says so.
fn admits_mistake(lower: &str) -> bool {
    const SIGNS: [&str; 17] = [
        "i was wrong",
        "i was mistaken",
        "i was imprecise",
        "i was being imprecise",
        "i had it backwards",
        "i misread",
        "i misunderstood",
        "제가 잘못",
        "제가 착각",
        "제가 오해",
        "잘못 봤",
        "잘못 이해",
        "勘違いして",
        "誤解して",
        "私の間違い",
        "我搞错",
        "我弄错",
    ];
    text::contains_any_words(lower, &SIGNS)
}

/// How many characters may follow a concession that says nothing else: "You're right on both".
const MAX_AFTER_CONCESSION: usize = 12;

/// Returns whether a sentence only gives in.
fn only_concedes(said: &str) -> bool {
    let lower = text::lower(said).replace('’', "'");
    let rest = CONCESSIONS.iter().filter(|opening| text::starts_with_words(&lower, opening)).map(|it| &lower[it.len()..]);
    rest.map(str::trim).any(|rest| {
        rest.chars().count() <= MAX_AFTER_CONCESSION && !rest.contains('`') && !rest.bytes().any(|b| b.is_ascii_digit())
    })
}

/// Returns whether a sentence gives in or says that the agent was wrong, so that nothing after it speaks of what it names.
pub(in crate::extract) fn gives_in(said: &str) -> bool {
    only_concedes(said) || admits_mistake(&said.to_lowercase())
}

/// Openings after which somebody says what holds. After "sorry" somebody says what was done wrong.
const AGREEMENTS: &[&str] = &[
    "you're right",
    "you are right",
    "you're absolutely right",
    "you are absolutely right",
    "fair point",
    "good point",
    "good catch",
    "great catch",
    "actually no",
    "actually, no",
    "i was wrong",
    "i misread",
    "i misunderstood",
    "correction:",
    "맞습니다",
    "맞네요",
    "그렇네요",
    "말씀하신 대로",
    "おっしゃる通り",
    "おっしゃるとおり",
    "その通りです",
    "確かに",
    "なるほど",
    "你说得对",
    "您说得对",
    "确实",
];

/// The minimum length of what follows a concession for it to say something by itself, in characters.
const MIN_CONCEDED_CHARS: usize = 30;

/// Returns what a sentence says after it gives in, if that says something by itself: "The total is in cents" of "You're right — the
/// total is in cents".
pub(in crate::extract) fn without_concession(sentence: &str) -> String {
    let mut rest = after_concession(sentence).to_owned();
    let word = rest.split_whitespace().next().unwrap_or_default();
    // A name keeps its letters.
    let is_word = word.chars().all(|c| c.is_ascii_lowercase() || matches!(c, '\'' | '’' | ','));
    if rest.len() < sentence.len()
        && is_word
        && let Some(first) = rest.get_mut(..1)
    {
        first.make_ascii_uppercase();
    }
    rest
}

fn after_concession(sentence: &str) -> &str {
    const MARKS: [char; 10] = [',', '—', '–', '-', ':', ';', '!', '、', '，', '：'];
    let lower = text::lower(sentence);
    // The cut can be transferred only if lower-casing kept all byte positions.
    if lower.len() != sentence.len() {
        return sentence;
    }
    let plain = lower.replace('’', "'");
    let Some(opening) = AGREEMENTS.iter().find(|opening| text::starts_with_words(&plain, opening)) else {
        return sentence;
    };
    let Some((at, _)) = sentence.char_indices().nth(opening.chars().count()) else { return sentence };
    let after = sentence[at..].trim_start();
    let rest = after.trim_start_matches(MARKS).trim_start();
    let says_something =
        (after.starts_with(MARKS) || opening.ends_with(':')) && !text::starts_with_words(&rest.to_lowercase(), "i");
    if says_something && rest.chars().count() >= MIN_CONCEDED_CHARS { rest } else { sentence }
}

/// Returns whether the first sentences of a text say that what was done before is taken back.
pub(in crate::extract) fn reverts(said: &str) -> bool {
    const SIGNS: [&str; 14] = [
        "revert that",
        "revert this",
        "revert it",
        "revert those",
        "undo that",
        "undo this",
        "undo it",
        "roll that back",
        "roll it back",
        "되돌리",
        "되돌려",
        "元に戻",
        "取り消",
        "撤销",
    ];
    let lower = text::head(said, 240).to_lowercase();
    text::contains_any_words(&lower, &SIGNS)
}
