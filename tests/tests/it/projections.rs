//! Files that are made from the database, and the commands `save`, `resume`, `projections` and `memory save`, through the real
//! binary.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tests::home::{Home, Hooked, run_in as in_folder};
use tests::process::{self, Finished, WATCHDOG};
use tests::session::Session;
use tests::transcript::session_id;

/// A secret of a form that any redactor knows, put together so that no scanner takes this file for a leak.
fn secret() -> String {
    format!("ghp_{}", "x7Qm2Lw9".repeat(5).chars().take(36).collect::<String>())
}

fn configure(home: &Home, text: &str) {
    let folder = home.throughline().join("config");
    fs::create_dir_all(&folder).expect("the folder");
    fs::write(folder.join("config.toml"), text).expect("the configuration");
}

/// Both kinds of files are wanted; returns the folder of notes.
fn want_all(home: &Home) -> PathBuf {
    let notes = home.path().join("notes");
    configure(home, &format!("[projections]\nfolder = \"{}\"\nsession_context = true\n", notes.display()));
    notes
}

fn work<'home>(home: &'home Home, project: &Path, number: u64) -> Session<'home> {
    let mut session = Session::new(home, project, &session_id(number));
    session
        .transcript
        .user(&format!("Make the invoice importer skip rows whose amount is empty. The token is {}", secret()))
        .says("Let me look at the importer.")
        .bash_fails("cargo test importer", 101, "error[E0432]: unresolved import `csv::Trim`")
        .asks(
            "How shall skipped rows be reported?",
            &["A warning for each row", "One count at the end"],
            "One count at the end",
        )
        .edits("src/importer.rs", "let amount = parse(row)?;", "let Some(amount) = parse(row)? else { continue };")
        .todo(&[("Skip rows without an amount", "completed"), ("Write the release note for the importer", "pending")])
        .answer("The importer skips rows without an amount. The release note is still to be written.");
    session
}

const LAST_WORDS: &str = "The importer skips rows without an amount. The release note is still to be written.";

fn context_of(project: &Path) -> Value {
    let text = fs::read_to_string(project.join(".claude/session-context.json")).expect("session-context.json");
    serde_json::from_str(&text).expect("JSON")
}

/// Panics where the object has other members than the design names, or other kinds of them.
#[track_caller]
fn assert_designed(context: &Value) {
    let members = |value: &Value| value.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    let sorted = |names: &[&str]| {
        let mut names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        names.sort();
        names
    };
    let same = |value: &Value, names: &[&str]| {
        let mut found = members(value);
        found.sort();
        assert_eq!(found, sorted(names), "{context:#}");
    };
    let texts = |value: &Value| {
        assert!(value.as_array().expect("an array").iter().all(Value::is_string), "{context:#}");
    };
    same(context, &["meta", "goal", "progress", "decisions", "discoveries", "state"]);
    same(&context["meta"], &["version", "saved_at", "session_id", "project"]);
    same(&context["goal"], &["original_request", "current_objective"]);
    same(&context["progress"], &["done", "current", "pending"]);
    same(&context["state"], &["recent_files", "blockers", "errors"]);
    assert_eq!(context["meta"]["version"], "2.0");
    let saved = context["meta"]["saved_at"].as_str().expect("a text");
    assert!(saved.parse::<jiff::Timestamp>().is_ok(), "{saved}");
    assert!(context["goal"]["original_request"].is_string() && context["goal"]["current_objective"].is_string());
    for list in ["done", "current", "pending"] {
        texts(&context["progress"][list]);
    }
    for list in ["recent_files", "blockers", "errors"] {
        texts(&context["state"][list]);
    }
    for decision in context["decisions"].as_array().expect("an array") {
        same(decision, &["what", "why", "rejected"]);
        texts(&decision["rejected"]);
    }
    for discovery in context["discoveries"].as_array().expect("an array") {
        same(discovery, &["file", "insight", "timestamp"]);
    }
}

/// All files below a folder.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => found.extend(below(&entry.path())),
            _ => found.push(entry.path()),
        }
    }
    found.sort();
    found
}

fn input(home: &Home, arguments: &[&str], text: &str) -> Finished {
    process::run(home.command(arguments), text.as_bytes().to_vec(), WATCHDOG)
}

#[test]
fn a_compaction_leaves_the_context_of_its_session_and_the_one_before() {
    let home = Home::new();
    let notes = want_all(&home);
    let project = home.project("billing");
    let mut session = work(&home, &project, 1);
    session.pre_compact();
    let first = context_of(&project);
    assert_designed(&first);
    assert_eq!(first["meta"]["session_id"], session.id());
    assert_eq!(first["meta"]["project"], project.canonicalize().expect("a path").to_string_lossy().as_ref());
    let said = first.to_string();
    for wanted in ["invoice importer", "One count at the end", "A warning for each row", "src/importer.rs", "release note"] {
        assert!(said.contains(wanted), "`{wanted}` is missing: {first:#}");
    }
    assert_eq!(first["progress"]["done"], json!(["Skip rows without an amount"]));
    let pending = ["Write the release note for the importer", "Nothing was run after the last change"];
    assert_eq!(first["progress"]["pending"], json!(pending));
    let backup = project.join(".claude/session-context.json.bak");
    assert!(!backup.exists());

    session.transcript.user("Now write the release note").writes("NOTES.md", "Importer skips rows").answer("It is written.");
    session.pre_compact();
    let second = context_of(&project);
    assert_designed(&second);
    assert_eq!(second["state"]["recent_files"][0], "NOTES.md", "{second:#}");
    let before: Value = serde_json::from_slice(&fs::read(&backup).expect("the one before")).expect("JSON");
    assert_eq!(before, first);

    session.end();
    for file in below(&notes).into_iter().chain(below(&project.join(".claude"))) {
        let bytes = fs::read(&file).expect("a file");
        assert!(!String::from_utf8_lossy(&bytes).contains(&secret()), "{} holds the secret", file.display());
        let mode = fs::metadata(&file).expect("a file").permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", file.display());
        assert!(!file.to_string_lossy().ends_with(".tmp"), "{} was left", file.display());
    }
    assert!(said.contains("[redacted:"), "{first:#}");
    assert_eq!(home.log(), "");
}

#[test]
fn the_end_of_a_session_leaves_notes_of_it_and_of_its_project() {
    let mut home = Home::new();
    home.set("TZ", "UTC");
    let notes = want_all(&home);
    let project = home.project("billing");
    let other = home.project("elsewhere/billing");
    for (number, project) in [(1, &project), (2, &project), (3, &other)] {
        let mut session = work(&home, project, number);
        session.failed("t1", "cargo test importer", "Exit code 101\nerror[E0432]: unresolved import `csv::Trim`");
        session.stop(LAST_WORDS);
        session.end();
    }
    let memory = fs::read_to_string(notes.join("billing/memory.md")).expect("memory.md");
    assert!(memory.starts_with("# Project Memory: billing\n\n## Core Decisions\n- "), "{memory}");
    for wanted in [
        "One count at the end",
        "\n## Current State\n- Last updated: 2",
        "\n- State: The importer skips rows",
        "\n## Recent Context\n- 2025-06-02: ",
        "\n## Known Issues\n- ",
    ] {
        assert!(memory.contains(wanted), "`{wanted}` is missing:\n{memory}");
    }
    assert_eq!(memory.matches("unresolved import `csv::Trim`").count(), 1, "{memory}");
    // Both began in the same minute.
    let sessions = below(&notes.join("billing/sessions"));
    let names: Vec<_> = sessions.iter().filter_map(|path| path.file_name()?.to_str()).collect();
    assert_eq!(names, ["2025-06-02_0900.md", "2025-06-02_0900_2.md"]);
    let second = fs::read_to_string(&sessions[1]).expect("a file");
    for wanted in [&session_id(2), "## Request", "## Decisions", "## Open\n- ", "`src/importer.rs` (+1 −1)"] {
        assert!(second.contains(wanted), "`{wanted}` is missing:\n{second}");
    }
    // A project of the same name has a folder of its own.
    let folders: Vec<PathBuf> = fs::read_dir(&notes).expect("it is there").flatten().map(|entry| entry.path()).collect();
    assert_eq!(folders.len(), 2, "{folders:?}");
    let theirs = folders.iter().find(|folder| !folder.ends_with("billing")).expect("the other one");
    assert_eq!(below(&theirs.join("sessions")).len(), 1);
    for folder in folders {
        assert_eq!(fs::metadata(&folder).expect("a folder").permissions().mode() & 0o777, 0o700);
    }
    assert_eq!(home.log(), "");
}

#[test]
fn where_none_are_wanted_there_are_none() {
    let home = Home::new();
    let project = home.project("billing");
    let mut session = work(&home, &project, 1);
    session.pre_compact();
    session.stop(LAST_WORDS);
    session.end();
    assert!(!project.join(".claude").exists());
    drop(in_folder(&home, &project, &["projections"]).failure_with_hint());
}

#[test]
fn a_folder_that_leads_out_of_the_project_is_not_written_to() {
    let home = Home::new();
    want_all(&home);
    let project = home.project("billing");
    let outside = home.path().join("outside");
    fs::create_dir(&outside).expect("a folder");
    std::os::unix::fs::symlink(&outside, project.join(".claude")).expect("a link");
    let mut session = work(&home, &project, 1);
    session.stop(LAST_WORDS);
    assert!(below(&outside).is_empty());
    assert!(home.log().contains("could not be written"), "{}", home.log());
    assert!(home.remembers("invoice importer"));
}

#[test]
fn the_files_can_be_made_again_from_what_is_stored() {
    let home = Home::new();
    let notes = want_all(&home);
    let project = home.project("billing");
    let mut session = work(&home, &project, 1);
    session.stop(LAST_WORDS);
    session.end();
    let all = || {
        below(&notes)
            .into_iter()
            .chain([project.join(".claude/session-context.json")])
            .map(|path| (path.clone(), fs::read(&path).expect("a file")))
            .collect::<Vec<_>>()
    };
    let before = all();
    fs::remove_dir_all(&notes).expect("removed");
    fs::remove_dir_all(project.join(".claude")).expect("removed");
    let run = in_folder(&home, &project, &["projections"]).success();
    assert_eq!(all(), before);
    assert_eq!(run.stdout.lines().count(), 3, "{run:#?}");
    let again = in_folder(&home, &project, &["projections", "--all-projects"]).success();
    assert!(again.stdout.is_empty() && again.stderr.contains('3'), "{again:#?}");

    let elsewhere = home.path().join("elsewhere");
    drop(in_folder(&home, &project, &["projections", "--folder", &elsewhere.to_string_lossy()]).success());
    assert_eq!(
        fs::read(elsewhere.join("billing/memory.md")).expect("a file"),
        fs::read(notes.join("billing/memory.md")).expect("a file")
    );

    drop(home.run(["memory", "forget", "--match", "invoice", "--all-projects", "--yes"]).success());
    for (path, bytes) in all() {
        assert!(!String::from_utf8_lossy(&bytes).contains("invoice"), "{}", path.display());
    }
    drop(home.run(["memory", "forget", "--session", session.id(), "--yes"]).success());
    assert!(below(&notes).is_empty(), "{:?}", below(&notes));
    assert!(below(&project.join(".claude")).is_empty());
}

#[test]
fn a_session_is_saved_when_it_is_asked_for() {
    let home = Home::new();
    let project = home.project("billing");
    let mut session = work(&home, &project, 1);
    session.transcript.append_to(&session.path);
    session.ran("t1", "cargo build", "Compiling");
    // Neither named nor in the environment: the newest one of this folder, or one above.
    fs::create_dir_all(project.join("src")).expect("a folder");
    let run = in_folder(&home, &project.join("src"), &["session", "save"]).success();
    for wanted in [session.id(), "Request", "invoice importer", "Done", "Pending", "Decisions", "One count at the end"] {
        assert!(run.stdout.contains(wanted), "`{wanted}` is missing: {run:#?}");
    }
    assert!(!run.stdout.contains(&secret()));
    assert!(!home.data().join("journal").join(format!("{}.jsonl", session.id())).exists(), "the journal was left");
    assert!(!project.join(".claude").exists(), "nobody wanted it");

    want_all(&home);
    let context: Value =
        serde_json::from_str(&home.run(["session", "save", "--session", session.id(), "--json"]).success().stdout)
            .expect("JSON");
    assert_designed(&context);
    assert_eq!(context_of(&project), context);
    let run = in_folder(&home, &project, &["session", "save"]).success();
    assert!(run.stderr.contains(".gitignore"), "{run:#?}");
    let doctor = in_folder(&home, &project, &["doctor"]);
    assert!(doctor.stdout.contains("git does not ignore"), "{doctor:#?}");
    fs::write(project.join(".gitignore"), ".claude/session-context.json*\n").expect("written");
    let run = in_folder(&home, &project, &["session", "save"]).success();
    assert!(!run.stderr.contains(".gitignore"), "{run:#?}");

    let mut command = home.command(["session", "save", "--json"]);
    command.env("CLAUDE_CODE_SESSION_ID", session.id());
    let run = process::run(command, Vec::new(), WATCHDOG).success();
    assert!(run.stdout.contains(session.id()));
    drop(home.run(["session", "save", "--session", &session_id(9)]).failure_with_hint());
    drop(in_folder(&home, &home.project("empty"), &["session", "save"]).failure_with_hint());
    drop(home.run(["pause", "--session", session.id()]).success());
    drop(home.run(["session", "save", "--session", session.id()]).failure_with_hint());
}

#[test]
fn the_saved_context_of_a_session_is_printed() {
    let home = Home::new();
    let project = home.project("billing");
    let context = ["session", "context"];
    let empty = in_folder(&home, &project, &context).success();
    assert!(empty.stdout.is_empty() && empty.stderr.contains("no session of this project"), "{empty:#?}");
    let mut session = work(&home, &project, 1);
    session.stop(LAST_WORDS);

    let back = in_folder(&home, &project, &context).success();
    assert!(back.stdout.starts_with("## Session Memory") && back.stdout.contains("invoice importer"), "{back:#?}");
    let compacted = session.start("compact");
    assert_eq!(back.stdout.trim(), compacted.said().trim());
    let named = home.run(["session", "context", "--session", session.id()]).success();
    assert_eq!(named.stdout, back.stdout);
    let elsewhere = home.run(["session", "context", "--project", &project.to_string_lossy()]).success();
    assert_eq!(elsewhere.stdout, back.stdout);

    let answer = home.json(["session", "context", "--session", session.id(), "--json"]);
    assert_eq!(answer["session_id"], session.id());
    assert_eq!(answer["text"].as_str().map(str::trim), Some(back.stdout.trim()));
    assert_designed(&answer["context"]);
    drop(home.run(["pause", "--session", session.id()]).success());
    let paused = in_folder(&home, &project, &context).success();
    assert!(paused.stdout.is_empty() && paused.stderr.contains("is paused"), "{paused:#?}");
    let answer = home.json(["session", "context", "--session", session.id(), "--json"]);
    assert_eq!((&answer["text"], &answer["context"]), (&Value::Null, &Value::Null), "{answer:#}");
    drop(home.run(["resume", "--session", session.id()]).success());
    let unknown = home.run(["session", "context", "--session", "nobody"]).failure_with_hint();
    assert!(unknown.stdout.is_empty() && unknown.stderr.contains("no session begins with"), "{unknown:#?}");
    drop(home.run(["session", "context", "--session", ""]).failure_with_hint());
}

#[test]
fn resuming_ends_a_pause_and_prints_no_context() {
    let home = Home::new();
    let project = home.project("billing");
    let none = in_folder(&home, &project, &["resume"]).success();
    assert!(none.stdout.contains("is not paused") && none.stderr.contains("throughline session context"), "{none:#?}");
    let mut session = work(&home, &project, 1);
    session.stop(LAST_WORDS);

    drop(in_folder(&home, &project, &["pause"]).success());
    let resumed = in_folder(&home, &project, &["resume"]).success();
    assert!(resumed.stdout.contains("is remembered again") && resumed.stderr.is_empty(), "{resumed:#?}");
    assert!(!resumed.stdout.contains("Session Memory"), "{resumed:#?}");

    // A session stays paused for as long as its project or everything is.
    drop(home.run(["pause", "--session", session.id()]).success());
    let resume = |home: &Home| home.json(["resume", "--session", session.id(), "--json"]);
    assert_eq!(resume(&home), json!({"resumed": true, "still_paused": false}));
    assert_eq!(resume(&home), json!({"resumed": false, "still_paused": false}));
    drop(in_folder(&home, &project, &["pause"]).success());
    drop(home.run(["resume", "--all"]).success());
    let nothing = home.run(["resume", "--all"]).success();
    assert!(nothing.stdout.contains("nothing is paused"), "{nothing:#?}");
}

#[test]
fn a_memory_is_stored_by_hand() {
    let home = Home::new();
    let project = home.project("billing");
    let text = format!("The staging gate stays closed.\nIts token is {}", secret());
    let run = in_folder(&home, &project, &["memory", "save", &text]).success();
    let id = run.stdout.trim().to_owned();
    let stored = home.json(["memory", "show", &id, "--json"]);
    assert_eq!((&stored["type"], &stored["title"]), (&json!("learning"), &json!("The staging gate stays closed.")));
    assert!(stored["content"].as_str().is_some_and(|text| text.contains("[redacted:")), "{stored:#}");
    assert!(!home.files().iter().any(|(_, bytes)| String::from_utf8_lossy(bytes).contains(&secret())));

    let mut command = home.command(["memory", "save", "-", "--type", "decision", "--title", "Gates", "--json"]);
    command.current_dir(&project);
    let run = process::run(command, b"Gates are opened by hand.\n".to_vec(), WATCHDOG).success();
    let saved: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!((&saved["type"], &saved["title"], &saved["new"]), (&json!("decision"), &json!("Gates"), &json!(true)));
    assert_eq!(home.memories_of(&project).len(), 2);

    // The later summary of a session replaces only the earlier one.
    let save =
        |text: &str| drop(in_folder(&home, &project, &["memory", "save", "--session", &session_id(7), text]).success());
    save("First summary");
    save("Second summary");
    drop(
        in_folder(&home, &project, &["memory", "save", "--session", &session_id(7), "--type", "learning", "A learning"])
            .success(),
    );
    drop(
        in_folder(&home, &project, &["memory", "save", "--session", &session_id(7), "--type", "learning", "Another"])
            .success(),
    );
    assert!(!home.remembers("First summary") && home.remembers("Second summary"));
    assert_eq!(home.memories_of(&project).len(), 5);

    drop(input(&home, &["memory", "save"], "  \n").failure_with_hint());
    drop(input(&home, &["memory", "save", "-"], &"x".repeat((64 << 10) + 1)).failure_with_hint());
    drop(home.run(["memory", "save", "x", "--type", "No Type"]).failure_with_hint());
    drop(home.run(["memory", "save", "x", "--session", ""]).failure_with_hint());
    drop(home.run(["memory", "delete", &id]).success());
    drop(in_folder(&home, &project, &["memory", "save", &text]).failure_with_hint());
    drop(in_folder(&home, &project, &["pause"]).success());
    drop(in_folder(&home, &project, &["memory", "save", "not now"]).failure_with_hint());
}

/// The use of a tool, whatever the hook says to it.
fn ran(home: &Home, session: &Session<'_>, number: u32) -> Hooked {
    let response = json!({"stdout": "ok", "stderr": "", "interrupted": false, "isImage": false});
    home.hook(&session.use_of(
        &format!("toolu_{number}"),
        "Bash",
        &json!({"command": format!("make step{number}")}),
        &response,
    ))
}

fn stopped(home: &Home, session: &Session<'_>, again: bool) -> Hooked {
    home.hook(&session.payload(
        "Stop",
        &json!({"permission_mode": "default", "stop_hook_active": again, "last_assistant_message": LAST_WORDS}),
    ))
}

#[test]
fn an_agent_is_asked_for_summaries_and_stores_them() {
    let mut home = Home::new();
    home.set("TZ", "UTC");
    let notes = home.path().join("notes");
    configure(
        &home,
        &format!("[checkpoint]\nmode = \"ask\"\nsummary_max_length = 40\n[projections]\nfolder = \"{}\"\n", notes.display()),
    );
    let project = home.project("billing");
    let mut session = work(&home, &project, 1);
    session.transcript.append_to(&session.path);
    for number in 1..5 {
        ran(&home, &session, number).silent();
    }
    let asked = ran(&home, &session, 5);
    let command = format!("throughline memory save --session {}", session.id());
    assert!(asked.said().contains(&command) && asked.said().contains("40 characters"), "{asked:#?}");

    let long = "The importer skips empty rows; the release note is open.";
    let run = in_folder(&home, &project, &["memory", "save", "--session", session.id(), long]).success();
    assert!(run.stderr.contains("summary_max_length"), "{run:#?}");
    // Counted from none again: nothing is due, and there is nothing to save at the turn's end.
    stopped(&home, &session, false).silent();
    for number in 6..10 {
        ran(&home, &session, number).silent();
    }
    let last = stopped(&home, &session, false);
    assert!(last.said().contains(&command), "{last:#?}");
    stopped(&home, &session, true).silent();
    let run = in_folder(&home, &project, &["memory", "save", "--session", session.id(), "The note is open."]).success();
    assert!(run.stderr.is_empty(), "{run:#?}");
    stopped(&home, &session, false).silent();
    let back = session.start("compact");
    assert!(back.said().contains("Saved: The note is open."), "{back:#?}");
    session.end();
    let memory = fs::read_to_string(notes.join("billing/memory.md")).expect("memory.md");
    assert!(memory.contains("\n## Recent Context\n- 2025-06-02: The note is open.\n"), "{memory}");
    assert!(!home.remembers(long));
}
