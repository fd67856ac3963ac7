//! Copilot CLI sessions: events with `type` and `data`. Checked against what version 1.0.102 writes; compactions and
//! interruptions follow its SDK's documentation.

use serde_json::Value;

use super::lines::TranslatedLines;
use crate::protocol::copilot::said_by;
use crate::protocol::tool_mapping::{self, Outcome};

pub(super) fn translate_line(line: &Value, out: &mut TranslatedLines<'_>) {
    let data = &line["data"];
    // A sub-agent's events are skipped: its result is reported in the main conversation.
    if line["agentId"].is_string() || data["parentToolCallId"].is_string() {
        return;
    }
    out.at(&line["timestamp"]);
    if let Some(id) = line["id"].as_str() {
        id.clone_into(&mut out.place);
    }
    let text = |key: &str| data[key].as_str().unwrap_or_default();
    match line["type"].as_str().unwrap_or_default() {
        // Messages that the client or a skill writes in the user's role have a source.
        "user.message" if matches!(data["source"].as_str(), None | Some("user")) => out.prompt(text("content")),
        "assistant.message" => out.says(text("content")),
        "tool.execution_start" => {
            let arguments = match &data["arguments"] {
                Value::String(json) => serde_json::from_str(json).unwrap_or_else(|_| Value::from(json.as_str())),
                other => other.clone(),
            };
            out.uses(text("toolCallId"), text("toolName"), &arguments);
        }
        "tool.execution_complete" => {
            let error = data["error"]["message"].as_str().unwrap_or_default();
            let said = match tool_mapping::text(&data["result"]) {
                said if said.is_empty() => error.to_owned(),
                said => said,
            };
            // This event does not contain the tool's name. Only results of commands end with an exit code.
            let outcome = said_by("bash", &said);
            out.result(text("toolCallId"), &Outcome { failed: outcome.failed || data["success"] == false, ..outcome });
        }
        "session.compaction_complete" => out.summary(text("summaryContent")),
        "abort" => out.interrupted(),
        _ => {}
    }
}

/// Returns whether a session file ends with the start of the hook that ends a turn or the session, which means that
/// everything before it has been written.
pub fn is_up_to_end(ending: &[u8]) -> bool {
    let last = lines_backwards(ending).next().unwrap_or_default();
    last["type"] == "hook.start" && matches!(last["data"]["hookType"].as_str(), Some("agentStop" | "sessionEnd"))
}

/// Finds the agent's last message since the last prompt, in the last lines of a session file.
pub fn last_answer(ending: &[u8]) -> Option<String> {
    let is_sub_agent = |line: &Value| line["agentId"].is_string() || line["data"]["parentToolCallId"].is_string();
    let said = |line: &Value| line["data"]["content"].as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned);
    lines_backwards(ending)
        .filter(|line| !is_sub_agent(line))
        .take_while(|line| line["type"] != "user.message")
        .find_map(|line| said(&line).filter(|_| line["type"] == "assistant.message"))
}

/// Returns the lines from last to first. The first line of the file's end may be incomplete and is then skipped.
fn lines_backwards(ending: &[u8]) -> impl Iterator<Item = Value> {
    ending.split(|&byte| byte == b'\n').rev().filter_map(|line| serde_json::from_slice(line).ok())
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
        let translator = Translator::for_transcript(HEADS[2].as_bytes()).unwrap();
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
                &json!({"toolCallId": "c", "success": true, "result": {"content": "no rule\n<shellId: 0 completed with exit code 2>"}})
            )[0]["message"]["content"][0],
            json!({"type": "tool_result", "tool_use_id": "c", "content": "Exit code 2\nno rule", "is_error": true})
        );
    }

    #[test]
    fn the_end_of_the_file_tells_whether_all_is_there() {
        let line = |kind: &str, data: Value| json!({"type": kind, "data": data, "id": "e"}).to_string();
        let hook = |kind: &str, hook: &str| line(kind, json!({"hookInvocationId": "h", "hookType": hook}));
        let said = |text: &str| line("assistant.message", json!({"messageId": "m", "content": text, "toolRequests": []}));
        let asked = line("user.message", json!({"content": "Mend it"}));
        let turn = |lines: &[String]| format!("torn\"}}\n{}\n", lines.join("\n")).into_bytes();

        let done = turn(&[asked.clone(), said("I look."), said("Done."), said(""), hook("hook.start", "agentStop")]);
        assert!(is_up_to_end(&done));
        assert_eq!(last_answer(&done).as_deref(), Some("Done."));
        let over = turn(&[hook("hook.start", "agentStop"), hook("hook.end", "agentStop"), hook("hook.start", "sessionEnd")]);
        assert!(is_up_to_end(&over));
        for not_yet in [hook("hook.end", "agentStop"), hook("hook.start", "userPromptSubmitted"), said("Done.")] {
            assert!(!is_up_to_end(&turn(&[not_yet])));
        }
        assert!(!is_up_to_end(b"") && last_answer(b"").is_none());
        assert_eq!(last_answer(&turn(&[said("Before"), asked])), None);
        let is_sidechain = json!({"type": "assistant.message", "agentId": "a", "data": {"content": "x"}}).to_string();
        assert_eq!(last_answer(&turn(&[said("Done."), is_sidechain])).as_deref(), Some("Done."));
    }
}
