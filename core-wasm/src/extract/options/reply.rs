//! Answers in the user's own words that narrow, change or refuse what was asked: "yes, but only the first", "no, keep it".

use super::proposal::{before_question, is_hedged, is_vague, strip_question_opening};
use super::resolution::Resolution;
use crate::extract::{human, prose};
use crate::text;

/// The maximum length of such an answer, and of the question with what it refers to, in characters. The page cuts longer ones.
const MAX_REPLY_CHARS: usize = 120;
const MAX_QUESTION_CHARS: usize = 164;
/// The length from which a question says by itself what it is about, in characters, and the least room for the sentence before it.
const MIN_QUESTION_CHARS: usize = 60;
const MIN_BEFORE_CHARS: usize = 20;

/// The maximum length of a prompt whose first sentence is an answer, in characters.
const MAX_ANSWERING_CHARS: usize = 700;
/// How many words an answer has that says more than yes or no.
const MIN_REASON_WORDS: usize = 3;
/// How many words an answer has at most that only names one of two ways.
const MAX_SIDE_WORDS: usize = 5;

/// Words of questions that propose something.
const PROPOSES: &[&str] =
    &["want me", "want to", "should i", "should we", "shall i", "shall we", "would you like", "do you want"];
/// How many sentences there are at most from such a question to the end of an answer.
const MAX_BEHIND_QUESTION: usize = 3;
/// Words of a question that leaves open how far the work goes, or when.
const SCOPES: &[&str] = &[
    "follow-up",
    "followup",
    "later",
    "separate",
    "separately",
    "leave",
    "keep",
    "defer",
    "future",
    "as-is",
    "enough",
    "sufficient",
    "this pr",
    "issue",
];

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
    if human::speaks_of_recording(&lower) || human::only_wants_to_see(&lower) || !narrows(&lower) {
        return None;
    }
    let asked = told_with_answer(&question(answer)?, answer)?;
    // A no that names something else than the question answers the answer, and not the question.
    if denies_other(&lower, &asked) {
        return None;
    }
    Some(Resolution { what: format!("{asked} → {said}"), is_own: true, ..Resolution::default() })
}

/// Returns whether a text in lower case without apostrophes begins with a no that denies something of which the question says nothing: "no
/// bells, please" after "shall I draw the till?"
fn denies_other(lower: &str, question: &str) -> bool {
    const GOES_ON: [&str; 12] = ["need", "i", "we", "this", "that", "it", "lets", "its", "thats", "use", "make", "do"];
    let Some(denied) = lower.strip_prefix("no ") else { return false };
    let opens = |words: &[&str]| words.iter().any(|word| text::starts_with_words(denied, word));
    !opens(&GOES_ON) && !opens(NARROWS) && text::features(denied).is_disjoint(&text::features(question))
}

/// Returns the proposal of the agent together with the first sentence of a prompt that refuses it and says more than that, or takes one
/// of the two ways that it leaves: "no, this is fine, the till is too slow for it", "file an issue for it".
pub(super) fn answered(prompt: &str, answer: &str) -> Option<Resolution> {
    if prompt.chars().count() > MAX_ANSWERING_CHARS || human::is_paste(prompt) {
        return None;
    }
    let first = text::first_sentence(prompt)?;
    let said = text::typed_sentences(&first).into_iter().next()?.trim().trim_end_matches(['.', '!']);
    // Behind a dash it goes into detail.
    let is_long = said.chars().count() > MAX_REPLY_CHARS;
    let said = said.split_once(" - ").filter(|_| is_long).map_or(said, |(said, _)| said);
    let lower = said.to_lowercase().replace(['’', '\''], "");
    let is_put_off = puts_off(said);
    let is_of_work = is_put_off || !human::speaks_of_recording(&lower);
    if said.chars().count() > MAX_REPLY_CHARS || said.contains(['?', '？']) || !is_of_work {
        return None;
    }
    let asked = if is_put_off || refuses(&lower) {
        proposed_last(answer)?
    } else {
        let takes = |question: &String| takes_side(said, question) || names_side(said, question);
        question(answer).filter(takes).and_then(|asked| told_with_answer(&asked, answer))?
    };
    Some(Resolution { what: format!("{asked} → {said}"), is_own: true, ..Resolution::default() })
}

/// Returns the question at the end of an answer that proposes something, as it is told. A remark may stand behind it.
fn proposed_last(answer: &str) -> Option<String> {
    let proposes = |said: &str| PROPOSES.iter().any(|words| text::contains_words(&said.to_lowercase(), words));
    if let Some(question) = question(answer) {
        return proposes(&question).then(|| told_with_answer(&question, answer)).flatten();
    }
    let said = text::sentences(text::tail(answer, 1500));
    let at = said.iter().rposition(|it| it.ends_with(['?', '？'])).filter(|at| at + MAX_BEHIND_QUESTION >= said.len())?;
    let says_itself = proposes(&said[at]) && !prose::is_procedure(&said[at]) && names_itself(&said[at]);
    says_itself.then(|| text::clip(&said[at], MAX_QUESTION_CHARS).into_owned())
}

/// Returns whether a sentence puts off what it points to: "let's do it in #91", "leave that for later".
pub(super) fn puts_off(said: &str) -> bool {
    const LATER: [&str; 14] = [
        "later",
        "follow-up",
        "follow up",
        "followup",
        "future",
        "separate pr",
        "separate issue",
        "separate task",
        "separate branch",
        "another pr",
        "next pr",
        "different pr",
        "own pr",
        "some other time",
    ];
    const OPENINGS: [&str; 7] = ["lets", "let us", "we can", "we could", "we should", "leave", "do"];
    const POINTERS: [&str; 6] = [" it ", " this ", " that ", " these ", " those ", " them "];
    const LEADS: [&str; 8] = ["in", "to", "for", "as", "until", "with", "later", "some other time"];
    let lower = said.to_lowercase().replace(['’', '\''], "");
    let bare = human::without_consent(&lower).trim_start_matches([' ', ',']);
    let parts = POINTERS.iter().filter_map(|pointer| bare.split_once(pointer));
    let Some((verb, behind)) = parts.min_by_key(|(verb, _)| verb.len()) else { return false };
    OPENINGS.iter().any(|words| text::starts_with_words(bare, words))
        && verb.split(' ').count() <= MAX_VERB_WORDS
        // "Later, first tell me why" chooses nothing yet.
        && !text::contains_any_words(behind, &["first", "yes", "or"])
        && LEADS.iter().any(|lead| text::starts_with_words(behind, lead))
        && (is_in_number(behind) || text::contains_any_words(behind, &LATER))
}

/// How many words stand at most before what is put off: "let us look at it later".
const MAX_VERB_WORDS: usize = 4;

/// Returns whether a text begins with the number of a pull request or of an issue: "in #91", "in 91". "In 2 files" counts something.
fn is_in_number(said: &str) -> bool {
    let Some(number) = said.strip_prefix("in ") else { return false };
    let bare = number.trim_start_matches('#');
    let rest = bare.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_marked = number.starts_with('#') || !rest.trim_start().starts_with(char::is_alphanumeric);
    rest.len() < bare.len() && is_marked
}

/// Returns the question with which an answer ends, unless it is about the next step or leaves open what comes next.
fn question(answer: &str) -> Option<String> {
    // "What do you think?" asks about the sentence before it.
    let opinion = || text::sentences(text::tail(answer, 1500)).pop().filter(|last| last.ends_with(['?', '？']));
    let question = prose::closing_question(answer).or_else(opinion)?;
    let is_open = text::contains_any_words(&question.to_lowercase(), OPEN_QUESTIONS);
    (!prose::is_procedure(&question) && !is_open).then_some(question)
}

/// Returns the question of an answer as it is told with what the user replies: with the sentence before it if it says little itself.
fn told_with_answer(question: &str, answer: &str) -> Option<String> {
    let asked = text::clip(question, MAX_QUESTION_CHARS).into_owned();
    let room = MAX_QUESTION_CHARS.saturating_sub(asked.chars().count() + 1);
    if prose::closing_question(answer).is_none() {
        return Some(text::clip(&before_question(answer)?, MAX_QUESTION_CHARS).into_owned());
    }
    if names_itself(question) || !is_vague(&strip_question_opening(question)) {
        return Some(asked);
    }
    let before = before_question(answer).filter(|before| !is_hedged(before) && room >= MIN_BEFORE_CHARS)?;
    Some(format!("{} {asked}", text::clip(&before, room)))
}

/// Returns whether a question is long enough, or names something, so that it says itself what it is about.
pub(super) fn names_itself(question: &str) -> bool {
    question.contains('`') || question.chars().count() >= MIN_QUESTION_CHARS
}

/// Returns whether a text in lower case, without apostrophes, begins with a no and says that it is well as it is. Behind another no
/// stands a correction or the next step: "no, it still fails", "no, show me first".
fn refuses(lower: &str) -> bool {
    const NOES: [&str; 3] = ["no", "nah", "nope"];
    const STAYS: [&str; 18] = [
        "fine",
        "enough",
        "okay as",
        "ok as",
        "as is",
        "as it is",
        "too much",
        "too slow",
        "too early",
        "too complex",
        "too complicated",
        "not worth",
        "overkill",
        "unnecessary",
        "not needed",
        "on purpose",
        "intended",
        "out of scope",
    ];
    const GOES_ON: [&str; 8] = ["yes", "please do", "do it", "go ahead", "go on", "continue", "still", "what do"];
    const WIDE_NOES: [&str; 3] = ["아니", "いや", "いいえ"];
    const WIDE_STAYS: [&str; 7] = ["이대로", "그대로", "필요 없", "않아도", "このまま", "今のまま", "必要ない"];
    let is_no = NOES.iter().any(|no| lower.strip_prefix(no).is_some_and(|rest| rest.starts_with([' ', ',', '.', ';', '-'])));
    let is_plain = is_no && text::contains_any_words(lower, &STAYS) && !text::contains_any_words(lower, &GOES_ON);
    is_plain || (WIDE_NOES.iter().any(|no| lower.starts_with(no)) && text::contains_any(lower, &WIDE_STAYS))
}

/// Returns whether somebody takes one of the two ways that a question leaves: what is said begins with a word of one of them, and shares
/// none with the other.
fn takes_side(said: &str, question: &str) -> bool {
    let lower = question.to_lowercase();
    let Some((one, other)) = lower.rsplit_once(" or ").filter(|_| text::contains_any_words(&lower, SCOPES)) else {
        return false;
    };
    let first = text::features(said.split_whitespace().next().unwrap_or_default());
    let words = text::features(said);
    let takes =
        |side: &str, other: &str| !first.is_disjoint(&text::features(side)) && words.is_disjoint(&text::features(other));
    said.split_whitespace().count() >= MIN_REASON_WORDS && (takes(one, other) || takes(other, one))
}

/// Returns whether a short answer names one of two ways in the words of the question: "all twelve" after "five slips, or all twelve of
/// them?"
fn names_side(said: &str, question: &str) -> bool {
    let lower = question.to_lowercase();
    let Some((one, other)) = lower.rsplit_once(" or ") else { return false };
    let said = said.to_lowercase();
    let is_mark = |c: char| !c.is_alphanumeric();
    let words = |text: &str| text.split(is_mark).filter(|word| !word.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let of_side = |side: &str| {
        let side = words(side);
        words(&said).iter().all(|word| side.contains(word))
    };
    let is_one_sided = of_side(one) != of_side(other) && !text::features(&said).is_empty();
    // To do all that is offered is the next step.
    let is_next = text::contains_any_words(&lower, &["want me", "should i", "shall i"])
        && (prose::takes_all(&said) || text::starts_with_words(&said, "all"));
    let is_short = said.split_whitespace().count() <= MAX_SIDE_WORDS && !is_next;
    is_short && is_one_sided && !human::is_consent(&said)
}

/// Returns whether a text in lower case begins as an answer and narrows what it answers.
fn narrows(lower: &str) -> bool {
    OPENINGS.iter().any(|opening| text::starts_with_words(lower, opening))
        && leaves_out(lower)
        && !asks_back(lower)
        && !goes_on(lower)
}

/// Returns whether a text in lower case asks something behind a "but", with or without a question mark: "ok, but what would ring then".
fn asks_back(lower: &str) -> bool {
    const QUESTIONS: [&str; 9] = ["what", "how", "why", "where", "who", "when", "which", "wouldnt", "isnt"];
    let Some((_, asked)) = lower.split_once("but ") else { return false };
    QUESTIONS.iter().any(|word| text::starts_with_words(asked, word))
}

/// Returns whether a text in lower case only has the agent go on: "keep looking".
fn goes_on(lower: &str) -> bool {
    let next = lower.strip_prefix("keep ").and_then(|rest| rest.split(' ').next());
    next.is_some_and(|verb| verb.len() > 5 && verb.trim_end_matches([',', '.']).ends_with("ing"))
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
        for other in [
            "ok but what would we round then",
            "keep rounding, but slowly",
            "no tills or drawers in my opinion, just paper",
            "yes",
            "yes please",
            "yes, but why both?",
            "only commit the carts",
            "add a test for carts",
        ] {
            assert!(resolve_all(other, answer).iter().all(|it| !it.what.contains('→')), "{other}");
        }
        assert!(resolve_all("yes, just do it", "All is green.\n\nShould I commit and push the carts?").is_empty());
    }

    fn told(prompt: &str, answer: &str) -> Option<String> {
        resolve_all(prompt, answer).into_iter().next().map(|it| it.what)
    }

    #[test]
    fn a_proposal_that_is_refused_with_a_reason() {
        let answer = "The night till prints no slip. Do you want me to print a slip for each refund of the night till? \
                      That would need a second roll.";
        let asked = "Do you want me to print a slip for each refund of the night till?";
        assert_eq!(
            told("no, this is fine.\n\nCan you look at the drawer?", answer),
            Some(format!("{asked} → no, this is fine"))
        );
        assert_eq!(told("no", answer), None);
        assert_eq!(told("no, why should we?", answer), None);
        for said in ["아니, 지금은 그대로 두자", "いいえ、今のままでいいです", "no, a second roll is too much"]
        {
            assert_eq!(told(said, answer), Some(format!("{asked} → {said}")));
        }
        for other in [
            "No problem, go ahead with it",
            "no worries, take your time",
            "no idea, it is fine, what do you think",
            "no, show me the diff first",
            "no, it still opens the drawer twice",
            "no, that one too please",
            "いや、それでお願いします、進めてください",
            "아니 그게 아니라 영수증 번호가 틀렸어",
        ] {
            assert_eq!(told(other, answer), None, "{other}");
        }
    }

    #[test]
    fn a_proposal_that_is_put_off() {
        let answer = "Want me to print a slip for each refund of `nightTill`? Then the drawer can stay shut.";
        for said in [
            "let's do it in #12",
            "let's do it in #12 - I want to merge the tills now",
            "let's leave that for a later release",
        ] {
            assert!(told(said, answer).is_some_and(|told| told.ends_with(&format!("`nightTill`? → {said}"))), "{said}");
        }
        for other in [
            "let's do it",
            "we can do it in 1 function",
            "do it in 2 files",
            "do it, I will look at it later",
            "make it so that later slips print too",
            "let's look at it later, first tell me what this is",
        ] {
            assert_eq!(told(other, answer), None, "{other}");
        }
    }

    #[test]
    fn one_of_two_ways_is_named_in_a_few_words() {
        let answer = "The tills ring.\n\nDo you want five slips on a page, or all twelve slips and no page for the total?";
        for said in ["all twelve", "five", "five slips on a page"] {
            assert!(told(said, answer).is_some_and(|told| told.ends_with(&format!("→ {said}"))), "{said}");
        }
        for other in ["slips", "yes", "all five and twelve", "the drawer", "all twelve?"] {
            assert!(!told(other, answer).is_some_and(|told| told.contains('→')), "{other}");
        }
    }

    #[test]
    fn one_side_of_a_question_is_taken() {
        let answer = "The slip is long.\n\nWant me to shorten the slip in this release, or file an issue for it?";
        assert!(told("file an issue, low priority", answer).unwrap().ends_with("for it? → file an issue, low priority"));
        for other in [
            "which issue is that?",
            "the drawer is open again",
            "I don't like this release",
            "shorten the slip or file an issue, as you like",
        ] {
            assert_eq!(told(other, answer), None, "{other}");
        }
    }
}
