//! `export`, `backup` and `restore`: everything exported can be restored, despite concurrent writers and kills, and existing
//! data is kept.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Value, json};
use tests::bulk::{self, Dice};
use tests::database;
use tests::faults;
use tests::home::Home;
use tests::process::{self, Finished, WATCHDOG};
use tests::session::Session;
use tests::transcript::session_id;
use tests::turns;

/// Imports the lines from standard input.
#[track_caller]
fn import(home: &Home, lines: &str) -> Value {
    let run = process::run(home.command(["import", "--json", "-"]), lines.as_bytes().to_vec(), WATCHDOG).success();
    serde_json::from_str(&run.stdout).expect("a report")
}

fn lessons(numbers: std::ops::Range<u32>) -> String {
    let line = |n| {
        json!({"id": format!("lesson-{n}"), "project": format!("p{}", n % 3), "session_id": format!("s{}", n % 7),
            "content": format!("Lesson {n}: otters sleep holding hands."), "created_at": 1_736_902_800_000_u64 + u64::from(n / 2)})
    };
    numbers.map(|n| line(n).to_string() + "\n").collect()
}

fn export(home: &Home) -> String {
    home.run(["export", "--all-projects"]).success().stdout
}

fn backup(home: &Home, file: &Path) -> Finished {
    home.run(["backup".as_ref(), file.as_os_str()])
}

fn restore(home: &Home, file: &Path) -> Finished {
    home.run(["restore".as_ref(), "--yes".as_ref(), file.as_os_str()])
}

/// Files of the data folder that were kept when something was replaced.
fn kept(home: &Home) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(home.data()).expect("the data folder").flatten().map(|entry| entry.path());
    entries.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().contains("-before-"))).collect()
}

fn count(database: &Path) -> i64 {
    database::number(database, "SELECT count(*) FROM memories")
}

/// Texts of memories, as somebody may have written them.
fn written() -> impl Strategy<Value = Value> {
    (
        prop::option::of("[a-z0-9]{1,8}"),
        "(shop|owner/other|결제)",
        "([a-f0-9]{8})?",
        prop::sample::select(vec!["decision", "turn", "learning", "Own Kind", "preference"]),
        prop::option::of("[a-zA-Z가-힣 ]{1,40}"),
        "[a-zA-Z가-힣][a-zA-Z가-힣0-9 .,\"\\\\\n\t]{0,80}",
        prop::collection::vec("[a-z]{1,8}", 0..3),
        0_u32..=100,
        0_u64..2_000_000_000_000,
    )
        .prop_map(|(id, project, session, kind, title, content, list, importance, created)| {
            json!({"id": id, "project": project, "session_id": session, "type": kind, "title": title, "content": content,
                "keywords": list, "files": list, "importance": f64::from(importance) / 100.0, "created_at": created})
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_exported_and_imported_is_exported_the_same(lines in prop::collection::vec(written(), 1..30)) {
        let (first, second) = (Home::new(), Home::new());
        let text: String = lines.iter().map(|line| line.to_string() + "\n").collect();
        import(&first, &text);
        let exported = export(&first);
        let report = import(&second, &exported);
        prop_assert_eq!((&report["failed"], &report["left_out"]), (&json!(0), &json!(0)), "{} of {}", report, exported);
        prop_assert_eq!(&export(&second), &exported);
        prop_assert!(exported.lines().count() > 0);
    }
}

#[test]
fn what_sessions_taught_is_exported_by_project_and_in_order() {
    let home = Home::new();
    let (here, there) = (home.project("here"), home.project("there"));
    let mut dice = Dice::new(7);
    for (number, project) in [&here, &here, &there].into_iter().enumerate() {
        let mut session = Session::new(&home, project, &session_id(number as u64));
        (0..4).for_each(|_| bulk::turn(&mut session.transcript, &mut dice));
        session.stop("Done.");
        session.end();
    }
    let of = |project: &Path| home.run(["export".as_ref(), "--project".as_ref(), project.as_os_str()]).success().stdout;
    let (first, second, all) = (of(&here), of(&there), export(&home));
    assert!(!first.is_empty() && !second.is_empty());
    let is_memory = |line: &&str| line.contains("\"content\":");
    let mut lines: Vec<&str> = first.lines().chain(second.lines()).collect();
    let mut every: Vec<&str> = all.lines().filter(is_memory).collect();
    assert_eq!(all.lines().count(), every.len() + 2 + 3, "two projects and three sessions");
    let times: Vec<Value> =
        every.iter().map(|line| serde_json::from_str::<Value>(line).expect("JSON")["created_at"].clone()).collect();
    let moments: Vec<&str> = times.iter().map(|time| time.as_str().expect("a time")).collect();
    assert!(moments.is_sorted_by_key(|time| time.parse::<jiff::Timestamp>().expect("RFC 3339")), "{moments:?}");
    lines.retain(is_memory);
    lines.sort_unstable();
    every.sort_unstable();
    assert_eq!(lines, every);
    assert_eq!(every.len(), usize::try_from(count(&home.database())).expect("a count"), "turns too");

    // The same folders elsewhere are the same projects.
    let other = Home::new();
    import(&other, &all);
    assert_eq!(export(&other), all);
}

/// Runs the import of `file` in a folder and returns its report.
#[track_caller]
fn import_in(home: &Home, folder: &Path, file: &Path, more: &[&str]) -> Value {
    let mut command = home.command(["import".as_ref(), file.as_os_str(), "--json".as_ref()]);
    command.args(more).current_dir(folder);
    let run = process::run(command, Vec::new(), WATCHDOG).success();
    serde_json::from_str(&run.stdout).expect("a report")
}

#[test]
fn a_new_machine_has_the_sessions_and_recognizes_the_projects() {
    const PROMPT: &str = "add headers to the otter exporter";
    let old = Home::new();
    let shop = old.project("shop");
    Session::new(&old, &shop, &session_id(1)).exporter(PROMPT);
    let file = old.path().join("memories.jsonl");
    drop(old.run(["export".as_ref(), "--all-projects".as_ref(), "-o".as_ref(), file.as_os_str()]).success());
    let sessions = |home: &Home, project: &Path| {
        home.json(["session".as_ref(), "list".as_ref(), "--json".as_ref(), "--project".as_ref(), project.as_os_str()])
    };
    let before = sessions(&old, &shop);
    assert!(before[0]["outcome"].as_str().is_some_and(|outcome| !outcome.is_empty()), "{before:#}");

    // The same repository at another path, right below the folder of the import.
    let new = Home::new();
    let clone = new.work().join("otters");
    new.git(&new.work(), &["clone", "--quiet", shop.to_str().expect("UTF-8"), "otters"]);
    // The folder at the former path is on this disk too: a laptop would not have it.
    std::fs::rename(&shop, old.work().join("gone")).expect("move the project away");
    let report = import_in(&new, &new.work(), &file, &[]);
    assert_eq!((&report["sessions"], &report["failed"]), (&json!(1), &json!(0)), "{report:#}");
    let wanted = json!([{"project": shop, "here": clone.canonicalize().expect("a folder"), "found": "repository"}]);
    assert_eq!(report["projects"], wanted);
    let after = sessions(&new, &clone);
    for field in ["id", "title", "outcome", "turns", "files", "end_reason"] {
        assert_eq!(after[0][field], before[0][field], "{field}");
    }
    assert_eq!(new.memories_of(&clone).len(), old.memories_of(&shop).len());
    let told = Session::new(&new, &clone, &session_id(2)).start("startup");
    assert!(told.said().contains("otter exporter"), "{told:#?}");
    let again = import_in(&new, &new.work(), &file, &[]);
    assert_eq!((&again["sessions"], &again["known_sessions"], &again["memories"]), (&json!(0), &json!(1), &json!(0)));

    // Without the repository, the person is told, and can name a folder.
    let other = Home::new();
    let folder = other.project("otters");
    let run = {
        let mut command = other.command(["import".as_ref(), file.as_os_str()]);
        command.current_dir(&folder);
        process::run(command, Vec::new(), WATCHDOG).success()
    };
    assert!(run.stdout.contains("is not on this machine") && run.stderr.contains("--project"), "{run:#?}");
    assert!(run.stdout.contains("1 new session") && run.stdout.contains("no tool calls"), "{run:#?}");
    assert!(other.memories_of(&folder).is_empty());
    let report = import_in(&other, other.path(), &file, &["--project", folder.to_str().expect("UTF-8")]);
    assert_eq!(report["projects"][0]["found"], "named");
    assert_eq!(sessions(&other, &folder)[0]["title"], before[0]["title"]);
    assert_eq!(other.memories_of(&folder).len(), new.memories_of(&clone).len());
}

#[test]
fn a_session_line_of_somebody_else_is_redacted_and_refused_if_it_has_no_identifier() {
    let home = Home::new();
    let token = format!("ghp_{}", "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb7c");
    let session = json!({"id": "s1", "agent": "no such agent", "summary": format!("pushed with {token}"),
        "notes": {"original_request": format!("use {token}"), "turns": 2, "started": 1_736_902_800_000_u64}});
    let lines = format!(
        "{}\n{}\n",
        json!({"project": "shop", "session": session}),
        json!({"project": "shop", "session": {"summary": "whose?"}})
    );
    let run = process::run(home.command(["import", "--json", "-"]), lines.into_bytes(), WATCHDOG);
    let report: Value = serde_json::from_str(&run.stdout).expect("a report");
    assert_eq!((&report["sessions"], &report["failed"]), (&json!(1), &json!(1)), "{report:#}");
    let shown = home.json(["session", "show", "s1", "--json"]);
    assert!(shown["summary"].as_str().is_some_and(|text| text.starts_with("pushed with")), "{shown:#}");
    assert_eq!(shown["agent"], "");
    assert!(!shown.to_string().contains(&token), "{shown:#}");
}

#[test]
fn an_export_to_a_file_is_private_and_overwrites_nothing() {
    let home = Home::new();
    import(&home, &lessons(0..10));
    let file = home.path().join("out.jsonl");
    let to = |more: &[&str]| {
        let arguments = [OsStr::new("export"), "--all-projects".as_ref(), "-o".as_ref(), file.as_os_str()];
        home.run(arguments.into_iter().chain(more.iter().map(OsStr::new)))
    };
    drop(to(&[]).success());
    assert_eq!(std::fs::read_to_string(&file).expect("read"), export(&home));
    assert_eq!(file.metadata().expect("a file").permissions().mode() & 0o777, 0o600);
    import(&home, &lessons(10..11));
    drop(to(&[]).failure_with_hint());
    assert_eq!(std::fs::read_to_string(&file).expect("read").lines().count(), 10);
    drop(to(&["--force"]).success());
    assert_eq!(std::fs::read_to_string(&file).expect("read").lines().count(), 11);
    let nowhere = home.run(["export", "--all-projects", "-o", "no/such/folder/x"]).failure_with_hint();
    assert!(nowhere.stderr.contains("no/such/folder/x"), "{nowhere:?}");
}

/// Imports lessons one after another until it is killed.
struct Writer(Child);

impl Writer {
    fn start(home: &Home) -> Self {
        let program = process::throughline();
        let script = "n=0; while :; do n=$((n+1)); echo \"{\\\"project\\\": \\\"w\\\", \\\"content\\\": \\\"Written $$ $n\\\"}\"; done";
        let mut shell = home.isolated("sh");
        // Small batches: each process stores some lines and the next one comes.
        shell
            .args(["-c", &format!("while :; do ({script}) | head -n 20 | \"$0\" memory import - >/dev/null 2>&1; done")])
            .arg(program)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        std::os::unix::process::CommandExt::process_group(&mut shell, 0);
        Self(shell.spawn().expect("start the writer"))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let group = nix::unistd::Pid::from_raw(i32::try_from(self.0.id()).expect("a number"));
        let _ = nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL);
        let _ = self.0.wait();
    }
}

#[test]
fn a_backup_is_whole_while_others_write() {
    let home = Home::new();
    import(&home, &lessons(0..2_000));
    let writer = Writer::start(&home);
    home.eventually("the writer writes", |home| count(&home.database()) > 2_000);
    for number in 0..5 {
        let file = home.path().join(format!("{number}.db"));
        let before = count(&home.database());
        let report = home.json([OsStr::new("backup"), "--json".as_ref(), file.as_os_str()]);
        let after = count(&home.database());
        let held = count(&file);
        assert_eq!(report["memories"], held);
        assert!((before..=after).contains(&held), "{held} of {before} to {after}");
        database::assert_sound(&file);
        assert_eq!(file.metadata().expect("a file").permissions().mode() & 0o777, 0o600);
    }
    drop(writer);
    let names: Vec<String> = std::fs::read_dir(home.path())
        .expect("the home")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.contains(".db"))
        .collect();
    assert_eq!(names.len(), 5, "something was left: {names:?}");
}

#[test]
fn a_backup_overwrites_nothing_unasked_and_never_the_database() {
    let home = Home::new();
    import(&home, &lessons(0..10));
    let file = home.path().join("b.db");
    std::fs::write(&file, "mine").expect("write");
    drop(backup(&home, &file).failure_with_hint());
    assert_eq!(std::fs::read(&file).expect("read"), b"mine");
    drop(home.run(["backup".as_ref(), "--force".as_ref(), file.as_os_str()]).success());
    assert_eq!(count(&file), 10);

    let link = home.path().join("link.db");
    std::fs::hard_link(home.database(), &link).expect("link");
    for own in [home.database(), home.data().join("throughline.db-wal"), home.data().join("throughline.db-shm"), link] {
        drop(home.run(["backup".as_ref(), "--force".as_ref(), own.as_os_str()]).failure_with_hint());
    }
    drop(backup(&home, home.path()).failure_with_hint());
    drop(backup(&home, &home.path().join("no/such/folder.db")).failure_with_hint());
    assert_eq!(home.count("memories"), 10);
    database::assert_sound(&home.database());

    let folder = home.path().join("closed");
    std::fs::create_dir(&folder).expect("a folder");
    let inside = folder.join("b.db");
    if let Some(fault) = faults::immutable(&folder) {
        let run = backup(&home, &inside).failure_with_hint();
        assert!(run.stderr.contains("b.db"), "{run:?}");
        fault.mend();
    }
}

#[test]
fn a_restore_brings_back_what_there_was_and_keeps_what_there_is() {
    let home = Home::new();
    import(&home, &lessons(0..30));
    let before = database::dump(&home.database(), |table, _| table == "meta");
    let file = home.path().join("b.db");
    drop(backup(&home, &file).success());
    import(&home, &lessons(30..50));

    // Nobody to ask.
    let asked = home.run(["restore".as_ref(), file.as_os_str()]).failure_with_hint();
    let (has, replaced) = ("has 30 memories and ", "it would replace everything that is stored now: 50 memories and ");
    assert!(asked.stderr.contains(has) && asked.stderr.contains(replaced), "{asked:#?}");
    assert_eq!(count(&home.database()), 50);
    let report = home.json([OsStr::new("restore"), "--yes".as_ref(), "--json".as_ref(), file.as_os_str()]);
    assert_eq!(report["memories"], 30);
    let after = database::dump(&home.database(), |table, _| table == "meta");
    database::assert_same(&before, &after, "what was backed up");
    let [kept] = kept(&home).try_into().expect("one file was kept");
    assert_eq!(report["kept"].as_str().map(PathBuf::from), Some(kept.clone()));
    assert_eq!(count(&kept), 50);
    assert_eq!(kept.metadata().expect("a file").permissions().mode() & 0o777, 0o600);
    // And the other way round: nothing was lost.
    drop(restore(&home, &kept).success());
    assert_eq!(home.count("memories"), 50);
    assert!(home.run(["verify"]).success().stdout.contains("no errors"));

    // Into an empty home too.
    let other = Home::new();
    drop(restore(&other, &file).success());
    assert_eq!(other.count("memories"), 30);
    assert_eq!(self::kept(&other), Vec::<PathBuf>::new());
}

#[test]
fn what_was_deleted_for_good_since_stays_deleted() {
    let home = Home::new();
    import(&home, &lessons(0..5));
    let file = home.path().join("b.db");
    drop(backup(&home, &file).success());
    let found = home.json(["memory", "search", "--json", "--all-projects", "Lesson 3"]);
    drop(home.run(["memory", "delete", found[0]["id"].as_str().expect("an id")]).success());
    let report = home.json([OsStr::new("restore"), "--yes".as_ref(), "--json".as_ref(), file.as_os_str()]);
    assert_eq!(report["still_deleted"], 1);
    assert_eq!(home.count("memories"), 4);
    assert!(!home.remembers("Lesson 3"));
    // It does not come back with the next reading either.
    assert_eq!(import(&home, &lessons(0..5))["forgotten"], 1);
    let wanted = [OsStr::new("restore"), "--yes".as_ref(), "--with-deleted".as_ref(), file.as_os_str()];
    drop(home.run(wanted).success());
    assert!(home.remembers("Lesson 3"));
    // A deletion also reports copies that a restore kept.
    let found = home.json(["memory", "search", "--json", "--all-projects", "Lesson 1"]);
    let run = home.run(["memory", "delete", found[0]["id"].as_str().expect("an id")]).success();
    assert_eq!(run.stderr.matches("throughline-before-restore-").count(), 2, "{run:?}");
    assert!(home.run(["verify"]).success().stdout.contains("no errors"));
}

#[test]
fn attack_a_restore_of_a_backup_with_a_foreign_trigger_or_view() {
    let home = Home::new();
    import(&home, &lessons(0..30));
    let file = home.path().join("b.db");
    drop(backup(&home, &file).success());
    let sound = std::fs::read(&file).expect("the backup");
    let before = database::dump(&home.database(), |_, _| false);
    for (attack, words) in [
        ("CREATE TRIGGER back AFTER DELETE ON memories BEGIN INSERT INTO memories SELECT old.*; END", "foreign trigger"),
        ("CREATE TRIGGER spy AFTER INSERT ON memories BEGIN DELETE FROM tombstones; END", "foreign trigger"),
        (
            "CREATE VIEW endless AS WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n",
            "foreign view",
        ),
        ("CREATE TABLE more (x CHECK (length(zeroblob(x)) > 0))", "foreign table"),
    ] {
        std::fs::write(&file, &sound).expect("write");
        let connection = rusqlite::Connection::open(&file).expect("open the backup");
        connection.execute_batch(attack).expect("the attack");
        drop(connection);
        let run = restore(&home, &file).failure_with_hint();
        assert!(run.stderr.contains(words) && !run.overdue, "{attack}: {run:#?}");
        database::assert_same(&before, &database::dump(&home.database(), |_, _| false), attack);
        // Nothing is there to be taken for the one that was restored.
        assert_eq!(kept(&home), Vec::<PathBuf>::new(), "{attack}");
        let other = Home::new();
        drop(restore(&other, &file).failure_with_hint());
        assert_eq!(other.memories().len(), 0, "{attack}: into an empty home");
    }
    // What is forgotten is gone, and the backup as it was is still one.
    std::fs::write(&file, &sound).expect("write");
    drop(restore(&home, &file).success());
    assert_eq!(home.count("memories"), 30);
}

#[test]
fn whoever_has_the_database_open_reads_and_writes_the_restored_one() {
    let home = Home::new();
    import(&home, &lessons(0..30));
    let file = home.path().join("b.db");
    drop(backup(&home, &file).success());
    import(&home, &lessons(30..50));
    let open = rusqlite::Connection::open(home.database()).expect("open");
    let counted = || -> i64 { open.query_row("SELECT count(*) FROM memories", [], |row| row.get(0)).expect("count") };
    // A reader in the middle of a transaction keeps what it began with.
    open.execute_batch("BEGIN").expect("begin");
    assert_eq!(counted(), 50);
    drop(restore(&home, &file).success());
    assert_eq!(counted(), 50);
    open.execute_batch("COMMIT").expect("commit");
    assert_eq!(counted(), 30);
    open.execute("DELETE FROM meta WHERE key = 'none'", []).expect("write");
    open.execute("INSERT INTO meta (key, value) VALUES ('written_after', '1')", []).expect("write");
    drop(open);
    assert_eq!(database::number(&home.database(), "SELECT count(*) FROM meta WHERE key = 'written_after'"), 1);
    database::assert_sound(&home.database());
}

#[test]
fn a_restore_while_others_write_loses_nothing() {
    let home = Home::new();
    import(&home, &lessons(0..300));
    let file = home.path().join("b.db");
    drop(backup(&home, &file).success());
    let writer = Writer::start(&home);
    home.eventually("the writer writes", |home| count(&home.database()) > 300);
    for _ in 0..3 {
        drop(restore(&home, &file).success());
        std::thread::sleep(Duration::from_millis(300));
    }
    drop(writer);
    database::assert_sound(&home.database());
    // What the writer wrote before a restore is in what was kept, what it wrote after it in the database.
    let all = kept(&home);
    assert_eq!(all.len(), 3);
    for kept in &all {
        database::assert_sound(kept);
        assert!(count(kept) > 300);
    }
    assert!(home.run(["verify"]).success().stdout.contains("no errors"));
}

#[test]
fn a_restore_that_is_killed_leaves_the_old_one_or_the_new_one() {
    let _timed = turns::timed();
    let home = Home::new();
    import(&home, &lessons(0..3_000));
    let file = home.path().join("b.db");
    drop(backup(&home, &file).success());
    import(&home, &lessons(3_000..3_010));
    let started = Instant::now();
    drop(restore(&home, &file).success());
    let usual = started.elapsed();
    import(&home, &lessons(3_000..3_010));

    let mut dice = Dice::new(tests::env_number("THROUGHLINE_CRASH_SEED", 20_261_122));
    let (mut old, mut new) = (0, 0);
    for _ in 0..24 {
        let mut child = home
            .command(["restore".as_ref(), "--yes".as_ref(), file.as_os_str()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("start");
        std::thread::sleep(usual.mul_f64(f64::from(u32::try_from(dice.below(1_000)).expect("small")) / 1_000.0));
        process::kill_now(child.id());
        child.wait().expect("wait");
        database::assert_sound(&home.database());
        match count(&home.database()) {
            3_000 => {
                new += 1;
                import(&home, &lessons(3_000..3_010));
            }
            3_010 => old += 1,
            other => panic!("{other} memories are neither the old nor the new ones"),
        }
    }
    println!("of the killed ones {old} left the old, {new} the new memories");
    drop(restore(&home, &file).success());
    assert_eq!(home.count("memories"), 3_000);
    assert!(!home.data().join(".restore.db").exists());
}

#[test]
fn what_is_no_backup_is_refused_and_nothing_is_touched() {
    let home = Home::new();
    import(&home, &lessons(0..10));
    let good = home.path().join("good.db");
    drop(backup(&home, &good).success());
    let sql = |name: &str, sql: &str| {
        let path = home.path().join(name);
        let _ = std::fs::copy(&good, &path);
        rusqlite::Connection::open(&path).expect("open").execute_batch(sql).expect("valid SQL");
        path
    };
    let bytes = |name: &str, bytes: &[u8]| {
        let path = home.path().join(name);
        std::fs::write(&path, bytes).expect("write");
        path
    };
    let mut torn = std::fs::read(&good).expect("read");
    torn.truncate(torn.len() / 2);
    let mut bad = std::fs::read(&good).expect("read");
    let half = bad.len() / 2;
    bad[half..half + 20_000].fill(0xa5);
    let foreign = home.path().join("foreign.db");
    rusqlite::Connection::open(&foreign).expect("open").execute_batch("CREATE TABLE t (a)").expect("valid SQL");
    let logged = bytes("logged.db", &std::fs::read(&good).expect("read"));
    bytes("logged.db-wal", b"something");
    let before = database::dump(&home.database(), |_, _| false);
    for (file, said) in [
        (bytes("empty.db", b""), "empty"),
        (bytes("text.db", b"these are my notes, and no database"), "not a database"),
        (bytes("short.db", b"SQLite"), "not a database"),
        (bytes("torn.db", &torn), "damaged"),
        (bytes("bad.db", &bad), "damaged"),
        (foreign, "another program"),
        (sql("newer.db", "PRAGMA user_version = 9999"), "newer version"),
        (sql("without.db", "DROP TABLE sightings"), "another program"),
        (logged, "log beside it"),
        (home.database(), "the database itself"),
        (home.path().to_owned(), "not a database"),
        (home.path().join("none.db"), "cannot be read"),
    ] {
        let run = restore(&home, &file).failure_with_hint();
        assert!(run.stderr.contains(said), "{}: {run:?}", file.display());
        assert!(!run.stderr.contains("panicked"), "{run:?}");
    }
    assert_eq!(database::dump(&home.database(), |_, _| false), before);
    assert_eq!(kept(&home), Vec::<PathBuf>::new());
    assert!(!home.data().join(".restore.db").exists());
}

#[test]
fn an_older_schema_is_brought_up_to_date() {
    let home = Home::new();
    let old = home.path().join("old.db");
    let made = database::of_first_version(&old, 0);
    made.execute_batch(
        "INSERT INTO sightings (session_id, key, memory) VALUES ('s', 'import:00112233445566778899', 4294967297);
         INSERT INTO shown (session_id, memory, source, at) VALUES ('s', 4294967297, 'start', 1);
         INSERT INTO tombstones VALUES ('p', randomblob(32), 1);
         INSERT INTO project_knowledge VALUES ('aaaaaaaaaaaa', 'p', NULL, 'convention', 'Old', 4294967297, 1, 1);",
    )
    .expect("valid SQL");
    drop(made);
    let bytes = std::fs::read(&old).expect("read");
    drop(restore(&home, &old).success());
    assert_eq!(home.count("memories"), 1);
    assert!(home.remembers("An old otter"));
    // What refers to a memory outlives the change of its table, and hashes are cut in all tables alike.
    let database = rusqlite::Connection::open(home.database()).expect("open");
    let number = |sql: &str| database.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("a number");
    for table in ["sightings", "shown", "project_knowledge"] {
        assert_eq!(number(&format!("SELECT count(*) FROM {table}")), 1, "{table}");
    }
    for table in ["memories", "tombstones"] {
        assert_eq!(number(&format!("SELECT length(content_hash) FROM {table}")), 16, "{table}");
    }
    drop(home.run(["memory", "reindex"]).success());
    drop(home.run(["verify"]).success());
    assert_eq!(std::fs::read(&old).expect("read"), bytes, "the backup was written to");
}

#[test]
fn a_database_that_cannot_be_opened_is_moved_aside() {
    let home = Home::new();
    import(&home, &lessons(0..10));
    let file = home.path().join("b.db");
    drop(backup(&home, &file).success());
    let ruined = vec![0x5a; 10_000];
    std::fs::write(home.database(), &ruined).expect("write");
    drop(home.run(["backup".as_ref(), home.path().join("c.db").as_os_str()]).failure_with_hint());
    let run = home.run(["verify"]).failure_with_hint();
    assert!(run.stderr.contains("throughline restore"), "{run:?}");
    drop(restore(&home, &file).success());
    assert_eq!(home.count("memories"), 10);
    database::assert_sound(&home.database());
    let kept = kept(&home);
    assert!(kept.iter().any(|kept| std::fs::read(kept).is_ok_and(|bytes| bytes == ruined)), "{kept:?}");
    assert_eq!(home.database().metadata().expect("a file").permissions().mode() & 0o777, 0o600);
}

#[test]
fn only_one_restores_at_a_time() {
    let home = Home::new();
    import(&home, &lessons(0..10));
    let file = home.path().join("b.db");
    drop(backup(&home, &file).success());
    let lock = std::fs::File::options().create(true).append(true).open(home.data().join("restore.lock")).expect("open");
    lock.lock().expect("lock");
    let run = restore(&home, &file).failure_with_hint();
    assert!(run.stderr.contains("another process"), "{run:?}");
    lock.unlock().expect("unlock");
    drop(restore(&home, &file).success());
}
