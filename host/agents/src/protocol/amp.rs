//! Amp: what our plugin for it sends and accepts. Amp has no hooks of its own; it loads plugins. Written after plugins that others
//! published in 2026; Amp cannot be run without its server.

use super::event::{Event, Moment};
use super::fields::{Fields, PayloadError};
use super::name::Agent;
use super::plugin;
use super::tool_mapping::{self, Outcome};

/// Parses a payload.
pub(super) fn parse(input: &[u8]) -> Result<Event, PayloadError> {
    let fields = Fields::of_payload(input)?;
    let session = fields.session("session_id")?;
    let cwd = fields.folder("cwd");
    let sub_agent = fields.id("agent_id");
    let event = fields.text("hook_event_name").unwrap_or_default();
    let last_message = fields.text("last_message");
    let moment = match event.as_str() {
        "session.start" => Moment::Start { source: fields.text("source").unwrap_or_else(|| "startup".into()) },
        "agent.start" => Moment::PromptSubmitted { prompt: fields.text("prompt").unwrap_or_default() },
        "tool.result" => Moment::ToolsUsed { uses: plugin::uses(&fields, &session, &cwd, outcome), batch: false },
        "agent.end" => match &sub_agent {
            Some(id) => Moment::SubAgentStopped { id: id.clone(), kind: "task".into(), transcript: None, last_message },
            None => Moment::TurnEnded { last_message, again: false },
        },
        "dispose" => Moment::End { reason: "other".into() },
        _ => Moment::Other { name: event },
    };
    Ok(Event {
        agent: Agent::Amp,
        session,
        // Amp keeps threads on its server.
        transcript: None,
        cwd,
        moved_to: None,
        model: None,
        sub_agent,
        prompt: fields.id("prompt_id"),
        moment,
    })
}

fn outcome(fields: &Fields<'_>) -> Outcome {
    let said = fields.value("tool_output");
    let text = tool_mapping::text(&said);
    match fields.text("tool_error") {
        Some(error) => Outcome { text: if text.is_empty() { error } else { format!("{error}\n{text}") }, failed: true },
        // A command that failed is a call that was done.
        None => Outcome::with_code(said["exitCode"].as_i64().unwrap_or_default(), &text),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::plugin::answer;
    use super::*;

    fn moment(name: &str, more: &Value) -> Moment {
        let mut payload = json!({"hook_event_name": name, "session_id": "T-1", "cwd": "/p"});
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        parse(payload.to_string().as_bytes()).unwrap().moment
    }

    #[test]
    fn calls_are_told_in_claude_codes_terms() {
        let used = |more: &Value| match moment("tool.result", more) {
            Moment::ToolsUsed { mut uses, .. } => uses.remove(0),
            other => panic!("{other:?}"),
        };
        let command = json!({"tool_name": "Bash", "tool_use_id": "c", "tool_input": {"cmd": "make"},
            "tool_output": {"output": "no rule", "exitCode": 2}});
        let failed = used(&command);
        assert_eq!((failed.tool.as_str(), failed.error.as_deref()), ("Bash", Some("Exit code 2\nno rule")));
        assert_eq!(failed.input, r#"{"command":"make"}"#);
        let cancelled = used(&json!({"tool_name": "Read", "tool_input": {"path": "a"}, "tool_error": "cancelled"}));
        assert_eq!((cancelled.input.as_str(), cancelled.error.as_deref()), (r#"{"file_path":"/p/a"}"#, Some("cancelled")));
        assert_eq!(used(&json!({"tool_name": "Read", "tool_input": {"path": "a"}, "tool_output": "text"})).error, None);
    }

    #[test]
    fn a_thread_below_another_is_a_sub_agent() {
        let ended = moment("agent.end", &json!({"agent_id": "T-2", "last_message": "found"}));
        assert!(matches!(ended, Moment::SubAgentStopped { ref id, .. } if id == "T-2"));
        let ended = moment("agent.end", &json!({"last_message": "found"}));
        assert_eq!(ended, Moment::TurnEnded { last_message: Some("found".into()), again: false });
    }

    #[test]
    fn only_what_the_plugin_shows_is_answered() {
        let start = Moment::Start { source: "startup".into() };
        assert_eq!(answer(&start, "c").as_deref(), Some(r#"{"context":"c"}"#));
        assert_eq!(answer(&Moment::End { reason: "other".into() }, "c"), None);
    }
}
