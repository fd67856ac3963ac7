//! `throughline policy remove`: removes a policy.

use std::io::Write;
use std::process::ExitCode;

use super::selection::{self, PolicyScope};
use crate::cli::error::CommandError;
use crate::cli::output::{self, BOLD};
use throughline_engine::runtime::Runtime;
use throughline_sandbox::install;
use throughline_sandbox::user_config::UserConfigEditor;

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
    let root = selection::root()?;
    let registry = selection::registry(runtime, &root)?;
    let candidate = selection::named(&registry, &arguments.name, arguments.scope)?;
    install::remove(&candidate.found)?;
    runtime.reporter().failures.borrow_mut().clear_failures(&candidate.found.digest);
    let mut editor = UserConfigEditor::open(&runtime.paths.user_policy_config())?;
    editor.forget(arguments.scope.whose(&root), &arguments.name);
    editor.save()?;
    let mut out = output::stdout();
    writeln!(out, "{BOLD}removed{BOLD:#} {}", arguments.name)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
