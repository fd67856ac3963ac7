//! Tool calls whose results have not arrived yet.

use serde::{Deserialize, Serialize};

use super::clean;
use super::memories::LineRef;
use super::questions::{self, Question};
use super::server_tools;
use crate::text;
use crate::transcript::json::Raw;

/// The maximum number of pending calls. The oldest is dropped first. Several sub-agents work at a time.
const MAX_PENDING: usize = 40;
/// The maximum length of a command in bytes. Commands contain commit messages.
const MAX_COMMAND_BYTES: usize = 2500;
/// The maximum length of a title, in characters.
const MAX_TITLE_CHARS: usize = 200;
/// The maximum length of a plan in bytes.
const MAX_PLAN_BYTES: usize = 5000;

/// The purpose of a tool, as far as memory is concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Tool {
    /// Runs a shell command.
    Shell,
    /// Changes a file.
    Edit,
    /// Reads a file.
    Read,
    /// Searches for text or files.
    Search,
    /// Asks the user questions.
    Ask,
    /// Presents a plan to the user.
    Plan,
    /// Replaces the whole to-do list.
    Todo,
    /// Adds a task.
    TaskCreate,
    /// Changes a task.
    TaskUpdate,
    /// Shows all tasks.
    TaskList,
    /// Runs another agent.
    Agent,
    /// Fetches from the web.
    Web,
    /// Anything else.
    #[default]
    Other,
}

impl Tool {
    fn of(name: &str) -> Self {
        // Editors and other surfaces of the client run its own tools for it, as servers.
        const SURFACES: [&str; 3] = ["mcp__acp__", "mcp__conductor__", "mcp__workspace__"];
        let own = SURFACES.iter().find_map(|server| name.strip_prefix(server));
        match own.unwrap_or(name) {
            "bash" if own.is_some() => Tool::Shell,
            "web_fetch" if own.is_some() => Tool::Web,
            "Bash" | "PowerShell" | "Shell" => Tool::Shell,
            "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => Tool::Edit,
            "Read" | "NotebookRead" => Tool::Read,
            "Grep" | "Glob" | "LS" => Tool::Search,
            "AskUserQuestion" => Tool::Ask,
            "ExitPlanMode" => Tool::Plan,
            "TodoWrite" => Tool::Todo,
            "TaskCreate" => Tool::TaskCreate,
            "TaskUpdate" => Tool::TaskUpdate,
            "TaskList" => Tool::TaskList,
            "Task" | "Agent" => Tool::Agent,
            "WebFetch" | "WebSearch" => Tool::Web,
            _ => Tool::Other,
        }
    }
}

/// One tool call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct ToolUse {
    id: u32,
    /// The purpose of the tool.
    pub tool: Tool,
    /// The agent's name for the tool.
    pub name: String,
    /// The command, file, pattern, plan, task number or task subject, or the kind of an agent.
    pub what: String,
    /// The folder in which a command runs, relative to the project's root. Empty for the root and for a folder outside.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub folder: String,
    /// Further information: a description or a status.
    pub detail: String,
    /// The questions that were asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<Question>,
    /// How many lines the edit of a sub-agent adds and removes. The result of any other edit has its patch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<(u32, u32)>,
    /// What a call of a tracker's tool says of a pull request or an issue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracked: Option<Box<Tracked>>,
    /// Whether a server's tool was told to change nothing and only to say what it would change.
    #[serde(default, alias = "is_trial", skip_serializing_if = "std::ops::Not::not")]
    pub is_dry_run: bool,
    /// The transcript line of the call.
    pub source: LineRef,
    /// The number of the turn in which it was made.
    #[serde(default)]
    pub turn: u32,
}

impl ToolUse {
    /// Returns whether a server ran the tool: what it returns is its word, whatever it says of the user.
    pub(super) fn is_of_server(&self) -> bool {
        server_tools::is_of_server(&self.name)
    }

    /// Returns whether the tool works on what was asked for. A list of tasks only keeps account of it.
    pub(super) fn is_work(&self) -> bool {
        matches!(self.tool, Tool::Shell | Tool::Edit | Tool::Read | Tool::Search | Tool::Agent | Tool::Web)
            || self.is_of_server()
    }

    /// Returns whether it runs an agent of the client's that is given no tool to edit and is told to change nothing.
    pub(super) fn is_reader(&self) -> bool {
        self.tool == Tool::Agent && matches!(self.what.as_str(), "Explore" | "Plan")
    }

    /// Returns whether the user ran the command.
    pub(super) fn is_of_user(&self) -> bool {
        self.name.is_empty()
    }

    /// Returns a command that the user ran.
    pub(super) fn of_user(command: String, source: LineRef) -> Self {
        ToolUse { tool: Tool::Shell, what: command, source, ..ToolUse::default() }
    }

    /// Reads a call that was made in the folder `cwd`. Paths are made relative to `root`.
    pub(super) fn read(id: &str, name: &str, input: Raw<'_>, (root, cwd): (&str, &str), source: LineRef) -> Self {
        let tool = Tool::of(name);
        let mut this = ToolUse { id: text::hash(id), tool, name: clean::line(name, 80), source, ..ToolUse::default() };
        if tool == Tool::Shell {
            this.folder = clean::folder(cwd, root);
        }
        input.fields(|key, value| this.take(key, value, root));
        this
    }

    fn take(&mut self, key: &[u8], value: Raw<'_>, root: &str) {
        if self.tool == Tool::Other && self.is_of_server() && server_tools::is_of_tracker(&self.name) {
            self.tracked.get_or_insert_default().take(key, value);
        }
        let line = |max| value.text().map(|text| clean::line(&text, max)).unwrap_or_default();
        match (self.tool, key) {
            (Tool::Shell, b"command") => {
                let command = value.text().unwrap_or_default();
                // Once they are relative, they are so to the root.
                if clean::names_root(&command, root) {
                    self.folder.clear();
                }
                // Absolute paths inside the project only say where it is on one machine.
                self.what = clean::command(&command, root, MAX_COMMAND_BYTES);
            }
            (Tool::Edit | Tool::Read, b"file_path" | b"notebook_path") => {
                self.what = value.text().map(|text| clean::path(&text, root)).unwrap_or_default();
            }
            (Tool::Search, b"pattern") => self.what = line(160),
            (Tool::Search | Tool::Shell | Tool::Agent, b"path" | b"description") | (Tool::TaskCreate, b"description") => {
                self.detail = line(300);
            }
            (Tool::Ask, b"questions") => self.questions = questions::read(value),
            (Tool::Plan, b"plan") => {
                self.what = value.text().map(|text| clean::block(&text, MAX_PLAN_BYTES)).unwrap_or_default();
            }
            (Tool::TaskCreate, b"subject")
            | (Tool::Web, b"url" | b"query")
            | (Tool::Other, b"skill" | b"command" | b"query" | b"prompt" | b"url" | b"path" | b"file_path" | b"bash_id") => {
                self.what = line(200);
            }
            // What a server's tool calls the thing that it is about.
            (Tool::Other, b"manifest") if self.is_of_server() => {
                self.detail = manifest_name(&value.text().unwrap_or_default());
            }
            (Tool::Other, b"name" | b"title") if self.is_of_server() && self.detail.is_empty() => {
                self.detail = line(MAX_TITLE_CHARS);
            }
            (Tool::Other, b"dry_run" | b"dryRun" | b"validate_only" | b"validateOnly") if self.is_of_server() => {
                self.is_dry_run = value.json() != "false";
            }
            (Tool::TaskUpdate, b"taskId") | (Tool::Agent, b"subagent_type") => self.what = line(64),
            (Tool::TaskUpdate, b"status") => self.detail = line(64),

            _ => {}
        }
    }
}

/// What a call of a tracker's tool says of a pull request or an issue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Tracked {
    /// Its number. 0 if the call does not say it.
    pub number: u32,
    /// The title that it gets. May be empty.
    pub title: String,
    /// The description that it gets. May be empty.
    pub body: String,
    /// Whether it is to be a draft, if the call says it.
    pub is_draft: Option<bool>,
    /// Whether it is to be closed.
    pub is_closed: bool,
    /// Whether it is to be open, perhaps again.
    pub is_opened: bool,
}

impl Tracked {
    fn take(&mut self, key: &[u8], value: Raw<'_>) {
        let text = || value.text().unwrap_or_default();
        match key {
            b"title" => self.title = clean::line(&text(), MAX_TITLE_CHARS),
            b"body" | b"description" => self.body = clean::block(&text(), MAX_PLAN_BYTES),
            b"draft" | b"is_draft" | b"isDraft" => self.is_draft = Some(value.is_true()),
            b"state" | b"state_event" => {
                let state = text().to_lowercase();
                self.is_closed = state.starts_with("close");
                self.is_opened = state.starts_with("open") || state.starts_with("reopen");
            }
            b"number"
            | b"pullNumber"
            | b"pull_number"
            | b"pull_request_number"
            | b"issue_number"
            | b"merge_request_iid"
            | b"iid" => {
                self.number = value.json().trim_matches('"').parse().unwrap_or_default();
            }
            _ => {}
        }
    }
}

/// Returns the kind and name of what a manifest of a cluster describes first: "Deployment till". Empty if it has none.
fn manifest_name(manifest: &str) -> String {
    let head = text::head(manifest, MAX_PLAN_BYTES);
    let value = |key: &str| head.lines().find_map(|line| line.trim().strip_prefix(key)).unwrap_or_default().trim();
    clean::line(format!("{} {}", value("kind:"), value("name:")).trim(), MAX_TITLE_CHARS)
}

/// The pending calls of the agent, or those of its sub-agents.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PendingToolUses {
    pending: Vec<ToolUse>,
}

impl PendingToolUses {
    /// Adds a pending call.
    pub(super) fn push(&mut self, tool_use: ToolUse) {
        self.pending.push(tool_use);
        if self.pending.len() > MAX_PENDING {
            self.pending.remove(0);
        }
    }

    /// Returns whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Returns the calls of that turn whose results have not arrived.
    pub(super) fn of_turn(&self, turn: u32) -> impl Iterator<Item = &ToolUse> {
        self.pending.iter().filter(move |tool_use| tool_use.turn == turn)
    }

    /// Removes and returns the call whose result arrived.
    pub(super) fn take(&mut self, id: &str) -> Option<ToolUse> {
        let id = text::hash(id);
        let at = self.pending.iter().position(|pending| pending.id == id)?;
        Some(self.pending.remove(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_of_a_tracker_says_what_it_is_about() {
        let read = |name: &str, input: &str| {
            ToolUse::read("1", name, Raw::parse(input).unwrap(), ("", ""), LineRef::default()).tracked
        };
        let opened =
            read("mcp__hub__create_pull_request", r#"{"title":"Open the till","body":"- [ ] ring","draft":true}"#).unwrap();
        assert_eq!((opened.title.as_str(), opened.is_draft, opened.number), ("Open the till", Some(true), 0));
        let closed = read("mcp__hub__update_pull_request", r#"{"pullNumber":7,"state":"closed"}"#).unwrap();
        assert!(closed.is_closed && !closed.is_opened && closed.number == 7);
        assert!(read("mcp__hub__update_pull_request", r#"{"pullNumber":7,"state":"open"}"#).unwrap().is_opened);
        assert_eq!(read("mcp__shop__list_prices", r#"{"number":7}"#), None);
    }

    #[test]
    fn an_agent_that_explores_changes_nothing() {
        let read = |name: &str, input: &str| {
            ToolUse::read("1", name, Raw::parse(input).unwrap(), ("", ""), LineRef::default()).is_reader()
        };
        assert!(read("Task", r#"{"subagent_type":"Explore","description":"Find the till"}"#));
        assert!(!read("Agent", r#"{"subagent_type":"general-purpose","description":"Mend the till"}"#));
        assert!(!read("Agent", r#"{"description":"Mend the till"}"#));
    }

    #[test]
    fn an_editors_tools_are_the_clients() {
        assert_eq!(Tool::of("mcp__acp__Bash"), Tool::Shell);
        assert_eq!(Tool::of("mcp__workspace__bash"), Tool::Shell);
        assert_eq!((Tool::of("mcp__shop__Bash"), Tool::of("mcp__shop__bash")), (Tool::Other, Tool::Other));
    }

    #[test]
    fn what_a_servers_tool_is_about_has_a_name() {
        let detail = |name: &str, input: &str| {
            ToolUse::read("1", name, Raw::parse(input).unwrap(), ("", ""), LineRef::default()).detail
        };
        assert_eq!(detail("mcp__shop__set_price", r#"{"name":"night","currency_name":"crown","title":"x"}"#), "night");
        assert_eq!(detail("mcp__shop__set_price", r#"{"note":"night","keyName":"x","username":"ana"}"#), "");
        let manifest = r#"{"manifest":"kind: Till\nmetadata:\n  name: night\nspec: {}"}"#;
        assert_eq!(detail("mcp__shop__apply", manifest), "Till night");
        assert_eq!(detail("Skill", r#"{"name":"night"}"#), "");
    }

    #[test]
    fn a_call_that_only_tries_is_known() {
        let is_dry_run = |input: &str| {
            ToolUse::read("1", "mcp__shop__set_price", Raw::parse(input).unwrap(), ("", ""), LineRef::default()).is_dry_run
        };
        assert!(is_dry_run(r#"{"name":"night","dry_run":true}"#) && is_dry_run(r#"{"dryRun":"server"}"#));
        assert!(!is_dry_run(r#"{"name":"night","dry_run":false}"#) && !is_dry_run(r#"{"dry":true}"#));
    }
}
