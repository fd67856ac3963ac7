//! What a session leaves undone: changes that were not committed or pushed, a plan that was refused, a request that
//! nothing came of, and checks that a plan asked for and nobody made.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use super::commands::{self, Class};
use super::commits::{self, Stash};
use super::failures;
use super::labels::Labels;
use super::planned::{self, PlannedCheck};
use super::work_tree::{self, Listed, WorkTree};

/// The maximum number of planned checks that are told. A list of all steps is not read.
const MAX_SHOWN_CHECKS: usize = 3;
/// The maximum number of files that are named.
const MAX_NAMED: usize = 4;

/// Whether the session's commits were pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Push {
    /// Some were not.
    Missing,
    /// All were, as git says.
    Made,
    /// There are none, or nowhere to push them.
    Unknown,
}

/// What is undone so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a session")]
pub(super) struct Undone {
    /// The changes that git still has to commit.
    work_tree: WorkTree,
    /// Whether a commit was made.
    has_committed: bool,
    /// Whether git showed a commit of somebody else's that holds the session's changes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_committed_by_others: bool,
    /// Whether a commit was made since the last push.
    is_unpushed: bool,
    /// How many commits the branch has that were not pushed, counted from what git said last, or from the last push. Zero if nobody knows.
    ahead: u32,
    /// Whether git said or did something since then from which to count.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_ahead_known: bool,
    /// Whether the repository is known to have no remote, so that nothing can be pushed.
    has_no_remote: bool,
    /// Whether a commit failed since the last one that was made.
    has_commit_failed: bool,
    /// Whether the latest commit went past a hook that had failed.
    is_bypassed: bool,
    /// The branches on which work was put away with `git stash` and not brought back, oldest first.
    stashes: Vec<String>,
    /// The title of a plan that the user refused. Empty if there is none.
    refused_plan: String,
    /// The title of a plan that was made and neither refused in words nor carried out, and what it proposes.
    made_plan: (String, String),
    /// The file of the client's with the plan as it was written last, if nobody accepted it. May be empty.
    plan_file: String,
    /// The latest request while it has no answer.
    unanswered: String,
    /// All that the user said for it. May be empty.
    unanswered_whole: String,
    /// What the user said right before it, and the agent did not hear either, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unheard: Vec<String>,
    /// The request for which the latest plan was made that is not carried out.
    planned: String,
    /// Whether files were changed for that request.
    is_begun: bool,
    /// Whether the user stopped the agent at that request.
    is_interrupted: bool,
    checks: Vec<PlannedCheck>,
    /// The pull request whose description asks for these checks. Zero if a plan does, or it is not known.
    #[serde(default)]
    checks_of: u32,
    /// The tests, checks and builds that the user did not let the agent run.
    refused_runs: Vec<String>,
    /// The linters, type checkers and builds that the plan asks to run, and nobody ran. Each with its name.
    runs: Vec<(String, String)>,
}

impl Undone {
    /// Records a change of a file of the project.
    pub(super) fn file_changed(&mut self, path: &str) {
        self.work_tree.file_changed(path);
        self.is_begun = !self.unanswered.is_empty();
        self.refused_plan.clear();
        self.plan_file.clear();
        self.made_plan = Default::default();
    }

    /// Records that something was done for the request elsewhere than in files, such as an issue that was filed.
    pub(super) fn begun(&mut self) {
        self.is_begun = !self.unanswered.is_empty();
    }

    /// Records a commit of what was added, and whether it went past its hook.
    pub(super) fn committed(&mut self, is_bypassed: bool) {
        self.work_tree.committed();
        self.commit_found();
        self.is_bypassed = is_bypassed && (self.is_bypassed || self.has_commit_failed);
        self.has_commit_failed = false;
    }

    /// Records that commits were taken out of the branch, and whether one of the session's is left. `files` are those whose changes are in
    /// no commit any more.
    pub(super) fn commits_dropped<'a>(&mut self, is_any_left: bool, files: impl Iterator<Item = &'a str>) {
        files.for_each(|file| self.work_tree.file_changed(file));
        self.has_committed &= is_any_left;
        self.is_unpushed &= is_any_left;
        (self.ahead, self.is_ahead_known) = (0, false);
    }

    /// Records that the branch has one commit more.
    pub(super) fn commit_added(&mut self) {
        self.ahead += u32::from(self.ahead > 0 || self.is_ahead_known);
    }

    fn commit_found(&mut self) {
        (self.has_committed, self.is_unpushed) = (true, true);
    }

    /// Records how many files the commit has that is recorded next.
    pub(super) fn commit_measured(&mut self, files: u32) {
        self.work_tree.commit_measured(files);
    }

    /// Records what the agent said.
    pub(super) fn agent_said(&mut self, said: &str) {
        self.work_tree.agent_said(said);
    }

    /// Records that a commit was tried and is not known to be made.
    pub(super) fn commit_failed(&mut self) {
        self.work_tree.commit_failed();
        self.has_commit_failed = true;
    }

    /// Records what a call of git did with stashes.
    pub(super) fn stash_moved(&mut self, stash: &Stash) {
        match stash {
            Stash::Put(branch, _) => self.stashes.push(branch.clone()),
            Stash::Taken | Stash::Dropped => _ = self.stashes.pop(),
            Stash::Cleared => self.stashes.clear(),
            Stash::Copied => {}
            // The session's are the latest ones. Another that is listed in the place of one of them is older.
            Stash::Listed(listed) => {
                let mut listed = listed.iter().peekable();
                let there: Vec<bool> =
                    self.stashes.iter().rev().map(|branch| listed.next_if_eq(&branch).is_some()).collect();
                let mut there = there.into_iter().rev();
                self.stashes.retain(|_| there.next().unwrap_or(true));
            }
        }
        let extra = self.stashes.len().saturating_sub(MAX_NAMED);
        self.stashes.drain(..extra);
    }

    /// Returns whether something is in a stash.
    pub(super) fn has_stash(&self) -> bool {
        !self.stashes.is_empty()
    }

    /// Records what git says of the repository's remotes.
    pub(super) fn remotes_named(&mut self, command: &str, output: &str) {
        let lists = |(subcommand, arguments): &(String, Vec<String>)| {
            subcommand == "remote" && arguments.iter().all(|word| word == "-v" || word == "--verbose")
        };
        let said = output.trim();
        let prints_nothing = said.is_empty() || said == "(Bash completed with no output)";
        let is_alone = commands::segments(command).len() == 1;
        if said.contains("No configured push destination")
            || (is_alone && prints_nothing && commands::git_calls(command).iter().any(lists))
        {
            self.has_no_remote = true;
        } else if commands::git_calls(command).iter().any(|(subcommand, _)| subcommand == "push" || subcommand == "remote") {
            self.has_no_remote = false;
        }
    }

    /// Records a command line that was run, and what it printed, before its commits are recorded.
    pub(super) fn command_ran(&mut self, command: &str, output: &str) {
        let names = commands::whole_checks(command);
        self.runs.retain(|(name, planned)| !names.contains(&name.as_str()) && !planned::compiles_too(planned, command));
        self.refused_runs.retain(|refused| !commands::same_purpose(refused, command));
        // What git refused changed nothing.
        let is_refused = output.contains("cannot rebase: You have");
        self.work_tree.command_ran(if is_refused { "" } else { command });
        let ignored = work_tree::ignored(command, output);
        if !ignored.is_empty() {
            self.work_tree.ignore(ignored);
        }
    }

    /// Records a command that the user did not let the agent run. Of tests, checks and builds, somebody has to.
    pub(super) fn run_refused(&mut self, command: &str) {
        let checks = matches!(commands::class(command), Class::Test | Class::Check | Class::Build);
        if checks && self.refused_runs.len() < MAX_NAMED {
            self.refused_runs.push(command.to_owned());
        }
    }

    /// Applies what git listed as changed. Returns whether that shows that a commit was made although it seemed to fail.
    pub(super) fn git_listed(&mut self, listed: &Listed, is_new: impl Fn(&str) -> bool) -> bool {
        let has_landed = self.work_tree.listed(listed, is_new);
        if has_landed {
            self.commit_found();
        }
        match listed.is_ahead {
            Some(false) => self.pushed(),
            Some(true) if self.has_committed => (self.is_unpushed, self.ahead) = (true, listed.ahead),
            _ => {}
        }
        has_landed
    }

    /// Applies the files of a commit that git showed. Returns whether it is a commit that seemed to fail.
    pub(super) fn git_showed(&mut self, files: &[String]) -> bool {
        let has_landed = self.work_tree.shown(files);
        if has_landed {
            self.commit_found();
        }
        has_landed
    }

    /// Records that the changes of some files were taken back.
    pub(super) fn restored(&mut self, is_restored: impl Fn(&str) -> bool) {
        self.work_tree.restored(is_restored);
    }

    /// Records that git pushed, or had nothing to push.
    pub(super) fn pushed(&mut self) {
        (self.is_unpushed, self.ahead, self.is_ahead_known) = (false, 0, true);
    }

    /// Records that the work was pushed by somebody else, unless the session made commits of its own.
    pub(super) fn pushed_by_others(&mut self) {
        if !self.has_committed {
            self.work_tree.settled();
        }
    }

    /// Records that somebody else committed what was changed so far.
    pub(super) fn committed_by_others(&mut self) {
        self.work_tree.settled();
        self.is_committed_by_others = true;
    }

    /// Returns whether something was changed that is still there, or committed.
    fn has_work(&self) -> bool {
        self.has_committed || self.is_committed_by_others || !self.work_tree.changed().is_empty()
    }

    /// Returns what git was told to add since the last commit, and the files among that which git had listed as changed.
    pub(super) fn added(&self) -> (&[String], &[String]) {
        (self.work_tree.added(), self.work_tree.listed_and_added())
    }

    /// Returns whether git still has to commit what the session changed in a file.
    pub(super) fn is_to_commit(&self, path: &str) -> bool {
        self.work_tree.changed().iter().any(|changed| changed == path)
    }

    /// Returns whether git ignores a file, as it said.
    pub(super) fn is_ignored(&self, path: &str) -> bool {
        self.work_tree.is_ignored(path)
    }

    /// Returns whether a file lies in a hidden folder, and the session's commits left it out.
    pub(super) fn is_local(&self, path: &str) -> bool {
        self.work_tree.is_local(path)
    }

    /// Returns whether nothing of the session is committed, so that what git takes back is as it was before.
    pub(super) fn is_without_commit(&self) -> bool {
        !self.has_committed
    }

    /// Records that git has nothing to commit: a hook or somebody else committed the changes. Returns the same as `git_listed`.
    pub(super) fn found_clean(&mut self) -> bool {
        let has_landed = self.git_listed(&Listed { is_whole: true, ..Listed::default() }, |_| false);
        self.work_tree.found_clean();
        has_landed
    }

    /// Returns whether nothing was changed since the last commit.
    pub(super) fn is_committed(&self) -> bool {
        self.has_committed && self.work_tree.changed().is_empty()
    }

    /// Returns whether git still has to commit something that the session changed.
    pub(super) fn has_changes(&self) -> bool {
        !self.work_tree.changed().is_empty()
    }

    /// Returns whether the session's commits were pushed.
    pub(super) fn push(&self) -> Push {
        match (self.is_unpushed, self.has_committed && !self.has_no_remote) {
            (true, _) => Push::Missing,
            (false, true) => Push::Made,
            (false, false) => Push::Unknown,
        }
    }

    /// Records a command that passed.
    pub(super) fn command_passed(&mut self, command: &str) {
        if commands::segments(command).iter().any(|segment| commits::is_push(segment)) {
            self.pushed();
        }
        self.checks.retain(|check| !check.is_made_by(command) && !check.is_made_by_tests(command));
    }

    /// Records that the agent looked at the result in a browser, as somebody would who checks by hand.
    pub(super) fn looked(&mut self) {
        if self.has_work() {
            self.checks.clear();
        }
    }

    /// Records a plan that the user refused.
    pub(super) fn plan_refused(&mut self, title: &str) {
        title.clone_into(&mut self.refused_plan);
        self.made_plan = Default::default();
        self.plan_answers();
    }

    /// Records that the agent wrote the plan into a file of the client's. It is not the plan any more that was refused before.
    pub(super) fn plan_written(&mut self, file: &str) {
        file.clone_into(&mut self.plan_file);
        self.refused_plan.clear();
        self.plan_answers();
    }

    /// Records a plan that was put aside without a word: the client does the same when the user goes on with it in an empty
    /// context. It answers the request.
    pub(super) fn plan_made(&mut self, title: &str, gist: &str) {
        self.plan_answers();
        self.made_plan = (title.to_owned(), gist.to_owned());
        self.asked("");
    }

    /// Records that the user objected. What was put aside before is refused, and what was planned for the subject of the objection
    /// is not to be checked any more.
    pub(super) fn objected(&mut self, prompt: &str) {
        self.checks.retain(|check| !check.is_overtaken_by(prompt));
        if !self.made_plan.0.is_empty() {
            self.refused_plan = std::mem::take(&mut self.made_plan).0;
        }
    }

    /// Records that the user wants something not to be, or to be otherwise: that is not to be checked any more.
    pub(super) fn ruled_out(&mut self, prompt: &str) {
        self.checks.retain(|check| !check.is_overtaken_by(prompt));
    }

    /// Records a plan that is carried out.
    pub(super) fn plan_accepted(&mut self, plan: &str) {
        self.refused_plan.clear();
        self.plan_file.clear();
        self.made_plan = Default::default();
        (self.checks, self.runs) = planned::verification(plan);
        self.checks_of = 0;
    }

    /// Records the description of a pull request, with its number if that is known. The boxes that are not ticked say which checks were
    /// left, later than any plan.
    pub(super) fn pull_request_described(&mut self, description: &str, number: Option<u32>) {
        let unticked = planned::unticked(description);
        if !unticked.is_empty() {
            (self.checks, self.checks_of) = (unticked, number.unwrap_or_default());
        }
    }

    /// Records that a pull request was merged: whoever merged it did without the boxes that are not ticked, but for what is to be
    /// looked at afterwards.
    pub(super) fn pull_request_merged(&mut self, number: u32) {
        if self.checks_of == number {
            self.checks.retain(PlannedCheck::is_for_later);
        }
    }

    /// Records a request, or that it was answered if the title is empty.
    pub(super) fn asked(&mut self, title: &str) {
        if is_client_command(title) { "" } else { title }.clone_into(&mut self.unanswered);
        (self.is_begun, self.is_interrupted) = (false, false);
        self.unanswered_whole.clear();
        if title.is_empty() {
            self.unheard.clear();
        }
    }

    /// Records that the agent neither said nor did anything at what the user said, before the user goes on.
    pub(super) fn went_unheard(&mut self, said: &str) {
        self.unheard.retain(|known| known != said);
        self.unheard.push(said.to_owned());
        let extra = self.unheard.len().saturating_sub(MAX_NAMED);
        self.unheard.drain(..extra);
    }

    /// Records all that the user said for the request that was just made. May be empty.
    pub(super) fn asked_in_full(&mut self, whole: &str) {
        whole.clone_into(&mut self.unanswered_whole);
    }

    /// Records a request to commit, to push or to go on. An earlier request that has no answer says more.
    pub(super) fn asked_for_chore(&mut self, title: &str) {
        if self.unanswered.is_empty() {
            self.asked(title);
        }
    }

    /// Returns whether this request has no answer yet.
    pub(super) fn is_unanswered(&self, title: &str) -> bool {
        self.unanswered == title && !self.is_planned()
    }

    /// Returns whether the latest request has no answer.
    pub(super) fn has_unanswered(&self) -> bool {
        !self.unanswered.is_empty() && !self.is_planned()
    }

    fn plan_answers(&mut self) {
        if !self.unanswered.is_empty() {
            self.unanswered.clone_into(&mut self.planned);
        }
    }

    /// Returns whether the request that has no answer ended with a plan, which is told.
    fn is_planned(&self) -> bool {
        self.has_plan() && self.unanswered == self.planned
    }

    fn has_plan(&self) -> bool {
        ![&self.made_plan.0, &self.refused_plan, &self.plan_file].iter().all(|plan| plan.is_empty())
    }

    /// Records that the user stopped the agent.
    pub(super) fn interrupted(&mut self) {
        self.is_interrupted = true;
    }

    /// Returns that the user refused a plan or that one was only made, if that is how it ended.
    pub(super) fn refusal(&self, labels: &Labels) -> Option<String> {
        let (title, gist) = &self.made_plan;
        if !title.is_empty() {
            let made = labels.made_plan.replace("{}", title);
            return Some(if gist.is_empty() { made } else { format!("{made}: {gist}") });
        }
        if self.refused_plan.is_empty() && !self.plan_file.is_empty() {
            return Some(labels.written_plan.replace("{}", &self.plan_file));
        }
        (!self.refused_plan.is_empty()).then(|| labels.refused_plan.replace("{}", &self.refused_plan))
    }

    /// Returns in a few words whether the changes were committed and pushed, and which were not. Empty if there is nothing to
    /// say. `files` are those that differ from what they were before the session, `own` is how many commits it made.
    pub(super) fn commit_state(&self, files: &[&str], own: usize, labels: &Labels) -> String {
        let changed: Vec<&str> =
            self.work_tree.changed().iter().map(String::as_str).filter(|path| files.contains(path)).collect();
        let is_unpushed = self.is_unpushed && !self.has_no_remote;
        // Somebody else may have pushed the earlier ones.
        let ahead = usize::try_from(self.ahead).unwrap_or(usize::MAX);
        let is_partly = (1..own).contains(&ahead);
        let partly = labels.partly_pushed.replacen("{}", &ahead.to_string(), 1).replacen("{}", &own.to_string(), 1);
        let not_pushed = if is_partly { partly.as_str() } else { labels.not_pushed };
        let facts = [(self.is_bypassed, labels.bypassed_hook), (is_unpushed, not_pushed)];
        let committed: Vec<&str> = facts.iter().filter(|(holds, _)| *holds).map(|(_, fact)| *fact).collect();
        let committed = committed.join("; ");
        let is_all = changed.len() == files.len();
        match (changed.is_empty(), self.has_committed) {
            (true, _) => committed,
            // Of the others somebody else took care.
            (false, false) if self.work_tree.has_settled() && !is_all => {
                format!("{}: {}", labels.not_committed, named(&changed))
            }
            (false, false) => labels.not_committed.to_owned(),
            (false, true) if is_all && committed.is_empty() => labels.changed_after_commit.to_owned(),
            (false, true) if is_all => format!("{committed}; {}", labels.changed_after_commit),
            (false, true) => {
                let separator = if committed.is_empty() { "" } else { "; " };
                format!("{committed}{separator}{}: {}", labels.not_committed, named(&changed))
            }
        }
    }

    /// Returns what is undone at the end, one item each.
    ///
    /// The session's `request` is told anyway; if it has no answer, only that is said. `has_acted` says whether something may have been changed
    /// that is no file of the work.
    pub(super) fn items(&self, request: &str, has_acted: bool, labels: &Labels) -> Vec<String> {
        let mut items = Vec::new();
        let label = match (self.is_interrupted, self.has_work() || has_acted) {
            (false, _) if self.is_begun => labels.begun_request,
            (false, _) => labels.open_request,
            (true, true) => labels.interrupted,
            (true, false) => labels.interrupted_unchanged,
        };
        // A plan that waits, or was refused, was the answer.
        if self.has_unanswered() {
            let is_first = self.unanswered == request;
            let is_more = self.unanswered_whole.len() > self.unanswered.len();
            let asked = if is_more { &self.unanswered_whole } else { &self.unanswered };
            let before = self.unheard.iter().filter(|said| !asked.starts_with(said.as_str()) && *said != request);
            let last = (!is_first).then_some(asked);
            let all: Vec<&str> = before.chain(last).map(String::as_str).collect();
            items.push(if all.is_empty() { label.to_owned() } else { format!("{label}: {}", all.join(" / ")) });
        }
        items.extend(self.refusal(labels));
        let unchecked = self.unchecked();
        if !unchecked.is_empty() {
            items.push(format!("{}: {}", labels.not_checked, unchecked.join("; ")));
        }
        if !self.refused_runs.is_empty() {
            let runs: Vec<String> =
                self.refused_runs.iter().map(|command| format!("`{}`", failures::display_command(command))).collect();
            items.push(format!("{}: {}", labels.refused_run, runs.join(", ")));
        }
        let mut branches = self.stashes.clone();
        branches.dedup();
        items.extend(branches.iter().map(|branch| labels.stashed.replace("{}", branch)));
        items
    }

    /// Returns what the plan asks to check and nobody did. Without a change of the plan's subject there is nothing to check.
    fn unchecked(&self) -> Vec<String> {
        if !self.has_work() {
            return Vec::new();
        }
        let has_assertion = self.checks.iter().any(|check| check.is_assertion);
        let checks = self.checks.iter().filter(|check| check.is_assertion || !has_assertion);
        let mut all: Vec<String> = checks.map(|check| check.text.clone()).take(MAX_SHOWN_CHECKS).collect();
        // The hook of a commit may have run them.
        if !self.has_committed {
            let mut runs: Vec<String> = self.runs.iter().map(|(_, command)| format!("`{command}`")).collect();
            runs.dedup();
            all.extend((!runs.is_empty()).then(|| runs.join(", ")));
        }
        all
    }

    /// Returns the changed files that are not the session's and that its commits left out: those first that the next commit will contain. Empty
    /// if there are none.
    pub(super) fn left_out(&self) -> String {
        let (staged, left_out) = (self.work_tree.staged_of_others(), self.work_tree.left_out());
        // Where the agent staged nothing and committed nothing, what others changed is no work of the session.
        if !self.has_committed && staged.is_empty() {
            return String::new();
        }
        let rest: Vec<&str> = left_out.into_iter().filter(|path| !staged.contains(path)).collect();
        let staged = (!staged.is_empty()).then(|| format!("staged: {}", named(&staged)));
        let more = if self.work_tree.is_list_cut() { ", …" } else { "" };
        let rest = (!rest.is_empty()).then(|| format!("{}{more}", named(&rest)));
        staged.into_iter().chain(rest).collect::<Vec<_>>().join("; ")
    }
}

/// Returns the first files of a list, and the number of the others.
fn named(files: &[&str]) -> String {
    let shown: Vec<String> = files.iter().take(MAX_NAMED).map(|file| format!("`{file}`")).collect();
    let more = files.len() - shown.len();
    if more == 0 { shown.join(", ") } else { format!("{}, +{more}", shown.join(", ")) }
}

/// Returns whether a prompt is a command of the client's, which is no request: "/compact".
pub(super) fn is_client_command(prompt: &str) -> bool {
    prompt.strip_prefix('/').is_some_and(|name| !name.contains([' ', '/']))
}
