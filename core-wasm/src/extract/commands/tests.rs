//! Tests of how commands are read.

mod output;

use proptest::prelude::*;

use super::class::shared_words;
use super::effects::FileEffects;
use super::*;

#[test]
fn what_compiles_tests_runs_none() {
    for compiles in ["go test -tags=e2e -c ./till -o /dev/null", "cargo test --no-run"] {
        assert_eq!((class(compiles), runs_tests(compiles)), (Class::Build, None), "{compiles}");
    }
    assert_eq!(class("go test ./... -count=1"), Class::Test);
    assert_eq!(test_suites("bun run test:till && npm run e2e -- -t slip; npm test"), ["test:till"]);
}

#[test]
fn a_here_document_ends_with_its_word() {
    let add = "git add till.rs && git commit -m x";
    let written = "cat >> till.rs <<'EOF'\nlet don't = 1; // && rm\nEOF";
    assert_eq!(segments(&format!("{written}\n{add}")), [written, "git add till.rs", "git commit -m x"]);
    let message = "git commit -m \"$(cat <<'EOF'\nPrint \"the slip\"; it's new\nEOF\n)\"";
    assert_eq!(segments(&format!("{message} && git push")), [message, "git push"]);
    assert_eq!(segments("cat <<EOF > a && git add a\nx; y\nEOF\nls"), ["cat <<EOF > a", "git add a", "ls"]);
    assert_eq!(through_document(&format!("{written}\n{add}")), written);
    assert_eq!(through_document(&format!("{message} && git push")), format!("{message} && git push"));
    // It was cut, or it is none.
    assert_eq!(segments("cat > a <<EOF\nrm b\nrm c").len(), 1);
    assert_eq!(segments("grep x <<< 'a' && echo \"1 << EOF\"\nls").len(), 3);
}

#[test]
fn what_stands_behind_a_long_document_is_kept() {
    let lines = "The drawer of the till opens.\n".repeat(100);
    let command = format!("git commit -q -m \"$(cat <<'EOF'\n{lines}EOF\n)\"\ngit push -q origin till");
    let short = with_short_documents(&command, 1_000);
    assert!(short.len() <= 1_000 && short.len() > 900, "{}", short.len());
    assert_eq!(segments(&short).last(), Some(&"git push -q origin till"));
    assert_eq!(with_short_documents("git push", 100), "git push");
    let plain = "x".repeat(200);
    assert_eq!(with_short_documents(&plain, 100), plain, "there is no document");
}

#[test]
fn segments_know_quotes_pipes_and_here_documents() {
    assert_eq!(
        segments("cd a && FOO=1 bun test 2>&1 | tail -3; echo 'a && b'"),
        ["cd a", "FOO=1 bun test 2>&1", "echo 'a && b'"]
    );
    assert_eq!(segments("git commit -m \"$(cat <<'EOF'\nfix && go\nEOF\n)\"").len(), 1);
}

#[test]
fn purposes_are_compared_without_wrappers_and_pipes() {
    assert_eq!(class("rtk git add a && rtk git commit -m x"), Class::Commit);
    assert_eq!(class("cd x && bun test src/ 2>&1 | tail -30"), Class::Test);
    assert_eq!(class("git status"), Class::Inspect);
    assert_eq!((class("rtk test bun run test"), class("test -f till.rs")), (Class::Test, Class::Inspect));
    assert_eq!(
        (runs_tests("rtk test bun run test 2>&1"), runs_tests("rtk test bun test till.ts")),
        (Some(false), Some(true))
    );
    assert_eq!(class("git add a && git commit -m \"x\" && git status"), Class::Commit);
    assert_eq!(main_segment("cd web && bun test; git log -1"), "bun test");
    assert_eq!(class("npx tsc --noEmit"), Class::Check);
    assert!(same_purpose("npm run build", "cd web && npm run build 2>&1 | tail"));
    assert!(same_purpose("git commit -m \"$(cat <<'EOF'\na\nEOF\n)\"", "git commit -m 'a'"));
    assert!(!same_purpose("bun test src/a.test.ts", "bun test src/b.test.ts"));
    assert!(!same_purpose("npm run lint", "npm run typecheck"));
    assert!(is_rewording("rtk bun run test 2>&1", "bun run test 2>&1"));
}

#[test]
fn files_that_a_command_line_writes_and_removes() {
    let written = |command: &str| file_effects(command, "").written;
    assert_eq!(written("sed -i '' 's/a b/c/' src/one.ts src/two.ts"), ["src/one.ts", "src/two.ts"]);
    assert_eq!(written("cd web && perl -pi -e 's/a/b/' app.js"), ["web/app.js"]);
    assert_eq!(
        file_effects("rm ./a.ts ../b.ts && cd .. && rm c.ts", "web/src").removed,
        ["web/src/a.ts", "web/b.ts", "web/c.ts"]
    );
    assert_eq!(written("cat > docs/plan.md <<'EOF'\nrm -f src/one.ts\nEOF"), ["docs/plan.md"]);
    assert_eq!(written("echo done >> notes.md && make 2>&1 > build.txt"), ["notes.md"]);
    assert!(written("sed -n 1,4p src/one.ts; cp a.md /tmp/a.md; ls > $OUT.md; make > make.log").is_empty());
    assert!(written("cp a.md .git/info/a.md; mv b.json web/.git/b.json").is_empty());
    let moved = file_effects("git mv docs/old.md docs/new.md 2>/dev/null && rm -rf ./src/gone.rs target/", "");
    assert_eq!(moved.written, ["docs/new.md"]);
    assert_eq!(moved.moved, [("docs/old.md".to_owned(), "docs/new.md".to_owned())]);
    assert_eq!(moved.removed, ["docs/old.md", "src/gone.rs"]);
    assert_eq!(moved.removed_folders, ["src/gone.rs", "target"]);
    assert_eq!(written("git mv docs/a.md docs/b.md guide && cp c.md ./web/"), ["guide/a.md", "guide/b.md", "web/c.md"]);
    assert_eq!(file_effects("git rm --cached notes.md", ""), FileEffects::default());
    let passing = file_effects("cat > a.md <<'EOF'\nx\nEOF\nspell a.md; rm a.md ./till.exe", "");
    assert_eq!((passing.passing, passing.written, passing.removed), (vec!["a.md".to_owned()], Vec::new(), Vec::new()));
    assert_eq!(file_effects("git checkout -- src/one.ts && git restore a.md", "").restored, ["src/one.ts", "a.md"]);
    assert_eq!(file_effects("git checkout HEAD -- src/one.ts", "").restored, ["src/one.ts"]);
    assert!(file_effects("git checkout topic -- src/one.ts", "").restored.is_empty(), "as it is on another branch");
    assert!(file_effects("git reset --hard", "").restores_all && file_effects("git checkout .", "").restores_all);
    assert_eq!(file_effects("git checkout -b topic && git restore --staged a.md", ""), FileEffects::default());
    assert!(file_effects("git checkout --theirs src/one.ts", "").restored.is_empty(), "one side of a conflict");
}

#[test]
fn only_what_the_project_itself_takes_back_is_restored() {
    for command in [
        "cd /tmp/driver && git reset --hard origin/main",
        "cd ../other && git checkout -- .",
        "cd web && git checkout -- .",
        "git checkout backup -- .",
        "git checkout backup -- a.ts",
        "git restore --source=HEAD~2 a.ts",
        "git restore -s backup a.ts",
        "git restore -S a.ts",
    ] {
        assert_eq!(file_effects(command, ""), FileEffects::default(), "{command}");
    }
    assert_eq!(file_effects("cd web && git checkout -- a.ts", "").restored, ["web/a.ts"]);
}

#[test]
fn packages_are_noted_in_the_manifest() {
    let written = |command: &str| file_effects(command, "").manifests;
    assert_eq!(written("npm install -D till@2 2>&1 | tail -3"), ["package.json", "package-lock.json"]);
    assert_eq!(written("cd web && pnpm add till"), ["web/package.json"], "the list may lie in the root");
    assert_eq!(written("rtk bun add till"), ["package.json"]);
    assert_eq!(file_effects("yarn add till", "web").manifests, ["web/package.json"]);
    assert_eq!(written("go get example.org/till@v2 && go build ./..."), ["go.mod", "go.sum"]);
    assert_eq!(written("cargo add till --features cart"), ["Cargo.toml", "Cargo.lock"]);
    for other in
        ["npm install", "npm i -g till", "npm ci --silent", "bun add --cwd web till", "cargo install till", "go test x"]
    {
        assert_eq!(written(other), [""; 0], "{other}");
    }
}

#[test]
fn files_that_a_script_writes() {
    let script =
        "python3 - <<'EOF'\np = 'src/cart.ts'\ntext = open(p).read().replace('a', 'b')\nopen(p, 'w').write(text)\nEOF";
    assert_eq!(file_effects(script, "").written, ["src/cart.ts"]);
    assert_eq!(file_effects("python3 -c \"print(open('src/cart.ts').read())\"", "").written, [""; 0]);
    let two = "python3 -c \"open('src/b.ts', 'w').write(open('src/a.ts').read())\"";
    assert_eq!(file_effects(two, "").written, [""; 0], "one of them is only read");
}

#[test]
fn a_commit_elsewhere_cures_nothing_here() {
    assert!(!same_purpose("git commit -m 'a'", "git -C /home/dev/other commit -m 'b'"));
    assert!(!same_purpose("git commit -m 'a'", "cd ../other && git commit -m 'b'"));
    assert!(same_purpose("git -C . commit -m 'a'", "git commit -m 'b'"));
}

#[test]
fn a_command_line_shows_the_values_of_its_own_variables() {
    assert_eq!(with_values("p=/tmp/a && cat $p ${p}/b $path"), "p=/tmp/a && cat /tmp/a /tmp/a/b $path");
    assert_eq!(with_values("p=$(pwd) && cat $p"), "p=$(pwd) && cat $p");
}

proptest! {
    #[test]
    fn never_panics(command in any::<String>()) {
        segments(&command);
        file_effects(&command, "");
        failed_behind_pipe(&command, &command);
        class(&command);
        shared_words(&command);
        error_line(&command);
        test_counts(&command);
    }
}

#[test]
fn a_branch_that_starts_from_another() {
    assert_eq!(branch_from("git fetch && git checkout -b shop/pay shop/cart"), Some(("shop/pay", "shop/cart")));
    assert_eq!(branch_from("git -C web switch -c pay release-2"), Some(("pay", "release-2")));
    for other in
        ["git checkout -b pay", "git checkout -b pay origin/main", "git checkout main src/cart.ts", "git switch pay"]
    {
        assert_eq!(branch_from(other), None, "{other}");
    }
}

#[test]
fn a_program_is_found_behind_what_runs_it() {
    for (segment, program) in [
        ("uv run --with shop python3 -m stock check src/a.py", "stock"),
        ("SHOP=1 sudo -u web npx prettier --check a.md", "prettier"),
        ("docker compose exec -T web bin/stock list", "stock"),
        ("mise exec -- stock list", "stock"),
        ("timeout 30s .venv/bin/python3.12 run.py", "python"),
        ("do rtk proxy grep -n a b", "grep"),
        ("bun run stock", "stock"),
        ("cargo run", "cargo"),
        ("", ""),
    ] {
        assert_eq!(own_program(segment), program, "{segment}");
    }
    assert_eq!(verb_words("kubectl --context shop -n web get secret till -o json"), ["kubectl", "get", "secret"]);
    assert_eq!(verb_words("gh pr merge 3 -R shop/till"), ["gh", "pr", "merge"]);
    assert_eq!(verb_words("curl https://shop.example"), ["curl"]);
}

#[test]
fn commands_that_share_only_their_runner_are_not_of_one_purpose() {
    for (failed, later) in [
        ("uv run stock check src/a.py", "uv run till open 2"),
        ("npx stock a", "npx till a"),
        ("poetry run stock a", "poetry run till a"),
        ("docker compose exec web stock a", "docker compose exec web till a"),
        ("cd web && git merge-base a b", "cd web && git push a b"),
        ("bun run stock", "bun run till"),
    ] {
        assert!(!same_purpose(failed, later), "{failed} / {later}");
        assert!(!is_form_of(failed, later), "{failed} / {later}");
    }
    assert!(same_purpose("uv run till open 2", "cd . && poetry run till open 2"));
    assert!(is_form_of("gh pr view 3", "cd web && GH_REPO=a/b gh pr view 3"));
}

#[test]
fn a_status_may_be_an_answer() {
    for command in [
        "gofmt -d a.go",
        "cd web && diff a b",
        "git diff --exit-code",
        "git -C /srv/shop commit --dry-run",
        "grep -q a b",
        "test -f a",
        "npx prettier --check a.md",
        "python -m ruff format --check a.py",
    ] {
        assert!(answers_by_status(command), "{command}");
    }
    for command in
        ["gofmt -w a.go", "git commit -m a", "git diff", "npm test", "bun run test", "rtk bun run test", "ruff check a.py"]
    {
        assert!(!answers_by_status(command), "{command}");
    }
}

#[test]
fn the_part_that_changes_something_is_the_cure() {
    assert_eq!(curing_segment("gofmt -d a.go", "gofmt -w a.go && gofmt -l a.go"), "gofmt -w a.go");
    assert_eq!(curing_segment("till a", "till --now a && stock list"), "till --now a");
    assert_eq!(curing_segment("till a", "cd web && till b"), "till b");
    let pushed = "gh pr create --fill && git status --short";
    assert_eq!(curing_segment("git push origin till", pushed), "gh pr create --fill", "a look is no cure");
    assert!(only_looks("cd web && git status --short") && only_looks("ls -la") && !only_looks("git branch -d till"));
}

proptest! {
    #[test]
    fn programs_and_complaints_never_panic(command in any::<String>(), output in any::<String>()) {
        own_program(&command);
        verb_words(&command);
        answers_by_status(&command);
        curing_segment(&command, &output);
        complaint(&command, &output, true);
    }

    // A pair of other programs, whatever words they share.
    #[test]
    fn other_programs_are_no_pair(words in "[a-z]{1,6}( [a-z0-9./-]{1,8}){0,4}", runner in "(uv run |npx |sudo |cd web && )?") {
        let (one, other) = (format!("{runner}till {words}"), format!("{runner}stock {words}"));
        prop_assert!(!is_form_of(&one, &other), "{one} / {other}");
        prop_assert!(!runs_program_of(&one, &other), "{one} / {other}");
    }
}

#[test]
fn what_may_change_something_beside_files() {
    for command in [
        "git push",
        "gh pr comment 7 --body x",
        "gh run rerun 7",
        "gh api repos/shop/till/issues -f title=x",
        "rm -rf out",
        "npm i till",
        "git checkout -b till",
        "for name in till cart; do git branch -D $name; done",
        "if [ -d out ]; then rm -r out; fi",
    ] {
        assert!(may_change(command), "{command}");
    }
    for command in [
        "git log --oneline && git fetch",
        "gh pr view 7 && gh api repos/shop/till/pulls/7/comments",
        "gh run list --limit 3",
        "git checkout main && git branch -vv",
        "for name in till cart; do cat $name.rs; done",
        "if [ -d out ]; then ls out; fi",
        "",
        "cargo test -p till",
        "go list ./...",
        "cat till.rs | head",
    ] {
        assert!(!may_change(command), "{command}");
    }
}

#[test]
fn what_may_write_files_that_no_word_names() {
    for command in [
        "pnpm install",
        "cargo build && git add -A",
        "npx prettier --write .",
        "git checkout till",
        "git mv a.rs b.rs",
        "python3 make_icons.py",
        "for f in *.rs; do sed -i s/a/b/ $f; done",
    ] {
        assert!(may_write_files(command), "{command}");
    }
    for command in
        ["git add -A && git commit -m 'Install the till'", "git status", "npm test", "ls -la", "eslint src", "gh pr view 7"]
    {
        assert!(!may_write_files(command), "{command}");
    }
}

#[test]
fn what_stands_before_the_last_command_passed_only_if_the_line_did() {
    use super::before_last;
    assert_eq!(before_last("npm run build && npm test | tail"), Some("npm run build"));
    for line in ["npm run build && npm test || true", "npm run build && npm test; echo $?", "a | b && c", "npm test"] {
        assert_eq!(before_last(line), None, "{line}");
    }
}

#[test]
fn a_line_that_goes_on_begins_no_command() {
    let command = "git add \\\n  till.ts \\\n  cart.ts && \\\ngit commit -m x";
    assert_eq!(class(command), Class::Commit);
    assert_eq!(main_segment(command), "git commit -m x");
}
