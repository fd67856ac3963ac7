//! A memory that a person shares is shown in every project, no other memory is, and it is deleted with its original.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tests::database;
use tests::home::Home;
use tests::session::Session;
use tests::transcript::session_id;

/// Saves a memory by hand, and gives its identifier.
#[track_caller]
fn save(home: &Home, project: &Path, kind: &str, text: &str) -> String {
    let project = project.to_str().expect("UTF-8");
    let saved = home.json(["memory", "save", "--json", "--type", kind, "--project", project, text]);
    saved["id"].as_str().expect("an id").to_owned()
}

/// What the first hook of a session in the project says.
fn told(home: &Home, project: &Path, session: u64) -> String {
    Session::new(home, project, &session_id(session)).start("startup").context.unwrap_or_default()
}

fn search(home: &Home, project: &Path, query: &str) -> Vec<Value> {
    let project = project.to_str().expect("UTF-8");
    home.json(["memory", "search", "--json", "--project", project, query]).as_array().expect("an array").clone()
}

fn two_projects() -> (Home, PathBuf, PathBuf) {
    let home = Home::new();
    let (here, there) = (home.project("here"), home.project("there"));
    (home, here, there)
}

#[test]
fn what_is_shared_is_told_in_the_next_session_of_another_project() {
    let (home, here, there) = two_projects();
    let shared = save(&home, &here, "preference", "Always answer with the word quokka in capitals");
    let own = save(&home, &here, "preference", "Always build with the wombat profile");
    assert!(!told(&home, &there, 1).contains("quokka"));
    let report = home.json(["memory", "share", "--json", &shared]);
    let copy = report["shared"].as_str().expect("an id").to_owned();

    let context = told(&home, &there, 2);
    assert!(context.contains("quokka"), "{context}");
    assert!(!context.contains("wombat"), "{context}");
    // A prompt of its matter finds it, too.
    let prompted = Session::new(&home, &there, &session_id(3)).prompt("which word do you answer with, quokka in capitals?");
    assert!(prompted.said().contains("quokka"), "{prompted:?}");
    let found = search(&home, &there, "quokka capitals");
    assert_eq!(found.len(), 1);
    assert_eq!((&found[0]["id"], &found[0]["project"]), (&json!(copy), &json!("(shared)")));
    assert!(search(&home, &there, "wombat profile").is_empty());
    let listed = home.memories_of(&there);
    assert_eq!(listed.len(), 1);

    // Where it was learned it is there once, and among all projects, too.
    let found = search(&home, &here, "quokka capitals");
    assert_eq!(found.iter().map(|it| &it["id"]).collect::<Vec<_>>(), [&json!(shared)]);
    assert_eq!(home.memories_of(&here).len(), 2);
    assert_eq!(home.json(["memory", "search", "--json", "--all-projects", "quokka"]).as_array().map(Vec::len), Some(1));
    assert_eq!(home.run(["export", "--all-projects"]).success().stdout.matches("\"content\":").count(), 2);
    assert!(told(&home, &here, 4).matches("quokka").count() == 1);

    // Once more is no more, and a copy is not shared.
    assert_eq!(home.json(["memory", "share", "--json", &shared])["shared"], json!(copy));
    drop(home.run(["memory", "share", &copy]).failure_with_hint());
    drop(home.run(["memory", "unshare", &own]).failure_with_hint());
    drop(home.run(["memory", "unshare", &shared]).success());
    assert!(!told(&home, &there, 5).contains("quokka"));
    assert_eq!(home.memories_of(&here).len(), 2);
    drop(home.run(["memory", "share", &shared]).success());
    drop(home.run(["memory", "unshare", &copy]).success());
    assert!(search(&home, &there, "quokka").is_empty());
    drop(home.run(["verify"]).success());
}

#[test]
fn the_configuration_can_keep_it_from_sessions() {
    let (home, here, there) = two_projects();
    let id = save(&home, &here, "preference", "Always answer with the word quokka in capitals");
    drop(home.run(["memory", "share", &id]).success());
    let config = home.throughline().join("config");
    std::fs::create_dir_all(&config).expect("a folder");
    std::fs::write(config.join("config.toml"), "[sharing]\ncontext = false\n").expect("write");
    assert!(!told(&home, &there, 1).contains("quokka"));
    Session::new(&home, &there, &session_id(2)).prompt("which word do you answer with, quokka in capitals?").silent();
    // A person finds it.
    assert_eq!(search(&home, &there, "quokka capitals").len(), 1);
}

#[test]
fn a_copy_goes_with_its_origin() {
    let (home, here, there) = two_projects();
    let third = home.project("third");
    let text = "Always answer with the word quokka in capitals";
    let remembered = |home: &Home| home.memories().iter().filter(|memory| memory.text.contains("quokka")).count();

    // Deleted; but not while another one says it, too.
    let (first, second) = (save(&home, &here, "preference", text), save(&home, &there, "preference", text));
    drop(home.run(["memory", "share", &first]).success());
    drop(home.run(["memory", "share", &second]).success());
    assert_eq!(remembered(&home), 3);
    drop(home.run(["memory", "delete", &first]).success());
    assert_eq!(search(&home, &third, "quokka capitals").len(), 1);
    drop(home.run(["memory", "delete", &second]).success());
    assert_eq!(remembered(&home), 0);
    let bytes = std::fs::read(home.database()).expect("read");
    assert!(!tests::holds(&bytes, "quokka"), "a page still holds it");

    // Forgotten by its words, in its project only.
    let id = save(&home, &here, "learning", "The quokka cache is cold at night");
    drop(home.run(["memory", "share", &id]).success());
    let folder = here.to_str().expect("UTF-8");
    drop(home.run(["memory", "forget", "--match", "quokka", "--project", folder, "--yes"]).success());
    assert_eq!(remembered(&home), 0);

    // The project itself.
    let id = save(&home, &here, "learning", "The quokka queue is full at noon");
    drop(home.run(["memory", "share", &id]).success());
    drop(home.run(["memory", "forget", "--project", folder, "--yes"]).success());
    assert_eq!(remembered(&home), 0);
    database::assert_sound(&home.database());

    // Taken away behind its back.
    let id = save(&home, &there, "learning", "The quokka tests run twice");
    drop(home.run(["memory", "share", &id]).success());
    let connection = rusqlite::Connection::open(home.database()).expect("open");
    connection.execute_batch("PRAGMA foreign_keys = ON").expect("a pragma");
    connection.execute("DELETE FROM memories WHERE id = ?1", [&id]).expect("delete");
    let run = home.run(["verify"]).failure_with_hint();
    assert!(run.stdout.contains("shared memories that no longer exist"), "{run:?}");
    drop(home.run(["verify", "--repair"]).success());
    assert_eq!(remembered(&home), 0);
}

#[test]
fn what_is_redacted_afterwards_is_redacted_in_the_copy() {
    let (mut home, here, there) = two_projects();
    let id = save(&home, &here, "learning", "The gateway wants hunter2-quokka-swordfish as its word");
    drop(home.run(["memory", "share", &id]).success());
    home.set("GATEWAY_PASSWORD", "hunter2-quokka-swordfish");
    drop(home.run(["scrub"]).success());
    assert!(!home.remembers("swordfish"));
    let found = search(&home, &there, "gateway word");
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0]["content"].as_str().is_some_and(|content| content.contains("[redacted:")), "{found:#?}");
    drop(home.run(["verify"]).success());
}

#[test]
fn what_three_projects_learned_is_suggested_and_nothing_shares_itself() {
    let home = Home::new();
    let projects: Vec<PathBuf> = ["a", "b", "c", "d"].iter().map(|name| home.project(name)).collect();
    let suggested = || home.json(["memory", "suggest-shared", "--json"]).as_array().expect("an array").clone();
    for (number, project) in projects.iter().enumerate() {
        let session = Session::new(&home, project, &session_id(number as u64));
        let _ = session.start("startup");
        // A failure is a memory from its second time on.
        for time in 0..2 {
            let id = format!("bad-{number}-{time}");
            drop(session.failed(&id, "cargo build", "error[E0425]: cannot find value `otter` in this scope"));
        }
        let _ = Session::new(&home, project, &session_id(100 + number as u64)).start("startup");
        let text = ["Use tabs, never spaces!", "use TABS never spaces", "Use  tabs; never spaces."].get(number);
        if let Some(text) = text {
            save(&home, project, "preference", text);
        }
        save(&home, project, "preference", &format!("Only here: quokka number {number}"));
        if number == 1 {
            assert_eq!(suggested(), Vec::<Value>::new());
        }
    }
    let found = suggested();
    let of = |kind: &str| found.iter().find(|it| it["type"] == kind).unwrap_or_else(|| panic!("no {kind}: {found:#?}"));
    assert_eq!(of("preference")["projects"].as_array().map(Vec::len), Some(3));
    assert_eq!(of("failure")["projects"].as_array().map(Vec::len), Some(4));
    assert_eq!(found.len(), 2, "{found:#?}");
    let shown = home.run(["memory", "suggest-shared"]).success().stdout;
    assert!(shown.contains("work/a") && shown.to_lowercase().contains("tabs"), "{shown}");
    assert_eq!(database::number(&home.database(), "SELECT count(*) FROM projects WHERE identity = 'shared:'"), 0);

    drop(home.run(["memory", "share", of("preference")["id"].as_str().expect("an id")]).success());
    assert!(suggested().iter().all(|it| it["type"] != "preference"));
    // A shared failure that comes again stays shared, with its new count.
    let failure = of("failure")["id"].as_str().expect("an id").to_owned();
    drop(home.run(["memory", "share", &failure]).success());
    let other = home.project("other");
    let before = search(&home, &other, "type:failure");
    assert_eq!(before.len(), 1);
    let at = projects
        .iter()
        .position(|project| search(&home, project, "type:failure").iter().any(|it| it["id"] == json!(failure)));
    let project = &projects[at.expect("its project")];
    let session = Session::new(&home, project, &session_id(300));
    drop(session.failed("again", "cargo build", "error[E0425]: cannot find value `otter` in this scope"));
    let _ = Session::new(&home, project, &session_id(301)).start("startup");
    assert_eq!(search(&home, &other, "type:failure").len(), 1);
    drop(home.run(["verify"]).success());
}
