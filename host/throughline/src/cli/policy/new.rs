//! `throughline policy new` and `throughline policy build`.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::{Done, Failure};
use crate::cli::output::{self, BOLD, DIM};
use throughline_policy_kit::build;
use throughline_policy_kit::template;
use throughline_sandbox::manifest::Language;

/// Write a small policy project that builds at once
#[derive(clap::Args)]
pub(super) struct New {
    /// The policy's name, and that of its folder
    name: String,
    /// rust, python or javascript
    #[arg(long)]
    lang: Language,
}

/// Build a policy project into a folder that can be dropped in
///
/// Rust needs rustup's target wasm32-unknown-unknown, Python its venv module, JavaScript node and npm. What else is needed
/// is fetched from the languages' own registries, in the versions that the project pins.
#[derive(clap::Args)]
pub(super) struct Build {
    /// The project's folder
    #[arg(default_value = ".")]
    folder: PathBuf,
}

pub(super) fn new(arguments: &New) -> Result<Done, Failure> {
    let folder = template::create(Path::new("."), &arguments.name, arguments.lang)
        .map_err(|error| Failure::new(format!("{error:#}")).hint("choose another name, or work in another folder"))?;
    let mut out = output::stdout();
    writeln!(out, "{BOLD}made{BOLD:#} {}", folder.strip_prefix(".").unwrap_or(&folder).display())?;
    writeln!(out, "{DIM}throughline policy build {}{DIM:#}", arguments.name)?;
    out.flush()?;
    Ok(Done::Well)
}

pub(super) fn build(arguments: &Build) -> Result<Done, Failure> {
    let mut say = |step: &str| {
        // Progress is for people; where nobody reads there is nobody to tell.
        let _ = writeln!(anstream::stderr().lock(), "{DIM}{step}{DIM:#}");
    };
    let built = build::build(&arguments.folder, &mut say).map_err(|error| {
        Failure::new(format!("{error:#}"))
            .hint("a project that builds is made by: throughline policy new NAME --lang rust|python|javascript")
    })?;
    let folder = arguments.folder.join("dist").join(&built.name);
    let folder = folder.strip_prefix(".").unwrap_or(&folder);
    let mut out = output::stdout();
    writeln!(out, "{BOLD}built{BOLD:#} {}: {}, {}", built.name, output::bytes(built.bytes), folder.display())?;
    writeln!(out, "{DIM}throughline policy check {0}\nthroughline policy add --grant {0}{DIM:#}", folder.display())?;
    out.flush()?;
    Ok(Done::Well)
}
