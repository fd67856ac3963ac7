//! Questions of the agent with options, and their answers: at once, in a later prompt, or by the agent itself.

use super::decisions::{decision, decision_text, users_words};
use super::{State, line_ref};
use crate::bindings::throughline::policy::types::Draft;
use crate::extract::human;
use crate::extract::labels::Labels;
use crate::extract::memories::{LineRef, SessionMemory};
use crate::extract::options;
use crate::extract::prose;
use crate::extract::questions::{self, Question};
use crate::extract::tool_uses::ToolUse;
use crate::said_by::SaidBy;
use crate::text;
use crate::transcript::json::Raw;
use crate::transcript::{self, Line};

/// The maximum number of questions that wait for a late answer, and for how many turns they do.
const MAX_UNANSWERED: usize = 4;
const MAX_TURNS_UNANSWERED: u32 = 3;
/// The place from which the questions of a dialog weigh the same.
const MAX_PLACE: u8 = 7;

impl State {
    pub(super) fn questions_answered(
        &mut self,
        tool_use: &ToolUse,
        content: Option<Raw<'_>>,
        line: &Line<'_>,
        settled: &mut Vec<Draft>,
    ) {
        let mut asked = tool_use.questions.clone();
        for question in &mut asked {
            question.is_of_server = tool_use.is_of_server();
        }
        match line.result.and_then(|result| result.get("answers")) {
            Some(answers) => questions::answer(&mut asked, answers),
            None => questions::answer_from_text(&mut asked, &transcript::result_text(content)),
        }
        if let Some(annotations) = line.result.and_then(|result| result.get("annotations")) {
            questions::annotate(&mut asked, annotations);
        }
        self.left_unanswered(asked.iter().filter(|question| question.answer.is_empty()).cloned());
        self.divide_turn(&line_ref(line), settled);
        for (number, question) in asked.iter().enumerate() {
            let piece = format!("- {} → {}", question.text, question.answer);
            self.turn.add(&piece);
            if !question.is_of_server {
                self.open_points.prompted(&question.answer);
                self.failures.human_said(&question.answer);
            }
            // A typed answer may contain rules that go beyond the question.
            if question.chosen().is_empty() && !question.is_of_server {
                let about = question.short_text();
                self.record_directives(&question.answer, &about, &line_ref(line), settled);
            }
            let question = question.stated();
            if question.is_left_to_agent() && !question.is_of_server {
                self.awaited.leave_to_agent(question.clone());
            }
            if question.is_decided() {
                let key = format!("question:{}:{number}", tool_use.source.uuid);
                self.question_decided(&question, key, number, &tool_use.source, settled);
            }
        }
    }

    /// Records what the answer to a question decides. `number` is its place in its dialog.
    fn question_decided(
        &mut self,
        question: &Question,
        key: String,
        number: usize,
        source: &LineRef,
        settled: &mut Vec<Draft>,
    ) {
        // What was chosen before may turn out not to be possible.
        self.memories.forget(|known| {
            let is_of_others = known.source.uuid != source.uuid;
            let is_over = |(asked, chosen): (&str, &str)| {
                question.replaces(chosen) || (is_of_others && question.asks_again(asked, known.keywords.first()))
            };
            known.key.starts_with("question:") && known.title.rsplit_once(" → ").is_some_and(is_over)
        });
        // An answer that only lets the agent proceed with a fix is recorded with that fix.
        let is_of_fix = human::is_consent(&question.answer) && self.failures.has_open_checks();
        self.failures.step(&format!("\"{}\"", question.answer));
        if is_of_fix {
            return;
        }
        // The question may have been asked before.
        let earlier = [late_key(question), left_key(question)];
        self.unanswered.retain(|known| known.text != question.text);
        if !question.is_left_to_agent() {
            self.awaited.left_to_agent.retain(|known| known.text != question.text);
        }
        self.memories.forget(|known| earlier.contains(&known.key));
        self.option_taken_after_all(&question.answer, &source.uuid);
        let mut memory = answered_question(question, key, source, self.labels());
        // All answers of a dialog come at one time. Their weights keep the order in which they were asked.
        memory.importance -= u8::try_from(number).unwrap_or(u8::MAX).min(MAX_PLACE);
        self.memories.add(memory, settled);
    }

    /// Records what the agent settles of the questions that the user left to it, in its first words after that.
    pub(super) fn settle_questions(&mut self, said: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        for question in std::mem::take(&mut self.awaited.left_to_agent) {
            let Some(question) = question.settled_in(said) else { continue };
            let key = left_key(&question);
            let memory = answered_question(&question, key, source, self.labels());
            self.memories.add(SessionMemory { importance: 70, said_by: SaidBy::Agent, ..memory }, settled);
        }
    }

    /// Keeps questions that were dismissed, or whose time ran out. The answer may come in a prompt.
    pub(super) fn left_unanswered(&mut self, questions: impl Iterator<Item = Question>) {
        self.unanswered.extend(questions);
        let extra = self.unanswered.len().saturating_sub(MAX_UNANSWERED);
        self.unanswered.drain(..extra);
        self.unanswered_in = self.turns;
    }

    /// Records the answer to a question that nobody answered when it was asked, if the prompt names one of its options.
    /// Returns whether it does.
    pub(super) fn record_late_answer(&mut self, prompt: &str, source: &LineRef, settled: &mut Vec<Draft>) -> bool {
        if self.turns > self.unanswered_in + MAX_TURNS_UNANSWERED {
            self.unanswered.clear();
        }
        let labels = self.labels();
        let mut answered = None;
        for (number, question) in self.unanswered.iter_mut().enumerate() {
            let names: Vec<&str> = question.options.iter().map(|option| option.label.as_str()).collect();
            if let Some(at) = options::named_option(prompt, &names) {
                question.answer = names[at].to_owned();
                answered = Some(number);
                break;
            }
        }
        let Some(number) = answered else { return false };
        let question = self.unanswered.remove(number);
        let memory = answered_question(&question, late_key(&question), source, labels);
        self.memories.add(memory, settled);
        true
    }
}

/// Returns the key of the answer that came to a question in a later prompt.
fn late_key(question: &Question) -> String {
    format!("late:{:08x}", text::hash(&question.text))
}

/// Returns the key of what the agent settled of a question that the user left to it.
fn left_key(question: &Question) -> String {
    format!("left:{:08x}", text::hash(&question.text))
}

/// Returns the decision that a question and its answer make.
fn answered_question(question: &Question, key: String, source: &LineRef, labels: &Labels) -> SessionMemory {
    let chosen = question.chosen();
    let why = chosen.iter().map(|choice| choice.description.as_str()).filter(|text| !text.is_empty()).collect::<Vec<_>>();
    let why = text::clip(&why.join("; "), 300).into_owned();
    let is_alone = question.is_left_for_own_words();
    let what = if is_alone { question.answer.clone() } else { format!("{} → {}", question.short_text(), question.answer) };
    let beside = users_words(&question.beside, labels);
    // An answer in the user's own words may take up an option as well as leave it.
    let takes_all = chosen.is_empty() || chosen.iter().any(|choice| prose::takes_all(&choice.label));
    let mut rejected = if takes_all { Vec::new() } else { question.rejected() };
    rejected.retain(|option| prose::can_be_rejected(option));
    let content = decision_text(&format!("{what}{beside}"), &why, &rejected, labels);
    // To take everything that is offered, or to let the agent go on, rules nothing out.
    let importance = if question.says_little() { 70 } else { 80 };
    // The subject in a word or two tells a question that is asked again.
    let keywords = Some(question.header.clone()).filter(|header| !header.is_empty()).into_iter().collect();
    let said_by = if question.is_of_server { SaidBy::Tool } else { SaidBy::Agreed };
    SessionMemory { key, title: what, beside, why, rejected, content, importance, said_by, keywords, ..decision(source) }
}
