//! `throughline restore`: replaces the database with a backup.

use std::io::{self, BufRead as _, IsTerminal as _, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::UNIX_EPOCH;

use serde::Serialize;

use super::environment;
use super::error::CommandError;
use super::output;
use throughline_engine::backup::{self, BackupError, StagedBackup};
use throughline_engine::hooks::STORE_BUSY_TIMEOUT;
use throughline_engine::memory::deletion;
use throughline_engine::storing;
use throughline_model::project::Project;
use throughline_store::{Access, CopySummary, Stats};

/// Replace everything that is stored with a backup
///
/// The backup is checked first and never changed. The old database is kept in a file beside the new one; its path is
/// printed at the end. Sessions can go on meanwhile: they see the old memory or the new one. What was deleted for good
/// after the backup was made stays deleted.
///
/// The command asks for confirmation. Without a terminal it does nothing unless `--yes` is given.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// A file that `throughline backup` wrote
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
    /// Also restore what was deleted for good after the backup was made
    #[arg(long)]
    with_deleted: bool,
    /// Print an object: schema, memories, sessions, projects, bytes, kept (the file with the old database),
    /// `still_deleted`
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Restored<'a> {
    #[serde(flatten)]
    content: &'a CopySummary,
    kept: Option<PathBuf>,
    still_deleted: u64,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let runtime = environment::runtime()?;
    storing::check_enabled(&runtime)?;
    let shown = arguments.file.display();
    let staged =
        backup::stage(&runtime.paths, &arguments.file).map_err(|error| match error.downcast_ref::<BackupError>() {
            Some(unusable) => CommandError::new(format!("cannot restore {shown}: {unusable}")).hint(unusable.hint()),
            None => error.into(),
        })?;
    let current = runtime.store(Access::Existing, STORE_BUSY_TIMEOUT * 4).ok();
    let before = current.as_ref().and_then(|store| store.all_projects().ok()).unwrap_or_default();
    let replaced = current.as_ref().and_then(|store| store.stats(None).ok());
    drop(current);
    let exchange = exchange(&staged, arguments, replaced.as_ref());
    if !arguments.yes && !confirm(&exchange)? {
        return Err(CommandError::new(format!("nothing was restored: {exchange}"))
            .hint("`--yes` restores it; the old database is kept in a file beside the new one"));
    }
    let restored = backup::restore(&runtime, &staged, arguments.with_deleted);
    let content = staged.content.clone();
    drop(staged);
    runtime.finish();
    let restored = restored?;
    let store = runtime.store(Access::Existing, STORE_BUSY_TIMEOUT * 4)?;
    let mut projects: Vec<Project> = store.all_projects()?;
    projects.extend(before.into_iter().filter(|old| !projects.iter().any(|new| new.id == old.id)).collect::<Vec<_>>());
    deletion::rewrite_projections(&runtime, &store, &projects)?;
    if arguments.json {
        output::json(&Restored { content: &content, kept: restored.kept, still_deleted: restored.still_deleted })?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = output::stdout();
    writeln!(out, "restored {} from {}", output::counted(content.memories, "memory", "memories"), shown)?;
    if restored.still_deleted > 0 {
        let deleted = output::counted(restored.still_deleted, "memory was", "memories were");
        writeln!(out, "{deleted} deleted for good later and not restored (--with-deleted restores them)")?;
    }
    if let Some(kept) = restored.kept {
        writeln!(out, "the old database is in {}; delete that file when you no longer need it", kept.display())?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Says what is in the backup, and what it would replace.
fn exchange(staged: &StagedBackup, arguments: &Arguments, replaced: Option<&Stats>) -> String {
    let counts = |memories: u64, sessions: u64, projects: u64| {
        format!(
            "{} and {} of {}",
            output::counted(memories, "memory", "memories"),
            output::counted(sessions, "session", "sessions"),
            output::counted(projects, "project", "projects"),
        )
    };
    let content = &staged.content;
    let changed = std::fs::metadata(&arguments.file).and_then(|meta| meta.modified()).ok();
    let changed =
        changed.and_then(|at| at.duration_since(UNIX_EPOCH).ok()).and_then(|at| u64::try_from(at.as_millis()).ok());
    let date = changed.map_or_else(String::new, |at| format!(" of {}", output::date(at)));
    let old = replaced.map_or_else(
        || "there is nothing that it would replace".to_owned(),
        |old| {
            format!("it would replace everything that is stored now: {}", counts(old.memories, old.sessions, old.projects))
        },
    );
    format!(
        "{}{date} has {}; {old}",
        output::clean_line(&arguments.file.to_string_lossy()),
        counts(content.memories, content.sessions, content.projects)
    )
}

/// Asks for confirmation. Returns false if there is no terminal.
fn confirm(exchange: &str) -> Result<bool, CommandError> {
    if !io::stdin().is_terminal() {
        return Ok(false);
    }
    write!(io::stderr().lock(), "{exchange}\nrestore it? [y/N] ")?;
    io::stderr().flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
