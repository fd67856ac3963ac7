//! `throughline policy remove`: removes a policy.

use std::io::Write;
use std::process::ExitCode;

use super::{CommandError, PolicyScope, Runtime};
use crate::cli::output::{self, BOLD};
use throughline_sandbox::ledger::Editor;
use throughline_sandbox::shelf;

/// Remove one of your own or a project's policies, and its grants
///
/// The memories that it made stay.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The name of the policy
    name: String,
    #[command(flatten)]
    scope: PolicyScope,
}

pub(super) fn run(runtime: &Runtime, arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let root = super::root()?;
    let roster = super::roster(runtime, &root)?;
    let candidate = super::named(&roster, &arguments.name, arguments.scope)?;
    shelf::remove(&candidate.found)?;
    runtime.reporter().failures.borrow_mut().forgive(&candidate.found.digest);
    let mut editor = Editor::open(&runtime.paths.policy_ledger())?;
    editor.forget(arguments.scope.whose(&root), &arguments.name);
    editor.save()?;
    let mut out = output::stdout();
    writeln!(out, "{BOLD}removed{BOLD:#} {}", arguments.name)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
