//! Sessions, and what happened in one.

use std::sync::Arc;

use serde_json::{Value, json};

use super::paging::paged;
use super::wanted::Wanted;
use crate::app::App;
use crate::error::ApiError;
use crate::lists::{Moment, Positions};
use throughline_store::{MemoryFilter, Store, Telling};

/// The most memories of a session that are listed.
const MAX_MEMORIES: u32 = 1_000;

/// `throughline session list`.
pub(super) fn list(app: &App, wanted: &Wanted) -> Result<Value, ApiError> {
    let mut page = paged(app, &["session", "list", &wanted.scope()], wanted, true)?;
    page["total"] = match app.store()? {
        Some(store) => store.session_count(wanted.project_id(&store)?.as_deref())?.into(),
        None => 0.into(),
    };
    Ok(page)
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

/// The events of a session and the memories it was shown, by time: the entries from position `at` on, and their number.
pub(super) fn moments(app: &App, id: &str, wanted: &Wanted) -> Result<Value, ApiError> {
    let Some(store) = app.store()? else { return Ok(json!({"entries": [], "total": 0})) };
    let told = store.told_to(id)?;
    let name = format!("session {} {id}", wanted.list());
    let list = app.lists.get(&name, || Ok::<_, ApiError>(Positions::Session(Arc::new(in_order(&store, id, &told)?))))?;
    let Positions::Session(all) = list else { return Err(ApiError::failed("another list has this name")) };
    let begin = all.len().min(wanted.at.unwrap_or(0) as usize);
    let end = all.len().min(begin + wanted.limit() as usize);
    let numbers = all[begin..end].iter().filter_map(|moment| match moment {
        Moment::Event(number) => Some(*number),
        Moment::Told(_) => None,
    });
    let mut events = store.events_numbered(&numbers.collect::<Vec<_>>())?.into_iter();
    let entries = all[begin..end].iter().map(|moment| match moment {
        Moment::Event(_) => json!(events.next().flatten()),
        // Without the memory's type, which an event has another meaning for.
        Moment::Told(at) => told.get(*at).map_or(
            Value::Null,
            |it| json!({"type": "told", "at": it.at, "summary": it.title, "memory": it.memory, "moment": it.moment}),
        ),
    });
    Ok(json!({"entries": entries.collect::<Vec<_>>(), "total": all.len()}))
}

/// Merges the events of a session and the memories it was shown, by time.
fn in_order(store: &Store, id: &str, told: &[Telling]) -> Result<Vec<Moment>, ApiError> {
    let mut all: Vec<(u64, Moment)> =
        store.event_times(id)?.into_iter().map(|(number, at)| (at, Moment::Event(number))).collect();
    all.extend(told.iter().enumerate().map(|(index, it)| (it.at, Moment::Told(index))));
    // Events of the same moment keep their stored order and precede the memories shown then.
    all.sort_by_key(|(at, _)| *at);
    Ok(all.into_iter().map(|(_, moment)| moment).collect())
}
