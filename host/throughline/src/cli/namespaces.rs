//! `throughline namespaces`.

use std::io::Write;

use serde::Serialize;

use super::failure::{Done, Failure};
use super::output::{self, BOLD};
use throughline_engine::hooks::PATIENCE;
use throughline_platform::namespace;
use throughline_store::{Access, StoreError};

/// List the namespaces that there are
///
/// An agent that is started with `THROUGHLINE_NAMESPACE=NAME` in its environment has a memory of its own: it sees no other's,
/// and no other sees its. `--namespace NAME` before or behind any command looks into it.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Print an array of objects: name (null: outside of all), memories, bytes, current
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Space {
    name: Option<String>,
    memories: u64,
    bytes: u64,
    current: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<Done, Failure> {
    let paths = super::paths()?;
    let names = namespace::all(&paths).map_err(|error| {
        Failure::new(format!("the namespaces in {} cannot be listed: {error}", paths.common().display()))
            .hint("check owner and mode of that folder")
    })?;
    let mut spaces = Vec::new();
    for name in std::iter::once(None).chain(names.into_iter().map(Some)) {
        let there = paths.clone().in_namespace(name.as_deref());
        let runtime = super::runtime_of(there).map_err(Failure::new)?;
        let stats = match runtime.store(Access::Existing, PATIENCE * 4) {
            Ok(store) => store.stats(None)?,
            Err(StoreError::Missing(_)) => throughline_store::Stats::default(),
            Err(error) => return Err(error.into()),
        };
        let current = name == paths.namespace;
        spaces.push(Space { name, memories: stats.memories, bytes: stats.bytes, current });
    }
    if arguments.json {
        output::json(&spaces)?;
        return Ok(Done::Well);
    }
    let mut out = output::stdout();
    for space in &spaces {
        let name = output::pad(space.name.as_deref().unwrap_or("(none)"), 20);
        let memories = output::counted(space.memories, "memory", "memories");
        writeln!(
            out,
            "{} {BOLD}{name}{BOLD:#}  {memories}, {}",
            if space.current { "*" } else { " " },
            output::bytes(space.bytes)
        )?;
    }
    out.flush()?;
    Ok(Done::Well)
}
