//! pi: what our extension for it sends and accepts. pi has no hooks of its own; it loads extensions. Checked with version 1.3.0.

use super::event::{Event, Moment};
use super::fields::{Fields, PayloadError};
use super::name::Agent;
use super::plugin;
use super::tool_mapping::Outcome;

/// What stands before the exit code at the end of a failed command's output.
const EXIT_CODE: &str = "Command exited with code ";

/// Parses a payload.
pub(super) fn parse(input: &[u8]) -> Result<Event, PayloadError> {
    let fields = Fields::of_payload(input)?;
    let session = fields.session("session_id")?;
    let cwd = fields.folder("cwd");
    let text = |key: &str| fields.text(key).unwrap_or_default();
    let event = text("hook_event_name");
    let moment = match event.as_str() {
        "session_start" => Moment::Start { source: fields.text("source").unwrap_or_else(|| "startup".into()) },
        "before_agent_start" => Moment::PromptSubmitted { prompt: text("prompt") },
        "tool_result" => Moment::ToolsUsed { uses: plugin::uses(&fields, &session, &cwd, outcome), batch: false },
        "session_before_compact" => {
            let is_manual = fields.text("trigger").is_some_and(|trigger| trigger == "manual");
            Moment::Compacting { trigger: if is_manual { "manual" } else { "auto" }.into() }
        }
        "session_compact" => Moment::Compacted { summary: text("summary") },
        "agent_end" => Moment::TurnEnded { last_message: fields.text("last_message"), again: false },
        "session_shutdown" => Moment::End { reason: "other".into() },
        _ => Moment::Other { name: event },
    };
    Ok(Event {
        agent: Agent::Pi,
        session,
        // A session's file is a tree with branches that were left, so a synthesized transcript is used instead.
        transcript: None,
        cwd,
        moved_to: None,
        model: fields.text("model"),
        // pi has no sub-agents of its own.
        sub_agent: None,
        prompt: None,
        moment,
    })
}

fn outcome(fields: &Fields<'_>) -> Outcome {
    match fields.text("tool_error") {
        Some(text) => failure(text),
        None => Outcome { text: fields.text("tool_output").unwrap_or_default(), failed: false },
    }
}

/// Returns the outcome of a call that failed. A command's exit code is at the end of its output.
fn failure(text: String) -> Outcome {
    let code = text.rsplit_once(EXIT_CODE).and_then(|(output, code)| Some((output.trim_end(), code.trim().parse().ok()?)));
    match code {
        Some((output, code)) => Outcome::with_code(code, output),
        None => Outcome { text, failed: true },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::plugin::answer;
    use super::*;

    fn moment(name: &str, more: &Value) -> Moment {
        let mut payload = json!({"hook_event_name": name, "session_id": "019c-1", "cwd": "/p", "model": "m"});
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let event = parse(payload.to_string().as_bytes()).unwrap();
        assert_eq!((event.agent, event.model.as_deref(), event.transcript), (Agent::Pi, Some("m"), None));
        event.moment
    }

    #[test]
    fn calls_are_told_in_claude_codes_terms() {
        let used = |more: &Value| match moment("tool_result", more) {
            Moment::ToolsUsed { mut uses, .. } => uses.remove(0),
            other => panic!("{other:?}"),
        };
        let command = |outcome: (&str, &str)| {
            used(&json!({"tool_name": "bash", "tool_use_id": "c", "tool_input": {"command": "make"}, outcome.0: outcome.1}))
        };
        let failed = command(("tool_error", "no rule\n\nCommand exited with code 2"));
        assert_eq!((failed.tool.as_str(), failed.error.as_deref()), ("Bash", Some("Exit code 2\nno rule")));
        assert_eq!(command(("tool_error", "Command aborted")).error.as_deref(), Some("Command aborted"));
        assert_eq!(command(("tool_output", "done")).error, None);
        let edit = json!({"tool_name": "edit", "tool_use_id": "d", "tool_output": "done",
            "tool_input": {"path": "a", "edits": [{"oldText": "x", "newText": "y"}]}});
        assert_eq!(used(&edit).input, r#"{"edits":[{"new_string":"y","old_string":"x"}],"file_path":"/p/a"}"#);
        assert_eq!(used(&json!({"tool_name": "find", "tool_input": {"pattern": "*.rs"}})).tool, "Glob");
    }

    #[test]
    fn a_compaction_says_who_wanted_it() {
        let trigger = |reason: &str| moment("session_before_compact", &json!({"trigger": reason}));
        assert_eq!(trigger("manual"), Moment::Compacting { trigger: "manual".into() });
        assert_eq!(trigger("overflow"), Moment::Compacting { trigger: "auto".into() });
    }

    #[test]
    fn only_what_the_extension_shows_is_answered() {
        let start = Moment::Start { source: "startup".into() };
        assert_eq!(answer(&start, "c").as_deref(), Some(r#"{"context":"c"}"#));
        assert_eq!(answer(&Moment::End { reason: "other".into() }, "c"), None);
    }
}
