//! Gemini CLI: it has its own event names, and its hooks must write exactly one JSON object to standard output. Checked
//! against what version 0.61.0 sends.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::event::{Event, Moment, ToolUse, derive_id};
use super::fields::{Fields, PayloadError};
use super::name::Agent;
use super::tool_mapping::{self, Outcome};

/// Parses a payload.
pub(super) fn parse(input: &[u8], name: Option<&str>) -> Result<Event, PayloadError> {
    let fields = Fields::of_payload(input)?;
    let session = fields.session("session_id")?;
    let cwd = fields.folder("cwd");
    let text = |key: &str| fields.text(key).unwrap_or_default();
    let event = fields.text("hook_event_name").or_else(|| name.map(str::to_owned)).unwrap_or_default();
    let moment = match event.as_str() {
        "SessionStart" => Moment::Start { source: fields.text("source").unwrap_or_else(|| "startup".into()) },
        "BeforeAgent" => Moment::PromptSubmitted { prompt: without_context(&text("prompt")).to_owned() },
        "AfterTool" => Moment::ToolsUsed { uses: uses(&fields, &session, &cwd), batch: false },
        "AfterAgent" => Moment::TurnEnded {
            last_message: fields.text("prompt_response"),
            again: fields.get("stop_hook_active").unwrap_or_default(),
        },
        // `auto` comes before every model call, whether or not there is anything to compress. Actual compressions are
        // read from the chat file.
        "PreCompress" if text("trigger") != "auto" => Moment::Compacting { trigger: text("trigger") },
        "SessionEnd" => Moment::End { reason: text("reason") },
        _ => Moment::Other { name: event },
    };
    Ok(Event {
        agent: Agent::Gemini,
        session,
        transcript: fields.text("transcript_path").map(PathBuf::from),
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
fn uses(fields: &Fields<'_>, session: &str, cwd: &std::path::Path) -> Vec<ToolUse> {
    let Some(tool) = fields.id("tool_name") else { return Vec::new() };
    let input = fields.value("tool_input");
    let response = fields.value("tool_response");
    let outcome = outcome(&tool, &response);
    let id = derive_id(&[session, &fields.text("timestamp").unwrap_or_default(), &tool, &input.to_string(), &outcome.text]);
    tool_mapping::to_claude_code(&ToolUse { id, tool, ..outcome.tool_use() }, &input, cwd)
}

/// Reads a result: `llmContent`, `returnDisplay` and, if the tool itself failed, `error`.
fn outcome(tool: &str, response: &Value) -> Outcome {
    let said = match tool_mapping::text(&response["llmContent"]) {
        said if said.is_empty() => tool_mapping::text(&response["returnDisplay"]),
        said => said,
    };
    let error = &response["error"];
    if !error.is_null() {
        let message = error["message"].as_str().or(error.as_str()).filter(|message| !message.is_empty());
        return Outcome { text: message.map_or(said, str::to_owned), failed: true };
    }
    said_by(tool, &said)
}

/// Parses the text that the model was given. A command's text has `Output:` and, if the command failed, `Exit Code:`
/// after the output.
pub(super) fn said_by(tool: &str, said: &str) -> Outcome {
    let said = said.split("\n\n<hook_context>").next().unwrap_or_default();
    let said = said
        .strip_prefix("<untrusted_context>\n")
        .map_or(said, |said| said.strip_suffix("\n</untrusted_context>").unwrap_or(said));
    if tool_mapping::claude_code_name(tool) != "Bash" {
        return Outcome { text: said.to_owned(), failed: false };
    }
    let code = said.lines().rev().take(8).find_map(|line| line.strip_prefix("Exit Code: ")?.trim().parse().ok());
    let output = said.find("Output: ").map_or(said, |at| &said[at + "Output: ".len()..]);
    let ends = ["\nExit Code: ", "\nSignal: ", "\nBackground PIDs: ", "\nProcess Group PGID: ", "\nError: "];
    let end = ends.iter().filter_map(|word| output.rfind(word)).min().unwrap_or(output.len());
    Outcome::with_code(code.unwrap_or_default(), output[..end].trim_end())
}

/// Removes the context that hooks added at the start of the session: without a terminal, Gemini CLI puts it before the
/// first prompt. The context itself contains no `<` or `>`.
pub(super) fn without_context(prompt: &str) -> &str {
    let inside = prompt.strip_prefix("<hook_context>");
    inside.and_then(|inside| inside.split_once("</hook_context>")).map_or(prompt, |(_, prompt)| prompt.trim_start())
}

/// Returns the response that shows `context` to the model.
pub(super) fn answer(moment: &Moment, context: &str) -> Option<String> {
    let event = match moment {
        Moment::Start { .. } => "SessionStart",
        Moment::PromptSubmitted { .. } => "BeforeAgent",
        Moment::ToolsUsed { .. } => "AfterTool",
        Moment::TurnEnded { .. } => return Some(json!({"decision": "deny", "reason": context}).to_string()),
        _ => return None,
    };
    Some(json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(event: &str, more: &Value) -> Moment {
        let mut payload = json!({"session_id": "s", "transcript_path": "/t.jsonl", "cwd": "/p", "hook_event_name": event,
            "timestamp": "2026-11-22T10:00:00.000Z"});
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let event = parse(payload.to_string().as_bytes(), None).unwrap();
        assert_eq!(event.agent, Agent::Gemini);
        event.moment
    }

    #[test]
    fn what_it_sends() {
        assert_eq!(moment("SessionStart", &json!({"source": "resume"})), Moment::Start { source: "resume".into() });
        assert_eq!(moment("BeforeAgent", &json!({"prompt": "x"})), Moment::PromptSubmitted { prompt: "x".into() });
        assert_eq!(
            moment("AfterAgent", &json!({"prompt": "x", "prompt_response": "y", "stop_hook_active": true})),
            Moment::TurnEnded { last_message: Some("y".into()), again: true }
        );
        let first = json!({"prompt": "<hook_context>## Session Memory\nx</hook_context>\n\nMend it"});
        assert_eq!(moment("BeforeAgent", &first), Moment::PromptSubmitted { prompt: "Mend it".into() });
        assert_eq!(moment("PreCompress", &json!({"trigger": "manual"})), Moment::Compacting { trigger: "manual".into() });
        assert_eq!(moment("PreCompress", &json!({"trigger": "auto"})), Moment::Other { name: "PreCompress".into() });
        assert_eq!(moment("SessionEnd", &json!({"reason": "exit"})), Moment::End { reason: "exit".into() });
        assert_eq!(moment("BeforeModel", &json!({})), Moment::Other { name: "BeforeModel".into() });
    }

    #[test]
    fn uses_are_in_claude_codes_terms() {
        let used = |tool: &str, input: Value, response: Value| {
            let Moment::ToolsUsed { mut uses, .. } =
                moment("AfterTool", &json!({"tool_name": tool, "tool_input": input, "tool_response": response}))
            else {
                panic!()
            };
            uses.remove(0)
        };
        let ran = used(
            "run_shell_command",
            json!({"command": "cargo test"}),
            json!({"llmContent": "<untrusted_context>\nOutput: running\nFAILED\nExit Code: 101\nProcess Group PGID: 7\n</untrusted_context>", "returnDisplay": "x"}),
        );
        assert_eq!((ran.tool.as_str(), ran.input.as_str()), ("Bash", r#"{"command":"cargo test"}"#));
        assert_eq!(ran.error.as_deref(), Some("Exit code 101\nrunning\nFAILED"));
        let again = used("run_shell_command", json!({"command": "ls"}), json!({"llmContent": "Output: (empty)"}));
        assert!(again.error.is_none() && again.id != ran.id);
        let wrapped =
            json!({"llmContent": "<untrusted_context>\nOutput: a\n</untrusted_context>\n\n<hook_context>x</hook_context>"});
        assert_eq!(used("run_shell_command", json!({"command": "ls"}), wrapped).output, "\"a\"");
        let failed = used(
            "replace",
            json!({"file_path": "/p/a", "old_string": "x", "new_string": "y"}),
            json!({"llmContent": "no", "returnDisplay": "no", "error": {"message": "0 occurrences", "type": "x"}}),
        );
        assert_eq!((failed.tool.as_str(), failed.error.as_deref()), ("Edit", Some("0 occurrences")));
        let read = used("read_file", json!({"file_path": "/p/a"}), json!({"llmContent": [{"text": "line"}]}));
        assert_eq!((read.tool.as_str(), read.output.as_str()), ("Read", "\"line\""));
    }
}
