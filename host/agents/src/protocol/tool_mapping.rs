//! Converts other agents' tools to Claude Code's terms, so that policies need to know only one set of names: `Bash`
//! with a `command`, `Read`, `Write` and `Edit` with a `file_path`, and so on. Unknown tools keep their name and input.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::event::ToolUse;
use super::patch;

/// Claude Code's tool names and the other agents' names for the same tools. No name has two meanings.
const TOOLS: &[(&str, &[&str])] = &[
    ("Bash", &["bash", "Shell", "shell", "local_shell", "exec_command", "run_shell_command", "run_terminal_cmd", "Execute"]),
    ("PowerShell", &["powershell"]),
    ("BashOutput", &["write_stdin", "read_bash", "write_bash", "stop_bash", "list_bash"]),
    ("Read", &["read", "view", "read_file", "view_image"]),
    ("Write", &["write", "create", "Create", "write_file", "create_file"]),
    ("Edit", &["edit", "replace", "StrReplace", "search_replace", "str_replace_editor", "edit_file"]),
    ("Grep", &["grep", "rg", "grep_search", "search_file_content"]),
    ("Glob", &["glob", "glob_file_search", "file_search", "find"]),
    ("LS", &["list", "list_directory", "list_dir", "ls", "tree"]),
    ("WebFetch", &["webfetch", "web_fetch", "FetchUrl"]),
    ("WebSearch", &["websearch", "web_search", "google_web_search"]),
    ("TodoWrite", &["update_plan", "write_todos", "update_todo", "todo_write", "todowrite"]),
    ("Task", &["task", "spawn_agent", "invoke_agent"]),
    ("AskUserQuestion", &["ask_user", "AskUser", "request_user_input"]),
];

/// Claude Code's field names and the names that others use for the same fields. The first that is present is used.
const COMMAND: (&str, &[&str]) = ("command", &["command", "cmd"]);
const FILE: (&str, &[&str]) = ("file_path", &["file_path", "path", "absolute_path", "target_file", "filePath"]);
const CONTENT: (&str, &[&str]) = ("content", &["content", "file_text", "contents"]);
const OLD: (&str, &[&str]) = ("old_string", &["old_string", "old_str", "oldString", "oldText", "before"]);
const NEW: (&str, &[&str]) = ("new_string", &["new_string", "new_str", "newString", "newText", "after"]);
const PLACE: (&str, &[&str]) = ("path", &["path", "dir_path", "target_directory"]);
const QUERY: (&str, &[&str]) = ("query", &["query", "search_term"]);
const ABOUT: (&str, &[&str]) = ("description", &["description", "agent_name", "agent_type", "name"]);
const KIND: (&str, &[&str]) = ("subagent_type", &["subagent_type", "agent_name", "agent_type"]);
const ASKED: (&str, &[&str]) = ("prompt", &["prompt", "message"]);

/// A tool name and its input in Claude Code's terms.
pub(super) type NamedInput = (String, Value);

/// A tool call in Claude Code's terms.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MappedUse {
    /// The call's identifier. If one call became several, the first keeps it.
    pub(super) id: String,
    pub(super) tool: String,
    pub(super) input: Value,
}

/// Returns Claude Code's name for a tool.
pub(super) fn claude_code_name(tool: &str) -> &str {
    TOOLS.iter().find(|(_, others)| others.contains(&tool)).map_or(tool, |(name, _)| name)
}

/// Converts one call to Claude Code's terms. A patch of several files becomes one call per file. Relative paths are
/// resolved against `cwd`.
pub(super) fn map_uses(id: &str, tool: &str, input: &Value, cwd: Option<&Path>) -> Vec<MappedUse> {
    let mut uses = patch::within(tool, input).map(|text| patch::uses(text, cwd)).unwrap_or_default();
    if uses.is_empty() {
        uses.push(one(tool, input, cwd));
    }
    let named = |(number, (tool, input)): (usize, NamedInput)| MappedUse { id: part(id, number), tool, input };
    uses.into_iter().enumerate().map(named).collect()
}

/// Returns the identifier of one part of a call: one file of a patch. The first part keeps the identifier of the call.
pub(super) fn part(id: &str, number: usize) -> String {
    if number == 0 { id.to_owned() } else { format!("{id}#{}", number + 1) }
}

/// Converts a call that a hook reported, with `input` as its parsed input, to Claude Code's terms.
pub(super) fn to_claude_code(tool_use: &ToolUse, input: &Value, cwd: &Path) -> Vec<ToolUse> {
    let named = map_uses(&tool_use.id, &tool_use.tool, input, Some(cwd));
    let told = |it: MappedUse| ToolUse { id: it.id, tool: it.tool, input: it.input.to_string(), ..tool_use.clone() };
    named.into_iter().map(told).collect()
}

fn one(tool: &str, input: &Value, cwd: Option<&Path>) -> NamedInput {
    let mut named = claude_code_name(tool);
    if tool == "str_replace_editor" {
        named = match input["command"].as_str() {
            Some("view") => "Read",
            Some("create") => "Write",
            _ => named,
        };
    }
    let mut out = Map::new();
    let mut take = |(key, others): (&str, &[&str])| {
        if let Some(value) = others.iter().find_map(|other| input.get(*other)).filter(|value| !value.is_null()) {
            out.insert(key.to_owned(), value.clone());
        }
    };
    match named {
        "Bash" | "PowerShell" => {
            take(COMMAND);
            take(("description", &["description", "justification"]));
        }
        "Read" => [FILE, ("offset", &["offset"]), ("limit", &["limit"])].into_iter().for_each(take),
        "Write" => [FILE, CONTENT].into_iter().for_each(take),
        "Edit" => [FILE, OLD, NEW, ("edits", &["edits"])].into_iter().for_each(take),
        "Grep" | "Glob" | "LS" => {
            [("pattern", &["pattern", "glob_pattern", "query"][..]), PLACE].into_iter().for_each(take);
        }
        "WebFetch" => [("url", &["url"][..]), ASKED].into_iter().for_each(take),
        "WebSearch" => take(QUERY),
        "Task" => [ABOUT, KIND, ASKED].into_iter().for_each(take),
        "TodoWrite" => {
            if let Some(todos) = todos(input) {
                out.insert("todos".into(), todos);
            }
        }
        _ => return (named.to_owned(), input.clone()),
    }
    for edit in out.get_mut("edits").and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut) {
        for (key, others) in [OLD, NEW] {
            if let Some(value) = others.iter().find_map(|other| edit.remove(*other)) {
                edit.insert(key.to_owned(), value);
            }
        }
    }
    if let Some(command) = out.get_mut("command") {
        *command = Value::from(script(command));
    }
    if let Some(path) = out.get("file_path").and_then(Value::as_str) {
        let path = absolute(path, cwd);
        out.insert("file_path".into(), path.into());
    }
    if out.is_empty() {
        // The agent has renamed its fields. The unchanged input may still say what the call was about.
        return (named.to_owned(), input.clone());
    }
    (named.to_owned(), Value::Object(out))
}

/// Returns a command as one line of shell. Some agents pass it as a list of words.
pub(super) fn script(command: &Value) -> String {
    let Some(words) = command.as_array() else { return command.as_str().unwrap_or_default().to_owned() };
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    match words[..] {
        [shell, "-c" | "-lc", script] if shell.ends_with("sh") => script.to_owned(),
        _ => words.join(" "),
    }
}

/// Returns a path as Claude Code would write it: absolute if `cwd` is known.
pub(super) fn absolute(path: &str, cwd: Option<&Path>) -> String {
    match cwd {
        Some(cwd) if !path.is_empty() && cwd.is_absolute() && cwd.parent().is_some() => {
            cwd.join(path).to_string_lossy().into()
        }
        _ => path.to_owned(),
    }
}

/// Converts a plan or a to-do list.
fn todos(input: &Value) -> Option<Value> {
    let items = input.get("todos").or_else(|| input.get("plan"))?.as_array()?;
    let item = |item: &Value| {
        let content = ["content", "description", "step"].iter().find_map(|key| item[*key].as_str()).unwrap_or_default();
        let status = item["status"].as_str().unwrap_or("pending");
        json!({"content": content, "status": status})
    };
    Some(items.iter().map(item).collect())
}

/// Extracts the text of a result, whatever its form: a string, text blocks, or an object that contains one.
pub(super) fn text(value: &Value) -> String {
    const KEYS: &[&str] =
        &["output", "text", "content", "stdout", "textResultForLlm", "text_result_for_llm", "llmContent", "detailedContent"];
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => {
            KEYS.iter().filter_map(|key| fields.get(*key)).map(text).find(|text| !text.is_empty()).unwrap_or_default()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

/// The outcome of a call: what the agent saw, and whether the call failed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// For a failed command, the text begins with `Exit code N`, as in Claude Code.
    pub(super) text: String,
    pub(super) failed: bool,
}

impl Outcome {
    /// The outcome of a command that ended with this exit code.
    pub(super) fn with_code(code: i64, text: &str) -> Self {
        match code {
            0 => Self { text: text.to_owned(), failed: false },
            _ => Self { text: format!("Exit code {code}\n{text}"), failed: true },
        }
    }

    /// Returns a call with this outcome; its other fields are empty.
    pub(super) fn tool_use(self) -> ToolUse {
        let output = Value::from(self.text.as_str()).to_string();
        ToolUse { output, error: self.failed.then_some(self.text), ..ToolUse::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn single(tool: &str, input: &Value) -> NamedInput {
        let mut uses = map_uses("id", tool, input, Some(Path::new("/p")));
        assert_eq!(uses.len(), 1);
        let one = uses.remove(0);
        assert_eq!(one.id, "id");
        (one.tool, one.input)
    }

    #[test]
    fn tools_get_claude_codes_names() {
        for (tool, input, name, wanted) in [
            ("exec_command", json!({"cmd": "ls"}), "Bash", json!({"command": "ls"})),
            ("shell", json!({"command": ["bash", "-lc", "a && b"], "workdir": "/p"}), "Bash", json!({"command": "a && b"})),
            (
                "run_shell_command",
                json!({"command": "ls", "description": "d"}),
                "Bash",
                json!({"command": "ls", "description": "d"}),
            ),
            ("read_file", json!({"absolute_path": "/p/a"}), "Read", json!({"file_path": "/p/a"})),
            ("view", json!({"path": "a"}), "Read", json!({"file_path": "/p/a"})),
            ("create", json!({"path": "a", "file_text": "x"}), "Write", json!({"file_path": "/p/a", "content": "x"})),
            ("Create", json!({"file_path": "a", "content": "x"}), "Write", json!({"file_path": "/p/a", "content": "x"})),
            (
                "replace",
                json!({"file_path": "/p/a", "old_string": "x", "new_string": "y", "instruction": "z"}),
                "Edit",
                json!({"file_path": "/p/a", "old_string": "x", "new_string": "y"}),
            ),
            (
                "edit",
                json!({"path": "a", "old_str": "x", "new_str": "y"}),
                "Edit",
                json!({"file_path": "/p/a", "old_string": "x", "new_string": "y"}),
            ),
            (
                "edit",
                json!({"filePath": "/p/a", "oldString": "x", "newString": "y"}),
                "Edit",
                json!({"file_path": "/p/a", "old_string": "x", "new_string": "y"}),
            ),
            ("str_replace_editor", json!({"command": "view", "path": "a"}), "Read", json!({"file_path": "/p/a"})),
            (
                "update_plan",
                json!({"plan": [{"step": "a", "status": "completed"}]}),
                "TodoWrite",
                json!({"todos": [{"content": "a", "status": "completed"}]}),
            ),
            ("mcp__x__y", json!({"a": 1}), "mcp__x__y", json!({"a": 1})),
            ("Read", json!({"something": "new"}), "Read", json!({"something": "new"})),
        ] {
            assert_eq!(single(tool, &input), (name.to_owned(), wanted), "{tool}");
        }
    }

    #[test]
    fn results_are_texts() {
        assert_eq!(text(&json!("a")), "a");
        assert_eq!(text(&json!([{"type": "text", "text": "a"}, {"image": 1}, "b"])), "a\nb");
        assert_eq!(text(&json!({"output": "a", "metadata": {}})), "a");
        assert_eq!(text(&json!(7)), "");
    }
}
