//! Codex CLI: hooks in Claude Code's format with its own tool names, and `notify`, the program that Codex calls after a
//! turn. Checked against what Codex 0.169.0 sends.
//!
//! Codex rejects a hook response with an unknown field.

use std::path::Path;

use serde_json::json;

use super::claude_code;
use super::event::{Event, Moment, ToolUse};
use super::fields::{Fields, MAX_ID_BYTES, PayloadError};
use super::name::Agent;
use super::tool_mapping::{self, Outcome};

/// The word after `--agent codex` in a `notify` configuration. Codex passes the payload as the next argument.
pub const NOTIFY: &str = "notify";

/// Parses a payload.
pub(super) fn parse(input: &[u8]) -> Result<Event, PayloadError> {
    let event = claude_code::parse(input, None)?;
    let fields = Fields::of_payload(input)?;
    let cwd = event.cwd.clone();
    let moment = match event.moment {
        Moment::ToolsUsed { uses, .. } => {
            Moment::ToolsUsed { uses: uses.iter().flat_map(|it| in_terms(it, &cwd)).collect(), batch: false }
        }
        other => other,
    };
    Ok(Event { agent: Agent::Codex, prompt: fields.id("turn_id"), moment, ..event })
}

/// Converts a call to Claude Code's terms. A tool's response is a single text; it contains the exit code of a patch but
/// not of a command.
fn in_terms(tool_use: &ToolUse, cwd: &Path) -> Vec<ToolUse> {
    let input = serde_json::from_str(&tool_use.input).unwrap_or_default();
    let output = serde_json::from_str(&tool_use.output).unwrap_or_default();
    let came_to = outcome(&tool_mapping::text(&output)).tool_use();
    let error = tool_use.error.clone().or(came_to.error);
    tool_mapping::to_claude_code(&ToolUse { output: came_to.output, error, ..tool_use.clone() }, &input, cwd)
}

/// Parses the payload of `notify`: the end of a turn, or anything else as [`Moment::Other`].
pub fn parse_notification(json: &[u8]) -> Result<Event, PayloadError> {
    let fields = Fields::of_payload(json)?;
    let moment = match fields.text("type").as_deref() {
        Some("agent-turn-complete") => {
            Moment::TurnEnded { last_message: fields.text("last-assistant-message"), again: false }
        }
        other => Moment::Other { name: format!("{NOTIFY} {}", other.unwrap_or_default()) },
    };
    Ok(Event {
        agent: Agent::Codex,
        session: fields.session("thread-id")?,
        transcript: None,
        cwd: fields.folder("cwd"),
        moved_to: None,
        model: None,
        sub_agent: None,
        prompt: fields.text("turn-id").filter(|id| id.len() <= MAX_ID_BYTES),
        moment,
    })
}

/// Returns the response that shows `context` to the model. droid accepts the same responses.
pub(super) fn answer(moment: &Moment, context: &str) -> Option<String> {
    match moment {
        Moment::TurnEnded { .. } => Some(json!({"decision": "block", "reason": context}).to_string()),
        // Codex has no event for failed calls.
        Moment::ToolsUsed { .. } => {
            Some(json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": context}}).to_string())
        }
        _ => claude_code::answer(moment, context),
    }
}

/// Parses a tool's result. Results of commands and patches have a heading that ends with `Output:`.
pub(super) fn outcome(said: &str) -> Outcome {
    const HEADINGS: [&str; 4] = ["Chunk ID: ", "Wall time: ", "Exit code: ", "Process exited with code "];
    const CODES: [&str; 2] = ["Process exited with code ", "Exit code: "];
    // Older versions return an object encoded as a string.
    if said.starts_with("{\"output\":")
        && let Ok(value) = serde_json::from_str::<serde_json::Value>(said)
    {
        let code = value["metadata"]["exit_code"].as_i64().unwrap_or_default();
        return Outcome::with_code(code, value["output"].as_str().unwrap_or_default());
    }
    let has_heading = HEADINGS.iter().any(|beginning| said.starts_with(beginning));
    let heading_end = said.find("Output:\n").filter(|end| has_heading && *end <= 512);
    let (heading, rest) = heading_end.map_or((said, said), |end| (&said[..end], &said[end + "Output:\n".len()..]));
    let code = heading
        .lines()
        .filter(|_| has_heading)
        .take(8)
        .find_map(|line| CODES.iter().find_map(|word| line.strip_prefix(word)?.trim().parse::<i64>().ok()));
    match code {
        Some(code) => Outcome::with_code(code, rest),
        None => Outcome { text: rest.to_owned(), failed: is_refusal(said) },
    }
}

/// Returns whether the text says that the tool did not run.
fn is_refusal(said: &str) -> bool {
    const REFUSALS: [&str; 6] = [
        "unsupported c",
        "apply_patch verification failed",
        "failed to parse function arguments",
        "exec_command failed",
        "execution error:",
        "unable to locate image",
    ];
    REFUSALS.iter().any(|beginning| said.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(payload: &str) -> Moment {
        parse(payload.as_bytes()).unwrap().moment
    }

    #[test]
    fn what_it_sends() {
        let event = parse(
            br#"{"session_id":"s","turn_id":"t","transcript_path":null,"cwd":"/p","hook_event_name":"UserPromptSubmit","model":"m","permission_mode":"default","prompt":"hello"}"#,
        )
        .unwrap();
        assert_eq!(event.agent, Agent::Codex);
        assert_eq!((event.prompt.as_deref(), event.transcript), (Some("t"), None));
        assert_eq!(event.moment, Moment::PromptSubmitted { prompt: "hello".into() });
        assert_eq!(
            moment(r#"{"session_id":"s","hook_event_name":"Interrupt"}"#),
            Moment::Other { name: "Interrupt".into() }
        );
    }

    #[test]
    fn a_patch_is_told_a_file() {
        let patch = "*** Begin Patch\n*** Add File: a.rs\n+x\n*** Delete File: b.rs\n*** End Patch\n";
        let payload = json!({"session_id": "s", "cwd": "/p", "hook_event_name": "PostToolUse", "tool_name": "apply_patch",
            "tool_input": {"command": patch}, "tool_use_id": "call_3",
            "tool_response": "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nA a.rs\n"});
        let Moment::ToolsUsed { uses, .. } = moment(&payload.to_string()) else { panic!() };
        let seen: Vec<_> = uses.iter().map(|it| (it.id.as_str(), it.tool.as_str(), it.error.is_some())).collect();
        assert_eq!(seen, [("call_3", "Write", false), ("call_3#2", "Delete", false)]);
        assert_eq!(uses[0].input, r#"{"content":"x\n","file_path":"/p/a.rs"}"#);
    }

    #[test]
    fn notifications_are_answers() {
        let event = parse_notification(
            br#"{"type":"agent-turn-complete","thread-id":"s","turn-id":"t","cwd":"/p","input-messages":["a"],"last-assistant-message":"done"}"#,
        )
        .unwrap();
        assert_eq!(event.moment, Moment::TurnEnded { last_message: Some("done".into()), again: false });
        assert_eq!(event.session, "s");
        assert!(matches!(parse_notification(br#"{"type":"new","thread-id":"s"}"#).unwrap().moment, Moment::Other { .. }));
        assert!(parse_notification(b"x").is_err());
    }

    #[test]
    fn results_say_how_they_ended() {
        let of = |said: &str| (outcome(said).text, outcome(said).failed);
        let plain = "Chunk ID: 2b5cbd\nWall time: 0.0000 seconds\nProcess exited with code 0\nOriginal token count: 4\nOutput:\nhello\n";
        assert_eq!(of(plain), ("hello\n".into(), false));
        let failed = "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 3\nOutput:\nerr\n";
        assert_eq!(of(failed), ("Exit code 3\nerr\n".into(), true));
        assert_eq!(
            of(r#"{"output":"no\n","metadata":{"exit_code":2,"duration_seconds":0.1}}"#),
            ("Exit code 2\nno\n".into(), true)
        );
        assert_eq!(of("unsupported call: update_plan"), ("unsupported call: update_plan".into(), true));
        assert_eq!(of("Exit code: 1 is what it said"), ("Exit code: 1 is what it said".into(), false));
    }
}
