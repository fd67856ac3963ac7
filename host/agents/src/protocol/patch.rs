//! Codex patches: turns a text that adds, changes, moves and deletes files into one `Write`, `Edit` or `Delete` call
//! per file.

use std::path::Path;

use serde_json::{Value, json};

use super::tool_mapping::{NamedInput, absolute, script};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";

/// How many files of one patch are reported at most.
pub(super) const MAX_FILES: usize = 64;

/// Returns the patch that a tool call applies: a call of `apply_patch`, or of a shell command that runs `apply_patch`.
pub(super) fn within<'a>(tool: &str, input: &'a Value) -> Option<&'a str> {
    let text = match input {
        Value::String(text) => text.as_str(),
        Value::Object(_) => ["input", "patch", "command", "cmd"].iter().find_map(|key| match &input[*key] {
            Value::Array(words) => words.last()?.as_str(),
            value => value.as_str(),
        })?,
        _ => return None,
    };
    let at = text.find(BEGIN)?;
    let is_call = tool.eq_ignore_ascii_case("apply_patch")
        || tool == "ApplyPatch"
        || is_apply(&text[..at])
        || is_apply(&script(&input["command"]));
    is_call.then(|| &text[at..])
}

fn is_apply(command: &str) -> bool {
    command.trim_start().starts_with("apply_patch")
}

/// Returns one call per file of the patch.
pub(super) fn uses(patch: &str, cwd: Option<&Path>) -> Vec<NamedInput> {
    let mut files: Vec<File<'_>> = Vec::new();
    for line in patch.lines() {
        if line.trim_end() == END {
            break;
        }
        if let Some((what, path)) = heading(line) {
            if what == What::Move {
                if let Some(file) = files.last_mut() {
                    file.moved = Some(path);
                }
            } else if files.len() < MAX_FILES {
                files.push(File { what, path, moved: None, lines: Vec::new() });
            }
        } else if let Some(file) = files.last_mut() {
            file.lines.push(line);
        }
    }
    files.iter().map(|file| file.named(cwd)).collect()
}

#[derive(Clone, Copy, PartialEq)]
enum What {
    Add,
    Update,
    Delete,
    Move,
}

fn heading(line: &str) -> Option<(What, &str)> {
    let rest = line.strip_prefix("*** ")?;
    [("Add File: ", What::Add), ("Update File: ", What::Update), ("Delete File: ", What::Delete), ("Move to: ", What::Move)]
        .into_iter()
        .find_map(|(word, what)| Some((what, rest.strip_prefix(word)?.trim())))
}

struct File<'a> {
    what: What,
    path: &'a str,
    moved: Option<&'a str>,
    lines: Vec<&'a str>,
}

impl File<'_> {
    fn named(&self, cwd: Option<&Path>) -> NamedInput {
        let path = absolute(self.moved.unwrap_or(self.path), cwd);
        match self.what {
            What::Add => {
                let mut content: Vec<&str> = self.lines.iter().map(|line| line.strip_prefix('+').unwrap_or(line)).collect();
                content.push("");
                let content = content.join(
                    "
",
                );
                ("Write".into(), json!({"file_path": path, "content": content}))
            }
            What::Delete => ("Delete".into(), json!({"file_path": path})),
            What::Update | What::Move => {
                let mut edits: Vec<Value> = self.lines.split(|line| line.starts_with("@@")).filter_map(hunk).collect();
                let input = match edits.len() {
                    1 => {
                        let mut edit = edits.remove(0);
                        edit["file_path"] = path.into();
                        edit
                    }
                    _ => json!({"file_path": path, "edits": edits}),
                };
                ("Edit".into(), input)
            }
        }
    }
}

/// Converts a file change that Codex reports as made; its type is `add`, `update` or `delete`.
pub(super) fn change(path: &str, change: &Value) -> NamedInput {
    let (what, text) = match change["type"].as_str() {
        Some("add") => {
            let content = change["content"].as_str().unwrap_or_default();
            return ("Write".into(), json!({"file_path": path, "content": content}));
        }
        Some("delete") => (What::Delete, ""),
        _ => (What::Update, change["unified_diff"].as_str().unwrap_or_default()),
    };
    let moved = change["move_path"].as_str();
    let is_heading = |line: &&str| line.starts_with("--- ") || line.starts_with("+++ ");
    File { what, path, moved, lines: text.lines().skip_while(is_heading).collect() }.named(None)
}

/// Returns what a hunk replaces, without the unchanged lines around the change.
fn hunk(lines: &[&str]) -> Option<Value> {
    let changed = |line: &&str| line.starts_with(['+', '-']);
    let first = lines.iter().position(changed)?;
    let last = lines.iter().rposition(changed)?;
    let side = |gone: char| {
        let kept = lines[first..=last].iter().filter(|line| !line.starts_with(gone));
        kept.map(|line| line.get(1..).unwrap_or_default()).collect::<Vec<_>>().join("\n")
    };
    Some(json!({"old_string": side('+'), "new_string": side('-')}))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PATCH: &str = "*** Begin Patch\n*** Add File: src/new.rs\n+fn a() {}\n+\n*** Update File: src/old.rs\n*** Move to: src/moved.rs\n@@ fn main() {\n keep\n-old\n+new\n keep\n@@\n-x\n+y\n*** Delete File: gone.rs\n*** End Patch\nEOF";

    #[test]
    fn a_patch_is_a_use_a_file() {
        let uses = uses(PATCH, Some(Path::new("/p")));
        assert_eq!(
            uses,
            [
                ("Write".to_owned(), json!({"file_path": "/p/src/new.rs", "content": "fn a() {}\n\n"})),
                (
                    "Edit".to_owned(),
                    json!({"file_path": "/p/src/moved.rs", "edits": [
                        {"old_string": "old", "new_string": "new"}, {"old_string": "x", "new_string": "y"}]})
                ),
                ("Delete".to_owned(), json!({"file_path": "/p/gone.rs"})),
            ]
        );
    }

    #[test]
    fn patches_are_found_where_they_are_applied() {
        let heredoc = format!("apply_patch <<'EOF'\n{PATCH}\n");
        assert!(within("exec_command", &json!({"cmd": heredoc})).is_some());
        assert!(within("shell", &json!({"command": ["bash", "-lc", heredoc]})).is_some());
        assert!(within("apply_patch", &json!(PATCH)).is_some());
        assert!(within("apply_patch", &json!({"input": PATCH})).is_some());
        assert!(within("exec_command", &json!({"cmd": format!("cat <<'EOF'\n{PATCH}\n")})).is_none());
        assert!(within("exec_command", &json!({"cmd": "ls"})).is_none());
    }

    #[test]
    fn changes_that_were_made() {
        let diff = "@@ -1,2 +1,2 @@\n keep\n-old\n+new\n";
        assert_eq!(
            change("/p/a", &json!({"type": "update", "unified_diff": diff, "move_path": null})),
            ("Edit".to_owned(), json!({"file_path": "/p/a", "old_string": "old", "new_string": "new"}))
        );
        assert_eq!(change("/p/a", &json!({"type": "add", "content": "x"})).0, "Write");
        assert_eq!(change("/p/a", &json!({"type": "delete", "content": "x"})).0, "Delete");
    }

    proptest! {
        #[test]
        fn no_patch_makes_it_fail(text in "(\\*\\*\\* (Add File|Update File|Delete File|Move to|End Patch)?:? ?|@@|[-+ é]|\n){0,60}") {
            uses(&text, Some(Path::new("/p")));
            within("apply_patch", &json!({"input": text}));
        }
    }
}
