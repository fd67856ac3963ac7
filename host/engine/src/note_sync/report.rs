//! What a sync did, and what it may do.

use serde::Serialize;

use super::step::Step;

/// What a sync did, or would do in a dry run.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SyncReport {
    /// New files that became notes.
    pub stored: u64,
    /// Notes that were updated from their edited file.
    pub edited: u64,
    /// Notes whose file was renamed.
    pub renamed: u64,
    /// Notes that were deleted because their file was.
    pub deleted: u64,
    /// Notes without a file, which got one.
    pub written: u64,
    /// Files that were updated from their edited note.
    pub rewritten: u64,
    /// Files that were deleted because their note was.
    pub removed: u64,
    /// Notes and files that already agreed.
    pub unchanged: u64,
    /// Notes changed on both sides: nothing was lost, and a person must decide.
    pub conflicts: Vec<SyncRemark>,
    /// Files that could not be used, and other remarks.
    pub told: Vec<SyncRemark>,
    /// In a dry run, what would become of each file or note that would change.
    pub changes: Vec<SyncChange>,
}

/// What would become of a file, or of the note that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SyncChange {
    /// The path below the folder.
    pub path: String,
    /// `stored`, `edited`, `renamed` and `deleted` are about the note; `written`, `rewritten` and `removed` about the file.
    pub change: &'static str,
}

/// A remark about a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SyncRemark {
    /// The path below the folder.
    pub path: String,
    /// The remark, one line.
    pub why: String,
}

impl SyncReport {
    /// Counts a step that was taken.
    pub(super) fn count(&mut self, step: &Step) {
        let number = match step {
            Step::Store { .. } => &mut self.stored,
            Step::Edit { .. } => &mut self.edited,
            Step::Rename { .. } => &mut self.renamed,
            Step::Delete { .. } => &mut self.deleted,
            Step::Write { .. } => &mut self.written,
            Step::Rewrite { .. } => &mut self.rewritten,
            Step::Remove { .. } => &mut self.removed,
            Step::Agree { .. } => &mut self.unchanged,
            Step::Conflict { .. } | Step::Forget { .. } => return,
        };
        *number += 1;
    }
}

/// Options of a sync.
#[derive(Debug, Clone, Copy, Default)]
pub struct SyncOptions {
    /// Only report what would be done.
    pub is_dry: bool,
    /// Delete notes even if many files are missing.
    pub may_delete: bool,
    /// Only take in what is new, edited or renamed in the folder: nothing is written, and no note is deleted.
    pub only_in: bool,
}
