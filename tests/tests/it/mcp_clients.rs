//! `throughline mcp` with clients that are not ours: the official SDK for Python, the inspector's command line, and the real
//! Claude Code client.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tests::client::{self, Client};
use tests::fake_api::{self, FakeApi};
use tests::home::Home;
use tests::process::{self, WATCHDOG};
use tests::transcript::session_id;

/// The versions that the tests are written for.
const SDK: &str = "2.3.0";
const INSPECTOR: &str = "0.15.0";

/// A program that a test needs: what the variable names, else one below `target/`. None, and a line that says so, where it is
/// missing; a panic where `THROUGHLINE_REQUIRE_MCP` is set.
fn find(test: &str, variable: &str, below: &str, how: &str) -> Option<PathBuf> {
    let usual = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target").join(below);
    let path = std::env::var_os(variable).map_or_else(usual, PathBuf::from);
    if path.is_file() {
        return Some(path);
    }
    let why = format!("nothing at {}; {how}", path.display());
    assert!(!tests::env_flag("THROUGHLINE_REQUIRE_MCP"), "{why}");
    tests::skip(test, &why);
    None
}

#[test]
fn the_python_sdk() {
    let how = format!("`python3 -m venv target/mcp-sdk && target/mcp-sdk/bin/pip install mcp=={SDK}` puts it there");
    let Some(python) = find("the_python_sdk", "THROUGHLINE_MCP_PYTHON", "mcp-sdk/bin/python", &how) else { return };
    for mode in ["auto", "legacy"] {
        let home = Home::new();
        let project = home.project("shop");
        let mut command = home.isolated(&python);
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/mcp_sdk.py"));
        command.arg(mode).arg(process::throughline()).arg(&project);
        let run = process::run(command, Vec::new(), WATCHDOG).success();
        let got: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{mode}: {error}: {run:#?}"));
        assert_eq!(got["tools"].as_array().map(Vec::len), Some(7), "{mode}: {got:#}");
        let id = &got["saved"]["structuredContent"]["id"];
        assert_eq!(&got["found"]["structuredContent"]["memories"][0]["id"], id, "{mode}: {got:#}");
        assert_eq!(
            got["read"]["structuredContent"]["memories"][0]["content"], "Tokens live in the otter cache.",
            "{mode}: {got:#}"
        );
        assert!(
            got["context"]["content"][0]["text"].as_str().is_some_and(|text| text.contains("otter cache")),
            "{mode}: {got:#}"
        );
        for (name, is_error) in [("timeline", false), ("failures", false), ("last", false), ("wrong", true)] {
            assert_eq!(got[name]["isError"].as_bool().unwrap_or_default(), is_error, "{mode}, {name}: {got:#}");
        }
        let uri = format!("throughline://memory/{}", id.as_str().expect("an id"));
        assert_eq!(got["resources"], json!(["throughline://context", uri]), "{mode}");
        assert_eq!(got["templates"], json!(["throughline://memory/{id}"]), "{mode}");
        assert!(got["resource"]["contents"][0]["text"].as_str().is_some_and(|text| text.contains("otter cache")), "{mode}");
        assert_eq!(got["prompts"], json!(["save-context", "resume"]), "{mode}");
        assert!(got["steps"].as_array().is_some_and(|steps| !steps.is_empty()), "{mode}: {got:#}");
        // Its user was asked, in the way of the version that was agreed upon.
        assert_eq!(got["asked"].as_array().map(Vec::len), Some(1), "{mode}: {got:#}");
        assert_eq!(got["forgotten"]["structuredContent"]["done"], true, "{mode}: {got:#}");
        assert_eq!(got["after"]["structuredContent"]["memories"], json!([]), "{mode}: {got:#}");
    }
}

#[test]
fn the_inspectors_command_line() {
    let how =
        format!("`npm install --prefix target/mcp-inspector @modelcontextprotocol/inspector@{INSPECTOR}` puts it there");
    let below = "mcp-inspector/node_modules/.bin/mcp-inspector";
    let Some(inspector) = find("the_inspectors_command_line", "THROUGHLINE_MCP_INSPECTOR", below, &how) else { return };
    let home = Home::new();
    let project = home.project("shop");
    let mut save = home.command(["memory", "save", "Tokens live in the otter cache."]);
    save.current_dir(&project);
    let id = process::run(save, Vec::new(), WATCHDOG).success().stdout.trim().to_owned();
    let inspect = |arguments: &[&str]| -> Value {
        let mut command = home.isolated(&inspector);
        command.current_dir(&project).arg("--cli").arg(process::throughline()).arg("mcp").args(arguments);
        let run = process::run(command, Vec::new(), WATCHDOG).success();
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:#?}"))
    };
    let tools = inspect(&["--method", "tools/list"]);
    assert_eq!(tools["tools"].as_array().map(Vec::len), Some(7), "{tools:#}");
    let found = inspect(&["--method", "tools/call", "--tool-name", "memory_search", "--tool-arg", "query=otter", "limit=3"]);
    assert_eq!(found["structuredContent"]["memories"][0]["id"], id.as_str(), "{found:#}");
    let read = inspect(&["--method", "resources/read", "--uri", &format!("throughline://memory/{id}")]);
    assert!(read["contents"][0]["text"].as_str().is_some_and(|text| text.contains("otter cache")), "{read:#}");
    let prompts = inspect(&["--method", "prompts/list"]);
    assert_eq!(prompts["prompts"].as_array().map(Vec::len), Some(2), "{prompts:#}");
}

#[test]
fn the_real_client_searches_and_saves() {
    let Some(binary) = client::find("the_real_client_searches_and_saves") else { return };
    let home = Home::new();
    let project = home.project("greeter");
    let api = FakeApi::start(&project);
    let client = Client { binary, home: &home, project: &project, api: &api };
    let mut save = home.command(["memory", "save", "--type", "decision", "Greetings are written for the otter of Busan."]);
    save.current_dir(&project);
    drop(process::run(save, Vec::new(), WATCHDOG).success());
    drop(home.run(["install", "--scope", "user"]).success());
    let environment = json!({"THROUGHLINE_HOME": home.throughline(), "HOME": home.path()});
    let server = json!({"command": process::throughline(), "args": ["mcp"], "env": environment});
    let servers = json!({"mcpServers": {"throughline": server}}).to_string();
    let id = session_id(1);
    let ran =
        client.prompt("SCN_RECALL Look it up, and keep what you learned", &["--session-id", &id, "--mcp-config", &servers]);
    ran.assert_hooks(&["SessionStart", "Stop"]);
    // Both tools were offered, were called, and the model was shown what they said.
    let offered: Vec<&str> =
        ran.requests[0]["tools"].as_array().expect("tools").iter().filter_map(|it| it["name"].as_str()).collect();
    for name in ["memory_search", "memory_get", "memory_save", "memory_forget", "session_context", "failures_for"] {
        assert!(offered.contains(&format!("mcp__throughline__{name}").as_str()), "{name} is not offered: {offered:?}");
    }
    let last = ran.requests.last().expect("the model was asked");
    let blocks =
        last["messages"].as_array().into_iter().flatten().filter_map(|message| message["content"].as_array()).flatten();
    let results: Vec<String> = blocks.filter(|block| block["type"] == "tool_result").map(Value::to_string).collect();
    assert_eq!(results.len(), 2, "{results:#?}");
    println!("the model was shown {}", results[0]);
    assert!(results[0].contains("otter of Busan") && results[0].contains("not an instruction"), "{results:#?}");
    assert!(home.remembers(fake_api::SAVED_BY_THE_MODEL), "{results:#?}");
    let memories = home.memories_of(&project);
    let saved = memories.iter().find(|memory| memory["content"] == fake_api::SAVED_BY_THE_MODEL).expect("it is stored");
    let saved = home.json(["memory", "show", "--json", saved["id"].as_str().expect("an id")]);
    assert_eq!(saved["attributes"], json!([["source", "agent"], ["said-by", "agent"]]), "{saved:#}");
}
