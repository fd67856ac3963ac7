//! What the user types while the agent works.

use super::rulings::Answers;
use super::{MAX_REQUEST_CHARS, State, line_ref};
use crate::bindings::throughline::policy::types::Draft;
use crate::extract::clean;
use crate::extract::human;
use crate::extract::memories::LineRef;
use crate::extract::statement::Voice;
use crate::extract::undone::is_client_command;
use crate::said_by::SaidBy;
use crate::text;
use crate::transcript::json::Raw;
use crate::transcript::user_text::{self, UserText};
use crate::transcript::{self, Line};

/// The maximum number of queued prompts, which wait while the agent works.
const MAX_QUEUED: usize = 12;
/// The maximum length of one, in bytes.
const MAX_QUEUED_BYTES: usize = 4_000;

impl State {
    pub(super) fn queue_line(&mut self, line: &Line<'_>, settled: &mut Vec<Draft>) {
        let operation = line.operation.and_then(Raw::text).unwrap_or_default();
        // These lines have no identifier of their own.
        let content = line.content.and_then(Raw::text).unwrap_or_default();
        let identity = format!("{operation} {} {}", line.timestamp().unwrap_or_default(), text::hash(&content));
        if !self.seen.insert(&identity) {
            return;
        }
        match &*operation {
            "enqueue" => {
                self.background_ended(&content);
                if let Some(typed) = typed(&content) {
                    self.queue.push(typed);
                    if self.queue.len() > MAX_QUEUED {
                        self.queue.remove(0);
                    }
                }
            }
            // The prompt follows as a separate line.
            "dequeue" => {
                self.is_dequeued = true;
                if !self.queue.is_empty() {
                    self.queue.remove(0);
                }
            }
            "popAll" => self.queue.clear(),
            // The agent picks the prompt up in the middle of its turn. Older clients record it nowhere else.
            "remove" if !self.queue.is_empty() => {
                let queued = self.queue.remove(0);
                self.add_interjection(&queued, &line_ref(line), settled);
            }
            _ => {}
        }
    }

    pub(super) fn attachment_line(&mut self, line: &Line<'_>, settled: &mut Vec<Draft>) {
        let Some(attachment) = line.attachment else {
            return;
        };
        let (mut kind, mut prompt, mut mode) = (None, None, None);
        attachment.fields(|key, value| match key {
            b"type" => kind = Some(value.json()),
            b"prompt" => prompt = Some(value),
            b"commandMode" => mode = Some(value.json()),
            _ => {}
        });
        if kind != Some("\"queued_command\"") || mode.is_some_and(|mode| mode != "\"prompt\"") {
            return;
        }
        if !self.is_new(line) {
            return;
        }
        let text = transcript::result_text(prompt);
        self.add_interjection(&text, &line_ref(line), settled);
    }

    /// Adds what the user says while the agent works, or adds to a prompt.
    fn add_interjection(&mut self, text: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        let UserText::Human(text) = user_text::classify(text) else {
            return;
        };
        let text = clean::clean(&text);
        let hash = text::hash(&text);
        if self.seen_additions.contains(&hash) {
            return;
        }
        self.seen_additions.push(hash);
        if self.seen_additions.len() > 2 * MAX_QUEUED {
            self.seen_additions.remove(0);
        }
        self.queue.retain(|queued| *queued != text);
        if human::is_substantive(&text) && human::is_demand(&text) {
            self.divide_turn(source, settled);
        }
        let about = self.topic().to_owned();
        self.failures.bypass_allowed(&text);
        self.user_changes_mind(&text, source, settled);
        if !self.record_late_answer(&text, source, settled) {
            // What the agent said in this turn is what the user answers while it works.
            let answer = self.turn.answer.clone();
            self.record_choice(&text, &answer, &about, SaidBy::Human, source, settled);
        }
        self.record_directives(&text, &about, source, settled);
        self.record_settled(&text, &about, source, settled);
        self.record_rulings(&text, &about, Answers::Work, source, settled);
        self.request_while_busy(&text, source, settled);
        if !self.is_recorded(source, false) {
            self.record_remark(&text);
        }
        let piece = format!("**{}:** {text}", self.labels().added);
        let turn = self.open_turn(source, &text);
        turn.add(&piece);
        turn.state(&text, Voice::Human);
    }

    /// Takes what the user typed while the agent was busy as the request if there is none yet, or as a later one.
    fn request_while_busy(&mut self, text: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        if !human::is_substantive(text) {
            return;
        }
        if !self.request.is_empty() {
            let title = human::request_summary(text, MAX_REQUEST_CHARS, self.labels());
            // A short remark steers what is being done.
            if human::stands_alone(&title) && human::is_demand(&title) && !human::is_paste(text) {
                self.later = title;
            }
            return;
        }
        self.request = human::request_summary(text, MAX_REQUEST_CHARS, self.labels());
        self.request_whole = human::whole_request(text, human::MAX_WHOLE_CHARS).unwrap_or_default();
        if let Some(plan) = human::plan(text) {
            self.plan_taken_up(plan, SaidBy::Human, 35, source, settled);
        }
    }
}

/// Returns what the user typed of what waits for the agent, without what the client put around it. Empty if it is a command of the
/// client's or has no text. None for a notice of the client's: what the user typed goes before these, however long they wait.
fn typed(content: &str) -> Option<String> {
    match user_text::classify(content) {
        _ if content.is_empty() || is_client_command(content) => Some(String::new()),
        UserText::Human(_) if content.starts_with('{') => None,
        UserText::Human(text) => Some(clean::block(&text, MAX_QUEUED_BYTES)),
        UserText::Command(_) => Some(String::new()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_user_typed_goes_before_notices() {
        assert_eq!(typed("fold the slip").as_deref(), Some("fold the slip"));
        assert_eq!(typed("/clear").as_deref(), Some(""));
        assert_eq!(typed(""), Some(String::new()));
        for notice in ["<task-notification><task-id>1</task-id></task-notification>", "{\"task_id\": \"1\"}"] {
            assert_eq!(typed(notice), None, "{notice}");
        }
    }
}
