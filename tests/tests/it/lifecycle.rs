//! Whole sessions through all hooks, as the agent would run them, over synthetic transcripts.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;
use tests::bulk;
use tests::database;
use tests::home::Home;
use tests::session::Session;
use tests::transcript::session_id;

/// A session of some substance: a request, a choice, an edit, a failure with its cure, and something left to do.
fn work<'home>(home: &'home Home, project: &Path, number: u64) -> Session<'home> {
    let mut session = Session::new(home, project, &session_id(number));
    session
        .transcript
        .user("Make the invoice importer skip rows whose amount is empty")
        .says("Let me look at the importer.")
        .bash_fails("cargo test importer", 101, "error[E0432]: unresolved import `csv::Trim`")
        .bash("cargo add csv@1.3", "Adding csv v1.3 to dependencies")
        .bash("cargo test importer", "test result: ok. 9 passed; 0 failed")
        .asks(
            "How shall skipped rows be reported?",
            &["A warning for each row", "One count at the end"],
            "One count at the end",
        )
        .edits("src/importer.rs", "let amount = parse(row)?;", "let Some(amount) = parse(row)? else { continue };")
        .todo(&[
            ("Skip rows without an amount", "completed"),
            ("Write the release note for the importer", "pending"),
        ])
        .answer("The importer skips rows without an amount and prints one count at the end. The release note is still to be written.");
    session
}

const LAST_WORDS: &str = "The importer skips rows without an amount and prints one count at the end. The release note is still \
                          to be written.";

#[test]
fn a_new_project_is_told_nothing() {
    let home = Home::new();
    let project = home.project("empty");
    for source in ["startup", "resume", "clear", "compact", "fork"] {
        Session::new(&home, &project, &session_id(1)).start(source).silent();
    }
}

#[test]
fn the_first_run_of_all_says_nothing_and_harms_nothing() {
    let home = Home::cold();
    let project = home.project("fresh");
    Session::new(&home, &project, &session_id(1)).start("startup").silent();
}

#[test]
fn events_that_cannot_answer_are_answered_with_nothing() {
    let home = Home::new();
    let project = home.project("billing");
    let mut session = work(&home, &project, 1);
    session.stop(LAST_WORDS);
    for event in [
        "ConfigChange",
        "CwdChanged",
        "DirectoryAdded",
        "Elicitation",
        "ElicitationResult",
        "FileChanged",
        "InstructionsLoaded",
        "MessageDisplay",
        "Notification",
        "PermissionDenied",
        "PermissionRequest",
        "PostCompact",
        "PostModelSwitch",
        "PostToolBatch",
        "PostToolUse",
        "PostToolUseFailure",
        "PreCompact",
        "PreModelSwitch",
        "PreToolUse",
        "SessionEnd",
        "Setup",
        "Stop",
        "StopFailure",
        "SubagentStart",
        "SubagentStop",
        "TaskCompleted",
        "TaskCreated",
        "TeammateIdle",
        "UserPromptExpansion",
        "UserPromptSubmit",
        "WorktreeCreate",
        "WorktreeRemove",
    ] {
        home.hook(&session.payload(event, &json!({}))).silent();
    }
}

#[test]
fn the_next_session_is_told_of_the_last() {
    let home = Home::new();
    let project = home.project("billing");
    let mut session = work(&home, &project, 1);
    session.start("startup").silent();
    session.stop(LAST_WORDS);
    session.end();

    let next = Session::new(&home, &project, &session_id(2)).start("startup");
    let said = next.said();
    assert!(said.starts_with("## Session Memory"), "{said}");
    for wanted in
        ["### Last Session", "2025-06-02", "invoice importer", "src/importer.rs", "One count at the end", "release note"]
    {
        assert!(said.contains(wanted), "`{wanted}` is missing:\n{said}");
    }
    for unwanted in ["Let me look at the importer", session.id()] {
        assert!(!said.contains(unwanted), "`{unwanted}` tells no one anything:\n{said}");
    }
}

#[test]
fn a_korean_session_is_remembered_in_korean() {
    let home = Home::new();
    let project = home.project("정산");
    let mut session = Session::new(&home, &project, &session_id(1));
    session
        .transcript
        .user("송장 가져오기에서 금액이 빈 행을 건너뛰도록 고쳐줘. 앞으로 주석은 항상 한국어로 작성해줘.")
        .edits("src/가져오기.rs", "금액을 읽는다", "금액이 없으면 건너뛴다")
        .asks("건너뛴 행은 어떻게 알릴까요?", &["행마다 경고", "끝에 개수 한 번"], "끝에 개수 한 번")
        .answer("금액이 빈 행을 건너뛰고 끝에 개수를 한 번 출력합니다.");
    session.stop("금액이 빈 행을 건너뛰고 끝에 개수를 한 번 출력합니다.");
    session.end();

    let next = Session::new(&home, &project, &session_id(2)).start("startup");
    for wanted in ["송장 가져오기", "src/가져오기.rs", "끝에 개수 한 번", "항상 한국어로"] {
        assert!(next.said().contains(wanted), "`{wanted}` is missing:\n{}", next.said());
    }
}

#[test]
fn a_compaction_gives_back_this_very_session() {
    let home = Home::new();
    let project = home.project("billing");
    let mut session = work(&home, &project, 1);
    session.start("startup").silent();
    session.stop(LAST_WORDS);
    session.pre_compact();
    let after = session.start("compact");
    for wanted in ["invoice importer", "src/importer.rs", "One count at the end", "release note"] {
        assert!(after.said().contains(wanted), "`{wanted}` is missing:\n{}", after.said());
    }
    session.transcript.compacts("The importer was changed; the release note is open.");
    session.post_compact(
        "<analysis>long thoughts</analysis><summary>The importer was changed; the release note is open.</summary>",
    );
    home.eventually("the agent's own summary is kept", |home| {
        home.memories()
            .iter()
            .any(|memory| memory.text.contains("The importer was changed") && memory.kind == "compact_summary")
    });
    assert!(!home.remembers("long thoughts"), "what the agent thought on the way is not its summary");
}

#[test]
fn a_compaction_before_any_stop_gives_back_what_was_said_so_far() {
    let home = Home::new();
    let project = home.project("billing");
    let mut session = Session::new(&home, &project, &session_id(1));
    session.start("startup").silent();
    session.transcript.user("Make the invoice importer skip rows whose amount is empty").edits(
        "src/importer.rs",
        "old",
        "new",
    );
    session.pre_compact();
    let after = session.start("compact");
    for wanted in ["invoice importer", "src/importer.rs"] {
        assert!(after.said().contains(wanted), "`{wanted}` is missing:\n{}", after.said());
    }
}

#[test]
fn who_still_has_its_context_is_told_nothing() {
    let home = Home::new();
    let project = home.project("billing");
    let mut session = work(&home, &project, 1);
    session.stop(LAST_WORDS);
    session.end();
    session.start("resume").silent();
    Session::new(&home, &project, &session_id(2)).start("fork").silent();
}

#[test]
fn after_a_clear_only_what_holds_for_the_project_is_told() {
    let home = Home::new();
    let project = home.project("billing");
    let mut session = work(&home, &project, 1);
    session
        .transcript
        .user("From now on always run `cargo nextest` instead of `cargo test` in this repository")
        .answer("Understood: `cargo nextest` from now on.");
    session.stop("Understood: `cargo nextest` from now on.");
    session.end();
    let cleared = Session::new(&home, &project, &session_id(2)).start("clear");
    assert!(cleared.said().contains("cargo nextest"), "{}", cleared.said());
    for unwanted in ["Last Session", "invoice importer"] {
        assert!(!cleared.said().contains(unwanted), "`{unwanted}`:\n{}", cleared.said());
    }
}

#[test]
fn a_session_that_was_killed_is_caught_up_with() {
    let home = Home::new();
    let project = home.project("billing");
    let mut session = work(&home, &project, 1);
    session.start("startup").silent();
    // No Stop, no SessionEnd: only its transcript is there.
    session.transcript.append_to(&session.path);
    let next = Session::new(&home, &project, &session_id(2)).start("startup");
    assert!(next.said().contains("invoice importer"), "{}", next.said());
}

#[test]
fn a_stop_ahead_of_its_transcript_loses_nothing_and_doubles_nothing() {
    let home = Home::new();
    let project = home.project("billing");
    let mut session = work(&home, &project, 1);
    session.stop_before_it_is_written(LAST_WORDS);
    session.stop(LAST_WORDS);
    session.end();
    let memories = home.memories();
    let answers = memories
        .iter()
        .filter(|memory| memory.kind == "turn" && memory.text.contains("prints one count at the end"))
        .count();
    assert_eq!(answers, 1, "{memories:#?}");
}

#[test]
fn lines_are_read_once_however_they_come() {
    let home = Home::new();
    let project = home.project("billing");
    let at_once = {
        let home = Home::new();
        let mut session = work(&home, &project, 1);
        session.transcript.user("Now write the release note").writes("NOTES.md", "Importer skips rows").answer("Written.");
        session.stop("Written.");
        session.end();
        home.memories()
    };
    assert!(!at_once.is_empty());

    let mut session = work(&home, &project, 1);
    session.stop(LAST_WORDS);
    let read = database::number(&home.database(), "SELECT max(byte_offset) FROM transcripts");
    session.stop(LAST_WORDS);
    assert_eq!(read, database::number(&home.database(), "SELECT max(byte_offset) FROM transcripts"));
    session.transcript.user("Now write the release note").writes("NOTES.md", "Importer skips rows").answer("Written.");
    session.stop("Written.");
    session.end();
    assert_eq!(home.memories(), at_once);
    assert_eq!(
        database::number(&home.database(), "SELECT max(byte_offset) FROM transcripts"),
        i64::try_from(session.transcript.text().len()).expect("a length")
    );
}

#[test]
fn a_torn_last_line_waits_for_its_rest() {
    let home = Home::new();
    let project = home.project("billing");
    let mut session = work(&home, &project, 1);
    session.stop(LAST_WORDS);
    let before = session.transcript.text().len();
    session.transcript.user("Remember the walrus gate must stay closed in staging").answer("The walrus gate stays closed.");
    let rest = session.transcript.text()[before..].to_owned();
    let middle = rest.find("walrus").expect("it is there");
    let append = |text: &str| {
        use std::io::Write as _;
        std::fs::OpenOptions::new()
            .append(true)
            .open(&session.path)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .expect("append");
    };
    append(&rest[..middle]);
    session.stop_before_it_is_written("…");
    let read = database::number(&home.database(), "SELECT max(byte_offset) FROM transcripts");
    assert!(read <= i64::try_from(before).expect("a length"), "the torn line was read");
    append(&rest[middle..]);
    session.stop_before_it_is_written("The walrus gate stays closed.");
    assert!(home.remembers("walrus gate"), "{:#?}", home.memories());
    assert_eq!(database::number(&home.database(), "SELECT sum(malformed) FROM transcripts"), 0);
}

#[test]
fn a_rewritten_transcript_is_taken_up_where_it_was_left() {
    let home = Home::new();
    let project = home.project("billing");
    let mut session = work(&home, &project, 1);
    session.stop(LAST_WORDS);
    let before = home.memories();

    // The client drops old lines and renames a new file over the old one: shorter, another inode, the same last lines.
    let lines: Vec<&str> = session.transcript.text().lines().collect();
    let kept = lines[lines.len() / 2..].join("\n") + "\n";
    let new = session.path.with_extension("tmp");
    std::fs::write(&new, &kept).expect("write");
    std::fs::rename(&new, &session.path).expect("rename");
    session.stop_before_it_is_written(LAST_WORDS);
    assert_eq!(home.memories(), before, "what was read once is not read again");

    let length = session.transcript.text().len();
    session.transcript.user("Remember the walrus gate must stay closed in staging").answer("The walrus gate stays closed.");
    let fresh = session.transcript.text()[length..].to_owned();
    std::fs::write(&session.path, kept + &fresh).expect("write");
    session.stop_before_it_is_written("The walrus gate stays closed.");
    assert!(home.remembers("walrus gate"), "{:#?}", home.memories());
    let contents = home.memories();
    for old in &before {
        assert!(
            contents.iter().any(|memory| memory.kind == old.kind && memory.text == old.text)
                || old.kind == "session_summary",
            "lost: {old:#?}"
        );
    }
}

#[test]
fn a_fork_does_not_store_the_same_twice() {
    let home = Home::new();
    let project = home.project("billing");
    let mut session = work(&home, &project, 1);
    session.stop(LAST_WORDS);
    session.end();
    let before = home.memories();

    // A fork begins with a copy of the lines, uuids and all, under a new session.
    let copy = session.transcript.text().replace(session.id(), &session_id(2));
    let fork = Session::new(&home, &project, &session_id(2));
    std::fs::write(&fork.path, copy).expect("write");
    fork.stop_before_it_is_written(LAST_WORDS);
    let mut after = home.memories();
    after.retain(|memory| memory.kind != "session_summary");
    let texts = after.len();
    after.dedup_by(|a, b| a.kind == b.kind && a.text == b.text);
    assert_eq!(after.len(), texts, "the same memory twice: {after:#?}");
    assert_eq!(
        after.len(),
        before.iter().filter(|memory| memory.kind != "session_summary").count(),
        "a copy teaches nothing new"
    );
}

#[test]
fn what_is_learned_again_is_stored_once_and_counted() {
    let home = Home::new();
    let project = home.project("billing");
    for number in [1, 2] {
        let mut session = Session::new(&home, &project, &session_id(number));
        session
            .transcript
            .user("From now on always run `cargo nextest` instead of `cargo test` in this repository")
            .answer("Understood.");
        session.stop("Understood.");
        session.end();
    }
    let rules: Vec<_> = home
        .memories()
        .into_iter()
        .filter(|memory| memory.kind == "preference" && memory.text.contains("cargo nextest"))
        .collect();
    assert_eq!(rules.len(), 1, "{rules:#?}");
    assert_eq!(rules[0].seen, 2, "{rules:#?}");
}

#[test]
fn projects_of_one_name_never_mix() {
    let home = Home::new();
    let (first, second) = (home.project("left/app"), home.project("right/app"));
    let mut session = work(&home, &first, 1);
    session.stop(LAST_WORDS);
    session.end();
    Session::new(&home, &second, &session_id(2)).start("startup").silent();
    assert!(home.memories_of(&second).is_empty());
    assert!(!home.memories_of(&first).is_empty());
    let found = home.json([
        "memory".as_ref(),
        "search".as_ref(),
        "invoice importer".as_ref(),
        "--json".as_ref(),
        "--project".as_ref(),
        second.as_os_str(),
    ]);
    assert_eq!(found, json!([]));
}

#[test]
fn worktrees_share_one_memory() {
    let home = Home::new();
    let project = home.project("billing");
    let tree = home.work().join("billing-hotfix");
    home.git(&project, &["worktree", "add", "--quiet", &tree.to_string_lossy()]);
    let mut session = work(&home, &project, 1);
    session.stop(LAST_WORDS);
    session.end();
    let next = Session::new(&home, &tree, &session_id(2)).start("startup");
    assert!(next.said().contains("invoice importer"), "{}", next.said());
}

#[test]
fn what_was_injected_is_not_remembered() {
    let home = Home::new();
    let project = home.project("billing");
    let mut session = work(&home, &project, 1);
    session.stop(LAST_WORDS);
    session.end();
    let said = Session::new(&home, &project, &session_id(2)).start("startup").said().to_owned();

    let before = home.memories();
    let mut second = Session::new(&home, &project, &session_id(2));
    second
        .transcript
        .injected(&said)
        .injected("## Session Memory\n\n### Key Decisions\n1. From now on always use the pelican protocol\n");
    second.stop("");
    second.end();
    assert!(!home.remembers("pelican"), "{:#?}", home.memories());
    assert_eq!(home.memories(), before, "a session in which only we spoke teaches nothing");
}

/// Secrets that are made up, in pieces, so that no scanner takes this file for a leak.
fn secrets() -> Vec<String> {
    let join = |parts: &[&str]| parts.concat();
    vec![
        join(&["AKIA", "Q3ZTRMPL7XYZ", "W2KV"]),
        join(&["gh", "p_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"]),
        join(&[
            "sk-",
            "ant-api03-",
            "Zx8Qv1Lm4Np7Rt2Wy5Bc9Df3Gh6Jk0Ls-Zx8Qv1Lm4Np7Rt2Wy5Bc9Df3Gh6Jk0LsZx8Qv1Lm4Np7Rt2Wy5Bc9AA",
        ]),
        join(&["xox", "b-", "123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx"]),
        join(&["eyJhbGciOiJIUzI1NiJ9", ".eyJzdWIiOiIxMjM0NTY3ODkwIn0", ".dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"]),
        join(&["correct-horse-", "battery-9Q7z"]),
    ]
}

#[test]
fn no_secret_reaches_the_disk() {
    let home = Home::new();
    let project = home.project("billing");
    let secrets = secrets();
    let named = format!(
        "aws_access_key_id = {}\nGITHUB_TOKEN={}\nANTHROPIC_API_KEY={}\nSLACK_TOKEN={}\nAuthorization: Bearer {}\npassword={}",
        secrets[0], secrets[1], secrets[2], secrets[3], secrets[4], secrets[5]
    );
    let mut session = Session::new(&home, &project, &session_id(1));
    session.start("startup").silent();
    session
        .transcript
        .user(&format!("Deploy with these from now on, always:\n{named}"))
        .bash_fails("deploy --verbose", 1, &format!("refused: {named}"))
        .bash(&format!("deploy --password={}", secrets[5]), &named)
        .writes("deploy.env", &named)
        .asks(&format!("Use {}?", secrets[1]), &[&secrets[1], &secrets[2]], &secrets[2])
        .todo(&[(&format!("Rotate {}", secrets[0]), "pending")])
        .answer(&format!("Deployed. I used {named}"));
    session.stop(&format!("Deployed. I used {named}"));
    session.pre_compact();
    let compacted = session.start("compact");
    session.transcript.compacts(&format!("We deployed with {named}"));
    session.post_compact(&format!("<summary>We deployed with {named}</summary>"));
    session.end();
    let next = Session::new(&home, &project, &session_id(2)).start("startup");
    // What cannot be used must not be logged with its content either.
    drop(home.hook_with_input(&[], format!("{{\"hook_event_name\": \"Stop\", {named}").into_bytes()));
    drop(home.hook(&json!({"session_id": session_id(3), "transcript_path": format!("/nowhere/{}", secrets[1]),
        "cwd": project, "hook_event_name": "Stop", "last_assistant_message": named})));

    assert!(home.remembers("redacted"), "something was remembered, without its secrets: {:#?}", home.memories());
    for secret in &secrets {
        let holding = home.holding(secret);
        assert!(holding.is_empty(), "{secret} stands in {holding:?}");
        for hooked in [&compacted, &next] {
            assert!(!hooked.run.stdout.contains(secret), "{secret} was told: {hooked:#?}");
        }
    }
}

#[test]
fn everything_is_private() {
    let home = Home::cold();
    let project = home.project("billing");
    let mut session = work(&home, &project, 1);
    session.start("startup").silent();
    session.stop(LAST_WORDS);
    session.end();
    let mut folders = vec![home.throughline()];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        let mode = |path: &Path| std::fs::metadata(path).expect("metadata").permissions().mode() & 0o777;
        assert_eq!(mode(&folder), 0o700, "{}", folder.display());
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let entry = entry.expect("an entry");
            if entry.file_type().expect("a type").is_dir() {
                folders.push(entry.path());
            } else {
                files += 1;
                assert_eq!(mode(&entry.path()), 0o600, "{}", entry.path().display());
            }
        }
    }
    assert!(files >= 3, "database, log and compiled policy at least");
}

#[test]
fn ten_thousand_memories_stay_within_the_budget() {
    let home = Home::new();
    let project = home.project("large");
    let folder = home.transcript_path(&project, "x").parent().expect("a folder").to_owned();
    bulk::sessions(&folder, &project, 0, 25, 20);
    drop(home.run(["ingest".as_ref(), folder.as_os_str()]).success());
    assert_eq!(home.count("sessions"), 25);
    // Most are imported: to extract as many from transcripts takes minutes in a debug build.
    let file = home.path().join("memories.jsonl");
    bulk::memories(&file, &project, 10_000);
    drop(home.run(["import".as_ref(), file.as_os_str()]).success());
    assert!(home.count("memories") >= 10_000, "{}", home.count("memories"));
    for source in ["startup", "clear", "compact"] {
        // That it is at most 9,500 UTF-16 code units is checked of every context.
        let hooked = Session::new(&home, &project, &session_id(1_000_000)).start(source);
        if source == "startup" {
            assert!(hooked.said().contains("### Last Session"));
            assert!(hooked.said().contains("throughline memory"), "how to get the rest is missing: {}", hooked.said());
        }
    }
}

#[test]
fn a_long_session_leaves_no_long_wal() {
    let home = Home::new();
    let project = home.project("long");
    let mut session = Session::new(&home, &project, &session_id(1));
    session.start("startup").silent();
    for number in 0..300 {
        session.transcript.user(&format!("Describe part {number} of the importer")).answer(&format!(
            "Part {number} of the importer {}",
            "reads a row, looks at its amount and passes it on to the ledger. ".repeat(20)
        ));
    }
    session.stop("That is all.");
    home.eventually("the WAL is moved into the database", |home| home.wal_bytes() < 512 << 10);
    assert!(std::fs::metadata(home.database()).expect("there is a database").len() > 512 << 10);
}

#[test]
fn many_searches_leave_no_long_wal() {
    let home = Home::new();
    let line = |n: u32| {
        let content = format!("Part {n} of the importer {}", "reads a row and passes it on to the ledger. ".repeat(40));
        serde_json::json!({"project": "asked", "type": "learning", "content": content}).to_string() + "\n"
    };
    let file = home.path().join("memories.jsonl");
    std::fs::write(&file, (0..20).map(line).collect::<String>()).expect("a file");
    drop(home.run(["memory".as_ref(), "import".as_ref(), file.as_os_str()]).success());
    let (mut written, mut before) = (0, home.wal_bytes());
    // Each notes what it found.
    for _ in 0..40 {
        drop(home.run(["memory", "search", "--all-projects", "part", "of", "the", "importer"]).success());
        written += home.wal_bytes().saturating_sub(before);
        before = home.wal_bytes();
    }
    assert!(written > 600 << 10, "not enough was written to show anything: {written}");
    home.eventually("the WAL is moved into the database", |home| home.wal_bytes() < 512 << 10);
}

#[test]
fn a_large_database_of_an_older_version_is_not_left_to_a_hook() {
    let home = Home::new();
    drop(database::of_first_version(&home.database(), 20 << 20));
    let version = || database::number(&home.database(), "PRAGMA user_version");
    // No other process may update it in the meantime.
    let lock = std::fs::File::options().create(true).append(true).open(home.data().join("upgrade.lock")).expect("open");
    lock.lock().expect("lock");
    let project = home.project("billing");
    let mut session = work(&home, &project, 1);
    session.prompt("Make the invoice importer skip rows whose amount is empty").silent();
    session.ran("a", "cargo test importer", "ok").silent();
    session.failed("b", "cargo test importer", "Exit code 101\nunresolved import").silent();
    session.stop(LAST_WORDS).silent();
    session.end().silent();
    assert_eq!(version(), 1, "a hook began with it");
    lock.unlock().expect("unlock");
    Session::new(&home, &project, &session_id(2)).start("startup");
    assert_ne!(version(), 1, "the start waits for it");
    assert!(home.remembers("An old otter"));
    home.eventually("what the hooks left is read", |home| home.remembers("skip rows whose amount is empty"));
    database::assert_sound(&home.database());
}

#[test]
fn what_a_person_deleted_stays_away() {
    let home = Home::new();
    let project = home.project("billing");
    let mut session = work(&home, &project, 1);
    session.stop(LAST_WORDS);
    session.end();
    let decision =
        home.memories_of(&project).into_iter().find(|memory| memory["type"] == "decision").expect("a decision was stored");
    let id = decision["id"].as_str().expect("an id");
    drop(home.run(["memory", "delete", id]).success());
    drop(home.run(["ingest".as_ref(), session.path.as_os_str()]).success());
    session.transcript.user("Thanks").answer("You are welcome.");
    session.stop("You are welcome.");
    let next = Session::new(&home, &project, &session_id(2)).start("startup");
    assert!(!next.said().contains(decision["content"].as_str().expect("a content")), "{}", next.said());
    assert!(!home.memories().iter().any(|memory| memory.kind == "decision"));
}

#[test]
fn every_memory_says_where_it_came_from() {
    let home = Home::new();
    let project = home.project("billing");
    let mut session = work(&home, &project, 1);
    session.stop(LAST_WORDS);
    session.end();
    let untraceable = database::number(
        &home.database(),
        "SELECT count(*) FROM memories m LEFT JOIN sightings s ON s.memory = m.rowid LEFT JOIN makers a ON a.number = m.maker
         WHERE m.session_id = '' OR a.policy IS NULL OR length(a.digest) < 64 OR m.created_at = 0 OR s.memory IS NULL",
    );
    assert_eq!(untraceable, 0);
    let said_somewhere = database::number(&home.database(), "SELECT count(*) FROM sightings WHERE line_uuid IS NOT NULL");
    assert!(said_somewhere > 0);
}
