//! `throughline memory store`.

use std::collections::HashSet;
use std::io::{self, Read, Write};
use std::path::PathBuf;

use serde::Serialize;

use super::notes::Desk;
use super::{Failure, Runtime, Store, output};
use throughline_engine::note_sync as sync;
use throughline_engine::redaction;
use throughline_notes::registry::GENERAL;
use throughline_notes::{MOST_CONTENT, MOST_DESCRIPTION, MOST_TITLE, Note, describe, listed, one_line};
use throughline_search::query::Query;
use throughline_search::tokens;
use throughline_store::{PutNote, StoredNote, Way};

/// How much of their words two notes share that are close: the size of the intersection over that of the union.
const CLOSE: f64 = 0.5;

/// So many keywords in common make two notes close too.
const SHARED_KEYWORDS: usize = 2;

/// How many notes are compared with a new one.
const COMPARED: u32 = 8;

/// Store a typed note
///
/// A note has a type, at least two tags and a title, and may be related to others; `memory check` says what is amiss with one. As
/// everything else it loses its secrets first. The same title on the same day, or the same content, is not stored twice:
/// `[SKIP:DUPLICATE]` names the note that there is. Of one that says nearly the same, `[WARN:SIMILAR]` is told.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// What the note says, in Markdown; `-`, or nothing, reads it from standard input
    #[arg(value_name = "CONTENT", conflicts_with = "file")]
    content: Option<String>,
    /// One line that stands alone
    #[arg(long, allow_hyphen_values = true)]
    title: String,
    /// Its type, such as root-cause, architecture-decision or pattern-discovery
    #[arg(long = "type", value_name = "TYPE", default_value = GENERAL)]
    note_type: String,
    /// Tags, between commas; its type's own are added
    #[arg(long, value_name = "TAG,…", default_value = "", allow_hyphen_values = true)]
    tags: String,
    /// Words to find it by that do not stand in it, between commas
    #[arg(long, value_name = "WORD,…", default_value = "", allow_hyphen_values = true)]
    keywords: String,
    /// What it says in one line of at most 200 characters; without it the first sentence
    #[arg(long, value_name = "TEXT", default_value = "", allow_hyphen_values = true)]
    description: String,
    /// Notes that it is related to, between commas: names of files or identifiers, with a relation before them or without, such
    /// as `resolves:2026-02-23_pool-is-exhausted`
    #[arg(long, value_name = "NOTE,…", default_value = "", allow_hyphen_values = true)]
    related: String,
    /// Read what it says from this file
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The session in which it was learned
    #[arg(long, value_name = "ID", default_value = "")]
    session: String,
    /// The project of this folder, instead of the present one
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Sync with this folder afterwards, so that the note is a file too
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
    /// Print the path of its file and nothing else
    #[arg(long, conflicts_with = "json")]
    paths: bool,
    /// Print an object: id, type, title, path, stored, similar
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Said<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    note_type: &'a str,
    title: &'a str,
    /// Where it stands as a file, or would.
    path: &'a str,
    /// Whether it is new.
    stored: bool,
    /// Notes that say nearly the same.
    similar: Vec<String>,
}

pub(super) fn run(runtime: &Runtime, mut store: Store, arguments: &Arguments) -> Result<(), Failure> {
    let desk = Desk::of(arguments.project.as_deref(), arguments.into.as_deref())?;
    desk.insist_on(runtime, &arguments.session)?;
    let mut note = note(runtime, &desk, arguments)?;
    redaction::in_place(runtime, Some(&desk.project.root), sync::texts_of(&mut note).collect())?;
    let similar = similar(&store, &desk, &note, runtime.now)?;
    let (uid, note_type, stem, stored) =
        match store.put_note(&desk.project, &note, Way::Written, &desk.registry, runtime.now)? {
            PutNote::Stored { uid, stem } => (uid, note.note_type.clone(), stem, true),
            PutNote::Duplicate { uid, note_type, stem } => (uid, note_type, stem, false),
            PutNote::Forgotten => {
                return Err(Failure::new("this very text was deleted for good").hint("say it in other words"));
            }
        };
    if !arguments.session.is_empty() {
        runtime.journal().recount(&arguments.session);
    }
    if arguments.into.is_some() {
        let report = sync::run(runtime, &mut store, &desk.project, &desk.folder, sync::Settings::default())?;
        super::sync::tell(&report, &desk.folder)?;
    }
    runtime.finish();
    let path = desk.path(&note_type, &stem);
    let similar = if stored { similar } else { Vec::new() };
    if arguments.json {
        let similar = similar.iter().map(|it| it.note.uid.clone()).collect();
        return output::json(&Said { id: &uid, note_type: &note_type, title: &note.title, path: &path, stored, similar });
    }
    let mut err = anstream::stderr().lock();
    for it in &similar {
        writeln!(err, "[WARN:SIMILAR] {} {}", it.note.uid, output::clean_line(&desk.path_of(it)))?;
    }
    drop(err);
    let mut out = output::stdout();
    let mark = if stored { "" } else { "[SKIP:DUPLICATE] " };
    let path = output::clean_line(&path);
    if arguments.paths {
        writeln!(out, "{mark}{path}")?;
    } else {
        writeln!(out, "{mark}{uid} {path}")?;
    }
    Ok(out.flush()?)
}

fn note(runtime: &Runtime, desk: &Desk, arguments: &Arguments) -> Result<Note, Failure> {
    let Some(note_type) = desk.registry.get(&arguments.note_type) else {
        let names: Vec<&str> = desk.registry.names().collect();
        return Err(Failure::new(format!("there is no type of notes {:?}", arguments.note_type))
            .hint(format!("there are {}; a team's own stand in _schema/types.yaml", names.join(", "))));
    };
    if !arguments.session.is_empty() {
        super::super::pause::check_session(&arguments.session)?;
    }
    let content = content(arguments)?;
    let title = one_line(&arguments.title, MOST_TITLE);
    if title.is_empty() {
        return Err(Failure::new("there is no title").hint("--title \"one line that stands alone\""));
    }
    let mut tags = listed(&arguments.tags);
    for tag in &note_type.tags {
        // Of what has no type, two are enough.
        if !tags.contains(tag) && (arguments.note_type != GENERAL || tags.len() < 2) {
            tags.push(tag.clone());
        }
    }
    let description = one_line(&arguments.description, MOST_DESCRIPTION);
    Ok(Note {
        uid: String::new(),
        note_type: arguments.note_type.clone(),
        kind: String::new(),
        description: if description.is_empty() { describe(&title, &content) } else { description },
        title,
        content,
        tags,
        keywords: listed(&arguments.keywords),
        related: listed(&arguments.related),
        files: Vec::new(),
        importance: note_type.importance,
        created: runtime.now,
        session: arguments.session.clone(),
        extra: String::new(),
    })
}

fn content(arguments: &Arguments) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let most = MOST_CONTENT as u64 + 1;
    match (&arguments.content, &arguments.file) {
        (Some(text), _) if text != "-" => bytes.extend_from_slice(text.as_bytes()),
        (_, Some(file)) => {
            std::fs::File::open(file)
                .and_then(|file| file.take(most).read_to_end(&mut bytes))
                .map_err(|error| Failure::new(format!("{}: {error}", file.display())))?;
        }
        _ => {
            io::stdin()
                .lock()
                .take(most)
                .read_to_end(&mut bytes)
                .map_err(|error| Failure::new(format!("standard input: {error}")))?;
        }
    }
    if bytes.len() > MOST_CONTENT {
        return Err(Failure::new(format!("the note has more than {} KiB", MOST_CONTENT >> 10))
            .hint("write what is worth remembering of it"));
    }
    let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n").replace('\r', "\n");
    let text = text.trim();
    if text.is_empty() {
        return Err(Failure::new("the note says nothing").hint("throughline memory store --title \"…\" \"what it says\""));
    }
    Ok(text.to_owned())
}

/// Notes of the same type that say nearly the same.
fn similar(store: &Store, desk: &Desk, note: &Note, now: u64) -> Result<Vec<StoredNote>, Failure> {
    let text = format!("{} {}", note.title, note.keywords.join(" "));
    // Its words, and none of them as a field, a phrase or an exclusion.
    let plain: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || matches!(c, ':' | '"' | '“' | '”'))
        .map(|word| word.trim_start_matches(['-', '−']))
        .collect();
    let mut query = Query::parse(&plain.join(" "), &jiff::Zoned::now());
    query.kinds = desk.registry.kinds_of(&note.note_type);
    let found = store.find_memories(&query, Some(&desk.project.id), COMPARED, now)?;
    let ids: Vec<&str> = found.iter().map(|memory| memory.id.as_str()).collect();
    let own = words(note);
    let mut close = store.notes_by_id(&ids, &desk.registry)?;
    close.retain(|it| {
        let theirs = words(&it.note);
        let shared = own.intersection(&theirs).count();
        let all = own.len() + theirs.len() - shared;
        let keywords = note.keywords.iter().filter(|word| it.note.keywords.contains(word)).count();
        #[expect(clippy::cast_precision_loss, reason = "a share of a note's words")]
        let is_close = all > 0 && shared as f64 >= CLOSE * all as f64;
        is_close || keywords >= SHARED_KEYWORDS
    });
    Ok(close)
}

fn words(note: &Note) -> HashSet<String> {
    tokens::index_text(&format!("{} {}", note.title, note.content)).split_whitespace().map(str::to_owned).collect()
}
