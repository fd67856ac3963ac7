//! Analyzes shell commands: their purpose, whether they failed, the line that explains the failure, and their test
//! counts.

use serde::{Deserialize, Serialize};

use crate::{scrubbed::Scrubbed, text};

/// The purpose of a command, used to compare it with later commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// Only inspects. Its failure means nothing.
    Inspect,
    /// Anything else.
    Other,
}

/// Programs that run the program named after them.
const WRAPPERS: &[&str] =
    &["sudo", "time", "nice", "env", "exec", "command", "timeout", "npx", "bunx", "pnpx", "uvx", "rtk", "nohup", "xvfb-run"];

/// Programs that only inspect or prepare.
const INSPECTION_PROGRAMS: &[&str] = &[
    "cd", "echo", "ls", "cat", "head", "tail", "grep", "rg", "find", "fd", "pwd", "which", "wc", "sed", "awk", "sort",
    "uniq", "tree", "stat", "file", "diff", "test", "[", "true", "sleep", "export", "source", "set", "printf", "jq", "ps",
    "lsof", "env", "date", "du", "df", "kill", "pkill", "mkdir", "cp", "mv", "rm", "touch", "chmod", "type", "readlink",
    "basename", "dirname", "less", "column", "cut", "tr", "xargs", "pgrep", "whoami", "uname", "tee", "for", "while", "if",
    "do", "done", "then", "fi",
];

/// Splits a command line at `&&`, `||`, `;` and newlines outside quotes. Each part is returned without the commands
/// that it is piped into.
pub(crate) fn segments(command: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let (mut start, mut quote, mut piped) = (0, None, None);
    let bytes = command.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        match (quote, byte) {
            (Some(open), _) if open == byte => quote = None,
            (_, b'\\') => at += 1,
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'<') if command[at..].starts_with("<<") => {
                // A here-document reaches to the end of the command line: its lines are not commands.
                at = bytes.len();
                continue;
            }
            (None, b'&') if bytes.get(at + 1) == Some(&b'&') => {
                push_segment(&mut all, command, start, piped.take().unwrap_or(at));
                at += 1;
                start = at + 1;
            }
            (None, b'|') if bytes.get(at + 1) == Some(&b'|') => {
                push_segment(&mut all, command, start, piped.take().unwrap_or(at));
                at += 1;
                start = at + 1;
            }
            (None, b'|') => piped = piped.or(Some(at)),
            (None, b';' | b'\n') => {
                push_segment(&mut all, command, start, piped.take().unwrap_or(at));
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    push_segment(&mut all, command, start, piped.unwrap_or(bytes.len()));
    all
}

fn push_segment<'a>(all: &mut Vec<&'a str>, command: &'a str, start: usize, end: usize) {
    // Cuts are at ASCII bytes, except for one past the end after a trailing backslash.
    if let Some(segment) = command.get(start.min(end)..end.min(command.len())) {
        let segment = segment.trim();
        if !segment.is_empty() && !segment.starts_with('#') {
            all.push(segment);
        }
    }
}

/// Returns the words of a segment without assignments, wrappers, flags and redirections.
fn words(segment: &str) -> Vec<&str> {
    let mut words: Vec<&str> = Vec::new();
    let mut skip = false;
    for word in segment.split_whitespace() {
        if std::mem::take(&mut skip) {
            continue;
        }
        if words.is_empty() {
            let program = word.rsplit('/').next().unwrap_or(word);
            if word.contains('=')
                || WRAPPERS.contains(&program)
                || word.starts_with('-')
                || word.bytes().all(|b| b.is_ascii_digit())
            {
                continue;
            }
        }
        // The folder of git and make, or the package of cargo: the value after the option names a place, not the
        // purpose.
        if matches!(word, "-C" | "--manifest-path" | "--cwd" | "--prefix" | "--dir" | "--filter" | "-F") {
            skip = true;
            continue;
        }
        if word.starts_with('-') || word.contains('>') || word.starts_with('<') || word.starts_with('&') {
            continue;
        }
        words.push(word);
    }
    words
}

/// Returns the segment that the command line is about: the last one that does more than inspect, otherwise the last
/// one. `git commit … && git status` is about the commit.
pub(crate) fn main_segment(command: &str) -> &str {
    let all = segments(command);
    let last = |does_more: fn(&str) -> bool| all.iter().rev().find(|segment| does_more(segment));
    last(|segment| class_of(segment) != Class::Inspect)
        .or_else(|| last(|segment| words(segment).first().is_some_and(|program| !INSPECTION_PROGRAMS.contains(program))))
        .or(all.last())
        .copied()
        .unwrap_or(command)
}

/// Returns the class of the command line.
pub(crate) fn class(command: &str) -> Class {
    class_of(main_segment(command))
}

fn class_of(segment: &str) -> Class {
    let words = words(segment);
    let Some(program) = words.first().map(|word| word.rsplit('/').next().unwrap_or(word)) else {
        return Class::Inspect;
    };
    if INSPECTION_PROGRAMS.contains(&program) {
        return Class::Inspect;
    }
    let has = |any: &[&str]| words.iter().any(|word| any.contains(&word.split(':').next().unwrap_or(word)));
    match program {
        "git" if has(&["commit"]) => Class::Commit,
        "git" if has(&["push"]) => Class::Publish,
        "git" if has(&["status", "diff", "log", "show", "branch", "ls-files", "blame", "check-ignore", "rev-parse"]) => {
            Class::Inspect
        }
        "gh" if has(&["create", "merge"]) => Class::Publish,
        "gh" => Class::Inspect,
        "pytest" | "jest" | "vitest" | "mocha" | "rspec" | "phpunit" | "playwright" | "nextest" | "ctest" => Class::Test,
        "eslint" | "biome" | "prettier" | "ruff" | "mypy" | "pyright" | "golangci-lint" | "clippy" | "oxlint"
        | "rustfmt" | "tsc" => Class::Check,
        _ if has(&["test", "tests", "nextest", "pytest", "vitest", "jest", "e2e"]) => Class::Test,
        _ if has(&["lint", "typecheck", "type-check", "format", "fmt", "check", "clippy", "vet", "verify"]) => Class::Check,
        _ if has(&["build", "compile"])
            || matches!(program, "make" | "cmake" | "ninja" | "rustc" | "gcc" | "javac" | "webpack" | "vite") =>
        {
            Class::Build
        }
        _ if has(&["install", "add", "i", "ci", "sync"]) => Class::Install,
        _ => Class::Other,
    }
}

/// Returns the words that commands of the same purpose share: the program and its subcommands. The words have lost their
/// options, so the command must be scrubbed before.
pub(crate) fn purpose(command: &Scrubbed) -> String {
    shared_words(command)
}

fn shared_words(command: &str) -> String {
    let words = words(main_segment(command));
    let plain = |word: &&&str| {
        !word.contains("[redacted") && (!word.contains(['/', '.', '"', '\'', '$', '(']) || words.first() == Some(*word))
    };
    words.iter().take(3).filter(plain).map(|word| word.rsplit('/').next().unwrap_or(word)).collect::<Vec<_>>().join(" ")
}

/// Returns the files and folders that the command line names.
pub(crate) fn targets(command: &str) -> Vec<&str> {
    words(main_segment(command))
        .into_iter()
        .skip(1)
        .filter(|word| word.contains(['/', '.']) && !matches!(*word, "." | "./" | "./..." | ".."))
        .collect()
}

/// Returns the command line with the values of the variables that it sets itself to plain text.
pub(crate) fn with_values(command: &str) -> String {
    let mut line = command.to_owned();
    for segment in segments(command) {
        // PowerShell writes the sign and blanks, too.
        let Some((name, value)) = segment.split_once('=') else { continue };
        let (name, value) = (name.trim().trim_start_matches('$'), value.trim().trim_matches(['"', '\'']));
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let is_plain = !value.is_empty() && !value.contains(['$', '(', '`', '"', '\'', ' ']);
        if is_name && is_plain {
            line = replace_variable(&line.replace(&format!("${{{name}}}"), value), name, value);
        }
    }
    line
}

/// Replaces a variable by its value, unless the name goes on.
fn replace_variable(line: &str, name: &str, value: &str) -> String {
    let sign = format!("${name}");
    let mut pieces = line.split(sign.as_str());
    let mut replaced = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let goes_on = piece.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        replaced.push_str(if goes_on { &sign } else { value });
        replaced.push_str(piece);
    }
    replaced
}

/// Returns the names of the linters, type checkers and builds that a command line runs over the whole project.
pub(crate) fn whole_checks(command: &str) -> Vec<&str> {
    let is_check = |segment: &&str| matches!(class_of(segment), Class::Check | Class::Build);
    let is_file = |word: &&str| word.contains(['/', '.']) && !matches!(*word, "." | "./" | "./...");
    segments(command)
        .into_iter()
        .filter(is_check)
        .map(words)
        .filter(|words| !words.iter().skip(1).any(is_file))
        .filter_map(|words| check_name(&words))
        .collect()
}

/// Returns the word that says what a check is: its script or subcommand, or else its program.
fn check_name<'a>(words: &[&'a str]) -> Option<&'a str> {
    const NAMES: &[&str] =
        &["lint", "typecheck", "type-check", "format", "fmt", "check", "clippy", "vet", "verify", "build", "compile"];
    let is_name = |word: &&&str| NAMES.contains(&word.split(':').next().unwrap_or_default());
    let word = words.iter().find(is_name).or(words.first())?;
    let word = word.strip_suffix(":fix").or_else(|| word.strip_suffix(":write")).unwrap_or(word);
    word.rsplit('/').next()
}

/// Returns whether a checker is also told to mend what it finds.
pub(crate) fn mends(command: &str) -> bool {
    [":fix", ":write", "--fix", "--write", " fmt", " format"].iter().any(|sign| command.contains(sign))
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
        Class::Other | Class::Inspect => shared_words(failed) == shared_words(later),
        // A passing formatter says nothing about the type checker.
        Class::Check => one == other && shared_words(failed) == shared_words(later),
        _ => one == other,
    };
    if !same {
        return false;
    }
    let (before, after) = (targets(failed), targets(later));
    before.is_empty() || after.is_empty() || before.iter().any(|target| after.contains(target)) || after.len() < before.len()
}

/// Returns the folder outside of the project in which a command line works, or an empty text.
fn folder_outside(command: &str) -> &str {
    let words = || command.split_whitespace().take_while(|word| !word.starts_with("<<"));
    let after = |option: &str| words().skip_while(|word| *word != option).nth(1);
    let folder = after("-C").or_else(|| after("cd")).unwrap_or_default();
    if folder.starts_with(['/', '~']) || folder.starts_with("..") { folder } else { "" }
}

/// Returns the calls of git on a command line that work in the project: the subcommand, and the words after it.
pub(crate) fn git_calls(command: &str) -> Vec<(String, Vec<String>)> {
    let mut all = Vec::new();
    if !command.contains("git") {
        return all;
    }
    let mut is_outside = false;
    for segment in segments(command) {
        let segment = segment.split("<<").next().unwrap_or_default().replace("\\\n", " ");
        let words = tokens(&segment);
        let mut words = words.into_iter().skip_while(|word| word.contains('=') || WRAPPERS.contains(&word.as_str()));
        // Git's shell on Windows writes `/d/shop` for `D:\shop`, which may be the project.
        let is_drive = |folder: &str| folder.starts_with('/') && matches!(folder.as_bytes().get(2), Some(b'/') | None);
        let is_foreign = |folder: &str| (folder.starts_with(['/', '~']) || folder.starts_with("..")) && !is_drive(folder);
        match words.next() {
            Some(program) if program == "cd" => is_outside = words.next().is_some_and(|folder| is_foreign(&folder)),
            Some(program) if program.rsplit('/').next() == Some("git") => {
                let mut is_elsewhere = is_outside;
                while let Some(word) = words.next() {
                    match word.as_str() {
                        "-C" => is_elsewhere = words.next().is_some_and(|folder| is_foreign(&folder)),
                        "-c" => _ = words.next(),
                        option if option.starts_with('-') => {}
                        _ => {
                            let rest =
                                words.by_ref().take_while(|word| !word.starts_with(['>', '&']) && !word.starts_with("2>"));
                            let rest: Vec<String> = rest.filter(|word| !word.trim().is_empty()).collect();
                            if !is_elsewhere {
                                all.push((word, rest));
                            }
                            break;
                        }
                    }
                }
            }
            _ => {}
        }
    }
    all
}

/// Returns whether two command lines work in the same repository.
pub(crate) fn is_same_place(one: &str, other: &str) -> bool {
    folder_outside(one) == folder_outside(other)
}

/// What a command line does to files of the project, as far as its words say it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileEffects {
    /// Files that it writes, or that it moves something to.
    pub written: Vec<String>,
    /// Files that it deletes or moves away.
    pub removed: Vec<String>,
    /// Folders that it deletes with all that is in them.
    pub removed_folders: Vec<String>,
    /// Files whose changes it takes back, with git.
    pub restored: Vec<String>,
    /// Whether it takes back all changes that are not committed.
    pub restores_all: bool,
}

/// Returns what a command line does to files: `sed -i`, redirections, `mv`, `cp`, `rm` and `git mv`.
pub(crate) fn file_effects(command: &str) -> FileEffects {
    let mut effects = FileEffects::default();
    let mut folder = String::new();
    for segment in segments(command) {
        // The lines of a here-document are not words of the command.
        let tokens = tokens(segment.lines().next().unwrap_or_default());
        let mut plain: Vec<&str> = Vec::new();
        let (mut redirected, mut is_redirection) = (None, false);
        for token in &tokens {
            if std::mem::take(&mut is_redirection) {
                redirected = Some(token.as_str());
            } else if token == ">" || token == ">>" {
                is_redirection = true;
            } else if let Some(file) = token.strip_prefix(">>").or_else(|| token.strip_prefix('>')) {
                redirected = Some(file);
            } else {
                plain.push(token);
            }
        }
        let start = plain.iter().position(|word| !word.contains('=') && !WRAPPERS.contains(word)).unwrap_or(plain.len());
        let is_git = plain.get(start) == Some(&"git");
        let words = &plain[(start + usize::from(is_git)).min(plain.len())..];
        let Some((&program, arguments)) = words.split_first() else { continue };
        let has_option = |short: char| {
            arguments.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(short))
        };
        let edits_in_place = has_option('i') || arguments.iter().any(|word| word.starts_with("--in-place"));
        let names: Vec<&str> =
            arguments.iter().copied().filter(|word| !word.starts_with(['-', '<', '&']) && !word.is_empty()).collect();
        let inside = |name: &str| project_file(&folder, name);
        match program {
            "cd" => {
                let into = names.first().copied().unwrap_or("~").trim_end_matches('/');
                folder = if matches!(into, "." | "./") { String::new() } else { into.to_owned() };
                continue;
            }
            // The first name is the script.
            "sed" | "perl" if edits_in_place => effects.written.extend(names.iter().skip(1).filter_map(|name| inside(name))),
            "mv" | "cp" => {
                if let Some((to, from)) = names.split_last() {
                    effects.written.extend(inside(to));
                    if program == "mv" {
                        effects.removed.extend(from.iter().filter_map(|name| inside(name)));
                    }
                }
            }
            "reset" if is_git => effects.restores_all |= arguments.contains(&"--hard"),
            "restore" if is_git && arguments.contains(&"--staged") => {}
            "restore" | "checkout" if is_git => {
                effects.restores_all |= names.contains(&".");
                effects.restored.extend(names.iter().filter_map(|name| inside(name)));
            }
            "rm" => {
                effects.removed.extend(names.iter().filter_map(|name| inside(name)));
                if has_option('r') {
                    effects.removed_folders.extend(names.iter().map(|name| below(&folder, name.trim_end_matches('/'))));
                }
            }
            _ => {}
        }
        // What a check or a build prints is a log.
        let is_log = !INSPECTION_PROGRAMS.contains(&program);
        effects.written.extend(redirected.filter(|_| !is_log).and_then(inside));
    }
    effects.written.extend(files_of_script(command));
    effects
}

/// Returns what a command line writes into files with, if it edits them in place or runs a script that may.
pub(crate) fn editor(command: &str) -> Option<&'static str> {
    let main = main_segment(command);
    let program = main.split_whitespace().find(|word| !word.contains('=') && !WRAPPERS.contains(word))?;
    let writes = ["write", ".sub(", "replace(", "-i ", "-i.", "-pi", "open("].iter().any(|sign| command.contains(sign));
    match program.rsplit('/').next()? {
        "python" | "python3" if writes => Some("python3"),
        "node" | "bun" | "deno" if writes && command.contains("write") => Some("node"),
        "perl" if main.contains("-pi") || main.contains(" -i") => Some("perl -pi"),
        "sed" if main.contains(" -i") || main.contains("--in-place") => Some("sed -i"),
        _ => None,
    }
}

/// Returns the files that a script on the command line writes, where the script names them.
fn files_of_script(command: &str) -> Vec<String> {
    // A long script is cut before it writes.
    const WRITES: [&str; 8] = [".write(", "write_text", "writeFile", "Bun.write", "'w'", "\"w\"", "replace(", ".sub("];
    let writes = WRITES.iter().any(|sign| command.contains(sign));
    if !writes || !matches!(editor(command), Some("python3" | "node")) {
        return Vec::new();
    }
    let quoted = |text: &str| {
        let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        let inner = text[1..].split(quote).next().unwrap_or_default();
        project_file("", inner).filter(|_| inner.len() < 200 && !inner.contains(|c: char| c.is_whitespace()))
    };
    let mut named: Vec<String> = Vec::new();
    for call in ["open(", "Path(", "writeFileSync(", "writeFile(", "Bun.write(", "= "] {
        for (at, found) in command.match_indices(call) {
            let path = quoted(&command[at + found.len()..]).filter(|path| path.contains('/'));
            named.extend(path.filter(|path| !named.contains(path)));
        }
    }
    // Of several files, some may only be read.
    if named.len() == 1 { named } else { Vec::new() }
}

/// Returns the path of a file below a folder, if it looks like a file that somebody keeps.
fn project_file(folder: &str, name: &str) -> Option<String> {
    let path = below(folder, name);
    let last = path.rsplit('/').next().unwrap_or_default();
    let is_temporary = path.starts_with("/tmp") || path.starts_with("/dev") || path.contains("/tmp/");
    let extension = last.rsplit_once('.').map_or("", |(_, extension)| extension);
    let is_kept = !extension.is_empty() && !matches!(extension, "log" | "out" | "tmp" | "bak" | "orig");
    (is_kept && !is_temporary && !path.contains(['*', '$', '?', '{', '|', '(', '`'])).then_some(path)
}

/// Returns the path that a name has in a folder.
fn below(folder: &str, name: &str) -> String {
    let name = name.trim_start_matches("./");
    if folder.is_empty() || name.starts_with(['/', '~']) { name.to_owned() } else { format!("{folder}/{name}") }
}

/// Splits a line of shell into words, without their quotes.
fn tokens(line: &str) -> Vec<String> {
    let mut all = Vec::new();
    let (mut word, mut quote, mut is_open) = (String::new(), None, false);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (None, '\'' | '"') => (quote, is_open) = (Some(c), true),
            (_, '\\') if quote != Some('\'') => word.extend(chars.next()),
            (None, c) if c.is_whitespace() => {
                if is_open || !word.is_empty() {
                    all.push(std::mem::take(&mut word));
                }
                is_open = false;
            }
            _ => word.push(c),
        }
    }
    if is_open || !word.is_empty() {
        all.push(word);
    }
    all
}

/// Returns whether a later command line rewords the failed one.
pub(crate) fn is_rewording(failed: &str, later: &str) -> bool {
    let significant = |command: &str| text::features(main_segment(command));
    let (one, other) = (significant(failed), significant(later));
    text::similarity(&one, &other) >= 0.6
}

/// Signs that the shell or a tool did not recognize what it was asked to do.
const UNKNOWN_SIGNS: &[&str] = &[
    "command not found",
    "not recognized",
    "unrecognized",
    "unknown command",
    "unknown option",
    "unknown flag",
    "invalid option",
    "unexpected argument",
    "no such command",
    "no such subcommand",
    "is not a git command",
    "not installed",
    "missing script",
    "script not found",
    "no rule to make target",
    "no module named",
    "could not locate executable",
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
    "hook",
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
    contains_sign(error, ENVIRONMENT_SIGNS)
}

/// Signs that a repository, an index or a cache is damaged.
const DAMAGE_SIGNS: &[&str] = &["unable to read", "corrupt", "bad object", "missing object", "index file smaller"];

/// Returns whether something is damaged, so that even looking fails.
pub(crate) fn is_damage(error: &str) -> bool {
    let error = error.to_lowercase();
    DAMAGE_SIGNS.iter().any(|sign| error.contains(sign))
}

/// Returns whether the command did not run as intended.
pub(crate) fn is_invocation(error: &str) -> bool {
    contains_sign(error, INVOCATION_SIGNS)
}

/// Returns whether the error contains one of the signs, or one of [`UNKNOWN_SIGNS`].
fn contains_sign(error: &str, signs: &[&str]) -> bool {
    let error = error.to_lowercase();
    UNKNOWN_SIGNS.iter().chain(signs).any(|sign| error.contains(sign))
}

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

/// Returns the output line that explains why a command of that class failed.
pub(crate) fn error_line_of(class: Class, output: &str) -> Option<String> {
    if timed_out(output) {
        // A command that waits for an answer prints the question last.
        let last = output.lines().map(str::trim).rfind(|line| line.chars().any(char::is_alphabetic)).unwrap_or_default();
        let waits = last.ends_with(['?', ':', ']', ')', '>']) && !last.starts_with("Timed out");
        return Some(if waits { format!("timed out at \"{}\"", text::clip(last, 160)) } else { "timed out".to_owned() });
    }
    if matches!(class, Class::Test | Class::Check | Class::Build | Class::Commit) {
        let verdict = |line: &&str| !is_passing(line) && VERDICT_MARKS.iter().any(|mark| line.contains(mark));
        if let Some(line) = output.lines().map(str::trim).find(verdict) {
            return Some(text::clip(line, 200).into_owned());
        }
    }
    error_line(output)
}

/// Returns which tests the hook of a failed commit ran, if they failed: their counts, or the command if its output was cut before
/// them. What such tests print says nothing of the commit.
pub(crate) fn failed_tests_of_hook(output: &str) -> Option<String> {
    if let Some(counts) = test_counts(output) {
        return (counts.failed > 0).then(|| counts.verdict());
    }
    let echoed = |line: &str| line.trim().strip_prefix(['$', '>']).map(|it| it.trim().to_owned());
    let last = output.lines().filter_map(echoed).rfind(|command| class(command) != Class::Other)?;
    (class(&last) == Class::Test).then(|| format!("`{}`", text::clip(&last, 80)))
}

/// Returns the output line that explains why a command failed.
pub(crate) fn error_line(output: &str) -> Option<String> {
    let lines = || output.lines().map(str::trim).filter(|line| !is_frame(line) && line.chars().any(char::is_alphabetic));
    let candidate = lines().find(|line| is_definite_error(line)).or_else(|| lines().find(|line| is_error_like(line)));
    let line = candidate.or_else(|| lines().next_back())?;
    // What the tool itself advises is worth more than what it complains of.
    let advice = lines().skip_while(|it| *it != line).skip(1).take(2).find(|line| is_advice(line));
    let line = text::clip(line, 200);
    Some(advice.map_or_else(|| line.clone().into_owned(), |advice| format!("{line}; {}", text::clip(advice, 120))))
}

/// Returns whether a command changes something, so that it may have made another command pass.
pub(crate) fn may_fix(command: &str) -> bool {
    // Looking at a repository, or putting work aside, mends nothing.
    const LOOKS: &[&str] =
        &["stash", "status", "checkout", "diff", "log", "show", "add", "commit", "push", "fetch", "switch", "branch"];
    let mut main = words(main_segment(command)).into_iter();
    if main.any(|word| word == "git") && main.next().is_some_and(|word| LOOKS.contains(&word)) {
        return false;
    }
    if class(command) != Class::Inspect {
        return !matches!(class(command), Class::Test | Class::Check | Class::Build);
    }
    let program = words(main_segment(command)).first().copied().unwrap_or("");
    matches!(program, "rm" | "mv" | "cp" | "mkdir" | "chmod" | "kill" | "pkill" | "touch" | "export" | "sed")
}

/// Returns whether a line of output says which command would help.
fn is_advice(line: &str) -> bool {
    let lower = line.to_lowercase();
    ["run ", "try ", "hint: run", "hint: use", "please run", "to fix"].iter().any(|opening| lower.starts_with(opening))
        && line.contains(['`', '\'', '"'])
}

fn is_frame(line: &str) -> bool {
    let lower = line.to_lowercase();
    FRAME_LINES.iter().any(|frame| lower == *frame)
        || lower.starts_with("exit code ")
        || lower.starts_with("exited with code ")
        || is_passing(line)
        || lower.starts_with("please report")
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

fn is_definite_error(line: &str) -> bool {
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
    [
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
    ]
    .iter()
    .any(|sign| lower.contains(sign))
}

/// Returns whether the output reports a failure although the command claims success.
pub(crate) fn output_reports_failure(class: Class, output: &str) -> bool {
    match class {
        Class::Commit => {
            !output.contains("] ") && COMMIT_FAILURE_SIGNS.iter().any(|sign| output.contains(sign))
                || output.contains("FAILED: git commit")
                || output.contains("pre-commit script failed")
        }
        Class::Test => test_counts(output).is_some_and(|counts| counts.failed > 0),
        Class::Publish => {
            output.contains("! [rejected]") || output.contains("error: failed to push") || output.contains("fatal:")
        }
        _ => false,
    }
}

const COMMIT_FAILURE_SIGNS: &[&str] = &[
    "FAILED",
    "nothing to commit",
    "no changes added to commit",
    "Aborting commit",
    "fatal:",
    "error:",
    "hook failed",
    "script failed",
    "husky - ",
];

/// Returns whether the command line pipes what it is about into another command, which hides its exit code.
fn is_piped(command: &str) -> bool {
    let main = main_segment(command);
    let after = command.find(main).map_or("", |at| &command[at + main.len()..]).trim_start();
    after.starts_with('|') && !after.starts_with("||")
}

/// Openings of lines in which a tool says that it failed itself. Logs of the code under test do not begin so.
const OWN_FAILURES: &[&str] = &[
    "npm error",
    "npm ERR!",
    "error: script",
    "error: Recipe",
    "error: could not compile",
    "make: ***",
    "ELIFECYCLE",
    "fatal:",
    "--- FAIL",
    "FAIL\t",
    "error TS",
    "error[E",
];

/// Returns whether a line of the output says that the tool failed.
pub(crate) fn prints_failure(output: &str) -> bool {
    text::tail(output, 8 * 1024).lines().any(|line| OWN_FAILURES.iter().any(|opening| line.trim().starts_with(opening)))
}

/// Returns whether the output shows that a command failed whose exit code a pipe hides.
pub(crate) fn failed_behind_pipe(command: &str, output: &str) -> bool {
    let is_run = matches!(
        class(command),
        Class::Test | Class::Check | Class::Build | Class::Install | Class::Commit | Class::Publish
    );
    is_run && is_piped(command) && (prints_failure(output) || was_not_understood(output))
}

/// The length up to which an output is nothing but a complaint, in bytes.
const MAX_COMPLAINT_BYTES: usize = 600;

/// Returns whether all that was printed is that a program or a subcommand is unknown.
fn was_not_understood(output: &str) -> bool {
    let first = output.trim().lines().next().unwrap_or_default();
    output.len() <= MAX_COMPLAINT_BYTES && contains_sign(first, &[])
}

/// Returns whether the tool that runs commands gave up waiting.
pub(crate) fn timed_out(output: &str) -> bool {
    let output = output.trim_start();
    output.starts_with("Timed out") || output.starts_with("Command timed out")
}

/// Returns whether the tool that runs commands says before the output that the command failed.
pub(crate) fn exited_with_failure(output: &str) -> bool {
    let code = output.trim_start().strip_prefix("Exited with code ");
    code.is_some_and(|code| code.starts_with(|c: char| matches!(c, '1'..='9')))
}

/// Returns whether the command certainly passed. A pipe hides its exit code.
pub(crate) fn passed(command: &str, output: &str) -> bool {
    let class = class(command);
    if !is_piped(command) || matches!(class, Class::Inspect | Class::Other) {
        return true;
    }
    match class {
        Class::Test => test_counts(output).is_some_and(|counts| counts.passed > 0 && counts.failed == 0),
        _ => !output.lines().any(|line| is_definite_error(line.trim())),
    }
}

/// The counts of a test run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TestCounts {
    /// Tests that passed.
    pub passed: u32,
    /// Tests that failed.
    pub failed: u32,
}

impl TestCounts {
    /// Formats the counts.
    pub(crate) fn verdict(self) -> String {
        format!("{} pass, {} fail", self.passed, self.failed)
    }
}

/// Returns the counts of the last test run in an output. If one run has several suites (cargo), returns their sum.
pub(crate) fn test_counts(output: &str) -> Option<TestCounts> {
    let mut found: Option<TestCounts> = None;
    let mut cargo: Option<TestCounts> = None;
    for line in text::tail(output, 32 * 1024).lines() {
        let line = line.trim().trim_start_matches(['=', ' ']);
        if let Some(rest) = line.strip_prefix("test result:") {
            let counts = counts_of(rest).unwrap_or_default();
            let sum = cargo.get_or_insert_default();
            sum.passed += counts.passed;
            sum.failed += counts.failed;
            continue;
        }
        let Some(counts) = counts_of(line) else {
            continue;
        };
        if line.starts_with("Test Suites") || line.starts_with("Test Files") || line.starts_with("Suites") {
            continue;
        }
        // Runners such as bun report passed and failed tests on separate lines.
        match &mut found {
            Some(TestCounts { passed, failed: 0 }) if *passed > 0 && counts.passed == 0 => {
                found = Some(TestCounts { passed: *passed, failed: counts.failed });
            }
            _ => found = Some(counts),
        }
    }
    cargo.or(found)
}

/// Reads the numbers before `pass…` and `fail…` from a line that is short enough to be a summary.
fn counts_of(line: &str) -> Option<TestCounts> {
    // A line with its time before it is a log of the code under test.
    if line.starts_with('[') {
        return None;
    }
    let first = line.split(|c: char| !c.is_ascii_alphanumeric()).find(|word| !word.is_empty())?;
    let opens = first.bytes().all(|byte| byte.is_ascii_digit())
        || matches!(first, "Tests" | "Test" | "ok" | "FAILED" | "Passed" | "Ran" | "Results");
    if !opens || line.len() > 160 || !line.as_bytes().iter().any(u8::is_ascii_digit) {
        return None;
    }
    let mut counts = None::<TestCounts>;
    let mut number = None;
    for word in line.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')' | '|' | '.' | ':')) {
        if word.is_empty() {
            continue;
        }
        if let Ok(value) = word.parse::<u32>() {
            number = Some(value);
            continue;
        }
        let word = word.to_ascii_lowercase();
        match (number.take(), word.as_str()) {
            (Some(n), "pass" | "passed" | "passing") => counts.get_or_insert_default().passed = n,
            (Some(n), "fail" | "failed" | "failing" | "failures") => {
                counts.get_or_insert_default().failed = n;
            }
            (n, "tests" | "test") => number = n,
            _ => {}
        }
    }
    counts
}

#[cfg(test)]
mod tests {
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

    use super::*;
    use proptest::prelude::*;

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
                "checks....Passed\nbug: the script is from before\nrun `hooks install -f` to fix this\nPlease report it"
            )
            .unwrap(),
            "bug: the script is from before; run `hooks install -f` to fix this"
        );
    }

    #[test]
    fn counts_of_common_runners() {
        let counts = |output| test_counts(output).map(|t| (t.passed, t.failed));
        assert_eq!(counts(" 1346 pass\n 114 fail\n 114 errors\n 2921 expect() calls"), Some((1346, 114)));
        assert_eq!(counts("Tests:       1 failed, 20 passed, 21 total"), Some((20, 1)));
        assert_eq!(counts("===== 3 failed, 20 passed in 1.2s ====="), Some((20, 3)));
        assert_eq!(
            counts("test result: ok. 4 passed; 0 failed; 0 ignored\ntest result: ok. 6 passed; 0 failed"),
            Some((10, 0))
        );
        assert_eq!(counts(" Test Files  2 passed (2)\n      Tests  20 passed (20)"), Some((20, 0)));
        assert_eq!(counts("  12 passing (3s)"), Some((12, 0)));
        assert_eq!(counts("all good"), None);
    }

    #[test]
    fn files_that_a_command_line_writes_and_removes() {
        let written = |command: &str| file_effects(command).written;
        assert_eq!(written("sed -i '' 's/a b/c/' src/one.ts src/two.ts"), ["src/one.ts", "src/two.ts"]);
        assert_eq!(written("cd web && perl -pi -e 's/a/b/' app.js"), ["web/app.js"]);
        assert_eq!(written("cat > docs/plan.md <<'EOF'\nrm -f src/one.ts\nEOF"), ["docs/plan.md"]);
        assert_eq!(written("echo done >> notes.md && make 2>&1 > build.txt"), ["notes.md"]);
        assert!(written("sed -n 1,4p src/one.ts; cp a.md /tmp/a.md; ls > $OUT.md; make > make.log").is_empty());
        let moved = file_effects("git mv docs/old.md docs/new.md && rm -rf ./src/gone.rs target/");
        assert_eq!(moved.written, ["docs/new.md"]);
        assert_eq!(moved.removed, ["docs/old.md", "src/gone.rs"]);
        assert_eq!(moved.removed_folders, ["src/gone.rs", "target"]);
        assert_eq!(file_effects("git checkout -- src/one.ts && git restore a.md").restored, ["src/one.ts", "a.md"]);
        assert!(file_effects("git reset --hard").restores_all && file_effects("git checkout .").restores_all);
        assert_eq!(file_effects("git checkout -b topic && git restore --staged a.md"), FileEffects::default());
    }

    #[test]
    fn calls_of_git_in_the_project() {
        let call =
            |subcommand: &str, words: &[&str]| (subcommand.to_owned(), words.iter().map(|it| (*it).to_owned()).collect());
        assert_eq!(
            git_calls(
                "cd src && rtk git -C . add a.ts \\\n  'b c.ts' && git commit -qm \"$(cat <<'EOF'\nx\nEOF\n)\" 2>&1 | tail"
            ),
            [call("add", &["a.ts", "b c.ts"]), call("commit", &["-qm", "$(cat "])]
        );
        assert!(git_calls("cd /srv/other && git add . ; git -C ../x status; echo git push").is_empty());
        assert_eq!(git_calls("cd /d/shop && git status"), [call("status", &[])]);
    }

    #[test]
    fn files_that_a_script_writes() {
        let script =
            "python3 - <<'EOF'\np = 'src/cart.ts'\ntext = open(p).read().replace('a', 'b')\nopen(p, 'w').write(text)\nEOF";
        assert_eq!(file_effects(script).written, ["src/cart.ts"]);
        assert_eq!(file_effects("python3 -c \"print(open('src/cart.ts').read())\"").written, [""; 0]);
        let two = "python3 -c \"open('src/b.ts', 'w').write(open('src/a.ts').read())\"";
        assert_eq!(file_effects(two).written, [""; 0], "one of them is only read");
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
    fn a_commit_elsewhere_cures_nothing_here() {
        assert!(!same_purpose("git commit -m 'a'", "git -C /home/dev/other commit -m 'b'"));
        assert!(!same_purpose("git commit -m 'a'", "cd ../other && git commit -m 'b'"));
        assert!(same_purpose("git -C . commit -m 'a'", "git commit -m 'b'"));
    }

    #[test]
    fn a_log_line_is_no_count_of_tests() {
        let output = " 41 pass\n 0 fail\n[14:09:00.206] [Queue] Task 2 failed: 84 |";
        assert_eq!(test_counts(output), Some(TestCounts { passed: 41, failed: 0 }));
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
            file_effects(&command);
            failed_behind_pipe(&command, &command);
            class(&command);
            shared_words(&command);
            error_line(&command);
            test_counts(&command);
        }
    }
}
