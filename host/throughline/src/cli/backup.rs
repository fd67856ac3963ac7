//! `throughline backup`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use super::environment;
use super::error::CommandError;
use super::output;
use super::scope;
use throughline_engine::backup;
use throughline_store::{Access, StoreError};

/// Write everything that is stored to one file
///
/// Sessions can go on meanwhile; the backup is a snapshot of one moment. It is checked before it gets its name. Only
/// you can read it, and it is as confidential as the database itself. `throughline restore` restores it.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The file to write
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    /// Print an object: schema, memories, sessions, projects, bytes
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let runtime = environment::runtime_for_reading()?;
    let file = scope::folder(Some(&arguments.file))?;
    let store = runtime.store(Access::Existing, backup::BUSY_TIMEOUT)?;
    let content = backup::create(&store, &file, arguments.force).map_err(|error| failure(error, &file))?;
    if arguments.json {
        output::json(&content)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = output::stdout();
    writeln!(
        out,
        "{}: {}, {}, {}, {}; checked",
        file.display(),
        output::counted(content.memories, "memory", "memories"),
        output::counted(content.sessions, "session", "sessions"),
        output::counted(content.projects, "project", "projects"),
        output::bytes(content.bytes)
    )?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn failure(error: anyhow::Error, file: &std::path::Path) -> CommandError {
    if error.chain().any(|cause| matches!(cause.downcast_ref(), Some(StoreError::Damaged(..)))) {
        return CommandError::new(format!("{error:#}"))
            .hint("`throughline verify` shows what is wrong and what can be repaired");
    }
    if error.downcast_ref::<StoreError>().is_some() {
        return error.into();
    }
    let hint = if file.is_dir() || file.file_name().is_none() {
        "name a file inside that folder"
    } else if file.symlink_metadata().is_ok() {
        "choose another name, or use --force to replace the file (the database itself is never replaced)"
    } else {
        "name a file in an existing folder that you can write to"
    };
    CommandError::new(format!("{error:#}")).hint(hint)
}
