//! The table of hooks that are registered with each agent (events and timeouts), and the form in which each agent's
//! settings contain them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::json::{Document, Syntax};
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

/// What our extension for pi (1.3.0) reports, by pi's names. pi has no sub-agents of its own.
const PI: [Hook; 7] = [
    hook("session_start", "memory-load", 10, Profile::Minimal),
    hook("before_agent_start", "memory-search", 5, Profile::Standard),
    hook("tool_result", "memory-track", 3, Profile::Standard),
    hook("session_before_compact", "memory-flush", 15, Profile::Minimal),
    hook("session_compact", "", 15, Profile::Standard),
    hook("agent_end", "memory-complete", 5, Profile::Standard),
    hook("session_shutdown", "memory-save", 15, Profile::Minimal),
];

/// Goose's hooks, which only report: it shows the model nothing that they say. There is none for a compaction.
const GOOSE: [Hook; 6] = [
    hook("SessionStart", "memory-load", 10, Profile::Minimal),
    hook("UserPromptSubmit", "memory-search", 5, Profile::Standard),
    hook("PostToolUse", "memory-track", 3, Profile::Standard),
    hook("PostToolUseFailure", "memory-failure", 3, Profile::Standard),
    hook("Stop", "memory-complete", 5, Profile::Standard),
    hook("SessionEnd", "memory-save", 15, Profile::Minimal),
];

/// What our plugin for Amp reports, by Amp's names. A thread starts when the plugin first hears of it, and ends when Amp does. Amp
/// does not compact.
const AMP: [Hook; 5] = [
    hook("session.start", "memory-load", 10, Profile::Minimal),
    hook("agent.start", "memory-search", 5, Profile::Standard),
    hook("tool.result", "memory-track", 3, Profile::Standard),
    hook("agent.end", "memory-complete", 5, Profile::Standard),
    hook("dispose", "memory-save", 15, Profile::Minimal),
];

/// What installation has to know about an agent.
struct AgentFacts {
    /// The name for display.
    title: &'static str,
    /// All hooks that can be registered.
    hooks: &'static [Hook],
    /// The form of hooks in the agent's files.
    layout: Layout,
    /// Returns the agent's own folder.
    home: fn(&Paths) -> PathBuf,
    /// The agent's folder in a project.
    project_folder: &'static str,
    /// The file with hooks, below both folders.
    file: &'static str,
    /// The other files in which the agent finds hooks, below both folders.
    more_files: &'static [&'static str],
    /// The variable in which the agent tells its hooks the folder of the project.
    project_variable: Option<&'static str>,
}

/// Claude Code. [`Scope`] has the names of its files.
const CLAUDE_CODE_FACTS: AgentFacts = AgentFacts {
    title: "Claude Code",
    hooks: &CLAUDE_CODE,
    layout: Layout { call: Call::Exec, ..GROUPED },
    home: |paths| paths.claude.clone(),
    project_folder: ".claude",
    file: "settings.json",
    more_files: &[],
    project_variable: Some("CLAUDE_PROJECT_DIR"),
};

const CODEX_FACTS: AgentFacts = AgentFacts {
    title: "Codex CLI",
    hooks: &CODEX,
    layout: Layout { only_hooks: true, ..GROUPED },
    home: |paths| paths.codex.clone(),
    project_folder: ".codex",
    file: "hooks.json",
    more_files: &["config.toml"],
    project_variable: None,
};

const GEMINI_FACTS: AgentFacts = AgentFacts {
    title: "Gemini CLI",
    hooks: &GEMINI,
    layout: MILLISECONDS,
    home: |paths| paths.gemini.clone(),
    project_folder: ".gemini",
    file: "settings.json",
    more_files: &[],
    project_variable: Some("GEMINI_PROJECT_DIR"),
};

const CURSOR_FACTS: AgentFacts = AgentFacts {
    title: "Cursor",
    hooks: &CURSOR,
    layout: Layout { grouped: false, more: &[], version: Some(1), syntax: Syntax::Comments, only_hooks: true, ..GROUPED },
    home: |paths| paths.cursor.clone(),
    project_folder: ".cursor",
    file: "hooks.json",
    more_files: &[],
    project_variable: None,
};

const COPILOT_FACTS: AgentFacts = AgentFacts {
    title: "Copilot CLI",
    hooks: &COPILOT,
    layout: Layout {
        grouped: false,
        call: Call::Shell("bash"),
        timeout: "timeoutSec",
        version: Some(1),
        only_hooks: true,
        ..GROUPED
    },
    home: |paths| paths.copilot.clone(),
    project_folder: ".github",
    // Copilot reads every file of this folder.
    file: "hooks/throughline.json",
    more_files: &[],
    project_variable: None,
};

const DROID_FACTS: AgentFacts = AgentFacts {
    title: "Factory droid",
    hooks: &DROID,
    layout: Layout { syntax: Syntax::Comments, ..GROUPED },
    home: |paths| paths.factory.clone(),
    project_folder: ".factory",
    file: DROIDS_OWN,
    more_files: &["settings.json"],
    project_variable: Some("FACTORY_PROJECT_DIR"),
};

const OPENCODE_FACTS: AgentFacts = AgentFacts {
    title: "opencode",
    hooks: &OPENCODE,
    layout: Layout { call: Call::Plugin(Agent::Opencode), only_hooks: true, ..GROUPED },
    home: |paths| paths.user_config.join("opencode"),
    project_folder: ".opencode",
    file: "plugins/throughline.js",
    more_files: &[],
    project_variable: None,
};

const QWEN_FACTS: AgentFacts = AgentFacts {
    title: "Qwen Code",
    hooks: &QWEN,
    layout: MILLISECONDS,
    home: |paths| paths.home.join(".qwen"),
    project_folder: ".qwen",
    file: "settings.json",
    more_files: &[],
    project_variable: None,
};

const PI_FACTS: AgentFacts = AgentFacts {
    title: "pi",
    hooks: &PI,
    layout: Layout { call: Call::Plugin(Agent::Pi), only_hooks: true, ..GROUPED },
    home: |paths| paths.pi.clone(),
    project_folder: ".pi",
    file: "extensions/throughline.js",
    more_files: &[],
    project_variable: None,
};

/// Goose. Its hooks are in a plugin's folder, which is not in its own ([`files`]).
const GOOSE_FACTS: AgentFacts = AgentFacts {
    title: "Goose",
    hooks: &GOOSE,
    layout: Layout { only_hooks: true, ..GROUPED },
    home: |paths| paths.user_config.join("goose"),
    project_folder: ".agents",
    file: "plugins/throughline/hooks/hooks.json",
    more_files: &[],
    project_variable: None,
};

const AMP_FACTS: AgentFacts = AgentFacts {
    title: "Amp",
    hooks: &AMP,
    layout: Layout { call: Call::Plugin(Agent::Amp), only_hooks: true, ..GROUPED },
    home: |paths| paths.user_config.join("amp"),
    project_folder: ".amp",
    file: "plugins/throughline.js",
    more_files: &[],
    project_variable: None,
};

/// Returns what installation has to know about the agent.
const fn facts(agent: Agent) -> &'static AgentFacts {
    match agent {
        Agent::ClaudeCode => &CLAUDE_CODE_FACTS,
        Agent::Codex => &CODEX_FACTS,
        Agent::Gemini => &GEMINI_FACTS,
        Agent::Cursor => &CURSOR_FACTS,
        Agent::Copilot => &COPILOT_FACTS,
        Agent::Droid => &DROID_FACTS,
        Agent::Opencode => &OPENCODE_FACTS,
        Agent::Qwen => &QWEN_FACTS,
        Agent::Pi => &PI_FACTS,
        Agent::Goose => &GOOSE_FACTS,
        Agent::Amp => &AMP_FACTS,
    }
}

/// Returns all hooks that can be registered with the agent.
pub fn hooks(agent: Agent) -> &'static [Hook] {
    facts(agent).hooks
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
    /// By a plugin that is the whole file, for this agent.
    Plugin(Agent),
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

/// The format of Gemini CLI and of Qwen Code, which descends from it.
const MILLISECONDS: Layout =
    Layout { second: 1_000, more: &[("name", "throughline"), ("type", "command")], syntax: Syntax::Comments, ..GROUPED };

/// Returns the form of hooks in the agent's `file`, which contains `text`.
pub fn layout(agent: Agent, file: &Path, text: &str) -> Layout {
    let layout = facts(agent).layout;
    if agent != Agent::Droid {
        return layout;
    }
    let only_hooks = file.file_name().is_some_and(|name| name == DROIDS_OWN);
    // droid's hook file may have the events at its top level.
    let is_bare = only_hooks && has_events_at_top(text, hooks(agent));
    Layout { events: (!is_bare).then_some("hooks"), only_hooks, ..layout }
}

/// droid's hook file. If it does not exist, droid reads the hooks from its settings.
const DROIDS_OWN: &str = "hooks.json";

/// Returns the files in which the agent looks for hooks of a scope, for the project around `folder`, preferred file
/// first. Empty if the agent has no such scope.
pub fn files(agent: Agent, scope: Scope, paths: &Paths, folder: &Path) -> Vec<PathBuf> {
    let facts = facts(agent);
    let project = || checkout(folder).join(facts.project_folder);
    match (agent, scope) {
        (Agent::ClaudeCode, _) => vec![scope.file(paths, folder)],
        (Agent::Droid, _) => {
            let (at, settings) = match scope {
                Scope::User => ((facts.home)(paths), "settings.json"),
                Scope::Project => (project(), "settings.json"),
                Scope::Local => (project(), "settings.local.json"),
            };
            let (own, settings) = (at.join(DROIDS_OWN), at.join(settings));
            // Creating the hook file would hide the hooks in the settings.
            if scope != Scope::Local && own.exists() { vec![own, settings] } else { vec![settings] }
        }
        (Agent::Goose, Scope::User) => vec![paths.home.join(facts.project_folder).join(facts.file)],
        (_, Scope::User) => vec![(facts.home)(paths).join(facts.file)],
        (_, Scope::Project) => vec![project().join(facts.file)],
        (_, Scope::Local) => Vec::new(),
    }
}

/// Returns the agent's own folder. If the folder exists, the agent is installed.
pub fn home(agent: Agent, paths: &Paths) -> PathBuf {
    (facts(agent).home)(paths)
}

/// Returns all files, the user's and this folder's, in which the agent looks for hooks of its own.
pub(crate) fn hook_files(agent: Agent, paths: &Paths, folder: &Path) -> Vec<PathBuf> {
    let facts = facts(agent);
    let (home, project) = ((facts.home)(paths), folder.join(facts.project_folder));
    match agent {
        // These run no hooks of another agent.
        Agent::ClaudeCode | Agent::Opencode | Agent::Pi | Agent::Goose | Agent::Amp => Vec::new(),
        Agent::Copilot => {
            let mut files = vec![home.join("settings.json"), project.join("copilot/settings.json")];
            for folder in [home.join("hooks"), project.join("hooks")] {
                files.extend(fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()));
            }
            files
        }
        _ => {
            let names = [facts.file].into_iter().chain(facts.more_files.iter().copied());
            names.flat_map(|name| [home.join(name), project.join(name)]).collect()
        }
    }
}

/// Returns the variable in which the agent tells its hooks the folder of the project. The other agents have it in the
/// payload, or do not tell it.
pub fn project_variable(agent: Agent) -> Option<&'static str> {
    facts(agent).project_variable
}

/// Returns how long a hook at the end of a session may take, if the agent has a limit that no setting changes.
pub fn end_limit(agent: Agent) -> Option<Duration> {
    // Codex waits for 3 s. The rest is read in the background, or at the next start.
    (agent == Agent::Codex).then_some(Duration::from_millis(2_500))
}

/// Returns the agent's name for display.
pub fn title(agent: Agent) -> &'static str {
    facts(agent).title
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
        Agent::Amp => {
            Some("Amp loads plugins when it starts: restart one that is running, or choose `plugins: reload` there")
        }
        Agent::Pi => Some("pi loads extensions when it starts: restart one that is running, or type `/reload` there"),
        Agent::Goose => Some(
            "Goose shows the model nothing that a hook says: its sessions are remembered, and it looks memories up with the MCP server",
        ),
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

/// Returns whether the text has any of the events at its top level and none under `hooks`.
fn has_events_at_top(text: &str, hooks: &[Hook]) -> bool {
    Document::parse(text, Syntax::Comments).is_ok_and(|document| {
        let names = document.names(&[]);
        !names.iter().any(|name| name == "hooks") && names.iter().any(|name| hooks.iter().any(|hook| hook.event == name))
    })
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
            let wanted = ["memory-flush", "memory-load", "memory-save"];
            let has_compactions = !matches!(agent, Agent::Goose | Agent::Amp);
            assert_eq!(sorted, wanted[usize::from(!has_compactions)..], "{agent:?}");
            for task in ["memory-search", "memory-track", "memory-complete"] {
                assert!(Profile::Standard.hooks(agent).any(|hook| hook.task == task), "{agent:?} {task}");
            }
            let events: Vec<&str> = hooks(agent).iter().map(|hook| hook.event).collect();
            assert_eq!(Profile::of(agent, tasks.into_iter()), None);
            assert!(Profile::of(agent, events.into_iter()).is_some());
        }
    }
}
