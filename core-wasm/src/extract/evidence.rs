//! The latest verdict of each check of a session.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use super::before::Before;
use super::check::{Check, OF_ALL, purpose, runs_all};
use super::commands;
use super::failures;
use super::files::is_tool_setting;
use super::labels::Labels;
use super::published::Published;
use super::undone::Push;
use super::unrun::Unrun;
use crate::text;

/// The maximum number of checks to keep. The one that ran longest ago is dropped first.
const MAX_CHECKS: usize = 8;
/// Of how many files with code a run of them is a check of all that was changed.
const MAX_SCRIPTS: usize = 2;
/// How many words a line has at most by which a program says what it starts: "> go test ./till".
const MAX_START_WORDS: usize = 4;

/// The maximum length of why a check failed, in characters.
const MAX_CAUSE_CHARS: usize = 140;

/// Checks that change nothing of what a program does.
const FORMATTERS: [&str; 3] = ["fmt", "format", "prettier"];

/// What a run of only some tests is called.
const SOME_TESTS: &str = "some tests";

/// The verdicts of the checks, and what became of the work outside of this machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a session")]
pub(super) struct Evidence {
    checks: Vec<Check>,
    /// The scripts of tests that the session wrote and that never ran, in the order of the file.
    new_scripts: Vec<String>,
    /// Whether files were changed since the last counts of tests.
    are_tests_old: bool,
    /// Whether nothing was run since the last change of a file.
    is_never_run: bool,
    /// Whether anything was run at any time.
    has_run: bool,
    /// How many times something was run.
    runs: u32,
    /// Whether code was changed.
    has_code: bool,
    /// Whether a build, a test or a linter may have run at any time.
    has_checked: bool,
    /// Whether the program itself or a script ran at any time.
    has_tried: bool,
    /// The names of the first files with code that were changed, without their folders.
    code_files: Vec<String>,
    /// The latest run of tests that were not picked by their names, or else the latest run, while only some were ever run. May be empty.
    some_tests: String,
    /// Whether those were picked by their names.
    are_tests_picked: bool,
    /// Whether all tests may have been run.
    may_have_run_all: bool,
    published: Published,
    unrun: Unrun,
    before: Before,
}

impl Evidence {
    /// Records a change of a file of the project, whether it is code, and whether somebody could run it here. What was checked before
    /// says nothing of it. `file` may be empty if nobody knows which.
    pub(super) fn file_changed(&mut self, file: &str, is_code: bool, can_run: bool) {
        if is_tool_setting(file) {
            self.published.file_changed(false);
            return self.unrun.file_changed(file);
        }
        self.has_code |= is_code;
        let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
        if is_code && self.code_files.len() <= MAX_SCRIPTS && !self.code_files.iter().any(|known| known == name) {
            self.code_files.push(name.to_owned());
        }
        self.checks_aged(file, is_code);
        self.published.file_changed(is_code);
        self.unrun.file_changed(file);
        self.are_tests_old = true;
        self.is_never_run |= can_run;
    }

    /// Returns whether the latest changes were pushed and nobody looked at what came of it.
    pub(super) fn is_push_unseen(&self) -> bool {
        self.published.is_unseen()
    }

    /// Records the lines that a change of a file adds or removes, which may be scripts of tests.
    pub(super) fn scripts_written(&mut self, file: &str, lines: &[(bool, String)]) {
        let name = |line: &'_ (bool, String)| commands::test_script(file, &line.1).map(str::to_owned);
        let of = |is_added: bool| lines.iter().filter(move |line| line.0 == is_added).filter_map(name);
        let (added, removed): (Vec<String>, Vec<String>) = (of(true).collect(), of(false).collect());
        self.new_scripts.retain(|script| added.contains(script) || !removed.contains(script));
        for script in added {
            if !removed.contains(&script) && !self.new_scripts.contains(&script) && self.new_scripts.len() < MAX_CHECKS {
                self.new_scripts.push(script);
            }
        }
    }

    /// Records what the user said, who may show what a run of a new script printed: `[test:till] $ go test ./till`.
    pub(super) fn user_said(&mut self, prompt: &str) {
        self.unrun.user_said(prompt);
        if self.new_scripts.is_empty() {
            return;
        }
        let trim = |word: &'_ str| word.trim_matches(['[', ']', '`']).to_owned();
        // "[ ] test:till" is a step of a list, and a quotation has more words than what a program prints of its start.
        let is_run = |line: &&str| {
            let line = line.trim_start();
            let is_named = line.strip_prefix('[').is_some_and(|rest| rest.starts_with(char::is_alphabetic));
            let is_start = line.starts_with('>') && line.split_whitespace().count() <= MAX_START_WORDS;
            is_named || is_start || line.starts_with(['$', '%', '❯'])
        };
        let runs = prompt.lines().filter(is_run).flat_map(|line| line.split_whitespace().map(trim));
        let runs: Vec<String> = runs.filter(|word| self.new_scripts.contains(word)).collect();
        if !runs.is_empty() {
            self.new_scripts.retain(|script| !runs.contains(script));
            self.ran();
        }
    }

    /// Records a change of code outside of the project's folder, such as in another checkout.
    pub(super) fn changed_elsewhere(&mut self) {
        self.checks_aged("", true);
    }

    fn checks_aged(&mut self, file: &str, is_code: bool) {
        // What passed of some parts says nothing of them now. What failed may fail still.
        self.checks.retain(|check| check.failed || check.of.is_empty() || check.name == SOME_TESTS || !check.reads(file));
        for check in self.checks.iter_mut().filter(|check| check.reads(file)) {
            check.is_old = true;
            check.is_of_older_code |= is_code;
        }
    }

    /// Records that something was run, or looked at in a browser.
    pub(super) fn ran(&mut self) {
        (self.is_never_run, self.has_run) = (false, true);
        self.runs += 1;
    }

    /// Records a call of a tool that may have run something.
    pub(super) fn may_have_run(&mut self) {
        self.runs += 1;
    }

    /// Returns how many times something was run, or may have been.
    pub(super) fn runs(&self) -> u32 {
        self.runs
    }

    /// Records that the pull request was merged, so that nobody has to wait for what was pushed to it.
    pub(super) fn merged(&mut self) {
        self.published.merged();
    }

    /// Records that somebody looked at the result in a browser or with the editor's own checks.
    pub(super) fn looked(&mut self) {
        self.ran();
        self.has_checked = true;
    }

    /// Records that a sub-agent worked, which may have run all checks and looked at CI. `is_shown`: the transcript has what it ran.
    pub(super) fn agent_ran(&mut self, is_shown: bool) {
        self.is_never_run &= is_shown;
        self.has_run |= !is_shown;
        if !is_shown {
            self.runs += 1;
            self.unrun.may_have_run();
            self.before.may_be_known();
        }
        self.may_have_run_all();
        self.published.may_have_been_seen();
    }

    /// Records that all checks may have been run: by a hook, by a sub-agent, or elsewhere.
    pub(super) fn may_have_run_all(&mut self) {
        self.has_checked = true;
        self.checks.retain(|check| !check.is_old);
        self.may_have_run_all_tests();
    }

    fn may_have_run_all_tests(&mut self) {
        self.may_have_run_all = true;
        self.some_tests.clear();
    }

    /// Returns the latest run of tests, if the session certainly ran only some of them.
    pub(super) fn some_tests(&self) -> Option<&str> {
        (!self.some_tests.is_empty()).then_some(self.some_tests.as_str())
    }

    /// Records which tests a command line ran. `counts_tests` says whether it printed counts of tests as it ran something.
    pub(super) fn tests_of(&mut self, command: &str, counts_tests: bool) {
        match commands::runs_tests(command) {
            // A run of all tests of a package says more than one of a few of them.
            Some(true) if !self.may_have_run_all => {
                let is_picked = commands::picks_tests(command);
                if self.some_tests.is_empty() || self.are_tests_picked || !is_picked {
                    self.some_tests = failures::display_command(command);
                    self.are_tests_picked = is_picked;
                }
            }
            Some(false) => self.may_have_run_all_tests(),
            None if counts_tests => self.may_have_run_all_tests(),
            _ => {}
        }
    }

    /// Returns the names of the changed files that only another program runs, and that nobody ran. `changed` are the paths of all changed
    /// files.
    pub(super) fn unrun(&self, changed: &[&str]) -> Vec<&str> {
        self.unrun.names(changed)
    }

    /// Returns whether the session changed code and never ran a check on what was before its changes, so that it cannot know which faults
    /// are older.
    pub(super) fn knows_nothing_before(&self) -> bool {
        self.has_code && (self.has_checked || self.has_tried) && !self.before.is_known()
    }

    /// Returns whether nothing was run since the last change of a file.
    pub(super) fn is_never_run(&self) -> bool {
        self.is_never_run
    }

    /// Returns whether something was run at any time that does more than inspect.
    pub(super) fn has_run(&self) -> bool {
        self.has_run || self.has_checked || self.has_tried
    }

    /// Returns whether something was run since the last change of a file, and no check failed.
    pub(super) fn is_clean(&self) -> bool {
        !self.is_never_run && self.checks.iter().all(|check| check.is_old || (check.passed && !check.failed))
    }

    /// Records that a run of all tests told its counts.
    pub(super) fn tests_ran(&mut self) {
        self.has_checked = true;
        self.are_tests_old = false;
        self.checks.retain(|check| check.name != "tests");
    }

    /// Records that all tests passed, and so did those that failed when only some were run.
    pub(super) fn all_tests_passed(&mut self) {
        self.checks.retain(|check| check.name != SOME_TESTS);
    }

    /// Returns whether tests, or a script that runs all checks, passed since the last change of a file.
    pub(super) fn has_newer_tests(&self) -> bool {
        self.has_newer_pass(runs_all)
    }

    /// Returns whether a check with such a name passed since the last change of a file.
    fn has_newer_pass(&self, is_meant: impl Fn(&str) -> bool) -> bool {
        self.checks.iter().any(|check| !check.is_old && check.passed && !check.failed && is_meant(&check.name))
    }

    /// Returns whether a check of that purpose passed over the whole project since the last change of a file.
    fn passes_as_whole(&self, name: &str) -> bool {
        let is_whole = |it: &Check| it.of.is_empty() && !it.is_old && it.passed && !it.failed;
        self.checks.iter().any(|it| is_whole(it) && purpose(&it.name) == purpose(name))
    }

    /// Records that the session's work was committed: what failed of some parts before it is no part of that work any more.
    pub(super) fn committed(&mut self) {
        self.checks.retain(|check| !check.failed || check.of.is_empty());
    }

    /// Returns whether files were changed since the last counts of tests.
    pub(super) fn are_tests_old(&self) -> bool {
        self.are_tests_old
    }

    /// Records a command line, and whether it certainly passed or failed.
    pub(super) fn command_ran(&mut self, command: &str, output: &str, passed: bool, failed: bool) {
        // The hook of a commit may run anything.
        if commands::class(command) != commands::Class::Inspect || commands::pipes_into_program(command) {
            self.ran();
        }
        self.unrun.command_ran(command);
        let may_check = commands::may_check(command);
        self.before.command_ran(command, may_check, self.has_code);
        self.has_tried |= may_check;
        // A script that is all that was changed is checked by its run.
        let verifies = may_check && (!commands::only_tries(command) || self.runs_all_code(command));
        self.has_checked |= verifies || commands::hook_reports(command, output);
        self.new_scripts.retain(|script| !command.split([' ', '"', '\'', ';', '\n']).any(|word| word == script));
        if self.published.command_ran(command, output, failed) {
            self.may_have_run_all();
        }
        self.ran_again(command, output);
        if commands::runs_in_background(output) {
            return;
        }
        let runs_some = commands::runs_tests(command) == Some(true);
        if passed && !runs_some && commands::lists_passed_packages(output) && commands::tested(command).is_empty() {
            self.passed_without_counts();
        }
        // Of a line of several commands nobody knows which one failed, so none of its checks is known to pass any more.
        let is_unclear = failed && !commands::does_one_thing(command);
        let failed = failed && !is_unclear;
        let meant = meant_checks(command, output);
        if is_unclear || !(passed || failed) {
            self.checks.retain(|check| check.failed || !meant.iter().any(|it| check.is_told_by(it)));
        }
        if (failed || is_unclear) && commands::runs_tests(command) == Some(false) {
            // Why, the agent says. It may have been so before.
            self.checks.retain(|check| check.name != "tests");
        }
        // The exit code of a line is that of its last command, unless each needs the one before.
        let is_chain = !command.contains(';') && !command.contains("||") && !command.contains('\n');
        let (passed, failed) = match meant.len() {
            0 => return,
            1 => (passed, failed),
            _ => (passed && is_chain, false),
        };
        if !passed && !failed {
            return;
        }
        // What failed before a checker mended it says nothing any more.
        if passed && commands::mends(command) {
            self.checks.retain(|check| !check.failed);
        }
        let cause = if failed { cause(command, output) } else { String::new() };
        // A path that is not there, or an option that is not known, says nothing of the code.
        let is_slip = commands::is_environment(&cause) || commands::is_invocation(&cause) || cause.contains("main module");
        for check in meant.into_iter().filter(|check| check.of.is_empty() || !is_slip) {
            self.checked(command, Check { passed, failed, cause: cause.clone(), ..check });
        }
        if self.checks.len() > MAX_CHECKS {
            self.checks.remove(0);
        }
    }

    /// Returns whether a command line names every file with code that was changed.
    fn runs_all_code(&self, command: &str) -> bool {
        let names = &self.code_files;
        !names.is_empty() && names.len() <= MAX_SCRIPTS && names.iter().all(|name| command.contains(name.as_str()))
    }

    /// Records the verdict of one check.
    fn checked(&mut self, command: &str, check: Check) {
        let before = self.take_check(&check.name, &check.of).unwrap_or_default();
        if check.of.is_empty() && check.passed {
            // What passes as a whole passes in part.
            self.checks.retain(|it| it.name != check.name);
        } else if check.passed {
            self.checks.retain(|it| !it.failed || it.name != check.name || !it.is_part_of(&check));
        }
        // A formatter passes whatever it finds, unless it is told only to look.
        if check.passed && FORMATTERS.contains(&check.name.as_str()) && rewrites(command, &check.name) {
            return;
        }
        // What failed and passes now was mended. What passed and fails now without a change of a file is not clear.
        self.checks.push(Check { passed: check.passed || before.passed, ..check });
    }

    /// Takes the verdict of a check out of the list. None if it has none since the last change.
    fn take_check(&mut self, name: &str, of: &str) -> Option<Check> {
        let at = self.checks.iter().position(|check| check.name == name && check.of == of)?;
        Some(self.checks.remove(at)).filter(|check| !check.is_old)
    }

    /// Forgets what checks said before the last change if a command line runs them again, whatever comes of it: a pipe may hide
    /// that, it may come later, or they may see some files only.
    fn ran_again(&mut self, command: &str, output: &str) {
        let runs_all = commands::whole_checks(command).iter().any(|name| OF_ALL.contains(name));
        if runs_all || commands::hook_reports(command, output) {
            self.checks.retain(|check| !check.is_old);
        }
        let mut names = commands::all_checks(command);
        // A suite has a name that stands for nothing else, in a loop too.
        names.extend(command.split([' ', '"', '\'', ';', '\n']).filter(|word| word.contains(':')));
        names.extend((commands::runs_tests(command) == Some(false)).then_some("tests"));
        // What failed of them may pass now, or not be there any more.
        names.extend(commands::runs_tests(command).map(|_| SOME_TESTS));
        self.checks.retain(|check| !check.is_old || names.iter().all(|name| purpose(name) != purpose(&check.name)));
    }

    /// Records that all tests passed, of which nobody knows how many there are.
    fn passed_without_counts(&mut self) {
        self.tests_ran();
        self.all_tests_passed();
        self.checks.push(Check { name: "tests".to_owned(), passed: true, ..Check::default() });
    }

    /// Returns the verdicts and what became of the work elsewhere, one item each. `has_pull_request` says whether the branch has one that
    /// is open.
    pub(super) fn items(&self, push: Push, has_pull_request: bool, labels: &Labels) -> Vec<String> {
        let (old, new): (Vec<&Check>, Vec<&Check>) = self.checks.iter().partition(|check| check.is_old);
        let verdict = |check: &Check| match (check.passed, check.failed) {
            (true, true) => format!("{}: {}{}", check.title(), labels.mixed, check.reason()),
            (true, false) => format!("{}: pass", check.title()),
            _ => check.failure(),
        };
        let has_all = !self.are_tests_old || new.iter().any(|check| runs_all(&check.name));
        // With other settings a linter finds more than the project's own run.
        let is_other = |check: &Check| !check.of.is_empty() && check.failed && self.passes_as_whole(&check.name);
        let is_told = |check: &&Check| (check.name != SOME_TESTS || !has_all || check.failed) && !is_other(check);
        let told = new.into_iter().filter(is_told);
        let mut items: Vec<String> = grouped(told).iter().map(verdict).collect();
        items.extend(self.unchecked(&old, labels));
        if !self.new_scripts.is_empty() {
            items.push(labels.scripts_never_run.replace("{}", &self.new_scripts.join(", ")));
        }
        items.extend(self.published.items(push, has_pull_request, labels));
        items
    }

    /// Returns whether a check says nothing that those do not say which passed since the last change of a file.
    fn covers(&self, name: &str) -> bool {
        let is_test = |name: &str| name.starts_with("test") || name.starts_with("e2e");
        let runs_tests = || !self.are_tests_old || self.has_newer_pass(|it| it == SOME_TESTS || is_test(it));
        FORMATTERS.contains(&name)
            || self.has_newer_pass(|it| purpose(it) == purpose(name))
            || self.has_newer_pass(|it| OF_ALL.contains(&it))
            || (is_test(name) && self.has_newer_pass(|it| it == "test:ci" || it == "test:all"))
            || (matches!(name, "build" | "compile" | "vet" | "cargo check") && runs_tests())
            || (name == "cargo check" && self.has_newer_pass(|it| matches!(it, "clippy" | "build")))
    }

    /// Returns what was not checked: all, or what was only checked before the last change of a file.
    fn unchecked(&self, old: &[&Check], labels: &Labels) -> Vec<String> {
        if self.published.is_checked() {
            return Vec::new();
        }
        if self.has_code && !self.has_checked && self.checks.is_empty() {
            // That nothing at all was run is told with what is left undone.
            return if self.is_never_run { Vec::new() } else { vec![labels.never_checked.to_owned()] };
        }
        let is_told = |check: &&&Check| check.is_of_older_code && !self.covers(&check.name);
        let mut old: Vec<&Check> = old.iter().filter(is_told).copied().collect();
        // Of the runs of some tests the latest says enough.
        let passed_some = |check: &Check| check.name == SOME_TESTS && !check.failed;
        let latest = old.iter().rposition(|check| passed_some(check)).unwrap_or_default();
        let old: Vec<&Check> =
            old.drain(..).enumerate().filter(|(at, check)| *at == latest || !passed_some(check)).map(|(_, it)| it).collect();
        let before = |said: String| format!("{said}, {}", labels.before_edit);
        let (known, other): (Vec<&Check>, Vec<&Check>) =
            old.iter().partition(|check| check.failed || check.name == SOME_TESTS);
        let verdict = |check: &&Check| if check.failed { check.failure() } else { format!("{}: pass", check.title()) };
        let mut items: Vec<String> = known.iter().map(verdict).map(before).collect();
        if self.is_never_run {
            return items;
        }
        let has_some = self.checks.iter().any(|check| check.name == SOME_TESTS);
        let name = |check: &&Check| if has_some && check.name == "tests" { "all tests".to_owned() } else { check.title() };
        let names: Vec<String> = other.iter().map(name).collect();
        items.extend((!names.is_empty()).then(|| labels.not_run_since.replace("{}", &names.join(", "))));
        items
    }
}

/// Returns the checks, those as one that passed over the same files one after the other.
fn grouped<'a>(checks: impl Iterator<Item = &'a Check>) -> Vec<Check> {
    let mut all: Vec<Check> = Vec::new();
    for check in checks {
        let passed = |it: &Check| it.passed && !it.failed && !it.of.is_empty();
        match all.last_mut() {
            Some(last) if passed(last) && passed(check) && last.of == check.of && last.name != SOME_TESTS => {
                last.name = format!("{}, {}", last.name, check.name);
            }
            _ => all.push(check.clone()),
        }
    }
    all
}

/// Returns the checks that a command line makes: those of the whole project, and those of some tests, files or packages. Tests that run as
/// a whole are told by their counts.
fn meant_checks(command: &str, output: &str) -> Vec<Check> {
    let whole = [commands::whole_checks(command), commands::test_suites(command)].concat();
    let whole = whole.into_iter().map(|name| Check { name: name.to_owned(), ..Check::default() });
    let some = commands::partial_checks(command).into_iter();
    let some = some.map(|(name, of)| Check { name: name.to_owned(), of, ..Check::default() });
    let of = commands::tested(command);
    // Counts say more.
    let is_some = !of.is_empty()
        && !commands::found_no_tests(output)
        && (commands::runs_tests(command) == Some(true) || commands::lists_packages(output))
        && commands::test_counts(output).is_none_or(commands::TestCounts::is_clean);
    let tests = is_some.then(|| Check { name: SOME_TESTS.to_owned(), of, ..Check::default() });
    whole.chain(some).chain(tests).collect()
}

/// Returns the line of the output that says why a command failed, as it stands beside a verdict.
fn cause(command: &str, output: &str) -> String {
    let line = commands::error_line_of(commands::class(command), output).unwrap_or_default();
    let line = commands::failed_assertion(&line, output).map_or(line, str::to_owned);
    // That it failed is told.
    if line.starts_with("--- FAIL") || line == "FAIL" {
        return String::new();
    }
    // How pytest marks a line. The verdicts are separated by semicolons.
    let line = line.strip_prefix("E ").unwrap_or(&line).trim().replace("; ", ", ");
    text::clip(&text::one_line(&line), MAX_CAUSE_CHARS).into_owned()
}

/// Returns whether a command line runs a formatter of that name so that it rewrites what it finds.
fn rewrites(command: &str, name: &str) -> bool {
    const LOOKS: [&str; 6] = ["check", "-l", "-d", "--list", "--diff", "--dry-run"];
    // "--check", "fmt:check", "--check-only", and not "src/checkout".
    let looks = |word: &str| {
        LOOKS.contains(&word) || word.starts_with("--check") || word.ends_with(":check") || word.ends_with("-check")
    };
    let mut runs = commands::segments(command).into_iter().filter(|segment| segment.contains(name));
    !runs.any(|segment| segment.split_whitespace().any(looks))
}
