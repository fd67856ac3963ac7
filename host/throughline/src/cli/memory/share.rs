//! `throughline memory share`, `unshare` and `suggest-shared`: memories that all projects see.

use std::io::Write;

use serde::Serialize;

use super::selection;
use crate::cli::copies;
use crate::cli::error::CommandError;
use crate::cli::output::{self, BOLD, DIM};
use throughline_engine::memory::deletion;
use throughline_engine::runtime::Runtime;
use throughline_platform::paths;
use throughline_store::{MemoryRecord, Store};

/// Share a memory with all projects
///
/// The sessions of every project then get the memory when it is relevant, and searches in every project find it (see
/// `[sharing]` in the configuration). Deleting the memory deletes it everywhere.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The identifier of the memory, or a unique beginning of it
    id: String,
    /// Print an object: id, shared (the identifier of the copy that all projects see)
    #[arg(long)]
    json: bool,
}

/// Stop sharing a memory with all projects
///
/// The memory stays in the project in which it was learned.
#[derive(clap::Args)]
pub(super) struct UnshareArguments {
    /// The identifier of the memory or of the copy that all projects see, or a unique beginning of it
    id: String,
    /// Print an object: id, unshared
    #[arg(long)]
    json: bool,
}

/// List memories that three or more projects learned independently
///
/// Lists failures that are the same and preferences that say the same. Nothing is shared automatically: to share one of
/// them, run `throughline memory share ID`.
#[derive(clap::Args)]
pub(super) struct SuggestArguments {
    /// Print an array of objects: id, type, title, projects
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Shared<'a> {
    id: &'a str,
    shared: &'a str,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Unshared<'a> {
    id: &'a str,
    unshared: bool,
}

pub(super) fn share(runtime: &Runtime, mut store: Store, arguments: &Arguments) -> Result<(), CommandError> {
    let MemoryRecord { memory: found, digest, .. } = selection::find(&store, &arguments.id)?;
    if store.folded(&found.id)?.is_some() {
        return Err(CommandError::new(format!("{} is a digest of several memories", output::clean_line(&found.id)))
            .hint("share one of those memories; the digest contains their identifiers"));
    }
    if let Some(digest) = digest
        && store.folded(&digest)?.is_some_and(|folded| folded.purged_at.is_some())
    {
        return Err(CommandError::new(format!("the text of {} was deleted", output::clean_line(&found.id)))
            .hint("save what its digest says about it with `throughline memory save`, and share that"));
    }
    let copy = store.share(&found.id, runtime.now)?.ok_or_else(|| {
        CommandError::new(format!("{} is shared already", output::clean_line(&found.id)))
            .hint("`throughline memory unshare` stops sharing it")
    })?;
    if arguments.json {
        return output::json(&Shared { id: &found.id, shared: &copy });
    }
    let mut out = output::stdout();
    let title = output::clean_line(&found.title);
    writeln!(out, "shared with all projects: {title} {DIM}(as {copy}){DIM:#}")?;
    Ok(out.flush()?)
}

pub(super) fn unshare(_: &Runtime, mut store: Store, arguments: &UnshareArguments) -> Result<(), CommandError> {
    let found = selection::find(&store, &arguments.id)?.memory;
    let unshared = store.unshare(&found.id)?;
    if !unshared {
        return Err(CommandError::new(format!("{} is not shared", output::clean_line(&found.id)))
            .hint("`throughline memory list` shows shared memories with the project (shared)"));
    }
    copies::warn_of_copies(store.path())?;
    deletion::clear_free_space(&store, "not shared any more")?;
    if arguments.json {
        return output::json(&Unshared { id: &found.id, unshared });
    }
    let mut out = output::stdout();
    writeln!(out, "no longer shared: {}", output::clean_line(&found.title))?;
    Ok(out.flush()?)
}

pub(super) fn suggest(runtime: &Runtime, store: &Store, arguments: &SuggestArguments) -> Result<(), CommandError> {
    let suggestions = store.suggestions()?;
    if arguments.json {
        return output::json(&suggestions);
    }
    let mut out = output::stdout();
    for of in &suggestions {
        let (id, kind) = (output::clean_line(&of.id), output::clean_line(&of.kind));
        writeln!(out, "{DIM}{id}{DIM:#}  {kind}  {BOLD}{}{BOLD:#}", output::clean_line(&of.title))?;
        for project in &of.projects {
            writeln!(out, "    {DIM}{}{DIM:#}", output::clean_line(&paths::display(project.as_ref(), &runtime.paths.home)))?;
        }
    }
    out.flush()?;
    if suggestions.is_empty() {
        writeln!(anstream::stderr().lock(), "no memory that is not shared yet was learned by three projects")?;
    }
    Ok(())
}
