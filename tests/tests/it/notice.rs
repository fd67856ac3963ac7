//! The sign in the session: one line at its start, `status` and the status line, and that they say when memory is off.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tests::home::Home;
use tests::process::{self, WATCHDOG};
use tests::session::Session;
use tests::transcript::session_id;

/// A home that remembers one session.
fn remembering() -> (Home, std::path::PathBuf) {
    let home = Home::new();
    let project = home.project("billing");
    let mut session = Session::new(&home, &project, &session_id(1));
    session.start("startup");
    session
        .transcript
        .user("Make the invoice importer skip empty amounts")
        .edits("src/importer.rs", "parse(row)?", "parse(row).unwrap_or_default()")
        .answer("The invoice importer skips empty amounts now. I decided to keep the row because the total needs it.");
    session.stop("The invoice importer skips empty amounts now.");
    session.end();
    (home, project)
}

/// What the start of a session prints; null if nothing.
fn start(home: &Home, project: &Path, agent: &str) -> Value {
    let payload = Session::new(home, project, &session_id(2)).payload("SessionStart", &json!({"source": "startup"}));
    let mut command = home.command(["hook", "--agent", agent]);
    command.current_dir(project);
    let run = process::run(command, payload.to_string().into_bytes(), WATCHDOG).success();
    if run.stdout.is_empty() { Value::Null } else { serde_json::from_str(&run.stdout).expect("JSON") }
}

/// What a command prints in the project, and its exit code.
fn said(home: &Home, project: &Path, words: &[&str], input: &str) -> (String, Option<i32>) {
    let mut command = home.command(words.iter().copied());
    command.current_dir(project);
    let run = process::run(command, input.as_bytes().to_vec(), WATCHDOG);
    (run.stdout, run.code)
}

fn configure(home: &Home, text: &str) {
    let file = home.throughline().join("config/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

#[test]
fn the_start_of_a_session_says_that_memory_works() {
    let (home, project) = remembering();
    for agent in ["claude-code", "gemini", "droid"] {
        let answer = start(&home, &project, agent);
        let line = answer["systemMessage"].as_str().unwrap_or_else(|| panic!("{agent}: {answer:#}"));
        assert!(line.starts_with("Throughline: ") && line.ends_with(", last session 2025-06-02"), "{agent}: {line}");
        assert!(line.contains(" memories, ") || line.contains(" memory, "), "{agent}: {line}");
        assert!(answer["hookSpecificOutput"]["additionalContext"].is_string(), "{agent}: {answer:#}");
    }
    // Codex would show the line as a warning; the others show none.
    for agent in ["codex", "cursor", "copilot"] {
        let answer = start(&home, &project, agent);
        assert!(answer.is_object() && answer.get("systemMessage").is_none(), "{agent}: {answer:#}");
    }
    configure(&home, "[notice]\nstart = false\n");
    let answer = start(&home, &project, "claude-code");
    assert!(answer["hookSpecificOutput"].is_object() && answer.get("systemMessage").is_none(), "{answer:#}");
}

#[test]
fn nothing_is_said_of_nothing() {
    let home = Home::new();
    let project = home.project("new");
    assert_eq!(start(&home, &project, "claude-code"), Value::Null);
}

#[test]
fn a_session_is_told_that_memory_is_off_and_why() {
    let (home, project) = remembering();
    // The notice of what works is off, but not this one. No command has read a good configuration yet.
    fs::remove_file(home.data().join("config.last-good.toml")).ok();
    configure(&home, "[notice]\nstart = false\nsecret_word = \"hunter2\"\n");
    let line = start(&home, &project, "claude-code")["systemMessage"].as_str().map(str::to_owned);
    let line = line.expect("a notice");
    assert!(line.contains("config.toml line 3: unknown key secret_word"), "{line}");
    assert!(!line.contains("hunter2"), "{line}");

    configure(&home, "");
    fs::write(home.database(), b"no database").unwrap();
    for side in ["-wal", "-shm"] {
        let file = home.database().with_file_name(format!("{}{side}", home.database().file_name().unwrap().display()));
        fs::remove_file(file).ok();
    }
    let answer = start(&home, &project, "claude-code");
    let line = answer["systemMessage"].as_str().unwrap_or_else(|| panic!("{answer:#}\n{}", home.log()));
    assert_eq!(line, "Throughline: memory is off: the database is damaged; `throughline doctor` says what to do");
    let (text, code) = said(&home, &project, &["status"], "");
    assert!(text.starts_with("off: ") && code == Some(1), "{text}");
    let (text, code) = said(&home, &project, &["statusline"], "{}");
    assert!(text.starts_with("memory off: ") && code == Some(0), "{text}");
}

#[test]
fn a_session_is_told_that_a_person_turned_memory_off() {
    let (home, project) = remembering();
    let line = |agent: &str| start(&home, &project, agent)["systemMessage"].as_str().map(str::to_owned);
    // The text is the same as in `status`, and the setting only affects the notice that memory works.
    let is_off = |why: &str| {
        for agent in ["claude-code", "gemini", "droid", "qwen", "codex"] {
            assert_eq!(line(agent), Some(format!("Throughline: memory is off: {why}")), "{agent}");
        }
        assert_eq!(start(&home, &project, "cursor"), Value::Null);
        let answer = start(&home, &project, "claude-code");
        assert!(answer.get("hookSpecificOutput").is_none(), "{answer:#}");
        let (text, code) = said(&home, &project, &["status"], "");
        assert!(text.starts_with(&format!("off: {why} (")) && code == Some(1), "{text}");
    };
    configure(&home, "enabled = false\n[notice]\nstart = false\n");
    is_off("the configuration has `enabled = false`");
    configure(&home, "[notice]\nstart = false\n");
    said(&home, &project, &["pause"], "");
    is_off("paused until `throughline resume`");
    said(&home, &project, &["resume"], "");
    // A session that began in an excluded project stays excluded, so this comes last.
    configure(&home, &format!("[notice]\nstart = false\n[privacy]\nexclude_projects = [{project:?}]\n"));
    is_off("this project is excluded by the configuration");
    // No other hook says so.
    let prompt = Session::new(&home, &project, &session_id(3)).prompt("Why does the invoice importer skip empty amounts?");
    prompt.silent();
}

#[test]
fn status_says_what_was_stored_and_told_and_which_hooks_ran() {
    let (home, project) = remembering();
    drop(home.run(["install"]).success());
    start(&home, &project, "codex");
    let (text, code) = said(&home, &project, &["status"], "");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(code, Some(0), "{text}");
    assert!(lines[0].starts_with("on: ") && lines[0].contains(" of 1 session in billing ("), "{text}");
    assert!(lines[1].starts_with("stored ") && lines[1].contains(" at a session start just now"), "{text}");
    assert!(lines[2].starts_with("Claude Code: ") && lines[2].contains("end of turn just now"), "{text}");
    assert!(lines[3].starts_with("Codex CLI: session start just now"), "{text}");
    assert_eq!(lines.len(), 4, "{text}");

    let (json, _) = said(&home, &project, &["status", "--json"], "");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["on"], &json["sessions"], &json["told"]["agent"]), (&json!(true), &json!(1), &json!("codex")));

    said(&home, &project, &["pause"], "");
    let (text, code) = said(&home, &project, &["status"], "");
    assert!(text.starts_with("off: paused until `throughline resume` (~/work/billing)"), "{text}");
    assert_eq!(code, Some(1));
}

#[test]
fn the_status_line_is_about_the_folder_that_the_agent_names() {
    let (home, project) = remembering();
    let elsewhere = home.project("elsewhere");
    let input = json!({"session_id": session_id(3), "cwd": elsewhere, "workspace": {"project_dir": project}});
    let (line, code) = said(&home, &elsewhere, &["statusline"], &input.to_string());
    assert!(line.ends_with(" memories, stored 2025-06-02\n") && line.lines().count() == 1 && code == Some(0), "{line}");
    for input in ["", "no JSON", "[]", "{\"cwd\": 7}", "{\"workspace\": {\"project_dir\": \"../x\"}}"] {
        let (line, code) = said(&home, &elsewhere, &["statusline"], input);
        assert_eq!((line.as_str(), code), ("0 memories\n", Some(0)), "{input}");
    }
}

#[test]
fn status_says_whether_hooks_are_registered() {
    let (home, project) = remembering();
    let status = || {
        let mut command = home.command(["status"]);
        command.current_dir(&project);
        process::run(command, Vec::new(), WATCHDOG)
    };
    // Hooks have run, and nothing says that they will again.
    let never = status();
    assert!(never.stdout.starts_with("off: no agent's settings register a hook (~/work/billing)"), "{never:#?}");
    assert!(never.code == Some(1) && never.stderr.contains("hint: `throughline install` registers"), "{never:#?}");

    drop(home.run(["install"]).success());
    let installed = status();
    assert!(installed.code == Some(0) && installed.stdout.starts_with("on: "), "{installed:#?}");
    drop(home.run(["uninstall"]).success());
    assert_eq!(status().code, Some(1));

    let mut install = home.command(["install", "--scope", "local"]);
    install.current_dir(&project);
    drop(process::run(install, Vec::new(), WATCHDOG).success());
    assert_eq!(status().code, Some(0));
    let settings = project.join(".claude/settings.local.json");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, text.replacen('{', "{\"disableAllHooks\": true,", 1)).unwrap();
    let disabled = status();
    assert!(disabled.code == Some(1) && disabled.stdout.contains("turns all hooks off"), "{disabled:#?}");
    fs::remove_file(settings).unwrap();

    drop(home.run(["install", "--agent", "codex"]).success());
    assert_eq!(status().code, Some(0));

    let fresh = Home::new();
    drop(fresh.run(["install"]).success());
    let fresh = fresh.run(["status"]);
    assert!(fresh.code == Some(0) && fresh.stderr.contains("none has run yet: start a session"), "{fresh:#?}");
}
