//! Qwen Code: hooks in Claude Code's format, and tools with Gemini CLI's names and results. Checked against what version 0.15.10
//! sends.

use super::claude_code;
use super::event::{Event, Moment, ToolUse};
use super::fields::{Fields, PayloadError};
use super::gemini;
use super::name::Agent;
use super::tool_mapping;

/// Parses a payload.
pub(super) fn parse(input: &[u8]) -> Result<Event, PayloadError> {
    let event = claude_code::parse(input, None)?;
    let moment = match event.moment {
        // It reports every request to the model, also those that only carry results of tools.
        Moment::PromptSubmitted { prompt } if prompt.trim().is_empty() => Moment::Other { name: "UserPromptSubmit".into() },
        Moment::ToolsUsed { uses, batch } => {
            let fields = Fields::of_payload(input)?;
            let uses = uses.into_iter().flat_map(|it| in_terms(it, &fields, &event.cwd)).collect();
            Moment::ToolsUsed { uses, batch }
        }
        other => other,
    };
    // Its transcripts have a form of their own, so a synthesized transcript is used instead.
    Ok(Event { agent: Agent::Qwen, transcript: None, moment, ..event })
}

fn in_terms(mut tool_use: ToolUse, fields: &Fields<'_>, cwd: &std::path::Path) -> Vec<ToolUse> {
    if tool_use.error.is_none() {
        let said = tool_mapping::text(&fields.value("tool_response")["llmContent"]);
        let outcome = gemini::said_by(&tool_use.tool, &said).tool_use();
        tool_use = ToolUse { id: tool_use.id, tool: tool_use.tool, ..outcome };
    }
    tool_mapping::to_claude_code(&tool_use, &fields.value("tool_input"), cwd)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn moment(event: &str, more: &Value) -> Moment {
        let mut payload = json!({"session_id": "s", "transcript_path": "/t", "cwd": "/p", "hook_event_name": event});
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let event = parse(payload.to_string().as_bytes()).unwrap();
        assert_eq!((event.agent, event.transcript), (Agent::Qwen, None));
        event.moment
    }

    #[test]
    fn calls_are_told_in_claude_codes_terms() {
        let said = "Command: make\nDirectory: (root)\nOutput: no rule\nError: (none)\nExit Code: 2\nSignal: 0";
        let call = json!({"tool_name": "run_shell_command", "tool_use_id": "c", "tool_input": {"command": "make"},
            "tool_response": {"llmContent": said, "returnDisplay": "no rule"}});
        let Moment::ToolsUsed { uses, .. } = moment("PostToolUse", &call) else { panic!() };
        assert_eq!((uses[0].tool.as_str(), uses[0].error.as_deref()), ("Bash", Some("Exit code 2\nno rule")));
        let call = json!({"tool_name": "read_file", "tool_use_id": "d", "tool_input": {"file_path": "/p/a"},
            "error": "File not found: /p/a", "is_interrupt": false});
        let Moment::ToolsUsed { uses, .. } = moment("PostToolUseFailure", &call) else { panic!() };
        assert_eq!((uses[0].tool.as_str(), uses[0].error.as_deref()), ("Read", Some("File not found: /p/a")));
    }

    #[test]
    fn only_a_persons_prompt_is_a_prompt() {
        assert_eq!(moment("UserPromptSubmit", &json!({"prompt": "do"})), Moment::PromptSubmitted { prompt: "do".into() });
        assert!(matches!(moment("UserPromptSubmit", &json!({"prompt": ""})), Moment::Other { .. }));
    }
}
