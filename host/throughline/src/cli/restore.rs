//! `throughline restore`.

use std::io::{self, BufRead as _, IsTerminal as _, Write};
use std::path::PathBuf;

use serde::Serialize;

use super::failure::{Done, Failure};
use super::output;
use throughline_engine::backup::{self, Staged, Unusable};
use throughline_engine::hooks::PATIENCE;
use throughline_engine::memory::forgetting;
use throughline_model::project::Project;
use throughline_store::{Access, Content};

/// Put a backup in the place of all that is remembered
///
/// The backup is examined first and only read. What was there before is kept in a file beside the database, and named at the
/// end. Sessions may go on meanwhile: they read the old memory or the new one. What was deleted for good since the backup was
/// made stays deleted.
///
/// It asks before it does it; where nobody can be asked it does nothing without `--yes`.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// A file that `throughline backup` made
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// Bring back also what was deleted for good since
    #[arg(long)]
    with_deleted: bool,
    /// Print an object: schema, memories, sessions, projects, bytes, kept (the file with what was there before), `still_deleted`
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Report<'a> {
    #[serde(flatten)]
    content: &'a Content,
    kept: Option<PathBuf>,
    still_deleted: u64,
}

pub(super) fn run(arguments: &Arguments) -> Result<Done, Failure> {
    let runtime = super::runtime()?;
    let shown = arguments.file.display();
    let staged = backup::stage(&runtime.paths, &arguments.file).map_err(|error| match error.downcast_ref::<Unusable>() {
        Some(unusable) => Failure::new(format!("{shown} cannot be restored: {unusable}")).hint(unusable.hint()),
        None => error.into(),
    })?;
    let before = match runtime.store(Access::Existing, PATIENCE * 4) {
        Ok(store) => store.all_projects().unwrap_or_default(),
        Err(_) => Vec::new(),
    };
    if !arguments.yes && !agrees(&staged, arguments)? {
        return Err(Failure::new("nothing was restored").hint("say --yes to do it"));
    }
    let restored = backup::put_back(&runtime, &staged, arguments.with_deleted);
    let content = staged.content.clone();
    drop(staged);
    runtime.finish();
    let restored = restored?;
    let store = runtime.store(Access::Existing, PATIENCE * 4)?;
    let mut projects: Vec<Project> = store.all_projects()?;
    projects.extend(before.into_iter().filter(|old| !projects.iter().any(|new| new.id == old.id)).collect::<Vec<_>>());
    forgetting::make_anew(&runtime, &store, &projects)?;
    if arguments.json {
        output::json(&Report { content: &content, kept: restored.kept, still_deleted: restored.still_deleted })?;
        return Ok(Done::Well);
    }
    let mut out = output::stdout();
    writeln!(out, "restored {} of {}", output::counted(content.memories, "memory", "memories"), shown)?;
    if restored.still_deleted > 0 {
        let still = output::counted(restored.still_deleted, "of them was", "of them were");
        writeln!(out, "{still} deleted for good since, and left out (--with-deleted brings such back)")?;
    }
    if let Some(kept) = restored.kept {
        writeln!(out, "what was there before is in {}: delete that file when you need it no more", kept.display())?;
    }
    out.flush()?;
    Ok(Done::Well)
}

/// Asks; no: there is nobody to ask.
fn agrees(staged: &Staged, arguments: &Arguments) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() {
        return Ok(false);
    }
    let content = &staged.content;
    write!(
        io::stderr().lock(),
        "put {} with {}, {} in the place of all that is remembered? [y/N] ",
        arguments.file.display(),
        output::counted(content.memories, "memory", "memories"),
        output::counted(content.sessions, "session", "sessions"),
    )?;
    io::stderr().flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
