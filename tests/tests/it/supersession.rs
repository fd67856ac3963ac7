//! Changes by a later session: the new statement is shown, and the replaced one is not, unless a user asks for it or
//! undoes the link.

use std::path::Path;

use serde_json::{Value, json};
use tests::home::{Home, json_of, run_in as run};
use tests::process::{self, WATCHDOG};
use tests::session::Session;
use tests::transcript::session_id;

/// A session that settles one thing.
fn settle(home: &Home, project: &Path, number: u64, day: &str, asked: &str, answer: &str) {
    let mut session = Session::new(home, project, &session_id(number));
    session.transcript.at(&format!("{day}T09:00:00Z")).user(asked).answer(answer);
    session.stop(answer);
    session.end();
}

const ASKED: &str = "the login page forgets people too early, keep an idle login for 30 minutes";
const BEFORE: &str = "`IDLE_LOGIN_MIN = 30` in `auth/session.rs`, so an idle login ends after 30 minutes. The cookie is renewed at each request.";
const AFTER: &str =
    "`IDLE_LOGIN_MIN = 90` in `auth/session.rs`, so an idle login ends after 90 minutes. The cookie is renewed as before.";

/// A project in which a later session changed how long an idle login lives.
fn amended() -> (Home, std::path::PathBuf) {
    let home = Home::new();
    let project = home.project("shop");
    settle(&home, &project, 1, "2025-06-02", ASKED, BEFORE);
    settle(
        &home,
        &project,
        2,
        "2025-06-09",
        "sort the basket by price",
        "The basket is sorted in `cart/sort.rs`, cheapest first.",
    );
    settle(&home, &project, 3, "2025-06-20", "support says it is still too short, make it 90", AFTER);
    (home, project)
}

/// A detached process compares after the end of a session.
fn wait_until_compared(home: &Home, project: &Path) {
    home.eventually("the sessions are compared", |home| {
        let found = json_of(home, project, &["search", "--json", "--type", "result", "idle login 30 minutes"]);
        found.as_array().is_some_and(|all| all.iter().any(|it| it.get("superseded_by").is_some()))
    });
}

fn prompt(home: &Home, project: &Path, text: &str) -> String {
    let payload = json!({"session_id": session_id(9), "transcript_path": "", "cwd": project,
        "hook_event_name": "UserPromptSubmit", "prompt": text});
    home.hook(&payload).context.unwrap_or_default()
}

#[test]
fn a_prompt_is_told_what_holds_and_not_what_was_amended() {
    let (home, project) = amended();
    // The start of a session compares what the sessions before it left.
    let start = home.hook(&json!({"session_id": session_id(8), "transcript_path": "", "cwd": project,
        "hook_event_name": "SessionStart", "source": "startup"}));
    let told = start.context.unwrap_or_default();
    assert!(told.contains("sort the basket by price") && !told.contains("30 minutes"), "{told}");
    let told = prompt(&home, &project, "after how many minutes does an idle login end in auth/session.rs?");
    assert!(told.contains("90 minutes"), "{told}");
    assert!(!told.contains("30 minutes"), "{told}");
}

#[test]
fn a_search_shows_both_the_one_that_holds_first() {
    let (home, project) = amended();
    wait_until_compared(&home, &project);
    let found = json_of(&home, &project, &["search", "--json", "--type", "result", "idle login 30 minutes"]);
    let contents: Vec<&str> = found.as_array().expect("a list").iter().filter_map(|it| it["content"].as_str()).collect();
    assert!(contents[0].contains("IDLE_LOGIN_MIN = 90"), "{contents:?}");
    assert!(contents[1].contains("IDLE_LOGIN_MIN = 30"), "{contents:?}");
    assert_eq!(found[1]["superseded_by"], found[0]["id"]);
    let printed = run(&home, &project, &["search", "--type", "result", "idle login 30 minutes"]).success().stdout;
    assert!(printed.contains("amended 2025-06-20"), "{printed}");
}

#[test]
fn somebody_looks_why_and_undoes_a_link() {
    let (home, project) = amended();
    wait_until_compared(&home, &project);
    let found = json_of(&home, &project, &["search", "--json", "--type", "result", "idle login 30 minutes"]);
    let (newer, older) = (found[0]["id"].as_str().expect("an id"), found[1]["id"].as_str().expect("an id"));
    let shown = json_of(&home, &project, &["memory", "show", "--json", older]);
    let links = shown["links"].as_array().expect("links");
    let amended = links.iter().find(|link| link["relation"] == "amended_by").unwrap_or_else(|| panic!("{shown}"));
    assert_eq!(amended["id"], newer);
    let printed = run(&home, &project, &["memory", "show", older]).success().stdout;
    assert!(printed.contains("amended by") && printed.contains("memory unlink"), "{printed}");
    let undone = run(&home, &project, &["memory", "unlink", newer]).success().stdout;
    assert!(undone.contains("no longer: amends"), "{undone}");
    let found = json_of(&home, &project, &["search", "--json", "--type", "result", "idle login 30 minutes"]);
    assert!(found.as_array().expect("a list").iter().all(|it| it.get("superseded_by").is_none()), "{found}");
    let again = run(&home, &project, &["memory", "unlink", "0000ffff"]).failure_with_hint();
    assert!(again.stderr.contains("0000ffff"));
}

#[test]
fn somebody_asks_when_a_memory_was_told() {
    let (home, project) = amended();
    drop(prompt(&home, &project, "after how many minutes does an idle login end in auth/session.rs?"));
    // The session's end stores its journal.
    drop(home.hook(&json!({"session_id": session_id(9), "transcript_path": "", "cwd": project,
        "hook_event_name": "SessionEnd", "reason": "exit"})));
    let found = json_of(&home, &project, &["search", "--json", "--type", "result", "idle login 90 minutes"]);
    let id = found[0]["id"].as_str().expect("an id");
    let shown = json_of(&home, &project, &["memory", "show", "--json", id]);
    assert_eq!(
        (&shown["told"][0]["moment"], &shown["told"][0]["session_id"]),
        (&json!("prompt"), &json!(session_id(9))),
        "{shown}"
    );
    let printed = run(&home, &project, &["memory", "show", id]).success().stdout;
    assert!(printed.contains("at prompt, session"), "{printed}");
    // The line that it comes from.
    let (path, line) = (shown["transcript"]["path"].as_str().expect("a path"), shown["transcript"]["line"].as_u64());
    let text = std::fs::read_to_string(path).expect("the transcript");
    let line = text.lines().nth(usize::try_from(line.expect("a number") - 1).expect("a small number")).expect("the line");
    assert!(line.contains(&format!("\"uuid\":\"{}\"", shown["line_uuid"].as_str().expect("a line"))), "{line}");
    std::fs::remove_file(path).expect("delete the transcript");
    assert_eq!(json_of(&home, &project, &["memory", "show", "--json", id]).get("transcript"), None);
}

#[test]
fn a_note_that_was_written_as_a_file_is_known_at_the_next_start() {
    let home = Home::new();
    let project = home.project("shop");
    drop(
        run(&home, &project, &["note", "add", "--type", "general", "--title", "Ovens", "The ovens are cleaned on Mondays"])
            .success(),
    );
    let folder = project.join(".gsd/memories");
    let write = |name: &str, title: &str, text: &str| {
        std::fs::create_dir_all(folder.join("general")).expect("create");
        let note = format!("---\ntype: general\ntitle: {title}\n---\n\n{text}\n");
        std::fs::write(folder.join("general").join(name), note).expect("write");
    };
    let start = |number: u64| {
        drop(home.hook(&json!({"session_id": session_id(number), "transcript_path": "", "cwd": project,
            "hook_event_name": "SessionStart", "source": "startup"})));
    };
    // A repository may bring files of anybody: before the first sync nothing is taken in.
    write("mixers.md", "Mixers", "The mixers hum at nine");
    start(7);
    assert!(!home.remembers("mixers hum"));
    drop(run(&home, &project, &["note", "sync"]).success());
    assert!(home.remembers("mixers hum"));
    write("scales.md", "Scales", "The scales are checked in June");
    start(8);
    assert!(home.remembers("scales are checked"));
    // Nothing else happened: no note was deleted because a file is missing.
    std::fs::remove_file(folder.join("general/scales.md")).expect("remove");
    start(9);
    assert!(home.remembers("scales are checked"));
}

#[test]
fn somebody_saves_what_holds_instead() {
    let home = Home::new();
    let project = home.project("shop");
    let save = |arguments: &[&str]| run(&home, &project, &[&["memory", "save"], arguments].concat());
    let first = save(&["Deploys go out on Fridays"]).success().stdout.trim().to_owned();
    let second = save(&["--supersedes", &first, "Nobody deploys before a weekend"]).success().stdout.trim().to_owned();
    let found = json_of(&home, &project, &["search", "--json", "deploys on Fridays"]);
    assert_eq!(found[0]["id"], second.as_str(), "{found}");
    assert_eq!(found[1]["superseded_by"], second.as_str());
    let wrong = save(&["--supersedes", "ffff0000", "Deploys never happen"]).failure_with_hint();
    assert!(wrong.stderr.contains("ffff0000"), "{wrong:?}");
}

/// A repository with two decisions in commits; the first was reverted. Its first commit is empty.
fn repository(home: &Home) -> std::path::PathBuf {
    let project = home.project("depot");
    let commit = |subject: &str, body: &str| {
        std::fs::write(project.join(&subject[..4]), body).expect("write");
        home.git(&project, &["add", "."]);
        home.git(&project, &["commit", "-q", "-m", subject, "-m", body]);
    };
    commit(
        "Retry uploads for a day",
        "The depots lose their line at night, so an upload is tried for 24 hours with growing pauses.\n\nSigned-off-by: A Person <person@example.org>\nThe pauses grow by half.",
    );
    commit("Sort the pick list by aisle", "Pickers walked twice because the list was in the order of the baskets.");
    home.git(&project, &["revert", "--no-edit", "HEAD~1"]);
    project
}

fn commits(home: &Home) -> usize {
    home.memories().iter().filter(|memory| memory.kind == "commit").count()
}

#[test]
fn decisions_that_stand_only_in_commits_are_told() {
    let home = Home::new();
    let project = repository(&home);
    let report = json_of(&home, &project, &["ingest", "--git", "--json"]);
    assert_eq!((&report["commits"], &report["memories"], &report["reverted"]), (&json!(4), &json!(4), &json!(1)));
    let told = prompt(&home, &project, "in which order does the pick list come, by aisle or by basket?");
    assert!(told.contains("Pickers walked twice"), "{told}");
    // A reverted decision ranks below its revert and is marked.
    let found = json_of(&home, &project, &["search", "--json", "retry uploads for a day"]);
    let all = found.as_array().expect("a list");
    let old = all.iter().position(|it| it["title"] == "Retry uploads for a day").expect("it is found");
    assert!(old > 0 && all[old]["superseded_by"] == all[0]["id"], "{found}");
    // Nobody is named.
    assert!(!home.files().iter().any(|(_, bytes)| String::from_utf8_lossy(bytes).contains("person@example.org")));
    // Nothing is read twice.
    let again = json_of(&home, &project, &["ingest", "--git", "--json"]);
    assert_eq!((&again["commits"], &again["memories"]), (&json!(0), &json!(0)));
    // What was reverted holds again once its revert is reverted.
    home.git(&project, &["revert", "--no-edit", "HEAD"]);
    drop(json_of(&home, &project, &["ingest", "--git", "--json"]));
    let found = json_of(&home, &project, &["search", "--json", "retry uploads for a day"]);
    let old = found.as_array().and_then(|all| all.iter().find(|it| it["title"] == "Retry uploads for a day"));
    assert!(old.is_some_and(|old| old.get("superseded_by").is_none_or(Value::is_null)), "{found:#}");
}

#[test]
fn what_a_session_committed_and_somebody_reverted_is_told_as_the_earlier_word() {
    const QUESTION: &str = "for how long is an upload of the depot tried?";
    let home = Home::new();
    let project = home.project("depot");
    std::fs::write(project.join("upload.py"), "HOURS = 24\n").expect("write");
    home.git(&project, &["add", "."]);
    home.git(&project, &["commit", "-q", "-m", "Retry uploads for a day"]);
    let mut head = home.isolated("git");
    head.current_dir(&project).args(["rev-parse", "--short", "HEAD"]);
    let hash = process::run(head, Vec::new(), WATCHDOG).success().stdout;
    let answer = "An upload of the depot is tried for 24 hours with growing pauses; `upload.py` does it.";
    let mut session = Session::new(&home, &project, &session_id(1));
    session
        .transcript
        .at("2025-06-02T09:00:00Z")
        .user("the depots lose their line at night, retry uploads for a day")
        .writes("upload.py", "HOURS = 24\n")
        .bash(
            "git commit -am 'Retry uploads for a day'",
            &format!("[main {}] Retry uploads for a day\n 1 file changed", hash.trim()),
        )
        .answer(answer);
    session.stop(answer);
    session.end();
    drop(json_of(&home, &project, &["ingest", "--git", "--json"]));
    let asked = |number| Session::new(&home, &project, &session_id(number)).prompt(QUESTION).context.unwrap_or_default();
    let told = asked(11);
    assert!(told.contains("24 hours") && !told.contains("result (earlier)"), "{told}");

    home.git(&project, &["revert", "--no-edit", "HEAD"]);
    let report = json_of(&home, &project, &["ingest", "--git", "--json"]);
    assert_eq!(report["reverted"], 1, "{report}");
    assert!(report["doubted"].as_u64().is_some_and(|doubted| doubted >= 1), "{report}");
    let told = asked(12);
    let (revert, earlier) = (told.find("Revert \"Retry uploads"), told.find("result (earlier)"));
    assert!(revert.is_some() && revert < earlier, "{told}");
}

/// The two sessions share few words, and the first one says many other things.
#[test]
fn a_value_that_was_replaced_is_told_as_the_earlier_word_also_where_a_commit_says_it() {
    let home = Home::new();
    let project = home.project("slips");
    let rules = "The rules of the shop are in `rules.md`: §8 the monthly fee; §10 slips can be given back within 7 days, minus the days \
                 that were used; §11 leaving at the end of a month.";
    let commit = "git commit -am 'Write the rules of the shop' -m '§10 slips can be given back within 7 days'";
    let mut first = Session::new(&home, &project, &session_id(1));
    first
        .transcript
        .at("2025-06-02T09:00:00Z")
        .user("write the rules of the shop like those of the other one")
        .writes("rules.md", "rules\n")
        .bash(commit, "[main 1a2b3c4] Write the rules of the shop\n 1 file changed")
        .answer(rules);
    first.stop(rules);
    first.end();
    let amended = "What the provider of the payments wants is done: the shop's name stands in §1; §10: slips can be given back, 7 → 14 days, \
                   without conditions.";
    settle(&home, &project, 2, "2025-06-14", "the provider wrote: your refund window is too short, amend it", amended);
    // The start of a session compares what the sessions before it left.
    drop(home.hook(&json!({"session_id": session_id(8), "transcript_path": "", "cwd": project,
        "hook_event_name": "SessionStart", "source": "startup"})));
    let told = prompt(&home, &project, "for how many days can slips be given back by the rules of the shop?");
    let later = told.find("7 → 14 days");
    assert!(later.is_some() && later < told.find("result (earlier)"), "{told}");
    // The result names the commit.
    let found = json_of(&home, &project, &["search", "--json", "--type", "commit", "write the rules of the shop"]);
    let shown = json_of(&home, &project, &["memory", "show", "--json", found[0]["id"].as_str().expect("an id")]);
    assert!(shown["links"].as_array().is_some_and(|links| links.len() == 1), "{shown}");
}

#[test]
fn a_long_history_does_not_drown_what_a_session_said() {
    let home = Home::new();
    let project = home.work().join("shop");
    std::fs::create_dir_all(&project).expect("create");
    tests::commits::write(&home, &project, 3_000);
    settle(
        &home,
        &project,
        1,
        "2025-06-02",
        "in which order shall the pick list come?",
        "The pick list is sorted by shelf height now, the lowest shelf first; `depot/pick.rs` does it.",
    );
    let report = json_of(&home, &project, &["ingest", "--git", "--json"]);
    assert_eq!(report["memories"], 3_000, "{report}");
    let told = prompt(&home, &project, "by what is the pick list sorted, aisle or shelf?");
    assert!(told.contains("shelf height"), "{told}");
    let found = json_of(&home, &project, &["search", "--json", "pick list sorted by shelf height"]);
    assert_ne!(found[0]["type"], "commit", "{found:#}");
}

#[test]
fn new_commits_are_read_after_a_session() {
    let home = Home::new();
    let project = repository(&home);
    drop(json_of(&home, &project, &["ingest", "--git", "--json"]));
    home.git(
        &project,
        &["commit", "-q", "--allow-empty", "-m", "Print labels at the dock", "-m", "The office printer was too far away."],
    );
    settle(
        &home,
        &project,
        5,
        "2025-06-20",
        "what is a dock?",
        "A dock is where trucks are loaded; `dock.rs` has its opening times.",
    );
    home.eventually("the new commit is known", |home| commits(home) == 5);
}

#[test]
fn a_history_that_is_rewritten_is_read_again_and_doubles_nothing() {
    let home = Home::new();
    let project = repository(&home);
    drop(json_of(&home, &project, &["ingest", "--git", "--json"]));
    home.git(&project, &["commit", "-q", "--amend", "--allow-empty", "-m", "Give up the retries"]);
    let report = json_of(&home, &project, &["ingest", "--git", "--json"]);
    assert_eq!(report["memories"], json!(1), "{report}");
    assert_eq!(commits(&home), 5);
}

#[test]
fn a_folder_without_a_repository_is_refused() {
    let home = Home::new();
    let folder = home.path().join("plain");
    std::fs::create_dir(&folder).expect("create");
    let refused = run(&home, &folder, &["ingest", "--git"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("no git repository"), "{refused:?}");
}

#[test]
fn attack_a_repository_whose_configuration_names_programs() {
    let home = Home::new();
    let project = repository(&home);
    let trap = home.path().join("trap.sh");
    let mark = home.path().join("ran");
    std::fs::write(&trap, format!("#!/bin/sh\ntouch {}\nexec cat\n", mark.display())).expect("write");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&trap, mode).expect("mode");
    let trap = trap.to_string_lossy().into_owned();
    for name in
        ["core.pager", "pager.log", "core.fsmonitor", "gpg.program", "core.sshCommand", "diff.external", "core.editor"]
    {
        home.git(&project, &["config", name, &trap]);
    }
    home.git(&project, &["config", "log.showSignature", "true"]);
    drop(json_of(&home, &project, &["ingest", "--git", "--json"]));
    assert!(!mark.exists(), "a program of the repository ran");
}
