//! `throughline policy compile`: compiles policies into the system's folder, for a machine with managed configuration.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use super::compiling::COMPILE_TIMEOUT;
use super::selection::broken_policy;
use crate::cli::error::CommandError;
use crate::cli::output;
use throughline_engine::runtime::Runtime;
use throughline_platform::open::FolderOptions as _;
use throughline_platform::{permissions, process};
use throughline_sandbox::cache::Cache;
use throughline_sandbox::chain::Sandbox;
use throughline_sandbox::folder::{self, Owner};

/// Compile policies into the system's folder, as root
///
/// On a machine with managed configuration, users can exchange the compiled policies in their own caches. Once
/// /etc/throughline/components exists, code is loaded only from there. This command creates that folder, and compiles the
/// default policy, those in /etc/throughline/policies, and those in the given folders. Run it again after every update of
/// Throughline or of a policy: until then, policies that are not compiled there do not run.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Folders of other policies that users may run
    #[arg(value_name = "DIR")]
    policies: Vec<PathBuf>,
}

pub(super) fn run(runtime: &Runtime, arguments: &Arguments) -> Result<ExitCode, CommandError> {
    if !permissions::OWNERS_ARE_KNOWN {
        return Err(CommandError::new("policies for everybody on this machine are not supported on this system yet")
            .hint("a command compiles your own policies when it first needs them"));
    }
    if !process::is_root() {
        return Err(CommandError::new("only root can compile policies for everybody on this machine")
            .hint("run it with sudo; hooks compile your own policies by themselves"));
    }
    let system = runtime.paths.managed_components();
    let cannot = |error: &dyn std::fmt::Display| {
        CommandError::new(format!("{}: {error}", system.display())).hint("check the owner and mode of the folder")
    };
    std::fs::DirBuilder::new().recursive(true).mode_bits(0o755).create(&system).map_err(|error| cannot(&error))?;
    let cache = Cache::of_system(&system);
    let until = Instant::now() + COMPILE_TIMEOUT;
    let mut out = output::stdout();
    let sandbox = Sandbox::new(cache.clone())?;
    sandbox.default_policy(Some(until))?;
    let (managed, broken) = folder::scan(&runtime.paths.managed.join("policies"), Owner::Root, &cache);
    let mut found: Vec<_> = managed.into_iter().map(|policy| (policy, Owner::Root)).collect();
    for path in &arguments.policies {
        found.push((folder::read(path, Owner::User, &cache).map_err(|broken| broken_policy(&broken))?, Owner::User));
    }
    for (policy, owner) in &found {
        let wasm = policy.component(*owner).map_err(CommandError::new)?;
        sandbox.load_or_compile(&policy.digest, &wasm, until)?;
    }
    let names = std::iter::once("default").chain(found.iter().map(|(policy, _)| policy.manifest.name.as_str()));
    for name in names {
        writeln!(out, "compiled {name}")?;
    }
    out.flush()?;
    match broken.first() {
        Some(broken) => Err(broken_policy(broken)),
        None => Ok(ExitCode::SUCCESS),
    }
}
