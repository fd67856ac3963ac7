//! The real opencode, offline, with the plugin that `throughline install --agent opencode` writes.

use serde_json::json;
use tests::fake_api::{self, FakeApi};
use tests::home::{self, Home};
use tests::opencode;

/// Opens every context that Throughline gives at a start.
const HEADING: &str = "## Session Memory";

#[test]
fn tomorrow_opencode_knows_what_happened_today() {
    let Some(binary) = opencode::find("tomorrow_opencode_knows_what_happened_today") else { return };
    let home = Home::new();
    let project = home.project("greeter");
    let api = FakeApi::start(&project);
    let config = opencode::configure(&home, &api);
    let written = std::fs::read_to_string(&config).unwrap();
    let report = home.json(["install", "--agent", "opencode", "--json"]);
    assert_eq!(report["mcp"], json!(config));

    let ask = |arguments: &[&str]| opencode::prompt(&binary, &home, &project, &api, arguments);
    let first = ask(&["SCN_OPENCODE Add a greeting file for the Busan office. We always greet in Korean first."]);
    assert_eq!(fake_api::system(&first[0]).matches(HEADING).count(), 0, "a new project has no memory");
    // opencode started the server.
    let tools: Vec<&str> = first[0]["tools"].as_array().unwrap().iter().filter_map(|it| it["name"].as_str()).collect();
    assert!(tools.contains(&"throughline_memory_search"), "{tools:?}");
    assert_eq!(std::fs::read_to_string(project.join("greeting.txt")).unwrap(), "hello from the model\n");

    let listed = || home::json_of(&home, &project, &["session", "list", "--json"]);
    home.eventually("the session is stored", |_| listed().as_array().is_some_and(|all| !all.is_empty()));
    let sessions = listed();
    let id = sessions[0]["id"].as_str().unwrap();
    assert_eq!(home.json(["session", "show", id, "--json"])["agent"], "opencode", "{sessions:#}");
    let calls = home::json_of(&home, &project, &["timeline", "--json"]).to_string();
    for wanted in ["Write", "Bash", "Read", "missing-folder-of-the-check", "nowhere.txt", "from-sub"] {
        assert!(calls.contains(wanted), "{wanted}: {calls}");
    }

    // A new session has only the stored memories, and each of its requests contains them once.
    let next = ask(&["What did we do for the Busan office?"]);
    // The memories name the scenario, so the fake API plays it again. Its sub-agent gets no memories.
    for request in next.iter().filter(|request| fake_api::shown(request).contains("What did we do")) {
        let system = fake_api::system(request);
        assert_eq!(system.matches(HEADING).count(), 1, "{system}");
        assert!(system.contains("Busan office"), "{system}");
    }
    // A continued session gets the memories again, because opencode does not store the system prompt.
    let continued = ask(&["--continue", "And further?"]);
    assert_eq!(fake_api::system(&continued[0]).matches(HEADING).count(), 1);

    let removed = home.json(["uninstall", "--agent", "opencode", "--json"]);
    assert_eq!(removed["files"].as_array().map(Vec::len), Some(2), "{removed:#}");
    assert_eq!(std::fs::read_to_string(&config).unwrap(), written);
    let after = ask(&["What did we do for the Busan office?"]);
    assert_eq!(fake_api::system(&after[0]).matches(HEADING).count(), 0, "it was uninstalled");
}
