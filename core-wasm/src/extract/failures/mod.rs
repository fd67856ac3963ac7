//! Open failures, and what fixed them.

mod ci_logs;
mod cure;
mod display;
mod edits;
mod excused;
mod failure;
mod form;
mod missed;
mod normalize;
mod pasted;
mod refusals;
mod routine;
mod slips;
mod surprises;

use serde::{Deserialize, Serialize};

pub(super) use display::display_command;
pub(super) use pasted::{is_of_runner, pasted_error};
pub(super) use refusals::is_refusal;
pub(crate) use routine::{ROUTINE, said_by_tool};

use ci_logs::CiLogs;
use cure::is_mistyped_bypass;
pub(super) use cure::{curing_step, is_bypass};
use edits::EditTrouble;
use excused::Excused;
use failure::{Failure, Subject, is_part_of};
use missed::Misses;
use normalize::normalize;
use pasted::Pasted;
use refusals::Refusals;
use routine::Routines;
use slips::teaches_nothing;
use surprises::Surprises;

use super::ci;
use super::commands::{self, Class};
use super::labels::Labels;
use super::memories::{LineRef, SessionMemory};
use super::prose;
use crate::bindings::throughline::policy::types::Draft;
use crate::said_by::SaidBy;
use crate::text;

/// The maximum number of open failures. The oldest is dropped first.
const MAX_OPEN: usize = 16;
/// The maximum number of steps kept between failure and success.
const MAX_STEPS: usize = 8;
/// Up to how many texts after a failure may name its cause, and after how many the failure is dropped.
const MAX_CAUSE_AGE: u32 = 8;
const MAX_AGE: u32 = 30;
/// The length up to which the text right after a failure is about that, in bytes.
const MAX_REMARK_BYTES: usize = 600;
/// The same for what an edit found in its file.
const MAX_EDIT_CAUSE_AGE: u32 = 3;
/// The maximum number of reworded commands to keep.
const MAX_REWORDED: usize = 4;
/// The minimum length of a line that is recognized when it is printed again, in bytes.
const MIN_LINE_BYTES: usize = 16;
/// The maximum number of errors that the user pasted to keep.
const MAX_PASTED: usize = 4;
/// The maximum number of sentences that the agent said between failure and success.
const MAX_SENTENCES: usize = 12;

/// All open failures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Failures {
    open: Vec<Failure>,
    /// Commands that were not found as they were written, and that ran in other words.
    #[serde(default)]
    reworded: Vec<Failure>,
    #[serde(default)]
    edits: Vec<EditTrouble>,
    #[serde(default)]
    surprises: Surprises,
    #[serde(default)]
    refusals: Refusals,
    #[serde(default)]
    routines: Routines,
    #[serde(default)]
    misses: Misses,
    #[serde(default)]
    excused: Excused,
    #[serde(default)]
    ci_logs: CiLogs,
    /// The error that the user pasted last.
    #[serde(default)]
    pasted: Option<Pasted>,
    /// Errors that the user pasted before, with what was run: what had mended them is known once it runs again.
    #[serde(default)]
    pasted_before: Vec<Pasted>,
    /// What only the user could mend: hashes of what failed, and how often it did.
    #[serde(default)]
    needed: Vec<(u32, u32)>,
}

impl Failures {
    /// Records the folder in which the next command runs.
    pub(super) fn runs_in(&mut self, folder: &str) {
        self.misses.runs_in(folder);
    }

    /// Records a command and what it printed: what the machine does not have, and what has another form here. Returns what is known
    /// now, and whether that explains why the command failed.
    pub(super) fn command_ran(
        &mut self,
        command: &str,
        output: &str,
        (is_error, failed): (bool, bool),
        source: &LineRef,
        labels: &Labels,
    ) -> (Vec<SessionMemory>, bool) {
        let verdict = ci::verdict(command, output);
        if verdict.as_ref().is_some_and(|verdict| verdict.contains(" fail")) {
            self.ci_logs.failed();
        }
        if !failed {
            if commands::switches_files(command) || commands::may_fix(command) {
                self.misses.may_have_changed();
            }
            self.refusals.passed(command);
            self.ci_logs.ran(command, output, source);
            if verdict.is_some_and(|verdict| ci::is_passing(&verdict)) {
                self.ci_logs.passed();
            }
            self.routines.passed(command, &self.open);
        }
        self.surprises.ran(command, output, (is_error, failed), source, labels)
    }

    /// Records a command that the client's permissions refused.
    pub(super) fn command_refused(&mut self, command: &str, said: &str, source: &LineRef) {
        self.refusals.refused(command, said, source);
    }

    /// Records a failed command. Returns what cured its earlier failure, if it got past that one and met another.
    pub(super) fn command_failed(
        &mut self,
        command: &str,
        error: &str,
        source: &LineRef,
        turn: u32,
        labels: &Labels,
    ) -> Option<SessionMemory> {
        self.misses.failed(command, error, source);
        if teaches_nothing(command, error) {
            return None;
        }
        self.routines.failed(command, error, source);
        let failure = Failure { times: 1, turn, ..Failure::of(command, error, source) };
        let same = |known: &&mut Failure| known.subject == Subject::Command && commands::same_purpose(&known.what, command);
        let Some(known) = self.open.iter_mut().find(same) else {
            self.push(failure);
            return None;
        };
        known.times += 1;
        known.turn = turn;
        // What the user chose did not help.
        known.steps.retain(|step| !step.starts_with('"'));
        push_bounded(&mut known.tried, display_command(command), MAX_STEPS);
        // The first failure is the one to explain. A different error in the code being worked on is a newer state
        // of it.
        let is_other = normalize(&known.error) != normalize(error);
        // What was done before the same error came again did not cure it.
        if !is_other && !error.is_empty() {
            known.steps.clear();
        }
        let is_of_tools = commands::is_environment(&known.error) && commands::is_environment(error);
        if is_other && !error.is_empty() && (is_of_tools || known.is_past_setting()) {
            // It got past the first error, with what was done since then.
            let past = Failure { times: known.times - 1, ..std::mem::replace(known, failure) };
            return past.fix_memory(None, labels);
        }
        if known.error.is_empty() || (!commands::is_environment(&known.error) && !error.is_empty()) {
            if is_other && !known.error.is_empty() {
                push_bounded(&mut known.tried, display_command(&known.what), MAX_STEPS);
                known.meets(&failure);
            }
            error.clone_into(&mut known.error);
        }
        None
    }

    fn push(&mut self, failure: Failure) {
        self.open.push(failure);
        if self.open.len() > MAX_OPEN {
            self.open.remove(0);
        }
    }

    /// Records a text of the agent, which may name a cause.
    pub(super) fn agent_said(&mut self, said: &str) {
        if let Some(pasted) = &mut self.pasted {
            pasted.agent_said(said);
        }
        self.ci_logs.agent_said(said);
        if self.open.is_empty() {
            return;
        }
        let needs = prose::needs_user(said);
        let mut causes: Vec<String> = prose::causes(said);
        causes.retain(|cause| !excused::only_excuses(cause));
        let has_edits = self.open.iter().any(|it| it.subject == Subject::Edit && it.age < MAX_EDIT_CAUSE_AGE);
        let blanks: Vec<String> = if has_edits { prose::remarks_on_blanks(said) } else { Vec::new() };
        self.open.retain(|failure| failure.age < MAX_AGE || failure.is_check());
        let edits: Vec<String> =
            self.open.iter().filter(|it| it.subject == Subject::Edit).map(|it| it.what.clone()).collect();
        for failure in &mut self.open {
            failure.age += 1;
            failure.excused_by(said);
            if let Some(needs) = needs.as_ref().filter(|_| !failure.is_answered && failure.age <= MAX_CAUSE_AGE) {
                needs.clone_into(&mut failure.needs);
            }
            // Later texts are about something else, unless they name what failed, and so is most of a summary.
            let is_next = failure.age == 1 && said.len() <= MAX_REMARK_BYTES;
            for cause in causes.iter().filter(|_| failure.age <= MAX_CAUSE_AGE) {
                let is_of_other = failure.subject == Subject::Edit && !failure.is_meant_by(cause, &edits);
                if !is_of_other && (is_next || failure.is_subject_of(cause)) {
                    push_bounded(&mut failure.said, cause.clone(), MAX_SENTENCES);
                }
            }
            // An edit that finds no match is mostly one of blanks, and the agent says so in plain words.
            if failure.subject == Subject::Edit && failure.age <= MAX_EDIT_CAUSE_AGE {
                for cause in &blanks {
                    if failure.is_meant_by(cause, &edits) {
                        push_bounded(&mut failure.said, cause.clone(), MAX_SENTENCES);
                    }
                }
            }
        }
    }

    /// Records what the human said, who may allow to go past what fails.
    pub(super) fn human_said(&mut self, said: &str) {
        if text::sentences(said).iter().any(|it| ci::is_said_to_pass(it)) {
            self.ci_logs.passed();
        }
        self.open.iter_mut().for_each(|failure| failure.is_answered = true);
        self.bypass_allowed(said);
    }

    /// Records what the human said while the agent works: whether it may go past what fails.
    pub(super) fn bypass_allowed(&mut self, said: &str) {
        let lower = said.to_lowercase();
        let is_forbidden =
            text::contains_any(&lower, &["don't", "do not", "never", "without", "말고", "하지 마", "しないで", "不要"]);
        if (is_bypass(&lower) || is_mistyped_bypass(&lower)) && !is_forbidden {
            self.open.iter_mut().for_each(|failure| failure.is_bypass_allowed = true);
        }
    }

    /// Records a prompt, which may show an error. Returns the key of an earlier error that the same run met, or that is the same: its cure
    /// was none, or only the first step.
    pub(super) fn prompted(&mut self, prompt: &str) -> Option<String> {
        self.human_said(prompt);
        self.misses.may_have_changed();
        self.pasted_before.extend(self.pasted.take());
        let extra = self.pasted_before.len().saturating_sub(MAX_PASTED);
        self.pasted_before.drain(..extra);
        self.pasted = Pasted::in_prompt(prompt);
        let pasted = self.pasted.as_ref()?;
        let at = self.pasted_before.iter().rposition(|before| before.is_same_run(pasted) || before.is_same_error(pasted))?;
        Some(self.pasted_before.remove(at).key())
    }

    /// Returns the error that the user pasted, if the agent named its cause and changed something.
    pub(super) fn pasted_memory(&self, source: &LineRef, labels: &Labels) -> Option<SessionMemory> {
        self.pasted.as_ref()?.memory(source, labels)
    }

    /// Records an action that may have been the fix.
    pub(super) fn step(&mut self, step: &str) {
        for failure in &mut self.open {
            if failure.steps.last().map(String::as_str) != Some(step) {
                push_bounded(&mut failure.steps, step.to_owned(), MAX_STEPS);
            }
        }
    }

    /// Records that a file was changed, which may have been the fix.
    pub(super) fn file_changed(&mut self, file: &str) {
        self.surprises.file_changed(file);
        self.misses.files_changed();
        self.excused.file_changed();
        self.ci_logs.file_changed(file);
        if let Some(pasted) = &mut self.pasted {
            pasted.file_changed(file);
        }
        for failure in &mut self.open {
            failure.edited = true;
            push_bounded(&mut failure.edited_files, file.to_owned(), MAX_STEPS);
        }
    }

    /// Records what a command printed that passed: an error that it printed as well is not why it failed before.
    pub(super) fn printed_on_success(&mut self, command: &str, output: &str) {
        let mut lines: Option<Vec<String>> = None;
        for failure in &mut self.open {
            if failure.subject == Subject::Edit
                || failure.error.is_empty()
                || !commands::same_purpose(&failure.what, command)
            {
                continue;
            }
            let lines = lines.get_or_insert_with(|| output.lines().map(letters).collect());
            let error = letters(&failure.error);
            if error.len() >= MIN_LINE_BYTES && lines.iter().any(|line| line.contains(&error)) {
                failure.error.clear();
                failure.is_unexplained = true;
            }
        }
    }

    /// Records that a sub-agent worked, which may have changed files.
    pub(super) fn others_worked(&mut self) {
        self.misses.files_changed();
    }

    /// Records a command that passed. Returns the failures that it resolves, with their fixes.
    pub(super) fn command_passed(&mut self, command: &str, labels: &Labels) -> Vec<SessionMemory> {
        let mut fixes = self.cured_in_fewer_words(command, labels);
        fixes.extend(self.misses.passed(command, labels));
        self.keep_excused(|failure| {
            let is_other = display_command(&failure.what) != display_command(command);
            // After a change, only a run that left the failed tests out says nothing of them.
            let is_of_some = |command: &str| commands::runs_tests(command) == Some(true);
            let is_unmended = !failure.edited || (is_of_some(command) && !is_of_some(&failure.what));
            is_other && is_unmended && commands::same_purpose(&failure.what, command)
        });
        self.excused.passed(command);
        for failure in self.open.iter_mut().filter(|failure| failure.is_corrected_by(command)) {
            failure.is_corrected = true;
        }
        fixes.extend(self.close_matching(
            |failure| {
                let is_same = |passed: &str| commands::same_purpose(&failure.what, passed);
                // Of a chain that passed, each check did.
                let is_of_chain = || failure.is_check() && commands::chained(command).into_iter().any(is_same);
                failure.subject == Subject::Command
                    && (is_same(command) || is_of_chain() || failure.is_rightly_built_by(command))
            },
            Some(command),
            labels,
        ));
        fixes
    }

    /// Returns the cures of commands that were reworded before and passed now in fewer words: the agent left the first way around.
    fn cured_in_fewer_words(&mut self, command: &str, labels: &Labels) -> Vec<SessionMemory> {
        let shown = display_command(command);
        let mut fixes = Vec::new();
        for failure in &mut self.reworded {
            let is_better = is_part_of(&shown, &failure.cured_by)
                && is_part_of(&shown, &display_command(&failure.what))
                && commands::same_purpose(&failure.what, command);
            if is_better {
                failure.cured_by.clone_from(&shown);
                fixes.extend(failure.fix_memory(Some(command), labels));
            }
        }
        fixes
    }

    /// Records a command that ran and rewords a failed one. Whatever its result, the tool was found.
    pub(super) fn command_reached(&mut self, command: &str, error: &str, labels: &Labels) -> Vec<SessionMemory> {
        self.close_matching(
            |failure| {
                let is_elsewhere = || form::other_path(&failure.what, command, &failure.error).is_some();
                failure.subject == Subject::Command
                    && failure.error != error
                    && (is_elsewhere() || failure.is_reworded_by(command, error))
            },
            Some(command),
            labels,
        )
    }

    fn close_matching(
        &mut self,
        ended: impl Fn(&Failure) -> bool,
        command: Option<&str>,
        labels: &Labels,
    ) -> Vec<SessionMemory> {
        let mut fixes = Vec::new();
        let mut reworded = Vec::new();
        let needed = &mut self.needed;
        self.open.retain(|failure| {
            let ends = ended(failure);
            if ends {
                let by_user = command.and_then(|command| failure.mended_by_user(command, needed, labels));
                let fix = by_user.or_else(|| failure.fix_memory(command, labels));
                let is_told = fix.is_some() && commands::is_invocation(&failure.error);
                fixes.extend(fix);
                if let Some(command) = command.filter(|_| is_told) {
                    reworded.push(Failure { cured_by: display_command(command), ..failure.clone() });
                }
            }
            !ends
        });
        self.reworded.extend(reworded);
        let extra = self.reworded.len().saturating_sub(MAX_REWORDED);
        self.reworded.drain(..extra);
        fixes
    }

    /// Returns whether a command of the same purpose failed with that option, and did not pass since then.
    pub(super) fn has_failed_with(&self, command: &str, option: &str) -> bool {
        let has_option = |line: &str| commands::has_option(line, option);
        let is_same = |known: &&Failure| known.subject == Subject::Command && commands::same_purpose(&known.what, command);
        let mut same = self.open.iter().filter(is_same);
        same.any(|known| has_option(&known.what) || known.tried.iter().any(|tried| has_option(tried)))
    }

    /// Returns whether a check or a commit is failing.
    pub(super) fn has_open_checks(&self) -> bool {
        self.open.iter().any(Failure::is_check)
    }

    /// Closes all open checks after a commit: committed work has none. A commit in another repository closes nothing. Returns what made
    /// an earlier commit fail.
    pub(super) fn checks_committed(&mut self, command: &str, labels: &Labels) -> Vec<SessionMemory> {
        self.keep_excused(|failure| commands::is_same_place(&failure.what, command));
        self.ci_logs.committed();
        let is_commit = |failure: &Failure| commands::class(&failure.what) == Class::Commit;
        let is_ended = |failure: &Failure| is_commit(failure) && commands::is_same_place(&failure.what, command);
        let cured = self.close_matching(is_ended, Some(command), labels);
        self.open.retain(|failure| !failure.is_check() || !commands::is_same_place(&failure.what, command));
        cured
    }

    /// Closes the failed commits after git showed that the changes are committed.
    pub(super) fn commit_landed(&mut self) {
        self.open.retain(|failure| commands::class(&failure.what) != Class::Commit);
    }

    /// Closes all open checks after the agent reported that they pass. A failed commit stays open.
    pub(super) fn checks_reported_passing(&mut self) {
        self.keep_excused(|_| true);
        self.open.retain(|failure| !failure.is_check() || commands::class(&failure.what) == Class::Commit);
    }

    /// Keeps the failures that are not the session's and that end now without being mended.
    fn keep_excused(&mut self, ends: impl Fn(&Failure) -> bool) {
        for failure in self.open.iter().filter(|failure| !failure.excuse.is_empty() && ends(failure)) {
            self.excused.closed(failure);
        }
    }

    /// Returns failed checks and commits that are still open and whose cause the agent named: the next session will run
    /// into them.
    pub(super) fn drafts(&self, labels: &Labels) -> impl Iterator<Item = Draft> {
        let own = self.surprises.memories(labels).into_iter().chain(self.refusals.memories(labels));
        let own = own.chain(self.routines.memories(labels)).chain(self.excused.memories(labels));
        let own = own.chain(self.ci_logs.memories(labels));
        let own = own.map(|memory| memory.draft());
        let is_told = |failure: &&Failure| {
            failure.is_check() && !failure.error.is_empty() && !failure.is_mended_slip() && !self.excused.tells(failure)
        };
        let open = self.open.iter().filter(is_told);
        own.chain(open.filter_map(move |failure| {
            let cause = Some(failure.cause()).filter(|cause| !cause.is_empty()).or_else(|| failure.excuse());
            let cause = cause.unwrap_or_default();
            let memory = SessionMemory {
                key: format!("open:{}:{:08x}", failure.source.uuid, text::hash(&failure.what)),
                kind: "learning".to_owned(),
                title: format!(
                    "`{}` {}: {}. {}: {cause}",
                    display_command(&failure.what),
                    labels.fails.to_lowercase(),
                    failure.error,
                    labels.cause
                ),
                keywords: failure.keywords(labels),
                importance: 60,
                source: failure.source.clone(),
                said_by: SaidBy::Tool,
                ..SessionMemory::default()
            };
            (!cause.is_empty()).then(|| memory.draft())
        }))
    }

    /// Returns the failures that matter at the end: checks, builds and commits that failed in this turn or the one
    /// before.
    pub(super) fn errors(&self, turn: u32) -> Vec<String> {
        self.open
            .iter()
            .filter(|failure| failure.subject == Subject::Command && failure.turn + 1 >= turn && !failure.error.is_empty())
            .filter(|failure| !matches!(commands::class(&failure.what), Class::Inspect | Class::Other))
            // What the code does not define yet is a state of the work, or belongs to another build.
            .filter(|failure| !commands::is_located(&failure.error))
            // How something is called is no state of the work.
            .filter(|failure| !commands::is_unknown_option(&failure.error) && !failure.is_corrected)
            .map(|failure| format!("`{}`: {}", display_command(&failure.what), failure.error))
            .collect()
    }
}

impl Failure {
    /// Returns whether something else was installed in the same way: the first name was a wrong one.
    fn is_corrected_by(&self, command: &str) -> bool {
        let verb = |line: &str| commands::verb_words(commands::main_segment(line)).join(" ");
        let installs = |line: &str| commands::class(line) == Class::Install && verb(line).contains(' ');
        installs(&self.what) && installs(command) && verb(&self.what) == verb(command)
    }

    /// Returns whether a command that ran, with this error or none, says in other words what the agent meant by one that could not run as
    /// it was written.
    fn is_reworded_by(&self, command: &str, error: &str) -> bool {
        commands::is_invocation(&self.error)
            && !commands::is_invocation(error)
            && text::one_line(&self.what) != text::one_line(command)
            && !has_other_purpose(&self.what, command)
            && (commands::is_form_of(&self.what, command) || commands::is_unknown_subcommand(&self.error))
            && commands::is_rewording(&self.what, command)
            // After the user spoke, the work may be another.
            && (!self.is_answered || commands::same_purpose(&self.what, command))
    }
}

/// Returns the letters of a line, without the codes of a terminal: times, counts and colours differ from run to run.
fn letters(line: &str) -> String {
    text::without_codes(line).chars().filter(|c| c.is_alphabetic()).collect()
}

fn push_bounded(list: &mut Vec<String>, item: String, max: usize) {
    if list.contains(&item) {
        return;
    }
    list.push(item);
    if list.len() > max {
        // The first step after the failure and the latest ones are the most informative.
        list.remove(1);
    }
}

/// Returns whether both commands check or build something, and not the same.
fn has_other_purpose(failed: &str, later: &str) -> bool {
    let (one, other) = (commands::class(failed), commands::class(later));
    let checks = |class| matches!(class, Class::Test | Class::Check | Class::Build | Class::Commit);
    checks(one) && checks(other) && one != other
}

#[cfg(test)]
mod tests;
