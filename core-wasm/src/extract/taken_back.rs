//! Edits that were taken back: with git, by hand, or with the commit that held them.

use serde::{Deserialize, Serialize};

use super::files;
use super::standing;
use super::vanished::files_in;
use crate::text;

/// The maximum number of edits. The turn of the oldest one is dropped as a whole.
const MAX_EDITS: usize = 300;
/// The maximum number of restored files to keep.
const MAX_FILES: usize = 40;

/// The edits of one file in one turn between two commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FileEdit {
    /// The hash of the file.
    #[serde(rename = "f")]
    file: u32,
    #[serde(rename = "t")]
    turn: u32,
    /// The number of the session's commits before it.
    #[serde(rename = "c")]
    commits: usize,
    #[serde(rename = "w")]
    whereabouts: Whereabouts,
}

/// Where the changes of an edit are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Whereabouts {
    /// In the file or in a commit.
    Kept,
    /// In a commit that somebody else made.
    Landed,
    /// In a stash.
    Stashed,
    /// Git took them back in that turn.
    Gone(u32),
    /// They were taken out by hand in that turn.
    TakenOut(u32),
}

impl FileEdit {
    fn is_standing(&self) -> bool {
        !matches!(self.whereabouts, Whereabouts::Gone(_) | Whereabouts::TakenOut(_))
    }
}

/// The edits of the session, and which of them were taken back. Where a function takes `commits`, that is the number of the session's
/// commits at that time, or of those that are left.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct TakenBack {
    edits: Vec<FileEdit>,
    /// The files that are as they were before the session changed them, each with the turn in which they were restored.
    files: Vec<(String, u32)>,
}

impl TakenBack {
    /// Records that a file was edited in a turn.
    pub(super) fn edited(&mut self, file: &str, turn: u32, commits: usize) {
        self.files.retain(|(known, _)| known != file);
        let edit = FileEdit { file: text::hash(file), turn, commits, whereabouts: Whereabouts::Kept };
        if !self.edits.contains(&edit) {
            self.edits.push(edit);
        }
        if self.edits.len() > MAX_EDITS {
            let oldest = self.edits[0].turn;
            self.edits.retain(|edit| edit.turn != oldest);
        }
    }

    /// Records that the uncommitted changes of files were taken back.
    pub(super) fn restored<'a>(&mut self, files: impl Iterator<Item = &'a str>, turn: u32, commits: usize) {
        for file in files {
            let hash = text::hash(file);
            self.take_back(turn, |edit| edit.file == hash && edit.commits == commits);
            let is_any_kept = self.edits.iter().any(|edit| edit.file == hash && edit.is_standing());
            if !is_any_kept && self.edits.iter().any(|edit| edit.file == hash) {
                self.files.retain(|(known, _)| known != file);
                self.files.push((file.to_owned(), turn));
            }
        }
        self.files.drain(..self.files.len().saturating_sub(MAX_FILES));
    }

    /// Records that a file has another path now.
    pub(super) fn file_moved(&mut self, from: &str, to: &str) {
        let (from, to) = (text::hash(from), text::hash(to));
        self.edits.iter_mut().filter(|edit| edit.file == from).for_each(|edit| edit.file = to);
    }

    /// Records that all edits of a file were taken out by hand.
    pub(super) fn taken_out(&mut self, file: &str, turn: u32) {
        let hash = text::hash(file);
        self.moved(Whereabouts::Kept, Whereabouts::TakenOut(turn), |edit| edit.file == hash);
        self.restored(std::iter::once(file), turn, usize::MAX);
    }

    /// Records that somebody else committed the uncommitted changes. The changes of this turn may be gone: a formatter leaves a clean tree,
    /// too.
    pub(super) fn landed(&mut self, turn: u32, commits: usize) {
        self.moved(Whereabouts::Kept, Whereabouts::Landed, |edit| edit.commits == commits && edit.turn < turn);
    }

    /// Records that the later commits are gone, with all changes after them.
    pub(super) fn reset_to(&mut self, commits: usize, turn: u32) {
        self.take_back(turn, |edit| edit.commits >= commits);
    }

    /// Records that the next commit after those was reverted, and does not count any more.
    pub(super) fn commit_reverted(&mut self, commits: usize, turn: u32) {
        self.take_back(turn, |edit| edit.commits == commits);
        self.edits.iter_mut().filter(|edit| edit.commits > commits).for_each(|edit| edit.commits -= 1);
    }

    /// Records that a commit that was taken back is there again. What it holds nobody knows, so all stands.
    pub(super) fn commit_brought_back(&mut self) {
        self.edits
            .iter_mut()
            .filter(|edit| matches!(edit.whereabouts, Whereabouts::Gone(_)))
            .for_each(|edit| edit.whereabouts = Whereabouts::Landed);
        self.files.clear();
    }

    /// Records that other commits hold what was changed so far.
    pub(super) fn history_rewritten(&mut self) {
        self.moved(Whereabouts::Kept, Whereabouts::Landed, |_| true);
    }

    /// Records that the later commits are gone, and that their changes are in the files.
    pub(super) fn uncommitted(&mut self, commits: usize) {
        self.edits.iter_mut().for_each(|edit| edit.commits = edit.commits.min(commits));
    }

    /// Records that what is not committed was put into a stash.
    pub(super) fn stashed(&mut self, commits: usize) {
        self.moved(Whereabouts::Kept, Whereabouts::Stashed, |edit| edit.commits == commits);
    }

    /// Records that what is in a stash was brought back.
    pub(super) fn brought_back(&mut self) {
        self.moved(Whereabouts::Stashed, Whereabouts::Kept, |_| true);
    }

    /// Records that what is in a stash was thrown away.
    pub(super) fn stash_dropped(&mut self, turn: u32) {
        self.moved(Whereabouts::Stashed, Whereabouts::Gone(turn), |_| true);
    }

    fn take_back(&mut self, turn: u32, is_meant: impl Fn(&FileEdit) -> bool) {
        self.moved(Whereabouts::Kept, Whereabouts::Gone(turn), is_meant);
    }

    fn moved(&mut self, from: Whereabouts, to: Whereabouts, is_meant: impl Fn(&FileEdit) -> bool) {
        for edit in self.edits.iter_mut().filter(|edit| edit.whereabouts == from && is_meant(edit)) {
            edit.whereabouts = to;
        }
    }

    /// Returns whether the changes of an edit are gone. What was taken out by hand may stand in another file that the same turn edited.
    fn is_back(&self, edit: &FileEdit) -> bool {
        match edit.whereabouts {
            Whereabouts::Gone(_) => true,
            Whereabouts::TakenOut(turn) => !self.edits.iter().any(|other| other.turn == turn && other.is_standing()),
            _ => false,
        }
    }

    /// Returns whether later turns took back all that a turn changed. What a turn itself takes back, it tells.
    pub(super) fn is_of_turn(&self, turn: u32) -> bool {
        let is_own = [Whereabouts::Gone(turn), Whereabouts::TakenOut(turn)];
        let is_left = |edit: &&FileEdit| edit.turn == turn && !is_own.contains(&edit.whereabouts);
        let mut own = self.edits.iter().filter(is_left).peekable();
        own.peek().is_some() && own.all(|edit| self.is_back(edit))
    }

    /// Returns whether all edits of a file were taken back.
    pub(super) fn is_gone(&self, file: &str) -> bool {
        let hash = text::hash(file);
        let mut own = self.edits.iter().filter(|edit| edit.file == hash).peekable();
        own.peek().is_some() && own.all(|edit| self.is_back(edit))
    }

    /// Returns whether a file was edited after those commits.
    pub(super) fn is_edited_after(&self, file: &str, commits: usize) -> bool {
        let hash = text::hash(file);
        self.edits.iter().any(|edit| edit.file == hash && edit.commits >= commits && edit.whereabouts == Whereabouts::Kept)
    }

    /// Returns whether something stands that was changed in a file until that turn.
    pub(super) fn stands(&self, file: &str, turn: u32) -> bool {
        let hash = text::hash(file);
        self.edits.iter().any(|edit| edit.file == hash && edit.turn <= turn && edit.whereabouts == Whereabouts::Kept)
    }

    /// Returns whether something stands that was changed in a file in that turn.
    pub(super) fn stands_of_turn(&self, file: &str, turn: u32) -> bool {
        let hash = text::hash(file);
        self.edits.iter().any(|edit| edit.file == hash && edit.turn == turn && edit.is_standing())
    }

    /// Returns whether a file was edited after that turn.
    pub(super) fn is_edited_later(&self, file: &str, turn: u32) -> bool {
        let hash = text::hash(file);
        self.edits.iter().any(|edit| edit.file == hash && edit.turn > turn)
    }

    fn is_restored_after(&self, name: &str, turn: u32) -> bool {
        self.files.iter().any(|(path, later)| *later > turn && files::is_named(path, name) && self.is_gone(path))
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
        all.taken_out("a.ts", 2);
        assert!(!all.is_of_turn(2) && !all.has_deed("Added `a.ts`", 2));
        all.edited("b.ts", 2, 0);
        all.reset_to(0, 3);
        assert!(all.is_of_turn(2));
    }

    #[test]
    fn what_is_moved_by_hand_is_not_taken_back() {
        let mut all = edited(&[("a.ts", 1, 0), ("a.ts", 2, 0)]);
        all.taken_out("a.ts", 2);
        assert!(all.is_of_turn(1) && all.has_deed("Added `a.ts`", 1));
        all.edited("tax.ts", 2, 0);
        assert!(!all.is_of_turn(1) && !all.has_deed("Added `a.ts`", 1), "it may stand there now");
        all.taken_out("tax.ts", 2);
        assert!(all.is_of_turn(1), "both are as before");
    }
}
