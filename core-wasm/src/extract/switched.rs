//! Whether somebody else switched the branch of the project's folder while the agent worked in it.

use serde::{Deserialize, Serialize};

use super::commands;
use crate::text;

/// The maximum number of switches to keep, the latest.
const MAX_SWITCHES: usize = 3;

/// The branch of the folder, as the client names it with every line, and its switches by nobody known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Switched {
    /// The hash of the folder of the latest line.
    folder: u32,
    /// The turn in which the session did something that may switch a branch. 0 if that was seen to come to pass.
    mover_turn: u32,
    /// The branches before and after each switch.
    switches: Vec<(String, String)>,
}

impl Switched {
    /// Records a call of a tool that may switch the branch, in that turn.
    pub(super) fn may_switch(&mut self, turn: u32) {
        self.mover_turn = turn;
    }

    /// Records the folder of a line and the branches of the line before and of this one. `is_work` says whether the line belongs to the
    /// work on a request that had begun before: the user may do anything between two requests.
    pub(super) fn line_read(&mut self, folder: &str, (before, after): (&str, &str), is_work: bool, turn: u32) {
        let folder = text::hash(folder);
        let is_same_folder = std::mem::replace(&mut self.folder, folder) == folder;
        if before == after {
            return;
        }
        let is_own = std::mem::take(&mut self.mover_turn) == turn;
        // Git stands on no branch while it rebases.
        let names_both = [before, after].iter().all(|branch| !matches!(*branch, "" | "HEAD"));
        if is_work && is_same_folder && names_both && !is_own {
            self.switches.push((before.to_owned(), after.to_owned()));
            let extra = self.switches.len().saturating_sub(MAX_SWITCHES);
            self.switches.drain(..extra);
        }
    }

    /// Returns whether the folder stands on another branch at the end than the latest switch left it on, given that branch.
    pub(super) fn is_left(&self, branch: &str) -> bool {
        !branch.is_empty() && self.switches.last().is_some_and(|(_, after)| after != branch)
    }

    /// Returns the switches, oldest first. Empty if there are none.
    pub(super) fn told(&self) -> String {
        let mut told: Vec<String> =
            self.switches.iter().map(|(before, after)| format!("from `{before}` to `{after}`")).collect();
        let all = told.len();
        told.dedup();
        match (all, told.as_slice()) {
            (2.., [switch]) => format!("{switch} ({all}×)"),
            _ => told.join(", then "),
        }
    }
}

/// Returns whether a command line may switch the branch of the folder, by itself or by a script whose words speak of it.
pub(super) fn may_switch(command: &str) -> bool {
    const SUBCOMMANDS: [&str; 10] =
        ["checkout", "switch", "branch", "worktree", "rebase", "bisect", "stash", "flow", "town", "clone"];
    const WORDS: [&str; 5] = ["checkout", "worktree", "branch", "switch", "gh pr merge"];
    let calls = commands::git_calls_anywhere(command);
    calls.iter().any(|call| SUBCOMMANDS.contains(&call.subcommand.as_str())) || text::contains_any(command, &WORDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_that_no_command_made() {
        let mut switched = Switched::default();
        let mut read = |folder: &str, before: &str, after: &str, is_work: bool| {
            switched.line_read(folder, (before, after), is_work, 1);
            switched.told()
        };
        assert_eq!(read("/till", "", "main", true), "");
        assert_eq!(read("/till", "main", "drawer", false), "", "the user did it between two requests");
        assert_eq!(read("/bank", "drawer", "safe", true), "", "another folder");
        assert_eq!(read("/bank", "safe", "HEAD", true), "");
        assert_eq!(read("/bank", "safe", "door", true), "from `safe` to `door`");
        assert_eq!(read("/bank", "safe", "door", true), "from `safe` to `door` (2×)");
        assert_eq!(read("/bank", "door", "safe", true), "from `safe` to `door`, then from `door` to `safe`");
    }

    #[test]
    fn a_switch_of_the_session_is_its_own() {
        let mut switched = Switched::default();
        switched.line_read("/till", ("", "main"), true, 1);
        switched.may_switch(1);
        switched.line_read("/till", ("main", "drawer"), true, 1);
        assert_eq!(switched.told(), "");
        switched.line_read("/till", ("drawer", "main"), true, 1);
        assert_eq!(switched.told(), "from `drawer` to `main`");
        assert!(switched.is_left("drawer") && !switched.is_left("main") && !switched.is_left(""));
        assert!(may_switch("git switch -c drawer") && may_switch("gh pr merge 7 --squash"));
        assert!(!may_switch("git commit -m x && npm test"));
    }
}
