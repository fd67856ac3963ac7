//! `throughline projections`.

use std::io::Write;
use std::path::PathBuf;

use serde::Serialize;

use super::failure::{Done, Failure};
use super::memory::Scope;
use super::output;
use throughline_engine::hooks::PATIENCE;
use throughline_engine::projection::{self, Written};
use throughline_platform::paths;
use throughline_store::Access;

/// Make the files that people and programs read from what is stored
///
/// NAME/memory.md and NAME/sessions/ of the project in the folder `projections.folder` of the configuration, and its
/// .claude/session-context.json where `projections.session_context` wants it. Hooks make them as sessions go; this makes all
/// of them anew, such as after `ingest` or in another folder. Files of sessions that are stored no more go.
#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    scope: Scope,
    /// In this folder instead of the configured one
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Print an object: written, unchanged
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Report {
    /// Files that were not so before.
    written: Vec<PathBuf>,
    /// How many were.
    unchanged: usize,
}

pub(super) fn run(arguments: &Arguments) -> Result<Done, Failure> {
    let runtime = super::runtime()?;
    let mut settings = runtime.config.projections.clone();
    if let Some(folder) = &arguments.folder {
        settings.folder = Some(super::memory::folder(Some(folder))?);
    }
    if !projection::are_wanted(&settings) {
        return Err(Failure::new("it is not said where to")
            .hint("say --folder DIR, or set projections.folder or projections.session_context in the configuration"));
    }
    let store = runtime.store(Access::Existing, PATIENCE * 4)?;
    let wanted = arguments.scope.project()?;
    let mut files: Vec<Written> = Vec::new();
    let mut err = anstream::stderr().lock();
    for project in store.all_projects()? {
        if wanted.as_ref().is_some_and(|wanted| wanted.id != project.id) {
            continue;
        }
        if runtime.is_off(&project.root) {
            let shown = output::clean_line(&paths::display(&project.root, &runtime.paths.home));
            writeln!(err, "{shown} is left out by the configuration")?;
            continue;
        }
        files.extend(projection::write_all(&store, &settings, &project)?);
    }
    runtime.finish();
    if files.is_empty() {
        writeln!(err, "nothing is stored of {}", if wanted.is_some() { "this project" } else { "any project" })?;
    }
    let unchanged = files.iter().filter(|file| !file.changed).count();
    let written: Vec<PathBuf> = files.into_iter().filter(|file| file.changed).map(|file| file.path).collect();
    if arguments.json {
        output::json(&Report { written, unchanged })?;
        return Ok(Done::Well);
    }
    let mut out = output::stdout();
    for path in &written {
        writeln!(out, "{}", output::clean_line(&path.to_string_lossy()))?;
    }
    out.flush()?;
    if unchanged > 0 {
        writeln!(err, "{} as it is", output::counted(unchanged as u64, "file stays", "files stay"))?;
    }
    Ok(Done::Well)
}
