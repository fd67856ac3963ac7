//! Gemini CLI chats: messages with an `id`. A message is written again as a whole whenever something is added to it, so
//! translated lines are named after that `id` and recognized the next time. Checked against what version 0.61.0 writes;
//! compressions follow its source.

use serde_json::Value;

use super::lines::TranslatedLines;
use crate::protocol::gemini::{said_by, without_context};
use crate::protocol::tool_mapping::{self, Outcome};

/// How texts begin that Gemini CLI itself writes in the user's role.
const MACHINE: &[&str] = &["<session_context>", "<hook_context>", "<system-reminder>", "System: "];

/// The line before the content of files that a prompt names with `@`.
const FILES: &str = "--- Content from referenced files ---";

/// The tag around the summary of a compression.
const SUMMARY: &str = "<state_snapshot>";

pub(super) fn translate_line(line: &Value, out: &mut TranslatedLines<'_>) {
    // The whole history after a compression or a tool call. Everything but the summary was translated before.
    if let Some(messages) = line["$set"]["messages"].as_array() {
        for message in messages.iter().filter(|it| it["type"] == "user") {
            let text = joined(&message["content"]);
            if text.contains(SUMMARY) {
                place(message, out);
                out.summary(&text.replace("<state_snapshot>", "").replace("</state_snapshot>", ""));
            }
        }
        return;
    }
    if line["id"].as_str().is_none_or(str::is_empty) {
        return;
    }
    place(line, out);
    match line["type"].as_str() {
        Some("user") => out.prompt(&human(&line["content"])),
        Some("gemini") => {
            out.says(&joined(&line["content"]));
            for call in line["toolCalls"].as_array().into_iter().flatten() {
                used(call, out);
            }
        }
        _ => {}
    }
}

fn place(message: &Value, out: &mut TranslatedLines<'_>) {
    out.at(&message["timestamp"]);
    message["id"].as_str().unwrap_or_default().clone_into(&mut out.place);
}

fn used(call: &Value, out: &mut TranslatedLines<'_>) {
    let (Some(id), Some(name)) = (call["id"].as_str(), call["name"].as_str()) else { return };
    out.uses(id, name, &call["args"]);
    let status = call["status"].as_str().unwrap_or_default();
    if call["result"].is_null() && !matches!(status, "success" | "error" | "cancelled") {
        return;
    }
    let (mut said, mut failed) = (Vec::new(), matches!(status, "error" | "cancelled"));
    for part in call["result"].as_array().into_iter().flatten() {
        let response = &part["functionResponse"]["response"];
        failed |= response["error"].is_string();
        said.push(response["error"].as_str().map_or_else(|| tool_mapping::text(response), str::to_owned));
    }
    let outcome = said_by(name, &said.join("\n"));
    out.result(id, &Outcome { failed: failed || outcome.failed, ..outcome });
}

/// Returns all text of a message, which is one string or several parts.
fn joined(content: &Value) -> String {
    tool_mapping::text(content)
}

/// Returns the part of a message that the user wrote.
fn human(content: &Value) -> String {
    let parts: Vec<&str> = match content {
        Value::String(text) => vec![text],
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str().or(part.as_str())).collect(),
        _ => Vec::new(),
    };
    let is_theirs =
        |part: &&str| !part.is_empty() && !MACHINE.iter().any(|beginning| part.trim_start().starts_with(beginning));
    let said: Vec<&str> =
        parts.into_iter().take_while(|part| !part.contains(FILES)).map(without_context).filter(is_theirs).collect();
    let said = said.join("\n");
    // Commands of the client itself are not prompts.
    if said.trim_start().starts_with(['/', '?']) || said.contains(SUMMARY) { String::new() } else { said }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Translator;
    use super::super::tests::HEADS;
    use super::*;

    fn told(line: &Value) -> Vec<Value> {
        let translator = Translator::for_transcript(HEADS[1].as_bytes()).unwrap().with_cwd(Some("/p".into()));
        translator.translate(0, &line.to_string()).iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn what_people_and_the_agent_say() {
        let user = json!({"id": "m1", "timestamp": "2026-11-22T10:00:00.000Z", "type": "user", "content": [
            {"text": "Mend the parser"}, {"text": "<hook_context>## Session Memory</hook_context>"}]});
        let lines = told(&user);
        assert_eq!(lines[0]["message"]["content"], "Mend the parser");
        assert_eq!((&lines[0]["timestamp"], &lines[0]["cwd"]), (&json!("2026-11-22T10:00:00.000Z"), &json!("/p")));
        let first = json!({"id": "m1", "type": "user", "content": [
            {"text": "<hook_context>## Session Memory</hook_context>\n\nMend the parser"}, {"text": "<hook_context>x</hook_context>"}]});
        assert_eq!(told(&first)[0]["message"]["content"], "Mend the parser");
        let gemini = json!({"id": "m2", "type": "gemini", "content": "Done.", "thoughts": [{"subject": "x"}], "model": "g"});
        assert_eq!(told(&gemini)[0]["message"]["content"], json!([{"type": "text", "text": "Done."}]));
    }

    #[test]
    fn what_gemini_puts_in_is_nobodys_words() {
        for text in ["<session_context>\nx", "<hook_context>x</hook_context>", "/chat save", "?", ""] {
            assert!(told(&json!({"id": "m", "type": "user", "content": [{"text": text}]})).is_empty(), "{text}");
        }
        for kind in ["info", "warning", "error", "new"] {
            assert!(told(&json!({"id": "m", "type": kind, "content": "x"})).is_empty());
        }
        assert!(told(&json!({"$set": {"lastUpdated": "x"}})).is_empty());
        assert!(told(&json!({"$rewindTo": "m1"})).is_empty());
    }

    #[test]
    fn a_message_that_is_written_again_is_the_same() {
        let mut message = json!({"id": "m", "type": "gemini", "content": "I look.", "toolCalls": [
            {"id": "c1", "name": "run_shell_command", "args": {"command": "make"}, "status": "executing"}]});
        let first = told(&message);
        assert_eq!(first.len(), 2);
        message["toolCalls"][0]["status"] = "success".into();
        message["toolCalls"][0]["result"] =
            json!([{"functionResponse": {"id": "c1", "response": {"output": "Output: no rule\nExit Code: 2"}}}]);
        let second = told(&message);
        assert_eq!(first, second[..2]);
        assert_eq!(
            second[2]["message"]["content"],
            json!([{"type": "tool_result", "tool_use_id": "c1", "content": "Exit code 2\nno rule", "is_error": true}])
        );
        assert_eq!(second[1]["message"]["content"][0]["name"], "Bash");
    }

    #[test]
    fn of_a_compression_the_summary_is_told() {
        let set = json!({"$set": {"messages": [
            {"id": "n1", "type": "user", "content": [{"text": "<state_snapshot>\nGoal: mend it\n</state_snapshot>"}]},
            {"id": "m2", "type": "user", "content": [{"text": "and then"}]}]}});
        let lines = told(&set);
        assert_eq!(lines.len(), 1);
        assert_eq!(
            (&lines[0]["isCompactSummary"], &lines[0]["message"]["content"]),
            (&json!(true), &json!("\nGoal: mend it\n"))
        );
    }
}
