//! Tests of failures and their cures.

use super::cure::command_with_folder;
use super::display::is_whole;
use super::*;
use crate::extract::labels::{Labels, labels};
use proptest::prelude::*;

#[test]
fn the_same_failure_has_the_same_text_in_every_run() {
    for (text, same) in [
        ("(fail) Events > RawEvent [3.22ms]", "(fail) Events > RawEvent"),
        ("`rm -rf tmp/clones/agents-eval-eqYk1k`", "`rm -rf tmp/clones/agents-eval-…`"),
        ("left in tmp/clones/agents-eval-DtKspd/.", "left in tmp/clones/agents-eval-…/."),
        ("src/engine.ts(217,6): error TS2322: no", "src/engine.ts: error TS2322: no"),
        ("src/main.rs:12:5 is at 1a2b3c4d", "src/main.rs is at …"),
        (
            "useEffect in RemediateTab.tsx needs base64 on port 3000",
            "useEffect in RemediateTab.tsx needs base64 on port 3000",
        ),
    ] {
        assert_eq!(normalize(text), same);
    }
}

/// Records a command that failed. Returns what cured the failure before it.
fn fail(failures: &mut Failures, command: &str, error: &str) -> Option<String> {
    let cure = failures.command_failed(command, error, &LineRef::default(), 1, english());
    cure.map(|cure| cure.content)
}

fn cured(error: &str, edited: bool, failed: &str, passed: &str) -> Option<String> {
    let mut failures = Failures::default();
    fail(&mut failures, failed, error);
    if edited {
        failures.file_changed("src/cart.ts");
    }
    let cures = failures.command_passed(passed, english());
    cures.into_iter().next().map(|cure| cure.content)
}

#[test]
fn what_passes_otherwise_without_an_edit_is_cured_by_its_command() {
    let (failed, error) = ("shopctl orders --json", "invalid order \"--json\"");
    assert_eq!(
        cured(error, false, failed, "shopctl --json orders").unwrap(),
        "`shopctl orders --json` fails: invalid order \"--json\". Fixed by: `shopctl --json orders`"
    );
    assert_eq!(cured(error, true, failed, "shopctl --json orders"), None, "the code may have been at fault");
    assert_eq!(cured(error, false, failed, failed), None, "nothing says what was different");
}

#[test]
fn what_another_machine_ran_is_no_form_of_what_failed_there() {
    let (failed, error) = ("ssh till \"drawer restart\"", "error: the drawer is open");
    let cure = |passed| cured(error, false, failed, passed);
    assert_eq!(cure("ssh till \"drawer start\""), None);
    assert_eq!(cure("ssh till \"ls /srv/drawer\""), None);
    assert!(cure("ssh till \"drawer restart --force\"").is_some());
}

#[test]
fn a_variable_that_shows_more_cures_nothing() {
    let (failed, error) = ("shopctl orders", "error: could not write the slip");
    assert_eq!(cured(error, false, failed, "SHOP_TRACE=1 shopctl orders"), None);
    assert!(cured(error, false, failed, "SHOP_DIR=/srv shopctl orders").is_some());
}

#[test]
fn a_cure_has_what_changed_something_before_it_on_its_line() {
    let (failed, error) = ("git rebase origin/main", "error: Unable to create '.git/index.lock': File exists.");
    assert_eq!(
        cured(error, false, failed, "rm -f .git/index.lock && git rebase --continue").unwrap(),
        format!("`{failed}` fails: {error} Fixed by: `rm -f .git/index.lock && git rebase --continue`")
    );
    let (failed, error) = ("shopctl orders --json", "invalid order \"--json\"");
    assert_eq!(
        cured(error, false, failed, "git status && shopctl --json orders").unwrap(),
        format!("`{failed}` fails: {error}. Fixed by: `shopctl --json orders`"),
        "looking cures nothing"
    );
    assert_eq!(
        cured(error, false, failed, "sed -i 's/old/new/' till.toml && shopctl --json orders").unwrap(),
        format!("`{failed}` fails: {error}. Fixed by: `shopctl --json orders`"),
        "an edit is the session's own"
    );
}

#[test]
fn a_line_that_the_shell_cannot_read_is_a_slip() {
    assert_eq!(cured("(eval):1: parse error near `time'", false, "TILL=1 time ./till help", "TILL=1 ./till help"), None);
}

#[test]
fn of_several_changed_files_the_named_one_is_the_cure() {
    let told = |files: &[&str]| {
        let mut failures = Failures::default();
        fail(&mut failures, "npm run lint", "till/open.ts useExhaustiveDependencies");
        failures.agent_said("The linter fails because `useEffect` must not depend on `tabs`.");
        for file in files {
            failures.file_changed(file);
        }
        failures.command_passed("npm run lint", english()).pop().map(|cure| cure.content)
    };
    let cure = "Fixed by: a change of `till/open.ts`";
    assert!(told(&["till/open.ts"]).unwrap().ends_with(cure));
    assert!(told(&["cart/main.ts", "till/open.ts"]).unwrap().ends_with(cure), "the error names it");
    assert_eq!(told(&["cart/main.ts", "cart/open.ts"]), None, "the error names another file of that name");
    assert!(told(&["a.ts", "b.ts", "c.ts", "till/open.ts"]).unwrap().ends_with(cure));
    let named_by_cause = |files: &[&str]| {
        let mut failures = Failures::default();
        fail(&mut failures, "npm run lint", "Some packages break the rule");
        failures.agent_said("The linter fails because every `package.json` must not name `till`.");
        for file in files {
            failures.file_changed(file);
        }
        failures.command_passed("npm run lint", english()).pop().map(|cure| cure.content)
    };
    assert!(named_by_cause(&["a.ts", "till/package.json"]).unwrap().ends_with("a change of `till/package.json`"));
    let told = named_by_cause(&["cart/package.json", "till/package.json"]);
    assert!(told.is_none_or(|told| !told.contains("a change of")), "several have that name");
}

#[test]
fn a_rule_of_the_linter_is_told_whatever_its_finding_is_called() {
    let told = |said: &str| {
        let mut failures = Failures::default();
        fail(&mut failures, "npm run lint", "till/open.go:4:2: error is not wrapped (wrapcheck)");
        failures.agent_said(said);
        failures.file_changed("till/open.go");
        failures.command_passed("npm run lint", english()).pop()
    };
    assert!(told("The linter requires wrapping errors from external packages.").is_some());
    assert_eq!(told("The linter fails because `till` is unused in `till/open.go`."), None);
}

#[test]
fn what_one_check_lets_pass_is_told_once_the_other_passes() {
    let told = |between: Option<&str>, (first, second): (&str, &str)| {
        let mut failures = Failures::default();
        failures.command_passed(first, english());
        if let Some(file) = between {
            failures.file_changed(file);
        }
        fail(&mut failures, second, "--- FAIL: TestNightTill (0.1s)");
        failures.file_changed("till/night.go");
        let told: Vec<String> =
            failures.command_passed(second, english()).into_iter().map(|memory| memory.content).collect();
        told.into_iter().find(|told| told.contains("can pass while"))
    };
    let checks = ("mise run test", "mise run test:integration");
    let mut by_chance = Failures::default();
    by_chance.command_passed(checks.0, english());
    fail(&mut by_chance, checks.1, "--- FAIL: TestNightTill (0.1s)");
    assert!(by_chance.command_passed(checks.1, english()).iter().all(|memory| !memory.content.contains("can pass while")));
    assert_eq!(told(None, checks).unwrap(), "`mise run test` can pass while `mise run test:integration` fails: run both");
    assert_eq!(told(Some("till/main.go"), checks), None, "the change may be at fault");
    let after = |between: fn(&mut Failures)| {
        let mut failures = Failures::default();
        failures.command_passed(checks.0, english());
        between(&mut failures);
        fail(&mut failures, checks.1, "--- FAIL: TestNightTill (0.1s)");
        failures.file_changed("till/night.go");
        failures.command_passed(checks.1, english()).iter().any(|memory| memory.content.contains("can pass while"))
    };
    assert!(after(|_| ()));
    assert!(!after(|failures| failures.runs_in("packages/till")), "another package's script");
    assert!(!after(|failures| _ = failures.prompted("try again")), "the user may have changed something");
    assert!(!after(|failures| {
        let ran = ("python3 tools/rename.py", "");
        _ = failures.command_ran(ran.0, ran.1, (false, false), &LineRef::default(), english());
    }));
    assert!(told(None, ("golangci-lint run", "go test -tags=e2e -c ./till/... -o /dev/null")).is_some());
    for checks in [
        ("mise run test", "mise run test"),
        ("mise run lint", "mise run test"),
        ("go test ./till -run TestNight", "mise run test:integration"),
        ("cd web && npm run test", "npm run test:e2e"),
        ("npm remove vitest", "npx vitest run"),
        ("pytest tests/till", "pytest tests/cart"),
        ("npm run test --workspace=till", "npm run test:e2e"),
        ("go test ./till/...", "mise run test:integration"),
        ("pnpm --filter till test", "pnpm test:e2e"),
        ("mise run test", "mise run lint && mise run test:ci"),
        ("npm run test", "cd web && npm run test:e2e"),
    ] {
        assert_eq!(told(None, checks), None, "{checks:?}");
    }
}

/// Returns what is known of surprises after these commands, each with what it printed.
fn surprised(ran: &[(&str, &str)]) -> Vec<String> {
    let mut failures = Failures::default();
    let mut told = Vec::new();
    for (command, output) in ran {
        let is_error = output.starts_with("error");
        let (known, _) = failures.command_ran(command, output, (is_error, is_error), &LineRef::default(), english());
        told.extend(known.into_iter().map(|memory| memory.content));
    }
    told.extend(failures.drafts(english()).map(|draft| draft.content));
    told
}

#[test]
fn code_behind_a_build_tag_is_told_with_the_tag() {
    let none = "go: warning: \"./till/night/...\" matched no packages";
    let tagged = "go test -tags=night ./till/night/...";
    assert_eq!(
        surprised(&[("go test ./till/night/... 2>&1 | tail -5", none), (tagged, "ok  \ttill/night\t0.1s")]),
        [format!("`go test ./till/night/...` fails: {none}. Fixed by: `{tagged}`")]
    );
    let nothing = "ok  \ttill\t0.1s [no tests to run]";
    let picked = "go test -tags night ./till/... -run TestNight";
    assert_eq!(
        surprised(&[("go test ./till/... -run TestNight", nothing), (picked, "ok  \ttill/night\t0.1s")]),
        [format!("`go test ./till/... -run TestNight` fails: no tests to run. Fixed by: `{picked}`")]
    );
    let some = "ok  \tcart\t0.1s\nok  \ttill\t0.1s [no tests to run]";
    assert_eq!(surprised(&[("go test ./... -run TestNight", some), (picked, "ok")]), [""; 0], "a test ran");
    assert_eq!(surprised(&[("go test ./... -run TestDay", nothing), (picked, "ok")]), [""; 0], "it picks another test");
}

#[test]
fn a_log_without_lines_is_told_with_the_other_way_to_it() {
    let (asked, log) = ("gh run view 123 --log-failed | tail -50", "gh api repos/shop/till/actions/jobs/456/logs | tail");
    assert_eq!(
        surprised(&[(asked, ""), (log, "1 failed")]),
        ["`gh run view --log-failed` may print nothing. Fixed by: `gh api repos/shop/till/actions/jobs/ID/logs`"]
    );
    assert_eq!(surprised(&[(asked, ""), (log, "")]), [""; 0]);
    assert_eq!(surprised(&[(asked, "1 failed"), (log, "1 failed")]), [""; 0]);
    assert_eq!(surprised(&[("gh run view 123 --log | grep till", ""), (log, "1 failed")]), [""; 0]);
    assert_eq!(surprised(&[("gh run view 123 --log > till.log 2>&1", ""), (log, "1 failed")]), [""; 0]);
}

#[test]
fn a_label_that_does_not_exist_is_told() {
    let create = "gh pr create --title \"Sort the drawer\" --label docs --body \"\"";
    let error = "error: could not add label: 'docs' not found";
    assert_eq!(surprised(&[(create, error)]), [format!("`gh pr create` fails: {error}")]);
    assert_eq!(surprised(&[(create, error), ("gh label create docs", "")]), [""; 0]);
}

#[test]
fn the_right_way_to_build_is_a_cure() {
    let (failed, error) = ("go build -tags night ./till/night/...", "undefined: nightTill");
    let right = "go test -tags night -c ./till/night/... -o /dev/null 2>&1";
    assert_eq!(
        cured(error, false, failed, right).unwrap(),
        format!("`{failed}` fails: {error}. Fixed by: `{}`", right.trim_end_matches(" 2>&1"))
    );
    assert_eq!(cured(error, true, failed, right), None, "the change mended it");
    assert_eq!(cured(error, false, failed, "go test -c ./till/day/..."), None, "it builds something else");
}

#[test]
fn what_is_printed_on_success_too_is_no_error() {
    let told = |printed: &str| {
        let mut failures = Failures::default();
        fail(&mut failures, "shopctl deploy", "08:06:27 no route for the page 404");
        failures.step("`shopctl setup --project shop`");
        failures.printed_on_success("shopctl deploy", printed);
        failures.command_passed("shopctl deploy", english()).pop().map(|cure| cure.content)
    };
    assert_eq!(
        told("building\n  09:12:01 no route for the page 404\ndone").unwrap(),
        "`shopctl deploy` fails. Fixed by: `shopctl setup --project shop`"
    );
    assert_eq!(
        told("done").unwrap(),
        "`shopctl deploy` fails: 08:06:27 no route for the page 404. Fixed by: `shopctl setup --project shop`"
    );
}

#[test]
fn another_error_without_an_edit_means_that_the_first_was_mended() {
    let mut failures = Failures::default();
    assert_eq!(fail(&mut failures, "shopctl start", "You must name a project"), None);
    failures.step("`shopctl setup --project shop`");
    assert_eq!(
        fail(&mut failures, "shopctl start", "The till did not answer").unwrap(),
        "`shopctl start` fails: You must name a project. Fixed by: `shopctl setup --project shop`"
    );
    failures.file_changed("src/till.ts");
    failures.step("`shopctl setup --till 2`");
    assert_eq!(fail(&mut failures, "shopctl start", "The till is locked"), None, "the code may have been at fault");
}

#[test]
fn what_the_user_chose_is_no_cure_if_it_fails_as_well() {
    let mut failures = Failures::default();
    fail(&mut failures, "shopctl close", "You must wait for the night");
    failures.step("\"With --later\"");
    assert_eq!(fail(&mut failures, "shopctl close --later", "The shop does not allow to wait"), None);
    assert!(failures.has_failed_with("shopctl close --force", "--later"));
    assert!(!failures.has_failed_with("shopctl close --force", "--force"));
    let cures = failures.command_passed("shopctl close --force", english());
    assert!(cures.iter().all(|cure| !cure.content.contains("With --later")), "{cures:?}");
}

#[test]
fn a_repository_that_moved_is_told_with_its_new_address() {
    let told = |output: &str| {
        let mut failures = Failures::default();
        let (known, _) = failures.command_ran("git push", output, (false, false), &LineRef::default(), english());
        known.into_iter().map(|memory| memory.content).collect::<Vec<_>>()
    };
    let moved = "remote: This repository moved. Please use the new location:        \nremote:   git@example.com:new/shop.git        \n";
    assert_eq!(
        told(moved),
        ["The remote repository moved to `git@example.com:new/shop.git`: the remote's address here is the old one"]
    );
    assert!(told("remote: This repository moved. Please use the new location:\nremote: ask the owner\n").is_empty());
}

#[test]
fn a_look_is_no_cure() {
    let mut failures = Failures::default();
    fail(&mut failures, "shopctl start", "could not connect to the till");
    for step in ["`curl -s localhost:3000/health`", "`git status --short`"] {
        failures.step(step);
    }
    assert!(failures.command_passed("shopctl start", english()).iter().all(|cure| !cure.content.contains("Fixed by")));
    fail(&mut failures, "shopctl start", "could not connect to the till");
    failures.step("`curl -X POST localhost:3000/start`");
    assert_eq!(failures.command_passed("shopctl start", english()).len(), 1, "that starts something");
}

#[test]
fn a_file_that_stands_elsewhere_is_read_from_there() {
    let mut failures = Failures::default();
    let told = |failures: &mut Failures, command: &str| {
        failures.command_reached(command, "", english()).pop().map(|cure| cure.content)
    };
    fail(&mut failures, "source .venv/bin/activate && pytest till", "bash: .venv/bin/activate: No such file or directory");
    assert_eq!(told(&mut failures, "source .venv/bin/activate && pytest"), None);
    let cure = told(&mut failures, "source venv/bin/activate && pytest till -x").unwrap();
    assert!(cure.ends_with("No such file or directory. Fixed by: `source venv/bin/activate`"), "{cure}");
}

#[test]
fn what_is_only_printed_otherwise_cures_nothing() {
    let error = "ModuleNotFoundError: No module named 'till'";
    let cure = cured(error, false, "pytest till -x --tb=short", "pip install -e . && pytest till -v --tb=long").unwrap();
    assert!(cure.ends_with("Fixed by: `pip install -e .`"), "{cure}");
    assert_eq!(cured(error, false, "pytest till -x", "pytest till -v"), None);
    let mut failures = Failures::default();
    fail(&mut failures, "pytest till", error);
    failures.agent_said("Tests fail as expected because the new class does not exist yet.");
    assert!(failures.command_passed("pytest till", english()).is_empty(), "that was to be");
}

#[test]
fn what_was_missing_is_brought_by_the_last_step_alone() {
    let cure = |steps: &[&str]| {
        let mut failures = Failures::default();
        fail(&mut failures, "make test", "make: *** till: command not found");
        for step in steps {
            failures.step(step);
        }
        failures.command_passed("make test", english()).pop().map(|cure| cure.content).unwrap_or_default()
    };
    let told = "Fixed by: `npm install till`";
    assert!(cure(&["`npm install till`", "`npm list till`"]).ends_with(told));
    for steps in [
        &["`cargo install --path cli`", "`npm install till`", "`npm uninstall till`"][..],
        &["`cargo install --path cli`", "`docker compose create till`"],
    ] {
        let cure = cure(steps);
        assert!(!cure.ends_with(told) && !cure.ends_with("Fixed by: `docker compose create till`"), "{cure}");
    }
}

#[test]
fn a_build_cures_what_was_not_found() {
    let cure = |error: &str| {
        let mut failures = Failures::default();
        fail(&mut failures, "bun run --filter @shop/till test", error);
        failures.step("`bun run build`");
        failures.command_passed("bun run --filter @shop/till test", english()).pop().map(|cure| cure.content)
    };
    let told = cure("error: Cannot find module '@shop/cart' from 'till.test.ts'").unwrap();
    assert!(told.ends_with("Fixed by: `bun run build`"), "{told}");
    assert_eq!(cure("error: expected 3 slips, got 4"), None);
    assert_eq!(cure("Error: connection refused by the till"), None, "a build is no cure of that");
}

#[test]
fn a_cure_can_be_run_as_it_stands() {
    let (failed, error) = ("wsl zsh /mnt/x/a.zsh", "can't create temp file");
    let cure = |passed| cured(error, false, failed, passed).unwrap_or_default();
    assert!(cure("p=/tmp/a.zsh && wsl zsh \"$p\"").ends_with("Fixed by: `wsl zsh \"/tmp/a.zsh\"`"));
    assert_eq!(cure("wsl zsh \"$p\""), "", "nobody knows the variable tomorrow");
    assert!(!is_whole("python3 -c \"…\""));
    assert!(is_whole("echo 5$ > price"));
}

#[test]
fn a_damaged_repository_is_cured_by_what_was_run() {
    let labels = english();
    let mut failures = Failures::default();
    fail(&mut failures, "git status", "fatal: unable to read 1a2b3c4d");
    fail(&mut failures, "git log -1", "fatal: your branch has no commits");
    failures.step("`git read-tree HEAD`");
    let cures = failures.command_passed("git status", labels);
    assert_eq!(cures.len(), 1, "a look that finds nothing is no failure");
    assert!(cures[0].content.ends_with("Fixed by: `git read-tree HEAD`"), "{}", cures[0].content);
    assert!(failures.command_passed("git log -1", labels).is_empty());
}

#[test]
fn a_failure_is_found_by_its_purpose_in_the_language_of_the_session() {
    for (language, words) in [(text::Language::Korean, vec!["커밋".to_owned()]), (text::Language::English, Vec::new())] {
        let mut failures = Failures::default();
        fail(&mut failures, "git commit -m a", "the hook hangs");
        let cures = failures.command_passed("git commit -n -m a", crate::extract::labels::labels(language));
        assert_eq!(cures[0].draft().keywords, words);
    }
}

#[test]
fn a_command_before_the_same_one_is_its_cure() {
    let cure = cured("the config is locked by its owner", false, "make fmt", "direnv allow && make fmt").unwrap();
    assert!(cure.ends_with("Fixed by: `direnv allow`"), "{cure}");
}

#[test]
fn an_edit_that_failed_until_the_file_was_written_anew() {
    let labels = english();
    let mut failures = Failures::default();
    for _ in 0..2 {
        failures.edit_failed("src/cart.ts", "the text was not found", &LineRef::default(), 1);
    }
    assert!(failures.clone().edit_passed("src/cart.ts", "Write", labels).is_empty(), "a slip");
    for _ in 0..2 {
        failures.edit_failed("src/cart.ts", "the text was not found", &LineRef::default(), 1);
    }
    assert_eq!(
        failures.clone().edit_passed("src/cart.ts", "Write", labels)[0].content,
        "edit of src/cart.ts fails (4×): the text was not found. Fixed by: writing the file with `Write`"
    );
    assert!(failures.edit_passed("src/cart.ts", "Edit", labels).is_empty(), "another edit says nothing");
}

#[test]
fn a_later_cause_belongs_to_the_failure_that_it_names() {
    let labels = english();
    let mut failures = Failures::default();
    fail(&mut failures, "git commit -m a", "the hook is broken");
    failures.agent_said("I look at the list of orders.");
    failures.agent_said("The totals are wrong because `src/tax.ts` rounds twice.");
    failures.agent_said("The hook fails because `core.hooksPath` names a folder that is gone.");
    let cures = failures.command_passed("git -c core.hooksPath=.hooks commit -m a", labels);
    assert!(cures[0].content.contains("folder that is gone"), "{}", cures[0].content);
    assert!(!cures[0].content.contains("rounds twice"), "{}", cures[0].content);
}

#[test]
fn a_commit_elsewhere_says_nothing_of_a_failed_one() {
    let labels = english();
    let mut failures = Failures::default();
    fail(&mut failures, "git commit -m a", "the hook is broken");
    failures.checks_committed("git -C /srv/notes commit -m b", english());
    let cures = failures.command_passed("git commit --no-verify -m a", labels);
    assert!(cures[0].content.contains("--no-verify"), "{}", cures[0].content);
}

#[test]
fn edits_that_fail_alike_in_several_files_are_one_lesson() {
    let labels = english();
    let mut failures = Failures::default();
    let fail = |failures: &mut Failures, file| failures.edit_failed(file, "text not found", &LineRef::default(), 1);
    fail(&mut failures, "src/cart.ts");
    failures.agent_said("The file is indented with tabs.");
    assert!(failures.edit_passed("src/cart.ts", "Edit", labels).is_empty(), "one failure is a slip");
    fail(&mut failures, "src/order.ts");
    let script = "python3 - <<'EOF'\np='src/order.ts'\nopen(p,'w').write(open(p).read().replace('a','b'))\nEOF";
    let lesson = failures.edited_by_command(script, labels);
    assert_eq!(
        lesson[0].content,
        "edit of src/cart.ts and 1 more fails (2×): text not found. Cause: The file is indented with tabs.",
        "an edit worked, too, so the other tool is no cure"
    );
    fail(&mut failures, "src/mail.ts");
    assert!(failures.edited_by_command("cat src/mail.ts", labels).is_empty(), "looking mends nothing");
    let again = failures.edited_by_command("sed -i s/a/b/ src/mail.ts", labels);
    assert_eq!((again[0].key.as_str(), again[0].files.len()), (lesson[0].key.as_str(), 3));
}

#[test]
fn the_projects_own_folder_is_not_a_fix() {
    assert_eq!(command_with_folder("cd . && bun run lint"), command_with_folder("bun run lint"));
    assert_ne!(command_with_folder("cd web && bun run lint"), command_with_folder("bun run lint"));
}

#[test]
fn what_has_another_purpose_is_no_cure() {
    let labels = english();
    let mut failures = Failures::default();
    let error = "error: could not find the executable `turbo`: command not found";
    fail(&mut failures, "bun run build", error);
    assert!(failures.command_reached("bun run typecheck", "", labels).is_empty(), "a check builds nothing");
    let cure = cured("the hook is locked", false, "git commit -m a", "for f in $ALL; do git commit -m \"$f\"; done");
    assert_eq!(cure, None, "nobody knows the variable tomorrow");
    assert_eq!(
        cured("grep: a.js: No such file or directory", false, "grep x a.js", "cd web && grep x a.js"),
        None,
        "a slip"
    );
}

#[test]
fn a_remark_on_one_file_is_no_cause_for_another() {
    let labels = english();
    let mut failures = Failures::default();
    for file in ["src/cart.ts", "src/order.ts"] {
        failures.edit_failed(file, "text not found", &LineRef::default(), 1);
        failures.edit_failed(file, "text not found", &LineRef::default(), 1);
    }
    failures.agent_said("`order.ts` is indented with five tabs.");
    let cart = failures.edit_passed("src/cart.ts", "Write", labels);
    assert!(cart.iter().all(|it| !it.content.contains("five tabs")), "{cart:?}");
    let order = failures.edit_passed("src/order.ts", "Edit", labels);
    assert!(order[0].content.ends_with("Cause: `order.ts` is indented with five tabs."), "{}", order[0].content);
}

#[test]
fn a_rule_of_a_linter_is_told_with_the_file_that_was_changed_for_it() {
    let labels = english();
    let cure = |cause: &str| {
        let mut failures = Failures::default();
        fail(&mut failures, "npm run lint", "src/cart.ts useExhaustiveDependencies");
        failures.agent_said(cause);
        failures.file_changed("src/cart.ts");
        failures.command_passed("npm run lint", labels).into_iter().next().map(|cure| cure.content)
    };
    let told = cure("The linter fails because `useEffect` must not depend on `tabs`.").unwrap();
    assert!(told.ends_with("Fixed by: a change of `src/cart.ts`"), "{told}");
    assert_eq!(cure("I fix the formatting."), None, "a slip teaches nothing");
    assert_eq!(cure("The issue is that `useEffect` ignores what the cart says."), None, "the slip, not the rule");
}

#[test]
fn a_later_fault_of_the_code_is_not_the_cause_of_a_missing_program() {
    let mut failures = Failures::default();
    for _ in 0..2 {
        fail(&mut failures, "npm run typecheck", "Error: Could not locate executable `tsc` in your project");
    }
    failures.step("`npm install`");
    failures.agent_said("The typecheck fails because `cart` is readonly.");
    let told = failures.command_passed("npm run typecheck", english()).remove(0).content;
    assert!(told.ends_with("in your project. Fixed by: `npm install`"), "{told}");
}

#[test]
fn what_was_said_of_one_error_is_not_why_another_came() {
    let caused = |first: &str, second: &str| {
        let mut failures = Failures::default();
        fail(&mut failures, "npm run test till", first);
        failures.agent_said("The tests fail because the key of the drawer is locked by `openVault`.");
        fail(&mut failures, "npm run test till slip", second);
        failures.drafts(english()).map(|draft| draft.content).find(|said| said.contains("fails"))
    };
    assert_eq!(caused("--- FAIL: TestDrawer", "pattern ./slip: no such file or directory"), None);
    let told = caused("--- FAIL: TestDrawer", "--- FAIL: TestSlip").unwrap();
    assert!(told.starts_with("`npm run test till` fails: --- FAIL: TestSlip. Cause: "), "of a kind: {told}");
    let told = caused("--- FAIL: TestDrawer", "panic: openVault is locked").unwrap();
    assert!(told.starts_with("`npm run test till slip` fails: panic: openVault is locked. Cause: "), "{told}");
}

#[test]
fn what_a_summary_lists_of_other_things_is_no_cause() {
    let caused = |said: &str| {
        let mut failures = Failures::default();
        fail(&mut failures, "git commit -m a", "error: failed to fill whole buffer");
        failures.agent_said(said);
        failures.drafts(english()).any(|draft| draft.content.contains("fails"))
    };
    let other = "The drawer opens twice because `openDrawer` counts from one.";
    assert!(caused(other), "a remark right after it");
    let summary =
        format!("{other}\n\n{}", "- The slip is printed below the sum of the coins, and folded once.\n".repeat(10));
    assert!(!caused(&summary));
    let of_code = summary.replace("because `openDrawer` counts", "because the hook `useDrawer` counts");
    assert!(!caused(&of_code), "a hook of the code");
}

#[test]
fn a_check_that_passes_once_the_file_of_its_cause_was_changed_does_not_fail_any_more() {
    let told = |edited: &[&str]| {
        let mut failures = Failures::default();
        fail(&mut failures, "npm run typecheck", "error TS2307: Cannot find module '@shop/till'");
        failures
            .agent_said("The root cause: `cart/tsconfig.json` must point to what is only there once the till was built.");
        for file in edited {
            failures.file_changed(file);
        }
        failures.command_passed("npm run typecheck", english()).into_iter().next().map(|cure| cure.content)
    };
    assert!(told(&["cart/tsconfig.json"]).unwrap().ends_with("Fixed by: a change of `cart/tsconfig.json`"));
    let both = told(&["cart/tsconfig.json", "till/tsconfig.json"]).unwrap();
    assert!(both.ends_with("Fixed by: a change of `cart/tsconfig.json`"), "{both}");
    assert!(told(&[]).is_some_and(|told| !told.contains("a change of")), "it may fail again");
}

#[test]
fn an_option_that_is_only_left_out_teaches_nothing() {
    assert_eq!(cured("fatal: unrecognized argument: --no-cart", false, "git show --no-cart HEAD", "git show HEAD"), None);
    let error = "error: unknown option --no-cart";
    assert_eq!(cured(error, false, "till count --no-cart shop", "till count shop"), None);
    assert!(cured(error, false, "till count --no-cart shop", "till count --cart=no shop").is_some());
}

#[test]
fn a_fault_at_a_line_of_a_file_that_was_edited_since_is_no_trap() {
    let told = |edited: &str| {
        let mut failures = Failures::default();
        fail(&mut failures, "make lint", "src/till/open.go:9:2: \"strings\" imported and not used");
        failures.file_changed(edited);
        failures.agent_said("The lint fails because the till counts its own strings.");
        failures.drafts(english()).map(|draft| draft.content).collect::<Vec<_>>()
    };
    assert!(told("/shop/src/till/open.go").is_empty());
    assert_eq!(told("/shop/src/cart.go").len(), 1, "the file is as it was");
}

#[test]
fn the_error_of_a_merge_is_not_that_of_the_request_that_was_opened() {
    let mut failures = Failures::default();
    fail(&mut failures, "gh pr create --title Till", "pull request create failed: the head of the till can't be blank");
    assert_eq!(fail(&mut failures, "gh pr merge 7", "X Pull request #7 is not mergeable"), None);
    assert!(failures.command_passed("git push", english()).is_empty(), "a push opens none");
    assert!(failures.open.iter().all(|failure| failure.times == 1), "{:?}", failures.open);
    let opened = "a pull request for branch \"till\" into branch \"main\" already exists:";
    fail(&mut failures, "gh release create 1", opened);
    assert_eq!(failures.open.len(), 2, "that is an answer");
}

#[test]
fn a_module_that_the_agent_found_missing_is_built() {
    let told = |is_edited: bool| {
        let mut failures = Failures::default();
        fail(&mut failures, "bun test till/open.test.ts", "(fail) the till opens with the key of the drawer");
        failures.agent_said("The key error is `Cannot find module '@shop/drawer' from 'till/open.ts'`.");
        failures.step("`bun run --filter '@shop/drawer' build`");
        if is_edited {
            failures.file_changed("till/open.ts");
        }
        failures.command_passed("bun test till/open.test.ts", english()).into_iter().next().map(|memory| memory.content)
    };
    let content = told(false).unwrap();
    assert!(content.ends_with("Fixed by: `bun run --filter '@shop/drawer' build`"), "{content}");
    assert!(told(true).is_none_or(|content| !content.contains("Fixed by")), "the edit may have mended it");
}

#[test]
fn what_looks_at_the_result_is_not_the_cure() {
    assert_eq!(curing_step("git remote set-url origin shop:till && git remote -v"), "git remote set-url origin shop:till");
    assert_eq!(curing_step("till setup --project shop"), "till setup --project shop");
    assert_eq!(curing_step("git remote -v"), "git remote -v");
    assert_eq!(curing_step("till open --now && docker compose -f till.yml logs drawer"), "till open --now");
}

#[test]
fn what_was_said_of_another_finding_is_not_the_cause_of_this_one() {
    let told = |said: &str| {
        let mut failures = Failures::default();
        for _ in 0..2 {
            fail(&mut failures, "make lint", "src/till.go: require-error: for error assertions use require (testlint)");
        }
        failures.file_changed("src/till.go");
        failures.agent_said(said);
        failures.command_passed("make lint", english()).into_iter().next().map(|memory| memory.content)
    };
    assert_eq!(told("The lint must see what the two drawers return, because we ignore it."), None);
    assert!(told("The linter requires that error assertions use require.").is_some());
}

#[test]
fn another_check_cures_nothing() {
    let mut failures = Failures::default();
    fail(&mut failures, "npm run lint", "the formatter would have printed another cart");
    failures.step("`npm run typecheck`");
    assert!(failures.command_passed("npm run lint", english()).is_empty());
    assert_eq!(
        cured("Unknown command \"cart\"", false, "/tmp/till cart", "/tmp/till slip"),
        None,
        "a program for the occasion"
    );
}

#[test]
fn a_pasted_error_that_comes_again_was_not_cured() {
    let mut failures = Failures::default();
    let run = "error: script \"till:open\" exited with code 1";
    assert_eq!(failures.prompted(&format!("TillError: the drawer is stuck\n{run}")), None);
    failures.agent_said("The issue is that the drawer has no key at all.");
    failures.file_changed("src/till.ts");
    let first = failures.pasted_memory(&LineRef::default(), english()).unwrap();
    assert_eq!(failures.prompted("thanks"), None);
    let again =
        format!("npm error code EDRAWER\nnpm error This drawer requires a coin.\nERROR: Command failed (1): till\n{run}\\");
    assert_eq!(failures.prompted(&again), Some(first.key), "the key was not what it lacked");
    failures.file_changed("src/till.ts");
    let second = failures.pasted_memory(&LineRef::default(), english()).unwrap();
    assert_eq!(second.content, "\"EDRAWER: This drawer requires a coin.\". Fixed by: a change of `src/till.ts`");
    assert_eq!(failures.prompted("TillError: it rings\nerror: script \"till:ring\" exited with code 1"), None);
    assert_eq!(
        failures.prompted("TillError: it hums\nerror: script \"till:hum\" exited with code 1"),
        None,
        "another error"
    );
    assert!(failures.prompted("still the same:\nTillError: it rings").is_some(), "the same error, without what was run");
}

#[test]
fn an_error_of_npm_in_any_language() {
    for (line, said) in [
        ("npm ERR! 오류가 발생했습니다", "ETILL: 오류가 발생했습니다"),
        ("npm error Missing script: x", "ETILL: Missing script: x"),
    ] {
        let code = if line.contains("ERR!") { "npm ERR! code ETILL" } else { "npm error code ETILL" };
        assert_eq!(pasted::pasted_error(&format!("build fails\n{code}\n{line}")).as_deref(), Some(said));
    }
}

#[test]
fn a_command_of_the_projects_folder_fails_elsewhere() {
    let cure = |passed| cured("Script not found \"lint\"", false, "npm run lint", passed).unwrap_or_default();
    assert!(cure("cd . && npm run lint").ends_with("Fixed by: `npm run lint` in the project's own folder"));
    assert_eq!(cure("npm run lint"), "");
}

#[test]
fn a_command_that_differs_in_the_folder_of_its_file_is_the_same() {
    let cure = cured("No such file", false, "wsl path 'C:\\shop\\cart.sh'", "wsl path 'C:/shop/cart.sh'").unwrap();
    assert!(cure.ends_with("Fixed by: `wsl path 'C:/shop/cart.sh'`"), "{cure}");
}

#[test]
fn words_that_failed_too_cure_nothing() {
    let labels = english();
    let mut failures = Failures::default();
    for command in ["shop verify", "shop run verify"] {
        fail(&mut failures, command, "error: Script not found \"verify\"");
    }
    let cures = failures.command_passed("cd /srv/shop && shop run verify", labels);
    let told = cures.first().map(|cure| cure.content.clone()).unwrap_or_default();
    assert!(!told.ends_with("Fixed by: `shop run verify`"), "{told}");
}

#[test]
fn the_shorter_way_that_is_used_later_is_the_cure() {
    let labels = english();
    let mut failures = Failures::default();
    fail(&mut failures, "wrap npm run test", "error: unrecognized subcommand 'npm'");
    let first = failures.command_passed("wrap test npm run test", labels);
    assert!(first[0].content.ends_with("Fixed by: `wrap test npm run test`"), "{}", first[0].content);
    assert!(failures.command_passed("wrap test npm run test", labels).is_empty());
    let second = failures.command_passed("npm run test", labels);
    assert!(second[0].content.ends_with("Fixed by: `npm run test`"), "{}", second[0].content);
    assert_eq!(first[0].key, second[0].key, "the later one replaces the first");
}

#[test]
fn a_script_or_a_slip_of_a_reader_is_no_cure() {
    let script = "for file in a b; do git commit -m \"$file\"; done";
    assert_eq!(cured("pathless message", false, "git commit -m x", script), None);
    let missing = "grep: src/cart.ts: No such file or directory";
    assert_eq!(
        cured(missing, false, "make && grep -n total src/cart.ts", "cd /srv/shop && grep -n total src/cart.ts"),
        None
    );
}

proptest! {
    #[test]
    fn never_panics(text in any::<String>()) {
        normalize(&text);
    }
}

fn english() -> &'static Labels {
    labels(text::Language::English)
}

/// Runs commands with their outputs and whether they failed. Returns what is known at the end.
fn known_after(commands: &[(&str, &str, bool)]) -> Vec<String> {
    let mut failures = Failures::default();
    let mut known = Vec::new();
    for (command, output, failed) in commands {
        let (told, _) = failures.command_ran(command, output, (*failed, *failed), &LineRef::default(), english());
        known.extend(told.into_iter().map(|memory| memory.content));
    }
    known.extend(failures.drafts(english()).map(|draft| draft.content));
    known
}

const PASSED: (&str, &str, bool) = ("git status", "clean", false);

#[test]
fn a_missing_program_is_told_once_the_work_went_on_without_it() {
    let fails = ("wait 30 till open shop src/a.py", "zsh: command not found: wait", true);
    assert_eq!(known_after(&[fails, PASSED]), [""; 0], "it may come yet");
    assert_eq!(known_after(&[fails, PASSED, PASSED, PASSED]), ["`wait` is not installed here"]);
    assert_eq!(
        known_after(&[fails, ("till open shop src/a.py", "", false)]),
        ["`wait` is not installed here. Instead: `till open shop src/a.py`"]
    );
    let other = ("uv run till check src/a.py", "error: Failed to spawn: `till`", true);
    let runner_only = ("uv run stock list 2", "", false);
    assert_eq!(known_after(&[other, runner_only, PASSED, PASSED]), ["`till` is not installed here"], "no pair");
    let after = |command| known_after(&[fails, (command, "", false), PASSED, PASSED, PASSED]);
    assert_eq!(after("brew install wait"), [""; 0]);
    assert_eq!(after("git add src/wait src/waiter.py").len(), 1, "nothing was installed");
}

#[test]
fn what_git_ignores_is_told_unless_it_was_added_after_all() {
    let said =
        "The following paths are ignored by one of your .gitignore files:\nweb/dist\nhint: Use -f if you really want to.";
    let fails = ("git add src web/dist && git commit -m a", said, true);
    assert_eq!(known_after(&[fails, PASSED]), ["`web/dist` is ignored by git: `git add` of it fails"]);
    assert_eq!(known_after(&[fails, ("git add -f web/dist/a.js", "", false)]), [""; 0]);
    assert_eq!(known_after(&[fails, ("sed -i /dist/d .gitignore && git commit -m b", "", false)]), [""; 0]);
    assert_eq!(known_after(&[fails, ("git add -A", "", false)]), [""; 0]);
    let elsewhere = ("cd web && git add web/dist", said, true);
    assert_eq!(known_after(&[elsewhere, PASSED]), [""; 0], "another folder, maybe another repository");
    let mut surprises = Surprises::default();
    surprises.ran(fails.0, said, (true, true), &LineRef::default(), english());
    assert_eq!(surprises.memories(english()).len(), 1);
    surprises.file_changed("src/till.ts");
    assert_eq!(surprises.memories(english()).len(), 1);
    surprises.file_changed("web/.gitignore");
    assert!(surprises.memories(english()).is_empty());
}

#[test]
fn a_module_is_there_under_another_python() {
    let fails = ("python3 -c 'import re, till'", "ModuleNotFoundError: No module named 'till'", true);
    assert_eq!(
        known_after(&[fails, ("uv run python3 -c 'import re, till'", "", false)]),
        ["`python3` has no module `till`. Fixed by: `uv run python3`"]
    );
    assert_eq!(known_after(&[fails, ("uv run python3 -c 'import stock'", "", false)]), [""; 0], "another module");
    assert_eq!(known_after(&[fails, ("pip install till", "", false), ("python3 -c 'import till'", "", false)]), [""; 0]);
}

#[test]
fn a_tool_that_does_not_know_the_repository_is_told_it() {
    let error =
        "none of the git remotes configured for this repository point to a known GitHub host. To tell gh about it, run x";
    let fails = ("gh pr view 3", error, false);
    let told = known_after(&[fails, PASSED, ("R=shop/till; gh pr list -R $R", "", false)]);
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with("`gh pr view` fails: none of the git remotes"), "{}", told[0]);
    assert!(told[0].ends_with("known GitHub host. Fixed by: `-R shop/till`"), "{}", told[0]);
    assert_eq!(known_after(&[fails, ("grep -R shop/till src", "", false)]), [""; 0], "another program's option");
}

#[test]
fn the_state_of_a_copy_that_day_teaches_nothing() {
    let fails = ("git pull --ff-only\ngit status", "error: cannot pull with rebase: You have unstaged changes.", false);
    let puts_aside = ("git stash push -m 'a b' && git merge --ff-only origin/main && git stash pop", "", false);
    assert_eq!(known_after(&[fails, puts_aside]), [""; 0]);
    assert_eq!(known_after(&[fails, ("git commit -m a", "", false), ("git fetch", "", false)]), [""; 0]);
    let push = ("git push", "error: failed to push some refs to 'shop'", false);
    assert_eq!(known_after(&[push, ("git pull --rebase && git push", "", false)]), [""; 0]);
}

#[test]
fn a_hook_that_refuses_a_program_is_told_with_the_way_past_it() {
    let fails = ("grep -n till src/a.ts", "Use the Grep tool for content search", true);
    assert_eq!(
        known_after(&[fails, ("rtk proxy grep -n till src/a.ts", "", false)]),
        ["`grep` fails: Use the Grep tool for content search. Fixed by: `rtk proxy grep …`"]
    );
    assert_eq!(known_after(&[fails, ("{ grep -n a b; }", "", false)]), [""; 0]);
    assert_eq!(known_after(&[fails, fails]), ["`grep` in the shell is refused here: Use the Grep tool for content search"]);
}

#[test]
fn how_zsh_reads_a_line_is_told_at_once() {
    let pattern = ("grep -r a --include=*.ts", "(eval):1: no matches found: --include=*.ts", false);
    let address = ("gh api a/till.ts?ref=1", "(eval):1: no matches found: a/till.ts?ref=1", false);
    let exists = ("echo a > /srv/till.md", "(eval):1: file exists: /srv/till.md", false);
    for (ran, sign) in [(pattern, "`--include=*.ts`"), (address, "`…/till.ts?ref=…`"), (exists, "`>|` does")] {
        let told = known_after(&[ran]);
        assert!(told.len() == 1 && told[0].contains(sign), "{told:?}");
    }
}

#[test]
fn a_refusal_of_the_client_is_told_unless_the_same_is_allowed_later() {
    let told = |commands: &[&str]| {
        let mut failures = Failures::default();
        let said =
            "Permission for this action was denied by the classifier. Reason: It posts a comment. If you have other tasks";
        failures.command_refused(
            "cd web && till pay order 3 --body \"$(cat <<'EOF'\na\nEOF\n)\"",
            said,
            &LineRef::default(),
        );
        for command in commands {
            failures.command_ran(command, "", (false, false), &LineRef::default(), english());
        }
        failures.drafts(english()).map(|draft| draft.content).collect::<Vec<_>>()
    };
    assert_eq!(
        told(&["till list"]),
        ["Not allowed here without the user: `till pay order 3 --body \"$(cat <<'EOF' …)\"` (It posts a comment)"]
    );
    assert_eq!(told(&["till pay order 4"]), [""; 0]);
    assert!(is_refusal("Permission to use Bash with command till has been denied."));
    assert!(!is_refusal("till: Permission denied"));
}

#[test]
fn what_the_user_had_to_do_is_the_lesson() {
    let mut failures = Failures::default();
    let mut round = || {
        fail(&mut failures, "git commit -m a", "the till is locked");
        failures.agent_said("The commit failed. The signing till needs to be unlocked.");
        failures.human_said("done, go ahead");
        failures.command_passed("git commit -m a", english()).remove(0)
    };
    let (first, second) = (round(), round());
    let line = "fails: the till is locked. Needs the user: The signing till needs to be unlocked.";
    assert_eq!(first.content, format!("`git commit -m \"…\"` {line}"));
    assert_eq!(second.content, format!("`git commit -m \"…\"` {}", line.replace("fails", "fails (2×)")));
    assert!(second.key == first.key && second.importance > first.importance);
    let mut alone = Failures::default();
    fail(&mut alone, "git commit -m a", "the till is locked");
    alone.agent_said("The signing till needs to be unlocked.");
    let told = alone.command_passed("git commit -m a", english());
    assert!(told.iter().all(|memory| !memory.content.contains("Needs the user")), "nobody did anything");
}

#[test]
fn an_error_that_was_pasted_is_told_with_its_cause_and_its_cure() {
    let told = |prompt: &str, said: &str, file: Option<&str>| {
        let mut failures = Failures::default();
        failures.prompted(prompt);
        failures.agent_said(said);
        if let Some(file) = file {
            failures.file_changed(file);
        }
        failures.pasted_memory(&LineRef::default(), english()).map(|memory| memory.content)
    };
    let (prompt, cause) = ("now this:\nTillError: the drawer is stuck", "**Root cause:** `till.ts` opens the drawer twice.");
    assert_eq!(
        told(prompt, cause, Some("src/till.ts")).unwrap(),
        "\"TillError: the drawer is stuck\": Root cause: `till.ts` opens the drawer twice. Fixed by: a change of `src/till.ts`"
    );
    let folder = "drawer/".repeat(9);
    let long = format!("Root cause: the till {}is open, so the drawer stays open", "of the shop ".repeat(10));
    let short = told(&format!("{prompt} {}", "again ".repeat(20)), &long, Some(&format!("{folder}till.ts"))).unwrap();
    assert!(short.chars().count() <= 300 && short.contains("is open. Fixed by: a change of `till.ts`"), "{short}");
    assert_eq!(told(prompt, cause, None), None, "nothing was changed");
    assert_eq!(told(prompt, "The cause is probably the drawer of the till.", Some("src/till.ts")), None, "a guess");
    assert_eq!(told("why does an error show when I pay?", cause, Some("src/till.ts")), None, "no error is shown");
}

#[test]
fn an_answer_by_status_and_other_files_are_no_failure_and_no_cure() {
    assert_eq!(cured("2 files would change", false, "prettier --check a.md b.md", "prettier --write a.md"), None);
    let nothing = "no changes added to commit (use \"git add\" and/or \"git commit -a\")";
    assert_eq!(cured(nothing, false, "git commit -m a", "git commit -am a"), None);
    assert_eq!(cured("error: the total is wrong", false, "till verify src/shop/", "till verify src/shop/cart/"), None);
    assert_eq!(cured("error: the total is wrong", false, "till verify src/shop/", "till verify src/other/"), None);
    assert_eq!(cured("error: could not apply 3", false, "git rebase main", "git rebase --abort"), None);
}

#[test]
fn a_look_cures_no_test() {
    let mut failures = Failures::default();
    fail(&mut failures, "npm test", "FAILED cart adds up");
    failures.step("`till status`");
    failures.step("`stock rebuild`");
    assert!(failures.command_passed("npm test", english()).is_empty());
}

#[test]
fn after_the_user_spoke_only_the_same_purpose_is_a_cure() {
    let cures = |said: Option<&str>| {
        let mut failures = Failures::default();
        fail(&mut failures, "till count shop web --quick", "error: unknown option --quick");
        if let Some(said) = said {
            failures.human_said(said);
        }
        failures.command_reached("till count mail shop web", "", english()).len()
    };
    assert_eq!((cures(None), cures(Some("count the mail"))), (1, 0));
}

#[test]
fn a_bypass_that_the_user_mistypes_is_allowed() {
    let told = |said: &str| {
        let mut failures = Failures::default();
        fail(&mut failures, "git commit -m a", "error: the hook of the till is too old");
        failures.human_said(said);
        failures.command_passed("git commit --no-verify -m a", english()).remove(0).content
    };
    for said in ["no verify", "no veirfy", "no veridy", "no vetify"] {
        assert!(told(said).contains(english().allowed_bypass), "{said}: {}", told(said));
    }
    for said in ["no value", "no vector", "no tills"] {
        assert!(!told(said).contains(english().allowed_bypass), "{said}: {}", told(said));
    }
}

#[test]
fn a_line_is_short() {
    let mut failures = Failures::default();
    fail(&mut failures, "till sync --all", &format!("unauthorized {}", "drawer ".repeat(60)));
    failures.agent_said(&format!("The sync fails because the till has no key, {}.", "and so on ".repeat(20)));
    let told = failures.command_passed("till sync --key a", english()).remove(0).content;
    assert!(told.chars().count() <= 300 && told.ends_with("Fixed by: `till sync --key a`"), "{told}");
}

#[test]
fn a_chain_that_passed_ends_the_failures_of_its_checks() {
    let is_open_after = |passed: &str| {
        let mut failures = Failures::default();
        fail(&mut failures, "npm run lint", "src/cart.ts: unused name");
        failures.command_passed(passed, english());
        !failures.errors(1).is_empty()
    };
    assert!(!is_open_after("npm run lint 2>&1 && npm test 2>&1"));
    assert!(is_open_after("npm run lint; npm test"), "nobody knows how the first ended");
    assert!(is_open_after("npm run lint | tail -3 && npm test"));
}

#[test]
fn each_missing_module_has_its_own_cure() {
    let mut failures = Failures::default();
    let tests = "python -m pytest tests/till.py";
    assert_eq!(fail(&mut failures, tests, "ModuleNotFoundError: No module named 'respx'"), None);
    failures.step("`pip install respx`");
    let first = fail(&mut failures, tests, "ModuleNotFoundError: No module named 'shop'");
    let first = first.expect("what cured the first");
    assert!(first.contains("'respx'") && first.ends_with("Fixed by: `pip install respx`"), "{first}");
    failures.step("`pip install -e .`");
    let second = failures.command_passed(tests, english()).remove(0).content;
    assert!(second.contains("'shop'") && second.ends_with("Fixed by: `pip install -e .`"), "{second}");
}

#[test]
fn looking_in_another_way_cures_nothing() {
    let mut failures = Failures::default();
    fail(&mut failures, "git status", "fatal: unable to read 4711");
    failures.agent_said("The problem is that git can't read an object of the index.");
    assert!(failures.command_passed("git status --short", english()).is_empty());
}

#[test]
fn a_check_that_passed_beside_another_one_was_not_cured_by_it() {
    assert_eq!(cured("× Formatter would print blanks", false, "npm run lint", "npm run lint && npm run typecheck"), None);
}

#[test]
fn tests_without_a_variable_are_cured_by_what_sets_it() {
    let error = "error: Missing TILL_URL or TILL_HOST";
    assert_eq!(
        cured(error, false, "bun test till/", "bun test:env").unwrap(),
        "`bun test till/` fails: error: Missing TILL_URL or TILL_HOST. Fixed by: `bun test:env`"
    );
    assert_eq!(cured(error, false, "bun run test", "bun test till/cart.test.ts"), None, "it ran other tests");
}

#[test]
fn what_a_hook_demands_is_told_without_a_cure() {
    let told = |error: &str, file: &str| {
        let mut failures = Failures::default();
        let command =
            format!("git add {} && \\\ngit commit -m \"for the till, all done\"", "shop/prices/till.ts ".repeat(40));
        fail(&mut failures, &command, error);
        failures.file_changed(file);
        if error.contains("not staged") {
            failures.step("`git rm --cached old.md`");
        }
        failures.checks_committed("git add . && git commit -m x", english()).into_iter().next().map(|memory| memory.content)
    };
    let rule = "✖ shoplint --fix: error MD040/fenced-code-language A language is missing";
    assert_eq!(told(rule, "menu.md").unwrap(), format!("`git commit -m \"…\"` fails: {rule}"));
    let demand = "The prices changed but the menu is not staged!; run `npm run menu`";
    assert_eq!(told(demand, "menu.md").unwrap(), format!("`git commit -m \"…\"` fails: {demand}"));
    assert_eq!(told("src/till.ts(4,2): error TS2322: no number", "src/till.ts"), None, "a slip");
}
