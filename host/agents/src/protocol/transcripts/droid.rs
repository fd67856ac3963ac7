//! droid sessions: Claude Code's messages in its own line format.

use serde_json::Value;

use super::lines::{TranslatedLines, use_blocks};

pub(super) fn translate_line(line: &Value, out: &mut TranslatedLines<'_>) {
    out.at(&line["timestamp"]);
    match line["type"].as_str() {
        Some("message") => {}
        Some("compaction_state") => return out.summary(line["summaryText"].as_str().unwrap_or_default()),
        _ => return,
    }
    if let Some(id) = line["id"].as_str() {
        id.clone_into(&mut out.place);
    }
    let message = &line["message"];
    let Some(role @ ("user" | "assistant")) = message["role"].as_str() else { return };
    if let Some(text) = message["content"].as_str() {
        return if role == "user" { out.prompt(text) } else { out.says(text) };
    }
    let mut blocks = Vec::new();
    for block in message["content"].as_array().into_iter().flatten() {
        match block["type"].as_str() {
            Some("text" | "tool_result") => blocks.push(block.clone()),
            Some("tool_use") => {
                let name = block["name"].as_str().unwrap_or_default();
                let id = block["id"].as_str().unwrap_or_default();
                blocks.extend(use_blocks(id, name, &block["input"], out.cwd()));
            }
            _ => {}
        }
    }
    if !blocks.is_empty() {
        out.line(role, "message", blocks.into(), None);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Translator;
    use super::super::tests::HEADS;
    use super::*;

    #[test]
    fn messages_are_claude_codes() {
        let line = json!({"type": "message", "id": "m", "timestamp": "2026-11-22T10:00:00.000Z", "message": {"role": "assistant",
            "content": [{"type": "thinking", "thinking": "x"}, {"type": "text", "text": "I write."},
                {"type": "tool_use", "id": "c", "name": "Execute", "input": {"command": "make"}}]}});
        let told = Translator::for_transcript(HEADS[3].as_bytes()).unwrap().translate(0, &line.to_string());
        let told: Value = serde_json::from_str(&told[0]).unwrap();
        assert_eq!(told["type"], "assistant");
        assert_eq!(
            told["message"]["content"],
            json!([{"type": "text", "text": "I write."},
                {"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "make"}}])
        );
    }
}
