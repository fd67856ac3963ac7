//! `throughline policy new` and `throughline policy build`: create and build policy projects.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::cli::error::CommandError;
use crate::cli::output::{self, BOLD, DIM};
use throughline_policy_kit::build;
use throughline_policy_kit::template;
use throughline_sandbox::compile::{self, Job};
use throughline_sandbox::manifest::Language;

/// Create a small policy project that can be built right away
#[derive(clap::Args)]
pub(super) struct New {
    /// The name of the policy and of its folder
    name: String,
    /// The language: rust, python or javascript
    #[arg(long)]
    lang: Language,
}

/// Build a policy project
///
/// Writes the policy to dist/, from where `throughline policy add` installs it. Rust needs rustup's target
/// wasm32-unknown-unknown, Python its venv module, and JavaScript node and npm. Everything else is downloaded from the
/// registry of the language, in the versions that the project pins.
#[derive(clap::Args)]
pub(super) struct Build {
    /// The folder of the project
    #[arg(default_value = ".")]
    folder: PathBuf,
}

pub(super) fn new(arguments: &New) -> Result<ExitCode, CommandError> {
    let folder = template::create(Path::new("."), &arguments.name, arguments.lang)
        .map_err(|error| CommandError::new(format!("{error:#}")).hint("choose another name, or work in another folder"))?;
    let mut out = output::stdout();
    writeln!(out, "{BOLD}created{BOLD:#} {}", folder.strip_prefix(".").unwrap_or(&folder).display())?;
    writeln!(out, "{DIM}throughline policy build {}{DIM:#}", arguments.name)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn build(arguments: &Build) -> Result<ExitCode, CommandError> {
    let mut say = |step: &str| {
        // Ignore the error of a closed stderr: nobody is reading.
        let _ = writeln!(anstream::stderr().lock(), "{DIM}{step}{DIM:#}");
    };
    let built = build::build(&arguments.folder, &|module| compile::ask(Job::Encode, module), &mut say).map_err(|error| {
        let failed = CommandError::new(format!("{error:#}"));
        // Whose compiler says what is wrong has a project already.
        if error.chain().any(<dyn std::error::Error>::is::<build::ToolFailed>) {
            return failed;
        }
        failed.hint("`throughline policy new NAME --lang rust|python|javascript` creates a project that builds")
    })?;
    let folder = arguments.folder.join("dist").join(&built.name);
    let folder = folder.strip_prefix(".").unwrap_or(&folder);
    let mut out = output::stdout();
    writeln!(out, "{BOLD}built{BOLD:#} {}: {}, {}", built.name, output::bytes(built.bytes), folder.display())?;
    writeln!(out, "{DIM}throughline policy check {0}\nthroughline policy add --grant {0}{DIM:#}", folder.display())?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
