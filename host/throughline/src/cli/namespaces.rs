//! `throughline namespaces`: lists the namespaces.

use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;

use super::environment;
use super::error::CommandError;
use super::output::{self, BOLD};
use throughline_engine::hooks::STORE_BUSY_TIMEOUT;
use throughline_platform::namespace;
use throughline_store::{Access, StoreError};

/// List the namespaces, which are separate memories
///
/// An agent that is started with `THROUGHLINE_NAMESPACE=NAME` in its environment has a separate memory, which no other
/// agent sees. To look into that memory, add `--namespace NAME` to any command.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Print an array of objects: name (null for the memory without a namespace), memories, bytes, current
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct NamespaceEntry {
    name: Option<String>,
    memories: u64,
    bytes: u64,
    current: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let paths = environment::paths()?;
    let names = namespace::list_namespaces(&paths).map_err(|error| {
        CommandError::new(format!("cannot list the namespaces in {}: {error}", paths.default_namespace_data().display()))
            .hint("check the owner and mode of that folder")
    })?;
    let mut namespaces = Vec::new();
    for name in std::iter::once(None).chain(names.into_iter().map(Some)) {
        let paths_inside = paths.clone().in_namespace(name.as_deref());
        let runtime = environment::runtime_of(paths_inside)?;
        let stats = match runtime.store(Access::Existing, STORE_BUSY_TIMEOUT * 4) {
            Ok(store) => store.stats(None)?,
            Err(StoreError::Missing(_)) => throughline_store::Stats::default(),
            Err(error) => return Err(error.into()),
        };
        let current = name == paths.namespace;
        namespaces.push(NamespaceEntry { name, memories: stats.memories, bytes: stats.bytes, current });
    }
    if arguments.json {
        output::json(&namespaces)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = output::stdout();
    for entry in &namespaces {
        let name = output::pad(entry.name.as_deref().unwrap_or("(none)"), 20);
        let memories = output::counted(entry.memories, "memory", "memories");
        writeln!(
            out,
            "{} {BOLD}{name}{BOLD:#}  {memories}, {}",
            if entry.current { "*" } else { " " },
            output::bytes(entry.bytes)
        )?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
