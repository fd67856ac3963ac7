//! The files that memories are about: a memory whose file is gone or has changed since says so where it is told.

use std::path::{Path, PathBuf};

use serde_json::json;
use tests::home::{Home, json_of, run_in};
use tests::mcp::Client;
use tests::session::Session;
use tests::transcript::session_id;

const FILE: &str = "auth/session.rs";
const ANSWER: &str = "`IDLE_LOGIN_MIN: u32 = 30` in `auth/session.rs`, so an idle login ends after 30 minutes. The cookie is renewed at each request.";

/// The file after most of it was moved elsewhere.
const MOVED: &str = "pub const IDLE_LOGIN_MIN: u32 = 30;\npub use other::session::*;\n";

/// The file that the session talks about.
fn source(minutes: u32) -> String {
    let rest: Vec<String> = (0..60).map(|number| format!("pub fn step_{number}() {{ renew({number}); }}\n")).collect();
    let rest = rest.concat();
    format!("pub const IDLE_LOGIN_MIN: u32 = {minutes};\n{rest}")
}

fn write(project: &Path, text: &str) -> PathBuf {
    let path = project.join(FILE);
    std::fs::create_dir_all(project.join("auth")).expect("a folder");
    std::fs::write(&path, text).expect("write the file");
    path
}

/// A turn that settles how long an idle login lives.
fn settle(session: &mut Session<'_>) {
    session
        .transcript
        .at("2025-06-02T09:00:00Z")
        .user("the login page forgets people too early, keep an idle login for 30 minutes")
        .edits(FILE, "pub const IDLE_LOGIN_MIN: u32 = 10;", "pub const IDLE_LOGIN_MIN: u32 = 30;")
        .answer(ANSWER);
    session.stop(ANSWER);
}

/// A whole session that settles it.
fn learn(home: &Home, project: &Path, number: u64) {
    let mut session = Session::new(home, project, &session_id(number));
    settle(&mut session);
    session.end();
}

/// The context that another session gets with a prompt.
fn told(home: &Home, project: &Path, number: u64) -> String {
    let payload = json!({"session_id": session_id(number), "transcript_path": "", "cwd": project,
        "hook_event_name": "UserPromptSubmit", "prompt": "after how many minutes does an idle login end in auth/session.rs?"});
    let told = home.hook(&payload).context.unwrap_or_default();
    assert!(told.contains("30 minutes"), "{told}");
    told
}

#[test]
fn what_somebody_else_changed_or_deleted_is_marked() {
    let home = Home::new();
    let project = home.project("shop");
    let path = write(&project, &source(30));
    learn(&home, &project, 1);
    assert!(!told(&home, &project, 11).contains("auth/session.rs has"), "it is as it was");

    // Something else changed, and the file was written anew.
    write(&project, &source(30).replace("step_7", "step_seven"));
    assert!(!told(&home, &project, 12).contains("auth/session.rs has"), "what is quoted is still there");

    write(&project, &source(45));
    assert!(told(&home, &project, 13).contains("(auth/session.rs has changed since)"), "what is quoted is not there");

    write(&project, &source(30));
    assert!(!told(&home, &project, 14).contains("auth/session.rs has"), "it is back");

    write(&project, MOVED);
    assert!(told(&home, &project, 15).contains("(auth/session.rs has changed since)"), "most is not there");

    std::fs::remove_file(path).expect("delete the file");
    assert!(told(&home, &project, 16).contains("(auth/session.rs is gone)"));
}

#[test]
fn what_the_session_itself_changed_is_not_marked() {
    let home = Home::new();
    let project = home.project("shop");
    write(&project, &source(30));
    let mut session = Session::new(&home, &project, &session_id(1));
    settle(&mut session);
    let path = write(&project, &source(30).replace("renew", "extend").replace("step", "stage"));
    session.edited("toolu_9", &path, "renew", "extend");
    session.transcript.user("now sort the basket by price").answer("The basket is sorted, cheapest first.");
    session.stop("The basket is sorted, cheapest first.");
    assert!(!told(&home, &project, 11).contains("auth/session.rs has"));

    // The same change by another person, before the session continues.
    write(&project, &source(30));
    session.transcript.user("and the list of orders").answer("The list of orders is sorted too, newest first.");
    session.stop("The list of orders is sorted too, newest first.");
    assert!(told(&home, &project, 12).contains("(auth/session.rs has changed since)"));
}

#[test]
fn a_file_that_never_was_there_is_not_called_gone() {
    let home = Home::new();
    let project = home.project("shop");
    learn(&home, &project, 1);
    assert!(told(&home, &project, 11).contains("(auth/session.rs is not there)"));
}

#[test]
fn an_old_transcript_says_nothing_about_a_file_that_changed_after_it() {
    let home = Home::new();
    let project = home.project("shop");
    write(&project, &source(45));
    let mut session = Session::new(&home, &project, &session_id(1));
    session.transcript.at("2025-06-02T09:00:00Z").user("keep an idle login for 30 minutes").answer(ANSWER);
    session.transcript.write_to(&session.path);
    drop(home.run(["ingest"]).success());
    let told = told(&home, &project, 11);
    assert!(!told.contains("auth/session.rs has") && !told.contains("auth/session.rs is"), "{told}");
}

#[test]
fn who_looks_a_memory_up_sees_that_its_file_has_changed() {
    let home = Home::new();
    let project = home.project("shop");
    write(&project, &source(30));
    learn(&home, &project, 1);
    let search = ["search", "--type", "result", "idle login 30 minutes"];
    let found = |home: &Home| json_of(home, &project, &[&search[..], &["--json"]].concat())[0].clone();
    assert_eq!(found(&home).get("outdated_files"), None, "it is as it was");

    write(&project, &source(45));
    let memory = found(&home);
    assert_eq!(memory["outdated_files"], json!([{"file": FILE, "state": "changed"}]), "{memory:#}");
    let id = memory["id"].as_str().expect("an id");
    let says = "auth/session.rs has changed since";
    assert!(run_in(&home, &project, &search).success().stdout.contains(says));
    assert!(run_in(&home, &project, &["memory", "show", id]).success().stdout.contains(says));
    let shown = json_of(&home, &project, &["memory", "show", "--json", id]);
    assert_eq!(shown["outdated_files"][0]["state"], "changed", "{shown:#}");
    let mut client = Client::start(&home, &project);
    let (text, read) = client.told("memory_get", json!({"ids": [id]}));
    assert_eq!(read["memories"][0]["outdated_files"], json!([says]), "{read:#}");
    assert!(text.contains(says), "{text}");
    let (text, found) = client.told("memory_search", json!({"query": "idle login 30 minutes"}));
    assert!(text.contains(says) && found.to_string().contains(says), "{text}");

    // Seen from another folder, the memory's own project counts.
    let other = home.project("other");
    let all = json_of(&home, &other, &["search", "--all-projects", "--json", "--type", "result", "idle login 30 minutes"]);
    assert_eq!(all[0]["outdated_files"][0]["file"], FILE, "{all:#}");
}

#[test]
fn what_a_later_session_confirms_is_not_marked_any_more() {
    let home = Home::new();
    let project = home.project("shop");
    write(&project, &source(30));
    learn(&home, &project, 1);
    write(&project, MOVED);
    assert!(told(&home, &project, 11).contains("(auth/session.rs has changed since)"));
    learn(&home, &project, 2);
    assert!(!told(&home, &project, 12).contains("auth/session.rs has"), "the file counts as it is now");
}

#[test]
fn many_missing_files_take_one_line_of_a_search() {
    let home = Home::new();
    let project = home.project("shop");
    let memory = json!({"project": project, "content": "An idle login ends after 30 minutes.",
        "files": ["a/one.rs", "a/two.rs", "a/three.rs", "a/four.rs", "a/five.rs"]});
    let import = home.command(["import", "-"]);
    drop(tests::process::run(import, memory.to_string().into_bytes(), tests::process::WATCHDOG).success());
    let said = run_in(&home, &project, &["search", "idle login"]).success().stdout;
    let about: Vec<&str> = said.lines().filter(|line| line.contains("not there")).collect();
    assert!(matches!(about[..], [line] if line.contains("5 files are not there: a/one.rs")), "{said}");
}
