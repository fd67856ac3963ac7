//! The plugin's scripts, without the client: where they find the program, what they say where it is not, and when they are silent.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tests::home::Home;
use tests::process::{self, Finished, WATCHDOG};
use tests::transcript::session_id;

fn plugin() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugin").canonicalize().expect("the plugin")
}

/// The script, called as the client calls it.
fn script(home: &Home, script: &Path, arguments: &[&str]) -> Command {
    let mut command = home.isolated("/bin/sh");
    command.arg(script).args(arguments);
    command
}

fn hook(home: &Home, root: &Path, event: &str, more: &Value) -> Finished {
    let project = home.work().join("shop");
    let mut payload = json!({"session_id": session_id(1), "cwd": project, "hook_event_name": event});
    payload.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    let mut command = script(home, &root.join("scripts/hook.sh"), &[event]);
    command.env("CLAUDE_PROJECT_DIR", project);
    process::run(command, format!("{payload}\n").into_bytes(), WATCHDOG).success()
}

#[test]
fn the_program_is_found_where_people_install_it() {
    for place in ["bin", ".cargo/bin", ".local/bin", "with a space/bin"] {
        let mut home = Home::new();
        let path = home.path().join(if place.starts_with('.') { "none" } else { place });
        // The plugin's own folder comes first, as in the shell of its agent, and leads nowhere.
        let own = plugin().join("bin");
        home.set("PATH", &format!("relative:{}:{}:/usr/bin:/bin", own.display(), path.display()));
        let version = || process::run(script(&home, &own.join("throughline"), &["--version"]), Vec::new(), WATCHDOG);
        let missing = version();
        assert_eq!(missing.code, Some(127), "{missing:#?}");
        assert!(missing.stderr.contains("hint: cargo install"), "{missing:#?}");
        let folder = home.path().join(place);
        std::fs::create_dir_all(&folder).expect("create the folder");
        symlink(process::throughline(), folder.join("throughline")).expect("link the program");
        assert!(version().success().stdout.starts_with("throughline "), "{place}");
    }
}

#[test]
fn where_it_is_not_installed_a_session_is_told_once() {
    let mut home = Home::new();
    home.set("PATH", "/usr/bin:/bin");
    let told = hook(&home, &plugin(), "SessionStart", &json!({"source": "startup"}));
    let said: Value = serde_json::from_str(&told.stdout).unwrap_or_else(|error| panic!("{error}: {told:#?}"));
    assert_eq!(said.as_object().map(serde_json::Map::len), Some(1), "{said:#}");
    assert!(said["systemMessage"].as_str().is_some_and(|it| it.contains("cargo install")), "{said:#}");
    for (event, more) in
        [("SessionStart", json!({"source": "compact"})), ("Stop", json!({})), ("UserPromptSubmit", json!({}))]
    {
        let silent = hook(&home, &plugin(), event, &more);
        assert_eq!((silent.stdout.as_str(), silent.stderr.as_str()), ("", ""), "{event}");
    }
}

#[test]
fn where_settings_register_the_event_the_plugin_is_silent() {
    let home = Home::new();
    let project = home.project("shop");
    let mut save = home.command(["memory", "save", "--type", "decision", "Tokens live in the otter cache."]);
    save.current_dir(&project);
    drop(process::run(save, Vec::new(), WATCHDOG).success());
    drop(home.run(["install", "--plugin"]).success());
    let root = home.data().join("marketplace/plugin");
    let says = || hook(&home, &root, "SessionStart", &json!({"source": "startup"})).stdout.contains("otter cache");
    assert!(says());
    // Registered for the user, for the project, and not at all again.
    drop(home.run(["install"]).success());
    assert!(!says());
    drop(home.run(["install", "--plugin"]).success());
    assert!(says());
    let local = |text: &str| {
        std::fs::create_dir_all(project.join(".claude")).expect("create the folder");
        std::fs::write(project.join(".claude/settings.local.json"), text).expect("write the settings");
    };
    let program = process::throughline();
    let register = |event: &str, program: &Path| {
        json!({"hooks": {event: [{"hooks": [{"type": "command", "command": program, "args": ["hook"]}]}]}}).to_string()
    };
    local(&register("SessionStart", &program));
    assert!(!says());
    for other in [
        register("Stop", &program),
        // If that program is missing, nothing else reports it.
        register("SessionStart", Path::new("/nowhere/throughline")),
        "{ broken".to_owned(),
    ] {
        local(&other);
        assert!(says(), "{other}");
    }
}

#[test]
fn the_doctor_knows_of_the_plugin() {
    let home = Home::new();
    let finding = || {
        let run = home.run(["doctor", "--json"]);
        let report: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:#?}"));
        let check = |name: &str| report["checks"].as_array().into_iter().flatten().find(|it| it["check"] == name).cloned();
        (check("plugin"), check("hooks"))
    };
    let status = |check: Option<Value>| check.map(|it| it["status"].as_str().expect("a status").to_owned());
    let (plugin, hooks) = finding();
    assert_eq!((status(plugin), status(hooks)), (None, Some("fail".into())));
    let report = home.json(["install", "--plugin", "--json"]);
    assert_eq!((&report["plugin"], &report["events"], &report["changed"]), (&json!(true), &json!([]), &json!(true)));
    assert_eq!(home.json(["install", "--plugin", "--json"])["changed"], false);
    let (plugin, hooks) = finding();
    assert_eq!((status(plugin), status(hooks)), (Some("ok".into()), None));
    let manifest = home.data().join("marketplace/plugin/.claude-plugin/plugin.json");
    std::fs::write(&manifest, "{}").expect("write");
    assert_eq!(status(finding().0), Some("warn".into()));
    drop(home.run(["install", "--plugin"]).success());
    assert_eq!(status(finding().0), Some("ok".into()));
    std::fs::remove_dir_all(home.data().join("marketplace")).expect("remove");
    assert_eq!(status(finding().0), Some("fail".into()));
    drop(home.run(["uninstall"]).success());
    let (plugin, hooks) = finding();
    assert_eq!((status(plugin), status(hooks)), (None, Some("fail".into())));
}

#[test]
fn what_the_user_sets_in_the_plugin_counts_for_its_hooks() {
    let home = Home::new();
    let project = home.project("shop");
    for number in 0..12 {
        let words =
            format!("Otter rule {number}: {}", "every cache of the shop keeps its tokens apart from others ".repeat(3));
        let mut save = home.command(["memory", "save", "--type", "decision", &words]);
        save.current_dir(&project);
        drop(process::run(save, Vec::new(), WATCHDOG).success());
    }
    let payload =
        json!({"session_id": session_id(1), "cwd": project, "hook_event_name": "SessionStart", "source": "startup"});
    let said = |option: Option<&str>, called: bool| {
        let mut command = home.command(["hook", "memory-load"]);
        if called {
            command.env("THROUGHLINE_PLUGIN_EVENT", "SessionStart");
        }
        command.envs(option.map(|value| ("CLAUDE_PLUGIN_OPTION_CONTEXT_BUDGET", value)));
        let run = process::run(command, format!("{payload}\n").into_bytes(), WATCHDOG).success();
        let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:#?}"));
        let context = answer["hookSpecificOutput"]["additionalContext"].as_str().expect("a context").to_owned();
        context.encode_utf16().count()
    };
    let usual = said(None, true);
    assert!(usual > 700, "{usual}");
    assert!(said(Some("700"), true) <= 700);
    // The options of another plugin, and such as cannot be used, are nothing to us.
    assert_eq!(said(Some("700"), false), usual);
    assert_eq!(said(Some("7"), true), usual);
    assert!(home.log().contains("context_budget"), "{}", home.log());
}
