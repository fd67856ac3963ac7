//! A hook event in agent-independent form: what all adapters return.

use std::path::PathBuf;

use super::name::Agent;
use throughline_model::digest::sha256_hex;
use throughline_model::lines::DERIVED_ID;

/// A hook event in agent-independent form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The agent that called the hook.
    pub agent: Agent,
    /// The agent's identifier of the session.
    pub session: String,
    /// Where the agent says the transcript is. The file need not exist.
    pub transcript: Option<PathBuf>,
    /// The agent's working directory, or the one in which it was started if that is known. Empty if the payload gives
    /// no absolute path.
    pub cwd: PathBuf,
    /// The agent's working directory, if it is another than `cwd`.
    pub moved_to: Option<PathBuf>,
    /// The model, if the agent reports it.
    pub model: Option<String>,
    /// The sub-agent in which the event happened; `None` for the main conversation.
    pub sub_agent: Option<String>,
    /// The agent's identifier of the prompt that the event belongs to.
    pub prompt: Option<String>,
    /// What happened.
    pub moment: Moment,
}

/// A single tool call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolUse {
    /// Unique within the session.
    pub id: String,
    /// The agent's name for the tool.
    pub tool: String,
    /// The input as JSON. Long strings in it are shortened, see [`super::shorten`].
    pub input: String,
    /// The output as JSON, shortened like the input.
    pub output: String,
    /// The error that the agent saw, if the call failed.
    pub error: Option<String>,
    /// Whether the user interrupted the call.
    pub interrupted: bool,
    /// The duration in milliseconds, if the agent reports it.
    pub duration: Option<u32>,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moment {
    /// A session starts or continues. `source` is `startup`, `resume`, `clear`, `compact`, `fork`, …
    Start {
        /// Why the session starts.
        source: String,
    },
    /// The context is about to be compacted.
    Compacting {
        /// `manual` or `auto`.
        trigger: String,
    },
    /// The context was compacted.
    Compacted {
        /// The agent's own summary of the compacted context.
        summary: String,
    },
    /// The agent finished its turn.
    TurnEnded {
        /// The last message of the turn, which the transcript may not contain yet.
        last_message: Option<String>,
        /// Whether a hook already kept the agent from stopping.
        again: bool,
    },
    /// The turn ended with an error.
    TurnFailed {
        /// `rate_limit`, `overloaded`, …
        error: String,
        /// The message that the user was shown.
        message: Option<String>,
    },
    /// The agent wrote a message before the end of its turn.
    MessageWritten {
        /// The message.
        text: String,
    },
    /// A prompt was submitted.
    PromptSubmitted {
        /// The text of the prompt.
        prompt: String,
    },
    /// Tools were called. Several calls if the agent reports a batch at once.
    ToolsUsed {
        /// The calls.
        uses: Vec<ToolUse>,
        /// Whether this is a batch event. Calls that have an event of their own were already reported individually.
        batch: bool,
    },
    /// A sub-agent finished.
    SubAgentStopped {
        /// The sub-agent's identifier.
        id: String,
        /// The sub-agent's type; empty for the agent's own forks.
        kind: String,
        /// Where the sub-agent's transcript should be. The file need not exist.
        transcript: Option<PathBuf>,
        /// The sub-agent's last message.
        last_message: Option<String>,
    },
    /// The session ends.
    End {
        /// `clear`, `resume`, `logout`, `prompt_input_exit`, `other`, …
        reason: String,
    },
    /// An event that Throughline does not use.
    Other {
        /// The agent's name for the event.
        name: String,
    },
}

/// Makes an identifier for something that has none: the same parts always give the same identifier.
pub(super) fn derive_id(parts: &[&str]) -> String {
    format!("{DERIVED_ID}{}", &sha256_hex(parts.join("\0").as_bytes())[..24])
}
