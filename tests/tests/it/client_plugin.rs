//! The plugin in the real Claude Code client, offline: that it is valid, that it alone is enough, and that nothing is counted or
//! told twice where the settings register hooks as well.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tests::client::{self, Client, Ran};
use tests::database;
use tests::fake_api::{self, FakeApi};
use tests::home::Home;
use tests::process;
use tests::transcript::session_id;

/// Opens every context that Throughline gives.
const HEADING: &str = "## Session Memory";

const ID: &str = "throughline@throughline";

/// A folder with the machine's programs, but without ours.
const PLAIN_PATH: &str = "/usr/bin:/bin";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the repository")
}

/// A home that contains only the files of the test, and a project in it.
fn bare() -> (Home, PathBuf) {
    let mut home = Home::new();
    home.set("PATH", PLAIN_PATH);
    let project = home.project("greeter");
    (home, project)
}

/// Puts the program where people have it who installed it for themselves.
fn install_program(home: &Home) {
    let folder = home.path().join(".local/bin");
    std::fs::create_dir_all(&folder).expect("create the folder");
    symlink(process::throughline(), folder.join("throughline")).expect("link the program");
}

fn settings(home: &Home) -> Value {
    let text = std::fs::read_to_string(home.agent().join("settings.json")).expect("settings");
    serde_json::from_str(&text).expect("they are JSON")
}

fn occurrences(ran: &Ran, words: &str) -> usize {
    fake_api::shown(ran.requests.first().expect("the model was asked")).matches(words).count()
}

/// How often each kind of event was counted in the session, repetitions included.
fn counts(home: &Home, session: &str) -> Vec<(String, i64)> {
    home.eventually("the end of the turn is stored", |home| {
        home.database().exists() && database::events(&home.database(), session).iter().any(|it| it["type"] == "stop")
    });
    let mut counts = std::collections::BTreeMap::new();
    for event in database::events(&home.database(), session) {
        let kind = event["type"].as_str().expect("a type").to_owned();
        *counts.entry(kind).or_insert(0) += event["times"].as_i64().expect("a count");
    }
    counts.into_iter().collect()
}

/// A session that writes a file, and one after it. What was counted of the first.
fn two_sessions(client: &Client<'_>) -> Vec<(String, i64)> {
    let first = client.prompt("SCN_WRITE Add a greeting file for the Busan office", &["--session-id", &session_id(1)]);
    first.assert_hooks(&["SessionStart", "UserPromptSubmit", "PostToolUse", "Stop"]);
    assert_eq!(occurrences(&first, HEADING), 0, "a new project has no memory");
    let counts = counts(client.home, &session_id(1));
    let next = client.prompt("What did we do?", &["--session-id", &session_id(2)]);
    next.assert_hooks(&["SessionStart", "UserPromptSubmit", "Stop"]);
    assert_eq!(occurrences(&next, HEADING), 1, "told once: {}", fake_api::shown(&next.requests[0]));
    for wanted in ["Busan office", "greeting.txt"] {
        assert!(occurrences(&next, wanted) > 0, "`{wanted}` is not in what the model was shown");
    }
    database::assert_sound(&client.home.database());
    assert!(!client.home.log().contains("ERROR"), "{}", client.home.log());
    counts
}

#[test]
fn plugin_and_marketplace_are_valid() {
    let Some(binary) = client::find("plugin_and_marketplace_are_valid") else { return };
    let (home, project) = bare();
    let api = FakeApi::start(&project);
    let client = Client { binary, home: &home, project: &project, api: &api };
    drop(home.run(["install", "--plugin"]).success());
    for root in [repository(), home.data().join("marketplace")] {
        let root = root.to_str().expect("UTF-8");
        drop(client.manage(&["plugin", "validate", "--strict", root], "").success());
        let plugin = format!("{root}/plugin");
        drop(client.manage(&["plugin", "validate", "--strict", "--profile", "directory", &plugin], "").success());
    }
}

#[test]
fn the_plugin_alone_is_enough() {
    let Some(binary) = client::find("the_plugin_alone_is_enough") else { return };
    let (home, project) = bare();
    let api = FakeApi::start(&project);
    let client = Client { binary, home: &home, project: &project, api: &api };
    install_program(&home);
    let root = repository();
    drop(client.manage(&["plugin", "marketplace", "add", root.to_str().expect("UTF-8")], "").success());
    drop(client.manage(&["plugin", "install", ID], "").success());
    assert_eq!(settings(&home)["enabledPlugins"][ID], true);
    assert_eq!(settings(&home).get("hooks"), None, "there are no hooks but the plugin's");

    let alone = two_sessions(&client);
    let tools: i64 = alone.iter().filter(|(kind, _)| kind == "tool_observation").map(|(_, count)| count).sum();
    assert_eq!(tools, 1, "{alone:?}");

    // What else it brings.
    let ran = client.prompt("Hello", &["--session-id", &session_id(3)]);
    let init = ran.events.iter().find(|event| event["subtype"] == "init").expect("the client tells what it has");
    let server =
        init["mcp_servers"].as_array().into_iter().flatten().find(|it| it["name"] == "plugin:throughline:throughline");
    assert_eq!(server.expect("the server")["status"], "connected", "{init:#}");
    let has = |list: &str, name: &str| init[list].as_array().into_iter().flatten().any(|it| it == name);
    for command in ["save-context", "resume", "recall", "remember", "forget", "memory-doctor"] {
        assert!(has("slash_commands", &format!("throughline:{command}")), "{command} is missing: {init:#}");
    }
    assert!(has("skills", "throughline:memory-protocol"), "{init:#}");
    assert!(has("tools", "mcp__plugin_throughline_throughline__memory_search"), "{init:#}");

    // A command calls the program although it is not on the PATH.
    let resumed = client.prompt("/throughline:resume", &["--session-id", &session_id(4)]);
    assert!(occurrences(&resumed, "It is a record of what was said and done") == 1, "{resumed:#?}");
    assert!(occurrences(&resumed, HEADING) >= 2, "at the start, and by the command: {resumed:#?}");
    let doctor = client.prompt("/throughline:memory-doctor", &["--session-id", &session_id(5)]);
    let shown = fake_api::shown(&doctor.requests[0]);
    assert!(shown.contains("throughline@throughline is enabled"), "{shown}");
    assert!(!shown.contains("fail  "), "{shown}");

    // What the user sets in the client's dialog arrives.
    let values = json!({"checkpoint": "sometimes"}).to_string();
    drop(client.manage(&["plugin", "configure", ID, "--values-stdin"], &values).success());
    drop(client.prompt("Hello", &["--session-id", &session_id(6)]));
    assert!(home.log().contains("an option of the plugin is not valid"), "{}", home.log());
}

#[test]
fn installed_by_the_program_it_works_and_leaves_without_a_trace() {
    let Some(binary) = client::find("installed_by_the_program_it_works_and_leaves_without_a_trace") else { return };
    let (home, project) = bare();
    let api = FakeApi::start(&project);
    let client = Client { binary, home: &home, project: &project, api: &api };
    let theirs = "{\n  \"model\": \"opus\"\n}\n";
    let file = home.agent().join("settings.json");
    std::fs::write(&file, theirs).expect("write the settings");
    drop(home.run(["install"]).success());
    drop(home.run(["install", "--plugin"]).success());
    assert_eq!(settings(&home).get("hooks"), None, "the plugin takes their place");
    assert!(home.run(["doctor"]).success().stdout.contains("it registers the hooks"));
    // Nothing named `throughline` is on the PATH, and yet it is called.
    drop(two_sessions(&client));
    drop(home.run(["uninstall"]).success());
    assert_eq!(std::fs::read_to_string(&file).expect("read"), theirs);
    assert!(!home.data().join("marketplace").exists());
    let after = client.prompt("What did we do?", &["--session-id", &session_id(3)]);
    assert_eq!(after.run.code, Some(0), "{after:#?}");
    assert_eq!((after.hooks().count(), occurrences(&after, HEADING)), (0, 0), "{after:#?}");
}

#[test]
fn nothing_is_doubled_where_settings_register_hooks_too() {
    let Some(binary) = client::find("nothing_is_doubled_where_settings_register_hooks_too") else { return };
    let run = |arguments: &[&[&str]]| {
        let (home, project) = bare();
        let api = FakeApi::start(&project);
        for install in arguments {
            drop(home.run(*install).success());
        }
        let client = Client { binary: binary.clone(), home: &home, project: &project, api: &api };
        two_sessions(&client)
    };
    let hooks = run(&[&["install"]]);
    // The second does not take the first out of the settings; both are there.
    let both = run(&[&["install", "--plugin"], &["install"]]);
    assert_eq!(both, hooks);
    // The plugin reports events that the settings do not register.
    let minimal = run(&[&["install", "--plugin"], &["install", "--profile", "minimal"]]);
    assert_eq!(minimal, hooks);
}

#[test]
fn without_the_program_a_session_is_told_once() {
    let Some(binary) = client::find("without_the_program_a_session_is_told_once") else { return };
    let (home, project) = bare();
    let api = FakeApi::start(&project);
    let client = Client { binary, home: &home, project: &project, api: &api };
    let root = repository();
    drop(client.manage(&["plugin", "marketplace", "add", root.to_str().expect("UTF-8")], "").success());
    drop(client.manage(&["plugin", "install", ID], "").success());
    let ran = client.prompt("SCN_WRITE Add a greeting file", &["--session-id", &session_id(1)]);
    ran.assert_hooks(&["SessionStart", "PostToolUse", "Stop"]);
    let said: Vec<Value> = ran
        .hooks()
        .filter(|hook| hook["stdout"] != "")
        .map(|hook| serde_json::from_str(hook["stdout"].as_str().expect("text")).expect("a hook prints JSON or nothing"))
        .collect();
    assert_eq!(said.len(), 1, "{said:#?}");
    let message = said[0]["systemMessage"].as_str().expect("a message for the user");
    assert!(message.contains("not installed") && message.contains("cargo install"), "{message}");
    assert!(!home.database().exists());
    let compacted = client.prompt("/compact", &["--resume", &session_id(1)]);
    let again = compacted.hooks().filter(|hook| hook["stdout"].as_str().is_some_and(|it| it.contains("systemMessage")));
    assert_eq!(again.filter(|hook| hook["hook_name"] == "SessionStart:compact").count(), 0, "{compacted:#?}");
}
