//! What tools did: commands that ran, commits, and files that were edited, moved or reverted.

use super::{State, line_ref};
use crate::bindings::throughline::policy::types::Draft;
use crate::extract::ci;
use crate::extract::clean;
use crate::extract::commands;
use crate::extract::commits;
use crate::extract::failures;
use crate::extract::files::{self, Reversal, is_configuration, is_description, is_document};
use crate::extract::human;
use crate::extract::memories::{LineRef, SessionMemory};
use crate::extract::planned;
use crate::extract::prose;
use crate::extract::results;
use crate::extract::statement::Voice;
use crate::extract::tool_uses::{Tool, ToolUse};
use crate::extract::work_tree;
use crate::said_by::SaidBy;
use crate::text;
use crate::transcript::json::Raw;
use crate::transcript::{self, Line};

/// The maximum number of commits in the notes.
const MAX_COMMITS: usize = 50;
/// The maximum number of repositories for trying something out that are known at a time.
const MAX_REPOSITORIES: usize = 8;
/// The maximum length of a commit's subject, in characters.
const MAX_SUBJECT_CHARS: usize = 180;
/// The similarity from which on two subjects are the same commit's.
const SAME_SUBJECT: f32 = 0.5;
/// The maximum number of lessons that one edit adds.
const MAX_LESSONS: usize = 4;
/// How many bytes of a document for the next session are read.
const MAX_HANDOFF_BYTES: usize = 12 * 1024;
/// The maximum length of a document whose open questions are read, in bytes.
const MAX_DOCUMENT_BYTES: usize = 64 * 1024;
/// How many words a request has that names no more than a plan to carry out, how much of the plan is searched for its title, in
/// bytes, and the maximum length of that in characters.
const MAX_BARE_WORDS: usize = 3;
const MAX_PLAN_HEAD_BYTES: usize = 2 * 1024;
const MAX_PLAN_TITLE_CHARS: usize = 200;
/// How many bytes of a new file are searched for names.
const MAX_CREATED_BYTES: usize = 32 * 1024;

impl State {
    pub(super) fn tool_result(
        &mut self,
        tool_use: &ToolUse,
        content: Option<Raw<'_>>,
        is_error: bool,
        line: &Line<'_>,
        settled: &mut Vec<Draft>,
    ) {
        let said = if is_error { clean::clean(&transcript::result_text(content)) } else { String::new() };
        // Only the client begins so. Output that contains the words may come from anybody.
        if is_error && said.starts_with("The user doesn't want to proceed with this tool use") {
            self.tool_refused(tool_use, &said, &line_ref(line), settled);
            return;
        }
        if is_error && tool_use.tool == Tool::Shell && failures::is_refusal(&said) {
            self.failures.command_refused(&tool_use.what, &said, &tool_use.source);
            return;
        }
        match tool_use.tool {
            Tool::Shell => {
                let output = if is_error { said } else { clean::clean(&transcript::result_text(content)) };
                self.command_ran(tool_use, &output, is_error, settled);
            }
            Tool::Edit if is_error => self.edit_failed(tool_use, &said),
            Tool::Edit => self.file_edited(tool_use, line.result, settled),
            Tool::Read if !tool_use.what.is_empty() => {
                self.turn.add_file(&tool_use.what);
                if !is_error {
                    self.plan_read(&tool_use.what, content);
                }
            }
            Tool::Ask if !is_error => self.questions_answered(tool_use, content, line, settled),
            Tool::Plan if !is_error => {
                let plan = line.result.and_then(|result| result.get_text("plan")).map(|plan| clean::clean(&plan));
                let plan = plan.unwrap_or_else(|| tool_use.what.clone());
                let source = line_ref(line);
                let plan = commits::unwrapped(&plan);
                self.undone.plan_accepted(&plan);
                self.record_plan(&plan, SaidBy::Agreed, 50, &source, settled);
            }
            Tool::Agent if !is_error => {
                self.evidence.may_have_run_all();
                self.record_report(&transcript::result_text(content), &line_ref(line), settled);
            }
            Tool::Todo if !is_error => {
                if let Some(todos) = line.result.and_then(|result| result.get("newTodos")) {
                    self.tasks.replace(todos, &line_ref(line));
                }
            }
            Tool::TaskCreate if !is_error => {
                let id = line
                    .result
                    .and_then(|result| result.get("task"))
                    .and_then(|task| task.get_text("id"))
                    .unwrap_or_default();
                let id = clean::line(&id, 40);
                self.tasks.create(&id, &tool_use.what, &tool_use.detail, &line_ref(line));
            }
            // The client may lose a list. What the agent then ticks off is done.
            Tool::TaskUpdate if !is_error || (tool_use.detail == "completed" && said.contains("Task not found")) => {
                self.tasks.update(&tool_use.what, Some(tool_use.detail.as_str()).filter(|status| !status.is_empty()));
            }
            Tool::Other if !is_error && looks_at_pages(&tool_use.name) => {
                self.undone.looked();
                self.evidence.ran();
            }
            _ => {}
        }
    }

    /// Takes the title of a plan as the request if the user asked only to carry out the file: "implement".
    fn plan_read(&mut self, path: &str, content: Option<Raw<'_>>) {
        let name = path.rsplit('/').next().unwrap_or_default().to_lowercase();
        let lower = self.request.to_lowercase();
        let is_bare = lower.split_whitespace().count() <= MAX_BARE_WORDS
            && (["implement", "execute", "build", "구현", "実装", "实现"].iter().any(|verb| lower.starts_with(verb))
                || lower.contains(&name));
        let is_plan = name.contains("plan") && name.rsplit('.').next() == Some("md");
        if self.turns != 1 || self.turn.edited || !is_plan || !is_bare || self.turn.title != self.request {
            return;
        }
        let shown = transcript::result_text(content);
        let document: String =
            text::head(&shown, MAX_PLAN_HEAD_BYTES).lines().map(without_line_number).collect::<Vec<_>>().join("\n");
        let Some(title) = human::title(&clean::clean(&document)) else { return };
        self.request = self.labels().plan.replace("{}", &text::clip(&title, MAX_PLAN_TITLE_CHARS));
        self.turn.title.clone_from(&self.request);
        self.undone.asked(&self.request);
    }

    pub(super) fn command_ran(&mut self, tool_use: &ToolUse, output: &str, is_error: bool, settled: &mut Vec<Draft>) {
        let command = tool_use.what.as_str();
        let class = commands::class(command);
        let failed = is_error || reports_failure(command, class, output);
        self.turn.failed |= failed;
        let labels = self.labels();
        let counts = commands::test_counts(output).filter(|_| class != commands::Class::Inspect);
        if let Some(counts) = counts {
            self.tests_counted(counts, class == commands::Class::Test && !commands::targets(command).is_empty());
        }
        if class == commands::Class::Commit {
            self.hook_runs_tests |= counts.is_some() || commands::failed_tests_of_hook(output).is_some();
        }
        self.turn.run(command, &counts.map(commands::TestCounts::verdict).unwrap_or_default());
        if is_of_client(output, is_error) {
            return;
        }
        let mut has_landed = commits::says_clean(output) && self.undone.found_clean();
        // A list that stands before the commit on the line says what was there before it.
        let at = |words: &str| command.find(words);
        let is_list_first = at("git commit").is_some_and(|commit| at("git status").is_some_and(|status| status < commit));
        let listed = work_tree::status(command, output).or_else(|| work_tree::diff(command, output));
        if let Some(listed) = listed.as_ref().filter(|_| is_list_first) {
            has_landed |= self.git_listed(listed);
        }
        self.undone.command_ran(command);
        if !failed {
            for memory in self.failures.edited_by_command(command, labels) {
                self.record_fix(memory, settled);
            }
            self.files_changed_by(tool_use, settled);
            if let Some((branch, base)) = commands::branch_from(command) {
                let started = labels.branch_from.replacen("{}", branch, 1).replacen("{}", base, 1);
                self.record_decided("branch", started, SaidBy::Agent, 60, &tool_use.source, settled);
            }
        }
        self.evidence.tests_of(command, counts.is_some());
        self.evidence.command_ran(command, output, !failed && commands::passed(command, output), failed);
        self.ci_looked_at(command, output);
        let committed = self.commits_made(tool_use, output, is_error, counts.is_some(), settled);
        if let Some(listed) = listed.as_ref().filter(|_| !is_list_first) {
            has_landed |= self.git_listed(listed);
        }
        has_landed |= self.git_showed(command, output);
        self.undone.stashed(command, output, failed);
        self.undone.remotes_named(command, output);
        if has_landed {
            self.failures.commit_landed();
        }
        if commits::pushed_branch(command, output).is_some() {
            self.undone.pushed();
        }
        if !failed {
            // One command line may commit and push.
            self.undone.command_passed(command);
            if commits::rewrites_history(command) {
                self.commits.clear();
            }
            self.hashes_printed(command, output);
        }
        self.pull_request_written(tool_use, output, failed, settled);
        self.pull_requests_merged(command, output, failed);
        let (known, is_explained) = self.failures.command_ran(command, output, (is_error, failed), &tool_use.source, labels);
        let cured = if failed && is_explained { Vec::new() } else { self.failures_after(tool_use, output, failed, class) };
        let cured = cured.into_iter().chain(known);
        for memory in cured {
            self.record_fix(memory, settled);
        }
        self.conventions.hook_ran(command, output, &tool_use.source);
        if committed {
            self.failures.checks_committed(command);
        }
    }

    /// Records the commits that a command line made, or that one was only tried. Returns whether it made some.
    fn commits_made(
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
        self.changes_measured(output, committed);
        if committed {
            self.open_points.committed();
        }
        for commit in made {
            self.record_commit(commit, is_bypassed, &tool_use.source, settled);
        }
        if !committed && commands::class(command) == commands::Class::Commit {
            self.undone.commit_failed();
            let message = commits::message(command).unwrap_or_default();
            self.tried_commit = clean::line(message.trim().lines().next().unwrap_or_default(), MAX_SUBJECT_CHARS);
        }
        committed
    }

    /// Records that the hook of a commit ran the tests again, and they passed.
    fn hook_passed(&mut self) {
        self.tests = self.tests.filter(|(counts, _)| counts.failed == 0);
        self.evidence.tests_ran();
        self.evidence.may_have_run_all();
    }

    /// Records what the continuous integration said, if a command line asked for it.
    fn ci_looked_at(&mut self, command: &str, output: &str) {
        if ci::verdict(command, output).is_some_and(|verdict| ci::is_passing(&verdict)) {
            self.open_points.ci_passed();
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

    /// Tells the failures what a command came to. Returns what it cured.
    fn failures_after(
        &mut self,
        tool_use: &ToolUse,
        output: &str,
        failed: bool,
        class: commands::Class,
    ) -> Vec<SessionMemory> {
        let (command, labels) = (tool_use.what.as_str(), self.labels());
        if class != commands::Class::Inspect {
            let checks = matches!(class, commands::Class::Test | commands::Class::Check | commands::Class::Build);
            self.turn.checked(checks && !failed && commands::passed(command, output));
        }
        if failed {
            // A line of a test's output says nothing of the commit that its hook refused.
            let of_hook = (class == commands::Class::Commit).then(|| commands::failed_tests_of_hook(output)).flatten();
            let error = match of_hook {
                Some(tests) => labels.hook_tests.replace("{}", &tests),
                None => commands::error_line_of(class, output).unwrap_or_default(),
            };
            let mut cured = self.failures.command_reached(command, &error, labels);
            cured.extend(self.failures.command_failed(command, &error, &tool_use.source, self.turns, labels));
            cured
        } else {
            // A command whose output was cut says nothing of its result, but it was found.
            let mut cured = self.failures.command_reached(command, "", labels);
            if commands::passed(command, output) {
                self.conventions.command_passed(command, &tool_use.source);
                self.failures.printed_on_success(command, output);
                cured.extend(self.failures.command_passed(command, labels));
            }
            // What a test of another package does not find may only have to be built.
            if commands::may_fix(command) || class == commands::Class::Build {
                self.failures.step(&format!("`{}`", failures::display_command(command)));
            }
            cured
        }
    }

    /// Records the counts of a test run. A run of some files does not override a run of all tests, unless it passes where that
    /// run failed before files were changed, or is as large: the folder that it names may be all there is.
    fn tests_counted(&mut self, counts: commands::TestCounts, is_of_some: bool) {
        let is_as_large = |known: commands::TestCounts| counts.total().saturating_mul(5) >= known.total().saturating_mul(4);
        let partly = is_of_some && !self.tests.is_some_and(|(known, partly)| !partly && is_as_large(known));
        let is_mended = |known: commands::TestCounts| known.failed > 0 && counts.failed == 0 && counts.passed > 0;
        let overrides = |(known, known_partly): (commands::TestCounts, bool)| {
            known_partly || (is_mended(known) && self.evidence.are_tests_old())
        };
        if !partly || self.tests.is_none_or(overrides) {
            self.tests = Some((counts, partly));
            self.evidence.tests_ran();
        }
    }

    /// Applies a list of changed files that git printed. Returns whether that shows that a commit was made.
    fn git_listed(&mut self, listed: &work_tree::Listed) -> bool {
        let files = &self.files;
        self.undone.git_listed(listed, |path| files.is_new(path))
    }

    /// Applies a commit that git showed. Returns whether it is one of the session's that seemed to fail.
    fn git_showed(&mut self, command: &str, output: &str) -> bool {
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

    /// Records that the files for which `is_restored` returns true are as they were at the last commit.
    pub(super) fn files_restored(&mut self, is_restored: impl Fn(&str) -> bool + Copy) {
        self.undone.restored(is_restored);
        if !self.undone.is_without_commit() {
            return;
        }
        for path in self.files.paths().filter(|path| is_restored(path)) {
            self.vanished.file_removed(path, self.turns);
        }
        self.files.record_restoration(is_restored);
        if self.files.paths().next().is_none() {
            _ = self.undone.found_clean();
        }
    }

    /// Records the files that a command line writes or deletes.
    fn files_changed_by(&mut self, tool_use: &ToolUse, settled: &mut Vec<Draft>) {
        let effects = commands::file_effects(&tool_use.what, &tool_use.folder);
        let is_restored = |path: &str| effects.restores_all || effects.restored.iter().any(|restored| restored == path);
        if effects.restores_all || !effects.restored.is_empty() {
            self.files_restored(is_restored);
        }
        let is_in_folder = |path: &&str| {
            effects.removed_folders.iter().any(|it| path.strip_prefix(it.as_str()).is_some_and(|rest| rest.starts_with('/')))
        };
        let in_folders: Vec<String> = self.files.paths().filter(is_in_folder).map(str::to_owned).collect();
        for (from, to) in &effects.moved {
            self.files.record_move(from, to);
        }
        for path in &in_folders {
            self.file_removed(path);
        }
        for path in &effects.removed {
            let leaves_nothing = self.file_removed(path);
            self.file_changed_by_command(path, !leaves_nothing);
        }
        for path in &effects.written {
            self.files.record_written(path);
            self.turn.add_file(path);
            self.file_changed_by_command(path, true);
        }
        for path in &effects.manifests {
            self.files.record_written(path);
            self.project_changed(path);
        }
        if effects.written.iter().chain(&effects.removed).any(|path| !clean::is_outside(path)) {
            self.rulings_followed(settled);
        }
    }

    /// Records that a command deleted a file. Returns whether it leaves nothing to check and nothing to commit, because the session
    /// itself made it.
    fn file_removed(&mut self, path: &str) -> bool {
        self.vanished.file_removed(path, self.turns);
        let leaves_nothing = self.files.is_own(path) && self.undone.is_to_commit(path);
        self.files.record_removal(path, leaves_nothing);
        if leaves_nothing {
            self.undone.restored(|known| known == path);
        }
        leaves_nothing
    }

    /// Records that a command changed a file, if it lies in the project, and whether that is a change of the project.
    fn file_changed_by_command(&mut self, path: &str, is_change: bool) {
        if clean::is_outside(path) {
            return;
        }
        self.failures.file_changed(path);
        self.turn.file_edited(is_description(path));
        if is_change {
            self.project_changed(path);
        }
    }

    /// Records a failure with its fix. Replaces the plain insights that were recorded earlier from the same sentences.
    fn record_fix(&mut self, memory: SessionMemory, settled: &mut Vec<Draft>) {
        let why = memory.why.clone();
        self.memories.forget(|known| known.from_prose && !why.is_empty() && why.contains(known.title.as_str()));
        self.memories.add(memory, settled);
    }

    /// Forgets hashes that lead nowhere any more, and takes those of the session's commits that git prints.
    fn hashes_printed(&mut self, command: &str, output: &str) {
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
            let last = self.commits.remove(at);
            self.memories.forget(|memory| memory.kind == "commit" && memory.title == last);
            let hash = self.hashes.iter().find(|(of, _)| *of == last).map(|(_, hash)| hash.clone()).unwrap_or_default();
            self.results.commit_amended(&last, &hash);
            self.turn.retain(|statement| !results::is_of_commit(statement, &last, &hash));
        }
        let subject = clean::line(&commit.subject, MAX_SUBJECT_CHARS);
        self.list_commit(&subject, commit.hash.as_deref().unwrap_or_default());
        self.undone.committed(is_bypassed);
        self.turn.committed = true;
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

    /// Records the pull request that a command opened or described.
    fn pull_request_written(&mut self, tool_use: &ToolUse, output: &str, failed: bool, settled: &mut Vec<Draft>) {
        let command = tool_use.what.as_str();
        if let Some(url) = commits::pull_request(command, output) {
            let title = commits::pull_request_title(command).unwrap_or_default();
            self.record_pull_request(&url, &title, &tool_use.source, settled);
        }
        if let Some((number, title)) = commits::renamed_pull_request(command, output).filter(|_| !failed) {
            self.rename_pull_request(number, &title, &tool_use.source, settled);
        }
        if !failed && text::contains_any(command, &["gh pr create", "gh pr edit"]) {
            let number = commits::described_pull_request(command, output);
            self.undone.pull_request_described(command, number);
            if planned::ticks_checks(command) {
                self.tasks.checks_passed();
            }
        }
    }

    /// Records which pull requests a command merged, or shows as merged.
    fn pull_requests_merged(&mut self, command: &str, output: &str, failed: bool) {
        if failed || !(command.contains("gh pr") || command.contains("git ")) {
            return;
        }
        let is_own = |subject: &str| self.commits.iter().any(|commit| commit == subject);
        let mut listed = commits::squashed_pull_requests(command, output, is_own);
        listed.extend(commits::listed_as_merged(command, output));
        // A number in a log may be an issue's, and most of a list are those of others.
        listed.retain(|number| self.commits.iter().any(|commit| commits::pull_request_number(commit) == Some(*number)));
        for number in commits::merged_pull_requests(command, output).into_iter().chain(listed) {
            self.pull_request_merged(number);
        }
    }

    /// Records that a pull request is merged.
    pub(super) fn pull_request_merged(&mut self, number: u32) {
        self.open_points.pull_request_merged(number);
        self.undone.pull_request_merged(number);
        self.merged.retain(|known| *known != number);
        self.merged.push(number);
        let extra = self.merged.len().saturating_sub(MAX_COMMITS);
        self.merged.drain(..extra);
    }

    pub(super) fn record_pull_request(&mut self, url: &str, title: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        self.open_points.pull_request_opened();
        let line = if title.is_empty() { url.to_owned() } else { format!("{title} ({url})") };
        // The client names the address before the result of the command that gave the title.
        match self.commits.iter_mut().find(|known| known.contains(url)) {
            Some(known) if known == url => known.clone_from(&line),
            Some(_) => return,
            None => self.commits.push(line.clone()),
        }
        self.remember_pull_request(url, line, source, settled);
    }

    /// Gives a pull request of the session another title.
    fn rename_pull_request(&mut self, number: u32, title: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        let is_of = |known: &&mut String| commits::pull_request_number(known) == Some(number);
        let Some(known) = self.commits.iter_mut().find(is_of) else { return };
        let Some(url) = known.split([' ', '(', ')']).find(|word| word.starts_with("https://")).map(str::to_owned) else {
            return;
        };
        let line = format!("{title} ({url})");
        known.clone_from(&line);
        self.remember_pull_request(&url, line, source, settled);
    }

    fn remember_pull_request(&mut self, url: &str, line: String, source: &LineRef, settled: &mut Vec<Draft>) {
        let memory = SessionMemory {
            key: format!("pr:{url}"),
            kind: "commit".to_owned(),
            title: line,
            importance: 50,
            source: source.clone(),
            said_by: SaidBy::Tool,
            ..SessionMemory::default()
        };
        self.memories.add(memory, settled);
    }

    fn edit_failed(&mut self, tool_use: &ToolUse, said: &str) {
        let first = said.replace("<tool_use_error>", "").replace("</tool_use_error>", "");
        let first = text::clip(first.lines().next().unwrap_or_default(), 160).into_owned();
        // What the client requires before every edit says nothing about the file.
        let is_procedure = text::contains_any(&first, commands::PROCEDURES);
        if !is_procedure {
            self.failures.edit_failed(&tool_use.what, &first, &tool_use.source, self.turns);
        }
    }

    fn file_edited(&mut self, tool_use: &ToolUse, result: Option<Raw<'_>>, settled: &mut Vec<Draft>) {
        let file = tool_use.what.as_str();
        if file.is_empty() {
            return;
        }
        let (mut patch, mut old, mut new, mut content, mut kind) = (None, None, None, None, None);
        if let Some(result) = result {
            result.fields(|key, value| match key {
                b"structuredPatch" => patch = Some(value),
                b"oldString" => old = Some(value),
                b"newString" => new = Some(value),
                b"content" => content = Some(value),
                b"type" => kind = Some(value.json()),
                _ => {}
            });
        }
        self.rulings_followed(settled);
        // A plan is recorded as a plan. The client's file for it is not part of the project.
        if clean::is_client_plan(file) {
            self.undone.plan_written(file);
            return;
        }
        self.mended_findings(file);
        let (mut added, removed) = patch.map_or((0, 0), files::patch_size);
        // The patch of a file that was created is empty: its content tells what was written.
        self.count_names(file, patch.filter(|_| added + removed > 0), content);
        if added + removed == 0 && kind == Some("\"create\"") {
            added = content.and_then(Raw::text).map_or(0, |text| u32::try_from(text.lines().count()).unwrap_or(u32::MAX));
        }
        self.files.record_change_at(file, added, removed, tool_use.source.at);
        if kind == Some("\"create\"") {
            self.files.record_creation(file);
        }
        if is_handoff(file) {
            let written = content.and_then(Raw::text).unwrap_or_default();
            let whole = clean::block(&written, MAX_HANDOFF_BYTES);
            self.handed_over(file, &whole, &tool_use.source, settled);
        }
        let own = clean::path(file, &self.root);
        if !clean::is_outside(&own) {
            self.project_changed(file);
            if let Some(written) = content.and_then(Raw::text).filter(|_| is_document(file) && !is_handoff(file)) {
                self.open_points.documented(&own, &clean::block(&written, MAX_DOCUMENT_BYTES));
            }
        }
        self.turn.file_edited(is_description(file));
        self.turn.add_file(file);
        if let Some(written) = content.and_then(Raw::text).filter(|_| is_document(file)) {
            self.turn.document_written(&written);
        }
        let labels = self.labels();
        let (old, new) = (old.and_then(Raw::text).unwrap_or_default(), new.and_then(Raw::text).unwrap_or_default());
        if prose::is_of_lessons(file) {
            let written = if new.is_empty() { content.and_then(Raw::text).unwrap_or_default() } else { new.clone() };
            self.lessons_written(&written, &old, &tool_use.source, settled);
        }
        let reversal = self.files.record_edit(file, &old, &new);
        // Short lines are not compared, so the patch must agree that lines were only removed, or only added.
        let is_back = match reversal {
            Reversal::None => false,
            Reversal::Removes => added == 0 || removed == 0,
            Reversal::Reverts => true,
        };
        if is_back {
            self.files.record_revert(file, added.saturating_add(removed), removed == 0);
            if self.undone.is_without_commit() && self.files.paths().next().is_none() {
                _ = self.undone.found_clean();
            }
        }
        if reversal == Reversal::Reverts {
            self.record_revert(file, &tool_use.source, settled);
        }
        self.failures.file_changed(file);
        for memory in self.failures.edit_passed(file, &tool_use.name, labels) {
            self.record_fix(memory, settled);
        }
    }

    /// Takes what the agent wrote down for the next session: what was decided, what to watch out for, and what is left to do.
    fn handed_over(&mut self, file: &str, document: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        let document = &commits::unwrapped(document);
        for decided in prose::decisions(document) {
            self.record_decided("handoff", decided, SaidBy::Agent, 60, source, settled);
        }
        self.record_findings(document, source, settled);
        self.open_points.handed_over(document);
        if !document.is_empty() {
            self.handoff = clean::path(file, &self.root);
            self.turn.state(prose::status(document), Voice::Answer);
        }
    }

    /// Records the rules that the agent adds to the project's list of lessons. What stood there before is known.
    fn lessons_written(&mut self, written: &str, before: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        let known = prose::lessons(before);
        let mut added = prose::lessons(&clean::clean(written));
        added.retain(|lesson| !known.contains(lesson));
        // A file that is written anew has the new ones at its end.
        for (title, content) in added.split_off(added.len().saturating_sub(MAX_LESSONS)) {
            let memory = SessionMemory {
                key: format!("lesson:{:08x}", text::hash(&title)),
                kind: "learning".to_owned(),
                title,
                content,
                importance: 70,
                source: source.clone(),
                ..SessionMemory::default()
            };
            self.memories.add(memory, settled);
        }
    }

    /// Counts the names that an edit wrote into a file and took out of it. A file without a patch is new.
    fn count_names(&mut self, file: &str, patch: Option<Raw<'_>>, content: Option<Raw<'_>>) {
        let turn = self.turns;
        if let Some(patch) = patch {
            files::patch_lines(patch, |is_added, line| {
                if is_added { self.vanished.added(file, line, turn) } else { self.vanished.removed(file, line, turn) }
            });
        } else {
            let content = content.and_then(Raw::text).unwrap_or_default();
            self.vanished.created(file, text::head(&content, MAX_CREATED_BYTES));
        }
    }

    /// Records that a file of the project was changed: what was checked or committed before does not cover it.
    pub(super) fn project_changed(&mut self, file: &str) {
        self.recap.file_edited();
        self.undone.file_changed(file);
        if !is_document(file) {
            self.evidence.file_changed(!is_configuration(file));
        }
    }

    /// Records that an edit was reverted. The agent's preceding text gives the reason.
    fn record_revert(&mut self, file: &str, source: &LineRef, settled: &mut Vec<Draft>) {
        let sentences = text::sentences(&self.turn.answer);
        let why = sentences.iter().map(|sentence| prose::strip_interjection(sentence)).find(|sentence| tells_why(sentence));
        let Some(why) = why else { return };
        let note = self.labels().reverted.replace("{}", file);
        let memory = SessionMemory {
            key: format!("revert:{}", source.uuid),
            kind: "learning".to_owned(),
            title: format!("{} ({note})", text::clip(why, 260)),
            files: vec![file.to_owned()],
            importance: 60,
            source: source.clone(),
            ..SessionMemory::default()
        };
        self.memories.add(memory, settled);
    }
}

/// Returns whether what a command printed says that it failed, whatever its status.
fn reports_failure(command: &str, class: commands::Class, output: &str) -> bool {
    commands::output_reports_failure(class, output)
        || commands::failed_behind_pipe(command, output)
        || commands::timed_out(output)
        || commands::exited_with_failure(output)
}

/// Returns whether an output is the client's word that a command did not run, or was stopped: it says nothing of the command.
fn is_of_client(output: &str, is_error: bool) -> bool {
    const SIGNS: [&str; 3] = ["Sibling tool call errored", "tool call was cancelled", "Request interrupted"];
    text::contains_any(output, &SIGNS) || (is_error && output.starts_with("<tool_use_error>"))
}

/// Returns whether what the agent says of an edit that it takes back names the cause. Mostly it only says what is not needed, that it
/// goes on, or that a test fails without the edit.
fn tells_why(said: &str) -> bool {
    const MIN_CAUSE: u8 = 2;
    let lower = said.to_lowercase();
    prose::signs(&lower).0 >= MIN_CAUSE
        && said.chars().count() >= 12
        && !said.ends_with([':', '：'])
        && !text::contains_any_words(&lower, &["test", "tests", "테스트", "テスト", "测试"])
        && !prose::is_narration(said)
}

/// Returns whether a tool drives a browser.
fn looks_at_pages(tool: &str) -> bool {
    let tool = tool.to_lowercase();
    text::contains_any(&tool, &["browser", "playwright", "chrome", "puppeteer"])
}

/// Returns a line of a file without the number that the client prints before it.
fn without_line_number(line: &str) -> &str {
    let rest = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    rest.strip_prefix(['→', '\t']).unwrap_or(line)
}

/// Returns whether a file is written for the next session, by its name or its folder's.
fn is_handoff(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    lower.rsplit('.').next() == Some("md") && text::contains_any(&lower, &["handoff", "hand-off", "handover", "hand_off"])
}
