//! `install --with-prompt-hook`: the hook in Claude Code's settings with which a model of the client's checks the last answer.
//! `real_client` shows what comes of it.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tests::home::Home;
use tests::process::{self, Finished, WATCHDOG};

/// Settings with hooks of somebody else's, one of them a prompt hook.
const OTHERS: &str = r#"{
  "model":  "opus",
  "hooks": {
    "Stop": [ {"hooks": [{"type": "prompt", "prompt": "Are the tests green? $ARGUMENTS"}]} ]
  }
}
"#;

/// All names that `install --agent` takes, but for Claude Code's.
const OTHER_AGENTS: [&str; 12] =
    ["codex", "gemini", "cursor", "copilot", "droid", "opencode", "qwen", "pi", "antigravity", "amp", "goose", "zed"];

fn settings(home: &Home) -> PathBuf {
    home.agent().join("settings.json")
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn write(file: &Path, text: &str) {
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("create the folder");
    std::fs::write(file, text).expect("write");
}

/// The prompt hooks of ours that the text registers, with their events.
fn prompt_hooks(text: &str) -> Vec<(String, Value)> {
    let settings: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let mut found = Vec::new();
    for (event, groups) in settings["hooks"].as_object().into_iter().flatten() {
        let hooks = groups.as_array().into_iter().flatten().filter_map(|group| group["hooks"].as_array()).flatten();
        let is_ours = |hook: &&Value| hook["prompt"].as_str().is_some_and(|text| text.contains("Throughline"));
        found.extend(hooks.filter(is_ours).map(|hook| (event.clone(), hook.clone())));
    }
    found
}

/// What the doctor says of the prompt hook.
fn doctor(home: &Home, folder: &Path) -> Vec<(String, String)> {
    let mut command = home.command(["doctor", "--json"]);
    command.current_dir(folder);
    let run = process::run(command, Vec::new(), WATCHDOG);
    let report: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:#?}"));
    let text = |it: &Value, name: &str| it[name].as_str().unwrap_or_default().to_owned();
    let checks = report["checks"].as_array().expect("checks").iter();
    checks
        .map(|it| (text(it, "status"), text(it, "message")))
        .filter(|(_, message)| message.contains("prompt hook"))
        .collect()
}

fn install_in(home: &Home, folder: &Path, options: &[&str]) -> Finished {
    let mut command = home.command([&["install"], options].concat());
    command.current_dir(folder);
    process::run(command, Vec::new(), WATCHDOG)
}

#[test]
fn it_is_registered_kept_and_removed() {
    for before in [None, Some(OTHERS)] {
        let home = Home::new();
        let file = settings(&home);
        if let Some(before) = before {
            write(&file, before);
        }
        let dry = home.run(["install", "--with-prompt-hook", "--dry-run"]).success();
        assert!(dry.stdout.contains("\"type\": \"prompt\"") && dry.stdout.contains("stop_hook_active"), "{dry:#?}");
        assert_eq!(std::fs::read_to_string(&file).ok().as_deref(), before, "a dry run changed something");

        let said = home.run(["install", "--with-prompt-hook"]).success();
        assert!(said.stdout.contains("  prompt hook: "), "{said:#?}");
        assert!(said.stderr.contains("at the cost of your subscription or key"), "{said:#?}");
        let with = read(&file);
        let found = prompt_hooks(&with);
        assert_eq!(found.len(), 1, "{with}");
        let (event, hook) = &found[0];
        assert_eq!((event.as_str(), &hook["type"], &hook["timeout"]), ("Stop", &json!("prompt"), &json!(30)));
        // The condition gets the hook's input, and begins with what keeps it from asking twice.
        let condition = hook["prompt"].as_str().expect("a text");
        assert!(condition.ends_with("$ARGUMENTS") && condition.contains("`stop_hook_active` is true"), "{condition}");

        // Neither another run nor another profile loses it.
        drop(home.run(["install"]).success());
        drop(home.run(["install", "--with-prompt-hook"]).success());
        assert_eq!(read(&file), with);
        let minimal = home.json(["install", "--profile", "minimal", "--json"]);
        assert_eq!((&minimal["prompt_hook"], minimal["events"].as_array().map(Vec::len)), (&json!(true), Some(3)));
        drop(home.run(["install", "--profile", "standard"]).success());
        let without = home.json(["install", "--no-prompt-hook", "--json"]);
        assert_eq!((&without["prompt_hook"], &without["changed"]), (&json!(false), &json!(true)));
        assert!(prompt_hooks(&read(&file)).is_empty());

        drop(home.run(["install", "--with-prompt-hook"]).success());
        drop(home.run(["uninstall"]).success());
        assert_eq!(std::fs::read_to_string(&file).ok().as_deref(), before, "uninstalling does not restore the file");
    }
}

#[test]
fn what_somebody_chose_for_it_stays() {
    let home = Home::new();
    let file = settings(&home);
    drop(home.run(["install", "--with-prompt-hook"]).success());
    let with = read(&file);
    let chosen = with.replacen("\"type\": \"prompt\"", "\"type\": \"prompt\", \"model\": \"a-model\"", 1);
    assert_ne!(chosen, with);
    // The text of another version.
    write(&file, &chosen.replacen("May the turn end?", "May it end?", 1));
    assert_eq!(doctor(&home, home.path())[0].0, "warn");
    drop(home.run(["install"]).success());
    assert_eq!(read(&file), chosen);
}

#[test]
fn only_claude_code_has_one() {
    let home = Home::new();
    for agent in OTHER_AGENTS {
        for option in ["--with-prompt-hook", "--no-prompt-hook"] {
            let refused = home.run(["install", "--agent", agent, option]).failure_with_hint();
            assert!(refused.stderr.contains("has no prompt hook that Throughline could use"), "{refused:#?}");
            assert!(refused.stderr.contains("only Claude Code"), "{refused:#?}");
        }
    }
    let both = home.run(["install", "--with-prompt-hook", "--no-prompt-hook"]);
    assert_eq!(both.code, Some(2), "{both:#?}");
}

#[test]
fn nobody_pays_for_it_who_did_not_ask_for_it() {
    let home = Home::new();
    let project = home.project("shop");
    let refused = install_in(&home, &project, &["--scope", "project", "--with-prompt-hook"]).failure_with_hint();
    assert!(refused.stderr.contains("--scope local"), "{refused:#?}");
    assert!(!project.join(".claude/settings.json").exists());

    drop(install_in(&home, &project, &["--scope", "local", "--with-prompt-hook"]).success());
    let local = project.join(".claude/settings.local.json");
    assert_eq!(prompt_hooks(&read(&local)).len(), 1);
    // The user's own settings have none, and uninstalling them names the file that is left.
    assert!(home.run(["uninstall"]).success().stdout.contains("not installed"));
    let mut command = home.command(["uninstall"]);
    command.current_dir(&project);
    let left = process::run(command, Vec::new(), WATCHDOG).success();
    assert!(
        left.stdout.contains("settings.local.json: to remove it, run `throughline uninstall --scope local`"),
        "{left:#?}"
    );
}

#[test]
fn the_doctor_knows_it() {
    let home = Home::new();
    let project = home.project("shop");
    drop(home.run(["install"]).success());
    assert!(doctor(&home, &project).is_empty());
    drop(home.run(["install", "--with-prompt-hook"]).success());
    let [(status, message)] = &doctor(&home, &project)[..] else { panic!("one finding is wanted") };
    assert_eq!(status, "ok");
    assert!(message.contains("settings.json checks the answer"), "{message}");

    drop(install_in(&home, &project, &["--scope", "local", "--with-prompt-hook"]).success());
    let [(status, message)] = &doctor(&home, &project)[..] else { panic!("one finding is wanted") };
    assert_eq!(status, "warn");
    assert!(message.contains("each turn is checked 2 times"), "{message}");
    std::fs::remove_file(project.join(".claude/settings.local.json")).expect("remove");

    // Alone, it costs something and is of no use.
    let file = settings(&home);
    let hook = prompt_hooks(&read(&file)).swap_remove(0).1;
    write(&file, &json!({"hooks": {"Stop": [{"hooks": [hook]}]}}).to_string());
    let [(status, message)] = &doctor(&home, &project)[..] else { panic!("one finding is wanted") };
    assert_eq!(status, "warn");
    assert!(message.contains("no hook reads what the agent adds"), "{message}");
}
