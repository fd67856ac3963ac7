//! The real client, offline: the recorded events match the tool calls, and a known failure is shown to it.

use std::path::Path;

use serde_json::{Value, json};
use tests::client::{self, Client};
use tests::database;
use tests::fake_api::{self, FakeApi};
use tests::home::Home;
use tests::transcript::session_id;

/// One pixel.
const PNG: &[u8] = &[
    0x89, b'P', b'N', b'G', 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, b'I', b'H', b'D', b'R', 0, 0, 0, 1, 0, 0, 0, 1, 8, 6, 0, 0,
    0, 0x1F, 0x15, 0xC4, 0x89, 0, 0, 0, 13, b'I', b'D', b'A', b'T', 0x78, 0x9C, 0x63, 0xF8, 0xCF, 0xC0, 0xF0, 0x1F, 0, 5, 0,
    1, 0xFF, 0x89, 0x99, 0x3D, 0x1D, 0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xAE, 0x42, 0x60, 0x82,
];

fn tools(home: &Home, session: &str) -> Vec<Value> {
    database::events(&home.database(), session).into_iter().filter(|event| event["type"] == "tool_observation").collect()
}

fn servers() -> String {
    json!({"mcpServers": {"memtest": {"command": env!("CARGO_BIN_EXE_mcp-echo")}}}).to_string()
}

#[test]
fn what_the_tools_did_is_what_is_noted_down() {
    let Some(binary) = client::find("what_the_tools_did_is_what_is_noted_down") else { return };
    let home = Home::new();
    let project = home.project("greeter");
    let api = FakeApi::start(&project);
    let client = Client { binary, home: &home, project: &project, api: &api };
    drop(home.run(["install", "--scope", "user", "--profile", "full"]).success());
    std::fs::write(project.join("pic.png"), PNG).expect("write the picture");

    // The word of the scenario, the recorded name of each tool, and whether it failed.
    let scenarios: [(&str, &[(&str, bool)]); 11] = [
        ("SCN_WRITE", &[("Created greeting.txt (1 line)", false)]),
        ("SCN_EDIT", &[("Edited greeting.txt (+1 −1)", false), ("Read greeting.txt: hello from the model", false)]),
        ("SCN_BATCH", &[("Ran `echo hi; echo err >&2`: ok", false), ("Read greeting.txt: HELLO FROM THE MODEL", false)]),
        ("SCN_FAIL", &[("Ran `ls missing-folder-of-the-check`: exit 2", true)]),
        ("SCN_PNG", &[("Read pic.png (image)", false)]),
        ("SCN_BIG", &[("Ran `seq 1 20000`: ok", false)]),
        ("SCN_TODO", &[("T", false)]),
        ("SCN_ASK", &[("Asked the user: A or B? (no answer)", true)]),
        ("SCN_MCP", &[("memtest echo `an otter`: ok", false)]),
        ("SCN_FG", &[("Ran `echo from-sub`: ok", false), ("Sub-agent Explore: sub job (done)", false)]),
        (
            "SCN_AGENT",
            &[("Ran `echo from-sub`: ok", false), ("Sub-agent general-purpose: sub job (in the background)", false)],
        ),
    ];
    for ((word, wanted), number) in scenarios.iter().zip(1..) {
        let id = session_id(number);
        let ran = client.prompt(&format!("{word} please"), &["--session-id", &id, "--mcp-config", &servers()]);
        ran.assert_hooks(&["SessionStart", "UserPromptSubmit", "Stop"]);
        home.eventually(&format!("the tools of {word} are stored"), |home| tools(home, &id).len() >= wanted.len());
        let mut seen = tools(&home, &id);
        seen.sort_by_key(|event| event["summary"].as_str().unwrap_or_default().to_owned());
        assert_eq!(seen.len(), wanted.len(), "{word}: {seen:#?}");
        for (event, (summary, failed)) in seen.iter().zip(*wanted) {
            let said = event["summary"].as_str().unwrap_or_default();
            assert!(said.starts_with(summary), "{word}: {said}");
            assert_eq!(event["failed"], *failed, "{word}: {event:#}");
            let detail = event["detail"].as_str().unwrap_or_default();
            assert!(detail.len() <= 10 << 10 && detail.lines().count() <= 100, "{word}: {} bytes", detail.len());
        }
        let events = database::events(&home.database(), &id);
        let of = |kind: &str| events.iter().filter(|event| event["type"] == kind).collect::<Vec<_>>();
        assert!(of("user_prompt")[0]["detail"].as_str().unwrap_or_default().contains(word), "{events:#?}");
        assert!(!of("stop").is_empty(), "{events:#?}");
        if matches!(*word, "SCN_FG" | "SCN_AGENT") {
            let agent = seen.iter().find(|event| event["summary"] == "Ran `echo from-sub`: ok").expect("checked above");
            let ended = of("subagent_stop");
            assert_eq!(ended.len(), 1, "{events:#?}");
            assert_eq!(ended[0]["agent"], agent["agent"], "a sub-agent's tools are told from its parent's");
            assert!(ended[0]["summary"].as_str().unwrap_or_default().contains("Sub result: done."), "{events:#?}");
        }
        if *word == "SCN_BIG" {
            assert!(seen[0]["detail"].as_str().unwrap_or_default().starts_with("1\n2\n3\n"), "{:#}", seen[0]);
        }
        if *word == "SCN_PNG" {
            assert_eq!(seen[0]["detail"], Value::Null, "of images nothing is kept");
        }
    }
    database::assert_sound(&home.database());
    assert!(!home.log().contains("ERROR"), "{}", home.log());
}

#[test]
fn the_agent_is_warned_of_what_failed_before() {
    let Some(binary) = client::find("the_agent_is_warned_of_what_failed_before") else { return };
    let home = Home::new();
    let project = home.project("greeter");
    let api = FakeApi::start(&project);
    let client = Client { binary, home: &home, project: Path::new(&project), api: &api };
    drop(home.run(["install", "--scope", "user"]).success());
    let first = client.prompt("SCN_FAIL Run the check", &["--session-id", &session_id(1)]);
    first.assert_hooks(&["SessionStart", "PostToolUseFailure", "Stop"]);
    let shown = |ran: &client::Ran| ran.requests.iter().map(fake_api::shown).collect::<Vec<_>>().join("\n");
    assert!(!shown(&first).contains("has happened before"), "the first time it is new");
    let second = client.prompt("SCN_FAIL Run the check", &["--session-id", &session_id(2)]);
    second.assert_hooks(&["SessionStart", "PostToolUseFailure", "Stop"]);
    let shown = shown(&second);
    assert!(shown.contains("this failure has happened before (once in one session)"), "{shown}");
    assert!(shown.contains("missing-folder-of-the-check"), "{shown}");
}
