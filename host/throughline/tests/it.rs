//! Tests commands through the binary, each in its own home: exit codes, output streams, and the files on disk afterwards.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

const EVENTS: [&str; 5] = ["SessionStart", "PreCompact", "PostCompact", "Stop", "SessionEnd"];

/// A home in which no command has run yet.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(home.path("work/app/.git")).unwrap();
        fs::write(home.path("work/app/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        home
    }

    fn path(&self, inside: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(inside)
    }

    fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_throughline"));
        command
            .args(arguments)
            .env_clear()
            .env("HOME", self.path(""))
            .env("THROUGHLINE_HOME", self.path("throughline"))
            .current_dir(self.path("work/app"))
            .stdin(Stdio::null());
        command
    }

    fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Ran {
        Ran::from(self.command(arguments).output().unwrap())
    }

    /// Runs a command that must succeed and print JSON.
    fn json<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Value {
        let ran = self.run(arguments);
        assert_eq!(ran.code, 0, "{ran:#?}");
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:#?}"))
    }

    fn settings(&self) -> PathBuf {
        self.path(".claude/settings.json")
    }

    fn write_settings(&self, text: &str) {
        fs::create_dir_all(self.path(".claude")).unwrap();
        fs::write(self.settings(), text).unwrap();
    }

    /// Writes a transcript with a question and its answer below Claude Code's folder.
    fn transcript(&self, name: &str, session: &str, question: &str) -> PathBuf {
        let cwd = self.path("work/app");
        let line = |uuid: u32, kind: &str, message: Value| {
            json!({"type": kind, "uuid": format!("{session}-{uuid}"), "parentUuid": null, "isSidechain": false,
                "sessionId": session, "cwd": cwd, "timestamp": "2025-06-02T09:00:00.000Z", "message": message})
        };
        let lines = [
            line(1, "user", json!({"role": "user", "content": question})),
            line(
                2,
                "assistant",
                json!({"role": "assistant", "id": "m", "model": "claude", "stop_reason": "end_turn",
                    "content": [{"type": "text", "text": "It is done: the heron counter counts herons."}]}),
            ),
        ];
        let file = self.path(".claude/projects/app").join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, lines.map(|line| format!("{line}\n")).concat()).unwrap();
        file
    }
}

#[derive(Debug)]
struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    /// Panics unless the command failed with exit code 1, printed nothing on stdout, and printed an error with a hint
    /// on stderr.
    fn failed(&self, words: &str) {
        assert_eq!((self.code, self.stdout.as_str()), (1, ""), "{self:#?}");
        assert!(self.stderr.starts_with("error: ") && self.stderr.contains(words), "{self:#?}");
        assert!(self.stderr.lines().any(|line| line.starts_with("hint: ")), "{self:#?}");
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn install_registers_every_hook_once_and_prepares_all_that_they_need() {
    let home = Home::new();
    home.write_settings("{\n  \"model\": \"opus\"\n}\n");
    let before = fs::read_to_string(home.settings()).unwrap();

    let dry = home.run(&["install", "--dry-run"]);
    assert!(dry.code == 0 && dry.stdout.contains("+    \"SessionStart\": ["), "{dry:#?}");
    assert_eq!(fs::read_to_string(home.settings()).unwrap(), before);
    assert!(!home.path("throughline").exists());

    let ran = home.run(&["install"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let settings: Value = serde_json::from_str(&fs::read_to_string(home.settings()).unwrap()).unwrap();
    for event in EVENTS {
        let handler = &settings["hooks"][event][0]["hooks"][0];
        assert!(Path::new(handler["command"].as_str().unwrap()).is_absolute());
        assert_eq!(handler["args"][0], "hook");
    }
    for folder in ["throughline/data", "throughline/config", "throughline/cache"] {
        assert_eq!(mode(&home.path(folder)), 0o700, "{folder}");
    }
    assert_eq!(mode(&home.path("throughline/data/throughline.db")), 0o600);
    assert!(fs::read_dir(home.path("throughline/cache/components")).unwrap().count() > 0);
    let backup = home.path(".claude/settings.json.throughline-backup");
    assert_eq!(fs::read_to_string(&backup).unwrap(), before);

    let installed = fs::read_to_string(home.settings()).unwrap();
    let again = home.run(&["install"]);
    assert!(again.code == 0 && again.stdout.contains("nothing was changed"), "{again:#?}");
    assert_eq!(fs::read_to_string(home.settings()).unwrap(), installed);

    let report = home.json(&["uninstall", "--json"]);
    assert_eq!(report["changed"], true);
    assert_eq!(fs::read_to_string(home.settings()).unwrap(), before);
    assert!(home.run(&["uninstall"]).stdout.contains("nothing was changed"));
}

#[test]
fn install_leaves_settings_that_it_does_not_understand() {
    let home = Home::new();
    for text in ["{\n  // mine\n}", "[]", "{\"hooks\": []}", "{"] {
        home.write_settings(text);
        home.run(&["install"]).failed("is not valid");
        home.run(&["uninstall"]).failed("is not valid");
        assert_eq!(fs::read_to_string(home.settings()).unwrap(), text);
    }
    assert_eq!(fs::read_dir(home.path(".claude")).unwrap().count(), 1);
}

#[test]
fn install_for_a_project_and_for_oneself_in_it() {
    let home = Home::new();
    fs::create_dir(home.path("work/app/src")).unwrap();
    let mut command = home.command(&["install", "--scope", "local"]);
    assert!(command.current_dir(home.path("work/app/src")).status().unwrap().success());
    assert!(home.path("work/app/.claude/settings.local.json").is_file());
    let shared = home.run(&["install", "--scope", "project"]);
    assert!(shared.stderr.contains("--scope local"), "{shared:#?}");
    assert!(home.path("work/app/.claude/settings.json").is_file());
    assert!(!home.settings().exists());
    // Two registrations of one hook are one too many, and the doctor reports it.
    let doctor = home.run(&["doctor"]);
    assert!(doctor.stdout.contains("Stop is registered 2 times"), "{doctor:#?}");
}

#[test]
fn the_registered_program_is_the_one_on_the_path() {
    let home = Home::new();
    fs::create_dir(home.path("bin")).unwrap();
    let link = home.path("bin/throughline");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_throughline"), &link).unwrap();
    let mut command = home.command(&["install", "--json", "--dry-run"]);
    let output = command.env("PATH", home.path("bin")).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["program"], json!(link));
}

#[test]
fn without_a_database_commands_say_what_to_do() {
    let home = Home::new();
    for arguments in [
        &["memory", "search", "x", "--json"][..],
        &["memory", "list"],
        &["memory", "stats", "--json"],
        &["memory", "show", "abcdef"],
        &["memory", "delete", "abcdef"],
        &["memory", "gc"],
        &["context", "--source", "startup"],
    ] {
        home.run(arguments).failed("there is no memory yet");
    }
    assert!(!home.path("throughline").exists(), "asking makes nothing");
}

#[test]
fn what_is_not_a_command_line_is_told_so() {
    let home = Home::new();
    for arguments in [
        &["memory"][..],
        &["memory", "search"],
        &["memory", "list", "--limit", "0"],
        &["memory", "list", "--project", ".", "--all-projects"],
        &["context", "--source", "dream"],
        &["nonsense"],
    ] {
        let ran = home.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:#?}");
    }
    assert_eq!(home.run(&["--version"]).code, 0);
    assert_eq!(home.run(&["hook", "--help"]).code, 0);
}

#[test]
fn transcripts_are_read_once_and_searched() {
    let home = Home::new();
    let first = home.transcript(
        "61d299fc-d26a-498a-b04f-cc8059ceb9a2.jsonl",
        "61d299fc-d26a-498a-b04f-cc8059ceb9a2",
        "Write a heron counter",
    );
    home.transcript("nested/b.jsonl", "session-b", "From now on always count herons twice");
    let report = home.json(&["ingest", "--json"]);
    let files = report["files"].as_array().unwrap();
    assert_eq!(files.len(), 2);
    assert_eq!(files[0]["path"], json!(first));
    assert_eq!(files[0]["session_id"], "61d299fc-d26a-498a-b04f-cc8059ceb9a2");
    assert_eq!(files[0]["project"], json!(home.path("work/app")));
    assert_eq!((&files[0]["lines"], &files[0]["malformed"]), (&json!(2), &json!(0)));
    assert_eq!(files[0]["bytes"], fs::metadata(&first).unwrap().len());
    assert!(report["totals"]["memories"].as_u64().unwrap() > 0, "{report:#}");

    let again = home.json(&["ingest", "--json"]);
    assert_eq!(again["totals"]["bytes"], 0);
    assert_eq!(again["files"][0]["session_id"], files[0]["session_id"]);

    let found = home.json(&["memory", "search", "heron", "counter", "--json", "--limit", "3"]);
    let found = found.as_array().unwrap();
    assert!((1..=3).contains(&found.len()));
    let best = &found[0];
    assert!(best["score"].as_f64().unwrap() > 0.0);
    assert_eq!(best["project"], json!(home.path("work/app")));
    assert!(best["created_at"].as_str().unwrap().starts_with("2025-06-02T09:00:00"));
    for field in ["id", "type", "title", "content", "session_id"] {
        assert!(best[field].is_string(), "{field} in {best:#}");
    }
    assert!(best["files"].is_array());

    let elsewhere = home.path("work");
    let elsewhere = elsewhere.to_str().unwrap();
    assert_eq!(home.json(&["memory", "search", "heron", "--json", "--project", elsewhere]), json!([]));
    assert_eq!(home.json(&["memory", "list", "--json", "--session", "61d2", "--type", "plan"]), json!([]));
    home.run(&["memory", "list", "--type", "nothing"]).failed("there is no type \"nothing\"");
    let all = home.json(&["memory", "search", "heron", "--json", "--all-projects", "--session", "session-b"]);
    assert!(all.as_array().unwrap().iter().all(|memory| memory["session_id"] == "session-b"));
}

#[test]
fn a_memory_is_shown_and_deleted_by_the_beginning_of_its_name() {
    let home = Home::new();
    home.transcript("a.jsonl", "session-a", "From now on always count herons twice");
    home.json(&["ingest", "--json"]);
    let list = home.json(&["memory", "list", "--json", "--limit", "100"]);
    let id = list[0]["id"].as_str().unwrap();
    let shown = home.json(&["memory", "show", &id[..6], "--json"]);
    assert_eq!((&shown["id"], &shown["policy"]), (&json!(id), &json!("default")));
    assert!(home.run(&["memory", "show", id]).stdout.contains("session-a"));
    home.run(&["memory", "show", "ffff"]).failed("there is no memory ffff");
    home.run(&["memory", "show", ""]).failed("too short");
    // If one of the memories does not exist, none is deleted.
    home.run(&["memory", "delete", id, "ffffffff"]).failed("ffffffff");
    let before = home.json(&["memory", "stats", "--json"]);
    let gone = home.json(&["memory", "delete", id, id, "--json"]);
    assert_eq!(gone["deleted"].as_array().unwrap().len(), 1);
    let after = home.json(&["memory", "stats", "--json"]);
    assert_eq!(after["memories"].as_u64().unwrap() + 1, before["memories"].as_u64().unwrap());
    assert_eq!(before["sessions"], 1);
    assert!(before["types"].is_object() && before["events"].is_u64());
}

#[test]
fn a_bad_file_does_not_keep_the_others_from_being_read() {
    let home = Home::new();
    home.transcript("a.jsonl", "session-a", "Count the herons");
    let noise = home.path(".claude/projects/app/noise.jsonl");
    fs::write(&noise, "this\nis\nno transcript\n").unwrap();
    let folder = home.run(&["ingest"]);
    assert_eq!(folder.code, 0, "{folder:#?}");
    assert!(folder.stderr.contains("warning: ~/.claude/projects/app/noise.jsonl"), "{folder:#?}");
    for named in [noise, home.path("not/there.jsonl")] {
        let ran = home.run(&[OsStr::new("ingest"), named.as_os_str()]);
        assert_eq!(ran.code, 1, "{ran:#?}");
        assert!(ran.stderr.contains("\nerror: ") && ran.stderr.contains("\nhint: "), "{ran:#?}");
    }
    assert_eq!(home.json(&["memory", "stats", "--json"])["sessions"], 1);
}

#[test]
fn nothing_that_a_terminal_would_obey_is_printed() {
    let home = Home::new();
    home.transcript("a.jsonl", "session-a", "From now on always write \u{1b}[31mred\u{9b}2J\u{7} herons\u{202e}");
    home.json(&["ingest", "--json"]);
    for arguments in [
        &["memory", "list", "--type", "preference,turn"][..],
        &["memory", "search", "herons"],
        &["memory", "list", "--json", "--type", "preference,turn"],
        &["context", "--source", "startup"],
    ] {
        let ran = home.run(arguments);
        assert_eq!(ran.code, 0, "{ran:#?}");
        let bad = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}';
        assert!(!ran.stdout.contains(bad), "{ran:#?}");
    }
    assert!(home.run(&["memory", "list", "--type", "turn"]).stdout.contains("herons"));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let home = Home::new();
    let mut child = home.command(&["completions", "bash"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap().as_str()), (Some(0), ""));
}

#[test]
fn context_shows_what_a_session_would_be_told_and_notes_nothing() {
    let home = Home::new();
    home.transcript("a.jsonl", "session-a", "From now on always count herons twice");
    home.json(&["ingest", "--json"]);
    let before = home.json(&["memory", "stats", "--json"]);
    let ran = home.run(&["context", "--source", "startup"]);
    assert!(ran.code == 0 && ran.stdout.contains("herons"), "{ran:#?}");
    assert!(ran.stderr.contains("UTF-16 units"), "{ran:#?}");
    let shown = home.json(&["context", "--source", "startup", "--json"]);
    let text = shown["text"].as_str().unwrap();
    assert_eq!(shown["utf16_units"].as_u64().unwrap(), text.encode_utf16().count() as u64);
    assert_eq!(home.json(&["context", "--source", "resume", "--json"])["session_id"], "session-a");
    assert_eq!(home.json(&["memory", "stats", "--json"]), before);
}

#[test]
fn old_memories_are_collected_and_counted_before() {
    let home = Home::new();
    home.transcript("a.jsonl", "session-a", "Count the herons");
    home.json(&["ingest", "--json"]);
    fs::write(home.path("throughline/config/config.toml"), "[gc]\nkeep = 0\n").unwrap_or_else(|_| {
        fs::create_dir_all(home.path("throughline/config")).unwrap();
        fs::write(home.path("throughline/config/config.toml"), "[gc]\nkeep = 0\n").unwrap();
    });
    let stored = home.json(&["memory", "stats", "--json"])["memories"].as_u64().unwrap();
    let dry = home.json(&["memory", "gc", "--dry-run", "--json"]);
    assert!(dry["deleted"].as_u64().unwrap() > 0 && dry["dry_run"] == true, "{dry}");
    assert_eq!(home.json(&["memory", "stats", "--json"])["memories"], stored);
    assert_eq!(home.json(&["memory", "gc", "--json", "--max-age-days", "100000"])["deleted"], 0);
    let done = home.json(&["memory", "gc", "--json"]);
    assert_eq!(done["deleted"], dry["deleted"]);
}

#[test]
fn the_configuration_is_shown_written_once_and_named_where_it_is_wrong() {
    let home = Home::new();
    assert_eq!(home.json(&["config", "show", "--json"])["context"]["budget"], 9_500);
    assert_eq!(home.run(&["config", "init"]).code, 0);
    let file = home.path("throughline/config/config.toml");
    assert_eq!(mode(&file), 0o600);
    home.run(&["config", "init"]).failed("exists");
    fs::write(&file, "[context]\nbudgte = 1\n").unwrap();
    // Commands that only read go on with the defaults, because no good configuration is known yet.
    let shown = home.run(&["config", "show"]);
    assert!(shown.code == 0 && shown.stdout.contains("budget = 9500"), "{shown:#?}");
    assert!(shown.stderr.contains("budgte") && shown.stderr.contains("the default settings are in force"), "{shown:#?}");
    home.run(&["memory", "gc"]).failed("config.toml");
    let doctor = home.run(&["doctor"]);
    assert!(doctor.code == 1 && doctor.stdout.contains("fail  configuration"), "{doctor:#?}");
    // Uninstalling works with a broken configuration.
    assert_eq!(home.run(&["uninstall"]).code, 0);
}

#[test]
fn the_doctor_is_content_with_a_sound_installation_and_names_what_is_broken() {
    let home = Home::new();
    home.transcript("a.jsonl", "session-a", "Count the herons");
    assert_eq!(home.run(&["install"]).code, 0);
    assert_eq!(home.run(&["ingest"]).code, 0);
    let sound = home.run(&["doctor", "--json"]);
    let report: Value = serde_json::from_str(&sound.stdout).unwrap();
    assert!(sound.code == 0 && report["status"] == "ok", "{report:#}");
    let says = |words: &str, code: i32| {
        let ran = home.run(&["doctor"]);
        assert!(ran.code == code && ran.stdout.contains(words), "{words}: {ran:#?}");
    };

    let settings = fs::read_to_string(home.settings()).unwrap();
    for (from, to, words, code) in [
        ("{\n  \"hooks\"", "{\n  \"disableAllHooks\": true,\n  \"hooks\"", "turns all hooks off", 1),
        ("\"Stop\"", "\"Elsewhere\"", "Stop is not registered", 0),
        ("\"timeout\": 5\n", "\"timeout\": 1\n", "Stop has a timeout of less than 5 s", 0),
        (env!("CARGO_BIN_EXE_throughline"), "/gone/throughline", "which does not exist or cannot be run", 1),
    ] {
        assert!(settings.contains(from), "{from}");
        home.write_settings(&settings.replace(from, to));
        says(words, code);
    }
    home.write_settings(&settings);

    let compiled: Vec<PathBuf> = fs::read_dir(home.path("throughline/cache/components"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "cwasm"))
        .collect();
    fs::write(&compiled[0], "damaged").unwrap();
    says("it was compiled now", 0);
    says("is valid", 0);

    fs::set_permissions(home.path("throughline/data"), fs::Permissions::from_mode(0o755)).unwrap();
    says("other users can read ~/throughline/data", 0);
    fs::set_permissions(home.path("throughline/data"), fs::Permissions::from_mode(0o700)).unwrap();

    let mut hook = home.command(&["hook"]);
    assert!(hook.status().unwrap().success());
    says("0 errors and 1 warning from hooks in the last 24 hours; the latest: a hook was called with invalid input", 0);

    fs::write(home.path("throughline/data/throughline.db"), "x".repeat(8192)).unwrap();
    for side in ["-wal", "-shm"] {
        let _ = fs::remove_file(home.path(&format!("throughline/data/throughline.db{side}")));
    }
    says("is damaged", 1);
}

#[test]
fn the_demonstration_tells_the_next_session_and_leaves_nothing() {
    let home = Home::new();
    fs::create_dir(home.path("tmp")).unwrap();
    let mut command = home.command(&["demo", "--json"]);
    let ran = Ran::from(command.env("TMPDIR", home.path("tmp")).output().unwrap());
    assert_eq!(ran.code, 0, "{ran:#?}");
    let played: Value = serde_json::from_str(&ran.stdout).unwrap();
    let steps = played["steps"].as_array().unwrap();
    let events: Vec<&str> = steps.iter().map(|step| step["event"].as_str().unwrap()).collect();
    assert_eq!(
        events,
        [
            "install",
            "SessionStart",
            "Stop",
            "Stop",
            "PreCompact",
            "SessionStart",
            "PostCompact",
            "Stop",
            "SessionEnd",
            "SessionStart"
        ]
    );
    let told = steps[9]["context"].as_str().unwrap();
    for wanted in ["make test", "csv module", "Quote every field of the order export", "docs/export.md"] {
        assert!(told.contains(wanted), "`{wanted}` is not in what the next session is told:\n{told}");
    }
    assert!(steps[5]["context"].as_str().unwrap().contains("make test"), "what was saved comes back after a compaction");
    assert_eq!(fs::read_dir(home.path("tmp")).unwrap().count(), 0);
    assert!(!home.path("throughline").exists() && !home.path(".claude").exists());
}

#[test]
fn completions_and_manual_pages_are_made() {
    let home = Home::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        assert!(home.run(&["completions", shell]).stdout.contains("throughline"), "{shell}");
    }
    assert!(home.run(&["man"]).stdout.contains(".TH throughline 1"));
    assert_eq!(home.run(&["man", "--out", "pages/man1"]).code, 0);
    assert!(home.path("work/app/pages/man1/throughline-memory-search.1").is_file());
}
