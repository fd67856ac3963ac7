//! The lines that translators write, in Claude Code's format.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::protocol::tool_mapping::{self, Outcome};
use throughline_model::digest::sha256_hex;

/// Collects the translated lines of one line.
pub(super) struct TranslatedLines<'a> {
    session: &'a str,
    cwd: Option<&'a Path>,
    is_sidechain: bool,
    lines: Vec<String>,
    /// Identifies the line within its session.
    pub(super) place: String,
    at: String,
}

impl<'a> TranslatedLines<'a> {
    /// Collects nothing yet. `place` is the byte offset at which the line begins.
    pub(super) fn new(session: &'a str, cwd: Option<&'a Path>, is_sidechain: bool, place: u64) -> Self {
        Self { session, cwd, is_sidechain, lines: Vec::new(), place: place.to_string(), at: String::new() }
    }

    /// Returns the lines.
    pub(super) fn into_lines(self) -> Vec<String> {
        self.lines
    }

    /// Sets the time at which the line was written.
    pub(super) fn at(&mut self, timestamp: &Value) {
        timestamp.as_str().unwrap_or_default().clone_into(&mut self.at);
    }

    /// Returns the folder of the session.
    pub(super) fn cwd(&self) -> Option<&'a Path> {
        self.cwd
    }

    pub(super) fn line(&mut self, role: &str, part: &str, content: Value, more: Option<(&str, Value)>) {
        let Self { session, cwd, is_sidechain, .. } = *self;
        let writer = LineWriter { session, cwd, at: &self.at, is_sidechain };
        self.lines.push(writer.line(&format!("{}/{part}", self.place), role, content, more));
    }

    /// Adds a prompt.
    pub(super) fn prompt(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.line("user", "said", text.into(), None);
        }
    }

    /// Adds the agent's summary of compacted context.
    pub(super) fn summary(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.line("user", "summary", text.into(), Some(("isCompactSummary", true.into())));
        }
    }

    /// Adds the mark for an interruption by the user.
    pub(super) fn interrupted(&mut self) {
        self.line("user", "stop", "[Request interrupted by user]".into(), None);
    }

    /// Adds a message of the agent.
    pub(super) fn says(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.line("assistant", "said", json!([{"type": "text", "text": text}]), None);
        }
    }

    /// Adds a tool call.
    pub(super) fn uses(&mut self, id: &str, tool: &str, input: &Value) {
        let blocks = use_blocks(id, tool, input, self.cwd());
        self.line("assistant", &format!("use/{id}"), blocks.into(), None);
    }

    /// Adds the result of a tool call.
    pub(super) fn result(&mut self, id: &str, outcome: &Outcome) {
        let block = result_block(id, &outcome.text, outcome.failed);
        self.line("user", &format!("result/{id}"), json!([block]), None);
    }
}

/// Returns a tool call as content blocks; several blocks for a patch of several files.
pub(super) fn use_blocks(id: &str, tool: &str, input: &Value, cwd: Option<&Path>) -> Vec<Value> {
    let block = |it: tool_mapping::MappedUse| json!({"type": "tool_use", "id": it.id, "name": it.tool, "input": it.input});
    tool_mapping::map_uses(id, tool, input, cwd).into_iter().map(block).collect()
}

/// Returns a tool result as a content block.
fn result_block(id: &str, text: &str, failed: bool) -> Value {
    let mut block = json!({"type": "tool_result", "tool_use_id": id, "content": text});
    if failed {
        block["is_error"] = true.into();
    }
    block
}

/// What all synthesized lines of a session have in common.
#[derive(Debug, Clone, Copy)]
pub struct LineWriter<'a> {
    /// The session's identifier.
    pub session: &'a str,
    /// The session's folder, if it is known.
    pub cwd: Option<&'a Path>,
    /// The time in RFC 3339 format; empty if it is not known.
    pub at: &'a str,
    /// Whether a sub-agent wrote the line.
    pub is_sidechain: bool,
}

impl LineWriter<'_> {
    /// Returns one line in Claude Code's format. `place` identifies the line within the session: the same place gives
    /// the same line identifier.
    pub fn line(&self, place: &str, role: &str, content: Value, more: Option<(&str, Value)>) -> String {
        let mut line = Map::new();
        let mut put = |key: &str, value: Value| line.insert(key.to_owned(), value);
        put("type", role.into());
        let uuid = &sha256_hex(format!("{}\0{place}", self.session).as_bytes())[..32];
        put("uuid", format!("told-{uuid}").into());
        put("sessionId", self.session.into());
        if !self.at.is_empty() {
            put("timestamp", self.at.into());
        }
        if let Some(cwd) = self.cwd {
            put("cwd", cwd.to_string_lossy().into());
        }
        if self.is_sidechain {
            put("isSidechain", true.into());
        }
        if let Some((key, value)) = more {
            put(key, value);
        }
        let mut message = Map::new();
        message.insert("role".to_owned(), role.into());
        message.insert("content".to_owned(), content);
        put("message", message.into());
        Value::Object(line).to_string()
    }

    /// Returns a tool call and its result as two lines.
    pub fn use_lines(&self, id: &str, tool: &str, input: &Value, text: &str, failed: bool) -> [String; 2] {
        let used = json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]);
        let result = json!([result_block(id, text, failed)]);
        [self.line(&format!("use/{id}"), "assistant", used, None), self.line(&format!("result/{id}"), "user", result, None)]
    }
}
