//! Corrections of the agent's work.

use super::consent::{asks_record, is_bare_consent};
use super::rule::demands_of_product;
use super::rule::remarks_on_text;
use crate::text::{self, strip_apostrophes};

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
    "is not correct,",
    "isnt correct,",
    "<- this should",
    "<- that should",
    "<- should",
    "<- this is now",
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

/// Signs that the agent did not do what the user had said, even in a question.
const REPROACHES: &[&str] = &[
    "when i told you",
    "i told you to",
    "i told you not",
    "i already told you",
    "i already said",
    "as i said",
    "like i said",
    "i keep telling you",
    "i asked you to",
    "i asked you not",
    "what i asked for",
    "not what i asked",
    "i never asked",
    "i didnt ask",
    "i did not ask",
    "i wouldnt tell you",
    "youre supposed to",
    "you are supposed to",
    "you were supposed to",
    "youre misunderstanding",
    "you misunderstood",
    "you misunderstand",
    "why do you keep",
    "why did you still",
    "why arent you using",
    "말했잖",
    "하라고 했",
    "왜 자꾸",
    "왜 계속",
    "言ったのに",
    "言ったでしょ",
    "って言った",
    "なんでまだ",
    "なぜまだ",
    "我说过",
    "我让你",
    "怎么还在",
    "为什么还在",
    "你总是",
    "你一直",
];

/// Openings of a sentence that says what the user does not want to have.
const DISLIKES: &[&str] = &[
    "i dont like",
    "i do not like",
    "i also dont like",
    "i really dont like",
    "im not a fan",
    "not sure i like",
    "im not sure i like",
    "not a fan of",
    "마음에 안 들",
    "맘에 안 들",
    "気に入らない",
    "好きじゃない",
    "我不喜欢",
    "不喜欢",
];

/// Openings of a sentence that doubts, asks, or says what a question meant.
const DOUBTS: &[&str] = &[
    "not sure",
    "im not sure",
    "i wonder",
    "question",
    "one question",
    "no i mean",
    "no, i mean",
    "my assumption",
    "my guess",
    "i assume",
];

/// Verbs that make something new: "instead, draw the cart" is the next task.
const MAKES: &[&str] = &[
    "create",
    "write",
    "draw",
    "make a",
    "make an",
    "build",
    "generate",
    "show",
    "give me",
    "explain",
    "list",
    "find",
    "check",
    "look",
    "tell",
    "summarize",
    "draft",
    "sketch",
    "analyze",
    "review",
    "investigate",
    "compare",
];

/// Returns whether a text in lower case, without apostrophes, says that the agent did not do what the user had said.
fn is_reproach(lower: &str) -> bool {
    // "You keep asking" blames, "can you keep it" asks.
    let keeps = lower.match_indices("you keep ").any(|(at, words)| begins_with_gerund(&lower[at + words.len()..]));
    // "Why are you writing Perl?"
    let wonders = lower.strip_prefix("why are you ").is_some_and(begins_with_gerund);
    keeps || wonders || text::contains_any(lower, REPROACHES)
}

/// Returns whether the first word is the "-ing" form of a verb. "Thing" and "bring" are none.
fn begins_with_gerund(lower: &str) -> bool {
    let word = lower.split([' ', '?']).next().unwrap_or_default();
    word.len() > 5 && word.ends_with("ing")
}

/// Returns whether a sentence says what the user does not like. What follows says how it should be.
pub(super) fn dislikes(sentence: &str) -> bool {
    let lower = strip_apostrophes(sentence);
    DISLIKES.iter().any(|opening| text::starts_with_words(&lower, opening))
}

/// Returns whether a sentence in lower case, without apostrophes, is written as reviewers write, or is code: it was pasted.
pub(super) fn is_of_review(lower: &str) -> bool {
    const SIGNS: [&str; 6] = ["the code should ", "the code doesnt ", "silently fails", "can panic", " := ", "fmt."];
    let considers = lower.match_indices("consider ").any(|(at, word)| begins_with_gerund(&lower[at + word.len()..]));
    considers || lower.starts_with("//") || text::contains_any(lower, &SIGNS)
}

/// Returns whether a sentence in lower case reports that something is not there, such as "no slips found in the drawer" or "no slip is
/// printed". "No this is wrong" does not.
fn is_report(lower: &str) -> bool {
    const ANSWERS: [&str; 12] = ["i", "you", "we", "it", "this", "that", "thats", "its", "the", "they", "there", "need"];
    let Some(rest) = lower.strip_prefix("no ") else { return false };
    let words: Vec<&str> = rest.split(' ').take(6).collect();
    let is_state = |word: &&str| matches!(*word, "is" | "are" | "was" | "were" | "has" | "have");
    let tells_state = !ANSWERS.contains(&words[0]) && words.iter().skip(1).any(is_state) && !rest.contains("need");
    tells_state || text::contains_words(rest, "found") || rest.ends_with(':')
}

/// Returns whether a sentence in lower case leaves what was done and asks for something new.
fn asks_anew(lower: &str) -> bool {
    let lead = ["ok", "okay", "so", "then", "now"].iter().find_map(|word| lower.strip_prefix(*word)).unwrap_or(lower);
    let lead = lead.trim_start_matches([',', ' ']);
    let rest = ["instead", "lets ", "let us "].iter().find_map(|word| lead.strip_prefix(*word));
    let rest = rest.map(|rest| rest.trim_start_matches([',', ' ']));
    let rest = rest.map(|rest| rest.strip_prefix("please ").unwrap_or(rest));
    rest.is_some_and(|rest| MAKES.iter().any(|verb| text::starts_with_words(rest, verb)))
}

/// Returns whether a sentence corrects what the agent did or said. A question proposes something; it settles nothing.
pub(in crate::extract) fn is_correction(sentence: &str) -> bool {
    const QUESTIONS: [&str; 7] = ["which ", "what ", "why ", "how ", "when ", "where ", "who "];
    let least = if sentence.is_ascii() { 14 } else { 6 };
    // The prompt of a terminal was pasted.
    if sentence.chars().count() < least || sentence.contains('❯') {
        return false;
    }
    let lower = strip_apostrophes(sentence);
    if is_reproach(&lower) || dislikes(sentence) {
        return true;
    }
    // "…, which takes it out, but that is not correct" asks nothing.
    let wonders = || QUESTIONS.iter().any(|word| lower.starts_with(word)) && !lower.contains(" but that is ");
    let asks = sentence.ends_with(['?', '？']) || wonders();
    let opens = |word: &&str| {
        let rest = lower.strip_prefix(*word);
        rest.is_some_and(|rest| !word.is_ascii() || rest.is_empty() || rest.starts_with([' ', ',', '.', '!']))
    };
    !asks
        && !says_something_else(&lower)
        && !is_harmless(&lower)
        && (CORRECTION_OPENINGS.iter().any(opens) || text::contains_any(&lower, CORRECTION_SIGNS))
}

/// Returns whether a sentence in lower case, without apostrophes, has the words of a correction for another reason: it asks for something
/// new, speaks of the product, or was written by somebody else.
fn says_something_else(lower: &str) -> bool {
    // What stands behind "this:" is quoted.
    let is_quoted = lower.starts_with("this: ") && lower.ends_with(':');
    // "No, just commit" steers one step.
    let only_records = || {
        let rest = ["no, ", "no "].iter().find_map(|opening| lower.strip_prefix(opening));
        // "No, I did not say commit" forbids it.
        let denies = |rest: &str| text::contains_any_words(rest, &["not", "didnt", "dont", "never", "nobody"]);
        rest.is_some_and(|rest| !denies(rest) && asks_record(rest.strip_prefix("just ").unwrap_or(rest)))
    };
    is_quoted
        || asks_anew(lower)
        || remarks_on_text(lower)
        || demands_of_product(lower)
        || is_of_review(lower)
        || is_report(lower)
        || assumes(lower)
        || DOUBTS.iter().any(|opening| text::starts_with_words(lower, opening))
        || only_records()
}

/// Returns whether a sentence in lower case begins with what the user assumes, which the agent is to check: "my assumption is we can ring
/// it instead of counting".
fn assumes(lower: &str) -> bool {
    const OPENINGS: [&str; 7] =
        ["my assumption is", "my assumption was", "my thinking is", "my guess is", "i assume", "i suspect", "maybe we"];
    OPENINGS.iter().any(|opening| text::starts_with_words(lower, opening))
}

/// Returns whether a sentence in lower case, without apostrophes, begins like a correction and finds nothing wrong.
fn is_harmless(lower: &str) -> bool {
    const OPENINGS: [&str; 10] = [
        "no problem",
        "no worries",
        "no need",
        "stop here",
        "actually looks",
        "wait for",
        "do not hesitate",
        "no idea",
        "dont worry",
        "do not worry",
    ];
    says_only_no(lower) || is_bare_consent(lower) || OPENINGS.iter().any(|words| lower.starts_with(words))
}

/// Returns whether a Japanese sentence says little more than no: "いやいや、レビュー".
fn says_only_no(lower: &str) -> bool {
    const MIN_REST_CHARS: usize = 6;
    let Some(mut rest) = lower.strip_prefix("いや") else { return false };
    loop {
        let shorter = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        let shorter = shorter.strip_prefix("いや").unwrap_or(shorter);
        if shorter.len() == rest.len() {
            break;
        }
        rest = shorter;
    }
    let rest = rest.trim_end_matches(|c: char| !c.is_alphanumeric());
    // "いや、赤にして" says what to do instead.
    let is_order = ["して", "めて", "って", "ください"].iter().any(|end| rest.len() > end.len() && rest.ends_with(end));
    !is_order && rest.chars().count() < MIN_REST_CHARS
}

/// Returns whether a correction holds for later, too, and is not over once files were changed for it: it gives a reason, or forbids the agent
/// something. What the product should not do is in the code by then.
pub(in crate::extract) fn outlasts_change(said: &str) -> bool {
    const LASTS: [&str; 26] = [
        "because",
        "since",
        "risk",
        "otherwise",
        "so that",
        "on purpose",
        "too",
        "explicit",
        "easier",
        "always",
        "never",
        "from now on",
        "must not",
        "wont",
        "not correct",
        "comes from",
        "its fine",
        "this is fine",
        "때문",
        "니까",
        "항상",
        "절대",
        "ため",
        "から",
        "いつも",
        "因为",
    ];
    let lower = strip_apostrophes(said);
    text::contains_any_words(&lower, &LASTS) || forbids(&lower)
}

/// Returns whether a text in lower case, without apostrophes, forbids the agent something: "don't print it", "we should not print it".
/// "I don't like it" and "the till should not ring" do not.
fn forbids(lower: &str) -> bool {
    const BANS: [&str; 4] = ["dont", "do not", "should not", "shouldnt"];
    // Who is forbidden something, and what stands before an order.
    const PERSONS: [&str; 3] = ["you", "we", "please"];
    const LEADS: [&str; 8] = ["and", "but", "so", "then", "no", "nah", "or", "ok"];
    const ADVERBS: [&str; 5] = ["still", "really", "also", "just", "simply"];
    let bans = |ban: &&str| {
        lower.match_indices(ban).any(|(at, _)| {
            let (mut before, behind) = (lower[..at].trim_end(), &lower[at + ban.len()..]);
            while let Some(rest) = ADVERBS.iter().find_map(|adverb| before.strip_suffix(adverb)) {
                before = rest.trim_end();
            }
            let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
            let is_whole = !lower[..at].ends_with(char::is_alphanumeric) && !behind.starts_with(char::is_alphanumeric);
            let opens = !word.ends_with(char::is_alphanumeric) || LEADS.contains(&word);
            is_whole && (PERSONS.contains(&word) || (opens && ban.starts_with('d')))
        })
    };
    BANS.iter().any(bans)
}

/// Returns whether a correction holds work back only until later: "don't change the till yet". Once the work is done it is over.
pub(in crate::extract) fn holds_back(said: &str) -> bool {
    const LATER: [&str; 4] = ["yet", "for the moment", "아직", "まだ"];
    const BANS: [&str; 12] =
        ["dont", "do not", "not", "wait", "hold", "하지 마", "하지마", "하지 말", "しないで", "するな", "先不", "先别"];
    let lower = strip_apostrophes(said);
    let bans = text::contains_any_words(&lower, &BANS);
    bans && (text::contains_any_words(&lower, &LATER) || text::contains_any(&lower, &["先不", "先别"]))
}

/// Returns whether a correction only asks to wait or to talk, thinks aloud, asks back or leads to something that was pasted.
pub(super) fn settles_nothing(said: &str) -> bool {
    const PAUSES: [&str; 10] = [
        "lets talk",
        "lets discuss",
        "let us talk",
        "let us discuss",
        "let me think",
        "잠깐만",
        "얘기해 보자",
        "ちょっと待って",
        "いや、待って",
        "等一下",
    ];
    const MUSES: [&str; 4] = ["thinking aloud", "thinking out loud", "not a case id considered", "is it worth"];
    const RECORDS: [&str; 4] = ["need to commit", "need to push", "커밋할 필요", "コミットする必要"];
    const MAX_PAUSE_CHARS: usize = 60;
    let lower = strip_apostrophes(said);
    let is_short = lower.chars().count() <= MAX_PAUSE_CHARS;
    let pauses = is_short && (text::contains_any(&lower, &PAUSES) || text::contains_any(&lower, &RECORDS));
    let asks = said.ends_with(['?', '？']) && !is_reproach(&lower);
    // "Actually, test it first" is the next step.
    let is_next = is_short && lower.trim_end_matches(['.', '!', ' ']).ends_with(" first");
    pauses || is_next || asks || said.ends_with([':', '：']) || text::contains_any(&lower, &MUSES)
}

/// Returns whether a prompt begins with a correction.
pub(in crate::extract) fn corrects(prompt: &str) -> bool {
    text::first_sentence(prompt).is_some_and(|first| is_correction(&first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_user_assumes_is_no_correction() {
        assert!(!is_correction("My assumption is we can ring the old total instead of counting the drawer"));
        assert!(is_correction("Ring the old total instead of counting the drawer"));
    }

    #[test]
    fn what_is_denied_in_the_middle_of_a_sentence_is_a_correction() {
        for said in [
            "the night till is not correct, it closes at noon",
            "the sum isn't correct, that is the net price",
            "which drops the night till, but that is not correct, we count both",
            "the slip lies in `drawer/old` <- this should be `drawer/v2` now",
        ] {
            assert!(is_correction(said), "{said}");
        }
        assert!(is_correction("no, I never said commit the slips") && !is_correction("no, just commit the slips"));
        assert!(!is_correction("the slip goes to the drawer <- the till"));
        assert!(!is_correction("The color of the night till is not correct."), "it tells a fault");
    }

    #[test]
    fn the_next_step_settles_nothing() {
        assert!(settles_nothing("actually maybe let's count the slips first"));
        assert!(!settles_nothing("don't count the slips of the till"));
    }

    #[test]
    fn what_only_holds_work_back_is_over_with_the_work() {
        for said in
            ["Do not change the till just yet.", "아직 금전함은 바꾸지 말아줘, 하지 마", "まだ変えないで、コミットしないで"]
        {
            assert!(holds_back(said), "{said}");
        }
        assert!(!holds_back("Do not change the till.") && !holds_back("The till is yet another drawer."));
    }
}
