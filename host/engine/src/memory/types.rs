//! Checks the types and dates that a person or an agent names, so that a misspelt one is an error and not an empty
//! answer.
//!
//! Only explicit queries are checked. A hook's prompt is any text, and every text is a valid query there.

use anyhow::Result;
use jiff::Zoned;

use super::RequestError;
use throughline_model::project::Project;
use throughline_notes::registry::Registry;
use throughline_search::query::Query;
use throughline_store::{OBSERVATION, Store};

/// The core kinds of memories, as the contract lists them.
pub const CORE_KINDS: [&str; 14] = [
    "decision",
    "preference",
    "correction",
    "error_fix",
    "failure",
    "learning",
    "discovery",
    "plan",
    "commit",
    "task",
    "result",
    "session_summary",
    "compact_summary",
    "turn",
];

/// Parses a query that somebody typed, with the types of options such as `--type`. Unknown types and unreadable dates
/// are errors.
pub fn parse_query(text: &str, types: &[String], store: &Store, project: Option<&Project>) -> Result<Query> {
    check_dates(text)?;
    let mut query = Query::parse(text, &Zoned::now());
    query.kinds.extend_from_slice(types);
    query.kinds = resolve_kinds(&query.kinds, store, project)?;
    query.excluded_kinds = resolve_kinds(&query.excluded_kinds, store, project)?;
    Ok(query)
}

/// Returns an error if `after:` or `before:` in a query is followed by something that is not a date.
pub fn check_dates(text: &str) -> Result<(), RequestError> {
    match Query::find_invalid_date(text, &Zoned::now()) {
        None => Ok(()),
        Some(found) => Err(RequestError::new(
            format!("`{found}` is not a date"),
            "write a year, month, day or moment such as 2026-02-23, `today`, `yesterday`, or how long ago: 12h, 7d, 2w; to search \
             for the words themselves, put them in double quotes within the query",
        )),
    }
}

/// Returns an error if `type:` in a query about observations is followed by anything but their one type.
pub fn check_observation_types(text: &str) -> Result<(), RequestError> {
    let query = Query::parse(text, &Zoned::now());
    match query.kinds.iter().chain(&query.excluded_kinds).find(|kind| *kind != OBSERVATION) {
        None => Ok(()),
        Some(unknown) => Err(RequestError::new(
            format!("there is no type {unknown:?} of observations"),
            format!("the only type is {OBSERVATION}; `throughline search` finds memories by type"),
        )),
    }
}

/// Returns the kinds of memories that the types stand for; a type of notes can stand for several. An unknown type is an
/// error that names the known ones: core kinds, the types of notes (built-in and the project's own), and every kind
/// that is stored.
pub fn resolve_kinds(types: &[String], store: &Store, project: Option<&Project>) -> Result<Vec<String>> {
    // Most queries name no type, and the registry need not be read for them.
    if types.is_empty() {
        return Ok(Vec::new());
    }
    let types: Vec<String> = types.iter().map(|name| name.to_lowercase()).collect();
    // A registry that cannot be read is reported by the commands about notes; a search works without it.
    let registry = project.and_then(|project| Registry::of_project(&project.root).ok()).unwrap_or_else(Registry::built_in);
    let is_built_in =
        |name: &str| CORE_KINDS.contains(&name) || registry.get(name).is_some() || registry.type_of(name).is_some();
    let others: Vec<&String> = types.iter().filter(|name| !is_built_in(name)).collect();
    if !others.is_empty() {
        let stored = store.stored_kinds(project.map(|project| project.id.as_str()))?;
        if let Some(unknown) = others.into_iter().find(|name| !stored.contains(name)) {
            return Err(unknown_type_error(unknown, &registry, &stored).into());
        }
    }
    Ok(registry.expand_types(&types))
}

fn unknown_type_error(unknown: &str, registry: &Registry, stored: &[String]) -> RequestError {
    let mut known: Vec<&str> = CORE_KINDS.to_vec();
    let own = registry.names().chain(stored.iter().map(String::as_str));
    for name in own {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    RequestError::new(format!("there is no type {unknown:?}"), format!("the types are {}", known.join(", ")))
}
