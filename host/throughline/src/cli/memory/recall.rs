//! `throughline memory recall`.

use std::io::Write;
use std::path::PathBuf;

use clap::ValueEnum;
use serde::Serialize;

use super::notes::Desk;
use super::{Failure, Runtime, Store, output};
use throughline_notes::links::Link;
use throughline_notes::one_line;
use throughline_search::query::Query;
use throughline_store::{StoredNote, day};

/// How many lines of a note are shown in full mode.
const LINES: usize = 20;

/// How much of a result is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// Title, type, day and description
    Compact,
    /// The note's first lines, and where it stands
    Full,
}

/// Recall notes, and what they are related to
///
/// Searches titles, contents, keywords, tags and descriptions of notes, and what the sessions themselves left of the same types. With
/// two hops, the notes that a result is related to follow, marked `[→related]`.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// What to search for; as of `memory search`
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    /// At most this many, and as many related ones
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=200))]
    limit: u32,
    /// How much of each is shown
    #[arg(long, value_enum, default_value_t = Mode::Compact)]
    mode: Mode,
    /// 2: with what the results are related to; 1: without
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=2))]
    hop: u8,
    /// Search the types of a chain, in its order: debugging, architecture, session, or a team's own
    #[arg(long, value_name = "NAME")]
    chain: Option<String>,
    /// Of these types only; may be repeated
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',')]
    types: Vec<String>,
    /// The project of this folder, instead of the present one
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Print an array of objects: id, type, title, description, content, path, `created_at`, related, hop
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Recalled<'a> {
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
    /// 1: it answers; 2: one that answers is related to it.
    hop: u8,
}

pub(super) fn run(runtime: &Runtime, store: &Store, arguments: &Arguments) -> Result<(), Failure> {
    let desk = Desk::of(arguments.project.as_deref(), None)?;
    let found = find(runtime, store, &desk, arguments)?;
    let related = if arguments.hop == 2 { related(store, &desk, &found, arguments.limit as usize)? } else { Vec::new() };
    let ids: Vec<String> = found.iter().chain(&related).map(|it| it.memory.clone()).collect();
    let all = found.iter().map(|it| (it, 1)).chain(related.iter().map(|it| (it, 2)));
    if arguments.json {
        let entries: Vec<Recalled<'_>> = all
            .map(|(it, hop)| Recalled {
                id: &it.note.uid,
                note_type: &it.note.note_type,
                title: &it.note.title,
                description: &it.note.description,
                content: &it.note.content,
                tags: &it.note.tags,
                path: desk.path_of(it),
                created_at: output::timestamp(it.note.created),
                related: &it.note.related,
                hop,
            })
            .collect();
        output::json(&entries)?;
    } else if ids.is_empty() {
        writeln!(anstream::stderr().lock(), "[NO_MATCH] no note of this project answers")?;
    } else {
        let mut out = output::stdout();
        for (it, hop) in all {
            tell(&mut out, &desk, it, hop, arguments.mode)?;
        }
        out.flush()?;
    }
    super::note_lookup(runtime, store, &ids);
    Ok(())
}

fn tell(out: &mut impl Write, desk: &Desk, it: &StoredNote, hop: u8, mode: Mode) -> Result<(), Failure> {
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
            writeln!(out, "📁 `{}`\n", output::clean_line(&desk.path_of(it)))?;
            for line in note.content.lines().take(LINES) {
                writeln!(out, "{}", output::clean(line))?;
            }
            if note.content.lines().nth(LINES).is_some() {
                writeln!(out, "… (`throughline memory show {}` shows all)", it.memory)?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}

/// The notes that answer, best first; of a chain, in the order of its types.
fn find(runtime: &Runtime, store: &Store, desk: &Desk, arguments: &Arguments) -> Result<Vec<StoredNote>, Failure> {
    let registry = &desk.registry;
    let text = arguments.query.join(" ");
    let search = |kinds: Vec<String>| -> Result<Vec<StoredNote>, Failure> {
        let mut query = Query::parse(&text, &jiff::Zoned::now());
        let asked = registry.meant(&query.kinds);
        query.kinds = if asked.is_empty() { kinds } else { asked };
        let found = store.find_memories(&query, Some(&desk.project.id), arguments.limit, runtime.now)?;
        let ids: Vec<&str> = found.iter().map(|memory| memory.id.as_str()).collect();
        Ok(store.notes_by_id(&ids, registry)?)
    };
    if let Some(name) = &arguments.chain {
        let Some(chain) = registry.chain(name) else {
            let names: Vec<&str> = registry.chains().collect();
            return Err(Failure::new(format!("there is no chain {name:?}")).hint(format!("there are {}", names.join(", "))));
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
        let names: Vec<&str> = registry.names().collect();
        return Err(
            Failure::new(format!("there is no type of notes {unknown:?}")).hint(format!("there are {}", names.join(", ")))
        );
    }
    let kinds = if arguments.types.is_empty() { registry.kinds() } else { registry.meant(&arguments.types) };
    let mut found = search(kinds)?;
    found.retain(|it| arguments.types.is_empty() || arguments.types.contains(&it.note.note_type));
    Ok(found)
}

/// What the notes are related to, none twice and none that is among them.
fn related(store: &Store, desk: &Desk, found: &[StoredNote], limit: usize) -> Result<Vec<StoredNote>, Failure> {
    let mut related: Vec<StoredNote> = Vec::new();
    for it in found {
        for link in Link::all(&it.note, &desk.registry) {
            for other in store.notes_named(&desk.project.id, &link.target, &desk.registry)? {
                let is_new = found.iter().chain(&related).all(|known| known.memory != other.memory);
                if is_new && related.len() < limit {
                    related.push(other);
                }
            }
        }
    }
    Ok(related)
}

/// A note's title and description in one line, for lists.
pub(super) fn brief(it: &StoredNote) -> String {
    one_line(&format!("{} — {}", it.note.title, it.note.description), 160)
}
