//! Tests of failures and their cures.

use super::cure::{command_with_folder, is_whole};
use super::*;
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

fn cured(error: &str, edited: bool, failed: &str, passed: &str) -> Option<String> {
    let mut failures = Failures::default();
    failures.command_failed(failed, error, &LineRef::default(), 1);
    if edited {
        failures.file_changed("src/cart.ts");
    }
    let cures = failures.command_passed(passed, crate::extract::labels::labels(text::Language::English));
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
    let labels = crate::extract::labels::labels(text::Language::English);
    let mut failures = Failures::default();
    failures.command_failed("git status", "fatal: unable to read 1a2b3c4d", &LineRef::default(), 1);
    failures.command_failed("git log -1", "fatal: your branch has no commits", &LineRef::default(), 1);
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
        failures.command_failed("git commit -m a", "the hook hangs", &LineRef::default(), 1);
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
    let labels = crate::extract::labels::labels(text::Language::English);
    let mut failures = Failures::default();
    for _ in 0..2 {
        failures.edit_failed("src/cart.ts", "the text was not found", &LineRef::default(), 1);
    }
    assert_eq!(
        failures.clone().edit_passed("src/cart.ts", "Write", labels)[0].content,
        "edit of src/cart.ts fails (2×): the text was not found. Fixed by: writing the file with `Write`"
    );
    assert!(failures.edit_passed("src/cart.ts", "Edit", labels).is_empty(), "another edit says nothing");
}

#[test]
fn a_later_cause_belongs_to_the_failure_that_it_names() {
    let labels = crate::extract::labels::labels(text::Language::English);
    let mut failures = Failures::default();
    failures.command_failed("git commit -m a", "the hook is broken", &LineRef::default(), 1);
    failures.agent_said("I look at the list of orders.");
    failures.agent_said("The totals are wrong because `src/tax.ts` rounds twice.");
    failures.agent_said("The hook fails because `core.hooksPath` names a folder that is gone.");
    let cures = failures.command_passed("git -c core.hooksPath=.hooks commit -m a", labels);
    assert!(cures[0].content.contains("folder that is gone"), "{}", cures[0].content);
    assert!(!cures[0].content.contains("rounds twice"), "{}", cures[0].content);
}

#[test]
fn a_commit_elsewhere_says_nothing_of_a_failed_one() {
    let labels = crate::extract::labels::labels(text::Language::English);
    let mut failures = Failures::default();
    failures.command_failed("git commit -m a", "the hook is broken", &LineRef::default(), 1);
    failures.checks_committed("git -C /srv/notes commit -m b");
    let cures = failures.command_passed("git commit --no-verify -m a", labels);
    assert!(cures[0].content.contains("--no-verify"), "{}", cures[0].content);
}

#[test]
fn edits_that_fail_alike_in_several_files_are_one_lesson() {
    let labels = crate::extract::labels::labels(text::Language::English);
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
    let labels = crate::extract::labels::labels(text::Language::English);
    let mut failures = Failures::default();
    let error = "error: could not find the executable `turbo`: command not found";
    failures.command_failed("bun run build", error, &LineRef::default(), 1);
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
    let labels = crate::extract::labels::labels(text::Language::English);
    let mut failures = Failures::default();
    for file in ["src/cart.ts", "src/order.ts"] {
        failures.edit_failed(file, "text not found", &LineRef::default(), 1);
        failures.edit_failed(file, "text not found", &LineRef::default(), 1);
    }
    failures.agent_said("`order.ts` is indented with five tabs.");
    let cart = failures.edit_passed("src/cart.ts", "Write", labels);
    assert!(!cart[0].content.contains("five tabs"), "{}", cart[0].content);
    let order = failures.edit_passed("src/order.ts", "Edit", labels);
    assert!(order[0].content.ends_with("Cause: `order.ts` is indented with five tabs."), "{}", order[0].content);
}

#[test]
fn a_rule_of_a_linter_is_told_with_the_file_that_was_changed_for_it() {
    let labels = crate::extract::labels::labels(text::Language::English);
    let cure = |cause: &str| {
        let mut failures = Failures::default();
        failures.command_failed("npm run lint", "src/cart.ts useExhaustiveDependencies", &LineRef::default(), 1);
        failures.agent_said(cause);
        failures.file_changed("src/cart.ts");
        failures.command_passed("npm run lint", labels).into_iter().next().map(|cure| cure.content)
    };
    let told = cure("The linter fails because `useEffect` must not depend on `tabs`.").unwrap();
    assert!(told.ends_with("Fixed by: a change of `src/cart.ts`"), "{told}");
    assert_eq!(cure("I fix the formatting."), None, "a slip teaches nothing");
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
    let labels = crate::extract::labels::labels(text::Language::English);
    let mut failures = Failures::default();
    for command in ["shop verify", "shop run verify"] {
        failures.command_failed(command, "error: Script not found \"verify\"", &LineRef::default(), 1);
    }
    let cures = failures.command_passed("cd /srv/shop && shop run verify", labels);
    let told = cures.first().map(|cure| cure.content.clone()).unwrap_or_default();
    assert!(!told.ends_with("Fixed by: `shop run verify`"), "{told}");
}

#[test]
fn the_shorter_way_that_is_used_later_is_the_cure() {
    let labels = crate::extract::labels::labels(text::Language::English);
    let mut failures = Failures::default();
    failures.command_failed("wrap npm run test", "error: unrecognized subcommand 'npm'", &LineRef::default(), 1);
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
