//! The latest verdict of each check of a session, and where its work was pushed.

use serde::{Deserialize, Serialize};

use super::ci;
use super::commands;
use super::commits;
use super::failures;
use super::labels::Labels;
use super::undone::Push;

/// The maximum number of checks to keep. The one that ran longest ago is dropped first.
const MAX_CHECKS: usize = 6;

/// What the runs of one check said since the last change of a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Check {
    name: String,
    passed: bool,
    failed: bool,
}

/// The verdicts of the checks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a session")]
pub(super) struct Evidence {
    checks: Vec<Check>,
    /// The branch to which the work was pushed last. May be empty.
    pushed_to: String,
    /// Whether files were changed since then.
    is_push_old: bool,
    /// Whether files were changed since the last counts of tests.
    are_tests_old: bool,
    /// Whether nothing was run since the last change of a file.
    is_never_run: bool,
    /// The latest run of tests that were not picked by their names, or else the latest run, while only some were ever run. May be empty.
    some_tests: String,
    /// Whether those were picked by their names.
    are_tests_picked: bool,
    /// Whether all tests may have been run.
    may_have_run_all: bool,
    /// What the continuous integration said when it was last looked at. May be empty.
    ci: String,
    /// Whether something was pushed since then.
    is_ci_old: bool,
    /// Whether files were changed since something was pushed.
    is_ci_before_edit: bool,
}

impl Evidence {
    /// Records a change of a file of the project, and whether somebody could run it here. What was checked before says nothing of
    /// it.
    pub(super) fn file_changed(&mut self, can_run: bool) {
        self.checks.clear();
        (self.are_tests_old, self.is_push_old, self.is_ci_before_edit) = (true, true, true);
        self.is_never_run |= can_run;
    }

    /// Records that something was run, or looked at in a browser.
    pub(super) fn ran(&mut self) {
        self.is_never_run = false;
    }

    /// Records that all tests may have been run: by a hook, by a sub-agent, or elsewhere.
    pub(super) fn may_have_run_all(&mut self) {
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
            Some(false) => self.may_have_run_all(),
            None if counts_tests => self.may_have_run_all(),
            _ => {}
        }
    }

    /// Returns whether nothing was run since the last change of a file.
    pub(super) fn is_never_run(&self) -> bool {
        self.is_never_run
    }

    /// Returns whether something was run since the last change of a file, and no check failed.
    pub(super) fn is_clean(&self) -> bool {
        !self.is_never_run && self.checks.iter().all(|check| check.passed && !check.failed)
    }

    /// Records that a run of all tests told its counts.
    pub(super) fn tests_ran(&mut self) {
        self.are_tests_old = false;
        self.checks.retain(|check| check.name != "tests");
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
        // A quiet push does not say where to.
        self.is_ci_before_edit &= failed || !command.contains("push");
        if let Some(branch) = commits::pushed_branch(command, output) {
            (self.pushed_to, self.is_push_old) = (branch, false);
            self.is_ci_old = true;
        }
        if let Some(verdict) = ci::verdict(command, output) {
            (self.ci, self.is_ci_old) = (verdict, false);
            self.may_have_run_all();
        }
        if passed && commands::lists_passed_packages(output) && commands::targets(command).is_empty() {
            self.passed_without_counts();
        }
        // Of a line of several commands nobody knows which one failed, so none of its checks is known to pass any more.
        let is_unclear = failed && !commands::does_one_thing(command);
        let failed = failed && !is_unclear;
        let names = commands::whole_checks(command);
        if is_unclear {
            self.checks.retain(|check| check.failed || !names.contains(&check.name.as_str()));
        }
        if (failed || is_unclear) && commands::runs_tests(command) == Some(false) {
            // Why, the agent says. It may have been so before.
            self.checks.retain(|check| check.name != "tests");
        }
        // The exit code of a line is that of its last command, unless each needs the one before.
        let is_chain = !command.contains(';') && !command.contains("||") && !command.contains('\n');
        let (passed, failed) = match names.len() {
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
        for name in names {
            let known = self.checks.iter().position(|check| check.name == name);
            let mut check = known.map(|at| self.checks.remove(at)).unwrap_or_default();
            name.clone_into(&mut check.name);
            // What failed and passes now was mended. What passed and fails now without a change of a file is not clear.
            check.failed = failed;
            check.passed |= passed;
            self.checks.push(check);
        }
        if self.checks.len() > MAX_CHECKS {
            self.checks.remove(0);
        }
    }

    /// Records that all tests passed, of which nobody knows how many there are.
    fn passed_without_counts(&mut self) {
        self.tests_ran();
        self.checks.push(Check { name: "tests".to_owned(), passed: true, failed: false });
    }

    /// Returns the verdicts and the branch, one item each. Where it was pushed is only told if all is.
    pub(super) fn items(&self, push: Push, labels: &Labels) -> Vec<String> {
        let verdict = |check: &Check| match (check.passed, check.failed) {
            (true, true) => format!("{}: {}", check.name, labels.mixed),
            (true, false) => format!("{}: pass", check.name),
            _ => format!("{}: fail", check.name),
        };
        let mut items: Vec<String> = self.checks.iter().map(verdict).collect();
        match push {
            Push::Missing => {}
            _ if !self.pushed_to.is_empty() => {
                let pushed = labels.pushed_to.replace("{}", &self.pushed_to);
                items.push(if self.is_push_old { format!("{pushed}, {}", labels.before_edit) } else { pushed });
            }
            Push::Made => items.push(labels.pushed.to_owned()),
            Push::Unknown => {}
        }
        // What passed before the last push says nothing of it. What failed has to be looked at again.
        if !self.ci.is_empty() && !self.is_ci_old {
            let age = if self.is_ci_before_edit { format!(", {}", labels.before_edit) } else { String::new() };
            items.push(format!("CI: {}{age}", self.ci));
        } else if self.ci.contains("fail") {
            items.push(labels.ci_before_push.replace("{}", &self.ci));
        }
        items
    }
}

#[cfg(test)]
mod tests {
    use super::super::labels::labels;
    use super::*;
    use crate::text::Language;

    fn items(evidence: &Evidence) -> Vec<String> {
        evidence.items(Push::Unknown, labels(Language::English))
    }

    #[test]
    fn what_was_changed_after_a_push_is_not_pushed() {
        let mut evidence = Evidence::default();
        evidence.command_ran("git push", "To x\n   1a2b3c4..5d6e7f8  cart -> cart", true, false);
        evidence.file_changed(true);
        assert_eq!(items(&evidence), ["pushed to `cart`, before the last edit"]);
    }

    #[test]
    fn the_last_verdicts_are_told() {
        let mut evidence = Evidence::default();
        evidence.command_ran("bun run lint", "", false, true);
        evidence.file_changed(true);
        assert!(items(&evidence).is_empty(), "the file was changed since");
        evidence.command_ran("bun run lint && bun run typecheck", "", true, false);
        evidence.command_ran("git push", "To x\n   1a2b3c4..5d6e7f8  cart -> cart", true, false);
        assert_eq!(items(&evidence), ["lint: pass", "typecheck: pass", "pushed to `cart`"]);
        assert_eq!(evidence.items(Push::Missing, labels(Language::English)).len(), 2);
        let quiet = Evidence::default();
        assert_eq!(quiet.items(Push::Made, labels(Language::English)), ["pushed"]);
        evidence.command_ran("bun run lint", "", false, true);
        assert_eq!(items(&evidence)[1], "lint: passed and failed since the last edit");
        evidence.command_ran("bun run lint", "", true, false);
        assert_eq!(items(&evidence)[1], "lint: pass", "what passes at last passes");
    }

    #[test]
    fn it_is_clean_if_something_ran_and_nothing_failed() {
        let mut evidence = Evidence::default();
        evidence.file_changed(true);
        assert!(!evidence.is_clean(), "nothing was run");
        evidence.command_ran("grep -c 'a | till' b.txt | sort", "", true, false);
        assert!(evidence.is_never_run());
        evidence.command_ran("echo 3 | go run ./cmd/till", "", true, false);
        evidence.file_changed(false);
        assert!(!evidence.is_never_run(), "what runs it is elsewhere");
        evidence.file_changed(true);
        evidence.command_ran("bun run lint", "", true, false);
        assert!(evidence.is_clean());
        evidence.command_ran("bun run typecheck", "", false, true);
        assert!(!evidence.is_clean());
    }

    #[test]
    fn lists_of_passed_packages_count() {
        let mut evidence = Evidence::default();
        let listed = "ok  \texample.org/till/cart\t0.2s\nok  \texample.org/till/tax\t(cached)";
        evidence.command_ran("go test ./...", listed, true, false);
        assert_eq!(items(&evidence), ["tests: pass"]);
        evidence.file_changed(true);
        assert!(items(&evidence).is_empty());
    }

    #[test]
    fn a_run_of_the_tests_that_fails_withdraws_the_one_before() {
        let mut evidence = Evidence::default();
        let listed = "ok  \texample.org/till/cart\t0.2s";
        evidence.command_ran("go test ./...", listed, true, false);
        evidence.command_ran("go test ./...", "--- FAIL: TestCart (0.01s)\nFAIL", false, true);
        assert!(items(&evidence).is_empty());
        evidence.command_ran("go test ./...", listed, true, false);
        evidence.command_ran("go test ./cart/ -run TestTax", "FAIL", false, true);
        assert_eq!(items(&evidence), ["tests: pass"]);
        evidence.command_ran("make lint && go test ./...", "--- FAIL: TestCart (0.01s)\nFAIL", false, true);
        assert!(items(&evidence).is_empty(), "it may be the linter, or the tests");
    }

    #[test]
    fn what_ci_said_is_told_until_the_next_push() {
        let mut evidence = Evidence::default();
        evidence.command_ran("gh pr checks 7", "lint\tpass\t1s\ntest\tfail\t9s", true, false);
        assert_eq!(items(&evidence), ["CI: 1 pass, 1 fail (test)"]);
        let mut edited = evidence.clone();
        edited.file_changed(true);
        edited.command_ran("gh pr checks 7", "lint\tpass\t1s\ntest\tpass\t9s", true, false);
        assert_eq!(items(&edited), ["CI: 2 pass, before the last edit"], "it was not pushed");
        edited.command_ran("git push -q", "", true, false);
        edited.command_ran("gh pr checks 7", "lint\tpass\t1s\ntest\tpass\t9s", true, false);
        assert_eq!(items(&edited), ["CI: 2 pass"]);
        let push = |evidence: &mut Evidence| {
            evidence.command_ran("git push", "To x\n   1a2b3c4..5d6e7f8  cart -> cart", true, false);
        };
        push(&mut evidence);
        assert_eq!(items(&evidence), ["pushed to `cart`", "CI before the last push: 1 pass, 1 fail (test)"]);
        evidence.command_ran("gh pr checks 7", "lint\tpass\t1s\ntest\tpass\t9s", true, false);
        push(&mut evidence);
        assert_eq!(items(&evidence), ["pushed to `cart`"], "what passed before says nothing of it");
    }

    #[test]
    fn a_session_that_ran_only_some_tests() {
        let mut evidence = Evidence::default();
        assert_eq!(evidence.some_tests(), None, "somebody else may have run them");
        for some in
            ["npx vitest run -t total", "go test ./... -run Total", "go test ./cart/ -v", "pytest tests/test_cart.py"]
        {
            evidence.tests_of(some, false);
            assert_eq!(evidence.some_tests(), Some(some));
        }
        for picked in ["pytest tests/test_cart.py -k total", "pytest tests/test_cart.py::test_total"] {
            evidence.tests_of(picked, false);
            assert_eq!(evidence.some_tests(), Some("pytest tests/test_cart.py"), "it says more");
        }
        let mut other = evidence.clone();
        other.tests_of("sort -k 2 slips.txt; pytest tests/test_till.py", false);
        assert!(other.some_tests().is_some_and(|run| run.contains("test_till.py")), "{:?}", other.some_tests());
        for all in ["go test ./cart/... -count=1", "npm test", "make all && pytest tests/", "cd web && bun test src/"] {
            let mut evidence = evidence.clone();
            evidence.tests_of(all, false);
            evidence.tests_of("go test ./cart/ -v", false);
            assert_eq!(evidence.some_tests(), None, "{all}");
        }
        evidence.tests_of("make all", true);
        assert_eq!(evidence.some_tests(), None);
    }

    #[test]
    fn a_check_that_mends_replaces_what_failed() {
        let mut evidence = Evidence::default();
        evidence.command_ran("bun run lint", "", false, true);
        evidence.command_ran("bun run lint:fix", "", true, false);
        assert_eq!(items(&evidence), ["lint: pass"]);
    }

    #[test]
    fn a_check_of_some_files_or_behind_another_command_says_nothing_of_all() {
        let mut evidence = Evidence::default();
        evidence.command_ran("npx eslint src/cart.ts", "", true, false);
        evidence.command_ran("bun run lint; bun run build", "", true, false);
        evidence.command_ran("ls", "", true, false);
        assert!(items(&evidence).is_empty());
    }
}
