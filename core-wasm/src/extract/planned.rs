//! The checks that a plan asks for: what commands check, and what somebody has to look at by hand.

use serde::{Deserialize, Serialize};

use super::commands::{self, Class};
use crate::text;

/// The maximum number of planned checks to keep.
const MAX_CHECKS: usize = 6;
/// The maximum length of one check, in characters.
const MAX_CHECK_CHARS: usize = 160;
/// The minimum length of the arguments by which a command is recognized with another program, in bytes.
const MIN_ARGUMENT_BYTES: usize = 6;
/// The minimum length of a script by which a command is recognized with another interpreter, in bytes.
const MIN_SCRIPT_BYTES: usize = 20;
/// How many words an objection and a check must share to have the same subject.
const MIN_SHARED_WORDS: usize = 2;

/// The maximum length of an objection, in characters.
const MAX_OBJECTION_CHARS: usize = 400;

/// Words in the heading above the checks of a plan.
const CHECK_HEADINGS: &[&str] =
    &["verif", "manual", "test plan", "how to test", "validation", "검증", "확인 방법", "検証", "確認方法", "验证"];

/// Words of a check that somebody has to make by hand.
const MANUAL_WORDS: &[&str] = &[
    "manual",
    "browser",
    "visual",
    "in the ui",
    "end-to-end",
    "open ",
    "click",
    "look at",
    "start a ",
    "수동",
    "브라우저",
    "눈으로",
    "手動",
    "ブラウザ",
    "目視",
    "手动",
    "浏览器",
];

/// Words with which a check says what must hold. Other lines only lead to it: "open the page".
const ASSERTION_WORDS: &[&str] = &[
    "verify",
    "confirm",
    "check ",
    "check:",
    "ensure",
    "expect",
    "should ",
    "must ",
    "make sure",
    " appears",
    " shows ",
    " displays",
    " navigates",
    " renders",
    " remains",
    "확인",
    "確認",
    "確かめ",
    "检查",
    "确认",
    "验证",
];

/// Verbs with which a check asks to use what was made. A line that names no automatic check is then made by hand.
const USES: &[&str] = &[
    "run", "start", "launch", "navigate", "go to", "visit", "load", "select", "execute", "trigger", "create", "call",
    "send", "deploy", "upload", "log in", "try", "test", "use", "switch",
];

/// Words of a check that a command makes.
const AUTOMATIC_WORDS: &[&str] =
    &["test", "lint", "typecheck", "type check", "compile", "build", "테스트", "テスト", "测试"];

/// A check that a plan asks for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PlannedCheck {
    pub text: String,
    /// The commands that it names. A check without commands is made by hand.
    commands: Vec<String>,
    /// Whether it says what must hold.
    #[serde(default)]
    pub is_assertion: bool,
}

impl PlannedCheck {
    /// Returns whether a command line that passed makes this check: it has one of the commands, perhaps with other options.
    pub(super) fn is_made_by(&self, command: &str) -> bool {
        self.commands.iter().any(|planned| {
            let opening = without_options(planned);
            command.contains(planned.as_str())
                || script_of(planned).is_some_and(|script| command.contains(script))
                || (opening.len() > 1
                    && commands::segments(command)
                        .iter()
                        .any(|it| without_options(it).starts_with(&opening) || is_try_of(planned, it)))
        })
    }

    /// Returns whether a run of tests that passed makes this check: that the tests pass which it names.
    pub(super) fn is_made_by_tests(&self, command: &str) -> bool {
        let is_name = |code: &&str| !code.contains(' ') && code.to_lowercase().contains("test");
        let names: Vec<&str> = self.text.split('`').skip(1).step_by(2).filter(is_name).collect();
        let picked = commands::tested(command);
        // "TestTill|TestSlip" picks either.
        let patterns = || picked.split(", ").flat_map(|it| it.split('|')).map(|it| it.trim_matches(['^', '$']));
        let runs = |name: &&str| match commands::runs_tests(command) {
            Some(false) => picked.is_empty(),
            Some(true) => patterns().any(|it| !it.is_empty() && name.contains(it)),
            None => false,
        };
        !names.is_empty() && self.text.contains("pass") && names.iter().all(runs)
    }

    /// Returns whether the check can only be made after a merge.
    pub(super) fn is_for_later(&self) -> bool {
        const LATER: [&str; 9] = [
            "after merge",
            "after the merge",
            "after merging",
            "once merged",
            "next release",
            "next push",
            "머지 후",
            "マージ後",
            "合并后",
        ];
        text::contains_any(&self.text.to_lowercase(), &LATER)
    }

    /// Returns whether an objection of the user is about the subject of the check.
    pub(super) fn is_overtaken_by(&self, objection: &str) -> bool {
        // A long prompt is pasted, such as the output of a command.
        if objection.chars().count() > MAX_OBJECTION_CHARS {
            return false;
        }
        let words = text::features(objection);
        text::features(&self.text).iter().filter(|word| words.contains(word)).count() >= MIN_SHARED_WORDS
    }
}

/// A linter, a type checker or a build that a plan asks to run: its name and the command.
pub(super) type PlannedRun = (String, String);

/// Returns what the verification of a plan asks for: what somebody has to look at, and what has to be run.
pub(super) fn verification(plan: &str) -> (Vec<PlannedCheck>, Vec<PlannedRun>) {
    let mut found = Verification::default();
    let (mut is_inside, mut is_code) = (false, false);
    for line in plan.lines().map(str::trim) {
        if line.starts_with("```") || line.starts_with("~~~") {
            is_code = !is_code;
        } else if is_code {
            if is_inside {
                found.code(line);
            }
        } else if line.starts_with('#') || (line.starts_with("**") && line.trim_end_matches(':').ends_with("**")) {
            let heading = line.to_lowercase();
            is_inside = text::contains_any(&heading, CHECK_HEADINGS);
            found.led_by.clear();
        } else if is_inside && line.chars().any(char::is_alphanumeric) {
            found.prose(line);
        }
    }
    if !found.is_by_hand {
        found.checks.clear();
    }
    (found.checks, found.runs)
}

/// Returns the checks that the description of a pull request lists and whose boxes are not ticked. What it asks of its reviewers
/// is not left undone, nor is the kind that the change is not of, or what a box says to be done.
pub(super) fn unticked(description: &str) -> Vec<PlannedCheck> {
    const OTHERS: [&str; 15] = [
        "review",
        "レビュー",
        "리뷰",
        "评审",
        "审查",
        "type of",
        "types of",
        "kind of",
        "type de",
        "tipo de",
        "種類",
        "種別",
        "유형",
        "종류",
        "类型",
    ];
    const DONE: [&str; 9] =
        ["(done)", "(n/a)", "(confirmed)", "(verified)", "確認済", "対象外", "확인 완료", "확인함", "已确认"];
    let mut found = Verification::default();
    let mut is_of_others = false;
    for line in description.lines().map(str::trim) {
        if line.starts_with('#') {
            is_of_others = text::contains_any(&line.to_lowercase(), &OTHERS);
        }
        let is_box = line.starts_with("- [ ] ") || line.starts_with("* [ ] ");
        if !is_box || is_of_others || text::contains_any(&line.to_lowercase(), &DONE) {
            continue;
        }
        found.add(&text::plain(&line["- [ ] ".len()..]), commands_in(line), true);
    }
    found.checks
}

/// Returns whether a description ticks a box that says that checks pass.
pub(super) fn ticks_checks(description: &str) -> bool {
    const PASSES: [&str; 7] = ["pass", "clean", "green", "0 issues", "통과", "通過", "通过"];
    let ticks = |line: &str| line.starts_with("- [x] ") && text::contains_any(line, &PASSES);
    description.lines().map(str::trim).any(ticks)
}

/// What was found in the verification of a plan so far.
#[derive(Default)]
struct Verification {
    checks: Vec<PlannedCheck>,
    runs: Vec<PlannedRun>,
    /// Whether one of the checks can only be made by hand.
    is_by_hand: bool,
    /// The line that leads to the next ones, if it asks to try something out. May be empty.
    led_by: String,
}

impl Verification {
    /// Adds a line of prose.
    fn prose(&mut self, line: &str) {
        // A row of a table describes something.
        if line.starts_with('|') {
            return;
        }
        // A name such as `manual_commit.go` does not make a check manual.
        let lower = line.split('`').step_by(2).collect::<String>().to_lowercase();
        let commands: Vec<String> = commands_in(line);
        for command in &commands {
            self.run(command);
        }
        let has = |words: &[&str]| text::contains_any(&lower, words);
        let opening = lower.trim_start_matches(|c: char| !c.is_alphabetic());
        let is_manual = has(MANUAL_WORDS);
        // "Manual test: run it on a repository with both files" says what to look at in full.
        let is_whole_manual = opening.starts_with("manual") && line.chars().count() > 40;
        // "Test both ways:" tries something out. "Run `make lint`" and "run the tests" are made by commands.
        let is_of_commands = !commands.is_empty() && commands.iter().all(|command| is_automatic(command));
        let tries = opening.strip_prefix("test ").unwrap_or(opening);
        let names_automatic = text::contains_any(tries, AUTOMATIC_WORDS) || is_of_commands;
        let is_use = !names_automatic && USES.iter().any(|verb| text::starts_with_words(opening, verb));
        let is_assertion = has(ASSERTION_WORDS) || is_whole_manual;
        let text = text::plain(line);
        let is_lead = text.ends_with([':', '：']);
        // A line that leads to steps says nothing without them.
        if is_lead {
            self.is_by_hand |= is_manual || is_use;
            self.led_by = if is_use { text } else { String::new() };
            return;
        }
        let is_item = line.starts_with(|c: char| c.is_ascii_digit());
        if is_item {
            self.led_by.clear();
        }
        self.is_by_hand |= is_manual || is_use;
        let has_lead = !self.led_by.is_empty() && !names_automatic;
        let is_told = is_assertion && !has(AUTOMATIC_WORDS) && !commands.iter().any(|command| is_automatic(command));
        let is_check = is_manual || is_use || has_lead || is_told;
        if is_check {
            let led_by = std::mem::take(&mut self.led_by);
            let is_assertion = is_assertion || has_lead;
            let text = if led_by.is_empty() { text } else { format!("{led_by} {text}") };
            self.add(&text, commands, is_assertion);
        }
    }

    /// Adds a line of a code block: a command, perhaps with a comment that says what it is for.
    fn code(&mut self, line: &str) {
        let (command, comment) = line.split_once(" #").unwrap_or((line, ""));
        let (command, comment) = (command.trim().trim_start_matches("$ "), comment.trim());
        if !command.contains(' ') || command.starts_with('#') {
            return;
        }
        self.run(command);
        let lower = comment.to_lowercase();
        if text::contains_any(&lower, MANUAL_WORDS) {
            self.is_by_hand = true;
            self.add(&format!("`{command}`: {comment}"), vec![command.to_owned()], true);
        }
    }

    fn run(&mut self, command: &str) {
        let names = commands::whole_checks(command).into_iter().map(|name| (name.to_owned(), command.to_owned()));
        self.runs.extend(names.take(MAX_CHECKS.saturating_sub(self.runs.len())));
    }

    fn add(&mut self, text: &str, commands: Vec<String>, is_assertion: bool) {
        // "No code changes" asks for nothing.
        let asks = !["no ", "none", "n/a"].iter().any(|words| text.to_lowercase().starts_with(words));
        if asks && self.checks.len() < MAX_CHECKS {
            self.checks.push(PlannedCheck { text: text::clip(text, MAX_CHECK_CHARS).into_owned(), commands, is_assertion });
        }
    }
}

/// Returns the code of a line that may be a command. `<!-- merged -->` is none.
fn commands_in(line: &str) -> Vec<String> {
    let begins = |code: &str| code.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '/' | '~' | '$'));
    line.split('`').skip(1).step_by(2).filter(|code| code.contains(' ') && begins(code)).map(str::to_owned).collect()
}

/// Returns the words of a command before its first option.
fn without_options(command: &str) -> Vec<&str> {
    command.split_whitespace().take_while(|word| !word.starts_with('-')).collect()
}

/// Returns the script that a command gives its interpreter in quotes, if it is long enough to be recognized: `python -c "…"`.
fn script_of(command: &str) -> Option<&str> {
    let script = command.split(['"', '\'']).nth(1)?;
    (command.contains(" -c ") && script.len() >= MIN_SCRIPT_BYTES).then_some(script)
}

/// Returns whether a command line compiles what a planned one compiles: whoever runs the tests has built them.
pub(super) fn compiles_too(planned: &str, command: &str) -> bool {
    let compiles = |segment: &str, subcommands: &[&str]| {
        let mut words = segment.split_whitespace().skip_while(|word| !matches!(*word, "cargo" | "go"));
        words.next().filter(|_| words.next().is_some_and(|word| subcommands.contains(&word))).map(str::to_owned)
    };
    let program = compiles(planned, &["build", "check"]);
    let runs = ["build", "check", "clippy", "run", "test", "vet"];
    program.is_some() && commands::segments(command).iter().any(|segment| compiles(segment, &runs) == program)
}

/// Returns whether a command tries a planned one with another build of its program: `/tmp/till-test add` for `till add`.
fn is_try_of(planned: &str, command: &str) -> bool {
    let (mut planned, mut command) = (planned.split_whitespace(), command.split_whitespace());
    let (Some(program), Some(built)) = (planned.next(), command.next()) else { return false };
    let arguments: Vec<&str> = planned.collect();
    let is_built = built.rsplit('/').next().unwrap_or(built).starts_with(program);
    // "run" or "." may be an argument of anything.
    let is_telling = arguments.concat().len() >= MIN_ARGUMENT_BYTES;
    is_built && is_telling && command.take(arguments.len()).eq(arguments.iter().copied())
}

/// Returns whether a command checks by itself.
fn is_automatic(command: &str) -> bool {
    matches!(commands::class(command), Class::Test | Class::Check | Class::Build)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks(plan: &str) -> Vec<String> {
        verification(plan).0.into_iter().map(|check| check.text).collect()
    }

    #[test]
    fn a_comment_in_quotes_is_no_command() {
        let plan = "## Verification\n1. Manual test: merge both files and see that `<!-- from the till -->` is gone";
        let (checks, _) = verification(plan);
        assert!(checks.len() == 1 && !checks[0].is_made_by("grep '<!-- from the till -->' out.md"), "{checks:?}");
    }

    #[test]
    fn what_is_tried_out_is_checked_by_hand() {
        let plan = "## Verification\n1. Run `npm run test` to see that nothing broke\n2. Test both spellings work:\n   \
                    - `shop cart add --id 7` (old)\n   - `shop add --id 7` (new)\n3. Verify `shop --help` lists the command\n\
                    4. Run `npm run lint`\n";
        assert_eq!(
            checks(plan),
            ["Test both spellings work: `shop cart add --id 7` (old)", "Verify `shop --help` lists the command"]
        );
        let (checks, runs) = verification(plan);
        assert!(checks[0].is_made_by("cd web && shop cart add --id 9 | head"));
        assert!(!checks[0].is_made_by("npm run test"));
        assert!(checks[0].is_made_by("go build -o /tmp/shop-test . && /tmp/shop-test cart add --id 7; echo $?"));
        assert!(!checks[1].is_made_by("/tmp/shop-test cart --help") && !checks[0].is_made_by("other cart add --id 7"));
        assert_eq!(runs, [("lint".to_owned(), "npm run lint".to_owned())]);
    }

    #[test]
    fn a_comment_says_that_a_command_is_only_the_way_to_a_look() {
        let plan =
            "## Verification\n```sh\nnpm run lint   # style\nnpm run dev    # look at the cart by hand, visual check\n```\n";
        assert_eq!(checks(plan), ["`npm run dev`: look at the cart by hand, visual check"]);
    }

    #[test]
    fn tests_that_are_to_be_run_or_written_are_no_checks_by_hand() {
        assert!(
            checks("## Verification\n1. Run the tests\n2. `make lint` passes\n3. Verify all types are exported\n")
                .is_empty()
        );
        assert!(checks("## Steps\n1. Run an order through the shop\n").is_empty());
    }

    #[test]
    fn the_boxes_of_a_pull_request() {
        let body = "## Test plan\n\n- [x] All tests pass\n- [ ] Manual: open the till at night\n- [ ] `till check --all` on the server\n";
        let open = unticked(body);
        assert_eq!(open[0].text, "Manual: open the till at night");
        assert!(open[1].is_made_by("till check --all") && !open[0].is_made_by("till check --all"));
        assert!(unticked("- [x] All tests pass\n- All of them").is_empty());
        let kinds = "## Type of change\n- [x] Mends the till\n- [ ] Breaks the till\n## Test plan\n- [ ] No old slip is left (confirmed)";
        assert!(unticked(kinds).is_empty());
        assert!(ticks_checks(body) && !ticks_checks("- [ ] All tests pass\n- [x] The till is grey"));
    }

    #[test]
    fn what_describes_something_is_no_check() {
        let plan =
            "## Verification\n| Check | Time | Validate the total |\n- Manually: open the till and verify the total\n";
        assert_eq!(checks(plan), ["Manually: open the till and verify the total"]);
        assert!(unticked("- [ ] No changes of the till\n").is_empty());
    }

    #[test]
    fn a_script_is_known_with_another_interpreter_and_a_build_by_its_tests() {
        let plan = "## Verification\n- Run `python -c \"from till import drawer, slip\"` to verify the imports\n";
        let (checks, _) = verification(plan);
        assert!(checks[0].is_made_by("cd shop && .venv/bin/python -c \"from till import drawer, slip; print('ok')\""));
        assert!(!checks[0].is_made_by("python -c \"from till import shop\""));
        assert!(
            compiles_too("cargo build", "cd till && cargo test 2>&1") && compiles_too("go build ./...", "go test ./...")
        );
        assert!(!compiles_too("cargo build", "go test ./...") && !compiles_too("cargo clippy", "cargo test"));
    }

    #[test]
    fn an_objection_to_the_subject_ends_a_check() {
        let plan = "## Verification\n- Manually: confirm the total stands in the header of the cart\n";
        let (checks, _) = verification(plan);
        assert!(checks[0].is_overtaken_by("no, the total should not be in the header but below it"));
        assert!(!checks[0].is_overtaken_by("no, use another colour"));
    }
}
