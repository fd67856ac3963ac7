//! `throughline policy add`.

use std::io::Write;
use std::path::PathBuf;

use super::{Done, Failure, Place, Runtime};
use crate::cli::output::{self, BOLD};
use throughline_sandbox::cache::Cache;
use throughline_sandbox::folder::{self, Owner};
use throughline_sandbox::ledger::Editor;
use throughline_sandbox::shelf;

/// Put a policy into your policies, or a project's
///
/// It is copied from a folder with a policy.toml and a component, such as `throughline policy build` makes below dist/. It
/// runs once it is granted what it asks for.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The policy's folder
    path: PathBuf,
    /// Grant all that it asks for
    #[arg(long)]
    grant: bool,
    /// Take the place of a policy of the same name
    #[arg(long)]
    replace: bool,
    #[command(flatten)]
    place: Place,
}

pub(super) fn run(runtime: &Runtime, arguments: &Arguments) -> Result<Done, Failure> {
    let root = super::root()?;
    let cache = Cache::new(runtime.paths.components());
    let found = folder::read(&arguments.path, Owner::User, &cache).map_err(|broken| super::tell(&broken))?;
    let name = found.manifest.name.clone();
    if found.manifest.build.is_some() || found.manifest.sha256.is_none() {
        return Err(Failure::new(format!("{} is a source folder", arguments.path.display())).hint(format!(
            "throughline policy build {0}, and then: throughline policy add {0}/dist/{name}",
            arguments.path.display()
        )));
    }
    let folder = arguments.place.folder(runtime, &root)?;
    let place = shelf::add(&found, &folder, arguments.replace)
        .map_err(|error| Failure::new(format!("{error:#}")).hint("--replace takes the place of one that is there"))?;
    let asked = &found.manifest.capabilities;
    if arguments.grant {
        let mut editor = Editor::open(&runtime.paths.policy_ledger())?;
        editor.grant(arguments.place.whose(&root), &name, asked);
        editor.save()?;
    }
    let mut out = output::stdout();
    writeln!(out, "{BOLD}added{BOLD:#} {name} {} to {}", output::clean_line(&found.manifest.version), place.display())?;
    super::settle(runtime, &root, &name, arguments.place, &mut out)?;
    out.flush()?;
    Ok(Done::Well)
}
