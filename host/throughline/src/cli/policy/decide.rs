//! `throughline policy enable|disable|grant|revoke|trust|lock`: the user's decisions about policies.

use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

use super::compiling::{COMPILE_TIMEOUT, compile_and_report};
use super::selection::{self, PolicyScope};
use crate::cli::error::CommandError;
use crate::cli::output::{self, BOLD, DIM};
use throughline_engine::runtime::Runtime;
use throughline_sandbox::capability::{Capabilities, Capability};
use throughline_sandbox::folder::{self, Source};
use throughline_sandbox::lock::{self, Lock as LockFile};
use throughline_sandbox::registry::{Candidate, owner_of};
use throughline_sandbox::user_config::UserConfigEditor;

/// Enable a policy, also one that was disabled because it failed
#[derive(clap::Args)]
pub(super) struct Enable {
    /// The name of the policy
    name: String,
    #[command(flatten)]
    scope: PolicyScope,
}

/// Disable a policy
#[derive(clap::Args)]
pub(super) struct Disable {
    /// The name of the policy
    name: String,
    #[command(flatten)]
    scope: PolicyScope,
}

/// Grant capabilities to a policy
///
/// Capabilities: transcript, memories (or memories:KIND,KIND for some kinds), settings, log, model, wall-clock, random, wasi.
#[derive(clap::Args)]
pub(super) struct Grant {
    /// The name of the policy
    name: String,
    /// The capabilities to grant, as `policy list` prints them
    #[arg(required_unless_present = "all")]
    capabilities: Vec<Capability>,
    /// Grant everything that the policy asks for now
    #[arg(long, conflicts_with = "capabilities")]
    all: bool,
    #[command(flatten)]
    scope: PolicyScope,
}

/// Revoke capabilities of a policy
#[derive(clap::Args)]
pub(super) struct Revoke {
    /// The name of the policy
    name: String,
    /// The capabilities to revoke
    #[arg(required_unless_present = "all")]
    capabilities: Vec<Capability>,
    /// Revoke everything that was granted
    #[arg(long, conflicts_with = "capabilities")]
    all: bool,
    #[command(flatten)]
    scope: PolicyScope,
}

/// Trust the policies of the current project as they are now
///
/// The trust applies to their digests: if a policy changes, for example with a git pull, it has to be trusted again.
#[derive(clap::Args)]
pub(super) struct Trust {
    /// Grant each policy what it asks for
    #[arg(long)]
    grant: bool,
    /// Stop trusting them
    #[arg(long, conflicts_with = "grant")]
    revoke: bool,
}

/// Write policies.lock, which pins the digests of policies
///
/// A policy whose digest is not in the file does not run.
#[derive(clap::Args)]
pub(super) struct Lock {
    #[command(flatten)]
    scope: PolicyScope,
    /// Remove the file instead of writing it
    #[arg(long)]
    remove: bool,
}

pub(super) fn enable(runtime: &Runtime, arguments: &Enable) -> Result<ExitCode, CommandError> {
    switch(runtime, &arguments.name, arguments.scope, true)
}

pub(super) fn disable(runtime: &Runtime, arguments: &Disable) -> Result<ExitCode, CommandError> {
    switch(runtime, &arguments.name, arguments.scope, false)
}

fn switch(runtime: &Runtime, name: &str, scope: PolicyScope, enabled: bool) -> Result<ExitCode, CommandError> {
    decide(runtime, name, scope, |editor, root, _| {
        editor.enable(scope.whose(root), name, enabled);
        format!("{BOLD}{}{BOLD:#} {name}", if enabled { "enabled" } else { "disabled" })
    })
}

pub(super) fn grant(runtime: &Runtime, arguments: &Grant) -> Result<ExitCode, CommandError> {
    let (name, scope) = (&arguments.name, arguments.scope);
    decide(runtime, name, scope, |editor, root, candidate| {
        let mut granted = candidate.granted.clone();
        let asked = candidate.found.manifest.capabilities.list();
        for capability in if arguments.all { &asked } else { &arguments.capabilities } {
            granted.add(capability.clone());
        }
        editor.grant(scope.whose(root), name, &granted);
        granted_line(name, &granted)
    })
}

pub(super) fn revoke(runtime: &Runtime, arguments: &Revoke) -> Result<ExitCode, CommandError> {
    let (name, scope) = (&arguments.name, arguments.scope);
    decide(runtime, name, scope, |editor, root, candidate| {
        let mut granted = if arguments.all { Capabilities::default() } else { candidate.granted.clone() };
        for capability in &arguments.capabilities {
            granted.remove(capability);
        }
        editor.grant(scope.whose(root), name, &granted);
        granted_line(name, &granted)
    })
}

fn granted_line(name: &str, granted: &Capabilities) -> String {
    let list: Vec<String> = granted.list().iter().map(Capability::to_string).collect();
    format!("{name} is granted {}", if list.is_empty() { "nothing".into() } else { list.join(", ") })
}

/// Stores a decision and resets the policy's failures, because a person has looked at it. Then prints whether the
/// policy runs.
fn decide(
    runtime: &Runtime,
    name: &str,
    scope: PolicyScope,
    write: impl FnOnce(&mut UserConfigEditor, &std::path::Path, &Candidate) -> String,
) -> Result<ExitCode, CommandError> {
    let root = selection::root()?;
    let registry = selection::registry(runtime, &root)?;
    let candidate = selection::named(&registry, name, scope)?;
    let mut editor = UserConfigEditor::open(&runtime.paths.user_policy_config())?;
    let line = write(&mut editor, &root, candidate);
    editor.save()?;
    let mut failures = runtime.reporter().failures.borrow_mut();
    failures.clear_failures(&candidate.found.digest);
    failures.save()?;
    drop(failures);
    let mut out = output::stdout();
    writeln!(out, "{line}")?;
    compile_and_report(runtime, &root, name, scope, &mut out)?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn trust(runtime: &Runtime, arguments: &Trust) -> Result<ExitCode, CommandError> {
    let root = selection::root()?;
    let registry = selection::registry(runtime, &root)?;
    let found: Vec<folder::PolicyPackage> = registry
        .candidates
        .iter()
        .filter(|candidate| candidate.source == Source::Project)
        .map(|candidate| candidate.found.clone())
        .collect();
    let mut editor = UserConfigEditor::open(&runtime.paths.user_policy_config())?;
    let mut out = output::stdout();
    if arguments.revoke {
        editor.trust(&root, None);
        editor.save()?;
        writeln!(out, "the policies of {} are no longer trusted", root.display())?;
        out.flush()?;
        return Ok(ExitCode::SUCCESS);
    }
    if found.is_empty() {
        let folder = root.join(throughline_sandbox::registry::PROJECT_FOLDER);
        let failure = CommandError::new(format!("{} contains no policy", folder.display()));
        return Err(match registry.broken.iter().find(|broken| broken.path.starts_with(&folder)) {
            Some(broken) => failure.hint(format!("{}: {}", broken.path.display(), broken.what)),
            None => failure.hint("`throughline policy add PATH --in-project` installs one there"),
        });
    }
    editor.trust(&root, Some(&folder::identity(&found)));
    for policy in &found {
        let asks: Vec<String> = policy.manifest.capabilities.list().iter().map(Capability::to_string).collect();
        let stages: Vec<&str> = policy.manifest.stages.keys().map(|stage| stage.name()).collect();
        writeln!(
            out,
            "{BOLD}{}{BOLD:#} {}: {}; asks for {}",
            policy.manifest.name,
            output::clean_line(&policy.manifest.version),
            stages.join(", "),
            if asks.is_empty() { "nothing".into() } else { asks.join(", ") }
        )?;
        if arguments.grant {
            let whose = throughline_sandbox::user_config::DecisionScope::Project(&root);
            editor.grant(whose, &policy.manifest.name, &policy.manifest.capabilities);
        } else if !asks.is_empty() {
            writeln!(out, "  {DIM}throughline policy grant {} --all --in-project{DIM:#}", policy.manifest.name)?;
        }
    }
    editor.save()?;
    let fresh = Runtime::new(runtime.paths.clone())?;
    fresh.policies(Some(&root))?.compile(Instant::now() + COMPILE_TIMEOUT);
    fresh.finish();
    writeln!(out, "trusted {} as they are now", output::counted(found.len() as u64, "policy", "policies"))?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn lock(runtime: &Runtime, arguments: &Lock) -> Result<ExitCode, CommandError> {
    let root = selection::root()?;
    let folder = arguments.scope.folder(runtime, &root)?;
    let file = lock::file_of(&folder);
    let mut out = output::stdout();
    if arguments.remove {
        match std::fs::remove_file(&file) {
            Ok(()) => {
                writeln!(out, "removed {}: the policies in {} are no longer pinned", file.display(), folder.display())?;
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                writeln!(out, "{} does not exist", file.display())?;
            }
            Err(error) => return Err(CommandError::new(format!("cannot remove {}: {error}", file.display()))),
        }
        out.flush()?;
        return Ok(ExitCode::SUCCESS);
    }
    let source = arguments.scope.source();
    let (found, broken) = folder::scan(&folder, owner_of(source), runtime.sandbox()?.cache());
    if let Some(broken) = broken.first() {
        return Err(selection::broken_policy(broken));
    }
    if found.is_empty() {
        return Err(CommandError::new(format!("{} contains no policy", folder.display())).hint("add one first"));
    }
    let lock = LockFile::of(&found);
    lock.write(&file)?;
    writeln!(out, "{} pins {}", file.display(), output::counted(lock.len() as u64, "policy", "policies"))?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
