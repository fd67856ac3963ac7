//! Whether the session may know how the checks were before its changes, so that it can tell which faults are older.

use serde::{Deserialize, Serialize};

use super::ci;
use super::commands;

/// What may be known of the code as it was before the session's changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Before {
    is_known: bool,
    /// Whether the changes may have been put aside, to look at what was before them.
    has_put_aside: bool,
}

impl Before {
    /// Records a command line, whether it may check something, and whether the session has changed code by now.
    pub(super) fn command_ran(&mut self, command: &str, may_check: bool, has_code: bool) {
        self.has_put_aside |= has_code && puts_aside(command);
        self.is_known |= ci::looks(command) || (may_check && (!has_code || self.has_put_aside));
    }

    /// Records that somebody else may have looked at it.
    pub(super) fn may_be_known(&mut self) {
        self.is_known = true;
    }

    /// Returns whether a check may have run on it.
    pub(super) fn is_known(self) -> bool {
        self.is_known
    }
}

/// Returns whether a command line may put the session's changes aside, or have another version of the files beside them.
fn puts_aside(command: &str) -> bool {
    commands::git_calls(command).iter().any(|(subcommand, arguments)| match subcommand.as_str() {
        "stash" | "worktree" | "clone" | "bisect" => true,
        "checkout" | "switch" => !arguments.iter().any(|word| matches!(word.as_str(), "-b" | "-B" | "-c" | "-C")),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_check_of_what_was_before_tells_which_faults_are_older() {
        let known = |commands: &[(&str, bool, bool)]| {
            let mut before = Before::default();
            for (command, may_check, has_code) in commands {
                before.command_ran(command, *may_check, *has_code);
            }
            before.is_known()
        };
        assert!(!known(&[("cargo test", true, true), ("git switch -c till", false, true), ("cargo test", true, true)]));
        assert!(known(&[("cargo test", true, false)]), "before any change");
        assert!(known(&[("git stash", false, true), ("cargo test", true, true)]));
        assert!(known(&[("gh run list --branch main", false, true)]));
    }
}
