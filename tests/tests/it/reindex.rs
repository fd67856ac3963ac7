//! The index made anew: after another version, for another model, killed at any moment, and while sessions write.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tests::bulk::Dice;
use tests::database;
use tests::fake_provider::{Act, DIMS, FakeProvider};
use tests::home::Home;
use tests::process::{self, Finished, WATCHDOG};
use tests::turns;

fn import(home: &Home, lines: impl IntoIterator<Item = Value>) {
    let text: String = lines.into_iter().map(|line| line.to_string() + "\n").collect();
    let run = process::run(home.command(["import", "-"]), text.into_bytes(), WATCHDOG);
    drop(run.success());
}

fn memory(id: usize, content: &str) -> Value {
    json!({"id": id.to_string(), "project": "shop", "content": content})
}

/// As the same program would find the database that another version of it left.
fn of_another_version(home: &Home) {
    let conn = rusqlite::Connection::open(home.database()).expect("open");
    conn.execute_batch(
        "UPDATE meta SET value = '1.1' WHERE key = 'index_version';
         DELETE FROM memories_fts; DELETE FROM vectors; DELETE FROM vector_codes;
         INSERT OR IGNORE INTO unembedded SELECT rowid FROM memories;",
    )
    .expect("take the index away");
}

fn run(home: &Home, arguments: &[&str]) -> Finished {
    process::run(home.command(arguments), Vec::new(), WATCHDOG)
}

fn reindex(home: &Home) -> Value {
    home.json(["memory", "reindex", "--json"])
}

/// What a search finds, best first, and what it says on stderr.
fn search(home: &Home, words: &str) -> (Vec<String>, String) {
    let run = run(home, &["memory", "search", "--json", "--project", "shop", words]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    let found: Vec<Value> = serde_json::from_str(&run.stdout).expect("an array");
    (found.iter().map(|found| found["content"].as_str().unwrap_or_default().to_owned()).collect(), run.stderr)
}

fn configure(home: &Home, server: &FakeProvider, provider: &str, more: &str) {
    let path = home.throughline().join("config");
    std::fs::create_dir_all(&path).expect("create the folder");
    let text = format!(
        "[embedding]\nprovider = \"{provider}\"\ntimeout_ms = 5000\nbatch = 3\n\
         [embedding.openai]\nbase_url = \"{}\"\nmodel = \"a-model\"\nkey_env = []\n{more}",
        server.url()
    );
    std::fs::write(path.join("config.toml"), text).expect("write the configuration");
}

#[test]
fn what_another_version_left_is_made_anew_and_then_there_is_nothing_to_do() {
    let home = Home::new();
    import(&home, (0..40).map(|n| memory(n, &format!("The otter of pond {n} sleeps by day"))));
    let before = search(&home, "otter 7").0;
    assert_eq!(before[0], "The otter of pond 7 sleeps by day");
    let nothing = run(&home, &["memory", "reindex"]).success().stdout;
    assert!(nothing.contains("nothing to do"), "{nothing}");
    of_another_version(&home);
    let (found, warning) = search(&home, "otter 7");
    assert!(found.is_empty() && warning.contains("memory reindex"), "{found:?} {warning}");
    assert!(run(&home, &["doctor"]).stdout.contains("must be rebuilt"));
    let report = reindex(&home);
    assert_eq!((&report["remade"], &report["unembedded"]), (&json!(40), &json!(0)), "{report}");
    assert_eq!(search(&home, "otter 7"), (before, String::new()));
    assert_eq!(reindex(&home)["remade"], Value::Null);
    assert_eq!(home.json(["memory", "reindex", "--force", "--json"])["remade"], 40);
    database::assert_sound(&home.database());
}

#[test]
fn killed_at_any_moment_it_goes_on_and_ends_well() {
    let _timed = turns::timed();
    // Each takes a second in a debug build.
    let crashes = tests::env_number("THROUGHLINE_CRASHES", 20).min(30);
    let seed = tests::env_number("THROUGHLINE_CRASH_SEED", 20_261_122);
    println!("seed {seed}");
    let mut dice = Dice::new(seed);
    let home = Home::new();
    // No number: it would be one of a pond.
    let reed = |n: u64| {
        n.to_string().bytes().fold("reed".to_owned(), |word, digit| {
            word + ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"][usize::from(digit - b'0')]
        })
    };
    let text = |n: usize| format!("Pond {n}. {}", "The otter sleeps by day and swims at night. ".repeat(n % 40));
    import(&home, (0..1_500).map(|n| memory(n, &text(n))));
    let before = search(&home, "otter pond 77").0;
    let started = Instant::now();
    drop(run(&home, &["memory", "reindex", "--force"]).success());
    let usual = started.elapsed();
    let mut hits = 0;
    for round in 0..crashes {
        let mut child = home
            .command(["memory", "reindex", "--force"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("start");
        std::thread::sleep(usual.mul_f64(f64::from(u32::try_from(dice.below(1_000)).expect("small")) / 1_000.0));
        process::kill_now(child.id());
        hits += u32::from(child.wait().expect("wait").code().is_none());
        // At any moment, all memories are found, including new ones.
        assert_eq!(search(&home, "otter pond 77").0, before);
        let id = 10_000 + usize::try_from(round).expect("small");
        import(&home, [memory(id, &format!("The heron waits at {}", reed(round)))]);
        database::assert_sound(&home.database());
    }
    println!("{hits} of {crashes} were killed while they ran, of usually {usual:?}");
    assert!(u64::from(hits) * 3 >= crashes, "too few were killed in the middle: {hits}");
    let report = reindex(&home);
    assert_eq!(report["unembedded"], 0, "{report}");
    assert_eq!(search(&home, "otter pond 77").0, before);
    assert_eq!(search(&home, &format!("heron waits {}", reed(3))).0[0], format!("The heron waits at {}", reed(3)));
    let conn = rusqlite::Connection::open(home.database()).expect("open");
    let left: i64 = conn
        .query_row(
            "SELECT count(*) FROM sqlite_schema WHERE name LIKE '%\\_old' ESCAPE '\\' OR name LIKE '%\\_next' ESCAPE '\\'",
            [],
            |row| row.get(0),
        )
        .expect("count");
    assert_eq!(left, 0);
    let (rows, memories): (i64, i64) = conn
        .query_row("SELECT (SELECT count(DISTINCT piece >> 8) FROM vectors), (SELECT count(*) FROM memories)", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .expect("count");
    assert_eq!(rows, memories);
}

#[test]
fn a_session_that_starts_mends_the_index_in_the_background() {
    let home = Home::new();
    let project = home.project("mended");
    import(&home, (0..5).map(|n| memory(n, &format!("The otter of pond {n} sleeps by day"))));
    of_another_version(&home);
    let session = tests::session::Session::new(&home, &project, &tests::transcript::session_id(1));
    drop(session.start("startup"));
    let until = Instant::now() + Duration::from_secs(30);
    while search(&home, "otter").0.len() < 5 {
        assert!(Instant::now() < until, "it was not made anew: {}", home.log());
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The stand-in's vectors mean nothing, but for one: a text has its own, so that the query which is the text finds it.
#[test]
fn a_server_gives_the_vectors_once_and_search_uses_them() {
    let home = Home::new();
    let server = FakeProvider::start([Act::Right]);
    import(&home, (0..10).map(|n| memory(n, &format!("The otter of pond {n} sleeps by day"))));
    configure(&home, &server, "openai", "");
    assert!(run(&home, &["doctor"]).stdout.contains("the configuration names another model"));
    let report = reindex(&home);
    let model = report["model"].as_str().expect("a model").to_owned();
    assert!(model.starts_with("openai/a-model@127.0.0.1") && model.ends_with(&format!(":{DIMS}")), "{report}");
    assert_eq!((&report["remade"], &report["unembedded"], &report["failure"]), (&json!(10), &json!(0), &Value::Null));
    let texts: Vec<String> = server
        .asked()
        .iter()
        .flat_map(|asked| asked.texts().iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
        .collect();
    assert_eq!(texts.len(), 11, "each once, and a trial: {texts:?}");
    // What comes later waits, and is asked for alone; what was asked for is not asked for again.
    import(&home, [memory(10, "The heron waits")]);
    let report = reindex(&home);
    assert_eq!((&report["remade"], &report["embedded"], &report["unembedded"]), (&Value::Null, &json!(1), &json!(0)));
    assert_eq!(server.asked().last().expect("a request").texts(), ["The heron waits"]);
    drop(reindex(&home));
    assert_eq!(home.json(["memory", "reindex", "--force", "--json"])["remade"], 11);
    let asked = server.asked();
    assert!(asked[asked.len() - 1].texts() == ["throughline"], "{:?}", asked.last());
    // The vector leg alone: no word counts.
    let vectors = run(&home, &["memory", "search", "--json", "--profile", "vector", "--project", "shop", "The heron waits"]);
    let found: Vec<Value> = serde_json::from_str(&vectors.stdout).unwrap_or_else(|error| panic!("{error}: {vectors:#?}"));
    assert_eq!(found[0]["content"], "The heron waits", "{found:#?}");
    assert_eq!(vectors.stderr, "");
    // Other dimensions: another model, which everything is made anew for.
    configure(&home, &server, "openai", "dimensions = 5\n");
    let report = reindex(&home);
    assert!(report["model"].as_str().is_some_and(|model| model.ends_with(":5")), "{report}");
    assert_eq!((&report["remade"], &report["unembedded"]), (&json!(11), &json!(0)));
    // Without vectors; nobody is asked.
    configure(&home, &server, "none", "");
    let count = server.asked().len();
    assert_eq!(reindex(&home)["model"], "none");
    assert_eq!(search(&home, "heron").0, ["The heron waits"]);
    assert_eq!(server.asked().len(), count);
}

#[test]
fn a_server_that_is_down_costs_vectors_and_nothing_else() {
    let home = Home::new();
    let bad = || Act::Says(400, String::new(), "{\"error\":{\"message\":\"no\"}}".into());
    // A trial and ten memories in four requests; then one who fails for ever.
    let server = FakeProvider::start([vec![Act::Right; 5], vec![bad()]].concat());
    import(&home, (0..10).map(|n| memory(n, &format!("The otter of pond {n} sleeps by day"))));
    configure(&home, &server, "openai", "");
    assert_eq!(reindex(&home)["unembedded"], 0);
    let (found, warning) = search(&home, "otter 7");
    assert_eq!(found[0], "The otter of pond 7 sleeps by day");
    assert!(warning.contains("only words were searched for"), "{warning}");
    import(&home, [memory(10, "The heron waits")]);
    let failed = run(&home, &["memory", "reindex"]);
    assert_eq!(failed.code, Some(1), "{failed:#?}");
    assert!(failed.stdout.contains("1 memory is left without vectors"), "{failed:#?}");
    assert!(failed.stderr.contains("openai"), "{failed:#?}");
    assert_eq!(search(&home, "heron").0, ["The heron waits"]);
    assert!(run(&home, &["doctor"]).stdout.contains("1 of 11 memories have no vectors"));
    assert!(home.log().contains("try again later"), "{}", home.log());
    // With the automatic provider, it falls back, and keeps the vectors that were paid for.
    configure(&home, &server, "auto", "");
    let report: Value = serde_json::from_str(&run(&home, &["memory", "reindex", "--json"]).stdout).expect("a report");
    assert!(report["model"].as_str().is_some_and(|model| model.starts_with("openai/")), "{report}");
    assert_eq!(report["remade"], Value::Null);
    // Forgotten memories leave neither vectors nor answers behind.
    drop(run(&home, &["memory", "forget", "--yes", "--all-projects", "--match", "otter"]));
    let conn = rusqlite::Connection::open(home.database()).expect("open");
    let count = |table: &str| {
        conn.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, i64>(0)).expect("count")
    };
    assert_eq!((count("memories"), count("vectors"), count("vector_codes"), count("embedding_cache")), (1, 0, 0, 0));
}

#[test]
fn a_server_that_fails_in_the_middle_leaves_the_index_as_it_was() {
    let home = Home::new();
    let bad = Act::Says(400, String::new(), "{\"error\":{\"message\":\"no\"}}".into());
    // A trial, one of four requests, and a failure; then all goes well.
    let server = FakeProvider::start([Act::Right, Act::Right, bad, Act::Right]);
    import(&home, (0..10).map(|n| memory(n, &format!("The otter of pond {n} sleeps by day"))));
    configure(&home, &server, "openai", "");
    let failed = run(&home, &["memory", "reindex", "--json"]);
    assert_eq!(failed.code, Some(1), "{failed:#?}");
    let report: Value = serde_json::from_str(&failed.stdout).expect("a report");
    assert_eq!((&report["remade"], &report["unembedded"]), (&Value::Null, &json!(0)), "{report}");
    assert!(report["model"].as_str().is_some_and(|model| model.starts_with("local/")), "{report}");
    let (found, warning) = search(&home, "otter 7");
    assert_eq!((found[0].as_str(), warning.as_str()), ("The otter of pond 7 sleeps by day", ""));
    assert!(run(&home, &["doctor"]).stdout.contains("it is being rebuilt: 0 %"));
    let report = reindex(&home);
    assert_eq!((&report["remade"], &report["unembedded"]), (&json!(10), &json!(0)), "{report}");
    let count = |words: &str| {
        server
            .asked()
            .iter()
            .flat_map(|asked| asked.texts().iter().map(|text| text.contains(words)).collect::<Vec<_>>())
            .filter(|&is| is)
            .count()
    };
    assert_eq!((count("pond 0"), count("pond 3"), count("pond 9")), (1, 2, 1), "only what failed is asked for again");
}
