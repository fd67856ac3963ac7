//! A patch as text, with its size.

use serde_json::Value;

use super::number;

/// A patch as text, with its size.
#[derive(Default)]
pub(super) struct Patch {
    pub text: String,
    pub added: usize,
    pub removed: usize,
}

impl Patch {
    pub(super) fn of(hunks: &Value) -> Self {
        let mut patch = Self::default();
        for hunk in hunks.as_array().into_iter().flatten() {
            let lines = hunk["lines"].as_array().into_iter().flatten().filter_map(Value::as_str);
            patch.push(&format!("@@ -{} +{} @@", number(&hunk["oldStart"]), number(&hunk["newStart"])));
            lines.for_each(|line| patch.push(line));
        }
        patch
    }

    pub(super) fn replace(&mut self, edit: &Value) {
        for (sign, name) in [('-', "old_string"), ('+', "new_string")] {
            for line in edit[name].as_str().unwrap_or_default().lines() {
                self.push(&format!("{sign}{line}"));
            }
        }
    }

    pub(super) fn push(&mut self, line: &str) {
        self.added += usize::from(line.starts_with('+'));
        self.removed += usize::from(line.starts_with('-'));
        self.text.push_str(line);
        self.text.push('\n');
    }
}

/// Returns the numbers of changed lines as attributes.
pub(super) fn changed(added: usize, removed: usize) -> Vec<(String, String)> {
    vec![("lines_added".to_owned(), added.to_string()), ("lines_removed".to_owned(), removed.to_string())]
}
