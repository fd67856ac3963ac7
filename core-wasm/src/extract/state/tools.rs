//! What tools did: their results, and the commands that ran.

use std::borrow::Cow;

use super::{State, line_ref};
use crate::bindings::throughline::policy::types::Draft;
use crate::extract::ci;
use crate::extract::clean;
use crate::extract::commands;
use crate::extract::commits;
use crate::extract::failures;
use crate::extract::human;
use crate::extract::memories::SessionMemory;
use crate::extract::server_tools;
use crate::extract::switched;
use crate::extract::tool_uses::{Tool, ToolUse};
use crate::extract::work_tree;
use crate::said_by::SaidBy;
use crate::text;
use crate::transcript::json::Raw;
use crate::transcript::{self, Line};

/// How many words a request has that names no more than a plan to carry out, how much of the plan is searched for its title, in
/// bytes, and the maximum length of that in characters.
const MAX_BARE_WORDS: usize = 4;
const MAX_PLAN_HEAD_BYTES: usize = 2 * 1024;
const MAX_PLAN_TITLE_CHARS: usize = 200;

/// How much of what a server's tool answered is looked at, in bytes: an error stands at its beginning.
const MAX_ANSWER_BYTES: usize = 1024;

/// Where a client keeps what the user attached to a prompt, below the project's root.
const ATTACHMENTS: &str = ".context/attachments/";

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
        if tool_use.tool == Tool::Other && tool_use.is_of_server() {
            self.ran.server_called(
                tool_use,
                &clean::clean(text::head(&transcript::result_text(content), MAX_ANSWER_BYTES)),
                is_error,
            );
        }
        // What another agent did may stand nowhere else.
        let is_agent = tool_use.tool == Tool::Agent && !tool_use.is_reader();
        if is_agent || (tool_use.tool == Tool::Other && server_tools::may_change(&tool_use.name)) {
            self.commit_contents.may_be_written();
            if !is_error {
                self.turn.acted = true;
                self.turn.acts.other_acted();
            }
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
                    self.file_read(&tool_use.what, content, line);
                }
            }
            // The client may lose a list. What the agent then ticks off is done.
            Tool::TaskUpdate if !is_error || (tool_use.detail == "completed" && said.contains("Task not found")) => {
                self.tasks.update(&tool_use.what, Some(tool_use.detail.as_str()).filter(|status| !status.is_empty()));
            }
            // A run may fail.
            Tool::Other if is_error => self.evidence.may_have_run(),
            _ if is_error => {}
            Tool::Other => self.other_tool_answered(tool_use, content, settled),
            _ => self.tool_answered(tool_use, content, line, settled),
        }
    }

    /// Takes a file that the agent read: a plan, what it wrote before, or what a command prints that runs beside it.
    fn file_read(&mut self, path: &str, content: Option<Raw<'_>>, line: &Line<'_>) {
        self.plan_read(path, content);
        if self.lost.wants_look(path, self.turns)
            && let Some(whole) = line.result.and_then(whole_file)
        {
            self.file_looked_at(path, &whole);
        }
        if self.is_background_output(path) {
            let shown = clean::clean(&transcript::result_text(content));
            let output: Vec<&str> = shown.lines().map(without_line_number).collect();
            self.background_read(path, &output.join("\n"));
        }
    }

    /// Takes what a tool of the client's answered: questions, plans, lists of tasks, and other agents.
    fn tool_answered(&mut self, tool_use: &ToolUse, content: Option<Raw<'_>>, line: &Line<'_>, settled: &mut Vec<Draft>) {
        let source = line_ref(line);
        let told = |name: &str| line.result.and_then(|result| result.get(name));
        match tool_use.tool {
            Tool::Ask => self.questions_answered(tool_use, content, line, settled),
            Tool::Plan => {
                let plan = line.result.and_then(|result| result.get_text("plan")).map(|plan| clean::clean(&plan));
                let plan = commits::unwrapped(&plan.unwrap_or_else(|| tool_use.what.clone()));
                self.plan_taken_up(&plan, SaidBy::Agreed, 50, &source, settled);
            }
            Tool::Agent => {
                if !tool_use.is_reader() {
                    self.evidence.agent_ran(self.shows_sub_agents);
                    self.failures.others_worked();
                }
                self.record_report(&transcript::result_text(content), &source, settled);
            }
            Tool::Todo => {
                if let Some(todos) = told("newTodos") {
                    self.tasks.replace(todos, &source);
                }
            }
            Tool::TaskCreate => {
                let id = told("task").and_then(|task| task.get_text("id")).unwrap_or_default();
                self.tasks.create(&clean::line(&id, 40), &tool_use.what, &tool_use.detail, &source);
            }
            Tool::TaskList => self.tasks.listed(&transcript::result_text(content)),
            _ => {}
        }
    }

    /// Takes what a tool answered that is none of the client's own: a tracker, a browser, an editor.
    fn other_tool_answered(&mut self, tool_use: &ToolUse, content: Option<Raw<'_>>, settled: &mut Vec<Draft>) {
        let name = tool_use.name.to_ascii_lowercase();
        if tool_use.name == "TaskOutput" {
            self.background_ended(&transcript::result_text(content));
        } else if tool_use.name == "BashOutput" {
            self.background_asked(&tool_use.what, &transcript::result_text(content));
        } else if tool_use.is_of_server() && name.contains("issue") {
            let known = self.references.filed().count();
            let output = transcript::result_text(content);
            self.references.tracker_answered(&tool_use.name, &output, self.turns);
            self.tracker_answered(tool_use, &output, settled);
            self.issues_filed_since(known);
        } else if tool_use.tracked.is_some() {
            self.tracker_answered(tool_use, &transcript::result_text(content), settled);
        } else if server_tools::drives_browser(&tool_use.name) {
            self.undone.looked();
            self.evidence.looked();
        } else if name.contains("diagnostics") {
            self.evidence.looked();
        } else if server_tools::runs_something(&name) {
            self.evidence.ran();
        } else if tool_use.is_of_server() || tool_use.name == "Skill" {
            // Nobody knows what it does.
            self.evidence.may_have_run();
        }
    }

    /// Takes the title of a plan as the request if the user asked only to carry out the file: "implement". A prompt of nothing but
    /// attached documents is for the first of them.
    fn plan_read(&mut self, path: &str, content: Option<Raw<'_>>) {
        let name = path.rsplit('/').next().unwrap_or_default().to_lowercase();
        let lower = self.request.to_lowercase();
        let is_bare = lower.split_whitespace().count() <= MAX_BARE_WORDS
            && (["implement", "execute", "build", "구현", "実装", "实现"].iter().any(|verb| lower.starts_with(verb))
                || lower.contains(&name));
        let is_document = name.rsplit('.').next() == Some("md");
        let is_plan = name.contains("plan") && is_document;
        // Any other document that is read is a document of the project, and no word of the user's.
        let is_attachment = clean::path(path, &self.root).starts_with(ATTACHMENTS);
        let is_attached = self.request.is_empty() && self.turns == 0 && is_document && is_attachment;
        let is_asked = self.turns == 1 && is_plan && is_bare && self.turn.title == self.request;
        if self.turn.edited || !(is_attached || is_asked) {
            return;
        }
        let shown = transcript::result_text(content);
        let document: String =
            text::head(&shown, MAX_PLAN_HEAD_BYTES).lines().map(without_line_number).collect::<Vec<_>>().join("\n");
        let Some(title) = human::title(&clean::clean(&document)) else { return };
        let title = text::clip(&title, MAX_PLAN_TITLE_CHARS);
        if is_attached && is_plan {
            self.plan_explained(&document);
        }
        self.request_whole.clear();
        self.request = if is_plan { self.labels().plan.replace("{}", &title) } else { title.into_owned() };
        self.turn.title.clone_from(&self.request);
        self.turn.substantive |= is_attached;
        self.undone.asked(&self.request);
    }

    pub(super) fn command_ran(&mut self, tool_use: &ToolUse, output: &str, is_error: bool, settled: &mut Vec<Draft>) {
        let command = tool_use.what.as_str();
        let class = commands::class(command);
        let is_done = commits::is_merged_all_the_same(command, output);
        let is_error = is_error && !is_done;
        let failed = is_error || (!is_done && reports_failure(command, class, output));
        self.turn.failed |= failed;
        self.turn.acted |= !failed && commands::may_change(command);
        let counts = self.tests_reported(command, output, failed);
        if class == commands::Class::Commit {
            self.hook_runs_tests |= counts.is_some() || commands::failed_tests_of_hook(output).is_some();
        }
        self.turn.run(command, &counts.map(commands::TestCounts::verdict).unwrap_or_default());
        if is_of_client(output, is_error) {
            return;
        }
        self.effects_seen(tool_use, output, failed);
        let mut has_landed = commits::says_clean(output) && self.undone.found_clean();
        let listed = work_tree::status(command, output).or_else(|| work_tree::diff(command, output));
        let (before, after) = if lists_before_commit(command) { (listed, None) } else { (None, listed) };
        has_landed |= before.is_some_and(|listed| self.git_listed(&listed));
        self.undone.command_ran(command, output);
        if failed {
            self.removed_before_look(tool_use, output, settled);
        } else {
            self.work_tree_changed(tool_use, settled);
        }
        self.checks_reported(command, output, failed, counts.is_some());
        if !failed {
            self.commits_dropped(command, output);
        }
        let committed = self.commits_made(tool_use, output, is_error, counts.is_some(), settled);
        has_landed |= after.is_some_and(|listed| self.git_listed(&listed));
        has_landed |= self.git_showed(command, output);
        self.commit_of_others_shown(command, output);
        if has_landed {
            self.failures.commit_landed();
        }
        if has_landed || commits::says_clean(output) {
            self.taken_back.landed(self.turns, self.own_commits());
        }
        self.git_ran(command, output, failed);
        self.pull_request_written(tool_use, output, failed, settled);
        self.pull_requests_merged(command, output, failed);
        if !failed {
            self.option_worked(command);
            let known = self.references.filed().count();
            self.references.command_ran(command, output, self.turns);
            self.issues_filed_since(known);
            self.draft_seen(command, output);
        }
        for memory in self.cured_by(tool_use, output, (is_error, failed), class) {
            self.record_fix(memory, settled);
        }
        self.conventions.hook_ran(command, output, &tool_use.source);
        if committed {
            self.evidence.committed();
            for memory in self.failures.checks_committed(command, self.labels()) {
                self.record_fix(memory, settled);
            }
        }
    }

    /// Takes what a command may have changed: files, branches, and what is outside of the project. What runs beside the agent may do so later.
    fn effects_seen(&mut self, tool_use: &ToolUse, output: &str, failed: bool) {
        let command = tool_use.what.as_str();
        if !failed {
            self.turn.acts.ran(command);
        }
        self.has_formatted |= commands::may_format(command);
        if !tool_use.is_of_user() && commands::may_write_files(command) {
            self.commit_contents.may_be_written();
        }
        if switched::may_switch(tool_use) {
            self.switched.may_switch(self.turns);
            self.switched.command_ran(command);
        }
        self.background_begun(tool_use, output);
        if !self.background.is_empty() {
            self.switched.runs_beside();
        }
        self.background_read(command, output);
        self.ran.command_ran(command, output, failed);
    }

    /// Takes what a command that did not fail did to files, and the branch that it made.
    fn work_tree_changed(&mut self, tool_use: &ToolUse, settled: &mut Vec<Draft>) {
        let (command, labels) = (tool_use.what.as_str(), self.labels());
        for memory in self.failures.edited_by_command(commands::through_document(command), labels) {
            self.record_fix(memory, settled);
        }
        self.files_changed_by(tool_use, settled);
        if let Some((branch, base)) = commands::branch_from(command) {
            let started = labels.branch_from.replacen("{}", branch, 1).replacen("{}", base, 1);
            self.record_decided("branch", started, SaidBy::Agent, 60, &tool_use.source, settled);
        }
    }

    /// Tells the failures that a command ran: whether the client says that it failed, and whether it did. Returns what it cured.
    fn cured_by(
        &mut self,
        tool_use: &ToolUse,
        output: &str,
        (is_error, failed): (bool, bool),
        class: commands::Class,
    ) -> Vec<SessionMemory> {
        let (tried, labels) = (commands::through_document(&tool_use.what), self.labels());
        self.failures.runs_in(&tool_use.folder);
        let (known, is_explained) = self.failures.command_ran(tried, output, (is_error, failed), &tool_use.source, labels);
        let mut cured =
            if failed && is_explained { Vec::new() } else { self.failures_after(tool_use, output, failed, class) };
        cured.extend(known);
        cured
    }

    /// Takes what a command line removed before it looked for that and found nothing: that it fails says that the removal passed.
    fn removed_before_look(&mut self, tool_use: &ToolUse, output: &str, settled: &mut Vec<Draft>) {
        let looked = || commands::segments(&tool_use.what).last().is_some_and(|last| last.starts_with("ls "));
        let before = commands::before_last(&tool_use.what).filter(|_| output.contains("No such file") && looked());
        if let Some(before) = before {
            let mut removal = tool_use.clone();
            before.clone_into(&mut removal.what);
            self.files_changed_by(&removal, settled);
        }
    }

    /// Takes the counts of tests that a command printed, and returns them.
    fn tests_reported(&mut self, command: &str, output: &str, failed: bool) -> Option<commands::TestCounts> {
        let command = commands::scripted(command);
        let exited = failed && commands::exits_with_tests(command);
        let counts = commands::test_counts(output).filter(|_| commands::counts_tests(command, output));
        let counts = counts.map(|counts| commands::TestCounts { exited, ..counts });
        if let Some(counts) = counts {
            let is_of_some = commands::names_tests(command)
                || commands::runs_tests(command) == Some(true)
                || commands::filters_tests(output);
            self.tests_counted(counts, is_of_some);
        } else if !failed && commands::runs_tests(command) == Some(false) && commands::passed(command, output) {
            // What failed before is not the last run any more.
            self.tests = self.tests.filter(|(counts, _)| counts.is_clean());
        }
        counts
    }

    /// Takes what a command says of the checks that it made.
    fn checks_reported(&mut self, command: &str, output: &str, failed: bool, counts_tests: bool) {
        let command = commands::scripted(command);
        self.evidence.tests_of(command, counts_tests);
        let failed = failed || commands::reports_errors(command, output);
        self.evidence.command_ran(command, output, !failed && commands::passed(command, output), failed);
        self.ci_looked_at(command, output);
    }

    /// Takes the checks that a command made which a sub-agent ran, or which ran beside the agent.
    pub(super) fn checked_apart(&mut self, command: &str, output: &str, is_error: bool) {
        let failed = is_error || reports_failure(command, commands::class(command), output);
        if !is_of_client(output, is_error) {
            let counts = self.tests_reported(command, output, failed);
            self.checks_reported(command, output, failed, counts.is_some());
        }
    }

    /// Tells the failures what a command came to. Returns what it cured.
    fn failures_after(
        &mut self,
        tool_use: &ToolUse,
        output: &str,
        failed: bool,
        class: commands::Class,
    ) -> Vec<SessionMemory> {
        let (command, labels) = (commands::through_document(&tool_use.what), self.labels());
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
            if !commands::is_of_typed_script(output) {
                cured.extend(self.failures.command_failed(command, &error, &tool_use.source, self.turns, labels));
            }
            cured
        } else {
            // A command whose output was cut says nothing of its result, but it was found.
            let mut cured = self.failures.command_reached(command, "", labels);
            if commands::passed(command, output) {
                self.conventions.command_passed(command, &tool_use.folder, &tool_use.source);
                self.failures.printed_on_success(command, output);
                cured.extend(self.failures.command_passed(command, labels));
            } else if let Some(passed) = commands::before_last(command) {
                self.conventions.command_passed(passed, &tool_use.folder, &tool_use.source);
            }
            // What a test of another package does not find may only have to be built.
            if commands::may_fix(command) || class == commands::Class::Build {
                self.failures.step(&format!("`{}`", failures::display_command(failures::curing_step(command))));
            }
            cured
        }
    }

    /// Records the counts of a test run. A run of some files does not override a run of all tests, unless it passes where that
    /// run failed before files were changed, or is as large: the folder that it names may be all there is. Nor does it override a larger
    /// run of some files that passed as well, while no file was changed in between.
    fn tests_counted(&mut self, counts: commands::TestCounts, is_of_some: bool) {
        let is_as_large = |known: commands::TestCounts| counts.total().saturating_mul(5) >= known.total().saturating_mul(4);
        let partly = is_of_some && !self.tests.is_some_and(|(known, partly)| !partly && is_as_large(known));
        let is_mended = |known: commands::TestCounts| !known.is_clean() && counts.is_clean() && counts.passed > 0;
        let overrides = |(known, known_partly): (commands::TestCounts, bool)| {
            let says_less =
                !self.evidence.are_tests_old() && known.failed + counts.failed == 0 && counts.passed < known.passed;
            (known_partly && !says_less) || (is_mended(known) && self.evidence.are_tests_old())
        };
        if !partly || self.tests.is_none_or(overrides) {
            self.tests = Some((counts, partly));
            self.evidence.tests_ran();
        }
        if !is_of_some && counts.is_clean() && counts.passed > 0 {
            self.evidence.all_tests_passed();
        }
    }

    /// Records that the request was begun if there are more than that many issues that the session filed.
    fn issues_filed_since(&mut self, known: usize) {
        if self.references.filed().count() > known {
            self.undone.begun();
        }
    }

    /// Records what the continuous integration said, if a command line asked for it.
    fn ci_looked_at(&mut self, command: &str, output: &str) {
        if ci::verdict(command, output).is_some_and(|verdict| ci::is_passing(&verdict)) {
            self.open_points.ci_passed();
        }
    }

    /// Records that the hook of a commit ran the tests again, and they passed.
    pub(super) fn hook_passed(&mut self) {
        self.tests = self.tests.filter(|(counts, _)| counts.is_clean());
        self.evidence.tests_ran();
        self.evidence.may_have_run_all();
    }

    /// Records a failure with its fix. Replaces the plain insights that were recorded earlier from the same sentences.
    pub(super) fn record_fix(&mut self, memory: SessionMemory, settled: &mut Vec<Draft>) {
        let why = memory.why.clone();
        self.memories.forget(|known| known.from_prose && !why.is_empty() && why.contains(known.title.as_str()));
        self.memories.add(memory, settled);
    }
}

/// Returns whether a command line lists the work tree before it commits, so that the list says what was there before the commit.
fn lists_before_commit(command: &str) -> bool {
    let at = |words: &str| command.find(words);
    at("git commit").is_some_and(|commit| at("git status").is_some_and(|status| status < commit))
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

/// Returns the text of a file that was read, if it was read as a whole.
fn whole_file(result: Raw<'_>) -> Option<Cow<'_, str>> {
    let file = result.get("file")?;
    let number = |key: &str| file.get(key).and_then(|value| value.json().parse::<u64>().ok());
    let is_whole = number("startLine") == Some(1) && number("numLines")? == number("totalLines")?;
    file.get_text("content").filter(|_| is_whole)
}

/// Returns a line of a file without the number that the client prints before it.
fn without_line_number(line: &str) -> &str {
    let rest = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    rest.strip_prefix(['→', '\t']).unwrap_or(line)
}
