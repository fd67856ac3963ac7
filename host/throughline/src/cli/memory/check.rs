//! `throughline memory check`.

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::notes::Desk;
use super::{Done, Failure, Runtime, Store, output};
use throughline_engine::note_sync::folder::Folder;
use throughline_notes::check::{self, Fault, Resolve};
use throughline_notes::links::{Link, Names};
use throughline_notes::markdown::{self, Around};
use throughline_notes::schema::Schemas;

/// Check notes against their types: required fields, schemas, tags, links
///
/// Checks the files of the project's folder of notes where there is one, and what is stored. Each fault is a line: where, whether it
/// is an error or a warning, and why. With errors the exit code is 1.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Files or folders; without them .gsd/memories of the project, and all stored notes
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The project of this folder, instead of the present one
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Print an array of objects: place, line, field, why, `is_warning`
    #[arg(long)]
    json: bool,
}

/// A fault, and where it is.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Found {
    /// The file, or `note ID`.
    place: String,
    #[serde(flatten)]
    fault: Fault,
}

pub(super) fn run(runtime: &Runtime, store: &Store, arguments: &Arguments) -> Result<Done, Failure> {
    let desk = Desk::of(arguments.project.as_deref(), None)?;
    let schemas = Schemas::of(Some(&desk.folder))
        .map_err(|why| Failure::new(why).hint("mend the schema, or take it away: what the program brings is enough"))?;
    let notes = store.notes_of(&desk.project.id, &desk.registry)?;
    let mut files: Vec<(String, Result<String, String>)> = Vec::new();
    for path in &arguments.paths {
        read(path, &mut files)?;
    }
    if arguments.paths.is_empty() && desk.folder.is_dir() {
        read(&desk.folder, &mut files)?;
    }
    // A file that is not stored yet can be meant too.
    let names: Vec<(String, String)> = files
        .iter()
        .filter_map(|(path, text)| {
            let note = markdown::parse(text.as_ref().ok()?, Around::of(path, 0), &desk.registry).ok()?;
            Some((Around::of(path, 0).stem.to_owned(), note.note_type))
        })
        .collect();
    let mut meant = Names::default();
    let mut types: Vec<&str> = Vec::new();
    for it in &notes {
        meant.add(&it.stem, &[&it.note.uid, &it.memory]);
        types.push(&it.note.note_type);
    }
    let stored: HashSet<&str> = notes.iter().map(|it| it.stem.as_str()).collect();
    for (stem, note_type) in names.iter().filter(|(stem, _)| !stored.contains(stem.as_str())) {
        meant.add(stem, &[]);
        types.push(note_type);
    }
    let resolve = |link: &Link| meant.meant(&link.target).into_iter().map(|at| types[at].to_owned()).collect();
    let mut found = Vec::new();
    for (path, text) in &files {
        found.extend(faults(path, text, &desk, &schemas, &resolve));
    }
    let checked = files.len();
    let in_files: HashSet<&str> = names.iter().map(|(stem, _)| stem.as_str()).collect();
    let mut unwritten = 0;
    if arguments.paths.is_empty() {
        // What policies made has no author who could mend it.
        for it in notes.iter().filter(|it| it.is_named && !in_files.contains(it.stem.as_str())) {
            unwritten += 1;
            let text = markdown::write(&it.note, &desk.registry);
            let place = format!("note {}", it.memory);
            found.extend(faults(&place, &Ok(text), &desk, &schemas, &resolve));
        }
    }
    let errors = found.iter().filter(|found| !found.fault.is_warning).count();
    let done = if errors == 0 { Done::Well } else { Done::Badly };
    if arguments.json {
        output::json(&found)?;
        return Ok(done);
    }
    let mut out = output::stdout();
    for Found { place, fault } in &found {
        let line = if fault.line == 0 { String::new() } else { format!("{}:", fault.line) };
        let level = if fault.is_warning { "warning" } else { "error" };
        writeln!(out, "{}:{line} {level}: {}", output::clean_line(place), output::clean_line(&fault.why))?;
    }
    writeln!(
        out,
        "{} and {} checked: {}, {}",
        output::counted(checked as u64, "file", "files"),
        output::counted(unwritten, "stored note", "stored notes"),
        output::counted(errors as u64, "error", "errors"),
        output::counted((found.len() - errors) as u64, "warning", "warnings"),
    )?;
    out.flush()?;
    runtime.finish();
    Ok(done)
}

fn faults(place: &str, text: &Result<String, String>, desk: &Desk, schemas: &Schemas, resolve: &Resolve<'_>) -> Vec<Found> {
    let faults = match text {
        Ok(text) => check::file(text, Around::of(place, 0), &desk.registry, schemas, resolve).1,
        Err(why) => vec![Fault { line: 0, field: String::new(), why: why.clone(), is_warning: false }],
    };
    faults.into_iter().map(|fault| Found { place: place.to_owned(), fault }).collect()
}

/// Reads a file, or all of a folder.
fn read(path: &Path, into: &mut Vec<(String, Result<String, String>)>) -> Result<(), Failure> {
    let wrong = |error: std::io::Error| Failure::new(format!("{}: {error}", path.display()));
    let (folder, only) = if path.is_dir() {
        (path, None)
    } else {
        let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        (above, path.file_name().and_then(|name| name.to_str()))
    };
    let open = Folder::open(folder, true).map_err(wrong)?.ok_or_else(|| wrong(std::io::ErrorKind::NotFound.into()))?;
    let text = |name: &str| {
        let (bytes, _) = open.read(name)?;
        String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
    };
    if let Some(name) = only {
        into.push((path.to_string_lossy().into_owned(), text(name)));
        return Ok(());
    }
    let scan = open.scan().map_err(wrong)?;
    for name in scan.files.keys() {
        into.push((folder.join(name).to_string_lossy().into_owned(), text(name)));
    }
    into.extend(
        scan.passed_over.into_iter().map(|(name, why)| (folder.join(name).to_string_lossy().into_owned(), Err(why))),
    );
    Ok(())
}
