//! What one check lets pass and another one does not: the tests pass, and the integration tests fail on the same files.

use serde::{Deserialize, Serialize};

use super::display::{display_command, is_whole};
use crate::extract::commands::{self, Class};
use crate::extract::conventions;
use crate::extract::labels::Labels;
use crate::extract::memories::{LineRef, SessionMemory};
use crate::said_by::SaidBy;
use crate::text;

/// The maximum number of checks that passed since a file was changed.
const MAX_PASSED: usize = 6;

/// A check that failed where another one had just passed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Miss {
    /// What passed, as it is told.
    passed: String,
    /// What failed, as it is told.
    failed: String,
    source: LineRef,
    /// Whether a file was changed since then.
    is_mended: bool,
}

/// The checks of the whole project that passed since a file was changed, and those that failed where they had passed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Misses {
    /// The folder of the last command.
    folder: String,
    passed: Vec<String>,
    /// The first that is not mended yet, of each kind.
    open: Vec<Miss>,
}

impl Misses {
    /// Records that files were changed.
    pub(super) fn files_changed(&mut self) {
        self.may_have_changed();
        self.open.iter_mut().for_each(|miss| miss.is_mended = true);
    }

    /// Records that something may be other than it was: the user came in between, or a command ran that does more than look.
    pub(super) fn may_have_changed(&mut self) {
        self.passed.clear();
    }

    /// Records the folder in which the next command runs. In another one the same script may be another package's.
    pub(super) fn runs_in(&mut self, folder: &str) {
        if self.folder != folder {
            folder.clone_into(&mut self.folder);
            self.may_have_changed();
        }
    }

    /// Records a command that failed.
    pub(super) fn failed(&mut self, command: &str, error: &str, source: &LineRef) {
        // Of several checks on a line, any may have failed.
        let is_sure = !error.is_empty() && !is_elsewhere(command) && commands::does_one_thing(command);
        let Some(failed) = whole_check(command).filter(|_| is_sure) else { return };
        let Some(passed) = self.passed.iter().rfind(|passed| lets_pass(passed, failed)) else { return };
        let failed = display_command(failed);
        if self.open.iter().any(|miss| miss.failed == failed) || self.open.len() >= MAX_PASSED {
            return;
        }
        self.open.push(Miss { passed: display_command(passed), failed, source: source.clone(), is_mended: false });
    }

    /// Records a command that passed. Returns what is known once a check passes that failed before: the files were at fault, which another
    /// check had not seen.
    pub(super) fn passed(&mut self, command: &str, labels: &Labels) -> Option<SessionMemory> {
        if is_elsewhere(command) {
            return None;
        }
        for segment in commands::chained(command) {
            if let Some(passed) = whole_check(segment).filter(|passed| conventions::takes_project(passed))
                && !self.passed.iter().any(|known| known == passed)
            {
                self.passed.push(passed.to_owned());
                if self.passed.len() > MAX_PASSED {
                    self.passed.remove(0);
                }
            }
        }
        let shown = display_command(whole_check(command)?);
        let at = self.open.iter().position(|miss| miss.failed == shown)?;
        // What passes again without a change failed by chance.
        Some(self.open.remove(at)).filter(|miss| miss.is_mended).map(|miss| miss.memory(labels))
    }
}

impl Miss {
    fn memory(self, labels: &Labels) -> SessionMemory {
        let Self { passed, failed, source, .. } = self;
        // The error was one of the code, and is mended.
        let content = labels.missed.replacen("{}", &format!("`{passed}`"), 1).replacen("{}", &format!("`{failed}`"), 1);
        SessionMemory {
            key: format!("missed:{:08x}", text::hash(&format!("{passed} {failed}"))),
            kind: "error_fix".to_owned(),
            title: text::clip(&content, 200).into_owned(),
            content,
            importance: 60,
            source,
            said_by: SaidBy::Tool,
            ..SessionMemory::default()
        }
    }
}

/// Returns whether a command line goes to another folder, in which it is not about the whole project.
fn is_elsewhere(command: &str) -> bool {
    commands::segments(command).iter().any(|segment| segment.starts_with("cd ") && segment.trim() != "cd .")
}

/// Returns what a command line is about if that is a test, a check or a build of the whole project.
fn whole_check(command: &str) -> Option<&str> {
    let main = commands::main_segment(command);
    let installs = main.split_whitespace().any(|word| matches!(word, "add" | "remove" | "install" | "uninstall"));
    let is_check = !installs && matches!(commands::class(main), Class::Test | Class::Check | Class::Build);
    let is_narrow = commands::runs_tests(main) == Some(true);
    (is_check && !is_narrow && is_whole(&display_command(main))).then_some(main)
}

/// Returns whether one check might have found what the other one found, as its name says: both are tests, or the other one builds more by
/// its tags.
fn lets_pass(passed: &str, failed: &str) -> bool {
    let is_test = |command: &str| commands::class(command) == Class::Test;
    let (one, other) = (name(passed), name(failed));
    let tags = commands::build_tags(failed);
    let adds_tags = tags.is_some() && commands::build_tags(passed) != tags;
    (is_test(passed) && is_test(failed) && one != other) || (adds_tags && passed != failed)
}

/// Returns the words that name a check: its script, or its program and subcommand.
fn name(command: &str) -> Vec<&str> {
    let words = commands::verb_words(command);
    if words.is_empty() { commands::own_words(command) } else { words }
}
