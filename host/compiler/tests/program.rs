//! Tests the program's standard input and output. The other crates' tests find the program already built because this file exists.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use throughline_sandbox::compile::{ComponentInterface, Handshake, Job, MISMATCH};
use throughline_sandbox::engine;

/// A component with nothing in it: the magic number, the version and the layer.
const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";

fn run(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_throughline-compiler"))
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
fn a_component_becomes_its_compiled_form() {
    let own = Handshake::own();
    let compiled = run(&[Job::Compile.word(), own.version, &own.key], EMPTY);
    assert!(compiled.status.success(), "{compiled:?}");
    assert!(engine::is_precompiled(&compiled.stdout));
    let refused = run(&[Job::Compile.word(), own.version, &own.key], b"no component");
    assert_eq!(refused.status.code(), Some(1));
    assert!(!refused.stdout.is_empty() && !engine::is_precompiled(&refused.stdout), "{refused:?}");
}

#[test]
fn every_job_has_its_answer_or_a_reason() {
    let own = Handshake::own();
    let ask = |job: Job, input: &[u8]| run(&[job.word(), own.version, &own.key], input);
    let interface = ask(Job::Interface, EMPTY);
    let none: ComponentInterface = serde_json::from_slice(&interface.stdout).expect("an interface");
    assert!(interface.status.success() && none.imports.is_empty() && none.exports.is_empty(), "{interface:?}");
    let answer = ask(
        Job::Validate,
        br#"{"schemas": {"base": {"required": ["title"]}}, "notes": [{"note_type": "x", "fields": {}}]}"#,
    );
    assert!(answer.status.success(), "{answer:?}");
    assert!(String::from_utf8_lossy(&answer.stdout).contains("required property"), "{answer:?}");
    for job in [Job::Interface, Job::Encode, Job::Validate] {
        let refused = ask(job, b"nothing");
        assert!(refused.status.code() == Some(1) && !refused.stdout.is_empty(), "{job:?}: {refused:?}");
    }
}

#[test]
fn another_version_is_told_which_one_this_is() {
    let own = Handshake::own();
    let answer = run(&[Job::Validate.word(), "0.0.0", &own.key], EMPTY);
    assert_eq!(answer.status.code(), Some(MISMATCH.into()));
    assert!(String::from_utf8_lossy(&answer.stdout).contains(own.version), "{answer:?}");
}

#[test]
fn an_argument_is_answered_with_the_usage() {
    let output = run(&["--help"], b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard input"));
    assert!(String::from_utf8_lossy(&run(&["--version"], b"").stdout).contains(env!("CARGO_PKG_VERSION")));
}
