//! Installing with agents other than Claude Code: into missing and existing files, twice, as a dry run, into broken and
//! unwritable files, and uninstalling; and the findings of `doctor`. The registered lines are run as the agents run them.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tests::home::Home;
use tests::process::{self, WATCHDOG};

/// An agent, and how its settings are.
struct Agent {
    name: &'static str,
    /// Its file in the home.
    file: &'static str,
    /// Its file in a project.
    project: &'static str,
    /// Its name of a session's start, of the end of an answer, and how many events it has.
    start: &'static str,
    stop: &'static str,
    events: usize,
    /// Whether its files may have comments.
    comments: bool,
}

const fn agent(name: &'static str, file: &'static str, project: &'static str) -> Agent {
    Agent { name, file, project, start: "SessionStart", stop: "Stop", events: 8, comments: false }
}

const AGENTS: [Agent; 6] = [
    agent("codex", ".codex/hooks.json", ".codex/hooks.json"),
    Agent {
        stop: "AfterAgent",
        events: 6,
        comments: true,
        ..agent("gemini", ".gemini/settings.json", ".gemini/settings.json")
    },
    Agent {
        start: "sessionStart",
        stop: "stop",
        events: 9,
        comments: true,
        ..agent("cursor", ".cursor/hooks.json", ".cursor/hooks.json")
    },
    Agent {
        start: "sessionStart",
        stop: "agentStop",
        ..agent("copilot", ".copilot/hooks/throughline.json", ".github/hooks/throughline.json")
    },
    Agent { events: 7, comments: true, ..agent("droid", ".factory/settings.json", ".factory/settings.json") },
    Agent { comments: true, ..agent("qwen", ".qwen/settings.json", ".qwen/settings.json") },
];

impl Agent {
    fn is_flat(&self) -> bool {
        matches!(self.name, "cursor" | "copilot")
    }

    /// A hook of somebody else's at the end of an answer, as this agent has it, on one line.
    fn theirs(&self) -> String {
        match self.name {
            "copilot" => r#"{"type": "command", "bash": "notify-send 'done'"}"#.into(),
            "cursor" => r#"{"command": "notify-send 'done'"}"#.into(),
            _ => r#"{"matcher": "*", "hooks": [{"type": "command",  "command": "notify-send 'done'"}]}"#.into(),
        }
    }

    /// Files written by hand, each in a different layout.
    fn files(&self) -> Vec<String> {
        let (theirs, stop) = (self.theirs(), self.stop);
        let version = if self.is_flat() { "\"version\": 1, " } else { "" };
        let mut files = vec![
            format!("{{{version}\"hooks\":{{\"{stop}\":[{theirs}]}}}}"),
            format!(
                "{{ {version}\n\t\"big\" : 12345678901234567890.50,\n\t\"hooks\": {{ \"{stop}\": [\n\t\t{theirs} ] }} }}\n\n"
            ),
            format!("{{\r\n    {version}\r\n    \"hooks\": {{\r\n        \"{stop}\": [{theirs}]\r\n    }}\r\n}}"),
            format!("\u{feff}{{{version}\"hooks\": {{ }}, \"hooks\": {{\n  \"{stop}\": [\n\n{theirs}\n]}}}}"),
            "{\n}\n".into(),
            String::new(),
        ];
        if self.comments {
            files.push(format!(
                "// Mine.\n{{\n  {version}// one\n  \"hooks\": {{\n    /* two */ \"{stop}\": [\n      {theirs}, // three {{\n    ], // four\n  }},\n}}\n// five"
            ));
        }
        files
    }

    /// The line that is registered for an event.
    fn line(&self, text: &str, event: &str) -> String {
        let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let hook = value["hooks"][event].as_array().and_then(|it| it.last()).unwrap_or_else(|| panic!("{event}: {text}"));
        let hook = if self.is_flat() { hook } else { &hook["hooks"][0] };
        hook[if self.name == "copilot" { "bash" } else { "command" }].as_str().expect("a line").to_owned()
    }
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn write(file: &Path, text: &str) {
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("create the folder");
    std::fs::write(file, text).expect("write");
}

/// What the doctor says of the agents, a line each, with the hints.
fn doctor(home: &Home) -> Vec<String> {
    let run = home.run(["doctor", "--json"]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:#?}"));
    let checks = report["checks"].as_array().expect("checks").iter().filter(|it| it["check"] == "agents");
    checks
        .map(|it| {
            let text = |name: &str| it[name].as_str().unwrap_or_default().to_owned();
            format!("{}: {} | {}", text("status"), text("message"), text("hint"))
        })
        .collect()
}

#[test]
fn an_empty_home_gets_the_hooks_and_loses_them_again() {
    for agent in &AGENTS {
        let home = Home::new();
        let file = home.path().join(agent.file);
        let report = home.json(["install", "--agent", agent.name, "--json"]);
        assert_eq!((&report["agent"], &report["changed"]), (&json!(agent.name), &json!(true)));
        assert_eq!(report["events"].as_array().map(Vec::len), Some(agent.events), "{report:#}");
        let text = read(&file);
        assert_eq!(std::fs::metadata(&file).expect("the file").permissions().mode() & 0o777, 0o600);
        assert!(home.run(["install", "--agent", agent.name]).success().stdout.starts_with("already installed in ~/."));
        assert_eq!(read(&file), text, "the second time changed something");
        assert!(!home.agent().join("settings.json").exists(), "Claude Code's settings are not asked for");

        let minimal = home.json(["install", "--agent", agent.name, "--profile", "minimal", "--json"]);
        assert_eq!(minimal["events"].as_array().map(Vec::len), Some(3), "{minimal:#}");
        drop(home.run(["install", "--agent", agent.name, "--profile", "standard"]).success());

        let removed = home.json(["uninstall", "--agent", agent.name, "--json"]);
        assert_eq!(removed["files"][0]["gone"], true, "{removed:#}");
        assert!(!file.exists(), "it was not there before");
        let again = home.json(["uninstall", "--agent", agent.name, "--json"]);
        assert_eq!((&again["changed"], &again["files"]), (&json!(false), &json!([])));
    }
}

#[test]
fn what_others_wrote_stays_byte_by_byte() {
    for agent in &AGENTS {
        for text in agent.files() {
            let home = Home::new();
            let file = home.path().join(agent.file);
            write(&file, &text);
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).expect("chmod");

            let dry = home.run(["install", "--agent", agent.name, "--dry-run"]).success();
            assert!(dry.stdout.contains("\n+") && dry.stdout.contains("hook --agent"), "{dry:#?}");
            assert_eq!(read(&file), text, "a dry run changed something");

            drop(home.run(["install", "--agent", agent.name]).success());
            let with = read(&file);
            let mut at = 0;
            // What was there is there, in its order, but for a comma that was not needed before.
            for c in text.chars().filter(|c| !c.is_whitespace()) {
                at += with[at..].find(c).unwrap_or_else(|| panic!("{c:?} is lost: {with}")) + c.len_utf8();
            }
            assert!(text.is_empty() || text.len() < 5 || with.contains(&agent.theirs()), "{with}");
            assert_eq!(std::fs::metadata(&file).expect("the file").permissions().mode() & 0o777, 0o640);
            drop(home.run(["install", "--agent", agent.name]).success());
            assert_eq!(read(&file), with, "the second time changed something");

            drop(home.run(["uninstall", "--agent", agent.name]).success());
            assert_eq!(read(&file), text, "{}", agent.name);
        }
    }
}

#[test]
fn what_was_added_meanwhile_survives_uninstalling() {
    for agent in &AGENTS {
        let home = Home::new();
        let file = home.path().join(agent.file);
        let text = agent.files().swap_remove(2);
        write(&file, &text);
        drop(home.run(["install", "--agent", agent.name]).success());
        let with = read(&file);
        write(&file, &with.replacen('{', "{\"mine\": 1,", 1));
        drop(home.run(["uninstall"]).success());
        assert_eq!(read(&file), text.replacen('{', "{\"mine\": 1,", 1), "{}", agent.name);
    }
}

#[test]
fn what_cannot_be_edited_is_left() {
    for agent in &AGENTS {
        let home = Home::new();
        let file = home.path().join(agent.file);
        for text in ["{ not JSON", "[]", "{\"hooks\": 7}"] {
            write(&file, text);
            let failed = home.run(["install", "--agent", agent.name]).failure_with_hint();
            assert!(failed.stderr.contains("is not valid"), "{failed:#?}");
            assert_eq!(read(&file), text);
            // Nothing of ours is in it: leaving the other agents works.
            drop(home.run(["uninstall"]).success());
            drop(home.run(["uninstall", "--agent", agent.name]).failure_with_hint());
            let said = doctor(&home);
            assert!(said.iter().any(|it| it.starts_with("warn: ~/") && it.contains("is not valid")), "{said:#?}");
        }
        if !agent.comments {
            write(&file, "{ // mine\n}");
            drop(home.run(["install", "--agent", agent.name]).failure_with_hint());
            assert_eq!(read(&file), "{ // mine\n}");
        }
    }
}

#[test]
fn what_cannot_be_written_is_named() {
    for agent in &AGENTS {
        let home = Home::new();
        // A file stands where the agent's folder should.
        let folder = home.path().join(agent.file.split('/').next().expect("a folder"));
        write(&folder, "mine");
        let failed = home.run(["install", "--agent", agent.name]).failure_with_hint();
        assert!(failed.stderr.contains(agent.file), "{failed:#?}");
        assert_eq!(read(&folder), "mine");
        drop(home.run(["uninstall"]).success());
    }
    if is_root() {
        eprintln!("skipped: the superuser may write everywhere");
        return;
    }
    for agent in &AGENTS {
        let home = Home::new();
        let file = home.path().join(agent.file);
        write(&file, "{}");
        let folder = file.parent().expect("a folder");
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o500)).expect("chmod");
        let failed = home.run(["install", "--agent", agent.name]).failure_with_hint();
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700)).expect("chmod");
        assert!(failed.stderr.contains("cannot be written"), "{failed:#?}");
        assert_eq!(read(&file), "{}");
    }
}

fn is_root() -> bool {
    let home = Home::cold();
    process::run(home.isolated("id"), Vec::new(), WATCHDOG).success().stdout.starts_with("uid=0(")
}

/// A link of the program in a folder whose name a shell would take apart.
fn awkward(home: &Home) -> PathBuf {
    let folder = home.path().join("it's a \"$HOME\" \\ folder;");
    std::fs::create_dir_all(&folder).expect("create the folder");
    let program = folder.join("throughline");
    process::copy_program(&process::throughline(), &program);
    program
}

#[test]
fn the_registered_line_runs_whatever_the_path() {
    let home = Home::new();
    let program = awkward(&home);
    for agent in &AGENTS {
        let mut install = home.isolated(&program);
        install.args(["install", "--agent", agent.name]);
        drop(process::run(install, Vec::new(), WATCHDOG).success());
        let line = agent.line(&read(&home.path().join(agent.file)), agent.start);
        let words = ["hook", "--agent", agent.name, agent.start];
        let expected = &words[..if agent.name == "copilot" { 4 } else { 3 }];
        // How the shell parses it, as words and by running it.
        let mut shell = home.isolated("/bin/sh");
        shell.args(["-c", &format!("printf '%s\\n' {line}")]);
        let run = process::run(shell, Vec::new(), WATCHDOG).success();
        let mut lines = run.stdout.lines();
        assert_eq!(lines.next().map(Path::new), Some(program.as_path()));
        assert_eq!(lines.collect::<Vec<_>>(), expected);
        let mut shell = home.isolated("/bin/sh");
        shell.args(["-c", &line.replace(" hook --agent ", " --version ")]);
        assert_ne!(process::run(shell, Vec::new(), WATCHDOG).code, Some(127), "{line}");
        let said = doctor(&home).join("\n");
        assert!(said.contains("calls a different program"), "{said}");
        drop(home.run(["install", "--agent", agent.name]).success());
        assert!(!read(&home.path().join(agent.file)).contains("folder"), "it was not brought up to date");
    }
}

#[test]
fn links_into_dotfiles_are_followed() {
    for agent in &AGENTS {
        let home = Home::new();
        let file = home.path().join(agent.file);
        let real = home.path().join("dotfiles/it.json");
        write(&real, "{}\n");
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("create the folder");
        symlink(&real, &file).expect("link");
        drop(home.run(["install", "--agent", agent.name]).success());
        assert!(std::fs::symlink_metadata(&file).expect("the link").is_symlink());
        assert!(read(&real).contains("hook --agent"));
        drop(home.run(["uninstall"]).success());
        assert_eq!(read(&real), "{}\n");
        assert!(std::fs::symlink_metadata(&file).expect("the link").is_symlink());
    }
}

#[test]
fn a_project_has_files_of_its_own() {
    let home = Home::new();
    let project = home.project("shop");
    let run = |arguments: &[&str]| {
        let mut command = home.command(arguments);
        command.current_dir(&project);
        process::run(command, Vec::new(), WATCHDOG)
    };
    for agent in &AGENTS {
        drop(run(&["install", "--agent", agent.name, "--scope", "project"]).success());
        let text = read(&project.join(agent.project));
        let program = process::throughline();
        assert!(text.contains("throughline hook --agent") && !text.contains(&*program.to_string_lossy()), "{text}");
        assert!(!home.path().join(agent.file).exists());
        let local = run(&["install", "--agent", agent.name, "--scope", "local"]);
        if agent.name == "droid" {
            drop(local.success());
            assert!(project.join(".factory/settings.local.json").exists());
        } else {
            drop(local.failure_with_hint());
        }
    }
    drop(run(&["uninstall", "--scope", "project"]).success());
    for agent in &AGENTS {
        assert!(!project.join(agent.project).exists(), "{}: it was not there before", agent.name);
    }
}

#[test]
fn a_colleague_without_the_program_is_not_disturbed() {
    let home = Home::new();
    let project = home.project("shop");
    let run_in = |arguments: &[&str]| {
        let mut command = home.command(arguments);
        command.current_dir(&project);
        process::run(command, Vec::new(), WATCHDOG)
    };
    let installed = run_in(&["install", "--scope", "project"]).success();
    assert!(installed.stderr.contains("do nothing for those who have none"), "{installed:#?}");
    let file = project.join(".claude/settings.json");
    let settings: Value = serde_json::from_str(&read(&file)).expect("JSON");
    let hook = &settings["hooks"]["SessionStart"][0]["hooks"][0];
    let call = |path: &str| {
        let mut command = home.isolated(hook["command"].as_str().expect("a program"));
        command.args(hook["args"].as_array().expect("arguments").iter().filter_map(Value::as_str));
        command.env("PATH", path).env_remove("CARGO_HOME");
        process::run(command, b"{}".to_vec(), WATCHDOG).success()
    };
    let nothing = call("/usr/bin:/bin");
    assert_eq!((nothing.stdout.as_str(), nothing.stderr.as_str()), ("", ""), "{nothing:#?}");
    let bin = home.path().join("bin");
    write(&bin.join("throughline"), "#!/bin/sh\necho \"called: $*\"\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(bin.join("throughline"), mode).expect("it can be run");
    assert_eq!(call(&format!("{}:/usr/bin:/bin", bin.display())).stdout, "called: hook memory-load\n");
    // Who uninstalls is told that the project still has hooks.
    let removed = run_in(&["uninstall"]).success();
    assert!(removed.stdout.contains("still installed in ~/work/shop/.claude/settings.json"), "{removed:#?}");
    assert!(removed.stdout.contains("`throughline uninstall --scope project` in ~/work/shop"), "{removed:#?}");
    drop(run_in(&["uninstall", "--scope", "project"]).success());
    assert!(!file.exists(), "it was not there before");
    assert!(!run_in(&["uninstall"]).success().stdout.contains("still installed"));
}

#[test]
fn doctor_says_what_codex_trusts_and_when_hooks_ran() {
    let home = Home::new();
    let project = home.project("shop");
    let doctor = || home.run(["doctor"]).stdout;
    assert!(doctor().contains("no hook has run yet"));
    drop(home.run(["install", "--agent", "codex"]).success());
    let file = home.path().join(".codex/hooks.json");
    let events = [
        "session_start",
        "user_prompt_submit",
        "post_tool_use",
        "subagent_stop",
        "pre_compact",
        "post_compact",
        "stop",
        "session_end",
    ];
    let trust = |events: &[&str]| -> String {
        let state =
            |event: &&str| format!("[hooks.state.\"{}:{event}:0:0\"]\ntrusted_hash = \"sha256:00\"\n", file.display());
        events.iter().map(state).collect()
    };
    let config = home.path().join(".codex/config.toml");
    assert!(doctor().contains("they run once you trust them in `/hooks`"));
    write(&config, &trust(&events[..3]));
    assert!(doctor().contains("Codex trusts only 3 of them and does not run the others"), "{}", doctor());
    write(&config, &trust(&events));
    assert!(doctor().contains("Codex trusts them"), "{}", doctor());
    write(&config, &trust(&events).replacen("trusted_hash", "enabled = false\ntrusted_hash", 1));
    assert!(doctor().contains("Codex trusts only 7 of them"), "{}", doctor());

    let mut session = tests::session::Session::new(&home, &project, &tests::transcript::session_id(1));
    session.start("startup");
    session.transcript.user("From now on always use tabs").answer("Yes.");
    session.stop("Yes.");
    let said = doctor();
    let line = said.lines().find(|line| line.contains("Claude Code: ")).unwrap_or_default().to_owned();
    for ran in ["session start just now (told the agent nothing in ", "end of turn just now (told the agent nothing in "] {
        assert!(line.contains(ran), "{said}");
    }
    assert!(!line.contains("session end"), "{line}");
}

#[test]
fn folders_that_were_moved_are_found() {
    let mut home = Home::new();
    let place = home.path().join("elsewhere");
    for name in ["CODEX_HOME", "GEMINI_CLI_HOME", "COPILOT_HOME"] {
        home.set(name, &place.join(name).to_string_lossy());
    }
    for (agent, file) in [
        ("codex", "CODEX_HOME/hooks.json"),
        ("gemini", "GEMINI_CLI_HOME/.gemini/settings.json"),
        ("copilot", "COPILOT_HOME/hooks/throughline.json"),
    ] {
        drop(home.run(["install", "--agent", agent]).success());
        assert!(place.join(file).exists(), "{agent}");
    }
}

#[test]
fn droids_hooks_go_where_it_looks() {
    let home = Home::new();
    let (own, settings) = (home.path().join(".factory/hooks.json"), home.path().join(".factory/settings.json"));
    drop(home.run(["install", "--agent", "droid"]).success());
    assert!(!own.exists(), "it would hide the hooks in the settings");
    // droid itself moves hooks there.
    let text = "{\n  \"Stop\": [\n    {\n      \"hooks\": []\n    }\n  ]\n}\n";
    write(&own, text);
    drop(home.run(["install", "--agent", "droid"]).success());
    assert!(read(&own).contains("\n  \"SessionStart\": [") && !settings.exists());
    let said = doctor(&home);
    assert!(said.iter().any(|it| it.starts_with("ok: Factory droid: 7 registered in ~/.factory/hooks.json")), "{said:#?}");
    drop(home.run(["uninstall"]).success());
    assert_eq!(read(&own), text);
}

#[test]
fn the_plugin_is_claude_codes() {
    let home = Home::new();
    drop(home.run(["install", "--agent", "codex", "--plugin"]).failure_with_hint());
    let unknown = home.run(["install", "--agent", "emacs"]);
    assert_eq!(unknown.code, Some(2), "{unknown:#?}");
    assert!(unknown.stderr.contains("gemini"), "{unknown:#?}");
}

#[test]
fn uninstalling_takes_all_out() {
    let home = Home::new();
    drop(home.run(["install"]).success());
    for agent in &AGENTS {
        drop(home.run(["install", "--agent", agent.name]).success());
    }
    let dry = home.json(["uninstall", "--dry-run", "--json"]);
    assert_eq!(dry["files"].as_array().map(Vec::len), Some(12), "{dry:#}");
    drop(home.run(["uninstall", "--agent", "gemini"]).success());
    let removed = home.json(["uninstall", "--json"]);
    let mut names: Vec<&str> =
        removed["files"].as_array().expect("files").iter().filter_map(|it| it["agent"].as_str()).collect();
    // Hooks and the MCP server are in two files each.
    assert_eq!(names.len(), 11);
    names.dedup();
    assert_eq!(names, ["claude-code", "codex", "cursor", "copilot", "droid", "qwen"]);
    let run = home.run(["uninstall"]).success();
    assert!(run.stdout.starts_with("not installed in the settings of any agent; nothing was changed"), "{run:#?}");
}

/// The files in the home, without those of git, of the agent's sessions and of the harness.
fn traces(home: &Home) -> Vec<String> {
    let mut find = home.isolated("find");
    find.args([".", "-type", "f", "-not", "-path", "*/.git/*", "-not", "-path", "./throughline/*"]);
    let mut files: Vec<String> =
        process::run(find, Vec::new(), WATCHDOG).success().stdout.lines().map(str::to_owned).collect();
    files.sort();
    files
}

#[test]
fn after_the_page_on_uninstalling_nothing_is_left() {
    let page = std::fs::read_to_string(tests::component::workspace().join("docs/uninstall.md")).expect("the page");
    let home = Home::new();
    let project = home.project("shop");
    std::fs::write(home.agent().join("settings.json"), "{\"model\": \"opus\"}\n").expect("write");
    let before = traces(&home);
    let shell = |script: &str| {
        let mut command = home.isolated("sh");
        let folder = tests::process::throughline().parent().expect("a folder").to_path_buf();
        let path = std::env::join_paths(
            [folder].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
        )
        .expect("a path");
        // As it is for a user: nothing says where anything is.
        for name in ["THROUGHLINE_HOME", "CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"] {
            command.env_remove(name);
        }
        command.env("PATH", path).current_dir(&project).args(["-e", "-c", script]);
        process::run(command, Vec::new(), WATCHDOG).success()
    };
    drop(shell(
        "mkdir ~/.cache && cp -Rp ~/throughline/cache ~/.cache/throughline
         for agent in claude-code codex gemini cursor copilot droid qwen opencode pi amp goose antigravity zed; do
           throughline install --agent $agent
         done
         throughline install --plugin
         throughline memory save 'The otters hold hands'
         throughline config init
         mkdir -p ~/.local/share/bash-completion/completions
         throughline completions bash > ~/.local/share/bash-completion/completions/throughline
         throughline man --out ~/.local/share/man/man1",
    ));
    assert!(traces(&home).len() > before.len() + 20, "{:#?}", traces(&home));
    let scripts: Vec<&str> = page.split("```sh\n").skip(1).filter_map(|part| part.split("```").next()).collect();
    let said = shell(scripts[0]);
    for kept in ["~/.local/share/throughline", "~/.config/throughline", "~/.claude/settings.json.throughline-backup"] {
        assert!(said.stdout.contains(kept), "{kept}: {said:#?}");
    }
    for script in &scripts[1..] {
        drop(shell(script));
    }
    assert_eq!(traces(&home), before);
    assert_eq!(read(&home.agent().join("settings.json")), "{\"model\": \"opus\"}\n");
}

#[test]
fn the_user_is_told_what_the_agent_wants() {
    let home = Home::new();
    let codex = home.run(["install", "--agent", "codex"]).success();
    assert!(codex.stderr.contains("note: Codex CLI does not run a hook until you trust it: open `/hooks`"), "{codex:#?}");
    let cursor = || home.run(["install", "--agent", "cursor"]).success().stderr;
    assert!(!cursor().contains("Claude"));
    drop(home.run(["install"]).success());
    assert!(cursor().contains("note: Cursor may run the hooks in Claude Code's settings too"), "{}", cursor());
    // Copilot reads those of a repository alone.
    let project = home.project("shop");
    let copilot = || {
        let mut command = home.command(["install", "--agent", "copilot"]);
        command.current_dir(&project);
        process::run(command, Vec::new(), WATCHDOG).success().stderr
    };
    assert!(!copilot().contains("Claude"));
    write(&project.join(".claude/settings.json"), &read(&home.agent().join("settings.json")));
    assert!(copilot().contains("note: Copilot CLI may run the hooks in Claude Code's settings too"));
    let said = doctor(&home);
    assert!(said.iter().any(|it| it.starts_with("ok: Cursor may run the hooks in Claude Code's settings too")), "{said:#?}");
}

#[test]
fn the_doctor_knows_every_agent() {
    let titles = [
        ("codex", "Codex CLI"),
        ("gemini", "Gemini CLI"),
        ("cursor", "Cursor"),
        ("copilot", "Copilot CLI"),
        ("droid", "Factory droid"),
        ("qwen", "Qwen Code"),
    ];
    for (agent, (name, title)) in AGENTS.iter().zip(titles) {
        assert_eq!(agent.name, name);
        let home = Home::new();
        assert_eq!(doctor(&home), Vec::<String>::new(), "an agent that is not here is nothing to speak of");
        assert!(home.run(["doctor"]).stdout.contains("none is registered with Claude Code: nothing is remembered"));
        let file = home.path().join(agent.file);
        let folder = home.path().join(agent.file.split('/').next().expect("a folder"));
        std::fs::create_dir_all(&folder).expect("create the folder");
        let mends = format!("run `throughline install --agent {name}`");
        assert_eq!(
            doctor(&home),
            [format!("ok: {title}: no hook is registered; its sessions are not remembered | {mends}")]
        );

        drop(home.run(["install", "--agent", name]).success());
        let trust = if name == "codex" { "; they run once you trust them in `/hooks`" } else { "" };
        let well = format!("ok: {title}: {} registered in ~/{}{trust} | ", agent.events, agent.file);
        assert_eq!(doctor(&home), [well.as_str()]);
        // Somebody is remembered: that it is not Claude Code's sessions is no failure.
        drop(home.run(["doctor"]).success());

        let text = read(&file);
        let program = process::throughline();
        let gone = text.replace(&*program.to_string_lossy(), "/nowhere/throughline");
        write(&file, &gone);
        let said = doctor(&home);
        assert!(
            said[0].starts_with("fail: ")
                && said[0].contains("/nowhere/throughline, which does not exist")
                && said[0].ends_with(&mends),
            "{said:#?}"
        );
        write(&file, &text.replace(agent.stop, "Unheard"));
        let said = doctor(&home).join("\n");
        assert!(said.contains(&format!("warn: {title}: {} is not registered | {mends}", agent.stop)), "{said}");
        write(&file, &text.replace(&format!("--agent {name}"), "--agent claude-code"));
        let said = doctor(&home).join("\n");
        assert!(
            said.contains(&format!("warn: {title}: hooks are registered in the form of another version | {mends}")),
            "{said}"
        );
        drop(home.run(["install", "--agent", name]).success());
        assert_eq!(doctor(&home), [well.as_str()]);
        assert_eq!(read(&file), text);
    }
}

#[test]
fn the_doctor_sees_hooks_that_are_switched_off() {
    for (name, file, text, what) in [
        ("codex", ".codex/config.toml", "[features]\nhooks = false\n", "features.hooks"),
        ("droid", ".factory/settings.json", "{\"hooksDisabled\": true, // for now\n}", "hooksDisabled"),
        ("copilot", ".copilot/settings.json", "{\"disableAllHooks\": true}", "disableAllHooks"),
        ("gemini", ".gemini/settings.json", "{\"hooksConfig\": {\"enabled\": false}}", "hooksConfig.enabled"),
        ("gemini", ".gemini/settings.json", "{\"hooksConfig\": {\"disabled\": [\"throughline\"]}}", "hooksConfig.disabled"),
    ] {
        let home = Home::new();
        write(&home.path().join(file), text);
        drop(home.run(["install", "--agent", name]).success());
        let said = doctor(&home);
        let found = said.iter().find(|it| it.starts_with("fail: ")).unwrap_or_else(|| panic!("{name}: {said:#?}"));
        assert!(found.contains(&format!("~/{file} turns")) && found.ends_with(&format!("change `{what}` there")), "{found}");
    }
}
