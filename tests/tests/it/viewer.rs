//! `throughline view`: the real viewer in a real browser, while real hooks run.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tests::home::Home;
use tests::process::{self, WATCHDOG};
use tests::session::Session;
use tests::transcript::session_id;
use tests::viewer::{Viewer, browser, drive};

/// How many texts try to become more than text.
const PAYLOADS: usize = 200;

/// Texts that would run, load or break out if they were ever taken for more than text.
fn payloads() -> Vec<String> {
    let vectors = [
        "<script>__ran=1</script>",
        "<img src=x onerror=__ran=1>",
        "<svg onload=__ran=1></svg>",
        "<iframe srcdoc='<script>parent.__ran=1</script>'></iframe>",
        "<a href=\"javascript:__ran=1\">click</a>",
        "[click](javascript:__ran=1)",
        "![x](http://stranger.test/x.png)",
        "<link rel=stylesheet href=http://stranger.test/x.css>",
        "<style>@import 'http://stranger.test/x.css';*{background:url(http://stranger.test/y)}</style>",
        "<base href=http://stranger.test/>",
        "<meta http-equiv=refresh content=0;url=http://stranger.test/>",
        "<form action=http://stranger.test/><button autofocus onfocus=__ran=1>x</button></form>",
        "<details open ontoggle=__ran=1><summary>x</summary></details>",
        "<video src=http://stranger.test/x onerror=__ran=1 autoplay></video>",
        "<object data=http://stranger.test/x></object><embed src=http://stranger.test/y>",
        "<math><mi xlink:href=javascript:__ran=1>x</mi></math>",
        "{{constructor.constructor('__ran=1')()}}",
        "${__ran=1}`;__ran=1;`",
        "&lt;script&gt;__ran=1&lt;/script&gt;",
        "\u{202e}>tpircs/<1=nar__>tpircs<\u{2066}",
    ];
    let around: [fn(&str) -> String; 10] = [
        str::to_owned,
        |it| format!("\">{it}"),
        |it| format!("'>{it}<!--"),
        |it| format!("</pre></textarea></title></bdi>{it}"),
        |it| format!("```html\n{it}\n```"),
        |it| it.replace("script", "ScRiPt").replace("<img", "<IMG").replace("on", "oN"),
        |it| it.replace('<', "<\u{a0}").replace("javascript", "java\tscript"),
        |it| format!("</script>{it}\u{2028}//"),
        |it| format!("]]>{it}<![CDATA["),
        |it| format!("x\" onmouseover=\"__ran=1\" style=\"position:fixed\" y=\"{it}"),
    ];
    let all = vectors.iter().flat_map(|vector| around.iter().map(|around| around(vector)));
    all.enumerate().map(|(n, text)| format!("payload {n} {text}")).collect()
}

/// Imports memories, one JSON line each.
pub(crate) fn import(home: &Home, lines: &[Value]) {
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    drop(process::run(home.command(["import", "--json", "-"]), text.join("\n").into_bytes(), WATCHDOG).success());
}

/// A session with a prompt, a failure and its cure, an edit and an answer.
fn work(home: &Home, project: &Path, id: u64) -> String {
    let mut session = Session::new(home, project, &session_id(id));
    session.exporter("Make the otter exporter write headers. From now on always use tabs in Python files.");
    session.id().to_owned()
}

/// Returns the project's memory of this type whose title contains this.
pub(crate) fn memory(home: &Home, project: &Path, kind: &str, part: &str) -> Value {
    let all = home.memories_of(project);
    let found = all.iter().find(|it| it["type"] == kind && it["title"].as_str().is_some_and(|title| title.contains(part)));
    found.unwrap_or_else(|| panic!("no {kind} has {part:?} in its title: {all:#?}")).clone()
}

#[test]
fn the_viewer_in_a_browser() {
    let Some((chromium, modules)) = browser("the_viewer_in_a_browser") else { return };
    let home = Home::new();
    let (project, hostile) = (home.project("shop"), home.project("hostile"));
    let first = work(&home, &project, 1);
    let second = Session::new(&home, &project, &session_id(2));
    second.start("startup");

    let note_in = |folder: &Path, more: &[&str]| {
        let mut command = home.command([&["note", "add", "--json"], more].concat());
        command.current_dir(folder);
        let run = process::run(command, Vec::new(), WATCHDOG).success();
        serde_json::from_str::<Value>(&run.stdout).expect("JSON")["id"].as_str().expect("an identifier").to_owned()
    };
    let note = |more: &[&str]| note_in(&project, more);
    let cause = note(&["--type", "root-cause", "--title", "Headers were lost", "The writer was reset."]);
    note(&["--type", "general", "--title", "How otters export", "--related", &cause, "Rows, then headers."]);

    let texts = payloads();
    assert_eq!(texts.len(), PAYLOADS);
    let lines: Vec<Value> = texts
        .iter()
        .map(|text| {
            json!({"project": hostile, "type": "learning", "title": text, "content": format!("{text}\n\n# {text}"),
                "keywords": [text], "files": [text]})
        })
        .collect();
    import(&home, &lines);
    import(
        &home,
        &[
            json!({"project": project, "type": "learning", "content": "토큰은 수달 캐시에 저장되고 한 시간마다 새로 고쳐진다"}),
            json!({"project": project, "type": "learning", "content": "カワウソの設定はサーバーの起動時に読み込まれる。"}),
            json!({"project": project, "type": "learning", "content": "The quokka queue was drained by hand in March"}),
            json!({"project": project, "type": "learning",
                "content": format!("The otter service once logged ghp_{}", "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW1xY3")}),
            json!({"project": project, "type": "learning",
                "content": format!("The otter bucket once had the key AKIA{}", "Q2W7E4R6T3Y5U2I7")}),
        ],
    );
    // Notes, each related to the one before: one for each vector.
    let mut before: Option<String> = None;
    let vectors: Vec<&String> = texts.iter().step_by(10).collect();
    for text in &vectors {
        let title = format!("--title={text}");
        let related = before.as_ref().map(|id| format!("--related={id}"));
        let words: Vec<&str> =
            ["--type=general", &title].into_iter().chain(related.as_deref()).chain(["--", text.as_str()]).collect();
        before = Some(note_in(&hostile, &words));
    }
    // A project that was imported by its name can be called anything.
    import(
        &home,
        &[
            json!({"project": "<img src=x onerror=__ran=1>", "type": "learning", "content": "The name of this project is hostile"}),
        ],
    );
    // What a hook stores of a session can be hostile too.
    let mut enemy = Session::new(&home, &hostile, &session_id(3));
    enemy.start("startup");
    enemy.prompt(&texts[1]);
    enemy.failed("toolu_9", &texts[2], &texts[0]);
    enemy.transcript.user(&texts[1]).answer(&texts[0]);
    enemy.stop(&texts[0]);

    // What two sessions learned, and what took another memory's place.
    work(&home, &project, 5);
    let rule = memory(&home, &project, "preference", "use tabs");
    let folder = project.to_str().expect("UTF-8");
    let older = "Capybaras are indented by two columns";
    let earlier = home.json(["memory", "save", "--json", "--type", "preference", "--project", folder, older]);
    let ids = [&earlier, &rule].map(|it| it["id"].as_str().expect("an id"));
    home.json(["memory", "supersede", "--json", "--relation", "amends", ids[0], ids[1]]);
    let (korean, japanese) = (memory(&home, &project, "learning", "수달"), memory(&home, &project, "learning", "カワウソ"));
    let policy = home.json(["memory", "show", "--json", rule["id"].as_str().expect("an id")]);

    let Some(spent) = crate::model::spend(&home, "the_viewer_in_a_browser") else { return };

    let readonly = Viewer::start(&home, &[]);
    let live = Session::new(&home, &project, &session_id(4));
    let failed = json!({"tool_name": "Bash", "tool_input": {"command": "ferret link"}, "tool_use_id": "toolu_22",
        "error": "ld: symbol not found", "is_interrupt": false, "duration_ms": 12});
    let command = home.command(["hook"]);
    let environment: serde_json::Map<String, Value> =
        command.get_envs().filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value?.to_str()?.into()))).collect();
    let bash = |id: &str, command: &str| {
        let response = json!({"stdout": "ok", "stderr": "", "interrupted": false, "isImage": false});
        live.use_of(id, "Bash", &json!({"command": command}), &response)
    };
    let setup = json!({
        "readonly": readonly.address, "chromium": chromium, "modules": modules,
        "program": process::throughline(), "environment": environment, "project": project, "hostile": hostile,
        "payloads": PAYLOADS, "session": first, "hostileSession": enemy.id(), "hostileNotes": vectors.len(),
        "memory": rule["id"], "life": [policy["policy"], policy["policy_digest"], policy["line_uuid"], first, second.id(), "said by the human", "startup",
            "confirmed 1 time: learned in 2 places", "Before and after it", "amends", older],
        "spent": spent, "korean": korean["id"], "japanese": japanese["id"],
        "liveSession": format!("session {}", &live.id()[..8]),
        "live": [
            {"payload": live.payload("SessionStart", &json!({"source": "startup"})), "shows": "Session started"},
            {"payload": live.payload("UserPromptSubmit", &json!({"permission_mode": "default", "prompt": "Rename the ferret module"})),
             "shows": "Rename the ferret module"},
            {"payload": bash("toolu_20", "cargo build --package ferret"), "shows": "cargo build --package ferret"},
            {"payload": bash("toolu_21", "cargo test --package ferret"), "shows": "cargo test --package ferret"},
            {"payload": live.payload("PostToolUseFailure", &failed), "shows": "ferret link"},
        ],
    });
    drive(&home, "browser.mjs", &setup);
}

#[test]
fn it_starts_at_once_and_says_where() {
    let home = Home::new();
    let began = Instant::now();
    let viewer = Viewer::start(&home, &[]);
    // Measured: some 30 ms of an unoptimized build. The bound is for busy machines.
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    let (_, token) = viewer.address.split_once("/#").expect("a token");
    assert_eq!(token.len(), 43);
}

#[test]
fn the_browser_gets_the_address_in_a_private_file_and_not_as_an_argument() {
    let home = Home::new();
    let folder = home.path().join("bin");
    std::fs::create_dir(&folder).expect("a folder");
    let (opener, told) = (folder.join("xdg-open"), home.path().join("told"));
    let script =
        format!("#!/bin/sh\n{{ echo \"$*\"; stat -c %a \"$1\"; cat \"$1\"; }} > {0}.new\nmv {0}.new {0}\n", told.display());
    std::fs::write(&opener, script).expect("write");
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).expect("make it a program");
    let path = std::env::var("PATH").expect("PATH");
    let mut command = home.command(["view"]);
    command.env("PATH", format!("{}:{path}", folder.display())).env("DISPLAY", ":0");
    let viewer = Viewer::of(command);
    home.eventually("the browser is opened", |_| told.is_file());
    let told = std::fs::read_to_string(told).expect("read");
    let mut lines = told.lines();
    let (argument, mode) = (lines.next().expect("an argument"), lines.next());
    let token = viewer.address.rsplit('#').next().expect("a token");
    assert!(argument.contains("throughline-view-") && !argument.contains(token), "{told}");
    assert_eq!(mode, Some("600"), "{told}");
    assert!(lines.any(|line| line.contains(&viewer.address)), "{told}");
}

#[test]
fn a_viewer_that_is_not_there_or_a_port_that_is_taken_is_said() {
    let home = Home::new();
    let other = Viewer::start(&home, &[]);
    let port = other.address.split(['/', ':']).nth(4).expect("a port").to_owned();
    let run = home.run(["view", "--no-open", "--port", &port]).failure_with_hint();
    assert!(run.stderr.contains("cannot listen on 127.0.0.1:"), "{run:#?}");
    let run = home.run(["view", "--project", "no-such-project"]).failure_with_hint();
    assert!(run.stderr.contains("no-such-project"), "{run:#?}");

    // A copy of the program alone, with no viewer beside it or in PATH.
    let copy = home.path().join("alone/throughline");
    std::fs::create_dir(home.path().join("alone")).expect("a folder");
    process::copy_program(&process::throughline(), &copy);
    let mut command = home.isolated(&copy);
    command.env("PATH", home.path()).args(["view"]);
    let run = process::run(command, Vec::new(), WATCHDOG).failure_with_hint();
    assert!(run.stderr.contains("throughline-viewer is not installed"), "{run:#?}");
}
