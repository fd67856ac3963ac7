//! What the agent changed through tools of MCP servers: a cluster, a database, a calendar. No command shows it.

use serde::{Deserialize, Serialize};

use crate::extract::labels::Labels;
use crate::text;

/// The maximum number of tools to keep, and how many of them are told.
const MAX_TOOLS: usize = 12;
const MAX_TOLD: usize = 4;
/// How many names of things a tool keeps.
const MAX_NAMES: usize = 4;
/// The maximum length of such a name and of why a call failed, in characters.
const MAX_NAME_CHARS: usize = 50;
const MAX_CAUSE_CHARS: usize = 120;

/// The verbs of tools that change something.
const CHANGES: &[&str] = &[
    "create", "add", "insert", "upsert", "update", "edit", "patch", "set", "put", "apply", "replace", "rename", "move",
    "delete", "remove", "drop", "archive", "restore", "enable", "disable", "scale", "restart", "rollback", "deploy",
    "publish", "upload", "import", "merge", "send", "post", "migrate", "assign", "approve", "cancel", "pause",
];

/// The words with which the names of tools that only look begin.
const LOOKS: &[&str] =
    &["get", "list", "search", "read", "query", "fetch", "view", "find", "show", "check", "describe", "wait", "count"];

/// Parts of the names of servers and tools whose changes are no part of the work: they drive a page, draw a picture, or keep the agent's
/// own notes. Pull requests and issues are told elsewhere.
const ASIDE: &[&str] = &[
    "browser",
    "playwright",
    "chrome",
    "puppeteer",
    "computer-use",
    "memor",
    "remember",
    "thinking",
    "todo",
    "chapter",
    "tts",
    "config",
    "project_root",
    "pull_request",
    "pullrequest",
    "merge_request",
    "issue",
];

/// The calls of one tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Calls {
    /// The server and the tool, as they are told.
    tool: String,
    /// How many calls passed and failed.
    passed: u32,
    failed: u32,
    /// The names of the latest things that were changed, each once, and how many others there were.
    names: Vec<String>,
    others: u32,
    /// Why the last call failed, if it did. May be empty.
    cause: String,
}

/// The calls of all such tools, in the order of their last time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ServerCalls {
    calls: Vec<Calls>,
}

impl ServerCalls {
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Records a call of a tool, with the name of what it was about and what the tool answered, if the tool changes something. The name may be
    /// empty.
    pub(super) fn called(&mut self, tool: &str, about: &str, output: &str, is_error: bool) {
        let Some(tool) = changing_tool(tool) else { return };
        let at = self.calls.iter().position(|calls| calls.tool == tool);
        let mut calls = at.map(|at| self.calls.remove(at)).unwrap_or_default();
        calls.tool = tool;
        if is_error || is_failure(output) {
            calls.failed += 1;
            let cause = output.lines().next().unwrap_or_default().trim();
            let cause = text::first_sentence(cause).unwrap_or_else(|| cause.to_owned());
            calls.cause = text::clip(cause.trim_end_matches('.'), MAX_CAUSE_CHARS).into_owned();
        } else {
            calls.passed += 1;
            calls.cause.clear();
            calls.name(&text::clip(about, MAX_NAME_CHARS));
        }
        self.calls.push(calls);
        if self.calls.len() > MAX_TOOLS {
            self.calls.remove(0);
        }
    }

    /// Returns the calls as they are told.
    pub(super) fn items<'a>(&'a self, labels: &'a Labels) -> impl Iterator<Item = String> + 'a {
        self.calls[self.calls.len().saturating_sub(MAX_TOLD)..].iter().map(|calls| calls.text(labels))
    }
}

impl Calls {
    fn name(&mut self, name: &str) {
        if name.is_empty() {
            return;
        }
        match self.names.iter().position(|known| known == name) {
            Some(at) => {
                let known = self.names.remove(at);
                self.names.push(known);
            }
            None => self.names.push(name.to_owned()),
        }
        if self.names.len() > MAX_NAMES {
            self.names.remove(0);
            self.others += 1;
        }
    }

    fn text(&self, labels: &Labels) -> String {
        let times = if self.passed > 1 { format!(" ({}×)", self.passed) } else { String::new() };
        let mut names = self.names.join(", ");
        if self.others > 0 {
            names = format!("{names}, +{}", self.others);
        }
        let failed = match (self.failed, self.passed) {
            (0, _) => String::new(),
            _ if !self.cause.is_empty() => format!("{}: {}", labels.failed, self.cause),
            (_, 0) => labels.failed.to_owned(),
            // It passed later.
            _ => String::new(),
        };
        let said: Vec<String> = [names, failed].into_iter().filter(|it| !it.is_empty()).collect();
        let arrow = if said.is_empty() { "" } else { " → " };
        format!("`{}`{times}{arrow}{}", self.tool, said.join(", "))
    }
}

/// Returns the name of a server's tool that changes something, as it is told: `mcp__shop__create_slip` is "shop" and the tool.
fn changing_tool(name: &str) -> Option<String> {
    let (server, tool) = name.strip_prefix("mcp__")?.rsplit_once("__")?;
    let lower = name.to_lowercase();
    let words: Vec<String> = first_words(tool).collect();
    let has = |any: &[&str]| words.iter().any(|word| any.contains(&word.as_str()));
    let server = server.rsplit("__").next().unwrap_or(server);
    (has(CHANGES) && !has(LOOKS) && !text::contains_any(&lower, ASIDE)).then(|| format!("{server} {tool}"))
}

/// Returns the first two words of a tool's name in lower case, without a prefix of a few letters: "create" and "slip" of
/// `sh_create_slip`, `create-slip` and `createSlip`.
fn first_words(tool: &str) -> impl Iterator<Item = String> + '_ {
    let mut words: Vec<String> = Vec::new();
    for part in tool.split(['_', '-', '.']) {
        let mut word = String::new();
        for c in part.chars() {
            if c.is_uppercase() && !word.is_empty() && !word.ends_with(char::is_uppercase) {
                words.push(std::mem::take(&mut word));
            }
            word.push(c);
        }
        words.push(word);
    }
    words.into_iter().filter(|word| !word.is_empty()).take(2).map(|word| word.to_lowercase())
}

/// Returns whether a tool answered with an error, though the client does not say so.
fn is_failure(output: &str) -> bool {
    let head = text::head(output.trim_start(), 120).to_lowercase();
    head.starts_with("error")
        || head.starts_with("{\"error\"")
        || head.starts_with("failed")
        || head.contains("\"iserror\":true")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::labels::labels;
    use crate::text::Language;

    fn items(calls: &[(&str, &str, &str, bool)]) -> Vec<String> {
        let mut all = ServerCalls::default();
        for (name, what, output, is_error) in calls {
            all.called(name, what, output, *is_error);
        }
        all.items(labels(Language::English)).collect()
    }

    #[test]
    fn what_a_server_changed_is_told_with_its_names() {
        let create = "mcp__shop__tl_create_slip";
        let calls = ["day", "night", "day", "noon", "dusk", "dawn"].map(|name| (create, name, "ok", false));
        assert_eq!(items(&calls), ["`shop tl_create_slip` (6×) → day, noon, dusk, dawn, +1"]);
        assert_eq!(items(&[("mcp__plugin_shop__ring__updateBell", "", "{}", false)]), ["`ring updateBell`"]);
    }

    #[test]
    fn what_failed_is_told_unless_it_passed_later() {
        let set = "mcp__shop__set_price";
        let failed = (set, "lamp", "Error: no such lamp\nat till", false);
        assert_eq!(items(&[failed]), ["`shop set_price` → failed: Error: no such lamp"]);
        assert_eq!(items(&[(set, "bell", "done", false), failed]), ["`shop set_price` → bell, failed: Error: no such lamp"]);
        assert_eq!(items(&[failed, (set, "bell", "done", false)]), ["`shop set_price` → bell"]);
    }

    #[test]
    fn what_only_looks_or_stands_elsewhere_is_not_told() {
        for tool in [
            "mcp__shop__list_prices",
            "mcp__shop__get_update",
            "mcp__playwright__browser_set_size",
            "mcp__memory__create_entities",
            "mcp__tracker__create_issue",
            "mcp__hub__update_pull_request",
            "mcp__shop__preset_prices",
            "Bash",
        ] {
            let told = items(&[(tool, "till", "ok", false)]);
            assert_eq!(told.len(), 0, "{tool}");
        }
    }
}
