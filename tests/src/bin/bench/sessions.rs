//! The sessions whose hooks are measured, and what the client sends them.

use std::path::Path;

use serde_json::{Value, json};
use tests::home::Home;
use tests::session::Session;
use tests::transcript::session_id;

/// A session as large as one of a single prompt is with the real client: what is sent along dwarfs what is said.
pub(crate) fn ordinary<'home>(home: &'home Home, project: &Path, number: u64) -> Session<'home> {
    let mut session = Session::new(home, project, &session_id(number));
    session
        .transcript
        .noise(57_000)
        .noise(38_000)
        .user("Write a greeting file and run the check")
        .says("I will write the file.")
        .writes("out.txt", "hello\n")
        .bash_fails("ls nope", 2, "ls: cannot access 'nope'")
        .noise(40_000)
        .answer("The file is written; the check fails because `nope` does not exist.");
    session
}

pub(crate) fn every_payload(session: &Session<'_>) -> Vec<(&'static str, &'static [&'static str], Value)> {
    vec![
        ("SessionStart, hook memory-load", &["memory-load"], session.payload("SessionStart", &json!({"source": "startup"}))),
        ("SessionStart, hook", &[], session.payload("SessionStart", &json!({"source": "startup"}))),
        (
            "PreCompact, hook memory-flush",
            &["memory-flush"],
            session.payload("PreCompact", &json!({"trigger": "manual", "custom_instructions": "keep things"})),
        ),
        (
            "PostCompact, hook",
            &[],
            session.payload(
                "PostCompact",
                &json!({"trigger": "manual", "compact_summary": "<analysis>x</analysis><summary>We wrote a file.</summary>"}),
            ),
        ),
        (
            "Stop, hook memory-complete",
            &["memory-complete"],
            session.payload(
                "Stop",
                &json!({"permission_mode": "default", "stop_hook_active": false, "last_assistant_message": "Hello!",
                    "background_tasks": [], "session_crons": []}),
            ),
        ),
        ("SessionEnd, hook memory-save", &["memory-save"], session.payload("SessionEnd", &json!({"reason": "other"}))),
    ]
}

/// The use of a tool, as the client reports it.
pub(crate) fn tool_use(session: &Session<'_>, number: u64, stdout: &str) -> Value {
    session.use_of(
        &format!("toolu_{number}"),
        "Bash",
        &json!({"command": format!("make target{}", number % 50), "description": "Make it"}),
        &json!({"stdout": stdout, "stderr": "", "interrupted": false, "isImage": false}),
    )
}
