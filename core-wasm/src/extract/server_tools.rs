//! What a tool of an MCP server does, by its name and its answer. No command and no file shows it, so two questions have two answers where
//! nobody knows: whether the tool may have changed something, and whether it is clear enough that it did to tell it.

use crate::text;

/// How the names of such tools begin: `mcp__shop__create_slip`.
const SERVER: &str = "mcp__";

/// The length of the beginning of an answer that says whether the call failed, in bytes.
const MAX_ANSWER_BYTES: usize = 400;

/// The verbs of tools that change something.
const CHANGES: &[&str] = &[
    "create", "add", "insert", "upsert", "update", "edit", "patch", "put", "apply", "replace", "rename", "delete", "remove",
    "drop", "archive", "restore", "enable", "disable", "scale", "restart", "rollback", "deploy", "publish", "upload",
    "import", "merge", "send", "post", "migrate", "assign", "approve", "cancel",
];

/// The words of tools that only look, count, or work a device.
const LOOKS: &[&str] = &[
    "get",
    "list",
    "search",
    "read",
    "query",
    "fetch",
    "view",
    "find",
    "show",
    "check",
    "describe",
    "wait",
    "count",
    "status",
    "lookup",
    "numbers",
    "selection",
    "keys",
    "location",
    "breakpoint",
    "preview",
    "validate",
    "diff",
    "dry",
    "resolve",
    "screenshot",
];

/// Parts of the names of servers and tools that drive a browser.
const BROWSERS: &[&str] = &["browser", "playwright", "chrome", "puppeteer"];

/// Parts of the names of tools that handle pull requests or issues.
const TRACKED: &[&str] = &["pull_request", "pullrequest", "merge_request", "issue"];

/// Parts of the names of servers and tools that work the machine, draw a picture, or keep the agent's own notes.
const OWN_MEANS: &[&str] =
    &["computer-use", "memor", "remember", "thinking", "todo", "chapter", "tts", "config", "project_root"];

/// What an answer says, in lower case and without blanks and quotes, if nothing went wrong.
const WELL: &[&str] =
    &["error:null", "error:false", "error:0", "errors:0", "errors:[]", "errors:null", "failed:0", "failed:[]", "failures:0"];

/// Parts of such an answer from which nobody knows whether something was changed.
const DOUBTS: &[&str] = &[
    "error",
    "exception",
    "fail",
    "denied",
    "refused",
    "reject",
    "forbidden",
    "unauthor",
    "invalid",
    "notfound",
    "notallowed",
    "nosuch",
    "cannot",
    "can't",
    "unable",
    "notpermitted",
    "permission",
    "timeout",
    "timedout",
    "norights",
    "success:false",
    "ok:false",
    "created:false",
    "status:4",
    "status:5",
    "code:4",
    "code:5",
    "http4",
    "http5",
    "http/1.14",
    "http/1.15",
    "http/24",
    "http/25",
    "dryrun",
    "dry-run",
    "dry_run",
    "would",
    "preview",
];

/// Returns whether a server runs the tool.
pub(super) fn is_of_server(name: &str) -> bool {
    name.starts_with(SERVER)
}

/// Returns whether a tool of a server may have changed something: its name does not say that it only looks.
pub(super) fn may_change(name: &str) -> bool {
    is_of_server(name) && !only_looks(own_name(name))
}

/// Returns the name of a server's tool that changes something which is a part of the work, as it is told: `mcp__shop__create_slip` is "shop"
/// and the tool. None if a doubt is left, and for what is told elsewhere or belongs to the agent's own means.
pub(super) fn changing_tool(name: &str) -> Option<String> {
    let (server, tool) = name.strip_prefix(SERVER)?.rsplit_once("__")?;
    let changes = words(tool).iter().take(2).any(|word| CHANGES.contains(&word.as_str()));
    let told = format!("{} {tool}", server.rsplit("__").next().unwrap_or(server));
    let lower = name.to_lowercase();
    let is_aside = || [BROWSERS, TRACKED, OWN_MEANS].iter().any(|parts| text::contains_any(&lower, parts));
    (changes && !only_looks(tool) && has_plain_signs(&told) && !is_aside()).then_some(told)
}

/// Returns whether a tool drives a browser.
pub(super) fn drives_browser(name: &str) -> bool {
    text::contains_any(&name.to_lowercase(), BROWSERS)
}

/// Returns whether a tool handles pull requests or issues.
pub(super) fn is_of_tracker(name: &str) -> bool {
    text::contains_any(&name.to_lowercase(), TRACKED)
}

/// Returns whether a tool of a server runs something: a test, a program, a piece of code.
pub(super) fn runs_something(name: &str) -> bool {
    let own = own_name(name).to_lowercase();
    is_of_server(name) && (own.starts_with("run") || text::contains_any(&own, &["_run", "exec", "test", "eval", "process"]))
}

/// Returns the name of a tool without that of its server.
fn own_name(name: &str) -> &str {
    name.rsplit("__").next().unwrap_or(name)
}

pub(super) fn only_looks(tool: &str) -> bool {
    words(tool).iter().any(|word| LOOKS.contains(&word.as_str()))
}

/// Returns the words of a tool's name in lower case: "create" and "slip" of `create-slip` and `createSlip`. A prefix of a few letters may
/// stand before them.
pub(super) fn words(tool: &str) -> Vec<String> {
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
    words.retain(|word| !word.is_empty());
    words.iter().map(|word| word.to_lowercase()).collect()
}

/// Returns whether a text has only letters, digits, blanks and the signs of names and paths.
pub(super) fn has_plain_signs(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.' | '/'))
}

/// Returns whether the beginning of a tool's answer leaves a doubt that it did what it is for.
pub(super) fn is_doubtful(output: &str) -> bool {
    let mut head = plain_head(output);
    for well in WELL {
        head = head.replace(well, "");
    }
    text::contains_any(&head, DOUBTS)
}

/// Returns the beginning of a tool's answer in lower case, without blanks and quotes.
pub(super) fn plain_head(output: &str) -> String {
    let head = text::head(output, MAX_ANSWER_BYTES).to_lowercase();
    head.chars().filter(|c| !c.is_whitespace() && !matches!(c, '"' | '\'' | '\\')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_change_something_need_not_be_told() {
        for (tool, may, told) in [
            ("mcp__shop__create_slip", true, Some("shop create_slip")),
            ("mcp__plugin_shop__ring__updateBell", true, Some("ring updateBell")),
            ("mcp__shop__ring", true, None),
            ("mcp__tracker__create_issue", true, None),
            ("mcp__shop__getBudget", false, None),
            ("mcp__shop__widget", true, None),
            ("mcp__shop__resolve-price", false, None),
            ("Bash", false, None),
        ] {
            assert_eq!((may_change(tool), changing_tool(tool).as_deref()), (may, told), "{tool}");
        }
    }

    #[test]
    fn a_tool_that_runs_something() {
        for tool in ["mcp__runner__run_tests", "mcp__ide__executeCode", "mcp__shop__start_process", "mcp__till__eval"] {
            assert!(runs_something(tool), "{tool}");
        }
        for tool in ["mcp__runner__list_slips", "mcp__tests__prune_slips", "run_tests"] {
            assert!(!runs_something(tool), "{tool}");
        }
    }

    #[test]
    fn browsers_and_trackers_are_known_by_any_part_of_the_name() {
        assert!(drives_browser("mcp__Claude_in_Chrome__navigate") && !drives_browser("mcp__shop__navigate"));
        assert!(is_of_tracker("mcp__hub__update_pull_request") && !is_of_tracker("mcp__hub__request"));
    }
}
