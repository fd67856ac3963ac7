//! `throughline policy add`: installs a policy.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use super::compiling::compile_and_report;
use super::selection::{self, PolicyScope};
use crate::cli::error::CommandError;
use crate::cli::output::{self, BOLD};
use throughline_engine::runtime::Runtime;
use throughline_sandbox::folder::{self, Owner};
use throughline_sandbox::install;
use throughline_sandbox::user_config::UserConfigEditor;

/// Install a policy for yourself or for a project
///
/// Copies the policy from a folder with a policy.toml and a component, such as `throughline policy build` writes to
/// dist/. The policy runs once it is granted what it asks for.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The folder of the policy
    path: PathBuf,
    /// Grant everything that the policy asks for
    #[arg(long)]
    grant: bool,
    /// Replace an existing policy with the same name
    #[arg(long)]
    replace: bool,
    #[command(flatten)]
    scope: PolicyScope,
}

pub(super) fn run(runtime: &Runtime, arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let root = selection::root()?;
    let cache = runtime.managed.cache(&runtime.paths);
    let found = folder::read(&arguments.path, Owner::User, &cache).map_err(|broken| selection::broken_policy(&broken))?;
    let name = found.manifest.name.clone();
    if found.manifest.build.is_some() || found.manifest.sha256.is_none() {
        return Err(CommandError::new(format!("{} is a source folder", arguments.path.display())).hint(format!(
            "run `throughline policy build {0}`, then `throughline policy add {0}/dist/{name}`",
            arguments.path.display()
        )));
    }
    let folder = arguments.scope.folder(runtime, &root)?;
    let installed = install::add(&found, &folder, arguments.replace)
        .map_err(|error| CommandError::new(format!("{error:#}")).hint("--replace replaces an existing policy"))?;
    let asked = &found.manifest.capabilities;
    if arguments.grant {
        let mut editor = UserConfigEditor::open(&runtime.paths.user_policy_config())?;
        editor.grant(arguments.scope.whose(&root), &name, asked);
        editor.save()?;
    }
    let mut out = output::stdout();
    writeln!(out, "{BOLD}added{BOLD:#} {name} {} to {}", output::clean_line(&found.manifest.version), installed.display())?;
    compile_and_report(runtime, &root, &name, arguments.scope, &mut out)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
