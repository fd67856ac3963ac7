//! `throughline policy …`: manages policies and helps to write them.

mod add;
mod answer;
mod check;
mod compile;
mod decide;
mod inspect;
mod list;
mod new;
mod remove;
mod run;
mod test;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};

use super::error::CommandError;
use super::output::DIM;
use throughline_engine::runtime::Runtime;
use throughline_model::project::Project;
use throughline_sandbox::folder::{self, BrokenPolicy, Owner, PolicyPackage, Source};
use throughline_sandbox::instance::Terms;
use throughline_sandbox::registry::{Candidate, PolicyRegistry, folder_of};
use throughline_sandbox::user_config::DecisionScope;

/// How long compiling a policy may take: the slowest known one takes 20 seconds.
const COMPILE_TIMEOUT: Duration = Duration::from_mins(5);

/// List, install and write policies
///
/// A policy decides what is remembered and what the agent is shown. It is a WebAssembly component in a folder with a
/// policy.toml, and runs in a sandbox with the capabilities that it asks for and you grant. From weakest to strongest,
/// the policies are: the default, your own in the folder policies/ of the configuration, those in
/// .throughline/policies/ of a project once you trust them, and the administrator's.
#[derive(Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    List(list::Arguments),
    New(new::New),
    Build(new::Build),
    Check(check::Arguments),
    Test(test::Arguments),
    Compile(compile::Arguments),
    Inspect(inspect::Arguments),
    Add(add::Arguments),
    Remove(remove::Arguments),
    Enable(decide::Enable),
    Disable(decide::Disable),
    Grant(decide::Grant),
    Revoke(decide::Revoke),
    Trust(decide::Trust),
    Lock(decide::Lock),
    Run(run::Arguments),
}

pub(super) fn run(arguments: Arguments) -> Result<ExitCode, CommandError> {
    let runtime = super::runtime()?;
    let done = match arguments.command {
        Command::List(arguments) => list::run(&runtime, &arguments),
        Command::New(arguments) => new::new(&arguments),
        Command::Build(arguments) => new::build(&arguments),
        Command::Check(arguments) => check::run(&runtime, &arguments),
        Command::Test(arguments) => test::run(&runtime, &arguments),
        Command::Compile(arguments) => compile::run(&runtime, &arguments),
        Command::Inspect(arguments) => inspect::run(&runtime, &arguments),
        Command::Add(arguments) => add::run(&runtime, &arguments),
        Command::Remove(arguments) => remove::run(&runtime, &arguments),
        Command::Enable(arguments) => decide::enable(&runtime, &arguments),
        Command::Disable(arguments) => decide::disable(&runtime, &arguments),
        Command::Grant(arguments) => decide::grant(&runtime, &arguments),
        Command::Revoke(arguments) => decide::revoke(&runtime, &arguments),
        Command::Trust(arguments) => decide::trust(&runtime, &arguments),
        Command::Lock(arguments) => decide::lock(&runtime, &arguments),
        Command::Run(arguments) => run::run(&runtime, &arguments),
    };
    runtime.finish();
    done
}

/// Which policies a command is about.
#[derive(Args, Clone, Copy)]
struct PolicyScope {
    /// Use the policies of the current project instead of your own
    #[arg(long)]
    in_project: bool,
}

impl PolicyScope {
    fn source(self) -> Source {
        if self.in_project { Source::Project } else { Source::User }
    }

    fn whose(self, root: &Path) -> DecisionScope<'_> {
        if self.in_project { DecisionScope::Project(root) } else { DecisionScope::User }
    }

    fn folder(self, runtime: &Runtime, root: &Path) -> Result<PathBuf, CommandError> {
        folder_of(self.source(), &runtime.paths, Some(root))
            .ok_or_else(|| CommandError::new("there is no folder for these policies"))
    }
}

/// Returns the root of the current project.
fn root() -> Result<PathBuf, CommandError> {
    Ok(Project::discover(&super::memory::folder(None)?).root)
}

/// Returns the policies that exist for the current project.
fn registry(runtime: &Runtime, root: &Path) -> Result<PolicyRegistry, CommandError> {
    Ok(runtime.policies(Some(root))?.registry().clone())
}

/// Returns the policy with this name.
fn named<'a>(registry: &'a PolicyRegistry, name: &str, scope: PolicyScope) -> Result<&'a Candidate, CommandError> {
    let source = scope.source();
    if let Some(candidate) =
        registry.candidates.iter().find(|candidate| candidate.name() == name && candidate.source == source)
    {
        return Ok(candidate);
    }
    let failure = CommandError::new(format!("there is no {} policy {name}", source.word()));
    if let Some(broken) = registry.broken.iter().find(|broken| broken.path.components().any(|part| part.as_os_str() == name))
    {
        return Err(failure.hint(format!("{}: {}", broken.path.display(), broken.what)));
    }
    Err(match registry.candidates.iter().find(|candidate| candidate.name() == name) {
        Some(other) if other.source == Source::Project => failure.hint("the project has one: use --in-project"),
        Some(other) if other.source == Source::User => failure.hint("you have one: leave out --in-project"),
        _ => failure.hint("`throughline policy list` shows the policies"),
    })
}

/// Returns a policy by its name, as the current project would use it, or by the path of its folder.
fn by_name_or_path(runtime: &Runtime, root: &Path, what: &str) -> Result<(PolicyPackage, Source), CommandError> {
    let path = Path::new(what);
    if !throughline_sandbox::manifest::is_name(what) || path.join(throughline_sandbox::manifest::FILE).exists() {
        let cache = runtime.managed.cache(&runtime.paths);
        return Ok((folder::read(path, Owner::User, &cache).map_err(|broken| broken_policy(&broken))?, Source::User));
    }
    let registry = registry(runtime, root)?;
    let candidate = registry.candidates.iter().rev().find(|candidate| candidate.name() == what);
    match candidate {
        Some(candidate) => Ok((candidate.found.clone(), candidate.source)),
        None => Err(CommandError::new(format!("there is no policy {what}, and no folder of that name with a policy.toml"))
            .hint("`throughline policy list` shows the policies; begin the path of a folder with ./")),
    }
}

/// Returns the terms for running a policy by hand: all capabilities that it asks for, granted or not, and its own
/// limits. A policy that the administrator forbids is refused.
fn terms(runtime: &Runtime, found: &PolicyPackage, source: Source) -> Result<Terms, CommandError> {
    if let Some(refusal) = throughline_sandbox::registry::forbidden(&runtime.managed, source, found) {
        return Err(CommandError::new(refusal.what).hint(refusal.hint));
    }
    Ok(found.terms(runtime.managed.limit(found.manifest.limits())))
}

/// Converts a broken policy to an error.
fn broken_policy(broken: &BrokenPolicy) -> CommandError {
    CommandError::new(format!("{}: {}", broken.path.display(), broken.what)).hint(broken.hint.clone())
}

/// Compiles the policies of the current project, so that hooks do not have to wait, and prints whether this policy runs
/// now.
fn compile_and_report(
    runtime: &Runtime,
    root: &Path,
    name: &str,
    scope: PolicyScope,
    out: &mut impl Write,
) -> Result<(), CommandError> {
    // This process has read the state before the decision.
    let fresh = Runtime::new(runtime.paths.clone()).map_err(CommandError::new)?;
    let policies = fresh.policies(Some(root))?;
    policies.compile(Instant::now() + COMPILE_TIMEOUT);
    fresh.finish();
    let is_it = |candidate: &Candidate| candidate.name() == name && candidate.source == scope.source();
    let Some(index) = policies.registry().candidates.iter().position(is_it) else {
        return Err(CommandError::new(format!("{name} was removed")).hint("`throughline policy list` shows the policies"));
    };
    let refusal = policies.registry().candidates[index].refusal.as_ref();
    let why = refusal
        .map(|refusal| (refusal.what.clone(), refusal.hint.clone()))
        .or_else(|| policies.objection(index).map(|unfit| (unfit.what, unfit.hint)));
    match why {
        Some((what, hint)) => writeln!(out, "the policy does not run: {what}\n{DIM}{hint}{DIM:#}")?,
        None if !policies.is_compiled(index) => {
            writeln!(out, "the policy does not run: it cannot be compiled\n{DIM}see the log{DIM:#}")?;
        }
        None => writeln!(out, "the policy runs")?,
    }
    out.flush()?;
    Ok(())
}

/// What `throughline policy …` prints with `--json`.
#[cfg(test)]
pub(super) fn schemas() -> Vec<super::schemas::Output> {
    use super::schemas::of;
    vec![
        ("policy check", of::<check::Checked>()),
        ("policy inspect", of::<inspect::Inspected<'_>>()),
        ("policy list", of::<list::Listed<'_>>()),
        ("policy run", of::<answer::Answer>()),
        ("policy test", of::<test::Tested>()),
    ]
}
