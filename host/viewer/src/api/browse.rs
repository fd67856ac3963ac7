//! Memories, projects and failures.

use serde_json::{Value, json};

use super::cursor;
use super::paging::paged;
use super::wanted::Wanted;
use crate::app::App;
use crate::error::ApiError;
use throughline_store::{BrowseFilter, MemoryPlace};

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

/// All memories, newest first.
pub(super) fn memories(app: &App, wanted: &Wanted) -> Result<Value, ApiError> {
    let after: Option<MemoryPlace> = cursor::decode(wanted.cursor.as_deref())?;
    let Some(store) = app.store()? else { return Ok(json!({"entries": [], "next": null})) };
    let project = wanted.project.as_deref().map(|root| App::find_project(&store, root)).transpose()?;
    let project = project.map(|project| project.id);
    let filter = BrowseFilter { project, kinds: wanted.types() };
    let (found, next) = store.browse(&filter, after, wanted.limit())?;
    let roots = store.project_roots(&found)?;
    let ids: Vec<&str> = found.iter().map(|memory| memory.id.as_str()).collect();
    let replaced = store.replacements(&ids)?;
    let entries: Vec<Value> = found
        .iter()
        .zip(&roots)
        .zip(&replaced)
        .map(|((memory, root), replaced)| {
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
            })
        })
        .collect();
    Ok(json!({"entries": entries, "next": next.map(|place| cursor::encode(&place))}))
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
    paged(app, &["projects"], wanted)
}

/// `throughline failures`.
pub(super) fn failures(app: &App, wanted: &Wanted) -> Result<Value, ApiError> {
    let scope = wanted.scope();
    let words = ["failures", scope.as_str(), "--open"];
    paged(app, if wanted.open { &words } else { &words[..2] }, wanted)
}
