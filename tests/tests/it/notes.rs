//! The memory protocol: typed notes, their relations, and the folder of Markdown that they are synced with.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tests::database;
use tests::home::{Home, json_of, run_in as run};
use tests::process::{self, WATCHDOG};
use tests::session::Session;
use tests::transcript::session_id;

fn store(home: &Home, project: &Path, more: &[&str]) -> Value {
    json_of(home, project, &[&["note", "add", "--json"], more].concat())
}

fn sync(home: &Home, project: &Path) -> Value {
    let run = run(home, project, &["note", "sync", "--json"]);
    serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"))
}

/// The files of a folder of notes, without the schemas.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        let path = entry.path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn notes(project: &Path) -> PathBuf {
    project.join(".gsd/memories")
}

/// What people see of every note, in an order that the database does not choose.
fn all(home: &Home, project: &Path) -> Vec<Value> {
    let mut all = home.memories_of(project);
    for memory in &mut all {
        for field in ["project", "score", "seen"] {
            memory.as_object_mut().expect("an object").remove(field);
        }
    }
    all.sort_by_key(|memory| memory["id"].to_string());
    all
}

#[test]
fn a_note_is_stored_once_and_recalled() {
    let home = Home::new();
    let project = home.project("shop");
    let stored = store(
        &home,
        &project,
        &[
            "--title",
            "인증 토큰 만료",
            "--type",
            "root-cause",
            "--tags",
            "auth",
            "--keywords",
            "jwt,clock",
            "시계가 5분 늦어서 토큰이 거절되었다. 시간을 맞추었다.",
        ],
    );
    assert_eq!(stored["stored"], true);
    let path = stored["path"].as_str().expect("a path");
    assert!(path.starts_with(".gsd/memories/root-cause/2") && path.ends_with("_인증-토큰-만료.md"), "{path}");

    // The same title on the same day, and the same content under another title and type.
    for again in [
        ["--title", "인증 토큰 만료", "--type", "root-cause", "다른 내용"],
        ["--title", "Another title", "--type", "general", "시계가 5분 늦어서 토큰이 거절되었다. 시간을 맞추었다."],
    ] {
        let run = run(&home, &project, &[&["note", "add"][..], &again].concat()).success();
        // No sync has written the file, so no path is printed as if there were one.
        let stem = Path::new(path).file_stem().and_then(|stem| stem.to_str()).expect("a name");
        assert_eq!(run.stdout, format!("[SKIP:DUPLICATE] {} {stem}\n", stored["id"].as_str().expect("an id")));
    }
    // Another Korean title is another note.
    assert_eq!(
        store(&home, &project, &["--title", "결제 오류", "--type", "root-cause", "금액이 비어 있었다"])["stored"],
        true
    );

    let close = run(
        &home,
        &project,
        &[
            "memory",
            "store",
            "--title",
            "인증 토큰 만료됨",
            "--type",
            "root-cause",
            "--keywords",
            "jwt,clock",
            "시계가 느려서 토큰이 거절되었다",
        ],
    )
    .success();
    assert!(close.stderr.contains("[WARN:SIMILAR]") && close.stderr.trim_end().ends_with("_인증-토큰-만료"), "{close:?}");

    let recalled =
        run(&home, &project, &["note", "recall", "토큰", "만료", "--limit", "1", "--type", "root-cause"]).success();
    let lines: Vec<&str> = recalled.stdout.lines().collect();
    assert!(lines[0].starts_with("- **인증 토큰 만료") && lines[0].contains("[root-cause] 2"), "{lines:?}");
    let found = json_of(&home, &project, &["memory", "search", "--json", "jwt", "type:root-cause"]);
    assert_eq!(found[0]["type"], "error_fix", "a note is of the kind that policies know: {found:#}");
    database::assert_sound(&home.database());
}

#[test]
fn a_note_by_hand_is_in_the_next_sessions_context_and_a_hop_away() {
    let home = Home::new();
    let project = home.project("shop");
    let cause = store(
        &home,
        &project,
        &[
            "--title",
            "The pool is exhausted under load",
            "--type",
            "root-cause",
            "Ten connections were not enough; raised to forty.",
        ],
    );
    let name =
        Path::new(cause["path"].as_str().expect("a path")).file_stem().expect("a name").to_string_lossy().into_owned();
    store(
        &home,
        &project,
        &[
            "--title",
            "Connections are counted, never guessed",
            "--type",
            "pattern-discovery",
            "--related",
            &format!("{name},nowhere"),
            "Every limit is derived from a measurement with otters.",
        ],
    );
    let context = Session::new(&home, &project, &session_id(1)).start("startup");
    assert!(context.said().contains("Ten connections were not enough"), "{}", context.said());

    let recalled = run(&home, &project, &["note", "recall", "otters", "--limit", "1"]).success();
    assert!(
        recalled.stdout.contains("**Connections are counted, never guessed** [pattern-discovery]"),
        "{}",
        recalled.stdout
    );
    assert!(recalled.stdout.contains("**The pool is exhausted under load** [root-cause]"), "{}", recalled.stdout);
    assert!(recalled.stdout.contains("[→related]"), "{}", recalled.stdout);
    let alone = run(&home, &project, &["note", "recall", "otters", "--limit", "1", "--hop", "1"]).success();
    assert!(!alone.stdout.contains("[→related]"));

    let graph = json_of(&home, &project, &["note", "graph", &name, "--format", "json"]);
    assert_eq!(graph["nodes"].as_array().map(Vec::len), Some(2), "{graph:#}");
    assert_eq!(graph["edges"][0]["relation"], "related");
    assert_eq!(graph["dangling"][0]["target"], "nowhere");
    let dot = run(&home, &project, &["note", "graph", "--format", "dot"]).success();
    assert!(dot.stdout.starts_with("digraph") && dot.stdout.contains(" -> "), "{}", dot.stdout);
    let checked = run(&home, &project, &["note", "check"]).success();
    assert!(checked.stdout.contains("nowhere leads nowhere"), "{}", checked.stdout);
}

#[test]
fn a_chain_is_searched_in_its_order() {
    let home = Home::new();
    let project = home.project("shop");
    for (note_type, title) in [
        ("pattern-discovery", "Otters come back"),
        ("root-cause", "Why otters came"),
        ("debug-eliminated", "Otters were not bribed"),
        ("bootstrap", "Otters were there first"),
    ] {
        store(&home, &project, &["--title", title, "--type", note_type, &format!("{title}: all about otters")]);
    }
    let chain = json_of(&home, &project, &["note", "recall", "otters", "--chain", "debugging", "--json", "--hop", "1"]);
    let types: Vec<&str> = chain.as_array().expect("an array").iter().filter_map(|it| it["type"].as_str()).collect();
    assert_eq!(types, ["debug-eliminated", "root-cause", "pattern-discovery"]);
    let _ = run(&home, &project, &["note", "recall", "x", "--chain", "none"]).failure_with_hint();
    let _ = run(&home, &project, &["note", "add", "--title", "x", "--type", "none", "y"]).failure_with_hint();
}

/// Every line of the protocol's table of commands, as it is written there.
#[test]
fn the_scripts_of_the_protocol_work_as_they_did() {
    let mut home = Home::new();
    let project = home.project("shop");
    let bin = process::throughline();
    let path = format!("{}:{}", bin.parent().expect("a folder").display(), std::env::var("PATH").unwrap_or_default());
    home.set("PATH", &path);
    let _ = run(&home, &project, &["note", "protocol", "--scripts"]).success();
    let script = |name: &str, arguments: &[&str]| {
        let mut command = home.isolated("sh");
        command.current_dir(&project).arg(format!(".claude/hooks/{name}")).args(arguments);
        process::run(command, Vec::new(), WATCHDOG)
    };
    let stored =
        script("md-store-memory.sh", &["Auth token expired", "The clock was late.", "debug,root-cause", "root-cause"])
            .success();
    let path = stored.stdout.trim();
    let text = fs::read_to_string(project.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    assert!(
        text.starts_with(
            "---\ntitle: \"Auth token expired\"\ntags:\n  - debug\n  - root-cause\ntype: root-cause\ncreated: 2"
        ),
        "{text}"
    );
    assert!(text.contains("\ncontextual_description: \"The clock was late.\"\n"), "{text}");
    assert!(text.ends_with("\n## Auth token expired\n\nThe clock was late.\n"), "{text}");

    let again =
        script("md-store-memory.sh", &["Auth token expired", "Other words.", "debug,root-cause", "root-cause"]).success();
    assert_eq!(again.stdout, format!("[SKIP:DUPLICATE] {path}\n"));

    let name = Path::new(path).file_stem().expect("a name").to_string_lossy().into_owned();
    let full = [
        "JWT validation fixed",
        "Leeway of five minutes.",
        "security,jwt",
        "pattern-discovery",
        "leeway,skew",
        "Clocks may differ",
        &name,
    ];
    let _ = script("md-store-memory.sh", &full).success();
    let found = script("md-recall-memory.sh", &["leeway", ".", "1"]).success();
    assert!(found.stdout.starts_with("- **JWT validation fixed** [pattern-discovery] 2"), "{}", found.stdout);
    assert!(found.stdout.contains("\n  Clocks may differ\n"), "{}", found.stdout);
    assert!(
        found.stdout.contains("- **Auth token expired** [root-cause]") && found.stdout.contains(" [→related]\n"),
        "{}",
        found.stdout
    );
    let full = script("md-recall-memory.sh", &["leeway", ".", "1", "full", "1"]).success();
    assert!(full.stdout.starts_with("### JWT validation fixed [pattern-discovery]\n📁 `"), "{}", full.stdout);
    assert!(full.stdout.contains("\nLeeway of five minutes.\n") && !full.stdout.contains("Auth token"), "{}", full.stdout);
    // Content that looks like an option, or like nothing else.
    let odd = script("md-store-memory.sh", &["--json", "--not an option", "a,b"]).success();
    assert!(fs::read_to_string(project.join(odd.stdout.trim())).expect("the file").contains("--not an option"));
    script("md-store-memory.sh", &["Only a title"]);
    assert_ne!(script("md-recall-memory.sh", &[]).code, Some(0));
}

#[test]
fn notes_and_files_follow_each_other() {
    let home = Home::new();
    let project = home.project("shop");
    let one = store(&home, &project, &["--title", "One", "--type", "root-cause", "--tags", "db", "First words."]);
    store(&home, &project, &["--title", "Two", "Second words."]);
    let report = sync(&home, &project);
    assert_eq!((&report["written"], &report["stored"]), (&json!(2), &json!(0)), "{report}");
    let file = project.join(one["path"].as_str().expect("a path"));
    let text = fs::read_to_string(&file).expect("the file");

    let report = sync(&home, &project);
    assert_eq!((&report["unchanged"], &report["written"]), (&json!(2), &json!(0)), "{report}");

    // Edited, with a field of its author's own and the ends of lines of another system.
    fs::write(
        &file,
        text.replace("First words.", "Better words.").replace("type:", "cause: otters\ntype:").replace('\n', "\r\n"),
    )
    .expect("write");
    let report = sync(&home, &project);
    assert_eq!((&report["edited"], &report["stored"], &report["deleted"]), (&json!(1), &json!(0), &json!(0)), "{report}");
    let found = json_of(&home, &project, &["memory", "search", "--json", "Better"]);
    assert_eq!((&found[0]["id"], &found[0]["content"]), (&one["id"], &json!("Better words.")), "{found:#}");

    // Renamed, and moved.
    let moved = notes(&project).join("kept/renamed.md");
    fs::create_dir_all(moved.parent().expect("a folder")).expect("create");
    fs::rename(&file, &moved).expect("rename");
    let report = sync(&home, &project);
    assert_eq!((&report["renamed"], &report["stored"], &report["deleted"]), (&json!(1), &json!(0), &json!(0)), "{report}");
    assert!(moved.exists() && !file.exists());

    // New, without front matter.
    fs::write(notes(&project).join("root-cause/2026-02-23_by-hand.md"), "# By hand\n\nA person wrote this.\n")
        .expect("write");
    let report = sync(&home, &project);
    assert_eq!(report["stored"], 1, "{report}");
    let found = json_of(&home, &project, &["note", "recall", "--json", "person", "wrote", "--limit", "1"]);
    assert_eq!(
        (&found[0]["type"], &found[0]["created_at"]),
        (&json!("root-cause"), &json!("2026-02-23T00:00:00Z")),
        "{found:#}"
    );
    assert!(found[0]["path"].as_str().expect("a path").ends_with("root-cause/2026-02-23_by-hand.md"));

    // Deleted as a file, and as a note.
    fs::remove_file(notes(&project).join("root-cause/2026-02-23_by-hand.md")).expect("remove");
    let _ = run(&home, &project, &["memory", "delete", one["id"].as_str().expect("an id")]).success();
    let report = sync(&home, &project);
    assert_eq!((&report["deleted"], &report["removed"]), (&json!(1), &json!(1)), "{report}");
    assert_eq!(files(&notes(&project)).len(), 1);
    assert_eq!(home.memories_of(&project).len(), 1);
    // What was deleted as a file comes back as one.
    fs::create_dir_all(notes(&project).join("root-cause")).expect("create");
    fs::write(notes(&project).join("root-cause/2026-02-23_by-hand.md"), "# By hand\n\nA person wrote this.\n")
        .expect("write");
    assert_eq!(sync(&home, &project)["stored"], 1);
    database::assert_sound(&home.database());
}

#[test]
fn a_start_reads_no_note_of_a_folder_that_nobody_touched() {
    let home = Home::new();
    let project = home.project("shop");
    let one = store(&home, &project, &["--title", "One", "--type", "root-cause", "First words."]);
    sync(&home, &project);
    let file = project.join(one["path"].as_str().expect("a path"));
    // A time that is long past can be relied on.
    let past = std::time::SystemTime::now() - std::time::Duration::from_mins(1);
    fs::File::options().write(true).open(&file).expect("the file").set_modified(past).expect("set the time");
    sync(&home, &project);
    // No note is read without the types, so whoever reads one fails.
    let types = notes(&project).join("_schema/types.yaml");
    fs::create_dir_all(types.parent().expect("a folder")).expect("create");
    fs::write(&types, "types: [\n").expect("write");
    let complained = |number: u64| {
        Session::new(&home, &project, &session_id(number)).start("startup");
        home.log().matches("notes that were written as files could not be taken in").count()
    };
    assert_eq!(complained(1), 0, "{}", home.log());
    let text = fs::read_to_string(&file).expect("the file");
    fs::write(&file, text.replace("First words.", "Better words.")).expect("write");
    assert_eq!(complained(2), 1, "{}", home.log());
    let synced = run(&home, &project, &["note", "sync"]).failure_with_hint();
    assert!(synced.stderr.contains("the built-in types work without it"), "{synced:#?}");
    fs::remove_file(&types).expect("remove");
    assert_eq!(complained(3), 1, "{}", home.log());
    assert!(home.remembers("Better words."));
}

#[test]
fn where_both_sides_changed_nothing_is_lost() {
    let home = Home::new();
    let (project, other) = (home.project("shop"), home.path().join("other"));
    let one = store(&home, &project, &["--title", "One", "--type", "root-cause", "First words."]);
    sync(&home, &project);
    let file = project.join(one["path"].as_str().expect("a path"));
    let text = fs::read_to_string(&file).expect("the file");
    // The note is changed through another folder.
    let folder = other.to_str().expect("a path");
    let _ = run(&home, &project, &["note", "sync", folder]).success();
    let theirs = other.join(file.strip_prefix(notes(&project)).expect("below"));
    fs::write(&theirs, text.replace("First words.", "Words of the note.")).expect("write");
    let _ = run(&home, &project, &["note", "sync", folder]).success();
    fs::write(&file, text.replace("First words.", "Words of the file.")).expect("write");

    for _ in 0..2 {
        let clash = run(&home, &project, &["note", "sync"]);
        assert_eq!(clash.code, Some(1), "{clash:?}");
        assert!(clash.stderr.contains("conflict:") && clash.stderr.contains(".conflict.md"), "{clash:?}");
        assert!(fs::read_to_string(&file).expect("the file").contains("Words of the file."));
        let beside = file.with_extension("conflict.md");
        assert!(fs::read_to_string(&beside).expect("the other side").contains("Words of the note."));
        assert!(home.remembers("Words of the note."));
    }
    // A person decides.
    fs::write(&file, text.replace("First words.", "Words of both.")).expect("write");
    fs::remove_file(file.with_extension("conflict.md")).expect("remove");
    let report = sync(&home, &project);
    assert_eq!((&report["edited"], report["conflicts"].as_array().map(Vec::len)), (&json!(1), Some(0)), "{report}");
    assert!(home.remembers("Words of both."));
    let _ = run(&home, &project, &["note", "sync", folder]).success();
    assert!(fs::read_to_string(&theirs).expect("the file").contains("Words of both."));
}

#[test]
fn what_cannot_be_used_is_said_and_left_alone() {
    let home = Home::new();
    let project = home.project("shop");
    store(&home, &project, &["--title", "One", "First words."]);
    sync(&home, &project);
    let folder = notes(&project);
    let secret = home.path().join("secret.md");
    fs::write(&secret, "# Theirs\n\nnot ours\n").expect("write");
    for (name, bytes) in [
        ("broken.md", b"---\ntitle: [x\n---\nbroken front\n".to_vec()),
        ("open.md", b"---\ntitle: x\nno end\n".to_vec()),
        ("huge.md", vec![b'x'; 400 << 10]),
        ("latin.md", b"# T\n\ncaf\xe9\n".to_vec()),
        ("merge.md", b"# T\n\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n".to_vec()),
        ("typed.md", b"---\ntitle: T\ntype: no-such-type\n---\nx\n".to_vec()),
    ] {
        fs::write(folder.join(name), bytes).expect("write");
    }
    std::os::unix::fs::symlink(&secret, folder.join("link.md")).expect("a link");
    let report = sync(&home, &project);
    let told = report["told"].as_array().expect("an array");
    for (name, why) in [
        ("broken.md", "line "),
        ("open.md", "does not end"),
        ("huge.md", "KiB"),
        ("latin.md", "line 3: it is not UTF-8"),
        ("merge.md", "line 3: it contains conflict markers"),
        ("typed.md", "no-such-type"),
        ("link.md", "link"),
    ] {
        let said = told.iter().find(|told| told["path"] == name).unwrap_or_else(|| panic!("{name}: {report:#}"));
        assert!(said["why"].as_str().expect("why").contains(why), "{said}");
        assert!(folder.join(name).symlink_metadata().is_ok(), "{name} is gone");
    }
    assert_eq!(told.len(), 7, "{report:#}");
    assert_eq!(home.memories_of(&project).len(), 1);
    let checked = run(&home, &project, &["note", "check"]);
    assert_eq!(checked.code, Some(1));
    assert!(
        checked.stdout.contains("broken.md:2: error: line") || checked.stdout.contains("broken.md:3: error: line"),
        "{}",
        checked.stdout
    );
}

#[test]
fn secrets_pass_in_neither_direction() {
    let home = Home::new();
    let project = home.project("shop");
    let secret = format!("AKIA{}", "Q3EGRWIWCUDOXW7A");
    let stored = store(&home, &project, &["--title", "Keys", &format!("The key is {secret} for now.")]);
    fs::create_dir_all(notes(&project)).expect("create");
    fs::write(
        notes(&project).join("mine.md"),
        format!("---\ntitle: Mine\ntags: [a, b]\nnote: {secret}\n---\n\nIt is {secret}.\n"),
    )
    .expect("write");
    let report = sync(&home, &project);
    assert_eq!((&report["written"], &report["stored"]), (&json!(1), &json!(1)), "{report}");
    assert!(report["told"][0]["why"].as_str().expect("why").contains("secret"), "{report}");
    let written = fs::read_to_string(project.join(stored["path"].as_str().expect("a path"))).expect("the file");
    assert!(written.contains("[redacted:") && !written.contains(&secret), "{written}");
    let holding = home.holding(&secret);
    assert!(holding.iter().all(|path| path.ends_with("mine.md")), "{holding:?}");
    assert_eq!(sync(&home, &project)["unchanged"], 2);
}

#[test]
fn an_empty_folder_is_no_order_to_delete_everything() {
    let home = Home::new();
    let project = home.project("shop");
    for number in 0..8 {
        store(&home, &project, &["--title", &format!("Note {number}"), &format!("It is about number {number}.")]);
    }
    sync(&home, &project);
    fs::remove_dir_all(notes(&project)).expect("remove");
    let run_one = run(&home, &project, &["note", "sync"]).success();
    assert!(run_one.stderr.contains("--delete"), "{run_one:?}");
    assert_eq!(home.memories_of(&project).len(), 8);
    let _ = run(&home, &project, &["note", "sync", "--delete"]).success();
    assert_eq!(home.memories_of(&project).len(), 0);
}

#[test]
fn what_sessions_left_is_synced_too_and_an_edit_outlasts_the_next_reading() {
    let home = Home::new();
    let project = home.project("shop");
    let mut session = Session::new(&home, &project, &session_id(1));
    session
        .transcript
        .user("Make the importer skip rows whose amount is empty")
        .asks(
            "How shall skipped rows be reported?",
            &["A warning for each row", "One count at the end"],
            "One count at the end",
        )
        .edits("src/importer.rs", "let amount = parse(row)?;", "let Some(amount) = parse(row)? else { continue };")
        .answer("Done.");
    session.stop("Done.");
    session.end();
    let report = sync(&home, &project);
    assert!(report["written"].as_u64() >= Some(1), "{report}");
    let decision = files(&notes(&project))
        .into_iter()
        .find(|path| path.to_string_lossy().contains("/architecture-decision/"))
        .unwrap_or_else(|| panic!("no decision: {:#?}", home.memories_of(&project)));
    let text = fs::read_to_string(&decision).expect("the file");
    assert!(text.contains("One count at the end") && !text.contains("[redacted"), "{text}");
    fs::write(&decision, format!("{}\n\nA person adds: pin the version.\n", text.trim_end())).expect("write");
    assert_eq!(sync(&home, &project)["edited"], 1);
    let before = home.memories_of(&project).len();
    home.run(["ingest", "--all"]);
    session.transcript.user("And again").answer("Done again.");
    session.stop("Done again.");
    session.end();
    assert!(home.remembers("pin the version"), "the person's words are gone");
    let after = home.memories_of(&project);
    assert!(after.len() >= before, "{after:#?}");
    let decisions = after.iter().filter(|memory| memory["type"] == "decision").count();
    assert_eq!(decisions, 1, "what the person changed came back beside it: {after:#?}");
}

#[test]
fn notes_are_exported_as_they_are_synced() {
    let home = Home::new();
    let project = home.project("shop");
    for title in ["One", "하나"] {
        store(&home, &project, &["--title", title, "--type", "root-cause", &format!("It is about {title}.")]);
    }
    let out = home.path().join("out");
    let folder = out.to_str().expect("a path");
    let _ = run(&home, &project, &["export", "--format", "markdown", "-o", folder]).success();
    sync(&home, &project);
    let texts = |folder: &Path| -> Vec<(PathBuf, String)> {
        let read = |file: PathBuf| {
            (file.strip_prefix(folder).expect("below").to_owned(), fs::read_to_string(&file).expect("a text"))
        };
        files(folder).into_iter().map(read).collect()
    };
    assert_eq!(texts(&out), texts(&notes(&project)));
    assert_eq!(texts(&out).len(), 2);
    let again = run(&home, &project, &["export", "--format", "markdown", "-o", folder]).failure_with_hint();
    assert!(again.stderr.contains("--force"), "{again:?}");
    let _ = run(&home, &project, &["export", "--format", "markdown"]).failure_with_hint();
}

/// Database to Markdown to an empty database is the same content, whatever the notes say.
#[test]
fn a_round_trip_changes_nothing() {
    let home = Home::new();
    let project = home.project("shop");
    let odd = [
        "plain",
        "\"quotes\" and \\backslashes\\",
        "# heading\n\n---\n\nrule",
        "---\ntitle: fake\n---\n",
        "a\u{2028}b\u{85}c",
        "tab\tand \u{7f}",
        "한글과 日本語",
        "trailing   \n\n\nspace",
        "- yes\n- no: 'x'\n",
        "{a: b}",
        "%TAG ! x",
        "&anchor *alias",
        "null",
        "1e5",
        "👩‍👩‍👧 emoji",
    ];
    for (number, text) in odd.iter().enumerate() {
        let title = format!("{number}: {}", text.lines().next().unwrap_or_default());
        let types = ["root-cause", "general", "architecture-decision", "session-handoff"];
        store(
            &home,
            &project,
            &["--title", &title, "--type", types[number % 4], "--keywords", text, "--description", text, "--", text],
        );
    }
    sync(&home, &project);
    let before = all(&home, &project);
    assert_eq!(before.len(), odd.len());
    let other = Home::new();
    let clone = other.project("shop");
    fs::create_dir_all(notes(&clone)).expect("create");
    for file in files(&notes(&project)) {
        let to = notes(&clone).join(file.strip_prefix(notes(&project)).expect("below"));
        fs::create_dir_all(to.parent().expect("a folder")).expect("create");
        fs::copy(&file, to).expect("copy");
    }
    let report = sync(&other, &clone);
    assert_eq!((&report["stored"], report["told"].as_array().map(Vec::len)), (&json!(odd.len()), Some(0)), "{report:#}");
    assert_eq!(all(&other, &clone), before);
    assert_eq!(sync(&other, &clone)["unchanged"], json!(odd.len()));
}

#[test]
fn a_dry_run_lists_every_file_that_would_be_written() {
    let home = Home::new();
    let project = home.project("shop");
    let mut session = Session::new(&home, &project, &session_id(1));
    session.exporter("Make the otter exporter write headers. Always use tabs in Python files.");
    let listed = |run: &process::Finished| -> Vec<String> {
        let mut paths: Vec<String> =
            run.stdout.lines().filter_map(|line| line.strip_prefix("would be written: ")).map(str::to_owned).collect();
        paths.sort();
        paths
    };
    let first = listed(&run(&home, &project, &["note", "sync", "--dry-run"]).success());
    let folder = project.join(".gsd/memories");
    assert!(!first.is_empty() && !folder.exists(), "{first:?}");
    // The folder is there and empty now, which is another way through the sync.
    std::fs::create_dir_all(&folder).expect("create");
    assert_eq!(listed(&run(&home, &project, &["note", "sync", "--dry-run"]).success()), first);
    drop(run(&home, &project, &["note", "sync"]).success());
    assert!(first.iter().all(|path| folder.join(path).is_file()), "{first:?}");
    assert_eq!(files(&folder).len(), first.len());
}
