//! Whether a command failed or passed, judged by what it printed, and the tests that it counted.

use super::class::Class;
use super::class::checking;
use super::class::class;
use super::class::class_of;
use super::class::does_one_thing;
use super::class::main_segment;
use super::class::mends;
use super::error::contains_sign;
use super::error::is_definite_error;
use super::shell::segments;
use crate::text;
use serde::Deserialize;
use serde::Serialize;

/// Returns whether the output reports a failure although the command claims success.
pub(crate) fn output_reports_failure(class: Class, output: &str) -> bool {
    match class {
        Class::Commit => {
            !output.contains("] ") && text::contains_any(output, COMMIT_FAILURE_SIGNS)
                || output.contains("FAILED: git commit")
                || output.contains("pre-commit script failed")
        }
        Class::Test => test_counts(output).is_some_and(|counts| counts.failed > 0),
        Class::Publish => {
            output.contains("! [rejected]") || output.contains("error: failed to push") || output.contains("fatal:")
        }
        _ => false,
    }
}

const COMMIT_FAILURE_SIGNS: &[&str] = &[
    "FAILED",
    "nothing to commit",
    "no changes added to commit",
    "Aborting commit",
    "fatal:",
    "error:",
    "hook failed",
    "script failed",
    "husky - ",
];

/// Returns whether the command line pipes what it is about into another command, which hides its exit code.
fn is_piped(command: &str) -> bool {
    is_piped_behind(command, main_segment(command))
}

fn is_piped_behind(command: &str, segment: &str) -> bool {
    let after = command.find(segment).map_or("", |at| &command[at + segment.len()..]).trim_start();
    after.starts_with('|') && !after.starts_with("||")
}

/// Openings of lines in which a tool says that it failed itself. Logs of the code under test do not begin so.
const OWN_FAILURES: &[&str] = &[
    "npm error",
    "npm ERR!",
    "error: script",
    "error: Recipe",
    "error: could not compile",
    "make: ***",
    "ELIFECYCLE",
    "fatal:",
    "--- FAIL",
    "FAIL\t",
    "error TS",
    "error[E",
    "No test files found",
    "No tests found, exiting with code 1",
];

/// Openings of lines in which compilers, bundlers and linters say at the end that they failed.
const BUILD_FAILURES: &[&str] = &[
    "Failed to compile",
    "> Build error occurred",
    "error during build",
    "Build failed",
    "BUILD FAILED",
    "** BUILD FAILED",
    "BUILD FAILURE",
    "Build FAILED",
    "FAILURE: Build failed",
    "error: build failed",
    "error: aborting due to",
];

/// Returns whether a line of the output says that the tool failed.
pub(crate) fn prints_failure(output: &str) -> bool {
    let output = text::without_codes(text::tail(output, 8 * 1024));
    output.lines().any(|line| OWN_FAILURES.iter().any(|opening| line.trim().starts_with(opening)))
}

/// Returns whether a build or a linter says in its output that it failed, or counts its errors, while a pipe hides its exit code.
pub(crate) fn reports_errors(command: &str, output: &str) -> bool {
    if !checking(command).any(|check| is_piped_behind(command, check)) {
        return false;
    }
    let (output, mends) = (text::without_codes(text::tail(output, 8 * 1024)), mends(command));
    output.lines().map(str::trim).any(|line| {
        // Maven's own mark.
        let said = ["[INFO] ", "[ERROR] "].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line);
        BUILD_FAILURES.iter().any(|opening| said.starts_with(opening))
            || line.contains("): error TS")
            || counts_errors(said, mends)
    })
}

/// Returns whether a line is a count of errors that is not zero: "Found 3 errors in 2 files", "✖ 4 problems (1 error, 3 warnings)",
/// "3 errors, 0 warnings". Of errors that are mended or that nobody wants to see, only those count that are said to remain, as of a run that
/// mends what it finds (`mends`).
fn counts_errors(line: &str, mends: bool) -> bool {
    let opens = line.starts_with("Found ") || line.starts_with('✖') || line.starts_with(|c: char| c.is_ascii_digit());
    let words: Vec<&str> = line.split([' ', ',', '(', ')', '.']).filter(|word| !word.is_empty()).collect();
    let has = |named: &[&str]| words.iter().any(|word| named.contains(word));
    let named: &[&str] = if mends || has(&["fixed", "suppressed"]) { &["remaining"] } else { &["error", "errors"] };
    let is_count = |pair: &[&str]| pair[0].parse().is_ok_and(|n: u32| n > 0) && named.contains(&pair[1]);
    opens && words.len() <= 12 && words.windows(2).any(is_count)
}

/// Returns whether the output shows that a command failed whose exit code a pipe hides.
pub(crate) fn failed_behind_pipe(command: &str, output: &str) -> bool {
    let is_run = matches!(
        class(command),
        Class::Test | Class::Check | Class::Build | Class::Install | Class::Commit | Class::Publish
    );
    is_run && is_piped(command) && (prints_failure(output) || was_not_understood(output))
}

/// The length up to which an output is nothing but a complaint, in bytes.
const MAX_COMPLAINT_BYTES: usize = 600;

/// Returns whether a short output begins or ends with the complaint that a program or a subcommand is unknown.
fn was_not_understood(output: &str) -> bool {
    let mut lines = output.trim().lines();
    let (first, last) = (lines.next().unwrap_or_default(), lines.next_back().unwrap_or_default());
    // Another command on the line may have printed something before.
    output.len() <= MAX_COMPLAINT_BYTES && [first, last].iter().any(|line| contains_sign(line, &[]))
}

/// Returns whether the tool that runs commands gave up waiting.
pub(crate) fn timed_out(output: &str) -> bool {
    let output = output.trim_start();
    output.starts_with("Timed out") || output.starts_with("Command timed out")
}

/// Returns whether the tool that runs commands says before the output that the command failed.
pub(crate) fn exited_with_failure(output: &str) -> bool {
    let code = output.trim_start().strip_prefix("Exited with code ");
    code.is_some_and(|code| code.starts_with(|c: char| matches!(c, '1'..='9')))
}

/// Returns whether the tool that runs commands only started the command: what it prints comes later.
pub(crate) fn runs_in_background(output: &str) -> bool {
    output.trim_start().starts_with("Command running in background")
}

/// Returns whether no test was found that has the name that was asked for, in any package that the output names.
pub(crate) fn found_no_tests(output: &str) -> bool {
    const SIGN: &str = "no tests to run";
    let mut packages = output.lines().filter(|line| line.trim_start().starts_with("ok "));
    output.contains(SIGN) && packages.all(|line| line.contains(SIGN))
}

/// Returns whether the hook of a commit printed what it checked.
pub(crate) fn hook_reports(command: &str, output: &str) -> bool {
    const SIGNS: [&str; 8] = ["Passed", "$ ", "husky", "lint-staged", "lefthook", "pre-commit", "✔", "✓"];
    class(command) == Class::Commit && text::contains_any(output, &SIGNS)
}

/// Returns whether the command certainly passed. A pipe hides its exit code.
pub(crate) fn passed(command: &str, output: &str) -> bool {
    let class = class(command);
    if !is_piped(command) || class == Class::Inspect {
        return true;
    }
    match class {
        // What such a program prints may be anything, but only a complaint begins so.
        Class::Other => !output.lines().next().is_some_and(|line| is_definite_error(line.trim())),
        Class::Test => match test_counts(output) {
            Some(counts) => counts.passed > 0 && counts.is_clean(),
            None => lists_passed_packages(output) || all_tasks_passed(output),
        },
        _ => !output.lines().any(|line| is_definite_error(line.trim()) || ends_failed_task(line)),
    }
}

/// Returns whether a line is the last one of a task that failed, behind the task's name: mise prints it.
fn ends_failed_task(line: &str) -> bool {
    line.trim_end().ends_with("] ERROR task failed")
}

/// Returns whether the output has a line of Go's list of tested packages.
pub(crate) fn lists_packages(output: &str) -> bool {
    let is_package = |line: &str| ["ok  \t", "FAIL\t"].iter().any(|opening| line.trim_start().starts_with(opening));
    text::tail(output, 32 * 1024).lines().any(is_package)
}

/// Returns whether the output is Go's list of tested packages, and none failed: it counts no tests.
pub(crate) fn lists_passed_packages(output: &str) -> bool {
    let is_passed = |line: &str| {
        let mut parts = line.split('\t').map(str::trim);
        let (verdict, package, time) = (parts.next(), parts.next(), parts.next());
        verdict == Some("ok")
            && package.is_some_and(|it| !it.is_empty())
            && time.is_some_and(|it| it == "(cached)" || it.contains('s'))
    };
    let fails = |line: &str| ["FAIL", "--- FAIL", "panic:", "exit status"].iter().any(|sign| line.starts_with(sign));
    let mut lines = text::tail(output, 32 * 1024).lines().map(str::trim);
    lines.clone().any(is_passed) && !lines.any(fails)
}

/// Returns whether the output ends with the count of a runner that starts one task for each package, and all passed: "Tasks: 3 successful, 3
/// total".
fn all_tasks_passed(output: &str) -> bool {
    let all = |line: &str| -> Option<bool> {
        let (passed, total) = line.trim().strip_prefix("Tasks:")?.split_once(" successful, ")?;
        let passed = passed.trim();
        Some(passed != "0" && total.split_whitespace().next() == Some(passed))
    };
    text::tail(output, 2 * 1024).lines().rev().find_map(all) == Some(true)
}

/// The counts of a test run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TestCounts {
    /// Tests that passed.
    pub passed: u32,
    /// Tests that failed.
    pub failed: u32,
    /// Files of tests that failed, be it before a test of them ran.
    #[serde(default)]
    pub failed_files: u32,
    /// Whether the run ended with an error, whatever it counted.
    #[serde(default)]
    pub exited: bool,
}

impl TestCounts {
    /// Returns how many tests ran.
    pub(crate) fn total(self) -> u32 {
        self.passed.saturating_add(self.failed)
    }

    /// Returns whether nothing failed.
    pub(crate) fn is_clean(self) -> bool {
        self.failed == 0 && self.failed_files == 0 && !self.exited
    }

    /// Formats the counts, with what failed apart from the tests if no test did.
    pub(crate) fn verdict(self) -> String {
        let counts = format!("{} pass, {} fail", self.passed, self.failed);
        match self {
            _ if self.is_clean() || self.failed > 0 => counts,
            Self { failed_files: 0, .. } => format!("{counts}, exited with an error"),
            Self { failed_files: 1, .. } => format!("{counts}, 1 test file failed"),
            Self { failed_files, .. } => format!("{counts}, {failed_files} test files failed"),
        }
    }
}

/// Returns whether the exit code of a command line is that of a run of tests: nothing else in it may have failed.
pub(crate) fn exits_with_tests(command: &str) -> bool {
    let is_last = segments(command).last().is_some_and(|last| class_of(last) == Class::Test);
    is_last && does_one_thing(command) && !is_piped(command)
}

/// Returns whether what a command line counts are tests: it is told to test, build, check or commit, or the output speaks of tests where it
/// counts. An audit counts, too.
pub(crate) fn counts_tests(command: &str, output: &str) -> bool {
    const TESTS: [&str; 4] = ["test", "spec", "suite", "expect()"];
    match class(command) {
        Class::Inspect => false,
        Class::Other => {
            let is_named = |said: &str| text::contains_any(&said.to_lowercase(), &TESTS);
            let counted = || text::tail(output, 32 * 1024).lines().filter(|line| counts_of(line.trim()).is_some());
            is_named(command) || counted().any(is_named)
        }
        _ => true,
    }
}

/// Returns the counts of the last test run in an output. If one run has several suites (cargo), returns their sum.
pub(crate) fn test_counts(output: &str) -> Option<TestCounts> {
    let mut found: Option<TestCounts> = None;
    let mut cargo: Option<TestCounts> = None;
    let mut failed_files = 0;
    for line in text::tail(output, 32 * 1024).lines() {
        let line = line.trim().trim_start_matches(['=', ' ']);
        if let Some(rest) = line.strip_prefix("test result:") {
            let counts = counts_of(rest).unwrap_or_default();
            let sum = cargo.get_or_insert_default();
            sum.passed += counts.passed;
            sum.failed += counts.failed;
            continue;
        }
        let Some(counts) = counts_of(line) else {
            continue;
        };
        if line.starts_with("Test Suites") || line.starts_with("Test Files") || line.starts_with("Suites") {
            failed_files = counts.failed;
            continue;
        }
        // Runners such as bun report passed and failed tests on separate lines.
        match &mut found {
            Some(TestCounts { passed, failed: 0, .. }) if *passed > 0 && counts.passed == 0 => {
                found = Some(TestCounts { passed: *passed, ..counts });
            }
            _ => found = Some(counts),
        }
    }
    cargo.or(found.map(|counts| TestCounts { failed_files, ..counts }))
}

/// Returns whether a run of tests says that it left many out because of a filter: cargo, bun and pytest print how many. A few are left out
/// of each run by the settings of the project.
pub(crate) fn filters_tests(output: &str) -> bool {
    // How many of those that ran stand for one that was left out.
    const MIN_RUN: u32 = 4;
    let left_out = |line: &str| {
        let words: Vec<&str> = line.split([' ', ',', ';', '=']).filter(|word| !word.is_empty()).collect();
        let count = |names: &[&str]| -> u32 {
            words.windows(2).filter(|pair| names.contains(&pair[1])).filter_map(|pair| pair[0].parse::<u32>().ok()).sum()
        };
        count(&["filtered", "deselected"]).saturating_mul(MIN_RUN) > count(&["passed", "failed"])
    };
    let is_summary = |line: &&str| {
        line.contains("test result:") || line.contains(" deselected") || line.trim_end().ends_with(" filtered out")
    };
    text::tail(output, 32 * 1024).lines().filter(is_summary).any(left_out)
}

/// Reads the numbers behind labels: "Tests Passed: 20, Failed: 0, Skipped: 1" (Pester), "Failed: 0, Passed: 20" (dotnet),
/// "Tests run: 20, Failures: 0, Errors: 0" (Maven), "Tests: 20, Assertions: 31, Failures: 1." (`PHPUnit`).
fn labelled_counts(line: &str) -> Option<TestCounts> {
    let (mut total, mut passed, mut failed, mut skipped) = (None, None, None, 0_u32);
    for part in line.split([',', ';']) {
        let Some((label, number)) = part.rsplit_once(':') else { continue };
        let Ok(number) = number.trim().trim_end_matches('.').parse::<u32>() else { continue };
        match label.split_whitespace().last().unwrap_or_default().to_ascii_lowercase().as_str() {
            "run" | "tests" | "total" => total = Some(number),
            "passed" => passed = Some(number),
            "failed" | "failures" | "errors" => failed = Some(number.saturating_add(failed.unwrap_or_default())),
            "skipped" => skipped = number,
            _ => {}
        }
    }
    let failed = failed?;
    let passed = passed.or_else(|| total?.checked_sub(failed)?.checked_sub(skipped))?;
    Some(TestCounts { passed, failed, ..TestCounts::default() })
}

/// Reads a line of the counts of node's own runner: "# pass 20", "ℹ fail 0".
fn node_counts(line: &str) -> Option<TestCounts> {
    let (verdict, number) = line.strip_prefix(['#', 'ℹ'])?.trim().split_once(' ')?;
    let number = number.parse().ok()?;
    match verdict {
        "pass" => Some(TestCounts { passed: number, ..TestCounts::default() }),
        "fail" => Some(TestCounts { failed: number, ..TestCounts::default() }),
        _ => None,
    }
}

/// Reads the numbers before `pass…` and `fail…` from a line that is short enough to be a summary.
fn counts_of(line: &str) -> Option<TestCounts> {
    // Maven's own mark. Another line with brackets or its time before it is a log of the code under test.
    let line = ["[INFO] ", "[ERROR] ", "[WARNING] "].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line);
    if line.starts_with('[') {
        return None;
    }
    if let Some(counts) = node_counts(line) {
        return Some(counts);
    }
    let first = line.split(|c: char| !c.is_ascii_alphanumeric()).find(|word| !word.is_empty())?;
    let opens = first.bytes().all(|byte| byte.is_ascii_digit())
        || matches!(first, "Tests" | "Test" | "ok" | "FAILED" | "Failed" | "Passed" | "Ran" | "Results");
    if !opens || line.len() > 160 || !line.as_bytes().iter().any(u8::is_ascii_digit) {
        return None;
    }
    if let Some(counts) = labelled_counts(line) {
        return Some(counts);
    }
    let mut counts = None::<TestCounts>;
    let mut number = None;
    let mut errors = 0;
    for word in line.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')' | '|' | '.' | ':')) {
        if word.is_empty() {
            continue;
        }
        if let Ok(value) = word.parse::<u32>() {
            number = Some(value);
            continue;
        }
        let word = word.to_ascii_lowercase();
        match (number.take(), word.as_str()) {
            (Some(n), "pass" | "passed" | "passing") => counts.get_or_insert_default().passed = n,
            (Some(n), "fail" | "failed" | "failing" | "failures") => {
                counts.get_or_insert_default().failed = n;
            }
            // pytest: tests whose preparation failed.
            (Some(n), "error" | "errors") => errors = n,
            (n, "tests" | "test") => number = n,
            _ => {}
        }
    }
    counts.map(|counts| TestCounts { failed: counts.failed.saturating_add(errors), ..counts })
}
