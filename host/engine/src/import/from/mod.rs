//! Imports the memories of other systems, converted to import lines. There is one adapter for each system. It finds the
//! sources, reads them without changing them, and reports what became of every row.

mod claude_mem;
mod claude_memory;
mod claude_memory_layer;
mod database;
mod input;
mod jikime_adk;
mod jikime_mem;
mod markdown;
mod memory_keeper;
mod normalize;
mod openclaw;
mod report;
mod session_context;
mod sink;
mod sources;
mod system;
mod threads;
mod turns;

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::Importer;
use crate::runtime::Runtime;
pub use report::{PartReport, SourceError, SystemReport};
use sink::Sink;
pub use sources::{NothingFound, find};
pub use system::System;
use throughline_store::Store;

/// All systems, in the order of the help.
pub static ALL: [&System; 9] = [
    &jikime_mem::SYSTEM,
    &jikime_adk::SYSTEM,
    &claude_mem::SYSTEM,
    &claude_memory_layer::SYSTEM,
    &openclaw::SYSTEM,
    &memory_keeper::SYSTEM,
    &session_context::SYSTEM,
    &claude_memory::SYSTEM,
    &markdown::SYSTEM,
];

/// Imports the sources into the store; without a store, only examines them. Rows without a project belong to `default`,
/// or if that is not given, to the project that stands for the system itself. `progress` gets the number of rows read.
///
/// A row that cannot be used is reported, and the import continues. An error comes from the redactors or the store.
pub fn run(
    runtime: &Runtime,
    store: Option<&mut Store>,
    dry_run: bool,
    system: &'static System,
    sources: &[PathBuf],
    default: Option<&Path>,
    mut progress: impl FnMut(u64),
) -> Result<SystemReport> {
    let here = std::env::current_dir().unwrap_or_default();
    let known = match &store {
        Some(store) => store.all_projects()?,
        None => Vec::new(),
    };
    let fallback = match default {
        Some(folder) => Some(folder.to_string_lossy().into_owned()),
        None => system.has_own_project.then(|| system.name.to_owned()),
    };
    let importer = Importer::new(runtime, store, !dry_run, default.unwrap_or(&here))?;
    let home = runtime.paths.home.clone();
    let mut sink = Sink::new(importer, system, home, &known, fallback, dry_run, &mut progress);
    for source in sources {
        sink.begin_source(source);
        (system.read)(source, &mut sink)?;
    }
    sink.finish()
}
