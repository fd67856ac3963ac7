//! `throughline memory compress` and `decompress`: fold old memories into digests, and restore them.

use std::io::Write;

use serde::Serialize;

use super::selection;
use crate::cli::error::CommandError;
use crate::cli::output::{self, BOLD, DIM};
use crate::cli::scope::Scope;
use throughline_engine::memory::compression::{self, FoldedMemory};
use throughline_engine::runtime::Runtime;
use throughline_store::{Store, UnfoldOutcome};

/// Fold old unused memories into digests
///
/// Replaces five to thirty memories of one type, from one session or close in time, with one memory of that type that
/// has a line for each. The folded memories stay stored, but searches and lists no longer show them, which makes the
/// index smaller; `throughline memory decompress` restores them unchanged. Only memories that policies made are folded.
/// A memory is not folded if it was also saved by hand, is shared, was learned in two places, is still open, has a
/// file, or applies to the project as a whole. A folded memory that is learned again is restored. `[compress]` in the
/// configuration sets the age, and whether this happens in the background.
#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    scope: Scope,
    /// Show what would be folded and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Fold memories older than this; by default `compress.older_than_days` of the configuration
    #[arg(long, value_name = "DAYS")]
    older_than: Option<u32>,
    /// Print an object: memories, digests (id, type, project, sources), `dry_run`
    #[arg(long)]
    json: bool,
}

impl Arguments {
    /// Whether nothing is changed.
    pub(super) fn is_dry_run(&self) -> bool {
        self.dry_run
    }
}

/// Restore memories that were folded into digests
///
/// With the identifier of a digest, restores its memories and deletes the digest. With the identifier of a folded
/// memory, restores only that memory. Memories whose texts `throughline memory gc --purge` deleted cannot be restored.
#[derive(clap::Args)]
pub(super) struct DecompressArguments {
    /// Identifiers of digests or of folded memories, or unique beginnings of them
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Print an object: memories (id, title, `created_at`)
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Decompressed {
    /// The restored memories.
    memories: Vec<FoldedMemory>,
}

pub(super) fn compress(runtime: &Runtime, mut store: Store, arguments: &Arguments) -> Result<(), CommandError> {
    let project = arguments.scope.project(runtime)?;
    let report = compression::compress(runtime, &mut store, project.as_ref(), arguments.older_than, !arguments.dry_run)?;
    if !arguments.dry_run {
        store.checkpoint()?;
    }
    if arguments.json {
        return output::json(&report);
    }
    let mut out = output::stdout();
    for digest in &report.digests {
        let style = output::kind_style(&digest.kind);
        let (first, last) = (digest.sources.first(), digest.sources.last());
        let day = |of: Option<&FoldedMemory>| of.map(|of| of.created_at.chars().take(10).collect()).unwrap_or_default();
        let (first, last): (String, String) = (day(first), day(last));
        writeln!(
            out,
            "{DIM}{}{DIM:#}  {style}{}{style:#}  {BOLD}{}{BOLD:#} of {first} to {last}",
            output::pad(digest.id.as_deref().unwrap_or("-"), 12),
            output::pad(&output::clean_line(&digest.kind), 15),
            output::counted(digest.sources.len() as u64, "memory", "memories"),
        )?;
    }
    writeln!(
        out,
        "{} {} into {}",
        if report.dry_run { "would fold" } else { "folded" },
        output::counted(report.memories, "memory", "memories"),
        output::counted(report.digests.len() as u64, "digest", "digests"),
    )?;
    Ok(out.flush()?)
}

pub(super) fn decompress(runtime: &Runtime, mut store: Store, arguments: &DecompressArguments) -> Result<(), CommandError> {
    let found = arguments.ids.iter().map(|id| selection::find(&store, id)).collect::<Result<Vec<_>, _>>()?;
    let mut memories: Vec<FoldedMemory> = Vec::new();
    for found in found {
        let id = output::clean_line(&found.memory.id);
        match store.unfold(&found.memory.id, runtime.now)? {
            UnfoldOutcome::Back(back) => memories.extend(back.into_iter().map(FoldedMemory::from)),
            // It was restored with a digest or memory that was named before.
            UnfoldOutcome::NotFolded if memories.iter().any(|of| of.id == found.memory.id) => {}
            UnfoldOutcome::Purged => {
                return Err(CommandError::new(format!(
                    "{id} cannot be restored: the texts of the folded memories were deleted"
                ))
                .hint("only the lines of the digest are left; `throughline restore` restores a backup"));
            }
            UnfoldOutcome::NotFolded => {
                return Err(CommandError::new(format!("{id} is not a digest and was not folded into one"))
                    .hint("`throughline memory show` shows whether a memory is"));
            }
        }
    }
    if arguments.json {
        return output::json(&Decompressed { memories });
    }
    let mut out = output::stdout();
    for of in &memories {
        writeln!(out, "{DIM}{}{DIM:#}  {}", output::clean_line(&of.id), output::clean_line(&of.title))?;
    }
    writeln!(out, "restored {}", output::counted(memories.len() as u64, "memory", "memories"))?;
    Ok(out.flush()?)
}
