//! Edits that are not in their files any more: a later look at a whole file shows none of the lines that the session wrote into it.
//! Mostly somebody took them back, or switched the branch.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::text;

/// The maximum number of files to keep, the latest.
const MAX_FILES: usize = 60;
/// How many of the lines of a file are looked for.
const MAX_LINES: usize = 24;
/// How many of them must be known: a formatter may give a few another form.
const MIN_LINES: usize = 3;
/// The minimum number of letters and digits of a line that is looked for.
const MIN_TELLING: usize = 10;

/// A file that the session edited.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Edited {
    path: String,
    /// The turn of the latest edit, and the branch of the folder then.
    turn: u32,
    branch: String,
    /// The hashes of lines that the session wrote into it.
    lines: Vec<u32>,
    /// The turn in which the whole file was looked at last.
    looked: u32,
    is_lost: bool,
}

/// The files that the session edited, the latest edit last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Lost {
    files: Vec<Edited>,
}

impl Lost {
    /// Records the lines that an edit added to a file or removed from it in that turn, and the branch of the folder. The first of a pair
    /// says whether the line is added. Returns whether the earlier edits of the file were lost.
    pub(super) fn edited(&mut self, path: &str, lines: &[(bool, String)], turn: u32, branch: &str) -> bool {
        let known = self.files.iter().position(|file| file.path == path).map(|at| self.files.remove(at));
        let was_lost = known.as_ref().is_some_and(|file| file.is_lost);
        let known = known.filter(|file| !file.is_lost).unwrap_or_default();
        let hashes =
            |added: bool| lines.iter().filter(move |(is_added, _)| *is_added == added).filter_map(|(_, line)| hash(line));
        let removed: HashSet<u32> = hashes(false).collect();
        let mut own = known.lines;
        own.retain(|line| !removed.contains(line));
        for line in hashes(true).filter(|line| !removed.contains(line)) {
            if own.len() < MAX_LINES && !own.contains(&line) {
                own.push(line);
            }
        }
        self.files.push(Edited {
            path: path.to_owned(),
            turn,
            branch: branch.to_owned(),
            lines: own,
            looked: known.looked,
            is_lost: false,
        });
        let extra = self.files.len().saturating_sub(MAX_FILES);
        self.files.drain(..extra);
        was_lost
    }

    /// Forgets the files for which `is_meant` returns true: the session itself took back what it wrote.
    pub(super) fn forget(&mut self, is_meant: impl Fn(&str) -> bool) {
        self.files.retain(|file| !is_meant(&file.path));
    }

    /// Returns whether a look at a file in that turn may show that its edits are lost. Within a turn one look is enough.
    pub(super) fn wants_look(&self, path: &str, turn: u32) -> bool {
        let may_tell = |file: &Edited| !file.is_lost && file.turn.max(file.looked) < turn && file.lines.len() >= MIN_LINES;
        self.files.iter().any(|file| file.path == path && may_tell(file))
    }

    /// Records the whole text of a file as it was in that turn. Returns whether the edits are lost.
    pub(super) fn looked_at(&mut self, path: &str, whole: &str, turn: u32) -> bool {
        let Some(file) = self.files.iter_mut().find(|file| file.path == path) else { return false };
        let shown: HashSet<u32> = whole.lines().filter_map(hash).collect();
        file.looked = turn;
        file.is_lost = !file.lines.iter().any(|line| shown.contains(line));
        file.is_lost
    }

    /// Returns whether a commit that adds those lines holds nearly all that the session wrote into one of the files that `is_meant`.
    pub(super) fn is_in_commit<'a>(&self, added: impl Iterator<Item = &'a str>, is_meant: impl Fn(&str) -> bool) -> bool {
        let added: HashSet<u32> = added.filter_map(hash).collect();
        let is_held = |file: &Edited| {
            let held = file.lines.iter().filter(|line| added.contains(line)).count();
            held >= MIN_LINES && 5 * held >= 4 * file.lines.len()
        };
        !added.is_empty() && self.files.iter().any(|file| is_held(file) && is_meant(&file.path))
    }

    /// Returns whether the edits of a file are lost.
    pub(super) fn is_lost(&self, path: &str) -> bool {
        self.files.iter().any(|file| file.is_lost && file.path == path)
    }

    /// Returns whether a file was edited on a branch on which others were whose edits are lost on `branch`, and not looked at since.
    pub(super) fn may_be_lost(&self, path: &str, branch: &str) -> bool {
        let Some((from, looked)) = self.switch(branch) else { return false };
        self.files.iter().any(|file| file.path == path && !file.is_lost && file.branch == from && file.looked < looked)
    }

    /// Returns the branch on which lost edits were made, if `branch` is another one.
    pub(super) fn branch_before(&self, branch: &str) -> Option<&str> {
        self.switch(branch).map(|(from, _)| from)
    }

    /// Returns that branch and the turn of the look that found the edits lost.
    fn switch(&self, branch: &str) -> Option<(&str, u32)> {
        let is_switched = |file: &&Edited| file.is_lost && !file.branch.is_empty() && file.branch != branch;
        self.files.iter().rfind(is_switched).map(|file| (file.branch.as_str(), file.looked))
    }
}

/// Returns the hash of the letters and digits of a line, which no formatter changes. None if they are too few to tell the line.
fn hash(line: &str) -> Option<u32> {
    let telling: String = line.chars().filter(|c| c.is_alphanumeric()).collect();
    (telling.chars().count() >= MIN_TELLING).then(|| text::hash(&telling))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(added: &[&str], removed: &[&str]) -> Vec<(bool, String)> {
        let of =
            |is_added: bool, lines: &[&str]| lines.iter().map(|line| (is_added, (*line).to_owned())).collect::<Vec<_>>();
        [of(true, added), of(false, removed)].concat()
    }

    const OPEN: [&str; 3] = ["let drawer = open_drawer();", "let total = add_up(&slips);", "print_slip(&drawer, total);"];

    #[test]
    fn edits_that_a_later_look_does_not_show() {
        let mut lost = Lost::default();
        assert!(!lost.edited("till.rs", &lines(&OPEN, &[]), 1, "drawer"));
        assert!(!lost.edited("slip.rs", &lines(&OPEN, &[]), 1, "drawer"));
        assert!(!lost.wants_look("till.rs", 1), "the session itself works on it");
        assert!(lost.wants_look("till.rs", 2) && !lost.wants_look("bank.rs", 2));
        assert!(!lost.looked_at("till.rs", "let drawer = open_drawer()\n", 2), "a formatter ran");
        assert!(!lost.wants_look("till.rs", 2) && lost.wants_look("till.rs", 3));
        assert!(lost.looked_at("till.rs", "fn main() {\n    let nothing = 1;\n}\n", 3));
        assert!(lost.is_lost("till.rs") && !lost.is_lost("slip.rs"));
        assert_eq!((lost.branch_before("main"), lost.branch_before("drawer")), (Some("drawer"), None));
        assert!(lost.may_be_lost("slip.rs", "main") && !lost.may_be_lost("slip.rs", "drawer"));
        assert!(!lost.looked_at("slip.rs", &OPEN.join("\n"), 3) && !lost.may_be_lost("slip.rs", "main"));
        assert!(lost.edited("till.rs", &lines(&OPEN, &[]), 3, "main"), "it is written anew");
        assert!(!lost.is_lost("till.rs"));
    }

    #[test]
    fn a_commit_that_holds_the_edits() {
        let mut lost = Lost::default();
        _ = lost.edited("till.rs", &lines(&OPEN, &[]), 1, "main");
        assert!(lost.is_in_commit(OPEN.into_iter(), |_| true) && !lost.is_in_commit(OPEN.into_iter(), |_| false));
        assert!(!lost.is_in_commit(OPEN.into_iter().take(2), |_| true));
    }

    #[test]
    fn what_the_session_took_out_itself_is_not_lost() {
        let mut lost = Lost::default();
        _ = lost.edited("till.rs", &lines(&OPEN, &[]), 1, "main");
        _ = lost.edited("till.rs", &lines(&[], &OPEN[1..]), 1, "main");
        assert!(!lost.wants_look("till.rs", 2), "one line may have got another form");
        _ = lost.edited("slip.rs", &lines(&OPEN, &[]), 1, "main");
        lost.forget(|path| path == "slip.rs");
        assert!(!lost.wants_look("slip.rs", 2));
    }
}
