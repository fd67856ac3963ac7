//! Failures that teach nothing: answers, slips and one-off commands.

use crate::extract::commands::{self, Class};
use crate::text;

/// Returns whether the failure of a command says nothing to others: it was an answer or a slip, or the command was a one-off.
pub(super) fn teaches_nothing(command: &str, error: &str) -> bool {
    // A path that does not exist, or a line that the shell cannot read, is a mistake of the agent.
    text::contains_any(error, &["pathspec", "no matches found: ", "parse error near"])
        || is_answer(command, error)
        || (is_throwaway(command) && !commands::is_invocation(error) && !commands::is_damage(error))
        || commands::main_segment(command).trim_start().starts_with("/tmp/")
        || is_misspelt_look(command, error)
}

/// Returns whether git only found the copy behind, with unsaved changes or without an upstream branch, and the usual command fixed that.
/// Every agent knows the command, and the next session has another state.
pub(super) fn is_state_of_copy(command: &str, error: &str, fix: &str) -> bool {
    const STATES: [&str; 7] = [
        "failed to push some refs",
        "unstaged changes",
        "uncommitted changes",
        "would be overwritten by",
        "has no upstream branch",
        "reconcile divergent branches",
        "no tracking information",
    ];
    const USUAL: [&str; 7] =
        ["git pull", "git fetch", "git stash", "git rebase", "git commit", "git push --set-upstream", "git push -u"];
    let segments = commands::segments(fix.trim_matches('`'));
    let is_usual = |segment: &&str| USUAL.iter().any(|usual| text::starts_with_words(segment.trim(), usual));
    commands::own_program(commands::main_segment(command)) == "git"
        && text::contains_any(error, &STATES)
        && segments.iter().any(is_usual)
}

/// Returns whether a status other than zero was an answer: what was looked for is not there, or there is nothing to do.
fn is_answer(command: &str, error: &str) -> bool {
    let says_nothing =
        ["nothing to commit", "no changes added to commit", "nothing added to commit", "no local changes to save"];
    let lower = error.to_lowercase();
    let is_opened = lower.contains("pull request") && lower.contains("already exists");
    is_opened
        || text::contains_any(&lower, &says_nothing)
        || (commands::answers_by_status(command) && !commands::is_damage(error))
}

/// Returns whether git did not know an option with which the agent only wanted to look at something, or did not understand how long to
/// wait: a slip.
fn is_misspelt_look(command: &str, error: &str) -> bool {
    let options = ["unrecognized argument", "unknown option", "unrecognized option", "unknown switch", "invalid option"];
    let is_git = commands::own_program(commands::main_segment(command)) == "git";
    (is_git && commands::class(command) == Class::Inspect && text::contains_any(error, &options))
        || error.starts_with("sleep: ")
}

/// Returns whether the command was a one-off. Its failure teaches nothing else.
fn is_throwaway(command: &str) -> bool {
    let main = commands::main_segment(command);
    let inline = text::contains_any(main, &[" -e ", " -c ", " -pe ", " - <<", " <<"]);
    let is_passing = text::contains_any(main, &["/scratchpad/", "/tmp/"]);
    let class = commands::class(command);
    // A commit's message and its files may have any word.
    let loops =
        class != Class::Commit && text::contains_any(command, &["for ", "while ", "until "]) && command.contains("done");
    class == Class::Inspect || (class == Class::Other && (inline || is_passing)) || loops
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_usual_command_mends_the_state_of_a_copy() {
        let refused = "error: failed to push some refs to 'shop'";
        assert!(is_state_of_copy("git push", refused, "`git pull --rebase && git push`"));
        assert!(!is_state_of_copy("git push", refused, "`git push --no-verify`"), "a hook refused it");
        assert!(!is_state_of_copy("gh pr create", refused, "`git push -u origin till`"));
    }
}
