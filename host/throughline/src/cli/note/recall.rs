//! `throughline note recall`: searches notes, with the notes that they are related to.

use std::io::Write;
use std::path::PathBuf;

use clap::ValueEnum;
use serde::Serialize;

use super::context::NoteContext;
use super::{CommandError, Runtime, Store, output};
use throughline_engine::memory::types;
use throughline_engine::search::SearchRequest;
use throughline_notes::links::Link;
use throughline_notes::one_line;
use throughline_store::{StoredNote, day};

/// The most lines of a note to print in full mode.
const MAX_LINES: usize = 20;

/// How much of a result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// Title, type, day and description
    Compact,
    /// The first lines of the note, and the path of its file
    Full,
}

/// Search notes, with the notes that they are related to
///
/// Searches titles, contents, keywords, tags and descriptions of notes, and memories of the same types that policies
/// learned from sessions. With two hops, the notes to which a result is related follow it, marked `[→related]`.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// What to search for, in the syntax of `throughline search`
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    /// Print at most this many results, and as many related notes
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = crate::cli::number::between::<1, 200>)]
    limit: u32,
    /// How much of each note to print
    #[arg(long, value_enum, default_value_t = Mode::Compact)]
    mode: Mode,
    /// 2: with related notes; 1: without
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = crate::cli::number::small::<1, 2>)]
    hop: u8,
    /// Search the types of this chain, in its order: debugging, architecture, session, or a chain of the project
    #[arg(long, value_name = "NAME")]
    chain: Option<String>,
    /// Only these types; can be repeated
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',')]
    types: Vec<String>,
    /// Use the project of this folder, or the known project of this name or path, instead of the current one
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Print an array of objects: id, type, title, description, content, path, `created_at`, related, hop
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct RecalledNote<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    note_type: &'a str,
    title: &'a str,
    description: &'a str,
    content: &'a str,
    tags: &'a [String],
    path: String,
    created_at: String,
    related: &'a [String],
    /// 1 for a result, 2 for a note to which a result is related.
    hop: u8,
}

pub(super) fn run(runtime: &Runtime, store: &Store, arguments: &Arguments) -> Result<(), CommandError> {
    let context = NoteContext::of(runtime, arguments.project.as_deref(), None)?;
    let found = find(runtime, store, &context, arguments)?;
    let related = if arguments.hop == 2 { related(store, &context, &found, arguments.limit as usize)? } else { Vec::new() };
    let ids: Vec<String> = found.iter().chain(&related).map(|it| it.memory.clone()).collect();
    let all = found.iter().map(|it| (it, 1)).chain(related.iter().map(|it| (it, 2)));
    if arguments.json {
        let entries: Vec<RecalledNote<'_>> = all
            .map(|(it, hop)| RecalledNote {
                id: &it.note.uid,
                note_type: &it.note.note_type,
                title: &it.note.title,
                description: &it.note.description,
                content: &it.note.content,
                tags: &it.note.tags,
                path: context.path_of(it),
                created_at: output::timestamp(it.note.created),
                related: &it.note.related,
                hop,
            })
            .collect();
        output::json(&entries)?;
    } else if ids.is_empty() {
        writeln!(anstream::stderr().lock(), "[NO_MATCH] no note of this project matches")?;
    } else {
        let mut out = output::stdout();
        for (it, hop) in all {
            print(&mut out, &context, it, hop, arguments.mode)?;
        }
        out.flush()?;
    }
    throughline_engine::search::record_lookup(runtime, store, &ids);
    Ok(())
}

fn print(out: &mut impl Write, context: &NoteContext, it: &StoredNote, hop: u8, mode: Mode) -> Result<(), CommandError> {
    let note = &it.note;
    let title = output::clean_line(&note.title);
    let mark = if hop == 2 { " [→related]" } else { "" };
    match mode {
        Mode::Compact => {
            writeln!(out, "- **{title}** [{}] {}{mark}", note.note_type, day(note.created))?;
            if !note.description.is_empty() {
                writeln!(out, "  {}", output::clean_line(&note.description))?;
            }
        }
        Mode::Full => {
            writeln!(out, "### {title} [{}]{mark}", note.note_type)?;
            writeln!(out, "📁 `{}`\n", output::clean_line(&context.path_of(it)))?;
            for line in note.content.lines().take(MAX_LINES) {
                writeln!(out, "{}", output::clean(line))?;
            }
            if note.content.lines().nth(MAX_LINES).is_some() {
                writeln!(out, "… (`throughline memory show {}` shows all)", it.memory)?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}

/// Returns the notes that match, best first; for a chain, in the order of its types.
fn find(
    runtime: &Runtime,
    store: &Store,
    context: &NoteContext,
    arguments: &Arguments,
) -> Result<Vec<StoredNote>, CommandError> {
    let registry = &context.registry;
    let text = arguments.query.join(" ");
    let parsed = types::parse_query(&text, &[], store, Some(&context.project))?;
    let search = |kinds: Vec<String>| -> Result<Vec<StoredNote>, CommandError> {
        let mut query = parsed.clone();
        if query.kinds.is_empty() {
            query.kinds = kinds;
        }
        let found = SearchRequest::of_notes(query, &context.project.id, arguments.limit, runtime.now).run(store)?.hits;
        let ids: Vec<&str> = found.iter().map(|hit| hit.memory.id.as_str()).collect();
        Ok(store.notes_by_id(&ids, registry)?)
    };
    if let Some(name) = &arguments.chain {
        let Some(chain) = registry.chain(name) else {
            let names: Vec<&str> = registry.chains().collect();
            return Err(CommandError::new(format!("there is no chain {name:?}"))
                .hint(format!("the chains are {}", names.join(", "))));
        };
        let mut found: Vec<StoredNote> = Vec::new();
        for note_type in chain {
            let of_type = search(registry.kinds_of(note_type))?;
            found.extend(of_type.into_iter().filter(|it| it.note.note_type == *note_type));
        }
        found.truncate(arguments.limit as usize);
        return Ok(found);
    }
    if let Some(unknown) = arguments.types.iter().find(|name| registry.get(name).is_none()) {
        return Err(context.unknown_type(unknown));
    }
    let kinds = if arguments.types.is_empty() { registry.kinds() } else { registry.expand_types(&arguments.types) };
    let mut found = search(kinds)?;
    found.retain(|it| arguments.types.is_empty() || arguments.types.contains(&it.note.note_type));
    Ok(found)
}

/// Returns the notes to which the found ones are related, each once, without the found ones.
fn related(
    store: &Store,
    context: &NoteContext,
    found: &[StoredNote],
    limit: usize,
) -> Result<Vec<StoredNote>, CommandError> {
    let mut related: Vec<StoredNote> = Vec::new();
    for it in found {
        for link in Link::all(&it.note, &context.registry) {
            for other in store.notes_named(&context.project.id, &link.target, &context.registry)? {
                let is_new = found.iter().chain(&related).all(|known| known.memory != other.memory);
                if is_new && related.len() < limit {
                    related.push(other);
                }
            }
        }
    }
    Ok(related)
}

/// Returns the title and the description of a note in one line, for lists.
pub(super) fn brief(it: &StoredNote) -> String {
    one_line(&format!("{} — {}", it.note.title, it.note.description), 160)
}
