//! Multiple-choice questions that the agent asked the user, and the options that were chosen and rejected.

use serde::{Deserialize, Serialize};

use super::clean;
use super::human;
use super::prose;
use super::signs;
use super::statement::{self, Form, Statement, Voice};
use crate::text;
use crate::transcript::json::Raw;

/// The length of a question and its answer from which the question is shortened, in characters.
const MAX_DECISION_CHARS: usize = 290;
/// The maximum length of a question that is shortened, in characters.
const MAX_QUESTION_CHARS: usize = 170;
/// The length below which a question needs its subject, in characters.
const MIN_QUESTION_CHARS: usize = 28;
/// The maximum length of an answer that only says where to look, in characters.
const MAX_LOOK_CHARS: usize = 60;
/// The same in scripts that say more in a character.
const MAX_WIDE_LOOK_CHARS: usize = 24;
/// How many tenths of their words two questions must share to ask the same, and how many words at least.
const SAME_QUESTION: usize = 6;
const MIN_SAME_WORDS: usize = 3;
/// The minimum length of what remains of an answer without its questions, in characters.
const MIN_STATED_CHARS: usize = 20;
/// The minimum length of a word that says which option was meant, in characters.
const MIN_OPTION_WORD_CHARS: usize = 5;
/// The maximum length of an option that only approves, or asks for a change without saying which, in characters.
const MAX_APPROVAL_CHARS: usize = 24;
/// The same, in words.
const MAX_APPROVAL_WORDS: usize = 3;
/// How the client writes that no option was chosen.
const NO_ANSWER: &[&str] = &["(notes only)", "(no option selected)"];

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

/// The length from which an answer in the user's own words says by itself what it is about, in characters.
const MIN_ALONE_CHARS: usize = 60;

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

    /// Returns the question, shortened to what it asks if it would leave no room for its answer on one line: without what leads
    /// to it, and with its subject if it only points there.
    pub(super) fn short_text(&self) -> String {
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

    /// Returns whether the user says something of their own in the place of whether to go on: then the question says nothing of it.
    pub(super) fn is_left_for_own_words(&self) -> bool {
        let is_next = prose::asks_to_go_on(&self.text) || self.text.to_lowercase().starts_with("ready ");
        is_next && self.chosen().is_empty() && self.answer.chars().count() >= MIN_ALONE_CHARS
    }

    /// Returns whether an answer in the user's own words only says where to look, asks back, or explains a misunderstanding.
    fn answers_elsewhere(&self) -> bool {
        const LOOKS: &[&str] = &["check", "look", "see", "read", "refer", "ask", "search", "find", "tell me", "explain"];
        const THINKS: &[&str] = &["i thought", "i assumed", "i don't understand", "what do you mean"];
        const WIDE_LOOKS: &[&str] =
            &["調べて", "調査して", "確認して", "찾아봐", "찾아줘", "알아봐", "조사해", "확인해", "查一下"];
        let lower = self.answer.trim().to_lowercase().replace('’', "'");
        let starts = |words: &[&str]| words.iter().any(|word| text::starts_with_words(&lower, word));
        let is_short = lower.chars().count() <= MAX_WIDE_LOOK_CHARS;
        self.chosen().is_empty()
            && (self.answer.contains(['?', '？'])
                || (is_short && text::contains_any(&lower, WIDE_LOOKS))
                || (starts(LOOKS) && lower.chars().count() <= MAX_LOOK_CHARS)
                || starts(THINKS)
                || lower.contains("tell me why")
                || NO_ANSWER.contains(&lower.as_str()))
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
            "what would you like to do with",
            "what would you like to do?",
            "what's next",
            "does this look right",
            "does this look good",
            "be committed?",
            "force-push",
            "force push",
            "write the plan",
            "計画で問題ない",
            "計画で問題ありません",
            "계획 괜찮나요",
            "계획 괜찮을까요",
            "which pr would",
            "which pr should",
            "다음 단계로",
            "次に進",
        ];
        signs.iter().any(|sign| question.contains(sign)) || self.approves()
    }

    /// Returns whether the user only approved of what was shown: the other options were to change it.
    fn approves(&self) -> bool {
        const CHANGES: &[&str] = &[
            "change",
            "changes",
            "needs changes",
            "make changes",
            "modify",
            "revise",
            "adjust",
            "edit",
            "修正",
            "変更",
            "調整",
            "수정",
            "변경",
            "조정",
            "修改",
            "调整",
        ];
        const APPROVALS: &[&str] = &[
            "yes",
            "ok",
            "okay",
            "looks good",
            "approve",
            "proceed",
            "go ahead",
            "continue",
            "no changes",
            "問題な",
            "このまま",
            "はい",
            "承認",
            "네",
            "이대로",
            "그대로",
            "진행",
            "승인",
            "문제없",
            "문제 없",
            "好",
            "继续",
            "批准",
        ];
        let opens = |label: &str, words: &[&str]| {
            let lower = label.trim().to_lowercase();
            words.iter().any(|word| text::starts_with_words(&lower, word) || (!word.is_ascii() && lower.starts_with(word)))
        };
        let (chosen, rejected) = (self.chosen(), self.rejected());
        let is_short = |label: &str| {
            label.chars().count() <= MAX_APPROVAL_CHARS && label.split_whitespace().count() <= MAX_APPROVAL_WORDS
        };
        !rejected.is_empty()
            && chosen.iter().all(|option| opens(&option.label, APPROVALS) && is_short(&option.label))
            && !chosen.is_empty()
            && rejected.iter().all(|label| opens(label, CHANGES) && is_short(label))
    }

    /// Returns the question with an answer in the user's own words without what that asks back, if it says something else, too.
    pub(super) fn stated(&self) -> Question {
        let sentences = text::sentences(&self.answer);
        let stated: Vec<&str> = sentences.iter().filter(|said| !said.ends_with(['?', '？'])).map(String::as_str).collect();
        let stated = stated.join(" ");
        let is_own = self.chosen().is_empty() && stated.chars().count() >= MIN_STATED_CHARS;
        if is_own { Question { answer: stated, ..self.clone() } } else { self.clone() }
    }

    /// Returns whether the user chose otherwise since: a later question was answered against the option that was chosen here.
    pub(super) fn replaces(&self, earlier: &str) -> bool {
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

    /// Returns whether the answer only leaves the choice to the agent.
    pub(super) fn is_left_to_agent(&self) -> bool {
        prose::leaves_to_agent(&self.answer, self.chosen().is_empty())
    }

    /// Returns the question with what the agent settled in an answer's place: the statement that names one option alone, or begins with
    /// the question's subject.
    pub(super) fn settled_in(&self, said: &str) -> Option<Question> {
        const MIN_LABEL_CHARS: usize = 5;
        // What says that something is settled, and not only named.
        const SETTLES: [&str; 15] = [
            "i'll go with",
            "i'll use",
            "i will use",
            "going with",
            "let's use",
            "使います",
            "使う",
            "にします",
            "で進め",
            "を採用",
            "로 하겠",
            "사용하겠",
            "쓰겠",
            "로 진행",
            "采用",
        ];
        let labels = self.options.iter().map(|option| option.label.split(" (").next().unwrap_or_default().to_lowercase());
        let labels: Vec<String> = labels.filter(|label| label.chars().count() >= MIN_LABEL_CHARS).collect();
        let subject = self.header.to_lowercase();
        let settles = |statement: &Statement| {
            let lower = statement.text.to_lowercase();
            let named = labels.iter().filter(|label| text::contains_words(&lower, label)).count();
            let is_led =
                !subject.is_empty() && lower.strip_prefix(&subject).is_some_and(|rest| rest.starts_with([':', '：']));
            let settles = text::contains_any(&lower, &SETTLES);
            ((named == 1 && settles) || is_led)
                && !statement::is_question(&statement.text)
                && statement.form != Form::Heading
        };
        let found = statement::statements(said, Voice::Answer).into_iter().find(settles)?;
        let is_short = found.text.chars().count() <= MAX_DECISION_CHARS;
        is_short.then(|| Question { answer: found.text, options: Vec::new(), ..self.clone() })
    }

    /// Returns whether this question was asked before, as `earlier` and about that subject: then its answer holds now.
    pub(super) fn asks_again(&self, earlier: &str, subject: Option<&String>) -> bool {
        let is_same = subject.is_some_and(|subject| !subject.is_empty() && *subject == self.header);
        let (own, other) = (text::features(&self.short_text()), text::features(earlier));
        let shared = own.iter().filter(|word| other.contains(word)).count();
        is_same && shared >= MIN_SAME_WORDS && shared * 10 >= own.len().max(other.len()) * SAME_QUESTION
    }

    /// Returns whether the answer says less than others: it takes all or the usual, or agrees to how the agent goes on.
    pub(super) fn says_little(&self) -> bool {
        prose::chooses_nothing(&self.answer) || prose::asks_to_go_on(&self.text)
    }

    /// Returns whether the answer skips something once, which rules nothing the next time.
    fn is_for_once(&self) -> bool {
        const SKIPS: [&str; 5] = ["skip", "bypass", "スキップ", "건너", "跳过"];
        const ONCE: [&str; 10] = [
            "this commit only",
            "only this commit",
            "only for this commit",
            "just this once",
            "just this time",
            "this time only",
            "このコミットだけ",
            "今回だけ",
            "이번만",
            "仅这次",
        ];
        let lower = self.answer.to_lowercase();
        let chosen = self.chosen();
        let explained = chosen.iter().map(|option| option.description.to_lowercase());
        text::contains_any(&lower, &SKIPS) && explained.chain([lower.clone()]).any(|said| text::contains_any(&said, &ONCE))
    }

    /// Returns whether the answer decides something: not left to the agent, and not a counter-question.
    pub(super) fn is_decided(&self) -> bool {
        let answer = self.answer.trim();
        let lower = answer.to_lowercase();
        // What the user puts off, or tries once more.
        let puts_off = ["skip", "retry", "try again", "let me pick"];
        // What depends on something is left open. Dependencies are none of that.
        let doubts = ["depend", "depends", "depending", "not sure", "i don't know", "maybe"];
        let is_doubt = lower.contains("hmm") || text::contains_any_words(&lower, &doubts);
        let hedged = self.chosen().is_empty() && is_doubt;
        !answer.is_empty()
            && !hedged
            && !self.is_left_to_agent()
            && !self.is_procedural()
            && !self.is_for_once()
            && !is_log_of_commits(answer)
            && !answer.ends_with(['?', '？'])
            && !self.answers_elsewhere()
            && !puts_off.iter().any(|word| lower.starts_with(word))
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

/// Fills in what the user wrote beside the options, from the annotations of a structured result. Without an option it is the answer,
/// and beside one it stands with it.
pub(super) fn annotate(questions: &mut [Question], annotations: Raw<'_>) {
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

/// Returns whether an answer is what git prints of commits, which decides nothing.
fn is_log_of_commits(answer: &str) -> bool {
    let is_name = |word: &str| word.len() == 40 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    answer.contains("commit ") && answer.contains("Author: ") && answer.split_whitespace().any(is_name)
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

/// Strips the mark that the agent puts on its recommended option.
pub(super) fn strip_recommendation(label: &str) -> String {
    let marks = signs::RECOMMENDED.iter();
    marks.fold(label.to_owned(), |label, mark| label.replace(&format!(" {mark}"), "").replace(mark, ""))
}

fn join(values: Raw<'_>) -> String {
    let mut all = Vec::new();
    values.items(|value| all.extend(value.text().map(|text| clean::line(&text, 160))));
    text::clip(&all.join(", "), 400).into_owned()
}

/// Fills in the answers of a textual result: `"question"="answer"`, or one numbered line for each question.
pub(super) fn answer_from_text(questions: &mut [Question], result: &str) {
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
mod tests {
    use super::*;

    const ASKED: &str = r#"[{"question":"Which store?","header":"Store","options":[{"label":"SQLite","description":"one file"},{"label":"Postgres, remote","description":"a server"}],"multiSelect":false}]"#;

    fn asked() -> Vec<Question> {
        read(Raw::parse(ASKED).unwrap())
    }

    #[test]
    fn what_is_said_in_the_place_of_going_on_stands_alone() {
        let question = |text: &str, answer: &str| {
            let (text, answer) = (text.to_owned(), answer.to_owned());
            Question { text, answer, ..Question::default() }
        };
        let own = "I am also thinking that we should print the slips of each till that was open at noon";
        assert!(question("Ready to write the plan of the till?", own).is_left_for_own_words());
        assert!(!question("Which till should print the slips?", own).is_left_for_own_words());
        assert!(!question("What would you like to do with the slip?", "Work on it now").is_decided());
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

    #[test]
    fn what_an_answer_states_beside_its_questions() {
        let mut question = asked().remove(0);
        question.answer = "Keep all carts in one file below the home folder. Can we do that for slips?".to_owned();
        assert!(!question.is_decided());
        assert_eq!(question.stated().answer, "Keep all carts in one file below the home folder.");
        assert!(question.stated().is_decided());
        question.answer = "Why one? Is it fast?".to_owned();
        assert_eq!(question.stated().answer, question.answer);
    }

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
    fn what_decides_nothing() {
        let mut questions = asked();
        for answer in [
            "check the justfile",
            "look into the store's docs",
            "I thought it was one file already",
            "SQLite? why is that a problem, it works",
            "(notes only)",
            "Retry now",
        ] {
            questions[0].answer = answer.to_owned();
            assert!(!questions[0].is_decided(), "{answer}");
        }
        for answer in [
            "SQLite",
            "one file below the home folder",
            "see to it that both work, with SQLite as the default for all new carts",
            "pin the dependencies of the cart",
        ] {
            questions[0].answer = answer.to_owned();
            assert!(questions[0].is_decided(), "{answer}");
        }
    }

    #[test]
    fn an_answer_that_leaves_the_choice_to_the_agent_decides_nothing() {
        let mut questions = asked();
        for answer in
            ["ベストプラクティス", "おまかせします", "추천대로 해줘", "best practice please", "表の形式を調べてほしい"]
        {
            questions[0].answer = answer.to_owned();
            assert!(!questions[0].is_decided(), "{answer}");
        }
        for answer in [
            "一つのファイルに保存する",
            "一つのファイルに保存する、ベストプラクティス",
            "SQLite 하나만 써",
            "one file, which is best practice in small shops",
            "one file since it's best practice",
            "알아서 하지 말고 물어봐",
        ] {
            questions[0].answer = answer.to_owned();
            assert!(questions[0].is_decided(), "{answer}");
        }
    }

    #[test]
    fn what_the_agent_settles_in_the_place_of_an_answer() {
        let mut question = asked().remove(0);
        (question.answer, question.header) = ("おまかせします".to_owned(), "Store".to_owned());
        let settled = |said: &str| question.settled_in(said).map(|it| it.answer).unwrap_or_default();
        assert_eq!(
            settled("了解です。\n\n- **Store**: one file for each cart\n- Rest: as before"),
            "Store: one file for each cart"
        );
        assert_eq!(settled("I'll use SQLite, which keeps all carts."), "I'll use SQLite, which keeps all carts.");
        assert_eq!(settled("SQLite would be too slow here."), "");
        assert_eq!(settled("Now the spec follows."), "");
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

    #[test]
    fn to_approve_of_what_is_shown_decides_nothing() {
        let asked = |chosen: &str, other: &str| {
            let option = |label: &str| Choice { label: label.to_owned(), ..Choice::default() };
            let question = Question {
                text: "Does the menu hold?".to_owned(),
                options: vec![option(chosen), option(other)],
                answer: chosen.to_owned(),
                ..Question::default()
            };
            question.is_decided()
        };
        assert!(
            !asked("Looks good", "Needs changes")
                && !asked("OK、PR 作成へ", "修正あり")
                && !asked("이대로 진행", "수정 필요")
        );
        assert!(asked("Yes", "No") && asked("Looks good", "Change the soup to fish") && asked("Fish", "Edit it"));
    }

    #[test]
    fn what_passes_once_is_no_decision() {
        let mut question = asked().remove(0);
        for answer in ["skip it for this commit only", "今回だけスキップ", "이번만 건너뛰어"] {
            question.answer = answer.to_owned();
            assert!(!question.is_decided(), "{answer}");
        }
        question.options[0].description = "nobody may pass `--no-verify` any more, this time only by force".to_owned();
        for answer in [
            "SQLite",
            "one commit for each slip",
            "never use --no-verify for the commits here",
            "only this commit format: one line",
            "pin it to 8f4b7f84864484a7bf31766abe9204da3cbe65b3",
        ] {
            question.answer = answer.to_owned();
            assert!(question.is_decided(), "{answer}");
        }
        question.options[0].label = "Skip the check".to_owned();
        question.answer = "Skip the check".to_owned();
        assert!(!question.is_decided());
        question.answer = "commit 8f4b7f84864484a7bf31766abe9204da3cbe65b3 Author: Anna Round the till".to_owned();
        assert!(!question.is_decided());
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
