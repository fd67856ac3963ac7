//! Short answers that narrow or change what was asked: "yes, but only the first", "no, keep it".

use super::proposal::{before_question, is_hedged, is_vague, strip_question_opening};
use super::resolution::Resolution;
use crate::extract::{human, prose};
use crate::text;

/// The maximum length of such an answer, and of the question with what it refers to, in characters. The page cuts longer ones.
const MAX_REPLY_CHARS: usize = 120;
const MAX_QUESTION_CHARS: usize = 104;
/// The length from which a question says by itself what it is about, in characters, and the least room for the sentence before it.
const MIN_QUESTION_CHARS: usize = 60;
const MIN_BEFORE_CHARS: usize = 20;

/// Questions that leave open what comes next.
const OPEN_QUESTIONS: &[&str] =
    &["what would you like", "what do you want", "something else", "what next", "무엇을", "何を", "什么"];

/// Openings of an answer. Those in other scripts may be followed by anything.
const OPENINGS: &[&str] = &[
    "yes",
    "yeah",
    "yep",
    "yup",
    "no",
    "nope",
    "nah",
    "sure",
    "ok",
    "okay",
    "both",
    "neither",
    "just",
    "only",
    "keep",
    "leave",
    "skip",
    "응",
    "어",
    "네",
    "예",
    "아니",
    "그냥",
    "はい",
    "うん",
    "いや",
    "いいえ",
    "好",
    "不",
];

/// Words that narrow what was asked, or put something in its place.
const NARROWS: &[&str] = &[
    "only", "just", "but", "without", "except", "not", "dont", "no need", "instead", "keep", "leave", "skip", "for now",
    "rather", "neither", "both",
];

/// The same in other scripts. A Korean particle stands behind its word.
const WIDE_NARROWS: &[&str] = &[
    "대신",
    "말고",
    "빼고",
    "제외",
    "하지 마",
    "하지 말",
    "필요 없",
    "필요없",
    "만 ",
    "만.",
    "だけ",
    "以外",
    "ではなく",
    "じゃなく",
    "なしで",
    "不要",
    "いらない",
    "只",
    "不用",
    "而不是",
];

/// Returns the question of the agent together with an answer that narrows it. None if the answer only agrees, or asks something.
pub(super) fn narrowed(prompt: &str, answer: &str) -> Option<Resolution> {
    let said = text::one_line(prompt);
    if said.chars().count() > MAX_REPLY_CHARS || said.contains(['?', '？']) || human::is_paste(prompt) {
        return None;
    }
    let lower = said.to_lowercase().replace(['’', '\''], "");
    if human::speaks_of_recording(&lower) || !narrows(&lower) {
        return None;
    }
    // "What do you think?" asks about the sentence before it.
    let opinion = || text::sentences(text::tail(answer, 1500)).pop().filter(|last| last.ends_with(['?', '？']));
    let question = prose::closing_question(answer).or_else(opinion)?;
    let asks = question.to_lowercase();
    if prose::is_procedure(&question) || text::contains_any_words(&asks, OPEN_QUESTIONS) {
        return None;
    }
    let asked = text::clip(&question, MAX_QUESTION_CHARS).into_owned();
    let room = MAX_QUESTION_CHARS.saturating_sub(asked.chars().count() + 1);
    let says_itself = question.contains('`') || question.chars().count() >= MIN_QUESTION_CHARS;
    let is_vague = !says_itself && is_vague(&strip_question_opening(&question));
    let asked = if prose::closing_question(answer).is_none() {
        text::clip(&before_question(answer)?, MAX_QUESTION_CHARS).into_owned()
    } else if is_vague {
        let before = before_question(answer).filter(|before| !is_hedged(before) && room >= MIN_BEFORE_CHARS)?;
        format!("{} {asked}", text::clip(&before, room))
    } else {
        asked
    };
    Some(Resolution { what: format!("{asked} → {said}"), is_own: true, ..Resolution::default() })
}

/// Returns whether a text in lower case begins as an answer and narrows what it answers.
fn narrows(lower: &str) -> bool {
    OPENINGS.iter().any(|opening| text::starts_with_words(lower, opening)) && leaves_out(lower)
}

/// Returns whether a text in lower case leaves something out, or puts something in its place.
pub(super) fn leaves_out(lower: &str) -> bool {
    let lower = lower.replace(['’', '\''], "").replace("하지만", "");
    text::contains_any_words(&lower, NARROWS) || text::contains_any(&lower, WIDE_NARROWS)
}

#[cfg(test)]
mod tests {
    use crate::extract::options::resolve_all;

    #[test]
    fn an_answer_that_narrows_the_question_is_told_with_it() {
        let answer = "Carts and invoices are rounded.\n\nShould I round the carts and the invoices in the same release?";
        let told = &resolve_all("yeah carts only", answer)[0];
        assert_eq!(told.what, "Should I round the carts and the invoices in the same release? → yeah carts only");
        assert!(told.is_own);
        for said in
            ["yes, but keep the invoices as they are", "no, leave the invoices", "응, 장바구니만 해줘", "はい、カートだけで"]
        {
            assert!(resolve_all(said, answer)[0].what.ends_with(said), "{said}");
        }
        let opinion =
            "The carts are rounded.\n\nMy instinct is to round the carts, since invoices are rare. What do you think?";
        let told = &resolve_all("yeah carts only", opinion)[0].what;
        assert!(told.starts_with("My instinct is to round the carts") && told.ends_with("→ yeah carts only"), "{told}");
        for other in ["yes", "yes please", "yes, but why both?", "only commit the carts", "add a test for carts"] {
            assert!(resolve_all(other, answer).iter().all(|it| !it.what.contains('→')), "{other}");
        }
        assert!(resolve_all("yes, just do it", "All is green.\n\nShould I commit and push the carts?").is_empty());
    }
}
