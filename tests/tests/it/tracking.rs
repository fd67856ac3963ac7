//! Tracking of a running session: tools, prompts, failures, sub-agents and ends of turns become events, exactly once whatever
//! happens in between; and the agent is shown known failures.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tests::database;
use tests::faults;
use tests::home::{Home, check_hook};
use tests::process;
use tests::session::Session;
use tests::transcript::session_id;

fn home() -> (Home, PathBuf) {
    let home = Home::new();
    let project = home.project("shop");
    (home, project)
}

/// The tool uses of a session that are stored.
fn observations(home: &Home, session: &str) -> Vec<Value> {
    database::events(&home.database(), session).into_iter().filter(|event| event["type"] == "tool_observation").collect()
}

fn summaries(home: &Home, session: &str) -> Vec<String> {
    observations(home, session).iter().map(|event| event["summary"].as_str().unwrap_or_default().to_owned()).collect()
}

fn journal(home: &Home) -> PathBuf {
    home.data().join("journal")
}

#[test]
fn each_use_of_a_tool_becomes_an_observation_at_the_end_of_the_turn() {
    let (home, project) = home();
    let mut session = Session::new(&home, &project, &session_id(1));
    session.start("startup");
    session.prompt("Make the retries configurable");
    let file = project.join("src/pay.rs");
    session.edited("t1", &file, "retries = 3", "retries = config.retries");
    session.ran("t2", "cargo test -p pay", "test result: ok. 12 passed");
    session.failed("t3", "cargo clippy", "Exit code 101\nerror: unused variable: `x`").silent();
    let lines: Vec<String> = (0..20_000).map(|number| format!("line {number}")).collect();
    let long = lines.join("\n");
    session.ran("t4", "cat big.log", &long);
    assert!(observations(&home, session.id()).is_empty(), "hooks inside the loop leave the database alone");
    session.transcript.user("Make the retries configurable").answer("Done.");
    session.stop("The retries are configurable now.\nShall I document them?");

    assert_eq!(
        summaries(&home, session.id()),
        [
            "Edited src/pay.rs (+1 −1)",
            "Ran `cargo test -p pay`: ok",
            "Ran `cargo clippy`: exit 101",
            "Ran `cat big.log`: ok"
        ]
    );
    let seen = observations(&home, session.id());
    assert_eq!(seen[0]["files"], json!(["src/pay.rs"]));
    assert_eq!(seen[0]["duration"], 7);
    assert_eq!((seen[1]["failed"].clone(), seen[2]["failed"].clone()), (json!(false), json!(true)));
    let detail = seen[3]["detail"].as_str().unwrap();
    assert!(detail.len() <= 10 << 10 && detail.lines().count() <= 100, "{}", detail.len());
    assert!(detail.starts_with("line 0\n") && detail.contains("line 19999"), "{detail}");

    let events = database::events(&home.database(), session.id());
    let prompt = events.iter().find(|event| event["type"] == "user_prompt").unwrap();
    assert_eq!(prompt["detail"], "Make the retries configurable");
    let stop = events.iter().find(|event| event["type"] == "stop").unwrap();
    assert_eq!(stop["summary"], "The retries are configurable now.");
    assert_eq!(stop["files"], json!(["src/pay.rs"]));
    assert!(stop["attributes"].as_array().unwrap().contains(&json!(["tools", "4"])), "{stop}");
    assert!(stop["duration"].is_u64());
    assert!(!journal(&home).join(format!("{}.jsonl", session.id())).exists());
    database::assert_sound(&home.database());
}

#[test]
fn repeated_reads_are_one_and_nothing_is_stored_twice() {
    let (home, project) = home();
    let mut session = Session::new(&home, &project, &session_id(1));
    session.start("startup");
    let file = project.join("a.rs");
    let read = |id: &str| {
        let content = json!({"type": "text", "file": {"filePath": file, "content": "fn a() {}\n", "numLines": 1, "startLine": 1, "totalLines": 1}});
        home.hook(&session.use_of(id, "Read", &json!({"file_path": file}), &content)).silent();
    };
    for id in ["r1", "r2", "r3", "r2"] {
        read(id);
    }
    session.edited("e1", &file, "fn a", "fn b");
    read("r4");
    read("e1");
    // A batch reports the same tool calls again, and one that had no event of its own.
    let batch = json!({"tool_calls": [
        {"tool_name": "Read", "tool_use_id": "r4", "tool_input": {"file_path": file}, "tool_response": "fn b() {}"},
        {"tool_name": "Nonesuch", "tool_use_id": "n1", "tool_input": {}, "tool_response": "<tool_use_error>Error: No such tool available: Nonesuch</tool_use_error>"},
    ]});
    home.hook(&session.payload("PostToolBatch", &batch)).silent();
    session.transcript.user("Look at a.rs").answer("Looked.");
    session.stop("Looked.");
    let seen = observations(&home, session.id());
    let told: Vec<(&str, i64)> =
        seen.iter().map(|event| (event["summary"].as_str().unwrap(), event["times"].as_i64().unwrap())).collect();
    assert_eq!(
        told,
        [("Read a.rs: fn a() {}", 3), ("Edited a.rs (+1 −1)", 1), ("Read a.rs: fn a() {}", 1), ("Nonesuch: failed", 1)]
    );
    session.stop("Again.");
    assert_eq!(observations(&home, session.id()).len(), 4);
}

#[test]
fn a_failure_of_session_one_is_warned_of_in_session_two() {
    let (home, project) = home();
    let mut first = Session::new(&home, &project, &session_id(1));
    first.start("startup");
    let error = "Exit code 1\nerror: could not connect to postgres at 127.0.0.1:5432 after 31 ms";
    first.failed("t1", "make migrate", error).silent();
    first.edited("t2", &project.join("compose.yaml"), "postgres: off", "postgres: on");
    first.ran("t3", "make migrate", "done");
    first.transcript.user("Migrate the database").answer("Migrated.");
    first.stop("Migrated.");
    first.end();

    let second = Session::new(&home, &project, &session_id(2));
    second.start("startup");
    let again = "Exit code 1\nerror: could not connect to postgres at 10.0.0.7:5432 after 9 ms";
    let warned = second.failed("u1", "make migrate", again);
    let said = warned.said();
    assert!(said.contains("happened before") && said.contains("Edited compose.yaml"), "{said}");
    let answer: Value = serde_json::from_str(&warned.run.stdout).unwrap();
    assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "PostToolUseFailure");
    second.failed("u2", "make lint", "Exit code 1\nerror: something else entirely").silent();
    home.hook(&second.payload("SessionEnd", &json!({"reason": "other"}))).silent();

    // It came back, so it is a memory: found by its words, in a third session.
    assert!(home.remembers("could not connect to postgres"), "{:#?}", home.memories());
    let third = Session::new(&home, &project, &session_id(3));
    let told = third.prompt("make migrate cannot connect to postgres, what was that?");
    assert!(told.said().contains("compose.yaml"), "{}", told.said());
    database::assert_sound(&home.database());
}

#[test]
fn a_prompt_is_answered_once_with_what_is_remembered_of_its_matter() {
    let (home, project) = home();
    let mut first = Session::new(&home, &project, &session_id(1));
    first
        .transcript
        .user("Which queue do we take for the invoices?")
        .asks("Which queue for the invoices?", &["RabbitMQ", "Kafka"], "RabbitMQ")
        .answer("RabbitMQ it is for the invoices queue.");
    first.stop("RabbitMQ it is for the invoices queue.");
    first.end();

    let second = Session::new(&home, &project, &session_id(2));
    let told = second.prompt("How do the invoices get into the queue?");
    let said = told.said();
    assert!(said.contains("RabbitMQ"), "{said}");
    assert!(said.encode_utf16().count() <= 2_000);
    let answer: Value = serde_json::from_str(&told.run.stdout).unwrap();
    assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "UserPromptSubmit");
    let again = second.prompt("How do the invoices get into the queue?");
    assert!(!again.context.unwrap_or_default().contains("RabbitMQ"), "it was shown already");
    for nothing in ["ok", "계속", "/compact", "<task-notification>\n<task-id>b1</task-id>", "", "Write a poem about otters"]
    {
        second.prompt(nothing).silent();
    }
    // The context in which it was shown is gone: now it may be said again.
    home.hook(&second.payload("SessionStart", &json!({"source": "compact"})));
    assert!(second.prompt("How do the invoices get into the queue?").said().contains("RabbitMQ"));
    // Another project is told nothing.
    let elsewhere = home.project("other");
    Session::new(&home, &elsewhere, &session_id(3)).prompt("How do the invoices get into the queue?").silent();
}

#[test]
fn a_checkpoint_is_asked_for_once_when_the_context_is_nearly_full() {
    let (home, project) = home();
    std::fs::create_dir_all(home.throughline().join("config")).unwrap();
    std::fs::write(
        home.throughline().join("config/config.toml"),
        "[checkpoint]\nmode = \"ask\"\nby = \"tokens\"\ncontext_window = 50000\n",
    )
    .unwrap();
    let session = Session::new(&home, &project, &session_id(1));
    std::fs::create_dir_all(session.path.parent().unwrap()).unwrap();
    let used = |tokens: u64| {
        let usage = json!({"input_tokens": 5, "cache_read_input_tokens": tokens, "output_tokens": 20});
        let line = json!({"type": "assistant", "isSidechain": false, "message": {"role": "assistant", "content": [], "usage": usage}});
        std::fs::write(&session.path, format!("{line}\n")).unwrap();
    };
    let run = |id: &str| home.hook(&session.use_of(id, "Bash", &json!({"command": "make"}), &json!({"stdout": "ok"})));
    // 50,000 - 20,000 - 4,000.
    used(25_900);
    run("t1").silent();
    used(26_000);
    assert!(run("t2").said().contains("throughline memory save --session"));
    run("t3").silent();
    home.hook(&session.payload("PostCompact", &json!({"trigger": "auto", "compact_summary": "x"}))).silent();
    assert!(run("t4").said().contains("throughline memory save --session"));
}

#[test]
fn nothing_secret_and_nothing_excluded_is_noted_down() {
    const SECRET: &str = "hunter2Otter9";
    let (home, project) = home();
    std::fs::create_dir_all(home.throughline().join("config")).unwrap();
    std::fs::write(
        home.throughline().join("config/config.toml"),
        "[privacy]\nexclude_paths = [\"diary/\"]\nexclude_tools = [\"mcp__mail__*\"]\nexclude_patterns = [\"Falcon\"]\n",
    )
    .unwrap();
    let mut session = Session::new(&home, &project, &session_id(1));
    session.start("startup");
    session.prompt(&format!("use password={SECRET} for the staging database"));
    session.ran("t1", &format!("mysql -uroot -p{SECRET} shop"), &format!("DB_PASSWORD={SECRET}\n"));
    session.failed("t2", "make login", &format!("Exit code 1\nerror: password={SECRET} was refused")).silent();
    session.ran("t3", "cat diary/monday.txt", "Dear diary, otter");
    session.ran("t4", "echo Falcon", "Project Falcon is go");
    let mail = session.use_of("t5", "mcp__mail__read", &json!({"id": 7}), &json!([{"type": "text", "text": "Dear otter"}]));
    home.hook(&mail).silent();
    let padding = "x".repeat(300 << 10);
    session.ran("t6", "cat notes", &format!("<private>my otter\n{padding}\nmy otter again</private>\nend"));
    let read = |home: &Home| {
        home.files()
            .into_iter()
            .filter(|(path, _)| !path.ends_with("config.toml") && !path.ends_with("config.last-good.toml"))
            .collect::<Vec<_>>()
    };
    for stage in ["in the journal", "in the database"] {
        for (path, bytes) in read(&home) {
            let text = String::from_utf8_lossy(&bytes);
            for word in [SECRET, "Dear", "Falcon", "my otter"] {
                assert!(!text.contains(word), "{word} stands {stage}: {}", path.display());
            }
        }
        session.transcript.user("hello").answer("hello");
        session.stop("hello");
    }
    assert_eq!(observations(&home, session.id()).len(), 4);
}

#[test]
fn a_sub_agent_is_tied_to_its_session() {
    let (home, project) = home();
    let mut session = Session::new(&home, &project, &session_id(1));
    session.start("startup");
    let folder = session.path.with_extension("").join("subagents");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("agent-a1.jsonl");
    let mut own = Session::new(&home, &project, session.id());
    own.transcript
        .user("Find out why the build fails")
        .bash_fails("make build", 2, "make: *** missing separator in Makefile line 3. Stop.")
        .says("The recipe is indented with spaces; make needs a tab.")
        .edits(&project.join("Makefile").to_string_lossy(), "    cc x.c", "\tcc x.c")
        .bash("make build", "ok")
        .answer("The build works: the Makefile needs tabs.");
    own.transcript.append_to(&path);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut marked = String::new();
    for line in text.lines() {
        let mut line: Value = serde_json::from_str(line).unwrap();
        line["isSidechain"] = json!(true);
        line["agentId"] = json!("a1");
        marked.push_str(&line.to_string());
        marked.push('\n');
    }
    std::fs::write(&path, marked).unwrap();
    let done = |id: &str, kind: &str, path: &Path| {
        session.payload(
            "SubagentStop",
            &json!({"stop_hook_active": false, "agent_id": id, "agent_type": kind, "agent_transcript_path": path,
                "last_assistant_message": "The build works: the Makefile needs tabs."}),
        )
    };
    home.hook(&done("a1", "Explore", &path)).silent();
    // The agent's own fork: nothing of anybody's.
    home.hook(&done("f1", "", &folder.join("agent-f1.jsonl"))).silent();
    home.eventually("what the sub-agent learned is stored", |home| home.remembers("Build: `make build`"));
    session.transcript.user("Have the build mended").answer("It is.");
    session.stop("It is.");
    let events = database::events(&home.database(), session.id());
    let ended: Vec<&Value> = events.iter().filter(|event| event["type"] == "subagent_stop").collect();
    assert_eq!(ended.len(), 1);
    assert_eq!(ended[0]["summary"], "Explore: The build works: the Makefile needs tabs.");
    assert_eq!(ended[0]["agent"], "a1");
    let learned = home.memories().into_iter().find(|memory| memory.kind == "convention").unwrap();
    assert_eq!(learned.session, session.id());
    assert!(!home.memories().iter().any(|memory| memory.text.contains("Find out why")), "its prompt is no human's");
    assert_eq!(database::number(&home.database(), "SELECT count(*) FROM session_history"), 1);
}

#[test]
fn an_error_of_the_api_ends_a_turn_too() {
    let (home, project) = home();
    let mut session = Session::new(&home, &project, &session_id(1));
    session.start("startup");
    session.prompt("Do it");
    session.transcript.user("Do it");
    session.transcript.append_to(&session.path);
    home.hook(&session.payload("StopFailure", &json!({"error": "overloaded", "last_assistant_message": "API Error: 529"})))
        .silent();
    let events = database::events(&home.database(), session.id());
    let failed = events.iter().find(|event| event["type"] == "stop_failure").unwrap();
    assert_eq!((failed["summary"].as_str(), failed["failed"].as_bool()), (Some("API Error: 529"), Some(true)));
}

#[test]
fn a_journal_that_a_crash_left_is_taken_up_at_the_next_start() {
    let (home, project) = home();
    let session = Session::new(&home, &project, &session_id(1));
    session.ran("t1", "make one", "ok");
    session.ran("t2", "make two", "ok");
    let file = journal(&home).join(format!("{}.jsonl", session.id()));
    let mut out = std::fs::File::options().append(true).open(&file).unwrap();
    out.write_all(b"\n{\"kind\":\"tool_observation\",\"key\":\"t3\",\"seen\":{\"summ").unwrap();
    drop(out);
    session.ran("t4", "make four", "ok");
    // Taken, and the process that took it was killed before it had stored it.
    std::fs::rename(&file, journal(&home).join(format!("{}.00000000000000000001-1.taken", session.id()))).unwrap();
    session.ran("t5", "make five", "ok");

    Session::new(&home, &project, &session_id(2)).start("startup");
    assert_eq!(
        summaries(&home, session.id()),
        ["Ran `make one`: ok", "Ran `make two`: ok", "Ran `make four`: ok", "Ran `make five`: ok"]
    );
    assert!(std::fs::read_dir(journal(&home)).unwrap().flatten().all(|entry| {
        let is_count = entry.path().extension().is_some_and(|ending| ending == "uses");
        is_count || !entry.file_name().to_string_lossy().starts_with(session.id())
    }));
    assert!(home.log().contains("torn"), "{}", home.log());
}

/// How many hooks of one session run at the same instant.
const AT_ONCE: usize = 64;

/// Reports as many uses of tools at once, and returns the summaries of the observations that must come of them.
fn use_many_at_once(home: &Home, session: &mut Session) -> Vec<String> {
    let payloads: Vec<Value> = (0..AT_ONCE)
        .map(|number| {
            let response = json!({"stdout": format!("{number}\n").repeat(200), "stderr": ""});
            session.use_of(&format!("t{number}"), "Bash", &json!({"command": format!("make target{number}")}), &response)
        })
        .collect();
    let mut children = Vec::new();
    for payload in &payloads {
        let mut command = home.command(["hook", "memory-track"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        children.push(child);
    }
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
    }
    let mut wanted: Vec<String> = (0..AT_ONCE).map(|number| format!("Ran `make target{number}`: ok")).collect();
    wanted.sort();
    wanted
}

#[test]
fn many_hooks_of_one_session_at_once() {
    let (home, project) = home();
    let mut session = Session::new(&home, &project, &session_id(1));
    session.start("startup");
    let wanted = use_many_at_once(&home, &mut session);
    session.transcript.user("Make all targets").answer("Made.");
    session.stop("Made.");
    home.eventually("all of them are stored", |home| observations(home, session.id()).len() >= AT_ONCE);
    let mut seen = summaries(&home, session.id());
    seen.sort();
    assert_eq!(seen, wanted);
    assert!(!home.log().contains("locked"), "{}", home.log());
    database::assert_sound(&home.database());
}

#[test]
fn many_hooks_before_the_policy_is_compiled_lose_nothing() {
    let home = Home::cold();
    let project = home.project("shop");
    let mut session = Session::new(&home, &project, &session_id(1));
    let wanted = use_many_at_once(&home, &mut session);
    assert!(home.log().contains("the default policy is not compiled yet"), "{}", home.log());
    session.transcript.user("Make all targets").answer("Made.");
    session.stop("Made.");
    // What came after the end of the turn is stored by the next session.
    let next = std::cell::Cell::new(2);
    home.eventually("all of them are stored", |home| {
        Session::new(home, &project, &session_id(next.replace(next.get() + 1))).start("startup");
        home.database().exists() && observations(home, session.id()).len() >= AT_ONCE
    });
    let mut seen = summaries(&home, session.id());
    seen.sort();
    assert_eq!(seen, wanted);
    database::assert_sound(&home.database());
}

#[test]
fn hooks_that_are_killed_lose_only_themselves() {
    let (home, project) = home();
    let mut session = Session::new(&home, &project, &session_id(1));
    session.start("startup");
    for number in 0..40_u64 {
        let payload = session.use_of(
            &format!("k{number}"),
            "Bash",
            &json!({"command": format!("make k{number}")}),
            &json!({"stdout": "x".repeat(9_000), "stderr": ""}),
        );
        let mut command = home.command(["hook", "memory-track"]);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        std::thread::sleep(Duration::from_micros(number * 300));
        process::kill_now(child.id());
        drop(child.wait());
        session.ran(&format!("s{number}"), &format!("make s{number}"), "ok");
    }
    session.transcript.user("Make").answer("Made.");
    session.stop("Made.");
    home.eventually("those that were let live are stored", |home| {
        summaries(home, session.id()).iter().filter(|summary| summary.contains("make s")).count() == 40
    });
    let mut all = summaries(&home, session.id());
    all.sort();
    let count = all.len();
    all.dedup();
    assert_eq!(all.len(), count, "none is there twice");
    database::assert_sound(&home.database());
}

#[test]
fn a_full_disk_costs_observations_and_nothing_else() {
    let (home, project) = home();
    let Some(disk) = faults::small_disk(&home.throughline(), 64 << 20) else {
        tests::skip("a_full_disk_costs_observations_and_nothing_else", "this user may not mount a disk");
        return;
    };
    // The disk took the place of the compiled policy, too.
    home.compile();
    let mut session = Session::new(&home, &project, &session_id(1));
    session.start("startup");
    session.ran("t1", "make one", "ok");
    let filler = faults::fill(&home.throughline()).expect("it is small");
    for number in 0..5 {
        let payload = session.use_of(
            &format!("f{number}"),
            "Bash",
            &json!({"command": "make more"}),
            &json!({"stdout": "y".repeat(8_000), "stderr": ""}),
        );
        let run = home.hook_with_input(&["memory-track"], payload.to_string().into_bytes());
        assert_eq!(check_hook("PostToolUse", &run), None);
    }
    filler.mend();
    session.ran("t2", "make two", "ok");
    session.transcript.user("Make").answer("Made.");
    session.stop("Made.");
    let seen = summaries(&home, session.id());
    assert!(seen.contains(&"Ran `make one`: ok".to_owned()) && seen.contains(&"Ran `make two`: ok".to_owned()), "{seen:?}");
    database::assert_sound(&home.database());
    disk.mend();
}

/// What the real client sent, to every name that a hook may be called by.
#[test]
fn every_captured_payload_through_every_hook() {
    const NAMES: [&str; 9] = [
        "",
        "memory-load",
        "memory-flush",
        "memory-save",
        "memory-track",
        "memory-failure",
        "memory-search",
        "memory-complete",
        "memory-subagent",
    ];
    let Some(corpus) = tests::corpus("every_captured_payload_through_every_hook") else { return };
    let captured = corpus.join("../real-client/captured");
    let home = Home::new();
    let mut seen = 0;
    for scenario in std::fs::read_dir(captured).unwrap().flatten() {
        let Ok(hooks) = std::fs::read_dir(scenario.path().join("hooks")) else { continue };
        for file in hooks.flatten() {
            let bytes = std::fs::read(file.path()).unwrap();
            let Ok(payload) = serde_json::from_slice::<Value>(&bytes) else { continue };
            let event = payload["hook_event_name"].as_str().unwrap_or_default();
            for name in NAMES {
                let names: &[&str] = if name.is_empty() { &[] } else { &[name] };
                drop(check_hook(event, &home.hook_with_input(names, bytes.clone())));
                seen += 1;
            }
        }
    }
    assert!(seen > 500, "{seen}");
    // A machine that stands still for seconds is not the payload's fault.
    let is_late = |line: &&str| line.contains("took too long") || line.contains("at its deadline");
    let log = home.log();
    let errors: Vec<&str> = log.lines().filter(|line| line.contains("ERROR") && !is_late(line)).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    database::assert_sound(&home.database());
}
