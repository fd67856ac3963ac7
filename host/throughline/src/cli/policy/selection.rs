//! Which policy a command is about: its name or path, and whether it is the user's or the project's.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::cli::error::CommandError;
use crate::cli::scope;
use throughline_engine::runtime::Runtime;
use throughline_model::project::Project;
use throughline_sandbox::chain::DEFAULT_NAME;
use throughline_sandbox::folder::{self, BrokenPolicy, Owner, PolicyPackage, Source};
use throughline_sandbox::instance::Terms;
use throughline_sandbox::registry::{Candidate, PolicyRegistry, folder_of};
use throughline_sandbox::user_config::DecisionScope;

/// Which policies a command is about.
#[derive(Args, Clone, Copy)]
pub(super) struct PolicyScope {
    /// Use the policies of the current project instead of your own
    #[arg(long)]
    pub(super) in_project: bool,
}

impl PolicyScope {
    pub(super) fn source(self) -> Source {
        if self.in_project { Source::Project } else { Source::User }
    }

    pub(super) fn whose(self, root: &Path) -> DecisionScope<'_> {
        if self.in_project { DecisionScope::Project(root) } else { DecisionScope::User }
    }

    pub(super) fn folder(self, runtime: &Runtime, root: &Path) -> Result<PathBuf, CommandError> {
        folder_of(self.source(), &runtime.paths, Some(root))
            .ok_or_else(|| CommandError::new("there is no folder for these policies"))
    }
}

/// Returns the root of the current project.
pub(super) fn root() -> Result<PathBuf, CommandError> {
    Ok(Project::discover(&scope::folder(None)?).root)
}

/// Returns the policies that exist for the current project.
pub(super) fn registry(runtime: &Runtime, root: &Path) -> Result<PolicyRegistry, CommandError> {
    Ok(runtime.policies(Some(root))?.registry().clone())
}

/// Returns the policy with this name.
pub(super) fn named<'a>(
    registry: &'a PolicyRegistry,
    name: &str,
    scope: PolicyScope,
) -> Result<&'a Candidate, CommandError> {
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
pub(super) fn by_name_or_path(runtime: &Runtime, root: &Path, what: &str) -> Result<(PolicyPackage, Source), CommandError> {
    let path = Path::new(what);
    if !throughline_sandbox::manifest::is_name(what) || path.join(throughline_sandbox::manifest::FILE).exists() {
        let cache = runtime.managed.cache(&runtime.paths);
        return Ok((folder::read(path, Owner::User, &cache).map_err(|broken| broken_policy(&broken))?, Source::User));
    }
    let registry = registry(runtime, root)?;
    let candidate = registry.candidates.iter().rev().find(|candidate| candidate.name() == what);
    match candidate {
        Some(candidate) => Ok((candidate.found.clone(), candidate.source)),
        None if what == DEFAULT_NAME => {
            Err(CommandError::new("default is the built-in policy: it has no folder that could be shown").hint(
                "`throughline redact` and `throughline context` show what it does; docs/policies.md says what it extracts and tells",
            ))
        }
        None => Err(CommandError::new(format!("there is no policy {what}, and no folder of that name with a policy.toml"))
            .hint("`throughline policy list` shows the policies; begin the path of a folder with ./")),
    }
}

/// Returns the terms for running a policy by hand: all capabilities that it asks for, granted or not, and its own
/// limits. A policy that the administrator forbids is refused.
pub(super) fn terms(runtime: &Runtime, found: &PolicyPackage, source: Source) -> Result<Terms, CommandError> {
    if let Some(refusal) = throughline_sandbox::registry::forbidden(&runtime.managed, source, found) {
        return Err(CommandError::new(refusal.what).hint(refusal.hint));
    }
    Ok(found.terms(runtime.managed.limit(found.manifest.limits())))
}

/// Converts a broken policy to an error.
pub(super) fn broken_policy(broken: &BrokenPolicy) -> CommandError {
    CommandError::new(format!("{}: {}", broken.path.display(), broken.what)).hint(broken.hint.clone())
}
