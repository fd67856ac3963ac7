//! The table of hooks that are registered with each agent (events and timeouts), and the form in which each agent's
//! settings contain them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::json::Syntax;
use super::scope::{Scope, checkout};
use crate::protocol::name::Agent;
use throughline_platform::paths::Paths;

/// A hook that Throughline registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hook {
    /// The agent's name for the event.
    pub event: &'static str,
    /// Throughline's name for what the hook does. It selects the time budget in the configuration.
    pub task: &'static str,
    /// The smallest profile that includes the hook.
    pub profile: Profile,
    /// The timeout, in seconds, that is registered with the agent. The program's own time budget is in the
    /// configuration, and is shorter.
    pub timeout: u64,
}

/// How many hooks are registered. Each profile includes the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Profile {
    /// The start and the end of a session, and the moment before a compaction.
    Minimal,
    /// And what happens in between: prompts, tool calls, failures, sub-agents, ends of turns.
    Standard,
    /// And the batch event, the only hook that reports unknown tools and denied calls.
    Full,
}

impl Profile {
    /// Returns the smallest profile that includes all of these events that are Throughline's; `None` if none are.
    pub fn of<'a>(agent: Agent, events: impl Iterator<Item = &'a str>) -> Option<Self> {
        events.filter_map(|event| hooks(agent).iter().find(|hook| hook.event == event)).map(|hook| hook.profile).max()
    }

    /// Returns the hooks of the profile.
    pub fn hooks(self, agent: Agent) -> impl Iterator<Item = &'static Hook> {
        hooks(agent).iter().filter(move |hook| hook.profile <= self)
    }
}

const fn hook(event: &'static str, task: &'static str, timeout: u64, profile: Profile) -> Hook {
    Hook { event, task, profile, timeout }
}

/// Claude Code's hooks. A timeout for SessionEnd also extends the 1.5 s that Claude Code otherwise allows at exit.
/// Hooks inside the agent's loop get 3 s, as the design demands, and take a few milliseconds.
const CLAUDE_CODE: [Hook; 11] = [
    hook("SessionStart", "memory-load", 10, Profile::Minimal),
    hook("UserPromptSubmit", "memory-search", 5, Profile::Standard),
    hook("PostToolUse", "memory-track", 3, Profile::Standard),
    hook("PostToolUseFailure", "memory-failure", 3, Profile::Standard),
    hook("PostToolBatch", "memory-track", 3, Profile::Full),
    hook("SubagentStop", "memory-subagent", 5, Profile::Standard),
    hook("PreCompact", "memory-flush", 15, Profile::Minimal),
    hook("PostCompact", "", 15, Profile::Standard),
    hook("Stop", "memory-complete", 5, Profile::Standard),
    hook("StopFailure", "memory-complete", 5, Profile::Standard),
    hook("SessionEnd", "memory-save", 15, Profile::Minimal),
];

/// Codex CLI's hooks (0.169). Codex has no event for failed calls, allows SessionEnd at most 3 s, and warns at every
/// start if more is configured.
const CODEX: [Hook; 8] = [
    hook("SessionStart", "memory-load", 10, Profile::Minimal),
    hook("UserPromptSubmit", "memory-search", 5, Profile::Standard),
    hook("PostToolUse", "memory-track", 3, Profile::Standard),
    hook("SubagentStop", "memory-subagent", 5, Profile::Standard),
    hook("PreCompact", "memory-flush", 15, Profile::Minimal),
    hook("PostCompact", "", 15, Profile::Standard),
    hook("Stop", "memory-complete", 5, Profile::Standard),
    hook("SessionEnd", "memory-save", 3, Profile::Minimal),
];

/// Gemini CLI's hooks (0.61). `AfterTool` also reports failures, and there is no event for sub-agents.
const GEMINI: [Hook; 6] = [
    hook("SessionStart", "memory-load", 10, Profile::Minimal),
    hook("BeforeAgent", "memory-search", 5, Profile::Standard),
    hook("AfterTool", "memory-track", 3, Profile::Standard),
    hook("AfterAgent", "memory-complete", 5, Profile::Standard),
    hook("PreCompress", "memory-flush", 15, Profile::Minimal),
    hook("SessionEnd", "memory-save", 15, Profile::Minimal),
];

/// Cursor's hooks. `afterAgentResponse` has the agent's message, and `stop` says that the turn is over.
const CURSOR: [Hook; 9] = [
    hook("sessionStart", "memory-load", 10, Profile::Minimal),
    hook("beforeSubmitPrompt", "memory-search", 5, Profile::Standard),
    hook("postToolUse", "memory-track", 3, Profile::Standard),
    hook("postToolUseFailure", "memory-failure", 3, Profile::Standard),
    hook("subagentStop", "memory-subagent", 5, Profile::Standard),
    hook("preCompact", "memory-flush", 15, Profile::Minimal),
    hook("afterAgentResponse", "memory-complete", 5, Profile::Standard),
    hook("stop", "memory-complete", 5, Profile::Standard),
    hook("sessionEnd", "memory-save", 15, Profile::Minimal),
];

/// Copilot CLI's hooks (1.0.102), under the event names for which payloads are in camelCase.
const COPILOT: [Hook; 8] = [
    hook("sessionStart", "memory-load", 10, Profile::Minimal),
    hook("userPromptSubmitted", "memory-search", 5, Profile::Standard),
    hook("postToolUse", "memory-track", 3, Profile::Standard),
    hook("postToolUseFailure", "memory-failure", 3, Profile::Standard),
    hook("subagentStop", "memory-subagent", 5, Profile::Standard),
    hook("preCompact", "memory-flush", 15, Profile::Minimal),
    hook("agentStop", "memory-complete", 5, Profile::Standard),
    hook("sessionEnd", "memory-save", 15, Profile::Minimal),
];

/// Factory droid's hooks. droid has nine events in all, and none for failed calls.
const DROID: [Hook; 7] = [
    hook("SessionStart", "memory-load", 10, Profile::Minimal),
    hook("UserPromptSubmit", "memory-search", 5, Profile::Standard),
    hook("PostToolUse", "memory-track", 3, Profile::Standard),
    hook("SubagentStop", "memory-subagent", 5, Profile::Standard),
    hook("PreCompact", "memory-flush", 15, Profile::Minimal),
    hook("Stop", "memory-complete", 5, Profile::Standard),
    hook("SessionEnd", "memory-save", 15, Profile::Minimal),
];

/// What our plugin for opencode reports, by opencode's names. A session starts when the plugin first hears of it, and
/// ends when opencode does.
const OPENCODE: [Hook; 7] = [
    hook("session.created", "memory-load", 10, Profile::Minimal),
    hook("chat.message", "memory-search", 5, Profile::Standard),
    hook("tool.execute.after", "memory-track", 3, Profile::Standard),
    hook("experimental.session.compacting", "memory-flush", 15, Profile::Minimal),
    hook("session.compacted", "", 15, Profile::Standard),
    hook("session.idle", "memory-complete", 5, Profile::Standard),
    hook("dispose", "memory-save", 15, Profile::Minimal),
];

/// Qwen Code's hooks (0.15.10). Without a terminal, it has neither a start nor an end of a session.
const QWEN: [Hook; 8] = [
    hook("SessionStart", "memory-load", 10, Profile::Minimal),
    hook("UserPromptSubmit", "memory-search", 5, Profile::Standard),
    hook("PostToolUse", "memory-track", 3, Profile::Standard),
    hook("PostToolUseFailure", "memory-failure", 3, Profile::Standard),
    hook("SubagentStop", "memory-subagent", 5, Profile::Standard),
    hook("PreCompact", "memory-flush", 15, Profile::Minimal),
    hook("Stop", "memory-complete", 5, Profile::Standard),
    hook("SessionEnd", "memory-save", 15, Profile::Minimal),
];

/// Returns all hooks that can be registered with the agent.
pub fn hooks(agent: Agent) -> &'static [Hook] {
    match agent {
        Agent::ClaudeCode => &CLAUDE_CODE,
        Agent::Codex => &CODEX,
        Agent::Gemini => &GEMINI,
        Agent::Cursor => &CURSOR,
        Agent::Copilot => &COPILOT,
        Agent::Droid => &DROID,
        Agent::Opencode => &OPENCODE,
        Agent::Qwen => &QWEN,
    }
}

impl Hook {
    /// Returns the program's arguments.
    pub fn arguments(&self, agent: Agent) -> Vec<&'static str> {
        let mut arguments = vec!["hook"];
        match agent {
            Agent::ClaudeCode => arguments.extend((!self.task.is_empty()).then_some(self.task)),
            // Copilot's payloads do not name the event.
            Agent::Copilot => arguments.extend(["--agent", agent.name(), self.event]),
            _ => arguments.extend(["--agent", agent.name()]),
        }
        arguments
    }
}

/// The form in which a settings file contains hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// The member that contains the events; `None` if they are at the top level.
    pub(super) events: Option<&'static str>,
    /// Whether an event's hooks are in groups, each with a matcher.
    pub(super) grouped: bool,
    /// How a command is written.
    pub(super) call: Call,
    /// The member with the timeout.
    pub(super) timeout: &'static str,
    /// How many units of the timeout make a second.
    pub(super) second: u64,
    /// Other members that every hook has, with their values.
    pub(super) more: &'static [(&'static str, &'static str)],
    /// The version that the file must contain.
    pub(super) version: Option<u64>,
    /// The syntax that the file's reader accepts.
    pub(super) syntax: Syntax,
    /// Whether the file contains only hooks, and can be removed when it contains none.
    pub(super) only_hooks: bool,
}

/// How a command is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    /// `command` is the program, and `args` are its arguments.
    Exec,
    /// A shell command line, in the member with that name.
    Shell(&'static str),
    /// By a plugin that is the whole file.
    Plugin,
}

/// Claude Code's format, which other agents adopted.
const GROUPED: Layout = Layout {
    events: Some("hooks"),
    grouped: true,
    call: Call::Shell("command"),
    timeout: "timeout",
    second: 1,
    more: &[("type", "command")],
    version: None,
    syntax: Syntax::Strict,
    only_hooks: false,
};

/// Returns the form of hooks in the agent's `file`, which contains `text`.
pub fn layout(agent: Agent, file: &Path, text: &str) -> Layout {
    match agent {
        Agent::ClaudeCode => Layout { call: Call::Exec, ..GROUPED },
        Agent::Codex => Layout { only_hooks: true, ..GROUPED },
        Agent::Gemini | Agent::Qwen => Layout {
            second: 1_000,
            more: &[("name", "throughline"), ("type", "command")],
            syntax: Syntax::Comments,
            ..GROUPED
        },
        Agent::Cursor => {
            Layout { grouped: false, more: &[], version: Some(1), syntax: Syntax::Comments, only_hooks: true, ..GROUPED }
        }
        Agent::Copilot => Layout {
            grouped: false,
            call: Call::Shell("bash"),
            timeout: "timeoutSec",
            version: Some(1),
            only_hooks: true,
            ..GROUPED
        },
        Agent::Droid => {
            let only_hooks = file.file_name().is_some_and(|name| name == DROIDS_OWN);
            // droid's hook file may have the events at its top level.
            let is_bare = only_hooks && super::hooks::has_events_at_top(text, hooks(agent));
            Layout { events: (!is_bare).then_some("hooks"), only_hooks, syntax: Syntax::Comments, ..GROUPED }
        }
        Agent::Opencode => Layout { call: Call::Plugin, only_hooks: true, ..GROUPED },
    }
}

/// droid's hook file. If it does not exist, droid reads the hooks from its settings.
const DROIDS_OWN: &str = "hooks.json";

/// Returns the files in which the agent looks for hooks of a scope, for the project around `folder`, preferred file
/// first. Empty if the agent has no such scope.
pub fn files(agent: Agent, scope: Scope, paths: &Paths, folder: &Path) -> Vec<PathBuf> {
    let project = || checkout(folder);
    let one = |user: PathBuf, project_file: &str| match scope {
        Scope::User => vec![user],
        Scope::Project => vec![project().join(project_file)],
        Scope::Local => Vec::new(),
    };
    match agent {
        Agent::ClaudeCode => vec![scope.file(paths, folder)],
        Agent::Codex => one(paths.codex.join("hooks.json"), ".codex/hooks.json"),
        Agent::Gemini => one(paths.gemini.join("settings.json"), ".gemini/settings.json"),
        Agent::Cursor => one(paths.cursor.join("hooks.json"), ".cursor/hooks.json"),
        // Copilot reads every file of these folders.
        Agent::Copilot => one(paths.copilot.join("hooks/throughline.json"), ".github/hooks/throughline.json"),
        Agent::Qwen => one(home(agent, paths).join("settings.json"), ".qwen/settings.json"),
        Agent::Opencode => one(home(agent, paths).join("plugins/throughline.js"), ".opencode/plugins/throughline.js"),
        Agent::Droid => {
            let (at, settings) = match scope {
                Scope::User => (paths.factory.clone(), "settings.json"),
                Scope::Project => (project().join(".factory"), "settings.json"),
                Scope::Local => (project().join(".factory"), "settings.local.json"),
            };
            let (own, settings) = (at.join(DROIDS_OWN), at.join(settings));
            // Creating the hook file would hide the hooks in the settings.
            if scope != Scope::Local && own.exists() { vec![own, settings] } else { vec![settings] }
        }
    }
}

/// Returns the agent's own folder. If the folder exists, the agent is installed.
pub fn home(agent: Agent, paths: &Paths) -> PathBuf {
    match agent {
        Agent::ClaudeCode => paths.claude.clone(),
        Agent::Codex => paths.codex.clone(),
        Agent::Gemini => paths.gemini.clone(),
        Agent::Cursor => paths.cursor.clone(),
        Agent::Copilot => paths.copilot.clone(),
        Agent::Droid => paths.factory.clone(),
        Agent::Opencode => paths.user_config.join("opencode"),
        Agent::Qwen => paths.home.join(".qwen"),
    }
}

/// Returns all files, the user's and this folder's, in which the agent looks for hooks of its own.
pub(crate) fn hook_files(agent: Agent, paths: &Paths, folder: &Path) -> Vec<PathBuf> {
    let both = |user: PathBuf, project: &str| vec![user, folder.join(project)];
    match agent {
        // opencode runs no hooks of another agent.
        Agent::ClaudeCode | Agent::Opencode => Vec::new(),
        Agent::Codex => [
            both(paths.codex.join("hooks.json"), ".codex/hooks.json"),
            both(paths.codex.join("config.toml"), ".codex/config.toml"),
        ]
        .concat(),
        Agent::Gemini => both(paths.gemini.join("settings.json"), ".gemini/settings.json"),
        Agent::Qwen => both(paths.home.join(".qwen/settings.json"), ".qwen/settings.json"),
        Agent::Cursor => both(paths.cursor.join("hooks.json"), ".cursor/hooks.json"),
        Agent::Copilot => {
            let mut files = both(paths.copilot.join("settings.json"), ".github/copilot/settings.json");
            for folder in both(paths.copilot.join("hooks"), ".github/hooks") {
                files.extend(fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()));
            }
            files
        }
        Agent::Droid => [
            both(paths.factory.join("hooks.json"), ".factory/hooks.json"),
            both(paths.factory.join("settings.json"), ".factory/settings.json"),
        ]
        .concat(),
    }
}

/// Returns the variable in which the agent tells its hooks the folder of the project. The other agents have it in the
/// payload, or do not tell it.
pub fn project_variable(agent: Agent) -> Option<&'static str> {
    match agent {
        Agent::ClaudeCode => Some("CLAUDE_PROJECT_DIR"),
        Agent::Gemini => Some("GEMINI_PROJECT_DIR"),
        Agent::Droid => Some("FACTORY_PROJECT_DIR"),
        Agent::Codex | Agent::Cursor | Agent::Copilot | Agent::Opencode | Agent::Qwen => None,
    }
}

/// Returns how long a hook at the end of a session may take, if the agent has a limit that no setting changes.
pub fn end_limit(agent: Agent) -> Option<Duration> {
    // Codex waits for 3 s. The rest is read in the background, or at the next start.
    (agent == Agent::Codex).then_some(Duration::from_millis(2_500))
}

/// Returns the agent's name for display.
pub fn title(agent: Agent) -> &'static str {
    match agent {
        Agent::ClaudeCode => "Claude Code",
        Agent::Codex => "Codex CLI",
        Agent::Gemini => "Gemini CLI",
        Agent::Cursor => "Cursor",
        Agent::Copilot => "Copilot CLI",
        Agent::Droid => "Factory droid",
        Agent::Opencode => "opencode",
        Agent::Qwen => "Qwen Code",
    }
}

/// Returns what the user should know or do before the agent runs newly installed hooks, if anything.
pub fn next(agent: Agent, scope: Scope) -> Option<&'static str> {
    match agent {
        Agent::Codex => Some(
            "Codex CLI does not run a hook until you trust it: open `/hooks` in Codex, now and whenever `install` changes a hook",
        ),
        Agent::Gemini if scope == Scope::Project => Some("Gemini CLI warns about a project's new hooks before it runs them"),
        Agent::Droid => {
            Some("droid sessions that are open now do not use the new hooks; `/hooks` in droid shows which hooks it runs")
        }
        Agent::Opencode => Some("opencode loads plugins when it starts: restart one that is running"),
        _ => None,
    }
}

/// Returns the scopes of Claude Code's settings whose hooks the agent may run too. Duplicate-hook detection makes sure
/// that each event still counts once.
pub fn scopes_with_claude_hooks(agent: Agent) -> impl Iterator<Item = Scope> {
    let scopes: &[Scope] = match agent {
        // Only if the user turned on "third-party" configurations.
        Agent::Cursor => &Scope::ALL,
        Agent::Copilot => &[Scope::Project, Scope::Local],
        _ => &[],
    };
    scopes.iter().copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn profiles_are_what_they_are_called() {
        for agent in Agent::ALL {
            let tasks: Vec<&str> = Profile::Minimal.hooks(agent).map(|hook| hook.task).collect();
            let mut sorted = tasks.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, ["memory-flush", "memory-load", "memory-save"], "{agent:?}");
            for task in ["memory-search", "memory-track", "memory-complete"] {
                assert!(Profile::Standard.hooks(agent).any(|hook| hook.task == task), "{agent:?} {task}");
            }
            let events: Vec<&str> = hooks(agent).iter().map(|hook| hook.event).collect();
            assert_eq!(Profile::of(agent, tasks.into_iter()), None);
            assert!(Profile::of(agent, events.into_iter()).is_some());
        }
    }
}
