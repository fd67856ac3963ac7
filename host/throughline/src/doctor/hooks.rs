//! Checks where the hooks are registered, whether they call this program, and whether Claude Code may run them at all.

use std::path::{Path, PathBuf};

use super::finding::{Finding, Status};
use super::plugin;
use throughline_agents::protocol::name::Agent;
use throughline_agents::settings::{self, Profile, Registration, Scope};
use throughline_platform::paths::{self, Paths};
use throughline_platform::{permissions, program};

/// The agent whose hooks are checked, and how findings about them are worded.
pub(super) struct CheckedAgent {
    pub(super) agent: Agent,
    /// The name of the check.
    pub(super) check: &'static str,
    /// The beginning of messages that do not name a file.
    pub(super) prefix: String,
    /// The hint that repairs most problems.
    pub(super) install: String,
}

impl CheckedAgent {
    /// Returns the option that names the agent, if one is needed.
    fn option(&self) -> String {
        if self.agent == Agent::ClaudeCode { String::new() } else { format!(" --agent {}", self.agent.name()) }
    }
}

/// A settings file and its text.
pub(super) struct SettingsFile {
    pub(super) file: PathBuf,
    pub(super) text: String,
    pub(super) managed: bool,
}

/// Checks Claude Code's hooks. `elsewhere`: whether hooks are registered with another agent.
pub(super) fn registrations(paths: &Paths, folder: &Path, elsewhere: bool) -> Vec<Finding> {
    let program = program::stable_path().unwrap_or_default();
    let mut findings = Vec::new();
    let sources = sources(paths, folder, &mut findings);
    let found = registered(&sources, &program, paths, &mut findings);
    let is_invalid = !findings.is_empty();
    let plugin = plugin::enabled(&sources);
    findings.extend(check_disabled_hooks(&sources, &found, plugin.as_ref(), paths));
    let is_read = !found.is_empty() || plugin.is_some();
    if let Some(plugin) = &plugin {
        findings.push(plugin.finding(paths, &program, !found.is_empty()));
    }
    if !found.is_empty() {
        check_commands(&found, &program, paths, &mut findings);
    } else if plugin.is_none() {
        findings.push(if elsewhere {
            Finding { hint: Some(INSTALL.into()), ..Finding::ok("hooks", "none is registered with Claude Code") }
        } else {
            // `install` changes no file that it cannot read.
            let hint = if is_invalid { "correct that file first, then run `throughline install`" } else { INSTALL };
            Finding::fail("hooks", "none is registered with Claude Code: nothing is remembered", hint)
        });
    }
    findings.extend(check_prompt_hooks(&sources, is_read, paths));
    findings
}

/// The hint that repairs most problems of Claude Code's hooks.
const INSTALL: &str = "run `throughline install`";

/// Checks the hooks that call a program. If there is nothing else to say, says where they are.
fn check_commands(found: &[(&SettingsFile, Registration)], program: &Path, paths: &Paths, findings: &mut Vec<Finding>) {
    let whose = CheckedAgent { agent: Agent::ClaudeCode, check: "hooks", prefix: String::new(), install: INSTALL.into() };
    findings.extend(programs(&whose, found, program, paths));
    findings.extend(events(&whose, found, paths));
    if findings.iter().all(|finding| finding.status == Status::Ok) {
        let mut files: Vec<String> = found.iter().map(|(source, _)| paths::display(&source.file, &paths.home)).collect();
        files.dedup();
        findings.push(Finding::ok("hooks", format!("{} registered in {}", found.len(), files.join(" and "))));
    }
}

/// Checks the prompt hook. `is_read`: whether any hook of ours reads what the agent adds.
fn check_prompt_hooks(sources: &[SettingsFile], is_read: bool, paths: &Paths) -> Option<Finding> {
    // A file that is not valid has a finding already.
    let hook = |source: &SettingsFile| settings::prompt_hook(&source.text).ok().flatten();
    let found: Vec<_> = sources.iter().filter_map(|source| Some((source, hook(source)?))).collect();
    let files: Vec<String> = found.iter().map(|(source, _)| paths::display(&source.file, &paths.home)).collect();
    let files = files.join(" and ");
    Some(match &found[..] {
        [] => return None,
        _ if !is_read => Finding::warn(
            "hooks",
            format!("the prompt hook in {files} costs tokens, and no hook reads what the agent adds"),
            format!("{INSTALL}, or `throughline uninstall`"),
        ),
        [(_, hook)] if hook.is_current => {
            Finding::ok("hooks", format!("a prompt hook in {files} checks the answer at the end of each turn"))
        }
        [_] => Finding::warn(
            "hooks",
            format!("the prompt hook in {files} is that of another version, registered twice or elsewhere than at Stop"),
            INSTALL,
        ),
        _ => Finding::warn(
            "hooks",
            format!("the prompt hook is registered in {files}, so each turn is checked {} times", found.len()),
            "run `throughline install --no-prompt-hook` with the --scope that is superfluous",
        ),
    })
}

/// What is said if no file is at fault and no hook is registered.
pub(super) const NO_HOOK: &str = "no agent's settings register a hook";

/// Returns why Claude Code runs none of our hooks, or `None` if it does.
pub(super) fn missing(paths: &Paths, folder: &Path) -> Option<String> {
    let program = program::stable_path().unwrap_or_default();
    // `doctor` reports files that cannot be read.
    let mut reported = Vec::new();
    let sources = sources(paths, folder, &mut reported);
    let found = registered(&sources, &program, paths, &mut reported);
    let plugin = plugin::enabled(&sources);
    if found.is_empty() && plugin.is_none() {
        // `install` cannot add hooks to such a file.
        let invalid = reported.into_iter().next().map(|finding| finding.message);
        return Some(invalid.unwrap_or_else(|| NO_HOOK.into()));
    }
    check_disabled_hooks(&sources, &found, plugin.as_ref(), paths).pop().map(|finding| finding.message)
}

/// Returns the hooks of ours that the files register.
fn registered<'a>(
    sources: &'a [SettingsFile],
    program: &Path,
    paths: &Paths,
    findings: &mut Vec<Finding>,
) -> Vec<(&'a SettingsFile, Registration)> {
    let mut found = Vec::new();
    for source in sources {
        match settings::registered(Agent::ClaudeCode, &source.file, &source.text, program) {
            Ok(registrations) => found.extend(registrations.into_iter().map(|registration| (source, registration))),
            Err(what) => findings.push(Finding::warn(
                "hooks",
                format!("{} is not valid: {what}", paths::display(&source.file, &paths.home)),
                "fix the file: Claude Code cannot read it either",
            )),
        }
    }
    found
}

/// Returns all settings files that Claude Code reads in `folder`.
fn sources(paths: &Paths, folder: &Path, findings: &mut Vec<Finding>) -> Vec<SettingsFile> {
    let users = Scope::ALL.map(|scope| (scope.file(paths, folder), false));
    let managed = settings::managed().into_iter().map(|file| (file, true));
    let mut sources: Vec<SettingsFile> = Vec::new();
    for (file, managed) in users.into_iter().chain(managed) {
        // In the home folder, the project's settings and the user's are the same file.
        if sources.iter().any(|source| program::is_same_file(&source.file, &file)) {
            continue;
        }
        match settings::read(&file) {
            Ok(Some(text)) => sources.push(SettingsFile { file, text, managed }),
            Ok(None) => {}
            Err(error) => findings.push(Finding::warn("hooks", error.to_string(), error.hint())),
        }
    }
    sources
}

/// Checks settings that turn all hooks off.
fn check_disabled_hooks(
    sources: &[SettingsFile],
    found: &[(&SettingsFile, Registration)],
    plugin: Option<&plugin::Enabled>,
    paths: &Paths,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources {
        let shown = paths::display(&source.file, &paths.home);
        if settings::is_set(&source.text, "disableAllHooks") {
            findings.push(Finding::fail("hooks", format!("{shown} turns all hooks off"), "remove `disableAllHooks` there"));
        }
        if source.managed
            && settings::is_set(&source.text, "allowManagedHooksOnly")
            && !found.iter().any(|(source, _)| source.managed)
            && !plugin.is_some_and(plugin::Enabled::is_managed)
        {
            findings.push(Finding::fail(
                "hooks",
                format!("{shown} allows only hooks that an administrator registers"),
                "ask the administrator to register Throughline's hooks",
            ));
        }
    }
    findings
}

/// Checks whether the programs that hooks call exist, and whether they are this program.
pub(super) fn programs(
    whose: &CheckedAgent,
    found: &[(&SettingsFile, Registration)],
    program: &Path,
    paths: &Paths,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut seen: Vec<(&Path, &Path)> = Vec::new();
    for (source, registration) in found {
        let called = registration.program.as_path();
        if seen.contains(&(&source.file, called)) {
            continue;
        }
        seen.push((&source.file, called));
        let shown = paths::display(&source.file, &paths.home);
        let by_name = called == Path::new(settings::BY_NAME);
        // A bare name is resolved with the agent's PATH, which this program does not know.
        if by_name {
            let on_path = on_path(called);
            if on_path.is_none() {
                findings.push(Finding::warn(
                    whose.check,
                    format!("{shown} looks for throughline on the PATH, where it is not: its hooks do nothing"),
                    format!("add the folder of {} to the PATH", program.display()),
                ));
            } else if let Some(other) = on_path.filter(|found| !program::is_same_file(found, program)) {
                findings.push(Finding::warn(
                    whose.check,
                    format!("two installations: {shown} calls {}, and this is {}", other.display(), program.display()),
                    "remove one of them",
                ));
            }
        } else if called.is_absolute() && !is_executable(called) {
            findings.push(Finding::fail(
                whose.check,
                format!("{shown} calls {}, which does not exist or cannot be run", called.display()),
                &whose.install,
            ));
        } else if !program::is_same_file(called, program) {
            findings.push(Finding::warn(
                whose.check,
                format!("{shown} calls a different program: {}", called.display()),
                &whose.install,
            ));
        }
    }
    findings
}

/// Returns the program that a project's hooks find by its name.
fn on_path(name: &Path) -> Option<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    program::usual_folders(&home).map(|folder| folder.join(name)).find(|file| is_executable(file))
}

pub(super) fn is_executable(file: &Path) -> bool {
    file.is_file() && permissions::may_execute(file)
}

/// Checks whether every event is registered exactly once, without a matcher, and with a sufficient timeout.
pub(super) fn events(whose: &CheckedAgent, found: &[(&SettingsFile, Registration)], paths: &Paths) -> Vec<Finding> {
    let mut findings = Vec::new();
    let Some(profile) = Profile::of(whose.agent, found.iter().map(|(_, registration)| registration.event.as_str())) else {
        return findings;
    };
    for hook in profile.hooks(whose.agent) {
        let registered: Vec<&(&SettingsFile, Registration)> =
            found.iter().filter(|(_, registration)| registration.event == hook.event).collect();
        let [(source, registration)] = registered[..] else {
            findings.push(if registered.is_empty() {
                Finding::warn(whose.check, format!("{}{} is not registered", whose.prefix, hook.event), &whose.install)
            } else {
                let files: Vec<String> =
                    registered.iter().map(|(source, _)| paths::display(&source.file, &paths.home)).collect();
                Finding::warn(
                    whose.check,
                    format!("{}{} is registered {} times: {}", whose.prefix, hook.event, files.len(), files.join(", ")),
                    format!("run `throughline uninstall{}` with the --scope that is superfluous", whose.option()),
                )
            });
            continue;
        };
        let shown = paths::display(&source.file, &paths.home);
        if let Some(matcher) = &registration.matcher {
            findings.push(Finding::warn(
                whose.check,
                format!("{}{} is restricted to {matcher} in {shown}", whose.prefix, hook.event),
                "remove the `matcher` there",
            ));
        }
        if registration.timeout.is_some_and(|timeout| timeout < hook.timeout) {
            findings.push(Finding::warn(
                whose.check,
                format!("{}{} has a timeout of less than {} s in {shown}", whose.prefix, hook.event, hook.timeout),
                &whose.install,
            ));
        }
    }
    findings
}
