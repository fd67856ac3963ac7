//! A synthetic session that goes through the hooks as one of the agent's does.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::home::{Home, Hooked};
use crate::transcript::Transcript;

/// One session of one project in one home.
pub struct Session<'home> {
    home: &'home Home,
    /// The folder that hooks are told of.
    pub cwd: PathBuf,
    /// Where its transcript lies. It is written by the moments below, never before.
    pub path: PathBuf,
    /// What has been said and done.
    pub transcript: Transcript,
}

impl<'home> Session<'home> {
    /// A session that has not begun.
    pub fn new(home: &'home Home, project: &Path, id: &str) -> Self {
        Self {
            home,
            cwd: project.to_owned(),
            path: home.transcript_path(project, id),
            transcript: Transcript::new(id, project),
        }
    }

    /// The session's identifier.
    pub fn id(&self) -> &str {
        self.transcript.session()
    }

    /// The payload of an event of this session, with what the event adds to the common fields.
    pub fn payload(&self, event: &str, more: &Value) -> Value {
        let mut payload = json!({
            "session_id": self.id(),
            "transcript_path": self.path,
            "cwd": self.cwd,
            "hook_event_name": event,
        });
        for (name, value) in more.as_object().expect("an object") {
            payload[name] = value.clone();
        }
        payload
    }

    /// A whole session in which the prompt asks for headers in the otter exporter: through the hooks, and with its transcript.
    pub fn exporter(&mut self, prompt: &str) {
        const ERROR: &str = "error[E0425]: cannot find function `headers` in this scope";
        const PASSED: &str = "test result: ok. 3 passed; 0 failed";
        let file = self.cwd.join("src/exporter.rs");
        self.start("startup");
        self.prompt(prompt);
        self.failed("toolu_1", "cargo test exporter", ERROR);
        self.edited("toolu_2", &file, "old", "new");
        self.ran("toolu_3", "cargo test exporter", PASSED);
        self.transcript
            .user(prompt)
            .bash_fails("cargo test exporter", 101, ERROR)
            .edits("src/exporter.rs", "write(rows)", "write(headers); write(rows)")
            .bash("cargo test exporter", PASSED)
            .answer("The otter exporter writes headers now. I decided to use a table because it is simpler.");
        self.stop("The otter exporter writes headers now.");
        self.end();
    }

    /// `SessionStart`, for one of its sources.
    pub fn start(&self, source: &str) -> Hooked {
        self.home.hook(&self.payload("SessionStart", &json!({"source": source})))
    }

    /// `Stop`: the turn is over. The transcript is written up to here first, as it is when the machine is quick.
    pub fn stop(&mut self, last_message: &str) -> Hooked {
        self.transcript.append_to(&self.path);
        self.stop_before_it_is_written(last_message)
    }

    /// `Stop` while the transcript does not hold the turn yet, as the real client does it.
    pub fn stop_before_it_is_written(&self, last_message: &str) -> Hooked {
        self.silent_and_at_rest(&self.payload(
            "Stop",
            &json!({"permission_mode": "default", "effort": {"level": "medium"}, "stop_hook_active": false,
                "last_assistant_message": last_message, "background_tasks": [], "session_crons": []}),
        ))
    }

    /// `PreCompact`.
    pub fn pre_compact(&mut self) -> Hooked {
        self.transcript.append_to(&self.path);
        self.silent_payload(&self.payload("PreCompact", &json!({"trigger": "manual", "custom_instructions": ""})))
    }

    /// `PostCompact`, with the summary as the agent wrote it.
    pub fn post_compact(&mut self, summary: &str) -> Hooked {
        self.transcript.append_to(&self.path);
        self.silent_payload(&self.payload("PostCompact", &json!({"trigger": "manual", "compact_summary": summary})))
    }

    /// `SessionEnd`.
    pub fn end(&mut self) -> Hooked {
        self.transcript.append_to(&self.path);
        self.silent_and_at_rest(&self.payload("SessionEnd", &json!({"reason": "other"})))
    }

    /// `UserPromptSubmit`.
    pub fn prompt(&self, text: &str) -> Hooked {
        self.home.hook(&self.payload("UserPromptSubmit", &json!({"permission_mode": "default", "prompt": text})))
    }

    /// The payload of `PostToolUse`.
    pub fn use_of(&self, id: &str, tool: &str, input: &Value, response: &Value) -> Value {
        self.payload(
            "PostToolUse",
            &json!({"permission_mode": "default", "tool_name": tool, "tool_input": input, "tool_response": response,
                "tool_use_id": id, "duration_ms": 7}),
        )
    }

    /// `PostToolUse` of a command that succeeded.
    pub fn ran(&self, id: &str, command: &str, stdout: &str) -> Hooked {
        let response = json!({"stdout": stdout, "stderr": "", "interrupted": false, "isImage": false});
        self.silent_payload(&self.use_of(id, "Bash", &json!({"command": command}), &response))
    }

    /// `PostToolUse` of an edit.
    pub fn edited(&self, id: &str, file: &Path, old: &str, new: &str) -> Hooked {
        let lines = [format!("-{old}"), format!("+{new}")];
        let response = json!({"filePath": file, "structuredPatch": [{"oldStart": 1, "newStart": 1, "lines": lines}]});
        self.silent_payload(&self.use_of(
            id,
            "Edit",
            &json!({"file_path": file, "old_string": old, "new_string": new}),
            &response,
        ))
    }

    /// `PostToolUseFailure` of a command.
    pub fn failed(&self, id: &str, command: &str, error: &str) -> Hooked {
        self.home.hook(&self.payload(
            "PostToolUseFailure",
            &json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": id, "error": error,
                "is_interrupt": false, "duration_ms": 12}),
        ))
    }

    /// `PostToolUse` of any tool, in silence.
    pub fn used(&self, id: &str, tool: &str, input: &Value, response: &Value) {
        drop(self.silent_payload(&self.use_of(id, tool, input, response)));
    }

    /// Any event at which the hook says nothing.
    pub fn silent(&self, event: &str, more: &Value) {
        drop(self.silent_payload(&self.payload(event, more)));
    }

    /// Runs a hook, and waits for the child that finishes what the hook had no time for.
    fn silent_and_at_rest(&self, payload: &Value) -> Hooked {
        let hooked = self.silent_payload(payload);
        self.home.rest();
        hooked
    }

    fn silent_payload(&self, payload: &Value) -> Hooked {
        let hooked = self.home.hook(payload);
        hooked.silent();
        hooked
    }
}
