//! What the rest of a turn may settle.

use serde::{Deserialize, Serialize};

use crate::extract::memories::SessionMemory;
use crate::extract::questions::Question;

/// The maximum number of questions that are left to the agent at a time.
const MAX_QUESTIONS: usize = 4;

/// What was begun in a turn and may be settled before the next prompt, which ends it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Awaited {
    /// The keys of what the latest report of a sub-agent found.
    reported: Vec<String>,
    /// The keys of what the agent set out to mend of it.
    pub being_mended: Vec<String>,
    /// The line of a correction that only points to something, until the agent takes it up. May be empty.
    pub vague_correction: String,
    /// What the user said against the work, as the correction that it is once the agent gives in.
    pub objection: Option<SessionMemory>,
    /// The questions that the user left to the agent, until it says what it takes.
    pub left_to_agent: Vec<Question>,
}

impl Awaited {
    /// Takes the keys of what a report found. What an earlier report found is awaited no more.
    pub(super) fn report_came(&mut self, found: Vec<String>) {
        if !found.is_empty() {
            self.reported = found;
        }
    }

    /// Returns whether the agent may set out to mend what a report found.
    pub(super) fn has_report(&self) -> bool {
        !self.reported.is_empty()
    }

    /// Records that the agent sets out to mend what a report found.
    pub(super) fn mending_begins(&mut self) {
        self.being_mended = std::mem::take(&mut self.reported);
    }

    /// Adds a question that the user left to the agent.
    pub(super) fn leave_to_agent(&mut self, question: Question) {
        self.left_to_agent.push(question);
        let extra = self.left_to_agent.len().saturating_sub(MAX_QUESTIONS);
        self.left_to_agent.drain(..extra);
    }
}
