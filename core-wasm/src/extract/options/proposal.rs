//! What the agent proposed at the end of an answer, without options.

use super::resolution::Resolution;
use super::subject::has_pointer;
use crate::extract::prose;
use crate::text;

/// Returns what the agent proposed at the end of an answer.
pub(super) fn proposal(prompt: &str, answer: &str) -> Option<Resolution> {
    let question = prose::closing_question(answer)?;
    let bare = strip_question_opening(&question);
    let summary = summed_up(answer);
    let is_weighed = summary.is_some() && is_vague(&bare);
    let before = summary.or_else(|| before_question(answer));
    // A fact about "it" says less than what is to be done with a thing that the question names.
    let leans = |before: &String| prose::is_pointer(&before.to_lowercase()) && bare.contains('`');
    let vague = is_vague(&bare) && !before.as_ref().is_some_and(leans);
    let what = match before {
        Some(before) if vague && !is_hedged(&before) => before,
        _ if vague => return None,
        // Other languages put the verb of asking into the sentence, so question and answer are stored together.
        _ if !bare.is_ascii() && bare == question.trim_end_matches(['?', '？', ' ']) => {
            format!("{question} → {}", text::clip(prompt, 60))
        }
        _ => bare,
    };
    Some(Resolution { what: text::clip(&what, 240).into_owned(), is_weighed, ..Resolution::default() })
}

/// Returns the paragraph before the closing question of an answer if it sums up what was weighed before it.
fn summed_up(answer: &str) -> Option<String> {
    const OPENINGS: [&str; 11] = [
        "まとめると",
        "結論",
        "つまり",
        "要するに",
        "정리하면",
        "요약하면",
        "결론",
        "to sum up",
        "in short",
        "总结",
        "总之",
    ];
    let mut paragraphs = answer.trim().rsplit("\n\n").map(str::trim);
    paragraphs.next().filter(|last| text::sentences(last).len() == 1)?;
    let paragraph = paragraphs.next().map(text::one_line)?;
    let lower = paragraph.to_lowercase();
    let opening = OPENINGS.iter().find(|opening| lower.starts_with(**opening))?;
    let said = text::sentences(paragraph.get(opening.len()..)?).join(" ");
    Some(said.trim_start_matches(['、', ',', '，', ':', '：', ' ']).to_owned())
}

/// Returns the sentence to which the closing question of an answer refers.
pub(super) fn before_question(answer: &str) -> Option<String> {
    let before = text::sentences(answer);
    before
        .iter()
        .rev()
        .skip(1)
        .find(|sentence| !prose::is_narration(sentence) && !sentence.ends_with(['?', '？']) && !is_aside(sentence))
        .map(|sentence| sentence.trim_end_matches([':', '：']).to_owned())
}

/// Returns a question as it is told alone: in Korean, Japanese and Chinese with the sentence before it if it has no object itself. In
/// English that sentence is mostly the end of a list.
pub(in crate::extract) fn told_question(question: &str, answer: &str) -> String {
    let is_alone = question.is_ascii() || question.contains('`') || !is_vague(&strip_question_opening(question));
    let fits = |before: &String| before.chars().count() <= MAX_BEFORE_QUESTION && !is_hedged(before);
    let before = if is_alone { None } else { before_question(answer).filter(fits) };
    before.map_or_else(|| question.to_owned(), |before| format!("{before} {question}"))
}

/// The maximum length of the sentence that is told before a question, in characters.
const MAX_BEFORE_QUESTION: usize = 160;

/// Returns whether a question without its opening has no object ("fix it", "수정할까요"), so that it refers to the sentence before it.
pub(super) fn is_vague(bare: &str) -> bool {
    bare.chars().count() < if bare.is_ascii() { 40 } else { 14 } || has_pointer(bare)
}

/// Returns whether the sentence is a second thought next to the proposal.
fn is_aside(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    ["or ", "alternatively", "optionally", "또는", "혹은", "あるいは", "または", "或者"]
        .iter()
        .any(|opening| lower.starts_with(opening))
        || sentence.chars().count() < if sentence.is_ascii() { 24 } else { 10 }
}

pub(super) fn is_hedged(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    text::contains_any(&lower, &["may need", "might", "maybe", "try again", "not sure"])
}

/// Strips the opening of a question: "Would you like me to add tests?" becomes "add tests".
pub(super) fn strip_question_opening(question: &str) -> String {
    let trimmed = question.trim_end_matches(['?', '？', ' ']);
    let lower = trimmed.to_lowercase();
    for opening in [
        "would you like me to ",
        "do you want me to ",
        "want me to ",
        "should i ",
        "shall i ",
        "may i ",
        "can i ",
        "would you like to ",
        "should we ",
        "shall we ",
    ] {
        if let Some(at) = lower.rfind(opening)
            && lower.len() == trimmed.len()
        {
            return trimmed[at + opening.len()..].to_owned();
        }
    }
    trimmed.to_owned()
}
