//! Folds old, unused memories into digests: on request, and after the end of a session.

use std::time::{Duration, Instant};

use anyhow::Result;
use serde::Serialize;

use crate::runtime::Runtime;
use throughline_model::project::Project;
use throughline_store::{DigestSource, FoldGroup, FoldOptions, Store, StoreError};

/// A day, milliseconds.
const DAY: u64 = 24 * 60 * 60 * 1000;

/// How long the background process works on one project. It continues the next day.
const BACKGROUND_TIMEOUT: Duration = Duration::from_secs(30);

/// What was folded, or would be folded.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompressionReport {
    /// The number of memories folded into digests.
    pub memories: u64,
    /// The digests.
    pub digests: Vec<Digest>,
    /// Whether this was a dry run.
    pub dry_run: bool,
}

/// One digest.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Digest {
    /// The digest's identifier; null in a dry run.
    pub id: Option<String>,
    /// The digest's type, which is that of its sources.
    #[serde(rename = "type")]
    pub kind: String,
    /// The root folder of the digest's project.
    pub project: String,
    /// The folded memories, oldest first.
    pub sources: Vec<FoldedMemory>,
}

/// A folded memory.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoldedMemory {
    /// The memory's identifier.
    pub id: String,
    /// The memory's title, or its line in the digest if its text was purged.
    pub title: String,
    /// When it was created: RFC 3339, UTC.
    pub created_at: String,
}

impl From<DigestSource> for FoldedMemory {
    fn from(source: DigestSource) -> Self {
        Self { id: source.id, title: source.title, created_at: crate::export::format_timestamp(source.created) }
    }
}

/// Reads from the configuration what to fold. `days` overrides the configured age.
fn folding_options<'a>(runtime: &Runtime, project: Option<&'a Project>, days: Option<u32>) -> FoldOptions<'a> {
    let settings = &runtime.config.compress;
    let days = days.unwrap_or(settings.older_than_days);
    FoldOptions {
        project: project.map(|project| project.id.as_str()),
        before: runtime.now.saturating_sub(u64::from(days) * DAY),
        below: settings.below,
        turns: settings.turns,
        summaries: settings.summaries,
        now: runtime.now,
    }
}

/// Folds old memories, one transaction per digest. Without `really`, only reports what would be folded.
pub fn compress(
    runtime: &Runtime,
    store: &mut Store,
    project: Option<&Project>,
    days: Option<u32>,
    really: bool,
) -> Result<CompressionReport> {
    let folding = folding_options(runtime, project, days);
    let projects = store.all_projects()?;
    let mut report = CompressionReport { dry_run: !really, ..CompressionReport::default() };
    for group in store.foldable(&folding)? {
        let sources = store.group_sources(&group)?;
        let (id, sources) = if really {
            let Some(id) = store.fold(&group, &folding)? else { continue };
            // Another process may have changed the group meanwhile.
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
            sources: sources.into_iter().map(FoldedMemory::from).collect(),
        });
    }
    Ok(report)
}

/// Returns whether a project's memories are due for automatic folding.
pub fn is_due(runtime: &Runtime, store: &Store, project: &Project) -> Result<bool, StoreError> {
    if !runtime.config.compress.auto {
        return Ok(false);
    }
    store.is_folding_due(&project.id, folding_options(runtime, None, None).before, runtime.now)
}

/// Folds a project's old memories for a limited time. Returns the number of memories folded.
pub fn compress_in_background(runtime: &Runtime, store: &mut Store, project: &Project) -> Result<u64> {
    // Another process may have just done it.
    if !is_due(runtime, store, project)? {
        return Ok(0);
    }
    let until = Instant::now() + BACKGROUND_TIMEOUT;
    let folding = folding_options(runtime, Some(project), None);
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

fn fold(store: &mut Store, group: &FoldGroup, folding: &FoldOptions<'_>) -> Result<u64, StoreError> {
    let Some(id) = store.fold(group, folding)? else { return Ok(0) };
    Ok(store.folded(&id)?.map_or(0, |folded| folded.sources.len() as u64))
}

/// Permanently deletes the sources of digests that are old enough. Returns the number of memories.
pub fn purge(runtime: &Runtime, store: &mut Store, project: Option<&Project>, really: bool) -> Result<u64, StoreError> {
    let before = runtime.now.saturating_sub(u64::from(runtime.config.compress.purge_after_days) * DAY);
    store.purge(before, project.map(|project| project.id.as_str()), runtime.now, really)
}
