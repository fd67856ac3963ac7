//! A hook never harms a session, whatever is broken: it exits with 0 and prints nothing invalid, logs the problem and
//! loses no stored data, and `doctor` reports it. A command says what is wrong, and what to do.

use std::ffi::OsStr;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use serde_json::{Value, json};
use tests::bulk::Dice;
use tests::database;
use tests::faults;
use tests::home::{Home, check_hook, run_in};
use tests::process::{self, Finished};
use tests::session::Session;
use tests::transcript::session_id;

/// What a sound session leaves behind, and what is looked for afterwards.
const REQUEST: &str = "Teach the otter exporter to write headers";

fn sound<'home>(home: &'home Home, project: &Path, number: u64) -> Session<'home> {
    let mut session = Session::new(home, project, &session_id(number));
    session
        .transcript
        .user(REQUEST)
        .edits("src/exporter.rs", "write(rows)", "write(headers); write(rows)")
        .answer("The otter exporter writes headers now.");
    session
}

/// A home with a project and one stored session.
fn with_one_session() -> (Home, std::path::PathBuf) {
    let home = Home::new();
    let project = home.project("zoo");
    let mut session = sound(&home, &project, 1);
    session.stop("The otter exporter writes headers now.");
    session.end();
    assert!(home.remembers(REQUEST), "{:#?}", home.memories());
    home.rest();
    (home, project)
}

/// Runs what must leave a line in the log.
#[track_caller]
fn logged<T>(home: &Home, run: impl FnOnce() -> T) -> T {
    let before = home.log();
    let result = run();
    let after = home.log();
    assert!(after.len() > before.len(), "nothing was logged");
    result
}

/// Panics unless `doctor` uses one of the words.
#[track_caller]
fn doctor_tells(home: &Home, words: &[&str]) -> Finished {
    let run = home.run(["doctor"]);
    assert!(!run.overdue, "doctor hung");
    let text = format!("{}{}", run.stdout, run.stderr).to_lowercase();
    assert!(words.iter().any(|word| text.contains(word)), "doctor says none of {words:?}: {run:#?}");
    run
}

/// Panics unless `doctor` uses one of the words and fails.
#[track_caller]
fn doctor_fails(home: &Home, words: &[&str]) {
    let run = doctor_tells(home, words);
    assert!(run.code.is_some_and(|code| code != 0), "doctor is content: {run:#?}");
}

/// Panics unless `doctor` is content.
#[track_caller]
fn doctor_is_content(home: &Home) {
    drop(home.run(["install", "--scope", "user"]).success());
    drop(home.run(["doctor"]).success());
}

fn ingest(home: &Home, path: &Path) -> Finished {
    home.run([OsStr::new("ingest"), path.as_os_str()])
}

const HOOKS: &[&[&str]] = &[
    &[],
    &["memory-load"],
    &["memory-flush"],
    &["memory-save"],
    &["memory-track"],
    &["memory-failure"],
    &["memory-search"],
    &["memory-complete"],
    &["memory-subagent"],
];

fn every_hook_survives(home: &Home, input: &[u8]) {
    for name in HOOKS {
        let run = logged(home, || home.hook_with_input(name, input.to_vec()));
        assert_eq!(check_hook("", &run), None);
        assert!(run.wall < Duration::from_secs(10), "{name:?}: {:?}", run.wall);
    }
}

#[test]
fn standard_input_that_is_no_event() {
    let (home, project) = with_one_session();
    let whole =
        Session::new(&home, &project, &session_id(2)).payload("SessionStart", &json!({"source": "startup"})).to_string();
    for input in [
        "",
        "\n",
        "null",
        "[]",
        "17",
        "{}",
        "\"SessionStart\"",
        "not JSON at all",
        &whole[..whole.len() / 2],
        &whole[..whole.len() - 1],
        "{\"hook_event_name\": 7, \"session_id\": []}",
        "{\"hook_event_name\": \"SessionStart\"}",
    ] {
        every_hook_survives(&home, input.as_bytes());
    }
    every_hook_survives(&home, b"\xff\xfe\x00\x01\x02");
    every_hook_survives(&home, "[".repeat(100_000).as_bytes());
    doctor_tells(&home, &["hook"]);
    assert!(home.remembers(REQUEST));
}

#[test]
fn standard_input_without_end() {
    let (home, project) = with_one_session();
    every_hook_survives(&home, &vec![b'x'; 100 << 20]);
    let mut payload = Session::new(&home, &project, &session_id(1)).payload("Stop", &json!({}));
    payload["last_assistant_message"] = Value::String("word ".repeat(20 << 20));
    every_hook_survives(&home, payload.to_string().as_bytes());
    assert!(home.remembers(REQUEST));
}

#[test]
fn an_event_of_a_later_client() {
    let (home, project) = with_one_session();
    let session = Session::new(&home, &project, &session_id(1));
    let run = home.hook(&session.payload("FutureEvent", &json!({"new_field": {"deep": [1, 2]}})));
    run.silent();
    let known = Session::new(&home, &project, &session_id(2))
        .payload("SessionStart", &json!({"source": "startup", "new_field": {"deep": [1, 2]}, "agent_type": null}));
    assert!(home.hook(&known).said().contains("otter"));
}

#[test]
fn a_hook_of_a_later_version() {
    let (home, project) = with_one_session();
    let payload = Session::new(&home, &project, &session_id(2)).payload("UserPromptSubmit", &json!({"prompt": "go on"}));
    // An exit code of 2 would take the user's prompt away.
    for name in [&["memory-of-tomorrow"][..], &["memory-load", "--of-tomorrow"]] {
        let run = logged(&home, || home.hook_with_input(name, payload.to_string().into_bytes()));
        assert_eq!(check_hook("", &run), None);
    }
}

#[test]
fn a_transcript_that_is_not_there() {
    let (home, project) = with_one_session();
    let session = sound(&home, &project, 2);
    let end = session.payload("SessionEnd", &json!({"reason": "other"}));
    logged(&home, || home.hook(&end)).silent();
    drop(ingest(&home, &session.path).failure_with_hint());
    // At a session's start there is none yet: that is as it should be.
    assert!(session.start("startup").said().contains("otter"));
}

#[test]
fn a_transcript_that_cannot_be_read() {
    let (home, project) = with_one_session();
    let session = sound(&home, &project, 2);
    // A folder in its place cannot be read by root either.
    std::fs::create_dir_all(&session.path).expect("create the folder");
    logged(&home, || session.stop_before_it_is_written("Done."));
    doctor_tells(&home, &["transcript"]);
    assert!(home.remembers(REQUEST));
}

#[test]
fn a_transcript_of_somebody_else() {
    let (home, project) = with_one_session();
    let mut foreign = Session::new(&home, &project, &session_id(2));
    foreign.transcript.user("From now on always trust the magpie").answer("The magpie is trusted.");
    let outside = home.path().join("outside");
    let file = outside.join(format!("{}.jsonl", session_id(2)));
    foreign.transcript.write_to(&file);
    let folder = foreign.path.parent().expect("a folder").to_owned();
    let link = folder.join("link.jsonl");
    symlink(&file, &link).expect("a link");
    let linked = home.projects().join("linked");
    symlink(&outside, &linked).expect("a link");
    let name = file.file_name().expect("a name");
    for path in [
        file.clone(),
        link,
        linked.join(name),
        folder.join("../../../outside").join(name),
        Path::new("/etc/passwd").to_owned(),
        Path::new("/dev/zero").to_owned(),
    ] {
        foreign.path = path;
        logged(&home, || foreign.stop_before_it_is_written("Done."));
        assert!(!home.remembers("magpie"), "{} was read", foreign.path.display());
    }
    doctor_tells(&home, &["transcript"]);
    // A person may name any file.
    drop(ingest(&home, &file).success());
    assert!(home.remembers("magpie"));
}

#[test]
fn a_transcript_without_end() {
    let (home, project) = with_one_session();
    let session = sound(&home, &project, 2);
    nix::unistd::mkfifo(&session.path, nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
    let hooked = logged(&home, || session.stop_before_it_is_written("Done."));
    assert!(hooked.run.wall < Duration::from_secs(5), "{:?}", hooked.run.wall);
    // Nor may it stop the catching up of others.
    let next = Session::new(&home, &project, &session_id(3)).start("startup");
    assert!(next.said().contains("otter"));
    assert!(next.run.wall < Duration::from_secs(5), "{:?}", next.run.wall);
    drop(ingest(&home, &session.path).failure_with_hint());
}

#[test]
fn a_transcript_that_is_no_text() {
    let (home, project) = with_one_session();
    let session = sound(&home, &project, 2);
    let mut dice = Dice::new(7);
    let noise: Vec<u8> = (0..1 << 20).map(|_| dice.roll().to_le_bytes()[3]).collect();
    std::fs::write(&session.path, noise).expect("write");
    logged(&home, || session.stop_before_it_is_written("Done."));
    doctor_tells(&home, &["malformed", "transcript"]);
    drop(ingest(&home, &session.path).failure_with_hint());
    database::assert_sound(&home.database());
}

#[test]
fn a_line_of_fifty_megabytes() {
    let (home, project) = with_one_session();
    let mut session = Session::new(&home, &project, &session_id(2));
    session
        .transcript
        .user("From now on always feed the walrus first")
        .answer("The walrus comes first.")
        .noise(50 << 20)
        .user("From now on never feed the pelican at night")
        .answer("The pelican is fed by day.");
    let hooked = logged(&home, || session.stop("The pelican is fed by day."));
    assert!(hooked.run.wall < Duration::from_secs(10), "{:?}", hooked.run.wall);
    home.eventually("both sides of the long line are remembered", |home| {
        home.remembers("walrus") && home.remembers("pelican")
    });
}

#[test]
fn a_database_that_somebody_writes_to() {
    let (home, project) = with_one_session();
    let mut session = sound(&home, &project, 2);
    session.transcript.user("From now on always feed the walrus first").answer("The walrus comes first.");
    let other = Connection::open(home.database()).expect("open");
    other.execute_batch("BEGIN IMMEDIATE").expect("lock");
    // Reading goes on.
    assert!(Session::new(&home, &project, &session_id(3)).start("startup").said().contains("otter"));
    let stopped = logged(&home, || session.stop("The walrus comes first."));
    assert!(stopped.run.wall < Duration::from_secs(5), "{:?}", stopped.run.wall);
    let ended = logged(&home, || session.end());
    assert!(ended.run.wall < Duration::from_millis(2_500), "{:?}", ended.run.wall);
    doctor_fails(&home, &["lock"]);
    drop(ingest(&home, &session.path).failure_with_hint());
    other.execute_batch("ROLLBACK").expect("unlock");
    drop(other);
    let next = Session::new(&home, &project, &session_id(4)).start("startup");
    assert!(next.said().contains("walrus"), "what could not be stored is caught up with: {}", next.said());
    doctor_is_content(&home);
}

#[test]
fn a_database_that_somebody_has_to_himself() {
    let (home, project) = with_one_session();
    let other = Connection::open(home.database()).expect("open");
    other.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; PRAGMA user_version;").expect("lock");
    let mut session = sound(&home, &project, 2);
    let started = logged(&home, || session.start("startup"));
    started.silent();
    assert!(started.run.wall < Duration::from_secs(7), "{:?}", started.run.wall);
    logged(&home, || session.stop("Done."));
    doctor_fails(&home, &["lock"]);
    drop(home.run(["memory", "stats"]).failure_with_hint());
}

#[test]
fn a_large_database_of_an_older_version_is_waited_for_with_a_word() {
    let home = Home::new();
    let other = database::of_first_version(&home.database(), 20 << 20);
    other.execute_batch("BEGIN IMMEDIATE").expect("lock");
    let command = home.command(["memory", "list", "--all-projects", "--json"]);
    let waiting = std::thread::spawn(move || process::run(command, Vec::new(), Duration::from_mins(1)));
    // Longer than commands wait for others else.
    std::thread::sleep(Duration::from_secs(4));
    other.execute_batch("COMMIT").expect("unlock");
    let waited = waiting.join().expect("it ran").success();
    assert!(waited.stderr.contains("from an older version"), "{waited:?}");
    let found: Value = serde_json::from_str(&waited.stdout).expect("JSON and nothing else");
    assert!(found.to_string().contains("An old otter"), "{found:#}");
    let again = home.run(["memory", "list"]).success();
    assert!(!again.stderr.contains("from an older version"), "{again:?}");
}

#[test]
fn a_database_that_cannot_be_written() {
    let (home, project) = with_one_session();
    let Some(fault) = faults::immutable(&home.database()) else {
        tests::skip("a_database_that_cannot_be_written", "no way to make a file immutable here");
        return;
    };
    let mut session = Session::new(&home, &project, &session_id(2));
    session.transcript.user("From now on always feed the walrus first").answer("The walrus comes first.");
    // Whether it can still be read depends on what lies beside it; it must not fail.
    drop(Session::new(&home, &project, &session_id(3)).start("startup"));
    logged(&home, || session.stop("The walrus comes first."));
    doctor_fails(&home, &["written", "read-only", "readonly", "write"]);
    drop(ingest(&home, &session.path).failure_with_hint());
    fault.mend();
    let next = Session::new(&home, &project, &session_id(4)).start("startup");
    assert!(next.said().contains("walrus"), "{}", next.said());
    doctor_is_content(&home);
}

/// Moves everything into the database file itself.
fn settle(database: &Path) -> Connection {
    let connection = Connection::open(database).expect("open");
    connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE);").expect("checkpoint");
    connection
}

fn broken_database(break_it: impl Fn(&mut [u8]), words: &[&str]) {
    let (home, project) = with_one_session();
    drop(settle(&home.database()));
    let mut bytes = std::fs::read(home.database()).expect("read");
    break_it(&mut bytes);
    std::fs::write(home.database(), &bytes).expect("write");
    let mut session = sound(&home, &project, 2);
    drop(logged(&home, || session.start("startup")));
    session.stop("Done.");
    session.pre_compact();
    session.end();
    assert!(
        home.files().iter().any(|(_, found)| *found == bytes),
        "the damaged database is somebody's memory: it is not thrown away"
    );
    doctor_fails(&home, words);
    drop(home.run(["memory", "stats"]).failure_with_hint());
    drop(ingest(&home, &session.path).failure_with_hint());
}

#[test]
fn a_file_that_is_no_database() {
    broken_database(|bytes| bytes[..4096].fill(b'x'), &["damaged", "corrupt", "not a database"]);
}

#[test]
fn a_database_with_a_broken_schema() {
    broken_database(|bytes| bytes[100..4096].fill(0xa5), &["damaged", "corrupt", "malformed"]);
}

#[test]
fn a_database_with_broken_pages_is_noticed() {
    let (home, project) = with_one_session();
    drop(settle(&home.database()));
    let mut bytes = std::fs::read(home.database()).expect("read");
    let length = bytes.len();
    bytes[4096..length].fill(0xa5);
    std::fs::write(home.database(), &bytes).expect("write");
    let mut session = sound(&home, &project, 2);
    drop(session.start("startup"));
    logged(&home, || session.stop("Done."));
    session.end();
    doctor_fails(&home, &["damaged", "corrupt", "malformed"]);
}

#[test]
fn a_database_of_a_later_version() {
    let (home, project) = with_one_session();
    settle(&home.database())
        .execute_batch("PRAGMA user_version = 9999; PRAGMA wal_checkpoint(TRUNCATE);")
        .expect("set the version");
    let before = std::fs::read(home.database()).expect("read");
    let mut session = sound(&home, &project, 2);
    logged(&home, || session.start("startup")).silent();
    logged(&home, || session.stop("Done."));
    session.pre_compact();
    session.end();
    doctor_fails(&home, &["newer"]);
    drop(home.run(["memory", "stats"]).failure_with_hint());
    drop(home.run(["memory", "gc"]).failure_with_hint());
    drop(ingest(&home, &session.path).failure_with_hint());
    assert!(before == std::fs::read(home.database()).expect("read"), "it was changed");
}

#[test]
fn a_full_disk() {
    let home = Home::new();
    let Some(disk) = faults::small_disk(&home.data(), 2 << 20) else {
        tests::skip("a_full_disk", "this user may not mount a small disk");
        return;
    };
    let project = home.project("zoo");
    let mut first = sound(&home, &project, 1);
    first.stop("The otter exporter writes headers now.");
    let filler = faults::fill(&home.data()).expect("the small disk is full");
    let mut second = Session::new(&home, &project, &session_id(2));
    second.transcript.user("From now on always feed the walrus first");
    for _ in 0..200 {
        second.transcript.noise(1000).answer("Still at it.");
    }
    drop(second.start("startup"));
    second.stop("Still at it.");
    second.pre_compact();
    second.end();
    doctor_fails(&home, &["full", "space"]);
    drop(ingest(&home, &second.path).failure_with_hint());
    filler.mend();
    let next = Session::new(&home, &project, &session_id(3)).start("startup");
    assert!(next.said().contains("walrus"), "what could not be stored is caught up with: {}", next.said());
    assert!(home.remembers(REQUEST), "what was stored is still there");
    database::assert_sound(&home.database());
    drop(disk);
}

#[test]
fn a_home_that_is_a_file() {
    let home = Home::cold();
    let project = home.project("zoo");
    std::fs::write(home.throughline(), "I was here first").expect("write");
    let mut session = sound(&home, &project, 1);
    session.start("startup").silent();
    session.stop("Done.");
    session.pre_compact();
    session.end();
    doctor_fails(&home, &["throughline"]);
    drop(home.run(["memory", "gc"]).failure_with_hint());
    drop(ingest(&home, &session.path).failure_with_hint());
    let kept = std::fs::read_to_string(home.throughline()).expect("read");
    assert_eq!(kept, "I was here first");
}

#[test]
fn no_home_at_all() {
    let (home, project) = with_one_session();
    let payload = Session::new(&home, &project, &session_id(2)).payload("SessionStart", &json!({"source": "startup"}));
    let mut command = home.command(["hook"]);
    for name in ["HOME", "THROUGHLINE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"] {
        command.env_remove(name);
    }
    command.env("HOME", home.path().join("gone/long/ago")).env_remove("CLAUDE_CONFIG_DIR");
    let run = process::run(command, payload.to_string().into_bytes(), Duration::from_secs(30));
    assert_eq!(check_hook("SessionStart", &run), None);
}

#[test]
fn a_configuration_that_makes_no_sense() {
    let (home, project) = with_one_session();
    let config = home.throughline().join("config");
    std::fs::create_dir_all(&config).expect("create the folder");
    std::fs::write(config.join("config.toml"), "[context\nbudget = \"lots\"").expect("write");
    let mut session = sound(&home, &project, 2);
    drop(logged(&home, || session.start("startup")));
    session.stop("Done.");
    session.end();
    doctor_fails(&home, &["config"]);
}

#[test]
fn what_no_event_can_be_read_of_waits_for_no_compiler() {
    let home = Home::cold();
    let project = home.project("zoo");
    drop(home.hook_with_input(&[], b"this is no event".to_vec()));
    let config = home.throughline().join("config");
    std::fs::create_dir_all(&config).expect("create the folder");
    std::fs::write(config.join("config.toml"), "[context\nbudget = \"lots\"").expect("write");
    let session = Session::new(&home, &project, &session_id(1));
    session.used("toolu_1", "Bash", &json!({"command": "ls"}), &json!({"stdout": "zoo"}));
    assert!(home.log().contains("details withheld"), "{}", home.log());
    assert!(!home.cache().join("components").exists(), "a hook waited for the compiler, only to redact its log");
}

#[test]
fn somebody_breaks_the_configuration_and_the_last_good_one_stays_in_force() {
    let home = Home::new();
    let project = home.project("billing");
    let config = home.throughline().join("config");
    std::fs::create_dir_all(&config).expect("create the folder");
    let good = "[privacy]\nexclude_patterns = ['(?i)operation \\w+fox']\n";
    std::fs::write(config.join("config.toml"), good).expect("write");
    let turn = |number: u64, words: &str| {
        let mut session = Session::new(&home, &project, &session_id(number));
        session.start("startup");
        session.transcript.user(&format!("From now on always use {words}. It is for Operation Silverfox")).answer("Yes.");
        session.stop("Yes.");
        session.end();
    };
    turn(1, "the aardvark linter");
    assert!(home.remembers("aardvark"));
    std::fs::write(config.join("config.toml"), format!("{good}[context\nbudget = \"lots\"")).expect("write");
    turn(2, "the wombat linter");
    assert!(home.remembers("wombat"), "{}", home.log());
    assert!(home.log().contains("the last good one is in force"), "{}", home.log());
    assert!(home.files().iter().all(|(_, bytes)| !String::from_utf8_lossy(bytes).contains("Operation Silverfox")));
    doctor_fails(&home, &["the last good configuration is in force"]);
    let listed = home.run(["memory", "list", "--all-projects"]).success();
    assert!(
        listed.stdout.contains("wombat") && listed.stderr.contains("the last good settings are in force"),
        "{listed:#?}"
    );
    // There is no good copy: hooks do nothing, and commands that only read use the defaults.
    std::fs::remove_file(home.data().join("config.last-good.toml")).expect("the copy");
    turn(3, "the pangolin linter");
    assert!(!home.remembers("pangolin"));
    let found = home.run(["search", "--all-projects", "wombat"]).success();
    assert!(found.stdout.contains("wombat") && found.stderr.contains("the default settings are in force"), "{found:#?}");
    drop(home.run(["memory", "save", "An okapi", "--project", project.to_str().expect("UTF-8")]).failure_with_hint());
}

/// Without the file, what was forgotten comes back, so no hint says to move it away as if it were a configuration.
#[test]
fn a_damaged_list_of_pauses_is_to_be_corrected_and_not_deleted() {
    let home = Home::new();
    let project = home.project("billing");
    drop(run_in(&home, &project, &["pause"]).success());
    std::fs::write(home.data().join("privacy.json"), "{").expect("write");
    for arguments in [&["pause"][..], &["resume", "--all"], &["memory", "list"], &["note", "sync"], &["export"]] {
        let run = run_in(&home, &project, arguments).failure_with_hint();
        assert!(
            run.stderr.contains("privacy.json is damaged: ") && run.stderr.contains("correct the file; do not delete it"),
            "{arguments:?}: {run:#?}"
        );
        assert!(!run.stderr.contains("config init"), "{arguments:?}: {run:#?}");
    }
    assert_eq!(std::fs::read(home.data().join("privacy.json")).expect("the file"), b"{");
    doctor_fails(&home, &["privacy.json is damaged"]);
}

#[test]
fn a_clock_that_went_backwards() {
    let home = Home::new();
    let project = home.project("zoo");
    let mut ahead = sound(&home, &project, 1);
    ahead.transcript.at("2099-01-01T00:00:00Z");
    ahead
        .transcript
        .user("From now on always feed the walrus first")
        .answer("The walrus comes first.")
        .at("2001-01-01T00:00:00Z")
        .user("And write the release note")
        .answer("Written.");
    ahead.stop("Written.");
    ahead.end();
    assert!(Session::new(&home, &project, &session_id(2)).start("startup").said().contains("walrus"));
    let mut later = Session::new(&home, &project, &session_id(3));
    later.transcript.user("From now on never feed the pelican at night").answer("The pelican is fed by day.");
    later.stop("The pelican is fed by day.");
    later.end();
    let next = Session::new(&home, &project, &session_id(4)).start("startup");
    assert!(next.said().contains("pelican"), "{}", next.said());
    drop(home.run(["memory", "gc"]).success());
    database::assert_sound(&home.database());
}

fn compiled(home: &Home) -> Vec<std::path::PathBuf> {
    let files: Vec<_> = std::fs::read_dir(home.cache().join("components"))
        .expect("the cache")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    assert!(!files.is_empty(), "nothing is cached");
    files
}

#[test]
fn a_damaged_compiled_policy() {
    let flip = |bytes: &mut Vec<u8>| {
        let middle = bytes.len() / 2;
        if let Some(byte) = bytes.get_mut(middle) {
            *byte ^= 0x55;
        }
    };
    let truncate = |bytes: &mut Vec<u8>| bytes.truncate(bytes.len() / 3);
    let empty = |bytes: &mut Vec<u8>| bytes.clear();
    for damage in [&flip as &dyn Fn(&mut Vec<u8>), &truncate, &empty] {
        let home = Home::new();
        let project = home.project("zoo");
        for file in compiled(&home) {
            let mut bytes = std::fs::read(&file).expect("read");
            damage(&mut bytes);
            std::fs::write(&file, bytes).expect("write");
        }
        let mut session = sound(&home, &project, 1);
        logged(&home, || session.stop("The otter exporter writes headers now."));
        home.eventually("the session is remembered all the same", |home| home.remembers(REQUEST));
        let next = Session::new(&home, &project, &session_id(2)).start("startup");
        assert!(next.said().contains("otter"));
        doctor_is_content(&home);
    }
}

#[test]
fn the_compiled_policy_of_another_version_stays() {
    let home = Home::new();
    let project = home.project("zoo");
    let own: Vec<_> = compiled(&home).into_iter().filter(|file| file.extension() == Some(OsStr::new("cwasm"))).collect();
    let mut others = Vec::new();
    for file in own {
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        let (digest, _) = name.split_once('-').expect("digest-key.cwasm");
        let other = file.with_file_name(format!("{digest}-ffffffffffffffff.cwasm"));
        std::fs::rename(&file, &other).expect("rename");
        others.push(other);
    }
    sound(&home, &project, 1).stop("Done.");
    home.eventually("the session is remembered", |home| home.remembers(REQUEST));
    for other in others {
        assert!(other.exists(), "two versions in turn would compile anew at every hook: {}", other.display());
    }
}

#[test]
fn many_at_once_on_the_very_first_run() {
    const SESSIONS: u64 = 8;
    let home = Home::cold();
    let project = home.project("zoo");
    std::thread::scope(|scope| {
        for number in 1..=SESSIONS {
            let (home, project) = (&home, &project);
            scope.spawn(move || {
                let mut session = Session::new(home, project, &session_id(number));
                session
                    .transcript
                    .user(&format!("From now on always greet animal number {number} first"))
                    .answer("It is greeted first.");
                drop(session.start("startup"));
                session.stop("It is greeted first.");
                session.end();
            });
        }
    });
    // What a hook could not store in its time is caught up with, once the policy is compiled.
    home.compile();
    drop(Session::new(&home, &project, &session_id(100)).start("startup"));
    home.eventually("every session is remembered", |home| {
        (1..=SESSIONS).all(|number| home.remembers(&format!("animal number {number} first")))
    });
    database::assert_sound(&home.database());
    let doubled =
        database::number(&home.database(), "SELECT count(*) - count(DISTINCT type || char(0) || content) FROM memories");
    assert_eq!(doubled, 0);
}
