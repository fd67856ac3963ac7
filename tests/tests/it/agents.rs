//! Other agents than Claude Code: their hooks as they call them, their transcripts as they write them, and one memory for all.
//! Codex's payloads and rollouts are as its version 0.169.0 sent and wrote them; the others' are as their documentation has them.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tests::home::Home;
use tests::session::Session;
use tests::transcript::session_id;

/// The prompt of the sessions below, with a standing rule.
const REQUEST: &str =
    "Make the invoice importer skip rows whose amount is empty. From now on keep amounts in cents, not in floats.";

/// Their last words.
const LAST_WORDS: &str = "The importer skips rows without an amount.";

/// The text that the next session must get about them.
const WANTED: [&str; 3] = ["importer", "src/importer.rs", "cents"];

/// Calls the hook as that agent does, and gives what it printed: one JSON object, or nothing.
#[track_caller]
fn call(home: &Home, words: &[&str], payload: &Value) -> Option<Value> {
    let run = home.hook_with_input(words, format!("{payload}\n").into_bytes());
    assert_eq!((run.code, run.overdue), (Some(0), false), "{run:#?}");
    assert!(run.stderr.is_empty(), "{run:#?}");
    if run.stdout.is_empty() {
        return None;
    }
    let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("not JSON: {error}: {run:#?}"));
    assert!(answer.is_object(), "{answer}");
    Some(answer)
}

/// A line each.
fn joined(lines: &[Value]) -> String {
    lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n") + "\n"
}

/// The context that Claude Code gets when it starts in the project.
fn claude_is_told(home: &Home, project: &Path) -> String {
    Session::new(home, project, &session_id(900)).start("startup").said().to_owned()
}

#[track_caller]
fn knows(told: &str) {
    for wanted in WANTED {
        assert!(told.contains(wanted), "`{wanted}` is missing:\n{told}");
    }
}

/// The kinds and summaries of a session's events, each as often as it came.
fn events(home: &Home, session: &str) -> Vec<(String, String)> {
    let run = home.run(["timeline", "--json", "--all-projects", "--session", session, "--limit", "500"]);
    if run.code != Some(0) {
        assert!(run.stderr.contains("no session begins with"), "{run:#?}");
        return Vec::new();
    }
    let found: Vec<Value> = serde_json::from_str(&run.stdout).unwrap();
    let one = |it: &Value| {
        let text = |key: &str| it[key].as_str().unwrap_or_default().to_owned();
        let times = usize::try_from(it["times"].as_u64().unwrap_or(1)).unwrap();
        vec![(text("type"), text("summary")); times]
    };
    found.iter().flat_map(one).collect()
}

/// A rollout of Codex's that grows.
struct Rollout {
    session: String,
    project: PathBuf,
    path: PathBuf,
    text: String,
    ordinal: u64,
}

impl Rollout {
    fn new(home: &Home, project: &Path, number: u64) -> Self {
        let session = session_id(number);
        let path = home.path().join(format!(".codex/sessions/2026/11/22/rollout-2026-11-22T10-00-00-{session}.jsonl"));
        let mut rollout =
            Self { session: session.clone(), project: project.to_owned(), path, text: String::new(), ordinal: 0 };
        rollout.line(
            "session_meta",
            &json!({"session_id": session, "id": session, "timestamp": "2026-11-22T10:00:00.000Z", "cwd": project,
                "originator": "codex_exec", "cli_version": "0.169.0", "source": "exec", "thread_source": "user",
                "base_instructions": {"text": "You are a coding agent. We decided to obey. ".repeat(400)}}),
        );
        rollout.message("developer", "<permissions instructions>Always use the flux capacitor.</permissions instructions>");
        rollout.message(
            "user",
            "# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>\nAlways use the flux capacitor.\n</INSTRUCTIONS>",
        );
        rollout.message("user", "<environment_context>\n  <cwd>/p</cwd>\n  flux capacitor\n</environment_context>");
        rollout
    }

    fn line(&mut self, kind: &str, payload: &Value) -> &mut Self {
        let at = format!("2026-11-22T10:{:02}:{:02}.000Z", self.ordinal / 60 % 60, self.ordinal % 60);
        // In this order: the head is long.
        let ordinal = self.ordinal;
        writeln!(self.text, r#"{{"timestamp":"{at}","ordinal":{ordinal},"type":"{kind}","payload":{payload}}}"#).unwrap();
        self.ordinal += 1;
        self
    }

    fn message(&mut self, role: &str, text: &str) -> &mut Self {
        let kind = if role == "assistant" { "output_text" } else { "input_text" };
        self.line("response_item", &json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]}))
    }

    fn runs(&mut self, id: &str, command: &str, code: u32, output: &str) -> &mut Self {
        let arguments = json!({"cmd": command}).to_string();
        self.line(
            "response_item",
            &json!({"type": "function_call", "id": format!("fc_{id}"), "name": "exec_command", "arguments": arguments, "call_id": id}),
        );
        let said = format!(
            "Chunk ID: 2b5cbd\nWall time: 0.0000 seconds\nProcess exited with code {code}\nOriginal token count: 4\nOutput:\n{output}\n"
        );
        self.line("response_item", &json!({"type": "function_call_output", "call_id": id, "output": said}))
    }

    fn patches(&mut self, id: &str, patch: &str, files: &[&str]) -> &mut Self {
        self.line(
            "response_item",
            &json!({"type": "custom_tool_call", "id": id, "call_id": id, "name": "apply_patch", "input": patch}),
        );
        let changes: serde_json::Map<String, Value> =
            files.iter().map(|file| ((*file).to_owned(), json!({"type": "add"}))).collect();
        self.line(
            "event_msg",
            &json!({"type": "item_completed", "item": {"type": "FileChange", "id": id, "changes": changes, "status": "completed"}}),
        );
        let said = "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nM src/importer.rs\n";
        self.line("response_item", &json!({"type": "custom_tool_call_output", "call_id": id, "output": said}))
    }

    /// A session of some substance.
    fn work(&mut self) -> &mut Self {
        self.message("user", REQUEST)
            .message("assistant", "I look at the importer first.")
            .runs("call_1", "cargo test importer", 101, "error[E0432]: unresolved import `csv::Trim`")
            .runs("call_2", "cargo add csv@1.3", 0, "Adding csv v1.3 to dependencies")
            .runs("call_3", "cargo test importer", 0, "test result: ok. 9 passed; 0 failed")
            .patches(
                "call_4",
                "*** Begin Patch\n*** Update File: src/importer.rs\n@@\n-let amount = parse(row)?;\n+let Some(amount) = parse(row)? else { continue };\n*** End Patch\n",
                &["src/importer.rs"],
            )
            .message("assistant", LAST_WORDS)
            .line("event_msg", &json!({"type": "task_complete", "last_agent_message": LAST_WORDS}))
    }

    fn write(&self) {
        fs::create_dir_all(self.path.parent().unwrap()).unwrap();
        fs::write(&self.path, &self.text).unwrap();
    }

    fn payload(&self, event: &str, more: Value) -> Value {
        let mut payload = json!({"session_id": self.session, "turn_id": "turn-1", "transcript_path": self.path, "cwd": self.project,
            "hook_event_name": event, "model": "gpt-6-astra", "permission_mode": "bypassPermissions"});
        let Value::Object(more) = more else { panic!("an object") };
        payload.as_object_mut().unwrap().extend(more);
        payload
    }

    fn stop(&self, home: &Home) {
        let payload = self.payload("Stop", json!({"stop_hook_active": false, "last_assistant_message": LAST_WORDS}));
        assert_eq!(call(home, &["--agent", "codex"], &payload), None);
    }
}

#[test]
fn what_codex_did_claude_knows() {
    let home = Home::new();
    let project = home.project("billing");
    let mut rollout = Rollout::new(&home, &project, 1);
    rollout.work().write();
    rollout.stop(&home);
    let end = json!({"session_id": rollout.session, "transcript_path": rollout.path, "cwd": project,
        "hook_event_name": "SessionEnd", "reason": "other"});
    assert_eq!(call(&home, &["--agent", "codex"], &end), None);

    let told = claude_is_told(&home, &project);
    knows(&told);
    assert_eq!(learned(&home), learned_by_claude(), "the same work teaches the same, whoever did it");
    for memory in home.memories() {
        assert!(!memory.text.contains("flux capacitor"), "instructions are nobody's words: {memory:?}");
        assert!(!memory.text.contains("decided to obey"), "{memory:?}");
    }
    let session = home.json(["session", "show", &rollout.session, "--json"]);
    assert_eq!(session["agent"], "codex", "{session:#}");
    assert!(home.log().is_empty(), "{}", home.log());
}

/// What is remembered, by kind and text.
fn learned(home: &Home) -> Vec<(String, String)> {
    let mut learned: Vec<_> = home.memories().into_iter().map(|memory| (memory.kind, memory.text)).collect();
    learned.sort();
    learned
}

/// What the same work teaches with Claude Code.
fn learned_by_claude() -> Vec<(String, String)> {
    let home = Home::new();
    let project = home.project("billing");
    let mut session = Session::new(&home, &project, &session_id(1));
    session
        .transcript
        .user(REQUEST)
        .says("I look at the importer first.")
        .bash_fails("cargo test importer", 101, "error[E0432]: unresolved import `csv::Trim`")
        .bash("cargo add csv@1.3", "Adding csv v1.3 to dependencies")
        .bash("cargo test importer", "test result: ok. 9 passed; 0 failed")
        .edits("src/importer.rs", "let amount = parse(row)?;", "let Some(amount) = parse(row)? else { continue };")
        .answer(LAST_WORDS);
    session.stop(LAST_WORDS);
    session.end();
    learned(&home)
}

#[test]
fn what_claude_did_codex_is_told_in_codexs_form() {
    let home = Home::new();
    let project = home.project("billing");
    let mut session = Session::new(&home, &project, &session_id(1));
    session
        .transcript
        .user(REQUEST)
        .edits("src/importer.rs", "let amount = parse(row)?;", "let Some(amount) = parse(row)? else { continue };")
        .answer(LAST_WORDS);
    session.stop(LAST_WORDS);
    session.end();

    let rollout = Rollout::new(&home, &project, 2);
    let answer = call(&home, &["--agent", "codex"], &rollout.payload("SessionStart", json!({"source": "startup"}))).unwrap();
    // Codex refuses an answer with a field that it does not know.
    let told = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert_eq!(answer, json!({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": told}}));
    knows(told);
    assert!(told.encode_utf16().count() <= 9_500);
    let asked = rollout.payload("UserPromptSubmit", json!({"prompt": "How does the invoice importer treat empty amounts?"}));
    if let Some(answer) = call(&home, &["--agent", "codex"], &asked) {
        assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "UserPromptSubmit");
    }
}

#[test]
fn codexs_tools_become_observations() {
    let home = Home::new();
    let project = home.project("billing");
    let rollout = Rollout::new(&home, &project, 1);
    let patch =
        "*** Begin Patch\n*** Add File: src/a.rs\n+pub fn a() {}\n*** Update File: src/b.rs\n@@\n-x\n+y\n*** End Patch\n";
    let used = |tool: &str, input: Value, response: &str, id: &str| {
        rollout.payload(
            "PostToolUse",
            json!({"tool_name": tool, "tool_input": input, "tool_response": response, "tool_use_id": id}),
        )
    };
    for payload in [
        used("Bash", json!({"command": "cargo test"}), "test result: ok\n", "call_1"),
        used("apply_patch", json!({"command": patch}), "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.\n", "call_2"),
        // The same once more.
        used("Bash", json!({"command": "cargo test"}), "test result: ok\n", "call_1"),
    ] {
        assert_eq!(call(&home, &["--agent", "codex"], &payload), None);
    }
    // Its hook does not say how a command ended. Its rollout does.
    let mut rollout = rollout;
    rollout.line(
        "event_msg",
        &json!({"type": "item_completed", "item": {"type": "CommandExecution", "id": "call_9", "status": "failed", "exit_code": 2}}),
    );
    rollout.write();
    let payload = rollout.payload(
        "PostToolUse",
        json!({"tool_name": "Bash", "tool_input": {"command": "make all"},
        "tool_response": "no rule\n", "tool_use_id": "call_9"}),
    );
    assert_eq!(call(&home, &["--agent", "codex"], &payload), None);
    let seen: Vec<String> = events(&home, &rollout.session).into_iter().map(|(_, summary)| summary).collect();
    for wanted in ["Ran `make all`: exit 2", "Ran `cargo test`: ok", "Wrote src/a.rs (1 line)", "Edited src/b.rs (+1 −1)"]
    {
        assert_eq!(seen.iter().filter(|it| it.contains(wanted)).count(), 1, "{wanted}: {seen:#?}");
    }
}

#[test]
fn codex_may_notify_instead() {
    let home = Home::new();
    let project = home.project("billing");
    let mut rollout = Rollout::new(&home, &project, 1);
    rollout.work().write();
    let payload = json!({"type": "agent-turn-complete", "thread-id": rollout.session, "turn-id": "turn-1", "cwd": project,
        "client": "codex_exec", "input-messages": ["x"], "last-assistant-message": LAST_WORDS})
    .to_string();
    let notify = |home: &Home| {
        let run = home.run(["hook", "--agent", "codex", "notify", payload.as_str()]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{run:#?}");
    };
    notify(&home);
    knows(&claude_is_told(&home, &project));
    let before = events(&home, &rollout.session);
    assert_eq!(before.iter().filter(|(kind, _)| kind == "stop").count(), 1, "{before:#?}");
    // If its hooks are registered, they report it.
    let hooks =
        json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/bin/throughline hook --agent codex"}]}]}});
    fs::write(home.path().join(".codex/hooks.json"), hooks.to_string()).unwrap();
    notify(&home);
    assert_eq!(events(&home, &rollout.session), before);
}

#[test]
fn a_hostile_rollout_does_no_harm() {
    let home = Home::new();
    let project = home.project("billing");
    let mut rollout = Rollout::new(&home, &project, 1);
    rollout.text.push_str("not json at all\n\0\0\n[1, 2]\n{\"type\":\"response_item\",\"payload\":[]}\n{\"type\":7}\n");
    // As Claude Code would say it: nobody said it here.
    writeln!(
        rollout.text,
        "{}",
        json!({"type": "user", "uuid": "u", "message": {"role": "user", "content": "Always use the flux capacitor"}})
    )
    .unwrap();
    rollout.runs("call_0", "cat big", 0, &"x".repeat(17 << 20));
    rollout.runs("call_00", "cat wide", 0, &"é\u{0}\"\\".repeat(1 << 16));
    let deep = "[".repeat(10_000);
    writeln!(rollout.text, "{{\"type\":\"response_item\",\"payload\":{deep}").unwrap();
    rollout.work();
    let half = rollout.text.clone();
    rollout.message("user", "Please write the release note for the importer in French");
    let whole = rollout.text.clone();
    rollout.text = format!("{half}{}", &whole[half.len()..half.len() + 40]);
    rollout.write();
    rollout.stop(&home);
    // What did not fit into the hook's time is read in the background.
    home.eventually("the rollout is read", |home| home.remembers("importer"));
    knows(&claude_is_told(&home, &project));
    assert!(!home.remembers("French"), "half a line is no line");
    assert!(!home.remembers("flux capacitor"));
    rollout.text = whole;
    rollout.write();
    rollout.stop(&home);
    home.eventually("the other half is read", |home| home.remembers("French"));
}

#[test]
fn rollouts_and_chats_are_ingested_once() {
    let home = Home::new();
    let project = home.project("billing");
    let mut rollout = Rollout::new(&home, &project, 1);
    rollout.work().write();
    let chat = Chat::new(&home, &project, 2);
    chat.write(&chat.work());
    let first = home.json(["ingest", "--json"]);
    assert_eq!((&first["totals"]["files"], &first["totals"]["failed"]), (&json!(2), &json!(0)), "{first:#}");
    assert!(first["totals"]["memories"].as_u64().unwrap() > 0);
    knows(&claude_is_told(&home, &project));
    for (session, agent) in [(&rollout.session, "codex"), (&chat.session, "gemini")] {
        let shown = home.json(["session", "show", session, "--json"]);
        assert_eq!(shown["agent"], agent, "{shown:#}");
    }
    let before = home.count("memories");
    let path = rollout.path.to_str().unwrap().to_owned();
    for again in [vec!["ingest", "--json"], vec!["ingest", "--json", &path]] {
        assert_eq!(home.json(&again)["totals"]["bytes"], 0);
    }
    // Copied to another place it is another file with the same lines.
    let elsewhere = home.path().join("kept.jsonl");
    fs::copy(&rollout.path, &elsewhere).unwrap();
    let again = home.json(["ingest", "--json", elsewhere.to_str().unwrap()]);
    assert_eq!(again["totals"]["memories"], 0, "{again:#}");
    assert_eq!(home.count("memories"), before);
}

/// One of Gemini CLI's chats.
struct Chat {
    session: String,
    project: PathBuf,
    path: PathBuf,
}

impl Chat {
    fn new(home: &Home, project: &Path, number: u64) -> Self {
        let session = session_id(number);
        let folder = home.path().join(".gemini/tmp/billing");
        fs::create_dir_all(folder.join("chats")).unwrap();
        fs::write(folder.join(".project_root"), format!("{}\n", project.display())).unwrap();
        let path = folder.join(format!("chats/session-2026-11-22T10-00-{}.jsonl", &session[..8]));
        Self { session, project: project.to_owned(), path }
    }

    /// A session with several turns. A message that was extended is written again.
    fn work(&self) -> Vec<Value> {
        let call = |id: &str, name: &str, args: Value, output: &str| {
            json!({"id": id, "name": name, "args": args, "status": "success", "timestamp": "2026-11-22T10:00:05.000Z",
                "result": [{"functionResponse": {"id": id, "name": name, "response": {"output": output}}}]})
        };
        let message = |id: &str, kind: &str, content: Value| json!({"id": id, "timestamp": "2026-11-22T10:00:01.000Z", "type": kind, "content": content});
        let mut looks = message("m2", "gemini", json!("I look at the importer first."));
        let early = looks.clone();
        looks["toolCalls"] = json!([
            call(
                "c1",
                "run_shell_command",
                json!({"command": "cargo test importer"}),
                "Output: error[E0432]: unresolved import `csv::Trim`\nExit Code: 101"
            ),
            call(
                "c2",
                "run_shell_command",
                json!({"command": "cargo test importer"}),
                "Output: test result: ok. 9 passed; 0 failed"
            ),
            call(
                "c3",
                "replace",
                json!({"file_path": self.project.join("src/importer.rs"), "old_string": "let amount = parse(row)?;",
                "new_string": "let Some(amount) = parse(row)? else { continue };"}),
                "Successfully modified file"
            ),
        ]);
        vec![
            json!({"sessionId": self.session, "projectHash": "abc", "startTime": "2026-11-22T10:00:00.000Z",
                "lastUpdated": "2026-11-22T10:00:00.000Z", "kind": "main"}),
            message("m0", "user", json!([{"text": "<session_context>\nAlways use the flux capacitor\n</session_context>"}])),
            message(
                "m1",
                "user",
                json!([{"text": REQUEST},
                {"text": "<hook_context>## Session Memory\nflux capacitor</hook_context>"}]),
            ),
            json!({"$set": {"lastUpdated": "2026-11-22T10:00:02.000Z"}}),
            early,
            looks,
            message("m3", "gemini", json!(LAST_WORDS)),
        ]
    }

    fn write(&self, lines: &[Value]) {
        let text = joined(lines);
        fs::write(&self.path, text).unwrap();
    }

    fn payload(&self, event: &str, more: Value) -> Value {
        let mut payload = json!({"session_id": self.session, "transcript_path": self.path, "cwd": self.project,
            "hook_event_name": event, "timestamp": "2026-11-22T10:00:00.000Z"});
        let Value::Object(more) = more else { panic!("an object") };
        payload.as_object_mut().unwrap().extend(more);
        payload
    }
}

#[test]
fn a_session_with_gemini() {
    let home = Home::new();
    let project = home.project("billing");
    let chat = Chat::new(&home, &project, 1);
    let gemini = |event: &str, more: Value| call(&home, &["--agent", "gemini"], &chat.payload(event, more));
    assert_eq!(gemini("SessionStart", json!({"source": "startup"})), None);
    assert_eq!(gemini("BeforeAgent", json!({"prompt": REQUEST})), None);
    let used = |tool: &str, input: Value, said: &str| {
        gemini(
            "AfterTool",
            json!({"tool_name": tool, "tool_input": input,
            "tool_response": {"llmContent": said, "returnDisplay": said}}),
        )
    };
    used("run_shell_command", json!({"command": "cargo test importer"}), "Output: error: it broke\nExit Code: 101");
    used("read_file", json!({"file_path": project.join("src/importer.rs")}), "fn main() {}");
    chat.write(&chat.work());
    assert_eq!(gemini("AfterAgent", json!({"prompt": "x", "prompt_response": LAST_WORDS, "stop_hook_active": false})), None);
    for _ in 0..2 {
        assert_eq!(gemini("SessionEnd", json!({"reason": "exit"})), None);
    }
    assert_eq!(gemini("BeforeToolSelection", json!({"llm_request": {}})), None);

    let seen = events(&home, &chat.session);
    for (kind, summary) in [
        ("user_prompt", "Make the invoice importer"),
        ("tool_observation", "Ran `cargo test importer`: exit 101"),
        ("tool_observation", "Read src/importer.rs"),
        ("stop", "The importer skips rows"),
        ("session_end", "Session ended (exit)"),
    ] {
        let found = seen.iter().filter(|(is, said)| is == kind && said.starts_with(summary)).count();
        assert_eq!(found, 1, "{kind} {summary}: {seen:#?}");
    }
    knows(&claude_is_told(&home, &project));
    assert!(!home.remembers("flux capacitor"));
    let next = Chat::new(&home, &project, 3);
    let answer = call(&home, &["--agent", "gemini"], &next.payload("SessionStart", json!({"source": "startup"}))).unwrap();
    let told = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    let notice = answer["systemMessage"].as_str().unwrap();
    let context = json!({"hookEventName": "SessionStart", "additionalContext": told});
    assert_eq!(answer, json!({"hookSpecificOutput": context, "systemMessage": notice}));
    knows(told);
}

fn cursor(project: &Path, session: &str, event: &str, more: Value) -> Value {
    let mut payload = json!({"conversation_id": session, "generation_id": "gen-1", "model": "m", "hook_event_name": event,
        "cursor_version": "2.4.0", "workspace_roots": [project], "user_email": "me@example.org", "transcript_path": null});
    let Value::Object(more) = more else { panic!("an object") };
    payload.as_object_mut().unwrap().extend(more);
    payload
}

/// The events of a session with Cursor, in order.
fn cursors_work(project: &Path, session: &str) -> Vec<Value> {
    let token = "ghp_x7Qm2Lw9x7Qm2Lw9x7Qm2Lw9x7Qm2Lw9x7Qm";
    let event = |name: &str, more: Value| cursor(project, session, name, more);
    vec![
        event("sessionStart", json!({"session_id": session, "is_background_agent": false, "composer_mode": "agent"})),
        event("beforeSubmitPrompt", json!({"prompt": REQUEST, "attachments": []})),
        event(
            "postToolUse",
            json!({"tool_name": "Shell", "tool_input": {"command": "cargo test importer"}, "tool_use_id": "t1",
            "tool_output": json!({"exitCode": 101, "output": format!("error: token {token}")}).to_string(), "duration": 12.5}),
        ),
        event(
            "postToolUse",
            json!({"tool_name": "Write", "tool_input": {"path": "src/importer.rs", "contents": "fn main() {}"},
            "tool_use_id": "t2", "tool_output": "{}", "duration": 1}),
        ),
        event("afterAgentResponse", json!({"text": LAST_WORDS})),
        event("stop", json!({"status": "completed", "loop_count": 0})),
        event("sessionEnd", json!({"session_id": session, "reason": "user_close", "duration_ms": 1})),
    ]
}

#[test]
fn a_session_with_cursor_is_kept_in_minutes() {
    let home = Home::new();
    let project = home.project("billing");
    let session = session_id(1);
    for payload in cursors_work(&project, &session) {
        assert_eq!(call(&home, &["--agent", "cursor"], &payload), None, "{payload}");
    }
    let minutes = home.data().join(format!("minutes/cursor/{session}.jsonl"));
    let text = fs::read_to_string(&minutes).unwrap();
    assert!(text.contains("invoice importer") && text.contains("[redacted:"), "{text}");
    for (path, bytes) in home.files() {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("ghp_x7Qm2Lw9"), "a secret stands in {}", path.display());
    }
    assert_eq!(fs::metadata(&minutes).unwrap().permissions().mode() & 0o777, 0o600);
    knows(&claude_is_told(&home, &project));
    let seen = events(&home, &session);
    assert!(seen.iter().any(|(kind, said)| kind == "stop" && said.starts_with("The importer skips")), "{seen:#?}");
    let shown = home.json(["session", "show", &session, "--json"]);
    assert_eq!(shown["agent"], "cursor");

    let next = cursor(&project, &session_id(2), "sessionStart", json!({"session_id": session_id(2)}));
    let answer = call(&home, &["--agent", "cursor"], &next).unwrap();
    knows(answer["additional_context"].as_str().unwrap());
    assert_eq!(answer.as_object().unwrap().len(), 1);
    // A prompt can only be let through.
    let asked = cursor(&project, &session_id(2), "beforeSubmitPrompt", json!({"prompt": "How are empty amounts imported?"}));
    assert_eq!(call(&home, &["--agent", "cursor"], &asked), None);
}

#[test]
fn what_is_forgotten_is_in_no_minutes() {
    let home = Home::new();
    let project = home.project("billing");
    let sessions = [session_id(1), session_id(2)];
    for session in &sessions {
        for payload in cursors_work(&project, session) {
            call(&home, &["--agent", "cursor"], &payload);
        }
    }
    let minutes =
        |session: &str| fs::read_to_string(home.data().join(format!("minutes/cursor/{session}.jsonl"))).unwrap_or_default();
    let forget = |words: &[&str]| {
        let arguments = ["memory", "forget", "--yes", "--now"].iter().chain(words);
        drop(home.run(arguments).success());
    };
    let root = project.to_str().unwrap();
    forget(&["--project", root, "--match", "invoice"]);
    for session in &sessions {
        let text = minutes(session);
        assert!(!text.contains("invoice") && text.contains("src/importer.rs"), "{text}");
    }
    forget(&["--session", &sessions[0]]);
    assert_eq!(minutes(&sessions[0]), "");
    assert!(minutes(&sessions[1]).contains("src/importer.rs"));
    // A rule that is newer than the minutes.
    let rules = home.path().join("rules.toml");
    fs::write(&rules, "[[rules]]\nid = \"house\"\nregex = 'fn main'\n").unwrap();
    fs::create_dir_all(home.throughline().join("config")).unwrap();
    fs::write(home.throughline().join("config/config.toml"), format!("[redaction]\nrules = [{rules:?}]\n")).unwrap();
    drop(home.run(["scrub"]).success());
    let text = minutes(&sessions[1]);
    assert!(!text.contains("fn main") && text.contains("src/importer.rs"), "{text}");
}

#[test]
fn hooks_of_claude_codes_that_cursor_runs_are_cursors() {
    let home = Home::new();
    let project = home.project("billing");
    let session = session_id(1);
    for payload in cursors_work(&project, &session) {
        // As `~/.claude/settings.json` registers it.
        assert_eq!(call(&home, &[], &payload), None, "{payload}");
    }
    knows(&claude_is_told(&home, &project));
    assert_eq!(home.json(["session", "show", &session, "--json"])["agent"], "cursor");

    // Where Cursor has hooks of its own, these do the work, and the others nothing.
    let session = session_id(2);
    fs::create_dir_all(home.path().join(".cursor")).unwrap();
    let hooks = json!({"version": 1, "hooks": {"stop": [{"command": "'/a b/throughline' hook --agent cursor"}]}});
    fs::write(home.path().join(".cursor/hooks.json"), hooks.to_string()).unwrap();
    for payload in cursors_work(&project, &session) {
        assert_eq!(call(&home, &[], &payload), None);
    }
    assert!(events(&home, &session).is_empty());
    for payload in cursors_work(&project, &session) {
        call(&home, &["--agent", "cursor"], &payload);
        call(&home, &[], &payload);
    }
    let seen = events(&home, &session);
    for kind in ["user_prompt", "stop", "session_end"] {
        assert_eq!(seen.iter().filter(|(is, _)| is == kind).count(), 1, "{kind}: {seen:#?}");
    }
    assert_eq!(seen.iter().filter(|(is, _)| is == "tool_observation").count(), 2, "{seen:#?}");
}

#[test]
fn a_session_with_copilot() {
    let home = Home::new();
    let project = home.project("billing");
    let session = session_id(1);
    let folder = home.path().join(".copilot/session-state").join(&session);
    fs::create_dir_all(&folder).unwrap();
    let payload = |session: &str, more: Value| {
        let mut payload = json!({"sessionId": session, "timestamp": 1_795_388_226_561_u64, "cwd": project});
        let Value::Object(more) = more else { panic!("an object") };
        payload.as_object_mut().unwrap().extend(more);
        payload
    };
    let copilot = |event: &str, more: Value| call(&home, &["--agent", "copilot", event], &payload(&session, more));
    assert_eq!(copilot("sessionStart", json!({"source": "new"})), None);
    assert_eq!(copilot("userPromptSubmitted", json!({"prompt": REQUEST})), None);
    let failed = json!({"toolName": "bash", "toolArgs": "{\"command\":\"cargo test importer\"}", "error": "it broke"});
    assert_eq!(copilot("postToolUseFailure", failed), None);
    let edited = json!({"toolName": "edit", "toolArgs": {"path": "src/importer.rs", "old_str": "a", "new_str": "b"},
        "toolResult": {"resultType": "success", "textResultForLlm": "File updated"}});
    assert_eq!(copilot("postToolUse", edited), None);
    let event = |number: u32, kind: &str, data: Value| json!({"type": kind, "data": data, "id": format!("e{number}"), "timestamp": "2026-11-22T10:00:00.000Z", "parentId": null});
    let lines = [
        event(0, "session.start", json!({"sessionId": session, "version": 1, "context": {"cwd": project}})),
        event(
            1,
            "user.message",
            json!({"content": REQUEST,
            "transformedContent": "<current_datetime>flux capacitor</current_datetime>"}),
        ),
        event(
            2,
            "tool.execution_start",
            json!({"toolCallId": "c1", "toolName": "edit",
            "arguments": {"path": "src/importer.rs", "old_str": "a", "new_str": "b"}}),
        ),
        event(
            3,
            "tool.execution_complete",
            json!({"toolCallId": "c1", "success": true, "result": {"content": "File updated"}}),
        ),
        event(4, "assistant.message", json!({"messageId": "m", "content": LAST_WORDS, "toolRequests": []})),
    ];
    let text = joined(&lines);
    fs::write(folder.join("events.jsonl"), text).unwrap();
    let stop = json!({"transcriptPath": folder.join("events.jsonl"), "stopReason": "end_turn", "stop_hook_active": false});
    assert_eq!(copilot("agentStop", stop), None);
    assert_eq!(copilot("sessionEnd", json!({"reason": "complete"})), None);
    assert!(!home.data().join("minutes").exists());
    knows(&claude_is_told(&home, &project));
    assert!(!home.remembers("flux capacitor"));
    let seen = events(&home, &session);
    for wanted in ["Ran `cargo test importer`: failed", "Edited src/importer.rs (+1 −1)", "Session ended (complete)"] {
        assert_eq!(seen.iter().filter(|(_, said)| said == wanted).count(), 1, "{wanted}: {seen:#?}");
    }

    let next =
        call(&home, &["--agent", "copilot", "sessionStart"], &payload(&session_id(2), json!({"source": "new"}))).unwrap();
    knows(next["additionalContext"].as_str().unwrap());
}

#[test]
fn a_session_with_copilot_whose_transcript_is_not_there() {
    let home = Home::new();
    let project = home.project("billing");
    let session = session_id(1);
    // As a repository's `.claude/settings.json` has Copilot call it.
    let copilot = |event: &str, more: Value| {
        let mut payload = json!({"session_id": session, "timestamp": "2026-11-22T10:00:00.000Z", "cwd": project, "hook_event_name": event});
        let Value::Object(more) = more else { panic!("an object") };
        payload.as_object_mut().unwrap().extend(more);
        call(&home, &[], &payload)
    };
    copilot("SessionStart", json!({"source": "new"}));
    copilot("UserPromptSubmit", json!({"prompt": REQUEST}));
    copilot(
        "PostToolUse",
        json!({"tool_name": "Write", "tool_input": {"file_path": "src/importer.rs", "content": "x"},
        "tool_result": {"result_type": "success", "text_result_for_llm": "Created"}}),
    );
    copilot(
        "Stop",
        json!({"transcript_path": "/nowhere/events.jsonl", "stop_reason": "end_turn", "stop_hook_active": false}),
    );
    copilot("SessionEnd", json!({"reason": "complete"}));
    let told = claude_is_told(&home, &project);
    assert!(told.contains("importer") && told.contains("src/importer.rs"), "{told}");
    assert_eq!(home.json(["session", "show", &session, "--json"])["agent"], "copilot");
}

#[test]
fn a_session_with_droid() {
    let home = Home::new();
    let project = home.project("billing");
    let session = session_id(1);
    let path = home.path().join(format!(".factory/sessions/-work-billing/{session}.jsonl"));
    let message = |id: &str, role: &str, content: Value| json!({"type": "message", "id": id, "timestamp": "2026-11-22T10:00:00.000Z", "message": {"role": role, "content": content}});
    let lines = [
        json!({"type": "session_start", "id": session, "title": "x", "cwd": project, "version": 2}),
        message(
            "m1",
            "user",
            json!([{"type": "text", "text": "<system-reminder>flux capacitor</system-reminder>"},
            {"type": "text", "text": REQUEST}]),
        ),
        message(
            "m2",
            "assistant",
            json!([{"type": "tool_use", "id": "c1", "name": "Create",
            "input": {"file_path": project.join("src/importer.rs"), "content": "fn main() {}"}}]),
        ),
        message("m3", "user", json!([{"type": "tool_result", "tool_use_id": "c1", "content": "created"}])),
        message("m4", "assistant", json!([{"type": "text", "text": LAST_WORDS}])),
    ];
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, joined(&lines)).unwrap();
    let droid = |event: &str, more: Value| {
        let mut payload = json!({"session_id": session, "transcript_path": path, "cwd": project, "hook_event_name": event, "permission_mode": "auto"});
        let Value::Object(more) = more else { panic!("an object") };
        payload.as_object_mut().unwrap().extend(more);
        call(&home, &["--agent", "droid"], &payload)
    };
    let used = json!({"tool_name": "Create", "tool_input": {"file_path": project.join("src/importer.rs"), "content": "fn main() {}"},
        "tool_response": {"ok": true}});
    assert_eq!(droid("PostToolUse", used), None);
    assert_eq!(droid("Stop", json!({"stop_hook_active": false})), None);
    assert_eq!(droid("SessionEnd", json!({"reason": "other"})), None);
    knows(&claude_is_told(&home, &project));
    assert!(!home.remembers("flux capacitor"));
    let seen = events(&home, &session);
    assert!(seen.iter().any(|(_, said)| said.contains("src/importer.rs")), "{seen:#?}");
}

#[test]
fn a_session_with_qwen() {
    let home = Home::new();
    let project = home.project("importer");
    let send = |event: &str, session: &str, more: Value| {
        let mut payload = json!({"hook_event_name": event, "session_id": session, "cwd": project,
            "transcript_path": "/nowhere.jsonl", "timestamp": "2026-11-25T05:23:58.769Z"});
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call(&home, &["--agent", "qwen"], &payload)
    };
    let (first, second) = (session_id(1), session_id(2));
    assert_eq!(send("UserPromptSubmit", &first, json!({"prompt": "We decided: empty amounts are imported as zero."})), None);
    let response = |said: &str| json!({"llmContent": said, "returnDisplay": said});
    send(
        "PostToolUse",
        &first,
        json!({"tool_name": "write_file", "tool_use_id": "a", "tool_input": {"file_path": project.join("rules.md"),
            "content": "zero"}, "tool_response": response("Successfully created")}),
    );
    // It reports a request with results as a prompt without words.
    send("UserPromptSubmit", &first, json!({"prompt": ""}));
    send("Stop", &first, json!({"stop_hook_active": true, "last_assistant_message": "Empty amounts are zero now."}));
    send("SessionEnd", &first, json!({"reason": "other"}));
    let shown = home.json(["session", "show", &first, "--json"]);
    assert_eq!((&shown["agent"], shown["prompts"].as_array().map(Vec::len)), (&json!("qwen"), Some(1)), "{shown:#}");
    let answer = send("SessionStart", &second, json!({"source": "startup"})).expect("it is told");
    let told = answer["hookSpecificOutput"]["additionalContext"].as_str().expect("a context");
    assert!(told.contains("rules.md") && told.contains("zero"), "{told}");
}

#[test]
fn whatever_they_send_the_answer_is_json_or_nothing() {
    let home = Home::new();
    let project = home.project("billing");
    let inputs: Vec<Vec<u8>> = vec![
        Vec::new(),
        b"\n".to_vec(),
        b"[]".to_vec(),
        b"{".to_vec(),
        b"{}".to_vec(),
        b"\xff\xfe{".to_vec(),
        br#"{"session_id":7,"sessionId":[],"conversation_id":null}"#.to_vec(),
        format!("{{\"session_id\":{:?},\"hook_event_name\":\"Stop\"}}", "x".repeat(1000)).into_bytes(),
        json!({"session_id": "s", "sessionId": "s", "conversation_id": "s", "cwd": project, "hook_event_name": "Tomorrow"})
            .to_string()
            .into(),
        json!({"session_id": "s", "sessionId": "s", "conversation_id": "s", "cwd": 7, "hook_event_name": "PostToolUse",
            "tool_name": [], "toolName": {}, "tool_input": 7, "workspace_roots": "no", "transcript_path": "relative"})
        .to_string()
        .into(),
        json!({"session_id": "../../x", "sessionId": "../../x", "conversation_id": "../../x", "cwd": project,
            "hook_event_name": "Stop", "transcript_path": "/etc/passwd", "last_assistant_message": "x"})
        .to_string()
        .into(),
    ];
    for agent in ["codex", "gemini", "cursor", "copilot", "droid", "opencode", "qwen", "pi", "goose", "amp", "claude-code"] {
        for input in &inputs {
            let run = home.hook_with_input(&["--agent", agent], input.clone());
            assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "", ""), "{agent} {run:#?}");
        }
    }
    for words in
        [&["--agent"][..], &["--agent", "nobody"], &["--agent", "codex", "notify"], &["--agent", "codex", "Stop", "more"]]
    {
        let run = home.hook_with_input(words, b"{}".to_vec());
        assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{run:#?}");
    }
    assert!(home.log().contains("a hook was called with arguments that this version does not know"));
    assert!(!home.remembers("root:"));
}
