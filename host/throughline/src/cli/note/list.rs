//! `throughline note list`: lists the notes of a project.

use std::io::Write;
use std::path::PathBuf;

use serde::Serialize;

use super::context::NoteContext;
use super::{CommandError, Runtime, Store, output};
use crate::cli::output::{BOLD, DIM};
use crate::cli::pager;
use throughline_store::{StoredNote, day};

/// List the notes of a project, newest first
///
/// Lists what was written as a note. Memories that sessions taught and that have a type of notes are listed with `--learned`
/// too; `throughline note recall` finds both, and `throughline memory show` prints one.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Only these types, such as root-cause; can be repeated
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',')]
    types: Vec<String>,
    /// Also memories of these types that sessions taught
    #[arg(long)]
    learned: bool,
    /// List at most this many
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = crate::cli::number::limit)]
    limit: u32,
    /// Use the project of this folder, or the known project of this name or path, instead of the current one
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Print an array of objects: id, memory, type, title, description, tags, path, `created_at`
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ListedNote<'a> {
    id: &'a str,
    /// The identifier of its memory, which `throughline memory show` takes.
    memory: &'a str,
    #[serde(rename = "type")]
    note_type: &'a str,
    title: &'a str,
    description: &'a str,
    tags: &'a [String],
    /// The path of its file, which exists once the note was synced.
    path: String,
    /// RFC 3339, UTC.
    created_at: String,
}

pub(super) fn run(runtime: &Runtime, store: &Store, arguments: &Arguments) -> Result<(), CommandError> {
    let context = NoteContext::of(runtime, arguments.project.as_deref(), None)?;
    if let Some(unknown) = arguments.types.iter().find(|name| context.registry.get(name).is_none()) {
        return Err(context.unknown_type(unknown));
    }
    let mut notes = store.notes_of(&context.project.id, &context.registry)?;
    notes.retain(|it| {
        (arguments.learned || it.is_named) && (arguments.types.is_empty() || arguments.types.contains(&it.note.note_type))
    });
    let ids: Vec<&str> = notes.iter().map(|it| it.memory.as_str()).collect();
    let mut is_right = store.marks(&ids)?.into_iter().map(|marks| marks.wrong_at.is_none());
    notes.retain(|_| is_right.next().unwrap_or(true));
    notes.reverse();
    let all = notes.len();
    let is_more = output::cut(&mut notes, arguments.limit);
    if arguments.json {
        let entries: Vec<ListedNote<'_>> = notes.iter().map(|it| ListedNote::new(&context, it)).collect();
        return output::json(&entries);
    }
    if notes.is_empty() {
        let mut err = anstream::stderr().lock();
        writeln!(err, "no notes in this project")?;
        if !arguments.learned {
            writeln!(err, "hint: `throughline note add` writes one, and --learned lists what sessions taught")?;
        }
        return Ok(());
    }
    print(&notes)?;
    if is_more {
        output::print_more(notes.len(), Some(all as u64))?;
    }
    Ok(())
}

impl<'a> ListedNote<'a> {
    fn new(context: &NoteContext, it: &'a StoredNote) -> Self {
        Self {
            id: &it.note.uid,
            memory: &it.memory,
            note_type: &it.note.note_type,
            title: &it.note.title,
            description: &it.note.description,
            tags: &it.note.tags,
            path: context.path_of(it),
            created_at: output::timestamp(it.note.created),
        }
    }
}

/// Prints one line for each note.
fn print(notes: &[StoredNote]) -> Result<(), CommandError> {
    let types: Vec<String> = notes.iter().map(|it| output::clean_line(&it.note.note_type)).collect();
    let width = output::widest(&types);
    let mut out = Vec::new();
    for (it, note_type) in notes.iter().zip(&types) {
        let style = output::kind_style(&it.note.kind);
        let id = output::clean_line(&it.memory);
        let day = day(it.note.created);
        let before = id.len() + 2 + width + 2 + day.len() + 2;
        let title = output::clean_line(&it.note.title);
        let title = match output::width() {
            Some(columns) => output::fit(&title, columns.saturating_sub(before).max(20)),
            None => title,
        };
        let note_type = output::pad(note_type, width);
        writeln!(out, "{DIM}{id}{DIM:#}  {style}{note_type}{style:#}  {DIM}{day}{DIM:#}  {BOLD}{title}{BOLD:#}")?;
    }
    pager::write(&out)
}
