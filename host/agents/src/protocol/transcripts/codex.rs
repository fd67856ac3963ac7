//! Codex rollouts: one `{"timestamp", "type", "payload"}` object per line. Lines of type `response_item` are what went
//! to and came from the model. Checked against what Codex 0.169.0 writes; older forms follow the documentation of the
//! older versions.

use serde_json::Value;

use super::lines::TranslatedLines;
use crate::protocol::codex::outcome;
use crate::protocol::patch::{self, MAX_FILES};
use crate::protocol::tool_mapping::{self, Outcome, part};

/// How texts begin that Codex itself writes in the user's role.
const MACHINE: &[&str] = &[
    "# AGENTS.md instructions",
    "<environment_context>",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<turn_aborted>",
    "<user_action>",
    "<user_shell_command>",
    "<subagent_notification>",
    "<skill>",
    "<skills_instructions>",
    "<hook",
    HANDED_OVER,
];

/// How Codex begins a summary of compacted context, and the words right before the summary itself.
const HANDED_OVER: &str = "Another language model started to solve this problem";
const SUMMARY: &str = "to assist with your own analysis:";

/// How identifiers of calls begin that a script of the model made, and the name of the custom tool that runs such
/// scripts. The script's own call is not reported.
const NESTED: &str = "exec-";
const SCRIPT: &str = "exec";

/// The heading before the user's request in prompts to which an editor added its context.
const REQUEST: &str = "## My request for Codex:";

/// Returns whether a rollout belongs to a sub-agent.
pub(super) fn is_sub_agent(head: &Value) -> bool {
    head["thread_source"] == "subagent" || head["source"].get("subagent").is_some()
}

pub(super) fn translate_line(line: &Value, out: &mut TranslatedLines<'_>) {
    out.at(&line["timestamp"]);
    let payload = &line["payload"];
    let kind = payload["type"].as_str().unwrap_or_default();
    match line["type"].as_str().unwrap_or_default() {
        "response_item" => item(kind, payload, out),
        "compacted" => {
            let message = payload["message"].as_str().unwrap_or_default();
            let is_handed_over = message.trim_start().starts_with(HANDED_OVER);
            let summary = message.split_once(SUMMARY).filter(|_| is_handed_over).map_or(message, |(_, summary)| summary);
            out.summary(summary.trim_start());
        }
        "event_msg" => match kind {
            "turn_aborted" if payload["reason"] == "interrupted" => out.interrupted(),
            "item_completed" if payload["item"]["id"].as_str().is_some_and(|id| id.starts_with(NESTED)) => {
                nested(&payload["item"], out);
            }
            "item_completed" if payload["item"]["type"] == "FileChange" => {
                let item = &payload["item"];
                rest_of_patch(&item["id"], &item["changes"], item["status"] == "completed", out);
            }
            "patch_apply_end" => {
                rest_of_patch(&payload["call_id"], &payload["changes"], payload["success"] == true, out);
            }
            _ => {}
        },
        _ => {}
    }
}

/// Finds a command's exit code in the last lines of a rollout.
pub fn exit_code(ending: &[u8], id: &str) -> Option<i64> {
    let quoted = Value::from(id).to_string();
    ending.split(|&byte| byte == b'\n').rev().find_map(|line| {
        memchr::memmem::find(line, b"\"exit_code\"")?;
        memchr::memmem::find(line, quoted.as_bytes())?;
        let line: Value = serde_json::from_slice(line).ok()?;
        let (payload, item) = (&line["payload"], &line["payload"]["item"]);
        // Older versions write a separate event.
        let done = [(&item["id"], item), (&payload["call_id"], payload)];
        done.into_iter().find(|(is, _)| **is == id).and_then(|(_, done)| done["exit_code"].as_i64())
    })
}

fn item(kind: &str, payload: &Value, out: &mut TranslatedLines<'_>) {
    let id = payload["call_id"].as_str().or(payload["id"].as_str()).unwrap_or_default();
    let name = payload["name"].as_str().unwrap_or_default();
    match kind {
        "message" => match payload["role"].as_str() {
            Some("user") => out.prompt(&human(payload)),
            Some("assistant") => out.says(&tool_mapping::text(&payload["content"])),
            _ => {}
        },
        "function_call" => {
            let arguments = payload["arguments"].as_str().unwrap_or_default();
            out.uses(id, name, &serde_json::from_str(arguments).unwrap_or_default());
        }
        "custom_tool_call" if name == SCRIPT => {}
        "custom_tool_call" => out.uses(id, name, &payload["input"]),
        "local_shell_call" => out.uses(id, "local_shell", &payload["action"]),
        "web_search_call" => {
            out.uses(id, "web_search", &payload["action"]);
            out.result(id, &Outcome::default());
        }
        "function_call_output" | "custom_tool_call_output" => {
            let output = &payload["output"];
            let said = outcome(&tool_mapping::text(output));
            out.result(id, &Outcome { failed: said.failed || output["success"] == false, ..said });
        }
        _ => {}
    }
}

/// Returns the part of a message that the user wrote.
fn human(payload: &Value) -> String {
    let kinds = &payload["internal_chat_message_metadata_passthrough"]["content_item_kinds"];
    let mut texts = Vec::new();
    for (number, block) in payload["content"].as_array().into_iter().flatten().enumerate() {
        let text = block["text"].as_str().unwrap_or_default();
        // If the metadata says who wrote a block, the metadata decides.
        let is_other = kinds[number].as_str().is_some_and(|kind| kind != "unknown" && !kind.starts_with("user."));
        let trimmed = text.trim_start();
        if !is_other && !MACHINE.iter().any(|beginning| trimmed.starts_with(beginning)) {
            texts.push(trimmed.split_once(REQUEST).map_or(text, |(_, request)| request.trim_start()));
        }
    }
    texts.join("\n")
}

/// Translates what a script did; no other line reports it.
fn nested(item: &Value, out: &mut TranslatedLines<'_>) {
    let id = item["id"].as_str().unwrap_or_default();
    let done = item["status"] == "completed";
    match item["type"].as_str() {
        Some("CommandExecution") => {
            out.uses(id, "shell", item);
            let said = item["aggregated_output"].as_str().unwrap_or_default();
            let outcome = Outcome::with_code(item["exit_code"].as_i64().unwrap_or_default(), said);
            out.result(id, &Outcome { failed: outcome.failed || !done, ..outcome });
        }
        Some("FileChange") => {
            let changes = item["changes"].as_object().into_iter().flatten().take(MAX_FILES);
            for (number, (path, change)) in changes.enumerate() {
                let (tool, input) = patch::change(path, change);
                out.uses(&part(id, number), &tool, &input);
                let said = item[if done { "stdout" } else { "stderr" }].as_str().unwrap_or_default();
                out.result(&part(id, number), &Outcome { text: said.to_owned(), failed: !done });
            }
        }
        _ => {}
    }
}

/// Translates the results of a patch's files after the first. A patch has only one result line, and only this event
/// lists the files.
fn rest_of_patch(id: &Value, changes: &Value, done: bool, out: &mut TranslatedLines<'_>) {
    let (Some(id), Some(changes)) = (id.as_str(), changes.as_object()) else { return };
    for number in 1..changes.len().min(MAX_FILES) {
        out.result(&part(id, number), &Outcome { failed: !done, ..Outcome::default() });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Translator;
    use super::super::tests::HEADS;
    use super::*;

    fn told(kind: &str, payload: &Value) -> Vec<Value> {
        let line = json!({"timestamp": "2026-11-22T22:57:06.578Z", "ordinal": 7, "type": kind, "payload": payload});
        let translator = Translator::for_transcript(HEADS[0].as_bytes()).unwrap();
        translator.translate(7, &line.to_string()).iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn content(kind: &str, payload: &Value) -> Value {
        let mut lines = told(kind, payload);
        assert_eq!(lines.len(), 1, "{lines:?}");
        lines[0]["message"]["content"].take()
    }

    #[test]
    fn what_people_say() {
        let said = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Add a function"}],
            "internal_chat_message_metadata_passthrough": {"content_item_kinds": ["user.text"]}});
        let line = &told("response_item", &said)[0];
        assert_eq!((&line["type"], &line["message"]["content"]), (&json!("user"), &json!("Add a function")));
        assert_eq!((&line["sessionId"], &line["cwd"]), (&json!("s"), &json!("/p")));
        assert_eq!(line["timestamp"], "2026-11-22T22:57:06.578Z");
        let old = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Add a function"}]});
        assert_eq!(content("response_item", &old), "Add a function");
        let editor = "# Context from my IDE setup:\n\n## Active file: a.rs\n\n## My request for Codex:\nMend it";
        let typed = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": editor}]});
        assert_eq!(content("response_item", &typed), "Mend it");
    }

    #[test]
    fn what_codex_puts_in_is_nobodys_words() {
        for text in [
            "# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>\nBe kind.\n</INSTRUCTIONS>",
            "<environment_context>\n</environment_context>",
        ] {
            for role in ["user", "developer"] {
                let said = json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]});
                assert!(told("response_item", &said).is_empty(), "{text}");
            }
        }
        let hooked = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "ours"}],
            "internal_chat_message_metadata_passthrough": {"content_item_kinds": ["hooks.additional_context"]}});
        assert!(told("response_item", &hooked).is_empty());
        assert!(told("event_msg", &json!({"type": "item_completed", "item": {"type": "UserMessage"}})).is_empty());
        assert!(told("world_state", &json!({"full": true})).is_empty());
    }

    #[test]
    fn tools_and_their_results() {
        let call = json!({"type": "function_call", "id": "fc_1", "name": "exec_command", "arguments": "{\"cmd\":\"cargo test\"}", "call_id": "call_1"});
        assert_eq!(
            content("response_item", &call),
            json!([{"type": "tool_use", "id": "call_1", "name": "Bash", "input": {"command": "cargo test"}}])
        );
        let output = json!({"type": "function_call_output", "call_id": "call_1",
            "output": "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 101\nOutput:\nerror: it broke\n"});
        assert_eq!(
            content("response_item", &output),
            json!([{"type": "tool_result", "tool_use_id": "call_1", "content": "Exit code 101\nerror: it broke\n", "is_error": true}])
        );
    }

    #[test]
    fn every_file_of_a_patch_has_its_result() {
        let patch = "*** Begin Patch\n*** Add File: a.rs\n+x\n*** Update File: b.rs\n@@\n-x\n+y\n*** End Patch\n";
        let call = json!({"type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "input": patch});
        let ids: Vec<_> = content("response_item", &call).as_array().unwrap().iter().map(|it| it["id"].clone()).collect();
        assert_eq!(ids, ["c", "c#2"]);
        let changed = json!({"type": "item_completed", "item": {"type": "FileChange", "id": "c", "status": "completed",
            "changes": {"/p/a.rs": {}, "/p/b.rs": {}}}});
        assert_eq!(content("event_msg", &changed)[0]["tool_use_id"], "c#2");
        let old =
            json!({"type": "patch_apply_end", "call_id": "c", "success": false, "changes": {"/p/a.rs": {}, "/p/b.rs": {}}});
        assert_eq!(content("event_msg", &old)[0]["is_error"], true);
    }

    #[test]
    fn what_a_script_did_is_told() {
        let script = json!({"type": "custom_tool_call", "call_id": "c", "name": "exec", "input": "await tools.exec_command({cmd:'make'})"});
        assert!(told("response_item", &script).is_empty());
        let ran = json!({"type": "item_completed", "item": {"type": "CommandExecution", "id": "exec-1", "status": "failed",
            "command": ["/bin/bash", "-lc", "make"], "aggregated_output": "no rule\n", "exit_code": 2}});
        let lines = told("event_msg", &ran);
        assert_eq!(
            lines[0]["message"]["content"],
            json!([{"type": "tool_use", "id": "exec-1", "name": "Bash", "input": {"command": "make"}}])
        );
        assert_eq!(
            lines[1]["message"]["content"],
            json!([{"type": "tool_result", "tool_use_id": "exec-1", "content": "Exit code 2\nno rule\n", "is_error": true}])
        );
        let changed = json!({"type": "item_completed", "item": {"type": "FileChange", "id": "exec-2", "status": "completed",
            "changes": {"/p/a.rs": {"type": "add", "content": "x"}, "/p/b.rs": {"type": "delete"}}, "stdout": "Success."}});
        let names: Vec<_> =
            told("event_msg", &changed).iter().map(|it| it["message"]["content"][0]["name"].clone()).collect();
        assert_eq!(names, [json!("Write"), Value::Null, json!("Delete"), Value::Null]);
        let plain =
            json!({"type": "item_completed", "item": {"type": "CommandExecution", "id": "call_1", "command": ["ls"]}});
        assert!(told("event_msg", &plain).is_empty());
    }

    #[test]
    fn compactions_and_stops() {
        let line = &told("compacted", &json!({"message": "What was done", "replacement_history": []}))[0];
        assert_eq!((&line["isCompactSummary"], &line["message"]["content"]), (&json!(true), &json!("What was done")));
        assert!(told("compacted", &json!({"message": ""})).is_empty());
        let handed = "Another language model started to solve this problem and produced a summary. Use it to assist with your own analysis:\nMend the parser";
        assert_eq!(content("compacted", &json!({"message": handed})), "Mend the parser");
        let again = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": handed}]});
        assert!(told("response_item", &again).is_empty());
        assert_eq!(
            content("event_msg", &json!({"type": "turn_aborted", "reason": "interrupted"})),
            "[Request interrupted by user]"
        );
    }

    #[test]
    fn commands_say_how_they_ended() {
        let line = |id: &str, code: i64| {
            json!({"type": "event_msg", "payload": {"type": "item_completed", "item": {"type": "CommandExecution", "id": id,
                "status": "failed", "aggregated_output": "x", "exit_code": code}}})
            .to_string()
        };
        let old = json!({"type": "event_msg", "payload": {"type": "exec_command_end", "call_id": "c", "exit_code": 7}});
        let ending = format!("{}\n{}\n{old}\ntorn {{", line("a", 3), line("b", 0));
        let of = |id: &str| exit_code(ending.as_bytes(), id);
        assert_eq!((of("a"), of("b"), of("c"), of("d")), (Some(3), Some(0), Some(7), None));
    }

    #[test]
    fn a_sub_agents_lines_are_marked() {
        let head = HEADS[0].replace("\"user\"", "\"subagent\"");
        let line = r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"text":"x"}]}}"#;
        assert!(Translator::for_transcript(head.as_bytes()).unwrap().translate(0, line)[0].contains("\"isSidechain\":true"));
    }
}
