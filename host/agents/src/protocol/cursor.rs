//! Cursor: payloads with `conversation_id` and `workspace_roots`, and its own response format. If the user allows it,
//! Cursor also runs Claude Code's hooks, with the same payloads and either Claude Code's or its own event names.
//! Written from its documentation.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::event::{Event, Moment, ToolUse, derive_id};
use super::fields::{Fields, PayloadError};
use super::name::Agent;
use super::tool_mapping::{self, Outcome};

/// Returns whether a payload of an unnamed agent is Cursor's.
pub(super) fn is_from(fields: &Fields<'_>) -> bool {
    fields.has("cursor_version") || (fields.has("conversation_id") && fields.has("workspace_roots"))
}

/// Parses a payload.
pub(super) fn parse(input: &[u8], name: Option<&str>) -> Result<Event, PayloadError> {
    let fields = Fields::of_payload(input)?;
    let session = fields.session("conversation_id").or_else(|_| fields.session("session_id"))?;
    let roots: Vec<PathBuf> = fields.get("workspace_roots").unwrap_or_default();
    // The workspace folder, not the working directory of a command, which can be anywhere.
    let here = fields.folder("cwd");
    let cwd = roots.into_iter().find(|root| root.is_absolute()).unwrap_or_else(|| here.clone());
    let text = |key: &str| fields.text(key).unwrap_or_default();
    let event = fields.text("hook_event_name").or_else(|| name.map(str::to_owned)).unwrap_or_default();
    let moment = match event.to_ascii_lowercase().as_str() {
        "sessionstart" => Moment::Start { source: fields.text("source").unwrap_or_else(|| "startup".into()) },
        "beforesubmitprompt" | "userpromptsubmit" => Moment::PromptSubmitted { prompt: text("prompt") },
        "posttooluse" | "posttoolusefailure" => Moment::ToolsUsed { uses: uses(&fields, &session, &cwd), batch: false },
        "afteragentresponse" => Moment::MessageWritten { text: text("text") },
        "stop" => match fields.text("status").as_deref() {
            Some("error") => Moment::TurnFailed { error: "error".into(), message: fields.text("error_message") },
            _ => Moment::TurnEnded {
                last_message: fields.text("last_assistant_message"),
                again: fields.get::<u32>("loop_count").is_some_and(|count| count > 0),
            },
        },
        "subagentstop" => Moment::SubAgentStopped {
            id: text("subagent_id"),
            kind: text("subagent_type"),
            transcript: None,
            last_message: fields.text("summary").or_else(|| fields.text("result")),
        },
        "precompact" => Moment::Compacting { trigger: text("trigger") },
        "sessionend" => Moment::End { reason: text("reason") },
        _ => Moment::Other { name: event },
    };
    Ok(Event {
        agent: Agent::Cursor,
        session,
        // Cursor's own transcripts have neither timestamps nor tool results, so a synthesized transcript is used
        // instead.
        transcript: None,
        moved_to: (here.is_absolute() && here != cwd).then_some(here),
        cwd,
        model: fields.text("model"),
        sub_agent: None,
        prompt: fields.id("generation_id"),
        moment,
    })
}

fn uses(fields: &Fields<'_>, session: &str, cwd: &Path) -> Vec<ToolUse> {
    let Some(tool) = fields.id("tool_name") else { return Vec::new() };
    let input = fields.value("tool_input");
    let error = fields.text("error_message").or_else(|| fields.text("error"));
    let outcome = match error {
        Some(text) => Outcome { text, failed: true },
        None => {
            outcome(&if fields.has("tool_output") { fields.value("tool_output") } else { fields.value("tool_response") })
        }
    };
    let id = fields.id("tool_use_id").unwrap_or_else(|| {
        derive_id(&[session, &fields.id("generation_id").unwrap_or_default(), &tool, &input.to_string(), &outcome.text])
    });
    let tool = tool.strip_prefix("MCP:").map_or(tool.clone(), |name| format!("mcp__{name}"));
    let interrupted = fields.get("is_interrupt").unwrap_or_default();
    let duration = fields.raw("duration").and_then(|ms| ms.split('.').next()?.parse().ok());
    tool_mapping::to_claude_code(&ToolUse { id, tool, interrupted, duration, ..outcome.tool_use() }, &input, cwd)
}

/// Parses a result. A command's result is an object with its output and exit code.
fn outcome(output: &Value) -> Outcome {
    let code = ["exitCode", "exit_code"].iter().find_map(|key| output[*key].as_i64()).unwrap_or_default();
    let said = match tool_mapping::text(output) {
        said if said.is_empty() && !output.is_null() && !output.is_string() => output.to_string(),
        said => said,
    };
    Outcome::with_code(code, &said)
}

/// Returns the response that shows `context` to the model. The response to a prompt can only allow it, which no response
/// does too.
pub(super) fn answer(moment: &Moment, context: &str) -> Option<String> {
    match moment {
        Moment::Start { .. } | Moment::ToolsUsed { .. } => Some(json!({"additional_context": context}).to_string()),
        Moment::TurnEnded { .. } => Some(json!({"followup_message": context}).to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(event: &str, more: &Value) -> Event {
        let mut payload = json!({"conversation_id": "c", "generation_id": "g", "model": "m", "hook_event_name": event,
            "cursor_version": "2.4.0", "workspace_roots": ["/p", "/q"], "user_email": null, "transcript_path": null});
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        parse(payload.to_string().as_bytes(), None).unwrap()
    }

    #[test]
    fn what_it_sends() {
        let start = event("sessionStart", &json!({"session_id": "c", "is_background_agent": false}));
        assert_eq!((start.cwd.as_path(), start.session.as_str()), (Path::new("/p"), "c"));
        assert_eq!(start.moment, Moment::Start { source: "startup".into() });
        assert_eq!(
            event("beforeSubmitPrompt", &json!({"prompt": "x"})).moment,
            Moment::PromptSubmitted { prompt: "x".into() }
        );
        assert_eq!(
            event("UserPromptSubmit", &json!({"prompt": "x"})).moment,
            Moment::PromptSubmitted { prompt: "x".into() }
        );
        assert_eq!(event("afterAgentResponse", &json!({"text": "x"})).moment, Moment::MessageWritten { text: "x".into() });
        assert_eq!(
            event("stop", &json!({"status": "completed", "loop_count": 0})).moment,
            Moment::TurnEnded { last_message: None, again: false }
        );
        assert!(matches!(event("afterFileEdit", &json!({})).moment, Moment::Other { .. }));
    }

    #[test]
    fn uses_are_in_claude_codes_terms() {
        let used = |name: &str, more: Value| {
            let Moment::ToolsUsed { mut uses, .. } = event(name, &more).moment else { panic!() };
            uses.remove(0)
        };
        let ran = used(
            "postToolUse",
            json!({"tool_name": "Shell", "tool_input": {"command": "make"}, "tool_use_id": "t", "cwd": "/p/sub",
                "tool_output": "{\"exitCode\":2,\"output\":\"no rule\"}", "duration": 12.5}),
        );
        assert_eq!((ran.tool.as_str(), ran.id.as_str(), ran.duration), ("Bash", "t", Some(12)));
        assert_eq!(ran.error.as_deref(), Some("Exit code 2\nno rule"));
        let failed = used(
            "postToolUseFailure",
            json!({"tool_name": "Read", "tool_input": {"path": "a"}, "error_message": "not there", "failure_type": "error"}),
        );
        assert_eq!((failed.tool.as_str(), failed.error.as_deref()), ("Read", Some("not there")));
        assert_eq!(failed.input, r#"{"file_path":"/p/a"}"#);
        assert_eq!(
            used("postToolUse", json!({"tool_name": "MCP:x", "tool_input": "{}", "tool_output": "{}"})).tool,
            "mcp__x"
        );
    }
}
