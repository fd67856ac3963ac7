//! Folds old memories into digests and restores them, through the program, while others are read, forgotten, redacted, copied
//! or synced.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::{Value, json};
use tests::database;
use tests::home::Home;
use tests::session::Session;
use tests::transcript::{moment, session_id};

/// A day, seconds.
const DAY: i64 = 24 * 60 * 60;

/// Animals, so that no text has a word of another one.
const ANIMALS: [&str; 8] = ["quokka", "wombat", "capybara", "marten", "ocelot", "tapir", "pangolin", "axolotl"];

/// A session so many days ago that committed something for each animal.
fn old_session(home: &Home, project: &Path, number: u64, days: i64, animals: &[&str]) -> PathBuf {
    let mut session = Session::new(home, project, &session_id(number));
    session.transcript.at(&moment(-days * DAY));
    for animal in animals {
        session
            .transcript
            .user(&format!("Let the {animal} have a cage"))
            .edits(&format!("src/{animal}.rs"), "let a = 1;", &format!("let {animal}_cage = 1;"))
            .bash(
                &format!("git commit -m 'Give the {animal} a cage of its own'"),
                &format!("[main 1234abc] Give the {animal} a cage of its own\n 2 files changed, 3 insertions(+)"),
            )
            .answer("Committed.");
    }
    session.transcript.write_to(&session.path);
    drop(home.run(["ingest".as_ref(), session.path.as_os_str()]).success());
    session.path
}

fn lived_in() -> (Home, PathBuf) {
    let home = Home::new();
    let project = home.project("shop");
    old_session(&home, &project, 1, 400, &ANIMALS);
    (home, project)
}

fn configure(home: &Home, text: &str) {
    let folder = home.throughline().join("config");
    std::fs::create_dir_all(&folder).expect("the folder");
    std::fs::write(folder.join("config.toml"), text).expect("the configuration");
}

fn of(project: &Path) -> &str {
    project.to_str().expect("UTF-8")
}

#[track_caller]
fn compress(home: &Home, project: &Path) -> Value {
    home.json(["memory", "compress", "--json", "--project", of(project)])
}

/// The one digest that there is then.
#[track_caller]
fn digest(home: &Home, project: &Path) -> String {
    let report = compress(home, project);
    let digests = report["digests"].as_array().expect("digests");
    assert_eq!(digests.len(), 1, "{report:#}");
    digests[0]["id"].as_str().expect("an id").to_owned()
}

fn search(home: &Home, project: &Path, words: &str) -> Vec<Value> {
    let found = home.json(["memory", "search", "--json", "--type", "commit", "--project", of(project), words]);
    found.as_array().expect("an array").clone()
}

/// How many memories have the word, by the database itself.
fn having(home: &Home, word: &str) -> usize {
    home.memories().iter().filter(|memory| memory.kind == "commit" && memory.text.contains(word)).count()
}

fn commits(home: &Home, project: &Path) -> Vec<Value> {
    home.memories_of(project).into_iter().filter(|memory| memory["type"] == "commit").collect()
}

#[track_caller]
fn sound(home: &Home) {
    drop(home.run(["verify"]).success());
    database::assert_sound(&home.database());
}

#[test]
fn old_memories_become_a_digest_and_come_back() {
    let (home, project) = lived_in();
    let before = commits(&home, &project);
    assert_eq!(before.len(), ANIMALS.len(), "{before:#?}");
    let exported = home.run(["export", "--project", of(&project)]).success().stdout;

    let would = home.json(["memory", "compress", "--json", "--dry-run", "--project", of(&project)]);
    assert_eq!((&would["memories"], &would["dry_run"], &would["digests"][0]["id"]), (&json!(8), &json!(true), &Value::Null));
    assert_eq!(commits(&home, &project), before);
    assert_eq!(home.json(["memory", "compress", "--json", "--older-than", "500", "--project", of(&project)])["memories"], 0);
    assert!(
        home.run(["memory", "compress", "--dry-run", "--project", of(&project)]).success().stdout.contains("would fold 8")
    );

    let report = compress(&home, &project);
    let id = report["digests"][0]["id"].as_str().expect("an id").to_owned();
    assert_eq!((&report["memories"], &report["digests"][0]["type"]), (&json!(8), &json!("commit")));
    let after = commits(&home, &project);
    assert_eq!(after.iter().map(|memory| &memory["id"]).collect::<Vec<_>>(), [&json!(id)]);
    for animal in ANIMALS {
        let found = search(&home, &project, animal);
        assert_eq!(found.iter().map(|memory| &memory["id"]).collect::<Vec<_>>(), [&json!(id)], "{animal}");
        let lines = found[0]["lines"].as_array().expect("lines");
        assert!(lines[0].to_string().contains(animal), "{lines:?}");
    }
    let stats = home.json(["memory", "stats", "--json", "--project", of(&project)]);
    assert_eq!((&stats["compressed"], &stats["digests"], &stats["types"]["commit"]), (&json!(8), &json!(1), &json!(1)));
    assert!(home.run(["memory", "stats", "--project", of(&project)]).success().stdout.contains("folded"));

    let shown = home.json(["memory", "show", "--json", &id]);
    assert_eq!(shown["folded"]["sources"].as_array().map(Vec::len), Some(8), "{shown:#}");
    assert!(home.run(["memory", "show", &id]).success().stdout.contains("8 memories"));
    let source = before[0]["id"].as_str().expect("an id");
    assert_eq!(home.json(["memory", "show", "--json", source])["digest"], json!(id));
    // Sources are what is exported; a session's start bears with a digest.
    assert_eq!(home.run(["export", "--project", of(&project)]).success().stdout, exported);
    drop(Session::new(&home, &project, &session_id(2)).start("startup"));
    assert_eq!(compress(&home, &project)["memories"], 0);
    drop(home.run(["memory", "share", &id]).failure_with_hint());
    sound(&home);

    drop(home.run(["memory", "reindex", "--force"]).success());
    assert_eq!(search(&home, &project, "quokka").len(), 1);
    sound(&home);

    let back = home.json(["memory", "decompress", "--json", &id]);
    assert_eq!(back["memories"].as_array().map(Vec::len), Some(8));
    assert_eq!(commits(&home, &project), before);
    assert_eq!(search(&home, &project, "quokka")[0]["type"], "commit");
    drop(home.run(["memory", "show", &id]).failure_with_hint());
    drop(home.run(["memory", "decompress", source]).failure_with_hint());
    assert_eq!(compress(&home, &project)["memories"], 0, "somebody just wanted it back");
    sound(&home);
}

#[test]
fn what_is_read_again_stays_folded_and_what_happens_again_comes_back() {
    let (home, project) = lived_in();
    let id = digest(&home, &project);
    // The transcript is somewhere else now, and read from its beginning.
    let path = home.transcript_path(&project, &session_id(1));
    let moved = path.with_file_name("moved.jsonl");
    std::fs::rename(&path, &moved).expect("rename");
    drop(home.run(["ingest".as_ref(), moved.as_os_str()]).success());
    assert_eq!(commits(&home, &project).len(), 1);
    assert_eq!(having(&home, "quokka"), 2, "the source and the digest");

    old_session(&home, &project, 2, 1, &["quokka"]);
    let found = search(&home, &project, "quokka");
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!((&found[0]["seen"], having(&home, "quokka")), (&json!(2), 1));
    assert_eq!(home.json(["memory", "show", "--json", &id])["folded"]["sources"].as_array().map(Vec::len), Some(7));
    assert_eq!(compress(&home, &project)["memories"], 0, "what was seen twice is not folded");
    sound(&home);
}

/// Whether any file of the program holds the word.
fn stands(home: &Home, word: &str) -> bool {
    !home.holding(word).is_empty()
}

#[test]
fn what_is_forgotten_leaves_digest_and_files() {
    let (home, project) = lived_in();
    let id = digest(&home, &project);
    let forgotten = home.json(["memory", "forget", "--json", "--match", "quokka", "--all-projects", "--yes", "--now"]);
    assert!(forgotten["memories"].as_u64() >= Some(1), "{forgotten}");
    assert!(!stands(&home, "quokka"));
    assert_eq!(search(&home, &project, "wombat").len(), 1);
    // One source, by its identifier.
    let shown = home.json(["memory", "show", "--json", &id]);
    let wombat = shown["folded"]["sources"]
        .as_array()
        .and_then(|all| all.iter().find(|source| source["title"].to_string().contains("wombat")))
        .expect("the source");
    drop(home.run(["memory", "delete", "--now", wombat["id"].as_str().expect("an id")]).success());
    assert_eq!(having(&home, "wombat"), 0);
    // The digest, with all that is left in it.
    drop(home.run(["memory", "delete", "--now", &id]).success());
    assert!(ANIMALS.iter().all(|animal| having(&home, animal) == 0));
    let path = home.transcript_path(&project, &session_id(1));
    let moved = path.with_file_name("moved.jsonl");
    std::fs::rename(&path, &moved).expect("rename");
    drop(home.run(["ingest".as_ref(), moved.as_os_str()]).success());
    assert!(ANIMALS.iter().all(|animal| having(&home, animal) == 0));
    sound(&home);

    for more in [vec!["--session", "SESSION"], vec!["--project", "PROJECT"], vec!["--all-projects", "--before", "DATE"]] {
        let (home, project) = lived_in();
        digest(&home, &project);
        let (session, date) = (session_id(1), moment(-DAY));
        let arguments = more.iter().map(|word| match *word {
            "SESSION" => session.as_str(),
            "PROJECT" => of(&project),
            "DATE" => date.as_str(),
            other => other,
        });
        drop(home.run(["memory", "forget", "--yes", "--now"].into_iter().chain(arguments)).success());
        for animal in ANIMALS {
            assert!(!stands(&home, animal), "{more:?}: {animal}");
        }
        sound(&home);
    }
}

#[test]
fn what_turns_out_to_be_secret_is_scrubbed_from_digests() {
    let (home, project) = lived_in();
    let id = digest(&home, &project);
    let rules = home.path().join("rules.toml");
    std::fs::write(&rules, "[[rules]]\nid = \"animal\"\nregex = 'quokka'\n").expect("write");
    configure(&home, &format!("[redaction]\nrules = [{:?}]\n", of(&rules)));
    drop(home.run(["scrub"]).success());
    assert!(!stands(&home, "quokka"));
    let shown = home.json(["memory", "show", "--json", &id]);
    assert!(shown["content"].as_str().expect("a text").contains("[redacted:animal"), "{shown:#}");
    assert_eq!(home.json(["memory", "decompress", "--json", &id])["memories"].as_array().map(Vec::len), Some(8));
    sound(&home);
}

#[test]
fn purged_is_gone_but_for_its_line() {
    let (home, project) = lived_in();
    let id = digest(&home, &project);
    let purge = |home: &Home| home.json(["memory", "gc", "--purge", "--json", "--project", of(&project)]);
    assert_eq!(purge(&home)["purged"], 0, "it was made today");
    configure(&home, "[compress]\npurge_after_days = 0\n");
    assert_eq!(home.json(["memory", "gc", "--purge", "--dry-run", "--json", "--all-projects"])["purged"], 8);
    let report = purge(&home);
    assert_eq!((&report["purged"], &report["deleted"]), (&json!(8), &json!(0)));
    assert_eq!(having(&home, "quokka"), 1);
    assert_eq!(search(&home, &project, "quokka")[0]["id"], json!(id));
    drop(home.run(["memory", "decompress", &id]).failure_with_hint());
    let shown = home.json(["memory", "show", "--json", &id]);
    let source = shown["folded"]["sources"][0]["id"].as_str().expect("an id");
    assert!(home.run(["memory", "show", source]).success().stdout.contains("quokka"));
    drop(home.run(["memory", "share", source]).failure_with_hint());
    assert!(
        shown["folded"]["purged_at"].is_string() && shown["folded"]["sources"][0]["title"].to_string().contains("quokka")
    );
    let exported = home.run(["export", "--project", of(&project)]).success().stdout;
    assert_eq!(exported.lines().filter(|line| line.contains("Digest of")).count(), 1);
    sound(&home);

    drop(home.run(["memory", "forget", "--match", "quokka", "--all-projects", "--yes", "--now"]).success());
    assert!(!stands(&home, "quokka"));
    assert_eq!(search(&home, &project, "wombat").len(), 1);
    old_session(&home, &project, 2, 1, &["quokka", "capybara"]);
    assert_eq!((having(&home, "quokka"), having(&home, "capybara")), (0, 1), "the one comes back, the other was forgotten");
    // Plain collection leaves digests alone, however old they are.
    configure(&home, "[gc]\nkeep = 0\n");
    drop(home.run(["memory", "gc", "--max-age-days", "0", "--all-projects"]).success());
    assert_eq!(search(&home, &project, "wombat")[0]["id"], json!(id));
    sound(&home);
}

#[test]
fn a_backup_has_all_of_it_and_what_was_forgotten_since_stays_forgotten() {
    let (home, project) = lived_in();
    let id = digest(&home, &project);
    let file = home.path().join("backup.db");
    drop(home.run(["backup".as_ref(), file.as_os_str()]).success());
    drop(home.run(["memory", "forget", "--match", "quokka", "--all-projects", "--yes", "--now"]).success());
    drop(home.run(["memory", "decompress", &id]).success());
    drop(home.run(["restore".as_ref(), "--yes".as_ref(), file.as_os_str()]).success());
    assert_eq!(having(&home, "quokka"), 0);
    assert_eq!(search(&home, &project, "wombat")[0]["id"], json!(id));
    assert_eq!(home.json(["memory", "decompress", "--json", &id])["memories"].as_array().map(Vec::len), Some(7));
    sound(&home);
}

#[test]
fn a_lost_digest_is_found_and_its_sources_come_back() {
    let (home, project) = lived_in();
    let id = digest(&home, &project);
    let connection = Connection::open(home.database()).expect("open");
    connection
        .execute_batch(&format!("PRAGMA foreign_keys = OFF; DELETE FROM memories WHERE id = '{id}'"))
        .expect("a damage");
    drop(connection);
    let run = home.run(["verify", "--json"]);
    assert!(run.stdout.contains("\"digests\"") && run.code == Some(1), "{run:?}");
    drop(home.run(["verify", "--repair"]).success());
    assert_eq!(commits(&home, &project).len(), 8);
    assert_eq!(search(&home, &project, "quokka").len(), 1);
    sound(&home);
}

#[test]
fn digests_are_no_files_and_what_has_a_file_is_not_folded() {
    let (home, project) = lived_in();
    let folder = project.join(".gsd/memories");
    let files = || -> Vec<PathBuf> {
        let folders = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = folders
            .filter_map(|folder| std::fs::read_dir(folder.path()).ok())
            .flat_map(|entries| entries.flatten().map(|entry| entry.path()))
            .collect();
        files.sort();
        files
    };
    let sync = || drop(home.run(["note", "sync", "--project", of(&project)]).success());
    let id = digest(&home, &project);
    sync();
    assert!(!files().iter().any(|file| file.to_string_lossy().contains("execution-summary")), "{:?}", files());
    drop(home.run(["memory", "decompress", &id]).success());
    sync();
    let all = files();
    assert_eq!(all.iter().filter(|file| file.to_string_lossy().contains("execution-summary")).count(), 8, "{all:?}");
    assert_eq!(home.json(["memory", "compress", "--json", "--older-than", "0", "--project", of(&project)])["memories"], 0);
    sync();
    assert_eq!(files(), all);
    sound(&home);
}

#[test]
fn after_a_sessions_end_it_is_done_in_the_background_once_a_day() {
    let end = |home: &Home, project: &Path, number: u64| {
        let mut session = Session::new(home, project, &session_id(number));
        session.transcript.at(&moment(0)).user("Hello").answer("Hello there.");
        session.stop("Hello there.");
        session.end();
    };
    let known_for_long = |home: &Home| {
        let connection = Connection::open(home.database()).expect("open");
        connection.execute_batch("UPDATE projects SET created_at = created_at - 300 * 86400000").expect("a longer past");
    };
    let (home, project) = lived_in();
    let done = |home: &Home| database::number(&home.database(), "SELECT count(compressed_at) FROM projects") > 0;
    end(&home, &project, 5);
    known_for_long(&home);
    configure(&home, "[compress]\nauto = false\n");
    end(&home, &project, 6);
    configure(&home, "");
    assert!(!done(&home) && home.count("digests") == 0);
    end(&home, &project, 7);
    home.eventually("old memories are folded", |home| done(home) && home.count("digests") == 1);
    assert_eq!(home.count("compressed"), 8);
    home.eventually("the log says so", |home| home.log().contains("old memories were folded into digests"));
    // Not again on this day.
    let stamp = database::number(&home.database(), "SELECT max(compressed_at) FROM projects");
    end(&home, &project, 8);
    assert_eq!(database::number(&home.database(), "SELECT max(compressed_at) FROM projects"), stamp);
    sound(&home);
}
