//! What must not be kept is not kept: secrets, what the user left out, what was said in a pause, what was forgotten; and no
//! project sees another's memories.

use serde_json::json;
use tests::home::Home;
use tests::session::Session;
use tests::transcript::{moment, session_id};

fn configure(home: &Home, text: &str) {
    let folder = home.throughline().join("config");
    std::fs::create_dir_all(&folder).expect("the folder");
    std::fs::write(folder.join("config.toml"), text).expect("the configuration");
}

/// Panics where any file that the program wrote holds the bytes.
#[track_caller]
fn assert_nowhere(home: &Home, what: &str) {
    for (path, bytes) in home.files() {
        assert!(!holds(&bytes, what.as_bytes()), "{what} stands in {}", path.display());
    }
}

fn holds(bytes: &[u8], what: &[u8]) -> bool {
    bytes.windows(what.len()).any(|window| window == what)
}

#[test]
fn of_what_is_excluded_nothing_is_derived() {
    let home = Home::new();
    configure(
        &home,
        "[privacy]\nexclude_paths = [\"*.vault\", \"private/\"]\nexclude_tools = [\"mcp__mail__*\"]\nexclude_patterns = ['(?i)operation \\w+fox']\n",
    );
    let project = home.project("billing");
    let mut session = Session::new(&home, &project, &session_id(1));
    session
        .transcript
        .user("Rename the ledger module. It is for Operation Silverfox")
        .writes("private/plan.md", "quokkaplan content")
        .bash_fails("cat keys/prod.vault", 1, "quokkavault: cannot be opened")
        .bash("cat keys/prod.vault.txt", "an ordinary file")
        .tool("mcp__mail__send", &json!({"to": "quokkamail"}), "quokkasent", &json!({"ok": "quokkaok"}))
        .says("I saw in private/plan.md that quokkaprose matters.\nThe ledger module is renamed.")
        .edits("src/ledger.rs", "mod old;", "mod ledger;")
        .answer("The ledger module is renamed to ledger, and all callers follow.");
    session.stop("The ledger module is renamed to ledger, and all callers follow.");
    assert!(home.remembers("ledger"));
    for gone in ["quokka", "Silverfox", "prod.vault\"", "plan.md"] {
        assert_nowhere(&home, gone);
    }
    // The result of an excluded use comes in a later reading: its use is looked up.
    let id = session.transcript.user("Mail them").calls("mcp__mail__send", &json!({"to": "quokkamail"}));
    session.stop_before_it_is_written("Sending");
    session.stop("Sending");
    session.transcript.result(&id, "quokkalate arrived", true, &json!("Error: quokkalate arrived"));
    session.stop("It failed");
    session.end();
    assert_nowhere(&home, "quokka");
}

#[test]
fn an_excluded_project_is_neither_read_nor_told() {
    let home = Home::new();
    let project = home.project("diary");
    let remember = |number: u64| {
        let mut session = Session::new(&home, &project, &session_id(number));
        session.transcript.user("Always write entries in Korean").answer("I will");
        session.stop("I will");
        session.end();
    };
    remember(1);
    let before = home.memories();
    assert!(!before.is_empty());
    configure(&home, "[privacy]\nexclude_projects = [\"diary\"]\n");
    Session::new(&home, &project, &session_id(9)).start("startup").silent();
    remember(2);
    assert_eq!(home.memories(), before);
}

#[test]
fn a_pause_is_never_made_up_for() {
    let home = Home::new();
    let project = home.project("billing");
    let mut session = Session::new(&home, &project, &session_id(1));
    session.transcript.at(&moment(-600)).user("Always run the aardvark linter").answer("The aardvark linter it is");
    session.stop("The aardvark linter it is");
    assert!(home.remembers("aardvark"));

    let folder = project.to_string_lossy().into_owned();
    drop(home.run(["pause", "--project", &folder]).success());
    begin_earlier(&home);
    Session::new(&home, &project, &session_id(2)).start("startup").silent();
    session.transcript.at(&moment(-200)).user("Always trust the wombat service").answer("The wombat service is trusted");
    session.stop("The wombat service is trusted");
    session.pre_compact();
    let doctor = home.run(["doctor"]);
    assert!(doctor.stdout.contains("is paused since"), "{doctor:#?}");
    assert_nowhere(&home, "wombat");

    drop(home.run(["resume", "--project", &folder]).success());
    // A summary of the whole session knows what was said in the pause.
    session.transcript.at(&moment(60)).compacts("They spoke of the wombat service");
    session.post_compact("They spoke of the wombat service");
    session.transcript.user("Always use the pangolin parser").answer("The pangolin parser is used");
    session.stop("The pangolin parser is used");
    session.end();
    assert!(home.remembers("pangolin"));
    assert_nowhere(&home, "wombat");

    // Not out of the transcript, nor out of a copy of it, nor into a new database.
    std::fs::remove_file(home.database()).expect("the database");
    for rest in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{rest}", home.database().display()));
    }
    let copy = session.path.with_file_name(format!("{}.jsonl", session_id(7)));
    let text = session.transcript.text().replace(session.id(), &session_id(7));
    std::fs::write(copy, text).expect("the copy");
    drop(home.run(["ingest"]).success());
    assert!(home.remembers("pangolin") && home.remembers("aardvark"));
    assert_nowhere(&home, "wombat");
    assert!(Session::new(&home, &project, &session_id(3)).start("startup").said().contains("pangolin"));
}

#[test]
fn one_session_is_paused_and_its_neighbours_are_not() {
    let home = Home::new();
    let project = home.project("billing");
    drop(home.run(["pause", "--session", &session_id(1)]).success());
    for number in [1, 2] {
        let mut session = Session::new(&home, &project, &session_id(number));
        session.transcript.at(&moment(1)).user(&format!("Always use the tool number{number}")).answer("Yes");
        session.stop("Yes");
        session.end();
    }
    assert!(home.remembers("number2") && !home.remembers("number1"));
    drop(home.run(["resume", "--all"]).success());
}

/// As if the pause had been begun five minutes ago, so that a test need not wait for lines to be written in it.
fn begin_earlier(home: &Home) {
    let file = home.data().join("privacy.json");
    let mut all: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).expect("it is there")).expect("JSON");
    let from = all[0]["from"].as_u64().expect("a time");
    all[0]["from"] = json!(from - 300_000);
    std::fs::write(&file, all.to_string()).expect("it is written");
}
