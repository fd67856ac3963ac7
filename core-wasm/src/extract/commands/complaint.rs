//! What the shell, a tool or a hook says when a command cannot run as it is written. It is found in the output even if a later
//! command of the line passed or a pipe hides the status.

use super::class::INSPECTION_PROGRAMS;
use super::program::{own_program, own_words};
use super::shell::segments;
use crate::text;

/// How many bytes of an output are searched.
const MAX_BYTES: usize = 64 * 1024;

/// The maximum length of a repository's address, in bytes.
const MAX_ADDRESS_BYTES: usize = 200;

/// Words without which there is no complaint in an output.
const SIGNS: &[&str] = &[
    "not found",
    "No module named ",
    "no matches found: ",
    "file exists: ",
    "Failed to spawn: ",
    "could not be found",
    "No version is set for shim: ",
    "none of the git remotes",
    "staged changes",
    "committed changes",
    "local changes",
    "build constraints exclude all",
    "matched no packages",
    "[no tests to run]",
    "could not add label: ",
];

/// Programs that every machine has. If one is not found, something else is wrong.
const STANDARD: &[&str] = &["git", "python", "perl", "bash", "sh", "zsh", "node", "ssh", "curl", "man", "vi", "tar", "open"];

/// Why a command did not run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Reason {
    /// The program is not installed. The name is the program's.
    #[default]
    Absent,
    /// Python lacks a module. The name is the module's.
    Module,
    /// The shell found no file for a pattern that is not meant for files. The name is the pattern.
    Pattern,
    /// The shell does not overwrite a file.
    Exists,
    /// A variable of the command took the place of the shell's search path.
    SearchPath,
    /// The tool does not know which repository is meant.
    Repository,
    /// Git refused to go on while files were changed. It is no longer recorded, but older states have it.
    Unstaged,
    /// A hook refused the program. The name is the program's.
    Hook,
    /// Git does not add what its ignore files name. The name is the first such path.
    Ignored,
    /// The remote repository has another address now, which is the name. Nothing failed.
    Moved,
    /// The code that was to be tested or built is behind a build tag. The name is the program's.
    Tagged,
    /// The log of a job is empty. The name is the command without the number of the run.
    NoLog,
    /// The label of a pull request or an issue does not exist. The name is the label.
    Label,
}

/// What was said of one command of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Complaint {
    /// The reason.
    pub reason: Reason,
    /// What it is about.
    pub name: String,
    /// The command of the line.
    pub segment: String,
    /// The line of the output.
    pub error: String,
}

/// Returns the first complaint in the output of a command line.
pub(crate) fn complaint(command: &str, output: &str, is_error: bool) -> Option<Complaint> {
    if is_error && let Some(refused) = refused_by_hook(command, output) {
        return Some(refused);
    }
    let output = text::head(output, MAX_BYTES);
    if let Some(address) = moved_to(output) {
        return Some(Complaint {
            reason: Reason::Moved,
            name: address.to_owned(),
            segment: String::new(),
            error: String::new(),
        });
    }
    if let Some((name, segment)) = ignored(command, output) {
        return Some(Complaint {
            reason: Reason::Ignored,
            name: name.to_owned(),
            segment: segment.to_owned(),
            error: String::new(),
        });
    }
    if let Some(silent) = log_without_lines(command, output, is_error) {
        return Some(silent);
    }
    if !text::contains_any(output, SIGNS) {
        return None;
    }
    let all = segments(command);
    let found = output.lines().find_map(|line| of_line(command, &all, line.trim_end()))?;
    (found.reason != Reason::Tagged || ran_nothing(output)).then_some(found)
}

/// Returns whether Go ran no test in any package.
fn ran_nothing(output: &str) -> bool {
    output.lines().map(str::trim_start).all(|line| {
        let ran = ["--- ", "=== RUN", "FAIL:", "panic:"].iter().any(|opening| line.starts_with(opening));
        let passed = line.strip_prefix("ok ").is_some_and(|rest| !rest.contains("[no tests to run]"));
        !ran && !passed
    })
}

/// Returns the new address that a server names when git pushes to a repository's old one.
fn moved_to(output: &str) -> Option<&str> {
    let (_, behind) = output.split_once("remote: This repository moved. Please use the new location:")?;
    let address = behind.lines().nth(1)?.trim().strip_prefix("remote:")?.trim();
    let is_address =
        address.len() <= MAX_ADDRESS_BYTES && address.contains(['/', ':']) && !address.contains(char::is_whitespace);
    is_address.then_some(address)
}

/// Returns the first path that git did not add because an ignore file names it, and the command that names that path.
fn ignored<'a>(command: &'a str, output: &'a str) -> Option<(&'a str, &'a str)> {
    let (_, behind) = output.split_once("paths are ignored by one of your .gitignore files:")?;
    let path = behind.lines().map(str::trim).find(|line| !line.is_empty())?;
    let adds = |segment: &&str| own_program(segment) == "git" && own_words(segment).get(1) == Some(&"add");
    let all = segments(command);
    // In another folder, or another repository, it is another path.
    let moves = all.iter().any(|segment| matches!(own_program(segment), "cd" | "pushd"));
    let segment = all.into_iter().find(adds).filter(|_| !moves)?;
    (path.len() <= MAX_ADDRESS_BYTES && segment.contains(path)).then_some((path, segment))
}

/// Returns that the log of a job was asked for and is empty.
fn log_without_lines(command: &str, output: &str, is_error: bool) -> Option<Complaint> {
    let is_empty = !is_error && (output.trim().is_empty() || output.trim() == "(Bash completed with no output)");
    // What a search does not find is no log without lines, nor is what went into a file.
    let searches = text::contains_any(command, &["grep", "rg ", "awk", "sed", "jq"])
        || command.replace("2>&1", "").replace("2>/dev/null", "").contains('>');
    let asks = |segment: &&str| {
        own_words(segment).starts_with(&["gh", "run", "view"]) && segment.split_whitespace().any(|word| LOGS.contains(&word))
    };
    let segment = segments(command).into_iter().find(asks).filter(|_| is_empty && !searches)?;
    let option = segment.split_whitespace().find(|word| LOGS.contains(word))?;
    Some(Complaint {
        reason: Reason::NoLog,
        name: format!("gh run view {option}"),
        segment: segment.to_owned(),
        error: String::new(),
    })
}

/// The options with which the log of a run is asked for.
const LOGS: &[&str] = &["--log", "--log-failed"];

/// Returns the build tags that a command names.
pub(crate) fn build_tags(command: &str) -> Option<&str> {
    let mut words = command.split_whitespace();
    let option = words.find(|word| matches!(word.split('=').next(), Some("-tags" | "--tags")))?;
    option.split_once('=').map(|(_, tags)| tags).or_else(|| words.next())
}

/// Returns a refusal that only names another tool of the agent. It stands alone: nothing ran.
fn refused_by_hook(command: &str, output: &str) -> Option<Complaint> {
    let said = output.trim();
    let names_tool = said.strip_prefix("Use the ").is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_uppercase()) && rest.contains(" tool ") && said.lines().count() == 1
    });
    let first = segments(command).into_iter().find(|segment| own_program(segment) != "cd")?;
    (names_tool && said.len() < 160).then(|| Complaint {
        reason: Reason::Hook,
        name: own_program(first).to_owned(),
        segment: first.to_owned(),
        error: said.to_owned(),
    })
}

fn of_line(command: &str, all: &[&str], line: &str) -> Option<Complaint> {
    let found = |reason, name: &str, segment: &str| {
        Some(Complaint {
            reason,
            name: name.to_owned(),
            segment: segment.to_owned(),
            error: text::clip(line.trim(), 160).into_owned(),
        })
    };
    let shell = after_shell(line);
    let said = shell.unwrap_or(line);
    if let Some(name) = missing_program(said, shell.is_some()) {
        let segment = all.iter().find(|segment| names_program(segment, name))?;
        if INSPECTION_PROGRAMS.contains(&name) || STANDARD.contains(&name) {
            let sets_path = text::contains_any(command, &["path=", "for path in", "read path", "read -r path"]);
            return if sets_path { found(Reason::SearchPath, name, segment) } else { None };
        }
        return found(Reason::Absent, name, segment);
    }
    if let Some(name) = missing_module(said) {
        let module = name.split('.').next().unwrap_or(name);
        // `python -m name` runs the module as a program.
        let runs = |segment: &&&str| own_program(segment) == module && segment.contains("python");
        if let Some(segment) = all.iter().find(runs) {
            return found(Reason::Absent, module, segment);
        }
        let segment = all.iter().find(|segment| own_program(segment) == "python").filter(|_| imports(command, module))?;
        return found(Reason::Module, module, segment);
    }
    if let Some(pattern) = shell.and_then(|said| said.strip_prefix("no matches found: ")) {
        let is_meant_otherwise = pattern.starts_with("--") || (pattern.contains('?') && pattern.contains('='));
        let segment = all.iter().find(|segment| segment.contains(pattern)).filter(|_| is_meant_otherwise)?;
        return found(Reason::Pattern, pattern, segment);
    }
    if let Some(file) = shell.and_then(|said| said.strip_prefix("file exists: ")) {
        let name = file.rsplit('/').next().unwrap_or(file);
        return found(Reason::Exists, file, command).filter(|_| command.contains(name) && command.contains('>'));
    }
    if let Some((_, label)) = line.split_once("could not add label: ") {
        let label = label.strip_suffix(" not found")?.trim_matches(['"', '\'']);
        let segment = all.iter().find(|segment| own_program(segment) == "gh" && segment.contains(label))?;
        return found(Reason::Label, label, segment);
    }
    if text::contains_any(line, &["build constraints exclude all", "matched no packages", "[no tests to run]"]) {
        let is_empty = line.contains("[no tests to run]");
        let runs = |segment: &&&str| {
            let verb = own_words(segment).get(1).copied().unwrap_or_default();
            let is_told_by = if is_empty { verb == "test" } else { matches!(verb, "test" | "build" | "vet") };
            own_program(segment) == "go" && is_told_by && build_tags(segment).is_none()
        };
        let segment = all.iter().find(runs)?;
        let complaint = found(Reason::Tagged, "go", segment)?;
        return Some(if is_empty { Complaint { error: "no tests to run".to_owned(), ..complaint } } else { complaint });
    }
    if line.contains("none of the git remotes configured for this repository point to a known GitHub host") {
        let segment = all.iter().find(|segment| own_program(segment) == "gh")?;
        return found(Reason::Repository, "gh", segment);
    }
    None
}

/// Returns whether a segment has a program's name as a word, also within a substitution.
pub(crate) fn names_program(segment: &str, name: &str) -> bool {
    let is_opening = |c: char| matches!(c, '$' | '(' | '`' | '"' | '\'');
    segment.split_whitespace().any(|word| word.trim_start_matches(is_opening).rsplit('/').next() == Some(name))
}

/// Returns whether a script in Python imports a module.
pub(crate) fn imports(script: &str, module: &str) -> bool {
    let is_import = |line: &str| line.contains("import ") || line.contains("from ");
    script.lines().any(|line| is_import(line) && text::contains_words(line, module))
}

/// Returns what the shell itself says on a line, without its name and the number of the line.
fn after_shell(line: &str) -> Option<&str> {
    let rest = ["(eval):", "zsh:", "bash:", "/bin/bash:", "/usr/bin/bash:", "/bin/sh:", "sh:"]
        .iter()
        .find_map(|name| line.strip_prefix(name))?
        .trim_start();
    let rest = rest.strip_prefix("line ").unwrap_or(rest);
    let after_number = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    Some(if after_number.len() < rest.len() { after_number.trim_start_matches([':', ' ']) } else { rest })
}

/// Returns the name of a program that was not found.
fn missing_program(said: &str, is_shell: bool) -> Option<&str> {
    let shell = || {
        said.strip_prefix("command not found: ")
            .or_else(|| said.strip_suffix(": command not found"))
            .or_else(|| said.strip_suffix(": not found"))
    };
    let other = || {
        let quoted = |opening: &str, closing: &str| said.strip_prefix(opening).and_then(|rest| rest.split_once(closing));
        quoted("error: Failed to spawn: `", "`")
            .or_else(|| quoted("The command '", "' could not be found"))
            .map(|(name, _)| name)
            .or_else(|| said.strip_prefix("mise ERROR No version is set for shim: "))
    };
    let name = if is_shell { shell() } else { other() }?.trim();
    let is_name = name.len() > 1
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.+".contains(&byte));
    is_name.then_some(name)
}

/// Returns the name of a module that Python did not find.
fn missing_module(said: &str) -> Option<&str> {
    let at = said.find("No module named ")?;
    let before = said[..at].trim();
    let is_own =
        before.is_empty() || before.ends_with("ModuleNotFoundError:") || before.ends_with("Error:") || before.ends_with(':');
    let name = said[at + "No module named ".len()..].trim().trim_matches(['\'', '"', '.']);
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte));
    (is_own && is_name).then_some(name)
}
