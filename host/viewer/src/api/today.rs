//! Events in all sessions since a moment: the page of today shows them before the live stream continues.

use serde_json::{Value, json};

use super::wanted::Wanted;
use crate::app::App;
use crate::error::ApiError;
use crate::live::Happening;
use throughline_store::EventFilter;
use throughline_store::journal::Journal;

/// The most events that are shown.
const MAX_EVENTS: u32 = 500;

/// The latest events since `since`, oldest first, with those that hooks have not stored yet.
pub(super) fn today(app: &App, wanted: &Wanted) -> Result<Value, ApiError> {
    let mut all: Vec<Happening> = Vec::new();
    let store = app.store()?;
    if let Some(store) = &store {
        let mut events = store.events(&EventFilter::default(), MAX_EVENTS)?;
        events.retain(|event| event.at >= wanted.since);
        let roots = store.roots_of_events(&events)?;
        all.extend(events.iter().zip(roots).map(|(event, root)| Happening::of_event(event, root)));
        all.extend(store.told_since(wanted.since.saturating_sub(1), MAX_EVENTS)?.into_iter().map(Happening::of_telling));
    }
    let mut tail = Journal::new(app.paths.journal()).tail(false);
    let records = tail.next_records().into_iter().filter(|record| record.at >= wanted.since);
    all.extend(records.flat_map(|record| Happening::of_record(&record, store.as_ref())));
    // What was stored while this was read is in both.
    let mut known = std::collections::HashSet::new();
    all.retain(|happening| known.insert(happening.identity()));
    all.sort_by_key(|happening| happening.at);
    let kept = all.len().saturating_sub(MAX_EVENTS as usize);
    Ok(json!({"entries": &all[kept..]}))
}
