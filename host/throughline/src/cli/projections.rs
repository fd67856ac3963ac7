//! `throughline projections`: writes the files that are generated from the database.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;

use super::environment;
use super::error::CommandError;
use super::output;
use super::scope::{self, Scope};
use throughline_engine::hooks::STORE_BUSY_TIMEOUT;
use throughline_engine::projection::{self, WrittenFile};
use throughline_platform::paths;
use throughline_store::Access;

/// Write Markdown and JSON files generated from the memory
///
/// Writes NAME/memory.md and NAME/sessions/ for the project to the folder `projections.folder` of the configuration,
/// and .claude/session-context.json in the project if `projections.session_context` is set. Hooks keep these files
/// current; this command generates all of them again, for example after `ingest` or in another folder. Files of
/// sessions that are no longer stored are deleted.
#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    scope: Scope,
    /// Write to this folder instead of the configured one
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Print an object: written, unchanged
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct WrittenFiles {
    /// Files that are new or changed.
    written: Vec<PathBuf>,
    /// How many files did not change.
    unchanged: usize,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let runtime = environment::runtime()?;
    let mut settings = runtime.config.projections.clone();
    if let Some(folder) = &arguments.folder {
        settings.folder = Some(scope::folder(Some(folder))?);
    }
    if !projection::are_configured(&settings) {
        return Err(CommandError::new("no folder is set")
            .hint("use --folder DIR, or set projections.folder or projections.session_context in the configuration"));
    }
    let store = runtime.store(Access::Existing, STORE_BUSY_TIMEOUT * 4)?;
    let wanted = arguments.scope.project(&runtime)?;
    let mut files: Vec<WrittenFile> = Vec::new();
    let mut err = anstream::stderr().lock();
    for project in store.all_projects()? {
        if wanted.as_ref().is_some_and(|wanted| wanted.id != project.id) {
            continue;
        }
        if runtime.is_excluded(&project.root) {
            let shown = output::clean_line(&paths::display(&project.root, &runtime.paths.home));
            writeln!(err, "{shown} is excluded by the configuration")?;
            continue;
        }
        files.extend(projection::write_all(&store, &settings, &project)?);
    }
    runtime.finish();
    if files.is_empty() {
        writeln!(err, "nothing is stored {}", if wanted.is_some() { "of this project" } else { "yet" })?;
    }
    let unchanged = files.iter().filter(|file| !file.changed).count();
    let written: Vec<PathBuf> = files.into_iter().filter(|file| file.changed).map(|file| file.path).collect();
    if arguments.json {
        output::json(&WrittenFiles { written, unchanged })?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = output::stdout();
    for path in &written {
        writeln!(out, "{}", output::clean_line(&path.to_string_lossy()))?;
    }
    out.flush()?;
    if unchanged > 0 {
        writeln!(err, "{} not changed", output::counted(unchanged as u64, "file", "files"))?;
    }
    Ok(ExitCode::SUCCESS)
}
