//! The commands that people type, through the real binary.

use std::path::Path;

use serde_json::{Value, json};
use tests::home::Home;
use tests::process::{self, WATCHDOG};
use tests::session::Session;
use tests::transcript::session_id;

fn settings(home: &Home) -> Value {
    let text = std::fs::read_to_string(home.agent().join("settings.json")).expect("settings.json");
    serde_json::from_str(&text).expect("JSON")
}

/// The program's file name, which stands in every command that `install` writes.
fn program() -> String {
    let path = tests::process::throughline();
    path.file_name().expect("a file").to_string_lossy().into_owned()
}

fn remembered(home: &Home, project: &Path) {
    let mut session = Session::new(home, project, &session_id(1));
    session
        .transcript
        .user("Teach the otter exporter to write headers")
        .asks("Where do headers come from?", &["The schema", "The first row"], "The schema")
        .edits("src/exporter.rs", "write(rows)", "write(headers); write(rows)")
        .answer("The otter exporter writes headers now, from the schema.");
    session.stop("The otter exporter writes headers now, from the schema.");
    session.end();
}

#[test]
fn installing_touches_nothing_of_others_and_goes_without_a_trace() {
    let home = Home::new();
    let file = home.agent().join("settings.json");
    let theirs = json!({
        "model": "opus",
        "permissions": {"allow": ["Bash(git status)"]},
        "hooks": {
            "Stop": [{"hooks": [{"type": "command", "command": "notify-send done"}]}],
            "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "check", "timeout": 5}]}],
        },
    });
    let text = serde_json::to_string_pretty(&theirs).expect("JSON") + "\n";
    std::fs::write(&file, &text).expect("write");

    drop(home.run(["install", "--scope", "user", "--dry-run"]).success());
    assert_eq!(std::fs::read_to_string(&file).expect("read"), text, "a dry run changed something");

    drop(home.run(["install", "--scope", "user"]).success());
    let installed = settings(&home);
    assert_eq!(installed["model"], theirs["model"]);
    assert_eq!(installed["permissions"], theirs["permissions"]);
    assert_eq!(installed["hooks"]["PreToolUse"], theirs["hooks"]["PreToolUse"]);
    assert_eq!(installed["hooks"]["Stop"][0], theirs["hooks"]["Stop"][0]);
    for event in ["SessionStart", "PreCompact", "PostCompact", "Stop", "SessionEnd"] {
        let ours = installed["hooks"][event].to_string();
        assert!(ours.contains(&program()), "no hook for {event}: {installed:#}");
    }
    assert!(installed["hooks"].get("MessageDisplay").is_none(), "it would run at every line that is shown");

    let once = std::fs::read(&file).expect("read");
    drop(home.run(["install", "--scope", "user"]).success());
    assert!(once == std::fs::read(&file).expect("read"), "the second time changed something");

    drop(home.run(["uninstall", "--scope", "user"]).success());
    assert_eq!(settings(&home), theirs);
}

#[test]
fn settings_that_cannot_be_understood_are_left_alone() {
    let home = Home::new();
    let file = home.agent().join("settings.json");
    for text in ["{ not JSON", "[]", "{\"hooks\": 7}"] {
        std::fs::write(&file, text).expect("write");
        drop(home.run(["install", "--scope", "user"]).failure_with_hint());
        assert_eq!(std::fs::read_to_string(&file).expect("read"), text);
    }
}

#[test]
fn installing_for_a_project_stays_in_the_project() {
    let home = Home::new();
    let project = home.project("zoo");
    for (scope, name) in [("project", "settings.json"), ("local", "settings.local.json")] {
        let mut command = home.command(["install", "--scope", scope]);
        command.current_dir(&project);
        drop(process::run(command, Vec::new(), WATCHDOG).success());
        let text = std::fs::read_to_string(project.join(".claude").join(name)).expect("settings of the project");
        assert!(text.contains(&program()), "{text}");
    }
    assert!(!home.agent().join("settings.json").exists());
}

#[test]
fn doctor_asks_for_the_hooks_and_is_then_content() {
    let home = Home::new();
    let before = home.run(["doctor"]);
    assert!(before.code.is_some_and(|code| code != 0), "{before:#?}");
    assert!(format!("{}{}", before.stdout, before.stderr).contains("install"), "how to mend it is missing: {before:#?}");
    drop(home.run(["install", "--scope", "user"]).success());
    drop(home.run(["doctor"]).success());
    let report = home.json(["doctor", "--json"]);
    assert!(report.is_object() || report.is_array(), "{report}");
}

#[test]
fn the_demonstration_shows_what_the_next_session_is_told_and_leaves_nothing() {
    let home = Home::new();
    let run = home.run(["demo"]).success();
    assert!(run.stdout.contains("## Session Memory"), "{run:#?}");
    assert!(!home.database().exists(), "the demonstration lives in a home of its own");
}

#[test]
fn memories_are_found_shown_and_deleted() {
    let home = Home::new();
    let project = home.project("zoo");
    remembered(&home, &project);
    let here = project.to_string_lossy().into_owned();
    let found = home.json(["memory", "search", "otter headers", "--json", "--limit", "3", "--project", &here]);
    let found = found.as_array().expect("an array");
    assert!(!found.is_empty() && found.len() <= 3, "{found:#?}");
    for memory in found {
        for field in ["id", "type", "content", "session_id", "project", "created_at"] {
            assert!(memory[field].is_string() || memory[field].is_number(), "{field} is missing: {memory:#}");
        }
        assert!(memory["score"].is_number(), "{memory:#}");
        assert!(memory["files"].is_array(), "{memory:#}");
        assert_eq!(memory["session_id"], session_id(1));
    }
    let scores: Vec<f64> = found.iter().filter_map(|memory| memory["score"].as_f64()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "best first: {scores:?}");

    let id = found[0]["id"].as_str().expect("an id").to_owned();
    let shown = home.run(["memory", "show", &id]).success();
    assert!(shown.stdout.contains(found[0]["content"].as_str().expect("a text")), "{shown:#?}");
    let before = home.count("memories");
    drop(home.run(["memory", "delete", &id]).success());
    assert_eq!(home.count("memories"), before - 1);
    drop(home.run(["memory", "show", &id]).failure_with_hint());
    drop(home.run(["memory", "delete", &id]).failure_with_hint());
}

#[test]
fn a_search_takes_any_words() {
    let home = Home::new();
    let project = home.project("zoo");
    remembered(&home, &project);
    let here = project.to_string_lossy().into_owned();
    for words in ["", "\"", "AND OR NOT", "otter*", "a:b:c", "NEAR(", "한국어", "--", "' OR 1=1", "()", "^otter", "🦦"]
    {
        let run = home.run(["memory", "search", "--json", "--project", &here, "--", words]);
        assert!(!run.overdue, "{words:?}: {run:#?}");
        if run.code == Some(0) {
            assert!(serde_json::from_str::<Value>(&run.stdout).is_ok_and(|found| found.is_array()), "{words:?}: {run:#?}");
        } else {
            drop(run.failure_with_hint());
        }
    }
}

#[test]
fn the_context_can_be_looked_at_without_a_session() {
    let home = Home::new();
    let project = home.project("zoo");
    remembered(&home, &project);
    let here = project.to_string_lossy().into_owned();
    let shown = home.run(["context", "--source", "startup", "--project", &here]).success();
    assert!(shown.stdout.contains("otter exporter"), "{shown:#?}");
    let told = Session::new(&home, &project, &session_id(2)).start("startup");
    assert!(shown.stdout.contains(told.said().trim()), "{shown:#?}\n{told:#?}");
    let counted = home.json(["context", "--source", "startup", "--json", "--project", &here]);
    let units = told.said().encode_utf16().count();
    assert!(counted.to_string().contains(&units.to_string()), "its size, {units}, is missing: {counted:#}");
}

#[test]
fn what_shells_and_readers_of_manuals_get() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish"] {
        let run = home.run(["completions", shell]).success();
        assert!(run.stdout.contains("throughline"), "{shell}: {run:#?}");
    }
    // The scripts ask the program.
    let project = home.project("otters");
    let save =
        tests::home::run_in(&home, &project, &["memory", "save", "The otter service keeps tokens in Redis", "--json"])
            .success();
    let saved: Value = serde_json::from_str(&save.stdout).expect("JSON");
    let id = saved["id"].as_str().expect("an identifier");
    let complete = |words: &[&str]| {
        let mut command = home.command(["--", "throughline"].iter().chain(words));
        command.current_dir(&project).env("THROUGHLINE_COMPLETE", "fish");
        process::run(command, Vec::new(), WATCHDOG).success().stdout
    };
    let offered = complete(&["memory", "show", &id[..4]]);
    assert!(offered.starts_with(id) && offered.contains("keeps tokens in Redis"), "{offered}");
    assert!(complete(&["search", "--project", "ot"]).starts_with("otters"));
    assert!(complete(&["install", "--agent", "open"]).starts_with("opencode"));
    assert_eq!(complete(&["memory", "show", "zzzz"]), "");
    let page = home.run(["man"]).success();
    assert!(page.stdout.contains(".TH"), "{page:#?}");
}

#[test]
fn an_unknown_command_is_refused_with_its_usage() {
    let home = Home::new();
    let run = home.run(["remember-everything"]);
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(
        run.stdout.is_empty()
            && run.stderr.contains("Usage")
            && !run.stderr.contains("tip:")
            && run.stderr.contains("hint: `throughline"),
        "{run:#?}"
    );
    for (arguments, suggested) in [
        (&["health"][..], "throughline status"),
        (&["unistall"], "throughline uninstall "),
        (&["memory", "rm", "abcdef"], "throughline memory delete"),
        (&["--namespace", "a", "recall"], "throughline search"),
    ] {
        let run = home.run(arguments);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run:#?}");
        assert!(run.stderr.contains(&format!("hint: {suggested}")), "{run:#?}");
    }
    assert!(!home.run(["status"]).stderr.contains("pause"));
}

#[test]
fn old_names_of_commands_work_and_name_the_new_ones() {
    let home = Home::new();
    let saved = home.run(["memory", "store", "--title", "Otters", "They hold hands."]).success();
    assert_eq!(saved.stderr, "note: `throughline memory store` is now `throughline note add`\n");
    let found = home.run(["--namespace=other", "gc", "--dry-run"]).failure_with_hint();
    assert!(found.stderr.starts_with("note: `throughline gc` is now `throughline observations gc`\n"), "{found:#?}");
    let recalled = home.run(["note", "recall", "otters"]).success();
    assert!(recalled.stdout.contains("Otters") && recalled.stderr.is_empty(), "{recalled:#?}");
    let file = home.path().join("lines.jsonl");
    std::fs::write(&file, "{\"content\": \"Herons stand on one leg\"}\n").expect("write");
    let file = file.to_string_lossy();
    drop(home.run(["memory", "import", "--format", "jsonl", &file]).success());
    let again = home.run(["import", &file]).success();
    assert!(again.stdout.contains("0 new memories, 1 known already"), "{again:#?}");
}

#[test]
fn unknown_types_and_dates_are_errors_that_name_the_known_ones() {
    let home = Home::new();
    let project = home.project("zoo");
    let run = |arguments: &[&str]| {
        let mut command = home.command(arguments);
        command.current_dir(&project);
        process::run(command, Vec::new(), WATCHDOG)
    };
    drop(run(&["memory", "save", "Otters hold hands"]).success());
    for arguments in [
        &["search", "--type", "foo", "otters"][..],
        &["memory", "search", "otters type:decision,foo"],
        &["memory", "search", "otters -type:foo"],
        &["memory", "list", "--type", "foo"],
        &["memory", "save", "--type", "foo", "Otters"],
        &["note", "recall", "otters type:foo"],
    ] {
        let failed = run(arguments).failure_with_hint();
        assert!(
            failed.stderr.contains("there is no type \"foo\"") && failed.stderr.contains("decision, preference"),
            "{failed:#?}"
        );
    }
    for arguments in [
        &["search", "otters after:yesterdayy"][..],
        &["note", "recall", "otters before:soon"],
        &["observations", "search", "otters", "after:yesterdayy"],
    ] {
        let failed = run(arguments).failure_with_hint();
        assert!(failed.stderr.contains("is not a date") && failed.stderr.contains("yesterday"), "{failed:#?}");
    }
    for words in ["otters type:foo", "otters -type:foo", "type:decision"] {
        let failed = run(&["observations", "search", words]).failure_with_hint();
        assert!(failed.stderr.contains("there is no type \"") && failed.stderr.contains("tool_observation"), "{failed:#?}");
    }
    for words in ["otters type:tool_observation", "otters \"type:foo\""] {
        drop(run(&["observations", "search", words]).success());
    }
    // Quoted, it is words; and types of notes, of the project and of what is stored are known.
    drop(run(&["search", "otters \"after:yesterdayy\" \"type:foo\""]).success());
    drop(run(&["search", "--type", "Root-Cause,turn", "otters"]).success());
    let schema = project.join(".gsd/memories/_schema");
    std::fs::create_dir_all(&schema).expect("create");
    std::fs::write(schema.join("types.yaml"), "types:\n  incident:\n    description: An outage\n").expect("write");
    drop(run(&["memory", "save", "--type", "incident", "The otters escaped"]).success());
    std::fs::remove_dir_all(&schema).expect("remove");
    let listed = run(&["memory", "list", "--type", "incident"]).success();
    assert!(listed.stdout.contains("The otters escaped"), "{listed:#?}");
}

#[test]
fn projects_are_listed_with_what_is_stored_of_them() {
    let home = Home::new();
    drop(home.run(["projects"]).failure_with_hint());
    let project = home.project("zoo");
    remembered(&home, &project);
    let line = json!({"content": "Herons stand on one leg", "project": "aviary"}).to_string();
    let run = tests::process::run(home.command(["import", "-"]), line.into_bytes(), tests::process::WATCHDOG);
    drop(run.success());
    let listed = home.json(["projects", "--json"]);
    let (zoo, aviary) = (&listed[0], &listed[1]);
    assert_eq!((&zoo["name"], &zoo["path"], &zoo["sessions"]), (&json!("zoo"), &json!(project), &json!(1)), "{listed:#}");
    assert!(zoo["memories"].as_u64() > Some(0) && zoo["last_session_at"].is_string(), "{listed:#}");
    assert_eq!(
        aviary,
        &json!({"name": "aviary", "path": null, "sessions": 0, "memories": 1, "turns": 0, "last_session_at": null}),
        "{listed:#}"
    );
    let text = home.run(["projects", "--limit", "1"]).success().stdout;
    assert!(text.starts_with("zoo") && text.contains("1 session ") && text.lines().count() == 1, "{text}");
}

/// The table of exit codes in docs/json/README.md, which scripts rely on.
#[test]
fn exit_codes_are_those_of_the_table() {
    let home = Home::new();
    let project = home.project("shop");
    let code = |arguments: &[&str]| {
        let mut command = home.command(arguments);
        command.current_dir(&project);
        process::run(command, Vec::new(), WATCHDOG).code
    };
    let line = |arguments: &[&str]| arguments.join(" ");
    let unwell = project.join(".gsd/memories/general/2026-01-01_a.md");
    std::fs::create_dir_all(unwell.parent().expect("a folder")).expect("create");
    std::fs::write(&unwell, "---\ntitle: [\n---\n").expect("write");
    let done: [&[&str]; 7] = [
        &["--help"],
        &["--version"],
        &["memory", "save", "Otters hold hands"],
        &["memory", "search", "nothing-is-called-this"],
        &["verify"],
        &["hook"],
        &["hook", "no-such-event", "and", "more"],
    ];
    for arguments in done {
        assert_eq!(code(arguments), Some(0), "{}", line(arguments));
    }
    // Without hooks nothing is remembered: that is a check that failed.
    let failed: [&[&str]; 7] = [
        &["doctor"],
        &["memory", "show", "no-such-memory"],
        &["note", "check"],
        &["ingest", "/no/such/transcript.jsonl"],
        &["restore", "/no/such/backup"],
        &["policy", "inspect", "no-such-policy"],
        &["--namespace", "../elsewhere", "memory", "list"],
    ];
    for arguments in failed {
        assert_eq!(code(arguments), Some(1), "{}", line(arguments));
    }
    let wrong: [&[&str]; 4] = [&[], &["no-such-command"], &["memory", "list", "--limit", "many"], &["memory", "show"]];
    for arguments in wrong {
        assert_eq!(code(arguments), Some(2), "{}", line(arguments));
    }
}

#[test]
fn one_setting_is_read_changed_and_removed() {
    let home = Home::new();
    let file = home.throughline().join("config/config.toml");
    let says = |words: &[&str]| home.run(words.iter().copied()).success().stdout;
    assert_eq!(says(&["config", "get", "context.budget"]), "9500\n");
    says(&["config", "init"]);
    let before = std::fs::read_to_string(&file).unwrap();
    assert!(says(&["config", "set", "context.budget", "8000"]).starts_with("context.budget is set in "));
    assert_eq!(says(&["config", "get", "context.budget"]), "8000\n");
    let changed = std::fs::read_to_string(&file).unwrap();
    assert_eq!(changed, before.replacen("[context]\n", "[context]\nbudget = 8000\n", 1));
    assert!(home.run(["config", "set", "context.budget", "1"]).failure_with_hint().stderr.contains("between 500 and 10000"));
    let unknown = home.run(["config", "set", "context.bugdet", "900"]).failure_with_hint().stderr;
    assert!(unknown.contains("there is no setting context.bugdet; known are context.budget"), "{unknown}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), changed);
    says(&["config", "unset", "context.budget"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    assert!(says(&["config", "unset", "context.budget"]).contains("does not set it"));
}

#[test]
fn the_editor_opens_the_configuration_and_it_is_checked() {
    let home = Home::new();
    let edit = |editor: &str| {
        let mut command = home.command(["config", "edit"]);
        command.env_remove("VISUAL").env("EDITOR", editor);
        process::run(command, Vec::new(), WATCHDOG)
    };
    drop(edit("sed -i 's/^\\[gc\\]$/[gc]\\nkeep = 7/'").success());
    assert_eq!(home.run(["config", "get", "gc.keep"]).success().stdout, "7\n");
    let broken = edit("sed -i 's/keep = 7/kept = 7/'").failure_with_hint().stderr;
    assert!(broken.contains("kept"), "{broken}");
    drop(edit("false").failure_with_hint());
    drop(edit("").failure_with_hint());
}

#[test]
fn an_empty_result_names_the_project_and_where_there_is_something() {
    let home = Home::new();
    let (shop, empty) = (home.project("shop"), home.project("empty"));
    let in_folder = |folder: &Path, words: &[&str]| tests::home::run_in(&home, folder, words);
    drop(in_folder(&shop, &["memory", "save", "Otters hold hands"]).success());
    let run = in_folder(&empty, &["memory", "list"]).success();
    assert!(run.stderr.starts_with("no memories in empty ("), "{run:#?}");
    assert!(
        run.stderr.contains(
            "hint: nothing is remembered of this project yet; shop (~/work/shop) has 1 memory: use `--project shop`"
        ),
        "{run:#?}"
    );
    let run = in_folder(&shop, &["failures", "--open"]).success();
    assert!(
        run.stderr.starts_with("no open failures in shop (") && !run.stderr.contains("nothing is remembered"),
        "{run:#?}"
    );
    let run = in_folder(&empty, &["search", "--project", "shop", "wombats"]).success();
    assert!(run.stderr.starts_with("nothing found in shop ("), "{run:#?}");
    let run = in_folder(&empty, &["search", "--all-projects", "xylophones"]).success();
    assert_eq!(run.stderr, "nothing found in any project\n");
}

#[test]
fn ingest_names_the_project_that_it_filled() {
    let home = Home::new();
    let (shop, elsewhere) = (home.project("shop"), home.project("elsewhere"));
    let mut session = Session::new(&home, &shop, &session_id(1));
    session.exporter("Make the otter exporter write headers. Always use tabs in Python files.");
    let copy = home.path().join("copy.jsonl");
    let text = std::fs::read_to_string(home.transcript_path(&shop, &session_id(1))).expect("read");
    std::fs::write(&copy, text.replace(&session_id(1), &session_id(2))).expect("write");
    let copy = copy.to_str().expect("UTF-8");
    // The second time nothing is new, and the project is named nevertheless.
    for _ in 0..2 {
        let run = tests::home::run_in(&home, &elsewhere, &["ingest", copy]).success();
        let stats = tests::home::json_of(&home, &shop, &["projects", "--json"]);
        let known = stats.as_array().expect("a list").iter().find(|it| it["name"] == "shop").expect("shop");
        let line = run.stdout.lines().find(|line| line.starts_with("shop (")).unwrap_or_else(|| panic!("{run:#?}"));
        let counts =
            format!(": 1 transcript read; {} memories and 1 turn of {} sessions now", known["memories"], known["sessions"]);
        assert!(line.ends_with(&counts), "{line} | {counts}");
        assert!(run.stderr.contains("none of it belongs to the project of this folder, elsewhere ("), "{run:#?}");
    }
    let run = tests::home::run_in(&home, &shop, &["ingest", copy]).success();
    assert!(!run.stderr.contains("none of it"), "{run:#?}");
}

#[test]
fn a_model_that_is_off_is_said_to_be_off_and_how_to_turn_it_on() {
    let home = Home::new();
    let project = home.project("shop");
    drop(tests::home::run_in(&home, &project, &["memory", "save", "Otters hold hands"]).success());
    let run = tests::home::run_in(&home, &project, &["model", "run"]).failure_with_hint();
    assert!(run.stderr.contains("throughline policy add") && run.stderr.contains("docs/models.md"), "{run:#?}");
    let finding = || {
        let report: Value = serde_json::from_str(&home.run(["doctor", "--json"]).stdout).expect("JSON");
        let checks = report["checks"].as_array().expect("checks").clone();
        let found = checks.iter().find(|it| it["check"] == "model").expect("a line about models").clone();
        found["message"].as_str().expect("a message").to_owned()
    };
    assert!(finding().starts_with("off: "), "{}", finding());
    drop(home.run(["config", "set", "model.provider", "openai"]).success());
    drop(home.run(["config", "set", "model.limits.day_tokens", "5000"]).success());
    assert!(finding().starts_with("openai answers") && finding().contains("limits: day_tokens 5000"), "{}", finding());
}

#[test]
fn a_setting_that_is_wrong_is_named_with_what_to_do() {
    let home = Home::new();
    let run = home.run(["config", "set", "context.budget", "abc"]).failure_with_hint();
    assert!(
        run.stderr.contains("context.budget cannot have this value: ") && run.stderr.contains("expected a whole number"),
        "{run:#?}"
    );
    assert!(!run.stderr.contains(" line ") && run.stderr.contains("hint: the default is 9500"), "{run:#?}");
    let run = home.run(["config", "get", "context.bugdet"]).failure_with_hint();
    assert!(run.stderr.contains("did you mean context.budget?"), "{run:#?}");
}

#[test]
fn leaving_no_team_is_no_error() {
    let home = Home::new();
    let run = home.run(["team", "leave"]).success();
    assert!(run.stdout.contains("joined no team, so nothing was changed"), "{run:#?}");
}
