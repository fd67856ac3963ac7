//! Tests of the verdicts of the checks.

use super::*;
use crate::extract::labels::labels;
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
fn a_run_of_the_whole_takes_back_what_failed_of_a_part() {
    let mut evidence = Evidence::default();
    evidence.command_ran("go test ./till/ -run TestNight", "--- FAIL: TestNight", false, true);
    assert_eq!(items(&evidence), ["some tests (TestNight): fail"]);
    evidence.all_tests_passed();
    assert!(items(&evidence).is_empty());
    evidence.command_ran("cargo check -p till", "error: no drawer", false, true);
    evidence.command_ran("cargo check -p till -p slip", "", true, false);
    assert_eq!(items(&evidence), ["cargo check (till, slip): pass"]);
}

#[test]
fn the_settings_of_an_editor_age_no_check() {
    let mut evidence = Evidence::default();
    evidence.file_changed("src/till.ts", true, true);
    evidence.command_ran("npm run compile && npm run lint", "", true, false);
    let passed = ["compile: pass", "lint: pass"];
    evidence.file_changed(".vscode/launch.json", false, false);
    assert_eq!(items(&evidence), passed);
    evidence.file_changed("package.json", false, true);
    assert_ne!(items(&evidence), passed);
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
    let mut evidence = Evidence::default();
    evidence.command_ran("prettier --write src/checkout", "", true, false);
    assert!(items(&evidence).is_empty(), "a path is no option");
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
    assert_eq!(items(&evidence), ["some tests (TestTax): pass", "not run since the last edit: all tests"]);
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
    assert_eq!(items(&evidence), ["tsc: pass", "not run since the last edit: build, test:integration"], "it comes later");
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
    evidence
        .scripts_written("/shop/package.json", &[line(false, r#""test:slip": "a b""#), line(true, r#""test:slip": "a c""#)]);
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
    assert_eq!(items(&evidence), ["tests: pass", "some tests (TestTax): fail"]);
    evidence.command_ran("make lint && go test ./...", "--- FAIL: TestCart (0.01s)\nFAIL", false, true);
    assert_eq!(items(&evidence), ["some tests (TestTax): fail"], "it may be the linter, or the tests");
    evidence.committed();
    assert!(items(&evidence).is_empty());
}

#[test]
fn why_the_last_run_failed_is_told_after_further_edits() {
    let mut evidence = Evidence::default();
    evidence.command_ran("npm run build | head -20", "✓ Compiled", true, false);
    evidence.command_ran("npm run build | tail -20", "Error: the till has no drawer; it is gone", false, true);
    assert_eq!(
        items(&evidence),
        ["build: passed and failed since the last edit (Error: the till has no drawer, it is gone)"]
    );
    evidence.file_changed("", true, true);
    let failed = ["build: fail (Error: the till has no drawer, it is gone), before the last edit"];
    assert_eq!(items(&evidence), failed, "that nothing was run since is told elsewhere");
    evidence.command_ran("npm run build | tail -1", "", false, false);
    assert!(items(&evidence).is_empty(), "nobody knows what came of it");
}

#[test]
fn checks_of_some_packages_are_told_with_these() {
    let mut evidence = Evidence::default();
    evidence.file_changed("till/night.go", true, true);
    evidence.command_ran("go build ./till/...", "", true, false);
    evidence.command_ran("go test ./till/... 2>&1", "ok  \texample.org/shop/till\t0.5s", true, false);
    assert_eq!(items(&evidence), ["build, some tests (./till/...): pass"]);
    evidence.command_ran("go vet ./tills/...", "pattern ./tills/...: no such file or directory", false, true);
    assert_eq!(items(&evidence).len(), 1, "a slip");
    evidence.command_ran("go vet ./till/...", "till/night.go:4:2: unreachable code", false, true);
    assert_eq!(items(&evidence)[1], "vet (./till/...): fail (till/night.go:4:2: unreachable code)");
    evidence.file_changed("till/night.go", true, true);
    let old = ["some tests (./till/...): pass, before the last edit"];
    assert_eq!(items(&evidence)[0..1], old);
    evidence.command_ran("go vet ./... && go test ./...", "ok  \texample.org/shop/till\t0.5s", true, false);
    assert_eq!(items(&evidence), ["tests: pass", "vet: pass"]);
}

#[test]
fn a_failed_go_test_is_told_with_what_it_says() {
    let mut evidence = Evidence::default();
    let output = "=== RUN TestTax\n    till_test.go:9: \n  Error: Should be true\n  Messages: the slip has no tax\n--- FAIL: TestTax (0.1s)";
    evidence.command_ran("go test ./till -run TestTax", output, false, true);
    assert_eq!(items(&evidence), ["some tests (TestTax): fail (the slip has no tax)"]);
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
    for some in ["npx vitest run -t total", "go test ./... -run Total", "go test ./cart/ -v", "pytest tests/test_cart.py"] {
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
    assert_eq!(items(&evidence), ["eslint (src/cart.ts): pass"]);
}

#[test]
fn a_server_that_was_started_is_no_check() {
    let mut evidence = Evidence::default();
    evidence.file_changed("till.ts", true, true);
    evidence.command_ran("npm run dev &", "ready", true, false);
    evidence.command_ran("curl -s localhost:3000/till", "{}", true, false);
    assert!(evidence.has_run() && !evidence.is_never_run());
    assert_eq!(items(&evidence), ["no build, test or lint was run"]);
    let mut counted = evidence.clone();
    counted.tests_ran();
    assert!(items(&counted).is_empty(), "tests with counts were run, by whatever command");
    evidence.command_ran("./all.sh", "", true, false);
    assert!(items(&evidence).is_empty(), "it may run anything");
    let mut evidence = Evidence::default();
    evidence.file_changed("scripts/count.py", true, true);
    evidence.command_ran("python scripts/count.py", "3", true, false);
    assert!(items(&evidence).is_empty(), "the run of a script checks it");
    let mut evidence = Evidence::default();
    for file in ["scripts/count.py", "shop/till.py"] {
        evidence.file_changed(file, true, true);
    }
    evidence.command_ran("python scripts/count.py", "3", true, false);
    assert_eq!(items(&evidence), ["no build, test or lint was run"]);
}
