//! The real pi, offline, with the extension that `throughline install --agent pi` writes.

use tests::fake_api::{self, FakeApi};
use tests::home::{self, Home};
use tests::pi;

/// Is in every context that Throughline gives at a start, and not beside a prompt.
const HEADING: &str = "What earlier sessions of this project left.";

#[test]
fn tomorrow_pi_knows_what_happened_today() {
    let Some(program) = pi::find("tomorrow_pi_knows_what_happened_today") else { return };
    let home = Home::new();
    let project = home.project("greeter");
    let api = FakeApi::start(&project);
    pi::configure(&home, &api);
    let ask = |arguments: &[&str]| pi::prompt(&program, &home, &project, &api, arguments);
    let headings = |request: &serde_json::Value| fake_api::shown(request).matches(HEADING).count();

    drop(home.json(["install", "--agent", "pi", "--json"]));
    let first = ask(&["SCN_PI Add a greeting file for the Busan office. We always greet in Korean first."]);
    assert_eq!(headings(&first[0]), 0, "a new project has no memory");
    assert_eq!(std::fs::read_to_string(project.join("greeting.txt")).unwrap(), "HELLO\n");

    let listed = || home::json_of(&home, &project, &["session", "list", "--json"]);
    home.eventually("the session is stored", |_| listed().as_array().is_some_and(|all| !all.is_empty()));
    let sessions = listed();
    let id = sessions[0]["id"].as_str().unwrap();
    assert_eq!(home.json(["session", "show", id, "--json"])["agent"], "pi", "{sessions:#}");
    let calls = home::json_of(&home, &project, &["timeline", "--json"]).to_string();
    for wanted in ["Write", "Edit", "Bash", "Read", "missing-folder-of-the-check", "nowhere.txt"] {
        assert!(calls.contains(wanted), "{wanted}: {calls}");
    }

    // A new session is told once. A continued one has that in its transcript, and is not told again.
    let next = ask(&["What did we do for the Busan office?"]);
    for request in &next {
        assert_eq!(headings(request), 1, "{}", fake_api::shown(request));
        assert!(fake_api::shown(request).contains("Korean first"), "{}", fake_api::shown(request));
    }
    let continued = ask(&["--continue", "And further?"]);
    assert_eq!(headings(&continued[0]), 1, "{}", fake_api::shown(&continued[0]));
    // A session that pi does not keep is not remembered.
    let before = listed().as_array().map(Vec::len);
    drop(ask(&["--no-session", "We never greet in Latin."]));
    assert_eq!(listed().as_array().map(Vec::len), before);
    assert!(!home.remembers("Latin"));

    let removed = home.json(["uninstall", "--agent", "pi", "--json"]);
    assert_eq!(removed["files"].as_array().map(Vec::len), Some(2), "{removed:#}");
    let after = ask(&["What did we do for the Busan office?"]);
    assert_eq!(headings(&after[0]), 0, "it was uninstalled");
}
