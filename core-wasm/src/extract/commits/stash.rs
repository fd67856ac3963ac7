//! What a command line does with stashes.

use crate::extract::commands::{self, GitCall};

/// What a call of git does with stashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::extract) enum Stash {
    /// It puts changes away, on that branch: all of them, or those of some files.
    Put(String, bool),
    /// It brings the latest ones back.
    Taken,
    /// It brings a part back.
    Copied,
    /// It throws the latest one away.
    Dropped,
    /// It throws all away.
    Cleared,
    /// It lists all that are there, the latest first, each by its branch.
    Listed(Vec<String>),
}

/// Returns what a command line does with stashes.
pub(in crate::extract) fn stashes(command: &str, output: &str, failed: bool) -> Vec<Stash> {
    let act = |call: GitCall| {
        let mut names = call.arguments.iter().map(String::as_str).filter(|word| !word.starts_with('-'));
        if call.subcommand != "stash" {
            return call.arguments.iter().any(|word| word.contains("stash@")).then_some(Stash::Copied);
        }
        match names.next() {
            verb @ (None | Some("push" | "save")) => {
                let (_, rest) = output.split_once("Saved working directory and index state ")?;
                let branch = rest.split_once("n ").and_then(|(_, rest)| rest.split(':').next()).unwrap_or_default();
                // A word may be a message, too.
                let is_whole = verb != Some("push") || names.next().is_none();
                Some(Stash::Put(branch.trim().to_owned(), is_whole))
            }
            // What conflicts is taken over by hand.
            Some("pop" | "apply" | "branch") if !failed || output.contains("Dropped ") => Some(Stash::Taken),
            Some("pop" | "apply" | "branch") => Some(Stash::Copied),
            Some("drop") if !failed && names.next().is_none_or(|name| name.contains('0')) => Some(Stash::Dropped),
            Some("clear") => Some(Stash::Cleared),
            Some("list") if !failed => listed(command, output).map(Stash::Listed),
            _ => None,
        }
    };
    commands::git_calls_in_root(command).into_iter().filter_map(act).collect()
}

/// Returns the branches of the stashes that git listed, the latest first. `None` if it may not have listed all.
fn listed(command: &str, output: &str) -> Option<Vec<String>> {
    let branch = |line: &str| {
        let (_, rest) = line.trim().strip_prefix("stash@{")?.split_once("}: ")?;
        let (_, rest) = rest.split_once("n ").filter(|(before, _)| matches!(*before, "O" | "WIP o"))?;
        Some(rest.split_once(": ")?.0.to_owned())
    };
    let branches: Vec<String> = output.lines().filter_map(branch).collect();
    let is_alone = commands::segments(command).len() == 1 && output.trim().is_empty();
    (!command.contains('|') && (is_alone || !branches.is_empty())).then_some(branches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_does_with_stashes() {
        let put = |is_whole: bool| Stash::Put("main".to_owned(), is_whole);
        let saved = "Saved working directory and index state WIP on main: 1a2b3c4 Add a";
        assert_eq!(stashes("git stash; git stash drop stash@{1}", saved, false), [put(true)]);
        assert_eq!(stashes("git stash push -- other.ts", saved, false), [put(false)]);
        assert_eq!(stashes("git checkout stash@{0} -- a.ts && git stash drop", "", false), [Stash::Copied, Stash::Dropped]);
        assert_eq!(stashes("git stash pop", "Dropped refs/stash@{0}", false), [Stash::Taken]);
        assert_eq!(stashes("git stash apply", "CONFLICT (content): a.ts", true), [Stash::Copied]);
        let around = "cd . && git stash && cd till && make 2>&1; cd . && git stash pop";
        assert_eq!(stashes(around, saved, false), [put(true), Stash::Taken]);
        assert!(stashes("git stash drop", "No stash entries found.", true).is_empty());
        let list = "stash@{0}: WIP on till: 1a2b3c4 Add a\nstash@{1}: On main: open the drawer";
        assert_eq!(stashes("git stash list", list, false), [Stash::Listed(vec!["till".to_owned(), "main".to_owned()])]);
        assert_eq!(stashes("git stash list", "", false), [Stash::Listed(Vec::new())]);
        assert!(stashes("git stash list | head -1", list, false).is_empty());
        assert!(stashes("git stash list && git -C vendor/till stash drop", "", false).is_empty());
    }
}
