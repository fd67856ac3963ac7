//! `throughline note add`: stores a typed note.

use std::collections::HashSet;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::context::NoteContext;
use super::{CommandError, Runtime, Store, output};
use crate::cli::scope;
use throughline_engine::note_sync as sync;
use throughline_engine::redaction::ProjectRedactor;
use throughline_engine::search::SearchRequest;
use throughline_model::redacted::Redacted;
use throughline_notes::markdown::without_heading;
use throughline_notes::registry::GENERAL_TYPE;
use throughline_notes::{MAX_CONTENT_BYTES, MAX_DESCRIPTION_CHARS, MAX_TITLE_CHARS, Note, describe, one_line, parse_list};
use throughline_search::query::Query;
use throughline_search::tokens;
use throughline_store::{NoteOrigin, PutNoteOutcome, StoredNote};

/// The least Jaccard similarity of the words of two notes that count as similar: the size of the intersection divided
/// by that of the union.
const MIN_SIMILARITY: f64 = 0.5;

/// Two notes with at least this many common keywords count as similar too.
const MIN_SHARED_KEYWORDS: usize = 2;

/// With how many notes a new one is compared.
const MAX_COMPARED: u32 = 8;

/// Add a typed note
///
/// A note has a type, a title and at least two tags, and can be related to other notes; `throughline note check`
/// reports what is wrong with a note. Secrets are redacted first, as always. A note with the same title on the same
/// day, or with the same content, is not stored twice: `[SKIP:DUPLICATE]` and the existing note are printed instead.
/// `[WARN:SIMILAR]` names notes that say nearly the same.
///
/// For one fact in a few sentences, `throughline memory save` is enough.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The text of the note, in Markdown; `-` or no CONTENT reads standard input
    #[arg(value_name = "CONTENT", conflicts_with = "file")]
    content: Option<String>,
    /// The title: one line that can be understood by itself
    #[arg(long, allow_hyphen_values = true)]
    title: String,
    /// The type, such as root-cause, architecture-decision or pattern-discovery
    #[arg(long = "type", value_name = "TYPE", default_value = GENERAL_TYPE)]
    note_type: String,
    /// Tags, separated by commas; the tags of the type are added
    #[arg(long, value_name = "TAG,…", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    tags: String,
    /// Words to find the note by that are not in its text, separated by commas
    #[arg(long, value_name = "WORD,…", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    keywords: String,
    /// A summary in one line of at most 200 characters; by default the first sentence
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    description: String,
    /// Related notes, separated by commas: names of files or identifiers, optionally with the relation in front, such
    /// as `resolves:2026-02-23_pool-is-exhausted`
    #[arg(long, value_name = "NOTE,…", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    related: String,
    /// Read the text of the note from this file
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The session in which this was learned
    #[arg(long, value_name = "ID", default_value = "", hide_default_value = true)]
    session: String,
    /// Use the project of this folder, or the known project of this name or path, instead of the current one
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Sync with this folder afterwards, so that the note becomes a file too
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
    /// Only print the path that the file has, or gets when it is synced
    #[arg(long, conflicts_with = "json")]
    paths: bool,
    /// Print an object: id, type, title, path, stored, similar
    #[arg(long)]
    json: bool,
}

/// How many similar notes are named for people.
const MAX_SIMILAR: usize = 3;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct AddedNote<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    note_type: &'a str,
    title: &'a str,
    /// The path of its file, which exists once the note was synced.
    path: &'a str,
    /// False if the note existed already.
    stored: bool,
    /// The identifiers of notes that say nearly the same.
    similar: Vec<String>,
}

pub(super) fn run(runtime: &Runtime, mut store: Store, arguments: &Arguments) -> Result<(), CommandError> {
    let context = NoteContext::of(runtime, arguments.project.as_deref(), arguments.into.as_deref())?;
    context.require_enabled(runtime, &arguments.session)?;
    let note = note(runtime, &context, arguments)?;
    let note = Redacted::new(note, &mut ProjectRedactor::new(runtime, Some(&context.project.root)))?;
    let similar = similar(&store, &context, &note, runtime.now)?;
    let (uid, note_type, stem, stored) =
        match store.put_note(&context.project, &note, NoteOrigin::Written, &context.registry, runtime.now)? {
            PutNoteOutcome::Stored { uid, stem } => (uid, note.note_type.clone(), stem, true),
            PutNoteOutcome::Duplicate { uid, note_type, stem } => (uid, note_type, stem, false),
            PutNoteOutcome::Forgotten => {
                return Err(CommandError::new("a note with the same text was deleted for good").hint("use other words"));
            }
        };
    if !arguments.session.is_empty() {
        runtime.journal().reset_tool_count(&arguments.session);
    }
    if arguments.into.is_some() {
        let report = sync::run(runtime, &mut store, &context.project, &context.folder, sync::SyncOptions::default())?;
        super::sync::print_warnings(&report, &context.folder)?;
    }
    runtime.finish();
    let path = context.path(&note_type, &stem);
    let similar = if stored { similar } else { Vec::new() };
    if arguments.json {
        let similar = similar.iter().map(|it| it.note.uid.clone()).collect();
        return output::json(&AddedNote {
            id: &uid,
            note_type: &note_type,
            title: &note.title,
            path: &path,
            stored,
            similar,
        });
    }
    let mut err = anstream::stderr().lock();
    for it in similar.iter().take(MAX_SIMILAR) {
        writeln!(err, "[WARN:SIMILAR] {} {}", it.note.uid, output::clean_line(&shown_name(&context.path_of(it), &it.stem)))?;
    }
    if similar.len() > MAX_SIMILAR {
        writeln!(err, "[WARN:SIMILAR] and {} more", similar.len() - MAX_SIMILAR)?;
    }
    drop(err);
    let mut out = output::stdout();
    let mark = if stored { "" } else { "[SKIP:DUPLICATE] " };
    if arguments.paths {
        writeln!(out, "{mark}{}", output::clean_line(&path))?;
    } else {
        writeln!(out, "{mark}{uid} {}", output::clean_line(&shown_name(&path, &stem)))?;
    }
    Ok(out.flush()?)
}

/// Returns the path of the note's file. Only a sync writes the file; before, the file's name without folder and extension.
fn shown_name(path: &str, stem: &str) -> String {
    if Path::new(path).exists() { path.to_owned() } else { stem.to_owned() }
}

fn note(runtime: &Runtime, context: &NoteContext, arguments: &Arguments) -> Result<Note, CommandError> {
    let Some(note_type) = context.registry.get(&arguments.note_type) else {
        return Err(context.unknown_type(&arguments.note_type));
    };
    if !arguments.session.is_empty() {
        scope::check_session(&arguments.session)?;
    }
    let text = content(arguments)?;
    let title = one_line(&arguments.title, MAX_TITLE_CHARS);
    if title.is_empty() {
        return Err(
            CommandError::new("the note has no title").hint("add --title \"a line that can be understood by itself\"")
        );
    }
    let mut tags = parse_list(&arguments.tags);
    for tag in &note_type.tags {
        // A note without a type needs two tags only.
        if !tags.contains(tag) && (arguments.note_type != GENERAL_TYPE || tags.len() < 2) {
            tags.push(tag.clone());
        }
    }
    let description = one_line(&arguments.description, MAX_DESCRIPTION_CHARS);
    Ok(Note {
        uid: String::new(),
        note_type: arguments.note_type.clone(),
        kind: String::new(),
        description: if description.is_empty() { describe(&title, &text) } else { description },
        content: without_heading(&text, &title).to_owned(),
        title,
        tags,
        keywords: parse_list(&arguments.keywords),
        related: parse_list(&arguments.related),
        files: Vec::new(),
        importance: note_type.importance,
        created: runtime.now,
        session: arguments.session.clone(),
        extra: String::new(),
    })
}

fn content(arguments: &Arguments) -> Result<String, CommandError> {
    let mut bytes = Vec::new();
    let most = MAX_CONTENT_BYTES as u64 + 1;
    match (&arguments.content, &arguments.file) {
        (Some(text), _) if text != "-" => bytes.extend_from_slice(text.as_bytes()),
        (_, Some(file)) => {
            std::fs::File::open(file).and_then(|file| file.take(most).read_to_end(&mut bytes)).map_err(|error| {
                let what = if file.is_dir() { "it is a folder".to_owned() } else { error.to_string() };
                CommandError::new(format!("cannot read {}: {what}", file.display()))
                    .hint("--file names a file with the text of the note")
            })?;
        }
        _ => {
            io::stdin()
                .lock()
                .take(most)
                .read_to_end(&mut bytes)
                .map_err(|error| CommandError::new(format!("standard input: {error}")))?;
        }
    }
    if bytes.len() > MAX_CONTENT_BYTES {
        return Err(CommandError::new(format!("the note is larger than {} KiB", MAX_CONTENT_BYTES >> 10))
            .hint("keep what is worth remembering"));
    }
    let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n").replace('\r', "\n");
    let text = text.trim();
    if text.is_empty() {
        return Err(CommandError::new("the note is empty").hint("throughline note add --title \"…\" \"the text\""));
    }
    Ok(text.to_owned())
}

/// Returns notes of the same type that say nearly the same.
fn similar(store: &Store, context: &NoteContext, note: &Note, now: u64) -> Result<Vec<StoredNote>, CommandError> {
    let text = format!("{} {}", note.title, note.keywords.join(" "));
    // Remove the syntax of queries, so that only words are left.
    let plain: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || matches!(c, ':' | '"' | '“' | '”'))
        .map(|word| word.trim_start_matches(['-', '−']))
        .collect();
    let mut query = Query::parse(&plain.join(" "), &jiff::Zoned::now());
    query.kinds = context.registry.kinds_of(&note.note_type);
    let found = SearchRequest::of_notes(query, &context.project.id, MAX_COMPARED, now).run(store)?.hits;
    let ids: Vec<&str> = found.iter().map(|hit| hit.memory.id.as_str()).collect();
    let own = words(note);
    let mut close = store.notes_by_id(&ids, &context.registry)?;
    close.retain(|it| {
        let theirs = words(&it.note);
        let shared = own.intersection(&theirs).count();
        let all = own.len() + theirs.len() - shared;
        let keywords = note.keywords.iter().filter(|word| it.note.keywords.contains(word)).count();
        #[expect(clippy::cast_precision_loss, reason = "a number of words")]
        let is_close = all > 0 && shared as f64 >= MIN_SIMILARITY * all as f64;
        is_close || keywords >= MIN_SHARED_KEYWORDS
    });
    Ok(close)
}

fn words(note: &Note) -> HashSet<String> {
    tokens::index_text(&format!("{} {}", note.title, note.content)).split_whitespace().map(str::to_owned).collect()
}
