//! Builders of synthetic transcripts in the shape that Claude Code 2.1 writes, line by line.
//!
//! Everything is a function of what was asked for: the same calls give the same bytes.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// The moment of a transcript's first line unless [`Transcript::at`] says another.
const START: &str = "2025-06-02T09:00:00Z";

/// A transcript that grows.
#[derive(Debug, Clone)]
pub struct Transcript {
    session: String,
    cwd: PathBuf,
    clock: Timestamp,
    /// The number of lines, including those that were already handed over, because identifiers continue.
    counter: u64,
    parent: Option<String>,
    /// Complete lines that [`Transcript::append_to`] has not written yet, each with its newline.
    fresh: String,
    /// Everything, each line with its newline.
    all: String,
}

/// A session's identifier in the agent's form, from a number.
pub fn session_id(number: u64) -> String {
    format!("{:08x}-5e55-4000-8000-{number:012x}", number & 0xffff_ffff)
}

/// So many seconds from now, in RFC 3339: for what depends on the real clock.
pub fn moment(seconds: i64) -> String {
    (Timestamp::now() + jiff::SignedDuration::from_secs(seconds)).to_string()
}

impl Transcript {
    /// An empty transcript of a session in this folder.
    pub fn new(session: &str, cwd: &Path) -> Self {
        Self {
            session: session.to_owned(),
            cwd: cwd.to_owned(),
            clock: START.parse().expect("a constant moment"),
            counter: 0,
            parent: None,
            fresh: String::new(),
            all: String::new(),
        }
    }

    /// The session's identifier.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Everything so far.
    pub fn text(&self) -> &str {
        &self.all
    }

    /// Lets the next line be of this moment, in RFC 3339.
    pub fn at(&mut self, moment: &str) -> &mut Self {
        self.clock = moment.parse().expect("a moment in RFC 3339");
        self
    }

    /// A prompt that the human typed.
    pub fn user(&mut self, text: &str) -> &mut Self {
        let prompt = self.identifier("9999");
        self.message_line(
            "user",
            json!({"role": "user", "content": text}),
            json!({"promptId": prompt, "permissionMode": "default", "promptSource": "typed", "origin": {"kind": "human"}}),
        )
    }

    /// A prompt that a program gave, through the client's development kit.
    pub fn program(&mut self, text: &str) -> &mut Self {
        let prompt = self.identifier("9999");
        self.message_line(
            "user",
            json!({"role": "user", "content": text}),
            json!({"promptId": prompt, "permissionMode": "default", "promptSource": "sdk"}),
        )
    }

    /// A text of the agent on its way.
    pub fn says(&mut self, text: &str) -> &mut Self {
        self.assistant(&json!({"type": "text", "text": text}), "tool_use")
    }

    /// The agent's last text of a turn, and what the agent writes when the turn is over.
    pub fn answer(&mut self, text: &str) -> &mut Self {
        self.assistant(&json!({"type": "text", "text": text}), "end_turn");
        self.metadata(&json!({"type": "system", "subtype": "stop_hook_summary", "hookCount": 1, "hookErrors": [],
            "preventedContinuation": false, "stopReason": "", "hasOutput": false, "level": "suggestion"}))
    }

    /// A tool is called and answers. `structured` is the agent's own record of the result.
    pub fn tool(&mut self, name: &str, input: &Value, output: &str, structured: &Value) -> &mut Self {
        let id = self.calls(name, input);
        self.result(&id, output, false, structured)
    }

    /// A tool is called and fails.
    pub fn tool_fails(&mut self, name: &str, input: &Value, error: &str) -> &mut Self {
        let id = self.calls(name, input);
        self.result(&id, error, true, &json!(format!("Error: {error}")))
    }

    /// A shell command that succeeds.
    pub fn bash(&mut self, command: &str, stdout: &str) -> &mut Self {
        self.tool(
            "Bash",
            &json!({"command": command, "description": "Run a command"}),
            stdout,
            &json!({"stdout": stdout, "stderr": "", "interrupted": false, "isImage": false}),
        )
    }

    /// A shell command that fails.
    pub fn bash_fails(&mut self, command: &str, code: u8, stderr: &str) -> &mut Self {
        self.tool_fails(
            "Bash",
            &json!({"command": command, "description": "Run a command"}),
            &format!("Exit code {code}\n{stderr}"),
        )
    }

    /// A file of the project is written anew; the path is relative to the session's folder.
    pub fn writes(&mut self, path: &str, content: &str) -> &mut Self {
        let path = self.cwd.join(path).to_string_lossy().into_owned();
        self.tool(
            "Write",
            &json!({"file_path": path, "content": content}),
            &format!("File created successfully at: {path}"),
            &json!({"type": "create", "filePath": path, "content": content, "structuredPatch": [],
                "originalFile": null, "userModified": false}),
        )
    }

    /// A line of a file of the project is replaced.
    pub fn edits(&mut self, path: &str, old: &str, new: &str) -> &mut Self {
        let path = self.cwd.join(path).to_string_lossy().into_owned();
        self.tool(
            "Edit",
            &json!({"file_path": path, "old_string": old, "new_string": new, "replace_all": false}),
            &format!("The file {path} has been updated successfully."),
            &json!({"filePath": path, "oldString": old, "newString": new, "originalFile": format!("{old}\n"),
                "replaceAll": false, "userModified": false, "structuredPatch": [{"oldStart": 1, "oldLines": 1,
                "newStart": 1, "newLines": 1, "lines": [format!("-{old}"), format!("+{new}")]}]}),
        )
    }

    /// The complete current to-do list: each text with `pending`, `in_progress` or `completed`.
    pub fn todo(&mut self, list: &[(&str, &str)]) -> &mut Self {
        let todos: Vec<Value> = list
            .iter()
            .map(|(content, status)| json!({"content": content, "status": status, "activeForm": content}))
            .collect();
        self.tool(
            "TodoWrite",
            &json!({"todos": todos}),
            "Todos have been modified successfully.",
            &json!({"oldTodos": [], "newTodos": todos}),
        )
    }

    /// The agent asks the human to choose, and the human does.
    pub fn asks(&mut self, question: &str, options: &[&str], chosen: &str) -> &mut Self {
        let options: Vec<Value> =
            options.iter().map(|label| json!({"label": label, "description": format!("Use {label}")})).collect();
        let questions = json!([{"question": question, "header": "Choice", "multiSelect": false, "options": options}]);
        self.tool(
            "AskUserQuestion",
            &json!({"questions": questions}),
            &format!("User has answered your questions: \"{question}\"=\"{chosen}\". You can now continue."),
            &json!({"questions": questions, "answers": {question: chosen}}),
        )
    }

    /// The context is compacted: the boundary, and the agent's own summary.
    pub fn compacts(&mut self, summary: &str) -> &mut Self {
        let last = self.parent.take();
        self.metadata(&json!({"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted",
            "isMeta": false, "level": "info", "logicalParentUuid": last,
            "compactMetadata": {"trigger": "manual", "preTokens": 21_000}}));
        let text = format!(
            "This session is being continued from a previous conversation that ran out of context. The summary below \
             covers the earlier portion of the conversation.\n\n{summary}"
        );
        self.message_line(
            "user",
            json!({"role": "user", "content": text}),
            json!({"isCompactSummary": true, "isVisibleInTranscriptOnly": true}),
        )
    }

    /// What a hook of `SessionStart` injected, as the agent notes it down.
    pub fn injected(&mut self, context: &str) -> &mut Self {
        let printed = json!({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": context}});
        self.metadata(&json!({"type": "attachment", "attachment": {"type": "hook_success", "hookName": "SessionStart:startup",
            "toolUseID": "SessionStart", "hookEvent": "SessionStart", "content": "", "stdout": printed.to_string(), "stderr": "",
            "exitCode": 0, "command": "throughline hook", "durationMs": 9}}));
        self.metadata(&json!({"type": "attachment", "attachment": {"type": "hook_additional_context",
            "content": [context], "hookName": "SessionStart", "toolUseID": "SessionStart", "hookEvent": "SessionStart"}}));
        // Later clients also repeat it in what they write of a request, with the role of a user.
        self.raw(
            &json!({"type": "api-request-blob", "sessionId": self.session, "hash": "0f0f", "message": {"role": "user",
            "content": [{"type": "text", "text": format!("SessionStart hook additional context: {context}")}]}})
            .to_string(),
        )
    }

    /// A record of client metadata of at least this many bytes, which must not be remembered.
    pub fn noise(&mut self, bytes: usize) -> &mut Self {
        let body = "the quick brown fox jumps over the lazy dog ".repeat(bytes / 44 + 1);
        self.metadata(&json!({"type": "attachment", "attachment": {"type": "prompt_snapshot", "content": body}}))
    }

    /// One line as it is; the newline is added.
    pub fn raw(&mut self, line: &str) -> &mut Self {
        self.push(line);
        self
    }

    /// A tool call without its result yet; gives its identifier.
    pub fn calls(&mut self, name: &str, input: &Value) -> String {
        let id = format!("toolu_{:08}", self.counter);
        self.assistant(&json!({"type": "tool_use", "id": id, "name": name, "input": input}), "tool_use");
        id
    }

    /// The result of a call.
    pub fn result(&mut self, id: &str, output: &str, is_error: bool, structured: &Value) -> &mut Self {
        let mut block = json!({"tool_use_id": id, "type": "tool_result", "content": output});
        if is_error {
            block["is_error"] = json!(true);
        }
        self.message_line(
            "user",
            json!({"role": "user", "content": [block]}),
            json!({"toolUseResult": structured, "sourceToolAssistantUUID": self.parent}),
        )
    }

    /// Drops the text; identifiers and the clock continue. For transcripts that are longer than memory should be.
    pub fn forget_text(&mut self) {
        self.fresh.clear();
        self.all.clear();
    }

    fn assistant(&mut self, block: &Value, stop: &str) -> &mut Self {
        let message = json!({"id": format!("msg_{:08}", self.counter), "type": "message", "role": "assistant",
            "model": "claude-opus-5-5", "content": [block], "stop_reason": stop, "stop_sequence": null,
            "usage": {"input_tokens": 1000, "output_tokens": 20}});
        self.message_line("assistant", message, json!({"requestedModel": "claude-opus-5-5", "effort": "medium"}))
    }

    fn message_line(&mut self, kind: &str, message: Value, more: Value) -> &mut Self {
        let mut line = as_map(more);
        line.insert("type".to_owned(), json!(kind));
        line.insert("message".to_owned(), message);
        self.metadata(&Value::Object(line))
    }

    /// A line of any type, with the fields that all lines have in common added.
    pub fn metadata(&mut self, line: &Value) -> &mut Self {
        let uuid = self.identifier("4000");
        self.clock = self.clock.checked_add(jiff::SignedDuration::from_secs(2)).expect("a moment in range");
        let mut line = as_map(line.clone());
        line.insert("parentUuid".to_owned(), json!(self.parent.replace(uuid.clone())));
        line.insert("isSidechain".to_owned(), json!(false));
        line.insert("uuid".to_owned(), json!(uuid));
        line.insert("timestamp".to_owned(), json!(format!("{:.3}", self.clock)));
        line.insert("userType".to_owned(), json!("external"));
        line.insert("entrypoint".to_owned(), json!("cli"));
        line.insert("cwd".to_owned(), json!(self.cwd));
        line.insert("sessionId".to_owned(), json!(self.session));
        line.insert("version".to_owned(), json!("2.1.330"));
        line.insert("gitBranch".to_owned(), json!("main"));
        self.push(&Value::Object(line).to_string());
        self
    }

    fn identifier(&self, mark: &str) -> String {
        let session = self.session.get(..8).unwrap_or("00000000");
        format!("{session}-{mark}-4000-8000-{:012x}", self.counter)
    }

    fn push(&mut self, line: &str) {
        self.counter += 1;
        for text in [&mut self.fresh, &mut self.all] {
            text.push_str(line);
            text.push('\n');
        }
    }

    /// Writes everything so far to a new or existing file.
    pub fn write_to(&mut self, path: &Path) {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("create the folder");
        std::fs::write(path, &self.all).expect("write the transcript");
        self.fresh.clear();
    }

    /// Appends what is new since the last writing.
    pub fn append_to(&mut self, path: &Path) {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("create the folder");
        std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .and_then(|mut file| file.write_all(self.fresh.as_bytes()))
            .expect("append to the transcript");
        self.fresh.clear();
    }
}

fn as_map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("a transcript's line is an object: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Transcript, session_id};
    use serde_json::Value;
    use std::path::Path;

    #[test]
    fn every_line_is_an_object_whose_parent_is_an_earlier_line() {
        let mut transcript = Transcript::new(&session_id(7), Path::new("/p"));
        transcript
            .user("인사말 파일을 추가해줘")
            .says("I write the file")
            .writes("a.txt", "안녕")
            .edits("a.txt", "안녕", "hello")
            .bash_fails("false", 1, "no")
            .todo(&[("one", "pending")])
            .asks("Which?", &["A", "B"], "A")
            .injected("## Session Memory")
            .compacts("what happened")
            .noise(1000)
            .answer("Done");
        let mut seen: Vec<String> = Vec::new();
        for line in transcript.text().lines() {
            let line: Value = serde_json::from_str(line).expect("JSON");
            if let Some(parent) = line["parentUuid"].as_str() {
                assert!(seen.iter().any(|uuid| uuid == parent), "{line}");
            }
            if let Some(uuid) = line["uuid"].as_str() {
                assert!(!seen.iter().any(|other| other == uuid), "twice: {uuid}");
                seen.push(uuid.to_owned());
            }
        }
        assert_eq!(seen.len() + 1, transcript.text().lines().count(), "one line has no uuid");
    }
}
