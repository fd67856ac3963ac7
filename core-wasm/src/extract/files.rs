//! Tracks which files the session changed, by how much, and which edits were reverted.

mod names;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::bindings::throughline::policy::types::Change;
use crate::text;
use crate::transcript::json::Raw;
pub(super) use names::is_named;
pub(crate) use names::{
    is_code, is_configuration, is_description, is_document, is_generated, is_script, is_test, is_tool_setting,
};

/// The maximum number of changed files. The least recently changed file is dropped first.
const MAX_FILES: usize = 150;
/// The maximum number of lines that are known to be added or removed, in all files. More are only counted.
const MAX_LINES: usize = 2_000;
/// How a conflict begins that git left in a file.
const CONFLICT: &str = "<<<<<<< ";
/// How many edits are kept for recognizing reverts.
const MAX_EDITS: usize = 40;
/// How many lines of an edit are compared.
const MAX_EDIT_LINES: usize = 40;

/// How an edit stands to earlier ones of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reversal {
    /// It changes something else.
    None,
    /// It only removes what an earlier one added, or adds what one removed. Often that is a part of the work.
    Removes,
    /// It replaces what an earlier one wrote by what stood there before.
    Reverts,
}

/// One edit: hashes of the lines that it removed and added.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Edit {
    file: u32,
    removed: Vec<u32>,
    added: Vec<u32>,
}

/// One changed file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a file")]
struct Changed {
    path: String,
    added: u32,
    removed: u32,
    /// Whether the session created it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_new: bool,
    /// Whether a command wrote it first, so that nobody knows whether it was there before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    may_be_new: bool,
    /// Whether a command ever wrote it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    by_command: bool,
    /// Whether the session deleted it or moved it away.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_removed: bool,
    /// When the agent last edited it, in milliseconds since the epoch. 0 if nobody knows.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    edited: u64,
    /// The hashes of the lines that were added, or removed if the number is negative, each with how often.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    lines: BTreeMap<u32, i16>,
}

impl Changed {
    /// Counts a line that was added or removed. What takes back an earlier change takes it out of the counts. `may_grow` says whether
    /// there is room for another line.
    fn count(&mut self, is_added: bool, line: &str, may_grow: bool) {
        let hash = text::hash(line);
        let known = self.lines.get(&hash).copied().unwrap_or_default();
        let step = if is_added { 1 } else { -1 };
        let takes_back = known.signum() == -step;
        let counter = if is_added == takes_back { &mut self.removed } else { &mut self.added };
        *counter = if takes_back { counter.saturating_sub(1) } else { counter.saturating_add(1) };
        match known.saturating_add(step) {
            0 => _ = self.lines.remove(&hash),
            count if known != 0 || may_grow => _ = self.lines.insert(hash, count),
            _ => {}
        }
    }
}

/// The changes of the session to files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Files {
    changed: Vec<Changed>,
    edits: Vec<Edit>,
    /// Whether there were more changed files than are kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    has_dropped: bool,
}

impl Files {
    /// Adds to the counts of a file and makes it the most recent one.
    pub(super) fn record_change(&mut self, path: &str, added: u32, removed: u32) {
        let mut changed = match self.position(path) {
            Some(at) => self.changed.remove(at),
            None => Changed { path: path.to_owned(), ..Changed::default() },
        };
        changed.added = changed.added.saturating_add(added);
        changed.removed = changed.removed.saturating_add(removed);
        changed.is_removed = false;
        self.push(changed);
    }

    /// Records the lines that an edit of the agent added and removed, and when it was made. What git left of a conflict is no work of
    /// anybody.
    pub(super) fn record_lines<'a>(
        &mut self,
        path: &str,
        lines: impl Iterator<Item = (bool, &'a str)> + Clone,
        at: Option<u64>,
    ) {
        self.record_change_at(path, 0, 0, at);
        let known = self.changed.iter().map(|changed| changed.lines.len()).sum();
        let Some(changed) = self.changed.last_mut() else { return };
        // Of a new file only the difference is told, so its lines need no room.
        let mut room = if changed.is_new { 0 } else { MAX_LINES.saturating_sub(known) };
        if lines.clone().any(|(is_added, line)| !is_added && line.starts_with(CONFLICT)) {
            return;
        }
        for (is_added, line) in lines {
            let before = changed.lines.len();
            changed.count(is_added, line, room > 0);
            room = (room + before).saturating_sub(changed.lines.len());
        }
    }

    /// Adds to the counts of a file that was edited, and records when that was.
    pub(super) fn record_change_at(&mut self, path: &str, added: u32, removed: u32, at: Option<u64>) {
        self.record_change(path, added, removed);
        if let (Some(changed), Some(at)) = (self.changed.last_mut(), at) {
            changed.edited = changed.edited.max(at);
        }
    }

    /// Returns whether the agent edited a file after that time. `path` may be the end of its path.
    pub(super) fn is_edited_after(&self, path: &str, at: Option<u64>) -> bool {
        let is_of = |known: &str| known.strip_suffix(path).is_some_and(|folder| folder.is_empty() || folder.ends_with('/'));
        at.is_some_and(|at| self.changed.iter().any(|changed| is_of(&changed.path) && changed.edited > at))
    }

    /// Returns whether the agent edited a file after that time that `test` accepts.
    pub(super) fn is_any_edited_after(&self, at: Option<u64>, test: impl Fn(&str) -> bool) -> bool {
        at.is_some_and(|at| self.changed.iter().any(|changed| changed.edited > at && test(&changed.path)))
    }

    /// Records that a command wrote a file.
    pub(super) fn record_written(&mut self, path: &str) {
        let is_known = self.position(path).is_some();
        self.record_change(path, 0, 0);
        if let Some(changed) = self.changed.last_mut() {
            changed.by_command = true;
            changed.may_be_new |= !is_known;
        }
    }

    /// Returns the paths of the files that commands wrote, whether the agent edited them, too, or not.
    pub(super) fn written_by_commands(&self) -> impl Iterator<Item = &str> {
        self.changed.iter().filter(|changed| changed.by_command).map(|changed| changed.path.as_str())
    }

    fn position(&self, path: &str) -> Option<usize> {
        self.changed.iter().position(|changed| changed.path == path)
    }

    fn push(&mut self, changed: Changed) {
        self.changed.push(changed);
        if self.changed.len() > MAX_FILES {
            self.changed.remove(0);
            self.has_dropped = true;
        }
    }

    /// Returns whether there were more changed files than are kept, so that any other file may be one of them.
    pub(super) fn has_dropped(&self) -> bool {
        self.has_dropped
    }

    /// Records that a file was deleted. It leaves nothing behind if the session made it and did not commit it.
    pub(super) fn record_removal(&mut self, path: &str, leaves_nothing: bool) {
        if leaves_nothing {
            return self.changed.retain(|file| file.path != path);
        }
        self.record_change(path, 0, 0);
        if let Some(file) = self.changed.last_mut() {
            file.is_removed = true;
        }
    }

    /// Records that a file was moved. What was changed in it was changed there, unless it replaces another file.
    pub(super) fn record_move(&mut self, from: &str, to: &str) {
        let known = self.changed.iter_mut().find(|file| file.path == from && !file.is_removed).map(|file| {
            let lines = std::mem::take(&mut file.lines);
            Changed { lines, ..file.clone() }
        });
        let is_replaced = self.position(to).is_some();
        self.record_written(to);
        if let (Some(known), Some(file), false) = (known, self.changed.last_mut(), is_replaced) {
            (file.added, file.removed, file.is_new) = (known.added, known.removed, known.is_new);
            file.lines = known.lines;
        }
    }

    /// Returns whether the session made a file.
    pub(super) fn is_own(&self, path: &str) -> bool {
        self.changed.iter().any(|file| file.path == path && (file.is_new || file.may_be_new))
    }

    /// Records that the changes of the files for which `is_restored` returns true were taken back.
    pub(super) fn record_restoration(&mut self, is_restored: impl Fn(&str) -> bool) {
        self.changed.retain(|changed| changed.is_new || !is_restored(&changed.path));
    }

    /// Records that an edit reverted an earlier one. A file of which nothing else was changed is as it was, unless the lines
    /// `may_be_moved` to another place.
    pub(super) fn record_revert(&mut self, path: &str, may_be_moved: bool) {
        let Some(at) = self.position(path) else { return };
        let changed = &self.changed[at];
        if (changed.added, changed.removed) == (0, 0) && !changed.is_new && !may_be_moved {
            self.changed.remove(at);
        }
    }

    /// Sets the counts of a file to those that git reports. 0 and 0 are no counts: they only name the file.
    pub(super) fn record_stat(&mut self, path: &str, added: u32, removed: u32, is_whole: bool) {
        match self.changed.iter_mut().find(|changed| changed.path == path) {
            Some(changed) if is_whole && added + removed > 0 => (changed.added, changed.removed) = (added, removed),
            Some(_) => {}
            None => self.record_change(path, added, removed),
        }
    }

    /// Marks a file as created by this session.
    pub(super) fn record_creation(&mut self, path: &str) {
        self.record_change(path, 0, 0);
        if let Some(changed) = self.changed.last_mut() {
            changed.is_new = true;
        }
    }

    /// Returns whether the session created a file.
    pub(super) fn is_new(&self, path: &str) -> bool {
        self.changed.iter().any(|changed| changed.is_new && changed.path == path)
    }

    /// Returns the changes in the contract's type, most recent last.
    pub(super) fn changes(&self) -> Vec<Change> {
        let change = |file: &Changed| {
            // Whatever was written into a new file and taken out again, what is left is new.
            let (added, removed) =
                if file.is_new { (file.added.saturating_sub(file.removed), 0) } else { (file.added, file.removed) };
            Change { path: file.path.clone(), added, removed }
        };
        self.changed.iter().map(change).collect()
    }

    /// Returns the places in `changes` of the files that the session deleted.
    pub(super) fn removed(&self) -> impl Iterator<Item = usize> {
        self.changed.iter().enumerate().filter(|(_, file)| file.is_removed).map(|(at, _)| at)
    }

    /// Returns the paths of the files that the session deleted or moved away.
    pub(super) fn removed_paths(&self) -> impl Iterator<Item = &str> {
        self.changed.iter().filter(|file| file.is_removed).map(|file| file.path.as_str())
    }

    /// Returns the paths, most recent last.
    pub(super) fn paths(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.changed.iter().map(|changed| changed.path.as_str())
    }

    /// Records an edit and returns how it stands to the earlier ones.
    pub(super) fn record_edit(&mut self, path: &str, old: &str, new: &str) -> Reversal {
        let (before, after) = (lines(old), lines(new));
        let edit = Edit {
            file: text::hash(path),
            removed: before.iter().filter(|line| !after.contains(line)).copied().take(MAX_EDIT_LINES).collect(),
            added: after.iter().filter(|line| !before.contains(line)).copied().take(MAX_EDIT_LINES).collect(),
        };
        let is_reverted = |earlier: &Edit| {
            earlier.file == edit.file
                && edit.added.iter().all(|line| earlier.removed.contains(line))
                && edit.removed.iter().all(|line| earlier.added.contains(line))
        };
        let earlier = self.edits.iter().rposition(is_reverted);
        let reversal = match (earlier.is_some(), edit.added.is_empty(), edit.removed.is_empty()) {
            (false, ..) | (true, true, true) => Reversal::None,
            (true, false, false) => Reversal::Reverts,
            (true, ..) => Reversal::Removes,
        };
        match earlier.filter(|_| reversal != Reversal::None) {
            Some(at) => self.cancel(at, &edit),
            None => self.edits.push(edit),
        }
        if self.edits.len() > MAX_EDITS {
            self.edits.remove(0);
        }
        reversal
    }

    /// Takes what an edit reverted out of an earlier one. Whoever makes the same change a third time changes something.
    fn cancel(&mut self, at: usize, edit: &Edit) {
        let earlier = &mut self.edits[at];
        earlier.added.retain(|line| !edit.removed.contains(line));
        earlier.removed.retain(|line| !edit.added.contains(line));
        if earlier.added.is_empty() && earlier.removed.is_empty() {
            self.edits.remove(at);
        }
    }
}

/// Hashes the lines that are long enough to be significant.
fn lines(text: &str) -> Vec<u32> {
    text.lines().map(str::trim).filter(|line| line.len() >= 6).take(400).map(text::hash).collect()
}

/// Counts the lines that a `structuredPatch` adds and removes.
pub(super) fn patch_size(patch: Raw<'_>) -> (u32, u32) {
    let (mut added, mut removed) = (0, 0);
    patch.items(|hunk| {
        if let Some(lines) = hunk.get("lines") {
            lines.items(|line| match line.json().as_bytes().get(1) {
                Some(b'+') => added += 1,
                Some(b'-') => removed += 1,
                _ => {}
            });
        }
    });
    (added, removed)
}

/// Visits the lines that a `structuredPatch` adds and removes. The first argument says whether the line is added.
pub(super) fn patch_lines(patch: Raw<'_>, mut visit: impl FnMut(bool, &str)) {
    patch_context(patch, |sign, line| match sign {
        '+' => visit(true, line),
        '-' => visit(false, line),
        _ => {}
    });
}

/// Visits all lines of a `structuredPatch`, each with its sign: `+`, `-` or a blank.
pub(super) fn patch_context(patch: Raw<'_>, mut visit: impl FnMut(char, &str)) {
    patch.items(|hunk| {
        if let Some(lines) = hunk.get("lines") {
            lines.items(|line| {
                let Some(line) = line.text() else { return };
                if let Some(sign) = line.chars().next().filter(|sign| matches!(sign, '+' | '-' | ' ')) {
                    visit(sign, &line[1..]);
                }
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_files_than_are_kept_are_known_to_be_more() {
        let mut files = Files::default();
        for number in 0..MAX_FILES {
            files.record_creation(&format!("slip{number}.rs"));
        }
        assert!(!files.has_dropped());
        files.record_creation("till.rs");
        assert!(files.has_dropped());
    }

    #[test]
    fn what_is_left_of_a_new_file_is_new() {
        let mut files = Files::default();
        files.record_change("cart.rs", 200, 0);
        files.record_creation("cart.rs");
        files.record_change("cart.rs", 30, 80);
        files.record_change("menu.rs", 30, 80);
        let counts: Vec<(u32, u32)> = files.changes().iter().map(|change| (change.added, change.removed)).collect();
        assert_eq!(counts, [(150, 0), (30, 80)]);
    }

    #[test]
    fn reverted_edits_are_recognized() {
        let mut files = Files::default();
        let edit = files.record_edit(
            "a.md",
            "[text one](url)\n[other](url)\n# [Title]",
            "<text one>(url)\n<other>(url)\n# <Title>",
        );
        assert_eq!(edit, Reversal::None);
        let back = files.record_edit("a.md", "<text one>(url)\n<other>(url)", "[text one](url)\n[other](url)");
        assert_eq!(back, Reversal::Reverts);
        assert_eq!(files.record_edit("a.md", "something else here", "and another one"), Reversal::None);
        assert_eq!(files.record_edit("a.md", "and another one", ""), Reversal::Removes);
    }

    #[test]
    fn a_change_that_is_made_again_is_a_change() {
        let mut files = Files::default();
        let (cart, till) = ("const cart = open();\nconst total = 1;", "const till = open();\nconst total = 2;");
        assert_eq!(files.record_edit("a.ts", cart, till), Reversal::None);
        assert_eq!(files.record_edit("a.ts", till, cart), Reversal::Reverts);
        assert_eq!(files.record_edit("a.ts", cart, till), Reversal::None);
        assert_eq!(files.record_edit("a.ts", "const total = 2;", "const total = 1;"), Reversal::Reverts, "a part of it");
        assert_eq!(files.record_edit("a.ts", "const total = 1;", "const total = 2;"), Reversal::None);
        assert_eq!(files.record_edit("a.ts", till, cart), Reversal::None, "two edits made it");
    }

    #[test]
    fn a_file_that_was_created_and_deleted_leaves_nothing() {
        let mut files = Files::default();
        files.record_change("new.md", 4, 0);
        files.record_creation("new.md");
        files.record_change("old.md", 1, 1);
        files.record_removal("new.md", true);
        files.record_removal("old.md", false);
        assert_eq!(files.paths().collect::<Vec<_>>(), ["old.md"]);
        assert_eq!(files.removed().collect::<Vec<_>>(), [0]);
        files.record_written("draft.md");
        files.record_written("old.md");
        assert_eq!(files.removed().count(), 0, "it was written anew");
        assert!(files.is_own("draft.md") && !files.is_own("old.md"));
        files.record_removal("old.md", false);
        assert_eq!(files.paths().collect::<Vec<_>>(), ["draft.md", "old.md"]);
        assert_eq!(files.removed().collect::<Vec<_>>(), [1]);
        files.record_removal("draft.md", true);
        files.record_restoration(|path| path == "old.md");
        assert_eq!(files.paths().count(), 0);
    }

    #[test]
    fn a_file_that_is_moved_takes_its_changes_along() {
        let mut files = Files::default();
        files.record_change("cart.ts", 5, 2);
        files.record_move("cart.ts", "till.ts");
        files.record_removal("cart.ts", false);
        let all: Vec<_> = files.changes().into_iter().map(|it| (it.path, it.added, it.removed)).collect();
        assert_eq!(all, [("till.ts".to_owned(), 5, 2), ("cart.ts".to_owned(), 5, 2)]);
        assert_eq!(files.removed().collect::<Vec<_>>(), [1]);
        assert!(files.is_own("till.ts"), "nothing remains of it if it is moved again");
    }

    #[test]
    fn an_edit_that_was_taken_back_is_no_change() {
        let mut files = Files::default();
        let mut edit = |file: &str, before: &[&'static str], after: &[&'static str]| {
            let removed = before.iter().map(|line| (false, *line));
            files.record_lines(file, removed.chain(after.iter().map(|line| (true, *line))), None);
        };
        edit("a.ts", &["open"], &["open it", "close"]);
        edit("a.ts", &["open it", "close"], &["open"]);
        edit("b.ts", &[], &["one", "two", "three"]);
        edit("b.ts", &["two"], &["2"]);
        edit("c.ts", &["six"], &[]);
        edit("c.ts", &[], &["six"]);
        files.record_revert("a.ts", false);
        files.record_revert("b.ts", false);
        files.record_revert("c.ts", true);
        assert_eq!(files.changes().iter().map(|it| (it.added, it.removed)).collect::<Vec<_>>(), [(3, 0), (0, 0)]);
    }

    #[test]
    fn a_long_new_file_leaves_room_for_the_lines_of_others() {
        let mut files = Files::default();
        let new: Vec<String> = (0..=MAX_LINES).map(|number| format!("line {number}")).collect();
        files.record_creation("new.ts");
        files.record_lines("new.ts", new.iter().map(|line| (true, line.as_str())), None);
        files.record_lines("new.ts", [(false, "line 1"), (true, "one")].into_iter(), None);
        files.record_lines("a.ts", [(false, "open"), (true, "close")].into_iter(), None);
        files.record_lines("a.ts", [(false, "close"), (true, "open")].into_iter(), None);
        let sizes: Vec<_> = files.changes().iter().map(|it| (it.added as usize, it.removed)).collect();
        assert_eq!(sizes, [(MAX_LINES + 1, 0), (0, 0)]);
    }

    #[test]
    fn what_git_left_of_a_conflict_is_not_counted() {
        let mut files = Files::default();
        let conflict = ["<<<<<<< HEAD", "const total = 1;", "=======", "const total = 2;", ">>>>>>> main"];
        let solved = conflict.iter().map(|line| (false, *line)).chain([(true, "const total = 2;")]);
        files.record_lines("a.ts", solved, None);
        assert_eq!(files.changes().iter().map(|it| (it.added, it.removed)).collect::<Vec<_>>(), [(0, 0)]);
    }

    #[test]
    fn git_knows_the_size_of_a_change_better_than_the_sum_of_edits() {
        let mut files = Files::default();
        files.record_change("a.ts", 9, 7);
        files.record_stat("a.ts", 2, 0, true);
        files.record_stat("by-script.ts", 4, 1, true);
        files.record_stat("by-script.ts", 1, 1, false);
        let changes: Vec<_> = files.changes().into_iter().map(|it| (it.path, it.added, it.removed)).collect();
        assert_eq!(changes, [("a.ts".to_owned(), 2, 0), ("by-script.ts".to_owned(), 4, 1)]);
    }

    #[test]
    fn the_latest_change_is_last() {
        let mut files = Files::default();
        files.record_change("a", 1, 0);
        files.record_change("b", 2, 1);
        files.record_change("a", 3, 0);
        let all: Vec<_> = files.changes().into_iter().map(|c| (c.path, c.added, c.removed)).collect();
        assert_eq!(all, [("b".to_owned(), 2, 1), ("a".to_owned(), 4, 0)]);
    }

    #[test]
    fn when_a_file_was_edited_last() {
        let mut files = Files::default();
        files.record_change("a.ts", 1, 0);
        assert!(!files.is_edited_after("a.ts", Some(5)));
        files.record_change_at("a.ts", 1, 0, Some(7));
        files.record_change_at("a.ts", 1, 0, None);
        assert!(files.is_edited_after("a.ts", Some(5)) && !files.is_edited_after("a.ts", Some(7)));
        files.record_change_at("src/c.ts", 1, 0, Some(7));
        assert!(files.is_edited_after("c.ts", Some(5)) && !files.is_edited_after(".ts", Some(5)));
        assert!(!files.is_edited_after("a.ts", None) && !files.is_edited_after("b.ts", Some(5)));
        assert!(files.is_any_edited_after(Some(5), |path| path == "a.ts"));
        assert!(!files.is_any_edited_after(Some(7), |_| true) && !files.is_any_edited_after(Some(5), |path| path == "b.ts"));
    }
}
