//! Commits that were really created.

use super::hashes::{listed_hash, parse_commit_line};
use super::message::{message, split_message};
use crate::extract::commands;
use crate::text;

/// A commit, as reported by the output or the command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::extract) struct Commit {
    /// The first line of the message.
    pub subject: String,
    /// The other lines of the message, without trailers.
    pub body: String,
    /// The branch, if the output names it.
    pub branch: Option<String>,
    /// The short hash, if the output names it.
    pub hash: Option<String>,
    /// Whether the commit replaces the previous one.
    pub amends: bool,
}

/// Returns the commits that a command line created, judging by its output. Empty if git made none.
///
/// What stands after the commits on the line may have failed: then only the commits count that git itself reports.
pub(in crate::extract) fn commits_from(command: &str, output: &str, is_error: bool) -> Vec<Commit> {
    let segments: Vec<&str> = commands::segments(command).into_iter().filter(|segment| is_commit(segment)).collect();
    if segments.is_empty() {
        return Vec::new();
    }
    let amends = command.contains("--amend");
    // A segment may end before its here-document, so look for such a message in the whole command.
    let messages: Vec<(String, String)> = match segments.as_slice() {
        all if all.len() == 1 || command.contains("<<") => messages_of(command),
        all => all.iter().filter_map(|segment| message(segment)).collect(),
    }
    .iter()
    .map(|message| split_message(message.trim_start_matches(['@', '\n', ' '])))
    .collect();
    let printed = |(branch, hash, shown): (String, String, String)| {
        let subject = shown.trim_start_matches(['@', ' ']).to_owned();
        let body = messages.iter().find(|(known, _)| *known == subject).map(|(_, body)| body.clone());
        Commit { subject, body: body.unwrap_or_default(), branch: Some(branch), hash: Some(hash), amends }
    };
    let mut all: Vec<Commit> = output.lines().filter_map(parse_commit_line).map(printed).collect();
    if all.is_empty() {
        let is_made = !is_error
            && !commands::output_reports_failure(commands::Class::Commit, output)
            && (reports_success(output) || segments.iter().all(|segment| is_quiet(segment)));
        let named = messages.into_iter().filter(|(subject, _)| !subject.is_empty());
        all.extend(named.filter_map(|(subject, body)| {
            let hash = listed_hash(output, &subject);
            (is_made || hash.is_some()).then_some(Commit { subject, body, branch: None, hash, amends })
        }));
    }
    for commit in &mut all {
        commit.subject = strip_trailer(&commit.subject).to_owned();
    }
    all.retain(|commit| !is_temporary(&commit.subject));
    all
}

/// Returns the messages of the commits of a command line. Each may stand in a here-document, which hides what follows it.
fn messages_of(command: &str) -> Vec<String> {
    // A message may name the command too: "Give `git commit` more time".
    let begins = |at: usize| {
        let before = command[..at].trim_end_matches(' ');
        before.is_empty() || before.ends_with(['\n', ';', '&', '|', '('])
    };
    let mut pieces: Vec<usize> = command.match_indices("git commit").map(|(at, _)| at).filter(|at| begins(*at)).collect();
    if pieces.len() < 2 || !command.contains("<<") {
        return vec![message(command).unwrap_or_default()];
    }
    pieces.push(command.len());
    pieces.windows(2).filter_map(|piece| message(&command[piece[0]..piece[1]])).collect()
}

/// Strips a trailer that follows the subject without an empty line between them.
fn strip_trailer(subject: &str) -> &str {
    let mut words = subject.rsplitn(3, ' ');
    let (Some(value), Some(name), Some(rest)) = (words.next(), words.next(), words.next()) else {
        return subject;
    };
    let is_trailer =
        name.ends_with(':') && name.contains('-') && name.starts_with(|c: char| c.is_ascii_uppercase()) && !value.is_empty();
    if is_trailer { rest.trim_end() } else { subject }
}

/// Returns whether the commit is meant to be folded into another one, or its subject still contains a shell expansion.
fn is_temporary(subject: &str) -> bool {
    let lower = subject.to_lowercase();
    ["wip", "fixup!", "squash!", "amend!", "tmp", "temp "].iter().any(|opening| lower.starts_with(opening))
        || subject.contains('$')
}

fn is_commit(segment: &str) -> bool {
    arguments(segment).is_some() && !segment.contains("--dry-run")
}

/// Returns the words after `git commit`. None if a segment of a command line does not commit.
fn arguments(segment: &str) -> Option<Vec<String>> {
    let words = commands::tokens(segment).into_iter();
    let mut words = words.skip_while(|word| word != "git" && !word.ends_with("/git"));
    words.next()?;
    while let Some(word) = words.next() {
        match word.as_str() {
            // The folder or setting that follows is not the subcommand.
            "-C" | "-c" => _ = words.next(),
            option if option.starts_with('-') => {}
            subcommand => return (subcommand == "commit").then(|| words.collect()),
        }
    }
    None
}

/// Returns whether a segment commits without a word, so that all that is printed comes from other commands.
fn is_quiet(segment: &str) -> bool {
    let is_flag = |word: &String| {
        let letters = commands::short_options(word).filter(|letters| letters.bytes().all(|byte| byte.is_ascii_lowercase()));
        word == "--quiet" || letters.is_some_and(|letters| letters.contains('q') && letters.len() <= 4)
    };
    arguments(segment).is_some_and(|words| words.iter().any(is_flag))
}

/// Returns whether the output looks like success: silence, a short "ok", or a count of files, as git and its wrappers
/// print them.
fn reports_success(output: &str) -> bool {
    let output = output.trim();
    output.len() < 200 || output.contains("file changed") || output.contains("files changed")
}

/// Returns whether a command line tells git not to run its hooks.
pub(in crate::extract) fn bypasses_hook(command: &str) -> bool {
    let is_short = |(subcommand, arguments): &(String, Vec<String>)| {
        subcommand == "commit" && arguments.iter().any(|word| word == "-n")
    };
    text::contains_any(command, &["no-verify", "hooksPath", "HUSKY=0"]) || commands::git_calls(command).iter().any(is_short)
}

/// Returns whether git says that no change is left to commit, whoever committed it.
pub(in crate::extract) fn says_clean(output: &str) -> bool {
    text::contains_any(output, &["nothing to commit", "working tree clean"])
}

/// Returns whether a command line tries to make a commit.
pub(in crate::extract) fn is_tried(command: &str) -> bool {
    commands::class(command) == commands::Class::Commit
        || commands::git_calls(command).iter().any(|(subcommand, _)| subcommand == "commit")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_decides_whether_there_is_a_commit() {
        let command = "git add a && git commit -m \"$(cat <<'EOF'\nFix it\n\nBecause.\n\nCo-Authored-By: X <x@y>\nEOF\n)\"";
        let made_by =
            |output| commits_from(command, output, false).into_iter().map(|commit| commit.subject).collect::<Vec<_>>();
        assert_eq!(made_by("[main 7c7833a] Fix it\n 1 file changed"), ["Fix it"]);
        assert_eq!(made_by("ok ✓"), ["Fix it"]);
        assert!(made_by("ok ✓ 1 file changed\nFAILED: git commit\nhusky - pre-commit script failed (code 1)").is_empty());
        assert!(made_by("On branch main\nnothing to commit, working tree clean").is_empty());
        assert_eq!(commits_from(command, "ok", false)[0].body, "Because.");
    }

    #[test]
    fn a_commit_has_a_hash_and_may_go_past_its_hook() {
        let made = commits_from("git commit -m 'Round totals'", "[main 1a2b3c4] Round totals\n 1 file changed", false);
        assert_eq!(made[0].hash.as_deref(), Some("1a2b3c4"));
        assert_eq!(commits_from("git commit -m 'Round totals'", "ok", false)[0].hash, None);
        assert!(bypasses_hook("git commit -n -m 'x'") && bypasses_hook("HUSKY=0 git commit -m 'x'"));
        assert!(!bypasses_hook("git commit -m 'x' && git log -n 3"));
    }

    #[test]
    fn one_command_line_makes_several_commits() {
        let command = "git add a && git commit -q -m 'Add a' && git add b && git commit -q -m 'Add b'";
        let subjects = |output, is_error| {
            commits_from(command, output, is_error).into_iter().map(|commit| commit.subject).collect::<Vec<_>>()
        };
        assert_eq!(subjects("", false), ["Add a", "Add b"]);
        assert!(subjects("fatal: unable to write", true).is_empty());
        assert_eq!(subjects("[main 1a2b3c4] Add a\n 1 file changed\nerror: nothing added", true), ["Add a"]);
    }

    #[test]
    fn options_before_the_subcommand_are_not_it() {
        for command in ["git -C . commit -m 'Fix it'", "git -c user.name=x -C /tmp/a commit -qm 'Fix it'"] {
            assert_eq!(commits_from(command, "ok", false).len(), 1, "{command}");
        }
        assert!(commits_from("git -C commit log -m 'x'", "ok", false).is_empty());
        assert!(commits_from("echo commit", "ok", false).is_empty());
        assert!(commits_from("git log --grep commit -m 'x'", "ok", false).is_empty());
    }

    #[test]
    fn a_quiet_commit_before_other_commands() {
        let long = format!("{}\n1a2b3c4 (HEAD -> main) Fix it\n5d6e7f8 Older", "12 passed\n".repeat(40));
        let made = commits_from("git -c user.name=\"A B\" commit -m 'Fix it' && git log --oneline -2", &long, false);
        assert_eq!((made[0].subject.as_str(), made[0].hash.as_deref()), ("Fix it", Some("1a2b3c4")));
        let quiet = "pytest && git commit -qm 'Fix it' && git push";
        assert_eq!(commits_from(quiet, &"12 passed\n".repeat(40), false).len(), 1);
        assert!(commits_from(quiet, "error: nothing added to commit", true).is_empty());
        assert!(commits_from("git commit -m 'Fix it'; ls", &"a line\n".repeat(40), false).is_empty());
    }

    #[test]
    fn a_message_that_names_the_command() {
        let command = "git add a && git commit -q -F - <<'EOF'\nGive `git commit` more time\n\nEach git commit may be signed.\nEOF\ngit log --oneline -1";
        let made = commits_from(command, "1a2b3c4 Give `git commit` more time", false);
        assert_eq!(made.len(), 1);
        assert_eq!(made[0].subject, "Give `git commit` more time");
    }

    #[test]
    fn two_commits_with_here_documents() {
        let command = "git add a && git commit -q -F - <<'EOF' && echo OK\nAdd a\n\nBody.\nEOF\ngit add b && git commit -q -F - <<'EOF'\nAdd b\nEOF\ngit log --oneline -2";
        let made = commits_from(command, "OK\n5d6e7f8 Add b\n1a2b3c4 Add a", false);
        let made: Vec<(&str, Option<&str>)> = made.iter().map(|it| (it.subject.as_str(), it.hash.as_deref())).collect();
        assert_eq!(made, [("Add a", Some("1a2b3c4")), ("Add b", Some("5d6e7f8"))]);
    }
}
