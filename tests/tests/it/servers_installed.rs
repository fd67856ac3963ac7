//! The MCP server in the settings of every client: registered by `install`, left out, moved to another program, checked by
//! `doctor`, and removed again.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tests::home::Home;
use tests::process::{self, WATCHDOG};

/// Each client, and its file with servers in the home.
const FILES: [(&str, &str); 13] = [
    ("claude-code", "claude/.claude.json"),
    ("codex", ".codex/config.toml"),
    ("gemini", ".gemini/settings.json"),
    ("cursor", ".cursor/mcp.json"),
    ("copilot", ".copilot/mcp-config.json"),
    ("droid", ".factory/mcp.json"),
    ("opencode", "xdg/config/opencode/opencode.json"),
    ("qwen", ".qwen/settings.json"),
    ("antigravity", ".gemini/config/mcp_config.json"),
    ("amp", "xdg/config/amp/settings.json"),
    ("goose", "xdg/config/goose/config.yaml"),
    ("pi", ".pi/agent/mcp.json"),
    ("zed", "xdg/config/zed/settings.json"),
];

/// Those that have no hooks.
const WITHOUT_HOOKS: [&str; 2] = ["antigravity", "zed"];

fn file(home: &Home, name: &str) -> PathBuf {
    let (_, file) = FILES.into_iter().find(|(client, _)| *client == name).expect("a client");
    if name == "claude-code" { home.agent().join(".claude.json") } else { home.path().join(file) }
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn write(file: &Path, text: &str) {
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("create the folder");
    std::fs::write(file, text).expect("write");
}

/// What `doctor` says of the servers.
fn doctor(home: &Home) -> Vec<(String, String)> {
    let run = home.run(["doctor", "--json"]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:#?}"));
    let checks = report["checks"].as_array().expect("checks").iter().filter(|it| it["check"] == "mcp");
    checks.map(|it| (it["status"].as_str().unwrap().to_owned(), it["message"].as_str().unwrap().to_owned())).collect()
}

#[test]
fn every_client_gets_the_server_and_loses_it() {
    for (name, _) in FILES {
        let home = Home::new();
        let file = file(&home, name);
        let report = home.json(["install", "--agent", name, "--json"]);
        assert_eq!(report["mcp"], json!(file), "{report:#}");
        assert_eq!(report["events"] == json!([]), WITHOUT_HOOKS.contains(&name), "{report:#}");
        let text = read(&file);
        assert!(text.contains(process::throughline().to_str().unwrap()) && text.contains("mcp"), "{text}");
        assert!(home.run(["install", "--agent", name]).success().stdout.starts_with("already installed in ~/"));
        assert_eq!(doctor(&home).len(), 1, "{:?}", doctor(&home));
        assert!(doctor(&home)[0].1.starts_with("the server is registered with "), "{:?}", doctor(&home));

        let removed = home.json(["uninstall", "--json"]);
        let gone = removed["files"].as_array().unwrap().iter().map(|it| (&it["settings"], &it["gone"]));
        let gone: Vec<_> = gone.filter(|(settings, _)| **settings == json!(file)).collect();
        assert_eq!(gone, [(&json!(file), &json!(true))], "{removed:#}");
        assert!(!file.exists());
    }
}

#[test]
fn what_others_wrote_stays_byte_by_byte() {
    let json = "// Mine.\n{\n\t\"KEY\": {\n\t\t\"docs\": { \"command\": \"docs\" }, // one\n\t},\n\t\"a\" : 1e2\n}\n";
    let strict = "{\"big\": 12345678901234567890.50,\r\n  \"KEY\":{\"docs\":{\"url\":\"http://localhost\"}}}";
    let toml = "# Mine.\nmodel = 'm' # one\n\n[mcp_servers.docs] # two\ncommand = \"docs\"\n\n[features]\nhooks  = true\n";
    let yaml = "# Mine.\nGOOSE_MODEL: m\nextensions:\n  docs:  # one\n    type: stdio\n    cmd: docs\nlast: 'x'\n";
    for (name, _) in FILES {
        let home = Home::new();
        let file = file(&home, name);
        let text = match name {
            "codex" => toml.to_owned(),
            "goose" => yaml.to_owned(),
            "claude-code" | "copilot" | "antigravity" | "pi" => strict.replace("KEY", "mcpServers"),
            "opencode" => json.replace("KEY", "mcp"),
            "amp" => json.replace("KEY", "amp.mcpServers"),
            "zed" => json.replace("KEY", "context_servers"),
            _ => json.replace("KEY", "mcpServers"),
        };
        write(&file, &text);
        drop(home.run(["install", "--agent", name]).success());
        assert!(read(&file).contains("docs") && read(&file).contains("throughline"), "{}", read(&file));
        // The user adds a line, so that no backup equals the current file.
        let late = ["#", "//"].into_iter().find(|mark| text.starts_with(mark)).map(|mark| format!("{mark} late\n"));
        let late = late.unwrap_or_default();
        write(&file, &format!("{}{late}", read(&file)));
        drop(home.run(["uninstall", "--agent", name]).success());
        assert_eq!(read(&file), format!("{text}{late}"), "{name}");
    }
}

#[test]
fn the_server_can_be_left_out_and_taken_out() {
    for name in ["claude-code", "codex", "gemini", "opencode"] {
        let home = Home::new();
        let file = file(&home, name);
        let has_server = || file.exists() && read(&file).contains("\"mcp\"");
        assert_eq!(home.json(["install", "--agent", name, "--no-mcp", "--json"])["mcp"], Value::Null);
        assert!(!has_server());
        drop(home.run(["install", "--agent", name]).success());
        assert!(has_server());
        let report = home.json(["install", "--agent", name, "--no-mcp", "--json"]);
        assert!(!has_server() && !report["events"].as_array().unwrap().is_empty(), "{report:#}");
    }
    let home = Home::new();
    drop(home.run(["install"]).success());
    // The plugin brings its own.
    assert_eq!(home.json(["install", "--plugin", "--json"])["mcp"], Value::Null);
    assert!(!home.agent().join(".claude.json").exists());
    let refused = home.run(["install", "--agent", "zed", "--no-mcp"]);
    assert!(refused.stderr.contains("Zed has no hooks that Throughline could use"), "{refused:#?}");
    let refused = home.run(["install", "--agent", "zed", "--scope", "project"]);
    assert!(refused.stderr.contains("leave out --scope"), "{refused:#?}");
}

#[test]
fn a_file_that_cannot_be_edited_is_named_and_nothing_is_done() {
    let home = Home::new();
    write(&file(&home, "codex"), "model = \n");
    let refused = home.run(["install", "--agent", "codex"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("config.toml is not valid: line 1, column "), "{refused:#?}");
    assert!(!home.path().join(".codex/hooks.json").exists(), "all files are read before one is written");
    // It has nothing of ours, so it does not hinder uninstalling.
    drop(home.run(["uninstall"]).success());
    assert_eq!(read(&file(&home, "codex")), "model = \n");
}

/// An upgrade by another way leaves the old program where it was. The new one takes over.
#[test]
fn a_newer_program_takes_over_what_calls_an_older_one() {
    let home = Home::new();
    let old = home.path().join("old/throughline");
    std::fs::create_dir_all(old.parent().unwrap()).unwrap();
    process::copy_program(&process::throughline(), &old);
    for name in ["claude-code", "codex", "opencode", "zed"] {
        let mut command = home.isolated(&old);
        command.args(["install", "--agent", name]);
        drop(process::run(command, Vec::new(), WATCHDOG).success());
    }
    let minimal = home.path().join(".cursor/hooks.json");
    write(
        &minimal,
        &format!(
            "{{\"version\": 1, \"hooks\": {{\"stop\": [{{\"command\": \"{} hook --agent cursor\"}}]}}}}",
            old.display()
        ),
    );
    let files = || {
        let hooks = ["claude/settings.json", ".codex/hooks.json", "xdg/config/opencode/plugins/throughline.js"];
        let hooks = hooks.map(|it| it.strip_prefix("claude/").map_or(home.path().join(it), |it| home.agent().join(it)));
        let servers = ["claude-code", "codex", "opencode", "zed"].map(|name| file(&home, name));
        hooks.into_iter().chain(servers).chain([minimal.clone()])
    };
    let calls = |program: &Path| files().filter(|file| read(file).contains(program.to_str().unwrap())).count();
    assert_eq!(calls(&old), 8);
    assert!(doctor(&home).iter().any(|(status, it)| status == "warn" && it.contains("calls a different program")));

    let planned = home.json(["install", "--dry-run", "--json"]);
    assert_eq!(calls(&old), 8, "a dry run changes nothing");
    let report = home.json(["install", "--json"]);
    assert_eq!(report["updated"], planned["updated"]);
    assert_eq!(report["updated"].as_array().map(Vec::len), Some(6), "{report:#}");
    assert_eq!((calls(&old), calls(&process::throughline())), (0, 8));
    assert!(doctor(&home).iter().all(|(status, _)| status == "ok"), "{:?}", doctor(&home));
    assert_eq!(home.json(["install", "--json"])["updated"], json!([]));
}

#[test]
fn the_doctor_sees_a_program_that_is_gone_and_one_too_many() {
    let mut home = Home::new();
    write(
        &file(&home, "zed"),
        "{\"context_servers\": {\"throughline\": {\"command\": \"/gone/throughline\", \"args\": [\"mcp\"]}}}",
    );
    assert_eq!(doctor(&home)[0].0, "fail");
    assert!(doctor(&home)[0].1.contains("/gone/throughline, which does not exist"), "{:?}", doctor(&home));

    let second = home.path().join("second");
    std::fs::create_dir_all(&second).unwrap();
    process::copy_program(&process::throughline(), &second.join("throughline"));
    // A launcher is no installation.
    let launcher = home.path().join(".local/bin/throughline");
    write(&launcher, "#!/bin/sh\n");
    std::fs::set_permissions(&launcher, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let warned = |home: &Home| home.run(["doctor"]).stdout.contains("2 installations: ");
    assert!(!warned(&home));
    let path = format!("{}:{}", second.display(), std::env::var("PATH").unwrap());
    home.set("PATH", &path);
    assert!(warned(&home), "{}", home.run(["doctor"]).stdout);
}

#[test]
fn a_program_that_was_fetched_to_run_once_is_warned_of() {
    let home = Home::new();
    for (folder, instead) in [
        (".npm/_npx/0a1b/node_modules/@throughline/linux-x64/bin", "npm install -g @throughline/throughline"),
        (".cache/uv/archive-v0/x/bin", "uv tool install throughline"),
    ] {
        let program = home.path().join(folder).join("throughline");
        std::fs::create_dir_all(program.parent().unwrap()).unwrap();
        process::copy_program(&process::throughline(), &program);
        let mut command = home.isolated(&program);
        command.arg("install");
        let run = process::run(command, Vec::new(), WATCHDOG).success();
        assert!(run.stderr.contains("is in a cache that may be emptied") && run.stderr.contains(instead), "{run:#?}");
    }
    assert!(!home.run(["install"]).success().stderr.contains("cache"));
}
