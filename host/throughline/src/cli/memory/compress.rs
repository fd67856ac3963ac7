//! `throughline memory compress` and `decompress`.

use std::io::Write;

use serde::Serialize;

use super::output::{self, BOLD, DIM};
use super::{Failure, Runtime, Scope, Store};
use throughline_engine::memory::compressing::{self, Folded};
use throughline_store::Unfolded;

/// Fold old memories that nobody looked at into digests
///
/// Five to thirty memories of one type, of one session or close in time, become one memory of that type with a line of each. They stay
/// stored, but no search finds them and no list shows them, which makes the index smaller; `throughline memory decompress` brings them back
/// as they were. Only what policies found is folded, and of that nothing that was saved by hand too, shared, learned in two places, is
/// still open, has a file, or holds for the project as a whole. What is learned again comes back by itself. The configuration's
/// section `[compress]` says what is old, and whether this is done in the background.
#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    scope: Scope,
    /// Say what would be folded, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Fold what is older than this; without it the configuration's `compress.older_than_days` holds
    #[arg(long, value_name = "DAYS")]
    older_than: Option<u32>,
    /// Print an object: memories, digests (id, type, project, sources), `dry_run`
    #[arg(long)]
    json: bool,
}

/// Bring back what was folded into digests
///
/// The memories are as they were, and the digest is gone. Of a memory that was folded, it alone comes back. Those that `throughline
/// memory gc --purge` took the texts of cannot come back.
#[derive(clap::Args)]
pub(super) struct Reversal {
    /// Identifiers of digests, or of memories that were folded, or beginnings of them that no other has
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Print an object: memories (id, title, `created_at`)
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Back {
    /// What is back.
    memories: Vec<Folded>,
}

pub(super) fn compress(runtime: &Runtime, mut store: Store, arguments: &Arguments) -> Result<(), Failure> {
    let project = arguments.scope.project()?;
    let report = compressing::compress(runtime, &mut store, project.as_ref(), arguments.older_than, !arguments.dry_run)?;
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
        let day = |of: Option<&Folded>| of.map(|of| of.created_at.chars().take(10).collect()).unwrap_or_default();
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

pub(super) fn decompress(runtime: &Runtime, mut store: Store, arguments: &Reversal) -> Result<(), Failure> {
    let found = arguments.ids.iter().map(|id| super::find(&store, id)).collect::<Result<Vec<_>, _>>()?;
    let mut memories: Vec<Folded> = Vec::new();
    for found in found {
        let id = output::clean_line(&found.memory.id);
        match store.unfold(&found.memory.id, runtime.now)? {
            Unfolded::Back(back) => memories.extend(back.into_iter().map(Folded::from)),
            // It is back with the digest, or another one, that was named before it.
            Unfolded::NotFolded if memories.iter().any(|of| of.id == found.memory.id) => {}
            Unfolded::Purged => {
                return Err(Failure::new(format!("the texts of what {id} was made of, or was part of, were deleted"))
                    .hint("the lines of the digest are what is left; `throughline restore` puts a backup back"));
            }
            Unfolded::NotFolded => {
                return Err(Failure::new(format!("{id} is no digest, and is not folded into one"))
                    .hint("`throughline memory show` says of a memory whether it is"));
            }
        }
    }
    if arguments.json {
        return output::json(&Back { memories });
    }
    let mut out = output::stdout();
    for of in &memories {
        writeln!(out, "{DIM}{}{DIM:#}  {}", output::clean_line(&of.id), output::clean_line(&of.title))?;
    }
    writeln!(out, "{} back", output::counted(memories.len() as u64, "memory is", "memories are"))?;
    Ok(out.flush()?)
}
