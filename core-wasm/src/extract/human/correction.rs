//! Corrections of the agent's work, and disputes of what it said.

use super::pasted::is_log_line;
use super::pasted::looks_pasted;
use super::pasted::own_words;
use super::plan::plan;
use super::rule::strip_apostrophes;
use crate::text;

/// Signs that the user corrects the agent, at the start of a sentence.
const CORRECTION_OPENINGS: &[&str] = &[
    "no",
    "nope",
    "nah",
    "wrong",
    "thats wrong",
    "that is wrong",
    "thats not",
    "that is not",
    "not what i",
    "this is wrong",
    "this is not",
    "its not",
    "it is not",
    "incorrect",
    "dont",
    "do not",
    "dont",
    "stop",
    "i said",
    "i told you",
    "i meant",
    "i asked",
    "you forgot",
    "you missed",
    "you should have",
    "you shouldnt",
    "why did you",
    "why are you",
    "why do you",
    "why didnt you",
    "did we not",
    "did you not",
    "actually",
    "instead",
    "rather",
    "undo",
    "revert",
    "you broke",
    "you removed",
    "still not",
    "it still",
    "still fails",
    "doesnt work",
    "it doesnt work",
    "does not work",
    "hold on",
    "wait",
    "please dont",
    "remove that",
    "you are not",
    "youre not",
    "아니",
    "그게 아니",
    "틀렸",
    "하지마",
    "하지 마",
    "말고",
    "왜",
    "잘못",
    "다시",
    "違う",
    "ちがう",
    "いや",
    "そうじゃな",
    "やめて",
    "なぜ",
    "なんで",
    "間違",
    "不对",
    "不是",
    "不要",
    "别",
    "错了",
    "为什么",
    "应该",
];

/// Signs of a correction anywhere in a sentence.
const CORRECTION_SIGNS: &[&str] = &[
    " instead of ",
    "not what i",
    "i told you",
    "you forgot",
    "you missed",
    "should not have",
    "shouldnt have",
    "thats wrong",
    "thats not right",
    "is incorrect",
    "is wrong",
    "dont have access",
    "you dont need",
    "dont need to",
    "no need to",
    "go back and",
    "change your",
    "redo ",
    "must not",
    "should not",
    "shouldnt",
    "말고",
    "아니라",
    "하지마",
    "하지 마",
    "잘못",
    "じゃなくて",
    "ではなく",
    "しないで",
    "やめて",
    "而不是",
    "不要",
    "不应该",
];

/// Returns whether a sentence corrects what the agent did or said. A question proposes something; it settles nothing.
pub(in crate::extract) fn is_correction(sentence: &str) -> bool {
    let lower = strip_apostrophes(sentence);
    let asks = ["which ", "what ", "why ", "how ", "when ", "where ", "who "].iter().any(|word| lower.starts_with(word));
    if asks || sentence.ends_with(['?', '？']) || sentence.contains('❯') {
        return false;
    }
    if sentence.chars().count() < if sentence.is_ascii() { 14 } else { 6 } {
        return false;
    }
    let opening = |word: &&str| {
        lower
            .strip_prefix(*word)
            .is_some_and(|rest| !word.is_ascii() || rest.is_empty() || rest.starts_with([' ', ',', '.', '!']))
    };
    let harmless = [
        "no problem",
        "no worries",
        "no need",
        "stop here",
        "actually looks",
        "wait for",
        "do not hesitate",
        "no idea",
        "다시 한번",
        "다시 확인",
        "다시 실행",
        "다시 시도",
        "dont worry",
        "do not worry",
    ];
    if harmless.iter().any(|words| lower.starts_with(words)) {
        return false;
    }
    CORRECTION_OPENINGS.iter().any(opening) || CORRECTION_SIGNS.iter().any(|sign| lower.contains(sign))
}

/// Openings of a prompt that disputes what was said or done before it, or asks for something else in its place.
const DISPUTE_OPENINGS: &[&str] = &[
    "hmm",
    "hm",
    "um",
    "uh",
    "wait",
    "no",
    "nope",
    "but",
    "yeah but",
    "yes but",
    "ok but",
    "okay but",
    "still",
    "actually",
    "are you sure",
    "really",
    "why",
    "isnt",
    "doesnt",
    "didnt",
    "wasnt",
    "arent",
    "couldnt",
    "shouldnt",
    "wouldnt",
    "cant we",
    "im not",
    "i dont",
    "thats not",
    "this is not",
    "not quite",
    "instead",
    "rather",
    "id rather",
    "could we just",
    "can we just",
    "can you change",
    "change it",
    "ok maybe",
    "maybe",
    "i think its better",
    "id like",
    "lets not",
    "let us not",
    "what about",
    "it still",
    "same error",
    "remove",
    "revert",
    "undo",
    "drop",
    "아니",
    "근데",
    "그런데",
    "하지만",
    "왜",
    "아직",
    "안 되",
    "안돼",
    "그게 아니",
    "いや",
    "でも",
    "なぜ",
    "なんで",
    "違",
    "まだ",
    "やっぱ",
    "しかし",
    "えっ",
    "あれ",
    "不对",
    "但是",
    "可是",
    "为什么",
    "还是",
    "不是",
    "其实",
];

/// Signs of such a prompt anywhere in its first sentence.
const DISPUTE_SIGNS: &[&str] = &[
    " instead of ",
    " rather than ",
    "not seeing",
    "not working",
    "change it to",
    "doesnt work",
    "better not",
    "in place of",
    "couldnt we",
    "could we not",
    " not simply",
    "failing now",
    "fails now",
    "is failing",
    "are failing",
    "could we also just",
    "can we rename",
    "about renaming",
    " really an issue",
    "no longer need",
    "아니라",
    "말고",
    "대신",
    "바꿔",
    "ではなく",
    "じゃなく",
    "変えて",
    "代わり",
    "やめて",
    "而不是",
    "改成",
];

/// Returns whether a text begins with a sound of doubt, however long it is drawn out: "hmmm", "uuum", "emm".
pub(super) fn is_hesitation(lower: &str) -> bool {
    let word = lower.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    (2..=8).contains(&word.len()) && word.bytes().all(|byte| b"uehm".contains(&byte)) && word.ends_with(['m', 'h'])
}

/// Returns whether a prompt begins with pasted output that tells a failure.
fn shows_failure(prompt: &str) -> bool {
    let mut lines = prompt.lines().map(str::trim).filter(|line| !line.is_empty());
    let Some(first) = lines.next() else { return false };
    let is_output = first.starts_with(['=', '[', '$', '+', '>', '✗', '❯', '/']) || is_log_line(first) || looks_pasted(first);
    let tells = |line: &str| {
        let lower = line.to_lowercase();
        ["error", "failed", "failure", "fatal", "panic", "exception"].iter().any(|word| text::contains_words(&lower, word))
    };
    !first.starts_with("[Image") && is_output && (tells(first) || lines.take(30).any(tells))
}

/// Returns whether a prompt disputes what was said or done before it, or asks for something else in its place.
pub(in crate::extract) fn disputes(prompt: &str) -> bool {
    if plan(prompt).is_some() || prompt.starts_with('/') {
        return false;
    }
    let head = text::head(prompt, 2_000);
    if shows_failure(head) {
        return true;
    }
    let own = own_words(head);
    let Some(first) = text::first_sentence(&own) else { return false };
    let lower = strip_apostrophes(&first);
    let mut said = lower.as_str();
    for lead in ["ok ", "okay ", "ok, ", "and ", "so ", "oh ", "ah ", "yeah ", "yes, ", "well "] {
        said = said.strip_prefix(lead).unwrap_or(said);
    }
    is_hesitation(said)
        || DISPUTE_OPENINGS
            .iter()
            .any(|opening| text::starts_with_words(said, opening) || text::starts_with_words(&lower, opening))
        || DISPUTE_SIGNS.iter().any(|sign| lower.contains(sign))
        || is_correction(&first)
}
