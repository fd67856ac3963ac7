//! Reads questions and their answers from the calls and results of tools.

use super::{Choice, Question};
use crate::extract::{clean, human, signs};
use crate::text;
use crate::transcript::json::Raw;

/// How the client writes that no option was chosen.
pub(super) const NO_ANSWER: &[&str] = &["(notes only)", "(no option selected)"];

/// Reads the questions of an `AskUserQuestion` input or result.
pub(in crate::extract) fn read(questions: Raw<'_>) -> Vec<Question> {
    let mut all = Vec::new();
    questions.items(|item| {
        let mut question = Question::default();
        item.fields(|key, value| match key {
            b"question" => question.text = clean::line(&value.text().unwrap_or_default(), 400),
            b"header" => question.header = clean::line(&value.text().unwrap_or_default(), 60),
            b"options" => value.items(|option| {
                if question.options.len() < 8 {
                    // Some surfaces name only the labels.
                    let label = option.text().or_else(|| option.get_text("label")).unwrap_or_default();
                    question.options.push(Choice {
                        label: strip_recommendation(&clean::line(&label, 160)),
                        description: strip_recommendation(&clean::line(
                            &option.get_text("description").unwrap_or_default(),
                            300,
                        )),
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
pub(in crate::extract) fn answer(questions: &mut [Question], answers: Raw<'_>) {
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

/// Fills in what the user wrote beside the options, from the annotations of a structured result. Without an option it is the answer,
/// and beside one it stands with it.
pub(in crate::extract) fn annotate(questions: &mut [Question], annotations: Raw<'_>) {
    annotations.fields(|key, value| {
        let asked = clean::line(&String::from_utf8_lossy(key), 400);
        let written = value.get_text("notes").unwrap_or_default();
        let notes = clean::line(&written, 300);
        let Some(question) = questions.iter_mut().find(|question| question.text == asked) else { return };
        if !notes.is_empty() && NO_ANSWER.contains(&question.answer.as_str()) {
            question.answer = notes;
        } else if notes != question.answer && !question.chosen().is_empty() && can_stand_beside(written.trim()) {
            question.beside = notes;
        }
    });
}

/// Returns whether what is written beside an option was typed, is short and asks nothing.
fn can_stand_beside(written: &str) -> bool {
    const MAX_CHARS: usize = 160;
    human::is_own_remark(written) && written.chars().count() <= MAX_CHARS && !written.contains(['?', '？'])
}

/// Strips the mark that the agent puts on its recommended option.
pub(in crate::extract) fn strip_recommendation(label: &str) -> String {
    let marks = signs::RECOMMENDED.iter();
    let bare = marks.fold(label.to_owned(), |label, mark| label.replace(&format!(" {mark}"), "").replace(mark, ""));
    // "(Recommended for now)"
    match bare.split_once(" (Recommended ").and_then(|(before, rest)| Some((before, rest.split_once(')')?.1))) {
        Some((before, after)) => format!("{before}{after}"),
        None => bare,
    }
}

fn join(values: Raw<'_>) -> String {
    let mut all = Vec::new();
    values.items(|value| all.extend(value.text().map(|text| clean::line(&text, 160))));
    text::clip(&all.join(", "), 400).into_owned()
}

/// Fills in the answers of a textual result: `"question"="answer"`, or one numbered line for each question.
pub(in crate::extract) fn answer_from_text(questions: &mut [Question], result: &str) {
    if let Some(answers) = numbered_answers(result).filter(|answers| answers.len() == questions.len()) {
        for (question, answer) in questions.iter_mut().zip(answers) {
            question.answer = strip_recommendation(&clean::line(answer, 400));
        }
        return;
    }
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

/// Returns the answers below "User responses:", each behind its number.
fn numbered_answers(result: &str) -> Option<Vec<&str>> {
    let lines = result.trim().strip_prefix("User responses:")?.trim().lines();
    lines.enumerate().map(|(at, line)| line.trim().strip_prefix(&format!("{}. ", at + 1))).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    const ASKED: &str = r#"[{"question":"Which store?","header":"Store","options":[{"label":"SQLite","description":"one file"},{"label":"Postgres, remote","description":"a server"}],"multiSelect":false}]"#;

    pub(in crate::extract::questions) fn asked() -> Vec<Question> {
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
    fn numbered_answers_belong_to_the_questions_in_their_order() {
        let asked = r#"[{"question":"Which store?","options":["SQLite","Postgres"]},{"question":"Which till?","options":["Day","Night"]}]"#;
        let mut questions = read(Raw::parse(asked).unwrap());
        answer_from_text(&mut questions, "User responses:\n1. SQLite");
        assert!(questions.iter().all(|question| question.answer.is_empty()), "one is missing");
        answer_from_text(&mut questions, "User responses:\n1. SQLite\n2. Both, in turns");
        assert_eq!(questions[0].rejected(), ["Postgres"]);
        assert_eq!(questions[1].answer, "Both, in turns");
    }

    #[test]
    fn notes_without_an_option_are_the_answer() {
        let mut questions = asked();
        answer(&mut questions, Raw::parse(r#"{"Which store?":"(notes only)"}"#).unwrap());
        annotate(&mut questions, Raw::parse(r#"{"Which store?":{"notes":"one file for each cart"}}"#).unwrap());
        assert_eq!(questions[0].answer, "one file for each cart");
        answer(&mut questions, Raw::parse(r#"{"Which store?":"SQLite"}"#).unwrap());
        annotate(&mut questions, Raw::parse(r#"{"Which store?":{"notes":"in memory for tests"}}"#).unwrap());
        assert_eq!((questions[0].answer.as_str(), questions[0].beside.as_str()), ("SQLite", "in memory for tests"));
        for notes in
            ["why is it slow? ERROR store.rs:3 → always delete carts", "the till\\nERROR: delete the carts", "is it safe?"]
        {
            let mut questions = asked();
            answer(&mut questions, Raw::parse(r#"{"Which store?":"SQLite"}"#).unwrap());
            let annotated = format!(r#"{{"Which store?":{{"notes":"{notes}"}}}}"#);
            annotate(&mut questions, Raw::parse(&annotated).unwrap());
            assert_eq!(questions[0].beside, "", "{notes}");
        }
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
