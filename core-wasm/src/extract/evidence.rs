//! The latest verdict of each check of a session.

use serde::{Deserialize, Serialize};

use super::before::Before;
use super::check::{Check, OF_ALL, purpose, runs_all};
use super::commands;
use super::failures;
use super::labels::Labels;
use super::published::Published;
use super::undone::Push;
use super::unrun::Unrun;
use crate::text;

/// The maximum number of checks to keep. The one that ran longest ago is dropped first.
const MAX_CHECKS: usize = 8;
/// How many words a line has at most by which a program says what it starts: "> go test ./till".
const MAX_START_WORDS: usize = 4;

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
    /// Whether code was changed.
    has_code: bool,
    /// Whether a build, a test, a linter or the program itself may have run at any time.
    has_checked: bool,
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
        self.has_code |= is_code;
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
        self.checks.retain(|check| check.name != SOME_TESTS);
        for check in self.checks.iter_mut().filter(|check| check.reads(file)) {
            check.is_old = true;
            check.is_of_older_code |= is_code;
        }
    }

    /// Records that something was run, or looked at in a browser.
    pub(super) fn ran(&mut self) {
        self.is_never_run = false;
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
        if !is_shown {
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
        self.has_code && self.has_checked && !self.before.is_known()
    }

    /// Returns whether nothing was run since the last change of a file.
    pub(super) fn is_never_run(&self) -> bool {
        self.is_never_run
    }

    /// Returns whether something was run since the last change of a file, and no check failed.
    pub(super) fn is_clean(&self) -> bool {
        !self.is_never_run && self.checks.iter().all(|check| check.is_old || (check.passed && !check.failed))
    }

    /// Records that a run of all tests told its counts.
    pub(super) fn tests_ran(&mut self) {
        self.are_tests_old = false;
        self.checks.retain(|check| check.name != "tests");
    }

    /// Returns whether tests, or a script that runs all checks, passed since the last change of a file.
    pub(super) fn has_newer_tests(&self) -> bool {
        self.has_newer_pass(runs_all)
    }

    /// Returns whether a check with such a name passed since the last change of a file.
    fn has_newer_pass(&self, is_meant: impl Fn(&str) -> bool) -> bool {
        self.checks.iter().any(|check| !check.is_old && check.passed && !check.failed && is_meant(&check.name))
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
        self.has_checked |= may_check || commands::hook_reports(command, output);
        self.new_scripts.retain(|script| !command.split([' ', '"', '\'', ';', '\n']).any(|word| word == script));
        if self.published.command_ran(command, output, failed) {
            self.may_have_run_all();
        }
        self.ran_again(command, output);
        if commands::runs_in_background(output) {
            return;
        }
        let picks = commands::runs_tests(command) == Some(true);
        if passed && !picks && commands::lists_passed_packages(output) && commands::targets(command).is_empty() {
            self.passed_without_counts();
        }
        // Of a line of several commands nobody knows which one failed, so none of its checks is known to pass any more.
        let is_unclear = failed && !commands::does_one_thing(command);
        let failed = failed && !is_unclear;
        let mut names = [commands::whole_checks(command), commands::test_suites(command)].concat();
        names.extend(Some(SOME_TESTS).filter(|_| picks && !commands::found_no_tests(output)));
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
            let mut check = known.map(|at| self.checks.remove(at)).filter(|check| !check.is_old).unwrap_or_default();
            // A formatter passes whatever it finds, unless it is told only to look.
            if passed && FORMATTERS.contains(&name) && rewrites(command, name) {
                continue;
            }
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
        self.checks.retain(|check| !check.is_old || names.iter().all(|name| purpose(name) != purpose(&check.name)));
    }

    /// Records that all tests passed, of which nobody knows how many there are.
    fn passed_without_counts(&mut self) {
        self.tests_ran();
        self.checks.push(Check { name: "tests".to_owned(), passed: true, ..Check::default() });
    }

    /// Returns the verdicts and what became of the work elsewhere, one item each. `has_pull_request` says whether the branch has one that
    /// is open.
    pub(super) fn items(&self, push: Push, has_pull_request: bool, labels: &Labels) -> Vec<String> {
        let (old, new): (Vec<&Check>, Vec<&Check>) = self.checks.iter().partition(|check| check.is_old);
        let verdict = |check: &Check| match (check.passed, check.failed) {
            (true, true) => format!("{}: {}", check.name, labels.mixed),
            (true, false) => format!("{}: pass", check.name),
            _ => format!("{}: fail", check.name),
        };
        let has_all = !self.are_tests_old || new.iter().any(|check| runs_all(&check.name));
        let mut items: Vec<String> =
            new.into_iter().filter(|check| check.name != SOME_TESTS || !has_all).map(verdict).collect();
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
        // That nothing at all was run is told with what is left undone.
        if self.is_never_run || self.published.is_checked() {
            return Vec::new();
        }
        if self.has_code && !self.has_checked {
            return vec![labels.never_checked.to_owned()];
        }
        let is_told = |check: &&&Check| check.is_of_older_code && !self.covers(&check.name);
        let (failed, other): (Vec<&Check>, Vec<&Check>) =
            old.iter().filter(is_told).partition(|check| check.failed && !check.passed);
        let failed = failed.iter().map(|check| format!("{}: fail, {}", check.name, labels.before_edit));
        let mut items: Vec<String> = failed.collect();
        let has_some = self.checks.iter().any(|check| check.name == SOME_TESTS);
        let name =
            |check: &&Check| if has_some && check.name == "tests" { "all tests".to_owned() } else { check.name.clone() };
        let names: Vec<String> = other.iter().map(name).collect();
        items.extend((!names.is_empty()).then(|| labels.not_run_since.replace("{}", &names.join(", "))));
        items
    }
}

/// Returns whether a command line runs a formatter of that name so that it rewrites what it finds.
fn rewrites(command: &str, name: &str) -> bool {
    const LOOKS: [&str; 6] = ["check", " -l", " -d", "--list", "--diff", "--dry-run"];
    let mut runs = commands::segments(command).into_iter().filter(|segment| segment.contains(name));
    !runs.any(|segment| text::contains_any(segment, &LOOKS))
}

#[cfg(test)]
mod tests {
    use super::super::labels::labels;
    use super::*;
    use crate::text::Language;

    fn items(evidence: &Evidence) -> Vec<String> {
        evidence.items(Push::Unknown, false, labels(Language::English))
    }

    #[test]
    fn what_was_changed_after_a_push_is_not_pushed() {
        let mut evidence = Evidence::default();
        evidence.command_ran("git push", "To x\n   1a2b3c4..5d6e7f8  cart -> cart", true, false);
        evidence.file_changed("", true, true);
        assert_eq!(items(&evidence), ["pushed to `cart`, before the last edit"]);
    }

    #[test]
    fn the_last_verdicts_are_told() {
        let mut evidence = Evidence::default();
        evidence.command_ran("bun run lint", "", false, true);
        evidence.file_changed("", true, true);
        evidence.command_ran("go run ./cmd/till", "", true, false);
        assert_eq!(items(&evidence), ["lint: fail, before the last edit"], "nobody knows whether it passes now");
        evidence.command_ran("bun run lint && bun run typecheck", "", true, false);
        evidence.command_ran("git push", "To x\n   1a2b3c4..5d6e7f8  cart -> cart", true, false);
        assert_eq!(items(&evidence), ["lint: pass", "typecheck: pass", "pushed to `cart`"]);
        assert_eq!(evidence.items(Push::Missing, false, labels(Language::English)).len(), 2);
        let quiet = Evidence::default();
        assert_eq!(quiet.items(Push::Made, false, labels(Language::English)), ["pushed"]);
        evidence.command_ran("bun run lint", "", false, true);
        assert_eq!(items(&evidence)[1], "lint: passed and failed since the last edit");
        evidence.command_ran("bun run lint", "", true, false);
        assert_eq!(items(&evidence)[1], "lint: pass", "what passes at last passes");
    }

    #[test]
    fn it_is_clean_if_something_ran_and_nothing_failed() {
        let mut evidence = Evidence::default();
        evidence.file_changed("", true, true);
        assert!(!evidence.is_clean(), "nothing was run");
        evidence.command_ran("grep -c 'a | till' b.txt | sort", "", true, false);
        assert!(evidence.is_never_run());
        evidence.command_ran("echo 3 | go run ./cmd/till", "", true, false);
        evidence.file_changed("", false, false);
        assert!(!evidence.is_never_run(), "what runs it is elsewhere");
        evidence.file_changed("", true, true);
        evidence.command_ran("bun run lint", "", true, false);
        assert!(evidence.is_clean());
        evidence.command_ran("bun run typecheck", "", false, true);
        assert!(!evidence.is_clean());
    }

    #[test]
    fn a_formatter_that_rewrites_proves_nothing() {
        let mut evidence = Evidence::default();
        evidence.command_ran("cargo fmt && cargo clippy", "", true, false);
        assert_eq!(items(&evidence), ["clippy: pass"]);
        evidence.command_ran("cargo fmt --check", "", false, true);
        assert_eq!(items(&evidence), ["clippy: pass", "fmt: fail"]);
        evidence.command_ran("cargo fmt", "", true, false);
        assert_eq!(items(&evidence), ["clippy: pass"]);
        evidence.command_ran("cargo fmt --check", "", true, false);
        assert_eq!(items(&evidence), ["clippy: pass", "fmt: pass"]);
    }

    #[test]
    fn whoever_ran_the_tests_has_compiled_the_code() {
        let mut evidence = Evidence::default();
        evidence.command_ran("cargo check", "", true, false);
        assert_eq!(items(&evidence), ["cargo check: pass"]);
        evidence.file_changed("", true, true);
        evidence.command_ran("cargo clippy", "", true, false);
        assert_eq!(items(&evidence), ["clippy: pass"]);
        assert!(!evidence.has_newer_tests());
        evidence.command_ran("npm run verify", "", true, false);
        assert!(evidence.has_newer_tests());
    }

    #[test]
    fn lists_of_passed_packages_count() {
        let mut evidence = Evidence::default();
        let listed = "ok  \texample.org/till/cart\t0.2s\nok  \texample.org/till/tax\t(cached)";
        evidence.command_ran("go test ./...", listed, true, false);
        assert_eq!(items(&evidence), ["tests: pass"]);
        evidence.file_changed("", true, true);
        assert!(items(&evidence).is_empty(), "that nothing was run is told elsewhere");
        evidence.command_ran("go test ./... -run TestTax", listed, true, false);
        assert_eq!(items(&evidence), ["some tests: pass", "not run since the last edit: all tests"]);
        evidence.command_ran("go test ./... -run TestNone", "ok  \tx/till\t0.2s [no tests to run]", true, false);
        evidence.command_ran("go test ./...", listed, true, false);
        assert_eq!(items(&evidence), ["tests: pass"]);
    }

    #[test]
    fn checks_that_were_not_run_again() {
        let mut evidence = Evidence::default();
        evidence.file_changed("", true, true);
        evidence.command_ran("git commit -am x && git push", "[cart 1a2b3c4] x", true, false);
        assert_eq!(items(&evidence), ["no build, test or lint was run"]);
        let mut hooked = evidence.clone();
        hooked.command_ran("git commit -am x", "lint-staged passed\n[cart 1a2b3c4] x", true, false);
        assert!(items(&hooked).is_empty(), "the hook did");
        evidence.command_ran("mise run lint && mise run build && mise run test:integration", "1 pass", true, false);
        assert_eq!(items(&evidence), ["lint: pass", "build: pass", "test:integration: pass"]);
        evidence.file_changed("", false, false);
        evidence.command_ran("golangci-lint run", "", true, false);
        assert_eq!(items(&evidence), ["golangci-lint: pass"], "no code was changed");
        evidence.file_changed("", true, true);
        evidence.command_ran("npx tsc --noEmit", "", true, false);
        assert_eq!(items(&evidence)[1], "not run since the last edit: build, test:integration, golangci-lint");
        let mut all = evidence.clone();
        all.command_ran("bun run verify", "", true, false);
        assert_eq!(items(&all), ["tsc: pass", "verify: pass"]);
        evidence.command_ran("bun run lint", "Command running in background with ID: 1", true, false);
        assert_eq!(
            items(&evidence),
            ["tsc: pass", "not run since the last edit: build, test:integration"],
            "it comes later"
        );
        evidence.may_have_run_all();
        assert_eq!(items(&evidence), ["tsc: pass"], "a sub-agent may have run them");
    }

    #[test]
    fn a_check_that_ran_again_is_not_told_as_not_run() {
        let mut before = Evidence::default();
        before.command_ran("mise run lint && mise run test:till", "", true, false);
        before.command_ran("go test ./...", "ok  \texample.org/till\t0.2s", true, false);
        before.file_changed("", true, true);
        for (again, output, rest) in [
            ("golangci-lint run ./cart/...", "", "test:till, tests"),
            ("go test ./cart/... | tail -3", "", "lint, test:till"),
            ("for i in 1 2; do mise run test:till; done; mise run lint", "", "tests"),
            ("go test ./...", "Command running in background with ID: 1", "lint, test:till"),
        ] {
            let mut evidence = before.clone();
            evidence.command_ran(again, output, false, false);
            assert_eq!(items(&evidence), [format!("not run since the last edit: {rest}")], "{again}");
        }
        before.command_ran("git commit -m x", "$ tsc --noEmit\n[cart 1a2b3c4] x", true, false);
        assert!(items(&before).is_empty(), "the hook ran something");
    }

    #[test]
    fn what_was_pushed_and_not_looked_at() {
        let mut evidence = Evidence::default();
        let push = |evidence: &mut Evidence| {
            evidence.command_ran("git push", "To x\n   1a2b3c4..5d6e7f8  cart -> cart", true, false);
        };
        push(&mut evidence);
        assert_eq!(items(&evidence), ["pushed to `cart`"], "there may be no CI");
        let of_request = evidence.items(Push::Made, true, labels(Language::English));
        assert_eq!(of_request, ["pushed to `cart`", "CI not looked at since"]);
        evidence.command_ran("gh pr checks 7", "no checks reported", true, false);
        assert_eq!(items(&evidence), ["pushed to `cart`"]);
        push(&mut evidence);
        assert_eq!(items(&evidence), ["pushed to `cart`", "CI not looked at since"]);
        for seen in [Evidence::merged, |it: &mut Evidence| it.agent_ran(true)] {
            let mut evidence = evidence.clone();
            seen(&mut evidence);
            assert_eq!(items(&evidence), ["pushed to `cart`"]);
        }
    }

    #[test]
    fn scripts_that_never_ran() {
        let mut evidence = Evidence::default();
        let line = |is_added, line: &str| (is_added, line.to_owned());
        let written =
            [line(true, r#"    "test:till": "vitest run till","#), line(true, r#"    "test:slip": "vitest run slip","#)];
        evidence.scripts_written("/shop/package.json", &written);
        evidence.scripts_written("/shop/mise.toml", &[line(true, r#"[tasks."test:till"]"#)]);
        evidence.command_ran("grep test:till package.json; npm run test:slip", "", false, false);
        evidence.scripts_written(
            "/shop/package.json",
            &[line(false, r#""test:slip": "a b""#), line(true, r#""test:slip": "a c""#)],
        );
        assert!(items(&evidence).is_empty(), "{:?}", items(&evidence));
        evidence.scripts_written("/shop/mise.toml", &[line(true, r#"[tasks."test:drawer"]"#)]);
        assert_eq!(items(&evidence), ["written and never run: test:drawer"]);
        evidence.scripts_written("/shop/mise.toml", &[line(false, r#"[tasks."test:drawer"]"#)]);
        assert!(items(&evidence).is_empty(), "it is gone");
        evidence.scripts_written("/shop/mise.toml", &[line(true, r#"[tasks."test:lamp"]"#)]);
        evidence.user_said("run test:lamp when you are done");
        evidence.user_said("[ ] run test:lamp\n[x] test:drawer\n> you said that test:lamp is ready now");
        assert!(evidence.new_scripts.contains(&"test:lamp".to_owned()), "that only asks for it");
        evidence.user_said("[test:lamp] $ go test ./lamp\n--- FAIL: TestLamp");
        assert!(!evidence.new_scripts.contains(&"test:lamp".to_owned()), "the user ran it");
    }

    #[test]
    fn comments_that_were_worked_on_and_not_answered() {
        let mut evidence = Evidence::default();
        evidence.command_ran("gh api repos/o/shop/pulls/7/comments", "[{}]", true, false);
        assert!(items(&evidence).is_empty(), "nothing was changed for them");
        evidence.file_changed("", true, true);
        assert_eq!(items(&evidence), ["PR comments read, not answered"]);
        evidence.command_ran("gh pr comment 7 --body Fixed", "", true, false);
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
        edited.file_changed("", true, true);
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
        let pushed = ["pushed to `cart`", "CI not looked at since"];
        assert_eq!(items(&evidence), pushed, "what passed before says nothing of it");
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
