//! Tests of how the output of commands is read: errors, complaints, and counts of tests.

use crate::extract::commands::*;

#[test]
fn a_file_that_is_named_after_hooks_is_no_hook() {
    assert!(is_environment("the commit hook of the till failed") && is_environment("husky - pre-commit hook exited"));
    assert!(is_environment(".git/hooks/pre-push: line 3: till: command failed"));
    assert!(!is_environment("src/till/hooks_till.go: the total is not used"));
    assert!(!is_environment("--- FAIL: TestTillHook_Opens"));
}

#[test]
fn the_tests_of_a_hook_are_its_error() {
    let counted = "$ bun test src/\nerror: the total is off\n 12 pass\n 3 fail\nRan 15 tests across 2 files.";
    assert_eq!(failed_tests_of_hook(counted).as_deref(), Some("12 pass, 3 fail"));
    assert_eq!(failed_tests_of_hook("$ bun test src/\nerror: the total is off").as_deref(), Some("`bun test src/`"));
    assert_eq!(failed_tests_of_hook("$ bun test src/\n 15 pass\n 0 fail\nerror: the list is unsorted"), None);
    assert_eq!(failed_tests_of_hook("fatal: no upstream"), None);
}

#[test]
fn a_command_that_waits_for_an_answer_times_out() {
    let output = "Timed out. New output:\n\nRunning the hook\nSend the report? [y/N]\n\n";
    assert!(timed_out(output) && !timed_out("The test timed out"));
    assert_eq!(error_line_of(Class::Commit, output).unwrap(), "timed out at \"Send the report? [y/N]\"");
    assert_eq!(error_line_of(Class::Test, "Timed out. New output:\n\nok 12\n").unwrap(), "timed out");
}

#[test]
fn a_subcommand_that_is_unknown_fails_behind_a_pipe() {
    let output = "error: unrecognized subcommand 'mk'\n\nUsage: wrap [OPTIONS] <COMMAND>\n";
    assert!(failed_behind_pipe("wrap make test 2>&1 | tail -20", output));
    assert!(!failed_behind_pipe("wrap make test", output), "the exit code says it");
    assert!(!failed_behind_pipe("make test 2>&1 | tail -20", "12 pass\n0 fail\n"));
}

#[test]
fn a_script_on_the_command_line_that_cannot_be_read() {
    let output = |file: &str| format!("  File \"{file}\", line 1\n    till\nIndentationError: unexpected indent");
    assert!(is_of_typed_script(&output("<string>")) && !is_of_typed_script(&output("till.py")));
}

#[test]
fn the_informative_line_of_an_error() {
    assert_eq!(
        error_line("Exit code 2\nerror: unrecognized subcommand 'bun'\n\nUsage: rtk").unwrap(),
        "error: unrecognized subcommand 'bun'"
    );
    assert_eq!(
        error_line(
            "Exit code 1\n(eval):1: can't create temp file for here document: operation not permitted\nAborting commit"
        )
        .unwrap(),
        "(eval):1: can't create temp file for here document: operation not permitted"
    );
    assert_eq!(error_line("Exit code 1"), None);
    assert_eq!(
        error_line(
            "No .till.yaml file was found\n- To silence this, run `TILL=1 git ...`\n- To allow a missing one, use -m"
        )
        .unwrap(),
        "No .till.yaml file was found"
    );
    let of_compiler = "Exit code 1\n# shop/till\nsrc/till.go:4:2: undefined: nightTill\nsrc/till.go:9:2: undefined: dayTill";
    assert_eq!(error_line_of(Class::Build, of_compiler).unwrap(), "src/till.go:4:2: undefined: nightTill");
    assert_eq!(error_line_of(Class::Build, "Exit code 1\nat 10:20:30: the till opens"), None);
    assert_eq!(
        error_line("checks....Passed\nbug: the script is from before\nrun `hooks install -f` to fix this\nPlease report it")
            .unwrap(),
        "bug: the script is from before; run `hooks install -f` to fix this"
    );
}

#[test]
fn counts_of_common_runners() {
    assert!(filters_tests("test result: ok. 1 passed; 0 failed; 3 filtered out; finished in 0.00s"));
    assert!(filters_tests(" 9 pass\n 62 filtered out") && filters_tests("= 2 passed, 5 deselected in 0.1s ="));
    assert!(!filters_tests("===== 90 passed, 4 deselected in 1.20s ====="), "the settings of the project do it");
    assert!(!filters_tests("test result: ok. 9 passed; 0 failed; 0 filtered out; finished in 0.00s"));
    let counts = |output| test_counts(output).map(|t| (t.passed, t.failed));
    assert_eq!(counts(" 1346 pass\n 114 fail\n 114 errors\n 2921 expect() calls"), Some((1346, 114)));
    assert_eq!(counts("Tests:       1 failed, 20 passed, 21 total"), Some((20, 1)));
    assert_eq!(counts("===== 3 failed, 20 passed in 1.2s ====="), Some((20, 3)));
    assert_eq!(counts("test result: ok. 4 passed; 0 failed; 0 ignored\ntest result: ok. 6 passed; 0 failed"), Some((10, 0)));
    assert_eq!(counts(" Test Files  2 passed (2)\n      Tests  20 passed (20)"), Some((20, 0)));
    assert_eq!(counts("  12 passing (3s)"), Some((12, 0)));
    assert_eq!(counts("# tests 21\n# pass 20\n# fail 1\n# skipped 0"), Some((20, 1)));
    assert_eq!(counts("ℹ pass 20\nℹ fail 0"), Some((20, 0)));
    assert_eq!(counts("Tests Passed: 260, Failed: 1, Skipped: 2, Inconclusive: 0, NotRun: 0"), Some((260, 1)));
    assert_eq!(
        counts("Passed!  - Failed:     0, Passed:    10, Skipped:     0, Total:    10, Duration: 5 ms"),
        Some((10, 0))
    );
    assert_eq!(counts("[INFO] Tests run: 12, Failures: 1, Errors: 1, Skipped: 2"), Some((8, 2)));
    assert_eq!(counts("Tests: 10, Assertions: 20, Failures: 1."), Some((9, 1)));
    assert_eq!(counts("all good"), None);
}

#[test]
fn a_run_may_fail_where_no_test_does() {
    let verdict = |output| test_counts(output).map(TestCounts::verdict).unwrap_or_default();
    assert_eq!(
        verdict(" Test Files  1 failed | 6 passed (7)\n      Tests  36 passed (36)"),
        "36 pass, 0 fail, 1 test file failed"
    );
    assert_eq!(verdict("Test Suites: 2 failed, 2 total\nTests:       1 failed, 5 passed, 6 total"), "5 pass, 1 fail");
    let exited = TestCounts { passed: 9, exited: true, ..TestCounts::default() };
    assert_eq!(exited.verdict(), "9 pass, 0 fail, exited with an error");
    assert!(!exited.is_clean());
    for (command, is_of_tests) in [
        ("cd till && pnpm test 2>&1", true),
        ("pnpm test | grep slip", false),
        ("pnpm test && pnpm deploy", false),
        ("pnpm test; ls slips", false),
    ] {
        assert_eq!(exits_with_tests(command), is_of_tests, "{command}");
    }
}

#[test]
fn a_pipe_does_not_hide_a_failure() {
    assert!(failed_behind_pipe("npm ci 2>&1 | tail -5", "npm error code EBADPLATFORM\nnpm error notsup"));
    assert!(failed_behind_pipe("go test ./... | grep -v ok", "--- FAIL: TestRead (0.01s)"));
    assert!(!failed_behind_pipe("npm ci", "npm error code EBADPLATFORM"), "its exit code is known");
    assert!(!failed_behind_pipe("cat build.txt | grep npm", "npm error code EBADPLATFORM"));
    assert!(!failed_behind_pipe("go test ./... | tail -3", "ok  \tshop/cart\t0.2s"));
}

#[test]
fn a_log_line_is_no_count_of_tests() {
    let output = " 41 pass\n 0 fail\n[14:09:00.206] [Queue] Task 2 failed: 84 |";
    assert_eq!(test_counts(output), Some(TestCounts { passed: 41, ..TestCounts::default() }));
}

#[test]
fn what_was_printed_last_is_an_error_only_if_it_says_so() {
    assert_eq!(error_line("shop 3.14\nstock 2"), None);
    assert_eq!(
        error_line("  12→  throw new Error(\"the till is locked\")\n  13\treturn error"),
        None,
        "a file, as a viewer shows it"
    );
    assert_eq!(error_line("12 | except StockError:\nThe till is locked").unwrap(), "The till is locked");
    let signing = "error: Signing file /srv/buffer\nthe agent refused the till\nfatal: failed to write commit object";
    assert_eq!(error_line(signing).unwrap(), "the agent refused the till");
}

fn complains(command: &str, output: &str, is_error: bool) -> Option<(Reason, String, String)> {
    complaint(command, output, is_error).map(|it| (it.reason, it.name, it.segment))
}

#[test]
fn complaints_are_found_whatever_the_status() {
    for (command, output, reason, name, segment) in [
        ("cd web && till 3 | tail -2", "(eval):1: command not found: till", Reason::Absent, "till", "till 3"),
        ("uv run till a; true", "error: Failed to spawn: `till`\n  no such file", Reason::Absent, "till", "uv run till a"),
        ("python3 -m till a", "python3: No module named till", Reason::Absent, "till", "python3 -m till a"),
        (
            "python3 -c 'import re, till'",
            "  import re, till\nModuleNotFoundError: No module named 'till'",
            Reason::Module,
            "till",
            "python3 -c 'import re, till'",
        ),
        (
            "ls; grep -r a --include=*.py",
            "a\n(eval):1: no matches found: --include=*.py",
            Reason::Pattern,
            "--include=*.py",
            "grep -r a --include=*.py",
        ),
        ("path=a; wc $path", "zsh:1: command not found: wc", Reason::SearchPath, "wc", "wc $path"),
    ] {
        let found = complains(command, output, false);
        assert_eq!(found, Some((reason, name.to_owned(), segment.to_owned())), "{command}");
    }
    let refused = complains("cd web && grep a b", "Use the Grep tool for content search", true);
    assert_eq!(refused, Some((Reason::Hook, "grep".to_owned(), "grep a b".to_owned())));
}

#[test]
fn what_a_file_says_is_no_complaint() {
    for (command, output) in [
        ("cat build.log", "(eval):1: command not found: till"),
        ("cat build.log", "ModuleNotFoundError: No module named 'till'"),
        ("ls *.till", "(eval):1: no matches found: *.till"),
        ("wc a", "zsh:1: command not found: wc"),
        ("cat notes.md", "Use the Grep tool for content search"),
        ("git log", "error: cannot pull with rebase: You have unstaged changes."),
        ("sh -c 'x ==y'", "(eval):1: == not found"),
    ] {
        assert_eq!(complains(command, output, false), None, "{command}: {output}");
    }
}

#[test]
fn packages_that_go_lists_as_passed() {
    let piped = "go test ./... 2>&1 | tail -5";
    assert!(passed(piped, "ok  \texample.com/till\t0.2s\nok  \texample.com/till/cart\t(cached)"));
    assert!(!passed(piped, "ok  \texample.com/till\t0.2s\nFAIL\texample.com/till/cart [build failed]"));
    assert!(!passed(piped, "it is ok"), "nobody knows");
}

#[test]
fn what_a_tool_marks_as_its_error_comes_first() {
    let output = "build: page 404 was not found\n@shop/web:deploy: \u{1b}[31m\u{2718} [ERROR]\u{1b}[0m Deployment failed!\n@shop/web:deploy: \n\
@shop/web:deploy:   The till did not answer.\n@shop/web:deploy: error: script \"deploy\" exited with code 1";
    assert_eq!(
        error_line(output).unwrap(),
        "@shop/web:deploy: \u{2718} [ERROR] Deployment failed! The till did not answer."
    );
    let long = "[ERROR] The goal of the cart cannot be reached: no such profile\n[ERROR] Help 1";
    assert_eq!(error_line(long).unwrap(), "[ERROR] The goal of the cart cannot be reached: no such profile");
    assert_eq!(error_line("\u{1b}[31merror\u{1b}[0m: no till").unwrap(), "error: no till");
}

#[test]
fn a_runner_of_packages_says_that_all_passed() {
    let piped = "bun run test 2>&1 | tail -30";
    assert!(passed(piped, "Tasks:    3 successful, 3 total\nCached:    2 cached, 3 total\n  Time:    250ms"));
    assert!(!passed(piped, "Tasks:    2 successful, 3 total\nFailed:    till#test"));
    assert!(!passed(piped, "Tasks:    0 successful, 0 total"), "nothing ran");
    assert_eq!(runs_tests("turbo run test --filter=docs"), Some(true));
}

#[test]
fn a_run_that_found_no_tests_failed() {
    assert!(prints_failure("RUN v4.0.18 /shop\n\nNo test files found, exiting with code 1\n"));
    assert!(!prints_failure("The list says: No test files found"));
}

#[test]
fn the_end_of_a_task_that_failed_is_no_error() {
    let output = "[lint] $ golangci-lint run ./...\n[lint] ERROR task failed\n\ntill/open.go:4:2: bell is not rung (bells)";
    assert_eq!(error_line_of(Class::Check, output).unwrap(), "till/open.go:4:2: bell is not rung (bells)");
}

#[test]
fn a_hook_names_the_rule_below_its_title() {
    let output = "[STARTED] Running tasks\n[FAILED] shoplint --fix [FAILED]\n\n✖ shoplint --fix:\n/srv/shop/menu.md:148 error \
                  MD040/fenced-code-language A language is missing [Context: \"```\"]\nhusky - pre-commit script failed (code 1)\n";
    let error = error_line_of(Class::Commit, output).unwrap();
    assert_eq!(error, "✖ shoplint --fix: error MD040/fenced-code-language A language is missing");
    assert!(names_rule(&error) && names_rule("E501 line too long"));
    assert!(!names_rule("src/till.ts(4,2): error TS2322: no number") && !names_rule("error: 404 not found"));
}

#[test]
fn a_hook_says_what_to_run_in_a_line_of_its_own() {
    let output = "Exit code 1\n\nThe prices changed but the menu is not staged!\n\nRun this command and stage the changes:\n\n    \
                  npm run menu\n\nTo skip this check, use: git commit --no-verify\n\nhusky - pre-commit script failed (code 1)\n";
    let error = error_line_of(Class::Commit, output).unwrap();
    assert_eq!(error, "The prices changed but the menu is not staged!; run `npm run menu`");
    assert!(has_advice(&error) && is_advised(&error, "`npm run menu`") && !is_advised(&error, "`git rm till.md`"));
}

#[test]
fn a_linter_behind_a_task_names_the_place_and_the_fault() {
    let output = "[lint:go] $ shoplint\n[lint:go] till/open.go:4:2: Get returns interface (ireturn)\n[lint:go] func Get() (Till, error) {\n";
    assert_eq!(error_line_of(Class::Check, output).unwrap(), "till/open.go:4:2: Get returns interface (ireturn)");
}

#[test]
fn a_complaint_shows_that_a_piped_command_did_not_pass() {
    assert!(!passed("till close 2>&1 | head -5", "error: could not write the slip"));
    assert!(passed("till close 2>&1 | head -5", "closed\nerror: of yesterday"));
    assert!(passed("till close", "error: of yesterday"), "its status says it");
}

#[test]
fn tests_whose_preparation_failed_are_failures() {
    let counts = test_counts("== 1074 passed, 1 warning, 79 errors in 12.01s ==").unwrap();
    assert_eq!((counts.passed, counts.failed), (1074, 79));
    assert_eq!(test_counts("2 failed, 9 passed, 1 error in 1s").unwrap().failed, 3);
    assert_eq!(test_counts("3 errors, 0 warnings"), None);
}

#[test]
fn errors_that_are_mended_or_suppressed_do_not_count() {
    for (command, output, reports) in [
        ("ruff check --fix . | tail -3", "Found 3 errors (3 fixed, 0 remaining).", false),
        ("ruff check --fix . | tail -3", "Found 3 errors (2 fixed, 1 remaining).", true),
        ("ruff check . | tail -3", "Found 3 errors.", true),
        ("npm run lint:fix | tail -3", "3 errors were fixed", false),
        ("npm run build | tail -3", "2 errors suppressed by baseline", false),
        ("npm run lint 2>&1 | tail -5; git stash pop", "✖ 4 problems (1 error, 3 warnings)", true),
        ("npm run lint; git log | head -5", "✖ 4 problems (1 error, 3 warnings)", false),
    ] {
        assert_eq!(reports_errors(command, output), reports, "{command}: {output}");
    }
}
