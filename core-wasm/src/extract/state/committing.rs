//! Commits that were made, tried, amended or found, and their sizes.

use super::State;
use crate::bindings::throughline::policy::types::Draft;
use crate::extract::clean;
use crate::extract::commands::{self, GitCall};
use crate::extract::commits::{self, Listing, Reset, Stash};
use crate::extract::memories::{LineRef, SessionMemory};
use crate::extract::results;
use crate::extract::statement::Voice;
use crate::extract::tool_uses::{Tool, ToolUse};
use crate::extract::undone::Push;
use crate::extract::work_tree;
use crate::said_by::SaidBy;
use crate::text;

/// The maximum number of commits in the notes.
pub(super) const MAX_COMMITS: usize = 50;
/// The maximum number of repositories for trying something out that are known at a time.
const MAX_REPOSITORIES: usize = 8;
/// The maximum length of a commit's subject, in characters.
const MAX_SUBJECT_CHARS: usize = 180;
/// How many pushed tags are known, the latest, and the maximum length of one in characters.
const MAX_TAGS: usize = 5;
const MAX_TAG_CHARS: usize = 60;
/// The similarity from which on two subjects are the same commit's.
const SAME_SUBJECT: f32 = 0.5;

impl State {
    /// Records the commits that a command line made, or that a commit was tried and failed. Returns whether it made some.
    pub(super) fn commits_made(
        &mut self,
        tool_use: &ToolUse,
        output: &str,
        is_error: bool,
        counts_tests: bool,
        settled: &mut Vec<Draft>,
    ) -> bool {
        let command = tool_use.what.as_str();
        if self.commits_for_trial(command, output) {
            return false;
        }
        let made = commits::commits_from(command, output, is_error);
        let committed = !made.is_empty();
        let is_bypassed = commits::bypasses_hook(command);
        if committed && !counts_tests && !is_bypassed && self.hook_runs_tests {
            self.hook_passed();
        }
        let own = self.lines_to_commit(&made);
        self.changes_measured(output, committed);
        if committed {
            self.open_points.committed();
            let size = commits::stat(output).map_or(0, |stat| stat.sums.0);
            self.commit_contents.committed(self.undone.added(), output, size);
        }
        for commit in made {
            self.record_commit(commit, is_bypassed, &tool_use.source, settled);
        }
        self.only_commit_measured(&own, output);
        if !committed && commands::class(command) == commands::Class::Commit {
            self.undone.commit_failed();
            let message = commits::message(command).unwrap_or_default();
            self.tried_commit = clean::line(message.trim().lines().next().unwrap_or_default(), MAX_SUBJECT_CHARS);
        }
        committed
    }

    /// Returns the files that git still has to commit, with the lines that the agent's edits added and removed in each. Empty if that is not
    /// for the session's first commit, if a command wrote one of them, or if the lines of one are not known.
    fn lines_to_commit(&self, made: &[commits::Commit]) -> Vec<(String, u32, u32)> {
        let is_first = self.own_commits() == 0 && made.len() == 1 && !made[0].amends;
        let is_to_commit = |path: &String| is_first && self.undone.is_to_commit(path);
        if self.files.written_by_commands().any(|path| self.undone.is_to_commit(path)) {
            return Vec::new();
        }
        let changes = self.files.changes().into_iter().filter(|change| is_to_commit(&change.path));
        let own: Vec<(String, u32, u32)> = changes.map(|change| (change.path, change.added, change.removed)).collect();
        // An edit of a notebook has no counts.
        if own.iter().any(|(_, added, removed)| added + removed == 0) { Vec::new() } else { own }
    }

    /// Compares the session's only commit with the agent's edits of its files, if it holds no other files. `own` are the files that were to
    /// be committed before.
    fn only_commit_measured(&mut self, own: &[(String, u32, u32)], output: &str) {
        let committed = || own.iter().filter(|(path, ..)| !self.undone.is_to_commit(path));
        let Some(stat) = commits::stat(output).filter(|stat| stat.sums.0 as usize == committed().count()) else { return };
        let lines = committed().fold((0, 0), |sum: (u32, u32), (_, added, removed)| (sum.0 + added, sum.1 + removed));
        // What moves as a whole is counted in another way.
        if !own.is_empty() && commits::listings(output).iter().all(|(_, listing)| *listing == Listing::Created) {
            self.commit_contents.measured(lines, (stat.sums.1, stat.sums.2), self.has_formatted);
        }
    }

    /// Returns whether a command line commits only in repositories that the session made for trying something out.
    fn commits_for_trial(&mut self, command: &str, output: &str) -> bool {
        let made = commands::made_repositories(command, &self.trial_repositories);
        self.trial_repositories.extend(made);
        let extra = self.trial_repositories.len().saturating_sub(MAX_REPOSITORIES);
        self.trial_repositories.drain(..extra);
        // What the session writes into a folder that is kept is its work.
        let files = &self.files;
        let is_for_trial = |folder: &&String| {
            let is_inside = |path: &str| path.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'));
            commands::is_temporary_folder(folder) || !files.paths().any(is_inside)
        };
        let folders: Vec<String> = self.trial_repositories.iter().filter(is_for_trial).cloned().collect();
        commands::commits_only_in(&folders, command, output)
    }

    /// Applies a list of changed files that git printed. Returns whether that shows that a commit was made.
    pub(super) fn git_listed(&mut self, listed: &work_tree::Listed) -> bool {
        let files = &self.files;
        let is_removed = |path: &&str| {
            self.undone.is_to_commit(path) && !listed.moved_from.iter().any(|from| work_tree::is_same_file(from, path))
        };
        let removed: Vec<String> = files.removed_paths().filter(is_removed).map(str::to_owned).collect();
        let is_own = |path: &&String| files.paths().any(|own| work_tree::is_same_file(own, path));
        self.commit_contents.listed(listed.modified.iter().chain(&listed.untracked).filter(|path| !is_own(path)));
        let has_landed = self.undone.git_listed(listed, |path| files.is_new(path));
        // A file that is gone and that git does not miss was never one of the repository's.
        if listed.is_whole && !has_landed {
            for path in removed.iter().filter(|path| !self.undone.is_to_commit(path)) {
                self.files.record_removal(path, true);
            }
        }
        has_landed
    }

    /// Applies a commit that git showed. Returns whether it is one of the session's that seemed to fail.
    pub(super) fn git_showed(&mut self, command: &str, output: &str) -> bool {
        let has_landed = self.undone.git_showed(&work_tree::shown_files(command, output));
        // The work may be in a commit of another message, which is where to look for it.
        if let Some((hash, subject)) = work_tree::shown_commit(output).filter(|_| has_landed) {
            let subject = clean::line(&subject, MAX_SUBJECT_CHARS);
            self.list_commit(&subject, &hash);
            let tried = text::features(&self.tried_commit);
            // Why git holds the work under another message, the agent can only guess.
            if !tried.is_empty()
                && commits::stat_file(&subject).is_none()
                && text::similarity(&tried, &text::features(&subject)) < SAME_SUBJECT
            {
                self.other_commit = (hash, self.turns);
            }
        }
        has_landed
    }

    /// Applies the changes of a commit that git showed. One that holds what the session wrote and did not commit was made by somebody else.
    pub(super) fn commit_of_others_shown(&mut self, command: &str, output: &str) {
        let Some(hash) = commits::compared_commit(command).filter(|_| self.undone.is_without_commit()) else { return };
        let added = output.lines().filter_map(|line| line.trim_start().strip_prefix('+'));
        if self.lost.is_in_commit(added, |path| self.undone.is_to_commit(path)) {
            self.undone.committed_by_others();
            self.committed_as = hash;
        }
    }

    /// Takes what a command line did with git beside its commits: stashes, remotes, pushes and another history.
    pub(super) fn git_ran(&mut self, command: &str, output: &str, failed: bool) {
        for stash in commits::stashes(command, output, failed) {
            self.stash_moved(&stash);
        }
        self.undone.remotes_named(command, output);
        self.rewritten.command_ran(command, output);
        let pushes = || commands::segments(command).iter().any(|segment| commits::is_push(segment));
        let has_pushed = commits::pushed_branch(command, output).is_some();
        if has_pushed {
            self.undone.pushed();
        }
        self.turn.pushed |= (has_pushed || (!failed && pushes())) && !commits::pushes_elsewhere(command);
        let merges = |call: &GitCall| call.subcommand == "merge" && !call.arguments.iter().any(|word| word == "--abort");
        self.turn.merged |= !failed && commands::git_calls_in_root(command).iter().any(merges);
        for (tag, is_there) in commits::pushed_tags(command, output) {
            let tag = text::clip(tag, MAX_TAG_CHARS).into_owned();
            self.tags.retain(|known| *known != tag);
            self.tags.extend(Some(tag).filter(|_| is_there));
            let extra = self.tags.len().saturating_sub(MAX_TAGS);
            self.tags.drain(..extra);
        }
        if !failed {
            // One command line may commit and push.
            self.undone.command_passed(command);
            if commits::rewrites_history(command) {
                self.commits.clear();
                self.kept_commits = 0;
                self.taken_back.history_rewritten();
            }
            // A commit may stand before it on the line.
            let calls = commands::git_calls_in_root(command);
            let last = |is_meant: fn(&GitCall) -> bool| calls.iter().rposition(is_meant);
            if last(|call| call.subcommand == "commit") < last(commits::leaves_branch) {
                self.kept_commits = self.own_commits();
            }
            self.hashes_printed(command, output);
        }
    }

    /// Returns in a few words whether the changes of these files were committed. Empty if there is nothing to say. A session that ends at a
    /// commit may have made it.
    pub(in crate::extract) fn commit_state(&self, files: &[&str]) -> String {
        let labels = self.labels();
        if !self.has_begun_commit() || !files.iter().any(|file| self.undone.is_to_commit(file)) {
            self.undone.commit_state(files, self.own_commits(), labels)
        } else if self.undone.push() == Push::Missing {
            format!("{}; {}", labels.not_pushed, labels.commit_begun)
        } else {
            labels.commit_begun.to_owned()
        }
    }

    /// Returns whether a commit was begun as the session ended.
    pub(super) fn has_begun_commit(&self) -> bool {
        let is_commit = |tool_use: &ToolUse| tool_use.tool == Tool::Shell && commits::is_tried(&tool_use.what);
        self.pending_uses.of_turn(self.turns).any(is_commit)
    }

    /// Returns how many commits the session made that are still there.
    pub(super) fn own_commits(&self) -> usize {
        self.commits.iter().filter(|line| !commits::is_pull_request(line)).count()
    }

    fn own_subjects(&self) -> Vec<String> {
        self.commits.iter().filter(|line| !commits::is_pull_request(line)).cloned().collect()
    }

    /// Forgets the commits that a command line takes out of the branch, and what was said of them. Their changes may go with them.
    pub(super) fn commits_dropped(&mut self, command: &str, output: &str) {
        for call in commands::git_calls_in_root(command) {
            let own = self.own_subjects();
            for (at, subject) in commits::reverted(&call, output, &own).into_iter().rev() {
                self.taken_back.commit_reverted(at, self.turns);
                self.forget_commit(subject);
                // The commit that was taken back is still there, and so is the one that does it.
                self.forget_contents(true);
                self.dropped_commits.push(subject.clone());
                // To take a change back is work, too, and why it was done is what to know of it.
                (self.turn.edited, self.turn.built) = (true, true);
            }
            if commits::leaves_branch(&call) {
                self.kept_commits = self.own_commits();
            }
            if let Some(reset) = commits::reset(&call, output, &own, self.kept_commits, &self.hashes) {
                self.commits_reset(reset, &own);
            }
            for (subject, hash) in commits::brought_back(output, &self.dropped_commits) {
                self.dropped_commits.retain(|known| *known != subject);
                self.list_commit(&subject, &hash);
                self.taken_back.commit_brought_back();
            }
        }
        let extra = self.dropped_commits.len().saturating_sub(MAX_COMMITS);
        self.dropped_commits.drain(..extra);
    }

    fn commits_reset(&mut self, reset: Reset, own: &[String]) {
        for subject in &own[reset.left..] {
            self.forget_commit(subject);
            self.forget_contents(reset.left > 0);
            self.dropped_commits.push(subject.clone());
        }
        let is_any_left = reset.left > 0;
        if reset.keeps_changes {
            let files = self.files.paths().filter(|path| self.taken_back.is_edited_after(path, reset.left));
            self.undone.commits_dropped(is_any_left, files);
            self.taken_back.uncommitted(reset.left);
        } else {
            self.taken_back.reset_to(reset.left, self.turns);
            self.undone.commits_dropped(is_any_left, std::iter::empty());
            let gone: Vec<String> =
                self.files.paths().filter(|path| self.taken_back.is_gone(path)).map(str::to_owned).collect();
            for path in &gone {
                self.vanished.file_removed(path, self.turns);
            }
            self.files.record_restoration(|path| gone.iter().any(|known| known == path));
        }
    }

    /// Forgets a commit that is not there any more, and what was said of it.
    fn forget_commit(&mut self, subject: &str) {
        self.commits.retain(|known| known != subject);
        if self.own_commits() == 0 {
            self.forget_contents(false);
        }
        self.kept_commits = self.kept_commits.min(self.own_commits());
        self.memories.forget(|memory| memory.kind == "commit" && memory.title == subject);
        let hash = self.hashes.iter().find(|(of, _)| of == subject).map(|(_, hash)| hash.clone()).unwrap_or_default();
        self.hashes.retain(|(of, _)| of != subject);
        self.results.commit_gone(subject, &hash);
        self.turn.retain(|statement| !results::is_of_commit(statement, subject, &hash));
    }

    /// Forgets what the commits hold: which of it was in one that is gone, nobody knows. `is_any_left` says whether some are left.
    fn forget_contents(&mut self, is_any_left: bool) {
        self.commit_contents.dropped(is_any_left);
        self.largest_commit = Default::default();
    }

    /// Records what a call of git did with stashes.
    fn stash_moved(&mut self, stash: &Stash) {
        self.undone.stash_moved(stash);
        match stash {
            Stash::Put(_, true) => self.taken_back.stashed(self.own_commits()),
            Stash::Taken | Stash::Copied => self.taken_back.brought_back(),
            // Of several, nobody knows which was thrown away.
            Stash::Dropped | Stash::Cleared if !self.undone.has_stash() => self.taken_back.stash_dropped(self.turns),
            _ => {}
        }
    }

    /// Records what an output tells of the size of a change. A list of files belongs to a commit if both have the same sums.
    fn changes_measured(&mut self, output: &str, committed: bool) {
        let Some(stat) = commits::stat(output) else { return };
        if committed {
            self.undone.commit_measured(stat.sums.0);
            let listed = if stat.files.is_empty() && stat.sums == self.stat.sums { &self.stat } else { &stat };
            // A later commit holds only a part of what was changed in a file.
            let is_whole = self.undone.is_without_commit();
            for (path, added, removed) in &listed.files {
                self.files.record_stat(path, *added, *removed, is_whole);
            }
            self.largest_commit = self.largest_commit.max(stat.sums);
        } else if !stat.files.is_empty() && stat.sums == self.largest_commit {
            for (path, added, removed) in &stat.files {
                self.files.record_stat(path, *added, *removed, false);
            }
        } else if !stat.files.is_empty() {
            self.stat = stat;
        }
    }

    /// Forgets hashes that lead nowhere any more, and takes those of the session's commits that git prints.
    pub(super) fn hashes_printed(&mut self, command: &str, output: &str) {
        if commits::replaces_hashes(command) {
            let last = self.hashes.pop().filter(|(subject, hash)| commits::hash_of(output, subject).as_ref() == Some(hash));
            self.hashes.clear();
            self.hashes.extend(last);
        }
        if command.contains("git ") && self.hashes.len() < self.commits.len() {
            for subject in &self.commits {
                let is_known = self.hashes.iter().any(|(known, _)| known == subject);
                if let Some(hash) = commits::hash_of(output, subject).filter(|_| !is_known) {
                    self.hashes.push((subject.clone(), hash));
                }
            }
        }
    }

    /// Adds a commit to the notes.
    fn list_commit(&mut self, subject: &str, hash: &str) {
        if !self.commits.iter().any(|known| known == subject) {
            self.commits.push(subject.to_owned());
            if self.commits.len() > MAX_COMMITS {
                self.commits.remove(0);
            }
        }
        self.hashes.retain(|(known, _)| known != subject);
        if !hash.is_empty() {
            self.hashes.push((subject.to_owned(), hash.to_owned()));
            let extra = self.hashes.len().saturating_sub(MAX_COMMITS);
            self.hashes.drain(..extra);
        }
    }

    pub(super) fn record_commit(
        &mut self,
        commit: commits::Commit,
        is_bypassed: bool,
        source: &LineRef,
        settled: &mut Vec<Draft>,
    ) {
        if commit.subject.is_empty() {
            return;
        }
        // The line of a pull request may stand behind the commit.
        let latest = || self.commits.iter().rposition(|known| !commits::is_pull_request(known));
        if commit.amends
            && let Some(at) = latest()
        {
            let last = self.commits[at].clone();
            let hash = self.hashes.iter().find(|(of, _)| *of == last).map_or("", |(_, hash)| hash.as_str());
            // A hook or somebody else may have made a later commit, which is the one that was amended.
            if !self.rewritten.is_behind_head(hash) {
                self.forget_commit(&last);
            }
        }
        if !commit.amends {
            self.undone.commit_added();
        }
        let subject = clean::line(&commit.subject, MAX_SUBJECT_CHARS);
        self.list_commit(&subject, commit.hash.as_deref().unwrap_or_default());
        self.option_taken_after_all(&subject, &source.uuid);
        self.undone.committed(is_bypassed);
        self.turn.committed();
        self.turn.state(&format!("{subject}\n{}", commits::unwrapped(&commit.body)), Voice::Commit);
        let mut content = subject.clone();
        self.commit_branch = commit.branch.clone().unwrap_or_default();
        if let Some(branch) = commit.branch.filter(|branch| !matches!(branch.as_str(), "main" | "master")) {
            content = format!("{content} ({branch})");
        }
        if !commit.body.is_empty() {
            content = format!("{content}\n\n{}", commit.body);
        }
        let memory = SessionMemory {
            key: format!("commit:{}:{:08x}", source.uuid, text::hash(&subject)),
            kind: "commit".to_owned(),
            title: subject,
            content,
            importance: 40,
            source: source.clone(),
            said_by: SaidBy::Tool,
            ..SessionMemory::default()
        };
        self.memories.add(memory, settled);
    }
}
