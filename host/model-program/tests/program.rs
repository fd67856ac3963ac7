//! Tests the program's standard input and output. Tests of its servers and their faults are in `tests/tests/it/model.rs`, which
//! finds the program already built because this file exists.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use throughline_model_wire::{Completed, Limits, Message, Provider, Request, Role, VERSION};

fn run(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_throughline-model"))
        .args(arguments)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // The program may exit before it has read all of its input.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    child.wait_with_output().expect("the program ends")
}

fn answer(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("an answer in JSON")
}

#[test]
fn what_is_no_request_is_answered_with_a_fault() {
    for input in [&b""[..], b"{", b"null", b"\xff\xfe", br#"{"version": 1}"#] {
        let output = run(&[], input);
        assert_eq!(output.status.code(), Some(1), "{input:?}");
        assert!(answer(&output).to_string().contains("request"), "{output:?}");
    }
}

#[test]
fn an_argument_is_answered_with_the_usage() {
    let output = run(&["--help"], b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard input"));
    assert!(String::from_utf8_lossy(&run(&["--version"], b"").stdout).contains(env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_reply_is_recorded_under_the_digest_that_the_fault_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let request = Request {
        version: VERSION,
        provider: Provider::Recorded { folder: folder.path().display().to_string() },
        messages: vec![Message { role: Role::User, content: "Summarize the session.".into() }],
        schema: None,
        max_tokens: 100,
        limits: Limits { timeout_ms: 1_000, tries: 1, backoff_ms: 1 },
    };
    let request = serde_json::to_vec(&request).expect("a request in JSON");
    let missing = run(&[], &request);
    assert_eq!(missing.status.code(), Some(1));
    let message = answer(&missing).to_string();
    let name = message.split_whitespace().find(|word| word.contains(".json")).expect("the name of the file");
    let completed = json!({"version": VERSION, "text": "The totals are rounded.", "model": "recorded", "truncated": false, "input_tokens": 4, "output_tokens": 5});
    std::fs::write(folder.path().join(name.trim_end_matches(':')), completed.to_string()).expect("write");
    let told = run(&[], &request);
    assert!(told.status.success(), "{told:?}");
    assert!(answer(&told).to_string().contains("The totals are rounded."), "{told:?}");
    assert!(serde_json::from_value::<Completed>(completed).is_ok());
}
