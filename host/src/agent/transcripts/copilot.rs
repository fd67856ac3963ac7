//! Copilot CLI's sessions: events with `type` and `data`. Written to the events that its SDK documents.

use serde_json::Value;

use super::Told;
use crate::agent::copilot::said_by;
use crate::agent::terms::{self, Outcome};

pub(super) fn tell(line: &Value, told: &mut Told<'_>) {
    let data = &line["data"];
    // A sub-agent's are told by what it comes to.
    if line["agentId"].is_string() || data["parentToolCallId"].is_string() {
        return;
    }
    told.at(&line["timestamp"]);
    if let Some(id) = line["id"].as_str() {
        id.clone_into(&mut told.place);
    }
    let text = |key: &str| data[key].as_str().unwrap_or_default();
    match line["type"].as_str().unwrap_or_default() {
        // What the client or a skill says in a person's place has a source.
        "user.message" if matches!(data["source"].as_str(), None | Some("user")) => told.prompt(text("content")),
        "assistant.message" => told.says(text("content")),
        "tool.execution_start" => {
            let arguments = match &data["arguments"] {
                Value::String(json) => serde_json::from_str(json).unwrap_or_else(|_| Value::from(json.as_str())),
                other => other.clone(),
            };
            told.uses(text("toolCallId"), text("toolName"), &arguments);
        }
        "tool.execution_complete" => {
            let error = data["error"]["message"].as_str().unwrap_or_default();
            let said = match terms::text(&data["result"]) {
                said if said.is_empty() => error.to_owned(),
                said => said,
            };
            // The name of the tool does not stand here; only commands end like that.
            let outcome = said_by("bash", &said);
            told.result(text("toolCallId"), &Outcome { failed: outcome.failed || data["success"] == false, ..outcome });
        }
        "session.compaction_complete" => told.summary(text("summaryContent")),
        "abort" => told.interrupted(),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Translator;
    use super::super::tests::HEADS;
    use super::*;

    fn told(kind: &str, data: &Value) -> Vec<Value> {
        let line =
            json!({"type": kind, "data": data, "id": "e1", "timestamp": "2026-11-22T10:00:00.000Z", "parentId": null});
        let translator = Translator::of(HEADS[2].as_bytes()).unwrap();
        translator.translate(0, &line.to_string()).iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn what_is_said_and_done() {
        assert_eq!(told("user.message", &json!({"content": "Mend it"}))[0]["message"]["content"], "Mend it");
        assert!(told("user.message", &json!({"content": "x", "source": "skill-x"})).is_empty());
        assert!(told("system.message", &json!({"content": "x"})).is_empty());
        assert_eq!(
            told("tool.execution_start", &json!({"toolCallId": "c", "toolName": "bash", "arguments": {"command": "make"}}))
                [0]["message"]["content"],
            json!([{"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "make"}}])
        );
        assert_eq!(
            told(
                "tool.execution_complete",
                &json!({"toolCallId": "c", "success": true, "result": {"content": "no rule\n<exited with exit code 2>"}})
            )[0]["message"]["content"][0],
            json!({"type": "tool_result", "tool_use_id": "c", "content": "Exit code 2\nno rule", "is_error": true})
        );
    }
}
