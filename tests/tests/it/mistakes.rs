//! What people do by mistake, with commands that delete or pause: a misspelt name hits nothing, and what was forgotten by
//! mistake comes back.

use std::path::Path;

use serde_json::{Value, json};
use tests::home::{Home, json_of, run_in as run};
use tests::mcp::Client;
use tests::process::Finished;
use tests::session::Session;
use tests::transcript::{moment, session_id};

/// A session in which the user states a standing rule.
fn tell(home: &Home, project: &Path, id: &str, animal: &str) {
    let mut session = Session::new(home, project, id);
    session
        .transcript
        .at(&moment(1))
        .user(&format!("From now on always use the {animal} linter for the ledger"))
        .bash_fails(&format!("run {animal}"), 1, &format!("error: {animal} fault in line 3"))
        .answer(&format!("The ledger uses the {animal} linter."));
    session.stop("done");
    session.end();
    assert!(home.remembers(animal));
}

/// Two projects with one session each.
fn lived_in() -> (Home, std::path::PathBuf, std::path::PathBuf) {
    let home = Home::new();
    let (billing, shop) = (home.project("billing"), home.project("shop"));
    tell(&home, &billing, &session_id(1), "aardvark");
    tell(&home, &shop, &session_id(2), "wombat");
    (home, billing, shop)
}

#[test]
fn somebody_misspells_a_project_and_nothing_is_forgotten_or_paused() {
    let (home, billing, _) = lived_in();
    let before = home.memories();
    let sub = billing.join("src");
    std::fs::create_dir(&sub).expect("create");
    for typed in ["/no/such/folder", "./biling", "biling", "src/biling"] {
        for command in [
            &["memory", "forget", "--yes", "--project", typed][..],
            &["memory", "forget", "--yes", "--now", "--project", typed],
            &["memory", "forget", "--yes", "--match", "linter", "--project", typed],
            &["memory", "gc", "--project", typed],
            &["memory", "stats", "--project", typed],
            &["memory", "list", "--project", typed],
            &["memory", "save", "A text", "--project", typed],
            &["pause", "--project", typed],
            &["context", "--source", "startup", "--project", typed],
        ] {
            let run = run(&home, &sub, command).failure_with_hint();
            let names_them = run.stderr.contains("billing") && run.stderr.contains("shop");
            assert!(names_them, "{command:?} does not name the known projects: {run:#?}");
        }
    }
    assert_eq!(home.memories(), before);
    assert!(!home.data().join("privacy.json").exists());
}

#[test]
fn somebody_names_a_project_by_its_folder_and_is_told_which_it_is() {
    let (home, billing, shop) = lived_in();
    let shown = run(&home, &billing, &["memory", "forget", "--project", "shop"]).success();
    assert!(shown.stdout.starts_with(&format!("in shop ({})", "~/work/shop")), "{shown:#?}");
    assert!(shown.stdout.contains("wombat linter") && shown.stdout.contains("would forget"), "{shown:#?}");
    assert!(shown.stderr.contains("nothing was deleted; use --yes"), "{shown:#?}");
    let paused = run(&home, &billing, &["pause", "--project", "shop"]).success();
    assert!(paused.stdout.starts_with("shop (~/work/shop) is paused"), "{paused:#?}");
    drop(run(&home, &billing, &["resume", "--project", "shop"]).success());
    // A project whose folder is gone.
    std::fs::remove_dir_all(&shop).expect("remove");
    for typed in ["shop", shop.to_str().expect("UTF-8")] {
        assert!(run(&home, &billing, &["memory", "list", "--project", typed]).success().stdout.contains("wombat"));
    }
    // A folder of this project that is called like another project.
    std::fs::create_dir(billing.join("shop")).expect("create");
    let unclear = run(&home, &billing, &["memory", "forget", "--yes", "--project", "shop"]).failure_with_hint();
    assert!(unclear.stderr.contains("use ./shop for the folder"), "{unclear:#?}");
    let shown = run(&home, &billing, &["memory", "forget", "--project", "./shop"]).success();
    assert!(shown.stdout.starts_with("in billing (~/work/billing)"), "{shown:#?}");
    // Two projects of one name.
    let twin = home.project("other/billing");
    tell(&home, &twin, &session_id(3), "narwhal");
    let unclear = run(&home, home.path(), &["memory", "list", "--project", "billing"]).failure_with_hint();
    assert!(unclear.stderr.contains("more than one project is called billing"), "{unclear:#?}");
    let listed = run(&home, home.path(), &["memory", "list", "--project", "other/billing"]).success();
    assert!(listed.stdout.contains("narwhal") && !listed.stdout.contains("aardvark"), "{listed:#?}");
}

#[test]
fn somebody_forgets_by_mistake_and_brings_it_back() {
    let (home, billing, _) = lived_in();
    let (before, events) = (home.memories(), home.count("events"));
    let forgotten = json_of(&home, &billing, &["memory", "forget", "--project", ".", "--yes", "--json"]);
    assert!(forgotten["memories"].as_u64() > Some(0) && forgotten["kept_until"].is_string(), "{forgotten}");
    assert!(home.memories_of(&billing).is_empty());
    // One private file has it, and nothing else reads that file.
    let files = home.holding("aardvark");
    assert!(files.len() == 1 && files[0].starts_with(home.data().join("forgotten")), "{files:?}");
    let mode = |path: &Path| {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777
    };
    assert_eq!((mode(&files[0]), mode(files[0].parent().expect("a folder"))), (0o600, 0o700));
    let found = run(&home, &billing, &["search", "aardvark", "--all-projects", "--json"]).success();
    assert!(!found.stdout.contains("aardvark"), "{found:#?}");
    let again = home.run(["ingest"]).success();
    assert!(again.stderr.contains("were skipped") && again.stderr.contains("`throughline memory unforget`"), "{again:#?}");
    assert!(!home.remembers("aardvark"), "reading again does not bring it back");
    // Memories that were learned in the meantime stay.
    tell(&home, &billing, &session_id(5), "okapi");

    let listed = run(&home, &billing, &["memory", "unforget"]).success();
    let id = forgotten["undo"].as_str().expect("an identifier");
    assert!(listed.stdout.contains(id) && listed.stdout.contains("aardvark"), "{listed:#?}");
    drop(run(&home, &billing, &["memory", "unforget", "123"]).failure_with_hint());
    let back = json_of(&home, &billing, &["memory", "unforget", id, "--json"]);
    assert_eq!(back["memories"], forgotten["memories"], "{back}");
    let after = home.memories();
    for memory in &before {
        assert!(after.contains(memory), "{memory:?} did not come back: {after:#?}");
    }
    assert!(home.remembers("okapi") && home.count("events") > events);
    let found = json_of(&home, &billing, &["search", "aardvark", "--json"]);
    assert!(!found.as_array().expect("an array").is_empty(), "it is in the index again");
    assert!(Session::new(&home, &billing, &session_id(6)).start("startup").said().contains("aardvark"));
    tests::database::assert_sound(&home.database());
    drop(run(&home, &billing, &["memory", "unforget", "--last"]).failure_with_hint());
}

#[test]
fn somebody_deletes_the_wrong_memory_and_brings_it_back() {
    let (home, billing, _) = lived_in();
    let all = home.memories_of(&billing);
    let id = all[0]["id"].as_str().expect("an id");
    let shown = run(&home, &billing, &["memory", "delete", "--dry-run", &id[..6]]).success();
    assert!(
        shown.stdout.contains("in billing (~/work/billing):") && shown.stdout.contains("would delete 1 memory"),
        "{shown:#?}"
    );
    assert_eq!(home.memories_of(&billing).len(), all.len());
    let gone = run(&home, &billing, &["memory", "delete", id]).success();
    assert!(gone.stderr.contains("`throughline memory unforget "), "{gone:#?}");
    assert_eq!(home.memories_of(&billing).len(), all.len() - 1);
    drop(run(&home, &billing, &["memory", "unforget", "--last"]).success());
    assert_eq!(home.memories_of(&billing), all);
}

#[test]
fn the_beginning_of_an_identifier_deletes_no_memory_of_another_project() {
    let (home, billing, shop) = lived_in();
    let id = home.memories_of(&shop)[0]["id"].as_str().expect("an id").to_owned();
    drop(run(&home, &shop, &["memory", "pin", &id]).success());
    let all = home.memories().len();
    let refused = run(&home, &billing, &["memory", "delete", &id[..8]]).failure_with_hint();
    assert!(refused.stderr.contains("another project, shop") && refused.stderr.contains("`--project shop`"), "{refused:#?}");
    assert_eq!(home.memories().len(), all);
    for scope in [&["--project", "shop"][..], &["--all-projects"]] {
        let shown = run(&home, &billing, &[&["memory", "delete", "--dry-run", &id[..8]], scope].concat()).success();
        assert!(shown.stdout.contains("would delete 1 memory") && shown.stdout.contains("(pinned)"), "{shown:#?}");
    }
    drop(run(&home, &billing, &["memory", "delete", &id]).success());
    assert_eq!(home.memories().len(), all - 1);
}

#[test]
fn one_deletion_is_erased_and_the_others_can_still_be_brought_back() {
    let (home, billing, shop) = lived_in();
    drop(run(&home, &billing, &["memory", "forget", "--match", "aardvark", "--yes"]).success());
    let gone = run(&home, &shop, &["memory", "forget", "--match", "wombat", "--yes"]).success();
    let said = gone.stderr.split('`').find(|text| text.contains("forget --now")).expect("a command").to_owned();
    let words: Vec<&str> = said.split(' ').skip(1).collect();
    assert!(words.len() == 5 && words.last() == Some(&"--yes"), "{said}");
    drop(run(&home, &shop, &["memory", "forget", "--now", "12345", "--yes"]).failure_with_hint());
    drop(run(&home, &shop, &words[..4]).success());
    assert_eq!(home.holding("wombat").len(), 1, "it was only shown");
    let erased = run(&home, &shop, &words).success();
    assert!(erased.stdout.contains("erased 1 deletion"), "{erased:#?}");
    assert!(home.holding("wombat").is_empty() && home.holding("aardvark").len() == 1);
    let listed = run(&home, &shop, &["memory", "unforget"]).success();
    assert!(listed.stderr.contains("`throughline memory unforget "), "{listed:#?}");
    drop(run(&home, &billing, &["memory", "unforget", "--last"]).success());
    assert!(home.remembers("aardvark"));
}

#[test]
fn what_would_be_forgotten_is_listed_by_title_and_with_the_place_that_matched() {
    let home = Home::new();
    let billing = home.project("billing");
    drop(
        run(
            &home,
            &billing,
            &["memory", "save", "--title", "Implement the plan", "First the parser, then cloudMode is set"],
        )
        .success(),
    );
    let mut session = Session::new(&home, &billing, &session_id(1));
    session.transcript.user("Set up the CloudMode of the ledger").answer("The ledger has it now.");
    session.stop("The ledger has it now.");
    session.end();
    let shown = run(&home, &billing, &["memory", "forget", "--match", "cloud"]).success();
    assert!(shown.stdout.contains("the parser, then cloudMode is set"), "{shown:#?}");
    assert!(shown.stdout.contains("of another session's notes  Set up the CloudMode"), "{shown:#?}");
    let shown = run(&home, &billing, &["memory", "forget", "--session", &session_id(1)]).success();
    assert!(shown.stdout.contains("session  Set up the CloudMode of the ledger"), "{shown:#?}");
}

#[test]
fn what_is_forgotten_now_or_a_day_ago_is_in_no_file() {
    let (home, billing, shop) = lived_in();
    drop(run(&home, &billing, &["memory", "forget", "--match", "aardvark", "--yes"]).success());
    assert_eq!(home.holding("aardvark").len(), 1);
    // As if it had been a day ago: the next session's start deletes the file in the background.
    let file = home.holding("aardvark").pop().expect("the file");
    let at: u64 = file.file_stem().and_then(|stem| stem.to_str()).expect("a name").parse().expect("a time");
    std::fs::rename(&file, file.with_file_name(format!("{}.kept", at - 25 * 60 * 60 * 1000))).expect("rename");
    drop(Session::new(&home, &billing, &session_id(7)).start("startup"));
    home.eventually("the file is deleted", |home| home.holding("aardvark").is_empty());

    // Forgotten for a day, and then erased after all.
    drop(run(&home, &shop, &["memory", "forget", "--match", "wombat", "--yes"]).success());
    assert_eq!(home.holding("wombat").len(), 1);
    let shown = run(&home, &shop, &["memory", "forget", "--now"]).success();
    assert!(shown.stdout.contains("would erase 1 deletion") && home.holding("wombat").len() == 1, "{shown:#?}");
    drop(run(&home, &shop, &["memory", "forget", "--now", "--yes"]).success());
    assert_eq!(home.holding("wombat"), Vec::<std::path::PathBuf>::new());
}

#[test]
fn somebody_forgets_words_and_only_this_project_forgets_them() {
    let (home, billing, shop) = lived_in();
    let shown = json_of(&home, &billing, &["memory", "forget", "--match", "linter", "--json"]);
    let titles = shown["listed"].to_string();
    assert!(titles.contains("aardvark") && !titles.contains("wombat"), "{shown}");
    assert_eq!((&shown["project"], &shown["dry_run"]), (&json!(billing), &json!(true)));
    let gone = json_of(&home, &billing, &["memory", "forget", "--match", "linter", "--yes", "--json"]);
    assert_eq!(gone["listed"], shown["listed"], "what is shown is what is deleted");
    assert!(!home.remembers("aardvark") && home.remembers("wombat"));
    let nothing = run(&home, &billing, &["memory", "forget", "--match", "linter", "--yes"]).success();
    assert!(
        nothing.stdout.contains("nothing was found in billing") && nothing.stderr.contains("--all-projects"),
        "{nothing:#?}"
    );
    let everywhere = run(&home, &billing, &["memory", "forget", "--match", "linter", "--all-projects", "--yes"]).success();
    assert!(everywhere.stdout.starts_with("in all projects:") && everywhere.stdout.contains("wombat"), "{everywhere:#?}");
    assert!(!home.remembers("wombat"));
    assert!(home.memories_of(&shop).is_empty());
}

#[test]
fn the_plugins_forget_deletes_what_it_shows() {
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugin/commands/forget.md")).expect("read");
    // What may run unasked cannot delete: the options exclude each other.
    assert!(text.contains("Bash(throughline memory forget --dry-run --match:*)"), "{text}");
    let (home, billing, _) = lived_in();
    let commands: Vec<Vec<String>> = text
        .split('`')
        .filter(|piece| piece.starts_with("throughline memory forget"))
        .map(|piece| piece.replace("'WORDS'", "linter").split_whitespace().skip(1).map(str::to_owned).collect())
        .collect();
    let [show, delete] = commands.as_slice() else { panic!("one command shows and one deletes: {commands:?}") };
    let run_one = |words: &[String], more: &str| {
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        words.push(more);
        run(&home, &billing, &words)
    };
    let both = run_one(show, "--yes");
    assert_eq!(both.code, Some(2), "{both:#?}");
    let listed = |run: Finished| serde_json::from_str::<Value>(&run.success().stdout).expect("JSON")["listed"].clone();
    let shown = listed(run_one(show, "--json"));
    assert!(!shown.as_array().expect("an array").is_empty());
    assert_eq!(listed(run_one(delete, "--json")), shown);
}

#[test]
fn somebody_types_a_session_as_the_list_prints_it() {
    let home = Home::new();
    let project = home.project("billing");
    // Three sessions of one minute.
    let ids = [
        "01a2095f-0001-7000-8000-0000000000a1",
        "01a2095f-0002-7000-8000-0000000000b2",
        "01a2095f-0002-7000-8000-0000000000c3",
    ];
    for (id, animal) in ids.iter().zip(["aardvark", "wombat", "narwhal"]) {
        tell(&home, &project, id, animal);
    }
    let list = run(&home, &project, &["session", "list"]).success();
    let printed: Vec<&str> =
        list.stdout.lines().filter_map(|line| line.split("  ").next()).filter(|id| !id.is_empty()).collect();
    assert_eq!(printed.len(), 3, "{list:#?}");
    for id in &printed {
        assert_eq!(ids.iter().filter(|full| full.starts_with(id)).count(), 1, "{id} does not name one session: {list:#?}");
        drop(run(&home, &project, &["session", "show", id]).success());
        drop(run(&home, &project, &["session", "context", "--session", id]).success());
    }
    // The beginning that all share.
    for command in [&["memory", "forget", "--yes", "--session", "01a2095f"][..], &["pause", "--session", "01a2095f"]] {
        let run = run(&home, &project, command).failure_with_hint();
        assert!(run.stderr.contains("more than one session begins with 01a2095f"), "{run:#?}");
    }
    // One that nothing has.
    for command in [
        &["memory", "forget", "--yes", "--session", "f7594e2b"][..],
        &["memory", "list", "--session", "f7594e2b"],
        &["search", "linter", "--session", "f7594e2b"],
        &["timeline", "--session", "f7594e2b"],
        &["files", "--session", "f7594e2b"],
        &["failures", "--session", "f7594e2b"],
        &["observations", "search", "--session", "f7594e2b"],
        &["session", "show", "f7594e2b"],
        &["session", "context", "--session", "f7594e2b"],
        &["context", "--source", "compact", "--session", "f7594e2b"],
        &["memory", "save", "A text", "--session", "f7594e2b"],
        &["pause", "--session", "f7594e2b"],
    ] {
        let run = run(&home, &project, command).failure_with_hint();
        assert!(run.code == Some(1) && run.stderr.contains("f7594e2b"), "{command:?}: {run:#?}");
    }
    let wombat = printed.iter().find(|id| ids[1].starts_with(**id)).expect("it was printed");
    drop(run(&home, &project, &["memory", "forget", "--yes", "--session", wombat]).success());
    assert!(home.remembers("aardvark") && !home.remembers("wombat") && home.remembers("narwhal"));
    let mut client = Client::start(&home, &project);
    let narwhal = printed.iter().find(|id| ids[2].starts_with(**id)).expect("it was printed");
    assert_eq!(client.call("memory_forget", json!({"session": narwhal, "confirm": true}))["done"], true);
    assert!(home.remembers("aardvark") && !home.remembers("narwhal"));
    client.refused("memory_forget", json!({"session": "f7594e2b", "confirm": true}));
}

#[test]
fn somebody_misspells_a_type_and_is_told_the_known_ones() {
    let (home, billing, _) = lived_in();
    let before = home.memories();
    for command in [
        &["memory", "save", "A text", "--type", "desicion"][..],
        &["memory", "list", "--type", "desicion"],
        &["search", "linter", "--type", "desicion"],
        &["note", "add", "--type", "desicion", "--title", "A title", "--tags", "a,b", "A text"],
    ] {
        let run = run(&home, &billing, command).failure_with_hint();
        assert!(
            run.code == Some(1) && run.stderr.contains("desicion") && run.stderr.contains("decision"),
            "{command:?}: {run:#?}"
        );
    }
    let mut client = Client::start(&home, &billing);
    for (tool, arguments) in [
        ("memory_save", json!({"content": "A text", "type": "desicion"})),
        ("memory_search", json!({"query": "linter type:desicion"})),
    ] {
        let told = client.refused(tool, arguments);
        assert!(told.contains("desicion") && told.contains("decision"), "{tool}: {told}");
    }
    assert_eq!(home.memories(), before);
}

#[test]
fn somebody_reads_a_transcript_that_is_not_there() {
    let home = Home::new();
    let run = home.run(["ingest", "/nope"]).failure_with_hint();
    assert!(run.code == Some(1) && run.stdout.is_empty() && run.stderr.contains("/nope"), "{run:#?}");
}

#[test]
fn somebody_adds_a_note_that_many_resemble() {
    let home = Home::new();
    let project = home.project("billing");
    for number in 0..8 {
        let title = format!("The pool of the ledger is exhausted {number}");
        let more = ["--tags", "pool,ledger", "The pool of the ledger is exhausted at noon"];
        let text = format!("{} {number}", more[2]);
        drop(run(&home, &project, &["note", "add", "--title", &title, more[0], more[1], &text]).success());
    }
    let added = run(
        &home,
        &project,
        &[
            "note",
            "add",
            "--title",
            "The pool of the ledger is exhausted again",
            "--tags",
            "pool,ledger",
            "It is exhausted again",
        ],
    )
    .success();
    let warned = added.stderr.lines().filter(|line| line.starts_with("[WARN:SIMILAR]")).count();
    assert!((1..=4).contains(&warned), "{added:#?}");
}
