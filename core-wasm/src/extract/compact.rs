//! The summary that the agent writes when its context is compacted. The whole summary becomes one memory, and each
//! error that it lists with a fix becomes another.

use super::clean;
use super::failures;
use super::memories::{LineRef, SessionMemory};
use super::signs;
use crate::bindings::throughline::policy::types::Draft;
use crate::said_by::SaidBy;
use crate::text;
use crate::transcript::user_text;

/// The maximum number of fixes from one summary.
const MAX_FIXES: usize = 8;

/// The length above which an error is told without how it showed, in characters.
const MAX_WHOLE_CHARS: usize = 280;

/// The beginning of the key of a fix.
const FIX_KEY: &str = "compactfix:";

/// Signs of a slip in the code that was being written: the compiler or the linter said so at once, and will say so again.
const SLIPS: &[&str] = &[
    "appendassign",
    "compiler error",
    "does not compile",
    "doesn't compile",
    "import order",
    "linter:",
    "maintidx",
    "not enough arguments",
    "redundant condition",
    "too many arguments",
    "too many return values",
    "trailing newline",
    "unreachable code",
    "wrong filename",
    "wrong file name",
];

/// Signs at the beginning of an error that a test or a linter failed for the code that was being written.
const OF_CHECKS: &[&str] = &[
    "failing test",
    "failing tests",
    "lint",
    "linter",
    "naming conflict",
    "string replacement",
    "test expected",
    "test expecting",
    "test failed",
    "test failing",
    "test failure",
    "test failures",
    "test setup",
    "tests expect",
    "tests expected",
    "tests expecting",
    "tests failed",
    "tests failing",
    "테스트 실패",
    "린트",
    "テスト失敗",
    "テストの失敗",
    "リント",
    "测试失败",
];

/// Words of a failed check that was not only one of the code: it will be met again with other code.
const OF_SURROUNDINGS: &[&str] = &[
    "ci",
    "docker",
    "environment",
    "flaky",
    "gofmt",
    "linux",
    "macos",
    "must",
    "needs",
    "network",
    "permission",
    "permissions",
    "proxy",
    "rejected",
    "requires",
    "sandbox",
    "symlink",
    "symlinks",
    "timeout",
    "user asked",
    "user caught",
    "user corrected",
    "user pointed",
    "user redirected",
    "user rejected",
    "user reported",
    "user said",
    "windows",
    "필요",
    "환경",
    "必要",
    "環境",
    "环境",
];

/// Other words of an error that is not only one of the code that was being written.
const OF_SETTING: &[&str] = &[
    "cache",
    "cached",
    "formatter",
    "hook",
    "install",
    "installed",
    "linter",
    "platform",
    "sandboxed",
    "stale",
    "support",
    "supports",
    "unsupported",
    "user requested",
    "version",
    "버전",
    "캐시",
    "バージョン",
    "キャッシュ",
    "版本",
    "缓存",
];

/// The length of the beginning of an error that says what failed, in bytes.
const MAX_SUBJECT_BYTES: usize = 110;

/// Returns whether an error is told for a check of the code alone, which passes now.
fn is_of_check(problem: &str, lower: &str) -> bool {
    let bare = ["Error: ", "Issue: ", "Bug: "].iter().find_map(|label| problem.strip_prefix(*label)).unwrap_or(problem);
    let subject = text::head(bare.split(": ").next().unwrap_or(bare), MAX_SUBJECT_BYTES);
    let names_test = subject
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| word.strip_prefix("Test").is_some_and(|name| name.starts_with(|c: char| c.is_uppercase())));
    let fails =
        text::contains_any_words(&subject.to_lowercase(), &["fail", "failed", "failing", "fails", "failure", "not found"]);
    let is_named = (names_test && fails) || text::contains_any_words(&subject.to_lowercase(), OF_CHECKS);
    (is_named || is_of_work(&bare.to_lowercase())) && !text::contains_any_words(lower, OF_SURROUNDINGS)
}

/// Returns whether an error in lower case is a numbered bug or issue, or a finding of a review: the work itself, of which the outcome tells what came of it.
fn is_of_work(lower: &str) -> bool {
    let subject = text::head(lower.split(": ").next().unwrap_or(lower), MAX_SUBJECT_BYTES);
    // What a review found is the work, too.
    if text::contains_any_words(subject, &["severity", "during review", "in review", "review round"])
        || (text::contains_words(subject, "round") && subject.contains("review"))
    {
        return true;
    }
    let named = lower.trim_start_matches(['p', '0', '1', '2', '3', ' ']);
    ["bug", "issue", "finding"].iter().any(|word| {
        let rest = named.strip_prefix(word).map(|rest| rest.trim_start_matches([' ', '#']));
        rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    })
}

/// Returns whether an error may be met again: it names a command or what one printed, or something around the code. Any other one was a
/// fault of the code that was being written, and is mended.
fn may_return(whole: &str, lower: &str) -> bool {
    let is_name = |word: &str| {
        let word = word.strip_suffix(':').unwrap_or(word);
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(&byte))
    };
    let mut spans = whole.split('`').skip(1).step_by(2);
    spans.any(|span| span.split_once(' ').is_some_and(|(program, _)| is_name(program)))
        || text::contains_any_words(lower, OF_SURROUNDINGS)
        || text::contains_any_words(lower, OF_SETTING)
}

/// Returns whether a text in lower case tells a slip of the agent in the code that it wrote.
fn is_slip(lower: &str) -> bool {
    let lacks_import = lower.starts_with("missing") && text::contains_words(text::head(lower, 60), "import");
    lacks_import || signs::is_one_off(lower) || text::contains_any(lower, SLIPS)
}

/// Returns whether a key is that of a fix from a summary.
pub(super) fn is_fix(key: &str) -> bool {
    key.starts_with(FIX_KEY)
}

/// Returns the whole summary as a memory, or none if nothing remains without its frame.
pub(super) fn summary(text: &str, source: &LineRef) -> Option<Draft> {
    let summary = user_text::compact_summary(&clean::clean(text));
    if summary.is_empty() || summary.contains(user_text::INJECTED_HEADING) {
        return None;
    }
    let is_heading = |sentence: &String| sentence.ends_with([':', '：']);
    let title =
        text::sentences(&summary).into_iter().find(|sentence| !is_heading(sentence) && sentence.chars().count() >= 20);
    Some(Draft {
        key: Some(format!("compact:{:08x}", text::hash(&summary))),
        kind: "compact_summary".to_owned(),
        title: text::clip(&title.unwrap_or_else(|| text::one_line(&summary)), 200).into_owned(),
        content: text::clip_block(&summary, 60 * 1024).into_owned(),
        keywords: Vec::new(),
        files: Vec::new(),
        importance: 0.6,
        origin: source.origin(),
        attributes: vec![SaidBy::Agent.attribute()],
    })
}

/// Returns the errors that the summary lists, with their fixes.
pub(super) fn fixes(text: &str, source: &LineRef) -> Vec<SessionMemory> {
    let summary = user_text::compact_summary(&clean::clean(text));
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    let mut top = None;
    for line in section(&summary) {
        let indent = line.len() - line.trim_start().len();
        let item = text::plain(line);
        if item.is_empty() || item.to_lowercase().starts_with("user feedback") {
            continue;
        }
        // What was done about an error may stand below it without being set off.
        if indent <= *top.get_or_insert(indent) && (all.is_empty() || !is_detail(&item)) {
            all.push((item, Vec::new()));
        } else if let Some((_, details)) = all.last_mut() {
            details.push(item);
        }
    }
    all.into_iter().filter_map(|(problem, details)| fix(&problem, &details, source)).take(MAX_FIXES).collect()
}

/// Returns whether a failure that was seen has the command of a fix of the summary, and most of its words.
pub(super) fn is_told_by(fix: &str, failure: &str) -> bool {
    let commands = |said: &'_ str| -> Vec<String> {
        let spans = said.split('`').skip(1).step_by(2);
        spans.filter(|span| span.contains(' ')).map(str::to_owned).collect()
    };
    let (own, seen) = (commands(fix), commands(failure));
    let (words, told) = (text::features(fix), text::features(failure));
    let shared = words.iter().filter(|word| told.contains(word)).count();
    own.iter().any(|command| seen.contains(command)) && shared * 2 >= words.len()
}

fn fix(problem: &str, details: &[String], source: &LineRef) -> Option<SessionMemory> {
    let problem = without_number(problem.trim_end_matches([':', '：']));
    let mut content = if details.is_empty() { problem.to_owned() } else { format!("{problem}: {}", details.join(" ")) };
    // What was done about it is worth more than how it showed.
    let cures: Vec<&str> = details.iter().map(String::as_str).filter(|detail| opens_with_cure(detail)).collect();
    if content.chars().count() > MAX_WHOLE_CHARS && !cures.is_empty() {
        content = format!("{problem}: {}", cures.join(" "));
    }
    let content = text::clip(&content, 420).into_owned();
    let lower = content.to_lowercase();
    let says_fix = text::contains_any(
        &lower,
        &[
            "fix", "resolved", "solution", "changed", "replaced", "switched", "added", "removed", "해결", "수정", "解決",
            "修正", "修复", "解决",
        ],
    );
    // What is left out of the text may say that nothing helped.
    let told = format!("{problem} {}", details.join(" "));
    let whole = told.to_lowercase();
    let open = text::contains_any(
        &whole,
        &[
            "not yet fixed",
            "not fixed",
            "(current)",
            "did not fix",
            "didn't fix",
            "no errors",
            "none",
            "still fail",
            "fix attempt",
            "investigating",
            "in progress",
            "still needs",
        ],
    );
    // Whoever went past a check mended nothing.
    let open = open || failures::is_bypass(&lower);
    let is_lasting = !is_slip(&lower) && !is_of_check(problem, &whole) && may_return(&told, &whole);
    (says_fix && !open && is_lasting && content.chars().count() >= 40).then(|| SessionMemory {
        key: format!("{FIX_KEY}{:08x}", text::hash(&content)),
        kind: "error_fix".to_owned(),
        title: text::clip(&content, 200).into_owned(),
        content,
        importance: 50,
        source: source.clone(),
        ..SessionMemory::default()
    })
}

/// Removes the number that a summary gives to an error: "Error 1 - ".
fn without_number(problem: &str) -> &str {
    let Some(rest) = problem.strip_prefix("Error ") else { return problem };
    let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let said = after.trim_start_matches([' ', '-', '–', '—', ':', '.', ')']);
    let is_numbered = after.len() < rest.len() && said.len() < after.len();
    if is_numbered && !said.is_empty() { said } else { problem }
}

/// Returns whether a detail of an error begins with what was done about it.
fn opens_with_cure(detail: &str) -> bool {
    let lower = detail.to_lowercase();
    ["fix", "solution", "resol", "cure", "해결", "수정", "解決", "修正", "修复", "解决"]
        .iter()
        .any(|sign| lower.starts_with(sign))
}

/// Returns whether an item only says why an error happened or what was done about it, without the error.
fn is_detail(item: &str) -> bool {
    let lower = item.to_lowercase();
    let is_cause = ["cause", "root cause", "원인", "原因"]
        .iter()
        .any(|label| lower.strip_prefix(label).is_some_and(|rest| rest.starts_with([':', '：'])));
    is_cause || opens_with_cure(item)
}

/// Returns the lines below the heading "Errors and fixes", up to the next numbered heading, without code.
fn section(summary: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let (mut inside, mut code) = (false, false);
    for line in summary.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") {
            code = !code;
            continue;
        }
        let heading =
            !line.starts_with("  ") && trimmed.trim_start_matches(['#', '*', ' ']).starts_with(|c: char| c.is_ascii_digit());
        if heading {
            inside = trimmed.to_lowercase().contains("errors and fixes");
        } else if inside && !code && !trimmed.is_empty() {
            lines.push(line);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUMMARY: &str = "<summary>\n1. Primary Request:\n   - Fix the uploads of the web app\n\n4. Errors and fixes:\n   - **Wrong branch**: `git switch feat/a` instead of `feat/b`\n     - Fixed by deleting it\n     - User feedback: \"not that one\"\n   - **Uploads fail**: cause found but NOT YET FIXED\n\n5. Problem Solving:\n   - something fixed and solved here long enough to count\n</summary>";

    #[test]
    fn fixes_are_taken_one_by_one() {
        let fixes = fixes(SUMMARY, &LineRef::default());
        assert_eq!(fixes.len(), 1);
        assert_eq!(fixes[0].content, "Wrong branch: `git switch feat/a` instead of `feat/b`: Fixed by deleting it");
    }

    #[test]
    fn why_an_error_happened_belongs_to_it() {
        let summary = "<summary>\n4. Errors and fixes:\n   - Error: the cached till and the drawer import each other:\n   - Cause: Both use the types of the cart\n   - Fix: Moved the helper functions to the shop\n\n5. Problem Solving:\n</summary>";
        let told: Vec<String> = fixes(summary, &LineRef::default()).into_iter().map(|fix| fix.content).collect();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].starts_with("Error: the cached till and the drawer import each other: Cause: "), "{told:?}");
    }

    #[test]
    fn findings_of_a_review_are_the_work() {
        let made = |problem: &str| {
            fix(problem, &["Fixed by changing the cart once more, and it is atomic now".to_owned()], &LineRef::default())
        };
        assert!(made("REVIEW.md round 2 (3 issues)").is_none());
        assert!(made("Missing slip is taken for a match (High Severity bug)").is_none());
        assert!(made("The drawer opens twice (found during review)").is_none());
        assert!(made("The drawer opens twice on macOS").is_some());
    }

    #[test]
    fn a_long_error_is_told_with_its_cure() {
        let details = [
            "Symptom: ".to_owned() + &"the totals of the cached slips differ by a cent ".repeat(8),
            "Fix: Round half up in the cart".to_owned(),
        ];
        let made = |details: &[String]| fix("Error 2 - The totals differ:", details, &LineRef::default());
        assert_eq!(made(&details).unwrap().content, "The totals differ: Fix: Round half up in the cart");
        assert!(made(&["Fix attempt 1: Round half up Result: DID NOT FIX, they differ as before".to_owned()]).is_none());
        let tried = ["Fix attempt 1: Round half up".to_owned(), "Result: they differ as before".to_owned()];
        assert!(made(&tried).is_none(), "an attempt is no cure");
        assert_eq!(without_number("404 pages are empty"), "404 pages are empty");
    }

    #[test]
    fn slips_in_the_code_that_was_written_are_not_told() {
        let made = |problem: &str| {
            fix(problem, &["Fixed by changing the cart once more, and all tests pass".to_owned()], &LineRef::default())
        };
        assert!(made("Missing `math/round` import").is_none());
        assert!(made("Compiler error \"too many return values\"").is_none());
        assert!(made("Missing till in the `drawer` that `Till::open(slip)` reads").is_none(), "it was mended");
        assert!(made("Missing till in the drawer: `till open` needs a name").is_some());
        assert!(made("Missing till in the drawer of an older version").is_some());
        assert!(made("Test failure `TestCartTotal`: got 3 slips").is_none());
        assert!(made("`TestTill_Opens` failing after the change of the drawer").is_none());
        assert!(made("Linter suggesting another loop over the slips").is_none());
        assert!(made("P1 Bug #2 - Slips are printed twice").is_none(), "the work itself");
        assert!(made("Other slips: the linter removed the comments of the drawer").is_some());
        assert!(made("Test failure on macOS: the drawer lies behind a symlink").is_some(), "it will fail there again");
        assert!(made("Test failure `TestTill`: the till requires a real drawer").is_some());
        assert!(made("Drawer stays open: currently investigating").is_none());
    }

    #[test]
    fn the_whole_summary_is_named_by_its_request() {
        let draft = summary(SUMMARY, &LineRef::default()).unwrap();
        assert_eq!(draft.title, "Fix the uploads of the web app");
        assert!(summary("<analysis>x</analysis>", &LineRef::default()).is_none());
    }
}
