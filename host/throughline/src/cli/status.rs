//! `throughline status` and `throughline statusline`: whether memory works, in a few lines or in one.

use std::io::{self, IsTerminal as _, Read as _, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use serde::{Deserialize, Serialize};

use super::environment;
use super::error::CommandError;
use super::output::{self, BOLD, DIM, RED};
use super::scope;
use crate::doctor;
use crate::notice;
use throughline_agents::protocol::name::Agent;
use throughline_agents::settings::agents;
use throughline_engine::hooks::STORE_BUSY_TIMEOUT;
use throughline_engine::hooks::last_runs::{self, LastRun};
use throughline_engine::runtime::{self, Runtime};
use throughline_engine::targets;
use throughline_model::project::Project;
use throughline_platform::paths;
use throughline_store::{Access, MemoryFilter, StoreError};

/// The most bytes that an agent says to its status line.
const MAX_INPUT_BYTES: u64 = 1 << 20;

/// Say in a few lines whether memory works
///
/// Says whether memory is on for this project, what was stored and told last, and when each hook ran last. Memory is off
/// if it is paused, if the configuration says so, or if no agent's settings register the hooks. The exit code is then 1. `throughline doctor` checks everything and says how to repair it.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Use the project of this folder, or the known project of this name or path, instead of the current one
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Print an object: on, why, warnings, project, memories, turns, sessions, stored, told, agents
    #[arg(long)]
    json: bool,
}

/// Print one line for the agent's status line
///
/// Claude Code shows it below the prompt if its settings contain
/// `"statusLine": {"type": "command", "command": "throughline statusline"}`. Reads what Claude Code says of the session
/// from standard input, if it is not a terminal.
#[derive(clap::Args)]
pub(super) struct LineArguments {}

/// What `status` prints with `--json`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct MemoryStatus {
    /// Whether sessions of this project are remembered.
    on: bool,
    /// Why they are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// What else is wrong.
    warnings: Vec<String>,
    /// The root folder of the project.
    project: String,
    /// Memories of the project, without turns and without those that were folded into a digest.
    memories: u64,
    /// Turns, the prompts and answers of sessions, which only searches find.
    turns: u64,
    /// Sessions of the project that were read.
    sessions: u64,
    /// The newest memory of the project.
    stored: Option<LastStored>,
    /// When a hook told an agent something last, in any project.
    told: Option<LastTold>,
    /// The agents that ever called a hook.
    agents: Vec<AgentRuns>,
}

/// The newest memory.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct LastStored {
    id: String,
    title: String,
    /// RFC 3339, UTC.
    at: String,
    #[serde(skip)]
    millis: u64,
}

/// The last answer of a hook.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct LastTold {
    agent: &'static str,
    /// `session start`, `prompt`, …
    hook: String,
    /// How long the answer was.
    characters: usize,
    /// RFC 3339, UTC.
    at: String,
    #[serde(skip)]
    millis: u64,
}

/// The last runs of an agent's hooks.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct AgentRuns {
    agent: &'static str,
    #[serde(skip)]
    title: &'static str,
    /// Latest first.
    hooks: Vec<HookRun>,
}

/// The last run of a hook.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct HookRun {
    /// `session start`, `prompt`, …
    hook: String,
    /// RFC 3339, UTC.
    at: String,
    #[serde(skip)]
    millis: u64,
    took_ms: u64,
    /// Whether it wrote a warning or an error to the log.
    warned: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let runtime = environment::runtime_for_reading()?;
    let project = targets::find_project(&runtime, arguments.project.as_deref())?;
    let mut status = MemoryStatus::of(&runtime, &project, "");
    let mut hint = None;
    if status.on
        && let Some(blocked) = runtime.policies(Some(&project.root)).ok().and_then(|it| it.registry().blocked.clone())
    {
        hint = Some("`throughline policy list` says what to do");
        (status.on, status.why) = (false, Some(blocked.why));
    }
    if status.on {
        let folders = [Some(project.root.clone()), scope::folder(None).ok().filter(|_| arguments.project.is_none())];
        let missing = folders.iter().flatten().map(|folder| doctor::missing_hooks(&runtime.paths, folder));
        if let Some(why) = missing.reduce(Option::and).flatten() {
            hint = Some(doctor::missing_hooks_hint(&why));
            (status.on, status.why) = (false, Some(why));
        } else if status.agents.is_empty() {
            hint = Some("the hooks are registered, and none has run yet: start a session");
        }
    }
    if arguments.json {
        output::json(&status)?;
    } else {
        print(&runtime, &project, &status, hint)?;
    }
    Ok(if status.on { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What Claude Code says to its status line, as far as it matters here.
#[derive(Default, Deserialize)]
#[serde(default)]
struct StatusInput {
    cwd: PathBuf,
    session_id: String,
    workspace: Workspace,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Workspace {
    project_dir: PathBuf,
}

pub(super) fn line(_: &LineArguments) -> Result<ExitCode, CommandError> {
    let mut text = String::new();
    if !io::stdin().is_terminal() {
        io::stdin().lock().take(MAX_INPUT_BYTES).read_to_string(&mut text)?;
    }
    // Whatever the agent sends, it is shown a line.
    let input: StatusInput = serde_json::from_str(&text).unwrap_or_default();
    let runtime = environment::runtime_for_reading()?;
    let folders = [input.workspace.project_dir, input.cwd];
    let folder = folders.iter().find(|folder| folder.is_absolute()).map(PathBuf::as_path);
    let project = match folder {
        Some(folder) => Project::discover(folder),
        None => Project::discover(&scope::folder(None)?),
    };
    let status = MemoryStatus::of(&runtime, &project, &input.session_id);
    let mut out = output::stdout();
    writeln!(out, "{}", status.line(runtime.now))?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

impl MemoryStatus {
    /// Finds out how it stands with `project`, and with `session` if that is named.
    fn of(runtime: &Runtime, project: &Project, session: &str) -> Self {
        let runs = Agent::ALL.map(|agent| (agent, last_runs::of_agent(&runtime.paths, agent)));
        let mut status = Self {
            on: true,
            why: None,
            warnings: Vec::new(),
            project: project.root.to_string_lossy().into_owned(),
            memories: 0,
            turns: 0,
            sessions: 0,
            stored: None,
            told: last_told(&runs),
            agents: agent_runs(runs),
        };
        match status.read(runtime, project) {
            // Nothing was remembered yet.
            Ok(()) | Err(StoreError::Missing(_)) => {}
            Err(error) => (status.on, status.why) = (false, Some(error.to_string())),
        }
        if let Some(what) = runtime.rules_fault() {
            status.warnings.push(notice::rules_fault(&what));
        }
        if let Some(fault) = &runtime.config_fault {
            let what = notice::config_fault(&fault.to_string());
            if runtime.paths.last_good_config().exists() {
                status.warnings.push(format!("{what}; the last good configuration is in force"));
            } else {
                (status.on, status.why) = (false, Some(what));
            }
        }
        if let Some(why) = refusal(runtime, project, session) {
            (status.on, status.why) = (false, Some(why.to_owned()));
        }
        status
    }

    fn read(&mut self, runtime: &Runtime, project: &Project) -> Result<(), StoreError> {
        let store = runtime.store(Access::Existing, STORE_BUSY_TIMEOUT)?;
        if let Some(known) = store.known_project(&project.id)? {
            (self.memories, self.turns, self.sessions) = (known.memories, known.turns, known.sessions);
        }
        let filter = MemoryFilter { project: Some(project.id.clone()), ..MemoryFilter::default() };
        let newest = store.recent(&filter, 1)?.pop();
        self.stored = newest.map(|memory| LastStored {
            at: output::timestamp(memory.created),
            millis: memory.created,
            id: memory.id,
            title: memory.title,
        });
        Ok(())
    }

    /// Says it in one line.
    fn line(&self, now: u64) -> String {
        if !self.on {
            return format!("memory off: {}", output::clean_line(self.why.as_deref().unwrap_or("unknown")));
        }
        let stored = self.stored.as_ref().map(|stored| format!(", stored {}", output::ago(stored.millis, now)));
        format!("{}{}", output::counted(self.memories, "memory", "memories"), stored.unwrap_or_default())
    }
}

/// Returns why nothing of the project or the session is remembered.
fn refusal(runtime: &Runtime, project: &Project, session: &str) -> Option<&'static str> {
    if !runtime.config.enabled {
        return Some(runtime::OFF_BY_SETTING);
    }
    runtime.refusal(project, session).map(|refusal| runtime::why(&refusal))
}

fn agent_runs(runs: [(Agent, Vec<LastRun>); Agent::ALL.len()]) -> Vec<AgentRuns> {
    let run = |run: LastRun| HookRun {
        hook: run.moment,
        at: output::timestamp(run.at),
        millis: run.at,
        took_ms: run.took,
        warned: run.warned,
    };
    let of = |(agent, runs): (Agent, Vec<LastRun>)| AgentRuns {
        agent: agent.name(),
        title: agents::title(agent),
        hooks: runs.into_iter().map(run).collect(),
    };
    runs.into_iter().map(of).filter(|runs| !runs.hooks.is_empty()).collect()
}

fn last_told(runs: &[(Agent, Vec<LastRun>)]) -> Option<LastTold> {
    let all = runs.iter().flat_map(|(agent, runs)| runs.iter().map(move |run| (agent, run)));
    let (agent, run) = all.filter(|(_, run)| run.told > 0).max_by_key(|(_, run)| run.at)?;
    Some(LastTold {
        agent: agent.name(),
        hook: run.moment.clone(),
        characters: run.told,
        at: output::timestamp(run.at),
        millis: run.at,
    })
}

fn print(runtime: &Runtime, project: &Project, status: &MemoryStatus, hint: Option<&str>) -> Result<(), CommandError> {
    let mut out = output::stdout();
    let name = scope::describe(project, &runtime.paths.home);
    let why = status.why.as_deref().map(output::clean_line);
    if status.on {
        let memories = output::counted(status.memories, "memory", "memories");
        let turns = output::counted(status.turns, "turn", "turns");
        let sessions = output::counted(status.sessions, "session", "sessions");
        writeln!(out, "{BOLD}on{BOLD:#}: {memories} and {turns} of {sessions} in {name}")?;
    } else {
        // The path alone, because the name of the project would stand in brackets with its path in brackets.
        let path = output::clean_line(&paths::display(&project.root, &runtime.paths.home));
        writeln!(out, "{RED}off{RED:#}: {} ({path})", why.unwrap_or_default())?;
    }
    for warning in &status.warnings {
        writeln!(out, "{RED}warning{RED:#}: {}", output::clean_line(warning))?;
    }
    output::write_hanging(&mut out, "", 0, &last_things(status, runtime.now))?;
    for runs in &status.agents {
        let hooks = runs.hooks.iter().map(|run| {
            let warned = if run.warned { " (with a warning)" } else { "" };
            format!("{} {}{warned}", run.hook, output::ago(run.millis, runtime.now))
        });
        let head = format!("{DIM}{}:{DIM:#} ", runs.title);
        output::write_hanging(&mut out, &head, runs.title.len() + 2, &hooks.collect::<Vec<_>>().join(", "))?;
    }
    out.flush()?;
    if let Some(hint) = hint {
        writeln!(anstream::stderr().lock(), "hint: {hint}")?;
    }
    Ok(())
}

/// Says what was stored and told last.
fn last_things(status: &MemoryStatus, now: u64) -> String {
    let stored = status.stored.as_ref().map_or_else(
        || "nothing stored yet".to_owned(),
        |stored| {
            // Half of a line is room enough to recognize it.
            let title = output::fit(&output::clean_line(&stored.title), 40);
            format!("stored {}: {title}", output::ago(stored.millis, now))
        },
    );
    let told = status.told.as_ref().map_or_else(
        || "nothing told yet".to_owned(),
        |told| {
            let length = output::counted(told.characters as u64, "character", "characters");
            format!("told {length} at a {} {}", told.hook, output::ago(told.millis, now))
        },
    );
    format!("{stored}; {told}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_much_and_when_or_why_not() {
        let mut status = MemoryStatus {
            on: true,
            why: None,
            warnings: Vec::new(),
            project: "/p".into(),
            memories: 340,
            turns: 900,
            sessions: 12,
            stored: Some(LastStored { id: "x".into(), title: "Retry".into(), at: String::new(), millis: 0 }),
            told: None,
            agents: Vec::new(),
        };
        assert_eq!(status.line(300_000), "340 memories, stored 5 min ago");
        (status.on, status.why) = (false, Some("paused\u{1b}[2J".into()));
        assert_eq!(status.line(0), "memory off: paused\u{fffd}[2J");
    }
}
