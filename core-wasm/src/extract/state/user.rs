//! What the user's lines hold: prompts, interruptions, results of tools, and commands of the user's own.

use super::{State, line_ref};
use crate::bindings::throughline::policy::types::Draft;
use crate::extract::clean;
use crate::extract::commands::{self, Reason};
use crate::extract::compact;
use crate::extract::human;
use crate::extract::memories::{LineRef, SessionMemory};
use crate::extract::tool_uses::ToolUse;
use crate::text;
use crate::transcript::user_text::{self, UserText};
use crate::transcript::{Block, Line};

/// The maximum length of a command that the user runs, in bytes.
const MAX_USER_COMMAND_BYTES: usize = 1_000;

impl State {
    pub(super) fn user_line(&mut self, line: &Line<'_>, settled: &mut Vec<Draft>) {
        if line.is_compact_summary {
            self.summary_line(line, settled);
            return;
        }
        if line.is_meta {
            return;
        }
        let (mut prompt, mut goes_on) = (String::new(), false);
        // What the client writes by itself, such as records of `/clear`, may be from days before the first prompt.
        let mut is_of_client = true;
        let mut is_from_program = line.is_from_program();
        line.blocks(|block| match block {
            Block::Text(raw) => {
                let text = raw.text().unwrap_or_default();
                let said = user_text::classify(&text);
                is_of_client &= said == UserText::Machine;
                match said {
                    UserText::Human(said) => {
                        // Editors send a mention of a file as a text of its own, in the middle of a sentence.
                        join(&mut prompt, &said, goes_on || text.starts_with(' '));
                        goes_on = text.ends_with(' ');
                    }
                    UserText::Command(command) => join(&mut prompt, &command, false),
                    // A request whose first line is a heading becomes a note by mistake. The agent never sees it.
                    UserText::Note(note) if lists_demands(&note) => join(&mut prompt, &note, false),
                    // What it asks holds for nothing later.
                    UserText::Note(note) if asks(&note) => {}
                    UserText::Note(note) => self.user_noted(&note, &line_ref(line), settled),
                    // It is what this session is for. Later ones are reports and notices.
                    UserText::Teammate(text) if self.turns == 0 && prompt.is_empty() => {
                        is_from_program = true;
                        human::task(&text).clone_into(&mut prompt);
                    }
                    // It begins work that nobody asked for.
                    UserText::Peer(text) => {
                        is_from_program = true;
                        join(&mut prompt, &text, false);
                    }
                    UserText::Teammate(_) => self.turn.teammate_wrote(),
                    UserText::Interrupted => self.user_interrupted(),
                    UserText::Shell { command, output } => self.human_ran(&command, output.as_deref(), line, settled),
                    UserText::Machine => self.client_noted(&text, &line_ref(line), settled),
                }
            }
            Block::ToolResult { id, content, is_error } => {
                is_of_client = false;
                let id = id.text().unwrap_or_default();
                if let Some(tool_use) = self.pending_uses.take(&id) {
                    self.tool_result(&tool_use, content, is_error, line, settled);
                }
            }
            Block::ToolUse { .. } | Block::Thinking(_) => {}
        });
        if !is_of_client {
            self.update_span(line);
        }
        if !prompt.is_empty() {
            self.start_turn(&prompt, is_from_program, line_ref(line), settled);
        }
    }

    /// Takes what the client wrote down when it made room in the agent's context.
    fn summary_line(&mut self, line: &Line<'_>, settled: &mut Vec<Draft>) {
        line.blocks(|block| {
            let Block::Text(raw) = block else { return };
            let (text, source) = (raw.text().unwrap_or_default(), line_ref(line));
            settled.extend(compact::summary(&text, &source));
            let fixes = compact::fixes(&text, &source);
            // A later summary goes over the whole session again.
            if !fixes.is_empty() {
                self.memories.forget(|known| compact::is_fix(&known.key));
            }
            for fix in fixes {
                let is_told = |known: &SessionMemory| {
                    known.kind == "error_fix"
                        && !compact::is_fix(&known.key)
                        && compact::is_told_by(&fix.content, &known.content)
                };
                if !self.memories.live().any(is_told) {
                    self.memories.add(fix, settled);
                }
            }
        });
    }

    /// Records a notice of the client's, in which a sub-agent that worked beside the session may report.
    fn client_noted(&mut self, notice: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        self.turn.notified = true;
        self.background_ended(notice);
        let of_agent = text::contains_any(notice, &["<task-notification", "<agent-notification"]);
        let Some((_, rest)) = notice.split_once("<result>").filter(|_| of_agent) else { return };
        let report = rest.split("</result>").next().unwrap_or(rest);
        self.record_report(report, source, settled);
    }

    fn user_interrupted(&mut self) {
        // Behind the end of an answer, only a hook of the client's was running.
        self.interrupted = !self.question_deferred && !self.turn.has_ended;
        self.turn.cut_off = self.interrupted;
        if self.interrupted {
            self.undone.interrupted();
        }
    }

    /// Records a command that the user ran, and what it printed. The two come on lines of their own; the client does not say
    /// how the command ended.
    fn human_ran(&mut self, command: &str, output: Option<&str>, line: &Line<'_>, settled: &mut Vec<Draft>) {
        if !command.is_empty() {
            self.user_command = clean::command(command, &self.root, MAX_USER_COMMAND_BYTES);
        }
        let Some(output) = output else { return };
        let command = std::mem::take(&mut self.user_command);
        if command.is_empty() {
            return;
        }
        let output = clean::clean(output);
        // What a person mistypes is not missing.
        if commands::complaint(&command, &output, false).is_some_and(|it| it.reason == Reason::Absent) {
            return;
        }
        let failed = commands::prints_failure(&output);
        self.open_turn(&line_ref(line), &command);
        let tool_use = ToolUse::of_user(command, line_ref(line));
        self.command_ran(&tool_use, &output, failed, settled);
    }
}

/// Returns whether a note has several lines, of which one says what to do.
fn lists_demands(note: &str) -> bool {
    let lines: Vec<&str> = note.lines().filter(|line| !line.trim().is_empty()).collect();
    lines.len() > 1 && lines.iter().any(|line| human::is_demand(line))
}

/// Returns whether a note ends with a question.
fn asks(note: &str) -> bool {
    note.trim_end().ends_with(['?', '？'])
}

/// Adds a part of a prompt to the parts before it, whose sentence may go on.
fn join(all: &mut String, text: &str, goes_on: bool) {
    if !all.is_empty() {
        all.push_str(if goes_on { " " } else { "\n\n" });
    }
    all.push_str(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_no_rule() {
        assert!(asks("why is the drawer locked?\n") && asks("引き出しはどこですか？"));
        assert!(!asks("the till speaks only in cents"));
    }
}
