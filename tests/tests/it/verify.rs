//! `verify` finds each fault and says what it would do; `verify --repair` mends it, after keeping what there was.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rusqlite::Connection;
use serde_json::Value;
use tests::bulk::{self, Dice};
use tests::database;
use tests::home::Home;
use tests::process;
use tests::session::Session;
use tests::transcript::session_id;
use tests::turns;

/// A home with data of every kind, and the transcript of one session.
fn lived_in() -> (Home, PathBuf) {
    let home = Home::new();
    let project = home.project("shop");
    let mut dice = Dice::new(11);
    let mut path = PathBuf::new();
    for number in 0..2 {
        let mut session = Session::new(&home, &project, &session_id(number));
        drop(session.start("startup"));
        for turn in 0..3 {
            bulk::turn(&mut session.transcript, &mut dice);
            session.ran(&format!("ok-{number}-{turn}"), "ls", "a");
            session.failed(&format!("bad-{number}-{turn}"), "cargo build", "error[E0425]: cannot find value `otter`");
        }
        session.stop("Done.");
        session.end();
        path = session.path;
    }
    (home, path)
}

fn sql(home: &Home, sql: &str) {
    let connection = Connection::open(home.database()).expect("open");
    // What is injected is what the constraints forbid.
    connection.execute_batch(&format!("PRAGMA foreign_keys = OFF; {sql}")).unwrap_or_else(|error| panic!("{sql}: {error}"));
}

/// What `verify` says as JSON, whatever its exit code, which must fit it.
#[track_caller]
fn verify(home: &Home, more: &[&str]) -> Value {
    let run = home.run(["verify", "--json"].iter().chain(more));
    let report: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"));
    assert_eq!(run.code, Some(i32::from(report["sound"] != true)), "{run:?}");
    report
}

fn kept(home: &Home) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(home.data()).expect("the data folder").flatten().map(|entry| entry.path());
    entries.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().contains("-before-repair-"))).collect()
}

fn number(home: &Home, query: &str) -> i64 {
    database::number(&home.database(), query)
}

/// Injects the fault, and checks that it alone is found, in that place, so often, and that the repair mends it.
#[track_caller]
fn found_and_mended(home: &Home, fault: &str, check: &str, place: &str, count: u64) {
    sql(home, fault);
    let report = verify(home, &[]);
    let faults = report["faults"].as_array().expect("faults");
    let found: Vec<(&str, &str, u64)> = faults
        .iter()
        .map(|it| (it["check"].as_str().unwrap(), it["place"].as_str().unwrap(), it["count"].as_u64().unwrap()))
        .collect();
    assert_eq!(found, [(check, place, count)], "{fault}: {report:#}");
    let line = home.run(["verify"]).failure_with_hint();
    assert!(line.stdout.contains(place) && line.stdout.contains("--repair"), "{line:?}");
    let repaired = verify(home, &["--repair"]);
    assert_eq!(repaired["sound"], true, "{fault}: {repaired:#}");
    let kept = PathBuf::from(repaired["kept"].as_str().expect("a file"));
    assert!(kept.exists());
    std::fs::remove_file(kept).expect("remove");
    assert_eq!(verify(home, &[])["faults"], serde_json::json!([]), "{fault}");
    database::assert_sound(&home.database());
}

#[test]
fn what_was_lived_in_is_sound() {
    let (home, _) = lived_in();
    let report = verify(&home, &[]);
    assert_eq!((&report["sound"], &report["faults"]), (&true.into(), &serde_json::json!([])), "{report:#}");
    assert!(home.run(["verify"]).success().stdout.contains("no errors"));
    // With nothing to mend nothing is kept.
    assert_eq!(verify(&home, &["--repair"])["sound"], true);
    assert_eq!(kept(&home), Vec::<PathBuf>::new());
}

#[test]
fn rows_without_a_parent_are_found_and_taken_away() {
    let (home, _) = lived_in();
    for (table, columns, values) in [
        ("sightings", "session_id, key, memory", "'s', 'k', 77"),
        ("shown", "session_id, memory, source, at", "'s', 77, 'x', 1"),
        ("unembedded", "memory", "77"),
        ("event_keys", "session_id, key, event_id", "'s', 'k', 99999"),
        ("event_files", "path, event_id", "'a.rs', 99999"),
        ("event_uses", "event_id, session_id", "99999, 's'"),
        ("failure_sightings", "event_id, failure, session_id, subject", "1, 99999, 's', 'x'"),
    ] {
        let memories = home.memories();
        let fault = format!("INSERT OR REPLACE INTO {table} ({columns}) VALUES ({values})");
        found_and_mended(&home, &fault, "orphans", table, 1);
        assert_eq!(home.memories(), memories, "{table}");
    }
    let failures = number(&home, "SELECT count(*) FROM failures");
    assert!(failures > 0);
    found_and_mended(
        &home,
        "UPDATE failures SET memory = 77 WHERE number = (SELECT min(number) FROM failures)",
        "orphans",
        "failures",
        1,
    );
    assert_eq!(number(&home, "SELECT count(*) FROM failures"), failures, "a failure went with its memory");
}

#[test]
fn a_lost_project_is_made_again_and_found() {
    let (home, _) = lived_in();
    let project = home.work().join("shop");
    let before = home.memories_of(&project);
    assert!(!before.is_empty());
    sql(&home, "DELETE FROM projects");
    let report = verify(&home, &[]);
    assert!(report["faults"].as_array().expect("faults").iter().all(|fault| fault["check"] == "projects"), "{report:#}");
    assert_eq!(verify(&home, &["--repair"])["sound"], true);
    assert_eq!(home.memories_of(&project), before);
    let root = std::fs::canonicalize(&project).expect("a folder");
    assert_eq!(before[0]["project"].as_str().map(Path::new), Some(root.as_path()));
}

#[test]
fn what_is_found_by_words_and_meaning_is_compared_with_the_memories() {
    let (home, _) = lived_in();
    let answer =
        || home.json(["memory", "search", "--json", "--all-projects", "parser scheduler gateway cache router importer"]);
    let before = answer();
    let all = number(&home, "SELECT count(*) FROM memories").unsigned_abs();
    let one = "(SELECT min(rowid) FROM memories)";
    for (fault, place, count) in [
        (format!("DELETE FROM memories_fts WHERE rowid >> 8 = {one}"), "memories_fts", 1),
        ("INSERT INTO memories_fts (memories_fts) VALUES ('delete-all')".to_owned(), "memories_fts", all),
        ("INSERT INTO memories_fts (rowid, words) VALUES (77 << 8, 'otter')".to_owned(), "memories_fts", 1),
        (format!("UPDATE vectors SET vector = x'00' WHERE piece >> 8 = {one}"), "vectors", 1),
        (
            "UPDATE vector_codes SET codes = x'0102' WHERE block = (SELECT min(block) FROM vector_codes)".to_owned(),
            "vector_codes",
            1,
        ),
        ("DELETE FROM vector_codes WHERE block = (SELECT min(block) FROM vector_codes)".to_owned(), "vector_codes", 1),
    ] {
        found_and_mended(&home, &fault, "index", place, count);
        assert_eq!(answer(), before, "{fault}");
    }
    // Codes do not fit vectors that are gone, too.
    sql(&home, &format!("DELETE FROM vectors WHERE piece >> 8 = {one}"));
    let report = verify(&home, &[]);
    let places: Vec<&str> =
        report["faults"].as_array().expect("faults").iter().map(|fault| fault["place"].as_str().unwrap()).collect();
    assert_eq!(places, ["vectors", "vector_codes"]);
    assert_eq!(verify(&home, &["--repair"])["sound"], true);
    assert_eq!(answer(), before);
}

#[test]
fn damaged_word_tables_are_made_anew() {
    let (home, _) = lived_in();
    let answer = || home.json(["memory", "search", "--json", "--all-projects", "parser scheduler gateway cache router"]);
    let before = answer();
    for table in ["memories_fts", "events_fts"] {
        // Behind its back.
        sql(&home, &format!("UPDATE {table}_data SET block = x'00000000' WHERE id > 10"));
        let report = verify(&home, &[]);
        assert_eq!(report["sound"], false, "{table}");
        let repaired = verify(&home, &["--repair"]);
        assert_eq!(repaired["sound"], true, "{table}: {repaired:#}");
        database::assert_sound(&home.database());
    }
    assert_eq!(answer(), before);
}

#[test]
fn words_of_events_are_compared_with_the_events() {
    let (home, _) = lived_in();
    let events = number(&home, "SELECT count(*) FROM events").unsigned_abs();
    assert!(events > 3);
    found_and_mended(
        &home,
        "INSERT INTO events_fts (events_fts) VALUES ('delete-all')",
        "event-index",
        "events_fts",
        events,
    );
    found_and_mended(
        &home,
        "INSERT INTO events_fts (rowid, summary) VALUES (99999, 'otter')",
        "event-index",
        "events_fts",
        1,
    );
}

#[test]
fn counters_and_lists_are_checked() {
    let (home, _) = lived_in();
    let memories = home.memories();
    found_and_mended(&home, "UPDATE projects SET memories = 1", "counters", "projects", 1);
    let one = "rowid = (SELECT min(rowid) FROM memories)";
    found_and_mended(&home, &format!("UPDATE memories SET seen_count = 40 WHERE {one}"), "sightings", "memories", 1);
    found_and_mended(&home, &format!("UPDATE memories SET weight = 9 WHERE {one}"), "sightings", "memories", 1);
    assert_eq!(home.memories(), memories);
    found_and_mended(&home, "UPDATE failures SET count = 0 WHERE number = 1", "failures", "failures", 1);
    found_and_mended(&home, &format!("UPDATE memories SET keywords = 'no list' WHERE {one}"), "lists", "memories", 1);
    // What was mended can be written to: no row number is given out twice.
    let run =
        process::run(home.command(["import", "-"]), b"{\"content\": \"after the repair\"}\n".to_vec(), process::WATCHDOG);
    drop(run.success());
    assert_eq!(verify(&home, &[])["sound"], true);
}

#[test]
fn what_cannot_be_mended_is_said() {
    let (home, _) = lived_in();
    sql(
        &home,
        "INSERT INTO projects (number, id, identity, root, created_at) VALUES (50, 'other', 'name:other', 'other', 1)",
    );
    sql(&home, "UPDATE memories SET project_id = 'other' WHERE rowid = (SELECT min(rowid) FROM memories)");
    let run = home.run(["verify", "--repair"]).failure_with_hint();
    assert!(run.stdout.contains("cannot be repaired") && run.stderr.contains("throughline restore"), "{run:?}");
}

#[test]
fn damaged_indexes_and_pages_are_told_apart() {
    let (home, _) = lived_in();
    // A row that an index does not know: the index is taken away while the row comes.
    sql(
        &home,
        "PRAGMA writable_schema = ON;
         CREATE TABLE kept AS SELECT * FROM sqlite_schema WHERE name = 'sightings_by_memory';
         DELETE FROM sqlite_schema WHERE name = 'sightings_by_memory';",
    );
    sql(
        &home,
        "INSERT INTO sightings (session_id, key, memory, line_uuid) SELECT 'x', 'y', memory, line_uuid FROM sightings LIMIT 1",
    );
    sql(&home, "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema SELECT * FROM kept; DROP TABLE kept;");
    let report = verify(&home, &[]);
    let faults = report["faults"].as_array().expect("faults");
    assert!(!faults.is_empty() && faults.iter().all(|fault| fault["check"] == "indexes"), "{report:#}");
    assert_eq!(verify(&home, &["--repair"])["sound"], true);
    database::assert_sound(&home.database());

    let pages = number(&home, "PRAGMA page_count").unsigned_abs();
    drop(home.run(["observations", "gc"]).success());
    let mut bytes = std::fs::read(home.database()).expect("read");
    for page in (pages / 4)..(pages / 2) {
        let at = usize::try_from(page).expect("small") * 4096;
        bytes[at..at + 4096].fill(0x5a);
    }
    std::fs::write(home.database(), &bytes).expect("write");
    let run = home.run(["verify"]).failure_with_hint();
    assert!(run.stderr.contains("`throughline verify --repair` salvages what can be read"), "{run:?}");
    assert!(!run.stderr.contains("panicked"), "{run:?}");
    let run = home.run(["verify", "--repair"]).success();
    assert!(run.stdout.contains("this is what could be salvaged") && run.stdout.contains("lost: "), "{run:?}");
    let databases = kept(&home).into_iter().filter(|path| path.extension().is_some_and(|end| end == "db"));
    assert_eq!(databases.count(), 2);
    assert_eq!(verify(&home, &[])["sound"], true);
    database::assert_sound(&home.database());
}

/// Overwrites the pages of a table's leaves, as a bad disk would.
pub(crate) fn damage(home: &Home, table: &str, most: usize) {
    // A checkpoint of a child that a hook left behind would write the pages anew.
    home.rest();
    drop(Connection::open(home.database()).expect("open").execute_batch("PRAGMA wal_checkpoint(TRUNCATE)"));
    let connection = Connection::open(home.database()).expect("open");
    let pages: Vec<i64> = connection
        .prepare("SELECT pageno FROM dbstat WHERE name = ?1 AND pagetype = 'leaf' ORDER BY pageno")
        .and_then(|mut select| select.query_map([table], |row| row.get(0))?.collect())
        .expect("the table's pages");
    drop(connection);
    let mut bytes = std::fs::read(home.database()).expect("read");
    let middle = pages.len() / 2;
    for page in pages[middle..].iter().take(most) {
        let at = (usize::try_from(*page).expect("small") - 1) * 4096;
        bytes[at..at + 4096].fill(0x5a);
    }
    std::fs::write(home.database(), &bytes).expect("write");
}

#[test]
fn the_disk_damages_the_middle_of_the_database_and_nothing_is_lost() {
    let (home, _) = lived_in();
    // Data that no transcript contains: notes that a person wrote.
    for number in 0..40 {
        let text = format!("The otter of day {number} eats fish. {}", "It is a long story. ".repeat(40));
        drop(home.run(["memory", "save", &text]).success());
    }
    // As if the memory were older than a day: the next session's start makes a copy in the background.
    sql(&home, "UPDATE projects SET created_at = 1000");
    let copy = home.data().join("weekly-copy.db");
    let project = home.work().join("shop");
    drop(Session::new(&home, &project, &session_id(9)).start("startup"));
    home.eventually("the copy is made", |_| copy.exists());
    let before = home.memories();
    assert!(before.len() > 40);
    damage(&home, "memories", 3);
    let report = verify(&home, &["--repair"]);
    assert_eq!(report["sound"], true, "{report:#}");
    let table =
        report["salvaged"]["tables"].as_array().and_then(|tables| tables.iter().find(|it| it["table"] == "memories"));
    let table = table.expect("the table");
    assert!(table["damaged"] == true && table["from_copy"].as_u64() > Some(0), "{report:#}");
    let after = home.memories();
    for memory in &before {
        assert!(after.iter().any(|it| it.text == memory.text), "lost: {memory:?}");
    }
    database::assert_sound(&home.database());
    let found = home.json(["search", "--json", "--all-projects", "otter day 21"]);
    assert!(found.to_string().contains("day 21"), "{found}");
    // What is forgotten is not in the copy either.
    drop(Session::new(&home, &project, &session_id(10)).start("startup"));
    home.eventually("the copy is made", |_| copy.exists());
    drop(home.run(["memory", "forget", "--all-projects", "--match", "otter", "--yes", "--now"]).success());
    assert!(!copy.exists());
}

#[test]
fn a_database_of_which_nothing_can_be_saved_is_said_to_be_lost() {
    let home = Home::new();
    drop(home.run(["memory", "save", "The otter eats fish"]).success());
    home.rest();
    for file in ["throughline.db-wal", "throughline.db-shm"] {
        std::fs::remove_file(home.data().join(file)).ok();
    }
    std::fs::write(home.database(), b"no database").expect("write");
    let hint = "`throughline verify --repair` salvages what can be read";
    for command in [&["search", "otter"][..], &["memory", "save", "The otter swims"], &["verify"]] {
        let run = home.run(command.iter().copied()).failure_with_hint();
        assert!(run.stderr.contains(hint), "{command:?}: {run:#?}");
    }
    let run = home.run(["verify", "--repair"]).failure_with_hint();
    assert!(run.stderr.contains("nothing could be saved: the new database is empty"), "{run:#?}");
    assert!(!run.stdout.contains("no errors"), "{run:#?}");
    drop(home.run(["verify"]).success());
}

#[test]
fn without_a_copy_the_transcripts_fill_the_gaps() {
    let (home, _) = lived_in();
    let before = home.memories();
    damage(&home, "memories", 100);
    let report = verify(&home, &["--repair"]);
    assert_eq!((&report["sound"], &report["salvaged"]["copy_from"]), (&Value::Bool(true), &Value::Null), "{report:#}");
    assert!(report["salvaged"]["transcripts"].as_u64() > Some(1), "{report:#}");
    let after = home.memories();
    let lost: Vec<_> = before.iter().filter(|memory| !after.iter().any(|it| it.text == memory.text)).collect();
    // A failure that the hooks counted is known to no transcript.
    assert!(lost.iter().all(|memory| memory.text.contains("cargo build")), "{lost:#?}");
}

#[test]
fn cursors_are_compared_with_the_transcripts() {
    let (home, transcript) = lived_in();
    let before = home.memories();
    let whole = std::fs::read(&transcript).expect("read");
    let place = transcript.to_str().expect("UTF-8");
    let cursor = |column: &str| number(&home, &format!("SELECT {column} FROM transcripts WHERE path = '{place}'"));
    let read = cursor("byte_offset");
    assert!(read > 0);
    found_and_mended(
        &home,
        &format!("UPDATE transcripts SET byte_offset = 100000000 WHERE path = '{place}'"),
        "cursors",
        place,
        1,
    );
    assert_eq!(cursor("byte_offset"), 0);
    // Read anew, it teaches nothing new.
    drop(home.run([OsStr::new("ingest"), transcript.as_os_str()]).success());
    assert_eq!(cursor("byte_offset"), read);
    assert_eq!(home.memories(), before);

    std::fs::write(&transcript, &whole[..whole.len() / 2]).expect("write");
    found_and_mended(&home, "SELECT 1", "cursors", place, 1);
    std::fs::write(&transcript, &whole).expect("write");
    drop(home.run([OsStr::new("ingest"), transcript.as_os_str()]).success());
    assert_eq!(home.memories(), before);

    let other = String::from_utf8_lossy(&whole).replace("\"uuid\":\"", "\"uuid\":\"other-");
    std::fs::write(&transcript, other).expect("write");
    found_and_mended(&home, "SELECT 1", "cursors", place, 1);

    std::fs::remove_file(&transcript).expect("remove");
    let report = verify(&home, &[]);
    assert_eq!((&report["sound"], &report["gone"]), (&true.into(), &1.into()), "{report:#}");
}

#[test]
fn a_repair_that_is_killed_leaves_a_sound_database() {
    let _timed = turns::timed();
    let (home, _) = lived_in();
    let lines = (0..400).fold(String::new(), |lines, n| {
        lines + &format!("{{\"project\": \"p\", \"content\": \"Lesson {n}: otters sleep holding hands, number {n}.\"}}\n")
    });
    drop(process::run(home.command(["import", "-"]), lines.into_bytes(), process::WATCHDOG).success());
    let memories = home.memories();
    let ruin =
        "INSERT INTO memories_fts (memories_fts) VALUES ('delete-all'); DELETE FROM vector_codes; DELETE FROM vectors;
                UPDATE projects SET memories = 0; UPDATE memories SET seen_count = 9;";
    sql(&home, ruin);
    let started = std::time::Instant::now();
    assert_eq!(verify(&home, &["--repair"])["sound"], true);
    let usual = started.elapsed();
    let mut dice = Dice::new(tests::env_number("THROUGHLINE_CRASH_SEED", 20_261_122));
    let mut unfinished = 0;
    for _ in 0..12 {
        sql(&home, ruin);
        let mut child = home
            .command(["verify", "--repair"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("start");
        std::thread::sleep(usual.mul_f64(f64::from(u32::try_from(dice.below(1_000)).expect("small")) / 1_000.0));
        process::kill_now(child.id());
        child.wait().expect("wait");
        database::assert_sound(&home.database());
        unfinished += usize::from(verify(&home, &[])["sound"] == false);
    }
    assert!(unfinished > 0, "no repair was killed on the way");
    assert_eq!(verify(&home, &["--repair"])["sound"], true);
    assert_eq!(home.memories(), memories);
}

#[test]
fn a_transcript_outside_the_agents_folders_is_not_called_deleted() {
    let (home, own) = lived_in();
    let outside = home.path().join("copied/session.jsonl");
    std::fs::create_dir_all(outside.parent().expect("a folder")).expect("create");
    let text = std::fs::read_to_string(own).expect("read");
    std::fs::write(&outside, text.replace(&session_id(1), &session_id(77))).expect("write");
    drop(home.run([OsStr::new("ingest"), outside.as_os_str()]).success());
    let report = verify(&home, &[]);
    assert_eq!((&report["sound"], &report["gone"], &report["outside"]), (&true.into(), &0.into(), &1.into()), "{report:#}");
    let text = home.run(["verify"]).success().stdout;
    assert!(text.contains("1 transcript is outside the agents' folders") && !text.contains("deleted"), "{text}");
    std::fs::remove_file(&outside).expect("remove");
    let report = verify(&home, &[]);
    assert_eq!((&report["gone"], &report["outside"]), (&1.into(), &0.into()), "{report:#}");
}
