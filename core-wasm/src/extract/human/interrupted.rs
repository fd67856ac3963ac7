//! Prompts that the user interrupted at once to add something, such as a picture, or to write them anew.

use super::consent::normalize;
use super::{abandonment, disputes, withdraws};
use crate::extract::clean;
use crate::text;

/// The number of words from which the interrupted words say what to do, and up to which those after them only complete them.
const MIN_WORDS: usize = 4;
const MAX_ADDED_WORDS: usize = 5;
/// Up to how many words say nothing of their own: "screenshot".
const MAX_EMPTY_WORDS: usize = 2;
/// The same for scripts that put no blanks between words, in characters.
const MIN_CHARS: usize = 12;
const MAX_ADDED_CHARS: usize = 12;
/// How many tenths of the words come again in what is said again.
const KEPT_TENTHS: usize = 6;

/// Returns what the user asks for if `prompt` completes the words before it, `unheard`, at which the agent was interrupted before it did
/// anything. None if it says something of its own, or takes them back.
pub(in crate::extract) fn completed(unheard: &str, prompt: &str) -> Option<String> {
    let words = |said: &str| said.split_whitespace().count();
    let asks = if unheard.is_ascii() { words(unheard) >= MIN_WORDS } else { unheard.chars().count() >= MIN_CHARS };
    let prompt = clean::clean(&super::request::without_marks(prompt));
    let is_short = words(&prompt) <= MAX_ADDED_WORDS && (prompt.is_ascii() || prompt.chars().count() <= MAX_ADDED_CHARS);
    if !asks || !is_short || prompt.starts_with('/') || takes_back(&prompt) {
        return None;
    }
    let says_nothing = prompt.is_ascii() && words(&prompt) <= MAX_EMPTY_WORDS;
    Some(if says_nothing { unheard.to_owned() } else { format!("{unheard}\n\n{prompt}") })
}

/// Returns the words before a prompt, `unheard`, for which the client stopped before the agent did anything, if the prompt only says to go on.
pub(in crate::extract) fn resumed(unheard: &str, prompt: &str) -> Option<String> {
    const WORDS: [&str; 16] = [
        "go",
        "go on",
        "go ahead",
        "continue",
        "proceed",
        "resume",
        "retry",
        "try again",
        "계속",
        "계속해",
        "계속해줘",
        "続けて",
        "続けてください",
        "続き",
        "继续",
        "请继续",
    ];
    let said = normalize(prompt);
    let goes_on = WORDS.contains(&said.trim_start_matches("please ").trim_end_matches(" please"));
    (goes_on && !unheard.is_empty()).then(|| unheard.to_owned())
}

/// Returns whether a prompt says again, in other words or with more of them, that at which the agent was interrupted before it did anything.
pub(in crate::extract) fn says_again(unheard: &str, prompt: &str) -> bool {
    let (before, after) = (text::features(unheard), text::features(prompt));
    let kept = before.iter().filter(|word| after.contains(word)).count();
    let is_word_added = prompt.starts_with(unheard) && !unheard.is_empty();
    is_word_added || (before.len() > 1 && kept * 10 >= before.len() * KEPT_TENTHS)
}

fn takes_back(prompt: &str) -> bool {
    const WORDS: [&str; 12] =
        ["no", "not", "stop", "wait", "cancel", "nvm", "nevermind", "never", "forget", "instead", "actually", "hold"];
    let lower = prompt.to_lowercase();
    text::contains_any_words(&lower, &WORDS)
        || text::contains_any(&lower, &["아니", "잠깐", "취소", "違", "待", "やめ", "不", "等"])
        || disputes(prompt)
        || withdraws(prompt)
        || abandonment(prompt).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: &str = "make the drawer as wide as the till";

    #[test]
    fn a_word_behind_interrupted_words_completes_them() {
        for added in ["screen", "[Image #1]", "picture of it", "continue"] {
            assert!(completed(ASKED, added).is_some_and(|whole| whole.starts_with(ASKED)), "{added}");
        }
        assert_eq!(completed(ASKED, "of the night shop"), Some(format!("{ASKED}\n\nof the night shop")));
        assert_eq!(completed(ASKED, "screen").as_deref(), Some(ASKED));
    }

    #[test]
    fn only_a_word_to_go_on_takes_up_what_the_client_did_not_carry_out() {
        for said in ["go on", "continue", "계속", "続けて"] {
            assert_eq!(resumed(ASKED, said).as_deref(), Some(ASKED), "{said}");
        }
        for other in ["ring the bell", "continue with the bell", "commit", "stop", "thanks"] {
            assert_eq!(resumed(ASKED, other), None, "{other}");
        }
        assert_eq!(resumed("", "go on"), None);
    }

    #[test]
    fn a_prompt_that_was_written_anew_says_the_same() {
        assert!(says_again(ASKED, "make the drawer as wide as the till, and paint it red"));
        assert!(says_again("paint", "paint the drawer"));
        assert!(!says_again(ASKED, "ring the bell of the night shop"));
        assert!(!says_again("", "ring the bell"));
    }

    #[test]
    fn what_says_something_of_its_own_stands_alone() {
        for said in ["no", "wait, not yet", "stop", "make the drawer as wide as the till of the night shop", "/clear"] {
            assert_eq!(completed(ASKED, said), None, "{said}");
        }
        assert_eq!(completed("yes", "the red one"), None);
        assert_eq!(completed("", "screen"), None);
    }
}
