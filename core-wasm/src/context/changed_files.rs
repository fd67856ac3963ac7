//! The line of the page that names the files which a session changed.

use std::cmp::Reverse;

use super::attributes::{attribute, is_draft, places, saw_merged, was_closed};
use super::line;
use super::page::{Entry, Label, Page, SectionKind};
use crate::bindings::throughline::policy::types::{Change, SessionNotes};
use crate::extract::clean;
use crate::extract::commits::is_pull_request;
use crate::extract::files::{is_document, is_generated, is_test};
use crate::extract::labels;

/// How many lines a test or a document has for each line of code.
const LINES_BESIDE_CODE_LINE: u32 = 4;

/// The maximum number of files on the line of changed files.
const MAX_FILES: usize = 10;

/// The maximum length of the line of changed files, in characters.
const MAX_FILES_CHARS: usize = 480;

/// The files that a commit holds without an edit of the agent, those first that a command may have written: the name of the attribute, what
/// stands before them behind other files, and what does alone.
const COMMITTED_TOO: [(&str, &str, Label); 2] = [
    ("also-committed", "also committed", Label::CommittedByCommand),
    ("committed-too", "committed, not edited by the agent", Label::CommittedToo),
];

/// Before the files that the session changed and that its commits do not hold.
const NOT_IN_COMMIT: &str = "changed, but in no commit of the session";

/// Before the files that the session changed and that git ignores, and the maximum number of them.
const IGNORED: &str = "ignored by git";
const MAX_IGNORED: usize = 5;

/// Adds the files with the most changes, the largest first, and the number of the others. Files outside the
/// project come last, because a session is rarely about them.
pub(super) fn add_files(page: &mut Page, kind: SectionKind, notes: &SessionNotes) {
    let state_alone = state(notes);
    let label = if state_alone.is_empty() { Label::Files.into() } else { Label::Files.with(&format!(" ({state_alone})")) };
    let removed: Vec<usize> = places(notes, "removed-files").collect();
    let absent: Vec<usize> =
        ["lost-files", "unseen-files", "local-files"].into_iter().flat_map(|name| places(notes, name)).collect();
    let lacking: Vec<usize> = places(notes, "not-in-commit").collect();
    let ignored: Vec<usize> = places(notes, "ignored-files").collect();
    let own: Vec<String> = notes.changes.iter().map(|change| page.path(&change.path)).collect();
    let mut changes: Vec<FileChange> = Vec::new();
    let mut apart: Vec<String> = Vec::new();
    let mut unseen_by_git: Vec<FileChange> = Vec::new();
    for (at, change) in notes.changes.iter().enumerate().filter(|(at, _)| !absent.contains(at)) {
        let is_outside = clean::is_outside(&own[at]);
        let is_removed = removed.contains(&at);
        let checkout = if is_outside { other_checkout(&change.path, &own) } else { None };
        if !is_outside && ignored.contains(&at) {
            unseen_by_git.push(FileChange { change, is_outside, is_removed, checkout: None });
            continue;
        }
        if !is_outside && lacking.contains(&at) {
            apart.extend((!is_removed).then(|| line::sanitize(&own[at])));
            continue;
        }
        changes.push(FileChange { change, is_outside, is_removed, checkout });
    }
    // A script in a temporary folder is gone tomorrow, and the client keeps its own notes.
    let is_passing = |path: &str| is_temporary(path) || path.contains("/.claude/projects/");
    changes.retain(|file| !file.is_outside || !file.is_removed);
    // What is committed is none of these.
    let is_committed = || attribute(notes, "commit-state").is_some() && notes.commits.iter().any(|it| !is_pull_request(it));
    let has_apart = !apart.is_empty() || !unseen_by_git.is_empty();
    if has_apart || changes.iter().any(|file| !file.is_outside) || is_committed() {
        changes.retain(|file| !file.is_outside || !is_passing(&file.change.path));
    }
    changes.sort_by_key(FileChange::rank);
    let mut items: Vec<String> = changes.iter().map(|file| file.text(page)).collect();
    let max_chars = MAX_FILES_CHARS - label.text().chars().count().min(MAX_FILES_CHARS / 2) - ", +999".len() - 2;
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
        if items.is_empty() && !notes.changes.is_empty() { (Label::Files.into(), state_alone) } else { (label, files) };
    let mut files = with_committed_too(page, kind, notes, files);
    unseen_by_git.sort_by_key(FileChange::rank);
    let unseen_by_git: Vec<String> = unseen_by_git.iter().map(|file| file.text(page)).collect();
    for (told, mut apart, max) in [(NOT_IN_COMMIT, apart, MAX_FILES), (IGNORED, unseen_by_git, MAX_IGNORED)] {
        let more = if apart.len() > max { format!(", +{}", apart.len() - max) } else { String::new() };
        apart.truncate(max);
        if !apart.is_empty() {
            let separator = if files.is_empty() { "" } else { "; " };
            files = format!("{files}{separator}{told}: {}{more}", apart.join(", "));
        }
    }
    page.add(kind, Entry::result_line(label, &files, 0.985));
    add_lost(page, kind, notes);
    add_others(page, kind, notes);
}

/// Returns the state of the changes: whether and by whom they were committed, the size of the commit, and the pull request.
fn state(notes: &SessionNotes) -> String {
    let commits = notes.commits.iter().filter(|line| !is_pull_request(line)).count();
    let size = attribute(notes, "commit-size").map(|size| match commits {
        0 | 1 => format!("a commit of {size}"),
        _ => format!("the largest of {commits} commits has {size}"),
    });
    let by_others =
        attribute(notes, "committed-as").map(|hash| format!("committed as {hash}, by no command of the session"));
    let committed: Vec<String> = by_others.into_iter().chain(attribute(notes, "commit-state").map(str::to_owned)).collect();
    let committed = (!committed.is_empty()).then(|| match attribute(notes, "branch") {
        Some(branch) if !matches!(branch, "main" | "master" | "HEAD") => format!("{}, on `{branch}`", committed.join("; ")),
        _ => committed.join("; "),
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
    committed.into_iter().chain(size).chain(pull_request).collect::<Vec<_>>().join("; ")
}

/// Returns the files as they are told, with those behind them that a commit holds without an edit of the agent. Where there are no `files`,
/// adds these as lines of their own.
fn with_committed_too(page: &mut Page, kind: SectionKind, notes: &SessionNotes, files: String) -> String {
    let mut parts = vec![files];
    for (name, told, alone) in COMMITTED_TOO {
        let too = line::sanitize(attribute(notes, name).unwrap_or_default());
        if parts[0].is_empty() {
            page.add(kind, Entry::session_line(alone, &too, 0.88));
        } else if !too.is_empty() {
            parts.push(format!("{told}: {too}"));
        }
    }
    parts.join("; ")
}

/// Adds the files whose changes were gone when somebody looked at them again, and those of which nobody knows.
fn add_lost(page: &mut Page, kind: SectionKind, notes: &SessionNotes) {
    let named = |name: &str| -> String {
        let files = places(notes, name).filter_map(|at| notes.changes.get(at)).take(MAX_FILES);
        files.map(|change| line::sanitize(&page.path(&change.path))).collect::<Vec<_>>().join(", ")
    };
    let (lost, unseen) = (named("lost-files"), named("unseen-files"));
    if lost.is_empty() {
        return;
    }
    let mut told = format!("{lost}: read again later, they held nothing of what the session had written into them");
    if let Some(branches) = attribute(notes, "lost-branches") {
        told = format!("{told}; the branch had changed {}", line::sanitize(branches));
    }
    if !unseen.is_empty() {
        told = format!("{told}; changed before that, too, and not read again as a whole: {unseen}");
    }
    page.add(kind, Entry::result_line(Label::LostFiles, &told, 0.99));
}

/// Adds the changed files that are not the session's, and the branch that somebody else switched.
fn add_others(page: &mut Page, kind: SectionKind, notes: &SessionNotes) {
    let left_out = line::sanitize(attribute(notes, "left-out").unwrap_or_default());
    page.add(kind, Entry::session_line(Label::Uncommitted, &left_out, 0.88));
    if let Some(switched) = attribute(notes, "switched") {
        let end = attribute(notes, "switched-end").map(|branch| format!("; at the end it was `{}`", line::sanitize(branch)));
        let told = format!(
            "{}, while the agent worked and by no git command of its own{}",
            line::sanitize(switched),
            end.unwrap_or_default()
        );
        page.add(kind, Entry::session_line(Label::BranchSwitched, &told, 0.95));
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
