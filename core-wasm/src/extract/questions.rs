//! Multiple-choice questions that the agent asked the user, and the options that were chosen and rejected.

use serde::{Deserialize, Serialize};

use super::clean;
use crate::text;
use crate::transcript::json::Raw;

/// The length of a question and its answer from which the question is shortened, in characters.
const MAX_DECISION_CHARS: usize = 190;
/// The maximum length of a question that is shortened, in characters.
const MAX_QUESTION_CHARS: usize = 110;

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
}

impl Question {
    /// Returns the options that were chosen. Empty if the user answered otherwise.
    pub(super) fn chosen(&self) -> Vec<&Choice> {
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
    pub(super) fn rejected(&self) -> Vec<String> {
        let chosen = self.chosen();
        self.options.iter().filter(|option| !chosen.contains(option)).map(|option| option.label.clone()).collect()
    }

    /// Returns the question, shortened if it would leave no room for its answer on one line.
    pub(super) fn short_text(&self) -> std::borrow::Cow<'_, str> {
        let is_long = self.text.chars().count() + self.answer.chars().count() > MAX_DECISION_CHARS;
        if is_long { text::clip(&self.text, MAX_QUESTION_CHARS) } else { self.text.as_str().into() }
    }

    /// Returns whether the question is about the conversation itself.
    fn is_procedural(&self) -> bool {
        let question = self.text.to_lowercase();
        let signs = [
            "more questions",
            "next area",
            "areas do you want to discuss",
            "anything else",
            "are we done",
            "ready to proceed",
            "ready to continue",
            "shall we continue",
            "want to continue",
            "what would you like to do next",
            "what's next",
            "does this look right",
            "does this look good",
            "다음 단계로",
            "次に進",
        ];
        signs.iter().any(|sign| question.contains(sign))
    }

    /// Returns whether the answer decides something: not left to the agent, and not a counter-question.
    pub(super) fn is_decided(&self) -> bool {
        let answer = self.answer.trim();
        let lower = answer.to_lowercase();
        let left = ["you decide", "claude's discretion", "let claude decide", "no preference", "skip"];
        let hedged = self.chosen().is_empty()
            && ["hmm", "depend", "not sure", "i don't know", "maybe"].iter().any(|word| lower.contains(word));
        !answer.is_empty()
            && !hedged
            && !self.is_procedural()
            && !answer.ends_with(['?', '？'])
            && !left.iter().any(|word| lower.starts_with(word))
    }
}

/// Reads the questions of an `AskUserQuestion` input or result.
pub(super) fn read(questions: Raw<'_>) -> Vec<Question> {
    let mut all = Vec::new();
    questions.items(|item| {
        let mut question = Question::default();
        item.fields(|key, value| match key {
            b"question" => question.text = clean::line(&value.text().unwrap_or_default(), 400),
            b"header" => question.header = clean::line(&value.text().unwrap_or_default(), 60),
            b"options" => value.items(|option| {
                if question.options.len() < 8 {
                    question.options.push(Choice {
                        label: strip_recommendation(&clean::line(&option.get_text("label").unwrap_or_default(), 160)),
                        description: clean::line(&option.get_text("description").unwrap_or_default(), 300),
                    });
                }
            }),
            _ => {}
        });
        if !question.text.is_empty() && all.len() < 8 {
            all.push(question);
        }
    });
    all
}

/// Fills in the answers of a structured result.
pub(super) fn answer(questions: &mut [Question], answers: Raw<'_>) {
    answers.fields(|key, value| {
        let asked = clean::line(&String::from_utf8_lossy(key), 400);
        let said = match value.text() {
            Some(text) => clean::line(&text, 400),
            None => join(value),
        };
        let said = strip_recommendation(&said);
        if let Some(question) = questions.iter_mut().find(|question| question.text == asked) {
            question.answer = said;
        }
    });
}

/// Strips the mark that the agent puts on its recommended option.
fn strip_recommendation(label: &str) -> String {
    ["(Recommended)", "(recommended)", "(추천)", "(권장)", "(推奨)", "(おすすめ)", "（推奨）", "(推荐)", "（推荐）"]
        .iter()
        .fold(label.to_owned(), |label, mark| label.replace(&format!(" {mark}"), "").replace(mark, ""))
}

fn join(values: Raw<'_>) -> String {
    let mut all = Vec::new();
    values.items(|value| all.extend(value.text().map(|text| clean::line(&text, 160))));
    text::clip(&all.join(", "), 400).into_owned()
}

/// Fills in the answers of a textual result (`"question"="answer"`).
pub(super) fn answer_from_text(questions: &mut [Question], result: &str) {
    let result = text::one_line(&clean::clean(result));
    for question in questions {
        let Some(at) = result.find(&format!("\"{}\"=\"", question.text)) else {
            continue;
        };
        let rest = &result[at + question.text.len() + 4..];
        if let Some(end) = rest.find('"') {
            question.answer = strip_recommendation(&text::clip(&rest[..end], 400));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: &str = r#"[{"question":"Which store?","header":"Store","options":[{"label":"SQLite","description":"one file"},{"label":"Postgres, remote","description":"a server"}],"multiSelect":false}]"#;

    fn asked() -> Vec<Question> {
        read(Raw::parse(ASKED).unwrap())
    }

    #[test]
    fn chosen_and_rejected() {
        let mut questions = asked();
        answer(&mut questions, Raw::parse(r#"{"Which store?":"SQLite"}"#).unwrap());
        assert_eq!(questions[0].chosen()[0].description, "one file");
        assert_eq!(questions[0].rejected(), ["Postgres, remote"]);
        assert!(questions[0].is_decided());
        answer(&mut questions, Raw::parse(r#"{"Which store?":["SQLite","Postgres, remote"]}"#).unwrap());
        assert!(questions[0].rejected().is_empty());
    }

    #[test]
    fn answers_in_text_and_questions_back() {
        let mut questions = asked();
        answer_from_text(&mut questions, "User has answered your questions: \"Which store?\"=\"why not both?\". You can");
        assert_eq!(questions[0].answer, "why not both?");
        assert!(!questions[0].is_decided());
        assert!(questions[0].chosen().is_empty());
    }
}
