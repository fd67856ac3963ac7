//! What a command is for: its class, its purpose, what it checks, and whether two commands have the same purpose.

use std::cell::RefCell;

use super::program::own_words;
use super::scope::{parts, picks_names};
use super::shell::{folder_outside, segments, without_keywords, words};
use crate::scrubbed::Scrubbed;
use crate::text::{self, Known};

/// The purpose of a command, used to compare it with later commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Class {
    /// Runs tests.
    Test,
    /// Builds or compiles.
    Build,
    /// Lints, formats or type-checks.
    Check,
    /// Commits changes.
    Commit,
    /// Pushes changes or opens a pull request.
    Publish,
    /// Installs dependencies.
    Install,
    /// Only inspects. Its failure means nothing. An empty command does so, too.
    #[default]
    Inspect,
    /// Anything else.
    Other,
}

/// Programs that only inspect or prepare.
pub(super) const INSPECTION_PROGRAMS: &[&str] = &[
    "cd",
    "echo",
    "ls",
    "cat",
    "head",
    "tail",
    "grep",
    "rg",
    "find",
    "fd",
    "pwd",
    "which",
    "wc",
    "sed",
    "awk",
    "sort",
    "uniq",
    "tree",
    "stat",
    "file",
    "diff",
    "test",
    "[",
    "true",
    "sleep",
    "export",
    "source",
    "set",
    "printf",
    "jq",
    "ps",
    "lsof",
    "env",
    "date",
    "du",
    "df",
    "kill",
    "pkill",
    "mkdir",
    "cp",
    "mv",
    "rm",
    "touch",
    "chmod",
    "type",
    "readlink",
    "journalctl",
    "basename",
    "dirname",
    "less",
    "column",
    "cut",
    "tr",
    "xargs",
    "pgrep",
    "whoami",
    "uname",
    "tee",
    "for",
    "while",
    "if",
    "do",
    "done",
    "then",
    "fi",
];

/// Those of them that change the files, folders or processes that they are given.
const CHANGERS: [&str; 8] = ["rm", "mv", "cp", "mkdir", "chmod", "kill", "pkill", "touch"];

/// Programs that run tests.
const TESTERS: &[&str] =
    &["pytest", "jest", "vitest", "mocha", "rspec", "phpunit", "pest", "playwright", "nextest", "ctest", "tox"];

/// Programs that lint, format or type-check.
const CHECKERS: &[&str] = &[
    "eslint",
    "biome",
    "prettier",
    "ruff",
    "mypy",
    "pyright",
    "golangci-lint",
    "clippy",
    "oxlint",
    "rustfmt",
    "tsc",
    "flake8",
    "pylint",
    "rubocop",
    "phpstan",
    "stylelint",
    "shellcheck",
    "staticcheck",
];

/// The subcommands with which git only shows something.
pub(super) const GIT_SHOWS: &[&str] =
    &["status", "diff", "log", "show", "ls-files", "ls-tree", "blame", "rev-parse", "check-ignore"];

/// The subcommands with which git puts other files in the place of those that are there.
const GIT_WRITES: &[&str] = &[
    "checkout",
    "switch",
    "merge",
    "rebase",
    "pull",
    "stash",
    "reset",
    "restore",
    "apply",
    "am",
    "cherry-pick",
    "revert",
    "clean",
];

/// Returns the segment that the command line is about: the last one that does more than inspect, otherwise the last
/// one. `git commit … && git status` is about the commit.
pub(crate) fn main_segment(command: &str) -> &str {
    main_of(&segments(command)).unwrap_or(command)
}

fn main_of<'a>(all: &[&'a str]) -> Option<&'a str> {
    let last = |does_more: fn(&str) -> bool| all.iter().rev().find(|segment| does_more(segment));
    last(|segment| class_of(segment) != Class::Inspect)
        .or_else(|| last(|segment| words(segment).next().is_some_and(|program| !INSPECTION_PROGRAMS.contains(&program))))
        .or(all.last())
        .copied()
}

/// Returns the class of the command line.
pub(crate) fn class(command: &str) -> Class {
    class_of(main_segment(command))
}

/// Returns whether a command line pipes something into a program that does more than inspect, such as the answers to its questions.
pub(crate) fn pipes_into_program(command: &str) -> bool {
    piped(command).into_iter().any(|next| class_of(next) != Class::Inspect)
}

/// Returns the commands into which a command line pipes something.
pub(super) fn piped(command: &str) -> Vec<&str> {
    let is_open = |before: &str| ['"', '\''].iter().any(|quote| before.matches(*quote).count() % 2 == 1);
    let pipes = command.match_indices(" | ").filter(|(at, _)| !is_open(&command[..*at]));
    pipes.filter_map(|(at, pipe)| segments(&command[at + pipe.len()..]).first().copied()).collect()
}

thread_local! {
    static CLASSES: RefCell<Known<Class, 256, 1024>> = const { RefCell::new(Known::new()) };
}

/// Returns the class of one command. Each is asked for a dozen times when it ran, and again for each failure that it may cure.
pub(super) fn class_of(segment: &str) -> Class {
    CLASSES.with_borrow_mut(|classes| classes.get(segment, find_class))
}

fn find_class(segment: &str) -> Class {
    let mut words = words(segment);
    let Some(first) = words.next() else { return Class::Inspect };
    let program = first.rsplit('/').next().unwrap_or(first);
    // This wrapper runs what stands behind it. The shell's own program of that name has a condition there.
    if program == "test"
        && let Some((_, wrapped)) = segment.split_once("rtk test ")
    {
        return find_class(wrapped);
    }
    if INSPECTION_PROGRAMS.contains(&program) {
        return Class::Inspect;
    }
    let words: Vec<&str> = std::iter::once(first).chain(words).collect();
    let has = |any: &[&str]| words.iter().any(|word| any.contains(&word.split(':').next().unwrap_or(word)));
    match program {
        "git" if has(&["commit"]) => Class::Commit,
        "git" if has(&["push"]) => Class::Publish,
        "git" if has(GIT_SHOWS) || has(&["branch"]) => Class::Inspect,
        "gh" if has(&["create", "merge"]) => Class::Publish,
        "gh" => Class::Inspect,
        _ if TESTERS.contains(&program) => Class::Test,
        _ if CHECKERS.contains(&program) => Class::Check,
        _ if compiles_only(program, segment) => Class::Build,
        _ if has(&["test", "tests", "nextest", "pytest", "vitest", "jest", "e2e"]) => Class::Test,
        _ if has(&["lint", "typecheck", "type-check", "format", "fmt", "check", "clippy", "vet", "verify"]) => Class::Check,
        _ if has(&["build", "compile"])
            || matches!(program, "make" | "cmake" | "ninja" | "rustc" | "gcc" | "javac" | "webpack" | "vite") =>
        {
            Class::Build
        }
        _ if has(&["install", "add", "i", "ci", "sync"]) => Class::Install,
        // Behind what runs it, such as `uv run` or `docker exec app`.
        _ => match own_words(segment).first() {
            Some(own) if TESTERS.contains(own) => Class::Test,
            Some(own) if CHECKERS.contains(own) => Class::Check,
            _ => Class::Other,
        },
    }
}

/// Returns whether a command of a test runner only compiles the tests.
fn compiles_only(program: &str, segment: &str) -> bool {
    let has = |option: &str| segment.split_whitespace().any(|word| word == option);
    match program {
        "go" => has("test") && has("-c"),
        "cargo" => has("--no-run"),
        _ => false,
    }
}

/// Returns the words that commands of the same purpose share: the program and its subcommands. The words of a loop or a
/// condition are not among them, but those of the command in it. The words have lost their options, so the command must be
/// scrubbed before.
pub(crate) fn purpose(command: &Scrubbed) -> String {
    const TELLING: &[&str] = &["cd", "echo", "printf", "sleep", "true", "false", ":"];
    let all: Vec<&str> = segments(command).into_iter().filter_map(without_keywords).collect();
    let does_something = |segment: &&&str| words(segment).next().is_some_and(|program| !TELLING.contains(&program));
    let doing: Vec<&str> = all.iter().filter(does_something).copied().collect();
    shared_words_of(main_of(&doing).or_else(|| main_of(&all)).unwrap_or(command))
}

pub(super) fn shared_words(command: &str) -> String {
    shared_words_of(main_segment(command))
}

fn shared_words_of(segment: &str) -> String {
    let words: Vec<&str> = words(segment).take(3).collect();
    let plain = |word: &&&str| {
        !word.contains("[redacted") && (!word.contains(['/', '.', '"', '\'', '$', '(']) || words.first() == Some(*word))
    };
    words.iter().filter(plain).map(|word| word.rsplit('/').next().unwrap_or(word)).collect::<Vec<_>>().join(" ")
}

/// Returns the words that commands of the same purpose share, without what runs the program.
fn own_purpose(command: &str) -> String {
    let main = main_segment(command);
    let own: Vec<&str> = own_words(main).into_iter().filter(|word| !word.contains('>')).collect();
    let own = own.join(" ");
    // A word alone may be a script: what runs it is a part of its name.
    shared_words(if own.contains(' ') { &own } else { main })
}

/// Returns the files and folders that the command line names.
pub(crate) fn targets(command: &str) -> Vec<&str> {
    words(main_segment(command))
        .skip(1)
        .filter(|word| word.contains(['/', '.']) && !matches!(*word, "." | "./" | "./..." | ".."))
        .collect()
}

/// Returns whether a command line runs tests, and whether it certainly runs only some of them: those of a name, of a file, or of some
/// packages.
pub(crate) fn runs_tests(command: &str) -> Option<bool> {
    let tests = segments(command).into_iter().filter(|segment| class_of(segment) == Class::Test);
    let narrow: Vec<bool> = tests.map(is_narrow).collect();
    (!narrow.is_empty()).then(|| narrow.iter().all(|is_narrow| *is_narrow))
}

/// Returns whether the tests that a command line runs are picked by their names.
pub(crate) fn picks_tests(command: &str) -> bool {
    segments(command).into_iter().filter(|segment| class_of(segment) == Class::Test).any(picks_names)
}

fn is_narrow(segment: &str) -> bool {
    const ENDS: [&str; 7] = [".py", ".ts", ".tsx", ".js", ".jsx", ".rb", ".go"];
    let is_go = words(segment).next() == Some("go");
    let targets = targets(segment);
    let is_some = |target: &&str| {
        if is_go {
            target.starts_with("./") && !target.ends_with("...")
        } else {
            ENDS.iter().any(|end| target.ends_with(end))
        }
    };
    let is_of_package = segment.split_whitespace().any(|word| word.split('=').next() == Some("--filter"));
    picks_names(segment) || is_of_package || (!targets.is_empty() && targets.iter().all(is_some))
}

/// Returns whether no more than one command of the line does more than inspect.
pub(crate) fn does_one_thing(command: &str) -> bool {
    segments(command).into_iter().filter(|segment| class_of(segment) != Class::Inspect).count() <= 1
}

/// Returns the names of the linters, type checkers and builds that a command line runs over the whole project.
pub(crate) fn whole_checks(command: &str) -> Vec<&str> {
    let whole = checking(command).filter(|segment| parts(segment).is_empty());
    whole.filter_map(|segment| check_name(&words(segment).collect::<Vec<_>>())).collect()
}

/// Returns the names of the linters, type checkers and builds that a command line runs, be it over some files only.
pub(crate) fn all_checks(command: &str) -> Vec<&str> {
    checking(command).filter_map(|segment| check_name(&words(segment).collect::<Vec<_>>())).collect()
}

/// Returns the segments of a command line that lint, check types or build.
pub(super) fn checking(command: &str) -> impl Iterator<Item = &str> {
    let is_check = |segment: &&str| matches!(class_of(segment), Class::Check | Class::Build);
    segments(command).into_iter().filter(is_check)
}

/// Returns the names of the scripts of tests beside the main one that a command line runs as a whole: `test:integration`.
pub(crate) fn test_suites(command: &str) -> Vec<&str> {
    let is_whole = |segment: &&str| class_of(segment) == Class::Test && !is_narrow(segment) && targets(segment).is_empty();
    let is_suite = |word: &&str| word.starts_with("test:") || *word == "e2e" || word.starts_with("e2e:");
    segments(command).into_iter().filter(is_whole).filter_map(|segment| words(segment).find(is_suite)).collect()
}

/// Returns the name of the script of tests beside the main one that a line of a file defines.
pub(crate) fn test_script<'a>(file: &str, line: &'a str) -> Option<&'a str> {
    let name = match file.rsplit('/').next()? {
        "package.json" => {
            let (name, value) = line.trim().strip_prefix('"')?.split_once("\":")?;
            // A package has a version.
            value.trim().trim_start_matches('"').contains(' ').then_some(name)?
        }
        "mise.toml" => line.trim().strip_prefix("[tasks.")?.strip_suffix(']')?.trim_matches('"'),
        _ => return None,
    };
    (name.starts_with("test:") || name.starts_with("e2e")).then_some(name)
}

/// Returns whether a command line runs a check or the program itself, as far as its words say.
pub(crate) fn may_check(command: &str) -> bool {
    const NOTHING_RUN: [&str; 6] = ["git", "gh", "glab", "jj", "open", "code"];
    segments(command).into_iter().filter_map(without_keywords).any(|segment| match class_of(segment) {
        Class::Test | Class::Build | Class::Check => true,
        Class::Other => words(segment).next().is_some_and(|program| !NOTHING_RUN.contains(&program)),
        _ => false,
    }) || pipes_into_program(command)
}

/// Returns the word that says what a check is: the checker itself, or its script or subcommand, or else its program.
pub(super) fn check_name<'a>(words: &[&'a str]) -> Option<&'a str> {
    const NAMES: &[&str] =
        &["lint", "typecheck", "type-check", "format", "fmt", "check", "clippy", "vet", "verify", "build", "compile"];
    let is_name = |word: &&&str| NAMES.contains(&word.split(':').next().unwrap_or_default());
    let is_checker = |word: &&&str| CHECKERS.contains(&word.rsplit('/').next().unwrap_or(word));
    let script = words.iter().find(is_name);
    // `ruff check` is not the script of that name, which runs all checks. `ruff format` formats.
    let checker = words.iter().find(is_checker).filter(|_| script.is_none_or(|word| *word == "check" || *word == "lint"));
    let word = checker.or(script).or(words.first())?;
    // `cargo check` only compiles. A script with that name runs all checks.
    if *word == "check" && words.first() == Some(&"cargo") {
        return Some("cargo check");
    }
    let word = word.strip_suffix(":fix").or_else(|| word.strip_suffix(":write")).unwrap_or(word);
    word.rsplit('/').next()
}

/// Returns whether a checker is also told to mend what it finds.
pub(crate) fn mends(command: &str) -> bool {
    text::contains_any(command, &[":fix", ":write", "--fix", "--write", " fmt", " format"])
}

/// Returns whether a command line may give files another form, as a formatter does.
pub(crate) fn may_format(command: &str) -> bool {
    const FORMATTERS: [&str; 8] = ["fmt", "prettier", "black", "gofumpt", "goimports", "isort", "ruff", "pre-commit"];
    mends(command) || text::contains_any(command, &FORMATTERS)
}

/// Returns whether two command lines have the same purpose. If so, a later success of one resolves a failure of the
/// other.
pub(crate) fn same_purpose(failed: &str, later: &str) -> bool {
    let (one, other) = (class(failed), class(later));
    // A commit in another repository says nothing of this one.
    if matches!(one, Class::Commit | Class::Publish) && folder_outside(failed) != folder_outside(later) {
        return false;
    }
    let same = match one {
        Class::Other | Class::Inspect => own_purpose(failed) == own_purpose(later),
        // A passing formatter says nothing about the type checker.
        Class::Check => one == other && own_purpose(failed) == own_purpose(later),
        // To open a pull request is not to merge it.
        Class::Publish => one == other && request_verb(failed) == request_verb(later),
        _ => one == other,
    };
    if !same {
        return false;
    }
    let (before, after) = (targets(failed), targets(later));
    // The same file, in another folder or written otherwise.
    let name = |target: &str| target.trim_matches(['"', '\'']).rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    let is_same_file = || before.iter().any(|target| after.iter().any(|other| name(target) == name(other)));
    // A script in a folder for passing files is a throwaway.
    let is_passing = failed.to_lowercase().contains("/temp/") || failed.contains("/tmp/");
    if one == Class::Other && !is_passing && is_same_file() {
        return true;
    }
    before.is_empty() || after.is_empty() || before.iter().any(|target| after.contains(target)) || after.len() < before.len()
}

/// Returns what a command line does with a pull request, an issue or a release on a forge: `gh pr create`. Empty if it is another command.
fn request_verb(command: &str) -> Vec<&str> {
    let verb = super::program::verb_words(main_segment(command));
    if matches!(verb.first(), Some(&("gh" | "glab"))) { verb } else { Vec::new() }
}

/// Returns whether a later command line rewords the failed one.
pub(crate) fn is_rewording(failed: &str, later: &str) -> bool {
    let significant = |command: &str| text::features(main_segment(command));
    let (one, other) = (significant(failed), significant(later));
    text::similarity(&one, &other) >= 0.6
}

/// Returns whether a command line may put other files in the place of those that are there: git does, or a package manager.
pub(crate) fn switches_files(command: &str) -> bool {
    segments(command).into_iter().any(|segment| {
        let is_git = own_words(segment).first() == Some(&"git");
        (is_git && segment.split_whitespace().any(|word| GIT_WRITES.contains(&word))) || class_of(segment) == Class::Install
    })
}

/// Returns whether a command line may write files of the project that its words do not name: an installation, a build, a generator, a
/// formatter, git that takes over other commits, or a program that nobody knows.
pub(crate) fn may_write_files(command: &str) -> bool {
    const MOVERS: &[&str] = &["cp", "mv", "rm", "tee", "xargs", "touch"];
    let writes = |segment: &str| {
        let own = super::program::verb_words(segment);
        let program = own.first().copied().unwrap_or_default();
        let verb = own.get(1).copied().unwrap_or_default();
        match class_of(segment) {
            _ if program == "git" => GIT_WRITES.contains(&verb) || matches!(verb, "mv" | "rm"),
            Class::Install | Class::Build => true,
            Class::Test | Class::Commit | Class::Publish => false,
            Class::Check => may_format(segment),
            Class::Inspect => MOVERS.contains(&program) || edits_in_place(program, segment),
            Class::Other => may_change_in(segment),
        }
    };
    segments(command).into_iter().filter_map(without_keywords).any(writes)
}

/// Returns whether a call tells the program to change the files themselves that it is given.
fn edits_in_place(program: &str, segment: &str) -> bool {
    program == "sed" && segment.contains(" -i")
}

/// Returns whether a call changes the files, folders or processes that it is given, whatever runs the program: `xargs rm`.
pub(crate) fn changes_given(call: &str) -> bool {
    call.contains("sed -i") || call.split_whitespace().any(|word| CHANGERS.contains(&word) || word == "tee")
}

/// Returns whether a command line may change something beside the files that the agent edits: a branch, an issue, a service. What it does
/// not know counts as a change.
pub(crate) fn may_change(command: &str) -> bool {
    segments(command).into_iter().filter_map(without_keywords).any(may_change_in)
}

fn may_change_in(segment: &str) -> bool {
    const GIT_LOOKS: &[&str] = &[
        "fetch",
        "checkout",
        "switch",
        "remote",
        "config",
        "reflog",
        "merge-base",
        "for-each-ref",
        "cat-file",
        "describe",
        "grep",
        "rev-list",
        "shortlog",
        "name-rev",
        "ls-remote",
        "version",
        "help",
    ];
    const LOOKS: &[&str] = &[
        "list", "env", "doc", "view", "ls", "info", "tree", "metadata", "version", "help", "outdated", "why", "show", "get",
        "describe", "logs", "status", "search", "explain",
    ];
    const GH_CHANGES: &[&str] = &[
        "comment", "edit", "close", "reopen", "review", "ready", "delete", "rerun", "run", "cancel", "set", "upload",
        "lock", "unlock", "pin", "transfer", "rename", "archive", "fork", "enable", "disable",
    ];
    const BRANCH_CHANGES: &[&str] = &[
        " checkout -b ",
        " checkout -B ",
        " switch -c ",
        " switch -C ",
        " branch -d ",
        " branch -D ",
        " branch -m ",
        " branch -M ",
    ];
    const SENDS: &[&str] = &[" -X ", " --method", " -f ", " -F ", " --field", " --raw-field", " --input"];
    let all: Vec<&str> = words(segment).collect();
    let Some((first, rest)) = all.split_first() else { return false };
    let program = first.rsplit('/').next().unwrap_or(first);
    let subcommand = rest.first().copied().unwrap_or_default();
    match class_of(segment) {
        Class::Commit | Class::Publish | Class::Install => true,
        Class::Test | Class::Check | Class::Build => false,
        Class::Inspect if program == "gh" && subcommand == "api" => {
            text::contains_any(segment, SENDS) && !segment.contains(" GET")
        }
        Class::Inspect | Class::Other if program == "git" && text::contains_any(segment, BRANCH_CHANGES) => true,
        Class::Inspect if program == "gh" => rest.get(1).is_some_and(|verb| GH_CHANGES.contains(verb)),
        Class::Inspect => CHANGERS.contains(&program) || edits_in_place(program, segment),
        Class::Other if program == "git" => !GIT_LOOKS.contains(&subcommand),
        Class::Other => !LOOKS.contains(&subcommand) && !text::contains_any(segment, &["--help", "--version"]),
    }
}

/// Returns whether a command changes something, so that it may have made another command pass.
pub(crate) fn may_fix(command: &str) -> bool {
    // Looking at a repository, or putting work aside, mends nothing.
    const LOOKS: &[&str] =
        &["stash", "status", "checkout", "diff", "log", "show", "add", "commit", "push", "fetch", "switch", "branch"];
    let main = main_segment(command);
    let mut own = words(main);
    if own.any(|word| word == "git") && own.next().is_some_and(|word| LOOKS.contains(&word)) {
        return false;
    }
    match class_of(main) {
        Class::Test | Class::Check | Class::Build => return false,
        Class::Inspect => {}
        _ => return true,
    }
    let program = words(main).next().unwrap_or_default();
    CHANGERS.contains(&program) || program == "export" || edits_in_place(program, main)
}
