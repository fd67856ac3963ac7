//! The wire formats of the supported agents: what their hooks send and expect, and how their transcripts begin. Wire
//! types are kept apart from domain types, and unknown fields and events are ignored.
//!
//! # Hooks
//!
//! `throughline hook --agent NAME [EVENT]` calls [`parse`], which dispatches to the agent's adapter. All adapters
//! return the same [`Event`], and [`answer`] writes the answer in the agent's own form. Where an agent ignores the
//! answer to an event ([`shows_answer`]), nothing is looked up, and nothing counts as shown. Tool calls get Claude Code's
//! names and inputs ([`tool_mapping`], one table for all agents); a patch over several files becomes one call per file
//! ([`patch`]). Identifiers that a payload lacks are made from its content.
//!
//! # Transcripts
//!
//! [`transcripts::Translator::for_transcript`] recognizes the format by the first line. A source line becomes zero or more lines,
//! all with the offset of the source line, so cursors stay offsets in the agent's file and a chunk ends where a source
//! line ends. The translation of a line depends on no line before it: identifiers are hashes of the session and of the
//! line's offset or own identifier, so reading again teaches nothing new. Instructions, environment and output of hooks
//! are left out: they are nobody's words.
//!
//! | agent | transcript | checked against |
//! | --- | --- | --- |
//! | Codex CLI | `~/.codex/sessions/…/rollout-*.jsonl` | what 0.169.0 sends and writes, run offline against a server that plays the model |
//! | Gemini CLI | `~/.gemini/tmp/*/chats/session-*.jsonl` | what 0.61.0 sends and writes, run likewise; compressions: its source |
//! | Copilot CLI | `~/.copilot/session-state/*/events.jsonl` | what 1.0.102 sends and writes, run likewise; compactions, sub-agents: its documentation |
//! | droid | `~/.factory/sessions/*/*.jsonl` | its documentation |
//! | Cursor | synthesized by our hooks | its documentation |
//! | Qwen Code | synthesized by our hooks | what 0.15.10 sends, run likewise |
//! | opencode | synthesized by our plugin's events; its own are in a database | what 1.18.33 does, run likewise |
//! | pi | synthesized by our extension's events; its own are trees | what 1.3.0 does, run likewise |
//! | Goose | synthesized by our hooks; its own are in a database | its source of November 2026 |
//! | Amp | synthesized by our plugin's events; its own are on its server | plugins that others published |
//!
//! # Duplicate hooks
//!
//! Cursor and Copilot CLI may also run the hooks in Claude Code's settings. [`detect_agent`] knows such payloads by their
//! fields. If the agent has Throughline hooks of its own ([`duplicate_hooks`]), these do the work and the other call does
//! nothing. The same holds for Codex's `notify`.
//!
//! # Peculiarities
//!
//! - Of a hook in Claude Code's settings, Copilot CLI (1.0.102, in a trusted folder) runs only `command`, without
//!   `args`. So it calls what `install` writes there for Claude Code without arguments, which logs a warning and gets
//!   no context.
//! - Codex's `PostToolUse` does not say how a command ended. Its rollout does, a moment before, so the end of the
//!   rollout is searched for it. What a script of the model did (identifiers that begin with `exec-`) is only in the
//!   rollout's events.
//! - Copilot CLI's `agentStop` does not contain the answer, and its file is written a moment later. The hook waits for
//!   that, at most 0.6 s.
//! - Gemini CLI's `PreCompress` with `auto` comes before every call of the model and is ignored. Without a terminal,
//!   Gemini CLI puts the output of the hooks at the start into the first prompt, from which it is removed again.

mod amp;
pub mod claude_code;
pub mod codex;
mod copilot;
mod cursor;
mod droid;
pub mod duplicate_hooks;
mod event;
pub mod fields;
mod gemini;
mod goose;
pub mod harmless;
pub mod name;
mod opencode;
mod patch;
mod pi;
mod plugin;
mod qwen;
pub mod shorten;
mod tool_mapping;
pub mod transcripts;

pub use event::{Event, Moment, ToolUse};
use fields::{Fields, PayloadError};
use name::Agent;

/// Parses a hook's payload. `name` is the event or the hook name that was given on the command line.
pub fn parse(agent: Agent, input: &[u8], name: Option<&str>) -> Result<Event, PayloadError> {
    match agent {
        Agent::ClaudeCode => claude_code::parse(input, name),
        Agent::Codex => codex::parse(input),
        Agent::Gemini => gemini::parse(input, name),
        Agent::Cursor => cursor::parse(input, event_for_hook(name)),
        Agent::Copilot => copilot::parse(input, event_for_hook(name)),
        Agent::Droid => droid::parse(input),
        Agent::Opencode => opencode::parse(input),
        Agent::Qwen => qwen::parse(input),
        Agent::Pi => pi::parse(input),
        Agent::Goose => goose::parse(input),
        Agent::Amp => amp::parse(input),
    }
}

/// Returns the event that a hook name stands for. Agents that also run hooks registered with Claude Code need it.
fn event_for_hook(name: Option<&str>) -> Option<&str> {
    let event = claude_code::HOOK_NAMES.iter().find(|(hook, _)| Some(*hook) == name).map(|(_, event)| *event);
    event.or(name)
}

/// Guesses which agent sent a payload when the command line does not say: some agents also run the hooks that are
/// registered with Claude Code.
pub fn detect_agent(input: &[u8]) -> Agent {
    match Fields::of_payload(input) {
        Ok(fields) if cursor::is_from(&fields) => Agent::Cursor,
        Ok(fields) if copilot::is_from(&fields) => Agent::Copilot,
        _ => Agent::ClaudeCode,
    }
}

/// Returns the response that makes the agent show `context`, made [`harmless`], to the model, or `None` if the event has no such response.
pub fn answer(event: &Event, context: &str) -> Option<String> {
    let context = &harmless::neutralize(context);
    let answer = match event.agent {
        Agent::ClaudeCode | Agent::Qwen => claude_code::answer,
        Agent::Codex | Agent::Droid => codex::answer,
        Agent::Gemini => gemini::answer,
        Agent::Cursor => cursor::answer,
        Agent::Copilot => copilot::answer,
        Agent::Opencode | Agent::Pi | Agent::Amp => plugin::answer,
        // Goose shows the model nothing that a hook says.
        Agent::Goose => return None,
    };
    answer(&event.moment, context)
}

/// Whether the agent shows the person one line that a hook says at a session's start.
pub fn shows_notice(agent: Agent, is_warning: bool) -> bool {
    match agent {
        // `systemMessage` is documented for every hook, and for Gemini CLI's `SessionStart`.
        // Our plugins for opencode and pi show it as a toast.
        Agent::ClaudeCode | Agent::Droid | Agent::Gemini | Agent::Opencode | Agent::Qwen | Agent::Pi => true,
        // Codex shows it as a warning.
        Agent::Codex => is_warning,
        Agent::Cursor | Agent::Copilot | Agent::Goose | Agent::Amp => false,
    }
}

/// Adds one line for the person to an answer at a session's start, or makes an answer of it, for an agent that
/// [shows](shows_notice) it.
pub fn with_notice(answer: Option<&str>, notice: &str) -> Option<String> {
    let mut fields: serde_json::Map<String, serde_json::Value> = match answer {
        Some(answer) => serde_json::from_str(answer).ok()?,
        None => serde_json::Map::new(),
    };
    fields.insert("systemMessage".into(), harmless::neutralize(notice).into());
    Some(serde_json::Value::Object(fields).to_string())
}

/// Returns whether the model sees the response to the event. If it does not, there is nothing to look up.
pub fn shows_answer(event: &Event) -> bool {
    match event.agent {
        Agent::Cursor => !matches!(event.moment, Moment::PromptSubmitted { .. }),
        Agent::Copilot => copilot::shows_answer(&event.moment),
        Agent::Opencode | Agent::Pi | Agent::Amp => plugin::shows_answer(&event.moment),
        Agent::Goose => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_notice_stands_beside_the_context() {
        let moment = Moment::Start { source: "startup".into() };
        let parsed = |answer: Option<String>| serde_json::from_str::<Value>(&answer.unwrap()).unwrap();
        for answer in [codex::answer(&moment, "c"), gemini::answer(&moment, "c")] {
            let plain = parsed(answer.clone());
            let mut both = parsed(with_notice(answer.as_deref(), "works"));
            assert_eq!(both["systemMessage"], "works");
            both.as_object_mut().unwrap().remove("systemMessage");
            assert_eq!(both, plain);
        }
        assert_eq!(parsed(with_notice(None, "off")), json!({"systemMessage": "off"}));
    }
}
