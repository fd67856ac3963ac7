//! What must not be kept is not kept: secrets, what the user left out, what was said in a pause, what was forgotten; and no
//! project sees another's memories.

use std::path::Path;

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
    let holding = home.holding(what);
    assert!(holding.is_empty(), "{what} stands in {holding:?}");
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
fn attack_an_excluded_session_that_stops_or_is_ingested_from_another_folder() {
    let home = Home::new();
    let (diary, open) = (home.project("diary"), home.project("open"));
    configure(&home, "[privacy]\nexclude_projects = [\"diary\"]\n");
    let mut moved = Session::new(&home, &diary, &session_id(1));
    moved.transcript.user("Always run the aardvark linter").answer("The aardvark linter it is");
    moved.cwd.clone_from(&open);
    moved.stop("The aardvark linter it is");
    moved.end();
    let path = moved.path.to_string_lossy().into_owned();
    let run = home.run(["ingest", &path]);
    let said = [run.stdout, run.stderr].concat();
    assert!(said.contains("the session is excluded or paused") && !said.contains("names no session"), "{said}");
    assert!(said.contains("is never read; `throughline doctor`") && !said.contains("correct the path"), "{said}");
    assert_nowhere(&home, "aardvark");
    // A session that was never excluded is remembered.
    let mut other = Session::new(&home, &open, &session_id(2));
    other.transcript.user("Always run the wombat linter").answer("The wombat linter it is");
    other.stop("The wombat linter it is");
    assert!(home.remembers("wombat"));
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
    assert!(doctor.stdout.contains("has been paused since"), "{doctor:#?}");
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

/// A session with a rare word, and the data that is derived from it.
fn tell(home: &Home, project: &Path, number: u64, rare: &str) {
    let mut session = Session::new(home, project, &session_id(number));
    session
        .transcript
        .user(&format!("Always use {rare}lint for the ledger"))
        .bash_fails(&format!("run {rare}cmd"), 1, &format!("error: {rare}fault in line 3"))
        .edits(&format!("src/{rare}file.rs"), "old", "new")
        .asks(&format!("Which {rare}way?"), &[&format!("{rare}one"), "the other"], &format!("{rare}one"))
        .todo(&[(&format!("Write {rare}note"), "pending")])
        .compacts(&format!("They chose {rare}one"))
        .answer(&format!("The ledger uses {rare}lint now, as {rare}one says."));
    session.stop("done");
    session.end();
    assert_somewhere(home, rare);
    assert!(indexed(home, rare) > 0);
}

#[track_caller]
fn assert_somewhere(home: &Home, what: &str) {
    assert!(!home.holding(what).is_empty(), "{what} stands nowhere");
}

/// How many words that begin so the full-text index knows.
fn indexed(home: &Home, beginning: &str) -> i64 {
    let database = tests::database::open(&home.database());
    database
        .execute_batch("CREATE VIRTUAL TABLE temp.words USING fts5vocab(main, memories_fts, row)")
        .expect("the vocabulary can be read");
    database
        .query_row("SELECT count(*) FROM temp.words WHERE term LIKE ?1 || '%'", [beginning], |row| row.get(0))
        .expect("a count")
}

#[test]
fn what_is_forgotten_stands_in_no_file() {
    let home = Home::new();
    let project = home.project("billing");
    let other = home.project("shop");
    tell(&home, &project, 1, "aardvark");
    tell(&home, &project, 2, "wombat");
    tell(&home, &other, 3, "pangolin");
    tell(&home, &other, 4, "narwhal");
    let folder = project.to_string_lossy().into_owned();

    let dry = home.json(["memory", "forget", "--match", "AARDVARKLINT", "--all-projects", "--dry-run", "--json"]);
    assert!(dry["memories"].as_u64() > Some(0), "{dry}");
    assert_somewhere(&home, "aardvarklint");
    drop(home.run(["memory", "forget", "--match", "aardvark", "--all-projects", "--yes", "--now"]).success());
    assert_nowhere(&home, "aardvark");
    assert_eq!(indexed(&home, "aardvark"), 0);
    assert_somewhere(&home, "wombat");
    drop(home.run(["ingest"]).success());
    assert_nowhere(&home, "aardvark");

    drop(home.run(["memory", "forget", "--session", &session_id(4), "--yes", "--now"]).success());
    assert_nowhere(&home, "narwhal");
    assert_eq!(indexed(&home, "narwhal"), 0);
    assert_somewhere(&home, "pangolin");

    drop(home.run(["memory", "forget", "--project", &folder, "--yes", "--now"]).success());
    assert_nowhere(&home, "wombat");
    assert_eq!(indexed(&home, "wombat"), 0);
    assert_somewhere(&home, "pangolin");
    drop(home.run(["ingest"]).success());
    assert_nowhere(&home, "wombat");
    assert!(home.memories_of(&project).is_empty());

    drop(home.run(["memory", "forget", "--before", "2030-01-01", "--all-projects", "--yes", "--now"]).success());
    assert_nowhere(&home, "pangolin");
    assert!(home.memories().is_empty());
    tests::database::assert_sound(&home.database());

    // Not even into a new database, as far as it was forgotten as a whole.
    std::fs::remove_file(home.database()).expect("the database");
    drop(home.run(["ingest"]).success());
    for gone in ["narwhal", "wombat", "pangolin", "aardvark"] {
        assert_nowhere(&home, gone);
    }
    drop(home.run(["memory", "forget", "--yes"]));
}

#[test]
fn what_was_said_since_a_moment_is_forgotten() {
    let home = Home::new();
    let project = home.project("billing");
    let mut session = Session::new(&home, &project, &session_id(1));
    let transcript = &mut session.transcript;
    transcript.at("2026-01-05T10:00:00Z").user("Always use aardvarklint for the ledger");
    transcript.answer("The ledger uses aardvarklint now.");
    session.stop("done");
    let transcript = &mut session.transcript;
    transcript.at("2026-01-06T10:00:00Z").user("Always use wombatlint for the till");
    transcript.bash_fails("run wombatcmd", 1, "error: wombatfault in line 3");
    transcript.answer("The till uses wombatlint now.");
    session.stop("done");
    let since = ["memory", "forget", "--project", "billing", "--after", "2026-01-06"];
    let empty = home.run(since.iter().chain(&["--before", "2026-01-06"])).failure_with_hint();
    assert!(empty.stderr.contains("nothing between"), "{}", empty.stderr);
    let said = home.run(since).success();
    // The summary of the session, which begins with the first request, says what was done later too.
    let preference = |word: &str| said.stdout.contains(&format!("preference       Always use {word}lint"));
    assert!(preference("wombat") && !preference("aardvark"), "{}", said.stdout);
    drop(home.run(since.iter().chain(&["--yes"])).success());
    let texts = || home.memories().iter().map(|memory| memory.text.clone()).collect::<String>();
    assert!(texts().contains("aardvarklint") && !texts().contains("wombat"), "{}", texts());
    drop(home.run(["memory", "unforget", "--last"]).success());
    assert!(texts().contains("aardvarklint") && texts().contains("wombat"), "{}", texts());

    drop(home.run(since.iter().chain(&["--yes", "--now"])).success());
    assert_nowhere(&home, "wombat");
    assert_somewhere(&home, "aardvark");
    // What is said afterwards is remembered; what was forgotten does not come back with it.
    session.transcript.at("2100-01-01T10:00:00Z").user("Always use pangolinlint for the shelf").answer("Done.");
    session.end();
    assert_somewhere(&home, "pangolin");
    drop(home.run(["ingest"]).success());
    assert_nowhere(&home, "wombat");
    tests::database::assert_sound(&home.database());
}

#[test]
fn a_deleted_memory_leaves_no_free_page() {
    let home = Home::new();
    let project = home.project("billing");
    let mut session = Session::new(&home, &project, &session_id(1));
    session
        .transcript
        .user("What is the state?")
        .answer("All is well.")
        .user("Always use quokkalint for the ledger")
        .answer("Yes.");
    session.stop("Yes.");
    session.end();
    assert_somewhere(&home, "quokkalint");
    let found = home.json(["memory", "search", "quokkalint", "--all-projects", "--json"]);
    let ids: Vec<String> =
        found.as_array().into_iter().flatten().filter_map(|it| it["id"].as_str().map(str::to_owned)).collect();
    assert!(!ids.is_empty(), "{found}");
    let mut arguments = vec!["memory", "delete"];
    arguments.extend(ids.iter().map(String::as_str));
    drop(home.run(&arguments).success());
    assert_eq!(indexed(&home, "quokkalint"), 0);
    let database = tests::database::open(&home.database());
    let free: i64 = database.query_row("PRAGMA freelist_count", [], |row| row.get(0)).expect("a count");
    let wal = std::fs::metadata(format!("{}-wal", home.database().display())).map_or(0, |meta| meta.len());
    assert_eq!((free, wal), (0, 0));
    // Notes and states of the session may still hold the words; this forgets them too.
    drop(home.run(["memory", "forget", "--match", "quokkalint", "--all-projects", "--yes", "--now"]).success());
    assert_nowhere(&home, "quokkalint");
}

#[test]
fn what_turns_out_to_be_secret_is_scrubbed() {
    let home = Home::new();
    let project = home.project("billing");
    tell(&home, &project, 1, "zq7wombatx");
    std::fs::write(project.join(".env"), "DEPLOY_TOKEN=zq7wombatx\n").expect("the file");
    let dry = home.json(["scrub", "--dry-run", "--json"]);
    assert!(dry["rows"].as_u64() > Some(3) && dry["rules"]["environment"].as_u64() > Some(3), "{dry}");
    assert_somewhere(&home, "zq7wombatx");
    drop(home.run(["scrub"]).success());
    assert_nowhere(&home, "zq7wombatx");
    assert_eq!(indexed(&home, "zq7wombatx"), 0);
    // The same secret has one tag, in whatever it stood.
    let tags: std::collections::BTreeSet<String> = home
        .memories()
        .iter()
        .flat_map(|memory| {
            memory.text.split("[redacted:environment#").skip(1).map(|rest| rest[..4].to_owned()).collect::<Vec<_>>()
        })
        .collect();
    assert!(tags.len() == 1 && tags.iter().all(|tag| tag.ends_with(']')), "{tags:?}");
    assert_eq!(home.json(["scrub", "--json"])["rows"], 0);
    tests::database::assert_sound(&home.database());
}

#[test]
fn a_filter_redacts_what_comes_in() {
    let home = Home::new();
    let mut command = home.command(["redact"]);
    command.env("SOME_SECRET", "zq7wombatx");
    let run = tests::process::run(command, b"it is zq7wombatx\nand ordinary".to_vec(), tests::process::WATCHDOG).success();
    assert_eq!(run.stdout, "it is [redacted:environment]\nand ordinary");
    let mut command = home.command(["redact", "--report", "json"]);
    command.env("SOME_SECRET", "zq7wombatx");
    let run = tests::process::run(command, b"it is zq7wombatx".to_vec(), tests::process::WATCHDOG).success();
    let report: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(report, json!({"rules": {"environment": 1}}));
}

#[test]
fn somebody_tries_an_excluded_pattern_and_it_is_left_out() {
    let home = Home::new();
    configure(&home, "[privacy]\nexclude_patterns = ['(?i)operation \\w+fox']\n");
    let input = b"We start Operation Silverfox at noon".to_vec();
    let run = tests::process::run(home.command(["redact"]), input, tests::process::WATCHDOG).success();
    assert!(!run.stdout.contains("Silverfox") && run.stdout.ends_with(" at noon"), "{run:#?}");
}

#[test]
fn a_teams_rules_and_those_that_they_extend_are_in_force_everywhere() {
    let home = Home::new();
    let project = home.project("billing");
    let rules = home.work().join("rules");
    std::fs::create_dir(&rules).expect("the folder");
    std::fs::write(rules.join("base.toml"), "[[rules]]\nid = 'desk'\nregex = 'desk-(\\d+)'\n").expect("the file");
    std::fs::write(
        rules.join("team.toml"),
        "[extend]\npath = 'base.toml'\n[[rules]]\nid = 'badge'\nregex = 'badge=(\\w+)'\nkeywords = ['badge=']\n\
         [[rules]]\nid = 'broken'\nregex = '(broken'\nkeywords = ['broken']\n",
    )
    .expect("the file");
    configure(&home, &format!("[redaction]\nrules = [{:?}]\n", rules.join("team.toml")));

    let input = b"badge=wombat7 at desk-77, broken".to_vec();
    let run = tests::process::run(home.command(["redact"]), input, tests::process::WATCHDOG).success();
    assert_eq!(run.stdout, "badge=[redacted:badge] at desk-[redacted:desk], broken");
    assert!(run.stderr.contains("rule broken: unclosed group"), "{run:#?}");

    let mut session = Session::new(&home, &project, &session_id(1));
    session.transcript.user("Always use badge=wombat7 at desk-77").answer("badge=wombat7 it is");
    session.stop("badge=wombat7 it is");
    session.end();
    assert!(home.remembers("badge=[redacted:badge#"));
    assert_nowhere(&home, "wombat7");
}

/// The commands that store something, each with a text of its own.
const STORING: [&[&str]; 5] = [
    &["memory", "save", "The okapi linter is used"],
    &["note", "add", "--type", "decision", "--title", "Use the okapi linter", "The okapi linter is used"],
    &["ingest"],
    &["ingest", "--git"],
    &["import", "okapi.jsonl"],
];

/// Runs every command that stores in the project and checks that each refuses, with these words, and creates nothing.
#[track_caller]
fn assert_refused(home: &Home, project: &Path, said: &str) {
    let before = home.files().len();
    for command in STORING {
        let run = tests::home::run_in(home, project, command).failure_with_hint();
        assert!(run.stderr.contains(said) && run.stderr.contains("nothing is stored"), "{command:?}: {run:#?}");
    }
    assert_eq!(home.files().len(), before, "a file was made");
}

#[test]
fn memory_that_is_turned_off_stores_nothing_and_still_shows_and_deletes() {
    let home = Home::new();
    let project = home.project("billing");
    let mut session = Session::new(&home, &project, &session_id(1));
    session.transcript.user("Always run the aardvark linter").answer("The aardvark linter it is");
    session.stop("The aardvark linter it is");
    session.end();
    home.rest();
    std::fs::write(project.join("okapi.jsonl"), "{\"content\": \"The okapi linter is used\"}\n").expect("the file");
    configure(&home, "enabled = false\n");
    assert_refused(&home, &project, "`enabled = false`");
    let hint = tests::home::run_in(&home, &project, &["memory", "save", "okapi"]).stderr;
    assert!(hint.contains("`throughline config set enabled true`"), "{hint}");
    assert_nowhere(&home, "okapi linter is used\n");

    for command in [
        &["memory", "list"][..],
        &["ingest", "--dry-run"],
        &["export"],
        &["memory", "forget", "--match", "aardvark", "--yes"],
    ] {
        drop(tests::home::run_in(&home, &project, command).success());
    }
    assert!(!home.remembers("aardvark"));
    for command in [&["memory", "unforget"][..], &["memory", "compress", "--dry-run"]] {
        drop(tests::home::run_in(&home, &project, command).success());
    }
    for command in [
        &["memory", "unforget", "--last"][..],
        &["memory", "compress"],
        &["memory", "decompress", "0000"],
        &["restore", "backup.db", "--yes"],
    ] {
        let run = tests::home::run_in(&home, &project, command).failure_with_hint();
        assert!(run.stderr.contains("`enabled = false`"), "{command:?}: {run:#?}");
    }
    drop(tests::home::run_in(&home, &project, &["config", "set", "enabled", "true"]).success());
    drop(tests::home::run_in(&home, &project, &["memory", "save", "The okapi linter is used"]).success());
}

#[test]
fn rules_that_cannot_be_read_are_said_everywhere_and_commands_store_nothing() {
    let home = Home::new();
    let project = home.project("billing");
    std::fs::write(project.join("okapi.jsonl"), "{\"content\": \"The okapi linter is used\"}\n").expect("the file");
    let rules = home.work().join("rules.toml");
    configure(&home, &format!("[redaction]\nrules = [{rules:?}]\n"));
    assert_refused(&home, &project, "redaction rules cannot be read: ");

    let mut session = Session::new(&home, &project, &session_id(1));
    let said = session.start("startup").run.stdout;
    assert!(said.contains("Throughline: redaction rules cannot be read: ") && said.contains("rules.toml"), "{said}");
    // The session is not lost.
    session.transcript.user("Always run the aardvark linter").answer("The aardvark linter it is");
    session.stop("The aardvark linter it is");
    session.end();
    assert!(home.remembers("aardvark"));
    for state in ["off: ", "on: "] {
        let status = tests::home::run_in(&home, &project, &["status"]).stdout;
        assert!(status.starts_with(state) && status.contains("\nwarning: redaction rules cannot be read: "), "{status}");
        drop(home.run(["install"]).success());
    }
    let doctor = tests::home::run_in(&home, &project, &["doctor"]);
    assert!(doctor.stdout.contains("then run `throughline scrub`"), "{doctor:#?}");

    std::fs::write(&rules, "[[rules]]\nid = 'desk'\nregex = 'desk-(\\d+)'\n").expect("the file");
    drop(tests::home::run_in(&home, &project, &["memory", "save", "The okapi linter is used"]).success());
}

#[test]
fn a_refusal_names_the_pause_or_the_exclusion() {
    let home = Home::new();
    let project = home.project("billing");
    let save =
        || tests::home::run_in(&home, &project, &["memory", "save", "The okapi linter is used"]).failure_with_hint().stderr;
    drop(tests::home::run_in(&home, &project, &["pause"]).success());
    let said = save();
    assert!(said.contains("billing is paused") && said.contains("`throughline resume --project "), "{said}");
    drop(tests::home::run_in(&home, &project, &["resume"]).success());
    configure(&home, "[privacy]\nexclude_projects = [\"billing\"]\n");
    let said = save();
    assert!(said.contains("excluded by `privacy.exclude_projects`") && !said.contains("paused"), "{said}");
}
