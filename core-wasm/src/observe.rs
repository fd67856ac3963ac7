//! Stage `observer`: turns one tool call into an observation.
//!
//! An observation answers what a later session may ask: which command ran and how it ended, which file was touched and
//! by how much, what was searched for and where it was found. Only the beginning and the end of the output are kept.
//! Terminal escapes and secrets are removed before anything is derived or cut, because half a secret, or one without the
//! option before it, is not recognized as one. So [`ToolUse`] holds scrubbed texts only, and the event stays outside.

mod compress;
mod failure;
mod patch;
mod secrets;

use serde_json::Value;

use crate::{
    bindings::{
        exports::throughline::policy::observer::{Observation, ToolEvent},
        throughline::policy::types::Session,
    },
    redact::scrub,
    scrubbed::Scrubbed,
    text,
};
use compress::{head, head_and_tail, plain};
use patch::{Patch, changed};
use secrets::{scrub_named, scrub_texts};

/// The maximum length of a summary, in characters.
const MAX_SUMMARY_CHARS: usize = 240;
/// The maximum length of a command, pattern or address in a summary, in characters.
const MAX_EXCERPT_CHARS: usize = 120;
/// The maximum number of files in one observation. A search that finds more is not about any of them.
const MAX_FILES: usize = 20;
/// How many lines of a file that was read or written are kept. The file itself is still there.
const PREVIEW_LINES: usize = 20;

/// Tools that only change the agent's own state.
const IGNORED_TOOLS: &[&str] = &[
    "BashOutput",
    "EnterPlanMode",
    "KillBash",
    "KillShell",
    "ScheduleWakeup",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "ToolSearch",
];

/// Returns the observation, or none if the call is not informative.
pub fn observe(session: &Session, event: &ToolEvent) -> Option<Observation> {
    if IGNORED_TOOLS.contains(&event.tool.as_str()) {
        return None;
    }
    let tool_use = ToolUse::read(session, event);
    let draft = match event.tool.as_str() {
        "Bash" | "PowerShell" => tool_use.command(),
        "Read" => tool_use.read_file(),
        "Write" => tool_use.write(),
        "Edit" | "MultiEdit" => tool_use.edit(),
        "NotebookEdit" => tool_use.notebook(),
        "Grep" => tool_use.grep(),
        "Glob" => tool_use.glob(),
        "Task" | "Agent" => tool_use.agent(),
        "WebFetch" => tool_use.fetch(),
        "WebSearch" => tool_use.web_search(),
        "AskUserQuestion" => tool_use.question(),
        "TodoWrite" => tool_use.todo(),
        _ => tool_use.other(),
    };
    Some(tool_use.finish(tool_use.with_failure(draft)))
}

/// An observation before it is bounded and scrubbed.
#[derive(Default)]
struct ObservationDraft {
    summary: String,
    detail: String,
    files: Vec<String>,
    attributes: Vec<(String, String)>,
}

/// One tool call with its input and output parsed and scrubbed. Both may have any shape; missing fields read as empty.
struct ToolUse<'a> {
    session: &'a Session,
    tool: Scrubbed,
    succeeded: bool,
    input: Value,
    output: Value,
    /// The input's command, if the tool is a shell.
    command: Option<Scrubbed>,
    /// Empty if there is none.
    error: Scrubbed,
}

impl<'a> ToolUse<'a> {
    fn read(session: &'a Session, event: &ToolEvent) -> Self {
        let parse = |text: &str| {
            let mut value = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
            scrub_texts(&mut value);
            value
        };
        let mut input = serde_json::from_str(&event.input).unwrap_or_else(|_| Value::String(event.input.clone()));
        let is_shell = matches!(event.tool.as_str(), "Bash" | "PowerShell");
        let command = is_shell.then(|| Scrubbed::of_command(input["command"].as_str().unwrap_or_default()));
        scrub_texts(&mut input);
        Self {
            session,
            tool: Scrubbed::of(&event.tool),
            succeeded: event.succeeded,
            input,
            output: parse(&event.output),
            command,
            error: Scrubbed::of_output(event.error.as_deref().unwrap_or_default()),
        }
    }

    /// Bounds the draft. Its texts are joined from several fields, so they are scrubbed once more.
    fn finish(&self, draft: ObservationDraft) -> Observation {
        let detail = if self.succeeded || self.error.is_empty() { draft.detail } else { plain(&self.error) };
        let mut files: Vec<String> = Vec::new();
        for file in draft.files {
            let file = scrub(&file).into_owned();
            if !file.is_empty() && files.len() < MAX_FILES && !files.contains(&file) {
                files.push(file);
            }
        }
        Observation {
            summary: line(&scrub(&draft.summary), MAX_SUMMARY_CHARS),
            detail: head_and_tail(&scrub(&detail)),
            files,
            attributes: draft.attributes.into_iter().map(|(name, value)| (name, scrub(&value).into_owned())).collect(),
        }
    }

    fn input(&self, name: &str) -> &str {
        self.input[name].as_str().unwrap_or_default()
    }

    fn output(&self, name: &str) -> &str {
        self.output[name].as_str().unwrap_or_default()
    }

    /// Returns how the call ended, in a word or two: `ok`, `exit 3`, `failed`.
    fn state(&self) -> String {
        if self.succeeded {
            return "ok".to_owned();
        }
        self.exit_code().map_or_else(|| "failed".to_owned(), |code| format!("exit {code}"))
    }

    /// Returns the exit code. The client puts `Exit code 3` into the first line of the error.
    fn exit_code(&self) -> Option<i32> {
        let (_, rest) = self.error.split_once("xit code ")?;
        let digits = rest.split(|letter: char| !letter.is_ascii_digit()).next()?;
        digits.parse().ok()
    }

    /// Adds the subject of the call and, if the call failed, the signature that identifies the failure.
    fn with_failure(&self, mut draft: ObservationDraft) -> ObservationDraft {
        let subject = match &self.command {
            Some(command) => failure::subject_of_command(command),
            None => match draft.files.first() {
                Some(file) if draft.files.len() == 1 => format!("{} {file}", &*self.tool),
                _ => self.tool.to_string(),
            },
        };
        if !self.succeeded && !self.error.trim().is_empty() && !failure::is_procedure(&self.error) {
            let line = failure::error_line(self.command.as_ref(), &self.error);
            // The file is one of the details that differ between failures, unless there is nothing else.
            let about = if self.command.is_some() { subject.as_str() } else { &*self.tool };
            draft.attributes.push(("signature".to_owned(), format!("{about}: {}", failure::normalize(&line))));
            draft.attributes.push(("error".to_owned(), line));
        }
        draft.attributes.push(("subject".to_owned(), subject));
        draft
    }

    fn command(&self) -> ObservationDraft {
        let command = self.command.as_deref().unwrap_or_default();
        let excerpt = excerpt(command);
        let background =
            self.output["backgroundTaskId"].is_string() || self.input["run_in_background"].as_bool().unwrap_or_default();
        let interrupted = self.output["interrupted"].as_bool().unwrap_or_default();
        let state = match self.state() {
            _ if interrupted => "interrupted".to_owned(),
            state if background && state == "ok" => "in the background".to_owned(),
            state => state,
        };
        let output = [self.output("stdout"), self.output("stderr")].join("\n");
        let output = if self.output.is_string() { self.text() } else { output };
        let image = self.output["isImage"].as_bool().unwrap_or_default();
        // Do not learn from our own output to the agent.
        let ours = command.trim_start().starts_with("throughline ");
        let code = if self.succeeded { Some(0) } else { self.exit_code() };
        let mut attributes = vec![("command".to_owned(), line(command, 2_000))];
        attributes.extend(code.map(|code| ("exit_code".to_owned(), code.to_string())));
        ObservationDraft {
            summary: format!("Ran `{excerpt}`: {state}"),
            detail: if image || ours { String::new() } else { plain(&output) },
            files: Vec::new(),
            attributes,
        }
    }

    fn read_file(&self) -> ObservationDraft {
        let path = self.relative(self.input("file_path"));
        let file = &self.output["file"];
        let content = file["content"].as_str().unwrap_or_default();
        let content = if self.output.is_string() { self.text() } else { content.to_owned() };
        let kind = self.output("type");
        let summary = if !self.succeeded {
            format!("Read {path}: failed")
        } else if !matches!(kind, "text" | "") {
            format!("Read {path} ({})", excerpt(kind))
        } else {
            let (start, lines) = (number(&file["startLine"]), number(&file["numLines"]));
            let total = number(&file["totalLines"]);
            let part = if lines < total && lines > 0 {
                format!(" (lines {start} to {} of {total})", start + lines - 1)
            } else {
                String::new()
            };
            let first = content.lines().map(str::trim).find(|line| !line.is_empty());
            first.map_or_else(|| format!("Read {path}{part}"), |first| format!("Read {path}{part}: {}", excerpt(first)))
        };
        ObservationDraft { summary, detail: head(&content, PREVIEW_LINES), files: vec![path], attributes: Vec::new() }
    }

    fn write(&self) -> ObservationDraft {
        let path = self.relative(self.input("file_path"));
        let content = self.input("content");
        let lines = content.lines().count();
        let hunks = Patch::of(&self.output["structuredPatch"]);
        let done = if self.output("type") == "create" { "Created" } else { "Wrote" };
        let summary = if self.succeeded {
            format!("{done} {path} ({})", counted(lines, "line"))
        } else {
            format!("Write {path}: failed")
        };
        let (added, removed) = if hunks.text.is_empty() { (lines, 0) } else { (hunks.added, hunks.removed) };
        ObservationDraft {
            summary,
            detail: if hunks.text.is_empty() { head(content, PREVIEW_LINES) } else { hunks.text },
            files: vec![path],
            attributes: changed(added, removed),
        }
    }

    fn edit(&self) -> ObservationDraft {
        let path = self.relative(self.input("file_path"));
        let mut hunks = Patch::of(&self.output["structuredPatch"]);
        let edits = self.input["edits"].as_array().map_or(0, Vec::len);
        if hunks.text.is_empty() {
            let single = std::slice::from_ref(&self.input);
            let all = self.input["edits"].as_array().map_or(single, Vec::as_slice);
            for edit in all {
                hunks.replace(edit);
            }
        }
        let many = if edits > 1 { format!("{edits} edits, ") } else { String::new() };
        let summary = if self.succeeded {
            format!("Edited {path} ({many}+{} −{})", hunks.added, hunks.removed)
        } else {
            format!("Edit {path}: failed")
        };
        ObservationDraft { summary, detail: hunks.text, files: vec![path], attributes: changed(hunks.added, hunks.removed) }
    }

    fn notebook(&self) -> ObservationDraft {
        let path = self.relative(self.input("notebook_path"));
        let mode = self.input("edit_mode");
        let mode = if mode.is_empty() { "replace" } else { mode };
        ObservationDraft {
            summary: format!("Edited notebook {path} ({} cell): {}", excerpt(mode), self.state()),
            detail: self.input("new_source").to_owned(),
            files: vec![path],
            attributes: Vec::new(),
        }
    }

    fn grep(&self) -> ObservationDraft {
        let pattern = excerpt(self.input("pattern"));
        let content = if self.output.is_string() { self.text() } else { self.output("content").to_owned() };
        let mut files: Vec<String> = self.strings("filenames");
        if files.is_empty() {
            files = files_of_matches(&content);
        }
        let mut files: Vec<String> = files.iter().map(|file| self.relative(file)).collect();
        files.dedup();
        let path = self.input("path");
        let matches = number(&self.output["numMatches"]).max(number(&self.output["numLines"]));
        let found = match (self.succeeded, files.len().max(number(&self.output["numFiles"])), matches) {
            (false, ..) => "failed".to_owned(),
            (_, 0, 0) => "nothing".to_owned(),
            (_, 0, matches) => counted(matches, "match"),
            (_, files, 0) => counted(files, "file"),
            (_, files, matches) => format!("{} in {}", counted(matches, "match"), counted(files, "file")),
        };
        let within = if path.is_empty() { String::new() } else { format!(" in {}", self.relative(path)) };
        // If a search covers a single file, only the input names it.
        if files.is_empty() && matches > 0 && !path.is_empty() {
            files.push(self.relative(path));
        }
        ObservationDraft {
            summary: format!("Searched for `{pattern}`{within}: {found}"),
            detail: files.join("\n"),
            files: if files.len() <= MAX_FILES { files } else { Vec::new() },
            attributes: Vec::new(),
        }
    }

    fn glob(&self) -> ObservationDraft {
        let files: Vec<String> = self.strings("filenames").iter().map(|file| self.relative(file)).collect();
        let count = files.len().max(number(&self.output["numFiles"]));
        ObservationDraft {
            summary: format!("Listed `{}`: {}", excerpt(self.input("pattern")), counted(count, "file")),
            detail: sample(&files).join("\n"),
            files: Vec::new(),
            attributes: Vec::new(),
        }
    }

    fn agent(&self) -> ObservationDraft {
        let kind = self.input("subagent_type");
        let kind = if kind.is_empty() { "agent" } else { kind };
        let state = if self.output["isAsync"].as_bool().unwrap_or_default() {
            "in the background".to_owned()
        } else if self.succeeded {
            "done".to_owned()
        } else {
            "failed".to_owned()
        };
        ObservationDraft {
            summary: format!("Sub-agent {}: {} ({state})", excerpt(kind), excerpt(self.input("description"))),
            detail: blocks(&self.output["content"]),
            files: Vec::new(),
            attributes: Vec::new(),
        }
    }

    fn fetch(&self) -> ObservationDraft {
        let code = number(&self.output["code"]);
        let state = if code > 0 { code.to_string() } else { self.state() };
        ObservationDraft {
            summary: format!("Fetched {}: {state}", excerpt(self.input("url"))),
            detail: if self.output.is_string() { self.text() } else { self.output("result").to_owned() },
            files: Vec::new(),
            attributes: vec![("url".to_owned(), line(self.input("url"), 2_000))],
        }
    }

    fn web_search(&self) -> ObservationDraft {
        let mut lines = Vec::new();
        for result in self.output["results"].as_array().into_iter().flatten() {
            for page in result["content"].as_array().into_iter().flatten() {
                let title = page["title"].as_str().unwrap_or_default();
                lines.push(format!("{title} {}", page["url"].as_str().unwrap_or_default()));
            }
            lines.extend(result.as_str().map(str::to_owned));
        }
        ObservationDraft {
            summary: format!("Searched the web for `{}`: {}", excerpt(self.input("query")), self.state()),
            detail: lines.join("\n"),
            ..ObservationDraft::default()
        }
    }

    fn question(&self) -> ObservationDraft {
        let answers: Vec<String> = self.output["answers"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(question, answer)| {
                let answer = answer.as_str().map_or_else(|| answer.to_string(), str::to_owned);
                format!("{question} → {answer}")
            })
            .collect();
        let asked = self.input["questions"][0]["question"].as_str().unwrap_or_default();
        ObservationDraft {
            summary: answers.first().map_or_else(
                || format!("Asked the user: {} (no answer)", excerpt(asked)),
                |answer| format!("Asked the user: {}", line(answer, 2 * MAX_EXCERPT_CHARS)),
            ),
            detail: answers.join("\n"),
            ..ObservationDraft::default()
        }
    }

    fn todo(&self) -> ObservationDraft {
        let todos = self.input["todos"].as_array().map_or(&[][..], Vec::as_slice);
        let count = |state: &str| todos.iter().filter(|todo| todo["status"] == state).count();
        let lines: Vec<String> = todos
            .iter()
            .map(|todo| {
                let text = |name: &str| todo[name].as_str().unwrap_or_default();
                format!("[{}] {}", text("status"), text("content"))
            })
            .collect();
        ObservationDraft {
            summary: format!(
                "To-do list: {} done, {} in progress, {} pending",
                count("completed"),
                count("in_progress"),
                count("pending")
            ),
            detail: lines.join("\n"),
            ..ObservationDraft::default()
        }
    }

    /// Observes tools of MCP servers, and tools that are newer than this policy.
    fn other(&self) -> ObservationDraft {
        let tool = self.tool.strip_prefix("mcp__").map_or_else(|| self.tool.to_string(), |name| name.replacen("__", " ", 1));
        let mut fields = self.input.as_object().into_iter().flatten();
        let argument = fields.find_map(|(name, value)| Some(scrub_named(name, value.as_str()?)));
        let argument = argument.map_or_else(String::new, |argument| format!(" `{}`", excerpt(&argument)));
        let paths = ["file_path", "path", "notebook_path"];
        ObservationDraft {
            summary: format!("{}{argument}: {}", excerpt(&tool), self.state()),
            detail: self.text(),
            files: paths
                .iter()
                .map(|name| self.input(name))
                .filter(|path| !path.is_empty())
                .map(|path| self.relative(path))
                .collect(),
            attributes: Vec::new(),
        }
    }

    /// Returns the output as text, whatever its shape.
    fn text(&self) -> String {
        plain(&blocks(&self.output))
    }

    fn strings(&self, name: &str) -> Vec<String> {
        let list = self.output[name].as_array().into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// Returns a path with `/` between its folders, relative to the project's root if it is inside.
    fn relative(&self, path: &str) -> String {
        let slashed = |path: &str| path.replace('\\', "/");
        let path = slashed(path.trim());
        let inside = |folder: &str| {
            let folder = slashed(folder);
            let rest = path.strip_prefix(folder.trim_end_matches('/'))?;
            rest.strip_prefix('/').map(str::to_owned)
        };
        if let Some(inside) = inside(&self.session.root) {
            return inside;
        }
        let absolute = path.starts_with('/') || path.as_bytes().get(1) == Some(&b':');
        let folder = slashed(&self.session.cwd);
        let below = folder
            .strip_prefix(slashed(&self.session.root).trim_end_matches('/'))
            .map(|below| below.trim_matches('/'))
            .filter(|below| !below.is_empty() && !path.is_empty());
        let path = path.strip_prefix("./").unwrap_or(&path);
        match below {
            Some(below) if !absolute => format!("{below}/{path}"),
            _ => path.to_owned(),
        }
    }
}

/// Joins text blocks. Images appear by name only, and everything else as JSON.
fn blocks(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(blocks).filter(|text| !text.is_empty()).collect();
            items.join("\n")
        }
        Value::Object(fields) => match fields.get("type").and_then(Value::as_str) {
            Some("image") => "[image]".to_owned(),
            Some("text") => fields.get("text").and_then(Value::as_str).unwrap_or_default().to_owned(),
            _ => value.to_string(),
        },
        _ => value.to_string(),
    }
}

/// Picks entries from a long list at even distances. They show as well as the whole list where things are.
fn sample(files: &[String]) -> Vec<String> {
    const MAX_SAMPLE: usize = 20;
    if files.len() <= MAX_SAMPLE {
        return files.to_vec();
    }
    let mut some: Vec<String> = (0..MAX_SAMPLE).map(|at| files[at * files.len() / MAX_SAMPLE].clone()).collect();
    some.push(format!("… {} more", files.len() - MAX_SAMPLE));
    some
}

/// Returns the files named in lines such as `path:line:text`, each once.
fn files_of_matches(content: &str) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for line in content.lines() {
        // `C:\a.rs:12:`: the first colon of a Windows path does not separate the fields.
        let from = if line.as_bytes().get(1) == Some(&b':') { 2 } else { 0 };
        let Some((path, rest)) = line.get(from..).and_then(|rest| rest.split_once(':')) else {
            continue;
        };
        let numbered = rest.split(':').next().is_some_and(|number| number.parse::<u32>().is_ok());
        let path = &line[..from + path.len()];
        let is_path = !path.is_empty() && !path.contains(' ') && path.parse::<u32>().is_err();
        if numbered && is_path && files.iter().all(|file| file != path) {
            files.push(path.to_owned());
        }
    }
    files
}

/// Returns the text on one line of at most `max` characters, without control characters.
fn line(text: &str, max: usize) -> String {
    let visible: String = text::head(text, 8 * max).chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    text::clip(&text::one_line(&visible), max).into_owned()
}

fn excerpt(text: &str) -> String {
    line(text, MAX_EXCERPT_CHARS)
}

fn number(value: &Value) -> usize {
    value.as_u64().and_then(|number| usize::try_from(number).ok()).unwrap_or_default()
}

fn counted(count: usize, what: &str) -> String {
    let plural = match what {
        _ if count == 1 => "",
        "match" => "es",
        _ => "s",
    };
    format!("{count} {what}{plural}")
}

#[cfg(test)]
mod tests;
