//! Tool calls, from the hooks to the commands that show them.

use std::path::Path;

use serde_json::{Value, json};
use tests::home::Home;
use tests::process;
use tests::session::Session;
use tests::transcript::session_id;

/// A session whose tool calls are recorded by hooks, as the agent calls them.
struct Noted<'home> {
    home: &'home Home,
    session: Session<'home>,
    project: &'home Path,
    uses: u32,
}

impl<'home> Noted<'home> {
    fn new(home: &'home Home, project: &'home Path, number: u64) -> Self {
        Self { home, session: Session::new(home, project, &session_id(number)), project, uses: 0 }
    }

    /// An event that may be answered.
    fn event(&self, event: &str, more: &Value) -> String {
        let payload = self.session.payload(event, more);
        self.home.hook_with_input(&[], format!("{payload}\n").into_bytes()).success().stdout
    }

    fn prompt(&self, text: &str) {
        self.event("UserPromptSubmit", &json!({"prompt_id": format!("prompt-{text}"), "prompt": text}));
    }

    fn used(&mut self, tool: &str, input: &Value, response: &Value) {
        self.uses += 1;
        let id = format!("toolu_{}", self.uses);
        let more =
            json!({"tool_name": tool, "tool_use_id": id, "tool_input": input, "tool_response": response, "duration_ms": 40});
        self.event("PostToolUse", &more);
    }

    fn reads(&mut self, file: &str, content: &str) {
        let path = self.project.join(file);
        let response = json!({"type": "text", "file":
            {"filePath": path, "content": content, "numLines": 1, "startLine": 1, "totalLines": 1}});
        self.used("Read", &json!({"file_path": path}), &response);
    }

    fn edits(&mut self, file: &str) {
        let path = self.project.join(file);
        let hunks = json!([{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-old", "+new"]}]);
        let input = json!({"file_path": path, "old_string": "old", "new_string": "new"});
        self.used("Edit", &input, &json!({"filePath": path, "structuredPatch": hunks}));
    }

    fn runs(&mut self, command: &str, stdout: &str) {
        let response = json!({"stdout": stdout, "stderr": "", "interrupted": false, "isImage": false});
        self.used("Bash", &json!({"command": command}), &response);
    }

    fn fails(&mut self, command: &str, error: &str) -> String {
        self.uses += 1;
        let id = format!("toolu_{}", self.uses);
        let more = json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": {"command": command},
            "error": format!("Exit code 101\n{error}"), "is_interrupt": false, "duration_ms": 4_200});
        self.event("PostToolUseFailure", &more)
    }

    /// A whole turn: a look, a failure, a change, a success.
    fn works(&mut self) {
        self.prompt("Make the otter exporter write headers");
        self.reads("src/exporter.rs", "fn export() {}");
        self.fails("cargo test exporter", "error[E0425]: cannot find function `headers` in this scope");
        self.edits("src/exporter.rs");
        self.runs("cargo test exporter", "test result: ok. 3 passed; 0 failed");
        self.session.stop("The otter exporter writes headers now.");
    }
}

/// A command in the project's folder, whose output is JSON.
#[track_caller]
fn asked(home: &Home, folder: &Path, arguments: &[&str]) -> Value {
    let text = told(home, folder, &[arguments, &["--json"]].concat());
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments:?}: not JSON: {error}: {text}"))
}

/// A command in the project's folder.
#[track_caller]
fn told(home: &Home, folder: &Path, arguments: &[&str]) -> String {
    let mut command = home.command(arguments);
    command.current_dir(folder);
    process::run(command, Vec::new(), process::WATCHDOG).success().stdout
}

/// One field of each.
#[track_caller]
fn each<'a>(array: &'a Value, field: &str) -> Vec<&'a str> {
    let items = array.as_array().unwrap_or_else(|| panic!("no array: {array:#}"));
    items.iter().map(|item| item[field].as_str().unwrap_or_else(|| panic!("no `{field}`: {item:#}"))).collect()
}

fn number(of: &Value) -> String {
    of["id"].as_i64().unwrap_or_else(|| panic!("no number: {of:#}")).to_string()
}

#[test]
fn where_nothing_was_seen_the_answers_are_empty() {
    let home = Home::new();
    let project = home.project("zoo");
    Noted::new(&home, &project, 1).session.stop("Hello");
    let other = home.project("museum");
    for arguments in [
        &["observations", "search"][..],
        &["observations", "search", "otter"],
        &["session", "list"],
        &["timeline"],
        &["files"],
    ] {
        assert_eq!(asked(&home, &other, arguments), json!([]), "{arguments:?}");
        assert_eq!(told(&home, &other, arguments), "", "{arguments:?}");
    }
    assert_eq!(asked(&home, &other, &["failures", "--open"]), json!([]));
    assert_eq!(asked(&home, &other, &["files", "src/exporter.rs"]), json!([]));
    assert_eq!(asked(&home, &other, &["observations", "gc"]), json!({"raised": 0, "dropped": 0, "dry_run": false}));
    for arguments in [
        &["observations", "show", "7"][..],
        &["observations", "timeline", "7"],
        &["session", "show", "nobody"],
        &["timeline", "--session", "nobody"],
    ] {
        drop(home.run(arguments).failure_with_hint());
    }
}

#[test]
fn three_steps_lead_from_a_line_to_the_whole() {
    let home = Home::new();
    let project = home.project("zoo");
    let mut noted = Noted::new(&home, &project, 1);
    noted.works();

    let newest = asked(&home, &project, &["observations", "search"]);
    assert_eq!(
        each(&newest, "summary"),
        [
            "Ran `cargo test exporter`: ok",
            "Edited src/exporter.rs (+1 −1)",
            "Ran `cargo test exporter`: exit 101",
            "Read src/exporter.rs: fn export() {}"
        ]
    );
    assert_eq!(each(&newest, "tool"), ["Bash", "Edit", "Bash", "Read"]);
    assert!(each(&newest, "project").iter().all(|root| *root == project.to_string_lossy()), "{newest:#}");
    let failed = asked(&home, &project, &["observations", "search", "cargo", "--failed"]);
    assert_eq!(each(&failed, "summary"), ["Ran `cargo test exporter`: exit 101"]);
    assert_eq!((&failed[0]["failed"], &failed[0]["session_id"]), (&json!(true), &json!(session_id(1))));
    for (arguments, count) in [
        (&["--tool", "bash"][..], 2),
        (&["--tool", "Edit", "--tool", "Read"], 2),
        (&["--file", "src/exporter.rs"], 2),
        (&["--file", "src"], 2),
        (&["--session", &session_id(1)[..8]], 4),
        (&["--limit", "1"], 1),
        (&["E0425"], 1),
        (&["exporter", "--", "-cargo"], 2),
        (&["exporter", "before:2020"], 0),
    ] {
        let text = told(&home, &project, &[&["observations", "search", "--json"], arguments].concat());
        let found: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(found.as_array().map(Vec::len), Some(count), "{arguments:?}: {found:#}");
    }
    let listed = told(&home, &project, &["observations", "search", "--failed"]);
    let id = number(&failed[0]);
    assert_eq!(listed, format!("{id}  just now  Bash  failed Ran `cargo test exporter`: exit 101\n"));

    let around = asked(&home, &project, &["observations", "timeline", &id, "--reach", "1"]);
    assert_eq!(around.as_array().map(Vec::len), Some(1), "{around:#}");
    let events = &around[0]["events"];
    assert_eq!(each(events, "tool"), ["Read", "Bash", "Edit"]);
    let marks: Vec<bool> = events.as_array().expect("events").iter().map(|event| event["asked"] == true).collect();
    assert_eq!(marks, [false, true, false]);
    // What overlaps is one stretch; what is apart are two.
    let ends = [number(&newest[3]), number(&newest[0])];
    for (reach, stretches) in [("0", 2), ("1", 1), ("9", 1)] {
        let both = asked(&home, &project, &["observations", "timeline", &ends[0], &ends[1], "--reach", reach]);
        assert_eq!(both.as_array().map(Vec::len), Some(stretches), "{reach}: {both:#}");
    }
    let text = told(&home, &project, &["observations", "timeline", &id]);
    assert!(text.contains(&format!("> {id}  ")) && text.contains("prompt") && text.contains("stop"), "{text}");

    let whole = asked(&home, &project, &["observations", "show", &id]);
    assert_eq!(whole[0]["detail"], "Exit code 101\nerror[E0425]: cannot find function `headers` in this scope");
    assert_eq!(whole[0]["duration_ms"], 4_200);
    assert!(whole[0]["attributes"].to_string().contains(r#"["exit_code","101"]"#), "{whole:#}");
    let text = told(&home, &project, &["observations", "show", &id]);
    for wanted in ["error[E0425]", "4.2 s", &session_id(1), "cargo test exporter", "tier", "0 of 4"] {
        assert!(text.contains(wanted), "`{wanted}` is missing:\n{text}");
    }
}

#[test]
fn what_is_looked_at_rises() {
    let mut home = Home::new();
    let project = home.project("zoo");
    Noted::new(&home, &project, 1).works();
    let found = asked(&home, &project, &["observations", "search"]);
    let id = number(&found[0]);
    assert_eq!(asked(&home, &project, &["observations", "gc", "--dry-run"])["raised"], 0, "a search is no look");
    home.set("CLAUDE_CODE_SESSION_ID", &session_id(2));
    told(&home, &project, &["observations", "show", &id]);
    assert_eq!(
        asked(&home, &project, &["observations", "gc", "--dry-run"]),
        json!({"raised": 1, "dropped": 0, "dry_run": true})
    );
    told(&home, &project, &["observations", "timeline", &id]);
    told(&home, &project, &["observations", "show", &id]);
    assert_eq!(told(&home, &project, &["observations", "gc"]), "promoted 1 observation, deleted 0\n");
    // Three looks by another session: two steps.
    assert_eq!(asked(&home, &project, &["observations", "show", &id])[0]["level"], 2);
    let other = asked(&home, &project, &["observations", "search", "--limit", "9"]);
    assert_eq!(asked(&home, &project, &["observations", "show", &number(&other[1])])[0]["level"], 0);
}

#[test]
fn a_session_is_told_from_its_first_prompt_on() {
    let home = Home::new();
    let project = home.project("zoo");
    let mut noted = Noted::new(&home, &project, 1);
    noted.prompt("Make the otter exporter write headers");
    noted.fails("cargo test exporter", "error[E0425]: cannot find function `headers` in this scope");
    // Before any turn has ended.
    let listed = asked(&home, &project, &["session", "list"]);
    assert_eq!(
        (each(&listed, "id"), each(&listed, "title")),
        (vec![session_id(1).as_str()], vec!["Make the otter exporter write headers"])
    );
    assert_eq!((&listed[0]["turns"], &listed[0]["end_reason"]), (&json!(1), &Value::Null));
    let running = asked(&home, &project, &["session", "show", &session_id(1)[..8]]);
    assert_eq!(running["prompts"][0]["duration_ms"], Value::Null, "{running:#}");

    noted
        .session
        .transcript
        .user("Make the otter exporter write headers")
        .edits("src/exporter.rs", "old", "new\nnewer")
        .asks("Where do headers come from?", &["The schema", "The first row"], "The schema");
    noted.session.transcript.answer("The otter exporter writes headers now, from the schema.");
    noted.edits("src/exporter.rs");
    noted.session.stop("The otter exporter writes headers now, from the schema.");
    noted.session.end();

    let listed = told(&home, &project, &["session", "list"]);
    for wanted in [&session_id(1)[..8], "1 turn ", "1 file ", "Make the otter exporter write headers"] {
        assert!(listed.contains(wanted), "`{wanted}` is missing:\n{listed}");
    }
    let shown = asked(&home, &project, &["session", "show", &session_id(1)]);
    assert_eq!(shown["end_reason"], "other");
    assert_eq!(shown["request"], "Make the otter exporter write headers");
    assert_eq!(shown["decisions"][0]["rejected"], json!(["The first row"]), "{shown:#}");
    assert_eq!(shown["changes"][0]["path"], "src/exporter.rs", "{shown:#}");
    assert_eq!(shown["failures"][0]["open"], true);
    // The transcript has two calls that no hook has seen.
    let tools = json!([{"name": "AskUserQuestion", "uses": 1, "failed": 0}, {"name": "Bash", "uses": 1, "failed": 1},
        {"name": "Edit", "uses": 2, "failed": 0}]);
    assert_eq!(shown["tools"], tools);
    assert_eq!(shown["prompts"].as_array().map(Vec::len), Some(1));
    assert!(shown["prompts"][0]["duration_ms"].is_u64(), "{shown:#}");
    assert_eq!(shown["prompts"][0]["end"], "The otter exporter writes headers now, from the schema.");
    let text = told(&home, &project, &["session", "show", &session_id(1)]);
    for wanted in
        ["Decisions", "The schema", "Files", "src/exporter.rs  +", "Failures", "E0425", "Tools", "1 failed", "Turns"]
    {
        assert!(text.contains(wanted), "`{wanted}` is missing:\n{text}");
    }

    // Taken up again, it runs.
    noted.prompt("And the footers");
    assert_eq!(asked(&home, &project, &["session", "show", &session_id(1)])["end_reason"], Value::Null);
}

#[test]
fn the_beginning_of_an_identifier_names_one_session_or_none() {
    let home = Home::new();
    let project = home.project("zoo");
    for number in [0x11, 0x12] {
        Noted::new(&home, &project, number).prompt("Feed the otters");
    }
    let shown = asked(&home, &project, &["session", "show", "00000011"]);
    assert_eq!(shown["id"], session_id(0x11));
    let refused = home.run(["session", "show", "0000001"]).failure_with_hint();
    for id in [session_id(0x11), session_id(0x12)] {
        assert!(refused.stderr.contains(&id), "{refused:#?}");
    }
    drop(home.run(["session", "show", ""]).failure_with_hint());
}

#[test]
fn the_timeline_goes_from_the_oldest_on_and_marks_what_failed() {
    let home = Home::new();
    let project = home.project("zoo");
    Noted::new(&home, &project, 1).works();
    let mut other = Noted::new(&home, &project, 2);
    other.reads("docs/otters.md", "# Otters");

    let all = asked(&home, &project, &["timeline"]);
    let kinds = each(&all, "type");
    assert_eq!(kinds.first(), Some(&"user_prompt"));
    assert_eq!(kinds[kinds.len() - 2..], ["stop", "tool_observation"]);
    let times: Vec<jiff::Timestamp> = each(&all, "at").iter().map(|at| at.parse().expect("RFC 3339")).collect();
    assert!(times.is_sorted(), "{times:?}");
    let last = asked(&home, &project, &["timeline", "--limit", "2"]);
    assert_eq!(each(&last, "summary")[1], "Read docs/otters.md: # Otters");
    let one = asked(&home, &project, &["timeline", "--session", &session_id(2)[..8]]);
    assert_eq!(each(&one, "session_id"), [session_id(2)]);
    let of_file = asked(&home, &project, &["timeline", "--file", "src/exporter.rs"]);
    assert_eq!(each(&of_file, "tool"), ["Read", "Edit", ""], "the end of the turn says which files it changed");

    let text = told(&home, &project, &["timeline"]);
    let heads: Vec<&str> = text.lines().filter(|line| line.contains("session ")).collect();
    assert_eq!(heads.len(), 2, "{text}");
    assert!(text.contains("failed Ran `cargo test exporter`: exit 101"), "{text}");
    assert!(!text.contains('\u{1b}'), "no colours where nobody sees them: {text:?}");
}

#[test]
fn files_are_told_of_from_anywhere_in_the_project() {
    let home = Home::new();
    let project = home.project("zoo");
    std::fs::create_dir(project.join("src")).expect("create a folder");
    std::fs::write(project.join("src/exporter.rs"), "fn export() {}").expect("write a file");
    Noted::new(&home, &project, 1).works();
    let mut other = Noted::new(&home, &project, 2);
    other.reads("docs/otters.md", "# Otters");
    other.reads("docs/otters.md", "# Otters");

    let files = asked(&home, &project, &["files"]);
    assert_eq!(each(&files, "path"), ["docs/otters.md", "src/exporter.rs"]);
    let of =
        |file: &Value| ["looked_at", "changed", "failed", "sessions"].map(|field| file[field].as_u64().expect("a number"));
    assert_eq!((of(&files[0]), of(&files[1])), ([2, 0, 0, 1], [1, 1, 0, 1]));
    assert_eq!(each(&asked(&home, &project, &["files", "--session", &session_id(1)]), "path"), ["src/exporter.rs"]);
    let text = told(&home, &project, &["files"]);
    assert!(
        text.lines().any(|line| line.split_whitespace().eq(["src/exporter.rs", "1", "1", "0", "1", "just", "now"])),
        "{text}"
    );

    for (folder, typed) in [
        (project.clone(), "src/exporter.rs"),
        (project.join("src"), "exporter.rs"),
        (project.join("src"), "../src/exporter.rs"),
        (project.clone(), "src"),
    ] {
        let events = asked(&home, &folder, &["files", typed]);
        assert_eq!(each(&events, "tool"), ["Edit", "Read"], "{typed}");
    }
    let text = told(&home, &project, &["files", "otters.md"]);
    assert!(text.contains("Read docs/otters.md") && text.contains("(2×)") && text.contains(&session_id(2)[..8]), "{text}");
}

#[test]
fn failures_are_told_with_what_helped() {
    let home = Home::new();
    let project = home.project("zoo");
    Noted::new(&home, &project, 1).works();
    let fixed = asked(&home, &project, &["failures"]);
    assert_eq!(each(&fixed, "subject"), ["cargo test exporter"]);
    assert_eq!((&fixed[0]["open"], &fixed[0]["fix"]), (&json!(false), &json!("Edited src/exporter.rs (+1 −1)")));
    assert_eq!(asked(&home, &project, &["failures", "--open"]), json!([]));

    let mut other = Noted::new(&home, &project, 2);
    let warned = other.fails("cargo test exporter", "error[E0425]: cannot find function `headers` in this scope");
    assert!(warned.contains("happened before"), "{warned}");
    other.fails("make docs", "make: *** No rule to make target 'docs'.  Stop.");
    let open = asked(&home, &project, &["failures", "--open"]);
    assert_eq!((open[0]["count"].as_u64(), open[0]["sessions"].as_u64()), (Some(2), Some(2)), "{open:#}");
    assert_eq!(each(&open, "subject").len(), 2);
    assert_eq!(
        each(&asked(&home, &project, &["failures", "--session", &session_id(1)]), "subject"),
        ["cargo test exporter"]
    );
    assert_eq!(asked(&home, &project, &["failures", "--limit", "1"]).as_array().map(Vec::len), Some(1));
    let text = told(&home, &project, &["failures"]);
    assert!(text.contains("failed cargo test exporter  2× in 2 sessions, just now\n    error[E0425]"), "{text}");
    assert!(text.contains("once fixed by: Edited src/exporter.rs"), "{text}");
}

#[test]
fn a_project_is_told_nothing_of_another_unless_it_asks_for_all() {
    let home = Home::new();
    let (zoo, museum) = (home.project("zoo"), home.project("museum"));
    let mut noted = Noted::new(&home, &zoo, 1);
    noted.reads("src/main.rs", "fn otters() {}");
    Noted::new(&home, &museum, 2).reads("src/main.rs", "fn vases() {}");

    assert_eq!(each(&asked(&home, &museum, &["observations", "search"]), "summary"), ["Read src/main.rs: fn vases() {}"]);
    let all = asked(&home, &museum, &["observations", "search", "--all-projects"]);
    assert_eq!(all.as_array().map(Vec::len), Some(2));
    let here = zoo.to_string_lossy().into_owned();
    let theirs = asked(&home, &museum, &["observations", "search", "--project", &here]);
    assert_eq!(each(&theirs, "summary"), ["Read src/main.rs: fn otters() {}"]);
    let id = number(&theirs[0]);
    let mut command = home.command(["observations", "show", &id]);
    command.current_dir(&museum);
    drop(process::run(command, Vec::new(), process::WATCHDOG).failure_with_hint());
    told(&home, &museum, &["observations", "show", &id, "--all-projects"]);
    let files = asked(&home, &museum, &["files", "--all-projects"]);
    assert_eq!(each(&files, "path"), ["src/main.rs"; 2]);
    let text = told(&home, &museum, &["timeline", "--all-projects"]);
    assert!(text.contains("~/work/zoo") && text.contains("~/work/museum"), "{text}");
}

#[test]
fn what_is_forgotten_does_not_come_back_out_of_a_journal() {
    let home = Home::new();
    let project = home.project("zoo");
    Noted::new(&home, &project, 1).works();
    let mut noted = Noted::new(&home, &project, 2);
    noted.prompt("Paint the pangolin");
    noted.runs("paint --animal pangolin", "painted");
    // Neither has been taken in yet when it is said.
    told(&home, &project, &["memory", "forget", "--match", "pangolin", "--yes", "--now"]);
    drop(home.run(["timeline", "--session", &session_id(2)]).failure_with_hint());
    noted.runs("feed --animal otter", "fed");
    told(&home, &project, &["memory", "forget", "--session", &session_id(2), "--yes", "--now"]);
    drop(home.run(["timeline", "--session", &session_id(2)]).failure_with_hint());
    assert!(!told(&home, &project, &["timeline"]).is_empty(), "the other session stays");
    let left = home.files().into_iter().find(|(_, bytes)| String::from_utf8_lossy(bytes).contains("pangolin"));
    assert_eq!(left.map(|(path, _)| path), None);
}

#[test]
fn nothing_that_a_terminal_obeys_and_no_pager_gets_into_a_pipe() {
    let mut home = Home::new();
    let project = home.project("zoo");
    let mut noted = Noted::new(&home, &project, 1);
    noted.prompt("Colours \u{1b}[31mred\u{202e}");
    noted.used("mcp__zoo__feed\u{1b}[2J", &json!({"animal": "otter\u{9b}2J"}), &json!("\u{1b}]0;title\u{7}"));
    noted.runs("printf '\u{1b}[31m'", "\u{1b}[31mred\u{9b}31m");
    home.set("PAGER", "echo paged");
    let found = asked(&home, &project, &["timeline"]);
    assert_eq!(found.as_array().map(Vec::len), Some(3));
    let ids: Vec<String> = found.as_array().expect("an array").iter().map(number).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    for arguments in [
        &["timeline"][..],
        &["observations", "search"],
        &[&["observations", "show"][..], &ids].concat(),
        &[&["observations", "timeline"][..], &ids].concat(),
        &["session", "list"],
        &["session", "show", &session_id(1)],
        &["observations", "show", ids[2], "--json"],
    ] {
        let text = told(&home, &project, arguments);
        assert!(!text.chars().any(|c| c.is_control() && c != '\n' || c == '\u{202e}'), "{arguments:?}: {text:?}");
        assert!(!text.contains("paged"), "{arguments:?}: {text:?}");
    }
}
