//! The line of a command's output that names the error, and what sort of error it is.

use super::class::Class;
use super::class::class;
use super::verdict::test_counts;
use super::verdict::timed_out;
use crate::text;

/// Signs that the shell or a tool did not recognize what it was asked to do.
const UNKNOWN_SIGNS: &[&str] = &[
    "command not found",
    "not recognized",
    "unrecognized",
    "unknown option",
    "unknown flag",
    "invalid option",
    "unexpected argument",
    "not installed",
    "no module named",
    "could not locate executable",
];

/// The same of a subcommand or a script.
const UNKNOWN_SUBCOMMAND_SIGNS: &[&str] = &[
    "unrecognized subcommand",
    "unknown command",
    "no such command",
    "no such subcommand",
    "is not a git command",
    "missing script",
    "script not found",
    "no rule to make target",
];

/// Further signs that a tool is at fault, not the code being worked on. The fix is worth telling a later session.
const ENVIRONMENT_SIGNS: &[&str] = &[
    "no such file or directory",
    "cannot find module",
    "module not found",
    "modulenotfounderror",
    "can't create",
    "cannot create",
    "permission denied",
    "operation not permitted",
    "eacces",
    "eperm",
    "eaddrinuse",
    "address already in use",
    "econnrefused",
    "connection refused",
    "could not connect",
    "not a git repository",
    "no space left",
    "unsupported",
    "version mismatch",
    "requires node",
    "engine",
    "lockfile",
    "externally-managed",
    "could not resolve host",
    "authentication",
    "not logged in",
    "not trusted",
    "untrusted",
    "unauthorized",
    "pre-commit",
    "pre-push",
    "commitlint",
    "husky",
    "timed out",
    "detected dubious ownership",
    "nothing to commit",
    "protected branch",
    "index.lock",
];

/// Further signs that the command did not run as intended. The next command that does run is the fix.
const INVOCATION_SIGNS: &[&str] = &["can't create temp file", "unknown argument", "illegal option", "usage:"];

/// Returns whether the environment caused the failure.
pub(crate) fn is_environment(error: &str) -> bool {
    // A hook is part of the environment. A file or a test that is named after hooks is not.
    let is_hook = |word: &str| {
        let word = word.to_lowercase();
        matches!(word.trim_matches(|c: char| !c.is_alphanumeric()), "hook" | "hooks") || word.contains(".git/hooks")
    };
    let names_hook = || error.split_whitespace().any(is_hook);
    contains_sign(error, ENVIRONMENT_SIGNS) || names_hook()
}

/// Returns whether an error says that a variable of the environment is not set. The code's own constants are written likewise, so
/// only some words count.
pub(crate) fn is_unset_variable(error: &str) -> bool {
    let lower = error.to_lowercase();
    let is_unset = ["missing ", " not set", " unset", "must be set", "environment variable", "env var"];
    let is_name = |word: &str| {
        let is_upper = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        word.len() >= 6 && word.contains('_') && word.bytes().all(is_upper) && !word.starts_with("ERR_")
    };
    let names = || error.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(is_name);
    !is_located(error) && text::contains_any(&lower, &is_unset) && names()
}

/// Returns whether a command is run with variables that others lack: by itself, or by a script or a program for that.
pub(crate) fn sets_variables(command: &str) -> bool {
    let lower = command.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric());
    words.into_iter().any(|word| matches!(word, "env" | "dotenv" | "dotenvx" | "doppler" | "infisical" | "direnv"))
}

/// Signs that a repository, an index or a cache is damaged.
const DAMAGE_SIGNS: &[&str] = &["unable to read", "corrupt", "bad object", "missing object", "index file smaller"];

/// Returns whether something is damaged, so that even looking fails.
pub(crate) fn is_damage(error: &str) -> bool {
    let error = error.to_lowercase();
    text::contains_any(&error, DAMAGE_SIGNS)
}

/// Returns whether the command did not run as intended.
pub(crate) fn is_invocation(error: &str) -> bool {
    contains_sign(error, INVOCATION_SIGNS)
}

/// Returns whether a tool did not know the subcommand or the script that it was given.
pub(crate) fn is_unknown_subcommand(error: &str) -> bool {
    text::contains_any(&error.to_lowercase(), UNKNOWN_SUBCOMMAND_SIGNS)
}

/// Returns whether the error contains one of the signs, or one of something that is not known.
pub(super) fn contains_sign(error: &str, signs: &[&str]) -> bool {
    let error = error.to_lowercase();
    [UNKNOWN_SIGNS, UNKNOWN_SUBCOMMAND_SIGNS, signs].iter().any(|signs| text::contains_any(&error, signs))
}

/// What the client answers if a call was made in the wrong order, or was cancelled with another: it says nothing of the call.
pub(crate) const PROCEDURES: &[&str] =
    &["has not been read yet", "modified since read", "Sibling tool call errored", "tool call was cancelled"];

/// Lines that introduce or surround an error without saying what it is.
const FRAME_LINES: &[&str] = &[
    "exit code",
    "error: command failed",
    "error:",
    "errors:",
    "traceback (most recent call last)",
    "for more information, try",
];

/// Marks of lines in which test runners, compilers and linters name what failed. The logs of the code under test
/// contain other errors.
const VERDICT_MARKS: &[&str] = &[
    "(fail)",
    "--- FAIL",
    "FAIL ",
    "FAILED ",
    "✗ ",
    "✘ ",
    "× ",
    "✖ ",
    "● ",
    "AssertionError",
    "panicked at",
    "error TS",
    "error[E",
    "script failed",
];

/// What stands before the error that a tool reports.
const ERROR_TAG: &str = "[ERROR]";
/// The length below which what is tagged is only a title, in characters, and the maximum length with what explains it.
const MIN_TAGGED_CHARS: usize = 40;
const MAX_TAGGED_CHARS: usize = 200;

/// Returns the output line that explains why a command of that class failed.
pub(crate) fn error_line_of(class: Class, output: &str) -> Option<String> {
    if timed_out(output) {
        // A command that waits for an answer prints the question last.
        let last = output.lines().map(str::trim).rfind(|line| line.chars().any(char::is_alphabetic)).unwrap_or_default();
        let waits = last.ends_with(['?', ':', ']', ')', '>']) && !last.starts_with("Timed out");
        return Some(if waits { format!("timed out at \"{}\"", text::clip(last, 160)) } else { "timed out".to_owned() });
    }
    if matches!(class, Class::Test | Class::Check | Class::Build | Class::Commit) {
        // That a hook failed is no news. What it says stands before.
        let is_of_hook = |line: &str| class == Class::Commit && line.contains("script failed");
        let verdict = |line: &&str| {
            let is_told = !is_numbered_source(line) && !is_passing(line) && !is_of_hook(line);
            is_told && text::contains_any(line, VERDICT_MARKS)
        };
        let mut lines = output.lines().map(str::trim);
        if let Some(line) = lines.find(verdict) {
            // A title of what a linter found in the files of a commit. The rule stands below it.
            let rule = lines.find(|next| !next.is_empty()).and_then(broken_rule).filter(|_| line.ends_with(':'));
            let line = rule.map_or_else(|| line.to_owned(), |rule| format!("{line} {rule}"));
            return Some(text::clip(&line, 200).into_owned());
        }
    }
    // A compiler names the place and the fault, and perhaps no word for an error. The line of the code below it may have one.
    let located = || {
        let line = output.lines().map(|line| without_task_tag(line.trim())).find(|line| is_located(line))?;
        Some(text::clip(line, 200).into_owned())
    };
    let is_compiled = matches!(class, Class::Test | Class::Check | Class::Build);
    let said = error_line(output);
    if is_compiled && !said.as_deref().is_some_and(is_definite_error) {
        return located().or(said);
    }
    said
}

/// Returns what a test of Go says of its failure, near the line that names it: `till_test.go:4: got 3, want 4`, or what an assertion of its
/// own was given as its message.
pub(crate) fn failed_assertion<'a>(named: &str, output: &'a str) -> Option<&'a str> {
    let lines = || output.lines().map(str::trim);
    let is_said = |line: &&str| {
        let told = line.split_once("_test.go:").map(|(_, rest)| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
        told.is_some_and(|rest| rest.strip_prefix(": ").is_some_and(|said| !said.is_empty()))
    };
    let message = |label: &str| lines().find_map(|line| line.strip_prefix(label)).map(str::trim).filter(|it| !it.is_empty());
    if !named.starts_with("--- FAIL") {
        return None;
    }
    lines().find(is_said).or_else(|| message("Messages:")).or_else(|| message("Error:"))
}

/// Returns whether an output says that a script that stands on the command line itself cannot be read: a slip of whoever typed it.
pub(crate) fn is_of_typed_script(output: &str) -> bool {
    let is_typed = text::contains_any(output, &["File \"<string>\"", "File \"<stdin>\"", "[eval]:", "[stdin]:"]);
    is_typed && text::contains_any(output, &["IndentationError", "SyntaxError"])
}

/// Returns what a linter says of a file, without the place: `menu.md:148 error MD040/fenced-code-language A language is missing`.
fn broken_rule(line: &str) -> Option<&str> {
    let said = line.split_once(char::is_whitespace).filter(|(place, _)| place.contains('.')).map_or(line, |(_, said)| said);
    let said = said.split(" [Context:").next().unwrap_or(said).trim();
    names_rule(said).then_some(said)
}

/// Returns whether an error names the rule of a linter that was broken by its code: `MD040/fenced-code-language`, `E501`. The codes of
/// compilers name faults.
pub(crate) fn names_rule(error: &str) -> bool {
    error.split([' ', '/', ':', '(', ')', '[', ']']).any(|word| {
        let letters = word.bytes().take_while(u8::is_ascii_uppercase).count();
        let number = &word[letters..];
        let is_code = (1..=5).contains(&letters) && (3..=5).contains(&number.len());
        is_code && number.bytes().all(|byte| byte.is_ascii_digit()) && !matches!(&word[..letters], "TS" | "HTTP" | "ERR")
    })
}

/// Returns whether a cure is what the tool advised in its error: it runs the same program.
pub(crate) fn is_advised(error: &str, cure: &str) -> bool {
    let advice = error.rsplit_once(ADVICE).map_or("", |(_, advice)| advice);
    let program = |said: &str| {
        let command = said.split('`').nth(1)?;
        command.split_whitespace().next().map(str::to_owned)
    };
    program(advice).is_some_and(|advised| program(cure) == Some(advised))
}

/// Returns a line without the task that a runner names before it: `[lint:go] src/till.go:4:2: undefined`.
fn without_task_tag(line: &str) -> &str {
    let tagged = line.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    tagged.filter(|(task, _)| !task.contains(' ')).map_or(line, |(_, said)| said)
}

/// Returns whether an error says that a tool does not know an option.
pub(crate) fn is_unknown_option(error: &str) -> bool {
    const SIGNS: &[&str] =
        &["unknown flag", "unknown option", "unrecognized argument", "unrecognized option", "invalid option"];
    text::contains_any(&error.to_lowercase(), SIGNS)
}

/// Returns whether a line has the form in which compilers tell a fault: `src/till.go:4:2: undefined: nightTill`.
pub(crate) fn is_located(line: &str) -> bool {
    let mut parts = line.splitn(4, ':');
    let (Some(path), Some(at), Some(column), Some(said)) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_file = path.rsplit('/').next().is_some_and(|name| name.contains('.')) && !path.contains(' ');
    is_file && is_number(at) && is_number(column) && said.chars().any(char::is_alphabetic)
}

/// Returns which tests the hook of a failed commit ran, if they failed: their counts, or the command if its output was cut before
/// them. What such tests print says nothing of the commit.
pub(crate) fn failed_tests_of_hook(output: &str) -> Option<String> {
    if let Some(counts) = test_counts(output) {
        return (!counts.is_clean()).then(|| counts.verdict());
    }
    let last = echoed(output).rfind(|command| class(command) != Class::Other)?;
    (class(&last) == Class::Test).then(|| format!("`{}`", text::clip(&last, 80)))
}

/// Returns the commands that runners of scripts print before they run them.
pub(crate) fn echoed(output: &str) -> impl DoubleEndedIterator<Item = String> {
    output.lines().filter_map(|line| line.trim().strip_prefix(['$', '>']).map(|it| it.trim().to_owned()))
}

/// Returns the output line that explains why a command failed.
pub(crate) fn error_line(output: &str) -> Option<String> {
    let output = &text::without_codes(output);
    let is_told = |line: &&str| !is_frame(line) && !is_numbered_source(line) && line.chars().any(char::is_alphabetic);
    let lines = || output.lines().map(str::trim).filter(is_told);
    // What a tool marks as its error comes before what only sounds like one.
    if let Some(line) = lines().find(|line| line.contains(ERROR_TAG)) {
        let said = line.split(ERROR_TAG).last().unwrap_or_default().chars().count();
        let behind = lines().skip_while(|it| *it != line).skip(1).map(|next| without_task(next, line));
        let next = behind.filter(|_| said < MIN_TAGGED_CHARS).find(|next| next.chars().any(char::is_alphabetic));
        let next = next.map(|next| format!(" {next}")).unwrap_or_default();
        return Some(text::clip(&format!("{line}{next}"), MAX_TAGGED_CHARS).into_owned());
    }
    let candidate = lines().find(|line| is_definite_error(line)).or_else(|| lines().find(|line| is_error_like(line)));
    // What was printed last is an error only if it says that something is wrong.
    let line = candidate.or_else(|| lines().next_back().filter(|line| is_negative(line)))?;
    // What the tool itself advises is worth more than what it complains of.
    let advice = lines().skip_while(|it| *it != line).skip(1).take(2).find(|line| is_advice(line));
    let advice = advice.map(|advice| text::clip(advice, 120).into_owned()).or_else(|| advised_below(output, line));
    let line = text::clip(line, 200);
    Some(advice.map_or_else(|| line.clone().into_owned(), |advice| format!("{line}{ADVICE}{advice}")))
}

/// What stands between an error and the advice of the tool.
const ADVICE: &str = "; ";
/// Within how many lines the tool advises.
const ADVICE_LINES: usize = 4;

/// Returns the command that the tool advises in a line of its own, below one that leads to it: "Run this command:".
fn advised_below(output: &str, error: &str) -> Option<String> {
    let mut lines = output.lines().filter(|line| !line.trim().is_empty()).skip_while(|line| line.trim() != error).skip(1);
    let leads = |line: &&str| {
        let lower = line.trim().to_lowercase();
        lower.ends_with(':') && ["run ", "please run", "to fix", "fix it"].iter().any(|opening| lower.starts_with(opening))
    };
    lines.by_ref().take(ADVICE_LINES).find(leads)?;
    let advised = lines.next().filter(|line| line.starts_with([' ', '\t', '$']))?;
    let command = advised.trim().trim_start_matches("$ ").trim_matches('`');
    let is_command = command.is_ascii() && command.contains(' ') && !command.ends_with([':', '.', '!']);
    is_command.then(|| format!("run `{}`", text::clip(command, 100)))
}

/// Returns whether an error has the advice of the tool, which cures it.
pub(crate) fn has_advice(error: &str) -> bool {
    error.rsplit_once(ADVICE).is_some_and(|(_, advice)| is_advice(advice))
}

/// Returns a line without the name of the task that a runner puts before each line, as before another one: `@shop/docs:build: `.
fn without_task<'a>(line: &'a str, other: &str) -> &'a str {
    let Some(end) = other.find(": ") else { return line };
    let (task, is_task) = (&other[..=end], !other[..end].contains(' ') && other[..end].contains(':'));
    if is_task { line.strip_prefix(task).map_or(line, str::trim_start) } else { line }
}

/// Returns whether a line is one of a file as a viewer prints it, behind its number: `12→code`, or a tab in place of the arrow.
fn is_numbered_source(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && line[digits..].starts_with(['→', '\t'])
}

/// Returns whether a line of output says which command would help.
fn is_advice(line: &str) -> bool {
    let lower = line.to_lowercase();
    ["run ", "try ", "hint: run", "hint: use", "please run", "to fix"].iter().any(|opening| lower.starts_with(opening))
        && line.contains(['`', '\'', '"'])
}

/// Returns whether a line says that something is wrong, in whatever words.
fn is_negative(line: &str) -> bool {
    const WORDS: &[&str] = &[
        "no",
        "not",
        "nothing",
        "none",
        "never",
        "without",
        "already",
        "must",
        "required",
        "requires",
        "denied",
        "blocked",
        "locked",
        "aborted",
        "abort",
        "killed",
        "broken",
        "wrong",
        "problem",
        "problems",
        "warning",
        "unexpected",
        "differs",
        "conflict",
        "conflicts",
        "rejected",
        "stale",
        "outdated",
        "use",
        "usage",
        "would",
        "timed",
    ];
    let lower = line.to_lowercase();
    !line.is_ascii()
        || text::contains_any(&lower, &["n't", "fail", "err"])
        || lower.split(|c: char| !c.is_ascii_alphabetic()).any(|word| WORDS.contains(&word))
}

/// Returns whether a compiler or a linter shows a line of the code there.
fn is_code_line(line: &str) -> bool {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    digits.len() < line.len() && digits.trim_start().starts_with('|')
}

fn is_frame(line: &str) -> bool {
    let lower = line.to_lowercase();
    // Git says first that it could not sign, and last that it made no commit. Why stands between.
    let is_git_frame = lower.starts_with("error: signing file ") || lower == "fatal: failed to write commit object";
    if is_code_line(line) || is_git_frame {
        return true;
    }
    FRAME_LINES.iter().any(|frame| lower == *frame)
        || lower.starts_with("exit code ")
        || lower.starts_with("exited with code ")
        || is_passing(line)
        || lower.contains("command finished with error")
        || lower.ends_with("] error task failed")
        || (lower.contains("script \"") && lower.contains("exited with code"))
        || lower.starts_with("please report")
        // How to go past an error is no error.
        || lower.starts_with("- to ")
        || lower.starts_with("$ ")
        || lower.starts_with("> ")
}

/// Lines about passing tests may contain any word for failure.
fn is_passing(line: &str) -> bool {
    ["(pass)", " 0 fail", "0 failed", "0 errors", "No errors", "✓", "✔", "PASS ", "[PASS]", "√"]
        .iter()
        .any(|sign| line.contains(sign))
        || line.starts_with("ok ")
        || ["... ok", "Passed", "Skipped"].iter().any(|end| line.ends_with(end))
}

pub(super) fn is_definite_error(line: &str) -> bool {
    let lower = line.to_lowercase();
    let starts = ["error", "fatal", "bug:", "panic", "typeerror", "failed:", "e   ", "✗", "✘", "× "];
    starts.iter().any(|start| lower.starts_with(start))
        || lower.ends_with("...failed")
        || lower.contains("error:")
        || lower.contains("error ts")
        || lower.contains("not found")
        || lower.contains("can't create")
        || lower.contains("not permitted")
        || lower.contains("denied")
}

fn is_error_like(line: &str) -> bool {
    let lower = line.to_lowercase();
    text::contains_any(
        &lower,
        &[
            "fail",
            "error",
            "cannot",
            "can't",
            "could not",
            "unable",
            "invalid",
            "missing",
            "expected",
            "no such",
            "refused",
            "not ",
        ],
    )
}
