//! The agents' wire formats: what their hooks send and expect, how their transcripts begin. Wire types are not domain
//! types, and what is unknown is passed over.

pub mod claude_code;
pub mod codex;
mod copilot;
mod cursor;
pub mod doubles;
mod droid;
pub mod fields;
mod gemini;
pub mod name;
mod patch;
pub mod shorten;
mod terms;
pub mod transcripts;

use std::path::PathBuf;

use fields::{Fields, Unreadable};
use name::Agent;
use throughline_model::digest::sha256_hex;

/// Reads a hook's payload; `name`: the event, or the name of the hook, that was given on the command line.
pub fn parse(agent: Agent, input: &[u8], name: Option<&str>) -> Result<Event, Unreadable> {
    match agent {
        Agent::ClaudeCode => claude_code::parse(input, name),
        Agent::Codex => codex::parse(input),
        Agent::Gemini => gemini::parse(input, name),
        Agent::Cursor => cursor::parse(input, event_of(name)),
        Agent::Copilot => copilot::parse(input, event_of(name)),
        Agent::Droid => droid::parse(input),
    }
}

/// The event of a hook's name, for agents that run hooks which were registered with Claude Code.
fn event_of(name: Option<&str>) -> Option<&str> {
    let event = claude_code::HOOK_NAMES.iter().find(|(hook, _)| Some(*hook) == name).map(|(_, event)| *event);
    event.or(name)
}

/// Whose payload it is where nobody says so: some agents also run the hooks that are registered with Claude Code.
pub fn recognize(input: &[u8]) -> Agent {
    match Fields::of_payload(input) {
        Ok(fields) if cursor::is_from(&fields) => Agent::Cursor,
        Ok(fields) if copilot::is_from(&fields) => Agent::Copilot,
        _ => Agent::ClaudeCode,
    }
}

/// What the agent is to be answered so that the model sees `context`; none where it would not.
pub fn answer(event: &Event, context: &str) -> Option<String> {
    let answer = match event.agent {
        Agent::ClaudeCode => claude_code::answer,
        Agent::Codex | Agent::Droid => codex::answer,
        Agent::Gemini => gemini::answer,
        Agent::Cursor => cursor::answer,
        Agent::Copilot => copilot::answer,
    };
    answer(&event.moment, context)
}

/// Whether the model sees what the event is answered with. Where it does not, nothing need be looked up.
pub fn can_tell(event: &Event) -> bool {
    match event.agent {
        Agent::Cursor => !matches!(event.moment, Moment::Prompted { .. }),
        Agent::Copilot => copilot::can_tell(&event.moment),
        _ => true,
    }
}

/// An identifier of what has none: the same for the same parts.
fn made_id(parts: &[&str]) -> String {
    format!("made-{}", &sha256_hex(parts.join("\0").as_bytes())[..24])
}

/// A moment of a session, in this program's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The agent.
    pub agent: Agent,
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
    /// The agent said something on its way.
    Said {
        /// What.
        text: String,
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
