//! `import --from`: memories of other systems are imported completely, once and with their times, and the source is
//! unchanged.

use std::ffi::OsStr;
use std::path::Path;

use rusqlite::params;
use serde_json::{Value, json};
use tests::database;
use tests::home::Home;
use tests::moving::{self, TEN, assert_adds_up, assert_moves, import, number, stored, time_of};
use tests::process::{self, WATCHDOG};
use tests::session::Session;
use tests::transcript::session_id;

#[test]
fn every_generation_of_jikime_mem_comes_whole() {
    for generation in moving::GENERATIONS {
        let home = Home::new();
        let project = home.project("shop");
        let path = home.path().join(".jikime-mem/jikime-mem.db");
        let expected =
            moving::fill(&moving::create(&path, &moving::jikime_mem(generation)), project.to_str().expect("a path"));
        assert_moves(&home, &path, &expected);
        let (kind, title, identity, session) = stored(&home, "결제 수달이");
        assert_eq!((kind.as_str(), title.as_str(), session.as_str()), ("turn", "결제 수달이 왜 실패하지?", "s-1"));
        assert_eq!(identity, format!("git:{}/.git", project.display()), "{generation}");
        if generation >= 'C' {
            assert_eq!(stored(&home, "결제 수달이"), stored(&home, "수달 키가 틀렸습니다"), "a turn was torn: {generation}");
        }
        assert!(!home.remembers("a long output"), "an output came with a use of a tool: {generation}");
        database::assert_sound(&home.database());
    }
}

#[test]
fn every_version_of_jikime_adk_comes_with_its_markdown() {
    for version in 1..=3 {
        let home = Home::new();
        let project = home.project("shop");
        let path = project.join(".jikime/memory/memory.db");
        let mut expected =
            moving::fill(&moving::create(&path, &moving::jikime_adk(version)), project.to_str().expect("a path"));
        let day = "- [09:00:00] **User Prompt**: 수달?\n\n## Decision\n수달은 굴에  저장하기로 결정\n\n\
                   ## Learning [11:22:33]\nOtters float on their backs\n";
        std::fs::write(path.with_file_name("2026-01-16.md"), day).expect("write");
        std::fs::write(path.with_file_name("MEMORY.md"), "# Shop\n\n## Burrows\n굴은 두 개다\n").expect("write");
        // The record of the day, what the table has, and an empty heading make none.
        expected.rows += 5;
        expected.memories += 2;
        expected.passed_over += 3;
        assert_moves(&home, &path, &expected);
        for (words, kind) in [
            ("수달은 굴에", "decision"),
            ("Otters sleep", "learning"),
            ("leaked", "error_fix"),
            ("A day of", "session_summary"),
            ("lower case", "convention"),
            ("In the burrow", "turn"),
            ("on their backs", "learning"),
            ("굴은 두 개다", "learning"),
        ] {
            let (found, _, identity, _) = stored(&home, words);
            assert_eq!((found.as_str(), identity), (kind, format!("git:{}/.git", project.display())), "{words}");
        }
        // 11:22:33 by this machine's clock, whichever that is.
        assert_eq!(time_of(&home, "on their backs") % 60_000, 33_000);
    }
}

#[test]
fn claude_mem_is_of_the_project_of_that_name() {
    let home = Home::new();
    let path = home.path().join(".claude-mem/claude-mem.db");
    let expected = moving::fill(&moving::create(&path, moving::CLAUDE_MEM), "shop");
    assert_moves(&home, &path, &expected);
    for (words, kind) in [
        ("Why Otters are kept", "decision"),
        ("Why 수달 수정", "error_fix"),
        ("Why An otter door", "turn"),
        ("hungry", "session_summary"),
    ] {
        let (found, _, identity, session) = stored(&home, words);
        assert_eq!((found.as_str(), identity.as_str(), session.as_str()), (kind, "name:shop", "s-3"), "{words}");
    }
    let found = home.json(["memory", "search", "--json", "--project", "shop", "burrows"]);
    assert_eq!(found[0]["files"], json!(["src/otter.rs"]), "{found:#}");

    let home = Home::new();
    let project = home.project("shop");
    let mut save = home.command(["memory", "save", "the shop has a door"]);
    save.current_dir(&project);
    drop(process::run(save, Vec::new(), WATCHDOG).success());
    let path = home.path().join(".claude-mem/claude-mem.db");
    drop(moving::fill(&moving::create(&path, moving::CLAUDE_MEM), "shop"));
    // Without a path: it is where it usually is.
    let report = home.json(["import", "--from", "claude-mem", "--json"]);
    assert_eq!(report["memories"], 5, "{report:#}");
    assert_eq!(stored(&home, "hungry").2, format!("git:{}/.git", project.display()));
}

#[test]
fn openclaws_files_are_better_than_its_chunks() {
    let home = Home::new();
    let root = home.path().join(".openclaw");
    let conn = moving::create(&root.join("memory/main.sqlite"), moving::OPENCLAW);
    std::fs::create_dir_all(root.join("workspace/memory")).expect("create");
    std::fs::write(root.join("workspace/memory/otters.md"), "# Otters\n\n수달은 물에서 잔다. They hold hands.\n")
        .expect("write");
    std::fs::write(home.path().join("outside.md"), "nothing of this may come").expect("write");
    for (id, path, text) in [
        ("c1", "memory/otters.md", "수달은 물에서"),
        ("c2", "memory/otters.md", "They hold hands."),
        ("c3", "memory/gone.md", "The otter that is gone left a chunk"),
        ("c4", "../outside.md", "a chunk of a path that leads out"),
    ] {
        conn.execute("INSERT OR IGNORE INTO files VALUES (?1, 'memory', 'h', ?2, 1)", params![path, TEN + 7])
            .expect("insert");
        conn.execute(
            "INSERT INTO chunks VALUES (?1, ?2, 'memory', 1, 2, 'h', 'm', ?3, '[]', ?4)",
            params![id, path, text, TEN + 9],
        )
        .expect("insert");
    }
    drop(conn);
    let before = moving::tree(&root);
    let report = home.json(["import", "--from", "openclaw", "--json"]);
    assert_adds_up(&report);
    assert_eq!((number(&report, "memories"), number(&report, "passed_over")), (3, 5), "{report:#}");
    assert_eq!(time_of(&home, "left a chunk"), TEN + 7);
    assert_eq!(stored(&home, "They hold hands").2, "name:openclaw");
    assert!(home.remembers("leads out") && !home.remembers("nothing of this"));
    assert_eq!(home.json(["import", "--from", "openclaw", "--json"])["known"], 3);
    assert_eq!(moving::tree(&root), before);
}

#[test]
fn memory_keepers_files_come_from_both_of_its_places() {
    let home = Home::new();
    let project = home.project("shop");
    let write = |path: &Path, text: &str| {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("create");
        std::fs::write(path, text).expect("write");
    };
    let keeper = home.agent().join("memory-keeper/projects/den");
    write(&keeper.join("memory.md"), "# Den\n\n## Rules\n수달을 깨우지 않는다\n");
    write(&keeper.join("sessions/2026-01-15.md"), "# Session\n\nThe den was swept.\n");
    let crabshell = project.join(".crabshell/memory");
    write(&crabshell.join("logbook.md"), "## 2026-01-15T10:00:00Z\nThe otter swam.\n");
    write(
        &crabshell.join("logbook_1.summary.json"),
        r#"{"themes": ["swimming"], "keyDecisions": [{"decision": "수달은 헤엄친다"}], "issues": ["water is cold"], "overallSummary": "A wet day"}"#,
    );
    write(&crabshell.join("broken.summary.json"), "{\"themes\": [");
    write(&crabshell.join("sessions/x.l1.jsonl"), "{}\n");
    let mut command = home.command(["import", "--from", "memory-keeper", "--json"]);
    command.current_dir(&project);
    let run = process::run(command, Vec::new(), WATCHDOG).failure_with_hint();
    let report: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!((number(&report, "memories"), number(&report, "failed")), (6, 1), "{report:#}");
    assert!(report["errors"][0]["place"].as_str().is_some_and(|place| place.contains("broken.summary.json")), "{report:#}");
    for (words, kind, named) in [
        ("수달을 깨우지", "learning", true),
        ("swept", "session_summary", true),
        ("swam", "turn", false),
        ("헤엄친다", "decision", false),
        ("A wet day", "session_summary", false),
        ("water is cold", "learning", false),
    ] {
        let identity = if named { "name:den".to_owned() } else { format!("git:{}/.git", project.display()) };
        let (found, _, project, _) = stored(&home, words);
        assert_eq!((found.as_str(), project), (kind, identity), "{words}");
    }
    assert_eq!(time_of(&home, "swam"), TEN);
}

#[test]
fn a_session_context_of_others_comes_and_our_own_does_not() {
    let home = Home::new();
    let project = home.project("shop");
    let file = project.join(".claude/session-context.json");
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("create");
    let context = |session: &str| {
        json!({"meta": {"version": "2.0", "saved_at": "2026-01-15T10:00:00Z", "session_id": session, "project": project},
            "goal": {"original_request": "수달 결제를 고쳐줘", "current_objective": "키 교체"},
            "progress": {"done": ["원인 찾기"], "current": [], "pending": ["배포하기"]},
            "decisions": [{"what": "키를 교체한다", "why": "만료됐다", "rejected": ["그대로 둔다"]}],
            "discoveries": [{"file": "src/pay.rs", "insight": "키는 두 곳에 있다", "timestamp": "2026-01-15T09:00:00Z"}],
            "state": {"recent_files": ["src/pay.rs"], "blockers": [], "errors": ["401"]}})
    };
    std::fs::write(&file, context("theirs").to_string()).expect("write");
    std::fs::write(file.with_extension("json.bak"), context("theirs").to_string()).expect("write");
    let mut command = home.command(["import", "--from", "session-context", "--json"]);
    command.current_dir(&project);
    let report: Value = serde_json::from_str(&process::run(command, Vec::new(), WATCHDOG).success().stdout).expect("JSON");
    assert_adds_up(&report);
    assert_eq!((number(&report, "memories"), number(&report, "passed_over")), (4, 1), "{report:#}");
    let found = home.memories_of(&project);
    let one =
        |kind: &str| found.iter().find(|memory| memory["type"] == kind).unwrap_or_else(|| panic!("{kind}: {found:#?}"));
    assert_eq!(one("decision")["content"], "키를 교체한다\n이유: 만료됐다\n버린 안: 그대로 둔다");
    assert_eq!(one("discovery")["created_at"], "2026-01-15T09:00:00Z");
    assert_eq!(one("discovery")["files"], json!(["src/pay.rs"]));
    assert_eq!(one("task")["title"], "배포하기");
    assert_eq!(one("session_summary")["title"], "수달 결제를 고쳐줘");

    let mut session = Session::new(&home, &project, &session_id(7));
    drop(session.start("startup"));
    session.transcript.user("Count the otters, please").answer("There are seven otters.");
    drop(session.stop("There are seven otters."));
    drop(session.end());
    std::fs::write(&file, context(&session_id(7)).to_string()).expect("write");
    let (_, report) = import(&home, "session-context", &file, &[]);
    assert_eq!((number(&report, "memories"), number(&report, "passed_over")), (0, 1), "{report:#}");
}

#[test]
fn markdown_comes_a_memory_a_file_or_a_heading() {
    let home = Home::new();
    let notes = home.path().join("notes");
    std::fs::create_dir_all(notes.join("root-cause")).expect("create");
    std::fs::create_dir_all(notes.join(".hidden")).expect("create");
    let head = "\u{feff}---\r\ntitle: \"수달 결제 실패\"\r\ntags:\r\n  - debug\r\n  - otter\r\ntype: root-cause\r\n\
                created: 2026-01-15T10:00:00Z\r\nkeywords: [expired]\r\nrelated:\r\n  - 2026-01-14_keys\r\n---\r\n\r\n키가 만료됐다.\r\n";
    std::fs::write(notes.join("root-cause/a.md"), head).expect("write");
    let long = format!("# Book\n\n## One\n{}\n## Two\n{}\n", "otters swim. ".repeat(500), "otters sleep. ".repeat(500));
    std::fs::write(notes.join("long.md"), long).expect("write");
    std::fs::write(notes.join("bytes.md"), b"\xff\xfe").expect("write");
    std::fs::write(notes.join(".hidden/x.md"), "hidden otters").expect("write");
    std::fs::write(notes.join("x.txt"), "text of otters").expect("write");
    let before = moving::tree(&notes);
    let (run, report) = import(&home, "markdown", &notes, &["--project", home.work().to_str().expect("a path")]);
    assert!(run.failure_with_hint().stderr.contains("could not be read"));
    assert_adds_up(&report);
    assert_eq!((number(&report, "memories"), number(&report, "failed")), (3, 1), "{report:#}");
    let found = home.memories_of(&home.work());
    let note = found.iter().find(|memory| memory["type"] == "root-cause").expect("the note");
    assert_eq!(note["title"], "수달 결제 실패");
    assert_eq!(note["created_at"], "2026-01-15T10:00:00Z");
    assert_eq!(note["keywords"], json!(["debug", "otter", "expired", "related:2026-01-14_keys"]));
    assert!(found.iter().any(|memory| memory["title"] == "Two"), "{found:#?}");
    assert_eq!(moving::tree(&notes), before);
}

#[test]
fn the_usual_places_are_found_and_named() {
    let home = Home::new();
    for from in [
        "jikime-mem",
        "jikime-adk",
        "claude-mem",
        "claude-memory-layer",
        "openclaw",
        "memory-keeper",
        "session-context",
        "claude-memory",
        "markdown",
        "jsonl",
    ] {
        let run = home.run(["import", "--from", from]).failure_with_hint();
        assert!(run.stderr.contains("found nothing of") || run.stderr.contains("no usual place"), "{from}: {run:#?}");
        let run = home.run(["import", "--from", from, "missing"]).failure_with_hint();
        assert!(run.stderr.contains("does not exist") || run.stderr.contains("cannot read"), "{from}: {run:#?}");
    }
    // The project is named beside the database, for sessions that do not name one.
    let (one, two) = (home.project("one"), home.project("two"));
    for (id, generation) in [("0a1b2c3d4e5f", 'G'), ("aaaaaaaaaaaa", 'H')] {
        let path = home.path().join(format!(".jikime-mem/projects/{id}/jikime-mem.db"));
        let conn = moving::create(&path, &moving::jikime_mem(generation));
        drop(moving::fill(&conn, one.to_str().expect("a path")));
        conn.execute(
            "INSERT INTO prompts (id, session_id, content) VALUES ('q', 'lost', 'whose otter of ' || ?1 || '?')",
            [id],
        )
        .expect("insert");
    }
    let known = json!({"version": 1, "projects": {"aaaaaaaaaaaa": {"id": "aaaaaaaaaaaa", "path": two, "name": "two"}}});
    std::fs::write(home.path().join(".jikime-mem/projects.json"), known.to_string()).expect("write");
    let data = home.database();
    let run = home.run(["import", "--from", "jikime-mem", "--dry-run"]).success();
    assert!(
        run.stdout.contains("prompts") && run.stdout.contains("4 turn") && run.stdout.contains("2026-01-15"),
        "{run:#?}"
    );
    assert!(!data.exists(), "a dry run made a database");
    let report = home.json(["import", "--from", "jikime-mem", "--json"]);
    assert_eq!(report["sources"].as_array().map(Vec::len), Some(2));
    // Both hold the same turns of `one`; they are stored once.
    assert_eq!((number(&report, "memories"), number(&report, "known")), (6, 4), "{report:#}");
    assert_eq!(stored(&home, "whose otter of aaaaaaaaaaaa").2, format!("git:{}/.git", two.display()));
    assert_eq!(stored(&home, "whose otter of 0a1b2c3d4e5f").2, "name:jikime-mem");
}

#[test]
fn a_torn_database_gives_what_can_be_read() {
    let home = Home::new();
    let path = home.path().join("torn/jikime-mem.db");
    let conn = moving::create(&path, &moving::jikime_mem('B'));
    for number in 0..400 {
        conn.execute(
            "INSERT INTO prompts (id, session_id, content, timestamp) VALUES (?1, 's', ?2, '2026-01-15 10:00:00')",
            params![format!("p{number:03}"), format!("otter {number} {}", "swims ".repeat(150))],
        )
        .expect("insert");
    }
    drop(conn);
    let bytes = std::fs::read(&path).expect("read");
    std::fs::write(&path, &bytes[..bytes.len() * 6 / 10]).expect("truncate");
    let (run, report) = import(&home, "jikime-mem", &path, &[]);
    drop(run.failure_with_hint());
    assert_adds_up(&report);
    let memories = number(&report, "memories");
    assert!((100..400).contains(&memories), "{report:#}");
    let error = &report["errors"][0];
    assert!(error["place"].as_str().is_some_and(|place| place.ends_with("jikime-mem.db, prompts")), "{error:#}");
    assert!(error["reason"].as_str().is_some_and(|reason| reason.starts_with("rows after ")), "{error:#}");

    // A hole in the middle: what lies behind it is read from the other end.
    let mut holed = bytes.clone();
    let middle = bytes.len() / 2 / 4096 * 4096;
    holed[middle..middle + 3 * 4096].fill(0);
    std::fs::write(&path, holed).expect("write");
    let (run, report) = import(&Home::new(), "jikime-mem", &path, &[]);
    drop(run.failure_with_hint());
    assert_adds_up(&report);
    assert!((370..400).contains(&number(&report, "memories")), "{report:#}");
    let reason = report["errors"][0]["reason"].as_str().expect("a reason");
    assert!(reason.contains(" after ") && reason.contains(" before "), "{report:#}");

    for (name, bytes) in
        [("empty.db", Vec::new()), ("text.db", b"no database at all".repeat(100)), ("head.db", bytes[..100].to_vec())]
    {
        let path = home.path().join(name);
        std::fs::write(&path, bytes).expect("write");
        for from in ["jikime-mem", "jikime-adk", "claude-mem", "openclaw"] {
            let (run, report) = import(&home, from, &path, &[]);
            drop(run.failure_with_hint());
            assert_eq!((number(&report, "memories"), number(&report, "failed")), (0, 1), "{name} {from}: {report:#}");
        }
    }
}

#[test]
fn what_has_no_business_in_a_column_is_told_with_its_place() {
    let home = Home::new();
    let path = home.path().join("odd/jikime-mem.db");
    // No `sessions`, no types, no constraints.
    let conn = moving::create(
        &path,
        "CREATE TABLE prompts (id, session_id, content, timestamp); CREATE TABLE responses (content);",
    );
    conn.execute_batch(
        "INSERT INTO prompts VALUES ('a', 's', NULL, 1768471200000), ('b', 's', x'ff00fe', 1768471201000),
           ('c', 's', 42, 1768471202), ('d', NULL, 'an otter of no session', 'soon'), ('e', 's', '  ', NULL),
           (NULL, 's', x'ec9588eb8595', '2026-01-15T10:00:04.567Z'), ('f', 7, 'an otter with a number', -5),
           ('g', 's', 'cut in a letter ' || CAST(x'ec95' AS TEXT), '1768471205000');
         INSERT INTO responses VALUES ('an answer to nobody');",
    )
    .expect("insert");
    drop(conn);
    let (run, report) = import(&home, "jikime-mem", &path, &[]);
    drop(run.failure_with_hint());
    assert_adds_up(&report);
    assert_eq!((number(&report, "failed"), number(&report, "passed_over")), (1, 2), "{report:#}");
    assert_eq!(
        report["errors"][0]["place"].as_str().map(|place| place.ends_with("prompts, row 2")),
        Some(true),
        "{report:#}"
    );
    for (words, at) in [("안녕", TEN + 4_567), ("cut in a letter", TEN + 5_000)] {
        assert_eq!(time_of(&home, words), at);
    }
    assert_eq!(stored(&home, "42").2, "name:jikime-mem");
    for words in ["an otter of no session", "an otter with a number", "an answer to nobody"] {
        assert!(home.remembers(words), "{words}");
    }
}

#[test]
fn a_database_in_use_is_read_as_it_is_and_left_so() {
    let home = Home::new();
    let project = home.project("shop");
    let path = home.path().join("live/jikime-mem.db");
    let conn = moving::create(&path, "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;");
    conn.execute_batch(&moving::jikime_mem('H')).expect("valid DDL");
    let expected = moving::fill(&conn, project.to_str().expect("a path"));
    assert!(path.with_extension("db-wal").metadata().is_ok_and(|meta| meta.len() > 0), "nothing is in the log");
    // Somebody holds a lock for writing all the while.
    conn.execute_batch("BEGIN IMMEDIATE").expect("lock");
    assert_moves(&home, &path, &expected);
}

#[test]
fn it_goes_on_where_it_was_killed() {
    const ROWS: u64 = 4_500;
    let home = Home::new();
    let path = home.path().join("source.db");
    let conn = moving::create(&path, &moving::jikime_mem('F'));
    conn.execute_batch("BEGIN").expect("begin");
    for number in 0..ROWS {
        let values = params![format!("p{number}"), format!("otter number {number}")];
        conn.execute("INSERT INTO prompts (id, session_id, content) VALUES (?1, 's', ?2)", values).expect("insert");
    }
    conn.execute_batch("COMMIT").expect("commit");
    drop(conn);
    let mut command = home.command([OsStr::new("import"), "--from".as_ref(), "jikime-mem".as_ref(), path.as_os_str()]);
    let mut child = command.stdout(std::process::Stdio::null()).spawn().expect("start");
    home.eventually("a batch is stored", |home| {
        let conn = rusqlite::Connection::open_with_flags(home.database(), rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY);
        let count =
            |conn: rusqlite::Connection| conn.query_row("SELECT count(*) FROM memories", [], |row| row.get::<_, i64>(0));
        conn.and_then(count).is_ok_and(|count| count > 0)
    });
    child.kill().expect("kill");
    drop(child.wait());
    let (_, report) = import(&home, "jikime-mem", &path, &[]);
    assert_adds_up(&report);
    assert!(number(&report, "known") > 0, "{report:#}");
    assert_eq!(home.memories().len() as u64, ROWS);
    database::assert_sound(&home.database());
}

#[test]
fn secrets_and_what_is_left_out_stay_out() {
    let home = Home::new();
    let (loud, quiet) = (home.project("loud"), home.project("quiet"));
    let key = ["AKIA", "IOSFODNN7", "QRSTUVW"].concat();
    let mut pause = home.command(["pause"]);
    pause.current_dir(&quiet);
    drop(process::run(pause, Vec::new(), WATCHDOG).success());
    let path = home.path().join("source.db");
    let conn = moving::create(&path, &moving::jikime_mem('H'));
    for (session, project) in [("s1", &loud), ("s2", &quiet)] {
        conn.execute(
            "INSERT INTO sessions (id, session_id, project_path) VALUES (?1, ?1, ?2)",
            params![session, project.to_str()],
        )
        .expect("insert");
        conn.execute(
            "INSERT INTO prompts (id, session_id, content) VALUES (?1, ?2, ?3)",
            params![format!("{session} {key}"), session, format!("{key} opens the otters' {session} door")],
        )
        .expect("insert");
    }
    drop(conn);
    let (_, report) = import(&home, "jikime-mem", &path, &[]);
    assert_adds_up(&report);
    assert_eq!((number(&report, "memories"), number(&report, "left_out")), (1, 1), "{report:#}");
    assert!(home.remembers("the otters' s1 door") && !home.remembers("s2 door"));
    let holding = home.holding(key);
    assert!(holding.is_empty(), "a secret stands in {holding:?}");
}

#[test]
fn long_texts_are_cut_and_nothing_is_lost() {
    let home = Home::new();
    let path = home.path().join("source.db");
    let conn = moving::create(&path, &moving::jikime_mem('H'));
    let text = (0..9_000).map(|number| format!("수달 {number}번은 헤엄친다.")).collect::<Vec<_>>().join(" ");
    conn.execute("INSERT INTO responses (id, session_id, content) VALUES ('r', 's', ?1)", [&text]).expect("insert");
    drop(conn);
    let (_, report) = import(&home, "jikime-mem", &path, &[]);
    assert_adds_up(&report);
    assert!(number(&report, "cut") > 2 && number(&report, "memories") == number(&report, "cut") + 1, "{report:#}");
    for number in [0, 1_234, 8_999] {
        assert!(home.remembers(&format!("수달 {number}번은 헤엄친다.")), "{number}");
    }
    assert_eq!(import(&home, "jikime-mem", &path, &[]).1["memories"], 0);
}

#[test]
fn turns_of_a_session_that_was_read_itself_do_not_come_twice() {
    let home = Home::new();
    let project = home.project("shop");
    let mut session = Session::new(&home, &project, &session_id(3));
    drop(session.start("startup"));
    session.transcript.user("Why does the otter payment fail?").answer("Because the otter's key has expired.");
    drop(session.stop("Because the otter's key has expired."));
    drop(session.end());
    home.eventually("the turn is stored", |home| home.remembers("the otter's key has expired"));
    let path = home.path().join("source.db");
    let conn = moving::create(&path, &moving::jikime_mem('H'));
    conn.execute(
        "INSERT INTO sessions (id, session_id, project_path) VALUES ('i', ?1, ?2)",
        params![session_id(3), project.to_str()],
    )
    .expect("insert");
    conn.execute_batch(&format!(
        "INSERT INTO prompts (id, session_id, content) VALUES ('p', '{0}', 'Why does the otter payment fail?'),
           ('q', 'another', 'Where do the otters sleep?');
         INSERT INTO responses (id, session_id, prompt_id, content) VALUES ('r', '{0}', 'p', 'Because the otter''s key has expired.');",
        session_id(3)
    ))
    .expect("insert");
    drop(conn);
    let (_, report) = import(&home, "jikime-mem", &path, &[]);
    assert_adds_up(&report);
    assert_eq!((number(&report, "memories"), number(&report, "passed_over")), (1, 3), "{report:#}");
}

#[test]
fn what_other_memories_inject_is_not_remembered() {
    let home = Home::new();
    let project = home.project("shop");
    let mut session = Session::new(&home, &project, &session_id(5));
    drop(session.start("startup"));
    let theirs = [
        "# [shop] recent context\n\n**Decision**: We decided to use zebra locks instead of mutexes.\n- Always run the zebra first.",
        "<jikime-mem-context>\n## 이전 대화\n- 항상 얼룩말을 먼저 실행한다. We chose zebra over horse.\n</jikime-mem-context>",
    ];
    for context in theirs {
        session.transcript.injected(context);
        for event in ["UserPromptSubmit", "PostToolUse"] {
            session.transcript.metadata(&json!({"type": "attachment", "attachment": {"type": "hook_additional_context",
                "content": [context], "hookName": event, "toolUseID": "x", "hookEvent": event}}));
        }
    }
    let reminder = format!(
        "<system-reminder>\nSessionStart hook additional context: {}\n</system-reminder>\nAlways feed the otters before noon.",
        theirs[0]
    );
    session.transcript.user(&reminder).answer("The otters are fed.");
    drop(session.stop("The otters are fed."));
    drop(session.end());
    home.eventually("the turn is stored", |home| home.remembers("The otters are fed"));
    assert!(home.remembers("Always feed the otters before noon"), "the human's own words are gone");
    for words in ["zebra", "얼룩말"] {
        let found: Vec<_> = home.memories().into_iter().filter(|memory| memory.text.contains(words)).collect();
        assert!(found.is_empty(), "what was injected was remembered: {found:#?}");
    }
}

#[test]
fn doctor_says_who_else_remembers() {
    let home = Home::new();
    let others = |home: &Home| -> Vec<String> {
        let run = home.run(["doctor", "--json"]);
        let report: Value = serde_json::from_str(&run.stdout).expect("JSON");
        let checks = report["checks"].as_array().expect("checks").iter();
        checks.filter(|it| it["check"] == "others").map(|it| it["message"].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(others(&home), [] as [String; 0]);
    let settings = json!({"enabledPlugins": {"claude-mem@thedotmack": true}, "hooks": {"Stop": [{"hooks": [
        {"type": "command", "command": "bun /home/u/.jikime-mem/stop.ts"}]}]}});
    std::fs::write(home.agent().join("settings.json"), settings.to_string()).expect("write");
    let told = others(&home);
    assert!(told.len() == 2 && told[0].contains("claude-mem") && told[1].contains("jikime-mem"), "{told:?}");
    assert!(told.iter().all(|it| it.contains("~/.claude/settings.json") && it.contains("both store memories")), "{told:?}");
}

#[test]
fn json_lines_come_by_the_same_command() {
    let home = Home::new();
    let path = home.path().join("memories.jsonl");
    std::fs::write(&path, "{\"id\": 1, \"project\": \"shop\", \"content\": \"the otter of a line\"}\n").expect("write");
    let (_, report) = import(&home, "jsonl", &path, &[]);
    assert_eq!((&report["memories"], &report["lines"]), (&json!(1), &json!(1)));
    let again = home.json([OsStr::new("import"), "--json".as_ref(), path.as_os_str()]);
    assert_eq!(again["known"], 1);
    assert!(home.run(["import", "--from", "jsonl", "--dry-run", "x"]).failure_with_hint().stderr.contains("--dry-run"));
}

/// Empty databases of real versions, where there are some: a folder that `THROUGHLINE_MIGRATION` names.
#[test]
fn databases_of_real_versions_come_whole() {
    let Some(folder) = std::env::var_os("THROUGHLINE_MIGRATION") else {
        tests::skip("databases_of_real_versions_come_whole", "THROUGHLINE_MIGRATION names no folder");
        return;
    };
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("the folder").flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "db"));
    files.sort();
    assert!(!files.is_empty(), "no databases there");
    for file in files {
        let home = Home::new();
        let project = home.project("shop");
        let copy = home.path().join("copy").join(file.file_name().expect("a name"));
        std::fs::create_dir_all(copy.parent().expect("a folder")).expect("create");
        std::fs::write(&copy, std::fs::read(&file).expect("read")).expect("write");
        let conn = rusqlite::Connection::open(&copy).expect("open");
        let expected = moving::fill(&conn, project.to_str().expect("a path"));
        drop(conn);
        println!("{}: {expected:?}", file.display());
        assert_moves(&home, &copy, &expected);
    }
}
