//! Which of the session's changes git still has to commit, file by file: what was changed, added and committed, and what
//! git itself listed afterwards. What git lists wins over what was counted.

mod ignored;
mod listing;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use super::commands;
use super::files::is_generated;
pub(super) use ignored::ignored;
use listing::CUT;
pub(super) use listing::{Listed, diff, shown_commit, shown_files, status};

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
    /// Files that git listed as changed or staged, and that the next commit contains.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    listed: Vec<String>,
    /// Files that git listed as changed and the session did not change.
    others: Vec<String>,
    /// Those of them that `git stash` put away.
    stashed_others: Vec<String>,
    /// Those of them that the agent named: it left them out on purpose.
    named: Vec<String>,
    /// Whether a commit was tried since the last change, as far as is known without success.
    is_tried: bool,
    /// How many files the commit has that is being recorded. 0 if git did not say it.
    commit_size: u32,
    /// Whether the latest list of changed files left some of them out.
    is_list_cut: bool,
    /// Changed files in hidden folders that commits of other files left out. Mostly git ignores them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    local: Vec<String>,
    /// Files and folders that git ignores, as it said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ignored: Vec<String>,
    /// Whether git listed some of the session's changed files no more: somebody else committed them or took them back.
    has_settled: bool,
}

impl WorkTree {
    /// Records that the session changed a file.
    pub(super) fn file_changed(&mut self, path: &str) {
        self.others.retain(|other| !is_same_file(other, path));
        self.local.retain(|local| local != path);
        self.is_tried = false;
        // Nobody knows what another rule lets through.
        if path.rsplit('/').next() == Some(".gitignore") {
            self.ignored.clear();
        }
        if self.is_ignored(path) {
            return;
        }
        if !self.changed.iter().any(|known| known == path) && self.changed.len() < MAX_FILES {
            self.changed.push(path.to_owned());
        }
    }

    /// Records that the changes of the files for which `is_restored` returns true were taken back.
    pub(super) fn restored(&mut self, is_restored: impl Fn(&str) -> bool) {
        self.changed.retain(|path| !is_restored(path));
        self.others.retain(|path| !is_restored(path));
    }

    /// Records that somebody else committed what was changed so far.
    pub(super) fn settled(&mut self) {
        self.has_settled |= !self.changed.is_empty();
        self.changed.clear();
    }

    /// Records that nothing is left to commit.
    pub(super) fn found_clean(&mut self) {
        self.changed.clear();
        self.added.clear();
        self.listed.clear();
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
                        self.add_all();
                    }
                    // What git is forced to add it ignores no more.
                    if arguments.iter().any(|word| word == "-f" || word == "--force") {
                        self.ignored.retain(|known| !names().any(|name| name == "." || is_below_or_same(known, &name)));
                        self.ignored.retain(|known| !names().any(|name| is_below_or_same(&name, known)));
                    }
                    // What the agent adds it takes for the session's, however it was changed.
                    let is_added = |path: &mut String| names().any(|name| name == "." || covers(&name, path));
                    let taken: Vec<String> = self.others.extract_if(.., is_added).collect();
                    self.list(taken);
                    self.added.extend(names());
                    self.added.truncate(MAX_FILES);
                    if subcommand == "rm" && arguments.iter().any(|word| word == "--cached") {
                        self.listed.retain(|path| !names().any(|name| covers(&name, path)));
                    }
                }
                "commit" if arguments.iter().any(|word| takes_all(word)) => {
                    self.add_all();
                }
                "commit" => {
                    // `git commit -m "…" -- PATHS`.
                    self.added.extend(arguments.iter().skip_while(|word| *word != "--").skip(1).cloned());
                }
                "reset" if !arguments.iter().any(|word| word == "--soft") => self.unstage(names()),
                "restore" if arguments.iter().any(|word| word == "--staged" || word == "-S") => self.unstage(names()),
                // Git rebases only if nothing is changed.
                "rebase" if !arguments.iter().any(|word| word == "--autostash" || word == "--abort") => {
                    self.has_settled |= !self.changed.is_empty();
                    self.changed.clear();
                }
                "stash" if matches!(names().next().as_deref(), None | Some("push" | "save")) => {
                    self.stashed.append(&mut self.changed);
                    let paths: Vec<&String> = arguments.iter().skip_while(|word| *word != "--").skip(1).collect();
                    let is_put = |path: &mut String| paths.is_empty() || paths.iter().any(|name| covers(name, path));
                    self.stashed_others.extend(self.others.extract_if(.., is_put));
                    self.stashed_others.truncate(MAX_OTHERS);
                }
                "stash" if matches!(names().next().as_deref(), Some("pop" | "apply")) => {
                    self.changed.append(&mut self.stashed);
                    self.others.append(&mut self.stashed_others);
                }
                _ => {}
            }
        }
    }

    /// Records that the next commit is not to contain those files, or none if none is named.
    fn unstage(&mut self, names: impl Iterator<Item = String>) {
        let names: Vec<String> = names.filter(|name| name != "HEAD").collect();
        let is_meant = |path: &mut String| names.is_empty() || names.iter().any(|name| name == "." || covers(name, path));
        self.added.retain_mut(|path| !is_meant(path));
        self.others.extend(self.listed.extract_if(.., is_meant));
        self.others.truncate(MAX_OTHERS);
    }

    /// Records files that git listed as changed and was told to add.
    fn list(&mut self, paths: Vec<String>) {
        for path in paths {
            if !self.listed.contains(&path) && self.listed.len() < MAX_FILES {
                self.listed.push(path);
            }
        }
    }

    /// Records files and folders that git ignores: they are not to be committed, and what git was told to add of them is forgotten.
    pub(super) fn ignore(&mut self, ignored: Vec<String>) {
        self.ignored.extend(ignored);
        self.ignored.truncate(MAX_OTHERS);
        let ignored = std::mem::take(&mut self.ignored);
        let is_ignored = |path: &String| ignored.iter().any(|known| is_below_or_same(path, known));
        self.added.retain(|name| !is_ignored(name));
        self.changed.retain(|path| !is_ignored(path));
        self.ignored = ignored;
    }

    /// Returns whether git ignores a file, as it said.
    pub(super) fn is_ignored(&self, path: &str) -> bool {
        self.ignored.iter().any(|known| is_below_or_same(path, known))
    }

    /// Records that git is to add everything.
    fn add_all(&mut self) {
        let taken = std::mem::take(&mut self.others);
        self.list(taken);
        self.added.push(".".to_owned());
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
        self.listed.clear();
        self.is_tried = false;
        // A commit of more files than were named holds files that somebody had staged before.
        if std::mem::take(&mut self.commit_size) as usize > added.len() {
            self.others.clear();
        }
        if added.is_empty() || added.iter().any(|name| matches!(name.as_str(), "." | "./" | "*" | ":/")) {
            self.changed.clear();
            self.others.clear();
            self.local.clear();
            return;
        }
        let is_left = |path: &String| !added.iter().any(|name| covers(name, path));
        self.local.retain(is_left);
        self.changed.retain(is_left);
        self.local.extend(self.changed.extract_if(.., |path| is_local(path)));
        self.local.truncate(MAX_FILES);
        self.others.retain(is_left);
    }

    /// Applies a list of git. Returns whether the session's changes turn out to be committed although the command that
    /// committed them failed.
    ///
    /// `is_new` tells the files that the session created: a list of the tracked files says nothing of them.
    pub(super) fn listed(&mut self, listed: &Listed, is_new: impl Fn(&str) -> bool) -> bool {
        let before = self.changed.len();
        let names = || listed.modified.iter().chain(&listed.untracked);
        if listed.is_of_failed_commit {
            self.others.retain(|other| listed.modified.iter().any(|path| is_same_file(path, other)));
            return false;
        }
        if listed.is_whole {
            self.changed.retain(|path| names().any(|name| covers(name, path)));
            self.others.clear();
        } else if listed.is_whole_of_tracked {
            self.others.clear();
            let is_all_unstaged = self.added.is_empty();
            self.changed.retain(|path| !is_all_unstaged || is_new(path) || names().any(|name| covers(name, path)));
        }
        self.has_settled |= self.changed.len() < before;
        self.is_list_cut = listed.is_cut_of_tracked;
        // The next commit contains what is staged, whoever staged it. What is staged no more, somebody committed or took back.
        if listed.is_whole_of_staged {
            self.listed.retain(|path| listed.staged.contains(path));
        }
        for path in &listed.staged {
            for list in [&mut self.added, &mut self.listed] {
                if !list.contains(path) && list.len() < MAX_FILES {
                    list.push(path.clone());
                }
            }
        }
        for path in &listed.modified {
            let is_own = self.changed.iter().any(|known| is_same_file(known, path));
            if !is_own && !path.starts_with(CUT) && self.others.len() < MAX_OTHERS && !self.others.contains(path) {
                self.others.push(path.clone());
            }
        }
        before > 0 && self.changed.is_empty() && std::mem::take(&mut self.is_tried)
    }

    /// Applies the files of a commit that git showed. Only after a commit was tried they may be the session's. Returns whether
    /// one of them is.
    pub(super) fn shown(&mut self, files: &[String]) -> bool {
        let before = self.changed.len();
        if self.is_tried {
            let is_shown = |path: &String| files.iter().any(|name| is_same_file(name, path));
            self.changed.retain(|path| !is_shown(path));
            if self.changed.len() < before {
                self.others.retain(|path| !is_shown(path));
                self.listed.retain(|path| !is_shown(path));
            }
        }
        self.changed.len() < before
    }

    /// Returns the session's files that have to be committed.
    pub(super) fn changed(&self) -> &[String] {
        &self.changed
    }

    /// Returns whether commits of other files left out a file in a hidden folder.
    pub(super) fn is_local(&self, path: &str) -> bool {
        self.local.iter().any(|local| local == path)
    }

    /// Returns what git was told to add since the last commit.
    pub(super) fn added(&self) -> &[String] {
        &self.added
    }

    /// Returns the files that git listed as changed before it was told to add them.
    pub(super) fn listed_and_added(&self) -> &[String] {
        &self.listed
    }

    /// Returns whether git listed some of the session's changed files no more, although the session did not commit them.
    pub(super) fn has_settled(&self) -> bool {
        self.has_settled
    }

    /// Returns whether there are changed files that git did not list by name.
    pub(super) fn is_list_cut(&self) -> bool {
        self.is_list_cut
    }

    /// Returns the files that are not the session's and that git was told to add since the last commit.
    pub(super) fn staged_of_others(&self) -> Vec<&str> {
        let is_own = |path: &&String| self.changed.iter().any(|own| is_same_file(own, path));
        let is_added = |path: &&String| self.added.iter().any(|name| name == "." || covers(name, path));
        self.listed.iter().filter(|path| is_added(path) && !is_own(path)).map(String::as_str).collect()
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
    let letters = commands::short_options(option).filter(|letters| letters.bytes().all(|byte| byte.is_ascii_alphabetic()));
    option == "--all" || letters.is_some_and(|letters| letters.split('m').next().unwrap_or_default().contains('a'))
}

/// Returns whether two paths name one file. Git prints some relative to a folder below the root.
pub(super) fn is_same_file(one: &str, other: &str) -> bool {
    let (one, other) = (one.trim_start_matches(CUT), other.trim_start_matches(CUT));
    let ends = |long: &str, short: &str| long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
    ends(one, other) || ends(other, one)
}

/// Returns whether a file, folder or pattern that git was given or printed contains the path.
fn covers(name: &str, path: &str) -> bool {
    let name = name.trim_start_matches("./").trim_end_matches('/');
    if name.is_empty() || is_same_file(name, path) {
        return true;
    }
    let is_below = |path: &str| {
        if name.contains('*') {
            matches(name, path)
        } else {
            path.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'))
        }
    };
    is_below(path) || path.match_indices('/').any(|(at, _)| is_below(&path[at + 1..]))
}

/// Returns whether a path lies in a folder, or is the same. Both are named from the root.
fn is_below_or_same(path: &str, folder: &str) -> bool {
    let rest = path.trim_start_matches("./").strip_prefix(folder.trim_start_matches("./").trim_end_matches('/'));
    !folder.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns whether a pattern matches a path or the beginning of it that ends at a folder. Each star stands for any text, as in
/// git's patterns.
fn matches(pattern: &str, path: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else {
        return path == pattern || path.strip_prefix(pattern).is_some_and(|rest| rest.starts_with('/'));
    };
    let Some(rest) = path.strip_prefix(before) else { return false };
    let after = after.trim_start_matches('*');
    after.is_empty() || rest.char_indices().any(|(at, _)| matches(after, &rest[at..]))
}

/// Returns whether a path lies in a hidden folder of the project, where tools keep what is no part of it.
fn is_local(path: &str) -> bool {
    path.starts_with('.') && path.contains('/') && !path.starts_with(".github/")
}
