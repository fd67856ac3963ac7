//! `throughline memory share`, `unshare` and `suggest-shared`.

use std::io::Write;

use serde::Serialize;

use super::output::{self, BOLD, DIM};
use super::{Failure, Runtime, Store};
use throughline_engine::memory::forgetting;
use throughline_model::project::Project;
use throughline_platform::paths;
use throughline_store::Found;

/// Share a memory with all projects
///
/// Every project's sessions are then told of it where it matters to them, and its searches find it (see `[sharing]` in the
/// configuration). It is gone everywhere when the memory itself is deleted or forgotten.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The memory's identifier, or a beginning of it that no other has
    id: String,
    /// Print an object: id, shared (the identifier of the copy that all projects see)
    #[arg(long)]
    json: bool,
}

/// Take back that a memory was shared
///
/// The memory itself stays where it was learned.
#[derive(clap::Args)]
pub(super) struct Removal {
    /// The identifier of the memory, or of the copy that all projects see, or a beginning of it
    id: String,
    /// Print an object: id, unshared
    #[arg(long)]
    json: bool,
}

/// List what three projects or more learned, each by itself
///
/// Failures that are the same, and preferences that say the same. Nothing is shared by itself: accept one with `throughline
/// memory share ID`.
#[derive(clap::Args)]
pub(super) struct Suggesting {
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

pub(super) fn share(runtime: &Runtime, mut store: Store, arguments: &Arguments) -> Result<(), Failure> {
    let Found { memory: found, digest, .. } = super::find(&store, &arguments.id)?;
    if store.folded(&found.id)?.is_some() {
        return Err(Failure::new(format!("{} is a digest of several memories", output::clean_line(&found.id)))
            .hint("share the one of them that matters everywhere: its identifier stands in the digest"));
    }
    if let Some(digest) = digest
        && store.folded(&digest)?.is_some_and(|folded| folded.purged_at.is_some())
    {
        return Err(Failure::new(format!("the text of {} was deleted", output::clean_line(&found.id)))
            .hint("write down what its digest says of it with `throughline memory save`, and share that"));
    }
    let copy = store.share(&found.id, runtime.now)?.ok_or_else(|| {
        Failure::new(format!("{} is a memory that is shared already", output::clean_line(&found.id)))
            .hint("`throughline memory unshare` takes that back")
    })?;
    if arguments.json {
        return output::json(&Shared { id: &found.id, shared: &copy });
    }
    let mut out = output::stdout();
    let title = output::clean_line(&found.title);
    writeln!(out, "shared with all projects: {title} {DIM}(as {copy}){DIM:#}")?;
    Ok(out.flush()?)
}

pub(super) fn unshare(_: &Runtime, mut store: Store, arguments: &Removal) -> Result<(), Failure> {
    let found = super::find(&store, &arguments.id)?.memory;
    let unshared = store.unshare(&found.id)?;
    if !unshared {
        return Err(Failure::new(format!("{} is not shared", output::clean_line(&found.id)))
            .hint("`throughline memory list` shows what is, under the project (shared)"));
    }
    super::warn_of_copies(store.path())?;
    forgetting::erase(&store, "not shared any more")?;
    if arguments.json {
        return output::json(&Unshared { id: &found.id, unshared });
    }
    let mut out = output::stdout();
    writeln!(out, "not shared any more: {}", output::clean_line(&found.title))?;
    Ok(out.flush()?)
}

pub(super) fn suggest(runtime: &Runtime, store: &Store, arguments: &Suggesting) -> Result<(), Failure> {
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
        let shared = Project::shared();
        writeln!(
            anstream::stderr().lock(),
            "nothing that three projects learned and that is not {} yet",
            shared.root.display().to_string().trim_matches(['(', ')'])
        )?;
    }
    Ok(())
}
