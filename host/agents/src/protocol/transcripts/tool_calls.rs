//! Finds tool calls and their results in lines of Claude Code's format, in the form in which hooks report them.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::protocol::claude_code;
use crate::protocol::event::ToolUse;
use crate::protocol::fields::MAX_ID_BYTES;
use crate::protocol::shorten::{shorten, shorten_recorded};

/// How many calls wait for their results at most. A call that was interrupted never gets one.
const MAX_OPEN: usize = 4096;

/// A tool call as a transcript records it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedCall {
    /// The call with its result.
    pub tool_use: ToolUse,
    /// When the result was written, in milliseconds since the Unix epoch; `None` if the transcript does not say.
    pub at: Option<u64>,
    /// The sub-agent that made the call.
    pub sub_agent: Option<String>,
}

/// The calls of the lines read so far.
#[derive(Debug, Default)]
pub struct ToolCalls {
    /// Calls without a result: their tool and input.
    open: HashMap<String, (String, String)>,
    /// Calls with a result, in the order of the results.
    done: Vec<RecordedCall>,
    /// Results whose calls were not read. Their tool and input are empty.
    orphans: Vec<RecordedCall>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    #[serde(borrow, default)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow, default)]
    agent_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    message: Option<Message<'a>>,
    #[serde(borrow, default)]
    tool_use_result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, default)]
    r#type: Option<&'a RawValue>,
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_use_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    is_error: Option<&'a RawValue>,
}

fn string(raw: Option<&RawValue>) -> Option<String> {
    serde_json::from_str(raw?.get()).ok()
}

fn id(raw: Option<&RawValue>) -> Option<String> {
    string(raw).filter(|id| !id.is_empty() && id.len() <= MAX_ID_BYTES)
}

impl ToolCalls {
    /// Reads a line. Most lines have no call and no result, and are not parsed.
    pub fn read(&mut self, line: &str) {
        // Quotes in a string inside the JSON would be escaped, so these can only be fields.
        let has = |mark: &str| memchr::memmem::find(line.as_bytes(), mark.as_bytes()).is_some();
        if !has("\"tool_use\"") && !has("\"tool_result\"") {
            return;
        }
        let Ok(line) = serde_json::from_str::<Line<'_>>(line) else { return };
        let Some(content) = line.message.and_then(|message| message.content) else { return };
        let Ok(blocks) = serde_json::from_str::<Vec<Block<'_>>>(content.get()) else { return };
        let results = blocks.iter().filter(|block| block.tool_use_id.is_some()).count();
        for block in &blocks {
            match string(block.r#type).as_deref() {
                Some("tool_use") => self.call(block),
                // The structured result does not say to which of several results it belongs.
                Some("tool_result") => {
                    self.result(block, line.tool_use_result.filter(|_| results == 1), line.timestamp, line.agent_id);
                }
                _ => {}
            }
        }
    }

    fn call(&mut self, block: &Block<'_>) {
        let (Some(id), Some(tool)) = (id(block.id), id(block.name)) else { return };
        if self.open.len() < MAX_OPEN {
            self.open.insert(id, (tool, block.input.map(|input| shorten(input.get())).unwrap_or_default()));
        }
    }

    fn result(
        &mut self,
        block: &Block<'_>,
        structured: Option<&RawValue>,
        timestamp: Option<&RawValue>,
        agent_id: Option<&RawValue>,
    ) {
        let Some(use_id) = id(block.tool_use_id) else { return };
        let failed = block.is_error.is_some_and(|is_error| is_error.get() == "true");
        // An error is told from others by any of its lines.
        let shorten_shown = if failed { shorten } else { shorten_recorded };
        let shown = block.content.map(|content| shorten_shown(content.get())).unwrap_or_default();
        let error = failed.then(|| text(&shown));
        let interrupted = error.as_deref().is_some_and(claude_code::is_refusal);
        // The record of a failed call only repeats the error.
        let output = match structured {
            Some(structured) if !failed => shorten_recorded(structured.get()),
            _ => shown,
        };
        let at = string(timestamp).and_then(|at| at.parse::<jiff::Timestamp>().ok());
        let (call, list) = match self.open.remove(&use_id) {
            Some(call) => (call, &mut self.done),
            None => (<(String, String)>::default(), &mut self.orphans),
        };
        let (tool, input) = call;
        list.push(RecordedCall {
            tool_use: ToolUse { id: use_id, tool, input, output, error, interrupted, duration: None },
            at: at.and_then(|at| u64::try_from(at.as_millisecond()).ok()),
            sub_agent: id(agent_id),
        });
    }

    /// Returns the identifiers of the results whose calls are in earlier lines.
    pub fn orphans(&self) -> impl Iterator<Item = &str> {
        self.orphans.iter().map(|call| call.tool_use.id.as_str())
    }

    /// Finds the calls of orphaned results in earlier lines.
    pub fn adopt(&mut self, earlier: &[String]) {
        let mut before = Self::default();
        for line in earlier {
            if self.orphans().any(|id| memchr::memmem::find(line.as_bytes(), id.as_bytes()).is_some()) {
                before.read(line);
            }
        }
        // They ended before everything that was called in the lines read later.
        let mut adopted = Vec::new();
        for mut call in std::mem::take(&mut self.orphans) {
            if let Some((tool, input)) = before.open.remove(&call.tool_use.id) {
                (call.tool_use.tool, call.tool_use.input) = (tool, input);
                adopted.push(call);
            }
        }
        self.done.splice(0..0, adopted);
    }

    /// Returns the finished calls, and forgets them.
    pub fn take(&mut self) -> Vec<RecordedCall> {
        std::mem::take(&mut self.done)
    }
}

/// Returns the text of a result, which is a string or a list of blocks.
fn text(json: &str) -> String {
    #[derive(Deserialize)]
    struct Part {
        #[serde(default)]
        text: String,
    }
    if let Ok(text) = serde_json::from_str::<String>(json) {
        return text;
    }
    match serde_json::from_str::<Vec<Part>>(json) {
        Ok(parts) => parts.into_iter().map(|part| part.text).collect::<Vec<_>>().join("\n"),
        Err(_) => json.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn called(id: &str) -> String {
        json!({"type": "assistant", "message": {"content": [
            {"type": "text", "text": "x"}, {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "make"}}]}})
        .to_string()
    }

    fn ended(id: &str, content: &Value, failed: bool, structured: &Value) -> String {
        json!({"type": "user", "timestamp": "1970-01-01T00:00:07Z", "agentId": "a1", "toolUseResult": structured,
            "message": {"content": [{"type": "tool_result", "tool_use_id": id, "content": content, "is_error": failed}]}})
        .to_string()
    }

    #[test]
    fn a_call_and_its_result_are_what_the_hook_reports() {
        let mut calls = ToolCalls::default();
        calls.read(&called("t1"));
        calls.read(r#"{"type":"user","message":{"content":"it prints \"tool_result\""}}"#);
        calls.read(&ended("t1", &json!("hello"), false, &json!({"stdout": "hello"})));
        let [call] = <[_; 1]>::try_from(calls.take()).unwrap();
        assert_eq!((call.at, call.sub_agent.as_deref()), (Some(7_000), Some("a1")));
        let ToolUse { id, tool, input, output, error, .. } = call.tool_use;
        assert_eq!((id.as_str(), tool.as_str(), input.as_str()), ("t1", "Bash", r#"{"command":"make"}"#));
        assert_eq!((output.as_str(), error), (r#"{"stdout":"hello"}"#, None));
        assert!(calls.take().is_empty());
    }

    #[test]
    fn failures_say_what_the_agent_saw() {
        let mut calls = ToolCalls::default();
        let content = json!([{"type": "text", "text": "Exit code 2"}, {"type": "text", "text": "no rule"}]);
        for (id, content) in [("t1", content), ("t2", json!("The user doesn't want to proceed"))] {
            calls.read(&called(id));
            calls.read(&ended(id, &content, true, &json!("Error: Exit code 2")));
        }
        let seen: Vec<_> =
            calls.take().into_iter().map(|it| (it.tool_use.error.unwrap(), it.tool_use.interrupted)).collect();
        assert_eq!(
            seen,
            [("Exit code 2\nno rule".to_owned(), false), ("The user doesn't want to proceed".to_owned(), true)]
        );
    }

    #[test]
    fn a_result_finds_its_call_in_earlier_lines() {
        let mut calls = ToolCalls::default();
        calls.read(&ended("t1", &json!("one"), false, &Value::Null));
        calls.read(&ended("t3", &json!("three"), false, &Value::Null));
        calls.read(&called("t2"));
        calls.read(&ended("t2", &json!("two"), false, &Value::Null));
        assert_eq!(calls.orphans().collect::<Vec<_>>(), ["t1", "t3"]);
        calls.adopt(&[called("t0"), called("t1")]);
        let ids: Vec<_> = calls.take().into_iter().map(|it| (it.tool_use.id, it.tool_use.tool)).collect();
        assert_eq!(ids, [("t1".into(), "Bash".into()), ("t2".into(), "Bash".to_owned())]);
        assert_eq!(calls.orphans().count(), 0);
    }

    #[test]
    fn a_line_of_any_shape_is_skipped() {
        let mut calls = ToolCalls::default();
        for line in [
            "\"tool_use\"",
            r#"{"message":{"content":[{"type":"tool_use"}]}}"#,
            r#"{"message":{"content":[{"type":"tool_result","tool_use_id":7}]}}"#,
            r#"{"message":{"content":{"type":"tool_result"}},"toolUseResult":[1]}"#,
            r#"{"message":"tool_result","x":"tool_use"#,
        ] {
            calls.read(line);
        }
        assert!(calls.take().is_empty() && calls.orphans().count() == 0);
    }
}
