//! `import`: what others wrote becomes memory, twice as well as once, and nothing bad stops the rest.

use std::ffi::OsStr;
use std::path::PathBuf;

use serde_json::{Value, json};
use tests::home::Home;
use tests::process::{self, Finished, WATCHDOG};

fn file(home: &Home, lines: &[Value]) -> PathBuf {
    let text = lines.iter().fold(String::new(), |text, line| text + &line.to_string() + "\n");
    let path = home.path().join("memories.jsonl");
    std::fs::write(&path, text).expect("write");
    path
}

fn import(home: &Home, lines: &[Value]) -> Value {
    let path = file(home, lines);
    home.json([OsStr::new("import"), "--json".as_ref(), path.as_os_str()])
}

/// Imports bytes from standard input, as they are.
fn import_bytes(home: &Home, bytes: &[u8]) -> (Finished, Value) {
    let run = process::run(home.command(["import", "--json", "-"]), bytes.to_vec(), WATCHDOG);
    let report = serde_json::from_str(&run.stdout).unwrap_or_default();
    (run, report)
}

fn search(home: &Home, arguments: &[&str]) -> Vec<Value> {
    let found = home.json(["memory", "search", "--json"].iter().chain(arguments));
    found.as_array().expect("an array").clone()
}

#[test]
fn identifiers_come_back() {
    let home = Home::new();
    let report = import(
        &home,
        &[
            json!({"id": "doc-7", "project": "shop", "session_id": "s1", "type": "decision", "created_at": 1_736_902_800,
                "content": "The otter cache is flushed at night.\nNobody is awake then.", "importance": 0.9,
                "keywords": ["nocturnal"], "files": ["src/otter.rs"], "unknown": {"a": [1]}}),
            json!({"id": 8, "project": "owner/other", "content": "The otter swims."}),
        ],
    );
    assert_eq!((&report["memories"], &report["failed"]), (&json!(2), &json!(0)), "{report}");

    let found = search(&home, &["--project", "shop", "nocturnal", "otter"]);
    assert_eq!(found.len(), 1, "another project's memory was found: {found:#?}");
    let memory = &found[0];
    for (field, value) in [
        ("external_id", json!("doc-7")),
        ("session_id", json!("s1")),
        ("project", json!("shop")),
        ("type", json!("decision")),
        ("title", json!("The otter cache is flushed at night.")),
        ("created_at", json!("2025-01-15T01:00:00Z")),
        ("files", json!(["src/otter.rs"])),
    ] {
        assert_eq!(memory[field], value, "{field} of {memory:#}");
    }
    let shown = home.json(["memory", "show", "--json", memory["id"].as_str().expect("an id")]);
    assert_eq!(shown["external_id"], "doc-7");
    assert_eq!(search(&home, &["--all-projects", "otter"]).len(), 2);
    assert_eq!(search(&home, &["--project", "owner/other", "otter"])[0]["external_id"], "8");
}

#[test]
fn repeating_it_changes_nothing() {
    let home = Home::new();
    let lines: Vec<Value> = (0..300)
        .map(|n| json!({"id": n, "project": format!("p{}", n % 3), "session_id": "s", "content": format!("Lesson {n}: otters")}))
        .chain([json!({"project": "p0", "content": "without a name"}), json!({"project": "p1", "content": "without a name"})])
        .collect();
    assert_eq!(import(&home, &lines)["memories"], 302);
    let before = home.memories();
    let report = import(&home, &lines);
    assert_eq!((&report["memories"], &report["known"]), (&json!(0), &json!(302)), "{report}");
    assert_eq!(home.memories(), before);
    tests::database::assert_sound(&home.database());
}

#[test]
fn one_id_is_one_memory_and_one_content_has_all_its_ids() {
    let home = Home::new();
    let line = |id: &str, project: &str, content: &str| json!({"id": id, "project": project, "content": content});
    import(
        &home,
        &[line("a", "p", "the otter is old"), line("b", "p", "the otter is old"), line("a", "q", "the otter is old")],
    );
    let ids = |project: &str| {
        let found = search(&home, &["--project", project, "otter"]);
        let ids = found
            .iter()
            .map(|memory| (memory["content"].clone(), memory["external_ids"].clone(), memory["external_id"].clone()));
        let mut ids: Vec<String> = ids.map(|it| format!("{} {} {}", it.0, it.1, it.2)).collect();
        ids.sort();
        ids
    };
    assert_eq!(ids("p"), [r#""the otter is old" ["a","b"] "a""#]);
    assert_eq!(ids("q"), [r#""the otter is old" null "a""#], "another project's memory was touched");
    let report = import(&home, &[line("a", "p", "the otter is new")]);
    assert_eq!(report["memories"], 1);
    assert_eq!(ids("p"), [r#""the otter is new" null "a""#, r#""the otter is old" null "b""#]);
    import(&home, &[line("b", "p", "the otter is new")]);
    assert_eq!(ids("p"), [r#""the otter is new" ["a","b"] "a""#]);
    assert_eq!(ids("q"), [r#""the otter is old" null "a""#]);
    tests::database::assert_sound(&home.database());
}

#[test]
fn bad_lines_are_told_and_the_others_are_stored() {
    let home = Home::new();
    let long = "x".repeat(10 << 20);
    let mut bytes = Vec::new();
    for line in [
        b"\xef\xbb\xbf{\"content\": \"good one, with a mark before it\"}\r".as_slice(),
        b"",
        b"not JSON",
        b"{\"content\": \"not UTF-8 \xff\"}",
        format!("{{\"content\": \"{long}\"}}").as_bytes(),
        b"{\"text\": \"no content\"}",
        b"{\"content\": \"when?\", \"created_at\": \"soon\"}",
        b"{\"content\": \"whose?\", \"project\": \"a\\u0000b\"}",
        b"[[[[",
        b"{\"content\": \"good two, and no newline behind it\"}",
    ] {
        bytes.extend_from_slice(line);
        bytes.push(b'\n');
    }
    bytes.pop();
    let (run, report) = import_bytes(&home, &bytes);
    let run = run.failure_with_hint();
    assert_eq!((&report["memories"], &report["failed"], &report["lines"]), (&json!(2), &json!(7), &json!(9)), "{run:#?}");
    let told: Vec<u64> =
        report["errors"].as_array().expect("errors").iter().filter_map(|bad| bad["line"].as_u64()).collect();
    assert_eq!(told, [3, 4, 5, 6, 7, 8, 9]);
    assert!(!report["errors"].to_string().contains("soon"), "a reason holds text that was not redacted");
    assert!(home.remembers("good one") && home.remembers("good two"));

    let run = process::run(home.command(["import", "-"]), b"nonsense\n".to_vec(), WATCHDOG).failure_with_hint();
    assert!(run.stderr.contains("line 1: it is not a JSON object"), "{run:#?}");
}

#[test]
fn what_is_no_file_is_said() {
    let home = Home::new();
    for path in ["missing.jsonl", "."] {
        let run = home.run(["import", path]).failure_with_hint();
        assert!(run.stderr.contains("cannot read"), "{run:#?}");
    }
    drop(home.run(["import", "--format", "csv", "-"]));
    let (run, report) = import_bytes(&home, b"");
    assert_eq!((run.code, &report["lines"]), (Some(0), &json!(0)));
}

#[test]
fn secrets_do_not_come_in() {
    let mut home = Home::new();
    home.set("DEPLOY_PASSWORD", "correct-horse-otter-staple");
    let key = ["AKIA", "IOSFODNN7", "QRSTUVW"].concat();
    let secret = json!({"id": format!("id {key}"), "session_id": format!("s {key}"), "project": "shop", "title": format!("title {key}"),
        "content": format!("The key is {key} and the password correct-horse-otter-staple."),
        "keywords": [key], "files": [format!("{key}.txt")]});
    let named = json!({"project": key, "content": "of a project whose name is a secret"});
    let bytes = format!("{secret}\n{named}\n{secret}\n");
    let (run, report) = import_bytes(&home, bytes.as_bytes());
    drop(run.failure_with_hint());
    assert_eq!((&report["memories"], &report["known"], &report["failed"]), (&json!(1), &json!(1), &json!(1)), "{report}");
    for (path, bytes) in home.files() {
        for secret in [key.as_str(), "correct-horse-otter-staple"] {
            let stands = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!stands, "{secret} stands in {}", path.display());
        }
    }
}

#[test]
fn what_is_paused_left_out_or_deleted_stays_out() {
    let home = Home::new();
    let project = home.project("quiet");
    let line = json!({"project": project, "content": "the otter is quiet"});
    import(&home, &[line.clone(), json!({"project": "loud", "content": "the otter is loud"})]);
    let id = search(&home, &["--project", "loud", "otter"])[0]["id"].as_str().expect("an id").to_owned();
    drop(home.run(["memory", "delete", &id]).success());
    let report = import(&home, &[json!({"project": "loud", "content": "the otter is loud"})]);
    assert_eq!((&report["memories"], &report["forgotten"]), (&json!(0), &json!(1)), "{report}");

    let mut pause = home.command(["pause"]);
    pause.current_dir(&project);
    drop(process::run(pause, Vec::new(), WATCHDOG).success());
    let report = import(&home, &[json!({"project": project, "content": "the otter sleeps"})]);
    assert_eq!((&report["memories"], &report["left_out"]), (&json!(0), &json!(1)), "{report}");
}

#[test]
fn a_folder_is_the_project_that_hooks_know() {
    let home = Home::new();
    let project = home.project("shop");
    std::fs::create_dir(project.join("deep")).expect("create");
    import(&home, &[json!({"project": project.join("deep"), "content": "the otter of the repository"})]);
    let path = file(&home, &[json!({"content": "the otter of no project"})]);
    let arguments = [OsStr::new("import"), "--project".as_ref(), project.as_os_str(), path.as_os_str()];
    drop(home.run(arguments).success());
    assert_eq!(home.memories_of(&project).len(), 2);
}
