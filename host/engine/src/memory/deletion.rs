//! Forgets permanently: the selected sessions or texts with everything derived from them, and single memories.

use anyhow::Result;
use serde::Serialize;

use super::RequestError;
use crate::hooks;
use crate::projection;
use crate::runtime::Runtime;
use throughline_model::contract::Memory;
use throughline_model::project::Project;
use throughline_platform::log;
use throughline_privacy::intervals::{Interval, Intervals};
use throughline_store::{ForgetCounts, Selection, Store, folded};

/// What was forgotten, or would be forgotten.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForgetReport {
    /// What was forgotten in the database.
    #[serde(flatten)]
    pub forgotten: ForgetCounts,
    /// The number of log lines deleted.
    pub log_lines: u64,
    /// Whether this was a dry run.
    pub dry_run: bool,
}

/// Forgets the selection with `really`; otherwise reports what would be deleted.
pub fn forget(runtime: &Runtime, store: &mut Store, selection: &Selection, really: bool) -> Result<ForgetReport> {
    if really && selection.words.is_empty() {
        // This comes first, so that after a kill the next reading cannot bring the deleted memories back.
        let interval = Interval {
            project: selection.project.clone(),
            session: selection.session.clone(),
            root: None,
            from: 0,
            to: Some(selection.before.unwrap_or(runtime.now)),
        };
        Intervals::update(&runtime.paths.intervals(), |all| {
            if !all.contains(&interval) {
                all.push(interval);
            }
        })
        .map_err(anyhow::Error::msg)?;
    }
    // Records that are still in a journal would otherwise get into the store later.
    hooks::store_all_journals(runtime, store)?;
    let projects = store.all_projects()?;
    let forgotten = store.forget(selection, runtime.now, really)?;
    let mut log_lines = 0;
    if really {
        let is_gone = |line: &str| {
            let line = folded(line);
            let of_words = !selection.words.is_empty() && selection.words.iter().all(|word| line.contains(word.as_str()));
            of_words || selection.session.as_ref().is_some_and(|id| selection.words.is_empty() && line.contains(&folded(id)))
        };
        hooks::synthesized_transcript::forget(runtime, selection)?;
        log_lines = log::delete_lines(&runtime.paths.log(), is_gone).map_err(|error| {
            RequestError::new(format!("the log cannot be rewritten: {error}"), "fix that, then run the command again")
        })?;
        clear_free_space(store, "deleted")?;
        rewrite_projections(runtime, store, &projects)?;
    }
    Ok(ForgetReport { forgotten, log_lines, dry_run: !really })
}

/// Permanently deletes memories. Returns those that existed; a memory named twice is returned once.
pub fn delete(runtime: &Runtime, store: &mut Store, memories: Vec<Memory>) -> Result<Vec<Memory>> {
    let projects = store.all_projects()?;
    let mut deleted = Vec::new();
    for memory in memories {
        if store.delete_memory(&memory.id, runtime.now)? {
            deleted.push(memory);
        }
    }
    if !deleted.is_empty() {
        clear_free_space(store, "deleted")?;
        rewrite_projections(runtime, store, &projects)?;
    }
    Ok(deleted)
}

/// Clears the database's free pages and its write-ahead log, so that nothing deleted remains there. `done` names the
/// operation, for the error message.
pub fn clear_free_space(store: &Store, done: &str) -> Result<()> {
    if store.erase()? {
        return Ok(());
    }
    Err(RequestError::new(
        format!("it is {done}, but its text may remain in the database's write-ahead log, which another process is using"),
        "run the command again when no session is running",
    )
    .into())
}

/// Rewrites the projections after something was forgotten. `before` are the projects that existed before.
pub fn rewrite_projections(runtime: &Runtime, store: &Store, before: &[Project]) -> Result<()> {
    projection::rewrite_all(store, &runtime.config.projections, before).map_err(|error| {
        RequestError::new(
            format!("its projection files could not be rewritten: {error:#}"),
            "fix that and run `throughline projections --all-projects`, or delete those files",
        )
        .into()
    })
}

/// Splits a query into the words that [`Selection`] wants; a quoted phrase is one word. At least one word must have
/// three characters.
pub fn parse_words(query: &str) -> Result<Vec<String>, RequestError> {
    let words: Vec<String> = query
        .split('"')
        .enumerate()
        .flat_map(|(at, part)| match at % 2 {
            1 => vec![part.trim()],
            _ => part.split_whitespace().collect(),
        })
        .filter(|word| !word.is_empty())
        .map(folded)
        .collect();
    if words.iter().all(|word| word.chars().count() < 3) {
        return Err(RequestError::new(
            "a word of at least three characters is needed",
            "describe more precisely what to forget",
        ));
    }
    Ok(words)
}

/// Parses a day or a timestamp into milliseconds since the Unix epoch.
pub fn parse_time(text: &str) -> Result<u64, RequestError> {
    let zoned = |day: jiff::civil::Date| day.to_zoned(jiff::tz::TimeZone::system()).ok().map(|day| day.timestamp());
    let at = text.parse::<jiff::Timestamp>().ok().or_else(|| text.parse::<jiff::civil::Date>().ok().and_then(zoned));
    at.and_then(|at| u64::try_from(at.as_millisecond()).ok()).ok_or_else(|| {
        RequestError::new(format!("{text:?} is not a date"), "use a form like 2026-01-31 or 2026-01-31T12:00:00Z")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_query() {
        assert_eq!(parse_words("Alpha \"two Words\" b").unwrap(), ["alpha", "two words", "b"]);
        assert!(parse_words("a b").is_err() && parse_words("").is_err());
        assert!(parse_time("2026-01-31").is_ok() && parse_time("2026-01-31T00:00:00Z").is_ok());
        assert!(parse_time("soon").is_err());
    }
}
