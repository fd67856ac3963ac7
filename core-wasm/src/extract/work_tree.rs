//! Which of the session's changes git still has to commit, file by file: what was changed, added and committed, and what
//! git itself listed afterwards. What git lists wins over what was counted.

use serde::{Deserialize, Serialize};

use super::commands;
use super::commits;

/// The maximum number of files in each list.
const MAX_FILES: usize = 150;
/// The maximum number of other changed files to keep.
const MAX_OTHERS: usize = 30;

/// The files that git has to commit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct WorkTree {
    /// Files that the session changed and no commit is known to contain.
    changed: Vec<String>,
    /// What `git add` named since the last commit. A dot is everything.
    added: Vec<String>,
    /// The changed files that `git stash` put away.
    stashed: Vec<String>,
    /// Files that git listed as changed and the session did not change.
    others: Vec<String>,
    /// Those of them that the agent named: it left them out on purpose.
    named: Vec<String>,
    /// Whether a commit was tried since the last change, as far as is known without success.
    is_tried: bool,
    /// How many files the commit has that is being recorded. 0 if git did not say it.
    commit_size: u32,
}

/// What a list of git says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listed {
    /// Files that git tracks and that differ from the last commit.
    pub modified: Vec<String>,
    /// Those of them that the next commit will contain.
    pub staged: Vec<String>,
    /// Files and folders that git does not track.
    pub untracked: Vec<String>,
    /// Whether the list contains every changed file.
    pub is_whole: bool,
    /// Whether it contains every changed file that git tracks.
    pub is_whole_of_tracked: bool,
    /// Whether the branch has commits that its upstream lacks, if the list says so.
    pub is_ahead: Option<bool>,
}

impl Listed {
    fn push(&mut self, path: &str, list: List) {
        match list {
            List::Staged => self.staged.push(path.to_owned()),
            List::Modified => {}
            List::Untracked => return self.untracked.push(path.to_owned()),
        }
        self.modified.push(path.to_owned());
    }
}

impl WorkTree {
    /// Records that the session changed a file.
    pub(super) fn file_changed(&mut self, path: &str) {
        self.others.retain(|other| !is_same_file(other, path));
        self.is_tried = false;
        if !self.changed.iter().any(|known| known == path) && self.changed.len() < MAX_FILES {
            self.changed.push(path.to_owned());
        }
    }

    /// Records that the changes of the files for which `is_restored` returns true were taken back.
    pub(super) fn restored(&mut self, is_restored: impl Fn(&str) -> bool) {
        self.changed.retain(|path| !is_restored(path));
    }

    /// Records that nothing is left to commit.
    pub(super) fn found_clean(&mut self) {
        self.changed.clear();
        self.added.clear();
        self.others.clear();
    }

    /// Records what a command line adds to the next commit, or puts away.
    pub(super) fn command_ran(&mut self, command: &str) {
        for (subcommand, arguments) in commands::git_calls(command) {
            let is_option = |word: &&String| word.starts_with('-');
            let names = || arguments.iter().filter(|word| !is_option(word)).cloned();
            match subcommand.as_str() {
                "add" | "stage" | "rm" | "mv" => {
                    let all = ["-A", "--all", "-u", "--update"];
                    if subcommand == "add"
                        && arguments.iter().any(|word| all.contains(&word.as_str()))
                        && names().next().is_none()
                    {
                        self.added.push(".".to_owned());
                    }
                    self.added.extend(names());
                    self.added.truncate(MAX_FILES);
                }
                "commit" if arguments.iter().any(|word| takes_all(word)) => self.added.push(".".to_owned()),
                "commit" => {
                    // `git commit -m "…" -- PATHS`.
                    self.added.extend(arguments.iter().skip_while(|word| *word != "--").skip(1).cloned());
                }
                // Git rebases only if nothing is changed.
                "rebase" if !arguments.iter().any(|word| word == "--autostash" || word == "--abort") => self.changed.clear(),
                "stash" if matches!(names().next().as_deref(), None | Some("push" | "save")) => {
                    self.stashed.append(&mut self.changed);
                }
                "stash" if matches!(names().next().as_deref(), Some("pop" | "apply")) => {
                    self.changed.append(&mut self.stashed);
                }
                _ => {}
            }
        }
    }

    /// Records what the agent said: it may name files that are not the session's.
    pub(super) fn agent_said(&mut self, said: &str) {
        for other in &self.others {
            let name = other.rsplit('/').next().unwrap_or(other);
            let is_telling = name.find('.').is_some_and(|at| at > 0);
            if (said.contains(other.as_str()) || (is_telling && said.contains(name))) && !self.named.contains(other) {
                self.named.push(other.clone());
            }
        }
        self.named.truncate(MAX_OTHERS);
    }

    /// Records that a commit was tried and failed, as far as its command says.
    pub(super) fn commit_failed(&mut self) {
        self.is_tried = true;
    }

    /// Records how many files the commit has that is recorded next.
    pub(super) fn commit_measured(&mut self, files: u32) {
        self.commit_size = files;
    }

    /// Records a commit of what was added. If nothing is known to be added, it contains everything.
    pub(super) fn committed(&mut self) {
        let added = std::mem::take(&mut self.added);
        self.is_tried = false;
        // A commit of more files than were named holds files that somebody had staged before.
        if std::mem::take(&mut self.commit_size) as usize > added.len() {
            self.others.clear();
        }
        if added.is_empty() || added.iter().any(|name| matches!(name.as_str(), "." | "./" | "*" | ":/")) {
            self.changed.clear();
            self.others.clear();
            return;
        }
        let is_left = |path: &String| !added.iter().any(|name| covers(name, path));
        self.changed.retain(|path| is_left(path) && !is_local(path));
        self.others.retain(is_left);
    }

    /// Applies a list of git. Returns whether the session's changes turn out to be committed although the command that
    /// committed them failed.
    ///
    /// `is_new` tells the files that the session created: a list of the tracked files says nothing of them.
    pub(super) fn listed(&mut self, listed: &Listed, is_new: impl Fn(&str) -> bool) -> bool {
        let had_changes = !self.changed.is_empty();
        let names = || listed.modified.iter().chain(&listed.untracked);
        if listed.is_whole {
            self.changed.retain(|path| names().any(|name| covers(name, path)));
            self.others.clear();
        } else if listed.is_whole_of_tracked {
            self.others.clear();
            let is_all_unstaged = self.added.is_empty();
            self.changed.retain(|path| !is_all_unstaged || is_new(path) || names().any(|name| covers(name, path)));
        }
        // The next commit contains what is staged, whoever staged it.
        for path in &listed.staged {
            if !self.added.contains(path) && self.added.len() < MAX_FILES {
                self.added.push(path.clone());
            }
        }
        for path in &listed.modified {
            let is_own = self.changed.iter().any(|known| is_same_file(known, path));
            if !is_own && self.others.len() < MAX_OTHERS && !self.others.contains(path) {
                self.others.push(path.clone());
            }
        }
        had_changes && self.changed.is_empty() && std::mem::take(&mut self.is_tried)
    }

    /// Applies the files of a commit that git showed. Only after a commit was tried they may be the session's. Returns whether
    /// one of them is.
    pub(super) fn shown(&mut self, files: &[String]) -> bool {
        let before = self.changed.len();
        if self.is_tried {
            self.changed.retain(|path| !files.iter().any(|name| is_same_file(name, path)));
        }
        self.changed.len() < before
    }

    /// Returns the session's files that have to be committed.
    pub(super) fn changed(&self) -> &[String] {
        &self.changed
    }

    /// Returns the changed files that are not the session's, those that the agent named first.
    pub(super) fn left_out(&self) -> Vec<&str> {
        let (named, others): (Vec<&String>, Vec<&String>) = self.others.iter().partition(|other| self.named.contains(other));
        // What tools write by themselves is worth a word only if somebody spoke of it.
        let others = others.into_iter().filter(|path| !is_generated(path));
        named.into_iter().chain(others).map(String::as_str).collect()
    }
}

/// Returns whether an option makes `git commit` commit every changed file.
fn takes_all(option: &str) -> bool {
    let letters = option.strip_prefix('-').filter(|letters| letters.bytes().all(|byte| byte.is_ascii_alphabetic()));
    option == "--all" || letters.is_some_and(|letters| letters.split('m').next().unwrap_or_default().contains('a'))
}

/// Returns whether two paths name one file. Git prints some relative to a folder below the root.
fn is_same_file(one: &str, other: &str) -> bool {
    let ends = |long: &str, short: &str| long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
    ends(one, other) || ends(other, one)
}

/// Returns whether a file, folder or pattern that git was given or printed contains the path.
fn covers(name: &str, path: &str) -> bool {
    let name = name.trim_start_matches("./").trim_end_matches('/');
    if name.is_empty() || is_same_file(name, path) {
        return true;
    }
    let folder = name.split('*').next().unwrap_or_default();
    let (folder, is_pattern) = (folder.trim_end_matches('/'), folder.len() < name.len());
    let is_below = |path: &str| path.strip_prefix(folder).is_some_and(|rest| is_pattern || rest.starts_with('/'));
    is_below(path) || path.match_indices('/').any(|(at, _)| is_below(&path[at + 1..]))
}

/// Returns whether a path lies in a hidden folder of the project, where tools keep what is no part of it.
fn is_local(path: &str) -> bool {
    path.starts_with('.') && path.contains('/') && !path.starts_with(".github/")
}

/// Returns whether a file is a list of versions that a package manager writes.
fn is_generated(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    [".lock", ".lockb", "-lock.json", "-lock.yaml", ".sum"].iter().any(|end| name.ends_with(end))
}

/// Returns what an output of `git status` lists, also in its short form and behind rtk, which counts the files.
pub(super) fn status(command: &str, output: &str) -> Option<Listed> {
    let calls: Vec<Vec<String>> = commands::git_calls(command)
        .into_iter()
        .filter(|(subcommand, _)| subcommand == "status")
        .map(|(_, arguments)| arguments)
        .collect();
    // What follows a here-document is not split into commands.
    if calls.is_empty() && !command.contains("git status") {
        return None;
    }
    let is_short = calls
        .iter()
        .flatten()
        .any(|word| word.starts_with("--porcelain") || matches!(word.as_str(), "-s" | "--short" | "-sb"));
    let mut listed = Listed::default();
    let (mut list, mut is_status) = (None, false);
    let (mut is_cut, mut is_cut_of_tracked) = (false, false);
    for line in output.lines() {
        let said = line.trim();
        if said.starts_with("On branch ") || said.starts_with("HEAD detached") || said.starts_with("## ") {
            is_status = true;
        }
        if let Some(ahead) = ahead(said) {
            listed.is_ahead = Some(ahead);
        }
        if let Some(heading) = heading(said) {
            (list, is_status) = (Some(heading), true);
        } else if said.is_empty() || (said.starts_with('(') && said.ends_with(')')) {
            // Hints stand in parentheses.
        } else if let Some((_, path)) = said.split_once(':').filter(|(sign, _)| is_change(sign)) {
            listed.push(path.rsplit(" -> ").next().unwrap_or(path).trim(), list.unwrap_or(List::Modified));
        } else if is_short {
            if let Some((list, path)) = short_line(line) {
                listed.push(&path, list);
            }
        } else if said.starts_with("... +") {
            is_cut = true;
            is_cut_of_tracked |= list != Some(List::Untracked);
        } else if !line.starts_with([' ', '\t']) || said.contains(' ') {
            list = None;
        } else if let Some(list) = list {
            listed.push(said, list);
        }
    }
    // An empty short status says that nothing is changed.
    let is_alone = commands::segments(command).len() == 1;
    let is_empty = listed.modified.is_empty() && listed.untracked.is_empty();
    let rest = command.rsplit("git status").next().unwrap_or_default();
    let is_piped = rest.split(['\n', ';', '&']).next().is_some_and(|segment| segment.contains('|'));
    let names_files = calls.iter().flatten().any(|word| !word.starts_with('-'));
    let is_known = if is_short { !is_empty || (is_alone && output.trim().is_empty()) } else { is_status };
    listed.is_whole = is_known && !is_cut && !names_files && !is_piped;
    listed.is_whole_of_tracked = is_known && !is_cut_of_tracked && !names_files && !is_piped;
    (is_known || !is_empty).then_some(listed)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    Staged,
    Modified,
    Untracked,
}

/// Returns which list a line of `git status` opens, if it opens one.
fn heading(line: &str) -> Option<List> {
    let has = |words: &str| line.contains(words);
    let is_count = line.ends_with(" files") || line.ends_with(" file");
    if line == "Untracked files:" || (is_count && has("Untracked: ")) {
        return Some(List::Untracked);
    }
    if line == "Changes to be committed:" || (is_count && has("Staged: ")) {
        return Some(List::Staged);
    }
    let opens = matches!(line, "Changes not staged for commit:" | "Unmerged paths:");
    (opens || (is_count && has("Modified: "))).then_some(List::Modified)
}

fn is_change(sign: &str) -> bool {
    matches!(
        sign,
        "modified" | "new file" | "deleted" | "renamed" | "copied" | "typechange" | "both modified" | "both added"
    )
}

/// Parses `M  path`, ` M path` or `?? path`. Cleaning may have taken a blank from the start of the first line.
fn short_line(line: &str) -> Option<(List, String)> {
    let (sign, path) = line.trim().split_once(' ')?;
    let is_sign = !sign.is_empty() && sign.len() <= 2 && sign.bytes().all(|byte| b"MADRCUT?".contains(&byte));
    let is_staged = sign.len() == 1 && !line.starts_with(' ') && path.starts_with(' ');
    let path = path.trim().rsplit(" -> ").next()?.trim_matches('"');
    let list = match sign {
        "??" => List::Untracked,
        _ if is_staged => List::Staged,
        _ => List::Modified,
    };
    (is_sign && !path.is_empty()).then(|| (list, path.to_owned()))
}

/// Returns whether the branch is ahead of its upstream, if the line says it.
fn ahead(line: &str) -> Option<bool> {
    if line.starts_with("Your branch is ahead of") || line.contains("[ahead ") || line.contains("have diverged") {
        Some(true)
    } else if line.starts_with("Your branch is up to date with") {
        Some(false)
    } else {
        None
    }
}

/// Returns the files of the commits that `git show` or `git log` printed, by their list or by the table of their sizes.
pub(super) fn shown_files(command: &str, output: &str) -> Vec<String> {
    let shows = |(subcommand, arguments): &(String, Vec<String>)| {
        matches!(subcommand.as_str(), "show" | "log" | "diff-tree")
            && arguments.iter().any(|word| word.starts_with("--stat") || word.starts_with("--name-"))
    };
    if !commands::git_calls(command).iter().any(shows) {
        return Vec::new();
    }
    let file = |line: &str| -> Option<String> {
        let line = line.trim();
        if let Some((path, _, _)) = commits::stat_file(line) {
            return Some(path);
        }
        let path = line.split('\t').next_back()?;
        (path.contains('.') && !path.contains(' ')).then(|| path.to_owned())
    };
    output.lines().filter_map(file).take(MAX_FILES).collect()
}

/// Returns the tracked files that a plain `git diff` lists, if it lists all of them: none, their names, or the table of their
/// sizes.
pub(super) fn diff(command: &str, output: &str) -> Option<Listed> {
    let calls = commands::git_calls(command);
    let is_all = |arguments: &[String]| {
        let is_other = |word: &str| matches!(word, "--cached" | "--staged" | "--check") || word.starts_with("--diff-filter");
        arguments.iter().all(|word| word.starts_with("--") && !is_other(word))
    };
    let arguments = match calls.as_slice() {
        [(subcommand, arguments)] if subcommand == "diff" && is_all(arguments) => arguments,
        _ => return None,
    };
    if commands::segments(command).len() != 1 || command.contains('|') {
        return None;
    }
    let modified: Vec<String> = if arguments.iter().any(|word| word == "--name-only") {
        output.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
    } else if output.trim().is_empty() {
        Vec::new()
    } else {
        let stat = commits::stat(output).filter(|stat| usize::try_from(stat.sums.0) == Ok(stat.files.len()))?;
        stat.files.into_iter().map(|(path, _, _)| path).collect()
    };
    Some(Listed { modified, is_whole_of_tracked: true, ..Listed::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(paths: &[&str]) -> WorkTree {
        let mut tree = WorkTree::default();
        for path in paths {
            tree.file_changed(path);
        }
        tree
    }

    #[test]
    fn a_commit_contains_what_was_added() {
        let mut work = tree(&["src/cart.ts", "src/view/total.ts", "README.md"]);
        work.command_ran("cd src && git add cart.ts view/ && git commit -m 'Round totals'");
        work.committed();
        assert_eq!(work.changed(), ["README.md"]);
        work.file_changed("src/cart.ts");
        work.command_ran("git commit -am 'Say so'");
        work.committed();
        assert!(work.changed().is_empty());
    }

    #[test]
    fn a_commit_of_nothing_that_is_known_contains_everything() {
        for command in ["git commit -m 'x'", "git add -A && git commit -m 'x'", "git add . ; git commit"] {
            let mut work = tree(&["src/cart.ts", "README.md"]);
            work.command_ran(command);
            work.committed();
            assert!(work.changed().is_empty(), "{command}");
        }
    }

    #[test]
    fn patterns_and_hidden_folders() {
        let mut work = tree(&["src/cart.ts", "docs/a.md", ".notes/plan.md"]);
        work.command_ran("git add 'src/*.ts'");
        work.committed();
        assert_eq!(work.changed(), ["docs/a.md"]);
    }

    #[test]
    fn git_has_the_last_word() {
        let mut work = tree(&["src/cart.ts", "docs/new.md"]);
        let said = "On branch main\nYour branch is ahead of 'origin/main' by 2 commits.\n\nChanges not staged for commit:\n  (use \"git add\")\n\tmodified:   package.json\n\nUntracked files:\n  (use \"git add\")\n\tdocs/\n\nno changes added to commit";
        let listed = status("git status", said).unwrap();
        assert_eq!((listed.is_whole, listed.is_ahead), (true, Some(true)));
        assert!(!work.listed(&listed, |_| false));
        assert_eq!(work.changed(), ["docs/new.md"]);
        assert_eq!(work.left_out(), ["package.json"]);
        work.others.push("src/menu.ts".to_owned());
        work.others.push("yarn.lock".to_owned());
        assert_eq!(work.left_out(), ["package.json", "src/menu.ts"], "nobody spoke of what a tool writes");
        work.others.truncate(1);
        work.agent_said("The change of `package.json` is not mine, so I leave it out.");
        assert_eq!(work.left_out(), ["package.json"]);
        work.file_changed("package.json");
        assert!(work.left_out().is_empty());
    }

    #[test]
    fn a_commit_of_more_files_than_were_named_may_hold_any() {
        let left = |size: u32| {
            let mut work = tree(&["src/cart.ts"]);
            work.others.push("src/menu.ts".to_owned());
            work.command_ran("git add src/cart.ts && git commit -m 'Round totals'");
            work.commit_measured(size);
            work.committed();
            work.left_out().len()
        };
        assert_eq!((left(1), left(0), left(3)), (1, 1, 0));
    }

    #[test]
    fn a_list_that_is_cut_among_new_files_is_whole_for_the_others() {
        let said = "\u{1f4cc} main\n\u{1f4dd} Modified: 1 files\n   src/menu.ts\n\u{2753} Untracked: 5 files\n   a.md\n   ... +4 more\n";
        let listed = status("rtk git status", said).unwrap();
        assert_eq!((listed.is_whole, listed.is_whole_of_tracked), (false, true));
        let mut work = tree(&["src/cart.ts"]);
        work.others.push("src/view.ts".to_owned());
        work.listed(&listed, |_| false);
        assert_eq!(work.left_out(), ["src/menu.ts"]);
    }

    #[test]
    fn short_lists() {
        let listed = status("git status --short", " M src/cart.ts\n?? docs/new.md\nR  a.ts -> b.ts").unwrap();
        assert_eq!(listed.modified, ["src/cart.ts", "b.ts"]);
        assert_eq!(listed.untracked, ["docs/new.md"]);
        assert_eq!(listed.staged, ["b.ts"]);
        assert!(listed.is_whole);
        assert!(status("git status --short", "").unwrap().is_whole);
        assert!(!status("git status --short | head -5", " M a.ts").unwrap().is_whole);
        assert!(!status("git status -s src", " M src/a.ts").unwrap().is_whole);
        assert_eq!(status("git log --oneline", "M a.ts"), None);
    }

    #[test]
    fn a_list_that_counts_its_files() {
        let said = "* main...origin/main [ahead 3]\n~ Modified: 1 files\n   src/cart.ts\n? Untracked: 5 files\n   .notes/\n   ... +4 more\nok";
        let listed = status("rtk git status", said).unwrap();
        assert_eq!((listed.modified.as_slice(), listed.is_whole), (&["src/cart.ts".to_owned()][..], false));
        assert_eq!(listed.is_ahead, Some(true));
    }

    #[test]
    fn a_commit_that_failed_may_have_been_made() {
        let shown = "commit 1a2b3c4\n\n    Round totals\n\n src/cart.ts | 3 ++-\n 1 file changed";
        let files = shown_files("git show HEAD --stat", shown);
        let mut work = tree(&["src/cart.ts"]);
        assert!(!work.shown(&files), "it may be an older commit");
        work.commit_failed();
        assert!(work.shown(&files) && work.changed().is_empty());
        let mut work = tree(&["src/cart.ts"]);
        work.commit_failed();
        assert!(work.listed(&Listed { is_whole: true, ..Listed::default() }, |_| false));
    }

    #[test]
    fn a_difference_lists_what_git_tracks() {
        let mut work = tree(&["src/cart.ts", "src/view.ts", "src/new.ts"]);
        let is_new = |path: &str| path == "src/new.ts";
        let listed =
            diff("git diff --stat", " src/view.ts | 3 ++-\n 1 file changed, 2 insertions(+), 1 deletion(-)").unwrap();
        work.listed(&listed, is_new);
        assert_eq!(work.changed(), ["src/view.ts", "src/new.ts"]);
        work.listed(&diff("git diff --name-only", "").unwrap(), is_new);
        assert_eq!(work.changed(), ["src/new.ts"]);
        for command in ["git diff --cached --stat", "git diff main --stat", "git diff --stat | head -3", "git diff src/a.ts"]
        {
            assert_eq!(diff(command, ""), None, "{command}");
        }
        assert_eq!(diff("git diff", "diff --git a/x b/x"), None);
    }

    #[test]
    fn what_somebody_else_staged_is_committed_too() {
        let mut work = tree(&["src/cart.ts"]);
        let said = "On branch main\nChanges to be committed:\n\tnew file:   logo.svg\n\nChanges not staged for commit:\n\tmodified:   src/cart.ts\n\tmodified:   menu.ts\n";
        work.listed(&status("git status", said).unwrap(), |_| false);
        work.agent_said("`logo.svg` and `menu.ts` are not mine.");
        work.command_ran("git add src/cart.ts && git commit -m 'Round totals'");
        work.committed();
        assert!(work.changed().is_empty());
        assert_eq!(work.left_out(), ["menu.ts"]);
    }

    #[test]
    fn what_is_stashed_comes_back() {
        let mut work = tree(&["src/cart.ts"]);
        work.command_ran("git stash");
        assert!(work.changed().is_empty());
        work.command_ran("git stash pop");
        assert_eq!(work.changed(), ["src/cart.ts"]);
        work.restored(|path| path == "src/cart.ts");
        assert!(work.changed().is_empty());
    }
}
