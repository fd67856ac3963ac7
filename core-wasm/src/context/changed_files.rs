//! The line of the page that names the files which a session changed.

use std::cmp::Reverse;

use super::attributes::{attribute, is_draft, places, saw_merged, was_closed};
use super::line;
use super::page::{Entry, Page, SectionKind};
use crate::bindings::throughline::policy::types::{Change, SessionNotes};
use crate::extract::clean;
use crate::extract::commits::is_pull_request;
use crate::extract::files::{is_document, is_generated};
use crate::extract::labels;
use crate::text;

/// How many lines a test or a document has for each line of code.
const LINES_BESIDE_CODE_LINE: u32 = 4;

/// The maximum number of files on the line of changed files.
const MAX_FILES: usize = 10;

/// The maximum length of the line of changed files, in characters.
const MAX_FILES_CHARS: usize = 480;

/// Before the files that a commit holds without an edit of the agent.
const ALSO_COMMITTED: &str = "also committed";

/// Adds the files with the most changes, the largest first, and the number of the others. Files outside the
/// project come last, because a session is rarely about them.
pub(super) fn add_files(page: &mut Page, kind: SectionKind, notes: &SessionNotes) {
    let size = attribute(notes, "commit-size").map(|size| format!("a commit of {size}"));
    let state = attribute(notes, "commit-state").map(|state| match attribute(notes, "branch") {
        Some(branch) if !matches!(branch, "main" | "master" | "HEAD") => format!("{state}, on `{branch}`"),
        _ => state.to_owned(),
    });
    let pull_request = attribute(notes, "pull-request").map(|number| {
        let draft = labels::of(attribute(notes, "language").unwrap_or_default()).draft;
        match (saw_merged(notes, number), is_draft(notes, number)) {
            (true, _) => format!("PR #{number} (merged)"),
            _ if was_closed(notes, number) => format!("PR #{number} (closed)"),
            (false, true) => format!("PR #{number} ({draft})"),
            (false, false) => format!("PR #{number}"),
        }
    });
    let state: Vec<String> = state.into_iter().chain(size).chain(pull_request).collect();
    let state_alone = state.join("; ");
    let label = if state.is_empty() { "Files".to_owned() } else { format!("Files ({})", state.join("; ")) };
    let removed: Vec<usize> = places(notes, "removed-files").collect();
    let own: Vec<String> = notes.changes.iter().map(|change| page.path(&change.path)).collect();
    let mut changes: Vec<FileChange> = Vec::new();
    for (at, change) in notes.changes.iter().enumerate() {
        let is_outside = clean::is_outside(&own[at]);
        let is_removed = removed.contains(&at);
        let checkout = if is_outside { other_checkout(&change.path, &own) } else { None };
        changes.push(FileChange { change, is_outside, is_removed, checkout });
    }
    // A script in a temporary folder is gone tomorrow, and the client keeps its own notes.
    let is_passing = |path: &str| is_temporary(path) || path.contains("/.claude/projects/");
    changes.retain(|file| !file.is_outside || !file.is_removed);
    // What is committed is none of these.
    let is_committed = || attribute(notes, "commit-state").is_some() && notes.commits.iter().any(|it| !is_pull_request(it));
    if changes.iter().any(|file| !file.is_outside) || is_committed() {
        changes.retain(|file| !file.is_outside || !is_passing(&file.change.path));
    }
    changes.sort_by_key(FileChange::rank);
    let mut items: Vec<String> = changes.iter().map(|file| file.text(page)).collect();
    let max_chars = MAX_FILES_CHARS - label.chars().count().min(MAX_FILES_CHARS / 2) - ", +999".len() - 2;
    let mut chars = 0;
    let fits = |(number, item): (usize, &String)| {
        chars += item.chars().count() + 2;
        number == 0 || (number < MAX_FILES && chars <= max_chars)
    };
    let count = items.iter().enumerate().map(fits).take_while(|fits| *fits).count();
    items.truncate(count);
    let more = (changes.len() > count).then(|| format!("+{}", changes.len() - count));
    let files = joined(&items, &changes, more);
    let (label, files) =
        if items.is_empty() && !notes.changes.is_empty() { ("Files".to_owned(), state_alone) } else { (label, files) };
    let committed_too = line::sanitize(attribute(notes, "committed-too").unwrap_or_default());
    let (alone, files) = match (files.is_empty(), committed_too.is_empty()) {
        (true, false) => (committed_too, files),
        (false, false) => (String::new(), format!("{files}; {ALSO_COMMITTED}: {committed_too}")),
        (_, true) => (String::new(), files),
    };
    page.add(kind, Entry::session_line("Also committed", &alone, 0.88));
    page.add(kind, Entry::result_line(&label, &files, 0.985));
    add_others(page, kind, notes);
}

/// Adds the changed files that are not the session's, and the branch that somebody else switched.
fn add_others(page: &mut Page, kind: SectionKind, notes: &SessionNotes) {
    let left_out = line::sanitize(attribute(notes, "left-out").unwrap_or_default());
    page.add(kind, Entry::session_line("Uncommitted, not edited by the agent", &left_out, 0.88));
    if let Some(switched) = attribute(notes, "switched") {
        let told = format!("{}, while the agent worked and by no git command of its own", line::sanitize(switched));
        page.add(kind, Entry::session_line("Branch switched by somebody else", &told, 0.95));
    }
}

/// Returns the files as they are told: those of the project, those of other checkouts of it, and those outside.
fn joined(items: &[String], changes: &[FileChange<'_>], more: Option<String>) -> String {
    let of = |test: &dyn Fn(&FileChange<'_>) -> bool| -> Vec<String> {
        items.iter().zip(changes).filter(|(_, file)| test(file)).map(|(item, _)| item.clone()).collect()
    };
    let mut inside = of(&|file| !file.is_outside);
    let outside = of(&|file| file.is_outside && file.checkout.is_none());
    let shown = &changes[..items.len()];
    let mut checkouts: Vec<&str> = shown.iter().filter_map(|file| file.checkout.map(|(root, _)| root)).collect();
    checkouts.sort_unstable();
    checkouts.dedup();
    if checkouts.is_empty() && (inside.is_empty() || outside.is_empty()) {
        return inside.into_iter().chain(outside).chain(more).collect::<Vec<_>>().join(", ");
    }
    inside.extend(more);
    let mut groups: Vec<String> = (!inside.is_empty()).then(|| inside.join(", ")).into_iter().collect();
    for root in checkouts {
        let files = of(&|file| file.checkout.is_some_and(|(of, _)| of == root));
        groups.push(format!("in the checkout {}: {}", line::sanitize(root), files.join(", ")));
    }
    groups.extend((!outside.is_empty()).then(|| format!("outside the project: {}", outside.join(", "))));
    groups.join("; ")
}

/// Returns the root of another checkout of the project and the path below it, if a path outside lies in the same folders as one of the
/// project's `own`.
fn other_checkout<'a>(path: &'a str, own: &[String]) -> Option<(&'a str, &'a str)> {
    own.iter().filter(|known| !clean::is_outside(known)).find_map(|known| {
        // Two folders are no accident. Above them, the whole path must be the same.
        let depth = known.match_indices('/').nth(1).map(|(at, _)| at + 1);
        let at = match depth {
            Some(depth) => path.find(&format!("/{}", &known[..depth]))?,
            None => path.strip_suffix(known.as_str()).filter(|root| root.ends_with('/'))?.len() - 1,
        };
        Some((&path[..at], &path[at + 1..]))
    })
}

/// Returns whether a path lies in a folder for temporary files.
fn is_temporary(path: &str) -> bool {
    let path = path.replace('\\', "/");
    let mut folders = path.split('/').rev().skip(1);
    folders.any(|folder| matches!(folder.to_ascii_lowercase().as_str(), "tmp" | "temp" | "scratchpad" | "scratch"))
}

/// Returns whether a file has tests, by its name.
fn is_test(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.starts_with("test_") || text::contains_any(name, &[".test.", ".spec.", "_test."])
}

/// A changed file, and what is known of it besides the size of its change.
struct FileChange<'a> {
    change: &'a Change,
    is_outside: bool,
    is_removed: bool,
    /// The root of another checkout of the project, and the path below it.
    checkout: Option<(&'a str, &'a str)>,
}

impl FileChange<'_> {
    /// Returns the place of a file among the others: first what most work was done on, last what says nothing of the work.
    fn rank(&self) -> (bool, bool, Reverse<u32>) {
        let path = self.change.path.as_str();
        let size = self.change.added.saturating_add(self.change.removed);
        // What is tested says more than its tests, which are often longer, and code says more than what describes it.
        let is_beside = is_document(path) || is_test(path);
        let work = if is_beside { size / LINES_BESIDE_CODE_LINE } else { size };
        (self.is_outside, is_generated(path) || self.is_removed, Reverse(work))
    }

    /// Returns the file with the size of its change.
    fn text(&self, page: &Page) -> String {
        let path = self.checkout.map_or_else(|| page.path(&self.change.path), |(_, path)| path.to_owned());
        let path = line::sanitize(&path);
        match (self.change.added, self.change.removed) {
            _ if self.is_removed => format!("{path} (removed)"),
            (0, 0) => path,
            (added, 0) => format!("{path} (+{added})"),
            (0, removed) => format!("{path} (−{removed})"),
            (added, removed) => format!("{path} (+{added} −{removed})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_checkout_has_the_same_folders() {
        let own = ["src/till/slip.rs".to_owned(), "README.md".to_owned(), "/tmp/src/till/x.rs".to_owned()];
        let found = |path| other_checkout(path, &own);
        assert_eq!(found("/home/u/shop-2/src/till/drawer.rs"), Some(("/home/u/shop-2", "src/till/drawer.rs")));
        assert_eq!(found("/home/u/shop-2/README.md"), Some(("/home/u/shop-2", "README.md")));
        assert_eq!(found("/home/u/bank/src/safe/door.rs"), None);
        assert_eq!(found("/home/u/notes/OLD-README.md"), None);
    }

    #[test]
    fn a_test_is_known_by_the_name_of_its_file() {
        for path in ["test_till.py", "src/test_till.py", "src/till.test.ts", "till_test.go"] {
            assert!(is_test(path), "{path}");
        }
        for path in ["src/latest_version.rs", "src/test_data/till.rs"] {
            assert!(!is_test(path), "{path}");
        }
    }

    #[test]
    fn files_of_another_checkout_stand_between_those_of_the_project_and_those_outside() {
        let change = Change { path: String::new(), added: 1, removed: 0 };
        let file = |is_outside, checkout| FileChange { change: &change, is_outside, is_removed: false, checkout };
        let changes = [file(false, None), file(true, Some(("/home/u/shop-2", "src/a.rs"))), file(true, None)];
        let items = ["src/b.rs".to_owned(), "src/a.rs".to_owned(), "/etc/till".to_owned()];
        assert_eq!(
            joined(&items, &changes, None),
            "src/b.rs; in the checkout /home/u/shop-2: src/a.rs; outside the project: /etc/till"
        );
        assert_eq!(joined(&items[..1], &changes, Some("+2".to_owned())), "src/b.rs, +2");
    }
}
