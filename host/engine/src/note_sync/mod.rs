//! Syncs notes with a folder of Markdown files: what was written, edited, renamed or deleted on one side since the last
//! sync is done on the other side. If both sides changed, both are kept, and a person decides.
//!
//! A sync compares three things: the file, the note, and the state of both when they last agreed (table `note_files`,
//! two digests). So each side's change is detected by itself. One change is carried over; two are a conflict. Then the
//! file stays, the note is written beside it as `NAME.conflict.md`, and when a person has removed that file, the
//! remaining file counts. If one side deleted and the other changed, the change wins. If more than half of the files
//! are gone, as after switching branches, nothing is deleted without `--delete`. An interrupted sync continues where it
//! stopped, because what agrees already is only recorded.
//!
//! Links in the folder are not followed, nothing is written outside of it, and an unreadable file is reported and left as
//! it is ([`folder`]).

mod apply;
pub mod folder;
mod plan;
mod report;
mod step;

use std::collections::HashSet;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::memory::supersession;
use crate::runtime::Runtime;
use apply::{SyncContext, apply_steps};
use folder::Folder;
use plan::{Plan, is_same, new_file, redact_files};
pub use report::{SyncChange, SyncOptions, SyncRemark, SyncReport};
use step::Step;
use throughline_model::project::Project;
use throughline_notes::registry::Registry;
use throughline_store::Store;

/// Syncs the notes of a project with a folder.
pub fn run(
    runtime: &Runtime,
    store: &mut Store,
    project: &Project,
    path: &Path,
    settings: SyncOptions,
) -> Result<SyncReport> {
    let mut report = SyncReport::default();
    let path = &throughline_notes::folder_of_project(&project.root, path)?;
    let Some(folder) = Folder::open(path, settings.is_dry).with_context(|| path.display().to_string())? else {
        // The folder does not exist yet, so each note would get a file.
        let mut taken = HashSet::new();
        for it in store.notes_of(&project.id, &Registry::built_in())? {
            report.written += 1;
            report.changes.push(SyncChange { path: new_file(&it, &mut taken, |_| false), change: "written" });
        }
        return Ok(report);
    };
    let scan = folder.scan().with_context(|| folder.path.display().to_string())?;
    let key = folder.path.to_string_lossy().into_owned();
    let known = store.synced_files(&project.id, &key)?;
    // A session's start waits for this, and most find the folder as it was left.
    if settings.only_in && scan.files.iter().all(|(path, stat)| known.get(path).is_some_and(|known| is_same(known, stat))) {
        report.unchanged = scan.files.len() as u64;
        return Ok(report);
    }
    let registry = Registry::load(&folder.path)?;
    let notes = store.notes_of(&project.id, &registry)?;
    let mut plan = Plan::new(&folder, &registry, project, &scan, known, &notes, settings);
    plan.read_files();
    plan.find_replaced();
    plan.find_moved();
    redact_files(runtime, project, &mut plan)?;
    plan.decide(store)?;
    let Plan { mut steps, told, conflicts, unchanged, .. } = plan;
    if settings.only_in {
        steps.retain(Step::takes_in);
    }
    report.told = told;
    report.conflicts = conflicts;
    report.unchanged = unchanged;
    if settings.is_dry {
        for step in &steps {
            report.count(step);
            let change = step.change().map(|change| SyncChange { path: step.path().to_owned(), change });
            report.changes.extend(change);
        }
        return Ok(report);
    }
    apply_steps(
        &SyncContext { runtime, project, folder: &folder, registry: &registry, key: &key },
        store,
        &steps,
        &mut report,
    )?;
    // A session's start, which only takes in, compares within a bound of its own.
    if !settings.only_in {
        supersession::link_project(store, &project.id, runtime.now)?;
    }
    Ok(report)
}

/// Takes in the notes that were written or edited as files, in the folders with which the project's notes were synced before.
/// The first sync is a person's decision, because a repository may bring files of anybody. Returns how many notes changed.
pub fn take_in(runtime: &Runtime, store: &mut Store, project: &Project) -> Result<u64> {
    let mut changed = 0;
    for folder in store.synced_folders(&project.id)? {
        let folder = Path::new(&folder);
        if folder.is_dir() {
            let options = SyncOptions { only_in: true, ..SyncOptions::default() };
            let report = run(runtime, store, project, folder, options)?;
            changed += report.stored + report.edited + report.renamed;
        }
    }
    Ok(changed)
}
