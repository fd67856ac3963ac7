//! The agents' wire formats: what their hooks send and expect, how their transcripts begin. Wire types are not domain
//! types, and what is unknown is passed over.

pub mod claude_code;
pub mod name;
pub(crate) mod shorten;

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
    /// The sub-agent in which it happened; none: in the main conversation.
    pub sub_agent: Option<String>,
    /// The agent's identifier of the prompt that it belongs to.
    pub prompt: Option<String>,
    /// What happened.
    pub moment: Moment,
}

/// One use of a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolUse {
    /// Unique in its session.
    pub id: String,
    /// The agent's name of the tool.
    pub tool: String,
    /// As JSON; long texts in it are shortened, see [`shorten`].
    pub input: String,
    /// As JSON; likewise.
    pub output: String,
    /// What the agent was told where it failed.
    pub error: Option<String>,
    /// Whether a person stopped it.
    pub interrupted: bool,
    /// Milliseconds, where the agent says it.
    pub duration: Option<u32>,
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
        /// Whether a hook has kept it from stopping already.
        again: bool,
    },
    /// The agent could not answer.
    GaveUp {
        /// `rate_limit`, `overloaded`, …
        error: String,
        /// What the person was shown.
        message: Option<String>,
    },
    /// A prompt was submitted.
    Prompted {
        /// What it says.
        prompt: String,
    },
    /// Tools were used. Several where the agent tells of a batch at once.
    Used {
        /// The uses.
        uses: Vec<ToolUse>,
        /// Whether it is the batch, of which each use was told before where its own event exists.
        batch: bool,
    },
    /// A sub-agent is done.
    SubAgentDone {
        /// Its identifier.
        id: String,
        /// Its type; empty for the agent's own forks.
        kind: String,
        /// Where its transcript should be. It need not exist.
        transcript: Option<PathBuf>,
        /// Its last text.
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
