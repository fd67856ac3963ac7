//! The hashes of commits in what git prints, and when they lead nowhere.

use crate::extract::commands;

/// Parses `[branch 1a2b3c4] subject`.
pub(in crate::extract) fn parse_commit_line(line: &str) -> Option<(String, String, String)> {
    let (inside, subject) = line.trim().strip_prefix('[')?.split_once("] ")?;
    let inside = inside.replace(" (root-commit)", "");
    let (branch, hash) = inside.rsplit_once(' ')?;
    is_hash(hash).then(|| (branch.to_owned(), hash.to_owned(), subject.trim().to_owned()))
}

/// Returns whether a word is the hash of a commit, or its beginning.
pub(in crate::extract) fn is_hash(word: &str) -> bool {
    (7..=40).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the hash of a commit with that subject, as git prints it: on the line of a commit, or in a list.
pub(in crate::extract) fn hash_of(output: &str, subject: &str) -> Option<String> {
    let made = output.lines().filter_map(parse_commit_line).find(|(_, _, shown)| shown == subject);
    made.map(|(_, hash, _)| hash).or_else(|| listed_hash(output, subject))
}

/// Returns the hash of a commit with that subject if the output lists it, as `git log --oneline` does.
pub(super) fn listed_hash(output: &str, subject: &str) -> Option<String> {
    output.lines().map(str::trim).find_map(|line| {
        let (hash, rest) = line.split_once(' ')?;
        // The names of branches stand before the subject.
        let named = rest.strip_prefix('(').and_then(|rest| rest.split_once(") ")).map_or(rest, |(_, subject)| subject);
        (is_hash(hash) && named.trim() == subject).then(|| hash.to_owned())
    })
}

/// Returns whether a command line makes other commits of those that were made before, so that their hashes lead nowhere.
pub(in crate::extract) fn replaces_hashes(command: &str) -> bool {
    commands::git_calls(command).iter().any(|(subcommand, arguments)| {
        let has = |words: &[&str]| arguments.iter().any(|word| words.contains(&word.as_str()));
        match subcommand.as_str() {
            "rebase" => !has(&["--abort"]),
            "pull" => has(&["--rebase", "-r"]),
            "cherry-pick" | "filter-branch" | "filter-repo" => true,
            "reset" => has(&["--hard", "--soft"]),
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_that_lead_nowhere() {
        for command in
            ["git pull --rebase origin main", "git cherry-pick 1a2b3c4", "git reset -q --hard HEAD~1", "git rebase main"]
        {
            assert!(replaces_hashes(command), "{command}");
        }
        for command in ["git pull", "git rebase --abort", "git reset a.ts", "git log"] {
            assert!(!replaces_hashes(command), "{command}");
        }
        assert_eq!(hash_of("[main 5d6e7f8] Fix it\n 1 file changed", "Fix it").as_deref(), Some("5d6e7f8"));
        assert_eq!(hash_of("5d6e7f8 (HEAD -> main) Fix it", "Fix it").as_deref(), Some("5d6e7f8"));
        assert_eq!(hash_of("5d6e7f8 Fix it twice", "Fix it"), None);
    }
}
