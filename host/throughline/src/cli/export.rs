//! `throughline export`.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::failure::{Done, Failure};
use super::memory::Scope;
use super::output;
use throughline_engine::export;
use throughline_engine::hooks::PATIENCE;
use throughline_engine::runtime::Runtime;
use throughline_platform::files;
use throughline_store::{Access, Store};

/// Write memories in a form that other programs read
///
/// Each line is a JSON object with the fields that `throughline memory import` reads, the oldest memory first. What is imported
/// elsewhere and exported there gives the same lines. Where and how often a memory was seen and which policy made it is not in
/// it: that is what `throughline backup` is for.
#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    scope: Scope,
    /// What to write
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    format: Format,
    /// The file to make, for you alone; without it, or with `-`, standard output. Of Markdown: the folder, which must be new or empty
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Replace a file of that name; of Markdown, write into a folder that has files already
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// A JSON object a line
    Jsonl,
    /// A file a note, and a memory that is of a type of notes, as `throughline memory sync` writes them; of all projects, in a
    /// folder each
    Markdown,
}

pub(super) fn run(arguments: &Arguments) -> Result<Done, Failure> {
    let runtime = super::runtime()?;
    let project = arguments.scope.project()?.map(|project| project.id);
    let store = runtime.store(Access::Existing, PATIENCE * 4)?;
    if let Format::Markdown = arguments.format {
        return markdown(&runtime, &store, project.as_deref(), arguments);
    }
    let write = |out: &mut dyn Write| jsonl(&store, project.as_deref(), out);
    let Some(file) = arguments.output.as_deref().filter(|path| *path != Path::new("-")) else {
        let mut out = BufWriter::new(io::stdout().lock());
        write(&mut out)??;
        out.flush()?;
        return Ok(Done::Well);
    };
    let file = super::memory::folder(Some(file))?;
    let cannot = |error: &io::Error| {
        let failure = Failure::new(format!("{} cannot be written: {error}", file.display()));
        failure.hint(if error.kind() == io::ErrorKind::AlreadyExists {
            "choose another name, or say --force to replace it"
        } else {
            "name a file in a folder that exists and that you may write to"
        })
    };
    if file.symlink_metadata().is_ok_and(|meta| meta.is_dir() || !arguments.force) {
        return Err(cannot(&io::Error::from(io::ErrorKind::AlreadyExists)));
    }
    let unfinished = files::unfinished(&file).map_err(|error| cannot(&error))?;
    let open = File::options().write(true).create_new(true).mode(0o600).open(&unfinished);
    let mut out = BufWriter::new(open.map_err(|error| cannot(&error))?);
    let written = write(&mut out).and_then(|lines| {
        let settled = lines.and_then(|lines| {
            out.flush()?;
            out.get_ref().sync_all()?;
            files::settle(&unfinished, &file, arguments.force)?;
            Ok(lines)
        });
        settled.map_err(|error| cannot(&error))
    });
    if written.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    let lines = written?;
    writeln!(anstream::stderr().lock(), "{} in {}", output::counted(lines, "line", "lines"), file.display())?;
    Ok(Done::Well)
}

/// Writes the lines, and says how many there are, or why they cannot be written.
fn jsonl(store: &Store, project: Option<&str>, out: &mut dyn Write) -> Result<io::Result<u64>, Failure> {
    let (mut lines, mut failed) = (0, None);
    store.each_memory(project, |memory, project| {
        // Copies of what is written anyway.
        if project.is_shared() {
            return true;
        }
        for line in export::lines(memory, project) {
            if let Err(error) = writeln!(out, "{line}") {
                failed = Some(error);
                return false;
            }
            lines += 1;
        }
        true
    })?;
    Ok(failed.map_or(Ok(lines), Err))
}

/// Writes the notes of a project, or of each, as files.
fn markdown(runtime: &Runtime, store: &Store, project: Option<&str>, arguments: &Arguments) -> Result<Done, Failure> {
    let Some(folder) = arguments.output.as_deref().filter(|path| *path != Path::new("-")) else {
        return Err(Failure::new("notes are written as files, and no folder is named").hint("name one with -o DIR"));
    };
    let folder = super::memory::folder(Some(folder))?;
    let cannot = |error: &io::Error| {
        Failure::new(format!("{} cannot be written: {error}", folder.display()))
            .hint("name a folder that is new or empty and that you may write to; --force writes into one that has files")
    };
    if fs::read_dir(&folder).is_ok_and(|mut entries| entries.next().is_some()) && !arguments.force {
        return Err(cannot(&io::Error::from(io::ErrorKind::DirectoryNotEmpty)));
    }
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(|error| cannot(&error))?;
    let mut files = 0;
    for of in store.all_projects()? {
        // Copies of what is written anyway.
        if of.is_shared() || project.is_some_and(|id| id != of.id) {
            continue;
        }
        let into = if project.is_some() { folder.clone() } else { folder.join(export::folder_of(&of)) };
        files += export::notes(runtime, store, &of, &into)?;
    }
    runtime.finish();
    writeln!(anstream::stderr().lock(), "{} in {}", output::counted(files, "file", "files"), folder.display())?;
    Ok(Done::Well)
}
