//! opencode: what our plugin for it sends and accepts. opencode has no hooks of its own; it loads plugins. Checked with
//! version 1.18.33.

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
    let text = |key: &str| fields.text(key).unwrap_or_default();
    let sub_agent = fields.id("agent_id");
    let event = text("hook_event_name");
    let moment = match event.as_str() {
        "session.created" => Moment::Start { source: fields.text("source").unwrap_or_else(|| "startup".into()) },
        "chat.message" => Moment::PromptSubmitted { prompt: text("prompt") },
        "tool.execute.after" => Moment::ToolsUsed { uses: plugin::uses(&fields, &session, &cwd, outcome), batch: false },
        "experimental.session.compacting" => Moment::Compacting { trigger: "auto".into() },
        "session.compacted" => Moment::Compacted { summary: text("summary") },
        "session.idle" => match &sub_agent {
            Some(id) => Moment::SubAgentStopped {
                id: id.clone(),
                kind: "task".into(),
                transcript: None,
                last_message: fields.text("last_message"),
            },
            None => Moment::TurnEnded { last_message: fields.text("last_message"), again: false },
        },
        "dispose" => Moment::End { reason: "other".into() },
        _ => Moment::Other { name: event },
    };
    Ok(Event {
        agent: Agent::Opencode,
        session,
        // opencode keeps sessions in a database, whose form it does not promise.
        transcript: None,
        cwd,
        moved_to: None,
        model: fields.text("model"),
        sub_agent,
        prompt: fields.id("prompt_id"),
        moment,
    })
}

fn outcome(fields: &Fields<'_>) -> Outcome {
    match fields.text("tool_error") {
        Some(text) => Outcome { text, failed: true },
        None => Outcome::with_code(
            fields.get("exit_code").unwrap_or_default(),
            &tool_mapping::text(&serde_json::from_str(&fields.json("tool_output")).unwrap_or_default()),
        ),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::plugin::answer;
    use super::*;

    fn event(name: &str, more: &Value) -> Event {
        let mut payload = json!({"hook_event_name": name, "session_id": "ses_1", "cwd": "/p"});
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        parse(payload.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn calls_are_told_in_claude_codes_terms() {
        let used = |more: &Value| match event("tool.execute.after", more).moment {
            Moment::ToolsUsed { mut uses, .. } => uses.remove(0),
            other => panic!("{other:?}"),
        };
        let command = json!({"tool_name": "bash", "tool_use_id": "c", "tool_input": {"command": "make"}});
        let with = |more: Value| {
            let mut call = command.clone();
            call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            used(&call)
        };
        let failed = with(json!({"tool_output": "no rule", "exit_code": 2}));
        assert_eq!((failed.tool.as_str(), failed.error.as_deref()), ("Bash", Some("Exit code 2\nno rule")));
        assert_eq!(with(json!({"tool_output": "done", "exit_code": 0})).error, None);
        assert_eq!(with(json!({"tool_error": "denied"})).error.as_deref(), Some("denied"));
        let edit = json!({"tool_name": "edit", "tool_input": {"filePath": "a", "oldString": "x", "newString": "y"}});
        let edit = used(&edit);
        assert_eq!(edit.input, r#"{"file_path":"/p/a","new_string":"y","old_string":"x"}"#);
        assert!(!edit.id.is_empty());
    }

    #[test]
    fn a_child_session_is_a_sub_agent() {
        let ended = event("session.idle", &json!({"agent_id": "ses_2", "last_message": "found"}));
        assert!(matches!(ended.moment, Moment::SubAgentStopped { ref id, .. } if id == "ses_2"));
        let ended = event("session.idle", &json!({"last_message": "found"}));
        assert_eq!(ended.moment, Moment::TurnEnded { last_message: Some("found".into()), again: false });
        assert_eq!(event("else", &json!({})).moment, Moment::Other { name: "else".into() });
    }

    #[test]
    fn only_what_the_plugin_shows_is_answered() {
        let start = Moment::Start { source: "startup".into() };
        assert_eq!(answer(&start, "c").as_deref(), Some(r#"{"context":"c"}"#));
        assert_eq!(answer(&Moment::End { reason: "other".into() }, "c"), None);
    }
}
