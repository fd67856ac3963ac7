//! Which memories a command is about.

use std::path::Path;

use clap::Args;

use crate::cli::error::CommandError;
use crate::cli::output;
use crate::cli::scope::Scope;
use throughline_model::project::Project;
use throughline_store::{Marked, MemoryRecord, Store};

/// The options that restrict which memories are searched or listed.
#[derive(Args)]
pub(super) struct Restriction {
    #[command(flatten)]
    pub(super) scope: Scope,
    /// Only memories of this session; the beginning of its identifier is enough
    #[arg(long, value_name = "ID")]
    pub(super) session: Option<String>,
    /// Only these types, such as decision, preference or `error_fix`, or types of notes such as root-cause; can be
    /// repeated
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',')]
    pub(super) types: Vec<String>,
    /// Only pinned memories
    #[arg(long)]
    pinned: bool,
}

impl Restriction {
    /// Whether it leaves out memories of the projects that it is about.
    pub(super) fn is_filtered(&self) -> bool {
        self.session.is_some() || !self.types.is_empty() || self.pinned
    }

    /// Returns what you may have said of the memories, with what `--wrong` means to the command if it was given.
    pub(super) fn marked(&self, wrong: Option<Marked>) -> Marked {
        if self.pinned { Marked::Pinned } else { wrong.unwrap_or(Marked::NotWrong) }
    }
}

/// Returns the memory whose identifier is `id` or begins with it.
pub(super) fn find(store: &Store, id: &str) -> Result<MemoryRecord, CommandError> {
    let unknown = || {
        CommandError::new(format!("there is no memory {id}"))
            .hint("`throughline memory list --all-projects` shows the identifiers")
    };
    check_length(id)?;
    let mut found = store.memory(id, None)?;
    if let Some(exact) = found.iter().position(|found| found.memory.id == id) {
        return Ok(found.swap_remove(exact));
    }
    if found.len() > 1 {
        return Err(ambiguous(id));
    }
    found.pop().ok_or_else(unknown)
}

/// Like [`find`], for a command that deletes: a mere beginning of an identifier only finds memories of the project. `None`
/// stands for all projects.
pub(super) fn find_to_delete(store: &Store, id: &str, project: Option<&Project>) -> Result<MemoryRecord, CommandError> {
    let Some(project) = project else { return find(store, id) };
    check_length(id)?;
    let mut here = store.memory(id, Some(&project.id))?;
    match here.len() {
        0 => {}
        1 => return Ok(here.remove(0)),
        _ => return find(store, id),
    }
    let found = find(store, id)?;
    if found.memory.id == id {
        return Ok(found);
    }
    let root = Path::new(&found.project);
    let name = output::clean_line(&root.file_name().unwrap_or(root.as_os_str()).to_string_lossy());
    Err(CommandError::new(format!(
        "{id} is the beginning of a memory of another project, {name}: {:?}; nothing was deleted",
        output::clean_line(&found.memory.title)
    ))
    .hint(format!("use `--project {name}` or `--all-projects`, or give the whole identifier: {}", found.memory.id)))
}

/// Refuses a beginning of an identifier that is too short: it is more likely a typing error.
pub(super) fn check_length(id: &str) -> Result<(), CommandError> {
    const MIN_LENGTH: usize = 4;
    if id.len() < MIN_LENGTH {
        return Err(CommandError::new(format!("{id:?} is too short for an identifier"))
            .hint("give at least its first four characters"));
    }
    Ok(())
}

/// Returns the error about a beginning that several identifiers have.
pub(super) fn ambiguous(id: &str) -> CommandError {
    CommandError::new(format!("more than one identifier begins with {id}")).hint("give more characters")
}
