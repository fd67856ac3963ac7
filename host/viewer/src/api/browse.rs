//! Memories, projects and failures.

use std::sync::Arc;

use serde_json::{Value, json};

use super::cursor;
use super::paging::paged;
use super::wanted::Wanted;
use crate::app::App;
use crate::error::ApiError;
use crate::lists::Positions;
use throughline_model::contract::Memory;
use throughline_store::{BrowseFilter, MemoryPlace, Store};

/// How many characters of a memory's text a list shows.
const MAX_LINE: usize = 200;

/// The most tellings of a memory that are shown.
const MAX_TOLD: u32 = 1_000;

/// What every page needs.
pub(super) fn state(app: &App) -> Value {
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "write": app.settings.write,
        "project": app.settings.project,
        "namespace": app.paths.namespace,
        "home": app.paths.home,
    })
}

/// All memories, newest first: the first page, or the one after a cursor. With `at`, the entries from that position on among those
/// after the cursor, and how many these are.
pub(super) fn memories(app: &App, wanted: &Wanted) -> Result<Value, ApiError> {
    let after: Option<MemoryPlace> = cursor::decode(wanted.cursor.as_deref())?;
    let Some(store) = app.store()? else { return Ok(json!({"entries": [], "next": null, "total": 0})) };
    let project = wanted.project.as_deref().map(|root| App::find_project(&store, root)).transpose()?;
    let filter = BrowseFilter { project: project.map(|project| project.id), kinds: wanted.types() };
    let Some(at) = wanted.at else {
        let (found, next) = store.browse(&filter, after, wanted.limit())?;
        let entries = described(&store, &found.into_iter().map(Some).collect::<Vec<_>>())?;
        return Ok(json!({"entries": entries, "next": next.map(|place| cursor::encode(&place))}));
    };
    let name = format!("memories {after:?} {filter:?}");
    let list =
        app.lists.get(&name, || Ok::<_, ApiError>(Positions::Memories(Arc::new(store.memory_places(&filter, after)?))))?;
    let Positions::Memories(places) = list else { return Err(ApiError::failed("another list has this name")) };
    let begin = places.len().min(at as usize);
    let end = places.len().min(begin + wanted.limit() as usize);
    let entries = described(&store, &store.memories_at(&places[begin..end])?)?;
    Ok(json!({"entries": entries, "total": places.len()}))
}

/// Describes memories as rows of a list; null where there is none.
fn described(store: &Store, found: &[Option<Memory>]) -> Result<Vec<Value>, ApiError> {
    let known: Vec<Memory> = found.iter().flatten().cloned().collect();
    let roots = store.project_roots(&known)?;
    let ids: Vec<&str> = known.iter().map(|memory| memory.id.as_str()).collect();
    let replaced = store.replacements(&ids)?;
    let marks = store.marks(&ids)?;
    let mut rows = known.iter().zip(&roots).zip(replaced.iter().zip(&marks)).map(|((memory, root), (replaced, marks))| {
        json!({
            "id": memory.id,
            "type": memory.kind,
            "title": memory.title,
            "line": memory.content.chars().take(MAX_LINE).collect::<String>(),
            "session_id": memory.session_id,
            "project": root,
            "at": memory.created,
            "said_by": memory.said_by(),
            "superseded_by": replaced.as_ref().map(|it| &it.head.id),
            "pinned": marks.pinned_at.is_some(),
            "wrong": marks.wrong_at.is_some(),
        })
    });
    Ok(found.iter().map(|memory| memory.as_ref().and_then(|_| rows.next()).unwrap_or_default()).collect())
}

/// The number of memories of each type. Counting a million takes longer than showing the first page.
pub(super) fn types(app: &App, wanted: &Wanted) -> Result<Value, ApiError> {
    let Some(store) = app.store()? else { return Ok(json!([])) };
    let project = wanted.project.as_deref().map(|root| App::find_project(&store, root)).transpose()?;
    let counts = store.memory_counts(project.as_ref().map(|project| project.id.as_str()))?;
    Ok(counts.into_iter().map(|(kind, count)| json!({"type": kind, "count": count})).collect())
}

/// `throughline memory show`, with every telling.
pub(super) fn memory(app: &App, id: &str, _: &Wanted) -> Result<Value, ApiError> {
    let mut shown = app.command(&["memory", "show", "--json", "--", id])?;
    let whole = shown["id"].as_str().unwrap_or_default().to_owned();
    if let Some(store) = app.store()? {
        let told = store.told(&whole, MAX_TOLD)?;
        let told = told.into_iter().map(|(session, moment, at)| json!({"session_id": session, "moment": moment, "at": at}));
        shown["told"] = told.collect();
    }
    Ok(shown)
}

/// `throughline projects`.
pub(super) fn projects(app: &App, wanted: &Wanted) -> Result<Value, ApiError> {
    paged(app, &["projects"], wanted, false)
}

/// `throughline failures`.
pub(super) fn failures(app: &App, wanted: &Wanted) -> Result<Value, ApiError> {
    let scope = wanted.scope();
    let words = ["failures", scope.as_str(), "--open"];
    let mut page = paged(app, if wanted.open { &words } else { &words[..2] }, wanted, true)?;
    page["total"] = match app.store()? {
        Some(store) => store.failure_count(wanted.project_id(&store)?.as_deref(), wanted.open)?.into(),
        None => 0.into(),
    };
    Ok(page)
}
