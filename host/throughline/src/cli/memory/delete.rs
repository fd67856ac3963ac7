//! `throughline memory delete`: deletes memories by their identifiers.

use std::io::Write;

use serde::Serialize;

use super::forget;
use super::selection;
use crate::cli::copies;
use crate::cli::error::CommandError;
use crate::cli::output;
use crate::cli::scope::{self, Scope};
use throughline_engine::memory::deletion::{self, DeleteReport, DeletedMemory, Deletion};
use throughline_engine::runtime::Runtime;
use throughline_store::Store;

/// Delete memories
///
/// A deleted memory does not come back when its transcript is read again, and no free page of the database contains it.
/// For a day, `throughline memory unforget` brings it back, unless `--now` is given. Notes and summaries of its session
/// may still mention it: `throughline memory forget --match` deletes those too. If one of the identifiers is unknown,
/// nothing is deleted. The beginning of an identifier only stands for a memory of the current project, unless an option says
/// otherwise.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Identifiers, or unique beginnings of them
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    #[command(flatten)]
    scope: Scope,
    /// Show what would be deleted and delete nothing
    #[arg(long)]
    dry_run: bool,
    /// Erase it from every byte at once, and what was forgotten within the last day too
    #[arg(long)]
    now: bool,
    /// Print an object: deleted (id, type, title, pinned), `dry_run`, undo
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[expect(clippy::struct_field_names, reason = "the names are those of the output")]
pub(super) struct Deleted {
    deleted: Vec<DeletedMemory>,
    /// Whether nothing was deleted.
    dry_run: bool,
    /// The identifier for `throughline memory unforget`; null if it cannot be brought back.
    undo: Option<String>,
}

pub(super) fn run(runtime: &Runtime, mut store: Store, arguments: &Arguments) -> Result<(), CommandError> {
    let project = arguments.scope.project(runtime)?;
    let find = |id: &String| selection::find_to_delete(&store, id, project.as_ref());
    let found = arguments.ids.iter().map(find).collect::<Result<Vec<_>, _>>()?;
    let ids: Vec<String> = found.into_iter().map(|found| found.memory.id).collect();
    let deletion = match (arguments.dry_run, arguments.now) {
        (true, _) => Deletion::Preview,
        (false, false) => Deletion::Undoable,
        (false, true) => Deletion::Final,
    };
    let projects = store.all_projects()?;
    let roots = projects_of(&store, &ids)?;
    let DeleteReport { listed: deleted, undo, .. } = deletion::delete(runtime, &mut store, &ids, deletion)?;
    if !arguments.dry_run {
        copies::warn_of_copies(store.path())?;
    }
    if arguments.json {
        return output::json(&Deleted { deleted, dry_run: arguments.dry_run, undo });
    }
    let mut out = output::stdout();
    for project in projects.iter().filter(|project| roots.contains(&project.root.to_string_lossy().into_owned())) {
        writeln!(out, "in {}:", scope::describe(project, &runtime.paths.home))?;
    }
    forget::write_memories(&mut out, &deleted, deleted.len() as u64)?;
    let verb = if arguments.dry_run { "would delete" } else { "deleted" };
    writeln!(out, "{verb} {}", output::counted(deleted.len() as u64, "memory", "memories"))?;
    out.flush()?;
    if let Some(id) = undo {
        writeln!(anstream::stderr().lock(), "{}", forget::undo_hint(&id))?;
    }
    Ok(())
}

/// Returns the roots of the projects that the memories belong to.
fn projects_of(store: &Store, ids: &[String]) -> Result<Vec<String>, CommandError> {
    let mut roots = Vec::new();
    for id in ids {
        roots.extend(store.memory(id, None)?.into_iter().filter(|found| found.memory.id == *id).map(|found| found.project));
    }
    Ok(roots)
}
