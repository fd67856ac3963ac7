//! The steps of a sync, and how files and notes are compared.

use std::time::SystemTime;

use super::folder::{CONFLICT, FileStat, without_racy_time};
use throughline_model::digest::sha256_parts;
use throughline_model::redacted::Redacted;
use throughline_notes::Note;
use throughline_notes::markdown::{self, FileContext};
use throughline_notes::registry::Registry;
use throughline_store::{NoteRow, SyncedFile};

/// One step of a sync.
#[derive(Debug)]
pub(super) enum Step {
    /// A new file becomes a note.
    Store { path: String, file: ReadFile },
    /// A file was edited.
    Edit { path: String, row: NoteRow, file: ReadFile },
    /// A file was renamed without a change of content.
    Rename { path: String, row: NoteRow, note: Redacted<Note>, agreed: SyncedFile },
    /// A file was deleted.
    Delete { path: String, row: NoteRow },
    /// A note has no file. `row` is set if the note has no file name of its own yet.
    Write { path: String, row: Option<NoteRow>, note: Redacted<Note> },
    /// A note was edited.
    Rewrite { path: String, note: Redacted<Note> },
    /// A note was deleted.
    Remove { path: String },
    /// Both sides changed: the note's content is written beside the file.
    Conflict { path: String, note: Redacted<Note>, agreed: SyncedFile },
    /// Both sides agree; this state is recorded.
    Agree { path: String, agreed: SyncedFile },
    /// File and note are both gone, so the record is deleted.
    Forget { path: String },
}

impl Step {
    /// Returns whether the step changes notes by what files say, without a deletion.
    pub(super) fn takes_in(&self) -> bool {
        matches!(self, Self::Store { .. } | Self::Edit { .. } | Self::Rename { .. } | Self::Agree { .. })
    }

    /// What the step changes, or `None` if it only records a state or leaves the decision to a person.
    pub(super) fn change(&self) -> Option<&'static str> {
        Some(match self {
            Self::Store { .. } => "stored",
            Self::Edit { .. } => "edited",
            Self::Rename { .. } => "renamed",
            Self::Delete { .. } => "deleted",
            Self::Write { .. } => "written",
            Self::Rewrite { .. } => "rewritten",
            Self::Remove { .. } => "removed",
            Self::Conflict { .. } | Self::Agree { .. } | Self::Forget { .. } => return None,
        })
    }

    /// The file that the step is about.
    pub(super) fn path(&self) -> &str {
        match self {
            Self::Store { path, .. }
            | Self::Edit { path, .. }
            | Self::Rename { path, .. }
            | Self::Delete { path, .. }
            | Self::Write { path, .. }
            | Self::Rewrite { path, .. }
            | Self::Remove { path }
            | Self::Conflict { path, .. }
            | Self::Agree { path, .. }
            | Self::Forget { path } => path,
        }
    }
}

/// A file that was read because it is new or may have changed. Its note is a [`Note`] until it is redacted.
#[derive(Debug)]
pub(super) struct ReadFile<N = Redacted<Note>> {
    pub(super) note: N,
    pub(super) hash: [u8; 32],
    pub(super) stat: FileStat,
}

impl ReadFile {
    pub(super) fn agreed(&self, registry: &Registry) -> SyncedFile {
        agreed(&self.note, registry, self.hash, without_racy_time(self.stat, SystemTime::now()))
    }
}

/// Returns a note's digest: that of the file that would be written for it.
pub(super) fn digest(note: &Note, registry: &Registry) -> [u8; 32] {
    sha256_parts(&[&markdown::format_note(note, registry)])
}

/// Returns what is recorded when a note and its file agree.
pub(super) fn agreed(note: &Note, registry: &Registry, file_hash: [u8; 32], stat: FileStat) -> SyncedFile {
    SyncedFile {
        uid: note.uid.clone(),
        file_hash,
        note_hash: digest(note, registry),
        size: stat.size,
        modified: stat.modified,
        conflict: false,
    }
}

/// Returns the name of a file without its extension.
pub(super) fn stem_of(path: &str) -> &str {
    FileContext::from_path(path, 0).stem
}

/// Returns the path of the conflict file.
pub(super) fn conflict_path(path: &str) -> String {
    format!("{}{CONFLICT}", path.strip_suffix(".md").unwrap_or(path))
}
