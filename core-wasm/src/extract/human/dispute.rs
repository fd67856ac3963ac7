//! What the user says against the answer before: that it is wrong, or that it should be checked.

use super::correction::is_correction;
use super::denial::denies_success;
use super::pasted::{is_log_line, looks_pasted, own_words};
use super::plan::plan;
use super::request::is_slash_command;
use crate::text::{self, strip_apostrophes};

/// Openings of a prompt that says that what the agent said or did is wrong.
const OBJECTIONS: &[&str] = &[
    "no",
    "nope",
    "nah",
    "you said",
    "you told me",
    "you claimed",
    "not true",
    "not really",
    "not exactly",
    "incorrect",
    "i disagree",
    "i doubt",
    "thats wrong",
    "thats incorrect",
    "thats not",
    "that isnt",
    "that doesnt",
    "this is not",
    "this isnt",
    "isnt",
    "doesnt",
    "didnt",
    "wasnt",
    "arent",
    "it still",
    "still",
    "same error",
    "revert",
    "undo",
    "아니",
    "안 되",
    "안돼",
    "그게 아니",
    "그건 아니",
    "틀렸",
    "いや",
    "そうじゃな",
    "間違って",
    "ちがう",
    "違",
    "不对",
    "不是",
];

/// Signs of such a prompt anywhere in its first sentence.
const OBJECTION_SIGNS: &[&str] = &[
    "not seeing",
    "not working",
    "doesnt work",
    "was clearly",
    "is clearly",
    "failing now",
    "fails now",
    "is failing",
    "are failing",
];

/// Openings of a prompt that asks why, or for something else in a place of the work, and leaves the rest of it as it is.
const AMENDMENTS: &[&str] = &[
    "hmm",
    "hm",
    "um",
    "uh",
    "wait",
    "you also said",
    "above you said",
    "earlier you said",
    "im questioning",
    "but",
    "yeah but",
    "yes but",
    "ok but",
    "okay but",
    "actually",
    "are you sure",
    "you sure",
    "are you certain",
    "how sure are you",
    "how do you know",
    "did you verify",
    "did you actually",
    "not so fast",
    "really",
    "why",
    "couldnt",
    "shouldnt",
    "wouldnt",
    "cant we",
    "im not",
    "i dont",
    "it should not",
    "it shouldnt",
    "this should not",
    "this shouldnt",
    "that should not",
    "that shouldnt",
    "they should not",
    "they shouldnt",
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
    "remove",
    "drop",
    "하지만",
    "왜",
    "아직",
    "그건 아닌",
    "그게 아닌",
    "그거 아니",
    "정말?",
    "정말이",
    "정말로",
    "진짜?",
    "진짜로",
    "진짜야",
    "확실해",
    "확실한가",
    "확실합니까",
    "확실한 거",
    "잠깐",
    "でも",
    "本当?",
    "本当？",
    "本当に?",
    "本当に？",
    "本当ですか",
    "なぜ",
    "なんで",
    "まだ",
    "やっぱ",
    "しかし",
    "えっ",
    "あれ",
    "但是",
    "可是",
    "为什么",
    "还是",
    "其实",
];

/// Signs of such a prompt anywhere in its first sentence.
const AMENDMENT_SIGNS: &[&str] = &[
    " instead of ",
    " rather than ",
    "change it to",
    "better not",
    "in place of",
    "couldnt we",
    "could we not",
    " not simply",
    "were clearly",
    "are clearly",
    "clearly worked",
    "clearly works",
    "clearly has",
    "clearly did",
    "what do i miss",
    "what am i missing",
    "could we also just",
    "can we rename",
    "about renaming",
    " really an issue",
    "no longer need",
    "아니라",
    "아닌 것 같",
    "아닌거 같",
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

/// Signs in any of the first sentences of a prompt that what the agent said is not true.
const REFUTATIONS: &[&str] = &[
    "are you sure",
    "thats wrong",
    "thats not true",
    "that isnt true",
    "thats not correct",
    "thats incorrect",
    "not what happens",
    "not what actually happens",
    "not how it works",
    "그건 아니",
    "그건 아닌",
    "그게 아니",
    "사실이 아니",
    "それは違",
    "そうではな",
    "这不对",
    "不是这样",
];

/// How many sentences of a prompt are searched for them.
const MAX_REFUTING_SENTENCES: usize = 4;

/// Returns whether one of the first sentences of a prompt says or asks whether what the agent said is not true.
pub(in crate::extract) fn refutes(prompt: &str) -> bool {
    let own = own_words(text::head(prompt, 2_000));
    let says = |sentence: &String| {
        let lower = strip_apostrophes(sentence);
        text::contains_any_words(&lower, REFUTATIONS)
    };
    text::sentences(&own).iter().take(MAX_REFUTING_SENTENCES).any(says)
}

/// Returns whether a sentence in lower case without apostrophes only says that nothing is in the way: "That shouldn't be a problem".
fn reassures(lower: &str) -> bool {
    const WORDS: [&str; 6] = ["be a problem", "be an issue", "matter", "take", "hurt", "be hard"];
    let after = ["should not ", "shouldnt "].iter().find_map(|words| lower.split_once(words)).map(|(_, rest)| rest);
    after.is_some_and(|rest| WORDS.iter().any(|word| text::starts_with_words(rest, word)))
}

/// Returns whether a prompt asks to check what the agent said.
pub(in crate::extract) fn doubts(prompt: &str) -> bool {
    const SIGNS: [&str; 17] = [
        "double check",
        "doublecheck",
        "if we can validate",
        "are you sure",
        "are you certain",
        "can you verify",
        "can we verify",
        "can you validate",
        "not sold",
        "not convinced",
        "is that really",
        "확실해",
        "확실한가",
        "정말이",
        "다시 확인",
        "本当に",
        "確かですか",
    ];
    let own = own_words(text::head(prompt, 2_000));
    let says = |sentence: &String| {
        let lower = strip_apostrophes(sentence).replace('-', " ");
        text::contains_any_words(&lower, &SIGNS)
    };
    text::sentences(&own).iter().take(MAX_REFUTING_SENTENCES).any(says)
}

/// Returns whether a text begins with a sound of doubt, however long it is drawn out: "hmmm", "uuum", "emm".
pub(super) fn is_hesitation(lower: &str) -> bool {
    let word = lower.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    (2..=8).contains(&word.len()) && word.bytes().all(|byte| b"uehm".contains(&byte)) && word.ends_with(['m', 'h'])
}

/// Strips the sound of doubt before what somebody says: "hmm, print it twice".
pub(in crate::extract) fn without_hesitation(said: &str) -> &str {
    let rest = said.trim_start_matches(char::is_alphanumeric).trim_start_matches([',', '.', '…', ' ', '-']);
    if is_hesitation(&text::head(said, 20).to_lowercase()) { rest } else { said }
}

/// Returns whether a prompt begins with pasted output that tells a failure.
fn shows_failure(prompt: &str) -> bool {
    let mut lines = prompt.lines().map(str::trim).filter(|line| !line.is_empty());
    let Some(first) = lines.next() else { return false };
    let is_output = first.starts_with(['=', '[', '$', '+', '>', '✗', '❯', '/']) || is_log_line(first) || looks_pasted(first);
    let tells = |line: &str| {
        let lower = line.to_lowercase();
        text::contains_any_words(&lower, &["error", "failed", "failure", "fatal", "panic", "exception"])
    };
    !first.starts_with("[Image") && is_output && (tells(first) || lines.take(30).any(tells))
}

/// Returns whether a prompt disputes what was said or done before it, or asks for something else in its place.
pub(in crate::extract) fn disputes(prompt: &str) -> bool {
    is_against(prompt, &[OBJECTIONS, AMENDMENTS], &[OBJECTION_SIGNS, AMENDMENT_SIGNS], is_hesitation)
        || denies_success(prompt)
}

/// Returns whether a prompt says that what was said or done before it is wrong as a whole.
pub(in crate::extract) fn objects(prompt: &str) -> bool {
    is_against(prompt, &[OBJECTIONS], &[OBJECTION_SIGNS], |_| false)
}

/// Returns whether a prompt doubts what the agent said, or wants something else in its place. Whoever only asks on leaves it as it is.
pub(in crate::extract) fn replaces(prompt: &str) -> bool {
    disputes(prompt) && (objects(prompt) || !only_asks_on(prompt))
}

/// Returns whether the first sentence of a prompt asks for a reason or for more, and proposes nothing in place of what was said.
fn only_asks_on(prompt: &str) -> bool {
    const QUESTIONS: [&str; 24] = [
        "why",
        "what",
        "how",
        "where",
        "when",
        "which",
        "who",
        "is there",
        "are there",
        "does",
        "do",
        "is",
        "are",
        "did",
        "has",
        "can you explain",
        "can you tell",
        "can you show",
        "왜",
        "なぜ",
        "なんで",
        "どうして",
        "为什么",
        "怎么",
    ];
    const PROPOSALS: [&str; 16] = [
        "what about",
        "what if",
        "how about",
        "why not",
        "why dont we",
        "why dont you",
        "why cant",
        "why would",
        "why should",
        "why do we need",
        "better",
        "instead of",
        "rather than",
        "really",
        "대신",
        "代わり",
    ];
    let own = own_words(text::head(prompt, 2_000));
    let Some(first) = text::first_sentence(&own) else { return false };
    let lower = strip_apostrophes(&first);
    let is_lead = |word: &str| {
        let word = word.trim_end_matches([',', '.', '…', '-']);
        is_hesitation(word) || ["ok", "okay", "and", "so", "oh", "ah", "but", "wait", "yes", "yeah", "well"].contains(&word)
    };
    let said = lower.split_whitespace().skip_while(|word| is_lead(word)).collect::<Vec<_>>().join(" ");
    let asks = QUESTIONS.iter().any(|opening| text::starts_with_words(&said, opening));
    let goes_on =
        said.starts_with("why") || first.ends_with(['?', '？']) || text::language(&said) != text::Language::English;
    asks && goes_on && !text::contains_any_words(&said, &PROPOSALS) && !doubts(prompt)
}

/// Returns whether a prompt begins with one of these openings or has one of these signs in its first sentence, tells a failure, or says
/// that something is not true.
fn is_against(prompt: &str, openings: &[&[&str]], signs: &[&[&str]], opens_against: impl Fn(&str) -> bool) -> bool {
    if plan(prompt).is_some() || is_slash_command(prompt) {
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
    let hesitates = opens_against(said);
    // "Hmm, doesn't it ring?"
    if is_hesitation(said) {
        said = said.trim_start_matches(char::is_alphanumeric).trim_start_matches([',', '.', ' ']);
    }
    let opens = |opening: &&str| text::starts_with_words(said, opening) || text::starts_with_words(&lower, opening);
    hesitates
        || (!reassures(said) && (openings.iter().copied().flatten().any(opens) || is_correction(&first)))
        || signs.iter().any(|signs| text::contains_any(&lower, signs))
        || refutes(prompt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_or_amends_objects_to_nothing() {
        for said in
            ["why is the slip red?", "could we just print it once?", "drop the bell", "hmm, is there a better place for it?"]
        {
            assert!(disputes(said) && !objects(said), "{said}");
        }
        for said in [
            "no, the slip is still red",
            "hmm, doesn't it ring twice?",
            "that doesn't work",
            "it still rings twice",
            "아니, 영수증이 없어",
            "違う、赤だよ",
        ] {
            assert!(disputes(said) && objects(said), "{said}");
        }
    }

    #[test]
    fn who_wants_something_else_replaces_a_proposal_and_who_asks_on_does_not() {
        for said in [
            "could we just print it once?",
            "drop the bell",
            "hmm, is there a better place for it?",
            "hmm, I am not sure about the bell",
            "what about a lamp?",
            "why not ring it at noon?",
            "actually, ring the bell instead",
            "wait, how about a lamp instead of the bell?",
            "잠깐, 종 대신 램프로 하자",
        ] {
            assert!(replaces(said), "{said}");
        }
        for said in [
            "why is the slip red?",
            "but how does the till know the day?",
            "hmm, why does it ring?",
            "wait, where is the slip kept?",
            "왜 빨간색이야?",
            "print the slip",
        ] {
            assert!(!replaces(said), "{said}");
        }
    }
}
