//! Marks that a person makes on memories (pinned, wrong, superseded, merged): what later sessions get, and undoing them.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tests::home::{Home, json_of, run_in as run};
use tests::process::{self, WATCHDOG};
use tests::session::Session;
use tests::transcript::session_id;

const WRONG: &str = "Use a table for the otter exporter, because it is simpler";

/// A project that knows two rules of a person and what a session learned.
fn home() -> (Home, PathBuf) {
    let home = Home::new();
    let project = home.project("shop");
    Session::new(&home, &project, &session_id(1))
        .exporter("Make the otter exporter write headers. Always use tabs in Python files.");
    (home, project)
}

fn save(home: &Home, project: &Path, text: &str) -> String {
    json_of(home, project, &["memory", "save", "--json", text])["id"].as_str().expect("an id").to_owned()
}

/// The page at the start of a session.
fn page(home: &Home, project: &Path, session: u64) -> String {
    let session = Session::new(home, project, &session_id(session));
    session.start("startup").context.unwrap_or_default()
}

fn found(home: &Home, project: &Path, words: &[&str]) -> Vec<Value> {
    json_of(home, project, &[&["search", "--json"], words].concat()).as_array().expect("a list").clone()
}

fn ids(found: &[Value]) -> Vec<&str> {
    found.iter().filter_map(|it| it["id"].as_str()).collect()
}

#[test]
fn a_pinned_memory_stands_first_on_every_page() {
    let (home, project) = home();
    let id = save(&home, &project, "The quokka queue is drained by hand on the first Monday");
    for n in 0..40 {
        save(&home, &project, &format!("Rule number {n} of the wombat depot holds in building {n}"));
    }
    let changed = json_of(&home, &project, &["memory", "pin", "--json", &id]);
    assert_eq!((&changed["pinned"], &changed["changed"]), (&json!(true), &json!(true)));
    assert_eq!(json_of(&home, &project, &["memory", "pin", "--json", &id])["changed"], json!(false));
    let told = page(&home, &project, 2);
    assert!(told.starts_with("The user pinned this"), "{told}");
    assert_eq!(told.matches("quokka queue").count(), 1, "{told}");
    let shown = json_of(&home, &project, &["memory", "show", "--json", &id]);
    assert!(shown["pinned_at"].is_string());
    assert_eq!(json_of(&home, &project, &["memory", "list", "--pinned", "--json"]).as_array().map(Vec::len), Some(1));

    // A correction by the user is told in its place.
    let corrected = run(&home, &project, &["memory", "save", "--supersedes", &id, "The quokka queue is drained by a timer"]);
    drop(corrected.success());
    let told = page(&home, &project, 3);
    let shown = json_of(&home, &project, &["memory", "show", "--json", &id]);
    assert_eq!(shown["told"][0]["session_id"], session_id(2));
    assert!(told.contains("drained by a timer") && !told.contains("by hand"), "{told}");

    // It moves to another home with its mark.
    let exported = run(&home, &project, &["export"]).success().stdout;
    let other = Home::new();
    drop(process::run(other.command(["import", "--json", "-"]), exported.into_bytes(), WATCHDOG).success());
    assert_eq!(json_of(&other, &project, &["memory", "list", "--pinned", "--json"]).as_array().map(Vec::len), Some(1));

    assert!(run(&home, &project, &["memory", "unpin", &id]).success().stdout.contains("no longer pinned"));
    assert!(!page(&home, &project, 4).contains("The user pinned this"));
}

#[test]
fn what_is_wrong_is_told_and_found_no_more_until_it_is_right() {
    let (home, project) = home();
    let id = save(&home, &project, WRONG);
    assert!(page(&home, &project, 2).contains(WRONG));
    let preview = json_of(&home, &project, &["memory", "wrong", "--dry-run", "--json", &id]);
    assert_eq!((&preview["dry_run"], &preview["marked"][0]["id"]), (&json!(true), &json!(id)));
    assert!(ids(&found(&home, &project, &["otter table"])).contains(&id.as_str()), "a preview changes nothing");

    let secret = format!("ghp_{}", "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW1xY3");
    let because = format!("a list is simpler; the token {secret} was in it");
    drop(run(&home, &project, &["memory", "wrong", &id, "--because", &because]).success());
    assert!(!page(&home, &project, 3).contains(WRONG));
    assert!(!ids(&found(&home, &project, &["otter table"])).contains(&id.as_str()));
    assert!(home.holding(&secret).is_empty());

    // It is shown as wrong where somebody asks for it.
    let marked = found(&home, &project, &["--wrong", "otter table"]);
    let marked = marked.iter().find(|it| it["id"] == id.as_str()).expect("it is found with --wrong");
    assert!(marked["wrong_because"].as_str().is_some_and(|why| why.contains("a list is simpler")), "{marked}");
    let printed = run(&home, &project, &["memory", "show", &id]).success().stdout;
    assert!(printed.contains("marked wrong on"), "{printed}");
    let printed = run(&home, &project, &["search", "--wrong", "otter table"]).success().stdout;
    assert!(printed.contains("marked wrong on"), "{printed}");

    // The exact text is not saved anew, and the mark moves to another home.
    let again = run(&home, &project, &["memory", "save", WRONG]).failure_with_hint();
    assert!(again.stderr.contains("marked wrong") && again.stderr.contains("memory right"), "{again:?}");
    let exported = run(&home, &project, &["export"]).success().stdout;
    let other = Home::new();
    drop(process::run(other.command(["import", "--json", "-"]), exported.into_bytes(), WATCHDOG).success());
    let moved = json_of(&other, &project, &["memory", "list", "--wrong", "--json"]);
    assert!(moved.as_array().expect("a list").iter().any(|it| it["wrong_at"].is_string()), "{moved}");

    drop(run(&home, &project, &["memory", "right", &id]).success());
    assert!(page(&home, &project, 4).contains(WRONG));
    let again = json_of(&home, &project, &["memory", "right", &id, "--json"]);
    assert_eq!((&again["wrong"], &again["changed"]), (&json!(false), &json!(false)));
    for expected in ["wrong: ", "wrong already: "] {
        let marked = run(&home, &project, &["memory", "wrong", &id]).success();
        assert!(marked.stdout.starts_with(expected), "{marked:?}");
    }
}

#[test]
fn what_was_learned_and_is_wrong_does_not_come_back_with_its_transcript() {
    let (home, project) = home();
    let all = home.memories_of(&project);
    let rule = all.iter().find(|it| it["type"] == "preference").expect("a rule was learned");
    let (id, text) = (rule["id"].as_str().expect("an id"), rule["title"].as_str().expect("a title"));
    assert!(page(&home, &project, 2).contains(text));
    drop(run(&home, &project, &["memory", "wrong", id]).success());
    // The transcript is read anew, from its beginning.
    let transcript = home.transcript_path(&project, &session_id(1));
    let copy = home.transcript_path(&project, &session_id(7));
    let lines = std::fs::read_to_string(&transcript).expect("read").replace(&session_id(1), &session_id(7));
    std::fs::write(&copy, lines).expect("write");
    drop(home.run(["ingest"]).success());
    assert!(!page(&home, &project, 3).contains(text), "neither as a memory nor in the notes of its session");
    let compacted = Session::new(&home, &project, &session_id(1)).start("compact").context.unwrap_or_default();
    assert!(!compacted.contains(text), "{compacted}");
    assert!(!ids(&found(&home, &project, &["type:preference", "tabs"])).contains(&id));
    drop(run(&home, &project, &["memory", "right", id]).success());
    assert!(page(&home, &project, 4).contains(text));
}

#[test]
fn several_become_one_and_come_back() {
    let (home, project) = home();
    let texts = [
        "The quokka cache holds 40 rows",
        "The quokka cache is kept in memory only",
        "The quokka cache is read by two threads",
    ];
    let [one, two, three] = texts.map(|text| save(&home, &project, text));
    let preview = json_of(&home, &project, &["memory", "merge", "--dry-run", "--json", &one, &two]);
    assert_eq!(preview["content"], format!("{}\n\n{}", texts[0], texts[1]));
    assert!(preview["id"].is_null());
    let merged = json_of(
        &home,
        &project,
        &["memory", "merge", "--json", &one, &two, "--into", "The quokka cache holds 40 rows in memory"],
    );
    let id = merged["id"].as_str().expect("an id");
    let hits = found(&home, &project, &["quokka cache rows memory"]);
    let by = |wanted: &str| hits.iter().find(|it| it["id"] == wanted).map(|it| it["superseded_by"].clone());
    assert_eq!((by(&one), by(&two)), (Some(json!(id)), Some(json!(id))));
    let told = page(&home, &project, 2);
    assert!(told.contains("40 rows in memory") && !told.contains(texts[1]), "{told}");

    drop(run(&home, &project, &["memory", "supersede", &three, id, "--relation", "reverses"]).success());
    assert!(!page(&home, &project, 3).contains(texts[2]));
    let circle = run(&home, &project, &["memory", "supersede", id, &three]).failure_with_hint();
    assert!(circle.stderr.contains("took the place of"), "{circle:?}");
    let same = run(&home, &project, &["memory", "supersede", id, id]).failure_with_hint();
    assert!(same.stderr.contains("its own place"), "{same:?}");
    let alone = run(&home, &project, &["memory", "merge", &one, &one]).failure_with_hint();
    assert!(alone.stderr.contains("nothing to merge"), "{alone:?}");

    let undone = json_of(&home, &project, &["memory", "unlink", "--json", id]);
    assert_eq!(undone["unlinked"].as_array().map(Vec::len), Some(3), "{undone}");
    let told = page(&home, &project, 4);
    assert!(texts.iter().all(|text| told.contains(text)), "{told}");
}

#[test]
fn the_list_of_what_is_wrong_has_nothing_else() {
    let (home, project) = home();
    let id = save(&home, &project, WRONG);
    save(&home, &project, "The quokka queue is drained by hand");
    drop(run(&home, &project, &["memory", "wrong", &id]).success());
    let listed = json_of(&home, &project, &["memory", "list", "--wrong", "--json"]);
    assert_eq!(ids(listed.as_array().expect("a list")), [id.as_str()]);
    let all = json_of(&home, &project, &["memory", "list", "--json"]);
    assert!(!ids(all.as_array().expect("a list")).contains(&id.as_str()));
}

#[test]
fn merging_hides_no_text_that_is_not_named() {
    let (home, project) = home();
    let short = ["Lint with `quokka lint`", "Check types with `quokka types`"];
    let [lint, types] = short.map(|text| save(&home, &project, text));
    drop(run(&home, &project, &["memory", "merge", &lint, &types]).success());
    let told = page(&home, &project, 2);
    assert!(short.iter().all(|text| told.contains(text)), "{told}");

    let long = ["otters", "wombats"].map(|who| format!("The {who} {}", format!("carry {who} stones ").repeat(12)));
    let [one, two] = [save(&home, &project, &long[0]), save(&home, &project, &long[1])];
    let refused = run(&home, &project, &["memory", "merge", &one, &two]).failure_with_hint();
    assert!(refused.stderr.contains("--into"), "{refused:#?}");
    let preview = run(&home, &project, &["memory", "merge", "--dry-run", &one, &two]).success().stdout;
    assert!(preview.contains("would not be in the title") && preview.contains("wombats stones"), "{preview}");
    let into = ["memory", "merge", &one, &two, "--into", "Otters and wombats carry stones"];
    let merged = run(&home, &project, &into).success().stdout;
    assert_eq!(merged.matches("not in the title").count(), 2, "{merged}");
    assert!(page(&home, &project, 3).contains("Otters and wombats carry stones"));
}

#[test]
fn a_deleted_memory_comes_back_by_its_own_identifier() {
    let (home, project) = home();
    let id = save(&home, &project, WRONG);
    let other = save(&home, &project, "The quokka queue is drained by hand");
    drop(run(&home, &project, &["memory", "delete", &id]).success());
    drop(run(&home, &project, &["memory", "delete", &other]).success());
    let unknown = run(&home, &project, &["memory", "unforget", "ffff0000ffff0000"]).failure_with_hint();
    assert!(unknown.stderr.contains("no deleted memory"), "{unknown:#?}");
    drop(run(&home, &project, &["memory", "unforget", "ab"]).failure_with_hint());
    drop(run(&home, &project, &["memory", "unforget", &id[..8]]).success());
    let all = home.memories_of(&project);
    assert!(ids(&all).contains(&id.as_str()) && !ids(&all).contains(&other.as_str()), "{all:#?}");
}
