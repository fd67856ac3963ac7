//! What tools did in sessions that no hook saw: it is read from their transcripts, and counted once.

use std::path::Path;

use serde_json::{Value, json};
use tests::home::{Home, run_in};
use tests::process;
use tests::session::Session;
use tests::transcript::{Transcript, session_id};

/// A command in the project's folder, whose output is JSON.
#[track_caller]
fn asked(home: &Home, folder: &Path, arguments: &[&str]) -> Value {
    let mut command = home.command(arguments.iter().chain(&["--json"]));
    command.current_dir(folder);
    let text = process::run(command, Vec::new(), process::WATCHDOG).success().stdout;
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments:?}: not JSON: {error}: {text}"))
}

/// The summaries of the project's observations, oldest first.
#[track_caller]
fn observed(home: &Home, project: &Path) -> Vec<String> {
    let all = asked(home, project, &["timeline", "--limit", "100"]);
    let is_observation = |event: &&Value| event["type"] == "tool_observation";
    all.as_array()
        .expect("a list")
        .iter()
        .filter(is_observation)
        .map(|event| event["summary"].as_str().expect("a summary").to_owned())
        .collect()
}

/// A failure, a change and a success.
fn work(transcript: &mut Transcript) {
    transcript
        .user("Make the otter exporter write headers")
        .bash_fails("cargo test exporter", 101, "error[E0425]: cannot find function `headers` in this scope")
        .edits("src/exporter.rs", "old", "new")
        .bash("cargo test exporter", "test result: ok. 3 passed; 0 failed")
        .answer("The otter exporter writes headers now.");
}

const WORK: [&str; 3] =
    ["Ran `cargo test exporter`: exit 101", "Edited src/exporter.rs (+1 −1)", "Ran `cargo test exporter`: ok"];

/// Writes a transcript where the agent keeps it, and reads it.
fn ingest(home: &Home, project: &Path, transcript: &mut Transcript) -> Value {
    transcript.write_to(&home.transcript_path(project, transcript.session()));
    home.json(["ingest", "--json"])
}

#[test]
fn a_session_before_the_installation_has_its_tool_calls() {
    let home = Home::new();
    let project = home.project("zoo");
    let mut transcript = Transcript::new(&session_id(1), &project);
    work(&mut transcript);
    let report = ingest(&home, &project, &mut transcript);
    assert_eq!(report["totals"]["tool_calls"], 3, "{report:#}");
    assert_eq!(observed(&home, &project), WORK);

    let files = asked(&home, &project, &["files"]);
    assert_eq!((&files[0]["path"], &files[0]["changed"]), (&json!("src/exporter.rs"), &json!(1)), "{files:#}");
    let failures = asked(&home, &project, &["failures"]);
    assert_eq!(failures[0]["subject"], "cargo test exporter", "{failures:#}");
    let fix = failures[0]["fix"].as_str().expect("it was fixed");
    assert!(fix.contains("src/exporter.rs"), "{fix}");
    // The transcript says when it was, not the clock of this reading.
    let timeline = asked(&home, &project, &["timeline"]);
    assert!(timeline[0]["at"].as_str().expect("a time").starts_with("2025-06-02"), "{timeline:#}");
    // They are kept from today on, although they are older than observations are kept.
    assert_eq!(asked(&home, &project, &["observations", "gc"])["dropped"], 0);

    assert_eq!(home.json(["ingest", "--json"])["totals"]["tool_calls"], 0);
    // A copy of the transcript elsewhere is the same session.
    let copy = home.work().join("copy.jsonl");
    std::fs::write(&copy, transcript.text()).expect("write");
    let copied = home.json(["ingest", "--json", copy.to_str().expect("a path")]);
    assert_eq!(copied["totals"]["tool_calls"], 0, "{copied:#}");
    assert_eq!(observed(&home, &project), WORK);
    assert_eq!(asked(&home, &project, &["failures"])[0]["count"], 1);
}

/// The summaries of the project's prompts, oldest first.
#[track_caller]
fn prompted(home: &Home, project: &Path) -> Vec<String> {
    let all = asked(home, project, &["timeline", "--limit", "100"]);
    let prompts = all.as_array().expect("a list").iter().filter(|event| event["type"] == "user_prompt");
    prompts.map(|event| event["summary"].as_str().expect("a summary").to_owned()).collect()
}

#[test]
fn a_session_before_the_installation_has_its_prompts() {
    let home = Home::new();
    let project = home.project("zoo");
    let mut transcript = Transcript::new(&session_id(1), &project);
    work(&mut transcript);
    transcript.user("Feed the walrus\n\nand close the gate").answer("The walrus is fed.");
    ingest(&home, &project, &mut transcript);
    let prompts = ["Make the otter exporter write headers", "Feed the walrus"];
    assert_eq!(prompted(&home, &project), prompts);
    let timeline = asked(&home, &project, &["timeline"]);
    let kinds: Vec<&str> =
        timeline.as_array().expect("a list").iter().map(|event| event["type"].as_str().expect("a type")).collect();
    assert_eq!(
        kinds,
        ["user_prompt", "tool_observation", "tool_observation", "tool_observation", "user_prompt"],
        "{timeline:#}"
    );
    assert!(timeline[4]["at"].as_str().expect("a time").starts_with("2025-06-02"), "{timeline:#}");
    let turns = asked(&home, &project, &["memory", "list", "--type", "turn"]);
    let turn = asked(&home, &project, &["memory", "show", turns[0]["id"].as_str().expect("an id")]);
    assert!(!turn["attributes"].to_string().contains("walrus"), "it is not stored twice: {turn:#}");
    // Neither a second reading nor a copy says it again, nor what was forgotten.
    home.json(["ingest", "--json"]);
    let copy = home.work().join("copy.jsonl");
    std::fs::write(&copy, transcript.text()).expect("write");
    home.json(["ingest", "--json", copy.to_str().expect("a path")]);
    assert_eq!(prompted(&home, &project), prompts);
    drop(run_in(&home, &project, &["memory", "forget", "--match", "walrus", "--yes"]).success());
    let copy = home.work().join("another.jsonl");
    std::fs::write(&copy, transcript.text()).expect("write");
    home.json(["ingest", "--json", copy.to_str().expect("a path")]);
    assert_eq!(prompted(&home, &project), prompts[..1]);
}

#[test]
fn prompts_that_hooks_saw_are_not_read_again() {
    let home = Home::new();
    let project = home.project("zoo");
    let mut session = Session::new(&home, &project, &session_id(1));
    session.exporter("Make the otter exporter write headers");
    home.json(["ingest", "--json"]);
    assert_eq!(prompted(&home, &project), ["Make the otter exporter write headers"]);
}

#[test]
fn what_hooks_saw_is_not_counted_again() {
    let home = Home::new();
    let project = home.project("zoo");
    let mut session = Session::new(&home, &project, &session_id(1));
    // Before the installation.
    work(&mut session.transcript);
    // From now on the hooks see what happens.
    session.transcript.user("Now run the whole suite");
    let input = json!({"command": "cargo test --workspace"});
    let id = session.transcript.calls("Bash", &input);
    let error = "Exit code 101\nerror[E0425]: cannot find function `headers` in this scope";
    session.failed(&id, "cargo test --workspace", error).silent();
    session.transcript.result(&id, error, true, &json!(format!("Error: {error}")));
    session.stop("One test fails.");
    session.end();
    let all = [&WORK[..], &["Ran `cargo test --workspace`: exit 101"]].concat();
    let mut seen = observed(&home, &project);
    seen.sort();
    let mut wanted = all.clone();
    wanted.sort_unstable();
    assert_eq!(seen, wanted);
    home.json(["ingest", "--json"]);
    assert_eq!(observed(&home, &project).len(), 4);
    // Calls that were read in late do not make a session that has ended run again.
    let shown = home.json(["session", "show", session.id(), "--json"]);
    assert_eq!(shown["end_reason"], "other", "{shown:#}");
    let failures = asked(&home, &project, &["failures"]);
    let counts: Vec<_> = failures.as_array().expect("a list").iter().map(|failure| &failure["count"]).collect();
    assert_eq!(counts, [1, 1], "one failure of each command: {failures:#}");
}

#[test]
fn hooks_and_transcripts_make_the_same_observations() {
    let (seen_by_hooks, read_later) = (Home::new(), Home::new());
    let error = "error[E0425]: cannot find function `headers` in this scope";
    let signature = |home: &Home, project: &Path| {
        let failures = asked(home, project, &["failures"]);
        (failures[0]["signature"].clone(), failures[0]["fix"].clone(), observed(home, project))
    };
    let project = seen_by_hooks.project("zoo");
    let session = Session::new(&seen_by_hooks, &project, &session_id(1));
    session.failed("t1", "cargo test exporter", &format!("Exit code 101\n{error}"));
    session.edited("t2", &project.join("src/exporter.rs"), "old", "new");
    session.ran("t3", "cargo test exporter", "test result: ok. 3 passed; 0 failed");
    let hooked = signature(&seen_by_hooks, &project);
    let project = read_later.project("zoo");
    let mut transcript = Transcript::new(&session_id(1), &project);
    work(&mut transcript);
    ingest(&read_later, &project, &mut transcript);
    assert_eq!(hooked, signature(&read_later, &project));
}

#[test]
fn a_sub_agents_folder_is_read_with_its_session() {
    for by_ingest in [true, false] {
        let home = Home::new();
        let project = home.project("zoo");
        let id = session_id(1);
        let mut transcript = Transcript::new(&id, &project);
        transcript.user("Count the otters").answer("A sub-agent counts them.");
        let path = home.transcript_path(&project, &id);
        transcript.write_to(&path);
        let mut sub = Transcript::new(&id, &project);
        sub.user("Count them").bash("wc -l otters.txt", "7 otters.txt");
        let text = sub.text().replace("\"isSidechain\":false", "\"isSidechain\":true,\"agentId\":\"a7\"");
        let folder = path.with_extension("").join("subagents");
        std::fs::create_dir_all(&folder).expect("create");
        std::fs::write(folder.join("agent-a7.jsonl"), text).expect("write");
        if by_ingest {
            home.json(["ingest", "--json"]);
        } else {
            Session::new(&home, &project, &session_id(2)).start("startup");
            home.eventually("the sub-agent's calls", |home| observed(home, &project).len() == 1);
        }
        assert_eq!(observed(&home, &project), ["Ran `wc -l otters.txt`: ok"], "by ingest: {by_ingest}");
        let found = asked(&home, &project, &["observations", "search", "otters"]);
        assert_eq!(found[0]["session_id"], id.as_str(), "{found:#}");
    }
}

#[test]
fn what_gemini_calls_otherwise_is_the_same_call() {
    let home = Home::new();
    let project = home.project("zoo");
    let folder = home.path().join(".gemini/tmp/0a1b/chats");
    std::fs::create_dir_all(&folder).expect("create");
    std::fs::write(folder.parent().expect("a parent").join(".project_root"), project.to_str().expect("a path"))
        .expect("write");
    let id = session_id(3);
    let chat = folder.join("session-2026-11-22T22-57-00000003.jsonl");
    let call = |id: &str, command: &str, second: u32| {
        json!({"id": format!("m{second}"), "timestamp": format!("2026-11-22T22:57:{second:02}.000Z"), "type": "gemini", "content": "",
            "toolCalls": [{"id": id, "name": "run_shell_command", "args": {"command": command}, "status": "success",
                "result": [{"functionResponse": {"id": id, "response": {"output": "Output: fine\nExit Code: 0"}}}]}]})
    };
    let head = json!({"sessionId": id, "projectHash": "h", "startTime": "2026-11-22T22:57:00.000Z", "lastUpdated": "2026-11-22T22:57:00.000Z"});
    let prompt =
        json!({"id": "m0", "timestamp": "2026-11-22T22:57:01.000Z", "type": "user", "content": [{"text": "Make it"}]});
    // The hook sees the last of three calls, two of which look alike.
    let lines = [head, prompt, call("c1", "make all", 2), call("c2", "make lint", 3), call("c3", "make all", 4)];
    let text = lines.map(|line| line.to_string()).join("\n") + "\n";
    std::fs::write(&chat, text).expect("write");
    let payload = json!({"session_id": id, "transcript_path": chat, "cwd": project, "hook_event_name": "AfterTool",
        "timestamp": "2026-11-22T22:57:04.500Z", "tool_name": "run_shell_command", "tool_input": {"command": "make all"},
        "tool_response": {"llmContent": "Output: fine\nExit Code: 0", "returnDisplay": "fine"}});
    drop(home.hook_with_input(&["--agent", "gemini"], payload.to_string().into_bytes()).success());
    // What the hook saw is of today; the transcript must say so too.
    let now = tests::transcript::moment(0);
    let dated = std::fs::read_to_string(&chat).expect("read");
    let dated = ["2026-11-22T22:57:02.000Z", "2026-11-22T22:57:03.000Z", "2026-11-22T22:57:04.000Z"]
        .iter()
        .fold(dated, |text, at| text.replace(at, &now));
    std::fs::write(&chat, dated).expect("write");
    home.json(["ingest", "--json"]);
    let mut seen = observed(&home, &project);
    seen.sort();
    assert_eq!(seen, ["Ran `make all`: ok", "Ran `make all`: ok", "Ran `make lint`: ok"]);
}

#[test]
fn secrets_and_excluded_files_stay_out_and_the_forgotten_stays_away() {
    let home = Home::new();
    let project = home.project("zoo");
    let folder = home.throughline().join("config");
    std::fs::create_dir_all(&folder).expect("create");
    std::fs::write(folder.join("config.toml"), "[privacy]\nexclude_paths = [\"vault/\"]\n").expect("write");
    let secret = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let mut transcript = Transcript::new(&session_id(1), &project);
    transcript
        .user("Publish the otters")
        .bash(&format!("publish --token {secret}"), &format!("logged in with {secret}"))
        .edits("vault/keys.txt", "old", "new")
        .bash("publish --walrus", "the walrus is published")
        .answer("Published.");
    ingest(&home, &project, &mut transcript);
    let seen = observed(&home, &project);
    assert_eq!(seen.len(), 2, "{seen:?}");
    for word in [secret.as_str(), "vault/keys"] {
        let holding = home.holding(word);
        assert!(!holding.iter().any(|path| path.starts_with(home.data())), "{word} is in {holding:?}");
    }
    let mut forget = home.command(["memory", "forget", "--match", "walrus", "--yes"]);
    forget.current_dir(&project);
    drop(process::run(forget, Vec::new(), process::WATCHDOG).success());
    assert_eq!(observed(&home, &project).len(), 1);
    let copy = home.work().join("copy.jsonl");
    std::fs::write(&copy, transcript.text()).expect("write");
    home.json(["ingest", "--json", copy.to_str().expect("a path")]);
    assert_eq!(observed(&home, &project).len(), 1, "what was forgotten came back");
}
