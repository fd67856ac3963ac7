//! The compiler program: the messages if it is missing, of another version or untrusted, and that no hook fails then.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tests::home::Home;
use tests::process::{self, Finished, WATCHDOG};

/// A program in a folder of its own, in a home that has no compiled policy.
struct Installation {
    home: Home,
    folder: PathBuf,
}

impl Installation {
    fn new() -> Self {
        let home = Home::cold();
        let folder = home.path().join("programs");
        fs::create_dir(&folder).expect("create the folder");
        process::copy_program(&process::throughline(), &folder.join("throughline"));
        Self { home, folder }
    }

    fn compiler(&self) -> PathBuf {
        self.folder.join("throughline-compiler")
    }

    /// Puts a script in the compiler's place.
    fn script(&self, text: &str) {
        fs::write(self.compiler(), format!("#!/bin/sh\n{text}\n")).expect("write");
        mode(&self.compiler(), "755");
    }

    fn run(&self, arguments: &[&str], input: &str) -> Finished {
        let mut command = self.home.isolated(self.folder.join("throughline"));
        command.args(arguments);
        process::run(command, input.as_bytes().to_vec(), WATCHDOG)
    }

    /// Returns what `doctor` finds about the compiler: its status, and the text with the hint.
    fn finding(&self) -> (String, String) {
        let run = self.run(&["doctor", "--json"], "");
        let report: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:#?}"));
        let text = report.to_string();
        let findings = report.as_array().or_else(|| report["checks"].as_array()).unwrap_or_else(|| panic!("{text}"));
        let found = findings.iter().find(|it| it["check"] == "compiler").unwrap_or_else(|| panic!("{text}"));
        (found["status"].as_str().expect("a status").to_owned(), found.to_string())
    }

    fn start_session(&self) -> Finished {
        let transcript = self.home.projects().join("x/none.jsonl");
        let payload = json!({
            "hook_event_name": "SessionStart", "session_id": "a", "transcript_path": transcript, "cwd": self.home.work(),
            "source": "startup",
        });
        self.run(&["hook"], &payload.to_string()).success()
    }
}

fn mode(file: &Path, mode: &str) {
    assert!(std::process::Command::new("chmod").arg(mode).arg(file).status().expect("run chmod").success());
}

#[test]
fn a_compiler_that_cannot_be_used_is_named_and_no_hook_fails() {
    let it = Installation::new();
    let expect = |what: &str, hint: &str| {
        let (status, text) = it.finding();
        assert!(status == "fail" && text.contains(what) && text.contains(hint), "{what}: {text}");
        let run = it.run(&["install"], "").failure_with_hint();
        assert!(run.stderr.contains(what), "{run:#?}");
        let told = it.start_session();
        assert!(told.stdout.contains("memory is off: throughline-compiler cannot be used"), "{told:#?}");
    };
    expect("there is no throughline-compiler in ", "cargo install --locked --path host/compiler");
    it.script("echo '0.0.9 (key)'; exit 3");
    expect("throughline-compiler is of version 0.0.9 (key), and throughline is ", "of the same version");
    it.script("cat >/dev/null; echo hello");
    expect("throughline-compiler wrote no compiled component", "of the same version");
    // Anybody could have written what is run as native code.
    process::copy_program(&process::compiler(), &it.compiler());
    mode(&it.compiler(), "757");
    expect("cannot be trusted: everybody may write to it", "nobody else may write to it");
    mode(&it.compiler(), "755");
    assert_eq!(it.finding().0, "ok");
    drop(it.run(&["install"], "").success());
    let told = it.start_session();
    assert!(!told.stdout.contains("memory is off"), "{told:#?}");
}

#[test]
fn a_compiler_in_the_path_is_not_looked_for() {
    let it = Installation::new();
    let mut command = it.home.isolated(it.folder.join("throughline"));
    command.env("PATH", process::compiler().parent().expect("a folder")).arg("install");
    let run = process::run(command, Vec::new(), WATCHDOG).failure_with_hint();
    assert!(run.stderr.contains("there is no throughline-compiler in "), "{run:#?}");
}

#[test]
fn the_compiler_is_for_its_own_program_alone() {
    let run = |arguments: &[&str]| {
        let home = Home::cold();
        let mut command = home.isolated(process::compiler());
        command.args(arguments);
        process::run(command, b"\0asm\x0d\0\x01\0".to_vec(), WATCHDOG)
    };
    assert!(run(&["--version"]).success().stdout.starts_with("throughline-compiler "));
    assert_eq!(run(&["compile", "0.0.9", "0000000000000000"]).code, Some(3));
    assert_eq!(run(&["compile"]).code, Some(3));
    assert_eq!(run(&[]).failure_with_hint().code, Some(2));
}
