//! `throughline policy …`: manages policies and helps to write them.

mod add;
mod answer;
mod check;
mod compile;
mod compiling;
mod decide;
mod inspect;
mod list;
mod new;
mod remove;
mod run;
mod selection;
mod test;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::environment;
use super::error::CommandError;
use throughline_engine::runtime::Runtime;

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

/// Returns the names of the policies that exist for the current project.
pub(super) fn names(runtime: &Runtime) -> Vec<String> {
    let registry = selection::root().and_then(|root| selection::registry(runtime, &root));
    registry.map_or_else(|_| Vec::new(), |found| found.candidates.iter().map(|it| it.name().to_owned()).collect())
}

pub(super) fn run(arguments: Arguments) -> Result<ExitCode, CommandError> {
    let runtime = environment::runtime()?;
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
