//! Moving from another memory system: the first session gets the state of the last one.

use std::path::Path;

use rusqlite::params;
use serde_json::{Value, json};
use tests::home::{Home, json_of, run_in};
use tests::moving::{self, import};
use tests::process::{self, WATCHDOG};
use tests::session::Session;
use tests::transcript::session_id;

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("create");
    std::fs::write(path, text).expect("write");
}

/// Imports in the project's folder, where the system usually is.
#[track_caller]
fn comes_from(home: &Home, project: &Path, system: &str) -> Value {
    let mut command = home.command(["import", "--from", system, "--json"]);
    command.current_dir(project);
    serde_json::from_str(&process::run(command, Vec::new(), WATCHDOG).success().stdout).expect("JSON")
}

/// The context of the first session after the import.
fn told(home: &Home, project: &Path) -> String {
    Session::new(home, project, &session_id(77)).start("startup").said().to_owned()
}

#[track_caller]
fn assert_tells(told: &str, words: &[&str]) {
    for word in words {
        assert!(told.contains(word), "`{word}` is not told:\n{told}");
    }
}

/// Makes the project known by its folder, so that a system that only knows its name finds it.
fn make_known(home: &Home, project: &Path) {
    let mut save = home.command(["memory", "save", "the den has a door"]);
    save.current_dir(project);
    drop(process::run(save, Vec::new(), WATCHDOG).success());
}

#[test]
fn a_session_context_goes_on() {
    let home = Home::new();
    let project = home.project("shop");
    let context = json!({"meta": {"version": "2.0", "saved_at": "2026-01-15T10:00:00Z", "session_id": "theirs", "project": project},
        "goal": {"original_request": "수달 결제를 고쳐줘", "current_objective": "키 교체"},
        "progress": {"done": ["원인을 찾았다"], "current": ["키를 바꾸는 중이다"], "pending": ["고친 것을 배포하기"]},
        "decisions": [{"what": "키를 교체한다", "why": "만료됐다", "rejected": ["그대로 둔다"]}],
        "discoveries": [], "state": {"recent_files": ["src/pay.rs"], "blockers": [], "errors": ["401 Unauthorized"]}});
    write(&project.join(".claude/session-context.json"), &context.to_string());
    assert_eq!(comes_from(&home, &project, "session-context")["sessions"], 1);
    let page = told(&home, &project);
    assert_tells(
        &page,
        &[
            "2026-01-15",
            "수달 결제를 고쳐줘",
            "고친 것을 배포하기",
            "키를 바꾸는 중이다",
            "401 Unauthorized",
            "키를 교체한다",
            "src/pay.rs",
        ],
    );
    // Importing again changes nothing, and the session is still theirs and not one that this program recorded.
    assert_eq!(comes_from(&home, &project, "session-context")["known"], 3);
    assert_tells(&told(&home, &project), &["고친 것을 배포하기"]);
}

#[test]
fn jikime_adks_last_session_goes_on() {
    let home = Home::new();
    let project = home.project("shop");
    let path = project.join(".jikime/memory/memory.db");
    let conn = moving::create(&path, &moving::jikime_adk(3));
    let folder = project.to_str().expect("a path");
    let row = |id: &str, session: &str, kind: &str, content: &str, at: &str| {
        conn.execute(
            "INSERT INTO memories (id, session_id, project_dir, type, content, content_hash, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?1, ?6)",
            params![id, session, folder, kind, content, at],
        )
        .expect("insert");
    };
    row("p1", "old", "user_prompt", "Build a den for the otters", "2026-01-10 09:00:00");
    row("p2", "last", "user_prompt", "Let the otters pay at the door", "2026-01-15 09:00:00");
    row("r2", "last", "assistant_response", "The door takes coins now.", "2026-01-15 09:30:00");
    conn.execute(
        "INSERT INTO session_history (session_id, project_dir, started_at, ended_at, summary, topics, files_modified)
         VALUES ('last', ?1, '2026-01-15 09:00:00', '2026-01-15 10:00:00', ?2, '[\"door\"]', '[\"src/door.rs\"]')",
        params![folder, "## Completed\n- The coin slot of the otter door is mounted and tested\n\n## Next steps\n- Teach the door to give change"],
    )
    .expect("insert");
    drop(conn);
    let (_, report) = import(&home, "jikime-adk", &path, &[]);
    assert_eq!(report["sessions"], 2, "{report:#}");
    assert_tells(
        &told(&home, &project),
        &[
            "2026-01-15",
            "Let the otters pay at the door",
            "coin slot",
            "Teach the door to give change",
            "src/door.rs",
            "The door takes coins now",
        ],
    );
}

#[test]
fn memory_keepers_sections_become_items_and_its_session_goes_on() {
    let home = Home::new();
    let project = home.project("den");
    make_known(&home, &project);
    let keeper = home.agent().join("memory-keeper/projects/den");
    write(
        &keeper.join("memory.md"),
        "# Project Memory: den\n\n## Core Decisions\n- 2025-12-20: 굴의 문은 북쪽에 둔다\n- Doors are made of willow\n\n\
         ## Current State\n- 마지막 업데이트: 2026-01-15T10:00:00Z\n- 상태: 문틀만 세웠다\n\n## Recent Context\n- Measured the entrance for the new door\n\n\
         ## Known Issues\n- The hinge squeaks when it is cold\n",
    );
    let report = comes_from(&home, &project, "memory-keeper");
    assert_eq!((&report["sessions"], &report["failed"]), (&json!(1), &json!(0)), "{report:#}");
    let found = home.memories_of(&project);
    let of = |words: &str| {
        let is_it = |memory: &&Value| memory["content"].as_str().is_some_and(|content| content.contains(words));
        let memory = found.iter().find(is_it).unwrap_or_else(|| panic!("{words}: {found:#?}"));
        (
            memory["type"].as_str().expect("a type"),
            memory["created_at"].as_str().expect("a time"),
            memory["said_by"].as_str(),
        )
    };
    assert_eq!(of("북쪽"), ("decision", "2025-12-20T00:00:00Z", Some("agent")));
    assert_eq!(of("willow"), ("decision", "2026-01-15T10:00:00Z", Some("agent")));
    assert_eq!(of("squeaks"), ("failure", "2026-01-15T10:00:00Z", Some("agent")));
    assert_tells(&told(&home, &project), &["2026-01-15", "문틀만 세웠다", "Measured the entrance", "squeaks", "willow"]);

    // With files of sessions, the last of them is the last session.
    write(&keeper.join("sessions/2026-01-12_0900.md"), "# Session\n\nThe den was swept.\n");
    write(&keeper.join("sessions/2026-01-16_1130.md"), "# Session\n\n## 목표\n문을 달기\n\n## 다음\n- 문을 칠하기\n");
    comes_from(&home, &project, "memory-keeper");
    assert_tells(&told(&home, &project), &["2026-01-16", "문을 달기", "문을 칠하기", "squeaks"]);
}

#[test]
fn claude_memory_layer_comes_whole_and_goes_on() {
    let home = Home::new();
    let project = home.project("shop");
    let path = home.path().join(".claude-code/memory/projects/0a1b2c3d/events.sqlite");
    let conn = moving::create(
        &path,
        "CREATE TABLE events (id TEXT PRIMARY KEY, event_type TEXT NOT NULL, session_id TEXT NOT NULL, timestamp TEXT NOT NULL,
             content TEXT NOT NULL, canonical_key TEXT NOT NULL, dedupe_key TEXT UNIQUE, metadata TEXT, turn_id TEXT);
         CREATE TABLE event_dedup (dedupe_key TEXT PRIMARY KEY, event_id TEXT NOT NULL);
         CREATE TABLE sessions (id TEXT PRIMARY KEY, started_at TEXT NOT NULL, ended_at TEXT, project_path TEXT, summary TEXT, tags TEXT);
         CREATE TABLE insights (id TEXT PRIMARY KEY, insight_type TEXT NOT NULL, content TEXT NOT NULL, created_at TEXT);
         CREATE TABLE consolidated_memories (memory_id TEXT PRIMARY KEY, summary TEXT NOT NULL, created_at TEXT);",
    );
    let event = |id: &str, kind: &str, at: &str, content: &str| {
        conn.execute(
            "INSERT INTO events VALUES (?1, ?2, 's-1', ?3, ?4, ?1, ?1, NULL, NULL)",
            params![id, kind, at, content],
        )
        .expect("insert");
    };
    event("e1", "user_prompt", "2026-02-01T09:00:00.000Z", "Let the otters pay with shells");
    event("e2", "tool_observation", "2026-02-01T09:01:00.000Z", "{\"toolName\": \"Read\"}");
    event("e3", "agent_response", "2026-02-01T09:02:00.000Z", "The till takes shells now; change is missing.");
    event(
        "e4",
        "session_summary",
        "2026-02-01T09:03:00.000Z",
        "Done: the till takes shells\n\nNext: give change in pebbles",
    );
    conn.execute("INSERT INTO event_dedup VALUES ('e1', 'e1')", []).expect("insert");
    conn.execute(
        "INSERT INTO sessions VALUES ('s-1', '2026-02-01T09:00:00Z', '2026-02-01T09:05:00Z', ?1, NULL, '[\"till\"]')",
        [project.to_str().expect("a path")],
    )
    .expect("insert");
    conn.execute("INSERT INTO insights VALUES ('i1', 'preference', 'Prices are told in shells', '2026-02-01 10:00:00')", [])
        .expect("insert");
    conn.execute(
        "INSERT INTO consolidated_memories VALUES ('m1', 'The till rounds up to whole shells', '2026-02-01 10:00:00')",
        [],
    )
    .expect("insert");
    drop(conn);
    let report = comes_from(&home, &project, "claude-memory-layer");
    moving::assert_adds_up(&report);
    assert_eq!((&report["memories"], &report["sessions"]), (&json!(4), &json!(1)), "{report:#}");
    let found = home.memories_of(&project);
    let kinds: Vec<(&str, Option<&str>)> =
        found.iter().map(|memory| (memory["type"].as_str().expect("a type"), memory["said_by"].as_str())).collect();
    for kind in ["preference", "learning", "session_summary"] {
        assert!(kinds.contains(&(kind, Some("agent"))), "{kinds:?}");
    }
    assert!(home.remembers("with shells") && !home.remembers("toolName"));
    assert_tells(&told(&home, &project), &["2026-02-01", "Let the otters pay with shells", "give change in pebbles"]);
}

#[test]
fn a_session_that_is_read_later_takes_the_place_of_the_imported_one() {
    let home = Home::new();
    let project = home.project("shop");
    let context = json!({"meta": {"version": "2.0", "saved_at": "2026-01-15T10:00:00Z", "session_id": session_id(5), "project": project},
        "goal": {"original_request": "An imported goal of the session"}, "progress": {"done": ["Something was imported here"]}});
    write(&project.join(".claude/session-context.json"), &context.to_string());
    comes_from(&home, &project, "session-context");
    let other = home.project("museum");
    let mut session = Session::new(&home, &other, &session_id(5));
    session.transcript.user("Count the otters of the museum, please").answer("There are seven otters in the museum.");
    session.stop("There are seven otters in the museum.");
    session.end();
    let shown = home.json(["session", "show", &session_id(5), "--json"]);
    assert_eq!(shown["project"], other.to_str().expect("a path"), "{shown:#}");
    let page = Session::new(&home, &project, &session_id(77)).start("startup").context.unwrap_or_default();
    assert!(!page.contains("Something was imported"), "the session is of another project:\n{page}");
}

#[test]
fn what_claude_noted_comes_on_request_and_nothing_is_told_twice() {
    let home = Home::new();
    let project = home.project("shop");
    let folder = home.transcript_path(&project, "x").parent().expect("a folder").to_path_buf();
    let rule = "Prices of the otter shop are always told in shells";
    write(
        &folder.join("memory/prices.md"),
        &format!("---\nname: prices\ndescription: How prices are told\nmetadata:\n  type: feedback\n---\n\n{rule}\n"),
    );
    write(&folder.join("memory/MEMORY.md"), "# Memory\n\n- [prices](prices.md): how prices are told\n");
    make_known(&home, &project);
    assert!(!told(&home, &project).contains(rule), "it is off by default");
    let report = comes_from(&home, &project, "claude-memory");
    assert_eq!((&report["memories"], &report["passed_over"]), (&json!(1), &json!(1)), "{report:#}");
    let found = home.memories_of(&project);
    let noted = found.iter().find(|memory| memory["type"] == "preference").expect("the note");
    assert_eq!((&noted["said_by"], &noted["title"]), (&json!("agent"), &json!("How prices are told")));
    assert!(told(&home, &project).contains(rule));

    write(&project.join("CLAUDE.local.md"), "Read @docs/imported.md first.\n");
    for file in [
        project.join("CLAUDE.md"),
        home.agent().join("CLAUDE.md"),
        project.join(".claude/CLAUDE.md"),
        project.join(".claude/rules/shop/prices.md"),
        project.parent().expect("a folder").join("CLAUDE.md"),
        project.join("docs/imported.md"),
        folder.join("memory/MEMORY.md"),
    ] {
        let before = std::fs::read(&file).ok();
        write(&file, &format!("# Rules\n\n* {}.\n", rule.to_uppercase()));
        assert!(!told(&home, &project).contains(rule), "{} is loaded anyway", file.display());
        match before {
            Some(before) => std::fs::write(&file, before).expect("write"),
            None => std::fs::remove_file(&file).expect("remove"),
        }
        assert!(told(&home, &project).contains(rule));
    }
    // Of the index, Claude Code loads 200 lines.
    write(&folder.join("memory/MEMORY.md"), &format!("{}{rule}\n", "\n".repeat(200)));
    assert!(told(&home, &project).contains(rule));
    // Other agents do not load Claude's files.
    write(&project.join("CLAUDE.md"), rule);
    let payload = json!({"session_id": session_id(78), "turn_id": "t", "transcript_path": null, "cwd": project,
        "hook_event_name": "SessionStart", "source": "startup", "model": "m", "permission_mode": "default"});
    let codex = || home.hook_with_input(&["--agent", "codex"], payload.to_string().into_bytes()).success().stdout;
    assert!(codex().contains(rule));
    write(&project.join("AGENTS.md"), rule);
    assert!(!codex().contains(rule));
}

#[test]
fn who_said_it_survives_export_and_import() {
    let home = Home::new();
    let lines = ["human", "agreed", "agent", "tool"].map(|who| {
        json!({"content": format!("The {who} said it in the shop"), "project": "shop", "said_by": who}).to_string()
    });
    let file = home.work().join("lines.jsonl");
    write(&file, &(lines.join("\n") + "\n{\"content\": \"nobody knows\", \"project\": \"shop\"}\n"));
    drop(home.run(["import", file.to_str().expect("a path")]).success());
    let exported = home.run(["export", "--all-projects"]).success().stdout;
    let other = Home::new();
    write(&file, &exported);
    drop(other.run(["import", file.to_str().expect("a path")]).success());
    let mut said: Vec<String> = other
        .json(["memory", "list", "--json", "--all-projects"])
        .as_array()
        .expect("a list")
        .iter()
        .map(|memory| format!("{}: {}", memory["content"].as_str().expect("a text"), memory["said_by"]))
        .collect();
    said.sort();
    assert_eq!(
        said,
        [
            "The agent said it in the shop: \"agent\"",
            "The agreed said it in the shop: \"agreed\"",
            "The human said it in the shop: \"human\"",
            "The tool said it in the shop: \"tool\"",
            "nobody knows: null",
        ]
    );
    write(&file, "{\"content\": \"x\", \"said_by\": \"the boss\"}\n");
    let refused = home.run(["import", file.to_str().expect("a path")]);
    assert!(refused.stderr.contains("said_by") || refused.stdout.contains("said_by"), "{refused:?}");
}

#[test]
fn what_was_stated_and_undone_between_memories_survives_export_and_import() {
    let home = Home::new();
    let project = home.project("shop");
    let save = |arguments: &[&str]| {
        let run = run_in(&home, &project, &[&["memory", "save"], arguments].concat()).success();
        run.stdout.trim().to_owned()
    };
    let fridays = save(&["Deploys go out on Fridays"]);
    save(&["--supersedes", &fridays, "Nobody deploys before a weekend"]);
    let seven = save(&["An upload is tried exactly 7 times"]);
    let weighed = save(&["--supersedes", &seven, "A parcel is weighed five times"]);
    drop(run_in(&home, &project, &["memory", "unlink", &weighed]).success());

    let file = home.work().join("lines.jsonl");
    write(&file, &run_in(&home, &project, &["export"]).success().stdout);
    let other = Home::new();
    drop(other.run(["import", file.to_str().expect("a path")]).success());
    let all = ["export", "--all-projects"];
    assert_eq!(other.run(all).success().stdout, home.run(all).success().stdout);
    let found = |words: &str| other.json(["search", "--all-projects", "--json", words]);
    let replaced = found("deploys on Fridays");
    assert!(replaced[0]["content"].as_str().is_some_and(|text| text.contains("before a weekend")), "{replaced:#}");
    assert_eq!(replaced[1]["superseded_by"], replaced[0]["id"], "{replaced:#}");
    let kept = found("upload tried exactly 7 times");
    assert!(kept[0]["content"].as_str().is_some_and(|text| text.contains("7 times")), "{kept:#}");
    assert_eq!(kept[0].get("superseded_by"), None, "the link was undone: {kept:#}");
    let links = json_of(&other, &other.work(), &["memory", "show", "--json", kept[0]["id"].as_str().expect("an id")]);
    assert!(links["links"][0]["undone_at"].is_string(), "{links:#}");

    // What is said here of a link stays.
    drop(other.run(["memory", "unlink", replaced[0]["id"].as_str().expect("an id")]).success());
    drop(other.run(["import", file.to_str().expect("a path")]).success());
    assert_eq!(found("deploys on Fridays")[1].get("superseded_by"), None);
}
