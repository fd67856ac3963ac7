//! Multiple-choice questions that the agent asked the user, and the options that were chosen and rejected.

mod decision;
mod reading;
mod short;

use serde::{Deserialize, Serialize};

pub(super) use self::reading::{annotate, answer, answer_from_text, read, strip_recommendation};
use crate::text;

/// How many tenths of their words two questions must share to ask the same, and how many words at least.
const SAME_QUESTION: usize = 6;
const MIN_SAME_WORDS: usize = 3;

/// The minimum length of a word that says which option was meant, in characters.
const MIN_OPTION_WORD_CHARS: usize = 5;

/// One option of a question.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Choice {
    /// The name of the option.
    pub label: String,
    /// The explanation of the option.
    pub description: String,
}

/// One question.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Question {
    /// The whole question.
    pub text: String,
    /// The subject in a word or two.
    pub header: String,
    /// The available options.
    pub options: Vec<Choice>,
    /// The user's answer. Empty while the question is open.
    pub answer: String,
    /// What the user wrote beside the option that was chosen. May be empty.
    #[serde(default)]
    pub beside: String,
    /// Whether a server passed the question on, so that only its word says what the user answered.
    #[serde(default)]
    pub is_of_server: bool,
}

impl Question {
    /// Returns the options that were chosen. Empty if the user answered otherwise.
    pub(in crate::extract) fn chosen(&self) -> Vec<&Choice> {
        let exact: Vec<&Choice> = self.options.iter().filter(|option| option.label == self.answer).collect();
        if !exact.is_empty() {
            return exact;
        }
        // Multiple choices are joined by commas, and a label may contain a comma itself.
        self.options
            .iter()
            .filter(|option| format!(", {}, ", self.answer).contains(&format!(", {}, ", option.label)))
            .collect()
    }

    /// Returns the options that were not chosen.
    pub(in crate::extract) fn rejected(&self) -> Vec<String> {
        let chosen = self.chosen();
        self.options.iter().filter(|option| !chosen.contains(option)).map(|option| option.label.clone()).collect()
    }

    /// Returns whether the user chose otherwise since: a later question was answered against the option that was chosen here.
    pub(in crate::extract) fn replaces(&self, earlier: &str) -> bool {
        let chosen: Vec<String> = earlier
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| word.chars().count() >= MIN_OPTION_WORD_CHARS)
            .map(str::to_lowercase)
            .collect();
        let takes_back = |rejected: &String| {
            let lower = rejected.to_lowercase();
            chosen.iter().all(|word| text::contains_words(&lower, word))
        };
        !chosen.is_empty() && !self.chosen().is_empty() && self.rejected().iter().any(takes_back)
    }

    /// Returns whether this question was asked before, as `earlier` and about that subject: then its answer holds now.
    pub(in crate::extract) fn asks_again(&self, earlier: &str, subject: Option<&String>) -> bool {
        let is_same = subject.is_some_and(|subject| !subject.is_empty() && *subject == self.header);
        let (own, other) = (text::features(&self.short_text()), text::features(earlier));
        let shared = own.iter().filter(|word| other.contains(word)).count();
        is_same && shared >= MIN_SAME_WORDS && shared * 10 >= own.len().max(other.len()) * SAME_QUESTION
    }
}

#[cfg(test)]
mod tests {
    use super::reading::tests::asked;
    use super::*;

    #[test]
    fn a_later_answer_replaces_a_choice() {
        let mut later = asked().remove(0);
        later.options[0].label = "Delete all carts anyway".to_owned();
        later.answer = "Postgres, remote".to_owned();
        assert!(later.replaces("Yes, delete the carts"), "the option was turned down now");
        assert!(!later.replaces("Yes, print the slips") && !later.replaces("Yes"));
        later.answer = "Delete all carts anyway".to_owned();
        assert!(!later.replaces("Yes, delete the carts"));
    }

    #[test]
    fn a_question_that_is_asked_again() {
        let (text, header) = ("カートの保存先はどうしますか？".to_owned(), "保存先".to_owned());
        let question = Question { text, header, ..Question::default() };
        assert!(question.asks_again("カートの保存先はどこにしますか？", Some(&question.header)));
        assert!(!question.asks_again("カートの表示はどうしますか？", Some(&"表示".to_owned())));
        let other = Question {
            text: "Which database for sessions?".to_owned(),
            header: "Database".to_owned(),
            ..Question::default()
        };
        assert!(!other.asks_again("Which database for orders?", Some(&other.header)));
        assert!(!question.asks_again("スリップは印刷しますか？", Some(&question.header)));
        let taken = |answer: &str| Question { answer: answer.to_owned(), ..question.clone() }.says_little();
        assert!(taken("両方") && taken("Both") && !taken("両方とも消す"));
        let asked = Question { text: "Would you like me to draw the till?".to_owned(), ..question.clone() };
        assert!(Question { answer: "Yes".to_owned(), ..asked }.says_little());
    }
}
