//! Edits that were taken back: with git, by hand, or with the commit that held them.

use serde::{Deserialize, Serialize};

use super::standing;
use super::vanished::files_in;
use crate::text;

/// The maximum number of edits. The turn of the oldest one is dropped as a whole.
const MAX_EDITS: usize = 300;
/// The maximum number of restored files to keep.
const MAX_FILES: usize = 40;

/// The edits of one file in one turn between two commits. A tuple, because there are many and each is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Edit(
    /// The hash of the file.
    u32,
    /// The turn.
    u32,
    /// How many commits of the session there were before it.
    usize,
    /// Where its changes are.
    Place,
);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Place {
    /// In the file or in a commit.
    Kept,
    /// In a commit that somebody else made.
    Landed,
    /// In a stash.
    Stashed,
    /// Nowhere, since that turn.
    Gone(u32),
}

/// The edits of the session, and which of them were taken back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct TakenBack {
    edits: Vec<Edit>,
    /// The files that are as they were before the session changed them, each with the turn in which they were restored.
    files: Vec<(String, u32)>,
}

impl TakenBack {
    /// Records that a file was edited in a turn, after so many commits.
    pub(super) fn edited(&mut self, file: &str, turn: u32, commits: usize) {
        self.files.retain(|(known, _)| known != file);
        let edit = Edit(text::hash(file), turn, commits, Place::Kept);
        if !self.edits.contains(&edit) {
            self.edits.push(edit);
        }
        if self.edits.len() > MAX_EDITS {
            let oldest = self.edits[0].1;
            self.edits.retain(|edit| edit.1 != oldest);
        }
    }

    /// Records that what was changed in files since the latest of so many commits was taken back.
    pub(super) fn restored<'a>(&mut self, files: impl Iterator<Item = &'a str>, turn: u32, commits: usize) {
        for file in files {
            let hash = text::hash(file);
            self.take_back(turn, |edit| edit.0 == hash && edit.2 == commits);
            if self.is_gone(file) {
                self.files.retain(|(known, _)| known != file);
                self.files.push((file.to_owned(), turn));
            }
        }
        self.files.drain(..self.files.len().saturating_sub(MAX_FILES));
    }

    /// Records that a file has another path now.
    pub(super) fn file_moved(&mut self, from: &str, to: &str) {
        let (from, to) = (text::hash(from), text::hash(to));
        self.edits.iter_mut().filter(|edit| edit.0 == from).for_each(|edit| edit.0 = to);
    }

    /// Records that all edits of a file came to nothing.
    pub(super) fn undone(&mut self, file: &str, turn: u32) {
        let hash = text::hash(file);
        self.take_back(turn, |edit| edit.0 == hash);
        self.restored(std::iter::once(file), turn, usize::MAX);
    }

    /// Records that what was changed since the latest of so many commits is committed, though not by the session. What the turn itself
    /// changed may be gone: a formatter leaves a clean tree, too.
    pub(super) fn landed(&mut self, turn: u32, commits: usize) {
        self.moved(Place::Kept, Place::Landed, |edit| edit.2 == commits && edit.1 < turn);
    }

    /// Records that only so many commits are left, and nothing that was changed after them.
    pub(super) fn reset_to(&mut self, commits: usize, turn: u32) {
        self.take_back(turn, |edit| edit.2 >= commits);
    }

    /// Records that the commit after so many others was reverted, and does not count any more.
    pub(super) fn commit_reverted(&mut self, commits: usize, turn: u32) {
        self.take_back(turn, |edit| edit.2 == commits);
        self.edits.iter_mut().filter(|edit| edit.2 > commits).for_each(|edit| edit.2 -= 1);
    }

    /// Records that a commit that was taken back is there again. What it holds nobody knows, so all stands.
    pub(super) fn commit_brought_back(&mut self) {
        self.edits.iter_mut().filter(|edit| matches!(edit.3, Place::Gone(_))).for_each(|edit| edit.3 = Place::Landed);
        self.files.clear();
    }

    /// Records that other commits hold what was changed so far.
    pub(super) fn history_rewritten(&mut self) {
        self.moved(Place::Kept, Place::Landed, |_| true);
    }

    /// Records that so many commits are left, and that what was in the others is changed but not committed.
    pub(super) fn uncommitted(&mut self, commits: usize) {
        self.edits.iter_mut().for_each(|edit| edit.2 = edit.2.min(commits));
    }

    /// Records that what is not committed was put into a stash.
    pub(super) fn stashed(&mut self, commits: usize) {
        self.moved(Place::Kept, Place::Stashed, |edit| edit.2 == commits);
    }

    /// Records that what is in a stash was brought back.
    pub(super) fn brought_back(&mut self) {
        self.moved(Place::Stashed, Place::Kept, |_| true);
    }

    /// Records that what is in a stash was thrown away.
    pub(super) fn stash_dropped(&mut self, turn: u32) {
        self.moved(Place::Stashed, Place::Gone(turn), |_| true);
    }

    fn take_back(&mut self, turn: u32, is_meant: impl Fn(&Edit) -> bool) {
        self.moved(Place::Kept, Place::Gone(turn), is_meant);
    }

    fn moved(&mut self, from: Place, to: Place, is_meant: impl Fn(&Edit) -> bool) {
        for edit in self.edits.iter_mut().filter(|edit| edit.3 == from && is_meant(edit)) {
            edit.3 = to;
        }
    }

    /// Returns whether later turns took back all that a turn changed. What a turn itself takes back, it tells.
    pub(super) fn is_of_turn(&self, turn: u32) -> bool {
        let is_left = |edit: &&Edit| edit.1 == turn && edit.3 != Place::Gone(turn);
        let mut own = self.edits.iter().filter(is_left).peekable();
        own.peek().is_some() && own.all(|edit| matches!(edit.3, Place::Gone(_)))
    }

    /// Returns whether all edits of a file were taken back.
    pub(super) fn is_gone(&self, file: &str) -> bool {
        let hash = text::hash(file);
        let mut own = self.edits.iter().filter(|edit| edit.0 == hash).peekable();
        own.peek().is_some() && own.all(|edit| matches!(edit.3, Place::Gone(_)))
    }

    /// Returns whether a file was edited after so many commits.
    pub(super) fn is_edited_after(&self, file: &str, commits: usize) -> bool {
        let hash = text::hash(file);
        self.edits.iter().any(|edit| edit.0 == hash && edit.2 >= commits && edit.3 == Place::Kept)
    }

    /// Returns whether something stands that was changed in a file until that turn.
    pub(super) fn stands(&self, file: &str, turn: u32) -> bool {
        let hash = text::hash(file);
        self.edits.iter().any(|edit| edit.0 == hash && edit.1 <= turn && edit.3 == Place::Kept)
    }

    fn is_restored_after(&self, name: &str, turn: u32) -> bool {
        let ends = |path: &str| path.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
        self.files.iter().any(|(path, later)| *later > turn && ends(path))
    }

    /// Returns whether a statement of a turn tells what was done to files that a later turn restored.
    pub(super) fn has_deed(&self, statement: &str, turn: u32) -> bool {
        let mut named = files_in(statement).peekable();
        !self.files.is_empty()
            && named.peek().is_some()
            && named.all(|name| self.is_restored_after(name, turn))
            && standing::tells_work(&statement.to_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(edits: &[(&str, u32, usize)]) -> TakenBack {
        let mut all = TakenBack::default();
        for (file, turn, commits) in edits {
            all.edited(file, *turn, *commits);
        }
        all
    }

    #[test]
    fn a_turn_is_taken_back_with_all_its_files() {
        let mut all = edited(&[("a.ts", 1, 0), ("b.ts", 1, 0), ("b.ts", 2, 0)]);
        all.restored(["b.ts"].into_iter(), 3, 0);
        assert!(!all.is_of_turn(1) && all.is_of_turn(2));
        assert!(all.has_deed("`b.ts`: Added a total", 2) && !all.has_deed("`b.ts` has no total", 2));
        assert!(!all.has_deed("Added a total to `a.ts` and `b.ts`", 1) && !all.has_deed("Added `b.ts`", 3));
        all.restored(["a.ts"].into_iter(), 3, 0);
        assert!(all.is_of_turn(1));
        all.edited("b.ts", 4, 0);
        assert!(!all.has_deed("`b.ts`: Added a total", 2));
    }

    #[test]
    fn what_is_committed_goes_with_the_commit() {
        let mut all = edited(&[("a.ts", 1, 0), ("b.ts", 2, 1)]);
        all.restored(["a.ts"].into_iter(), 3, 2);
        assert!(!all.is_of_turn(1), "it was committed");
        all.reset_to(1, 4);
        assert!(!all.is_of_turn(1) && all.is_of_turn(2));
        let mut all = edited(&[("a.ts", 1, 0), ("b.ts", 2, 1)]);
        all.uncommitted(0);
        all.restored(["b.ts"].into_iter(), 3, 0);
        assert!(!all.is_of_turn(1) && all.is_of_turn(2));
    }

    #[test]
    fn a_stash_is_brought_back_or_dropped() {
        let mut all = edited(&[("a.ts", 1, 0)]);
        all.stashed(0);
        all.brought_back();
        all.stash_dropped(2);
        assert!(!all.is_of_turn(1));
        all.stashed(0);
        all.stash_dropped(2);
        assert!(all.is_of_turn(1));
    }

    #[test]
    fn what_a_turn_itself_takes_back_it_tells() {
        let mut all = edited(&[("a.ts", 2, 0)]);
        all.undone("a.ts", 2);
        assert!(!all.is_of_turn(2) && !all.has_deed("Added `a.ts`", 2));
        all.edited("b.ts", 2, 0);
        all.reset_to(0, 3);
        assert!(all.is_of_turn(2));
    }
}
