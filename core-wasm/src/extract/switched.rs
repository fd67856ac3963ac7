//! Whether somebody else switched the branch of the project's folder while the agent worked in it.

use serde::{Deserialize, Serialize};

use super::commands::{self, Class, GitCall};
use super::tool_uses::{Tool, ToolUse};
use crate::text;

/// The maximum number of switches to keep, and of names, the latest.
const MAX_SWITCHES: usize = 3;
const MAX_NAMED: usize = 64;

/// How many lines on the same branch show that what ran before them did not switch it.
const SETTLED_LINES: u32 = 3;

/// The branch of the folder, as the client names it with every line, and its switches by nobody known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Switched {
    /// The hash of the folder of the latest line.
    folder: u32,
    /// The turn in which the session did something that may switch a branch. 0 if lines after it showed that this is over.
    mover_turn: u32,
    /// How many lines since then have named the same branch.
    lines_since: u32,
    /// Whether something may run beside the agent, which may switch a branch at any time.
    is_blind: bool,
    /// The hashes of what the session's own commands named that may switch a branch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    named: Vec<u32>,
    /// The branches before and after each switch.
    switches: Vec<(String, String)>,
}

impl Switched {
    /// Records a call of a tool that may switch the branch, in that turn.
    pub(super) fn may_switch(&mut self, turn: u32) {
        (self.mover_turn, self.lines_since) = (turn, 0);
    }

    /// Records a command line: a branch that it names is the session's own, whenever the client shows the switch.
    pub(super) fn command_ran(&mut self, command: &str) {
        const MOVERS: [&str; 5] = ["checkout", "switch", "branch", "worktree", "symbolic-ref"];
        let calls = commands::git_calls_anywhere(command).into_iter();
        // Some only list or delete branches, or take files out of them.
        let moves_none = |word: &String| matches!(word.as_str(), "--" | "--list" | "-l" | "-d" | "-D" | "--delete");
        let may_move = |call: &GitCall| MOVERS.contains(&call.subcommand.as_str()) && !call.arguments.iter().any(moves_none);
        let movers = calls.filter(may_move);
        let name = |word: &String| text::hash(word.trim_start_matches("refs/heads/"));
        self.named.extend(movers.flat_map(|call| call.arguments.iter().map(name).collect::<Vec<_>>()));
        let extra = self.named.len().saturating_sub(MAX_NAMED);
        self.named.drain(..extra);
    }

    /// Records that from now on something may run beside the agent.
    pub(super) fn runs_beside(&mut self) {
        self.is_blind = true;
    }

    /// Records the folder of a line and the branches of the line before and of this one. `is_work` says whether the line belongs to the
    /// work on a request that had begun before: the user may do anything between two requests.
    pub(super) fn line_read(&mut self, folder: &str, (before, after): (&str, &str), is_work: bool, turn: u32) {
        let folder = text::hash(folder);
        let is_same_folder = std::mem::replace(&mut self.folder, folder) == folder;
        // What the session named is over when the client has shown it.
        let shown = text::hash(after);
        let is_named = self.named.contains(&shown);
        self.named.retain(|name| *name != shown);
        if before == after {
            self.lines_since += 1;
            if self.lines_since >= SETTLED_LINES {
                self.mover_turn = 0;
            }
            return;
        }
        // What switches a branch may do so several times.
        self.lines_since = 0;
        let is_own = self.is_blind || self.mover_turn == turn || is_named;
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

/// Returns whether a call of a tool may switch the branch of the folder. Only what looks at something, or edits a file, does not.
pub(super) fn may_switch(tool_use: &ToolUse) -> bool {
    match tool_use.tool {
        Tool::Read
        | Tool::Search
        | Tool::Edit
        | Tool::Web
        | Tool::Ask
        | Tool::Plan
        | Tool::Todo
        | Tool::TaskCreate
        | Tool::TaskUpdate
        | Tool::TaskList => false,
        Tool::Shell => !only_looks(&tool_use.what),
        Tool::Agent => !tool_use.is_reader(),
        Tool::Other => true,
    }
}

/// Returns whether a command line only looks at something. Git looks with many of the words with which it moves, too.
fn only_looks(command: &str) -> bool {
    const WORDS: [&str; 7] = ["checkout", "worktree", "branch", "switch", "symbolic-ref", "rebase", "gh pr"];
    commands::class(command) == Class::Inspect && !commands::may_change(command) && !text::contains_any(command, &WORDS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::memories::LineRef;

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
        switched.line_read("/till", ("drawer", "safe"), true, 1);
        assert_eq!(switched.told(), "", "a script may switch twice");
        for _ in 0..SETTLED_LINES {
            switched.line_read("/till", ("safe", "safe"), true, 1);
        }
        switched.line_read("/till", ("safe", "main"), true, 1);
        assert_eq!(switched.told(), "from `safe` to `main`");
        switched.command_ran("git branch lamp && git reset --hard main && git checkout lamp");
        switched.line_read("/till", ("main", "lamp"), true, 2);
        assert_eq!(switched.told(), "from `safe` to `main`", "the session named it");
        switched.line_read("/till", ("lamp", "main"), false, 2);
        switched.line_read("/till", ("main", "lamp"), true, 2);
        assert_eq!(switched.told(), "from `safe` to `main`, then from `main` to `lamp`", "the client had shown it before");
        switched.command_ran("git branch -D safe; git checkout safe -- till.rs");
        switched.line_read("/till", ("lamp", "safe"), true, 2);
        assert!(switched.told().ends_with("then from `lamp` to `safe`"));
        switched.switches.truncate(1);
        assert!(switched.is_left("drawer") && !switched.is_left("main") && !switched.is_left(""));
        switched.runs_beside();
        switched.line_read("/till", ("main", "door"), true, 1);
        assert_eq!(switched.told(), "from `safe` to `main`");
    }

    #[test]
    fn only_what_looks_switches_nothing() {
        let runs = |command: &str| may_switch(&ToolUse::of_user(command.to_owned(), LineRef::default()));
        for command in
            ["git switch -c drawer", "./scripts/release.sh", "git co drawer", "gt create drawer", "npm run release"]
        {
            assert!(runs(command), "{command}");
        }
        assert!(runs("git symbolic-ref HEAD refs/heads/drawer") && runs("gh pr merge 7 --squash"));
        assert!(!runs("ls till") && !runs("git status"));
    }
}
