//! What takes commits back, brings them back, joins them, or leaves them on another branch.

use super::hashes::{is_hash, parse_commit_line};
use crate::extract::commands::{self, GitCall};

/// What is left after a command line moved the branch back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::extract) struct Reset {
    /// How many of the session's commits are left.
    pub left: usize,
    /// Whether the changes of the others are still in the files.
    pub keeps_changes: bool,
}

/// Returns what `git reset` leaves of the session's commits, which have the subjects `own`, the oldest first. None if it drops none, or if
/// nobody knows which. The first `kept` are on another branch, or have commits of others above them.
pub(in crate::extract) fn reset(
    call: &GitCall,
    output: &str,
    own: &[String],
    kept: usize,
    hashes: &[(String, String)],
) -> Option<Reset> {
    if call.subcommand != "reset" {
        return None;
    }
    let names: Vec<&str> = call.arguments.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    // Files are only taken out of the next commit.
    let [target] = names[..] else { return None };
    let has = |options: &[&str]| call.arguments.iter().any(|word| options.contains(&word.as_str()));
    let place = |subject: &str| own.iter().position(|known| known == subject);
    let has_hash =
        |(_, hash): &&(String, String)| is_hash(target) && (hash.starts_with(target) || target.starts_with(hash.as_str()));
    let left = if let Some(at) = head_now(output).and_then(|(_, subject)| place(subject)) {
        at + 1
    } else if let Some((subject, _)) = hashes.iter().find(has_hash) {
        place(subject)? + 1
    } else if let Some(steps) = steps_back(target) {
        own.len().saturating_sub(steps)
    } else if has(&["--soft"]) && !target.contains(['@', '^', '~']) && !target.contains("HEAD") && !is_hash(target) {
        // Whoever keeps all changes joins the commits of a branch.
        kept
    } else {
        return None;
    };
    (kept..own.len()).contains(&left).then(|| Reset { left, keeps_changes: !has(&["--hard", "--keep", "--merge"]) })
}

/// Returns the hash and the subject of the commit to which git says that it moved the branch.
fn head_now(output: &str) -> Option<(&str, &str)> {
    let commit = output.lines().find_map(|line| line.trim().strip_prefix("HEAD is now at "))?;
    commit.split_once(' ').map(|(hash, subject)| (hash, subject.trim()))
}

/// Returns how many commits before the latest one a name such as `HEAD~2` or `HEAD^` means.
fn steps_back(name: &str) -> Option<usize> {
    let rest = name.strip_prefix("HEAD").or_else(|| name.strip_prefix('@'))?;
    match rest.strip_prefix('~') {
        Some("") => Some(1),
        Some(number) => number.parse().ok(),
        None => rest.bytes().all(|byte| byte == b'^').then_some(rest.len()),
    }
}

/// Returns those subjects of commits that git brings back, each with its hash: by another reset, or by reverting the revert.
pub(in crate::extract) fn brought_back(output: &str, dropped: &[String]) -> Vec<(String, String)> {
    let made = output.lines().filter_map(parse_commit_line).filter_map(|(_, hash, subject)| {
        let inner = subject.strip_prefix("Reapply \"").or_else(|| subject.strip_prefix("Revert \"Revert \""))?;
        Some((inner.trim_end_matches('"').to_owned(), hash))
    });
    let head = head_now(output).map(|(hash, subject)| (subject.to_owned(), hash.to_owned()));
    head.into_iter().chain(made).filter(|(subject, _)| dropped.contains(subject)).collect()
}

/// Returns whether a call of git leaves the session's commits on another branch, or commits of others above them. Then `HEAD~1` is not the
/// session's latest commit any more.
pub(in crate::extract) fn leaves_branch(call: &GitCall) -> bool {
    let arguments = &call.arguments;
    match call.subcommand.as_str() {
        "switch" | "merge" | "pull" | "rebase" | "cherry-pick" | "revert" | "am" => true,
        "checkout" => !arguments.iter().any(|word| matches!(word.as_str(), "--" | ".")),
        "worktree" => arguments.first().is_some_and(|verb| verb == "add"),
        "branch" => arguments.first().is_some_and(|name| !name.starts_with('-')),
        "push" => arguments.iter().any(|word| word.contains(':')),
        _ => false,
    }
}

/// Returns those of the session's commits, given by their subjects, that `git revert` undoes, with their places.
pub(in crate::extract) fn reverted<'a>(call: &GitCall, output: &str, own: &'a [String]) -> Vec<(usize, &'a String)> {
    let is_reverted = |subject: &String| call.subcommand == "revert" && output.contains(&format!("] Revert \"{subject}\""));
    own.iter().enumerate().filter(|(_, subject)| is_reverted(subject)).collect()
}

/// Returns whether a command line joins or drops commits, so that those made before are not there any more.
pub(in crate::extract) fn rewrites_history(command: &str) -> bool {
    commands::segments(command).iter().any(|segment| {
        let has = |words: &str| segment.contains(words);
        has("git ") && (has("--squash") || (has("rebase ") && (has(" -i") || has("--autosquash"))))
    })
}

/// Returns the hash of the commit whose changes a call of git shows: `git show 1a2b3c4`, `git diff 5d6e7f8..1a2b3c4 -- a.rs`.
pub(in crate::extract) fn compared_commit(command: &str) -> Option<String> {
    let of = |call: &GitCall| {
        let mut names = call.arguments.iter().filter(|word| !word.starts_with('-'));
        let commit = match call.subcommand.as_str() {
            "show" => names.next()?.as_str(),
            "diff" => names.next()?.split_once("..")?.1.trim_start_matches('.'),
            _ => return None,
        };
        is_hash(commit).then(|| commit.to_owned())
    };
    commands::git_calls_in_root(command).iter().rev().find_map(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_joins_commits_is_recognized() {
        for command in ["git merge --squash topic", "git rebase -i main"] {
            assert!(rewrites_history(command), "{command}");
        }
        for command in ["git reset HEAD src/a.rs", "git rebase main", "git merge topic", "echo --soft"] {
            assert!(!rewrites_history(command), "{command}");
        }
    }

    fn call(command: &str) -> GitCall {
        commands::git_calls_in_root(command).pop().unwrap()
    }

    #[test]
    fn the_commit_that_is_shown() {
        let shown = |command| compared_commit(command).unwrap_or_default();
        assert_eq!(shown("git show 1a2b3c4 -- a.rs"), "1a2b3c4");
        assert_eq!(shown("git diff 5d6e7f8..1a2b3c4 -- a.rs 2>&1 | head"), "1a2b3c4");
        assert_eq!(shown("git show 1a2b3c4:a.rs") + &shown("git diff HEAD~1") + &shown("git diff"), "");
    }

    #[test]
    fn what_a_reset_leaves() {
        let own = ["Add a", "Add b", "Add c"].map(str::to_owned);
        let hashes = [("Add a".to_owned(), "1a2b3c4".to_owned())];
        let left = |command: &str, output: &str| {
            reset(&call(command), output, &own, 0, &hashes).map(|reset| (reset.left, reset.keeps_changes))
        };
        assert_eq!(left("git reset --hard HEAD~1", "HEAD is now at 2b3c4d5 Add b"), Some((2, false)));
        assert_eq!(left("git reset --hard HEAD~1", "HEAD is now at 2b3c4d5 Add a"), Some((1, false)), "others merged");
        assert_eq!(left("git add . && git reset --soft HEAD~2", ""), Some((1, true)));
        assert_eq!(left("git reset HEAD^^", "Unstaged changes after reset:\nM\ta.ts"), Some((1, true)));
        assert_eq!(left("git reset --soft 1a2b3c4d", ""), Some((1, true)));
        for all in ["git reset --soft HEAD~9", "git reset --soft main"] {
            assert_eq!(left(all, ""), Some((0, true)));
        }
        for command in [
            "git reset --hard",
            "git reset HEAD",
            "git reset HEAD~1 a.ts",
            "git reset --hard origin/main",
            "git reset a.ts",
            "git reset --soft HEAD@{1}",
            "git reset --soft ORIG_HEAD",
            "git reset --soft HEAD^1",
            "git reset --soft 9a8b7c6",
        ] {
            assert_eq!(left(command, ""), None, "{command}");
        }
    }

    #[test]
    fn commits_below_those_of_others_are_not_reset() {
        let own = ["Add a", "Add b", "Add c"].map(str::to_owned);
        let left = |command: &str, kept: usize| reset(&call(command), "", &own, kept, &[]).map(|reset| reset.left);
        assert_eq!(left("git reset --hard HEAD~1", 3), None, "a merge lies on top");
        assert_eq!(left("git reset --hard HEAD~2", 1), Some(1));
        assert_eq!(left("git reset --hard HEAD~3", 1), None);
        assert_eq!(left("git reset --soft main", 1), Some(1), "two commits of a branch are joined");
    }

    #[test]
    fn commits_are_brought_back() {
        let dropped = ["Add a".to_owned()];
        for output in [
            "HEAD is now at 1a2b3c4 Add a",
            "[main 1a2b3c4] Reapply \"Add a\"\n 1 file changed",
            "[main 1a2b3c4] Revert \"Revert \"Add a\"\"\n 1 file changed",
        ] {
            assert_eq!(brought_back(output, &dropped), [("Add a".to_owned(), "1a2b3c4".to_owned())], "{output}");
        }
        assert!(brought_back("HEAD is now at 1a2b3c4 Add b", &dropped).is_empty());
    }

    #[test]
    fn a_branch_keeps_the_commits() {
        for command in [
            "git branch topic",
            "git checkout -b topic",
            "git switch -c topic",
            "git revert HEAD",
            "git merge topic",
            "git pull",
            "git push origin HEAD:refs/heads/tax",
        ] {
            assert!(leaves_branch(&call(command)), "{command}");
        }
        for command in
            ["git branch -D topic", "git branch", "git checkout -- a.ts", "git worktree list", "git push origin main"]
        {
            assert!(!leaves_branch(&call(command)), "{command}");
        }
    }

    #[test]
    fn what_a_revert_undoes() {
        let own = ["Add a", "Add b"].map(str::to_owned);
        let output = "[main 2b3c4d5] Revert \"Add a\"\n 1 file changed, 1 deletion(-)";
        assert_eq!(reverted(&call("git revert --no-edit 1a2b3c4"), output, &own), [(0, &own[0])]);
        assert!(reverted(&call("git log"), output, &own).is_empty());
        assert!(reverted(&call("git revert --abort"), "", &own).is_empty());
    }
}
