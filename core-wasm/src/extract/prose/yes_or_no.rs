//! The yes or no with which an answer begins.

use crate::text;

/// Words with which an answer says yes or no.
const WORDS: [&str; 26] = [
    "yes",
    "yeah",
    "yep",
    "no",
    "nope",
    "not yet",
    "not quite",
    "correct",
    "exactly",
    "exactly right",
    "right",
    "that's right",
    "you're right",
    "네",
    "예",
    "맞습니다",
    "아니요",
    "아니오",
    "아닙니다",
    "はい",
    "いいえ",
    "是的",
    "对",
    "不是",
    "不对",
    "да",
];
/// What stands behind such a word.
const ENDS: [char; 14] = [',', '.', '!', ':', ';', '—', '–', '-', '、', '。', '，', '：', '！', '\n'];

/// Words of a question that asks for more than yes or no, and how many words may stand before them.
const ASKS_MORE: [&str; 8] = ["what", "where", "how", "why", "which", "who", "when", "whats"];
const MAX_WORDS_BEFORE: usize = 2;

/// Returns the word with which an answer to a question says yes or no, as a sentence. None if it begins otherwise, or nobody asked that.
pub(in crate::extract) fn yes_or_no(asked: &str, answer: &str) -> Option<String> {
    let lower = asked.to_lowercase().replace(['\'', '’'], "");
    let asks_more = lower.split_whitespace().take(MAX_WORDS_BEFORE + 1).any(|word| ASKS_MORE.contains(&word));
    // "Yes" to "can you …?" only takes the task.
    let is_request = ["can you ", "could you ", "would you ", "will you "].iter().any(|words| lower.starts_with(words));
    if asks_more || is_request || !asked.contains(['?', '？']) {
        return None;
    }
    let first = text::plain(answer.lines().find(|line| !line.trim().is_empty())?).replace('’', "'");
    let end = first.find(ENDS).unwrap_or(first.len());
    // "Yes - it is closed" says yes, and "no-op" does not.
    let is_word = !first[end..].starts_with('-') || first[..end].ends_with(' ');
    let word = first[..end].trim();
    let is_known = WORDS.contains(&word.to_lowercase().as_str());
    (is_known && is_word).then(|| format!("{}.", text::capitalized(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_yes_or_no_of_an_answer() {
        for (answer, told) in [
            ("Yes. The drawer is closed.", "Yes."),
            ("**No, the bell is not rung.** It is broken.", "No."),
            ("yes — it is", "Yes."),
            ("You’re right.\n\nThe night till has none.", "You're right."),
            ("네, 맞습니다. 서랍은 닫혀 있습니다.", "네."),
            ("はい、閉まっています。", "はい."),
        ] {
            assert_eq!(yes_or_no("is the drawer closed?", answer).as_deref(), Some(told), "{answer}");
        }
        for answer in ["No slip was printed.", "Now it is closed.", "no-op calls are left out", "", "Right now, it rings."] {
            assert_eq!(yes_or_no("is the drawer closed?", answer), None, "{answer}");
        }
        assert_eq!(yes_or_no("so what is in the drawer?", "Right, let me look."), None);
        assert_eq!(yes_or_no("close the drawer", "Yes."), None);
        assert_eq!(yes_or_no("Can you close the drawer?", "Yes. It is closed now."), None);
    }
}
