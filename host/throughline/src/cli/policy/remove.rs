//! `throughline policy remove`.

use std::io::Write;

use super::{Done, Failure, Place, Runtime};
use crate::cli::output::{self, BOLD};
use throughline_sandbox::ledger::Editor;
use throughline_sandbox::shelf;

/// Take a policy out of your policies, or a project's, with what it was granted
///
/// What it made is remembered on.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The policy's name
    name: String,
    #[command(flatten)]
    place: Place,
}

pub(super) fn run(runtime: &Runtime, arguments: &Arguments) -> Result<Done, Failure> {
    let root = super::root()?;
    let roster = super::roster(runtime, &root)?;
    let candidate = super::named(&roster, &arguments.name, arguments.place)?;
    shelf::remove(&candidate.found)?;
    runtime.reporter().failures.borrow_mut().forgive(&candidate.found.digest);
    let mut editor = Editor::open(&runtime.paths.policy_ledger())?;
    editor.forget(arguments.place.whose(&root), &arguments.name);
    editor.save()?;
    let mut out = output::stdout();
    writeln!(out, "{BOLD}removed{BOLD:#} {}", arguments.name)?;
    out.flush()?;
    Ok(Done::Well)
}
