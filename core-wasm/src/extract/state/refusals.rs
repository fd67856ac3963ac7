//! Calls of tools that the user refused.

use super::State;
use super::rulings::Answers;
use crate::bindings::throughline::policy::types::Draft;
use crate::extract::commits;
use crate::extract::failures;
use crate::extract::human;
use crate::extract::memories::{LineRef, SessionMemory};
use crate::extract::requests;
use crate::extract::tool_uses::{Tool, ToolUse};

/// The length above which a remark is a pasted text, in characters.
const MAX_REMARK_CHARS: usize = 1_200;

impl State {
    pub(super) fn tool_refused(&mut self, tool_use: &ToolUse, said: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        let reason = said.split_once("the user said:").map(|(_, reason)| reason.trim()).filter(|reason| !reason.is_empty());
        let what = match tool_use.tool {
            Tool::Ask => {
                self.left_unanswered(tool_use.questions.iter().cloned());
                self.question_deferred = true;
                return;
            }
            Tool::Plan => {
                let plan = commits::unwrapped(&tool_use.what);
                self.plan_refused(&plan, reason, source, settled)
            }
            Tool::Shell => {
                self.undone.run_refused(&tool_use.what);
                format!("`{}`", failures::display_command(&tool_use.what))
            }
            _ => format!("{} {}", tool_use.name, tool_use.what),
        };
        what.trim().clone_into(&mut self.refused);
        // A server's own error may begin with the client's words, so a reason beside its tool is nobody's.
        let is_foreign = tool_use.is_of_server();
        if let Some(reason) = reason.filter(|_| !is_foreign) {
            let reason = without_client_note(reason).to_owned();
            let about = self.topic().to_owned();
            self.record_directives(&reason, &about, source, settled);
            self.record_steering(&reason, what.trim(), source, settled);
            let is_text = matches!(tool_use.tool, Tool::Edit | Tool::Plan);
            self.record_rulings(&reason, &about, Answers::Refused { what: what.trim(), is_text }, source, settled);
            if !self.is_recorded(source, tool_use.tool == Tool::Plan) {
                self.record_remark(&reason);
            }
            self.turn.add(&format!("**{}:** {reason}", self.labels().added));
        }
    }
}

impl State {
    /// Returns whether what the user said in that line was recorded. What is only asked of a plan does not count: it is lost if no other
    /// plan follows.
    pub(super) fn is_recorded(&self, source: &LineRef, is_of_plan: bool) -> bool {
        let is_of_words = |memory: &SessionMemory| {
            memory.source.uuid == source.uuid && matches!(memory.kind.as_str(), "decision" | "correction" | "preference")
        };
        self.memories.live().any(is_of_words) || (!is_of_plan && self.asked_rulings.iter().any(is_of_words))
    }

    /// Keeps what the user said while the agent worked. It steers what comes after it.
    pub(super) fn record_remark(&mut self, said: &str) {
        // The client's own words: "The user wants to clarify these questions."
        let is_of_client = said.starts_with("The user wants to ");
        let is_own = said.chars().count() <= MAX_REMARK_CHARS && !human::is_paste(said);
        // A chore such as "push it and open a PR" is asked for, too.
        let is_chore = || human::speaks_of_recording(said) || requests::publishes(said);
        if !is_of_client && is_own && (human::is_substantive(said) || is_chore()) {
            self.turn.remarked(said);
        }
    }
}

/// Returns the reason for a refusal without what the client adds to it for the agent.
pub(super) fn without_client_note(reason: &str) -> &str {
    reason.split("\n\nNote: The user's next message").next().unwrap_or(reason)
}
