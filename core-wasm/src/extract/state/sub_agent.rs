//! What the sub-agents of a session changed and checked, as far as the session's own transcript shows their calls.

use std::collections::HashMap;

use super::{State, line_ref};
use crate::bindings::throughline::policy::types::Draft;
use crate::extract::clean;
use crate::extract::commands::{self, Class};
use crate::extract::files::is_document;
use crate::extract::tool_uses::{Tool, ToolUse};
use crate::text;
use crate::transcript::json::Raw;
use crate::transcript::{self, Block, Line};

/// How many lines of a sub-agent's report may name a file that it changed.
const MAX_REPORT_LINES: usize = 12;

impl State {
    /// Takes the changes of a sub-agent from a line that holds one of its messages. What it says comes in its report.
    pub(super) fn sub_agent_line(&mut self, line: &Line<'_>, message: Raw<'_>, settled: &mut Vec<Draft>) {
        self.shows_sub_agents = true;
        let mut calls = Vec::new();
        transcript::blocks_of(message, |block| match block {
            Block::ToolUse { id, name, input } => calls.extend(self.sub_agent_call(line, (id, name, input))),
            Block::ToolResult { id, content, is_error } => {
                if let Some(tool_use) = self.sub_agent_uses.take(&id.text().unwrap_or_default()) {
                    let output = clean::clean(&transcript::result_text(content));
                    match tool_use.tool {
                        Tool::Edit | Tool::TaskUpdate if is_error => {}
                        Tool::Edit => self.sub_agent_edited(&tool_use, &output, settled),
                        Tool::TaskUpdate => self.tasks.update(&tool_use.what, Some(&tool_use.detail)),
                        _ => self.sub_agent_ran(&tool_use, &output, is_error, settled),
                    }
                }
            }
            Block::Text(_) | Block::Thinking(_) => {}
        });
        // A line that is read again changes nothing. Only those with changes are remembered.
        if !calls.is_empty() && self.is_new(line) {
            for call in calls {
                self.sub_agent_uses.push(call);
            }
        }
    }

    /// Reads a call of a sub-agent that may change a file, make a commit, check something or end a task.
    fn sub_agent_call(&self, line: &Line<'_>, (id, name, input): (Raw<'_>, Raw<'_>, Raw<'_>)) -> Option<ToolUse> {
        let (id, name) = (id.text().unwrap_or_default(), name.text().unwrap_or_default());
        let cwd = line.cwd().unwrap_or_default();
        let mut tool_use = ToolUse::read(&id, &name, input, (&self.root, &cwd), line_ref(line));
        let is_change = match tool_use.tool {
            Tool::Edit => !tool_use.what.is_empty(),
            // It ticks off what it was given. Other tasks may be its own.
            Tool::TaskUpdate => tool_use.detail == "completed",
            Tool::Shell => {
                commands::class(&tool_use.what) != Class::Inspect
                    || commands::may_change(&tool_use.what)
                    || text::contains_any(&tool_use.what, &["git add", "git commit", "git push"])
            }
            _ => false,
        };
        if tool_use.tool == Tool::Edit {
            tool_use.size = Some(changed_lines(input));
        }
        is_change.then_some(tool_use)
    }

    fn sub_agent_edited(&mut self, tool_use: &ToolUse, output: &str, settled: &mut Vec<Draft>) {
        let file = tool_use.what.as_str();
        if clean::is_client_plan(file) {
            return;
        }
        let is_new = output.starts_with("File created");
        // What a whole new text changes in a file is not known.
        let is_overwritten = tool_use.name == "Write" && !is_new;
        let (added, removed) = tool_use.size.filter(|_| !is_overwritten).unwrap_or_default();
        self.rulings_followed(settled);
        self.mended_findings(file);
        self.files.record_change_at(file, added, removed, tool_use.source.at);
        if is_new {
            self.files.record_creation(file);
        }
        if !clean::is_outside(&clean::path(file, &self.root)) {
            self.project_changed(file);
        }
        self.sub_agent_changed(file);
    }

    /// Takes what a command line of a sub-agent checked, committed and pushed.
    fn sub_agent_ran(&mut self, tool_use: &ToolUse, output: &str, is_error: bool, settled: &mut Vec<Draft>) {
        let command = tool_use.what.as_str();
        if commands::may_write_files(command) {
            self.commit_contents.may_be_written();
        }
        self.undone.command_ran(command, output);
        self.checked_apart(command, output, is_error);
        if !is_error {
            self.files_changed_by(tool_use, settled);
            self.commits_dropped(command, output);
        }
        self.commits_made(tool_use, output, is_error, commands::test_counts(output).is_some(), settled);
        self.git_ran(command, output, is_error);
    }

    /// Records a change in the open turn. A document of a sub-agent is mostly its report, so what the agent says of it is no work.
    fn sub_agent_changed(&mut self, file: &str) {
        if !is_document(file) {
            self.turn.file_edited(false);
        }
        self.turn.add_file(file);
        self.taken_back.edited(file, self.turns, self.own_commits());
        self.failures.file_changed(file);
    }

    /// Records the files of the project that the report of a sub-agent says it changed. The transcript may not show its edits.
    pub(super) fn sub_agent_reported(&mut self, report: &str) {
        if self.root.is_empty() {
            return;
        }
        for line in report.lines().filter(|line| !line.trim().is_empty()).take(MAX_REPORT_LINES) {
            let Some(file) = path_below(line, &self.root).filter(|_| says_changed(line)) else { continue };
            let is_other = clean::is_outside(&file) || file.contains("..") || clean::is_client_plan(&file);
            // What somebody says is no proof that it is not committed, or not checked.
            if !is_other && !self.files.paths().any(|known| known == file) {
                self.files.record_written(&file);
                self.turn.add_file(&file);
                self.taken_back.edited(&file, self.turns, self.own_commits());
            }
        }
    }
}

/// Returns the first file below the folder `root` that a line names in full, relative to the folder.
fn path_below(line: &str, root: &str) -> Option<String> {
    let rest = &line[line.find(&format!("{}/", root.trim_end_matches('/')))?..];
    let end = rest.find(|c: char| c.is_whitespace() || "`\"'()<>,:*".contains(c)).unwrap_or(rest.len());
    let path = clean::path(rest[..end].trim_end_matches('.'), root);
    // A folder is no file.
    path.rsplit('/').next().is_some_and(|name| name.contains('.')).then_some(path)
}

/// Returns whether a line of a sub-agent's report says that the sub-agent changed a file.
fn says_changed(line: &str) -> bool {
    const SIGNS: [&str; 19] = [
        "i updated",
        "i've updated",
        "i created",
        "i've created",
        "i modified",
        "i've modified",
        "i edited",
        "i've edited",
        "i wrote",
        "i've written",
        "수정했",
        "변경했",
        "작성했",
        "생성했",
        "추가했",
        "修正しました",
        "更新しました",
        "作成しました",
        "変更しました",
    ];
    text::contains_any_words(&line.to_lowercase().replace('’', "'"), &SIGNS)
}

/// Returns how many lines the arguments of an edit add and remove.
fn changed_lines(input: Raw<'_>) -> (u32, u32) {
    let (mut old, mut new) = (String::new(), String::new());
    let mut read = |key: &[u8], value: Raw<'_>| match key {
        b"old_string" => old.push_str(&value.text().unwrap_or_default()),
        b"new_string" | b"content" | b"new_source" => new.push_str(&value.text().unwrap_or_default()),
        _ => {}
    };
    input.fields(|key, value| {
        if key == b"edits" {
            value.items(|edit| edit.fields(&mut read));
        } else {
            read(key, value);
        }
    });
    (missing(&new, &old), missing(&old, &new))
}

/// Returns how many lines of one text another one does not have.
fn missing(of: &str, from: &str) -> u32 {
    let mut others: HashMap<&str, u32> = HashMap::new();
    from.lines().for_each(|line| *others.entry(line).or_default() += 1);
    let mut count = 0;
    for line in of.lines() {
        match others.get_mut(line).filter(|left| **left > 0) {
            Some(left) => *left -= 1,
            None => count += 1,
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_names_the_file_that_was_changed() {
        let line = "`/home/u/shop/docs/till.md` 파일을 수정했습니다:";
        assert_eq!(path_below(line, "/home/u/shop").unwrap(), "docs/till.md");
        assert_eq!(path_below("in /home/u/shop/docs/ there are", "/home/u/shop"), None);
        assert_eq!(path_below("`/home/u/shopping/till.md`", "/home/u/shop"), None);
        assert!(says_changed(line) && says_changed("I updated `till.md`."));
        assert!(!says_changed("`till.md` has been updated in 1a2b3c4"), "somebody did that some day");
        assert!(!says_changed("`till.md` is updated by the hook") && !says_changed("수정할 파일: `till.md`"));
    }

    #[test]
    fn the_lines_of_an_edit() {
        let of = |input: &str| changed_lines(Raw::parse(input).unwrap());
        assert_eq!(of(r#"{"old_string":"a\nb\nc","new_string":"a\nx\ny\nc"}"#), (2, 1));
        assert_eq!(of(r#"{"content":"a\na\nb\n"}"#), (3, 0));
        assert_eq!(of(r#"{"edits":[{"old_string":"a","new_string":"b"}]}"#), (1, 1));
    }
}
