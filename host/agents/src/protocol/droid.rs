//! Factory's droid: hooks in Claude Code's format, with some tool names of its own. Written from its documentation.

use super::claude_code;
use super::event::{Event, Moment, ToolUse, derive_id};
use super::fields::PayloadError;
use super::name::Agent;
use super::tool_mapping;

/// Parses a payload.
pub(super) fn parse(input: &[u8]) -> Result<Event, PayloadError> {
    let event = claude_code::parse(input, None)?;
    let moment = match &event.moment {
        Moment::ToolsUsed { uses, batch } if !uses.is_empty() => {
            let uses = uses.iter().flat_map(|it| in_terms(it, &event)).collect();
            Moment::ToolsUsed { uses, batch: *batch }
        }
        // No call was parsed, so the call has no identifier. Claude Code's calls always have one.
        Moment::ToolsUsed { .. } => Moment::ToolsUsed { uses: without_id(input, &event), batch: false },
        other => other.clone(),
    };
    Ok(Event { agent: Agent::Droid, moment, ..event })
}

fn without_id(input: &[u8], event: &Event) -> Vec<ToolUse> {
    let Ok(fields) = super::fields::Fields::of_payload(input) else { return Vec::new() };
    let Some(tool) = fields.id("tool_name") else { return Vec::new() };
    let (input, output) = (fields.json("tool_input"), fields.json("tool_response"));
    let id = derive_id(&[&event.session, &tool, &input, &output]);
    in_terms(&ToolUse { id, tool, input, output, ..ToolUse::default() }, event)
}

fn in_terms(tool_use: &ToolUse, event: &Event) -> Vec<ToolUse> {
    let input = serde_json::from_str(&tool_use.input).unwrap_or_default();
    tool_mapping::to_claude_code(tool_use, &input, &event.cwd)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn created_files_are_written() {
        let payload = json!({"session_id": "s", "transcript_path": "/t", "cwd": "/p", "hook_event_name": "PostToolUse",
            "tool_name": "Create", "tool_input": {"file_path": "/p/a", "content": "x"}, "tool_response": {"ok": true}});
        let event = parse(payload.to_string().as_bytes()).unwrap();
        assert_eq!(event.agent, Agent::Droid);
        let Moment::ToolsUsed { uses, .. } = event.moment else { panic!() };
        assert_eq!((uses[0].tool.as_str(), uses[0].input.as_str()), ("Write", r#"{"content":"x","file_path":"/p/a"}"#));
        assert!(!uses[0].id.is_empty());
    }
}
