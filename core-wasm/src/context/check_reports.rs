//! What an outcome says of checks: "All tests pass, lint is clean." Tools say that more surely, and how it was at the end.

use std::borrow::Cow;

use crate::text;

/// The words with which a sentence says that a check passed, in lower case.
const PASSES: [&str; 18] = [
    "clean",
    "cleanly",
    "pass",
    "passes",
    "passed",
    "passing",
    "no issues",
    "0 issues",
    "0 errors",
    "no errors",
    "succeed",
    "succeeds",
    "succeeded",
    "green",
    "통과",
    "通過",
    "パス",
    "通过",
];

/// The checks by the beginning of the words that name them in English.
const CHECKS: [(&str, &[&str]); 4] = [
    ("test", &["test"]),
    ("lint", &["lint", "golangci", "eslint", "biome", "clippy", "ruff"]),
    ("type", &["type", "tsc"]),
    ("build", &["build", "compil"]),
];

/// The other words of a sentence that reports nothing but checks.
const OTHER_WORDS: &[&str] = &[
    "all",
    "the",
    "unit",
    "integration",
    "existing",
    "new",
    "suite",
    "suites",
    "pass",
    "passes",
    "passed",
    "passing",
    "and",
    "is",
    "are",
    "clean",
    "cleanly",
    "no",
    "issues",
    "errors",
    "warnings",
    "check",
    "checks",
    "checking",
    "succeeds",
    "succeeded",
    "successfully",
    "green",
    "with",
    "both",
    "now",
    "still",
    "verified",
    "everything",
    "full",
    "too",
    "also",
    "code",
    "project",
    "of",
    "across",
    "backend",
    "frontend",
    "whole",
    "final",
    "verification",
    "run",
    "runs",
];

/// Returns whether a sentence of the text reports that the check of that name passed.
pub(super) fn reports_check(said: &str, name: &str) -> bool {
    let lower = said.to_lowercase();
    text::sentences(&lower).iter().any(|it| text::contains(it, name) && text::contains_any_words(it, &PASSES))
}

/// Returns whether a sentence of the text says that a failure has nothing to do with the session's changes.
pub(super) fn says_older(said: &str) -> bool {
    const OLDER: [&str; 6] =
        ["pre-existing", "preexisting", "already failing", "already failed", "unrelated to", "unrelated failure"];
    const FAULTS: [&str; 6] = ["fail", "error", "flak", "timeout", "broken", "warning"];
    // What the machine lacks explains itself, and what was mended fails no more.
    const EXPLAINED: [&str; 6] = ["require", "env", "not set", "connection", "credential", "fixed"];
    text::sentences(said).iter().map(|it| it.to_lowercase()).any(|it| {
        text::contains_any(&it, &OLDER) && text::contains_any(&it, &FAULTS) && !text::contains_any(&it, &EXPLAINED)
    })
}

/// Returns whether the text tells that so many tests passed.
pub(super) fn tells_count(said: &str, passed: &str) -> bool {
    let has_count = |part: &str| part.split(|c: char| !c.is_ascii_digit()).any(|number| number == passed);
    let lower = said.to_lowercase();
    lower.split([';', '.', '。']).any(|part| has_count(part) && text::contains_any_words(part, &PASSES))
}

/// Returns the text without the sentences that only report checks of which tools said how they ended. `evidence` is what they said, one
/// verdict each: "lint: pass", or `not_run` with the names of checks. A text of nothing else stays.
pub(super) fn without_reports<'a>(said: &'a str, evidence: &[&str], not_run: &str) -> Cow<'a, str> {
    let known: Vec<&str> = evidence
        .iter()
        .filter_map(|verdict| verdict.split_once(": "))
        .map(|(name, names)| if name == not_run { names } else { name })
        .collect();
    let sentences = text::sentences(said);
    let kept: Vec<Cow<str>> = sentences.iter().filter_map(|sentence| without_items(sentence, &known)).collect();
    let is_whole = kept.len() == sentences.len() && kept.iter().all(|it| matches!(it, Cow::Borrowed(_)));
    // What stood before the dash of a commit may be gone.
    let rest = || kept.join(" ").trim_start_matches("— ").to_owned();
    if kept.is_empty() || is_whole { said.into() } else { rest().into() }
}

/// Returns a sentence without those items of its list that only report checks which are among the known ones. None if that is all it says.
fn without_items<'a>(sentence: &'a str, known: &[&str]) -> Option<Cow<'a, str>> {
    let items = || sentence.split("; ");
    let kept: Vec<&str> = items().filter(|item| !is_known_report(item, known)).collect();
    let last = kept.last()?;
    let is_open = |items: &[&str]| items.concat().matches('(').count() != items.concat().matches(')').count();
    if kept.len() == items().count() || is_open(&kept) {
        return Some(sentence.into());
    }
    let end = if last.ends_with(['.', '!', '?', '。']) { "" } else { "." };
    Some(format!("{}{end}", kept.join("; ")).into())
}

/// Returns whether a sentence only reports checks that passed, all of which are among the known ones.
fn is_known_report(sentence: &str, known: &[&str]) -> bool {
    let lower = sentence.to_lowercase();
    let mut names_check = false;
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    for word in words {
        let check = CHECKS.iter().find(|(_, names)| names.iter().any(|name| word.starts_with(name)));
        match check {
            Some((_, names)) if known.iter().any(|known| text::contains_any(known, names)) => names_check = true,
            None if OTHER_WORDS.contains(&word) || word.bytes().all(|byte| byte.is_ascii_digit()) => {}
            Some(_) | None => return false,
        }
    }
    names_check && text::contains_any_words(&lower, &PASSES) && !lower.contains('`')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_may_be_called_older() {
        assert!(says_older("The till opens. The drawer has pre-existing compilation errors unrelated to this change."));
        for other in [
            "The test fails without `TILL_KEY`: a pre-existing environment issue.",
            "Fixed a pre-existing error of the drawer.",
            "The pre-existing slips stay. Two tests fail.",
        ] {
            assert!(!says_older(other), "{other}");
        }
    }

    #[test]
    fn tools_say_more_surely_which_checks_pass() {
        let evidence = ["tests: 12 pass, 0 fail", "not run since: lint", "pushed to `build`", "never run: build:all"];
        let without_reports =
            |said: &'static str, evidence: &[&str]| super::without_reports(said, evidence, "not run since");
        let said = "All 12 tests pass and lint is clean. The till rounds up. ✅ All integration tests pass.";
        assert_eq!(without_reports(said, &evidence), "The till rounds up.");
        for kept in [
            "All tests pass.",
            "The build passes. The till rounds up.",
            "All tests of the till pass. The till rounds up.",
            "All tests pass except one. The till rounds up.",
            "Tests: 3. The till rounds up.",
        ] {
            assert_eq!(without_reports(kept, &evidence), kept);
        }
        assert_eq!(without_reports("Lint is clean. The till rounds up.", &[]), "Lint is clean. The till rounds up.");
        let list = "The till rounds up; All existing tests pass; Lint is clean.";
        assert_eq!(without_reports(list, &evidence), "The till rounds up.", "items of a list");
        let aside = "The till rounds up (two coins; lint is clean).";
        assert_eq!(without_reports(aside, &evidence), aside);
    }

    #[test]
    fn what_a_text_reports_of_a_check() {
        assert!(reports_check("Done. All tests pass, lint is clean.", "lint"));
        assert!(!reports_check("The linter was set up.", "lint"));
        assert!(!reports_check("Cleaned up the build of the till.", "build"));
        assert!(reports_check("The till rounds up, and the build still passes.", "build"));
        assert!(tells_count("All 12 tests pass.", "12"));
        assert!(!tells_count("The till has 12 keys. All tests pass.", "12"));
    }

    #[test]
    fn a_commit_behind_a_known_report_begins_without_its_dash() {
        let said = "All tests pass. — committed as \"Fold the slip\".";
        assert_eq!(without_reports(said, &["tests: pass"], "not run"), "committed as \"Fold the slip\".");
    }
}
