//! `throughline note check`: validates notes.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;
use serde_json::Value;

use super::context::NoteContext;
use super::{CommandError, Runtime, Store, output};
use throughline_engine::note_sync::folder::Folder;
use throughline_model::invalid::Invalid;
use throughline_notes::NotesError;
use throughline_notes::check::{self, LinkResolver, NoteFault};
use throughline_notes::links::{Link, NameIndex};
use throughline_notes::markdown::{self, FileContext};
use throughline_notes::registry::Registry;
use throughline_notes::schema::{self, FieldFaults, FieldValidator, FrontMatter, Question};
use throughline_sandbox::compile::{self, Job, JobError};
use throughline_store::StoredNote;

/// Check the fields, schemas, tags and links of notes
///
/// Checks the files in the project's folder of notes, if there is one, and the stored notes. Each problem is one line:
/// where, whether it is an error or a warning, and what is wrong. The exit code is 1 if there are errors.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Files or folders; by default .gsd/memories of the project and all stored notes
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Use the project of this folder, or the known project of this name or path, instead of the current one
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Print an array of objects: place, line, field, why, `is_warning`
    #[arg(long)]
    json: bool,
}

/// A problem, and where it is, as printed with `--json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct CheckedFault {
    /// The file, or `note ID`.
    place: String,
    #[serde(flatten)]
    fault: NoteFault,
}

pub(super) fn run(runtime: &Runtime, store: &Store, arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let context = NoteContext::of(runtime, arguments.project.as_deref(), None)?;
    let schemas = schema::read(Some(&context.folder))?;
    let notes = store.notes_of(&context.project.id, &context.registry)?;
    let mut files: Vec<Named> = Vec::new();
    for path in &arguments.paths {
        read(path, &mut files)?;
    }
    if arguments.paths.is_empty() && context.folder.is_dir() {
        read(&context.folder, &mut files)?;
    }
    let named = named_notes(&files, &context.registry);
    let targets = LinkTargets::of(&notes, &named);
    let checked = files.len();
    if arguments.paths.is_empty() {
        files.extend(stored_only(&notes, &named, &context.registry));
    }
    let check = |validate: &FieldValidator<'_>| -> Vec<CheckedFault> {
        let resolve = |link: &Link| targets.types_of(link);
        files.iter().flat_map(|(place, text)| faults(place, text, &context, validate, &resolve)).collect()
    };
    // The first time to learn what is to be validated, so that it is asked for at once.
    let asked = RefCell::new(Vec::new());
    check(&|note_type, fields| {
        asked.borrow_mut().push(FrontMatter { note_type: note_type.to_owned(), fields: fields.clone() });
        Vec::new()
    });
    let answers = RefCell::new(validated(schemas, asked.into_inner())?.into_iter());
    let found = check(&|_, _| answers.borrow_mut().next().unwrap_or_default());
    let is_sound = found.iter().all(|found| found.fault.is_warning);
    let status = if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    if arguments.json {
        output::json(&found)?;
        return Ok(status);
    }
    print(&found, checked, files.len() - checked)?;
    runtime.finish();
    Ok(status)
}

/// A file or a stored note: where it is, and its text, or why the text cannot be read.
type Named = (String, Result<String, Invalid>);

/// Returns the name and the type of each file that is a note.
fn named_notes(files: &[Named], registry: &Registry) -> Vec<(String, String)> {
    let named = files.iter().filter_map(|(path, text)| {
        let around = FileContext::from_path(path, 0);
        let note = markdown::parse(text.as_ref().ok()?, around, registry).ok()?;
        Some((around.stem.to_owned(), note.note_type))
    });
    named.collect()
}

/// What links can lead to: stored notes, and files that are not stored yet.
struct LinkTargets<'a> {
    names: NameIndex<'a>,
    /// The type of each note of the index.
    types: Vec<&'a str>,
}

impl<'a> LinkTargets<'a> {
    fn of(notes: &'a [StoredNote], named: &'a [(String, String)]) -> Self {
        let mut targets = Self { names: NameIndex::default(), types: Vec::new() };
        for it in notes {
            targets.names.add(&it.stem, &[&it.note.uid, &it.memory]);
            targets.types.push(&it.note.note_type);
        }
        let stored: HashSet<&str> = notes.iter().map(|it| it.stem.as_str()).collect();
        for (stem, note_type) in named.iter().filter(|(stem, _)| !stored.contains(stem.as_str())) {
            targets.names.add(stem, &[]);
            targets.types.push(note_type);
        }
        targets
    }

    fn types_of(&self, link: &Link) -> Vec<String> {
        self.names.resolve(&link.target).into_iter().map(|at| self.types[at].to_owned()).collect()
    }
}

/// Returns the stored notes that are in none of the files. Notes that policies made are skipped: they have no author who could correct them.
fn stored_only(notes: &[StoredNote], named: &[(String, String)], registry: &Registry) -> Vec<Named> {
    let in_files: HashSet<&str> = named.iter().map(|(stem, _)| stem.as_str()).collect();
    let only = notes.iter().filter(|it| it.is_named && !in_files.contains(it.stem.as_str()));
    only.map(|it| (format!("note {}", it.memory), Ok(markdown::format_note(&it.note, registry)))).collect()
}

/// Prints what was found in that many files and in that many notes that are only stored.
fn print(found: &[CheckedFault], files: usize, notes: usize) -> Result<(), CommandError> {
    let mut out = output::stdout();
    for CheckedFault { place, fault } in found {
        let line = if fault.line == 0 { String::new() } else { format!("{}:", fault.line) };
        let level = if fault.is_warning { "warning" } else { "error" };
        writeln!(out, "{}:{line} {level}: {}", output::clean_line(place), output::clean_line(&fault.why))?;
    }
    let warnings = found.iter().filter(|found| found.fault.is_warning).count();
    writeln!(
        out,
        "checked {} and {}: {}, {}",
        output::counted(files as u64, "file", "files"),
        output::counted(notes as u64, "stored note", "stored notes"),
        output::counted((found.len() - warnings) as u64, "error", "errors"),
        output::counted(warnings as u64, "warning", "warnings"),
    )?;
    Ok(out.flush()?)
}

fn faults(
    place: &str,
    text: &Result<String, Invalid>,
    context: &NoteContext,
    validate: &FieldValidator<'_>,
    resolve: &LinkResolver<'_>,
) -> Vec<CheckedFault> {
    let faults = match text {
        Ok(text) => check::check_file(text, FileContext::from_path(place, 0), &context.registry, validate, resolve).1,
        Err(why) => vec![NoteFault { line: 0, field: String::new(), why: why.to_string(), is_warning: false }],
    };
    faults.into_iter().map(|fault| CheckedFault { place: place.to_owned(), fault }).collect()
}

/// Validates the front matter of notes, and returns what is wrong with each.
fn validated(schemas: BTreeMap<String, Value>, notes: Vec<FrontMatter>) -> Result<Vec<FieldFaults>, CommandError> {
    if notes.is_empty() {
        return Ok(Vec::new());
    }
    let question = serde_json::to_vec(&Question { schemas, notes }).map_err(anyhow::Error::from)?;
    let answer = compile::ask(Job::Validate, &question).map_err(|error| match error.downcast::<JobError>() {
        Ok(JobError(why)) => NotesError::Schema(Invalid::from(why.as_str())).into(),
        Err(error) => CommandError::from(error),
    })?;
    Ok(serde_json::from_slice(&answer).map_err(anyhow::Error::from)?)
}

/// Reads a file, or all notes of a folder.
fn read(path: &Path, into: &mut Vec<Named>) -> Result<(), CommandError> {
    let wrong = |error: std::io::Error| CommandError::new(format!("{}: {error}", path.display()));
    let (folder, only) = if path.is_dir() {
        (path, None)
    } else {
        let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        (above, path.file_name().and_then(|name| name.to_str()))
    };
    let open = Folder::open(folder, true).map_err(wrong)?.ok_or_else(|| wrong(std::io::ErrorKind::NotFound.into()))?;
    let text = |name: &str| {
        let (bytes, _) = open.read(name).map_err(Invalid::because)?;
        String::from_utf8(bytes).map_err(|_| Invalid::from("the file is not UTF-8"))
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
        scan.passed_over
            .into_iter()
            .map(|(name, why)| (folder.join(name).to_string_lossy().into_owned(), Err(Invalid::because(why)))),
    );
    Ok(())
}
