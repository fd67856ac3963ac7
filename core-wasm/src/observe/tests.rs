//! Tests with one call of each tool, in the shapes in which the client reports them.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn session() -> Session {
    Session {
        id: "s".to_owned(),
        project: "p".to_owned(),
        root: "/home/dev/shop".to_owned(),
        cwd: "/home/dev/shop/api".to_owned(),
        agent: "claude-code".to_owned(),
        model: None,
        now: 0,
        attributes: Vec::new(),
    }
}

fn event(tool: &str, input: &Value, output: &Value) -> ToolEvent {
    ToolEvent {
        tool: tool.to_owned(),
        use_id: "toolu_1".to_owned(),
        at: 0,
        input: input.to_string(),
        output: output.to_string(),
        succeeded: true,
        error: None,
        duration_ms: Some(3),
    }
}

fn seen(tool: &str, input: &Value, output: &Value) -> Observation {
    observe(&session(), &event(tool, input, output)).unwrap()
}

fn failed(tool: &str, input: &Value, error: &str) -> Observation {
    let event = ToolEvent { succeeded: false, error: Some(error.to_owned()), ..event(tool, input, &Value::Null) };
    observe(&session(), &event).unwrap()
}

#[test]
fn commands_with_how_they_ended() {
    let output = json!({"stdout": "\u{1b}[32mok\u{1b}[0m 12 passed", "stderr": "", "interrupted": false, "isImage": false});
    let run = seen("Bash", &json!({"command": "make test\nmake lint"}), &output);
    assert_eq!(run.summary, "Ran `make test make lint`: ok");
    assert_eq!(run.detail, "ok 12 passed");
    assert!(run.attributes.contains(&("exit_code".to_owned(), "0".to_owned())));

    let run = failed("Bash", &json!({"command": "make"}), "Exit code 3\nmake: *** no rule");
    assert_eq!(run.summary, "Ran `make`: exit 3");
    assert_eq!(run.detail, "Exit code 3\nmake: *** no rule");
    assert!(run.attributes.contains(&("exit_code".to_owned(), "3".to_owned())));

    let run = failed("Bash", &json!({"command": "make"}), "The user rejected it");
    assert_eq!(run.summary, "Ran `make`: failed");

    let output = json!({"stdout": "", "stderr": "", "backgroundTaskId": "b1"});
    assert_eq!(seen("Bash", &json!({"command": "make run"}), &output).summary, "Ran `make run`: in the background");
}

#[test]
fn our_own_output_is_not_observed() {
    let output = json!({"stdout": "## Session Memory\n- a", "stderr": ""});
    assert_eq!(seen("Bash", &json!({"command": "throughline context"}), &output).detail, "");
}

#[test]
fn files_by_their_path_in_the_project() {
    let file = json!({"type": "text", "file": {"filePath": "/home/dev/shop/src/a.rs", "content": "\n//! Prices.\nfn a() {}\n", "numLines": 3, "startLine": 1, "totalLines": 3}});
    let read = seen("Read", &json!({"file_path": "/home/dev/shop/src/a.rs"}), &file);
    assert_eq!(read.summary, "Read src/a.rs: //! Prices.");
    assert_eq!(read.files, ["src/a.rs"]);

    let part = json!({"type": "text", "file": {"content": "x", "numLines": 10, "startLine": 5, "totalLines": 90}});
    assert_eq!(seen("Read", &json!({"file_path": "a.rs"}), &part).summary, "Read api/a.rs (lines 5 to 14 of 90): x");

    let image = json!({"type": "image", "file": {"base64": "iVBORw0KGgo", "type": "image/png"}});
    let read = seen("Read", &json!({"file_path": "/elsewhere/a.png"}), &image);
    assert_eq!((read.summary.as_str(), read.detail.as_str()), ("Read /elsewhere/a.png (image)", ""));

    let missing = failed("Read", &json!({"file_path": "/home/dev/shopping/a"}), "File does not exist.");
    assert_eq!(missing.summary, "Read /home/dev/shopping/a: failed");
    assert_eq!(missing.detail, "File does not exist.");
}

#[test]
fn changes_with_their_size() {
    let patch = json!([{"oldStart": 3, "oldLines": 2, "newStart": 3, "newLines": 2, "lines": [" a", "-b", "+c", "+d"]}]);
    let edit = seen(
        "Edit",
        &json!({"file_path": "/home/dev/shop/a.rs", "old_string": "b", "new_string": "c\nd"}),
        &json!({"filePath": "/home/dev/shop/a.rs", "structuredPatch": patch}),
    );
    assert_eq!(edit.summary, "Edited a.rs (+2 −1)");
    assert_eq!(edit.detail, "@@ -3 +3 @@\n a\n-b\n+c\n+d\n");
    assert!(edit.attributes.contains(&("lines_added".to_owned(), "2".to_owned())));

    let edits = json!({"file_path": "a.rs", "edits": [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": ""}]});
    assert_eq!(seen("MultiEdit", &edits, &Value::Null).summary, "Edited api/a.rs (2 edits, +1 −2)");

    let write = seen(
        "Write",
        &json!({"file_path": "/home/dev/shop/b.txt", "content": "one\ntwo\n"}),
        &json!({"type": "create", "structuredPatch": []}),
    );
    assert_eq!(write.summary, "Created b.txt (2 lines)");
    assert_eq!(write.detail, "one\ntwo");

    let cell = seen(
        "NotebookEdit",
        &json!({"notebook_path": "/home/dev/shop/n.ipynb", "new_source": "x = 1", "edit_mode": "insert"}),
        &Value::Null,
    );
    assert_eq!(cell.summary, "Edited notebook n.ipynb (insert cell): ok");
}

#[test]
fn searches_name_the_files_with_matches() {
    let files = json!({"mode": "files_with_matches", "filenames": ["/home/dev/shop/a.rs", "b\\c.rs"], "numFiles": 2});
    let grep = seen("Grep", &json!({"pattern": "fn pay"}), &files);
    assert_eq!(grep.summary, "Searched for `fn pay`: 2 files");
    assert_eq!(grep.detail, "a.rs\napi/b/c.rs");

    let content = json!({"mode": "content", "numFiles": 0, "filenames": [], "numLines": 3, "content": "src/a.rs:3:x: 1\nsrc/a.rs:9:y\nD:\\x\\b.rs:1:z"});
    let grep = seen("Grep", &json!({"pattern": "x"}), &content);
    assert_eq!(grep.summary, "Searched for `x`: 3 matches in 2 files");
    assert_eq!(grep.detail, "api/src/a.rs\nD:/x/b.rs");

    let content = json!({"mode": "content", "filenames": [], "numLines": 1, "content": "4: \"test\": \"vitest\""});
    let grep = seen("Grep", &json!({"pattern": "test", "path": "/home/dev/shop/package.json"}), &content);
    assert_eq!(grep.summary, "Searched for `test` in package.json: 1 match");
    assert_eq!(grep.files, ["package.json"]);

    let glob =
        seen("Glob", &json!({"pattern": "**/*.md"}), &json!({"filenames": ["/home/dev/shop/README.md"], "numFiles": 1}));
    assert_eq!((glob.summary.as_str(), glob.detail.as_str()), ("Listed `**/*.md`: 1 file", "README.md"));
}

#[test]
fn agents_the_web_and_questions() {
    let done = json!({"status": "completed", "content": [{"type": "text", "text": "Found it."}]});
    let agent = seen("Agent", &json!({"description": "find the cache", "subagent_type": "Explore"}), &done);
    assert_eq!((agent.summary.as_str(), agent.detail.as_str()), ("Sub-agent Explore: find the cache (done)", "Found it."));
    let started = json!({"isAsync": true, "status": "async_launched"});
    assert_eq!(seen("Task", &json!({"description": "x"}), &started).summary, "Sub-agent agent: x (in the background)");

    let page = seen("WebFetch", &json!({"url": "https://example.com/a"}), &json!({"code": 200, "result": "# Title"}));
    assert_eq!((page.summary.as_str(), page.detail.as_str()), ("Fetched https://example.com/a: 200", "# Title"));

    let results = json!({"results": [{"content": [{"title": "Docs", "url": "https://example.com"}]}, "in short"]});
    let search = seen("WebSearch", &json!({"query": "sqlite wal"}), &results);
    assert_eq!(search.summary, "Searched the web for `sqlite wal`: ok");
    assert_eq!(search.detail, "Docs https://example.com\nin short");

    let answered = json!({"answers": {"Which database?": "SQLite"}});
    let asked = seen("AskUserQuestion", &json!({"questions": [{"question": "Which database?"}]}), &answered);
    assert_eq!(asked.summary, "Asked the user: Which database? → SQLite");

    let todos = json!({"todos": [{"content": "a", "status": "completed"}, {"content": "b", "status": "pending"}]});
    assert_eq!(seen("TodoWrite", &todos, &Value::Null).summary, "To-do list: 1 done, 0 in progress, 1 pending");
}

#[test]
fn tools_that_are_not_known() {
    let output = json!([{"type": "text", "text": "echo: x"}, {"type": "image", "source": {"data": "iVBORw0KGgo"}}]);
    let echo = seen("mcp__mem__echo", &json!({"q": "x"}), &output);
    assert_eq!((echo.summary.as_str(), echo.detail.as_str()), ("mem echo `x`: ok", "echo: x\n[image]"));
    assert_eq!(seen("Younger", &json!({}), &json!("done")).summary, "Younger: ok");
    assert!(observe(&session(), &event("ToolSearch", &json!({}), &json!({}))).is_none());
}

#[test]
fn secrets_are_removed_before_cutting() {
    let token = format!("glpat-{}", "Ab3dEf6hIj9kLm2nOp5q");
    for length in 80..130 {
        let command = format!("{} {token}", "x".repeat(length));
        let output = json!({"stdout": format!("{}{token}", "y ".repeat(5_000 - length)), "stderr": ""});
        let run = seen("Bash", &json!({"command": command}), &output);
        let all = format!("{run:?}");
        assert!(!all.contains("Ab3d") && !all.contains("Op5q"), "{all}");
    }
}

proptest! {
    #[test]
    fn anything_is_handled(
        tool in prop_oneof![
            Just("Bash"), Just("Read"), Just("Write"), Just("Edit"), Just("MultiEdit"), Just("Grep"), Just("Glob"), Just("Agent"),
            Just("WebFetch"), Just("WebSearch"), Just("NotebookEdit"), Just("AskUserQuestion"), Just("TodoWrite"), Just("mcp__a__b"), Just("")
        ],
        input in prop_oneof!["\\PC{0,60}", "[{}\\[\\]\":,a가0]{0,40}"],
        text in "\\PC{0,200}",
        path in "[a-z가/\\\\.:]{0,20}",
        error in prop::option::of("(Exit code )?\\PC{0,40}"),
    ) {
        let structured = json!({"file_path": path, "command": text, "pattern": text, "stdout": text, "filenames": [path], "content": text,
            "edits": [{"old_string": text}, 3], "questions": [], "answers": {"a": [1]}, "todos": [null], "structuredPatch": [{"lines": [text]}]});
        for (input, output) in [(input.clone(), input), (structured.to_string(), structured.to_string())] {
            let event = ToolEvent { input, output, succeeded: error.is_none(), error: error.clone(), ..event(tool, &Value::Null, &Value::Null) };
            if let Some(seen) = observe(&session(), &event) {
                prop_assert!(!seen.summary.contains('\n') && seen.summary.len() <= 4 * MAX_SUMMARY_CHARS);
                prop_assert!(seen.detail.len() <= compress::MAX_BYTES);
                prop_assert!(seen.detail.lines().count() <= compress::MAX_LINES);
            }
        }
    }
}

/// All that is derived from a failed command, as one text.
fn derived(command: &str) -> String {
    let run = failed("Bash", &json!({ "command": command }), "Exit code 7\nerror: refused");
    format!("{run:?}")
}

#[test]
fn attack_the_password_of_a_command_that_fails() {
    const COMMANDS: &[&str] = &[
        "curl -u admin:@ https://shop.example/api",
        "curl -fsSLu admin:@ https://shop.example/api",
        "redis-cli -a @ ping",
        "mongosh -u root -p @ admin",
        "unzip -P @ archive.zip",
        "openssl enc -aes-256-cbc -k @ -in a -out b",
        "http -a admin:@ GET shop.example/api",
        "ldapsearch -x -w @ -b dc=shop",
        "smbclient //files/share -U admin%@ -c ls",
        "deploy --password @ now",
        "deploy --db-passwd @ now",
        "deploy --secret @ now",
        "passwd admin <<< @",
        "passwd <<< '@'",
        "echo @ | docker login -u admin --password-stdin",
        "printf '%s' @ | docker login -u admin --password-stdin",
        "echo @ | sudo -S reboot",
        "sudo -S reboot <<< @",
        "login <private>@</private>",
        "curl -u admin:\u{1b}[31m@\u{1b}[0m https://shop.example/api",
        "redis-cli -a \u{200b}@ ping",
    ];
    for command in COMMANDS {
        for password in ["Summer2024!", "tr0ub4dor", "correcthorse"] {
            let derived = derived(&command.replace('@', password));
            assert!(!derived.contains(password), "{command}: {derived}");
        }
    }
}

#[test]
fn the_subject_of_a_command_keeps_its_words_but_no_placeholder() {
    let subject = |command: &str| {
        let run = failed("Bash", &json!({ "command": command }), "Exit code 7\nerror: refused");
        run.attributes.into_iter().find(|(name, _)| name == "subject").unwrap().1
    };
    assert_eq!(subject("cd api && cargo test -p shop"), "cargo test shop");
    assert_eq!(subject("curl -u admin:Summer2024! https://shop.example"), "curl");
}

#[test]
fn attack_a_password_as_the_first_argument_of_an_unknown_tool() {
    let run = seen("mcp__db__connect", &json!({"password": "Summer2024!", "user": "x"}), &json!("connected"));
    assert!(!format!("{run:?}").contains("Summer2024!"), "{run:?}");
}

#[test]
fn attack_colours_inside_a_token_that_is_the_name_of_a_field() {
    let question = format!("Is \u{1b}[31mAKIA\u{1b}[0m{} the key?", "Q7XK2M9PLT4WZ8RB");
    let input = json!({"questions": [{"question": question}]});
    let asked = seen("AskUserQuestion", &input, &json!({"answers": {question: "yes"}}));
    assert!(asked.summary.ends_with("→ yes") && !format!("{asked:?}").contains("Q7XK2M9P"), "{asked:?}");
}

#[test]
fn attack_colours_inside_a_token_of_a_tools_output() {
    let token = format!("\u{1b}[31mAKIA\u{1b}[0m{}", "Q7XK2M9PLT4WZ8RB");
    let run = seen("Bash", &json!({ "command": format!("echo {token}") }), &json!({"stdout": token, "stderr": ""}));
    assert!(!format!("{run:?}").contains("Q7XK2M9P"), "{run:?}");
    let run = failed("Bash", &json!({ "command": "x" }), &format!("Exit code 1\nerror: {token}"));
    assert!(!format!("{run:?}").contains("Q7XK2M9P"), "{run:?}");
}
