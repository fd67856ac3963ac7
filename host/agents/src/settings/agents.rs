//! What is registered with each agent, and how its settings have it: the one table of events, budgets and timeouts.

use std::path::{Path, PathBuf};

use super::Scope;
use super::json::Syntax;
use crate::protocol::name::Agent;
use throughline_platform::paths::Paths;

/// A hook as it is registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hook {
    /// The agent's name of the event.
    pub event: &'static str,
    /// Our name of what is done then, whose budget in the configuration it has.
    pub task: &'static str,
    /// The smallest profile that it is in.
    pub profile: Profile,
    /// Seconds that the agent gives it. What the program takes for itself is in the configuration, and less.
    pub timeout: u64,
}

/// How much is registered. Each has all of the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Profile {
    /// From session to session, and across a compaction: the start, the end, and before a compaction.
    Minimal,
    /// And what happens in between: prompts, tools, failures, sub-agents, ends of turns.
    Standard,
    /// And what only a batch tells of: uses of tools that there are not, and such as were refused.
    Full,
}

impl Profile {
    /// The one that these events are of; none where none of them is ours.
    pub fn of<'a>(agent: Agent, events: impl Iterator<Item = &'a str>) -> Option<Self> {
        events.filter_map(|event| hooks(agent).iter().find(|hook| hook.event == event)).map(|hook| hook.profile).max()
    }

    /// Its hooks.
    pub fn hooks(self, agent: Agent) -> impl Iterator<Item = &'static Hook> {
        hooks(agent).iter().filter(move |hook| hook.profile <= self)
    }
}

const fn hook(event: &'static str, task: &'static str, timeout: u64, profile: Profile) -> Hook {
    Hook { event, task, profile, timeout }
}

/// Claude Code's. SessionEnd's timeout also lifts the 1.5 s that the client has for its end otherwise. What runs inside an agent's
/// loop has 3 s, which the design says, and takes some milliseconds.
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

/// Codex CLI's (0.169): it has no event of a tool's failure, gives SessionEnd 3 s at most, and warns at every start of more.
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

/// Gemini CLI's (0.61): `AfterTool` tells of failures too, and there is no event of sub-agents.
const GEMINI: [Hook; 6] = [
    hook("SessionStart", "memory-load", 10, Profile::Minimal),
    hook("BeforeAgent", "memory-search", 5, Profile::Standard),
    hook("AfterTool", "memory-track", 3, Profile::Standard),
    hook("AfterAgent", "memory-complete", 5, Profile::Standard),
    hook("PreCompress", "memory-flush", 15, Profile::Minimal),
    hook("SessionEnd", "memory-save", 15, Profile::Minimal),
];

/// Cursor's: what the agent said comes with `afterAgentResponse`, that it is done with `stop`.
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

/// Copilot CLI's (1.0.102), by the names with which its payloads are in camelCase.
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

/// Factory droid's: nine events in all, none of a tool's failure.
const DROID: [Hook; 7] = [
    hook("SessionStart", "memory-load", 10, Profile::Minimal),
    hook("UserPromptSubmit", "memory-search", 5, Profile::Standard),
    hook("PostToolUse", "memory-track", 3, Profile::Standard),
    hook("SubagentStop", "memory-subagent", 5, Profile::Standard),
    hook("PreCompact", "memory-flush", 15, Profile::Minimal),
    hook("Stop", "memory-complete", 5, Profile::Standard),
    hook("SessionEnd", "memory-save", 15, Profile::Minimal),
];

/// All hooks that can be registered with the agent.
pub fn hooks(agent: Agent) -> &'static [Hook] {
    match agent {
        Agent::ClaudeCode => &CLAUDE_CODE,
        Agent::Codex => &CODEX,
        Agent::Gemini => &GEMINI,
        Agent::Cursor => &CURSOR,
        Agent::Copilot => &COPILOT,
        Agent::Droid => &DROID,
    }
}

impl Hook {
    /// The program's arguments.
    pub fn arguments(&self, agent: Agent) -> Vec<&'static str> {
        let mut arguments = vec!["hook"];
        match agent {
            Agent::ClaudeCode => arguments.extend((!self.task.is_empty()).then_some(self.task)),
            // Its payloads do not name the event.
            Agent::Copilot => arguments.extend(["--agent", agent.name(), self.event]),
            _ => arguments.extend(["--agent", agent.name()]),
        }
        arguments
    }
}

/// How a file has its hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// The member that holds the events; none: the file itself does.
    pub(super) events: Option<&'static str>,
    /// Whether an event's hooks stand in groups, each with a matcher.
    pub(super) grouped: bool,
    /// How a command is said.
    pub(super) call: Call,
    /// The member with the timeout.
    pub(super) timeout: &'static str,
    /// What of it makes a second.
    pub(super) second: u64,
    /// What every hook has besides, with its value.
    pub(super) more: &'static [(&'static str, &'static str)],
    /// The version that the file must name.
    pub(super) version: Option<u64>,
    /// What its reader takes.
    pub(super) syntax: Syntax,
    /// Whether the file holds hooks alone: then it need not stay when there are none.
    pub(super) only_hooks: bool,
}

/// How a command is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    /// `command` is the program, `args` its arguments.
    Exec,
    /// A line for a shell, in the member of that name.
    Shell(&'static str),
}

/// What Claude Code began, and others took over.
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

/// How the agent's `file` has its hooks, given what is in it.
pub fn layout(agent: Agent, file: &Path, text: &str) -> Layout {
    match agent {
        Agent::ClaudeCode => Layout { call: Call::Exec, ..GROUPED },
        Agent::Codex => Layout { only_hooks: true, ..GROUPED },
        Agent::Gemini => Layout {
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
            // Its own file may have the events at its top.
            let is_bare = only_hooks && super::hooks::has_events_at_top(text, hooks(agent));
            Layout { events: (!is_bare).then_some("hooks"), only_hooks, syntax: Syntax::Comments, ..GROUPED }
        }
    }
}

/// droid's file of hooks. Where it is not, droid reads them from its settings.
const DROIDS_OWN: &str = "hooks.json";

/// The files in which the agent looks for hooks of that scope, for the project around `folder`; the one to write to first. None:
/// it has no such scope.
pub fn files(agent: Agent, scope: Scope, paths: &Paths, folder: &Path) -> Vec<PathBuf> {
    let project = || super::checkout(folder);
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
        // It reads every file of these folders.
        Agent::Copilot => one(paths.copilot.join("hooks/throughline.json"), ".github/hooks/throughline.json"),
        Agent::Droid => {
            let (at, settings) = match scope {
                Scope::User => (paths.factory.clone(), "settings.json"),
                Scope::Project => (project().join(".factory"), "settings.json"),
                Scope::Local => (project().join(".factory"), "settings.local.json"),
            };
            let (own, settings) = (at.join(DROIDS_OWN), at.join(settings));
            // To make it would hide the hooks that somebody has in the settings.
            if scope != Scope::Local && own.exists() { vec![own, settings] } else { vec![settings] }
        }
    }
}

/// The agent's own folder. Where it is, the agent is.
pub fn home(agent: Agent, paths: &Paths) -> &Path {
    match agent {
        Agent::ClaudeCode => &paths.claude,
        Agent::Codex => &paths.codex,
        Agent::Gemini => &paths.gemini,
        Agent::Cursor => &paths.cursor,
        Agent::Copilot => &paths.copilot,
        Agent::Droid => &paths.factory,
    }
}

/// As people call the agent.
pub fn title(agent: Agent) -> &'static str {
    match agent {
        Agent::ClaudeCode => "Claude Code",
        Agent::Codex => "Codex CLI",
        Agent::Gemini => "Gemini CLI",
        Agent::Cursor => "Cursor",
        Agent::Copilot => "Copilot CLI",
        Agent::Droid => "Factory droid",
    }
}

/// What is to be done in the agent before it runs hooks that were written there; none: nothing.
pub fn next(agent: Agent, scope: Scope) -> Option<&'static str> {
    match agent {
        Agent::Codex => {
            Some("Codex CLI runs no hook before you trust it: open `/hooks` there, now and whenever `install` changes one")
        }
        Agent::Gemini if scope == Scope::Project => {
            Some("Gemini CLI warns of a project's hooks that are new before it runs them")
        }
        Agent::Droid => Some("a session that droid has open knows nothing of them; `/hooks` there shows what it runs"),
        _ => None,
    }
}

/// The scopes of Claude Code's settings whose hooks the agent may run too. Then each event still counts once: the hooks see to that.
pub fn runs_claudes(agent: Agent) -> impl Iterator<Item = Scope> {
    let scopes: &[Scope] = match agent {
        // Where "third-party" configurations are switched on.
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
