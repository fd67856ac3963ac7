//! GitHub Copilot CLI: camelCase payloads that do not name their event. Events that are registered under a capitalized
//! name use Claude Code's format instead, and so do hooks from a repository's `.claude/settings.json`. Checked against
//! what version 1.0.102 sends.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::event::{Event, Moment, ToolUse, derive_id};
use super::fields::{Fields, PayloadError};
use super::name::Agent;
use super::tool_mapping::{self, Outcome};

/// Returns whether a payload of an unnamed agent is Copilot's. Claude Code's payloads have a transcript path and no
/// timestamp.
pub(super) fn is_from(fields: &Fields<'_>) -> bool {
    fields.has("sessionId")
        || (fields.has("timestamp")
            && (!fields.has("transcript_path")
                || ["tool_result", "stop_reason", "initial_prompt"].iter().any(|key| fields.has(key))
                || fields.text("transcript_path").is_some_and(|path| path.contains("/.copilot/"))))
}

/// Parses a payload. `name` is the event, if the hook was registered with it.
pub(super) fn parse(input: &[u8], name: Option<&str>) -> Result<Event, PayloadError> {
    let fields = Fields::of_payload(input)?;
    let session = fields.session("sessionId").or_else(|_| fields.session("session_id"))?;
    let cwd = fields.folder("cwd");
    // The camelCase or the snake_case field, whichever is present.
    let text = |camel: &str, snake: &str| fields.text(camel).or_else(|| fields.text(snake));
    let event = text("hook_event_name", "hookEventName").or_else(|| name.map(str::to_owned)).unwrap_or_default();
    let moment = match event.to_ascii_lowercase().as_str() {
        "sessionstart" => Moment::Start {
            source: match fields.text("source") {
                Some(source) if source != "new" => source,
                _ => "startup".into(),
            },
        },
        "userpromptsubmitted" | "userpromptsubmit" => {
            Moment::PromptSubmitted { prompt: text("prompt", "prompt").unwrap_or_default() }
        }
        "posttooluse" | "posttoolusefailure" => Moment::ToolsUsed { uses: uses(&fields, &session, &cwd), batch: false },
        "agentstop" | "stop" => Moment::TurnEnded {
            last_message: fields.text("last_assistant_message"),
            again: fields.get("stop_hook_active").unwrap_or_default(),
        },
        "subagentstop" => Moment::SubAgentStopped {
            id: text("agentId", "agent_id").unwrap_or_default(),
            kind: text("agentType", "agent_type").or_else(|| text("agentName", "agent_name")).unwrap_or_default(),
            // The transcript in the payload is the session's, not the sub-agent's.
            transcript: None,
            last_message: text("response", "last_assistant_message"),
        },
        "precompact" => Moment::Compacting { trigger: fields.text("trigger").unwrap_or_default() },
        "sessionend" => Moment::End { reason: fields.text("reason").unwrap_or_default() },
        _ => Moment::Other { name: event },
    };
    Ok(Event {
        agent: Agent::Copilot,
        session,
        transcript: text("transcriptPath", "transcript_path").map(PathBuf::from),
        cwd,
        moved_to: None,
        model: None,
        sub_agent: None,
        prompt: None,
        moment,
    })
}

/// Returns the call in Claude Code's terms. The payload has no identifier for it; one is made from the timestamp, the
/// input and the output.
fn uses(fields: &Fields<'_>, session: &str, cwd: &Path) -> Vec<ToolUse> {
    let Some(tool) = fields.id("toolName").or_else(|| fields.id("tool_name")) else { return Vec::new() };
    let value = |camel: &str, snake: &str| if fields.has(camel) { fields.value(camel) } else { fields.value(snake) };
    let input = value("toolArgs", "tool_input");
    let result = value("toolResult", "tool_result");
    let outcome = if fields.raw("error").is_some() {
        let error = fields.value("error");
        let message = error["message"].as_str().map_or_else(|| tool_mapping::text(&error), str::to_owned);
        Outcome { text: message, failed: true }
    } else {
        let kind = result["resultType"].as_str().or(result["result_type"].as_str()).unwrap_or("success");
        let said = said_by(&tool, &tool_mapping::text(&result));
        Outcome { failed: said.failed || kind != "success", ..said }
    };
    let at = fields.raw("timestamp").unwrap_or_default();
    let id = derive_id(&[session, at, tool_mapping::claude_code_name(&tool), &input.to_string(), &outcome.text]);
    tool_mapping::to_claude_code(&ToolUse { id, tool, ..outcome.tool_use() }, &input, cwd)
}

/// Parses the text that the model was given. A command's exit code is in the last line, `<shellId: 0 completed with
/// exit code 1>`; older versions wrote `<exited with exit code 1>`.
pub(super) fn said_by(tool: &str, said: &str) -> Outcome {
    const MARK: &str = " with exit code ";
    // Output of hooks follows the result, both in the session file and in what the model sees.
    let said = match said.rfind("Additional guidance from postToolUse") {
        Some(at) => said[..at].rfind("\n\nTool \"").map_or(said, |at| &said[..at]),
        None => said,
    };
    let said_whole = said.trim_end();
    let at = said_whole.rfind('\n').map_or(0, |newline| newline + 1);
    let last = said_whole[at..].strip_prefix('<').and_then(|last| last.strip_suffix('>'));
    if tool_mapping::claude_code_name(tool) == "Bash"
        && let Some((_, code)) = last.and_then(|last| last.rsplit_once(MARK))
        && let Ok(code) = code.parse()
    {
        return Outcome::with_code(code, said_whole[..at].trim_end());
    }
    Outcome { text: said.to_owned(), failed: false }
}

/// Returns the response that shows `context` to the model.
pub(super) fn answer(moment: &Moment, context: &str) -> Option<String> {
    match moment {
        Moment::TurnEnded { .. } => Some(json!({"decision": "block", "reason": context}).to_string()),
        _ if shows_answer(moment) => Some(json!({"additionalContext": context}).to_string()),
        _ => None,
    }
}

/// Returns whether the model sees the response to the event.
pub(super) fn shows_answer(moment: &Moment) -> bool {
    matches!(
        moment,
        Moment::Start { .. } | Moment::PromptSubmitted { .. } | Moment::ToolsUsed { .. } | Moment::TurnEnded { .. }
    )
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn moment(name: Option<&str>, payload: &Value) -> Moment {
        let event = parse(payload.to_string().as_bytes(), name).unwrap();
        assert_eq!((event.agent, event.session.as_str()), (Agent::Copilot, "s"));
        event.moment
    }

    #[test]
    fn both_forms_say_the_same() {
        let camel = json!({"sessionId": "s", "timestamp": 1, "cwd": "/p", "source": "new", "initialPrompt": "x"});
        let snake = json!({"session_id": "s", "timestamp": "2026-11-22T10:00:00Z", "cwd": "/p", "source": "new",
            "hook_event_name": "SessionStart"});
        assert_eq!(moment(Some("sessionStart"), &camel), Moment::Start { source: "startup".into() });
        assert_eq!(moment(None, &snake), Moment::Start { source: "startup".into() });
        let camel = json!({"sessionId": "s", "timestamp": 1, "cwd": "/p", "toolName": "bash",
            "toolArgs": "{\"command\":\"make\"}",
            "toolResult": {"resultType": "success", "textResultForLlm": "no rule\n<shellId: 0 completed with exit code 2>"}});
        let snake = json!({"session_id": "s", "timestamp": 1, "cwd": "/p", "tool_name": "Bash", "hook_event_name": "PostToolUse",
            "tool_input": {"command": "make"},
            "tool_result": {"result_type": "success", "text_result_for_llm": "no rule\n<shellId: 0 completed with exit code 2>"}});
        let used = moment(Some("postToolUse"), &camel);
        assert_eq!(used, moment(None, &snake));
        let Moment::ToolsUsed { uses, .. } = used else { panic!() };
        assert_eq!((uses[0].tool.as_str(), uses[0].error.as_deref()), ("Bash", Some("Exit code 2\nno rule")));
    }

    #[test]
    fn commands_say_how_they_ended() {
        let code = |said: &str| (said_by("bash", said).failed, said_by("bash", said).text);
        assert_eq!(code("x\n<exited with exit code 2>"), (true, "Exit code 2\nx".into()));
        assert_eq!(code("<shellId: 0 completed with exit code 3>\n"), (true, "Exit code 3\n".into()));
        assert_eq!(code("x\n<shellId: 0 completed with exit code 0>"), (false, "x".into()));
        let guided = "x\n<shellId: 0 completed with exit code 1>\n\nTool \"bash\" succeeded. Additional guidance from postToolUse hooks:\ny";
        assert_eq!(code(guided), (true, "Exit code 1\nx".into()));
        let told = "<a completed with exit code 2>\nthat was it";
        assert_eq!(code(told), (false, told.into()));
        assert!(!said_by("view", "x\n<shellId: 0 completed with exit code 2>").failed);
    }

    #[test]
    fn failures_have_an_event_of_their_own() {
        let payload = json!({"sessionId": "s", "timestamp": 1, "cwd": "/p", "toolName": "edit",
            "toolArgs": {"path": "a", "old_str": "x", "new_str": "y"}, "error": "no match"});
        let used = moment(Some("postToolUseFailure"), &payload);
        assert_eq!(answer(&used, "x").unwrap(), r#"{"additionalContext":"x"}"#);
        let Moment::ToolsUsed { uses, .. } = used else { panic!() };
        assert_eq!((uses[0].tool.as_str(), uses[0].error.as_deref()), ("Edit", Some("no match")));
    }

    #[test]
    fn it_is_known_by_its_payloads() {
        let is_from = |payload: Value| is_from(&Fields::of_payload(payload.to_string().as_bytes()).unwrap());
        assert!(is_from(json!({"sessionId": "s", "timestamp": 1})));
        assert!(is_from(json!({"session_id": "s", "timestamp": "x", "hook_event_name": "UserPromptSubmit"})));
        assert!(is_from(json!({"session_id": "s", "timestamp": "x", "transcript_path": "/t", "stop_reason": "end_turn"})));
        assert!(!is_from(json!({"session_id": "s", "transcript_path": "/t", "hook_event_name": "Stop"})));
        assert!(!is_from(json!({"session_id": "s", "hook_event_name": "Stop"})));
    }
}
