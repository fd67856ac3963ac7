//! Finds the texts that the human marked. Plain Rust: `cargo test` tests it without wasm.

use serde_json::Value;

/// How many texts of a session are kept, and the longest text in characters; the state may have at most 256 KiB.
const MAX_LEARNINGS: usize = 50;
const MAX_TEXT_CHARS: usize = 1_000;

/// The marked texts in one line of the transcript.
#[derive(Debug, Default, PartialEq)]
pub struct MarkedTexts {
    /// The line's own identifier.
    pub uuid: Option<String>,
    /// The texts after the markers.
    pub texts: Vec<String>,
}

/// Finds the marked texts in one line of the transcript, which is JSON and differs between versions of the agent.
pub fn marked(line: &str, marker: &str) -> Result<MarkedTexts, serde_json::Error> {
    let mark = format!("{marker}:");
    // Most lines are long and written by the agent, and searching is much faster than parsing.
    if !line.contains(&mark) {
        return Ok(MarkedTexts::default());
    }
    let record: Value = serde_json::from_str(line.trim_matches(['\0', ' ']))?;
    if record["type"] != "user" || record["isMeta"] == true || record["isSidechain"] == true {
        return Ok(MarkedTexts::default());
    }
    let texts = said(&record["message"]["content"])
        .iter()
        .flat_map(|text| text.lines())
        .filter_map(|line| line.trim().strip_prefix(&mark))
        .map(|text| text.trim().chars().take(MAX_TEXT_CHARS).collect::<String>())
        .filter(|text| !text.is_empty())
        .collect();
    Ok(MarkedTexts { uuid: record["uuid"].as_str().map(str::to_owned), texts })
}

/// Returns the texts of a message's content, which is a string or a list of blocks.
fn said(content: &Value) -> Vec<&str> {
    match content {
        Value::String(text) => vec![text],
        Value::Array(blocks) => {
            blocks.iter().filter(|block| block["type"] == "text").filter_map(|block| block["text"].as_str()).collect()
        }
        _ => Vec::new(),
    }
}

/// Adds a text to those of the session: each once, the latest last.
pub fn tell(told: &mut Vec<String>, text: &str) {
    told.retain(|old| old != text);
    told.push(text.to_owned());
    if told.len() > MAX_LEARNINGS {
        told.remove(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Vec<String> {
        marked(line, "REMEMBER").unwrap().texts
    }

    #[test]
    fn the_human_marks_lines() {
        let line = r#"{"type":"user","uuid":"u","message":{"content":"Hi\nREMEMBER: staging is read-only\nREMEMBER:"}}"#;
        let found = marked(line, "REMEMBER").unwrap();
        assert_eq!(found, MarkedTexts { uuid: Some("u".into()), texts: vec!["staging is read-only".into()] });
        assert_eq!(texts(r#"{"type":"user","message":{"content":[{"type":"text","text":"REMEMBER: x"}]}}"#), ["x"]);
    }

    #[test]
    fn others_do_not() {
        assert!(texts(r#"{"type":"assistant","message":{"content":"REMEMBER: x"}}"#).is_empty());
        assert!(texts(r#"{"type":"user","isMeta":true,"message":{"content":"REMEMBER: x"}}"#).is_empty());
        assert!(texts(r#"["REMEMBER: x"]"#).is_empty());
        assert!(marked(r#"{"REMEMBER: x"#, "REMEMBER").is_err());
    }

    #[test]
    fn each_is_told_once() {
        let mut told = Vec::new();
        for n in 0..200 {
            tell(&mut told, &format!("text {}", n % 100));
        }
        assert_eq!((told.len(), told.last().map(String::as_str)), (MAX_LEARNINGS, Some("text 99")));
    }
}
