//! Carries out the steps of a sync.

use std::time::SystemTime;

use anyhow::{Context as _, Result};

use super::folder::{FileStat, Folder, without_racy_time};
use super::report::{SyncRemark, SyncReport};
use super::step::{Step, agreed, conflict_path, stem_of};
use crate::redaction;
use crate::runtime::Runtime;
use throughline_model::digest::sha256_parts;
use throughline_model::project::Project;
use throughline_notes::markdown;
use throughline_notes::registry::Registry;
use throughline_store::{NoteChange, PutNoteOutcome, Store, SyncedFile};

/// How many changes are made in one transaction. Hooks wait meanwhile, so this is limited.
const BATCH: usize = 200;

/// The context in which steps are carried out.
pub(super) struct SyncContext<'a> {
    pub(super) runtime: &'a Runtime,
    pub(super) project: &'a Project,
    pub(super) folder: &'a Folder,
    pub(super) registry: &'a Registry,
    pub(super) key: &'a str,
}

pub(super) fn apply_steps(work: &SyncContext<'_>, store: &mut Store, steps: &[Step], report: &mut SyncReport) -> Result<()> {
    for batch in steps.chunks(BATCH) {
        let mut changes = Vec::new();
        for step in batch {
            match step {
                Step::Store { path, file } => {
                    changes.push(NoteChange::Put { note: file.note.clone(), stem: stem_of(path).to_owned() });
                }
                Step::Edit { row, file, .. } => changes.push(NoteChange::Edit { row: *row, note: file.note.clone() }),
                Step::Rename { path, row, note, .. } | Step::Write { path, row: Some(row), note } => {
                    changes.push(NoteChange::Name { row: *row, note: note.clone(), stem: stem_of(path).to_owned() });
                }
                Step::Delete { row, .. } => changes.push(NoteChange::Delete { row: *row }),
                _ => {}
            }
        }
        let texts = redacted_files(work, batch)?;
        store.sync_notes(work.project, &changes, work.registry, work.runtime.now, work.key, |puts| -> Result<_> {
            let mut puts = puts.into_iter();
            let mut agreements = Vec::with_capacity(batch.len());
            for (step, text) in batch.iter().zip(texts) {
                match apply_file_step(work, step, text.as_deref(), &mut puts)? {
                    Ok(agreed) => {
                        agreements.push((step.path().to_owned(), agreed));
                        report.count(step);
                    }
                    Err(why) => report.told.push(SyncRemark { path: step.path().to_owned(), why: why.to_string() }),
                }
            }
            Ok(agreements)
        })?;
    }
    if store.has_large_wal() {
        store.checkpoint()?;
    }
    Ok(())
}

/// Returns the redacted texts of the files that the steps write. The rules may be newer than the stored notes.
fn redacted_files(work: &SyncContext<'_>, steps: &[Step]) -> Result<Vec<Option<String>>> {
    let mut texts: Vec<Option<String>> = steps
        .iter()
        .map(|step| match step {
            Step::Write { note, .. } | Step::Rewrite { note, .. } | Step::Conflict { note, .. } => {
                Some(markdown::format_note(note, work.registry))
            }
            _ => None,
        })
        .collect();
    redaction::in_place(work.runtime, Some(&work.project.root), texts.iter_mut().flatten().collect())?;
    Ok(texts)
}

/// Why a step stored nothing.
#[derive(Debug, thiserror::Error)]
enum NotStored {
    /// A note with this content is stored under another name.
    #[error("it has the same content as {note_type}/{stem}: it was not stored again")]
    Duplicate { note_type: String, stem: String },
    /// The content was deleted for good.
    #[error("its content was deleted for good here")]
    Forgotten,
}

/// Carries out a step's part outside the database; the database part is already done. Returns the new state of file and
/// note, or `None` if there is no file. The inner error says why nothing was done.
fn apply_file_step(
    work: &SyncContext<'_>,
    step: &Step,
    text: Option<&str>,
    puts: &mut impl Iterator<Item = PutNoteOutcome>,
) -> Result<std::result::Result<Option<SyncedFile>, NotStored>> {
    let write = |path: &str| -> Result<([u8; 32], FileStat)> {
        let text = text.unwrap_or_default();
        let stat = work.folder.write(path, text).with_context(|| work.folder.path.join(path).display().to_string())?;
        Ok((sha256_parts(&[text]), without_racy_time(stat, SystemTime::now())))
    };
    Ok(Ok(match step {
        Step::Store { file, .. } | Step::Edit { file, .. } => match puts.next() {
            Some(PutNoteOutcome::Stored { .. }) => Some(file.agreed(work.registry)),
            Some(PutNoteOutcome::Duplicate { note_type, stem, .. }) => {
                return Ok(Err(NotStored::Duplicate { note_type, stem }));
            }
            _ => return Ok(Err(NotStored::Forgotten)),
        },
        Step::Rename { agreed, .. } => {
            puts.next();
            Some(agreed.clone())
        }
        Step::Delete { .. } => {
            puts.next();
            None
        }
        Step::Write { path, row, note } => {
            if row.is_some() {
                puts.next();
            }
            let (file_hash, stat) = write(path)?;
            Some(agreed(note, work.registry, file_hash, stat))
        }
        Step::Rewrite { path, note } => {
            let (file_hash, stat) = write(path)?;
            Some(agreed(note, work.registry, file_hash, stat))
        }
        Step::Remove { path } => {
            work.folder.remove(path).with_context(|| work.folder.path.join(path).display().to_string())?;
            None
        }
        Step::Conflict { path, agreed, .. } => {
            write(&conflict_path(path))?;
            Some(agreed.clone())
        }
        Step::Agree { agreed, .. } => Some(agreed.clone()),
        Step::Forget { .. } => None,
    }))
}
