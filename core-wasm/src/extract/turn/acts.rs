//! What a turn did beside its edits: the commands that may have changed something.

use serde::{Deserialize, Serialize};

use crate::extract::commands::{self, Class};
use crate::extract::failures;
use crate::extract::files::is_script;
use crate::text;

/// The maximum number of commands to keep. The oldest is dropped first.
const MAX_COMMANDS: usize = 4;
/// The maximum length of a command as it is told, in characters.
const MAX_COMMAND_CHARS: usize = 80;

/// The commands of a turn that may have changed something.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::extract) struct Acts {
    /// The latest of them, as they are told.
    commands: Vec<String>,
    /// Whether something else may have changed what nobody knows: a script on the command line, a formatter, a sub-agent, or the tool of a
    /// server.
    has_others: bool,
}

impl Acts {
    /// Records a command line that was run. What git records is told as commits.
    pub(in crate::extract) fn ran(&mut self, command: &str) {
        let formats = |segment: &&str| commands::class(segment) != Class::Inspect && commands::may_format(segment);
        let hides = |segment: &&str| formats(segment) || acts_on_found(segment) || runs_script(segment);
        self.has_others |= commands::segments(command).iter().any(hides) || writes_behind_pipe(command);
        for segment in commands::segments(command).into_iter().filter(|segment| may_act(segment)) {
            let Some(told) = told(segment) else {
                self.has_others |= !only_fetches(segment) && !only_reads(segment);
                continue;
            };
            self.commands.retain(|known| *known != told);
            self.commands.push(told);
        }
        let extra = self.commands.len().saturating_sub(MAX_COMMANDS);
        self.commands.drain(..extra);
    }

    /// Records that a sub-agent or the tool of a server did something.
    pub(in crate::extract) fn other_acted(&mut self) {
        self.has_others = true;
    }

    /// Returns the commands as they are told, oldest first.
    pub(in crate::extract) fn commands(&self) -> &[String] {
        &self.commands
    }

    /// Returns whether the commands are all that may have changed something.
    pub(in crate::extract) fn are_known(&self) -> bool {
        !self.has_others
    }

    /// Returns whether nothing was done beside edits.
    pub(in crate::extract) fn is_empty(&self) -> bool {
        self.commands.is_empty() && !self.has_others
    }
}

/// Returns those commands of a command line, as they are told, that may change something beside the history of git.
pub(in crate::extract) fn acting(command: &str) -> Vec<String> {
    commands::segments(command).into_iter().filter(|segment| may_act(segment)).filter_map(told).collect()
}

fn may_act(segment: &str) -> bool {
    commands::may_change(segment) && !commands::only_looks(segment) && !checks_syntax(segment) && !asks_own_server(segment)
}

/// Returns whether a command asks a server of this machine, which tries out the work.
fn asks_own_server(segment: &str) -> bool {
    commands::own_words(segment).first() == Some(&"curl") && text::contains_any(segment, &commands::LOCAL_HOSTS)
}

/// Returns a command as it is told. None if git tells what it did, or if it is a script on the command line, which only looks at something,
/// as a rule.
fn told(segment: &str) -> Option<String> {
    let is_recorded = matches!(commands::class(segment), Class::Commit | Class::Publish) || is_git(segment);
    let told = || text::clip(&failures::display_command(segment), MAX_COMMAND_CHARS).into_owned();
    (!is_inline(segment) && !is_recorded).then(told)
}

fn is_git(segment: &str) -> bool {
    commands::own_words(segment).first() == Some(&"git")
}

/// Returns whether a command of git changes nothing, or only takes over what others did.
fn only_fetches(segment: &str) -> bool {
    let fetches = || matches!(commands::verb_words(segment).get(1), Some(&("pull" | "rebase")));
    let is_plain = commands::class(segment) == Class::Other;
    is_git(segment) && is_plain && (!commands::switches_files(segment) || fetches())
}

/// Returns whether a command runs a script, which may write any file.
fn runs_script(segment: &str) -> bool {
    let is_other = commands::class(segment) == Class::Other && !is_git(segment);
    is_other && may_act(segment) && commands::own_words(segment).into_iter().any(is_script)
}

/// Returns whether `find` or `xargs` removes what is found, or gives it to a program that changes it.
fn acts_on_found(segment: &str) -> bool {
    let acts = || segment.split_once(" -exec").is_some_and(|(_, program)| changes(program));
    match commands::own_words(segment).first() {
        Some(&"find") => segment.contains(" -delete") || acts(),
        Some(&"xargs") => changes(segment),
        _ => false,
    }
}

/// Returns whether something is piped into a program that writes it, or does something with it. A copy of an output in a folder for temporary
/// files changes nothing.
fn writes_behind_pipe(command: &str) -> bool {
    command.split(" | ").skip(1).any(|behind| {
        let mut words = behind.split_whitespace().skip_while(|word| *word == "sudo");
        match words.next() {
            Some("tee") => words.find(|word| !word.starts_with('-')).is_some_and(|file| !is_passing(file)),
            Some("xargs") => changes(behind),
            program => program.is_some_and(runs_commands),
        }
    })
}

/// Returns whether a word of a call is a program that changes the files that it is given.
fn changes(call: &str) -> bool {
    commands::changes_given(call) || call.split_whitespace().any(runs_commands)
}

fn is_passing(file: &str) -> bool {
    text::contains_any(file.trim_start_matches(['"', '\'']), &["/tmp/", "/dev/"])
}

/// Returns whether a program runs commands, which are no words of the script that say what is written.
fn runs_commands(program: &str) -> bool {
    commands::is_shell(program) || matches!(program, "osascript" | "powershell" | "pwsh" | "perl")
}

/// Returns whether a script on the command line names nothing that writes.
fn only_reads(segment: &str) -> bool {
    const WRITES: [&str; 13] =
        ["<<", "write", "'w", "\"w", "remove", "unlink", "rename", "mkdir", "save", "delete", "insert", "update", "post"];
    let is_shell = commands::own_words(segment).first().is_some_and(|program| runs_commands(program));
    is_inline(segment) && !is_shell && !text::contains_any(&segment.to_lowercase(), &WRITES)
}

/// Returns whether a script stands on the command line itself.
fn is_inline(segment: &str) -> bool {
    segment.contains("<<") || segment.split_whitespace().any(|word| matches!(word, "-c" | "-e" | "-"))
}

/// Returns whether a shell only reads a script: `bash -n till.sh`.
fn checks_syntax(segment: &str) -> bool {
    let words = commands::own_words(segment);
    words.first().is_some_and(|program| commands::is_shell(program)) && words.get(1) == Some(&"-n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_looks_or_records_is_no_act() {
        for command in [
            "cat till.txt | grep drawer",
            "git add . && git commit -m 'Fold the slip'",
            "git pull",
            "python3 -c 'print(1)'",
            "cargo test",
            "curl -s http://localhost:3000/till",
            "curl -s -X POST http://localhost:3000/till -d '{}'",
            "bash -n till.sh",
        ] {
            assert!(acting(command).is_empty(), "{command}: {:?}", acting(command));
        }
    }

    #[test]
    fn the_latest_acts_are_told() {
        let mut acts = Acts::default();
        assert!(acts.is_empty());
        acts.ran("cd shop && rm -rf .till/cache 2>/dev/null; echo gone");
        acts.ran("taskkill //F //IM till.exe; sleep 2; npm run dev &");
        acts.ran("rm -rf .till/cache");
        assert_eq!(acts.commands(), ["taskkill //F //IM till.exe", "npm run dev &", "rm -rf .till/cache"]);
        for number in 0..9 {
            acts.ran(&format!("mkdir drawer-{number}"));
        }
        assert_eq!(acts.commands().len(), MAX_COMMANDS);
    }

    #[test]
    fn a_script_on_the_command_line_may_change_anything() {
        let of = |command: &str| {
            let mut acts = Acts::default();
            acts.ran(command);
            acts
        };
        for command in [
            "python3 - << 'X'\nprint(1)\nX",
            "node -e 'fs.writeFile(till)'",
            "cargo fmt",
            "perl -pi -e 's/bell/lamp/' till.txt",
            "sh -c 'rm till.txt'",
            "find . -name till -delete",
            "find . -name till -exec sed -i s/bell/lamp/ {} +",
            "grep -l bell . | xargs rm",
            "echo bell | tee till.txt",
            "xargs rm < tills.txt",
            "python3 scripts/ring.py",
            "./ring.sh",
        ] {
            assert!(!of(command).are_known(), "{command}");
        }
        assert!(of("git pull --rebase && git worktree list").is_empty());
        assert!(!of("git reset --hard HEAD").are_known());
        assert!(of("gh pr list --json title | python3 -c 'import json; print(1)'").is_empty());
        assert!(of("cargo test 2>&1 | tee /tmp/till.log | tail -3").is_empty());
        assert!(of("find . -name till -exec grep bell {} + | xargs sed -n 1p").is_empty());
        assert!(of("rm till.txt && chmod +x ring.sh && npm run dev &").are_known());
    }

    #[test]
    fn what_another_agent_did_is_not_known() {
        let mut acts = Acts::default();
        acts.other_acted();
        assert!(acts.commands().is_empty() && !acts.is_empty());
    }
}
