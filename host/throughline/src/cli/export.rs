//! `throughline export`: writes memories and sessions as JSON lines, or memories as Markdown.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::environment;
use super::error::CommandError;
use super::output;
use super::scope::{self, Scope};
use throughline_engine::export;
use throughline_engine::hooks::STORE_BUSY_TIMEOUT;
use throughline_engine::runtime::Runtime;
use throughline_platform::files;
use throughline_platform::open::FolderOptions as _;
use throughline_store::{Access, Store};

/// Write memories and sessions for other programs
///
/// Writes one JSON object per line, as `throughline import` reads them: the projects, with what they are recognized by on
/// another machine; the sessions, with their summaries; and the memories, the oldest first. Importing the lines elsewhere
/// and exporting them there gives the same lines. An export has no tool calls, failures and timeline, nor where and how
/// often a memory was seen or which policy made it: use `throughline backup` for a complete copy.
#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    scope: Scope,
    /// The format
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    format: Format,
    /// The file to write, which only you can read; by default, or with `-`, standard output. For Markdown: a folder,
    /// which must be new or empty
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Replace an existing file; for Markdown, write to a folder that contains files already
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// One JSON object per line
    Jsonl,
    /// One file for each note and each memory with a type of notes, as `throughline note sync` writes them; with
    /// --all-projects, one folder per project
    Markdown,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let runtime = environment::runtime_for_reading()?;
    let project = arguments.scope.project(&runtime)?.map(|project| project.id);
    let store = runtime.store(Access::Existing, STORE_BUSY_TIMEOUT * 4)?;
    if let Format::Markdown = arguments.format {
        return markdown(&runtime, &store, project.as_deref(), arguments);
    }
    let write = |out: &mut dyn Write| jsonl(&runtime, &store, project.as_deref(), out);
    let Some(file) = arguments.output.as_deref().filter(|path| *path != Path::new("-")) else {
        let mut out = BufWriter::new(io::stdout().lock());
        let written = write(&mut out)??;
        runtime.finish();
        out.flush()?;
        if written.memories + written.sessions == 0 {
            scope::print_nothing_found(&runtime, &store, &arguments.scope, "nothing to export")?;
        }
        return Ok(ExitCode::SUCCESS);
    };
    let file = scope::folder(Some(file))?;
    let cannot = |error: &io::Error| {
        let failure = CommandError::new(format!("cannot write {}: {error}", file.display()));
        failure.hint(if error.kind() == io::ErrorKind::AlreadyExists {
            "choose another name, or use --force to replace the file"
        } else {
            "name a file in an existing folder that you can write to"
        })
    };
    if file.symlink_metadata().is_ok_and(|meta| meta.is_dir() || !arguments.force) {
        return Err(cannot(&io::Error::from(io::ErrorKind::AlreadyExists)));
    }
    let mut out = BufWriter::new(files::temporary_beside(&file).map_err(|error| cannot(&error))?);
    let written = write(&mut out)?;
    runtime.finish();
    let finish = |written: Written| {
        let complete = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        complete.as_file().sync_all()?;
        files::persist(complete.into_temp_path(), &file, arguments.force)?;
        Ok(written)
    };
    let written = written.and_then(finish).map_err(|error| cannot(&error))?;
    writeln!(
        anstream::stderr().lock(),
        "wrote {} and {} to {}",
        output::counted(written.memories, "memory", "memories"),
        output::counted(written.sessions, "session", "sessions"),
        file.display()
    )?;
    if written.memories + written.sessions == 0 {
        scope::print_nothing_found(&runtime, &store, &arguments.scope, "nothing to export")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What was written.
#[derive(Default)]
struct Written {
    memories: u64,
    sessions: u64,
}

/// Writes the lines and returns how many there are. The inner error is that of writing.
fn jsonl(
    runtime: &Runtime,
    store: &Store,
    project: Option<&str>,
    out: &mut dyn Write,
) -> Result<io::Result<Written>, CommandError> {
    // The memories of shared copies are written with the projects that they come from.
    let mut projects = store.all_projects()?;
    projects.retain(|it| !it.is_shared() && project.is_none_or(|id| id == it.id));
    // Not in the order in which they were first seen, which is another one elsewhere.
    projects.sort_by(|one, other| one.identity.cmp(&other.identity));
    let mut written = Written::default();
    for project in &projects {
        if let Some(line) = export::project_line(runtime, project)?
            && let Err(error) = writeln!(out, "{line}")
        {
            return Ok(Err(error));
        }
    }
    for project in &projects {
        for (id, _) in store.session_times(&project.id)? {
            let Some(session) = store.known_session(&id)? else { continue };
            let Some(line) = export::session_line(&session, project) else { continue };
            if let Err(error) = writeln!(out, "{line}") {
                return Ok(Err(error));
            }
            written.sessions += 1;
        }
    }
    let mut failed = None;
    store.each_memory(project, |memory, project, marks, links| {
        if project.is_shared() {
            return true;
        }
        for line in export::to_json_lines(memory, project, marks, links) {
            if let Err(error) = writeln!(out, "{line}") {
                failed = Some(error);
                return false;
            }
            written.memories += 1;
        }
        true
    })?;
    Ok(failed.map_or(Ok(written), Err))
}

/// Writes the notes of one project, or of all projects, as files.
fn markdown(
    runtime: &Runtime,
    store: &Store,
    project: Option<&str>,
    arguments: &Arguments,
) -> Result<ExitCode, CommandError> {
    let Some(folder) = arguments.output.as_deref().filter(|path| *path != Path::new("-")) else {
        return Err(CommandError::new("Markdown is written to a folder, and none is named").hint("name it with -o DIR"));
    };
    let folder = scope::folder(Some(folder))?;
    let cannot = |error: &io::Error| {
        CommandError::new(format!("cannot write to {}: {error}", folder.display()))
            .hint("name a new or empty folder that you can write to; --force writes to a folder that contains files")
    };
    if fs::read_dir(&folder).is_ok_and(|mut entries| entries.next().is_some()) && !arguments.force {
        return Err(cannot(&io::Error::from(io::ErrorKind::DirectoryNotEmpty)));
    }
    fs::DirBuilder::new().recursive(true).private().create(&folder).map_err(|error| cannot(&error))?;
    let mut files = 0;
    for of in store.all_projects()? {
        // The memories that these are copies of are written as well.
        if of.is_shared() || project.is_some_and(|id| id != of.id) {
            continue;
        }
        let into = if project.is_some() { folder.clone() } else { folder.join(export::project_folder_name(&of)) };
        files += export::write_notes(runtime, store, &of, &into)?;
    }
    runtime.finish();
    writeln!(anstream::stderr().lock(), "wrote {} to {}", output::counted(files, "file", "files"), folder.display())?;
    Ok(ExitCode::SUCCESS)
}
