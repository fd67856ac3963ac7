//! Prompts of somebody who has not decided yet: they ask for ideas or for a talk, wonder aloud, or only want to see something.

use super::consent::without_consent;
use super::ruling::without_leads;
use crate::text::{self, strip_apostrophes};

/// The maximum length of a prompt that is all about what it asks ideas for, in characters. A longer one speaks of several things.
const MAX_PROMPT_CHARS: usize = 400;

/// Words that ask for ideas.
const IDEAS: &[&str] = &["any ideas", "your ideas", "what ideas", "need ideas", "some ideas", "give me ideas"];

/// Words that ask for a talk before anything is done.
const TALKS: &[&str] = &["discuss", "talk", "talk about it", "talk it through", "brainstorm", "analyze", "analyse"];

/// Verbs of a change that is not to be made before that.
const CHANGES: &[&str] = &["make any", "make changes", "implement", "change anything", "build", "touch"];

/// The same in Korean, Japanese and Chinese.
const WIDE: &[&str] = &[
    "아이디어 있",
    "아이디어 좀",
    "논의해 보자",
    "의논하자",
    "相談したい",
    "相談しよう",
    "アイデアを出",
    "先讨论",
    "有什么想法",
];

/// Returns whether a prompt asks for ideas or for a talk before anything is done, so that what it says is not settled: "the drawer should
/// not ring, what are your ideas before you make any changes?"
pub(super) fn asks_for_ideas(prompt: &str) -> bool {
    if prompt.chars().count() > MAX_PROMPT_CHARS {
        return false;
    }
    let lower = strip_apostrophes(prompt);
    let follows = |opening: &str, words: &[&str]| {
        let mut behind = lower.match_indices(opening).map(|(at, _)| lower[at + opening.len()..].trim_start());
        behind.any(|rest| words.iter().any(|word| text::starts_with_words(rest, word)))
    };
    text::contains_any_words(&lower, IDEAS)
        || follows("lets ", TALKS)
        || follows("let us ", TALKS)
        || follows("before you ", CHANGES)
        || text::contains_any(&lower, WIDE)
}

/// Returns whether a sentence asks without its mark: it begins as a question does, or ends with one.
pub(super) fn asks_unmarked(sentence: &str) -> bool {
    const OPENINGS: [&str; 14] = [
        "is it",
        "is there",
        "are there",
        "are we",
        "are you",
        "do we",
        "do you",
        "does it",
        "does this",
        "did you",
        "did we",
        "have you",
        "have we",
        "should it",
    ];
    const ENDS: [&str; 5] = ["do you agree", "dont you think", "what do you think", "does that make sense", "or am i wrong"];
    let lower = strip_apostrophes(sentence);
    let bare = without_leads(lower.trim());
    let end = lower.trim_end_matches(|c: char| !c.is_alphanumeric());
    OPENINGS.iter().any(|words| text::starts_with_words(bare, words)) || ENDS.iter().any(|words| end.ends_with(words))
}

/// Returns whether somebody asks for no more than an answer: "just show me the slips".
pub(in crate::extract) fn only_wants_to_see(said: &str) -> bool {
    const WANTS: [&str; 10] = [
        "show me",
        "let me see",
        "let me hear",
        "tell me",
        "give me",
        "send me",
        "write me",
        "walk me through",
        "remind me",
        "explain",
    ];
    let lower = strip_apostrophes(said);
    let bare = without_leads(without_consent(lower.trim()).trim_start_matches([',', ' ']));
    let bare = ["can you ", "could you "].iter().find_map(|asks| bare.strip_prefix(asks)).map_or(bare, without_leads);
    WANTS.iter().any(|words| text::starts_with_words(bare, words))
}

/// Returns whether a sentence only says that somebody does not know yet, or thinks aloud about the question: "idk what a slip is", "I feel
/// like there are several ways to see it".
pub(in crate::extract) fn wonders(sentence: &str) -> bool {
    const OPENINGS: [&str; 16] = [
        "idk",
        "i dont know",
        "i do not know",
        "im not sure",
        "not sure",
        "no idea",
        "dunno",
        "no clue",
        "i feel like theres",
        "i feel like there is",
        "i feel like there are",
        "i wonder",
        "im wondering",
        "hard to say",
        "good question",
        "i have to think",
    ];
    const WIDE: [&str; 8] = ["고민", "모르겠", "나을지", "迷って", "悩んで", "わからない", "分からない", "不知道"];
    // Whoever finds fault with the question does not answer it.
    const OF_QUESTION: [&str; 4] = ["wondering about", "asking about this", "asking me this", "a weird question"];
    let lower = strip_apostrophes(sentence);
    let bare = without_leads(lower.trim());
    OPENINGS.iter().any(|words| text::starts_with_words(bare, words) || text::starts_with_words(lower.trim(), words))
        || text::contains_any_words(&lower, &OF_QUESTION)
        || text::contains_any(&lower, &WIDE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_asks_for_ideas_has_not_decided() {
        for said in [
            "the drawer should not ring twice..what are your ideas before you make any changes",
            "Maybe the till can print something better than a star? any ideas?",
            "keep the slip short, no stars. let's discuss options before you implement it",
            "レジの音は不要かも。相談したいです",
        ] {
            assert!(asks_for_ideas(said), "{said}");
        }
        for said in [
            "let's drop the star on the slip",
            "the slip is short on purpose, that was my idea",
            "before you leave, close the till",
            "we discussed it: keep the drawer shut",
        ] {
            assert!(!asks_for_ideas(said), "{said}");
        }
        assert!(!asks_for_ideas(&format!("{} any ideas?", "Keep the drawer shut. ".repeat(20))), "much else");
    }

    #[test]
    fn a_question_without_its_mark() {
        for said in ["is it that you always have to open the till", "it doesnt always have to ring, do you agree"] {
            assert!(asks_unmarked(said), "{said}");
        }
        assert!(!asks_unmarked("always open the till first") && !asks_unmarked("it is always the till that rings"));
    }

    #[test]
    fn to_be_shown_something_or_to_wonder_answers_nothing() {
        for said in [
            "just show me the slips",
            "can you please explain the slips",
            "ok, give me three more of them",
            "yes, tell me what it costs",
        ] {
            assert!(only_wants_to_see(said), "{said}");
        }
        assert!(!only_wants_to_see("show the slips in red") && !only_wants_to_see("just the slips"));
        for said in
            ["idk what a slip is", "I feel like there's more than one till to think of", "we shouldnt be wondering about it"]
        {
            assert!(wonders(said), "{said}");
        }
        assert!(
            wonders("밤 계산대로 하고 싶은데 종이 울려서, 둘 중 뭐가나을지 고민")
                && wonders("どちらの伝票にするか迷っています")
        );
        assert!(!wonders("밤 계산대로 하고 싶어"));
        assert!(!wonders("i just want a slip that is short") && !wonders("keep it, nobody knows the till"));
    }
}
