//! A question shortened to what it asks.

use super::Question;
use crate::extract::human;
use crate::text;

/// The length of a question and its answer from which the question is shortened, in characters.
pub(super) const MAX_DECISION_CHARS: usize = 290;

/// The maximum length of a question that is shortened, in characters.
const MAX_QUESTION_CHARS: usize = 170;

/// The length below which a question needs its subject, in characters.
const MIN_QUESTION_CHARS: usize = 28;

impl Question {
    /// Returns the question, shortened to what it asks if it would leave no room for its answer on one line: without what leads
    /// to it, and with its subject if it only points there.
    pub(in crate::extract) fn short_text(&self) -> String {
        let length = |text: &str| text.chars().count();
        if length(&self.text) <= MAX_QUESTION_CHARS && length(&self.text) + length(&self.answer) <= MAX_DECISION_CHARS {
            return self.text.clone();
        }
        let sentences = text::sentences(&self.text);
        let at = sentences.iter().rposition(|sentence| sentence.ends_with(['?', '？']));
        let asks = at.map_or(self.text.as_str(), |at| sentences[at].as_str());
        let core = if length(asks) > MAX_QUESTION_CHARS { without_asides(asks) } else { asks.to_owned() };
        let core = if length(&core) > MAX_QUESTION_CHARS { last_clause(&core).to_owned() } else { core };
        let is_vague = sentences.len() > 1 && (length(&core) < MIN_QUESTION_CHARS || human::has_pointer(&core));
        let before = at.and_then(|at| at.checked_sub(1)).map(|at| &sentences[at]);
        let core = match before.filter(|before| length(before) + length(&core) < MAX_QUESTION_CHARS) {
            Some(before) if is_vague => format!("{before} {core}"),
            _ if is_vague && !self.header.is_empty() => format!("{}: {core}", self.header),
            _ => core,
        };
        text::clip(&core, MAX_QUESTION_CHARS).into_owned()
    }
}

/// Returns a sentence without what stands in brackets, as far as that is closed.
fn without_asides(sentence: &str) -> String {
    let mut rest = sentence;
    let mut bare = String::new();
    while let Some((before, after)) = rest.split_once(" (")
        && let Some((_, next)) = after.split_once(')')
    {
        bare.push_str(before);
        rest = next;
    }
    bare.push_str(rest);
    bare
}

/// Returns the last clause of a long question, if it asks by itself: what stands before a colon or a dash leads to it.
fn last_clause(question: &str) -> &str {
    let end = [": ", " — ", " – ", "; "].iter().filter_map(|mark| question.rfind(mark).map(|at| at + mark.len())).max();
    let clause = &question[end.unwrap_or(0)..];
    let lower = clause.to_lowercase();
    let begins = clause.starts_with(|c: char| c.is_uppercase() || !c.is_ascii())
        || ASKING.iter().any(|word| text::starts_with_words(&lower, word));
    let is_whole = clause.ends_with(['?', '？']) && clause.chars().count() >= MIN_QUESTION_CHARS;
    if begins && is_whole { clause } else { question }
}

/// Words with which a clause begins that asks.
const ASKING: &[&str] = &[
    "what", "which", "how", "should", "where", "do you", "does", "is", "are", "can", "when", "who", "shall", "want", "would",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_question_is_shortened_to_what_it_asks() {
        let mut question = Question {
            text:
                "The cart rounds each line, which loses cents, and the invoice rounds the sum, so both differ, and neither the \
                   till of the day nor that of the night knows which of them the bank takes in the end. Where should it live?"
                    .to_owned(),
            header: "Rounding".to_owned(),
            answer: "In the invoice".to_owned(),
            ..Question::default()
        };
        assert_eq!(question.short_text(), "Rounding: Where should it live?");
        question.text = format!("{} Both lose cents. Where should it live?", "The cart rounds each line of it. ".repeat(6));
        assert_eq!(question.short_text(), "Both lose cents. Where should it live?");
        question.text = "Where should the totals be rounded?".to_owned();
        assert_eq!(question.short_text(), "Where should the totals be rounded?");
        assert_eq!(without_asides("Which store (a or b) is it (see c)?"), "Which store is it?");
    }
}
