//! `throughline policy …`: which policies there are, what they may do, and making new ones.

mod add;
mod answer;
mod check;
mod decide;
mod inspect;
mod list;
mod new;
mod remove;
mod run;
mod test;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};

use super::failure::{Done, Failure};
use super::output::DIM;
use throughline_engine::runtime::Runtime;
use throughline_model::project::Project;
use throughline_sandbox::cache::Cache;
use throughline_sandbox::folder::{self, Broken, Found, Owner, Source};
use throughline_sandbox::instance::Terms;
use throughline_sandbox::ledger::Whose;
use throughline_sandbox::roster::{Candidate, Roster, folder_of};

/// How long a command compiles a policy, at most: the slowest known takes 20 seconds.
const COMPILE: Duration = Duration::from_mins(5);

/// Look after policies: what runs, what it may do, and how to make one
///
/// A policy decides what is remembered and what the agent is shown. It is a WebAssembly component in a folder with a
/// policy.toml, and runs in a sandbox with what it asks for and you grant. Weakest to strongest: the default, your own in
/// the configuration's policies/, those in a project's .throughline/policies/ once you trust them, and the administrator's.
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

pub(super) fn run(arguments: Arguments) -> Result<Done, Failure> {
    let runtime = super::runtime()?;
    let done = match arguments.command {
        Command::List(arguments) => list::run(&runtime, &arguments),
        Command::New(arguments) => new::new(&arguments),
        Command::Build(arguments) => new::build(&arguments),
        Command::Check(arguments) => check::run(&runtime, &arguments),
        Command::Test(arguments) => test::run(&runtime, &arguments),
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

/// Whose policies a command is about.
#[derive(Args, Clone, Copy)]
struct Place {
    /// The policies of the present folder's project, instead of your own
    #[arg(long)]
    in_project: bool,
}

impl Place {
    fn source(self) -> Source {
        if self.in_project { Source::Project } else { Source::User }
    }

    fn whose(self, root: &Path) -> Whose<'_> {
        if self.in_project { Whose::Project(root) } else { Whose::User }
    }

    fn folder(self, runtime: &Runtime, root: &Path) -> Result<PathBuf, Failure> {
        folder_of(self.source(), &runtime.paths, Some(root)).ok_or_else(|| Failure::new("there is no such folder"))
    }
}

/// The root of the present folder's project.
fn root() -> Result<PathBuf, Failure> {
    Ok(Project::of(&super::memory::folder(None)?).root)
}

/// What there is for the present project.
fn roster(runtime: &Runtime, root: &Path) -> Result<Roster, Failure> {
    Ok(runtime.policies(Some(root))?.roster().clone())
}

/// The policy of that name and place.
fn named<'a>(roster: &'a Roster, name: &str, place: Place) -> Result<&'a Candidate, Failure> {
    let source = place.source();
    if let Some(candidate) =
        roster.candidates.iter().find(|candidate| candidate.name() == name && candidate.source == source)
    {
        return Ok(candidate);
    }
    let failure = Failure::new(format!("there is no {} policy {name}", source.word()));
    if let Some(broken) = roster.broken.iter().find(|broken| broken.path.components().any(|part| part.as_os_str() == name)) {
        return Err(failure.hint(format!("{}: {}", broken.path.display(), broken.what)));
    }
    Err(match roster.candidates.iter().find(|candidate| candidate.name() == name) {
        Some(other) if other.source == Source::Project => failure.hint("the project has one: say --in-project"),
        Some(other) if other.source == Source::User => failure.hint("you have one: leave --in-project out"),
        _ => failure.hint("`throughline policy list` shows those that there are"),
    })
}

/// A policy by its name, as the present project would use it, or by the path of its folder.
fn by_name_or_path(runtime: &Runtime, root: &Path, what: &str) -> Result<(Found, Source), Failure> {
    let path = Path::new(what);
    if !throughline_sandbox::manifest::is_name(what) || path.join(throughline_sandbox::manifest::FILE).exists() {
        let cache = Cache::new(runtime.paths.components());
        return Ok((folder::read(path, Owner::User, &cache).map_err(|broken| tell(&broken))?, Source::User));
    }
    let roster = roster(runtime, root)?;
    let candidate = roster.candidates.iter().rev().find(|candidate| candidate.name() == what);
    match candidate {
        Some(candidate) => Ok((candidate.found.clone(), candidate.source)),
        None => Err(Failure::new(format!("there is no policy {what}, and no folder of that name with a policy.toml"))
            .hint("`throughline policy list` shows those that there are; a path may begin with ./")),
    }
}

/// On which a policy is tried by hand: with all that it asks for, granted or not, and its own limits. What the administrator
/// forbids is not tried either.
fn terms(runtime: &Runtime, found: &Found, source: Source) -> Result<Terms, Failure> {
    if let Some(refusal) = throughline_sandbox::roster::forbidden(&runtime.managed, source, found) {
        return Err(Failure::new(refusal.what).hint(refusal.hint));
    }
    Ok(found.terms(runtime.managed.limit(found.manifest.limits())))
}

fn tell(broken: &Broken) -> Failure {
    Failure::new(format!("{}: {}", broken.path.display(), broken.what)).hint(broken.hint.clone())
}

/// Compiles what the present project would use, so that no hook finds it missing, and says whether this policy runs now.
fn settle(runtime: &Runtime, root: &Path, name: &str, place: Place, out: &mut impl Write) -> Result<(), Failure> {
    // What was decided just now is not what this process had read.
    let fresh = Runtime::new(runtime.paths.clone()).map_err(Failure::new)?;
    let policies = fresh.policies(Some(root))?;
    policies.compile(Instant::now() + COMPILE);
    fresh.finish();
    let is_it = |candidate: &Candidate| candidate.name() == name && candidate.source == place.source();
    let Some(index) = policies.roster().candidates.iter().position(is_it) else {
        return Err(Failure::new(format!("{name} is gone")).hint("`throughline policy list` shows those that there are"));
    };
    let refusal = policies.roster().candidates[index].refusal.as_ref();
    let why = refusal
        .map(|refusal| (refusal.what.clone(), refusal.hint.clone()))
        .or_else(|| policies.objection(index).map(|unfit| (unfit.what, unfit.hint)));
    match why {
        Some((what, hint)) => writeln!(out, "it does not run: {what}\n{DIM}{hint}{DIM:#}")?,
        None if !policies.is_compiled(index) => {
            writeln!(out, "it does not run: it cannot be compiled\n{DIM}the log says why{DIM:#}")?;
        }
        None => writeln!(out, "it runs")?,
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
