//! Old memories that nobody looks at, folded into digests: by hand, and after a session's end.

use std::time::{Duration, Instant};

use anyhow::Result;
use serde::Serialize;

use crate::runtime::Runtime;
use throughline_model::project::Project;
use throughline_store::{Folding, Group, Source, Store, StoreError};

/// A day, milliseconds.
const DAY: u64 = 24 * 60 * 60 * 1000;

/// How long the background works on one project; it goes on the next day.
const LONGEST: Duration = Duration::from_secs(30);

/// What was folded, or would be.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// Memories that are in digests now.
    pub memories: u64,
    /// The digests.
    pub digests: Vec<Digest>,
    /// Whether they only would be made.
    pub dry_run: bool,
}

/// One digest.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Digest {
    /// Its identifier; null where it was not made.
    pub id: Option<String>,
    /// Its type, which is that of its sources.
    #[serde(rename = "type")]
    pub kind: String,
    /// The root folder of its project.
    pub project: String,
    /// What it was made of, oldest first.
    pub sources: Vec<Folded>,
}

/// A memory that was folded.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Folded {
    /// Its identifier.
    pub id: String,
    /// Its title; of one whose text is gone, its line in the digest.
    pub title: String,
    /// RFC 3339, UTC.
    pub created_at: String,
}

impl From<Source> for Folded {
    fn from(source: Source) -> Self {
        Self { id: source.id, title: source.title, created_at: crate::export::written(source.created) }
    }
}

/// What the configuration says is folded; `days` instead of its own.
fn folding<'a>(runtime: &Runtime, project: Option<&'a Project>, days: Option<u32>) -> Folding<'a> {
    let settings = &runtime.config.compress;
    let days = days.unwrap_or(settings.older_than_days);
    Folding {
        project: project.map(|project| project.id.as_str()),
        before: runtime.now.saturating_sub(u64::from(days) * DAY),
        below: settings.below,
        turns: settings.turns,
        summaries: settings.summaries,
        now: runtime.now,
    }
}

/// Folds what is old, a transaction a digest; without `really`, says what would be.
pub fn compress(
    runtime: &Runtime,
    store: &mut Store,
    project: Option<&Project>,
    days: Option<u32>,
    really: bool,
) -> Result<Report> {
    let folding = folding(runtime, project, days);
    let projects = store.all_projects()?;
    let mut report = Report { dry_run: !really, ..Report::default() };
    for group in store.foldable(&folding)? {
        let sources = store.in_group(&group)?;
        let (id, sources) = if really {
            let Some(id) = store.fold(&group, &folding)? else { continue };
            // Others may have changed what is in it.
            let folded = store.folded(&id)?.map_or(sources, |folded| folded.sources);
            (Some(id), folded)
        } else {
            (None, sources)
        };
        let root = projects.iter().find(|of| of.id == group.project).map(|of| of.root.display().to_string());
        report.memories += sources.len() as u64;
        report.digests.push(Digest {
            id,
            kind: group.kind,
            project: root.unwrap_or_default(),
            sources: sources.into_iter().map(Folded::from).collect(),
        });
    }
    Ok(report)
}

/// Whether a project's memories are to be folded without anybody's asking.
pub fn is_due(runtime: &Runtime, store: &Store, project: &Project) -> Result<bool, StoreError> {
    if !runtime.config.compress.auto {
        return Ok(false);
    }
    store.is_folding_due(&project.id, folding(runtime, None, None).before, runtime.now)
}

/// Folds what is old in a project, for some time. Returns how many memories.
pub fn in_background(runtime: &Runtime, store: &mut Store, project: &Project) -> Result<u64> {
    // Another one may just have done it.
    if !is_due(runtime, store, project)? {
        return Ok(0);
    }
    let until = Instant::now() + LONGEST;
    let folding = folding(runtime, Some(project), None);
    let mut folded = 0;
    for group in store.foldable(&folding)? {
        if Instant::now() >= until {
            break;
        }
        folded += fold(store, &group, &folding)?;
    }
    store.mark_folded(&project.id, runtime.now)?;
    Ok(folded)
}

fn fold(store: &mut Store, group: &Group, folding: &Folding<'_>) -> Result<u64, StoreError> {
    let Some(id) = store.fold(group, folding)? else { return Ok(0) };
    Ok(store.folded(&id)?.map_or(0, |folded| folded.sources.len() as u64))
}

/// Deletes for good what digests were made of, where that was long enough ago. Returns how many memories.
pub fn purge(runtime: &Runtime, store: &mut Store, project: Option<&Project>, really: bool) -> Result<u64, StoreError> {
    let before = runtime.now.saturating_sub(u64::from(runtime.config.compress.purge_after_days) * DAY);
    store.purge(before, project.map(|project| project.id.as_str()), runtime.now, really)
}
