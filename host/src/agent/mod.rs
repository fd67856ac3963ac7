//! The agents' wire formats: what their hooks send and expect, how their transcripts begin. Wire types are not domain
//! types, and what is unknown is passed over.

pub mod claude_code;

use std::path::PathBuf;

/// A moment of a session, in this program's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The agent: `claude-code`, …
    pub agent: &'static str,
    /// The agent's identifier of the session.
    pub session: String,
    /// Where the agent says the transcript is. It need not exist.
    pub transcript: Option<PathBuf>,
    /// The agent's working folder.
    pub cwd: PathBuf,
    /// The model, where it is said.
    pub model: Option<String>,
    /// What happened.
    pub moment: Moment,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moment {
    /// A session starts, or goes on after something. `source`: `startup`, `resume`, `clear`, `compact`, `fork`, …
    Start {
        /// Why it starts.
        source: String,
    },
    /// The context is about to be compacted.
    Compacting {
        /// `manual` or `auto`.
        trigger: String,
    },
    /// The context was compacted, and this is what is left of it.
    Compacted {
        /// The agent's own summary.
        summary: String,
    },
    /// The agent has answered.
    Answered {
        /// Its last text, which the transcript may not hold yet.
        last_message: Option<String>,
    },
    /// The session ends.
    End {
        /// `clear`, `resume`, `logout`, `prompt_input_exit`, `other`, …
        reason: String,
    },
    /// Anything that is nothing to us.
    Other {
        /// The agent's name of it.
        name: String,
    },
}
