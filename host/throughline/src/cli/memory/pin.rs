//! `throughline memory pin` and `unpin`: memories that every session is told of at its start.

use std::io::Write;

use serde::Serialize;

use super::links;
use super::selection;
use super::wrong::change;
use crate::cli::error::CommandError;
use crate::cli::output;
use throughline_engine::memory::marking;
use throughline_engine::runtime::Runtime;
use throughline_model::contract::Memory;
use throughline_store::Store;

/// Pin a memory: every session is told of it at its start
///
/// A pinned memory stands on the page at the start of each session of its project, before everything else, whatever the
/// policies tell. It does not age, no cleaning removes it, and reading its transcript again does not take it back. At most
/// twelve memories of a project can be pinned; together they take at most a third of the page, so long ones are cut. If you
/// correct a pinned memory, the correction is told in its place. `throughline memory unpin` undoes it.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The identifier of the memory, or a unique beginning of it
    id: String,
    /// Show what would change and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print an object: id, type, title, pinned, changed, `dry_run`
    #[arg(long)]
    json: bool,
}

/// Unpin a memory
///
/// It stays, and is told like any other memory.
#[derive(clap::Args)]
pub(super) struct UnpinArguments {
    /// The identifier of the memory, or a unique beginning of it
    id: String,
    /// Show what would change and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print an object: id, type, title, pinned, changed, `dry_run`
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct PinResult<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    title: &'a str,
    /// Whether it is pinned now, or would be.
    pinned: bool,
    /// False if it was so before.
    changed: bool,
    /// Whether nothing was changed.
    dry_run: bool,
}

pub(super) fn pin(runtime: &Runtime, mut store: Store, arguments: &Arguments) -> Result<(), CommandError> {
    let found = selection::find(&store, &arguments.id)?;
    let dry_run = arguments.dry_run;
    let changed = marking::pin(runtime, &mut store, &found, change(dry_run))?;
    let what = match (changed, dry_run) {
        (true, false) => "pinned",
        (true, true) => "would be pinned",
        (false, _) => "pinned already",
    };
    print(&PinResult::new(&found.memory, true, changed, dry_run), what, arguments.json)
}

pub(super) fn unpin(_: &Runtime, mut store: Store, arguments: &UnpinArguments) -> Result<(), CommandError> {
    let found = selection::find(&store, &arguments.id)?;
    let dry_run = arguments.dry_run;
    let changed = marking::unpin(&mut store, &found, change(dry_run))?;
    let what = match (changed, dry_run) {
        (true, false) => "no longer pinned",
        (true, true) => "would no longer be pinned",
        (false, _) => "not pinned",
    };
    print(&PinResult::new(&found.memory, false, changed, dry_run), what, arguments.json)
}

impl<'a> PinResult<'a> {
    fn new(memory: &'a Memory, pinned: bool, changed: bool, dry_run: bool) -> Self {
        Self { id: &memory.id, kind: &memory.kind, title: &memory.title, pinned, changed, dry_run }
    }
}

fn print(done: &PinResult<'_>, what: &str, json: bool) -> Result<(), CommandError> {
    if json {
        return output::json(done);
    }
    let mut out = output::stdout();
    writeln!(out, "{what}: {}", links::one_line(done.id, done.kind, done.title))?;
    Ok(out.flush()?)
}
