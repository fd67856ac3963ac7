//! Finds observations by their numbers.

use crate::cli::error::CommandError;
use crate::cli::scope::Scope;
use throughline_engine::runtime::Runtime;
use throughline_store::{Store, StoredEvent};

/// Returns the events with these numbers, each once. It is an error if one of them does not exist.
pub(super) fn find(runtime: &Runtime, store: &Store, scope: &Scope, ids: &[i64]) -> Result<Vec<StoredEvent>, CommandError> {
    let mut wanted: Vec<i64> = Vec::new();
    for id in ids {
        if !wanted.contains(id) {
            wanted.push(*id);
        }
    }
    let project = scope.project(runtime)?;
    let found = store.events_by_id(&wanted, project.as_ref().map(|project| project.id.as_str()))?;
    if let Some(missing) = wanted.iter().find(|id| found.iter().all(|event| event.id != **id)) {
        let place = if project.is_some() { " in this project" } else { "" };
        return Err(CommandError::new(format!("there is no observation {missing}{place}"))
            .hint("`throughline observations search --all-projects` shows the numbers; old observations expire"));
    }
    Ok(found)
}
