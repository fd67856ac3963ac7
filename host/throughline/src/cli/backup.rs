//! `throughline backup`.

use std::io::Write;
use std::path::PathBuf;

use super::failure::{Done, Failure};
use super::output;
use throughline_engine::backup;
use throughline_store::{Access, StoreError};

/// Write all that is remembered into one file
///
/// Sessions go on meanwhile; the file holds what was stored at one moment. It is examined before it gets its name, readable for
/// you alone, and as secret as the database itself. `throughline restore` puts it back.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The file to make
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Replace a file of that name
    #[arg(long)]
    force: bool,
    /// Print an object: schema, memories, sessions, projects, bytes
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<Done, Failure> {
    let runtime = super::runtime()?;
    let file = super::memory::folder(Some(&arguments.file))?;
    let store = runtime.store(Access::Existing, backup::PATIENCE)?;
    let content = backup::make(&store, &file, arguments.force).map_err(|error| failure(error, &file))?;
    if arguments.json {
        output::json(&content)?;
        return Ok(Done::Well);
    }
    let mut out = output::stdout();
    writeln!(
        out,
        "{}: {}, {}, {}, {}; examined and sound",
        file.display(),
        output::counted(content.memories, "memory", "memories"),
        output::counted(content.sessions, "session", "sessions"),
        output::counted(content.projects, "project", "projects"),
        output::bytes(content.bytes)
    )?;
    out.flush()?;
    Ok(Done::Well)
}

fn failure(error: anyhow::Error, file: &std::path::Path) -> Failure {
    if error.chain().any(|cause| matches!(cause.downcast_ref(), Some(StoreError::Damaged(..)))) {
        return Failure::new(format!("{error:#}")).hint("`throughline verify` says what is wrong, and what can be mended");
    }
    if error.downcast_ref::<StoreError>().is_some() {
        return error.into();
    }
    let hint = if file.is_dir() || file.file_name().is_none() {
        "name a file in it"
    } else if file.symlink_metadata().is_ok() {
        "choose another name, or say --force to replace it (the database itself cannot be)"
    } else {
        "name a file in a folder that exists and that you may write to"
    };
    Failure::new(format!("{error:#}")).hint(hint)
}
