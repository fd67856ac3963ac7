//! Sessions, and what happened in one.

use serde_json::{Value, json};

use super::cursor;
use super::paging::paged;
use super::wanted::Wanted;
use crate::app::App;
use crate::error::ApiError;
use throughline_store::MemoryFilter;

/// The most memories of a session that are listed.
const MAX_MEMORIES: u32 = 1_000;

/// `throughline session list`.
pub(super) fn list(app: &App, wanted: &Wanted) -> Result<Value, ApiError> {
    paged(app, &["session", "list", &wanted.scope()], wanted)
}

/// `throughline session show`, with the memories that were learned and those that were told.
pub(super) fn show(app: &App, id: &str, _: &Wanted) -> Result<Value, ApiError> {
    let mut shown = app.command(&["session", "show", "--json", "--", id])?;
    let whole = shown["id"].as_str().unwrap_or_default().to_owned();
    if let Some(store) = app.store()? {
        let filter = MemoryFilter { session: Some(whole.clone()), ..MemoryFilter::default() };
        let learned = store.in_learned_order(&filter, MAX_MEMORIES)?;
        let entry = |memory: &throughline_model::contract::Memory| json!({"id": memory.id, "type": memory.kind, "title": memory.title, "at": memory.created});
        shown["memories"] = learned.iter().map(entry).collect();
        shown["told"] = json!(store.told_to(&whole)?);
    }
    Ok(shown)
}

/// The events of a session, in the order in which they happened.
pub(super) fn events(app: &App, id: &str, wanted: &Wanted) -> Result<Value, ApiError> {
    let after: i64 = cursor::decode(wanted.cursor.as_deref())?.unwrap_or(0);
    let Some(store) = app.store()? else { return Ok(json!({"entries": [], "next": null})) };
    let mut events = store.events_after(after, Some(id), wanted.limit() + 1)?;
    let is_more = events.len() > wanted.limit() as usize;
    events.truncate(wanted.limit() as usize);
    let next = events.last().filter(|_| is_more).map(|last| cursor::encode(&last.id));
    Ok(json!({"entries": events, "next": next}))
}
