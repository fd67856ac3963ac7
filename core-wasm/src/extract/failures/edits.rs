//! Edits that failed: those of one error teach one lesson, whatever their files.

use serde::{Deserialize, Serialize};

use super::Failures;
use super::display::failure_text;
use super::failure::{Failure, Subject};
use super::normalize::normalize;
use crate::extract::commands;
use crate::extract::labels::Labels;
use crate::extract::memories::{LineRef, SessionMemory};
use crate::extract::signs;
use crate::said_by::SaidBy;
use crate::text;

/// The maximum number of errors of edits to keep.
const MAX_EDIT_TROUBLES: usize = 4;
/// How often edits must have failed to be told without a cause.
const MIN_STUBBORN: u32 = 4;

/// Edits that failed with the same error, in whatever files: one lesson, not one for each file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct EditTrouble {
    error: String,
    files: Vec<String>,
    times: u32,
    cause: String,
    fix: String,
    /// Whether another edit worked in one of the files, so that no other tool is needed.
    #[serde(default)]
    is_edited: bool,
}

impl Failures {
    /// Records a failed edit.
    pub(in crate::extract) fn edit_failed(&mut self, file: &str, error: &str, source: &LineRef, turn: u32) {
        if let Some(known) = self.open.iter_mut().find(|failure| failure.subject == Subject::Edit && failure.what == file) {
            known.times += 1;
            return;
        }
        self.push(Failure {
            subject: Subject::Edit,
            what: file.to_owned(),
            error: error.to_owned(),
            source: source.clone(),
            times: 1,
            turn,
            ..Failure::default()
        });
    }

    /// Records an edit that succeeded, with the tool that made it.
    pub(in crate::extract) fn edit_passed(&mut self, file: &str, tool: &str, labels: &Labels) -> Vec<SessionMemory> {
        self.edits_closed(|failure| failure.what == file, tool, labels)
    }

    /// Records a command that passed and writes files of which an edit failed: the way around it.
    pub(in crate::extract) fn edited_by_command(&mut self, command: &str, labels: &Labels) -> Vec<SessionMemory> {
        let has_edits = self.open.iter().any(|failure| failure.subject == Subject::Edit);
        let Some(tool) = commands::editor(command).filter(|_| has_edits) else { return Vec::new() };
        let written = commands::file_effects(command, "").written;
        let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let is_file = |failure: &Failure| {
            written.iter().any(|path| failure.what.ends_with(path.as_str())) || command.contains(&name(&failure.what))
        };
        self.edits_closed(is_file, tool, labels)
    }

    /// Closes failed edits. What they teach is told together with earlier ones of the same error.
    fn edits_closed(&mut self, ended: impl Fn(&Failure) -> bool, tool: &str, labels: &Labels) -> Vec<SessionMemory> {
        let mut closed = Vec::new();
        self.open.retain(|failure| {
            let ends = failure.subject == Subject::Edit && ended(failure);
            if ends {
                closed.push(failure.clone());
            }
            !ends
        });
        closed.into_iter().filter_map(|failure| self.edit_memory(&failure, tool, labels)).collect()
    }

    /// Adds a failed edit to those of the same error, and returns what they teach together.
    ///
    /// One failed edit is a mistake of the agent. Several say something about the files, if their cause was named, and
    /// many if another tool had to write them.
    fn edit_memory(&mut self, failure: &Failure, tool: &str, labels: &Labels) -> Option<SessionMemory> {
        let error = normalize(&failure.error);
        if error.is_empty() || signs::is_one_off(&error.to_lowercase()) {
            return None;
        }
        let known = self.edits.iter().position(|trouble| trouble.error == error);
        let mut trouble = known.map(|at| self.edits.remove(at)).unwrap_or_default();
        trouble.error = error;
        trouble.times += failure.times;
        if !trouble.files.contains(&failure.what) {
            trouble.files.push(failure.what.clone());
        }
        let cause = normalize(&failure.cause());
        if !cause.is_empty() {
            trouble.cause = cause;
        }
        // Another edit of the same file says nothing of what was wrong with the first.
        if matches!(tool, "Edit" | "MultiEdit" | "NotebookEdit") {
            trouble.is_edited = true;
        } else {
            trouble.fix = labels.written_with.replace("{}", &format!("`{tool}`"));
        }
        // With a cause to go by, an edit is the better cure.
        if trouble.is_edited && !trouble.cause.is_empty() {
            trouble.fix.clear();
        }
        let is_stubborn = trouble.times >= MIN_STUBBORN && !trouble.fix.is_empty();
        let teaches = trouble.times > 1 && (is_stubborn || !trouble.cause.is_empty());
        let memory = teaches.then(|| trouble.memory(&failure.source, labels));
        self.edits.push(trouble);
        if self.edits.len() > MAX_EDIT_TROUBLES {
            self.edits.remove(0);
        }
        memory
    }
}

impl EditTrouble {
    fn memory(&self, source: &LineRef, labels: &Labels) -> SessionMemory {
        let more = match self.files.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        let what = format!("edit of {}{more}", self.files[0]);
        let content = failure_text(&what, self.times, &self.error, &self.cause, (labels.fixed_by, &self.fix), labels);
        SessionMemory {
            key: format!("edits:{:08x}", text::hash(&self.error)),
            kind: "error_fix".to_owned(),
            title: text::clip(&content, 200).into_owned(),
            why: self.cause.clone(),
            content,
            files: self.files.clone(),
            importance: 50,
            source: source.clone(),
            said_by: SaidBy::Tool,
            ..SessionMemory::default()
        }
    }
}
