//! What the session's commits hold beside the agent's own edits: files that nobody edited here, and lines of other origin in those that
//! were edited.

use serde::{Deserialize, Serialize};

use super::commits::{Listing, listings};
use super::work_tree::is_same_file;

/// The maximum number of files to keep.
const MAX_FILES: usize = 60;
/// The maximum number of files that are named, and how long their names may be together, in bytes.
const MAX_NAMED: usize = 8;
const MAX_NAMED_BYTES: usize = 180;

/// A file of a commit, and what the commit does to it as far as git says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Committed {
    path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    listing: Option<Listing>,
    /// Whether no command of the session can have written it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_of_others: bool,
}

/// The files of the session's commits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct CommitContents {
    files: Vec<Committed>,
    /// The lines that the agent's edits added and removed in the files of the session's only commit, if the commit has more.
    own_lines: Option<(u32, u32)>,
    /// Whether a command or another agent ran that may have written any file.
    may_be_written: bool,
    /// Files that git listed as changed before that.
    changed_before: Vec<String>,
    /// Whether a commit holds files that are not known.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_partial: bool,
}

impl CommitContents {
    /// Records a commit. `added` is what git was told to add, `changed` are the files of which git said that they will be committed,
    /// `output` is what it printed, and `size` is the number of files in the commit, or 0 if git did not say it.
    pub(super) fn committed(&mut self, (added, changed): (&[String], &[String]), output: &str, size: u32) {
        let listed = listings(output);
        let named: Vec<&String> = added.iter().filter(|name| names_file(name)).collect();
        let mut distinct: Vec<&str> = Vec::new();
        for path in listed.iter().map(|(path, _)| path).chain(changed).chain(named.iter().copied()) {
            if !distinct.iter().any(|known| is_same_file(known, path)) {
                distinct.push(path);
            }
        }
        // Of more files than the commit has, some are as they were, or somebody else committed them.
        let is_all_in = distinct.len() <= size as usize;
        self.is_partial |= distinct.len() != size as usize;
        for (path, listing) in &listed {
            self.record(path, Some(*listing));
        }
        if size == 0 || is_all_in {
            for path in changed {
                self.record(path, None);
            }
        }
        if is_all_in {
            for name in named {
                self.record(name, None);
            }
        }
        self.own_lines = None;
    }

    /// Records how many lines the agent's edits added and removed in the files of the only commit, which added and removed `whole`.
    /// Somebody else changed them, too, if it is much more and the files grew by another number of lines. A formatter may break many lines.
    pub(super) fn measured(&mut self, own: (u32, u32), whole: (u32, u32), may_be_formatted: bool) {
        let growth = |(added, removed): (u32, u32)| i64::from(added) - i64::from(removed);
        let total = |(added, removed): (u32, u32)| u64::from(added) + u64::from(removed);
        let part = if may_be_formatted { 2 } else { 5 };
        let is_much_more = || (total(whole) - total(own)) * part > total(own);
        let is_more = whole.0 >= own.0 && whole.1 >= own.1 && growth(own) != growth(whole) && is_much_more();
        self.own_lines = (is_more && total(own) > 0).then_some(own);
    }

    /// Records that a command or another agent ran that may have written any file.
    pub(super) fn may_be_written(&mut self) {
        self.may_be_written = true;
    }

    /// Records files that git listed as changed.
    pub(super) fn listed<'a>(&mut self, paths: impl Iterator<Item = &'a String>) {
        if !self.may_be_written {
            self.changed_before.extend(paths.cloned());
            self.changed_before.truncate(MAX_FILES);
        }
    }

    fn record(&mut self, path: &str, listing: Option<Listing>) {
        let path = path.trim_start_matches("./").trim_start_matches("../");
        let is_of_others = !self.may_be_written || self.changed_before.iter().any(|known| is_same_file(known, path));
        match self.files.iter().position(|known| is_same_file(&known.path, path)) {
            Some(at) => self.files[at].listing = listing.or(self.files[at].listing),
            None if self.files.len() < MAX_FILES => {
                self.files.push(Committed { path: path.to_owned(), listing, is_of_others });
            }
            None => {}
        }
    }

    /// Forgets what the commits hold, of which some are not there any more. `is_any_left` says whether some are: nobody knows what those hold.
    pub(super) fn dropped(&mut self, is_any_left: bool) {
        self.files.clear();
        self.is_partial = is_any_left;
        self.own_lines = None;
    }

    /// Returns whether all files of the commits are known, and this is none of them.
    pub(super) fn lacks(&self, path: &str) -> bool {
        let is_known = !self.is_partial && !self.files.is_empty() && self.files.len() < MAX_FILES;
        is_known && !self.files.iter().any(|file| is_same_file(&file.path, path))
    }

    /// Returns the lines that the agent's edits added and removed in the files of the session's only commit, if the commit has more.
    pub(super) fn own_lines(&self) -> Option<(u32, u32)> {
        self.own_lines
    }

    /// Returns the committed files for which `is_own` returns false, and how many more of at least `count` there are: first those that
    /// a command or another agent may have written, then those of which somebody else must have changed each. Both empty if there are none.
    pub(super) fn others(&self, count: usize, is_own: impl Fn(&str) -> bool) -> (String, String) {
        let (of_others, open): (Vec<&Committed>, Vec<&Committed>) =
            self.files.iter().filter(|file| !is_own(&file.path)).partition(|file| file.is_of_others);
        let unnamed = count.saturating_sub(of_others.len() + open.len());
        if self.may_be_written {
            (named(&open, unnamed), named(&of_others, 0))
        } else {
            (named(&open, 0), named(&of_others, unnamed))
        }
    }
}

/// Returns the names of files, as far as there is room, and how many more there are beside `unnamed` others.
fn named(files: &[&Committed], unnamed: usize) -> String {
    let mut bytes = 0;
    let fits = |told: &String| {
        bytes += told.len();
        bytes <= MAX_NAMED_BYTES
    };
    let mut told: Vec<String> = files.iter().take(MAX_NAMED).map(|file| file.told()).take_while(fits).collect();
    match files.len() + unnamed - told.len() {
        0 => {}
        more if told.is_empty() => told.push(format!("{more} {}", if more == 1 { "file" } else { "files" })),
        more => told.push(format!("+{more}")),
    }
    told.join(", ")
}

impl Committed {
    fn told(&self) -> String {
        match self.listing {
            Some(Listing::Created) => format!("`{}` (new)", self.path),
            Some(Listing::Deleted) => format!("`{}` (removed)", self.path),
            Some(Listing::Renamed) => format!("`{}` (moved)", self.path),
            None => format!("`{}`", self.path),
        }
    }
}

/// Returns whether a word that was passed to `git add` is the name of a file, and not a folder or a pattern.
fn names_file(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or(name);
    last.trim_start_matches('.').contains('.') && !name.contains(['*', '?', '$', '~', '{', ':'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn others(contents: &CommitContents, count: usize) -> String {
        contents.others(count, |path| path == "src/till.ts").1
    }

    #[test]
    fn a_file_is_lacking_only_if_all_others_are_known() {
        let added = ["src/till.ts", "drawer.ts"].map(str::to_owned);
        let mut contents = CommitContents::default();
        assert!(!contents.lacks("bell.ts"), "there is no commit");
        contents.committed((&added, &[]), " 2 files changed, 9 insertions(+)", 2);
        assert!(contents.lacks("out/bell.ts") && !contents.lacks("drawer.ts") && !contents.lacks("/shop/src/till.ts"));
        contents.committed((&added, &[]), " 3 files changed, 9 insertions(+)", 3);
        assert!(!contents.lacks("out/bell.ts"));
        for is_any_left in [true, false] {
            contents.dropped(is_any_left);
            contents.committed((&added, &[]), " 2 files changed, 9 insertions(+)", 2);
            assert_eq!(contents.lacks("bell.ts"), !is_any_left);
        }
    }

    #[test]
    fn what_a_command_may_have_written_is_not_said_to_be_of_others() {
        let added = ["src/till.ts", "drawer.ts", "till.lock"].map(str::to_owned);
        let mut contents = CommitContents::default();
        contents.listed(["drawer.ts".to_owned()].iter());
        contents.may_be_written();
        contents.listed(["drawer.ts".to_owned(), "till.lock".to_owned()].iter());
        contents.committed((&added, &[]), " 5 files changed, 9 insertions(+)", 5);
        let told = contents.others(4, |path| path == "src/till.ts");
        assert_eq!((told.0.as_str(), told.1.as_str()), ("`till.lock`, +2", "`drawer.ts`"));
        let mut contents = CommitContents::default();
        contents.may_be_written();
        assert_eq!(contents.others(2, |_| false), ("2 files".to_owned(), String::new()));
    }

    #[test]
    fn a_commit_holds_what_was_added_and_what_git_lists() {
        let added = ["src/till.ts", "docs", "drawer.ts", "*.md"].map(str::to_owned);
        let output = "[main 1a2b3c4] Open the drawer\n 5 files changed, 9 insertions(+)\n create mode 100644 logo.svg\n delete mode 100644 old.svg\n";
        let mut contents = CommitContents::default();
        contents.committed((&added, &["menu.ts".to_owned()]), output, 5);
        assert_eq!(others(&contents, 1), "`logo.svg` (new), `old.svg` (removed), `menu.ts`, `drawer.ts`");
        assert_eq!(others(&contents, 5), "`logo.svg` (new), `old.svg` (removed), `menu.ts`, `drawer.ts`, +1");
        contents.dropped(false);
        assert_eq!((others(&contents, 0).as_str(), others(&contents, 3).as_str()), ("", "3 files"));
    }

    #[test]
    fn a_file_that_was_added_without_a_change_is_in_no_commit() {
        for size in [0, 1] {
            let mut contents = CommitContents::default();
            contents.committed((&["src/till.ts".to_owned(), "drawer.ts".to_owned()], &[]), "", size);
            assert_eq!(others(&contents, 0), "");
        }
    }

    #[test]
    fn of_more_files_than_the_commit_has_only_those_count_that_git_lists_below_it() {
        let changed = ["menu.ts".to_owned()];
        let told = |size: u32| {
            let mut contents = CommitContents::default();
            contents.committed((&["src/till.ts".to_owned()], &changed), " create mode 100644 logo.svg", size);
            others(&contents, 0)
        };
        assert_eq!((told(2).as_str(), told(3).as_str()), ("`logo.svg` (new)", "`logo.svg` (new), `menu.ts`"));
        assert_eq!(told(0), told(3), "git had listed it, and did not say how many files it committed");
    }

    #[test]
    fn a_commit_of_more_lines_than_were_edited() {
        let own_lines = |own, whole| {
            let mut contents = CommitContents::default();
            contents.measured(own, whole, false);
            contents.own_lines()
        };
        assert_eq!(own_lines((25, 13), (33, 20)), Some((25, 13)));
        assert_eq!(own_lines((25, 13), (33, 21)), None, "the same lines may stand in another order");
        assert_eq!(own_lines((25, 13), (25, 13)), None);
        assert_eq!(own_lines((25, 13), (20, 13)), None, "a part of it was taken back by a command");
        assert_eq!(own_lines((25, 13), (27, 14)), None, "a hook may break lines");
        let mut contents = CommitContents::default();
        contents.measured((25, 13), (33, 20), true);
        assert_eq!(contents.own_lines(), None, "a formatter ran");
    }
}
