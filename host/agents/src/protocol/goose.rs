//! Goose: what its hooks send. It shows the model nothing that they answer, so there is no answer. Written after its documentation
//! and source of November 2026.

use std::path::Path;

use super::event::{Event, Moment, ToolUse, derive_id};
use super::fields::{Fields, PayloadError};
use super::name::Agent;
use super::tool_mapping::{self, Outcome};

/// Parses a payload.
pub(super) fn parse(input: &[u8]) -> Result<Event, PayloadError> {
    let fields = Fields::of_payload(input)?;
    let session = fields.session("session_id")?;
    // Only calls of tools tell the folder. The command line runs hooks in it.
    let told = fields.folder("working_dir");
    let cwd = if told.is_absolute() { told } else { std::env::current_dir().unwrap_or_default() };
    let event = fields.text("event").unwrap_or_default();
    let moment = match event.as_str() {
        "SessionStart" => Moment::Start { source: "startup".into() },
        "UserPromptSubmit" => Moment::PromptSubmitted { prompt: fields.text("message").unwrap_or_default() },
        "PostToolUse" => Moment::ToolsUsed { uses: uses(&fields, &session, &cwd, false), batch: false },
        "PostToolUseFailure" => Moment::ToolsUsed { uses: uses(&fields, &session, &cwd, true), batch: false },
        "Stop" => Moment::TurnEnded { last_message: fields.text("last_assistant_message"), again: false },
        "SessionEnd" => Moment::End { reason: "other".into() },
        _ => Moment::Other { name: event },
    };
    Ok(Event {
        agent: Agent::Goose,
        session,
        // Goose keeps sessions in a database, whose form it does not promise.
        transcript: None,
        cwd,
        moved_to: None,
        model: None,
        sub_agent: None,
        prompt: None,
        moment,
    })
}

fn uses(fields: &Fields<'_>, session: &str, cwd: &Path, failed: bool) -> Vec<ToolUse> {
    let Some(name) = fields.id("tool_name") else { return Vec::new() };
    // The extension with Goose's own tools.
    let tool = name.strip_prefix("developer__").unwrap_or(&name).to_owned();
    let input = fields.value("tool_input");
    let output = tool_mapping::text(&fields.value("tool_output"));
    let text = if output.is_empty() && failed { "the call failed".to_owned() } else { output };
    let outcome = Outcome { text, failed };
    let id = fields.id("tool_call_id").unwrap_or_else(|| derive_id(&[session, &tool, &input.to_string(), &outcome.text]));
    tool_mapping::to_claude_code(&ToolUse { id, tool, ..outcome.tool_use() }, &input, cwd)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(payload: &str) -> Event {
        parse(payload.as_bytes()).unwrap()
    }

    // The payloads are those of Goose's documentation.
    #[test]
    fn calls_are_told_in_claude_codes_terms() {
        let used = event(
            r#"{"event": "PostToolUse", "session_id": "abc-123", "matcher_context": "developer__shell", "tool_call_id": "call_1",
                "tool_name": "developer__shell", "tool_input": {"command": "rg TODO"}, "working_dir": "/Users/you/project"}"#,
        );
        assert_eq!(used.cwd, Path::new("/Users/you/project"));
        let Moment::ToolsUsed { uses, .. } = used.moment else { panic!() };
        assert_eq!((uses[0].id.as_str(), uses[0].tool.as_str(), &uses[0].error), ("call_1", "Bash", &None));
        let failed = event(
            r#"{"event": "PostToolUseFailure", "session_id": "abc-123", "tool_name": "developer__edit",
                "tool_input": {"path": "a.rs", "before": "x", "after": "y"}, "working_dir": "/p"}"#,
        );
        let Moment::ToolsUsed { uses, .. } = failed.moment else { panic!() };
        assert_eq!(uses[0].input, r#"{"file_path":"/p/a.rs","new_string":"y","old_string":"x"}"#);
        assert_eq!(uses[0].error.as_deref(), Some("the call failed"));
    }

    #[test]
    fn prompts_and_answers_are_read() {
        let asked = event(
            r#"{"event": "UserPromptSubmit", "session_id": "abc-123", "matcher_context": "summarize this file",
                "message": "summarize this file"}"#,
        );
        assert_eq!(asked.moment, Moment::PromptSubmitted { prompt: "summarize this file".into() });
        assert_eq!((asked.agent, asked.cwd), (Agent::Goose, std::env::current_dir().unwrap()));
        let answered = r#"{"event": "Stop", "session_id": "abc-123", "last_assistant_message": "Done."}"#;
        assert_eq!(event(answered).moment, Moment::TurnEnded { last_message: Some("Done.".into()), again: false });
        let denied = r#"{"event": "PreToolUseResult", "session_id": "abc-123"}"#;
        assert_eq!(event(denied).moment, Moment::Other { name: "PreToolUseResult".into() });
    }
}
