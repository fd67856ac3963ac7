//! Checks the agents besides Claude Code: for each that is installed, whether Throughline's hooks are registered, call
//! this program, and may run.

use std::path::Path;

use serde_json::Value;

use super::finding::{Finding, Status};
use super::hooks::{self, CheckedAgent, SettingsFile};
use throughline_agents::protocol::name::Agent;
use throughline_agents::settings::{self, Registration, Scope, agents};
use throughline_platform::paths::{self, Paths};
use throughline_platform::program;

/// The name of the check.
const CHECK: &str = "agents";

/// The findings, and whether any agent has hooks of Throughline's.
pub(super) struct AgentFindings {
    pub(super) findings: Vec<Finding>,
    pub(super) any: bool,
}

/// Checks all agents besides Claude Code, for a user who works in `folder`.
pub(super) fn agents(paths: &Paths, folder: &Path) -> AgentFindings {
    let program = program::stable_path().unwrap_or_default();
    let mut others = AgentFindings { findings: Vec::new(), any: false };
    for agent in Agent::ALL.into_iter().filter(|agent| *agent != Agent::ClaudeCode) {
        others.check_agent(agent, paths, folder, &program);
    }
    others
}

impl AgentFindings {
    fn check_agent(&mut self, agent: Agent, paths: &Paths, folder: &Path, program: &Path) {
        let title = agents::title(agent);
        let install = format!("run `throughline install --agent {}`", agent.name());
        let whose = CheckedAgent { agent, check: CHECK, prefix: format!("{title}: "), install: install.clone() };
        let is_here = agents::home(agent, paths).is_dir();
        let mut findings = Vec::new();
        let sources = sources(agent, paths, folder, is_here, &mut findings);
        let mut found: Vec<(&SettingsFile, Registration)> = Vec::new();
        for source in &sources {
            match settings::registered(agent, &source.file, &source.text, program) {
                Ok(registrations) => found.extend(registrations.into_iter().map(|registration| (source, registration))),
                Err(what) => findings.push(Finding::warn(
                    CHECK,
                    format!("{} is not valid: {what}", paths::display(&source.file, &paths.home)),
                    format!("fix the file: {title} cannot read it either"),
                )),
            }
        }
        if found.is_empty() {
            if is_here {
                let message = format!("{title}: no hook is registered; its sessions are not remembered");
                findings.push(Finding { hint: Some(install), ..Finding::ok(CHECK, message) });
            }
            self.findings.extend(findings);
            return;
        }
        self.any = true;
        findings.extend(check_disabled_hooks(agent, paths, &sources));
        findings.extend(hooks::programs(&whose, &found, program, paths));
        findings.extend(hooks::events(&whose, &found, paths));
        let has_old_plugin = !sources.iter().all(|it| settings::plugin_file::is_current(agent, &it.text));
        if has_old_plugin || found.iter().any(|(_, it)| is_outdated(agent, it)) {
            findings.push(Finding::warn(
                CHECK,
                format!("{title}: hooks are registered in the form of another version"),
                install,
            ));
        }
        if findings.iter().all(|finding| finding.status == Status::Ok) {
            let mut files: Vec<String> = found.iter().map(|(source, _)| paths::display(&source.file, &paths.home)).collect();
            files.dedup();
            let message = format!("{title}: {} registered in {}", found.len(), files.join(" and "));
            findings.push(if agent == Agent::Codex { trust(paths, &found, &message) } else { Finding::ok(CHECK, message) });
        }
        if agents::scopes_with_claude_hooks(agent).any(|scope| has_claude_hooks(scope, paths, folder, program)) {
            let message = format!("{title} may run the hooks in Claude Code's settings too; each event is counted once");
            findings.push(Finding::ok(CHECK, message));
        }
        self.findings.extend(findings);
    }
}

/// Returns the finding about hooks that are registered with Codex, which runs only those that its user trusts. Codex
/// records that in its configuration, by the file, the event and the position of each hook.
fn trust(paths: &Paths, found: &[(&SettingsFile, Registration)], registered: &str) -> Finding {
    let text = settings::read(&paths.codex.join("config.toml")).ok().flatten().unwrap_or_default();
    let config: toml::Table = text.parse().unwrap_or_default();
    let states = config.get("hooks").and_then(|it| it.get("state")).and_then(toml::Value::as_table);
    let is_trusted = |(source, hook): &&(&SettingsFile, Registration)| {
        let place: Vec<String> = hook.position.iter().map(ToString::to_string).collect();
        let end = format!(":{}:{}", snake_case(&hook.event), place.join(":"));
        states.into_iter().flatten().any(|(key, state)| {
            let is_ours = key
                .strip_suffix(&end)
                .is_some_and(|file| Path::new(file) == source.file || program::is_same_file(Path::new(file), &source.file));
            is_ours
                && state.get("trusted_hash").is_some()
                && state.get("enabled").and_then(toml::Value::as_bool) != Some(false)
        })
    };
    let trusted = found.iter().filter(is_trusted).count();
    if trusted == found.len() {
        Finding::ok(CHECK, format!("{registered}; Codex trusts them"))
    } else if trusted == 0 {
        Finding::ok(CHECK, format!("{registered}; they run once you trust them in `/hooks`"))
    } else {
        let message = format!("{registered}; Codex trusts only {trusted} of them and does not run the others");
        Finding::warn(CHECK, message, "open `/hooks` in Codex and trust them")
    }
}

/// `SessionStart` as `session_start`.
fn snake_case(event: &str) -> String {
    let mut name = String::new();
    for c in event.chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

/// Returns the hook files that the agent reads in `folder`.
fn sources(agent: Agent, paths: &Paths, folder: &Path, is_here: bool, findings: &mut Vec<Finding>) -> Vec<SettingsFile> {
    let mut sources: Vec<SettingsFile> = Vec::new();
    for file in Scope::ALL.into_iter().flat_map(|scope| agents::files(agent, scope, paths, folder)) {
        // In the home folder, the project's files and the user's are the same.
        if sources.iter().any(|source| source.file == file || program::is_same_file(&source.file, &file)) {
            continue;
        }
        match settings::read(&file) {
            Ok(Some(text)) => sources.push(SettingsFile { file, text, managed: false }),
            Err(error) if is_here => findings.push(Finding::warn(CHECK, error.to_string(), error.hint())),
            Ok(None) | Err(_) => {}
        }
    }
    sources
}

/// Returns whether a hook has different arguments than this version registers.
fn is_outdated(agent: Agent, registration: &Registration) -> bool {
    agents::hooks(agent)
        .iter()
        .find(|hook| hook.event == registration.event)
        .is_none_or(|hook| registration.arguments != hook.arguments(agent))
}

fn has_claude_hooks(scope: Scope, paths: &Paths, folder: &Path, program: &Path) -> bool {
    let file = scope.file(paths, folder);
    let text = settings::read(&file).ok().flatten().unwrap_or_default();
    settings::registered(Agent::ClaudeCode, &file, &text, program).is_ok_and(|found| !found.is_empty())
}

/// Checks settings that turn all of the agent's hooks off, or ours by name.
fn check_disabled_hooks(agent: Agent, paths: &Paths, sources: &[SettingsFile]) -> Vec<Finding> {
    let off = |file: &Path, what: &str| {
        let message = format!("{} turns {}'s hooks off", paths::display(file, &paths.home), agents::title(agent));
        Finding::fail(CHECK, message, format!("change `{what}` there"))
    };
    let json = |text: &str| settings::parse_lenient(text).unwrap_or_default();
    let mut findings = Vec::new();
    match agent {
        Agent::Codex => {
            let file = paths.codex.join("config.toml");
            let text = settings::read(&file).ok().flatten().unwrap_or_default();
            let config: toml::Table = text.parse().unwrap_or_default();
            for name in ["hooks", "codex_hooks"] {
                if config.get("features").and_then(|it| it.get(name)).and_then(toml::Value::as_bool) == Some(false) {
                    findings.push(off(&file, &format!("features.{name}")));
                }
            }
        }
        Agent::Gemini => {
            for source in sources {
                let config = &json(&source.text)["hooksConfig"];
                if config["enabled"] == Value::Bool(false) {
                    findings.push(off(&source.file, "hooksConfig.enabled"));
                }
                if config["disabled"].as_array().is_some_and(|names| names.iter().any(|name| name == "throughline")) {
                    findings.push(off(&source.file, "hooksConfig.disabled"));
                }
            }
        }
        Agent::Copilot => {
            let file = paths.copilot.join("settings.json");
            let text = settings::read(&file).ok().flatten().unwrap_or_default();
            let own = sources.iter().map(|source| (source.file.as_path(), source.text.as_str()));
            for (file, text) in own.chain([(file.as_path(), text.as_str())]) {
                if json(text)["disableAllHooks"] == Value::Bool(true) {
                    findings.push(off(file, "disableAllHooks"));
                }
            }
        }
        Agent::Droid => {
            let file = paths.factory.join("settings.json");
            let text = settings::read(&file).ok().flatten().unwrap_or_default();
            if json(&text)["hooksDisabled"] == Value::Bool(true) {
                findings.push(off(&file, "hooksDisabled"));
            }
        }
        Agent::Qwen => {
            for source in sources.iter().filter(|source| json(&source.text)["disableAllHooks"] == Value::Bool(true)) {
                findings.push(off(&source.file, "disableAllHooks"));
            }
        }
        Agent::ClaudeCode | Agent::Cursor | Agent::Opencode | Agent::Pi | Agent::Goose | Agent::Amp => {}
    }
    findings
}
