//! Tests the program's standard input and output. Tests of its servers and their faults are in
//! `tests/tests/embedder.rs`, which finds the program already built because this file exists.

use std::io::Write;
use std::process::{Command, Output, Stdio};

fn run(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_throughline-embedder"))
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

#[test]
fn what_is_no_request_is_answered_with_a_fault() {
    for input in [&b""[..], b"{", b"null", b"\xff\xfe", br#"{"version": 1}"#] {
        let output = run(&[], input);
        assert_eq!(output.status.code(), Some(1), "{input:?}");
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("an answer in JSON");
        assert!(answer.to_string().contains("request"), "{answer}");
    }
}

#[test]
fn an_argument_is_answered_with_the_usage() {
    let output = run(&["--help"], b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard input"));
    assert!(String::from_utf8_lossy(&run(&["--version"], b"").stdout).contains(env!("CARGO_PKG_VERSION")));
}
