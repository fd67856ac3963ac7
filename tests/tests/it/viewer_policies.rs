//! `throughline policy test --against`, and the page that shows what it prints.

use serde_json::json;
use tests::drop_in::DropIn;
use tests::home::Home;
use tests::session::Session;
use tests::transcript::session_id;
use tests::viewer::{Viewer, browser, drive};
use tests::wasm;

/// A policy that replaces the page by as many `x` or `y`.
fn page_of(name: &str, letter: char) -> DropIn {
    let wasm = wasm::context_builder(&wasm::writes(letter, 40));
    DropIn { stages: "context-builder = \"replace\"".into(), ..DropIn::redactor(name, wasm) }
}

#[test]
fn two_policies_side_by_side_in_a_browser() {
    let Some((chromium, modules)) = browser("two_policies_side_by_side_in_a_browser") else { return };
    let home = Home::new();
    let project = home.project("shop");
    let mut session = Session::new(&home, &project, &session_id(1));
    session.exporter("Make the otter exporter write headers. From now on always use tabs in Python files.");
    page_of("all-x", 'x').install(&home);
    page_of("all-y", 'y').install(&home);

    // First the command alone.
    let words = ["policy", "test", "all-y", "--against", "all-x", "--session", session.id(), "--json"];
    let tested = home.json(words);
    let of = &tested["sessions"][0];
    assert_eq!((&tested["policy"], &tested["against"]), (&json!("all-y"), &json!("all-x")), "{tested:#}");
    assert_eq!(
        (&of["before"]["page"], &of["after"]["page"]),
        (&json!("x".repeat(40)), &json!("y".repeat(40))),
        "{tested:#}"
    );
    assert_eq!(of["before"]["memories"], of["after"]["memories"]);
    assert!(of["difference"]["context-builder"].is_object() && of["difference"].get("summarizer").is_none(), "{tested:#}");
    let same = home.json(["policy", "test", "all-x", "--against", "all-x", "--session", &session.id()[..8], "--json"]);
    assert_eq!(same["sessions"][0]["difference"], json!({}), "{same:#}");
    let unknown = home.run(["policy", "test", "all-x", "--session", "ffffffff"]).failure_with_hint();
    assert!(unknown.stderr.contains("ffffffff"), "{unknown:#?}");

    let viewer = Viewer::start(&home, &[]);
    let setup = json!({"readonly": viewer.address, "chromium": chromium, "modules": modules, "project": project});
    drive(&home, "policies.mjs", &setup);

    // Without its transcript a session cannot be read again.
    std::fs::remove_file(home.transcript_path(&project, session.id())).expect("remove the transcript");
    let gone = home.run(words).failure_with_hint();
    assert!(gone.stderr.contains("is no longer there"), "{gone:#?}");
}
