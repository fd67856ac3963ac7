//! Calls of git on a command line, and the folders in which they work.

use super::shell::{WRAPPERS, segments, tokens};

/// One call of git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GitCall {
    /// The folder in which git works, as the command line says it: relative to the project's root, with `..` resolved as far as
    /// possible, or absolute. Empty for the root. Variables are not replaced.
    pub folder: String,
    pub subcommand: String,
    /// The words after the subcommand, without redirections.
    pub arguments: Vec<String>,
}

impl GitCall {
    /// Returns whether the call works outside of the project.
    pub(crate) fn is_outside(&self) -> bool {
        is_outside(&self.folder)
    }

    /// Returns the folder of the repository that the call makes. `None` if it makes none.
    fn made_repository(&self) -> Option<String> {
        let takes_value = |option: &str| matches!(option, "-b" | "--initial-branch" | "--template" | "--branch" | "--depth");
        let mut names = Vec::new();
        let mut words = self.arguments.iter();
        while let Some(word) = words.next() {
            if takes_value(word) {
                words.next();
            } else if !word.starts_with('-') {
                names.push(word.as_str());
            }
        }
        match (self.subcommand.as_str(), names.as_slice()) {
            ("init", []) => Some(self.folder.clone()),
            ("init", [folder, ..]) | ("clone", [_, folder, ..]) => Some(joined(&self.folder, folder)),
            ("clone", [source]) => {
                let name = source.trim_end_matches('/').rsplit('/').next().unwrap_or(source);
                Some(joined(&self.folder, name.strip_suffix(".git").unwrap_or(name)))
            }
            _ => None,
        }
    }
}

/// Returns the calls of git on a command line, in their order.
pub(crate) fn git_calls_anywhere(command: &str) -> Vec<GitCall> {
    let mut all = Vec::new();
    if !command.contains("git") {
        return all;
    }
    // The folder before the latest `cd`, and those outside of the open subshells.
    let (mut folder, mut previous, mut outer) = (String::new(), String::new(), Vec::new());
    for segment in segments(command) {
        let segment = segment.split("<<").next().unwrap_or_default().replace("\\\n", " ");
        let inside = segment.trim_start_matches(['(', ' ']);
        outer.extend(segment.starts_with('(').then(|| folder.clone()));
        let words = tokens(inside);
        let mut words = words.into_iter().skip_while(|word| word.contains('=') || WRAPPERS.contains(&word.as_str()));
        match words.next() {
            Some(program) if program == "cd" || program == "pushd" => {
                let to = words.find(|word| word != "--").unwrap_or_else(|| "~".to_owned());
                let next = match to.trim_end_matches(')') {
                    "-" => previous.clone(),
                    // The root's whole path is written like that here. Nobody changes to where he is.
                    "." => String::new(),
                    to => joined(&folder, to),
                };
                previous = std::mem::replace(&mut folder, next);
            }
            Some(program) if program.rsplit('/').next() == Some("git") => all.extend(call(&folder, words)),
            _ => {}
        }
        if segment.ends_with(')') && !inside.contains("$(") {
            folder = outer.pop().unwrap_or(folder);
        }
    }
    all
}

/// Returns the calls of git on a command line that work in the project: the subcommand, and the words after it.
pub(crate) fn git_calls(command: &str) -> Vec<(String, Vec<String>)> {
    let inside = git_calls_anywhere(command).into_iter().filter(|call| !call.is_outside());
    inside.map(|call| (call.subcommand, call.arguments)).collect()
}

/// Returns the calls of git on a command line that work in the project's root: another folder may be another repository.
pub(crate) fn git_calls_in_root(command: &str) -> Vec<GitCall> {
    git_calls_anywhere(command).into_iter().filter(|call| call.folder.is_empty()).collect()
}

/// Returns the folders in which a command line makes repositories besides the project's. A clone of a foreign one is work as any
/// other; a clone of one of the `known` ones is for trying something out, as they are.
pub(crate) fn made_repositories(command: &str, known: &[String]) -> Vec<String> {
    let mut made: Vec<String> = Vec::new();
    for call in git_calls_anywhere(command) {
        let is_known = |source: &String| {
            let source = joined(&call.folder, source);
            known.iter().chain(&made).any(|folder| *folder == source)
        };
        let is_for_trial = call.subcommand == "init" || call.arguments.iter().any(is_known);
        made.extend(call.made_repository().filter(|folder| is_for_trial && !folder.is_empty()));
    }
    made
}

/// Returns whether all commits of a command line are made in one of those folders, or are the first of a repository outside of the
/// project, as git's output says. False if it commits nothing.
pub(crate) fn commits_only_in(folders: &[String], command: &str, output: &str) -> bool {
    let is_first = output.contains("(root-commit)");
    let is_other =
        |call: &GitCall| (is_first && call.is_outside()) || folders.iter().any(|folder| is_below(&call.folder, folder));
    let calls = git_calls_anywhere(command);
    let mut commits = calls.iter().filter(|call| call.subcommand == "commit").peekable();
    commits.peek().is_some() && commits.all(is_other)
}

/// Returns whether a folder is for files that nobody keeps.
pub(crate) fn is_temporary_folder(folder: &str) -> bool {
    const ROOTS: [&str; 5] = ["/tmp", "/private/tmp", "/var/folders", "/private/var/folders", "/var/tmp"];
    ROOTS.iter().any(|root| is_below(folder, root)) || folder.starts_with('$')
}

/// Reads a call of git from the words after the program.
fn call(folder: &str, mut words: impl Iterator<Item = String>) -> Option<GitCall> {
    let mut folder = folder.to_owned();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-C" => folder = joined(&folder, &words.next()?),
            "-c" => _ = words.next(),
            option if option.starts_with('-') => {}
            _ => {
                let rest = words.take_while(|word| !word.starts_with(['>', '&']) && !word.starts_with("2>"));
                let arguments = rest.filter(|word| !word.trim().is_empty()).collect();
                return Some(GitCall { folder, subcommand: word, arguments });
            }
        }
    }
    None
}

/// Returns the folder that a name leads to from another folder.
pub(super) fn joined(folder: &str, name: &str) -> String {
    let name = name.trim_end_matches('/');
    if name.is_empty() || name.starts_with(['/', '~', '$']) {
        return if name.is_empty() { "/".to_owned() } else { name.to_owned() };
    }
    let mut path = folder.to_owned();
    for part in name.split('/').filter(|part| !matches!(*part, "" | ".")) {
        match path.rsplit_once('/') {
            Some((before, last)) if part == ".." && last != ".." => path.truncate(before.len()),
            None if part == ".." && !path.is_empty() && path != ".." => path.clear(),
            _ => {
                path.push_str(if path.is_empty() || path.ends_with('/') { "" } else { "/" });
                path.push_str(part);
            }
        }
    }
    path
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn is_outside(folder: &str) -> bool {
    // Git's shell on Windows writes `/d/shop` for `D:\shop`, which may be the project.
    let is_drive = folder.starts_with('/') && matches!(folder.as_bytes().get(2), Some(b'/') | None);
    (folder.starts_with(['/', '~', '$']) || folder.starts_with("..")) && !is_drive
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(command: &str) -> Vec<String> {
        git_calls_anywhere(command).into_iter().map(|call| call.folder).collect()
    }

    #[test]
    fn calls_in_the_project() {
        let call = |subcommand: &str, words: &[&str]| {
            (subcommand.to_owned(), words.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(
            git_calls(
                "cd src && rtk git -C . add a.ts \\\n  'b c.ts' && git commit -qm \"$(cat <<'EOF'\nx\nEOF\n)\" 2>&1 | tail"
            ),
            [call("add", &["a.ts", "b c.ts"]), call("commit", &["-qm", "$(cat "])]
        );
        assert!(git_calls("cd /srv/other && git add . ; git -C ../x status; echo git push").is_empty());
        assert!(git_calls("cd /tmp && mkdir -p demo && cd demo && git init && git commit -qm x").is_empty());
        assert_eq!(git_calls("cd /d/shop && git status"), [call("status", &[])]);
    }

    #[test]
    fn the_folder_follows_cd() {
        assert_eq!(folders("git add . && cd web && git -C ../api status && cd - && git log"), ["", "api", ""]);
        assert_eq!(folders("cd /tmp/a/b && git init && cd .. && git status"), ["/tmp/a/b", "/tmp/a"]);
        assert_eq!(folders("(cd /tmp/demo && git init -q) && git status"), ["/tmp/demo", ""]);
        assert_eq!(folders("cd ../.. && git status"), ["../.."]);
    }

    #[test]
    fn repositories_for_trying_something_out() {
        let made = |command| made_repositories(command, &["/tmp/origin.git".to_owned()]);
        assert_eq!(made("cd /tmp && mkdir demo && cd demo && git init -q -b main"), ["/tmp/demo"]);
        assert_eq!(made("git init -q \"$T/demo\" && git -C \"$T/demo\" commit -qm x --allow-empty"), ["$T/demo"]);
        assert_eq!(made("git clone /tmp/origin.git /tmp/clone && git clone -q https://example.org/tap.git"), ["/tmp/clone"]);
        assert_eq!(made("git clone /tmp/origin.git"), ["origin"]);
        assert_eq!(made("git init && git add . && git commit -m 'Initial commit'"), [""; 0]);
    }

    #[test]
    fn commits_of_other_repositories() {
        let only_there = |command: &str, output: &str| {
            let mut folders = vec!["/tmp/demo".to_owned()];
            folders.extend(made_repositories(command, &[]));
            commits_only_in(&folders, command, output)
        };
        assert!(only_there("cd /tmp/demo && git commit -qm x", ""));
        assert!(only_there("git -C /tmp/demo/sub commit -qm x", ""));
        assert!(only_there("T=$(mktemp -d) && cd \"$T\" && git init -q && git commit -qm x", ""));
        assert!(only_there("cd /srv/demo && git commit -m x", "[main (root-commit) 1a2b3c4] x"));
        for (command, output) in [
            ("cd /tmp/demo && git commit -qm x; cd - && git commit -qm y", ""),
            ("cd /tmp/wt && git commit -qm x", ""),
            ("cd /tmp/demo && git status", ""),
            ("git init && git commit -m x", "[main (root-commit) 1a2b3c4] x"),
        ] {
            assert!(!only_there(command, output), "{command}");
        }
    }
}
