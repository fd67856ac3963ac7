//! The real Claude Code client, offline, with the hooks that `throughline install` writes.
//!
//! What counts is not what a hook prints but what the model is shown: the requests as the API receives them.

use serde_json::Value;
use tests::client::{self, Client};
use tests::fake_api::{self, FakeApi};
use tests::home::Home;
use tests::transcript::session_id;

/// Opens every context that Throughline gives.
const HEADING: &str = "## Session Memory";

fn occurrences(requests: &[Value], words: &str) -> usize {
    let first = requests.first().expect("the model was asked");
    fake_api::shown(first).matches(words).count()
}

#[test]
fn tomorrow_the_agent_knows_what_happened_today() {
    let Some(binary) = client::find("tomorrow_the_agent_knows_what_happened_today") else {
        return;
    };
    let home = Home::new();
    let project = home.project("greeter");
    let api = FakeApi::start(&project);
    let client = Client { binary, home: &home, project: &project, api: &api };
    drop(home.run(["install", "--scope", "user"]).success());
    let id = session_id(1);

    // Session one, over three runs of the client: the first starts it, the others resume it.
    let first = client.prompt("SCN_WRITE Add a greeting file for the Busan office", &["--session-id", &id]);
    first.assert_hooks(&["SessionStart", "Stop"]);
    assert_eq!(occurrences(&first.requests, HEADING), 0, "a new project has no memory");
    let greeting = || std::fs::read_to_string(project.join("greeting.txt")).expect("the tool ran");
    assert_eq!(greeting(), "hello from the model\n");
    let second = client.prompt("SCN_EDIT Put the greeting in capitals", &["--resume", &id]);
    second.assert_hooks(&["SessionStart", "Stop"]);
    assert_eq!(greeting(), "HELLO FROM THE MODEL\n");
    let third = client.prompt("SCN_FAIL SCN_TODO Run the check, and note what is left", &["--resume", &id]);
    third.assert_hooks(&["SessionStart", "Stop"]);
    for resumed in [&second, &third] {
        assert_eq!(occurrences(&resumed.requests, HEADING), 0, "what is resumed is known already");
    }

    // A new session of the same project, which has nothing but what was remembered.
    let next = client.prompt("What did we do?", &["--session-id", &session_id(2)]);
    next.assert_hooks(&["SessionStart", "Stop"]);
    assert_eq!(occurrences(&next.requests, HEADING), 1);
    let shown = fake_api::shown(&next.requests[0]);
    let memory = &shown[shown.find(HEADING).expect("counted above")..];
    println!("{}", memory.split("\n# ").next().unwrap_or_default());
    for wanted in ["Busan office", "greeting.txt", "Translate the greeting"] {
        assert!(shown.contains(wanted), "`{wanted}` is not in what the model was shown:\n{shown}");
    }

    // Resumed, that session still holds the memory once: it stands in its own transcript.
    let resumed = client.prompt("And further?", &["--resume", &session_id(2)]);
    resumed.assert_hooks(&["SessionStart", "Stop"]);
    assert_eq!(occurrences(&resumed.requests, HEADING), 1, "the memory is not repeated");
}

#[test]
fn a_prompt_hook_asks_the_agent_once_for_what_the_memory_needs() {
    let Some(binary) = client::find("a_prompt_hook_asks_the_agent_once_for_what_the_memory_needs") else {
        return;
    };
    let home = Home::new();
    let project = home.project("greeter");
    let api = FakeApi::start(&project);
    let client = Client { binary, home: &home, project: &project, api: &api };
    drop(home.run(["install", "--with-prompt-hook"]).success());

    let ran = client.prompt("SCN_WRITE Add a greeting file for the Busan office", &["--session-id", &session_id(1)]);
    assert_eq!((ran.run.code, ran.run.stderr.as_str()), (Some(0), ""), "{ran:#?}");
    // The small model is shown the condition with the hook's input, and is asked again after the addition.
    let judged: Vec<String> = ran.requests.iter().filter(|it| fake_api::is_judgement(it)).map(fake_api::shown).collect();
    assert_eq!(judged.len(), 2, "{judged:#?}");
    for (shown, is_active) in judged.iter().zip([false, true]) {
        assert!(shown.contains("Throughline remembers this session") && shown.contains("## Still open"), "{shown}");
        assert!(shown.contains(&format!("\"stop_hook_active\":{is_active}")), "{shown}");
    }
    // The agent reads the reason, and its addition is the last thing that it says.
    let last = ran.requests.iter().rfind(|it| !fake_api::is_judgement(it)).expect("the agent was asked");
    let shown = fake_api::shown(last);
    assert_eq!(shown.matches("Stop hook feedback:").count(), 1, "{shown}");
    assert!(shown.contains("Add what was decided and what is open."), "{shown}");

    // A session in which nothing happened is not asked to say more.
    let next = client.prompt("What did we do?", &["--session-id", &session_id(2)]);
    assert_eq!(next.requests.iter().filter(|it| fake_api::is_judgement(it)).count(), 1, "{next:#?}");
    assert_eq!(next.requests.len(), 2, "{next:#?}");
    // What was added is remembered as the agent's word, and what the hook said is not.
    let shown = fake_api::shown(&next.requests[0]);
    let memory = &shown[shown.find(HEADING).unwrap_or_else(|| panic!("nothing was told: {shown}"))..];
    for wanted in ["plain text instead of JSON", "Translate the greeting into Korean"] {
        assert!(memory.contains(wanted), "`{wanted}` is not told:\n{memory}");
    }
    for asked in ["Throughline remembers this session", "what was decided and what is open"] {
        assert!(!home.remembers(asked), "`{asked}` is remembered: {:#?}", home.memories());
    }
}

#[test]
fn a_compaction_gives_back_what_was_saved_of_this_session() {
    let Some(binary) = client::find("a_compaction_gives_back_what_was_saved_of_this_session") else {
        return;
    };
    let home = Home::new();
    let project = home.project("greeter");
    let api = FakeApi::start(&project);
    let client = Client { binary, home: &home, project: &project, api: &api };
    drop(home.run(["install", "--scope", "user"]).success());
    let id = session_id(1);

    client
        .prompt("SCN_WRITE SCN_TODO Add a greeting file for the Busan office", &["--session-id", &id])
        .assert_hooks(&["SessionStart", "Stop"]);
    let compacted = client.prompt("/compact keep the decisions", &["--resume", &id]);
    compacted.assert_hooks(&["SessionStart"]);
    // The client tells of these two in words only.
    for event in ["PreCompact", "PostCompact"] {
        assert!(
            compacted.events.iter().any(|line| {
                let text = line["message"]["content"].as_str().unwrap_or_default();
                text.contains(event) && text.contains("completed successfully") && !text.contains("failed")
            }),
            "{event} did not succeed: {compacted:#?}"
        );
    }

    let after = client.prompt("Go on", &["--resume", &id]);
    after.assert_hooks(&["SessionStart", "Stop"]);
    assert_eq!(occurrences(&after.requests, HEADING), 1, "once, of the compaction");
    let shown = fake_api::shown(&after.requests[0]);
    let memory = &shown[shown.find(HEADING).expect("counted above")..];
    for wanted in ["Busan office", "greeting.txt"] {
        assert!(memory.contains(wanted), "`{wanted}` did not come back:\n{memory}");
    }
    home.eventually("the agent's own summary is kept", |home| home.remembers(fake_api::COMPACTION_SUMMARY));
}
