//! What became of a session's work outside of this machine: where it was pushed, what the continuous integration said, and whether
//! comments on its pull request were answered.

use serde::{Deserialize, Serialize};

use super::ci;
use super::commands::{self, GitCall};
use super::commits;
use super::labels::Labels;
use super::references;
use super::undone::Push;

/// How many branches are kept, the latest, and how many of them are named.
const MAX_BRANCHES: usize = 20;
const MAX_NAMED: usize = 4;

/// The latest push and what came of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a session")]
pub(super) struct Published {
    /// The branch to which the work was pushed last. May be empty.
    pushed_to: String,
    /// The branches to which the same was pushed before, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pushed_before: Vec<String>,
    /// Whether files were changed or committed since then.
    is_push_old: bool,
    /// Whether nobody looked at the continuous integration since then.
    is_push_unseen: bool,
    /// What the continuous integration said when it was last looked at. May be empty.
    ci: String,
    /// Whether something was pushed since then.
    is_ci_old: bool,
    /// Whether files were changed since something was pushed.
    is_ci_before_edit: bool,
    /// Whether the continuous integration was ever looked at, whatever it said.
    has_looked_at_ci: bool,
    /// Whether comments on a pull request were read, and whether the session ever answered some.
    has_read_comments: bool,
    has_answered_comments: bool,
    /// Whether code was changed since they were read.
    has_changed_for_comments: bool,
}

impl Published {
    /// Records a change of a file of the project, and whether it is code.
    pub(super) fn file_changed(&mut self, is_code: bool) {
        self.has_changed_for_comments |= is_code && self.has_read_comments;
        (self.is_push_old, self.is_ci_before_edit) = (true, true);
    }

    /// Records that the pull request was merged, so that nobody has to wait for what was pushed to it.
    pub(super) fn merged(&mut self) {
        self.is_push_unseen = false;
        self.has_changed_for_comments = false;
    }

    /// Records that somebody may have looked at the continuous integration.
    pub(super) fn may_have_been_seen(&mut self) {
        self.is_push_unseen = false;
    }

    /// Records a command line, and whether it certainly failed. Returns whether it showed what the continuous integration says.
    pub(super) fn command_ran(&mut self, command: &str, output: &str, failed: bool) -> bool {
        self.is_ci_before_edit &= failed || !command.contains("push");
        let commits = |call: &GitCall| call.subcommand == "commit";
        self.is_push_old |= !failed && commands::git_calls_anywhere(command).iter().any(commits);
        for (name, _) in commits::pushed_tags(command, output).filter(|(_, is_there)| !is_there) {
            self.deleted(name);
        }
        // A quiet push prints nothing.
        let quiet = || commits::quiet_push(command, output).filter(|_| !failed);
        let mut branches = commits::pushed_branches(command, output);
        if branches.is_empty() {
            branches.extend(quiet());
        }
        branches.retain(|_| !commits::pushes_elsewhere(command));
        // What was pushed before does not have the latest changes.
        if !branches.is_empty() && self.is_push_old {
            self.pushed_before.clear();
            self.pushed_to.clear();
        }
        for branch in branches {
            let before = std::mem::replace(&mut self.pushed_to, branch);
            self.pushed_before.push(before);
            self.pushed_before.retain(|known| !known.is_empty() && *known != self.pushed_to);
            let extra = self.pushed_before.len().saturating_sub(MAX_BRANCHES);
            self.pushed_before.drain(..extra);
            self.is_push_old = false;
            (self.is_ci_old, self.is_push_unseen) = (true, true);
        }
        for branch in commits::deleted_branches(command, output) {
            self.pushed_before.retain(|known| known != branch);
            if self.pushed_to == branch {
                self.pushed_to = self.pushed_before.pop().unwrap_or_default();
                self.is_push_unseen = false;
            }
        }
        self.has_answered_comments |= references::writes_comment(command);
        self.has_read_comments |= references::reads_comments(command, output);
        if ci::looks(command) {
            (self.has_looked_at_ci, self.is_push_unseen) = (true, false);
        }
        let Some(verdict) = ci::verdict(command, output) else { return false };
        (self.ci, self.is_ci_old) = (verdict, false);
        true
    }

    /// Records that a branch was deleted where it was pushed to.
    fn deleted(&mut self, name: &str) {
        self.pushed_before.retain(|known| known != name);
        if self.pushed_to == name {
            self.pushed_to = self.pushed_before.pop().unwrap_or_default();
        }
    }

    /// Returns whether the latest changes were pushed and nobody looked at what came of it.
    pub(super) fn is_unseen(&self) -> bool {
        self.is_push_unseen && !self.is_push_old
    }

    /// Returns whether the continuous integration checked what was changed last.
    pub(super) fn is_checked(&self) -> bool {
        !self.ci.is_empty() && !self.is_ci_old && !self.is_ci_before_edit
    }

    /// Returns the branches to which something was pushed, the latest last, and how many were before those.
    fn branches(&self) -> String {
        let earlier = self.pushed_before.len().saturating_sub(MAX_NAMED - 1);
        let named = self.pushed_before[earlier..].iter().chain([&self.pushed_to]);
        let named = named.map(|branch| format!("`{branch}`")).collect::<Vec<_>>().join(", ");
        if earlier == 0 { named } else { format!("{named}, +{earlier}") }
    }

    /// Returns the branches, the verdict and what nobody looked at or answered, one item each. Where it was pushed is only told if all is.
    /// `has_pull_request` says whether the branch has one that is open.
    pub(super) fn items(&self, push: Push, has_pull_request: bool, labels: &Labels) -> Vec<String> {
        let mut items = Vec::new();
        let is_current = match push {
            Push::Made | Push::Unknown if !self.pushed_to.is_empty() => {
                let pushed = labels.pushed_to.replace("`{}`", &self.branches());
                items.push(if self.is_push_old { format!("{pushed}, {}", labels.before_edit) } else { pushed });
                !self.is_push_old
            }
            Push::Made => {
                items.push(labels.pushed.to_owned());
                false
            }
            Push::Missing | Push::Unknown => false,
        };
        // What passed before the last push says nothing of it. What failed has to be looked at again.
        if !self.ci.is_empty() && !self.is_ci_old {
            let age = if self.is_ci_before_edit { format!(", {}", labels.before_edit) } else { String::new() };
            items.push(format!("CI: {}{age}", self.ci));
        } else if self.ci.contains("fail") {
            items.push(labels.ci_before_push.replace("{}", &self.ci));
        } else if is_current && self.is_push_unseen && (self.has_looked_at_ci || has_pull_request) {
            items.push(labels.ci_not_since.to_owned());
        }
        if self.has_changed_for_comments && !self.has_answered_comments {
            items.push(labels.comments_unanswered.to_owned());
        }
        items
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::labels::labels;
    use crate::text;

    #[test]
    fn all_branches_that_were_pushed_are_told() {
        let mut published = Published::default();
        let mut push = |branch: &str| {
            let output = format!("   1a2b3c4..2b3c4d5  {branch} -> {branch}\n");
            published.command_ran(&format!("git push origin {branch}"), &output, false);
            published.items(Push::Made, false, labels(text::Language::English)).join("; ")
        };
        assert_eq!(push("till"), "pushed to `till`");
        assert_eq!(push("main"), "pushed to `till`, `main`");
        assert_eq!(push("till"), "pushed to `main`, `till`");
        let both = "   1a2b3c4..2b3c4d5  a -> a\n * [new branch]      b -> b\n";
        published.command_ran("git push origin a b", both, false);
        assert_eq!(published.branches(), "`main`, `till`, `a`, `b`");
        let deleted = " - [deleted]         b\n - [deleted]         till\n";
        published.command_ran("git push origin --delete b till", deleted, false);
        assert_eq!(published.branches(), "`main`, `a`");
    }

    #[test]
    fn only_branches_with_the_latest_changes_are_told() {
        let mut published = Published::default();
        let push = |branch: &str| format!("To hub:o/till\n * [new branch]  {branch} -> {branch}\n");
        published.command_ran("git push origin main", &push("main"), false);
        published.command_ran("git commit -am x", "[red 1a2b3c4] x", false);
        published.command_ran("git push origin red", &push("red"), false);
        assert_eq!(published.branches(), "`red`");
        published.command_ran("git -C ../docs push origin docs", &push("docs"), false);
        published.command_ran("git push origin old", &push("old"), false);
        assert_eq!(published.branches(), "`red`, `old`");
        published.command_ran("git push origin --delete old", "To hub:o/till\n - [deleted]  old", false);
        assert_eq!(published.branches(), "`red`");
        published.file_changed(true);
        published.command_ran("git push origin till", &push("till"), false);
        assert_eq!(published.branches(), "`till`");
    }
}
