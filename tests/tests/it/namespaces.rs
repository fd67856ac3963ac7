//! Agents in different namespaces never see each other's memories, and an agent without a namespace sees neither's.

use std::path::Path;

use serde_json::{Value, json};
use tests::home::Home;
use tests::session::Session;
use tests::transcript::session_id;

/// As an agent of this namespace would be started; empty: of none.
fn as_agent(home: &mut Home, name: &str) {
    home.set("THROUGHLINE_NAMESPACE", name);
}

fn session<'home>(home: &'home Home, project: &Path, number: u64, word: &str) -> Session<'home> {
    let mut session = Session::new(home, project, &session_id(number));
    session
        .transcript
        .user(&format!("Always use the quokka tool named {word}"))
        .bash_fails("make", 2, &format!("error: quokka {word} is missing"))
        .answer(&format!("The quokka tool {word} is in use"));
    session
}

/// All that this namespace tells.
fn told(home: &Home, project: &Path, number: u64) -> String {
    let folder = project.to_str().expect("UTF-8");
    let start = Session::new(home, project, &session_id(number)).start("startup");
    let mut text = start.context.unwrap_or_default();
    for arguments in [
        vec!["memory", "search", "quokka", "--json", "--project", folder],
        vec!["memory", "search", "type:turn", "--json", "--all-projects"],
        vec!["session", "list", "--json", "--all-projects"],
        vec!["export", "--all-projects"],
    ] {
        text += &home.run(arguments).success().stdout;
    }
    text
}

#[test]
fn namespaces_never_see_each_other() {
    let mut home = Home::new();
    let project = home.project("shop");
    let agents = [("", "alpaca"), ("reviewer", "bonobo"), ("builder", "capybara")];
    for (number, (name, word)) in agents.into_iter().enumerate() {
        as_agent(&mut home, name);
        let mut session = session(&home, &project, number as u64, word);
        drop(session.start("startup"));
        session.stop("Done.");
        session.end();
        // One that is killed before it could store anything: its transcript is all that there is.
        let mut lost = self::session(&home, &project, 10 + number as u64, &format!("{word}-lost"));
        drop(lost.start("startup"));
        lost.transcript.write_to(&lost.path);
    }
    for (number, (name, own)) in agents.into_iter().enumerate() {
        as_agent(&mut home, name);
        // Twice: what was left unread is read at a start.
        drop(told(&home, &project, 20 + number as u64));
        drop(home.run(["ingest"]).success());
        let text = told(&home, &project, 30 + number as u64);
        for (_, word) in agents {
            assert_eq!(text.contains(word), word == own, "{name:?} is told of {word}: {text}");
        }
        assert!(text.contains(&format!("{own}-lost")), "{name:?} does not read its own transcripts: {text}");
    }
    for name in ["reviewer", "builder"] {
        assert!(home.data().join("namespaces").join(name).join("throughline.db").exists());
    }

    // Unless told to.
    as_agent(&mut home, "reviewer");
    let doctor = home.run(["doctor"]).stdout;
    let place = "~/throughline/data/namespaces/reviewer";
    assert!(doctor.contains(&format!("namespace      reviewer, stored in {place}\n")), "{doctor}");
    let found = home.json(["memory", "search", "quokka", "--json", "--all-projects", "--namespace", "builder"]);
    assert!(found.to_string().contains("capybara") && !found.to_string().contains("bonobo"), "{found}");
    let spaces = home.json(["namespaces", "--json"]);
    let names: Vec<(&Value, &Value)> =
        spaces.as_array().expect("an array").iter().map(|space| (&space["name"], &space["current"])).collect();
    assert_eq!(
        names,
        [(&Value::Null, &json!(false)), (&json!("builder"), &json!(false)), (&json!("reviewer"), &json!(true)),]
    );
    assert!(spaces.as_array().expect("an array").iter().all(|space| space["memories"].as_u64() > Some(0)), "{spaces}");
}

#[test]
fn a_bad_name_is_no_namespace_and_not_that_of_all() {
    let mut home = Home::new();
    let project = home.project("shop");
    for name in ["../other", "a/b", "..", "UPPER", "a b"] {
        drop(home.run(["memory", "stats", "--namespace", name]).failure_with_hint());
        as_agent(&mut home, name);
        let run = home.run(["memory", "stats"]).failure_with_hint();
        assert!(run.stderr.contains("THROUGHLINE_NAMESPACE"), "{run:?}");
        let mut session = session(&home, &project, 1, "alpaca");
        session.start("startup").silent();
        session.stop("Done.");
    }
    assert!(!home.database().exists());
    as_agent(&mut home, "");
    drop(home.run(["install", "--namespace", "reviewer"]).failure_with_hint());
}

#[test]
fn files_made_of_a_namespaces_memories_are_its_own() {
    let mut home = Home::new();
    let project = home.project("shop");
    let folder = home.path().join("notes");
    let config = home.throughline().join("config");
    std::fs::create_dir_all(&config).expect("a folder");
    let text = format!("[projections]\nsession_context = true\nfolder = {folder:?}\n");
    std::fs::write(config.join("config.toml"), text).expect("write");
    as_agent(&mut home, "reviewer");
    let mut session = session(&home, &project, 1, "bonobo");
    drop(session.start("startup"));
    session.stop("Done.");
    session.end();
    drop(home.run(["projections", "--all-projects"]).success());
    assert!(folder.join("namespaces/reviewer").is_dir());
    assert!(!project.join(".claude/session-context.json").exists());
    let beside: Vec<_> = std::fs::read_dir(&folder).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(beside, ["namespaces"]);
}
